// Every way that the host walks a transform over several axes: boxes in lanes, columns in vectors that are full, half
// full or less, rows with padding between them, stages, chunks, units and threads; against the plain oracle.
#include "plan_case.hpp"

#include <omp.h>

namespace trn::fft::test {
namespace {

// Row-major with `pad` elements behind each row of the last axis; batch outside of the axes, or inside.
struct Dense {
  std::size_t axes;
  std::int64_t pad = 0;
  bool batch_inside = false;
  Side operator()(const Shape& extents, std::mt19937&) const {
    std::vector<std::size_t> order;  // outermost first
    for (std::size_t d = axes; d < extents.size(); ++d) order.push_back(d);
    order.insert(batch_inside ? order.begin() : order.end(), axes, 0);
    std::iota(batch_inside ? order.begin() : order.end() - static_cast<std::ptrdiff_t>(axes),
              batch_inside ? order.begin() + static_cast<std::ptrdiff_t>(axes) : order.end(), std::size_t{0});
    Side side{Strides(extents.size()), 0, 1};
    std::int64_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      side.strides[order[i]] = stride;
      side.size += stride * (extents[order[i]] - 1);
      stride = stride * extents[order[i]] + (i + 1 == order.size() ? pad : 0);
    }
    return side;
  }
};

Direction usual(Kind kind) { return kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward; }
const Kind kKinds[] = {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal};

void both(const Case& c, const Dense& layout) {
  check_case<float>(c, layout);
  check_case<double>(c, layout);
}

// As many transforms as fill vectors once, twice, and leave few or many over; every codelet's length, lengths of two
// passes, and primes that a pass sums directly.
TEST(Walk, BoxesOfManyShapes) {
  std::uint32_t seed = 1;
  const std::vector<Shape> shapes = {{4, 4, 4},  {2, 2},    {3, 3},       {5, 6, 7}, {10, 9},
                                     {11, 13},   {12, 15},  {4, 16, 2},   {7, 20},   {17, 6},
                                     {3, 1, 10}, {1, 1, 4}, {2, 2, 2, 3}, {8, 8, 9}, {18, 26}};
  for (const Shape& axes : shapes) {
    for (const Kind kind : kKinds) {
      for (const std::int64_t batch : {16, 19, 45}) {
        both({kind, usual(kind), Scale::None, Format::Interleaved, Format::Interleaved, axes, {batch}, false, seed++},
             {axes.size()});
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(Walk, BoxesOfManyLayouts) {
  std::uint32_t seed = 100;
  for (const Shape& axes : std::vector<Shape>{{6, 10}, {4, 5}, {3, 4, 6}}) {
    for (const Kind kind : kKinds) {
      for (const Direction direction : {Direction::Forward, Direction::Inverse}) {
        const Case c{kind,   direction, Scale::ByLength, Format::Interleaved, Format::Interleaved, axes,
                     {7, 5}, false,     seed++};
        both(c, {axes.size()});
        both(c, {axes.size(), 3});        // rows with padding
        both(c, {axes.size(), 0, true});  // boxes next to each other
        Case planar = c;
        if (kind != Kind::RealToComplex) planar.input = Format::Planar;
        if (kind != Kind::ComplexToReal) planar.output = Format::Planar;
        both(planar, {axes.size()});
        both(planar, {axes.size(), 2});
        both(planar, {axes.size(), 0, true});
        Case in_place = c;
        in_place.in_place = true;
        in_place.batch = {33};
        both(in_place, {axes.size()});
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// One transform: its outer axis is columns, as many as its rows are long. Codelets, two and three passes, full vectors
// and all that can be left over.
TEST(Walk, ColumnsOfAnyNumber) {
  std::uint32_t seed = 200;
  for (const std::int64_t n : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 20, 32, 60}) {
    for (const std::int64_t columns : {4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 29, 33, 40}) {
      Case c{Kind::ComplexToComplex,
             seed % 2 ? Direction::Forward : Direction::Inverse,
             seed % 3 ? Scale::None : Scale::Orthonormal,
             Format::Interleaved,
             Format::Interleaved,
             {n, columns},
             {},
             seed % 5 == 0,
             seed};
      both(c, {2, seed % 4 == 0 ? 3 : 0});
      // The same lines without the other axis: axis 0 of a matrix.
      c.axes = {n};
      c.batch = {columns};
      both(c, {1, 0, true});
      ++seed;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// More than a block: several stages, chunks that do not divide, loops, units of ComplexToReal; one thread and several.
TEST(Walk, StagesChunksAndUnits) {
  std::uint32_t seed = 500;
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    for (const Kind kind : kKinds) {
      for (const bool in_place : {false, true}) {
        const auto check = [&](const Shape& axes, const Shape& batch, std::int64_t pad, bool inside) {
          const Case c{kind,  usual(kind), Scale::ByLength, Format::Interleaved, Format::Interleaved, axes,
                       batch, in_place,    seed++};
          if (seed % 2)
            check_case<float>(c, Dense{axes.size(), pad, inside});
          else
            check_case<double>(c, Dense{axes.size(), pad, inside});
        };
        check({24, 40, 36}, {}, 0, false);
        check({20, 30, 34}, {2}, 2, false);
        check({150, 121}, {2}, 0, false);
        check({16, 8, 8}, {37}, 0, false);
        check({12, 10, 14}, {5, 3}, 1, true);
        check({40, 3, 2, 41}, {2}, 0, false);
        if (HasFailure()) break;
      }
    }
  }
  omp_set_num_threads(1);
}

}  // namespace
}  // namespace trn::fft::test

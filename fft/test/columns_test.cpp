// Columns and tiny boxes: codelets on real columns, columns in groups and results written past the caches, boxes of a
// few points; on every instruction set, against the plain oracle, or bit by bit against a few columns at a time, which
// the oracle has judged.
#include "plan_case.hpp"

#include "host/line_plan.hpp"
#include "support/every_target.hpp"

namespace trn::fft::test {
namespace {

// Row-major, `pad` elements behind each row of the last axis; the batch outside of the axes, or inside.
struct Packed {
  std::size_t axes;
  std::int64_t pad = 0;
  bool batch_inside = false;
  Side operator()(const Shape& extents, std::mt19937&) const {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!batch_inside) std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(axes), order.end());
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

void both(const Case& c, const Packed& layout) {
  check_case<float>(c, layout);
  check_case<double>(c, layout);
}

const Kind kKinds[] = {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal};
Direction usual(Kind kind) { return kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward; }

// One box and a few, dense, padded and with boxes inside; both directions, all three scales, in place and not.
TEST(Columns, TinyBoxes) {
  // clang-format off
  const std::vector<Shape> shapes = {
      {2, 2}, {2, 2, 2}, {4, 4}, {3, 3}, {2, 4}, {4, 2}, {2, 2, 4}, {3, 4}, {2, 8}, {8, 2}, {3, 5}, {5, 3}, {2, 3},
      {4, 4, 4}, {8, 8}, {2, 2, 2, 2}, {2, 2, 2, 2, 2, 2}, {1, 2}, {2, 1}, {3, 1, 4}, {6, 7}, {9, 5}, {10, 6},
      {12, 3}, {2, 13}, {15, 2}, {16, 4}, {2, 11}, {2, 14}, {7, 2, 3}};
  // clang-format on
  std::uint32_t seed = 1;
  const int targets = testing_support::on_every_target([&] {
    for (const Shape& axes : shapes) {
      for (const Kind kind : kKinds) {
        for (const Shape& batch : std::vector<Shape>{{}, {3}}) {
          for (const Direction direction : {Direction::Forward, Direction::Inverse}) {
            Case c{kind,
                   direction,
                   seed % 3 == 0   ? Scale::None
                   : seed % 3 == 1 ? Scale::ByLength
                                   : Scale::Orthonormal,
                   Format::Interleaved,
                   Format::Interleaved,
                   axes,
                   batch,
                   seed % 4 == 0,
                   seed};
            both(c, {axes.size(), seed % 5 == 0 ? 2 : 0, seed % 7 == 0});
            ++seed;
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  });
  EXPECT_GE(targets, 1);
}

// Many boxes in lanes: codelets, lengths of several levels, odd and even halved axes; vectors that are filled, and one
// that is not.
TEST(Columns, BoxesInLanes) {
  std::uint32_t seed = 700;
  const int targets = testing_support::on_every_target([&] {
    for (const Shape& axes : std::vector<Shape>{
             {4, 4, 4}, {3, 5}, {6, 10}, {5, 7}, {2, 18}, {3, 14}, {2, 22}, {5, 1}, {3, 17}, {2, 42}, {2, 45}}) {
      for (const Kind kind : kKinds) {
        Case c{kind,
               usual(kind),
               seed % 2 ? Scale::ByLength : Scale::None,
               Format::Interleaved,
               Format::Interleaved,
               axes,
               {19},
               seed % 3 == 0,
               seed};
        both(c, {axes.size(), seed % 4 == 0 ? 1 : 0, seed % 5 == 0});
        ++seed;
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
  EXPECT_GE(targets, 1);
}

// Every codelet; full vectors and all that can be left over; several runs.
TEST(Columns, RealColumns) {
  std::uint32_t seed = 300;
  const int targets = testing_support::on_every_target([&] {
    for (std::int64_t n = 2; n <= 18; ++n) {
      for (const std::int64_t columns : {1, 3, 8, 17, 35}) {
        for (const Kind kind : {Kind::RealToComplex, Kind::ComplexToReal}) {
          Case c{kind,
                 seed % 4   ? usual(kind)
                 : seed % 8 ? Direction::Forward
                            : Direction::Inverse,
                 seed % 3 ? Scale::None : Scale::Orthonormal,
                 Format::Interleaved,
                 Format::Interleaved,
                 {n},
                 {columns},
                 false,
                 seed};
          both(c, {1, seed % 2 ? 5 : 0, true});
          c.axes = {3, n};
          both(c, {2, seed % 2 ? 0 : 3, true});
          c.axes = {n};
          c.batch = {2, columns};
          both(c, {1, 0, true});
          ++seed;
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  });
  EXPECT_GE(targets, 1);
}

// `width` columns of n points, forty at a time and all at once.
template <class T> void check_far(Kind kind, Direction direction, std::int64_t n, std::int64_t width, bool in_place) {
  SCOPED_TRACE(::testing::Message() << name(kind) << " " << name(direction) << " of " << width << " columns of " << n
                                    << (in_place ? " in place, " : ", ") << sizeof(T) * 8 << " bits");
  using C = std::complex<T>;
  const Executor e = Executor::host();
  const auto describe = [&](std::int64_t count) {
    return Description{kind, direction, {{n, width, width}}, {{count, 1, 1}}, Scale::ByLength};
  };
  const std::size_t reals = static_cast<std::size_t>(2 * (n + 2) * width);
  host::Aligned<T> in(reals), want(reals, T(-77.25)), got(reals, T(-77.25));
  std::mt19937 rng(7);
  for (T& x : in) x = static_cast<T>(static_cast<double>(rng()) / 4294967296.0 - 0.5);
  if (in_place) want = got = in;
  const auto run = [&](std::int64_t count, T* out, std::int64_t begin, std::int64_t end) {
    const Plan<T> plan(e, describe(count));
    const Buffer workspace(e, plan.workspace_bytes());
    const T* from = in_place ? out : in.data();
    for (std::int64_t at = begin; at < end; at += count) {
      const C* pairs_in = reinterpret_cast<const C*>(from) + at;
      C* pairs_out = reinterpret_cast<C*>(out) + at;
      if (kind == Kind::ComplexToComplex)
        plan.execute(pairs_in, pairs_out, workspace.data());
      else if (kind == Kind::RealToComplex)
        plan.execute(from + at, pairs_out, workspace.data());
      else
        plan.execute(pairs_in, out + at, workspace.data());
    }
  };
  const std::int64_t few = 40, rest = width % few;
  run(few, want.data(), 0, width - rest);
  if (rest > 0) run(rest, want.data(), width - rest, width);
  run(width, got.data(), 0, width);
  EXPECT_TRUE(got == want);
}
TEST(Columns, FarOnesHaveTheBitsOfNearOnes) {
  const int targets = testing_support::on_every_target([&] {
    for (const bool in_place : {false, true}) {
      check_far<float>(Kind::ComplexToComplex, Direction::Forward, 64, 4096, in_place);    // rows whole pages apart
      check_far<double>(Kind::ComplexToComplex, Direction::Inverse, 20, 4099, in_place);   // near: nothing is different
      check_far<double>(Kind::ComplexToComplex, Direction::Inverse, 24, 32773, in_place);  // 12.6 MB, rows anywhere
    }
    check_far<float>(Kind::ComplexToComplex, Direction::Inverse, 32, 24608, false);   // 6.3 MB: past the caches
    check_far<double>(Kind::ComplexToComplex, Direction::Forward, 16, 24600, false);  // the same with one codelet
    check_far<float>(Kind::ComplexToComplex, Direction::Forward, 5, 160016, false);
    for (const Kind kind : {Kind::RealToComplex, Kind::ComplexToReal}) {
      check_far<float>(kind, usual(kind), 8, 200016, false);
      check_far<double>(kind, usual(kind), 15, 60000, false);
    }
  });
  EXPECT_GE(targets, 1);
}

}  // namespace
}  // namespace trn::fft::test

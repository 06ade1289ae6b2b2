// Plans on the host against the plain oracle: every kind, direction, format and scale, over random shapes, axes,
// strides and batches, in and out of place, one thread and several, all within the bound that the plan states.
#include "plan_case.hpp"

#include <omp.h>

namespace trn::fft::test {
namespace {

// As many random cases as make a second.
TEST(Plan, RandomLayoutsAgainstTheOracle) {
  std::mt19937 rng(20240611);
  const auto pick = [&](auto... values) {
    const std::initializer_list<std::common_type_t<decltype(values)...>> list{values...};
    return *(list.begin() + rng() % list.size());
  };
  for (int round = 0; round < 400; ++round) {
    Case c{};
    c.kind = pick(Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal);
    c.direction = pick(Direction::Forward, Direction::Inverse);
    c.scale = pick(Scale::None, Scale::ByLength, Scale::Orthonormal);
    c.input = c.output = pick(Format::Interleaved, Format::Planar);
    if (c.kind == Kind::RealToComplex) c.input = Format::Interleaved;
    if (c.kind == Kind::ComplexToReal) c.output = Format::Interleaved;
    c.in_place = rng() % 4 == 0 && (c.kind == Kind::ComplexToComplex || (c.input == c.output));
    const int rank = pick(1, 1, 2, 2, 3, 4);
    for (int i = 0; i < rank; ++i)
      c.axes.push_back(rank < 3 ? pick(1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 31) : pick(1, 2, 3, 4, 5, 8));
    for (int i = pick(0, 1, 1, 2); i > 0; --i) c.batch.push_back(pick(1, 2, 3, 5));
    c.seed = static_cast<std::uint32_t>(rng());
    omp_set_num_threads(pick(1, 1, 3));
    if (round % 2)
      check_case<double>(c);
    else
      check_case<float>(c);
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  omp_set_num_threads(1);
}

// Larger than one block, so that several stages, loops and chunks happen.
TEST(Plan, SeveralStages) {
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
      const Direction direction = kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
      check_case<double>(
          {kind, direction, Scale::None, Format::Interleaved, Format::Interleaved, {36, 24, 40}, {}, false, 5});
      check_case<float>(
          {kind, direction, Scale::ByLength, Format::Interleaved, Format::Interleaved, {16, 24, 20}, {3, 2}, false, 6});
      check_case<double>(
          {kind, direction, Scale::None, Format::Interleaved, Format::Interleaved, {32, 24, 30}, {2}, true, 7});
      check_case<double>(
          {kind, direction, Scale::None, Format::Interleaved, Format::Interleaved, {6, 8}, {700}, false, 8});
    }
  }
  omp_set_num_threads(1);
}

}  // namespace
}  // namespace trn::fft::test

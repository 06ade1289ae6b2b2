// Double precision on devices: mode exact against long double, at every scale, in any order of instructions, and as NKI
// text.
#include <functional>
#include <trn/core/convert.hpp>
#include <trn/fft/points_program.hpp>

#include "device_plan_support.hpp"
#include "support/nki_run.hpp"

namespace trn::fft::device_test {
namespace {

using neuron::Order;

constexpr double kDouble = 5e-16;

Executor trn2() { return Executor::open("sim:trn2"); }
Description exact(Description d) {
  d.precision = Mode::Exact;
  return d;
}

LinesShape exact_lines(std::int64_t n1, std::int64_t n2, std::int64_t count, bool columns = false) {
  LinesShape s = dense_lines(LineKernel::Blocks, n1, n2, count, columns);
  s.mode = Mode::Exact;
  return s;
}

TEST(DeviceExact, Lengths) {
  for (const std::int64_t n : {1, 2, 3, 31, 64, 97, 128, 129, 243, 1000, 4096, 16384}) {
    expect_plan<double>(
        trn2(), exact(dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = n < 300 ? 5 : 1})), kDouble);
  }
  expect_plan<double>(trn2(), exact(dense(Kind::ComplexToComplex, Direction::Inverse, {32768})), kDouble);
  expect_plan<double>(trn2(), exact(dense(Kind::ComplexToComplex, Direction::Inverse, {5 * 29 * 101})), kDouble);
}

TEST(DeviceExact, LargePrimes) {
  for (const std::int64_t n : {131, 262, 1021}) {
    expect_plan<double>(
        trn2(),
        exact(dense(Kind::ComplexToComplex, n % 2 == 0 ? Direction::Inverse : Direction::Forward, {n}, {.batch = 2})),
        kDouble);
  }
  expect_plan<double>(trn2(), exact(dense(Kind::RealToComplex, Direction::Forward, {3, 131})), kDouble);
}

TEST(DeviceExact, RealTransformsAxesAndLayouts) {
  for (const std::vector<std::int64_t>& axes :
       std::vector<std::vector<std::int64_t>>{{10}, {129}, {6, 9}, {140, 4}, {3, 4, 5}}) {
    for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
      Description d =
          exact(dense(kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, axes, {.batch = 2}));
      d.scale = Scale::ByLength;
      expect_plan<double>(trn2(), d, kDouble);
    }
  }
  expect_plan<double>(trn2(), exact({Kind::ComplexToComplex, Direction::Forward, {{20, 7, 7}}, {{7, 1, 1}}}), kDouble,
                      true);
  expect_plan<double>(trn2(),
                      exact({Kind::ComplexToComplex,
                             Direction::Forward,
                             {{20, 1, 3}},
                             {{3, 24, 1}},
                             Scale::None,
                             {},
                             Format::Planar,
                             Format::Planar}),
                      kDouble);
  expect_plan<double>(trn2(), exact(dense(Kind::RealToComplex, Direction::Forward, {2, 30}, {.padded_real = true})),
                      kDouble, true);
  for (const char* name : {"sim:trn1", "sim:trn3"})
    expect_plan<double>(Executor::open(name),
                        exact(dense(Kind::ComplexToComplex, Direction::Forward, {144}, {.batch = 2})), kDouble);
}

// Errors of one batch of transforms, one input each, against long double: at most kDouble and the plan's bound of each
// norm.
void expect_inputs(std::int64_t n, const std::vector<std::function<std::complex<double>(std::int64_t)>>& inputs) {
  const auto batch = static_cast<std::int64_t>(inputs.size());
  std::vector<std::complex<double>> x;
  for (const auto& input : inputs)
    for (std::int64_t j = 0; j < n; ++j) x.push_back(input(j));
  const Executor executor = trn2();
  const Plan<double> plan(executor, exact(dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = batch})));
  const auto dx = Array<std::complex<double>>::from_host(executor, {n * batch}, x);
  const Array<std::complex<double>> dy(executor, {n * batch});
  Recorder recorder(executor);
  plan.execute(dx.view(), dy.view());
  EXPECT_EQ(recorder.family_of("fft.c2c"), "device");
  const auto y = dy.to_host();
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::vector<Wide> in(x.begin() + b * n, x.begin() + (b + 1) * n),
        got(y.begin() + b * n, y.begin() + (b + 1) * n);
    const std::vector<Wide> want = wide_transform(in, Direction::Forward);
    const double unit = std::sqrt(2.0 * static_cast<double>(n)) *
                        std::numeric_limits<double>::denorm_min();  // subnormal results round to half of it
    EXPECT_LE(distance(got, want), std::min(kDouble, plan.accuracy().bound) * norm(want) + unit)
        << "n = " << n << ", input " << b;
    if (norm(in) == 0) {
      EXPECT_EQ(norm(got), 0);
    }
  }
}

// Transforms of one batch whose magnitudes are far apart, up to both ends of the exponents, and zeros.
TEST(DeviceExact, EveryTransformHasItsOwnScale) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<std::function<std::complex<double>(std::int64_t)>> inputs;
  for (const double scale : {1.0, 1e-300, 1e+300, 3e-310, 0.0, 1e-9})
    inputs.emplace_back(
        [&, scale](std::int64_t) { return scale * std::complex<double>(normal(random), normal(random)); });
  expect_inputs(1024, inputs);
}

// Sums of one level are exact while they stay below 2^24 units. Digits of the data are 128 units at most, those of
// slice 0 together 4096: |x_0| <= 2 |x| after rounding, and || x ||_2 <= 1/4 = 128 units. So of the digits g_j of every
// matrix there is, column by column, 128 sum_(j < l) |g_j| + 4096 * 128 counts: at most 7 * 128^3 + 2^19 up to 64
// points, whatever the digits.
TEST(DeviceExact, LevelsOfEveryMatrixAreExact) {
  const tile::Machine& machine = tile::machine("trn2");
  for (std::int64_t n = 65; n <= 128; ++n) {
    const auto constants = lines_constants(exact_lines(n, 1, 1), machine, {Direction::Forward, 1, 0});
    const std::int64_t rows = std::max<std::int64_t>(1, 128 / n) * n, plane = 2 * rows * rows;
    std::vector<double> entries[2];
    for (std::size_t part = 0; part < 2; ++part) {
      ASSERT_EQ(constants[part].bytes.size(), static_cast<std::size_t>(8 * plane * 2));
      entries[part].resize(static_cast<std::size_t>(8 * plane));
      to_double(DType::BFloat16, constants[part].bytes.data(), entries[part].data(), 8 * plane);
    }
    for (std::int64_t column = 0; column < 2 * n; ++column) {
      double units = 4096 * 128;
      for (std::int64_t j = 0; j < 7; ++j) {
        for (const std::vector<double>& part : entries) {
          for (std::int64_t r = 0; r < n; ++r) {
            const double digit = std::abs(std::ldexp(part[static_cast<std::size_t>(j * plane + r * 2 * rows + column)],
                                                     static_cast<int>(8 + 8 * j)));
            ASSERT_TRUE(digit == std::nearbyint(digit) && digit <= 128) << digit;
            units += 128 * digit;
          }
        }
        ASSERT_LE(units, 0.99 * 0x1p24) << "n = " << n << ", column " << column << ", level " << j + 1;
      }
    }
  }
}

// Precision::target(1e-14) is accepted, so proven, for every kind of length to 2^14.
TEST(DeviceExact, TargetsThatAreKept) {
  for (const std::int64_t n : {2, 3, 64, 127, 128, 131, 1000, 4093, 4096, 4099, 8191, 8192, 16381, 16384}) {
    Description d = dense(Kind::ComplexToComplex, Direction::Forward, {n});
    d.precision = Precision::target(1e-14);
    EXPECT_LE(Plan<double>(trn2(), d).accuracy().bound, 1e-14) << n;
  }
}

TEST(DeviceExact, Refusals) {
  EXPECT_THROW(Plan<double>(trn2(), dense(Kind::ComplexToComplex, Direction::Forward, {64})),
               NotImplemented);  // native
  EXPECT_THROW(Plan<float>(trn2(), exact(dense(Kind::ComplexToComplex, Direction::Forward, {64}))),
               NotImplemented);  // single precision
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {64});
  d.precision = Precision::target(1e-12);
  EXPECT_EQ(Plan<double>(trn2(), d).accuracy().mode, Mode::Exact);
  d.precision = Precision::target(1e-17);
  EXPECT_THROW(Plan<double>(trn2(), d), InvalidArgument);
}

// The program alone: words in, words out, in any legal order; no two parallel iterations touch the same bytes.
std::vector<float> run_words(const LinesShape& shape, const char* machine_name, const neuron::SimOptions& options,
                             std::int64_t table_length) {
  const tile::Machine& machine = tile::machine(machine_name);
  std::int64_t reals = 2 * shape.n();
  for (const LineDim& d : shape.lines) reals *= d.count;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto bits = [&](int behind, double largest) {
    return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(largest * uniform(random), behind)), -behind));
  };
  std::vector<float> hi(static_cast<std::size_t>(reals)), mid(hi), lo(hi), y(3 * hi.size());
  for (float& v : hi) v = bits(25, 0.25 / std::sqrt(2.0 * static_cast<double>(shape.n())));
  for (float& v : mid) v = bits(49, 0x1p-26);
  for (float& v : lo) v = std::ldexp(uniform(random), -50);
  std::vector<Constant> constants = lines_constants(shape, machine, {Direction::Forward, 1, table_length});
  std::vector<tile::Binding> bindings{{"x_hi", hi.data()}, {"x_mid", mid.data()},       {"x_lo", lo.data()},
                                      {"y_hi", y.data()},  {"y_mid", y.data() + reals}, {"y_lo", y.data() + 2 * reals}};
  for (Constant& c : constants) bindings.push_back({c.name, c.bytes.data()});
  (void)neuron::simulate(lines_program(shape, machine), machine, bindings, options);
  return y;
}

TEST(DeviceExact, AnyOrderGivesTheSameBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    LinesShape table = exact_lines(60, 1, 300, true);
    table.table = true;
    for (const LinesShape& shape : {exact_lines(9, 10, 200), exact_lines(20, 1, 50), table}) {
      const std::int64_t length = shape.table ? 18000 : 0;
      const auto reference = run_words(shape, machine, {.order = Order::in_order(), .check_races = true}, length);
      for (std::uint64_t seed = 1; seed <= 2; ++seed)
        EXPECT_EQ(run_words(shape, machine, {.order = Order::shuffled(seed)}, length), reference) << machine << seed;
    }
  }
}

TEST(DeviceExact, EmittedKernelGivesTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"})
    neuron::testing::expect_agreement(lines_program(exact_lines(6, 5, 3), tile::machine(machine)));
  LinesShape table = exact_lines(6, 1, 5, true);
  table.table = true;
  neuron::testing::expect_agreement(lines_program(table, tile::machine("trn2")));
  const PointLayout ten{Format::Interleaved, false, 10, 2}, twelve{Format::Interleaved, false, 12, 2};
  neuron::testing::expect_agreement(exact_pointwise_program({ten, twelve, {{3, 20, 24}}, true}, tile::machine("trn2")));
}

}  // namespace
}  // namespace trn::fft::device_test

// Double precision on devices: mode exact against long double, at every scale, in any order of instructions, and as NKI text.
#include <trn/fft/points_program.hpp>

#include "device_plan_support.hpp"
#include "support/nki_run.hpp"

namespace trn::fft::device_test {
namespace {

using neuron::Order;

constexpr double kDouble = 1e-14;

Executor trn2() { return Executor::open("sim:trn2"); }
Description exact(Description d) {
  d.precision = Mode::Exact;
  return d;
}

TEST(DeviceExact, Lengths) {
  for (const std::int64_t n : {1, 2, 3, 31, 64, 97, 128, 129, 243, 1000, 4096, 16384}) {
    expect_plan<double>(trn2(), exact(dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = n < 300 ? 5 : 1})), kDouble);
  }
  expect_plan<double>(trn2(), exact(dense(Kind::ComplexToComplex, Direction::Inverse, {32768})), kDouble);
  expect_plan<double>(trn2(), exact(dense(Kind::ComplexToComplex, Direction::Inverse, {5 * 29 * 101})), kDouble);
}

TEST(DeviceExact, LargePrimes) {
  for (const std::int64_t n : {131, 262, 1021}) {
    expect_plan<double>(
        trn2(), exact(dense(Kind::ComplexToComplex, n % 2 == 0 ? Direction::Inverse : Direction::Forward, {n}, {.batch = 2})), kDouble);
  }
  expect_plan<double>(trn2(), exact(dense(Kind::RealToComplex, Direction::Forward, {3, 131})), kDouble);
}

TEST(DeviceExact, RealTransformsAxesAndLayouts) {
  for (const std::vector<std::int64_t>& axes : std::vector<std::vector<std::int64_t>>{{10}, {129}, {6, 9}, {140, 4}, {3, 4, 5}}) {
    for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
      Description d = exact(dense(kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, axes, {.batch = 2}));
      d.scale = Scale::ByLength;
      expect_plan<double>(trn2(), d, kDouble);
    }
  }
  expect_plan<double>(trn2(), exact({Kind::ComplexToComplex, Direction::Forward, {{20, 7, 7}}, {{7, 1, 1}}}), kDouble, true);
  expect_plan<double>(
      trn2(),
      exact({Kind::ComplexToComplex, Direction::Forward, {{20, 1, 3}}, {{3, 24, 1}}, Scale::None, {}, Format::Planar, Format::Planar}),
      kDouble);
  expect_plan<double>(trn2(), exact(dense(Kind::RealToComplex, Direction::Forward, {2, 30}, {.padded_real = true})), kDouble, true);
  for (const char* name : {"sim:trn1", "sim:trn3"})
    expect_plan<double>(Executor::open(name), exact(dense(Kind::ComplexToComplex, Direction::Forward, {144}, {.batch = 2})), kDouble);
}

// Transforms of one batch whose magnitudes are far apart, up to both ends of the exponents; zeros; one point alone, the worst case of fixed
// slices.
TEST(DeviceExact, EveryTransformHasItsOwnScale) {
  const std::int64_t n = 1024;
  const std::vector<double> scales{1, 1e-300, 1e+300, 3e-310, 0, 1e-9};
  const auto batch = static_cast<std::int64_t>(scales.size());
  std::vector<std::complex<double>> x(static_cast<std::size_t>(n * batch));
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = scales[i / static_cast<std::size_t>(n)] * std::complex<double>(normal(random), normal(random));
  for (std::int64_t j = 0; j < n; ++j) x[static_cast<std::size_t>(5 * n + j)] = j == 77 ? std::complex<double>(0.7, -0.3) : 0;
  const Executor executor = trn2();
  const Plan<double> plan(executor, exact(dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = batch})));
  const auto dx = Array<std::complex<double>>::from_host(executor, {n * batch}, x);
  const Array<std::complex<double>> dy(executor, {n * batch});
  plan.execute(dx.view(), dy.view());
  const auto y = dy.to_host();
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::vector<Wide> in(x.begin() + b * n, x.begin() + (b + 1) * n), got(y.begin() + b * n, y.begin() + (b + 1) * n);
    const std::vector<Wide> want = wide_transform(in, Direction::Forward);
    if (scales[static_cast<std::size_t>(b)] == 0) {
      EXPECT_EQ(norm(got), 0);
    } else {  // subnormal results round to half a unit
      const double unit = std::sqrt(2.0 * static_cast<double>(n)) * std::numeric_limits<double>::denorm_min();
      EXPECT_LE(distance(got, want), kDouble * norm(want) + unit) << b;
      EXPECT_LE(distance(got, want), plan.accuracy().bound * norm(want) + unit) << b;
    }
  }
}

TEST(DeviceExact, Refusals) {
  EXPECT_THROW(Plan<double>(trn2(), dense(Kind::ComplexToComplex, Direction::Forward, {64})), NotImplemented);        // native
  EXPECT_THROW(Plan<float>(trn2(), exact(dense(Kind::ComplexToComplex, Direction::Forward, {64}))), NotImplemented);  // single precision
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {64});
  d.precision = Precision::target(1e-12);
  EXPECT_EQ(Plan<double>(trn2(), d).accuracy().mode, Mode::Exact);
  d.precision = Precision::target(1e-17);
  EXPECT_THROW(Plan<double>(trn2(), d), InvalidArgument);
}

// The program alone: pairs in, pairs out, in any legal order; no two parallel iterations touch the same bytes.
std::vector<float> run_pairs(const LinesShape& shape, const char* machine_name, const neuron::SimOptions& options,
                             std::int64_t table_length) {
  const tile::Machine& machine = tile::machine(machine_name);
  std::int64_t reals = 2 * shape.n();
  for (const LineDim& d : shape.lines) reals *= d.count;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<float> hi(static_cast<std::size_t>(reals)), lo(hi), y(2 * hi.size());
  for (float& v : hi) v = uniform(random);
  for (float& v : lo) v = std::ldexp(uniform(random), -26);
  std::vector<Constant> constants = lines_constants(shape, machine, {Direction::Forward, 1, table_length});
  std::vector<tile::Binding> bindings{{"x_hi", hi.data()}, {"x_lo", lo.data()}, {"y_hi", y.data()}, {"y_lo", y.data() + reals}};
  for (Constant& c : constants) bindings.push_back({c.name, c.bytes.data()});
  (void)neuron::simulate(lines_program(shape, machine), machine, bindings, options);
  return y;
}
LinesShape exact_lines(std::int64_t n1, std::int64_t n2, std::int64_t count, bool columns = false) {
  LinesShape s = dense_lines(LineKernel::Blocks, n1, n2, count, columns);
  s.mode = Mode::Exact;
  return s;
}

TEST(DeviceExact, AnyOrderGivesTheSameBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    LinesShape table = exact_lines(60, 1, 300, true);
    table.table = true;
    for (const LinesShape& shape : {exact_lines(9, 10, 200), exact_lines(20, 1, 50), table}) {
      const std::int64_t length = shape.table ? 18000 : 0;
      const auto reference = run_pairs(shape, machine, {.order = Order::in_order(), .check_races = true}, length);
      for (std::uint64_t seed = 1; seed <= 2; ++seed)
        EXPECT_EQ(run_pairs(shape, machine, {.order = Order::shuffled(seed)}, length), reference) << machine << seed;
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

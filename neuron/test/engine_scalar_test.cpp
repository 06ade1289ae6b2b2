// The Scalar Engine's functions against long double formulas, in units of the last place.
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

using Real = long double;
constexpr Real kPi = std::numbers::pi_v<long double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Real logistic(Real x) { return 1 / (1 + expl(-x)); }
Real cdf(Real x) { return erfcl(-x / sqrtl(2)) / 2; }
Real pdf(Real x) { return expl(-x * x / 2) / sqrtl(2 * kPi); }

struct Case {
  ActFunction function;
  std::function<Real(Real)> formula;
  double low, high;
};
const std::vector<Case> kCases{
    {ActFunction::Copy, [](Real x) { return x; }, -100, 100},
    {ActFunction::Square, [](Real x) { return x * x; }, -100, 100},
    {ActFunction::Sigmoid, logistic, -80, 80},
    {ActFunction::Relu, [](Real x) { return x > 0 ? x : 0; }, -3, 3},
    {ActFunction::Gelu, [](Real x) { return x * cdf(x); }, -10, 10},
    {ActFunction::GeluDx, [](Real x) { return cdf(x) + x * pdf(x); }, -0.7, 10},
    {ActFunction::GeluApprxTanh, [](Real x) { return x * logistic(2 * sqrtl(2 / kPi) * (x + 0.044715L * x * x * x)); },
     -8, 8},
    {ActFunction::GeluApprxSigmoid, [](Real x) { return x * logistic(1.702L * x); }, -30, 30},
    {ActFunction::Silu, [](Real x) { return x * logistic(x); }, -60, 60},
    {ActFunction::SiluDx, [](Real x) { return logistic(x) * (1 + x * (1 - logistic(x))); }, -1.2, 20},
    {ActFunction::Tanh, [](Real x) { return tanhl(x); }, -10, 10},
    {ActFunction::Softplus, [](Real x) { return log1pl(expl(x)); }, -40, 40},
    {ActFunction::Mish, [](Real x) { return x * tanhl(log1pl(expl(x))); }, -30, 30},
    {ActFunction::Erf, [](Real x) { return erfl(x); }, -5, 5},
    {ActFunction::ErfDx, [](Real x) { return 2 / sqrtl(kPi) * expl(-x * x); }, -8, 8},
    {ActFunction::Exp, [](Real x) { return expl(x); }, -80, 80},
    {ActFunction::Log, [](Real x) { return logl(x); }, 1e-6, 1e6},
    {ActFunction::Sin, [](Real x) { return sinl(x); }, -3.1, 3.1},
    {ActFunction::Arctan, [](Real x) { return atanl(x); }, -1.5, 1.5},
    {ActFunction::Sqrt, [](Real x) { return sqrtl(x); }, 0, 1e6},
    {ActFunction::Rsqrt, [](Real x) { return 1 / sqrtl(x); }, 1e-6, 1e6},
    {ActFunction::Reciprocal, [](Real x) { return 1 / x; }, 1e-6, 1e6},
    {ActFunction::Sign, [](Real x) { return Real((x > 0) - (x < 0)); }, -2, 2},
    {ActFunction::Abs, [](Real x) { return fabsl(x); }, -2, 2},
};

// Evaluation in double and one rounding: at most half a unit in the last place of float, and a hair for double's own
// error.
TEST(Activation, EveryFunctionToTheLastPlace) {
  for (const Case& c : kCases) {
    Rig rig;
    const std::int64_t n = 513;
    Values x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(c.low + (c.high - c.low) * static_cast<double>(i) / static_cast<double>(n - 1));
    }
    const Access o = rig.b.sbuf("o", 1, {n}, DType::Float32);
    rig.b.activation(o, c.function, rig.tile("x", DType::Float32, 1, n, x));
    rig.emit("out", o);
    rig.run();
    const Values got = rig.values("out");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real exact = c.formula(x[i]);
      const float nearest = static_cast<float>(exact);
      const Real ulp = std::nextafter(std::fabs(nearest), std::numeric_limits<float>::infinity()) - std::fabs(nearest);
      ASSERT_LE(fabsl(got[i] - exact), 0.501L * ulp) << name(c.function) << "(" << x[i] << ") = " << got[i];
    }
  }
}

TEST(Activation, LimitsAtInfinity) {
  const std::vector<std::tuple<ActFunction, double, double>> limits{
      {ActFunction::Sigmoid, 0, 1}, {ActFunction::Gelu, 0, kInf},     {ActFunction::GeluApprxTanh, 0, kInf},
      {ActFunction::Silu, 0, kInf}, {ActFunction::GeluDx, 0, 1},      {ActFunction::SiluDx, 0, 1},
      {ActFunction::Mish, 0, kInf}, {ActFunction::Softplus, 0, kInf}, {ActFunction::Tanh, -1, 1},
      {ActFunction::Exp, 0, kInf},  {ActFunction::Erf, -1, 1},        {ActFunction::Relu, 0, kInf},
      {ActFunction::Sign, -1, 1},   {ActFunction::ErfDx, 0, 0}};
  for (const auto& [function, at_minus, at_plus] : limits) {
    Rig rig;
    const Access o = rig.b.sbuf("o", 1, {3}, DType::Float32);
    rig.b.activation(o, function, rig.tile("x", DType::Float32, 1, 3, {-kInf, kInf, std::nan("")}));
    rig.emit("out", o);
    rig.run();
    EXPECT_EQ(rig.values("out")[0], at_minus) << name(function);
    EXPECT_EQ(rig.values("out")[1], at_plus) << name(function);
    EXPECT_TRUE(std::isnan(rig.values("out")[2])) << name(function);
  }
}

TEST(Activation, SinOutsideItsTableIsACubic) {
  Rig rig;
  const Access o = rig.b.sbuf("o", 1, {3}, DType::Float32);
  rig.b.activation(o, ActFunction::Sin, rig.tile("x", DType::Float32, 1, 3, {9, -9, 3.2}));
  rig.emit("out", o);
  rig.run();
  EXPECT_NEAR(rig.values("out")[0], 27.65, 5e-3);
  EXPECT_NEAR(rig.values("out")[1], -27.65, 5e-3);
  EXPECT_NEAR(rig.values("out")[2], std::sin(3.2), 1e-6);  // smooth at the edge
}

// 4097 * 4097 = 16785409 needs 25 bits: the product rounds to 16785408 before the bias is added; fused it would be 1.
TEST(Activation, ProductRoundsBeforeTheBias) {
  Rig rig;
  const Access x = rig.tile("x", DType::Float32, 2, 1, {4097, 2});
  const Access o = rig.b.sbuf("o", 2, {1}, DType::Float32), q = rig.b.sbuf("q", 2, {1}, DType::Float32);
  rig.b.activation(o, ActFunction::Copy, x, {.bias = -16785408.0, .scale = 4097.0});
  rig.b.activation(
      q, ActFunction::Square, x,
      {.bias = rig.tile("b", DType::BFloat16, 2, 1, {1, 2}), .scale = rig.tile("s", DType::Float32, 2, 1, {0, 3})});
  rig.emit("out", o);
  rig.emit("q", q);
  rig.run();
  EXPECT_EQ(rig.values("out")[0], 0);
  EXPECT_EQ(rig.values("q"), (Values{1, 64}));
}

TEST(Activation, ReducesBeforeRoundingToTheDestination) {
  Rig rig;
  const std::int64_t p = 33, n = 257;
  const Values x = rounded(normals(p * n, 3), DType::Float32);
  const Access o = rig.b.sbuf("o", p, {n}, DType::BFloat16), r = rig.b.sbuf("r", p, {1}, DType::Float32);
  rig.b.activation(o, ActFunction::Copy, rig.tile("x", DType::Float32, p, n, x), {.reduce_res = r});
  rig.emit("out", o);
  rig.emit("sum", r);
  rig.run();
  for (std::size_t i = 0; i < static_cast<std::size_t>(p); ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) sum += static_cast<float>(x[i * 257 + j]);
    EXPECT_EQ(rig.values("sum")[i], sum);
    EXPECT_EQ(rig.values("out")[i * 257], rounded(static_cast<float>(x[i * 257]), DType::BFloat16));
  }
}

// Three activations share the registers: sums are taken up where the last one left them.
TEST(Activation, SumsStayInTheRegisters) {
  Rig rig;
  const Access x = rig.tile("x", DType::Float32, 2, 3, {1, 2, 3, 10, 20, 30});
  const Access o = rig.b.sbuf("o", 2, {3}, DType::Float32);
  const auto column = [&](const char* name) { return rig.b.sbuf(name, 2, {1}, DType::Float32); };
  const Access first = column("first"), second = column("second"), third = column("third"), zero = column("zero");
  rig.b.activation(o, ActFunction::Copy, x, {.reduce_cmd = ReduceCmd::ResetReduce});
  rig.b.activation(o, ActFunction::Copy, x, {.scale = 100.0});  // idle: leaves them alone
  rig.b.activation(o, ActFunction::Copy, x, {.reduce_res = first, .reduce_cmd = ReduceCmd::Reduce});
  rig.b.activation(o, ActFunction::Copy, x, {.reduce_res = second, .reduce_cmd = ReduceCmd::Idle});
  rig.b.activation(o, ActFunction::Copy, x, {.reduce_res = zero, .reduce_cmd = ReduceCmd::Reset});
  rig.b.activation(o, ActFunction::Copy, x, {.reduce_res = third});
  for (const auto& [name, t] : std::map<std::string, Access>{{"a", first}, {"b", second}, {"c", third}, {"z", zero}}) {
    rig.emit(name, t);
  }
  rig.run();
  EXPECT_EQ(rig.values("a"), (Values{12, 120}));
  EXPECT_EQ(rig.values("b"), (Values{12, 120}));
  EXPECT_EQ(rig.values("z"), (Values{0, 0}));
  EXPECT_EQ(rig.values("c"), (Values{6, 60}));
}

TEST(Activation, SumsThatNothingBeganAreReported) {
  const auto run = [](ReduceCmd cmd) {
    return check_of([&] {
      Rig rig;
      const Access x = rig.tile("x", DType::Float32, 1, 1, {1}), r = rig.b.sbuf("r", 1, {1}, DType::Float32);
      rig.b.activation(x, ActFunction::Copy, x, {.reduce_res = r, .reduce_cmd = cmd});
      rig.emit("out", r);
      rig.run();
    });
  };
  EXPECT_EQ(run(ReduceCmd::Reduce), "uninitialised-read");
  EXPECT_EQ(run(ReduceCmd::Idle), "uninitialised-read");
  EXPECT_EQ(run(ReduceCmd::ResetReduce), "");
}

}  // namespace
}  // namespace trn::neuron::sim

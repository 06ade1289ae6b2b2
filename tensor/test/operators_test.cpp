// Operators of operands and of the result within a contraction, on host and device: one step, and what the operators
// and the product give one after another in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor_support.hpp"

namespace trn::tensor::testing {
namespace {

struct Function {
  Unary op;
  long double (*of)(long double);
};
// One of every kind of instruction. Operands are in [0.25, 2), so that all are defined.
const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {Unary::Identity, [](long double x) { return x; }},
      {Unary::Sqrt, [](long double x) { return std::sqrt(x); }},
      {Unary::Relu, [](long double x) { return std::max(x, 0.0L); }},
      {Unary::Rcp, [](long double x) { return 1 / x; }},
      {Unary::Sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }},
      {Unary::Tanh, [](long double x) { return std::tanh(x); }},
      {Unary::Exp, [](long double x) { return std::exp(x); }},
      {Unary::Log, [](long double x) { return std::log(x); }},
      {Unary::Abs, [](long double x) { return std::abs(x); }},
      {Unary::Neg, [](long double x) { return -x; }},
      {Unary::Atan, [](long double x) { return std::atan(x); }},
      {Unary::Softplus, [](long double x) { return std::log1p(std::exp(x)); }},
  };
  return all;
}

struct Case {
  const char* text;
  Shape a, b;
  const char* host;  // algorithms
  const char* device;
};

// Largest |D - exact| over what the bounds of the plan and of the functions allow; fails where a step is left over.
void check(const Executor& executor, const Case& test, DType dtype, const Function& a_op, const Function& b_op,
           const Function& result, double beta, double function_error, Mode mode = Mode::Native) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> uniform(0.25, 2);
  const auto fill = [&](std::int64_t) { return std::complex<double>(uniform(random)); };
  Description d;
  d.expression = parse(test.text, std::vector<std::int64_t>{static_cast<std::int64_t>(test.a.size()),
                                                            static_cast<std::int64_t>(test.b.size())});
  const std::vector<Shape> shapes{test.a, test.b};
  const Sizes sizes = sizes_of(d.expression, shapes);
  Shape shape;
  for (const Label l : d.expression.output) shape.push_back(sizes[static_cast<std::size_t>(l)]);
  std::vector<Sample> in{sample(dtype, test.a, row_major_strides(test.a), fill),
                         sample(dtype, test.b, row_major_strides(test.b), fill)};
  Sample out = sample(dtype, shape, row_major_strides(shape), fill);
  std::vector<Buffer> there;
  const auto put = [&](const Sample& s) {
    there.emplace_back(executor, static_cast<std::int64_t>(s.bytes.size()));
    copy_bytes(Executor::host(), s.bytes.data(), executor, there.back().data(),
               static_cast<std::int64_t>(s.bytes.size()));
    return TypedView(executor, s.dtype, there.back().data(), s.shape, s.strides);
  };
  const std::vector<TypedView> views{put(in[0]), put(in[1])};
  const TypedView to = put(out);
  d.operands = {operand_of(views[0], a_op.op), operand_of(views[1], b_op.op)};
  d.output = operand_of(to, result.op);
  d.c = operand_of(to);
  d.precision = mode;
  const Plan plan(executor, d);
  const std::string what = std::string(test.text) + " " + std::string(name(a_op.op)) + " " +
                           std::string(name(b_op.op)) + " -> " + std::string(name(result.op)) + " on " +
                           executor.name();
  ASSERT_EQ(plan.steps().size(), 1u) << what << plan.explain();
  EXPECT_EQ(plan.steps()[0].algorithm, executor.family() == Family::Host ? test.host : test.device) << what;
  // The oracle: operators on long doubles, the product, the operator of the result.
  std::vector<Sample> applied{
      sample(DType::Float64, test.a, row_major_strides(test.a),
             [&](std::int64_t i) { return std::complex<double>(static_cast<double>(a_op.of(in[0].at(i).real()))); }),
      sample(DType::Float64, test.b, row_major_strides(test.b),
             [&](std::int64_t i) { return std::complex<double>(static_cast<double>(b_op.of(in[1].at(i).real()))); })};
  const Exact exact = oracle(d.expression, sizes, applied, {false, false});
  const Sample c = out;
  (void)plan.execute(views, to, {0x1p-6, beta}, &to);
  copy_bytes(executor, to.data, Executor::host(), out.bytes.data(), static_cast<std::int64_t>(out.bytes.size()));
  double worst = 0;
  for (std::size_t i = 0; i < exact.values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const long double x = 0x1p-6L * exact.values[i].real() + beta * c.at(at).real();
    const long double size = 0x1p-6L * exact.absolute[i] + std::abs(beta * c.at(at).real());
    // Operands carry the errors of their functions, and the result's function what its argument has: its derivative,
    // taken over the error on both sides.
    const long double error = (plan.accuracy().bound + 2 * function_error + 0x1p-50) * size;
    const long double want = result.of(x),
                      moved = std::max(std::abs(result.of(x + error) - want), std::abs(result.of(x - error) - want));
    const long double allowed = moved + function_error * (std::abs(want) + 1);
    worst = std::max(worst, static_cast<double>(std::abs(out.at(at).real() - want) / allowed));
  }
  EXPECT_LE(worst, 1) << what;
}

// On the host functions are the C library's, a unit or two of roundoff; on simulators of the Scalar Engine's tables.
TEST(ContractionOperators, OneStepOnTheHost) {
  const std::vector<Case> cases{{"ik,kj->ij", {13, 40}, {40, 9}, "direct", ""},
                                {"aib,bja->ij", {5, 7, 6}, {6, 11, 5}, "direct", ""},
                                {"ij,kj->ki", {4, 270}, {90, 270}, "direct", ""},
                                {"bk,bk->b", {6, 20}, {6, 20}, "dot", ""},
                                {"i,j->ij", {9}, {8}, "direct", ""}};
  const std::vector<Function>& f = functions();
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const double error = 4 * unit_roundoff(dtype);
    for (std::size_t i = 1; i < f.size(); ++i) {
      const Case& test = cases[i % cases.size()];
      check(Executor::host(), test, dtype, f[i], f[(i + 3) % f.size()], f[0], 0, error);
      check(Executor::host(), test, dtype, f[0], f[i], f[0], -0.5, error);
      check(Executor::host(), cases[(i + 1) % cases.size()], dtype, f[0], f[0], f[i], 0.25, error);
    }
  }
}

TEST(ContractionOperators, OneStepOnDevices) {
  const std::vector<Case> cases{{"ik,kj->ij", {30, 130}, {130, 70}, "", "product"},
                                {"ki,jk->ij", {40, 30}, {20, 40}, "", "product"},
                                {"aib,bja->ij", {5, 7, 6}, {6, 11, 5}, "", "product"},
                                {"bik,bkj->bij", {3, 9, 20}, {3, 20, 7}, "", "product"},
                                {"ki,kj->ij", {20, 1040}, {20, 6}, "", "skinny product"},
                                {"ki,kj->ij", {130, 1030}, {130, 4}, "", "skinny product"},
                                {"bk,bk->b", {6, 20}, {6, 20}, "", "dot"},
                                {"i,j->ij", {9}, {8}, "", "pointwise"}};
  const std::vector<Function>& f = functions();
  for (const char* machine : {"sim:trn2", "sim:trn1", "sim:trn3"}) {
    const Executor device = Executor::open(machine);
    for (std::size_t i = 0; i < f.size(); ++i) {
      const Case& test = cases[i % cases.size()];
      check(device, test, DType::Float32, f[i], f[(i + 3) % f.size()], f[0], 0, 1e-5);
      check(device, cases[(i + 2) % cases.size()], DType::Float32, f[(i + 1) % f.size()], f[0], f[i],
            i % 2 == 0 ? 0 : 0.25, 1e-5);
      if (std::string(machine) != "sim:trn2") i += 3;
    }
  }
  const Executor device = Executor::open("sim:trn2");
  for (const Mode mode : {Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6})
    check(device, cases[0], DType::Float32, f[6], f[3], f[7], 0.5, 1e-5, mode);
}

// What has no single instruction, or would be computed for the same element again and again, is a step of its own.
TEST(ContractionOperators, StepsOfTheirOwn) {
  const auto steps = [](const Executor& executor, Unary a, Unary b, std::int64_t rows, std::int64_t columns,
                        DType dtype = DType::Float32, Mode mode = Mode::Native) {
    Description d;
    d.expression = parse("ik,kj->ij", std::vector<std::int64_t>{2, 2});
    d.operands = {{{rows, 70}, {70, 1}, dtype, a}, {{70, columns}, {columns, 1}, dtype, b}};
    d.output = {{rows, columns}, {columns, 1}, dtype};
    d.precision = mode;
    return Plan(executor, d).steps().size();
  };
  const Executor host = Executor::host(), device = Executor::open("sim:trn2");
  const Unary none = Unary::Identity;
  EXPECT_EQ(steps(host, Unary::Exp, none, 40, 500), 1u);
  EXPECT_EQ(steps(host, Unary::Exp, none, 40, 9000), 2u);  // packed for each block of columns
  EXPECT_EQ(steps(host, Unary::Neg, none, 40, 9000), 1u);
  EXPECT_EQ(steps(host, none, Unary::Exp, 9000, 500), 2u);  // and of rows
  EXPECT_EQ(steps(host, Unary::Neg, none, 40, 50, DType::Float32, Mode::Exact), 2u);
  EXPECT_EQ(steps(host, Unary::Neg, none, 40, 50, DType::Complex64), 2u);
  EXPECT_EQ(steps(device, Unary::Exp, none, 40, 50), 1u);
  EXPECT_EQ(steps(device, Unary::Floor, none, 40, 50), 2u);
  EXPECT_EQ(steps(device, Unary::Exp, none, 40, 50, DType::BFloat16), 4u);  // both and the result are converted
}

}  // namespace
}  // namespace trn::tensor::testing

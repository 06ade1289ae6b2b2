// Plan::measure against einsums in __float128: what it says of the error holds, the norms are those of what was
// computed, and the error is less than the a-priori bound says where products are smaller than their factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor_support.hpp"

namespace trn::tensor::testing {
namespace {

__extension__ using Quad = __float128;
struct Number {
  Quad re = 0, im = 0;
};

Number times(const Number& x, const Number& y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

// alpha einsum + beta C, one product at a time.
std::vector<Number> exact(const Expression& e, const Sizes& sizes, const std::vector<Sample>& operands,
                          const std::vector<Unary>& ops, std::complex<double> alpha, std::complex<double> beta,
                          const Sample& c) {
  const Strides to = row_major_strides(c.shape);
  std::vector<Number> result(static_cast<std::size_t>(element_count(c.shape)));
  std::vector<std::int64_t> index(sizes.size(), 0);
  for (bool more = true; more;) {
    Number product{1, 0};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Wide x = operands[i].at(offset_of(e.inputs[i], operands[i].shape, operands[i].strides, index));
      product = times(product, {x.real(), ops[i] == Unary::Conj ? -x.imag() : x.imag()});
    }
    Number& sum = result[static_cast<std::size_t>(offset_of(e.output, c.shape, to, index))];
    sum = {sum.re + product.re, sum.im + product.im};
    more = false;
    for (std::size_t l = 0; !more && l < index.size(); ++l) {
      more = ++index[l] < sizes[l];
      if (!more) index[l] = 0;
    }
  }
  const std::vector<std::int64_t> offsets = offsets_of(c.shape, c.strides);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Wide old = c.at(offsets[i]);
    const Number x = times({alpha.real(), alpha.imag()}, result[i]),
                 y = times({beta.real(), beta.imag()}, {old.real(), old.imag()});
    result[i] = {x.re + y.re, x.im + y.im};
  }
  return result;
}

double root(Quad x) {  // of a sum of squares, to double
  double scale = 1;
  for (; x > Quad(1e200); x *= Quad(0x1p-200)) scale *= 0x1p100;
  for (; x > 0 && x < Quad(1e-200); x *= Quad(0x1p200)) scale *= 0x1p-100;
  return std::sqrt(static_cast<double>(x)) * scale;
}

struct Case {
  const char* text;
  std::vector<Shape> shapes;
  std::complex<double> alpha = 1, beta = 0;
  std::vector<Unary> ops = {};
};
struct Found {
  double error, norm;  // in __float128
  Measured measured;
  double a_priori;  // the plan's bound
};

Found measured(const Executor& executor, const Case& test, DType dtype, Precision precision, std::uint64_t seed,
               std::int64_t memory_bytes = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto fill = [&](std::int64_t) { return std::complex<double>(normal(random), normal(random)); };
  Description d;
  std::vector<std::int64_t> ranks;
  for (const Shape& shape : test.shapes) ranks.push_back(static_cast<std::int64_t>(shape.size()));
  d.expression = parse(test.text, ranks);
  const Sizes sizes = sizes_of(d.expression, test.shapes);
  std::vector<Unary> ops = test.ops;
  ops.resize(test.shapes.size());
  std::vector<Sample> samples;
  std::vector<Buffer> there;
  std::vector<TypedView> views;
  const auto put = [&](const Sample& s) {
    there.emplace_back(executor, std::max<std::int64_t>(1, static_cast<std::int64_t>(s.bytes.size())));
    copy_bytes(Executor::host(), s.bytes.data(), executor, there.back().data(),
               static_cast<std::int64_t>(s.bytes.size()));
    return TypedView(executor, s.dtype, there.back().data(), s.shape, s.strides);
  };
  for (std::size_t i = 0; i < test.shapes.size(); ++i) {
    samples.push_back(sample(dtype, test.shapes[i], row_major_strides(test.shapes[i]), fill));
    views.push_back(put(samples.back()));
    d.operands.push_back(operand_of(views.back(), ops[i]));
  }
  Shape shape;
  for (const Label l : d.expression.output) shape.push_back(sizes[static_cast<std::size_t>(l)]);
  Sample out = sample(dtype, shape, row_major_strides(shape), fill);
  const std::vector<Number> truth = exact(d.expression, sizes, samples, ops, test.alpha, test.beta, out);
  const TypedView to = put(out);
  d.output = operand_of(to);
  d.precision = precision;
  d.memory_bytes = memory_bytes;
  const Plan plan(executor, d);
  EXPECT_EQ(plan.slices().slices.empty(), memory_bytes == 0) << test.text;
  const EinsumResult result = plan.measure(views, to, {test.alpha, test.beta});
  copy_bytes(executor, to.data, Executor::host(), out.bytes.data(), static_cast<std::int64_t>(out.bytes.size()));
  Quad error = 0, norm = 0;
  const std::vector<std::int64_t> offsets = offsets_of(out.shape, out.strides);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const Wide x = out.at(offsets[i]);
    const Quad re = x.real() - truth[i].re, im = x.imag() - truth[i].im;
    error += re * re + im * im;
    norm += Quad(x.real()) * x.real() + Quad(x.imag()) * x.imag();
  }
  return {root(error), root(norm), *result.measured, plan.accuracy().bound};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"ij,jk->ik", {{9, 14}, {14, 11}}},
      {"ij,jk,kl->il", {{7, 12}, {12, 13}, {13, 6}}, 0.75, -1.5},
      {"bij,bjk->bki", {{3, 5, 8}, {3, 8, 7}}, {0.5, 0}, {2, 0}},
      {"ii,ij,kj->k", {{6, 6}, {6, 9}, {4, 9}}},
      {"ijk,ka,jb->iab", {{5, 6, 7}, {7, 4}, {6, 3}}, 1, 1},
      {"ij,kl->il", {{8, 5}, {6, 9}}},           // labels of one operand, summed first
      {"ijk->ki", {{6, 5, 4}}, 2, -0.5},         // one operand: a sum
      {"ij->ji", {{6, 5}}, 2, 3},                // nothing summed
      {"i,i->", {{40}, {40}}},                   // a dot product
      {"a,b->ab", {{7}, {9}}, 1, 0.5},           // nothing summed, two operands
      {"ijk,jk->i", {{4, 5, 6}, {1, 6}}, 1, 0},  // an extent of 1, repeated
  };
  return all;
}

// The number of cases that the executor has.
int holds(const Executor& executor, DType dtype, Precision precision) {
  std::uint64_t seed = 1;
  int served = 0;
  for (const Case& test : cases()) {
    Found f;
    try {
      f = measured(executor, test, dtype, precision, ++seed);
    } catch (const NotImplemented&) {
      continue;
    }
    ++served;
    EXPECT_LE(f.error, f.measured.error) << test.text << " " << name(dtype) << " " << executor.name();
    // Norms are at least the exact ones of what was written, and no more than their sums round.
    EXPECT_GE(f.measured.norm, f.norm * (1 - 1e-15)) << test.text;
    EXPECT_LE(f.measured.norm, f.norm * (1 + (executor.family() == Family::Host ? 1e-12 : 1e-4)) + 1e-17) << test.text;
  }
  return served;
}

TEST(Measured, ErrorsOfEveryTypeHold) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128}) {
    EXPECT_EQ(holds(Executor::host(), dtype, Mode::Native), 11);
    EXPECT_EQ(holds(Executor::host(), dtype, Mode::Exact), 11);
  }
  EXPECT_EQ(holds(Executor::host(), DType::Float32, Mode::Bf16), 11);
  EXPECT_EQ(holds(Executor::host(), DType::Complex64, Precision::target(1e-3)), 11);
}

TEST(Measured, DevicesMeasureWithinTheirProgram) {
  const Executor device = Executor::open("sim:trn2");
  for (const DType dtype : {DType::Float32, DType::Complex64}) {
    EXPECT_EQ(holds(device, dtype, Mode::Native), 11);
    EXPECT_EQ(holds(device, dtype, Mode::Bf16), 11);
  }
  EXPECT_EQ(holds(device, DType::Float32, Mode::Tf32x3), 11);
  EXPECT_EQ(holds(device, DType::Float32, Mode::Exact), 11);
  EXPECT_GE(holds(device, DType::Float64, Mode::Exact), 5);  // sums of one operand are the host's
}

// Slices add up errors of their passes.
TEST(Measured, SlicedSumsCount) {
  const Case test{"ij,jk,kl,lm->im", {{4, 14}, {14, 14}, {14, 14}, {14, 3}}, 1, 1};
  const Found f = measured(Executor::host(), test, DType::Float32, Mode::Native, 5, 128);
  EXPECT_LE(f.error, f.measured.error);
}

// A chain of random matrices, whose products are smaller than their norms multiply to: the a-priori bound counts the
// norms of the operands at every step, the measured one those of what is there.
TEST(Measured, LessThanTheBoundWhereProductsAreSmall) {
  const std::int64_t n = 5;
  const Case chain{"ab,bc,cd,de,ef,fg->ag", {{n, n}, {n, n}, {n, n}, {n, n}, {n, n}, {n, n}}};
  const Found f = measured(Executor::host(), chain, DType::Float32, Mode::Native, 3);
  const double product = std::pow(static_cast<double>(n), 6);  // of the norms of six n x n matrices of normal numbers
  EXPECT_LE(f.error, f.measured.error);
  EXPECT_LT(f.measured.error, 0.5 * f.a_priori * product);
  EXPECT_GT(f.error, 0);
}

TEST(Measured, WhatItRefuses) {
  Array<float> a(Executor::host(), {3, 3}), d(Executor::host(), {3, 3});
  for (std::int64_t i = 0; i < 9; ++i) a.data()[i] = 1;
  Description what;
  what.expression = parse("ij,jk->ik", std::vector<std::int64_t>{2, 2});
  what.operands = {operand_of(a.view()), operand_of(a.view())};
  what.output = operand_of(d.view(), Unary::Exp);
  const std::vector<TypedView> in{a.view(), a.view()};
  EXPECT_THROW((void)Plan(Executor::host(), what).measure(in, d.view()), NotImplemented);
  what.output.op = Unary::Tanh;
  const EinsumResult tanh = Plan(Executor::host(), what).measure(in, d.view());
  EXPECT_NEAR(tanh.measured->norm, 3 * std::tanh(3.0), 1e-6);
  what.operands[0].constant = true;
  EXPECT_THROW((void)Plan(Executor::host(), what, std::span(in).first(1)).measure(std::span(in).last(1), d.view()),
               NotImplemented);
  // Infinite numbers: an infinite error, and overflow of a square is not one on the host.
  what.operands[0].constant = false;
  what.output.op = Unary::Identity;
  for (std::int64_t i = 0; i < 9; ++i) a.data()[i] = 1e30F;
  Measured m;
  Array<float> x(Executor::host(), {3, 3});
  einsum(Executor::host(), "ij->ji", {a.view()}, x.view(), {.measured = &m});
  EXPECT_NEAR(m.norm / 3e30, 1, 1e-6);
  a.data()[4] = std::numeric_limits<float>::infinity();
  einsum(Executor::host(), "ij->ji", {a.view()}, x.view(), {.measured = &m});
  EXPECT_TRUE(std::isinf(m.error));
}

// A D that overflowed is as far from the exact one as can be, whatever its operands' norms say.
TEST(Measured, ResultsThatOverflowHaveInfiniteErrors) {
  const std::vector<float> values(9, 300);
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor executor = Executor::open(name);
    const auto a = Array<float>::from_host(executor, {3, 3}, values);
    const Array<float16> half(executor, {3, 3});
    Measured m;
    einsum(executor, "ij,jk->ik", {a.view(), a.view()}, half.view(), {.measured = &m});  // 270000
    EXPECT_TRUE(std::isinf(m.error)) << name << " " << m.error;
    const Array<float> d(executor, {3, 3});  // exp(300)
    einsum(executor, "ij,jk->ik", {a.view(), a.view()}, d.view(),
           {.operators = {Unary::Exp, Unary::Identity}, .measured = &m});
    EXPECT_TRUE(std::isinf(m.error)) << name << " " << m.error;
  }
}

// Operators of the result that enlarge errors have no bound: exp and rcp do, sin off the real axis does, by e^|im|.
TEST(Measured, OperatorsThatEnlargeErrorsAreRefused) {
  const Executor host = Executor::host();
  const auto bounds_of = [&](const auto& a, Unary op) {  // of "ij,jk->ik": the measured error and the elements' bounds
    const auto d = a.to(host);
    const Array<double> each(host, a.shape());
    const std::vector<TypedView> in{a.view(), a.view()};
    Description what;
    what.expression = parse("ij,jk->ik");
    what.operands = {operand_of(a.view()), operand_of(a.view())};
    what.output = operand_of(d.view(), op);
    const Plan plan(host, what);
    EXPECT_NO_THROW(plan.execute(in, d.view()));
    int refused = 0;
    try {
      (void)plan.measure(in, d.view());
    } catch (const NotImplemented&) {
      ++refused;
    }
    try {
      componentwise_bound(plan, in, {}, nullptr, each.view());
    } catch (const NotImplemented&) {
      ++refused;
    }
    return refused;
  };
  const auto real = Array<float>::from_host(host, {2, 2}, std::vector<float>{1, 4.1F, 1.9F, 3.3F});
  const auto complex = Array<std::complex<float>>::from_host(
      host, {2, 2}, std::vector<std::complex<float>>{{1, 4.1F}, {1.9F, 3.3F}, {0.7F, 5}, {2, 1}});
  for (const Unary op : {Unary::Exp, Unary::Sqrt, Unary::Rcp, Unary::Log}) {
    EXPECT_EQ(bounds_of(real, op), 2) << name(op);
    EXPECT_EQ(bounds_of(complex, op), 2) << name(op);
  }
  for (const Unary op : {Unary::Sin, Unary::Cos, Unary::Tanh, Unary::Atan, Unary::Asinh}) {
    EXPECT_EQ(bounds_of(real, op), 0) << name(op);
    EXPECT_EQ(bounds_of(complex, op), 2) << name(op);
  }
  for (const Unary op : {Unary::Identity, Unary::Conj, Unary::Neg, Unary::Abs}) EXPECT_EQ(bounds_of(complex, op), 0);
}

}  // namespace
}  // namespace trn::tensor::testing

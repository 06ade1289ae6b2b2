// What einsum promises beside its numbers: which elements are read and written, refusals, plans and their figures.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <trn/core/error.hpp>

#include "random_case.hpp"
#include "support/message_of.hpp"

namespace trn::tensor {
namespace {

const Executor host = Executor::host();
template <class F> std::string refusal(F call) { return testing_support::message_of<InvalidArgument>(call); }

Array<double> counted(const Shape& shape, double start = 1) {
  Array<double> a(host, shape);
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = start + static_cast<double>((i * 7) % 11);
  return a;
}

// Patterns that the Python suite got wrong.
TEST(Einsum, OutputOrderAndSumsArePartOfTheExpression) {
  const auto a = counted({3, 4}), b = counted({4, 5}, 2);
  const auto ik = einsum(host, "ij,jk->ik", {a.view(), b.view()}), ki = einsum(host, "ij,jk->ki", {a.view(), b.view()});
  const auto k = einsum(host, "ij,jk->k", {a.view(), b.view()}), all = einsum(host, "ij,jk->", {a.view(), b.view()});
  EXPECT_EQ(ki.shape(), (Shape{5, 3}));
  double total = 0;
  for (int j = 0; j < 5; ++j) {
    double column = 0;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(ki.data()[j * 3 + i], ik.data()[i * 5 + j]);
      column += ik.data()[i * 5 + j];
    }
    EXPECT_EQ(k.data()[j], column);
    total += column;
  }
  EXPECT_EQ(all.data()[0], total);
}
TEST(Einsum, BatchesInAnyPosition) {
  const auto a = counted({2, 4, 3}), b = counted({2, 4, 5}, 3);
  const auto bik = einsum(host, "bji,bjk->bik", {a.view(), b.view()});
  for (int n = 0; n < 2; ++n) {
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 5; ++k) {
        double sum = 0;
        for (int j = 0; j < 4; ++j) sum += a.data()[n * 12 + j * 3 + i] * b.data()[n * 20 + j * 5 + k];
        EXPECT_EQ(bik.data()[n * 15 + i * 5 + k], sum);
      }
    }
  }
  const auto at = einsum(host, "bji->ijb", {a.view()}), bt = einsum(host, "bjk->jkb", {b.view()});
  const auto ikb = einsum(host, "ijb,jkb->ikb", {at.view(), bt.view()});
  EXPECT_EQ(ikb.data()[(2 * 5 + 4) * 2 + 1], bik.data()[15 + 2 * 5 + 4]);
}

TEST(Einsum, NaNReachesTheElementsThatDependOnItAndNoOthers) {
  for (const char* text : {"abk,kc->abc", "abk,kc->cab", "kab,ck->bca"}) {
    const Expression e = parse(text);
    const Sizes sizes = {7, 9, 13, 5};  // by label in order of appearance; k is shared
    std::vector<Shape> shapes;
    for (const auto& in : e.inputs) {
      Shape s;
      for (const Label l : in) s.push_back(sizes[static_cast<std::size_t>(l)]);
      shapes.push_back(s);
    }
    Array<double> a = counted(shapes[0]), b = counted(shapes[1]);
    a.data()[0] = NAN;  // the first value of every label of A
    const auto d = einsum(host, text, {a.view(), b.view()});
    std::int64_t bad = 0, expected = 1;
    for (std::int64_t i = 0; i < d.size(); ++i) bad += std::isnan(d.data()[i]);
    for (const Label l : e.output) {
      const auto& in = e.inputs[0];
      if (std::find(in.begin(), in.end(), l) == in.end()) expected *= sizes[static_cast<std::size_t>(l)];
    }
    EXPECT_EQ(bad, expected) << text;
  }
}

TEST(Einsum, ZeroScalarsReadNothing) {
  Array<double> a = counted({3, 4}), b = counted({4, 5}), c = counted({3, 5}), d = counted({3, 5});
  for (std::int64_t i = 0; i < 12; ++i) a.data()[i] = NAN;
  einsum(host, "ij,jk->ik", 0, {a.view(), b.view()}, 2, c.view(), d.view());
  for (std::int64_t i = 0; i < 15; ++i) EXPECT_EQ(d.data()[i], 2 * c.data()[i]);
  for (std::int64_t i = 0; i < 15; ++i) c.data()[i] = NAN;
  Array<double> good = counted({3, 4});
  einsum(host, "ij,jk->ik", 1, {good.view(), b.view()}, 0, c.view(), d.view());
  for (std::int64_t i = 0; i < 15; ++i) EXPECT_FALSE(std::isnan(d.data()[i]));
}

TEST(Einsum, EmptySumsGiveBetaC) {
  const Array<double> a(host, {3, 0}), b(host, {0, 5});
  Array<double> c = counted({3, 5}), d = counted({3, 5}, 4);
  einsum(host, "ij,jk->ik", 1, {a.view(), b.view()}, 3, c.view(), d.view());
  for (std::int64_t i = 0; i < 15; ++i) EXPECT_EQ(d.data()[i], 3 * c.data()[i]);
  EXPECT_EQ(einsum(host, "ij,jk->ki", {a.view(), b.view()}).to_host(), std::vector<double>(15, 0));
  // Whatever alpha is: no -0, and no NaN from an infinite factor.
  for (const double alpha : {-2.0, -std::numeric_limits<double>::infinity()}) {
    for (const char* text : {"ij->", "ij->i", "ij,jk->ik"}) {
      std::vector<TypedView> operands = {a.view(), b.view()};
      if (text[2] == '-') operands.pop_back();
      const Shape shape = text[4] == '\0' ? Shape{} : text[2] == '-' ? Shape{3} : Shape{3, 5};
      const Array<double> x(host, shape);
      einsum(host, text, alpha, operands, 0, x.view(), x.view());
      for (const double value : x.to_host()) EXPECT_TRUE(value == 0 && !std::signbit(value)) << text << " " << alpha;
    }
  }
}

TEST(EinsumErrors, Overlap) {
  Array<double> m = counted({6, 6}), out = counted({3, 3});
  const View<double> a(host, m.data(), {3, 3}, {6, 1}), b(host, m.data() + 3, {3, 3}, {6, 1});
  EXPECT_NE(refusal([&] { einsum(host, "ij,jk->ik", {a, b}, a); }), "no error");
  EXPECT_EQ(refusal([&] { einsum(host, "ij,jk->ik", {a, a}, b); }), "no error");  // interleaved, yet apart
  const View<double> shifted(host, m.data() + 1, {3, 3}, {6, 1});
  EXPECT_NE(refusal([&] { einsum(host, "ij,jk->ik", 1, {out.view(), out.view()}, 1, a, shifted); }), "no error");
  EXPECT_EQ(refusal([&] { einsum(host, "ij,jk->ik", 1, {out.view(), out.view()}, 1, a, a); }), "no error");
  const View<double> repeated(host, m.data(), {3, 3}, {1, 1});
  EXPECT_NE(refusal([&] { einsum(host, "ij,jk->ik", {out.view(), out.view()}, repeated); }), "no error");
}
TEST(EinsumErrors, ShapesRanksTypesExecutors) {
  const auto a = counted({3, 4}), b = counted({4, 5});
  Array<double> d = counted({5, 3});
  EXPECT_EQ(refusal([&] {
              einsum(host, "ij,jk->ik", {a.view(), b.view()}, d.view());
            }),
            "tensor.einsum: D has shape (5, 3), the result has (3, 5)\n  ij, jk -> ik\n            ^^");
  EXPECT_EQ(refusal([&] {
              (void)einsum(host, "ij,ijk->k", {a.view(), b.view()});
            }),
            "tensor.einsum: operand 2 has rank 2 and 3 labels; give one label per axis, or '...'\n  ij,ijk->k\n     ^");
  EXPECT_EQ(refusal([&] {
              (void)einsum(host, "ij,kj->ik", {a.view(), b.view()});
            }),
            "tensor.einsum: label 'j' has extent 4 in operand 1 and 5 in operand 2; extents must agree or be 1\n"
            "  ij, kj -> ik\n   ^   ^");
  Array<float> f(host, {3, 5});
  Array<std::complex<double>> z(host, {3, 4});
  EXPECT_EQ(refusal([&] {
              einsum(host, "ij,jk->ik", {z.view(), b.view()}, f.view());
            }),
            "tensor.einsum: an operand is complex and D is float32; a complex result needs a complex D");
  const Array<std::int32_t> n(host, {3, 4});
  Array<double> good = counted({3, 5});
  EXPECT_IN("has type int32", testing_support::message_of<NotImplemented>([&] {
              einsum(host, "ij,jk->ik", {n.view(), b.view()}, good.view());
            }));
}
TEST(EinsumErrors, ProductsOfExtentsBeyond64Bits) {
  const double one = 1;
  const std::int64_t n = std::int64_t{1} << 22;
  const View<const double> v(host, &one, {n}, {0});
  double d = 0;
  const EinsumOptions options{.path = {.method = PathMethod::Given, .fixed = {{0, 1}, {6, 2}, {7, 3}, {8, 4}, {9, 5}}}};
  EXPECT_IN("64 bits", refusal([&] {
              einsum(host, "a,b,c,a,b,c->", {v, v, v, v, v, v}, View<double>(host, &d, {}), options);
            }));
}

TEST(Plan, ChecksItsViewsAndItsWorkspace) {
  const auto a = counted({8, 8}), b = counted({8, 8});
  Array<double> d = counted({8, 8});
  Description what{parse("ij,jk->ik"), {operand_of(a.view()), operand_of(b.view())}, operand_of(d.view())};
  const Plan plan(host, what);
  const TypedView wrong(host, DType::Float64, a.data(), {8, 8}, {1, 8});
  const std::vector<TypedView> bad = {wrong, b.view()}, good = {a.view(), b.view()};
  EXPECT_IN("strides (1, 8); the plan is for", refusal([&] { plan.execute(bad, d.view()); }));
  EXPECT_EQ(plan.steps().size(), 1u);
  EXPECT_EQ(plan.flops(), 2 * 8 * 8 * 8);
  EXPECT_EQ(plan.moved_bytes(), 3 * 64 * 8);
  EXPECT_IN("H - | M 8 | N 8 | K 8", plan.explain());
  what.output.strides = {1, 9};  // another layout needs the direct kernel's buffers
  what.operands[0].strides = {16, 2};
  Array<double> big = counted({8, 16}), out = counted({9, 9});
  const Plan strided(host, what);
  ASSERT_GT(strided.workspace_bytes(), 0);
  const std::vector<TypedView> views = {TypedView(host, DType::Float64, big.data(), {8, 8}, {16, 2}), b.view()};
  const TypedView to(host, DType::Float64, out.data(), {8, 8}, {1, 9});
  const Buffer small(host, strided.workspace_bytes() - 1), enough(host, strided.workspace_bytes());
  EXPECT_IN("the workspace has", refusal([&] { strided.execute(views, to, {}, nullptr, small); }));
  EXPECT_EQ(refusal([&] { strided.execute(views, to, {}, nullptr, enough); }), "no error");
}

TEST(Plan, ConstantsAreFoldedOnce) {
  const auto a = counted({3, 4}), b = counted({4, 5}), c = counted({5, 6});
  Array<double> d = counted({3, 6});
  Description what{
      parse("ij,jk,kl->il"), {operand_of(a.view()), operand_of(b.view()), operand_of(c.view())}, operand_of(d.view())};
  what.path = {.method = PathMethod::Given, .fixed = {{1, 2}, {0, 3}}};
  what.operands[1].constant = what.operands[2].constant = true;
  const std::vector<TypedView> constants = {b.view(), c.view()}, rest = {a.view()};
  const Plan plan(host, what, constants);
  const auto want = einsum(host, "ij,jk,kl->il", {a.view(), b.view(), c.view()}).to_host();
  for (std::int64_t i = 0; i < b.size(); ++i) b.data()[i] = NAN;  // no longer needed
  plan.execute(rest, d.view());
  EXPECT_EQ(d.to_host(), want);
  EXPECT_IN("operand 2 is constant; give its values", refusal([&] { (void)Plan(host, what); }));
}

TEST(Plan, SlicesKeepTheMemoryLimit) {
  const auto a = counted({12, 14}), b = counted({14, 16}), c = counted({16, 10}), e = counted({10, 12});
  const auto want = einsum(host, "ij,jk,kl,lm->im", {a.view(), b.view(), c.view(), e.view()}).to_host();
  Array<double> d = counted({12, 12});
  Description what{parse("ij,jk,kl,lm->im"), {}, operand_of(d.view())};
  const std::vector<TypedView> views = {a.view(), b.view(), c.view(), e.view()};
  for (const TypedView& v : views) what.operands.push_back(operand_of(v));
  const std::int64_t whole = Plan(host, what).intermediate_bytes();
  what.memory_bytes = whole / 2;
  const Plan plan(host, what);
  EXPECT_LE(plan.intermediate_bytes(), what.memory_bytes);
  EXPECT_TRUE(plan.slices().sliced());
  plan.execute(views, d.view());
  const double bound = plan.accuracy().bound;
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(d.data()[i], want[i], 4 * bound * want[i]);  // all positive
}

// A target looks at the operands: words that overflow and products that vanish are seen before anything is written.
TEST(Plan, TargetsLookAtTheRangeOfOperands) {
  for (const Executor& executor : {host, Executor::open("sim:trn2")}) {
    SCOPED_TRACE(executor.name());
    const auto filled = [&](float value, std::int64_t size = 8) {
      return Array<float>::from_host(executor, {size, size},
                                     std::vector<float>(static_cast<std::size_t>(size * size), value));
    };
    Array<float> d = filled(7), small = filled(1e-30F), large = filled(3.4e38F), thousandth = filled(1e-3F);
    const auto run = [&](Array<float>& a, Array<float>& b, double target) {
      return einsum(executor, "ij,jk->ik", {a.view(), b.view()}, d.view(), {.precision = Precision::target(target)});
    };
    // bfloat16 would round 3.4e38 to infinity; other modes do not.
    const Accuracy big = run(large, thousandth, 1e-2);
    EXPECT_LE(big.bound, 1e-2);
    const double exact = 8.0 * static_cast<double>(3.4e38F) * static_cast<double>(1e-3F);
    for (const float x : d.to_host()) EXPECT_NEAR(x, exact, big.bound * exact);
    d = filled(7);
    EXPECT_IN("scale the operands", refusal([&] { run(small, small, 1e-5); }));
    EXPECT_IN("scale the operands", refusal([&] { run(large, large, 1e-5); }));
    EXPECT_EQ(d.to_host(), filled(7).to_host());
    // Tiny numbers beside large ones: the result is in range.
    std::vector<float> values(64, 1.0F);
    for (std::size_t i = 0; i < 8; ++i) values[i * 8 + i] = 1e-30F;
    Array<float> mixed = Array<float>::from_host(executor, {8, 8}, values);
    EXPECT_LE(run(mixed, mixed, 1e-4).bound, 1e-4);
    for (const float x : d.to_host()) EXPECT_NEAR(x, 6.5F, 0.5F + 1e-3F);
    // A NaN reaches its row alone.
    values[0] = std::numeric_limits<float>::quiet_NaN();
    Array<float> some = Array<float>::from_host(executor, {8, 8}, values), ones = filled(1);
    EXPECT_EQ(run(some, ones, 1e-4).mode, Mode::Exact);
    EXPECT_TRUE(std::isnan(d.to_host()[0]));
    EXPECT_NEAR(d.to_host()[8], 7.0F, 1e-5F);
    // Products of three in pairs, and zeros, which lose nothing.
    Array<float> zero = filled(0);
    EXPECT_LE(run(zero, small, 1e-4).bound, 1e-4);
    EXPECT_IN("scale the operands", refusal([&] {
                einsum(executor, "ij,jk,kl->il", {small.view(), small.view(), large.view()}, d.view(),
                       {.precision = Precision::target(1e-3)});
              }));
  }
}

// Constants are read when the plan is made.
TEST(Plan, TargetsLookAtConstants) {
  for (const float value : {1.0F, 1e-30F}) {
    Array<float> a = Array<float>::from_host(host, {4, 4}, std::vector<float>(16, value)), d(host, {4, 4});
    Description what;
    what.expression = parse("ij,jk->ik");
    what.operands = {operand_of(a.view()), operand_of(a.view())};
    what.operands[0].constant = true;
    what.output = operand_of(d.view());
    what.precision = Precision::target(1e-4);
    const std::vector<TypedView> views = {a.view()};
    const Plan plan(host, what, views);
    if (value == 1.0F)
      EXPECT_LE(plan.execute(views, d.view()).accuracy.bound, 1e-4);
    else
      EXPECT_IN("scale the operands", refusal([&] { plan.execute(views, d.view()); }));
  }
}

TEST(Plan, TargetsAndModes) {
  Array<float> a(host, {6, 40}), b(host, {40, 5}), d(host, {6, 5});
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = std::sin(static_cast<float>(i));
  for (std::int64_t i = 0; i < b.size(); ++i) b.data()[i] = std::cos(static_cast<float>(i));
  const std::vector<TypedView> views = {a.view(), b.view()};
  const auto run = [&](Precision p) { return einsum(host, "ik,kj->ij", views, d.view(), {.precision = p}); };
  EXPECT_EQ(run(Precision::target(1e-4)).mode, Mode::Native);
  EXPECT_LE(run(Precision::target(1e-6)).bound, 1e-6);
  EXPECT_NE(run(Precision::target(1e-6)).mode, Mode::Native);
  EXPECT_IN("the best is", refusal([&] { run(Precision::target(1e-12)); }));
  EXPECT_EQ(run(Mode::Tf32).mode, Mode::Tf32);
  // Every mode within its bound of norms, also where operands are permuted into matrices.
  for (const Mode mode : {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6, Mode::Exact}) {
    Array<float> x(host, {4, 3, 5}), y(host, {5, 2, 3}), z(host, {2, 4});
    double nx = 0, ny = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) nx += std::pow(x.data()[i] = std::sin(1.3f * static_cast<float>(i)), 2);
    for (std::int64_t i = 0; i < y.size(); ++i) ny += std::pow(y.data()[i] = std::cos(0.7f * static_cast<float>(i)), 2);
    const double bound = einsum(host, "ajk,kbj->ba", {x.view(), y.view()}, z.view(), {.precision = mode}).bound;
    for (int p = 0; p < 2; ++p) {
      for (int q = 0; q < 4; ++q) {
        double sum = 0;
        for (int j = 0; j < 3; ++j) {
          for (int k = 0; k < 5; ++k)
            sum += static_cast<double>(x.data()[(q * 3 + j) * 5 + k]) * y.data()[(k * 2 + p) * 3 + j];
        }
        EXPECT_NEAR(z.data()[p * 4 + q], sum, bound * std::sqrt(nx * ny)) << name(mode);
      }
    }
  }
}

// A target costs no more than one mode for all steps that keeps it, and is kept.
TEST(Plan, TargetsTakeTheLeastEstimatedTime) {
  for (const Executor& executor : {host, Executor::open("sim:trn2")}) {
    Description d;
    d.expression = parse("ij,jk,kl,lm->im");
    const Shape shapes[] = {{2048, 512}, {512, 2048}, {2048, 8}, {8, 300}};
    for (const Shape& s : shapes) d.operands.push_back({s, row_major_strides(s), DType::Float32});
    d.output = {{2048, 300}, {300, 1}, DType::Float32};
    int mixed = 0;
    for (const double target : {3e-2, 1e-2, 3e-3, 1e-3, 2e-4, 1e-4, 3e-5, 1e-5}) {
      d.precision = Precision::target(target);
      const Plan plan(executor, d);
      EXPECT_LE(plan.accuracy().bound, target);
      for (const Mode mode : {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6, Mode::Exact}) {
        if (executor == host && (mode == Mode::Bf16 || mode == Mode::Tf32 || mode == Mode::Tf32x3)) continue;
        d.precision = mode;
        const Plan uniform(executor, d);
        if (uniform.accuracy().bound > target) continue;
        EXPECT_LE(plan.seconds(), uniform.seconds() * 1.000001) << name(mode);
      }
      std::vector<Mode> modes;
      for (const Step& s : plan.steps()) {
        if (s.labels.find(", ") != std::string::npos) modes.push_back(s.mode);
      }
      mixed +=
          std::count(modes.begin(), modes.end(), modes.front()) < static_cast<std::ptrdiff_t>(modes.size()) ? 1 : 0;
    }
    if (executor != host) {
      EXPECT_GE(mixed, 2);
    }
  }
}

TEST(Plan, ComponentwiseBoundsHold) {
  Array<float> a(host, {5, 30}), b(host, {30, 4});
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = std::sin(static_cast<float>(i));
  for (std::int64_t i = 0; i < b.size(); ++i) b.data()[i] = std::cos(3 * static_cast<float>(i));
  for (const Executor& executor : {host, Executor::open("sim:trn2")}) {
    const Array<double> bounds(host, {4, 5});
    Array<float> there_a = a.to(executor), there_b = b.to(executor), d(executor, {4, 5});
    einsum(executor, "ik,kj->ji", {there_a.view(), there_b.view()}, d.view(), {.componentwise = bounds.view()});
    const std::vector<float> got = d.to_host();
    for (int j = 0; j < 4; ++j) {
      for (int i = 0; i < 5; ++i) {
        long double sum = 0;
        for (int k = 0; k < 30; ++k) sum += static_cast<long double>(a.data()[i * 30 + k]) * b.data()[k * 4 + j];
        const double error = std::abs(static_cast<double>(got[static_cast<std::size_t>(j * 5 + i)] - sum));
        const double most = bounds.data()[j * 5 + i];
        EXPECT_LE(error, most);
        EXPECT_LT(most, 1e-4);
      }
    }
  }
}

TEST(PlanCache, KeysHaveStrides) {
  PlanCache cache(2);
  const auto a = counted({4, 4}), b = counted({4, 4});
  const View<double> turned(host, b.data(), {4, 4}, {1, 4});
  const EinsumOptions options{.cache = &cache};
  const auto first = einsum(host, "ij,jk->ik", {a.view(), b.view()}, options);
  (void)einsum(host, "ij,jk->ik", {a.view(), b.view()}, options);
  EXPECT_EQ(cache.hits(), 1u);
  const auto second = einsum(host, "ij,jk->ik", {a.view(), turned}, options);
  EXPECT_EQ(cache.misses(), 2u);
  EXPECT_NE(first.to_host(), second.to_host());
  (void)einsum(host, "ij,kj->ik", {a.view(), b.view()}, options);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(Gradient, IsTheDerivativeOfASum) {
  // f = sum(w * einsum(...)): linear in each operand, so a difference quotient is exact up to rounding.
  for (const char* text : {"ij,jk->ik", "ij,jk,kl->li", "iij,jk->k", "ij,kj->k", "ij,jk->ki"}) {
    const Expression e = parse(text);
    std::vector<Array<double>> in;
    std::vector<TypedView> views;
    for (const auto& labels : e.inputs) {
      Shape s;
      for (const Label l : labels) s.push_back(3 + l % 2);
      in.push_back(counted(s, 0.5));
      views.emplace_back(in.back().view());
    }
    const auto f = [&](const Array<double>& w) {
      const auto d = einsum_as<double>(host, text, views);
      double sum = 0;
      for (std::int64_t i = 0; i < d.size(); ++i) sum += d.data()[i] * w.data()[i];
      return sum;
    };
    const auto w = counted(einsum_shape(text, views), -3);
    for (std::size_t o = 0; o < in.size(); ++o) {
      Array<double> gradient = counted(in[o].shape());
      einsum_gradient(host, text, views, o, w.view(), gradient.view());
      for (std::int64_t i = 0; i < in[o].size(); ++i) {
        const double base = f(w);
        in[o].data()[i] += 1;
        EXPECT_NEAR(gradient.data()[i], f(w) - base, 1e-9 * (1 + std::abs(base))) << text << " " << o << " " << i;
        in[o].data()[i] -= 1;
      }
    }
  }
}

}  // namespace
}  // namespace trn::tensor

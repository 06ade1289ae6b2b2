// Several results with shared pairs, gradients as one plan, and the CCSD residual against loops over spin orbitals.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <trn/core/error.hpp>
#include <trn/tensor/ccsd.hpp>
#include <trn/tensor/einsum.hpp>

#include "support/message_of.hpp"

namespace trn::tensor {
namespace {

const Executor host = Executor::host();

Array<double> random_array(const Shape& shape, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Array<double> a(host, shape);
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = normal(random);
  return a;
}

TEST(MultiPlan, StatementsAddUpAndPairsAreShared) {
  std::mt19937_64 random(1);
  const Array<double> a = random_array({4, 5}, random), b = random_array({5, 6}, random),
                      c = random_array({6, 7}, random), e = random_array({6, 3}, random);
  MultiDescription d;
  d.inputs = {{"a", {4, 5}}, {"b", {5, 6}}, {"c", {6, 7}}, {"e", {6, 3}}};
  d.path.method = PathMethod::Greedy;
  d.statements = {{"x", {{2, "ij,jk,kl->il", {"a", "b", "c"}}}},
                  {"y", {{1, "pq,qr,rs->sp", {"a", "b", "e"}}, {-0.5, "ij,jk,kl->li", {"a", "b", "e"}}}},
                  {"z", {{1, "il,sj->ijls", {"x", "y"}}}}};
  d.outputs = {"x", "z"};
  const MultiPlan plan(host, d);
  EXPECT_GE(plan.shared(), 1) << plan.explain();
  EXPECT_EQ(plan.shape("z"), (Shape{4, 4, 7, 3}));
  Array<double> x(host, {4, 7}), z(host, {4, 4, 7, 3});
  plan.execute({{"a", a.view()}, {"b", b.view()}, {"c", c.view()}, {"e", e.view()}, {"x", x.view()}, {"z", z.view()}});
  const auto chain = [&](std::int64_t i, std::int64_t l, const Array<double>& last, long double& size) {
    long double sum = 0;
    size = 0;
    for (std::int64_t j = 0; j < 5; ++j) {
      for (std::int64_t k = 0; k < 6; ++k) {
        const long double t =
            static_cast<long double>(a.data()[i * 5 + j]) * b.data()[j * 6 + k] * last.data()[k * last.shape()[1] + l];
        sum += t, size += std::abs(t);
      }
    }
    return sum;
  };
  long double size = 0, other = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t l = 0; l < 7; ++l) {
      const long double want = 2 * chain(i, l, c, size);
      EXPECT_LE(std::abs(x.data()[i * 7 + l] - want), plan.bound("x") * 2 * size);
      for (std::int64_t j = 0; j < 4; ++j) {
        for (std::int64_t s = 0; s < 3; ++s) {
          const long double y = 0.5L * chain(j, s, e, other);
          // |y| of the statements on absolute values is 1.5 of the chain.
          EXPECT_LE(std::abs(z.data()[((i * 4 + j) * 7 + l) * 3 + s] - want * y),
                    plan.bound("z") * 2 * size * 1.5L * other);
        }
      }
    }
  }
}

TEST(MultiPlan, Refusals) {
  MultiDescription d;
  d.inputs = {{"a", {4, 5}}};
  d.statements = {{"x", {{1, "ij,jk->ik", {"a", "b"}}}}};
  const auto message = [&] { return testing_support::message_of<InvalidArgument>([&] { (void)MultiPlan(host, d); }); };
  EXPECT_IN("no tensor 'b'", message());
  d.statements = {{"a", {{1, "ij->ij", {"a"}}}}};
  EXPECT_IN("has a value already", message());
  d.statements = {{"x", {{1, "ij->ij", {"a"}}, {1, "ij->ji", {"a"}}}}};
  EXPECT_IN("the terms before it", message());
  d.statements = {{"x", {{1, "ij->ji", {"a"}}}}};
  d.outputs = {"y"};
  EXPECT_IN("no tensor 'y'", message());
  d.outputs = {"x"};
  const Array<double> a(host, {4, 5});
  EXPECT_IN("'x' is not given", testing_support::message_of<InvalidArgument>([&] {
              MultiPlan(host, d).execute({{"a", a.view()}});
            }));
  EXPECT_IN("use einsum_gradient", testing_support::message_of<InvalidArgument>([] {
              (void)gradients_of("iij,jk->ik", {{2, 2, 3}, {3, 4}});
            }));
}

// The function is linear in every operand: differences are gradients.
TEST(MultiPlan, GradientsAsOnePlan) {
  std::mt19937_64 random(2);
  const std::vector<Shape> shapes = {{3, 4}, {4, 5, 2}, {5, 2, 6}, {6, 3}};
  const char* text = "ij,jkl,klm,mn->in";
  std::vector<Array<double>> in;
  for (const Shape& s : shapes) in.push_back(random_array(s, random));
  Array<double> w = random_array({3, 3}, random);
  const MultiPlan plan(host, gradients_of(text, shapes));
  EXPECT_GE(plan.shared(), 1) << plan.explain();
  std::map<std::string, TypedView> views = {{"w", w.view()}};
  std::vector<Array<double>> out;
  for (const Shape& s : shapes) out.emplace_back(host, s);
  for (std::size_t i = 0; i < 4; ++i)
    views.emplace(std::to_string(i), in[i].view()), views.emplace(fmt::format("d{}", i), out[i].view());
  plan.execute(views);
  const auto f = [&] {
    const auto r = einsum(host, text, {in[0].view(), in[1].view(), in[2].view(), in[3].view()});
    double sum = 0;
    for (std::int64_t i = 0; i < r.size(); ++i) sum += r.data()[i] * w.data()[i];
    return sum;
  };
  for (std::size_t o = 0; o < 4; ++o) {
    for (std::int64_t i = 0; i < in[o].size(); ++i) {
      const double before = f();
      in[o].data()[i] += 1;
      EXPECT_NEAR(out[o].data()[i], f() - before, 1e-10 * (1 + std::abs(before))) << o << " " << i;
      in[o].data()[i] -= 1;
    }
  }
}

// Against einsum_gradient: extents of 1 that are repeated, labels of one operand alone, ellipses.
TEST(MultiPlan, GradientsOfRepeatedExtentsAndEllipses) {
  struct Case {
    const char* text;
    std::vector<Shape> shapes;
  };
  const std::vector<Case> cases = {{"ij,ij->ij", {{1, 3}, {2, 3}}},
                                   {"ij,jk->ik", {{3, 1}, {4, 5}}},
                                   {"ij,jk->ik", {{3, 4}, {1, 5}}},
                                   {"ij,ij,ij->ij", {{1, 3}, {1, 3}, {2, 3}}},
                                   {"ij,ij,jk->k", {{2, 1}, {1, 3}, {3, 4}}},
                                   {"ij,k->k", {{2, 3}, {4}}},
                                   {"ij->i", {{3, 1}}},
                                   {"ij,jk->ik", {{1, 1}, {1, 1}}},
                                   {"ij,ij->", {{0, 3}, {1, 3}}},
                                   {"...i,i->...", {{2, 3}, {3}}},
                                   {"...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}},
                                   {"\u03b1...,...\u03b1->...", {{2, 3}, {3, 2}}}};
  for (const Executor& executor : {host, Executor::open("sim:trn2")}) {
    std::mt19937_64 random(4);
    for (const Case& c : cases) {
      SCOPED_TRACE(fmt::format("{} {}", executor.name(), c.text));
      const MultiPlan plan(executor, gradients_of(c.text, c.shapes, DType::Float32));
      const auto make = [&](const Shape& shape) {
        const Array<double> wide = random_array(shape, random);
        std::vector<float> values(wide.data(), wide.data() + wide.size());
        return Array<float>::from_host(executor, shape, values);
      };
      std::vector<Array<float>> in, out;
      std::vector<TypedView> operands;
      for (const Shape& s : c.shapes) in.push_back(make(s)), operands.emplace_back(in.back().view());
      Array<float> w = make(einsum_shape(c.text, operands));
      std::map<std::string, TypedView> views = {{"w", w.view()}};
      for (std::size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(plan.shape(fmt::format("d{}", i)), c.shapes[i]);
        out.push_back(make(c.shapes[i]));
        views.emplace(std::to_string(i), operands[i]), views.emplace(fmt::format("d{}", i), out.back().view());
      }
      plan.execute(views);
      for (std::size_t i = 0; i < in.size(); ++i) {
        Array<float> want(executor, c.shapes[i]);
        einsum_gradient(executor, c.text, operands, i, w.view(), want.view());
        const std::vector<float> a = out[i].to_host(), b = want.to_host();
        for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 2e-4) << i << " " << k;
      }
    }
  }
}

// An output in the memory of an input or of another output: refused, with nothing written.
TEST(MultiPlan, OutputsShareNoMemory) {
  for (const Executor& executor : {host, Executor::open("sim:trn2")}) {
    MultiDescription d;
    d.dtype = DType::Float32;
    d.inputs = {{"a", {4, 4}}, {"b", {4, 4}}, {"c", {4, 4}}};
    d.statements = {{"x", {{1, "ij,jk->ik", {"a", "b"}}}}, {"y", {{1, "ij,jk->ik", {"b", "c"}}}}};
    d.outputs = {"x", "y"};
    const MultiPlan plan(executor, d);
    const std::vector<float> ones(40, 1.0F);
    Array<float> a = Array<float>::from_host(executor, {40}, ones), c = Array<float>::from_host(executor, {40}, ones),
                 x = Array<float>::from_host(executor, {40}, ones), y = Array<float>::from_host(executor, {40}, ones);
    const auto at = [&](Array<float>& from, std::int64_t offset) {
      return TypedView(executor, DType::Float32, from.data() + offset, {4, 4});
    };
    const auto message = [&](const TypedView& to_x, const TypedView& to_y) {
      return testing_support::message_of<InvalidArgument>([&] {
        plan.execute({{"a", at(a, 0)}, {"b", at(a, 0)}, {"c", at(c, 0)}, {"x", to_x}, {"y", to_y}});
      });
    };
    EXPECT_IN("output 'x' shares memory with input 'c'", message(at(c, 0), at(y, 0)));
    EXPECT_IN("output 'x' shares memory with input 'c'", message(at(c, 15), at(y, 0)));
    EXPECT_IN("output 'y' shares memory with input 'a'", message(at(x, 0), at(a, 3)));
    EXPECT_IN("output 'y' shares memory with output 'x'", message(at(x, 0), at(x, 0)));
    EXPECT_IN("output 'y' shares memory with output 'x'", message(at(x, 5), at(x, 0)));
    for (const Array<float>* untouched : {&a, &c, &x, &y}) EXPECT_EQ(untouched->to_host(), ones);
    // Side by side is good, and inputs may be one tensor.
    plan.execute({{"a", at(a, 0)}, {"b", at(a, 0)}, {"c", at(a, 0)}, {"x", at(x, 0)}, {"y", at(x, 16)}});
    EXPECT_EQ(x.to_host()[31], 4.0F);
  }
}

TEST(MultiPlan, OnADeviceEveryStepRunsThere) {
  std::mt19937_64 random(3);
  const Executor sim = Executor::open("sim:trn2");
  const std::vector<Shape> shapes = {{3, 4}, {4, 5, 2}, {5, 2, 6}};
  const MultiPlan there(sim, gradients_of("ij,jkl,klm->im", shapes, DType::Float32)),
      here(host, gradients_of("ij,jkl,klm->im", shapes));
  std::map<std::string, TypedView> on_host, on_sim;
  std::vector<Array<double>> wide;
  std::vector<Array<float>> narrow;
  const std::vector<std::pair<std::string, Shape>> names = {{"0", shapes[0]}, {"1", shapes[1]},  {"2", shapes[2]},
                                                            {"w", {3, 6}},    {"d0", shapes[0]}, {"d1", shapes[1]},
                                                            {"d2", shapes[2]}};
  for (const auto& [name, shape] : names) {
    wide.push_back(random_array(shape, random));
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i)
      wide.back().data()[i] = values[i] = static_cast<float>(wide.back().data()[i]);
    narrow.push_back(Array<float>::from_host(sim, shape, values));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    on_host.emplace(names[i].first, wide[i].view()), on_sim.emplace(names[i].first, narrow[i].view());
  const Recorder recorder(sim);
  here.execute(on_host);
  there.execute(on_sim);
  EXPECT_EQ(recorder.family_of("tensor.contract"), "device");
  EXPECT_EQ(recorder.count(EventKind::Run), 1);  // all steps are one program
  for (std::size_t i = 4; i < 7; ++i) {
    const std::vector<float> got = narrow[i].to_host();
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wide[i].data()[k], 2e-4);
  }
}

// Results that are added to, used again and asked for, in the modes that devices have.
TEST(MultiPlan, OnADeviceResultsAreUsedAgain) {
  std::mt19937_64 random(4);
  const Executor sim = Executor::open("sim:trn2");
  MultiDescription d;
  d.dtype = DType::Float32;
  d.inputs = {{"a", {4, 5}}, {"b", {5, 6}}, {"c", {6, 7}}, {"e", {6, 3}}};
  d.statements = {{"x", {{2, "ij,jk,kl->il", {"a", "b", "c"}}, {0.5, "ij,jk,kl->il", {"a", "b", "c"}}}},
                  {"y", {{1, "pq,qr,rs->sp", {"a", "b", "e"}}, {-0.5, "ij,jk,kl->li", {"a", "b", "e"}}}},
                  {"z", {{1, "il,sj->ijls", {"x", "y"}}, {-0.25, "il,sj->ijls", {"x", "y"}}}}};
  d.outputs = {"x", "z"};
  for (const Mode mode : {Mode::Native, Mode::Tf32x3, Mode::Exact}) {
    d.precision = mode;
    MultiDescription wide = d;
    wide.dtype = DType::Float64, wide.precision = {};
    const MultiPlan there(sim, d), here(host, wide);
    std::map<std::string, TypedView> on_host, on_sim;
    std::vector<Array<double>> doubles;
    std::vector<Array<float>> floats;
    doubles.reserve(6), floats.reserve(6);
    std::vector<NamedTensor> all = d.inputs;
    all.push_back({"x", {4, 7}}), all.push_back({"z", {4, 4, 7, 3}});
    for (const NamedTensor& t : all) {
      const Array<double>& values = doubles.emplace_back(random_array(t.shape, random));
      std::vector<float> narrow;
      for (std::int64_t i = 0; i < values.size(); ++i) {
        narrow.push_back(static_cast<float>(values.data()[i]));
        values.data()[i] = narrow.back();
      }
      floats.push_back(Array<float>::from_host(sim, t.shape, narrow));
      on_host.emplace(t.name, values.view()), on_sim.emplace(t.name, floats.back().view());
    }
    const Recorder recorder(sim);
    here.execute(on_host);
    there.execute(on_sim);
    if (mode != Mode::Exact) {
      EXPECT_EQ(recorder.count(EventKind::Run), 1);
    }
    for (std::size_t i = 4; i < 6; ++i) {
      const std::vector<float> got = floats[i].to_host();
      double top = 0;
      for (std::size_t k = 0; k < got.size(); ++k) top = std::max(top, std::abs(doubles[i].data()[k]));
      for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], doubles[i].data()[k], 2e-5 * top);
    }
  }
}

// Two electrons in two orbitals of model integrals: CCSD is the full configuration interaction, a 2 x 2 problem where
// the singlet excitation does not couple.
TEST(Ccsd, TwoElectronsInTwoOrbitalsAreExact) {
  const double j11 = 0.67, j22 = 0.70, j12 = 0.66, k12 = 0.18, e1 = -0.58, e2 = 0.67;
  Array<double> eri(host, {2, 2, 2, 2});
  std::fill(eri.data(), eri.data() + 16, 0.0);
  const auto at = [&](int p, int q, int r, int s) -> double& { return eri.data()[((p * 2 + q) * 2 + r) * 2 + s]; };
  at(0, 0, 0, 0) = j11, at(1, 1, 1, 1) = j22, at(0, 0, 1, 1) = at(1, 1, 0, 0) = j12;
  at(0, 1, 0, 1) = at(1, 0, 1, 0) = at(0, 1, 1, 0) = at(1, 0, 0, 1) = k12;
  const double gap = 2 * (e2 - e1) + j11 + j22 - 4 * j12 + 2 * k12;
  const double exact = gap / 2 - std::sqrt(gap * gap / 4 + k12 * k12);
  const Ccsd r = ccsd(host, View<const double>(eri.view()), std::vector<double>{e1, e2}, 1, {.amplitudes = 1e-12});
  ASSERT_TRUE(r.converged);
  EXPECT_NEAR(r.energy, exact, 1e-12);
  EXPECT_FALSE(ccsd(host, View<const double>(eri.view()), std::vector<double>{e1, e2}, 1, {.iterations = 2}).converged);
  EXPECT_IN("at least one of each kind", testing_support::message_of<InvalidArgument>([&] {
              (void)ccsd(host, View<const double>(eri.view()), std::vector<double>{e1, e2}, 2);
            }));
  const auto message = [&](const std::vector<double>& energies) {
    return testing_support::message_of<InvalidArgument>(
        [&] { (void)ccsd(host, View<const double>(eri.view()), energies, 1); });
  };
  EXPECT_IN("without a gap", message({e1, e1}));
  EXPECT_IN("not finite", message({e1, std::nan("")}));
  EXPECT_IN("not ascending", message({e2, e1}));
  EXPECT_IN("use the host executor", testing_support::message_of<NotImplemented>([&] {
              (void)ccsd(Executor::open("sim:trn2"), View<const double>(eri.view()), std::vector<double>{e1, e2}, 1);
            }));
}

}  // namespace
}  // namespace trn::tensor

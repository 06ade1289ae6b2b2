// The product kernel for groups of indices against long double, on every machine and in every mode, within gemm's
// bound.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <trn/blas/product_program.hpp>
#include <trn/neuron/sim.hpp>

namespace trn::blas {
namespace {

using neuron::Order;
using neuron::SimOptions;
using tile::blocks::BoxGroup;
using Wide = std::complex<long double>;

// Extents of h, m, n and k, and where each index lies in A, B and D: the order of their strides, outermost first.
struct Case {
  std::vector<std::int64_t> h, m, n, k;
  std::uint64_t layout = 1;  // a seed: strides in a random order, with gaps
  bool in_order = false;     // row-major in the order h, m, k (h, k, n; h, m, n)
};

struct Problem {
  ProductShape s;
  std::vector<std::complex<float>> a, b, c;  // elements at their offsets
  std::complex<float> alpha{1.5F, -0.5F}, beta{-0.75F, 0.25F};

  Problem(const Case& how, DType dtype, Mode mode, bool with_beta, bool conj) {
    s.in = s.out = dtype, s.mode = mode;
    std::mt19937_64 random(how.layout);
    const auto group = [](const std::vector<std::int64_t>& extents) {
      BoxGroup g;
      for (const std::int64_t e : extents) g.push_back({e, {}});
      return g;
    };
    s.h = group(how.h), s.m = group(how.m), s.n = group(how.n), s.k = group(how.k);
    const auto place = [&](std::initializer_list<BoxGroup*> groups, std::size_t operand) {
      std::vector<tile::blocks::BoxIndex*> list;
      for (BoxGroup* g : groups) {
        for (auto& i : *g) list.push_back(&i);
      }
      if (!how.in_order) std::shuffle(list.begin(), list.end(), random);
      std::int64_t step = 1;
      for (auto* i : list) {
        i->stride[operand] = step;
        step *= i->extent;
        if (!how.in_order && random() % 4 == 0) step += 3;
      }
      return step;
    };
    a.resize(static_cast<std::size_t>(place({&s.k, &s.m, &s.h}, 0)));
    b.resize(static_cast<std::size_t>(place({&s.n, &s.k, &s.h}, 1)));
    c.resize(static_cast<std::size_t>(place({&s.n, &s.m, &s.h}, 3)));
    for (BoxGroup* g : {&s.h, &s.m, &s.n}) {
      for (auto& i : *g) i.stride[2] = i.stride[3];
    }
    std::normal_distribution<float> normal;
    const bool complex = is_complex(dtype);
    for (auto* list : {&a, &b, &c}) {
      for (auto& x : *list) x = {normal(random), complex ? normal(random) : 0};
    }
    if (!complex) alpha = alpha.real(), beta = beta.real();
    if (!with_beta) beta = 0;
    s.alpha = complex ? Factor::ComplexInput : Factor::Input;
    s.beta = !with_beta ? Factor::Zero : s.alpha;
    s.conj_a = conj && complex;
  }

  [[nodiscard]] std::vector<float> numbers(const std::vector<std::complex<float>>& from) const {
    std::vector<float> to;
    for (const auto& x : from) {
      to.push_back(x.real());
      if (is_complex(s.in)) to.push_back(x.imag());
    }
    return to;
  }

  std::vector<float> run(const char* name, const SimOptions& options) const {
    const tile::Machine& machine = tile::machine(name);
    const std::vector<float> fa = numbers(a), fb = numbers(b);
    std::vector<float> fc = numbers(c);
    const std::vector<tile::Binding> bindings{{"a", fa.data()}, {"b", fb.data()},  {"c_in", fc.data()},
                                              {"c", fc.data()}, {"alpha", &alpha}, {"beta", &beta}};
    (void)neuron::simulate(product_program(s, machine), machine, bindings, options);
    return fc;
  }

  // Largest |D - exact| / (bound (|alpha| |A||B| + |beta C|)); what is not D's stays as it was.
  double worst(const char* name, const std::vector<float>& got) const {
    const double bound = product_error_bound(s.mode, s.in, false, product_depth(s.k, tile::machine(name)));
    std::vector<bool> written(c.size(), false);
    const auto each = [](const std::vector<const BoxGroup*>& groups, const auto& body) {
      std::vector<std::pair<std::int64_t, std::array<std::int64_t, 4>>> list;
      for (const BoxGroup* g : groups) {
        for (const auto& i : *g) list.emplace_back(i.extent, i.stride);
      }
      std::vector<std::int64_t> at(list.size(), 0);
      for (;;) {
        std::array<std::int64_t, 4> sum{};
        for (std::size_t i = 0; i < list.size(); ++i) {
          for (std::size_t o = 0; o < 4; ++o) sum[o] += at[i] * list[i].second[o];
        }
        body(sum);
        std::size_t i = 0;
        for (; i < list.size(); ++i) {
          if (++at[i] < list[i].first) break;
          at[i] = 0;
        }
        if (i == list.size()) return;
      }
    };
    const std::size_t parts = is_complex(s.in) ? 2 : 1;
    double result = 0;
    each({&s.h, &s.m, &s.n}, [&](const std::array<std::int64_t, 4>& o) {
      Wide sum = 0;
      long double absolute = 0;
      each({&s.k}, [&](const std::array<std::int64_t, 4>& k) {
        const Wide x(s.conj_a ? std::conj(a[static_cast<std::size_t>(o[0] + k[0])])
                              : a[static_cast<std::size_t>(o[0] + k[0])]),
            y(b[static_cast<std::size_t>(o[1] + k[1])]);
        sum += x * y;
        absolute += std::abs(x * y);
      });
      const auto at = static_cast<std::size_t>(o[3]);
      const Wide old(c[at]), exact = Wide(alpha) * sum + Wide(beta) * old;
      const long double scale = std::abs(Wide(alpha)) * absolute + std::abs(Wide(beta) * old);
      const Wide value(got[parts * at], parts == 2 ? got[parts * at + 1] : 0);
      result = std::max(result, static_cast<double>(std::abs(value - exact) / (bound * scale)));
      written[at] = true;
    });
    const std::vector<float> before = numbers(c);
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (written[i]) continue;
      for (std::size_t p = 0; p < parts; ++p) {
        if (std::memcmp(&got[parts * i + p], &before[parts * i + p], 4) != 0) return HUGE_VAL;
      }
    }
    return result;
  }
};

void expect_good(const Case& c, DType dtype, Mode mode, bool beta, const char* machine = "trn2") {
  const Problem p(c, dtype, mode, beta, beta);
  const double worst = p.worst(machine, p.run(machine, {.order = Order::in_order()}));
  EXPECT_LE(worst, 1) << name(dtype) << " " << name(mode) << " layout " << c.layout << " on " << machine;
  EXPECT_GT(worst, 0);
}

TEST(ProductGroups, AnyLayoutIsWithinGemmsBound) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    expect_good({{3}, {5, 7}, {4, 9}, {6, 5}, seed}, DType::Float32, Mode::Native, seed % 2 == 0);
    expect_good({{}, {13, 11}, {3, 2, 7}, {12, 13}, seed}, DType::Float32, Mode::Native, seed % 2 == 1);
    expect_good({{2, 3}, {6}, {}, {130}, seed}, DType::Float32, Mode::Native, true);
  }
}

TEST(ProductGroups, BlocksTilesAndBanksAcrossTheirEdges) {
  expect_good({{}, {12, 12}, {24, 25}, {17, 8}, 0, true}, DType::Float32, Mode::Native, false);
  expect_good({{}, {129}, {513}, {127}, 0, true}, DType::Float32, Mode::Native, true);
  expect_good({{}, {1100}, {3, 2}, {2, 65}, 3}, DType::Float32, Mode::Native, false);
  expect_good({{}, {3, 2}, {1100}, {2, 65}, 3}, DType::Float32, Mode::Native, false);
  expect_good({{2}, {3}, {4}, {96, 100}, 5}, DType::Float32, Mode::Native, true);
}

// A turned on its way in, with the first of several blocks of N; and nothing turned.
TEST(ProductGroups, PanelsThatComeWithTheFirstBlock) {
  expect_good({{}, {8, 33}, {4, 514}, {2, 65}, 0, true}, DType::Float32, Mode::Native, false);
  const Case c{{}, {2, 150}, {33, 64}, {3, 67}, 0, true};
  const Problem p(c, DType::Float32, Mode::Native, true, false);
  const auto in_order = p.run("trn2", {.order = Order::in_order()});
  EXPECT_EQ(p.run("trn2", {.order = Order::shuffled(1)}), in_order);
  EXPECT_EQ(p.run("trn2", {.order = Order::in_order(), .check_races = true}), in_order);
}

// Sums of few terms, side by side in parts of the array: one store for a row of pieces, with and without C.
TEST(ProductGroups, SumsOfFewTermsSideBySide) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    expect_good({{}, {9, 33}, {11, 131}, {4, 6}, seed}, DType::Float32, Mode::Native, seed % 2 == 0);
    expect_good({{2}, {130}, {5, 110}, {3, 19}, seed}, DType::Float32, Mode::Native, seed % 2 == 1);
  }
  const Case c{{}, {9, 33}, {11, 131}, {4, 6}, 0, true};
  const Problem p(c, DType::Float32, Mode::Native, true, false);
  const auto in_order = p.run("trn2", {.order = Order::in_order()});
  for (std::uint64_t seed = 1; seed <= 2; ++seed) EXPECT_EQ(p.run("trn2", {.order = Order::shuffled(seed)}), in_order);
}

TEST(ProductGroups, EveryModeAndComplexNumbers) {
  for (const Mode mode : {Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6}) {
    expect_good({{2}, {5, 7}, {4, 9}, {26, 25}, 2}, DType::Float32, mode, true);
    expect_good({{}, {6}, {9}, {1100}, 4}, DType::Float32, mode, false);
    expect_good({{}, {3, 3}, {9}, {11, 13}, 6}, DType::Complex64, mode, true);
  }
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    expect_good({{2}, {5, 7}, {4, 9}, {6, 5}, seed}, DType::Complex64, Mode::Native, seed % 2 == 0);
}

TEST(ProductGroups, OtherMachinesAndOrders) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    const Case c{{2}, {9, 17}, {4, 33}, {12, 13}, 9};
    expect_good(c, DType::Float32, Mode::Native, true, machine);
    const Problem p(c, DType::Float32, Mode::Native, true, false);
    const auto in_order = p.run(machine, {.order = Order::in_order()});
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      EXPECT_EQ(p.run(machine, {.order = Order::shuffled(seed)}), in_order);
    EXPECT_EQ(p.run(machine, {.order = Order::in_order(), .check_races = true}), in_order);
  }
}

// A long group against a short one: any number of indices, none of D's order in the long operand; one, two and four
// parts of the array; rests of every index.
TEST(ProductGroups, SkinnyProductsInAnyLayout) {
  const tile::Machine& trn2 = tile::machine("trn2");
  int skinny = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const Case& c : {Case{{}, {5}, {17, 9, 11}, {7, 9}, seed}, Case{{2}, {13, 3, 37}, {3, 2}, {10, 14}, seed},
                          Case{{}, {1031}, {6}, {5, 4}, seed}}) {
      skinny += product_is_skinny(Problem(c, DType::Float32, Mode::Native, false, false).s, trn2);
      expect_good(c, DType::Float32, Mode::Native, seed % 2 == 0);
    }
  }
  EXPECT_GE(skinny, 4) << "of 18";
}

TEST(ProductGroups, SkinnyProductsOnOtherMachinesAndInOtherOrders) {
  const Case c{{}, {5}, {17, 9, 11}, {7, 9}, 3};
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    const Problem p(c, DType::Float32, Mode::Native, true, false);
    EXPECT_TRUE(product_is_skinny(p.s, tile::machine(machine)));
    expect_good(c, DType::Float32, Mode::Native, true, machine);
    const auto in_order = p.run(machine, {.order = Order::in_order()});
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      EXPECT_EQ(p.run(machine, {.order = Order::shuffled(seed)}), in_order);
    EXPECT_EQ(p.run(machine, {.order = Order::in_order(), .check_races = true}), in_order);
  }
}

}  // namespace
}  // namespace trn::blas

// gemm in Exact with k divided among layers of ranks: the bits and the accuracy of the local operation for every number
// of layers, ranks, grid and distribution of the operands.
#include <atomic>
#include <cmath>
#include <limits>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_grid.hpp>
#include <trn/blas/gemm.hpp>

#include "support/dist_matrices.hpp"
#include "support/full_memory.hpp"

namespace trn::blas {
namespace {

using namespace dist_test;

// What operands hold: numbers of one size; rows whose large numbers meet the small ones of columns, so that elements
// are computed again from whole rows; infinities and NaN here and there.
enum class Values : std::uint8_t { Plain, Misaligned, Special };

template <class T> T element(Values values, int seed, std::int64_t i, std::int64_t j, bool left) {
  T x = number<T>(seed, i, j);
  using R = Real<T>;
  const std::int64_t line = left ? i : j, p = left ? j : i;
  constexpr int far = std::same_as<R, double> ? 70 : 40;
  if (values == Values::Misaligned && line % 3 == 0)
    x *= static_cast<R>(std::ldexp(1.0, (p % 2 == 0) == left ? far : 0));
  if (values == Values::Special) {
    if (line == 5 && p == 11) return T(std::numeric_limits<R>::infinity());
    if (line == 9 && p == 2 && left) return T(std::numeric_limits<R>::quiet_NaN());
    if (line == 12 && p % 4 == 1) return T(0);
  }
  return x;
}

struct Case {
  std::int64_t m, n, k;
  Op op_a, op_b;
  double alpha, beta;
  Values values;
};
struct Layout {
  int ranks, layers;
  dist::Grid c, a, b;
};

// The whole result by one call on the executor, row-major.
template <class T> std::vector<T> in_one_call(const std::string& executor, const Case& x, Accuracy& accuracy) {
  const Executor host = Executor::host(), e = executor == "host" ? host : Executor::open(executor);
  const auto filled = [&](std::int64_t rows, std::int64_t columns, const auto& value) {
    std::vector<T> v;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) v.push_back(value(i, j));
    }
    return trn::Matrix<T>::from_host(e, rows, columns, v);
  };
  const bool an = x.op_a == Op::N, bn = x.op_b == Op::N;
  const auto a = filled(an ? x.m : x.k, an ? x.k : x.m,
                        [&](std::int64_t i, std::int64_t j) {
                          return an ? element<T>(x.values, 1, i, j, true) : element<T>(x.values, 1, j, i, true);
                        }),
             b = filled(bn ? x.k : x.n, bn ? x.n : x.k,
                        [&](std::int64_t i, std::int64_t j) {
                          return bn ? element<T>(x.values, 2, i, j, false) : element<T>(x.values, 2, j, i, false);
                        }),
             c = filled(x.m, x.n, [&](std::int64_t i, std::int64_t j) { return number<T>(3, i, j); });
  accuracy = gemm(e, x.op_a, x.op_b, T(static_cast<Real<T>>(x.alpha)), a.view(), b.view(),
                  T(static_cast<Real<T>>(x.beta)), c.view(), {.precision = Mode::Exact});
  return c.to_host();
}

// The number of comparisons.
template <class T> int compare(const std::string& executor, const Case& x, std::initializer_list<Layout> layouts) {
  Accuracy local;
  const std::vector<T> whole = in_one_call<T>(executor, x, local);
  int cases = 0;
  for (const Layout& layout : layouts) {
    comm::run(
        group_of(executor, layout.ranks),
        [&](const comm::Communicator& group, const Executor& e) {
          const bool an = x.op_a == Op::N, bn = x.op_b == Op::N;
          const dist::Matrix<T> a(group, e, {an ? x.m : x.k, an ? x.k : x.m, 6, 9, layout.a}),
              b(group, e, {bn ? x.k : x.n, bn ? x.n : x.k, 8, 8, layout.b}), c(group, e, {x.m, x.n, 8, 5, layout.c});
          a.fill([&](std::int64_t i, std::int64_t j) {
            return an ? element<T>(x.values, 1, i, j, true) : element<T>(x.values, 1, j, i, true);
          });
          b.fill([&](std::int64_t i, std::int64_t j) {
            return bn ? element<T>(x.values, 2, i, j, false) : element<T>(x.values, 2, j, i, false);
          });
          c.fill([](std::int64_t i, std::int64_t j) { return number<T>(3, i, j); });
          const Accuracy accuracy =
              gemm<T>(x.op_a, x.op_b, T(static_cast<Real<T>>(x.alpha)), a, b, T(static_cast<Real<T>>(x.beta)), c,
                      {.precision = Mode::Exact}, Layers{layout.layers});
          EXPECT_EQ(accuracy.bound, local.bound);
          EXPECT_EQ(accuracy.passes, local.passes);
          EXPECT_EQ(differing(c.to_host(), whole), 0)
              << executor << " " << layout.ranks << " ranks, " << layout.layers << " layers of " << layout.c.rows
              << " x " << layout.c.columns << ", m n k " << x.m << " " << x.n << " " << x.k;
        },
        kLimits);
    ++cases;
  }
  return cases;
}

constexpr std::initializer_list<Layout> kLayouts = {{2, 2, {1, 1}, {2, 1}, {1, 2}},  {3, 3, {1, 1}, {1, 3}, {1, 1}},
                                                    {4, 2, {2, 1}, {2, 2}, {2, 2}},  {6, 3, {1, 2}, {2, 3}, {6, 1}},
                                                    {7, 2, {3, 1}, {1, 7}, {2, 3}},  {12, 2, {2, 3}, {3, 4}, {12, 1}},
                                                    {12, 3, {2, 2}, {2, 2}, {4, 3}}, {4, 4, {1, 1}, {2, 2}, {4, 1}}};

constexpr Case kCases[] = {
    {61, 47, 83, Op::N, Op::N, 1, 0, Values::Plain},        {40, 33, 70, Op::T, Op::N, -0.75, 1, Values::Misaligned},
    {29, 37, 50, Op::N, Op::C, 1.25, 0.5, Values::Special}, {33, 65, 41, Op::C, Op::T, 1, 0, Values::Misaligned},
    {300, 20, 3, Op::N, Op::N, 1, -1, Values::Plain},       {7, 5, 1, Op::N, Op::T, 1, 0, Values::Plain},
    {5, 9, 30, Op::N, Op::N, 1, 0.5, Values::Plain}};  // some ranks of C's grid have no rows of it

TEST(DistLayers, HaveTheBitsOfOneCall) {
  int cases = 0;
  for (const Case& x : kCases) {
    cases += compare<double>("host", x, kLayouts);
    cases += compare<std::complex<double>>("host", x, kLayouts);
    cases += compare<float>("host", x, {{4, 2, {2, 1}, {2, 2}, {2, 2}}, {12, 3, {2, 2}, {2, 2}, {4, 3}}});
  }
  std::printf("%d products in layers compared bit by bit with one call\n", cases);
}

// That the cases above compute elements again, and so ask other ranks for whole rows: without it the integers would
// hold nothing of them.
TEST(DistLayers, CasesReachElementsThatAreComputedAgain) {
  const Case x{40, 33, 70, Op::N, Op::N, 1, 0, Values::Misaligned};
  Accuracy accuracy;
  const std::vector<double> c = in_one_call<double>("host", x, accuracy);
  int small = 0;
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      long double sum = 0, norm = 0, other = 0, terms = 0;
      for (std::int64_t p = 0; p < x.k; ++p) {
        const long double a = element<double>(x.values, 1, i, p, true), b = element<double>(x.values, 2, p, j, false);
        sum += a * b, terms += std::abs(a * b), norm += a * a, other += b * b;
      }
      // Below what 62 bits of a row resolve, and right all the same.
      if (terms < 0x1p-60L * std::sqrt(norm * other)) ++small;
      EXPECT_LE(std::abs(c[static_cast<std::size_t>(i * x.n + j)] - sum), 70 * 0x1p-53L * terms);
    }
  }
  EXPECT_GT(small, 50);
}

TEST(DistLayers, HaveTheBitsOfOneCallOnDevices) {
  const Case x{40, 33, 70, Op::T, Op::N, -0.75, 1, Values::Misaligned};
  int cases = compare<double>("sim:trn2", x, {{4, 2, {2, 1}, {2, 2}, {2, 2}}, {3, 3, {1, 1}, {1, 3}, {1, 1}}});
  cases += compare<std::complex<float>>("sim:trn2", x, {{5, 2, {1, 2}, {2, 2}, {1, 5}}});
  std::printf("%d products in layers compared bit by bit with one call\n", cases);
}

TEST(DistLayers, WhatIsRefused) {
  comm::run(
      group_of("host", 4),
      [](const comm::Communicator& group, const Executor& e) {
        const dist::Matrix<double> a(group, e, {8, 8, 2, 2, {2, 2}}), c(group, e, {8, 8, 2, 2, {2, 1}});
        a.fill([](std::int64_t i, std::int64_t j) { return number<double>(1, i, j); });
        c.fill([](std::int64_t i, std::int64_t j) { return number<double>(3, i, j); });
        const std::vector<double> before = c.to_host();
        const auto product = [&](Mode mode, int layers) {
          gemm<double>(Op::N, Op::N, 1, a, a, 0, c, {.precision = mode}, Layers{layers});
        };
        EXPECT_THROW(product(Mode::Exact, 0), InvalidArgument);
        EXPECT_THROW(product(Mode::Exact, 3), InvalidArgument);   // six ranks
        EXPECT_THROW(product(Mode::Native, 2), InvalidArgument);  // sums whose order would depend on it
        EXPECT_THROW(product(Mode::Exact, group.rank() == 2 ? 1 : 2), InvalidArgument);
        EXPECT_TRUE(same_bits(c.to_host(), before));
        product(Mode::Exact, 2);
        EXPECT_FALSE(same_bits(c.to_host(), before));
        product(Mode::Native, 1);
      },
      kLimits);
}

// Layers where k is long beside C; none where ranks have enough to do without.
TEST(DistLayers, GridsThatDivideK) {
  const ProductShape deep{.m = 100, .n = 100, .k = 1000000}, square{.m = 8192, .n = 8192, .k = 8192};
  EXPECT_EQ(layered_product_grid(deep, 64), (LayeredGrid{{1, 1}, 64}));
  EXPECT_EQ(layered_product_grid(square, 4), (LayeredGrid{{2, 2}, 1}));
  EXPECT_EQ(layered_product_grid(square, 1), (LayeredGrid{{1, 1}, 1}));
  // What comes in, counted by hand: 64 layers of one rank need no panels, a 64th of both operands twice, and of 10000
  // elements 63 in 64 three words.
  EXPECT_DOUBLE_EQ(product_volume(deep, LayeredGrid{{1, 1}, 64}), 2 * 200e6 / 64 + 3 * 10000 * 63 / 64.0);
  EXPECT_DOUBLE_EQ(product_volume(square, LayeredGrid{{2, 2}, 1}), product_volume(square, dist::Grid{2, 2}));
  EXPECT_EQ(layered_product_grid({.m = 100, .n = 100, .k = 100, .memory = 2000}, 1), std::nullopt);
  EXPECT_THROW((void)layered_product_grid(deep, 0), InvalidArgument);
}

// The memory of one rank, in the first layer or in the second, does not suffice.
TEST(DistLayers, ADeviceWithoutMemoryIsEverybodysError) {
  std::atomic<int> thrown = 0;
  for (const int poor : {0, 3}) {
    comm::run(
        group_of("sim:trn2", 4),
        [&](const comm::Communicator& group, const Executor& e) {
          const dist::Matrix<double> a(group, e, {24, 24, 4, 4, {2, 2}}), c(group, e, {24, 24, 4, 4, {2, 1}});
          a.fill([](std::int64_t i, std::int64_t j) { return number<double>(1, i, j); });
          c.fill([](std::int64_t i, std::int64_t j) { return number<double>(3, i, j); });
          const std::vector<double> before = c.to_host();
          std::vector<Buffer> filled;
          if (group.rank() == poor) filled = fill_memory(e, 64);
          try {
            gemm<double>(Op::N, Op::T, 1, a, a, 0.5, c, {.precision = Mode::Exact}, Layers{2});
          } catch (const DeviceError& error) {
            ++thrown;
            EXPECT_EQ(error.check(), "over-capacity");
          }
          filled.clear();
          EXPECT_TRUE(same_bits(c.to_host(), before));
          gemm<double>(Op::N, Op::T, 1, a, a, 0.5, c, {.precision = Mode::Exact}, Layers{2});
          EXPECT_FALSE(same_bits(c.to_host(), before));
        },
        kLimits);
  }
  EXPECT_EQ(thrown, 8);
}

}  // namespace
}  // namespace trn::blas

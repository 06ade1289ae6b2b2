// Integral transformations against their sums in long double.
#include <trn/tensor/chemistry.hpp>

#include <limits>

#include <trn/core/error.hpp>

#include "decompose_support.hpp"

namespace trn::tensor::testing {
namespace {

const Executor kHost = Executor::host();

// Every element and the sum of absolute values that its error is measured by.
template <class T> void expect_transformed(const std::vector<T>& ao, std::int64_t n,
                                           const std::array<std::vector<T>, 4>& c, const Array<T>& mo) {
  auto value = widened(ao);
  auto size = value;
  for (auto& v : size) v = std::abs(v);
  std::int64_t left = 1, right = n * n * n;
  for (const auto& orbitals : c) {
    const std::int64_t columns = static_cast<std::int64_t>(orbitals.size()) / n;
    std::vector<long double> turned(orbitals.size()), magnitude(orbitals.size());
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t p = 0; p < columns; ++p) {
        turned[static_cast<std::size_t>(p * n + i)] = orbitals[static_cast<std::size_t>(i * columns + p)];
        magnitude[static_cast<std::size_t>(p * n + i)] = std::abs(turned[static_cast<std::size_t>(p * n + i)]);
      }
    }
    value = times_mode(value, left, n, right, turned, columns);
    size = times_mode(size, left, n, right, magnitude, columns);
    left *= columns, right /= n;
  }
  const auto got = mo.to_host();
  ASSERT_EQ(got.size(), value.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_LE(std::abs(got[i] - value[i]), 4 * (static_cast<long double>(n) + 3) * kUnit<T> * size[i]);
  }
}

template <class T> std::vector<T> integrals(std::int64_t n, bool symmetric, TestRandom& random) {
  auto ao = numbers<T>(n * n * n * n, random);
  if (!symmetric) return ao;
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) -> T& {
    return ao[static_cast<std::size_t>(((i * n + j) * n + k) * n + l)];
  };
  for (std::int64_t i = 0; i < n * n; ++i) {
    for (std::int64_t j = 0; j < n * n; ++j) {
      at(i % n, i / n, j / n, j % n) = at(i / n, i % n, j / n, j % n);
    }
  }
  for (std::int64_t i = 0; i < n * n; ++i) {
    for (std::int64_t j = 0; j < n * n; ++j) at(i / n, i % n, j % n, j / n) = at(i / n, i % n, j / n, j % n);
  }
  return ao;
}

template <class T> void four_index() {
  TestRandom random(1);
  const std::int64_t n = 6;
  for (const bool symmetric : {false, true}) {
    const auto ao = integrals<T>(n, symmetric, random);
    const View<const T> view(kHost, ao.data(), {n, n, n, n});
    std::array<std::vector<T>, 4> c;
    const std::int64_t columns[] = {2, 3, 1, 4};
    for (std::size_t k = 0; k < 4; ++k) c[k] = numbers<T>(n * columns[k], random);
    const auto m = [&](std::size_t k, std::int64_t p) {
      return MatrixView<const T>::row_major(kHost, c[k].data(), n, p);
    };
    // All in one block, one p at a time, and the same orbitals for the first pair.
    for (const std::int64_t live : {std::int64_t{0}, n * 36 * 2 + 3 * (36 + 36 + n * 4)}) {
      expect_transformed<T>(ao, n, c,
                            ao_to_mo<T>(kHost, view, {m(0, 2), m(1, 3), m(2, 1), m(3, 4)},
                                        {.symmetric = symmetric, .live_elements = live}));
      const std::array<std::vector<T>, 4> pair{c[1], c[1], c[2], c[3]};
      expect_transformed<T>(ao, n, pair,
                            ao_to_mo<T>(kHost, view, {m(1, 3), m(1, 3), m(2, 1), m(3, 4)},
                                        {.symmetric = symmetric, .live_elements = live}));
    }
  }
}

TEST(Chemistry, FourIndexTransformation) {
  four_index<float>();
  four_index<double>();
}

// With `symmetric` nothing above the diagonal of the second pair is read.
TEST(Chemistry, OnlyOneTriangleIsRead) {
  TestRandom random(4);
  const std::int64_t n = 4;
  auto ao = integrals<double>(n, true, random);
  const auto c = numbers<double>(n * 3, random);
  const MatrixView<const double> m = MatrixView<const double>::row_major(kHost, c.data(), n, 3);
  const auto before =
      ao_to_mo<double>(kHost, View<const double>(kHost, ao.data(), {n, n, n, n}), {m, m, m, m}, {.symmetric = true})
          .to_host();
  for (std::size_t i = 0; i < ao.size(); ++i) {
    if (i % 4 > i / 4 % 4) ao[i] = std::numeric_limits<double>::quiet_NaN();
  }
  EXPECT_EQ(
      ao_to_mo<double>(kHost, View<const double>(kHost, ao.data(), {n, n, n, n}), {m, m, m, m}, {.symmetric = true})
          .to_host(),
      before);
}

TEST(Chemistry, FittedIntegrals) {
  TestRandom random(2);
  const std::int64_t aux = 5, n = 4;
  const auto b = numbers<double>(aux * n * n, random), c1 = numbers<double>(n * 2, random),
             c2 = numbers<double>(n * 3, random);
  const View<const double> view(kHost, b.data(), {aux, n, n});
  const auto m1 = MatrixView<const double>::row_major(kHost, c1.data(), n, 2),
             m2 = MatrixView<const double>::row_major(kHost, c2.data(), n, 3);
  const auto half = df_half<double>(kHost, view, m1).to_host(), whole = df_to_mo<double>(kHost, view, m1, m2).to_host(),
             other = df_to_mo<double>(kHost, view, m2, m1).to_host();
  for (std::int64_t p = 0; p < aux; ++p) {
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t a = 0; a < 3; ++a) {
        long double ia = 0, ai = 0;
        for (std::int64_t mu = 0; mu < n; ++mu) {
          for (std::int64_t nu = 0; nu < n; ++nu) {
            const long double x = b[static_cast<std::size_t>((p * n + mu) * n + nu)];
            ia += x * c1[static_cast<std::size_t>(mu * 2 + i)] * c2[static_cast<std::size_t>(nu * 3 + a)];
            ai += x * c2[static_cast<std::size_t>(mu * 3 + a)] * c1[static_cast<std::size_t>(nu * 2 + i)];
          }
        }
        EXPECT_NEAR(whole[static_cast<std::size_t>((p * 2 + i) * 3 + a)], ia, 14 * 0x1p-53 * 16);
        EXPECT_NEAR(other[static_cast<std::size_t>((p * 3 + a) * 2 + i)], ai, 14 * 0x1p-53 * 16);
      }
      for (std::int64_t nu = 0; nu < n; ++nu) {
        long double sum = 0;
        for (std::int64_t mu = 0; mu < n; ++mu) {
          sum += static_cast<long double>(b[static_cast<std::size_t>((p * n + mu) * n + nu)]) *
                 c1[static_cast<std::size_t>(mu * 2 + i)];
        }
        EXPECT_NEAR(half[static_cast<std::size_t>((p * 2 + i) * n + nu)], sum, 7 * 0x1p-53 * 4);
      }
    }
  }
}

TEST(Chemistry, BadInput) {
  const std::vector<double> x(81, 1.0);
  const auto view = [&](Shape s) { return View<const double>(kHost, x.data(), std::move(s)); };
  const auto m = MatrixView<const double>::row_major(kHost, x.data(), 3, 2),
             wrong = MatrixView<const double>::row_major(kHost, x.data(), 2, 2),
             none = MatrixView<const double>::row_major(kHost, x.data(), 3, 0);
  EXPECT_THROW((void)ao_to_mo<double>(kHost, view({3, 3, 3}), {m, m, m, m}), InvalidArgument);
  EXPECT_THROW((void)ao_to_mo<double>(kHost, view({3, 3, 3, 3}), {m, wrong, m, m}), InvalidArgument);
  EXPECT_THROW((void)ao_to_mo<double>(kHost, view({3, 3, 3, 3}), {m, m, m, m}, {.live_elements = 10}), InvalidArgument);
  EXPECT_THROW((void)ao_to_mo<double>(kHost, view({3, 3, 3, 3}), {m, m, m, m}, {.live_elements = -1}), InvalidArgument);
  EXPECT_EQ(ao_to_mo<double>(kHost, view({3, 3, 3, 3}), {m, none, m, m}).size(), 0);
  EXPECT_THROW((void)df_half<double>(kHost, view({3, 3}), m), InvalidArgument);
  EXPECT_THROW((void)df_to_mo<double>(kHost, view({2, 3, 3}), m, wrong), InvalidArgument);
  EXPECT_THROW((void)df_to_mo<double>(Executor::open("sim:trn2"), view({2, 3, 3}), m, m), NotImplemented);
}

}  // namespace
}  // namespace trn::tensor::testing

// ordered_gemm: an element has the same bits in whichever call it is computed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/blas/ordered_gemm.hpp>

namespace trn::blas {
namespace {

template <class T> std::vector<T> numbers(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& v : x) {
    if constexpr (ComplexScalar<T>)
      v = T(static_cast<Real<T>>(normal(generator)), static_cast<Real<T>>(normal(generator)));
    else
      v = static_cast<T>(normal(generator));
  }
  return x;
}

template <class T> void check(std::int64_t m, std::int64_t n, std::int64_t k, Op op_a, Op op_b, bool row_major_c) {
  using W = std::conditional_t<ComplexScalar<T>, std::complex<long double>, long double>;
  const Executor host = Executor::host();
  std::vector<T> a = numbers<T>(m * k, 1), b = numbers<T>(k * n, 2), c = numbers<T>(m * n, 3), whole = c, parts = c;
  const auto av = op_a == Op::N ? MatrixView<const T>::column_major(host, a.data(), m, k)
                                : MatrixView<const T>::column_major(host, a.data(), k, m);
  const auto bv = op_b == Op::N ? MatrixView<const T>::column_major(host, b.data(), k, n)
                                : MatrixView<const T>::column_major(host, b.data(), n, k);
  const auto view = [&](std::vector<T>& x) {
    return row_major_c ? MatrixView<T>::row_major(host, x.data(), m, n)
                       : MatrixView<T>::column_major(host, x.data(), m, n);
  };
  const T alpha = T(static_cast<Real<T>>(-0.7)), beta = T(static_cast<Real<T>>(0.3));
  const Accuracy accuracy = ordered_gemm<T>(host, op_a, op_b, alpha, av, bv, beta, view(whole));
  // The same in uneven pieces.
  const std::int64_t rows[] = {0, 1, m / 3, m / 2 + 1, m}, columns[] = {0, n / 5, n / 2, n};
  for (int r = 0; r + 1 < 5; ++r) {
    for (int s = 0; s + 1 < 4; ++s) {
      const std::int64_t i = rows[r], j = columns[s], mm = rows[r + 1] - i, nn = columns[s + 1] - j;
      if (mm <= 0 || nn <= 0) continue;
      ordered_gemm<T>(host, op_a, op_b, alpha, op_a == Op::N ? av.block(i, 0, mm, k) : av.block(0, i, k, mm),
                      op_b == Op::N ? bv.block(0, j, k, nn) : bv.block(j, 0, nn, k), beta,
                      view(parts).block(i, j, mm, nn));
    }
  }
  EXPECT_EQ(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(T)), 0) << m << " " << n << " " << k;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      W sum = 0;
      long double size = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        W x = W(a[static_cast<std::size_t>(op_a == Op::N ? i + p * m : p + i * k)]),
          y = W(b[static_cast<std::size_t>(op_b == Op::N ? p + j * k : j + p * n)]);
        if constexpr (ComplexScalar<T>) {
          if (op_a == Op::C) x = std::conj(x);
          if (op_b == Op::C) y = std::conj(y);
        }
        sum += x * y;
        size += std::abs(x) * std::abs(y);
      }
      const auto at = static_cast<std::size_t>(row_major_c ? i * n + j : i + j * m);
      const long double unit = std::abs(W(alpha)) * size + std::abs(W(beta) * W(c[at]));
      ASSERT_LE(std::abs(W(whole[at]) - (W(alpha) * sum + W(beta) * W(c[at]))), accuracy.bound * unit);
    }
  }
}

TEST(OrderedGemm, BitsDoNotDependOnTheShapeOfTheCall) {
  check<double>(101, 67, 300, Op::N, Op::N, false);
  check<double>(25, 810, 33, Op::T, Op::T, true);
  check<float>(99, 45, 520, Op::T, Op::N, false);
  check<float>(31, 33, 257, Op::N, Op::T, true);
  check<std::complex<double>>(53, 37, 260, Op::C, Op::N, false);
  check<std::complex<float>>(60, 29, 31, Op::N, Op::C, true);
}
TEST(OrderedGemm, DoesNotReadCForBetaZeroAndScalesItWithoutK) {
  const Executor host = Executor::host();
  std::vector<double> c(6, NAN), x(6, 1.0);
  const auto view = MatrixView<double>::column_major(host, c.data(), 2, 3);
  const auto none = MatrixView<double>::column_major(host, x.data(), 2, 0),
             nothing = MatrixView<double>::column_major(host, x.data(), 0, 3);
  ordered_gemm<double>(host, Op::N, Op::N, 1, none, nothing, 0, view);
  EXPECT_EQ(c, std::vector<double>(6, 0.0));
  c.assign(6, NAN);
  const auto one = MatrixView<double>::column_major(host, x.data(), 2, 1),
             line = MatrixView<double>::column_major(host, x.data(), 1, 3);
  ordered_gemm<double>(host, Op::N, Op::N, 2, one, line, 0, view);
  EXPECT_EQ(c, std::vector<double>(6, 2.0));
}

}  // namespace
}  // namespace trn::blas

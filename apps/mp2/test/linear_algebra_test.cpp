// Eigenvalues, Cholesky factors and products against the definition, on the host and on a device; and the
// sizes that LAPACK counts in 32 bits, without allocating them.
#include "mp2_support.hpp"

#include <cmath>
#include <limits>

#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2::test {
namespace {

Dense symmetric(std::int64_t n) {
  Dense a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      a(i, j) = std::cos(static_cast<double>(i + j)) / static_cast<double>(1 + std::abs(i - j));
  }
  return a;
}

void expect_eigenvectors(const Executor& executor, const std::vector<std::int64_t>& orders) {
  for (const std::int64_t n : orders) {
    const Dense a = symmetric(n);
    const Eigen e = eigh(executor, a);
    ASSERT_EQ(e.values.size(), static_cast<std::size_t>(n));
    const double limit = 1e-13 * static_cast<double>(n);
    for (std::int64_t k = 0; k < n; ++k) {
      if (k > 0) {
        EXPECT_LE(e.values[static_cast<std::size_t>(k - 1)], e.values[static_cast<std::size_t>(k)]);
      }
      long double norm = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        long double sum = -static_cast<long double>(e.values[static_cast<std::size_t>(k)]) * e.vectors(i, k);
        for (std::int64_t j = 0; j < n; ++j) sum += static_cast<long double>(a(i, j)) * e.vectors(j, k);
        EXPECT_NEAR(static_cast<double>(sum), 0, limit) << n << " " << i << " " << k;
        norm += static_cast<long double>(e.vectors(i, k)) * e.vectors(i, k);
      }
      EXPECT_NEAR(static_cast<double>(norm), 1, limit);
    }
  }
  EXPECT_TRUE(eigh(executor, Dense(0, 0)).values.empty());
}

TEST(LinearAlgebra, EigenvectorsSatisfyTheDefinition) { expect_eigenvectors(Executor::host(), {1, 2, 3, 40, 130}); }

TEST(LinearAlgebra, EigenvectorsSatisfyTheDefinitionOnADevice) {
  const Executor device = Executor::open("sim:trn2");
  const Recorder recorder(device);
  expect_eigenvectors(device, {1, 2, 3, 40});
  EXPECT_EQ(recorder.family_of("solver.eigh"), "device");
}

TEST(LinearAlgebra, FactorsAndProductsOnADevice) {
  const Executor device = Executor::open("sim:trn2");
  const Recorder recorder(device);
  for (const std::int64_t n : {1, 7, 65}) {
    Dense a = symmetric(n), wide(n, n + 3);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) += 9;
    for (std::size_t k = 0; k < wide.values.size(); ++k) wide.values[k] = std::sin(static_cast<double>(k));
    const Dense l = cholesky(device, a), p = product(device, wide, a, blas::Op::T), q = product(wide, a, blas::Op::T);
    ASSERT_EQ(l.rows, n);
    ASSERT_EQ(p.rows, n + 3);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        long double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) sum += static_cast<long double>(l(i, k)) * l(j, k);
        EXPECT_NEAR(static_cast<double>(sum), a(i, j), 4e-16 * 20 * static_cast<double>(n)) << i << " " << j;
        if (j > i) {
          EXPECT_EQ(l(i, j), 0);
        }
      }
    }
    for (std::size_t k = 0; k < p.values.size(); ++k)
      EXPECT_NEAR(p.values[k], q.values[k], 2.3e-16 * 20 * static_cast<double>(n));
  }
  Dense indefinite = symmetric(5);
  indefinite(3, 3) = -1;
  EXPECT_EQ(cholesky(device, indefinite).rows, 0);
  EXPECT_EQ(product(device, Dense(0, 3), Dense(3, 2)).columns, 2);
  EXPECT_EQ(recorder.family_of("solver.potrf"), "device");
  EXPECT_EQ(recorder.family_of("blas.gemm"), "device");
}

// dsyevd wants 2 n^2 + 6 n + 1 doubles: from n = 32767 on that does not fit 32 bits any more.
TEST(LinearAlgebra, WorkspaceStaysWithin32Bits) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(eigen_workspace(0).doubles, 1);
  EXPECT_EQ(eigen_workspace(100).doubles, 20601);
  EXPECT_EQ(eigen_workspace(100).integers, 503);
  EXPECT_EQ(eigen_workspace(32766).doubles, 2147418109);
  EXPECT_LE(eigen_workspace(32766).doubles, kMost);
  EXPECT_GT(2 * std::int64_t{32767} * 32767 + 6 * 32767 + 1, kMost);
  for (const std::int64_t n : {std::int64_t{32767}, std::int64_t{50000}, std::int64_t{1} << 40, std::int64_t{-1}}) {
    expect_message([&] { (void)eigen_workspace(n); }, "which ends at 32766 functions");
  }
}

}  // namespace
}  // namespace trn::mp2::test

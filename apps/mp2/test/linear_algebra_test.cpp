// Eigenvalues against the definition, and the sizes that LAPACK counts in 32 bits, without allocating them.
#include "mp2_support.hpp"

#include <cmath>
#include <limits>

#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2::test {
namespace {

TEST(LinearAlgebra, EigenvectorsSatisfyTheDefinition) {
  for (const std::int64_t n : {1, 2, 3, 40, 130}) {
    Dense a(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j)
        a(i, j) = std::cos(static_cast<double>(i + j)) / static_cast<double>(1 + std::abs(i - j));
    }
    const Eigen e = eigh(a);
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
  EXPECT_TRUE(eigh(Dense(0, 0)).values.empty());
}

// dsyevd wants 2 n^2 + 6 n + 1 doubles: from n = 32767 on that is no 32-bit number any more.
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

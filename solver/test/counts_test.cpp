// The counts of trn/solver/counts.hpp against loops of the algorithms that they are the leading terms of.
#include <gtest/gtest.h>

#include <trn/solver/counts.hpp>

namespace trn::solver::test {
namespace {

// Operations of the right-looking Cholesky factorisation of order n.
double cholesky_loops(int n) {
  double count = 0;
  for (int k = 0; k < n; ++k) {
    count += 1;          // a square root
    count += n - k - 1;  // the column divided
    for (int j = k + 1; j < n; ++j) count += 2.0 * (n - j);
  }
  return count;
}
double lu_loops(int n) {
  double count = 0;
  for (int k = 0; k < n; ++k) count += n - k - 1 + 2.0 * (n - k - 1) * (n - k - 1);
  return count;
}
// Reflections v of length m - k: v^T A of the columns right of it, A - v w^T.
double qr_loops(int m, int n) {
  double count = 0;
  for (int k = 0; k < n; ++k) count += 4.0 * (m - k) * (n - k - 1) + 3.0 * (m - k);
  return count;
}

TEST(Counts, LeadingTermsOfTheAlgorithms) {
  // The rest is of the next order: at most a few times 1/n of it.
  for (const int n : {100, 400}) {
    EXPECT_NEAR(counts::potrf(n) / cholesky_loops(n), 1, 3.0 / n) << n;
    EXPECT_NEAR(counts::getrf(n) / lu_loops(n), 1, 3.0 / n) << n;
    EXPECT_NEAR(counts::geqrf(n, n) / qr_loops(n, n), 1, 3.0 / n) << n;
    EXPECT_NEAR(counts::geqrf(3 * n, n) / qr_loops(3 * n, n), 1, 3.0 / n) << n;
    EXPECT_NEAR(counts::solve(n, 2 * n) / (lu_loops(n) + 2.0 * n * n * (2 * n)), 1, 3.0 / n) << n;
  }
  EXPECT_EQ(counts::geqrf(30, 90), counts::geqrf(90, 30));  // of the adjoint
  EXPECT_DOUBLE_EQ(counts::svd(10, 10), 22000);
  EXPECT_DOUBLE_EQ(counts::eigh(10), 9000);
}

}  // namespace
}  // namespace trn::solver::test

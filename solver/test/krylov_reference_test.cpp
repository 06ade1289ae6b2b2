// Iterations beside SciPy's on ten matrices (krylov_reference.py made the numbers, and states the same matrices).
#include <cstdlib>

#include "krylov_support.hpp"

namespace trn::solver::testing {
namespace {

struct Counts {
  const char* name;
  int cg, minres, gmres, gmres10, bicgstab, lsqr;
};
const Counts kReference[] = {
#include "krylov_reference.inc"
};

Dense<long double> grid(std::int64_t n, double (*entry)(std::int64_t, std::int64_t)) {
  Dense<long double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) a(i, j) = entry(i, j);
  }
  return a;
}
Dense<long double> five_points(std::int64_t m, double convection = 0, double shift = 0) {
  Dense<long double> a(m * m, m * m);
  for (std::int64_t i = 0; i < m * m; ++i) {
    const std::int64_t row = i / m, column = i % m;
    a(i, i) = 4 - shift;
    if (row > 0) a(i, i - m) = -1;
    if (row < m - 1) a(i, i + m) = -1;
    if (column > 0) a(i, i - 1) = -1 - convection;
    if (column < m - 1) a(i, i + 1) = -1 + convection;
  }
  return a;
}
std::vector<Dense<long double>> matrices() {
  using I = std::int64_t;
  return {
      grid(60, [](I i, I j) { return i == j                 ? 2.0
                                     : std::abs(i - j) == 1 ? -1.0
                                                            : 0.0; }),
      five_points(9),
      grid(40,
           [](I i, I j) {
             const double ratio =
                 (static_cast<double>(std::min(i, j)) + 1.0) / (static_cast<double>(std::max(i, j)) + 1.0);
             return i == j ? 2.0 : ratio;
           }),
      grid(64, [](I i, I j) { return std::ldexp(1.0, -static_cast<int>(std::abs(i - j))); }),
      grid(64,
           [](I i, I j) { return i == j                 ? 1.0 + 4.0 * static_cast<double>(i)
                                 : std::abs(i - j) == 1 ? 0.25
                                                        : 0.0; }),
      five_points(8, 0, 1),
      grid(32, [](I i, I j) { return (i == j ? 1.0 + static_cast<double>(i % 3) : 0.0) + (i + j == 31 ? 4.0 : 0.0); }),
      five_points(8, 0.5),
      grid(50, [](I i, I j) { return i == j                ? 4.0
                                     : i == j + 1          ? -1.0
                                     : j > i && j - i <= 3 ? 1.0
                                                           : 0.0; }),
      grid(40, [](I i, I j) { return i == j ? 12.0 : (static_cast<double>((7 * i + 11 * j) % 13) - 6.0) / 16.0; })};
}

TEST(KrylovReference, IterationsAreScipysWithinOne) {
  const auto all = matrices();
  ASSERT_EQ(all.size(), std::size(kReference));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Counts& expected = kReference[i];
    SCOPED_TRACE(expected.name);
    const std::int64_t n = all[i].rows;
    Dense<long double> b(n, 1);
    for (std::int64_t r = 0; r < n; ++r) b(r, 0) = static_cast<double>((37 * r + 11) % 101) / 64.0 - 0.75;
    Held<double> ha(Layout::RowMajor, all[i]), hb(Layout::ColumnMajor, b), hx(Layout::ColumnMajor, b);
    const DenseOperator<double> op(ha.view());
    const auto same = [&](const char* method, int reference, const IterationReport& report, double factor = 1) {
      if (reference < 0) return;
      EXPECT_TRUE(report.outcome.ok()) << method;
      EXPECT_LE(std::abs(report.iterations - reference), 1) << method << " " << report.iterations << " " << reference;
      for (const double r : true_residuals(all[i], b, hx.values())) EXPECT_LE(r, factor * 1.000001e-8) << method;
    };
    const KrylovOptions options{.tolerance = 1e-8, .restart = n};
    if (expected.cg > 0) same("cg", expected.cg, cg<double>(op, hb.view(), hx.view(), options));
    if (expected.minres > 0) same("minres", expected.minres, minres<double>(op, hb.view(), hx.view(), options));
    same("gmres", expected.gmres, gmres<double>(op, hb.view(), hx.view(), options));
    same("fgmres", expected.gmres, fgmres<double>(op, hb.view(), hx.view(), options));
    same("gmres(10)", expected.gmres10, gmres<double>(op, hb.view(), hx.view(), {.tolerance = 1e-8, .restart = 10}));
    same("bicgstab", expected.bicgstab, bicgstab<double>(op, hb.view(), hx.view(), options));
    same("lsqr", expected.lsqr, lsqr<double>(op, hb.view(), hx.view(), options));
  }
}

}  // namespace
}  // namespace trn::solver::testing

// cusolverRf: the factors that cusolverSp gave out serve new values of one pattern, alone and in batches; solutions
// multiplied out in long double, factors against the matrix, what is refused.
#include <trnsolver_rf.h>

#include <cstdlib>
#include <numeric>
#include <optional>

#include "sparse_systems.hpp"

namespace {

using capi_test::Csr, capi_test::Dense, capi_test::expect_solved, capi_test::Mem, capi_test::Random, capi_test::Sp;
using capi_test::Sum, capi_test::wide;

// The factors of one matrix serve others with its pattern.
class Refactorisation : public testing::Test, public Sp {
 protected:
  void SetUp() override {
    Random random(27);
    a = capi_test::sprinkled<double>(random, n, n, true);
    s.emplace(a, 0);
    trnsolvercsrluInfoHost_t info = nullptr;
    ASSERT_EQ(trnsolverSpCreateCsrluInfoHost(&info), 0);
    ASSERT_EQ(trnsolverSpXcsrluAnalysisHost(Sp::handle, n, s->nnz, descriptors[0], s->offsets.data(), s->columns.data(),
                                            info),
              0);
    ASSERT_EQ(trnsolverSpDcsrluFactorHost(Sp::handle, n, s->nnz, descriptors[0], s->values.data(), s->offsets.data(),
                                          s->columns.data(), info, 0.1, nullptr),
              0);
    ASSERT_EQ(trnsolverSpXcsrluNnzHost(Sp::handle, &lower, &upper, info), 0);
    li.resize(static_cast<std::size_t>(lower)), ui.resize(static_cast<std::size_t>(upper));
    lv.resize(li.size()), uv.resize(ui.size());
    ASSERT_EQ(trnsolverSpDcsrluExtractHost(Sp::handle, p.data(), q.data(), descriptors[0], lv.data(), lp.data(),
                                           li.data(), descriptors[0], uv.data(), up.data(), ui.data(), info, nullptr),
              0);
    trnsolverSpDestroyCsrluInfoHost(info);
    ASSERT_EQ(trnsolverRfCreate(&rf), 0);
  }
  void TearDown() override { trnsolverRfDestroy(rf); }
  trnsolverStatus_t setup() {
    return trnsolverRfSetupHost(n, s->nnz, s->offsets.data(), s->columns.data(), s->values.data(), lower, lp.data(),
                                li.data(), lv.data(), upper, up.data(), ui.data(), uv.data(), p.data(), q.data(), rf);
  }
  static constexpr int n = 12;
  Dense<double> a{n, n};
  std::optional<Csr<double>> s;
  int lower = 0, upper = 0;
  std::vector<int> p = std::vector<int>(n), q = p, lp = std::vector<int>(n + 1), up = lp, li, ui;
  std::vector<double> lv, uv;
  trnsolverRfHandle_t rf = nullptr;
};

TEST_F(Refactorisation, NewValuesAreFactoredAndSolved) {
  Random random(28);
  ASSERT_EQ(trnsolverRfSetMatrixFormat(rf, TRNSOLVERRF_MATRIX_FORMAT_CSR, TRNSOLVERRF_UNIT_DIAGONAL_ASSUMED_L), 0);
  ASSERT_EQ(trnsolverRfSetAlgs(rf, TRNSOLVERRF_FACTORIZATION_ALG0, TRNSOLVERRF_TRIANGULAR_SOLVE_ALG1), 0);
  ASSERT_EQ(setup(), 0) << trnGetLastErrorText();
  ASSERT_EQ(trnsolverRfAnalyze(rf), 0);
  const Mem<int> offsets(s->offsets), columns(s->columns), mp(p), mq(q);
  const Mem<double> temporary(n);
  for (int round = 0; round < 3; ++round) {
    if (round > 0) {
      for (double& v : a.x)
        if (v != 0) v += 0.1 * random.number<double>();
      const Csr<double> next(a, 0);
      const Mem<double> values(next.values);
      ASSERT_EQ(trnsolverRfResetValues(n, s->nnz, offsets, columns, values, mp, mq, rf), 0) << trnGetLastErrorText();
    }
    ASSERT_EQ(trnsolverRfRefactor(rf), 0) << trnGetLastErrorText();
    const auto b = random.numbers<double>(2 * n);
    const Mem<double> x(b);
    ASSERT_EQ(trnsolverRfSolve(rf, mp, mq, 2, temporary, n, x, n), 0) << trnGetLastErrorText();
    const auto found = x.get();
    for (int k = 0; k < 2; ++k)
      expect_solved(a, std::vector<double>(found.begin() + k * n, found.begin() + (k + 1) * n),
                    std::vector<double>(b.begin() + k * n, b.begin() + (k + 1) * n));
  }
  // The factors once more: as many entries, the same products.
  int bundled = 0, nl = 0, nu = 0, *mo = nullptr, *mc = nullptr, *lo = nullptr, *lc = nullptr, *uo = nullptr,
      *uc = nullptr;
  double *mx = nullptr, *lx = nullptr, *ux = nullptr;
  ASSERT_EQ(trnsolverRfExtractBundledFactorsHost(rf, &bundled, &mo, &mc, &mx), 0);
  ASSERT_EQ(trnsolverRfExtractSplitFactorsHost(rf, &nl, &lo, &lc, &lx, &nu, &uo, &uc, &ux), 0);
  EXPECT_EQ(bundled, lower + upper);
  EXPECT_EQ(nl, lower);
  EXPECT_EQ(nu, upper);
  Dense<double> l{n, n}, u{n, n};
  for (int i = 0; i < n; ++i) {
    l(i, i) = 1;
    for (int k = lo[i]; k < lo[i + 1]; ++k) l(i, lc[k]) = lx[k];
    for (int k = uo[i]; k < uo[i + 1]; ++k) u(i, uc[k]) = ux[k];
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      Sum sum;
      for (int k = 0; k < n; ++k) sum.add(wide(l(i, k)) * wide(u(k, j)));
      sum.expect(a(p[static_cast<std::size_t>(i)], q[static_cast<std::size_t>(j)]), 2 * n);
    }
  for (void* address : {static_cast<void*>(mo), static_cast<void*>(mc), static_cast<void*>(mx), static_cast<void*>(lo),
                        static_cast<void*>(lc), static_cast<void*>(lx), static_cast<void*>(uo), static_cast<void*>(uc),
                        static_cast<void*>(ux)})
    std::free(address);
}

TEST_F(Refactorisation, ABatchHasOnePattern) {
  auto second = s->values;
  for (double& v : second) v *= 2;
  double* lists[] = {s->values.data(), second.data()};
  ASSERT_EQ(
      trnsolverRfBatchSetupHost(2, n, s->nnz, s->offsets.data(), s->columns.data(), lists, lower, lp.data(), li.data(),
                                lv.data(), upper, up.data(), ui.data(), uv.data(), p.data(), q.data(), rf),
      0)
      << trnGetLastErrorText();
  ASSERT_EQ(trnsolverRfBatchAnalyze(rf), 0);
  ASSERT_EQ(trnsolverRfBatchRefactor(rf), 0);
  int positions[2] = {9, 9};
  ASSERT_EQ(trnsolverRfBatchZeroPivot(rf, positions), 0);
  EXPECT_EQ(positions[1], -1);
  const std::vector<double> b(n, 1.0);
  const Mem<double> x0(b), x1(b), temporary(2 * n);
  const Mem<int> mp(p), mq(q);
  double* x[] = {x0, x1};
  ASSERT_EQ(trnsolverRfBatchSolve(rf, mp, mq, 1, temporary, n, x, n), 0) << trnGetLastErrorText();
  expect_solved(a, x0.get(), b);
  const auto one = x0.get(), two = x1.get();
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(two[i], one[i] / 2);
  // New values, one of which has a zero pivot.
  std::vector<double> zero(s->values.size(), 0.0);
  const Mem<double> v0(s->values), v1(zero);
  const Mem<int> offsets(s->offsets), columns(s->columns);
  double* values[] = {v0, v1};
  ASSERT_EQ(trnsolverRfBatchResetValues(2, n, s->nnz, offsets, columns, values, mp, mq, rf), 0)
      << trnGetLastErrorText();
  ASSERT_EQ(trnsolverRfBatchRefactor(rf), 0);
  EXPECT_EQ(trnsolverRfBatchZeroPivot(rf, positions), TRNSOLVER_STATUS_ZERO_PIVOT);
  EXPECT_EQ(positions[0], -1);
  EXPECT_EQ(positions[1], 0);
  EXPECT_EQ(trnsolverRfBatchSolve(rf, mp, mq, 1, temporary, n, x, n), TRNSOLVER_STATUS_ZERO_PIVOT);
}

TEST_F(Refactorisation, PivotsAreBoostedAndBadInputIsRefused) {
  EXPECT_EQ(trnsolverRfRefactor(rf), TRNSOLVER_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(trnsolverRfSetMatrixFormat(rf, TRNSOLVERRF_MATRIX_FORMAT_CSC, TRNSOLVERRF_UNIT_DIAGONAL_STORED_L),
            TRNSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(
      trnsolverRfSetMatrixFormat(rf, static_cast<trnsolverRfMatrixFormat_t>(99), TRNSOLVERRF_UNIT_DIAGONAL_STORED_L),
      TRNSOLVER_STATUS_INVALID_VALUE);
  const int kept = ui[0];
  ui[0] = 99;
  EXPECT_EQ(setup(), TRNSOLVER_STATUS_INVALID_VALUE);
  ui[0] = kept;
  const int entries = std::exchange(upper, 1 << 30);  // more than there are, and than the offsets say
  EXPECT_EQ(setup(), TRNSOLVER_STATUS_INVALID_VALUE);
  upper = entries;
  std::swap(p[0], p[1]), p[0] = p[1];
  EXPECT_EQ(setup(), TRNSOLVER_STATUS_INVALID_VALUE);
  std::iota(p.begin(), p.end(), 0);
  ASSERT_EQ(setup(), 0);
  // All values zero: every pivot is replaced.
  const Mem<int> offsets(s->offsets), columns(s->columns), mp(p), mq(q);
  const Mem<double> zero(s->values.size());
  ASSERT_EQ(trnsolverRfResetValues(n, s->nnz, offsets, columns, zero, mp, mq, rf), 0);
  EXPECT_EQ(trnsolverRfRefactor(rf), TRNSOLVER_STATUS_ZERO_PIVOT);
  ASSERT_EQ(trnsolverRfSetNumericProperties(rf, 1e-12, 4.0), 0);
  ASSERT_EQ(trnsolverRfResetValues(n, s->nnz, offsets, columns, zero, mp, mq, rf), 0);
  ASSERT_EQ(trnsolverRfRefactor(rf), 0);
  trnsolverRfNumericBoostReport_t report = TRNSOLVERRF_NUMERIC_BOOST_NOT_USED;
  ASSERT_EQ(trnsolverRfGetNumericBoostReport(rf, &report), 0);
  EXPECT_EQ(report, TRNSOLVERRF_NUMERIC_BOOST_USED);
  const Mem<double> x(std::vector<double>(n, 1.0)), temporary(n);
  ASSERT_EQ(trnsolverRfSolve(rf, mp, mq, 1, temporary, n, x, n), 0);
  EXPECT_EQ(x.get()[0], 0.25);
}

}  // namespace

// cusolverSp: solutions multiplied out in long double, factors against the matrix, orderings and
// permutations, what is refused. Host memory for the names in Host, device memory of the host executor for the others.
#include <trnsolver_sp.h>

#include <algorithm>
#include <numeric>

#include "sparse_systems.hpp"

namespace {

using capi_test::Csr, capi_test::definite, capi_test::expect_solved, capi_test::Sp;
using capi_test::Dense, capi_test::kComplex, capi_test::kUnit, capi_test::Mem, capi_test::On, capi_test::Random;
using capi_test::Sum, capi_test::wide, capi_test::Wide;
template <class T> using Real = typename capi_test::Real<T>::type;

TRN_ROW(trnsolverSp, csrlsvluHost)
TRN_ROW(trnsolverSp, csrlsvqr)
TRN_ROW(trnsolverSp, csrlsvqrHost)
TRN_ROW(trnsolverSp, csrlsvchol)
TRN_ROW(trnsolverSp, csrlsvcholHost)
TRN_ROW(trnsolverSp, csrlsqvqrHost)
TRN_ROW(trnsolverSp, csrqrBufferInfo)
TRN_ROW(trnsolverSp, csrqrSetupHost)
TRN_ROW(trnsolverSp, csrqrFactorHost)
TRN_ROW(trnsolverSp, csrqrZeroPivotHost)
TRN_ROW(trnsolverSp, csrqrSolveHost)
TRN_ROW(trnsolverSp, csrqrsvBatched)
TRN_ROW(trnsolverSp, csrcholFactor)
TRN_ROW(trnsolverSp, csrcholZeroPivot)
TRN_ROW(trnsolverSp, csrcholSolve)
TRN_ROW(trnsolverSp, csrcholDiag)
TRN_ROW(trnsolverSp, csrluFactorHost)
TRN_ROW(trnsolverSp, csrluZeroPivotHost)
TRN_ROW(trnsolverSp, csrluSolveHost)
TRN_ROW(trnsolverSp, csrluExtractHost)

template <class T> class SparseSolvers : public testing::Test, public Sp {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SparseSolvers, Types);

TYPED_TEST(SparseSolvers, SolveInEveryOrderAndBase) {
  using T = TypeParam;
  constexpr int n = 12;
  Random random(21);
  const auto general = capi_test::sprinkled<T>(random, n, n, true);
  const auto positive = definite<T>(random, n);
  const auto b = random.numbers<T>(n);
  const Real<T> tolerance = 0;
  for (int base = 0; base < 2; ++base)
    for (int reorder = 0; reorder < 4; ++reorder) {
      const Csr<T> g(general, base), p(positive, base);
      const auto d = this->descriptors[base];
      std::vector<T> x(n);
      int singular = 9;
      ASSERT_EQ(csrlsvluHost<T>(this->handle, n, g.nnz, d, g.values.data(), g.offsets.data(), g.columns.data(),
                                b.data(), tolerance, reorder, x.data(), &singular),
                0)
          << trnGetLastErrorText();
      EXPECT_EQ(singular, -1);
      expect_solved(general, x, b);
      std::fill(x.begin(), x.end(), T(0));
      ASSERT_EQ(csrlsvqrHost<T>(this->handle, n, g.nnz, d, g.values.data(), g.offsets.data(), g.columns.data(),
                                b.data(), tolerance, reorder, x.data(), &singular),
                0);
      expect_solved(general, x, b);
      ASSERT_EQ(csrlsvcholHost<T>(this->handle, n, p.nnz, d, p.values.data(), p.offsets.data(), p.columns.data(),
                                  b.data(), tolerance, reorder, x.data(), &singular),
                0);
      EXPECT_EQ(singular, -1);
      expect_solved(positive, x, b);
      // The same in device memory.
      const Mem<T> gv(g.values), pv(p.values), mb(b), mx(n);
      const Mem<int> go(g.offsets), gc(g.columns), po(p.offsets), pc(p.columns);
      ASSERT_EQ(csrlsvqr<T>(this->handle, n, g.nnz, d, static_cast<const T*>(gv), static_cast<const int*>(go),
                            static_cast<const int*>(gc), static_cast<const T*>(mb), tolerance, reorder,
                            static_cast<T*>(mx), &singular),
                0);
      expect_solved(general, mx.get(), b);
      ASSERT_EQ(csrlsvchol<T>(this->handle, n, p.nnz, d, static_cast<const T*>(pv), static_cast<const int*>(po),
                              static_cast<const int*>(pc), static_cast<const T*>(mb), tolerance, reorder,
                              static_cast<T*>(mx), &singular),
                0);
      expect_solved(positive, mx.get(), b);
    }
}

TYPED_TEST(SparseSolvers, SingularMatricesAreNamed) {
  using T = TypeParam;
  const Dense<T> a{3, 3, {T(1), T(0), T(2), T(0), T(0), T(0), T(3), T(0), T(1)}};
  const Csr<T> s(a, 0);
  const std::vector<T> b(3, T(1));
  std::vector<T> x(3, T(7));
  int singular = -1;
  const Real<T> tolerance = 0;
  ASSERT_EQ(csrlsvluHost<T>(this->handle, 3, s.nnz, this->descriptors[0], s.values.data(), s.offsets.data(),
                            s.columns.data(), b.data(), tolerance, 0, x.data(), &singular),
            0);
  EXPECT_EQ(singular, 1);
  EXPECT_EQ(x, std::vector<T>(3, T(7)));
  ASSERT_EQ(csrlsvqrHost<T>(this->handle, 3, s.nnz, this->descriptors[0], s.values.data(), s.offsets.data(),
                            s.columns.data(), b.data(), tolerance, 0, x.data(), &singular),
            0);
  EXPECT_EQ(singular, 1);
  ASSERT_EQ(csrlsvcholHost<T>(this->handle, 3, s.nnz, this->descriptors[0], s.values.data(), s.offsets.data(),
                              s.columns.data(), b.data(), tolerance, 0, x.data(), &singular),
            0);
  EXPECT_GE(singular, 0);
}

TYPED_TEST(SparseSolvers, LeastSquares) {
  using T = TypeParam;
  constexpr int m = 9, n = 5;
  Random random(22);
  const auto a = capi_test::sprinkled<T>(random, m, n, true);
  const Csr<T> s(a, 1);
  const auto b = random.numbers<T>(m);
  std::vector<T> x(n);
  std::vector<int> p(n, -1);
  int rank = 0;
  Real<T> norm = -1;
  const Real<T> tolerance = 0;
  ASSERT_EQ(csrlsqvqrHost<T>(this->handle, m, n, s.nnz, this->descriptors[1], s.values.data(), s.offsets.data(),
                             s.columns.data(), b.data(), tolerance, &rank, x.data(), p.data(), &norm),
            0)
      << trnGetLastErrorText();
  EXPECT_EQ(rank, n);
  std::sort(p.begin(), p.end());
  for (int k = 0; k < n; ++k) EXPECT_EQ(p[static_cast<std::size_t>(k)], k);
  // The residual is orthogonal to the columns and has the norm that was reported.
  std::vector<Wide> rest;
  long double size = 0;
  for (int i = 0; i < m; ++i) {
    Wide sum = wide(b[static_cast<std::size_t>(i)]);
    for (int j = 0; j < n; ++j) sum -= wide(a(i, j)) * wide(x[static_cast<std::size_t>(j)]);
    rest.push_back(sum), size += std::norm(sum);
  }
  EXPECT_LE(std::abs(static_cast<long double>(norm) - std::sqrt(size)), 100 * kUnit<T>);
  for (int j = 0; j < n; ++j) {
    Wide sum = 0;
    for (int i = 0; i < m; ++i) sum += std::conj(wide(a(i, j))) * rest[static_cast<std::size_t>(i)];
    EXPECT_LE(std::abs(sum), 1000 * kUnit<T>);
  }
}

TYPED_TEST(SparseSolvers, StepsOfQr) {
  using T = TypeParam;
  constexpr int n = 10, count = 3;
  Random random(23);
  const auto a = capi_test::sprinkled<T>(random, n, n, true);
  const Csr<T> s(a, 0);
  auto b = random.numbers<T>(n);
  std::vector<T> x(n);
  trnsolvercsrqrInfoHost_t info = nullptr;
  ASSERT_EQ(trnsolverSpCreateCsrqrInfoHost(&info), 0);
  ASSERT_EQ(trnsolverSpXcsrqrAnalysisHost(this->handle, n, n, s.nnz, this->descriptors[0], s.offsets.data(),
                                          s.columns.data(), info),
            0);
  const auto setup = [&](auto mu) {
    if constexpr (std::is_same_v<T, std::complex<float>>)
      return csrqrSetupHost<T>(this->handle, n, n, s.nnz, this->descriptors[0], s.values.data(), s.offsets.data(),
                               s.columns.data(), trnComplex{mu, 0}, info);
    else if constexpr (std::is_same_v<T, std::complex<double>>)
      return csrqrSetupHost<T>(this->handle, n, n, s.nnz, this->descriptors[0], s.values.data(), s.offsets.data(),
                               s.columns.data(), trnDoubleComplex{mu, 0}, info);
    else
      return csrqrSetupHost<T>(this->handle, n, n, s.nnz, this->descriptors[0], s.values.data(), s.offsets.data(),
                               s.columns.data(), mu, info);
  };
  void* const none = nullptr;
  T* const nothing = nullptr;
  EXPECT_EQ(csrqrSolveHost<T>(this->handle, n, n, b.data(), x.data(), info, none), TRNSOLVER_STATUS_INVALID_VALUE);
  for (const Real<T> mu : {Real<T>(0), Real<T>(0.5)}) {
    ASSERT_EQ(setup(mu), 0) << trnGetLastErrorText();
    ASSERT_EQ(csrqrFactorHost<T>(this->handle, n, n, s.nnz, nothing, nothing, info, none), 0);
    int position = 9;
    const Real<T> tolerance = 0;
    ASSERT_EQ(csrqrZeroPivotHost<T>(this->handle, info, tolerance, &position), 0);
    EXPECT_EQ(position, -1);
    const Real<T> all = 1e30F;
    ASSERT_EQ(csrqrZeroPivotHost<T>(this->handle, info, all, &position), 0);
    EXPECT_GE(position, 0);  // everything is below such a tolerance
    ASSERT_EQ(csrqrSolveHost<T>(this->handle, n, n, b.data(), x.data(), info, none), 0);
    auto shifted = a;
    for (int i = 0; i < n; ++i) shifted(i, i) -= T(mu);
    expect_solved(shifted, x, b);
  }
  EXPECT_EQ(trnsolverSpDestroyCsrqrInfoHost(info), 0);
  EXPECT_EQ(trnsolverSpDestroyCsrqrInfoHost(info), TRNSOLVER_STATUS_INVALID_VALUE);  // it is gone
  // A batch in device memory.
  std::vector<T> values, right;
  std::vector<Dense<T>> matrices;
  for (int k = 0; k < count; ++k) {
    auto other = a;
    for (T& v : other.x)
      if (v != T(0)) v += T(Real<T>(0.25) * Real<T>(k));
    for (const T v : other.x)
      if (v != T(0)) values.push_back(v);
    matrices.push_back(other);
  }
  right = random.numbers<T>(n * count);
  trnsolvercsrqrInfo_t on_device = nullptr;
  ASSERT_EQ(trnsolverSpCreateCsrqrInfo(&on_device), 0);
  const Mem<T> mv(values), mb(right), mx(n * count);
  const Mem<int> mo(s.offsets), mc(s.columns);
  ASSERT_EQ(trnsolverSpXcsrqrAnalysisBatched(this->handle, n, n, s.nnz, this->descriptors[0], mo, mc, on_device), 0)
      << trnGetLastErrorText();
  std::size_t internal = 0, work = 0;
  ASSERT_EQ(csrqrBufferInfo<T>(this->handle, n, n, s.nnz, this->descriptors[0], static_cast<const T*>(mv),
                               static_cast<const int*>(mo), static_cast<const int*>(mc), on_device, &internal, &work),
            0);
  EXPECT_GT(work, 0U);
  ASSERT_EQ(csrqrsvBatched<T>(this->handle, n, n, s.nnz, this->descriptors[0], static_cast<const T*>(mv),
                              static_cast<const int*>(mo), static_cast<const int*>(mc), static_cast<const T*>(mb),
                              static_cast<T*>(mx), count, on_device, none),
            0)
      << trnGetLastErrorText();
  const auto found = mx.get();
  for (int k = 0; k < count; ++k)
    expect_solved(matrices[static_cast<std::size_t>(k)],
                  std::vector<T>(found.begin() + k * n, found.begin() + (k + 1) * n),
                  std::vector<T>(right.begin() + k * n, right.begin() + (k + 1) * n));
  trnsolverSpDestroyCsrqrInfo(on_device);
}

TYPED_TEST(SparseSolvers, StepsOfCholesky) {
  using T = TypeParam;
  constexpr int n = 11;
  Random random(24);
  const auto a = definite<T>(random, n);
  const Csr<T> s(a, 1);
  const Mem<T> values(s.values), b(random.numbers<T>(n)), x(n);
  const Mem<int> offsets(s.offsets), columns(s.columns);
  const Mem<Real<T>> diagonal(n);
  trnsolvercsrcholInfo_t info = nullptr;
  ASSERT_EQ(trnsolverSpCreateCsrcholInfo(&info), 0);
  ASSERT_EQ(trnsolverSpXcsrcholAnalysis(this->handle, n, s.nnz, this->descriptors[1], offsets, columns, info), 0);
  void* const none = nullptr;
  ASSERT_EQ(csrcholFactor<T>(this->handle, n, s.nnz, this->descriptors[1], static_cast<const T*>(values),
                             static_cast<const int*>(offsets), static_cast<const int*>(columns), info, none),
            0)
      << trnGetLastErrorText();
  int position = 9;
  const Real<T> tolerance = 0;
  ASSERT_EQ(csrcholZeroPivot<T>(this->handle, info, tolerance, &position), 0);
  EXPECT_EQ(position, -1);
  ASSERT_EQ(csrcholSolve<T>(this->handle, n, static_cast<const T*>(b), static_cast<T*>(x), info, none), 0);
  expect_solved(a, x.get(), b.get());
  ASSERT_EQ(csrcholDiag<T>(this->handle, info, static_cast<Real<T>*>(diagonal)), 0);
  // Their squares multiply to the determinant, which elimination in long double finds as well.
  Dense<Wide> e{n, n};
  for (std::size_t k = 0; k < e.x.size(); ++k) e.x[k] = wide(a.x[k]);
  long double expected = 0, got = 0;
  for (int k = 0; k < n; ++k) {
    expected += std::log(std::abs(e(k, k)));
    for (int i = k + 1; i < n; ++i) {
      const Wide factor = e(i, k) / e(k, k);
      for (int j = k; j < n; ++j) e(i, j) -= factor * e(k, j);
    }
  }
  for (const Real<T> d : diagonal.get()) got += 2 * std::log(static_cast<long double>(d));
  EXPECT_LE(std::abs(got - expected), 200 * kUnit<T>);
  trnsolverSpDestroyCsrcholInfo(info);
}

TYPED_TEST(SparseSolvers, LuFactorsAreTakenOut) {
  using T = TypeParam;
  constexpr int n = 12;
  Random random(25);
  auto a = capi_test::sprinkled<T>(random, n, n, true);
  for (int j = 0; j < n; ++j) std::swap(a(0, j), a(5, j));  // the diagonal is no pivot everywhere
  const Csr<T> s(a, 0);
  const auto b = random.numbers<T>(n);
  std::vector<T> x(n);
  trnsolvercsrluInfoHost_t info = nullptr;
  ASSERT_EQ(trnsolverSpCreateCsrluInfoHost(&info), 0);
  int lower = 0, upper = 0, position = 9;
  EXPECT_EQ(trnsolverSpXcsrluNnzHost(this->handle, &lower, &upper, info), TRNSOLVER_STATUS_INVALID_VALUE);
  ASSERT_EQ(trnsolverSpXcsrluAnalysisHost(this->handle, n, s.nnz, this->descriptors[0], s.offsets.data(),
                                          s.columns.data(), info),
            0);
  void* const none = nullptr;
  const Real<T> threshold = 1, tolerance = 0;
  ASSERT_EQ(csrluFactorHost<T>(this->handle, n, s.nnz, this->descriptors[0], s.values.data(), s.offsets.data(),
                               s.columns.data(), info, threshold, none),
            0)
      << trnGetLastErrorText();
  ASSERT_EQ(csrluZeroPivotHost<T>(this->handle, info, tolerance, &position), 0);
  EXPECT_EQ(position, -1);
  ASSERT_EQ(csrluSolveHost<T>(this->handle, n, b.data(), x.data(), info, none), 0);
  expect_solved(a, x, b);
  ASSERT_EQ(trnsolverSpXcsrluNnzHost(this->handle, &lower, &upper, info), 0);
  std::vector<int> p(n), q(n), lp(n + 1), up(n + 1), li(static_cast<std::size_t>(lower)),
      ui(static_cast<std::size_t>(upper));
  std::vector<T> lv(li.size()), uv(ui.size());
  ASSERT_EQ(csrluExtractHost<T>(this->handle, p.data(), q.data(), this->descriptors[0], lv.data(), lp.data(), li.data(),
                                this->descriptors[0], uv.data(), up.data(), ui.data(), info, none),
            0);
  // A(p, q) = L U, elementwise within units of |L||U|.
  Dense<T> l{n, n}, u{n, n};
  for (int i = 0; i < n; ++i) {
    l(i, i) = T(1);
    for (int k = lp[static_cast<std::size_t>(i)]; k < lp[static_cast<std::size_t>(i) + 1]; ++k) {
      ASSERT_LT(li[static_cast<std::size_t>(k)], i);
      l(i, li[static_cast<std::size_t>(k)]) = lv[static_cast<std::size_t>(k)];
    }
    for (int k = up[static_cast<std::size_t>(i)]; k < up[static_cast<std::size_t>(i) + 1]; ++k) {
      ASSERT_GE(ui[static_cast<std::size_t>(k)], i);
      u(i, ui[static_cast<std::size_t>(k)]) = uv[static_cast<std::size_t>(k)];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      Sum sum;
      for (int k = 0; k < n; ++k) sum.add(wide(l(i, k)) * wide(u(k, j)));
      sum.expect(a(p[static_cast<std::size_t>(i)], q[static_cast<std::size_t>(j)]), 2 * n);
    }
  trnsolverSpDestroyCsrluInfoHost(info);
}

TEST(SparseEigenvalues, TheNearestIsFound) {
  const Sp sp;
  constexpr int n = 8;  // the eigenvalues of the second difference are known
  Dense<double> a{n, n};
  for (int i = 0; i < n; ++i) {
    a(i, i) = 2;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
  }
  const Csr<double> s(a, 0);
  const double wanted = 2 - 2 * std::cos(3 * std::acos(-1.0) / (n + 1));
  std::vector<double> start(n), x(n);
  std::iota(start.begin(), start.end(), 1.0);
  double mu = 0;
  ASSERT_EQ(trnsolverSpDcsreigvsiHost(sp.handle, n, s.nnz, sp.descriptors[0], s.values.data(), s.offsets.data(),
                                      s.columns.data(), wanted + 0.05, start.data(), 100, 1e-13, &mu, x.data()),
            0)
      << trnGetLastErrorText();
  EXPECT_NEAR(mu, wanted, 1e-12);
  const Mem<double> values(s.values), x0(start), mx(n), mm(1);
  const Mem<int> offsets(s.offsets), columns(s.columns);
  ASSERT_EQ(trnsolverSpDcsreigvsi(sp.handle, n, s.nnz, sp.descriptors[0], values, offsets, columns, wanted + 0.05, x0,
                                  100, 1e-13, mm, mx),
            0);
  EXPECT_NEAR(mm.get()[0], wanted, 1e-12);
}

TEST(SparseOrderings, ArePermutationsAndPermute) {
  const Sp sp;
  Random random(26);
  constexpr int n = 15;
  const auto a = definite<double>(random, n);
  const Csr<double> s(a, 1);
  int symmetric = 9;
  ASSERT_EQ(trnsolverSpXcsrissymHost(sp.handle, n, s.nnz, sp.descriptors[1], s.offsets.data(), s.offsets.data() + 1,
                                     s.columns.data(), &symmetric),
            0);
  EXPECT_EQ(symmetric, 1);
  const std::vector<int> o{0, 1, 1}, c{1};
  ASSERT_EQ(trnsolverSpXcsrissymHost(sp.handle, 2, 1, sp.descriptors[0], o.data(), o.data() + 1, c.data(), &symmetric),
            0);
  EXPECT_EQ(symmetric, 0);
  std::vector<int> p(n);
  const auto expect_permutation = [&] {
    auto sorted_p = p;
    std::sort(sorted_p.begin(), sorted_p.end());
    for (int k = 0; k < n; ++k) EXPECT_EQ(sorted_p[static_cast<std::size_t>(k)], k);
  };
  for (const auto order : {trnsolverSpXcsrsymrcmHost, trnsolverSpXcsrsymmdqHost, trnsolverSpXcsrsymamdHost}) {
    ASSERT_EQ(order(sp.handle, n, s.nnz, sp.descriptors[1], s.offsets.data(), s.columns.data(), p.data()), 0);
    expect_permutation();
  }
  ASSERT_EQ(trnsolverSpXcsrmetisndHost(sp.handle, n, s.nnz, sp.descriptors[1], s.offsets.data(), s.columns.data(),
                                       nullptr, p.data()),
            0);
  expect_permutation();
  auto q = p;
  std::reverse(q.begin(), q.end());
  auto offsets = s.offsets, columns = s.columns;
  std::vector<int> map(s.values.size());
  std::iota(map.begin(), map.end(), 0);
  std::size_t bytes = 0;
  ASSERT_EQ(trnsolverSpXcsrperm_bufferSizeHost(sp.handle, n, n, s.nnz, sp.descriptors[1], offsets.data(),
                                               columns.data(), p.data(), q.data(), &bytes),
            0);
  ASSERT_EQ(trnsolverSpXcsrpermHost(sp.handle, n, n, s.nnz, sp.descriptors[1], offsets.data(), columns.data(), p.data(),
                                    q.data(), map.data(), nullptr),
            0);
  Dense<double> found{n, n};
  for (int i = 0; i < n; ++i)
    for (int k = offsets[static_cast<std::size_t>(i)] - 1; k < offsets[static_cast<std::size_t>(i) + 1] - 1; ++k)
      found(i, columns[static_cast<std::size_t>(k)] - 1) =
          s.values[static_cast<std::size_t>(map[static_cast<std::size_t>(k)])];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      EXPECT_EQ(found(i, j), a(p[static_cast<std::size_t>(i)], q[static_cast<std::size_t>(j)]));
  q[0] = q[1];
  EXPECT_EQ(trnsolverSpXcsrpermHost(sp.handle, n, n, s.nnz, sp.descriptors[1], offsets.data(), columns.data(), p.data(),
                                    q.data(), map.data(), nullptr),
            TRNSOLVER_STATUS_INVALID_VALUE);
}

TEST(SparseSolversBadInput, IsRefused) {
  const Sp sp;
  const Dense<double> a{2, 2, {2, 1, 0, 3}};
  const Csr<double> s(a, 0);
  const std::vector<double> b{1, 1};
  std::vector<double> x(2);
  int singular = 0;
  const auto solve = [&](trnsparseMatDescr_t d, int n, int nnz, const double* values, int reorder, int* result) {
    return trnsolverSpDcsrlsvluHost(sp.handle, n, nnz, d, values, s.offsets.data(), s.columns.data(), b.data(), 0,
                                    reorder, x.data(), result);
  };
  const auto d = sp.descriptors[0];
  EXPECT_EQ(solve(d, 2, 3, s.values.data(), 0, &singular), 0);
  EXPECT_EQ(solve(d, 2, 3, nullptr, 0, &singular), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(d, 2, 2, s.values.data(), 0, &singular), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(d, -1, 3, s.values.data(), 0, &singular), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(d, 2, 3, s.values.data(), 4, &singular), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(d, 2, 3, s.values.data(), 0, nullptr), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(nullptr, 2, 3, s.values.data(), 0, &singular), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(sp.descriptors[1], 2, 3, s.values.data(), 0, &singular), TRNSOLVER_STATUS_INVALID_VALUE);
  ASSERT_EQ(trnsparseSetMatType(d, TRNSPARSE_MATRIX_TYPE_SYMMETRIC), 0);
  EXPECT_EQ(solve(d, 2, 3, s.values.data(), 0, &singular), TRNSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  ASSERT_EQ(trnsparseSetMatType(d, TRNSPARSE_MATRIX_TYPE_GENERAL), 0);
  // The offsets deny a number of entries: they are read first.
  EXPECT_EQ(trnsolverSpDcsrlsvqrHost(sp.handle, 2, 1 << 30, d, s.values.data(), s.offsets.data(), s.columns.data(),
                                     b.data(), 0, 0, x.data(), &singular),
            TRNSOLVER_STATUS_INVALID_VALUE);
  // Host memory where device memory is meant, and a device, where only the names in Host work.
  EXPECT_EQ(trnsolverSpDcsrlsvqr(sp.handle, 2, 3, d, s.values.data(), s.offsets.data(), s.columns.data(), b.data(), 0,
                                 0, x.data(), &singular),
            TRNSOLVER_STATUS_INVALID_VALUE);
  const On device("sim:trn2");
  const Sp there;
  const Mem<double> values(s.values), mb(b), mx(2);
  const Mem<int> offsets(s.offsets), columns(s.columns);
  EXPECT_EQ(
      trnsolverSpDcsrlsvqr(there.handle, 2, 3, there.descriptors[0], values, offsets, columns, mb, 0, 0, mx, &singular),
      TRNSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnsolverSpDcsrlsvqrHost(there.handle, 2, 3, there.descriptors[0], s.values.data(), s.offsets.data(),
                                     s.columns.data(), b.data(), 0, 0, x.data(), &singular),
            0);
  expect_solved(a, x, b);
}

}  // namespace

// cuSOLVER's other ways by their numbers, in four element types: Jacobi's with their batches, ranges of eigenvalues,
// any square matrix, singular triples, the names of mixed precision. What comes out is multiplied out in long double.
#include <trnsolver.h>

#include <algorithm>

#include "typed.hpp"

namespace {

using namespace capi_test;
constexpr auto kOk = TRNSOLVER_STATUS_SUCCESS;
constexpr auto kInvalid = TRNSOLVER_STATUS_INVALID_VALUE;
constexpr auto kVectors = TRNSOLVER_EIG_MODE_VECTOR;
#define TRN_OK(call) ASSERT_EQ((call), kOk) << trnGetLastErrorText()

struct Handle {
  Handle() { EXPECT_EQ(trnsolverDnCreate(&h), kOk); }
  ~Handle() { trnsolverDnDestroy(h); }
  trnsolverDnHandle_t h = nullptr;
};
template <class T> T* at(const Mem<T>& m) { return m; }
// Columns of a column-major array as a dense matrix.
template <class T> Dense<Wide> matrix(const std::vector<T>& v, int rows, int columns, int ld, int from = 0) {
  Dense<Wide> a{rows, columns};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) a(i, j) = wide(v[static_cast<std::size_t>(from + i + j * ld)]);
  return a;
}
Dense<Wide> operator*(const Dense<Wide>& a, const Dense<Wide>& b) {
  Dense<Wide> c{a.rows, b.columns};
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}
template <class R> Dense<Wide> scaled(Dense<Wide> a, const std::vector<R>& by, int from = 0) {
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) a(i, j) *= wide(by[static_cast<std::size_t>(from + j)]);
  return a;
}
long double distance(const Dense<Wide>& a, const Dense<Wide>& b) {
  long double sum = 0;
  for (std::size_t k = 0; k < a.x.size(); ++k) sum += std::norm(a.x[k] - b.x[k]);
  return std::sqrt(sum);
}
Dense<Wide> identity(int n) {
  Dense<Wide> one{n, n};
  for (int i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}
// Hermitian, in column-major arrays of leading dimension ld, `count` of them; NaN where it is not to be read.
template <class T> struct Hermitian {
  Hermitian(Random& random, int order, int ld, int count, long double diagonal, bool lower)
      : n(order), stored(static_cast<std::size_t>(ld * order * count), T(NAN)) {
    for (int k = 0; k < count; ++k) {
      Dense<Wide> a{n, n};
      for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
          const T x = i == j ? T(std::real(random.number<T>()) + static_cast<float>(diagonal)) : random.number<T>();
          a(i, j) = wide(x), a(j, i) = std::conj(a(i, j));
          T mirrored = x;
          if constexpr (kComplex<T>) mirrored = std::conj(x);
          stored[static_cast<std::size_t>(k * ld * n + (lower ? i + j * ld : j + i * ld))] = lower ? x : mirrored;
        }
      exact.push_back(a);
    }
  }
  int n;
  std::vector<Dense<Wide>> exact;
  std::vector<T> stored;
};

TRN_ROW2(syevj, trnsolverDn, syevj, heevj)
TRN_ROW2(syevjBatched, trnsolverDn, syevjBatched, heevjBatched)
TRN_ROW2(sygvj, trnsolverDn, sygvj, hegvj)
TRN_ROW2(sygvdx, trnsolverDn, sygvdx, hegvdx)
template <class T> void hermitian(bool lower) {
  using R = typename Real<T>::type;
  const Handle h;
  Random random(21);
  constexpr int n = 6, ld = 7, count = 3;
  const long double bound = 60 * kUnit<T> * n;
  const auto uplo = lower ? TRNBLAS_FILL_MODE_LOWER : TRNBLAS_FILL_MODE_UPPER;
  const Hermitian<T> a(random, n, ld, count, 0, lower), b(random, n, ld, 1, n, lower);
  const auto none = static_cast<T*>(nullptr);
  trnsolversyevjInfo_t params;
  trnsolverDnCreateSyevjInfo(&params);
  const Mem<R> w(n * count);
  const Mem<int> info(count);
  {
    const Mem<T> one(a.stored);
    TRN_OK(syevj<T>(h.h, kVectors, uplo, n, at(one), ld, at(w), none, 1, at(info), params));
    const auto v = matrix(one.get(), n, n, ld);
    EXPECT_LT(distance(a.exact[0] * v, scaled(v, w.get())), bound);
    EXPECT_LT(distance(op(2, v) * v, identity(n)), bound);
    double residual = -1;
    TRN_OK(trnsolverDnXsyevjGetResidual(h.h, params, &residual));
    EXPECT_NEAR(residual, static_cast<double>(distance(a.exact[0], scaled(v, w.get()) * op(2, v))),
                static_cast<double>(bound));
  }
  const Mem<T> all(a.stored);
  TRN_OK(syevjBatched<T>(h.h, kVectors, uplo, n, at(all), ld, at(w), none, 1, at(info), params, count));
  const auto values = w.get();
  EXPECT_EQ(info.get(), std::vector<int>(count));
  for (int k = 0; k < count; ++k) {
    const auto v = matrix(all.get(), n, n, ld, k * ld * n);
    const auto& exact = a.exact[static_cast<std::size_t>(k)];
    EXPECT_LT(distance(exact * v, scaled(v, values, k * n)), bound);
    EXPECT_LT(distance(op(2, v) * v, identity(n)), bound);
    EXPECT_TRUE(std::is_sorted(values.begin() + k * n, values.begin() + (k + 1) * n));
  }
  // A x = w B x, A B x = w x, B A x = w x; then those of a range.
  for (int type = 1; type <= 3; ++type) {
    const auto itype = static_cast<trnsolverEigType_t>(type);
    const auto& right = b.exact[0];
    const auto check = [&](const std::vector<T>& found, const std::vector<R>& eigenvalues, int columns) {
      const auto v = matrix(found, n, columns, ld);
      const auto& left = a.exact[0];
      const auto x = type == 1 ? left * v : type == 2 ? left * (right * v) : right * (left * v);
      EXPECT_LT(distance(x, scaled(type == 1 ? right * v : v, eigenvalues)), 20 * n * bound) << "type " << type;
    };
    const Mem<T> da(a.stored), db(b.stored);
    TRN_OK(sygvj<T>(h.h, itype, kVectors, uplo, n, at(da), ld, at(db), ld, at(w), none, 1, at(info), params));
    check(da.get(), w.get(), n);
    const auto eigenvalues = w.get();
    // A = U W U^H with U = B V or V; of the third type there is no residual.
    double residual = -1;
    const int status = trnsolverDnXsyevjGetResidual(h.h, params, &residual);
    EXPECT_EQ(status, type == 3 ? TRNSOLVER_STATUS_NOT_SUPPORTED : TRNSOLVER_STATUS_SUCCESS);
    if (type < 3) {
      const auto v = matrix(da.get(), n, n, ld), u = type == 1 ? right * v : v;
      EXPECT_NEAR(residual, static_cast<double>(distance(a.exact[0], scaled(u, eigenvalues) * op(2, u))),
                  static_cast<double>(20 * n * bound));
    }
    for (const auto range : {TRNSOLVER_EIG_RANGE_I, TRNSOLVER_EIG_RANGE_V}) {
      const Mem<T> ea(a.stored), eb(b.stored);
      const Mem<R> some(n);
      int found = -1;
      const R low = (eigenvalues[0] + eigenvalues[1]) / 2, high = (eigenvalues[4] + eigenvalues[5]) / 2;
      TRN_OK(sygvdx<T>(h.h, itype, kVectors, range, uplo, n, at(ea), ld, at(eb), ld, low, high, 2, 5, &found, at(some),
                       none, 1, at(info)));
      ASSERT_EQ(found, 4);
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_LE(std::abs(some.get()[k] - eigenvalues[k + 1]), 20 * static_cast<R>(bound));
      check(ea.get(), some.get(), 4);
    }
  }
  {  // B is not positive definite: nothing was found that could have a residual
    const Mem<T> da(a.stored), db(std::vector<T>(a.stored.size(), T(-1)));
    TRN_OK(sygvj<T>(h.h, TRNSOLVER_EIG_TYPE_1, kVectors, uplo, n, at(da), ld, at(db), ld, at(w), none, 1, at(info),
                    params));
    double residual = -1;
    EXPECT_EQ(info.get()[0], n + 1);
    EXPECT_EQ(trnsolverDnXsyevjGetResidual(h.h, params, &residual), TRNSOLVER_STATUS_NOT_SUPPORTED);
  }
  // Statuses.
  const auto refused = [&](trnsolverEigMode_t mode, int fill, int order, T* to, int lda, int batch) {
    EXPECT_EQ(syevjBatched<T>(h.h, mode, static_cast<trnblasFillMode_t>(fill), order, to, lda, at(w), none, 1, at(info),
                              params, batch),
              kInvalid);
  };
  auto own = a.stored;
  refused(trnsolverEigMode_t(9), 0, n, all, ld, count);
  refused(kVectors, 9, n, all, ld, count);
  refused(kVectors, 0, -1, all, ld, count);
  refused(kVectors, 0, n, all, n - 1, count);
  refused(kVectors, 0, n, own.data(), ld, count);
  refused(kVectors, 0, n, all, ld, count + 1);
  refused(kVectors, 0, n, all, ld, -1);
  trnsolverDnDestroySyevjInfo(params);
  refused(kVectors, 0, n, all, ld, count);
}
TEST(CSolverValues, JacobiAndGeneralised) {
  for_types([]<class T>(T) { hermitian<T>(true), hermitian<T>(false); });
}

TRN_ROW(trnsolverDn, gesvdj)
TRN_ROW(trnsolverDn, gesvdjBatched)
TRN_ROW(trnsolverDn, gesvdaStridedBatched)
template <class T> void singular(int m, int n) {
  using R = typename Real<T>::type;
  const Handle h;
  Random random(22);
  constexpr int count = 2;
  const int k = std::min(m, n), lda = m + 1, ldu = m + 2, ldv = n + 1, rank = 3;
  const long double bound = 60 * kUnit<T> * (m + n);
  const auto none = static_cast<T*>(nullptr);
  const auto a = random.numbers<T>(lda * n * count);
  const auto sized = [](int x) { return static_cast<std::size_t>(x); };
  const Mem<T> u(sized(ldu * m * count)), v(sized(ldv * n * count));
  const Mem<R> s(sized(k * count));
  const Mem<int> info(count);
  trnsolvergesvdjInfo_t params;
  trnsolverDnCreateGesvdjInfo(&params);
  const auto check = [&](int which, int u_from, int v_from, int columns, int other, int kept, long double off) {
    const auto exact = matrix(a, m, n, lda, which * lda * n);
    const auto left = matrix(u.get(), m, columns, ldu, u_from), right = matrix(v.get(), n, other, ldv, v_from);
    EXPECT_LT(distance(op(2, left) * left, identity(columns)), bound);
    EXPECT_LT(distance(op(2, right) * right, identity(other)), bound);
    const auto us = scaled(matrix(u.get(), m, kept, ldu, u_from), s.get(), which * (kept == k ? k : rank));
    EXPECT_NEAR(static_cast<double>(distance(exact, us * op(2, matrix(v.get(), n, kept, ldv, v_from)))),
                static_cast<double>(off), static_cast<double>(bound));
  };
  const Mem<T> da(a);
  for (const int econ : {0, 1}) {
    TRN_OK(gesvdj<T>(h.h, kVectors, econ, m, n, at(da), lda, at(s), at(u), ldu, at(v), ldv, none, 1, at(info), params));
    check(0, 0, 0, econ ? k : m, econ ? k : n, k, 0);
    double residual = -1;
    TRN_OK(trnsolverDnXgesvdjGetResidual(h.h, params, &residual));
    EXPECT_LT(residual, static_cast<double>(bound));
  }
  const auto novector = TRNSOLVER_EIG_MODE_NOVECTOR;
  TRN_OK(gesvdjBatched<T>(h.h, kVectors, m, n, at(da), lda, at(s), at(u), ldu, at(v), ldv, none, 1, at(info), params,
                          count));
  for (int i = 0; i < count; ++i) check(i, i * ldu * m, i * ldv * n, m, n, k, 0);
  const auto all = s.get();
  TRN_OK(gesvdjBatched<T>(h.h, novector, m, n, at(da), lda, at(s), none, ldu, none, ldv, none, 1, at(info), params,
                          count));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_LE(std::abs(s.get()[i] - all[i]), static_cast<R>(bound));
  double residuals[count] = {};
  const auto approximate = [&](int r, int batch, trnsolverEigMode_t mode) {
    return gesvdaStridedBatched<T>(h.h, mode, r, m, n, static_cast<const T*>(da), lda, static_cast<long long>(lda * n),
                                   at(s), static_cast<long long>(r), at(u), ldu, static_cast<long long>(ldu * r), at(v),
                                   ldv, static_cast<long long>(ldv * r), none, 1, at(info), residuals, batch);
  };
  TRN_OK(approximate(rank, count, kVectors));
  for (int i = 0; i < count; ++i) {
    long double left_out = 0;
    for (int j = rank; j < k; ++j) left_out += std::norm(wide(all[sized(i * k + j)]));
    EXPECT_NEAR(residuals[i], static_cast<double>(std::sqrt(left_out)), static_cast<double>(bound));
    check(i, i * ldu * rank, i * ldv * rank, rank, rank, rank, std::sqrt(left_out));
  }
  EXPECT_EQ(approximate(k + 1, count, kVectors), kInvalid);
  EXPECT_EQ(approximate(rank, -1, kVectors), kInvalid);
  EXPECT_EQ(approximate(rank, count, trnsolverEigMode_t(5)), kInvalid);
  EXPECT_EQ(gesvdj<T>(h.h, kVectors, 0, m, n, at(da), lda, at(s), at(u), m - 1, at(v), ldv, none, 1, at(info), params),
            kInvalid);
  trnsolverDnDestroyGesvdjInfo(params);
  EXPECT_EQ(gesvdj<T>(h.h, kVectors, 0, m, n, at(da), lda, at(s), at(u), ldu, at(v), ldv, none, 1, at(info), params),
            kInvalid);
}
TEST(CSolverValues, SingularTriples) {
  for_types([]<class T>(T) { singular<T>(6, 4), singular<T>(4, 6); });
}
TEST(CSolverValues, SingularTriplesOnADevice) {
  const On device("sim:trn2");
  singular<float>(6, 4), singular<float>(4, 6);
}

// A V = V W and U^H A = W U^H in complex results; real ones are packed: see variants_test.cpp.
template <class T> void any_square() {
  using R = typename Real<T>::type;
  using Z = std::complex<R>;
  const Handle h;
  Random random(23);
  constexpr int n = 7, ld = 8;
  const auto a = random.numbers<T>(ld * n);
  const Mem<T> da(a);
  const Mem<Z> w(n), left(ld * n), right(ld * n);
  const Mem<int> info(1);
  const auto solve = [&](trnDataType type_w, int order, int ldv) {
    return trnsolverDnXgeev(h.h, nullptr, kVectors, kVectors, order, kData<T>, da, ld, type_w, w, kData<Z>, left, ldv,
                            kData<Z>, right, ldv, kData<T>, nullptr, 0, nullptr, 0, info);
  };
  EXPECT_EQ(solve(TRN_R_8I, n, ld), kInvalid);
  EXPECT_EQ(solve(kData<Z>, -1, ld), kInvalid);
  EXPECT_EQ(solve(kData<Z>, n, n - 1), kInvalid);
  EXPECT_EQ(solve(kData<Z>, n + 2, ld + 2), kInvalid);
  EXPECT_EQ(da.get(), a) << "what is refused is not written";
  TRN_OK(solve(kData<Z>, n, ld));
  EXPECT_EQ(info.get()[0], 0);
  const auto exact = matrix(a, n, n, ld), v = matrix(right.get(), n, n, ld), u = matrix(left.get(), n, n, ld);
  auto conjugate = w.get();
  for (Z& z : conjugate) z = std::conj(z);
  const long double bound = 200 * kUnit<T> * n;
  EXPECT_LT(distance(exact * v, scaled(v, w.get())), bound);
  EXPECT_LT(distance(op(2, exact) * u, scaled(u, conjugate)), bound);
  for (int j = 0; j < n; ++j) {
    long double size = 0;
    for (int i = 0; i < n; ++i) size += std::norm(v(i, j));
    EXPECT_NEAR(static_cast<double>(size), 1, 1e-5);
  }
}
TEST(CSolverValues, AnySquareMatrix) {
  for_types([]<class T>(T) { any_square<T>(); });
}

template <class T> void ranges(bool lower) {
  using R = typename Real<T>::type;
  const Handle h;
  Random random(24);
  constexpr int n = 7, ld = 9;
  const Hermitian<T> a(random, n, ld, 1, 0, lower);
  const auto uplo = lower ? TRNBLAS_FILL_MODE_LOWER : TRNBLAS_FILL_MODE_UPPER;
  const long double bound = 60 * kUnit<T> * n;
  const Mem<int> info(1);
  std::vector<R> all;
  R low = 0, high = 0;
  for (const auto range : {TRNSOLVER_EIG_RANGE_ALL, TRNSOLVER_EIG_RANGE_I, TRNSOLVER_EIG_RANGE_V}) {
    const Mem<T> da(a.stored);
    const Mem<R> w(n);
    std::int64_t found = -1;
    const auto solve = [&](int mode, std::int64_t from, void* vl) {
      return trnsolverDnXsyevdx(h.h, nullptr, kVectors, static_cast<trnsolverEigRange_t>(mode), uplo, n, kData<T>, da,
                                ld, vl, &high, from, 4, &found, kReal<T>, w, kData<T>, nullptr, 0, nullptr, 0, info);
    };
    EXPECT_EQ(solve(7, 3, &low), kInvalid);
    EXPECT_EQ(solve(TRNSOLVER_EIG_RANGE_I, 0, &low), kInvalid);
    EXPECT_EQ(solve(TRNSOLVER_EIG_RANGE_V, 3, nullptr), kInvalid);
    TRN_OK(solve(range, 3, &low));
    const bool some = range != TRNSOLVER_EIG_RANGE_ALL;
    ASSERT_EQ(found, some ? 2 : n);
    const auto v = matrix(da.get(), n, static_cast<int>(found), ld);
    EXPECT_LT(distance(a.exact[0] * v, scaled(v, w.get())), bound);
    EXPECT_LT(distance(op(2, v) * v, identity(static_cast<int>(found))), bound);
    if (!some) all = w.get(), low = (all[1] + all[2]) / 2, high = (all[3] + all[4]) / 2;
    for (std::size_t k = 0; some && k < 2; ++k) EXPECT_LE(std::abs(w.get()[k] - all[k + 2]), static_cast<R>(bound));
  }
}
TEST(CSolverValues, RangesOfEigenvalues) {
  for_types([]<class T>(T) { ranges<T>(true), ranges<T>(false); });
}

// All eighteen names; A and B stay.
template <class T, class F> void mixed(const F& row) {
  const Handle h;
  Random random(25);
  constexpr int n = 6, k = 2, ld = 7;
  const auto a = random.numbers<T>(ld * n), b = random.numbers<T>(ld * k);
  const Mem<T> da(a), db(b), x(ld * k);
  const Mem<int> pivots(n), info(1);
  const auto solve = [&](int order, int lda, T* to, int* steps) {
    return row(h.h, order, k, plain(at(da)), lda, at(pivots), plain(at(db)), ld, plain(to), ld,
               static_cast<void*>(nullptr), std::size_t(0), steps, at(info));
  };
  int steps = -1;
  TRN_OK(solve(n, ld, x, &steps));
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(info.get()[0], 0);
  EXPECT_EQ(da.get(), a);
  EXPECT_EQ(db.get(), b);
  const auto got = matrix(x.get(), n, k, ld);
  long double largest = 1;
  for (const Wide& z : got.x) largest = std::max(largest, std::abs(z));
  EXPECT_LT(distance(matrix(a, n, n, ld) * got, matrix(b, n, k, ld)), 40 * kUnit<T> * n * largest);
  const std::vector<T> zeros(ld * n);
  trnMemcpy(da, zeros.data(), zeros.size() * sizeof(T), trnMemcpyHostToDevice);
  TRN_OK(solve(n, ld, x, &steps));
  EXPECT_EQ(info.get()[0], 1);  // the first pivot is zero
  std::vector<T> own(ld * k);
  EXPECT_EQ(solve(n, ld, own.data(), &steps), kInvalid);
  EXPECT_EQ(solve(n, n - 1, x, &steps), kInvalid);
  EXPECT_EQ(solve(-1, ld, x, &steps), kInvalid);
  EXPECT_EQ(solve(n, ld, x, nullptr), kInvalid);
}
TEST(CSolverValues, NamesOfMixedPrecision) {
  for (const auto row : {trnsolverDnSSgesv, trnsolverDnSHgesv, trnsolverDnSBgesv, trnsolverDnSXgesv}) mixed<float>(row);
  for (const auto row : {trnsolverDnDDgesv, trnsolverDnDSgesv, trnsolverDnDHgesv, trnsolverDnDBgesv, trnsolverDnDXgesv})
    mixed<double>(row);
  for (const auto row : {trnsolverDnCCgesv, trnsolverDnCEgesv, trnsolverDnCKgesv, trnsolverDnCYgesv})
    mixed<std::complex<float>>(row);
  for (const auto row : {trnsolverDnZZgesv, trnsolverDnZCgesv, trnsolverDnZKgesv, trnsolverDnZEgesv, trnsolverDnZYgesv})
    mixed<std::complex<double>>(row);
}

// The same by parameters, which say the type; nothing is refined.
template <class T> void by_parameters(trnsolverPrecType_t main, trnsolverPrecType_t lowest) {
  trnsolverDnIRSParams_t params = nullptr;
  trnsolverDnIRSInfos_t infos = nullptr;
  EXPECT_EQ(trnsolverDnIRSParamsCreate(nullptr), kInvalid);
  TRN_OK(trnsolverDnIRSParamsCreate(&params));
  TRN_OK(trnsolverDnIRSInfosCreate(&infos));
  const auto solve = [&](auto handle, int n, int k, auto* a, int lda, int*, auto* b, int ldb, auto* x, int ldx,
                         void* work, std::size_t bytes, int* steps, int* info) {
    return trnsolverDnIRSXgesv(handle, params, infos, n, k, a, lda, b, ldb, x, ldx, work, bytes, steps, info);
  };
  const Handle h;
  const Mem<T> a(std::vector<T>{T(2)}), b(std::vector<T>{T(6)}), x(1);
  const Mem<int> info(1);
  int count = -1;
  const auto one = [&] {
    return solve(h.h, 1, 1, at(a), 1, nullptr, at(b), 1, at(x), 1, nullptr, 0, &count, at(info));
  };
  EXPECT_EQ(one(), kInvalid);  // no precision
  TRN_OK(trnsolverDnIRSParamsSetSolverPrecisions(params, main, lowest));
  EXPECT_EQ(one(), kInvalid);  // no refinement
  EXPECT_EQ(trnsolverDnIRSParamsSetRefinementSolver(params, static_cast<trnsolverIRSRefinement_t>(1099)), kInvalid);
  TRN_OK(trnsolverDnIRSParamsSetRefinementSolver(params, TRNSOLVER_IRS_REFINE_GMRES));
  TRN_OK(trnsolverDnIRSInfosGetNiters(infos, &count));
  EXPECT_EQ(count, -1);  // none yet
  TRN_OK(one());
  EXPECT_EQ(x.get()[0], T(3));
  mixed<T>(solve);
  TRN_OK(trnsolverDnIRSInfosGetOuterNiters(infos, &count));
  EXPECT_EQ(count, 0);
  TRN_OK(trnsolverDnIRSParamsSetMaxIters(params, 7));
  TRN_OK(one());
  TRN_OK(trnsolverDnIRSParamsGetMaxIters(params, &count));
  EXPECT_EQ(count, 7);
  TRN_OK(trnsolverDnIRSInfosGetMaxIters(infos, &count));
  EXPECT_EQ(count, 7);
  std::size_t bytes = 0;
  TRN_OK(trnsolverDnIRSXgesv_bufferSize(h.h, params, 5, 2, &bytes));
  EXPECT_GT(bytes, 0U);
  EXPECT_EQ(trnsolverDnIRSXgesv_bufferSize(h.h, params, -1, 2, &bytes), kInvalid);
  void* history = &bytes;
  TRN_OK(trnsolverDnIRSInfosRequestResidual(infos));
  EXPECT_EQ(trnsolverDnIRSInfosGetResidualHistory(infos, &history), TRNSOLVER_STATUS_NOT_SUPPORTED);
  for (const double tolerance : {1e-9, -1.0})
    for (const auto set : {trnsolverDnIRSParamsSetTol, trnsolverDnIRSParamsSetTolInner})
      EXPECT_EQ(set(params, tolerance), tolerance < 0 ? kInvalid : TRNSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(trnsolverDnIRSParamsSetMaxItersInner(params, -1), kInvalid);
  EXPECT_EQ(trnsolverDnIRSParamsSetSolverLowestPrecision(params, static_cast<trnsolverPrecType_t>(1210)), kInvalid);
  TRN_OK(trnsolverDnIRSParamsSetSolverMainPrecision(params, TRNSOLVER_R_16F));
  EXPECT_EQ(one(), TRNSOLVER_STATUS_NOT_SUPPORTED);
  TRN_OK(trnsolverDnIRSParamsEnableFallback(params));
  TRN_OK(trnsolverDnIRSParamsDestroy(params));
  EXPECT_EQ(trnsolverDnIRSParamsDestroy(params), kInvalid);
  EXPECT_EQ(trnsolverDnIRSParamsDisableFallback(params), kInvalid);
  TRN_OK(trnsolverDnIRSInfosDestroy(infos));
}
TEST(CSolverValues, RefinementByParameters) {
  by_parameters<float>(TRNSOLVER_R_32F, TRNSOLVER_R_16BF);
  by_parameters<double>(TRNSOLVER_R_64F, TRNSOLVER_R_16F);
  by_parameters<std::complex<float>>(TRNSOLVER_C_32F, TRNSOLVER_C_TF32);
  by_parameters<std::complex<double>>(TRNSOLVER_C_64F, TRNSOLVER_C_32F);
}

}  // namespace

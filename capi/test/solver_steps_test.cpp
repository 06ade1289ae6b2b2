// cuSOLVER's symmetric factors and the steps inside of factorisations by their numbers, in four element types: factors
// multiplied out in long double, solves, inverses, exchanges of rows, reflections, batches; statuses.
#include <trnsolver.h>

#include <algorithm>

#include "typed.hpp"

namespace {

using namespace capi_test;
constexpr auto kOk = TRNSOLVER_STATUS_SUCCESS;
constexpr auto kInvalid = TRNSOLVER_STATUS_INVALID_VALUE;
#define TRN_OK(call) ASSERT_EQ((call), kOk) << trnGetLastErrorText()

TRN_ROW(trnsolverDn, sytrf)
TRN_ROW(trnsolverDn, sytrf_bufferSize)
TRN_ROW(trnsolverDn, sytri)
TRN_ROW(trnsolverDn, sytri_bufferSize)
TRN_ROW(trnsolverDn, lauum)
TRN_ROW(trnsolverDn, lauum_bufferSize)
TRN_ROW(trnsolverDn, laswp)

struct Handle {
  Handle() { EXPECT_EQ(trnsolverDnCreate(&h), kOk); }
  ~Handle() { trnsolverDnDestroy(h); }
  trnsolverDnHandle_t h = nullptr;
};
template <class T> T* at(const Mem<T>& m) { return m; }
std::size_t place(int i) { return static_cast<std::size_t>(i); }
template <class T> constexpr trnDataType kType = std::is_same_v<T, float>                 ? TRN_R_32F
                                                 : std::is_same_v<T, double>              ? TRN_R_64F
                                                 : std::is_same_v<T, std::complex<float>> ? TRN_C_32F
                                                                                          : TRN_C_64F;
template <class F> void for_types(F f) {
  f(float());
  f(double());
  f(std::complex<float>());
  f(std::complex<double>());
}

// A = A^T with a zero diagonal, so that every block of D is 2 x 2 or pivoting is needed.
template <class T> void symmetric(bool lower) {
  const Handle h;
  Random random(61);
  constexpr int n = 8, ld = 10, columns = 3;
  const auto uplo = lower ? TRNBLAS_FILL_MODE_LOWER : TRNBLAS_FILL_MODE_UPPER;
  const long double bound = 200 * kUnit<T> * n;
  std::vector<Wide> exact(n * n);
  std::vector<T> stored(place(ld * n), T(NAN));  // the other triangle is not read
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const T x = i == j ? T(0) : random.number<T>();
      exact[place(i + j * n)] = exact[place(j + i * n)] = wide(x);
      stored[place(lower ? i + j * ld : j + i * ld)] = x;
    }
  const Mem<T> a(stored), work(1);
  const Mem<int> pivots(n), info(std::vector<int>{7});
  int size = 0;
  TRN_OK(sytrf_bufferSize<T>(h.h, n, at(a), ld, &size));
  EXPECT_GE(size, 1);
  TRN_OK(sytrf<T>(h.h, uplo, n, at(a), ld, at(pivots), at(work), 1, at(info)));
  EXPECT_EQ(info.get(), std::vector<int>{0});
  bool pair = false;
  for (const int p : pivots.get()) {
    EXPECT_TRUE(p != 0 && std::abs(p) <= n);
    pair = pair || p < 0;
  }
  EXPECT_TRUE(pair);
  std::vector<std::int64_t> rows;
  for (const int p : pivots.get()) rows.push_back(p);
  const Mem<std::int64_t> wide_pivots(rows);
  const auto start = random.numbers<T>(n * columns);
  const Mem<T> b(start);
  std::size_t bytes = 0, host_bytes = 0;
  TRN_OK(trnsolverDnXsytrs_bufferSize(h.h, uplo, n, columns, kType<T>, at(a), ld, at(wide_pivots), kType<T>, at(b), n,
                                      &bytes, &host_bytes));
  TRN_OK(trnsolverDnXsytrs(h.h, uplo, n, columns, kType<T>, at(a), ld, at(wide_pivots), kType<T>, at(b), n, at(work),
                           bytes, nullptr, 0, at(info)));
  const auto x = b.get();
  for (int j = 0; j < columns; ++j) {
    long double off = 0, most = 0;
    for (int i = 0; i < n; ++i) {
      Wide sum = -wide(start[place(i + j * n)]);
      for (int k = 0; k < n; ++k) sum += exact[place(i + k * n)] * wide(x[place(k + j * n)]);
      off = std::max(off, std::abs(sum)), most = std::max(most, std::abs(wide(x[place(i + j * n)])));
    }
    EXPECT_LT(off, bound * n * most);
  }
  TRN_OK(sytri_bufferSize<T>(h.h, uplo, n, at(a), ld, at(pivots), &size));
  TRN_OK(sytri<T>(h.h, uplo, n, at(a), ld, at(pivots), at(work), size, at(info)));
  const auto made = a.get();
  const auto inverse = [&](int i, int j) {
    const int high = std::max(i, j), low = std::min(i, j);
    return wide(made[place(lower ? high + low * ld : low + high * ld)]);
  };
  long double largest = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(inverse(i, j)));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      Wide sum = i == j ? -1 : 0;
      for (int k = 0; k < n; ++k) sum += inverse(i, k) * exact[place(k + j * n)];
      EXPECT_LT(std::abs(sum), bound * n * largest);
    }
  // Singular: info is the place of the zero.
  const Mem<T> zero(std::vector<T>(n * n, T(0)));
  TRN_OK(sytrf<T>(h.h, uplo, n, at(zero), n, at(pivots), at(work), 1, at(info)));
  EXPECT_EQ(info.get(), std::vector<int>{lower ? 1 : n});
  EXPECT_EQ(sytrf<T>(h.h, uplo, n, at(a), n - 1, at(pivots), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(sytrf<T>(h.h, uplo, -1, at(a), ld, at(pivots), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(sytrf<T>(h.h, trnblasFillMode_t(9), n, at(a), ld, at(pivots), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(sytrf<T>(h.h, uplo, n, at(a), ld, static_cast<int*>(nullptr), at(work), 1, at(info)),
            TRNSOLVER_STATUS_NOT_SUPPORTED);
  const Mem<int> wrong(std::vector<int>(n, 0));
  EXPECT_EQ(sytri<T>(h.h, uplo, n, at(a), ld, at(wrong), at(work), 1, at(info)), kInvalid);
  TRN_OK(sytrf<T>(h.h, uplo, 0, at(a), 1, at(pivots), at(work), 1, at(info)));
}
TEST(CSolverSteps, SymmetricFactors) {
  for (const bool lower : {true, false}) for_types([&](auto x) { symmetric<decltype(x)>(lower); });
}

TEST(CSolverSteps, TriangleTimesAdjoint) {
  for_types([](auto kind) {
    using T = decltype(kind);
    const Handle h;
    Random random(62);
    constexpr int n = 6, ld = 7;
    auto start = random.numbers<T>(ld * n);
    for (int i = 0; i < n; ++i) start[place(i + i * ld)] = T(std::real(start[place(i + i * ld)]));
    const Mem<T> a(start), work(1);
    const Mem<int> info(1);
    int size = 0;
    TRN_OK(lauum_bufferSize<T>(h.h, TRNBLAS_FILL_MODE_LOWER, n, at(a), ld, &size));
    TRN_OK(lauum<T>(h.h, TRNBLAS_FILL_MODE_LOWER, n, at(a), ld, at(work), size, at(info)));
    EXPECT_EQ(info.get(), std::vector<int>{0});
    const auto made = a.get();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const T found = made[place(i + j * ld)];
        if (j > i) {
          EXPECT_EQ(found, start[place(i + j * ld)]);  // the other triangle
          continue;
        }
        Wide sum = 0;
        for (int k = i; k < n; ++k) sum += std::conj(wide(start[place(k + i * ld)])) * wide(start[place(k + j * ld)]);
        EXPECT_LT(std::abs(wide(found) - sum), 20 * n * kUnit<T>);
      }
    EXPECT_EQ(lauum<T>(h.h, TRNBLAS_FILL_MODE_LOWER, n, at(a), n - 1, at(work), 1, at(info)), kInvalid);
  });
}

TEST(CSolverSteps, RowsAreExchanged) {
  for_types([](auto kind) {
    using T = decltype(kind);
    const Handle h;
    Random random(63);
    constexpr int ld = 6, n = 3;
    const auto start = random.numbers<T>(ld * n);
    auto expected = start;
    // Rows 2 and 3 with rows 5 and 4; every second number of the list counts.
    for (int j = 0; j < n; ++j)
      std::swap(expected[place(1 + j * ld)], expected[place(4 + j * ld)]),
          std::swap(expected[place(2 + j * ld)], expected[place(3 + j * ld)]);
    const Mem<T> a(start);
    const Mem<int> pivots(std::vector<int>{77, 5, 78, 4});
    TRN_OK(laswp<T>(h.h, n, at(a), ld, 2, 3, at(pivots), 2));
    EXPECT_EQ(a.get(), expected);
    TRN_OK(laswp<T>(h.h, n, at(a), ld, 2, 3, at(pivots), -2));
    EXPECT_EQ(a.get(), start);
    EXPECT_EQ(laswp<T>(h.h, n, at(a), ld, 1, 2, at(pivots), 1), kInvalid);  // 77 is beyond lda
    EXPECT_EQ(laswp<T>(h.h, n, at(a), ld, 0, 2, at(pivots), 2), kInvalid);
    EXPECT_EQ(laswp<T>(h.h, n, at(a), ld, 2, 3, at(pivots), 0), kInvalid);
    TRN_OK(laswp<T>(h.h, n, at(a), ld, 2, 1, at(pivots), 1));
  });
}

// H(0) H(1) = I - V T V^H.
TEST(CSolverSteps, FactorOfReflections) {
  for_types([](auto kind) {
    using T = decltype(kind);
    const Handle h;
    Random random(64);
    constexpr int n = 5, k = 2, ld = 6;
    const auto v = random.numbers<T>(ld * k);
    const auto at_v = [&](int i, int p) { return i < p ? Wide(0) : i == p ? Wide(1) : wide(v[place(i + p * ld)]); };
    std::vector<T> tau;
    for (int p = 0; p < k; ++p) {
      long double square = 0;
      for (int i = 0; i < n; ++i) square += std::norm(at_v(i, p));
      tau.push_back(T(static_cast<typename Real<T>::type>(2 / square)));
    }
    const Mem<T> vectors(v), factors(tau), t(k * k);
    trnsolverDnParams_t params = nullptr;
    std::size_t bytes = 0, host_bytes = 0;
    TRN_OK(trnsolverDnXlarft_bufferSize(h.h, params, TRNBLAS_DIRECT_FORWARD, TRNBLAS_STOREV_COLUMNWISE, n, k, kType<T>,
                                        at(vectors), ld, kType<T>, at(factors), kType<T>, at(t), k, kType<T>, &bytes,
                                        &host_bytes));
    TRN_OK(trnsolverDnXlarft(h.h, params, TRNBLAS_DIRECT_FORWARD, TRNBLAS_STOREV_COLUMNWISE, n, k, kType<T>,
                             at(vectors), ld, kType<T>, at(factors), kType<T>, at(t), k, kType<T>, nullptr, 0, nullptr,
                             0));
    const auto made = t.get();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        Wide direct = i == j ? 1 : 0, blocked = direct;
        Wide inner = 0;
        for (int x = 0; x < n; ++x) inner += std::conj(at_v(x, 0)) * at_v(x, 1);
        const Wide t0 = wide(tau[0]), t1 = wide(tau[1]);
        direct += -t0 * at_v(i, 0) * std::conj(at_v(j, 0)) - t1 * at_v(i, 1) * std::conj(at_v(j, 1)) +
                  t0 * t1 * at_v(i, 0) * inner * std::conj(at_v(j, 1));
        for (int p = 0; p < k; ++p)
          for (int q = p; q < k; ++q) blocked -= at_v(i, p) * wide(made[place(p + q * k)]) * std::conj(at_v(j, q));
        EXPECT_LT(std::abs(direct - blocked), 60 * n * kUnit<T>);
      }
    EXPECT_EQ(
        trnsolverDnXlarft(h.h, params, trnsolverDirectMode_t(2), TRNBLAS_STOREV_COLUMNWISE, n, k, kType<T>, at(vectors),
                          ld, kType<T>, at(factors), kType<T>, at(t), k, kType<T>, nullptr, 0, nullptr, 0),
        kInvalid);
    EXPECT_EQ(
        trnsolverDnXlarft(h.h, params, TRNBLAS_DIRECT_FORWARD, TRNBLAS_STOREV_COLUMNWISE, 1, k, kType<T>, at(vectors),
                          ld, kType<T>, at(factors), kType<T>, at(t), k, kType<T>, nullptr, 0, nullptr, 0),
        kInvalid);  // two reflections of one element
  });
}

TEST(CSolverSteps, BatchesOfEigenproblems) {
  for_types([](auto kind) {
    using T = decltype(kind);
    using R = typename capi_test::Real<T>::type;
    const Handle h;
    Random random(65);
    constexpr int n = 5, ld = 6, count = 3;
    auto start = random.numbers<T>(ld * n * count);
    for (int p = 0; p < count; ++p)
      for (int i = 0; i < n; ++i)
        start[place(p * ld * n + i + i * ld)] = T(std::real(start[place(p * ld * n + i + i * ld)]));
    const Mem<T> a(start), work(1);
    const Mem<R> w(n * count);
    const Mem<int> info(std::vector<int>(count, 7));
    std::size_t bytes = 0, host_bytes = 0;
    trnsolverDnParams_t params = nullptr;
    const trnDataType values = sizeof(R) == 4 ? TRN_R_32F : TRN_R_64F;
    TRN_OK(trnsolverDnXsyevBatched_bufferSize(h.h, params, TRNSOLVER_EIG_MODE_VECTOR, TRNBLAS_FILL_MODE_LOWER, n,
                                              kType<T>, at(a), ld, values, at(w), kType<T>, &bytes, &host_bytes,
                                              count));
    TRN_OK(trnsolverDnXsyevBatched(h.h, params, TRNSOLVER_EIG_MODE_VECTOR, TRNBLAS_FILL_MODE_LOWER, n, kType<T>, at(a),
                                   ld, values, at(w), kType<T>, at(work), bytes, nullptr, 0, at(info), count));
    EXPECT_EQ(info.get(), std::vector<int>(count, 0));
    for (int p = 0; p < count; ++p) {
      const auto given = [&](int i, int j) {
        const Wide x = wide(start[place(p * ld * n + std::max(i, j) + std::min(i, j) * ld)]);
        return i >= j ? x : std::conj(x);
      };
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          const auto v = [&](int r) { return wide(a.get()[place(p * ld * n + r + j * ld)]); };
          Wide sum = -v(i) * Wide(static_cast<long double>(w.get()[place(p * n + j)]));
          for (int k = 0; k < n; ++k) sum += given(i, k) * v(k);
          EXPECT_LT(std::abs(sum), 60 * n * kUnit<T>);
        }
    }
    EXPECT_EQ(trnsolverDnXsyevBatched(h.h, params, TRNSOLVER_EIG_MODE_VECTOR, TRNBLAS_FILL_MODE_LOWER, n, kType<T>,
                                      at(a), ld, values, at(w), kType<T>, at(work), bytes, nullptr, 0, at(info), -1),
              kInvalid);
    EXPECT_EQ(trnsolverDnXsyevBatched(h.h, params, trnsolverEigMode_t(5), TRNBLAS_FILL_MODE_LOWER, n, kType<T>, at(a),
                                      ld, values, at(w), kType<T>, at(work), bytes, nullptr, 0, at(info), count),
              kInvalid);
  });
}

}  // namespace

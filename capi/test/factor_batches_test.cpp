// cuBLAS's batches: factorisations and matrix-vector products, of four types, and the copying Ex routines, against
// products in long double.
#include <trnblas.h>

#include "typed.hpp"

namespace {

using capi_test::Dense, capi_test::Mem, capi_test::On, capi_test::Random, capi_test::Sum, capi_test::wide,
    capi_test::kUnit;
using capi_test::Wide;

TRN_ROW(trnblas, getrfBatched)
TRN_ROW(trnblas, getrsBatched)
TRN_ROW(trnblas, getriBatched)
TRN_ROW(trnblas, matinvBatched)
TRN_ROW(trnblas, geqrfBatched)
TRN_ROW(trnblas, gelsBatched)
TRN_ROW(trnblas, gemvBatched)
TRN_ROW(trnblas, gemvStridedBatched)

// The rows take arrays of addresses in device memory, in C's types.
template <class T> auto c_list(const Mem<T*>& m) {
  if constexpr (std::is_same_v<T, std::complex<float>>)
    return reinterpret_cast<trnComplex**>(static_cast<T**>(m));
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return reinterpret_cast<trnDoubleComplex**>(static_cast<T**>(m));
  else
    return static_cast<T**>(m);
}
template <class T> auto const_list(const Mem<T*>& m) {
  auto* const list = c_list(m);
  using Element = std::remove_pointer_t<std::remove_pointer_t<decltype(list)>>;
  return static_cast<const Element* const*>(const_cast<const Element**>(list));
}

template <class T> class Batched : public testing::Test {
 protected:
  static constexpr int kCount = 5;
  void SetUp() override { ASSERT_EQ(trnblasCreate(&handle), 0); }
  void TearDown() override { trnblasDestroy(handle); }
  // Column-major matrices with a strong diagonal, one behind the other.
  static std::vector<T> matrices(Random& random, int m, int n) {
    auto all = random.numbers<T>(m * n * kCount);
    for (int p = 0; p < kCount; ++p)
      for (int i = 0; i < std::min(m, n); ++i) all[at(p * m * n + i * m + i)] += T(4);
    return all;
  }
  static Mem<T*> list(T* first, int step) {
    std::vector<T*> addresses;
    for (int p = 0; p < kCount; ++p) addresses.push_back(first + p * step);
    return Mem<T*>(addresses);
  }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  // |A X - B| within units of |A||X| + |B|; A is m x n and op is N or T.
  static void expect_product(const std::vector<T>& a, const std::vector<T>& x, const std::vector<T>& b, int m, int n,
                             int columns, bool turned, long double units) {
    const int rows = turned ? n : m, inner = turned ? m : n;
    for (int p = 0; p < kCount; ++p)
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
          Sum sum;
          for (int k = 0; k < inner; ++k)
            sum.add(wide(a[at(p * m * n + (turned ? i * m + k : k * m + i))]) *
                    wide(x[at(p * inner * columns + j * inner + k)]));
          sum.expect(b[at(p * rows * columns + j * rows + i)], units);
        }
  }
  trnblasHandle_t handle = nullptr;
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Batched, Types);

TYPED_TEST(Batched, LuSolvesAndInverts) {
  using T = TypeParam;
  constexpr int n = 7, nrhs = 3, count = Batched<T>::kCount;
  Random random(11);
  auto a = this->matrices(random, n, n);
  for (int i = 0; i < n; ++i) std::swap(a[this->at(i)], a[this->at(n + i)]);  // rows have to be exchanged
  const auto b = random.numbers<T>(n * nrhs * count);
  const Mem<T> ma(a), mb(b), inverse(a.size());
  const auto la = this->list(ma, n * n), lb = this->list(mb, n * nrhs), lc = this->list(inverse, n * n);
  const Mem<int> pivots(n * count), infos(std::vector<int>(count, 9));
  int info = 9;
  ASSERT_EQ(
      getrfBatched<T>(this->handle, n, c_list<T>(la), n, static_cast<int*>(pivots), static_cast<int*>(infos), count), 0)
      << trnGetLastErrorText();
  EXPECT_EQ(infos.get(), std::vector<int>(count, 0));
  for (const int p : pivots.get()) EXPECT_TRUE(p >= 1 && p <= n);
  ASSERT_EQ(getrsBatched<T>(this->handle, TRNBLAS_OP_N, n, nrhs, const_list<T>(la), n, static_cast<const int*>(pivots),
                            c_list<T>(lb), n, &info, count),
            0)
      << trnGetLastErrorText();
  EXPECT_EQ(info, 0);
  this->expect_product(a, mb.get(), b, n, n, nrhs, false, 200);
  ASSERT_EQ(getriBatched<T>(this->handle, n, const_list<T>(la), n, static_cast<const int*>(pivots), c_list<T>(lc), n,
                            static_cast<int*>(infos), count),
            0)
      << trnGetLastErrorText();
  std::vector<T> unit(a.size());
  for (int p = 0; p < count; ++p)
    for (int i = 0; i < n; ++i) unit[this->at(p * n * n + i * n + i)] = T(1);
  this->expect_product(a, inverse.get(), unit, n, n, n, false, 400);
  // The same at once, of the matrices themselves.
  const Mem<T> again(a), other(a.size());
  const auto from = this->list(again, n * n), to = this->list(other, n * n);
  ASSERT_EQ(
      matinvBatched<T>(this->handle, n, const_list<T>(from), n, c_list<T>(to), n, static_cast<int*>(infos), count), 0)
      << trnGetLastErrorText();
  this->expect_product(a, other.get(), unit, n, n, n, false, 400);
}

TYPED_TEST(Batched, WithoutPivots) {
  using T = TypeParam;
  constexpr int n = 4, count = Batched<T>::kCount;
  Random random(12);
  const auto a = this->matrices(random, n, n), b = random.numbers<T>(n * count);
  const Mem<T> ma(a), mb(b);
  const auto la = this->list(ma, n * n), lb = this->list(mb, n);
  const Mem<int> infos(std::vector<int>(count, 9));
  int info = 9;
  const int* const none = nullptr;
  ASSERT_EQ(getrfBatched<T>(this->handle, n, c_list<T>(la), n, const_cast<int*>(none), static_cast<int*>(infos), count),
            0);
  EXPECT_EQ(infos.get(), std::vector<int>(count, 0));
  ASSERT_EQ(
      getrsBatched<T>(this->handle, TRNBLAS_OP_T, n, 1, const_list<T>(la), n, none, c_list<T>(lb), n, &info, count), 0);
  this->expect_product(a, mb.get(), b, n, n, 1, true, 400);
}

TYPED_TEST(Batched, ASingularMatrixIsNamed) {
  using T = TypeParam;
  constexpr int n = 3, count = Batched<T>::kCount;
  Random random(13);
  auto a = this->matrices(random, n, n);
  for (int i = 0; i < n; ++i) a[this->at(2 * n * n + n + i)] = T(0);  // the second column of the third
  const Mem<T> ma(a);
  const auto la = this->list(ma, n * n);
  const Mem<int> pivots(n * count), infos(count);
  ASSERT_EQ(
      getrfBatched<T>(this->handle, n, c_list<T>(la), n, static_cast<int*>(pivots), static_cast<int*>(infos), count),
      0);
  EXPECT_EQ(infos.get(), (std::vector<int>{0, 0, 2, 0, 0}));
}

TYPED_TEST(Batched, QrAndLeastSquares) {
  using T = TypeParam;
  constexpr int m = 6, n = 4, count = Batched<T>::kCount;
  Random random(14);
  const auto a = this->matrices(random, m, n);
  const Mem<T> qa(a), tau(n * count);
  const auto lq = this->list(qa, m * n), lt = this->list(tau, n);
  int info = 9;
  ASSERT_EQ(geqrfBatched<T>(this->handle, m, n, c_list<T>(lq), m, c_list<T>(lt), &info, count), 0)
      << trnGetLastErrorText();
  EXPECT_EQ(info, 0);
  // |R|'s columns have the norms of A's.
  const auto r = qa.get();
  for (int p = 0; p < count; ++p)
    for (int j = 0; j < n; ++j) {
      long double in = 0, out = 0;
      for (int i = 0; i < m; ++i) in += std::norm(wide(a[this->at(p * m * n + j * m + i)]));
      for (int i = 0; i <= j; ++i) out += std::norm(wide(r[this->at(p * m * n + j * m + i)]));
      EXPECT_NEAR(static_cast<double>(out / in), 1, static_cast<double>(50 * kUnit<T>));
    }
  // A x for a known x: the least-squares solution is x.
  const auto x = random.numbers<T>(n * count);
  std::vector<T> b(m * count);
  for (int p = 0; p < count; ++p)
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < n; ++k) b[this->at(p * m + i)] += a[this->at(p * m * n + k * m + i)] * x[this->at(p * n + k)];
  const Mem<T> ga(a), gb(b);
  const auto la = this->list(ga, m * n), lb = this->list(gb, m);
  const Mem<int> infos(std::vector<int>(count, 9));
  ASSERT_EQ(gelsBatched<T>(this->handle, TRNBLAS_OP_N, m, n, 1, c_list<T>(la), m, c_list<T>(lb), m, &info,
                           static_cast<int*>(infos), count),
            0)
      << trnGetLastErrorText();
  EXPECT_EQ(infos.get(), std::vector<int>(count, 0));
  const auto found = gb.get();
  for (int p = 0; p < count; ++p)
    for (int k = 0; k < n; ++k)
      EXPECT_LE(std::abs(wide(found[this->at(p * m + k)]) - wide(x[this->at(p * n + k)])), 400 * kUnit<T>);
  EXPECT_EQ(gelsBatched<T>(this->handle, TRNBLAS_OP_T, m, n, 1, c_list<T>(la), m, c_list<T>(lb), m, &info,
                           static_cast<int*>(infos), count),
            TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(gelsBatched<T>(this->handle, TRNBLAS_OP_N, n, m, 1, c_list<T>(la), m, c_list<T>(lb), m, &info,
                           static_cast<int*>(infos), count),
            TRNBLAS_STATUS_INVALID_VALUE);
}

TYPED_TEST(Batched, MatricesTimesVectors) {
  using T = TypeParam;
  constexpr int m = 5, n = 3, count = Batched<T>::kCount;
  Random random(15);
  const auto a = this->matrices(random, m, n);
  const T one(1), zero(0);
  const Mem<T> ma(a);
  const auto la = this->list(ma, m * n);
  for (const bool turned : {false, true})
    for (const int inc : {1, 2}) {
      const int in = turned ? m : n, out = turned ? n : m;
      const auto x = random.numbers<T>(in * inc * count);
      const Mem<T> mx(x), my(random.numbers<T>(out * inc * count)), ms(out * inc * count);
      const auto lx = this->list(mx, in * inc), ly = this->list(my, out * inc);
      const auto op = turned ? TRNBLAS_OP_T : TRNBLAS_OP_N;
      ASSERT_EQ(gemvBatched<T>(this->handle, op, m, n, &one, const_list<T>(la), m, const_list<T>(lx), inc, &zero,
                               c_list<T>(ly), inc, count),
                0)
          << trnGetLastErrorText();
      ASSERT_EQ(gemvStridedBatched<T>(this->handle, op, m, n, &one, static_cast<const T*>(ma), m, m * n,
                                      static_cast<const T*>(mx), inc, in * inc, &zero, static_cast<T*>(ms), inc,
                                      out * inc, count),
                0)
          << trnGetLastErrorText();
      std::vector<T> packed_x, packed_y, packed_s;
      const auto y = my.get(), s = ms.get();
      for (int i = 0; i < in * count; ++i) packed_x.push_back(x[this->at(i * inc)]);
      for (int i = 0; i < out * count; ++i)
        packed_y.push_back(y[this->at(i * inc)]), packed_s.push_back(s[this->at(i * inc)]);
      this->expect_product(a, packed_x, packed_y, m, n, 1, turned, 16);
      EXPECT_EQ(packed_y, packed_s);
    }
  const auto lx = this->list(ma, n);
  EXPECT_EQ(gemvBatched<T>(this->handle, TRNBLAS_OP_N, m, n, &one, const_list<T>(la), m, const_list<T>(lx), 0, &zero,
                           c_list<T>(lx), 1, count),
            TRNBLAS_STATUS_INVALID_VALUE);
}

// Batches of LU on a device: float, one matrix in each partition.
TEST(BatchedDevice, LuOnASimulator) {
  const On device("sim:trn2");
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  constexpr int n = 3;
  const Mem<float> a(std::vector<float>{0, 2, 1, 4, 1, 0, 1, 1, 3});
  const Mem<float*> list(std::vector<float*>{a});
  const Mem<int> pivots(n), info(std::vector<int>{9});
  ASSERT_EQ(trnblasSgetrfBatched(handle, n, list, n, pivots, info, 1), 0) << trnGetLastErrorText();
  EXPECT_EQ(info.get().front(), 0);
  EXPECT_EQ(pivots.get().front(), 2);
  EXPECT_EQ(a.get().front(), 2.0F);
  EXPECT_EQ(trnblasSgetrfBatched(handle, n, list, n, nullptr, info, 1), TRNBLAS_STATUS_NOT_SUPPORTED);
  trnblasDestroy(handle);
}

TEST(TypedCopies, CopySwapSumAndPlaces) {
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  const Mem<double> x(std::vector<double>{3, -7, 1}), y(std::vector<double>{4, 5, 6});
  double sum = 0;
  int place = 0;
  std::int64_t wide_place = 0;
  EXPECT_EQ(trnblasAsumEx(handle, 3, x, TRN_R_64F, 1, &sum, TRN_R_64F, TRN_R_64F), 0);
  EXPECT_EQ(sum, 11);
  EXPECT_EQ(trnblasIamaxEx(handle, 3, x, TRN_R_64F, 1, &place), 0);
  EXPECT_EQ(place, 2);
  EXPECT_EQ(trnblasIaminEx_64(handle, 3, x, TRN_R_64F, 1, &wide_place), 0);
  EXPECT_EQ(wide_place, 3);
  EXPECT_EQ(trnblasSwapEx(handle, 3, x, TRN_R_64F, 1, y, TRN_R_64F, 1), 0);
  EXPECT_EQ(x.get(), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(trnblasCopyEx(handle, 3, x, TRN_R_64F, 1, y, TRN_R_64F, 1), 0);
  EXPECT_EQ(y.get(), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(trnblasCopyEx(handle, 3, x, TRN_R_64F, 1, y, TRN_R_32F, 1), TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnblasCopyEx(handle, 3, x, static_cast<trnDataType>(99), 1, y, static_cast<trnDataType>(99), 1),
            TRNBLAS_STATUS_INVALID_VALUE);
  // More addresses than the list can hold: said before there is memory for a copy of them.
  const Mem<float*> list(std::vector<float*>{nullptr});
  const float one = 1;
  for (const int bits : {31, 40, 60, 62})
    EXPECT_EQ(trnblasSgemmBatched_64(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 1, 1, 1, &one, list, 1, list, 1, &one, list, 1,
                                     std::int64_t{1} << bits),
              TRNBLAS_STATUS_INVALID_VALUE);
  // Copies through a stream.
  trnStream_t stream = nullptr;
  ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
  const double from[] = {1, 2, 3};
  double to[3] = {};
  EXPECT_EQ(trnblasSetVectorAsync(3, sizeof(double), from, 1, x, 1, stream), 0);
  EXPECT_EQ(trnblasGetMatrixAsync(3, 1, sizeof(double), x, 3, to, 3, stream), 0);
  EXPECT_EQ(to[2], 3);
  trnStreamDestroy(stream), trnblasDestroy(handle);
}

}  // namespace

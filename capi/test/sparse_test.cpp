// cuSPARSE's routines through the C face: matrices of every format against sums in long double over dense copies;
// solves and factors multiplied out again; statuses; a device.
#include <trnsparse.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "mem.hpp"

namespace {

using capi_test::Mem, capi_test::On;
constexpr int kRows = 8, kColumns = 6;

// A dense matrix, row-major, with zeros in blocks of 2 x 2; the same in every format.
struct Fixture {
  std::vector<double> dense = std::vector<double>(kRows * kColumns);
  Fixture() {
    std::mt19937 random(3);
    for (int i = 0; i < kRows; i += 2)
      for (int j = 0; j < kColumns; j += 2)
        if ((i / 2 + j / 2) % 2 == 0)
          for (int k = 0; k < 4; ++k) at(i + k / 2, j + k % 2) = 0.25 * (1 + static_cast<int>(random() % 15));
  }
  double& at(int i, int j) { return dense[static_cast<std::size_t>(i * kColumns + j)]; }
};

template <class T> constexpr trnDataType kType = sizeof(T) == 4 ? TRN_R_32F : TRN_R_64F;

// The matrix in one format, with its memory. Base 1 where it is CSR.
template <class T> class Stored {
 public:
  Stored(trnsparseFormat_t format, Fixture f) {
    std::vector<int> offsets(1), indices;
    std::vector<T> values;
    const auto push = [&](int index, double value) {
      indices.push_back(index), values.push_back(static_cast<T>(value));
    };
    switch (format) {
      case TRNSPARSE_FORMAT_CSR:
      case TRNSPARSE_FORMAT_COO: {
        std::vector<int> rows;
        const int base = format == TRNSPARSE_FORMAT_CSR ? 1 : 0;
        offsets[0] = base;
        for (int i = 0; i < kRows; ++i) {
          for (int j = kColumns - 1; j >= 0; --j)  // rows need not be sorted
            if (f.at(i, j) != 0) push(j + base, f.at(i, j)), rows.push_back(i);
          offsets.push_back(static_cast<int>(values.size()) + base);
        }
        keep(format == TRNSPARSE_FORMAT_CSR ? offsets : rows, indices, values);
        const auto nnz = static_cast<std::int64_t>(values.size());
        status = format == TRNSPARSE_FORMAT_CSR
                     ? trnsparseCreateCsr(&matrix, kRows, kColumns, nnz, *a_, *b_, *v_, TRNSPARSE_INDEX_32I,
                                          TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_BASE_ONE, kType<T>)
                     : trnsparseCreateCoo(&matrix, kRows, kColumns, nnz, *a_, *b_, *v_, TRNSPARSE_INDEX_32I,
                                          TRNSPARSE_INDEX_BASE_ZERO, kType<T>);
        break;
      }
      case TRNSPARSE_FORMAT_CSC:
        for (int j = 0; j < kColumns; ++j) {
          for (int i = 0; i < kRows; ++i)
            if (f.at(i, j) != 0) push(i, f.at(i, j));
          offsets.push_back(static_cast<int>(values.size()));
        }
        keep(offsets, indices, values);
        status = trnsparseCreateCsc(&matrix, kRows, kColumns, static_cast<std::int64_t>(values.size()), *a_, *b_, *v_,
                                    TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_BASE_ZERO, kType<T>);
        break;
      case TRNSPARSE_FORMAT_BSR:  // blocks by columns
        for (int i = 0; i < kRows; i += 2) {
          for (int j = 0; j < kColumns; j += 2)
            if (f.at(i, j) != 0) {
              indices.push_back(j / 2);
              for (int k = 0; k < 4; ++k) values.push_back(static_cast<T>(f.at(i + k % 2, j + k / 2)));
            }
          offsets.push_back(static_cast<int>(indices.size()));
        }
        keep(offsets, indices, values);
        status = trnsparseCreateBsr(&matrix, kRows / 2, kColumns / 2, static_cast<std::int64_t>(indices.size()), 2, 2,
                                    *a_, *b_, *v_, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_BASE_ZERO,
                                    kType<T>, TRNSPARSE_ORDER_COL);
        break;
      case TRNSPARSE_FORMAT_BLOCKED_ELL:  // two blocks a row, row-major over both
        for (int i = 0; i < kRows; i += 2) {
          std::vector<int> row;
          for (int j = 0; j < kColumns; j += 2)
            if (f.at(i, j) != 0) row.push_back(j / 2);
          row.resize(2, -1);
          indices.insert(indices.end(), row.begin(), row.end());
          for (int r = 0; r < 2; ++r)
            for (const int block : row)
              for (int k = 0; k < 2; ++k)
                values.push_back(block < 0 ? T(0) : static_cast<T>(f.at(i + r, 2 * block + k)));
        }
        keep(offsets, indices, values);
        status = trnsparseCreateBlockedEll(&matrix, kRows, kColumns, 2, 4, *b_, *v_, TRNSPARSE_INDEX_32I,
                                           TRNSPARSE_INDEX_BASE_ZERO, kType<T>);
        break;
      default: {  // slices of 4 rows, 4 columns wide, entries of one column side by side
        int nnz = 0;
        for (int i = 0; i < kRows; i += 4) {
          std::vector<std::vector<int>> rows(4);
          for (int r = 0; r < 4; ++r)
            for (int j = 0; j < kColumns; ++j)
              if (f.at(i + r, j) != 0) rows[static_cast<std::size_t>(r)].push_back(j), ++nnz;
          for (std::size_t p = 0; p < 4; ++p)
            for (std::size_t r = 0; r < 4; ++r) {
              const int j = p < rows[r].size() ? rows[r][p] : -1;
              push(j, j < 0 ? 0 : f.at(i + static_cast<int>(r), j));
            }
          offsets.push_back(static_cast<int>(values.size()));
        }
        keep(offsets, indices, values);
        status = trnsparseCreateSlicedEll(&matrix, kRows, kColumns, nnz, static_cast<std::int64_t>(values.size()), 4,
                                          *a_, *b_, *v_, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_32I,
                                          TRNSPARSE_INDEX_BASE_ZERO, kType<T>);
      }
    }
  }
  ~Stored() { trnsparseDestroySpMat(matrix); }
  trnsparseSpMatDescr_t matrix = nullptr;
  trnsparseStatus_t status = TRNSPARSE_STATUS_INTERNAL_ERROR;
  [[nodiscard]] std::vector<T> values() const { return v_->get(); }

 private:
  void keep(const std::vector<int>& a, const std::vector<int>& b, const std::vector<T>& v) {
    a_ = std::make_unique<Mem<int>>(a), b_ = std::make_unique<Mem<int>>(b), v_ = std::make_unique<Mem<T>>(v);
  }
  std::unique_ptr<Mem<int>> a_, b_;
  std::unique_ptr<Mem<T>> v_;
};
const auto kFormats = {TRNSPARSE_FORMAT_CSR, TRNSPARSE_FORMAT_CSC,         TRNSPARSE_FORMAT_COO,
                       TRNSPARSE_FORMAT_BSR, TRNSPARSE_FORMAT_BLOCKED_ELL, TRNSPARSE_FORMAT_SLICED_ELLPACK};

struct Handle {
  Handle() { EXPECT_EQ(trnsparseCreate(&h), TRNSPARSE_STATUS_SUCCESS); }
  ~Handle() { trnsparseDestroy(h); }
  operator trnsparseHandle_t() const { return h; }
  trnsparseHandle_t h = nullptr;
};

// y = alpha op(A) x + beta y of every format, its sum in long double.
template <class T> void products(double unit) {
  const Handle handle;
  Fixture f;
  for (const auto format : kFormats)
    for (const bool transposed : {false, true}) {
      const Stored<T> a(format, f);
      ASSERT_EQ(a.status, TRNSPARSE_STATUS_SUCCESS) << trnGetLastErrorText();
      const int m = transposed ? kColumns : kRows, n = transposed ? kRows : kColumns;
      std::vector<T> x, y;
      for (int j = 0; j < n; ++j) x.push_back(static_cast<T>(0.1 + j));
      for (int i = 0; i < m; ++i) y.push_back(static_cast<T>(1.0 / (1 + i)));
      const Mem<T> dx(x), dy(y), buffer(4);
      trnsparseDnVecDescr_t vx, vy;
      trnsparseCreateDnVec(&vx, n, dx, kType<T>), trnsparseCreateDnVec(&vy, m, dy, kType<T>);
      const T alpha = 2, beta = 3;
      const auto op = transposed ? TRNSPARSE_OPERATION_TRANSPOSE : TRNSPARSE_OPERATION_NON_TRANSPOSE;
      std::size_t bytes = 0;
      EXPECT_EQ(trnsparseSpMV_bufferSize(handle, op, &alpha, a.matrix, vx, &beta, vy, kType<T>,
                                         TRNSPARSE_SPMV_ALG_DEFAULT, &bytes),
                TRNSPARSE_STATUS_SUCCESS);
      EXPECT_GT(bytes, 0U);
      for (int twice = 0; twice < 2; ++twice) {  // the second time with the plan that was kept
        ASSERT_EQ(trnMemcpy(dy, y.data(), y.size() * sizeof(T), trnMemcpyHostToDevice), trnSuccess);
        ASSERT_EQ(
            trnsparseSpMV(handle, op, &alpha, a.matrix, vx, &beta, vy, kType<T>, TRNSPARSE_SPMV_ALG_DEFAULT, buffer),
            TRNSPARSE_STATUS_SUCCESS)
            << trnGetLastErrorText();
        const auto got = dy.get();
        for (int i = 0; i < m; ++i) {
          long double sum = 3.0L * static_cast<long double>(y[static_cast<std::size_t>(i)]), size = sum;
          for (int j = 0; j < n; ++j) {
            const long double term = 2.0L * static_cast<long double>(transposed ? f.at(j, i) : f.at(i, j)) *
                                     static_cast<long double>(x[static_cast<std::size_t>(j)]);
            sum += term, size += std::abs(term);
          }
          EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(got[static_cast<std::size_t>(i)]),
                      20 * unit * static_cast<double>(size))
              << "format " << format << " row " << i;
        }
      }
      trnsparseDestroyDnVec(vx), trnsparseDestroyDnVec(vy);
    }
}
TEST(CSparse, SpmvOfEveryFormat) { products<double>(1.2e-16), products<float>(6e-8); }
TEST(CSparse, SpmvOnADevice) {
  const On on("sim:trn2");
  products<float>(6e-8);
}

// C = A B with B of either order, and SDDMM, whose values go back into the format.
TEST(CSparse, SpmmAndSddmm) {
  const Handle handle;
  Fixture f;
  for (const auto format : {TRNSPARSE_FORMAT_CSR, TRNSPARSE_FORMAT_BSR}) {
    const Stored<double> a(format, f);
    std::vector<double> b, left;
    for (int k = 0; k < kColumns * 3; ++k) b.push_back(0.5 + k);
    for (int k = 0; k < kRows * 3; ++k) left.push_back(1.0 + k);
    const Mem<double> db(b), dc(kRows * 3), dl(left), buffer(2);
    trnsparseDnMatDescr_t mb, mc, ml;
    trnsparseCreateDnMat(&mb, kColumns, 3, 3, db, TRN_R_64F, TRNSPARSE_ORDER_ROW);
    trnsparseCreateDnMat(&mc, kRows, 3, kRows, dc, TRN_R_64F, TRNSPARSE_ORDER_COL);
    trnsparseCreateDnMat(&ml, kRows, 3, kRows, dl, TRN_R_64F, TRNSPARSE_ORDER_COL);
    const double one = 1, zero = 0;
    const auto n = TRNSPARSE_OPERATION_NON_TRANSPOSE;
    ASSERT_EQ(trnsparseSpMM(handle, n, n, &one, a.matrix, mb, &zero, mc, TRN_R_64F, TRNSPARSE_SPMM_ALG_DEFAULT, buffer),
              TRNSPARSE_STATUS_SUCCESS)
        << trnGetLastErrorText();
    const auto c = dc.get();
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < 3; ++j) {
        long double sum = 0;
        for (int k = 0; k < kColumns; ++k) sum += static_cast<long double>(f.at(i, k)) * (0.5L + k * 3 + j);
        EXPECT_NEAR(static_cast<double>(sum), c[static_cast<std::size_t>(i + j * kRows)],
                    1e-13 * std::abs(static_cast<double>(sum)));
      }
    // S = (L B^T) on the pattern + 2 S.
    const double two = 2;
    ASSERT_EQ(trnsparseSDDMM(handle, n, TRNSPARSE_OPERATION_TRANSPOSE, &one, ml, mb, &two, a.matrix, TRN_R_64F,
                             TRNSPARSE_SDDMM_ALG_DEFAULT, buffer),
              TRNSPARSE_STATUS_SUCCESS)
        << trnGetLastErrorText();
    const auto s = a.values();
    std::vector<double> wanted;
    for (int i = 0; i < kRows; i += format == TRNSPARSE_FORMAT_BSR ? 2 : 1)
      for (int p = 0; p < kColumns * (format == TRNSPARSE_FORMAT_BSR ? 2 : 1); ++p) {
        // BSR: blocks by columns; CSR: the rows backwards.
        const int r = format == TRNSPARSE_FORMAT_BSR ? i + p % 2 : i;
        const int j = format == TRNSPARSE_FORMAT_BSR ? p / 2 : kColumns - 1 - p;
        if (f.at(r, j) == 0) continue;
        double sum = 2 * f.at(r, j);
        for (int k = 0; k < 3; ++k)
          sum += left[static_cast<std::size_t>(r + k * kRows)] * b[static_cast<std::size_t>(j * 3 + k)];
        wanted.push_back(sum);
      }
    ASSERT_EQ(s.size(), wanted.size());
    for (std::size_t k = 0; k < s.size(); ++k) EXPECT_NEAR(s[k], wanted[k], 1e-12 * wanted[k]);
    trnsparseDestroyDnMat(mb), trnsparseDestroyDnMat(mc), trnsparseDestroyDnMat(ml);
  }
}

// L x = b for the lower triangle of a CSR matrix with strong diagonal, then with other values.
TEST(CSparse, SpsvSolvesAndTakesNewValues) {
  const Handle handle;
  const Mem<int> offsets({0, 1, 3, 6}), columns({0, 0, 1, 0, 1, 2});
  const Mem<double> values({2, 1, 4, 3, 5, 8}), x({2, 9, 44}), y(3), next({1, 0, 2, 0, 0, 4}), buffer(2);
  trnsparseSpMatDescr_t a;
  trnsparseDnVecDescr_t vx, vy;
  trnsparseSpSVDescr_t phases;
  trnsparseCreateCsr(&a, 3, 3, 6, offsets, columns, values, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_32I,
                     TRNSPARSE_INDEX_BASE_ZERO, TRN_R_64F);
  trnsparseCreateDnVec(&vx, 3, x, TRN_R_64F), trnsparseCreateDnVec(&vy, 3, y, TRN_R_64F);
  ASSERT_EQ(trnsparseSpSV_createDescr(&phases), TRNSPARSE_STATUS_SUCCESS);
  const double one = 1;
  const auto n = TRNSPARSE_OPERATION_NON_TRANSPOSE;
  EXPECT_EQ(trnsparseSpSV_solve(handle, n, &one, a, vx, vy, TRN_R_64F, TRNSPARSE_SPSV_ALG_DEFAULT, phases),
            TRNSPARSE_STATUS_INVALID_VALUE);  // before the analysis
  ASSERT_EQ(trnsparseSpSV_analysis(handle, n, &one, a, vx, vy, TRN_R_64F, TRNSPARSE_SPSV_ALG_DEFAULT, phases, buffer),
            TRNSPARSE_STATUS_SUCCESS)
      << trnGetLastErrorText();
  ASSERT_EQ(trnsparseSpSV_solve(handle, n, &one, a, vx, vy, TRN_R_64F, TRNSPARSE_SPSV_ALG_DEFAULT, phases),
            TRNSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(y.get(), (std::vector<double>{1, 2, 3.875}));
  ASSERT_EQ(trnsparseSpSV_updateMatrix(handle, phases, next, TRNSPARSE_SPSV_UPDATE_GENERAL), TRNSPARSE_STATUS_SUCCESS);
  trnsparseSpSV_solve(handle, n, &one, a, vx, vy, TRN_R_64F, TRNSPARSE_SPSV_ALG_DEFAULT, phases);
  EXPECT_EQ(y.get(), (std::vector<double>{2, 4.5, 11}));
  EXPECT_EQ(trnsparseSpSV_destroyDescr(phases), TRNSPARSE_STATUS_SUCCESS);
  trnsparseDestroySpMat(a), trnsparseDestroyDnVec(vx), trnsparseDestroyDnVec(vy);
}

// A full pattern: incomplete factors are complete, and L U is A; a missing diagonal is known from the analysis.
TEST(CSparse, IluOfAFullPatternIsLu) {
  const Handle handle;
  trnsparseMatDescr_t d;
  trnsparsecsrilu02Info_t info;
  trnsparseCreateMatDescr(&d), trnsparseCreateCsrilu02Info(&info);
  const Mem<int> offsets({0, 2, 4}), columns({0, 1, 0, 1}), hole_offsets({0, 1, 2}), hole({1, 0});
  const Mem<double> values({4, 2, 1, 3}), buffer(2);
  int bytes = 0, position = 0;
  const auto policy = TRNSPARSE_SOLVE_POLICY_NO_LEVEL;
  EXPECT_EQ(trnsparseDcsrilu02_bufferSize(handle, 2, 4, d, values, offsets, columns, info, &bytes),
            TRNSPARSE_STATUS_SUCCESS);
  ASSERT_EQ(trnsparseDcsrilu02_analysis(handle, 2, 4, d, values, offsets, columns, info, policy, buffer),
            TRNSPARSE_STATUS_SUCCESS);
  ASSERT_EQ(trnsparseDcsrilu02(handle, 2, 4, d, values, offsets, columns, info, policy, buffer),
            TRNSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(values.get(), (std::vector<double>{4, 2, 0.25, 2.5}));
  EXPECT_EQ(trnsparseXcsrilu02_zeroPivot(handle, info, &position), TRNSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(position, -1);
  trnsparseDcsrilu02_analysis(handle, 2, 2, d, values, hole_offsets, hole, info, policy, buffer);
  EXPECT_EQ(trnsparseXcsrilu02_zeroPivot(handle, info, &position), TRNSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 0);
  trnsparseDestroyMatDescr(d), trnsparseDestroyCsrilu02Info(info);
}

// C = A B in three phases: the dense product, with its number of entries.
TEST(CSparse, SpgemmHandsOverItsResult) {
  const Handle handle;
  const Mem<int> oa({0, 2, 3}), ca({0, 1, 1}), ob({0, 1, 3}), cb({1, 0, 1}), oc(3);
  const Mem<float> va({1, 2, 3}), vb({4, 5, 6}), buffer(8);
  trnsparseSpMatDescr_t a, b, c;
  const auto i32 = TRNSPARSE_INDEX_32I;
  const auto zero_base = TRNSPARSE_INDEX_BASE_ZERO;
  trnsparseCreateCsr(&a, 2, 2, 3, oa, ca, va, i32, i32, zero_base, TRN_R_32F);
  trnsparseCreateCsr(&b, 2, 2, 3, ob, cb, vb, i32, i32, zero_base, TRN_R_32F);
  trnsparseCreateCsr(&c, 2, 2, 0, oc, nullptr, nullptr, i32, i32, zero_base, TRN_R_32F);
  trnsparseSpGEMMDescr_t phases;
  trnsparseSpGEMM_createDescr(&phases);
  const float one = 1, zero = 0;
  const auto n = TRNSPARSE_OPERATION_NON_TRANSPOSE;
  std::size_t bytes = 0;
  for (void* p : {static_cast<void*>(nullptr), static_cast<void*>(buffer)})
    ASSERT_EQ(trnsparseSpGEMM_compute(handle, n, n, &one, a, b, &zero, c, TRN_R_32F, TRNSPARSE_SPGEMM_DEFAULT, phases,
                                      &bytes, p),
              TRNSPARSE_STATUS_SUCCESS)
        << trnGetLastErrorText();
  std::int64_t rows, columns, nnz;
  trnsparseSpMatGetSize(c, &rows, &columns, &nnz);
  ASSERT_EQ(nnz, 4);
  const Mem<int> cc(4);
  const Mem<float> vc(4);
  trnsparseCsrSetPointers(c, oc, cc, vc);
  ASSERT_EQ(trnsparseSpGEMM_copy(handle, n, n, &one, a, b, &zero, c, TRN_R_32F, TRNSPARSE_SPGEMM_DEFAULT, phases),
            TRNSPARSE_STATUS_SUCCESS)
      << trnGetLastErrorText();
  EXPECT_EQ(vc.get(), (std::vector<float>{10, 16, 15, 18}));
  EXPECT_EQ(oc.get(), (std::vector<int>{0, 2, 4}));
  const float half = 0.5F;
  EXPECT_EQ(trnsparseSpGEMM_compute(handle, n, n, &one, a, b, &half, c, TRN_R_32F, TRNSPARSE_SPGEMM_DEFAULT, phases,
                                    &bytes, buffer),
            TRNSPARSE_STATUS_NOT_SUPPORTED);
  trnsparseSpGEMM_destroyDescr(phases);
  for (const auto m : {a, b, c}) trnsparseDestroySpMat(m);
}

TEST(CSparse, Statuses) {
  const Handle handle;
  trnsparseSpMatDescr_t a;
  trnsparseDnVecDescr_t x;
  const Mem<int> offsets({0, 1, 2}), columns({0, 5}), twice({0, 0});
  const Mem<double> values({1, 1}), dx(2);
  const double one = 1;
  const auto n = TRNSPARSE_OPERATION_NON_TRANSPOSE;
  const auto i32 = TRNSPARSE_INDEX_32I;
  const auto create = [&](const Mem<int>& o, const Mem<int>& c, trnsparseIndexType_t type, trnDataType element) {
    return trnsparseCreateCsr(&a, 2, 2, 2, o, c, values, type, i32, TRNSPARSE_INDEX_BASE_ZERO, element);
  };
  EXPECT_EQ(create(offsets, columns, TRNSPARSE_INDEX_16U, TRN_R_64F), TRNSPARSE_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(create(offsets, columns, static_cast<trnsparseIndexType_t>(99), TRN_R_64F), TRNSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(create(offsets, columns, i32, TRN_R_8I), TRNSPARSE_STATUS_NOT_SUPPORTED);
  trnsparseCreateDnVec(&x, 2, dx, TRN_R_64F);
  const auto multiply = [&] {
    return trnsparseSpMV(handle, n, &one, a, x, &one, x, TRN_R_64F, TRNSPARSE_SPMV_ALG_DEFAULT, nullptr);
  };
  ASSERT_EQ(create(offsets, columns, i32, TRN_R_64F), TRNSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(multiply(), TRNSPARSE_STATUS_INVALID_VALUE);  // a column beyond the matrix
  trnsparseCsrSetPointers(a, offsets, nullptr, values);
  EXPECT_EQ(multiply(), TRNSPARSE_STATUS_INVALID_VALUE);
  const Mem<int> one_row({0, 2, 2});
  trnsparseCsrSetPointers(a, one_row, twice, values);
  EXPECT_EQ(multiply(), TRNSPARSE_STATUS_NOT_SUPPORTED);  // an entry that comes twice
  trnsparseDestroySpMat(a);
  EXPECT_EQ(multiply(), TRNSPARSE_STATUS_INVALID_VALUE);  // a stale descriptor
  EXPECT_EQ(trnsparseGather(nullptr, x, nullptr), TRNSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT_STREQ(trnsparseGetErrorName(TRNSPARSE_STATUS_ZERO_PIVOT), "CUSPARSE_STATUS_ZERO_PIVOT");
  EXPECT_STREQ(trnsparseGetErrorString(TRNSPARSE_STATUS_ZERO_PIVOT), "zero pivot");
  const On on("sim:trn2");
  const Handle device;
  const Mem<int> p(4);
  EXPECT_EQ(trnsparseXcoosortByRow(device, 2, 2, 2, p, p, nullptr, nullptr), TRNSPARSE_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnsparseCreateIdentityPermutation(device, 4, p), TRNSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(p.get(), (std::vector<int>{0, 1, 2, 3}));
  trnsparseDestroyDnVec(x);
}

}  // namespace

// Sparse and dense operands with their memory and descriptors, for tests of cuSPARSE's rows.
#pragma once

#include <trnsparse.h>

#include "typed.hpp"

namespace capi_test {

constexpr auto kOk = TRNSPARSE_STATUS_SUCCESS;
constexpr auto kInvalid = TRNSPARSE_STATUS_INVALID_VALUE;
constexpr auto kN = TRNSPARSE_OPERATION_NON_TRANSPOSE;
#define TRN_OK(call) ASSERT_EQ((call), kOk) << trnGetLastErrorText()

struct SparseHandle {
  SparseHandle() { EXPECT_EQ(trnsparseCreate(&h), kOk); }
  ~SparseHandle() { trnsparseDestroy(h); }
  operator trnsparseHandle_t() const { return h; }
  trnsparseHandle_t h = nullptr;
};
template <class I> constexpr auto kIndex = sizeof(I) == 8 ? TRNSPARSE_INDEX_64I : TRNSPARSE_INDEX_32I;

// The nonzeros of a dense matrix, by rows, with rows backwards if they need not be sorted.
template <class T, class I = int> struct Triples {
  std::vector<I> row, column, offsets;
  std::vector<T> value;
  explicit Triples(const Dense<T>& a, int base = 0, bool backwards = false) {
    offsets.push_back(base);
    for (int i = 0; i < a.rows; ++i) {
      for (int k = 0; k < a.columns; ++k) {
        const int j = backwards ? a.columns - 1 - k : k;
        if (a(i, j) != T(0)) row.push_back(i + base), column.push_back(j + base), value.push_back(a(i, j));
      }
      offsets.push_back(static_cast<I>(value.size()) + base);
    }
  }
  [[nodiscard]] int nnz() const { return static_cast<int>(value.size()); }
};
// CSR, CSC or COO of a dense matrix, with its memory.
template <class T, class I = int> struct Held {
  Held(trnsparseFormat_t format, const Dense<T>& a, int base, bool backwards = true)
      : Held(format, a, base, format == TRNSPARSE_FORMAT_CSC ? turned(a, base) : Triples<T, I>(a, base, backwards)) {}
  Held(trnsparseFormat_t format, const Dense<T>& a, int base, const Triples<T, I>& t)
      : first(format == TRNSPARSE_FORMAT_COO ? t.row : t.offsets), second(t.column), values(t.value), nnz(t.nnz()) {
    const auto b = static_cast<trnsparseIndexBase_t>(base);
    const auto create = format == TRNSPARSE_FORMAT_CSC ? trnsparseCreateCsc : trnsparseCreateCsr;
    EXPECT_EQ(format == TRNSPARSE_FORMAT_COO
                  ? trnsparseCreateCoo(&m, a.rows, a.columns, nnz, first, second, values, kIndex<I>, b, kData<T>)
                  : create(&m, a.rows, a.columns, nnz, first, second, values, kIndex<I>, kIndex<I>, b, kData<T>),
              kOk)
        << trnGetLastErrorText();
  }
  ~Held() { trnsparseDestroySpMat(m); }
  static Triples<T, I> turned(const Dense<T>& a, int base) {
    Dense<T> t{a.columns, a.rows};
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
    return Triples<T, I>(t, base);
  }
  operator trnsparseSpMatDescr_t() const { return m; }
  Mem<I> first, second;
  Mem<T> values;
  int nnz;
  trnsparseSpMatDescr_t m = nullptr;
};
template <class T> struct DenseVector {
  explicit DenseVector(std::vector<T> v) : data(v) {
    EXPECT_EQ(trnsparseCreateDnVec(&d, static_cast<std::int64_t>(v.size()), data, kData<T>), kOk);
  }
  ~DenseVector() { trnsparseDestroyDnVec(d); }
  operator trnsparseDnVecDescr_t() const { return d; }
  Mem<T> data;
  trnsparseDnVecDescr_t d = nullptr;
};
// A dense matrix of either order, its leading dimension one more than needed.
template <class T> struct DenseMatrix {
  DenseMatrix(const Dense<T>& a, trnsparseOrder_t o)
      : rows(a.rows),
        columns(a.columns),
        ld((o == TRNSPARSE_ORDER_ROW ? columns : rows) + 1),
        order(o),
        data(spread(a)) {
    EXPECT_EQ(trnsparseCreateDnMat(&d, rows, columns, ld, data, kData<T>, o), kOk);
  }
  ~DenseMatrix() { trnsparseDestroyDnMat(d); }
  [[nodiscard]] std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(order == TRNSPARSE_ORDER_ROW ? i * ld + j : i + j * ld);
  }
  [[nodiscard]] std::vector<T> spread(const Dense<T>& a) const {
    std::vector<T> v(static_cast<std::size_t>(ld * (order == TRNSPARSE_ORDER_ROW ? rows : columns)));
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) v[place(i, j)] = a(i, j);
    return v;
  }
  [[nodiscard]] Dense<T> get() const {
    const auto v = data.get();
    Dense<T> a{rows, columns};
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) a(i, j) = v[place(i, j)];
    return a;
  }
  operator trnsparseDnMatDescr_t() const { return d; }
  int rows, columns, ld;
  trnsparseOrder_t order;
  Mem<T> data;
  trnsparseDnMatDescr_t d = nullptr;
};
inline const auto kLines = {TRNSPARSE_FORMAT_CSR, TRNSPARSE_FORMAT_CSC, TRNSPARSE_FORMAT_COO};
inline const auto kOrders = {TRNSPARSE_ORDER_ROW, TRNSPARSE_ORDER_COL};
inline const auto kOps = {kN, TRNSPARSE_OPERATION_TRANSPOSE, TRNSPARSE_OPERATION_CONJUGATE_TRANSPOSE};

struct Described {
  explicit Described(int base) {
    EXPECT_EQ(trnsparseCreateMatDescr(&d), kOk);
    EXPECT_EQ(trnsparseSetMatIndexBase(d, static_cast<trnsparseIndexBase_t>(base)), kOk);
  }
  ~Described() { trnsparseDestroyMatDescr(d); }
  operator trnsparseMatDescr_t() const { return d; }
  trnsparseMatDescr_t d = nullptr;
};
template <class T> T* at(const Mem<T>& m) { return m; }

}  // namespace capi_test

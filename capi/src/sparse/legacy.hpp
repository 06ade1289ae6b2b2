// cuSPARSE's routines that have a letter for the element type: incomplete factors, banded systems, sums of matrices.
#pragma once

#include <trn/sparse/ilu.hpp>
#include <trn/sparse/structure.hpp>
#include <trn/sparse/tridiagonal.hpp>

#include "operands.hpp"

namespace trn::capi::sparse {

// A CSR matrix of 32-bit indices, as these routines have it.
[[nodiscard]] inline SpMat csr_arrays(Int m, Int n, Int nnz, const trnsparseMatDescr* d, const void* values,
                                      const int* offsets, const int* indices) {
  check(m), check(n), check(nnz);
  const auto base = look(d)->base;
  return {TRNSPARSE_FORMAT_CSR, m,    n,        nnz, plain(offsets), plain(indices), plain(values), TRNSPARSE_INDEX_32I,
          TRNSPARSE_INDEX_32I,  base, TRN_R_32F};
}
inline void zero_pivot(Call& c, const auto* info, int* position) {
  const int at = look(info)->zero_pivot;
  c.write(position, at, "position");
  if (at >= 0) throw WithStatus(TRNSPARSE_STATUS_ZERO_PIVOT, fmt::format("the pivot of row {} is zero", at));
}
template <class T> void numeric_boost(Call& c, trnsparsecsrilu02Info_t info, int enable, double* tolerance, T* value) {
  const auto i = look(info);
  i->boost = enable != 0;
  if (!i->boost) return;
  i->tolerance = c.read(tolerance, "tol");
  const T boosted = c.read(value, "boost_val");
  if (std::imag(boosted) != 0) fail<NotImplemented>("a boost value that is not real");
  i->value = static_cast<double>(std::real(boosted));
}
// Diagonal entries that are absent are known before there are numbers.
template <class T> void factor_analysis(Call& c, int m, int nnz, const trnsparseMatDescr* d, const T* values,
                                        const int* offsets, const int* indices, auto* info, trnsparseSolvePolicy_t,
                                        void*) {
  host_only(c, "an incomplete factorisation");
  const SpMat a = csr_arrays(m, m, nnz, d, values, offsets, indices);
  const auto e = entries_of(c, a);
  const auto i = look(info);
  i->zero_pivot = -1;
  for (Int row = 0; row < m && i->zero_pivot < 0; ++row) {
    const auto at = [&](Int k) { return e.indices.begin() + e.offsets[static_cast<std::size_t>(k)]; };
    if (!std::binary_search(at(row), at(row + 1), static_cast<std::int32_t>(row)))
      i->zero_pivot = static_cast<int>(row) + a.base;
  }
}
// The factor's entries go to the places of A's.
template <class T>
void put_parts(Call& c, const SpMat& a, const Entries& e, std::initializer_list<const ts::Csr<T>*> parts) {
  auto values = values_of<T>(c, a, e.places);
  for (const auto* part : parts) {
    const auto offsets = part->pattern().offsets();
    const auto columns = part->pattern().indices();
    for (Int i = 0; i < e.rows; ++i) {
      auto k = static_cast<std::size_t>(e.offsets[static_cast<std::size_t>(i)]);
      for (Int at = offsets.data()[i]; at < offsets.data()[i + 1]; ++at) {
        while (e.indices[k] != columns.data()[at]) ++k;
        values[k] = part->values().data()[at];
      }
    }
  }
  put_values(c, a, e.places, values);
}
template <class T> void csrilu02(Call& c, int m, int nnz, const trnsparseMatDescr* d, T* values, const int* offsets,
                                 const int* indices, trnsparsecsrilu02Info_t info, trnsparseSolvePolicy_t, void*) {
  host_only(c, "an incomplete factorisation");
  const SpMat a = csr_arrays(m, m, nnz, d, values, offsets, indices);
  const auto e = entries_of(c, a);
  const auto i = look(info);
  ts::IluOptions options;
  if (i->boost) options.boost = {i->tolerance, i->value};
  const auto made = ts::ilu(csr_of<T>(c, a, e), options);
  i->zero_pivot = made.outcome().ok() ? -1 : static_cast<int>(made.outcome().index) + a.base;
  if (made.outcome().ok()) put_parts<T>(c, a, e, {&made.lower(), &made.upper()});
}
template <class T> void csric02(Call& c, int m, int nnz, const trnsparseMatDescr* d, T* values, const int* offsets,
                                const int* indices, trnsparsecsric02Info_t info, trnsparseSolvePolicy_t, void*) {
  host_only(c, "an incomplete factorisation");
  const SpMat a = csr_arrays(m, m, nnz, d, values, offsets, indices);
  const auto e = entries_of(c, a);
  const auto made = ts::ic0(csr_of<T>(c, a, e));
  look(info)->zero_pivot = made.outcome().ok() ? -1 : static_cast<int>(made.outcome().index) + a.base;
  if (made.outcome().ok()) put_parts<T>(c, a, e, {&made.lower()});
}

// Systems are columns of views; `step` elements lie between the rows of one, `next` between systems.
template <class T> MatrixView<T> systems(Call& c, const char* what, T* x, Int m, Int count, Int step, Int next) {
  require(m >= 0 && count >= 0, "{} systems of order {}", count, m);
  if (m > 0 && count > 0)
    x = device_memory(*c.handle.device, what, x,
                      ((m - 1) * step + (count - 1) * next + 1) * static_cast<Int>(sizeof(T)));
  return {c.executor, x, m, count, step, next};
}
template <class T> void tridiagonal(Call& c, Int m, Int count, const T* dl, const T* d, const T* du, Int step, Int next,
                                    T* b, Int b_step, Int b_next, ts::Pivoting pivoting) {
  host_only(c, "a tridiagonal solve");
  const auto lower = systems(c, "dl", dl, m, count, step, next), middle = systems(c, "d", d, m, count, step, next),
             upper = systems(c, "du", du, m, count, step, next);
  const auto right = systems(c, "B", b, m, count, b_step, b_next);
  if (m > 0 && count > 0) (void)ts::solve_tridiagonal<T>(c.executor, lower, middle, upper, right, pivoting);
}
template <class T> void gtsv2(Call& c, int m, int n, const T* dl, const T* d, const T* du, T* b, int ldb, void*) {
  require(ldb >= std::max(1, m), "ldb is {}; it must be at least {}", ldb, std::max(1, m));
  tridiagonal(c, m, n, dl, d, du, 1, 0, b, 1, ldb, ts::Pivoting::Partial);
}
template <class T>
void gtsv2_nopivot(Call& c, int m, int n, const T* dl, const T* d, const T* du, T* b, int ldb, void*) {
  require(ldb >= std::max(1, m), "ldb is {}; it must be at least {}", ldb, std::max(1, m));
  tridiagonal(c, m, n, dl, d, du, 1, 0, b, 1, ldb, ts::Pivoting::None);
}
template <class T>
void gtsv2_strided_batch(Call& c, int m, const T* dl, const T* d, const T* du, T* x, int count, int stride, void*) {
  require(stride >= m, "the stride is {}; it must be at least {}", stride, m);
  tridiagonal(c, m, count, dl, d, du, 1, stride, x, 1, stride, ts::Pivoting::None);
}
// cuSPARSE's algorithms: 0 without pivots, 1 and 2 with them.
template <class T>
void gtsv_interleaved_batch(Call& c, int algorithm, int m, T* dl, T* d, T* du, T* x, int count, void*) {
  require(algorithm >= 0 && algorithm <= 2, "algorithm {}; there are 0 to 2", algorithm);
  tridiagonal<T>(c, m, count, dl, d, du, count, 1, x, count, 1,
                 algorithm == 0 ? ts::Pivoting::None : ts::Pivoting::Partial);
}
template <class T>
void gpsv_interleaved_batch(Call& c, int algorithm, int m, T* ds, T* dl, T* d, T* du, T* dw, T* x, int count, void*) {
  host_only(c, "a pentadiagonal solve");
  require(algorithm == 0, "algorithm {}; there is 0", algorithm);
  const auto view = [&](const char* what, T* p) { return systems(c, what, p, m, count, count, 1); };
  const auto l2 = view("ds", ds), l1 = view("dl", dl), d0 = view("d", d), u1 = view("du", du), u2 = view("dw", dw);
  const auto b = view("x", x);
  if (m > 0 && count > 0) (void)ts::solve_pentadiagonal<T>(c.executor, l2, l1, d0, u1, u2, b);
}

template <class T>
[[nodiscard]] ts::Csr<T> sum_of(Call& c, Int m, Int n, T alpha, const SpMat& a, T beta, const SpMat& b) {
  host_only(c, "csrgeam2");
  require(m >= 0 && n >= 0, "the matrices are {} x {}", m, n);
  return ts::add(alpha, csr_of<T>(c, a), beta, csr_of<T>(c, b));
}
// The offsets of C and its number of entries.
inline void csrgeam2_nnz(Call& c, int m, int n, const trnsparseMatDescr* da, int nnz_a, const int* offsets_a,
                         const int* columns_a, const trnsparseMatDescr* db, int nnz_b, const int* offsets_b,
                         const int* columns_b, const trnsparseMatDescr* dc, int* offsets_c, int* total, void*) {
  host_only(c, "csrgeam2");
  const auto ones = [&](const SpMat& a) {
    const auto e = entries_of(c, a);
    const std::vector<float> one(e.indices.size(), 1);
    return ts::Csr<float>({Executor::host(), {m, n}, e.offsets, e.indices}, host_view(one));
  };
  const auto pattern = ts::add(1.0F, ones(csr_arrays(m, n, nnz_a, da, nullptr, offsets_a, columns_a)), 1.0F,
                               ones(csr_arrays(m, n, nnz_b, db, nullptr, offsets_b, columns_b)));
  const auto offsets = pattern.pattern().offsets();
  put_integers(c, "csrSortedRowPtrC", offsets_c, TRNSPARSE_INDEX_32I, {offsets.data(), offsets.data() + m + 1},
               look(dc)->base);
  c.write(total, static_cast<int>(pattern.nnz()), "nnzTotalDevHostPtr");
}
template <class T> void csrgeam2(Call& c, int m, int n, const T* alpha, const trnsparseMatDescr* da, int nnz_a,
                                 const T* values_a, const int* offsets_a, const int* columns_a, const T* beta,
                                 const trnsparseMatDescr* db, int nnz_b, const T* values_b, const int* offsets_b,
                                 const int* columns_b, const trnsparseMatDescr* dc, T* values_c, int* offsets_c,
                                 int* columns_c, void*) {
  const auto sum =
      sum_of<T>(c, m, n, c.read(alpha, "alpha"), csr_arrays(m, n, nnz_a, da, values_a, offsets_a, columns_a),
                c.read(beta, "beta"), csr_arrays(m, n, nnz_b, db, values_b, offsets_b, columns_b));
  put_csr<T>(c, csr_arrays(m, n, sum.nnz(), dc, values_c, offsets_c, columns_c), sum);
}

}  // namespace trn::capi::sparse

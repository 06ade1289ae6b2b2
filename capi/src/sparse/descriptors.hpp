// What cuSPARSE's descriptors hold, and the functions that make, ask and change them. A descriptor names memory of the
// caller's; it is looked up when an operation uses it. Forms for const operands differ in their pointers alone, so most
// bodies are templates that serve both.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>

#include <trnsparse.h>

#include "../element_types.hpp"

struct trnsparseSpVecDescr {
  std::int64_t size, nnz;
  void *indices, *values;
  trnsparseIndexType_t index_type;
  trnsparseIndexBase_t base;
  trnDataType type;
};
struct trnsparseDnVecDescr {
  std::int64_t size;
  void* values;
  trnDataType type;
};
struct trnsparseDnMatDescr {
  std::int64_t rows, columns, ld;
  void* values;
  trnDataType type;
  trnsparseOrder_t order;
  int batches = 1;
  std::int64_t stride = 0;
};
// `offsets` are row indices in the COO format, `indices` row indices in CSC. Extents are those of elements; `nnz`
// counts blocks in BSR.
struct trnsparseSpMatDescr {
  trnsparseFormat_t format;
  std::int64_t rows, columns, nnz;
  void *offsets, *indices, *values;
  trnsparseIndexType_t offset_type, index_type;
  trnsparseIndexBase_t base;
  trnDataType type;
  std::int64_t block_rows = 1, block_columns = 1;  // of BSR; of Blocked-ELL (square); block_rows: of a slice
  std::int64_t width = 0;                          // Blocked-ELL: columns that are stored; Sliced-ELL: all values
  trnsparseOrder_t order = TRNSPARSE_ORDER_ROW;    // within blocks
  int batches = 1;
  std::int64_t offset_stride = 0, index_stride = 0, value_stride = 0;
  trnsparseFillMode_t fill = TRNSPARSE_FILL_MODE_LOWER;
  trnsparseDiagType_t diag = TRNSPARSE_DIAG_TYPE_NON_UNIT;
  std::shared_ptr<void> plan = {};  // of the last product
};
struct trnsparseMatDescr {
  trnsparseMatrixType_t type = TRNSPARSE_MATRIX_TYPE_GENERAL;
  trnsparseFillMode_t fill = TRNSPARSE_FILL_MODE_LOWER;
  trnsparseDiagType_t diag = TRNSPARSE_DIAG_TYPE_NON_UNIT;
  trnsparseIndexBase_t base = TRNSPARSE_INDEX_BASE_ZERO;
};
// Triangular solves and products of two sparse matrices: what their first phase found, of the type that it was for.
struct trnsparsePhases {
  trnDataType type = TRN_R_32F;
  int op = 0;
  std::int64_t products = 0;
  std::shared_ptr<void> found = {};
};
struct trnsparseSpSVDescr : trnsparsePhases {};
struct trnsparseSpSMDescr : trnsparsePhases {};
struct trnsparseSpGEMMDescr : trnsparsePhases {};
// Incomplete factors: the first pivot that was in trouble, counted as the matrix counts, or -1.
struct trnsparseFactorInfo {
  int zero_pivot = -1;
  bool boost = false;
  double tolerance = 0, value = 1;
};
struct trnsparsecsrilu02Info : trnsparseFactorInfo {};
struct trnsparsecsric02Info : trnsparseFactorInfo {};

namespace trn::capi::sparse {

using Int = std::int64_t;
using SpVec = trnsparseSpVecDescr;
using DnVec = trnsparseDnVecDescr;
using SpMat = trnsparseSpMatDescr;
using DnMat = trnsparseDnMatDescr;

template <class D>
requires std::is_class_v<D>
[[nodiscard]] std::shared_ptr<D> look(const D* address) {
  auto found = alive<D>().get(address);
  require(found != nullptr, "a descriptor is {}",
          address ? "not alive: it was destroyed, or is something else" : "null");
  return found;
}
template <class D> void give(auto* out, D&& made) {
  require(out != nullptr, "the address of the descriptor is null; it receives the descriptor");
  *out = alive<std::remove_reference_t<D>>().add(std::make_shared<std::remove_reference_t<D>>(std::move(made)));
}
template <class D> void create(D** out) { give(out, D{}); }
template <class D> void destroy(const D* descriptor) {
  if (descriptor) (void)look(descriptor), alive<D>().remove(descriptor);
}
// Results that are not wanted may be null.
template <class A, class B> void tell(A* to, B value) {
  if (to) *to = static_cast<A>(value);
}

inline void check(trnsparseIndexType_t type) {
  require(type >= TRNSPARSE_INDEX_16U && type <= TRNSPARSE_INDEX_64I, "index type {}; there are 1 to 3",
          static_cast<int>(type));
  if (type == TRNSPARSE_INDEX_16U) fail<NotImplemented>("indices of 16 bits; there are 32 and 64");
}
inline void check(trnsparseIndexBase_t base) {
  require(base == TRNSPARSE_INDEX_BASE_ZERO || base == TRNSPARSE_INDEX_BASE_ONE, "index base {}; it must be 0 or 1",
          static_cast<int>(base));
}
inline void check(trnsparseOrder_t order) {
  require(order == TRNSPARSE_ORDER_COL || order == TRNSPARSE_ORDER_ROW, "order {}; it must be 1 or 2",
          static_cast<int>(order));
}
inline void check(trnDataType type) {
  with_type(type, [](auto*) {});
}
inline void check(Int count) { require(count >= 0, "a size is {}; it must be >= 0", count); }
template <class P> void* plain(P* address) { return const_cast<void*>(static_cast<const void*>(address)); }

void create_sp_vec(auto* out, Int size, Int nnz, auto* indices, auto* values, trnsparseIndexType_t index_type,
                   trnsparseIndexBase_t base, Type type) {
  check(size), check(nnz), check(index_type), check(base), check(type);
  require(nnz <= size, "{} entries in a vector of {}", nnz, size);
  give(out, SpVec{size, nnz, plain(indices), plain(values), index_type, base, type});
}
void sp_vec_get(const SpVec* descriptor, Int* size, Int* nnz, auto** indices, auto** values,
                trnsparseIndexType_t* index_type, trnsparseIndexBase_t* base, Type* type) {
  const auto v = look(descriptor);
  tell(size, v->size), tell(nnz, v->nnz), tell(indices, v->indices), tell(values, v->values);
  tell(index_type, v->index_type), tell(base, v->base), tell(type, v->type);
}
inline void get_base(const auto* descriptor, trnsparseIndexBase_t* base) { tell(base, look(descriptor)->base); }
void get_values(const auto* descriptor, auto** values) { tell(values, look(descriptor)->values); }
void set_values(auto* descriptor, void* values) { look(descriptor)->values = values; }

void create_dn_vec(auto* out, Int size, auto* values, Type type) {
  check(size), check(type);
  give(out, DnVec{size, plain(values), type});
}
void dn_vec_get(const DnVec* descriptor, Int* size, auto** values, Type* type) {
  const auto v = look(descriptor);
  tell(size, v->size), tell(values, v->values), tell(type, v->type);
}

void create_dn_mat(auto* out, Int rows, Int columns, Int ld, auto* values, Type type, trnsparseOrder_t order) {
  check(rows), check(columns), check(type), check(order);
  const Int line = order == TRNSPARSE_ORDER_COL ? rows : columns;
  require(ld >= line, "the leading dimension is {}; it must be at least {}", ld, line);
  give(out, DnMat{rows, columns, ld, plain(values), type, order});
}
void dn_mat_get(const DnMat* descriptor, Int* rows, Int* columns, Int* ld, auto** values, Type* type,
                trnsparseOrder_t* order) {
  const auto m = look(descriptor);
  tell(rows, m->rows), tell(columns, m->columns), tell(ld, m->ld), tell(values, m->values);
  tell(type, m->type), tell(order, m->order);
}
inline void dn_mat_set_strided_batch(DnMat* descriptor, int count, Int stride) {
  require(count >= 1 && stride >= 0, "{} matrices, {} elements apart", count, stride);
  const auto m = look(descriptor);
  m->batches = count, m->stride = stride;
}
inline void dn_mat_get_strided_batch(const DnMat* descriptor, int* count, Int* stride) {
  const auto m = look(descriptor);
  tell(count, m->batches), tell(stride, m->stride);
}

// CSR and CSC.
template <trnsparseFormat_t format>
void create_compressed(auto* out, Int rows, Int columns, Int nnz, auto* offsets, auto* indices, auto* values,
                       trnsparseIndexType_t offset_type, trnsparseIndexType_t index_type, trnsparseIndexBase_t base,
                       Type type) {
  check(rows), check(columns), check(nnz), check(offset_type), check(index_type), check(base), check(type);
  give(out, SpMat{format, rows, columns, nnz, plain(offsets), plain(indices), plain(values), offset_type, index_type,
                  base, type});
}
void create_csr(auto... arguments) { create_compressed<TRNSPARSE_FORMAT_CSR>(arguments...); }
void create_csc(auto... arguments) { create_compressed<TRNSPARSE_FORMAT_CSC>(arguments...); }
void create_coo(auto* out, Int rows, Int columns, Int nnz, auto* row_indices, auto* indices, auto* values,
                trnsparseIndexType_t type, trnsparseIndexBase_t base, Type element) {
  create_compressed<TRNSPARSE_FORMAT_COO>(out, rows, columns, nnz, row_indices, indices, values, type, type, base,
                                          element);
}
void create_bsr(auto* out, Int rows, Int columns, Int nnz, Int block_rows, Int block_columns, auto* offsets,
                auto* indices, auto* values, trnsparseIndexType_t offset_type, trnsparseIndexType_t index_type,
                trnsparseIndexBase_t base, Type type, trnsparseOrder_t order) {
  check(rows), check(columns), check(nnz), check(offset_type), check(index_type), check(base), check(type);
  check(order);
  require(block_rows >= 1 && block_columns >= 1, "blocks of {} x {}", block_rows, block_columns);
  require(rows <= INT32_MAX / block_rows && columns <= INT32_MAX / block_columns, "the extents are beyond 32 bits");
  SpMat made{TRNSPARSE_FORMAT_BSR,
             rows * block_rows,
             columns * block_columns,
             nnz,
             plain(offsets),
             plain(indices),
             plain(values),
             offset_type,
             index_type,
             base,
             type,
             block_rows,
             block_columns};
  made.order = order;
  give(out, std::move(made));
}
void create_blocked_ell(auto* out, Int rows, Int columns, Int block, Int width, auto* indices, auto* values,
                        trnsparseIndexType_t index_type, trnsparseIndexBase_t base, Type type) {
  check(rows), check(columns), check(width), check(index_type), check(base), check(type);
  require(block >= 1 && rows % block == 0 && columns % block == 0 && width % block == 0 && width <= columns,
          "{} x {} in blocks of {}, {} columns stored: blocks must divide all of them", rows, columns, block, width);
  give(out, SpMat{TRNSPARSE_FORMAT_BLOCKED_ELL, rows, columns, rows * width, nullptr, plain(indices), plain(values),
                  index_type, index_type, base, type, block, block, width});
}
void blocked_ell_get(const SpMat* descriptor, Int* rows, Int* columns, Int* block, Int* width, auto** indices,
                     auto** values, trnsparseIndexType_t* index_type, trnsparseIndexBase_t* base, Type* type) {
  const auto m = look(descriptor);
  require(m->format == TRNSPARSE_FORMAT_BLOCKED_ELL, "the matrix has another format");
  tell(rows, m->rows), tell(columns, m->columns), tell(block, m->block_rows), tell(width, m->width);
  tell(indices, m->indices), tell(values, m->values), tell(index_type, m->index_type), tell(base, m->base);
  tell(type, m->type);
}
void create_sliced_ell(auto* out, Int rows, Int columns, Int nnz, Int stored, Int slice, auto* offsets, auto* indices,
                       auto* values, trnsparseIndexType_t offset_type, trnsparseIndexType_t index_type,
                       trnsparseIndexBase_t base, Type type) {
  check(rows), check(columns), check(nnz), check(stored), check(offset_type), check(index_type), check(base);
  check(type);
  require(slice >= 1, "slices of {} rows", slice);
  give(out, SpMat{TRNSPARSE_FORMAT_SLICED_ELLPACK, rows, columns, nnz, plain(offsets), plain(indices), plain(values),
                  offset_type, index_type, base, type, slice, 1, stored});
}

template <trnsparseFormat_t format>
void get_compressed(const SpMat* descriptor, Int* rows, Int* columns, Int* nnz, auto** offsets, auto** indices,
                    auto** values, trnsparseIndexType_t* offset_type, trnsparseIndexType_t* index_type,
                    trnsparseIndexBase_t* base, Type* type) {
  const auto m = look(descriptor);
  require(m->format == format, "the matrix has another format");
  tell(rows, m->rows), tell(columns, m->columns), tell(nnz, m->nnz), tell(offsets, m->offsets);
  tell(indices, m->indices), tell(values, m->values), tell(offset_type, m->offset_type);
  tell(index_type, m->index_type), tell(base, m->base), tell(type, m->type);
}
void csr_get(auto... arguments) { get_compressed<TRNSPARSE_FORMAT_CSR>(arguments...); }
void csc_get(auto... arguments) { get_compressed<TRNSPARSE_FORMAT_CSC>(arguments...); }
void coo_get(const SpMat* m, Int* rows, Int* columns, Int* nnz, auto** row_indices, auto** indices, auto** values,
             trnsparseIndexType_t* index_type, trnsparseIndexBase_t* base, Type* type) {
  get_compressed<TRNSPARSE_FORMAT_COO>(m, rows, columns, nnz, row_indices, indices, values, index_type, index_type,
                                       base, type);
}
template <trnsparseFormat_t format> void set_pointers(SpMat* descriptor, void* offsets, void* indices, void* values) {
  const auto m = look(descriptor);
  require(m->format == format, "the matrix has another format");
  m->offsets = offsets, m->indices = indices, m->values = values;
}
inline void csr_set_pointers(SpMat* m, void* offsets, void* indices, void* values) {
  set_pointers<TRNSPARSE_FORMAT_CSR>(m, offsets, indices, values);
}
inline void csc_set_pointers(SpMat* m, void* offsets, void* indices, void* values) {
  set_pointers<TRNSPARSE_FORMAT_CSC>(m, offsets, indices, values);
}
inline void coo_set_pointers(SpMat* m, void* rows, void* indices, void* values) {
  set_pointers<TRNSPARSE_FORMAT_COO>(m, rows, indices, values);
}
inline void sp_mat_get_format(const SpMat* m, trnsparseFormat_t* format) { tell(format, look(m)->format); }
inline void sp_mat_get_size(const SpMat* descriptor, Int* rows, Int* columns, Int* nnz) {
  const auto m = look(descriptor);
  tell(rows, m->rows), tell(columns, m->columns), tell(nnz, m->nnz);
}
inline void sp_mat_get_strided_batch(const SpMat* m, int* count) { tell(count, look(m)->batches); }
inline void set_batch(SpMat* descriptor, trnsparseFormat_t format, int count, Int offsets, Int indices, Int values) {
  const auto m = look(descriptor);
  require(m->format == format, "the matrix has another format");
  require(count >= 1 && offsets >= 0 && indices >= 0 && values >= 0, "{} matrices, {}, {} and {} elements apart", count,
          offsets, indices, values);
  m->batches = count, m->offset_stride = offsets, m->index_stride = indices, m->value_stride = values;
}
inline void coo_set_strided_batch(SpMat* m, int count, Int stride) {
  set_batch(m, TRNSPARSE_FORMAT_COO, count, stride, stride, stride);
}
inline void csr_set_strided_batch(SpMat* m, int count, Int offsets, Int entries) {
  set_batch(m, TRNSPARSE_FORMAT_CSR, count, offsets, entries, entries);
}
inline void bsr_set_strided_batch(SpMat* m, int count, Int offsets, Int indices, Int values) {
  set_batch(m, TRNSPARSE_FORMAT_BSR, count, offsets, indices, values);
}
// Both attributes are enumerations of 0 and 1.
inline void* attribute_of(SpMat& m, trnsparseSpMatAttribute_t which, const void* data, std::size_t bytes) {
  static_assert(sizeof m.fill == sizeof(int) && sizeof m.diag == sizeof(int));
  require(data != nullptr && bytes == sizeof(int), "an attribute has {} bytes", sizeof(int));
  require(which == TRNSPARSE_SPMAT_FILL_MODE || which == TRNSPARSE_SPMAT_DIAG_TYPE, "attribute {}; there are 0 and 1",
          static_cast<int>(which));
  return which == TRNSPARSE_SPMAT_FILL_MODE ? static_cast<void*>(&m.fill) : static_cast<void*>(&m.diag);
}
inline void sp_mat_get_attribute(const SpMat* m, trnsparseSpMatAttribute_t which, void* data, std::size_t bytes) {
  std::memcpy(data, attribute_of(*look(m), which, data, bytes), sizeof(int));
}
inline void sp_mat_set_attribute(SpMat* descriptor, trnsparseSpMatAttribute_t which, void* data, std::size_t bytes) {
  const auto m = look(descriptor);
  void* const to = attribute_of(*m, which, data, bytes);
  int value;
  std::memcpy(&value, data, sizeof value);
  require(value == 0 || value == 1, "the attribute's value is {}; it must be 0 or 1", value);
  std::memcpy(to, &value, sizeof value);
}

inline void set_mat_type(trnsparseMatDescr* d, trnsparseMatrixType_t type) {
  require(type >= 0 && type <= TRNSPARSE_MATRIX_TYPE_TRIANGULAR, "matrix type {}", static_cast<int>(type));
  look(d)->type = type;
}
inline void set_mat_fill_mode(trnsparseMatDescr* d, trnsparseFillMode_t fill) {
  require(fill == TRNSPARSE_FILL_MODE_LOWER || fill == TRNSPARSE_FILL_MODE_UPPER, "fill mode {}",
          static_cast<int>(fill));
  look(d)->fill = fill;
}
inline void set_mat_diag_type(trnsparseMatDescr* d, trnsparseDiagType_t diag) {
  require(diag == TRNSPARSE_DIAG_TYPE_NON_UNIT || diag == TRNSPARSE_DIAG_TYPE_UNIT, "diagonal type {}",
          static_cast<int>(diag));
  look(d)->diag = diag;
}
inline void set_mat_index_base(trnsparseMatDescr* d, trnsparseIndexBase_t base) {
  check(base);
  look(d)->base = base;
}
[[nodiscard]] inline auto get_mat_type(const trnsparseMatDescr* d) { return look(d)->type; }
[[nodiscard]] inline auto get_mat_fill_mode(const trnsparseMatDescr* d) { return look(d)->fill; }
[[nodiscard]] inline auto get_mat_diag_type(const trnsparseMatDescr* d) { return look(d)->diag; }
[[nodiscard]] inline auto get_mat_index_base(const trnsparseMatDescr* d) { return look(d)->base; }

}  // namespace trn::capi::sparse

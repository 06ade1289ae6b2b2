// The constructors and moves of the other formats, with their checks.
#include <trn/sparse/formats.hpp>

#include <trn/core/operands.hpp>

#include "gather_entries.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"
#include "triplet_checks.hpp"

namespace trn::sparse {

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

template <Scalar T> Array<T> copied_values(const char* operation, const Executor& executor,
                                           const VectorView<const T>& values, std::int64_t size) {
  operands::check_owner(operation, "values", executor, values.executor());
  require(values.size() == size, "{}: {} values where the pattern takes {}", operation, values.size(), size);
  operands::check_address(operation, "values", values.data(), size == 0);
  Array<T> copied(executor, {size});
  copy(View<const T>(values), copied.view());
  return copied;
}

}  // namespace

template <Scalar T, Index I>
Csc<T, I> Csc<T, I>::from_triplets(const Executor& executor, Extents e, const Triplets<T>& t, Duplicates duplicates) {
  return Csc(Csr<T, I>::from_triplets(executor, {e.columns, e.rows}, {t.columns, t.rows, t.values}, duplicates));
}

template <Scalar T, Index I>
Coo<T, I>::Coo(detail::Trusted, Extents extents, Array<I>&& rows, Array<I>&& columns, Array<T>&& values)
    : data_(std::make_shared<const Data>(Data{extents, std::move(rows), std::move(columns)})),
      values_(std::make_shared<const Array<T>>(std::move(values))) {}

template <Scalar T, Index I>
Coo<T, I> Coo<T, I>::from_triplets(const Executor& executor, Extents e, const Triplets<T>& t, Duplicates duplicates) {
  constexpr const char* operation = "sparse.coo.from_triplets";
  check_triplets<I>(operation, e, t);
  const std::size_t count = t.values.size();
  // By comparison, so that no memory depends on the extents.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t x, std::size_t y) {
    return t.rows[x] != t.rows[y] ? t.rows[x] < t.rows[y] : t.columns[x] < t.columns[y];
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
  std::vector<I> rows, columns;
  std::vector<T> values;
  rows.reserve(count), columns.reserve(count), values.reserve(count);
  for (const std::size_t k : order) {
    if (!rows.empty() && rows.back() == t.rows[k] && columns.back() == t.columns[k]) {
      require(duplicates == Duplicates::Sum, "{}: row {}, column {} comes twice; use Duplicates::Sum to add them",
              operation, t.rows[k], t.columns[k]);
      values.back() += t.values[k];
      continue;
    }
    rows.push_back(static_cast<I>(t.rows[k]));
    columns.push_back(static_cast<I>(t.columns[k]));
    values.push_back(t.values[k]);
  }
  Coo made(detail::Trusted{}, e, host_array(std::span<const I>(rows)), host_array(std::span<const I>(columns)),
           host_array(std::span<const T>(values)));
  return executor == made.executor() ? made : made.to(executor);
}

template <Scalar T, Index I> Coo<T, I> Coo<T, I>::with_values(const VectorView<const T>& values) const {
  return Coo(data_, std::make_shared<const Array<T>>(copied_values("sparse.coo", executor(), values, nnz())));
}
template <Scalar T, Index I> Coo<T, I> Coo<T, I>::to(const Executor& executor) const {
  return Coo(detail::Trusted{}, extents(), data_->rows.to(executor), data_->columns.to(executor),
             values_->to(executor));
}

template <Scalar T, Index I> Bsr<T, I>::Bsr(Extents extents, std::int64_t block_rows, std::int64_t block_columns,
                                            const Pattern<I>& blocks, const VectorView<const T>& values)
    : extents_(extents), r_(block_rows), c_(block_columns), blocks_(blocks) {
  constexpr const char* operation = "sparse.bsr";
  check_extents<I>(operation, extents);
  require(r_ >= 1 && c_ >= 1 && r_ <= 32768 && c_ <= 32768, "{}: blocks of {} x {}; both from 1 to 32768", operation,
          r_, c_);
  require(blocks.rows() == ceil_div(extents.rows, r_) && blocks.columns() == ceil_div(extents.columns, c_),
          "{}: a pattern of {} x {} blocks of {} x {} for a matrix of {} x {}", operation, blocks.rows(),
          blocks.columns(), r_, c_, extents.rows, extents.columns);
  values_ = std::make_shared<const Array<T>>(
      copied_values(operation, blocks.executor(), values, byte_count({blocks.nnz(), r_, c_}, 1)));
}
template <Scalar T, Index I> Bsr<T, I> Bsr<T, I>::to(const Executor& executor) const {
  return Bsr(detail::Trusted{}, extents_, r_, c_, blocks_.to(executor), values_->to(executor));
}

template <Scalar T, Index I>
Sell<T, I>::Sell(detail::Trusted, Extents extents, std::int64_t height, std::int64_t nnz, Array<I>&& order,
                 Array<std::int64_t>&& offsets, Array<I>&& indices, Array<T>&& values)
    : data_(std::make_shared<const Data>(
          Data{extents, height, nnz, std::move(order), std::move(offsets), std::move(indices), std::move(values)})) {}
template <Scalar T, Index I> Sell<T, I> Sell<T, I>::to(const Executor& executor) const {
  return Sell(detail::Trusted{}, extents(), height(), nnz(), data_->order.to(executor), data_->offsets.to(executor),
              data_->indices.to(executor), data_->values.to(executor));
}

template <Scalar T, Index I> BlockedEll<T, I>::BlockedEll(const Executor& executor, Extents e, std::int64_t block,
                                                          std::int64_t width, std::span<const I> indices,
                                                          std::span<const T> values) {
  constexpr const char* operation = "sparse.blocked_ell";
  check_extents<I>(operation, e);
  require(block >= 1 && block <= 32768 && width >= 0, "{}: blocks of {} and {} in a block row", operation, block,
          width);
  const std::int64_t rows = ceil_div(e.rows, block), columns = ceil_div(e.columns, block);
  require(static_cast<std::int64_t>(indices.size()) == byte_count({rows, width}, 1),
          "{}: {} indices for {} block rows of {} blocks", operation, indices.size(), rows, width);
  require(static_cast<std::int64_t>(values.size()) == byte_count({rows, width, block, block}, 1),
          "{}: {} values for {} block rows of {} blocks of {} x {}", operation, values.size(), rows, width, block,
          block);
  for (std::int64_t i = 0; i < rows; ++i) {
    const I* row = indices.data() + i * width;
    std::int64_t last = -1;
    bool padding = false;
    for (std::int64_t k = 0; k < width; ++k) {
      require(row[k] >= -1 && row[k] < columns,
              "{}: block row {} has block column {}; they are 0 to {}, or -1 for none", operation, i, row[k],
              columns - 1);
      require(!padding || row[k] == -1, "{}: block row {} has block column {} after padding", operation, i, row[k]);
      require(row[k] == -1 || row[k] > last, "{}: block row {} is not sorted, or has block column {} twice", operation,
              i, row[k]);
      padding = row[k] == -1;
      last = row[k];
    }
  }
  data_ = std::make_shared<const Data>(
      Data{e, block, width, Array<I>::from_host(executor, {static_cast<std::int64_t>(indices.size())}, indices),
           Array<T>::from_host(executor, {static_cast<std::int64_t>(values.size())}, values)});
}
template <Scalar T, Index I> BlockedEll<T, I> BlockedEll<T, I>::to(const Executor& executor) const {
  return BlockedEll(Data{extents(), block(), width(), data_->indices.to(executor), data_->values.to(executor)});
}

template <Scalar T>
Dia<T>::Dia(const Executor& executor, Extents e, std::span<const std::int64_t> offsets, std::span<const T> values) {
  constexpr const char* operation = "sparse.dia";
  check_extents<std::int64_t>(operation, e);
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    require(k == 0 || offsets[k - 1] < offsets[k], "{}: diagonal {} after {}; offsets must rise", operation, offsets[k],
            k == 0 ? 0 : offsets[k - 1]);
    require(offsets[k] > -e.rows && offsets[k] < e.columns, "{}: diagonal {} lies outside {} x {}", operation,
            offsets[k], e.rows, e.columns);
  }
  const auto count = static_cast<std::int64_t>(offsets.size());
  require(static_cast<std::int64_t>(values.size()) == byte_count({count, e.rows}, 1),
          "{}: {} values for {} diagonals of {} rows", operation, values.size(), count, e.rows);
  data_ = std::make_shared<const Data>(
      Data{e,
           {offsets.begin(), offsets.end()},
           Array<T>::from_host(executor, {static_cast<std::int64_t>(values.size())}, values)});
}
template <Scalar T> std::int64_t Dia<T>::nnz() const {
  std::int64_t sum = 0;
  for (const std::int64_t d : offsets()) sum += std::min(rows(), columns() - d) - std::max<std::int64_t>(0, -d);
  return sum;
}
template <Scalar T> Dia<T> Dia<T>::to(const Executor& executor) const {
  return Dia(Data{extents(), offsets(), data_->values.to(executor)});
}

template <Scalar T, Index I> Triangle<T, I>::Triangle(Csr<T, I> stored, Uplo uplo, Symmetry symmetry)
    : stored_(std::move(stored)), uplo_(uplo), symmetry_(symmetry) {
  constexpr const char* operation = "sparse.triangle";
  host_only(operation, stored_.executor());
  check_square(operation, stored_.extents());
  require(symmetry != Symmetry::General, "{}: a general matrix has no other half; use Csr", operation);
  const CsrRef<T, I> a = host_ref(stored_);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      require(uplo == Uplo::Lower ? j <= i : j >= i, "{}: entry ({}, {}) lies outside the {} triangle", operation, i, j,
              uplo == Uplo::Lower ? "lower" : "upper");
      if (i != j) continue;
      require(symmetry != Symmetry::Skew || a.values[k] == T(0),
              "{}: a skew matrix has no diagonal, but ({}, {}) is not 0", operation, i, i);
      require(symmetry != Symmetry::Hermitian || conjugate_of(a.values[k]) == a.values[k],
              "{}: the diagonal of a Hermitian matrix is real, but ({}, {}) is not", operation, i, i);
    }
  }
}
template <Scalar T, Index I> Triangle<T, I> Triangle<T, I>::to(const Executor& executor) const {
  return Triangle(detail::Trusted{}, stored_.to(executor), uplo_, symmetry_);
}

#define TRN_FORMATS(T, I)                                                                                \
  template Csc<T, I> Csc<T, I>::from_triplets(const Executor&, Extents, const Triplets<T>&, Duplicates); \
  template class Coo<T, I>;                                                                              \
  template class Bsr<T, I>;                                                                              \
  template class Sell<T, I>;                                                                             \
  template class BlockedEll<T, I>;                                                                       \
  template class Triangle<T, I>;
TRN_SPARSE_INDEXED(TRN_FORMATS)
#undef TRN_FORMATS
#define TRN_DIA(T) template class Dia<T>;
TRN_SPARSE_SCALARS(TRN_DIA)
#undef TRN_DIA

}  // namespace trn::sparse

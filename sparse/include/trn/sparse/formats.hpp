// The other formats, each an immutable value whose copies share memory: Csc, Coo, Bsr, Sell, BlockedEll, Dia and one
// triangle of a symmetric matrix. convert.hpp turns each into each; entries that a format stores as zeros are entries,
// padding is not.
#pragma once

#include <trn/sparse/csr.hpp>

namespace trn::sparse {

// Column-compressed: the row-compressed form of the transpose.
template <Scalar T, Index I = std::int32_t> class Csc {
 public:
  using Value = T;
  using IndexType = I;
  // `transposed` is A^T.
  explicit Csc(Csr<T, I> transposed) : transposed_(std::move(transposed)) {}
  [[nodiscard]] static Csc from_triplets(const Executor& executor, Extents extents, const Triplets<T>& entries,
                                         Duplicates duplicates = Duplicates::Sum);
  // Offsets run over columns, indices are rows.
  template <Index O> [[nodiscard]] static Csc adopt(const Executor& executor, const CsrView<T, I, O>& view,
                                                    Duplicates duplicates = Duplicates::Error) {
    CsrView<T, I, O> flipped = view;
    flipped.extents = {view.extents.columns, view.extents.rows};
    return Csc(Csr<T, I>::adopt(executor, flipped, duplicates));
  }
  [[nodiscard]] const Csr<T, I>& transposed() const { return transposed_; }
  [[nodiscard]] const Pattern<I>& pattern() const { return transposed_.pattern(); }  // of A^T
  [[nodiscard]] VectorView<const T> values() const { return transposed_.values(); }
  [[nodiscard]] Extents extents() const { return {transposed_.columns(), transposed_.rows()}; }
  [[nodiscard]] std::int64_t rows() const { return transposed_.columns(); }
  [[nodiscard]] std::int64_t columns() const { return transposed_.rows(); }
  [[nodiscard]] std::int64_t nnz() const { return transposed_.nnz(); }
  [[nodiscard]] const Executor& executor() const { return transposed_.executor(); }
  [[nodiscard]] Csc with_values(const VectorView<const T>& values) const {
    return Csc(transposed_.with_values(values));
  }
  [[nodiscard]] Csc to(const Executor& executor) const { return Csc(transposed_.to(executor)); }

 private:
  Csr<T, I> transposed_;
};

// Row, column and value of each entry, sorted by row and then column, no duplicates. No memory depends on the extents.
template <Scalar T, Index I = std::int32_t> class Coo {
 public:
  using Value = T;
  using IndexType = I;
  Coo(detail::Trusted, Extents extents, Array<I>&& rows, Array<I>&& columns, Array<T>&& values);
  [[nodiscard]] static Coo from_triplets(const Executor& executor, Extents extents, const Triplets<T>& entries,
                                         Duplicates duplicates = Duplicates::Sum);
  [[nodiscard]] Extents extents() const { return data_->extents; }
  [[nodiscard]] std::int64_t rows() const { return data_->extents.rows; }
  [[nodiscard]] std::int64_t columns() const { return data_->extents.columns; }
  [[nodiscard]] std::int64_t nnz() const { return data_->rows.size(); }
  [[nodiscard]] const Executor& executor() const { return data_->rows.executor(); }
  [[nodiscard]] VectorView<const I> row_indices() const { return {executor(), data_->rows.data(), nnz()}; }
  [[nodiscard]] VectorView<const I> column_indices() const { return {executor(), data_->columns.data(), nnz()}; }
  [[nodiscard]] VectorView<const T> values() const { return {executor(), values_->data(), nnz()}; }
  [[nodiscard]] Coo with_values(const VectorView<const T>& values) const;
  [[nodiscard]] Coo to(const Executor& executor) const;

 private:
  struct Data {
    Extents extents;
    Array<I> rows, columns;
  };
  Coo(std::shared_ptr<const Data> data, std::shared_ptr<const Array<T>> values)
      : data_(std::move(data)), values_(std::move(values)) {}
  std::shared_ptr<const Data> data_;
  std::shared_ptr<const Array<T>> values_;
};

// Blocks of r x c, row-major, on a pattern of blocks. The last block row and column may hang over the extents; what
// lies there is zero and no entry.
template <Scalar T, Index I = std::int32_t> class Bsr {
 public:
  using Value = T;
  using IndexType = I;
  // `values` holds the blocks in the order of the pattern; `blocks` is the pattern of blocks, on one executor with
  // them.
  Bsr(Extents extents, std::int64_t block_rows, std::int64_t block_columns, const Pattern<I>& blocks,
      const VectorView<const T>& values);
  Bsr(detail::Trusted, Extents extents, std::int64_t block_rows, std::int64_t block_columns, Pattern<I> blocks,
      Array<T>&& values)
      : extents_(extents),
        r_(block_rows),
        c_(block_columns),
        blocks_(std::move(blocks)),
        values_(std::make_shared<const Array<T>>(std::move(values))) {}
  [[nodiscard]] Extents extents() const { return extents_; }
  [[nodiscard]] std::int64_t rows() const { return extents_.rows; }
  [[nodiscard]] std::int64_t columns() const { return extents_.columns; }
  [[nodiscard]] std::int64_t block_rows() const { return r_; }
  [[nodiscard]] std::int64_t block_columns() const { return c_; }
  [[nodiscard]] std::int64_t stored() const { return values_->size(); }
  [[nodiscard]] const Pattern<I>& pattern() const { return blocks_; }
  [[nodiscard]] VectorView<const T> values() const { return {executor(), values_->data(), values_->size()}; }
  [[nodiscard]] const Executor& executor() const { return blocks_.executor(); }
  [[nodiscard]] Bsr with_values(const VectorView<const T>& values) const {
    return Bsr(extents_, r_, c_, blocks_, values);
  }
  [[nodiscard]] Bsr to(const Executor& executor) const;

 private:
  Extents extents_;
  std::int64_t r_, c_;
  Pattern<I> blocks_;
  std::shared_ptr<const Array<T>> values_;
};

// Slices of `height` rows, each as wide as its longest row, entries of one column of a slice side by side. Rows are
// sorted by length within windows of `sigma` rows: slice row k holds row order()[k]. Padding has column -1 and value 0.
template <Scalar T, Index I = std::int32_t> class Sell {
 public:
  using Value = T;
  using IndexType = I;
  Sell(detail::Trusted, Extents extents, std::int64_t height, std::int64_t nnz, Array<I>&& order,
       Array<std::int64_t>&& offsets, Array<I>&& indices, Array<T>&& values);
  [[nodiscard]] Extents extents() const { return data_->extents; }
  [[nodiscard]] std::int64_t rows() const { return data_->extents.rows; }
  [[nodiscard]] std::int64_t columns() const { return data_->extents.columns; }
  [[nodiscard]] std::int64_t height() const { return data_->height; }
  [[nodiscard]] std::int64_t nnz() const { return data_->nnz; }                // without padding
  [[nodiscard]] std::int64_t stored() const { return data_->indices.size(); }  // with it
  [[nodiscard]] const Executor& executor() const { return data_->indices.executor(); }
  [[nodiscard]] VectorView<const I> order() const { return {executor(), data_->order.data(), data_->order.size()}; }
  [[nodiscard]] VectorView<const std::int64_t> slice_offsets() const {  // in stored entries
    return {executor(), data_->offsets.data(), data_->offsets.size()};
  }
  [[nodiscard]] VectorView<const I> indices() const { return {executor(), data_->indices.data(), stored()}; }
  [[nodiscard]] VectorView<const T> values() const { return {executor(), data_->values.data(), stored()}; }
  [[nodiscard]] Sell to(const Executor& executor) const;

 private:
  struct Data {
    Extents extents;
    std::int64_t height, nnz;
    Array<I> order;
    Array<std::int64_t> offsets;
    Array<I> indices;
    Array<T> values;
  };
  std::shared_ptr<const Data> data_;
};

// Square blocks, the same number of them in each block row (cuSPARSE's Blocked-ELL). Padding blocks have index -1 and
// are zero.
template <Scalar T, Index I = std::int32_t> class BlockedEll {
 public:
  using Value = T;
  using IndexType = I;
  // From host memory: indices is (block rows x width), values is (block rows x width x block x block), row-major.
  BlockedEll(const Executor& executor, Extents extents, std::int64_t block, std::int64_t width,
             std::span<const I> indices, std::span<const T> values);
  [[nodiscard]] Extents extents() const { return data_->extents; }
  [[nodiscard]] std::int64_t rows() const { return data_->extents.rows; }
  [[nodiscard]] std::int64_t columns() const { return data_->extents.columns; }
  [[nodiscard]] std::int64_t block() const { return data_->block; }
  [[nodiscard]] std::int64_t width() const { return data_->width; }  // blocks in a block row
  [[nodiscard]] std::int64_t stored() const { return data_->values.size(); }
  [[nodiscard]] const Executor& executor() const { return data_->values.executor(); }
  [[nodiscard]] VectorView<const I> indices() const {
    return {executor(), data_->indices.data(), data_->indices.size()};
  }
  [[nodiscard]] VectorView<const T> values() const { return {executor(), data_->values.data(), stored()}; }
  [[nodiscard]] BlockedEll to(const Executor& executor) const;

 private:
  struct Data {
    Extents extents;
    std::int64_t block, width;
    Array<I> indices;
    Array<T> values;
  };
  explicit BlockedEll(Data&& data) : data_(std::make_shared<const Data>(std::move(data))) {}
  std::shared_ptr<const Data> data_;
};

// Diagonals: values[k * rows + i] is A(i, i + offsets[k]); places outside the matrix are ignored. Offsets rise.
template <Scalar T> class Dia {
 public:
  using Value = T;
  // From host memory.
  Dia(const Executor& executor, Extents extents, std::span<const std::int64_t> offsets, std::span<const T> values);
  [[nodiscard]] Extents extents() const { return data_->extents; }
  [[nodiscard]] std::int64_t rows() const { return data_->extents.rows; }
  [[nodiscard]] std::int64_t columns() const { return data_->extents.columns; }
  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return data_->offsets; }
  [[nodiscard]] std::int64_t nnz() const;  // places inside the matrix
  [[nodiscard]] const Executor& executor() const { return data_->values.executor(); }
  [[nodiscard]] VectorView<const T> values() const { return {executor(), data_->values.data(), data_->values.size()}; }
  [[nodiscard]] Dia to(const Executor& executor) const;

 private:
  struct Data {
    Extents extents;
    std::vector<std::int64_t> offsets;
    Array<T> values;
  };
  explicit Dia(Data&& data) : data_(std::make_shared<const Data>(std::move(data))) {}
  std::shared_ptr<const Data> data_;
};

// One triangle of a square matrix that is symmetric, Hermitian or skew. Entries in the other triangle are refused; the
// diagonal of a Hermitian matrix has to be real, that of a skew one zero.
template <Scalar T, Index I = std::int32_t> class Triangle {
 public:
  using Value = T;
  using IndexType = I;
  Triangle(Csr<T, I> stored, Uplo uplo, Symmetry symmetry);
  [[nodiscard]] const Csr<T, I>& stored() const { return stored_; }
  [[nodiscard]] Uplo uplo() const { return uplo_; }
  [[nodiscard]] Symmetry symmetry() const { return symmetry_; }
  [[nodiscard]] Extents extents() const { return stored_.extents(); }
  [[nodiscard]] std::int64_t rows() const { return stored_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return stored_.columns(); }
  [[nodiscard]] const Executor& executor() const { return stored_.executor(); }
  [[nodiscard]] Triangle with_values(const VectorView<const T>& values) const {
    return Triangle(stored_.with_values(values), uplo_, symmetry_);
  }
  [[nodiscard]] Triangle to(const Executor& executor) const;

 private:
  Triangle(detail::Trusted, Csr<T, I> stored, Uplo uplo, Symmetry symmetry)
      : stored_(std::move(stored)), uplo_(uplo), symmetry_(symmetry) {}
  Csr<T, I> stored_;
  Uplo uplo_;
  Symmetry symmetry_;
};

}  // namespace trn::sparse

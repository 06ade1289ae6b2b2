// dist::Matrix and dist::Array: operands whose parts lie on the ranks of a group. Passing one to an operation is how
// distribution is asked for; nothing is distributed behind the caller. A rank's own part is an ordinary view, so that
// local kernels work on it unchanged.
#pragma once

#include <span>
#include <vector>

#include <trn/comm/collectives.hpp>
#include <trn/comm/distribution.hpp>
#include <trn/comm/together.hpp>
#include <trn/core/array.hpp>

namespace trn::dist {

using comm::Communicator;

namespace detail {
void redistribute(const Communicator& group, const std::vector<Move>& moves, const comm::detail::Bytes& from,
                  const comm::detail::Bytes& to);
// Collective: all ranks have the same type and distribution, which is valid and not over more ranks than there are.
// Otherwise all throw InvalidArgument.
BlockCyclic agreed(const Communicator& group, DType dtype, const BlockCyclic& distribution);
Boxes agreed(const Communicator& group, DType dtype, Boxes distribution);
}  // namespace detail

template <Element T> class Matrix {
 public:
  // Collective, as every constructor here. The grid may be smaller than the group; ranks outside have nothing.
  Matrix(Communicator group, const Executor& executor, const BlockCyclic& distribution)
      : group_(std::move(group)),
        distribution_(detail::agreed(group_, dtype_of<T>, distribution)),
        local_rows_(distribution.local_rows(group_.rank())),
        local_columns_(distribution.local_columns(group_.rank())),
        buffer_(comm::together(group_, [&] {
          return trn::Array<T>(executor, {local_columns_, local_rows_});
        })) {}

  [[nodiscard]] const Communicator& group() const { return group_; }
  [[nodiscard]] const Executor& executor() const { return buffer_.executor(); }
  [[nodiscard]] const BlockCyclic& distribution() const { return distribution_; }
  [[nodiscard]] std::int64_t rows() const { return distribution_.rows; }
  [[nodiscard]] std::int64_t columns() const { return distribution_.columns; }
  // This rank's elements, column-major and packed.
  [[nodiscard]] MatrixView<T> local() const {
    return MatrixView<T>::column_major(buffer_.executor(), buffer_.data(), local_rows_, local_columns_);
  }
  // Block (i, j) of the distribution, which must be this rank's.
  [[nodiscard]] MatrixView<T> block(std::int64_t i, std::int64_t j) const {
    const Cyclic row = distribution_.row(), column = distribution_.column();
    return local().block(row.to_local(i * row.block), column.to_local(j * column.block), row.block_extent(i),
                         column.block_extent(j));
  }
  // Fills the matrix with what a function of the global indices says.
  template <class F> void fill(const F& value) const {
    std::vector<T> values(static_cast<std::size_t>(local_rows_ * local_columns_));
    const int rank = group_.rank();
    if (rank < distribution_.grid.size()) {
      const Cyclic row = distribution_.row(), column = distribution_.column();
      for (std::int64_t j = 0; j < local_columns_; ++j) {
        for (std::int64_t i = 0; i < local_rows_; ++i) {
          values[static_cast<std::size_t>(j * local_rows_ + i)] =
              value(row.to_global(i, distribution_.grid.row_of(rank)),
                    column.to_global(j, distribution_.grid.column_of(rank)));
        }
      }
    }
    copy(View<const T>(Executor::host(), values.data(), buffer_.shape()), buffer_.view());
  }
  // The whole matrix on every rank, in host memory, row-major: for tests and small results. Collective.
  [[nodiscard]] std::vector<T> to_host() const;
  // The same elements in another distribution, on the same group. Collective.
  [[nodiscard]] Matrix redistributed(const BlockCyclic& to) const {
    Matrix result(group_, executor(), to);
    detail::redistribute(group_, moves(distribution_, to, group_.rank()), comm::detail::bytes_of(buffer_.view()),
                         comm::detail::bytes_of(result.buffer_.view()));
    return result;
  }

 private:
  Communicator group_;
  BlockCyclic distribution_;
  std::int64_t local_rows_, local_columns_;
  trn::Array<T> buffer_;  // columns x rows, row-major
};

template <Element T> class Array {
 public:
  Array(Communicator group, const Executor& executor, Boxes distribution)
      : group_(std::move(group)),
        distribution_(detail::agreed(group_, dtype_of<T>, std::move(distribution))),
        buffer_(comm::together(group_, [&] { return trn::Array<T>(executor, local_shape()); })) {}

  [[nodiscard]] const Communicator& group() const { return group_; }
  [[nodiscard]] const Executor& executor() const { return buffer_.executor(); }
  [[nodiscard]] const Boxes& distribution() const { return distribution_; }
  [[nodiscard]] const Shape& shape() const { return distribution_.shape; }
  // This rank's box, row-major and packed, and where it begins.
  [[nodiscard]] View<T> local() const { return buffer_.view(); }
  [[nodiscard]] Shape local_begin() const {
    return outside() ? Shape(shape().size(), 0) : distribution_.boxes[static_cast<std::size_t>(group_.rank())].begin;
  }
  [[nodiscard]] std::vector<T> to_host() const;
  [[nodiscard]] Array redistributed(const Boxes& to) const {
    Array result(group_, executor(), to);
    detail::redistribute(group_, moves(distribution_, to, group_.rank()), comm::detail::bytes_of(local()),
                         comm::detail::bytes_of(result.local()));
    return result;
  }

 private:
  [[nodiscard]] bool outside() const { return group_.rank() >= distribution_.ranks(); }
  [[nodiscard]] Shape local_shape() const {
    return outside() ? Shape(distribution_.shape.size(), 0)
                     : distribution_.boxes[static_cast<std::size_t>(group_.rank())].extent;
  }

  Communicator group_;
  Boxes distribution_;
  trn::Array<T> buffer_;
};

// Everything on every rank, as one box each would be: the whole box on rank 0, then broadcast.
template <Element T> std::vector<T> Matrix<T>::to_host() const {
  Boxes all{{rows(), columns()}, {}};
  all.boxes.assign(static_cast<std::size_t>(group_.size()), {{0, 0}, {0, 0}});
  all.boxes[0].extent = all.shape;
  const Array<T> whole(group_, Executor::host(), all);
  detail::redistribute(group_, moves(distribution_, all, group_.rank()), comm::detail::bytes_of(buffer_.view()),
                       comm::detail::bytes_of(whole.local()));
  std::vector<T> values(static_cast<std::size_t>(rows() * columns()));
  const View<T> host(Executor::host(), values.data(), all.shape);
  if (group_.rank() == 0) copy(whole.local(), host);
  comm::broadcast(group_, 0, host);
  return values;
}
template <Element T> std::vector<T> Array<T>::to_host() const {
  Boxes all{shape(), {}};
  all.boxes.assign(static_cast<std::size_t>(group_.size()), {Shape(shape().size(), 0), Shape(shape().size(), 0)});
  all.boxes[0].extent = all.shape;
  const Array whole = redistributed(all);
  std::vector<T> values(static_cast<std::size_t>(element_count(shape())));
  const View<T> host(Executor::host(), values.data(), shape());
  if (group_.rank() == 0) copy(whole.local(), host);
  comm::broadcast(group_, 0, host);
  return values;
}

}  // namespace trn::dist

// Panels: a range of k of an operand on every rank that multiplies with it. Of the left operand op(A)(my rows, range),
// which the ranks of a grid row have together; of the right one op(B)(range, my columns), which those of a grid column
// have.
#pragma once

#include <utility>

#include <trn/comm/agreement.hpp>
#include <trn/comm/place.hpp>

#include "operands.hpp"

namespace trn::blas::distributed {

template <class T> class Panels {
 public:
  enum class Side : std::uint8_t { Left, Right };

  // ahead: a panel can be fetched while the one before is in use.
  Panels(const Part<T>& x, Side side, const dist::Place& place, const Executor& executor, std::int64_t width,
         bool ahead)
      : cut_(side == Side::Left ? x.column : x.row),
        along_(side == Side::Left ? place.along_row : place.along_column),
        // k runs along the columns of what is stored, or along its rows
        across_((side == Side::Left) != (x.op == Op::N)),
        mine_(across_ ? x.stored.transposed() : x.stored),
        inside_(place.inside) {
    if (!inside_ || cut_.ranks == 1) return;
    for (std::optional<trn::Array<T>>* each : {&buffer_, &other_}) {
      if (each == &buffer_ || ahead) each->emplace(executor, Shape{std::min(width, cut_.extent) * mine_.rows()});
    }
  }

  // Collective over the row or column: the range, stored as the operand is. It stays until the next but one is fetched
  // where panels are fetched ahead, until the next elsewhere.
  [[nodiscard]] MatrixView<const T> fetch(std::int64_t begin, std::int64_t width) {
    if (!inside_) return mine_.block(0, 0, 0, 0);
    if (cut_.ranks == 1) return as_stored(mine_.block(0, begin, mine_.rows(), width));
    const std::int64_t other = mine_.rows();
    const int first = cut_.owner(begin);
    if (along_.rank() == first && width > 0 && begin / cut_.block == (begin + width - 1) / cut_.block) {
      // All of it is this rank's: used where it lies.
      const MatrixView<const T> own = mine_.block(0, cut_.to_local(begin), other, width);
      const View<const T> sent(across_ ? own : own.transposed());
      if (other > 0)
        comm::broadcast(along_, first,
                        View<T>(sent.executor(), const_cast<T*>(sent.data()), sent.shape(), sent.strides()));
      return as_stored(own);
    }
    if (other_) std::swap(buffer_, other_);
    const MatrixView<T> panel =
        across_ ? MatrixView<T>::column_major(buffer_->executor(), buffer_->data(), width, other).transposed()
                : MatrixView<T>::column_major(buffer_->executor(), buffer_->data(), other, width);
    for (std::int64_t at = begin, end = begin + width; at < end;) {
      const std::int64_t next = std::min(end, (at / cut_.block + 1) * cut_.block);
      const int owner = cut_.owner(at);
      const MatrixView<T> piece = panel.block(0, at - begin, other, next - at);
      if (other > 0) {
        if (along_.rank() == owner) {
          copy(View<const T>(mine_.block(0, cut_.to_local(at), other, next - at)), View<T>(piece));
        }
        // Memory order, so that what is contiguous is seen to be.
        comm::broadcast(along_, owner, View<T>(across_ ? piece : piece.transposed()));
      }
      at = next;
    }
    return as_stored(MatrixView<const T>(panel));
  }

 private:
  [[nodiscard]] MatrixView<const T> as_stored(const MatrixView<const T>& x) const {
    return across_ ? x.transposed() : x;
  }

  dist::Cyclic cut_;
  comm::Communicator along_;
  bool across_;
  MatrixView<const T> mine_;  // other x k
  bool inside_;
  std::optional<trn::Array<T>> buffer_, other_;
};

}  // namespace trn::blas::distributed

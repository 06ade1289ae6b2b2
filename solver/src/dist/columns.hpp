// A distributed matrix as whole columns: blocks of columns go around the ranks, every rank has all rows of its own.
// What LU and QR work on: a panel lies on one rank, and no sum runs over ranks.
#pragma once

#include <optional>
#include <utility>

#include <trn/comm/agreement.hpp>
#include <trn/comm/matrix.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// Collective: memory for `elements` numbers on every rank, or the same exception on all.
template <class T> trn::Array<T> room(comm::Agreement& agreement, const Executor& executor, std::int64_t elements) {
  std::optional<trn::Array<T>> buffer;
  agreement.attempt([&] { buffer.emplace(executor, Shape{elements}); });
  agreement.settle();
  return std::move(*buffer);
}

template <class T> class Columns {
 public:
  // Collective. block: of columns.
  Columns(const dist::Matrix<T>& a, std::int64_t block)
      : a_(a),
        matrix_(a.redistributed(
            {a.rows(), a.columns(), std::max<std::int64_t>(1, a.rows()), block, {1, a.group().size()}})) {}
  [[nodiscard]] const comm::Communicator& group() const { return a_.group(); }
  [[nodiscard]] dist::Cyclic cut() const { return matrix_.distribution().column(); }
  [[nodiscard]] MatrixView<T> local() const { return matrix_.local(); }
  // Local columns of blocks before k.
  [[nodiscard]] std::int64_t before(std::int64_t k) const {
    const dist::Cyclic c = cut();
    const int me = group().rank();
    return std::min(local().columns(), (k / c.ranks + (k % c.ranks > me ? 1 : 0)) * c.block);
  }
  // Collective: the elements go back to where they came from.
  void store() const {
    const MatrixView<T> to = a_.local();
    const MatrixView<T> from = matrix_.local();
    dist::detail::redistribute(
        group(), dist::moves(matrix_.distribution(), a_.distribution(), group().rank()),
        comm::detail::bytes_of(View<T>(from.executor(), from.data(), {from.columns(), from.rows()})),
        comm::detail::bytes_of(View<T>(to.executor(), to.data(), {to.columns(), to.rows()})));
  }

 private:
  const dist::Matrix<T>& a_;
  dist::Matrix<T> matrix_;
};

}  // namespace trn::solver

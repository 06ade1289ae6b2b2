// DistAmg: algebraic multigrid whose cycle runs over the ranks of a group, a preconditioner for conjugate gradients on
// a DistCsr. hypre: BoomerAMG with IJ matrices; PETSc: PCGAMG.
//
// The set-up is Amg's, made by every rank from the whole matrix: it has to fit on each of them, and takes no less time
// on more ranks. The cycle is distributed: on every level a rank has the rows of A, of the prolongation and of the
// restriction that dist::block_rows gives it, and gets its halo. Levels of up to 4096 rows lie on one rank; the last is
// solved by every rank. A row is summed as on one rank, so the cycle has the same bits for every number of ranks.
//
// One unknown a node and one near-nullspace vector; systems such as elasticity are Amg's.
#pragma once

#include <memory>

#include <trn/sparse/amg.hpp>
#include <trn/sparse/dist_csr.hpp>

namespace trn::sparse {

namespace detail {
template <class T> struct DistAmgData;
}

template <RealScalar T> class DistAmg {
 public:
  // Collective; the same matrix and options on every rank, in host memory. On a device (float) the products of a cycle
  // are the device's, smoothers' updates and the last level the host's.
  DistAmg(const comm::Communicator& group, const Csr<T>& whole, const AmgOptions<T>& options = {},
          const Executor& executor = Executor::host());
  [[nodiscard]] const Outcome& outcome() const;  // as of Amg
  [[nodiscard]] const std::vector<AmgLevel>& levels() const;
  // y = V-cycle(x), both distributed as the matrix's rows. Collective.
  void apply(const dist::Array<T>& x, const dist::Array<T>& y) const;
  [[nodiscard]] const detail::DistAmgData<T>& data() const { return *data_; }

 private:
  std::shared_ptr<const detail::DistAmgData<T>> data_;
};

// cg of dist_csr.hpp, preconditioned; options.preconditioner is 0. `m` was made on a's group, for a matrix of its
// order.
template <RealScalar T> DistCgReport cg(const DistCsr<T>& a, const dist::Array<T>& b, const dist::Array<T>& x,
                                        const DistAmg<T>& m, const DistCgOptions& options = {});

}  // namespace trn::sparse

// DistCsr: a sparse matrix whose rows lie on the ranks of a group, products with it, and conjugate gradients.
// PETSc: MatMPIAIJ, KSPCG; Ginkgo: distributed::Matrix.
//
// Rank r has the rows of dist::block_rows(rows, ranks), and of a vector the elements of block_rows(columns, ranks).
// What its rows need of other ranks' elements is its halo; who sends what to whom is found once, when the matrix is
// made. A rank's columns are numbered in global order: halo from lower ranks, its own, halo from higher ones. So a row
// is summed on one rank in the order of its global columns, with the bits of one rank, whatever their number.
//
// float and double on the host. On a device, float: the rank's rows are SpmmPlan's tiles there (kernel Gather), with
// spmm.hpp's bound; vectors of spmv and spmm lie in its memory, and halos go from device to device. Constructors and
// operations are collective; operands that do not fit on one rank are refused with InvalidArgument on all.
#pragma once

#include <memory>

#include <trn/comm/matrix.hpp>
#include <trn/sparse/csr.hpp>
#include <trn/sparse/outcome.hpp>

namespace trn::sparse {

namespace detail {
template <class T> struct DistCsrData;
}

template <RealScalar T> class DistCsr {
 public:
  // `mine`: this rank's rows, with global column numbers; extents are the whole matrix's.
  // It is in host memory; `executor`, the rank's, is where products are computed and where their operands lie.
  DistCsr(const comm::Communicator& group, Extents extents, const Csr<T, std::int64_t>& mine,
          const Executor& executor = Executor::host());
  // Of a matrix that every rank has.
  DistCsr(const comm::Communicator& group, const Csr<T>& whole, const Executor& executor = Executor::host());

  [[nodiscard]] const comm::Communicator& group() const;
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] Extents extents() const;
  [[nodiscard]] std::int64_t nnz() const;   // of all ranks
  [[nodiscard]] std::int64_t halo() const;  // elements that this rank needs of others
  // How vectors (columns = 0), or arrays of that many columns, are distributed.
  [[nodiscard]] dist::Boxes row_distribution(std::int64_t columns = 0) const;     // of A x
  [[nodiscard]] dist::Boxes column_distribution(std::int64_t columns = 0) const;  // of x
  [[nodiscard]] const detail::DistCsrData<T>& data() const { return *data_; }

 private:
  std::shared_ptr<detail::DistCsrData<T>> data_;
};

// y = alpha A x + beta y for vectors, and C = alpha A B + beta C for arrays of several columns, distributed as the
// matrix says. Bound and beta = 0 as in spmm.hpp.
template <RealScalar T> void spmv(std::type_identity_t<T> alpha, const DistCsr<T>& a, const dist::Array<T>& x,
                                  std::type_identity_t<T> beta, const dist::Array<T>& y);
template <RealScalar T> void spmm(std::type_identity_t<T> alpha, const DistCsr<T>& a, const dist::Array<T>& b,
                                  std::type_identity_t<T> beta, const dist::Array<T>& c);

// Conjugate gradients with one reduction an iteration (Chronopoulos and Gear 1989). Its sums are those of BlockSums, so
// that iterations, residuals and x have the same bits for every number of ranks. On devices the products are the
// device's; sums, updates and preconditioners are the host's, and a vector goes there and one comes back in every
// product. The report says so.
struct DistCgOptions {
  double tolerance = 1e-8;          // of ||b - A x|| / ||b||
  std::int64_t max_iterations = 0;  // 0: ten times the order, at least 100
  std::int64_t preconditioner = 0;  // block Jacobi: blocks of so many rows, a power of two up to 1024; 0: none
  bool guess_in_x = false;          // x is where the iteration starts; otherwise it is not read
};
enum class CgStatus : std::uint8_t { Ok, NotConverged, NotPositiveDefinite, NotFinite };
[[nodiscard]] std::string_view name(CgStatus status);
struct DistCgReport {
  CgStatus status = CgStatus::Ok;
  std::int64_t iterations = 0;
  double residual = 0;       // ||b - A x|| / ||b||, recomputed from x at the end; 0 for b = 0
  Outcome preconditioner{};  // index: first row of the singular block; its status is not Ok: nothing was iterated
  std::string_view algorithm = "cg";  // or "cg, products on devices"
  [[nodiscard]] bool ok() const { return status == CgStatus::Ok && preconditioner.ok(); }
  friend bool operator==(const DistCgReport&, const DistCgReport&) = default;
};
// The matrix is symmetric positive definite, which shows where it is not. Ok means that the recomputed residual is at
// most the tolerance: where the recurrence has drifted from it the iteration starts again from x, and NotConverged says
// that this no longer halves it, or that max_iterations are over.
template <RealScalar T> DistCgReport cg(const DistCsr<T>& a, const dist::Array<T>& b, const dist::Array<T>& x,
                                        const DistCgOptions& options = {});

}  // namespace trn::sparse

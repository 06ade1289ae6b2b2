// Batches of tridiagonal and pentadiagonal systems. cuSPARSE: gtsv2, gtsv2_nopivot, gtsv2StridedBatch,
// gtsvInterleavedBatch, gpsvInterleavedBatch.
//
// Views are (n x count): system k is column k. Row-major views are cuSPARSE's interleaved batches, where eight systems
// run side by side; column-major ones its strided batches. With pivoting the backward error is that of Gaussian
// elimination with partial pivoting; without, the matrix should be diagonally dominant. A pivot that is zero is a
// result: its system becomes NaN, the others are solved.
//
// TridiagonalPlan factors once, without pivoting, in double for s and c: A = L U, U with a diagonal of ones. Its
// residuals for real types are at most 9 u |L||U||X| componentwise, and |L||U| <= 3 |A| where A is diagonally dominant
// by rows. On a device (float) a system is a lane of one of the 128 partitions, tridiagonal_programs.hpp; there an
// element that is not finite may reach the other systems of its 128.
#pragma once

#include <trn/sparse/outcome.hpp>
#include <trn/sparse/types.hpp>

namespace trn::sparse {

enum class Pivoting : std::uint8_t { Partial, None };

// lower(0, k) and upper(n - 1, k) are not read. X replaces B. `index` of the outcome is the first system in trouble. A
// device has Pivoting::None: a TridiagonalPlan that is made and dropped.
template <Scalar T> Outcome solve_tridiagonal(const Executor& executor,
                                              const std::type_identity_t<MatrixView<const T>>& lower,
                                              const std::type_identity_t<MatrixView<const T>>& diagonal,
                                              const std::type_identity_t<MatrixView<const T>>& upper,
                                              const MatrixView<T>& b, Pivoting pivoting = Pivoting::Partial);

// Five diagonals, offsets -2 to 2, by Gaussian elimination with partial pivoting.
template <Scalar T>
Outcome solve_pentadiagonal(const Executor& executor, const std::type_identity_t<MatrixView<const T>>& lower2,
                            const std::type_identity_t<MatrixView<const T>>& lower,
                            const std::type_identity_t<MatrixView<const T>>& diagonal,
                            const std::type_identity_t<MatrixView<const T>>& upper,
                            const std::type_identity_t<MatrixView<const T>>& upper2, const MatrixView<T>& b);

namespace detail {
template <Scalar T> struct TridiagonalData;
struct TridiagonalAccess;
}  // namespace detail

struct TridiagonalReport {
  double modelled_seconds = 0;  // devices: one solve of row-major B, launch included
  double host_seconds = 0;      // of one host core at a nominal 0.5 G unknowns/s
};

// Systems that are solved often: lower, diagonal and upper are factored on the host, X comes from two recurrences.
template <Scalar T> class TridiagonalPlan {
 public:
  TridiagonalPlan(const Executor& executor, const std::type_identity_t<MatrixView<const T>>& lower,
                  const std::type_identity_t<MatrixView<const T>>& diagonal,
                  const std::type_identity_t<MatrixView<const T>>& upper);
  // X replaces B, (n x count). The outcome is that of the factors.
  Outcome solve(const MatrixView<T>& b) const;

  [[nodiscard]] std::int64_t rows() const { return n_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] const Outcome& outcome() const;  // ZeroPivot, and the first system in trouble
  [[nodiscard]] const TridiagonalReport& report() const;

 private:
  friend struct detail::TridiagonalAccess;
  Executor executor_;
  std::int64_t n_, count_;
  std::shared_ptr<const detail::TridiagonalData<T>> data_;
};

}  // namespace trn::sparse

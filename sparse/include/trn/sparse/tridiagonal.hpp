// Batches of tridiagonal and pentadiagonal systems. cuSPARSE: gtsv2, gtsv2_nopivot, gtsv2StridedBatch,
// gtsvInterleavedBatch, gpsvInterleavedBatch.
//
// Views are (n x count): system k is column k. Row-major views are cuSPARSE's interleaved batches, where eight systems
// run side by side; column-major ones its strided batches. With pivoting the backward error is that of Gaussian
// elimination with partial pivoting; without, the matrix should be diagonally dominant. A pivot that is zero is a
// result: its system becomes NaN, the others are solved.
#pragma once

#include <trn/sparse/outcome.hpp>
#include <trn/sparse/types.hpp>

namespace trn::sparse {

enum class Pivoting : std::uint8_t { Partial, None };

// lower(0, k) and upper(n - 1, k) are not read. X replaces B. `index` of the outcome is the first system in trouble.
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

}  // namespace trn::sparse

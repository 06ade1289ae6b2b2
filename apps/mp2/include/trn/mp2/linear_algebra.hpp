// Dense linear algebra on an executor, operands and results in host memory: eigenvalues and Cholesky by trnsolver, and
// products of small matrices in an order that no number of threads changes. On devices all of it is float64 by Exact
// products; without an executor it runs on the host.
#pragma once

#include <functional>

#include <trn/blas/types.hpp>
#include <trn/mp2/dense.hpp>

namespace trn::mp2 {

// Everything below gives the same bits for every number of threads: work is cut into units whose shapes depend on the
// operands alone, and a unit runs on one thread.
void for_units(std::int64_t count, const std::function<void(std::int64_t)>& unit);

struct Eigen {
  std::vector<double> values;  // ascending
  Dense vectors;               // in columns
};
// Workspace of eigh for an n x n matrix, as LAPACK's dsyevd asks for it. LAPACK here counts in 32 bits: InvalidArgument
// from n = 32767 on, where the doubles are 2^31 or more.
struct EigenWorkspace {
  std::int64_t doubles, integers;
};
[[nodiscard]] EigenWorkspace eigen_workspace(std::int64_t n);
// Of a symmetric matrix; the lower triangle is read. InternalError when it is not finite or the solver gives up.
[[nodiscard]] Eigen eigh(const Executor& executor, Dense a);
[[nodiscard]] Eigen eigh(Dense a);

// L with A = L L^T, zero above the diagonal. Empty, when A is not positive definite in floating point; InternalError
// when it is not finite.
[[nodiscard]] Dense cholesky(const Executor& executor, Dense a);
[[nodiscard]] Dense cholesky(Dense a);

// op(A) op(B).
[[nodiscard]] Dense product(const Executor& executor, const Dense& a, const Dense& b, blas::Op op_a = blas::Op::N,
                            blas::Op op_b = blas::Op::N);
[[nodiscard]] Dense product(const Dense& a, const Dense& b, blas::Op op_a = blas::Op::N, blas::Op op_b = blas::Op::N);

}  // namespace trn::mp2

// The vocabulary of the solvers: BLAS's words for operands, options of factorisations, determinants.
//
// Views are logical, as in trnblas: row-major, column-major and strided matrices are the same call, and `uplo` names a
// triangle of the logical matrix. LAPACK works in place on column-major views (row stride 1); any other view is copied
// and written back, unless a header says that it folds the transpose.
// Every operation is offered for float, double, complex<float> and complex<double> on the host. On devices there are
// those that solver/README.md names, for float and partly for double; any other call there throws NotImplemented.
#pragma once

#include <trn/blas/types.hpp>
#include <trn/core/array.hpp>

namespace trn::solver {

using blas::ConstMatrix;
using blas::ConstVector;
using blas::Diag;
using blas::Op;
using blas::Real;
using blas::Scalar;
using blas::Side;
using blas::Uplo;

// Which norm a condition number is for.
enum class Norm : std::uint8_t { One, Infinity };

struct FactorOptions {
  Precision precision = {};  // Native; for double on a device Exact says the same
};

// det A = sign * exp(log_absolute); sign has modulus 1, or is 0 (then log_absolute is -infinity).
template <Scalar T> struct LogDeterminant {
  T sign = T(1);
  Real<T> log_absolute = 0;
};

}  // namespace trn::solver

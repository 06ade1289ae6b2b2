// The door of trsm. X op(A) = alpha B is the transposed problem: op(A)^T X^T = alpha B^T.
#include <trn/blas/trsm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <trn/blas/trsm_program.hpp>
#include <trn/core/array.hpp>

#include "fold.hpp"
#include "kernels.hpp"
#include "targets.hpp"

namespace trn::blas {

namespace {

// A target on a device: the bound of a solve is measured after it, so the modes are tried in a copy of B, cheapest first, leaving out those whose
// arithmetic alone is too coarse.
template <class T> Accuracy solve_to_target(const Executor& executor, TrsmArgs args, const MatrixView<T>& b) {
  const double target = args.precision.target_error();
  const Matrix<T> x(executor, b.rows(), b.columns());
  args.b = x.data(), args.bm = b.columns(), args.bn = 1;
  double best = std::numeric_limits<double>::infinity();
  for (const Mode mode : {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Exact}) {
    if (!offers(mode, args.dtype, executor.family())) continue;
    args.precision = mode;
    if (mode != Mode::Exact) {
      const double rounding = trsm_residual_bound({.dtype = args.dtype, .m = args.m, .n = 0, .mode = mode}, nullptr, nullptr);
      if (rounding > target) continue;
    }
    copy(View<const T>(MatrixView<const T>(b)), View<T>(x.view()));
    dispatch_product(kTrsm, executor, args, exact_trsm);
    if (args.accuracy->bound <= target) {
      copy(View<const T>(MatrixView<const T>(x.view())), View<T>(b));
      return *args.accuracy;
    }
    best = std::min(best, args.accuracy->bound);
  }
  refuse_target("blas.trsm", args.dtype, executor, target, best);
}

}  // namespace

template <Scalar T>
Accuracy trsm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha, const ConstMatrix<T>& a,
              const MatrixView<T>& b, const ProductOptions& options) {
  checks::operand("blas.trsm", "A", executor, a);
  checks::operand("blas.trsm", "B", executor, b);
  const std::int64_t order = side == Side::Left ? b.rows() : b.columns();
  require(a.rows() == order && a.columns() == order, "blas.trsm: A is {} x {}, B is {} x {}, side {}; A must be {} x {}", a.rows(), a.columns(),
          b.rows(), b.columns(), letter(side), order, order);
  Accuracy accuracy{Mode::Native, 1, trsm_error_bound(dtype_of<T>, order)};
  if (b.rows() == 0 || b.columns() == 0) return accuracy;
  checks::distinct_elements("blas.trsm", "B", checks::extent(b));
  checks::no_overlap("blas.trsm", "A", checks::extent(a), "B", checks::extent(b));
  const FoldedTriangle<T> triangle(side, uplo, op, a);
  const auto fb = side == Side::Left ? b : b.transposed();
  const TrsmArgs args{dtype_of<T>, fb.rows(), fb.columns(), triangle.a.data(), triangle.a.row_stride(), triangle.a.column_stride(), triangle.lower,
            diag == Diag::Unit, triangle.conj, fb.data(), fb.row_stride(), fb.column_stride(), alpha, options.precision, &accuracy};
  if (options.precision.has_target() && executor.family() == Family::Device && alpha != T(0)) return solve_to_target<T>(executor, args, fb);
  naming_target("blas.trsm", options.precision, [&] { dispatch_product(kTrsm, executor, args, exact_trsm); });
  return accuracy;
}

// Substitution in any order: (A + E) x = b with |E| <= (m + c) u |A| (Higham, Accuracy and Stability, theorem 8.5); the product with
// alpha, and a reciprocal of the diagonal instead of a division, are two roundings more. A complex product counts as in gemm,
// a complex reciprocal as three of them.
double trsm_error_bound(DType dtype, std::int64_t m) {
  const double u = unit_roundoff(dtype), terms = static_cast<double>(m);
  return is_complex(dtype) ? 2 * std::sqrt(2.0) * (terms + 8) * u : (terms + 5) * u;
}

#define TRN_TRSM(T) \
  template Accuracy trsm<T>(const Executor&, Side, Uplo, Op, Diag, Number<T>, const ConstMatrix<T>&, const MatrixView<T>&, const ProductOptions&);
TRN_TRSM(float)
TRN_TRSM(double)
TRN_TRSM(std::complex<float>)
TRN_TRSM(std::complex<double>)
#undef TRN_TRSM

}  // namespace trn::blas

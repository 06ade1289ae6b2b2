// The entry point of trsm. X op(A) = alpha B is the transposed problem: op(A)^T X^T = alpha B^T.
#include <trn/blas/trsm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <trn/blas/trsm_program.hpp>
#include <trn/core/array.hpp>

#include "fold.hpp"
#include "kernels.hpp"
#include "targets.hpp"
#include "trsm_block.hpp"

namespace trn::blas {

namespace {

// One solve in a stated mode.
void solve(const Executor& executor, const TrsmArgs& args) {
  const Mode mode = args.precision.mode();
  require_mode("blas.trsm", mode, args.dtype, executor.family());
  if (mode == Mode::Exact)
    *args.accuracy = exact_trsm("blas.trsm", executor, args);
  else
    dispatch(kTrsm, executor, args);
}

// What the arithmetic of a mode costs at least, known before the solve; 0 where the bound is measured from nothing.
double least_bound(const Executor& executor, const TrsmArgs& args, Mode mode) {
  if (mode == Mode::Exact) return 0;
  if (executor.family() == Family::Host) return trsm_error_bound(args.dtype, args.m);
  return trsm_residual_bound({.dtype = args.dtype, .m = args.m, .n = 0, .mode = mode}, nullptr, nullptr);
}

// What underflow may have added to the residual of a solve in a mode other than Exact, relative to ||a_i|| ||x_j||; `b`
// is the right side, args.b holds X. With h half the smallest denormal:
//   sums      those of A X lose what gemm's lose (gemm_accuracy.cpp)
//   X         each element is rounded by up to h: |a_ii| h of the residual, h / ||x_j|| relative
//   1 / a_ii  is rounded by up to h, relative to itself h |a_ii|
// twice the last two for second order, complex 2 sqrt(2) times that and two products per part. A column of X that is
// zero where B is not has lost everything. Infinite too when A or X are not finite.
template <class T> double lost_by_solve(const Executor& executor, const TrsmArgs& args, const MatrixView<T>& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const TrmmArgs product{args.dtype,  args.m, args.n,  args.a,  args.am, args.an, args.lower, args.unit,
                         args.conj_a, args.b, args.bm, args.bn, nullptr, 0,       0,          1.0};
  ProductSizes sizes{.norms = norms_of(operands_of(executor, product))};
  const GemmNorms& norms = sizes.norms;
  if (!norms.finite) return kInfinity;
  double x_least = kInfinity;
  bool zero = false;
  for (const double x : norms.b) x > 0 ? x_least = std::min(x_least, x) : zero = true;
  const auto column = static_cast<std::size_t>(args.n);
  if (zero) {
    GemmArgs right{};  // of which only C counts
    right.in = right.out = args.dtype, right.m = args.m, right.n = args.n, right.beta = 1;
    right.c = b.data(), right.cm = b.row_stride(), right.cn = b.column_stride();
    const std::vector<double> values = magnitudes_of_c(executor, right);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] != 0 && norms.b[k % column] == 0) return kInfinity;
    }
  }
  if (x_least == kInfinity) return 0;  // X = 0 as B is
  GemmArgs g{};
  g.in = g.out = args.dtype, g.m = g.k = args.m, g.n = args.n;
  const double h = real_of(args.dtype) == DType::Float64 ? 0x1p-1074 : 0x1p-150;
  return lost_to_underflow(g, args.precision.mode(), sizes) +
         (is_complex(args.dtype) ? 4 * std::sqrt(2.0) : 2) * (h / x_least + h * norms.a_top);
}

// A target: bounds are measured after a solve, so the modes are tried in a copy of B, cheapest first, leaving out those
// whose arithmetic alone is too coarse. On the host Native is the cheapest, and its diagonal blocks are no worse than
// those of the other float32 modes.
template <class T> Accuracy solve_to_target(const Executor& executor, TrsmArgs args, const MatrixView<T>& b) {
  constexpr Mode kDevice[] = {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Exact},
                 kHost[] = {Mode::Native, Mode::Exact};
  const double target = args.precision.target_error();
  const Matrix<T> x(executor, b.rows(), b.columns());
  args.b = x.data(), args.bm = b.columns(), args.bn = 1;
  double best = std::numeric_limits<double>::infinity();
  for (const Mode mode :
       executor.family() == Family::Host ? std::span<const Mode>(kHost) : std::span<const Mode>(kDevice)) {
    if (!offers(mode, args.dtype, executor.family()) || least_bound(executor, args, mode) > target) continue;
    args.precision = mode;
    copy(View<const T>(MatrixView<const T>(b)), View<T>(x.view()));
    solve(executor, args);
    if (mode != Mode::Exact && args.accuracy->bound <= target)
      args.accuracy->bound += lost_by_solve<T>(executor, args, b);
    if (args.accuracy->bound <= target) {
      copy(View<const T>(MatrixView<const T>(x.view())), View<T>(b));
      return *args.accuracy;
    }
    best = std::min(best, args.accuracy->bound);
  }
  refuse_target("blas.trsm", args.dtype, executor, target, best);
}

}  // namespace

template <Scalar T> Accuracy trsm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha,
                                  const ConstMatrix<T>& a, const MatrixView<T>& b, const ProductOptions& options) {
  checks::enumerators("blas.trsm", side, uplo, op, diag, options.precision);
  checks::operand("blas.trsm", "A", executor, a);
  checks::operand("blas.trsm", "B", executor, b);
  const std::int64_t order = side == Side::Left ? b.rows() : b.columns();
  require(a.rows() == order && a.columns() == order,
          "blas.trsm: A is {} x {}, B is {} x {}, side {}; A must be {} x {}", a.rows(), a.columns(), b.rows(),
          b.columns(), letter(side), order, order);
  Accuracy accuracy{Mode::Native, 1, trsm_error_bound(dtype_of<T>, order)};
  if (b.rows() == 0 || b.columns() == 0) return no_work(executor, dtype_of<T>, options.precision);
  checks::distinct_elements("blas.trsm", "B", checks::extent(b));
  checks::no_overlap("blas.trsm", "A", checks::extent(a), "B", checks::extent(b));
  const FoldedTriangle<T> triangle(side, uplo, op, a);
  const auto fb = side == Side::Left ? b : b.transposed();
  TrsmArgs args{dtype_of<T>,
                fb.rows(),
                fb.columns(),
                triangle.a.data(),
                triangle.a.row_stride(),
                triangle.a.column_stride(),
                triangle.lower,
                diag == Diag::Unit,
                triangle.conj,
                fb.data(),
                fb.row_stride(),
                fb.column_stride(),
                alpha,
                options.precision,
                &accuracy};
  const bool exact = !options.precision.has_target() && options.precision.mode() == Mode::Exact;
  if (alpha == T(0) && !exact) {  // nothing is computed
    args.precision = {};
    dispatch(kTrsm, executor, args);
    return no_work(executor, dtype_of<T>, options.precision);
  } else if (options.precision.has_target()) {
    return solve_to_target<T>(executor, args, fb);
  } else {
    solve(executor, args);
  }
  return accuracy;
}

// Substitution in any order: (A + E) x = b with |E| <= (m + c) u |A| (Higham, Accuracy and Stability, theorem 8.5); the
// product with alpha, and a reciprocal of the diagonal instead of a division, are two roundings more. A complex product
// counts as in gemm, a complex reciprocal as three of them. Beyond one block: host/trsm.cpp.
double trsm_error_bound(DType dtype, std::int64_t m) {
  const std::int64_t rows = trsm_block(dtype), blocks = (m + rows - 1) / rows;
  const double u = unit_roundoff(dtype), terms = static_cast<double>(m <= rows ? m : rows + 2 * blocks + 1);
  return is_complex(dtype) ? 2 * std::sqrt(2.0) * (terms + 8) * u : (terms + 5) * u;
}

#define TRN_TRSM(T)                                                                                  \
  template Accuracy trsm<T>(const Executor&, Side, Uplo, Op, Diag, Number<T>, const ConstMatrix<T>&, \
                            const MatrixView<T>&, const ProductOptions&);
TRN_TRSM(float)
TRN_TRSM(double)
TRN_TRSM(std::complex<float>)
TRN_TRSM(std::complex<double>)
#undef TRN_TRSM

}  // namespace trn::blas

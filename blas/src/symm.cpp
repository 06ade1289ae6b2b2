// The entry points of symm and hemm. Side::Right is C^T = A^T B^T, and the upper triangle of A is the lower one of A^T;
// A^T is A when symmetric and conj(A) when Hermitian.
#include <trn/blas/symm.hpp>

#include <trn/blas/gemm.hpp>

#include "fold.hpp"
#include "kernels.hpp"
#include "targets.hpp"

namespace trn::blas {

namespace {

template <class T> Accuracy multiply(const KernelTable<SymmArgs>& table, bool hermitian, const Executor& executor,
                                     Side side, Uplo uplo, T alpha, const MatrixView<const T>& a,
                                     const MatrixView<const T>& b, T beta, const MatrixView<T>& c,
                                     const GemmOptions& options) {
  const char* operation = table.operation;
  checks::enumerators(operation, side, uplo, options.precision);
  checks::operand(operation, "A", executor, a);
  checks::operand(operation, "B", executor, b);
  checks::operand(operation, "C", executor, c);
  const std::int64_t order = side == Side::Left ? c.rows() : c.columns();
  require(b.rows() == c.rows() && b.columns() == c.columns() && a.rows() == order && a.columns() == order,
          "{}: A is {} x {}, B is {} x {}, C is {} x {}, side {}; B and C must have one shape, and A must be {} x {}",
          operation, a.rows(), a.columns(), b.rows(), b.columns(), c.rows(), c.columns(), letter(side), order, order);
  check_bounds(operation, executor, options.componentwise, c.rows(), c.columns(),
               {{"A", checks::extent(a)}, {"B", checks::extent(b)}, {"C", checks::extent(c)}});
  Accuracy accuracy{Mode::Native, 1, gemm_error_bound(executor.family(), dtype_of<T>, dtype_of<T>, order)};
  if (c.rows() == 0 || c.columns() == 0 || (alpha == T(0) && beta == T(1))) {
    no_errors(options.componentwise, [](std::int64_t, std::int64_t) { return true; });
    return no_work(executor, dtype_of<T>, options.precision);
  }
  checks::distinct_elements(operation, "C", checks::extent(c));
  checks::no_overlap(operation, "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap(operation, "B", checks::extent(b), "C", checks::extent(c));
  const bool right = side == Side::Right, upper = uplo == Uplo::Upper;
  const auto fa = upper ? a.transposed() : a;
  const auto fb = right ? b.transposed() : b;
  const auto fc = right ? c.transposed() : c;
  const SymmArgs args{dtype_of<T>,
                      fc.rows(),
                      fc.columns(),
                      fa.data(),
                      fa.row_stride(),
                      fa.column_stride(),
                      fb.data(),
                      fb.row_stride(),
                      fb.column_stride(),
                      fc.data(),
                      fc.row_stride(),
                      fc.column_stride(),
                      alpha,
                      beta,
                      hermitian,
                      hermitian && right != upper,
                      options.precision,
                      &accuracy};
  run_level3(
      table, executor, args, turned(options.componentwise, right), exact_symm,
      [&]() -> Level3Sizes {
        Level3Sizes found{{.alpha = std::abs(args.alpha), .beta = std::abs(args.beta)}};
        if (alpha == T(0)) return found;
        found.operands = operands_of(executor, args);
        found.sizes.norms = norms_of(*found.operands);
        found.terms = args.m;
        return found;
      },
      [&](ProductSizes& sizes) {
        GemmArgs g{};  // of which only C counts
        g.in = g.out = args.dtype, g.m = args.m, g.n = args.n, g.c = args.c, g.cm = args.cm, g.cn = args.cn;
        g.beta = args.beta;
        for (const double x : magnitudes_of_c(executor, g)) sizes.add_c(x);
      });
  return accuracy;
}

}  // namespace

template <Scalar T> Accuracy symm(const Executor& executor, Side side, Uplo uplo, Number<T> alpha,
                                  const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                  const MatrixView<T>& c, const GemmOptions& options) {
  return multiply<T>(kSymm, false, executor, side, uplo, alpha, a, b, beta, c, options);
}
template <ComplexScalar T> Accuracy hemm(const Executor& executor, Side side, Uplo uplo, Number<T> alpha,
                                         const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                         const MatrixView<T>& c, const GemmOptions& options) {
  return multiply<T>(kHemm, true, executor, side, uplo, alpha, a, b, beta, c, options);
}

#define TRN_SYMM(name, T)                                                                                         \
  template Accuracy name<T>(const Executor&, Side, Uplo, Number<T>, const ConstMatrix<T>&, const ConstMatrix<T>&, \
                            Number<T>, const MatrixView<T>&, const GemmOptions&);
TRN_SYMM(symm, float)
TRN_SYMM(symm, double)
TRN_SYMM(symm, std::complex<float>)
TRN_SYMM(symm, std::complex<double>)
TRN_SYMM(hemm, std::complex<float>)
TRN_SYMM(hemm, std::complex<double>)
#undef TRN_SYMM

}  // namespace trn::blas

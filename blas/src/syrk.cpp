// The entry points of the rank-k updates. The upper triangle of C is the lower one of C^T, and
//
//   symmetric   (A B^T)^T = B A^T: syrkx exchanges its operands, syrk and syr2k stay as they are
//   Hermitian   (A B^H)^T = conj(B) conj(A)^H: both operands are conjugated; herkx exchanges them; her2k, whose two
//     terms change
//               places, conjugates alpha
#include <trn/blas/syrk.hpp>

#include <trn/blas/gemm.hpp>

#include "fold.hpp"
#include "kernels.hpp"
#include "targets.hpp"

namespace trn::blas {

namespace {

template <class T> Accuracy update(const KernelTable<SyrkArgs>& table, RankK kind, bool hermitian,
                                   const Executor& executor, Uplo uplo, Op op, T alpha, const MatrixView<const T>& a,
                                   const MatrixView<const T>& b, T beta, const MatrixView<T>& c,
                                   const GemmOptions& options) {
  const char* operation = table.operation;
  const bool single = kind == RankK::One;
  checks::enumerators(operation, uplo, op, options.precision);
  checks::operand(operation, "A", executor, a);
  if (!single) checks::operand(operation, "B", executor, b);
  checks::operand(operation, "C", executor, c);
  require(op == Op::N || !ComplexScalar<T> || (op == Op::C) == hermitian,
          "{}: op is {}; for this type it must be N or {}", operation, letter(op), hermitian ? "C" : "T");
  const auto fa = folded(op, a), fb = folded(op, b);
  require(c.rows() == c.columns() && fa.rows() == c.rows() && fb.rows() == fa.rows() && fb.columns() == fa.columns(),
          "{}: op(A) is {} x {}, op(B) is {} x {} (op {}), C is {} x {}; they must be n x k, n x k and n x n",
          operation, fa.rows(), fa.columns(), fb.rows(), fb.columns(), letter(op), c.rows(), c.columns());
  const std::int64_t n = c.rows(), k = alpha == T(0) ? 0 : fa.columns();
  const std::int64_t terms = kind == RankK::Two ? 2 * fa.columns() + 2 : fa.columns();
  Accuracy accuracy{Mode::Native, 1, gemm_error_bound(executor.family(), dtype_of<T>, dtype_of<T>, terms)};
  const bool upper = uplo == Uplo::Upper;
  check_bounds(operation, executor, options.componentwise, n, n,
               {{"A", checks::extent(a)}, {"B", checks::extent(b)}, {"C", checks::extent(c)}});
  if (n == 0 || (k == 0 && beta == T(1))) {
    no_errors(options.componentwise, [&](std::int64_t i, std::int64_t j) { return upper ? i <= j : i >= j; });
    return no_work(executor, dtype_of<T>, options.precision);
  }
  checks::distinct_elements(operation, "C", checks::extent(c));
  checks::no_overlap(operation, "A", checks::extent(a), "C", checks::extent(c));
  if (!single) checks::no_overlap(operation, "B", checks::extent(b), "C", checks::extent(c));
  const bool conj = hermitian && (op == Op::C) != upper, exchange = upper && kind == RankK::Pair;
  const auto &left = exchange ? fb : fa, &right = exchange ? fa : fb;
  const auto fc = upper ? c.transposed() : c;
  std::complex<double> scale(k == 0 ? T(0) : T(alpha));  // without products alpha is not read
  if (upper && hermitian && kind == RankK::Two) scale = std::conj(scale);
  SyrkArgs args{dtype_of<T>,
                kind,
                n,
                k,
                left.data(),
                left.row_stride(),
                left.column_stride(),
                right.data(),
                right.row_stride(),
                right.column_stride(),
                fc.data(),
                fc.row_stride(),
                fc.column_stride(),
                scale,
                beta,
                hermitian,
                conj,
                conj,
                options.precision,
                &accuracy};
  run_level3(
      table, executor, args, turned(options.componentwise, upper), exact_syrk,
      [&]() -> Level3Sizes {
        Level3Sizes found{{.alpha = std::abs(args.alpha), .beta = std::abs(args.beta)},
                          k == 0 ? 0 : terms,
                          kind == RankK::Two ? 2 : 1};
        if (k == 0) return found;
        found.operands = operands_of(executor, args);
        found.sizes.norms = norms_of(*found.operands);
        return found;
      },
      [&](ProductSizes& sizes) {
        GemmArgs g{};  // of which only C counts
        g.in = g.out = args.dtype, g.m = g.n = n, g.c = args.c, g.cm = args.cm, g.cn = args.cn, g.beta = args.beta;
        const std::vector<double> old = magnitudes_of_c(executor, g);
        for (std::int64_t i = 0; i < n && !old.empty(); ++i) {
          for (std::int64_t j = 0; j < i; ++j) sizes.add_c(old[static_cast<std::size_t>(i * n + j)]);
        }
        // Imaginary parts of a Hermitian diagonal may be anything.
        if (!old.empty()) {
          g.in = g.out = hermitian ? real_of(args.dtype) : args.dtype;
          const std::int64_t step = (args.cm + args.cn) * (hermitian ? 2 : 1);
          g.n = 1, g.cm = step, g.cn = 1;
          for (const double x : magnitudes_of_c(executor, g)) sizes.add_c(x);
        }
      },
      kind == RankK::Two ? HostSum::SeveralProducts : HostSum::OneProduct);
  return accuracy;
}

}  // namespace

template <Scalar T> Accuracy syrk(const Executor& executor, Uplo uplo, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                  Number<T> beta, const MatrixView<T>& c, const GemmOptions& options) {
  return update<T>(kSyrk, RankK::One, false, executor, uplo, op, alpha, a, a, beta, c, options);
}
template <ComplexScalar T> Accuracy herk(const Executor& executor, Uplo uplo, Op op, Real<T> alpha,
                                         const ConstMatrix<T>& a, Real<T> beta, const MatrixView<T>& c,
                                         const GemmOptions& options) {
  return update<T>(kHerk, RankK::One, true, executor, uplo, op, alpha, a, a, beta, c, options);
}
template <Scalar T> Accuracy syr2k(const Executor& executor, Uplo uplo, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                   const ConstMatrix<T>& b, Number<T> beta, const MatrixView<T>& c,
                                   const GemmOptions& options) {
  return update<T>(kSyr2k, RankK::Two, false, executor, uplo, op, alpha, a, b, beta, c, options);
}
template <ComplexScalar T> Accuracy her2k(const Executor& executor, Uplo uplo, Op op, Number<T> alpha,
                                          const ConstMatrix<T>& a, const ConstMatrix<T>& b, Real<T> beta,
                                          const MatrixView<T>& c, const GemmOptions& options) {
  return update<T>(kHer2k, RankK::Two, true, executor, uplo, op, alpha, a, b, beta, c, options);
}
template <Scalar T> Accuracy syrkx(const Executor& executor, Uplo uplo, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                   const ConstMatrix<T>& b, Number<T> beta, const MatrixView<T>& c,
                                   const GemmOptions& options) {
  return update<T>(kSyrkx, RankK::Pair, false, executor, uplo, op, alpha, a, b, beta, c, options);
}
template <ComplexScalar T> Accuracy herkx(const Executor& executor, Uplo uplo, Op op, Number<T> alpha,
                                          const ConstMatrix<T>& a, const ConstMatrix<T>& b, Real<T> beta,
                                          const MatrixView<T>& c, const GemmOptions& options) {
  return update<T>(kHerkx, RankK::Pair, true, executor, uplo, op, alpha, a, b, beta, c, options);
}

#define TRN_ONE(name, T, S)                                                                               \
  template Accuracy name<T>(const Executor&, Uplo, Op, S, const ConstMatrix<T>&, S, const MatrixView<T>&, \
                            const GemmOptions&);
#define TRN_TWO(name, T, S)                                                                                        \
  template Accuracy name<T>(const Executor&, Uplo, Op, Number<T>, const ConstMatrix<T>&, const ConstMatrix<T>&, S, \
                            const MatrixView<T>&, const GemmOptions&);
#define TRN_SYMMETRIC(T)       \
  TRN_ONE(syrk, T, Number<T>)  \
  TRN_TWO(syr2k, T, Number<T>) \
  TRN_TWO(syrkx, T, Number<T>)
#define TRN_HERMITIAN(T)     \
  TRN_ONE(herk, T, Real<T>)  \
  TRN_TWO(her2k, T, Real<T>) \
  TRN_TWO(herkx, T, Real<T>)
TRN_SYMMETRIC(float)
TRN_SYMMETRIC(double)
TRN_SYMMETRIC(std::complex<float>)
TRN_SYMMETRIC(std::complex<double>)
TRN_HERMITIAN(std::complex<float>)
TRN_HERMITIAN(std::complex<double>)
#undef TRN_ONE
#undef TRN_TWO
#undef TRN_SYMMETRIC
#undef TRN_HERMITIAN

}  // namespace trn::blas

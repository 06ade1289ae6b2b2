// The entry points of gemm, syrk and herk on distributed operands: what all ranks must say, shapes, dispatch.
#include <trn/blas/dist_gemm.hpp>

#include "checks.hpp"
#include "dist/layers.hpp"
#include "dist/operands.hpp"
#include "dist/product.hpp"

namespace trn::blas {

namespace {

using distributed::Arguments;
using distributed::letter_of;
using distributed::Product;
using distributed::Region;

// Real matrices are their own conjugates.
template <class T> Op plain(Op op) { return op == Op::C && !ComplexScalar<T> ? Op::T : op; }

}  // namespace

template <Scalar T> Accuracy gemm(Op op_a, Op op_b, Number<T> alpha, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                  Number<T> beta, const dist::Matrix<T>& c, const ProductOptions& options) {
  return gemm<T>(op_a, op_b, alpha, a, b, beta, c, options, Layers{1});
}

template <Scalar T> Accuracy gemm(Op op_a, Op op_b, Number<T> alpha, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                  Number<T> beta, const dist::Matrix<T>& c, const ProductOptions& options,
                                  const Layers& layers) {
  constexpr const char* operation = "blas.gemm";
  Arguments(operation, c.group())
      .add(op_a)
      .add(op_b)
      .add(alpha)
      .add(beta)
      .add(options.precision)
      .add(layers.count)
      .add(c)
      .add(a)
      .add(b)
      .say();
  checks::enumerators(operation, op_a, op_b, options.precision);
  distributed::check_precision(operation, options.precision, dtype_of<T>, c.executor().family());
  const std::int64_t m = op_a == Op::N ? a.rows() : a.columns(), ka = op_a == Op::N ? a.columns() : a.rows(),
                     kb = op_b == Op::N ? b.rows() : b.columns(), n = op_b == Op::N ? b.columns() : b.rows();
  require(m == c.rows() && n == c.columns() && ka == kb,
          "{}: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          operation, m, ka, letter_of(op_a), kb, n, letter_of(op_b), c.rows(), c.columns());
  const Mode mode = options.precision.mode();
  require(layers.count >= 1, "{}: {} layers; there must be at least 1", operation, layers.count);
  require(layers.count == 1 || mode == Mode::Exact,
          "{}: {} layers in precision '{}'; k is divided in 'exact' only, where the order of additions does not matter",
          operation, layers.count, name(mode));
  const std::int64_t needed = std::int64_t{layers.count} * c.distribution().grid.size();
  require(needed <= c.group().size(), "{}: {} layers of a grid of {} x {} need {} ranks; the group has {}", operation,
          layers.count, c.distribution().grid.rows, c.distribution().grid.columns, needed, c.group().size());
  if (layers.count > 1 && m > 0 && n > 0 && ka > 0 && alpha != T(0))
    return distributed::multiply_in_layers<T>({operation, plain<T>(op_a), plain<T>(op_b), alpha, beta}, a, b, c,
                                              layers.count);
  return distributed::multiply<T>({operation, plain<T>(op_a), plain<T>(op_b), alpha, beta}, a, b, c, mode);
}

namespace {

template <class T> Accuracy rank_k(const char* operation, bool hermitian, Uplo uplo, Op op, T alpha,
                                   const dist::Matrix<T>& a, T beta, const dist::Matrix<T>& c,
                                   const ProductOptions& options) {
  Arguments(operation, c.group()).add(uplo).add(op).add(alpha).add(beta).add(options.precision).add(c).add(a).say();
  checks::enumerators(operation, uplo, op, options.precision);
  distributed::check_precision(operation, options.precision, dtype_of<T>, c.executor().family());
  const Op across = hermitian ? Op::C : Op::T, used = plain<T>(op);
  require(used == Op::N || used == across, "{}: op is {}; it must be N or {}", operation, letter_of(op),
          letter_of(across));
  const std::int64_t n = used == Op::N ? a.rows() : a.columns();
  require(n == c.rows() && n == c.columns(), "{}: op(A) has {} rows, C is {} x {}; C must be square of that order",
          operation, n, c.rows(), c.columns());
  const std::int64_t k = used == Op::N ? a.columns() : a.rows();
  if ((alpha == T(0) || k == 0) && beta == T(1)) return {options.precision.mode(), 1, 0};
  return distributed::multiply<T>({operation, used, used == Op::N ? across : Op::N, alpha, beta,
                                   uplo == Uplo::Lower ? Region::Lower : Region::Upper, hermitian, true},
                                  a, a, c, options.precision.mode());
}

}  // namespace

template <Scalar T> Accuracy syrk(Uplo uplo, Op op, Number<T> alpha, const dist::Matrix<T>& a, Number<T> beta,
                                  const dist::Matrix<T>& c, const ProductOptions& options) {
  return rank_k<T>("blas.syrk", false, uplo, op, alpha, a, beta, c, options);
}
template <ComplexScalar T> Accuracy herk(Uplo uplo, Op op, Real<T> alpha, const dist::Matrix<T>& a, Real<T> beta,
                                         const dist::Matrix<T>& c, const ProductOptions& options) {
  return rank_k<T>("blas.herk", true, uplo, op, alpha, a, beta, c, options);
}

#define TRN_DIST(T)                                                                                         \
  template Accuracy gemm<T>(Op, Op, Number<T>, const dist::Matrix<T>&, const dist::Matrix<T>&, Number<T>,   \
                            const dist::Matrix<T>&, const ProductOptions&);                                 \
  template Accuracy gemm<T>(Op, Op, Number<T>, const dist::Matrix<T>&, const dist::Matrix<T>&, Number<T>,   \
                            const dist::Matrix<T>&, const ProductOptions&, const Layers&);                  \
  template Accuracy syrk<T>(Uplo, Op, Number<T>, const dist::Matrix<T>&, Number<T>, const dist::Matrix<T>&, \
                            const ProductOptions&);
#define TRN_DIST_COMPLEX(T)                                                                             \
  TRN_DIST(T)                                                                                           \
  template Accuracy herk<T>(Uplo, Op, Real<T>, const dist::Matrix<T>&, Real<T>, const dist::Matrix<T>&, \
                            const ProductOptions&);
TRN_DIST(float)
TRN_DIST(double)
TRN_DIST_COMPLEX(std::complex<float>)
TRN_DIST_COMPLEX(std::complex<double>)
#undef TRN_DIST
#undef TRN_DIST_COMPLEX

}  // namespace trn::blas

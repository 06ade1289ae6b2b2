// Triangular solves composed of products: see composed.hpp.
#include "device/composed.hpp"

namespace trn::solver::device {

namespace {

// A triangle of at most 16 rows, on the host.
template <class T>
void divide_leaf(bool forward, Op op, Diag diag, const MatrixView<const T>& a, const MatrixView<T>& b) {
  const LeafBlock<T> triangle(a);
  LeafBlock<T> x{MatrixView<const T>(b)};
  const std::int64_t n = a.rows();
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return op == Op::N ? triangle(i, j) : op == Op::T ? triangle(j, i) : conjugate(triangle(j, i));
  };
  for (std::int64_t s = 0; s < n; ++s) {
    const std::int64_t i = forward ? s : n - 1 - s;
    for (std::int64_t j = 0; j < x.columns; ++j) {
      Leaf<T> sum = x(i, j);
      for (std::int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); ++k) sum -= product(at(i, k), x(k, j));
      x(i, j) = diag == Diag::Unit ? sum : sum / at(i, i);
    }
  }
  move(x.rounded().view(), b);
}

}  // namespace

template <Composed T> double composed_divide(const Executor& executor, Uplo uplo, Op op, Diag diag,
                                             const MatrixView<const T>& a, const MatrixView<T>& b) {
  constexpr double u = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
  const std::int64_t n = a.rows(), columns = b.columns();
  if (n == 0 || columns == 0) return 0;
  const bool forward = (uplo == Uplo::Lower) == (op == Op::N);
  if (n <= kComposedLeaf) {
    divide_leaf<T>(forward, op, diag, a, b);
    return (blas::ComplexScalar<T> ? 6 : 3) * u;
  }
  const std::int64_t half = (n / 2 + kComposedLeaf - 1) / kComposedLeaf * kComposedLeaf;
  const std::int64_t first = forward ? 0 : half, second = forward ? half : 0,  // where the halves begin
      solved = forward ? half : n - half, rest = n - solved;
  const MatrixView<T> x1 = b.block(first, 0, solved, columns), b2 = b.block(second, 0, rest, columns);
  const double before = composed_divide<T>(executor, uplo, op, diag, a.block(first, first, solved, solved), x1);
  const MatrixView<const T> between =
      op == Op::N ? a.block(second, first, rest, solved) : a.block(first, second, solved, rest);
  const double update = composed_product<T>(executor, op, Op::N, T(-1), between, x1, T(1), b2);
  const double after = composed_divide<T>(executor, uplo, op, diag, a.block(second, second, rest, rest), b2);
  return std::max(before, after + 2 * update);  // terms and what there was: twice the norms
}

#define TRN_COMPOSED(T) \
  template double composed_divide<T>(const Executor&, Uplo, Op, Diag, const MatrixView<const T>&, const MatrixView<T>&);
TRN_COMPOSED(double)
TRN_COMPOSED(std::complex<float>)
TRN_COMPOSED(std::complex<double>)
#undef TRN_COMPOSED

}  // namespace trn::solver::device

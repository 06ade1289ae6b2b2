// The rank-k updates on the host. syrk, herk, syr2k, her2k: OpenBLAS in C's layout; operands that it would conjugate
// wrongly, or that lie differently from one another, are copied, and so is the triangle of a C without unit stride.
// syrkx and herkx, and every precision but Native: recursive halving, the square below the diagonal is one product
// straight into C, the small triangles at the end go through a square of their own. The arithmetic is half of gemm's
// plus a share of (leaf / n).
#include "../kernels.hpp"
#include "../targets.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kLeaf = 64;

template <Scalar T> void real_diagonal(const Strided<T>& c) {
  if constexpr (ComplexScalar<T>) {
    for (std::int64_t i = 0; i < c.rows; ++i) c.at(i, i) = c.at(i, i).real();
  }
}

// multiply(i, j, block, beta): block = alpha A'(i..) B'(j..)^t + beta block.
template <Scalar T, class Multiply> void fill_lower(const Strided<T>& c, bool hermitian, T beta, std::int64_t at,
                                                    std::int64_t size, const Multiply& multiply) {
  if (size <= kLeaf) {
    const auto triangle = c.block(at, at, size, size);
    const Owned<T> square =
        beta != T(0) ? dense_copy<T>(triangle, Layout::RowMajor, Part::Lower) : Owned<T>(size, size);
    if (hermitian) real_diagonal(square.view);
    multiply(at, at, square.view, beta);
    if (hermitian) real_diagonal(square.view);
    copy_elements<T>(square.view, triangle, Part::Lower);
    return;
  }
  const std::int64_t half = size / 2;
  fill_lower(c, hermitian, beta, at, half, multiply);
  multiply(at + half, at, c.block(at + half, at, size - half, half), beta);
  fill_lower(c, hermitian, beta, at + half, size - half, multiply);
}

template <Scalar T> void scale_lower(const SyrkArgs& s, const Strided<T>& c) {
  const T beta = factor<T>(s.beta);
  if (s.hermitian) real_diagonal(c);
  for (std::int64_t i = 0; i < s.n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) c.at(i, j) = beta == T(0) ? T(0) : beta * c.at(i, j);
  }
}

// syrkx, herkx.
template <Scalar T> void pair(const Executor& executor, const SyrkArgs& s, const Strided<T>& c) {
  const auto a = strided<T>(s.a, s.n, s.k, s.an, s.ak), b = strided<T>(s.b, s.n, s.k, s.bn, s.bk);
  fill_lower<T>(c, s.hermitian, factor<T>(s.beta), 0, s.n,
                [&](std::int64_t i, std::int64_t j, const Strided<T>& block, T beta) {
                  gemm(executor, {s.dtype, s.dtype, block.rows, block.columns, s.k, &a.at(i, 0), s.an, s.ak,
                                  &b.at(j, 0), s.bk, s.bn, block.data, block.row_stride, block.column_stride, s.alpha,
                                  std::complex<double>(beta), s.conj_a, s.conj_b != s.hermitian});
                });
}

// The accuracy of two products added: |e| <= (b1 + b2 (1 + b1)) of the sum of their scales.
template <Scalar T> void by_products(const Executor& executor, const SyrkArgs& s, const Strided<T>& c) {
  const auto a = strided<T>(s.a, s.n, s.k, s.an, s.ak), b = strided<T>(s.b, s.n, s.k, s.bn, s.bk);
  const bool two = s.kind == RankK::Two;
  const Precision precision = two ? half_of(s.precision) : s.precision;
  const auto add = [&](const Strided<const T>& x, bool conj_x, const Strided<const T>& y, bool conj_y, T alpha,
                       T beta) {
    Accuracy worst{Mode::Native, 0, 0};
    fill_lower<T>(c, s.hermitian, beta, 0, s.n,
                  [&](std::int64_t i, std::int64_t j, const Strided<T>& block, T block_beta) {
                    worsen(worst, product<T>(executor, precision, alpha, x.block(i, 0, block.rows, s.k),
                                             y.block(j, 0, block.columns, s.k).transposed(), block_beta, block, conj_x,
                                             conj_y != s.hermitian));
                  });
    return worst;
  };
  const T alpha = factor<T>(s.alpha);
  const Accuracy first = add(a, s.conj_a, b, s.conj_b, alpha, factor<T>(s.beta));
  *s.accuracy = first;
  if (!two) return;
  const Accuracy second = add(b, s.conj_b, a, s.conj_a, conjugate(alpha, s.hermitian), T(1));
  worsen(*s.accuracy, second);
  s.accuracy->bound = first.bound + second.bound * (1 + first.bound);
}

// OpenBLAS takes x or x^T (Hermitian: x or x^H) as it lies in the layout of C.
template <Scalar T>
Operand<T> resolve(const SyrkArgs& s, const Strided<const T>& x, bool conj, Layout layout, bool must_match) {
  Operand<T> result = operand(x);
  const bool transposed = result.layout != layout;
  if ((transposed && must_match) || (s.hermitian && conj != transposed))
    result = operand_in(x, layout, Part::All, conj);
  return result;
}

template <Scalar T> void update(const SyrkArgs& s, const Strided<T>& c, const Placement& place) {
  const auto va = strided<T>(s.a, s.n, s.k, s.an, s.ak), vb = strided<T>(s.b, s.n, s.k, s.bn, s.bk);
  Operand<T> a = resolve(s, va, s.conj_a, place.layout, false), b;
  if (s.kind == RankK::Two) {
    b = resolve(s, vb, s.conj_b, place.layout, false);
    if (a.layout != b.layout) {
      a = resolve(s, va, s.conj_a, place.layout, true);
      b = resolve(s, vb, s.conj_b, place.layout, true);
    }
  }
  const CBLAS_TRANSPOSE op = a.layout == place.layout ? CblasNoTrans : s.hermitian ? CblasConjTrans : CblasTrans;
  const int n = narrow("blas.syrk", "n", s.n), k = narrow("blas.syrk", "k", s.k),
            lda = narrow("blas.syrk", "lda", a.ld), ldb = narrow("blas.syrk", "ldb", b.ld),
            ldc = narrow("blas.syrk", "ldc", place.ld);
  const auto one = [&](auto routine) {
    routine(cblas_order(place.layout), CblasLower, op, n, k, factor<T>(s.alpha), a.data, lda, factor<T>(s.beta), c.data,
            ldc);
  };
  const auto two = [&](auto routine) {
    routine(cblas_order(place.layout), CblasLower, op, n, k, factor<T>(s.alpha), a.data, lda, b.data, ldb,
            factor<T>(s.beta), c.data, ldc);
  };
  if constexpr (ComplexScalar<T>) {
    if (s.hermitian) return s.kind == RankK::Two ? two(OpenBlas<T>::her2k) : one(OpenBlas<T>::herk);
  }
  s.kind == RankK::Two ? two(OpenBlas<T>::syr2k) : one(OpenBlas<T>::syrk);
}

template <Scalar T> void run(const Executor& executor, const SyrkArgs& s) {
  const auto c = strided<T>(s.c, s.n, s.n, s.cm, s.cn);
  if (!is_native(s.precision)) return by_products(executor, s, c);
  if (s.k == 0) return scale_lower(s, c);
  if (s.kind == RankK::Pair) return pair(executor, s, c);
  if (const auto place = placement(c)) return update(s, c, *place);
  const Owned<T> dense = s.beta != 0.0 ? dense_copy<T>(c, Layout::RowMajor, Part::Lower) : Owned<T>(s.n, s.n);
  update(s, dense.view, {Layout::RowMajor, s.n});
  copy_elements<T>(dense.view, c, Part::Lower);
}

}  // namespace

void syrk(const Executor& executor, const SyrkArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { run<T>(executor, args); });
}

}  // namespace trn::blas::host

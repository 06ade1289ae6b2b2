// The choice of an algorithm, and OpenBLAS where the groups are matrices in place.
//
//   gemm    every group is at most one index and OpenBLAS can read and write the matrices where they are
//   dot     no M and no N, or D's unit stride is a batch index: sums in trees
//   direct  everything else
//
// Large products are cut into pieces of 512 rows or columns, which threads share, each piece on one thread: the bits do
// not depend on the number of threads.
#include "contract.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <trn/core/openmp_pieces.hpp>

#include "offsets.hpp"

namespace trn::tensor::host {

namespace {

constexpr std::int64_t kPiece = 512;
constexpr std::int64_t kSmall = 1 << 18;  // products up to here stay on one thread within OpenBLAS

FoldedIndex single(const Group& group) { return group.empty() ? FoldedIndex{} : group.front(); }

// A row-major matrix as cblas takes it, possibly transposed.
struct Matrix {
  bool good = false, transposed = false;
  std::int64_t ld = 1;
};
Matrix matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  const auto usable = [](std::int64_t r, std::int64_t c, std::int64_t rs, std::int64_t cs) {
    return (cs == 1 || c == 1) && (r == 1 || rs >= std::max<std::int64_t>(1, c));
  };
  if (usable(rows, columns, row_stride, column_stride))
    return {true, false, rows == 1 ? std::max<std::int64_t>(1, columns) : row_stride};
  if (usable(columns, rows, column_stride, row_stride))
    return {true, true, columns == 1 ? std::max<std::int64_t>(1, rows) : column_stride};
  return {};
}

struct Product {
  FoldedIndex m, n, k;
  Matrix a, b, d;
  bool exchanged = false;  // A and B change places, so that D is row-major

  explicit Product(const Folded& f) : m(single(f.m)), n(single(f.n)), k(single(f.k)) {
    d = matrix(m.extent, n.extent, m.d, n.d);
    if (!d.good) return;
    exchanged = d.transposed;
    if (exchanged) {
      std::swap(m, n);
      for (FoldedIndex* i : {&m, &n, &k}) std::swap(i->a, i->b);
    }
    a = matrix(m.extent, k.extent, m.a, k.a);
    b = matrix(k.extent, n.extent, k.b, n.b);
  }
  [[nodiscard]] bool good() const {
    constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();
    if (!a.good || !b.good || !d.good) return false;
    return std::max({m.extent, n.extent, k.extent, a.ld, b.ld, d.ld}) <= kIntMax;
  }
};

void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, std::complex<double> alpha, const float* a,
          int lda, const float* b, int ldb, std::complex<double> beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, static_cast<float>(alpha.real()), a, lda, b, ldb,
              static_cast<float>(beta.real()), c, ldc);
}
void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, std::complex<double> alpha, const double* a,
          int lda, const double* b, int ldb, std::complex<double> beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha.real(), a, lda, b, ldb, beta.real(), c, ldc);
}
void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, std::complex<double> alpha,
          const std::complex<float>* a, int lda, const std::complex<float>* b, int ldb, std::complex<double> beta,
          std::complex<float>* c, int ldc) {
  const std::complex<float> x(alpha), y(beta);
  cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, &x, a, lda, b, ldb, &y, c, ldc);
}
void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, std::complex<double> alpha,
          const std::complex<double>* a, int lda, const std::complex<double>* b, int ldb, std::complex<double> beta,
          std::complex<double>* c, int ldc) {
  cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

CBLAS_TRANSPOSE how(bool transposed, bool conj) {
  if (conj) return transposed ? CblasConjTrans : CblasConjNoTrans;
  return transposed ? CblasTrans : CblasNoTrans;
}

template <class T> void gemm(const Contraction& s, const ContractCall& c) {
  const Product p(s.folded);
  const T* const a = static_cast<const T*>(p.exchanged ? c.b : c.a);
  const T* const b = static_cast<const T*>(p.exchanged ? c.a : c.b);
  T* const d = static_cast<T*>(c.d);
  const bool ca = p.exchanged ? s.conj_b : s.conj_a, cb = p.exchanged ? s.conj_a : s.conj_b;
  const std::int64_t m = p.m.extent, n = p.n.extent, k = p.k.extent, batch = extent_of(s.folded.h);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const bool by_rows = m >= n;
  const std::int64_t pieces = work < 0x1p24 ? 1 : ((by_rows ? m : n) + kPiece - 1) / kPiece;
  const auto one = [&](std::int64_t piece, int) {
    std::int64_t at[4] = {};
    offset_at(s.folded.h, piece / pieces, at);
    if (p.exchanged) std::swap(at[0], at[1]);
    const std::int64_t first = piece % pieces * kPiece;
    const std::int64_t rows = by_rows && pieces > 1 ? std::min(kPiece, m - first) : m;
    const std::int64_t columns = !by_rows && pieces > 1 ? std::min(kPiece, n - first) : n;
    const std::int64_t i = by_rows ? first : 0, j = by_rows ? 0 : first;
    call(how(p.a.transposed, ca), how(p.b.transposed, cb), static_cast<int>(rows), static_cast<int>(columns),
         static_cast<int>(k), c.alpha, a + at[0] + i * p.m.a, static_cast<int>(p.a.ld), b + at[1] + j * p.n.b,
         static_cast<int>(p.b.ld), c.beta, d + at[3] + i * p.m.d + j * p.n.d, static_cast<int>(p.d.ld));
  };
  if (batch * pieces == 1 && work <= kSmall) return one(0, 0);
  openmp_pieces(batch * pieces, work * static_cast<double>(batch) <= kSmall ? 1 : c.threads, one);
}

}  // namespace

const char* name(Algorithm algorithm) {
  return algorithm == Algorithm::Gemm ? "gemm" : algorithm == Algorithm::Direct ? "direct" : "dot";
}

Contraction prepare(const Folded& folded, DType compute, DType a_type, DType b_type, const Operators& operators) {
  const bool conj_a = operators.a == Unary::Conj, conj_b = operators.b == Unary::Conj;
  Contraction s{Algorithm::Direct, folded, compute, conj_a, conj_b};
  Group all = folded.h;
  all.insert(all.end(), folded.m.begin(), folded.m.end());
  all.insert(all.end(), folded.n.begin(), folded.n.end());
  for (const FoldedIndex& i : all) s.c_like_d = s.c_like_d && i.c == i.d;
  sort_and_merge(all, &FoldedIndex::d);
  s.dot = {compute, compute, Binary::Add, true, a_type, b_type, compute};
  s.dot.a_op = operators.a, s.dot.b_op = operators.b, s.dot.result = operators.result;
  s.dot.kept = all;
  s.dot.summed = folded.k;
  s.copy_c = {compute, compute, 1, {compute}, {}};
  for (FoldedIndex& i : all) i.a = i.c;
  s.copy_c.group = all;
  const auto innermost = [](const Group& g) {
    return g.empty() ? std::numeric_limits<std::int64_t>::max() : std::abs(g.front().d);
  };
  const auto plain = [](Unary op) { return op == Unary::Identity || op == Unary::Conj; };
  const bool matrices = plain(operators.a) && plain(operators.b) && plain(operators.result) && folded.m.size() <= 1 &&
                        folded.n.size() <= 1 && folded.k.size() <= 1 && a_type == compute && b_type == compute &&
                        Product(folded).good();
  const bool batched = !folded.h.empty() && folded.h.front().extent >= 8 &&
                       innermost(folded.h) < std::min(innermost(folded.m), innermost(folded.n));
  if ((folded.m.empty() && folded.n.empty()) || batched) {
    s.algorithm = Algorithm::Dot;
  } else if (matrices) {
    s.algorithm = Algorithm::Gemm;
  } else {
    s.direct = prepare_direct(folded, compute, a_type, b_type, conj_a, conj_b);
    if (!plain(operators.a)) (s.direct.exchanged ? s.direct.w_op : s.direct.v_op) = operators.a;
    if (!plain(operators.b)) (s.direct.exchanged ? s.direct.v_op : s.direct.w_op) = operators.b;
    if (!plain(operators.result)) s.direct.result = operators.result;
  }
  return s;
}

std::pair<bool, bool> repeats_work(const Contraction& s) {
  if (s.algorithm != Algorithm::Direct) return {false, false};
  const auto [v, w] = direct_repeats(s.direct);
  return s.direct.exchanged ? std::pair(w, v) : std::pair(v, w);
}

std::int64_t workspace_bytes(const Contraction& s, int threads) {
  return s.algorithm == Algorithm::Direct ? direct_workspace(s.direct, threads) : 0;
}

void contract(const Contraction& s, const ContractCall& c) {
  const std::int64_t depth = extent_of(s.folded.k);
  if (s.algorithm == Algorithm::Dot || depth == 0 || c.alpha == std::complex<double>(0)) {
    const bool nothing = depth == 0;
    return reduce(s.dot, {c.a, c.b, c.c, c.d, nothing ? 0 : c.alpha, c.beta, c.threads});
  }
  for (const Group* g : {&s.folded.h, &s.folded.m, &s.folded.n}) {
    if (extent_of(*g) == 0) return;
  }
  if (s.algorithm == Algorithm::Direct) return direct(s.direct, c);
  if (c.beta != std::complex<double>(0) && !(c.c == c.d && s.c_like_d)) {
    pointwise(s.copy_c, {{c.c}, {1, 1, 1}, c.d, c.threads});
  }
  if (s.compute == DType::Float32) return gemm<float>(s, c);
  if (s.compute == DType::Float64) return gemm<double>(s, c);
  if (s.compute == DType::Complex64) return gemm<std::complex<float>>(s, c);
  gemm<std::complex<double>>(s, c);
}

}  // namespace trn::tensor::host

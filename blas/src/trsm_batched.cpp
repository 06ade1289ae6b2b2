// The entry point of batched trsm: Side::Right, op and layout folded into strides as in trsm.
#include <trn/blas/trsm_batched.hpp>

#include <algorithm>
#include <vector>

#include <trn/blas/error_bounds.hpp>

#include "fold.hpp"
#include "kernels.hpp"

namespace trn::blas {

template <Scalar T> void trsm_batched(const Executor& executor, const TrsmBatchShape& s, Number<T> alpha,
                                      std::type_identity_t<std::span<const T* const>> a, std::span<T* const> b) {
  constexpr const char* kOperation = "blas.trsm_batched";
  checks::enumerators(kOperation, s.layout, s.side, s.uplo, s.op, s.diag);
  require(s.m >= 0 && s.n >= 0, "{}: m and n are {} and {}; none may be negative", kOperation, s.m, s.n);
  require(a.size() == b.size(), "{}: {} addresses of A but {} of B; give one of each per problem", kOperation, a.size(),
          b.size());
  const std::int64_t order = s.side == Side::Left ? s.m : s.n, line = s.layout == Layout::RowMajor ? s.n : s.m;
  require(s.lda == 0 || s.lda >= order,
          "{}: the leading dimension of A is {}, its order {}; use at least that, or 0 for packed", kOperation, s.lda,
          order);
  require(s.ldb == 0 || s.ldb >= line,
          "{}: the leading dimension of B is {}, its lines have {} elements; use at least that, or 0 for packed",
          kOperation, s.ldb, line);
  if (s.m == 0 || s.n == 0 || b.empty()) return;
  const std::int64_t lda = s.lda ? s.lda : order, ldb = s.ldb ? s.ldb : line;
  const auto view = [&](const T* data, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    return s.layout == Layout::RowMajor ? MatrixView<const T>(executor, data, rows, columns, ld, 1)
                                        : MatrixView<const T>(executor, data, rows, columns, 1, ld);
  };
  for (std::size_t p = 0; p < b.size(); ++p) {
    require(b[p] != nullptr && (alpha == T(0) || a[p] != nullptr),
            "{}: an address of problem {} is null; give it memory", kOperation, p);
    require(alpha == T(0) || a[p] != b[p], "{}: B of problem {} starts where its A does; give it memory of its own",
            kOperation, p);
  }
  std::vector<const T*> sorted(b.begin(), b.end());
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
          "{}: two problems have the same B; each needs its own", kOperation);
  const FoldedTriangle<T> triangle(s.side, s.uplo, s.op, view(a[0], order, order, lda));
  const auto whole = view(b[0], s.m, s.n, ldb);
  const auto fb = s.side == Side::Left ? whole : whole.transposed();
  const std::vector<const void*> la(a.begin(), a.end());
  const std::vector<void*> lb(b.begin(), b.end());
  dispatch(kTrsmBatched, executor,
           {dtype_of<T>, fb.rows(), fb.columns(), static_cast<std::int64_t>(b.size()), triangle.a.row_stride(),
            triangle.a.column_stride(), triangle.lower, s.diag == Diag::Unit, triangle.conj, fb.row_stride(),
            fb.column_stride(), alpha, la.data(), lb.data()});
}

// Up to 64 rows by substitution, more by trsm: the bound covers both.
double trsm_batched_error_bound(DType dtype, std::int64_t m) { return trsm_error_bound(dtype, m); }

// A type is not put into parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TRN_TRSM_BATCHED(T)                                                                                   \
  template void trsm_batched<T>(const Executor&, const TrsmBatchShape&, Number<T>, std::span<const T* const>, \
                                std::span<T* const>);
TRN_TRSM_BATCHED(float)
TRN_TRSM_BATCHED(double)
TRN_TRSM_BATCHED(std::complex<float>)
TRN_TRSM_BATCHED(std::complex<double>)
#undef TRN_TRSM_BATCHED
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace trn::blas

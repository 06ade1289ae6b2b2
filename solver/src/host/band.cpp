// Band and tridiagonal systems on the host: LAPACK's gbsv, pbsv, gtsv and ptsv on copies of A, with B in place when it
// is column-major.
#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

template <class T> const T& at(const blas::BandView<const T>& a, std::int64_t i, std::int64_t j) {
  return a.layout() == blas::Layout::ColumnMajor ? a.data()[a.ku() + i - j + j * a.ld()]
                                                 : a.data()[a.kl() + j - i + i * a.ld()];
}

// A's band in `rows` rows per column, the diagonal in row `diagonal`; NotFinite at the first place, row by row.
template <class T> Outcome load(const blas::BandView<const T>& a, std::int64_t diagonal, Columns<T>& to) {
  const std::int64_t n = a.rows();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - a.kl()); j <= std::min(n - 1, i + a.ku()); ++j) {
      if (!is_finite(at(a, i, j))) return {Status::NotFinite, i * n + j};
      to(diagonal + i - j, j) = at(a, i, j);
    }
  }
  return {};
}

template <class T> std::vector<T> packed(const VectorView<const T>& x) {
  std::vector<T> values(static_cast<std::size_t>(x.size()) + 1);
  for (std::int64_t i = 0; i < x.size(); ++i) values[static_cast<std::size_t>(i)] = x.data()[i * x.stride()];
  return values;
}

// Looks at B, calls solve(b, info) and says what came of it; B is NaN unless it is solved.
template <class T, class F>
Outcome solved(Outcome outcome, const MatrixView<T>& view, Status failure, const char* routine, F solve) {
  if (outcome.ok()) outcome = finite(view);
  if (outcome.ok() && view.rows() > 0 && view.columns() > 0) {
    Inout<T> b(view);
    int info = 0;
    solve(b, info);
    expect_legal(routine, info);
    if (info > 0) {
      outcome = {failure, info - 1};
    } else {
      b.write_back();
    }
  }
  if (!outcome.ok()) fill(view, not_a_number<T>());
  return outcome;
}

}  // namespace

template <Scalar T> Outcome gbsv(const Executor&, const BandArgs<T>& g) {
  const std::int64_t n = g.a.rows(), kl = g.a.kl(), ku = g.a.ku();
  Columns<T> band(2 * kl + ku + 1, n);  // kl rows above for what the exchanges fill in
  const Outcome looked = load(g.a, kl + ku, band);
  std::vector<int> pivots(static_cast<std::size_t>(n) + 1);
  return solved(looked, g.b, Status::Singular, "gbsv", [&](Inout<T>& b, int& info) {
    Lapack<T>::gbsv(to_int(n), to_int(kl), to_int(ku), to_int(g.b.columns()), band.data(), band.ld(), pivots.data(),
                    b.data(), b.ld(), info);
  });
}

template <Scalar T> Outcome pbsv(const Executor&, const BandArgs<T>& g) {
  const std::int64_t n = g.a.rows(), k = std::max(g.a.kl(), g.a.ku());
  const bool lower = g.a.ku() == 0;
  Columns<T> band(k + 1, n);
  const Outcome looked = load(g.a, lower ? 0 : k, band);
  return solved(looked, g.b, Status::NotPositiveDefinite, "pbsv", [&](Inout<T>& b, int& info) {
    Lapack<T>::pbsv(lower ? 'L' : 'U', to_int(n), to_int(k), to_int(g.b.columns()), band.data(), band.ld(), b.data(),
                    b.ld(), info, 1);
  });
}

template <Scalar T> Outcome gtsv(const Executor&, const GtsvArgs<T>& g) {
  Outcome looked = finite(g.lower);
  if (looked.ok()) looked = finite(g.diagonal);
  if (looked.ok()) looked = finite(g.upper);
  std::vector<T> lower = packed(g.lower), diagonal = packed(g.diagonal), upper = packed(g.upper);
  return solved(looked, g.b, Status::Singular, "gtsv", [&](Inout<T>& b, int& info) {
    Lapack<T>::gtsv(to_int(g.b.rows()), to_int(g.b.columns()), lower.data(), diagonal.data(), upper.data(), b.data(),
                    b.ld(), info);
  });
}

template <Scalar T> Outcome ptsv(const Executor&, const PtsvArgs<T>& g) {
  Outcome looked = finite(g.diagonal);
  if (looked.ok()) looked = finite(g.lower);
  std::vector<Real<T>> diagonal = packed(g.diagonal);
  std::vector<T> lower = packed(g.lower);
  return solved(looked, g.b, Status::NotPositiveDefinite, "ptsv", [&](Inout<T>& b, int& info) {
    Lapack<T>::ptsv(to_int(g.b.rows()), to_int(g.b.columns()), diagonal.data(), lower.data(), b.data(), b.ld(), info);
  });
}

#define TRN_BAND(T)                                           \
  template Outcome gbsv(const Executor&, const BandArgs<T>&); \
  template Outcome pbsv(const Executor&, const BandArgs<T>&); \
  template Outcome gtsv(const Executor&, const GtsvArgs<T>&); \
  template Outcome ptsv(const Executor&, const PtsvArgs<T>&);
TRN_SOLVER_SCALARS(TRN_BAND)
#undef TRN_BAND

}  // namespace trn::solver::host

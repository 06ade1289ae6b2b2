// LU with partial pivoting on devices for the types that no engine has (composed.hpp). Halves of the columns,
//
//   P1 [A11; A21] = [L11; L21] U11,  A <- P1 A,  U12 = L11^-1 A12,  A22 <- A22 - L21 U12,  P2 A22 = L22 U22,
//
// down to strips of 16 columns, whose pivots the host chooses. Rows are moved by gathers, as whole rows of the matrix.
#include "device/composed.hpp"
#include "device/row_exchanges.hpp"
#include "kernels/factorisations.hpp"
#include "norm_estimate.hpp"

namespace trn::solver::device {

namespace {

template <class T> constexpr std::string_view kName =
    kModeOf<T> == Mode::Exact ? "recursive lu, partial pivoting, exact products" : "recursive lu, partial pivoting";

// |x| as LAPACK compares pivots.
long double size(long double x) { return std::abs(x); }
template <class R> R size(const std::complex<R>& x) { return std::abs(x.real()) + std::abs(x.imag()); }

// A whose rows are contiguous: itself, or a copy that store() brings back.
template <class T> class Rows {
 public:
  Rows(const Executor& executor, const MatrixView<T>& a)
      : a_(a),
        copied_(a.rows() > 0 && a.columns() > 0 && !(a.column_stride() == 1 && a.row_stride() >= a.columns())),
        copy_(executor, copied_ ? a.rows() : 0, copied_ ? a.columns() : 0) {
    if (copied_) move(a_, copy_.view());
  }
  [[nodiscard]] MatrixView<T> view() const { return copied_ ? copy_.view() : a_; }
  void store() const {
    if (copied_) move(copy_.view(), a_);
  }

 private:
  MatrixView<T> a_;
  bool copied_;
  Matrix<T> copy_;
};

template <class T> class Factorisation {
 public:
  Factorisation(const Executor& executor, const MatrixView<T>& a) : executor_(executor), a_(a) {}

  // Columns first to first + width, of the rows from first on, all that is left of them being done. The result r:
  // |P A - L U|(i, j) <= r ||L(i, .)|| ||U(., j)|| there, to first order.
  double columns(std::int64_t first, std::int64_t width) {
    if (width <= kComposedLeaf) return strip(first, width);
    const std::int64_t half = (width / 2 + kComposedLeaf - 1) / kComposedLeaf * kComposedLeaf;
    const double before = columns(first, half);
    const double update = right_of(first, half, width - half);
    return std::max(before, update + columns(first + half, width - half));
  }
  // U12 and A22 of `width` columns behind `done` ones that begin at `first`.
  double right_of(std::int64_t first, std::int64_t done, std::int64_t width) {
    const std::int64_t below = a_.rows() - first - done;
    const MatrixView<T> right = a_.block(first, first + done, done, width);
    const double solved =
        composed_divide<T>(executor_, Uplo::Lower, Op::N, Diag::Unit, a_.block(first, first, done, done), right);
    if (below == 0) return solved;
    const double update =
        composed_product<T>(executor_, Op::N, Op::N, T(-1), a_.block(first + done, first, below, done), right, T(1),
                            a_.block(first + done, first + done, below, width));
    return std::max(solved, 2 * update);
  }
  [[nodiscard]] const Exchanges& exchanges() const { return exchanges_; }

 private:
  double strip(std::int64_t first, std::int64_t width) {
    const std::int64_t m = a_.rows() - first;
    const MatrixView<T> here = a_.block(first, first, m, width);
    LeafBlock<T> x{MatrixView<const T>(here)};
    for (std::int64_t j = 0; j < width; ++j) {
      std::int64_t pivot = j;
      for (std::int64_t i = j + 1; i < m; ++i) {
        if (size(x(i, j)) > size(x(pivot, j))) pivot = i;
      }
      exchanges_.push_back(first + pivot);
      if (pivot != j) std::swap_ranges(&x(j, 0), &x(j, 0) + width, &x(pivot, 0));
      if (x(j, j) == Leaf<T>(0)) continue;
      for (std::int64_t i = j + 1; i < m; ++i) {
        const Leaf<T> l = x(i, j) / x(j, j);
        x(i, j) = l;
        for (std::int64_t k = j + 1; k < width; ++k) x(i, k) -= product(l, x(j, k));
      }
    }
    exchange(executor_, words_of(a_), exchanges_, first, width, false);
    move(x.rounded().view(), here);
    return (blas::ComplexScalar<T> ? 6 : 3) * static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
  }

  Executor executor_;
  MatrixView<T> a_;
  Exchanges exchanges_;
};

template <class T> Outcome zero_pivot(const MatrixView<const T>& factor) {
  const std::vector<T> values = diagonal(factor);
  const auto zero = std::find(values.begin(), values.end(), T(0));
  return zero == values.end() ? Outcome{} : Outcome{Status::Singular, zero - values.begin()};
}

// op(A) X = B over B, for a factor and right-hand sides that have been looked at.
template <class T> double solve(const Executor& executor, Op op, const MatrixView<const T>& factor,
                                const Exchanges& exchanges, const MatrixView<T>& b) {
  const auto rows = [&](bool backwards) {
    const Rows<T> turned(executor, b);
    exchange_all(executor, words_of(turned.view()), exchanges, backwards);
    turned.store();
  };
  const auto lower = [&] { return composed_divide<T>(executor, Uplo::Lower, op, Diag::Unit, factor, b); };
  const auto upper = [&] { return composed_divide<T>(executor, Uplo::Upper, op, Diag::NonUnit, factor, b); };
  double bound = 0;
  if (op == Op::N) {
    rows(false);
    bound = lower();
    return bound + upper();
  }
  bound = upper();
  bound += lower();
  rows(true);
  return bound;
}

template <class T> void say(Report* report, double bound) {
  if (!report) return;
  report->algorithm = kName<T>;
  report->accuracy = {kModeOf<T>, 1, bound};
}

}  // namespace

template <Scalar T> Outcome getrf(const Executor& executor, const GetrfArgs<T>& g) {
  needs_gathers("solver.getrf", executor);
  const std::int64_t k = g.pivots.size();
  Exchanges exchanges(static_cast<std::size_t>(k));
  Outcome bad = finite(executor, g.a);
  double bound = 0;
  if (bad.ok() && k > 0) {
    const Rows<T> rows(executor, g.a);
    Factorisation<T> factorisation(executor, rows.view());
    bound = factorisation.columns(0, k);
    if (g.a.columns() > k) bound = std::max(bound, factorisation.right_of(0, k, g.a.columns() - k));
    rows.store();
    exchanges = factorisation.exchanges();
    bad = finite(executor, g.a);
  }
  say<T>(g.report, bound);
  if (!bad.ok()) {
    fill_nan(g.a);
    exchanges.assign(static_cast<std::size_t>(k), 0);
  }
  if (k > 0) copy(View<const std::int64_t>(Executor::host(), exchanges.data(), {k}), View<std::int64_t>(g.pivots));
  return bad.ok() ? zero_pivot<T>(g.a) : bad;
}

template <Scalar T> Outcome getrs(const Executor& executor, const GetrsArgs<T>& g) {
  needs_gathers("solver.getrs", executor);
  const Exchanges exchanges = exchanges_of("solver.getrs", g.pivots, g.factor.rows());
  Outcome bad = finite(executor, g.factor);
  if (bad.ok()) bad = finite(executor, g.b);
  if (bad.ok()) bad = zero_pivot(g.factor);
  say<T>(g.report, 0);
  if (!bad.ok()) {
    fill_nan(g.b);
    return bad;
  }
  if (g.b.rows() == 0 || g.b.columns() == 0) return {};
  say<T>(g.report, 2 * solve(executor, g.op, g.factor, exchanges, g.b));
  return {};
}

template <Scalar T> Outcome getri(const Executor& executor, const GetriArgs<T>& g) {
  needs_gathers("solver.getri", executor);
  const Exchanges exchanges = exchanges_of("solver.getri", g.pivots, g.factor.rows());
  say<T>(g.report, 0);
  if (const Outcome bad = finite(executor, g.factor); !bad.ok()) {
    fill_nan(g.factor);
    return bad;
  }
  if (const Outcome bad = zero_pivot(MatrixView<const T>(g.factor)); !bad.ok()) return bad;
  if (g.factor.rows() == 0) return {};
  const Matrix<T> x = unit_matrix<T>(executor, g.factor.rows());
  const double bound = solve<T>(executor, Op::N, g.factor, exchanges, x.view());
  move(x.view(), g.factor);
  say<T>(g.report, bound);
  return finite(executor, g.factor);
}

#define TRN_COMPOSED_LU(T)                                      \
  template Outcome getrf(const Executor&, const GetrfArgs<T>&); \
  template Outcome getrs(const Executor&, const GetrsArgs<T>&); \
  template Outcome getri(const Executor&, const GetriArgs<T>&);
TRN_COMPOSED_LU(double)
TRN_COMPOSED_LU(std::complex<float>)
TRN_COMPOSED_LU(std::complex<double>)
#undef TRN_COMPOSED_LU

}  // namespace trn::solver::device

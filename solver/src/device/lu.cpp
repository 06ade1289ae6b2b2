// LU with partial pivoting on devices, float: panels of 128 columns (getrf_program.hpp), after each the exchange of
// rows in the whole matrix, U right of the panel by a triangular solve and the rest by a product, both of trnblas.
//
//   P A(., k) = L U(k, k) in SBUF,  A <- P A,  U(k, .) = L(k, k)^-1 A(k, .),  A(rest, .) <- A - L(rest, k) U(k, .)
//
// Rows must be contiguous to be moved by DMA. A matrix whose columns are is turned by the Tensor Engine into a copy and
// back. The host sees which row each step chose, 128 numbers a panel, and makes LAPACK's exchanges of them.
#include <trn/blas/gemm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/solver/getrf_program.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/words.hpp>

#include "device/operands.hpp"
#include "device/row_exchanges.hpp"
#include "kernels/factorisations.hpp"
#include "norm_estimate.hpp"

namespace trn::solver::device {

namespace {

constexpr std::int64_t kPanel = kExchanged, kLeaf = 16;
using ConstView = MatrixView<const float>;

// |P A - L U| <= bound |L||U| elementwise, to first order. An element is a sum of products of the Tensor Engine by 128
// outside of panels and by 16 within, each subtracted from what there was, of 16 differences in a leaf, and of the
// quotient by a reciprocal; U right of a panel has the residual of its triangular solve.
double lu_bound(std::int64_t k, double solved) {
  const tile::Words& words = tile::words_of(Mode::Native);
  constexpr double u = 0x1p-24;
  const auto updates = static_cast<double>((k + kPanel - 1) / kPanel + kPanel / kLeaf);
  return tile::sum_error(words, std::min(k, kPanel)) + tile::sum_error(words, std::min(k, kLeaf)) + solved +
         (updates + 2 * kLeaf + 4) * u;
}

// A whose rows are contiguous: itself, or a copy that store() brings back.
class Rows {
 public:
  Rows(const Executor& executor, const MatrixView<float>& a)
      : executor_(executor),
        a_(a),
        copied_(a.rows() > 0 && a.columns() > 0 && !(a.column_stride() == 1 && a.row_stride() >= a.columns())),
        copy_(executor, copied_ ? a.rows() : 0, copied_ ? a.columns() : 0) {
    if (!copied_) return;
    if (turns())
      turn(executor_, a_.transposed(), copy_.view());
    else
      move(a_, copy_.view());
  }
  [[nodiscard]] MatrixView<float> view() const { return copied_ ? copy_.view() : a_; }
  void store() const {
    if (!copied_) return;
    if (turns())
      turn(executor_, copy_.view(), a_.transposed());
    else
      move(copy_.view(), a_);
  }

 private:
  [[nodiscard]] bool turns() const { return a_.row_stride() == 1 && a_.column_stride() >= a_.rows(); }

  Executor executor_;
  MatrixView<float> a_;
  bool copied_;
  Matrix<float> copy_;
};

// LAPACK's exchanges from the rows that a panel of m rows chose, which begins at row `start`: false where an element
// overflowed and no row was found.
bool append(const std::vector<float>& chosen, std::int64_t m, std::int64_t start, Exchanges& exchanges) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(m)), holds(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i) place[static_cast<std::size_t>(i)] = holds[static_cast<std::size_t>(i)] = i;
  const std::int64_t padded = (m + kPanel - 1) / kPanel * kPanel;
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    if (!(chosen[j] >= static_cast<float>(padded - m + 1) && chosen[j] <= static_cast<float>(padded))) return false;
    const std::int64_t row = padded - static_cast<std::int64_t>(chosen[j]),
                       other = place[static_cast<std::size_t>(row)];
    if (other < static_cast<std::int64_t>(j)) return false;  // chosen before
    exchanges.push_back(start + other);
    place[static_cast<std::size_t>(holds[j])] = other;
    std::swap(holds[j], holds[static_cast<std::size_t>(other)]);
    place[static_cast<std::size_t>(row)] = static_cast<std::int64_t>(j);
  }
  return true;
}

// False where an element overflowed.
bool factor(const Executor& executor, const MatrixView<float>& a, Exchanges& exchanges, double& solved) {
  const std::int64_t m = a.rows(), n = a.columns(), k = std::min(m, n);
  for (std::int64_t first = 0; first < k; first += kPanel) {
    const std::int64_t w = std::min(kPanel, k - first), height = m - first, rest = n - first - w;
    const MatrixView<float> panel = a.block(first, first, height, w);
    const Array<float> chosen(executor, {w});
    tile::launch(executor, getrf_panel_program, LuPanelShape{height, w, a.row_stride(), 1},
                 {{"a", panel.data()}, {"factor", panel.data()}, {"chosen", chosen.data()}});
    if (!append(chosen.to_host(), height, first, exchanges)) return false;
    exchange(executor, a, exchanges, first, w, false);
    if (rest == 0) continue;
    const MatrixView<float> right = a.block(first, first + w, w, rest);
    solved = std::max(solved, blas::trsm<float>(executor, Side::Left, Uplo::Lower, Op::N, Diag::Unit, 1.0F,
                                                a.block(first, first, w, w), right)
                                  .bound);
    if (height == w) continue;
    blas::gemm(executor, Op::N, Op::N, -1.0F, ConstView(a.block(first + w, first, height - w, w)), ConstView(right),
               1.0F, a.block(first + w, first + w, height - w, rest));
  }
  return true;
}

Outcome zero_pivot(const ConstView& factor) {
  const std::vector<float> values = diagonal(factor);
  const auto zero = std::find(values.begin(), values.end(), 0.0F);
  return zero == values.end() ? Outcome{} : Outcome{Status::Singular, zero - values.begin()};
}

// op(A) X = B over B, for a factor and right-hand sides that have been looked at.
double solve(const Executor& executor, Op op, const ConstView& factor, const Exchanges& exchanges,
             const MatrixView<float>& b) {
  double bound = 0;
  const auto divide = [&](Uplo uplo, Diag diag) {
    bound += blas::trsm<float>(executor, Side::Left, uplo, op, diag, 1.0F, factor, b).bound;
  };
  const auto rows = [&](bool backwards) {
    const Rows turned(executor, b);
    exchange_all(executor, turned.view(), exchanges, backwards);
    turned.store();
  };
  if (op == Op::N) {
    rows(false);
    divide(Uplo::Lower, Diag::Unit);
    divide(Uplo::Upper, Diag::NonUnit);
  } else {
    divide(Uplo::Upper, Diag::NonUnit);
    divide(Uplo::Lower, Diag::Unit);
    rows(true);
  }
  return bound;
}

void say(Report* report, double bound) {
  if (!report) return;
  report->algorithm = "blocked lu, partial pivoting";
  report->accuracy = {Mode::Native, 1, bound};
}

}  // namespace

template <> Outcome getrf(const Executor& executor, const GetrfArgs<float>& g) {
  needs_gathers("solver.getrf", executor);
  const std::int64_t k = g.pivots.size();
  Exchanges exchanges;
  Outcome bad = finite(executor, g.a);
  double solved = 0;
  if (bad.ok()) {
    const Rows rows(executor, g.a);
    const bool whole = factor(executor, rows.view(), exchanges, solved);
    rows.store();
    bad = finite(executor, g.a);
    if (bad.ok() && !whole) bad = {Status::NotFinite, 0};
  }
  say(g.report, lu_bound(k, solved));
  if (!bad.ok()) {
    fill_nan(g.a);
    exchanges.assign(static_cast<std::size_t>(k), 0);
  }
  if (k > 0) copy(View<const std::int64_t>(Executor::host(), exchanges.data(), {k}), View<std::int64_t>(g.pivots));
  return bad.ok() ? zero_pivot(g.a) : bad;
}

template <> Outcome getrs(const Executor& executor, const GetrsArgs<float>& g) {
  needs_gathers("solver.getrs", executor);
  const Exchanges exchanges = exchanges_of("solver.getrs", g.pivots, g.factor.rows());
  Outcome bad = finite(executor, g.factor);
  if (bad.ok()) bad = finite(executor, g.b);
  if (bad.ok()) bad = zero_pivot(g.factor);
  say(g.report, 0);
  if (!bad.ok()) {
    fill_nan(g.b);
    return bad;
  }
  if (g.b.rows() == 0 || g.b.columns() == 0) return {};
  const double bound = solve(executor, g.op, g.factor, exchanges, g.b);
  say(g.report, lu_bound(g.factor.rows(), 0) + 2 * bound);
  return {};
}

template <> Outcome getri(const Executor& executor, const GetriArgs<float>& g) {
  needs_gathers("solver.getri", executor);
  const Exchanges exchanges = exchanges_of("solver.getri", g.pivots, g.factor.rows());
  say(g.report, 0);
  if (const Outcome bad = finite(executor, g.factor); !bad.ok()) {
    fill_nan(g.factor);
    return bad;
  }
  if (const Outcome bad = zero_pivot(g.factor); !bad.ok()) return bad;
  if (g.factor.rows() == 0) return {};
  const Matrix<float> x = unit_matrix<float>(executor, g.factor.rows());
  const double bound = solve(executor, Op::N, g.factor, exchanges, x.view());
  move(x.view(), g.factor);
  say(g.report, bound);
  return finite(executor, g.factor);
}

}  // namespace trn::solver::device

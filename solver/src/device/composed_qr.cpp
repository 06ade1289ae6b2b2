// QR on devices for the types that no engine has (composed.hpp): panels of 128 columns, within them strips of 16, which
// the host reduces by Householder's reflections in wider arithmetic; all that a strip or a panel does to the columns
// right of it is compact WY, three products on the device:
//
//   Q^H C = C - V T^H (V^H C),   T from V^H V and tau (larft) on the host.
#include "device/composed.hpp"
#include "kernels/factorisations.hpp"

namespace trn::solver::device {

namespace {

constexpr std::int64_t kPanel = 128;

template <class T> void say(Report* report) {
  if (!report) return;
  report->algorithm = kModeOf<T> == Mode::Exact ? "blocked qr, exact products" : "blocked qr, householder";
  report->accuracy.mode = kModeOf<T>;
}

// Reflections of the columns of x, one after another, as LAPACK's larfg makes them: v below the diagonal, R on and
// above it.
template <class T> std::vector<T> reflect(LeafBlock<T>& x) {
  using W = Leaf<T>;
  using R = Real<W>;
  const std::int64_t m = x.rows, n = x.columns, k = std::min(m, n);
  std::vector<T> tau(static_cast<std::size_t>(k));
  for (std::int64_t j = 0; j < k; ++j) {
    R below = 0;
    for (std::int64_t i = j + 1; i < m; ++i) below = std::hypot(below, R(std::abs(x(i, j))));
    const W alpha = x(j, j);
    if (below == 0 && std::imag(alpha) == 0) continue;  // H = I
    const R size = std::hypot(below, R(std::abs(alpha))), beta = std::real(alpha) > 0 ? -size : size;
    // What later products take is the tau that is stored.
    tau[static_cast<std::size_t>(j)] = T((W(beta) - alpha) / beta);
    const W factor = conjugate(W(tau[static_cast<std::size_t>(j)])), scale = W(1) / (alpha - W(beta));
    for (std::int64_t i = j + 1; i < m; ++i) x(i, j) = W(T(product(x(i, j), scale)));
    x(j, j) = beta;
    for (std::int64_t c = j + 1; c < n; ++c) {
      W sum = x(j, c);
      for (std::int64_t i = j + 1; i < m; ++i) sum += product(conjugate(x(i, j)), x(i, c));
      sum = product(factor, sum);
      x(j, c) -= sum;
      for (std::int64_t i = j + 1; i < m; ++i) x(i, c) -= product(x(i, j), sum);
    }
  }
  return tau;
}

// T of reflections whose products V^H V are known (the upper triangle is read), in the executor's memory.
template <class T> Matrix<T> factor_of(const Executor& executor, const LeafBlock<T>& products, const T* tau) {
  const std::int64_t n = products.rows;
  LeafBlock<T> t(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    const Leaf<T> here(tau[i]);
    for (std::int64_t j = 0; j < i; ++j) {
      Leaf<T> sum = 0;
      for (std::int64_t k = j; k < i; ++k) sum += product(t(j, k), products(k, i));
      t(j, i) = -product(here, sum);
    }
    t(i, i) = here;
  }
  return t.rounded().to(executor);
}

// C <- op(I - V T V^H) C or C op(I - V T V^H), op the adjoint or none.
template <class T> void apply(const Executor& executor, Side side, bool adjoint, const MatrixView<const T>& v,
                              const MatrixView<const T>& t, const MatrixView<T>& c) {
  const std::int64_t w = v.columns();
  if (c.rows() == 0 || c.columns() == 0) return;
  const Op op = adjoint ? kAdjoint<T> : Op::N;
  if (side == Side::Left) {
    const Matrix<T> x(executor, w, c.columns()), y(executor, w, c.columns());
    composed_product<T>(executor, kAdjoint<T>, Op::N, T(1), v, c, T(0), x.view());
    composed_product<T>(executor, op, Op::N, T(1), t, x.view(), T(0), y.view());
    composed_product<T>(executor, Op::N, Op::N, T(-1), v, y.view(), T(1), c);
  } else {
    const Matrix<T> x(executor, c.rows(), w), y(executor, c.rows(), w);
    composed_product<T>(executor, Op::N, Op::N, T(1), c, v, T(0), x.view());
    composed_product<T>(executor, Op::N, op, T(1), x.view(), t, T(0), y.view());
    composed_product<T>(executor, Op::N, kAdjoint<T>, T(-1), y.view(), v, T(1), c);
  }
}

// The unit lower trapezoid of a panel, with zeros above.
template <class T> Matrix<T> vectors_of(const Executor& executor, const MatrixView<const T>& panel) {
  const std::int64_t m = panel.rows(), w = panel.columns();
  Matrix<T> v(executor, m, w);
  const Matrix<T> top = on_host(panel.block(0, 0, w, w));
  for (std::int64_t i = 0; i < w; ++i) {
    host::element(top.view(), i, i) = T(1);
    for (std::int64_t j = i + 1; j < w; ++j) host::element(top.view(), i, j) = T(0);
  }
  move(top.view(), v.view().block(0, 0, w, w));
  if (m > w) move(panel.block(w, 0, m - w, w), v.view().block(w, 0, m - w, w));
  return v;
}

// V and T of columns that have been reduced.
template <class T> struct Block { Matrix<T> v, t; };
template <class T> Block<T> block_of(const Executor& executor, const MatrixView<const T>& columns, const T* tau) {
  const std::int64_t w = columns.columns();
  Block<T> b{vectors_of(executor, columns), Matrix<T>(executor, w, w)};
  composed_product<T>(executor, kAdjoint<T>, Op::N, T(1), b.v.view(), b.v.view(), T(0), b.t.view());
  b.t = factor_of<T>(executor, LeafBlock<T>(MatrixView<const T>(b.t.view())), tau);
  return b;
}

template <class T> void factor_panel(const Executor& executor, const MatrixView<T>& panel, T* tau) {
  const std::int64_t m = panel.rows(), n = panel.columns();
  for (std::int64_t first = 0; first < n; first += kComposedLeaf) {
    const std::int64_t w = std::min(kComposedLeaf, n - first), rest = n - first - w;
    const MatrixView<T> strip = panel.block(first, first, m - first, w);
    LeafBlock<T> x{MatrixView<const T>(strip)};
    const std::vector<T> here = reflect(x);
    std::copy(here.begin(), here.end(), tau + first);
    move(x.rounded().view(), strip);
    if (rest == 0) continue;
    const Block<T> b = block_of<T>(executor, strip, tau + first);
    apply<T>(executor, Side::Left, true, b.v.view(), b.t.view(), panel.block(first, first + w, m - first, rest));
  }
}

template <class T> std::vector<T> numbers(const VectorView<const T>& x) {
  std::vector<T> values(static_cast<std::size_t>(x.size()));
  if (x.size() > 0) copy(View<const T>(x), View<T>(Executor::host(), values.data(), {x.size()}));
  return values;
}
template <class T> MatrixView<T> column(const VectorView<T>& x) {
  return {x.executor(), x.data(), x.size(), 1, x.stride(), 1};
}

// op(Q) C or C op(Q), op the adjoint or none.
template <class T> void apply_all(const Executor& executor, Side side, bool adjoint, const MatrixView<const T>& a,
                                  const std::vector<T>& tau, const MatrixView<T>& c) {
  const auto k = static_cast<std::int64_t>(tau.size()), panels = (k + kPanel - 1) / kPanel;
  for (std::int64_t step = 0; step < panels; ++step) {
    const bool forward = (side == Side::Left) == adjoint;
    const std::int64_t first = (forward ? step : panels - 1 - step) * kPanel, w = std::min(kPanel, k - first);
    const Block<T> b =
        block_of<T>(executor, a.block(first, first, a.rows() - first, w), &tau[static_cast<std::size_t>(first)]);
    const MatrixView<T> part = side == Side::Left ? c.block(first, 0, c.rows() - first, c.columns())
                                                  : c.block(0, first, c.rows(), c.columns() - first);
    apply<T>(executor, side, adjoint, b.v.view(), b.t.view(), part);
  }
}

}  // namespace

template <Scalar T> Outcome geqrf(const Executor& executor, const GeqrfArgs<T>& g) {
  say<T>(g.report);
  if (const Outcome bad = finite(executor, g.a); !bad.ok()) {
    fill_nan(g.a);
    fill_nan(column(g.tau));
    return bad;
  }
  const std::int64_t m = g.a.rows(), n = g.a.columns(), k = std::min(m, n);
  std::vector<T> tau(static_cast<std::size_t>(k));
  for (std::int64_t first = 0; first < k; first += kPanel) {
    const std::int64_t w = std::min(kPanel, k - first), rest = n - first - w;
    const MatrixView<T> panel = g.a.block(first, first, m - first, w);
    T* here = &tau[static_cast<std::size_t>(first)];
    factor_panel(executor, panel, here);
    if (rest == 0) continue;
    const Block<T> b = block_of<T>(executor, panel, here);
    apply<T>(executor, Side::Left, true, b.v.view(), b.t.view(), g.a.block(first, first + w, m - first, rest));
  }
  if (k > 0) copy(View<const T>(Executor::host(), tau.data(), {k}), View<T>(g.tau));
  const Outcome overflowed = finite(executor, g.a);
  if (!overflowed.ok()) {
    fill_nan(g.a);
    fill_nan(column(g.tau));
  }
  return overflowed;
}

template <Scalar T> Outcome ormqr(const Executor& executor, const OrmqrArgs<T>& g) {
  say<T>(g.report);
  Outcome bad = finite(executor, g.a);
  if (bad.ok()) bad = finite(executor, column(g.tau));
  if (bad.ok()) bad = finite(executor, g.c);
  if (!bad.ok()) {
    fill_nan(g.c);
    return bad;
  }
  if (g.c.rows() == 0 || g.c.columns() == 0 || g.tau.size() == 0) return {};
  apply_all<T>(executor, g.side, g.op != Op::N, g.a, numbers(g.tau), g.c);
  return {};
}

template <Scalar T> Outcome orgqr(const Executor& executor, const OrgqrArgs<T>& g) {
  say<T>(g.report);
  Outcome bad = finite(executor, g.a);
  if (bad.ok()) bad = finite(executor, column(g.tau));
  if (!bad.ok()) {
    fill_nan(g.a);
    return bad;
  }
  const std::int64_t m = g.a.rows(), n = g.a.columns();
  if (n == 0) return {};
  std::vector<T> unit(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < n; ++i) unit[static_cast<std::size_t>(i * n + i)] = T(1);
  const Matrix<T> q = Matrix<T>::from_host(executor, m, n, unit);
  apply_all<T>(executor, Side::Left, false, g.a, numbers(g.tau), q.view());
  move(q.view(), g.a);
  return {};
}

#define TRN_COMPOSED_QR(T)                                      \
  template Outcome geqrf(const Executor&, const GeqrfArgs<T>&); \
  template Outcome orgqr(const Executor&, const OrgqrArgs<T>&); \
  template Outcome ormqr(const Executor&, const OrmqrArgs<T>&);
TRN_COMPOSED_QR(double)
TRN_COMPOSED_QR(std::complex<float>)
TRN_COMPOSED_QR(std::complex<double>)
#undef TRN_COMPOSED_QR

}  // namespace trn::solver::device

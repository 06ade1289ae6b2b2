// QR on devices, float: panels of 128 columns by CholeskyQR with shifts, Householder vectors reconstructed from their
// orthonormal columns, compact WY updates. All of it is products, triangular solves and Cholesky factorisations of
// 128 x 128 blocks on the device; the host sees blocks of 128 x 128 (Gram matrices, triangles, T).
//
// A pass: G = Q^T Q = L L^T, Q <- Q L^-T, R <- L^T R. It is the last when G was within 1/4 of the identity: then the
// new Q is orthonormal to a few u. In float32 the plain pass breaks down for condition numbers above some 4e3
// (CholeskyQR2 ends there); then 20 u trace(G) is added to the diagonal, which at most divides the condition number
// by some 1e3, and passes go on. Columns that depend on others to working precision stay so whatever the shift: after
// a few such passes noise of size u max|A| is added to the panel and it begins again, a perturbation no larger than
// the factorisation's own error.
#include <cmath>

#include <trn/blas/gemm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/solver/potrf_program.hpp>
#include <trn/tile/launch.hpp>

#include "device/householder.hpp"
#include "device/operands.hpp"
#include "kernels/factorisations.hpp"

namespace trn::solver::device {

namespace {

constexpr std::int64_t kPanel = 128;
constexpr double kUnit = 0x1p-24;
constexpr int kMostPasses = 8, kMostShifts = 4;
// Up to this growth of errors (householder.hpp) the inverse of a whole panel's triangle, made on the host, takes the
// place of a solve: one product of the device instead of the inversion of a block, its product and a step of
// refinement. Panels of random columns have some 10.
constexpr double kMostGrowth = 32;

Small small(const Matrix<float>& a) {
  Small s(a.rows());
  const std::vector<float> values = a.to_host();
  std::copy(values.begin(), values.end(), s.values.begin());
  return s;
}
Matrix<float> on_device(const Executor& executor, const Small& s) {
  const std::vector<float> values(s.values.begin(), s.values.end());
  return Matrix<float>::from_host(executor, s.n, s.n, values);
}

// Cholesky of a Gram matrix of at most 128 columns, in place below the diagonal; false when a pivot is not positive.
bool factor_gram(const Executor& executor, const Matrix<float>& g) {
  const std::int64_t n = g.rows();
  const Array<float> pivots(executor, {n});
  tile::launch(executor, potrf_program, PotrfShape{n, 1, n},
               {{"a", g.data()}, {"u", g.data()}, {"pivots", pivots.data()}});
  for (const float pivot : pivots.to_host()) {
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
  }
  return true;
}

class PanelQr {
 public:
  PanelQr(const Executor& executor, const MatrixView<float>& panel)
      : executor_(executor),
        panel_(panel),
        m_(panel.rows()),
        w_(panel.columns()),
        q_(executor, m_, w_),
        g_(executor, w_, w_),
        r_(w_) {}

  // False for a panel of zeros.
  bool orthogonalise() {
    begin(0);
    int shifts = 0, perturbed = 0;
    for (int pass = 0; pass < kMostPasses * 3; ++pass) {
      const Gram gram = products();
      if (pass == 0 && !(gram.trace > 0x1p-60 && gram.trace < 0x1p100)) {
        if (!rescale()) return false;
        continue;
      }
      if (factor_gram(executor_, g_)) {
        divide();
        if (gram.distance <= 0.25) return true;
        continue;
      }
      if (++shifts > kMostShifts) {
        ensure(++perturbed < 4, "solver.geqrf: a panel of {} x {} could not be made orthonormal", m_, w_);
        begin(perturbed);
        shifts = 0;
        continue;
      }
      shift(gram);
      ensure(factor_gram(executor_, g_), "solver.geqrf: a shifted Gram matrix is not positive definite");
      divide();
    }
    fail<InternalError>("solver.geqrf: {} passes were not enough for a panel of {} x {}", kMostPasses * 3, m_, w_);
  }

  // V in place of Q, R and V into the panel; T.
  Reconstructed finish() {
    const MatrixView<float> q = q_.view();
    Matrix<float> top(executor_, w_, w_);
    move(q.block(0, 0, w_, w_), top.view());
    Reconstructed h = reconstruct(small(top));
    Matrix<float> corner(Executor::host(), w_, w_), lower(Executor::host(), w_, w_);
    for (std::int64_t i = 0; i < w_; ++i) {
      for (std::int64_t j = 0; j < w_; ++j) {
        const double r = h.signs[static_cast<std::size_t>(i)] * r_(i, j) * scale_;
        host::element(corner.view(), i, j) = static_cast<float>(j >= i ? r : h.lower(i, j));
        host::element(lower.view(), i, j) = static_cast<float>(h.lower(i, j));
      }
    }
    if (m_ > w_) {
      const UpperInverse inverse = upper_inverse(h.upper);
      if (w_ == kPanel && inverse.growth <= kMostGrowth) {
        multiply(inverse.x, w_);
      } else {
        blas::trsm<float>(executor_, Side::Right, Uplo::Upper, Op::N, Diag::NonUnit, 1.0F,
                          on_device(executor_, h.upper).view(), q.block(w_, 0, m_ - w_, w_));
      }
      move(q_.view().block(w_, 0, m_ - w_, w_), panel_.block(w_, 0, m_ - w_, w_));
    }
    move(lower.view(), q_.view().block(0, 0, w_, w_));
    move(corner.view(), panel_.block(0, 0, w_, w_));
    return h;
  }

  [[nodiscard]] MatrixView<float> vectors() const { return q_.view(); }

 private:
  struct Gram {
    Small g;
    double trace = 0, distance = 0;  // max |G - I|
  };

  // Q = the panel, scaled; with a little noise.
  void begin(int noise) {
    r_ = Small(w_);
    for (std::int64_t i = 0; i < w_; ++i) r_(i, i) = 1;
    if (noise == 0 && scale_ == 1) return move(panel_, q_.view());
    const Matrix<float> values = on_host(panel_);
    double largest = 0;
    for (std::int64_t i = 0; i < m_ * w_; ++i) largest = std::max<double>(largest, std::abs(values.data()[i]));
    std::uint64_t state = static_cast<std::uint64_t>(noise);
    for (std::int64_t i = 0; i < m_ * w_; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const double random = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
      const double more = noise == 0 ? 0 : noise * kUnit * largest * random;
      values.data()[i] = static_cast<float>((values.data()[i] + more) / scale_);
    }
    move(values.view(), q_.view());
  }
  // A power of two that brings the largest element near 1. False when all are zero.
  bool rescale() {
    const Matrix<float> values = on_host(panel_);
    float largest = 0;
    for (std::int64_t i = 0; i < m_ * w_; ++i) largest = std::max(largest, std::abs(values.data()[i]));
    if (largest == 0) return false;
    scale_ = std::ldexp(1.0, std::ilogb(largest));
    begin(0);
    return true;
  }

  Gram products() {
    blas::syrk<float>(executor_, Uplo::Lower, Op::T, 1.0F, q_.view(), 0.0F, g_.view());
    Gram gram{small(g_)};
    for (std::int64_t i = 0; i < w_; ++i) {
      gram.trace += gram.g(i, i);
      for (std::int64_t j = 0; j <= i; ++j) {
        const double off = std::abs(gram.g(i, j) - (i == j ? 1 : 0));
        if (!(off <= gram.distance)) gram.distance = off;
      }
    }
    return gram;
  }
  void shift(const Gram& gram) {
    Small g = gram.g;
    for (std::int64_t i = 0; i < w_; ++i) {
      g(i, i) += 20 * kUnit * gram.trace;
      for (std::int64_t j = i + 1; j < w_; ++j) g(i, j) = 0;
    }
    move(on_device(executor_, g).view(), g_.view());
  }
  // Q <- Q L^-T, R <- L^T R.
  void divide() {
    const Small l = small(g_);
    Small upper(w_);
    for (std::int64_t i = 0; i < w_; ++i) {
      for (std::int64_t j = i; j < w_; ++j) upper(i, j) = l(j, i);
    }
    const UpperInverse inverse = upper_inverse(upper);
    if (w_ == kPanel && inverse.growth <= kMostGrowth)
      multiply(inverse.x, 0);
    else
      blas::trsm<float>(executor_, Side::Right, Uplo::Lower, Op::T, Diag::NonUnit, 1.0F, g_.view(), q_.view());
    r_ = upper_product(upper, r_);
  }
  // The rows of Q from `first` on times X, in memory of their own; those before are not kept.
  void multiply(const Small& x, std::int64_t first) {
    Matrix<float> next(executor_, m_, w_);
    const Matrix<float> factor = on_device(executor_, x);
    blas::gemm(executor_, Op::N, Op::N, 1.0F, MatrixView<const float>(q_.view().block(first, 0, m_ - first, w_)),
               MatrixView<const float>(factor.view()), 0.0F, next.view().block(first, 0, m_ - first, w_));
    q_ = std::move(next);
  }

  Executor executor_;
  MatrixView<float> panel_;
  std::int64_t m_, w_;
  Matrix<float> q_, g_;
  Small r_;
  double scale_ = 1;
};

using ConstView = MatrixView<const float>;
void product(const Executor& executor, Op op_a, Op op_b, float alpha, const ConstView& a, const ConstView& b,
             float beta, const MatrixView<float>& c) {
  blas::gemm(executor, op_a, op_b, alpha, a, b, beta, c);
}

// C <- (I - V T V^T) C or with T^T; on the right C <- C (I - V T V^T).
void apply(const Executor& executor, const MatrixView<const float>& v, const Small& t, bool transposed, Side side,
           const MatrixView<float>& c) {
  const std::int64_t w = v.columns(), other = side == Side::Left ? c.columns() : c.rows();
  if (other == 0) return;
  const Matrix<float> dt = on_device(executor, t), x(executor, w, other), y(executor, w, other);
  const Op op = transposed ? Op::T : Op::N;
  if (side == Side::Left) {
    product(executor, Op::T, Op::N, 1.0F, v, c, 0.0F, x.view());
    product(executor, op, Op::N, 1.0F, dt.view(), x.view(), 0.0F, y.view());
    product(executor, Op::N, Op::N, -1.0F, v, y.view(), 1.0F, c);
  } else {  // x = (C V)^T, y = T^T or T times it
    product(executor, Op::T, Op::T, 1.0F, v, c, 0.0F, x.view());
    product(executor, transposed ? Op::N : Op::T, Op::N, 1.0F, dt.view(), x.view(), 0.0F, y.view());
    product(executor, Op::T, Op::T, -1.0F, y.view(), v, 1.0F, c);
  }
}

// The unit lower trapezoid of a panel, with zeros above.
Matrix<float> vectors_of(const Executor& executor, const MatrixView<const float>& panel) {
  const std::int64_t m = panel.rows(), w = panel.columns();
  Matrix<float> v(executor, m, w);
  Matrix<float> top = on_host(panel.block(0, 0, w, w));
  for (std::int64_t i = 0; i < w; ++i) {
    host::element(top.view(), i, i) = 1;
    for (std::int64_t j = i + 1; j < w; ++j) host::element(top.view(), i, j) = 0;
  }
  move(top.view(), v.view().block(0, 0, w, w));
  if (m > w) move(panel.block(w, 0, m - w, w), v.view().block(w, 0, m - w, w));
  return v;
}

std::vector<double> numbers(const VectorView<const float>& x) {
  std::vector<float> values(static_cast<std::size_t>(x.size()));
  if (x.size() > 0) copy(View<const float>(x), View<float>(Executor::host(), values.data(), {x.size()}));
  return {values.begin(), values.end()};
}
MatrixView<const float> column(const VectorView<const float>& x) {
  return {x.executor(), x.data(), x.size(), 1, x.stride(), 1};
}

// op(Q) C or C op(Q); op is Q itself or its transpose.
void apply_all(const Executor& executor, Side side, bool transposed, const MatrixView<const float>& a,
               const std::vector<double>& tau, const MatrixView<float>& c) {
  const auto k = static_cast<std::int64_t>(tau.size()), panels = (k + kPanel - 1) / kPanel;
  for (std::int64_t step = 0; step < panels; ++step) {
    const bool forward = (side == Side::Left) == transposed;
    const std::int64_t first = (forward ? step : panels - 1 - step) * kPanel, w = std::min(kPanel, k - first);
    const Matrix<float> v = vectors_of(executor, a.block(first, first, a.rows() - first, w));
    const Matrix<float> g(executor, w, w);
    product(executor, Op::T, Op::N, 1.0F, v.view(), v.view(), 0.0F, g.view());
    const Small t = block_reflector(small(g), {tau.begin() + first, tau.begin() + first + w});
    const MatrixView<float> part = side == Side::Left ? c.block(first, 0, c.rows() - first, c.columns())
                                                      : c.block(0, first, c.rows(), c.columns() - first);
    apply(executor, v.view(), t, transposed, side, part);
  }
}

void say(Report* report) {
  if (report) report->algorithm = "blocked qr";
}

}  // namespace

template <> Outcome geqrf(const Executor& executor, const GeqrfArgs<float>& g) {
  say(g.report);
  if (const Outcome bad = finite(executor, g.a); !bad.ok()) {
    fill_nan(g.a);
    fill_nan(MatrixView<float>(executor, g.tau.data(), g.tau.size(), 1, g.tau.stride(), 1));
    return bad;
  }
  const std::int64_t m = g.a.rows(), n = g.a.columns(), k = std::min(m, n);
  std::vector<float> tau(static_cast<std::size_t>(k));
  for (std::int64_t first = 0; first < k; first += kPanel) {
    const std::int64_t w = std::min(kPanel, k - first), rest = n - first - w;
    PanelQr panel(executor, g.a.block(first, first, m - first, w));
    if (!panel.orthogonalise()) continue;  // zeros: tau = 0
    const Reconstructed h = panel.finish();
    for (std::int64_t j = 0; j < w; ++j) tau[static_cast<std::size_t>(first + j)] = static_cast<float>(h.t(j, j));
    apply(executor, panel.vectors(), h.t, true, Side::Left, g.a.block(first, first + w, m - first, rest));
  }
  if (k > 0) copy(View<const float>(Executor::host(), tau.data(), {k}), View<float>(g.tau));
  return {};
}

template <> Outcome ormqr(const Executor& executor, const OrmqrArgs<float>& g) {
  say(g.report);
  Outcome bad = finite(executor, g.a);
  if (bad.ok()) bad = finite(executor, column(g.tau));
  if (bad.ok()) bad = finite(executor, g.c);
  if (!bad.ok()) {
    fill_nan(g.c);
    return bad;
  }
  if (g.c.rows() == 0 || g.c.columns() == 0 || g.tau.size() == 0) return {};
  apply_all(executor, g.side, g.op != Op::N, g.a, numbers(g.tau), g.c);
  return {};
}

template <> Outcome orgqr(const Executor& executor, const OrgqrArgs<float>& g) {
  say(g.report);
  Outcome bad = finite(executor, g.a);
  if (bad.ok()) bad = finite(executor, column(g.tau));
  if (!bad.ok()) {
    fill_nan(g.a);
    return bad;
  }
  const std::int64_t m = g.a.rows(), n = g.a.columns();
  if (n == 0) return {};
  std::vector<float> unit(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < n; ++i) unit[static_cast<std::size_t>(i * n + i)] = 1;
  const Matrix<float> q = Matrix<float>::from_host(executor, m, n, unit);
  apply_all(executor, Side::Left, false, g.a, numbers(g.tau), q.view());
  move(q.view(), g.a);
  return {};
}

}  // namespace trn::solver::device

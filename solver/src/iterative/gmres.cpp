// GMRES with restarts, preconditioned from the right; flexible GMRES keeps the preconditioned vectors.
//
//   A Z_j = V_(j+1) H_j with orthonormal columns of V (modified Gram-Schmidt, once more where more than half of a
//   vector's length is lost), Z = M V; x += Z y, y minimising ||beta e_1 - H y||, H reduced by plane rotations.
//
// Each column of B has its own H; all columns go through the product together.
#include "iterative/run.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

// One column's least squares problem: R (upper triangular), the rotations, and Q^H beta e_1.
template <class T> struct Rotated {
  Rotated(std::int64_t m, double beta) : r(m + 1, m), cosines(at(m)), sines(at(m)), g(at(m) + 1) {
    g[0] = T(static_cast<Real<T>>(beta));
  }
  // Column j of H is in r; returns the residual's norm, or -1 when the column is zero below and at the diagonal.
  double reduce(std::int64_t j) {
    for (std::int64_t i = 0; i < j; ++i) {
      const T above = r(i, j), below = r(i + 1, j);
      r(i, j) = cosines[at(i)] * above + sines[at(i)] * below;
      r(i + 1, j) = -conjugate(sines[at(i)]) * above + cosines[at(i)] * below;
    }
    const T f = r(j, j), h = r(j + 1, j);  // h is real and >= 0
    const Real<T> length = std::hypot(std::abs(f), std::abs(h));
    if (length == 0) return -1;
    // [c s; -conj(s) c] (f, h)^T = (phase length, 0)^T with real c
    const T phase = std::abs(f) == 0 ? T(1) : f / std::abs(f);
    cosines[at(j)] = std::abs(f) / length;
    sines[at(j)] = phase * conjugate(h) / length;
    r(j, j) = phase * length, r(j + 1, j) = T(0);
    g[at(j) + 1] = -conjugate(sines[at(j)]) * g[at(j)];
    g[at(j)] = cosines[at(j)] * g[at(j)];
    columns = j + 1;
    return static_cast<double>(std::abs(g[at(j) + 1]));
  }
  std::vector<T> solution() const {
    std::vector<T> y(g.begin(), g.begin() + columns);
    for (std::int64_t i = columns - 1; i >= 0; --i) {
      for (std::int64_t l = i + 1; l < columns; ++l) y[at(i)] -= r(i, l) * y[at(l)];
      y[at(i)] /= r(i, i);
    }
    return y;
  }
  Small<T> r;
  std::vector<Real<T>> cosines;
  std::vector<T> sines, g;
  std::int64_t columns = 0;
};

// Makes w orthogonal to v[0 .. j] column by column, into column j of every r; w becomes v[j + 1], normalised.
template <class T> void orthogonalise(const std::vector<Block<T>>& v, std::int64_t j, const std::vector<char>& on,
                                      std::vector<Rotated<T>>& rotated) {
  const MatrixView<T> w = v[at(j) + 1].view();
  Norms before = norms<T>(w), after;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::int64_t i = 0; i <= j; ++i) {
      Scalars<T> h = dots<T>(v[at(i)], w);
      for (std::size_t c = 0; c < h.size(); ++c) {
        if (!on[c]) h[c] = T(0);
        rotated[c].r(i, j) += h[c];
      }
      add<T>(h, v[at(i)], w, T(-1));
    }
    after = norms<T>(w);
    bool lost = false;
    for (std::size_t c = 0; c < after.size(); ++c) lost = lost || (on[c] && after[c] < before[c] / 2);
    if (!lost) break;
  }
  Scalars<T> inverse(after.size(), T(0));
  for (std::size_t c = 0; c < after.size(); ++c) {
    // Rounding is all that is left of a vector this short: the space is invariant.
    const bool nothing = after[c] <= before[c] * 8 * std::numeric_limits<Real<T>>::epsilon();
    if (!on[c] || nothing) continue;
    rotated[c].r(j + 1, j) = T(static_cast<Real<T>>(after[c]));
    inverse[c] = T(static_cast<Real<T>>(1 / after[c]));
  }
  scale(inverse, w);
}

template <class T> Outcome gmres_loop(Run<T>& run, const void* flexible) {
  const std::int64_t m = run.restart, k = run.x.columns();
  std::vector<Block<T>> v, z;
  for (std::int64_t j = 0; j <= m; ++j) v.push_back(run.block());
  for (std::int64_t j = 0; j < (flexible ? m : 1); ++j) z.push_back(run.block());
  const Block<T> change = run.block();
  Norms size = norms<T>(run.r.view());
  while (run.first_active(size) >= 0) {
    std::vector<Rotated<T>> rotated;
    std::vector<char> on(at(k));
    Scalars<T> inverse(at(k), T(0));
    for (std::int64_t c = 0; c < k; ++c) {
      on[at(c)] = run.active(size, c);
      rotated.emplace_back(m, size[at(c)]);
      if (on[at(c)]) inverse[at(c)] = T(static_cast<Real<T>>(1 / size[at(c)]));
    }
    assign<T>(run.r.view(), v[0].view());
    scale(inverse, v[0].view());
    bool going = true, any = true;
    Outcome broken;
    for (std::int64_t j = 0; j < m && going && any; ++j) {
      const Block<T>& zj = z[flexible ? at(j) : 0];
      run.precondition(v[at(j)], zj);
      run.product(zj, v[at(j) + 1]);
      orthogonalise(v, j, on, rotated);
      any = false;
      for (std::int64_t c = 0; c < k; ++c) {
        if (!on[at(c)]) continue;
        const bool invariant = rotated[at(c)].r(j + 1, j) == T(0);
        const double left = rotated[at(c)].reduce(j);
        if (!(left >= 0)) {  // A maps the space into itself and is singular there; or NaN
          broken = std::isnan(left) ? Outcome{Status::NotFinite, -1} : Outcome{Status::Breakdown, c};
          on[at(c)] = false;
          continue;
        }
        size[at(c)] = left;
        if (invariant || !run.active(size, c)) on[at(c)] = false;
        any = any || on[at(c)];
      }
      going = run.step(size);
    }
    zero(change.view());
    for (std::int64_t c = 0; c < k; ++c) {
      const std::vector<T> y = rotated[at(c)].solution();
      for (std::size_t j = 0; j < y.size(); ++j) {
        const Block<T>& from = flexible ? z[j] : v[j];
        blas::axpy(run.x.executor(), y[j], from.view().column(c), change.view().column(c));
      }
    }
    if (!flexible) {
      run.precondition(change, z[0]);
      assign<T>(z[0], change.view());
    }
    add<T>(Scalars<T>(at(k), T(1)), change, run.x);
    const bool believed = run.first_active(size) < 0;
    if (broken.status == Status::NotFinite) return broken;
    if (believed) return {};  // the frame recomputes the residual
    size = run.residual();
    if (!broken.ok() && run.first_active(size) >= 0) return broken;
    if (!going) break;
  }
  return run.left_off(size);
}

}  // namespace iterative

template <Scalar T> IterationReport gmres(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                          const KrylovOptions& options, const AnyOperator<T>& m) {
  return iterative::iterate<T>({"solver.gmres", "gmres"}, a, m, b, x, options, iterative::gmres_loop<T>);
}
template <Scalar T> IterationReport fgmres(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                           const KrylovOptions& options, const AnyOperator<T>& m) {
  return iterative::iterate<T>({"solver.fgmres", "fgmres"}, a, m, b, x, options, iterative::gmres_loop<T>, &a);
}

#define TRN_GMRES(T)                                                                                  \
  template IterationReport gmres(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&,  \
                                 const KrylovOptions&, const AnyOperator<T>&);                        \
  template IterationReport fgmres(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                  const KrylovOptions&, const AnyOperator<T>&);
TRN_SOLVER_SCALARS(TRN_GMRES)
#undef TRN_GMRES

}  // namespace trn::solver

// Thick-restart Lanczos. The basis is kept orthonormal by two passes of classical Gram-Schmidt (thin products),
// and the projected matrix is filled with all coefficients, so that the arrowhead after a restart needs no formulas of
// its own.
//
// One Krylov space holds one vector of each eigenspace. So a converged set is not believed at once: the iteration goes
// on from a random vector orthogonal to it, until that has changed nothing. Every such round can find one more copy of
// a multiple eigenvalue.
#include "scalars.hpp"
#include "spectra/support.hpp"

namespace trn::solver {

namespace spectra {

// Takes from w what lies in the span of q, twice; returns the coefficients.
template <class T> Small<T> orthogonalised(const MatrixView<const T>& q, const MatrixView<T>& w) {
  Small<T> h = inner<T>(q, w);
  add_product<T>(T(-1), q, h, T(1), w);
  const Small<T> rest = inner<T>(q, w);
  add_product<T>(T(-1), q, rest, T(1), w);
  for (std::int64_t i = 0; i < h.rows(); ++i) h(i, 0) += rest(i, 0);
  return h;
}

// Columns kept .. m of the basis; t gets their coefficients. Returns beta, the length of column m before scaling.
template <class T> double extend(Search<T>& search, const Block<T>& v, Small<T>& t, std::int64_t kept, std::int64_t m) {
  double beta = 0;
  for (std::int64_t j = kept; j < m; ++j) {
    const MatrixView<T> next = v.columns(j + 1, 1);
    search.product(v.columns(j, 1), next);
    const double whole = norms<T>(next)[0];
    const Small<T> h = orthogonalised<T>(v.columns(0, j + 1), next);
    for (std::int64_t i = 0; i <= j; ++i) t(i, j) = h(i, 0), t(j, i) = iterative::conjugate(h(i, 0));
    beta = norms<T>(next)[0];
    if (!std::isfinite(beta)) return beta;
    const double nothing = 8 * std::numeric_limits<Real<T>>::epsilon() * std::max(whole, search.norm);
    if (beta <= nothing && j + 1 < search.a.rows()) {  // an invariant space: go on with another direction
      beta = 0;
      assign<T>(search.random_block(1, static_cast<std::uint64_t>(1 + search.products)), next);
      (void)orthogonalised<T>(v.columns(0, j + 1), next);
    }
    const double length = norms<T>(next)[0];
    if (length > 0) iterative::scale<T>({T(static_cast<Real<T>>(1 / length))}, next);
  }
  return beta;
}

}  // namespace spectra

template <Scalar T> SpectrumReport lanczos(const AnyOperator<T>& a, const VectorView<std::type_identity_t<Real<T>>>& w,
                                           const MatrixView<T>& v, const SpectrumOptions& options) {
  using namespace spectra;
  Search<T> search = checked<T>("solver.lanczos", a, w, v, options);
  const std::int64_t n = a.rows(), k = search.k;
  if (k == 0) return finish<T>(search, "thick-restart lanczos", {}, 0, v, w, v);
  require(options.basis == 0 || options.basis > k || options.basis == n,
          "solver.lanczos: a basis of {} for {} eigenvalues; it must be larger", options.basis, k);
  const std::int64_t m = std::min(n, options.basis > 0 ? options.basis : 2 * k + 20);
  Block<T> basis = search.block(m + 1), other = search.block(m + 1);
  {
    const Block<T> start = search.random_block(1);
    iterative::scale<T>({T(static_cast<Real<T>>(1 / norms<T>(start)[0]))}, start.view());
    assign<T>(start, basis.columns(0, 1));
  }
  Small<T> t(m, m), turned(m, m);
  std::vector<Real<T>> values;
  std::vector<Real<T>> believed;  // the wanted values when they had last converged
  std::int64_t kept = 0;
  int iterations = 0;
  while (true) {
    const double beta = extend(search, basis, t, kept, m);
    ++iterations;
    turned = t;
    if (!std::isfinite(beta) || !host::finite(t.view()).ok() || !small_eigh(turned, values)) {
      return finish<T>(search, "thick-restart lanczos", {Status::NotFinite, -1}, iterations, v, w, v);
    }
    for (const Real<T> value : values) search.norm = std::max(search.norm, std::abs(static_cast<double>(value)));
    bool done = true;
    for (std::int64_t i = 0; i < k; ++i) {
      done = done && beta * static_cast<double>(std::abs(turned(m - 1, i))) <= search.tolerance * search.norm / 2;
    }
    const std::vector<Real<T>> wanted(values.begin(), values.begin() + k);
    bool same = done && !believed.empty();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) {
      same = static_cast<double>(believed[i] - wanted[i]) <= search.tolerance * search.norm;
    }
    const bool last = same || m == n || iterations >= search.max_iterations;
    // Ritz vectors: the wanted ones, half of the others too when it goes on from the last residual.
    kept = last || done ? k : std::min(m - 1, k + (m - k) / 2);
    Small<T> part(m, kept);
    host::copy_part(turned.view().block(0, 0, m, kept), part.view());
    add_product<T>(T(1), basis.columns(0, m), part, T(0), other.columns(0, kept));
    if (last) break;
    if (done) {
      believed = wanted;
      const MatrixView<const T> held = other.columns(0, kept);
      const auto stream = static_cast<std::uint64_t>(1 + search.products);
      assign<T>(orthonormal<T>(search.random_block(1, stream), &held), other.columns(kept, 1));
    } else {
      assign<T>(basis.columns(m, 1), other.columns(kept, 1));
    }
    std::swap(basis, other);
    t = Small<T>(m, m);
    for (std::int64_t i = 0; i < kept; ++i) t(i, i) = T(values[at(i)]);
  }
  return finish<T>(search, "thick-restart lanczos", {}, iterations, other.columns(0, k), w, v);
}

#define TRN_LANCZOS(T)                                                                                     \
  template SpectrumReport lanczos(const AnyOperator<T>&, const VectorView<std::type_identity_t<Real<T>>>&, \
                                  const MatrixView<T>&, const SpectrumOptions&);
TRN_SOLVER_SCALARS(TRN_LANCZOS)
#undef TRN_LANCZOS

}  // namespace trn::solver

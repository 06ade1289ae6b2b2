// LOBPCG and the Chebyshev-filtered subspace iteration.
#include "checks.hpp"
#include "scalars.hpp"
#include "spectra/support.hpp"

namespace trn::solver {

namespace spectra {

template <class T> Small<T> part_of(const Small<T>& a, std::int64_t row, std::int64_t rows, std::int64_t columns) {
  Small<T> part(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) part(i, j) = a(row + i, j);
  }
  return part;
}
template <class T> Block<T> turned_by(const Search<T>& search, const MatrixView<const T>& q, const Small<T>& s) {
  Block<T> result = search.block(s.columns());
  add_product<T>(T(1), q, s, T(0), result.view());
  return result;
}
// r = ax - x diag(values), and whether all columns are small.
template <class T> bool residual_of(const Search<T>& search, const MatrixView<const T>& x,
                                    const MatrixView<const T>& ax, const std::vector<Real<T>>& values,
                                    std::int64_t wanted, const MatrixView<T>& r) {
  iterative::Scalars<T> theta;
  for (std::int64_t j = 0; j < x.columns(); ++j) theta.push_back(T(values[at(j)]));
  assign<T>(ax, r);
  iterative::add<T>(theta, x, r, T(-1));
  const Norms size = norms<T>(r);
  bool all = true;
  for (std::int64_t j = 0; j < wanted; ++j) all = all && size[at(j)] <= search.tolerance * search.norm / 2;
  return all;
}

// T_degree of the operator mapped so that [cut, top] becomes [-1, 1], scaled to 1 at `bottom`, applied to x; the result
// is in x (Zhou and others, algorithm 4.4).
template <class T>
void filter(Search<T>& search, Block<T>& x, std::int64_t degree, double bottom, double cut, double top) {
  const auto scalars = [&](double value) {
    return iterative::Scalars<T>(at(x.columns()), T(static_cast<Real<T>>(value)));
  };
  const double e = (top - cut) / 2, c = (top + cut) / 2;
  double sigma = e / (bottom - c);
  const double tau = 2 / sigma;
  Block<T> before = search.block(x.columns()), now = search.block(x.columns());
  assign<T>(x, before.view());
  // y = (A x - c x) sigma / e
  const auto shifted = [&](const Block<T>& from, const Block<T>& to, double factor) {
    search.product(from, to);
    iterative::add<T>(scalars(-c), from, to.view());
    iterative::scale(scalars(factor), to.view());
  };
  shifted(before, now, sigma / e);
  for (std::int64_t i = 2; i <= degree; ++i) {
    const double next = 1 / (tau - sigma);
    Block<T> after = search.block(x.columns());
    shifted(now, after, 2 * next / e);
    iterative::add<T>(scalars(-sigma * next), before, after.view());
    std::swap(before, now), std::swap(now, after);
    sigma = next;
  }
  std::swap(x, now);
}

}  // namespace spectra

template <Scalar T> SpectrumReport lobpcg(const AnyOperator<T>& a, const VectorView<std::type_identity_t<Real<T>>>& w,
                                          const MatrixView<T>& v, const SpectrumOptions& options,
                                          const AnyOperator<T>& m) {
  using namespace spectra;
  constexpr std::string_view algorithm = "lobpcg";
  Search<T> search = checked<T>("solver.lobpcg", a, w, v, options);
  require(!m || (m.rows() == a.rows() && m.columns() == a.rows() && m.executor() == a.executor()),
          "solver.lobpcg: the preconditioner is {} x {} on '{}'; A has {} rows and is on '{}'", m.rows(), m.columns(),
          m.executor().name(), a.rows(), a.executor().name());
  require(!m || options.end == End::Smallest, "solver.lobpcg: a preconditioner approximates A^-1, for End::Smallest");
  const std::int64_t k = search.k;
  if (k == 0) return finish<T>(search, algorithm, {}, 0, v, w, v);
  const auto not_finite = [&](int i) { return finish<T>(search, algorithm, {Status::NotFinite, -1}, i, v, w, v); };
  Block<T> x = orthonormal<T>(search.random_block(k)), ax = search.block(k);
  search.product(x, ax);
  std::vector<Real<T>> values;
  Small<T> s(0, 0);
  if (!search.ritz(x, ax, values, s)) return not_finite(0);
  x = turned_by<T>(search, x, s), ax = turned_by<T>(search, ax, s);
  Block<T> p = search.block(0);
  int iterations = 0;
  const Block<T> r = search.block(k);
  while (!residual_of<T>(search, x, ax, values, k, r) && iterations < search.max_iterations) {
    ++iterations;
    const Block<T> directions = search.block(k + p.columns());
    if (m) {
      m.apply(Op::N, T(1), MatrixView<const T>(r), T(0), directions.columns(0, k));
    } else {
      assign<T>(r, directions.columns(0, k));
    }
    assign<T>(p, directions.columns(k, p.columns()));
    const MatrixView<const T> held = x;
    const Block<T> more = orthonormal<T>(directions, &held);
    const std::int64_t all = k + more.columns();
    const Block<T> basis = search.block(all), image = search.block(all);
    assign<T>(x, basis.columns(0, k)), assign<T>(more, basis.columns(k, more.columns()));
    assign<T>(ax, image.columns(0, k));
    search.product(more, image.columns(k, more.columns()));
    if (!search.ritz(basis, image, values, s)) return not_finite(iterations);
    const Small<T> wanted = part_of(s, 0, all, k);
    p = turned_by<T>(search, more, part_of(s, k, more.columns(), k));
    x = turned_by<T>(search, basis, wanted), ax = turned_by<T>(search, image, wanted);
    if (iterations % 10 == 0) {  // rounding in x and A x has gone its own way: make them fit again
      x = orthonormal<T>(x);
      search.product(x, ax);
      if (!search.ritz(x, ax, values, s)) return not_finite(iterations);
      x = turned_by<T>(search, x, s), ax = turned_by<T>(search, ax, s);
    }
  }
  return finish<T>(search, algorithm, {}, iterations, x, w, v);
}

template <Scalar T> SpectrumReport filtered_subspace(const AnyOperator<T>& a,
                                                     const VectorView<std::type_identity_t<Real<T>>>& w,
                                                     const MatrixView<T>& v, const SpectrumOptions& options) {
  using namespace spectra;
  constexpr std::string_view algorithm = "chebyshev-filtered subspace";
  Search<T> search = checked<T>("solver.filtered_subspace", a, w, v, options);
  const std::int64_t n = a.rows(), k = search.k, room = std::min(n, k + std::max<std::int64_t>(4, k / 4));
  if (k == 0) return finish<T>(search, algorithm, {}, 0, v, w, v);
  // The upper end of the spectrum: the largest Ritz value of a few Lanczos steps plus its residual's bound, the length
  // of the last vector (Zhou and others), which holds for a random start.
  double top = 0;
  {
    const std::int64_t steps = std::min<std::int64_t>(n, 10);
    const Block<T> q = orthonormal<T>(search.random_block(1, 1)), all = search.block(steps),
                   images = search.block(steps);
    double last = 1;
    std::int64_t made = 0;
    while (made < steps && last > 0) {
      assign<T>(q, all.columns(made, 1));
      search.product(q, images.columns(made, 1));
      assign<T>(images.columns(made, 1), q.view());
      ++made;
      const MatrixView<const T> before = all.columns(0, made);
      for (int pass = 0; pass < 2; ++pass) add_product<T>(T(-1), before, inner<T>(before, q), T(1), q.view());
      last = norms<T>(q)[0];
      if (last > 0) iterative::scale<T>({T(static_cast<Real<T>>(1 / last))}, q.view());
    }
    std::vector<Real<T>> values;
    Small<T> s(0, 0);
    if (!search.ritz(all.columns(0, made), images.columns(0, made), values, s)) {
      return finish<T>(search, algorithm, {Status::NotFinite, -1}, 0, v, w, v);
    }
    top = static_cast<double>(values.back()) + last;
  }
  Block<T> x = orthonormal<T>(search.random_block(room)), ax = search.block(x.columns());
  search.product(x, ax);
  std::vector<Real<T>> values;
  Small<T> s(0, 0);
  if (!search.ritz(x, ax, values, s)) return finish<T>(search, algorithm, {Status::NotFinite, -1}, 0, v, w, v);
  x = turned_by<T>(search, x, s), ax = turned_by<T>(search, ax, s);
  int iterations = 0;
  Block<T> r = search.block(x.columns());
  while (!residual_of<T>(search, x, ax, values, k, r.view()) && iterations < search.max_iterations && room < n) {
    ++iterations;
    const double bottom = static_cast<double>(values.front()), cut = static_cast<double>(values.back());
    top = std::max(top, cut + (cut - bottom) * 0.01 + std::numeric_limits<Real<T>>::epsilon() * search.norm);
    if (!(bottom < cut && cut < top)) break;  // all Ritz values equal: nothing to tell apart
    filter(search, x, options.degree, bottom, cut, top);
    x = orthonormal<T>(x);
    if (x.columns() < k) break;
    ax = search.block(x.columns()), r = search.block(x.columns());
    search.product(x, ax);
    if (!search.ritz(x, ax, values, s)) {
      return finish<T>(search, algorithm, {Status::NotFinite, -1}, iterations, v, w, v);
    }
    x = turned_by<T>(search, x, s), ax = turned_by<T>(search, ax, s);
  }
  return finish<T>(search, algorithm, {}, iterations, x.columns(0, k), w, v);
}

#define TRN_LOBPCG(T)                                                                                                \
  template SpectrumReport lobpcg(const AnyOperator<T>&, const VectorView<std::type_identity_t<Real<T>>>&,            \
                                 const MatrixView<T>&, const SpectrumOptions&, const AnyOperator<T>&);               \
  template SpectrumReport filtered_subspace(const AnyOperator<T>&, const VectorView<std::type_identity_t<Real<T>>>&, \
                                            const MatrixView<T>&, const SpectrumOptions&);
TRN_SOLVER_SCALARS(TRN_LOBPCG)
#undef TRN_LOBPCG

}  // namespace trn::solver

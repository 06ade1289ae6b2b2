// Least squares on the host: LAPACK's gelsd (divide-and-conquer SVD) and gels (QR or LQ) on copies of A and B.
#include <bit>

#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

// What gelsd needs at least, from its documentation, with the leaf size of its divide and conquer; ilaenv says 25.
struct GelsdWorkspace {
  std::int64_t work, reals, integers;
};
template <class T> GelsdWorkspace gelsd_workspace(std::int64_t m, std::int64_t n, std::int64_t columns) {
  constexpr std::int64_t leaf = 25;
  const std::int64_t k = std::min(m, n), longer = std::max(m, n);
  const std::int64_t levels = std::bit_width(static_cast<std::uint64_t>(k / (leaf + 1))) + 1;
  const std::int64_t tree = 9 * k + 2 * k * leaf + 8 * k * levels + k * columns + (leaf + 1) * (leaf + 1);
  const std::int64_t integers = 3 * k * levels + 11 * k + 1;
  if constexpr (blas::ComplexScalar<T>) {
    const std::int64_t reals = 10 * longer + 2 * longer * leaf + 8 * longer * levels + 3 * leaf * columns +
                               std::max((leaf + 1) * (leaf + 1), longer * (1 + columns) + 2 * columns);
    return {2 * k + std::max(longer, k * columns), reals, integers};
  } else {
    return {3 * k + std::max({longer, columns, tree}), 0, integers};
  }
}

template <class T> Outcome by_svd(const LstsqArgs<T>& g, Columns<T>& a, Columns<T>& b, std::int64_t m, std::int64_t n) {
  const std::int64_t k = std::min(m, n), columns = b.columns();
  const GelsdWorkspace least = gelsd_workspace<T>(m, n, columns);
  g.report->singular_values.resize(static_cast<std::size_t>(k));
  Real<T>* s = g.report->singular_values.data();
  const double given = g.options.rank_tolerance;
  const auto tolerance = given >= 0 ? static_cast<Real<T>>(given)
                                    : static_cast<Real<T>>(std::max(m, n)) * std::numeric_limits<Real<T>>::epsilon();
  int rank = 0, info = 0;
  std::vector<int> integers(static_cast<std::size_t>(least.integers));
  std::vector<Real<T>> reals(static_cast<std::size_t>(least.reals) + 1);
  const auto call = [&](T* work, int size) {
    if constexpr (blas::ComplexScalar<T>) {
      Lapack<T>::gelsd(to_int(m), to_int(n), to_int(columns), a.data(), a.ld(), b.data(), b.ld(), s, tolerance, rank,
                       work, size, reals.data(), integers.data(), info);
    } else {
      Lapack<T>::gelsd(to_int(m), to_int(n), to_int(columns), a.data(), a.ld(), b.data(), b.ld(), s, tolerance, rank,
                       work, size, integers.data(), info);
    }
  };
  T query{};
  call(&query, -1);
  const int size = best_workspace(least.work, query);
  std::vector<T> work = workspace<T>(size, std::max(m, n));
  call(work.data(), size);
  expect_legal("gelsd", info);
  g.report->rank = rank;
  if (info > 0) return {Status::NotConverged, info - 1};
  return {};
}

template <class T> Outcome by_qr(const LstsqArgs<T>& g, Columns<T>& a, Columns<T>& b, std::int64_t m, std::int64_t n) {
  const std::int64_t k = std::min(m, n), columns = b.columns();
  const auto zero = [&](std::int64_t j) {
    for (std::int64_t i = 0; i < m; ++i) {
      if (a(i, j) != T(0)) return false;
    }
    return true;
  };
  bool all_zero = true;  // gels would return X = 0 without a word
  for (std::int64_t j = 0; all_zero && j < n; ++j) all_zero = zero(j);
  if (all_zero) return {Status::Singular, 0};
  int info = 0;
  T query{};
  const auto call = [&](T* work, int size) {
    Lapack<T>::gels('N', to_int(m), to_int(n), to_int(columns), a.data(), a.ld(), b.data(), b.ld(), work, size, info,
                    1);
  };
  call(&query, -1);
  const int size = best_workspace(k + std::max(k, columns), query);
  std::vector<T> work = workspace<T>(size, std::max(m, n));
  call(work.data(), size);
  expect_legal("gels", info);
  g.report->rank = k;
  if (info > 0) return {Status::Singular, info - 1};
  return {};
}

}  // namespace

template <Scalar T> Outcome lstsq(const Executor&, const LstsqArgs<T>& g) {
  const std::int64_t m = g.a.rows(), n = g.a.columns(), columns = g.b.columns();
  if (g.options.method == LeastSquaresMethod::Svd) {
    const GelsdWorkspace least = gelsd_workspace<T>(m, n, columns);
    for (const std::int64_t size : {least.work, least.reals, least.integers}) countable_workspace("solver.lstsq", size);
  }
  Outcome outcome = finite(g.a);
  if (outcome.ok()) outcome = finite(g.b);
  if (outcome.ok() && std::min(m, n) == 0) {  // the least-norm solution of nothing is zero
    fill(g.x, T(0));
    return outcome;
  }
  if (outcome.ok()) {
    Columns<T> a(g.a), b(std::max(m, n), columns);
    copy_part(g.b, b.view().block(0, 0, m, columns));
    outcome = g.options.method == LeastSquaresMethod::Svd ? by_svd(g, a, b, m, n) : by_qr(g, a, b, m, n);
    if (outcome.ok()) outcome = finite(b.view().block(0, 0, n, columns));  // X overflowed
    if (outcome.ok()) copy_part(b.view().block(0, 0, n, columns), g.x);
  }
  if (!outcome.ok()) fill(g.x, not_a_number<T>());
  return outcome;
}

#define TRN_LSTSQ(T) template Outcome lstsq(const Executor&, const LstsqArgs<T>&);
TRN_SOLVER_SCALARS(TRN_LSTSQ)
#undef TRN_LSTSQ

}  // namespace trn::solver::host

// General eigenproblems on the host: LAPACK's geev, geevx, gees and trevc on copies of A. The real routines give
// conjugate pairs of vectors as real and imaginary part in two columns; they are joined (general_vectors.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/general_vectors.hpp"
#include "host/lapack.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

template <Scalar T> Outcome eig(const Executor&, const EigArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  Outcome outcome = finite(g.a);
  if (n == 0) return outcome;
  Columns<T> left(g.vectors.left ? n : 1, g.vectors.left ? n : 1);
  Columns<T> right(g.vectors.right ? n : 1, g.vectors.right ? n : 1);
  const auto count = static_cast<std::size_t>(n);
  std::vector<ComplexOf<T>> w(count);
  if (outcome.ok()) {
    Columns<T> a(g.a);
    std::vector<Real<T>> re(count), im(count), reals(2 * count);
    const char l = g.vectors.left ? 'V' : 'N', r = g.vectors.right ? 'V' : 'N';
    int info = 0;
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::geev(l, r, to_int(n), a.data(), a.ld(), w.data(), left.data(), left.ld(), right.data(), right.ld(),
                        work, size, reals.data(), info, 1, 1);
      } else {
        Lapack<T>::geev(l, r, to_int(n), a.data(), a.ld(), re.data(), im.data(), left.data(), left.ld(), right.data(),
                        right.ld(), work, size, info, 1, 1);
      }
    };
    T query{};
    call(&query, -1);
    countable_workspace("solver.eig", 4 * n);
    const int size = best_workspace(4 * n, query);
    std::vector<T> work = workspace<T>(size, n);
    call(work.data(), size);
    expect_legal("geev", info);
    if constexpr (!blas::ComplexScalar<T>) w = joined(re, im);
    if (info > 0) outcome = {Status::NotConverged, info - 1};
  }
  if (outcome.ok()) {
    store_values(w, g.w);
    if (g.vectors.left) store_vectors(left, w, *g.vectors.left);
    if (g.vectors.right) store_vectors(right, w, *g.vectors.right);
  } else {
    fill(g.w, not_a_number<ComplexOf<T>>());
    if (g.vectors.left) fill(*g.vectors.left, not_a_number<ComplexOf<T>>());
    if (g.vectors.right) fill(*g.vectors.right, not_a_number<ComplexOf<T>>());
  }
  return outcome;
}

template <Scalar T> Outcome schur(const Executor&, const SchurArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  Outcome outcome = finite(g.a);
  if (n == 0) return outcome;
  const auto count = static_cast<std::size_t>(n);
  std::vector<ComplexOf<T>> w(count);
  Columns<T> a(n, n), z(g.z ? n : 1, g.z ? n : 1);
  if (outcome.ok()) {
    copy_part(g.a, a.view());
    std::vector<Real<T>> re(count), im(count), reals(count);
    int selected = 0, info = 0;
    const char job = g.z ? 'V' : 'N';
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::gees(job, 'N', nullptr, to_int(n), a.data(), a.ld(), selected, w.data(), z.data(), z.ld(), work,
                        size, reals.data(), nullptr, info, 1, 1);
      } else {
        Lapack<T>::gees(job, 'N', nullptr, to_int(n), a.data(), a.ld(), selected, re.data(), im.data(), z.data(),
                        z.ld(), work, size, nullptr, info, 1, 1);
      }
    };
    T query{};
    call(&query, -1);
    countable_workspace("solver.schur", 3 * n);
    const int size = best_workspace(3 * n, query);
    std::vector<T> work = workspace<T>(size, n);
    call(work.data(), size);
    expect_legal("gees", info);
    if constexpr (!blas::ComplexScalar<T>) w = joined(re, im);
    if (info > 0) outcome = {Status::NotConverged, info - 1};
  }
  if (outcome.ok()) {
    store_values(w, g.w);
    copy_part(a.view(), g.a);
    if (g.z) copy_part(z.view(), *g.z);
  } else {
    fill(g.w, not_a_number<ComplexOf<T>>());
    fill(g.a, not_a_number<T>());
    if (g.z) fill(*g.z, not_a_number<T>());
  }
  return outcome;
}

template <Scalar T> Outcome eig_conditions(const Executor&, const EigConditionsArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  Outcome outcome = finite(g.a);
  if (n == 0) return outcome;
  const auto count = static_cast<std::size_t>(n);
  Columns<T> left(n, n), right(n, n);
  std::vector<ComplexOf<T>> w(count);
  std::vector<Real<T>> values(count), angles(count);
  if (outcome.ok()) {
    Columns<T> a(g.a);
    std::vector<Real<T>> re(count), im(count), scale(count), reals(2 * count);
    std::vector<int> integers(2 * count);
    const char balance = "NPSB"[static_cast<int>(g.balance)];
    int low = 0, high = 0, info = 0;
    Real<T> norm = 0;
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::geevx(balance, 'V', 'V', 'B', to_int(n), a.data(), a.ld(), w.data(), left.data(), left.ld(),
                         right.data(), right.ld(), low, high, scale.data(), norm, values.data(), angles.data(), work,
                         size, reals.data(), info, 1, 1, 1, 1);
      } else {
        Lapack<T>::geevx(balance, 'V', 'V', 'B', to_int(n), a.data(), a.ld(), re.data(), im.data(), left.data(),
                         left.ld(), right.data(), right.ld(), low, high, scale.data(), norm, values.data(),
                         angles.data(), work, size, integers.data(), info, 1, 1, 1, 1);
      }
    };
    T query{};
    const std::int64_t least = n * (n + 6);
    countable_workspace("solver.eig_conditions", least);
    call(&query, -1);
    const int size = best_workspace(least, query);
    std::vector<T> work = workspace<T>(size, n);
    call(work.data(), size);
    expect_legal("geevx", info);
    if constexpr (!blas::ComplexScalar<T>) w = joined(re, im);
    if (info > 0) outcome = {Status::NotConverged, info - 1};
    g.report->first = low - 1, g.report->last = high - 1, g.report->norm = static_cast<double>(norm);
  }
  if (outcome.ok()) {
    store_values(w, g.w);
    store_vectors(left, w, g.left);
    store_vectors(right, w, g.right);
    store_values(values, g.conditions.eigenvalues);
    store_values(angles, g.conditions.vectors);
  } else {
    fill(g.w, not_a_number<ComplexOf<T>>());
    for (const auto& v : {g.left, g.right}) fill(v, not_a_number<ComplexOf<T>>());
    for (const auto& x : {g.conditions.eigenvalues, g.conditions.vectors}) fill(x, not_a_number<Real<T>>());
  }
  return outcome;
}

template <Scalar T> Outcome schur_vectors(const Executor&, const SchurVectorsArgs<T>& g) {
  const std::int64_t n = g.t.rows();
  // Upper Hessenberg for real types: a row's first element is the one below the diagonal.
  Columns<T> t(g.t, Part::Upper);
  if constexpr (!blas::ComplexScalar<T>) {
    for (std::int64_t i = 1; i < n; ++i) t(i, i - 1) = element(g.t, i, i - 1);
  }
  Outcome outcome = finite(t.view());
  if (outcome.ok() && g.z) outcome = finite(*g.z);
  if (n == 0) return outcome;
  const auto nothing = [&] {
    for (const auto* v : {&g.vectors.left, &g.vectors.right}) {
      if (*v) fill(**v, not_a_number<ComplexOf<T>>());
    }
    return outcome;
  };
  if (!outcome.ok()) return nothing();
  // trevc moves what is below safe minimum * n / eps, as if it were that: a small T is multiplied by a power of two.
  Real<T> largest = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      largest = std::max({largest, std::abs(std::real(t(i, j))), std::abs(std::imag(t(i, j)))});
    }
  }
  using Limits = std::numeric_limits<Real<T>>;
  if (largest > 0 && largest < std::sqrt(Limits::min()) / Limits::epsilon()) {
    const auto scaled = [by = -std::ilogb(largest)](Real<T> x) { return std::scalbn(x, by); };
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        if constexpr (blas::ComplexScalar<T>) {
          t(i, j) = {scaled(t(i, j).real()), scaled(t(i, j).imag())};
        } else {
          t(i, j) = scaled(t(i, j));
        }
      }
    }
  }
  std::vector<ComplexOf<T>> w(static_cast<std::size_t>(n));  // which columns are pairs
  if constexpr (!blas::ComplexScalar<T>) {
    for (std::int64_t i = 0; i + 1 < n; ++i) {
      if (t(i + 1, i) == 0) continue;
      w[static_cast<std::size_t>(i)] = {0, 1}, w[static_cast<std::size_t>(i) + 1] = {0, -1};
      ++i;
    }
  }
  const auto start = [&](bool wanted) {
    Columns<T> v(wanted ? n : 1, wanted ? n : 1);
    if (wanted && g.z) copy_part(*g.z, v.view());
    return v;
  };
  Columns<T> left = start(g.vectors.left.has_value()), right = start(g.vectors.right.has_value());
  if (!g.vectors.left && !g.vectors.right) return outcome;
  const char side = g.vectors.left && g.vectors.right ? 'B' : g.vectors.left ? 'L' : 'R', how = g.z ? 'B' : 'A';
  std::vector<T> work = workspace<T>(3 * n, n);
  std::vector<Real<T>> reals(static_cast<std::size_t>(n));
  std::vector<int> selected(static_cast<std::size_t>(n));
  int found = 0, info = 0;
  if constexpr (blas::ComplexScalar<T>) {
    Lapack<T>::trevc(side, how, selected.data(), to_int(n), t.data(), t.ld(), left.data(), left.ld(), right.data(),
                     right.ld(), to_int(n), found, work.data(), reals.data(), info, 1, 1);
  } else {
    Lapack<T>::trevc(side, how, selected.data(), to_int(n), t.data(), t.ld(), left.data(), left.ld(), right.data(),
                     right.ld(), to_int(n), found, work.data(), info, 1, 1);
  }
  expect_legal("trevc", info);
  if (g.vectors.left) store_vectors(left, w, *g.vectors.left), normalise(*g.vectors.left);
  if (g.vectors.right) store_vectors(right, w, *g.vectors.right), normalise(*g.vectors.right);
  return outcome;
}

#define TRN_EIG(T)                                                               \
  template Outcome eig(const Executor&, const EigArgs<T>&);                      \
  template Outcome schur(const Executor&, const SchurArgs<T>&);                  \
  template Outcome eig_conditions(const Executor&, const EigConditionsArgs<T>&); \
  template Outcome schur_vectors(const Executor&, const SchurVectorsArgs<T>&);
TRN_SOLVER_SCALARS(TRN_EIG)
#undef TRN_EIG

}  // namespace trn::solver::host

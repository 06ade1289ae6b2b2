// Pairs of general matrices on the host: LAPACK's ggev and gges on copies of A and B.
#include "host/general_vectors.hpp"
#include "host/lapack.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

// What both routines write besides matrices; beta is real and not negative for complex types too.
template <class T> struct Pairs {
  std::vector<Real<T>> re, im;
  std::vector<ComplexOf<T>> alpha;
  std::vector<T> beta;
  explicit Pairs(std::int64_t n) {
    const auto count = static_cast<std::size_t>(n);
    re.resize(count), im.resize(count), alpha.resize(count), beta.resize(count);
  }
  void store(const VectorView<ComplexOf<T>>& to_alpha, const VectorView<Real<T>>& to_beta) {
    if constexpr (!blas::ComplexScalar<T>) alpha = joined(re, im);
    store_values(alpha, to_alpha);
    for (std::int64_t i = 0; i < to_beta.size(); ++i) {
      to_beta.data()[i * to_beta.stride()] = std::real(beta[static_cast<std::size_t>(i)]);
    }
  }
};
Outcome outcome_of(const char* routine, int info, std::int64_t n) {
  expect_legal(routine, info);
  if (info == 0) return {};
  return {Status::NotConverged, info <= n ? info - 1 : -1};
}
// The order of a matrix that is not wanted.
std::int64_t order(bool wanted, std::int64_t n) { return wanted ? n : 1; }

}  // namespace

template <Scalar T> Outcome eig_generalized(const Executor&, const PencilArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  Outcome outcome = finite(g.a);
  if (outcome.ok()) outcome = finite(g.b);
  if (n == 0) return outcome;
  const std::int64_t nl = order(g.vectors.left.has_value(), n), nr = order(g.vectors.right.has_value(), n);
  Columns<T> left(nl, nl), right(nr, nr);
  Pairs<T> pairs(n);
  if (outcome.ok()) {
    Columns<T> a(g.a), b(g.b);
    std::vector<Real<T>> reals(static_cast<std::size_t>(8 * n));
    const char l = g.vectors.left ? 'V' : 'N', r = g.vectors.right ? 'V' : 'N';
    int info = 0;
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::ggev(l, r, to_int(n), a.data(), a.ld(), b.data(), b.ld(), pairs.alpha.data(), pairs.beta.data(),
                        left.data(), left.ld(), right.data(), right.ld(), work, size, reals.data(), info, 1, 1);
      } else {
        Lapack<T>::ggev(l, r, to_int(n), a.data(), a.ld(), b.data(), b.ld(), pairs.re.data(), pairs.im.data(),
                        pairs.beta.data(), left.data(), left.ld(), right.data(), right.ld(), work, size, info, 1, 1);
      }
    };
    T query{};
    countable_workspace("solver.eig_generalized", 8 * n);
    call(&query, -1);
    const int size = best_workspace(8 * n, query);
    std::vector<T> work = workspace<T>(size, n);
    call(work.data(), size);
    outcome = outcome_of("ggev", info, n);
  }
  if (outcome.ok()) {
    pairs.store(g.alpha, g.beta);
    if (g.vectors.left) store_vectors(left, pairs.alpha, *g.vectors.left), normalise(*g.vectors.left);
    if (g.vectors.right) store_vectors(right, pairs.alpha, *g.vectors.right), normalise(*g.vectors.right);
  } else {
    fill(g.alpha, not_a_number<ComplexOf<T>>());
    fill(g.beta, not_a_number<Real<T>>());
    if (g.vectors.left) fill(*g.vectors.left, not_a_number<ComplexOf<T>>());
    if (g.vectors.right) fill(*g.vectors.right, not_a_number<ComplexOf<T>>());
  }
  return outcome;
}

template <Scalar T> Outcome schur_generalized(const Executor&, const SchurPencilArgs<T>& g) {
  const std::int64_t n = g.a.rows();
  Outcome outcome = finite(g.a);
  if (outcome.ok()) outcome = finite(g.b);
  if (n == 0) return outcome;
  const std::int64_t nq = order(g.vectors.q.has_value(), n), nz = order(g.vectors.z.has_value(), n);
  Columns<T> a(g.a), b(g.b), q(nq, nq), z(nz, nz);
  Pairs<T> pairs(n);
  if (outcome.ok()) {
    std::vector<Real<T>> reals(static_cast<std::size_t>(8 * n));
    const char jq = g.vectors.q ? 'V' : 'N', jz = g.vectors.z ? 'V' : 'N';
    int selected = 0, info = 0;
    const auto call = [&](T* work, int size) {
      if constexpr (blas::ComplexScalar<T>) {
        Lapack<T>::gges(jq, jz, 'N', nullptr, to_int(n), a.data(), a.ld(), b.data(), b.ld(), selected,
                        pairs.alpha.data(), pairs.beta.data(), q.data(), q.ld(), z.data(), z.ld(), work, size,
                        reals.data(), nullptr, info, 1, 1, 1);
      } else {
        Lapack<T>::gges(jq, jz, 'N', nullptr, to_int(n), a.data(), a.ld(), b.data(), b.ld(), selected, pairs.re.data(),
                        pairs.im.data(), pairs.beta.data(), q.data(), q.ld(), z.data(), z.ld(), work, size, nullptr,
                        info, 1, 1, 1);
      }
    };
    T query{};
    countable_workspace("solver.schur_generalized", 8 * n + 16);
    call(&query, -1);
    const int size = best_workspace(8 * n + 16, query);
    std::vector<T> work = workspace<T>(size, n);
    call(work.data(), size);
    outcome = outcome_of("gges", info, n);
  }
  if (outcome.ok()) {
    pairs.store(g.alpha, g.beta);
    copy_part(a.view(), g.a);
    copy_part(b.view(), g.b);
    if (g.vectors.q) copy_part(q.view(), *g.vectors.q);
    if (g.vectors.z) copy_part(z.view(), *g.vectors.z);
  } else {
    fill(g.alpha, not_a_number<ComplexOf<T>>());
    fill(g.beta, not_a_number<Real<T>>());
    for (const auto& m : {g.a, g.b}) fill(m, not_a_number<T>());
    if (g.vectors.q) fill(*g.vectors.q, not_a_number<T>());
    if (g.vectors.z) fill(*g.vectors.z, not_a_number<T>());
  }
  return outcome;
}

#define TRN_PENCILS(T)                                                     \
  template Outcome eig_generalized(const Executor&, const PencilArgs<T>&); \
  template Outcome schur_generalized(const Executor&, const SchurPencilArgs<T>&);
TRN_SOLVER_SCALARS(TRN_PENCILS)
#undef TRN_PENCILS

}  // namespace trn::solver::host

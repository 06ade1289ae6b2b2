// QR on the host: LAPACK's geqrf, orgqr or ungqr, ormqr or unmqr; in place for column-major views, through a copy for
// others.
#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "host/vectors.hpp"
#include "kernels/factorisations.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

template <Scalar T> Outcome geqrf(const Executor&, const GeqrfArgs<T>& g) {
  if (const Outcome bad = finite(g.a); !bad.ok()) {
    fill(g.a, not_a_number<T>());
    fill(g.tau, not_a_number<T>());
    return bad;
  }
  if (g.tau.size() == 0) return {};
  const int m = to_int(g.a.rows()), n = to_int(g.a.columns());
  Inout<T> a(g.a);
  std::vector<T> tau(static_cast<std::size_t>(g.tau.size()));
  T query{};
  int info = 0;
  Lapack<T>::geqrf(m, n, a.data(), a.ld(), tau.data(), &query, -1, info);
  const int size = best_workspace(n, query);
  std::vector<T> work = workspace<T>(size, std::max(m, n));
  Lapack<T>::geqrf(m, n, a.data(), a.ld(), tau.data(), work.data(), size, info);
  expect_legal("geqrf", info);
  a.write_back();
  for (std::int64_t i = 0; i < g.tau.size(); ++i) g.tau.data()[i * g.tau.stride()] = tau[static_cast<std::size_t>(i)];
  return {};
}

template <Scalar T> Outcome orgqr(const Executor&, const OrgqrArgs<T>& g) {
  Outcome bad = finite(g.a);
  if (bad.ok()) bad = finite(g.tau);
  if (!bad.ok()) {
    fill(g.a, not_a_number<T>());
    return bad;
  }
  if (g.a.columns() == 0) return {};
  const int m = to_int(g.a.rows()), n = to_int(g.a.columns()), k = to_int(g.tau.size());
  Inout<T> a(g.a);
  const std::vector<T> tau = packed(g.tau);
  T query{};
  int info = 0;
  Lapack<T>::orgqr(m, n, k, a.data(), a.ld(), tau.data(), &query, -1, info);
  const int size = best_workspace(n, query);
  std::vector<T> work = workspace<T>(size, std::max(m, n));
  Lapack<T>::orgqr(m, n, k, a.data(), a.ld(), tau.data(), work.data(), size, info);
  expect_legal("orgqr", info);
  a.write_back();
  return {};
}

template <Scalar T> Outcome ormqr(const Executor&, const OrmqrArgs<T>& g) {
  Outcome bad = finite(g.a);
  if (bad.ok()) bad = finite(g.tau);
  if (bad.ok()) bad = finite(g.c);
  if (!bad.ok()) {
    fill(g.c, not_a_number<T>());
    return bad;
  }
  const int m = to_int(g.c.rows()), n = to_int(g.c.columns()), k = to_int(g.tau.size());
  if (m == 0 || n == 0 || k == 0) return {};
  const char side = g.side == Side::Left ? 'L' : 'R';
  const char op = g.op == Op::N ? 'N' : blas::ComplexScalar<T> ? 'C' : 'T';
  const Input<T> a(g.a.block(0, 0, g.a.rows(), k));
  const std::vector<T> tau = packed(g.tau);
  Inout<T> c(g.c);
  T query{};
  int info = 0;
  Lapack<T>::ormqr(side, op, m, n, k, a.data(), a.ld(), tau.data(), c.data(), c.ld(), &query, -1, info, 1, 1);
  const int size = best_workspace(std::max(m, n), query);
  std::vector<T> work = workspace<T>(size, std::max(m, n));
  Lapack<T>::ormqr(side, op, m, n, k, a.data(), a.ld(), tau.data(), c.data(), c.ld(), work.data(), size, info, 1, 1);
  expect_legal("ormqr", info);
  c.write_back();
  return {};
}

#define TRN_QR(T)                                               \
  template Outcome geqrf(const Executor&, const GeqrfArgs<T>&); \
  template Outcome orgqr(const Executor&, const OrgqrArgs<T>&); \
  template Outcome ormqr(const Executor&, const OrmqrArgs<T>&);
TRN_SOLVER_SCALARS(TRN_QR)
#undef TRN_QR

}  // namespace trn::solver::host

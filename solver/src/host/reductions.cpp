// Reductions to tridiagonal, bidiagonal and Hessenberg form on the host: LAPACK's sytrd or hetrd, gebrd, gehrd, and
// what makes and applies their unitary matrices; in place for column-major views, through a copy for others.
#include "kernels/reductions.hpp"
#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "host/vectors.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

template <class T> char letter(Op op) { return op == Op::N ? 'N' : blas::ComplexScalar<T> ? 'C' : 'T'; }
char letter(Side side) { return side == Side::Left ? 'L' : 'R'; }
char letter(BidiagonalFactor factor) { return factor == BidiagonalFactor::Q ? 'Q' : 'P'; }

// routine(work, size, info), asked for its workspace first, of `least` elements at least.
template <class T, class Routine>
void with_workspace(const char* name, std::int64_t least, std::int64_t rows, Routine routine) {
  T query{};
  int info = 0;
  routine(&query, -1, info);
  expect_legal(name, info);
  const int size = best_workspace(std::max<std::int64_t>(least, 1), query);
  std::vector<T> work = workspace<T>(size, rows);
  routine(work.data(), size, info);
  expect_legal(name, info);
}

// Ok, or NotFinite once `output` is NaN.
template <class T> Outcome refused(const Outcome& bad, const MatrixView<T>& output) {
  fill(output, not_a_number<T>());
  return bad;
}
template <class T>
Outcome readable(const MatrixView<T>& a, Part part, const VectorView<const std::remove_const_t<T>>& tau) {
  const Outcome bad = finite(a, part);
  return bad.ok() ? finite(tau) : bad;
}

}  // namespace

template <Scalar T> Outcome sytrd(const Executor&, const SytrdArgs<T>& g) {
  if (const Outcome bad = finite(g.a, part_of(g.uplo)); !bad.ok()) {
    fill(g.a, not_a_number<T>(), part_of(g.uplo));
    fill(g.d, not_a_number<Real<T>>()), fill(g.e, not_a_number<Real<T>>()), fill(g.tau, not_a_number<T>());
    return bad;
  }
  const int n = to_int(g.a.rows());
  if (n == 0) return {};
  Inout<T> a(g.a, part_of(g.uplo));
  Contiguous<Real<T>> d(g.d), e(g.e);
  Contiguous<T> tau(g.tau);
  with_workspace<T>("sytrd", 1, n, [&](T* work, int size, int& info) {
    Lapack<T>::sytrd(letter(g.uplo), n, a.data(), a.ld(), d.data(), e.data(), tau.data(), work, size, info, 1);
  });
  a.write_back(), d.write_back(), e.write_back(), tau.write_back();
  return {};
}

template <Scalar T> Outcome orgtr(const Executor&, const OrgtrArgs<T>& g) {
  if (const Outcome bad = readable(g.a, part_of(g.uplo), g.tau); !bad.ok()) return refused(bad, g.a);
  const int n = to_int(g.a.rows());
  if (n == 0) return {};
  Inout<T> a(g.a);
  const std::vector<T> tau = packed(g.tau);
  with_workspace<T>("orgtr", n, n, [&](T* work, int size, int& info) {
    Lapack<T>::orgtr(letter(g.uplo), n, a.data(), a.ld(), tau.data(), work, size, info, 1);
  });
  a.write_back();
  return {};
}

template <Scalar T> Outcome ormtr(const Executor&, const OrmtrArgs<T>& g) {
  Outcome bad = readable(g.a, part_of(g.uplo), g.tau);
  if (bad.ok()) bad = finite(g.c);
  if (!bad.ok()) return refused(bad, g.c);
  const int m = to_int(g.c.rows()), n = to_int(g.c.columns());
  if (m == 0 || n == 0) return {};
  const Input<T> a(g.a, part_of(g.uplo));
  const std::vector<T> tau = packed(g.tau);
  Inout<T> c(g.c);
  with_workspace<T>("ormtr", std::max(m, n), std::max(m, n), [&](T* work, int size, int& info) {
    Lapack<T>::ormtr(letter(g.side), letter(g.uplo), letter<T>(g.op), m, n, a.data(), a.ld(), tau.data(), c.data(),
                     c.ld(), work, size, info, 1, 1, 1);
  });
  c.write_back();
  return {};
}

template <Scalar T> Outcome gebrd(const Executor&, const GebrdArgs<T>& g) {
  if (const Outcome bad = finite(g.a); !bad.ok()) {
    fill(g.d, not_a_number<Real<T>>()), fill(g.e, not_a_number<Real<T>>());
    fill(g.tau_q, not_a_number<T>()), fill(g.tau_p, not_a_number<T>());
    return refused(bad, g.a);
  }
  const int m = to_int(g.a.rows()), n = to_int(g.a.columns());
  if (m == 0 || n == 0) return {};
  Inout<T> a(g.a);
  Contiguous<Real<T>> d(g.d), e(g.e);
  Contiguous<T> tau_q(g.tau_q), tau_p(g.tau_p);
  with_workspace<T>("gebrd", std::max(m, n), std::max(m, n), [&](T* work, int size, int& info) {
    Lapack<T>::gebrd(m, n, a.data(), a.ld(), d.data(), e.data(), tau_q.data(), tau_p.data(), work, size, info);
  });
  a.write_back(), d.write_back(), e.write_back(), tau_q.write_back(), tau_p.write_back();
  return {};
}

template <Scalar T> Outcome orgbr(const Executor&, const OrgbrArgs<T>& g) {
  if (const Outcome bad = readable(g.a, Part::All, g.tau); !bad.ok()) return refused(bad, g.a);
  const int m = to_int(g.a.rows()), n = to_int(g.a.columns()), k = to_int(g.order);
  if (m == 0 || n == 0) return {};
  Inout<T> a(g.a);
  const std::vector<T> tau = packed(g.tau);
  with_workspace<T>("orgbr", std::min(m, n), std::max(m, n), [&](T* work, int size, int& info) {
    Lapack<T>::orgbr(letter(g.factor), m, n, k, a.data(), a.ld(), tau.data(), work, size, info, 1);
  });
  a.write_back();
  return {};
}

template <Scalar T> Outcome ormbr(const Executor&, const OrmbrArgs<T>& g) {
  Outcome bad = readable(g.a, Part::All, g.tau);
  if (bad.ok()) bad = finite(g.c);
  if (!bad.ok()) return refused(bad, g.c);
  const int m = to_int(g.c.rows()), n = to_int(g.c.columns()), k = to_int(g.order);
  if (m == 0 || n == 0 || k == 0) return {};
  const Input<T> a(g.a);
  const std::vector<T> tau = packed(g.tau);
  Inout<T> c(g.c);
  with_workspace<T>("ormbr", std::max(m, n), std::max(m, n), [&](T* work, int size, int& info) {
    Lapack<T>::ormbr(letter(g.factor), letter(g.side), letter<T>(g.op), m, n, k, a.data(), a.ld(), tau.data(), c.data(),
                     c.ld(), work, size, info, 1, 1, 1);
  });
  c.write_back();
  return {};
}

template <Scalar T> Outcome gehrd(const Executor&, const GehrdArgs<T>& g) {
  if (const Outcome bad = finite(g.a); !bad.ok()) {
    fill(g.tau, not_a_number<T>());
    return refused(bad, g.a);
  }
  const int n = to_int(g.a.rows());
  if (n == 0) return {};
  Inout<T> a(g.a);
  Contiguous<T> tau(g.tau);
  with_workspace<T>("gehrd", n, n, [&](T* work, int size, int& info) {
    Lapack<T>::gehrd(n, 1, n, a.data(), a.ld(), tau.data(), work, size, info);
  });
  a.write_back(), tau.write_back();
  return {};
}

template <Scalar T> Outcome orghr(const Executor&, const OrghrArgs<T>& g) {
  if (const Outcome bad = readable(g.a, Part::All, g.tau); !bad.ok()) return refused(bad, g.a);
  const int n = to_int(g.a.rows());
  if (n == 0) return {};
  Inout<T> a(g.a);
  const std::vector<T> tau = packed(g.tau);
  with_workspace<T>("orghr", n, n, [&](T* work, int size, int& info) {
    Lapack<T>::orghr(n, 1, n, a.data(), a.ld(), tau.data(), work, size, info);
  });
  a.write_back();
  return {};
}

template <Scalar T> Outcome ormhr(const Executor&, const OrmhrArgs<T>& g) {
  Outcome bad = readable(g.a, Part::All, g.tau);
  if (bad.ok()) bad = finite(g.c);
  if (!bad.ok()) return refused(bad, g.c);
  const int m = to_int(g.c.rows()), n = to_int(g.c.columns()), order = to_int(g.a.rows());
  if (m == 0 || n == 0) return {};
  const Input<T> a(g.a);
  const std::vector<T> tau = packed(g.tau);
  Inout<T> c(g.c);
  with_workspace<T>("ormhr", std::max(m, n), std::max(m, n), [&](T* work, int size, int& info) {
    Lapack<T>::ormhr(letter(g.side), letter<T>(g.op), m, n, 1, order, a.data(), a.ld(), tau.data(), c.data(), c.ld(),
                     work, size, info, 1, 1);
  });
  c.write_back();
  return {};
}

#define TRN_REDUCTIONS(T)                                       \
  template Outcome sytrd(const Executor&, const SytrdArgs<T>&); \
  template Outcome orgtr(const Executor&, const OrgtrArgs<T>&); \
  template Outcome ormtr(const Executor&, const OrmtrArgs<T>&); \
  template Outcome gebrd(const Executor&, const GebrdArgs<T>&); \
  template Outcome orgbr(const Executor&, const OrgbrArgs<T>&); \
  template Outcome ormbr(const Executor&, const OrmbrArgs<T>&); \
  template Outcome gehrd(const Executor&, const GehrdArgs<T>&); \
  template Outcome orghr(const Executor&, const OrghrArgs<T>&); \
  template Outcome ormhr(const Executor&, const OrmhrArgs<T>&);
TRN_SOLVER_SCALARS(TRN_REDUCTIONS)
#undef TRN_REDUCTIONS

}  // namespace trn::solver::host

// The entry points of the reductions to tridiagonal, bidiagonal and Hessenberg form.
#include <trn/solver/reductions.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/reductions.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

// The bounds of the header: sides is 2 where reflections are applied from both.
template <class T, class Kernel>
Report reflected(std::string_view name, std::int64_t m, std::int64_t k, int sides, Kernel kernel) {
  Report report = reported<T>(m, name, [&](Report&) { return kernel(); });
  report.accuracy.bound *= 6 * sides * static_cast<double>(std::max<std::int64_t>(k, 1));
  return report;
}

std::int64_t before(std::int64_t n) { return std::max<std::int64_t>(n - 1, 0); }

template <class T> void square_output(const char* operation, const Executor& executor, const MatrixView<T>& a) {
  checks::output(operation, "A", executor, a);
  checks::square(operation, "A", a);
}
template <class T> void vector(const char* operation, const char* name, const Executor& executor,
                               const VectorView<T>& x, std::int64_t size) {
  if constexpr (std::is_const_v<T>) {
    checks::input(operation, name, executor, x);
  } else {
    checks::output(operation, name, executor, x);
  }
  checks::size(operation, name, x, size);
}
template <class T> void applied(const char* operation, const Executor& executor, Op op, const MatrixView<const T>& a,
                                const MatrixView<T>& c) {
  checks::input(operation, "A", executor, a);
  checks::output(operation, "C", executor, c);
  checks::apart(operation, "A", a, "C", c);
  require(!blas::ComplexScalar<T> || op != Op::T, "{}: op is T; a complex Q is applied as it is (N) or as Q^H (C)",
          operation);
}
template <class T> std::int64_t met(Side side, const MatrixView<T>& c) {
  return side == Side::Left ? c.rows() : c.columns();
}

}  // namespace

template <Scalar T> Report sytrd(const Executor& executor, Uplo uplo, const MatrixView<T>& a,
                                 const VectorView<Real<T>>& d, const VectorView<Real<T>>& e, const VectorView<T>& tau) {
  constexpr const char* operation = "solver.sytrd";
  checks::enumerators(operation, uplo);
  square_output(operation, executor, a);
  const std::int64_t n = a.rows();
  vector(operation, "d", executor, d, n);
  vector(operation, "e", executor, e, before(n));
  vector(operation, "tau", executor, tau, before(n));
  checks::apart(operation, "A", a, "d", d), checks::apart(operation, "A", a, "e", e);
  checks::apart(operation, "A", a, "tau", tau), checks::apart(operation, "d", d, "e", e);
  checks::apart(operation, "d", d, "tau", tau), checks::apart(operation, "e", e, "tau", tau);
  return reflected<T>("tridiagonal form", n, before(n), 2, [&] {
    return dispatch(kSytrd<T>, executor, {uplo, a, d, e, tau});
  });
}

template <Scalar T>
Report orgtr(const Executor& executor, Uplo uplo, const MatrixView<T>& a, const blas::ConstVector<T>& tau) {
  constexpr const char* operation = "solver.orgtr";
  checks::enumerators(operation, uplo);
  square_output(operation, executor, a);
  vector(operation, "tau", executor, VectorView<const T>(tau), before(a.rows()));
  checks::apart(operation, "A", a, "tau", tau);
  return reflected<T>("reflections", a.rows(), tau.size(), 1, [&] {
    return dispatch(kOrgtr<T>, executor, {uplo, a, tau});
  });
}

template <Scalar T> Report ormtr(const Executor& executor, Side side, Uplo uplo, Op op, const ConstMatrix<T>& a,
                                 const blas::ConstVector<T>& tau, const MatrixView<T>& c) {
  constexpr const char* operation = "solver.ormtr";
  checks::enumerators(operation, side, uplo, op);
  applied<T>(operation, executor, op, a, c);
  const std::int64_t order = met(side, c);
  checks::shape(operation, "A", a, order, order);
  vector(operation, "tau", executor, VectorView<const T>(tau), before(order));
  checks::apart(operation, "tau", tau, "C", c);
  return reflected<T>("reflections", order, tau.size(), 1, [&] {
    return dispatch(kOrmtr<T>, executor, {side, uplo, op, a, tau, c});
  });
}

template <Scalar T> Report gebrd(const Executor& executor, const MatrixView<T>& a, const VectorView<Real<T>>& d,
                                 const VectorView<Real<T>>& e, const VectorView<T>& tau_q, const VectorView<T>& tau_p) {
  constexpr const char* operation = "solver.gebrd";
  checks::output(operation, "A", executor, a);
  const std::int64_t k = std::min(a.rows(), a.columns());
  vector(operation, "d", executor, d, k);
  vector(operation, "e", executor, e, before(k));
  vector(operation, "tau_q", executor, tau_q, k);
  vector(operation, "tau_p", executor, tau_p, k);
  checks::apart(operation, "A", a, "d", d), checks::apart(operation, "A", a, "e", e);
  checks::apart(operation, "A", a, "tau_q", tau_q), checks::apart(operation, "A", a, "tau_p", tau_p);
  checks::apart(operation, "d", d, "e", e), checks::apart(operation, "tau_q", tau_q, "tau_p", tau_p);
  checks::apart(operation, "d", d, "tau_q", tau_q), checks::apart(operation, "d", d, "tau_p", tau_p);
  checks::apart(operation, "e", e, "tau_q", tau_q), checks::apart(operation, "e", e, "tau_p", tau_p);
  return reflected<T>("bidiagonal form", std::max(a.rows(), a.columns()), k, 2, [&] {
    return dispatch(kGebrd<T>, executor, {a, d, e, tau_q, tau_p});
  });
}

template <Scalar T> Report orgbr(const Executor& executor, BidiagonalFactor factor, std::int64_t order,
                                 const MatrixView<T>& a, const blas::ConstVector<T>& tau) {
  constexpr const char* operation = "solver.orgbr";
  operands::check_enumerator(operation, "BidiagonalFactor", factor, BidiagonalFactor::P);
  checks::output(operation, "A", executor, a);
  const bool q = factor == BidiagonalFactor::Q;
  const std::int64_t longer = q ? a.rows() : a.columns(), shorter = q ? a.columns() : a.rows();
  require(
      order >= 0 && longer >= shorter && shorter >= std::min(longer, order),
      "{}: A is {} x {} and {} {} were reduced; with the order of {} as the longer extent, the shorter lies between "
      "that and the smaller of it and the number reduced",
      operation, a.rows(), a.columns(), order, q ? "columns" : "rows", q ? "Q" : "P");
  vector(operation, "tau", executor, VectorView<const T>(tau), std::min(longer, order));
  checks::apart(operation, "A", a, "tau", tau);
  return reflected<T>("reflections", longer, tau.size(), 1, [&] {
    return dispatch(kOrgbr<T>, executor, {factor, order, a, tau});
  });
}

template <Scalar T> Report ormbr(const Executor& executor, BidiagonalFactor factor, Side side, Op op,
                                 std::int64_t order, const ConstMatrix<T>& a, const blas::ConstVector<T>& tau,
                                 const MatrixView<T>& c) {
  constexpr const char* operation = "solver.ormbr";
  operands::check_enumerator(operation, "BidiagonalFactor", factor, BidiagonalFactor::P);
  checks::enumerators(operation, side, op);
  applied<T>(operation, executor, op, a, c);
  require(order >= 0, "{}: {} rows or columns were reduced; none may be negative", operation, order);
  const std::int64_t longer = met(side, c), shorter = std::min(longer, order);
  const bool q = factor == BidiagonalFactor::Q;
  checks::shape(operation, "A", a, q ? longer : shorter, q ? shorter : longer);
  vector(operation, "tau", executor, VectorView<const T>(tau), shorter);
  checks::apart(operation, "tau", tau, "C", c);
  return reflected<T>("reflections", longer, shorter, 1, [&] {
    return dispatch(kOrmbr<T>, executor, {factor, side, op, order, a, tau, c});
  });
}

template <Scalar T> Report gehrd(const Executor& executor, const MatrixView<T>& a, const VectorView<T>& tau) {
  constexpr const char* operation = "solver.gehrd";
  square_output(operation, executor, a);
  vector(operation, "tau", executor, tau, before(a.rows()));
  checks::apart(operation, "A", a, "tau", tau);
  return reflected<T>("hessenberg form", a.rows(), before(a.rows()), 2, [&] {
    return dispatch(kGehrd<T>, executor, {a, tau});
  });
}

template <Scalar T> Report orghr(const Executor& executor, const MatrixView<T>& a, const blas::ConstVector<T>& tau) {
  constexpr const char* operation = "solver.orghr";
  square_output(operation, executor, a);
  vector(operation, "tau", executor, VectorView<const T>(tau), before(a.rows()));
  checks::apart(operation, "A", a, "tau", tau);
  return reflected<T>("reflections", a.rows(), tau.size(), 1, [&] { return dispatch(kOrghr<T>, executor, {a, tau}); });
}

template <Scalar T> Report ormhr(const Executor& executor, Side side, Op op, const ConstMatrix<T>& a,
                                 const blas::ConstVector<T>& tau, const MatrixView<T>& c) {
  constexpr const char* operation = "solver.ormhr";
  checks::enumerators(operation, side, op);
  applied<T>(operation, executor, op, a, c);
  const std::int64_t order = met(side, c);
  checks::shape(operation, "A", a, order, order);
  vector(operation, "tau", executor, VectorView<const T>(tau), before(order));
  checks::apart(operation, "tau", tau, "C", c);
  return reflected<T>("reflections", order, tau.size(), 1, [&] {
    return dispatch(kOrmhr<T>, executor, {side, op, a, tau, c});
  });
}

#define TRN_REDUCTIONS(T)                                                                                              \
  template Report sytrd(const Executor&, Uplo, const MatrixView<T>&, const VectorView<Real<T>>&,                       \
                        const VectorView<Real<T>>&, const VectorView<T>&);                                             \
  template Report orgtr(const Executor&, Uplo, const MatrixView<T>&, const blas::ConstVector<T>&);                     \
  template Report ormtr(const Executor&, Side, Uplo, Op, const ConstMatrix<T>&, const blas::ConstVector<T>&,           \
                        const MatrixView<T>&);                                                                         \
  template Report gebrd(const Executor&, const MatrixView<T>&, const VectorView<Real<T>>&, const VectorView<Real<T>>&, \
                        const VectorView<T>&, const VectorView<T>&);                                                   \
  template Report orgbr(const Executor&, BidiagonalFactor, std::int64_t, const MatrixView<T>&,                         \
                        const blas::ConstVector<T>&);                                                                  \
  template Report ormbr(const Executor&, BidiagonalFactor, Side, Op, std::int64_t, const ConstMatrix<T>&,              \
                        const blas::ConstVector<T>&, const MatrixView<T>&);                                            \
  template Report gehrd(const Executor&, const MatrixView<T>&, const VectorView<T>&);                                  \
  template Report orghr(const Executor&, const MatrixView<T>&, const blas::ConstVector<T>&);                           \
  template Report ormhr(const Executor&, Side, Op, const ConstMatrix<T>&, const blas::ConstVector<T>&,                 \
                        const MatrixView<T>&);
TRN_SOLVER_SCALARS(TRN_REDUCTIONS)
#undef TRN_REDUCTIONS

}  // namespace trn::solver

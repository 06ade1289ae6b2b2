// Batches of spectra for `trnsci bench`: many small random matrices, packed one after another, column-major. The peer
// is a loop over LAPACK's routine; the error is that of the first and the last matrix, in long double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/solver/batched.hpp>
#include <trn/solver/counts.hpp>

#include "solver_case.hpp"
#include "solver_peers.hpp"

namespace trn::tools {

namespace {

using solver::Batch, solver::Real;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T> struct Stack {
  std::int64_t m, n, count;
  std::vector<T> start, copy;
  Array<T> stored;
  Stack(const Executor& e, std::int64_t rows, std::int64_t columns, std::int64_t matrices)
      : m(rows), n(columns), count(matrices), start(at(m * n * count)), stored(e, Shape{m * n * count}) {}
  void reset() { stored = Array<T>::from_host(stored.view().executor(), Shape{m * n * count}, start); }
  [[nodiscard]] Batch<T> batch() const { return Batch<T>::strided({m, n}, stored.data(), m * n, count); }
};

template <class T> void gaussian(Stack<T>& a, bool hermitian) {
  std::mt19937_64 random(20240607);
  std::normal_distribution<double> normal;
  const auto draw = [&] { return static_cast<Real<T>>(normal(random)); };
  for (T& x : a.start) {
    if constexpr (blas::ComplexScalar<T>) {
      const Real<T> re = draw();
      x = T(re, draw());
    } else {
      x = draw();
    }
  }
  for (std::int64_t p = 0; hermitian && p < a.count; ++p) {
    T* one = a.start.data() + p * a.m * a.n;
    for (std::int64_t j = 0; j < a.n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) {
        if constexpr (blas::ComplexScalar<T>) {
          one[j * a.m + i] = std::conj(one[i * a.m + j]);
        } else {
          one[j * a.m + i] = one[i * a.m + j];
        }
      }
      one[j * a.m + j] = T(std::real(one[j * a.m + j]));
    }
  }
}

void require_native(const char* operation, const SolverSize& s) {
  if (s.precision.has_target() || s.precision.mode() != Mode::Native)
    fail<NotImplemented>("{}: runs in the type's own arithmetic; use --precision native", operation);
}
solver::Report worst(const solver::BatchOutcomes& outcomes) {
  solver::Report report;
  for (const solver::Outcome& o : outcomes) {
    if (report.outcome.ok()) report.outcome = o;
  }
  return report;
}

template <class T> std::complex<long double> wide(const T& x) { return {std::real(x), std::imag(x)}; }

// The largest ||A v - s u||_2 / ||A||_2; y(j) and x(j) are u and v.
template <class T, class X, class Y>
double residual(const Stack<T>& a, std::int64_t p, const Real<T>* s, std::int64_t k, const X& x, const Y& y) {
  long double most = 0, norm = 0;
  for (std::int64_t j = 0; j < k; ++j) {
    long double sum = 0;
    for (std::int64_t i = 0; i < a.m; ++i) {
      std::complex<long double> r = -static_cast<long double>(s[j]) * y(i, j);
      for (std::int64_t q = 0; q < a.n; ++q) r += wide(a.start[at(p * a.m * a.n + q * a.m + i)]) * x(q, j);
      sum += std::norm(r);
    }
    most = std::max(most, std::sqrt(sum)), norm = std::max(norm, std::abs(static_cast<long double>(s[j])));
  }
  return static_cast<double>(most / norm);
}

template <class T> SolverCase eigh_batched(const Executor& e, const SolverSize& s) {
  using R = Real<T>;
  struct State {
    Stack<T> a;
    Array<R> w;
    std::vector<R> values, reals;
    std::vector<T> work;
  };
  require_native("solver.eigh_batched", s);
  const std::int64_t n = s.n, count = s.count;
  const auto st =
      std::make_shared<State>(State{Stack<T>(e, n, n, count), Array<R>(e, Shape{count * n}), std::vector<R>(at(n)),
                                    std::vector<R>(at(3 * n)), std::vector<T>(at(66 * n))});
  gaussian(st->a, true);
  SolverCase c;
  c.reset = [st] { st->a.reset(); };
  c.call = [st, e, n, count] {
    return worst(solver::eigh_batched(e, st->a.batch(), MatrixView<R>(e, st->w.data(), count, n, n, 1)));
  };
  c.peer_reset = [st] { st->a.copy = st->a.start; };
  c.peer = [st, n = static_cast<int>(n), count] {
    for (std::int64_t p = 0; p < count; ++p) {
      int info = 0;
      T* a = st->a.copy.data() + p * n * n;
      if constexpr (blas::ComplexScalar<T>) {
        LapackPeer<T>::syev('V', 'L', n, a, n, st->values.data(), st->work.data(), 66 * n, st->reals.data(), info, 1,
                            1);
      } else {
        LapackPeer<T>::syev('V', 'L', n, a, n, st->values.data(), st->work.data(), 66 * n, info, 1, 1);
      }
    }
  };
  c.error = [st, n, count] {
    const auto v = st->a.stored.to_host();
    const auto w = st->w.to_host();
    double most = 0;
    for (const std::int64_t p : {std::int64_t{0}, count - 1}) {
      const auto x = [&](std::int64_t i, std::int64_t j) { return wide(v[at(p * n * n + j * n + i)]); };
      most = std::max(most, residual(st->a, p, w.data() + p * n, n, x, x));
    }
    return most;
  };
  c.condition = [] { return 0.0; };
  return c;
}

template <class T> SolverCase svd_batched(const Executor& e, const SolverSize& s) {
  using R = Real<T>;
  require_native("solver.svd_batched", s);
  const std::int64_t m = s.m, n = s.n, k = std::min(m, n), count = s.count;
  struct State {
    Stack<T> a, u, vh;
    Array<R> s;
    std::vector<R> values, reals;
    std::vector<T> work;
  };
  const auto st = std::make_shared<State>(
      State{Stack<T>(e, m, n, count), Stack<T>(e, m, k, count), Stack<T>(e, k, n, count), Array<R>(e, Shape{count * k}),
            std::vector<R>(at(k)), std::vector<R>(at(5 * k)), std::vector<T>(at(66 * (m + n) + 4 * std::max(m, n)))});
  gaussian(st->a, false);
  SolverCase c;
  c.reset = [st] { st->a.reset(); };
  c.call = [st, e, k, count] {
    return worst(solver::svd_batched<T>(e, st->a.batch(), MatrixView<R>(e, st->s.data(), count, k, k, 1), st->u.batch(),
                                        st->vh.batch()));
  };
  c.peer_reset = [st] { st->a.copy = st->a.start, st->u.copy = st->u.start, st->vh.copy = st->vh.start; };
  c.peer = [st, m = static_cast<int>(m), n = static_cast<int>(n), k = static_cast<int>(k), count] {
    const int size = static_cast<int>(st->work.size());
    for (std::int64_t p = 0; p < count; ++p) {
      int info = 0;
      T *a = st->a.copy.data() + p * m * n, *u = st->u.copy.data() + p * m * k, *vh = st->vh.copy.data() + p * k * n;
      if constexpr (blas::ComplexScalar<T>) {
        LapackPeer<T>::gesvd('S', 'S', m, n, a, m, st->values.data(), u, m, vh, k, st->work.data(), size,
                             st->reals.data(), info, 1, 1);
      } else {
        LapackPeer<T>::gesvd('S', 'S', m, n, a, m, st->values.data(), u, m, vh, k, st->work.data(), size, info, 1, 1);
      }
    }
  };
  c.error = [st, m, n, k, count] {
    const auto u = st->u.stored.to_host(), vh = st->vh.stored.to_host();
    const auto values = st->s.to_host();
    double most = 0;
    for (const std::int64_t p : {std::int64_t{0}, count - 1}) {
      const auto x = [&](std::int64_t i, std::int64_t j) { return std::conj(wide(vh[at(p * k * n + i * k + j)])); };
      const auto y = [&](std::int64_t i, std::int64_t j) { return wide(u[at(p * m * k + j * m + i)]); };
      most = std::max(most, residual(st->a, p, values.data() + p * k, k, x, y));
    }
    return most;
  };
  c.condition = [] { return 0.0; };
  return c;
}

#define TRN_SOLVER_ROW(f) \
  { f<float>, f<double>, f<std::complex<float>>, f<std::complex<double>> }

}  // namespace

const std::vector<SolverRow>& solver_batched_rows() {
  namespace counts = solver::counts;
  static const std::vector<SolverRow> rows = {
      {"solver.eigh_batched", "A_p V_p = V_p diag(w_p), n x n Hermitian, with vectors", "syev",
       "largest ||A v - w v||_2 / ||A||_2", [](double, double n, double) { return counts::eigh(n); }, false, 0,
       TRN_SOLVER_ROW(eigh_batched), 1000, 32},
      {"solver.svd_batched", "A_p = U_p diag(s_p) V_p^H, m x n, thin", "gesvd", "largest ||A v - s u||_2 / ||A||_2",
       [](double m, double n, double) { return counts::svd(m, n); }, true, 0, TRN_SOLVER_ROW(svd_batched), 1000, 32},
  };
  return rows;
}

#undef TRN_SOLVER_ROW

}  // namespace trn::tools

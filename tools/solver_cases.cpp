// The problems of trnsolver that `trnsci bench` knows. Random matrices whose answers can be checked: errors are sampled
// in long double, and conditions are LAPACK's estimates from the factors. Matrices are column-major.
#include "solver_case.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/counts.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/solve.hpp>
#include <trn/solver/svd.hpp>

#include "solver_peers.hpp"

namespace trn::tools {

namespace {

using solver::Real, solver::Report, solver::Scalar;

constexpr int kElements = 400, kColumns = 8;  // sampled
constexpr std::uint64_t kSeed = 20240607;

template <class T> using Wide = std::conditional_t<blas::ComplexScalar<T>, std::complex<long double>, long double>;
template <class T> Wide<T> wide(const T& x) {
  if constexpr (blas::ComplexScalar<T>) {
    return {x.real(), x.imag()};
  } else {
    return x;
  }
}
template <class W> W conjugate(const W& x) {
  if constexpr (std::is_floating_point_v<W>) {
    return x;
  } else {
    return std::conj(x);
  }
}
template <class T, class F> T element(F draw) {
  if constexpr (blas::ComplexScalar<T>) {
    const auto re = static_cast<Real<T>>(draw());
    return T(re, static_cast<Real<T>>(draw()));
  } else {
    return static_cast<T>(draw());
  }
}
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
int to_int(std::int64_t n) {
  require(n < (std::int64_t{1} << 31), "bench: extent {} does not fit LAPACK's 32 bits", n);
  return static_cast<int>(n);
}

// Column-major m x n on the executor, with the values it starts from.
template <class T> struct Operand {
  std::int64_t m, n;
  std::vector<T> start;
  Matrix<T> stored;  // n x m: the transpose lies column-major
  std::vector<T> copy;
  Operand(const Executor& e, std::int64_t rows, std::int64_t columns)
      : m(rows), n(columns), start(at(rows * columns)), stored(e, columns, rows) {}
  void reset() { stored = Matrix<T>::from_host(stored.view().executor(), n, m, start); }
  void reset_copy() { copy = start; }
  MatrixView<T> view() const { return stored.view().transposed(); }
  T& operator()(std::int64_t i, std::int64_t j) { return start[at(j * m + i)]; }
};

template <class T> void gaussian(Operand<T>& a) {
  std::mt19937_64 random(kSeed);
  std::normal_distribution<double> normal;
  for (T& x : a.start) x = element<T>([&] { return normal(random); });
}
template <class T> void hermitian(Operand<T>& a) {
  gaussian(a);
  for (std::int64_t j = 0; j < a.n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = conjugate(a(j, i));
    a(j, j) = T(std::real(a(j, j)));
  }
}
template <class T> Real<T> one_norm(const std::vector<T>& a, std::int64_t m, std::int64_t n) {
  Real<T> largest = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    Real<T> sum = 0;
    for (std::int64_t i = 0; i < m; ++i) sum += std::abs(a[at(j * m + i)]);
    largest = std::max(largest, sum);
  }
  return largest;
}
// sum_k a[k sa] b[k sb] and the sum of absolute values.
template <class T> void dot(std::int64_t n, const T* a, std::int64_t sa, const T* b, std::int64_t sb, bool conj_b,
                            Wide<T>& sum, long double& size) {
  for (std::int64_t k = 0; k < n; ++k) {
    const Wide<T> y = wide(b[k * sb]), product = wide(a[k * sa]) * (conj_b ? conjugate(y) : y);
    sum += product, size += std::abs(product);
  }
}
template <class F> double largest_of_samples(int count, std::int64_t rows, std::int64_t columns, F error) {
  std::mt19937_64 random(kSeed + 1);
  double worst = 0;
  for (int s = 0; s < count; ++s) {
    const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
    const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns));
    worst = std::max(worst, static_cast<double>(error(i, j)));
  }
  return worst;
}
template <class Options> Options with_precision(const char* operation, const SolverSize& s) {
  Options options;
  if constexpr (requires { options.precision; }) {
    options.precision = s.precision;
  } else if (s.precision.has_target() || s.precision.mode() != Mode::Native) {
    fail<NotImplemented>("{}: runs in the type's own arithmetic; use --precision native", operation);
  }
  return options;
}

template <class T> SolverCase potrf(const Executor& e, const SolverSize& s) {
  struct State {
    Operand<T> a;
    std::vector<T> factor = {};
  };
  const auto st = std::make_shared<State>(State{Operand<T>(e, s.n, s.n)});
  hermitian(st->a);
  for (std::int64_t i = 0; i < s.n; ++i) st->a(i, i) = T(4 * std::sqrt(static_cast<Real<T>>(s.n)) + 1);
  const auto options = with_precision<solver::FactorOptions>("solver.potrf", s);
  SolverCase c;
  c.reset = [st] { st->a.reset(); };
  c.call = [st, e, options] { return solver::potrf(e, solver::Uplo::Lower, st->a.view(), options); };
  c.peer_reset = [st] { st->a.reset_copy(); };
  c.peer = [st, n = s.n] {
    int info = 0;
    LapackPeer<T>::potrf('L', to_int(n), st->a.copy.data(), to_int(n), info, 1);
  };
  c.error = [st, n = s.n] {
    st->factor = st->a.stored.to_host();
    const T* l = st->factor.data();
    return largest_of_samples(kElements, n, n, [&](std::int64_t i, std::int64_t j) {
      if (i < j) std::swap(i, j);
      Wide<T> sum = 0;
      long double size = 0;
      dot(j + 1, l + i, n, l + j, n, true, sum, size);
      return std::abs(sum - wide(st->a(i, j))) / size;
    });
  };
  c.condition = [st, n = s.n] {
    std::vector<T> work(at(3 * n));
    std::vector<double> second(at(n));
    Real<T> reciprocal = 0;
    int info = 0;
    LapackPeer<T>::pocon('L', to_int(n), st->factor.data(), to_int(n), one_norm(st->a.start, n, n), reciprocal,
                         work.data(), second.data(), info, 1);
    return 1 / static_cast<double>(reciprocal);
  };
  return c;
}

template <class T> SolverCase getrf(const Executor& e, const SolverSize& s) {
  struct State {
    Operand<T> a;
    Array<std::int64_t> pivots;
    std::vector<int> ipiv;
    std::vector<T> factor = {};
  };
  const auto st = std::make_shared<State>(
      State{Operand<T>(e, s.n, s.n), Array<std::int64_t>(e, Shape{s.n}), std::vector<int>(at(s.n))});
  gaussian(st->a);
  const auto options = with_precision<solver::FactorOptions>("solver.getrf", s);
  SolverCase c;
  c.reset = [st] { st->a.reset(); };
  c.call = [st, e, options] {
    return solver::getrf(e, st->a.view(), VectorView<std::int64_t>(e, st->pivots.data(), st->a.n), options);
  };
  c.peer_reset = [st] { st->a.reset_copy(); };
  c.peer = [st, n = s.n] {
    int info = 0;
    LapackPeer<T>::getrf(to_int(n), to_int(n), st->a.copy.data(), to_int(n), st->ipiv.data(), info);
  };
  c.error = [st, n = s.n] {
    st->factor = st->a.stored.to_host();
    const auto pivots = st->pivots.to_host();
    std::vector<std::int64_t> row(at(n));
    for (std::int64_t i = 0; i < n; ++i) row[at(i)] = i;
    for (std::int64_t i = 0; i < n; ++i) std::swap(row[at(i)], row[at(pivots[at(i)])]);
    const T* f = st->factor.data();
    return largest_of_samples(kElements, n, n, [&](std::int64_t i, std::int64_t j) {
      const std::int64_t below = std::min(i, j + 1);  // L's elements left of its unit diagonal
      Wide<T> sum = 0;
      long double size = 0;
      dot(below, f + i, n, f + j * n, 1, false, sum, size);
      if (i <= j) sum += wide(f[j * n + i]), size += std::abs(wide(f[j * n + i]));
      return std::abs(sum - wide(st->a(row[at(i)], j))) / size;
    });
  };
  c.condition = [st, n = s.n] {
    std::vector<T> work(at(4 * n));
    std::vector<double> second(at(2 * n));
    Real<T> reciprocal = 0;
    int info = 0;
    LapackPeer<T>::gecon('1', to_int(n), st->factor.data(), to_int(n), one_norm(st->a.start, n, n), reciprocal,
                         work.data(), second.data(), info, 1);
    return 1 / static_cast<double>(reciprocal);
  };
  return c;
}

template <class T> SolverCase geqrf(const Executor& e, const SolverSize& s) {
  struct State {
    Operand<T> a;
    Array<T> tau;
    std::vector<T> host_tau, work, factor = {};
  };
  const std::int64_t k = std::min(s.m, s.n);
  const auto st = std::make_shared<State>(
      State{Operand<T>(e, s.m, s.n), Array<T>(e, Shape{k}), std::vector<T>(at(k)), std::vector<T>(at(64 * s.n))});
  gaussian(st->a);
  const auto options = with_precision<solver::FactorOptions>("solver.geqrf", s);
  SolverCase c;
  c.reset = [st] { st->a.reset(); };
  c.call = [st, e, options, k] { return solver::geqrf(e, st->a.view(), VectorView<T>(e, st->tau.data(), k), options); };
  c.peer_reset = [st] { st->a.reset_copy(); };
  c.peer = [st, m = s.m, n = s.n] {
    int info = 0;
    LapackPeer<T>::geqrf(to_int(m), to_int(n), st->a.copy.data(), to_int(m), st->host_tau.data(), st->work.data(),
                         to_int(64 * n), info);
  };
  // ||A - Q R||_F / ||A||_F, from a few columns: those of R, reflected from the last H to the first.
  c.error = [st, m = s.m, n = s.n, k] {
    st->factor = st->a.stored.to_host();
    const auto tau = st->tau.to_host();
    const T* f = st->factor.data();
    long double norm = 0, sum = 0;
    for (const T& x : st->a.start) norm += std::norm(wide(x));
    std::mt19937_64 random(kSeed + 1);
    for (int sample = 0; sample < kColumns; ++sample) {
      const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      std::vector<Wide<T>> x(at(m));
      for (std::int64_t i = 0; i <= std::min(j, m - 1); ++i) x[at(i)] = wide(f[j * m + i]);
      for (std::int64_t p = k - 1; p >= 0; --p) {
        Wide<T> product = x[at(p)];
        for (std::int64_t i = p + 1; i < m; ++i) product += conjugate(wide(f[p * m + i])) * x[at(i)];
        product *= wide(tau[at(p)]);
        x[at(p)] -= product;
        for (std::int64_t i = p + 1; i < m; ++i) x[at(i)] -= wide(f[p * m + i]) * product;
      }
      for (std::int64_t i = 0; i < m; ++i) sum += std::norm(x[at(i)] - wide(st->a(i, j)));
    }
    return static_cast<double>(std::sqrt(sum * static_cast<long double>(n) / kColumns / norm));
  };
  c.condition = [st, m = s.m, n = s.n] {
    if (m < n) return 0.0;
    std::vector<T> work(at(3 * n));
    std::vector<double> second(at(n));
    Real<T> reciprocal = 0;
    int info = 0;
    LapackPeer<T>::trcon('1', 'U', 'N', to_int(n), st->factor.data(), to_int(m), reciprocal, work.data(), second.data(),
                         info, 1, 1, 1);
    return 1 / static_cast<double>(reciprocal);
  };
  return c;
}

// ||A x - lambda y||_2 / ||A||_2 for a few columns x of X and y of Y.
template <class T, class Column>
double residual(Operand<T>& a, const std::vector<Real<T>>& values, long double norm, Column columns) {
  return largest_of_samples(kColumns, a.n, static_cast<std::int64_t>(values.size()), [&](std::int64_t, std::int64_t j) {
    long double sum = 0;
    std::vector<Wide<T>> r(at(a.m));
    const auto [x, y] = columns(j);
    for (std::int64_t k = 0; k < a.n; ++k) {
      for (std::int64_t i = 0; i < a.m; ++i) r[at(i)] += wide(a(i, k)) * x[at(k)];
    }
    for (std::int64_t i = 0; i < a.m; ++i)
      sum += std::norm(r[at(i)] - static_cast<long double>(values[at(j)]) * y[at(i)]);
    return std::sqrt(sum) / norm;
  });
}

template <class T> SolverCase eigh(const Executor& e, const SolverSize& s) {
  using R = Real<T>;
  struct State {
    Operand<T> a;
    Array<R> w;
    std::vector<R> values;
    std::vector<T> work;
    std::vector<R> reals;
  };
  const auto st =
      std::make_shared<State>(State{Operand<T>(e, s.n, s.n), Array<R>(e, Shape{s.n}), std::vector<R>(at(s.n)),
                                    std::vector<T>(at(66 * s.n)), std::vector<R>(at(3 * s.n))});
  hermitian(st->a);
  const auto options = with_precision<solver::EighOptions>("solver.eigh", s);
  SolverCase c;
  c.reset = [st] { st->a.reset(); };
  c.call = [st, e, options] {
    return Report(solver::eigh(e, st->a.view(), VectorView<R>(e, st->w.data(), st->a.n), options));
  };
  c.peer_reset = [st] { st->a.reset_copy(); };
  c.peer = [st, n = s.n] {
    int info = 0;
    if constexpr (blas::ComplexScalar<T>) {
      LapackPeer<T>::syev('V', 'L', to_int(n), st->a.copy.data(), to_int(n), st->values.data(), st->work.data(),
                          to_int(66 * n), st->reals.data(), info, 1, 1);
    } else {
      LapackPeer<T>::syev('V', 'L', to_int(n), st->a.copy.data(), to_int(n), st->values.data(), st->work.data(),
                          to_int(66 * n), info, 1, 1);
    }
  };
  c.error = [st, n = s.n] {
    const auto v = st->a.stored.to_host();
    st->values = st->w.to_host();
    const long double norm = std::max(std::abs(st->values.front()), std::abs(st->values.back()));
    return residual(st->a, st->values, norm, [&](std::int64_t j) {
      std::vector<Wide<T>> x(at(n));
      for (std::int64_t i = 0; i < n; ++i) x[at(i)] = wide(v[at(j * n + i)]);
      return std::pair(x, x);
    });
  };
  c.condition = [st] {
    double least = INFINITY, most = 0;
    for (const R x : st->values)
      least = std::min<double>(least, std::abs(x)), most = std::max<double>(most, std::abs(x));
    return most / least;
  };
  return c;
}

template <class T> SolverCase svd(const Executor& e, const SolverSize& s) {
  using R = Real<T>;
  const std::int64_t k = std::min(s.m, s.n), longer = std::max(s.m, s.n);
  struct State {
    Operand<T> a, u, vh;
    Array<R> s;
    std::vector<R> values, reals;
    std::vector<T> work;
  };
  const auto st = std::make_shared<State>(State{Operand<T>(e, s.m, s.n), Operand<T>(e, s.m, k), Operand<T>(e, k, s.n),
                                                Array<R>(e, Shape{k}), std::vector<R>(at(k)), std::vector<R>(at(5 * k)),
                                                std::vector<T>(at(66 * (s.m + s.n) + 3 * k + longer))});
  gaussian(st->a);
  const auto options = with_precision<solver::SvdOptions>("solver.svd", s);
  SolverCase c;
  c.reset = [st] { st->a.reset(); };
  c.call = [st, e, options, k] {
    return Report(
        solver::svd<T>(e, st->a.view(), VectorView<R>(e, st->s.data(), k), st->u.view(), st->vh.view(), options));
  };
  c.peer_reset = [st] { st->a.reset_copy(), st->u.reset_copy(), st->vh.reset_copy(); };
  c.peer = [st, m = s.m, n = s.n, k] {
    int info = 0;
    const int lwork = to_int(static_cast<std::int64_t>(st->work.size()));
    if constexpr (blas::ComplexScalar<T>) {
      LapackPeer<T>::gesvd('S', 'S', to_int(m), to_int(n), st->a.copy.data(), to_int(m), st->values.data(),
                           st->u.copy.data(), to_int(m), st->vh.copy.data(), to_int(k), st->work.data(), lwork,
                           st->reals.data(), info, 1, 1);
    } else {
      LapackPeer<T>::gesvd('S', 'S', to_int(m), to_int(n), st->a.copy.data(), to_int(m), st->values.data(),
                           st->u.copy.data(), to_int(m), st->vh.copy.data(), to_int(k), st->work.data(), lwork, info, 1,
                           1);
    }
  };
  c.error = [st, m = s.m, n = s.n, k] {
    const auto u = st->u.stored.to_host(), vh = st->vh.stored.to_host();
    st->values = st->s.to_host();
    return residual(st->a, st->values, st->values.front(), [&](std::int64_t j) {
      std::vector<Wide<T>> x(at(n)), y(at(m));
      for (std::int64_t i = 0; i < n; ++i) x[at(i)] = conjugate(wide(vh[at(i * k + j)]));
      for (std::int64_t i = 0; i < m; ++i) y[at(i)] = wide(u[at(j * m + i)]);
      return std::pair(x, y);
    });
  };
  c.condition = [st] { return static_cast<double>(st->values.front()) / static_cast<double>(st->values.back()); };
  return c;
}

// Small whole numbers: B = A X is exact, so that X is known.
template <class T> SolverCase solve(const Executor& e, const SolverSize& s) {
  struct State {
    Operand<T> a, b;
    std::vector<T> x;
    std::vector<int> ipiv;
    double condition = 0;
  };
  const auto st = std::make_shared<State>(State{Operand<T>(e, s.n, s.n), Operand<T>(e, s.n, s.nrhs),
                                                std::vector<T>(at(s.n * s.nrhs)), std::vector<int>(at(s.n))});
  std::mt19937_64 random(kSeed);
  const auto digit = [&] { return static_cast<double>(random() % 19) - 9; };
  for (T& x : st->a.start) x = element<T>(digit);
  for (T& x : st->x) x = element<T>(digit);
  for (std::int64_t j = 0; j < s.nrhs; ++j) {
    for (std::int64_t k = 0; k < s.n; ++k) {
      for (std::int64_t i = 0; i < s.n; ++i) st->b(i, j) += st->a(i, k) * st->x[at(j * s.n + k)];
    }
  }
  const auto options = with_precision<solver::SolveOptions>("solver.solve", s);
  SolverCase c;
  c.reset = [st] { st->a.reset(), st->b.reset(); };
  c.call = [st, e, options] {
    const Report report = solver::solve<T>(e, st->a.view(), st->b.view(), options);
    st->condition = report.condition;
    return report;
  };
  c.peer_reset = [st] { st->a.reset_copy(), st->b.reset_copy(); };
  c.peer = [st, n = s.n, nrhs = s.nrhs] {
    int info = 0;
    LapackPeer<T>::gesv(to_int(n), to_int(nrhs), st->a.copy.data(), to_int(n), st->ipiv.data(), st->b.copy.data(),
                        to_int(n), info);
  };
  c.error = [st, n = s.n, nrhs = s.nrhs] {
    const auto x = st->b.stored.to_host();
    double worst = 0;
    for (std::int64_t j = 0; j < nrhs; ++j) {
      long double off = 0, size = 0;
      for (std::int64_t i = j * n; i < (j + 1) * n; ++i) {
        off = std::max(off, std::abs(wide(x[at(i)]) - wide(st->x[at(i)])));
        size = std::max(size, std::abs(wide(st->x[at(i)])));
      }
      worst = std::max(worst, static_cast<double>(off / size));
    }
    return worst;
  };
  c.condition = [st] { return st->condition; };
  return c;
}

#define TRN_SOLVER_ROW(f) \
  { f<float>, f<double>, f<std::complex<float>>, f<std::complex<double>> }

}  // namespace

const std::vector<SolverRow>& solver_rows() {
  namespace counts = solver::counts;
  static const std::vector<SolverRow> rows = {
      {"solver.potrf", "A = L L^H, n x n positive definite", "potrf", "largest |A - L L^H| in units of |L||L^H|",
       [](double, double n, double) { return counts::potrf(n); }, false, 0, TRN_SOLVER_ROW(potrf)},
      {"solver.getrf", "P A = L U, n x n, partial pivoting", "getrf", "largest |P A - L U| in units of |L||U|",
       [](double, double n, double) { return counts::getrf(n); }, false, 0, TRN_SOLVER_ROW(getrf)},
      {"solver.geqrf", "A = Q R, m x n, Householder", "geqrf", "||A - Q R||_F / ||A||_F",
       [](double m, double n, double) { return counts::geqrf(m, n); }, true, 0, TRN_SOLVER_ROW(geqrf)},
      {"solver.eigh", "A V = V diag(w), n x n Hermitian, with vectors", "syev",
       "largest ||A v - w v||_2 / ||A||_2, at least the error of w",
       [](double, double n, double) { return counts::eigh(n); }, false, 0, TRN_SOLVER_ROW(eigh)},
      {"solver.svd", "A = U diag(s) V^H, m x n, thin", "gesvd", "largest ||A v - s u||_2 / ||A||_2",
       [](double m, double n, double) { return counts::svd(m, n); }, true, 0, TRN_SOLVER_ROW(svd)},
      {"solver.solve", "A X = B, n x n general", "gesv", "largest |x - x*| / max|x*|",
       [](double, double n, double nrhs) { return counts::solve(n, nrhs); }, false, 1, TRN_SOLVER_ROW(solve)},
  };
  return rows;
}

#undef TRN_SOLVER_ROW

}  // namespace trn::tools

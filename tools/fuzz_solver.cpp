// `trnsci fuzz solver`: random shapes, strides, types and adversarial matrices through trnsolver on the host. Residuals
// are computed in long double and held against the bounds that the headers state, with LAPACK's factor where a bound is
// an estimate; outcomes must be what the matrix deserves; memory between the elements must stay as it was.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <trn/core/error.hpp>
#include <trn/solver/batched.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/solve.hpp>
#include <trn/solver/svd.hpp>

#include "fuzz_driver.hpp"
#include "fuzz_random.hpp"

namespace trn::tools::fuzz {
namespace {

using solver::Outcome, solver::Real, solver::Status, solver::Uplo;

template <class T> struct WideType { using type = long double; };
template <class R> struct WideType<std::complex<R>> { using type = std::complex<long double>; };
template <class T> using W = typename WideType<T>::type;
long double conjugate(long double x) { return x; }
std::complex<long double> conjugate(const std::complex<long double>& x) { return std::conj(x); }
template <class T> const long double kEps = std::numeric_limits<Real<T>>::epsilon();
constexpr long double kAccepted = 30;  // LAPACK's threshold of test ratios

template <class T> struct Full {
  std::int64_t m, n;
  std::vector<W<T>> x;
  Full(std::int64_t rows, std::int64_t columns) : m(rows), n(columns), x(static_cast<std::size_t>(rows * columns)) {}
  W<T>& operator()(std::int64_t i, std::int64_t j) { return x[static_cast<std::size_t>(i * n + j)]; }
  const W<T>& operator()(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i * n + j)]; }
  [[nodiscard]] long double norm() const {  // Frobenius
    long double sum = 0, most = 0;
    for (const auto& v : x) most = std::max(most, std::abs(v));
    if (most == 0 || !std::isfinite(most)) return most;
    for (const auto& v : x) sum += std::norm(v / most);
    return most * std::sqrt(sum);
  }
};
template <class T> Full<T> times(const Full<T>& a, const Full<T>& b) {
  Full<T> c(a.m, b.n);
  for (std::int64_t i = 0; i < a.m; ++i) {
    for (std::int64_t k = 0; k < a.n; ++k) {
      for (std::int64_t j = 0; j < b.n; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}
template <class T> Full<T> adjoint(const Full<T>& a) {
  Full<T> t(a.n, a.m);
  for (std::int64_t i = 0; i < a.m; ++i) {
    for (std::int64_t j = 0; j < a.n; ++j) t(j, i) = conjugate(a(i, j));
  }
  return t;
}
template <class T> Full<T> minus(Full<T> a, const Full<T>& b) {
  for (std::size_t i = 0; i < a.x.size(); ++i) a.x[i] -= b.x[i];
  return a;
}
template <class T> Full<T> rounded(Full<T> a) {
  for (auto& v : a.x) v = W<T>(T(v));
  return a;
}

// A matrix somewhere in guarded memory with random strides.
template <class T> class Placed {
 public:
  Placed(Random& r, const Full<T>& a) : m_(a.m), n_(a.n) {
    const std::int64_t gap = r.pick({1, 1, 1, 2, 3}), pad = r.below(4);
    rs_ = gap, cs_ = gap * std::max<std::int64_t>(m_, 1) + pad;
    if (r.chance(2)) rs_ = gap * std::max<std::int64_t>(n_, 1) + pad, cs_ = gap;
    const bool back = r.chance(8);
    if (back) rs_ = -rs_, cs_ = -cs_;
    const std::int64_t span = (m_ - 1) * std::abs(rs_) + (n_ - 1) * std::abs(cs_);
    memory_.assign(static_cast<std::size_t>(span + 17), T(77));
    origin_ = 8 + (back ? span : 0);
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) at(i, j) = T(a(i, j));
    }
  }
  T& at(std::int64_t i, std::int64_t j) { return memory_[static_cast<std::size_t>(origin_ + i * rs_ + j * cs_)]; }
  MatrixView<T> view() { return {Executor::host(), memory_.data() + origin_, m_, n_, rs_, cs_}; }
  Full<T> full() {
    Full<T> a(m_, n_);
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) a(i, j) = W<T>(at(i, j));
    }
    return a;
  }
  void check_surroundings() const {
    std::vector<char> mine(memory_.size());
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) mine[static_cast<std::size_t>(origin_ + i * rs_ + j * cs_)] = 1;
    }
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      if (!mine[k] && memory_[k] != T(77)) throw Finding{fmt::format("memory beside the matrix was written, at {}", k)};
    }
  }

 private:
  std::int64_t m_, n_, rs_ = 1, cs_ = 1, origin_ = 0;
  std::vector<T> memory_;
};

template <class T> T number(Random& r) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(r.uniform(-1, 1));
  } else {
    const auto re = static_cast<Real<T>>(r.uniform(-1, 1));
    return T(re, static_cast<Real<T>>(r.uniform(-1, 1)));
  }
}
template <class T> Full<T> noise(Random& r, std::int64_t m, std::int64_t n) {
  Full<T> a(m, n);
  for (auto& v : a.x) v = W<T>(number<T>(r));
  return a;
}
// A random reflection applied from the left.
template <class T> void reflect(Random& r, Full<T>& a) {
  const Full<T> v = noise<T>(r, a.m, 1);
  const long double size = v.norm() * v.norm();
  if (size == 0) return;
  const Full<T> w = times(adjoint(v), a);
  for (std::int64_t i = 0; i < a.m; ++i) {
    for (std::int64_t j = 0; j < a.n; ++j) a(i, j) -= v(i, 0) * w(0, j) * (2 / size);
  }
}
// Singular values (or eigenvalues) that are hard: graded, clustered, low rank, equal, random.
std::vector<long double> spectrum(Random& r, std::int64_t k, std::string& what) {
  std::vector<long double> s;
  const auto kind = r.below(6);
  const double decay = r.uniform(0.05, 1);
  for (std::int64_t i = 0; i < k; ++i) {
    const auto x = static_cast<long double>(i);
    s.push_back(kind == 0   ? 1 - 0.9L * x / static_cast<long double>(k)
                : kind == 1 ? std::pow(static_cast<long double>(decay), x)
                : kind == 2 ? (i < k / 2 ? 1.0L : 1e-3L) * (1 + 1e-9L * x)
                : kind == 3 ? (i < (k + 2) / 3 ? 1.0L : 0.0L)
                : kind == 4 ? 1.0L
                            : static_cast<long double>(r.uniform(1e-3, 1)));
  }
  constexpr const char* kNames[] = {"linear", "graded", "two clusters", "low rank", "equal", "random"};
  what += fmt::format(" {}", kNames[kind]);
  return s;
}
template <class T>
Full<T> matrix(Random& r, std::int64_t m, std::int64_t n, bool hermitian, bool positive, std::string& what) {
  if (r.chance(3) && !positive) {
    what += " noise";
    Full<T> a = noise<T>(r, m, n);
    for (std::int64_t i = 0; hermitian && i < n; ++i) {
      for (std::int64_t j = 0; j < i; ++j) a(j, i) = conjugate(a(i, j));
      a(i, i) = std::real(a(i, i));
    }
    return a;
  }
  const auto s = spectrum(r, std::min(m, n), what);
  Full<T> a(m, n);
  for (std::int64_t i = 0; i < std::min(m, n); ++i) {
    const long double sign = hermitian && !positive && r.chance(2) ? -1 : 1;
    a(i, i) = sign * s[static_cast<std::size_t>(i)] + (positive ? 1.0L : 0.0L);  // positive: kappa at most 2
  }
  for (int k = 0; k < 2; ++k) {
    Random same = r;  // the same vectors from both sides
    reflect(r, a);
    a = adjoint(a);
    if (hermitian) {
      reflect(same, a);
    } else {
      reflect(r, a);
    }
    a = adjoint(a);
  }
  a = rounded(a);
  for (std::int64_t i = 0; hermitian && i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) a(j, i) = conjugate(a(i, j));
    a(i, i) = std::real(a(i, i));
  }
  return a;
}

template <class T> void expect(const char* what, long double size, long double limit) {
  if (!(size <= limit)) {
    throw Finding{
        fmt::format("{} is {:.3e}, the limit {:.3e}", what, static_cast<double>(size), static_cast<double>(limit))};
  }
}
void expect_ok(const Outcome& outcome) {
  if (!outcome.ok()) throw Finding{fmt::format("the outcome is {} at {}", solver::name(outcome.status), outcome.index)};
}
// |A - product| <= bound * size, elementwise; the bounds are barring underflow, so that what products lose there is
// allowed for.
template <class T> void within(const Full<T>& a, const Full<T>& product, const Full<T>& size, double bound) {
  const long double lost =
      static_cast<long double>(a.n + 8) * std::numeric_limits<Real<T>>::denorm_min() * (1 + size.norm());
  for (std::int64_t i = 0; i < a.m; ++i) {
    for (std::int64_t j = 0; j < a.n; ++j) {
      const long double limit = static_cast<long double>(bound) * std::abs(size(i, j)) + lost;
      expect<T>("an element's residual", std::abs(a(i, j) - product(i, j)), limit);
    }
  }
}
template <class T> Full<T> absolute(Full<T> a) {
  for (auto& v : a.x) v = std::abs(v);
  return a;
}
template <class T> void orthonormal(const Full<T>& q) {
  Full<T> g = times(adjoint(q), q);
  for (std::int64_t i = 0; i < g.n; ++i) g(i, i) -= 1.0L;
  expect<T>("the loss of orthogonality", g.norm(),
            kAccepted * static_cast<long double>(std::max<std::int64_t>(q.m, 1)) * kEps<T>);
}

const Executor& host() {
  static const Executor executor = Executor::host();
  return executor;
}

template <class T> void cholesky_case(Random& r, std::int64_t n, std::string& what, bool batched) {
  const Full<T> a = matrix<T>(r, n, n, true, true, what);
  const Uplo uplo = r.pick({Uplo::Lower, Uplo::Upper});
  Full<T> poisoned = a;
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) (uplo == Uplo::Lower ? poisoned(j, i) : poisoned(i, j)) = nan;
  }
  Full<T> l(n, n);
  double bound = 0;
  const auto take = [&](auto&& at) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j)
        l(i, j) = uplo == Uplo::Lower ? W<T>(at(i, j)) : W<T>(conjugate(W<T>(at(j, i))));
    }
  };
  if (batched) {
    const std::int64_t count = 1 + r.below(20), which = r.below(count);
    std::vector<T> memory(static_cast<std::size_t>(n * n * count), T(1));
    const auto batch = solver::Batch<T>::strided({n, n}, memory.data(), n * n, count);
    for (std::int64_t p = 0; p < count; ++p) {
      for (std::int64_t i = 0; i < n * n; ++i) batch[p][i] = T(poisoned(i % n, i / n));
      if (p != which && r.chance(3)) batch[p][0] = T(-1);
    }
    const auto outcomes = solver::potrf_batched(host(), uplo, batch);
    expect_ok(outcomes[static_cast<std::size_t>(which)]);
    take([&](std::int64_t i, std::int64_t j) { return batch[which][j * n + i]; });
    bound = static_cast<double>(n + 8) * static_cast<double>(kEps<T>) / 2 *
            (std::is_floating_point_v<T> ? 1 : 2 * std::sqrt(2.0));
  } else {
    Placed<T> x(r, poisoned);
    const auto report = solver::potrf(host(), uplo, x.view());
    x.check_surroundings();
    expect_ok(report.outcome);
    bound = report.accuracy.bound;
    take([&](std::int64_t i, std::int64_t j) { return x.at(i, j); });
  }
  within(a, times(l, adjoint(l)), times(absolute(l), adjoint(absolute(l))), bound);
}

template <class T> void lu_case(Random& r, std::int64_t m, std::int64_t n, std::string& what, bool batched) {
  Full<T> a = matrix<T>(r, m, n, false, false, what);
  const std::int64_t k = std::min(m, n);
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(20 * k));
  const std::int64_t* used = pivots.data();
  Full<T> f(m, n);
  Outcome outcome;
  double bound = static_cast<double>(k + 8) * static_cast<double>(kEps<T>) / 2 *
                 (std::is_floating_point_v<T> ? 1 : 2 * std::sqrt(2.0));
  if (batched) {
    const std::int64_t count = 1 + r.below(20), which = r.below(count);
    std::vector<T> memory(static_cast<std::size_t>(m * n * count));
    const auto batch = solver::Batch<T>::strided({m, n}, memory.data(), m * n, count);
    for (std::int64_t p = 0; p < count; ++p) {
      for (std::int64_t i = 0; i < m * n; ++i) batch[p][i] = p == which ? T(a(i % m, i / m)) : number<T>(r);
    }
    outcome = solver::getrf_batched(
        host(), batch,
        MatrixView<std::int64_t>(host(), pivots.data(), count, k, k, 1))[static_cast<std::size_t>(which)];
    used += which * k;
    for (std::int64_t i = 0; i < m * n; ++i) f(i % m, i / m) = W<T>(batch[which][i]);
  } else {
    Placed<T> x(r, a);
    const auto report = solver::getrf(host(), x.view(), VectorView<std::int64_t>(host(), pivots.data(), k));
    x.check_surroundings();
    outcome = report.outcome;
    f = x.full();
  }
  if (!outcome.ok() && outcome.status != Status::Singular) expect_ok(outcome);
  Full<T> l(m, k), u(k, n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i == j) l(i, j) = 1;
      if (i > j && j < k) l(i, j) = f(i, j);
      if (i <= j && i < k) u(i, j) = f(i, j);
    }
  }
  for (std::int64_t i = 0; i < k; ++i) {
    if (used[i] < i || used[i] >= m) throw Finding{fmt::format("pivot {} is {}", i, used[i])};
    for (std::int64_t j = 0; j < n; ++j) std::swap(a(i, j), a(used[i], j));
  }
  within(a, times(l, u), times(absolute(l), absolute(u)), bound);
}

template <class T> void qr_case(Random& r, std::int64_t m, std::int64_t n, std::string& what) {
  const Full<T> a = matrix<T>(r, m, n, false, false, what);
  Placed<T> x(r, a);
  const solver::Qr<T> qr(host(), x.view());
  expect_ok(qr.report().outcome);
  const Matrix<T> q = qr.q(), upper = qr.r();
  const auto taken = [](const Matrix<T>& from) {
    Full<T> to(from.rows(), from.columns());
    for (std::int64_t i = 0; i < to.m * to.n; ++i) to.x[static_cast<std::size_t>(i)] = W<T>(from.data()[i]);
    return to;
  };
  const Full<T> qf = taken(q);
  orthonormal(qf);
  expect<T>("||A - Q R||", minus(times(qf, taken(upper)), a).norm(),
            (static_cast<long double>(qr.report().accuracy.bound) +
             kAccepted * static_cast<long double>(m) * kEps<T>)*a.norm());
}

template <class T> void eigh_case(Random& r, std::int64_t n, std::string& what, bool batched) {
  const Full<T> a = matrix<T>(r, n, n, true, false, what);
  const Uplo uplo = r.pick({Uplo::Lower, Uplo::Upper});
  std::vector<Real<T>> w(static_cast<std::size_t>(20 * n));
  const Real<T>* values = w.data();
  Full<T> v(n, n);
  if (batched) {
    const std::int64_t count = 1 + r.below(20), which = r.below(count);
    std::vector<T> memory(static_cast<std::size_t>(n * n * count));
    const auto batch = solver::Batch<T>::strided({n, n}, memory.data(), n * n, count);
    for (std::int64_t p = 0; p < count; ++p) {
      for (std::int64_t i = 0; i < n * n; ++i) batch[p][i] = p == which ? T(a(i % n, i / n)) : number<T>(r);
    }
    const auto outcomes =
        solver::eigh_batched(host(), batch, MatrixView<Real<T>>(host(), w.data(), count, n, n, 1), {.uplo = uplo});
    expect_ok(outcomes[static_cast<std::size_t>(which)]);
    values += which * n;
    for (std::int64_t i = 0; i < n * n; ++i) v(i % n, i / n) = W<T>(batch[which][i]);
  } else {
    Placed<T> x(r, a);
    expect_ok(solver::eigh(host(), x.view(), VectorView<Real<T>>(host(), w.data(), n), {.uplo = uplo}).outcome);
    x.check_surroundings();
    v = x.full();
  }
  orthonormal(v);
  if (!std::is_sorted(values, values + n)) throw Finding{"the eigenvalues do not ascend"};
  Full<T> scaled = v;
  for (std::int64_t i = 0; i < n * n; ++i)
    scaled.x[static_cast<std::size_t>(i)] *= static_cast<long double>(values[i % n]);
  expect<T>("||A V - V W||", minus(times(a, v), scaled).norm(),
            kAccepted * static_cast<long double>(n) * kEps<T> * a.norm());
}

template <class T> void svd_case(Random& r, std::int64_t m, std::int64_t n, std::string& what) {
  const Full<T> a = matrix<T>(r, m, n, false, false, what);
  const std::int64_t k = std::min(m, n);
  Placed<T> x(r, a), u(r, Full<T>(m, k)), vh(r, Full<T>(k, n));
  std::vector<Real<T>> s(static_cast<std::size_t>(k));
  expect_ok(solver::svd<T>(host(), x.view(), VectorView<Real<T>>(host(), s.data(), k), u.view(), vh.view()).outcome);
  x.check_surroundings(), u.check_surroundings(), vh.check_surroundings();
  Full<T> left = u.full();
  orthonormal(left), orthonormal(adjoint(vh.full()));
  if (!std::is_sorted(s.rbegin(), s.rend()) || s.back() < 0)
    throw Finding{"the singular values do not descend to zero"};
  for (std::int64_t i = 0; i < m * k; ++i)
    left.x[static_cast<std::size_t>(i)] *= static_cast<long double>(s[static_cast<std::size_t>(i % k)]);
  expect<T>("||A - U S V||", minus(times(left, vh.full()), a).norm(),
            kAccepted * static_cast<long double>(std::max(m, n)) * kEps<T> * a.norm());
}

template <class T> void solve_case(Random& r, std::int64_t n, std::string& what) {
  const Full<T> a = matrix<T>(r, n, n, false, false, what), b = noise<T>(r, n, 1 + r.below(3));
  Placed<T> x(r, a), y(r, b);
  const auto report = solver::solve<T>(host(), x.view(), y.view(), {.measure = solver::ErrorMeasure::Backward});
  x.check_surroundings(), y.check_surroundings();
  if (report.outcome.status == Status::Singular) return;
  expect_ok(report.outcome);
  const Full<T> solution = y.full(), residual = minus(times(a, solution), b),
                size = times(absolute(a), absolute(solution));
  for (std::size_t i = 0; i < residual.x.size(); ++i) {  // the bound is a proof; long double rounds too
    const long double limit =
        (static_cast<long double>(report.accuracy.bound) + static_cast<long double>(n) * 0x1p-62L) *
        (std::abs(size.x[i]) + std::abs(b.x[i]));
    expect<T>("a row's backward error", std::abs(residual.x[i]), limit);
  }
}

template <class T> void run_type(Random& r, Current& current, std::int64_t most, const char* type) {
  const auto which = r.below(9);
  const std::int64_t m = r.size(most), n = r.size(most), small = 1 + r.below(36);
  constexpr const char* kOperations[] = {"potrf", "getrf",         "geqrf",         "eigh",        "svd",
                                         "solve", "potrf_batched", "getrf_batched", "eigh_batched"};
  current.operation = kOperations[which];
  const bool batched = which >= 6, square = which == 0 || which == 3 || which == 5;
  current.what = fmt::format("{} {} {} x {}", current.operation, type,
                             batched  ? small
                             : square ? n
                                      : m,
                             batched ? small : n);
  switch (which) {
    case 0:
      return cholesky_case<T>(r, n, current.what, false);
    case 1:
      return lu_case<T>(r, m, n, current.what, false);
    case 2:
      return qr_case<T>(r, m, n, current.what);
    case 3:
      return eigh_case<T>(r, n, current.what, false);
    case 4:
      return svd_case<T>(r, m, n, current.what);
    case 5:
      return solve_case<T>(r, n, current.what);
    case 6:
      return cholesky_case<T>(r, small, current.what, true);
    case 7:
      return lu_case<T>(r, small, 1 + r.below(36), current.what, true);
    default:
      return eigh_case<T>(r, small, current.what, true);
  }
}

struct Arguments {
  Span span;
  std::int64_t most = 60;
};

}  // namespace

void add_fuzz_solver(Command& parent) {
  Command sub = parent.add("solver", "trnsolver on the host");
  auto a = std::make_shared<Arguments>();
  add_span(sub, a->span);
  sub.number("--max-order", a->most, "of a matrix", 1, 2000);
  sub.run([a] {
    drive(a->span, fmt::format("trnsci fuzz solver --max-order {}", a->most),
          [&](std::uint64_t seed, Current& current) {
            Random r(seed);
            with_a_scalar(
                r, [&](auto scalar, const char* type) { run_type<decltype(scalar)>(r, current, a->most, type); });
          });
  });
}

}  // namespace trn::tools::fuzz

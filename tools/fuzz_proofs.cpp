// `trnsci fuzz proofs`: Certify::Rigorous of solve, eigh and svd on adversarial matrices, in four types. References are
// computed in 113-bit arithmetic; a result that is farther from them than was proved is a finding, and so is a
// well-conditioned system that is not solved. Condition numbers to 1e18, graded rows and columns, exactly singular
// matrices of whole numbers and their neighbours, clusters, numbers near the ends of the range.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <trn/core/executor.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/solve.hpp>
#include <trn/solver/svd.hpp>

#include "fuzz_driver.hpp"
#include "fuzz_random.hpp"

namespace trn::tools::fuzz {
namespace {

using solver::Certify, solver::Guarantee, solver::Real, solver::Status;
__extension__ using Quad = __float128;
constexpr Quad kQuadUnit = static_cast<Quad>(0x1p-112);

Quad size_of(Quad x) { return x < 0 ? -x : x; }
Quad root_of(Quad x) {  // finite
  if (!(x > 0)) return 0;
  int halvings = 0;
  for (; x > 4; x /= 4) ++halvings;
  for (; x < 1; x *= 4) --halvings;
  Quad y = std::sqrt(static_cast<long double>(x));
  for (int i = 0; i < 3; ++i) y = (y + x / y) / 2;
  for (; halvings > 0; --halvings) y *= 2;
  for (; halvings < 0; ++halvings) y /= 2;
  return y;
}

// tan of the angle whose double angle has the cotangent zeta; no square overflows.
Quad tangent(Quad zeta) {
  if (size_of(zeta) > static_cast<Quad>(0x1p60)) return 1 / (2 * zeta);  // to 2^-120
  return (zeta < 0 ? -1 : 1) / (size_of(zeta) + root_of(1 + zeta * zeta));
}

// Row-major.
struct Reference {
  std::int64_t m, n;
  std::vector<Quad> x;
  Reference(std::int64_t rows, std::int64_t columns)
      : m(rows), n(columns), x(static_cast<std::size_t>(rows * columns)) {}
  Quad& operator()(std::int64_t i, std::int64_t j) { return x[static_cast<std::size_t>(i * n + j)]; }
  const Quad& operator()(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i * n + j)]; }
};
// Complex matrices as real ones of twice the order: [[Re, -Im], [Im, Re]].
template <class T> Reference embedded(const std::vector<T>& a, std::int64_t m, std::int64_t n) {
  constexpr std::int64_t parts = blas::ComplexScalar<T> ? 2 : 1;
  Reference r(parts * m, parts * n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const T& v = a[static_cast<std::size_t>(i * n + j)];
      r(i, j) = std::real(v);
      if constexpr (parts == 2) r(m + i, n + j) = std::real(v), r(m + i, j) = std::imag(v), r(i, n + j) = -std::imag(v);
    }
  }
  return r;
}

// X with A X = B by elimination; false where a pivot is zero.
bool eliminate(Reference a, Reference& b) {
  for (std::int64_t k = 0; k < a.n; ++k) {
    std::int64_t p = k;
    for (std::int64_t i = k + 1; i < a.n; ++i) p = size_of(a(i, k)) > size_of(a(p, k)) ? i : p;
    if (a(p, k) == 0) return false;
    for (std::int64_t j = 0; j < a.n; ++j) std::swap(a(k, j), a(p, j));
    for (std::int64_t j = 0; j < b.n; ++j) std::swap(b(k, j), b(p, j));
    for (std::int64_t i = k + 1; i < a.n; ++i) {
      const Quad f = a(i, k) / a(k, k);
      for (std::int64_t j = k; j < a.n; ++j) a(i, j) -= f * a(k, j);
      for (std::int64_t j = 0; j < b.n; ++j) b(i, j) -= f * b(k, j);
    }
  }
  for (std::int64_t k = a.n - 1; k >= 0; --k) {
    for (std::int64_t j = 0; j < b.n; ++j) {
      for (std::int64_t i = k + 1; i < a.n; ++i) b(k, j) -= a(k, i) * b(i, j);
      b(k, j) /= a(k, k);
    }
  }
  return true;
}
// Rows made orthogonal to one another by Jacobi's rotations; the norms, descending.
std::vector<Quad> row_values(Reference a) {
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool turned = false;
    for (std::int64_t p = 0; p < a.m; ++p) {
      for (std::int64_t q = p + 1; q < a.m; ++q) {
        Quad alpha = 0, beta = 0, gamma = 0;
        for (std::int64_t k = 0; k < a.n; ++k)
          alpha += a(p, k) * a(p, k), beta += a(q, k) * a(q, k), gamma += a(p, k) * a(q, k);
        if (gamma * gamma <= kQuadUnit * kQuadUnit * 4096 * alpha * beta) continue;
        turned = true;
        const Quad t = tangent((beta - alpha) / (2 * gamma)), c = 1 / root_of(1 + t * t), s = t * c;
        for (std::int64_t k = 0; k < a.n; ++k) {
          const Quad x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y, a(q, k) = s * x + c * y;
        }
      }
    }
    if (!turned) break;
  }
  std::vector<Quad> s;
  for (std::int64_t i = 0; i < a.m; ++i) {
    Quad sum = 0;
    for (std::int64_t k = 0; k < a.n; ++k) sum += a(i, k) * a(i, k);
    s.push_back(root_of(sum));
  }
  std::sort(s.begin(), s.end(), std::greater<>());
  return s;
}
// Ascending eigenvalues of a symmetric matrix.
std::vector<Quad> symmetric_values(Reference a) {
  for (int sweep = 0; sweep < 60; ++sweep) {
    Quad off = 0, all = 0;
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) (i == j ? all : off) += a(i, j) * a(i, j);
    if (off <= all * kQuadUnit * kQuadUnit) break;
    for (std::int64_t p = 0; p < a.n; ++p) {
      for (std::int64_t q = p + 1; q < a.n; ++q) {
        if (a(p, q) == 0) continue;
        const Quad t = tangent((a(q, q) - a(p, p)) / (2 * a(p, q))), c = 1 / root_of(1 + t * t), s = t * c;
        for (std::int64_t k = 0; k < a.n; ++k) {
          const Quad x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y, a(k, q) = s * x + c * y;
        }
        for (std::int64_t k = 0; k < a.n; ++k) {
          const Quad x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y, a(q, k) = s * x + c * y;
        }
      }
    }
  }
  std::vector<Quad> w;
  for (std::int64_t i = 0; i < a.n; ++i) w.push_back(a(i, i));
  std::sort(w.begin(), w.end());
  return w;
}

template <class T> T number(Random& r) {
  if constexpr (blas::ComplexScalar<T>) {
    const auto re = static_cast<Real<T>>(r.uniform(-1, 1));
    return T(re, static_cast<Real<T>>(r.uniform(-1, 1)));
  } else {
    return static_cast<T>(r.uniform(-1, 1));
  }
}
template <class T> T scaled(const T& x, int exponent) {
  if constexpr (blas::ComplexScalar<T>) {
    return T(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
  } else {
    return std::ldexp(x, exponent);
  }
}

// A <- (I - 2 v v^T / v^T v) A for a real random v, in long double.
template <class V> void reflect(Random& r, std::vector<V>& a, std::int64_t m, std::int64_t n, bool columns) {
  const std::int64_t length = columns ? n : m;
  std::vector<long double> v(static_cast<std::size_t>(length));
  long double norm = 0;
  for (auto& x : v) x = r.uniform(-1, 1), norm += x * x;
  for (std::int64_t j = 0; j < (columns ? m : n); ++j) {
    const auto at = [&](std::int64_t i) -> V& { return a[static_cast<std::size_t>(columns ? j * n + i : i * n + j)]; };
    V sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum += v[static_cast<std::size_t>(i)] * at(i);
    for (std::int64_t i = 0; i < length; ++i) at(i) -= 2 * v[static_cast<std::size_t>(i)] / norm * sum;
  }
}

constexpr const char* kKinds[] = {"conditioned", "whole numbers", "graded", "clustered", "zeros", "scaled", "triangle"};

// Row-major m x n.
template <class T> std::vector<T> matrix(Random& r, std::int64_t m, std::int64_t n, std::int64_t kind) {
  constexpr bool single = sizeof(Real<T>) == 4;
  const std::int64_t k = std::min(m, n);
  std::vector<T> a(static_cast<std::size_t>(m * n));
  const auto at = [&](std::int64_t i, std::int64_t j) -> T& { return a[static_cast<std::size_t>(i * n + j)]; };
  for (T& x : a) x = number<T>(r);
  const int range = single ? 20 : 150;
  switch (kind) {
    case 0: {
      using V = std::conditional_t<blas::ComplexScalar<T>, std::complex<long double>, long double>;
      std::vector<V> d(a.size());
      const double digits = r.uniform(0, single ? 9 : 18);
      for (std::int64_t i = 0; i < k; ++i)
        d[static_cast<std::size_t>(i * n + i)] =
            std::pow(10.0L, -static_cast<long double>(digits) * static_cast<long double>(i) /
                                static_cast<long double>(std::max<std::int64_t>(k - 1, 1)));
      for (int turn = 0; turn < 3; ++turn) reflect(r, d, m, n, false), reflect(r, d, m, n, true);
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(d[i]);
      break;
    }
    case 1:
      for (T& x : a) x = T(static_cast<Real<T>>(r.below(19) - 9));
      for (std::int64_t j = 0; m > 1 && j < n; ++j) {  // the last row is the sum of the others, or next to it
        at(m - 1, j) = T(0);
        for (std::int64_t i = 0; i + 1 < m; ++i) at(m - 1, j) += at(i, j);
      }
      if (r.chance(2)) at(m - 1, n - 1) += T(static_cast<Real<T>>(r.pick({1.0, 0x1p-10, single ? 0x1p-16 : 0x1p-40})));
      break;
    case 2:
      for (std::int64_t i = 0; i < m; ++i) {
        const int row = static_cast<int>(r.below(2 * range)) - range;
        for (std::int64_t j = 0; j < n; ++j) at(i, j) = scaled(at(i, j), row);
      }
      for (std::int64_t j = 0; j < n; ++j) {
        const int column = static_cast<int>(r.below(2 * range)) - range;
        for (std::int64_t i = 0; i < m; ++i) at(i, j) = scaled(at(i, j), column);
      }
      break;
    case 3: {
      const int small = -static_cast<int>(r.below(single ? 24 : 53));
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) at(i, j) = T(i == j ? 1.0F : 0.0F) + scaled(at(i, j), small);
      break;
    }
    case 4:
      for (T& x : a) x = r.chance(2) ? T(0) : x;
      break;
    case 5: {
      const int most = single ? 120 : 1000, exponent = static_cast<int>(r.below(2 * most)) - most;
      for (T& x : a) x = scaled(x, exponent);
      break;
    }
    default:
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) at(i, j) = i == j ? T(1) : j > i ? T(-1) + scaled(at(i, j), -30) : T(0);
  }
  return a;
}
// The lower triangle's, Hermitian.
template <class T> void make_hermitian(std::vector<T>& a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    a[static_cast<std::size_t>(i * n + i)] = T(std::real(a[static_cast<std::size_t>(i * n + i)]));
    for (std::int64_t j = 0; j < i; ++j) {
      const T& x = a[static_cast<std::size_t>(i * n + j)];
      if constexpr (blas::ComplexScalar<T>) {
        a[static_cast<std::size_t>(j * n + i)] = std::conj(x);
      } else {
        a[static_cast<std::size_t>(j * n + i)] = x;
      }
    }
  }
}

template <class T> MatrixView<T> view(std::vector<T>& a, std::int64_t m, std::int64_t n) {
  return MatrixView<T>::row_major(Executor::host(), a.data(), m, n);
}
double decimal(Quad x) { return static_cast<double>(x); }
void within(const char* what, Quad error, Quad bound) {
  if (!(error <= bound))
    throw Finding{fmt::format("{}: off by {:.3e}, proved {:.3e}", what, decimal(error), decimal(bound))};
}
template <class T> Quad largest(const std::vector<T>& a) {
  Quad most = 0;
  for (const T& x : a) most = std::max({most, size_of(std::real(x)), size_of(std::imag(x))});
  return most;
}

template <class T> void solve_case(Random& r, std::int64_t n, std::int64_t kind) {
  std::vector<T> a = matrix<T>(r, n, n, kind), b(static_cast<std::size_t>(n));
  for (T& x : b) x = r.chance(6) ? T(0) : number<T>(r);
  std::vector<T> x = b;
  const auto report = solver::solve<T>(Executor::host(), view(a, n, n), view(x, n, 1), {.certify = Certify::Rigorous});
  // The solution, and W = A^-1 for its own error: Quad's unit times |W| |A| |x|, and room for the elimination's growth.
  const Reference ea = embedded(a, n, n), eb = embedded(b, n, 1);
  const std::int64_t order = ea.n;
  Reference exact(order, 1), inverse(order, order);
  for (std::int64_t i = 0; i < order; ++i) exact(i, 0) = eb(i, 0), inverse(i, i) = 1;
  const bool regular = eliminate(ea, exact) && eliminate(ea, inverse);
  if (!report.outcome.ok()) {
    // A condition number of at most 1e8 in the rows' own units is served, whatever the type.
    Quad condition = 0;
    for (std::int64_t i = 0; regular && i < order; ++i) {
      Quad sum = 0;
      for (std::int64_t k = 0; k < order; ++k) {
        Quad row = 0;
        for (std::int64_t j = 0; j < order; ++j) row += size_of(ea(k, j));
        sum += size_of(inverse(i, k)) * row;
      }
      condition = std::max(condition, sum);
    }
    if (regular && kind != 5 && kind != 2 && condition < 1e8)
      throw Finding{
          fmt::format("a condition number of {:.1e} is {}", decimal(condition), solver::name(report.outcome.status))};
    return;
  }
  if (report.guarantee != Guarantee::Rigorous) throw Finding{"an estimate where a proof was asked for"};
  if (!regular) throw Finding{"a singular matrix is Ok"};
  const Reference found = embedded(x, n, 1);
  Quad error = 0, size = 0, own = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto norm = [&](const Reference& v, const Reference* less) {
      Quad sum = 0;
      for (std::int64_t part = i; part < order; part += n) {
        const Quad y = v(part, 0) - (less ? (*less)(part, 0) : Quad(0));
        sum += y * y;
      }
      return root_of(sum);
    };
    error = std::max(error, norm(found, &exact)), size = std::max(size, norm(exact, nullptr));
  }
  for (std::int64_t i = 0; i < order; ++i) {
    Quad sum = 0;
    for (std::int64_t k = 0; k < order; ++k) {
      Quad row = size_of(eb(k, 0));
      for (std::int64_t j = 0; j < order; ++j) row += size_of(ea(k, j)) * size_of(exact(j, 0));
      sum += size_of(inverse(i, k)) * row;
    }
    own = std::max(own, sum);
  }
  const auto bound = static_cast<Quad>(report.accuracy.bound);
  within("a solution", error, bound * size + 1024 * static_cast<Quad>(order * order) * kQuadUnit * (own + size));
}

template <class T> void eigh_case(Random& r, std::int64_t n, std::int64_t kind) {
  std::vector<T> a = matrix<T>(r, n, n, kind);
  make_hermitian(a, n);
  std::vector<T> v = a;
  std::vector<Real<T>> w(static_cast<std::size_t>(n));
  const auto report =
      solver::eigh<T>(Executor::host(), view(v, n, n), VectorView<Real<T>>(Executor::host(), w.data(), n),
                      {.certify = Certify::Rigorous});
  if (!report.outcome.ok()) {
    if (kind != 5 && kind != 2) throw Finding{fmt::format("eigenvalues are {}", solver::name(report.outcome.status))};
    return;
  }
  const std::vector<Quad> exact = symmetric_values(embedded(a, n, n));
  const std::size_t step = exact.size() / w.size();  // embedded: every one twice
  for (std::size_t i = 0; i < w.size(); ++i)
    within("an eigenvalue", size_of(w[i] - exact[step * i]),
           static_cast<Quad>(report.error_bounds[i]) + 1024 * static_cast<Quad>(n) * kQuadUnit * largest(a));
}

template <class T> void svd_case(Random& r, std::int64_t m, std::int64_t n, std::int64_t kind) {
  std::vector<T> a = matrix<T>(r, m, n, kind);
  const std::int64_t k = std::min(m, n);
  std::vector<T> u(static_cast<std::size_t>(m * k)), vh(static_cast<std::size_t>(k * n));
  std::vector<Real<T>> s(static_cast<std::size_t>(k));
  const auto report =
      solver::svd<T>(Executor::host(), view(a, m, n), VectorView<Real<T>>(Executor::host(), s.data(), k), view(u, m, k),
                     view(vh, k, n), {.certify = Certify::Rigorous});
  if (!report.outcome.ok()) {
    if (kind != 5 && kind != 2) throw Finding{fmt::format("values are {}", solver::name(report.outcome.status))};
    return;
  }
  const std::vector<Quad> exact = row_values(embedded(a, m, n));
  const std::size_t step = blas::ComplexScalar<T> ? 2 : 1;
  for (std::size_t i = 0; i < s.size(); ++i)
    within("a singular value", size_of(s[i] - exact[step * i]),
           static_cast<Quad>(report.error_bounds[i]) + 1024 * static_cast<Quad>(m + n) * kQuadUnit * largest(a));
}

template <class T> void run_type(Random& r, Current& current, std::int64_t most, const char* type) {
  const std::int64_t which = r.below(4), kind = r.below(static_cast<std::int64_t>(std::size(kKinds)));
  const std::int64_t m = 1 + r.below(most), n = 1 + r.below(most);
  current.operation = which < 2 ? "solve" : which == 2 ? "eigh" : "svd";
  current.what = fmt::format("{} {} {} {} x {}", current.operation, type, kKinds[kind], which == 3 ? m : n, n);
  if (which < 2) return solve_case<T>(r, n, kind);
  if (which == 2) return eigh_case<T>(r, n, kind);
  svd_case<T>(r, m, n, kind);
}

}  // namespace

void add_fuzz_proofs(Command& parent) {
  Command sub = parent.add("proofs", "bounds that trnsolver proves, against 113-bit references");
  struct Arguments {
    Span span;
    std::int64_t most = 7;
  };
  auto a = std::make_shared<Arguments>();
  add_span(sub, a->span);
  sub.number("--max-order", a->most, "of a matrix", 1, 50);
  sub.run([a] {
    drive(a->span, fmt::format("trnsci fuzz proofs --max-order {}", a->most),
          [&](std::uint64_t seed, Current& current) {
            Random r(seed);
            with_a_scalar(
                r, [&](auto scalar, const char* type) { run_type<decltype(scalar)>(r, current, a->most, type); });
          });
  });
}

}  // namespace trn::tools::fuzz

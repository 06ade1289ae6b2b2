// A self-consistent field: bosons in a trap, by a generalised eigenproblem in each step.
//
// The lowest state phi of N bosons in the well x^2 / 2, with a repulsion g delta(x - y) between any two (Gross and
// Pitaevskii's equation, g times the number of bosons in place of g), makes
//
//   E = <T> + <V> + <U>,  T = -1/2 d^2/dx^2,  V = x^2 / 2,  <U> = g/2 integral of phi^4
//
// as small as it can be. phi = sum_i c_i chi_i with chi_i = exp(-a (x - i h)^2): the functions overlap, so that c is
// the lowest solution of F(c) c = S c mu with the matrix S of overlaps, F = T + V + g phi^2. F depends on the solution:
// solve, mix the new density into the old one, solve again. All integrals of Gaussians are closed formulas. The
// eigenproblems run on the executor: in double, on a device in float (--dtype).
//
// What is checked: without repulsion mu is 1/2, 3/2, 5/2, the levels of the well. With it the fixed point is one:
// mu = <T> + <V> + 2 <U>, the residual of F c = S c mu vanishes, and the virial theorem 2 <T> - 2 <V> + <U> = 0 holds
// (E is stationary against stretching phi). What a finite basis leaves of these is exp(-pi^2 / (a h^2)) = 4e-6 of T.
//
//   33_trapped_bosons [--exec NAME] [--dtype fp64] [--n 24] [--g 5]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"

namespace {

using Index = std::int64_t;
using Numbers = std::vector<double>;

constexpr double kSpacing = 0.6, kExponent = 0.8 / (kSpacing * kSpacing);

// Matrices of the basis, row-major, and of a density sum_kl d_kl chi_k chi_l.
class Basis {
 public:
  explicit Basis(Index n) : n_(n), s(square()), t(square()), v(square()) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const double d = static_cast<double>(i - j) * kSpacing, middle = (centre(i) + centre(j)) / 2;
        const double overlap = std::sqrt(std::numbers::pi / (2 * kExponent)) * product(i, j);
        s[at(i, j)] = overlap;
        t[at(i, j)] = kExponent / 2 * (1 - kExponent * d * d) * overlap;
        v[at(i, j)] = (middle * middle + 1 / (4 * kExponent)) / 2 * overlap;
      }
    }
  }

  // Integrals of chi_i chi_j phi^2: chi_i chi_j is a Gaussian in the middle of i and j, so the density is a sum over
  // i + j, and the integral of two such Gaussians depends on the distance of their middles.
  [[nodiscard]] Numbers field(const Numbers& density) const {
    Numbers weights(static_cast<std::size_t>(2 * n_ - 1)), made = square();
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j) weights[static_cast<std::size_t>(i + j)] += density[at(i, j)] * product(i, j);
    }
    Numbers at_middle(weights.size());
    for (std::size_t p = 0; p < weights.size(); ++p) {
      for (std::size_t q = 0; q < weights.size(); ++q) {
        const double d = (static_cast<double>(p) - static_cast<double>(q)) * kSpacing / 2;
        at_middle[p] += weights[q] * std::sqrt(std::numbers::pi / (4 * kExponent)) * std::exp(-kExponent * d * d);
      }
    }
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j) made[at(i, j)] = product(i, j) * at_middle[static_cast<std::size_t>(i + j)];
    }
    return made;
  }

 private:
  Index n_;

 public:
  Numbers s, t, v;

 private:
  [[nodiscard]] Numbers square() const { return Numbers(static_cast<std::size_t>(n_ * n_)); }
  [[nodiscard]] std::size_t at(Index i, Index j) const { return static_cast<std::size_t>(i * n_ + j); }
  [[nodiscard]] double centre(Index i) const {
    return (static_cast<double>(i) - 0.5 * static_cast<double>(n_ - 1)) * kSpacing;
  }
  [[nodiscard]] static double product(Index i, Index j) {
    const double d = static_cast<double>(i - j) * kSpacing;
    return std::exp(-kExponent * d * d / 2);
  }
};

double trace(const Numbers& a, const Numbers& b) {  // of A B, both symmetric
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

struct States {
  Numbers levels, lowest;  // all mu, and the c of the first, c^T S c = 1
};
template <class T> States solve(const trn::Executor& exec, Index n, const Numbers& f, const Numbers& s) {
  const std::vector<T> fs(f.begin(), f.end()), ss(s.begin(), s.end());
  const auto a = trn::Matrix<T>::from_host(exec, n, n, fs), b = trn::Matrix<T>::from_host(exec, n, n, ss);
  const trn::Array<T> w(exec, {n});
  const auto report = trn::solver::eigh_generalized<T>(exec, a.view(), b.view(), trn::VectorView<T>(w.view()));
  trn::require(report.outcome.ok(), "33_trapped_bosons: the eigenproblem came out as {}; take fewer functions",
               trn::solver::name(report.outcome.status));
  const std::vector<T> levels = w.to_host(), vectors = a.to_host();
  States found{{levels.begin(), levels.end()}, Numbers(static_cast<std::size_t>(n))};
  for (Index i = 0; i < n; ++i) found.lowest[static_cast<std::size_t>(i)] = vectors[static_cast<std::size_t>(i * n)];
  return found;
}
Numbers density_of(const Numbers& c) {
  Numbers d;
  for (const double x : c) {
    for (const double y : c) d.push_back(x * y);
  }
  return d;
}

// `unit` is the rounding unit of the eigenproblems.
template <class T> bool run(const trn::Executor& exec, Index n, double g) {
  const double unit = std::numeric_limits<T>::epsilon() / 2;
  const Basis basis(n);
  Numbers one_body(basis.t);
  for (std::size_t k = 0; k < one_body.size(); ++k) one_body[k] += basis.v[k];
  // Errors of the basis, and of the eigenproblem: S has a condition number of 240, F is at most (n h)^2 / 4.
  const double span = static_cast<double>(n) * kSpacing;
  const double allowed = 1e-4 + 240 * unit * static_cast<double>(n) * span * span / 4;

  const States free = solve<T>(exec, n, one_body, basis.s);
  bool right = true;
  std::printf("levels of the empty well:");
  for (int k = 0; k < 3; ++k) {
    std::printf(" %.7f", free.levels[static_cast<std::size_t>(k)]);
    right = right && std::abs(free.levels[static_cast<std::size_t>(k)] - (k + 0.5)) < allowed;
  }
  std::printf("\n");

  Numbers density = density_of(free.lowest), c = free.lowest;
  double mu = 0, change = 1;
  int steps = 0;
  for (; change > std::max(100 * unit, 1e-10) && steps < 200; ++steps) {
    Numbers f = basis.field(density);
    for (std::size_t k = 0; k < f.size(); ++k) f[k] = one_body[k] + g * f[k];
    const States states = solve<T>(exec, n, f, basis.s);
    mu = states.levels[0], c = states.lowest;
    const Numbers next = density_of(c);
    change = 0;
    for (std::size_t k = 0; k < next.size(); ++k) {
      change = std::max(change, std::abs(next[k] - density[k]));
      density[k] = 0.7 * density[k] + 0.3 * next[k];
    }
  }
  density = density_of(c);
  const Numbers u = basis.field(density);
  const double kinetic = trace(density, basis.t), trap = trace(density, basis.v), repulsion = g / 2 * trace(density, u);
  double residual = 0;
  for (Index i = 0; i < n; ++i) {
    double row = 0;
    for (Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(i * n + j);
      row += (one_body[k] + g * u[k] - mu * basis.s[k]) * c[static_cast<std::size_t>(j)];
    }
    residual = std::max(residual, std::abs(row));
  }
  const double virial = 2 * kinetic - 2 * trap + repulsion;
  std::printf("g = %g, %d steps: mu %.7f, energy %.7f = %.5f + %.5f + %.5f\n", g, steps, mu, kinetic + trap + repulsion,
              kinetic, trap, repulsion);
  std::printf("  mu less <T> + <V> + 2 <U> %.1e, residual %.1e, virial %.1e\n", mu - kinetic - trap - 2 * repulsion,
              residual, virial);
  return right && steps < 200 && std::abs(mu - kinetic - trap - 2 * repulsion) < allowed && residual < allowed &&
         std::abs(virial) < 2 * allowed;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] {
    const example::Arguments arguments(argc, argv,
                                       {{"--exec", "host"}, {"--dtype", "fp64"}, {"--n", "24"}, {"--g", "5"}});
    const auto exec = trn::Executor::open(arguments.text("--exec"));
    const std::string& dtype = arguments.text("--dtype");
    trn::require(dtype == "fp64" || dtype == "fp32", "33_trapped_bosons: --dtype {}; give fp64 or fp32", dtype);
    const Index n = arguments.whole("--n", 16, 60);
    const trn::Recorder recorder(exec);
    bool right =
        dtype == "fp64" ? run<double>(exec, n, arguments.number("--g")) : run<float>(exec, n, arguments.number("--g"));
    right = right && recorder.family_of("solver.eigh_generalized") == trn::name(exec.family());
    std::printf("%s\n", right ? "right" : "WRONG");
    return right ? 0 : 1;
  });
}

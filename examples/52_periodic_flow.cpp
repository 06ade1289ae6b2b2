// Incompressible flow in a periodic box: the Taylor-Green vortex breaks into small eddies, and its energy spectrum is
// drawn. The method is that of periodic_flow.hpp, with all transforms on the executor: `--exec host` computes in
// double, `--exec sim:trn2` in float, and in double with `--precision exact`.
//
// What is checked:
//   - the nonlinear term of a random field against the sum over all triads p + q = k of
//       -P_k i (q.u_p) u_q,
//     in long double: the dealiased product on the grid is that sum
//   - an ABC flow, u = (sin z + cos y, sin x + cos z, sin y + cos x): curl u = u, so that it is only damped, every mode
//     by e^{-nu t}
//   - the energy of the Taylor-Green vortex at early times against the series of its enstrophy Z (see
//     23_taylor_green.cpp), dE/dt = -2 nu Z term by term
//   - dE/dt = -2 nu Z over every step by Simpson's rule; div u = 0; energy on the grid and energy of all shells equal
//     to the energy of the modes
//
//   52_periodic_flow [--exec NAME] [--precision MODE] [--n 24] [--re 100] [--steps 8] [--dt 0.05] [--figure FILE.svg]
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"
#include "figure.hpp"
#include "periodic_flow.hpp"

namespace {

using Wide = std::complex<long double>;
using Vector = std::array<Wide, 3>;

// What a check found beside what it allows; a NaN is not allowed.
bool within(const char* what, double found, double limit) {
  std::printf("  %-52s %.1e (limit %.1e)\n", what, found, limit);
  return found <= limit;
}

// Largest difference between flow.rate() and the sum over triads, relative to the largest rate; |k_d| <= most.
template <class T> double triads_off(example::Flow<T>& flow, std::int64_t n, int most) {
  const int side = 2 * most + 1;
  const long double points = static_cast<long double>(n) * static_cast<long double>(n) * static_cast<long double>(n);
  const auto at = [&](int x, int y, int z) {
    return static_cast<std::size_t>(((x + most) * side + y + most) * side + z + most);
  };
  const auto rate = flow.rate();
  std::vector<Vector> u(static_cast<std::size_t>(side * side * side)), made(u.size());
  flow.each_mode([&](std::size_t mode, const double(&k)[3], double) {
    const int x = static_cast<int>(k[0]), y = static_cast<int>(k[1]), z = static_cast<int>(k[2]);
    if (std::abs(x) > most || std::abs(y) > most || z > most) return;
    for (int c = 0; c < 3; ++c) {
      const Wide velocity = Wide(flow.modes(c)[mode]) / points, change = Wide(rate[c][mode]) / points;
      const auto i = static_cast<std::size_t>(c);
      u[at(x, y, z)][i] = velocity, made[at(x, y, z)][i] = change;
      if (z > 0) u[at(-x, -y, -z)][i] = std::conj(velocity), made[at(-x, -y, -z)][i] = std::conj(change);
    }
  });
  long double worst = 0, size = 0;
  const auto each = [&](const auto& f) {
    for (int x = -most; x <= most; ++x)
      for (int y = -most; y <= most; ++y)
        for (int z = -most; z <= most; ++z) f(std::array<int, 3>{x, y, z});
  };
  each([&](const std::array<int, 3>& k) {
    Vector sum{};
    each([&](const std::array<int, 3>& p) {
      std::array<int, 3> q;
      for (std::size_t d = 0; d < 3; ++d) q[d] = k[d] - p[d];
      if (std::abs(q[0]) > most || std::abs(q[1]) > most || std::abs(q[2]) > most) return;
      const Vector &up = u[at(p[0], p[1], p[2])], &uq = u[at(q[0], q[1], q[2])];
      Wide along = 0;
      for (std::size_t d = 0; d < 3; ++d) along += static_cast<long double>(q[d]) * up[d];
      for (std::size_t d = 0; d < 3; ++d) sum[d] -= Wide(0, 1) * along * uq[d];
    });
    const long double kk = static_cast<long double>(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    Wide along = 0;
    for (std::size_t d = 0; d < 3; ++d) along += static_cast<long double>(k[d]) * sum[d];
    for (std::size_t d = 0; d < 3; ++d) {
      const Wide wanted = kk > 0 ? sum[d] - static_cast<long double>(k[d]) * along / kk : sum[d];
      worst = std::max(worst, std::abs(wanted - made[at(k[0], k[1], k[2])][d]));
      size = std::max(size, std::abs(wanted));
    }
  });
  return static_cast<double>(worst / size);
}

template <class T> bool check_triads(const trn::Executor& exec, trn::Precision precision, double u) {
  constexpr std::int64_t kN = 12;  // wave numbers up to 3 stay
  example::Flow<T> flow(exec, precision, kN, 1);
  trn::rand::Generator generator({.seed = 5});
  const trn::Array<float> noise(exec, {kN * kN * kN * 3});
  trn::rand::normal(exec, generator, noise.view());
  const auto values = noise.to_host();
  std::size_t next = 0;
  flow.set([&](double, double, double) {
    std::array<double, 3> v;
    for (double& x : v) x = static_cast<double>(values[next++]);
    return v;
  });
  // Each rate is three transforms deep, of 12^3 points.
  return within("rate of a random field against the sum over triads", triads_off(flow, kN, 3), 40 * u);
}

template <class T> bool check_beltrami(const trn::Executor& exec, trn::Precision precision, double u) {
  constexpr double kNu = 0.1, kStep = 0.25;
  constexpr int kSteps = 2;
  example::Flow<T> flow(exec, precision, 12, kNu);
  flow.set([](double x, double y, double z) {
    return std::array<double, 3>{std::sin(z) + std::cos(y), std::sin(x) + std::cos(z), std::sin(y) + std::cos(x)};
  });
  const double size = 12.0 * 12 * 12 / 2;  // of a mode of sin or cos
  std::vector<std::complex<T>> before[3];
  for (int c = 0; c < 3; ++c) before[c] = flow.modes(c);
  for (int i = 0; i < kSteps; ++i) flow.step(kStep);
  double worst = 0;
  for (int c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < before[c].size(); ++i) {
      const std::complex<double> wanted = std::exp(-kNu * kStep * kSteps) * std::complex<double>(before[c][i]);
      worst = std::max(worst, std::abs(std::complex<double>(flow.modes(c)[i]) - wanted) / size);
    }
  }
  return within("ABC flow: modes against exp(-nu t)", worst, 40 * u);
}

// E(t)/E(0) of the Taylor-Green vortex up to t^5: Z(0) = 3 E(0), dE/dt = -2 nu Z.
double energy_series(double t, double nu) {
  const double n2 = nu * nu;
  return 1 - 6 * nu * t *
                 (1 - 3 * nu * t + (5.0 / 48 + 18 * n2) * t * t / 3 - (5.0 / 3 + 36 * n2) * nu * t * t * t / 4 +
                  (25.0 / 3168 + 1835.0 / 144 * n2 + 54 * n2 * n2) * t * t * t * t / 5);
}

struct Settings {
  std::int64_t n, steps;
  double re, dt;
  std::string figure;
};

template <class T> bool run(const trn::Executor& exec, trn::Precision precision, const Settings& s) {
  const trn::Recorder recorder(exec);
  const double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53, nu = 1 / s.re;
  std::printf("incompressible flow, %lld^3 points, Re %g, on %s in %s\n", static_cast<long long>(s.n), s.re,
              exec.name().c_str(), std::is_same_v<T, float> ? "float" : "double");
  bool right = check_triads<T>(exec, precision, u);
  right = check_beltrami<T>(exec, precision, u) && right;

  example::Flow<T> flow(exec, precision, s.n, nu);
  flow.set([](double x, double y, double z) {
    return std::array<double, 3>{std::sin(x) * std::cos(y) * std::cos(z), -std::cos(x) * std::sin(y) * std::cos(z), 0};
  });
  const double e0 = flow.energy();
  double e = e0, z = flow.enstrophy(), largest = z, off_balance = 0, off_series = 0;
  std::vector<example::Series> lines;
  std::printf("      t       energy  dissipation  k_max eta\n");
  for (std::int64_t i = 1; i <= s.steps; ++i) {
    flow.step(s.dt / 2);
    const double middle = flow.enstrophy();
    flow.step(s.dt / 2);
    const double e1 = flow.energy(), z1 = flow.enstrophy(), t = s.dt * static_cast<double>(i);
    const double balance = std::abs(e1 - e + 2 * nu * s.dt / 6 * (z + 4 * middle + z1));
    if (!(balance <= off_balance)) off_balance = balance;  // a NaN counts
    // The series ends with t^4 of Z; the next terms of Z/Z(0) are below 8 nu t^5 and 2e-3 t^6.
    const double rest = 6 * nu * (8 * nu * std::pow(t, 6) / 6 + 2e-3 * std::pow(t, 7) / 7);
    if (t <= 0.4) off_series = std::max(off_series, std::abs(e1 / e0 - energy_series(t, nu)) - rest);
    e = e1, z = z1, largest = std::max(largest, z1);
    if (i % std::max<std::int64_t>(s.steps / 4, 1) != 0) continue;
    // Kolmogorov's length (nu^3/epsilon)^(1/4) times the largest wave number that is kept.
    const double eta_kmax = std::pow(nu * nu * nu / (2 * nu * z), 0.25) * static_cast<double>(s.n) / 3;
    std::printf("  %5.2f  %.9f  %.9f  %.2f\n", t, e, 2 * nu * z, eta_kmax);
    example::Series line{"t = " + std::to_string(t).substr(0, 4), {}, {}};
    const auto shells = flow.spectrum();
    for (std::size_t k = 1; 3 * k < static_cast<std::size_t>(s.n); ++k) {
      if (shells[k] < 1e-12 * e) continue;  // symmetry leaves the first shell empty
      line.x.push_back(static_cast<double>(k)), line.y.push_back(shells[k]);
    }
    lines.push_back(line);
  }
  double shells = 0;
  for (const double shell : flow.spectrum()) shells += shell;
  // Simpson's rule errs by dt^5/2880 times the fourth derivative of 2 nu Z, which is below 10 nu up to t = 1; later it
  // grows with the flow's own times, as (Z/Z(0))^2 at most.
  const double growth = std::pow(8 * largest / 3, 2);
  right =
      within("energy balance of a step", off_balance, 10 * nu * growth * std::pow(s.dt, 5) / 2880 + 40 * u) && right;
  right = within("energy against the series, beyond its own error", off_series, 20 * u) && right;
  right = within("divergence", flow.divergence(), 40 * u) && right;
  right = within("energy on the grid against modes", std::abs(flow.grid_energy() - e) / e, 20 * u) && right;
  right = within("energy of the shells against modes", std::abs(shells - e) / e, 1e-13) && right;
  for (const char* operation : {"fft.r2c", "fft.c2r", "rand.normal"})
    right = right && recorder.family_of(operation) == trn::name(exec.family());
  if (exec.family() == trn::Family::Device)
    std::printf("modelled time of draws and transforms: %.2f ms\n", recorder.modelled_seconds() * 1e3);
  if (!s.figure.empty()) {
    example::Series slope{"k^(-5/3)", {}, {}, {}, true};
    for (const double k : {2.0, static_cast<double>(s.n) / 6})
      slope.x.push_back(k), slope.y.push_back(lines.back().y[0] * 3 * std::pow(k / 2, -5.0 / 3));
    lines.push_back(slope);
    example::draw(s.figure, "Energy spectrum of the Taylor-Green vortex", {"wave number", example::Scale::Log2},
                  {"energy of the shell", example::Scale::Log10}, lines);
  }
  std::printf("%s\n", right ? "right" : "WRONG");
  return right;
}

int program(int argc, char** argv) {
  const example::Arguments arguments(argc, argv,
                                     {{"--exec", "host"},
                                      {"--precision", "native"},
                                      {"--n", "24"},
                                      {"--re", "100"},
                                      {"--steps", "8"},
                                      {"--dt", "0.05"},
                                      {"--figure", ""}});
  const auto exec = trn::Executor::open(arguments.text("--exec"));
  const auto precision = trn::Precision::parse(arguments.text("--precision"));
  const Settings s{arguments.whole("--n", 8, 512), arguments.whole("--steps", 1, 100000), arguments.number("--re"),
                   arguments.number("--dt"), arguments.text("--figure")};
  const bool wide = exec.family() == trn::Family::Host || precision.mode() == trn::Mode::Exact;
  return (wide ? run<double>(exec, precision, s) : run<float>(exec, precision, s)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] { return program(argc, argv); });
}

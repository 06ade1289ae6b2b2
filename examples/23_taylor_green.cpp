// The Taylor-Green vortex: incompressible Navier-Stokes equations in a periodic box of side 2 pi, by a pseudo-spectral
// method.
//
//   u_t = P(u x w) + nu Laplace(u),  w = curl u,  div u = 0,  u(0) = (sin x cos y cos z, -cos x sin y cos z, 0),  nu =
//     1/Re
//
// The method is that of periodic_flow.hpp. `--exec host` computes in double, `--exec sim:trn2` in float; in double with
// `--precision exact`.
//
// What is checked:
//   - energy E and enstrophy Z (means of u^2/2 and w^2/2) obey dE/dt = -2 nu Z, integrated over every step by Simpson's
//     rule with the
//     step's end points and middle
//   - Z(t)/Z(0) against the series of G. I. Taylor and A. E. Green (1937),
//       1 - 6 nu t + (5/48 + 18 nu^2) t^2 - (5/3 + 36 nu^2) nu t^3 + (25/3168 + 1835/144 nu^2 + 54 nu^4) t^4 + O(t^5),
//     whose coefficients follow from the equations exactly (a Taylor series in t of every Fourier coefficient, in
//       rational numbers)
//   - div u = 0 up to roundings.
//
//   23_taylor_green [--exec NAME] [--precision exact] [--n 32] [--re 100] [--steps 4] [--dt 0.05]
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include <trn/trn.hpp>

#include "periodic_flow.hpp"

namespace {

struct Settings {
  std::string exec = "host", precision = "native";
  std::int64_t n = 32, steps = 4;
  double re = 100, dt = 0.05;
};

// Z(t)/Z(0) up to t^4, and the size of the term after: its coefficients are of order nu and nu^3, nu^5 (at most 6^5/120
// = 64.8 for the last).
double series(double t, double nu) {
  const double n2 = nu * nu;
  return 1 - 6 * nu * t + (5.0 / 48 + 18 * n2) * t * t - (5.0 / 3 + 36 * n2) * nu * t * t * t +
         (25.0 / 3168 + 1835.0 / 144 * n2 + 54 * n2 * n2) * t * t * t * t;
}

template <class T> bool run(const Settings& s) {
  const auto exec = trn::Executor::open(s.exec);
  trn::Recorder recorder(exec);
  const double nu = 1 / s.re, u = std::is_same_v<T, float> ? 6e-8 : 1.1e-16;
  example::Flow<T> flow(exec, trn::Precision::parse(s.precision), s.n, nu);
  flow.set([](double x, double y, double z) {
    return std::array<double, 3>{std::sin(x) * std::cos(y) * std::cos(z), -std::cos(x) * std::sin(y) * std::cos(z), 0};
  });
  std::printf("Taylor-Green vortex, %lld^3 points, Re %g, on %s\n", static_cast<long long>(s.n), s.re,
              exec.name().c_str());
  const double z0 = flow.enstrophy();
  bool right = std::abs(flow.energy() - 0.125) < 100 * u && std::abs(z0 - 0.375) < 100 * u;
  double e = flow.energy(), z = z0, worst_balance = 0, worst_series = 0;
  std::printf("      t        energy     enstrophy  Z/Z0: series\n");
  for (std::int64_t i = 0; i < s.steps; ++i) {
    flow.step(s.dt / 2);
    const double middle = flow.enstrophy();
    flow.step(s.dt / 2);
    const double e1 = flow.energy(), z1 = flow.enstrophy(), t = s.dt * static_cast<double>(i + 1);
    const double balance = std::abs(e1 - e + 2 * nu * s.dt / 6 * (z + 4 * middle + z1));
    if (!(balance <= worst_balance)) worst_balance = balance;  // a NaN counts
    // The next terms of the series: about nu t^5 (5, from the pattern of the ones before) and 6e-4 t^6 without
    // friction.
    if (t <= 0.4)
      worst_series =
          std::max(worst_series, std::abs(z1 / z0 - series(t, nu)) - 8 * nu * std::pow(t, 5) - 2e-3 * std::pow(t, 6));
    e = e1;
    z = z1;
    if ((i + 1) % std::max<std::int64_t>(s.steps / 5, 1) == 0)
      std::printf("  %5.2f  %.9f  %.9f  %.7f  %.7f\n", t, e, z, z / z0, series(t, nu));
  }
  // Simpson's rule errs by dt^5/2880 times the fourth derivative of 2 nu Z, which is below 10 nu here; transforms add
  // roundings of size u per step.
  const double balance_limit = 10 * nu * std::pow(s.dt, 5) / 2880 + 40 * u;
  std::printf(
      "energy balance per step: off by %.1e (limit %.1e); series: off by %.1e beyond its own error; divergence %.1e\n",
      worst_balance, balance_limit, std::max(worst_series, 0.0), flow.divergence());
  right = right && worst_balance <= balance_limit && worst_series <= 200 * u && flow.divergence() <= 40 * u;
  right = right && recorder.family_of("fft.r2c") == trn::name(exec.family()) &&
          recorder.family_of("fft.c2r") == trn::name(exec.family());
  if (recorder.modelled_seconds() > 0)
    std::printf("modelled time of all transforms: %.2f ms\n", recorder.modelled_seconds() * 1e3);
  std::printf("%s\n", right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--exec")
      s.exec = value;
    else if (key == "--precision")
      s.precision = value;
    else if (key == "--n")
      s.n = std::atoll(value.c_str());
    else if (key == "--re")
      s.re = std::atof(value.c_str());
    else if (key == "--steps")
      s.steps = std::atoll(value.c_str());
    else if (key == "--dt")
      s.dt = std::atof(value.c_str());
    else {
      std::fprintf(stderr, "23_taylor_green: unknown option %s; use --exec, --precision, --n, --re, --steps, --dt\n",
                   key.c_str());
      return 2;
    }
  }
  if (s.steps < 1) {
    std::fprintf(stderr, "23_taylor_green: --steps %lld; give at least 1\n", static_cast<long long>(s.steps));
    return 2;
  }
  return (s.exec == "host" || s.precision == "exact" ? run<double>(s) : run<float>(s)) ? 0 : 1;
}

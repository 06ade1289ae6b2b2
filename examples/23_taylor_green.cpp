// The Taylor-Green vortex: incompressible Navier-Stokes equations in a periodic box of side 2 pi, by a pseudo-spectral
// method.
//
//   u_t = P(u x w) + nu Laplace(u),  w = curl u,  div u = 0,  u(0) = (sin x cos y cos z, -cos x sin y cos z, 0),  nu =
//     1/Re
//
// P projects on divergence-free fields: in Fourier space v - k (k.v)/k^2. The product u x w (rotational form) is made
// on the grid, with the upper third of all wave numbers cut (2/3 rule), so that no aliases enter. Time: the classical
// Runge-Kutta method of order 4 on exp(nu k^2 t) u, which integrates friction exactly. Nine transforms of N^3 points
// per stage run on the executor: `--exec host` (double) or `--exec sim:trn2` (float; double with `--precision exact`);
// everything pointwise is made here.
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

namespace {

struct Settings {
  std::string exec = "host", precision = "native";
  std::int64_t n = 32, steps = 4;
  double re = 100, dt = 0.05;
};

template <class T> class Flow {
 public:
  using C = std::complex<T>;
  using Spectrum = std::vector<C>;
  using Field = std::vector<T>;

  Flow(const trn::Executor& exec, trn::Precision precision, std::int64_t n, double nu)
      : exec_(exec),
        n_(n),
        half_(n / 2 + 1),
        nu_(nu),
        forward_(exec, box(trn::fft::Kind::RealToComplex, trn::fft::Direction::Forward, precision)),
        inverse_(exec, box(trn::fft::Kind::ComplexToReal, trn::fft::Direction::Inverse, precision)),
        workspace_(exec, std::max(forward_.workspace_bytes(), inverse_.workspace_bytes())),
        grid_(exec, {n, n, n}),
        modes_(exec, {n, n, half_}) {
    Field u[3];
    for (auto& f : u) f.assign(static_cast<std::size_t>(n * n * n), T(0));
    const auto x = [&](std::int64_t i) {
      return 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    };
    for (std::int64_t i = 0, at = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t k = 0; k < n; ++k, ++at) {
          u[0][static_cast<std::size_t>(at)] = static_cast<T>(std::sin(x(i)) * std::cos(x(j)) * std::cos(x(k)));
          u[1][static_cast<std::size_t>(at)] = static_cast<T>(-std::cos(x(i)) * std::sin(x(j)) * std::cos(x(k)));
        }
      }
    }
    for (int c = 0; c < 3; ++c) u_[c] = to_modes(u[c]);
  }

  // f(mode index, wave vector, weight): modes with 0 < k_z < N/2 stand for two.
  template <class F> void each_mode(const F& f) const {
    for (std::int64_t i = 0, at = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        for (std::int64_t k = 0; k < half_; ++k, ++at) {
          const double w[3] = {wave(i), wave(j), static_cast<double>(k)};
          f(static_cast<std::size_t>(at), w, k == 0 || 2 * k == n_ ? 1.0 : 2.0);
        }
      }
    }
  }

  [[nodiscard]] double energy() const {
    return sum([](double) { return 0.5; });
  }
  [[nodiscard]] double enstrophy() const {
    return sum([](double kk) { return 0.5 * kk; });
  }
  // Largest |k.u| over the largest |k||u|.
  [[nodiscard]] double divergence() const {
    double worst = 0, size = 0;
    each_mode([&](std::size_t at, const double(&k)[3], double) {
      std::complex<double> d = 0;
      double u2 = 0;
      for (int c = 0; c < 3; ++c)
        d += k[c] * std::complex<double>(u_[c][at]), u2 += std::norm(std::complex<double>(u_[c][at]));
      worst = std::max(worst, std::abs(d));
      size = std::max(size, std::sqrt(u2 * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2])));
    });
    return worst / size;
  }

  void step(double dt) {
    // v = exp(nu k^2 (t - t_n)) u obeys v_t = exp(nu k^2 (t - t_n)) N(u); e: decay over half a step.
    const auto k1 = rate(u_);
    Spectrum mid[3], last[3], sum[3];
    for (int c = 0; c < 3; ++c) mid[c] = last[c] = sum[c] = u_[c];
    decayed(dt / 2, [&](std::size_t at, T e) {
      for (int c = 0; c < 3; ++c) mid[c][at] = e * (u_[c][at] + static_cast<T>(dt / 2) * k1[c][at]);
    });
    const auto k2 = rate(mid);
    decayed(dt / 2, [&](std::size_t at, T e) {
      for (int c = 0; c < 3; ++c) mid[c][at] = e * u_[c][at] + static_cast<T>(dt / 2) * k2[c][at];
    });
    const auto k3 = rate(mid);
    decayed(dt / 2, [&](std::size_t at, T e) {
      for (int c = 0; c < 3; ++c) last[c][at] = e * (e * u_[c][at] + static_cast<T>(dt) * k3[c][at]);
    });
    const auto k4 = rate(last);
    decayed(dt / 2, [&](std::size_t at, T e) {
      for (int c = 0; c < 3; ++c) {
        u_[c][at] = e * (e * (u_[c][at] + static_cast<T>(dt / 6) * k1[c][at]) +
                         static_cast<T>(dt / 3) * (k2[c][at] + k3[c][at])) +
                    static_cast<T>(dt / 6) * k4[c][at];
      }
    });
  }

 private:
  [[nodiscard]] trn::fft::Description box(trn::fft::Kind kind, trn::fft::Direction direction,
                                          trn::Precision precision) const {
    trn::fft::Description d = trn::fft::dense(kind, direction, {n_, n_, n_});
    d.precision = precision;
    return d;
  }
  [[nodiscard]] double wave(std::int64_t i) const { return static_cast<double>(2 * i < n_ ? i : i - n_); }
  template <class F> void decayed(double dt, const F& f) const {
    each_mode([&](std::size_t at, const double(&k)[3], double) {
      f(at, static_cast<T>(std::exp(-nu_ * dt * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]))));
    });
  }
  template <class F> [[nodiscard]] double sum(const F& weight) const {
    double total = 0;
    const double points = std::pow(static_cast<double>(n_), 3);
    each_mode([&](std::size_t at, const double(&k)[3], double twice) {
      for (int c = 0; c < 3; ++c)
        total += weight(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) * twice * std::norm(std::complex<double>(u_[c][at]));
    });
    return total / (points * points);
  }

  [[nodiscard]] Spectrum to_modes(const Field& f) {
    trn::copy(trn::View<const T>(trn::Executor::host(), f.data(), grid_.shape()), grid_.view());
    forward_.execute(trn::View<const T>(grid_.view()), modes_.view(), workspace_);
    return modes_.to_host();
  }
  [[nodiscard]] Field to_grid(const Spectrum& s) {
    trn::copy(trn::View<const C>(trn::Executor::host(), s.data(), modes_.shape()), modes_.view());
    inverse_.execute(trn::View<const C>(modes_.view()), grid_.view(), workspace_);
    Field f = grid_.to_host();
    const T points = static_cast<T>(n_ * n_ * n_);
    for (T& v : f) v /= points;
    return f;
  }

  // N(u) = P(u x curl u), the upper third of the wave numbers cut.
  struct Three {
    Spectrum c[3];
    const Spectrum& operator[](int i) const { return c[i]; }
  };
  [[nodiscard]] Three rate(const Spectrum (&u)[3]) {
    Spectrum curl[3] = {u[0], u[0], u[0]};
    each_mode([&](std::size_t at, const double(&k)[3], double) {
      for (int c = 0; c < 3; ++c) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        const C d = static_cast<T>(k[a]) * u[b][at] - static_cast<T>(k[b]) * u[a][at];
        curl[c][at] = C(-d.imag(), d.real());  // i (k x u)
      }
    });
    Field v[3], w[3], product(static_cast<std::size_t>(n_ * n_ * n_));
    for (int c = 0; c < 3; ++c) v[c] = to_grid(u[c]), w[c] = to_grid(curl[c]);
    Three out;
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      for (std::size_t i = 0; i < product.size(); ++i) product[i] = v[a][i] * w[b][i] - v[b][i] * w[a][i];
      out.c[c] = to_modes(product);
    }
    each_mode([&](std::size_t at, const double(&k)[3], double) {
      const double kk = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], limit = static_cast<double>(n_) / 3;
      const bool cut = std::abs(k[0]) >= limit || std::abs(k[1]) >= limit || std::abs(k[2]) >= limit;
      C along = 0;
      for (int c = 0; c < 3; ++c) along += static_cast<T>(k[c]) * out.c[c][at];
      for (int c = 0; c < 3; ++c) {
        if (cut)
          out.c[c][at] = 0;
        else if (kk > 0)
          out.c[c][at] -= static_cast<T>(k[c] / kk) * along;
      }
    });
    return out;
  }

  trn::Executor exec_;
  std::int64_t n_, half_;
  double nu_;
  trn::fft::Plan<T> forward_, inverse_;
  trn::Buffer workspace_;
  trn::Array<T> grid_;
  trn::Array<C> modes_;
  Spectrum u_[3];
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
  Flow<T> flow(exec, trn::Precision::parse(s.precision), s.n, nu);
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

// Incompressible flow in a periodic box of side 2 pi by a pseudo-spectral method, shared by the examples of it.
//
//   u_t = P(u x w) + nu Laplace(u),  w = curl u,  div u = 0
//
// P projects on divergence-free fields: in Fourier space v - k (k.v)/k^2. The product u x w (rotational form) is made
// on the grid, with the upper third of all wave numbers cut (2/3 rule), so that no aliases enter: the result is the sum
// over triads of wave vectors, up to roundings. Time: the classical Runge-Kutta method of order 4 on exp(nu k^2 t) u,
// which integrates friction exactly. Nine transforms of N^3 points per stage run on the executor; everything pointwise
// is made here.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <trn/trn.hpp>

namespace example {

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
    for (auto& u : u_) u.assign(static_cast<std::size_t>(n * n * half_), C(0));
  }

  // u = the divergence-free part of velocity(x, y, z), three components, its upper third of wave numbers cut.
  template <class F> void set(const F& velocity) {
    Field u[3];
    for (auto& f : u) f.reserve(static_cast<std::size_t>(n_ * n_ * n_));
    const double h = 2 * std::numbers::pi / static_cast<double>(n_);
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        for (std::int64_t k = 0; k < n_; ++k) {
          const std::array<double, 3> v =
              velocity(h * static_cast<double>(i), h * static_cast<double>(j), h * static_cast<double>(k));
          for (std::size_t c = 0; c < 3; ++c) u[c].push_back(static_cast<T>(v[c]));
        }
      }
    }
    for (int c = 0; c < 3; ++c) u_[c] = to_modes(u[c]);
    project(u_);
  }
  // Every mode times factor(|k|).
  template <class F> void scale(const F& factor) {
    each_mode([&](std::size_t at, const double(&k)[3], double) {
      const auto f = static_cast<T>(factor(std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2])));
      for (int c = 0; c < 3; ++c) u_[c][at] *= f;
    });
  }
  // Component c of u in Fourier space, N^3 times the coefficient: (N, N, N/2 + 1) modes.
  [[nodiscard]] const Spectrum& modes(int c) const { return u_[c]; }
  // N(u) of the velocity at hand, the same.
  struct Three {
    Spectrum c[3];
    const Spectrum& operator[](int i) const { return c[i]; }
  };
  [[nodiscard]] Three rate() { return rate(u_); }

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
  // Energy of the shells s - 1/2 <= |k| < s + 1/2, s = 0, 1, ...; they add up to energy().
  [[nodiscard]] std::vector<double> spectrum() const {
    std::vector<double> shells(static_cast<std::size_t>(n_), 0);
    const double points = std::pow(static_cast<double>(n_), 3);
    each_mode([&](std::size_t at, const double(&k)[3], double twice) {
      const auto shell = static_cast<std::size_t>(std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) + 0.5);
      for (int c = 0; c < 3; ++c)
        shells[shell] += 0.5 * twice * std::norm(std::complex<double>(u_[c][at])) / (points * points);
    });
    return shells;
  }
  // The mean of u^2/2 over the points of the grid, by way of the inverse transform.
  [[nodiscard]] double grid_energy() {
    long double sum = 0;  // in double the sum of N^3 terms would err by more than the transforms
    for (int c = 0; c < 3; ++c)
      for (const T v : to_grid(u_[c])) sum += 0.5L * static_cast<long double>(v) * static_cast<long double>(v);
    return static_cast<double>(sum) / std::pow(static_cast<double>(n_), 3);
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
    long double total = 0;
    const double points = std::pow(static_cast<double>(n_), 3);
    each_mode([&](std::size_t at, const double(&k)[3], double twice) {
      for (int c = 0; c < 3; ++c)
        total += weight(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) * twice * std::norm(std::complex<double>(u_[c][at]));
    });
    return static_cast<double>(total) / (points * points);
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

  // P: what is along k goes, and so does the upper third of the wave numbers.
  void project(Spectrum (&v)[3]) const {
    each_mode([&](std::size_t at, const double(&k)[3], double) {
      const double kk = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], limit = static_cast<double>(n_) / 3;
      const bool cut = std::abs(k[0]) >= limit || std::abs(k[1]) >= limit || std::abs(k[2]) >= limit;
      C along = 0;
      for (int c = 0; c < 3; ++c) along += static_cast<T>(k[c]) * v[c][at];
      for (int c = 0; c < 3; ++c) {
        if (cut)
          v[c][at] = 0;
        else if (kk > 0)
          v[c][at] -= static_cast<T>(k[c] / kk) * along;
      }
    });
  }
  // N(u) = P(u x curl u).
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
    project(out.c);
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

}  // namespace example

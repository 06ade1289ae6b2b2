// Incompressible flow in a periodic box whose field lies on the ranks of a group, cut into pencils: the Taylor-Green
// vortex by the method of periodic_flow.hpp, with transforms of distributed arrays.
//
//   u_t = P(u x w) + nu Laplace(u),  w = curl u,  u(0) = (sin x cos y cos z, -cos x sin y cos z, 0)
//
// Every stage takes nine transforms of n^3 points, each with two exchanges between the ranks; what is pointwise happens
// where the points are. Energies are exact sums over all ranks, so everything that is printed has the same bits for
// every number of ranks but the line that counts them.
//
// What is checked: dE/dt = -2 nu Z over every step (Simpson's rule), E(0) = 1/8, Z(0) = 3/8, div u = 0.
//
//   mpirun -np 2 61_flow_on_pencils [--n 16] [--re 100] [--steps 2] [--dt 0.05]
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include <trn/comm/reductions.hpp>
#include <trn/comm_mpi/mpi.hpp>
#include <trn/fft/dist_plan.hpp>

#include "arguments.hpp"

namespace {

using trn::comm::Communicator;
using C = std::complex<double>;
using Modes = trn::dist::Array<C>;
using Points = trn::dist::Array<double>;
using Vector = std::array<double, 3>;

class Flow {
 public:
  Flow(const Communicator& world, std::int64_t n, double nu)
      : world_(world),
        n_(n),
        nu_(nu),
        forward_(world, host_, box(trn::fft::Kind::RealToComplex, trn::fft::Direction::Forward)),
        inverse_(world, host_, box(trn::fft::Kind::ComplexToReal, trn::fft::Direction::Inverse),
                 forward_.output_distribution(), forward_.input_distribution()) {
    for (int c = 0; c < 3; ++c) {
      for (std::vector<Modes>* each : {&u_, &k_, &stage_, &next_, &work_})
        each->emplace_back(world_, host_, forward_.output_distribution());
      velocity_.emplace_back(world_, host_, forward_.input_distribution());
      vorticity_.emplace_back(world_, host_, forward_.input_distribution());
    }
    product_.emplace_back(world_, host_, forward_.input_distribution());
  }

  template <class F> void set(const F& velocity) {
    const double h = 2 * std::numbers::pi / static_cast<double>(n_);
    for (int c = 0; c < 3; ++c) {
      each_of(velocity_[0], [&](std::size_t at, const trn::Shape& i) {
        const Vector v =
            velocity(h * static_cast<double>(i[0]), h * static_cast<double>(i[1]), h * static_cast<double>(i[2]));
        velocity_[0].local().data()[at] = v[static_cast<std::size_t>(c)];
      });
      forward_.execute(velocity_[0], u_[static_cast<std::size_t>(c)]);
    }
    project(u_);
  }
  [[nodiscard]] int exchanges() const { return forward_.exchanges(); }
  [[nodiscard]] double energy() const {
    return mean([](double) { return 0.5; });
  }
  [[nodiscard]] double enstrophy() const {
    return mean([](double kk) { return 0.5 * kk; });
  }
  // Largest |k.u| over the largest |k||u|.
  [[nodiscard]] double divergence() const {
    double worst = 0, size = 0;
    each_mode([&](std::size_t at, const Vector& k, double) {
      C along = 0;
      double square = 0;
      for (std::size_t c = 0; c < 3; ++c) along += k[c] * mode(u_, c, at), square += std::norm(mode(u_, c, at));
      worst = std::max(worst, std::abs(along));
      size = std::max(size, std::sqrt(square * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2])));
    });
    return trn::comm::maximum(world_, worst) / trn::comm::maximum(world_, size);
  }

  // The classical Runge-Kutta method for exp(nu k^2 t) u.
  void step(double dt) {
    constexpr double kPart[] = {0.5, 0.5, 1}, kWeight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const auto each = [&](const auto& f) {
      each_mode([&](std::size_t at, const Vector& k, double) {
        const double half = std::exp(-nu_ * dt / 2 * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]));
        for (std::size_t c = 0; c < 3; ++c) f(c, at, half);
      });
    };
    rate(u_, k_);
    for (int s = 0; s < 4; ++s) {
      each([&](std::size_t c, std::size_t at, double half) {
        const double fade = s == 0 ? half * half : s == 3 ? 1 : half;  // from the stage to the end of the step
        const C start = s == 0 ? half * half * mode(u_, c, at) : mode(next_, c, at);
        mode(next_, c, at) = start + dt * kWeight[s] * fade * mode(k_, c, at);
        if (s == 3) return;
        const double to = s == 2 ? half * half : half, from = s == 0 ? half : s == 1 ? 1 : half;
        mode(stage_, c, at) = to * mode(u_, c, at) + dt * kPart[s] * from * mode(k_, c, at);
      });
      if (s < 3) rate(stage_, k_);
    }
    std::swap(u_, next_);
  }

 private:
  [[nodiscard]] trn::fft::DistDescription box(trn::fft::Kind kind, trn::fft::Direction direction) const {
    return {.kind = kind,
            .direction = direction,
            .lengths = {n_, n_, n_},
            .decomposition = trn::fft::Decomposition::Pencils};
  }
  static C& mode(const std::vector<Modes>& u, std::size_t c, std::size_t at) { return u[c].local().data()[at]; }
  // f(place in this rank's box, global index).
  template <class A, class F> static void each_of(const A& array, const F& f) {
    const trn::Shape extent = array.local().shape(), begin = array.local_begin();
    std::size_t at = 0;
    for (std::int64_t i = 0; i < extent[0]; ++i)
      for (std::int64_t j = 0; j < extent[1]; ++j)
        for (std::int64_t k = 0; k < extent[2]; ++k) f(at++, {begin[0] + i, begin[1] + j, begin[2] + k});
  }
  // f(place, wave vector, weight): modes with 0 < k_z < n/2 stand for two.
  template <class F> void each_mode(const F& f) const {
    const auto wave = [&](std::int64_t i) { return static_cast<double>(2 * i < n_ ? i : i - n_); };
    each_of(u_[0], [&](std::size_t at, const trn::Shape& i) {
      const Vector k{wave(i[0]), wave(i[1]), static_cast<double>(i[2])};
      f(at, k, i[2] == 0 || 2 * i[2] == n_ ? 1.0 : 2.0);
    });
  }
  template <class F> [[nodiscard]] double mean(const F& weight) const {
    trn::ExactSum sum;
    const double points = std::pow(static_cast<double>(n_), 3);
    each_mode([&](std::size_t at, const Vector& k, double twice) {
      const double w = twice * weight(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
      for (std::size_t c = 0; c < 3; ++c) sum.add_product(w, std::norm(mode(u_, c, at)) / points / points);
    });
    return trn::comm::sum(world_, sum).to_double();
  }
  // What is along k goes, and so does the upper third of the wave numbers.
  void project(const std::vector<Modes>& v) const {
    each_mode([&](std::size_t at, const Vector& k, double) {
      const double kk = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], limit = static_cast<double>(n_) / 3;
      const bool cut = std::abs(k[0]) >= limit || std::abs(k[1]) >= limit || std::abs(k[2]) >= limit;
      C along = 0;
      for (std::size_t c = 0; c < 3; ++c) along += k[c] * mode(v, c, at);
      for (std::size_t c = 0; c < 3; ++c) mode(v, c, at) = cut ? 0 : mode(v, c, at) - (kk > 0 ? k[c] / kk * along : 0);
    });
  }
  // N(u) = P(u x curl u).
  void rate(const std::vector<Modes>& u, const std::vector<Modes>& result) {
    each_mode([&](std::size_t at, const Vector& k, double) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
        mode(work_, c, at) = C(0, 1) * (k[a] * mode(u, b, at) - k[b] * mode(u, a, at));
      }
    });
    for (std::size_t c = 0; c < 3; ++c) {
      inverse_.execute(u[c], velocity_[c]);
      inverse_.execute(work_[c], vorticity_[c]);
    }
    const double points = std::pow(static_cast<double>(n_), 3), scale = 1 / (points * points);
    const auto value = [](const std::vector<Points>& p, std::size_t c, std::int64_t i) {
      return p[c].local().data()[i];
    };
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
      for (std::int64_t i = 0; i < product_[0].local().size(); ++i)
        product_[0].local().data()[i] = scale * (value(velocity_, a, i) * value(vorticity_, b, i) -
                                                 value(velocity_, b, i) * value(vorticity_, a, i));
      forward_.execute(product_[0], result[c]);
    }
    project(result);
  }

  Communicator world_;
  trn::Executor host_ = trn::Executor::host();
  std::int64_t n_;
  double nu_;
  trn::fft::DistPlan<double> forward_, inverse_;
  std::vector<Modes> u_, k_, stage_, next_, work_;
  std::vector<Points> velocity_, vorticity_, product_;
};

int run(const Communicator& world, std::int64_t n, double re, std::int64_t steps, double dt) {
  const double nu = 1 / re, u = 1.1e-16;
  Flow flow(world, n, nu);
  flow.set([](double x, double y, double z) {
    return Vector{std::sin(x) * std::cos(y) * std::cos(z), -std::cos(x) * std::sin(y) * std::cos(z), 0};
  });
  const bool writes = world.rank() == 0;
  if (writes) std::printf("%d ranks, %d exchanges a transform\n", world.size(), flow.exchanges());
  if (writes) std::printf("Taylor-Green vortex, %lld^3 points, Re %g\n", static_cast<long long>(n), re);
  double e = flow.energy(), z = flow.enstrophy(), worst = 0;
  bool right = std::abs(e - 0.125) < 100 * u && std::abs(z - 0.375) < 100 * u;
  for (std::int64_t i = 0; i < steps; ++i) {
    flow.step(dt / 2);
    const double middle = flow.enstrophy();
    flow.step(dt / 2);
    const double e1 = flow.energy(), z1 = flow.enstrophy();
    worst = std::max(worst, std::abs(e1 - e + 2 * nu * dt / 6 * (z + 4 * middle + z1)));
    e = e1, z = z1;
    if (writes) std::printf("t %.3f: energy %.17g, enstrophy %.17g\n", dt * static_cast<double>(i + 1), e, z);
  }
  const double divergence = flow.divergence(), limit = 10 * nu * std::pow(dt, 5) / 2880 + 40 * u;
  right = right && worst <= limit && divergence <= 40 * u;
  if (writes)
    std::printf("energy balance per step: off by %.1e (limit %.1e); divergence %.1e\n%s\n", worst, limit, divergence,
                right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Arguments arguments(argc, argv, {{"--n", "16"}, {"--re", "100"}, {"--steps", "2"}, {"--dt", "0.05"}});
  const std::int64_t n = arguments.whole("--n", 4, 1024), steps = arguments.whole("--steps", 1, 100000);
  const double re = arguments.number("--re"), dt = arguments.number("--dt");
  return trn::comm::mpi_main(argc, argv, [&](const Communicator& world) { return run(world, n, re, steps, dt); });
}

// The quadrature, A times vectors, its trace, and the interval.
#include <trn/mp2/stochastic.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <trn/core/error.hpp>
#include <trn/mp2/linear_algebra.hpp>
#include <trn/mp2/panel_store.hpp>
#include <trn/rand/normal.hpp>
#include <trn/solver/qr.hpp>
#include <trn/tensor/einsum.hpp>

#include "fit.hpp"
#include "stages.hpp"

namespace trn::mp2 {

namespace {

constexpr std::int64_t kLeastSamples = 18;

// Vectors that are multiplied at a time: G_ijQ of them has at most some four million elements.
std::int64_t block_columns(std::int64_t nocc, std::int64_t naux, std::int64_t columns) {
  return std::min(columns, std::max<std::int64_t>(1, (std::int64_t{1} << 22) / (nocc * nocc * naux)));
}

// 2 sum |Gamma(1 + 2 pi i m / h)|; the terms fall by exp(-pi^2 / h) each.
double trapezoidal_error(double h) {
  double sum = 0;
  for (int m = 1; m <= 4; ++m) {
    const double y = 2 * std::numbers::pi * m / h;
    sum += 2 * std::sqrt(2 * std::numbers::pi * y) * std::exp(-std::numbers::pi * y / 2) * 1.0001;
  }
  return sum;
}

// A of the header.
class EnergyOperator {
 public:
  EnergyOperator(const double* b, std::int64_t naux, const std::vector<double>& occupied,
                 const std::vector<double>& virtuals, const Laplace& laplace)
      : b_(b),
        naux_(naux),
        nocc_(static_cast<std::int64_t>(occupied.size())),
        nvir_(static_cast<std::int64_t>(virtuals.size())),
        occupied_(occupied),
        virtuals_(virtuals),
        laplace_(laplace) {}

  // A x, vectors in columns. A point of the quadrature has one thread, and points are added in order.
  [[nodiscard]] Dense operator()(const Dense& x) const {
    std::vector<Dense> images(laplace_.nodes.size());
    for_units(static_cast<std::int64_t>(images.size()), [&](std::int64_t k) {
      images[static_cast<std::size_t>(k)] = at_point(laplace_.nodes[static_cast<std::size_t>(k)], x);
    });
    Dense sum(naux_, x.columns);
    for (std::size_t k = 0; k < images.size(); ++k) {
      for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += laplace_.weights[k] * images[k].values[i];
    }
    return sum;
  }

  // S of the header.
  [[nodiscard]] double scale_of_energy() const {
    std::vector<double> squares(static_cast<std::size_t>(nocc_ * nvir_));
    for (std::int64_t i = 0; i < nocc_; ++i) {
      for (std::int64_t p = 0; p < naux_; ++p) {
        for (std::int64_t v = 0; v < nvir_; ++v) {
          const double b = b_[(i * naux_ + p) * nvir_ + v];
          squares[static_cast<std::size_t>(i * nvir_ + v)] += b * b;
        }
      }
    }
    double sum = 0;
    for (std::size_t k = 0; k < laplace_.nodes.size(); ++k) {
      double norm = 0;
      std::size_t next = 0;
      for (const double below : occupied_) {
        for (const double above : virtuals_) norm += squares[next++] * std::exp(-laplace_.nodes[k] * (above - below));
      }
      sum += laplace_.weights[k] * norm * norm;
    }
    return sum;
  }

 private:
  // (2 M^2 - X) x at a node.
  [[nodiscard]] Dense at_point(double node, const Dense& x) const {
    const Executor host = Executor::host();
    const std::int64_t most = block_columns(nocc_, naux_, x.columns);
    std::vector<double> scaled(static_cast<std::size_t>(nocc_ * naux_ * nvir_));
    const View<double> bt(host, scaled.data(), {nocc_, naux_, nvir_});
    scale(node, scaled.data());
    Dense result(naux_, x.columns);
    for (std::int64_t first = 0; first < x.columns; first += most) {
      const std::int64_t count = std::min(most, x.columns - first);
      const View<const double> xs = View<const double>(x.view().block(0, first, naux_, count));
      const auto of = [&](std::string_view text, const View<const double>& one, const View<const double>& two) {
        return tensor::einsum<const double>(host, text, {one, two}, {.cache = &cache_});
      };
      const Array<double> r = of("Ps,iPa->sia", xs, bt);
      const Array<double> m = of("sia,iPa->Ps", r.view(), bt);  // M x
      Array<double> w = of("Ps,iPa->sia", m.view(), bt);        // B~^T M x
      const Array<double> exchange = of("sijQ,jQa->sia", of("sja,iQa->sijQ", r.view(), bt).view(), bt);
      for (std::int64_t e = 0; e < w.size(); ++e) w.data()[e] = 2 * w.data()[e] - exchange.data()[e];
      const Array<double> image = of("sia,iPa->Ps", w.view(), bt);
      for (std::int64_t p = 0; p < naux_; ++p) {
        for (std::int64_t c = 0; c < count; ++c) result(p, first + c) = image.data()[p * count + c];
      }
    }
    return result;
  }

  void scale(double t, double* to) const {
    for (std::int64_t i = 0; i < nocc_; ++i) {
      std::vector<double> factors;
      for (const double e : virtuals_)
        factors.push_back(std::exp(-t * (e - occupied_[static_cast<std::size_t>(i)]) / 2));
      for (std::int64_t p = 0; p < naux_; ++p) {
        const double* from = b_ + (i * naux_ + p) * nvir_;
        double* row = to + (i * naux_ + p) * nvir_;
        for (std::int64_t a = 0; a < nvir_; ++a) row[a] = from[a] * factors[static_cast<std::size_t>(a)];
      }
    }
  }

  const double* b_;  // (i, P, a)
  std::int64_t naux_, nocc_, nvir_;
  const std::vector<double>&occupied_, &virtuals_;
  const Laplace& laplace_;
  mutable tensor::PlanCache cache_;
};

// Standard normal numbers; or their signs.
Dense random_columns(std::int64_t rows, std::int64_t columns, std::uint64_t seed, std::uint64_t stream, bool signs) {
  std::vector<double> numbers(static_cast<std::size_t>(rows * columns));
  rand::Generator generator(rand::State{.seed = seed, .stream = stream});
  rand::normal(Executor::host(), generator, View<double>(Executor::host(), numbers.data(), {rows * columns}));
  Dense x(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const double z = numbers[static_cast<std::size_t>(j * rows + i)];
      x(i, j) = !signs ? z : z < 0 ? -1 : 1;
    }
  }
  return x;
}

// Q of y = Q R, on one thread.
Dense orthonormal_columns(const Dense& y) {
  Dense q(y.rows, y.columns);
  for_units(1, [&](std::int64_t) {
    const solver::Qr<double> qr(Executor::host(), y.view());
    ensure(qr.report().outcome.ok(), "mp2: the stochastic estimate is {}", solver::name(qr.report().outcome.status));
    const Matrix<double> thin = qr.q();
    copy(View<const double>(MatrixView<const double>(thin.view())), View<double>(q.view()));
  });
  return q;
}

// x - Q Q^T x.
Dense without(const Dense& q, Dense x) {
  const Dense part = product(q, product(q, x, blas::Op::T, blas::Op::N));
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] -= part.values[i];
  return x;
}

struct Trace {
  double value = 0, standard_error = 0;
  std::int64_t products = 0, kept = 0, residuals = 0;  // columns of Q and of G
};

// Hutch++ with the standard error of the header. solver::trace_hutchpp makes the same value from the same number of
// products, and estimates its error from the spread of the samples, which says too little where one eigenvalue is left
// (trn/solver/randomized.hpp). The interval here needs the norm of what Q leaves, ||(1 - Q Q^T) A G||_F, which that
// function does not keep; hence the loop is here.
Trace trace_of(const EnergyOperator& a, std::int64_t n, std::int64_t samples, std::uint64_t seed) {
  Trace trace;
  trace.kept = std::min(samples / 3, n);
  const Dense q = orthonormal_columns(a(random_columns(n, trace.kept, seed, 0, false))), image = a(q);
  for (std::size_t i = 0; i < q.values.size(); ++i) trace.value += q.values[i] * image.values[i];
  trace.products = 2 * trace.kept;
  if (trace.kept < n) {
    trace.residuals = samples - 2 * (samples / 3);
    const auto count = static_cast<double>(trace.residuals);
    const Dense g = without(q, random_columns(n, trace.residuals, seed, 1, true)), y = a(g), residual = without(q, y);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < g.values.size(); ++i) {
      sum += g.values[i] * y.values[i];
      squares += residual.values[i] * residual.values[i];
    }
    trace.value += sum / count;
    trace.standard_error = std::sqrt(2 * squares / count / count);
    trace.products += trace.residuals;
  }
  ensure(std::isfinite(trace.value) && std::isfinite(trace.standard_error),
         "mp2: the stochastic estimate is not finite");
  return trace;
}

// 97.5 % point of Student's distribution, by Cornish and Fisher's series: to 1e-3 from five degrees of freedom on.
double student(double freedom) {
  const double z = 1.959963984540054, z2 = z * z;
  return z * (1 + (z2 + 1) / (4 * freedom) + (5 * z2 * z2 + 16 * z2 + 3) / (96 * freedom * freedom) +
              (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * freedom * freedom * freedom));
}

}  // namespace

Laplace laplace_quadrature(double least, double most, double error) {
  constexpr double kSmallest = 1e-290, kLargest = 1e290;  // nodes and weights stay normal numbers
  require(
      least >= kSmallest && most >= least && most <= kLargest && error > 0 && error < 1,
      "mp2: a quadrature of 1/x for x from {} to {} with an error of {}; give {} <= least <= most <= {}, 0 < error < "
      "1",
      least, most, error, kSmallest, kLargest);
  // A node exp(s) errs by (|s| + 1) eps, relatively, and its weight, too; x sum w exp(-t x) by twice of that.
  const double rounding = 4 * std::numeric_limits<double>::epsilon() *
                          (std::abs(std::log(error)) + std::abs(std::log(least)) + std::abs(std::log(most)) + 8);
  require(error >= 2 * rounding,
          "mp2: a quadrature of 1/x with an error of {:g}; double reaches {:.1e} for x from {:g} to {:g}", error,
          2 * rounding, least, most);
  const double part = (error - rounding) / 3;
  Laplace laplace;
  double h = 1;
  while (trapezoidal_error(h) > part) h *= 0.98;
  const double first = std::log(part * (1 - std::exp(-h)) / (h * most)),
               last = std::max(std::log(std::log(1 / part) / least), -std::log(least));
  // Points first, first + h, ..., the last at or above `last`. What is left out below is a geometric sum, and above
  // less than the integral of a falling function.
  double s = first;
  for (int n = 1;; ++n) {
    laplace.nodes.push_back(std::exp(s));
    laplace.weights.push_back(h * std::exp(s));
    if (s >= last) break;
    s = first + n * h;
  }
  laplace.error = trapezoidal_error(h) + most * h * std::exp(first - h) / (1 - std::exp(-h)) +
                  std::exp(-least * std::exp(s)) + rounding;
  return laplace;
}

StochasticMp2 stochastic_mp2(const Scf& scf, const Basis& orbital, const Basis& fitting,
                             const StochasticOptions& options) {
  require(!scf.beta, "mp2: the stochastic estimate is one of closed shells; leave out --stochastic");
  require(options.samples >= kLeastSamples, "mp2: {} samples; the interval needs at least {}", options.samples,
          kLeastSamples);
  const std::int64_t nvir = scf.orbitals.columns - scf.occupied, nocc = scf.occupied - options.frozen,
                     naux = fitting.size();
  require(options.frozen >= 0 && nocc >= 1 && nvir >= 1,
          "mp2: {} occupied orbitals, {} of them frozen, and {} virtual ones leave nothing to correlate", scf.occupied,
          options.frozen, nvir);
  const FitInput in{&orbital, &fitting, scf.orbitals.columns_from(options.frozen, nocc),
                    scf.orbitals.columns_from(scf.occupied, nvir)};
  const auto at = scf.orbital_energies.begin();
  const std::vector<double> occupied(at + options.frozen, at + scf.occupied),
      virtuals(at + scf.occupied, scf.orbital_energies.end());
  const double least = 2 * (virtuals.front() - occupied.back()), most = 2 * (virtuals.back() - occupied.front());
  require(least > 0, "mp2: the highest occupied energy is {} and the lowest virtual one {}; they must not touch",
          occupied.back(), virtuals.front());
  const Laplace laplace = laplace_quadrature(least, most, options.quadrature);
  // B; of a thread B~, in two other orders, too, and its block of vectors with G_ijQ, which are moved once; the images
  // of all points, the vectors and their sums.
  const std::int64_t panel = nocc * naux * nvir, widest = std::min(naux, options.samples / 3 + 2),
                     block = block_columns(nocc, naux, widest) * (3 * nocc * nocc * naux + 6 * nocc * nvir + 3 * naux);
  const std::int64_t points = static_cast<std::int64_t>(laplace.nodes.size());
  const std::int64_t needed = 8 * (panel + std::min<std::int64_t>(omp_get_max_threads(), points) * (3 * panel + block) +
                                   (points + 6) * naux * widest) +
                              fit_bytes(Executor::host(), in, Mode::Native, sizeof(double), true);
  require(needed <= options.memory_bytes,
          "mp2: --memory {:.1f} MiB is too little for the stochastic estimate; give at least {:.2f} MiB",
          static_cast<double>(options.memory_bytes) / 1048576, std::ceil(static_cast<double>(needed) / 10485.76) / 100);

  StochasticMp2 result;
  PanelStore<double> store(PanelStore<double>::Place::Memory, nocc, naux, nvir, "");
  (void)fit<double>(Executor::host(), in, Mode::Native, HalfTransform::OneWord, store, result.stages);
  const EnergyOperator a(store.memory(), naux, occupied, virtuals, laplace);
  Trace trace;
  StageClock(result.stages, Executor::host()).run("trace", "float64", [&] {
    trace = trace_of(a, naux, options.samples, options.seed);
  });
  result.energy = -trace.value;
  result.standard_error = trace.standard_error;
  // The header's count of roundings, twice for terms of higher order.
  const auto kept = static_cast<double>(trace.kept);
  const double roundings =
      static_cast<double>(2 * naux + 2 * nocc * nvir + nocc * naux + nvir + points) + kept * std::sqrt(kept) + 20;
  result.rounding_error = std::numeric_limits<double>::epsilon() * roundings *
                          (static_cast<double>(trace.residuals > 0 ? naux : 0) + std::sqrt(kept)) * 3 *
                          a.scale_of_energy();
  const double statistical =
      trace.residuals > 0 ? student(static_cast<double>(trace.residuals - 1)) * trace.standard_error : 0;
  result.quadrature = laplace.error;
  result.quadrature_error =
      laplace.error * (std::abs(result.energy) + statistical + result.rounding_error) / (1 - laplace.error);
  result.interval = statistical + result.quadrature_error + result.rounding_error;
  result.samples = trace.products;
  result.seed = options.seed;
  result.points = points;
  return result;
}

}  // namespace trn::mp2

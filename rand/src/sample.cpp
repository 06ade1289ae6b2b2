// The entry points of the distributions whose elements have words of their own.
#include <cmath>
#include <numeric>
#include <trn/rand/dirichlet.hpp>
#include <trn/rand/multivariate_normal.hpp>

#include "checks.hpp"
#include "element_words.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

constexpr std::int64_t kMostTrials = (std::int64_t{1} << 31) - 1;
constexpr double kMostUInt32 = 4294967295.0;

template <class T> void draw(const KernelTable<SampleArgs>& kernels, const Executor& executor, Generator& generator,
                             const View<T>& out, Sampler sampler) {
  const Output checked = checked_output(kernels.operation, executor, out);
  check_element_words(kernels.operation, generator.state());
  if (out.size() == 0) return;
  Generator after = generator;
  after.skip(static_cast<std::uint64_t>(out.size()));
  dispatch(kernels, executor, {generator.state(), std::move(sampler), checked});
  generator = after;
}

void check_positive(const char* operation, const char* what, double value) {
  require(std::isfinite(value) && value > 0, "{}: {} is {}; it must be finite and positive", operation, what, value);
  require(value >= 1e-300,
          "{}: {} is {}; it must be at least 1e-300, or values would be lost below the smallest double", operation,
          what, value);
}
void check_finite_double(const char* operation, const char* what, double value) {
  check_finite(operation, what, value, DType::Float64);
}

void check(const char* operation, const GammaOptions& o) {
  check_positive(operation, "shape", o.shape);
  require(std::isfinite(o.scale) && o.scale >= 0, "{}: scale is {}; it must be finite and at least 0", operation,
          o.scale);
}
void check(const char* operation, const ChiSquaredOptions& o) { check_positive(operation, "df", o.df); }
void check(const char* operation, const StudentTOptions& o) { check_positive(operation, "df", o.df); }
void check(const char* operation, const BetaOptions& o) {
  check_positive(operation, "a", o.a);
  check_positive(operation, "b", o.b);
}
void check(const char* operation, const FisherFOptions& o) {
  check_positive(operation, "df1", o.df1);
  check_positive(operation, "df2", o.df2);
}
void check(const char* operation, const TruncatedNormalOptions& o) {
  check_finite_double(operation, "mean", o.mean);
  check_positive(operation, "stddev", o.stddev);
  require(o.low < o.high, "{}: low is {} and high is {}; low must be below high", operation, o.low, o.high);
  const double a = (o.low - o.mean) / o.stddev, b = (o.high - o.mean) / o.stddev;
  const double nearest = a > 0 ? a : b < 0 ? -b : 0;
  require(nearest <= 1e8, "{}: the interval [{}, {}] lies {} standard deviations from the mean; at most 1e8", operation,
          o.low, o.high, nearest);
}
void check(const char* operation, const VonMisesOptions& o) {
  check_finite_double(operation, "mean", o.mean);
  require(o.kappa >= 0 && o.kappa <= 1e100, "{}: kappa is {}; it must be at least 0 and at most 1e100", operation,
          o.kappa);
}

// The largest lambda whose values fit: forty standard deviations of room.
void check_lambda(const char* operation, double lambda, DType dtype) {
  require(lambda >= 0 && std::isfinite(lambda), "{}: lambda is {}; it must be finite and at least 0", operation,
          lambda);
  if (dtype == DType::UInt32) {
    require(lambda + 40 * std::sqrt(lambda) + 40 <= kMostUInt32,
            "{}: lambda is {}, too large for uint32; draw into double", operation, lambda);
  }
  require(lambda <= 0x1p50, "{}: lambda is {}; it may be up to 2^50, so that every count is a whole double", operation,
          lambda);
}

void check_probability(const char* operation, double p) {
  require(p >= 0 && p <= 1, "{}: p is {}; a probability lies in [0, 1]", operation, p);
}

void check_count(const char* operation, const char* what, std::int64_t n) {
  require(n >= 0 && n <= kMostTrials, "{}: {} is {}; it must be 0 to {}", operation, what, n, kMostTrials);
}

std::int64_t row_length(const char* operation, const Shape& shape) {
  require(!shape.empty(), "{}: out is a single number; its last extent must be the length of a row", operation);
  return shape.back();
}

template <class T>
void draw_geometric(const Executor& executor, Generator& generator, const View<T>& out, const GeometricOptions& o) {
  const char* operation = kGeometric.operation;
  check_probability(operation, o.p);
  require(o.p > 0, "{}: p is 0, so there is never a success; give a positive p", operation);
  // e is at most 65 ln 2 = 45.06, and ln(1 - p) is at least p in size.
  require(dtype_of<T> == DType::Float64 || o.p >= 1.1e-8,
          "{}: p is {}; as uint32 values must stay below 2^32, so p >= 1.1e-8: draw into double", operation, o.p);
  require(o.p >= 1e-300, "{}: p is {}, so that values pass the largest double; give at least 1e-300", operation, o.p);
  draw(kGeometric, executor, generator, out, o);
}

template <class T>
void draw_dirichlet(const Executor& executor, Generator& generator, const View<T>& out, std::span<const double> alpha) {
  const char* operation = kDirichlet.operation;
  const std::int64_t length = row_length(operation, out.shape());
  require(static_cast<std::int64_t>(alpha.size()) == length,
          "{}: {} numbers alpha for rows of {}; give one per element", operation, alpha.size(), length);
  for (const double a : alpha) check_positive(operation, "alpha", a);
  draw(kDirichlet, executor, generator, out, DirichletRows{{alpha.begin(), alpha.end()}});
}

// L with L L^T = covariance, row by row; a pivot that rounding alone explains makes a column of zeros.
std::vector<double> cholesky(const char* operation, std::span<const double> covariance, std::size_t n) {
  // What rounding may leave of a number as large as |c_ij| <= sqrt(c_ii c_jj); the scales of the variables do not mix.
  const double unit = static_cast<double>(n) * 0x1p-50;
  const auto scale = [&](std::size_t i, std::size_t j) {
    return std::sqrt(std::fabs(covariance[i * n + i])) * std::sqrt(std::fabs(covariance[j * n + j]));
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double upper = covariance[j * n + i], lower = covariance[i * n + j];
      require(std::fabs(upper - lower) <= unit * scale(i, j),
              "{}: covariance is not symmetric: ({}, {}) is {} and ({}, {}) is {}; give a symmetric matrix", operation,
              i, j, lower, j, i, upper);
    }
  }
  std::vector<double> l(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const double variance = covariance[j * n + j], rounding = unit * variance;
    double pivot = variance;
    for (std::size_t k = 0; k < j; ++k) pivot -= l[j * n + k] * l[j * n + k];
    require(variance >= 0 && pivot >= -rounding,
            "{}: covariance is not positive semidefinite: pivot {} is {}; give a covariance matrix", operation, j,
            pivot);
    const bool zero = pivot <= rounding;
    l[j * n + j] = zero ? 0 : std::sqrt(pivot);
    for (std::size_t i = j + 1; i < n; ++i) {
      double sum = covariance[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      // Under a pivot of 0 a positive semidefinite matrix has only zeros: |s_ij| <= sqrt(s_ii s_jj), and the pivot s_jj
      // is known to `rounding`.
      require(
          !zero || std::fabs(sum) <= std::sqrt(2 * unit) * scale(i, j),
          "{}: covariance is not positive semidefinite: pivot {} is 0 but ({}, {}) leaves {}; give a covariance matrix",
          operation, j, i, j, sum);
      l[i * n + j] = zero ? 0 : sum / l[j * n + j];
    }
  }
  return l;
}

template <class T> void draw_multivariate_normal(const Executor& executor, Generator& generator, const View<T>& out,
                                                 std::span<const double> mean, std::span<const double> covariance) {
  const char* operation = kMultivariateNormal.operation;
  const std::int64_t length = row_length(operation, out.shape());
  const auto n = static_cast<std::size_t>(length);
  require(mean.size() == n, "{}: {} means for rows of {}; give one per element", operation, mean.size(), length);
  require(covariance.size() == n * n, "{}: covariance has {} numbers; rows of {} need {} x {}", operation,
          covariance.size(), length, length, length);
  for (const double m : mean) check_finite_double(operation, "mean", m);
  for (const double c : covariance) check_finite_double(operation, "covariance", c);
  draw(kMultivariateNormal, executor, generator, out,
       MultivariateNormalRows{{mean.begin(), mean.end()}, cholesky(operation, covariance, n)});
}

}  // namespace

#define TRN_RAND_DOOR(name, table, T, Options)                                                      \
  void name(const Executor& executor, Generator& generator, const View<T>& out, const Options& o) { \
    check(table.operation, o);                                                                      \
    draw(table, executor, generator, out, o);                                                       \
  }
#define TRN_RAND_DOORS(name, table, Options) \
  TRN_RAND_DOOR(name, table, float, Options) \
  TRN_RAND_DOOR(name, table, double, Options)

TRN_RAND_DOORS(gamma, kGamma, GammaOptions)
TRN_RAND_DOORS(chi_squared, kChiSquared, ChiSquaredOptions)
TRN_RAND_DOORS(beta, kBeta, BetaOptions)
TRN_RAND_DOORS(student_t, kStudentT, StudentTOptions)
TRN_RAND_DOORS(fisher_f, kFisherF, FisherFOptions)
TRN_RAND_DOORS(truncated_normal, kTruncatedNormal, TruncatedNormalOptions)
TRN_RAND_DOORS(von_mises, kVonMises, VonMisesOptions)

void poisson(const Executor& executor, Generator& generator, const View<std::uint32_t>& out, const PoissonOptions& o) {
  check_lambda(kPoisson.operation, o.lambda, DType::UInt32);
  draw(kPoisson, executor, generator, out, o);
}
void poisson(const Executor& executor, Generator& generator, const View<double>& out, const PoissonOptions& o) {
  check_lambda(kPoisson.operation, o.lambda, DType::Float64);
  draw(kPoisson, executor, generator, out, o);
}

void binomial(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
              const BinomialOptions& o) {
  check_count(kBinomial.operation, "trials", o.trials);
  check_probability(kBinomial.operation, o.p);
  draw(kBinomial, executor, generator, out, o);
}

void geometric(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
               const GeometricOptions& o) {
  draw_geometric(executor, generator, out, o);
}
void geometric(const Executor& executor, Generator& generator, const View<double>& out, const GeometricOptions& o) {
  draw_geometric(executor, generator, out, o);
}

void hypergeometric(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
                    const HypergeometricOptions& o) {
  const char* operation = kHypergeometric.operation;
  check_count(operation, "good", o.good);
  check_count(operation, "bad", o.bad);
  check_count(operation, "good + bad", o.good + o.bad);
  require(o.sample >= 0 && o.sample <= o.good + o.bad, "{}: sample is {} of good + bad = {}; take 0 to all of them",
          operation, o.sample, o.good + o.bad);
  draw(kHypergeometric, executor, generator, out, o);
}

void multinomial(const Executor& executor, Generator& generator, const View<std::uint32_t>& out, std::int64_t trials,
                 std::span<const double> p) {
  const char* operation = kMultinomial.operation;
  const std::int64_t length = row_length(operation, out.shape());
  check_count(operation, "trials", trials);
  require(static_cast<std::int64_t>(p.size()) == length, "{}: {} probabilities for rows of {}; give one per element",
          operation, p.size(), length);
  for (const double x : p) check_probability(operation, x);
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  require(length == 0 || std::fabs(sum - 1) <= 1e-9, "{}: the probabilities sum to {}; they must sum to 1", operation,
          sum);
  draw(kMultinomial, executor, generator, out, MultinomialRows{trials, {p.begin(), p.end()}});
}

void dirichlet(const Executor& executor, Generator& generator, const View<float>& out, std::span<const double> alpha) {
  draw_dirichlet(executor, generator, out, alpha);
}
void dirichlet(const Executor& executor, Generator& generator, const View<double>& out, std::span<const double> alpha) {
  draw_dirichlet(executor, generator, out, alpha);
}

void multivariate_normal(const Executor& executor, Generator& generator, const View<float>& out,
                         std::span<const double> mean, std::span<const double> covariance) {
  draw_multivariate_normal(executor, generator, out, mean, covariance);
}
void multivariate_normal(const Executor& executor, Generator& generator, const View<double>& out,
                         std::span<const double> mean, std::span<const double> covariance) {
  draw_multivariate_normal(executor, generator, out, mean, covariance);
}

}  // namespace trn::rand

// The entry points of the distributions with a fixed number of words per value.
#include <cmath>
#include <trn/core/enumerators.hpp>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/normal.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

// Words are consumed, or points of a quasi-random sequence.
Generator generator_after(const char* operation, const Generator& generator, Law law, std::int64_t count, bool wide) {
  Generator after = generator;
  const State& state = generator.state();
  if (!is_quasi(state.algorithm)) {
    for (int w = 0; w < words_per_value(law, wide); ++w) after.skip(static_cast<std::uint64_t>(count));
    return after;
  }
  require(
      law == Law::NormalInverse,
      "{}: {} makes points, and this method would mix their coordinates; use normal with NormalMethod::Inverse, or a "
      "pseudo-random generator",
      operation, name(state.algorithm));
  require(count % state.dimensions == 0, "{}: {} values are not a whole number of points in {} dimensions", operation,
          count, state.dimensions);
  after.skip(static_cast<std::uint64_t>(count / state.dimensions));
  return after;
}

template <class T> void draw(const KernelTable<TransformArgs>& kernels, const Executor& executor, Generator& generator,
                             const View<T>& out, const Transform& transform) {
  const char* operation = kernels.operation;
  const Output checked = checked_output(operation, executor, out);
  if (out.size() == 0) return;
  const Generator after = generator_after(operation, generator, transform.law, out.size(), sizeof(T) == 8);
  dispatch(kernels, executor, {generator.state(), transform, checked});
  generator = after;
}

void check_scale(const char* operation, const char* what, double value, DType dtype) {
  check_finite(operation, what, value, dtype);
  require(value >= 0, "{}: {} is {}; it must be at least 0", operation, what, value);
}
void check_positive(const char* operation, const char* what, double value, DType dtype) {
  check_finite(operation, what, value, dtype);
  require(value > 0, "{}: {} is {}; it must be positive", operation, what, value);
}

template <class T>
void draw_normal(const Executor& executor, Generator& generator, const View<T>& out, const NormalOptions& o) {
  operands::check_enumerator(kNormal.operation, "NormalMethod", o.method, NormalMethod::Curand);
  check_finite(kNormal.operation, "mean", o.mean, dtype_of<T>);
  check_scale(kNormal.operation, "stddev", o.stddev, dtype_of<T>);
  const Law law = o.method == NormalMethod::Inverse  ? Law::NormalInverse
                  : o.method == NormalMethod::Curand ? Law::NormalCurand
                                                     : Law::Normal;
  draw(kNormal, executor, generator, out, {law, o.mean, o.stddev});
}

template <class T>
void draw_log_normal(const Executor& executor, Generator& generator, const View<T>& out, const LogNormalOptions& o) {
  check_finite(kLogNormal.operation, "mean", o.mean, dtype_of<T>);
  check_scale(kLogNormal.operation, "stddev", o.stddev, dtype_of<T>);
  draw(kLogNormal, executor, generator, out, {Law::LogNormal, o.mean, o.stddev});
}

template <class T>
void draw_exponential(const Executor& executor, Generator& generator, const View<T>& out, const ExponentialOptions& o) {
  check_positive(kExponential.operation, "rate", o.rate, dtype_of<T>);
  check_positive(kExponential.operation, "1 / rate", 1 / o.rate, dtype_of<T>);
  draw(kExponential, executor, generator, out, {Law::Exponential, 0, 1 / o.rate});
}

template <class T>
void draw_laplace(const Executor& executor, Generator& generator, const View<T>& out, const LaplaceOptions& o) {
  check_finite(kLaplace.operation, "location", o.location, dtype_of<T>);
  check_scale(kLaplace.operation, "scale", o.scale, dtype_of<T>);
  draw(kLaplace, executor, generator, out, {Law::Laplace, o.location, o.scale});
}

template <class T>
void draw_weibull(const Executor& executor, Generator& generator, const View<T>& out, const WeibullOptions& o) {
  check_positive(kWeibull.operation, "shape", o.shape, dtype_of<T>);
  check_positive(kWeibull.operation, "1 / shape", 1 / o.shape, dtype_of<T>);
  check_positive(kWeibull.operation, "scale", o.scale, dtype_of<T>);  // at 0, an overflowing power would give NaN
  draw(kWeibull, executor, generator, out, {Law::Weibull, 0, o.scale, 1 / o.shape});
}

template <class T>
void draw_cauchy(const Executor& executor, Generator& generator, const View<T>& out, const CauchyOptions& o) {
  check_finite(kCauchy.operation, "location", o.location, dtype_of<T>);
  check_scale(kCauchy.operation, "scale", o.scale, dtype_of<T>);
  draw(kCauchy, executor, generator, out, {Law::Cauchy, o.location, o.scale});
}

template <class T>
void draw_bernoulli(const Executor& executor, Generator& generator, const View<T>& out, const BernoulliOptions& o) {
  require(o.p >= 0 && o.p <= 1, "{}: p is {}; a probability lies in [0, 1]", kBernoulli.operation, o.p);
  draw(kBernoulli, executor, generator, out, {Law::Bernoulli, o.p});
}

}  // namespace

#define TRN_RAND_DOOR(name, T, Options)                                                             \
  void name(const Executor& executor, Generator& generator, const View<T>& out, const Options& o) { \
    draw_##name(executor, generator, out, o);                                                       \
  }
#define TRN_RAND_DOORS(name, Options) \
  TRN_RAND_DOOR(name, float, Options) \
  TRN_RAND_DOOR(name, double, Options)

TRN_RAND_DOORS(normal, NormalOptions)
TRN_RAND_DOORS(log_normal, LogNormalOptions)
TRN_RAND_DOORS(exponential, ExponentialOptions)
TRN_RAND_DOORS(laplace, LaplaceOptions)
TRN_RAND_DOORS(weibull, WeibullOptions)
TRN_RAND_DOORS(cauchy, CauchyOptions)
TRN_RAND_DOOR(bernoulli, std::uint32_t, BernoulliOptions)
TRN_RAND_DOOR(bernoulli, float, BernoulliOptions)

}  // namespace trn::rand

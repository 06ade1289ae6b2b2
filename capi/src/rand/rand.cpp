// Generators: cuRAND's types, orderings and functions over trn::rand. Words, uniforms and quasi-random points are
// cuRAND's bits. Normals are cuRAND's formula on the host; a device draws them by Box and Muller with the whole tail,
// so they are other numbers of the same distribution. Poisson is exact at every lambda, so its numbers are not
// cuRAND's.
#include "rand.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <trn/rand/binomial.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/quasi.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/uniform.hpp>

namespace trn::capi::rand {

using trn::rand::Algorithm, trn::rand::Generator, trn::rand::State;

namespace {

[[noreturn]] void type_error(const std::string& message) { throw WithStatus(TRNRAND_STATUS_TYPE_ERROR, message); }

Algorithm algorithm_of(trnrandRngType_t type) {
  switch (type) {
    case TRNRAND_RNG_PSEUDO_DEFAULT:
    case TRNRAND_RNG_PSEUDO_XORWOW:
      return Algorithm::Xorwow;
    case TRNRAND_RNG_PSEUDO_MRG32K3A:
      return Algorithm::Mrg32k3a;
    case TRNRAND_RNG_PSEUDO_MT19937:
      return Algorithm::Mt19937;
    case TRNRAND_RNG_PSEUDO_PHILOX4_32_10:
      return Algorithm::Philox4x32_10;
    case TRNRAND_RNG_QUASI_DEFAULT:
    case TRNRAND_RNG_QUASI_SOBOL32:
      return Algorithm::Sobol32;
    case TRNRAND_RNG_QUASI_SCRAMBLED_SOBOL32:
      return Algorithm::ScrambledSobol32;
    case TRNRAND_RNG_QUASI_SOBOL64:
      return Algorithm::Sobol64;
    case TRNRAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return Algorithm::ScrambledSobol64;
    case TRNRAND_RNG_PSEUDO_MTGP32:
      type_error("MTGP32 is not offered; Philox, XORWOW, MRG32k3a and MT19937 are");
    case TRNRAND_RNG_TEST:
      break;
  }
  type_error(fmt::format("generator type {} is not known", static_cast<int>(type)));
}

void create(trnrandGenerator_t* generator, trnrandRngType_t type, bool on_host) {
  require(generator != nullptr, "generator is null; it receives the generator");
  State state;
  state.algorithm = algorithm_of(type);
  *generator = alive<Handle>().add(std::make_shared<Handle>(current_device(), on_host, Generator(state)));
}

bool quasi(const Handle& g) { return is_quasi(g.generator.state().algorithm); }

// Where the numbers go: checked against the map of memory, or the caller's host memory.
template <class T> View<T> output(const Handle& g, T* out, std::size_t count) {
  require(count <= static_cast<std::size_t>(INT64_MAX) / sizeof(T), "{} numbers are too many", count);
  const auto n = static_cast<std::int64_t>(count);
  if (g.on_host) {
    require(out != nullptr || n == 0, "the output is null");
    return {Executor::host(), out, {n}};
  }
  return {
      g.device->executor, device_memory(*g.device, "the output", out, n * static_cast<std::int64_t>(sizeof(T))), {n}};
}

[[noreturn]] void length_error(const std::string& message) {
  throw WithStatus(TRNRAND_STATUS_LENGTH_NOT_MULTIPLE, message);
}
void check_length(const Handle& g, std::size_t count) {
  const std::uint32_t dimensions = g.generator.state().dimensions;
  if (quasi(g) && count % dimensions != 0)
    length_error(fmt::format("{} numbers are not whole points of {} dimensions", count, dimensions));
}

void restart(Handle& g, State state) {
  state.position = g.offset;
  // Where doubles begin to be paired.
  state.origin = is_quasi(state.algorithm) ? 0 : g.offset;
  g.generator = Generator(state);
}

template <class T> void draw_normal(Handle& g, T* out, std::size_t count, double mean, double stddev, bool logarithm) {
  check_length(g, count);
  if (!quasi(g) && count % 2 != 0)
    length_error(fmt::format("{} numbers; normals of pseudo-random generators come in pairs", count));
  const View<T> to = output(g, out, count);
  const Executor& e = to.executor();
  const auto method = quasi(g)                     ? trn::rand::NormalMethod::Inverse
                      : e.family() == Family::Host ? trn::rand::NormalMethod::Curand
                                                   : trn::rand::NormalMethod::BoxMuller;
  if (logarithm && e.family() == Family::Device && !quasi(g)) {
    trn::rand::log_normal(e, g.generator, to, {mean, stddev});
    return;
  }
  trn::rand::normal(e, g.generator, to, {mean, stddev, method});
  if (!logarithm) return;
  if (e.family() == Family::Device) fail<NotImplemented>("log-normal numbers of a quasi-random generator on a device");
  for (T& x : std::span(to.data(), count)) x = std::exp(x);
}

}  // namespace

void create_generator(trnrandGenerator_t* generator, trnrandRngType_t type) { create(generator, type, false); }
void create_generator_host(trnrandGenerator_t* generator, trnrandRngType_t type) { create(generator, type, true); }
void destroy_generator(Handle& g) { alive<Handle>().remove(&g); }
void get_version(int* version) { answer("version", version, 10400); }
void set_stream(Handle& g, trnStream_t stream) { capi::set_stream(g, stream, "generator"); }
void set_seed(Handle& g, unsigned long long seed) {
  if (quasi(g)) type_error("a quasi-random generator has no seed");
  State state = g.generator.state();
  state.seed = seed;
  restart(g, state);
}
void set_offset(Handle& g, unsigned long long offset) {
  if (g.generator.state().algorithm == Algorithm::Mt19937) type_error("MT19937 has no offset");
  const std::uint64_t before = std::exchange(g.offset, offset);
  try {
    restart(g, g.generator.state());
  } catch (...) {
    g.offset = before;
    throw;
  }
}
void set_ordering(Handle& g, trnrandOrdering_t order) {
  State state = g.generator.state();
  switch (order) {
    case TRNRAND_ORDERING_PSEUDO_BEST:
    case TRNRAND_ORDERING_PSEUDO_DEFAULT:
    case TRNRAND_ORDERING_PSEUDO_LEGACY:
      require(!quasi(g), "a quasi-random generator takes ORDERING_QUASI_DEFAULT");
      state.ordering =
          order == TRNRAND_ORDERING_PSEUDO_LEGACY ? trn::rand::Ordering::Legacy : trn::rand::Ordering::Default;
      break;
    case TRNRAND_ORDERING_QUASI_DEFAULT:
      require(quasi(g), "ORDERING_QUASI_DEFAULT is for quasi-random generators");
      break;
    case TRNRAND_ORDERING_PSEUDO_SEEDED:
    case TRNRAND_ORDERING_PSEUDO_DYNAMIC:
      fail<NotImplemented>("orderings SEEDED and DYNAMIC");
    default:
      fail<InvalidArgument>("ordering {} is not known", static_cast<int>(order));
  }
  restart(g, state);
}
void set_dimensions(Handle& g, unsigned dimensions) {
  if (!quasi(g)) type_error("a pseudo-random generator has no dimensions");
  State state = g.generator.state();
  state.dimensions = dimensions;
  restart(g, state);
}
void generate_seeds(Handle&) {}  // generators have their states from the first draw on
void generate(Handle& g, unsigned* out, std::size_t count) {
  const Algorithm a = g.generator.state().algorithm;
  if (a == Algorithm::Sobol64 || a == Algorithm::ScrambledSobol64)
    type_error("64-bit Sobol points come by GenerateLongLong");
  check_length(g, count);
  const View<std::uint32_t> to = output(g, out, count);
  trn::rand::raw32(to.executor(), g.generator, to);
}
void generate_long_long(Handle& g, unsigned long long* out, std::size_t count) {
  const Algorithm a = g.generator.state().algorithm;
  if (a != Algorithm::Sobol64 && a != Algorithm::ScrambledSobol64)
    type_error("64-bit numbers are for 64-bit Sobol generators");
  check_length(g, count);
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  const View<std::uint64_t> to = output(g, reinterpret_cast<std::uint64_t*>(out), count);
  trn::rand::raw64(to.executor(), g.generator, to);
}
template <class T> static void draw_uniform(Handle& g, T* out, std::size_t count) {
  check_length(g, count);
  const View<T> to = output(g, out, count);
  trn::rand::uniform(to.executor(), g.generator, to);
}
void generate_uniform(Handle& g, float* out, std::size_t count) { draw_uniform(g, out, count); }
void generate_uniform(Handle& g, double* out, std::size_t count) { draw_uniform(g, out, count); }
void generate_normal(Handle& g, float* out, std::size_t count, float mean, float stddev) {
  draw_normal(g, out, count, mean, stddev, false);
}
void generate_normal(Handle& g, double* out, std::size_t count, double mean, double stddev) {
  draw_normal(g, out, count, mean, stddev, false);
}
void generate_log_normal(Handle& g, float* out, std::size_t count, float mean, float stddev) {
  draw_normal(g, out, count, mean, stddev, true);
}
void generate_log_normal(Handle& g, double* out, std::size_t count, double mean, double stddev) {
  draw_normal(g, out, count, mean, stddev, true);
}
namespace {

// The distribution function of Poisson's law from `first` on, to where less than 2^-70 is left on either side: weights
// from the mode outwards by the ratios lambda / k, normalised by their sum. Its relative error is that of the ratios,
// some units of 2^-64 per step from the mode.
struct PoissonTable {
  std::uint32_t first = 0;
  std::vector<long double> below;
  explicit PoissonTable(double lambda) {
    const auto mode = static_cast<std::uint64_t>(lambda);
    std::vector<long double> down, up{1.0L};
    long double w = 1;
    const auto small = [](long double weight) { return weight < 0x1p-76L; };
    for (std::uint64_t k = mode; k > 0 && !small(w); --k) down.push_back(w *= static_cast<long double>(k) / lambda);
    w = 1;
    for (std::uint64_t k = mode + 1; !small(w); ++k) up.push_back(w *= lambda / static_cast<long double>(k));
    first = static_cast<std::uint32_t>(mode - down.size());
    below.assign(down.rbegin(), down.rend());
    below.insert(below.end(), up.begin(), up.end());
    long double sum = 0;
    for (long double& x : below) x = sum += x;
    for (long double& x : below) x /= sum;
  }
  // The smallest k whose distribution function reaches u.
  [[nodiscard]] std::uint32_t operator()(double u) const {
    const auto found = std::lower_bound(below.begin(), below.end(), static_cast<long double>(u));
    return first + static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(found - below.begin(), std::ssize(below) - 1));
  }
};

// Generators whose words belong to no element: one uniform number each, and the distribution function inverted.
void poisson_by_inversion(Handle& g, const View<std::uint32_t>& to, double lambda) {
  if (lambda > 1e9) fail<NotImplemented>("poisson of this generator for lambda = {}; at most 1e9", lambda);
  const Array<double> uniform(to.executor(), to.shape());
  trn::rand::uniform(to.executor(), g.generator, uniform.view());
  const PoissonTable table(lambda);
  for (std::int64_t i = 0; i < to.size(); ++i) to.data()[i] = table(uniform.data()[i]);
}

}  // namespace

void generate_poisson(Handle& g, unsigned* out, std::size_t count, double lambda) {
  require(lambda > 0, "lambda is {}; it must be positive", lambda);
  check_length(g, count);
  const View<std::uint32_t> to = output(g, out, count);
  const bool counter_based = g.generator.state().algorithm == Algorithm::Philox4x32_10;
  if (!counter_based && to.executor().family() == Family::Host) return poisson_by_inversion(g, to, lambda);
  trn::rand::poisson(to.executor(), g.generator, to, {lambda});
}
void generate_binomial(Handle& g, unsigned* out, std::size_t count, unsigned n, double p) {
  check_length(g, count);
  const View<std::uint32_t> to = output(g, out, count);
  trn::rand::binomial(to.executor(), g.generator, to, {n, p});
}

}  // namespace trn::capi::rand

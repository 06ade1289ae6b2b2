// The draws of `trnsci fuzz rand` that take a fixed number of words: raw words and uniforms against the definitions of
// their generators, and normals, exponentials and their relatives against formulas in long double on the generator's
// own words.
#include <bit>
#include <numbers>

#include <trn/rand/bernoulli.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/uniform.hpp>

#include "fuzz_rand.hpp"

namespace trn::tools::fuzz::rand {

namespace {

using trn::rand::Interval;
using trn::rand::Law;
using trn::rand::Transform;
using Real = long double;
using Quad = std::array<std::uint32_t, 4>;

// Philox and Threefry, plainly, one block at a time (Salmon and others, 2011).
Quad philox(Quad c, std::uint32_t k0, std::uint32_t k1) {
  for (int r = 0; r < 10; ++r, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const std::uint64_t p = 0xD2511F53ull * c[0], q = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p)};
  }
  return c;
}
Quad threefry(Quad x, std::uint32_t k0, std::uint32_t k1) {
  constexpr int kRotate[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5}, {6, 20}, {17, 11}, {25, 10}, {18, 20}};
  const std::uint32_t key[5] = {k0, k1, 0, 0, 0x1BD11BDAu ^ k0 ^ k1};
  for (std::size_t i = 0; i < 4; ++i) x[i] += key[i];
  for (std::uint32_t r = 0; r < 20; ++r) {
    const std::size_t a = r % 2 == 0 ? 1 : 3, b = 4 - a;
    x[0] += x[a];
    x[a] = std::rotl(x[a], kRotate[r % 8][0]) ^ x[0];
    x[2] += x[b];
    x[b] = std::rotl(x[b], kRotate[r % 8][1]) ^ x[2];
    for (std::uint32_t i = 0; r % 4 == 3 && i < 4; ++i) x[i] += key[(r / 4 + 1 + i) % 5] + (i == 3 ? r / 4 + 1 : 0);
  }
  return x;
}
bool is_block(Algorithm a) { return a == Algorithm::Philox4x32_10 || a == Algorithm::Threefry4x32_20; }
std::uint32_t word(const State& s, std::uint64_t n) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const std::uint64_t block = n / 4, turn = block / 65536, sub = s.stream * 65536 + block % 65536;
  const Quad q = s.algorithm == Algorithm::Philox4x32_10
                     ? philox({low(turn), high(turn), low(sub), high(sub)}, low(s.seed), high(s.seed))
                     : threefry({low(block), high(block), low(s.stream), high(s.stream)}, low(s.seed), high(s.seed));
  return q[n % 4];
}

// The words from `first` on; of Philox and Threefry from the definition.
std::vector<std::uint32_t> words_from(const State& s, std::uint64_t first, std::int64_t n) {
  if (is_block(s.algorithm)) {
    std::vector<std::uint32_t> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(word(s, first + static_cast<std::uint64_t>(i)));
    return x;
  }
  State at = s;
  at.position = first;
  at.origin = 0;
  Generator g(at);
  const Array<std::uint32_t> out(Executor::host(), {n});
  trn::rand::raw32(Executor::host(), g, out.view());
  return out.to_host();
}

void run_raw32(Case& c) {
  Drawing<std::uint32_t> d{[](auto& e, auto& g, auto& v) { trn::rand::raw32(e, g, v); }, {}};
  d.device = true;
  d.formula = [](Case& k, const State& s, const std::vector<std::uint32_t>& x) {
    if (is_block(s.algorithm))
      expect_same(k, "the definition", x, words_from(s, s.position, static_cast<std::int64_t>(x.size())));
  };
  check(c, d);
}
void run_raw64(Case& c) {
  Drawing<std::uint64_t> d{[](auto& e, auto& g, auto& v) { trn::rand::raw64(e, g, v); }, {}};
  d.device = true;
  d.formula = [](Case& k, const State& s, const std::vector<std::uint64_t>& x) {
    const auto w = words_from(s, s.position, 2 * static_cast<std::int64_t>(x.size()));
    std::vector<std::uint64_t> want;
    for (std::size_t i = 0; i < w.size(); i += 2) want.push_back(w[i] | std::uint64_t{w[i + 1]} << 32);
    expect_same(k, "two words", x, want);
  };
  check(c, d);
}

template <class T> void run_uniform(Case& c) {
  const bool open = c.random.chance(2);
  c.say("{}", open ? "(0, 1]" : "[0, 1)");
  const auto interval = open ? Interval::OpenClosed : Interval::HalfOpen;
  Drawing<T> d{[interval](auto& e, auto& g, auto& v) { trn::rand::uniform(e, g, v, interval); },
               [open](T x) { return open ? x > 0 && x <= 1 : x >= 0 && x < 1; }};
  d.device = sizeof(T) == 4;
  d.formula = [open](Case& k, const State& s, const std::vector<T>& x) {
    const auto n = static_cast<std::int64_t>(x.size());
    if (open && (s.algorithm == Algorithm::Mrg32k3a ||
                 (sizeof(T) == 8 && s.algorithm != Algorithm::Threefry4x32_20 && s.algorithm != Algorithm::Mt19937)))
      return;  // other words, or numbers that words do not show
    const bool one = sizeof(T) == 4 || (open && s.algorithm == Algorithm::Mt19937);
    const auto w = words_from(s, s.position, one ? n : 2 * n);
    std::vector<T> want;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint32_t a = w[static_cast<std::size_t>(one ? i : 2 * i)],
                          b = one ? 0 : w[static_cast<std::size_t>(2 * i + 1)];
      if (one) {
        const Real whole = sizeof(T) == 4 && s.algorithm != Algorithm::Mt19937
                               ? static_cast<Real>(static_cast<float>(a))
                               : static_cast<Real>(a);
        want.push_back(open ? static_cast<T>(whole * 0x1p-32L + 0x1p-33L)
                            : static_cast<T>(static_cast<Real>(a >> 8) * 0x1p-24L));
      } else {
        const std::uint64_t z = a | std::uint64_t{b} << 32;
        want.push_back(open ? static_cast<T>(static_cast<double>(a ^ (std::uint64_t{b} << 21)) * 0x1p-53 + 0x1p-54)
                            : static_cast<T>(static_cast<Real>(z >> 11) * 0x1p-53L));
      }
    }
    expect_same(k, "the formula", x, want);
  };
  check(c, d);
}

// Points: pieces, views and threads; the numbers of a generator are the tests' business.
template <class T, bool kRaw> void run_points(Case& c) {
  Drawing<T> d;
  d.source = Source::Points;
  const bool open = c.random.chance(2);
  d.call = [open](const Executor& e, Generator& g, const View<T>& v) {
    const Algorithm a = g.state().algorithm;
    [[maybe_unused]] const bool narrow =
        a == Algorithm::Sobol32 || a == Algorithm::ScrambledSobol32 || a == Algorithm::OwenSobol32;
    if constexpr (kRaw) {
      if (narrow) {  // raw32 into the same memory, widened
        const Array<std::uint32_t> words(e, v.shape());
        trn::rand::raw32(e, g, words.view());
        const Array<T> wide = Array<T>::from_host(e, v.shape(), [&] {
          std::vector<T> all;
          for (const std::uint32_t x : words.to_host()) all.push_back(x);
          return all;
        }());
        copy(wide.view(), v);
      } else {
        trn::rand::raw64(e, g, v);
      }
    } else {
      trn::rand::uniform(e, g, v, open ? Interval::OpenClosed : Interval::HalfOpen);
    }
  };
  d.device = kRaw || sizeof(T) == 4;
  if constexpr (!kRaw) d.fits = [open](T x) { return open ? x > 0 && x <= 1 : x >= 0 && x < 1; };
  check(c, d);
}

// The formulas without their roundings, on words x and y of `bits` bits; see normal.hpp and exponential.hpp.
template <class T> struct Exact {
  static constexpr int kBits = sizeof(T) * 8, kAngle = sizeof(T) == 4 ? 22 : 51;
  static constexpr Real kUnit = sizeof(T) == 4 ? 0x1p-24L : 0x1p-53L;
  static Real u(std::uint64_t x, std::uint64_t y) {
    const Real step = std::ldexp(Real(1), -kBits);
    return (static_cast<Real>(x) + static_cast<Real>(y) * step) * step + step * step / 2;
  }
  static Real normal(std::uint64_t x, std::uint64_t y, bool second) {
    const std::uint64_t k = y & ((std::uint64_t{1} << kAngle) - 1);
    const Real phi = (static_cast<Real>(k) + 0.5L) * std::ldexp(Real(1), -kAngle) * std::numbers::pi_v<Real> / 2;
    const bool negative = (y >> (second ? kAngle : kAngle + 1) & 1) != 0;
    return (negative ? -1 : 1) * std::sqrt(-2 * std::log(u(x, y))) * (second ? std::cos(phi) : std::sin(phi));
  }
  // Of z: 5 ulp, and the error of u near 1, which a small |z| shows.
  static Real normal_error(Real z) {
    z = std::fabs(z);
    return 10 * kUnit * z + std::min(std::sqrt(8 * kUnit), 4 * kUnit / std::max(z, 1e-30L));
  }
};

// location + scale z and so on, with the bound of its error: of the standard value, then of every rounding after it.
template <class T> std::pair<Real, Real> value_and_bound(const Transform& t, std::uint64_t number, std::uint64_t own,
                                                         std::uint64_t other) {
  using E = Exact<T>;
  const Real location = static_cast<T>(t.location), scale = static_cast<T>(t.scale), shape = static_cast<T>(t.shape),
             unit = E::kUnit;
  if (t.law == Law::Normal || t.law == Law::LogNormal) {
    const bool second = number % 2 != 0;
    const Real z = second ? E::normal(other, own, true) : E::normal(own, other, false), x = location + scale * z;
    const Real error =
        scale * E::normal_error(z) + 2 * unit * (std::fabs(scale * z) + std::fabs(x) + scale * E::normal_error(z));
    if (t.law == Law::Normal) return {x, error};
    return {std::exp(x), std::exp(x) * (std::expm1(error) + 8 * unit)};
  }
  const Real u = E::u(own, other), e = -std::log(u), relative = 6 * unit + 4 * unit / e;
  const Real sign = (other & 1) != 0 ? -1 : 1;
  if (t.law == Law::Exponential) return {scale * e, scale * e * (relative + 6 * unit)};
  if (t.law == Law::Laplace)
    return {location + sign * scale * e,
            scale * e * (relative + 4 * unit) + 2 * unit * (std::fabs(location) + scale * e)};
  if (t.law == Law::Weibull) {
    const Real x = shape * std::log(e),
               error = shape * (relative * 2 + 4 * unit * std::fabs(std::log(e))) + 4 * unit * std::fabs(x);
    return {scale * std::exp(x), scale * std::exp(x) * (std::expm1(error) + 8 * unit)};
  }
  const Real cot = 1 / std::tan(std::numbers::pi_v<Real> / 2 * u);
  return {location + sign * scale * cot,
          scale * (std::fabs(cot) * 14 * unit + 8 * unit) + 2 * unit * (std::fabs(location) + scale * std::fabs(cot))};
}

template <class T> void check_formula(Case& c, const State& s, const Transform& t, const std::vector<T>& values) {
  constexpr std::uint64_t kEach = sizeof(T) / 4;
  if (s.position % kEach != 0) return;  // a double that begins with the second of its words
  const std::uint64_t first = s.position / kEach, from = first & ~std::uint64_t{1};
  const auto count = static_cast<std::int64_t>(values.size()) + 2;
  const std::vector<std::uint32_t> w = words_from(s, from * kEach, count * static_cast<std::int64_t>(kEach));
  const auto at = [&](std::uint64_t n) -> std::uint64_t {
    const auto i = static_cast<std::size_t>((n - from) * kEach);
    return kEach == 1 ? w[i] : w[i] | std::uint64_t{w[i + 1]} << 32;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t n = first + i;
    auto [want, bound] = value_and_bound<T>(t, n, at(n), at(n ^ 1));
    const auto got = static_cast<Real>(values[i]);
    const Real most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    if (std::fabs(want) + bound >= most / 2) continue;             // may overflow on the way
    bound += least * (1 + std::fabs(static_cast<Real>(t.scale)));  // what underflowed, before the scaling and after it
    if (c.on_device) bound += static_cast<Real>(trn::rand::device_difference_bound(t, static_cast<double>(values[i])));
    if (!(std::fabs(got - want) <= bound))
      c.report("value {} is {}, the formula gives {}: off by {} of the bound", i, bits_of(values[i]),
               static_cast<double>(want), static_cast<double>(std::fabs(got - want) / bound));
  }
}

template <class T> void check_law(Case& c, const Transform& t, Drawing<T> d) {
  d.device = sizeof(T) == 4;
  d.law = t;
  // A bound is stated for parameters whose products neither overflow nor vanish.
  const auto ordinary = [](double x) { return x == 0 || (std::fabs(x) > 1e-15 && std::fabs(x) < 1e15); };
  if (ordinary(t.location) && ordinary(t.scale) && t.shape < 20 &&
      std::fabs(t.location) + 10 * t.scale < (t.law == Law::LogNormal ? 60.0 : 1e15))
    d.formula = [t](Case& k, const State& s, const std::vector<T>& x) { check_formula(k, s, t, x); };
  if (c.wild) d.device = false;
  check(c, d);
}

template <class T> void run_normal(Case& c) {
  const double mean = c.real("mean", -5, 5), stddev = c.random.chance(6) ? 0.0 : c.positive("stddev", 1e-3, 1e3);
  check_law<T>(c, {Law::Normal, mean, stddev},
               {[=](auto& e, auto& g, auto& v) {
                  trn::rand::normal(e, g, v, {mean, stddev});
                },
                {}});
}
template <class T> void run_normal_inverse(Case& c) {
  Drawing<T> d{
      [](auto& e, auto& g, auto& v) { trn::rand::normal(e, g, v, {.method = trn::rand::NormalMethod::Inverse}); },
      [](T z) { return std::fabs(z) < 9.1; }};
  if (c.random.chance(2)) d.source = Source::Points;
  check(c, d);
}
template <class T> void run_normal_curand(Case& c) {
  check<T>(c,
           {[](auto& e, auto& g, auto& v) { trn::rand::normal(e, g, v, {.method = trn::rand::NormalMethod::Curand}); },
            [](T z) { return std::fabs(z) < (sizeof(T) == 4 ? 6.8 : 8.7); }});
}
template <class T> void run_log_normal(Case& c) {
  const double mean = c.real("mean", -5, 5), stddev = c.positive("stddev", 1e-3, 5);
  check_law<T>(c, {Law::LogNormal, mean, stddev},
               {[=](auto& e, auto& g, auto& v) {
                  trn::rand::log_normal(e, g, v, {mean, stddev});
                },
                [](T x) { return x >= 0; }});
}
template <class T> void run_exponential(Case& c) {
  const double rate = c.positive("rate", 1e-4, 1e4);
  check_law<T>(
      c, {Law::Exponential, 0, 1 / rate},
      {[=](auto& e, auto& g, auto& v) { trn::rand::exponential(e, g, v, {rate}); }, [](T x) { return x >= 0; }});
}
template <class T> void run_laplace(Case& c) {
  const double location = c.real("location", -5, 5), scale = c.positive("scale", 1e-3, 1e3);
  check_law<T>(c, {Law::Laplace, location, scale},
               {[=](auto& e, auto& g, auto& v) {
                  trn::rand::laplace(e, g, v, {location, scale});
                },
                {}});
}
template <class T> void run_weibull(Case& c) {
  const double shape = c.positive("shape", 0.1, 20), scale = c.positive("scale", 1e-3, 1e3);
  check_law<T>(c, {Law::Weibull, 0, scale, 1 / shape},
               {[=](auto& e, auto& g, auto& v) {
                  trn::rand::weibull(e, g, v, {shape, scale});
                },
                [](T x) { return x >= 0; }});
}
template <class T> void run_cauchy(Case& c) {
  const double location = c.real("location", -5, 5), scale = c.positive("scale", 1e-3, 1e3);
  check_law<T>(c, {Law::Cauchy, location, scale},
               {[=](auto& e, auto& g, auto& v) {
                  trn::rand::cauchy(e, g, v, {location, scale});
                },
                {}});
}

// 1 where the number of 64 bits, own word first, is below p 2^64.
template <class T> void run_bernoulli(Case& c) {
  const double p = c.probability("p");
  Drawing<T> d{[=](auto& e, auto& g, auto& v) { trn::rand::bernoulli(e, g, v, {p}); },
               [](T x) { return x == 0 || x == 1; }};
  d.device = true;
  d.formula = [p](Case& k, const State& s, const std::vector<T>& x) {
    const std::uint64_t from = s.position & ~std::uint64_t{1};
    const auto w = words_from(s, from, static_cast<std::int64_t>(x.size()) + 2);
    std::vector<T> want;
    for (std::uint64_t i = 0; i < x.size(); ++i) {
      const std::uint64_t n = s.position + i, own = w[static_cast<std::size_t>(n - from)],
                          other = w[static_cast<std::size_t>((n ^ 1) - from)];
      want.push_back(static_cast<T>(
          static_cast<Real>(own << 32 | other) < std::floor(std::ldexp(static_cast<Real>(p), 64)) ? 1 : 0));
    }
    expect_same(k, "the comparison", x, want);
  };
  check(c, d);
}

}  // namespace

std::vector<Row> words() {
  return {{"raw32", run_raw32},
          {"raw64", run_raw64},
          {"uniform", run_uniform<float>},
          {"uniform_double", run_uniform<double>},
          {"points", run_points<float, false>},
          {"points_double", run_points<double, false>},
          {"raw_points", run_points<std::uint64_t, true>}};
}
std::vector<Row> transforms() {
  return {{"normal", run_normal<float>},
          {"normal_double", run_normal<double>},
          {"normal_inverse", run_normal_inverse<float>},
          {"normal_inverse_double", run_normal_inverse<double>},
          {"normal_curand", run_normal_curand<float>},
          {"normal_curand_double", run_normal_curand<double>},
          {"log_normal", run_log_normal<float>},
          {"log_normal_double", run_log_normal<double>},
          {"exponential", run_exponential<float>},
          {"exponential_double", run_exponential<double>},
          {"laplace", run_laplace<float>},
          {"laplace_double", run_laplace<double>},
          {"weibull", run_weibull<float>},
          {"weibull_double", run_weibull<double>},
          {"cauchy", run_cauchy<float>},
          {"cauchy_double", run_cauchy<double>},
          {"bernoulli", run_bernoulli<std::uint32_t>},
          {"bernoulli_float", run_bernoulli<float>}};
}

}  // namespace trn::tools::fuzz::rand

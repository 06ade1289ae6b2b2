// Lengths on both sides of every length at which a planner changes its mind (src/host/limits.hpp, schedule.hpp,
// line_plan.hpp): a prime, three times a prime and a smooth one below and above it, all kinds, both precisions, one
// line and strided lines.
//
// One transform of complex points x of few bits serves all kinds: X is its exact transform; the real parts of x have
// (X_k + conj X_(n-k))/2, and the Hermitian part of x, which has one bit more, has the real parts of X. Up to 20000
// points X is the long double oracle's and every result counts. Beyond, single results are summed by the definition,
// and the norm of all results is known from Parseval's identity.
#include <omp.h>

#include <host/limits.hpp>
#include <host/line_choice.hpp>
#include <host/line_plan.hpp>
#include <host/schedule.hpp>

#include "dft_oracle.hpp"
#include "fft_support.hpp"
#include "support/every_target.hpp"

namespace trn::fft::test {
namespace {

using testing::Long;
using testing::oracle_dft;

constexpr std::int64_t kWholeOracle = 20000;

bool is_prime(std::int64_t n) { return host::prime_factors(n).size() == 1; }
std::int64_t prime_near(std::int64_t n, int step) {
  while (!is_prime(n)) n += step;
  return n;
}
std::int64_t smooth_near(std::int64_t n, int step) {
  const auto smooth = [](std::int64_t m) {
    for (const std::int64_t p : {2, 3, 5, 7}) {
      while (m % p == 0) m /= p;
    }
    return m == 1;
  };
  while (!smooth(n)) n += step;
  return n;
}
// `at` is the first length of the other way.
std::vector<std::int64_t> around(std::int64_t at) {
  return {prime_near(at - 1, -1),          prime_near(at, 1),       3 * prime_near((at - 1) / 3, -1),
          3 * prime_near((at + 2) / 3, 1), smooth_near(at - 1, -1), smooth_near(at, 1)};
}

// Points of 11 bits, so that sums of two halves are exact in float.
std::vector<Long> coarse_points(std::int64_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<Long> x(static_cast<std::size_t>(n));
  const auto part = [&] { return std::ldexp(static_cast<long double>(engine() % 2048) - 1024, -10); };
  for (Long& z : x) {
    const long double re = part();
    z = {re, part()};
  }
  return x;
}

// Some or all X_k of x.
struct Exact {
  std::vector<std::int64_t> k;
  std::vector<Long> value, mirror;  // X_k and X_(n-k)
  bool all = false;
};
// All of them up to so many points.
Exact exact_results(const std::vector<Long>& x, std::int64_t whole_up_to = kWholeOracle) {
  const auto n = static_cast<std::int64_t>(x.size());
  Exact e;
  e.all = n <= whole_up_to;
  if (e.all) {
    const std::vector<Long> whole = oracle_dft(x);
    for (std::int64_t k = 0; k < n; ++k) {
      e.k.push_back(k);
      e.value.push_back(whole[static_cast<std::size_t>(k)]);
      e.mirror.push_back(whole[static_cast<std::size_t>((n - k) % n)]);
    }
    return e;
  }
  // exp(-2 pi i j/n) as products of two roots.
  const std::int64_t step = 1024;
  std::vector<Turn<long double>> fine, coarse;
  for (std::int64_t j = 0; j < step; ++j) fine.push_back(turn<long double>(j, n));
  for (std::int64_t j = 0; j * step < n; ++j) coarse.push_back(turn<long double>(j * step, n));
  const auto root = [&](std::int64_t j) {
    const auto &a = coarse[static_cast<std::size_t>(j / step)], &b = fine[static_cast<std::size_t>(j % step)];
    return Long(a.c * b.c - a.s * b.s, -(a.s * b.c + a.c * b.s));
  };
  for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 2, n / 3 + 1}) {
    Long sum = 0, mirror = 0;
    for (std::int64_t j = 0, at = 0; j < n; ++j, at = (at + k) % n) {
      const Long w = root(at), z = x[static_cast<std::size_t>(j)];
      sum += Long(z.real() * w.real() - z.imag() * w.imag(), z.real() * w.imag() + z.imag() * w.real());
      mirror += Long(z.real() * w.real() + z.imag() * w.imag(), z.imag() * w.real() - z.real() * w.imag());
    }
    e.k.push_back(k);
    e.value.push_back(sum);
    e.mirror.push_back(mirror);
  }
  return e;
}

// got(k) and want(i), i in the list of e, of `count` results; `norm`: || exact ||, `weight(k)`: how often result k
// counts in it.
template <class Got, class Want, class Weight> void compare(const Exact& e, std::int64_t count, double bound,
                                                            long double norm, const Got& got, const Want& want,
                                                            const Weight& weight) {
  long double errors = 0, squares = 0, all = 0;
  for (std::size_t i = 0; i < e.k.size(); ++i) {
    if (e.k[i] >= count) continue;
    const Long y = got(e.k[i]), exact = want(i);
    ASSERT_TRUE(std::isfinite(y.real()) && std::isfinite(y.imag())) << "result " << e.k[i];
    if (!e.all) {
      ASSERT_LE(std::abs(y - exact), bound * norm) << "result " << e.k[i];
    }
    errors += std::norm(y - exact);
    squares += std::norm(exact);
  }
  if (e.all) {
    EXPECT_LE(std::sqrt(errors), bound * std::sqrt(squares));
    return;
  }
  for (std::int64_t k = 0; k < count; ++k) all += weight(k) * std::norm(got(k));
  EXPECT_NEAR(std::sqrt(all), norm, 1.5L * bound * norm);  // of a half line sqrt(2) times the bound
}

// Lines of n points: one, or `lines` of them as columns, column b being 2^b times the first: powers of two change no
// digit.
template <class T>
void check_kinds(const std::vector<Long>& x, const Exact& e, std::int64_t lines, const std::vector<Kind>& kinds) {
  using C = std::complex<T>;
  const auto n = static_cast<std::int64_t>(x.size()), half = n / 2 + 1;
  const Executor host = Executor::host();
  const auto at = [&](const auto& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
  const auto scale = [&](std::int64_t b) { return std::ldexp(T(1), static_cast<int>(b % 8)); };
  const auto make = [&](std::int64_t count, const auto& point) {
    std::vector<std::decay_t<decltype(point(0))>> v;
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t b = 0; b < lines; ++b) v.push_back(point(j) * scale(b));
    return v;
  };
  for (const Kind kind : kinds) {
    SCOPED_TRACE(::testing::Message() << name(kind) << " of " << n << " points, " << lines << " lines, "
                                      << 8 * sizeof(T) << " bits");
    Description d{kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, {{n, lines, lines}}};
    if (lines > 1) d.batch = {{lines, 1, 1}};
    const Plan<T> plan(host, d);
    const double bound = plan.accuracy().bound;
    std::vector<C> y(static_cast<std::size_t>(lines * (kind == Kind::RealToComplex ? half : n)));
    std::vector<T> r(static_cast<std::size_t>(kind == Kind::ComplexToReal ? lines * n : 0));
    long double squares = 0;
    if (kind == Kind::ComplexToComplex) {
      const auto in =
          make(n, [&](std::int64_t j) { return C(static_cast<T>(at(x, j).real()), static_cast<T>(at(x, j).imag())); });
      for (const Long& z : x) squares += std::norm(z);
      plan.execute(in.data(), y.data());
    } else if (kind == Kind::RealToComplex) {
      const auto in = make(n, [&](std::int64_t j) { return static_cast<T>(at(x, j).real()); });
      for (const Long& z : x) squares += z.real() * z.real();
      plan.execute(in.data(), y.data());
    } else {
      const auto hermitian = [&](std::int64_t j) { return (at(x, j) + std::conj(at(x, (n - j) % n))) / 2.0L; };
      const auto in = make(half, [&](std::int64_t j) {
        return C(static_cast<T>(hermitian(j).real()), static_cast<T>(hermitian(j).imag()));
      });
      for (std::int64_t j = 0; j < n; ++j) squares += std::norm(hermitian(j));
      plan.execute(in.data(), r.data());
    }
    const long double norm = std::sqrt(squares) * std::sqrt(static_cast<long double>(n));
    for (std::int64_t b = 0; b < lines; b += std::max<std::int64_t>(1, lines - 1)) {
      const long double by = 1 / static_cast<long double>(scale(b));
      const auto once = [](std::int64_t) { return 1.0L; };
      if (kind == Kind::ComplexToComplex) {
        compare(
            e, n, bound, norm,
            [&](std::int64_t k) {
              const C z = at(y, k * lines + b);
              return Long(z.real(), z.imag()) * by;
            },
            [&](std::size_t i) { return e.value[i]; }, once);
      } else if (kind == Kind::RealToComplex) {
        compare(
            e, half, bound, norm,
            [&](std::int64_t k) {
              const C z = at(y, k * lines + b);
              return Long(z.real(), z.imag()) * by;
            },
            [&](std::size_t i) { return (e.value[i] + std::conj(e.mirror[i])) / 2.0L; },
            [&](std::int64_t k) { return k == 0 || 2 * k == n ? 1.0L : 2.0L; });
      } else {  // the inverse of the Hermitian part: the forward one at n - j
        compare(
            e, n, bound, norm, [&](std::int64_t k) { return Long(at(r, k * lines + b) * by); },
            [&](std::size_t i) { return Long(e.mirror[i].real()); }, once);
      }
    }
  }
}

void check_length(std::int64_t n, std::int64_t lines = 1) {
  const std::vector<Long> x = coarse_points(n, static_cast<std::uint32_t>(n));
  const Exact e = exact_results(x);
  const std::vector<Kind> kinds{Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal};
  check_kinds<float>(x, e, lines, kinds);
  check_kinds<double>(x, e, lines, kinds);
}

TEST(Thresholds, ShortLines) {
  for (const std::int64_t at : {std::int64_t{17}, std::int64_t{33}, host::kLargestDirect + 1, host::kLongestWhole + 1,
                                std::int64_t{512}, host::kLongestSteps + 1, 2 * host::kLongestSteps + 1}) {
    for (const std::int64_t n : around(at)) {
      for (const std::int64_t lines : {1, 5, 20}) check_length(n, lines);
    }
  }
}

TEST(Thresholds, Tables) {
  for (const std::int64_t at : {host::kLongestStrided + 1, host::kWholeTable + 1}) {
    for (const std::int64_t n : around(at)) check_length(n);
  }
  static_assert(host::kWholeTable == host::kLongestStridedReal && host::kWholeTable == host::kLongestColumn);
}

TEST(Thresholds, StridedLines) {
  check_length(smooth_near(host::kLongestStrided, -1), 17);
  check_length(smooth_near(host::kLongestStrided + 1, 1), 17);
  const std::int64_t below = smooth_near(host::kLongestStridedReal, -1),
                     above = smooth_near(host::kLongestStridedReal + 1, 1);
  for (const std::int64_t n : {below, above}) {
    const std::vector<Long> x = coarse_points(n, 7);
    check_kinds<float>(x, exact_results(x), 17, {Kind::RealToComplex, Kind::ComplexToReal});
  }
}

// From here on all threads share a line, and convolutions of 2 n points are beyond kLongConvolution: of some lengths of
// a padded one first, of all of them later.
TEST(Thresholds, LongLines) {
  ASSERT_EQ(host::kLongConvolution, 2 * host::kLongLine);
  omp_set_num_threads(2);
  for (const std::int64_t n : around(host::kLongLine)) check_length(n);
  omp_set_num_threads(1);
}

// Real convolutions of float: lengths of which the first is below kLongConvolution and others are not, or n - 1 is, and
// the padded ones are not.
TEST(Thresholds, LongRealConvolutionsOfFloat) {
  const std::int64_t some = prime_near(host::kLongConvolution * 19 / 40, 1);  // 124515 and on
  for (const std::int64_t n :
       {std::int64_t{124427}, std::int64_t{131101}, std::int64_t{147457}, some, prime_near(host::kLongConvolution, -1),
        prime_near(host::kLongConvolution, 1), std::int64_t{3} * 131101}) {
    const std::vector<Long> x = coarse_points(n, 5);
    check_kinds<float>(x, exact_results(x), 1, {Kind::RealToComplex, Kind::ComplexToReal});
  }
}

TEST(Thresholds, LongConvolutionsOfComplexLines) {
  for (const std::int64_t n :
       {prime_near(host::kLongConvolution / 2, -1), std::int64_t{147457}, prime_near(host::kLongConvolution, 1)}) {
    const std::vector<Long> x = coarse_points(n, 5);
    const Exact e = exact_results(x);
    check_kinds<float>(x, e, 1, {Kind::ComplexToComplex});
    check_kinds<double>(x, e, 1, {Kind::ComplexToComplex, Kind::RealToComplex});
  }
}

// Halved lines go through scratch up to 4 MiB.
TEST(Thresholds, HalvedLines) {
  for (const std::int64_t n : {smooth_near(1 << 19, -1), smooth_near((1 << 19) + 1, 1), smooth_near(1 << 20, -1),
                               smooth_near((1 << 20) + 2, 2)}) {
    const std::vector<Long> x = coarse_points(n, 5);
    const Exact e = exact_results(x);
    check_kinds<float>(x, e, 1, {Kind::RealToComplex, Kind::ComplexToReal});
    check_kinds<double>(x, e, 1, {Kind::RealToComplex, Kind::ComplexToReal});
  }
}

// Vectors shorter than a line of the cache: no more legs 4 KiB apart than a set of the cache has lines.
TEST(Thresholds, LegsThatShareASetOfTheCache) {
  testing_support::on_every_target([] {
    if (host::step_functions<double>().numbers * 16 >= 64) return;
    host::Chooser chooser(host::widest_lanes<double>(), sizeof(double));
    const host::Choice choice = chooser.best(4096);
    if (choice.kind != host::LineKind::Steps) return;
    for (const int radix : choice.radices) EXPECT_LE(radix, 8);
  });
}

}  // namespace
}  // namespace trn::fft::test

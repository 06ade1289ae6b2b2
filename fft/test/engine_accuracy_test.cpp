// The 1-D engines against the oracle: relative L2 error of every kind of length, both precisions. The whole table of lengths 1 .. 4096 is fft/bench/accuracy.
#include <gtest/gtest.h>

#include <cmath>

#include "engine_support.hpp"

namespace trn::fft::testing {
namespace {

__extension__ using Quad = __float128;

// The definition, summed in __float128; the roots have the accuracy of long double.
std::vector<Long> sums_dft(const std::vector<Long>& x) {
  const std::int64_t n = static_cast<std::int64_t>(x.size());
  std::vector<Long> result(x.size());
  for (std::int64_t k = 0; k < n; ++k) {
    Quad re = 0, im = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t e = j * k % n, nearest = 2 * e <= n ? e : e - n;
      const long double angle = 6.283185307179586476925286766559005768L * static_cast<long double>(nearest) / static_cast<long double>(n);
      const Quad c = std::cos(angle), s = std::sin(angle);
      const Long z = x[static_cast<std::size_t>(j)];
      re += z.real() * c + z.imag() * s;
      im += z.imag() * c - z.real() * s;
    }
    result[static_cast<std::size_t>(k)] = {static_cast<long double>(re), static_cast<long double>(im)};
  }
  return result;
}

TEST(DftOracle, AgreesWithTheDefinition) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 12, 16, 30, 49, 64, 97, 100, 121, 149, 151, 157, 223, 256, 298, 302, 307})
    EXPECT_LE(relative_error(oracle_dft(random_points(n, 7)), sums_dft(random_points(n, 7))), 1e-18L) << n;
}

template <class T>
void check(std::int64_t n, std::int64_t lines, const std::vector<Long>& x, const std::vector<Long>& spectrum) {
  SCOPED_TRACE("n = " + std::to_string(n) + ", " + std::to_string(lines) + " lines of " + std::to_string(sizeof(T)) + " bytes");
  const double required = kRequired<T>;
  EXPECT_LE(relative_error(transform<T>(EngineKind::Complex, n, lines, x), spectrum), required);
  // A real line's spectrum is the Hermitian part: (X_k + conj X_(n-k))/2.
  std::vector<Long> half(static_cast<std::size_t>(n / 2 + 1));
  for (std::int64_t k = 0; k <= n / 2; ++k)
    half[static_cast<std::size_t>(k)] = (spectrum[static_cast<std::size_t>(k)] + std::conj(spectrum[static_cast<std::size_t>((n - k) % n)])) / 2.0L;
  EXPECT_LE(relative_error(transform<T>(EngineKind::RealToHalf, n, lines, x), half), required);
}

template <class T>
void check_back(std::int64_t n, std::int64_t lines, const std::vector<Long>& half, const std::vector<Long>& line) {
  SCOPED_TRACE("n = " + std::to_string(n) + ", " + std::to_string(lines) + " lines of " + std::to_string(sizeof(T)) + " bytes");
  EXPECT_LE(relative_error(transform<T>(EngineKind::HalfToReal, n, lines, half), line), kRequired<T>);
}

void check_length(std::int64_t n, std::int64_t lines) {
  const std::vector<Long> x = random_points(n, static_cast<std::uint64_t>(n)), spectrum = oracle_dft(x);
  check<float>(n, lines, x, spectrum);
  check<double>(n, lines, x, spectrum);
}
void check_length_back(std::int64_t n, std::int64_t lines) {
  const std::vector<Long> half = random_points(n / 2 + 1, static_cast<std::uint64_t>(n) + 1), line = oracle_dft(hermitian_conjugate(half, n));
  check_back<float>(n, lines, half, line);
  check_back<double>(n, lines, half, line);
}

TEST(EngineAccuracy, EveryShortLengthOneLine) {
  for (std::int64_t n = 1; n <= 300; ++n) {
    check_length(n, 1);
    check_length_back(n, 1);
  }
}

TEST(EngineAccuracy, EveryShortLengthManyLines) {
  for (std::int64_t n = 1; n <= 300; ++n) {
    check_length(n, 5 + n % 17);
    check_length_back(n, 5 + n % 17);
  }
}

// Lines of one codelet, complex and real, that never leave the registers: full blocks only.
TEST(EngineAccuracy, FullBlocksOfShortLines) {
  for (std::int64_t n = 2; n <= 34; ++n) {
    check_length(n, 32);
    check_length_back(n, 32);
  }
  for (const std::int64_t n : {36, 40, 48, 60, 62, 64, 66, 100, 126, 200, 250, 1000}) check_length(n, 32);
}

// A prime whose convolution is so long that float is computed in double, by sampled outputs: sums by the definition, with roots from a table of long double.
TEST(EngineAccuracy, LongConvolutionOfFloat) {
  const std::int64_t n = 131111;
  const std::vector<Long> x = random_points(n, 5), y = transform<float>(EngineKind::Complex, n, 1, x);
  std::vector<Long> root(static_cast<std::size_t>(n)), want, got;
  for (std::int64_t k = 0; k < n; ++k) {
    const long double angle = 6.283185307179586476925286766559005768L * static_cast<long double>(k) / static_cast<long double>(n);
    root[static_cast<std::size_t>(k)] = {std::cos(angle), -std::sin(angle)};
  }
  for (std::int64_t k = 0; k < n; k += n / 60) {
    long double re = 0, im = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const Long w = root[static_cast<std::size_t>(j * k % n)], z = x[static_cast<std::size_t>(j)];
      re += z.real() * w.real() - z.imag() * w.imag();
      im += z.real() * w.imag() + z.imag() * w.real();
    }
    want.push_back({re, im});
    got.push_back(y[static_cast<std::size_t>(k)]);
  }
  EXPECT_LE(relative_error(got, want), 0x1p-24);  // one rounding
}

TEST(EngineAccuracy, LengthsTo4096) {
  for (std::int64_t n = 301; n <= 4096; n += 37) check_length(n, n % 2 == 0 ? 1 : 9);
  for (const std::int64_t n : {509, 510, 512, 1009, 1021, 1023, 1024, 1025, 2017, 2027, 2048, 2187, 2401, 3125, 3600, 4091, 4093, 4095, 4096}) {
    check_length(n, 1);
    check_length_back(n, 1);
  }
}

TEST(EngineAccuracy, SelectedLongLengths) {
  for (const std::int64_t n : {8191, 8193, 10007, 16384, 19683, 65536, 65537, 99991, 100000}) check_length(n, 1);
  for (const std::int64_t n : {10007, 65536, 100000}) check_length_back(n, 1);
}

}  // namespace
}  // namespace trn::fft::testing

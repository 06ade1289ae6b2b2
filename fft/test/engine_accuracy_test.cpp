// The 1-D engines against the oracle: relative L2 error of every length to 4096 and of longer ones, both precisions,
// complex and real. bench/accuracy.cpp prints the errors, and has lengths to 2^22.
#include <gtest/gtest.h>

#include <cmath>

#include "engine_support.hpp"

namespace trn::fft::testing {
namespace {

// The oracles themselves. By the definition, in __float128: lengths that are powers, products, primes on either side of
// the chirps, and squares of primes.
TEST(DftOracle, AgreesWithTheDefinition) {
  for (const std::int64_t n :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 30, 49, 64, 97, 100, 101, 103, 121, 149, 206, 256, 303, 307, 412, 509}) {
    std::vector<QuadPoint> x;
    for (const Long& z : random_points(n, 7)) x.push_back({z.real(), z.imag()});
    EXPECT_LE(relative_error(quad_dft(x), quad_sums(x)), 1e-32) << n;
  }
}
TEST(DftOracle, LongDoubleAgreesWithFloat128) {
  for (const std::int64_t n :
       {1, 2, 3, 64, 101, 243, 307, 509, 1000, 1009, 1021, 2018, 2048, 2187, 4093, 4096, 10007}) {
    const std::vector<Long> x = random_points(n, 8), y = oracle_dft(x);
    std::vector<QuadPoint> wide, narrow;
    for (const Long& z : x) wide.push_back({z.real(), z.imag()});
    for (const Long& z : y) narrow.push_back({z.real(), z.imag()});
    EXPECT_LE(relative_error(narrow, quad_dft(wide)), 5e-19) << n;
  }
}

// The engines of every kind on points x, whose exact transform X is given. The real parts of x have the spectrum (X_k +
// conj X_(n-k))/2; the half line x_k + conj x_(n-k), exact because x has 22 bits, has the real line 2 Re X_(n-j).
template <class T>
void check(std::int64_t n, std::int64_t lines, const std::vector<Long>& x, const std::vector<Long>& spectrum) {
  const auto mirror = [&](std::int64_t k) { return static_cast<std::size_t>((n - k) % n); };
  std::vector<Long> half, hermitian, line;
  for (std::int64_t k = 0; k <= n / 2; ++k) {
    half.push_back((spectrum[static_cast<std::size_t>(k)] + std::conj(spectrum[mirror(k)])) / 2.0L);
    hermitian.push_back(x[static_cast<std::size_t>(k)] + std::conj(x[mirror(k)]));
  }
  for (std::int64_t k = 0; k < n; ++k) line.emplace_back(2 * spectrum[mirror(k)].real(), 0);
  SCOPED_TRACE("n = " + std::to_string(n) + ", " + std::to_string(lines) + " lines of " + std::to_string(sizeof(T)) +
               " bytes");
  EXPECT_LE(relative_error(transform<T>(EngineKind::Complex, n, lines, x), spectrum), kRequired<T>);
  EXPECT_LE(relative_error(transform<T>(EngineKind::RealToHalf, n, lines, x), half), kRequired<T>);
  EXPECT_LE(relative_error(transform<T>(EngineKind::HalfToReal, n, lines, hermitian), line), kRequired<T>);
}

void check_length(std::int64_t n, const std::vector<std::int64_t>& lines) {
  const std::vector<Long> x = grid_points(n, static_cast<std::uint64_t>(n)), spectrum = oracle_dft(x);
  for (const std::int64_t count : lines) {
    check<float>(n, count, x, spectrum);
    check<double>(n, count, x, spectrum);
  }
}

// One line, some lines, and full blocks of lines that never leave the registers.
TEST(EngineAccuracy, EveryLengthTo300) {
  for (std::int64_t n = 1; n <= 300; ++n)
    check_length(n, n <= 34 ? std::vector<std::int64_t>{1, 5 + n % 17, 32} : std::vector<std::int64_t>{1, 5 + n % 17});
}

// Most of the time goes into making plans, so the sanitizers see one length in eleven.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kStep = 11;
#else
constexpr std::int64_t kStep = 1;
#endif
TEST(EngineAccuracy, EveryLengthTo4096) {
  for (std::int64_t n = 301; n <= 4096; n += kStep) check_length(n, {n % 4 == 0 ? 9 : 1});
}

// A prime whose convolution is so long that float is computed in double, by sampled outputs: sums by the definition,
// with roots from a table of long double.
TEST(EngineAccuracy, LongConvolutionOfFloat) {
  const std::int64_t n = 131111;
  const std::vector<Long> x = random_points(n, 5), y = transform<float>(EngineKind::Complex, n, 1, x);
  std::vector<Long> root(static_cast<std::size_t>(n)), want, got;
  for (std::int64_t k = 0; k < n; ++k) {
    const long double angle =
        6.283185307179586476925286766559005768L * static_cast<long double>(k) / static_cast<long double>(n);
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

TEST(EngineAccuracy, SelectedLongLengths) {
  for (const std::int64_t n : {8191, 8193, 10007, 16384, 19683, 65536, 65537, 99991, 100000}) check_length(n, {1});
}

}  // namespace
}  // namespace trn::fft::testing

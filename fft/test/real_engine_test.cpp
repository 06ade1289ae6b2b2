// The engines of real lines: every way to do one, both directions, against the oracle and their own bounds; what is not
// read, what is not written.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "engine_support.hpp"
#include "host/real_plan.hpp"

namespace trn::fft::testing {
namespace {

const EngineKind kBoth[] = {EngineKind::RealToHalf, EngineKind::HalfToReal};

// Codelets; lines whole in registers; parted ones; primes; a few steps; columns of odd length; halves; splits of a
// large prime; convolutions, padded or not; complex lines where nothing better is known (67 x 71).
const std::int64_t kLengths[] = {2,    5,    14,  21,  27,  32,  33,  45,   63,   64,   105,  125,
                                 128,  225,  243, 256, 375, 405, 625, 1125, 2025, 2187, 3375, 50,
                                 512,  1000, 30,  36,  66,  150, 420, 134,  201,  335,  873,  1515,
                                 4087, 17,   61,  67,  97,  503, 509, 1009, 1019, 2039, 4757, 6561};

std::vector<Long> input(EngineKind kind, std::int64_t n) {
  return random_points(kind == EngineKind::RealToHalf ? n : n / 2 + 1,
                       static_cast<std::uint64_t>(n) + (kind == EngineKind::RealToHalf ? 0 : 1));
}
std::vector<Long> exact(EngineKind kind, std::int64_t n) {
  std::vector<Long> x = input(kind, n);
  if (kind == EngineKind::HalfToReal) return oracle_dft(hermitian_conjugate(x, n));
  for (Long& z : x) z = z.real();
  x = oracle_dft(x);
  x.resize(static_cast<std::size_t>(n / 2 + 1));
  return x;
}

TEST(RealEngine, EveryWayIsChosen) {
  std::set<host::RealKind> seen;
  for (const std::int64_t n : kLengths)
    for (const EngineKind kind : kBoth) seen.insert(host::make_real_line<float>(kind, n, 16)->kind);
  EXPECT_EQ(seen.size(), 10u);
}

template <class T> void check(EngineKind kind, std::int64_t n, std::int64_t lines, const std::vector<Long>& want) {
  const double error = static_cast<double>(relative_error(transform<T>(kind, n, lines, input(kind, n)), want));
  EXPECT_LE(error, kRequired<T>) << n << " " << lines;
  // The bound counts a half line with its mirror image: at most sqrt(2) between the two.
  EXPECT_LE(error, 1.4143 * host::make_engine<T>(kind, n, lines)->bound()) << n << " " << lines;
}

TEST(RealEngine, AgreesWithTheOracle) {
  for (const EngineKind kind : kBoth)
    for (const std::int64_t n : kLengths) {
      const std::vector<Long> want = exact(kind, n);
      for (const std::int64_t lines : {1, 7, 16}) {
        check<float>(kind, n, lines, want);
        check<double>(kind, n, lines, want);
      }
    }
}

// Passes of every radix first, and of every radix last: products of two and three codelets, with many lines.
TEST(RealEngine, PassesOfEveryRadix) {
  std::set<std::int64_t> lengths;
  for (const std::int64_t a : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19})
    for (const std::int64_t b : {2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 23})
      if (a * b > 32) lengths.insert({a * b, 16 * a * b});
  for (const EngineKind kind : kBoth)
    for (const std::int64_t n : lengths) {
      if (n > 1500 && n % 5 != 0) continue;
      const std::vector<Long> want = exact(kind, n);
      check<float>(kind, n, 16, want);
      if (n < 600) check<double>(kind, n, 16, want);
    }
}

// The imaginary parts of points that are their own mirror image are not used, whatever they are; and they come out as
// zeros.
TEST(RealEngine, SelfMirroredPointsAreReal) {
  for (std::int64_t n = 1; n <= 160; ++n) {
    for (const std::int64_t lines : {1, 5, 16}) {
      std::vector<Long> x = random_points(n / 2 + 1, 3);
      const auto plain = transform<float>(EngineKind::HalfToReal, n, lines, x);
      x[0] = {x[0].real(), std::numeric_limits<long double>::quiet_NaN()};
      if (n % 2 == 0) x.back() = {x.back().real(), std::numeric_limits<long double>::infinity()};
      EXPECT_EQ(transform<float>(EngineKind::HalfToReal, n, lines, x), plain) << n << " " << lines;
      const auto half = transform<double>(EngineKind::RealToHalf, n, lines, random_points(n, 4));
      EXPECT_EQ(half[0].imag(), 0) << n;
      if (n % 2 == 0) {
        EXPECT_EQ(half.back().imag(), 0) << n;
      }
    }
  }
}

// There and back in FFTW's padded layout, each in place.
template <class T> void check_in_place(std::int64_t n, std::int64_t lines) {
  const std::int64_t pitch = 2 * (n / 2 + 1);
  std::vector<T> memory(static_cast<std::size_t>(pitch * lines));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<T>(i * 37 % 101) / 50 - 1;
  const std::vector<T> before = memory;
  for (const EngineKind kind : kBoth) {
    const bool there = kind == EngineKind::RealToHalf;
    const Lines real{memory.data(), nullptr, 1}, half{memory.data(), memory.data() + 1, 2};
    const auto engine = host::make_engine<T>(kind, n, lines);
    Scratch scratch(engine->scratch_bytes(1));
    std::vector<T> apart(memory.size());
    const Lines other{apart.data(), there ? apart.data() + 1 : nullptr, there ? 2 : 1};
    engine->run(there ? real : half, other, {{lines, pitch, pitch}}, there ? 1.0 : 1.0 / static_cast<double>(n),
                scratch.get(), 1);
    engine->run(there ? real : half, there ? half : real, {{lines, pitch, pitch}},
                there ? 1.0 : 1.0 / static_cast<double>(n), scratch.get(), 1);
    for (std::int64_t line = 0; line < lines; ++line)
      EXPECT_EQ(0, std::memcmp(memory.data() + line * pitch, apart.data() + line * pitch,
                               static_cast<std::size_t>(there ? pitch : n) * sizeof(T)))
          << n << " line " << line;
  }
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t j = 0; j < n; ++j)
      ASSERT_NEAR(memory[static_cast<std::size_t>(line * pitch + j)],
                  before[static_cast<std::size_t>(line * pitch + j)], sizeof(T) == 4 ? 4e-6 : 1e-14)
          << n;
}
TEST(RealEngine, InPlace) {
  for (const std::int64_t n : kLengths)
    for (const std::int64_t lines : {1, 18}) {
      check_in_place<float>(n, lines);
      check_in_place<double>(n, lines);
    }
}

// A line of points three apart has the bits of a dense one, wherever it lies, and nothing between the points is
// written.
TEST(RealEngine, StridedLinesHaveTheSameBits) {
  for (const EngineKind kind : kBoth)
    for (const std::int64_t n : kLengths) {
      const bool there = kind == EngineKind::RealToHalf;
      const std::int64_t points_in = there ? n : n / 2 + 1, points_out = there ? n / 2 + 1 : n;
      const std::vector<Long> x = input(kind, n), dense = transform<float>(kind, n, 1, x);
      for (const Form form : {Form::Interleaved, Form::Planar}) {
        Memory<float> in(there, {form, 3, 0}, points_in, 1), out(!there, {form, 3, 0}, points_out, 1);
        in.put(x, 0);
        const auto engine = host::make_engine<float>(kind, n, 1);
        Scratch scratch(engine->scratch_bytes(1));
        engine->run(in.side(), out.side(), {}, 1, scratch.get(), 1);
        EXPECT_EQ(out.take(points_out, 0), dense) << n;
        std::int64_t written = 0;
        for (const float v : out.data) written += std::isnan(v) ? 0 : 1;
        EXPECT_EQ(written, points_out * (there ? 2 : 1)) << n;
      }
    }
}

// NaN in one of 16 lines stays there.
TEST(RealEngine, LinesDoNotMix) {
  for (const EngineKind kind : kBoth)
    for (const std::int64_t n : kLengths) {
      const std::int64_t points = kind == EngineKind::RealToHalf ? n / 2 + 1 : n;
      Memory<float> in(kind == EngineKind::RealToHalf, {Form::Interleaved, 1, n}, n, 16),
          out(kind == EngineKind::HalfToReal, {Form::Interleaved, 1, n + 2}, n, 16);
      for (std::int64_t line = 0; line < 16; ++line) in.put(random_points(n, 5), line);
      in.re(1, 7) = std::numeric_limits<float>::quiet_NaN();
      const auto engine = host::make_engine<float>(kind, n, 16);
      Scratch scratch(engine->scratch_bytes(1));
      engine->run(in.side(), out.side(), {{16, in.distance(), out.distance()}}, 1, scratch.get(), 1);
      for (std::int64_t line = 0; line < 16; ++line) {
        if (line == 7)
          EXPECT_TRUE(std::isnan(out.re(0, line)));
        else
          EXPECT_EQ(out.take(points, line), out.take(points, 0)) << n << " " << line;
      }
    }
}

}  // namespace
}  // namespace trn::fft::testing

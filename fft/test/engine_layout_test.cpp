// The 1-D engines' layouts: strides, planar and interleaved sides, exchanged parts (the inverse), in place, several
// batch dimensions, factors, threads.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <tuple>

#include <host/line_choice.hpp>

#include "engine_support.hpp"
#include "support/every_target.hpp"

namespace trn::fft::testing {
namespace {

// Lengths that reach every way to do a line: one lane, four steps, splits, Rader, Bluestein, odd and even.
const std::int64_t kLengths[] = {1,  2,   3,   4,   6,   8,   15,  16,  17,  34,   60,   64,
                                 97, 100, 127, 134, 167, 210, 256, 509, 720, 1024, 1025, 2018};

// Line `line` of a case; only three differ.
std::vector<Long> points(std::int64_t n, std::int64_t count, std::int64_t line) {
  return random_points(count, static_cast<std::uint64_t>(n + 1000 * (line % 3)));
}

// Its transform times 1/4, computed once.
const std::vector<Long>& expected(EngineKind kind, std::int64_t n, std::int64_t line, bool inverse) {
  static std::map<std::tuple<EngineKind, std::int64_t, std::int64_t, bool>, std::vector<Long>> known;
  std::vector<Long>& x = known[{kind, n, line % 3, inverse}];
  if (!x.empty()) return x;
  x = points(n, kind == EngineKind::HalfToReal ? n / 2 + 1 : n, line);
  if (kind == EngineKind::RealToHalf)
    for (Long& z : x) z = z.real();
  if (kind == EngineKind::HalfToReal) x = hermitian_conjugate(x, n);
  if (inverse)
    for (Long& z : x) z = std::conj(z);
  x = oracle_dft(x);
  for (Long& z : x) z = (inverse ? std::conj(z) : z) * 0.25L;
  if (kind == EngineKind::RealToHalf) x.resize(static_cast<std::size_t>(n / 2 + 1));
  return x;
}

template <class T> void check(EngineKind kind, std::int64_t n, std::int64_t lines, const Layout& in_layout,
                              const Layout& out_layout, bool inverse) {
  SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", n = " + std::to_string(n) + ", lines " +
               std::to_string(lines));
  const bool real_in = kind == EngineKind::RealToHalf, real_out = kind == EngineKind::HalfToReal;
  const std::int64_t points_in = real_out ? n / 2 + 1 : n, points_out = real_in ? n / 2 + 1 : n;
  Memory<T> in(real_in, in_layout, points_in, lines), out(real_out, out_layout, points_out, lines);
  for (std::int64_t line = 0; line < lines; ++line) in.put(points(n, points_in, line), line);
  const std::vector<T> input = in.data;
  const auto engine = host::make_engine<T>(kind, n, lines);
  Scratch scratch(engine->scratch_bytes(1));
  Lines from = in.side(), to = out.side();
  if (inverse) {
    std::swap(from.re, from.im);
    std::swap(to.re, to.im);
  }
  engine->run(from, to, {{lines, in.distance(), out.distance()}}, 0.25, scratch.get(), 1);
  for (std::int64_t line = 0; line < lines; ++line)
    EXPECT_LE(relative_error(out.take(points_out, line), expected(kind, n, line, inverse)), kRequired<T>)
        << "line " << line;
  EXPECT_EQ(0, std::memcmp(input.data(), in.data.data(), input.size() * sizeof(T))) << "the input is not written";
  std::int64_t written = 0;
  for (const T& v : out.data) written += std::isnan(v) ? 0 : 1;
  EXPECT_EQ(written, points_out * lines * (real_out ? 1 : 2)) << "nothing else is written";
}

template <class T> void check_layouts(EngineKind kind) {
  for (const std::int64_t n : kLengths) {
    const std::int64_t m = n + 2;
    for (const std::int64_t lines : {1, 3, 21}) {
      for (const Form form : {Form::Interleaved, Form::Planar}) {
        for (const bool inverse : {false, true}) {
          if (inverse && kind != EngineKind::Complex) continue;
          const Form other = form == Form::Planar ? Form::Interleaved : Form::Planar;
          check<T>(kind, n, lines, {form, 1, m}, {form, 1, m}, inverse);
          check<T>(kind, n, lines, {form, lines, 1}, {form, lines, 1}, inverse);           // columns
          check<T>(kind, n, lines, {form, 3, 3 * m + 1}, {other, 2 * lines, 2}, inverse);  // nothing contiguous
          check<T>(kind, n, lines, {form, 1, m}, {other, lines + 1, 1}, inverse);
        }
      }
    }
  }
}
TEST(EngineLayout, ComplexFloat) { check_layouts<float>(EngineKind::Complex); }
TEST(EngineLayout, ComplexDouble) { check_layouts<double>(EngineKind::Complex); }
TEST(EngineLayout, RealToHalf) {
  check_layouts<float>(EngineKind::RealToHalf);
  check_layouts<double>(EngineKind::RealToHalf);
}
TEST(EngineLayout, HalfToReal) {
  check_layouts<float>(EngineKind::HalfToReal);
  check_layouts<double>(EngineKind::HalfToReal);
}

// Woven lines, with vectors that overlap (5005 = 5 x 7 x 11 x 13) and with an inner line that is woven, too (73728 = 18
// x 4096): where there are vectors, at least one length of each precision is woven.
template <class T> void check_woven() {
  bool woven = host::step_functions<T>().numbers == 0;
  for (const std::int64_t n : {std::int64_t{5005}, std::int64_t{8192}, std::int64_t{10000}, std::int64_t{73728}}) {
    woven |= host::Chooser(host::widest_lanes<T>(), sizeof(T)).best(n).kind == host::LineKind::Woven;
    const std::int64_t m = n + 2;
    for (const bool inverse : {false, true}) {
      check<T>(EngineKind::Complex, n, 1, {Form::Interleaved, 1, m}, {Form::Interleaved, 1, m}, inverse);
      check<T>(EngineKind::Complex, n, 1, {Form::Planar, 1, m}, {Form::Interleaved, 3, 3 * m}, inverse);
    }
    check<T>(EngineKind::RealToHalf, 2 * n, 2, {Form::Interleaved, 1, 2 * m}, {Form::Interleaved, 1, 2 * m}, false);
    check<T>(EngineKind::HalfToReal, 2 * n, 2, {Form::Interleaved, 1, 2 * m}, {Form::Interleaved, 1, 2 * m}, false);
  }
  EXPECT_TRUE(woven);
}
TEST(EngineLayout, WovenLines) {
  testing_support::on_every_target([] {
    check_woven<float>();
    check_woven<double>();
  });
}

// One line transformed several times: lines on the input side that lie on each other.
template <class T> void check_repeated(EngineKind kind) {
  const bool real_in = kind == EngineKind::RealToHalf, real_out = kind == EngineKind::HalfToReal;
  for (const std::int64_t n : kLengths) {
    const std::int64_t points_in = real_out ? n / 2 + 1 : n, points_out = real_in ? n / 2 + 1 : n;
    for (const std::int64_t lines : {2, 21}) {
      for (const Form form : {Form::Interleaved, Form::Planar}) {
        for (const std::int64_t stride : {1, 2}) {
          SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", n = " + std::to_string(n) + ", lines " +
                       std::to_string(lines) + ", stride " + std::to_string(stride));
          Memory<T> in(real_in, {form, stride, 0}, points_in, 1);
          for (const Layout& layout : {Layout{form, 1, n + 2}, Layout{form, lines, 1}}) {
            Memory<T> out(real_out, layout, points_out, lines);
            in.put(points(n, points_in, 0), 0);
            const auto engine = host::make_engine<T>(kind, n, lines);
            Scratch scratch(engine->scratch_bytes(1));
            engine->run(in.side(), out.side(), {{lines, 0, out.distance()}}, 0.25, scratch.get(), 1);
            for (std::int64_t line = 0; line < lines; ++line)
              EXPECT_LE(relative_error(out.take(points_out, line), expected(kind, n, 0, false)), kRequired<T>)
                  << "line " << line;
          }
        }
      }
    }
  }
}
TEST(EngineLayout, OneLineSeveralTimes) {
  for (const EngineKind kind : {EngineKind::Complex, EngineKind::RealToHalf, EngineKind::HalfToReal}) {
    check_repeated<float>(kind);
    check_repeated<double>(kind);
  }
}

TEST(EngineLayout, InPlace) {
  for (const std::int64_t n : kLengths) {
    for (const std::int64_t lines : {1, 19}) {
      const auto engine = host::make_engine<float>(EngineKind::Complex, n, lines);
      Scratch scratch(engine->scratch_bytes(1));
      Memory<float> memory(false, {Form::Interleaved, 1, n}, n, lines);
      for (std::int64_t line = 0; line < lines; ++line)
        memory.put(random_points(n, static_cast<std::uint64_t>(line)), line);
      engine->run(memory.side(), memory.side(), {{lines, memory.distance(), memory.distance()}}, 1, scratch.get(), 1);
      for (std::int64_t line = 0; line < lines; line += 6)
        EXPECT_LE(relative_error(memory.take(n, line), oracle_dft(random_points(n, static_cast<std::uint64_t>(line)))),
                  kRequired<float>)
            << n;
      // Real lines padded to n/2 + 1 complex numbers, there and back.
      const std::int64_t pitch = 2 * (n / 2 + 1);
      std::vector<float> real(static_cast<std::size_t>(pitch * lines));
      for (std::size_t i = 0; i < real.size(); ++i) real[i] = static_cast<float>((i * 37 % 101)) / 50 - 1;
      const std::vector<float> before = real;
      const Lines side{real.data(), nullptr, 1}, half{real.data(), real.data() + 1, 2};
      for (const EngineKind kind : {EngineKind::RealToHalf, EngineKind::HalfToReal}) {
        const auto real_engine = host::make_engine<float>(kind, n, lines);
        Scratch more(real_engine->scratch_bytes(1));
        const bool there = kind == EngineKind::RealToHalf;
        real_engine->run(there ? side : half, there ? half : side, {{lines, pitch, pitch}},
                         there ? 1.0 : 1.0 / static_cast<double>(n), more.get(), 1);
        if (!there) continue;
        for (std::int64_t line = 0; line < lines; line += 6) {
          std::vector<Long> x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(n / 2 + 1));
          for (std::int64_t j = 0; j < n; ++j)
            x[static_cast<std::size_t>(j)] = before[static_cast<std::size_t>(line * pitch + j)];
          for (std::int64_t k = 0; k <= n / 2; ++k)
            y[static_cast<std::size_t>(k)] = {real[static_cast<std::size_t>(line * pitch + 2 * k)],
                                              real[static_cast<std::size_t>(line * pitch + 2 * k + 1)]};
          x = oracle_dft(x);
          x.resize(y.size());
          EXPECT_LE(relative_error(y, x), kRequired<float>) << n;
        }
      }
      for (std::int64_t line = 0; line < lines; ++line)
        for (std::int64_t j = 0; j < n; ++j)
          EXPECT_NEAR(real[static_cast<std::size_t>(line * pitch + j)],
                      before[static_cast<std::size_t>(line * pitch + j)], 4e-6)
              << n << " " << line << " " << j;
    }
  }
}

// 3 x 5 x 7 lines of a block whose rows are longer than they need be.
TEST(EngineLayout, SeveralBatchDimensions) {
  for (const std::int64_t n : {4, 12, 97, 1024}) {
    const std::vector<LineBatch> batch = {{3, 2 * 47 * n, 2 * 35 * n}, {5, 2 * 9 * n, 2 * 7 * n}, {7, 2 * n, 2 * n}};
    std::vector<double> in(static_cast<std::size_t>(2 * n * 3 * 47)), out(static_cast<std::size_t>(2 * n * 105));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i * 7919 % 1009) / 500 - 1;
    const auto engine = host::make_engine<double>(EngineKind::Complex, n, 105);
    for (const int threads : {1, 2, 3}) {
      Scratch scratch(engine->scratch_bytes(threads));
      std::fill(out.begin(), out.end(), 0.0);
      engine->run({in.data(), in.data() + 1, 2}, {out.data(), out.data() + 1, 2}, batch, 1, scratch.get(), threads);
      for (std::int64_t b = 0; b < 105; b += 4) {
        const std::int64_t from = b / 35 * 47 * n + b / 7 % 5 * 9 * n + b % 7 * n;
        std::vector<Long> x(static_cast<std::size_t>(n)), y(x);
        for (std::int64_t j = 0; j < n; ++j) {
          x[static_cast<std::size_t>(j)] = {in[static_cast<std::size_t>(2 * (from + j))],
                                            in[static_cast<std::size_t>(2 * (from + j) + 1)]};
          y[static_cast<std::size_t>(j)] = {out[static_cast<std::size_t>(2 * (b * n + j))],
                                            out[static_cast<std::size_t>(2 * (b * n + j) + 1)]};
        }
        EXPECT_LE(relative_error(y, oracle_dft(x)), kRequired<double>) << n << " line " << b;
      }
    }
  }
}

template <class T> void check_threads(EngineKind kind, std::int64_t n, std::int64_t lines) {
  const std::vector<Long> x = random_points(n, 3);
  const std::vector<Long> one = transform<T>(kind, n, lines, x, 1);
  for (const int threads : {2, 3, 7})
    EXPECT_EQ(one, transform<T>(kind, n, lines, x, threads)) << n << " " << lines << " " << threads;
}
TEST(EngineThreads, SameBitsForAnyNumber) {
  for (const EngineKind kind : {EngineKind::Complex, EngineKind::RealToHalf, EngineKind::HalfToReal}) {
    for (const std::int64_t n : {8, 60, 97, 1000, 1019}) {
      const std::int64_t enough = 60000 / n + 5;  // for seven threads
      check_threads<float>(kind, n, enough);
      check_threads<double>(kind, n, enough);
    }
    for (const std::int64_t n : {65536, 65537, 131072, 140000, 131074, 144060}) check_threads<float>(kind, n, 2);
    check_threads<double>(kind, 131111, 1);
  }
}

// The last line of full blocks, and of an incomplete one.
TEST(EngineLayout, SameBitsInAnyBlock) {
  std::vector<std::int64_t> lengths = {36, 40, 48, 60, 62, 64, 66, 100, 126, 200, 250};
  for (std::int64_t n = 2; n <= 34; ++n) lengths.push_back(n);
  for (const EngineKind kind : {EngineKind::Complex, EngineKind::RealToHalf, EngineKind::HalfToReal})
    for (const std::int64_t n : lengths) {
      const std::vector<Long> x = random_points(n, 11);
      EXPECT_EQ(transform<float>(kind, n, 32, x), transform<float>(kind, n, 35, x)) << n;
      EXPECT_EQ(transform<double>(kind, n, 32, x), transform<double>(kind, n, 35, x)) << n;
    }
}

// NaN in one line stays there, whatever the other lines are.
TEST(EngineLayout, LinesDoNotMix) {
  for (const EngineKind kind : {EngineKind::Complex, EngineKind::RealToHalf, EngineKind::HalfToReal})
    for (const std::int64_t n : {5, 16, 64, 97, 101, 1024}) {
      Memory<float> in(kind == EngineKind::RealToHalf, {Form::Interleaved, 1, n}, n, 16),
          out(kind == EngineKind::HalfToReal, {Form::Interleaved, 1, n}, n, 16);
      for (std::int64_t line = 0; line < 16; ++line) in.put(random_points(n, 5), line);
      in.re(1, 7) = std::numeric_limits<float>::quiet_NaN();
      const auto engine = host::make_engine<float>(kind, n, 16);
      Scratch scratch(engine->scratch_bytes(1));
      engine->run(in.side(), out.side(), {{16, in.distance(), out.distance()}}, 1, scratch.get(), 1);
      const std::int64_t points = kind == EngineKind::RealToHalf ? n / 2 + 1 : n;
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

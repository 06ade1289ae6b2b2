// Runs a 1-D engine on lines in a described layout: what the engine tests and the accuracy table share.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "dft_oracle.hpp"
#include "host/lines.hpp"

namespace trn::fft::testing {

using host::Engine;
using host::EngineKind;
using host::LineBatch;
using host::Lines;

// Required of every length: relative error in the Euclidean norm.
template <class T> inline constexpr double kRequired = sizeof(T) == 4 ? 2.5e-7 : 5e-16;

// Uniform in (-1, 1), exact in float.
inline std::vector<Long> random_points(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Long> x(static_cast<std::size_t>(n));
  for (Long& z : x) {
    const float re = uniform(generator), im = uniform(generator);
    z = {re, im};
  }
  return x;
}

// The same as multiples of 2^-22: sums of two are exact in float, too.
inline std::vector<Long> grid_points(std::int64_t n, std::uint64_t seed) {
  std::vector<Long> x = random_points(n, seed);
  for (Long& z : x)
    z = {std::ldexp(std::nearbyint(std::ldexp(z.real(), 22)), -22),
         std::ldexp(std::nearbyint(std::ldexp(z.imag(), 22)), -22)};
  return x;
}

// A half line as the engines read it: the Hermitian extension, conjugated, so that its forward transform is the real
// line.
inline std::vector<Long> hermitian_conjugate(const std::vector<Long>& half, std::int64_t n) {
  std::vector<Long> a(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t k = 2 * j <= n ? j : n - j;
    Long z = half[static_cast<std::size_t>(k)];
    if (k == 0 || 2 * k == n) z = z.real();
    a[static_cast<std::size_t>(j)] = 2 * j <= n ? std::conj(z) : z;
  }
  return a;
}

enum class Form { Interleaved, Planar };

// One side of a call: points `stride` elements apart, line b at b * distance elements; an element is a real, or a
// complex number in its form.
struct Layout {
  Form form = Form::Interleaved;
  std::int64_t stride = 1, distance = 0;
};

// An aligned piece of scratch.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes) : memory_(static_cast<std::size_t>(bytes) + 64) {}
  std::byte* get() { return memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64) % 64; }

 private:
  std::vector<std::byte> memory_;
};

// Memory of one side.
template <class T> struct Memory {
  Memory(bool is_real, const Layout& as, std::int64_t points, std::int64_t lines)
      : real(is_real),
        layout(as),
        elements((points - 1) * as.stride + (lines - 1) * as.distance + 1),
        data(static_cast<std::size_t>((real ? 1 : 2) * elements), std::numeric_limits<T>::quiet_NaN()) {}
  bool real;
  Layout layout;
  std::int64_t elements;
  std::vector<T> data;

  std::int64_t unit() const { return !real && layout.form == Form::Interleaved ? 2 : 1; }
  Lines side() {
    return {data.data(),
            real                               ? nullptr
            : layout.form == Form::Interleaved ? data.data() + 1
                                               : data.data() + elements,
            layout.stride * unit()};
  }
  std::int64_t distance() const { return layout.distance * unit(); }
  T& re(std::int64_t j, std::int64_t line) {
    return data[static_cast<std::size_t>((j * layout.stride + line * layout.distance) * unit())];
  }
  T& im(std::int64_t j, std::int64_t line) {
    const std::int64_t at = j * layout.stride + line * layout.distance;
    return data[static_cast<std::size_t>(layout.form == Form::Interleaved ? 2 * at + 1 : elements + at)];
  }
  void put(const std::vector<Long>& x, std::int64_t line) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      re(static_cast<std::int64_t>(j), line) = static_cast<T>(x[j].real());
      if (!real) im(static_cast<std::int64_t>(j), line) = static_cast<T>(x[j].imag());
    }
  }
  std::vector<Long> take(std::int64_t points, std::int64_t line) {
    std::vector<Long> x(static_cast<std::size_t>(points));
    for (std::int64_t j = 0; j < points; ++j) x[static_cast<std::size_t>(j)] = {re(j, line), real ? T(0) : im(j, line)};
    return x;
  }
};

// One dense line through an engine made for `lines` lines, as the last of so many; of x only as many points as a line
// has.
template <class T>
std::vector<Long> transform(EngineKind kind, std::int64_t n, std::int64_t lines, std::vector<Long> x, int threads = 1) {
  const bool real_in = kind == EngineKind::RealToHalf, real_out = kind == EngineKind::HalfToReal;
  const std::int64_t points_in = real_out ? n / 2 + 1 : n, points_out = real_in ? n / 2 + 1 : n;
  Memory<T> in(real_in, {Form::Interleaved, 1, points_in}, points_in, lines),
      out(real_out, {Form::Interleaved, 1, points_out}, points_out, lines);
  x.resize(static_cast<std::size_t>(points_in));
  for (std::int64_t line = 0; line < lines; ++line) in.put(x, line);
  const auto engine = host::make_engine<T>(kind, n, lines);
  Scratch scratch(engine->scratch_bytes(threads));
  engine->run(in.side(), out.side(), {{lines, in.distance(), out.distance()}}, 1.0, scratch.get(), threads);
  return out.take(points_out, lines - 1);
}

}  // namespace trn::fft::testing

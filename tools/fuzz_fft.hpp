// One random case of `trnsci fuzz fft`: what fuzz_fft.cpp draws and fuzz_fft_case.cpp carries out.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include <trn/core/array.hpp>
#include <trn/fft/plan.hpp>

namespace trn::tools::fuzz {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random(seed) {}
  std::mt19937_64 random;
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class X> X pick(std::initializer_list<X> list) {
    return list.begin()[below(static_cast<std::int64_t>(list.size()))];
  }
  double unit() { return static_cast<double>(random() >> 11) * 0x1p-53; }  // 0 <= u < 1
};

// What the points of a transform are.
enum class Points : std::uint8_t { Noise, Spike, Equal, Alternating, Tone, Wide, Small, Large, Zero };

struct FftCase {
  Executor executor = Executor::host();
  fft::Kind kind = fft::Kind::ComplexToComplex;
  fft::Direction direction = fft::Direction::Forward;
  fft::Scale scale = fft::Scale::None;
  fft::Format input = fft::Format::Interleaved, output = fft::Format::Interleaved;
  Precision precision = {};
  Shape axes, batch;
  bool in_place = false, is_double = false, addresses = false, workspace = false, special = false;
  Points points = Points::Noise;
  int threads = 1;
  [[nodiscard]] std::string text() const;
};

// Carries the case out; throws Finding.
void run_case(const FftCase& c, Draw& draw);

}  // namespace trn::tools::fuzz

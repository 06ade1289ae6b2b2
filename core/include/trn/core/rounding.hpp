// Rounding: how an operation rounds what it stores in a float format narrower than float32.
//
//   options.rounding = Rounding::Nearest{};                // to nearest, ties to even: the default everywhere
//   options.rounding = Rounding::Stochastic{seed};         // to a neighbour at random, E[round(y)] = y
//   options.rounding = Rounding::Stochastic{seed, step};   // fresh random words for every step of a loop
//
// **The rule.** Let y lie the fraction f, 0 <= f < 1, of the way from one number of the format to the next one of
// larger magnitude. With W the 32-bit random word of its element, y goes to the second one when
//
//   floor(2^24 f) + floor(W / 2^8) >= 2^24.
//
// The number after the largest finite one is the next number of an unbounded exponent range and means overflow.
// Numbers of the format, both zeros and infinities stay what they are, NaN stays NaN.
//
// **The word.** Element number e has word number e of stream `step` of Philox4x32-10 with that seed: what rand::raw32
// draws there (trn/rand/generator.hpp). The number of element i of a vector is i; that of element (i, j) of an m x n
// matrix is i 4 ceil(n / 4) + j, so that every row begins with a new block of four words. Nothing else counts: not
// strides, transposes, tiles, threads or executors. Two calls with equal seed and step draw equal words: give each call
// a step (or a seed) of its own.
//
// **Errors.** |round(y) - y| is below one unit, the distance of the neighbours (to nearest: half of it). From the
// format's smallest normal number up, f is a multiple of 2^-24, so E[round(y)] = y exactly; below it the mean is off by
// less than 2^-24 units. Errors of different elements and steps are those of independent draws. After n roundings in a
// chain, s_i the numbers that were rounded and u the format's unit roundoff, the error is at most
//
//   to nearest       u sum |s_i|             <= n u max |s_i|
//   stochastically   2 u sum |s_i|           always
//                    lambda 2 u sqrt(sum s_i^2) <= lambda 2 u sqrt(n) max |s_i|, but for 2 exp(-lambda^2 / 2) of cases
//
// to first order in u: errors with mean zero are a martingale (Azuma, Hoeffding; Connolly, Higham and Mary 2021). Where
// s_i lies below the format's smallest normal number, its unit there (bfloat16: 2^-133) takes the place of 2 u |s_i|.
#pragma once

#include <cstdint>

#include <trn/core/dtype.hpp>

namespace trn {

class Rounding {
 public:
  struct Nearest {};
  struct Stochastic {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;  // below 2^48
  };
  constexpr Rounding() = default;
  constexpr Rounding(Nearest) {}
  Rounding(const Stochastic& how);  // throws InvalidArgument for a step that is too large

  [[nodiscard]] constexpr bool is_stochastic() const { return stochastic_; }
  [[nodiscard]] constexpr std::uint64_t seed() const { return seed_; }  // both 0 for Nearest
  [[nodiscard]] constexpr std::uint64_t step() const { return step_; }
  friend constexpr bool operator==(const Rounding&, const Rounding&) = default;

 private:
  bool stochastic_ = false;
  std::uint64_t seed_ = 0, step_ = 0;
};

// dst[i] = element(src[i]), rounded as `rounding` says; src[i] is element number first + i, modulo 2^64. Otherwise
// from_float of trn/core/convert.hpp: types that are not narrower than float32 know one rounding.
void from_float(const float* src, DType dtype, void* dst, std::int64_t n, const Rounding& rounding,
                std::uint64_t first = 0);

}  // namespace trn

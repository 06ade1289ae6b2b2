// Sums without rounding, of products of doubles and of large integers, over the whole range that three factors can
// have; and the one rounding at the end.
//
// The sum is kept as chunks of 32 bits in 64-bit words, so that additions need no carries: sum over j of chunk[j] 2^(32
// j + kBase).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../exact_integers.hpp"

namespace trn::blas::exact {

// (-1)^negative * magnitude * 2^exponent
struct Number {
  bool negative = false;
  std::span<const std::uint64_t> magnitude;  // low word first
  int exponent = 0;
};

// A number that keeps its words.
struct OwnedNumber {
  bool negative = false;
  std::vector<std::uint64_t> magnitude;
  int exponent = 0;
  [[nodiscard]] Number view() const { return {negative, magnitude, exponent}; }
};

// The nearest number of a type, ties to even, and a bound of the distance: 0 where there is none, half a unit in the
// last place for normal numbers, the distance itself for subnormal ones and zero, infinity where a finite sum is too
// large for the type. `excess`: how far such a sum is at least above what still rounds to a finite number.
struct Rounded {
  double value = 0;
  long double error = 0;
  long double excess = 0;
};
enum class Width : std::uint8_t { Single, Double };

class Sum {
 public:
  // += factor * x; factor is finite.
  void add(const Number& x, double factor);
  // += x y; both are finite.
  void add(double x, double y);
  // The sum rounded; it is empty afterwards.
  [[nodiscard]] Rounded round(Width width);
  // The sum itself; it is empty afterwards.
  [[nodiscard]] OwnedNumber take();

 private:
  static constexpr int kBits = 32, kBase = -3264, kChunks = 208;  // 2^-3264 to 2^3392
  void add_chunks(const std::uint64_t* words, std::size_t count, int exponent, bool negative);
  // Every chunk in [0, 2^32) and the sign apart; whether the sum is not zero.
  bool normalise();
  void carry();
  void clear();

  std::array<std::int64_t, kChunks> chunk_{};
  int low_ = kChunks, high_ = -1;  // the chunks that may differ from zero
  int additions_ = 0;              // since the last carry
  bool negative_ = false;
};

// |x| as words, and its sign.
struct WideNumber {
  WideNumber(const Wide& x, int exponent);
  [[nodiscard]] Number view() const { return {negative, words, exponent}; }
  bool negative;
  std::array<std::uint64_t, 3> words{};
  int exponent;
};
// |x|, to about 2^-60 of it.
[[nodiscard]] long double magnitude(const Number& x);

// x 2^exponent rounded to double, where no other term is added and the result is normal: the quick way. False: it is
// not.
bool round_quickly(const Wide& x, int exponent, Width width, Rounded& result);

}  // namespace trn::blas::exact

// Runs of floats to narrower formats with a Rounding: its rule word by word, in integers.
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/core/float_types.hpp>
#include <trn/core/philox.hpp>
#include <trn/core/rounding.hpp>

#include "rounding.hpp"

namespace trn {

namespace {

// Word `first` of a stream, then the next one, and so on modulo 2^64.
class RandomWords {
 public:
  RandomWords(const Rounding& rounding, std::uint64_t first)
      : key_(philox::key(rounding.seed())), stream_(rounding.step()), next_(first), block_(block(first / 4)) {}

  std::uint32_t operator()() {
    const std::uint32_t word = block_[next_ % 4];
    if (++next_ % 4 == 0) block_ = block(next_ / 4);
    return word;
  }

 private:
  [[nodiscard]] philox::Words block(std::uint64_t number) const {
    return philox::block(philox::counter(number, stream_), key_);
  }

  philox::Words key_;
  std::uint64_t stream_, next_;
  philox::Words block_;
};

// bfloat16 has float's exponents: floor(2^24 f) is the pattern's lower half times 2^8, and the carry out of that half
// is the step to the next number.
std::uint16_t to_bfloat16(float x, std::uint32_t word) {
  if (x != x) return bfloat16(x).bits;
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(x) + (word >> 16)) >> 16);
}

std::uint32_t to_code(float x, bits::Format format, std::uint32_t word) {
  const auto up = [word](std::uint64_t, std::uint64_t fraction) {
    return (fraction >> 40) + (word >> 8) >= std::uint64_t{1} << 24;
  };
  return bits::round_to(x, format, bits::overflow_code(format), up);
}

template <class Code, class F> void each(const float* src, void* dst, std::int64_t n, RandomWords words, F code) {
  auto* out = static_cast<Code*>(dst);
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<Code>(code(src[i], words()));
}

}  // namespace

Rounding::Rounding(const Stochastic& how) : stochastic_(true), seed_(how.seed), step_(how.step) {
  require(how.step >> philox::kStreamBits == 0, "rounding: step is {}; it must be below 2^{}", how.step,
          philox::kStreamBits);
}

void from_float(const float* src, DType dtype, void* dst, std::int64_t n, const Rounding& rounding,
                std::uint64_t first) {
  if (!rounding.is_stochastic() || !bits::is_narrow_float(dtype) || n <= 0) return from_float(src, dtype, dst, n);
  const bits::Format format = bits::format_of(dtype);
  const RandomWords words(rounding, first);
  const auto code = [format](float x, std::uint32_t word) { return to_code(x, format, word); };
  if (dtype == DType::BFloat16) return each<std::uint16_t>(src, dst, n, words, to_bfloat16);
  if (dtype == DType::TFloat32)
    return each<std::uint32_t>(src, dst, n, words, [&](float x, std::uint32_t word) {
      return code(x, word) << (23 - bits::kTFloat32.mantissa_bits);
    });
  if (size_bytes(dtype) == 2) return each<std::uint16_t>(src, dst, n, words, code);
  each<std::uint8_t>(src, dst, n, words, code);
}

}  // namespace trn

// Single values between float and the narrow formats. Runs of values go through convert.cpp.
#include <bit>
#include <trn/core/float_types.hpp>

#include "rounding.hpp"

namespace trn::bits {

std::uint32_t narrow(float x, Format format) { return round_to(x, format, overflow_code(format), NearestEven{}); }

float widen(std::uint32_t pattern, Format f) {
  const std::uint32_t sign = pattern & sign_bit(f) ? 0x80000000u : 0;
  const std::uint32_t code = pattern & all_ones(f);
  const std::uint32_t aligned = code << (23 - f.mantissa_bits);
  std::uint32_t magnitude = 0;
  if (code > max_finite(f)) {
    magnitude = 0x7f800000u | (aligned & 0x007fffffu);
  } else if (f.exponent_bits == 8) {
    magnitude = aligned;  // float's own exponent range, subnormals included
  } else if (code < (1u << f.mantissa_bits)) {
    // Subnormal: code * 2^(1 - bias - mantissa_bits). A float whose unit in the last place is that power of two, with
    // the code in its lowest bits, less itself without the code, is exact.
    const std::uint32_t base = static_cast<std::uint32_t>(127 + 24 - exponent_bias(f) - f.mantissa_bits) << 23;
    magnitude = std::bit_cast<std::uint32_t>(std::bit_cast<float>(base | code) - std::bit_cast<float>(base));
  } else {
    magnitude = aligned + (static_cast<std::uint32_t>(127 - exponent_bias(f)) << 23);
  }
  return std::bit_cast<float>(sign | magnitude);
}

}  // namespace trn::bits

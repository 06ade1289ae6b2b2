// The fixed-point accumulator behind ExactSum.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <trn/core/exact_sum.hpp>

namespace trn {

namespace {

__extension__ using Wide = unsigned __int128;

// x = mantissa * 2^exponent with an integer mantissa below 2^53, x finite and positive or zero.
struct Parts {
  std::uint64_t mantissa;
  int exponent;
};
Parts parts(std::uint64_t bits) {
  const auto biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0) return {fraction, -1074};
  return {fraction | std::uint64_t{1} << 52, biased - 1075};
}

}  // namespace

// The product of two 53-bit mantissas has 106 bits; shifted by its offset within a digit it spans at most five digits.
void ExactSum::add_product(double x, double y) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bx = std::bit_cast<std::uint64_t>(x), by = std::bit_cast<std::uint64_t>(y);
  if ((bx & ~kSign) >= 0x7ff0000000000000u || (by & ~kSign) >= 0x7ff0000000000000u) {
    special_ += x * y;
    has_special_ = true;
    return;
  }
  const Parts px = parts(bx), py = parts(by);
  Wide product = static_cast<Wide>(px.mantissa) * py.mantissa;
  if (product == 0) return;
  const int offset = px.exponent + py.exponent - kLowest;  // >= 0
  auto digit = static_cast<std::size_t>(offset >> 5);
  const int shift = offset & 31;
  const std::int64_t sign = ((bx ^ by) & kSign) ? -1 : 1;
  digits_[digit] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(product << shift));
  product >>= 32 - shift;
  while (product != 0) {
    digits_[++digit] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(product));
    product >>= 32;
  }
  // Each addition changes a word by less than 2^32, and a normalized word is below 2^32: 2^30 additions stay within 63
  // bits.
  if (++pending_ == std::int64_t{1} << 30) normalize();
}

void ExactSum::add(const ExactSum& other) {
  normalize();
  other.normalize();
  for (std::size_t i = 0; i < digits_.size(); ++i) digits_[i] += other.digits_[i];
  pending_ = 1;  // every word changed by less than 2^32, the last one apart, which has room
  if (!other.has_special_) return;
  special_ += other.special_;
  has_special_ = true;
}

// Carries: afterwards every digit but the last is in [0, 2^32); the last one has the sign.
void ExactSum::normalize() const {
  std::int64_t carry = 0;
  for (std::size_t i = 0; i + 1 < digits_.size(); ++i) {
    const std::int64_t value = digits_[i] + carry;
    carry = value >> 32;  // floor
    digits_[i] = value & 0xffffffff;
  }
  digits_.back() += carry;
  pending_ = 0;
}

ExactSum::Leading ExactSum::leading() const {
  normalize();
  std::array<std::uint32_t, kDigits> magnitude;
  const bool negative = digits_.back() < 0;
  std::uint64_t carry = negative ? 1 : 0;  // two's complement
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const auto digit = static_cast<std::uint32_t>(digits_[i]);
    const std::uint64_t value = (negative ? static_cast<std::uint32_t>(~digit) : digit) + carry;
    magnitude[i] = static_cast<std::uint32_t>(value);
    carry = value >> 32;
  }
  int top = kDigits - 1;
  while (top >= 0 && magnitude[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return {false, 0, false, 0};
  const auto digit = [&](int i) -> std::uint64_t { return i < 0 ? 0 : magnitude[static_cast<std::size_t>(i)]; };
  const int lead = std::countl_zero(magnitude[static_cast<std::size_t>(top)]);
  const Wide three =
      static_cast<Wide>(digit(top)) << 64 | static_cast<Wide>(digit(top - 1)) << 32 | digit(top - 2);  // 96 bits
  const auto bits = static_cast<std::uint64_t>(three >> (32 - lead));
  bool rest = (three & ((Wide{1} << (32 - lead)) - 1)) != 0;
  for (int i = top - 3; i >= 0 && !rest; --i) rest = digit(i) != 0;
  return {negative, bits, rest, kLowest + 32 * top + 31 - lead};
}

// Rounds the leading bits to the digits that T has at this magnitude.
template <class T> T ExactSum::rounded() const {
  // Which of several NaNs it was depends on the order: there is one.
  if (has_special_) return std::isnan(special_) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(special_);
  const Leading s = leading();
  if (s.bits == 0) return 0;
  using Limits = std::numeric_limits<T>;
  // The weight of the last bit kept: the type's precision below the first bit, but not below the smallest subnormal.
  const int last = std::max(s.exponent - (Limits::digits - 1), Limits::min_exponent - Limits::digits);
  const int drop = last - (s.exponent - 63);  // bits of s.bits that go, at least 64 - digits
  if (drop > 64) return s.negative ? -T{0} : T{0};
  std::uint64_t kept = drop == 64 ? 0 : s.bits >> drop;
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const bool above_half = (s.bits & half) && ((s.bits & (half - 1)) != 0 || s.rest);
  const bool tie = (s.bits & half) && !above_half;
  if (above_half || (tie && (kept & 1))) ++kept;
  const T magnitude = std::ldexp(static_cast<T>(kept), last);  // exact, or infinity
  return s.negative ? -magnitude : magnitude;
}

double ExactSum::to_double() const { return rounded<double>(); }
float ExactSum::to_float() const { return rounded<float>(); }

ExactSum::Scaled ExactSum::scaled() const {
  if (has_special_) return {static_cast<long double>(special_), 0};
  const Leading s = leading();
  if (s.bits == 0) return {0, 0};
  const int even = s.exponent & ~1;
  const long double mantissa = std::ldexp(static_cast<long double>(s.bits), s.exponent - even - 63);
  return {s.negative ? -mantissa : mantissa, even};
}

}  // namespace trn

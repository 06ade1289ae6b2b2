// Additions of chunks, carries, and rounding.
#include "sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <trn/core/error.hpp>

namespace trn::blas::exact {

namespace {

__extension__ using Double = unsigned __int128;

// A finite double as an integer of 53 bits and a power of two.
struct Parts {
  explicit Parts(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    negative = bits >> 63 != 0;
    significand = (bits & 0xfffffffffffffULL) | (field > 0 ? std::uint64_t{1} << 52 : 0);
    exponent = std::max(field, 1) - 1075;
  }
  std::uint64_t significand;
  int exponent;
  bool negative;
};

struct Format {
  int precision, lowest;  // bits of a significand; exponent of the smallest subnormal
  double most;
};
constexpr Format format_of(Width width) {
  return width == Width::Double ? Format{53, -1074, std::numeric_limits<double>::max()}
                                : Format{24, -149, static_cast<double>(std::numeric_limits<float>::max())};
}

}  // namespace

void Sum::add_chunks(const std::uint64_t* words, std::size_t count, int exponent, bool negative) {
  while (count > 0 && words[count - 1] == 0) --count;
  if (count == 0) return;
  int at = exponent - kBase;
  if (at < 0) {  // only zeros lie below 2^kBase: move up to a word that differs from zero
    while (words[0] == 0) ++words, --count, at += 64;
  }
  const int shift = at % kBits;
  int index = at / kBits;
  ensure(at >= 0 && index + 2 * static_cast<int>(count) + 1 < kChunks,
         "exact: a term of {} words at 2^{} is outside of the sum", count, exponent);
  if (++additions_ >= 1 << 28) carry();
  low_ = std::min(low_, index);
  std::uint64_t rest = 0;  // what the shift moves from one chunk to the next
  const auto put = [&](std::uint64_t chunk) {
    const auto value = static_cast<std::int64_t>(chunk);
    chunk_[static_cast<std::size_t>(index++)] += negative ? -value : value;
  };
  for (std::size_t w = 0; w < count; ++w) {
    for (const std::uint64_t half : {words[w] & 0xffffffffU, words[w] >> kBits}) {
      const std::uint64_t moved = half << shift | rest;
      put(moved & 0xffffffffU);
      rest = moved >> kBits;
    }
  }
  put(rest);
  high_ = std::max(high_, index - 1);
}

void Sum::add(const Number& x, double factor) {
  const Parts f(factor);
  if (f.significand == 0) return;
  std::array<std::uint64_t, kChunks / 2 + 2> product;  // NOLINT: filled below
  const std::size_t count = x.magnitude.size();
  ensure(count + 1 <= product.size(), "exact: a factor of {} words", count);
  Double carried = 0;
  for (std::size_t i = 0; i < count; ++i) {
    carried += static_cast<Double>(x.magnitude[i]) * f.significand;
    product[i] = static_cast<std::uint64_t>(carried);
    carried >>= 64;
  }
  product[count] = static_cast<std::uint64_t>(carried);
  add_chunks(product.data(), count + 1, x.exponent + f.exponent, x.negative != f.negative);
}

void Sum::add(double x, double y) {
  const Parts p(x), q(y);
  const Double product = static_cast<Double>(p.significand) * q.significand;
  const std::array<std::uint64_t, 2> words{static_cast<std::uint64_t>(product),
                                           static_cast<std::uint64_t>(product >> 64)};
  add_chunks(words.data(), 2, p.exponent + q.exponent, p.negative != q.negative);
}

void Sum::carry() {
  std::int64_t carried = 0;
  for (int i = low_; i <= high_; ++i) {
    std::int64_t& chunk = chunk_[static_cast<std::size_t>(i)];
    const std::int64_t total = chunk + carried;
    carried = total >> kBits;
    chunk = i < high_ ? total & 0xffffffff : total;  // the topmost keeps the sign
  }
  additions_ = 0;
  if (high_ >= 0 && high_ + 1 < kChunks) {  // room for the next additions
    std::int64_t& top = chunk_[static_cast<std::size_t>(high_)];
    chunk_[static_cast<std::size_t>(high_ + 1)] += top >> kBits;
    top &= 0xffffffff;
    ++high_;
  }
}

bool Sum::normalise() {
  carry();
  negative_ = high_ >= 0 && chunk_[static_cast<std::size_t>(high_)] < 0;
  if (negative_) {
    for (int i = low_; i <= high_; ++i) chunk_[static_cast<std::size_t>(i)] = -chunk_[static_cast<std::size_t>(i)];
    carry();
  }
  while (high_ >= low_ && chunk_[static_cast<std::size_t>(high_)] == 0) --high_;
  return high_ >= low_;
}

void Sum::clear() {
  for (int i = low_; i <= high_; ++i) chunk_[static_cast<std::size_t>(i)] = 0;
  low_ = kChunks, high_ = -1, additions_ = 0;
}

OwnedNumber Sum::take() {
  OwnedNumber x;
  if (normalise()) {
    x.negative = negative_;
    x.exponent = kBase + kBits * low_;
    for (int i = low_; i <= high_; i += 2) {
      const auto low = static_cast<std::uint64_t>(chunk_[static_cast<std::size_t>(i)]);
      const auto high = i < high_ ? static_cast<std::uint64_t>(chunk_[static_cast<std::size_t>(i + 1)]) : 0;
      x.magnitude.push_back(low | high << kBits);
    }
  }
  clear();
  return x;
}

Rounded Sum::round(Width width) {
  Rounded result;
  if (!normalise()) {
    clear();
    return result;
  }
  // The leading 128 bits, the first of them at the top, and whether anything follows.
  Double head = 0;
  for (int i = high_; i > high_ - 4; --i)
    head = head << kBits | (i >= low_ ? static_cast<std::uint64_t>(chunk_[static_cast<std::size_t>(i)]) : 0);
  const int length = std::bit_width(static_cast<std::uint64_t>(chunk_[static_cast<std::size_t>(high_)])),
            up = kBits - length;
  bool more = false;
  for (int i = high_ - 4; i >= low_ && !more; --i) more = chunk_[static_cast<std::size_t>(i)] != 0;
  head <<= up;
  if (up > 0 && high_ - 4 >= low_)
    head |= static_cast<std::uint64_t>(chunk_[static_cast<std::size_t>(high_ - 4)]) >> length;
  const int exponent = kBase + kBits * high_ + length - 1;  // of the leading bit
  const bool negative = negative_;
  clear();

  const Format format = format_of(width);
  const int unit = std::max(exponent - format.precision + 1, format.lowest),
            kept = exponent - unit + 1;  // bits of the significand
  std::uint64_t significand = 0;
  bool half = false, rest = true;
  Double fraction = head;  // what follows the significand, from the top on, when kept >= 0
  if (kept >= 0) {
    significand = kept == 0 ? 0 : static_cast<std::uint64_t>(head >> (128 - kept));
    fraction = head << kept;
    half = fraction >> 127 != 0;
    rest = (fraction << 1) != 0 || more;
  }
  const bool upwards = half && (rest || (significand & 1) != 0);
  const double rounded = std::ldexp(static_cast<double>(significand + (upwards ? 1 : 0)), unit);
  if (rounded > format.most) {
    const long double sum = std::ldexp(static_cast<long double>(static_cast<std::uint64_t>(head >> 64)), exponent - 63);
    const long double edge = width == Width::Double ? 0x1p1024L - 0x1p970L : 0x1p128L - 0x1p103L;  // ties go up
    result = {std::numeric_limits<double>::infinity(), std::numeric_limits<long double>::infinity(), sum - edge};
  } else {
    result.value = rounded;
    if (half || rest) {
      result.error = std::ldexp(1.0L, unit - 1);
      if (exponent - format.precision + 1 < format.lowest) {
        // Of the fraction, or of 1 minus it, 64 bits rounded up; where the significand has no bits, of the sum itself.
        const auto top = static_cast<std::uint64_t>((upwards ? ~fraction : fraction) >> 64);
        const long double distance =
            std::ldexp(static_cast<long double>(top) + 2, (kept >= 0 ? unit : exponent + 1) - 64);
        result.error = std::min(result.error, distance);
      }
    }
  }
  if (negative) result.value = -result.value;
  return result;
}

WideNumber::WideNumber(const Wide& x, int e) : negative(x.negative()), exponent(e) {
  Wide v;
  v.add(negative ? -1 : 1, x);
  words = v.word;
}

long double magnitude(const Number& x) {
  long double sum = 0;
  for (std::size_t i = x.magnitude.size(); i-- > 0;) sum = sum * 0x1p64L + static_cast<long double>(x.magnitude[i]);
  // Numbers of many words would overflow on the way: their range is that of Sum, 2^3400, within long double's.
  return std::ldexp(sum, x.exponent);
}

bool round_quickly(const Wide& x, int exponent, Width width, Rounded& result) {
  const Leading v = leading(x);
  if (v.high == 0) {
    result = {};
    return true;
  }
  const int e = v.exponent + exponent;
  const Format format = format_of(width);
  // Normal with room for the carry of rounding up, on both sides.
  if (e - format.precision + 1 < format.lowest || e > (width == Width::Double ? 1022 : 126)) return false;
  double rounded = v.high + v.low;
  bool exact = v.low == 0;
  if (width == Width::Single) {
    // The leading 53 bits with everything else in the last of them (round to odd), then one rounding to 24.
    auto bits = std::bit_cast<std::uint64_t>(v.high);
    if (v.low != 0) bits |= 1;
    const auto narrow = static_cast<double>(static_cast<float>(std::bit_cast<double>(bits)));
    exact = std::bit_cast<double>(bits) == narrow;
    rounded = narrow;
  }
  const auto power = [](int q) { return std::bit_cast<double>(static_cast<std::uint64_t>(q + 1023) << 52); };
  result.value = rounded * power(e);
  result.error = exact ? 0 : static_cast<long double>(power(e)) * (width == Width::Double ? 0x1p-53L : 0x1p-24L);
  return true;
}

}  // namespace trn::blas::exact

// Conversion of runs between float and the narrow formats, compiled once per instruction set and chosen at run time by
// Highway. Every step is an integer operation or an exact (or once correctly rounded) float addition, so all
// instruction sets give the bits of rounding.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "float_runs.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <bit>
#include <cstring>
#include <trn/core/error.hpp>

#include "float_runs.hpp"
#include "rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::bits::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<std::int32_t>;
using FloatLanes = hn::RebindToFloat<Lanes>;
using Word = hn::Vec<Lanes>;

constexpr std::int32_t word(std::uint32_t bits) { return static_cast<std::int32_t>(bits); }

// The float whose unit in the last place is the format's smallest subnormal, as bits.
template <Format F> constexpr std::int32_t kSubnormalBase = (127 + 24 - exponent_bias(F) - F.mantissa_bits) << 23;

// The codes of a vector of floats. Per lane, with a = |x| as bits:
//   normal:     ((a + half - 1 + odd) >> drop) - rebias, the carry running into the exponent as it should
//   subnormal:  bits(|x| + base) - bits(base), where the addition does the rounding
template <Format F> HWY_INLINE Word narrow_lanes(Word x, std::uint32_t overflow) {
  const Lanes d;
  const FloatLanes df;
  constexpr int drop = 23 - F.mantissa_bits;
  constexpr int exponent_shortfall = 127 - exponent_bias(F);
  const auto a = hn::And(x, hn::Set(d, 0x7fffffff));
  const auto odd = hn::And(hn::ShiftRight<drop>(a), hn::Set(d, 1));
  auto code = hn::ShiftRight<drop>(hn::Add(a, hn::Add(odd, hn::Set(d, (1 << (drop - 1)) - 1))));
  if constexpr (exponent_shortfall != 0) {
    code = hn::Sub(code, hn::Set(d, exponent_shortfall << F.mantissa_bits));
    const auto base = hn::Set(d, kSubnormalBase<F>);
    const auto sum = hn::Add(hn::BitCast(df, a), hn::BitCast(df, base));
    const auto subnormal = hn::Sub(hn::BitCast(d, sum), base);
    code = hn::IfThenElse(hn::Lt(a, hn::Set(d, (exponent_shortfall + 1) << 23)), subnormal, code);
  }
  code = hn::IfThenElse(hn::Gt(code, hn::Set(d, word(max_finite(F)))), hn::Set(d, word(overflow)), code);
  auto nan = hn::Set(d, word(nan_code(F, 0)));
  if constexpr (F.has_infinity) {
    nan = hn::Or(nan, hn::And(hn::ShiftRight<drop>(a), hn::Set(d, (1 << F.mantissa_bits) - 1)));
  }
  code = hn::IfThenElse(hn::Gt(a, hn::Set(d, 0x7f800000)), nan, code);
  const auto sign = hn::And(hn::ShiftRight<drop + 8 - F.exponent_bits>(x), hn::Set(d, word(sign_bit(F))));
  return hn::Or(code, sign);
}

// The floats, as bits, of a vector of codes; the same three cases as widen().
template <Format F> HWY_INLINE Word widen_lanes(Word pattern) {
  const Lanes d;
  const FloatLanes df;
  constexpr int drop = 23 - F.mantissa_bits;
  const auto shifted = hn::ShiftLeft<drop + 8 - F.exponent_bits>(pattern);
  if constexpr (F.exponent_bits == 8) return shifted;
  const auto sign = hn::And(shifted, hn::Set(d, word(0x80000000u)));
  const auto code = hn::And(pattern, hn::Set(d, word(all_ones(F))));
  const auto aligned = hn::ShiftLeft<drop>(code);
  const auto base = hn::Set(d, kSubnormalBase<F>);
  const auto difference = hn::Sub(hn::BitCast(df, hn::Or(code, base)), hn::BitCast(df, base));
  auto magnitude = hn::Add(aligned, hn::Set(d, (127 - exponent_bias(F)) << 23));
  magnitude = hn::IfThenElse(hn::Lt(code, hn::Set(d, 1 << F.mantissa_bits)), hn::BitCast(d, difference), magnitude);
  magnitude =
      hn::IfThenElse(hn::Gt(code, hn::Set(d, word(max_finite(F)))), hn::Or(aligned, hn::Set(d, 0x7f800000)), magnitude);
  return hn::Or(magnitude, sign);
}

template <class Code> HWY_INLINE void store_codes(Word codes, Code* dst) {
  const hn::Rebind<Code, Lanes> narrow;
  hn::StoreU(hn::DemoteTo(narrow, codes), narrow, dst);
}
// tfloat32 keeps its code in the top bits of a float.
template <> HWY_INLINE void store_codes<std::int32_t>(Word codes, std::int32_t* dst) {
  hn::StoreU(hn::ShiftLeft<23 - kTFloat32.mantissa_bits>(codes), Lanes(), dst);
}

// Calls step(src, dst) for every full vector, and once more through a padded copy for the rest.
template <class In, class Out, class Step>
HWY_INLINE void for_vectors(const In* src, Out* dst, std::int64_t n, Step step) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Lanes()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) step(src + i, dst + i);
  if (i >= n) return;
  const auto rest = static_cast<std::size_t>(n - i);
  In in[hn::MaxLanes(Lanes())] = {};
  Out out[hn::MaxLanes(Lanes())];
  std::memcpy(in, src + i, rest * sizeof(In));
  step(in, out);
  std::memcpy(dst + i, out, rest * sizeof(Out));
}

template <Format F, class Code> void narrow_to(const float* src, std::uint32_t overflow, void* dst, std::int64_t n) {
  for_vectors(src, static_cast<Code*>(dst), n, [overflow](const float* in, Code* out) HWY_ATTR {
    store_codes<Code>(narrow_lanes<F>(hn::BitCast(Lanes(), hn::LoadU(FloatLanes(), in)), overflow), out);
  });
}

template <Format F, class Code> void widen_from(const void* src, float* dst, std::int64_t n) {
  for_vectors(static_cast<const Code*>(src), dst, n, [](const Code* in, float* out) HWY_ATTR {
    const auto codes = hn::PromoteTo(Lanes(), hn::LoadU(hn::Rebind<Code, Lanes>(), in));
    hn::StoreU(hn::BitCast(FloatLanes(), widen_lanes<F>(codes)), FloatLanes(), out);
  });
}

void narrow_target(const float* src, DType dtype, std::uint32_t overflow, void* dst, std::int64_t n) {
  switch (dtype) {
    case DType::TFloat32:
      return narrow_to<kTFloat32, std::int32_t>(src, overflow, dst, n);
    case DType::BFloat16:
      return narrow_to<kBFloat16, std::uint16_t>(src, overflow, dst, n);
    case DType::Float16:
      return narrow_to<kFloat16, std::uint16_t>(src, overflow, dst, n);
    case DType::Float8E4M3:
      return narrow_to<kFloat8E4M3, std::uint8_t>(src, overflow, dst, n);
    case DType::Float8E4M3FN:
      return narrow_to<kFloat8E4M3FN, std::uint8_t>(src, overflow, dst, n);
    case DType::Float8E5M2:
      return narrow_to<kFloat8E5M2, std::uint8_t>(src, overflow, dst, n);
    default:
      fail<InternalError>("narrow_run: {} is not a narrow float type", name(dtype));
  }
}

void widen_target(DType dtype, const void* src, float* dst, std::int64_t n) {
  switch (dtype) {
    case DType::BFloat16:
      return widen_from<kBFloat16, std::uint16_t>(src, dst, n);
    case DType::Float16:
      return widen_from<kFloat16, std::uint16_t>(src, dst, n);
    case DType::Float8E4M3:
      return widen_from<kFloat8E4M3, std::uint8_t>(src, dst, n);
    case DType::Float8E4M3FN:
      return widen_from<kFloat8E4M3FN, std::uint8_t>(src, dst, n);
    case DType::Float8E5M2:
      return widen_from<kFloat8E5M2, std::uint8_t>(src, dst, n);
    default:
      fail<InternalError>("widen_run: {} is not a float type of one or two bytes", name(dtype));
  }
}

}  // namespace trn::bits::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::bits {

HWY_EXPORT(narrow_target);
HWY_EXPORT(widen_target);

void narrow_run(const float* src, DType dtype, std::uint32_t overflow, void* dst, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(narrow_target)(src, dtype, overflow, dst, n);
}

void widen_run(DType dtype, const void* src, float* dst, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(widen_target)(dtype, src, dst, n);
}

}  // namespace trn::bits
#endif

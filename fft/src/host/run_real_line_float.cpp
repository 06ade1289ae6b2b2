// Single real lines in float, compiled for every instruction set; the best one of this machine is chosen when an engine
// is made.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_real_line_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

OneRealLine<float> one_real_line_float(const RealLine<float>& line) {
  return line.direction == EngineKind::RealToHalf ? real_line_function<true>(line) : real_line_function<false>(line);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(one_real_line_float);

template <> OneRealLine<float> one_real_line<float>(const RealLine<float>& line) {
  return HWY_DYNAMIC_DISPATCH(one_real_line_float)(line);
}

}  // namespace trn::fft::host
#endif

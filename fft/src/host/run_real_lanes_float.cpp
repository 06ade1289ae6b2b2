// Many real lines in float, one in each lane, and single lines that need the same passes, compiled for every
// instruction set; the best one of this machine is chosen at the first call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_real_lanes_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_split-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

void run_real_lanes_float(const RealPlan<float>& plan, const EngineCall<float>& call, std::int64_t begin,
                          std::int64_t end, float* scratch) {
  run_real_lanes_here(plan, call, begin, end, scratch);
}
OneRealLine<float> split_real_line_float(const RealLine<float>& line) { return split_real_line_function(line); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(run_real_lanes_float);
HWY_EXPORT(split_real_line_float);

template <> void run_real_lanes<float>(const RealPlan<float>& plan, const EngineCall<float>& call, std::int64_t begin,
                                       std::int64_t end, float* scratch) {
  HWY_DYNAMIC_DISPATCH(run_real_lanes_float)(plan, call, begin, end, scratch);
}
template <> OneRealLine<float> split_real_line<float>(const RealLine<float>& line) {
  return HWY_DYNAMIC_DISPATCH(split_real_line_float)(line);
}

}  // namespace trn::fft::host
#endif

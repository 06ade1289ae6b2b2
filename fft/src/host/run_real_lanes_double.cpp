// Many real lines in double, one in each lane, and single lines that need the same passes, compiled for every
// instruction set; the best one of this machine is chosen at the first call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as run_double.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_real_lanes_double.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_split-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

void run_real_lanes_double(const RealPlan<double>& plan, const EngineCall<double>& call, std::int64_t begin,
                           std::int64_t end, double* scratch) {
  run_real_lanes_here(plan, call, begin, end, scratch);
}
OneRealLine<double> split_real_line_double(const RealLine<double>& line) { return split_real_line_function(line); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(run_real_lanes_double);
HWY_EXPORT(split_real_line_double);

template <> void run_real_lanes<double>(const RealPlan<double>& plan, const EngineCall<double>& call,
                                        std::int64_t begin, std::int64_t end, double* scratch) {
  HWY_DYNAMIC_DISPATCH(run_real_lanes_double)(plan, call, begin, end, scratch);
}
template <> OneRealLine<double> split_real_line<double>(const RealLine<double>& line) {
  return HWY_DYNAMIC_DISPATCH(split_real_line_double)(line);
}

}  // namespace trn::fft::host
#endif

// Boxes in double, compiled for every instruction set; the best one of this machine is chosen at the first call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_boxes_double.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/boxes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

void run_boxes_double(const BoxPlan<double>& plan, const BoxCall<double>& call, std::int64_t begin, std::int64_t end,
                      double* scratch) {
  run_boxes_here(plan, call, begin, end, scratch);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(run_boxes_double);

template <> void run_boxes<double>(const BoxPlan<double>& plan, const BoxCall<double>& call, std::int64_t begin,
                                   std::int64_t end, double* scratch) {
  HWY_DYNAMIC_DISPATCH(run_boxes_double)(plan, call, begin, end, scratch);
}

}  // namespace trn::fft::host
#endif

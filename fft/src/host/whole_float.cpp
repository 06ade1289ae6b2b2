// Whole lines and lines in steps of the host engines in float, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/whole_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

WholeKernel<float> whole_float(std::int64_t n) { return whole_kernel_here<float>(n); }
StepKernel<float> step_float(std::int64_t radix, StepPlace place) { return step_kernel_here<float>(radix, place); }
int numbers_float() { return step_numbers_here<float>(); }
void lines_float(const void* call, const void* in, void* out) { step_lines<float>(call, in, out); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(whole_float);
HWY_EXPORT(step_float);
HWY_EXPORT(numbers_float);
HWY_EXPORT(lines_float);

template <> WholeKernel<float> whole_kernel<float>(std::int64_t n) { return HWY_DYNAMIC_DISPATCH(whole_float)(n); }
template <> StepKernel<float> step_kernel<float>(std::int64_t radix, StepPlace place) {
  return HWY_DYNAMIC_DISPATCH(step_float)(radix, place);
}
template <> int step_numbers<float>() { return HWY_DYNAMIC_DISPATCH(numbers_float)(); }
template <> WholeRun<float> run_steps<float>() { return &HWY_DYNAMIC_DISPATCH(lines_float); }

}  // namespace trn::fft::host
#endif

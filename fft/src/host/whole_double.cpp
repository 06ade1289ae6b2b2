// Whole lines and lines in steps of the host engines in double, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_double.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/whole_double.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

WholeKernel<double> whole_double(std::int64_t n) { return whole_kernel_here<double>(n); }
StepKernel<double> step_double(std::int64_t radix, StepPlace place) { return step_kernel_here<double>(radix, place); }
int numbers_double() { return step_numbers_here<double>(); }
void lines_double(const void* call, const void* in, void* out) { step_lines<double>(call, in, out); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(whole_double);
HWY_EXPORT(step_double);
HWY_EXPORT(numbers_double);
HWY_EXPORT(lines_double);

template <> WholeKernel<double> whole_kernel<double>(std::int64_t n) { return HWY_DYNAMIC_DISPATCH(whole_double)(n); }
template <> StepKernel<double> step_kernel<double>(std::int64_t radix, StepPlace place) {
  return HWY_DYNAMIC_DISPATCH(step_double)(radix, place);
}
template <> int step_numbers<double>() { return HWY_DYNAMIC_DISPATCH(numbers_double)(); }
template <> WholeRun<double> run_steps<double>() { return &HWY_DYNAMIC_DISPATCH(lines_double); }

}  // namespace trn::fft::host
#endif

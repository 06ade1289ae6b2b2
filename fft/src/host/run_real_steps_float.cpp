// Real lines in float as a few passes without scratch, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_real_steps_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

RealColumns<float> real_columns_float(int radix, bool there, bool narrow) {
  return real_columns_here<float>(radix, there, narrow);
}
StepKernel<float> half_rows_float(int radix, HalfRows place, bool narrow) {
  return half_rows_here<float>(radix, place, narrow);
}
WholeRun<float> real_steps_float(bool there) { return real_steps_here<float>(there); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(real_columns_float);
HWY_EXPORT(half_rows_float);
HWY_EXPORT(real_steps_float);

template <> RealColumns<float> real_columns_kernel<float>(int radix, bool there, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(real_columns_float)(radix, there, narrow);
}
template <> StepKernel<float> half_rows_kernel<float>(int radix, HalfRows place, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(half_rows_float)(radix, place, narrow);
}
template <> WholeRun<float> run_real_steps<float>(bool there) { return HWY_DYNAMIC_DISPATCH(real_steps_float)(there); }

}  // namespace trn::fft::host
#endif

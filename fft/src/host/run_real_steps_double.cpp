// Real lines in double as a few passes without scratch, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_double.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_real_steps_double.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

RealColumns<double> real_columns_double(int radix, bool there, bool narrow) {
  return real_columns_here<double>(radix, there, narrow);
}
StepKernel<double> half_rows_double(int radix, HalfRows place, bool narrow) {
  return half_rows_here<double>(radix, place, narrow);
}
WholeRun<double> real_steps_double(bool there) { return real_steps_here<double>(there); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(real_columns_double);
HWY_EXPORT(half_rows_double);
HWY_EXPORT(real_steps_double);

template <> RealColumns<double> real_columns_kernel<double>(int radix, bool there, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(real_columns_double)(radix, there, narrow);
}
template <> StepKernel<double> half_rows_kernel<double>(int radix, HalfRows place, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(half_rows_double)(radix, place, narrow);
}
template <> WholeRun<double> run_real_steps<double>(bool there) {
  return HWY_DYNAMIC_DISPATCH(real_steps_double)(there);
}

}  // namespace trn::fft::host
#endif

// Lines whole in registers and lines in steps, complex and real, in both precisions, compiled for every instruction
// set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_steps.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_steps-inl.hpp"
#include "host/woven-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <class T> constexpr StepFunctions<T> kStepFunctions = {
    whole_kernel_here<T>, step_kernel_here<T>,  step_numbers_here<T>(), step_lines<T>,     woven_columns_here<T>,
    weave_here<T>,        real_columns_here<T>, half_rows_here<T>,      real_steps_here<T>};

const StepFunctions<float>* step_functions_float() { return &kStepFunctions<float>; }
const StepFunctions<double>* step_functions_double() { return &kStepFunctions<double>; }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(step_functions_float);
HWY_EXPORT(step_functions_double);
template <> const StepFunctions<float>& step_functions<float>() {
  return *HWY_DYNAMIC_DISPATCH(step_functions_float)();
}
template <> const StepFunctions<double>& step_functions<double>() {
  return *HWY_DYNAMIC_DISPATCH(step_functions_double)();
}

}  // namespace trn::fft::host
#endif

// Lines whole in registers and lines in steps, complex and real, in both precisions, compiled for every instruction
// set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_steps.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_steps-inl.hpp"
#include "host/run_tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <class T> constexpr StepFunctions<T> kStepFunctions = {
    whole_kernel_here<T>, step_kernel_here<T>,  step_numbers_here<T>(), step_lines<T>,     woven_columns_here<T>,
    weave_here<T>,        real_columns_here<T>, half_rows_here<T>,      real_steps_here<T>};

TRN_FFT_TABLES(step_functions, StepFunctions, kStepFunctions)

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {
TRN_FFT_CHOICES(step_functions, StepFunctions)
}  // namespace trn::fft::host
#endif

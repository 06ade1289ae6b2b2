// Tiny boxes and real columns in both precisions, compiled for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_small.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/columns_real-inl.hpp"
#include "host/tiny-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <class T> constexpr SmallFunctions<T> kSmallFunctions = {tiny_kernel_here<T>, column_runs_kernel_here<T>};

const SmallFunctions<float>* small_functions_float() { return &kSmallFunctions<float>; }
const SmallFunctions<double>* small_functions_double() { return &kSmallFunctions<double>; }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(small_functions_float);
HWY_EXPORT(small_functions_double);
template <> const SmallFunctions<float>& small_functions<float>() {
  return *HWY_DYNAMIC_DISPATCH(small_functions_float)();
}
template <> const SmallFunctions<double>& small_functions<double>() {
  return *HWY_DYNAMIC_DISPATCH(small_functions_double)();
}

}  // namespace trn::fft::host
#endif

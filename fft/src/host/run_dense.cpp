// Short dense real lines, whole in registers, in both precisions, compiled for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_dense.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_pairs-inl.hpp"
#include "host/real_parted-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <class T> constexpr DenseFunctions<T> kDenseFunctions = {pairs_kernel_here<T>, dense_codelet_here<T>,
                                                                  parted_kernel_here<T>, prime_real_kernel_here<T>};

const DenseFunctions<float>* dense_functions_float() { return &kDenseFunctions<float>; }
const DenseFunctions<double>* dense_functions_double() { return &kDenseFunctions<double>; }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(dense_functions_float);
HWY_EXPORT(dense_functions_double);
template <> const DenseFunctions<float>& dense_functions<float>() {
  return *HWY_DYNAMIC_DISPATCH(dense_functions_float)();
}
template <> const DenseFunctions<double>& dense_functions<double>() {
  return *HWY_DYNAMIC_DISPATCH(dense_functions_double)();
}

}  // namespace trn::fft::host
#endif

// Tiny boxes and real columns in both precisions, compiled for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_small.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/columns-inl.hpp"
#include "host/run_tables.hpp"
#include "host/tiny-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> constexpr SmallFunctions<T> kSmallFunctions = {tiny_kernel_here<T>, nullptr};
#else
template <class T> constexpr SmallFunctions<T> kSmallFunctions = {tiny_kernel_here<T>, real_columns_here<T>};
#endif

TRN_FFT_TABLES(small_functions, SmallFunctions, kSmallFunctions)

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {
TRN_FFT_CHOICES(small_functions, SmallFunctions)
}  // namespace trn::fft::host
#endif

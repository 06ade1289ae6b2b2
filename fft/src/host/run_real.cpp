// Real lines, many in lanes or one by itself, and boxes, in both precisions, compiled for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_real.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/boxes-inl.hpp"
#include "host/real_line-inl.hpp"
#include "host/run_tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> constexpr RealFunctions<T> kRealFunctions = {real_line_function<T>, nullptr, nullptr};
#else
template <class T>
constexpr RealFunctions<T> kRealFunctions = {real_line_function<T>, run_real_lanes_here<T>, run_boxes_here<T>};
#endif

TRN_FFT_TABLES(real_functions, RealFunctions, kRealFunctions)

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {
TRN_FFT_CHOICES(real_functions, RealFunctions)
}  // namespace trn::fft::host
#endif

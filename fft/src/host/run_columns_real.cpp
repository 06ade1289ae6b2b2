// Real columns in both precisions, compiled for every instruction set; the best one of this machine is chosen at the first call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_columns_real.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/columns_real-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

RealColumnsRun<float> real_columns_float(std::int64_t n, bool there) { return real_columns_kernel_here<float>(n, there); }
RealColumnsRun<double> real_columns_double(std::int64_t n, bool there) { return real_columns_kernel_here<double>(n, there); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(real_columns_float);
HWY_EXPORT(real_columns_double);

template <> RealColumnsRun<float> real_columns_kernel<float>(std::int64_t n, bool there) { return HWY_DYNAMIC_DISPATCH(real_columns_float)(n, there); }
template <> RealColumnsRun<double> real_columns_kernel<double>(std::int64_t n, bool there) { return HWY_DYNAMIC_DISPATCH(real_columns_double)(n, there); }

}  // namespace trn::fft::host
#endif

// Real columns in both precisions, compiled for every instruction set; the best one of this machine is chosen at the
// first call.
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

RealColumnsRun<float> column_runs_float(std::int64_t n, bool there) { return column_runs_kernel_here<float>(n, there); }
RealColumnsRun<double> column_runs_double(std::int64_t n, bool there) {
  return column_runs_kernel_here<double>(n, there);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(column_runs_float);
HWY_EXPORT(column_runs_double);

template <> RealColumnsRun<float> column_runs_kernel<float>(std::int64_t n, bool there) {
  return HWY_DYNAMIC_DISPATCH(column_runs_float)(n, there);
}
template <> RealColumnsRun<double> column_runs_kernel<double>(std::int64_t n, bool there) {
  return HWY_DYNAMIC_DISPATCH(column_runs_double)(n, there);
}

}  // namespace trn::fft::host
#endif

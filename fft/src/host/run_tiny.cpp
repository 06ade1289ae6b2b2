// Tiny boxes in both precisions, compiled for every instruction set; the best one of this machine is chosen at the
// first call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_tiny.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/tiny-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

TinyAxis<float>::Run tiny_float(TinyKind kind, std::int64_t n) { return tiny_kernel_here<float>(kind, n); }
TinyAxis<double>::Run tiny_double(TinyKind kind, std::int64_t n) { return tiny_kernel_here<double>(kind, n); }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(tiny_float);
HWY_EXPORT(tiny_double);

template <> TinyAxis<float>::Run tiny_kernel<float>(TinyKind kind, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(tiny_float)(kind, n);
}
template <> TinyAxis<double>::Run tiny_kernel<double>(TinyKind kind, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(tiny_double)(kind, n);
}

}  // namespace trn::fft::host
#endif

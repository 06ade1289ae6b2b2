// Short dense real lines in float, whole in registers, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_float.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/whole_real_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_pairs-inl.hpp"
#include "host/real_parted-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

WholeKernel<float> pairs_float(std::int64_t n, bool there) {
  return there ? pairs_kernel_here<true, float>(n) : pairs_kernel_here<false, float>(n);
}
WholeRun<float> dense_float(std::int64_t n, bool there) {
  return there ? dense_codelet_here<true, float>(n) : dense_codelet_here<false, float>(n);
}
DenseKernel<float> parted_float(bool there) {
  return there ? parted_kernel_here<true, float>() : parted_kernel_here<false, float>();
}
DenseKernel<float> prime_float(bool there) {
  return there ? prime_real_kernel_here<true, float>() : prime_real_kernel_here<false, float>();
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(pairs_float);
HWY_EXPORT(dense_float);
HWY_EXPORT(parted_float);
HWY_EXPORT(prime_float);

template <> WholeKernel<float> pairs_kernel<float>(std::int64_t n, bool there) {
  return HWY_DYNAMIC_DISPATCH(pairs_float)(n, there);
}
template <> WholeRun<float> dense_codelet<float>(std::int64_t n, bool there) {
  return HWY_DYNAMIC_DISPATCH(dense_float)(n, there);
}
template <> DenseKernel<float> parted_kernel<float>(bool there) { return HWY_DYNAMIC_DISPATCH(parted_float)(there); }
template <> DenseKernel<float> prime_real_kernel<float>(bool there) { return HWY_DYNAMIC_DISPATCH(prime_float)(there); }

}  // namespace trn::fft::host
#endif

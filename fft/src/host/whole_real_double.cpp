// Short dense real lines in double, whole in registers, compiled for every instruction set.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // as in run_double.cpp
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/whole_real_double.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_pairs-inl.hpp"
#include "host/real_parted-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

WholeKernel<double> pairs_double(std::int64_t n, bool there) {
  return there ? pairs_kernel_here<true, double>(n) : pairs_kernel_here<false, double>(n);
}
WholeRun<double> dense_double(std::int64_t n, bool there) {
  return there ? dense_codelet_here<true, double>(n) : dense_codelet_here<false, double>(n);
}
DenseKernel<double> parted_double(bool there) {
  return there ? parted_kernel_here<true, double>() : parted_kernel_here<false, double>();
}
DenseKernel<double> prime_double(bool there) {
  return there ? prime_real_kernel_here<true, double>() : prime_real_kernel_here<false, double>();
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(pairs_double);
HWY_EXPORT(dense_double);
HWY_EXPORT(parted_double);
HWY_EXPORT(prime_double);

template <> WholeKernel<double> pairs_kernel<double>(std::int64_t n, bool there) {
  return HWY_DYNAMIC_DISPATCH(pairs_double)(n, there);
}
template <> WholeRun<double> dense_codelet<double>(std::int64_t n, bool there) {
  return HWY_DYNAMIC_DISPATCH(dense_double)(n, there);
}
template <> DenseKernel<double> parted_kernel<double>(bool there) { return HWY_DYNAMIC_DISPATCH(parted_double)(there); }
template <> DenseKernel<double> prime_real_kernel<double>(bool there) {
  return HWY_DYNAMIC_DISPATCH(prime_double)(there);
}

}  // namespace trn::fft::host
#endif

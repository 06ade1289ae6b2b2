// Short dense real lines, whole in registers, in both precisions, compiled for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_dense.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/real_dense-inl.hpp"
#include "host/run_tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <class T> constexpr DenseFunctions<T> kDenseFunctions = {pairs_kernel_here<T>, dense_codelet_here<T>,
                                                                  parted_kernel_here<T>, prime_real_kernel_here<T>};

TRN_FFT_TABLES(dense_functions, DenseFunctions, kDenseFunctions)

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {
TRN_FFT_CHOICES(dense_functions, DenseFunctions)
}  // namespace trn::fft::host
#endif

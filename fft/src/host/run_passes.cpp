// Passes over blocks of rows in both precisions, compiled for every instruction set; the files that use them see their
// declarations only.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_passes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

TRN_FFT_ALL_PASSES(, float)
TRN_FFT_ALL_PASSES(, double)

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

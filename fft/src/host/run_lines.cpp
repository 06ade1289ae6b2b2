// Complex lines in both precisions, compiled for every instruction set; the best one of this machine is chosen at the
// first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_lines.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/columns-inl.hpp"
#include "host/run_tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <class T> void run_lanes_or_columns(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin,
                                             std::int64_t end, T* scratch) {
#if HWY_TARGET != HWY_SCALAR
  if (are_columns(call)) return run_columns_here(plan, call, begin, end, scratch);
#endif
  run_lanes_here(plan, call, begin, end, scratch);
}
#if HWY_TARGET == HWY_SCALAR
template <class T> constexpr WholeRun<T> columns_at_once_here = nullptr;
#endif
template <class T> void run_one_line(const LinePlan<T>& plan, T* in_re, T* in_im, std::int64_t in_stride, T* out_re,
                                     T* out_im, std::int64_t out_stride, T factor, T* scratch, int threads) {
  run_line(plan, Points<T>{in_re, in_im, in_stride}, Points<T>{out_re, out_im, out_stride}, factor, scratch, threads);
}

template <class T> constexpr LineFunctions<T> kLineFunctions = {
    kWidest<T>, columns_at_once_here<T>, run_lanes_or_columns<T>, run_lines_here<T>, run_one_line<T>};

TRN_FFT_TABLES(line_functions, LineFunctions, kLineFunctions)

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {
TRN_FFT_CHOICES(line_functions, LineFunctions)
}  // namespace trn::fft::host
#endif

// The host engines in double, compiled for every instruction set; the best one of this machine is chosen at the first
// call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // each target is a copy of every codelet: AVX2, AVX-512, and none
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_double.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

int lanes_double() { return static_cast<int>(hn::MaxLanes(Widest<double>())); }
void run_lanes_double(const EnginePlan<double>& plan, const EngineCall<double>& call, std::int64_t begin,
                      std::int64_t end, double* scratch) {
  if (are_columns(call))
    run_columns_here(plan, call, begin, end, scratch);
  else
    run_lanes_here(plan, call, begin, end, scratch);
}
void columns_double(const void* context, const void* in, void* out) { columns_at_once_here<double>(context, in, out); }
void run_lines_double(const EnginePlan<double>& plan, const EngineCall<double>& call, std::int64_t begin,
                      std::int64_t end, double* scratch, int threads) {
  run_lines_here(plan, call, begin, end, scratch, threads);
}
void one_line_double(const LinePlan<double>& plan, double* in_re, double* in_im, std::int64_t in_stride, double* out_re,
                     double* out_im, std::int64_t out_stride, double factor, double* scratch, int threads) {
  run_line(plan, Points<double>{in_re, in_im, in_stride}, Points<double>{out_re, out_im, out_stride}, factor, scratch,
           threads);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(lanes_double);
HWY_EXPORT(columns_double);
HWY_EXPORT(run_lanes_double);
HWY_EXPORT(run_lines_double);
HWY_EXPORT(one_line_double);

template <> int widest_lanes<double>() { return HWY_DYNAMIC_DISPATCH(lanes_double)(); }
template <> WholeRun<double> columns_at_once<double>() { return &HWY_DYNAMIC_DISPATCH(columns_double); }
template <> void run_lanes<double>(const EnginePlan<double>& plan, const EngineCall<double>& call, std::int64_t begin,
                                   std::int64_t end, double* scratch) {
  HWY_DYNAMIC_DISPATCH(run_lanes_double)(plan, call, begin, end, scratch);
}
template <> void run_lines<double>(const EnginePlan<double>& plan, const EngineCall<double>& call, std::int64_t begin,
                                   std::int64_t end, double* scratch, int threads) {
  HWY_DYNAMIC_DISPATCH(run_lines_double)(plan, call, begin, end, scratch, threads);
}
template <> OneLine<double> one_line<double>() { return &HWY_DYNAMIC_DISPATCH(one_line_double); }

}  // namespace trn::fft::host
#endif

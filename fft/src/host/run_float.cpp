// The host engines in float, compiled for every instruction set; the best one of this machine is chosen at the first
// call.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)  // each target is a copy of every codelet: AVX2, AVX-512, and none
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

int lanes_float() { return static_cast<int>(hn::MaxLanes(Widest<float>())); }
void run_lanes_float(const EnginePlan<float>& plan, const EngineCall<float>& call, std::int64_t begin, std::int64_t end,
                     float* scratch) {
  if (are_columns(call))
    run_columns_here(plan, call, begin, end, scratch);
  else
    run_lanes_here(plan, call, begin, end, scratch);
}
void columns_float(const void* context, const void* in, void* out) { columns_at_once_here<float>(context, in, out); }
void run_lines_float(const EnginePlan<float>& plan, const EngineCall<float>& call, std::int64_t begin, std::int64_t end,
                     float* scratch, int threads) {
  run_lines_here(plan, call, begin, end, scratch, threads);
}
void one_line_float(const LinePlan<float>& plan, float* in_re, float* in_im, std::int64_t in_stride, float* out_re,
                    float* out_im, std::int64_t out_stride, float factor, float* scratch, int threads) {
  run_line(plan, Points<float>{in_re, in_im, in_stride}, Points<float>{out_re, out_im, out_stride}, factor, scratch,
           threads);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(lanes_float);
HWY_EXPORT(columns_float);
HWY_EXPORT(run_lanes_float);
HWY_EXPORT(run_lines_float);
HWY_EXPORT(one_line_float);

template <> int widest_lanes<float>() { return HWY_DYNAMIC_DISPATCH(lanes_float)(); }
template <> WholeRun<float> columns_at_once<float>() { return &HWY_DYNAMIC_DISPATCH(columns_float); }
template <> void run_lanes<float>(const EnginePlan<float>& plan, const EngineCall<float>& call, std::int64_t begin,
                                  std::int64_t end, float* scratch) {
  HWY_DYNAMIC_DISPATCH(run_lanes_float)(plan, call, begin, end, scratch);
}
template <> void run_lines<float>(const EnginePlan<float>& plan, const EngineCall<float>& call, std::int64_t begin,
                                  std::int64_t end, float* scratch, int threads) {
  HWY_DYNAMIC_DISPATCH(run_lines_float)(plan, call, begin, end, scratch, threads);
}
template <> OneLine<float> one_line<float>() { return &HWY_DYNAMIC_DISPATCH(one_line_float); }

}  // namespace trn::fft::host
#endif

// Real lines, many in lanes or one by itself, and boxes, in both precisions, compiled for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/run_real.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/boxes-inl.hpp"
#include "host/real_line-inl.hpp"
#include "host/real_split-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> constexpr RealFunctions<T> kRealFunctions = {real_line_function<T>, nullptr, nullptr};
#else
template <class T> OneRealLine<T> any_real_line(const RealLine<T>& line) {
  return line.kind == RealKind::Columns || line.kind == RealKind::Split ? split_real_line_function(line)
                                                                        : real_line_function(line);
}
template <class T>
constexpr RealFunctions<T> kRealFunctions = {any_real_line<T>, run_real_lanes_here<T>, run_boxes_here<T>};
#endif

const RealFunctions<float>* real_functions_float() { return &kRealFunctions<float>; }
const RealFunctions<double>* real_functions_double() { return &kRealFunctions<double>; }

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::fft::host {

HWY_EXPORT(real_functions_float);
HWY_EXPORT(real_functions_double);
template <> const RealFunctions<float>& real_functions<float>() {
  return *HWY_DYNAMIC_DISPATCH(real_functions_float)();
}
template <> const RealFunctions<double>& real_functions<double>() {
  return *HWY_DYNAMIC_DISPATCH(real_functions_double)();
}

}  // namespace trn::fft::host
#endif

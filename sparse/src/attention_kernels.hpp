// The kernels of attention, both families. Entry points have checked shapes, executors and addresses.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/sparse/attention.hpp>

namespace trn::sparse {

template <class T> struct AttentionArgs {
  const AttentionMask* mask;
  const AttentionOptions* options;  // dv and scale filled in
  Mode mode;
  const T *q, *k, *v;
  T *o, *log_sums;  // log_sums may be null
};
template <class T> struct AttentionBackwardArgs {
  const AttentionMask* mask;
  const AttentionOptions* options;
  Mode mode;
  const T *q, *k, *v, *o, *log_sums, *d_o;
  T *d_q, *d_k, *d_v;
};
struct AttentionPlanArgs {
  const AttentionMask* mask;
  const AttentionOptions* options;
};
struct AttentionPlanned {
  AttentionReport report;
  Accuracy forward, backward;
};

namespace host {
template <class T> AttentionPlanned plan_attention(const Executor& executor, const AttentionPlanArgs& args);
template <class T> void attention(const Executor& executor, const AttentionArgs<T>& args);
template <class T> void attention_backward(const Executor& executor, const AttentionBackwardArgs<T>& args);
}  // namespace host
namespace device {
AttentionPlanned plan_attention(const Executor& executor, const AttentionPlanArgs& args);
void attention(const Executor& executor, const AttentionArgs<float>& args);
void attention_backward(const Executor& executor, const AttentionBackwardArgs<float>& args);
}  // namespace device

template <class T> inline constexpr KernelTable<AttentionPlanArgs, AttentionPlanned> kAttentionPlan{
    "sparse.attention.plan", host::plan_attention<T>};
template <class T> inline constexpr KernelTable<AttentionArgs<T>> kAttention{"sparse.attention", host::attention<T>};
template <class T> inline constexpr KernelTable<AttentionBackwardArgs<T>> kAttentionBackward{
    "sparse.attention.backward", host::attention_backward<T>};
template <> inline constexpr KernelTable<AttentionPlanArgs, AttentionPlanned> kAttentionPlan<float>{
    "sparse.attention.plan", host::plan_attention<float>, device::plan_attention};
template <> inline constexpr KernelTable<AttentionArgs<float>> kAttention<float>{
    "sparse.attention", host::attention<float>, device::attention};
template <> inline constexpr KernelTable<AttentionBackwardArgs<float>> kAttentionBackward<float>{
    "sparse.attention.backward", host::attention_backward<float>, device::attention_backward};

}  // namespace trn::sparse

// The entry points of attention: arguments are checked, then the executor's family does the work.
#include <trn/sparse/attention.hpp>

#include <cmath>

#include <trn/core/operands.hpp>

#include "attention_kernels.hpp"

namespace trn::sparse {

namespace {

struct Named {
  const char* name;
  const void* data;
  std::int64_t bytes;
};

template <class T>
Named checked(const char* operation, const char* name, const Executor& call, const View<T>& x, const Shape& shape) {
  operands::check_owner(operation, name, call, x.executor());
  bool contiguous = x.shape() == shape;
  std::int64_t step = 1;
  for (std::size_t d = element_count(shape) == 0 ? 0 : shape.size(); contiguous && d-- > 0; step *= shape[d])
    contiguous = shape[d] <= 1 || x.strides()[d] == step;
  std::string wanted;
  for (const std::int64_t extent : shape) wanted += fmt::format("{}{}", wanted.empty() ? "" : " x ", extent);
  require(contiguous, "{}: {} must be a contiguous array of {}", operation, name, wanted);
  operands::check_address(operation, name, x.data(), element_count(shape) == 0);
  return {name, x.data(), element_count(shape) * static_cast<std::int64_t>(sizeof(T))};
}

void check_apart(const char* operation, std::initializer_list<Named> written, std::initializer_list<Named> others) {
  const auto apart = [&](const Named& a, const Named& b) {
    const auto x = reinterpret_cast<std::uintptr_t>(a.data), y = reinterpret_cast<std::uintptr_t>(b.data);
    const bool meet = a.bytes > 0 && b.bytes > 0 && x < y + static_cast<std::uintptr_t>(b.bytes) &&
                      y < x + static_cast<std::uintptr_t>(a.bytes);
    require(!meet, "{}: {} and {} share memory; an array that is written has its own", operation, a.name, b.name);
  };
  for (auto a = written.begin(); a != written.end(); ++a) {
    for (auto b = written.begin(); b != a; ++b) apart(*a, *b);
    for (const Named& b : others) apart(*a, b);
  }
}

}  // namespace

template <RealScalar T>
AttentionPlan<T>::AttentionPlan(const Executor& executor, const AttentionMask& mask, const AttentionOptions& options)
    : executor_(executor), mask_(mask), options_(options) {
  constexpr const char* operation = "sparse.attention.plan";
  AttentionOptions& o = options_;
  require(o.heads >= 1 && o.kv_heads >= 1 && o.heads % o.kv_heads == 0,
          "{}: {} heads and {} heads of keys; the first must be a multiple of the second", operation, o.heads,
          o.kv_heads);
  require(o.d >= 1 && o.dv >= 0, "{}: head dimensions {} and {}; they must be >= 1", operation, o.d, o.dv);
  require(std::isfinite(o.scale), "{}: the scale is {}", operation, o.scale);
  if (o.dv == 0) o.dv = o.d;
  if (o.scale == 0) o.scale = 1 / std::sqrt(static_cast<double>(o.d));
  const AttentionPlanned planned = dispatch(kAttentionPlan<T>, executor, AttentionPlanArgs{&mask_, &options_});
  report_ = planned.report, accuracy_ = planned.forward, backward_accuracy_ = planned.backward;
  report_.blocks = static_cast<std::int64_t>(mask.blocks().size());
  report_.pairs = mask.pairs();
  report_.fill = report_.blocks == 0 ? 0
                                     : static_cast<double>(report_.pairs) /
                                           static_cast<double>(report_.blocks * mask.kBlock * mask.kBlock);
}

template <RealScalar T> Accuracy AttentionPlan<T>::forward(const View<const T>& q, const View<const T>& k,
                                                           const View<const T>& v, const View<T>& o,
                                                           const View<T>& log_sums) const {
  constexpr const char* operation = "sparse.attention";
  const AttentionOptions& s = options_;
  const bool sums = log_sums.data() != nullptr && element_count(log_sums.shape()) > 0;
  const Named nq = checked(operation, "Q", executor_, q, {s.heads, mask_.queries(), s.d}),
              nk = checked(operation, "K", executor_, k, {s.kv_heads, mask_.keys(), s.d}),
              nv = checked(operation, "V", executor_, v, {s.kv_heads, mask_.keys(), s.dv}),
              no = checked(operation, "O", executor_, o, {s.heads, mask_.queries(), s.dv});
  const Named nl = sums ? checked(operation, "log_sums", executor_, log_sums, {s.heads, mask_.queries()})
                        : Named{"log_sums", nullptr, 0};
  check_apart(operation, {no, nl}, {nq, nk, nv});
  if (mask_.queries() > 0)
    dispatch(kAttention<T>, executor_,
             AttentionArgs<T>{&mask_, &options_, accuracy_.mode, q.data(), k.data(), v.data(), o.data(),
                              sums ? log_sums.data() : nullptr});
  return accuracy_;
}

template <RealScalar T>
Accuracy AttentionPlan<T>::backward(const View<const T>& q, const View<const T>& k, const View<const T>& v,
                                    const View<const T>& o, const View<const T>& log_sums, const View<const T>& d_o,
                                    const View<T>& d_q, const View<T>& d_k, const View<T>& d_v) const {
  constexpr const char* operation = "sparse.attention.backward";
  const AttentionOptions& s = options_;
  const Shape queries{s.heads, mask_.queries(), s.d}, keys{s.kv_heads, mask_.keys(), s.d};
  const Shape values{s.kv_heads, mask_.keys(), s.dv}, outputs{s.heads, mask_.queries(), s.dv};
  check_apart(operation,
              {checked(operation, "dQ", executor_, d_q, queries), checked(operation, "dK", executor_, d_k, keys),
               checked(operation, "dV", executor_, d_v, values)},
              {checked(operation, "Q", executor_, q, queries), checked(operation, "K", executor_, k, keys),
               checked(operation, "V", executor_, v, values), checked(operation, "O", executor_, o, outputs),
               checked(operation, "log_sums", executor_, log_sums, {s.heads, mask_.queries()}),
               checked(operation, "dO", executor_, d_o, outputs)});
  if (mask_.queries() > 0 || mask_.keys() > 0)
    dispatch(kAttentionBackward<T>, executor_,
             AttentionBackwardArgs<T>{&mask_, &options_, accuracy_.mode, q.data(), k.data(), v.data(), o.data(),
                                      log_sums.data(), d_o.data(), d_q.data(), d_k.data(), d_v.data()});
  return backward_accuracy_;
}

template class AttentionPlan<float>;
template class AttentionPlan<double>;

}  // namespace trn::sparse

// Permutations, elementwise operations and reductions of tensors. cuTENSOR: cutensorPermute,
// cutensorElementwiseBinaryExecute, cutensorElementwiseTrinaryExecute, cutensorReduce.
//
//   permute(exec, "abc->cab", a.view(), d.view(), {.unary = Unary::Sqrt})
//   elementwise(exec, "abc,ca->abc", Binary::Mul, {a.view(), b.view()}, d.view())     labels that b lacks: repeated
//   reduce(exec, Binary::Max, "abc->b", a.view(), d.view())
//
// Types as in plan.hpp, each operand its own; elements are computed in the widest type of operands and result. Strides
// of inputs are any; the result's elements do not share places, and share none with an input, except where the last
// operand is the result itself. One pass over memory. The same bits for any number of threads.
#pragma once

#include <complex>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/tensor/types.hpp>

namespace trn::tensor {

struct PermuteOptions {
  Unary unary = Unary::Identity;
  std::complex<double> alpha = 1;
  // Elements around the permuted tensor, by axis of the result; empty: none. D is larger by left + right.
  std::vector<std::int64_t> pad_left = {}, pad_right = {};
  std::complex<double> pad_value = 0;
};
// D = alpha unary(A), its axes in another order. Every label of A is D's; a repeated one is a diagonal. alpha = 0 reads
// no A.
void permute(const Executor& executor, std::string_view text, const TypedView& a, const TypedView& d,
             const PermuteOptions& options = {});
template <Element T> [[nodiscard]] Array<std::remove_const_t<T>> permute(const Executor& executor,
                                                                         std::string_view text, const View<T>& a,
                                                                         const PermuteOptions& options = {});

struct ElementwiseOptions {
  std::vector<Unary> unary = {};                 // of the operands; empty: none
  std::vector<std::complex<double>> scale = {};  // of the operands; empty: 1. An operand whose scale is 0 is not read
  Binary second = Binary::Add;                   // joins the third operand
  Unary result = Unary::Identity;
};
// D = result((s_1 u_1(A) op s_2 u_2(B)) second s_3 u_3(C)) for two or three operands (one: a permutation). Labels of D
// that an operand lacks are repeated; a label that D lacks is refused.
void elementwise(const Executor& executor, std::string_view text, Binary op, std::span<const TypedView> operands,
                 const TypedView& d, const ElementwiseOptions& options = {});
inline void elementwise(const Executor& executor, std::string_view text, Binary op,
                        std::initializer_list<TypedView> operands, const TypedView& d,
                        const ElementwiseOptions& options = {}) {
  elementwise(executor, text, op, std::span(operands.begin(), operands.size()), d, options);
}

struct ReduceOptions {
  Unary unary = Unary::Identity;
  std::complex<double> alpha = 1, beta = 0;
  Unary unary_c = Unary::Identity;
};
// D = alpha reduce(unary(A)) + beta unary_c(C) over the labels that D lacks; C is D itself or null (then D). alpha = 0
// reads no A, beta = 0 no C. An empty sum is 0, an empty product 1; the largest of nothing is refused. Sums: a
// term meets at most min(n - 1, 35 + log2(n / 32)) roundings.
void reduce(const Executor& executor, Binary op, std::string_view text, const TypedView& a, const TypedView& d,
            const ReduceOptions& options = {}, const TypedView* c = nullptr);
template <Element T> [[nodiscard]] Array<std::remove_const_t<T>> reduce(const Executor& executor, Binary op,
                                                                        std::string_view text, const View<T>& a,
                                                                        const ReduceOptions& options = {});

namespace detail {
// The shape of the result of "abc->ca" and the like.
[[nodiscard]] Shape result_shape(const char* operation, std::string_view text, std::span<const TypedView> operands);
// Throws InvalidArgument for negative paddings and for sums beyond 64 bits.
void add_padding(Shape& shape, std::span<const std::int64_t> padding);
}  // namespace detail

template <Element T> Array<std::remove_const_t<T>> permute(const Executor& executor, std::string_view text,
                                                           const View<T>& a, const PermuteOptions& options) {
  const TypedView view(a);
  Shape shape = detail::result_shape("tensor.permute", text, std::span(&view, 1));
  detail::add_padding(shape, options.pad_left);
  detail::add_padding(shape, options.pad_right);
  Array<std::remove_const_t<T>> d(executor, shape);
  permute(executor, text, view, d.view(), options);
  return d;
}
template <Element T> Array<std::remove_const_t<T>> reduce(const Executor& executor, Binary op, std::string_view text,
                                                          const View<T>& a, const ReduceOptions& options) {
  const TypedView view(a);
  Array<std::remove_const_t<T>> d(executor, detail::result_shape("tensor.reduce", text, std::span(&view, 1)));
  reduce(executor, op, text, view, d.view(), options);
  return d;
}

}  // namespace trn::tensor

// einsum: products of tensors, summed over labels. NumPy: einsum; opt_einsum: contract; cuTENSOR: cutensorContract.
//
//   Array<float> d = einsum(exec, "ijk,kl->lij", {a.view(), b.view()});
//   Accuracy acc = einsum(exec, "ijk,kl->lij", 2, {a.view(), b.view()}, 1, c.view(), d.view(),
//                         {.precision = Precision::target(1e-6)});
//
// expression.hpp says what may be written, plan.hpp which types there are and what the accuracy is.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/tensor/plan.hpp>
#include <trn/tensor/plan_cache.hpp>

namespace trn::tensor {

struct EinsumOptions {
  Precision precision = {};
  PathOptions path = {};
  std::int64_t memory_bytes = 0;                   // of intermediates; 0: no limit
  PlanCache* cache = nullptr;                      // none: a plan is made for this call
  std::vector<Unary> operators = {};               // of the operands; empty: none
  std::optional<View<double>> componentwise = {};  // of D's shape, on the host: a bound of |D - exact| per element
  Measured* measured = nullptr;                    // where to put Plan::measure's error and norm
};

// D = alpha einsum(...) + beta C. C and D are views of one shape and type; C may be D.
Accuracy einsum(const Executor& executor, std::string_view text, std::complex<double> alpha,
                std::span<const TypedView> operands, std::complex<double> beta, const TypedView& c, const TypedView& d,
                const EinsumOptions& options = {});
// D = einsum(...).
Accuracy einsum(const Executor& executor, std::string_view text, std::span<const TypedView> operands,
                const TypedView& d, const EinsumOptions& options = {});
inline Accuracy einsum(const Executor& executor, std::string_view text, std::complex<double> alpha,
                       std::initializer_list<TypedView> operands, std::complex<double> beta, const TypedView& c,
                       const TypedView& d, const EinsumOptions& options = {}) {
  return einsum(executor, text, alpha, std::span(operands.begin(), operands.size()), beta, c, d, options);
}
inline Accuracy einsum(const Executor& executor, std::string_view text, std::initializer_list<TypedView> operands,
                       const TypedView& d, const EinsumOptions& options = {}) {
  return einsum(executor, text, std::span(operands.begin(), operands.size()), d, options);
}

// The shape of the result.
[[nodiscard]] Shape einsum_shape(std::string_view text, std::span<const TypedView> operands);

// The value form, for operands of any types; T has to be able to hold the result.
template <Element T> [[nodiscard]] Array<T> einsum_as(const Executor& executor, std::string_view text,
                                                      std::span<const TypedView> operands,
                                                      const EinsumOptions& options = {}) {
  Array<T> d(executor, einsum_shape(text, operands));
  einsum(executor, text, operands, d.view(), options);
  return d;
}
template <Element T> [[nodiscard]] Array<std::remove_const_t<T>> einsum(const Executor& executor, std::string_view text,
                                                                        std::initializer_list<View<T>> operands,
                                                                        const EinsumOptions& options = {}) {
  return einsum_as<std::remove_const_t<T>>(executor, text, std::vector<TypedView>(operands.begin(), operands.end()),
                                           options);
}

// Gradients. For a real function f of D with adjoint dD (df = Re sum conj(dD) D'), the adjoint of operand i is
// D's einsum with the other operands conjugated and dD in the place of operand i:
//   dA_i = einsum(conj(A_1), ..., dD, ..., conj(A_n) -> labels of operand i).
// Labels that operand i alone has are repeated, diagonals are written on the diagonal of a zero tensor.
// `result` has operand i's shape; its strides are any.
Accuracy einsum_gradient(const Executor& executor, std::string_view text, std::span<const TypedView> operands,
                         std::size_t i, const TypedView& adjoint, const TypedView& result,
                         const EinsumOptions& options = {});

}  // namespace trn::tensor

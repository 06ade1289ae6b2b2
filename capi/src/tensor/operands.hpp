// What trntensor's bodies share: CUDA's types, operators and scalars in ours, and descriptors of operations.
#pragma once

#include "tensor.hpp"

namespace trn::capi::tensor {

using Descriptor = trntensorOperationDescriptor;

[[nodiscard]] DType dtype_of_type(trnDataType type);  // throws NotImplemented
[[nodiscard]] Int bytes_of(trnDataType type);
[[nodiscard]] bool is_complex_type(trnDataType type);
[[nodiscard]] tt::Unary unary_of(trntensorOperator_t op);
// What alpha, beta and gamma are: the result's type, and float where that has 16 bits.
[[nodiscard]] trnDataType scalar_type(const Descriptor& d);
[[nodiscard]] std::complex<double> number(trnDataType type, const void* address, const char* what);
// Strides with the first mode fastest.
[[nodiscard]] std::vector<Int> packed(const std::vector<Int>& extents);
// "ab,bc->ac" for the caller's modes.
[[nodiscard]] std::string text_of(const std::vector<const std::vector<std::int32_t>*>& operands,
                                  const std::vector<std::int32_t>& result);
[[nodiscard]] std::string text_of(const std::vector<const Operand*>& operands, const Operand& result);
// A lower precision than float is a permission: the host takes float, a device its words.
[[nodiscard]] Precision precision(const Call& c, const Descriptor& d);
// The descriptor to the caller.
void give(trntensorOperationDescriptor_t* out, Descriptor made, trntensorComputeDescriptor_t compute);
// Multiplications and additions of an operation on sparse blocks, and the bytes of its blocks.
[[nodiscard]] double block_flops(const Descriptor& d);
[[nodiscard]] double block_bytes(const Descriptor& d);

}  // namespace trn::capi::tensor

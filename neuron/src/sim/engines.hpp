// The engines: one function per nki.isa call, each running one execution of one instruction. Real is the type that the
// engine computes in: float in Exact storage, double in Wide storage.
#pragma once

#include "sim/execution.hpp"

namespace trn::neuron::sim {

// Tensor Engine
template <class Real>
void nc_matmul(const Execution& e);
template <class Real>
void nc_transpose(const Execution& e);  // also on Vector

// Vector Engine; tensor_tensor, tensor_scalar, tensor_copy and memset also on the engines of opcode_info()
template <class Real>
void tensor_tensor(const Execution& e);
template <class Real>
void tensor_scalar(const Execution& e);
template <class Real>
void scalar_tensor_tensor(const Execution& e);
template <class Real>
void tensor_reduce(const Execution& e);
template <class Real>
void tensor_tensor_scan(const Execution& e);
template <class Real>
void tensor_copy(const Execution& e);
template <class Real>
void tensor_copy_predicated(const Execution& e);
template <class Real>
void reciprocal(const Execution& e);
template <class Real>
void memset(const Execution& e);

// Scalar Engine
template <class Real>
void activation(const Execution& e);

// GpSimd Engine
template <class Real>
void iota(const Execution& e);
template <class Real>
void affine_select(const Execution& e);
template <class Real>
void local_gather(const Execution& e);
template <class Real>
void tensor_partition_reduce(const Execution& e);

// DMA
template <class Real>
void dma_copy(const Execution& e);
template <class Real>
void dma_transpose(const Execution& e);

// Operations on 32-bit words: bit operations on any engine, and GpSimd's integer arithmetic.
[[nodiscard]] bool computes_on_words(const Execution& e);
void words_tensor_tensor(const Execution& e);
void words_tensor_scalar(const Execution& e);
void words_tensor_reduce(const Execution& e);
void words_tensor_partition_reduce(const Execution& e);

}  // namespace trn::neuron::sim

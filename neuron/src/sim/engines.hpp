// The engines: one execute() per nki.isa call, each running one execution of one instruction. Real is the type that the
// engine computes in: float in Exact storage, double in Wide storage.
#pragma once

#include "sim/execution.hpp"

namespace trn::neuron::sim {

using tile::AluOp;

// Tensor Engine
template <class Real> void execute(const Execution& e, const isa::NcMatmul& a);
template <class Real> void execute(const Execution& e, const isa::NcTranspose& a);  // also on Vector
template <class Real> void execute(const Execution& e, const isa::NcMatmulMx& a);

// Vector Engine: exponentials, statistics, microscaling
template <class Real> void execute(const Execution& e, const isa::Exponential& a);
template <class Real> void execute(const Execution& e, const isa::BnStats& a);
template <class Real> void execute(const Execution& e, const isa::BnAggr& a);
template <class Real> void execute(const Execution& e, const isa::QuantizeMx& a);

// Vector Engine; tensor_tensor, tensor_scalar, tensor_copy and memset also on the engines of opcode_info()
template <class Real> void execute(const Execution& e, const isa::TensorTensor& a);
template <class Real> void execute(const Execution& e, const isa::TensorScalar& a);
template <class Real> void execute(const Execution& e, const isa::ScalarTensorTensor& a);
template <class Real> void execute(const Execution& e, const isa::TensorReduce& a);
template <class Real> void execute(const Execution& e, const isa::TensorTensorScan& a);
template <class Real> void execute(const Execution& e, const isa::TensorCopy& a);
template <class Real> void execute(const Execution& e, const isa::TensorCopyPredicated& a);
template <class Real> void execute(const Execution& e, const isa::Reciprocal& a);
template <class Real> void execute(const Execution& e, const isa::Memset& a);
template <class Real> void execute(const Execution& e, const isa::TensorScalarReduce& a);
template <class Real> void execute(const Execution& e, const isa::TensorScalarCumulative& a);
template <class Real> void execute(const Execution& e, const isa::SelectReduce& a);
template <class Real> void execute(const Execution& e, const isa::RangeSelect& a);
template <class Real> void execute(const Execution& e, const isa::Max8& a);
template <class Real> void execute(const Execution& e, const isa::NcFindIndex8& a);
template <class Real> void execute(const Execution& e, const isa::NcMatchReplace8& a);

// Scalar Engine
template <class Real> void execute(const Execution& e, const isa::Activation& a);

// GpSimd Engine
template <class Real> void execute(const Execution& e, const isa::Iota& a);
template <class Real> void execute(const Execution& e, const isa::AffineSelect& a);
template <class Real> void execute(const Execution& e, const isa::LocalGather& a);
template <class Real> void execute(const Execution& e, const isa::NonzeroWithCount& a);
template <class Real> void execute(const Execution& e, const isa::TensorPartitionReduce& a);

// DMA
template <class Real> void execute(const Execution& e, const isa::DmaCopy& a);
template <class Real> void execute(const Execution& e, const isa::DmaTranspose& a);

template <class Real> void execute(const Execution& e, const isa::DmaCompute& a);

// Gathers, shuffles and registers
template <class Real> void execute(const Execution& e, const isa::NcNGather& a);
template <class Real> void execute(const Execution& e, const isa::NcStreamShuffle& a);
template <class Real> void execute(const Execution& e, const isa::RegisterMove& a);
template <class Real> void execute(const Execution& e, const isa::RegisterLoad& a);
template <class Real> void execute(const Execution& e, const isa::RegisterStore& a);

// Operations on 32-bit words: bit operations on any engine, and GpSimd's integer arithmetic. `immediates` are whole
// numbers that a word holds.
[[nodiscard]] bool computes_on_words(const Execution& e, AluOp op0, AluOp op1 = AluOp::None, bool immediates = true);
void execute_words(const Execution& e, const isa::TensorTensor& a);
void execute_words(const Execution& e, const isa::TensorScalar& a);
[[nodiscard]] bool immediates_are_words(const Execution& e, const isa::TensorScalar& a);
void execute_words(const Execution& e, const isa::TensorReduce& a);
void execute_words(const Execution& e, const isa::TensorPartitionReduce& a);

}  // namespace trn::neuron::sim

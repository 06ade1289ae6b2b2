// Replays a published instruction stream: what each engine executed, in the hardware's order, on the addresses the
// compiler chose. The stream becomes a program on one SBUF tile and one PSUM tile, so the timing model sees every true
// dependence and nothing else.
//
// One instruction per line; addresses are bytes within a partition, counts are elements per partition:
//   sbuf       bytes used
//   load, store hardware|software tensor address bytes runs     (HBM side: `runs` contiguous runs per partition)
//   transpose  dtype psum-address data-address identity-address count
//   matmul     dtype psum-address stationary-address count moving-address count accumulate
//   copy, reduce, exp, reciprocal, scale   engine, source (space address count dtype), destination (the same), and the
//              address of a value per partition: the bias of exp, the factor of scale
#pragma once

#include <string>
#include <string_view>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::neuron::validation {

// Throws InvalidArgument that names the line when the text is not a stream.
[[nodiscard]] tile::Program replay(const tile::Machine& machine, const std::string& name, std::string_view stream);

// The committed streams of four trn2 attention kernels, sequence 512, head 128.
enum class Attention { Fused, Baseline };
[[nodiscard]] std::string_view attention_stream(Attention kind, DType dtype);

}  // namespace trn::neuron::validation

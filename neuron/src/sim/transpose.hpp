// Transposes as pure moves of bits: the Tensor Engine's pass-through mode, the Vector Engine's 32 x 32 transpose and
// DMA.
#pragma once

#include "sim/execution.hpp"

namespace trn::neuron::sim {

// out(c, r) = in(r, c) for cells of `bytes` bytes.
void transpose_cells(const std::byte* in, std::int64_t rows, std::int64_t columns, std::int64_t bytes, std::byte* out);

// All cells of an operand, row-major.
template <class Real> [[nodiscard]] std::vector<std::byte> all_cells(const Operand& o);
// The other way round. Cells of `bytes` bytes narrower than dst's are zero-extended: an 8-bit element transposed by the
// Tensor Engine fills 16 bits of PSUM, the upper ones zero.
template <class Real> void put_cells(const Operand& dst, const std::byte* cells, std::int64_t bytes);

// dst(j, i) = src(i, j) with src seen as (rows, all other dimensions).
template <class Real> void move_transposed(const Operand& dst, const Operand& src);

}  // namespace trn::neuron::sim

// Microscaling operands: four small floats in an element, and a power of two that 8 partitions x 4 values share. The
// formats are those of the OCP microscaling standard; an 8-bit scale s stands for 2^(s - 127), 255 for NaN.
#pragma once

#include "sim/execution.hpp"

namespace trn::neuron::sim {

inline constexpr std::int64_t kMxPacked = 4;      // values in an element
inline constexpr std::int64_t kMxPartitions = 8;  // that share a scale

// The row of the scale tile that holds the scales of partition k: every quadrant keeps its own.
[[nodiscard]] std::int64_t scale_row(const Execution& e, std::int64_t k);

// The values of `packed` times their scales, a row for each pair (k, q): row k * kMxPacked + q holds value q of each
// element of partition k. A product beyond Real's range is infinite.
template <class Real> [[nodiscard]] std::vector<Real> unpack(const Execution& e, const Operand& packed,
                                                             const Operand& scale, tile::MxFormat format);

// The scale's rows that `partitions` partitions of data use have been written.
void check_scale_read(const Execution& e, const Operand& scale, std::size_t slot, std::int64_t partitions);

}  // namespace trn::neuron::sim

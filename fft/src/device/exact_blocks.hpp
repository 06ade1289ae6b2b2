// The two-step kernel in double precision and its constants: see exact_blocks.cpp. Tensors: inputs "x_hi" and "x_lo"
// (lines..., points, 2), outputs "y_hi" and "y_lo", values of at most 1 in magnitude; constants as lines_constants
// gives them.
#pragma once

#include <trn/fft/lines_program.hpp>
#include <vector>

namespace trn::fft::device {

[[nodiscard]] tile::Program exact_blocks_program(const LinesShape& shape, const tile::Machine& machine);
[[nodiscard]] std::vector<Constant> exact_blocks_constants(const LinesShape& shape, const tile::Machine& machine,
                                                           const ConstantOptions& options);

}  // namespace trn::fft::device

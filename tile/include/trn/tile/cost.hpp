// cost: how long one instruction occupies its engine, from the machine table alone. The formulas are those AWS printed
// in the nki.isa reference up to v2.26.1, corrected where published trn2 profiles differ; docs/simulator.md lists both.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

// Seconds of `engine` for a compute instruction; for the Tensor Engine at full rate (the limiter stretches it).
[[nodiscard]] double compute_seconds(const Program& program, const Instruction& instruction, Engine engine,
                                     const Machine& machine);

struct DmaCost {
  double transfer_s = 0;  // of all DMA engines together
  double ring_s = 0;      // its ring takes at least this long to hand out the descriptors
  std::int64_t bytes = 0;
  std::int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
};
[[nodiscard]] DmaCost dma_cost(const Instruction& instruction, const Machine& machine);
// A copy of contiguous bytes from HBM to HBM that no program makes, cut into a run for every DMA engine.
[[nodiscard]] DmaCost memory_copy_cost(std::int64_t bytes, const Machine& machine);

// 2 * K * M * N of a matmul, 0 for everything else, transposes included.
[[nodiscard]] double matmul_flops(const Instruction& instruction);

}  // namespace trn::tile

// allocate: addresses in SBUF and PSUM. A tile owns its bytes at least from its Alloc to its last use, and while there
// is room as long as any loop around it runs. When the tiles do not fit, the error names every live tile with its size.
#pragma once

#include <cstdint>
#include <vector>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

struct Placement {
  std::int64_t address = 0;              // byte offset in the partition of buffer 0
  std::int64_t buffer_stride_bytes = 0;  // buffer i starts at address + i * buffer_stride_bytes
};

struct Allocation {
  std::vector<Placement> tiles;  // by tile id
  std::int64_t sbuf_bytes = 0;   // high-water marks per partition
  std::int64_t psum_bytes = 0;
  std::int64_t register_bytes = 0;
  // Pairs of tiles that share bytes at different times, by tile id.
  std::vector<std::vector<std::int32_t>> aliases;
};

// Throws DeviceError with check() "over-capacity".
[[nodiscard]] Allocation allocate(const Program& program, const Machine& machine);

}  // namespace trn::tile

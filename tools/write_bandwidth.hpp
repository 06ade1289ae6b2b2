// The roof of operations that only write: what the host's memory takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "measure.hpp"

namespace trn::tools {

// Bytes per second that all threads together write to memory, best of three; larger than any cache.
inline double host_write_bandwidth() {
  std::vector<std::uint32_t> memory(std::size_t{1} << 26);
  std::uint32_t value = 0;
  const Measured measured = measure(3, [&] {
    ++value;
#pragma omp parallel for schedule(static)
    for (std::size_t piece = 0; piece < memory.size(); piece += 1 << 15) {
      std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(piece), 1 << 15, value);
    }
  });
  return static_cast<double>(memory.size() * sizeof(memory[0])) / measured.fastest_s;
}

}  // namespace trn::tools

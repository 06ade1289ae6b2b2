// A device whose memory is full, for tests of what an operation does then.
#pragma once

#include <cstdint>
#include <vector>

#include <trn/core/array.hpp>

namespace trn::dist_test {

// Takes what is left of a device's memory, but for less than `rest` bytes.
inline std::vector<Buffer> fill_memory(const Executor& e, std::int64_t rest) {
  std::vector<Buffer> all;
  for (std::int64_t bytes = std::int64_t{1} << 40; bytes >= rest;) {
    try {
      all.emplace_back(e, bytes);
    } catch (const DeviceError&) {
      bytes /= 2;
    }
  }
  return all;
}

}  // namespace trn::dist_test

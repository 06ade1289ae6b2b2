// What an executor can do at most in a second: the roofs that rates are fractions of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <trn/core/dtype.hpp>
#include <trn/core/executor.hpp>
#include <trn/core/precision.hpp>
#include <trn/tile/device.hpp>
#include <trn/tile/words.hpp>

#include "host_peak.hpp"
#include "measure.hpp"

namespace trn::tools {

// Operations of the host on this type.
[[nodiscard]] inline double host_peak(DType dtype) {
  return real_of(dtype) == DType::Float64 ? host_peak().fp64_flops : host_peak().fp32_flops;
}
// Operations of the Tensor Engine: on what a mode multiplies, over the products that it takes for one of the operands'.
// Native multiplies the operands as they are; Exact, and with it everything in float64, integers in bfloat16, `passes`
// products of them (1 where the number is not known: more can not be reached).
[[nodiscard]] inline double tensor_roof(const tile::Machine& machine, DType dtype, Mode mode, int passes = 1) {
  const DType real = real_of(dtype);
  if (mode == Mode::Exact || real == DType::Float64) return machine.tensor_flops(DType::BFloat16) / std::max(passes, 1);
  if (mode == Mode::Native) return machine.tensor_flops(real);
  const tile::Words& words = tile::words_of(mode);
  return machine.tensor_flops(words.dtype) / static_cast<double>(words.products.size());
}
// What was asked for, where nobody says what it came to: with a target the mode is open, and the fastest one counts.
[[nodiscard]] inline double tensor_roof(const tile::Machine& machine, DType dtype, const Precision& precision) {
  return tensor_roof(machine, dtype, precision.has_target() ? Mode::Bf16 : precision.mode());
}
// Operations: of the Tensor Engine in this mode, or of the host on this type.
[[nodiscard]] inline double flop_roof(const Executor& executor, DType dtype, Mode mode = Mode::Native, int passes = 1) {
  return executor.family() == Family::Device ? tensor_roof(tile::device_of(executor).machine(), dtype, mode, passes)
                                             : host_peak(dtype);
}
[[nodiscard]] inline double flop_roof(const Executor& executor, DType dtype, const Precision& precision) {
  return flop_roof(executor, dtype, precision.has_target() ? Mode::Bf16 : precision.mode());
}

// Bytes that a parallel copy of a large array reads and writes, best of three; once per process.
[[nodiscard]] inline double host_copy_bandwidth() {
  static const double bytes_per_s = [] {
    std::vector<float> from(std::size_t{1} << 25, 1.0f), to(from.size());
    const Measured measured = measure(3, [&] {
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    });
    return 2.0 * static_cast<double>(from.size() * sizeof(float)) / measured.fastest_s;
  }();
  return bytes_per_s;
}
// Bytes that all threads together write to memory, best of three; larger than any cache.
[[nodiscard]] inline double host_write_bandwidth() {
  static const double bytes_per_s = [] {
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
  }();
  return bytes_per_s;
}
// Bytes moved: through the DMA engines of a core, or as a copy on the host.
[[nodiscard]] inline double byte_roof(const Executor& executor) {
  return executor.family() == Family::Device ? tile::device_of(executor).machine().dma_bytes_per_s()
                                             : host_copy_bandwidth();
}

}  // namespace trn::tools

// Operand: an access resolved at one point of the program, ready for loops: a base address and byte strides. The
// partition is simply the outermost dimension, so tiles and HBM tensors look alike; elements are numbered row-major
// from 0, and row r of an operand of `row` elements is the range [r * row, (r + 1) * row).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <trn/tile/access.hpp>

#include "sim/memory.hpp"

namespace trn::neuron::sim {

struct Operand {
  static constexpr std::size_t kMaxRank = 10;

  std::byte* data = nullptr;         // element 0
  std::uint8_t* state = nullptr;     // of element 0's first byte; null: always initialised, nothing to record
  BufferState* whole = nullptr;      // tiles: overrides `state` while uniform
  bool covers_tile = false;          // tiles: touches every byte of the buffer
  std::uint8_t* written = nullptr;   // likewise, for Outputs
  std::uint8_t* replaced = nullptr;  // likewise, for Inputs that an Output continues: not zero where it was stored
  DType dtype = DType::Float32;
  std::int64_t element_bytes = 4;
  std::int64_t scale = 1;  // host bytes of data per byte of address: 8 on chip in Wide storage
  bool wide = false;       // elements are doubles in slots
  // Where element 0 is, for the race check.
  tile::Target target = tile::Target::None;
  std::int32_t id = -1;
  std::int64_t buffer = 0, instance = 0, partition = 0;  // tiles only
  // From the start of the partition, or from the tensor's element (0, 0, ...).
  std::int64_t byte_offset = 0;

  std::size_t rank = 0;  // dimension 0 is the partition (tiles) or the first dimension (HBM)
  std::array<std::int64_t, kMaxRank> sizes{}, strides{};  // strides in bytes of address
  std::int64_t count = 0;                                 // elements in all
  std::int64_t rows = 0, row = 0;                         // dimension 0, and the elements in each of its entries

  // The same operand with dimension 0 narrowed to entry i; i may lie outside for HBM tensors that are then not touched.
  [[nodiscard]] Operand entry(std::int64_t i) const;
  // Elements [begin, begin + n) follow one another without a gap.
  [[nodiscard]] bool contiguous(std::int64_t begin, std::int64_t n) const;
  // Byte offset of element i from element 0.
  [[nodiscard]] std::int64_t offset(std::int64_t i) const;
};

// The elements of `access` at `point`. Throws DeviceError "out-of-bounds" when they leave their tile or tensor, and
// NotImplemented for a reinterpretation of bits that Wide storage does not have.
[[nodiscard]] Operand resolve(Memory& memory, const tile::Program& program, const tile::Access& access,
                              const tile::Point& point);

// Calls f(byte offset, byte stride, number of elements, elements before) for the runs of equal stride that make up
// elements [begin, begin + n), in order.
template <class F> void for_each_run(const Operand& o, std::int64_t begin, std::int64_t n, F&& f) {
  std::array<std::int64_t, Operand::kMaxRank> index{};
  const std::size_t last = o.rank - 1;
  std::int64_t offset = 0;
  for (std::size_t d = o.rank; d-- > 0;) {
    index[d] = d == 0 ? begin : begin % o.sizes[d];
    begin /= o.sizes[d];
    offset += index[d] * o.strides[d];
  }
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t run = std::min(o.sizes[last] - index[last], n - done);
    f(offset, o.strides[last], run, done);
    done += run;
    if (done == n) return;
    offset -= index[last] * o.strides[last];
    index[last] = 0;
    for (std::size_t d = last; d-- > 0;) {
      offset += o.strides[d];
      if (++index[d] < o.sizes[d]) break;
      offset -= o.sizes[d] * o.strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace trn::neuron::sim

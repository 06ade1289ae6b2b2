// Memory: the physical memories of one simulated core. SBUF and PSUM are 128 partitions of byte-addressed storage in
// which the allocation pass has placed every buffer of every tile; HBM tensors are the caller's memory or, for Scratch,
// ours. Beside every byte of data stands one byte of state that says who wrote it last.
//
// In Wide storage an on-chip element is a double. The element that would start at byte address a lives in slot a, so
// the same addresses serve both storages and distinct elements never share a slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/host_memory.hpp"
#include "sim/interpreter.hpp"

namespace trn::neuron::sim {

// Who wrote a byte last. HBM only knows Never and not Never.
enum WriteState : std::uint8_t { kNever = 0, kWrittenByTensorEngine = 1, kWrittenByOther = 2 };

// What is known about a tile buffer as a whole. Most tiles are written by one instruction and read by many: while every
// byte has the same state, nothing is kept or looked up per byte.
struct BufferState {
  std::int64_t instance = -1;  // the Alloc that owns the buffer; -1 before the first
  bool uniform = true;
  std::uint8_t value = kNever;          // of every byte while uniform
  std::array<std::int64_t, 3> bytes{};  // while not uniform: how many have each state
};

// SBUF, PSUM, or the registers, one partition of them. Address a of partition p is byte p * pitch + a of the state, and
// `scale` times that of the data. What was there before the run is nobody's: a buffer's state counts as never written
// until its BufferState says otherwise, and what was never written is not read. `zero` asks for zero bytes, where the
// state is not tracked.
class OnChipMemory {
 public:
  OnChipMemory(std::int64_t partitions, std::int64_t bytes_per_partition, std::int64_t scale, bool zero);
  [[nodiscard]] std::int64_t pitch() const { return pitch_; }
  [[nodiscard]] std::int64_t scale() const { return scale_; }
  [[nodiscard]] std::int64_t partitions() const { return partitions_; }
  [[nodiscard]] std::int64_t bytes_per_partition() const { return bytes_; }
  [[nodiscard]] std::byte* data(std::int64_t partition, std::int64_t address) const {
    return data_.data() + (partition * pitch_ + address) * scale_;
  }
  [[nodiscard]] std::uint8_t* state(std::int64_t partition, std::int64_t address) const {
    return reinterpret_cast<std::uint8_t*>(state_.data()) + partition * pitch_ + address;
  }

 private:
  std::int64_t partitions_, bytes_, pitch_, scale_;
  ReusedBytes data_, state_;
};

// One HBM tensor: its memory and what is known about its bytes. `state` and `written` are indexed like `address`, by
// the byte offset from element (0, 0, ...), which may be negative for tensors with negative strides.
struct TensorMemory {
  std::byte* address = nullptr;
  std::uint8_t* state = nullptr;         // null: everything counts as initialised
  std::uint8_t* written = nullptr;       // Outputs: what this run has written; null for the others
  std::uint8_t* replaced = nullptr;      // an Input that an Output continues: the Output's `written`
  std::int64_t lowest = 0, highest = 0;  // element offsets that the declaration spans
};

// What is bound to a tensor. An output and the input it continues are one memory: bound by either
// name or by both with one address. InvalidArgument when nothing is bound, two addresses are, or an output's may only
// be read.
[[nodiscard]] const tile::Binding& bound_to(const tile::Program& program, const tile::TensorDecl& tensor,
                                            std::span<const tile::Binding> bindings);
// A copy of it under the tensor's own name.
[[nodiscard]] tile::Binding binding_of(const tile::Program& program, const tile::TensorDecl& tensor,
                                       std::span<const tile::Binding> bindings);

// The memory of a tensor that is bound for a run; of an input and the output that continues it the output's alone.
struct BoundRange {
  const tile::TensorDecl* tensor = nullptr;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};
// The compiler takes tensors for separate memory unless the program says that an output continues an input:
// InvalidArgument where an output shares memory with another tensor. Ranges may interleave (blocks of one matrix),
// elements may not be shared: seen where both ranges have no gaps or begin with the same element.
void refuse_shared(const tile::Program& program, std::span<const BoundRange> ranges);

class Memory {
 public:
  Memory(const tile::Program& program, const tile::Machine& machine, const tile::Allocation& allocation,
         const SimOptions& options, std::span<const tile::Binding> bindings, HbmShadow* shadow);

  [[nodiscard]] bool wide() const { return wide_; }
  // Whether tiles know who wrote their bytes. Not in Shuffled order: there two instances of a buffer may be half used
  // at the same time, legally, and the state of a byte would need to say whose it is.
  [[nodiscard]] bool tracks_tiles() const { return tracks_tiles_; }
  [[nodiscard]] const OnChipMemory& space(tile::Space space) const {
    return space == tile::Space::Sbuf ? sbuf_ : space == tile::Space::Psum ? psum_ : registers_;
  }
  [[nodiscard]] const TensorMemory& tensor(std::int32_t id) const { return tensors_[static_cast<std::size_t>(id)]; }

  // The buffer of `tile` that `instance` uses. The first time an instance is seen, its bytes count as never written: an
  // Alloc hands out memory whose old content is nobody's.
  struct Buffer {
    std::int64_t address;
    BufferState* state;
  };
  [[nodiscard]] Buffer buffer(std::int32_t tile, std::int64_t instance);

 private:
  void bind_tensors(std::span<const tile::Binding> bindings, HbmShadow* shadow);

  const tile::Program& program_;
  const tile::Allocation& allocation_;
  bool wide_, tracks_tiles_;
  OnChipMemory sbuf_, psum_, registers_;
  std::vector<TensorMemory> tensors_;
  std::vector<LazyBytes> owned_;            // Scratch tensors with their state, written bytes of Outputs
  std::vector<std::int64_t> first_buffer_;  // by tile: index of its first buffer in buffers_
  std::vector<BufferState> buffers_;
};

}  // namespace trn::neuron::sim

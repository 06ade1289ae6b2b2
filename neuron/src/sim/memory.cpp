// The simulated core's memories: tile buffers, and HBM tensors bound to host addresses.
#include "sim/memory.hpp"

#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/core/shape.hpp>

namespace trn::neuron::sim {

namespace {

// Rows an odd number of cache lines apart fall into different cache sets; rows a power of two apart would share one.
std::int64_t host_pitch(std::int64_t bytes) {
  const std::int64_t lines = (bytes + 63) / 64;
  return 64 * (lines % 2 == 0 ? lines + 1 : lines);
}

// One past the highest byte of a partition that any tile of `space` uses.
std::int64_t used_bytes(const tile::Program& program, const tile::Allocation& allocation, tile::Space space) {
  std::int64_t bytes = space == tile::Space::Sbuf   ? allocation.sbuf_bytes
                       : space == tile::Space::Psum ? allocation.psum_bytes
                                                    : allocation.register_bytes;
  for (std::size_t t = 0; t < program.tiles().size(); ++t) {
    const tile::TileDecl& decl = program.tiles()[t];
    const tile::Placement& place = allocation.tiles[t];
    if (decl.space != space) continue;
    bytes =
        std::max(bytes, place.address + (decl.buffers - 1) * place.buffer_stride_bytes + decl.bytes_per_partition());
  }
  return bytes;
}

}  // namespace

OnChipMemory::OnChipMemory(std::int64_t partitions, std::int64_t bytes_per_partition, std::int64_t scale, bool zero)
    : partitions_(partitions),
      bytes_(bytes_per_partition),
      pitch_(host_pitch(bytes_per_partition)),
      scale_(scale),
      data_(partitions * pitch_ * scale, zero),
      state_(partitions * pitch_, zero) {}

Memory::Memory(const tile::Program& program, const tile::Machine& machine, const tile::Allocation& allocation,
               const SimOptions& options, std::span<const tile::Binding> bindings, HbmShadow* shadow)
    : program_(program),
      allocation_(allocation),
      wide_(options.storage == Storage::Wide),
      tracks_tiles_(options.order.kind != OrderKind::Shuffled),
      sbuf_(machine.partitions, used_bytes(program, allocation, tile::Space::Sbuf), wide_ ? 8 : 1, !tracks_tiles_),
      psum_(machine.partitions, used_bytes(program, allocation, tile::Space::Psum), wide_ ? 8 : 1, !tracks_tiles_),
      registers_(1, used_bytes(program, allocation, tile::Space::Register), wide_ ? 8 : 1, !tracks_tiles_) {
  ensure(allocation.tiles.size() == program.tiles().size(), "simulator: {} placements for {} tiles of program '{}'",
         allocation.tiles.size(), program.tiles().size(), program.name());
  std::int64_t buffers = 0;
  for (const tile::TileDecl& decl : program.tiles()) {
    ensure(decl.partitions <= machine.partitions, "simulator: tile '{}' has {} partitions, the machine {}", decl.name,
           decl.partitions, machine.partitions);
    first_buffer_.push_back(buffers);
    buffers += decl.buffers;
  }
  buffers_.resize(static_cast<std::size_t>(buffers));
  bind_tensors(bindings, shadow);
}

const tile::Binding& bound_to(const tile::Program& program, const tile::TensorDecl& tensor,
                              std::span<const tile::Binding> bindings) {
  const auto bound = [&](const std::string& name) -> const tile::Binding* {
    const auto found =
        std::ranges::find_if(bindings, [&](const tile::Binding& b) { return b.name == name && b.address(); });
    return found == bindings.end() ? nullptr : &*found;
  };
  const auto continues = [](const tile::TensorDecl& output, const tile::TensorDecl& input) {
    return !output.alias.empty() && output.alias == input.name && input.kind == tile::TensorKind::Input;
  };
  const tile::Binding* binding = bound(tensor.name);
  for (const tile::TensorDecl& other : program.tensors()) {
    if (!continues(tensor, other) && !continues(other, tensor)) continue;
    const tile::Binding* there = bound(other.name);
    require(!binding || !there || binding->address() == there->address(),
            "run of '{}': '{}' and '{}' are one memory but two addresses are bound to them; bind one of the names",
            program.name(), tensor.name, other.name);
    if (!binding) binding = there;
  }
  require(binding != nullptr, "run of '{}': {} tensor '{}' has no memory bound to it", program.name(),
          name(tensor.kind), tensor.name);
  require(binding->writable || tensor.kind == tile::TensorKind::Input,
          "run of '{}': Output tensor '{}' is bound to memory that may only be read", program.name(), tensor.name);
  return *binding;
}

tile::Binding binding_of(const tile::Program& program, const tile::TensorDecl& tensor,
                         std::span<const tile::Binding> bindings) {
  tile::Binding result = bound_to(program, tensor, bindings);
  result.name = tensor.name;
  return result;
}

void refuse_shared(const tile::Program& program, std::span<const BoundRange> ranges) {
  const auto is_dense = [](const BoundRange& r) {
    return r.bytes == static_cast<std::size_t>(element_count(r.tensor->shape) * size_bytes(r.tensor->dtype));
  };
  for (const BoundRange& a : ranges) {
    if (a.tensor->kind != tile::TensorKind::Output) continue;
    for (const BoundRange& b : ranges) {
      if (&a == &b || b.begin >= a.begin + a.bytes || a.begin >= b.begin + b.bytes) continue;
      require(a.begin != b.begin && !(is_dense(a) && is_dense(b)),
              "run of '{}': output '{}' and '{}' share memory, which the program does not declare; give them separate "
              "arrays",
              program.name(), a.tensor->name, b.tensor->name);
    }
  }
}

void Memory::bind_tensors(std::span<const tile::Binding> bindings, HbmShadow* shadow) {
  for (const tile::TensorDecl& decl : program_.tensors()) {
    const OffsetRange range = offset_range(decl.shape, decl.strides);
    const std::int64_t element = size_bytes(decl.dtype);
    const std::int64_t bytes = (range.highest - range.lowest + 1) * element, before = -range.lowest * element;
    TensorMemory memory{.lowest = range.lowest, .highest = range.highest};
    const auto lazy = [&] { return owned_.emplace_back(bytes).data() + before; };
    if (decl.kind == tile::TensorKind::Scratch) {
      memory.address = lazy();
      memory.state = reinterpret_cast<std::uint8_t*>(lazy());
    } else {
      const tile::Binding bound = binding_of(program_, decl, bindings);
      memory.address = static_cast<std::byte*>(const_cast<void*>(bound.address()));
      if (shadow) memory.state = shadow->state(bound.address());
      if (decl.kind == tile::TensorKind::Output) memory.written = reinterpret_cast<std::uint8_t*>(lazy());
    }
    tensors_.push_back(memory);
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    for (std::size_t j = 0; j < tensors_.size(); ++j) {
      const std::string& alias = program_.tensors()[j].alias;
      if (!alias.empty() && alias == program_.tensors()[i].name) tensors_[i].replaced = tensors_[j].written;
    }
  }
}

Memory::Buffer Memory::buffer(std::int32_t tile, std::int64_t instance) {
  const auto t = static_cast<std::size_t>(tile);
  const tile::TileDecl& decl = program_.tiles()[t];
  ensure(instance >= 0, "simulator: tile '{}' is used before its Alloc", decl.name);
  const std::int64_t number = instance % decl.buffers;
  BufferState& state = buffers_[static_cast<std::size_t>(first_buffer_[t] + number)];
  if (state.instance != instance) state = {.instance = instance};
  return {allocation_.tiles[t].address + number * allocation_.tiles[t].buffer_stride_bytes, &state};
}

}  // namespace trn::neuron::sim

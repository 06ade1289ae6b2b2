// Resolving accesses: affine offsets get their values, tiles their buffer, patterns their byte strides and bounds
// check.
#include "sim/operand.hpp"

#include <trn/core/error.hpp>
#include <trn/tile/print.hpp>

namespace trn::neuron::sim {

namespace {

struct Range {
  std::int64_t lowest, highest;  // element offsets
};

Range touched(const tile::Access& access, std::int64_t first) {
  Range range{first, first};
  for (const tile::Dim& d : access.dims) (d.stride < 0 ? range.lowest : range.highest) += (d.size - 1) * d.stride;
  return range;
}

// Adds the dimensions of the pattern to `o`, neighbours that form one run merged; the first `keep` stay as they are.
void add_dims(Operand& o, const tile::Access& access, std::size_t keep) {
  for (const tile::Dim& d : access.dims) {
    const std::int64_t stride = d.stride * o.element_bytes;
    if (o.rank > keep && o.strides[o.rank - 1] == stride * d.size) {
      o.strides[o.rank - 1] = stride;
      o.sizes[o.rank - 1] *= d.size;
      continue;
    }
    if (o.rank > keep && d.size == 1) continue;
    if (o.rank == Operand::kMaxRank) {
      fail<NotImplemented>("simulator: an access of {} dimensions that do not merge; at most {} are supported",
                           access.dims.size(), Operand::kMaxRank);
    }
    o.strides[o.rank] = stride;
    o.sizes[o.rank++] = d.size;
  }
}

[[noreturn]] void out_of_bounds(const tile::Program& program, const tile::Access& access, Range elements,
                                std::int64_t limit) {
  throw DeviceError(fmt::format("out of bounds: {} touches elements {}..{} of a {} that has {}; reduce the slice",
                                print(program, access), elements.lowest, elements.highest,
                                access.is_tile() ? "partition" : "tensor", limit),
                    "out-of-bounds");
}

// Wide storage has values, not bits: only a change of dtype that keeps the value's meaning and its slots is possible.
void check_wide_view(const tile::Program& program, const tile::Access& access, const tile::TileDecl& decl) {
  const bool same =
      size_bytes(access.dtype) == size_bytes(decl.dtype) && is_float(access.dtype) == is_float(decl.dtype);
  if (same) return;
  fail<NotImplemented>(
      "simulator: {} reads tile '{}' of {} as {}; Wide storage keeps values, not bits: run this program in Exact "
      "storage",
      print(program, access), decl.name, name(decl.dtype), name(access.dtype));
}

Operand resolve_tile(Memory& memory, const tile::Program& program, const tile::Access& access, const tile::Point& point,
                     Operand o) {
  const tile::TileDecl& decl = program.tiles()[static_cast<std::size_t>(access.id)];
  const OnChipMemory& space = memory.space(decl.space);
  if (memory.wide() && access.dtype != decl.dtype) check_wide_view(program, access, decl);
  const std::int64_t first = access.offset.at(point.variables), partition = access.partition.at(point.variables);
  const std::int64_t limit = decl.bytes_per_partition() / o.element_bytes;
  const Range range = touched(access, first);
  if (range.lowest < 0 || range.highest >= limit) out_of_bounds(program, access, range, limit);
  if (partition < 0 || partition + access.partitions > decl.partitions) {
    throw DeviceError(
        fmt::format("out of bounds: {} touches partitions {}..{} of a tile that has {}", print(program, access),
                    partition, partition + access.partitions - 1, decl.partitions),
        "out-of-bounds");
  }
  o.instance = point.instances[static_cast<std::size_t>(access.id)];
  const Memory::Buffer buffer = memory.buffer(access.id, o.instance);
  const std::int64_t address = buffer.address + first * o.element_bytes;
  o.buffer = o.instance % decl.buffers;
  o.data = space.data(partition, address);
  if (memory.tracks_tiles()) {
    o.whole = buffer.state;
    o.state = space.state(partition, address);
  }
  o.scale = space.scale();
  o.wide = memory.wide();
  o.partition = partition;
  o.byte_offset = first * o.element_bytes;
  o.rank = 1;
  o.sizes[0] = access.partitions;
  o.strides[0] = space.pitch();
  add_dims(o, access, 1);
  o.covers_tile = access.partitions == decl.partitions && access.free_size() == limit && o.contiguous(0, limit);
  return o;
}

Operand resolve_tensor(const Memory& memory, const tile::Program& program, const tile::Access& access,
                       const tile::Point& point, Operand o) {
  const tile::TensorDecl& decl = program.tensors()[static_cast<std::size_t>(access.id)];
  const TensorMemory& tensor = memory.tensor(access.id);
  const std::int64_t declared = size_bytes(decl.dtype);
  const std::int64_t first = access.offset.at(point.variables);
  const Range range = touched(access, first);
  if (range.lowest * o.element_bytes < tensor.lowest * declared ||
      (range.highest + 1) * o.element_bytes > (tensor.highest + 1) * declared) {
    out_of_bounds(program, access, range, (tensor.highest - tensor.lowest + 1) * declared / o.element_bytes);
  }
  o.byte_offset = first * o.element_bytes;
  o.data = tensor.address + o.byte_offset;
  o.state = tensor.state ? tensor.state + o.byte_offset : nullptr;
  o.written = tensor.written ? tensor.written + o.byte_offset : nullptr;
  o.replaced = tensor.replaced ? tensor.replaced + o.byte_offset : nullptr;
  add_dims(o, access, 1);
  if (o.rank == 0) {
    o.rank = 1;
    o.sizes[0] = 1;
    o.strides[0] = o.element_bytes;
  }
  return o;
}

}  // namespace

Operand resolve(Memory& memory, const tile::Program& program, const tile::Access& access, const tile::Point& point) {
  Operand o;
  o.target = access.target;
  o.id = access.id;
  o.dtype = access.dtype;
  o.element_bytes = size_bytes(access.dtype);
  o = access.is_tile() ? resolve_tile(memory, program, access, point, o)
                       : resolve_tensor(memory, program, access, point, o);
  o.count = access.size();
  o.rows = o.sizes[0];
  o.row = o.count / o.rows;
  return o;
}

Operand Operand::entry(std::int64_t i) const {
  Operand o = *this;
  const std::int64_t step = i * strides[0];
  o.data += step * scale;
  if (o.state) o.state += step;
  if (o.written) o.written += step;
  if (o.replaced) o.replaced += step;
  if (target == tile::Target::Tile) {
    o.partition += i;
  } else {
    o.byte_offset += step;
  }
  o.sizes[0] = o.rows = 1;
  o.covers_tile = false;
  o.count = o.row;
  return o;
}

std::int64_t Operand::offset(std::int64_t i) const {
  std::int64_t result = 0;
  for (std::size_t d = rank; d-- > 0;) {
    result += (d == 0 ? i : i % sizes[d]) * strides[d];
    i /= sizes[d];
  }
  return result;
}

bool Operand::contiguous(std::int64_t begin, std::int64_t n) const {
  const std::size_t last = rank - 1;
  if (n <= 1) return true;
  if (strides[last] != element_bytes) return false;
  return last == 0 || begin % sizes[last] + n <= sizes[last];
}

}  // namespace trn::neuron::sim

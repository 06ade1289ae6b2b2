// The stamps behind RaceCheck and the comparison of loop iterations.
#include "sim/race_check.hpp"

#include <algorithm>
#include <numeric>
#include <trn/core/error.hpp>
#include <trn/tile/print.hpp>

namespace trn::neuron::sim {

namespace {
constexpr std::int32_t kOrdered = tile::kDeepestLoop + 1;
}

std::size_t RaceCheck::NodeHash::operator()(const NodeKey& k) const {
  const auto mix = [](std::uint64_t h, std::uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ull; };
  const std::uint64_t h = mix(mix(static_cast<std::uint64_t>(k.parent), static_cast<std::uint64_t>(k.loop) << 32),
                              static_cast<std::uint64_t>(k.iteration));
  return static_cast<std::size_t>(h ^ (h >> 29));
}

LoopNests loop_nests(const tile::Program& program) {
  LoopNests nests(program.instructions().size());
  std::vector<std::pair<std::int32_t, std::int32_t>> open;  // (loop, end)
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(program.statements().size()); ++s) {
    while (!open.empty() && open.back().second <= s) open.pop_back();
    const tile::Statement& statement = program.statements()[static_cast<std::size_t>(s)];
    if (statement.kind == tile::StatementKind::Loop) open.emplace_back(statement.index, statement.end);
    if (statement.kind != tile::StatementKind::Instruction) continue;
    ensure(open.size() < static_cast<std::size_t>(kOrdered), "simulator: {} loops around one instruction", open.size());
    for (const auto& [loop, end] : open) nests[static_cast<std::size_t>(statement.index)].push_back(loop);
  }
  return nests;
}

RaceCheck::RaceCheck(const tile::Program& program, const LoopNests& nests, const Memory& memory)
    : program_(program), nests_(nests) {
  nodes_.push_back({-1, -1, -1, 0});
  for (const tile::TileDecl& decl : program.tiles()) {
    std::vector<Region>& buffers = tiles_.emplace_back(static_cast<std::size_t>(decl.buffers));
    for (Region& region : buffers) region.element_bytes = size_bytes(decl.dtype);
  }
  map_tensors(memory);
}

// Tensors bound to overlapping memory (an in-place update) share stamps.
void RaceCheck::map_tensors(const Memory& memory) {
  struct Extent {
    const std::byte *begin, *end;
    std::size_t tensor;
  };
  std::vector<Extent> extents;
  for (std::size_t t = 0; t < program_.tensors().size(); ++t) {
    const TensorMemory& m = memory.tensor(static_cast<std::int32_t>(t));
    const std::int64_t bytes = size_bytes(program_.tensors()[t].dtype);
    extents.push_back({m.address + m.lowest * bytes, m.address + (m.highest + 1) * bytes, t});
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  hbm_of_tensor_.resize(extents.size());
  first_byte_of_tensor_.resize(extents.size());
  const std::byte *begin = nullptr, *end = nullptr;
  for (const Extent& e : extents) {
    if (hbm_.empty() || e.begin >= end) {
      hbm_.push_back({0, 0, {}});
      begin = e.begin;
      end = e.end;
    }
    end = std::max(end, e.end);
    Region& region = hbm_.back();
    const std::byte* element0 = memory.tensor(static_cast<std::int32_t>(e.tensor)).address;
    region.element_bytes = std::gcd(std::gcd(region.element_bytes, size_bytes(program_.tensors()[e.tensor].dtype)),
                                    static_cast<std::int64_t>(element0 - begin));
    region.stamps.resize(static_cast<std::size_t>((end - begin) / region.element_bytes));
    hbm_of_tensor_[e.tensor] = static_cast<std::int32_t>(hbm_.size()) - 1;
    first_byte_of_tensor_[e.tensor] = element0 - begin;
  }
}

std::int32_t RaceCheck::node_of(std::int32_t instruction, const tile::Point& point) {
  std::int32_t node = 0;
  for (const std::int32_t loop : nests_[static_cast<std::size_t>(instruction)]) {
    const NodeKey key{node, loop, point.variables[static_cast<std::size_t>(loop)]};
    const auto [found, fresh] = node_ids_.try_emplace(key, static_cast<std::int32_t>(nodes_.size()));
    if (fresh) nodes_.push_back({node, loop, nodes_[static_cast<std::size_t>(node)].depth + 1, key.iteration});
    node = found->second;
  }
  return node;
}

RaceCheck::Difference RaceCheck::difference(std::int32_t a, std::int32_t b) {
  if (a == last_a_ && b == last_b_) return last_difference_;
  const auto node = [&](std::int32_t n) -> const Node& { return nodes_[static_cast<std::size_t>(n)]; };
  std::int32_t x = a, y = b, below_x = -1,
               below_y = -1;  // below: the child on the path that was climbed
  while (x != y) {
    const bool climb_x = node(x).depth >= node(y).depth, climb_y = node(y).depth >= node(x).depth;
    if (climb_x) below_x = x, x = node(x).parent;
    if (climb_y) below_y = y, y = node(y).parent;
  }
  Difference result{kOrdered, false};
  if (below_x >= 0 && below_y >= 0 && node(below_x).depth == node(below_y).depth) {
    const Node& n = node(below_x);
    // Different loops one after the other are ordered at that depth.
    result = {n.depth, n.loop == node(below_y).loop &&
                           program_.loops()[static_cast<std::size_t>(n.loop)].kind == tile::LoopKind::Parallel};
  } else if (below_x >= 0 || below_y >= 0) {
    result = {node(below_x >= 0 ? below_x : below_y).depth, false};
  }
  last_a_ = a, last_b_ = b, last_difference_ = result;
  return result;
}

RaceCheck::Region& RaceCheck::region_of(const Operand& o, std::int64_t& first_byte) {
  if (o.target == tile::Target::Tensor) {
    const auto id = static_cast<std::size_t>(o.id);
    first_byte = first_byte_of_tensor_[id] + o.byte_offset;
    return hbm_[static_cast<std::size_t>(hbm_of_tensor_[id])];
  }
  const tile::TileDecl& decl = program_.tiles()[static_cast<std::size_t>(o.id)];
  Region& region = tiles_[static_cast<std::size_t>(o.id)][static_cast<std::size_t>(o.buffer)];
  if (region.instance != o.instance) {
    region.instance = o.instance;
    region.stamps.assign(static_cast<std::size_t>(decl.partitions * element_count(decl.free_shape)), Stamp{});
  }
  first_byte = o.partition * decl.bytes_per_partition() + o.byte_offset;
  return region;
}

template <class F> void RaceCheck::for_each_stamp(const Operand& o, std::int64_t begin, std::int64_t n, F f) {
  std::int64_t first = 0;
  Region& region = region_of(o, first);
  const bool tile = o.target == tile::Target::Tile;
  const std::int64_t row_bytes =
      tile ? program_.tiles()[static_cast<std::size_t>(o.id)].bytes_per_partition() : o.strides[0];
  for (std::int64_t at = begin; at < begin + n;) {
    const std::int64_t r = at / o.row, count = std::min((r + 1) * o.row, begin + n) - at;
    for_each_run(o, at, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t run, std::int64_t) {
      std::int64_t byte = first + r * row_bytes + (offset - r * o.strides[0]);
      for (std::int64_t i = 0; i < run; ++i, byte += stride) {
        // An element seen through a wider dtype covers several stamps, through a narrower one a part of one.
        for (std::int64_t s = byte / region.element_bytes; s * region.element_bytes < byte + o.element_bytes; ++s) {
          f(region.stamps[static_cast<std::size_t>(s)]);
        }
      }
    });
    at += count;
  }
}

void RaceCheck::read(const Operand& o, std::int32_t instruction, const tile::Point& point) {
  const std::int32_t node = node_of(instruction, point);
  for_each_stamp(o, 0, o.count, [&](Stamp& s) {
    if (s.write_node >= 0 && difference(s.write_node, node).parallel) {
      report(o, s.write_instruction, s.write_node, instruction, node, "reads what the other writes");
    }
    if (s.read_node >= 0) {
      const Difference d = difference(s.read_node, node);
      if (d.depth < kOrdered) {
        s.read_depths &= (1u << d.depth) - 1;
        if (d.parallel) s.read_depths |= 1u << d.depth;
      }
    }
    s.read_node = node;
    s.read_instruction = instruction;
  });
}

void RaceCheck::write(const Operand& o, std::int64_t begin, std::int64_t n, std::int32_t instruction,
                      const tile::Point& point) {
  const std::int32_t node = node_of(instruction, point);
  for_each_stamp(o, begin, n, [&](Stamp& s) {
    if (s.write_node >= 0 && difference(s.write_node, node).parallel) {
      report(o, s.write_instruction, s.write_node, instruction, node, "writes what the other writes");
    }
    if (s.read_node >= 0) {
      const Difference d = difference(s.read_node, node);
      const std::uint32_t outer = d.depth < kOrdered ? (1u << d.depth) - 1 : ~0u;
      if (d.parallel || (s.read_depths & outer) != 0) {
        report(o, s.read_instruction, s.read_node, instruction, node, "writes what the other reads");
      }
    }
    s = {.write_node = node, .write_instruction = instruction};
  });
}

void RaceCheck::sums(const tile::RegisterUse& use, std::int32_t instruction, const tile::Point& point) {
  const std::int32_t node = node_of(instruction, point);
  const tile::Access& lanes = program_.instructions()[static_cast<std::size_t>(instruction)].operands[use.slot];
  const std::int64_t first = lanes.partition.at(point.variables), end = first + lanes.partitions;
  std::vector<Stamp>& sums = sums_[use.engine == tile::Engine::Vector ? 1 : 0];
  if (static_cast<std::int64_t>(sums.size()) < end) sums.resize(static_cast<std::size_t>(end));
  for (std::int64_t p = first; p < end; ++p) {
    Stamp& s = sums[static_cast<std::size_t>(p)];
    if (use.takes_up && s.write_node >= 0 && difference(s.write_node, node).parallel) {
      throw DeviceError(
          fmt::format("hazard without an edge: instruction {} at {} takes up the sum of partition {} that "
                      "instruction {} left at {}, another iteration of a parallel loop; begin it anew, or "
                      "make the loop sequential",
                      instruction, place(node), p, s.write_instruction, place(s.write_node)),
          "hazard-without-edge");
    }
    s.write_node = node;
    s.write_instruction = instruction;
  }
}

std::string RaceCheck::place(std::int32_t node) const {
  std::string text;
  for (; node > 0; node = nodes_[static_cast<std::size_t>(node)].parent) {
    const Node& n = nodes_[static_cast<std::size_t>(node)];
    text = fmt::format("{}={}{}{}", program_.loops()[static_cast<std::size_t>(n.loop)].name, n.iteration,
                       text.empty() ? "" : ", ", text);
  }
  return text;
}

void RaceCheck::report(const Operand& o, std::int32_t earlier, std::int32_t earlier_node, std::int32_t now,
                       std::int32_t now_node, const char* kind) const {
  const bool tile = o.target == tile::Target::Tile;
  const std::string& name = tile ? program_.tiles()[static_cast<std::size_t>(o.id)].name
                                 : program_.tensors()[static_cast<std::size_t>(o.id)].name;
  const auto text = [&](std::int32_t i) {
    return print(program_, program_.instructions()[static_cast<std::size_t>(i)]);
  };
  throw DeviceError(
      fmt::format("hazard without an edge: two iterations of a parallel loop touch the same element of '{}': "
                  "instruction {} ({}) at {} {}, instruction {} ({}) at {}; make the loop sequential, or {}",
                  name, now, text(now), place(now_node), kind, earlier, text(earlier), place(earlier_node),
                  tile ? "allocate the tile inside it" : "give every iteration its own part of the tensor"),
      "hazard-without-edge");
}

}  // namespace trn::neuron::sim

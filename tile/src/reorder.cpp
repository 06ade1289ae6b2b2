// Unrolling, merging and list scheduling: see reorder.hpp.
#include <trn/tile/reorder.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <trn/core/error.hpp>
#include <trn/tile/allocate.hpp>
#include <trn/tile/cost.hpp>
#include <trn/tile/depend.hpp>
#include <trn/tile/schedule.hpp>

namespace trn::tile {

namespace {

// One executed instruction. `after` names the nodes it must come after.
struct Node {
  Instruction instruction;
  std::vector<std::int32_t> after;
  std::int32_t first_user = -1;  // the earliest node that must come after this one
  bool merged_away = false;
};

// --- merging

bool one_run(const Access& access) {
  const std::vector<Dim> dims = access.merged_dims();
  return dims.size() == 1 && (dims.front().stride == 1 || dims.front().size == 1);
}

std::int64_t first(const Access& access) { return access.offset.at({}); }
std::int64_t last(const Access& access) { return first(access) + access.free_size(); }

Access joined(const Access& a, const Access& b) {
  Access both = a;
  both.dims = {{1, a.free_size() + b.free_size()}};
  return both;
}

// Copies out of PSUM that continue one another. The earlier one moves down to the later, which is allowed while nothing
// between them uses it.
void merge_evictions(std::vector<Node>& nodes, const Machine& machine) {
  using Key = std::array<std::int64_t, 8>;
  std::map<Key, std::int32_t> open;  // where a copy could go on -> the copy
  std::vector<std::int32_t> now(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) now[n] = static_cast<std::int32_t>(n);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Node& node = nodes[n];
    if (node.instruction.opcode() != Opcode::TensorCopy) continue;
    Access &dst = node.instruction.operands[isa::TensorCopy::dst],
           &src = node.instruction.operands[isa::TensorCopy::src];
    if (!src.is_tile() || src.id != 1 || !dst.is_tile() || dst.id != 0 || !one_run(src) || !one_run(dst)) continue;
    const auto key = [&](std::int64_t src_at, std::int64_t dst_at) {
      return Key{static_cast<std::int64_t>(src.dtype),
                 static_cast<std::int64_t>(dst.dtype),
                 src.partition.at({}),
                 dst.partition.at({}),
                 src.partitions,
                 src_at,
                 dst_at,
                 0};
    };
    if (const auto found = open.find(key(first(src), first(dst))); found != open.end()) {
      Node& before = nodes[static_cast<std::size_t>(found->second)];
      const Access &from = before.instruction.operands[isa::TensorCopy::src],
                   &to = before.instruction.operands[isa::TensorCopy::dst];
      const std::int64_t bytes = size_bytes(src.dtype), bank = machine.psum_bank_bytes;
      const bool unused = before.first_user < 0 || before.first_user > static_cast<std::int32_t>(n);
      const bool same_bank = first(from) * bytes / bank == (last(src) * bytes - 1) / bank;
      if (unused && same_bank) {
        src = joined(from, src);
        dst = joined(to, dst);
        node.after.insert(node.after.end(), before.after.begin(), before.after.end());
        if (before.first_user >= 0 && (node.first_user < 0 || before.first_user < node.first_user))
          node.first_user = before.first_user;
        before.merged_away = true;
        now[static_cast<std::size_t>(found->second)] = static_cast<std::int32_t>(n);
      }
      open.erase(found);
    }
    open[key(last(src), last(dst))] = static_cast<std::int32_t>(n);
  }
  const auto resolve = [&](std::int32_t n) {
    while (now[static_cast<std::size_t>(n)] != n) n = now[static_cast<std::size_t>(n)];
    return n;
  };
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (std::int32_t& earlier : nodes[n].after) earlier = resolve(earlier);
    std::ranges::sort(nodes[n].after);
    nodes[n].after.erase(std::unique(nodes[n].after.begin(), nodes[n].after.end()), nodes[n].after.end());
    std::erase(nodes[n].after, static_cast<std::int32_t>(n));
  }
}

// --- list scheduling

class ListScheduler {
 public:
  ListScheduler(const Program& program, std::vector<Node>& nodes, const Machine& machine, std::int64_t window)
      : program_(program), nodes_(nodes), machine_(machine), window_(window) {}

  [[nodiscard]] std::vector<std::int32_t> run() {
    const auto count = nodes_.size();
    waits_.assign(count, 0);
    users_.resize(count);
    end_.assign(count, 0);
    visible_.assign(count, 0);
    for (std::size_t n = 0; n < count; ++n) {
      if (nodes_[n].merged_away) continue;
      for (const std::int32_t earlier : nodes_[n].after) {
        ++waits_[n];
        users_[static_cast<std::size_t>(earlier)].push_back(static_cast<std::int32_t>(n));
      }
    }
    std::vector<bool> placed(count, false);
    std::vector<std::int32_t> order;
    std::size_t first_open = 0, seen = 0;
    for (;;) {
      while (first_open < count && (placed[first_open] || nodes_[first_open].merged_away)) ++first_open;
      if (first_open == count) return order;
      for (; seen < std::min(count, first_open + static_cast<std::size_t>(window_)); ++seen) {
        if (!nodes_[seen].merged_away && waits_[seen] == 0) ready_.push_back(static_cast<std::int32_t>(seen));
      }
      const auto at = next();
      const std::int32_t n = ready_[at];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(at));
      place(n);
      placed[static_cast<std::size_t>(n)] = true;
      order.push_back(n);
      for (const std::int32_t user : users_[static_cast<std::size_t>(n)]) {
        if (--waits_[static_cast<std::size_t>(user)] == 0 && static_cast<std::size_t>(user) < seen) {
          ready_.insert(std::ranges::lower_bound(ready_, user), user);
        }
      }
    }
  }

 private:
  // In-order streams: the engines, then the rings; a DMA stands in the stream of the engine that triggers it.
  [[nodiscard]] std::size_t lane(const Instruction& i) const {
    const isa::DmaRoute* route = dma_route(i);
    if (!route) return static_cast<std::size_t>(i.engine);
    if (route->dge == DgeMode::Software) return static_cast<std::size_t>(Engine::GpSimd);
    if (route->dge == DgeMode::Hardware && route->ring == 1) return static_cast<std::size_t>(Engine::Scalar);
    return 7 + static_cast<std::size_t>(route->ring);
  }
  double& free(std::size_t lane) {
    if (free_.size() <= lane) free_.resize(lane + 1, 0);
    return free_[lane];
  }

  [[nodiscard]] double start(std::int32_t n) {
    const Node& node = nodes_[static_cast<std::size_t>(n)];
    const std::size_t here = lane(node.instruction);
    double at = free(here);
    for (const std::int32_t earlier : node.after) {
      const auto e = static_cast<std::size_t>(earlier);
      const bool pipelined = here == static_cast<std::size_t>(Engine::Tensor) && lane(nodes_[e].instruction) == here;
      at = std::max(at, pipelined ? end_[e] : visible_[e] + machine_.timing.semaphore_s);
    }
    return at;
  }

  // Of the ready ones, in program order, the first that can start first.
  [[nodiscard]] std::size_t next() {
    std::size_t best = 0;
    double earliest = start(ready_[0]);
    for (std::size_t k = 1; k < ready_.size(); ++k) {
      if (const double s = start(ready_[k]); s < earliest) {
        earliest = s;
        best = k;
      }
    }
    return best;
  }

  void place(std::int32_t n) {
    const Instruction& i = nodes_[static_cast<std::size_t>(n)].instruction;
    const Timing& t = machine_.timing;
    const double begin = start(n);
    double &end = end_[static_cast<std::size_t>(n)], &visible = visible_[static_cast<std::size_t>(n)];
    if (i.engine == Engine::Dma) {
      const DmaCost cost = dma_cost(i, machine_);
      const bool software = dma_route(i)->dge == DgeMode::Software;
      dma_free_ = std::max(dma_free_, begin + (software ? t.dma_start_software_s : t.dma_start_s)) + cost.transfer_s;
      end = dma_free_;
      visible = end + t.dma_end_s;
      free(lane(i)) = begin + cost.ring_s;
      return;
    }
    end = begin + compute_seconds(program_, i, i.engine, machine_);
    const double latency[] = {0, t.tensor_latency_s, t.vector_latency_s, t.scalar_latency_s, t.gpsimd_latency_s, 0, 0};
    visible = end + latency[static_cast<std::size_t>(i.engine)];
    free(lane(i)) = end;
  }

  const Program& program_;  // for the memories that costs depend on
  std::vector<Node>& nodes_;
  const Machine& machine_;
  std::int64_t window_;
  std::vector<std::int32_t> waits_, ready_;
  std::vector<std::vector<std::int32_t>> users_;
  std::vector<double> end_, visible_, free_;
  double dma_free_ = 0;
};

// The executed instructions up to a dynamic loop, of its body, and after it: one stretch after the other is unrolled,
// merged and scheduled, and none goes past the loop. Its body is recorded once.
class Reorderer {
 public:
  Reorderer(const Program& program, const Machine& machine, std::int64_t window)
      : program_(program),
        machine_(machine),
        window_(window),
        allocation_(allocate(program, machine)),
        map_(program_, allocation_, MemoryMap::Iterations::Any) {
    point_.variables.assign(program.loops().size(), 0);
    point_.instances.assign(program.tiles().size(), -1);
    register_of_.assign(program.tiles().size(), -1);
    loop_of_.assign(program.loops().size(), -1);
    tracker_.emplace(map_);
  }

  [[nodiscard]] Program run() {
    parts_.name = program_.name();
    parts_.machine = program_.machine();
    parts_.tensors = program_.tensors();
    const auto memory = [&](const char* name, Space space, std::int64_t bytes) {
      const std::int64_t words = std::max<std::int64_t>(1, (bytes + 3) / 4);
      declare({name, space, DType::Float32, machine_.partitions, {words}, 1});
    };
    memory("sbuf", Space::Sbuf, allocation_.sbuf_bytes);
    memory("psum", Space::Psum, allocation_.psum_bytes);
    block(0, static_cast<std::int32_t>(program_.statements().size()));
    flush();
    return Program(std::move(parts_));
  }

 private:
  std::int32_t declare(TileDecl tile) {
    const auto id = static_cast<std::int32_t>(parts_.tiles.size());
    parts_.statements.push_back({StatementKind::Alloc, id, 0});
    parts_.tiles.push_back(std::move(tile));
    return id;
  }

  void block(std::int32_t begin, std::int32_t end) {
    for (std::int32_t s = begin; s < end;) {
      const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      const auto index = static_cast<std::size_t>(statement.index);
      switch (statement.kind) {
        case StatementKind::Alloc:
          ++point_.instances[index];
          // A register stays a tile of its own, because loops name it; its Alloc comes before the stretch.
          if (program_.tiles()[index].space == Space::Register) register_of_[index] = declare(program_.tiles()[index]);
          ++s;
          break;
        case StatementKind::Instruction:
          add(statement.index);
          ++s;
          break;
        case StatementKind::Loop:
          loop(program_.loops()[index], statement, s);
          s = statement.end;
          break;
      }
    }
  }

  void loop(const LoopDecl& loop, const Statement& statement, std::int32_t at) {
    const auto index = static_cast<std::size_t>(statement.index);
    if (!is_dynamic(loop.kind)) {
      for (std::int64_t k = 0; k < loop.trip; ++k) {
        point_.variables[index] = k;
        block(at + 1, statement.end);
      }
      return;
    }
    flush();
    loop_of_[index] = static_cast<std::int32_t>(parts_.loops.size());
    parts_.loops.push_back({loop.name, loop.trip, loop.kind, register_of_[static_cast<std::size_t>(loop.bound)]});
    const std::size_t here = parts_.statements.size();
    parts_.statements.push_back({StatementKind::Loop, loop_of_[index], 0});
    first_buffers(program_, point_, at + 1, statement.end);
    point_.variables[index] = 0;
    block(at + 1, statement.end);
    flush();
    parts_.statements[here].end = static_cast<std::int32_t>(parts_.statements.size());
  }

  void add(std::int32_t index) {
    const auto tag = static_cast<std::int64_t>(nodes_.size());
    Node node{program_.instructions()[static_cast<std::size_t>(index)], {}};
    map_.touches(index, point_, touches_);
    for (const Touch& touch : touches_) {
      // Every execution is a queue of its own: no order is taken for granted.
      tracker_->touch(touch, tag, static_cast<std::int32_t>(tag), [&](std::int64_t earlier, Hazard) {
        if (earlier != tag) node.after.push_back(static_cast<std::int32_t>(earlier));
      });
    }
    std::ranges::sort(node.after);
    node.after.erase(std::unique(node.after.begin(), node.after.end()), node.after.end());
    for (const std::int32_t earlier : node.after) {
      auto& user = nodes_[static_cast<std::size_t>(earlier)].first_user;
      if (user < 0) user = static_cast<std::int32_t>(tag);
    }
    for (Access& access : node.instruction.operands) settle(access);
    std::visit(
        [&]<class I>(I& attributes) {
          I::visit(attributes, [&]<class T>(const char*, T& field) {
            if constexpr (std::is_same_v<T, Affine>) field = field.at(point_.variables);
          });
        },
        node.instruction.attributes);
    nodes_.push_back(std::move(node));
  }

  // Loop variables replaced by their values, the tile by its bytes in the memory.
  void settle(Access& access) const {
    if (!access.present()) return;
    access.offset = settled(access.offset);
    if (!access.is_tile()) return;
    const auto id = static_cast<std::size_t>(access.id);
    const TileDecl& tile = program_.tiles()[id];
    access.partition = access.partition.at(point_.variables);
    if (tile.space == Space::Register) {
      access.id = register_of_[id];
      return;
    }
    const Placement& place = allocation_.tiles[id];
    const std::int64_t bytes = place.address + point_.instances[id] % tile.buffers * place.buffer_stride_bytes;
    if (bytes % size_bytes(access.dtype) != 0)
      fail<InternalError>("reorder: tile '{}' lies at byte {}", tile.name, bytes);
    access.offset = access.offset + bytes / size_bytes(access.dtype);
    access.id = tile.space == Space::Sbuf ? 0 : 1;
  }

  // The variables of dynamic loops stay.
  [[nodiscard]] Affine settled(const Affine& affine) const {
    Affine result = affine.constant();
    for (const Affine::Term& t : affine.terms()) {
      const auto loop = static_cast<std::size_t>(t.variable);
      result =
          result + (is_dynamic(program_.loops()[loop].kind) ? Affine::variable(loop_of_[loop], t.trip) * t.coefficient
                                                            : Affine(t.coefficient * point_.variables[loop]));
    }
    return result;
  }

  // The end of a stretch.
  void flush() {
    merge_evictions(nodes_, machine_);
    Program::Parts memories;  // for the costs
    memories.tiles = parts_.tiles;
    const Program known(std::move(memories));
    for (const std::int32_t n : ListScheduler(known, nodes_, machine_, window_).run()) {
      parts_.statements.push_back(
          {StatementKind::Instruction, static_cast<std::int32_t>(parts_.instructions.size()), 0});
      parts_.instructions.push_back(std::move(nodes_[static_cast<std::size_t>(n)].instruction));
    }
    nodes_.clear();
    tracker_.emplace(map_);
  }

  const Program& program_;
  const Machine& machine_;
  std::int64_t window_;
  Allocation allocation_;
  MemoryMap map_;
  std::optional<DependencyTracker> tracker_;
  std::vector<Touch> touches_;
  std::vector<Node> nodes_;
  Program::Parts parts_;
  Point point_;
  std::vector<std::int32_t> register_of_, loop_of_;  // by tile and by loop: in the new program
};

}  // namespace

Program reorder(const Program& program, const Machine& machine, const ReorderOptions& options) {
  if (program.dynamic_instructions() > options.limit) {
    fail<NotImplemented>("reorder: program '{}' executes {} instructions; at most {} are unrolled", program.name(),
                         program.dynamic_instructions(), options.limit);
  }
  const Program scheduled = schedule(program, machine);
  return Reorderer(scheduled, machine, options.window).run();
}

}  // namespace trn::tile

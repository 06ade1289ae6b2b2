// Regions of accesses, the log of touches, and the static edges derived from a shortened walk.
#include <trn/tile/depend.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace trn::tile {

std::string_view name(Hazard hazard) {
  switch (hazard) {
    case Hazard::ReadAfterWrite:
      return "read-after-write";
    case Hazard::WriteAfterRead:
      return "write-after-read";
    case Hazard::WriteAfterWrite:
      return "write-after-write";
  }
  return {};
}

MemoryMap::MemoryMap(const Program& program, const Allocation& allocation, Iterations iterations)
    : program_(&program), allocation_(&allocation), iterations_(iterations) {
  for (const TileDecl& tile : program.tiles()) {
    first_memory_of_tile_.push_back(count_);
    count_ += static_cast<std::int32_t>(tile.buffers);
  }
  first_tensor_ = count_;
  count_ += static_cast<std::int32_t>(program.tensors().size());
  registers_ = count_;
  count_ += 2;
  for (std::size_t i = 0; i < program.tensors().size(); ++i) {
    const bool input = program.tensors()[i].kind == TensorKind::Input;
    memory_tensor_.push_back(input ? -1 : static_cast<std::int32_t>(i));
    for (std::size_t j = 0; input && j < program.tensors().size(); ++j) {
      const std::string& alias = program.tensors()[j].alias;
      if (!alias.empty() && alias == program.tensors()[i].name) memory_tensor_[i] = static_cast<std::int32_t>(j);
    }
  }
  aliases_.resize(static_cast<std::size_t>(count_));
  // Buffers of two aliasing tiles overlap when their byte ranges do.
  for (std::size_t a = 0; a < program.tiles().size(); ++a) {
    for (const std::int32_t b : allocation.aliases[a]) {
      const auto range = [&](std::size_t tile, std::int64_t buffer) {
        const Placement& p = allocation.tiles[tile];
        const std::int64_t begin = p.address + buffer * p.buffer_stride_bytes;
        return std::pair(begin, begin + program.tiles()[tile].bytes_per_partition());
      };
      for (std::int64_t i = 0; i < program.tiles()[a].buffers; ++i) {
        for (std::int64_t j = 0; j < program.tiles()[static_cast<std::size_t>(b)].buffers; ++j) {
          const auto x = range(a, i), y = range(static_cast<std::size_t>(b), j);
          if (x.first < y.second && y.first < x.second) {
            aliases_[static_cast<std::size_t>(first_memory_of_tile_[a] + i)].push_back(
                first_memory_of_tile_[static_cast<std::size_t>(b)] + static_cast<std::int32_t>(j));
          }
        }
      }
    }
  }
  cut_into_strips();
}

namespace {

Region tile_region(const Access& access, const Placement& placement, std::int64_t buffer, const Point& point) {
  std::int64_t low = access.offset.at(point.variables), high = low;
  for (const Dim& d : access.dims) (d.stride < 0 ? low : high) += (d.size - 1) * d.stride;
  const std::int64_t bytes = size_bytes(access.dtype),
                     base = placement.address + buffer * placement.buffer_stride_bytes;
  const std::int64_t first = access.partition.at(point.variables);
  return {first, first + access.partitions, base + low * bytes, base + (high + 1) * bytes};
}

std::int64_t largest_stride(const TensorDecl& tensor) {
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] > 1) stride = std::max(stride, tensor.strides[i] < 0 ? -tensor.strides[i] : tensor.strides[i]);
  }
  return stride;
}

// In bytes. Rows are multiples of the tensor's largest stride, columns the rest; a pattern that does not split that way
// counts as the whole range of rows it spans.
Region tensor_region(const Access& access, const TensorDecl& tensor, const Point& point) {
  const std::int64_t row = largest_stride(tensor) * size_bytes(tensor.dtype), bytes = size_bytes(access.dtype);
  std::int64_t low = bytes * access.offset.at(point.variables), rows = 0, columns = bytes - 1;
  for (const Dim& d : access.dims) {
    const std::int64_t stride = bytes * d.stride, extent = (d.size - 1) * std::abs(stride);
    if (stride < 0) low -= extent;
    (stride % row == 0 ? rows : columns) += extent;
  }
  const std::int64_t first_row = low >= 0 ? low / row : -((-low + row - 1) / row), column = low - first_row * row;
  if (column + columns < row) return {first_row, first_row + rows / row + 1, column, column + columns + 1};
  return {first_row, first_row + (column + rows + columns) / row + 1, 0, row};
}

// Every row and column that a region of this tensor can have.
Region whole_tensor(const TensorDecl& tensor) {
  Access access;
  access.dtype = tensor.dtype;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) access.dims.push_back({tensor.strides[i], tensor.shape[i]});
  Region region = tensor_region(access, tensor, {});
  region.column_begin = 0;
  region.column_end = std::max<std::int64_t>(region.column_end, largest_stride(tensor) * size_bytes(tensor.dtype));
  return region;
}

}  // namespace

Region MemoryMap::region_of(const Instruction& instruction, const Access& access, std::int64_t buffer,
                            const Point& point) const {
  const auto id = static_cast<std::size_t>(access.id);
  if (access.is_tile()) return tile_region(access, allocation_->tiles[id], buffer, point);
  const TensorDecl& tensor = program_->tensors()[id];
  if (is_indirect(instruction)) return whole_tensor(tensor);
  if (iterations_ == Iterations::Any && std::ranges::any_of(access.offset.terms(), [&](const Affine::Term& t) {
        return is_dynamic(program_->loops()[static_cast<std::size_t>(t.variable)].kind);
      })) {
    return whole_tensor(tensor);
  }
  const auto slot = static_cast<std::size_t>(&access - instruction.operands.data());
  if (const auto start = dynamic_start(instruction, slot)) return tensor_region(reach(access, *start), tensor, point);
  return tensor_region(access, tensor, point);
}

void MemoryMap::touches(std::int32_t index, const Point& point, std::vector<Touch>& touches) const {
  touches.clear();
  std::size_t reads = 0;
  const Instruction& instruction = program_->instructions()[static_cast<std::size_t>(index)];
  for (std::size_t slot = 0; slot < instruction.operands.size(); ++slot) {
    const Access& access = instruction.operands[slot];
    if (!access.present()) continue;
    const auto id = static_cast<std::size_t>(access.id);
    std::int64_t buffer = 0;
    Touch touch;
    if (access.is_tile()) {
      buffer = point.instances[id] % program_->tiles()[id].buffers;
      touch.memory = first_memory_of_tile_[id] + static_cast<std::int32_t>(buffer);
    } else {
      if (memory_tensor_[id] < 0) continue;
      touch.memory = first_tensor_ + memory_tensor_[id];
    }
    touch.region = region_of(instruction, access, buffer, point);
    const Role role = operand_role(instruction, slot);
    touch.write = role != Role::Read;
    touch.read = role != Role::Write;
    touches.push_back(touch);
    // Reads first: an instruction reads its sources before it overwrites them.
    if (!touch.write) std::swap(touches.back(), touches[reads++]);
  }
  touch_registers(instruction, point, touches);
}

// Adding to the registers counts as writing them: the engine does it in passing, without waiting for itself.
void MemoryMap::touch_registers(const Instruction& instruction, const Point& point, std::vector<Touch>& touches) const {
  const RegisterUse use = register_use(instruction);
  if (!use.any()) return;
  const Access& lanes = instruction.operands[use.slot];
  const std::int64_t first = lanes.partition.at(point.variables);
  const std::int32_t memory = registers_ + (use.engine == Engine::Vector ? 1 : 0);
  touches.push_back({memory, {first, first + lanes.partitions, 0, 1}, use.writes(), !use.writes()});
}

// Average heights and widths are weighed by how often an instruction runs; the cut runs across the direction in which
// accesses cover the smaller share of the memory.
void MemoryMap::cut_into_strips() {
  constexpr std::int64_t kMost = 1024;
  struct Use {
    double times = 0, rows = 0, columns = 0;
  };
  std::vector<Use> tiles(program_->tiles().size()), tensors(program_->tensors().size());
  Point origin;
  origin.variables.assign(program_->loops().size(), 0);
  std::vector<std::pair<std::int32_t, double>> open;  // end and executions of the loops around
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(program_->statements().size()); ++s) {
    while (!open.empty() && open.back().first <= s) open.pop_back();
    const double times = open.empty() ? 1 : open.back().second;
    const Statement& statement = program_->statements()[static_cast<std::size_t>(s)];
    const auto index = static_cast<std::size_t>(statement.index);
    if (statement.kind == StatementKind::Loop) {
      open.emplace_back(statement.end, times * static_cast<double>(program_->loops()[index].trip));
    } else if (statement.kind == StatementKind::Instruction) {
      const Instruction& instruction = program_->instructions()[index];
      for (const Access& access : instruction.operands) {
        if (!access.present()) continue;
        const Region r = region_of(instruction, access, 0, origin);
        const std::int32_t id = access.is_tile() ? access.id : memory_tensor_[static_cast<std::size_t>(access.id)];
        if (id < 0) continue;
        Use& use = (access.is_tile() ? tiles : tensors)[static_cast<std::size_t>(id)];
        use.times += times;
        use.rows += times * static_cast<double>(r.row_end - r.row_begin);
        use.columns += times * static_cast<double>(r.column_end - r.column_begin);
      }
    }
  }
  const auto cut = [&](const Region& whole, const Use& use) {
    const auto rows = static_cast<double>(whole.row_end - whole.row_begin);
    const auto columns = static_cast<double>(whole.column_end - whole.column_begin);
    const bool by_rows = use.rows * columns < use.columns * rows;
    const double extent = by_rows ? rows : columns;
    const double mean = use.times > 0 ? (by_rows ? use.rows : use.columns) / use.times : extent;
    const auto step = static_cast<std::int64_t>(std::max({1.0, mean, extent / static_cast<double>(kMost)}) + 0.5);
    const auto count = static_cast<std::int32_t>(std::max<std::int64_t>(1, static_cast<std::int64_t>(extent) / step));
    cuts_.push_back({by_rows, by_rows ? whole.row_begin : whole.column_begin, step, strip_count_, count});
    strip_count_ += count;
  };
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const TileDecl& tile = program_->tiles()[t];
    const Placement& p = allocation_->tiles[t];
    for (std::int64_t i = 0; i < tile.buffers; ++i) {
      const std::int64_t base = p.address + i * p.buffer_stride_bytes;
      cut({0, tile.partitions, base, base + tile.bytes_per_partition()}, tiles[t]);
    }
  }
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const TensorDecl& tensor = program_->tensors()[t];
    cut(tensor.kind == TensorKind::Input ? Region{0, 1, 0, 1} : whole_tensor(tensor), tensors[t]);
  }
  for (int engine = 0; engine < 2; ++engine) cut({0, 1, 0, 1}, {});  // registers: one strip each
}

Touch MemoryMap::touch_of_loop(std::int32_t loop, const Point& point) const {
  const auto id = static_cast<std::size_t>(program_->loops()[static_cast<std::size_t>(loop)].bound);
  const std::int64_t buffer = point.instances[id] % program_->tiles()[id].buffers;
  const Placement& p = allocation_->tiles[id];
  const std::int64_t base = p.address + buffer * p.buffer_stride_bytes;
  return {first_memory_of_tile_[id] + static_cast<std::int32_t>(buffer),
          {0, 1, base, base + program_->tiles()[id].bytes_per_partition()},
          false,
          true};
}

void DependencyTracker::log(const Touch& t, std::int64_t tag, std::int32_t queue, bool certain) {
  const auto covered = [&](const Record& r) { return t.region.covers(r.region); };
  const MemoryMap::Strips strips = map_.strips_of(t.memory, t.region);
  for (std::int32_t s = strips.first; s <= strips.last; ++s) {
    Log& log = logs_[static_cast<std::size_t>(s)];
    if (t.write) {
      if (certain) std::erase_if(log.writes, covered);
      if (certain) std::erase_if(log.reads, covered);
      log.writes.push_back({t.region, tag, queue});
      continue;
    }
    const auto same =
        std::ranges::find_if(log.reads, [&](const Record& r) { return certain && r.queue == queue && covered(r); });
    if (same != log.reads.end())
      *same = {t.region, tag, queue};
    else
      log.reads.push_back({t.region, tag, queue});
  }
}

namespace {
// By instruction: the loops around it.
std::vector<std::vector<std::int32_t>> enclosing_loops(const Program& program) {
  std::vector<std::vector<std::int32_t>> result(program.instructions().size());
  std::vector<Statement> open;
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(program.statements().size()); ++s) {
    while (!open.empty() && open.back().end <= s) open.pop_back();
    const Statement& statement = program.statements()[static_cast<std::size_t>(s)];
    if (statement.kind == StatementKind::Loop) open.push_back(statement);
    if (statement.kind != StatementKind::Instruction) continue;
    for (const Statement& loop : open) result[static_cast<std::size_t>(statement.index)].push_back(loop.index);
  }
  return result;
}
}  // namespace

std::vector<Dependency> depend(const Program& program, const Machine& machine) {
  const Allocation allocation = allocate(program, machine);
  const MemoryMap map(program, allocation);
  DependencyTracker tracker(map);
  std::int64_t buffers = 1;
  for (const TileDecl& tile : program.tiles()) buffers = std::max(buffers, tile.buffers);

  struct Executed {
    std::int32_t instruction;
    std::vector<std::int64_t> variables;
  };
  std::vector<Executed> executed;
  const auto loops = enclosing_loops(program);
  // Some loop around both is at another iteration.
  const auto carried = [&](const Executed& from, std::int32_t to, const std::vector<std::int64_t>& variables) {
    const auto& inner = loops[static_cast<std::size_t>(to)];
    return std::ranges::any_of(loops[static_cast<std::size_t>(from.instruction)], [&](std::int32_t loop) {
      const auto v = static_cast<std::size_t>(loop);
      return std::ranges::find(inner, loop) != inner.end() && from.variables[v] != variables[v];
    });
  };
  std::vector<Touch> touches;
  const auto less = [](const Dependency& a, const Dependency& b) {
    return std::tie(a.from, a.to, a.hazard, a.carried) < std::tie(b.from, b.to, b.hazard, b.carried);
  };
  std::set<Dependency, decltype(less)> edges(less);
  // What a dynamic loop does may not happen: it hides nothing that was there before.
  const auto certain = [&](std::int32_t index) {
    return std::ranges::none_of(loops[static_cast<std::size_t>(index)], [&](std::int32_t loop) {
      return is_dynamic(program.loops()[static_cast<std::size_t>(loop)].kind);
    });
  };
  walk(program,
       [&](std::int32_t index, const Point& point) {
         const auto tag = static_cast<std::int64_t>(executed.size());
         map.touches(index, point, touches);
         for (const Touch& touch : touches) {
           const auto edge = [&](std::int64_t earlier, Hazard hazard) {
             if (earlier == tag) return;
             const Executed& e = executed[static_cast<std::size_t>(earlier)];
             edges.insert({e.instruction, index, hazard, carried(e, index, point.variables)});
           };
           tracker.touch(touch, tag, index, edge, certain(index));
         }
         executed.push_back({index, point.variables});
       },
       {.trip_limit = buffers + 1});
  return {edges.begin(), edges.end()};
}

}  // namespace trn::tile

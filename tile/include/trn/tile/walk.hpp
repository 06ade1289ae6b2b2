// Walking a program: calls back for every instruction in program order, loops run, nothing unrolled in memory.
// The simulator, the timing model and the dependency pass all see the program through this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <trn/tile/program.hpp>

namespace trn::tile {

// What changes from one execution of an instruction to the next.
struct Point {
  std::vector<std::int64_t> variables;  // by loop id
  std::vector<std::int64_t>
      instances;  // by tile id: how many times its Alloc ran, minus one; buffer = instance % buffers
};

// Maps the k-th executed iteration of a loop to an iteration number; the identity when empty. Only asked for parallel
// loops.
using IterationOrder = std::function<std::int64_t(std::int32_t loop, std::int64_t k)>;

struct WalkHooks {
  std::function<void(std::int32_t loop)> loop_begin = {};  // before its first iteration: a chance to draw a new order
  IterationOrder order = {};
  std::int64_t trip_limit = std::numeric_limits<std::int64_t>::max();  // iterations run per loop at most
  // Before iteration k of a dynamic loop: whether it runs. When empty, such a loop runs its largest number.
  std::function<bool(std::int32_t loop, std::int64_t k, const Point& point)> enter = {};
};

// The device repeats one copy of a dynamic loop's body, statements [begin, end): each iteration begins with the same
// buffers of the tiles that are allocated there.
inline void first_buffers(const Program& program, Point& point, std::int32_t begin, std::int32_t end) {
  for (std::int32_t s = begin; s < end; ++s) {
    const Statement& statement = program.statements()[static_cast<std::size_t>(s)];
    if (statement.kind != StatementKind::Alloc) continue;
    const std::int64_t buffers = program.tiles()[static_cast<std::size_t>(statement.index)].buffers;
    std::int64_t& instance = point.instances[static_cast<std::size_t>(statement.index)];
    instance = (instance + buffers) / buffers * buffers - 1;
  }
}

// visit(instruction index, point)
template <class Visit> class Walker {
 public:
  Walker(const Program& program, Visit visit, const WalkHooks& hooks = {})
      : program_(program), visit_(visit), hooks_(hooks) {
    point_.variables.assign(program.loops().size(), 0);
    point_.instances.assign(program.tiles().size(), -1);
  }
  void run() { block(0, static_cast<std::int32_t>(program_.statements().size())); }

 private:
  void block(std::int32_t begin, std::int32_t end) {
    for (std::int32_t s = begin; s < end;) {
      const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      const auto index = static_cast<std::size_t>(statement.index);
      switch (statement.kind) {
        case StatementKind::Alloc:
          ++point_.instances[index];
          ++s;
          break;
        case StatementKind::Instruction:
          visit_(statement.index, point_);
          ++s;
          break;
        case StatementKind::Loop: {
          const LoopDecl& loop = program_.loops()[index];
          if (hooks_.loop_begin) hooks_.loop_begin(statement.index);
          const bool reorder = hooks_.order && loop.kind == LoopKind::Parallel;
          const bool asks = hooks_.enter && is_dynamic(loop.kind);
          for (std::int64_t k = 0; asks || k < std::min(loop.trip, hooks_.trip_limit); ++k) {
            if (asks && !hooks_.enter(statement.index, k, point_)) break;
            if (is_dynamic(loop.kind)) first_buffers(program_, point_, s + 1, statement.end);
            point_.variables[index] = reorder ? hooks_.order(statement.index, k) : k;
            block(s + 1, statement.end);
          }
          s = statement.end;
          break;
        }
      }
    }
  }

  const Program& program_;
  Visit visit_;
  WalkHooks hooks_;
  Point point_;
};

template <class Visit> void walk(const Program& program, Visit visit, const WalkHooks& hooks = {}) {
  Walker<Visit>(program, visit, hooks).run();
}

}  // namespace trn::tile

// Runs a program: verifies and prepares it, then walks it in the asked order, feeding the interpreter (bits), the
// timeline (time), or both.
#include "run.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <trn/core/error.hpp>
#include <trn/tile/depend.hpp>
#include <trn/tile/schedule.hpp>
#include <trn/tile/verify.hpp>

#include "interpreter.hpp"
#include "timeline.hpp"

namespace trn::neuron {

using namespace trn::tile;

namespace sim {

Prepared prepare(const Program& program, const Machine& machine) {
  require(program.machine() == machine.name,
          "simulator: program '{}' was built for {}, this is {}; build it for this machine", program.name(),
          program.machine(), machine.name);
  verify_or_throw(program, machine);
  Program scheduled = schedule(program, machine);
  verify_or_throw(scheduled, machine);  // what was chosen is held to the same rules
  Allocation allocation = allocate(scheduled, machine);
  return {std::move(scheduled), std::move(allocation)};
}

namespace {

// A random legal order. Parallel loops run their iterations permuted; of the next kWindow instructions any one whose
// predecessors are done may go next.
class ShuffledRun {
 public:
  ShuffledRun(const Prepared& prepared, Interpreter& interpreter, std::uint64_t seed)
      : prepared_(prepared),
        interpreter_(interpreter),
        map_(prepared.program, prepared.allocation),
        tracker_(map_),
        random_(seed),
        orders_(prepared.program.loops().size()) {}

  void run() {
    WalkHooks hooks;
    hooks.loop_begin = [&](std::int32_t loop) {
      auto& order = orders_[static_cast<std::size_t>(loop)];
      order.resize(static_cast<std::size_t>(prepared_.program.loops()[static_cast<std::size_t>(loop)].trip));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::shuffle(order, random_);
    };
    hooks.order = [&](std::int32_t loop, std::int64_t k) {
      return orders_[static_cast<std::size_t>(loop)][static_cast<std::size_t>(k)];
    };
    // What comes next is known when everything before has run.
    hooks.enter = [&](std::int32_t loop, std::int64_t k, const Point& point) {
      while (!pending_.empty()) execute_one();
      return interpreter_.enters(loop, k, point);
    };
    walk(
        prepared_.program, [&](std::int32_t index, const Point& point) { add(index, point); }, hooks);
    while (!pending_.empty()) execute_one();
  }

 private:
  static constexpr std::size_t kWindow = 48;
  struct Pending {
    std::int64_t tag;
    std::int32_t instruction;
    Point point;
    std::vector<std::int64_t> waits_for;
  };

  void add(std::int32_t index, const Point& point) {
    Pending next{next_tag_++, index, point, {}};
    map_.touches(index, point, touches_);
    for (const Touch& touch : touches_) {
      // Every execution is a queue of its own: no order is taken for granted.
      tracker_.touch(touch, next.tag, static_cast<std::int32_t>(next.tag), [&](std::int64_t earlier, Hazard) {
        if (earlier != next.tag && is_pending(earlier)) next.waits_for.push_back(earlier);
      });
    }
    pending_.push_back(std::move(next));
    if (pending_.size() >= kWindow) execute_one();
  }

  bool is_pending(std::int64_t tag) const {
    return std::ranges::any_of(pending_, [&](const Pending& p) { return p.tag == tag; });
  }

  void execute_one() {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].waits_for.empty()) ready.push_back(i);
    }
    const std::size_t chosen = ready[std::uniform_int_distribution<std::size_t>(0, ready.size() - 1)(random_)];
    interpreter_.execute(pending_[chosen].instruction, pending_[chosen].point);
    const std::int64_t tag = pending_[chosen].tag;
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (Pending& p : pending_) std::erase(p.waits_for, tag);
  }

  const Prepared& prepared_;
  Interpreter& interpreter_;
  MemoryMap map_;
  DependencyTracker tracker_;
  std::mt19937_64 random_;
  std::vector<std::vector<std::int64_t>> orders_;
  std::vector<Pending> pending_;
  std::vector<Touch> touches_;
  std::int64_t next_tag_ = 0;
};

}  // namespace

RunReport run(const Prepared& prepared, const Machine& machine, std::span<const Binding> bindings,
              const SimOptions& options, const ReportOptions& report_options, HbmShadow* shadow) {
  Interpreter interpreter(prepared.program, machine, prepared.allocation, options, bindings, shadow);
  RunReport report;
  WalkHooks hooks;
  hooks.enter = [&](std::int32_t loop, std::int64_t k, const Point& point) {
    return interpreter.enters(loop, k, point);
  };
  switch (options.order.kind) {
    case OrderKind::InOrder:
      walk(
          prepared.program, [&](std::int32_t index, const Point& point) { interpreter.execute(index, point); }, hooks);
      break;
    case OrderKind::Timed: {
      Timeline timeline(prepared.program, machine, prepared.allocation, report_options);
      hooks.enter = [&](std::int32_t loop, std::int64_t k, const Point& point) {
        timeline.branch(loop, k, point);
        return interpreter.enters(loop, k, point);
      };
      walk(
          prepared.program,
          [&](std::int32_t index, const Point& point) {
            interpreter.execute(index, point);
            timeline.execute(index, point);
          },
          hooks);
      report = timeline.finish();
      break;
    }
    case OrderKind::Shuffled:
      ShuffledRun(prepared, interpreter, options.order.seed).run();
      break;
  }
  interpreter.finish();
  return report;
}

}  // namespace sim

RunReport simulate(const Program& program, const Machine& machine, std::span<const Binding> bindings,
                   const SimOptions& options, const ReportOptions& report) {
  return sim::run(sim::prepare(program, machine), machine, bindings, options, report, nullptr);
}

RunReport estimate(const Program& program, const Machine& machine, const ReportOptions& report) {
  const sim::Prepared prepared = sim::prepare(program, machine);
  sim::Timeline timeline(prepared.program, machine, prepared.allocation, report);
  WalkHooks hooks;  // nobody knows the registers: every dynamic loop runs its largest number of iterations
  hooks.enter = [&](std::int32_t loop, std::int64_t k, const Point& point) {
    timeline.branch(loop, k, point);
    return k < prepared.program.loops()[static_cast<std::size_t>(loop)].trip;
  };
  walk(
      prepared.program, [&](std::int32_t index, const Point& point) { timeline.execute(index, point); }, hooks);
  return timeline.finish();
}

}  // namespace trn::neuron

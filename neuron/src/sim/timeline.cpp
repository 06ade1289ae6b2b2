// The event model. For instruction i on queue q:
//   start   = max(q free, RAW and WAW predecessors visible, WAR predecessors finished), + a semaphore
//   end     = start + the time it occupies the engine
//   visible = end + the engine's latency
// A DMA occupies its ring, and the engine that triggers it, for its descriptor time, longer when transfers back up;
// transfers of all rings share the DMA engines.
#include "timeline.hpp"

#include <algorithm>
#include <cmath>
#include <trn/core/error.hpp>
#include <trn/tile/cost.hpp>
#include <trn/tile/print.hpp>

namespace trn::neuron::sim {

using namespace trn::tile;

namespace {
enum : std::int32_t { kTensor, kVector, kScalar, kGpSimd, kFirstRing };
// GpSimd only issues the DMAs whose descriptors it makes; they finish on their own.
constexpr std::int32_t kSoftwareDmas = -1;
// The branches of dynamic loops, which read registers.
constexpr std::int32_t kBranches = -2;
// Hardware descriptors: ring 0 is triggered by the Sync Engine, which does nothing else, ring 1 by the Scalar Engine,
// unless the copy names its issuer. An engine triggers in order, whatever rings its copies use.
constexpr std::int32_t kScalarRing = 1;

bool scalar_triggers(const Instruction& i) {
  const isa::DmaRoute& route = *dma_route(i);
  const auto* copy = i.as<isa::DmaCopy>();
  if (copy && copy->issuer != DmaIssuer::Default) return copy->issuer == DmaIssuer::Scalar;
  return route.ring == kScalarRing;
}

// Functions every activation table holds: using them never reloads.
bool in_every_table(ActFunction f) {
  return f == ActFunction::Copy || f == ActFunction::Square || f == ActFunction::Relu || f == ActFunction::Abs ||
         f == ActFunction::Sign;
}
}  // namespace

double DmaCalendar::reserve(double earliest, double duration) {
  constexpr std::size_t kKeep = 192;
  constexpr double kTiny = 1e-15;
  double now = std::max(earliest, horizon_), left = duration;
  auto at = static_cast<std::size_t>(std::ranges::upper_bound(busy_, now, {}, &Busy::end) - busy_.begin());
  while (left > kTiny) {
    if (at < busy_.size() && busy_[at].begin <= now + kTiny) {
      now = std::max(now, busy_[at].end);
      ++at;
      continue;
    }
    const double gap_end = at < busy_.size() ? busy_[at].begin : now + left;
    const double piece = std::min(left, gap_end - now);
    // Extend the interval before when they touch, else insert one.
    if (at > 0 && now - busy_[at - 1].end <= kTiny) {
      busy_[at - 1].end = now + piece;
    } else {
      busy_.insert(busy_.begin() + static_cast<std::ptrdiff_t>(at), {now, now + piece});
      ++at;
    }
    now += piece;
    left -= piece;
    if (at < busy_.size() && busy_[at].begin - now <= kTiny) {  // the gap is closed
      busy_[at - 1].end = busy_[at].end;
      busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(at));
      if (left > kTiny) now = busy_[at - 1].end;
    }
  }
  if (busy_.size() > kKeep + 64) {
    const std::size_t drop = busy_.size() - kKeep;
    horizon_ = busy_[drop - 1].end;
    busy_.erase(busy_.begin(), busy_.begin() + static_cast<std::ptrdiff_t>(drop));
  }
  return now;
}

double ArrayCalendar::free(const Part& part) const {
  double time = 0;
  for (std::int64_t r = part.row; r < part.row + part.rows; ++r) {
    for (std::int64_t c = part.column; c < part.column + part.columns; ++c) {
      time = std::max(time, free_[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
    }
  }
  return time;
}

void ArrayCalendar::take(const Part& part, double until) {
  for (std::int64_t r = part.row; r < part.row + part.rows; ++r) {
    for (std::int64_t c = part.column; c < part.column + part.columns; ++c) {
      free_[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] = until;
    }
  }
}

void RateLimiter::advance(double time) {
  constexpr double kLongIdleWindows = 4;
  while (time >= window_begin_ + timing_.limiter_window_s) {
    const double use = (use_.empty() ? 0 : use_.front()) / timing_.limiter_window_s;
    if (hot_ && use < timing_.limiter_cold_use)
      hot_ = false;
    else if (!hot_ && use >= timing_.limiter_warm_use)
      hot_ = true;
    if (!use_.empty()) use_.pop_front();
    window_begin_ += timing_.limiter_window_s;
    if (use_.empty() && time > window_begin_ + kLongIdleWindows * timing_.limiter_window_s) {
      hot_ = false;
      window_begin_ = time - timing_.limiter_window_s / 2;
    }
  }
}

double RateLimiter::run(double start, double seconds, double share) {
  // Windows follow a clock of their own: the first pass falls into the middle of one, on the average.
  if (idle_) window_begin_ = start - timing_.limiter_window_s / 2;
  idle_ = false;
  advance(start);
  const double rate = hot_ ? 1 : timing_.limiter_cold_rate;
  const double occupied = seconds / (rate * timing_.tensor_sustained_rate);
  if (rate < 1) cold_seconds_ += occupied;
  double now = start, left = occupied, window_end = window_begin_ + timing_.limiter_window_s;
  for (std::size_t window = 0; left > 0; ++window, window_end += timing_.limiter_window_s) {
    if (use_.size() <= window) use_.push_back(0);
    const double piece = std::min(left, window_end - now);
    use_[window] += piece * share;
    now += piece;
    left -= piece;
  }
  return start + occupied;
}

Timeline::Timeline(const Program& program, const Machine& machine, const Allocation& allocation,
                   const ReportOptions& options)
    : program_(program),
      machine_(machine),
      options_(options),
      map_(program, allocation),
      tracker_(map_),
      limiter_(machine.timing) {
  report_.program = program.name();
  report_.machine = std::string(machine.name);
  report_.launch_seconds = machine.timing.launch_s;
  report_.finish_seconds = machine.timing.finish_s;
  report_.sbuf_bytes_per_partition = allocation.sbuf_bytes;
  report_.psum_bytes_per_partition = allocation.psum_bytes;
  report_.lanes = {{"tensor"}, {"vector"}, {"scalar"}, {"gpsimd"}};
  DType matmul_dtype = DType::BFloat16;
  bool microscaling = false;
  for (const Instruction& i : program.instructions()) {
    plans_.push_back(plan(i));
    if (i.as<isa::NcMatmulMx>())
      microscaling = true;
    else if (matmul_flops(i) > 0)
      matmul_dtype = i.operands[isa::NcMatmul::stationary].dtype;
  }
  report_.tensor_peak_flops = microscaling ? machine.mx_flops() : machine.tensor_flops(matmul_dtype);
  lane_free_.assign(report_.lanes.size(), 0);
  lane_shown_until_.assign(report_.lanes.size(), 0);
  if (options.keep_intervals > 0) {
    for (const Instruction& i : program.instructions()) report_.instruction_text.push_back(print(program, i));
  }
}

std::int32_t Timeline::lane_of(const Instruction& i) {
  switch (i.engine) {
    case Engine::Tensor:
      return kTensor;
    case Engine::Vector:
      return kVector;
    case Engine::Scalar:
      return kScalar;
    case Engine::GpSimd:
      return kGpSimd;
    case Engine::Dma:
      break;
    case Engine::Sync:
      if (sync_lane_ < 0) {
        sync_lane_ = static_cast<std::int32_t>(report_.lanes.size());
        report_.lanes.push_back({"sync"});
      }
      return sync_lane_;
    case Engine::Any:
      fail<InternalError>("timeline: {} has no engine; schedule() the program first", name(i.opcode()));
  }
  const isa::DmaRoute& route = *dma_route(i);
  if (route.dge == DgeMode::Software) return kGpSimd;
  const auto ring = static_cast<std::size_t>(route.ring);
  if (lane_of_ring_.size() <= ring) lane_of_ring_.resize(ring + 1, -1);
  if (lane_of_ring_[ring] < 0) {
    lane_of_ring_[ring] = static_cast<std::int32_t>(report_.lanes.size());
    const bool load = i.dst().is_tile();
    const Access& hbm = i.operands[load ? isa::DmaRoute::src : isa::DmaRoute::dst];
    const char* direction = load ? "load" : "store";
    report_.lanes.push_back(
        {route.dge == DgeMode::Static && !hbm.is_tile()
             ? fmt::format("dma {} {}", direction, program_.tensors()[static_cast<std::size_t>(hbm.id)].name)
             : fmt::format("dma {}", direction)});
  }
  return lane_of_ring_[ring];
}

Timeline::Plan Timeline::plan(const Instruction& i) {
  Plan p;
  p.lane = lane_of(i);
  p.queue = i.engine == Engine::Dma && p.lane == kGpSimd ? kSoftwareDmas : p.lane;
  p.flops = matmul_flops(i);
  for (const Access& access : i.operands) {
    p.touches_psum = p.touches_psum ||
                     (access.is_tile() && program_.tiles()[static_cast<std::size_t>(access.id)].space == Space::Psum);
  }
  if (i.engine == Engine::Dma) {
    const DmaCost cost = dma_cost(i, machine_);
    p.is_dma = true;
    const isa::DmaRoute& route = *dma_route(i);
    const bool software = route.dge == DgeMode::Software;
    p.start_seconds = software ? machine_.timing.dma_start_software_s : machine_.timing.dma_start_s;
    if (route.dge == DgeMode::Hardware) {
      p.sync_triggers = !scalar_triggers(i);
      if (!p.sync_triggers) p.issuer = kScalar;
    }
    p.seconds = cost.transfer_s;
    p.ring_seconds = cost.ring_s;
    p.read_bytes = cost.hbm_read_bytes;
    p.write_bytes = cost.hbm_write_bytes;
    return p;
  }
  p.seconds = compute_seconds(program_, i, i.engine, machine_);
  if (const auto* a = i.as<isa::Activation>(); a && i.engine == Engine::Scalar) p.table = a->op;
  if (i.engine == Engine::Tensor) {
    // nc_matmul's stationary and nc_transpose's data alike occupy one row of the array per partition.
    static_assert(isa::NcMatmul::stationary + 0 == isa::NcTranspose::data + 0);
    static_assert(isa::NcMatmul::stationary + 0 == isa::NcMatmulMx::stationary + 0);
    const Access& loaded = i.operands[isa::NcMatmul::stationary];
    p.row_share = std::min(1.0, static_cast<double>(loaded.partitions) / static_cast<double>(machine_.partitions));
    p.array_tile = array_tile(i, machine_);
    // Parts beside one another share the columns between them.
    if (!p.array_tile.whole())
      p.row_share *= static_cast<double>(p.array_tile.columns) / static_cast<double>(machine_.stationary_free_max);
  }
  return p;
}

double Timeline::earliest_start(std::int32_t index, const Point& point, std::int64_t tag) {
  const Plan& p = plans_[static_cast<std::size_t>(index)];
  double start = lane_free_[static_cast<std::size_t>(p.lane)];
  if (p.issuer >= 0) start = std::max(start, lane_free_[static_cast<std::size_t>(p.issuer)]);
  if (p.sync_triggers) start = std::max(start, sync_free_);
  if (p.lane == kTensor) start = std::max(start, array_.free(part_of(p, point)));
  map_.touches(index, point, touches_);
  for (const Touch& touch : touches_) {
    tracker_.touch(touch, tag, p.queue, [&](std::int64_t earlier, Hazard hazard) {
      if (earlier == tag) return;
      const Done& before = done_[static_cast<std::size_t>(earlier)];
      const bool same_queue = before.queue == p.queue;
      // In-order queues keep their own order; only a true dependence waits for the result to be visible, and PSUM
      // accumulation by the Tensor Engine is pipelined.
      if (same_queue && !p.is_dma && (hazard != Hazard::ReadAfterWrite || p.lane == kTensor)) {
        // Sums of two parts of the array in the same place of PSUM: one matmul after the other.
        if (p.lane == kTensor) start = std::max(start, before.end);
        return;
      }
      const double ready = hazard == Hazard::WriteAfterRead ? before.end : before.visible;
      start = std::max(start, ready + machine_.timing.semaphore_s);
    });
  }
  return start;
}

Timeline::Done Timeline::execute_dma(const Plan& p, double start) {
  const Timing& t = machine_.timing;
  const double first_byte = start + p.start_seconds;
  const double end = calendar_.reserve(first_byte, p.seconds);
  // One transfer may queue behind the running one; descriptors of the next are made meanwhile.
  const double free = std::max(start + p.ring_seconds, end - p.start_seconds - p.ring_seconds);
  lane_free_[static_cast<std::size_t>(p.lane)] = free;
  if (p.sync_triggers) sync_free_ = free;
  if (p.issuer >= 0) {
    lane_free_[static_cast<std::size_t>(p.issuer)] = free;
    report_.lanes[static_cast<std::size_t>(p.issuer)].busy_s += free - start;
  }
  transfers_.emplace_back(first_byte, std::max(end, first_byte + p.ring_seconds));
  report_.hbm_read_bytes += p.read_bytes;
  report_.hbm_write_bytes += p.write_bytes;
  return {p.queue, end, end + t.dma_end_s};
}

// The table is loaded by an instruction of its own, which waits for nothing but its place in the queue.
void Timeline::load_table(ActFunction function) {
  if (in_every_table(function) || function == loaded_table_) return;
  loaded_table_ = function;
  lane_free_[kScalar] += machine_.timing.activation_table_s;
  report_.lanes[kScalar].busy_s += machine_.timing.activation_table_s;
}

ArrayCalendar::Part Timeline::part_of(const Plan& p, const Point& point) const {
  if (p.array_tile.whole()) return {};
  const std::int64_t rows = machine_.partitions / ArrayCalendar::kSide,
                     columns = machine_.stationary_free_max / ArrayCalendar::kSide;
  const std::int64_t row = p.array_tile.row.at(point.variables), column = p.array_tile.column.at(point.variables);
  ensure(row >= 0 && row + p.array_tile.rows <= machine_.partitions && column >= 0 &&
             column + p.array_tile.columns <= machine_.stationary_free_max,
         "timeline: a matmul outside the array, at row {}, column {}", row, column);
  return {row / rows, column / columns, p.array_tile.rows / rows, p.array_tile.columns / columns};
}

Timeline::Done Timeline::execute_engine(const Plan& p, double start, const Point& point) {
  const Timing& t = machine_.timing;
  double end = start + p.seconds, latency = t.vector_latency_s;
  switch (p.lane) {
    case kTensor:
      end = limiter_.run(start, p.seconds, p.row_share);
      latency = t.tensor_latency_s;
      array_.take(part_of(p, point), end);
      // The next matmul may start beside this one.
      lane_free_[kTensor] = std::min(end, start + t.matmul_min_cycles / machine_.tensor_hz);
      report_.matmul_flops += p.flops;
      return {p.queue, end, end + latency};
    case kScalar:
      latency = t.scalar_latency_s;
      break;
    case kGpSimd:
      latency = t.gpsimd_latency_s;
      break;
    default:
      if (p.lane == sync_lane_) latency = 0;
      break;
  }
  lane_free_[static_cast<std::size_t>(p.lane)] = end;
  report_.matmul_flops += p.flops;
  return {p.queue, end, end + latency};
}

void Timeline::keep(std::int32_t lane, std::int32_t instruction, double begin, double end) {
  auto& shown = lane_shown_until_[static_cast<std::size_t>(lane)];
  begin = std::max(begin, shown);
  end = std::max(begin, end);
  shown = end;
  Lane& use = report_.lanes[static_cast<std::size_t>(lane)];
  use.busy_s += end - begin;
  ++use.instructions;
  if (static_cast<std::int64_t>(report_.intervals.size()) < options_.keep_intervals) {
    report_.intervals.push_back({lane, instruction, begin, end});
  }
}

void Timeline::execute(std::int32_t index, const Point& point) {
  const Plan& p = plans_[static_cast<std::size_t>(index)];
  const auto tag = static_cast<std::int64_t>(done_.size());
  load_table(p.table);
  double start = earliest_start(index, point, tag);
  const bool on_sbuf_port = machine_.vector_gpsimd_share_port && !p.is_dma && (p.lane == kVector || p.lane == kGpSimd);
  const bool on_psum_port =
      machine_.vector_scalar_share_psum && p.touches_psum && (p.lane == kVector || p.lane == kScalar);
  if (on_sbuf_port) start = std::max(start, sbuf_port_free_);
  if (on_psum_port) start = std::max(start, psum_port_free_);
  const Done done = p.is_dma ? execute_dma(p, start) : execute_engine(p, start, point);
  if (on_sbuf_port) sbuf_port_free_ = done.end;
  if (on_psum_port) psum_port_free_ = done.end;
  done_.push_back(done);
  end_ = std::max(end_, done.visible);
  if (p.queue == kSoftwareDmas) {
    keep(p.lane, index, start, start + p.ring_seconds);
  } else if (p.is_dma) {
    const double first_byte = start + p.start_seconds;
    keep(p.lane, index, first_byte, std::max(done.end, first_byte + p.ring_seconds));
  } else {
    keep(p.lane, index, start, done.end);
  }
  ++report_.instructions;
}

void Timeline::branch(std::int32_t loop, std::int64_t k, const Point& point) {
  const bool counted = program_.loops()[static_cast<std::size_t>(loop)].kind == LoopKind::Counted;
  double known = 0;
  if (!counted || k == 0) {
    const auto tag = static_cast<std::int64_t>(done_.size());
    tracker_.touch(map_.touch_of_loop(loop, point), tag, kBranches, [&](std::int64_t earlier, Hazard) {
      known = std::max(known, done_[static_cast<std::size_t>(earlier)].visible + machine_.timing.semaphore_s);
    });
    done_.push_back({kBranches, known, known});
  }
  for (double& free : lane_free_) free = std::max(free, known) + machine_.timing.branch_s;
}

RunReport Timeline::finish() {
  const Timing& t = machine_.timing;
  report_.seconds = t.launch_s + end_ + t.finish_s;
  report_.benchmark_seconds = t.benchmark_launch_s + end_;
  report_.throttled_seconds = limiter_.cold_seconds();
  std::ranges::sort(transfers_);
  double until = 0;
  for (const auto& [begin, end] : transfers_) {
    report_.dma_active_seconds += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return std::move(report_);
}

}  // namespace trn::neuron::sim

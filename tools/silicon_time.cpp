// The section "time": kernels whose time shows one constant of the model each, copies by size, and what a launch costs.
// On hardware the clock measures many launches in a row; a simulator answers with its own model.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/launch.hpp>

#include "silicon_choice.hpp"
#include "silicon_kernels.hpp"
#include "silicon_report.hpp"

namespace trn::tools::silicon {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Seconds of one run: modelled by a simulator, or of the clock over many.
double seconds_of(const Executor& executor, bool simulated, const tile::Program& program) {
  tile::Device& device = tile::device_of(executor);
  const auto executable = device.load(std::make_shared<const tile::Program>(program));
  std::vector<Buffer> memory;
  memory.reserve(program.tensors().size());
  std::vector<tile::Argument> arguments;
  for (const tile::TensorDecl& t : program.tensors()) {
    if (t.kind == tile::TensorKind::Scratch) continue;
    memory.emplace_back(executor, element_count(t.shape) * size_bytes(t.dtype));
    const std::vector<std::byte> zeros(static_cast<std::size_t>(memory.back().bytes()));
    copy_bytes(Executor::host(), zeros.data(), executor, memory.back().data(), memory.back().bytes());
    arguments.emplace_back(t.name, memory.back().data());
  }
  const auto wait = [&] { device.synchronize(); };
  if (simulated) {
    const double begin = device.clock();
    tile::launch(executor, executable, arguments);
    wait();
    return device.clock() - begin;
  }
  tile::launch(executor, executable, arguments);
  wait();
  // As many as fit a fifth of a second: hundreds on hardware, a few where a simulator stands behind the library.
  constexpr double kBatch = 0.2;
  constexpr int kMost = 200;
  double best = 1e30;
  int runs = 1;
  for (int batch = 0; batch < 4; ++batch) {
    const double begin = now();
    for (int i = 0; i < runs; ++i) tile::launch(executor, executable, arguments);
    wait();
    const double one = (now() - begin) / runs;
    best = std::min(best, one);
    runs = std::clamp(static_cast<int>(kBatch / one), 1, kMost);
  }
  return best;
}

}  // namespace

void check_time(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  const tile::Machine& machine = tile::device_of(executor).machine();
  const bool simulated = task.executor.starts_with("sim:");
  out["measured_by"] = simulated ? "model" : "clock";
  out["rows"] = Json::array();
  std::int64_t left = 0;
  for (const TimedKernel& k : timed_kernels(machine)) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    const neuron::RunReport model = neuron::estimate(k.program, machine);
    const double measured = seconds_of(executor, simulated, k.program);
    Json row{{"kernel", k.name},
             {"choice", k.choice},
             {"measured_us", measured * 1e6},
             {"modelled_us", model.seconds * 1e6},
             {"ratio", model.seconds / measured}};
    if (!k.constant.empty()) {
      row["constant"] = k.constant;
      row["constant_us"] = k.value_s * 1e6;
      row["count"] = k.count;
    }
    out["rows"].push_back(row);
  }
  out["left_out"] = left;
  for (const Undecidable& u : undecidable()) {
    if (u.number > 31) out["no_program"].push_back({{"number", u.number}, {"title", u.title}, {"reason", u.reason}});
  }
  if (simulated) return;
  out["copies"] = Json::array();
  for (std::int64_t bytes = 4096; bytes <= (64 << 20); bytes *= 16) {
    if (task.deadline.over()) {
      out["left_out"] = ++left;
      continue;
    }
    std::vector<std::byte> host(static_cast<std::size_t>(bytes));
    const Buffer memory(executor, bytes);
    const double begin = now();
    copy_bytes(Executor::host(), host.data(), executor, memory.data(), bytes);
    const double up = now();
    copy_bytes(executor, memory.data(), Executor::host(), host.data(), bytes);
    out["copies"].push_back({{"bytes", bytes}, {"up_us", (up - begin) * 1e6}, {"down_us", (now() - up) * 1e6}});
  }
}

}  // namespace trn::tools::silicon

// The section "time": kernels whose time shows one constant of the model each, copies by size, and what a launch costs.
// On hardware the clock measures many launches in a row; a simulator answers with its own model.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/neuron/validation.hpp>
#include <trn/tile/launch.hpp>

#include "silicon_choice.hpp"
#include "silicon_items.hpp"
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

namespace {

// The published kernels of `trnsci validate`. One that would take more than a second here, judged by how the kernels
// before compared with the model, is left out: on hardware none does.
void time_published(const Task& task, const Executor& executor, bool simulated, double worst_ratio, Json& out,
                    std::int64_t& left) {
  constexpr double kMost = 1;
  const tile::Machine& machine = tile::device_of(executor).machine();
  out["published"] = Json::array();
  std::int64_t too_long = 0;
  for (const neuron::ValidationPrograms& row : neuron::validation_programs(machine.name)) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    std::int64_t instructions = 0;
    for (const tile::Program& p : row.programs) instructions += p.dynamic_instructions();
    constexpr std::int64_t kEstimated = 200000;  // longer ones take the model itself seconds
    double modelled = 0, measured = 0;
    bool fits = instructions <= kEstimated || !simulated;
    for (const tile::Program& p : row.programs) {
      if (fits) modelled += neuron::estimate(p, machine).seconds;
    }
    fits = fits && (simulated || modelled * worst_ratio <= kMost);
    if (!fits) {
      ++too_long;
      continue;
    }
    try {
      for (const tile::Program& p : row.programs) {
        measured += simulated ? neuron::estimate(p, machine).seconds : seconds_of(executor, false, p);
      }
    } catch (const Error& e) {
      if (stopped_compiling(e)) {
        ++left;
        continue;
      }
      // A replayed stream of instructions has no results, and is not a kernel.
      out["published"].push_back({{"kernel", row.name}, {"error", e.what()}});
      continue;
    }
    out["published"].push_back({{"kernel", row.name},
                                {"published_us", row.measured_us},
                                {"modelled_us", modelled * 1e6},
                                {"measured_us", measured * 1e6},
                                {"ratio", modelled / measured}});
  }
  out["published_too_long"] = too_long;
}

// What a launch costs the host before it returns, and how runs follow one another with one, two and three in flight.
void time_launches(const Executor& executor, Json& out) {
  constexpr int kRuns = 300;
  constexpr std::int64_t kColumns = 16;
  tile::Device& device = tile::device_of(executor);
  const auto executable = device.load(std::make_shared<const tile::Program>(line_program(device.machine(), kColumns)));
  const Array<float> x(executor, {128 * kColumns}), y(executor, {128 * kColumns});
  const std::vector<tile::Binding> bindings{{"x", static_cast<const void*>(x.view().data())},
                                            {"y", static_cast<void*>(y.view().data())}};
  const auto run = [&] { device.run(executable, bindings); };
  run();
  device.synchronize();
  std::vector<double> cost;
  for (int i = 0; i < kRuns; ++i) {
    const double begin = now();
    run();
    cost.push_back(now() - begin);
    device.synchronize();  // the next one finds an empty queue: what is measured is the host's part
  }
  std::sort(cost.begin(), cost.end());
  out["host_launch_us"] = {{"median", cost[cost.size() / 2] * 1e6}, {"nine_of_ten", cost[cost.size() * 9 / 10] * 1e6}};
  out["in_flight"] = Json::array();
  for (const int depth : {1, 2, 3}) {
    const double begin = now();
    for (int i = 0; i < kRuns; ++i) {
      run();
      if ((i + 1) % depth == 0) device.synchronize();
    }
    device.synchronize();
    out["in_flight"].push_back({{"runs", depth}, {"us_each", (now() - begin) / kRuns * 1e6}});
  }
}

}  // namespace

void check_time(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  const tile::Machine& machine = tile::device_of(executor).machine();
  const bool simulated = task.executor.starts_with("sim:");
  out["measured_by"] = simulated ? "model" : "clock";
  out["rows"] = Json::array();
  std::int64_t left = 0;
  double worst_ratio = 0;
  const auto refused = [&](const std::string& kernel, const DeviceError& error) {
    if (!not_compiled(error)) throw;
    ++left;
    if (stopped_compiling(error)) return;
    out["not_compiled"].push_back(kernel);
    out["left_why"] = "not compiled";
    out["status"] = "findings";
  };
  for (const TimedKernel& k : timed_kernels(machine)) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    const neuron::RunReport model = neuron::estimate(k.program, machine);
    double measured = 0;
    try {
      measured = seconds_of(executor, simulated, k.program);
    } catch (const DeviceError& e) {
      refused(k.name, e);
      continue;
    }
    worst_ratio = std::max(worst_ratio, measured / model.seconds);
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
  time_published(task, executor, simulated, worst_ratio, out, left);
  out["left_out"] = left;
  for (const Undecidable& u : undecidable()) {
    if (u.number > 31) out["no_program"].push_back({{"number", u.number}, {"title", u.title}, {"reason", u.reason}});
  }
  if (simulated) return;
  try {
    time_launches(executor, out);
  } catch (const DeviceError& e) {
    refused("launches", e);
    out["left_out"] = left;
  }
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

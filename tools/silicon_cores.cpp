// The sections of silicon-check about several cores, and the questions that go to the runtime itself.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include <trn/comm/collectives.hpp>
#include <trn/comm/group.hpp>
#include <trn/core/array.hpp>
#include <trn/neuron/silicon.hpp>
#include <trn/neuron/sim.hpp>

#include "silicon_items.hpp"
#include "silicon_raw.hpp"

namespace trn::tools::silicon {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// One line program after the other on each of these cores, all at once: microseconds of one round; of simulators,
// modelled.
double streaming_us(const std::vector<Executor>& cores, bool simulated, std::int64_t columns) {
  constexpr int kRounds = 8;
  std::vector<Array<float>> in, y;
  for (const Executor& core : cores) {
    in.push_back(Array<float>::from_host(core, {128 * columns}, numbers(128 * columns)));
    y.emplace_back(core, Shape{128 * columns});
  }
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < cores.size(); ++c) {
        run_line(cores[c], columns, in[c].view().data(), 0, y[c].view().data(), 0);
      }
    }
    for (const Executor& core : cores) core.synchronize();
  };
  rounds(1);  // compiled and loaded
  const auto clock = [&] {
    double latest = 0;
    for (const Executor& core : cores) latest = std::max(latest, tile::device_of(core).clock());
    return simulated ? latest : now();
  };
  const double begin = clock();
  rounds(kRounds);
  return (clock() - begin) / kRounds * 1e6;
}

// The largest value over the ranks of a group, by array size.
void time_collectives(const Task& task, int visible, Json& out) {
  out["collectives"] = Json::array();
  std::int64_t left = 0;
  const bool modelled = simulated(task.executor);
  for (const int ranks : {2, 4, 8}) {
    if (ranks > visible) continue;
    const comm::Group group = comm::Group::open(modelled ? fmt::format("{}x{}", task.executor, ranks)
                                                         : fmt::format("neuron:0-{}", ranks - 1));
    for (std::int64_t bytes = 1 << 10; bytes <= (modelled ? 1 << 20 : 64 << 20); bytes *= 16) {
      if (task.deadline.over()) {
        ++left;
        continue;
      }
      double seconds = 0;
      bool right = true;
      comm::run(group, [&](const comm::Communicator& c, const Executor& e) {
        const std::vector<float> mine(static_cast<std::size_t>(bytes / 4), static_cast<float>(c.rank()));
        const auto x = Array<float>::from_host(e, {bytes / 4}, mine);
        const auto clock = [&] { return modelled ? tile::device_of(e).clock() : now(); };
        const double begin = clock();
        comm::maximum(c, x.view());
        if (c.rank() != 0) return;
        seconds = clock() - begin;
        right = x.to_host().back() == static_cast<float>(ranks - 1);
      });
      out["collectives"].push_back({{"ranks", ranks}, {"bytes", bytes}, {"us", seconds * 1e6}, {"right", right}});
      if (!right) out["status"] = "findings";
    }
  }
  out["left_out"] = left;
}

}  // namespace

void check_cores(const Task& task, Json& out) {
  std::vector<Executor> cores;
  if (simulated(task.executor)) {
    cores = neuron::open_simulated_chip(task.executor.substr(4));
  } else {
    for (const char* name : {"neuron:0", "neuron:1"}) {
      try {
        cores.push_back(open_checked(name));
      } catch (const Error& e) {
        out["second_core"] = e.what();
      }
    }
  }
  out["cores"] = cores.size();
  Items items(out);
  constexpr std::int64_t kColumns = 512, kElements = 128 * kColumns;
  const std::vector<float> x = numbers(kElements);
  if (cores.size() < 2) {
    items.leave("two cores streaming", "fewer than two cores can be opened here");
  } else {
    items.ask("two cores streaming", "right", [&] {
      std::vector<Array<float>> in, y;
      for (std::size_t c = 0; c < 2; ++c) {
        in.push_back(Array<float>::from_host(cores[c], {kElements}, x));
        y.emplace_back(cores[c], Shape{kElements});
      }
      for (int repeat = 0; repeat < 4; ++repeat) {
        for (std::size_t c = 0; c < 2; ++c) {
          run_line(cores[c], kColumns, in[c].view().data(), 0, y[c].view().data(), 0);
        }
      }
      for (std::size_t c = 0; c < 2; ++c) {
        const std::vector<float> got = y[c].to_host();
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (got[i] != 2 * x[i] + 1) return fmt::format("core {}: element {} is wrong", c, i);
        }
      }
      return std::string("right");
    });
    items.ask("an array of another core bound to a program", "", [&] {
      const auto in = Array<float>::from_host(cores[0], {kElements}, x);
      const Array<float> y(cores[1], {kElements});
      run_line(cores[1], kColumns, in.view().data(), 0, y.view().data(), 0);
      return y.to_host() == x ? std::string("wrong") : std::string("taken");
    });
  }
  if (cores.size() >= 2) {
    const bool modelled = simulated(task.executor);
    out["streaming_us"] = {{"one core", streaming_us({cores[0]}, modelled, kColumns)},
                           {"two cores", streaming_us({cores[0], cores[1]}, modelled, kColumns)}};
    time_collectives(task, modelled ? static_cast<int>(cores.size()) : neuron::facts_of(cores[0]).visible_cores, out);
  }
}

void check_runtime(const Task& task, Json& out) {
  if (simulated(task.executor)) {
    out["status"] = "skipped";
    out["reason"] = "a simulator has no runtime";
    return;
  }
  Items items(out);
  constexpr std::int64_t kColumns = 16;
  {
    const Executor executor = open_checked(task.executor);
    const Raw raw(executor);
    items.ask("one tensor in both sets, not declared", "", [&] { return raw.run_in_one(kColumns, true); });
    items.ask("two tensors that overlap", "", [&] { return raw.run_in_one(kColumns, false); });
    items.ask("a tensor of no bytes", "", [&] { return raw.empty_tensor(false); });
    items.ask("a slice of no bytes", "", [&] { return raw.empty_tensor(true); });
    items.ask("runs that the queue takes", "", [&] { return raw.queue_depth(256); });
    items.ask("order in which runs are over", "", [&] { return raw.completion_order(); });
    if (neuron::facts_of(executor).visible_cores < 2) {
      items.leave("a tensor of another core", "fewer than two cores can be opened here");
    } else {
      const Executor other = open_checked("neuron:1");
      items.ask("a tensor of another core", "", [&] { return raw.run_across(kColumns, other); });
    }
    items.ask("two threads on one core", "", [&] { return raw.two_threads(); });
    items.ask("a forked child that calls the runtime", "", [&] { return raw.forked_child(); });
  }
}

void check_end(const Task& task, Json& out) {
  if (simulated(task.executor)) {
    out["status"] = "skipped";
    out["reason"] = "a simulator has no runtime";
    return;
  }
  Items items(out);
  constexpr std::int64_t kColumns = 16;
  {
    const Executor executor = open_checked(task.executor);
    const Raw raw(executor);
    items.ask("a run beyond the runtime's limit", "", [&] { return raw.run_beyond_the_limit(); });
    items.ask("a run on that core afterwards", "", [&] { return raw.run_across(kColumns, executor); });
    if (neuron::facts_of(executor).visible_cores < 2) {
      items.leave("a run on another core afterwards", "fewer than two cores can be opened here");
    } else {
      items.ask("a run on another core afterwards", "", [&] {
        const Executor other = open_checked("neuron:1");
        return Raw(other).run_across(kColumns, other);
      });
    }
  }
  items.ask("the runtime closed and started again", "", [] { return restarted_runtime(); });
}

}  // namespace trn::tools::silicon

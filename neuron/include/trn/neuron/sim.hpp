// The NeuronCore simulator as an executor: right bits, modelled time. docs/simulator.md is its contract.
//
//   auto exec = trn::neuron::open_simulator("trn2", {.order = Order::shuffled(7)});
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <trn/core/environment.hpp>
#include <trn/core/executor.hpp>
#include <trn/neuron/report.hpp>
#include <trn/tile/device.hpp>

namespace trn::neuron {

// Exact rounds to the declared dtype on every write and computes in fp32. Wide keeps every on-chip element as a double
// and computes in double, so that what remains is the algorithm's error; HBM keeps its declared dtypes.
enum class Storage : std::uint8_t { Exact, Wide };

enum class OrderKind : std::uint8_t { InOrder, Timed, Shuffled };
struct Order {
  OrderKind kind = OrderKind::Timed;
  std::uint64_t seed = 0;
  // Program order, no clock.
  static Order in_order() { return {OrderKind::InOrder}; }
  // Program order with the timing model: modelled seconds, per-engine busy time, bytes.
  static Order timed() { return {OrderKind::Timed}; }
  // Parallel iterations permuted and independent instructions interleaved at random, legally.
  static Order shuffled(std::uint64_t seed) { return {OrderKind::Shuffled, seed}; }
};

enum class Rounding : std::uint8_t { NearestEven, Stochastic };

struct SimOptions {
  Storage storage = Storage::Exact;
  Order order = Order::timed();
  Rounding rounding = Rounding::NearestEven;
  std::uint64_t rounding_seed = 0;
  // Also look for parallel iterations that touch the same bytes: costs a stamp per element, so it is asked for.
  bool check_races = false;
  // Runs, copies in and frees happen behind the caller, in order, as on a real device (executor.hpp); the bits and the
  // modelled times are the same. Unless given, as the environment variable TRN_SIM_QUEUED says.
  bool queued = environment_flag("TRN_SIM_QUEUED");
};

// One core with an HBM stack to itself.
[[nodiscard]] Executor open_simulator(std::string_view machine, const SimOptions& options = {});

// All cores of a chip, each an executor with its own queue and clock, named "sim:trn2#0" and so on. Cores of one stack
// share its memory: 24 GiB for two cores on trn2.
[[nodiscard]] std::vector<Executor> open_simulated_chip(std::string_view machine, const SimOptions& options = {});

// One run on caller-provided memory, without an executor: for tools and tests. In Timed order the report is filled.
RunReport simulate(const tile::Program& program, const tile::Machine& machine, std::span<const tile::Binding> bindings,
                   const SimOptions& options = {}, const ReportOptions& report = {});

// Modelled time without arithmetic or memory: some million instructions per second, so a 16384^3 gemm in well under one
// second. Time and memory grow with the number of executed instructions.
[[nodiscard]] RunReport estimate(const tile::Program& program, const tile::Machine& machine,
                                 const ReportOptions& report = {});

}  // namespace trn::neuron

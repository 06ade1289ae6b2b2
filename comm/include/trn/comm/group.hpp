// Group: several executors of this process, one thread each: the ranks of the `threads` transport.
//
//   auto group = trn::comm::Group::open("sim:trn2x8");            // a chip: eight cores
//   trn::comm::run(group, [](const Communicator& c, const Executor& e) { ... });   // the same program on every rank
//
// The cores of a simulated chip share HBM stacks as the machine's do, and their clocks meet in collective operations
// (docs/scale.md).
//
// A rank that throws ends the others: whoever waits for it throws CommError that names it, and run() throws what the
// first one threw.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <trn/comm/communicator.hpp>
#include <trn/core/executor.hpp>
#include <trn/tile/fabric.hpp>

namespace trn::comm {

class Group {
 public:
  // "hostx4": ranks that share the host's memory; "sim:trn2x8": the cores of one chip; "sim:trn2x8x16": eight cores of
  // each of 16 chips; "sim:trn2x8:lnc2": the cores of a chip as four ranks of two (LNC=2), each with a stack to itself;
  // "neuron:0-7", "neuron:0,2": cores of the hardware. Other names: InvalidArgument with a list.
  // Executors are opened here and not in the library, so that programs without Group::open link without neuron.
  [[nodiscard]] static Group open(std::string_view name) { return open(name, &Executor::open); }
  // The same with executors of one's own making, from "sim:trn2".
  [[nodiscard]] static Group open(std::string_view name, Executor (*open_executor)(std::string_view));
  explicit Group(std::vector<Executor> executors, std::string name = "group");

  [[nodiscard]] const std::string& name() const { return name_; }
  // What connects the ranks, and where they are: of groups of simulators that were opened by name.
  [[nodiscard]] const tile::Fabric* fabric() const { return fabric_; }
  [[nodiscard]] const tile::Placement& placement() const { return placement_; }
  [[nodiscard]] int size() const { return static_cast<int>(executors_.size()); }
  [[nodiscard]] const Executor& executor(int rank) const { return executors_.at(static_cast<std::size_t>(rank)); }

 private:
  std::vector<Executor> executors_;
  std::string name_;
  const tile::Fabric* fabric_ = nullptr;
  tile::Placement placement_ = {};
};

struct RunOptions {
  double watchdog_seconds = 0;      // a collective that waits longer is given up; 0: TRN_COMM_TIMEOUT, or 300
  bool one_thread_per_rank = true;  // OpenMP and BLAS use one thread in each rank
};

// program(communicator, executor) on every rank of the group.
void run(const Group& group, const std::function<void(const Communicator&, const Executor&)>& program,
         const RunOptions& options = {});

}  // namespace trn::comm

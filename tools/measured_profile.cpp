// Recorded runs: see measured_profile.hpp.
#include "measured_profile.hpp"

#include <fmt/format.h>

#include <trn/core/array.hpp>
#include <trn/neuron/silicon.hpp>
#include <trn/tile/launch.hpp>

namespace trn::tools {

neuron::PageTable measured_beside(const tile::Program& program, const neuron::RunReport& model) {
  const Executor executor = neuron::open_neuron({.profile = neuron::Profile::Trace});
  std::vector<Buffer> memory;
  memory.reserve(program.tensors().size());
  std::vector<tile::Argument> arguments;
  for (const tile::TensorDecl& t : program.tensors()) {
    if (t.kind == tile::TensorKind::Scratch) continue;
    bool continued = false;  // an output that continues it brings its memory
    for (const tile::TensorDecl& o : program.tensors()) continued = continued || o.alias == t.name;
    if (continued) continue;
    const OffsetRange range = offset_range(t.shape, t.strides);
    memory.emplace_back(executor, (range.highest - range.lowest + 1) * size_bytes(t.dtype));
    const std::vector<std::byte> zeros(static_cast<std::size_t>(memory.back().bytes()));
    copy_bytes(Executor::host(), zeros.data(), executor, memory.back().data(), memory.back().bytes());
    arguments.emplace_back(t.name, memory.back().data(), -range.lowest * size_bytes(t.dtype));
  }
  tile::launch(executor, program, arguments);
  const neuron::NeuronProfile recorded = neuron::profile_of(executor);
  std::map<std::string, double> summary = neuron::summary_of(recorded.traces.front());
  neuron::PageTable table{
      "Model and measurement",
      "Modelled by the simulator; measured on this machine, as neuron-explorer sums up the recording "
      "of one run. Seconds and bytes.",
      {{"", "modelled", "measured", "modelled / measured"}}};
  const auto both = [&](const char* name, double modelled) {
    const auto found = summary.find(name);
    if (found == summary.end()) return;
    table.rows.push_back({name, fmt::format("{:.6g}", modelled), fmt::format("{:.6g}", found->second),
                          found->second == 0 ? "-" : fmt::format("{:.3f}", modelled / found->second)});
    summary.erase(found);
  };
  both("total_time", model.seconds);
  both("dma_active_time", model.dma_active_seconds);
  both("hbm_read_bytes", static_cast<double>(model.hbm_read_bytes));
  both("hbm_write_bytes", static_cast<double>(model.hbm_write_bytes));
  for (const auto& [name, value] : summary) table.rows.push_back({name, "-", fmt::format("{:.6g}", value), "-"});
  return table;
}

}  // namespace trn::tools

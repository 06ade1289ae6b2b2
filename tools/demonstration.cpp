// What `./run` shows: one GEMM on the host and on three simulated machines, then the report page of one of them.
#include <cstdio>
#include <filesystem>

#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>

#include "commands.hpp"
#include "output.hpp"

namespace trn::tools {

void demonstration() {
  const auto gemm = gemm_operation();
  CLI::App options;  // the demonstration's shape goes in the way the command line would set it
  gemm->add_options(options);
  options.parse("--m 1024 --n 1024 --k 1024 --dtype bf16");
  fmt::print("C = A B, 1024 x 1024 x 1024, bfloat16, on every executor\n\n");
  Table table({"executor", "error", "bound", "measured", "modelled", "Tensor Engine", "Vector", "Scalar", "DMA"});
  for (const std::string& name : Executor::known()) {
    const BenchRow row = gemm->bench(name, {});
    std::vector<std::string> cells{name, fmt::format("{:.2e}", *row.error), fmt::format("{:.2e}", *row.bound), duration(*row.seconds)};
    if (row.modelled_seconds) {
      const tile::Machine& machine = tile::machine(name.substr(name.find(':') + 1));
      const auto report = neuron::estimate(gemm->program(machine), machine);
      cells.insert(cells.end(), {duration(*row.modelled_seconds), percent(report.utilisation("tensor")), percent(report.utilisation("vector")),
                                 percent(report.utilisation("scalar")), percent(report.dma_active_seconds / report.seconds)});
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-", "-"});
    }
    table.add(std::move(cells));
  }
  table.print();
  fmt::print("\nerror and bound in units of (|A||B|)_ij; measured on this machine (simulators: the time to simulate);\n"
             "modelled by the simulator, launch overhead included, never measured on silicon; engines: busy share of modelled time\n");
  const tile::Machine& machine = tile::machine("trn2");
  const std::string path = (std::filesystem::current_path() / "trnsci-report.html").string();
  neuron::write_html(neuron::estimate(gemm->program(machine), machine, {.keep_intervals = 200000}), machine, path);
  fmt::print("\nengine timeline and roofline of the trn2 run: {}\nmore: trnsci --help\n", path);
}

}  // namespace trn::tools

// The subcommands that show rather than measure: info, profile, emit, dis, validate.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <hwy/targets.h>
#include <omp.h>
#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/silicon.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/neuron/validation.hpp>
#include <trn/tile/print.hpp>
#include <trn/tile/reorder.hpp>
#include <trn/tile/serialize.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "silicon_report.hpp"

extern "C" char* openblas_get_config(void);

namespace trn::tools {

namespace {

void info() {
  fmt::print("trnsci {}\n\nexecutors\n", TRN_VERSION);
  for (const std::string& name : Executor::known()) {
    fmt::print("  {:<10} {}\n", name,
               name == "host"     ? "this machine, native"
               : name == "neuron" ? "device kernels by AWS's runtime library; never run on Trainium hardware"
                                  : "device kernels on a simulated NeuronCore: right bits, modelled time");
  }
  if (!neuron::has_neuron()) {
    fmt::print("  (neuron)   no Trainium is attached here; this executor was never run on hardware\n");
  }
  fmt::print("\nhost\n");
  fmt::print("  OpenBLAS   {}\n  threads    {}\n", openblas_get_config(), omp_get_max_threads());
  fmt::print("  SIMD       {}\n\nmachines\n", hwy::TargetName(hwy::SupportedTargets() & -hwy::SupportedTargets()));
  Table table({"", "trn1", "trn2", "trn3"});
  const auto line = [&](const char* what, auto value) {
    std::vector<std::string> cells{what};
    for (const tile::Machine& m : tile::machines()) cells.push_back(value(m));
    table.add(std::move(cells));
  };
  using tile::Machine;
  line("core", [](const Machine& m) { return std::string(m.core); });
  line("Tensor Engine clock", [](const Machine& m) { return fmt::format("{:.2f} GHz", m.tensor_hz * 1e-9); });
  line("Vector Engine clock", [](const Machine& m) { return fmt::format("{:.2f} GHz", m.vector_hz * 1e-9); });
  line("bf16/fp16/tf32 peak",
       [](const Machine& m) { return fmt::format("{:.1f} TF/s", m.tensor_flops(DType::BFloat16) * 1e-12); });
  line("fp32 peak",
       [](const Machine& m) { return fmt::format("{:.1f} TF/s", m.tensor_flops(DType::Float32) * 1e-12); });
  line("fp8 peak",
       [](const Machine& m) { return fmt::format("{:.1f} TF/s", m.tensor_flops(DType::Float8E5M2) * 1e-12); });
  line("MX fp8/fp4 peak", [](const Machine& m) {
    return m.microscaling ? fmt::format("{:.1f} TF/s", m.mx_flops() * 1e-12) : std::string("-");
  });
  line("SBUF per partition", [](const Machine& m) { return fmt::format("{} B", m.sbuf_bytes_per_partition); });
  line("PSUM per partition",
       [](const Machine& m) { return fmt::format("{} x {} B", m.psum_banks, m.psum_bank_bytes); });
  line("HBM per chip", [](const Machine& m) { return bytes(static_cast<double>(m.hbm_bytes_per_chip)); });
  line("HBM per stack", [](const Machine& m) { return bytes(static_cast<double>(m.hbm_bytes_per_stack())); });
  line("cores per chip", [](const Machine& m) { return fmt::format("{}", m.cores_per_chip); });
  line("DMA per core, model", [](const Machine& m) { return fmt::format("{:.0f} GB/s", m.dma_bytes_per_s() * 1e-9); });
  line("launch and finish, model", [](const Machine& m) { return duration(m.timing.launch_s + m.timing.finish_s); });
  table.print();
  fmt::print("one core each; sources beside every number in tile/src/machine.cpp\n");
}

struct Target {
  std::string machine = "trn2";
  std::string html, trace, save;
};

// A subcommand with one sub-subcommand per operation.
Command for_operations(Command& program, const Operations& operations, const char* name, const char* summary,
                       const std::function<void(Options&, Target&)>& more,
                       const std::function<void(const Operation&, const Target&)>& run) {
  Command parent = program.add(name, summary);
  parent.needs_one("operation");
  for (const auto& operation : operations) {
    Command sub = parent.add(operation->name(), operation->summary());
    auto target = std::make_shared<Target>();
    operation->add_options(sub);
    sub.machine(target->machine);
    more(sub, *target);
    sub.run([op = operation.get(), target, run] { run(*op, *target); });
  }
  return parent;
}

void profile(const Operation& operation, const Target& target) {
  constexpr std::int64_t kIntervals = 200000, kReordered = 20000;
  for (const auto& [option, path] : {std::pair{"--html", target.html}, {"--trace", target.trace}}) {
    if (!path.empty()) const OutputFile claim(option, path);  // a bad path costs nothing
  }
  const tile::Machine& machine = tile::machine(target.machine);
  const tile::Program program = operation.program(machine);
  const auto report = neuron::estimate(program, machine, {.keep_intervals = kIntervals});
  fmt::print("{} on {}: {} modelled, {} of it launch and finish\n", operation.name(), machine.name,
             duration(report.seconds), duration(report.launch_seconds + report.finish_seconds));
  if (program.dynamic_instructions() <= kReordered) {
    fmt::print("{} in an order that a compiler may choose\n",
               duration(neuron::estimate(tile::reorder(program, machine), machine).seconds));
  }
  Table table({"lane", "busy", "share", "instructions"});
  for (const neuron::Lane& lane : report.lanes) {
    table.add({lane.name, duration(lane.busy_s), percent(lane.busy_s / report.seconds),
               fmt::format("{}", lane.instructions)});
  }
  table.print();
  fmt::print("{:.2f} TF/s, {} of the Tensor Engine's peak; HBM read {}, written {}\n",
             report.matmul_flops / report.seconds * 1e-12, percent(report.tensor_roof_fraction()),
             bytes(static_cast<double>(report.hbm_read_bytes)), bytes(static_cast<double>(report.hbm_write_bytes)));
  if (!target.html.empty()) {
    neuron::write_html(report, machine, target.html);
    fmt::print("report: {}\n", target.html);
  }
  if (!target.trace.empty()) {
    neuron::write_trace(report, target.trace);
    fmt::print("trace: {} (open it in Perfetto or chrome://tracing)\n", target.trace);
  }
}

void validate(const std::string& path) {
  constexpr double kOutside = 0.25;
  JsonFile json(path);
  const auto rows = neuron::validate_timing();
  Table table({"published kernel", "kind", "machine", "measured", "modelled", "ratio", "reordered"});
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& r : rows) {
    const bool reordered = r.reordered_us > 0;
    table.add({r.name, std::string(name(r.kind)), r.machine, duration(r.measured_us * 1e-6),
               duration(r.modelled_us * 1e-6), fmt::format("{:.3f}", r.ratio()),
               reordered ? fmt::format("{:.3f}", r.reordered_us / r.measured_us) : "-"});
    out.push_back({{"name", r.name},
                   {"machine", r.machine},
                   {"source", r.source},
                   {"kind", name(r.kind)},
                   {"measured_us", r.measured_us},
                   {"modelled_us", r.modelled_us},
                   {"ratio", r.ratio()},
                   {"goal", true},
                   {"note", r.note}});
    if (reordered) out.back()["reordered_us"] = r.reordered_us;
  }
  json.write(out);
  if (json.replaces_text()) return;
  table.print();
  fmt::print(
      "reordered: the ratio in an order that a compiler may choose; - where the program is too long to be unrolled\n");
  for (const auto& r : rows) {
    if (std::abs(r.ratio() - 1) > kOutside) fmt::print("  {}, {}: {}\n", r.machine, r.name, r.note);
  }
  for (const auto kind : {neuron::RowKind::Fitted, neuron::RowKind::Predicted}) {
    const neuron::Deviation d = deviation(rows, kind);
    fmt::print("{} {} rows: median deviation {}, largest {}\n", d.rows, name(kind), percent(d.median),
               percent(d.largest));
  }
}

}  // namespace

void add_info(Command& program) { program.add("info", "executors, machine tables, versions").run(info); }

void add_profile(Command& program, const Operations& operations) {
  for_operations(
      program, operations, "profile", "modelled time of an operation, engine by engine",
      [](Options& options, Target& t) {
        options.text("--html", t.html, "write the report page to this file");
        options.text("--trace", t.trace, "write a Chrome/Perfetto trace to this file");
      },
      profile);
}

void add_emit(Command& program, const Operations& operations) {
  for_operations(
      program, operations, "emit", "print the device kernel as NKI source", [](Options&, Target&) {},
      [](const Operation& op, const Target& t) {
        fmt::print("{}", neuron::emit_nki(op.program(tile::machine(t.machine))));
      });
}

void add_disassemble(Command& program, const Operations& operations) {
  Command parent = for_operations(
      program, operations, "dis", "print the device kernel as a tile program",
      [](Options& options, Target& t) { options.text("--save", t.save, "also save the program to this file"); },
      [](const Operation& op, const Target& t) {
        const tile::Program program = op.program(tile::machine(t.machine));
        fmt::print("{}", tile::print(program));
        if (!t.save.empty()) tile::save(program, t.save);
      });
  auto path = std::make_shared<std::string>();
  Command file = parent.add("file", "print a program saved with --save");
  file.text("path", *path, "the program file").required();
  file.run([path] { fmt::print("{}", tile::print(tile::load(*path))); });
}

void add_validate(Command& program) {
  Command sub = program.add("validate", "the timing model against published hardware measurements");
  auto json = std::make_shared<std::string>(), from = std::make_shared<std::string>();
  Option as_json = sub.text("--json", *json, kJsonHelp);
  sub.text("--from", *from, "a report of silicon-check: print which constants its measurements would move")
      .excludes(as_json);
  sub.run([json, from] {
    if (from->empty()) return validate(*json);
    const std::vector<std::string> lines = silicon::moved_constants(silicon::read_report(*from));
    for (const std::string& line : lines) fmt::print("{}\n", line);
    fmt::print("{} constants would move\n", lines.size());
  });
}

}  // namespace trn::tools

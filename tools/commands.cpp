// The subcommands that show rather than measure: info, profile, emit, dis, validate.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <hwy/targets.h>
#include <omp.h>

#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/neuron/validation.hpp>
#include <trn/tile/print.hpp>
#include <trn/tile/reorder.hpp>
#include <trn/tile/serialize.hpp>

#include "commands.hpp"
#include "output.hpp"

extern "C" char* openblas_get_config(void);

namespace trn::tools {

namespace {

void info() {
  fmt::print("trnsci {}\n\nexecutors\n", TRN_VERSION);
  for (const std::string& name : Executor::known()) {
    fmt::print("  {:<10} {}\n", name,
               name == "host" ? "this machine, native"
                              : "device kernels on a simulated NeuronCore: right bits, modelled time");
  }
  fmt::print("  (silicon)  no binding in this version: nothing here was run on Trainium hardware\n\nhost\n");
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

void add_machine(CLI::App& app, Target& target) {
  std::vector<std::string> names;
  for (const tile::Machine& m : tile::machines()) names.emplace_back(m.name);
  app.add_option("--machine", target.machine, "trn1, trn2 or trn3")->check(CLI::IsMember(names))->capture_default_str();
}

// A subcommand with one sub-subcommand per operation.
void for_operations(CLI::App& app, const Operations& operations, const char* name, const char* summary,
                    const std::function<void(CLI::App&, Target&)>& more,
                    const std::function<void(const Operation&, const Target&)>& run) {
  CLI::App* parent = app.add_subcommand(name, summary);
  require_operation(*parent);
  for (const auto& operation : operations) {
    CLI::App* sub = parent->add_subcommand(operation->name(), operation->summary());
    auto target = std::make_shared<Target>();
    Options options(*sub);
    operation->add_options(options);
    add_machine(*sub, *target);
    more(*sub, *target);
    sub->callback([op = operation.get(), target, run] { run(*op, *target); });
  }
}

void profile(const Operation& operation, const Target& target) {
  constexpr std::int64_t kIntervals = 200000, kReordered = 20000;
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
  json.write(out);
}

}  // namespace

void require_operation(CLI::App& parent) {
  parent.require_subcommand(0, 1);
  parent.allow_extras();
  parent.callback([&parent] {
    if (!parent.get_subcommands().empty()) return;
    std::string known;
    for (const CLI::App* sub : parent.get_subcommands({})) known += (known.empty() ? "" : ", ") + sub->get_name();
    const auto words = parent.remaining();
    require(!words.empty(), "{}: which operation? Choose one of {}", parent.get_name(), known);
    fail<InvalidArgument>("{}: '{}' is not an operation; choose one of {}", parent.get_name(), words.front(), known);
  });
}

void add_info(CLI::App& app) { app.add_subcommand("info", "executors, machine tables, versions")->callback(info); }

void add_profile(CLI::App& app, const Operations& operations) {
  for_operations(
      app, operations, "profile", "modelled time of an operation, engine by engine",
      [](CLI::App& sub, Target& t) {
        sub.add_option("--html", t.html, "write the report page to this file");
        sub.add_option("--trace", t.trace, "write a Chrome/Perfetto trace to this file");
      },
      profile);
}

void add_emit(CLI::App& app, const Operations& operations) {
  for_operations(
      app, operations, "emit", "print the device kernel as NKI source", [](CLI::App&, Target&) {},
      [](const Operation& op, const Target& t) {
        fmt::print("{}", neuron::emit_nki(op.program(tile::machine(t.machine))));
      });
}

void add_disassemble(CLI::App& app, const Operations& operations) {
  for_operations(
      app, operations, "dis", "print the device kernel as a tile program",
      [](CLI::App& sub, Target& t) { sub.add_option("--save", t.save, "also save the program to this file"); },
      [](const Operation& op, const Target& t) {
        const tile::Program program = op.program(tile::machine(t.machine));
        fmt::print("{}", tile::print(program));
        if (!t.save.empty()) tile::save(program, t.save);
      });
  auto path = std::make_shared<std::string>();
  CLI::App* file = app.get_subcommand("dis")->add_subcommand("file", "print a program saved with --save");
  file->add_option("path", *path, "the program file")->required();
  file->callback([path] { fmt::print("{}", tile::print(tile::load(*path))); });
}

void add_validate(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("validate", "the timing model against published hardware measurements");
  auto json = std::make_shared<std::string>();
  sub->add_option("--json", *json, "also write the rows to this file");
  sub->callback([json] { validate(*json); });
}

}  // namespace trn::tools

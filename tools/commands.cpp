// The subcommands about the machines and the timing model: info, validate.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <omp.h>
#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>
#include <trn/core/instruction_set.hpp>
#include <trn/neuron/silicon.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/neuron/validation.hpp>

#include "commands.hpp"
#include "input_file.hpp"
#include "near_names.hpp"
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
               : name == "neuron" ? "device kernels by AWS's runtime library; never run on hardware"
                                  : "device kernels on a simulated NeuronCore: right bits, modelled time");
  }
  if (!neuron::has_neuron()) {
    fmt::print("  (neuron)   no Trainium is attached here; never run on hardware\n");
  }
  fmt::print("\nhost\n");
  for (const std::string& line : wrapped(fmt::format("  OpenBLAS   {}", openblas_get_config()), kColumns, 13))
    fmt::print("{}\n", line);
  fmt::print("  threads    {}\n", omp_get_max_threads());
  heed_instruction_set();
  fmt::print("  SIMD       {}\n\nmachines\n", instruction_set());
  std::vector<std::string> titles{""};
  for (const tile::Machine& m : tile::machines()) titles.emplace_back(m.name);
  Table table(titles);
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
  say("one core each; sources beside every number in tile/src/machine.cpp");
}

// How far a ratio is from 1, as a factor.
double factor_off(double ratio) { return std::max(ratio, 1 / ratio); }

// Tables by kind and machine, which would be columns that say the same in many rows.
class Groups {
 public:
  explicit Groups(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(const std::string& title, std::vector<std::string> row) {
    auto at = std::find_if(tables_.begin(), tables_.end(), [&](const auto& t) { return t.first == title; });
    if (at == tables_.end()) at = tables_.insert(at, {title, Table(header_)});
    at->second.add(std::move(row));
  }
  void print() const {
    for (const auto& [title, table] : tables_) {
      fmt::print("{}\n", title);
      table.print();
      fmt::print("\n");
    }
  }

 private:
  std::vector<std::string> header_;
  std::vector<std::pair<std::string, Table>> tables_;
};

// The keys that every compared row has in JSON.
template <class Row> nlohmann::ordered_json json_of(const Row& r, bool goal) {
  return {{"name", r.name},
          {"machine", r.machine},
          {"source", r.source},
          {"kind", name(r.kind)},
          {"measured_us", r.measured_us},
          {"modelled_us", r.modelled_us},
          {"ratio", r.ratio()},
          {"goal", goal},
          {"note", r.note}};
}

void validate_collectives(JsonFile* json) {
  const auto rows = neuron::validate_collectives();
  Groups table({"published collective", "measured", "modelled", "ratio", ""});
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  std::vector<double> off;
  for (const auto& r : rows) {
    table.add(fmt::format("{}, {}", r.machine, name(r.kind)),
              {r.name, duration(r.measured_us * 1e-6), duration(r.modelled_us * 1e-6), fmt::format("{:.3f}", r.ratio()),
               r.goal ? "" : "outlier"});
    out.push_back(json_of(r, r.goal));
    if (r.goal) off.push_back(factor_off(r.ratio()));
  }
  if (json) json->write(out);
  if (json && json->replaces_text()) return;
  table.print();
  std::ranges::sort(off);
  say("{} rows: median off by a factor of {:.2f}, largest {:.2f}; {} outliers", off.size(), off[off.size() / 2],
      off.back(), rows.size() - off.size());
  std::string last;
  for (const auto& r : rows) {
    if (!r.goal && r.note != last) say("  outliers, {}: {}", r.name.substr(0, r.name.rfind(',')), r.note);
    if (!r.goal) last = r.note;
  }
}

void validate(const std::string& path) {
  constexpr double kOutside = 0.25;
  JsonFile json(path);
  const auto rows = neuron::validate_timing();
  Groups table({"published kernel", "measured", "modelled", "ratio", "reordered"});
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& r : rows) {
    const bool reordered = r.reordered_us > 0;
    table.add(fmt::format("{}, {}", r.machine, name(r.kind)),
              {r.name, duration(r.measured_us * 1e-6), duration(r.modelled_us * 1e-6), fmt::format("{:.3f}", r.ratio()),
               reordered ? fmt::format("{:.3f}", r.reordered_us / r.measured_us) : "-"});
    out.push_back(json_of(r, true));
    if (reordered) out.back()["reordered_us"] = r.reordered_us;
  }
  json.write(out);
  if (json.replaces_text()) return;
  table.print();
  legend("reordered: the ratio in an order that a compiler may choose; - where the program is too long to be unrolled");
  legend("fitted: a constant was fitted to this row; predicted: none was");
  for (const auto& r : rows) {
    if (std::abs(r.ratio() - 1) > kOutside) say("  {}, {}: {}", r.machine, r.name, r.note);
  }
  for (const auto kind : {neuron::RowKind::Fitted, neuron::RowKind::Predicted}) {
    const neuron::Deviation d = deviation(rows, kind);
    say("{} {} rows: median deviation {}, largest {}", d.rows, name(kind), percent(d.median), percent(d.largest));
  }
  fmt::print("\n");
  validate_collectives(nullptr);
}

}  // namespace

void add_info(Command& program) { program.add("info", "executors, machine tables, versions").run(info); }

void add_validate(Command& program) {
  Command sub = program.add("validate", "the timing model against published hardware measurements");
  auto json = std::make_shared<std::string>(), from = std::make_shared<std::string>();
  Option as_json = sub.text("--json", *json, kJsonHelp);
  Option report =
      sub.text("--from", *from, "a report of silicon-check: print which constants its measurements would move");
  report.excludes(as_json);
  sub.explain();
  auto collectives = std::make_shared<bool>(false);
  sub.flag("--collectives", *collectives, "only collective operations between cores, chips and instances")
      .excludes(report);
  sub.run([json, from, collectives] {
    if (*collectives) {
      JsonFile file(*json);
      return validate_collectives(&file);
    }
    if (from->empty()) return validate(*json);
    require_readable("the report", *from);
    const std::vector<std::string> lines = silicon::moved_constants(silicon::read_report(*from));
    for (const std::string& line : lines) say_text(printable(line, line.size()));
    fmt::print("{} constants would move\n", lines.size());
  });
}

}  // namespace trn::tools

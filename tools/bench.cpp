// `trnsci bench <op>`: one row per executor, error beside speed.
#include <unistd.h>
#include <cstdio>

#include <trn/core/error.hpp>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"

namespace trn::tools {

namespace {

nlohmann::ordered_json to_json(const BenchRow& r) {
  const auto maybe = [](const std::optional<double>& v) {
    return v ? nlohmann::ordered_json(*v) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json shape = nlohmann::ordered_json::object();
  for (const auto& [name, value] : r.shape) std::visit([&](const auto& v) { shape[name] = v; }, value);
  nlohmann::ordered_json row = {{"op", r.op},
                                {"executor", r.executor},
                                {"dtype", r.dtype},
                                {"precision", r.precision},
                                {"shape", shape},
                                {"seconds", maybe(r.seconds)},
                                {"modelled_seconds", maybe(r.modelled_seconds)},
                                {"gflops", r.gflops},
                                {"roof_fraction", r.roof_fraction},
                                {"error", maybe(r.error)},
                                {"bound", maybe(r.bound)},
                                {"peer_seconds", maybe(r.peer_seconds)},
                                {"gbytes", maybe(r.gbytes)}};
  if (r.solver) {
    row["gemm_equivalents"] = r.solver->gemm_equivalents;
    row["condition"] = maybe(r.solver->condition);
    row["outcome"] =
        r.solver->outcome.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(r.solver->outcome);
  }
  return row;
}

struct Arguments {
  std::vector<std::string> executors;
  std::string json;
  BenchOptions options;
};

void run(const Operation& operation, const Arguments& arguments) {
  JsonFile json(arguments.json);
  Table table({"executor", "dtype", "measured", "modelled", operation.rate_unit(), "of roof", "GB/s", "OpenBLAS",
               "of it", "error", "bound"});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::vector<std::string> notes;
  std::optional<double> host_seconds;  // of the host's row, which simulators' times are compared with
  for (const std::string& executor : arguments.executors) {
    if (isatty(fileno(stderr))) progress("\r{} on {} ...\033[K", operation.name(), executor);
    const BenchRow r = operation.bench(executor, arguments.options);
    const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{:.2e}", *v) : std::string("-"); };
    table.add({r.executor, r.dtype, r.seconds ? duration(*r.seconds) : "-",
               r.modelled_seconds ? duration(*r.modelled_seconds) : "-", fmt::format("{:.1f}", r.gflops),
               percent(r.roof_fraction), r.gbytes ? fmt::format("{:.1f}", *r.gbytes) : "-",
               r.peer_seconds ? duration(*r.peer_seconds) : "-",
               r.peer_seconds ? fmt::format("{:.2f}", *r.seconds / *r.peer_seconds) : "-", number(r.error),
               number(r.bound)});
    rows.push_back(to_json(r));
    if (!r.note.empty()) notes.push_back(r.executor + ": " + r.note);
    if (r.executor == "host")
      host_seconds = r.seconds;
    else if (host_seconds && r.seconds && r.modelled_seconds) {
      notes.push_back(
          fmt::format("{}: simulated in {:.2f} times the host's time", r.executor, *r.seconds / *host_seconds));
    }
  }
  if (isatty(fileno(stderr))) progress("\r\033[K");
  json.write(rows);
  if (json.replaces_text()) return;
  table.print();
  for (const std::string& note : notes) fmt::print("{}\n", note);
  fmt::print(
      "measured: this machine's clock (for a simulator, the time it took to simulate); modelled: the simulator's "
      "timing model,\n"
      "{} and roof from it where it stands; OpenBLAS: called directly in the same run, and our time in units of it;\n"
      "error and bound: {}\n",
      operation.rate_unit(), operation.error_note());
}

}  // namespace

void add_bench(Command& program, const Operations& operations) {
  Command bench = program.add("bench", "time an operation on several executors, with its error");
  bench.needs_one("operation");
  for (const auto& operation : operations) {
    Command sub = bench.add(operation->name(), operation->summary());
    auto arguments = std::make_shared<Arguments>();
    arguments->executors = operation->default_executors();
    operation->add_options(sub);
    sub.texts("--exec", arguments->executors, "executors, separated by commas");
    sub.text("--json", arguments->json, kJsonHelp);
    sub.number("--repeats", arguments->options.repeats, "timed repetitions; the fastest counts", 1, 1000000);
    sub.flag("--model-only", arguments->options.model_only,
             "simulators: modelled time without the arithmetic, for large shapes");
    sub.flag("--cpu-time", arguments->options.cpu_time,
             "blas: processor time of the calling thread; with OMP_NUM_THREADS=1, on a busy machine");
    sub.run([op = operation.get(), arguments] { run(*op, *arguments); });
  }
}

}  // namespace trn::tools

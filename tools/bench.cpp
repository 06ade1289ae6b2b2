// `trnsci bench <op>`: one row per executor, error beside speed, in one frame for all operations.
#include <algorithm>
#include <exception>

#include <fmt/ranges.h>

#include <trn/core/error.hpp>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/format.hpp"
#include "user_words.hpp"

namespace trn::tools {

namespace {

using neuron::report::byte_rate_text, neuron::report::bytes_text, neuron::report::flop_rate_text,
    neuron::report::flops_text;

nlohmann::ordered_json to_json(const BenchRow& r, const std::string& unit) {
  const auto maybe = [](const std::optional<double>& v) {
    return v ? nlohmann::ordered_json(*v) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json shape = nlohmann::ordered_json::object();
  for (const auto& [name, value] : r.shape) std::visit([&](const auto& v) { shape[name] = v; }, value);
  const bool ran = r.refused.empty(), flops = ran && unit == "GFLOP/s";
  const double rate = r.rate() * 1e-9;
  const std::optional<double> bytes = r.byte_rate();
  nlohmann::ordered_json row = {{"op", r.op},
                                {"executor", r.executor},
                                {"dtype", r.dtype},
                                {"precision", r.precision},
                                {"shape", shape},
                                {"seconds", maybe(r.seconds)},
                                {"modelled_seconds", maybe(r.modelled_seconds)},
                                {"rate", ran ? maybe(rate) : nullptr},
                                {"rate_unit", unit},
                                {"gflops", flops ? maybe(rate) : nullptr},
                                {"roof_fraction", ran ? maybe(r.roof_fraction()) : nullptr},
                                {"error", maybe(r.error)},
                                {"bound", maybe(r.bound)},
                                {"peer", r.peer_seconds ? nlohmann::ordered_json(r.peer) : nullptr},
                                {"peer_seconds", maybe(r.peer_seconds)},
                                {"gbytes", bytes ? maybe(*bytes * 1e-9) : nullptr}};
  if (r.solver) {
    row["gemm_equivalents"] = r.solver->gemm_equivalents;
    row["condition"] = maybe(r.solver->condition);
    row["outcome"] =
        r.solver->outcome.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(r.solver->outcome);
  }
  if (!ran) row["refused"] = r.refused;
  return row;
}

struct Arguments {
  std::vector<std::string> executors;
  std::string json;
  BenchOptions options;
};

// The rows of all executors. One that cannot run the operation has a row that says so, unless all of them are such.
std::vector<BenchRow> rows_of(const Operation& operation, const Arguments& arguments) {
  std::vector<BenchRow> rows;
  std::exception_ptr first;
  bool some = false;
  for (const std::string& executor : arguments.executors) {
    const Stage stage(fmt::format("{} on {}", operation.name(), executor));
    try {
      rows.push_back(operation.bench(Executor::open(executor), arguments.options));
      some = true;
    } catch (const NotImplemented& e) {
      if (!first) first = std::current_exception();
      rows.emplace_back();
      rows.back().op = operation.name();
      rows.back().executor = executor;
      rows.back().refused = in_user_words(e.what(), operation.name());
      if (rows.back().refused.starts_with("bench: ")) rows.back().refused.erase(0, 7);
    }
  }
  if (!some && first) std::rethrow_exception(first);
  // All rows are about the same type and extents.
  for (const BenchRow& ran : rows) {
    if (!ran.refused.empty()) continue;
    for (BenchRow& row : rows)
      if (!row.refused.empty()) row.dtype = ran.dtype, row.precision = ran.precision, row.shape = ran.shape;
    break;
  }
  return rows;
}

std::string rate_text(double rate, const std::string& unit) {
  if (!(rate > 0)) return "-";
  if (unit == "GFLOP/s") return flop_rate_text(rate);
  if (unit == "GB/s") return byte_rate_text(rate);
  return fmt::format("{:.3g} {}", rate * 1e-9, unit);
}

// More than the roof of the host's memory: the operands were in the caches. Nothing runs above a device's.
std::string roof_text(const BenchRow& r) {
  const double fraction = r.roof_fraction();
  return fraction <= 0 ? "-" : fraction > 1 && r.executor == "host" ? "in cache" : percent(fraction);
}

// What every row is about: the operation, its type and extents, and its work.
std::string heading(const Operation& operation, const BenchRow& r) {
  std::string text = fmt::format("{}, {}", r.op, r.dtype);
  if (!r.precision.empty() && r.precision != "native") text += ", " + r.precision;
  for (std::size_t i = 0; i < r.shape.size(); ++i) {
    text += fmt::format("{} {}", i == 0 ? ":" : ",", r.shape[i].first);
    std::visit([&](const auto& v) { text += fmt::format(" {}", v); }, r.shape[i].second);
  }
  const std::string unit = operation.rate_unit();
  if (r.work > 0) {
    text += "; " + (unit == "GFLOP/s" ? flops_text(r.work)
                    : unit == "GB/s"  ? bytes_text(r.work) + " moved"
                                      : fmt::format("{:.0f} values", r.work));
  }
  if (r.bytes) text += ", " + bytes_text(*r.bytes) + " moved";
  return text;
}

void print(const Operation& operation, const std::vector<BenchRow>& rows, const std::string& again) {
  const auto ran = std::find_if(rows.begin(), rows.end(), [](const BenchRow& r) { return r.refused.empty(); });
  say_text(heading(operation, *ran));
  const auto compared = std::find_if(rows.begin(), rows.end(), [](const BenchRow& r) { return r.peer_seconds; });
  const std::string peer = compared == rows.end() ? "peer" : compared->peer;
  Table table({"executor", "measured", "modelled", "rate", "of roof", "bytes", peer, "error", "bound"});
  std::vector<std::string> notes;
  std::optional<double> host_seconds;  // of the host's row, which simulators' times are compared with
  const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{:.2e}", *v) : std::string("-"); };
  for (const BenchRow& r : rows) {
    if (!r.refused.empty()) {
      table.add({r.executor, "cannot", "-", "-", "-", "-", "-", "-", "-"});
      notes.push_back(r.executor + " cannot run it: " + r.refused);
      continue;
    }
    table.add({r.executor, r.seconds ? duration(*r.seconds) : "-",
               r.modelled_seconds ? duration(*r.modelled_seconds) : "-", rate_text(r.rate(), operation.rate_unit()),
               roof_text(r), r.byte_rate() ? byte_rate_text(*r.byte_rate()) : "-",
               r.peer_seconds ? fmt::format("x {:.2f}", *r.seconds / *r.peer_seconds) : "-", number(r.error),
               number(r.bound)});
    if (r.peer_seconds) {
      notes.push_back(fmt::format("{}: {} takes {} in the same run", r.executor, r.peer, duration(*r.peer_seconds)));
    }
    if (!r.note.empty()) notes.push_back(r.executor + ": " + r.note);
    if (r.error && r.bound && *r.error > *r.bound && *r.bound > 0) {
      notes.push_back(r.executor + ": the error is larger than the bound");
    }
    if (r.executor == "host")
      host_seconds = r.seconds;
    else if (host_seconds && r.seconds && r.modelled_seconds) {
      notes.push_back(
          fmt::format("{}: simulated in {:.2f} times the host's time", r.executor, *r.seconds / *host_seconds));
    }
  }
  table.print();
  for (const std::string& note : notes) say_text(note);
  legend("measured: this machine's clock (for a simulator, the time it took to simulate)");
  legend("modelled: the simulator's timing model; where it stands, rate and roof are from it");
  legend(
      "of roof: of the executor's arithmetic peak, or of its memory where that is the limit; in cache: more than "
      "memory gives");
  legend("bytes: read and written, per second");
  legend("{}: our time in units of this library's, called directly in the same run", peer);
  if (!operation.peer_note().empty()) legend("{}", operation.peer_note());
  legend("error and bound: {}", operation.error_note());
  const std::vector<std::string> lines = wrapped("again: " + again, kColumns - 2, 2);  // for a shell
  for (std::size_t i = 0; i < lines.size(); ++i) fmt::print("{}{}\n", lines[i], i + 1 < lines.size() ? " \\" : "");
}

void run(const Operation& operation, const Arguments& arguments, const Command& command) {
  JsonFile json(arguments.json);
  const std::vector<BenchRow> rows = rows_of(operation, arguments);
  std::vector<std::string> left_out = operation.unused_options();
  left_out.insert(left_out.end(), {"--json", "--explain", "--exec"});
  const auto line = [&](const std::vector<std::string>& executors) {
    return fmt::format("trnsci bench {}{} --exec {}", operation.name(), command.line(left_out),
                       fmt::join(executors, ","));
  };
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const BenchRow& r : rows) {
    all.push_back(to_json(r, operation.rate_unit()));
    all.back()["repeat"] = line({r.executor});
  }
  json.write(all);
  if (!json.replaces_text()) print(operation, rows, line(arguments.executors));
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
    sub.explain();
    sub.number("--repeats", arguments->options.repeats, "timed repetitions; the fastest counts", 1, 1000000);
    sub.flag("--model-only", arguments->options.model_only,
             "simulators: modelled time without the arithmetic, for large shapes");
    sub.flag("--cpu-time", arguments->options.cpu_time,
             "processor time of the calling thread where the operation can; with OMP_NUM_THREADS=1, on a busy machine");
    sub.run([op = operation.get(), arguments, sub] { run(*op, *arguments, sub); });
  }
}

}  // namespace trn::tools

// `trnsci einsum "ijk,kl->lij" --sizes i=24,j=16,k=72,l=8`: the path, the folded steps and their bounds, one execution
// with random operands, and a page with the contraction tree.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>
#include <trn/core/output_file.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tensor/plan_program.hpp>
#include <trn/tile/device.hpp>

#include "commands.hpp"
#include "einsum_case.hpp"
#include "einsum_page.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "output.hpp"

namespace trn::tools {

namespace {

struct Arguments {
  EinsumCase what;
  std::string executor = "host", json, html;
  bool explain = false, plan_only = false;
  int repeats = 5;
};

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The estimate of a plan's program; none where there is no model, or blas has a part in it (Exact), or for slices.
std::optional<double> estimated(const Executor& executor, const tensor::Plan& plan) {
  if (!has_model(executor) || plan.slices().passes > 1) return std::nullopt;
  try {
    return neuron::estimate(tensor::plan_program(plan), tile::device_of(executor).machine()).seconds;
  } catch (const NotImplemented&) {
    return std::nullopt;
  }
}

void run(const Arguments& a) {
  require_different_files({{"--html", a.html}, {"--json", a.json}});
  require(a.html != "-", "--html: the page goes to a file; '-' is for --json alone");
  JsonFile file(a.json);
  if (!a.html.empty()) const OutputFile claim("--html", a.html);  // a bad path costs nothing
  const bool numbers_only = file.replaces_text();
  const Executor executor = Executor::open(a.executor);
  const EinsumOperands operands(executor, a.what);
  const tensor::Plan plan(executor, operands.description());
  nlohmann::ordered_json json;
  json["op"] = "tensor.einsum";
  json["executor"] = executor.name();
  json["dtype"] = name(parse_dtype(a.what.dtype));
  json["precision"] = a.what.precision;
  json["expression"] = tensor::to_string(operands.description().expression);
  json["shape"] = a.what.sizes;
  json["path"] = nlohmann::ordered_json::array();
  for (const tensor::PathStep& s : plan.slices().path.steps) json["path"].push_back({s.left, s.right});
  json["flops"] = plan.flops();
  json["moved_bytes"] = plan.moved_bytes();
  json["workspace_bytes"] = plan.workspace_bytes();
  json["passes"] = plan.slices().passes;
  json["bound"] = plan.accuracy().bound;
  json["steps"] = nlohmann::ordered_json::array();
  for (const tensor::Step& s : plan.steps()) {
    json["steps"].push_back({{"labels", s.labels},
                             {"folded", s.folded},
                             {"algorithm", s.algorithm},
                             {"mode", name(s.mode)},
                             {"flops", s.flops},
                             {"bytes", s.bytes},
                             {"bound", s.bound},
                             {"seconds", s.seconds}});
  }
  if ((a.explain || a.plan_only) && !numbers_only) say_text(without_end(plan.explain()));
  json["seconds"] = nullptr;
  json["modelled_seconds"] = nullptr;
  json["plan_seconds"] = plan.seconds();
  std::string line;  // what the text says of the whole
  if (a.plan_only) {
    const std::optional<double> modelled = estimated(executor, plan);
    if (modelled) json["modelled_seconds"] = *modelled;
    line = modelled ? fmt::format("{} modelled", duration(*modelled))
                    : fmt::format("{} by the plan's estimate of its steps", duration(plan.seconds()));
    if (!numbers_only) say("{} on {}: {}", json["expression"].get<std::string>(), executor.name(), line);
  } else {
    tensor::EinsumResult result;
    const Recorder recorder(executor);
    const Measured measured =
        measure(executor, a.repeats, [&] { result = plan.execute(operands.operands(), operands.output()); });
    // A simulator's own time says nothing about the machine: its rate is that of the modelled time.
    const bool modelled = has_model(executor);
    const double seconds = modelled ? recorder.modelled_seconds() : measured.fastest_s;
    const bool has_rate = plan.flops() > 0 && seconds > 0;  // an empty extent leaves nothing to do
    line = fmt::format("{}{}, {} GFLOP/s, bound {:.2e}", duration(seconds), modelled ? " modelled" : "",
                       has_rate ? fmt::format("{:.1f}", plan.flops() / seconds * 1e-9) : "-", result.accuracy.bound);
    if (!numbers_only) say("{} on {}: {}", json["expression"].get<std::string>(), executor.name(), line);
    json["seconds"] = measured.fastest_s;
    if (modelled) json["modelled_seconds"] = seconds;
    json["gflops"] = nullptr;
    if (has_rate) json["gflops"] = plan.flops() / seconds * 1e-9;
    json["bound"] = result.accuracy.bound;
  }
  file.write(json);
  if (a.html.empty()) return;
  std::string sizes;
  for (const std::string& s : a.what.sizes) sizes += (sizes.empty() ? "" : ", ") + s;
  const auto expression = json["expression"].get<std::string>();
  EinsumPage page{expression,
                  {{"command", command_line()},
                   {"operation", "tensor.einsum: a product of tensors, summed over labels"},
                   {"shape", sizes},
                   {"dtype", json["dtype"].get<std::string>()},
                   {"precision", a.what.precision},
                   {"machine", executor.name()},
                   {"version", fmt::format("trnsci {}", TRN_VERSION)}},
                  {}};
  page.lines.push_back(fmt::format("{}: {}.", a.plan_only ? "Not run" : "One execution", line));
  page.lines.push_back(fmt::format("{} contractions, {:.4g} flop, {:.4g} MB moved, {:.4g} MB of intermediates{}.",
                                   plan.slices().path.steps.size(), plan.flops(), plan.moved_bytes() * 1e-6,
                                   static_cast<double>(plan.intermediate_bytes()) * 1e-6,
                                   plan.slices().passes > 1 ? fmt::format(", {} passes", plan.slices().passes) : ""));
  write_einsum_page(a.html, page, plan);
  if (!numbers_only) say("page: {}", a.html);
}

}  // namespace

void add_einsum(Command& program) {
  Command command = program.add("einsum", "a product of tensors: its path, steps and bounds, and its time");
  auto a = std::make_shared<Arguments>();
  command.text("expression", a->what.text, "like \"ijk,kl->lij\"").required();
  command.texts("--sizes", a->what.sizes, "extents by label: i=24,j=16").required();
  command.text("--operators", a->what.operators, "functions of the operands, then of the result: exp,identity,relu");
  command.text("--dtype", a->what.dtype, "of operands and result")
      .completes({"fp32", "fp64", "complex64", "complex128", "bf16", "fp16"});
  command.text("--precision", a->what.precision, "a mode, or target=1e-6").completes(precision_words());
  command.text("--exec", a->executor, "where it runs");
  command.text("--path", a->what.path, "how the order of contractions is found", path_names());
  command.number("--memory", a->what.memory_bytes, "bytes of intermediates at most; 0: no limit", 0, kAnyCount);
  command.number("--repeats", a->repeats, "runs, the fastest counts", 1, 1000);
  command.flag("--explain", a->explain, "print the steps");
  command.flag("--plan-only", a->plan_only, "print the steps and the time that is modelled, and run nothing");
  command.text("--json", a->json, kJsonHelp);
  command.text("--html", a->html, "write the contraction tree and the steps to this file as a page");
  command.run([a] { run(*a); });
}

}  // namespace trn::tools

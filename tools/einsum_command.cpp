// `trnsci einsum "ijk,kl->lij" --sizes i=24,j=16,k=72,l=8`: the path, the folded steps and their bounds, and one
// execution with random operands.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>

#include "commands.hpp"
#include "einsum_case.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "output.hpp"

namespace trn::tools {

namespace {

struct Arguments {
  EinsumCase what;
  std::string executor = "host", json;
  bool explain = false, plan_only = false;
  int repeats = 5;
};

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void run(const Arguments& a) {
  JsonFile file(a.json);
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
                             {"bound", s.bound}});
  }
  if ((a.explain || a.plan_only) && !numbers_only) say_text(without_end(plan.explain()));
  json["seconds"] = nullptr;
  json["modelled_seconds"] = nullptr;
  if (!a.plan_only) {
    tensor::EinsumResult result;
    const Recorder recorder(executor);
    const Measured measured =
        measure(executor, a.repeats, [&] { result = plan.execute(operands.operands(), operands.output()); });
    // A simulator's own time says nothing about the machine: its rate is that of the modelled time.
    const bool modelled = has_model(executor);
    const double seconds = modelled ? recorder.modelled_seconds() : measured.fastest_s;
    const bool has_rate = plan.flops() > 0 && seconds > 0;  // an empty extent leaves nothing to do
    if (!numbers_only) {
      say("{} on {}: {}{}, {} GFLOP/s, bound {:.2e}", json["expression"].get<std::string>(), executor.name(),
          duration(seconds), modelled ? " modelled" : "",
          has_rate ? fmt::format("{:.1f}", plan.flops() / seconds * 1e-9) : "-", result.accuracy.bound);
    }
    json["seconds"] = measured.fastest_s;
    if (modelled) json["modelled_seconds"] = seconds;
    json["gflops"] = nullptr;
    if (has_rate) json["gflops"] = plan.flops() / seconds * 1e-9;
    json["bound"] = result.accuracy.bound;
  }
  file.write(json);
}

}  // namespace

void add_einsum(Command& program) {
  Command command = program.add("einsum", "a product of tensors: its path, steps and bounds, and its time");
  auto a = std::make_shared<Arguments>();
  command.text("expression", a->what.text, "like \"ijk,kl->lij\"").required();
  command.texts("--sizes", a->what.sizes, "extents by label: i=24,j=16").required();
  command.text("--dtype", a->what.dtype, "of operands and result")
      .completes({"fp32", "fp64", "complex64", "complex128", "bf16", "fp16"});
  command.text("--precision", a->what.precision, "a mode, or target=1e-6").completes(precision_words());
  command.text("--exec", a->executor, "where it runs");
  command.text("--path", a->what.path, "how the order of contractions is found", path_names());
  command.number("--memory", a->what.memory_bytes, "bytes of intermediates at most; 0: no limit", 0, kAnyCount);
  command.number("--repeats", a->repeats, "runs, the fastest counts", 1, 1000);
  command.flag("--explain", a->explain, "print the steps");
  command.flag("--plan-only", a->plan_only, "print the steps and run nothing");
  command.text("--json", a->json, kJsonHelp);
  command.run([a] { run(*a); });
}

}  // namespace trn::tools

// Summaries of recorded runs by AWS's neuron-explorer, which is run as a process of its own.
#include <nlohmann/json.hpp>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/silicon.hpp>

#include "neff/files.hpp"
#include "neff/worker.hpp"

namespace trn::neuron {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Numbers by name, however deep they lie; of two with one name the first.
void gather(const Json& value, const std::string& name, std::map<std::string, double>& found) {
  if (value.is_number()) {
    found.emplace(name, value.get<double>());
  } else if (value.is_object()) {
    for (const auto& [key, part] : value.items()) gather(part, key, found);
  } else if (value.is_array()) {
    for (const Json& part : value) gather(part, name, found);
  }
}

}  // namespace

std::map<std::string, double> summary_of(const ProgramTrace& trace) {
  constexpr double kLimit = 600;
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const std::string program = environment("TRN_NEURON_EXPLORER", "neuron-explorer");
  const neff::TemporaryFolder folder("explorer");
  const fs::path output = folder.path() / "summary.json";
  const neff::Ending ending = neff::run_worker({program, "view", "-n", fs::absolute(trace.neff).string(), "-s",
                                                fs::absolute(trace.ntff).string(), "--output-format", "summary-json"},
                                               folder.path(), output, kLimit);
  const std::string text = neff::read_file(output, kMost).value_or("");
  // It may say other things first.
  const std::size_t begin = text.find('{'), end = text.rfind('}');
  std::map<std::string, double> found;
  if (ending.kind == neff::Ending::Kind::Exit && ending.number == 0 && begin < end && end != std::string::npos) {
    gather(Json::parse(text.substr(begin, end + 1 - begin), nullptr, false), "", found);
  }
  if (found.empty()) {
    throw DeviceError(
        fmt::format("{} view of '{}' gives no summary: {}; install aws-neuronx-tools, or name the program by "
                    "TRN_NEURON_EXPLORER\n{}",
                    program, trace.ntff.string(), ending.text(), text.substr(0, 1000)),
        "no-explorer");
  }
  return found;
}

}  // namespace trn::neuron

// Who has the machine's cores, by AWS's neuron-ls, which is run as a process of its own: for an error.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <trn/core/error.hpp>

#include "library.hpp"
#include "neff/files.hpp"
#include "neff/worker.hpp"

namespace trn::neuron::nrt {

std::string core_owners() {
  using Json = nlohmann::json;
  constexpr double kLimit = 5;
  constexpr std::size_t kMost = std::size_t{1} << 20, kNamed = 4, kShown = 60;
  std::string text;
  try {
    const neff::TemporaryFolder folder("neuron-ls");
    const auto output = folder.path() / "list.json";
    const neff::Ending ending = neff::run_worker({"neuron-ls", "-j"}, folder.path(), output, kLimit);
    if (ending.kind != neff::Ending::Kind::Exit || ending.number != 0) return "";
    text = neff::read_file(output, kMost).value_or("");
  } catch (const Error&) {
    return "";  // the error that this is for is the one that counts
  }
  const Json devices = Json::parse(text, nullptr, false);
  std::vector<std::string> owners;
  for (const Json& device : devices.is_array() ? devices : Json::array()) {
    const auto processes = device.is_object() ? device.find("neuron_processes") : device.end();
    if (processes == device.end() || !processes->is_array()) continue;
    for (const Json& process : *processes) {
      if (!process.is_object() || !process.value("pid", Json()).is_number_integer()) continue;
      const Json command = process.value("command", Json());
      std::string shown = command.is_string() ? command.get<std::string>().substr(0, kShown) : "";
      std::erase_if(shown, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
      const std::string owner =
          fmt::format("process {}{}", process["pid"].get<std::int64_t>(), shown.empty() ? "" : " (" + shown + ")");
      if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
    }
  }
  std::string list;
  for (std::size_t i = 0; i < std::min(owners.size(), kNamed); ++i) list += (i > 0 ? ", " : "") + owners[i];
  return owners.size() > kNamed ? fmt::format("{} and {} more", list, owners.size() - kNamed) : list;
}

}  // namespace trn::neuron::nrt

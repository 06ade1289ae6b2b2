// Executor::open: the one place that knows every kind of executor.
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/neuron/sim.hpp>

namespace trn {

std::vector<std::string> Executor::known() {
  std::vector<std::string> names{"host"};
  for (const tile::Machine& m : tile::machines()) names.push_back(fmt::format("sim:{}", m.name));
  return names;
}

Executor Executor::open(std::string_view wanted) {
  // The host is the best there is where no Trainium is attached, and this build has no binding to one.
  if (wanted.empty() || wanted == "host") return host();
  std::string list;
  for (const std::string& name : known()) {
    if (name == wanted) return neuron::open_simulator(wanted.substr(wanted.find(':') + 1));
    list += (list.empty() ? "" : ", ") + name;
  }
  fail<InvalidArgument>("executor: '{}' is not known; choose one of {}", wanted, list);
}

}  // namespace trn

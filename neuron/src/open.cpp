// Executor::open: the one place that knows every kind of executor.
#include <charconv>
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/neuron/silicon.hpp>
#include <trn/neuron/sim.hpp>

namespace trn {

namespace {

// "neuron" or "neuron:3".
Executor open_core(std::string_view wanted) {
  neuron::NeuronOptions options;
  if (wanted.size() > 6) {
    const std::string_view number = wanted.substr(7);
    require(number.find('-', 1) == std::string_view::npos && number.find(',') == std::string_view::npos,
            "executor: '{}' is a group of cores, an executor is one: open neuron:0, or the group by comm::Group::open",
            wanted);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), options.core);
    require(error == std::errc() && end == number.data() + number.size() && options.core >= 0,
            "executor: '{}': '{}' is not the number of a core; write neuron:0", wanted, number);
  }
  return neuron::open_neuron(options);
}

// The first core unless all belong to other processes: then the host is the best there is.
Executor open_best() {
  if (!neuron::has_neuron()) return Executor::host();
  try {
    return neuron::open_neuron();
  } catch (const DeviceError& e) {
    if (e.check() != "cores-busy") throw;
    return Executor::host();
  }
}

}  // namespace

std::vector<std::string> Executor::known() {
  std::vector<std::string> names{"host"};
  for (const tile::Machine& m : tile::machines()) names.push_back(fmt::format("sim:{}", m.name));
  if (neuron::has_neuron()) names.emplace_back("neuron");
  return names;
}

Executor Executor::open(std::string_view wanted) {
  if (wanted.empty()) return open_best();
  if (wanted == "host") return host();
  if ((wanted == "neuron" || wanted.starts_with("neuron:")) && neuron::has_neuron()) return open_core(wanted);
  std::string list;
  for (const std::string& name : known()) {
    if (name == wanted) return neuron::open_simulator(wanted.substr(wanted.find(':') + 1));
    list += (list.empty() ? "" : ", ") + name;
  }
  fail<InvalidArgument>("executor: '{}' is not known; choose one of {}", wanted, list);
}

}  // namespace trn

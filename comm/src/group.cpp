// Names of groups: "hostx4", "sim:trn2x8", "sim:trn2x8x16", "sim:trn2x8:lnc2", "neuron:0-7".
#include <trn/comm/group.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <trn/tile/machine.hpp>
#include <trn/tile/shared_stack.hpp>

namespace trn::comm {
namespace {

constexpr int kMostRanks = 1024;

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
  std::string machines;
  for (const tile::Machine& m : tile::machines()) {
    machines += fmt::format(", sim:{}x{} (the cores of a chip), sim:{}x{}x16 (of 16 chips)", m.name, m.cores_per_chip,
                            m.name, m.cores_per_chip);
  }
  fail<InvalidArgument>(
      "group: '{}' {}; write hostx4 (ranks that share the host){}, neuron:0-7 (cores of the hardware)", name, why,
      machines);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "8", "8x16": all at least 1.
std::vector<int> numbers(std::string_view name, std::string_view text) {
  std::vector<int> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const std::string_view digits = trimmed(text.substr(begin, end - begin));
    int value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || stop != digits.data() + digits.size() || value < 1) {
      refuse(name, fmt::format("has '{}' where a number of ranks from 1 to {} belongs", digits, kMostRanks));
    }
    result.push_back(value);
    begin = end + 1;
  }
  return result;
}

// Takes ":lnc1" or ":lnc2" off the end: how many physical cores a rank has.
int logical_core(std::string_view name, std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return 1;
  const std::string_view words = trimmed(rest.substr(colon + 1));
  if (words != "lnc1" && words != "lnc2") {
    refuse(name, fmt::format("has '{}' where the physical cores of a rank belong, lnc1 or lnc2", words));
  }
  rest = trimmed(rest.substr(0, colon));
  return words == "lnc1" ? 1 : 2;
}

void check_pairs(std::string_view name, std::string_view machine, int cores, int lnc) {
  if (machine == "trn1") refuse(name, "asks for ranks of two cores; a rank of trn1 is one core");
  if (cores % lnc != 0) refuse(name, fmt::format("has {} cores of a chip, which are no whole pairs", cores));
}

// Ranks of one chip that have one stack between them.
void share_stacks(const std::vector<Executor>& executors, int ranks_of_chip, std::int64_t ranks_of_stack) {
  for (std::size_t r = 0; r < executors.size(); ++r) {
    const std::size_t place = r % static_cast<std::size_t>(ranks_of_chip),
                      first = r - place % static_cast<std::size_t>(ranks_of_stack);
    auto* const mine = dynamic_cast<tile::SharedStack*>(&executors[r].backend());
    auto* const theirs = dynamic_cast<tile::SharedStack*>(&executors[first].backend());
    if (mine && theirs && mine != theirs) mine->share_stack_of(*theirs);
  }
}

// "neuron:0-7", "neuron:1,3", "neuron:0-3,6": cores of the hardware, one rank each in this order.
Group open_cores(std::string_view name, std::string_view wanted, Executor (*open_executor)(std::string_view)) {
  std::vector<Executor> executors;
  std::string_view rest = wanted.substr(wanted.find(':') + 1);
  const auto number = [&](std::string_view digits) {
    int value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || stop != digits.data() + digits.size() || value < 0) {
      refuse(name, fmt::format("has '{}' where the number of a core belongs", digits));
    }
    return value;
  };
  std::vector<int> cores;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = trimmed(rest.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    const std::size_t dash = part.find('-');
    const int first = number(part.substr(0, dash)),
              last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (last < first) refuse(name, fmt::format("has '{}', which ends before it begins", part));
    if (last - first >= kMostRanks) refuse(name, fmt::format("has more than {} ranks", kMostRanks));
    for (int core = first; core <= last; ++core) {
      if (std::find(cores.begin(), cores.end(), core) != cores.end()) {
        refuse(name, fmt::format("names core {} twice", core));
      }
      cores.push_back(core);
    }
  }
  try {
    for (const int core : cores) executors.push_back(open_executor(fmt::format("neuron:{}", core)));
  } catch (const InvalidArgument& e) {
    refuse(name, fmt::format("cannot be opened here ({})", e.what()));
  }
  return Group(std::move(executors), std::string(wanted));
}

}  // namespace

Group Group::open(std::string_view name, Executor (*open_executor)(std::string_view)) {
  const std::string_view wanted = trimmed(name);
  std::string_view base = wanted;
  std::int64_t cores_per_chip = 0;
  if (wanted.starts_with("neuron:")) return open_cores(name, wanted, open_executor);
  if (wanted.starts_with("host")) {
    base = "host";
  } else {
    std::size_t length = 0;
    for (const tile::Machine& m : tile::machines()) {
      const std::string sim = fmt::format("sim:{}", m.name);
      if (!wanted.starts_with(sim) || sim.size() <= length) continue;
      length = sim.size();
      cores_per_chip = m.cores_per_chip;
    }
    if (length == 0) refuse(name, "is not known");
    base = wanted.substr(0, length);
  }
  std::string_view rest = trimmed(wanted.substr(base.size()));
  const int lnc = cores_per_chip > 0 ? logical_core(name, rest) : 1;
  if (!rest.starts_with('x')) refuse(name, rest.empty() ? "does not say how many ranks" : "is not known");
  const std::vector<int> counts = numbers(name, rest.substr(1));
  const std::size_t most = cores_per_chip > 0 ? 2 : 1;
  if (counts.size() > most) refuse(name, fmt::format("has {} numbers", counts.size()));
  if (cores_per_chip > 0 && counts[0] > cores_per_chip) {
    refuse(name, fmt::format("asks for {} cores of a chip that has {}", counts[0], cores_per_chip));
  }
  if (lnc > 1) check_pairs(name, base.substr(base.find(':') + 1), counts[0], lnc);
  std::int64_t ranks = 1;
  for (const int count : counts) ranks = std::min<std::int64_t>(ranks * count, kMostRanks + 1);
  if (ranks > kMostRanks) refuse(name, fmt::format("has more than {} ranks", kMostRanks));
  ranks /= lnc;
  std::vector<Executor> executors;
  for (std::int64_t r = 0; r < ranks; ++r) {
    executors.push_back(cores_per_chip > 0 ? open_executor(base) : Executor::host());
  }
  if (cores_per_chip == 0) return Group(std::move(executors), std::string(wanted));
  const std::string_view machine = base.substr(base.find(':') + 1);
  const int per_chip = counts[0] / lnc;
  share_stacks(executors, per_chip, std::max<std::int64_t>(1, tile::machine(machine).cores_per_stack() / lnc));
  Group group(std::move(executors), std::string(wanted));
  group.fabric_ = &tile::fabric(machine);
  const int chips = counts.size() > 1 ? counts[1] : 1, node = group.fabric_->chips_per_node();
  group.placement_ = {
      .ranks = per_chip, .chips = std::min(chips, node), .nodes = (chips + node - 1) / node, .lnc = lnc};
  return group;
}

Group::Group(std::vector<Executor> executors, std::string name)
    : executors_(std::move(executors)), name_(std::move(name)) {
  require(!executors_.empty(), "group: '{}' has no executors; give at least one", name_);
}

}  // namespace trn::comm

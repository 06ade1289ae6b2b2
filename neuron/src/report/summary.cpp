// The checks and counts behind summary.hpp, every one a pure function of the report.
#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numeric>
#include <set>
#include <trn/core/error.hpp>
#include <trn/tile/instruction.hpp>

#include "format.hpp"

namespace trn::neuron::report {

namespace {

bool is_engine(std::string_view word) {
  for (const tile::Engine e : {tile::Engine::Any, tile::Engine::Tensor, tile::Engine::Vector, tile::Engine::Scalar,
                               tile::Engine::GpSimd, tile::Engine::Dma}) {
    if (word == tile::name(e)) return true;
  }
  return false;
}

}  // namespace

void require_drawable(const RunReport& r, std::string_view operation) {
  for (const double value :
       {r.seconds, r.launch_seconds, r.dma_active_seconds, r.matmul_flops, r.tensor_peak_flops, r.throttled_seconds}) {
    require(std::isfinite(value) && value >= 0,
            "{}: the report of '{}' holds the number {}; it must be finite and >= 0", operation, r.program, value);
  }
  for (const Lane& lane : r.lanes) {
    require(std::isfinite(lane.busy_s), "{}: lane '{}' is busy for {} s; it must be finite", operation, lane.name,
            lane.busy_s);
  }
  for (std::size_t i = 0; i < r.intervals.size(); ++i) {
    const Interval& at = r.intervals[i];
    require(at.lane >= 0 && static_cast<std::size_t>(at.lane) < r.lanes.size(),
            "{}: interval {} is in lane {}, but the report has {} lanes", operation, i, at.lane, r.lanes.size());
    require(std::isfinite(at.begin_s) && std::isfinite(at.end_s) && at.begin_s <= at.end_s,
            "{}: interval {} runs from {} s to {} s; both must be finite and in order", operation, i, at.begin_s,
            at.end_s);
  }
}

std::string_view opcode_of(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return "instruction";
    const std::size_t end = std::min(text.find_first_of(kBlank, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!is_engine(word)) return word;
    text.remove_prefix(end);
  }
}

std::string_view text_of(const RunReport& report, std::int32_t instruction) {
  const bool known = instruction >= 0 && static_cast<std::size_t>(instruction) < report.instruction_text.size();
  return known ? std::string_view(report.instruction_text[static_cast<std::size_t>(instruction)]) : std::string_view();
}

std::vector<std::size_t> by_lane_and_time(const RunReport& report) {
  std::vector<std::size_t> order(report.intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Interval &x = report.intervals[a], &y = report.intervals[b];
    return x.lane != y.lane ? x.lane < y.lane : x.begin_s < y.begin_s;
  });
  return order;
}

bool intervals_were_cut(const RunReport& report) {
  return report.instructions > static_cast<std::int64_t>(report.intervals.size());
}

std::string cut_note(const RunReport& report) {
  if (!intervals_were_cut(report)) return "";
  if (report.intervals.empty()) {
    return fmt::format("No timeline was kept: set ReportOptions::keep_intervals to see the {} executed instructions.",
                       grouped(report.instructions));
  }
  return fmt::format("The timeline holds the first {} of {} executed instructions.",
                     grouped(static_cast<std::int64_t>(report.intervals.size())), grouped(report.instructions));
}

std::vector<OpcodeUse> opcode_uses(const RunReport& report) {
  struct Use {
    std::int64_t count = 0;
    double busy_s = 0;
    std::set<std::int32_t> lanes = {};
  };
  std::map<std::string_view, Use> found;
  for (const Interval& interval : report.intervals) {
    Use& use = found[opcode_of(text_of(report, interval.instruction))];
    ++use.count;
    use.busy_s += interval.end_s - interval.begin_s;
    use.lanes.insert(interval.lane);
  }
  std::vector<OpcodeUse> uses;
  for (const auto& [name, use] : found) {
    uses.push_back({std::string(name), use.count, use.busy_s, {use.lanes.begin(), use.lanes.end()}});
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const OpcodeUse& a, const OpcodeUse& b) { return a.busy_s > b.busy_s; });
  return uses;
}

}  // namespace trn::neuron::report

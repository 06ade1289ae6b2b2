// The timeline as compact JSON for the page's script. The earliest intervals stay one by one; after them, neighbours of
// a lane that begin in the same slot of time become one segment. Times are integers, each list holding gaps and
// lengths:
//   detail: gap, length, text            in detailTick
//   merged: gap, length, opcode, instructions, busy percent   in mergedTick
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>

#include "format.hpp"
#include "html_parts.hpp"

namespace trn::neuron::report {

namespace {

constexpr double kDetailTick = 1e-10;
constexpr double kMergedTicks = 1e7;  // of the whole timeline

// Writes times as gap since the last end and length. The ends are rounded, not the lengths, so nothing drifts.
class Ticks {
 public:
  explicit Ticks(double tick) : tick_(tick) {}
  void append(std::string& out, double begin, double end) {
    const std::int64_t b = std::max<std::int64_t>(last_, std::llround(begin / tick_));
    const std::int64_t e = std::max<std::int64_t>(b, std::llround(end / tick_));
    fmt::format_to(std::back_inserter(out), "{}{},{}", out.empty() ? "" : ",", b - last_, e - b);
    last_ = e;
  }

 private:
  double tick_;
  std::int64_t last_ = 0;
};

// Tooltip texts, each once, until the page's budget is spent; from then on only the opcode.
class Texts {
 public:
  Texts(const RunReport& report, const std::vector<OpcodeUse>& uses) : report_(report) {
    for (std::size_t i = 0; i < uses.size(); ++i) ranks_[uses[i].name] = std::min(i, PageLimits::kOpcodes);
  }
  std::size_t opcode(std::int32_t instruction) const {
    return ranks_.at(std::string(opcode_of(text_of(report_, instruction))));
  }
  std::size_t text(std::int32_t instruction) {
    const auto [known, is_new] = by_instruction_.try_emplace(instruction, count_);
    if (!is_new) return known->second;
    std::string quoted = json_quoted(text_of(report_, instruction).substr(0, PageLimits::kOneTextBytes));
    const std::size_t rank = opcode(instruction);
    if (json_.size() + quoted.size() > PageLimits::kTextBytes) {
      const auto [bare, first] = by_opcode_.try_emplace(rank, count_);
      known->second = bare->second;
      if (!first) return known->second;
      quoted = "\"\"";
    }
    fmt::format_to(std::back_inserter(json_), "{}{},{}", count_ == 0 ? "" : ",", quoted, rank);
    return count_++;
  }
  [[nodiscard]] const std::string& json() const { return json_; }  // text, opcode, text, opcode, ...

 private:
  const RunReport& report_;
  std::map<std::string, std::size_t> ranks_;
  std::unordered_map<std::int32_t, std::size_t> by_instruction_;
  std::map<std::size_t, std::size_t> by_opcode_;
  std::size_t count_ = 0;
  std::string json_;
};

struct Segment {
  double begin = 0, end = 0, busy = 0;
  std::int64_t count = 0;
  std::map<std::size_t, double> opcodes = {};  // busy time by rank
};

// Of the intervals `order[first .. last)`, one lane's, sorted; at most `limit` segments.
std::vector<Segment> merged(const RunReport& report, const Texts& texts, std::span<const std::size_t> order,
                            std::size_t limit) {
  std::vector<Segment> segments;
  if (order.empty()) return segments;
  const double from = report.intervals[order.front()].begin_s;
  const double slot = (report.intervals[order.back()].begin_s - from) / static_cast<double>(limit);
  double slot_end = 0;
  for (const std::size_t at : order) {
    const Interval& interval = report.intervals[at];
    const bool alone = order.size() <= limit || slot <= 0;
    if (segments.empty() || (alone && segments.size() < limit) ||
        (!alone && interval.begin_s >= slot_end && segments.size() < limit)) {
      segments.push_back({interval.begin_s, interval.end_s});
      if (!alone) slot_end = from + slot * (std::floor((interval.begin_s - from) / slot) + 1);
    }
    Segment& segment = segments.back();
    segment.end = std::max(segment.end, interval.end_s);
    segment.busy += interval.end_s - interval.begin_s;
    ++segment.count;
    segment.opcodes[texts.opcode(interval.instruction)] += interval.end_s - interval.begin_s;
  }
  return segments;
}

std::string merged_json(const std::vector<Segment>& segments, double tick) {
  std::string json;
  Ticks ticks(tick);
  for (const Segment& s : segments) {
    ticks.append(json, s.begin, s.end);
    const auto most = std::ranges::max_element(s.opcodes, {}, [](const auto& entry) { return entry.second; });
    const double share = s.end > s.begin ? s.busy / (s.end - s.begin) : 1;
    fmt::format_to(std::back_inserter(json), ",{},{},{:.0f}", most->first, s.count, std::min(100.0, 100 * share));
  }
  return json;
}

// The begin of the first interval that is not drawn one by one.
double detail_end(const RunReport& report, double timeline_end) {
  if (report.intervals.size() <= PageLimits::kDetail) return timeline_end;
  std::vector<double> begins;
  begins.reserve(report.intervals.size());
  for (const Interval& i : report.intervals) begins.push_back(i.begin_s);
  std::ranges::nth_element(begins, begins.begin() + PageLimits::kDetail);
  return begins[PageLimits::kDetail];
}

}  // namespace

std::string timeline_json(const RunReport& report, const std::vector<OpcodeUse>& uses) {
  double end = 0;
  for (const Interval& i : report.intervals) end = std::max(end, i.end_s);
  const double detailed = detail_end(report, end);
  const bool all = report.intervals.size() <= PageLimits::kDetail;
  const double tick = std::max(kDetailTick, end / kMergedTicks);
  const std::size_t limit =
      std::clamp<std::size_t>(PageLimits::kSegments / report.lanes.size(), 1, PageLimits::kSegmentsPerLane);

  Texts texts(report, uses);
  const std::vector<std::size_t> order = by_lane_and_time(report);
  std::string lanes;
  auto at = order.begin();
  for (std::size_t lane = 0; lane < report.lanes.size(); ++lane) {
    const auto lane_end = std::find_if(
        at, order.end(), [&](std::size_t i) { return report.intervals[i].lane != static_cast<std::int32_t>(lane); });
    std::string detail;
    Ticks ticks(kDetailTick);
    const auto lane_begin = at;
    for (; at != lane_end && (all || report.intervals[*at].begin_s < detailed); ++at) {
      const Interval& interval = report.intervals[*at];
      ticks.append(detail, interval.begin_s, interval.end_s);
      fmt::format_to(std::back_inserter(detail), ",{}", texts.text(interval.instruction));
    }
    const std::vector<Segment> rest = merged(report, texts, {at, lane_end}, limit);
    fmt::format_to(std::back_inserter(lanes),
                   "{}{{\"name\":{},\"kept\":{},\"instructions\":{},\"detail\":[{}],\"merged\":[{}]}}",
                   lane == 0 ? "" : ",\n", json_quoted(report.lanes[lane].name), lane_end - lane_begin,
                   report.lanes[lane].instructions, detail, merged_json(rest, tick));
    at = lane_end;
  }
  std::string opcodes;
  for (std::size_t i = 0; i < std::min(uses.size(), PageLimits::kOpcodes); ++i) {
    opcodes += json_quoted(std::string_view(uses[i].name).substr(0, PageLimits::kOneTextBytes)) + ",";
  }
  return fmt::format(
      "{{\"seconds\":{},\"launch\":{},\"end\":{},\"cut\":{},\"detailEnd\":{},\"detailTick\":{},\"mergedTick\":{},"
      "\n\"opcodes\":[{}\"other\"],"
      "\n\"texts\":[{}],\n\"lanes\":[{}]}}",
      report.seconds, report.launch_seconds, end, intervals_were_cut(report), detailed, kDetailTick, tick, opcodes,
      texts.json(), lanes);
}

}  // namespace trn::neuron::report

// write_trace: the timeline as Chrome trace events, which chrome://tracing and Perfetto open. One process, one thread
// per lane, one complete event per interval. Events stream to the file in the order of lanes and times.
//
// Times are integer picoseconds printed as microseconds: begin and end are rounded, their difference is the duration,
// so neighbours that touch in the report touch in the trace and never overlap.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <trn/neuron/report.hpp>

#include <trn/core/output_file.hpp>
#include "format.hpp"
#include "summary.hpp"

namespace trn::neuron {

namespace {

using namespace report;

constexpr int kLaunchThread = 0;
int thread_of(std::int32_t lane) { return lane + 1; }

std::int64_t picoseconds(double seconds) { return std::llround(seconds * 1e12); }

std::string microseconds(std::int64_t picoseconds) {
  const char* sign = picoseconds < 0 ? "-" : "";
  picoseconds = std::abs(picoseconds);
  return fmt::format("{}{}.{:06}", sign, picoseconds / 1'000'000, picoseconds % 1'000'000);
}

void write_names(OutputFile& out, const RunReport& report) {
  out.print(R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})",
            json_quoted(fmt::format("{} on {} (modelled)", report.program, report.machine)));
  const auto thread = [&](int id, std::string_view name) {
    out.print(
        ",\n"
        R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
        id, json_quoted(name));
    out.print(
        ",\n"
        R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}}}})",
        id);
  };
  thread(kLaunchThread, "launch");
  for (std::size_t lane = 0; lane < report.lanes.size(); ++lane) {
    thread(thread_of(static_cast<std::int32_t>(lane)), report.lanes[lane].name);
  }
}

// Returns the time of the last end, for the note.
std::int64_t write_intervals(OutputFile& out, const RunReport& report) {
  std::int64_t last = picoseconds(report.launch_seconds);
  for (const std::size_t at : by_lane_and_time(report)) {
    const Interval& interval = report.intervals[at];
    const std::int64_t begin = picoseconds(report.launch_seconds + interval.begin_s);
    const std::int64_t end = picoseconds(report.launch_seconds + interval.end_s);
    const std::string_view text = text_of(report, interval.instruction);
    out.print(
        ",\n"
        R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":{},"args":{{"index":{},"instruction":{}}}}})",
        thread_of(interval.lane), microseconds(begin), microseconds(end - begin), json_quoted(opcode_of(text)),
        interval.instruction, json_quoted(text));
    last = std::max(last, end);
  }
  return last;
}

}  // namespace

void write_trace(const RunReport& report, const std::string& path) {
  require_drawable(report, "write_trace");
  OutputFile out("write_trace", path);
  const std::string note = cut_note(report);
  out.print(R"({{"displayTimeUnit":"ns","otherData":{{"program":{},"machine":{},"time":"modelled, not measured",)",
            json_quoted(report.program), json_quoted(report.machine));
  out.print(R"("seconds":{},"note":{}}},)", report.seconds, json_quoted(note));
  out.write("\n\"traceEvents\":[\n");
  write_names(out, report);
  out.print(
      ",\n"
      R"({{"ph":"X","pid":1,"tid":{},"ts":0,"dur":{},"name":"launch","args":{{}}}})",
      kLaunchThread, microseconds(picoseconds(report.launch_seconds)));
  const std::int64_t last = write_intervals(out, report);
  if (!note.empty()) {
    out.print(
        ",\n"
        R"({{"ph":"i","s":"g","pid":1,"tid":{},"ts":{},"name":{}}})",
        kLaunchThread, microseconds(last), json_quoted(note));
  }
  out.write("\n]}\n");
  out.commit();
}

}  // namespace trn::neuron

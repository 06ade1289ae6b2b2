// Times of runs: see profile.hpp.
#include "profile.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace trn::neuron::nrt {

namespace {

// The runtime's buffers of events are bounded: they are emptied after this many runs.
constexpr std::size_t kMostUnsettled = 256;

}  // namespace

std::vector<double> trace_seconds(std::string_view json) {
  using Json = nlohmann::json;
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object() || !root.contains("events") || !root["events"].is_array()) return {};
  std::vector<double> seconds;
  std::map<std::int64_t, std::uint64_t> starts;  // nanoseconds since some epoch, by the run's number in the trace
  for (const Json& event : root["events"]) {
    if (!event.is_object() || event.value("event_type", Json()) != "nc_exec_running") continue;
    const Json id = event.value("tracking_id", Json()), data = event.value("data", Json());
    if (!id.is_number_integer() || !data.is_object()) continue;
    const Json at = data.value("nc_timestamp_ns", Json());
    if (!at.is_number_integer()) continue;
    const auto ns = at.get<std::uint64_t>();
    if (event.value("phase", Json()) == "start") {
      starts[id.get<std::int64_t>()] = ns;
    } else if (const auto begin = starts.find(id.get<std::int64_t>()); begin != starts.end()) {
      // The difference of whole numbers: since 1970 they have more digits than a double.
      seconds.push_back(static_cast<double>(static_cast<std::int64_t>(ns - begin->second)) * 1e-9);
      starts.erase(begin);
    }
  }
  return seconds;
}

Profiler::Profiler(Runtime& runtime, const NeuronOptions& options) : runtime_(runtime), options_(options) {
  if (options.profile == Profile::Time) tracing_ = runtime.start_trace();
  if (tracing_) (void)fetch();  // what was before is nobody's
}

void Profiler::end(const Launch& launch, const std::string& program, const std::string& key) {
  if (options_.profile != Profile::Time) return;
  // In order, one after the other: a run begins when it is given to the runtime or when the one before is over. So no
  // time is counted twice, and the sum over all runs covers the time in which the core had something to do. Runs of the
  // runtime's own queue that are found over together share their time as they were found, not as they ran.
  const Clock::time_point begin = std::max(launch.begun, last_over_);
  last_over_ = std::max(launch.over, last_over_);
  auto known = std::ranges::find_if(times_, [&](const ProgramTime& t) { return t.key == key && t.program == program; });
  if (known == times_.end()) known = times_.insert(times_.end(), {program, key, 0, 0, tracing_});
  unsettled_.push_back(
      {static_cast<std::size_t>(known - times_.begin()), std::chrono::duration<double>(last_over_ - begin).count()});
  if (unsettled_.size() >= kMostUnsettled) settle();
}

void Profiler::settle() {
  const std::vector<double> by_device = tracing_ ? fetch() : std::vector<double>();
  const bool all = by_device.size() == unsettled_.size();
  for (std::size_t i = 0; i < unsettled_.size(); ++i) {
    ProgramTime& time = times_[unsettled_[i].program];
    ++time.runs;
    time.seconds += all ? by_device[i] : unsettled_[i].seconds;
    time.by_device = time.by_device && all;
  }
  unsettled_.clear();
}

std::vector<double> Profiler::fetch() const {
  const Functions& call = runtime_.call();
  FetchOptions* options = nullptr;
  if (call.nrt_sys_trace_fetch_options_allocate(&options) != kSuccess) return {};
  call.nrt_sys_trace_fetch_options_set_nc_idx(options, static_cast<std::uint64_t>(options_.core));
  char* text = nullptr;
  std::size_t bytes = 0;
  const Status status = call.nrt_sys_trace_fetch_events(&text, &bytes, options);
  call.nrt_sys_trace_fetch_options_free(options);
  std::vector<double> seconds;
  if (text) {
    if (status == kSuccess) seconds = trace_seconds({text, bytes});
    call.nrt_sys_trace_buffer_free(text);
  }
  return seconds;
}

NeuronProfile Profiler::found() {
  settle();
  return {times_, traces_};
}

ProgramTrace Profiler::trace_of(const std::string& program, const Compiled& compiled) const {
  ProgramTrace trace{program, compiled.key, {}, compiled.file};
  if (!options_.profiles.empty()) {
    trace.ntff = options_.profiles / (compiled.key + ".ntff");
  } else if (!compiled.file.empty()) {
    trace.ntff = std::filesystem::path(compiled.file).replace_extension(".ntff");
  } else {
    trace.ntff = compiled.key + ".ntff";
  }
  return trace;
}

}  // namespace trn::neuron::nrt

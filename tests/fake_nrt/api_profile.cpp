// The fake runtime's functions for memory in use, profiles of one model and the system trace. Its profile is a line of
// JSON that the fake neuron-explorer reads (tests/fake_toolchain/neuron-explorer).
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "entry.hpp"

using namespace fake;
using namespace trn::neuron::nrt;

namespace trn::neuron::nrt {
struct TraceConfig {};
struct FetchOptions {
  long core = -1;  // -1: all
};
}  // namespace trn::neuron::nrt

extern "C" {

Status nrt_get_vnc_memory_stats(std::uint32_t core, MemoryStats* stats, std::size_t bytes, std::size_t* written) {
  Entry entry("nrt_get_vnc_memory_stats");
  if (entry.refused()) return entry.status;
  if (bytes != sizeof *stats || static_cast<int>(core) >= state().rules.cores) return entry.wrong("size or core");
  *stats = {state().core(static_cast<int>(core)).memory_used, state().rules.memory};
  *written = sizeof *stats;
  return kSuccess;
}

Status nrt_profile_start(Model* model, const char* file) {
  Entry entry("nrt_profile_start");
  if (entry.refused()) return entry.status;
  State& s = state();
  auto* found = reinterpret_cast<FakeModel*>(model);
  if (!s.models.contains(found)) return entry.wrong("it is not loaded", kInvalidHandle);
  if (s.profiled) return entry.wrong("another profile is under way");
  (void)entry.on(found->core);
  s.profiled = found;
  s.profile = file;
  s.profiled_us.clear();
  return kSuccess;
}

Status nrt_profile_stop(const char* file) {
  Entry entry("nrt_profile_stop");
  if (entry.refused()) return entry.status;
  State& s = state();
  if (!s.profiled || s.profile != file) return entry.wrong("no profile of this file is under way");
  std::string text = "{\"ntff\": \"fake\", \"kernel\": \"" + s.profiled->package.manifest.entry + "\", \"runs_us\": [";
  for (std::size_t i = 0; i < s.profiled_us.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(s.profiled_us[i]);
  }
  text += "]}\n";
  s.profiled = nullptr;
  std::FILE* out = std::fopen(file, "w");
  if (!out) return kFailure;
  const bool good = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  return std::fclose(out) == 0 && good ? kSuccess : kFailure;
}

Status nrt_sys_trace_config_allocate(TraceConfig** config) {
  Entry entry("nrt_sys_trace_config_allocate");
  if (entry.refused()) return entry.status;
  *config = new TraceConfig;
  return kSuccess;
}
void nrt_sys_trace_config_free(TraceConfig* config) { delete config; }

Status nrt_sys_trace_start(TraceConfig* config) {
  Entry entry("nrt_sys_trace_start");
  if (entry.refused()) return entry.status;
  if (!config || state().tracing) return entry.wrong("no configuration, or the trace is on");
  state().tracing = true;
  return kSuccess;
}
Status nrt_sys_trace_stop() {
  Entry entry("nrt_sys_trace_stop");
  if (entry.refused()) return entry.status;
  if (!state().tracing) return entry.wrong("the trace is off");
  state().tracing = false;
  state().trace.clear();
  return kSuccess;
}

Status nrt_sys_trace_fetch_options_allocate(FetchOptions** options) {
  Entry entry("nrt_sys_trace_fetch_options_allocate");
  if (entry.refused()) return entry.status;
  *options = new FetchOptions;
  return kSuccess;
}
void nrt_sys_trace_fetch_options_set_nc_idx(FetchOptions* options, std::uint64_t core) {
  options->core = static_cast<long>(core);
}
void nrt_sys_trace_fetch_options_free(FetchOptions* options) { delete options; }

// What was told is forgotten.
Status nrt_sys_trace_fetch_events(char** text, std::size_t* bytes, const FetchOptions* options) {
  Entry entry("nrt_sys_trace_fetch_events");
  if (entry.refused()) return entry.status;
  State& s = state();
  if (!s.tracing) return entry.wrong("the trace is off");
  std::string list;
  std::erase_if(s.trace, [&](const auto& event) {
    if (options->core >= 0 && event.first != options->core) return false;
    list += (list.empty() ? "" : ", ") + event.second;
    return true;
  });
  const std::string all = "{\"events\": [" + list + "]}";
  *text = static_cast<char*>(std::malloc(all.size()));
  std::memcpy(*text, all.data(), all.size());
  *bytes = all.size();
  return kSuccess;
}
void nrt_sys_trace_buffer_free(char* text) { std::free(text); }

}  // extern "C"

// The runtime of this process: see runtime.hpp.
#include "runtime.hpp"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

#include "status.hpp"

namespace trn::neuron::nrt {

namespace {

// Never destroyed: destructors that run after exit() has begun still ask it.
std::atomic<Runtime*> the_runtime{nullptr};
std::mutex opening;

// A list that only grows.
struct Kept {
  std::shared_ptr<void> what;
  Kept* next;
};
std::atomic<Kept*> first_kept{nullptr};

// The runtime reads its settings from the environment when it starts. A value that contradicts ours is the user's word,
// and not overridden.
void set_for_runtime(const char* name, const std::string& value, const char* why) {
  const std::string found = environment(name, "");
  require(found.empty() || found == value, "neuron: {} is '{}' in the environment, but this executor needs {}: {}",
          name, found, value, why);
  setenv(name, value.c_str(), 1);
}

// The instance families that are documented, as the machines that programs are built for. inf2 has the cores of trn1
// but is another target.
std::string machine_of(std::uint32_t family) {
  switch (family) {
    case 2:  // trn1
    case 3:  // trn1n
      return "trn1";
    case 5:  // trn2
    case 6:  // trn2n
    case 8:  // variants of trn2 up to 13
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
    case 16:
      return "trn2";
    case 14:  // trn3
    case 15:
    case 17:
      return "trn3";
    default:
      return "";
  }
}

}  // namespace

void keep_for_ever(std::shared_ptr<void> what) noexcept {
  auto* link = new Kept{std::move(what), first_kept.load()};
  while (!first_kept.compare_exchange_weak(link->next, link)) {
  }
}

Runtime& Runtime::open(const NeuronOptions& options) {
  require(options.lnc == 1 || options.lnc == 2, "neuron: lnc is {}; it must be 1 or 2", options.lnc);
  const std::scoped_lock lock(opening);
  if (Runtime* runtime = the_runtime.load()) {
    runtime->require_usable();
    require(runtime->lnc_ == options.lnc,
            "neuron: the runtime of this process runs with lnc {}, and {} is asked for; use another process",
            runtime->lnc_, options.lnc);
    return *runtime;
  }
  // NOLINTNEXTLINE: kept until the process ends
  the_runtime.store(new Runtime(options));
  static const bool registered = [] {
    std::atexit([] {
      if (Runtime* runtime = the_runtime.load()) runtime->close();
    });
    pthread_atfork(nullptr, nullptr, [] {
      if (Runtime* runtime = the_runtime.load()) runtime->state_.store(State::Forked);
    });
    return true;
  }();
  (void)registered;
  return *the_runtime.load();
}

Runtime::Runtime(const NeuronOptions& options) : library_(open_library()), lnc_(options.lnc) {
  set_for_runtime("NEURON_LOGICAL_NC_CONFIG", std::to_string(lnc_),
                  "programs are compiled for that many physical cores");
  set_for_runtime("NEURON_RT_STOCHASTIC_ROUNDING_EN", "0", "results are rounded to nearest");
  const Status status = call().nrt_init(kNoFramework, "", "");
  if (status == kFailure || status == kNotEnoughCores || status == kInvalid) {
    const std::string owners = core_owners();
    throw DeviceError(
        fmt::format("neuron: the runtime does not start (status {}); {}", status,
                    owners.empty() ? "as a rule another process has the cores, which `neuron-ls` shows, or no driver "
                                     "is loaded"
                                   : "cores belong to " + owners),
        "cores-busy");
  }
  require_success(status, "neuron: the runtime does not start");
  try {
    std::uint32_t visible = 0;
    require_success(call().nrt_get_visible_vnc_count(&visible), "neuron: the number of cores is not known");
    cores_ = static_cast<int>(visible);
    read_machine();
  } catch (...) {
    call().nrt_close();
    throw;
  }
}

void Runtime::read_machine() {
  InstanceInfo info{};
  if (!call().nrt_get_instance_info || call().nrt_get_instance_info(&info, sizeof info) != kSuccess) return;
  family_ = info.family;
  architecture_.assign(info.architecture, strnlen(info.architecture, sizeof info.architecture));
  revision_.assign(info.revision, strnlen(info.revision, sizeof info.revision));
  machine_ = machine_of(family_);
}

// What the instance says, then what the caller says, then what the environment says.
const tile::Machine& Runtime::machine(const std::string& asked) const {
  const bool by_variable = asked.empty();
  const std::string wanted = by_variable ? environment("TRN_NEURON_MACHINE", "") : asked;
  require(!machine_.empty() || !wanted.empty(),
          "neuron: instance family {} is not known; say which machine it is: set TRN_NEURON_MACHINE to trn1, trn2 or "
          "trn3 (NeuronOptions::machine)",
          family_);
  require(!by_variable || wanted.empty() || wanted == "trn1" || wanted == "trn2" || wanted == "trn3",
          "neuron: TRN_NEURON_MACHINE is '{}'; set it to trn1, trn2 or trn3", wanted);
  require(machine_.empty() || wanted.empty() || wanted == machine_, "neuron: this instance is {}, and {} is asked for",
          machine_, wanted);
  return tile::machine(machine_.empty() ? wanted : machine_);
}

CoreSlot& Runtime::core(int index) {
  require(index >= 0 && index < cores_, "neuron: core {} is asked for; this process sees {} of them, from 0 on", index,
          cores_);
  const std::scoped_lock lock(cores_mutex_);
  auto& slot = slots_[index];
  if (!slot) slot = std::make_unique<CoreSlot>();
  return *slot;
}

void Runtime::require_usable() const {
  switch (state_.load(std::memory_order_acquire)) {
    case State::Open:
      return;
    case State::Closed:
      throw DeviceError("neuron: the runtime is closed: the process is ending", "closed", Recovery::RestartProcess);
    case State::Forked:
      throw DeviceError(
          "neuron: this process was forked from one that had opened the runtime, and has none; open "
          "executors after fork()",
          "forked", Recovery::RestartProcess);
    case State::Lost:
      throw DeviceError("neuron: the runtime lost an execution unit; restart the process", "restart-process",
                        Recovery::RestartProcess);
  }
}

bool Runtime::close() noexcept {
  const State before = state_.load();
  if (before == State::Closed || before == State::Forked) return false;
  bool lost = false;
  for (auto& [index, slot] : slots_) {
    const std::scoped_lock lock(slot->mutex);
    if (slot->shut) slot->shut();
    lost = lost || slot->lost;
  }
  state_.store(State::Closed, std::memory_order_release);
  // A core that is lost may still be at work, and the runtime's end might wait for it for ever. The driver frees the
  // cores when the process ends.
  if (before != State::Open || lost) return false;
  if (tracing_) (void)call().nrt_sys_trace_stop();
  call().nrt_close();
  return true;
}

bool Runtime::start_trace() {
  const std::scoped_lock lock(trace_mutex_);
  if (tracing_ || !call().traces()) return tracing_;
  TraceConfig* config = nullptr;
  if (call().nrt_sys_trace_config_allocate(&config) != kSuccess) return false;
  tracing_ = call().nrt_sys_trace_start(config) == kSuccess;
  call().nrt_sys_trace_config_free(config);
  return tracing_;
}

NeuronFacts Runtime::facts(int core) const {
  NeuronFacts found{family_, architecture_, revision_, cores_, lnc_};
  MemoryStats stats{};
  std::size_t written = 0;
  if (call().nrt_get_vnc_memory_stats &&
      call().nrt_get_vnc_memory_stats(static_cast<std::uint32_t>(core), &stats, sizeof stats, &written) == kSuccess) {
    found.memory_bytes = static_cast<std::int64_t>(stats.bytes_limit);
  }
#define TRN_NRT_TELL(name, needed, result, arguments) (call().name ? found.found : found.missing).emplace_back(#name);
  TRN_NRT_FUNCTIONS(TRN_NRT_TELL)
  TRN_NRT_ASYNCHRONOUS(TRN_NRT_TELL)
#undef TRN_NRT_TELL
  return found;
}

Status Runtime::restarted() {
  const std::scoped_lock lock(opening);
  Runtime* runtime = the_runtime.load();
  if (!runtime || !runtime->usable() || !runtime->close()) return kClosed;
  const Status status = runtime->call().nrt_init(kNoFramework, "", "");
  if (status == kSuccess) runtime->call().nrt_close();
  return status;
}

void Runtime::close_for_test() {
  const std::scoped_lock lock(opening);
  Runtime* runtime = the_runtime.exchange(nullptr);
  if (!runtime) return;
  runtime->close();
  keep_for_ever(std::shared_ptr<Runtime>(runtime));  // what was lost with it may still look at it
}

}  // namespace trn::neuron::nrt

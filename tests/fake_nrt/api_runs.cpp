// The fake runtime's functions for the process, models and runs.
#include <fcntl.h>
#include <sys/file.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "entry.hpp"

using namespace fake;
using namespace trn::neuron::nrt;

namespace {

FakeModel* known_model(const void* model) {
  auto* found = const_cast<FakeModel*>(static_cast<const FakeModel*>(model));
  return state().models.contains(found) ? found : nullptr;
}

FakeSet* known_set(const void* set) {
  auto* found = const_cast<FakeSet*>(static_cast<const FakeSet*>(set));
  return state().sets.contains(found) ? found : nullptr;
}

std::string machine_of(std::uint32_t family) {
  if (family == 2 || family == 3) return "trn1";
  return family >= 14 && family != 16 ? "trn3" : "trn2";
}

// Begins (1) or ends (-1) a run.
void pending(FakeModel& model, FakeSet& in, FakeSet& out, int change) {
  model.pending += change;
  in.pending += change;
  out.pending += change;
  state().use(in, change);
  state().use(out, change);
}

constexpr int kCoreShift = 48;

// Whether the run is over by its rules; under the mutex.
bool is_ready(Request& request) {
  State& s = state();
  ++request.asked;
  if (request.model->core == s.rules.stuck) return false;
  if (s.rules.kernel_us > 0) {
    s.clock_us += 1;
    return s.clock_us >= request.ready_us;
  }
  if (s.rules.delay_us > 0) return std::chrono::steady_clock::now() >= request.ready;
  return request.asked > s.rules.lag;
}

}  // namespace

extern "C" {

Status nrt_init(int framework, const char*, const char*) {
  Entry entry("nrt_init", true);
  if (entry.refused()) return entry.status;
  State& s = state();
  if (s.phase == State::Phase::Open) return entry.wrong("it is open");
  if (s.phase == State::Phase::Closed) return entry.wrong("it was closed", kClosed);
  if (framework != kNoFramework) return entry.wrong("framework");
  const char* lnc = std::getenv("NEURON_LOGICAL_NC_CONFIG");
  s.lnc = lnc ? std::atoi(lnc) : 2;
  if (!s.rules.lock.empty()) {
    s.lock_file = open(s.rules.lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s.lock_file < 0 || flock(s.lock_file, LOCK_EX | LOCK_NB) != 0)
      return kFailure;  // another process has the cores
  }
  s.phase = State::Phase::Open;
  return kSuccess;
}

void nrt_close() {
  Entry entry("nrt_close");
  State& s = state();
  for (const auto& [index, core] : s.cores) {
    if (!core->queue.empty()) entry.wrong("runs are not over");
  }
  s.phase = State::Phase::Closed;
  if (s.lock_file >= 0) close(s.lock_file);
  s.lock_file = -1;
}

Status nrt_get_version(Version* version, std::size_t bytes) {
  Entry entry("nrt_get_version", true);
  if (entry.refused()) return entry.status;
  if (bytes != sizeof *version) return entry.wrong("size");
  *version = {2, 34, 0, 0, {}, {}};
  std::snprintf(version->detail, sizeof version->detail, "fake, %s", kFlavour);
  return kSuccess;
}

Status nrt_get_instance_info(InstanceInfo* info, std::size_t bytes) {
  Entry entry("nrt_get_instance_info");
  if (entry.refused()) return entry.status;
  if (bytes != sizeof *info) return entry.wrong("size");
  *info = {state().rules.family, 0, "fake", "1"};
  return kSuccess;
}

Status nrt_get_visible_vnc_count(std::uint32_t* count) {
  Entry entry("nrt_get_visible_vnc_count", true);
  if (entry.refused()) return entry.status;
  *count = static_cast<std::uint32_t>(state().rules.cores);
  return kSuccess;
}

Status nrt_load(const void* neff, std::size_t bytes, std::int32_t core, std::int32_t cores, Model** model) {
  Entry entry("nrt_load");
  if (entry.refused()) return entry.status;
  State& s = state();
  if (cores != -1) return entry.wrong("the number of cores must be -1");
  if (core == -1) core = 0;  // any
  if (core < 0 || core >= s.rules.cores) return entry.wrong("no such core");
  FakeCore& c = entry.on(core);
  auto made = std::make_unique<FakeModel>();
  made->core = core;
  const int lnc = s.lnc;
  const Rules rules = s.rules;
  entry.lock.unlock();  // cores load in parallel
  Status status = kSuccess;
  try {
    made->package = unpack({static_cast<const std::byte*>(neff), bytes});
    if (made->package.header.major > 2) status = kUnsupportedNeff;
    if (static_cast<int>(made->package.header.lnc) != lnc) status = kInvalid;
    if (!rules.any_machine && made->package.machine->name != machine_of(rules.family)) status = kInvalid;
    if (const char* limit = std::getenv("NEURON_RT_EXEC_TIMEOUT")) {
      made->too_long =
          trn::neuron::estimate(made->package.prepared->program, *made->package.machine).seconds > std::atof(limit);
    }
  } catch (const std::exception&) {
    status = kFailure;
  }
  entry.lock.lock();
  if (status != kSuccess) return status;
  if (bytes > rules.memory - std::min(rules.memory, c.memory_used)) return kResource;
  c.memory_used += bytes;
  made->bytes = bytes;
  s.models.insert(made.get());
  *model = reinterpret_cast<Model*>(made.release());
  return kSuccess;
}

Status nrt_unload(Model* model) {
  Entry entry("nrt_unload");
  if (entry.refused()) return entry.status;
  FakeModel* found = known_model(model);
  if (!found) return entry.wrong("it is not loaded", kInvalidHandle);
  FakeCore& c = entry.on(found->core);
  if (found->pending > 0) return entry.wrong("a run of it is not over");
  c.memory_used -= found->bytes;
  state().models.erase(found);
  delete found;
  return kSuccess;
}

Status nrt_get_model_tensor_info(Model* model, TensorInfoArray** info) {
  Entry entry("nrt_get_model_tensor_info");
  if (entry.refused()) return entry.status;
  FakeModel* found = known_model(model);
  if (!found) return entry.wrong("it is not loaded", kInvalidHandle);
  (void)entry.on(found->core);
  const auto& arguments = found->package.manifest.arguments;
  const std::size_t bytes = sizeof(TensorInfoArray) + arguments.size() * sizeof(TensorInfo);
  auto* made = static_cast<TensorInfoArray*>(std::calloc(1, bytes));
  made->count = arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    TensorInfo& tensor = tensors_of(made)[i];
    std::snprintf(tensor.name, sizeof tensor.name, "%s", arguments[i].name.c_str());
    tensor.usage = arguments[i].output ? kOutput : kInput;
    tensor.bytes = arguments[i].bytes;
  }
  state().infos.insert(made);
  *info = made;
  return kSuccess;
}

Status nrt_free_model_tensor_info(TensorInfoArray* info) {
  Entry entry("nrt_free_model_tensor_info");
  if (entry.refused()) return entry.status;
  if (state().infos.erase(info) == 0) return entry.wrong("it is not alive");
  std::free(info);
  return kSuccess;
}

Status nrt_execute(Model* model, const TensorSet* in, TensorSet* out) {
  Entry entry("nrt_execute");
  if (entry.refused()) return entry.status;
  FakeModel* found = known_model(model);
  FakeSet *inputs = known_set(in), *outputs = known_set(out);
  if (!found || !inputs || !outputs) return entry.wrong("the model or a set is not alive", kInvalidHandle);
  (void)entry.on(found->core);
  pending(*found, *inputs, *outputs, 1);
  const Status status = execute(entry.lock, *found, *inputs, *outputs);
  pending(*found, *inputs, *outputs, -1);
  return status;
}

Status nrta_execute_schedule(Model* model, const TensorSet* in, TensorSet* out, int queue, Status* result,
                             Sequence* sequence) {
  Entry entry("nrta_execute_schedule");
  if (std::strcmp(kFlavour, "old") == 0) return entry.wrong("called by the signature of version 3");
  if (entry.refused()) return entry.status;
  State& s = state();
  FakeModel* found = known_model(model);
  FakeSet *inputs = known_set(in), *outputs = known_set(out);
  if (!found || !inputs || !outputs) return entry.wrong("the model or a set is not alive", kInvalidHandle);
  if (queue != 0) return entry.wrong("a core has one queue");
  FakeCore& core = entry.on(found->core);
  if (core.queue.size() >= s.rules.depth) return kQueueFull;
  pending(*found, *inputs, *outputs, 1);
  Request request{found, inputs, outputs, result, core.next++};
  core.busy_until_us = std::max(core.busy_until_us, s.clock_us) + s.rules.kernel_us;
  request.ready_us = core.busy_until_us;
  if (s.rules.delay_us > 0) {
    core.busy_until = std::max(core.busy_until, std::chrono::steady_clock::now()) +
                      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                          std::chrono::duration<double, std::micro>(s.rules.delay_us));
    request.ready = core.busy_until;
  }
  *result = 0x5A5A5A5A;  // valid after completion only
  *sequence = (static_cast<Sequence>(found->core) + 1) << kCoreShift | request.sequence;
  core.queue.push_back(request);
  return kSuccess;
}

Status nrta_is_completed(Sequence sequence, bool* completed) {
  Entry entry("nrta_is_completed");
  if (entry.refused()) return entry.status;
  const int index = static_cast<int>(sequence >> kCoreShift) - 1;
  if (index < 0 || index >= state().rules.cores) return entry.wrong("no such sequence");
  FakeCore& core = entry.on(index);
  const Sequence number = sequence & ((Sequence{1} << kCoreShift) - 1);
  if (number >= core.next) return entry.wrong("no such sequence");
  // Only now is the work done, so that results are not there before somebody asked.
  while (core.completed < number) {
    Request& request = core.queue.front();
    if (!is_ready(request)) break;
    const Status status = execute(entry.lock, *request.model, *request.in, *request.out);
    *request.result = status;
    pending(*request.model, *request.in, *request.out, -1);
    core.completed = request.sequence;
    core.queue.erase(core.queue.begin());
  }
  *completed = core.completed >= number;
  return kSuccess;
}

}  // extern "C"

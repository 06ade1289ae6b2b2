// Running a model of the fake: the simulator on the tensors' memory.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "standin.hpp"

namespace fake {

using namespace trn::neuron::nrt;

namespace {

// More would cost more time than it finds errors.
constexpr std::size_t kPoisoned = std::size_t{1} << 22;

// 0 when the sets are the model's.
Status check_sets(const FakeModel& model, const FakeSet& in, const FakeSet& out, std::string& wrong) {
  std::size_t inputs = 0, outputs = 0;
  for (const auto& argument : model.package.manifest.arguments) {
    const FakeSet& set = argument.output ? out : in;
    (argument.output ? outputs : inputs) += 1;
    const auto found = set.tensors.find(argument.name);
    if (found == set.tensors.end()) {
      wrong = "no tensor '" + argument.name + "' in the set";
      return kBadInput;
    }
    if (found->second->bytes != argument.bytes || found->second->core != model.core) {
      wrong = "tensor '" + argument.name + "' has another size or core";
      return kBadInput;
    }
    if (!argument.output) continue;
    // One tensor in both sets where an alias is declared, and only there.
    for (const auto& [name, tensor] : in.tensors) {
      if ((tensor == found->second) != (name == argument.alias)) {
        wrong = "output '" + argument.name + "' and input '" + name +
                "': one tensor where no alias is declared, or not one where it is";
        return kInvalid;
      }
    }
  }
  if (inputs != in.tensors.size() || outputs != out.tensors.size()) {
    wrong = "the sets have more tensors than the model";
    return kBadInput;
  }
  return kSuccess;
}

// The machine's part of a run.
Status compute(const FakeModel& model, std::span<const trn::tile::Binding> bindings) {
  trn::neuron::SimOptions options;
  options.order = trn::neuron::Order::in_order();
  // As the runtime: rounding is what the environment said when the program was loaded; unset, it is not to nearest.
  const char* stochastic = std::getenv("NEURON_RT_STOCHASTIC_ROUNDING_EN");
  if (!stochastic || std::strcmp(stochastic, "0") != 0) options.rounding = trn::neuron::Rounding::Stochastic;
  try {
    (void)trn::neuron::sim::run(*model.package.prepared, *model.package.machine, bindings, options, {}, nullptr);
  } catch (const trn::DeviceError& e) {
    return e.check() == "out-of-bounds" ? kOutOfBounds : kCompletedWithError;
  } catch (const std::exception&) {
    return kCompletedWithError;
  }
  return kSuccess;
}

// For the system trace and for a profile under way: the run took this long.
void note_run(FakeModel& model, double microseconds) {
  State& s = state();
  if (s.profiled == &model) s.profiled_us.push_back(microseconds);
  if (!s.tracing) return;
  const std::uint64_t id = ++s.traced;
  const auto end = static_cast<std::uint64_t>(
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count());
  const auto begin = end - static_cast<std::uint64_t>(microseconds * 1e3);
  for (const auto& [phase, at] : {std::pair{"start", begin}, {"stop", end}}) {
    s.trace.emplace_back(model.core, "{\"event_type\": \"nc_exec_running\", \"phase\": \"" + std::string(phase) +
                                         "\", \"tracking_id\": " + std::to_string(id) +
                                         ", \"data\": {\"nc_timestamp_ns\": " + std::to_string(at) + "}}");
  }
}

}  // namespace

Storage::Storage(std::size_t size, bool zero) : bytes(size) {
  void* place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  data = place == MAP_FAILED ? nullptr : static_cast<std::byte*>(place);
  if (data && !zero) std::memset(data, 0xFF, std::min(size, kPoisoned));
}
Storage::~Storage() {
  if (data) munmap(data, bytes);
}

Status execute(std::unique_lock<std::mutex>& lock, FakeModel& model, const FakeSet& in, const FakeSet& out) {
  State& s = state();
  std::string wrong;
  if (const Status status = check_sets(model, in, out, wrong); status != kSuccess) {
    s.note("execute: " + wrong);
    return status;
  }
  Fault planted;
  if (const Fault* fault = s.counted("complete")) planted = *fault;
  if (model.core == s.rules.stuck) planted.hang = true;
  const bool null = s.rules.null, text = s.rules.text;
  const double delay_us = s.rules.delay_us;
  ++s.runs;
  std::vector<trn::tile::Binding> bindings;
  for (const auto& argument : model.package.manifest.arguments) {
    if (null || text) break;
    const auto& tensors = model.package.prepared->program.tensors();
    const auto tensor =
        std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == argument.tensor; });
    const trn::OffsetRange range = trn::offset_range(tensor->shape, tensor->strides);
    std::byte* memory = (argument.output ? out : in).tensors.at(argument.name)->data();
    bindings.emplace_back(argument.tensor, static_cast<void*>(memory - range.lowest * trn::size_bytes(tensor->dtype)));
  }
  if (planted.crash) _exit(86);
  if (model.too_long && planted.status == kSuccess) planted.status = kTimeout;
  ++s.executing;
  if (planted.hang) hang(lock);
  Status result = planted.status;
  if (!planted.hang && (result == kSuccess || result == kNumericalError)) {
    lock.unlock();
    if (delay_us > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(delay_us));
    const auto begin = std::chrono::steady_clock::now();
    const std::string wrong_text = text && !null ? run_text(model, in, out) : "";
    const Status computed = null || text ? kSuccess : compute(model, bindings);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (computed != kSuccess) result = computed;
    lock.lock();
    if (!wrong_text.empty()) {
      s.note("the text of '" + model.package.manifest.entry + "': " + wrong_text);
      result = kCompletedWithError;
    }
    note_run(model, s.rules.kernel_us > 0 ? s.rules.kernel_us : took.count() + delay_us);
  }
  --s.executing;  // the caller still holds the mutex when it looks at the model again
  s.changed.notify_all();
  return result;
}

}  // namespace fake

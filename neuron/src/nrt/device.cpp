// The device behind `neuron`: Backend and tile::Device over one Core.
#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

#include "core.hpp"

namespace trn::neuron {

namespace nrt {

namespace {

class NeuronDevice final : public tile::Device {
 public:
  NeuronDevice(Runtime& runtime, const NeuronOptions& options, const std::string& name, const tile::Machine& machine,
               NeffSource source)
      : Device(name, machine), core_(std::make_shared<Core>(runtime, options, name, std::move(source))) {
    core_->hub = &events();
    core_->slot.shut = [core = core_.get()] { core->drain(); };
  }
  // Work that is queued is done first; what failed and was not asked for is lost.
  ~NeuronDevice() override {
    if (!core_->runtime.usable()) {
      release_lost();
      return;
    }
    const std::scoped_lock lock(core_->slot.mutex);
    core_->drain();
    if (core_->slot.lost) {
      std::unique_lock<std::mutex> quiet;
      (void)core_->queue->quiet(quiet);  // a call that is under way ends first, if it does
    }
    core_->forget_everything();
    core_->hub = nullptr;
    core_->slot.shut = nullptr;
  }

  void* allocate(std::int64_t bytes) override {
    require(bytes >= 0, "{}: allocation of {} bytes; the size must be >= 0", name(), bytes);
    void* address = nullptr;
    at_core([&] { address = core_->allocate(static_cast<std::size_t>(bytes)); });
    return address;
  }
  void deallocate(void* address, std::int64_t) noexcept override {
    if (!core_->runtime.usable()) return;
    const std::scoped_lock lock(core_->slot.mutex);
    core_->free(address);
  }

  // The runtime's copies are not in its queue: whoever uses the memory is waited for.
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override {
    at_core([&] {
      core_->require_usable();
      Block& block = core_->require_inside(to, static_cast<std::size_t>(bytes), "copy to");
      if (bytes == 0) return;
      core_->wait_for(block.last_use);
      core_->require_usable();
      check(quietly(*core_->queue, call().nrt_tensor_write, block.tensor, from_host, offset(block, to),
                    static_cast<std::size_t>(bytes)),
            "copy to");
    });
  }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    at_core([&] {
      core_->runtime.require_usable();
      Block& block = core_->require_inside(from, static_cast<std::size_t>(bytes), "copy from");
      core_->drain();
      core_->throw_failure();
      if (bytes == 0) return;
      check(quietly(*core_->queue, call().nrt_tensor_read, block.tensor, to_host, offset(block, from),
                    static_cast<std::size_t>(bytes)),
            "copy from");
    });
  }
  void copy_within(void* to, const void* from, std::int64_t bytes) override {
    if (!call().nrt_tensor_copy) return Backend::copy_within(to, from, bytes);
    at_core([&] {
      core_->require_usable();
      Block& source = core_->require_inside(from, static_cast<std::size_t>(bytes), "copy from");
      Block& target = core_->require_inside(to, static_cast<std::size_t>(bytes), "copy to");
      if (bytes == 0) return;
      core_->wait_for(std::max(source.last_use, target.last_use));
      core_->require_usable();
      check(quietly(*core_->queue, call().nrt_tensor_copy, source.tensor, offset(source, from), target.tensor,
                    offset(target, to), static_cast<std::size_t>(bytes)),
            "copy within");
      core_->tell({EventKind::Run, "copy_within", "device", bytes});
    });
  }

  std::shared_ptr<const tile::Executable> load(std::shared_ptr<const tile::Program> program) override {
    require(program->machine() == machine().name, "{}: program '{}' was built for {}, this is {}", name(),
            program->name(), program->machine(), machine().name);
    std::shared_ptr<const tile::Executable> result;
    at_core([&] {
      core_->require_usable();
      result = core_->find_loaded(*program);
    });
    if (result) return result;
    // Compiling takes its time: other threads use the core meanwhile.
    Compiled compiled = core_->source(*program);
    neff::check_neff(compiled.neff, core_->options.lnc, fmt::format("program '{}'", program->name()));
    if (compiled.built && events().has_listeners()) {
      Event event{EventKind::Compile, program->name(), "device", static_cast<std::int64_t>(compiled.neff.size())};
      event.measured_seconds = compiled.seconds;
      events().emit(event);
    }
    const auto made = std::make_shared<const LoadedProgram>(std::move(program), core_, std::move(compiled));
    at_core([&] {
      core_->require_usable();
      core_->load(*made);
      core_->by_hash[made->program().hash()].push_back(made);
    });
    return made;
  }

  void run(const std::shared_ptr<const tile::Executable>& executable,
           std::span<const tile::Binding> bindings) override {
    const auto* program = dynamic_cast<const LoadedProgram*>(executable.get());
    ensure(program && program->core() == core_.get(), "{}: program '{}' was loaded by another device", name(),
           executable->program().name());
    at_core([&] { core_->run(std::static_pointer_cast<const LoadedProgram>(executable), bindings); });
  }

  NeuronProfile profile() {
    NeuronProfile found;
    at_core([&] {
      core_->runtime.require_usable();
      core_->drain();
      core_->throw_failure();
      if (core_->profiler) found = core_->profiler->found();
    });
    return found;
  }
  NeuronFacts facts() {
    NeuronFacts found;
    at_core([&] { found = core_->runtime.facts(core_->options.core); });
    return found;
  }
  Core& core() { return *core_; }

  void synchronize() override {
    at_core([&] {
      core_->runtime.require_usable();
      core_->drain();
      core_->throw_failure();
    });
  }
  void drain() noexcept override {
    try {
      at_core([&] { core_->drain(); });
    } catch (...) {  // of a listener
    }
  }

 private:
  const Functions& call() const { return core_->runtime.call(); }
  static std::size_t offset(const Block& block, const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) - block.begin;
  }
  void check(Status status, const char* what) { core_->require_done(status, "{}", what); }

  // Does something under the core's mutex, and tells listeners of it without.
  template <class F> void at_core(F work) {
    core_->runtime.require_usable();  // before the mutex: after fork() another thread may have held it
    std::vector<Event> told;
    std::exception_ptr thrown;
    {
      const std::scoped_lock lock(core_->slot.mutex);
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
      told.swap(core_->told);
    }
    for (const Event& event : told) events().emit(event);
    if (thrown) std::rethrow_exception(thrown);
  }

  // The runtime is closed or lost, or this is a forked child: nothing may be called, or waited for.
  void release_lost() noexcept {
    // The programs' destructors would take the mutex: they and what they hold stay.
    keep_for_ever(core_);
    core_->hub = nullptr;
  }

  std::shared_ptr<Core> core_;
};

NeuronDevice& neuron_device_of(const Executor& executor) {
  auto* found = dynamic_cast<NeuronDevice*>(&executor.backend());
  require(found != nullptr, "neuron: '{}' is another kind of executor", executor.name());
  return *found;
}

}  // namespace

Core& core_of(const Executor& executor) { return neuron_device_of(executor).core(); }

Executor open_device(const NeuronOptions& options, NeffSource source, std::string name) {
  Runtime& runtime = Runtime::open(options);
  const tile::Machine& machine = runtime.machine(options.machine);
  CoreSlot& slot = runtime.core(options.core);
  if (options.profile == Profile::Trace && !runtime.call().profiles()) {
    throw DeviceError("neuron: the runtime library records no profiles; install a current aws-neuronx-runtime-lib",
                      "no-runtime");
  }
  if (!source) source = neff_cache(options, machine);
  if (name.empty()) name = options.core == 0 ? "neuron" : fmt::format("neuron:{}", options.core);
  const std::scoped_lock lock(slot.mutex);
  if (slot.lost) std::rethrow_exception(slot.lost);
  if (std::shared_ptr<Backend> open = slot.device.lock()) {
    require(slot.options == options, "neuron: core {} is open with other options; close it first", options.core);
    return Executor(std::move(open));
  }
  auto device = std::make_shared<NeuronDevice>(runtime, options, name, machine, std::move(source));
  slot.device = device;
  slot.options = options;
  return Executor(std::move(device));
}

}  // namespace nrt

Executor open_neuron(const NeuronOptions& options) { return nrt::open_device(options, nullptr); }

NeuronProfile profile_of(const Executor& executor) { return nrt::neuron_device_of(executor).profile(); }
NeuronFacts facts_of(const Executor& executor) { return nrt::neuron_device_of(executor).facts(); }

bool has_neuron() {
  if (!environment("TRN_NRT_LIBRARY", "").empty()) return true;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", failed)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("neuron") && file.size() > 6 && file.find_first_not_of("0123456789", 6) == std::string::npos) {
      return true;
    }
  }
  return false;
}

NeuronVersions neuron_versions() {
  NeuronVersions found;
  const nrt::Library library = nrt::open_library();
  nrt::Version v{};
  if (library.functions.nrt_get_version && library.functions.nrt_get_version(&v, sizeof v) == nrt::kSuccess) {
    const std::string detail(v.detail, strnlen(v.detail, sizeof v.detail));
    found.runtime = fmt::format("{}.{}.{}.{}{}", v.major, v.minor, v.patch, v.maintenance,
                                detail.empty() ? "" : fmt::format(" ({})", detail));
  }
  std::ifstream driver("/sys/module/neuron/version");
  std::getline(driver, found.driver);
  return found;
}

}  // namespace trn::neuron

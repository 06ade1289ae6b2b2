// One logical core: its memory, its loaded programs and its queue. Everything here is called under the core's mutex.
// Events are gathered in `told` and emitted by the device when the mutex is free again.
#pragma once

#include <exception>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory.hpp"
#include "model.hpp"
#include "profile.hpp"
#include "queue.hpp"
#include "status.hpp"

namespace trn::neuron::nrt {

struct Core : std::enable_shared_from_this<Core> {
  Core(Runtime& r, const NeuronOptions& o, std::string executor, NeffSource neffs);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Throws when nothing runs here any more.
  void require_usable() const;
  [[nodiscard]] bool usable() const { return runtime.usable() && !slot.lost; }

  // Throws unless the status is success, and remembers it where nothing will run here any more. `what` says what was
  // tried.
  template <class... Args> void require_done(Status status, fmt::format_string<Args...> text, Args&&... args) {
    if (status != kSuccess) throw_status(status, fmt::format(text, std::forward<Args>(args)...));
  }
  [[noreturn]] void throw_status(Status status, const std::string& what);
  void note_loss(Status status, const std::exception_ptr& thrown) noexcept;

  // Memory.
  void* allocate(std::size_t bytes);
  void free(void* address) noexcept;
  // Throws DeviceError "out-of-bounds" unless the bytes lie inside one array.
  Block& require_inside(const void* address, std::size_t bytes, const std::string& what);
  // Frees arrays and tensor sets whose last run is over.
  void sweep() noexcept;
  void forget_everything() noexcept;

  // Programs.
  std::shared_ptr<const LoadedProgram> find_loaded(const tile::Program& program);
  void load(const LoadedProgram& program);
  void unload(const LoadedProgram& program) noexcept;
  // Unloads the program that was not used for the longest time; false when there is none but `keep` and those in use.
  bool evict(const LoadedProgram* keep) noexcept;
  Bound& bind(const LoadedProgram& program, std::span<const tile::Binding> bindings);

  // Runs.
  void run(const std::shared_ptr<const LoadedProgram>& program, std::span<const tile::Binding> bindings);
  void drain() noexcept;
  void wait_for(std::uint64_t number) noexcept;
  void throw_failure();
  void retire(const Launch& launch, Status result, bool lost) noexcept;
  void wait_for_oldest() noexcept;

  [[nodiscard]] bool listened() const { return hub && hub->has_listeners(); }
  void tell(Event event) {
    if (listened()) told.push_back(std::move(event));
  }

  Runtime& runtime;
  CoreSlot& slot;
  const NeuronOptions options;
  const std::string name;  // the executor's
  NeffSource source;
  EventHub* hub = nullptr;  // the device's, while it lives
  std::vector<Event> told;

  std::unique_ptr<Queue> queue;
  Memory memory;
  std::uint64_t asked = 0, done = 0;       // numbers of runs
  std::exception_ptr failure;              // of a run, until somebody is told
  std::list<const LoadedProgram*> loaded;  // latest use first
  std::unordered_map<std::uint64_t, std::vector<std::weak_ptr<const LoadedProgram>>> by_hash;
  std::vector<std::unique_ptr<Block>> freed;  // wait for their last run
  std::vector<std::unique_ptr<Bound>> unbound;
  std::unique_ptr<Profiler> profiler;  // null: nothing is measured

 private:
  template <class Call> Status with_room(const LoadedProgram* keep, Call call);
  void drop(std::unique_ptr<Bound> bound) noexcept;
  void detach(Bound& bound) noexcept;
  std::unique_ptr<Bound> make_sets(const LoadedProgram& program);
  Status start(const Launch& launch);
  void run_recorded(const std::shared_ptr<const LoadedProgram>& program, Bound& bound);
};

}  // namespace trn::neuron::nrt

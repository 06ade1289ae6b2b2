// The runtime of this process: opened by the first executor, closed at exit, shared by all cores. What outlives it
// finds it closed and leaves it alone.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <trn/neuron/silicon.hpp>
#include <trn/tile/machine.hpp>

#include "library.hpp"

namespace trn::neuron::nrt {

// What the runtime may still use, for all we know, stays until the process ends. It stays reachable: a leak checker
// tells of what was forgotten, not of this.
void keep_for_ever(std::shared_ptr<void> what) noexcept;

// What there is once for each core of the process, whoever opens it.
struct CoreSlot {
  std::recursive_mutex mutex;     // one call at a time on a core; other cores go on
  std::weak_ptr<Backend> device;  // the executor, while it is open
  NeuronOptions options;          // as it was opened
  std::exception_ptr lost;        // why nothing runs there any more, or null
  std::function<void()> shut;     // ends what is under way, before the runtime is closed
};

class Runtime {
 public:
  // Opens it, or takes the one that is open. Throws InvalidArgument for an lnc other than that one's.
  [[nodiscard]] static Runtime& open(const NeuronOptions& options);

  [[nodiscard]] const Functions& call() const { return library_.functions; }
  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] int cores() const { return cores_; }
  // Of this instance, or of `wanted` where that is given. Throws InvalidArgument where the two differ or neither says.
  [[nodiscard]] const tile::Machine& machine(const std::string& wanted) const;
  [[nodiscard]] CoreSlot& core(int index);
  [[nodiscard]] std::mutex& load_mutex() { return load_mutex_; }

  // Destructors ask first: false after exit, after fork() in the child, and after the runtime gave up.
  [[nodiscard]] bool usable() const { return state_.load(std::memory_order_acquire) == State::Open; }
  // Throws unless usable().
  void require_usable() const;
  // The runtime's trace of its cores, from the first time that one asks for it until it is closed. False: it has none,
  // or does not start it.
  [[nodiscard]] bool start_trace();
  [[nodiscard]] NeuronFacts facts(int core) const;
  // For silicon-check, as the last thing that a process does with it: closes it for good and says with which status it
  // would start again.
  [[nodiscard]] static Status restarted();

  // Nothing in this process will run any more (status 101).
  void give_up() { state_.store(State::Lost, std::memory_order_release); }

  // For tests: closes it, so that the next open() begins anew. No executor may be open.
  static void close_for_test();

 private:
  enum class State : int { Open, Closed, Forked, Lost };
  explicit Runtime(const NeuronOptions& options);
  bool close() noexcept;  // whether the runtime itself was closed
  void read_machine();

  Library library_;
  int lnc_, cores_ = 0;
  std::uint32_t family_ = 0;
  std::string architecture_, revision_;
  std::string machine_;  // empty: the family is not known
  std::atomic<State> state_{State::Open};
  std::mutex load_mutex_, cores_mutex_, trace_mutex_;
  bool tracing_ = false;
  std::map<int, std::unique_ptr<CoreSlot>> slots_;
};

}  // namespace trn::neuron::nrt

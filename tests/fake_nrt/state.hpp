// What the fake runtime has: objects that are alive, cores with their queues, and what was noticed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "package.hpp"
#include "rules.hpp"

namespace fake {

using trn::neuron::nrt::Sequence;
using trn::neuron::nrt::Status;

// Memory of one allocation, which its slices share. Fresh memory is full of NaN, up to a limit.
struct Storage {
  Storage(std::size_t bytes, bool zero);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  std::byte* data;
  std::size_t bytes;
  int pending = 0;  // runs that are not over and use it
};

struct FakeTensor {
  std::shared_ptr<Storage> storage;
  std::size_t offset = 0, bytes = 0;
  int core = 0;
  bool slice = false;
  int slices = 0;   // of it that are alive
  int in_sets = 0;  // sets that hold it
  FakeTensor* parent = nullptr;
  [[nodiscard]] std::byte* data() const { return storage->data + offset; }
};
struct FakeSet {
  std::map<std::string, FakeTensor*> tensors;
  int pending = 0;  // runs that are not over
};
struct FakeModel {
  Package package;
  int core = 0;
  std::size_t bytes = 0;
  int pending = 0;
  std::uint64_t key = 0;  // at the stand-in, and whether it has the text
  bool sent = false;
  bool too_long = false;  // by the model, for the limit that the environment had when it was loaded
};

struct Request {
  FakeModel* model;
  FakeSet *in, *out;
  Status* result;
  Sequence sequence;
  int asked = 0;        // how often somebody asked whether it is done
  double ready_us = 0;  // on the virtual clock
  std::chrono::steady_clock::time_point ready;
};

struct FakeCore {
  std::atomic<int> inside{0};  // threads in a call on this core
  std::vector<Request> queue;
  Sequence next = 1, completed = 0;
  std::uint64_t memory_used = 0;
  double busy_until_us = 0;
  std::chrono::steady_clock::time_point busy_until;
};

struct State {
  enum class Phase { Fresh, Open, Closed } phase = Phase::Fresh;
  Rules rules;
  int lnc = 2;  // the runtime's own default
  std::mutex mutex;
  std::map<std::string, std::uint64_t, std::less<>> calls;
  std::set<FakeTensor*> tensors;
  std::set<FakeSet*> sets;
  std::set<FakeModel*> models;
  std::set<void*> infos;
  std::map<int, std::unique_ptr<FakeCore>> cores;
  std::vector<std::string> violations;
  std::uint64_t runs = 0;
  double clock_us = 0;
  // The system trace while it is on: events of runs, as text; and the model and file of a profile under way.
  bool tracing = false;
  std::vector<std::pair<int, std::string>> trace;  // by core
  std::uint64_t traced = 0;
  FakeModel* profiled = nullptr;
  std::string profile;
  std::vector<double> profiled_us;
  int lock_file = -1;
  // A run uses its model and its sets without the mutex: a reset waits until none does. Runs that hang end with it.
  int executing = 0;
  std::uint64_t resets = 0;
  std::condition_variable changed;

  // Under the mutex.
  void note(std::string violation) { violations.push_back(std::move(violation)); }
  FakeCore& core(int index);
  // Runs that begin or end: their tensors are in use.
  void use(const FakeSet& set, int change);
  // Counts the call; the fault that a rule plants here, or null.
  const Fault* counted(const char* function);
};

[[nodiscard]] State& state();
// The library was built with the asynchronous functions of another version.
extern const char* const kFlavour;

// Runs a model on its tensors; checks names and sizes first. `lock` holds the mutex, and does not during the run.
[[nodiscard]] Status execute(std::unique_lock<std::mutex>& lock, FakeModel& model, const FakeSet& in,
                             const FakeSet& out);
// Waits until the next reset; `lock` holds the mutex.
void hang(std::unique_lock<std::mutex>& lock);

}  // namespace fake

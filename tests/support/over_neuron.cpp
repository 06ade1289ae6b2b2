// Linked into a library's test program, together with --wrap of the two functions that open executors: every simulator
// that is opened without options becomes a pair of the simulator and the `neuron` executor over the fake runtime. Both
// do everything; what is copied out comes from `neuron`, and its bits are compared with the simulator's. So a library's
// own tests run on `neuron` as they are.
//
// Fresh memory is full of NaN on both, so that a program which counts on zeros shows. TRN_OVER_NEURON chooses another
// flavour of the library, "old" or "bare"; "text" runs the emitted text of every program in the NumPy stand-in, whose
// bits are the simulator's for everything but activations.
//
// At the end a line says how much that was. A bit that differs, a broken rule of the runtime's contract, or nothing
// done at all is a failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include <trn/neuron/sim.hpp>

#include "support/fake_nrt.hpp"

namespace trn::neuron::testing {

namespace {

constexpr int kCores = 4096;
std::atomic<long> executors{0}, loads{0}, runs{0}, copies{0}, bytes_compared{0}, differences{0};

std::string chosen() {
  const char* word = std::getenv("TRN_OVER_NEURON");
  return word ? word : "new";
}
bool is_text() { return chosen() == "text"; }

FakeRuntime& runtime() {
  // Never destroyed: executors of statics may outlive it.
  static FakeRuntime& made =
      *new FakeRuntime(fmt::format("family=99 any_machine {} memory=96GiB cores={}", is_text() ? "text" : "", kCores),
                       is_text() ? "new" : chosen());
  return made;
}

// A program on both.
struct Pair final : tile::Executable {
  Pair(std::shared_ptr<const tile::Program> program, std::shared_ptr<const tile::Executable> s,
       std::shared_ptr<const tile::Executable> n)
      : Executable(std::move(program)), on_simulator(std::move(s)), on_neuron(std::move(n)) {}
  std::shared_ptr<const tile::Executable> on_simulator, on_neuron;
};

class Both final : public tile::Device {
 public:
  Both(const std::string& name, Executor simulator, Executor neuron)
      : Device(name, tile::device_of(simulator).machine()),
        simulator_(std::move(simulator)),
        neuron_(std::move(neuron)),
        s_(tile::device_of(simulator_)),
        n_(tile::device_of(neuron_)) {
    // The simulator's runs with their modelled times are the pair's.
    s_.events().subscribe([this](const Event& event) { events().emit(event); });
  }

  void* allocate(std::int64_t bytes) override {
    void* here = s_.allocate(bytes);
    void* there = n_.allocate(bytes);
    // As the fake does with its own.
    constexpr std::int64_t kPoisoned = std::int64_t{1} << 22;
    const std::vector<std::byte> poison(static_cast<std::size_t>(std::min(bytes, kPoisoned)), std::byte{0xFF});
    if (bytes > 0) s_.copy_in(here, poison.data(), static_cast<std::int64_t>(poison.size()));
    const std::scoped_lock lock(mutex_);
    blocks_[static_cast<std::byte*>(there)] = {static_cast<std::byte*>(here), bytes};
    return there;
  }
  void deallocate(void* address, std::int64_t bytes) noexcept override {
    n_.deallocate(address, bytes);
    void* here = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = blocks_.find(static_cast<std::byte*>(address));
      if (found == blocks_.end()) return;
      here = found->second.first;
      blocks_.erase(found);
    }
    s_.deallocate(here, bytes);
  }
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override {
    s_.copy_in(here(to), from_host, bytes);
    n_.copy_in(to, from_host, bytes);
  }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    std::vector<std::byte> wanted(static_cast<std::size_t>(bytes));
    s_.copy_out(wanted.data(), here(from), bytes);
    n_.copy_out(to_host, from, bytes);
    ++copies;
    bytes_compared += bytes;
    if (bytes > 0 && std::memcmp(wanted.data(), to_host, wanted.size()) != 0) {
      ++differences;
      ADD_FAILURE() << name() << ": " << bytes << " bytes copied out of neuron are not those of the simulator";
    }
  }
  void copy_within(void* to, const void* from, std::int64_t bytes) override {
    s_.copy_within(here(to), here(from), bytes);
    n_.copy_within(to, from, bytes);
  }
  std::shared_ptr<const tile::Executable> load(std::shared_ptr<const tile::Program> program) override {
    auto on_simulator = s_.load(program);
    ++loads;
    return std::make_shared<Pair>(program, std::move(on_simulator), n_.load(program));
  }
  void run(const std::shared_ptr<const tile::Executable>& executable,
           std::span<const tile::Binding> bindings) override {
    const auto& pair = dynamic_cast<const Pair&>(*executable);
    std::vector<tile::Binding> at_simulator;
    for (const tile::Binding& b : bindings) {
      tile::Binding moved = b;
      moved.base = b.base ? here(b.address()) : nullptr;
      moved.offset = 0;
      at_simulator.push_back(moved);
    }
    s_.run(pair.on_simulator, at_simulator);
    n_.run(pair.on_neuron, bindings);
    ++runs;
  }
  void synchronize() override {
    s_.synchronize();
    n_.synchronize();
  }
  void drain() noexcept override {
    s_.drain();
    n_.drain();
  }
  [[nodiscard]] double clock() const override { return s_.clock(); }

 private:
  // The simulator's address for one of neuron's. What is not inside of an array, the simulator refuses.
  void* here(const void* there) const {
    const std::scoped_lock lock(mutex_);
    const auto* at = static_cast<const std::byte*>(there);
    auto next = blocks_.upper_bound(const_cast<std::byte*>(at));
    if (next == blocks_.begin()) return const_cast<void*>(there);
    const auto& [begin, block] = *std::prev(next);
    if (at - begin > block.second + (std::int64_t{1} << 12)) return const_cast<void*>(there);
    return block.first + (at - begin);
  }

  Executor simulator_, neuron_;
  tile::Device &s_, &n_;
  mutable std::mutex mutex_;
  std::map<std::byte*, std::pair<std::byte*, std::int64_t>> blocks_;  // of neuron: the simulator's, and bytes
};

Executor open_both(Executor simulator) {
  (void)runtime();
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  NeuronOptions options;
  options.machine = tile::device_of(simulator).machine().name;
  nrt::Runtime& nrt_runtime = nrt::Runtime::open(options);
  while (options.core < kCores && !nrt_runtime.core(options.core).device.expired()) ++options.core;
  ++executors;
  return Executor(std::make_shared<Both>(simulator.name(), simulator, open_fake(options, simulator.name(), is_text())));
}

class Summary final : public ::testing::Environment {
 public:
  void TearDown() override {
    std::printf(
        "neuron (%s): %ld executors, %ld programs, %ld runs, %ld copies out with %ld bytes compared, %ld differ\n",
        chosen().c_str(), executors.load(), loads.load(), runs.load(), copies.load(), bytes_compared.load(),
        differences.load());
    EXPECT_EQ(differences.load(), 0);
    EXPECT_GT(runs.load(), 0) << "no test here used a device";
    EXPECT_EQ(runtime().violations(), "");
  }
};
const auto* const kSummary = ::testing::AddGlobalTestEnvironment(new Summary);

}  // namespace

}  // namespace trn::neuron::testing

// The linker gives calls of open() to wrapped_open(), and ours of real_open() to open().
#define TRN_OPEN "_ZN3trn8Executor4openESt17basic_string_viewIcSt11char_traitsIcEE"
#define TRN_OPEN_SIMULATOR \
  "_ZN3trn6neuron14open_simulatorESt17basic_string_viewIcSt11char_traitsIcEERKNS0_10SimOptionsE"

namespace trn {
Executor real_open(std::string_view name) __asm__("__real_" TRN_OPEN);
Executor wrapped_open(std::string_view name) __asm__("__wrap_" TRN_OPEN);
Executor wrapped_open(std::string_view name) {
  Executor executor = real_open(name);
  return name.starts_with("sim:") ? neuron::testing::open_both(std::move(executor)) : executor;
}

namespace neuron {
Executor real_open_simulator(std::string_view machine, const SimOptions& options) __asm__("__real_" TRN_OPEN_SIMULATOR);
Executor wrapped_open_simulator(std::string_view machine,
                                const SimOptions& options) __asm__("__wrap_" TRN_OPEN_SIMULATOR);
Executor wrapped_open_simulator(std::string_view machine, const SimOptions& options) {
  Executor executor = real_open_simulator(machine, options);
  // Other orders, storage and checks are the simulator's own.
  const SimOptions usual;
  const bool as_usual = options.storage == usual.storage && options.order.kind == usual.order.kind &&
                        options.rounding == usual.rounding && !options.check_races && options.queued == usual.queued;
  return as_usual ? testing::open_both(std::move(executor)) : executor;
}
}  // namespace neuron
}  // namespace trn

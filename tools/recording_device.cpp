// Devices that keep what they are asked to run: see recording_device.hpp.
#include "recording_device.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include <trn/neuron/sim.hpp>

namespace trn::tools {
namespace {

class RecordingDevice final : public tile::Device {
 public:
  explicit RecordingDevice(const tile::Machine& machine) : Device(std::string(machine.name), machine) {}

  ~RecordingDevice() override {
    while (!blocks_.empty()) RecordingDevice::deallocate(*blocks_.begin(), 0);
  }

  // Pages that nobody touches cost nothing.
  void* allocate(std::int64_t bytes) override {
    constexpr std::int64_t kAlign = 64;
    void* address = std::calloc(static_cast<std::size_t>(bytes + 2 * kAlign), 1);
    if (address == nullptr) throw std::bad_alloc();
    auto* aligned =
        reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(address) + 2 * kAlign - 1) / kAlign * kAlign);
    std::memcpy(aligned - sizeof(void*), &address, sizeof(void*));
    blocks_.insert(aligned);
    return aligned;
  }
  void deallocate(void* address, std::int64_t) noexcept override {
    blocks_.erase(address);
    void* begin = nullptr;
    std::memcpy(&begin, static_cast<std::byte*>(address) - sizeof(void*), sizeof(void*));
    std::free(begin);
  }
  void copy_in(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void copy_out(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void run(const std::shared_ptr<const tile::Executable>& executable, std::span<const tile::Binding>) override {
    recorded.push_back(executable->shared_program());
  }

  std::vector<std::shared_ptr<const tile::Program>> recorded;

 private:
  std::set<void*> blocks_;
};

// Everything is the simulator's; programs are kept on the way.
class KeepingDevice final : public tile::Device {
 public:
  KeepingDevice(const tile::Machine& machine, Executor simulator)
      : Device(std::string(machine.name), machine),
        simulator_(std::move(simulator)),
        device_(tile::device_of(simulator_)) {}

  void* allocate(std::int64_t bytes) override { return device_.allocate(bytes); }
  void deallocate(void* address, std::int64_t bytes) noexcept override { device_.deallocate(address, bytes); }
  void copy_in(void* to, const void* from, std::int64_t bytes) override { device_.copy_in(to, from, bytes); }
  void copy_out(void* to, const void* from, std::int64_t bytes) override { device_.copy_out(to, from, bytes); }
  void copy_within(void* to, const void* from, std::int64_t bytes) override { device_.copy_within(to, from, bytes); }
  void synchronize() override { device_.synchronize(); }
  void drain() noexcept override { device_.drain(); }
  [[nodiscard]] double clock() const override { return device_.clock(); }
  std::shared_ptr<const tile::Executable> load(std::shared_ptr<const tile::Program> program) override {
    return device_.load(std::move(program));
  }
  void run(const std::shared_ptr<const tile::Executable>& executable,
           std::span<const tile::Binding> bindings) override {
    kept.push_back(executable->shared_program());
    device_.run(executable, bindings);
  }

  std::vector<std::shared_ptr<const tile::Program>> kept;

 private:
  Executor simulator_;
  tile::Device& device_;
};

}  // namespace

std::vector<std::shared_ptr<const tile::Program>> executed_programs(const tile::Machine& machine,
                                                                    const std::function<void(const Executor&)>& call) {
  const auto device = std::make_shared<KeepingDevice>(machine, neuron::open_simulator(machine.name));
  call(Executor(device));
  return device->kept;
}

std::vector<std::shared_ptr<const tile::Program>> recorded_programs(const tile::Machine& machine,
                                                                    const std::function<void(const Executor&)>& call) {
  const auto device = std::make_shared<RecordingDevice>(machine);
  call(Executor(device));
  return device->recorded;
}

}  // namespace trn::tools

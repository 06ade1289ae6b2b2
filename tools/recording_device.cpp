// Devices that keep what they are asked to run: see recording_device.hpp.
#include "recording_device.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include <trn/core/error.hpp>
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
    kept.push_back({executable->shared_program(), {}});
    if (with_operands) kept.back().operands = operands(executable->program(), bindings);
    device_.run(executable, bindings);
  }

  std::vector<KeptRun> kept;
  bool with_operands = false;

 private:
  [[nodiscard]] ProgramOperands operands(const tile::Program& program, std::span<const tile::Binding> bindings) {
    const auto bound = [&](const std::string& name) {
      return std::find_if(bindings.begin(), bindings.end(), [&](const tile::Binding& b) { return b.name == name; });
    };
    ProgramOperands all(program.tensors().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const tile::TensorDecl& t = program.tensors()[i];
      if (t.kind == tile::TensorKind::Scratch || (t.kind == tile::TensorKind::Output && t.alias.empty())) continue;
      auto found = bound(t.name);
      for (const tile::TensorDecl& o : program.tensors()) {
        if (found == bindings.end() && o.alias == t.name) found = bound(o.name);  // its memory is that output's
      }
      ensure(found != bindings.end(), "program '{}': nothing is bound to '{}'", program.name(), t.name);
      all[i].resize(operand_bytes(t));
      const auto* first = static_cast<const std::byte*>(found->address()) +
                          offset_range(t.shape, t.strides).lowest * size_bytes(t.dtype);
      device_.copy_out(all[i].data(), first, static_cast<std::int64_t>(all[i].size()));
    }
    return all;
  }

  Executor simulator_;
  tile::Device& device_;
};

}  // namespace

std::vector<std::shared_ptr<const tile::Program>> executed_programs(const tile::Machine& machine,
                                                                    const std::function<void(const Executor&)>& call) {
  const auto device = std::make_shared<KeepingDevice>(machine, neuron::open_simulator(machine.name));
  call(Executor(device));
  std::vector<std::shared_ptr<const tile::Program>> programs;
  for (const KeptRun& run : device->kept) programs.push_back(run.program);
  return programs;
}

KeptCall kept_call(const tile::Machine& machine, const std::function<void(const Executor&)>& call) {
  const auto device = std::make_shared<KeepingDevice>(machine, neuron::open_simulator(machine.name));
  device->with_operands = true;
  KeptCall all;
  device->events().subscribe([&](const Event& event) {
    if (event.kind == EventKind::Dispatch && event.family == "device") all.operations.insert(event.subject);
  });
  call(Executor(device));
  all.runs = std::move(device->kept);
  return all;
}

std::size_t operand_bytes(const tile::TensorDecl& tensor) {
  const OffsetRange range = offset_range(tensor.shape, tensor.strides);
  return static_cast<std::size_t>((range.highest - range.lowest + 1) * size_bytes(tensor.dtype));
}

std::vector<std::shared_ptr<const tile::Program>> recorded_programs(const tile::Machine& machine,
                                                                    const std::function<void(const Executor&)>& call) {
  const auto device = std::make_shared<RecordingDevice>(machine);
  call(Executor(device));
  return device->recorded;
}

}  // namespace trn::tools

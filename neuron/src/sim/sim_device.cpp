// The simulated device behind `sim:trnN`: HBM is host memory that knows which of its bytes were ever written.
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>

#include "memory.hpp"
#include "run.hpp"

namespace trn::neuron {

using namespace trn::tile;

namespace {

class SimDevice final : public Device, private sim::HbmShadow {
 public:
  SimDevice(std::string name, const Machine& machine, const SimOptions& options)
      : Device(std::move(name), machine), options_(options) {}

  void* allocate(std::int64_t bytes) override {
    const std::scoped_lock lock(mutex_);
    if (used_bytes_ + bytes > machine().hbm_bytes_per_chip) {
      throw DeviceError(fmt::format("{}: {} bytes asked for while {} of {} bytes of HBM are in use; free arrays or use smaller ones",
                                    name(), bytes, used_bytes_, machine().hbm_bytes_per_chip),
                        "over-capacity");
    }
    // Both grow with what is touched: a large array costs nothing until it is used.
    auto block = std::make_unique<Block>(bytes);
    std::byte* address = block->data.data();
    blocks_.emplace(address, std::move(block));
    used_bytes_ += bytes;
    return address;
  }
  void deallocate(void* address, std::int64_t bytes) noexcept override {
    const std::scoped_lock lock(mutex_);
    blocks_.erase(static_cast<std::byte*>(address));
    used_bytes_ -= bytes;
  }
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override {
    std::uint8_t* written = require_inside(to, bytes, "copy to");
    std::memcpy(to, from_host, static_cast<std::size_t>(bytes));
    std::memset(written, 1, static_cast<std::size_t>(bytes));
  }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    (void)require_inside(from, bytes, "copy from");
    std::memcpy(to_host, from, static_cast<std::size_t>(bytes));
  }

  void run(const Program& program, std::span<const Binding> bindings) override {
    check_bindings(program, bindings);
    const std::shared_ptr<const sim::Prepared> ready = prepared(program);
    const RunReport report = sim::run(*ready, machine(), bindings, options_, {}, this);
    events().emit({EventKind::Run, program.name(), "device", 0, report.seconds});
  }

 private:
  struct Block {
    explicit Block(std::int64_t size) : bytes(size), data(size), written(size) {}
    std::int64_t bytes;
    sim::LazyBytes data, written;  // written: not zero where something was
  };

  // The written-state of `bytes` bytes from `address` on, all inside one array.
  std::uint8_t* require_inside(const void* address, std::int64_t bytes, const std::string& who) {
    const std::scoped_lock lock(mutex_);
    const auto* at = static_cast<const std::byte*>(address);
    const auto next = blocks_.upper_bound(const_cast<std::byte*>(at));
    const Block* block = next == blocks_.begin() ? nullptr : std::prev(next)->second.get();
    const std::int64_t offset = block ? at - block->data.data() : 0;
    if (!block || offset + bytes > block->bytes) {
      throw DeviceError(fmt::format("{}: {} {} bytes at {} reaches outside the arrays of this device; allocate them on it, "
                                    "with room for every element of the view",
                                    name(), who, bytes, address),
                        "out-of-bounds");
    }
    return reinterpret_cast<std::uint8_t*>(block->written.data()) + offset;
  }

  void check_bindings(const Program& program, std::span<const Binding> bindings) {
    for (const TensorDecl& tensor : program.tensors()) {
      const void* address = sim::bound_address(program, tensor, bindings);
      if (!address) continue;
      const OffsetRange range = offset_range(tensor.shape, tensor.strides);
      const std::int64_t element = size_bytes(tensor.dtype);
      (void)require_inside(static_cast<const std::byte*>(address) + range.lowest * element,
                           (range.highest - range.lowest + 1) * element, fmt::format("tensor '{}' of", tensor.name));
    }
  }

  std::uint8_t* state(const void* address) override { return require_inside(address, 0, "state of"); }

  // The last programs, verified, scheduled and placed.
  std::shared_ptr<const sim::Prepared> prepared(const Program& program) {
    constexpr std::size_t kKeep = 64;
    const std::scoped_lock lock(mutex_);
    for (auto entry = prepared_.begin(); entry != prepared_.end(); ++entry) {
      if (entry->first == program) {
        prepared_.splice(prepared_.begin(), prepared_, entry);
        return prepared_.front().second;
      }
    }
    prepared_.emplace_front(program, std::make_shared<const sim::Prepared>(sim::prepare(program, machine())));
    if (prepared_.size() > kKeep) prepared_.pop_back();
    return prepared_.front().second;
  }

  SimOptions options_;
  std::mutex mutex_;
  std::map<std::byte*, std::unique_ptr<Block>> blocks_;
  std::int64_t used_bytes_ = 0;
  std::list<std::pair<Program, std::shared_ptr<const sim::Prepared>>> prepared_;
};

}  // namespace

Executor open_simulator(std::string_view machine_name, const SimOptions& options) {
  return Executor(
      std::make_shared<SimDevice>(fmt::format("sim:{}", machine_name), tile::machine(machine_name), options));
}

}  // namespace trn::neuron

// The simulated device behind `sim:trnN`: HBM is host memory that knows which of its bytes were ever written.
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>

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
    require(used_bytes_ + bytes <= machine().hbm_bytes_per_chip,
            "{}: {} bytes asked for, {} of {} bytes of HBM are in use", name(), bytes, used_bytes_,
            machine().hbm_bytes_per_chip);
    Block block{bytes, {}};
    void* address = std::aligned_alloc(64, static_cast<std::size_t>((bytes + 64) / 64 * 64));
    if (!address) fail<DeviceError>("{}: the host has no {} bytes for simulated HBM", name(), bytes);
    block.written.assign(static_cast<std::size_t>(bytes), 0);
    used_bytes_ += bytes;
    blocks_.emplace(static_cast<std::byte*>(address), std::move(block));
    return address;
  }
  void deallocate(void* address, std::int64_t bytes) noexcept override {
    const std::scoped_lock lock(mutex_);
    blocks_.erase(static_cast<std::byte*>(address));
    used_bytes_ -= bytes;
    std::free(address);
  }
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override {
    std::memcpy(to, from_host, static_cast<std::size_t>(bytes));
    if (std::uint8_t* written = state(to)) std::memset(written, 1, static_cast<std::size_t>(bytes));
  }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    std::memcpy(to_host, from, static_cast<std::size_t>(bytes));
  }

  void run(const Program& program, std::span<const Binding> bindings) override {
    const std::shared_ptr<const sim::Prepared> ready = prepared(program);
    const RunReport report = sim::run(*ready, machine(), bindings, options_, {}, this);
    events().emit({EventKind::Run, program.name(), "device", 0, report.seconds});
  }

 private:
  struct Block {
    std::int64_t bytes;
    std::vector<std::uint8_t> written;
  };

  std::uint8_t* state(const void* address) override {
    const std::scoped_lock lock(mutex_);
    const auto* at = static_cast<const std::byte*>(address);
    auto block = blocks_.upper_bound(const_cast<std::byte*>(at));
    if (block == blocks_.begin()) return nullptr;
    --block;
    const auto offset = at - block->first;
    return offset < block->second.bytes ? block->second.written.data() + offset : nullptr;
  }

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
  std::map<std::byte*, Block> blocks_;
  std::int64_t used_bytes_ = 0;
  std::list<std::pair<Program, std::shared_ptr<const sim::Prepared>>> prepared_;
};

}  // namespace

Executor open_simulator(std::string_view machine_name, const SimOptions& options) {
  return Executor(
      std::make_shared<SimDevice>(fmt::format("sim:{}", machine_name), tile::machine(machine_name), options));
}

}  // namespace trn::neuron

// Executor: where memory lives and where operations run. A cheap handle; copies share the backend.
//
//   auto exec = trn::Executor::open("sim:trn2");
//
// An executor is one logical core with its own memory and one queue: runs, copies and frees happen in the order in
// which they are asked for. A run may return before it is done. What fails behind the caller is thrown by the next copy
// out or synchronize(), with the program's name; runs that were queued behind it are not started, and what they and the
// failed run would have written is undefined. Copies in and frees still happen. Afterwards the queue is empty and
// usable.
//
// Backend is what an executor kind implements: a memory space and its events. Device kernels need more (a machine and a
// way to run programs); that is tile::Device, which derives from Backend.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trn/core/event.hpp>

namespace trn {

// Which kernels run there. The simulator and silicon share the Device family.
enum class Family : std::uint8_t { Host, Device };
[[nodiscard]] const char* name(Family family);

class Backend {
 public:
  explicit Backend(std::string name, Family family) : name_(std::move(name)), family_(family) {}
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Family family() const { return family_; }
  [[nodiscard]] EventHub& events() { return events_; }

  // Addresses of this memory space; 64-byte aligned. A host program may dereference them only when family() is Host.
  // Zero bytes are legal everywhere. Buffer and copy() emit the events of these calls; a backend does not. allocate
  // throws DeviceError when the memory is exhausted.
  virtual void* allocate(std::int64_t bytes) = 0;
  virtual void deallocate(void* address, std::int64_t bytes) noexcept = 0;
  virtual void copy_in(void* to, const void* from_host, std::int64_t bytes) = 0;
  virtual void copy_out(void* to_host, const void* from, std::int64_t bytes) = 0;
  // Both in this memory, not overlapping. By way of the host unless the backend knows better.
  virtual void copy_within(void* to, const void* from, std::int64_t bytes);

  // Returns when everything asked for so far has happened; throws what failed.
  virtual void synchronize() {}
  // The same without throwing: a failure waits for the next copy out or synchronize().
  virtual void drain() noexcept {}
  // Modelled seconds of the runs done so far; 0 where time is not modelled.
  [[nodiscard]] virtual double clock() const { return 0; }
  // Modelled time goes on to `until` at least, and listeners hear this event of it: a rank waits for others. Where time
  // is not modelled they hear the event as it is.
  virtual void pass_time(Event event, double until);

 private:
  std::string name_;
  Family family_;
  EventHub events_;
};

class Executor {
 public:
  // "host", "sim:trn2" and the others of known(), which are what this machine has; any other name throws
  // InvalidArgument that lists them. An empty name takes the best there is on this machine. Defined by the neuron
  // component, the one that knows every kind; core and the libraries link without it.
  [[nodiscard]] static Executor open(std::string_view name = "");
  [[nodiscard]] static std::vector<std::string> known();

  // The process-wide host executor.
  [[nodiscard]] static Executor host();

  explicit Executor(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}

  [[nodiscard]] const std::string& name() const { return backend_->name(); }
  [[nodiscard]] Family family() const { return backend_->family(); }
  [[nodiscard]] Backend& backend() const { return *backend_; }
  void synchronize() const { backend_->synchronize(); }
  [[nodiscard]] const std::shared_ptr<Backend>& shared_backend() const { return backend_; }
  // Same memory space.
  friend bool operator==(const Executor& a, const Executor& b) { return a.backend_ == b.backend_; }

 private:
  std::shared_ptr<Backend> backend_;
};

}  // namespace trn

// Device: what sits behind an executor of the device family. It has a machine, loads and runs programs on bound HBM
// memory, and keeps the programs and constants it was asked for. The simulator and libnrt implement it; libraries use
// it through launch() (launch.hpp).
#pragma once

#include <any>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/tile/constants.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

// Memory for one Input or Output tensor of a program: element (0, 0, ...) lies `offset` bytes behind `base`. An Output
// needs memory that may be written.
struct Binding {
  Binding(std::string tensor, void* memory, std::int64_t bytes = 0)
      : name(std::move(tensor)), base(memory), offset(bytes), writable(true) {}
  Binding(std::string tensor, const void* memory, std::int64_t bytes = 0)
      : name(std::move(tensor)), base(memory), offset(bytes), writable(false) {}

  [[nodiscard]] const void* address() const { return base ? static_cast<const std::byte*>(base) + offset : nullptr; }

  std::string name;
  const void* base;
  std::int64_t offset;
  bool writable;
};

// A program made ready for one device: what Device::load returns and Device::run takes. Kept with the program in the
// cache, so that verifying, placing or compiling it happens once.
class Executable {
 public:
  explicit Executable(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  virtual ~Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const std::shared_ptr<const Program>& shared_program() const { return program_; }

 private:
  std::shared_ptr<const Program> program_;
};

class Device;

// A function that builds a program from its whole argument struct, for one machine. It depends on nothing else.
template <class Args> using ProgramBuilder = Program (*)(const Args&, const Machine&);

// Loaded programs by the function that builds them and its arguments. The oldest unused entry goes first.
class ProgramCache {
 public:
  explicit ProgramCache(std::size_t limit = 64) : limit_(limit) {}

  // Args needs ==. A debug build rebuilds on a hit and compares. Building, loading and events happen outside the lock,
  // so a listener may use the cache again.
  template <class Args>
  std::shared_ptr<const Executable> get(Device& device, ProgramBuilder<Args> build, const Args& args);

 private:
  using AnyFunction = void (*)();
  struct Entry {
    AnyFunction build;
    std::any args;
    std::shared_ptr<const Executable> executable;
  };

  template <class Args> std::shared_ptr<const Executable> find(AnyFunction build, const Args& args) {
    const std::scoped_lock lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->build != build) continue;
      const Args* key = std::any_cast<Args>(&entry->args);
      if (!key || !(*key == args)) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return entry->executable;
    }
    return nullptr;
  }
  void keep(Entry entry) {
    const std::scoped_lock lock(mutex_);
    entries_.push_front(std::move(entry));
    if (entries_.size() > limit_) entries_.pop_back();
  }

  std::size_t limit_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

class Device : public Backend {
 public:
  Device(std::string name, const Machine& machine)
      : Backend(std::move(name), Family::Device), machine_(machine), constants_(*this) {}
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] ProgramCache& programs() { return programs_; }
  [[nodiscard]] Constants& constants() { return constants_; }

  // Throws when the program breaks a rule of this device's machine.
  [[nodiscard]] virtual std::shared_ptr<const Executable> load(std::shared_ptr<const Program> program) {
    return std::make_shared<Executable>(std::move(program));
  }
  // Every Input and Output of the program must be bound, by name; names that the program does not declare are passed
  // over. May return before the program has run: see executor.hpp. A Run event follows when it has.
  virtual void run(const std::shared_ptr<const Executable>& executable, std::span<const Binding> bindings) = 0;

 private:
  const Machine& machine_;
  ProgramCache programs_;
  Constants constants_;
};

template <class Args>
std::shared_ptr<const Executable> ProgramCache::get(Device& device, ProgramBuilder<Args> build, const Args& args) {
  const auto key = reinterpret_cast<AnyFunction>(build);
  EventHub& events = device.events();
  if (auto executable = find(key, args)) {
    if (events.has_listeners()) events.emit({EventKind::CacheHit, executable->program().name()});
#ifndef NDEBUG
    ensure(build(args, device.machine()) == executable->program(),
           "program cache: rebuilding '{}' gave another program: "
           "its builder does not depend on its arguments alone",
           executable->program().name());
#endif
    return executable;
  }
  auto executable = device.load(std::make_shared<const Program>(build(args, device.machine())));
  keep({key, args, executable});
  if (events.has_listeners()) events.emit({EventKind::Build, executable->program().name()});
  return executable;
}

// The device behind an executor; throws InvalidArgument when its family is Host.
[[nodiscard]] Device& device_of(const Executor& executor);

}  // namespace trn::tile

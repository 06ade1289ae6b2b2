// Device: what sits behind an executor of the device family. It has a machine, runs programs on bound HBM memory, and
// keeps the programs it was asked for. Libraries see this; the simulator and libnrt implement it.
#pragma once

#include <any>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <trn/core/executor.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

// Memory for one Input or Output tensor of a program: the address of its element (0, 0, ...).
struct Binding {
  std::string name;
  void* address = nullptr;
};

// Programs by the whole argument struct of the function that builds them. The oldest unused entry goes first.
class ProgramCache {
 public:
  explicit ProgramCache(EventHub& events, std::size_t limit = 64) : events_(events), limit_(limit) {}

  // Args needs ==; build(args) returns a Program. A debug build rebuilds on a hit and compares. Building and events happen
  // outside the lock, so a listener may use the cache again.
  template <class Args, class Build> std::shared_ptr<const Program> get(const Args& args, Build build) {
    if (auto program = find(args)) {
      events_.emit({EventKind::CacheHit, program->name()});
#ifndef NDEBUG
      ensure(build(args) == *program, "program cache: rebuilding '{}' gave another program: its builder does not "
             "depend on its arguments alone", program->name());
#endif
      return program;
    }
    auto program = std::make_shared<const Program>(build(args));
    {
      const std::scoped_lock lock(mutex_);
      entries_.push_front({args, program});
      if (entries_.size() > limit_) entries_.pop_back();
    }
    events_.emit({EventKind::Build, program->name()});
    return program;
  }

 private:
  struct Entry { std::any key; std::shared_ptr<const Program> program; };

  template <class Args> std::shared_ptr<const Program> find(const Args& args) {
    const std::scoped_lock lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      const Args* key = std::any_cast<Args>(&entry->key);
      if (!key || !(*key == args)) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return entry->program;
    }
    return nullptr;
  }

  EventHub& events_;
  std::size_t limit_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

class Device : public Backend {
 public:
  Device(std::string name, const Machine& machine)
      : Backend(std::move(name), Family::Device), machine_(machine), programs_(events()) {}
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] ProgramCache& programs() { return programs_; }
  // Every Input and Output of the program must be bound, by name. Emits a Run event.
  virtual void run(const Program& program, std::span<const Binding> bindings) = 0;

 private:
  const Machine& machine_;
  ProgramCache programs_;
};

// The device behind an executor; throws InvalidArgument when its family is Host.
[[nodiscard]] Device& device_of(const Executor& executor);

}  // namespace trn::tile

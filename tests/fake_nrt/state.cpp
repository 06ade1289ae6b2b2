// The fake's state, and what tests ask of it: see state.hpp and control.hpp.
#include "state.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "control.hpp"

namespace fake {

State& state() {
  // Never destroyed: the process may end while others still call.
  static State& the_state = [&]() -> State& {
    auto* made = new State;
    const char* rules = std::getenv("TRN_FAKE_NRT");
    made->rules = read_rules(rules ? rules : "");
    return *made;
  }();
  return the_state;
}

FakeCore& State::core(int index) {
  auto& found = cores[index];
  if (!found) {
    found = std::make_unique<FakeCore>();
    found->queue.reserve(rules.depth);  // a warm call allocates nothing here: tests count
  }
  return *found;
}

void State::use(const FakeSet& set, int change) {
  for (const auto& [name, tensor] : set.tensors) tensor->storage->pending += change;
}

const Fault* State::counted(const char* function) {
  auto known = calls.find(std::string_view(function));
  if (known == calls.end()) known = calls.emplace(function, 0).first;
  const std::uint64_t number = ++known->second;
  for (const Fault& fault : rules.faults) {
    if (fault.call != function || number < fault.nth) continue;
    if (fault.count == 0 || number < fault.nth + fault.count) return &fault;
  }
  return nullptr;
}

void hang(std::unique_lock<std::mutex>& lock) {
  State& s = state();
  s.changed.wait(lock, [&s, before = s.resets] { return s.resets != before; });
}

namespace {

void forget(State& s) {
  for (FakeTensor* tensor : s.tensors) delete tensor;
  for (FakeSet* set : s.sets) delete set;
  for (FakeModel* model : s.models) delete model;
  for (void* info : s.infos) std::free(info);
  s.tensors.clear();
  s.sets.clear();
  s.models.clear();
  s.infos.clear();
  s.cores.clear();
  if (s.lock_file >= 0) close(s.lock_file);
  s.lock_file = -1;
}

}  // namespace
}  // namespace fake

extern "C" {

void trn_fake_reset(const char* rules) {
  fake::State& s = fake::state();
  std::unique_lock lock(s.mutex);
  ++s.resets;
  s.changed.notify_all();
  s.changed.wait(lock, [&] { return s.executing == 0; });
  fake::forget(s);
  s.phase = fake::State::Phase::Fresh;
  s.rules = fake::read_rules(rules);
  s.calls.clear();
  s.violations.clear();
  s.runs = 0;
  s.clock_us = 0;
  s.tracing = false;
  s.trace.clear();
  s.profiled = nullptr;
}

void trn_fake_release() {
  fake::State& s = fake::state();
  const std::scoped_lock lock(s.mutex);
  s.rules.stuck = -1;
  ++s.resets;
  s.changed.notify_all();
}

std::uint64_t trn_fake_count(const char* what) {
  fake::State& s = fake::state();
  const std::scoped_lock lock(s.mutex);
  const std::string word = what;
  if (word == "tensors") return s.tensors.size();
  if (word == "sets") return s.sets.size();
  if (word == "models") return s.models.size();
  if (word == "infos") return s.infos.size();
  if (word == "violations") return s.violations.size();
  if (word == "runs") return s.runs;
  if (word == "calls") {
    std::uint64_t sum = 0;
    for (const auto& [function, number] : s.calls) sum += function == "complete" ? 0 : number;
    return sum;
  }
  const auto found = s.calls.find(word);
  return found == s.calls.end() ? 0 : found->second;
}

const char* trn_fake_violations() {
  fake::State& s = fake::state();
  const std::scoped_lock lock(s.mutex);
  static std::string text;
  text.clear();
  for (const std::string& line : s.violations) text += line + "\n";
  return text.c_str();
}

double trn_fake_clock() {
  fake::State& s = fake::state();
  const std::scoped_lock lock(s.mutex);
  return s.clock_us;
}

void trn_fake_work(double microseconds) {
  fake::State& s = fake::state();
  const std::scoped_lock lock(s.mutex);
  s.clock_us += microseconds;
}

}  // extern "C"

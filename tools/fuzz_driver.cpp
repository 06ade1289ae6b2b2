// The loop over the cases of `trnsci fuzz`, see fuzz_driver.hpp.
#include "fuzz_driver.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <map>

#include <sys/time.h>
#include <unistd.h>

#include <fmt/core.h>

#include <trn/core/error.hpp>

#include "output.hpp"

namespace trn::tools::fuzz {
namespace {

// The line of the case that runs now, where a signal handler can find it.
char current_line[1024];
int current_size = 0;
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
struct sigaction before[std::size(kSignals)];

// Writes the line, then lets the signal do what it did before.
void say_and_die(int signal) {
  (void)!write(STDERR_FILENO, current_line, static_cast<std::size_t>(current_size));
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] == signal) sigaction(signal, &before[i], nullptr);
  }
}

class Handlers {
 public:
  Handlers() {
    struct sigaction action = {};
    action.sa_handler = say_and_die;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before[i]);
  }
  ~Handlers() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
};

// A case that hangs dies with its line: after ten minutes of this process's processor time, so that a loaded machine
// ends no case, or after an hour in which it waits for something.
class TimeLimit {
 public:
  TimeLimit() {
    for (const int signal : {SIGPROF, SIGALRM}) std::signal(signal, [](int) { std::abort(); });
    set(600, 3600);
  }
  ~TimeLimit() { set(0, 0); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  static void set(int processor_seconds, unsigned seconds) {
    itimerval timer = {};
    timer.it_value.tv_sec = processor_seconds;
    setitimer(ITIMER_PROF, &timer, nullptr);
    alarm(seconds);
  }
};

struct Count {
  std::int64_t done = 0, refused = 0;
};

}  // namespace

void add_span(Options& options, Span& span) {
  options.real("--seconds", span.seconds, "how long", 0.001, 1e9);
  options.number("--seed", span.seed, "of the first case; the next ones follow");
  options.number("--cases", span.cases, "this many cases instead of a time", 0, kAnyCount);
}

void drive(const Span& span, const std::string& command,
           const std::function<void(std::uint64_t seed, Current& current)>& run) {
  const Handlers handlers;
  const auto begin = std::chrono::steady_clock::now();
  std::map<std::string, Count> counts;
  std::int64_t tried = 0, refused = 0;
  for (std::uint64_t seed = span.seed;; ++seed, ++tried) {
    if (span.cases > 0 && tried == span.cases) break;
    if (span.cases == 0 &&
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > span.seconds)
      break;
    const std::string again = fmt::format("{} --seed {} --cases 1", command, seed);
    current_size = std::snprintf(current_line, sizeof current_line, "fuzz: died; again: %s\n", again.c_str());
    current_size = std::min(current_size, static_cast<int>(sizeof current_line) - 1);
    Current current;
    try {
      const TimeLimit limit;
      run(seed, current);
      ++counts[current.operation].done;
    } catch (const NotImplemented&) {
      ++counts[current.operation].refused;
      ++refused;
    } catch (const Finding& finding) {
      fail<Error>("fuzz: {}: {}; again: {}", current.what, finding.text, again);
    } catch (const std::exception& error) {
      fail<Error>("fuzz: {}: refused or failed: {}; again: {}", current.what, error.what(), again);
    }
  }
  std::string idle;
  for (const auto& [operation, count] : counts) {
    if (count.done == 0) idle += fmt::format("{}{} ({} refused)", idle.empty() ? "" : ", ", operation, count.refused);
  }
  say("{} --seed {}: {} cases of {} operations, {} checked and without a finding, {} refused as not implemented",
      command, span.seed, tried, counts.size(), tried - refused, refused);
  if (!idle.empty()) fail<Error>("fuzz: no case of these was ever checked: {}", idle);
}

}  // namespace trn::tools::fuzz

// Repeating a measurement: the fastest of several runs, and not for ever.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include <trn/core/event.hpp>
#include <trn/core/executor.hpp>

namespace trn::tools {

// Whether an executor has a timing model: simulators do, hardware is measured by the clock.
[[nodiscard]] inline bool has_model(const Executor& executor) { return executor.name().starts_with("sim:"); }

// The modelled time of what a recorder saw; nothing where there is no model.
[[nodiscard]] inline std::optional<double> modelled_time(const Executor& executor, const Recorder& recorder) {
  return has_model(executor) ? std::optional(recorder.modelled_seconds()) : std::nullopt;
}

struct Measured {
  double fastest_s = 0;
  int runs = 0;
};

// The clock on the wall, or this thread's processor time: on a machine that does other things too, only the latter
// compares two single-threaded calls.
enum class Clock : bool { Wall, Processor };
[[nodiscard]] inline double now_s(Clock clock) {
  if (clock == Clock::Wall)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Calls run() up to `repeats` times, at least once, until the runs together took a few seconds. Events of the first run
// are the operation's; the others are repetitions, so that a Recorder's modelled time is that of one run.
template <class F> [[nodiscard]] Measured measure(int repeats, F run, Clock clock = Clock::Wall) {
  constexpr double kEnoughSeconds = 5;
  Measured m;
  double spent = 0;
  while (m.runs == 0 || (m.runs < repeats && spent < kEnoughSeconds)) {
    const PurposeScope purpose(m.runs == 0 ? Purpose::Operation : Purpose::Repeat);
    const double begin = now_s(clock);
    run();
    const double seconds = now_s(clock) - begin;
    m.fastest_s = m.runs == 0 ? seconds : std::min(m.fastest_s, seconds);
    spent += seconds;
    ++m.runs;
  }
  return m;
}

// The same for calls that may return before an executor's queue has done them.
template <class F>
[[nodiscard]] Measured measure(const Executor& executor, int repeats, F run, Clock clock = Clock::Wall) {
  return measure(
      repeats,
      [&] {
        run();
        executor.synchronize();
      },
      clock);
}

}  // namespace trn::tools

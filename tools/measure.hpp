// Repeating a measurement: the fastest of several runs, and not for ever.
#pragma once

#include <algorithm>
#include <chrono>

namespace trn::tools {

struct Measured {
  double fastest_s = 0;
  int runs = 0;
};

// Calls run() up to `repeats` times, at least once, until the runs together took a few seconds.
template <class F> [[nodiscard]] Measured measure(int repeats, F run) {
  constexpr double kEnoughSeconds = 5;
  Measured m;
  double spent = 0;
  while (m.runs == 0 || (m.runs < repeats && spent < kEnoughSeconds)) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    m.fastest_s = m.runs == 0 ? seconds : std::min(m.fastest_s, seconds);
    spent += seconds;
    ++m.runs;
  }
  return m;
}

}  // namespace trn::tools

// The stopwatch of the speed programs: several ways to do the same thing, timed in turn, so that a disturbance meets
// them all.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <vector>

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Smallest seconds of one call, the candidates in turn.
inline std::vector<double> race(const std::vector<std::function<void()>>& candidates, double seconds) {
  std::vector<double> best(candidates.size(), std::numeric_limits<double>::infinity());
  std::vector<int> calls(candidates.size(), 1);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i]) continue;
    candidates[i]();
    const double start = now();
    candidates[i]();
    calls[i] = std::max(1, static_cast<int>(20e-6 / std::max(now() - start, 1e-9)));
  }
  const double begin = now(), span = seconds * static_cast<double>(candidates.size());
  for (int round = 0; round < 5 || now() - begin < span; ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i]) continue;
      const double start = now();
      for (int k = 0; k < calls[i]; ++k) candidates[i]();
      best[i] = std::min(best[i], (now() - start) / calls[i]);
    }
  return best;
}

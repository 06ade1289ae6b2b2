// Threads over equal parts of a count.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "line_plan.hpp"

namespace trn::fft::host {

// part(begin, end, thread) for consecutive parts of 0 .. count, each in its own thread.
template <class F>
void in_parts(std::int64_t count, int threads, const F& part) {
  threads = static_cast<int>(std::min<std::int64_t>(threads, count));
  if (threads <= 1) return part(0, count, 0);
  Meeting after;
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num(), team = omp_get_num_threads();
    part(count * thread / team, count * (thread + 1) / team, thread);
    after.wait(team);
  }
}

}  // namespace trn::fft::host

// Loops shared among threads: the one way the libraries' host code does it. The team of threads (team.hpp) does the
// work, so an exception in a body ends the loop and reaches the caller. The number of threads is OpenMP's, so that
// OMP_NUM_THREADS and omp_set_num_threads() mean what they say, and within an OpenMP region a loop stays with its
// caller. For libraries that link OpenMP; core itself does not.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <trn/core/team.hpp>

namespace trn {

// Of a loop that is worth sharing; 1 of one that is not.
[[nodiscard]] inline int loop_threads(bool worth_sharing = true) {
  return worth_sharing && !omp_in_parallel() ? std::max(1, omp_get_max_threads()) : 1;
}

// part(begin, end, worker) for ranges that make up [0, count): a few for each thread, so that one that starts late or
// loses its core does less. `worker` is in [0, threads), and no two parts run at the same time with the same one.
template <class F> void for_ranges(std::int64_t count, int threads, const F& part) {
  constexpr std::int64_t kRangesPerThread = 4;
  if (threads <= 1 || count <= 1) {
    if (count > 0) part(std::int64_t{0}, count, 0);
    return;
  }
  const std::int64_t ranges = std::min<std::int64_t>(kRangesPerThread * threads, count);
  for_pieces(ranges, threads,
             [&](std::int64_t i, int worker) { part(count * i / ranges, count * (i + 1) / ranges, worker); });
}

// body(i) for i in [0, count), each exactly once. Neighbours go to one thread, a few ranges for each.
template <class F> void parallel_for(std::int64_t count, bool worth_sharing, const F& body) {
  for_ranges(count, loop_threads(worth_sharing), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

// value(0) + value(1) + ... in this order, whatever the number of threads.
template <class Sum, class F> [[nodiscard]] Sum parallel_sum(std::int64_t count, bool worth_sharing, const F& value) {
  std::vector<Sum> values(static_cast<std::size_t>(count));
  parallel_for(count, worth_sharing, [&](std::int64_t i) { values[static_cast<std::size_t>(i)] = value(i); });
  Sum sum{};
  for (const Sum& v : values) sum += v;
  return sum;
}

}  // namespace trn

// How the host's loops are shared among threads: in a few parts for each thread, so that one that starts late or loses
// its core does less (trn/core/team.hpp). The number of threads is OpenMP's, so that OMP_NUM_THREADS and
// omp_set_num_threads() mean what they say.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include <trn/core/team.hpp>

namespace trn::fft {

inline constexpr std::int64_t kPartsPerThread = 4;

// Threads for a call: inside a parallel region the caller's own are enough.
inline int threads_for_call(int wanted) { return wanted > 1 && omp_in_parallel() ? 1 : std::max(wanted, 1); }

// part(begin, end, worker) for ranges that make up [0, count).
template <class F> void for_parts(std::int64_t count, int threads, const F& part) {
  if (threads <= 1) return part(std::int64_t{0}, count, 0);
  const std::int64_t parts = std::min<std::int64_t>(kPartsPerThread * threads, count);
  for_pieces(parts, threads,
             [&](std::int64_t i, int worker) { part(count * i / parts, count * (i + 1) / parts, worker); });
}

// body(i) for i in [0, count), shared when the points are enough to be worth it.
template <class F> void for_rows(std::int64_t count, std::int64_t points, const F& body) {
  constexpr std::int64_t kWorthThreads = 32768;
  for_parts(count, points < kWorthThreads ? 1 : threads_for_call(omp_get_max_threads()),
            [&](std::int64_t begin, std::int64_t end, int) {
              for (std::int64_t i = begin; i < end; ++i) body(i);
            });
}

}  // namespace trn::fft

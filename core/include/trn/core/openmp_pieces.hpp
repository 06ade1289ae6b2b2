// A shared loop for bodies that call OpenBLAS. All other loops: parallel.hpp. For libraries that link OpenMP.
#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <exception>

namespace trn {

// body(piece, worker) for every piece in [0, count) in an OpenMP region of `threads` threads, for bodies that call
// OpenBLAS: within a region, and only there, it stays on the thread that calls it. After an exception no further piece
// begins, and the first one is thrown again.
template <class F> void openmp_pieces(std::int64_t count, int threads, const F& body) {
  if (threads <= 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  std::atomic<bool> failed = false;
  std::exception_ptr error;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      body(i, omp_get_thread_num());
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace trn

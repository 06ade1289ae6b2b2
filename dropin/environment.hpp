// What the drop-ins (BLAS, LAPACK, FFTW) read from their environment, once, at the first call. This is the whole table:
//
//   TRN_EXECUTOR    host (default), sim:trn1, sim:trn2, sim:trn3: where calls run; of several names the first
//   TRN_PRECISION   native (default), tf32, bf16, tf32x3, bf16x6, exact, target=1e-9: how matrices are multiplied
//                   there; level 1 and gemv know native, exact and targets, and take native for the other modes
//   TRN_REPORT      1: when the program ends, one line on stderr for each executor that served calls
//   TRN_FALLBACK    host (default): calls for which the executor has no kernel run on the host, and are counted there;
//                   none: such a call ends the program with a message
//   TRN_LOG         1: a line on stderr for each call that the host serves in place of the executor
//
// An unknown value ends the program with a message: a wrong setting must not look like a result.
#pragma once

#include <trn/core/executor.hpp>
#include <trn/core/precision.hpp>

namespace trn::dropin {

enum class Level : int { One, Two, Three };

struct Environment {
  // The host's owner is kept elsewhere, so that copies of this handle, one for each view, count nothing.
  Executor host, executor;
  bool on_host;              // executor is the host
  Precision products, sums;  // of matrix products; of level 1 and gemv
  bool report;
  bool fallback, log;
  bool plain;  // the host in native precision: nothing to choose for any call
};

// Reads the table for the library called `who`.
[[nodiscard]] Environment read_environment(const char* who);
// The host is about to serve a call: said or refused, as the table has it, where it stands in for another executor.
void note_host_call(const Environment& environment, const char* who);

[[nodiscard]] const Environment& environment();

// Counts a call for the report.
void count(Level level, bool on_host);

}  // namespace trn::dropin

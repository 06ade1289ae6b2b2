// What the drop-in BLAS reads from its environment, once, at the first call. This is the whole table:
//
//   TRN_BLAS_EXECUTOR    host (default), sim:trn1, sim:trn2, sim:trn3: where calls run
//   TRN_BLAS_PRECISION   native (default), tf32, bf16, tf32x3, bf16x6, exact, target=1e-9: how matrices are multiplied
//                        there; level 1 and gemv know native, exact and targets, and take native for the other modes
//   TRN_BLAS_REPORT      1: when the program ends, one line on stderr for each executor that served calls
//
// An unknown value ends the program with a message: a wrong setting must not look like a result.
#pragma once

#include <trn/core/executor.hpp>
#include <trn/core/precision.hpp>

namespace trn::dropin {

enum class Level : int { One, Two, Three };

struct Environment {
  Executor host, executor;
  bool on_host;              // executor is the host
  Precision products, sums;  // of matrix products; of level 1 and gemv
  bool report;
};

[[nodiscard]] const Environment& environment();

// Counts a call for the report.
void count(Level level, bool on_host);

}  // namespace trn::dropin

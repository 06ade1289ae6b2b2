// What surrounds a call: the grid of a BLACS context and its group of ranks, the routine of the ScaLAPACK behind us,
// and the report. Of the environment (../environment.hpp):
//
//   TRN_EXECUTOR    where every rank's part lies and is computed: host (default), or a device for each rank
//   TRN_PRECISION   the mode of products; on devices doubles need exact
//   TRN_REPORT      1: when the program ends, one line per process on stderr: calls served by kind, calls passed on
//   TRN_FALLBACK    none: a call for which a device has no kernel ends the job; host (default): ScaLAPACK serves it
#pragma once

#include <array>

#include <trn/comm/communicator.hpp>

#include "../environment.hpp"

namespace trn::dropin::scalapack {

struct BlacsGrid {
  comm::Communicator group;  // its ranks are the grid's, counted row by row
  int rows, columns, row, column;
};
// Null where this process has no part in the context. Collective over the grid at the first call for a context.
[[nodiscard]] const BlacsGrid* grid_of(int context);

// Read at the first call; ends the program with a message where it cannot be used.
[[nodiscard]] const Environment& settings();

enum class Kind : int { Gemm, Symm, Syrk, Syr2k, Trmm, Trsm, Tran, Potrf, Getrf, Geqrf };
inline constexpr std::array kKindNames{"gemm", "symm", "syrk",  "syr2k", "trmm",
                                       "trsm", "tran", "potrf", "getrf", "geqrf"};
void count(Kind kind);
void count_passed_on();

// The next definition of a name in the process, ScaLAPACK's own; ends the program with a message where there is none.
[[nodiscard]] void* behind(const char* name);
// Prints the message and ends the job.
[[noreturn]] void end_job(const char* routine, const char* message);

}  // namespace trn::dropin::scalapack

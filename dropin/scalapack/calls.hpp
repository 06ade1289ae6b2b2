// What surrounds a call: the grid of a BLACS context and its group of ranks, the routine of the ScaLAPACK behind us,
// and the report.
//
//   TRN_REPORT   1: when the program ends, one line per process on stderr: calls served by kind, calls passed on
#pragma once

#include <array>

#include <trn/comm/communicator.hpp>

namespace trn::dropin::scalapack {

struct BlacsGrid {
  comm::Communicator group;  // its ranks are the grid's, counted row by row
  int rows, columns, row, column;
};
// Null where this process has no part in the context. Collective over the grid at the first call for a context.
[[nodiscard]] const BlacsGrid* grid_of(int context);

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

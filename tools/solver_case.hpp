// One problem of trnsolver for the command line: operands on an executor, the call, its direct counterpart in LAPACK,
// and what can be said about the result.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <trn/core/executor.hpp>
#include <trn/solver/report.hpp>

namespace trn::tools {

struct SolverSize {
  std::int64_t m = 0, n = 0;  // m rows (geqrf, svd); the others are n x n
  std::int64_t nrhs = 1;      // right-hand sides (solve)
  std::int64_t count = 1;     // matrices of a batch
  Precision precision;
};

struct SolverCase {
  std::function<void()> reset;  // the operands as they were; outside of the measured time
  std::function<solver::Report()> call;
  std::function<void()> peer_reset, peer;  // a direct call of LAPACK on copies; the host only
  std::function<double()> error;           // of the last call, in the unit of its bound; see SolverRow::unit
  std::function<double()> condition;       // of the last call's matrix; 0: not known
};

struct SolverRow {
  const char *name, *formula, *peer, *unit;
  double (*flops)(double m, double n, double nrhs);           // of a real problem, as trnsolver counts them
  bool has_m;                                                 // takes --m
  std::int64_t nrhs;                                          // 0: no right-hand sides
  SolverCase (*make[4])(const Executor&, const SolverSize&);  // s, d, c, z
  std::int64_t count = 0;                                     // matrices of a batch; 0: one matrix, no --count
  std::int64_t n = 512;                                       // unless given
};
[[nodiscard]] const std::vector<SolverRow>& solver_rows();
[[nodiscard]] const std::vector<SolverRow>& solver_batched_rows();  // in solver_batched_cases.cpp

class Operation;
[[nodiscard]] std::vector<std::unique_ptr<Operation>> fused_krylov_operations();  // of one program each

}  // namespace trn::tools

// What a solver says about its work: the outcome, the error bound and the algorithm that ran.
//
// A numerical outcome (a singular matrix, a target that was missed) is a result and never an exception. Exceptions are
// for mistakes of the caller (InvalidArgument) and for what has no kernel (NotImplemented).
#pragma once

#include <cstdint>
#include <string_view>

#include <trn/core/precision.hpp>

namespace trn::solver {

enum class Status : std::uint8_t {
  Ok,
  NotPositiveDefinite,
  Singular,
  NotConverged,
  NotFinite,
  TargetMissed,
  Breakdown,  // of an iteration: a division by zero in its recurrence
  NotDefined  // a function of a matrix has no value of its type there
};

// "ok", "not positive definite", ...
[[nodiscard]] std::string_view name(Status status);

// index counts from 0 and is -1 when there is none:
//   NotPositiveDefinite   the first leading minor that is not positive: its last row
//   Singular              the first zero pivot; -1 when the matrix is singular to working precision only
//   NotConverged          the first eigenvalue or singular value that was not found, as LAPACK counts them
//   NotFinite             row * columns + column of the first NaN or infinity that is read, row by row. Operands are
//                         looked at in the order of the arguments; a later one is looked at when the earlier are
//                         finite. Or of the first element of a factor or an inverse that overflowed; of eigenvalues
//                         and singular values, the first that did.
//   Breakdown             the column of B in which it happened
//   NotDefined            the eigenvalue, in the order of the Schur form
struct Outcome {
  Status status = Status::Ok;
  std::int64_t index = -1;
  [[nodiscard]] bool ok() const { return status == Status::Ok; }
  // LAPACK's positive info: index + 1, or 0 without an index.
  [[nodiscard]] std::int64_t lapack_info() const { return index + 1; }
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Rigorous: a proof that holds for this input, rounding counted. Estimate: an a-priori bound or a condition estimate.
enum class Guarantee : std::uint8_t { Estimate, Rigorous };

// What a driver is asked for: an estimate, or a proof (at the cost of a few Exact products).
enum class Certify : std::uint8_t { Estimate, Rigorous };

struct Report {
  Outcome outcome;
  Accuracy accuracy;  // each header says what the bound is relative to
  Guarantee guarantee = Guarantee::Estimate;
  double condition = 0;             // estimate of the condition number in the 1-norm; 0 when not computed
  int iterations = 0;               // steps of refinement
  int levels = 0;                   // approximate inverses in the preconditioner of the refinement; 0 without one
  std::string_view algorithm = {};  // what ran: "cholesky", "lu", ...
};

}  // namespace trn::solver

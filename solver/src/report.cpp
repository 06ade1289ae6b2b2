// Names of outcomes.
#include <trn/solver/report.hpp>

namespace trn::solver {

std::string_view name(Status status) {
  switch (status) {
    case Status::Ok:
      return "ok";
    case Status::NotPositiveDefinite:
      return "not positive definite";
    case Status::Singular:
      return "singular";
    case Status::NotConverged:
      return "not converged";
    case Status::NotFinite:
      return "not finite";
    case Status::TargetMissed:
      return "target missed";
    case Status::Breakdown:
      return "breakdown";
    case Status::NotDefined:
      return "not defined";
  }
  return "unknown";
}

}  // namespace trn::solver

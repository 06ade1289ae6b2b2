// Sizes of workspaces, and what cannot happen.
#include "host/column_major.hpp"

#include "checks.hpp"

namespace trn::solver::host {

void countable_workspace(const char* operation, std::int64_t least) {
  require(least <= checks::kMostInt,
          "{}: the workspace has {} elements; LAPACK counts in 32 bits, up to {}, so the matrix must be smaller",
          operation, least, checks::kMostInt);
}

int best_workspace(std::int64_t least, double queried) {
  queried += std::ceil(queried * 0x1p-23);  // a float may have rounded it down
  const bool usable = queried >= static_cast<double>(least) && queried <= static_cast<double>(checks::kMostInt);
  return to_int(std::max<std::int64_t>(usable ? static_cast<std::int64_t>(queried) : least, 1));
}

void expect_legal(const char* routine, int info) {
  ensure(info >= 0, "solver: LAPACK's {} refused argument {}", routine, -info);
}

}  // namespace trn::solver::host

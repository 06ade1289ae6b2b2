// Factored tridiagonal systems on devices; the entry point is the host's too.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/sparse/tridiagonal.hpp>

namespace trn::sparse {

// Factors, system by system: element i of system k at k * n + i.
struct TridiagonalFactors {
  std::int64_t n = 0, count = 0;
  const float *q, *l, *u;  // x as in tridiagonal_programs.hpp, without signs
};
struct TridiagonalMade {
  TridiagonalReport report;
  std::shared_ptr<const void> state;
};
struct TridiagonalSolveArgs {
  const void* state;
  MatrixView<float> b;
};
namespace device {
TridiagonalMade plan_tridiagonal(const Executor& executor, const TridiagonalFactors& factors);
void solve_tridiagonal(const Executor& executor, const TridiagonalSolveArgs& args);
}  // namespace device
inline constexpr KernelTable<TridiagonalFactors, TridiagonalMade> kTridiagonalPlan{"sparse.tridiagonal.plan", nullptr,
                                                                                   device::plan_tridiagonal};
inline constexpr KernelTable<TridiagonalSolveArgs> kTridiagonalSolve{"sparse.tridiagonal.solve", nullptr,
                                                                     device::solve_tridiagonal};

}  // namespace trn::sparse

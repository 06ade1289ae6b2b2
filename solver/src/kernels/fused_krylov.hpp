// The kernels of fused_krylov.hpp: devices alone. The loop is iterative/fused.cpp.
#pragma once

#include <vector>

#include <trn/core/dispatch.hpp>
#include <trn/solver/krylov_program.hpp>

namespace trn::solver {

// Some steps of one method; x, r and p are (columns, order) in the executor's memory and move on.
struct FusedStepsArgs {
  KrylovShape shape;
  std::int64_t steps;  // 1 to kKrylovSteps
  const float* a;
  float *x, *r, *p;
  std::vector<float> limits;      // Cg
  double two_ratio, two_inverse;  // Chebyshev
  float* rho;                     // Chebyshev, in the executor's memory
};

namespace device {
// (steps, 2, columns): the program's trace.
std::vector<float> fused_steps(const Executor& executor, const FusedStepsArgs& args);
std::int64_t fused_columns(const Executor& executor, const KrylovShape& shape);
}  // namespace device

inline constexpr KernelTable<FusedStepsArgs, std::vector<float>> kFusedCg{"solver.fused_cg", nullptr,
                                                                          device::fused_steps};
inline constexpr KernelTable<FusedStepsArgs, std::vector<float>> kFusedChebyshev{"solver.fused_chebyshev", nullptr,
                                                                                 device::fused_steps};
inline constexpr KernelTable<KrylovShape, std::int64_t> kFusedCgColumns{"solver.fused_cg", nullptr,
                                                                        device::fused_columns};
inline constexpr KernelTable<KrylovShape, std::int64_t> kFusedChebyshevColumns{"solver.fused_chebyshev", nullptr,
                                                                               device::fused_columns};

}  // namespace trn::solver

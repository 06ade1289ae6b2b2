// Products of matrices of blocks on devices. The entry point is the host's too.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/sparse/spgemm.hpp>

namespace trn::sparse {

struct BlockSpgemmPlanArgs {
  Pattern<> a, b, c;  // of blocks, on the host
};
struct BlockSpgemmMade {
  double modelled_seconds;
  std::shared_ptr<const void> state;
};
struct BlockSpgemmArgs {
  const void* state;
  float alpha;
  const float *a, *b;
  float* c;
};
namespace device {
BlockSpgemmMade plan_block_spgemm(const Executor& executor, const BlockSpgemmPlanArgs& args);
void block_spgemm(const Executor& executor, const BlockSpgemmArgs& args);
}  // namespace device
inline constexpr KernelTable<BlockSpgemmPlanArgs, BlockSpgemmMade> kBlockSpgemmPlan{"sparse.spgemm.plan", nullptr,
                                                                                    device::plan_block_spgemm};
inline constexpr KernelTable<BlockSpgemmArgs> kBlockSpgemm{"sparse.spgemm", nullptr, device::block_spgemm};

}  // namespace trn::sparse

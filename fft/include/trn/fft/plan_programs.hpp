// The programs that a plan runs on a device, in their order: for tools and tests that print, emit, profile or estimate
// a whole transform.
#pragma once

#include <memory>
#include <trn/core/dtype.hpp>
#include <trn/fft/plan.hpp>
#include <trn/tile/program.hpp>
#include <vector>

namespace trn::fft {

// `real` is Float32 or Float64. Throws what Plan's constructor throws, and InvalidArgument for an executor of the host
// family. An empty batch has no programs.
[[nodiscard]] std::vector<std::shared_ptr<const tile::Program>> plan_programs(const Executor& executor,
                                                                              const Description& description,
                                                                              DType real);

}  // namespace trn::fft

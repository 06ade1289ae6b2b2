// Blocks of fused Krylov steps on a device: krylov_program.hpp bound to memory.
#include <array>

#include <trn/core/array.hpp>
#include <trn/tile/launch.hpp>

#include "kernels/fused_krylov.hpp"

namespace trn::solver::device {

std::vector<float> fused_steps(const Executor& executor, const FusedStepsArgs& g) {
  const std::int64_t columns = g.shape.columns;
  const Array<float> trace(executor, {kKrylovSteps, 2, columns});
  const auto numbers = [&](const std::vector<float>& values) {
    return Array<float>::from_host(executor, {static_cast<std::int64_t>(values.size())}, values);
  };
  const bool cg = g.shape.method == KrylovMethod::Cg;
  const Array<float> limits = numbers(cg ? g.limits : std::vector<float>{0}),
                     two_ratio = numbers({static_cast<float>(g.two_ratio)}),
                     two_inverse = numbers({static_cast<float>(g.two_inverse)});
  const std::array steps{static_cast<std::int32_t>(g.steps)};
  const Array<std::int32_t> count = Array<std::int32_t>::from_host(executor, {1}, steps);
  std::vector<tile::Argument> arguments{{"a", g.a},
                                        {"steps", count.data()},
                                        {"x", g.x},
                                        {"x_out", g.x},
                                        {"r", g.r},
                                        {"r_out", g.r},
                                        {"p", g.p},
                                        {"p_out", g.p},
                                        {"trace", trace.data()},
                                        {"limits", limits.data()}};
  if (!cg) {
    for (const auto& [name, base] : {std::pair{"two_ratio", two_ratio.data()},
                                     {"two_inverse", two_inverse.data()},
                                     {"rho", g.rho},
                                     {"rho_out", g.rho}})
      arguments.emplace_back(name, base);
  }
  tile::launch(executor, krylov_program, g.shape, arguments);
  std::vector<float> values = trace.to_host();
  values.resize(static_cast<std::size_t>(g.steps * 2 * columns));
  return values;
}

std::int64_t fused_columns(const Executor& executor, const KrylovShape& shape) {
  return krylov_columns(shape, tile::device_of(executor).machine());
}

}  // namespace trn::solver::device

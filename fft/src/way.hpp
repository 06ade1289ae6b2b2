// Way: what decides how a line is computed.
#pragma once

#include "kernels.hpp"

namespace trn::fft {

//   Quickest       its length, the number of lines and where they lie
//   Rows, Columns  its length alone: a line has the same bits whatever lies beside it, which transforms on several
//                  ranks need. Rows is quick for lines whose points are neighbours, Columns for lines that are
//                  neighbours of one another; both take any.
enum class Way : std::uint8_t { Quickest, Rows, Columns };

// A Problem whose last axis is computed that way; unless it is Quickest, the other axes are Columns.
struct WayProblem {
  Problem problem;
  Way way = Way::Quickest;
};
struct WayBoundArgs {
  const WayProblem* problem;
  Mode mode;
};
namespace host {
[[nodiscard]] BodyPointer build_way(const Executor& executor, const WayProblem& problem);
[[nodiscard]] double way_bound(const Executor& executor, const WayBoundArgs& args);
}  // namespace host
namespace device {
[[nodiscard]] BodyPointer build_way(const Executor& executor, const WayProblem& problem);
[[nodiscard]] double way_bound(const Executor& executor, const WayBoundArgs& args);
}  // namespace device
inline constexpr KernelTable<WayProblem, BodyPointer> kPlanWay{"fft.plan", host::build_way, device::build_way};
inline constexpr KernelTable<WayBoundArgs, double> kWayBound{"fft.plan", host::way_bound, device::way_bound};

}  // namespace trn::fft

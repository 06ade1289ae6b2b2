// The programs that one rank of a distributed transform runs, for tools that estimate it on more ranks than there are.
#pragma once

#include <cstdint>
#include <memory>
#include <trn/core/executor.hpp>
#include <trn/fft/dist_plan.hpp>
#include <trn/tile/program.hpp>
#include <vector>

namespace trn::fft {

// The lines of one dimension, or the twiddles behind them, on the first rank, which has the most. The programs may be
// made for fewer lines than it has: it does `times` as much.
struct DistPrograms {
  std::vector<std::shared_ptr<const tile::Program>> programs;
  double times = 1;
};
struct DistWork {
  std::vector<DistPrograms> lines;          // in the order in which they run
  std::vector<std::vector<int>> exchanges;  // with whom the first rank exchanges what it has, itself among them
};
// Of a float transform between the distributions that need no exchange. Programs are made for about `points` points at
// most. Nothing communicates, and no rank needs to exist. Throws what DistPlan throws, and InvalidArgument for an
// executor of the host family.
[[nodiscard]] DistWork dist_programs(const Executor& executor, const DistDescription& description, int ranks,
                                     std::int64_t points);

}  // namespace trn::fft

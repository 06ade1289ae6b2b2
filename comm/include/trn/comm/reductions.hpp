// Sums of floating-point numbers over ranks whose value does not depend on how many ranks there are.
//
//   BlockSums   a fixed binary tree over global blocks of 4096 elements; as quick as a plain sum
//   ExactSum    no rounding but the last one (core's)
#pragma once

#include <span>
#include <vector>

#include <trn/comm/communicator.hpp>
#include <trn/comm/distribution.hpp>
#include <trn/core/exact_sum.hpp>

namespace trn::comm {

// One number for every global block of dist::kSumBlock elements that this rank has. A block belongs to one rank
// (block_rows() cuts between blocks), which adds its elements in order.
struct BlockSums {
  std::int64_t first_block = 0;   // of this rank
  std::vector<double> sums;       // of its blocks
  std::int64_t total_blocks = 0;  // of all ranks
};
// The blocks' sums added in pairs, then pairs of pairs, in the order of blocks. Collective.
[[nodiscard]] double sum(const Communicator& group, const BlockSums& mine);
// Several at once in one exchange: dots and norms of one iteration.
[[nodiscard]] std::vector<double> sum(const Communicator& group, std::span<const BlockSums> mine);
// The exact sum over ranks. Collective.
[[nodiscard]] ExactSum sum(const Communicator& group, const ExactSum& mine);

}  // namespace trn::comm

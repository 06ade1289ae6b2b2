// How the pairs of orbitals of MP2 are shared among ranks: q blocks of orbitals, pairs of blocks dealt one after the
// other, then the pairs within blocks, two blocks at a time. Every rank makes the same deal by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace trn::mp2 {

// Pairs of one orbital of each block; first == second: the pairs within it.
struct PairTask {
  std::int64_t first, second;
};

struct PairDeal {
  std::int64_t nocc = 1, block = 1;
  [[nodiscard]] std::int64_t blocks() const { return (nocc + block - 1) / block; }
  [[nodiscard]] std::int64_t begin(std::int64_t b) const { return b * block; }
  [[nodiscard]] std::int64_t size(std::int64_t b) const { return std::min(block, nocc - b * block); }

  // Calls f(rank, task) with all tasks, each rank's in the order in which it does them: a block stays the first as long
  // as it can.
  template <class F> void deal(int ranks, const F& f) const {
    const std::int64_t q = blocks();
    std::int64_t number = 0;
    const auto next = [&] { return static_cast<int>(number++ % ranks); };
    for (std::int64_t i = 0; i < q; ++i) {
      for (std::int64_t j = i + 1; j < q; ++j) f(next(), PairTask{i, j});
    }
    for (std::int64_t i = 0; i < q; i += 2) {
      const int rank = next();
      for (std::int64_t j = i; j < std::min(i + 2, q); ++j) f(rank, PairTask{j, j});
    }
  }
  [[nodiscard]] std::vector<PairTask> tasks(int rank, int ranks) const {
    std::vector<PairTask> mine;
    deal(ranks, [&](int whose, const PairTask& task) {
      if (whose == rank) mine.push_back(task);
    });
    return mine;
  }
};

// The number of blocks with which the busiest rank has the least to do, blocks no larger than `most`: pairs, and
// orbitals whose panels are loaded, each of which costs about `kLoad` pairs on a device.
[[nodiscard]] inline PairDeal deal_pairs(std::int64_t nocc, int ranks, std::int64_t most) {
  constexpr double kLoad = 0.5;
  const auto cost = [&](std::int64_t block) {
    const auto b = static_cast<double>(block);
    const std::int64_t q = (nocc + block - 1) / block, tasks = q * (q - 1) / 2 + (q + 1) / 2,
                       turns = (tasks + ranks - 1) / ranks;
    if (q == 1) return b * (b + 1) / 2 + kLoad * b;
    return static_cast<double>(turns) * (b * b + kLoad * 2 * b) + b;
  };
  PairDeal best{nocc, std::max<std::int64_t>(1, std::min(most, nocc))};
  for (std::int64_t block = best.block; block >= 1; --block) {
    if (cost(block) < cost(best.block)) best.block = block;
  }
  return best;
}

}  // namespace trn::mp2

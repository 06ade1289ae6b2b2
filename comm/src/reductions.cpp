// Sums that do not depend on the number of ranks: see reductions.hpp.
#include <trn/comm/reductions.hpp>

#include <algorithm>
#include <cstring>
#include <trn/core/error.hpp>

#include "clock.hpp"

namespace trn::comm {
namespace {

// Neighbours are added, then neighbours of the results; one without a neighbour goes on as it is. The shape of this
// tree depends on the number of blocks alone.
double tree(std::vector<double> values) {
  if (values.empty()) return 0;
  for (std::size_t n = values.size(); n > 1; n = (n + 1) / 2) {
    for (std::size_t i = 0; i < n / 2; ++i) values[i] = values[2 * i] + values[2 * i + 1];
    if (n % 2 != 0) values[n / 2] = values[n - 1];
  }
  return values[0];
}

// Where a rank's blocks lie.
struct Range {
  std::int64_t first, count;
};

// Everybody has the same ranges, so all throw or none.
void require_cover(const std::vector<Range>& ranges, std::size_t sums, std::size_t which, std::int64_t total) {
  std::vector<Range> mine;
  for (std::size_t r = 0; r < ranges.size() / sums; ++r) {
    const Range range = ranges[r * sums + which];
    if (range.count == 0) continue;
    require(range.first >= 0 && range.count <= total - range.first,
            "comm: sum of blocks: rank {} has blocks {} to {} of {}", r, range.first, range.first + range.count - 1,
            total);
    mine.push_back(range);
  }
  std::sort(mine.begin(), mine.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  std::int64_t next = 0;
  for (const Range& range : mine) {
    require(range.first == next, "comm: sum of blocks: block {} of {} belongs to {}", std::min(range.first, next),
            total, range.first < next ? "two ranks" : "no rank");
    next += range.count;
  }
  require(next == total, "comm: sum of blocks: block {} of {} belongs to no rank", next, total);
}

template <class T> std::int64_t bytes(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(T));
}

}  // namespace

std::vector<double> sum(const Communicator& group, std::span<const BlockSums> mine) {
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<std::int64_t> said;
  for (const BlockSums& m : mine) said.push_back(m.total_blocks);
  group.transport().announce({"sum of blocks", said});
  std::vector<Range> own, ranges(ranks * mine.size());
  for (const BlockSums& m : mine) own.push_back({m.first_block, static_cast<std::int64_t>(m.sums.size())});
  group.transport().all_gather(own.data(), bytes(own), ranges.data());
  for (const BlockSums& m : mine) {
    require(m.total_blocks >= 0, "comm: sum of blocks: {} blocks; there cannot be less than none", m.total_blocks);
  }
  for (std::size_t k = 0; k < mine.size(); ++k) require_cover(ranges, mine.size(), k, mine[k].total_blocks);

  // What this rank has goes to everybody: the same bytes for each.
  std::vector<double> values;
  for (const BlockSums& m : mine) values.insert(values.end(), m.sums.begin(), m.sums.end());
  const std::vector<std::int64_t> send_bytes(ranks, bytes(values)), send_offsets(ranks, 0);
  std::vector<std::int64_t> receive_bytes(ranks, 0), receive_offsets(ranks, 0);
  std::int64_t total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    receive_offsets[r] = total;
    for (std::size_t k = 0; k < mine.size(); ++k) {
      receive_bytes[r] += ranges[r * mine.size() + k].count * static_cast<std::int64_t>(sizeof(double));
    }
    total += receive_bytes[r];
  }
  std::vector<double> all(static_cast<std::size_t>(total) / sizeof(double));
  group.transport().all_to_all(values.data(), send_bytes, send_offsets, all.data(), receive_bytes, receive_offsets);

  std::vector<double> result;
  for (std::size_t k = 0; k < mine.size(); ++k) {
    std::vector<double> blocks(static_cast<std::size_t>(mine[k].total_blocks));
    for (std::size_t r = 0; r < ranks; ++r) {
      auto from = all.begin() + receive_offsets[r] / static_cast<std::int64_t>(sizeof(double));
      for (std::size_t j = 0; j < k; ++j) from += ranges[r * mine.size() + j].count;
      const Range range = ranges[r * mine.size() + k];
      std::copy_n(from, range.count, blocks.begin() + (range.count > 0 ? range.first : 0));
    }
    result.push_back(tree(std::move(blocks)));
  }
  detail::spend_time(group, tile::CollectiveKind::AllGather, total);
  return result;
}

double sum(const Communicator& group, const BlockSums& mine) { return sum(group, std::span(&mine, 1)).front(); }

ExactSum sum(const Communicator& group, const ExactSum& mine) {
  static_assert(std::is_trivially_copyable_v<ExactSum>);
  group.transport().announce({"sum of ExactSum", {}});
  std::vector<ExactSum> all(static_cast<std::size_t>(group.size()));
  group.transport().all_gather(&mine, sizeof mine, all.data());
  ExactSum result;
  for (const ExactSum& part : all) result.add(part);
  detail::spend_time(group, tile::CollectiveKind::AllGather, static_cast<std::int64_t>(all.size() * sizeof mine));
  return result;
}

}  // namespace trn::comm

// Permutations that only move elements. Where A and D have the same unit index, runs are copied; where they differ,
// the two unit indices are a matrix that is turned, for every value of the others.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <trn/core/parallel.hpp>

#include "offsets.hpp"
#include "pointwise.hpp"
#include "turn.hpp"

namespace trn::tensor::host {

namespace {

// Larger results leave past the caches.
constexpr std::int64_t kStreamBytes = 8 << 20;

template <class U> void copy_run(const void* a, std::int64_t sa, void* d, std::int64_t sd, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<U*>(d)[i * sd] = static_cast<const U*>(a)[i * sa];
}
struct Sixteen {
  std::uint64_t words[2];
};

// The indices beside the two unit ones, first the fastest: D's least stride, A's least, then D's again. A block of the
// first two is runs of D and runs of A that lie side by side, so that pages are read and written while they are at
// hand.
Group in_turn(Group outer) {  // in D's order
  if (outer.size() < 3) return outer;
  const auto least = std::min_element(outer.begin() + 1, outer.end(), [](const FoldedIndex& x, const FoldedIndex& y) {
    return std::abs(x.a) < std::abs(y.a);
  });
  std::rotate(outer.begin() + 1, least, least + 1);
  return outer;
}

}  // namespace

void permute(std::int64_t bytes, const Group& group, const void* a, void* d, int threads) {
  const std::int64_t total = extent_of(group);
  if (total == 0) return;
  const auto from = [&](std::int64_t i) { return static_cast<const std::byte*>(a) + i * bytes; };
  const auto to = [&](std::int64_t i) { return static_cast<std::byte*>(d) + i * bytes; };
  const FoldedIndex inner = group.empty() ? FoldedIndex{1, 1, 0, 0, 1} : group.front();
  std::size_t unit = 0;  // A's unit index
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].a == 1) unit = i;
  }
  Group outer;
  for (std::size_t i = 1; i < group.size(); ++i) {
    if (i != unit) outer.push_back(group[i]);
  }
  if (total * bytes < 1 << 18) threads = 1;
  const bool turns = unit > 0 && inner.d == 1 && inner.a != 1;
  // Matrices are cut along D's unit index, runs are not cut.
  const std::int64_t cut = turns ? std::max<std::int64_t>(1, 512 / bytes) : inner.extent;
  const std::int64_t cuts = (inner.extent + cut - 1) / cut, rows = extent_of(outer);
  const std::int64_t pieces = rows * (turns ? 1 : (unit > 0 ? group[unit].extent : 1)) * cuts;
  if (unit > 0 && !turns) outer.push_back(group[unit]);
  if (turns) outer = in_turn(std::move(outer));
  for_ranges(pieces, threads, [&](std::int64_t begin, std::int64_t end, int) {
    constexpr std::int64_t kRows = 128;  // whose offsets are found together
    std::int64_t a_at[kRows], d_at[kRows], row = begin / cuts, count = 0;
    for (std::int64_t p = begin; p < end; ++p) {
      if (p == begin || p / cuts == row + count) {
        row += count;
        count = std::min(kRows, (end - 1) / cuts - row + 1);
        offsets(outer, row, count, &FoldedIndex::a, a_at);
        offsets(outer, row, count, &FoldedIndex::d, d_at);
      }
      const std::int64_t at = p / cuts - row;
      const std::int64_t first = p % cuts * cut, n = std::min(cut, inner.extent - first);
      const void* source = from(a_at[at] + first * inner.a);
      void* result = to(d_at[at] + first * inner.d);
      if (turns) {
        const FoldedIndex& x = group[unit];
        turn_matrix(bytes, source, inner.a, result, x.d, x.extent, n, total * bytes >= kStreamBytes);
      } else if (inner.a == 1 && inner.d == 1) {
        std::memcpy(result, source, static_cast<std::size_t>(n * bytes));
      } else if (bytes == 2) {
        copy_run<std::uint16_t>(source, inner.a, result, inner.d, n);
      } else if (bytes == 4) {
        copy_run<std::uint32_t>(source, inner.a, result, inner.d, n);
      } else if (bytes == 8) {
        copy_run<std::uint64_t>(source, inner.a, result, inner.d, n);
      } else {
        copy_run<Sixteen>(source, inner.a, result, inner.d, n);
      }
    }
  });
}

}  // namespace trn::tensor::host

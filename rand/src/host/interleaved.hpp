// Interleaved subsequences: how Xorwow and Mrg32k3a lay a draw out. P subsequences, the columns, take turns; value q is
// made by column q mod P. A column steps on its own, so a draw is cut by columns, and every block of columns is a task
// of its own.
//
// A value takes `steps` steps of its column: 1, or 2 for the doubles of Xorwow. With steps = 2 the values are counted
// from an origin o that is itself a number of single steps, as cuRAND's offset is: with s0 = o mod P, column c begins
// at row o / P + (c < s0) and makes the values ((c - s0) mod P) + k P, k = 0, 1, ...
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace trn::rand::host {

// Columns begin .. end - 1 make `count` values each, from the same row on; the first value of column c is element
// first + (c - begin) of the draw, the next ones follow every P elements.
struct ColumnBlock {
  std::uint64_t begin, end;
  std::uint64_t row;
  std::int64_t first, count;
};

inline constexpr std::uint64_t kBlockColumns = 256;

// The blocks of the n values from number `index` on, counted from `origin`.
[[nodiscard]] inline std::vector<ColumnBlock> column_blocks(std::uint64_t period, std::uint64_t steps,
                                                            std::uint64_t origin, std::uint64_t index, std::int64_t n) {
  const std::uint64_t s0 = origin % period, size = static_cast<std::uint64_t>(n);
  const std::uint64_t start = (s0 + index % period) % period;
  std::array<std::uint64_t, 5> cuts{0, s0, start, (start + size % period) % period, period};
  std::sort(cuts.begin(), cuts.end());
  std::vector<ColumnBlock> blocks;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    for (std::uint64_t begin = cuts[k]; begin < cuts[k + 1];) {
      const std::uint64_t end = std::min(begin + kBlockColumns, cuts[k + 1]);
      const std::uint64_t lag = (begin + period - s0) % period;                      // value number of its first turn
      const std::uint64_t turn = index <= lag ? 0 : (index - lag - 1) / period + 1;  // its first turn in the draw
      const std::uint64_t first = lag + turn * period - index;
      if (first < size) {
        const std::uint64_t row = origin / period + (begin < s0 ? 1 : 0) + steps * turn;
        blocks.push_back({begin, end, row, static_cast<std::int64_t>(first),
                          static_cast<std::int64_t>((size - first - 1) / period + 1)});
      }
      begin = end;
    }
  }
  return blocks;
}

}  // namespace trn::rand::host

// Tiles of a sparse matrix: see tiling.hpp.
#include "tiling.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <trn/core/float_types.hpp>
#include <trn/tile/words.hpp>

namespace trn::sparse::device {

namespace {

constexpr std::int64_t kMostRuns = 48;
constexpr std::int64_t kMostNumbers = 4096;  // gathered tiles of one run: their numbers stay in SBUF

std::int64_t windows_of(std::int64_t rows) { return (rows + kSide - 1) / kSide; }

struct Stretch {
  std::int64_t windows, tiles;
  bool last;  // fewer rows than the others: stays alone
};

// Joins neighbours, cheapest first, until there are few. Windows without tiles stay apart: they must not read B.
void join(std::vector<Stretch>& s) {
  for (std::int64_t price = 0; static_cast<std::int64_t>(s.size()) > kMostRuns && price < (std::int64_t{1} << 40);
       price = std::max<std::int64_t>(1, 2 * price)) {
    std::vector<Stretch> kept;
    for (const Stretch& next : s) {
      if (!kept.empty() && !next.last && (next.tiles == 0) == (kept.back().tiles == 0)) {
        Stretch& before = kept.back();
        const std::int64_t most = std::max(before.tiles, next.tiles);
        const std::int64_t added = before.windows * (most - before.tiles) + next.windows * (most - next.tiles);
        if (added <= price) {
          before.windows += next.windows, before.tiles = most;
          continue;
        }
      }
      kept.push_back(next);
    }
    s = std::move(kept);
  }
}

// Writes words of entries at their places. `place(window, row, column)` gives (tile, partition).
class Writer {
 public:
  Writer(std::int64_t tiles, Mode mode)
      : words_(tile::words_of(mode)),
        narrow_(words_.dtype == DType::BFloat16),
        tiles_(tiles),
        bytes_(static_cast<std::size_t>(kSide * tiles * words_.count * kSide * (narrow_ ? 2 : 4))) {}

  void put(std::int64_t tile, std::int64_t partition, std::int64_t row, float value) {
    for (int w = 0; w < words_.count; ++w) {
      const std::int64_t at = ((partition * tiles_ + tile) * words_.count + w) * kSide + row;
      if (narrow_) {
        const bfloat16 word(value);
        std::memcpy(bytes_.data() + 2 * at, &word.bits, 2);
        value -= static_cast<float>(word);
      } else {
        const float word = words_.dtype == DType::TFloat32
                               ? bits::widen(bits::narrow(value, bits::kTFloat32), bits::kTFloat32)
                               : value;
        std::memcpy(bytes_.data() + 4 * at, &word, 4);
        value -= word;
      }
    }
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  const tile::Words& words_;
  bool narrow_;
  std::int64_t tiles_;
  std::vector<std::byte> bytes_;
};

}  // namespace

BlockTiles block_tiles(const PatternRef<std::int32_t>& a) {
  BlockTiles t;
  t.offsets.push_back(0);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(windows_of(a.columns)), -1);
  for (std::int64_t w = 0; w < windows_of(a.rows); ++w) {
    const std::size_t begin = t.blocks.size();
    for (std::int64_t k = a.offsets[w * kSide]; k < a.offsets[std::min(a.rows, (w + 1) * kSide)]; ++k) {
      const std::int32_t block = a.indices[k] / static_cast<std::int32_t>(kSide);
      if (std::exchange(seen[static_cast<std::size_t>(block)], w) != w) t.blocks.push_back(block);
    }
    std::sort(t.blocks.begin() + static_cast<std::ptrdiff_t>(begin), t.blocks.end());
    t.offsets.push_back(static_cast<std::int64_t>(t.blocks.size()));
  }
  return t;
}

GatherTiles gather_tiles(const PatternRef<std::int32_t>& a, std::int64_t most_written_out) {
  const std::int64_t windows = windows_of(a.rows);
  GatherTiles t;
  std::vector<std::int64_t> seen(static_cast<std::size_t>(a.columns), -1);
  t.offsets.push_back(0);
  std::int64_t diagonal = 0, filled = 0;
  for (std::int64_t w = 0; w < windows; ++w) {
    const std::size_t begin = t.columns.size();
    for (std::int64_t k = a.offsets[w * kSide]; k < a.offsets[std::min(a.rows, (w + 1) * kSide)]; ++k) {
      if (std::exchange(seen[static_cast<std::size_t>(a.indices[k])], w) != w) t.columns.push_back(a.indices[k]);
    }
    std::sort(t.columns.begin() + static_cast<std::ptrdiff_t>(begin), t.columns.end());
    t.offsets.push_back(static_cast<std::int64_t>(t.columns.size()));
    const auto own = std::lower_bound(t.columns.begin() + static_cast<std::ptrdiff_t>(begin), t.columns.end(),
                                      static_cast<std::int32_t>(w * kSide));
    if (t.columns.size() > begin) ++filled;
    if (own != t.columns.end() && *own < (w + 1) * kSide) ++diagonal;
  }
  t.own = a.rows == a.columns && 4 * diagonal >= 3 * filled;
  if (t.own) {  // own columns lead, all 128 of them, then the others
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t w = 0; w < windows; ++w) {
      const auto begin = t.columns.begin() + t.offsets[static_cast<std::size_t>(w)],
                 end = t.columns.begin() + t.offsets[static_cast<std::size_t>(w) + 1];
      const std::int64_t low = w * kSide, high = low + kSide;
      const bool leads = begin != end && high <= a.rows;
      for (std::int64_t c = low; leads && c < high; ++c) columns.push_back(static_cast<std::int32_t>(c));
      for (auto c = begin; c != end; ++c) {
        if (!leads || *c < low || *c >= high) columns.push_back(*c);
      }
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
    t.columns = std::move(columns), t.offsets = std::move(offsets);
  }
  std::vector<Stretch> stretches;
  for (std::int64_t w = 0; w < windows; ++w) {
    const auto at = static_cast<std::size_t>(w);
    const std::int64_t count = windows_of(t.offsets[at + 1] - t.offsets[at]);
    t.filled += count, t.most = std::max(t.most, count);
    const bool last = a.rows - w * kSide < kSide;
    if (!stretches.empty() && !last && stretches.back().tiles == count)
      ++stretches.back().windows;
    else
      stretches.push_back({1, count, last});
  }
  t.written_out = t.filled <= most_written_out;
  if (!t.written_out) join(stretches);
  t.first.push_back(0);
  for (const Stretch& s : stretches) {
    const std::int64_t most = s.tiles == 0 ? s.windows : std::max<std::int64_t>(1, kMostNumbers / s.tiles);
    for (std::int64_t done = 0; done < s.windows; done += most)
      t.runs.push_back({std::min(most, s.windows - done), s.tiles});
    for (std::int64_t w = 0; w < s.windows; ++w) t.first.push_back(t.first.back() + s.tiles);
  }
  return t;
}

std::vector<std::byte> tile_values(const FloatRef& a, const BlockTiles& t, Mode mode) {
  Writer writer(static_cast<std::int64_t>(t.blocks.size()), mode);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto w = static_cast<std::size_t>(i / kSide);
    const auto begin = t.blocks.begin() + t.offsets[w], end = t.blocks.begin() + t.offsets[w + 1];
    auto block = begin;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t column = a.indices[k];
      block = std::lower_bound(block, end, static_cast<std::int32_t>(column / kSide));
      writer.put(block - t.blocks.begin(), column % kSide, i % kSide, a.values[k]);
    }
  }
  return writer.take();
}

std::vector<std::byte> tile_values(const FloatRef& a, const GatherTiles& t, Mode mode) {
  Writer writer(t.tiles(), mode);
  std::vector<std::int32_t> place(static_cast<std::size_t>(a.columns));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto w = static_cast<std::size_t>(i / kSide);
    if (i % kSide == 0) {
      for (std::int64_t c = t.offsets[w]; c < t.offsets[w + 1]; ++c)
        place[static_cast<std::size_t>(t.columns[static_cast<std::size_t>(c)])] =
            static_cast<std::int32_t>(c - t.offsets[w]);
    }
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t p = place[static_cast<std::size_t>(a.indices[k])];
      writer.put(t.first[w] + p / kSide, p % kSide, i % kSide, a.values[k]);
    }
  }
  return writer.take();
}

std::vector<std::uint32_t> tile_numbers(const PatternRef<std::int32_t>& a, const GatherTiles& t) {
  const std::int64_t windows = windows_of(a.rows);
  std::int64_t gathered = t.tiles();
  for (std::int64_t w = 0; w < windows; ++w) gathered -= t.has_own(w, a.rows) ? 1 : 0;
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(kSide * gathered));
  std::int64_t at = 0;
  for (std::int64_t w = 0; w < windows; ++w) {
    const auto i = static_cast<std::size_t>(w);
    for (std::int64_t tile = t.has_own(w, a.rows) ? 1 : 0; tile < t.first[i + 1] - t.first[i]; ++tile, ++at) {
      for (std::int64_t k = 0; k < kSide; ++k) {
        const std::int64_t c = t.offsets[i] + tile * kSide + k;
        const std::int64_t from = c < t.offsets[i + 1] ? c : t.offsets[i];  // padding: a column of the window
        numbers[static_cast<std::size_t>(k * gathered + at)] =
            static_cast<std::uint32_t>(t.columns[static_cast<std::size_t>(from)]);
      }
    }
  }
  return numbers;
}

std::vector<std::int64_t> diagonals_of(const PatternRef<std::int32_t>& a, std::int64_t most) {
  std::vector<bool> filled(static_cast<std::size_t>(std::max<std::int64_t>(0, a.rows + a.columns)));
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t d = a.indices[k] - i;
      if (filled[static_cast<std::size_t>(d + a.rows)]) continue;
      filled[static_cast<std::size_t>(d + a.rows)] = true;
      offsets.push_back(d);
      if (static_cast<std::int64_t>(offsets.size()) > most) return {};
    }
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

std::vector<float> diagonal_values(const FloatRef& a, const DiagonalShape& s) {
  const auto diagonals = static_cast<std::int64_t>(s.offsets.size()), stretch = s.stretch();
  std::vector<float> values(static_cast<std::size_t>(s.tiles * kSide * stretch * diagonals), 0.0f);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t lane = i / stretch, piece = i % stretch / s.piece;
    const std::int64_t row = ((lane / kSide * s.pieces + piece) * kSide + lane % kSide) * diagonals;
    auto d = s.offsets.begin();
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      d = std::lower_bound(d, s.offsets.end(), a.indices[k] - i);
      values[static_cast<std::size_t>((row + (d - s.offsets.begin())) * s.piece + i % s.piece)] = a.values[k];
    }
  }
  return values;
}

}  // namespace trn::sparse::device

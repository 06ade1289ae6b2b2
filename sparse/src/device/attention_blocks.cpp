// Loads, transposes and masks of the attention programs.
#include "attention_blocks.hpp"

#include <algorithm>

#include <trn/core/error.hpp>

namespace trn::sparse::device {

using namespace trn::tile;

namespace {
constexpr std::int64_t kPartsAtOnce = 64;    // more are loaded where they are used
constexpr std::int64_t kStagedBytes = 4096;  // of a partition in one load
}  // namespace

AttentionBlocks::AttentionBlocks(Builder& builder, const AttentionShape& shape)
    : s(shape),
      b(builder),
      side(builder.machine().partitions),
      bank(blocks::bank_columns(builder.machine())),
      word(shape.mode == Mode::Bf16 ? DType::BFloat16 : DType::Float32),
      rings(builder) {
  if (s.parts > 0) parts_tensor_ = b.input("parts", DType::BFloat16, {1 + s.parts, side, side});
  scale = blocks::scalar_input(b, "scale");
}

void AttentionBlocks::load_parts() {
  if (s.parts == 0) return;
  const std::int64_t count = 1 + (s.parts <= kPartsAtOnce ? s.parts : 0);
  parts_ = b.sbuf("parts_tiles", side, {count, side}, DType::BFloat16);
  b.dma_copy(parts_, parts_tensor_(ds(0, count)).permute({1, 0, 2}));
}

// stage (rows, blocks, columns) = rows first, first + 1, ... of `from`. A NaN times 0 is NaN, so dead rows stay out.
void AttentionBlocks::load(const Access& stage, const Access& from, std::int64_t first, const Dead& dead) {
  const std::int64_t height = stage.partitions, count = stage.dims.front().size, end = first + count * height;
  const auto meets = [&](const AttentionShape::Rows& r) { return r.first < end && r.first + r.count > first; };
  if (std::none_of(dead.begin(), dead.end(), meets)) {
    if (count == 1)
      b.dma_copy(at(stage, 0, 0), from(ds(first, height), all));
    else
      b.dma_copy(stage, from(ds(first, count * height), all).split(0, height).permute({1, 0, 2}));
    return;
  }
  b.memset(stage, 0.0);
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t begin = first + n * height;
    std::int64_t row = begin;
    const auto copy_up_to = [&](std::int64_t stop) {
      stop = std::min(stop, begin + height);
      if (row < stop) b.dma_copy(at(stage, 0, n)(ds(row - begin, stop - row), all), from(ds(row, stop - row), all));
    };
    for (const AttentionShape::Rows& r : dead) {
      if (r.first + r.count <= row) continue;
      copy_up_to(r.first);
      row = std::max(row, r.first + r.count);
    }
    copy_up_to(begin + height);
  }
}

Access AttentionBlocks::staged(const Access& from, std::int64_t block, std::int64_t columns, const Dead& dead) {
  const std::int64_t first = block * side, rows = std::min(side, from.dims.front().size - first);
  const Access stage = rings.take("stage", Space::Sbuf, rows, {1, columns}, DType::Float32, 4, std::max(s.d, s.dv));
  load(stage, from, first, dead);
  return at(stage, 0, 0);
}

void AttentionBlocks::staged_blocks(const std::string& name, const Access& from, std::int64_t columns, const Dead& dead,
                                    std::int64_t first, std::vector<bool>& loaded,
                                    const std::function<void(std::int64_t block, const Access& stage)>& body) {
  const auto open = [&](std::int64_t j) {
    return j < static_cast<std::int64_t>(loaded.size()) && !loaded[static_cast<std::size_t>(j)];
  };
  if (!open(first)) return;
  const std::int64_t rows = from.dims.front().size, whole = rows / side;
  const std::int64_t most = std::max<std::int64_t>(1, kStagedBytes / (4 * columns));
  std::int64_t count = 1;
  while (count < most && open(first + count) && first + count < whole) ++count;
  const std::int64_t height = first < whole ? side : rows - whole * side;
  const Access stage = rings.take(name, Space::Sbuf, height, {count, columns}, DType::Float32, 2, most * columns);
  load(stage, from, first * side, dead);
  for (std::int64_t n = 0; n < count; ++n) {
    loaded[static_cast<std::size_t>(first + n)] = true;
    body(first + n, at(stage, 0, n));
  }
}

void AttentionBlocks::natural(const Access& dst, const Access& stage) { b.tensor_copy(dst, stage, beside()); }

Engine AttentionBlocks::beside() const {
  return b.machine().vector_gpsimd_share_port ? Engine::Vector : Engine::GpSimd;
}

void AttentionBlocks::transposed(const Access& dst, const Access& stage, const ScalarOrTile& factor) {
  const std::int64_t columns = stage.free_size();
  for (std::int64_t c = 0; c * side < columns; ++c) {
    const std::int64_t width = std::min(side, columns - c * side);
    const Access turned =
        rings.take("turned", Space::Psum, width, {stage.partitions}, DType::Float32, bank / side, side);
    b.nc_transpose(turned, stage(all, ds(c * side, width)));
    const ScalarOrTile f =
        std::holds_alternative<double>(factor) ? factor : ScalarOrTile(std::get<Access>(factor)(ds(0, width), all));
    blocks::scale(b, at(dst, 0, c)(ds(0, width), all), turned, f, turns_++ % 2 == 0 ? Engine::Vector : Engine::Scalar);
  }
}

void AttentionBlocks::multiply(const Access& to, const Access& qt, const Access& kt, std::int64_t depth) {
  for (std::int64_t c = 0; c * side < depth; ++c) {
    const std::int64_t width = std::min(side, depth - c * side);
    b.nc_matmul(to, at(qt, 0, c)(ds(0, width), all), at(kt, 0, c)(ds(0, width), all), {.accumulate = c > 0 ? 1 : 0});
  }
}

void AttentionBlocks::mask(const Access& scores, std::int32_t part) {
  if (part < 0) return;
  const std::int64_t rows = scores.partitions, keys = scores.free_size();
  Access tile;
  if (s.parts <= kPartsAtOnce) {
    tile = at(parts_, 0, 1 + part);
  } else {
    tile = rings.take("part", Space::Sbuf, side, {side}, DType::BFloat16, 6, side);
    b.dma_copy(tile, at(parts_tensor_, 0, 1 + part));
  }
  b.nc_matmul(scores, at(parts_, 0, 0)(ds(0, rows), ds(0, rows)), tile(ds(0, rows), ds(0, keys)), {.accumulate = 1});
}

}  // namespace trn::sparse::device

namespace trn::sparse {

AttentionShape attention_shape(const AttentionMask& mask, const AttentionOptions& o, Mode mode) {
  AttentionShape s{o.heads, o.kv_heads, mask.queries(), mask.keys(), o.d, o.dv, mode};
  s.parts = static_cast<std::int64_t>(mask.parts().size());
  s.blocks = mask.blocks();
  for (const auto& b : s.blocks) {
    const std::int64_t first = b.row * mask.kBlock;
    for (std::int64_t i = first; i < std::min(mask.queries(), first + mask.kBlock); ++i)
      s.dead = s.dead || !mask.has_keys(i);
  }
  const auto add = [](std::vector<AttentionShape::Rows>& rows, std::int64_t i) {
    if (rows.empty() || rows.back().first + rows.back().count < i) rows.push_back({i, 0});
    ++rows.back().count;
  };
  for (std::int64_t i = 0; i < mask.queries(); ++i) {
    if (!mask.has_keys(i)) add(s.dead_queries, i);
  }
  for (std::int64_t j = 0; j < mask.keys(); ++j) {
    if (!mask.has_queries(j)) add(s.dead_keys, j);
  }
  return s;
}

std::int64_t attention_bytes(const AttentionShape& s, bool backward) {
  const std::int64_t word = s.mode == Mode::Bf16 ? 2 : 4, side = AttentionMask::kBlock;
  const std::int64_t key_blocks = (s.keys + side - 1) / side, query_blocks = (s.queries + side - 1) / side;
  const std::int64_t d_chunks = (s.d + side - 1) / side, v_chunks = (s.dv + side - 1) / side;
  const std::int64_t parts = s.parts == 0 ? 0 : 256 * (1 + (s.parts <= 64 ? s.parts : 6));
  if (!backward) {  // K^T, V, and rings of stages, scores and probabilities
    return word * (d_chunks * key_blocks * side + key_blocks * s.dv) + parts + 4 * 4 * std::max(s.d, s.dv) +
           8 * word * d_chunks * side + (4 + 4) * 512 * word + 16 * key_blocks + 3 * 4 * s.dv + 64 * query_blocks +
           8192;
  }
  const std::int64_t accumulators = s.heads > s.kv_heads ? 4 * key_blocks * (s.d + s.dv) : 0;
  return word * query_blocks * (d_chunks * side + v_chunks * side + s.d + s.dv) + 4 * query_blocks * (s.d + 4) +
         accumulators + parts + 4 * 4 * std::max(s.d, s.dv) +
         word * (3 * d_chunks * side + 15 * s.d + 3 * v_chunks * side) + 40 * side * word + 3 * 4 * (s.d + s.dv) +
         6 * 4096 + 8192;
}

}  // namespace trn::sparse

// What the two attention programs share: loads that transpose, scores with their mask.
#pragma once

#include <functional>

#include <trn/sparse/attention_programs.hpp>

#include "rings.hpp"

namespace trn::sparse::device {

class AttentionBlocks {
 public:
  AttentionBlocks(tile::Builder& b, const AttentionShape& s);

  // Rows of a (rows, columns) array on partitions, in the words' type: natural(dst, from), dst (rows, columns).
  // transposed: dst(c, chunk, r) = factor * from(r, 128 chunk + c), dst (128, chunks, rows).
  // `from` are all rows of a head, of which `dead` are not read: 0 takes their place.
  using Dead = std::vector<AttentionShape::Rows>;
  tile::Access staged(const tile::Access& from, std::int64_t block, std::int64_t columns, const Dead& dead);
  // body(j, stage) for block j of 128 rows of from (rows, columns), j = `first` unless `loaded` has it, and for those
  // behind it that come with one load.
  void staged_blocks(const std::string& name, const tile::Access& from, std::int64_t columns, const Dead& dead,
                     std::int64_t first, std::vector<bool>& loaded,
                     const std::function<void(std::int64_t block, const tile::Access& stage)>& body);
  // An engine that nothing waits for, within SBUF.
  [[nodiscard]] tile::Engine beside() const;
  void natural(const tile::Access& dst, const tile::Access& stage);
  void transposed(const tile::Access& dst, const tile::Access& stage, const tile::ScalarOrTile& factor);

  // to (rows, keys) in PSUM = qt^T kt, qt (128, chunks, rows), kt (128, chunks, keys).
  void multiply(const tile::Access& to, const tile::Access& qt, const tile::Access& kt, std::int64_t depth);
  // Adds the mask of a part to scores (rows, keys) of one block.
  void mask(const tile::Access& scores, std::int32_t part);
  void load_parts();  // where it is called they stay to the end of the scope

  [[nodiscard]] std::int64_t rows_of(std::int64_t block) const { return std::min(side, s.queries - block * side); }
  [[nodiscard]] std::int64_t keys_of(std::int64_t block) const { return std::min(side, s.keys - block * side); }
  [[nodiscard]] static std::int64_t chunks(std::int64_t depth) { return (depth + 127) / 128; }

  const AttentionShape& s;
  tile::Builder& b;
  const std::int64_t side, bank;
  const DType word;
  Rings rings;
  tile::ScalarOrTile scale = 1.0;

 private:
  void load(const tile::Access& stage, const tile::Access& from, std::int64_t first, const Dead& dead);
  tile::Access parts_, parts_tensor_;
  std::int64_t turns_ = 0;
};

}  // namespace trn::sparse::device

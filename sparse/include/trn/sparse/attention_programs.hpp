// The device programs of block-sparse attention, for tools and tests that print, emit, profile or estimate them.
//
// Tensors as attention.hpp has them: "q", "k", "v", "o", "log_sums", "d_o", "d_q", "d_k", "d_v", float32; "scale" (1);
// "parts" (1 + parts, 128, 128) bfloat16: the identity, then for each part of the mask 0 where a pair is allowed and
// -30000 where it is not; "alive" (128, blocks of queries) float32: 1 for a query with keys, else 0.
#pragma once

#include <trn/sparse/attention.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::sparse {

struct AttentionShape {
  std::int64_t heads = 1, kv_heads = 1, queries = 0, keys = 0, d = 64, dv = 64;
  Mode mode = Mode::Native;  // or Bf16
  bool sums = true;          // forward stores log_sums
  bool dead = false;         // some query of a block has no keys
  std::int64_t parts = 0;
  std::vector<AttentionMask::Block> blocks;
  // Rows first .. first + count - 1 that no pair uses: 0 takes their place, they are not read.
  struct Rows {
    std::int64_t first, count;
    bool operator==(const Rows&) const = default;
  };
  std::vector<Rows> dead_queries, dead_keys;  // in order, apart
  bool operator==(const AttentionShape&) const = default;
};
[[nodiscard]] AttentionShape attention_shape(const AttentionMask& mask, const AttentionOptions& options, Mode mode);

// Bytes of a partition that a program needs for what stays in SBUF; it exists where the machine has them.
[[nodiscard]] std::int64_t attention_bytes(const AttentionShape& shape, bool backward);
[[nodiscard]] tile::Program attention_program(const AttentionShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program attention_backward_program(const AttentionShape& shape, const tile::Machine& machine);

}  // namespace trn::sparse

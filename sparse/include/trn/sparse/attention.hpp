// Block-sparse attention, forward and backward: O = softmax(scale Q K^T, over the keys that the mask allows) V.
//
// Several heads; grouped queries: `heads` of Q, O share `kv_heads` of K, V, head h those of h / (heads / kv_heads). Any
// mask; work is done for blocks of 128 queries x 128 keys that hold an allowed pair. A query without keys gets 0, and
// +infinity (devices: 1e30) for its log-sum. All arrays are contiguous: Q (heads, queries, d), K (kv_heads, keys, d),
// V (kv_heads, keys, dv), O like Q with dv; log-sums (heads, queries): log of the sum of exp(scores), what backward
// needs.
//
// Forward. With P the exact probabilities and sigma_i = |scale| max over keys of sum_c |q_ic k_jc|,
//   |O - exact|(i, c) <= bound (1 + sigma_i) (P |V|)(i, c) + O(u^2),
// bound = Accuracy::bound = max(2 R(d) + 6, R(n) + n + 11) u + 3 product_error, n the most keys of a query, R(k) the
// roundings of a sum of k products: k on the host, those of trn/tile/words.hpp on devices. Scores beyond +-10000 are
// beyond what a device's mask can tell apart from an absent pair.
// Backward. dV, and with M_ij = P_ij ((|dO| |V|^T)_ij + (|dO| P |V|)_i) dQ and dK, are within 3 bound (1 + max sigma)
// of P^T |dO|, |scale| M |K| and |scale| M^T |Q|. Sums over queries count in n there.
// The order of sums depends on the mask alone: the same bits for any number of threads.
//
// NaN and infinities. On the host a pair that is not allowed is never multiplied: what stands in K and V at a key
// reaches the queries that see it and nothing else, likewise Q and dO. On devices K and V at keys that no query sees,
// and Q, O and dO at queries without keys, are not read, so padding may hold anything. Elsewhere an absent pair of a
// block is 0 times the number there: a NaN or an infinity of a key that some query sees, or of a query that has keys,
// may reach every query and key of the blocks of 128 x 128 that it stands in, and in backward what these meet in turn.
#pragma once

#include <functional>
#include <memory>

#include <trn/core/precision.hpp>
#include <trn/sparse/pattern.hpp>

namespace trn::sparse {

// Which query meets which key. An immutable value; copies share memory.
class AttentionMask {
 public:
  // One entry for each allowed pair; on the host.
  explicit AttentionMask(const Pattern<>& allowed);
  // allowed(query, key), asked once for each pair.
  AttentionMask(std::int64_t queries, std::int64_t keys,
                const std::function<bool(std::int64_t, std::int64_t)>& allowed);
  [[nodiscard]] static AttentionMask full(std::int64_t queries, std::int64_t keys);
  // Keys up to the query's own place, the last query and the last key side by side.
  [[nodiscard]] static AttentionMask causal(std::int64_t queries, std::int64_t keys);
  // Whole blocks of `block` x `block` pairs.
  [[nodiscard]] static AttentionMask from_blocks(std::int64_t queries, std::int64_t keys, std::int64_t block,
                                                 const Pattern<>& blocks);

  static constexpr std::int64_t kBlock = 128;
  // A block that holds an allowed pair; `part` numbers its 128 x 128 flags, row by row, -1: all pairs are allowed.
  struct Block {
    std::int32_t row, column, part;
    bool operator==(const Block&) const = default;
  };
  [[nodiscard]] std::int64_t queries() const { return data_->queries; }
  [[nodiscard]] std::int64_t keys() const { return data_->keys; }
  [[nodiscard]] std::int64_t pairs() const { return data_->pairs; }
  [[nodiscard]] std::int64_t most_keys() const { return data_->most_keys; }  // of a query
  [[nodiscard]] std::int64_t most_queries() const { return data_->most_queries; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return data_->blocks; }                    // row by row
  [[nodiscard]] const std::vector<std::vector<std::uint8_t>>& parts() const { return data_->parts; }  // all different
  [[nodiscard]] bool has_keys(std::int64_t query) const { return data_->alive[static_cast<std::size_t>(query)] != 0; }
  [[nodiscard]] bool has_queries(std::int64_t key) const { return data_->seen[static_cast<std::size_t>(key)] != 0; }

 private:
  struct Data {
    std::int64_t queries = 0, keys = 0, pairs = 0, most_keys = 0, most_queries = 0;
    std::vector<Block> blocks;
    std::vector<std::vector<std::uint8_t>> parts;
    std::vector<std::uint8_t> alive, seen;  // by query, by key
  };
  template <class Fill> void build(std::int64_t queries, std::int64_t keys, const Fill& fill);
  AttentionMask() = default;
  std::shared_ptr<const Data> data_;
};

struct AttentionOptions {
  std::int64_t heads = 1, kv_heads = 1;
  std::int64_t d = 64;       // of Q and K
  std::int64_t dv = 0;       // of V; 0: d
  double scale = 0;          // 0: 1 / sqrt(d)
  Precision precision = {};  // devices: native or bf16; the host has native
};

struct AttentionReport {
  std::int64_t blocks = 0, pairs = 0;  // of the mask
  double fill = 0;                     // pairs for one place in a block
  // Devices: modelled with the costs of the instructions alone; 0 where there is no program of that shape.
  double forward_seconds = 0, backward_seconds = 0;
};

template <RealScalar T> class AttentionPlan {
 public:
  AttentionPlan(const Executor& executor, const AttentionMask& mask, const AttentionOptions& options);

  // `log_sums` may be empty where backward is not called.
  Accuracy forward(const View<const T>& q, const View<const T>& k, const View<const T>& v, const View<T>& o,
                   const View<T>& log_sums) const;
  // Gradients of a function whose gradient by O is d_o; o and log_sums as forward wrote them.
  Accuracy backward(const View<const T>& q, const View<const T>& k, const View<const T>& v, const View<const T>& o,
                    const View<const T>& log_sums, const View<const T>& d_o, const View<T>& d_q, const View<T>& d_k,
                    const View<T>& d_v) const;
  [[nodiscard]] const AttentionMask& mask() const { return mask_; }
  [[nodiscard]] const AttentionOptions& options() const { return options_; }
  [[nodiscard]] const AttentionReport& report() const { return report_; }

 private:
  Executor executor_;
  AttentionMask mask_;
  AttentionOptions options_;
  AttentionReport report_;
  Accuracy accuracy_, backward_accuracy_;
};

}  // namespace trn::sparse

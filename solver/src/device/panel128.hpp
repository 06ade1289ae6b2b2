// panel128: the factorisation of one symmetric block of at most 128 rows that lies in SBUF, A = L D L^T with unit L,
// and the inverse of L. Cholesky's factor is D^1/2 L^T.
//
// Leaves of 16 columns. All of a leaf's 16 x 16 block lies on every partition, and partition p adds its own row p of A
// and column p of the identity, so that one elimination step on the Vector Engine,
//
//   r = 1 / b(j, j),   b(i, k) -= (b(j, i) r) b(j, k)     for i > j, k > j,  columns: the block, own row, identity
//
// is the step of the block, of all rows below it, and of the inverse: three dependent instructions a column and nothing
// that crosses partitions. Between leaves the columns done so far are turned by the Tensor Engine, multiplied into the
// next 16 columns (left-looking), and the next block is broadcast by a product of a masked tile with ones, which is
// exact. No DMA is part of the chain.
//
// Pivots are taken as they come: a pivot that is not positive is for the caller to find among `pivots`; one that is
// zero or not finite makes the rest of the block infinite or NaN, and nothing before it.
//
// Error, first order: |A - L D L^T| <= (m + 25) u |L||D||L^T| for order m: a sum of the Tensor Engine (m + 5), 16
// differences within a leaf, whose terms are products of two roundings, and twice the reciprocal's error (assumed at
// most u, as it is modelled).
#pragma once

#include <functional>

#include <trn/tile/builder.hpp>

namespace trn::solver::device {

// Whether solves with L follow: only they read unit().
enum class PanelUse : std::uint8_t { Alone, Solves };

class Panel128 {
 public:
  // Declares its tiles and constants: alive as long as the enclosing loop body.
  explicit Panel128(tile::Builder& builder, PanelUse use = PanelUse::Solves);

  // Columns of a leaf.
  static constexpr std::int64_t kLeaf = 16;

  // The block to be factored: (128, 128), of which the lower triangle is used; rows and columns from `order` on belong
  // to the identity. The caller writes it.
  [[nodiscard]] tile::Access block() const;
  // Factors it. `between` is called after every column, with its number: what the caller records there fills the
  // latencies of the chain. It is not called in a leaf's last columns, where the Tensor Engine is to be free.
  void factor(std::int64_t order, const std::function<void(std::int64_t)>& between = {});
  // How often `between` is called for a block of this order.
  [[nodiscard]] static std::int64_t calls(std::int64_t order);

  // Results of the latest factor(), (128, 128). Beyond `order` the identity, or whole leaves of zeros. The inverse
  // has two tiles that take turns; the others stay until the next factor() ends.
  [[nodiscard]] tile::Access inverse() const { return inverse_; }   // [j, i] = (L^-1)(i, j): stationary operand
  [[nodiscard]] tile::Access unit() const { return unit_turned_; }  // [j, i] = L(i, j): stationary operand
  [[nodiscard]] tile::Access upper() const { return upper_; }       // [i, j] = D(i)^1/2 L(j, i), j >= i: Cholesky's
  [[nodiscard]] tile::Access pivots() const { return pivots_; }     // (128, 1): D
  [[nodiscard]] tile::Access root() const { return root_; }         // (128, 1): D^-1/2
  [[nodiscard]] tile::Access identity() const;
  [[nodiscard]] tile::Access scratch() const { return terms_; }  // (128, 128), free between two calls of factor()

 private:
  void begin_leaf(std::int64_t first);
  void broadcast_block(std::int64_t first);
  void finish(std::int64_t order);

  tile::Builder& b_;
  PanelUse use_;
  std::int64_t side_, calls_ = 0;
  tile::Access both_;   // (128, 2, 128): the block and the identity
  tile::Access lower_;  // 1 where row >= column
  tile::Access ones_;
  tile::Access leaf_;  // (128, 16, 18): block, own row, column of the identity
  tile::Access product_, reciprocals_, masked_;
  tile::Access scaled_, unit_, scaled_turned_, inverse_turned_, factor_;
  tile::Access inverses_, inverse_, unit_turned_, upper_, pivots_, root_, terms_;
  tile::Access turned_, sums_, spread_;  // PSUM
};

}  // namespace trn::solver::device

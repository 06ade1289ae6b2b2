// Rotations of N/2 disjoint pairs of rows at once, in each partition, and the ring on which all rows meet: what
// Jacobi's methods for eigenvalues and for singular values share.
//
// A step rotates the pairs (i, i + N/2) and moves every row on by one place of Brent and Luk's ring: row 0 stays, the
// others go 1 -> 2 -> ... -> N/2 - 1 -> N - 1 -> ... -> N/2 -> 1, so that after N - 1 steps every two have met, and all
// are where they were. Every step is thus the same instructions: a program is a loop.
//
// Angles of all pairs at once, from d and g with tan(2 angle) = g / d:
//   t = sign(d) g / (|d| + sqrt(d^2 + g^2)),   c = (1 + t^2)^-1/2,   s = t c,   c - 1 = -s^2 / (1 + c).
// A rotation adds (c - 1) x - s y and s x + (c - 1) y to x and y: a small angle has a small error, without which
// residuals and orthogonality were three to sixteen times as large.
#pragma once

#include "device/lanes.hpp"

namespace trn::solver::device {

class JacobiRotations {
 public:
  JacobiRotations(tile::Builder& b, Lanes& lanes, std::int64_t count, std::int64_t order);

  tile::Access d, g;  // (P, N/2)

  // From d and g, which it overwrites.
  void angles();
  // Rows of `from`, (P, N, X), rotated and one place on in `to`; without `to` in `from` itself. `change` and `cross`
  // have the shape of `from`. The products of other rows are GpSimd's, everything else `engine`'s.
  void apply(const tile::Access& to, const tile::Access& from, const tile::Access& change, const tile::Access& cross,
             tile::Engine engine);

 private:
  void binary(const tile::Access& to, const tile::Access& x, tile::AluOp op, const tile::Access& y);

  tile::Builder& b_;
  Lanes& lanes_;
  std::int64_t n_, half_;
  tile::Access same_, other_, square_, root_, t_, c_, s_;
};

}  // namespace trn::solver::device

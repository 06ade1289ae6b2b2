// Float-float arithmetic on tiles: numbers hi + lo of two fp32 words, about 48 bits, on the Vector Engine, which rounds every operation
// to fp32 and has no fused multiply-add. core/eft.hpp has the same algorithms for scalars, with their error bounds.
//
// A product is split by storing an operand as tfloat32, 11 bits: the rest has 13, so three of the four partial products are
// exact and the fourth errs by 2^-46 of the product.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::blas::device {

// hi + lo, both (P, n) and float32 in SBUF.
struct WordPair {
  tile::Access hi, lo;
};

class DoubleWords {
 public:
  explicit DoubleWords(tile::Builder& b) : b_(b) {}

  // a + b, a - b, a b: one rounding.
  tile::Access add(const tile::Access& a, const tile::Access& b) { return combine(a, b, tile::AluOp::Add); }
  tile::Access subtract(const tile::Access& a, const tile::Access& b) { return combine(a, b, tile::AluOp::Subtract); }
  tile::Access multiply(const tile::Access& a, const tile::Access& b) { return combine(a, b, tile::AluOp::Multiply); }
  // f a + b, f a power of two: one rounding.
  tile::Access scaled_add(const tile::Access& a, double f, const tile::Access& b);

  // a + b exactly; the second needs |a| >= |b|.
  WordPair two_sum(const tile::Access& a, const tile::Access& b);
  WordPair fast_two_sum(const tile::Access& a, const tile::Access& b);
  // a b but for 2^-46 of it.
  WordPair two_product(const tile::Access& a, const tile::Access& b);

  WordPair add(const WordPair& x, const WordPair& y);
  WordPair subtract(const WordPair& x, const WordPair& y);
  WordPair multiply(const WordPair& x, const WordPair& y);
  // 1 / x: one Newton step from the rounded reciprocal of x.hi.
  WordPair reciprocal(const WordPair& x);

  // Sums along a row of up to 512 numbers x >= 0 as four words whose sum errs by 2^-34 of it at most: to (P, 4). Two levels of the row are
  // cut off at a common power of two above it, so that their fp32 sums are exact; what remains is below 2^-26 of the largest number.
  void sum_row(const tile::Access& to, const WordPair& x);

 private:
  tile::Access fresh(const tile::Access& like, DType dtype = DType::Float32);
  tile::Access combine(const tile::Access& a, const tile::Access& b, tile::AluOp op);
  WordPair split(const tile::Access& a);  // a = hi + lo, hi of 11 bits

  tile::Builder& b_;
};

}  // namespace trn::blas::device

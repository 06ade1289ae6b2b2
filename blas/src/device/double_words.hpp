// Numbers hi + lo of two fp32 words on tiles, about 48 bits, for the sums of pair_energy in Exact. The Vector Engine
// rounds every operation to fp32 and has no fused multiply-add; core/eft.hpp has the same algorithms for scalars, with
// proofs.
//
// A product is exact where its factors have 24 bits together: an operand is split by storing it as tfloat32, 11 bits,
// which the Scalar Engine does; the rest has 13. The Scalar Engine also squares and sums rows, so that of the about 65
// passes over T the Vector Engine makes fewer than 45.
#pragma once

#include <functional>

#include "tile_pool.hpp"

namespace trn::blas::device {

// hi + lo, of one shape. |lo| <= 2^-22 |hi| unless something else is said.
struct WordPair {
  Word hi, lo;
};

// A factor w (1 + a + b): w and a have 11 bits, |a| <= 2^-12, b is float32.
struct Weight {
  Word w, a, b;
};

class DoubleWords {
 public:
  // At most kWords words are taken from the pool at a time.
  static constexpr std::int64_t kWords = 11;
  DoubleWords(tile::Builder& b, const TilePool& pool) : b_(b), pool_(pool) {}

  Word add(const Word& a, const Word& b) { return combine(a, b, tile::AluOp::Add); }
  Word subtract(const Word& a, const Word& b) { return combine(a, b, tile::AluOp::Subtract); }
  Word multiply(const Word& a, const Word& b) { return combine(a, b, tile::AluOp::Multiply); }
  // f a + b: one rounding if f is a power of two.
  Word scaled_add(const Word& a, double f, const Word& b);
  // x rounded to a multiple of `unit`, a power of two; |x| < 2^22 units.
  Word rounded(const Word& x, double unit);

  // a + b exactly, for |a| >= |b| or both multiples of a unit of which |b| is less than 2^23.
  WordPair fast_two_sum(const Word& a, const Word& b);
  WordPair two_sum(const Word& a, const Word& b);

  // x times the weight, to 2^-44 of it, into `to`, which may be x. x may be any hi + lo with |lo| <= 2 |hi| + 2 and hi
  // a multiple of 2^-7.
  void weigh(const WordPair& to, const WordPair& x, const Weight& weight);

  // x - y to 2^-46 of |x| + |y|; what is left may be as small as it likes, so that lo can be anything.
  WordPair difference(const WordPair& x, const WordPair& y);

  // Sums of squares of x, whose elements are `rows` rows of up to 1024 one after the other: word w of the sum of row r
  // goes to column(r, w), (P, 1), w = 0 .. 3. Together they err by 2^-36 of the sum, or of the sum of (2^22 lo)^2 where
  // that is more. Three levels of every row are cut off at powers of two over its largest square, so that their fp32
  // sums are exact; what remains is below 2^-32 of the largest.
  using Column = std::function<tile::Access(std::int64_t row, std::int64_t word)>;
  void sum_squares(const Column& column, const WordPair& x, std::int64_t rows);

 private:
  Word fresh(const Word& like, DType dtype = DType::Float32) {
    return pool_.take(like->partitions, shape_of(like), dtype);
  }
  Word combine(const Word& a, const Word& b, tile::AluOp op);
  Word head(const Word& a);  // 11 bits
  Word square(const Word& a);

  tile::Builder& b_;
  TilePool pool_;
};

}  // namespace trn::blas::device

// Numbers in mode Exact: fixed point of about 72 bits as the sum of three fp32 words,
//
//   hi    a multiple of 2^-25, at most 2^-2
//   mid   a multiple of 2^-49, at most 2^-26
//   lo    any fp32 up to 2^-50
//
// (up to a few of their own last units more). The Vector Engine rounds every operation to fp32 and has no fused
// multiply-add, but sums of multiples of one power of two are exact while they stay below 2^24 units, and rounding to a
// multiple of a power of two is adding and subtracting 1.5 * 2^23 times it. So carries take the place of two-sums, and
// every error is one that is left out on purpose.
//
// Products with a table, z w for complex z and w, by schoolbook multiplication in digits of 12 bits: z = a0 + a1 + b0 +
// b1 + lo, w = w0 + w1 + w2 + w3 + w4. Products of digits have 24 bits at most, so they are exact; of those that belong
// to one power of two,
//
//   level 0   a0 w0                           multiples of 2^-24
//   level 1   a0 w1 + a1 w0                               2^-36: four of them, of a complex product, are less than 2^24
//     units because |z| <= 1/4, |w| <= 1
//   level 2   a0 w2 + a1 w1 + b0 w0                       2^-48: three are; the two halves of a complex product are
//     kept apart until their carries are taken
//   level 3   a0 w3 + a1 w2 + b0 w1 + b1 w0               2^-60: four are
//   rest      hi w4 + a1 w3 + mid (w2 + w3) + b1 w1 + lo (w0 + w1): five products of at most 2^-50, rounded: at most
//     2^-66 in all
//
// Left out are b1 w4, b0 w4, lo (w2 + w3 + w4), each below 2^-73. 160 operations on half the numbers.
#pragma once

#include <functional>

#include "line_kernel.hpp"

namespace trn::fft::device {

// hi + mid + lo, all of one shape.
struct Triple {
  tile::Access hi, mid, lo;
};
constexpr int kWords = 3;
constexpr const char* kWordNames[kWords] = {"hi", "mid", "lo"};
// Of the largest magnitude, by the bits behind the point that a word has: hi, mid.
constexpr int kHiBits = 25, kMidBits = 49, kLargest = 2;

// A table entry w, |w| <= 1, is seven numbers: w0 to w4, w0 + w1, w2 + w3.
constexpr std::int64_t kTableParts = 7;
void table_entry(long double w, float* entry, std::int64_t plane);  // to entry[0], entry[plane], ...

class TripleArithmetic {
 protected:
  TripleArithmetic(const char* name, const tile::Machine& machine) : b_(name, machine) {}

  // Elementwise in fp32, one rounding, a new tile each.
  tile::Access fresh(const tile::Access& like, DType dtype = DType::Float32) {
    return b_.sbuf("word", like.partitions, {like.free_size()}, dtype);
  }
  tile::Access op(const tile::Access& a, const tile::Access& b, tile::AluOp which);
  tile::Access add(const tile::Access& a, const tile::Access& b) { return op(a, b, tile::AluOp::Add); }
  tile::Access subtract(const tile::Access& a, const tile::Access& b) { return op(a, b, tile::AluOp::Subtract); }
  tile::Access multiply(const tile::Access& a, const tile::Access& b) { return op(a, b, tile::AluOp::Multiply); }

  // x rounded to a multiple of 2^-bits, |x| < 2^(22-bits).
  void cut_to(const tile::Access& to, const tile::Access& x, int bits);
  tile::Access cut(const tile::Access& x, int bits);

  // z times a table, in place. z is (P, count, columns), columns being real and imaginary parts by turns; table(part,
  // 0) and table(part, 1) are the cosines and sines of part 0 to 6, (P, count, columns/2).
  using Table = std::function<tile::Access(std::int64_t part, std::int64_t which)>;
  void turn(const Triple& z, const Table& table, std::int64_t count, std::int64_t columns);

  tile::Builder b_;

 private:
  // What products need of z, real or imaginary part, and of w.
  struct Digits {
    tile::Access a0, a1, b0, b1, hi, mid, lo;
  };
  struct Entry {
    tile::Access w0, w1, w2, w3, w4, w01, w23;
  };
  using Terms = std::vector<std::pair<tile::Access, tile::Access>>;
  tile::Access dot(const Terms& terms);
  // x u -+ y v to the words `to`.
  void turned(const Triple& to, const Digits& x, const Entry& u, const Digits& y, const Entry& v, tile::AluOp sign);
};

}  // namespace trn::fft::device

// The one table of words and error terms: how a Mode multiplies float32 numbers as sums of narrower words, and what
// that costs. trnblas, trnfft and the tests take every term from here. u = 2^-24.
//
// Words. x = w0 + w1 + ... + r, w0 = round(x), w1 = round(x - w0), ...; the differences are exact in float32. Let 2^e
// <= |x| < 2^(e+1), so that x is a multiple of 2^(e-23).
//   tfloat32, 11 bits: |x - w0| <= 2^(e-11), 12 bits at most, so w1 misses it by at most one unit: |w1| <= 2^-11 |x|,
//     |r| <= 2^-23 |x|.
//   bfloat16, 8 bits:  |x - w0| <= 2^(e-8), then |x - w0 - w1| <= 2^(e-17), at most 7 bits: |w1| <= 2^-8 |x|, |w2| <=
//     2^-17 |x|, r = 0.
//
// product_error: |sum of the word products - x y| / |x y|.
//   Tf32, Bf16  both operands rounded once: 2 v + v^2, v = 2^-11 or 2^-8
//   Tf32x3      left out are w1 w1', r y and (x - r) r': 2^-22 + 2 * 2^-23 + 2^-46
//   Bf16x6      left out are w1 w2', w2 w1' and w2 w2': 2 * 2^-25 + 2^-34
//
// Range. The leading word of a number from `overflow` on rounds to infinity (and then x - w0 is NaN). Below the type's
// smallest denormal words vanish: r grows by `lost`, half of that denormal.
//
// Sums. One matmul multiplies up to 128 pairs and adds the products up in float32; the result is added to PSUM. On the
// way of one product into its sum there are `roundings` of the sum, at most
//   words        K + P G                    K = min(k, 128), G = ceil(k / 128), P products of words, all exact in
//     float32
//   Native       K + 2 G + 3                whichever of two orders the hardware takes:
//     (a) one chain of fused multiply-adds per matmul: K + G;
//     (b) stationary numbers split in h + l, |h| + |l| <= (1 + 2^-7) |x|, a pass over the l and then one over the h,
//       each a chain of
//         float32 additions, products rounded or not, each added to PSUM: (K + 1)(1 + 2^-7) <= K + 2.01 at the sizes of
//           l and of h,
//         and two additions per group. A partial sum in PSUM is at most sum |x y|: the l of a group stand there for its
//           x.
// Narrow operands (bfloat16, float16, tfloat32 as they are) take one pass with exact products: K + G.
#pragma once

#include <cstdint>
#include <span>

#include <trn/core/dtype.hpp>
#include <trn/core/precision.hpp>

namespace trn::tile {

struct WordProduct {
  int stationary, moving;  // numbers of words
};

struct Words {
  Mode mode;
  DType dtype;                            // of a word; Float32: the operands as they are
  int bits;                               // significant ones of a word
  int count;                              // per operand
  std::span<const WordProduct> products;  // smallest first
  double product_error, overflow, lost;
  int psum_additions;   // per group of 128: the products, or the passes of order (b)
  int extra_roundings;  // of one product beside those of its chain of 128
};

// Throws InternalError for Exact, which is made of integers.
[[nodiscard]] const Words& words_of(Mode mode);

// Roundings, in units of u, of a sum of k products that all words share one PSUM accumulator for.
[[nodiscard]] double sum_roundings(const Words& words, std::int64_t k);
// The same for one chain of `terms` products that goes into PSUM once per word product: what a step of a transform is.
[[nodiscard]] double chain_roundings(const Words& words, double terms);
// sum_roundings * u + product_error, relative to |x||y|; 0 for k = 0.
[[nodiscard]] double sum_error(const Words& words, std::int64_t k);
// Of operands narrower than float32, as they are.
[[nodiscard]] double narrow_roundings(std::int64_t k);

// The product kernel of trnblas keeps leading products (w0 w0') and the others apart, so that only the first round at
// full size.
//   Tf32x3   leading sums leave PSUM every eight tiles of k: K + G + 2. The others have size 2 * 2^-11 (1 + 2^-11) and
//     K + 2 G roundings.
//   Bf16x6   leading sums of 64 products, eight of them in PSUM, compensated summation of those (2), six to join
//     everything: 80. The
//            others have size 2 * 2^-8 + 2^-16 + 2 * 2^-17 and K + 5 G roundings.
[[nodiscard]] double split_sum_error(const Words& words, std::int64_t k);

// The host's emulation: any order of k additions, one more per product of words; Bf16x6 in groups of 128 that are added
// in double, six products of a group one after another, then one rounding.
[[nodiscard]] double host_sum_error(const Words& words, std::int64_t k);

}  // namespace trn::tile

// From residues to integers on the device: the Chinese remainders of Precision Exact, without FP64 and without
// division.
//
// Of an element x of the product the digits r_i = x mod p_i lie in HBM as (columns, moduli, rows). The Tensor Engine
// contracts over the moduli: g columns of C at a time have their g * moduli rows of digits on partitions as the
// stationary matrix, 128 rows of C wide, and meet the constants of exact::Recombination, block diagonal over the g
// columns, as the moving one:
//
//   S_k   = sum_i r_i w_ik                      k = 0 .. 2 limbs - 1: digits of 12 bits of the weights; then the two of
//     w_i / P
//   q     = round(S_high / 2^12 + S_low / 2^24)  Scalar, Vector, Scalar, which rounds by storing int32
//   D_k   = S_k - q P_k                          q P_k on Scalar and GpSimd, all differences in one Vector instruction
//   c_j   = round(D_(2j+1) / 2^12)               Scalar
//   E_j   = D_2j + 2^12 (D_(2j+1) - 2^12 c_j) + c_(j-1)      Scalar, GpSimd, Vector, GpSimd
//
// and x = sum_j E_j 2^(24 j). With |r_i| <= 0.512 p_i, sum |r_i| <= 1500 for all 20 moduli: |S_k| < 3.1e6, |q| <= 751,
// |q P_k| <= 2.0e6,
// |D_k| < 5.1e6, |4096 (D - 4096 c)| <= 2^23, so |E_j| < 1.36e7 < 2^24, and every step is exact in fp32. q is right
//   because its argument's
// error, 2^-25 * 1500 for the digits of w_i / P that were cut off and 2^-14 for one rounding below 2^22 / 2^12, is less
// than the 0.001 between |x| / P <= 0.499 and one half. The top limb is not reduced: |x| < 2^(24 limbs - 1.6) keeps it
// below 2^24.
#pragma once

#include <functional>
#include <trn/tile/builder.hpp>
#include <vector>

#include "../exact_integers.hpp"

namespace trn::blas::device {

class Recombine {
 public:
  // digits: HBM (columns, moduli, rows) float16; weights: HBM, see exact_weights(); limbs: HBM (rows, limbs, columns)
  // float32.
  Recombine(tile::Builder& b, int moduli, const tile::Access& digits, const tile::Access& weights,
            const tile::Access& limbs);

  // Columns of C whose digits share the partitions: a power of two, as many as fit.
  [[nodiscard]] static std::int64_t group(int moduli, const tile::Machine& machine);

  // A part of C.
  struct Part {
    tile::Affine column;
    std::int64_t columns;
    tile::Affine row;
    std::int64_t rows;
  };
  void build(const Part& part);

  // The same for a part of at most kTilesMax * 128 rows in steps of one tile of 128 x 64, to be run in order between
  // other instructions. Half of PSUM is left to those. The tiles and the load of the digits come with the call.
  using Steps = std::vector<std::function<void()>>;
  [[nodiscard]] Steps beside(const Part& part) { return steps(part, kColumnsBeside); }
  static constexpr std::int64_t kColumnsBeside = 64;
  // What its tiles take of each partition, for parts of two such widths and `rows` rows.
  [[nodiscard]] static std::int64_t bytes_beside(int moduli, std::int64_t rows, const tile::Machine& machine);

 private:
  // What a tile of 128 rows needs in SBUF on its way, (words, banks, 32) each.
  struct Slot {
    tile::Access fraction, quotient, words, carry, carried, out;
  };
  // Where a tile lies in C, its first row among the digits that were loaded, its sums in PSUM and its slot.
  struct Tile {
    tile::Affine row, column;
    std::int64_t rows = 0, columns = 0, first_row = 0;
    tile::Access sums;
    Slot slot;
  };

  // Tiles of `wide` columns: of one 128 columns of C, all columns of a part otherwise.
  Steps steps(const Part& part, std::int64_t wide);
  void multiply(const Tile& t, const tile::Access& digits);
  // Calls step(pick, banks, columns), where pick(tile) is the part of a tile in whole banks of columns, then in the
  // rest.
  template <class Step> void each_part(std::int64_t count, const Step& step) const;
  void begin(const Tile& t);
  void subtract(const Tile& t);
  void multiply_product(const Tile& t);
  void carry(const Tile& t);
  void take_carry(const Tile& t);
  void finish(const Tile& t);

  static constexpr std::int64_t kColumns = 128;                 // of C at a time in PSUM
  static constexpr std::int64_t kSums = 16, kBankColumns = 32;  // one PSUM bank: 16 sums of 32 columns
  static constexpr std::int64_t kStages = 4, kTilesMax = 16;
  static constexpr std::int64_t kAhead = 2;  // steps between a load of digits and their use

  tile::Builder& b_;
  exact::Recombination constants_;
  std::int64_t side_, group_, words_;
  std::int64_t own_words_;  // the words of q P that GpSimd makes; Scalar makes the others
  tile::Access digits_, limbs_, weights_, minus_p_;
};

}  // namespace trn::blas::device

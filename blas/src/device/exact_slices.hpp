// Slices of Precision Exact on the device: the numbers of an operand become four fp32 limbs, and limbs become residues.
//
// Both operands are treated alike, as rows of `depth` numbers with the row on partitions: the columns of op(B), then
// the rows of op(A).
//
//   limbs      bit operations on the Vector Engine take a number's words apart, then the nearest multiples of 2^48,
//     2^32, 2^16 and 1 are
//              taken off (exact_integers.cpp does the same steps on the host): of the leading 21 bits by Vector, of the
//                rest by Scalar and
//              GpSimd
//   residues   per modulus: limb sums with 2^(16 l) mod p on Vector, Scalar and GpSimd, minus p times the nearest
//     integer of the
//              quotient (Scalar rounds it by storing int32, Vector subtracts): |r| <= 90, bfloat16
#pragma once

#include <trn/blas/exact_program.hpp>
#include <trn/tile/builder.hpp>
#include <vector>

namespace trn::blas::device {

// Rows of the table of constants, one column per modulus.
enum ExactConstant { kC1, kC2, kC3, kInverse, kMinusP, kTableRows };

// The dimension d of size 1 removed.
[[nodiscard]] tile::Access drop(tile::Access access, std::size_t d);

// How results leave beside the products: GpSimd makes the descriptors. Triggered by the Scalar Engine they would hold
// up the residues and evictions that it makes, and by the Sync Engine the loads.
[[nodiscard]] inline tile::DmaOptions apart(const tile::Machine& machine) {
  return {.dge = machine.hardware_dge ? tile::DgeMode::Software : tile::DgeMode::Default};
}

class Slices {
 public:
  // The numbers of both operands.
  struct Numbers {
    std::int64_t count = 0;  // of rows
    tile::Access limbs;      // HBM scratch (4, count, depth) fp32
    tile::Access residues;   // HBM scratch (moduli, count, depth) bfloat16
  };
  // Where a plane of an operand starts in an element, whether it is negated, and where it goes.
  struct Plane {
    std::int64_t word;
    bool negated;
    std::int64_t row, column;
  };
  // `count` rows from `first`, and the same for moduli.
  struct Rows {
    tile::Affine first;
    std::int64_t count;
  };
  struct Moduli {
    tile::Affine first;
    std::int64_t count;
  };

  // offsets: (rows, 1) in HBM, what the rows add to exponents. table: (kTableRows, moduli) in HBM, see exact_table().
  // spare: SBUF has room for a second buffer of residues, which is not so beside the strips of a triangle.
  Slices(tile::Builder& b, const ExactShape& shape, const Numbers& numbers, const tile::Access& offsets,
         const tile::Access& table, bool spare);

  // One plane of an operand x (rows, columns, words).
  struct Source {
    tile::Access x;
    Plane plane;
  };
  // Limbs of planes with equally many columns. Their tiles alternate, so that one's loads hide behind another's
  // arithmetic.
  void limbs(const std::vector<Source>& sources);
  // Residues of columns [k0, k0 + columns) of these rows, from the limbs in scratch, whose loads have a ring of their
  // own.
  void residues(const Moduli& moduli, const Rows& rows, const tile::Affine& k0, std::int64_t columns);

  // A (rows, 1) constant of modulus i.
  [[nodiscard]] tile::Access constant(ExactConstant row, const tile::Affine& i, std::int64_t rows) const;
  // q = round(x / p), at most 2^18: the Scalar Engine multiplies by 1/p, and storing an int32 rounds to nearest.
  void divide(const tile::Access& q, const tile::Access& x, const tile::Affine& i);
  // dst = x - p q
  void subtract(const tile::Access& dst, const tile::Access& x, const tile::Access& q, const tile::Affine& i);

  static constexpr std::int64_t kLimbColumns = 1024, kResidueColumns = 512;

 private:
  // One tile of limbs, the modulus, and where its first number lies.
  struct Task {
    tile::Access four;
    tile::Affine i, row, column;
  };
  // Tiles for the work of one task at a time, as wide as the widest.
  struct Slot {
    tile::Access top, lower, sum[2], quotient[2];
  };

  // The tiles that limbs of one piece need on the way.
  struct Work;
  // Rows x width numbers of one source: their words, low word first, and their limbs (rows, 4, width).
  struct Panel;
  std::vector<tile::Access> load(const Source& source, const tile::Affine& r0, std::int64_t rows,
                                 const tile::Affine& k0, std::int64_t width);
  static double magic(int unit);
  void multiple(const tile::Access& to, const tile::Access& x, int unit, tile::Engine engine);
  void begin(const Panel& piece);
  void lower_pieces(const Panel& piece);
  void finish(const Panel& piece);
  void run(const std::vector<Task>& tasks);

  static constexpr std::int64_t kTasks = 4;  // in a group
  static constexpr int kMagics = 4;          // units 1, 2^16, 2^32, 2^48

  tile::Builder& b_;
  std::int64_t side_;
  bool wide_;
  std::int64_t words_;
  bool spare_;
  Numbers numbers_;
  tile::Access offsets_, table_, magic_;
};

}  // namespace trn::blas::device

// Slices of Precision Exact on the device: the numbers of an operand become two to four fp32 limbs, limbs residues.
//
// Both operands are treated alike, as rows of `depth` numbers with the row on partitions: the columns of op(B), then
// the rows of op(A).
//
//   limbs      bit operations on the Vector Engine take a number's words apart, multiples of powers of two are taken
//     off the pieces, each engine taking its share, and what is left is rounded to an integer: the one that slice() in
//     exact_integers.cpp makes. Numbers below 2^38 and 2^55 have two and three limbs, with units 1, 2^22, 2^39: then
//     limb sums with 2^22 mod p and 2^39 mod p stay below 89 (2^16 + 1.13 * 2^16) + 2^21 + 2^17 < 2^24. Larger ones
//     have four of 16 bits.
//   residues   per modulus: limb sums with 2^unit mod p on Vector, Scalar and GpSimd, minus p times the nearest integer
//     of the quotient (Scalar rounds it by storing int32, Vector subtracts): |r| <= 90, bfloat16
#pragma once

#include <array>
#include <functional>
#include <optional>
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
    tile::Access limbs;      // HBM scratch (limbs, count, depth) fp32
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
  // Limbs of these rows of a source, and their residues while they are at hand.
  void slice(const Source& source, const Rows& rows, const Moduli& moduli);
  // Residues of columns [k0, k0 + columns) of these rows, from the limbs in scratch, whose loads have a ring of their
  // own.
  void residues(const Moduli& moduli, const Rows& rows, const tile::Affine& k0, std::int64_t columns);

  // The same in steps that may stand between the pieces of other work: limbs of these rows of a source and columns [k0,
  // k0 + columns), and their residues; residues of rows whose limbs are in scratch.
  using Steps = std::vector<std::function<void()>>;
  Steps slice_steps(const Source& source, const Rows& rows, const tile::Affine& k0, std::int64_t columns,
                    const Moduli& moduli);
  Steps residue_steps(const Moduli& moduli, const std::vector<Rows>& rows, const tile::Affine& k0,
                      std::int64_t columns);

  // What the tiles of both take in a partition, residues of `moduli` and of `next` moduli.
  [[nodiscard]] static std::int64_t bytes_beside(const ExactShape& shape, std::int64_t moduli, std::int64_t next,
                                                 const tile::Machine& machine);

  // A (rows, 1) constant of modulus i.
  [[nodiscard]] tile::Access constant(ExactConstant row, const tile::Affine& i, std::int64_t rows) const;
  // q = round(x / p), at most 2^18: the Scalar Engine multiplies by 1/p, and storing an int32 rounds to nearest.
  void divide(const tile::Access& q, const tile::Access& x, const tile::Affine& i);
  // dst = x - p q
  void subtract(const tile::Access& dst, const tile::Access& x, const tile::Access& q, const tile::Affine& i);

  static constexpr std::int64_t kColumns = 512;  // of a tile

 private:
  // One tile of limbs, the modulus, and where its first number lies.
  struct Task {
    tile::Access four;
    tile::Affine i, row, column;
  };
  // rows x width numbers of one source, and the bias of their exponents.
  struct Place {
    Source source;
    tile::Access bias;
    tile::Affine row, column;
    std::int64_t rows, width;
  };
  struct Work;   // the tiles that limbs of one place need on the way
  struct Panel;  // a place with its tiles
  struct Slot;
  struct ResidueTiles;
  class Residues;  // the instructions that make tasks' residues
  class Stream;    // those that make places' limbs
  class Pool;      // its tiles

  tile::Access bias(const Source& source, const tile::Affine& r0, std::int64_t rows);
  std::vector<Place> places(const std::vector<Source>& sources, const tile::Affine& r0, std::int64_t rows,
                            const tile::Affine& k0, std::int64_t columns);
  [[nodiscard]] bool turns(const Source& source) const;  // whether the Tensor Engine turns what is loaded
  void stream(const std::vector<Source>& sources, const Rows& rows, const std::optional<Moduli>& moduli);
  // Scaled pieces of the significands; limbs up to what GpSimd has to do; what
  // follows; the last limb.
  void scale(const std::vector<Panel>& panels);
  void begin(const std::vector<Panel>& panels);
  void end(const std::vector<Panel>& panels);
  void round(const std::vector<Panel>& panels);
  void whole_pieces(const std::vector<Panel>& panels);
  void begin_few(const std::vector<Panel>& panels);
  void end_few(const std::vector<Panel>& panels);
  void begin_four(const std::vector<Panel>& panels);
  void end_four(const std::vector<Panel>& panels);
  void store(const Panel& p);
  static double magic(int unit);
  [[nodiscard]] tile::Access magic_of(int unit, int sign, std::int64_t rows) const;
  void multiple(const tile::Access& to, const tile::Access& x, int unit, tile::Engine engine);
  std::vector<Task> load_tasks(const Moduli& moduli, const tile::Affine& row0, std::int64_t high,
                               const tile::Affine& column, std::int64_t width, std::int64_t buffers,
                               std::vector<tile::Access>* through);
  void run(std::vector<Task> tasks);

  static constexpr std::int64_t kTasks = 4;                         // in a group
  static constexpr std::int64_t kStreamed = 8;                      // tiles of limbs in the body of a loop
  static constexpr std::array<int, 4> kScalarUnits{0, 16, 22, 32};  // whose multiples the Scalar Engine takes

  tile::Builder& b_;
  std::int64_t side_;
  bool wide_, complex_;
  std::int64_t words_;
  int limbs_;                 // of a number
  std::array<int, 4> units_;  // theirs, powers of two
  bool spare_;
  Numbers numbers_;
  tile::Access offsets_, table_, magic_;
};

}  // namespace trn::blas::device

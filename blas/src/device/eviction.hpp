// The way out of PSUM: sums become elements of C, c = alpha * (values) + beta * c_in, and are stored.
#pragma once

#include <functional>
#include <trn/blas/product_program.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/builder.hpp>
#include <vector>

#include "scheme.hpp"

namespace trn::blas::device {

// A rectangle of a block of C that lies in one bank of every accumulator. The diagonal tile, where C is a triangle, is
// its square of columns [diagonal, diagonal + height), counted from `column`.
struct BankRectangle {
  std::int64_t i, j;         // of the accumulators
  std::int64_t row, height;  // in the block
  std::int64_t column, width;
  std::int64_t diagonal = -1;  // none
};

// One block of C while it is being computed.
struct Block {
  tile::Affine m0, n0;
  std::int64_t rows, columns;
  std::vector<BankRectangle> pieces;
  std::vector<tile::blocks::Accumulator> sums;
  // Of a scheme with groups, by value: what the finished groups add up to, and what that addition lost. (128, pieces,
  // bank)
  std::vector<tile::Access> total, lost;
  tile::Access between;  // (128, 6, bank): the intermediate results of two additions

  // Columns [from, from + width) of the block in accumulator `sum`; they lie inside the piece.
  [[nodiscard]] tile::Access bank(int sum, const BankRectangle& p, std::int64_t from, std::int64_t width) const;
};

class Eviction {
 public:
  // Declares c_in, alpha, beta and c, which continues `over` where that is given.
  Eviction(tile::Builder& b, const GemmShape& shape, const Scheme& scheme, const tile::Access& over = {});

  // Declares alpha and beta alone, those whose tiles are not given: `move(piece, tile, store)` copies a piece of C into
  // the tile, or the tile into D.
  using Mover = std::function<void(const BankRectangle&, const tile::Access&, bool)>;
  Eviction(tile::Builder& b, const GemmShape& shape, const Scheme& scheme, Mover move, const tile::Access& alpha,
           const tile::Access& beta);

  // The accumulators of a block, and zeros to add groups to.
  [[nodiscard]] Block begin(const tile::Affine& m0, const tile::Affine& n0, std::int64_t rows, std::int64_t columns,
                            std::vector<BankRectangle> pieces) const;
  // A group of tiles is complete: its leading sums join the totals.
  void fold(const Block& block) const;
  void store(const Block& block) const;
  // The same with one store for all pieces of a row, of real sums of one word.
  void store_rows(const Block& block) const;
  // What becomes of each element of C: f(alpha * values + beta * c_in), of real float32 elements. `shared`: operands
  // have functions too, so that the Scalar Engine had better keep to its table.
  void apply(const ElementFunction& function, bool shared) { function_ = function, shared_ = shared; }

  // Before the first and after the last block: the triangles of diagonal tiles.
  void open_triangles();
  void close_triangles();

 private:
  struct Scaled {
    tile::Access x;
    tile::ScalarOrTile factor;
    bool psum;
  };
  // A factor with both signs of its parts, as numbers or (128, 1) tiles.
  struct Number {
    Factor kind;
    tile::ScalarOrTile re[2], im[2];  // [0] as it is, [1] negated
  };
  Number factor(const std::string& name, Factor kind, const tile::Access& given = {});
  static tile::ScalarOrTile top(const tile::ScalarOrTile& factor, std::int64_t height);
  tile::Access part(const tile::Access& tile, int p) const;
  tile::Access piece_tile(const std::string& name, std::int64_t height, std::int64_t width, std::int64_t buffers) const;

  std::vector<Scaled> sources(const Block& block, std::size_t piece, int p) const;
  std::vector<Scaled> scaled(const Block& block, std::size_t piece, const std::vector<std::vector<Scaled>>& values,
                             int p) const;
  void add_old(std::vector<Scaled>& terms, const tile::Access& old, int p, std::int64_t height) const;
  // dst = sum of terms, one pass over the data per step.
  struct Chain {
    tile::Access dst;
    std::vector<Scaled> terms;
    tile::Engine first;  // of a sum of one term
    std::size_t next = 0;
    tile::Access running = {}, between = {};
  };
  void step(Chain& chain) const;
  void finish(std::vector<Chain>& chains) const;
  // Pieces [first, first + count); `as_one`: neighbours in a row, which are loaded and stored at once.
  void store(const Block& block, std::size_t first, std::size_t count, bool as_one,
             const std::function<tile::Engine(std::int64_t)>& next_engine) const;
  [[nodiscard]] std::function<tile::Engine(std::int64_t)> engines() const;
  void move(const Block& block, const BankRectangle& p, const tile::Access& tile, bool store) const;

  tile::Builder& b_;
  const GemmShape& g_;
  const Scheme& s_;
  std::int64_t side_;
  tile::Access c_in_, c_;
  Number alpha_, beta_;
  tile::Access diagonal_in_, diagonal_out_;  // (tiles, 128, 128[, 2]) scratch
  Mover mover_;
  ElementFunction function_;
  bool shared_ = false;
};

}  // namespace trn::blas::device

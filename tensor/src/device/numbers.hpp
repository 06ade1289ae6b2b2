// Real and complex numbers in tiles, and the operators of trntensor on them.
#pragma once

#include <string>

#include <trn/tensor/types.hpp>
#include <trn/tile/blocks/boxes.hpp>
#include <trn/tile/builder.hpp>

#include "../fold.hpp"
#include "program.hpp"

namespace trn::tensor::device {

// Float32 tiles (P, F): the value, or its real and imaginary parts.
struct Number {
  tile::Access re, im;  // im is absent for real numbers
  [[nodiscard]] bool complex() const { return im.present(); }
};

class Numbers {
 public:
  Numbers(tile::Builder& b, std::int64_t buffers) : b_(b), buffers_(buffers) {}

  // A tile for elements of a type, (P, F) or (P, F, words), and its parts.
  [[nodiscard]] tile::Access tile(const std::string& name, DType dtype, std::int64_t partitions,
                                  std::int64_t free) const;
  [[nodiscard]] static Number parts(const tile::Access& tile, DType dtype);
  [[nodiscard]] Number fresh(const std::string& name, std::int64_t partitions, std::int64_t free, bool complex) const;

  [[nodiscard]] Number apply(Unary op, const Number& x, const std::string& name) const;
  [[nodiscard]] Number scaled(const Number& x, Factor kind, const tile::Access& factor, const std::string& name) const;
  [[nodiscard]] Number joined(Binary op, const Number& x, const Number& y, const std::string& name) const;
  // The elements of a type, from a number: rounded, imaginary parts 0 where the number is real.
  void put(const tile::Access& tile, DType dtype, const Number& x) const;

 private:
  void softsign(const tile::Access& to, const tile::Access& x, const std::string& name) const;
  void whole(const tile::Access& to, const tile::Access& x, bool down, const std::string& name) const;
  tile::Builder& b_;
  std::int64_t buffers_;
};

[[nodiscard]] bool has_device(Unary op, bool complex);
// The same as one instruction of the product kernel, which applies it where it has the element anyway; none where it
// takes several, and for Identity and Conj.
[[nodiscard]] blas::ElementFunction element_function(Unary op);
[[nodiscard]] tile::AluOp operator_of(Binary op);

// Strides of a group for boxes, in words of each operand's type.
[[nodiscard]] tile::blocks::BoxGroup boxes_of(const Group& group, const std::array<std::int64_t, 4>& words);
// The pattern of boxes in HBM, `words` numbers to an element.
[[nodiscard]] tile::Access pattern_of(const tile::Access& hbm, const tile::Affine& offset,
                                      const std::vector<const tile::blocks::BoxGroup*>& boxes, std::size_t operand,
                                      std::int64_t words);
// body(part, free): tiles whose partitions are the box of `part` and whose free dimension is `free`, at most `most`
// elements; part.offset is where the tile begins.
using TileBody = std::function<void(const tile::blocks::BoxPart&, const tile::blocks::BoxGroup&)>;
void for_tiles(tile::Builder& b, const std::string& name, const tile::blocks::BoxGroup& group, std::int64_t most,
               const TileBody& body);

}  // namespace trn::tensor::device

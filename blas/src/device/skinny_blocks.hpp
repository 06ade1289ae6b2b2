// How the long operand of a skinny product is cut into blocks (skinny_product.cpp).
#pragma once

#include <trn/blas/product_program.hpp>
#include <vector>

#include "scheme.hpp"

namespace trn::blas::device {

// A block of an index: p values on partitions, f next to each other for each of them.
struct Range {
  std::int64_t p = 1, f = 1;
  [[nodiscard]] std::int64_t size() const { return p * f; }
};
using Ranges = std::vector<Range>;

// The long operand X and the short one Y, with their numbers among the operands.
struct Sides {
  tile::blocks::BoxGroup x, y;
  std::size_t x_number, y_number;
};
[[nodiscard]] inline Sides sides(const ProductShape& s) {
  if (tile::blocks::extent_of(s.n) >= tile::blocks::extent_of(s.m)) return {s.n, s.m, 1, 0};
  return {s.m, s.n, 0, 1};
}

// The blocks of the long operand, by the machine's table.
class BlocksOfLong {
 public:
  BlocksOfLong(const ProductShape& shape, const Scheme& scheme, const tile::Machine& machine);

  // The ranges of least cost for `l`, indices of the long operand.
  [[nodiscard]] Ranges choose(const tile::blocks::BoxGroup& l) const;
  // Whether that is quicker than the long operand moving, or its sums stored 128 at a time.
  [[nodiscard]] bool worthwhile() const;
  // Walked values whose sums fill a PSUM bank, and the index whose values are neighbours there.
  [[nodiscard]] std::int64_t bank_groups() const;
  [[nodiscard]] static std::size_t inner_index(const tile::blocks::BoxGroup& l, const Ranges& r);

 private:
  struct Costs {
    double tensor, dma, copies, issues, fill = 0;
    [[nodiscard]] double total() const;
  };
  [[nodiscard]] double moved(double count, std::int64_t run, std::int64_t bytes, double rate) const;
  [[nodiscard]] double all_moved(const tile::blocks::BoxGroup& l, const Ranges& r, bool store) const;
  [[nodiscard]] Costs costs(const tile::blocks::BoxGroup& l, const Ranges& r) const;
  [[nodiscard]] double cycles(std::int64_t columns) const;
  [[nodiscard]] double rate(std::int64_t parts) const;
  [[nodiscard]] bool fits(std::int64_t p, std::int64_t f) const;

  const tile::Machine& m_;
  Sides by_;
  DType word_;
  bool reads_c_;
  std::int64_t columns_, depth_, tiles_, in_bytes_, out_bytes_, parts_;
};

}  // namespace trn::blas::device

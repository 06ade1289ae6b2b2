// One block of the product op(A) op(B) with what scaling may have lost in every element.
//
// Scaling costs little beside ||a_i|| ||b_j||. Where the large numbers of a row meet small ones of the column,
// (|A||B|)_ij is far below that, and the integers may hold nothing of the element. Such an element is computed again
// from the operands, without error: where the bound exceeds max(depth, 64) u (|A||B|)_ij, u the roundoff of the type,
// so that no element is worse than a sum in the type. A product that was asked for with a target keeps its norm-wise
// bound instead, and does not look at the operands' numbers again.
//
// Elements that a special row or column reaches are computed here as well: what is not finite as dgemm would, the rest
// without error.
#pragma once

#include <unordered_map>
#include <vector>

#include "../exact.hpp"
#include "blocks.hpp"
#include "scaling.hpp"
#include "sum.hpp"

namespace trn::blas::exact {

// An element that is not taken from the integers.
struct Replacement {
  bool finite = true;
  OwnedNumber exact;      // when finite
  long double value = 0;  // when not
};

struct ProductBlock {
  Block block;
  std::vector<Wide> x;                                     // planes x rows x columns
  std::vector<long double> lost;                           // rows x columns: bounds of |C - C'| of either plane
  std::unordered_map<std::int64_t, Replacement> replaced;  // by index in x
  [[nodiscard]] std::int64_t at(std::int64_t i, std::int64_t j) const {
    return (i - block.row) * block.columns + j - block.column;
  }
  [[nodiscard]] std::int64_t plane() const { return block.rows * block.columns; }
};

// Norms of what scaling did to the rows of op(A) and the columns of op(B).
struct ScalingErrors {
  std::vector<Norms> a, b;
};

class Product {
 public:
  // repair: elements are computed again where scaling costs too much; the errors are then computed from the numbers.
  Product(const Operand& a, const Operand& b, const Plan& plan, ExactRegion::Terms terms, bool repair);
  Product(const Operand& a, const Operand& b, const Plan& plan, ExactRegion::Terms terms, bool repair,
          const ScalingErrors& errors);

  // Which elements (i, j) count: all, j <= i, or j >= i.
  enum class Wanted : std::uint8_t { All, Lower, Upper };
  [[nodiscard]] ProductBlock make(Source& source, const Block& block, Wanted wanted);
  // make() in two steps. After the first it is known which elements the second one reads rows and columns for: those
  // that are computed again, and those that may be.
  struct Unsettled {
    ProductBlock block;
    std::vector<std::int64_t> again, candidates;  // indices in block.x, of the first plane
  };
  [[nodiscard]] Unsettled look(Source& source, const Block& block, Wanted wanted);
  [[nodiscard]] ProductBlock settle(Unsettled&& u);
  // Columns that were read are not kept for the next block.
  void forget_columns() { kept_ = {0, 0, 0, 0}; }

  // The exponent of the integers of an element.
  [[nodiscard]] int exponent(std::int64_t i, std::int64_t j) const {
    return -(plan_.shift_a[static_cast<std::size_t>(i)] + plan_.shift_b[static_cast<std::size_t>(j)]);
  }
  // ||a_i|| ||b_j||, rounded down.
  [[nodiscard]] long double least_norms(std::int64_t i, std::int64_t j) const {
    return left_[static_cast<std::size_t>(i)].least * right_[static_cast<std::size_t>(j)].least;
  }
  // Replaces `lost` by the cost itself where that is less.
  void compute_lost(ProductBlock& p);
  [[nodiscard]] bool special(std::int64_t i, std::int64_t j) const {
    return a_.special[static_cast<std::size_t>(i)] != 0 || b_.special[static_cast<std::size_t>(j)] != 0;
  }

 private:
  // The numbers of a panel of columns are kept for the next block.
  const std::vector<double>& columns_of(const Block& block);
  [[nodiscard]] int unit(std::int64_t i, std::int64_t j) const {
    return a_.exponent[static_cast<std::size_t>(i)] + b_.exponent[static_cast<std::size_t>(j)];
  }
  // What the bounds need of a row, its power of two included.
  struct Row {
    Norms norms, errors, both;  // of x, of d, and their sum
    long double least;          // ||x||, rounded down
    long double power;          // of the integers: 2^-shift
  };
  static std::vector<Row> rows_of(const Operand& s, const std::vector<std::int32_t>& shift,
                                  const std::vector<Norms>& errors);
  // A bound of what scaling did to an element, and the magnitude of an integer, to about 2^-60.
  [[nodiscard]] long double lost(std::int64_t i, std::int64_t j) const;
  [[nodiscard]] long double size(const Wide& x, std::int64_t i, std::int64_t j) const;
  void replace(ProductBlock& p, const std::vector<std::int64_t>& elements);
  Replacement computed(const double* left, const double* right, std::int64_t i) const;
  [[nodiscard]] std::vector<std::int64_t> misaligned(ProductBlock& p, const std::vector<std::int64_t>& candidates);

  const Operand &a_, &b_;
  const Plan& plan_;
  ExactRegion::Terms terms_;
  bool repair_;
  std::vector<Row> left_, right_;
  Block kept_{0, 0, 0, 0}, kept_scaled_{0, 0, 0, 0};
  std::vector<double> kept_columns_;
  ScaledRows kept_scaled_columns_;
};

}  // namespace trn::blas::exact

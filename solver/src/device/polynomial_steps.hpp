// The steps X <- X (a I + b M + c M^2), M = X^T X, of sign_schedule.hpp on matrices that stay in SBUF: the polar factor
// of X, which is the sign function where X is symmetric. Several matrices at once, stage by stage, fill each other's
// latencies.
//
//   M' = c^1/2 M,   Q = b c^-1/2 M' + M' M',   Y = a X + X Q
//
// each with one instruction that empties PSUM. A symmetric X is its own transpose; Y, symmetric in exact arithmetic,
// is made so again, because an antisymmetric rounding would grow by a factor of up to 7 a step. Any other X is turned
// for the last product.
#pragma once

#include <vector>

#include "device/block_products.hpp"
#include "device/sign_schedule.hpp"

namespace trn::solver::device {

class PolynomialSteps {
 public:
  // rows x columns each; symmetric ones are square.
  PolynomialSteps(tile::Builder& builder, BlockProducts& products, std::int64_t count, std::int64_t rows,
                  std::int64_t columns, bool symmetric);

  [[nodiscard]] std::size_t count() const { return x_.size(); }
  // The matrices: written by the caller before, by steps after.
  [[nodiscard]] tile::Access x(std::size_t t) const { return x_[t]; }
  // As large as x, free between steps: what turn() of a general X or the next symmetric X goes to.
  [[nodiscard]] tile::Access other(std::size_t t) const { return y_[t]; }
  // M, or D = M - I after departure().
  [[nodiscard]] tile::Access m(std::size_t t) const { return m_[t]; }

  // Which rows of a matrix belong together: elements (128, columns) that are 1 where the row `block row` p and the
  // column are of one diagonal block, else 0. Called for each matrix and block row.
  using Together = std::function<tile::Access(std::size_t t, std::int64_t block)>;
  // The first step, before which every diagonal block X_b is divided by ||M_b||_F^1/2, which is at least its norm. A
  // general X is one block.
  void first(const SignStep& p, const Together& together);
  void step(const SignStep& p);
  // M <- M - I; the sums of squares of its rows into `sums` (128, columns / 128) of each matrix.
  void departure(const std::vector<tile::Access>& sums);
  // X <- X (a + b M + c M^2) with the M that is there.
  void apply(const SignStep& p);

 private:
  void square(double factor);
  void finish(const SignStep& p);

  tile::Builder& b_;
  BlockProducts& products_;
  std::int64_t blocks_;
  bool symmetric_;
  std::vector<tile::Access> x_, y_, m_, q_;
};

}  // namespace trn::solver::device

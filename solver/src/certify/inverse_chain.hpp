// An approximate inverse of a matrix that may be very ill conditioned, as a product of matrices, with a proof that it
// is one: ||I - W_l ... W_2 W_1 A||_inf <= beta < 1. In particular A is not singular then.
//
// Rump's method. W_1 is the inverse of A in double precision. When A's condition number is near 2^53, W_1 A is far from
// I, but its condition number is smaller by a factor of about 2^-53 n. So W_1 A is formed by an Exact product, rounded
// once, and inverted in turn. Exact products drop what lies 62 bits below the largest element, which ends the chain
// near condition numbers of 1e18.
#pragma once

#include "certify/exact_sums.hpp"

namespace trn::solver::certify {

template <Wide D> class InverseChain {
 public:
  // At most `most_levels` factors; more are taken while beta > 1/4.
  InverseChain(const Executor& executor, const Columns<D>& a, int most_levels);
  [[nodiscard]] bool proved() const { return beta_ < 1; }
  [[nodiscard]] double beta() const { return beta_; }  // infinite when nothing was proved
  [[nodiscard]] int levels() const { return static_cast<int>(factors_.size()); }

  // W_l ... W_1 r, with the radius of r carried through.
  [[nodiscard]] TwoWords<D> apply(const TwoWords<D>& r) const;

 private:
  Executor executor_;
  std::vector<Columns<D>> factors_;
  double beta_;
};

}  // namespace trn::solver::certify

// The parts of CP algorithms: Khatri-Rao products, and MTTKRP (the unfolding along a mode times the Khatri-Rao product
// of the other factors) by a dimension tree of two groups of modes.
//
//   X as a matrix (left modes) x (right modes)
//   T_left  = X   KR(right factors)      one product with X serves all left modes
//   T_right = X^T KR(left factors)       and one all right modes
//
// so that a sweep over all modes reads X twice, whatever their number; each mode's MTTKRP is then a small sum.
#pragma once

#include <vector>

#include "decompose/dense.hpp"

namespace trn::tensor {

// Factors are n_k x rank, row-major.
template <RealScalar T> struct CpModel {
  std::vector<std::vector<T>> factors;
  std::int64_t rank = 0;
};

// Rows (i_first, ..., i_last-1), the last index fastest: products of rows of factors first .. last - 1.
template <RealScalar T> std::vector<T> khatri_rao(const CpModel<T>& model, std::size_t first, std::size_t last);

// A^T A in double.
template <RealScalar T> std::vector<double> gram(const std::vector<T>& a, std::int64_t rank);

template <RealScalar T> class Mttkrp {
 public:
  explicit Mttkrp(const Dense<T>& x);
  [[nodiscard]] std::size_t modes() const { return x_.shape.size(); }
  [[nodiscard]] std::size_t split() const { return split_; }  // modes below are left
  // T_left or T_right for the factors of the other side.
  [[nodiscard]] std::vector<T> side(const CpModel<T>& model, bool left) const;
  // The MTTKRP of a mode from its side.
  [[nodiscard]] std::vector<T> mode(const CpModel<T>& model, const std::vector<T>& side, std::size_t mode) const;
  // ||X - model||, from the difference.
  [[nodiscard]] double distance_to(const CpModel<T>& model) const;
  [[nodiscard]] Dense<T> expand(const CpModel<T>& model) const;
  [[nodiscard]] const Dense<T>& x() const { return x_; }

 private:
  const Dense<T>& x_;
  std::size_t split_ = 1;
  std::int64_t rows_ = 1, columns_ = 1;
};

}  // namespace trn::tensor

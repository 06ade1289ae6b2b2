// Direct inversion of the iterative subspace (Pulay): the combination of the last Fock matrices, with coefficients that
// sum to one, whose combined error is smallest.
#pragma once

#include <deque>

#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2 {

class Diis {
 public:
  // Remembers F and its error and returns the combination.
  [[nodiscard]] Dense extrapolate(const Dense& fock, const Dense& error);

 private:
  static constexpr std::size_t kKept = 8;
  struct Entry {
    Dense fock, error;
  };
  std::deque<Entry> entries_;
};

}  // namespace trn::mp2

// What a rank holds of a distributed multigrid hierarchy, and its cycle.
#pragma once

#include <optional>
#include <vector>

#include <trn/sparse/dist_amg.hpp>

#include "../amg_data.hpp"
#include "csr.hpp"

namespace trn::sparse::detail {

template <class T> struct DistAmgLevel {
  DistCsr<T> a;
  std::optional<DistCsr<T>> p, r;   // none on the last level
  std::vector<T> inverse_diagonal;  // of this rank's rows
  double largest = 0;               // eigenvalue of D^-1 A
  // This rank's rows that are connected to no other, and the inverses of their diagonals.
  std::vector<std::int64_t> separate;
  std::vector<T> separate_inverse;
  mutable std::vector<T> x, b, residual, direction;
};

template <class T> struct DistAmgData {
  comm::Communicator group;
  Executor executor = Executor::host();
  ChebyshevOptions smoother = {};
  std::vector<DistAmgLevel<T>> levels = {};
  std::vector<AmgLevel> report = {};
  Separate<T> last = {};        // of the last level, whole
  std::vector<T> inverse = {};  // of its connected rows
  Outcome outcome = {};
  mutable std::vector<T> halo = {};

  // x = V-cycle(b), this rank's rows of both. Collective.
  void apply(const T* b, T* x) const;

 private:
  void cycle(std::size_t l) const;
  void smooth(const DistAmgLevel<T>& level, bool zero) const;
  void solve_last(const DistAmgLevel<T>& level) const;
};

}  // namespace trn::sparse::detail

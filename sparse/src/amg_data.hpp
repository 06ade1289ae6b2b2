// What multigrid keeps of its set-up: the levels, and the systems that are solved on them. Its own cycle reads it, and
// the ones in progressive precision and over ranks.
#pragma once

#include <trn/sparse/amg.hpp>

#include "host/triangle.hpp"
#include "host_data.hpp"

namespace trn::sparse {

// Nodes none of whose rows has an entry, other than zero, outside the node: Dirichlet conditions, for one, and bodies
// that coarsening has brought down to a node. Each is a system of its own, which the inverse of its block solves.
template <Scalar T> struct Separate {
  std::int64_t block = 1;
  std::vector<std::int32_t> nodes, others;  // together all, each in rising order
  std::vector<T> inverses;                  // of the blocks of `nodes`, row-major

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(nodes.size()) * block; }
  void solve(const T* b, T* x) const {
    const T* inverse = inverses.data();
    for (const std::int32_t node : nodes) {
      for (std::int64_t i = 0; i < block; ++i) {
        T sum(0);
        for (std::int64_t j = 0; j < block; ++j) sum += host::times(*inverse++, b[node * block + j]);
        x[node * block + i] = sum;
      }
    }
  }
  // The last level's x, by the inverse of its connected nodes.
  void solve_last(const std::vector<T>& inverse, const T* b_in, T* x_out) const {
    solve(b_in, x_out);
    const T* row = inverse.data();
    for (const std::int32_t node : others) {
      for (std::int64_t i = 0; i < block; ++i) {
        T sum(0);
        for (const std::int32_t from : others) {
          const T* part = b_in + from * block;
          for (std::int64_t j = 0; j < block; ++j) sum += host::times(*row++, part[j]);
        }
        x_out[node * block + i] = sum;
      }
    }
  }
};

template <Scalar T> struct AmgLevelData {
  std::int64_t n;
  std::optional<Chebyshev<T>> smoother;
  std::optional<SpmmPlan<T>> a, p, r;
  Array<T> x, b, residual;
  Separate<T> separate;
  Csr<T> matrix;
  std::optional<Csr<T>> prolongation, restriction;  // none on the last level
};

template <Scalar T> struct Amg<T>::Data {
  Executor executor = Executor::host();
  ChebyshevOptions smoother;
  std::vector<AmgLevelData<T>> levels;
  std::vector<AmgLevel> report;
  std::vector<T> inverse;  // of the connected nodes of the last level, row-major
  Outcome outcome;

  // x = V-cycle(b) on level l; b and x are the level's own.
  void cycle(std::size_t l) const;
};

struct detail::AmgAccess {
  using Data = Amg<double>::Data;
  template <Scalar T> static const auto& data(const Amg<T>& a) { return a.data_; }
};

}  // namespace trn::sparse

// The device kernel of pair_energy as a value, for tools that print, emit, profile or estimate it.
#pragma once

#include <trn/core/precision.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// All extents >= 1. Strides of the two vectors of energies in elements.
struct PairEnergyShape {
  Mode mode = Mode::Native;
  std::int64_t nocc = 1, naux = 1, nvir = 1;
  std::int64_t occupied_stride = 1, virtual_stride = 1;
  bool operator==(const PairEnergyShape&) const = default;
};

// Tensors, all float32: inputs "b" (nocc, naux, nvir), "occupied" (nocc), "virtuals" (nvir); outputs
//   "sums"  (pairs, blocks, 128, columns)  per partition: column 3 t sums Z^2, column 3 t + 1 (Z - Z^T)^2 with each {a, b} once,
//                                          column 3 t + 2 the same with each {a, b} twice
//   "norms" (nocc, pieces, 128)            squares of B_i
// Pair (i, j), i <= j, is row i nocc - i (i - 1) / 2 + j - i. Throws NotImplemented for Mode::Exact.
[[nodiscard]] tile::Program pair_energy_program(const PairEnergyShape& shape, const tile::Machine& machine);

// How a float is written as a sum of words, and which products of words are summed.
struct WordScheme {
  DType dtype;
  int words, products;
};
[[nodiscard]] WordScheme word_scheme(Mode mode);

// |T - exact|_ab <= bound * ||b_ia|| ||b_jb|| on a device, for naux rows.
[[nodiscard]] double pair_product_bound(Mode mode, std::int64_t naux);

}  // namespace trn::blas

// The device kernel of pair_energy as a value, for tools that print, emit, profile or estimate it.
#pragma once

#include <cstdint>

#include <trn/core/precision.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// Which pairs, and their rows in the outputs: all i <= j, or with left > 0 one orbital from each side of it.
struct PairRange {
  std::int64_t nocc = 1, left = 0;
  [[nodiscard]] std::int64_t rows() const { return left > 0 ? left : nocc; }              // i is below this
  [[nodiscard]] std::int64_t first(std::int64_t i) const { return left > 0 ? left : i; }  // j begins here
  [[nodiscard]] std::int64_t row(std::int64_t i) const {
    return left > 0 ? i * (nocc - left) : i * nocc - i * (i - 1) / 2;
  }  // of (i, first)
  [[nodiscard]] std::int64_t count() const { return left > 0 ? left * (nocc - left) : nocc * (nocc + 1) / 2; }
};

// All extents >= 1. Strides of the two vectors of energies in elements.
struct PairEnergyShape {
  Mode mode = Mode::Native;
  std::int64_t nocc = 1, naux = 1, nvir = 1;
  std::int64_t occupied_stride = 1, virtual_stride = 1;
  std::int64_t left = 0;
  bool operator==(const PairEnergyShape&) const = default;
};

// Tensors, all float32: inputs "b" (nocc, naux, nvir), "occupied" (nocc), "virtuals" (nvir); outputs
//   "sums"  (pairs, blocks, 128, columns)  per partition: column 3 t sums Z^2, column 3 t + 1 (Z - Z^T)^2 with each {a,
//     b} once,
//                                          column 3 t + 2 the same with each {a, b} twice
//   "norms" (nocc, pieces, nvir)           squares of the columns of B_i, by pieces of its rows
// Rows of pairs are numbered by PairRange. Throws NotImplemented for Mode::Exact.
[[nodiscard]] tile::Program pair_energy_program(const PairEnergyShape& shape, const tile::Machine& machine);

// How a float is written as a sum of words, and which products of words are summed.
struct WordScheme {
  DType dtype;
  int words, products;
};
[[nodiscard]] WordScheme word_scheme(Mode mode);

// |T - exact|_ab <= bound * ||b_ia|| ||b_jb|| on a device, for naux rows.
[[nodiscard]] double pair_product_bound(Mode mode, std::int64_t naux);

// float64 operands in Exact: B as pairs of 32-bit words (low, high), six integer slices of 7 bits for each column, two
// fp32 words after the product. Inputs "b" uint32 (nocc, naux, nvir, 2); "exponents" (nocc, nvir): 126 minus the biased
// exponent of s_ia / 2, where s_ia, a power of two, exceeds column (i, a); "powers" (nocc, nvir): s_ia over the largest
// of orbital i; "occupied" (3, nocc) and "virtuals" (3, nvir) in three words each. Outputs "sums" (pairs, rows of a
// tile, columns), four words of squares and four of exchange (each {a, b} twice) for each part, "norms" (nocc, nvir).
// Throws NotImplemented above 512 virtual orbitals.
struct SlicedPairEnergyShape {
  std::int64_t nocc = 1, naux = 1, nvir = 1, left = 0;
  bool operator==(const SlicedPairEnergyShape&) const = default;
};
[[nodiscard]] tile::Program sliced_pair_energy_program(const SlicedPairEnergyShape& shape,
                                                       const tile::Machine& machine);

// |T - exact|_ab <= slices (s_ia ||b_jb|| + s_jb ||b_ia||) + scales s_ia s_jb.
struct SlicedProductBound {
  double slices, scales;
};
[[nodiscard]] SlicedProductBound sliced_product_bound(std::int64_t naux, std::int64_t nvir,
                                                      const tile::Machine& machine);

}  // namespace trn::blas

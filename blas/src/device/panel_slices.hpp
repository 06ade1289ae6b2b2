// B(i, P, a) in float64, on a machine without it, as integer slices: the first half of pair_energy in Exact.
//
// Every column (i, a) has a scale of its own, s_ia = 2^e > |B(i, :, a)|, so that a few tight orbitals do not take bits
// from the others:
//
//   b = s_ia sum_k d_k 2^(-6 - 7 k) + r,   k = 0 .. 5,   d_k integers, |d_0| <= 64, |d_k| <= 65, in bfloat16,   |r| <=
//     1.25 * 2^-42 s_ia
//
// (2^-42 by the slices, 2^-44 by the last eight bits of the mantissa, which are left out). Bits of a double arrive as a
// pair of 32-bit words (low, high); sign, exponent and two parts of the mantissa are taken apart by bit operations.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::blas::device {

inline constexpr int kSlices = 6, kSliceBits = 7;

struct PanelShape {
  std::int64_t nocc, naux, nvir;
  bool operator==(const PanelShape&) const = default;
};

// Input "b" uint32 (nocc, naux, nvir, 2); output "largest" (nocc, nvir): 2^20 times the largest biased exponent of each
// column.
[[nodiscard]] tile::Program column_exponent_program(const PanelShape& shape, const tile::Machine& machine);

// Records the slicing of b into six scratch tensors (nocc, naux, nvir). `exponents` (nocc, nvir): 126 minus the biased
// exponent of 2^-1 s_ia. `norms` (nocc, nvir) receives sums of (64 b / s_ia)^2, good to a hundredth.
[[nodiscard]] std::vector<tile::Access> slice_panels(tile::Builder& b, const PanelShape& shape,
                                                     const tile::Access& words, const tile::Access& exponents,
                                                     const tile::Access& norms);

// The free dimension of size 1 in front removed.
[[nodiscard]] inline tile::Access drop(tile::Access access) {
  access.dims.erase(access.dims.begin());
  return access;
}

}  // namespace trn::blas::device

// Weights (e_a + e_b - e_i - e_j)^-1/2 of pair_energy in Exact, on GpSimd and the Scalar Engine, which have little else
// to do: they need no product and run ahead of it.
//
// Energies come as three words A + B + C each: A a multiple of 2^(m-12), B of 2^(m-24), |B| <= 2^(m-13), C float32, |C|
// <= 2^(m-25), where every D = e_a + e_b - e_i - e_j is below 2^m. Sums of four words A, or of four words B, are exact.
// From them, with w = 11 bits of (A + B)^-1/2:
//
//   p = w^2 = p1 + p2           exact, 22 bits; p1 has 11
//   1 - A p1 - A p2 - B p1      exact: products of 24 bits together, and sums of multiples of one unit that stay below
//     2^24 of it
//   d = 1 - D p = that - (B p2 + C p)                      |d| <= 2^-11
//   D^-1/2 = w (1 + d/2 + 3/8 d^2 + 5/16 d^3)              2^-45 left out
//
// so that the weight errs by 2^-44 + 2^(m-46) / D of itself. Every step is symmetric in a and b: weights of (a, b) and
// (b, a) have the same bits.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "double_words.hpp"

namespace trn::blas::device {

// Energies in words, one after the other: count A, count B, count C. `largest`: at least every D.
[[nodiscard]] std::vector<float> energy_words(std::span<const double> energies, double largest);

using EnergyWords = std::array<tile::Access, 3>;

// What belongs to one batch: (height, pairs, row tiles, nvir) weights.
struct WeightInput {
  EnergyWords rows;                        // of e_b: (P, nvir)
  EnergyWords columns;                     // of e_a: (P, tiles)
  EnergyWords first, second;               // of e_i: (P, 1), of e_j: (P, pairs)
  tile::Access column_powers, row_powers;  // factors of w, powers of two: (P, tiles), (P, pairs, nvir)
  tile::Access one, three_eighths;         // (P, 1)
};

// Weights of row tiles [first, first + count) of all pairs, (P, pairs * count * nvir), into `to`. At most kWeightWords
// words of the pool are in use at a time. `pause` is called where the Scalar Engine would wait for GpSimd: what it
// records there runs meanwhile.
inline constexpr std::int64_t kWeightWords = 12;
void pair_weights(tile::Builder& b, const TilePool& pool, const WeightInput& in, std::int64_t first, std::int64_t count,
                  const Weight& to, const std::function<void()>& pause);

}  // namespace trn::blas::device

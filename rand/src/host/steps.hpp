// The recurrences of Xorwow, Mrg32k3a and Mt19937 on many columns at a time, and numbers made from words where they
// lie; compiled once per instruction set and chosen at run time by Highway. Integer and once-rounded operations: the
// same bits everywhere.
#pragma once

#include <cstdint>
#include <trn/rand/fill_program.hpp>

#include "host/interleaved.hpp"

namespace trn::rand::host {

// Marsaglia's xorwow: t = v0 ^ (v0 >> 2); the new word is v4 ^ (v4 << 4) ^ t ^ (t << 1); d grows by kWeyl each step and
// is added to the word. d is the same in all columns of a row.
struct XorwowColumns {
  static constexpr std::uint32_t kWeyl = 362437;
  std::uint32_t v[5][kBlockColumns];
  std::uint32_t d;
};

// L'Ecuyer's MRG32k3a: x = a12 x[-2] - a13 x[-3] mod m1, y = a21 y[-1] - a23 y[-3] mod m2, and the number
// r = (x - y) mod m1 in 1 .. m1.
struct Mrg32k3aColumns {
  static constexpr std::uint64_t kM1 = 4294967087, kM2 = 4294944443;
  static constexpr std::uint64_t kA12 = 1403580, kA13 = 810728, kA21 = 527612, kA23 = 1370589;
  // Oldest first; numbers of 32 bits, each in the 64 bits that its products need.
  alignas(64) std::uint64_t x[3][kBlockColumns], y[3][kBlockColumns];
};

// A step or a jump of one of the two recurrences: rows of a matrix.
using JumpMatrix = std::array<std::array<std::uint32_t, 3>, 3>;
inline constexpr std::int64_t kMrgSeeds = 8;
// Of `columns` states the first kMrgSeeds are there; the others follow, each the one kMrgSeeds before it times x and y.
void mrg32k3a_spread(Mrg32k3aColumns& state, const JumpMatrix& x, const JumpMatrix& y, std::int64_t columns);

// Mersenne Twisters side by side: word k of all of them is a row.
inline constexpr std::int64_t kTwisterTeam = 64;
struct TwisterTeam {
  alignas(64) std::uint32_t words[624][kTwisterTeam];
};
// The next 624 words in the place of the last.
void twist(TwisterTeam& team);
// out[8 g + lane] = word which[lane] of twister g, tempered, for 8 lanes.
void tempered_row(const TwisterTeam& team, const std::uint16_t* which, std::uint32_t* out);

// out[k * stride + c] = value number k of column c: `columns` columns, `count` values, elements of `draw`, which is
// Raw32, OpenClosed, HalfOpen or OpenClosedDouble. The columns are left where they end.
void xorwow_rows(XorwowColumns& state, Draw draw, std::int64_t columns, std::int64_t count, std::int64_t stride,
                 void* out);
void mrg32k3a_rows(Mrg32k3aColumns& state, Draw draw, std::int64_t columns, std::int64_t count, std::int64_t stride,
                   void* out);

// Numbers in the place of the words they are made from: OpenClosed and HalfOpen from 32 bits, HalfOpenDouble from 64
// and OpenClosedDouble from the pairs x + 2^32 y of Threefry.
void convert_words(Draw draw, std::int64_t n, void* words);

// out[i] = x[i] * 2^-32 + plus, exact.
void doubles_from_words(std::int64_t n, const std::uint32_t* x, double plus, double* out);

// out[i] = x[i] * 2^-32 + 2^-33, exact in double and rounded once to float: Mt19937's floats. The other generators
// round x first, as in convert_words.
void floats_rounded_once(std::int64_t n, const std::uint32_t* x, float* out);

// (z >> 11) * 2^-53 + 2^-54 in the place of z.
void open_closed_doubles(std::int64_t n, void* z);

// out[i] = table[i] ^ x.
void xor_table(std::int64_t n, const std::uint32_t* table, std::uint32_t x, std::uint32_t* out);
void xor_table(std::int64_t n, const std::uint64_t* table, std::uint64_t x, std::uint64_t* out);

// A nested permutation of 32-bit fractions: of the mirrored bits, steps in which a bit depends on lower ones alone.
struct Nested {
  std::uint32_t plus0, even0, odd0, even1, odd1, plus1, even2;
};
void permute_nested(const Nested& by, std::int64_t n, std::uint32_t* words);

// sums[p][i] ^= x[k * step + i] for every k < groups with p = patterns[k] not 0, i < span. Rows of sums are `span`
// words.
void sum_by_pattern(const std::uint32_t* x, std::int64_t step, const std::uint8_t* patterns, std::int64_t groups,
                    std::int64_t span, std::uint32_t* sums);

}  // namespace trn::rand::host

// Mt19937: the Mersenne Twister (Matsumoto, Nishimura 1998), its jumps, and cuRAND's order of its words.
//
// A twister is 624 words; word k of its sequence, k >= 624, is made from words k - 624, k - 623 and k - 227, and output
// j is word 624 + j, tempered. The state as a whole is linear over the field of two elements with a characteristic
// polynomial p of degree 19937, so a jump by n steps is the polynomial x^n mod p: state word i after the jump is the
// sum of the words k + i over the terms x^k.
//
// cuRAND's order: 8192 twisters, twister g at 2^2048 g steps from the first. Word n of the generator belongs to row
// n / 65536; place n mod 65536 = 8 g + lane of the row belongs to twister g. Rows come in groups of 78, in which every
// twister makes its next 624 outputs: output kOrder[row mod 78][lane] of them. Eight lanes that share a state work
// on runs of seven; the first row holds what is left over, 624 = 8 + 11 * 56.
#pragma once

#include <array>
#include <cstdint>

namespace trn::rand::host::mt19937 {

inline constexpr std::size_t kWords = 624, kMiddle = 397, kDegree = 19937;
inline constexpr std::uint64_t kTwisters = 8192, kLanes = 8, kRowWords = kTwisters * kLanes,
                               kGroupRows = kWords / kLanes;

using Words = std::array<std::uint32_t, kWords>;
using Polynomial = std::array<std::uint64_t, (kDegree + 63) / 64>;  // bit k: x^k

[[nodiscard]] Words seeded(std::uint32_t seed);
// The next 624 words in the place of the last.
void twist(Words& words);
[[nodiscard]] std::uint32_t temper(std::uint32_t word);

// x^n, x^(2^n), and products, modulo p.
[[nodiscard]] Polynomial power(std::uint64_t n);
[[nodiscard]] Polynomial power_of_two(int n);
[[nodiscard]] Polynomial multiply(const Polynomial& a, const Polynomial& b);

// The state as many steps further as the polynomial says. Of the first word only the top bit belongs to the state; the
// other 31 come out as 0 or 1 and nothing reads them.
[[nodiscard]] Words jump(const Words& state, const Polynomial& by);

}  // namespace trn::rand::host::mt19937

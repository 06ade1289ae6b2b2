// The plan of an exact product: how many moduli, how many bits of each operand, and the power of two of every row.
#pragma once

#include <cstdint>
#include <vector>

#include "operand.hpp"

namespace trn::blas::exact {

struct Plan {
  int moduli = 0, bits_a = 0, bits_b = 0;
  std::vector<std::int32_t> shift_a, shift_b;  // per row of op(A), per column of op(B)
  double scaling = 0;  // a bound of what scaling costs, relative to ||a_i|| ||b_j||, before it is done
};

// What the plan depends on beside the depth: the worst rows of both operands. Of a product that is divided among ranks
// the maxima over all of them make the plan, and so the bits, those of the whole product.
struct Reach {
  struct Side {
    double ratio = 0, inverse = 0;  // ||x||_1 / ||x||_2 and 1 / ||x||_2, in units of the row's power of two
    int span = 0;                   // Operand::span
  };
  Side a, b;
};
[[nodiscard]] Reach reach_of(const Operand& a, const Operand& b);

// The shift of a row that takes no part: slices of its numbers are zero.
inline constexpr std::int32_t kVanish = -8192;

// The fewest moduli whose scaling costs at most `allowed`; all of them where none do. even: as many bits for one
// operand as for the other.
[[nodiscard]] Plan make_plan(const Operand& a, const Operand& b, const Reach& reach, double allowed, bool even);

}  // namespace trn::blas::exact

// Factors of a line's length: what a program can do with them, and what they cost.
#pragma once

#include <trn/fft/lines_program.hpp>

namespace trn::fft::device {

struct Factors {
  std::int64_t n1 = 0, n2 = 0;
};
// Factors of n, both at most `limit`, that fill the array best; {0, 0} when there are none.
[[nodiscard]] Factors block_factors(std::int64_t n, std::int64_t limit);
// The programs that n takes by the first three rows of the table in planner.hpp; 0 when n has a prime factor above the
// limit.
[[nodiscard]] int levels(std::int64_t n, std::int64_t limit);

// The factors of the quickest program of kernel Blocks for these lines (n1 and n2 of the shape are not read); n has
// some.
[[nodiscard]] Factors quickest_factors(std::int64_t n, const LinesShape& lines, const tile::Machine& machine);
// The first factor of a length that takes several programs: the fewest of them, and then the least time.
[[nodiscard]] std::int64_t first_factor(std::int64_t n, const tile::Machine& machine);

}  // namespace trn::fft::device

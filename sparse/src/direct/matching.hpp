// Rows matched to columns so that the product of the matched moduli is largest, and the scaling that comes with it:
// matched entries become 1 in modulus, all others at most 1 (Duff, Koster 2001). An LU factorisation of the matched and
// scaled matrix finds its pivots near the diagonal.
#pragma once

#include <vector>

#include "host_data.hpp"

namespace trn::sparse::direct {

struct Matching {
  std::vector<std::int32_t> column_of;                      // of each row; -1: none
  std::vector<std::int32_t> row_exponent, column_exponent;  // a_ij 2^(r_i + c_j) is at most about 1
  std::int64_t unmatched = -1;                              // a column without a row: A is singular whatever its values
};

// Values of modulus zero count as absent.
template <Scalar T> [[nodiscard]] Matching match_rows(const CsrRef<T, std::int32_t>& a);
// Exponents that make the largest modulus of each row, then of each column, lie in [1/2, 1), beginning with `m`'s.
template <Scalar T> void equilibrate(const CsrRef<T, std::int32_t>& a, Matching& m);

}  // namespace trn::sparse::direct

// The letters of Fortran BLAS: 'N', 'T', 'C', 'U', 'L', 'R', either case.
#pragma once

#include <algorithm>
#include <trn/blas/types.hpp>

namespace trn::dropin {

using blas::Diag;
using blas::Op;
using blas::Side;
using blas::Uplo;

inline char capital(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
inline bool is_op(char c) { return c = capital(c), c == 'N' || c == 'T' || c == 'C'; }
inline bool is_uplo(char c) { return c = capital(c), c == 'U' || c == 'L'; }
inline bool is_diag(char c) { return c = capital(c), c == 'U' || c == 'N'; }
inline bool is_side(char c) { return c = capital(c), c == 'L' || c == 'R'; }
inline Op op_of(char c) { return capital(c) == 'N' ? Op::N : capital(c) == 'T' ? Op::T : Op::C; }
inline Uplo uplo_of(char c) { return capital(c) == 'U' ? Uplo::Upper : Uplo::Lower; }
inline Diag diag_of(char c) { return capital(c) == 'U' ? Diag::Unit : Diag::NonUnit; }
inline Side side_of(char c) { return capital(c) == 'L' ? Side::Left : Side::Right; }

// The first position whose argument is wrong: {wrong?, position} in the order in which the reference looks.
struct Check {
  bool wrong;
  int position;
};
template <class... Checks> int first_wrong(Checks... checks) {
  for (const Check& c : {Check(checks)...}) {
    if (c.wrong) return c.position;
  }
  return 0;
}
inline int at_least_one(int n) { return std::max(1, n); }

}  // namespace trn::dropin

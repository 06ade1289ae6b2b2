// LAPACK's geqp3 and gelsy, in the manner of host/lapack.hpp.
#pragma once

#include "host/lapack.hpp"

extern "C" {
#define TRN_LAPACK_PIVOTED(p, T)                                                                               \
  void p##geqp3_(const int&, const int&, T*, const int&, int*, T*, T*, const int&, int&);                      \
  void p##gelsy_(const int&, const int&, const int&, T*, const int&, T*, const int&, int*, const T&, int&, T*, \
                 const int&, int&);
TRN_LAPACK_PIVOTED(s, float)
TRN_LAPACK_PIVOTED(d, double)
#undef TRN_LAPACK_PIVOTED
#define TRN_LAPACK_PIVOTED(p, T, R)                                                                            \
  void p##geqp3_(const int&, const int&, T*, const int&, int*, T*, T*, const int&, R*, int&);                  \
  void p##gelsy_(const int&, const int&, const int&, T*, const int&, T*, const int&, int*, const R&, int&, T*, \
                 const int&, R*, int&);
TRN_LAPACK_PIVOTED(c, std::complex<float>, float)
TRN_LAPACK_PIVOTED(z, std::complex<double>, double)
#undef TRN_LAPACK_PIVOTED
}

namespace trn::solver::host {

template <class T> struct LapackPivoted;
#define TRN_LAPACK_PIVOTED(p, T)             \
  template <> struct LapackPivoted<T> {      \
    static constexpr auto geqp3 = p##geqp3_; \
    static constexpr auto gelsy = p##gelsy_; \
  };
TRN_LAPACK_PIVOTED(s, float)
TRN_LAPACK_PIVOTED(d, double)
TRN_LAPACK_PIVOTED(c, std::complex<float>)
TRN_LAPACK_PIVOTED(z, std::complex<double>)
#undef TRN_LAPACK_PIVOTED

}  // namespace trn::solver::host

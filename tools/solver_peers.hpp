// LAPACK's own drivers as the peers of bench: LapackPeer<T>::syev is ssyev_, dsyev_, cheev_ or zheev_ of OpenBLAS.
#pragma once

#include <complex>
#include <cstddef>

#define TRN_PEER(p, T, R, herm)                                                                                \
  void p##potrf_(const char&, const int&, T*, const int&, int&, std::size_t);                                  \
  void p##getrf_(const int&, const int&, T*, const int&, int*, int&);                                          \
  void p##geqrf_(const int&, const int&, T*, const int&, T*, T*, const int&, int&);                            \
  void p##gesv_(const int&, const int&, T*, const int&, int*, T*, const int&, int&);                           \
  void p##pocon_(const char&, const int&, const T*, const int&, const R&, R&, T*, void*, int&, std::size_t);   \
  void p##gecon_(const char&, const int&, const T*, const int&, const R&, R&, T*, void*, int&, std::size_t);   \
  void p##trcon_(const char&, const char&, const char&, const int&, const T*, const int&, R&, T*, void*, int&, \
                 std::size_t, std::size_t, std::size_t);
#define TRN_PEER_REAL(p, T)                                                                                            \
  TRN_PEER(p, T, T, sy)                                                                                                \
  void p##syev_(const char&, const char&, const int&, T*, const int&, T*, T*, const int&, int&, std::size_t,           \
                std::size_t);                                                                                          \
  void p##gesvd_(const char&, const char&, const int&, const int&, T*, const int&, T*, T*, const int&, T*, const int&, \
                 T*, const int&, int&, std::size_t, std::size_t);
#define TRN_PEER_COMPLEX(p, T, R)                                                                                      \
  TRN_PEER(p, T, R, he)                                                                                                \
  void p##heev_(const char&, const char&, const int&, T*, const int&, R*, T*, const int&, R*, int&, std::size_t,       \
                std::size_t);                                                                                          \
  void p##gesvd_(const char&, const char&, const int&, const int&, T*, const int&, R*, T*, const int&, T*, const int&, \
                 T*, const int&, R*, int&, std::size_t, std::size_t);

extern "C" {
TRN_PEER_REAL(s, float)
TRN_PEER_REAL(d, double)
TRN_PEER_COMPLEX(c, std::complex<float>, float)
TRN_PEER_COMPLEX(z, std::complex<double>, double)
}

namespace trn::tools {

template <class T> struct LapackPeer;
#define TRN_PEER_TYPE(p, T, herm)                               \
  template <> struct LapackPeer<T> {                            \
    static constexpr auto potrf = p##potrf_;                    \
    static constexpr auto getrf = p##getrf_;                    \
    static constexpr auto geqrf = p##geqrf_;                    \
    static constexpr auto gesv = p##gesv_;                      \
    static constexpr auto syev = p##herm##ev_;                  \
    static constexpr auto gesvd = p##gesvd_;                    \
    static constexpr auto pocon = p##pocon_, gecon = p##gecon_; \
    static constexpr auto trcon = p##trcon_;                    \
  };
TRN_PEER_TYPE(s, float, sy)
TRN_PEER_TYPE(d, double, sy)
TRN_PEER_TYPE(c, std::complex<float>, he)
TRN_PEER_TYPE(z, std::complex<double>, he)

}  // namespace trn::tools

#undef TRN_PEER_TYPE
#undef TRN_PEER_COMPLEX
#undef TRN_PEER_REAL
#undef TRN_PEER

// The LAPACK routines inside OpenBLAS, declared once: Lapack<T>::potrf is spotrf_, dpotrf_, cpotrf_ or zpotrf_.
//
// Fortran passes everything by address, which C++ references do as well, so that constants can be given in place.
// Behind the last argument stands the length of every character argument, as gfortran expects it. Names are the real
// ones: orgqr is ungqr for complex types, syevd is heevd. Where a complex routine takes real workspace in addition, the
// signatures differ; callers choose by `if constexpr`.
#pragma once

#include <complex>
#include <cstddef>

#define TRN_LAPACK_COMMON(p, T, R, orth)                                                                               \
  void p##potrf_(const char&, const int&, T*, const int&, int&, std::size_t);                                          \
  void p##potri_(const char&, const int&, T*, const int&, int&, std::size_t);                                          \
  void p##lauum_(const char&, const int&, T*, const int&, int&, std::size_t);                                          \
  void p##larft_(const char&, const char&, const int&, const int&, const T*, const int&, const T*, T*, const int&,     \
                 std::size_t, std::size_t);                                                                            \
  void p##getrf_(const int&, const int&, T*, const int&, int*, int&);                                                  \
  void p##getri_(const int&, T*, const int&, const int*, T*, const int&, int&);                                        \
  void p##geqrf_(const int&, const int&, T*, const int&, T*, T*, const int&, int&);                                    \
  void p##orth##gqr_(const int&, const int&, const int&, T*, const int&, const T*, T*, const int&, int&);              \
  void p##orth##mqr_(const char&, const char&, const int&, const int&, const int&, const T*, const int&, const T*, T*, \
                     const int&, T*, const int&, int&, std::size_t, std::size_t);                                      \
  void p##orth##gtr_(const char&, const int&, T*, const int&, const T*, T*, const int&, int&, std::size_t);            \
  void p##orth##mtr_(const char&, const char&, const char&, const int&, const int&, const T*, const int&, const T*,    \
                     T*, const int&, T*, const int&, int&, std::size_t, std::size_t, std::size_t);                     \
  void p##gebrd_(const int&, const int&, T*, const int&, R*, R*, T*, T*, T*, const int&, int&);                        \
  void p##orth##gbr_(const char&, const int&, const int&, const int&, T*, const int&, const T*, T*, const int&, int&,  \
                     std::size_t);                                                                                     \
  void p##orth##mbr_(const char&, const char&, const char&, const int&, const int&, const int&, const T*, const int&,  \
                     const T*, T*, const int&, T*, const int&, int&, std::size_t, std::size_t, std::size_t);           \
  void p##gehrd_(const int&, const int&, const int&, T*, const int&, T*, T*, const int&, int&);                        \
  void p##orth##ghr_(const int&, const int&, const int&, T*, const int&, const T*, T*, const int&, int&);              \
  void p##orth##mhr_(const char&, const char&, const int&, const int&, const int&, const int&, const T*, const int&,   \
                     const T*, T*, const int&, T*, const int&, int&, std::size_t, std::size_t);                        \
  void p##sytrf_(const char&, const int&, T*, const int&, int*, T*, const int&, int&, std::size_t);                    \
  void p##sytrs_(const char&, const int&, const int&, const T*, const int&, const int*, T*, const int&, int&,          \
                 std::size_t);                                                                                         \
  void p##sytri_(const char&, const int&, T*, const int&, const int*, T*, int&, std::size_t);                          \
  void p##trtri_(const char&, const char&, const int&, T*, const int&, int&, std::size_t, std::size_t);                \
  void p##gels_(const char&, const int&, const int&, const int&, T*, const int&, T*, const int&, T*, const int&, int&, \
                std::size_t);                                                                                          \
  void p##gbsv_(const int&, const int&, const int&, const int&, T*, const int&, int*, T*, const int&, int&);           \
  void p##gtsv_(const int&, const int&, T*, T*, T*, T*, const int&, int&);                                             \
  void p##pbsv_(const char&, const int&, const int&, const int&, T*, const int&, T*, const int&, int&, std::size_t);   \
  void p##ptsv_(const int&, const int&, R*, T*, T*, const int&, int&);                                                 \
  R p##lange_(const char&, const int&, const int&, const T*, const int&, R*, std::size_t);

#define TRN_LAPACK_REAL(p, T)                                                                                          \
  TRN_LAPACK_COMMON(p, T, T, or)                                                                                       \
  void p##pocon_(const char&, const int&, const T*, const int&, const T&, T&, T*, int*, int&, std::size_t);            \
  void p##gecon_(const char&, const int&, const T*, const int&, const T&, T&, T*, int*, int&, std::size_t);            \
  void p##sycon_(const char&, const int&, const T*, const int&, const int*, const T&, T&, T*, int*, int&,              \
                 std::size_t);                                                                                         \
  void p##trcon_(const char&, const char&, const char&, const int&, const T*, const int&, T&, T*, int*, int&,          \
                 std::size_t, std::size_t, std::size_t);                                                               \
  void p##gelsd_(const int&, const int&, const int&, T*, const int&, T*, const int&, T*, const T&, int&, T*,           \
                 const int&, int*, int&);                                                                              \
  void p##sytrd_(const char&, const int&, T*, const int&, T*, T*, T*, T*, const int&, int&, std::size_t);              \
  void p##syevd_(const char&, const char&, const int&, T*, const int&, T*, T*, const int&, int*, const int&, int&,     \
                 std::size_t, std::size_t);                                                                            \
  void p##syevr_(const char&, const char&, const char&, const int&, T*, const int&, const T&, const T&, const int&,    \
                 const int&, const T&, int&, T*, T*, const int&, int*, T*, const int&, int*, const int&, int&,         \
                 std::size_t, std::size_t, std::size_t);                                                               \
  void p##sygvd_(const int&, const char&, const char&, const int&, T*, const int&, T*, const int&, T*, T*, const int&, \
                 int*, const int&, int&, std::size_t, std::size_t);                                                    \
  void p##gesdd_(const char&, const int&, const int&, T*, const int&, T*, T*, const int&, T*, const int&, T*,          \
                 const int&, int*, int&, std::size_t);                                                                 \
  void p##geev_(const char&, const char&, const int&, T*, const int&, T*, T*, T*, const int&, T*, const int&, T*,      \
                const int&, int&, std::size_t, std::size_t);                                                           \
  void p##gees_(const char&, const char&, const void*, const int&, T*, const int&, int&, T*, T*, T*, const int&, T*,   \
                const int&, int*, int&, std::size_t, std::size_t);                                                     \
  void p##geevx_(const char&, const char&, const char&, const char&, const int&, T*, const int&, T*, T*, T*,           \
                 const int&, T*, const int&, int&, int&, T*, T&, T*, T*, T*, const int&, int*, int&, std::size_t,      \
                 std::size_t, std::size_t, std::size_t);                                                               \
  void p##trevc_(const char&, const char&, int*, const int&, const T*, const int&, T*, const int&, T*, const int&,     \
                 const int&, int&, T*, int&, std::size_t, std::size_t);                                                \
  void p##ggev_(const char&, const char&, const int&, T*, const int&, T*, const int&, T*, T*, T*, T*, const int&, T*,  \
                const int&, T*, const int&, int&, std::size_t, std::size_t);                                           \
  void p##gges_(const char&, const char&, const char&, const void*, const int&, T*, const int&, T*, const int&, int&,  \
                T*, T*, T*, T*, const int&, T*, const int&, T*, const int&, int*, int&, std::size_t, std::size_t,      \
                std::size_t);

#define TRN_LAPACK_COMPLEX(p, T, R)                                                                                    \
  TRN_LAPACK_COMMON(p, T, R, un)                                                                                       \
  void p##hetrf_(const char&, const int&, T*, const int&, int*, T*, const int&, int&, std::size_t);                    \
  void p##hetrs_(const char&, const int&, const int&, const T*, const int&, const int*, T*, const int&, int&,          \
                 std::size_t);                                                                                         \
  void p##hetri_(const char&, const int&, T*, const int&, const int*, T*, int&, std::size_t);                          \
  void p##pocon_(const char&, const int&, const T*, const int&, const R&, R&, T*, R*, int&, std::size_t);              \
  void p##gecon_(const char&, const int&, const T*, const int&, const R&, R&, T*, R*, int&, std::size_t);              \
  void p##sycon_(const char&, const int&, const T*, const int&, const int*, const R&, R&, T*, int&, std::size_t);      \
  void p##hecon_(const char&, const int&, const T*, const int&, const int*, const R&, R&, T*, int&, std::size_t);      \
  void p##trcon_(const char&, const char&, const char&, const int&, const T*, const int&, R&, T*, R*, int&,            \
                 std::size_t, std::size_t, std::size_t);                                                               \
  void p##gelsd_(const int&, const int&, const int&, T*, const int&, T*, const int&, R*, const R&, int&, T*,           \
                 const int&, R*, int*, int&);                                                                          \
  void p##hetrd_(const char&, const int&, T*, const int&, R*, R*, T*, T*, const int&, int&, std::size_t);              \
  void p##heevd_(const char&, const char&, const int&, T*, const int&, R*, T*, const int&, R*, const int&, int*,       \
                 const int&, int&, std::size_t, std::size_t);                                                          \
  void p##heevr_(const char&, const char&, const char&, const int&, T*, const int&, const R&, const R&, const int&,    \
                 const int&, const R&, int&, R*, T*, const int&, int*, T*, const int&, R*, const int&, int*,           \
                 const int&, int&, std::size_t, std::size_t, std::size_t);                                             \
  void p##hegvd_(const int&, const char&, const char&, const int&, T*, const int&, T*, const int&, R*, T*, const int&, \
                 R*, const int&, int*, const int&, int&, std::size_t, std::size_t);                                    \
  void p##gesdd_(const char&, const int&, const int&, T*, const int&, R*, T*, const int&, T*, const int&, T*,          \
                 const int&, R*, int*, int&, std::size_t);                                                             \
  void p##geev_(const char&, const char&, const int&, T*, const int&, T*, T*, const int&, T*, const int&, T*,          \
                const int&, R*, int&, std::size_t, std::size_t);                                                       \
  void p##gees_(const char&, const char&, const void*, const int&, T*, const int&, int&, T*, T*, const int&, T*,       \
                const int&, R*, int*, int&, std::size_t, std::size_t);                                                 \
  void p##geevx_(const char&, const char&, const char&, const char&, const int&, T*, const int&, T*, T*, const int&,   \
                 T*, const int&, int&, int&, R*, R&, R*, R*, T*, const int&, R*, int&, std::size_t, std::size_t,       \
                 std::size_t, std::size_t);                                                                            \
  void p##trevc_(const char&, const char&, int*, const int&, T*, const int&, T*, const int&, T*, const int&,           \
                 const int&, int&, T*, R*, int&, std::size_t, std::size_t);                                            \
  void p##ggev_(const char&, const char&, const int&, T*, const int&, T*, const int&, T*, T*, T*, const int&, T*,      \
                const int&, T*, const int&, R*, int&, std::size_t, std::size_t);                                       \
  void p##gges_(const char&, const char&, const char&, const void*, const int&, T*, const int&, T*, const int&, int&,  \
                T*, T*, T*, const int&, T*, const int&, T*, const int&, R*, int*, int&, std::size_t, std::size_t,      \
                std::size_t);

extern "C" {
TRN_LAPACK_REAL(s, float)
TRN_LAPACK_REAL(d, double)
TRN_LAPACK_COMPLEX(c, std::complex<float>, float)
TRN_LAPACK_COMPLEX(z, std::complex<double>, double)
}

namespace trn::solver::host {

template <class T> struct Lapack;

// `orth` and `herm` are the middles of the names that differ: or and sy, un and he.
#define TRN_LAPACK_TYPE(p, T, orth, herm)                           \
  template <> struct Lapack<T> {                                    \
    static constexpr auto potrf = p##potrf_, potri = p##potri_;     \
    static constexpr auto lauum = p##lauum_, larft = p##larft_;     \
    static constexpr auto getrf = p##getrf_;                        \
    static constexpr auto getri = p##getri_;                        \
    static constexpr auto geqrf = p##geqrf_;                        \
    static constexpr auto orgqr = p##orth##gqr_;                    \
    static constexpr auto ormqr = p##orth##mqr_;                    \
    static constexpr auto sytrd = p##herm##trd_;                    \
    static constexpr auto orgtr = p##orth##gtr_;                    \
    static constexpr auto ormtr = p##orth##mtr_;                    \
    static constexpr auto gebrd = p##gebrd_;                        \
    static constexpr auto orgbr = p##orth##gbr_;                    \
    static constexpr auto ormbr = p##orth##mbr_;                    \
    static constexpr auto gehrd = p##gehrd_;                        \
    static constexpr auto orghr = p##orth##ghr_;                    \
    static constexpr auto ormhr = p##orth##mhr_;                    \
    static constexpr auto sytrf = p##sytrf_, hetrf = p##herm##trf_; \
    static constexpr auto sytrs = p##sytrs_, hetrs = p##herm##trs_; \
    static constexpr auto sytri = p##sytri_, hetri = p##herm##tri_; \
    static constexpr auto trtri = p##trtri_;                        \
    static constexpr auto gels = p##gels_;                          \
    static constexpr auto gbsv = p##gbsv_;                          \
    static constexpr auto gtsv = p##gtsv_;                          \
    static constexpr auto pbsv = p##pbsv_;                          \
    static constexpr auto ptsv = p##ptsv_;                          \
    static constexpr auto lange = p##lange_;                        \
    static constexpr auto pocon = p##pocon_, gecon = p##gecon_;     \
    static constexpr auto sycon = p##sycon_, hecon = p##herm##con_; \
    static constexpr auto trcon = p##trcon_;                        \
    static constexpr auto gelsd = p##gelsd_;                        \
    static constexpr auto syevd = p##herm##evd_;                    \
    static constexpr auto syevr = p##herm##evr_;                    \
    static constexpr auto sygvd = p##herm##gvd_;                    \
    static constexpr auto gesdd = p##gesdd_;                        \
    static constexpr auto geev = p##geev_;                          \
    static constexpr auto gees = p##gees_, gges = p##gges_;         \
    static constexpr auto geevx = p##geevx_, trevc = p##trevc_;     \
    static constexpr auto ggev = p##ggev_;                          \
  };
TRN_LAPACK_TYPE(s, float, or, sy)
TRN_LAPACK_TYPE(d, double, or, sy)
TRN_LAPACK_TYPE(c, std::complex<float>, un, he)
TRN_LAPACK_TYPE(z, std::complex<double>, un, he)

}  // namespace trn::solver::host

#undef TRN_LAPACK_TYPE
#undef TRN_LAPACK_COMPLEX
#undef TRN_LAPACK_REAL
#undef TRN_LAPACK_COMMON

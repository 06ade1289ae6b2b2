// FFTW's binary interface, version 3.3: names, types and constants. One precision at a time: with TRN_FFTW_SINGLE the
// names begin with fftwf_ and reals are float.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdio>

#ifdef TRN_FFTW_SINGLE
#define TRN_FFTW(name) fftwf_##name
namespace trn::dropin {
using R = float;
}
#else
#define TRN_FFTW(name) fftw_##name
namespace trn::dropin {
using R = double;
}
#endif

namespace trn::dropin {

using C = std::complex<R>;
struct Iodim {
  int n, is, os;
};
struct Iodim64 {
  std::ptrdiff_t n, is, os;
};
inline constexpr unsigned kWisdomOnly = 1U << 21;

}  // namespace trn::dropin

// Conversions of runs of elements between dtypes: the arithmetic every simulated store and every host cast goes
// through.
//
// Float to narrower float: float_types.hpp states the rule per format. Float to integer: round to nearest even, then
// saturate to the integer's range, NaN becomes 0. Integer to float: round to nearest even. Integer to integer:
// saturate. Where src is float64 or a 32-bit integer and dst narrower than float32 the value is rounded once, not
// through float32. Complex types are refused (InvalidArgument), except that convert() copies equal ones: convert their
// parts. src and dst are aligned as their elements and do not overlap. n < 0 throws InvalidArgument; n = 0 touches
// nothing. The bits do not depend on the host's instruction set.
#pragma once

#include <cstdint>

#include <trn/core/dtype.hpp>

namespace trn {

// dst[i] = float(src[i]); src holds n contiguous elements of `dtype`. Float64 and 32-bit integers round to nearest
// even.
void to_float(DType dtype, const void* src, float* dst, std::int64_t n);
// dst[i] = element(src[i]) by the rules above.
void from_float(const float* src, DType dtype, void* dst, std::int64_t n);

void to_double(DType dtype, const void* src, double* dst, std::int64_t n);
void from_double(const double* src, DType dtype, void* dst, std::int64_t n);

// Any dtype to any dtype; equal dtypes copy bits.
void convert(DType from, const void* src, DType to, void* dst, std::int64_t n);

// Like from_float, but values beyond the largest finite number of a float format, infinities too, become that number
// (sign kept). NaN stays NaN.
void from_float_saturating(const float* src, DType dtype, void* dst, std::int64_t n);

// Like from_float, but a value between two neighbours of a float format narrower than float32 goes to the one of larger
// magnitude with probability equal to its relative position; the neighbour after the largest finite number is the next
// number of an unbounded exponent range and means overflow. Element i of the run uses the 64-bit word
// mix(seed, counter + i), mix(s, c) = splitmix(splitmix(s) + c) with SplitMix64's output function, and nothing else.
void from_float_stochastic(const float* src, DType dtype, void* dst, std::int64_t n, std::uint64_t seed,
                           std::uint64_t counter);

}  // namespace trn

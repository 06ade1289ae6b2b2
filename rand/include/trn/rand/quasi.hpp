// Quasi-random sequences: points that fill the unit cube evenly. cuRAND: CURAND_RNG_QUASI_SOBOL32, _SCRAMBLED_SOBOL32,
// _SOBOL64, _SCRAMBLED_SOBOL64; curandSetQuasiRandomGeneratorDimensions; curandSetGeneratorOffset.
//
// They are algorithms of the Generator and are drawn with raw32 or raw64 and uniform. State::dimensions is the number
// of coordinates of a point, State::position the number of the next point. A draw of m * dimensions values holds
// coordinate 0 of m points, then coordinate 1 of the same points, and so on; other counts are refused.
//
//   Sobol32             32-bit fractions, points 0 .. 2^32 - 1, dimensions 1 .. 21201. Joe and Kuo's direction numbers
//     (their
//                       set D6), Gray-code order, point 0 is the origin: cuRAND's values, which has 20000 dimensions.
//   ScrambledSobol32    cuRAND's fixed scrambling, a triangular bit matrix and a shift for each dimension: its values.
//                       Dimensions 1 .. 1024, the part of cuRAND's table that is kept here.
//   OwenSobol32         Sobol32 with nested uniform scrambling drawn from `seed`: every bit is flipped as a function of
//                       the bits above it, so that the points stay as even as they were. Dimensions 1 .. 21201.
//   Sobol64             the same with 64-bit fractions, points 0 .. 2^64 - 2.
//   ScrambledSobol64    cuRAND's, points 0 .. 2^32 - 1: from there on its generators leave the table it publishes.
//   Halton              coordinate j of point n is the radical inverse of n in base p, the j-th prime: digits mirrored
//     at
//                       the point. 64 bits, rounded down. Points 0 .. 2^32 - 1, dimensions 1 .. 21201.
//   ScrambledHalton     the same with the digits at each place permuted, by `seed`.
//
// raw32 gives the 32-bit fractions, raw64 the 64-bit ones; the other is refused. uniform makes of a 32-bit fraction x,
// or of the upper half of a 64-bit one, the floats that uniform.hpp states. Doubles, OpenClosed: x * 2^-32 + 2^-32 from
// 32 bits, (z >> 11) * 2^-53 + 2^-54 from 64; HalfOpen: x * 2^-32, (z >> 11) * 2^-53. OpenClosed has cuRAND's bits.
//
// seed is 0 except for OwenSobol32 and ScrambledHalton; stream and origin are 0. Devices draw the words and floats of
// Sobol32, ScrambledSobol32, Sobol64 and ScrambledSobol64, the same bits as the host (sobol_program.hpp); the rest is
// for the host.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

// The largest State::dimensions of an algorithm; 1 for pseudo-random ones.
[[nodiscard]] std::uint32_t max_dimensions(Algorithm algorithm);

// Latin hypercube: `out` has shape (dimensions, points); out(j, i) = (P_j(i) + u) / points in [0, 1), P_j a permutation
// of 0 .. points - 1 and u uniform in [0, 1), so that each of the `points` slices of each coordinate holds one point.
// The permutations depend on the generator's seed, stream and position; u takes one word for each element, in row-major
// order. `generator` is a pseudo-random one and advances by the size of `out`. Host only; strides and refusals as in
// raw32, and points <= 2^32, 2^23 for float.
void latin_hypercube(const Executor& executor, Generator& generator, const View<float>& out);
void latin_hypercube(const Executor& executor, Generator& generator, const View<double>& out);

}  // namespace trn::rand

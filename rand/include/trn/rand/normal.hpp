// normal and log_normal: out(i) = mean + stddev z, or e to that power. cuRAND: curandGenerateNormal,
// curandGenerateNormalDouble, curandGenerateLogNormal, curandGenerateLogNormalDouble.
//
// z is a standard normal by one of three methods; words are the generator's 32-bit values:
//
//   BoxMuller   Values n and n ^ 1 are the two coordinates of a point: radius from both words, so that the tail is
//               whole (|z| up to 9.49, missing mass 2.3e-21; double 13.37), angle from the second. float: value n takes
//               word n. double: value n takes the words 2 n, 2 n + 1.
//   Inverse     The inverse of the distribution function at a 64-bit word: one value alone, float or double, of two
//               words; |z| up to 9.08 (missing mass 2^-64), monotone in the word.
//   Curand      cuRAND's own formula with its tail that ends at 6.76 (double: 8.65). With Philox, float: cuRAND's
//     values
//               in its order to a few ulp of the larger coordinate; double: its pairs, in the order of the words. With
//               other algorithms the formula on their words, in an order that is not cuRAND's. Host only.
//
// Here n counts from 0 in units of words per value, and the position moves by words per value times the size. The two
// values of a pair share their words: a draw that begins with the second half of a pair reads words from before the
// position, which the previous draw has used if it was of another kind.
//
// A quasi-random generator makes normals by Inverse only, of each coordinate in the middle of its step, and moves by
// points.
//
// Each result rounds the product and the sum separately. On one executor the bits are the same for every number of
// threads, every partition and, on the host, every instruction set. Between executors z agrees to 6 ulp; see
// rand/README.md. `out` obeys the rules of raw32. Throws InvalidArgument, draws nothing and writes nothing when those
// do not hold, when mean or stddev is not finite in the type of out, or when stddev < 0.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

enum class NormalMethod : std::uint8_t { BoxMuller, Inverse, Curand };

struct NormalOptions {
  double mean = 0, stddev = 1;
  NormalMethod method = NormalMethod::BoxMuller;
};

void normal(const Executor& executor, Generator& generator, const View<float>& out, const NormalOptions& options = {});
void normal(const Executor& executor, Generator& generator, const View<double>& out, const NormalOptions& options = {});

// Of the logarithm.
struct LogNormalOptions {
  double mean = 0, stddev = 1;
};

void log_normal(const Executor& executor, Generator& generator, const View<float>& out,
                const LogNormalOptions& options = {});
void log_normal(const Executor& executor, Generator& generator, const View<double>& out,
                const LogNormalOptions& options = {});

}  // namespace trn::rand

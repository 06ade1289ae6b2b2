// gamma and the distributions built on it.
//
//   gamma         density x^(shape - 1) e^(-x / scale) / (Gamma(shape) scale^shape), x >= 0
//   chi_squared   gamma with shape df / 2 and scale 2
//   beta          density x^(a - 1) (1 - x)^(b - 1) / B(a, b), 0 <= x <= 1
//   student_t     normal / sqrt(chi_squared(df) / df)
//   fisher_f      (chi_squared(df1) / df1) / (chi_squared(df2) / df2)
//
// Rejection samplers (Marsaglia and Tsang 2000): element i of `out` draws from a sequence of words of its own, that of
// element number position + i, so it depends on (algorithm, seed, stream, position + i) alone. The position moves by
// the size. Computed in double from operations that round the same everywhere, then rounded to the type of out: the
// same bits for every number of threads, partition and machine. Host only. Algorithms: Philox4x32_10 and
// Threefry4x32_20, others throw NotImplemented. Throws InvalidArgument, draws nothing and writes nothing when `out`
// breaks the rules of raw32 or when a parameter is not finite and positive (scale: at least 0).
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

struct GammaOptions {
  double shape = 1, scale = 1;
};
struct ChiSquaredOptions {
  double df = 1;
};
struct BetaOptions {
  double a = 1, b = 1;
};
struct StudentTOptions {
  double df = 1;
};
struct FisherFOptions {
  double df1 = 1, df2 = 1;
};

void gamma(const Executor& executor, Generator& generator, const View<float>& out, const GammaOptions& options = {});
void gamma(const Executor& executor, Generator& generator, const View<double>& out, const GammaOptions& options = {});
void chi_squared(const Executor& executor, Generator& generator, const View<float>& out,
                 const ChiSquaredOptions& options = {});
void chi_squared(const Executor& executor, Generator& generator, const View<double>& out,
                 const ChiSquaredOptions& options = {});
void beta(const Executor& executor, Generator& generator, const View<float>& out, const BetaOptions& options = {});
void beta(const Executor& executor, Generator& generator, const View<double>& out, const BetaOptions& options = {});
void student_t(const Executor& executor, Generator& generator, const View<float>& out,
               const StudentTOptions& options = {});
void student_t(const Executor& executor, Generator& generator, const View<double>& out,
               const StudentTOptions& options = {});
void fisher_f(const Executor& executor, Generator& generator, const View<float>& out,
              const FisherFOptions& options = {});
void fisher_f(const Executor& executor, Generator& generator, const View<double>& out,
              const FisherFOptions& options = {});

}  // namespace trn::rand

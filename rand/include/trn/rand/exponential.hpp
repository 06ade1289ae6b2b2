// exponential and its relatives: distributions that are simple functions of one exponential number.
//
//   exponential   out = e / rate                         density rate e^(-rate x), x > 0
//   laplace       out = location +- scale e              density e^(-|x - location| / scale) / (2 scale)
//   weibull       out = scale e^(1 / shape)              P(X > x) = e^(-(x / scale)^shape)
//   cauchy        out = location +- scale cot(pi/2 u)    density 1 / (pi scale (1 + ((x - location) / scale)^2))
//
// e = -ln u, u in (0, 1] from a pair of words: value n uses word n and its neighbour n ^ 1 (float), or the words 2 n,
// 2 n + 1 and their neighbours (double), so that u has 64 bits (128) near 0 and the tail is whole: e goes up to 45
// (89). It is at least 2^-24 (2^-53), never 0. The position moves by one word per float and two per double. What
// normal.hpp says about pairs, bits and executors holds here. Throws InvalidArgument, draws nothing and writes nothing
// when `out` breaks the rules of raw32, when a parameter is not finite in the type of out, or when rate <= 0, scale < 0
// (weibull: <= 0) or shape <= 0.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

struct ExponentialOptions {
  double rate = 1;
};
struct LaplaceOptions {
  double location = 0, scale = 1;
};
struct WeibullOptions {
  double shape = 1, scale = 1;
};
struct CauchyOptions {
  double location = 0, scale = 1;
};

void exponential(const Executor& executor, Generator& generator, const View<float>& out,
                 const ExponentialOptions& options = {});
void exponential(const Executor& executor, Generator& generator, const View<double>& out,
                 const ExponentialOptions& options = {});
void laplace(const Executor& executor, Generator& generator, const View<float>& out,
             const LaplaceOptions& options = {});
void laplace(const Executor& executor, Generator& generator, const View<double>& out,
             const LaplaceOptions& options = {});
void weibull(const Executor& executor, Generator& generator, const View<float>& out,
             const WeibullOptions& options = {});
void weibull(const Executor& executor, Generator& generator, const View<double>& out,
             const WeibullOptions& options = {});
void cauchy(const Executor& executor, Generator& generator, const View<float>& out, const CauchyOptions& options = {});
void cauchy(const Executor& executor, Generator& generator, const View<double>& out, const CauchyOptions& options = {});

}  // namespace trn::rand

// The kernels of every trnrand operation, both families: the only file that names both.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/core/shape.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/permutation.hpp>

#include "checks.hpp"
#include "laws.hpp"
#include "samplers.hpp"

namespace trn::rand {

[[nodiscard]] constexpr std::int64_t element_bytes(Draw draw) {
  return draw == Draw::Raw32 || draw == Draw::OpenClosed || draw == Draw::HalfOpen ? 4 : 8;
}

// How many doubles of Xorwow or Philox lie between the origin and the position; half a pair counts as one.
[[nodiscard]] constexpr std::uint64_t pair_index(const State& state) {
  const std::uint64_t distance = state.position - state.origin;
  return distance / 2 + distance % 2;
}

// A draw after its entry point: at least one element, none of them shared, the last position within 64 bits.
struct FillArgs {
  State state;
  Draw draw;
  void* out;  // elements of element_bytes(draw)
  Shape shape;
  Strides strides;
};

// A draw of a distribution with a fixed number of words per value: float or double, for Bernoulli uint32 or float.
struct TransformArgs {
  State state;
  Transform transform;
  Output out;
};

// A draw whose elements have words of their own: float or double, for counts uint32 or double.
struct SampleArgs {
  State state;
  Sampler sampler;
  Output out;
};

// low + a number below range, modulo 2^32.
struct IntegersArgs {
  State state;
  std::int64_t low;
  std::uint64_t range;  // 1 .. 2^32
  Output out;
};
struct ChooseArgs {
  State state;
  std::int64_t population;
  Replacement replacement;
  std::span<const double> weights;
  Output out;
};
struct ShuffleArgs {
  State state;
  std::int64_t element_bytes;
  Output out;
};

// out(j, i) of shape (dimensions, points).
struct LatinArgs {
  State state;
  Output out;
};

namespace host {
void latin_hypercube(const Executor& executor, const LatinArgs& args);
void fill(const Executor& executor, const FillArgs& args);
void transform(const Executor& executor, const TransformArgs& args);
void sample(const Executor& executor, const SampleArgs& args);
void integers(const Executor& executor, const IntegersArgs& args);
void choose(const Executor& executor, const ChooseArgs& args);
void shuffle(const Executor& executor, const ShuffleArgs& args);
}  // namespace host
namespace device {
void fill(const Executor& executor, const FillArgs& args);
void transform(const Executor& executor, const TransformArgs& args);
}  // namespace device

inline constexpr KernelTable<FillArgs> kRaw32{"rand.raw32", host::fill, device::fill};
inline constexpr KernelTable<FillArgs> kRaw64{"rand.raw64", host::fill, device::fill};
inline constexpr KernelTable<FillArgs> kUniform{"rand.uniform", host::fill, device::fill};
inline constexpr KernelTable<LatinArgs> kLatin{"rand.latin_hypercube", host::latin_hypercube, nullptr};
inline constexpr KernelTable<TransformArgs> kNormal{"rand.normal", host::transform, device::transform};
inline constexpr KernelTable<TransformArgs> kLogNormal{"rand.log_normal", host::transform, device::transform};
inline constexpr KernelTable<TransformArgs> kExponential{"rand.exponential", host::transform, device::transform};
inline constexpr KernelTable<TransformArgs> kLaplace{"rand.laplace", host::transform, device::transform};
inline constexpr KernelTable<TransformArgs> kWeibull{"rand.weibull", host::transform, device::transform};
inline constexpr KernelTable<TransformArgs> kCauchy{"rand.cauchy", host::transform, device::transform};
inline constexpr KernelTable<TransformArgs> kBernoulli{"rand.bernoulli", host::transform, device::transform};
inline constexpr KernelTable<SampleArgs> kGamma{"rand.gamma", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kChiSquared{"rand.chi_squared", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kBeta{"rand.beta", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kStudentT{"rand.student_t", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kFisherF{"rand.fisher_f", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kTruncatedNormal{"rand.truncated_normal", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kVonMises{"rand.von_mises", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kPoisson{"rand.poisson", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kBinomial{"rand.binomial", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kGeometric{"rand.geometric", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kHypergeometric{"rand.hypergeometric", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kMultinomial{"rand.multinomial", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kDirichlet{"rand.dirichlet", host::sample, nullptr};
inline constexpr KernelTable<SampleArgs> kMultivariateNormal{"rand.multivariate_normal", host::sample, nullptr};
inline constexpr KernelTable<IntegersArgs> kIntegers{"rand.integers", host::integers, nullptr};
inline constexpr KernelTable<ChooseArgs> kPermutation{"rand.permutation", host::choose, nullptr};
inline constexpr KernelTable<ChooseArgs> kChoice{"rand.choice", host::choose, nullptr};
inline constexpr KernelTable<IntegersArgs> kChoiceWith{"rand.choice", host::integers, nullptr};
inline constexpr KernelTable<ShuffleArgs> kShuffle{"rand.shuffle", host::shuffle, nullptr};

}  // namespace trn::rand

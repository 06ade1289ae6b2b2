// The host kernel of the distributions whose elements have words of their own: one sampler per draw, elements shared
// among threads.
#include <trn/core/error.hpp>

#include "host/blocks.hpp"
#include "host/continuous_samplers.hpp"
#include "host/discrete_samplers.hpp"
#include "host/pieces.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

// The first kBlocks blocks of kGroup elements are made at once, on vectors: most values need no more.
constexpr std::int64_t kGroup = 128;
static_assert(kGroup % kAttemptGrain == 0);
constexpr std::size_t kBlocks = 2;

// group(begin, n, to) for groups of up to kGroup elements, `begin` the first one's number.
template <class T, class Group> void run_groups(const SampleArgs& args, const Group& group) {
  for_pieces<T>(args.out.data, args.out.shape, args.out.strides, 1, [&](std::int64_t first, std::int64_t count, T* to) {
    for (std::int64_t at = 0; at < count; at += kGroup) {
      group(args.state.position + static_cast<std::uint64_t>(first + at), std::min(kGroup, count - at), to + at);
    }
  });
}

using ReadyBlocks = Words4[kGroup][kBlocks];

void make_ready(const State& state, std::uint64_t begin, std::int64_t n, ReadyBlocks& ready) {
  Words4 counters[kGroup], made[kGroup];
  for (std::size_t a = 0; a < kBlocks; ++a) {
    for (std::int64_t i = 0; i < n; ++i) counters[i] = element_counter(state, begin + static_cast<std::uint64_t>(i), a);
    encrypt(state.algorithm, counters, n, element_key(state, a), made);
    for (std::int64_t i = 0; i < n; ++i) ready[i][a] = made[i];
  }
}

template <class T, class S> void run_elements(const SampleArgs& args, const S& sampler) {
  run_groups<T>(args, [&](std::uint64_t begin, std::int64_t n, T* to) {
    ReadyBlocks ready;
    make_ready(args.state, begin, n, ready);
    for (std::int64_t i = 0; i < n; ++i) {
      ElementWords words(args.state, begin + static_cast<std::uint64_t>(i), ready[i]);
      to[i] = static_cast<T>(sampler(words));
    }
  });
}

// Words in the memory of blocks, as attempts read them.
const std::uint64_t* pairs_of(const Words4* blocks) { return reinterpret_cast<const std::uint64_t*>(blocks); }

// gamma * scale: the first attempt of all elements on vectors, which at least 95 of 100 pass; the others one by one.
template <class T> void run_gamma(const SampleArgs& args, const StandardGamma& gamma, double scale) {
  run_groups<T>(args, [&](std::uint64_t begin, std::int64_t n, T* to) {
    alignas(64) ReadyBlocks ready{};
    double value[kGroup];
    std::uint64_t accepted[kGroup];
    make_ready(args.state, begin, n, ready);
    gamma_attempts(gamma.attempt(), pairs_of(ready[0]), n, value, accepted);
    for (std::int64_t i = 0; i < n; ++i) {
      if (accepted[i] == 0) {
        ElementWords words(args.state, begin + static_cast<std::uint64_t>(i), ready[i]);
        value[i] = gamma(words);
      }
      to[i] = static_cast<T>(value[i] * scale);
    }
  });
}

// Attempt a takes block a: all elements on vectors, then those that are left, and so on.
template <class T> void run_poisson(const SampleArgs& args, const PoissonSampler& sampler) {
  const PoissonAttempt by = sampler.attempt();
  run_groups<T>(args, [&](std::uint64_t begin, std::int64_t n, T* to) {
    alignas(64) Words4 blocks[kGroup]{};
    Words4 counters[kGroup];
    double value[kGroup];
    std::uint64_t accepted[kGroup];
    std::int64_t waiting[kGroup];
    for (std::int64_t i = 0; i < n; ++i) waiting[i] = i;
    for (std::uint64_t a = 0; n > 0; ++a) {
      ensure(a < kElementBlocks, "rand: element {} has used up its {} blocks of words", begin, kElementBlocks);
      for (std::int64_t i = 0; i < n; ++i) {
        counters[i] = element_counter(args.state, begin + static_cast<std::uint64_t>(waiting[i]), a);
      }
      encrypt(args.state.algorithm, counters, n, element_key(args.state, a), blocks);
      poisson_attempts(by, pairs_of(blocks), n, value, accepted);
      std::int64_t left = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        if (accepted[i] != 0)
          to[waiting[i]] = static_cast<T>(value[i]);
        else
          waiting[left++] = waiting[i];
      }
      n = left;
    }
  });
}

// row(words_of, to): words_of(k) are the words of the row's element k.
template <class T, class Row> void run_rows(const SampleArgs& args, const Row& row) {
  const std::int64_t length = args.out.shape.back();
  for_pieces<T>(args.out.data, args.out.shape, args.out.strides, length,
                [&](std::int64_t first, std::int64_t count, T* to) {
                  for (std::int64_t i = 0; i < count; i += length) {
                    const std::uint64_t begin = args.state.position + static_cast<std::uint64_t>(first + i);
                    row([&](std::size_t k) { return ElementWords(args.state, begin + k); }, to + i);
                  }
                });
}

// Thing by thing is category by category: a binomial of what is left, with the share of what is left.
template <class T> void run(const SampleArgs& args, const MultinomialRows& o) {
  const std::size_t length = o.p.size();
  std::vector<double> share(length, 1.0);  // of this category in this and the later ones
  double later = 0;
  for (std::size_t k = length; k-- > 0;) {
    later += o.p[k];
    share[k] = later > 0 ? std::min(o.p[k] / later, 1.0) : 0;
  }
  run_rows<T>(args, [&](const auto& words_of, T* to) {
    std::int64_t left = o.trials;
    for (std::size_t k = 0; k < length; ++k) {
      ElementWords words = words_of(k);
      const bool last = k + 1 == length;
      const double taken = last ? static_cast<double>(left) : BinomialSampler({left, share[k]})(words);
      to[k] = static_cast<T>(taken);
      left -= static_cast<std::int64_t>(taken);
    }
  });
}

template <class T> void run(const SampleArgs& args, const DirichletRows& o) {
  std::vector<StandardGamma> gammas(o.alpha.begin(), o.alpha.end());
  run_rows<T>(args, [&](const auto& words_of, T* to) {
    std::vector<double> logs(gammas.size());
    for (std::size_t k = 0; k < logs.size(); ++k) {
      ElementWords words = words_of(k);
      logs[k] = gammas[k].log(words);
    }
    const double largest = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (double& x : logs) sum += x = scalar::exp(x - largest);
    for (std::size_t k = 0; k < logs.size(); ++k) to[k] = static_cast<T>(logs[k] / sum);
  });
}

template <class T> void run(const SampleArgs& args, const MultivariateNormalRows& o) {
  const std::size_t length = o.mean.size();
  run_rows<T>(args, [&](const auto& words_of, T* to) {
    std::vector<double> z(length);
    for (std::size_t k = 0; k < length; ++k) {
      ElementWords words = words_of(k);
      z[k] = standard_normal(words);
      double sum = 0;
      for (std::size_t j = 0; j <= k; ++j) sum += o.factor[k * length + j] * z[j];
      to[k] = static_cast<T>(o.mean[k] + sum);
    }
  });
}

template <class T> void run(const SampleArgs& args, const GammaOptions& o) {
  run_gamma<T>(args, StandardGamma(o.shape), o.scale);
}
template <class T> void run(const SampleArgs& args, const ChiSquaredOptions& o) {
  run_gamma<T>(args, StandardGamma(0.5 * o.df), 2);
}
template <class T> void run(const SampleArgs& args, const BetaOptions& o) { run_elements<T>(args, BetaSampler(o)); }
template <class T> void run(const SampleArgs& args, const StudentTOptions& o) {
  run_elements<T>(args, StudentTSampler(o));
}
template <class T> void run(const SampleArgs& args, const FisherFOptions& o) {
  run_elements<T>(args, FisherFSampler(o));
}
template <class T> void run(const SampleArgs& args, const TruncatedNormalOptions& o) {
  run_elements<T>(args, TruncatedNormalSampler(o));
}
template <class T> void run(const SampleArgs& args, const VonMisesOptions& o) {
  run_elements<T>(args, VonMisesSampler(o));
}
template <class T> void run(const SampleArgs& args, const PoissonOptions& o) {
  if (o.lambda >= kInversionMean) return run_poisson<T>(args, PoissonSampler(o));
  run_elements<T>(args, PoissonSampler(o));
}
template <class T> void run(const SampleArgs& args, const BinomialOptions& o) {
  run_elements<T>(args, BinomialSampler(o));
}
template <class T> void run(const SampleArgs& args, const GeometricOptions& o) {
  run_elements<T>(args, GeometricSampler(o));
}
template <class T> void run(const SampleArgs& args, const HypergeometricOptions& o) {
  run_elements<T>(args, HypergeometricSampler(o));
}

}  // namespace

void sample(const Executor&, const SampleArgs& args) {
  std::visit(
      [&](const auto& options) {
        if (args.out.dtype == DType::Float32) return run<float>(args, options);
        if (args.out.dtype == DType::Float64) return run<double>(args, options);
        return run<std::uint32_t>(args, options);
      },
      args.sampler);
}

}  // namespace trn::rand::host

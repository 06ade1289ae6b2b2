// rand_tails [BILLIONS [SEED]]: how often normals lie beyond 5, 5.5, 6 and 6.5 standard deviations, and exponentials
// beyond 18 and 22, in that many billions of floats, beside what the distributions say, with p-values.
#include <cstdio>
#include <cstdlib>
#include <trn/core/array.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/normal.hpp>

#include "statistics.hpp"

namespace {

using trn::rand::test::Real;

struct Level {
  float beyond;
  Real probability;
  std::int64_t seen = 0;
};

bool report(const char* what, std::vector<Level>& levels, double values) {
  bool fine = true;
  for (const Level& l : levels) {
    const double expected = values * static_cast<double>(l.probability);
    const double p = trn::rand::test::poisson_p(static_cast<double>(l.seen), expected);
    std::printf("%-12s beyond %4.1f: %10lld seen, %12.1f expected, p = %.4f\n", what, static_cast<double>(l.beyond),
                static_cast<long long>(l.seen), expected, p);
    fine = fine && p > 1e-6;
  }
  return fine;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t billions = argc > 1 ? std::atoll(argv[1]) : 20;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  constexpr std::int64_t kChunk = 1'000'000;
  std::vector<Level> normals, exponentials;
  for (const float x : {5.0f, 5.5f, 6.0f, 6.5f}) normals.push_back({x, std::erfc(x / std::numbers::sqrt2_v<Real>)});
  for (const float x : {18.0f, 22.0f}) exponentials.push_back({x, std::exp(-static_cast<Real>(x))});
  const trn::Executor host = trn::Executor::host();
  const trn::Array<float> out(host, {kChunk});
  trn::rand::Generator g(trn::rand::State{.seed = seed}), h(trn::rand::State{.seed = seed, .stream = 1});
  const auto count = [&](std::vector<Level>& levels) {
    for (std::int64_t i = 0; i < kChunk; ++i) {
      const float x = std::fabs(out.data()[i]);
      if (x <= levels[0].beyond) continue;
      for (Level& l : levels) l.seen += x > l.beyond ? 1 : 0;
    }
  };
  for (std::int64_t chunk = 0; chunk < 1000 * billions; ++chunk) {
    trn::rand::normal(host, g, out.view());
    count(normals);
    trn::rand::exponential(host, h, out.view());
    count(exponentials);
  }
  const double values = 1e9 * static_cast<double>(billions);
  const bool fine = report("normal", normals, values);
  return report("exponential", exponentials, values) && fine ? 0 : 1;
}

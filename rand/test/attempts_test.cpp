// Values that rejection samplers make on vectors are those that they make one by one from the words of an element.
#include <trn/rand/gamma.hpp>
#include <trn/rand/poisson.hpp>

#include "host/discrete_samplers.hpp"
#include "rand_support.hpp"

namespace trn::rand::test {
namespace {

const Executor kHost = Executor::host();
constexpr std::int64_t kValues = 4001;

template <class T, class Draw, class Sampler>
void expect_samplers_values(const char* what, double parameter, Draw draw, const Sampler& sampler) {
  for (const Algorithm a : kAlgorithms) {
    const State state{.algorithm = a, .seed = 77, .stream = 3, .position = 65536 - 50};
    Generator g(state);
    const Array<T> out(kHost, {kValues});
    draw(g, out.view());
    for (std::int64_t i = 0; i < kValues; ++i) {
      ElementWords words(state, state.position + static_cast<std::uint64_t>(i));
      ASSERT_EQ(out.data()[i], static_cast<T>(sampler(words))) << what << " " << parameter << " element " << i;
    }
  }
}

TEST(Attempts, Gamma) {
  for (const double shape : {0.004, 0.05, 0.7, 1.0, 2.5, 1e3, 1e9}) {
    const host::StandardGamma gamma_of(shape);
    expect_samplers_values<double>(
        "gamma", shape,
        [&](auto& g, auto v) {
          gamma(kHost, g, v, {shape, 3.0});
        },
        [&](ElementWords& words) { return gamma_of(words) * 3.0; });
    expect_samplers_values<float>(
        "chi_squared", 2 * shape, [&](auto& g, auto v) { chi_squared(kHost, g, v, {2 * shape}); },
        [&](ElementWords& words) { return 2 * gamma_of(words); });
  }
}

// Small counts come from the table of Stirling's errors, far ones from the other form of the deviance.
TEST(Attempts, Poisson) {
  for (const double lambda : {10.0, 13.5, 30.0, 1000.0, 1e6, 4e9, 1e15}) {
    const host::PoissonSampler sampler({lambda});
    expect_samplers_values<double>(
        "poisson", lambda, [&](auto& g, auto v) { poisson(kHost, g, v, {lambda}); }, sampler);
  }
}

}  // namespace
}  // namespace trn::rand::test

// rand_speed: 1e9 values per second of one thread's processor time beside the standard library's generator and
// distributions, in one run. speed.py calls it and adds NumPy's rows.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <trn/core/array.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/uniform.hpp>

namespace {

constexpr std::int64_t kValues = 1 << 22;  // 16 MiB of floats
constexpr int kRepeats = 9;

// Processor time of this thread: other programs on the machine count less than in wall time.
double seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The fastest of several runs.
template <class F> void row(const char* who, const char* what, std::int64_t values, F draw) {
  double fastest = 1e9;
  for (int i = 0; i < kRepeats; ++i) {
    const double begin = seconds();
    draw();
    fastest = std::min(fastest, seconds() - begin);
  }
  std::printf("%s %s %.4f\n", who, what, static_cast<double>(values) / fastest * 1e-9);
  std::fflush(stdout);
}

template <class T, class F> void ours(const char* what, std::int64_t values, F draw) {
  const trn::Array<T> out(trn::Executor::host(), {values});
  trn::rand::Generator g;
  row("trnrand", what, values, [&] { draw(trn::Executor::host(), g, out.view()); });
}

template <class Distribution> void standard(const char* what, std::int64_t values, Distribution distribution) {
  std::vector<typename Distribution::result_type> out(static_cast<std::size_t>(values));
  std::mt19937 generator;
  row("standard", what, values, [&] {
    for (auto& v : out) v = distribution(generator);
  });
}

}  // namespace

int main() {
  using namespace trn::rand;
  omp_set_num_threads(1);
  constexpr std::int64_t kFew = kValues / 8;
  ours<std::uint32_t>("raw32", kValues, [](const auto& e, auto& g, auto v) { raw32(e, g, v); });
  ours<float>("uniform_float", kValues, [](const auto& e, auto& g, auto v) { uniform(e, g, v); });
  ours<float>("normal_float", kValues, [](const auto& e, auto& g, auto v) { normal(e, g, v); });
  ours<double>("normal_double", kValues, [](const auto& e, auto& g, auto v) { normal(e, g, v); });
  ours<float>("exponential_float", kValues, [](const auto& e, auto& g, auto v) { exponential(e, g, v); });
  ours<double>("exponential_double", kValues, [](const auto& e, auto& g, auto v) { exponential(e, g, v); });
  ours<double>("gamma_2.5", kFew, [](const auto& e, auto& g, auto v) { gamma(e, g, v, {2.5, 1}); });
  ours<std::uint32_t>("poisson_3", kFew, [](const auto& e, auto& g, auto v) { poisson(e, g, v, {3}); });
  ours<std::uint32_t>("poisson_1000", kFew, [](const auto& e, auto& g, auto v) { poisson(e, g, v, {1000}); });

  std::mt19937 words;
  std::vector<std::uint32_t> out(kValues);
  row("standard", "raw32", kValues, [&] {
    for (auto& v : out) v = static_cast<std::uint32_t>(words());
  });
  standard("uniform_float", kValues, std::uniform_real_distribution<float>());
  standard("normal_float", kValues, std::normal_distribution<float>());
  standard("normal_double", kValues, std::normal_distribution<double>());
  standard("exponential_float", kValues, std::exponential_distribution<float>());
  standard("exponential_double", kValues, std::exponential_distribution<double>());
  standard("gamma_2.5", kFew, std::gamma_distribution<double>(2.5));
  standard("poisson_3", kFew, std::poisson_distribution<std::uint32_t>(3));
  standard("poisson_1000", kFew, std::poisson_distribution<std::uint32_t>(1000));
}

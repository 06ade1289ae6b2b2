// Philox4x32-10 words per second on one thread: trnrand, a plain loop over the same blocks as Random123 has it,
// compiled for this machine (-O3 -march=native), and the standard library's Mersenne Twister. Prints "name rate" lines,
// 1e9 words per second, the best of several runs; generator_speed.py adds NumPy's generators and the ratios.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <trn/core/array.hpp>
#include <trn/rand/raw32.hpp>
#include <vector>

namespace {

constexpr std::size_t kWords = std::size_t{1} << 22;
constexpr int kRuns = 15;

// The cipher written down plainly: counter i, key k0 and k1.
void plain_philox(std::uint32_t key0, std::uint32_t key1, std::uint32_t* out) {
  for (std::uint32_t i = 0; i < kWords / 4; ++i) {
    std::uint32_t c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = key0, k1 = key1;
    for (int r = 0; r < 10; ++r) {
      const std::uint64_t p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
      const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0,
                          n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<std::uint32_t>(p1);
      c3 = static_cast<std::uint32_t>(p0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    out[4 * i] = c0;
    out[4 * i + 1] = c1;
    out[4 * i + 2] = c2;
    out[4 * i + 3] = c3;
  }
}

// Processor time of this thread: other programs on the machine count less than in wall time.
double seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F> void report(const char* name, F run) {
  double best = 1e9;
  for (int k = 0; k < kRuns; ++k) {
    const double begin = seconds();
    run();
    best = std::min(best, seconds() - begin);
  }
  std::printf("%s %.3f\n", name, static_cast<double>(kWords) / best * 1e-9);
}

}  // namespace

int main() {
  using namespace trn;
  omp_set_num_threads(1);
  const Executor host = Executor::host();
  const Array<std::uint32_t> out(host, {static_cast<std::int64_t>(kWords)});
  for (const rand::Algorithm a :
       {rand::Algorithm::Philox4x32_10, rand::Algorithm::Threefry4x32_20, rand::Algorithm::Xorwow,
        rand::Algorithm::Mrg32k3a, rand::Algorithm::Mt19937, rand::Algorithm::Sobol32}) {
    rand::Generator generator(rand::State{.algorithm = a});
    report(rand::name(a), [&] { rand::raw32(host, generator, out.view()); });
  }
  std::uint32_t key = 0;
  report("plain-philox-loop", [&] { plain_philox(++key, 0, out.data()); });
  std::mt19937 twister;
  report("std::mt19937",
         [&] { std::generate_n(out.data(), kWords, [&] { return static_cast<std::uint32_t>(twister()); }); });
}

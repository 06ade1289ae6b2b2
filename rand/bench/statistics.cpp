// rand_statistics [VALUES [SEED [TEXT]]]: the p-values of every distribution whose name contains TEXT, by default on
// 1e7 values each. The last line counts those below 1e-3 and 1e-6 beside the numbers that chance makes.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "distribution_cases.hpp"

int main(int argc, char** argv) {
  const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string text = argc > 3 ? argv[3] : "";
  int tests = 0, below_3 = 0, below_6 = 0;
  std::printf("%-42s %-20s p-value\n", "distribution", "test");
  for (const auto& c : trn::rand::test::distribution_cases()) {
    if (c.name.find(text) == std::string::npos) continue;
    trn::rand::Generator g(trn::rand::State{.seed = seed});
    for (const auto& p : trn::rand::test::p_values(c, c.draw(g, count))) {
      std::printf("%-42s %-20s %.6f%s\n", c.name.c_str(), p.test.c_str(), p.p, p.p < 1e-6 ? "  FAIL" : "");
      ++tests;
      below_3 += p.p < 1e-3 ? 1 : 0;
      below_6 += p.p < 1e-6 ? 1 : 0;
    }
    std::fflush(stdout);
  }
  std::printf("%d p-values of %lld values each; below 1e-3: %d (chance: %.1f); below 1e-6: %d\n", tests,
              static_cast<long long>(count), below_3, tests * 1e-3, below_6);
  return below_6 == 0 ? 0 : 1;
}

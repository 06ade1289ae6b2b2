// Random einsums against long double, within the bounds that the plans return.
#include <gtest/gtest.h>

#include <omp.h>

#include "random_case.hpp"

namespace trn::tensor {
namespace {

using testing::RandomCase;
using testing::RandomMaker;
using testing::RandomOptions;
using testing::violation;

void run(std::uint64_t first, int count, const RandomOptions& options) {
  int violated = 0;
  std::vector<double> used;
  for (int i = 0; i < count && violated < 3; ++i) {
    RandomCase r = RandomMaker(first + static_cast<std::uint64_t>(i), options).make();
    double worst = 0;
    try {
      if (const auto wrong = violation(r, &worst)) {
        ++violated;
        ADD_FAILURE() << "seed " << first + static_cast<std::uint64_t>(i) << ": " << *wrong << "\n" << r.what;
      }
    } catch (const std::exception& e) {
      ++violated;
      ADD_FAILURE() << "seed " << first + static_cast<std::uint64_t>(i) << ": " << e.what() << "\n" << r.what;
    }
    if (worst > 0) used.push_back(worst);
  }
  if (used.size() > 10) {  // the bound means something: the median of the worst elements is within 100 of it
    std::nth_element(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2), used.end());
    EXPECT_GT(used[used.size() / 2], 0.01);
  }
}

TEST(RandomEinsum, AllPatternsAndTypes) { run(1, 4000, {.most_products = 2000}); }
TEST(RandomEinsum, Larger) { run(100000, 120, {.most_products = 60000}); }
TEST(RandomEinsum, TwoOperands) { run(200000, 1500, {.most_operands = 2, .most_labels = 5, .most_products = 4000}); }
TEST(RandomEinsum, SixOperands) { run(300000, 400, {.most_operands = 6, .most_labels = 8, .most_products = 4000}); }

// The bits of D for a number of threads.
std::vector<std::byte> bits(std::uint64_t seed, int threads) {
  RandomCase r = RandomMaker(seed, {.most_operands = 3, .most_labels = 5, .most_products = 2e6}).make();
  Description d;
  d.expression = r.expression;
  std::vector<TypedView> views;
  for (auto& s : r.operands) {
    views.push_back(s.view());
    d.operands.push_back(operand_of(views.back()));
  }
  d.output = operand_of(r.d.view());
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  Plan(Executor::host(), d).execute(views, r.d.view());
  omp_set_num_threads(before);
  return r.d.bytes;
}
TEST(RandomEinsum, TheSameBitsForAnyNumberOfThreads) {
  for (std::uint64_t seed = 500000; seed < 500060; ++seed) {
    const auto one = bits(seed, 1);
    EXPECT_EQ(one, bits(seed, 2)) << seed;
    EXPECT_EQ(one, bits(seed, 5)) << seed;
  }
}

}  // namespace
}  // namespace trn::tensor

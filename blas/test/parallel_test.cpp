// Shared loops (trn/core/parallel.hpp) as the host kernels use them: exceptions reach the caller, sums do not depend on
// the number of threads.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cmath>
#include <random>
#include <trn/blas/level1.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>
#include <vector>

namespace trn::blas {
namespace {

class Threads {
 public:
  explicit Threads(int n) : before_(omp_get_max_threads()) { omp_set_num_threads(n); }
  ~Threads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

TEST(Parallel, EveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const Threads set(threads);
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      parallel_for(count, true, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
      for (const auto& n : seen) EXPECT_EQ(n, 1);
    }
  }
}

TEST(Parallel, AnExceptionReachesTheCaller) {
  const Threads set(3);
  EXPECT_THROW(parallel_for(1000, true, [](std::int64_t i) { require(i != 700, "here"); }), InvalidArgument);
  std::atomic<int> after = 0;
  parallel_for(10, true, [&](std::int64_t) { ++after; });
  EXPECT_EQ(after, 10);
}

TEST(Parallel, SumsAreAddedInOrder) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> uniform;
  std::vector<float> values(1000);
  for (float& v : values) v = uniform(random);
  float want = 0;
  for (const float v : values) want += v;
  for (const int threads : {1, 2, 3, 5, 8}) {
    const Threads set(threads);
    EXPECT_EQ(parallel_sum<float>(1000, true, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }),
              want);
  }
}

TEST(Parallel, OpenMpPiecesKeepTheirExceptionsToo) {
  for (const int threads : {1, 2, 3}) {
    std::vector<std::atomic<int>> seen(100);
    openmp_pieces(100, threads, [&](std::int64_t i, int worker) {
      EXPECT_TRUE(worker >= 0 && worker < threads);
      EXPECT_EQ(loop_threads(), threads == 1 ? std::max(1, omp_get_max_threads()) : 1);  // loops within stay here
      ++seen[static_cast<std::size_t>(i)];
    });
    for (const auto& n : seen) EXPECT_EQ(n, 1);
    EXPECT_THROW(openmp_pieces(100, threads, [](std::int64_t i, int) { require(i != 50, "here"); }), InvalidArgument);
  }
}

TEST(Parallel, Nrm2HasTheSameBitsForEveryNumberOfThreads) {
  const Executor host = Executor::host();
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> x(1 << 20);
  for (float& v : x) v = normal(random);
  const VectorView<const float> view(host, x.data(), static_cast<std::int64_t>(x.size()));
  const auto norm = [&](int threads) {
    const Threads set(threads);
    return static_cast<float>(nrm2(host, view));
  };
  const float want = norm(1);
  for (const int threads : {2, 3, 4, 7}) {
    for (int round = 0; round < 10; ++round) EXPECT_EQ(norm(threads), want) << threads;
  }
}

}  // namespace
}  // namespace trn::blas

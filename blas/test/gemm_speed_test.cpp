// A simulated matmul costs what a host matmul of the same size costs, not more than twice: one simulated fp32 gemm, checks,
// timing model and all, against OpenBLAS sgemm in the same process. The fastest of several runs of each, since the machine
// may be busy with other things.
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <chrono>

#include "gemm_support.hpp"

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

namespace trn::blas::test {
namespace {

template <class F> double seconds_of(F run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(GemmSpeed, SimulationCostsAtMostTwiceTheHostsSgemm) {
  const std::int64_t n = kSanitized ? 256 : 2048;  // instrumented code is slow code: there only that it runs
  std::vector<float> a(static_cast<std::size_t>(n * n), 0.5f), b = a, c = a;
  const Executor sim = Executor::open("sim:trn2");
  const auto da = Matrix<float>::from_host(sim, n, n, a), db = Matrix<float>::from_host(sim, n, n, b);
  const Matrix<float> dc(sim, n, n);
  double host = 1e9, simulated = 1e9;
  const auto enough = [&] { return simulated <= 2 * host; };
  for (int attempt = 0; attempt < 8 && (attempt < 2 || !enough()); ++attempt) {
    const int size = static_cast<int>(n);
    host = std::min(host, seconds_of([&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.data(), size, b.data(), size, 0, c.data(), size);
    }));
    Recorder recorder(sim);
    simulated = std::min(simulated, seconds_of([&] { gemm(sim, Op::N, Op::N, 1, da.view(), db.view(), 0, dc.view()); }));
    ASSERT_GT(recorder.modelled_seconds(), 0);  // Timed order
  }
  RecordProperty("host_ms", static_cast<int>(host * 1e3));
  RecordProperty("simulated_ms", static_cast<int>(simulated * 1e3));
  if (!kSanitized) {
    EXPECT_TRUE(enough()) << "simulated " << simulated << " s, OpenBLAS " << host << " s, " << omp_get_max_threads() << " threads";
  }
}

}  // namespace
}  // namespace trn::blas::test

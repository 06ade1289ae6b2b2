// What a call of a small gemm costs the host: 1,000 products of n x n float32 matrices, n = 8, 32, 128, on the host and
// on a simulated trn2, in the call and queued (behind it). Processor time of all threads of the process and elapsed
// time, per call, the least of five rounds; the first call, which builds the program, is not counted. The simulated
// machine's own arithmetic is in the figure: at n = 8 there is next to none.
//
//   OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 build/release/blas/bench/blas_small_gemms [calls]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/neuron/sim.hpp>

namespace {

using namespace trn;

double processor_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double elapsed_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void measure(const char* name, const Executor& e, std::int64_t n, int calls) {
  const std::vector<float> ones(static_cast<std::size_t>(n * n), 1.0f);
  const auto a = Matrix<float>::from_host(e, n, n, ones), b = Matrix<float>::from_host(e, n, n, ones);
  Matrix<float> c(e, n, n);
  const auto multiply = [&] { blas::gemm(e, blas::Op::N, blas::Op::N, 1.0f, a.view(), b.view(), 0.0f, c.view()); };
  multiply();
  e.synchronize();
  double processor = std::numeric_limits<double>::infinity(), elapsed = processor;
  for (int round = 0; round < 5; ++round) {
    const double p = processor_seconds(), t = elapsed_seconds();
    for (int i = 0; i < calls; ++i) multiply();
    e.synchronize();
    processor = std::min(processor, processor_seconds() - p);
    elapsed = std::min(elapsed, elapsed_seconds() - t);
  }
  const double us = 1e6 / calls;
  std::printf("%-18s %5lld %12.2f %12.2f\n", name, static_cast<long long>(n), processor * us, elapsed * us);
  if (c.to_host() != std::vector<float>(ones.size(), static_cast<float>(n))) {
    std::printf("WRONG product\n");
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  std::printf("%-18s %5s %12s %12s\n", "us per call", "n", "processor", "elapsed");
  for (const std::int64_t n : {8, 32, 128}) {
    measure("host", Executor::host(), n, calls);
    measure("sim:trn2", neuron::open_simulator("trn2"), n, calls);
    measure("sim:trn2, queued", neuron::open_simulator("trn2", {.queued = true}), n, calls);
  }
}

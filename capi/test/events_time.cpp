// The time between two events of the C face is what the Recorder of the C++ face sums up for the same products. The C
// face is the shared library, the C++ one is linked into this program: two copies that model one machine.
#include <cmath>
#include <cstdio>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/core/event.hpp>
#include <trn/core/executor.hpp>

#include <trnblas.h>

namespace {

constexpr int kRounds = 3;

double by_recorder(int n) {
  const auto executor = trn::Executor::open("sim:trn2");
  const std::vector<float> ones(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 1.0F);
  const auto a = trn::Array<float>::from_host(executor, {n, n}, ones);
  const auto c = trn::Array<float>::from_host(executor, {n, n}, ones);
  const auto view = [&](const trn::Array<float>& x) {
    return trn::MatrixView<float>(executor, const_cast<float*>(x.data()), n, n, 1, n);
  };
  const trn::Recorder recorder(executor);
  for (int i = 0; i < kRounds; ++i)
    (void)trn::blas::gemm(executor, trn::Op::N, trn::Op::T, 1.0F, view(a), view(a), 0.0F, view(c));
  return recorder.modelled_seconds();
}

double by_events(int n) {
  int device = 0;
  const float one = 1, zero = 0;
  const auto bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(float);
  const std::vector<float> ones(bytes / sizeof(float), 1.0F);
  void *a = nullptr, *c = nullptr;
  trnblasHandle_t handle = nullptr;
  trnEvent_t begin = nullptr, end = nullptr;
  float milliseconds = -1;
  int failures = trnDeviceOpen("sim:trn2", &device) + trnSetDevice(device) + trnblasCreate(&handle) +
                 trnMalloc(&a, bytes) + trnMalloc(&c, bytes) + trnMemcpy(a, ones.data(), bytes, trnMemcpyHostToDevice) +
                 trnMemcpy(c, ones.data(), bytes, trnMemcpyHostToDevice) + trnEventCreate(&begin) +
                 trnEventCreate(&end) + trnEventRecord(begin, nullptr);
  for (int i = 0; i < kRounds; ++i)
    failures += trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_T, n, n, n, &one, static_cast<float*>(a), n,
                             static_cast<float*>(a), n, &zero, static_cast<float*>(c), n);
  failures += trnEventRecord(end, nullptr) + trnEventSynchronize(end) + trnEventElapsedTime(&milliseconds, begin, end);
  if (failures) std::printf("a call failed: %s\n", trnGetLastErrorText());
  return failures ? -1 : static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace

int main() {
  int wrong = 0;
  for (const int n : {64, 200, 512}) {
    const double events = by_events(n), recorder = by_recorder(n);
    std::printf("n = %d: events %.3f us, recorder %.3f us\n", n, events * 1e6, recorder * 1e6);
    wrong += !(recorder > 0 && std::abs(events - recorder) <= 1e-6 * recorder);
  }
  std::puts(wrong ? "they differ" : "the same time");
  return wrong;
}

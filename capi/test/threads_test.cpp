// Eight threads, each with a stream and handles of its own, call the six libraries at the same time: what one thread
// computes is not changed by the others. Every thread has numbers of its own whose results are known exactly.
#include <trnblas.h>
#include <trnfft.h>
#include <trnrand.h>
#include <trnsolver.h>
#include <trnsparse.h>
#include <trntensor.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>

#include "mem.hpp"

namespace {

using capi_test::Mem;
using Floats = std::vector<float>;

// One thread's stream, with the status of each call that goes wrong.
class Worker {
 public:
  Worker(int device, int thread) : scale_(static_cast<float>(thread + 1)), n_(8 + thread) {
    ok("SetDevice", trnSetDevice(device));
    ok("StreamCreate", trnStreamCreateWithFlags(&stream_, trnStreamNonBlocking));
  }
  ~Worker() { trnStreamDestroy(stream_); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  // A of the thread's number times B of ones.
  void product() {
    trnblasHandle_t h = nullptr;
    ok("blasCreate", trnblasCreate(&h)), ok("blasSetStream", trnblasSetStream(h, stream_));
    const Mem<float> a(Floats(size(n_, n_), scale_)), b(Floats(size(n_, n_), 1)), c(Floats(size(n_, n_), -1));
    const float one = 1, zero = 0;
    ok("Sgemm", trnblasSgemm(h, TRNBLAS_OP_N, TRNBLAS_OP_N, n_, n_, n_, &one, a, n_, b, n_, &zero, c, n_));
    expect("product", c, Floats(size(n_, n_), scale_ * static_cast<float>(n_)));
    trnblasDestroy(h);
  }
  // An impulse has the same coefficient everywhere.
  void transform() {
    constexpr int length = 32;
    trnfftHandle plan = 0;
    ok("fftPlan1d", trnfftPlan1d(&plan, length, TRNFFT_C2C, 1)), ok("fftSetStream", trnfftSetStream(plan, stream_));
    Floats signal(2 * length), spectrum;
    signal[0] = scale_;
    for (int i = 0; i < length; ++i) spectrum.insert(spectrum.end(), {scale_, 0});
    const Mem<float> data(signal);
    auto* const numbers = reinterpret_cast<trnComplex*>(static_cast<float*>(data));
    ok("fftExecC2C", trnfftExecC2C(plan, numbers, numbers, -1));
    expect("transform", data, spectrum);
    trnfftDestroy(plan);
  }
  // Philox with seed 0: Random123's words for a zero key and counter.
  void words() {
    trnrandGenerator_t g = nullptr;
    ok("randCreate", trnrandCreateGenerator(&g, TRNRAND_RNG_PSEUDO_PHILOX4_32_10));
    ok("randSetStream", trnrandSetStream(g, stream_));
    const Mem<unsigned> out(std::size_t{4});
    ok("randGenerate", trnrandGenerate(g, out, 4));
    expect("words", out, std::vector<unsigned>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    trnrandDestroyGenerator(g);
  }
  // The factor of min(i, j) + 1 has ones in its lower triangle. Powers of two keep it exact.
  void factor() {
    trnsolverDnHandle_t h = nullptr;
    ok("solverCreate", trnsolverDnCreate(&h)), ok("solverSetStream", trnsolverDnSetStream(h, stream_));
    const float one = std::ldexp(1.0F, n_ - 12);
    Floats a(size(n_, n_)), l(a);
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < n_; ++i) {
        a[size(j, n_) + size(i, 1)] = one * one * static_cast<float>(std::min(i, j) + 1);
        l[size(j, n_) + size(i, 1)] = i >= j ? one : a[size(j, n_) + size(i, 1)];
      }
    const Mem<float> matrix(a);
    const Mem<int> info(std::vector<int>{9});
    ok("Spotrf", trnsolverDnSpotrf(h, TRNBLAS_FILL_MODE_LOWER, n_, matrix, n_, nullptr, 0, info));
    expect("factor", matrix, l), expect("factor's info", info, std::vector<int>{0});
    trnsolverDnDestroy(h);
  }
  // A permutation that turns x round.
  void sparse() {
    trnsparseHandle_t h = nullptr;
    ok("sparseCreate", trnsparseCreate(&h)), ok("sparseSetStream", trnsparseSetStream(h, stream_));
    std::vector<int> offsets(size(n_, 1) + 1), columns(size(n_, 1));
    Floats ramp(size(n_, 1));
    std::iota(offsets.begin(), offsets.end(), 0), std::iota(ramp.begin(), ramp.end(), scale_);
    std::iota(columns.rbegin(), columns.rend(), 0);
    const Mem<int> first(offsets), second(columns);
    const Mem<float> values(Floats(size(n_, 1), 2)), x(ramp), y(size(n_, 1));
    trnsparseSpMatDescr_t a = nullptr;
    trnsparseDnVecDescr_t dx = nullptr, dy = nullptr;
    ok("CreateCsr", trnsparseCreateCsr(&a, n_, n_, n_, first, second, values, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_32I,
                                       TRNSPARSE_INDEX_BASE_ZERO, TRN_R_32F));
    ok("CreateDnVec", trnsparseCreateDnVec(&dx, n_, x, TRN_R_32F));
    ok("CreateDnVec", trnsparseCreateDnVec(&dy, n_, y, TRN_R_32F));
    const float one = 1, zero = 0;
    ok("SpMV", trnsparseSpMV(h, TRNSPARSE_OPERATION_NON_TRANSPOSE, &one, a, dx, &zero, dy, TRN_R_32F,
                             TRNSPARSE_SPMV_ALG_DEFAULT, nullptr));
    Floats turned(ramp.rbegin(), ramp.rend());
    for (float& v : turned) v *= 2;
    expect("sparse product", y, turned);
    trnsparseDestroySpMat(a), trnsparseDestroyDnVec(dx), trnsparseDestroyDnVec(dy), trnsparseDestroy(h);
  }
  // D_ij = sum_k A_ik B_kj of the thread's number and of ones, by a plan.
  void contraction() {
    trntensorHandle_t h = nullptr;
    trntensorTensorDescriptor_t t = nullptr;
    trntensorOperationDescriptor_t d = nullptr;
    trntensorPlanPreference_t preference = nullptr;
    trntensorPlan_t plan = nullptr;
    const std::int64_t extents[] = {n_, n_};
    const std::int32_t a[] = {'i', 'k'}, b[] = {'k', 'j'}, c[] = {'i', 'j'};
    const auto same = TRNTENSOR_OP_IDENTITY;
    ok("tensorCreate", trntensorCreate(&h));
    ok("TensorDescriptor", trntensorCreateTensorDescriptor(h, &t, 2, extents, nullptr, TRN_R_32F, 128));
    ok("Contraction",
       trntensorCreateContraction(h, &d, t, a, same, t, b, same, t, c, same, t, c, TRNTENSOR_COMPUTE_DESC_32F));
    ok("PlanPreference",
       trntensorCreatePlanPreference(h, &preference, TRNTENSOR_ALGO_DEFAULT, TRNTENSOR_JIT_MODE_NONE));
    ok("tensorPlan", trntensorCreatePlan(h, &plan, d, preference, 0));
    const Mem<float> x(Floats(size(n_, n_), scale_)), y(Floats(size(n_, n_), 1)), z(size(n_, n_));
    const float one = 1, zero = 0;
    ok("Contract", trntensorContract(h, plan, &one, x, y, &zero, z, z, nullptr, 0, stream_));
    expect("contraction", z, Floats(size(n_, n_), scale_ * static_cast<float>(n_)));
    trntensorDestroyPlan(plan), trntensorDestroyPlanPreference(preference), trntensorDestroyOperationDescriptor(d);
    trntensorDestroyTensorDescriptor(t), trntensorDestroy(h);
  }

 private:
  [[nodiscard]] static std::size_t size(int i, int j) {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(j);
  }
  void ok(const char* call, int status) {
    if (status != 0) trouble_ += std::string(call) + ": " + trnGetLastErrorText() + "\n";
  }
  // Through the thread's own stream.
  template <class T> void expect(const char* what, const Mem<T>& got, const std::vector<T>& wanted) {
    std::vector<T> values(wanted.size());
    ok(what,
       trnMemcpyAsync(values.data(), static_cast<T*>(got), values.size() * sizeof(T), trnMemcpyDeviceToHost, stream_));
    ok(what, trnStreamSynchronize(stream_));
    if (values != wanted) trouble_ += std::string(what) + " is wrong\n";
  }

  float scale_;
  int n_;
  trnStream_t stream_ = nullptr;
  std::string trouble_;
};

class Threads : public testing::TestWithParam<const char*> {};

TEST_P(Threads, CallTheSixLibrariesOnStreamsOfTheirOwn) {
  int device = -1;
  ASSERT_EQ(trnDeviceOpen(GetParam(), &device), trnSuccess) << trnGetLastErrorText();
  std::atomic<int> waiting = 8;
  std::vector<std::string> trouble(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Worker worker(device, t);
      for (--waiting; waiting != 0;) std::this_thread::yield();
      for (int round = 0; round < 3; ++round) {
        // Each thread begins with another library.
        void (Worker::*const steps[])() = {&Worker::product, &Worker::transform, &Worker::words,
                                           &Worker::factor,  &Worker::sparse,    &Worker::contraction};
        for (int s = 0; s < 6; ++s) (worker.*steps[(s + t) % 6])();
      }
      trouble[static_cast<std::size_t>(t)] = worker.trouble();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(trouble, std::vector<std::string>(8));
}
INSTANTIATE_TEST_SUITE_P(Runtime, Threads, testing::Values("host", "sim:trn2"));

}  // namespace

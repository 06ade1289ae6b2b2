// Linked into the C API's test program, together with --wrap of trnDeviceOpen: every device that a test opens as
// "sim:trn2" is a core of `neuron` over the fake runtime, programs being compiled by the fake toolchain. So the tests
// of devices run on `neuron` as they are. A test of this file has results of several libraries on both: the same bits.
//
// At the end a line says how much that was. A broken rule of the runtime's contract, or no run at all, is a failure.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <trnblas.h>
#include <trnfft.h>
#include <trnrand.h>
#include <trnsolver.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_nrt/control.hpp"
#include "silicon_paths.hpp"

extern "C" {
trnError_t real_open(const char* executor, int* device) __asm__("__real_trnDeviceOpen");
trnError_t wrapped_open(const char* executor, int* device) __asm__("__wrap_trnDeviceOpen");
}

namespace {

// Before the first device is opened.
class Surroundings final : public ::testing::Environment {
 public:
  Surroundings() {
    std::string text = (std::filesystem::temp_directory_path() / "trn_capi_XXXXXX").string();
    folder_ = mkdtemp(text.data());
    setenv("TRN_NRT_LIBRARY", kLibrary, 1);
    setenv("TRN_FAKE_NRT", "cores=4096", 1);
    setenv("TRN_NKI_PYTHON", TRN_FAKE_TOOLCHAIN_PATH, 1);
    setenv("TRN_NEFF_CACHE", folder_.c_str(), 1);
    setenv("TRN_EXECUTOR", "host", 1);  // device 0
  }
  static std::uint64_t count(const char* what) {
    return reinterpret_cast<decltype(&trn_fake_count)>(find("trn_fake_count"))(what);
  }
  void TearDown() override {
    std::printf("neuron: %llu programs, %llu runs, %llu reads\n", static_cast<unsigned long long>(count("nrt_load")),
                static_cast<unsigned long long>(count("runs")),
                static_cast<unsigned long long>(count("nrt_tensor_read")));
    EXPECT_GT(count("runs"), 0u) << "no test here used a device";
    EXPECT_STREQ(reinterpret_cast<decltype(&trn_fake_violations)>(find("trn_fake_violations"))(), "");
    std::filesystem::remove_all(folder_);
  }

 private:
  static constexpr const char* kLibrary = TRN_FAKE_NRT_FOLDER "/libnrt.so.1";
  static void* find(const char* name) { return dlsym(dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL), name); }
  std::filesystem::path folder_;
};
const auto* const kSurroundings = ::testing::AddGlobalTestEnvironment(new Surroundings);

std::string next_core() {
  static std::atomic<int> core{0};
  return "neuron:" + std::to_string(core++);
}

constexpr int kN = 48;

std::vector<float> numbers(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 17;
  return values;
}
// Diagonally dominant, symmetric.
std::vector<float> definite() {
  std::vector<float> a(kN * kN);
  for (int i = 0; i < kN; ++i) {
    for (int k = 0; k < kN; ++k)
      a[static_cast<std::size_t>(i + kN * k)] = i == k ? kN : 1.0F / static_cast<float>(1 + i + k);
  }
  return a;
}

// What `work` makes of `values` in memory of the device that is current.
std::vector<float> in_device_memory(const std::vector<float>& values, const std::function<void(float*)>& work) {
  void* memory = nullptr;
  EXPECT_EQ(trnMalloc(&memory, 4 * values.size()), trnSuccess) << trnGetLastErrorText();
  EXPECT_EQ(trnMemcpy(memory, values.data(), 4 * values.size(), trnMemcpyHostToDevice), trnSuccess);
  work(static_cast<float*>(memory));
  std::vector<float> found(values.size());
  EXPECT_EQ(trnMemcpy(found.data(), memory, 4 * found.size(), trnMemcpyDeviceToHost), trnSuccess)
      << trnGetLastErrorText();
  EXPECT_EQ(trnFree(memory), trnSuccess);
  return found;
}

std::vector<float> product() {
  trnblasHandle_t handle = nullptr;
  EXPECT_EQ(trnblasCreate(&handle), 0);
  const float one = 1, zero = 0;
  constexpr std::size_t kSize = kN * kN;
  auto all = in_device_memory(numbers(3 * kSize), [&](float* a) {
    EXPECT_EQ(trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_T, kN, kN, kN, &one, a, kN, a + kSize, kN, &zero,
                           a + 2 * kSize, kN),
              0)
        << trnGetLastErrorText();
  });
  EXPECT_EQ(trnblasDestroy(handle), 0);
  return all;
}

std::vector<float> transform() {
  trnfftHandle plan = 0;
  EXPECT_EQ(trnfftPlan1d(&plan, 60, TRNFFT_C2C, 8), 0);
  auto all = in_device_memory(numbers(2 * 60 * 8), [&](float* x) {
    auto* line = reinterpret_cast<trnComplex*>(x);
    EXPECT_EQ(trnfftExecC2C(plan, line, line, -1), 0) << trnGetLastErrorText();
  });
  EXPECT_EQ(trnfftDestroy(plan), 0);
  return all;
}

std::vector<float> draws() {
  trnrandGenerator_t generator = nullptr;
  EXPECT_EQ(trnrandCreateGenerator(&generator, TRNRAND_RNG_PSEUDO_PHILOX4_32_10), 0);
  auto all = in_device_memory(std::vector<float>(1000), [&](float* x) {
    EXPECT_EQ(trnrandGenerateUniform(generator, x, 1000), 0) << trnGetLastErrorText();
  });
  EXPECT_EQ(trnrandDestroyGenerator(generator), 0);
  return all;
}

std::vector<float> factor() {
  trnsolverDnHandle_t handle = nullptr;
  EXPECT_EQ(trnsolverDnCreate(&handle), 0);
  std::vector<float> a = definite();
  a.push_back(0);  // info
  auto all = in_device_memory(a, [&](float* x) {
    EXPECT_EQ(
        trnsolverDnSpotrf(handle, TRNBLAS_FILL_MODE_LOWER, kN, x, kN, nullptr, 0, reinterpret_cast<int*>(x + kN * kN)),
        0)
        << trnGetLastErrorText();
  });
  EXPECT_EQ(trnsolverDnDestroy(handle), 0);
  return all;
}

TEST(CapiOnNeuron, ResultsHaveTheSimulatorsBits) {
  struct Case {
    const char* name;
    std::vector<float> (*work)();
  };
  for (const auto& [name, work] : {Case{"gemm", product}, {"c2c", transform}, {"uniform", draws}, {"potrf", factor}}) {
    int simulator = 0, core = 0;
    ASSERT_EQ(real_open("sim:trn2", &simulator), trnSuccess) << trnGetLastErrorText();
    ASSERT_EQ(real_open(next_core().c_str(), &core), trnSuccess) << trnGetLastErrorText();
    trnSetDevice(simulator);
    const std::vector<float> wanted = work();
    trnSetDevice(core);
    const std::uint64_t before = Surroundings::count("runs");
    const std::vector<float> found = work();
    trnSetDevice(0);
    EXPECT_GT(Surroundings::count("runs"), before) << name << " ran elsewhere";
    EXPECT_EQ(std::memcmp(found.data(), wanted.data(), 4 * wanted.size()), 0) << name;
  }
}

// What the simulator does and hardware does not: the compiler's access patterns have no negative steps, and no memory
// is the host's and the device's.
TEST(CapiOnNeuron, WhatHardwareDoesNotHaveIsNotSupported) {
  int core = 0;
  ASSERT_EQ(real_open(next_core().c_str(), &core), trnSuccess) << trnGetLastErrorText();
  trnSetDevice(core);
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  float result = 6;
  const std::uint64_t before = Surroundings::count("runs");
  in_device_memory({1, 2, 3, 4}, [&](float* x) {
    EXPECT_EQ(trnblasSdot(handle, 2, x, -1, x + 2, 1, &result), TRNBLAS_STATUS_NOT_SUPPORTED);
  });
  EXPECT_NE(std::string(trnGetLastErrorText()).find("positive strides"), std::string::npos) << trnGetLastErrorText();
  EXPECT_EQ(result, 6);
  EXPECT_EQ(Surroundings::count("runs"), before);
  void* shared = nullptr;
  EXPECT_EQ(trnMallocManaged(&shared, 8, 1), trnErrorNotSupported);
  EXPECT_EQ(trnblasDestroy(handle), 0);
  trnSetDevice(0);
}

}  // namespace

trnError_t wrapped_open(const char* executor, int* device) {
  if (executor != nullptr && std::string_view(executor) == "sim:trn2") return real_open(next_core().c_str(), device);
  return real_open(executor, device);
}

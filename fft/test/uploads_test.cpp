// What transforms upload. Operands stay on the device: no copies. The constants of a plan, a window, a matrix are
// events of their own, and a second call with the same ones uploads nothing.
#include <gtest/gtest.h>

#include <trn/core/array.hpp>
#include <trn/fft/convolve.hpp>
#include <trn/fft/cosine.hpp>
#include <trn/fft/stft.hpp>
#include <trn/fft/transforms.hpp>

#include "fft_support.hpp"

namespace trn::fft::test {
namespace {

class Uploads : public ::testing::Test {
 protected:
  const Executor e_ = Executor::open("sim:trn2");
  PlanCache cache_;

  // Constants of two calls in a row.
  template <class F> void expect_once(const char* what, F call) {
    const Recorder recorder(e_);
    (void)call();
    const int first = recorder.count(EventKind::Constant);
    EXPECT_GT(first, 0) << what;
    (void)call();
    EXPECT_EQ(recorder.count(EventKind::Constant), first) << what;
    // Runs of memory move on the device; nothing comes from the host.
    EXPECT_EQ(recorder.count(EventKind::Copy), recorder.count(EventKind::Copy, "sim:trn2 -> sim:trn2")) << what;
  }
  [[nodiscard]] Array<float> signal(std::int64_t n) const {
    return Array<float>::from_host(e_, {n}, random_real<float>(n, 3));
  }
};

TEST_F(Uploads, OfAPlanHappenWithItAndNotAgain) {
  const Array<float> x = signal(1000);
  expect_once("rfft", [&] { return rfft(e_, x, {.cache = &cache_}); });
}

TEST_F(Uploads, OfCosineTransforms) {
  const Array<float> line = signal(64), long_line = signal(300);
  expect_once("a matrix", [&] { return dct(e_, line, {.cache = &cache_}); });
  expect_once("a plan and a table", [&] { return dct(e_, long_line, {.cache = &cache_}); });
}

TEST_F(Uploads, OfWindows) {
  const Array<float> x = signal(700);
  expect_once("frames by a matrix", [&] { return stft(e_, x, {.n_fft = 64, .cache = &cache_}); });
  expect_once("frames by a plan", [&] { return stft(e_, x, {.n_fft = 160, .cache = &cache_}); });
}

TEST_F(Uploads, OfConvolutions) {
  const Array<float> a = signal(200), b = signal(90);
  expect_once("convolve", [&] { return fftconvolve(e_, a, b, {.cache = &cache_}); });
}

}  // namespace
}  // namespace trn::fft::test

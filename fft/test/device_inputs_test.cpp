// Inputs on which errors could gather, in every mode of the devices: one point alone, nothing but equal points, single frequencies, alternating signs, one point
// far above the others, magnitudes from 1 to the smallest. Each is one transform of a batch and has a relative L2 error of its own, against long double.
#include <functional>

#include "device_plan_support.hpp"

namespace trn::fft::device_test {
namespace {

using Input = std::function<std::complex<double>(std::int64_t)>;

struct Named {
  const char* name;
  Input input;
};

// `orders`: how many binary orders of magnitude the last input spans.
std::vector<Named> inputs_of(std::int64_t n, double huge, std::int64_t orders, std::mt19937_64& random) {
  const std::complex<double> z(0.7, -0.3);
  const auto noise = [&random] {
    std::normal_distribution<double> normal;
    const double re = normal(random);
    return std::complex<double>(re, normal(random));
  };
  const auto spike = [=](std::int64_t at) { return [=](std::int64_t j) { return j == at ? z : std::complex<double>(0); }; };
  const auto tone = [=](std::int64_t k) { return [=](std::int64_t j) { return std::complex<double>(turn(j * k, n, Direction::Inverse)); }; };
  return {{"noise", [=](std::int64_t) { return noise(); }},
          {"spike at 0", spike(0)},
          {"spike at n/3", spike(n / 3)},
          {"spike at n-1", spike(n - 1)},
          {"constant", [=](std::int64_t) { return z; }},
          {"tone 1", tone(1)},
          {"tone n/3", tone(n / 3)},
          {"tone n/2", tone(n / 2)},
          {"alternating", [=](std::int64_t j) { return j % 2 == 0 ? z : -z; }},
          {"one huge point", [=](std::int64_t j) { return j == n / 2 ? huge * z : noise(); }},
          {"decaying", [=](std::int64_t j) { return std::ldexp(1.0, static_cast<int>(-orders * j / n)) * noise(); }}};
}

// Noise errs by at most `of_noise`, every input by at most `of_any`, and by the plan's bound.
template <class T> void expect_inputs(std::int64_t n, Mode mode, double of_noise, double of_any) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  const std::vector<Named> inputs = inputs_of(n, sizeof(T) == 8 ? 1e14 : 1e6, sizeof(T) == 8 ? 300 : 60, random);
  const auto batch = static_cast<std::int64_t>(inputs.size());
  std::vector<std::complex<T>> x;
  for (const Named& i : inputs)
    for (std::int64_t j = 0; j < n; ++j) x.push_back(std::complex<T>(i.input(j)));
  const Executor executor = Executor::open("sim:trn2");
  Description d = dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = batch});
  d.precision = mode;
  const Plan<T> plan(executor, d);
  const auto dx = Array<std::complex<T>>::from_host(executor, {n * batch}, x);
  const Array<std::complex<T>> dy(executor, {n * batch});
  Recorder recorder(executor);
  plan.execute(dx.view(), dy.view());
  EXPECT_EQ(recorder.family_of("fft.c2c"), "device");
  const auto y = dy.to_host();
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::vector<Wide> in(x.begin() + b * n, x.begin() + (b + 1) * n), got(y.begin() + b * n, y.begin() + (b + 1) * n);
    const std::vector<Wide> want = wide_transform(in, Direction::Forward);
    const double error = distance(got, want) / norm(want);
    EXPECT_LE(error, std::min(b == 0 ? of_noise : of_any, plan.accuracy().bound)) << name(mode) << ", n = " << n << ", " << inputs[static_cast<std::size_t>(b)].name;
  }
}

// One step, two steps, three with a table, and Bluestein's convolution.
TEST(DeviceInputs, ExactKeepsTheLastBits) {
  for (const std::int64_t n : {97, 1024, 20480, 1021, 4099}) expect_inputs<double>(n, Mode::Exact, 5e-16, 5e-16);
}

// The limits of inputs other than noise lie far below the proven bounds and are estimates, not proofs. In fp32 sums of up to 128 terms are added in a row, and of equal terms the roundings do not cancel: a mean of u/4 of the growing sum for each is 128 u/8 =
// 9.5e-7 of a whole one, where noise has a third of that. Words of bfloat16 have their own rests: twice 4 * 2^-24, data and matrix, of a point that outweighs all others.
TEST(DeviceInputs, Native) {
  for (const std::int64_t n : {97, 128, 1024, 4096, 1021}) expect_inputs<float>(n, Mode::Native, 5e-7, 9.5e-7);
}
TEST(DeviceInputs, Tf32x3) {
  for (const std::int64_t n : {97, 128, 1024, 4096, 1021}) expect_inputs<float>(n, Mode::Tf32x3, 5e-7, 9.5e-7);
}
TEST(DeviceInputs, Bf16x6) {
  for (const std::int64_t n : {97, 128, 1024, 4096, 1021}) expect_inputs<float>(n, Mode::Bf16x6, 1.6e-7, 4.8e-7);
}

}  // namespace
}  // namespace trn::fft::device_test

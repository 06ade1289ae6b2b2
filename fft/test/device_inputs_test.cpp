// Inputs on which errors could gather, in every mode of the devices: one point alone, nothing but equal points, single
// frequencies, alternating signs, one point far above the others, magnitudes from 1 to the smallest. Each is one
// transform of a batch and has a relative L2 error of its own, against long double.
#include <functional>
#include <trn/tile/words.hpp>

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
  const auto spike = [=](std::int64_t at) {
    return [=](std::int64_t j) { return j == at ? z : std::complex<double>(0); };
  };
  const auto tone = [=](std::int64_t k) {
    return [=](std::int64_t j) { return std::complex<double>(turn(j * k, n, Direction::Inverse)); };
  };
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
    const std::vector<Wide> in(x.begin() + b * n, x.begin() + (b + 1) * n),
        got(y.begin() + b * n, y.begin() + (b + 1) * n);
    const std::vector<Wide> want = wide_transform(in, Direction::Forward);
    const double error = distance(got, want) / norm(want);
    EXPECT_LE(error, std::min(b == 0 ? of_noise : of_any, plan.accuracy().bound))
        << name(mode) << ", n = " << n << ", " << inputs[static_cast<std::size_t>(b)].name;
  }
}

// One step, two steps, three with a table, and Bluestein's convolution.
TEST(DeviceInputs, ExactKeepsTheLastBits) {
  for (const std::int64_t n : {97, 1024, 20480, 1021, 4099}) expect_inputs<double>(n, Mode::Exact, 5e-16, 5e-16);
}

// The float modes are held to the plan's bound, which is proven for every input: K products summed in a row cost at
// most K u of the result's norm, because the partial sums of all results are themselves a transform of the first points
// (lines_error_bound). Nothing smaller holds for all of these inputs: of equal points partial sum i is i/K of the last
// one and its rounding may have the same sign for every i, K u/2 altogether, which is half the bound of a step; what
// happens is a tenth of that, because roundings differ. Noise has independent partial sums, of which sum i is sqrt(i/K)
// of the last in the mean, so that K roundings of variance u^2/3 at most add up to sqrt(K/6) u. A step sums K = 2 * 128
// products at most, real and imaginary parts of x, and its constants are off by u/sqrt(3) in the mean, once per step,
// as are twiddles, thrice: with s steps sqrt(s (256/6 + 4/3)) u. Products of words err in the mean by a third of
// product_error at most. Bluestein's transforms are two, and the second one works on vectors up to twice as long as the
// result.
double of_noise(std::int64_t n, Mode mode) {
  const double steps = n <= 128 ? 1 : 2, words = tile::words_of(mode).product_error / 3;
  return std::sqrt(steps * (256.0 / 6 + 4.0 / 3) * 0x1p-48 + 2 * steps * words * words) *
         (n == 1021 ? std::sqrt(1.0 + 4) : 1);
}
constexpr double kOfAny = 1;  // the plan's bound alone

TEST(DeviceInputs, FloatModesKeepTheirBounds) {
  for (const Mode mode : {Mode::Native, Mode::Tf32x3, Mode::Bf16x6}) {
    for (const std::int64_t n : {97, 128, 1024, 4096, 1021}) expect_inputs<float>(n, mode, of_noise(n, mode), kOfAny);
  }
}

}  // namespace
}  // namespace trn::fft::device_test

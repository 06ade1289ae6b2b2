// The device kernel does not depend on the order its parallel parts run in, touches nothing twice, and means what the
// algorithm means: Shuffled, race-checked, Wide and stochastic runs of the same programs.
#include "gemm_support.hpp"

#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/sim.hpp>

namespace trn::blas::test {
namespace {

using neuron::Order;
using neuron::SimOptions;

template <class In, class Out> struct Problem {
  GemmShape shape;
  std::vector<In> a, b;
  std::vector<Out> c0;
  float beta_value = 0;

  Problem(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed, bool b_transposed, float beta) {
    shape = {dtype_of<In>, dtype_of<Out>, m, n, k};
    shape.am = a_transposed ? 1 : k;
    shape.ak = a_transposed ? m : 1;
    shape.bk = b_transposed ? 1 : n;
    shape.bn = b_transposed ? k : 1;
    shape.cm = n;
    shape.cn = 1;
    shape.beta = beta == 0 ? Factor::Zero : Factor::Input;
    beta_value = beta;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    const auto draw = [&](auto& v, std::int64_t count) {
      v.resize(static_cast<std::size_t>(count));
      for (auto& x : v) x = element<std::decay_t<decltype(x)>>(normal(random));
    };
    draw(a, m * k);
    draw(b, k * n);
    draw(c0, m * n);
  }

  std::vector<Out> run(const char* machine_name, const SimOptions& options) {
    const tile::Machine& machine = tile::machine(machine_name);
    std::vector<Out> c = c0;
    std::vector<tile::Binding> bindings{{"a", a.data()}, {"b", b.data()}, {"c", c.data()}};
    if (beta_value != 0) {
      bindings.push_back({"c_in", c.data()});
      bindings.push_back({"beta", &beta_value});
    }
    (void)neuron::simulate(gemm_program(shape, machine), machine, bindings, options);
    return c;
  }
};

template <class T> bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

template <class In, class Out> void twenty_seeds(Problem<In, Out> p) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    const auto in_order = p.run(machine, {.order = Order::in_order()});
    EXPECT_TRUE(same_bits(in_order, p.run(machine, {.order = Order::timed()}))) << machine;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      EXPECT_TRUE(same_bits(in_order, p.run(machine, {.order = Order::shuffled(seed)}))) << machine << " seed " << seed;
    }
  }
}

TEST(GemmOrder, ShuffledEqualsInOrderFp32) { twenty_seeds(Problem<float, float>(260, 1100, 300, false, true, 0)); }
TEST(GemmOrder, ShuffledEqualsInOrderBf16) {
  twenty_seeds(Problem<bfloat16, bfloat16>(600, 1030, 260, false, false, 0.5f));
}

TEST(GemmOrder, NoTwoParallelIterationsTouchTheSameBytes) {
  for (const char* machine : {"trn1", "trn2"}) {
    for (const bool t : {false, true}) {
      Problem<float, float> p(260, 1100, 300, t, t, 0.5f);
      EXPECT_NO_THROW((void)p.run(machine, {.order = Order::in_order(), .check_races = true})) << machine;
    }
  }
}

// Products of few terms run side by side in parts of the array: no order changes them, and their bits are those of a C
// small enough to be multiplied in the whole array.
TEST(GemmOrder, ShortSumsSideBySide) {
  for (const std::int64_t k : {20, 50}) {
    Problem<float, float> p(260, 2100, k, false, false, 0), one(128, 512, k, false, false, 0);
    for (const char* machine : {"trn1", "trn2"}) {
      const auto c = p.run(machine, {.order = Order::in_order(), .check_races = true});
      EXPECT_TRUE(same_bits(c, p.run(machine, {.order = Order::shuffled(3)}))) << machine;
      for (std::int64_t i = 0; i < 128; ++i) {
        for (std::int64_t j = 0; j < k; ++j)
          one.a[static_cast<std::size_t>(i * k + j)] = p.a[static_cast<std::size_t>((i + 130) * k + j)];
      }
      for (std::int64_t j = 0; j < k; ++j) std::copy_n(p.b.begin() + j * 2100 + 1500, 512, one.b.begin() + j * 512);
      const auto small = one.run(machine, {.order = Order::in_order()});
      for (std::int64_t i = 0; i < 128; ++i) {
        EXPECT_EQ(std::memcmp(&c[static_cast<std::size_t>((i + 130) * 2100 + 1500)],
                              &small[static_cast<std::size_t>(i * 512)], 512 * 4),
                  0)
            << machine << " row " << i;
      }
    }
  }
}

// Wide storage removes every rounding on the chip: what is left is the rounding of C itself.
TEST(GemmOrder, WideIsTheAlgorithmWithoutRounding) {
  Problem<float, float> p(130, 140, 513, false, true, 0.5f);
  const auto wide = p.run("trn2", {.storage = neuron::Storage::Wide, .order = Order::in_order()});
  double worst = 0;
  for (std::int64_t i = 0; i < 130; ++i) {
    for (std::int64_t j = 0; j < 140; ++j) {
      Quad sum = 0;
      for (std::int64_t k = 0; k < 513; ++k)
        sum +=
            static_cast<Quad>(p.a[static_cast<std::size_t>(i * 513 + k)]) * p.b[static_cast<std::size_t>(j * 513 + k)];
      sum += static_cast<Quad>(0.5) * p.c0[static_cast<std::size_t>(i * 140 + j)];
      const double exact = static_cast<double>(sum);
      worst = std::max(worst, std::abs(wide[static_cast<std::size_t>(i * 140 + j)] - exact) / std::abs(exact));
    }
  }
  EXPECT_LE(worst, 0x1p-24 * (1 + 1e-6));
}

// Stochastic rounding is unbiased and reproducible: the mean over seeds approaches the unrounded value.
TEST(GemmOrder, StochasticRoundingIsSeededAndUnbiased) {
  Problem<bfloat16, bfloat16> p(64, 64, 100, false, false, 0);
  Problem<bfloat16, float> wide(64, 64, 100, false, false, 0);  // same operands: same generator, same order
  const auto exact = wide.run("trn2", {});
  const auto options = [](std::uint64_t seed) {
    return SimOptions{.rounding = neuron::Rounding::Stochastic, .rounding_seed = seed};
  };
  EXPECT_TRUE(same_bits(p.run("trn2", options(1)), p.run("trn2", options(1))));
  EXPECT_FALSE(same_bits(p.run("trn2", options(1)), p.run("trn2", options(2))));
  constexpr int kSeeds = 64;
  std::vector<double> mean(exact.size(), 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto c = p.run("trn2", options(static_cast<std::uint64_t>(seed)));
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(c[i]) / kSeeds;
  }
  // One rounding moves a value by at most 2^-7 relative, variance at most a quarter of that squared; the average bias
  // over n elements and s seeds has standard deviation below 2^-8 / sqrt(n s).
  double bias = 0;
  for (std::size_t i = 0; i < mean.size(); ++i)
    bias += (mean[i] - static_cast<double>(exact[i])) / std::abs(static_cast<double>(exact[i])) /
            static_cast<double>(mean.size());
  EXPECT_LE(std::abs(bias), 5 * 0x1p-8 / std::sqrt(static_cast<double>(mean.size()) * kSeeds));
}

// The stated performance of the kernel on trn2, modelled, launch overhead included.
TEST(GemmModel, ReachesItsShareOfTheTensorEnginePeak) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto fraction = [&](DType dtype, std::int64_t n, bool a_transposed) {
    GemmShape s{dtype, dtype, n, n, n, n, 1, n, 1, n, 1};
    if (a_transposed) std::swap(s.am, s.ak);
    return neuron::estimate(gemm_program(s, trn2), trn2).tensor_roof_fraction();
  };
  for (const bool t : {false, true}) {
    EXPECT_GE(fraction(DType::BFloat16, 4096, t), 0.95) << t;
    EXPECT_GE(fraction(DType::BFloat16, 2048, t), 0.88) << t;  // the first window of the limiter runs cold
    EXPECT_GE(fraction(DType::Float32, 4096, t), 0.95) << t;
  }
  EXPECT_GE(fraction(DType::TFloat32, 4096, false), 0.815);
}

// Sums of few terms are bound by the stores of C, 164 us at 4096 x 4096 in float32; C of few columns by the loads of A,
// 182 us.
TEST(GemmModel, SkinnyProducts) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto seconds = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return neuron::estimate(gemm_program({DType::Float32, DType::Float32, m, n, k, k, 1, n, 1, n, 1}, trn2), trn2)
        .seconds;
  };
  for (const std::int64_t k : {16, 32, 64}) EXPECT_LE(seconds(4096, 4096, k), 222e-6) << k;
  EXPECT_LE(seconds(4096, 16, 4096), 240e-6);
  EXPECT_LE(seconds(4096, 64, 4096), 285e-6);
  EXPECT_LE(seconds(16, 4096, 4096), 292e-6);
}

}  // namespace
}  // namespace trn::blas::test

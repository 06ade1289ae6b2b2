// Planar complex arithmetic on simulated devices against long double: within the header's bounds, for every layout, at
// the ends of the range, in any order of execution, and as NKI text.
#include <limits>
#include <numeric>
#include <trn/fft/complex_arithmetic.hpp>
#include <trn/fft/elementwise_program.hpp>
#include <trn/fft/frequencies.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/launch.hpp>

#include "fft_support.hpp"
#include "support/nki_run.hpp"

namespace trn::fft::test {
namespace {

using C = std::complex<float>;
using LC = std::complex<long double>;
constexpr double u = 0x1p-24;
constexpr float kInf = std::numeric_limits<float>::infinity();

class ComplexOnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  const Executor e_ = Executor::open(GetParam());
  PlanarArray<float> planar(const Shape& shape, const std::vector<C>& z) const {
    return to_planar(e_, Array<C>::from_host(e_, shape, z));
  }
  // What `call` returns; its kernels ran on the device, nothing on the host.
  template <class F> auto observed(F call, const char* operation = "fft.elementwise") const {
    Recorder device(e_), host(Executor::host());
    auto y = call();
    EXPECT_EQ(device.family_of(operation), "device");
    EXPECT_GE(device.count(EventKind::Run), 1);
    EXPECT_EQ(host.count(EventKind::Dispatch), 0);
    return y;
  }
  std::vector<C> pairs(const PlanarArray<float>& y) const { return to_interleaved(e_, y).to_host(); }
};

TEST_P(ComplexOnDevice, ElementwiseWithinBounds) {
  std::vector<std::int64_t> sizes{1, 2, 127, 128, 129, 511, 513, 2048, 2049, 5000};
  if (std::string(GetParam()) == "sim:trn1") sizes.push_back(128 * 1024 + 77);  // whole tiles where SBUF is smallest
  for (const std::int64_t n : sizes) {
    const auto a = random_complex<float>(n, 1), b = random_complex<float>(n, 2);
    const auto pa = planar({n}, a), pb = planar({n}, b);
    const auto check = [&](const char* what, const PlanarArray<float>& y, auto exact, double bound) {
      const auto z = pairs(y);
      for (std::size_t i = 0; i < z.size(); ++i) {
        const LC want = exact(LC(a[i]), LC(b[i]));
        ASSERT_LE(std::abs(LC(z[i]) - want), bound * std::abs(want))
            << what << " of " << a[i] << ", " << b[i] << ", " << n;
      }
    };
    check(
        "add", observed([&] { return add(e_, pa, pb); }), [](LC x, LC y) { return x + y; }, u);
    check(
        "subtract", observed([&] { return subtract(e_, pa, pb); }), [](LC x, LC y) { return x - y; }, u);
    check(
        "multiply", observed([&] { return multiply(e_, pa, pb); }), [](LC x, LC y) { return x * y; },
        std::sqrt(8.0) * u * 1.0001);
    check(
        "multiply_conjugate", observed([&] { return multiply_conjugate(e_, pa, pb); }),
        [](LC x, LC y) { return x * std::conj(y); }, std::sqrt(8.0) * u * 1.0001);
    check(
        "divide", observed([&] { return divide(e_, pa, pb); }), [](LC x, LC y) { return x / y; }, 7 * u);
    check(
        "conj", observed([&] { return conj(e_, pa); }), [](LC x, LC) { return std::conj(x); }, 0);
    const auto moduli = observed([&] { return abs(e_, pa); }), angles = observed([&] { return angle(e_, pa); });
    const auto m = moduli.to_host(), t = angles.to_host();
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_LE(std::abs(m[i] - std::abs(LC(a[i]))), 2 * u * m[i] * 1.0001) << a[i];
      ASSERT_LE(std::abs(t[i] - std::arg(LC(a[i]))), 8 * u * std::abs(t[i])) << a[i];
    }
    check(
        "from_polar", observed([&] { return from_polar(e_, moduli, angles); }), [](LC x, LC) { return x; }, 16 * u);
  }
}

// Exact moduli and angles of every octant and size, also where the angle is far from zero.
TEST_P(ComplexOnDevice, PolarOverItsRange) {
  std::vector<float> modulus, angle;
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    modulus.push_back(std::ldexp(1 + static_cast<float>(random()) * 0x1p-32f, static_cast<int>(random() % 60) - 30));
    const double size = std::ldexp(1 + static_cast<double>(random()) * 0x1p-32, static_cast<int>(random() % 40) - 27);
    angle.push_back(static_cast<float>(random() % 2 ? size : -size));
  }
  for (int k = -40; k <= 40; ++k) modulus.push_back(3), angle.push_back(static_cast<float>(k * std::acos(-1.0) / 4));
  for (const int k : {5000, 10000, 10429})
    modulus.push_back(1), angle.push_back(static_cast<float>(k * std::acos(-1.0) / 2));
  const auto n = static_cast<std::int64_t>(angle.size());
  const auto y = pairs(observed([&] {
    return from_polar(e_, Array<float>::from_host(e_, {n}, modulus), Array<float>::from_host(e_, {n}, angle));
  }));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double r = modulus[i], t = angle[i];
    ASSERT_LE(std::abs(LC(y[i]) - LC(r * std::cos(t), r * std::sin(t))), 4 * u * r) << angle[i];
  }
  const std::vector<float> far{16385.0f, -3e9f, kInf, std::nanf("")}, one(4, 1.0f);
  for (const C& z :
       pairs(from_polar(e_, Array<float>::from_host(e_, {4}, one), Array<float>::from_host(e_, {4}, far)))) {
    EXPECT_TRUE(std::isnan(z.real()) && std::isnan(z.imag())) << z;
  }
}

// Numbers whose squares, products or quotients of parts leave the range although the result does not.
TEST_P(ComplexOnDevice, NothingOverflowsOnTheWay) {
  const float big = std::numeric_limits<float>::max(), small = std::numeric_limits<float>::min(),
              tiny = std::numeric_limits<float>::denorm_min();
  std::vector<C> a{{big, big}, {big, -big / 2}, {small, small}, {big / 4, 1}, {1, 1},
                   {tiny, 0},  {1, 0},          {big, 0},       {0, 0}},
      b{{big, big},   {big, big},     {small, -small}, {small, big}, {big / 2, big / 2},
        {tiny, tiny}, {small * 4, 0}, {1.5f, -0.5f},   {big, small}};
  std::mt19937 random(11);
  const auto any = [&] {
    const float v = std::ldexp(1 + static_cast<float>(random()) * 0x1p-32f, static_cast<int>(random() % 250) - 125);
    return random() % 2 ? v : -v;
  };
  for (int i = 0; i < 3000; ++i) {
    const float x = any(), y = any();
    const int near = static_cast<int>(random() % 5) - 2;
    a.emplace_back(x, random() % 3 == 0 ? y : std::ldexp(y / std::abs(y), std::ilogb(x) + near));
    b.emplace_back(y, random() % 3 == 0 ? x : std::ldexp(x / std::abs(x), std::ilogb(y) + near));
  }
  const auto n = static_cast<std::int64_t>(a.size());
  const auto pa = planar({n}, a), pb = planar({n}, b);
  const auto q = pairs(divide(e_, pa, pb));
  const auto m = abs(e_, pa).to_host(), t = angle(e_, pa).to_host();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const LC exact = LC(a[i]) / LC(b[i]);  // long double has the range
    if (std::abs(exact) < big) {
      ASSERT_LE(std::abs(LC(q[i]) - exact), 7 * u * std::abs(exact) + 2.0L * tiny) << a[i] << " / " << b[i];
    }
    const long double size = std::abs(LC(a[i])), turn = std::arg(LC(a[i]));
    if (size < big) {
      ASSERT_LE(std::abs(m[i] - size), 2 * u * size * 1.0001L + tiny) << a[i];
    }
    ASSERT_LE(std::abs(t[i] - turn), 8 * u * std::abs(turn) + tiny) << a[i];
  }
}

TEST_P(ComplexOnDevice, InfinitiesZerosAndSigns) {
  const auto q = pairs(divide(e_, planar({5}, {{1, 1}, {kInf, 0}, {1, 0}, {0, 0}, {-2, kInf}}),
                              planar({5}, {{0, 0}, {1, 1}, {kInf, kInf}, {0, 0}, {4, 0}})));
  EXPECT_TRUE(std::isinf(q[0].real()) && std::isinf(q[0].imag()));
  EXPECT_TRUE(std::isinf(q[1].real()) || std::isinf(q[1].imag()));
  EXPECT_EQ(std::abs(q[2]), 0.0f);
  EXPECT_TRUE(std::isnan(q[3].real()) && std::isnan(q[3].imag()));
  EXPECT_EQ(q[4].imag(), kInf);
  const std::vector<C> z{{0, 0},  {-0.0f, 0},    {0, -0.0f},    {-0.0f, -0.0f}, {-1, 0},       {-1, -0.0f}, {0, 2},
                         {0, -2}, {kInf, 3e38f}, {3e38f, kInf}, {-kInf, kInf},  {kInf, -kInf}, {1, -kInf},  {-kInf, 1}};
  const auto pz = planar({static_cast<std::int64_t>(z.size())}, z);
  const auto t = angle(e_, pz).to_host(), m = abs(e_, pz).to_host();
  for (std::size_t i = 0; i < z.size(); ++i) {
    const float want = std::atan2(z[i].imag(), z[i].real());
    EXPECT_LE(std::abs(t[i] - want), 8 * u * std::abs(want)) << z[i];
    EXPECT_EQ(std::signbit(t[i]), std::signbit(want)) << z[i];
    EXPECT_EQ(m[i], std::hypot(z[i].real(), z[i].imag())) << z[i];
  }
  const float nan = std::nanf("");
  const auto none = planar({2}, {{nan, 1}, {1, nan}}), one = planar({2}, {{1, 1}, {1, 1}});
  for (const float v : abs(e_, none).to_host()) EXPECT_TRUE(std::isnan(v));
  for (const float v : angle(e_, none).to_host()) EXPECT_TRUE(std::isnan(v));
  for (const C& v : pairs(divide(e_, none, one))) EXPECT_TRUE(std::isnan(v.real()) && std::isnan(v.imag()));
}

TEST_P(ComplexOnDevice, BroadcastsAndViews) {
  const auto a = random_complex<float>(3 * 150 * 7, 3), b = random_complex<float>(150, 4);
  const auto pa = planar({3, 150, 7}, a), pb = planar({150, 1}, b);
  const auto z = pairs(observed([&] { return multiply(e_, pa, pb); }));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const LC want = LC(a[i]) * LC(b[i / 7 % 150]);
    ASSERT_LE(std::abs(LC(z[i]) - want), 3 * u * std::abs(want)) << i;
  }
  // Transposed, backwards, and every second element; pairs seen as two views.
  const auto view = [&](const Array<float>& x) {
    return View<const float>(e_, x.data() + 149 * 7, {4, 150, 3}, {2, -7, 150 * 7});
  };
  const auto c = pairs(observed([&] { return conj(e_, PlanarView<const float>{view(pa.re), view(pa.im)}); }));
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t x = i / 450, y = i / 3 % 150, w = i % 3;
    ASSERT_EQ(c[i], std::conj(a[w * 1050 + (149 - y) * 7 + 2 * x])) << i;
  }
  const auto whole = Array<C>::from_host(e_, {3 * 150 * 7}, a);
  const auto* reals = reinterpret_cast<const float*>(whole.data());
  const PlanarView<const float> interleaved{View<const float>(e_, reals, {3150}, {2}),
                                            View<const float>(e_, reals + 1, {3150}, {2})};
  EXPECT_EQ(pairs(add(e_, interleaved, interleaved)), pairs(add(e_, planar({3150}, a), planar({3150}, a))));
  EXPECT_EQ(add(e_, planar({0, 4}, {}), planar({4}, random_complex<float>(4, 1))).shape(), (Shape{0, 4}));
  // Rank 0, and rows longer than a tile.
  EXPECT_EQ(pairs(conj(e_, planar({}, {{1, 2}}))), (std::vector<C>{{1, -2}}));
  const auto wide = random_complex<float>(70 * 1500, 5);
  const auto w = pairs(subtract(e_, planar({70, 1500}, wide), planar({1500}, {wide.begin(), wide.begin() + 1500})));
  for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(w[i], wide[i] - wide[i % 1500]) << i;
}

TEST_P(ComplexOnDevice, MatrixProduct) {
  const std::int64_t m = 37, k = 130, n = 21;
  const auto a = random_complex<float>(m * k, 5), b = random_complex<float>(k * n, 6);
  const auto pa = planar({m, k}, a), pb = planar({k, n}, b);
  double norm_a = 0, norm_b = 0;
  for (const auto& z : a) norm_a += std::norm(z);
  for (const auto& z : b) norm_b += std::norm(z);
  for (const bool three : {false, true}) {
    const auto y =
        pairs(observed([&] { return matmul(e_, pa, pb, {three ? Products::Three : Products::Four}); }, "blas.gemm"));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        LC sum = 0;
        long double moduli = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const LC x(a[static_cast<std::size_t>(i * k + l)]), w(b[static_cast<std::size_t>(l * n + j)]);
          sum += x * w;
          moduli += std::abs(x) * std::abs(w);
        }
        const double limit = three ? 4 * (k + 6) * u * std::sqrt(norm_a * norm_b)
                                   : (2 * k + 2) * std::sqrt(2.0) * u * static_cast<double>(moduli);
        ASSERT_LE(std::abs(LC(y[static_cast<std::size_t>(i * n + j)]) - sum), limit) << i << "," << j;
      }
    }
  }
}

TEST_P(ComplexOnDevice, DoublePrecision) {
  const auto z = random_complex<double>(6, 1);
  const auto there = to_planar(e_, Array<std::complex<double>>::from_host(e_, {2, 3}, z));
  EXPECT_EQ(to_interleaved(e_, there).to_host(), z);
  EXPECT_IN("fft.multiply: executor 'sim:trn", message_of<NotImplemented>([&] { (void)multiply(e_, there, there); }));
  EXPECT_IN("computes this in float32 only", message_of<NotImplemented>([&] { (void)abs(e_, there); }));
  EXPECT_IN("fft.from_polar", message_of<NotImplemented>([&] { (void)from_polar(e_, there.re, there.im); }));
  const auto square = to_planar(e_, Array<std::complex<double>>::from_host(e_, {2, 2}, {z.begin(), z.begin() + 4}));
  EXPECT_IN("three products", message_of<NotImplemented>([&] { (void)matmul(e_, square, square, {Products::Three}); }));
  const auto y = to_interleaved(e_, matmul(e_, square, square)).to_host();  // exact mode of trnblas
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const LC want = LC(z[2 * i]) * LC(z[j]) + LC(z[2 * i + 1]) * LC(z[2 + j]);
      EXPECT_LE(std::abs(LC(y[2 * i + j]) - want), 1e-14L) << i << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Simulators, ComplexOnDevice, ::testing::Values("sim:trn1", "sim:trn2", "sim:trn3"),
                         [](const auto& machine) { return std::string(machine.param).substr(4); });

// Programs with a loop, a ragged rest and different forms of operands.
std::vector<ElementwiseShape> shapes() {
  std::vector<ElementwiseShape> all;
  const ElementSide pairs{ElementForm::Interleaved, {2 * 300, 2}}, planes{ElementForm::Planar, {300, 1}},
      real{ElementForm::Real, {300, 1}};
  const ElementSide row{ElementForm::Planar, {0, 1}}, real_row{ElementForm::Real, {0, 1}},
      real_column{ElementForm::Real, {1, 0}};
  for (const ComplexOp op : {ComplexOp::Add, ComplexOp::Multiply, ComplexOp::MultiplyConjugate, ComplexOp::Divide})
    all.push_back({op, {150, 300}, planes, row, pairs});
  all.push_back({ComplexOp::Multiply, {150, 300}, real, real_column, real});
  all.push_back({ComplexOp::Conjugate, {150, 300}, pairs, {}, planes});
  all.push_back({ComplexOp::Abs, {150, 300}, pairs, {}, real});
  all.push_back({ComplexOp::Angle, {150, 300}, planes, {}, real});
  all.push_back({ComplexOp::FromPolar, {150, 300}, real, real_row, pairs});
  return all;
}

std::vector<std::vector<float>> run(const ElementwiseShape& s, const char* name, const neuron::SimOptions& options) {
  const tile::Machine& machine = tile::machine(name);
  const std::vector<C> x = random_complex<float>(2 * 150 * 300 + 1000, 9);
  std::vector<std::vector<float>> memory(6);
  std::vector<tile::Binding> bindings;
  const auto bind = [&](const char* operand, const ElementSide& side, std::size_t at, std::size_t from) {
    for (std::size_t part = 0; part < (side.form == ElementForm::Planar ? 2 : 1); ++part) {
      std::vector<float>& plane = memory[at + part];
      plane.resize(2 * 150 * 300);
      for (std::size_t i = 0; i < plane.size(); ++i)
        plane[i] = at == 4 ? -1 : part == 0 ? x[i + from].real() : x[i].imag();
      bindings.push_back(
          {side.form == ElementForm::Planar ? std::string(operand) + (part == 0 ? "_re" : "_im") : operand,
           plane.data()});
    }
  };
  bind("a", s.a, 0, 0);
  if (!s.b.strides.empty()) bind("b", s.b, 2, 1000);
  bind("out", s.out, 4, 0);
  (void)neuron::simulate(elementwise_program(s, machine), machine, bindings, options);
  return memory;
}

TEST(ElementwiseProgram, AnyOrderGivesTheSameBits) {
  for (const ElementwiseShape& s : shapes()) {
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      const auto reference = run(s, machine, {.order = neuron::Order::in_order()});
      for (std::uint64_t seed = 1; seed <= (machine[3] == '2' ? 4 : 1); ++seed)
        EXPECT_TRUE(run(s, machine, {.order = neuron::Order::shuffled(seed)}) == reference)
            << static_cast<int>(s.op) << " seed " << seed;
      if (machine[3] == '2') (void)run(s, machine, {.order = neuron::Order::in_order(), .check_races = true});
    }
  }
}

TEST(ElementwiseProgram, IsAFunctionOfItsShape) {
  const tile::Machine& machine = tile::machine("trn2");
  for (const ElementwiseShape& s : shapes())
    EXPECT_EQ(elementwise_program(s, machine), elementwise_program(s, machine));
  EXPECT_IN(
      "mixture of real and complex", message_of<InvalidArgument>([&] {
        (void)elementwise_program(
            {ComplexOp::Divide, {4}, {ElementForm::Real, {1}}, {ElementForm::Real, {1}}, {ElementForm::Real, {1}}},
            machine);
      }));
}

TEST(ElementwiseProgram, NkiGivesTheSimulatorsBits) {
  const ElementSide pairs{ElementForm::Interleaved, {2 * 20, 2}}, planes{ElementForm::Planar, {20, 1}},
      real{ElementForm::Real, {20, 1}};
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    for (const ComplexOp op : {ComplexOp::Add, ComplexOp::Multiply, ComplexOp::Divide})
      neuron::testing::expect_agreement(elementwise_program({op, {130, 20}, planes, pairs, planes}, machine));
    neuron::testing::expect_agreement(
        elementwise_program({ComplexOp::Conjugate, {130, 20}, pairs, {}, planes}, machine));
    neuron::testing::expect_agreement(elementwise_program({ComplexOp::Abs, {130, 20}, pairs, {}, real}, machine));
    neuron::testing::expect_agreement(elementwise_program({ComplexOp::Angle, {130, 20}, planes, {}, real}, machine));
    neuron::testing::expect_agreement(
        elementwise_program({ComplexOp::FromPolar, {130, 20}, real, real, planes}, machine));
    const Move turned{{130, 20}, {40, 2}, {1, 131}, 1, false}, zeros{{3, 2000}, {}, {4000, 2}, 2, true},
        few_rows{{50, 3, 40}, {150, 50, 1}, {120, 40, 1}, 1, false};
    neuron::testing::expect_agreement(move_program({{turned, zeros, few_rows}}, machine));
  }
}

// The result in the memory of one operand, of the other, of both.
TEST(ElementwiseProgram, InPlace) {
  const ElementSide pairs{ElementForm::Interleaved, {2 * 20, 2}}, planes{ElementForm::Planar, {20, 1}};
  const tile::Machine& machine = tile::machine("trn2");
  for (const int over : {1, 2, 3}) {
    const ElementwiseShape s{ComplexOp::Multiply, {130, 20}, pairs, pairs, pairs, (over & 1) != 0, (over & 2) != 0};
    neuron::testing::expect_agreement(elementwise_program(s, machine));
  }
  neuron::testing::expect_agreement(
      elementwise_program({ComplexOp::Conjugate, {130, 20}, planes, {}, planes, true}, machine));

  const Executor e = Executor::open("sim:trn2");
  std::vector<float> x(300);
  std::iota(x.begin(), x.end(), -150.0F);
  const auto a = Array<float>::from_host(e, {300}, x);
  const ElementSide real{ElementForm::Real, {1}};
  const auto square = [&](bool declared) {
    const ElementwiseShape s{ComplexOp::Multiply, {300}, real, real, real, declared, declared};
    tile::launch(e, elementwise_program(s, machine),
                 std::vector<tile::Argument>{{"a", a.view().data()}, {"b", a.view().data()}, {"out", a.view().data()}});
  };
  EXPECT_IN("share memory, which the program does not declare", message_of<InvalidArgument>([&] { square(false); }));
  EXPECT_EQ(a.to_host(), x);
  square(true);
  for (float& v : x) v *= v;
  EXPECT_EQ(a.to_host(), x);
}

// What is one run of memory on both sides is a copy of the executor; the rest of a call is one program.
TEST(Moves, ContiguousOnesAreCopies) {
  const Executor e = Executor::open("sim:trn2");
  const auto shifted = [&](const Shape& shape, int copies, int runs) {
    std::vector<float> x(static_cast<std::size_t>(element_count(shape)));
    std::iota(x.begin(), x.end(), 0.0F);
    const auto given = Array<float>::from_host(e, shape, x);
    const Recorder events(e);
    const auto y = fftshift(e, given);
    EXPECT_EQ(events.count(EventKind::Copy, "sim:trn2 -> sim:trn2"), copies);
    EXPECT_EQ(events.count(EventKind::Run) - events.count(EventKind::Run, "copy_within"), runs);
    EXPECT_GT(events.modelled_seconds(), 0);
    EXPECT_EQ(events.family_of("fft.move"), "device");
    EXPECT_EQ(y.to_host(), fftshift(Executor::host(), Array<float>::from_host(Executor::host(), shape, x)).to_host());
  };
  shifted({1001}, 2, 0);
  shifted({5, 4}, 0, 1);
  shifted({1, 4}, 2, 0);
}

}  // namespace
}  // namespace trn::fft::test

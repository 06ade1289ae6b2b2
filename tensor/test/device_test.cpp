// trntensor on simulated devices: einsums, permutations, elementwise operations and reductions against long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <trn/neuron/sim.hpp>
#include <trn/tensor/elementwise.hpp>

#include "random_case.hpp"

namespace trn::tensor {
namespace {

using testing::Placed;
using testing::RandomCase;
using testing::RandomMaker;
using testing::RandomOptions;
using testing::Sample;
using testing::violation;

const std::vector<DType> kTypes = {DType::Float32, DType::Float32, DType::Complex64, DType::BFloat16, DType::Float16};

void run(const char* executor, std::uint64_t first, int count, const RandomOptions& options, Mode mode = Mode::Native) {
  const Executor device = Executor::open(executor);
  int wrong = 0;
  for (int i = 0; i < count && wrong < 3; ++i) {
    RandomCase r = RandomMaker(first + static_cast<std::uint64_t>(i), options).make();
    std::string what;
    try {
      what = violation(r, nullptr, device, mode).value_or("");
    } catch (const std::exception& e) {
      what = e.what();
    }
    if (what.empty()) continue;
    ++wrong;
    ADD_FAILURE() << executor << " seed " << first + static_cast<std::uint64_t>(i) << ": " << what << "\n" << r.what;
  }
}

TEST(DeviceEinsum, AllPatternsAndTypes) { run("sim:trn2", 1, 250, {.most_products = 2000, .types = kTypes}); }
TEST(DeviceEinsum, TwoOperandsAcrossTiles) {
  run("sim:trn2", 5000, 60, {.most_operands = 2, .most_labels = 5, .most_products = 60000, .types = kTypes});
}
TEST(DeviceEinsum, OtherMachines) {
  run("sim:trn1", 7000, 30, {.most_products = 2000, .types = kTypes});
  run("sim:trn3", 8000, 30, {.most_products = 2000, .types = kTypes});
}
TEST(DeviceEinsum, EveryMode) {
  for (const Mode mode : {Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6})
    run("sim:trn2", 9000, 25, {.most_products = 4000, .types = {DType::Float32, DType::Complex64}}, mode);
}

Sample dense(DType type, const Shape& shape, std::mt19937_64& random) {
  return testing::sample(type, shape, row_major_strides(shape), testing::Values{random});
}

// D = alpha einsum + beta D on an executor; the bits of D.
std::vector<std::byte> bits(const Executor& executor, const std::string& text, std::vector<Sample> operands, Sample d,
                            Scalars scalars, Mode mode) {
  Description what;
  std::vector<std::int64_t> ranks;
  std::vector<Placed> placed;
  std::vector<TypedView> views;
  for (Sample& s : operands) {
    placed.emplace_back(s, executor);
    ranks.push_back(static_cast<std::int64_t>(s.shape.size()));
  }
  for (const Placed& p : placed) {
    views.push_back(p.view());
    what.operands.push_back(operand_of(views.back()));
  }
  const Placed out(d, executor);
  what.expression = parse(text, ranks);
  what.output = operand_of(out.view());
  what.precision = mode;
  Plan(executor, what).execute(views, out.view(), scalars);
  out.fetch();
  return d.bytes;
}

// Tiles of 128 and banks of 512 are crossed by groups of several indices.
TEST(DeviceEinsum, LargerThanATile) {
  std::mt19937_64 random(3);
  struct Case {
    const char* text;
    Shape a, b, d;
  };
  for (const Case& c :
       {Case{"aebf,dfce->abcd", {13, 12, 11, 14}, {5, 14, 7, 12}, {13, 11, 7, 5}},
        Case{"aebf,dfce->abcd", {12, 10, 11, 14}, {10, 14, 13, 10}, {12, 11, 13, 10}},  // permuted first
        Case{"abk,kc->cab", {20, 30, 40}, {40, 3}, {3, 20, 30}},
        Case{"akb,ck->cba", {41, 30, 37}, {5, 30}, {5, 37, 41}},  // long against short, permuted on its way
        Case{"dabfe,fc->edcba", {5, 12, 7, 33, 9}, {33, 3}, {9, 5, 3, 7, 12}},
        Case{"hak,hkb->hab", {3, 129, 130}, {3, 130, 9}, {3, 129, 9}},
        Case{"ki,kj->ij", {700, 3}, {700, 515}, {3, 515}}}) {
    std::vector<Sample> operands = {dense(DType::Float32, c.a, random), dense(DType::Float32, c.b, random)};
    Sample d = dense(DType::Float32, c.d, random);
    const Expression e = parse(c.text);
    const Sizes sizes = sizes_of(e, std::vector<Shape>{c.a, c.b});
    const testing::Exact exact = testing::oracle(e, sizes, operands, {false, false});
    Sample got = d;
    got.bytes = bits(Executor::open("sim:trn2"), c.text, operands, d, {2, 1}, Mode::Native);
    for (std::size_t i = 0; i < exact.values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const long double want = 2 * exact.values[i].real() + d.at(at).real();
      const long double scale = 2 * exact.absolute[i] + std::abs(d.at(at).real());
      ASSERT_LE(std::abs(got.at(at).real() - want), 200 * 0x1p-24L * scale) << c.text << " " << i;
    }
  }
}

// Longer than a device's sums: parts are added in the same order everywhere.
TEST(DeviceEinsum, ExactOfLongSums) {
  std::mt19937_64 random(5);
  const std::vector<Sample> operands = {dense(DType::Float64, {2, 70000}, random),
                                        dense(DType::Float64, {3, 70000}, random)};
  const Sample d = dense(DType::Float64, {3, 2}, random);
  const auto run = [&](const Executor& e) { return bits(e, "ik,jk->ji", operands, d, {1.5, -0.5}, Mode::Exact); };
  Sample got = d;
  got.bytes = run(Executor::host());
  EXPECT_EQ(run(Executor::open("sim:trn2")), got.bytes);
  const testing::Exact exact = testing::oracle(parse("ik,jk->ji"), Sizes{2, 70000, 3}, operands, {false, false});
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const long double want = 1.5L * exact.values[at].real() - 0.5L * d.at(i).real();
    EXPECT_LE(std::abs(got.at(i).real() - want), 12 * 0x1p-53L * 1.5L * exact.absolute[at]) << i;
  }
}

TEST(DeviceEinsum, ExactHasTheHostsBits) {
  std::mt19937_64 random(4);
  for (const DType type : {DType::Float64, DType::Complex128, DType::Float32}) {
    const std::vector<Sample> operands = {dense(type, {3, 4, 5, 6}, random), dense(type, {2, 6, 7, 4}, random)};
    const Sample d = dense(type, {3, 5, 7, 2}, random);
    const auto run = [&](const Executor& e) {
      return bits(e, "aebf,dfce->abcd", operands, d, {1.5, -0.5}, Mode::Exact);
    };
    EXPECT_EQ(run(Executor::open("sim:trn2")), run(Executor::host())) << name(type);
  }
  const std::vector<Sample> chain = {dense(DType::Float64, {3, 4}, random), dense(DType::Float64, {4, 5, 2}, random),
                                     dense(DType::Float64, {2, 5, 6}, random)};
  const Sample d = dense(DType::Float64, {6, 3}, random);
  const auto run = [&](const Executor& e) { return bits(e, "ij,jkl,lkm->mi", chain, d, {1, 0}, Mode::Exact); };
  EXPECT_EQ(run(Executor::open("sim:trn2")), run(Executor::host()));
}

// A plan is one program and one launch; any order of its independent parts gives the same bits.
TEST(DeviceEinsum, OneLaunchAndTheSameBitsInAnyOrder) {
  std::mt19937_64 random(5);
  const std::vector<Sample> operands = {dense(DType::Float32, {9, 5, 7}, random),
                                        dense(DType::Float32, {7, 9, 6}, random),
                                        dense(DType::Float32, {6, 140}, random)};
  const Sample d = dense(DType::Float32, {140, 5}, random);
  const auto run = [&](const Executor& e) { return bits(e, "abc,cad,de->eb", operands, d, {1, 1}, Mode::Native); };
  const Executor device = Executor::open("sim:trn2");
  const Recorder recorder(device);
  const auto timed = run(device);
  EXPECT_EQ(recorder.family_of("tensor.contract"), "device");
  EXPECT_EQ(recorder.count(EventKind::Run), 1);
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(run(neuron::open_simulator("trn2", {.order = neuron::Order::shuffled(seed)})), timed);
  EXPECT_EQ(run(neuron::open_simulator("trn2", {.check_races = true})), timed);
}

TEST(DeviceEinsum, Gradients) {
  std::mt19937_64 random(9);
  const Executor device = Executor::open("sim:trn2");
  Sample a = dense(DType::Float32, {6, 6, 7}, random), b = dense(DType::Float32, {7, 9}, random),
         w = dense(DType::Float32, {6, 9}, random), g = dense(DType::Float32, {6, 6, 7}, random);
  const Placed pa(a, device), pb(b, device), pw(w, device), pg(g, device);
  (void)einsum_gradient(device, "iij,jk->ik", std::vector<TypedView>{pa.view(), pb.view()}, 0, pw.view(), pg.view());
  pg.fetch();
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t h = 0; h < 6; ++h) {
      for (std::int64_t j = 0; j < 7; ++j) {
        long double want = 0;
        for (std::int64_t k = 0; i == h && k < 9; ++k) want += w.at(i * 9 + k).real() * b.at(j * 9 + k).real();
        EXPECT_NEAR(static_cast<double>(g.at((i * 6 + h) * 7 + j).real()), static_cast<double>(want), 1e-5);
      }
    }
  }
}

TEST(DevicePermute, MovesEveryElementOfEveryType) {
  std::mt19937_64 random(6);
  const Executor device = Executor::open("sim:trn2");
  const Recorder recorder(device);
  for (const DType type : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::BFloat16}) {
    for (const Shape& shape : {Shape{3, 17, 2, 40}, Shape{130, 1, 33, 5}}) {
      Sample a = dense(type, shape, random);
      std::vector<Label> order = {0, 1, 2, 3};
      for (int times = 0; times < 8; ++times) {
        std::shuffle(order.begin(), order.end(), random);
        Shape out;
        std::string text = "abcd->";
        for (const Label l : order)
          out.push_back(shape[static_cast<std::size_t>(l)]), text += static_cast<char>('a' + l);
        Sample d = dense(type, out, random), want = d;
        const Placed from(a, device), to(d, device);
        permute(device, text, from.view(), to.view());
        to.fetch();
        permute(Executor::host(), text, a.view(), want.view());  // which tests of its own hold against loops
        EXPECT_EQ(d.bytes, want.bytes) << text << " " << name(type);
      }
    }
  }
  EXPECT_EQ(recorder.family_of("tensor.permute"), "device");
}

TEST(DevicePermute, Padding) {
  std::mt19937_64 random(10);
  const Executor device = Executor::open("sim:trn2");
  for (const DType type : {DType::Float32, DType::Float64, DType::BFloat16}) {
    Sample a = dense(type, {5, 7}, random), d = dense(type, {10, 6}, random), want = d;
    const PermuteOptions options{.pad_left = {1, 0}, .pad_right = {2, 1}, .pad_value = 2.5};
    const Placed from(a, device), to(d, device);
    permute(device, "ab->ba", from.view(), to.view(), options);
    to.fetch();
    permute(Executor::host(), "ab->ba", a.view(), want.view(), options);
    EXPECT_EQ(d.bytes, want.bytes) << name(type);
  }
}

TEST(DeviceElementwise, OperatorsScalesAndBroadcasts) {
  std::mt19937_64 random(7);
  const Executor device = Executor::open("sim:trn2");
  Sample a = dense(DType::Float32, {7, 5, 150}, random), b = dense(DType::BFloat16, {150, 7}, random),
         d = dense(DType::Float32, {5, 7, 150}, random);
  a.set(3, {NAN, 0});
  const Placed pa(a, device), pb(b, device), pd(d, device);
  const Recorder recorder(device);
  elementwise(device, "bac,cb->abc", Binary::Max, {pa.view(), pb.view()}, pd.view(),
              {.unary = {Unary::Abs, Unary::Neg}, .scale = {2.0, 0.5}});
  pd.fetch();
  EXPECT_EQ(recorder.family_of("tensor.elementwise"), "device");
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 7; ++j) {
      for (std::int64_t k = 0; k < 150; ++k) {
        const long double x = 2 * std::abs(a.at((j * 5 + i) * 150 + k).real()), y = -0.5L * b.at(k * 7 + j).real();
        const long double got = d.at((i * 7 + j) * 150 + k).real();
        if (std::isnan(x))
          EXPECT_TRUE(std::isnan(got));
        else
          EXPECT_EQ(got, std::max(x, y)) << i << " " << j << " " << k;
      }
    }
  }
  // Functions of the Scalar Engine, within what the host's give in fp32 and a few units.
  for (const Unary op : {Unary::Exp, Unary::Tanh, Unary::Sigmoid, Unary::Atan, Unary::Relu, Unary::Softplus}) {
    Sample x = dense(DType::Float32, {300}, random), y = x, z = x;
    const Placed px(x, device), py(y, device);
    elementwise(device, "i->i", Binary::Add, {px.view()}, py.view(), {.unary = {op}});
    py.fetch();
    elementwise(Executor::host(), "i->i", Binary::Add, {x.view()}, z.view(), {.unary = {op}});
    for (std::int64_t i = 0; i < 300; ++i)
      EXPECT_LE(std::abs(y.at(i) - z.at(i)), 8 * 0x1p-23 * std::abs(z.at(i)) + 1e-7L) << name(op) << " " << i;
  }
  // Whole numbers exactly, also where every float is one, and at the edges between.
  for (const Unary op : {Unary::Floor, Unary::Ceil, Unary::Softsign}) {
    Sample x = dense(DType::Float32, {20}, random);
    const double values[] = {0.0,  0.5,       -0.5,       0.99999994, -0.99999994, 1.5,       2.5,
                             -2.5, 4194303.5, -4194303.5, 8388607.5,  -8388607.5,  8388608.0, -8388609.0,
                             1e30, -1e30,     INFINITY,   -INFINITY,  NAN,         3.0};
    for (std::int64_t i = 0; i < 20; ++i) x.set(i, values[i]);
    Sample y = x, z = x;
    const Placed px(x, device), py(y, device);
    elementwise(device, "i->i", Binary::Add, {px.view()}, py.view(), {.unary = {op}});
    py.fetch();
    elementwise(Executor::host(), "i->i", Binary::Add, {x.view()}, z.view(), {.unary = {op}});
    for (std::int64_t i = 0; i < 20; ++i) {
      const long double got = y.at(i).real(), want = z.at(i).real();
      if (std::isnan(want) || op != Unary::Softsign)
        EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << name(op) << " " << values[i];
      else
        EXPECT_LE(std::abs(got - want), 4 * 0x1p-24L * std::abs(want)) << name(op) << " " << values[i];
    }
  }
  Sample wide = dense(DType::Float64, {4}, random), to = wide;
  const Placed pw(wide, device), pt(to, device);
  EXPECT_THROW(elementwise(device, "i->i", Binary::Add, {pw.view()}, pt.view(), {.unary = {Unary::Neg}}),
               NotImplemented);
  EXPECT_THROW(permute(device, "bac->abc", pa.view(), pd.view(), {.unary = Unary::Acosh}), NotImplemented);
}

TEST(DeviceReduce, SumsProductsAndExtremes) {
  std::mt19937_64 random(8);
  const Executor device = Executor::open("sim:trn2");
  const Recorder recorder(device);
  struct Case {
    const char* text;
    Shape a, d;
  };
  for (const Case& c : {Case{"abc->b", {6, 40, 9}, {40}}, Case{"ab->a", {140, 2100}, {140}},
                        Case{"ab->b", {300, 520}, {520}}, Case{"ab->", {33, 65}, {}}, Case{"aab->b", {4, 4, 5}, {5}}}) {
    for (const Binary op : {Binary::Add, Binary::Mul, Binary::Max, Binary::Min}) {
      Sample a = dense(DType::Float32, c.a, random), d = dense(DType::Float32, c.d, random);
      if (op == Binary::Mul) {
        for (std::int64_t i = 0; i < element_count(c.a); ++i) a.set(i, 1 + a.at(i).real() / 4096);
      }
      const Sample before = d;
      const Placed pa(a, device), pd(d, device);
      reduce(device, op, c.text, pa.view(), pd.view(), {.alpha = 2, .beta = 1});
      pd.fetch();
      Array<double> in(Executor::host(), c.a), out(Executor::host(), c.d);
      for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<double>(a.at(i).real());
      reduce(Executor::host(), op, c.text, in.view(), out.view());
      const double terms = static_cast<double>(element_count(c.a)) / static_cast<double>(element_count(c.d));
      for (std::int64_t i = 0; i < out.size(); ++i) {
        const double exact = 2 * out.data()[i] + static_cast<double>(before.at(i).real());
        const double scale = op == Binary::Add ? 4 * terms : std::abs(exact) + 8;
        EXPECT_NEAR(static_cast<double>(d.at(i).real()), exact, (terms + 4) * 0x1p-24 * scale)
            << c.text << " " << name(op);
      }
    }
  }
  EXPECT_EQ(recorder.family_of("tensor.reduce"), "device");
}

}  // namespace
}  // namespace trn::tensor

// The integers that the program of Precision Exact puts together from residues, word by word, against schoolbook
// products: every number of moduli, sums as large as the moduli have room for, and extents across the edges of banks,
// groups and tiles.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include <trn/blas/exact_program.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/allocate.hpp>

namespace trn::blas {
namespace {

// sum over l of digit[l] 2^(24 l), eight digits: 192 bits.
using Digits = std::array<std::int64_t, 8>;

// Each digit but the last brought into [0, 2^24): equal integers have equal digits.
Digits normal(Digits x) {
  for (std::size_t l = 0; l + 1 < x.size(); ++l) {
    const std::int64_t carry = x[l] >> 24;
    x[l] -= carry * (1 << 24);
    x[l + 1] += carry;
  }
  return x;
}

// += a b, for |a|, |b| < 2^62, by digits of 24 bits. Fewer than 2^12 terms.
void add_product(Digits& x, std::int64_t a, std::int64_t b) {
  const auto split = [](std::int64_t v) {
    return std::array<std::int64_t, 3>{v & 0xffffff, v >> 24 & 0xffffff, v >> 48};
  };
  const auto p = split(a), q = split(b);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) x[i + j] += p[i] * q[j];
  }
  x = normal(x);
}

struct Case {
  int moduli;
  std::int64_t m, n, k;
  bool lower = false, same = false;
  int limbs = 4;
  bool turned = false;  // B is stored by rows: the Tensor Engine turns it where it can
};

// Integers of as many bits as fit, in float64: the first row and column hold the largest ones, so that element (0, 0)
// is as large as 0.499 P allows; the second column is minus the first.
class Operands {
 public:
  explicit Operands(const Case& c) : c_(c) {
    const std::vector<float> table = exact_table(c.moduli, 4);
    double room = -1.003 - std::log2(static_cast<double>(c.k));
    for (int i = 0; i < c.moduli; ++i)
      room += std::log2(-static_cast<double>(table[static_cast<std::size_t>(4 * c.moduli + i)]));
    const int bits = static_cast<int>(std::floor(room));
    const int most = c.limbs == 2 ? 38 : c.limbs == 3 ? 55 : 62;
    bits_a_ = std::min(most, bits / 2), bits_b_ = std::min(most, bits - bits_a_);
    std::mt19937_64 random(static_cast<std::uint64_t>(1000 * c.moduli + c.n));
    for (std::int64_t e = 0; e < c.m * c.k; ++e) a.push_back(draw(bits_a_, e < c.k, random));
    if (c.same) b = a;
    for (std::int64_t e = 0; e < c.n * c.k && !c.same; ++e)
      b.push_back(e / c.k == 1 ? -b[static_cast<std::size_t>(e - c.k)] : draw(bits_b_, e < c.k, random));
    for (std::int64_t e = 0; e < c.n * c.k && c.turned; ++e)
      rows_of_b.push_back(b[static_cast<std::size_t>(e % c.n * c.k + e / c.n)]);
  }
  [[nodiscard]] Digits element(std::int64_t i, std::int64_t j) const {
    Digits x{};
    for (std::int64_t p = 0; p < c_.k; ++p) {
      add_product(x, static_cast<std::int64_t>(a[static_cast<std::size_t>(i * c_.k + p)]),
                  static_cast<std::int64_t>(b[static_cast<std::size_t>(j * c_.k + p)]));
    }
    return x;
  }

  std::vector<double> a, b, rows_of_b;  // rows of A, columns of B

 private:
  // Below 2^bits in magnitude and a float64: of 62 bits the last nine are zero.
  static double draw(int bits, bool largest, std::mt19937_64& random) {
    const int tail = std::max(0, bits - 53);
    const std::int64_t top = (std::int64_t{1} << (bits - tail)) - 1;
    const std::int64_t v = largest ? top : std::uniform_int_distribution<std::int64_t>(-top, top)(random);
    return std::ldexp(static_cast<double>(v), tail);
  }

  Case c_;
  int bits_a_ = 1, bits_b_ = 1;
};

void check(const Case& c, const char* name, const neuron::SimOptions& options) {
  SCOPED_TRACE(::testing::Message() << name << ": " << c.moduli << " moduli, " << c.limbs << " limbs, " << c.m << " x "
                                    << c.n << " x " << c.k << (c.lower ? " lower" : "") << (c.same ? " same" : ""));
  const tile::Machine& machine = tile::machine(name);
  const Operands x(c);
  ExactShape s{DType::Float64, c.moduli, c.m, c.n, c.k};
  s.am = c.k, s.ak = 1, s.bk = 1, s.bn = c.k;
  s.lower = c.lower, s.same = c.same, s.limbs = c.limbs;
  if (c.turned) s.bk = c.n, s.bn = 1;
  const tile::Program program = exact_program(s, machine);
  std::vector<float> offsets(static_cast<std::size_t>(c.same ? c.m : c.m + c.n), -1075 + 32 + 127),
      table = exact_table(c.moduli, c.limbs);
  std::vector<float16> weights = exact_weights(c.moduli, machine);
  std::int64_t count = 0;
  for (const tile::TensorDecl& t : program.tensors()) count = t.name == "limbs" ? t.shape[1] : count;
  std::vector<float> limbs(static_cast<std::size_t>(c.m * count * c.n));
  std::vector<tile::Binding> bindings{{"a", const_cast<double*>(x.a.data())},
                                      {"offsets", offsets.data()},
                                      {"table", table.data()},
                                      {"weights", weights.data()},
                                      {"limbs", limbs.data()}};
  if (!c.same) bindings.push_back({"b", const_cast<double*>(c.turned ? x.rows_of_b.data() : x.b.data())});
  (void)neuron::simulate(program, machine, bindings, options);
  // Every element of small results, a sample of large ones.
  const std::int64_t step = std::max<std::int64_t>(1, c.m * c.n / 4000) | 1;
  for (std::int64_t e = 0; e < c.m * c.n; e += step) {
    const std::int64_t i = e / c.n, j = e % c.n;
    if (c.lower && j > i) continue;
    Digits got{};
    for (std::int64_t l = 0; l < count; ++l) {
      const float limb =
          limbs[static_cast<std::size_t>(s.by_columns() ? (j * count + l) * c.m + i : (i * count + l) * c.n + j)];
      ASSERT_EQ(limb, std::nearbyint(limb));
      ASSERT_LT(std::abs(limb), 0x1p24F);
      got[static_cast<std::size_t>(l)] = static_cast<std::int64_t>(limb);
    }
    ASSERT_EQ(normal(got), x.element(i, j)) << i << ", " << j;
  }
}

TEST(ExactRecombination, EveryNumberOfModuli) {
  for (int moduli = 1; moduli <= 20; ++moduli)
    check({moduli, 3, 5, 11}, moduli % 2 == 0 ? "trn2" : "trn3", {.order = neuron::Order::in_order()});
}

// Numbers below 2^38 and 2^55 have two and three limbs: the largest moduli, sums of limbs that fill 24 bits.
TEST(ExactRecombination, EveryNumberOfLimbs) {
  const neuron::SimOptions in_order{.order = neuron::Order::in_order()};
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const int limbs : {2, 3}) {
      check({.moduli = 11, .m = 3, .n = 5, .k = 11, .limbs = limbs}, machine, in_order);
      check({.moduli = 20, .m = 40, .n = 7, .k = 200, .limbs = limbs}, machine, in_order);
    }
  }
  check({.moduli = 18, .m = 130, .n = 70, .k = 140, .limbs = 3}, "trn2", {.order = neuron::Order::shuffled(5)});
  check({.moduli = 6, .m = 130, .n = 70, .k = 140, .limbs = 2}, "trn2", {.order = neuron::Order::shuffled(6)});
  check({.moduli = 17, .m = 60, .n = 60, .k = 140, .lower = true, .same = true, .limbs = 3}, "trn3", in_order);
}

// The sums of limbs times units modulo p, which fp32 adds exactly. A number up to 2^55 is m2 2^39 + m1 2^22 + m0, with
// |m2| <= 2^16, |m1| <= 2^16 + 2^13 + 2^7 by the top piece, the middle one and the last, |m0| <= 2^21 + 2^17.
TEST(ExactRecombination, SumsOfLimbsAreExact) {
  for (const int limbs : {2, 3}) {
    const std::vector<float> table = exact_table(20, limbs);
    for (std::size_t i = 0; i < 20; ++i) {
      const double c1 = std::abs(table[i]) * 0x1p22, c2 = std::abs(table[20 + i]) * 0x1p39;
      EXPECT_EQ(c2 != 0, limbs == 3);
      EXPECT_EQ(table[40 + i], 0.0F);
      EXPECT_LT(c1 * (0x1p16 + 0x1p13 + 0x1p7) + c2 * 0x1p16 + 0x1p21 + 0x1p17, 0x1p24);
    }
  }
}

TEST(ExactRecombination, AcrossTheEdges) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const Case& c :
         {Case{16, 129, 31, 3}, Case{17, 127, 33, 3}, Case{3, 2, 129, 2}, Case{9, 130, 161, 1}, Case{20, 1, 127, 2}}) {
      check(c, machine, {.order = neuron::Order::in_order()});
    }
  }
  // More rows of C than one load holds, all columns of a tile and some of the next, and several groups of moduli beside
  // the products.
  check({8, 2200, 130, 2}, "trn2", {.order = neuron::Order::in_order()});
  check({8, 514, 1030, 513}, "trn2", {.order = neuron::Order::in_order()});
}

// Sums of more than 2048 products, reduced in between.
TEST(ExactRecombination, SeveralChunksOfK) {
  for (const std::int64_t k : {2047, 2048, 2049, 4096})
    check({12, 2, 3, k}, "trn2", {.order = neuron::Order::in_order()});
}

// Two panels or more: the last moduli go panel by panel, and a panel is recombined beside the products of the next,
// which may be a narrow rest, have one, two or several chunks of k, or rows that fill no block.
TEST(ExactRecombination, BesideTheLastProducts) {
  const neuron::SimOptions in_order{.order = neuron::Order::in_order()};
  check({6, 1024, 1025, 3}, "trn2", in_order);
  check({.moduli = 7, .m = 1100, .n = 1030, .k = 130, .limbs = 3}, "trn3", in_order);
  check({16, 1024, 1541, 2}, "trn1", in_order);
  check({6, 1026, 1030, 2049}, "trn2", in_order);
  check({6, 513, 520, 6200}, "trn2", in_order);  // panels of 256
  check({6, 1024, 1030, 5}, "trn2", {.order = neuron::Order::shuffled(4)});
  check({.moduli = 6, .m = 1030, .n = 1024, .k = 129, .limbs = 3}, "trn2",
        {.order = neuron::Order::in_order(), .check_races = true});
}

// Four panels or more: the left side is sliced panel by panel beside the first products, with a rest of columns, rows
// that fill no block, one chunk of k and two, and runs of eight blocks that share k.
TEST(ExactRecombination, SlicedBesideTheFirstProducts) {
  const neuron::SimOptions in_order{.order = neuron::Order::in_order()};
  check({.moduli = 6, .m = 600, .n = 2049, .k = 5, .limbs = 3}, "trn2", in_order);
  check({.moduli = 2, .m = 8200, .n = 2048, .k = 1026, .limbs = 2}, "trn2", in_order);
  check({.moduli = 2, .m = 520, .n = 2050, .k = 2051, .limbs = 3}, "trn3", in_order);
  const Case turned{.moduli = 7, .m = 600, .n = 2100, .k = 640, .limbs = 3, .turned = true};
  check(turned, "trn2", {.order = neuron::Order::shuffled(7)});
  const Case by_columns{.moduli = 6, .m = 2060, .n = 520, .k = 130, .limbs = 3};
  check(by_columns, "trn2", {.order = neuron::Order::in_order(), .check_races = true});
  check({.moduli = 3, .m = 520, .n = 2060, .k = 130, .limbs = 3}, "trn1", {.order = neuron::Order::shuffled(8)});
}

TEST(ExactRecombination, NoOrderAndNoRaceChangesIt) {
  const Case c{3, 514, 513, 520};
  for (const std::uint64_t seed : {1, 2}) check(c, "trn2", {.order = neuron::Order::shuffled(seed)});
  check(c, "trn2", {.order = neuron::Order::in_order(), .check_races = true});
}

// A triangle alone, and a product with its own transpose.
TEST(ExactRecombination, Triangles) {
  const neuron::SimOptions in_order{.order = neuron::Order::in_order()};
  for (const std::int64_t n : {1, 130}) {
    check({7, n, n, 9, true, false}, "trn2", in_order);
    check({7, n, n, 9, true, true}, "trn3", in_order);
    check({6, n, n, 9, false, true}, "trn1", in_order);
  }
  check({2, 2100, 2100, 1, true, false}, "trn3", {.order = neuron::Order::shuffled(3)});  // two strips
  check({2, 2100, 2100, 129, true, true}, "trn2", {.order = neuron::Order::in_order(), .check_races = true});
}

// A product with its own transpose makes half of the residues and five eighths of the blocks. Of other triangles the
// residues bind: they gain where the products are many.
TEST(ExactModel, TrianglesTakeLessTime) {
  const tile::Machine& machine = tile::machine("trn2");
  const auto seconds = [&](std::int64_t n, std::int64_t k, bool lower, bool same) {
    ExactShape s{DType::Float64, 16, n, n, k};
    s.am = k, s.bn = k, s.lower = lower, s.same = same, s.limbs = exact_limbs(16, k);
    return neuron::estimate(exact_program(s, machine), machine).seconds;
  };
  const double whole = seconds(4096, 4096, false, false), same = seconds(4096, 4096, true, true);
  EXPECT_LE(seconds(4096, 4096, true, false), 1.001 * whole);
  EXPECT_LT(same, 25.3e-3);
  EXPECT_LT(same, 0.7 * whole) << whole << " " << same;
  EXPECT_LT(seconds(8192, 1024, true, false), 0.9 * seconds(8192, 1024, false, false));
}

// Every number of moduli fits in the memory of every machine, in shapes with whole blocks and a rest.
TEST(ExactRecombination, FitsEveryMachine) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    for (int moduli = 1; moduli <= 20; ++moduli) {
      ExactShape s{moduli % 2 == 0 ? DType::Float64 : DType::Complex128, moduli, 1100, 1100, 4200};
      s.am = s.k, s.bk = s.n;
      const tile::Machine& machine = tile::machine(name);
      EXPECT_NO_THROW((void)tile::allocate(exact_program(s, machine), machine)) << name << " " << moduli;
    }
  }
}

}  // namespace
}  // namespace trn::blas

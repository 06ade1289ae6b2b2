// The product kernel does not depend on the order its parallel parts run in and touches nothing twice; its emitted NKI
// text gives the simulator's bits; and it is as fast, modelled, as the documentation says.
#include "product_support.hpp"
#include "support/nki_run.hpp"

namespace trn::blas::test::product {
namespace {

using neuron::Order;

// One problem of every sort: words, planes, groups, triangles, structures.
std::vector<Problem> sorts(std::int64_t scale) {
  std::vector<Problem> all;
  const auto make = [&](DType type, Mode mode, std::int64_t m, std::int64_t n, std::int64_t k, Order2 a = Order2::Row,
                        Order2 b = Order2::Row) -> Problem& {
    all.push_back(Problem::make(type, mode, m * scale, n * scale, k * scale, a, b, all.size() + 1));
    all.back().set_factors(is_complex(type) ? std::complex<float>(0.5f, 0.25f) : std::complex<float>(0.5f), 0.75f);
    return all.back();
  };
  make(DType::Float32, Mode::Tf32x3, 70, 140, 90);
  make(DType::Float32, Mode::Bf16x6, 70, 140, 90, Order2::Column, Order2::Column);
  make(DType::Float32, Mode::Bf16, 70, 66, 70);
  make(DType::Complex64, Mode::Native, 66, 70, 40);
  make(DType::Complex64, Mode::Tf32x3, 40, 70, 66).shape.three_products = true;
  Problem& herk = make(DType::Complex64, Mode::Native, 70, 70, 30);
  herk.shape.region = Region::Lower, herk.shape.hermitian = herk.shape.conj_b = herk.shape.same_operand = true;
  herk.set_factors(0.5f, 0.75f);
  Problem& syrk = make(DType::Float32, Mode::Tf32x3, 80, 80, 30, Order2::Column);
  syrk.shape.region = Region::Upper, syrk.shape.same_operand = true;
  Problem& hemm = make(DType::Complex64, Mode::Native, 66, 30, 66);
  hemm.shape.a_structure = Structure::Hermitian, hemm.shape.stored = Region::Lower;
  Problem& trmm = make(DType::Float32, Mode::Native, 30, 80, 80);
  trmm.shape.b_structure = Structure::Triangular, trmm.shape.stored = Region::Upper, trmm.shape.unit_diagonal = true;
  trmm.set_factors(0.5f, 0.0f);
  return all;
}

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST(ProductOrder, ShuffledEqualsInOrder) {
  for (const Problem& p : sorts(2)) {
    for (const char* machine : kMachines) {
      const auto in_order = p.run(machine);
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        EXPECT_TRUE(same_bits(in_order, p.run(machine, {.order = Order::shuffled(seed)})))
            << p.describe() << " on " << machine << " seed " << seed;
      }
    }
  }
}

TEST(ProductOrder, NoTwoParallelIterationsTouchTheSameBytes) {
  for (const Problem& p : sorts(4))
    EXPECT_NO_THROW((void)p.run("trn2", {.order = Order::in_order(), .check_races = true})) << p.describe();
}

TEST(ProductNki, EmittedKernelsGiveTheSimulatorsBits) {
  int i = 0;
  for (const Problem& p : sorts(1)) {
    SCOPED_TRACE(p.describe());
    neuron::testing::expect_agreement(p.program(kMachines[i++ % 3]));
  }
}

// Square products of size n on trn2; seconds, launch included.
double seconds(DType type, Mode mode, std::int64_t n, bool a_turned, bool b_turned, Region region = Region::All,
               bool three = false) {
  const std::int64_t e = is_complex(type) ? 2 : 1;
  GemmShape s{type, type, n, n, n};
  s.am = (a_turned ? 1 : n) * e, s.ak = (a_turned ? n : 1) * e, s.bk = (b_turned ? 1 : n) * e,
  s.bn = (b_turned ? n : 1) * e, s.cm = n * e, s.cn = e;
  s.mode = mode, s.region = region, s.same_operand = region != Region::All, s.three_products = three;
  return neuron::estimate(gemm_program(s, tile::machine("trn2")), tile::machine("trn2")).seconds;
}

TEST(ProductModel, Tf32x3IsFasterThanNative) {
  const double flops = 2.0 * 4096 * 4096 * 4096;
  EXPECT_GE(flops / seconds(DType::Float32, Mode::Tf32x3, 4096, false, false), 21.5e12);
  EXPECT_GE(flops / seconds(DType::Float32, Mode::Tf32x3, 4096, true, false), 23e12);
  EXPECT_GE(flops / seconds(DType::Float32, Mode::Bf16x6, 4096, true, false), 8e12);
}

TEST(ProductModel, RankKTakesLittleMoreThanHalfOfGemm) {
  for (const bool turned : {false, true}) {  // C = A A^T and C = A^T A
    const double native = seconds(DType::Float32, Mode::Native, 4096, turned, !turned, Region::Lower) /
                          seconds(DType::Float32, Mode::Native, 4096, turned, !turned);
    const double split = seconds(DType::Float32, Mode::Tf32x3, 4096, turned, !turned, Region::Lower) /
                         seconds(DType::Float32, Mode::Tf32x3, 4096, turned, !turned);
    EXPECT_LE(native, 0.56) << turned;
    EXPECT_LE(split, 0.61) << turned;
  }
  EXPECT_LE(seconds(DType::Complex64, Mode::Native, 2048, false, true, Region::Upper) /
                seconds(DType::Complex64, Mode::Native, 2048, false, true),
            0.60);
}

TEST(ProductModel, ComplexByFourAndThreeProducts) {
  const double four = seconds(DType::Complex64, Mode::Native, 2048, true, false),
               three = seconds(DType::Complex64, Mode::Native, 2048, true, false, Region::All, true);
  EXPECT_GE(8.0 * 2048 * 2048 * 2048 / four, 18.5e12);
  EXPECT_LE(three / four, 0.82);
}

}  // namespace
}  // namespace trn::blas::test::product

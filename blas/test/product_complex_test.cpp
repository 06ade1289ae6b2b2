// Complex products on the device: four and three real products, every conjugation and transpose, pairs and planes.
#include "product_support.hpp"

namespace trn::blas::test::product {
namespace {

constexpr DType kC = DType::Complex64;

TEST(ProductComplex, EveryTransposeAndConjugation) {
  std::uint64_t seed = 1;
  for (const char* machine : kMachines) {
    for (const Order2 a : kOrders) {
      for (const Order2 b : kOrders) {
        for (const int conj : {0, 1, 2, 3}) {
          for (const bool three : {false, true}) {
            Problem p = Problem::make(kC, Mode::Native, 70, 66, 131, a, b, seed++);
            p.shape.conj_a = conj & 1, p.shape.conj_b = conj & 2, p.shape.three_products = three;
            p.check(machine);
          }
        }
      }
    }
  }
}

TEST(ProductComplex, EveryMode) {
  std::uint64_t seed = 100;
  for (const Mode mode : {Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6}) {
    for (const bool three : {false, true}) {
      Problem p = Problem::make(kC, mode, 140, 150, 300, three ? Order2::Column : Order2::Row, Order2::Row, seed++);
      p.shape.conj_b = three;
      p.shape.three_products = three;
      for (const char* machine : kMachines) p.check(machine);
    }
  }
}

TEST(ProductComplex, ComplexFactors) {
  std::uint64_t seed = 200;
  const std::complex<float> factors[] = {{0, 0}, {1, 0}, {-0.5f, 0}, {0.3f, -0.7f}};
  for (const std::complex<float> alpha : factors) {
    for (const std::complex<float> beta : factors) {
      if (alpha == std::complex<float>(0)) continue;
      for (const int kind : {0, 1, 2}) {
        Problem p =
            Problem::make(kC, kind == 2 ? Mode::Tf32x3 : Mode::Native, 33, 40, 29, Order2::Row, Order2::Row, seed++);
        p.shape.three_products = kind == 1;
        p.shape.conj_b = kind != 0;
        p.set_factors(alpha, beta);
        p.check("trn2");
      }
    }
  }
}

TEST(ProductComplex, Planes) {
  std::uint64_t seed = 300;
  for (const Order2 a : kOrders) {
    for (const Order2 b : kOrders) {
      for (const Mode mode : {Mode::Native, Mode::Tf32x3}) {
        Problem p = Problem::make(kC, mode, 130, 140, 135, a, b, seed++, true);
        p.set_factors({0.5f, 0.25f}, {1, 0});
        p.check("trn2");
      }
    }
  }
}

TEST(ProductComplex, ManyBlocks) {
  for (const Mode mode : {Mode::Native, Mode::Tf32x3}) {
    Problem::make(kC, mode, 300, 1100, 700, Order2::Row, Order2::Row, 401).check("trn2");
    Problem::make(kC, mode, 300, 600, 520, Order2::Column, Order2::Column, 402).check("trn1");
  }
}

}  // namespace
}  // namespace trn::blas::test::product

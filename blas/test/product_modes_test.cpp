// The split modes of the device's product: errors within their bounds, every transpose, and the claims about accuracy.
#include "product_support.hpp"

namespace trn::blas::test::product {
namespace {

constexpr Mode kModes[] = {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6};

TEST(ProductModes, EveryModeAndTranspose) {
  std::uint64_t seed = 1;
  for (const char* machine : kMachines) {
    for (const Mode mode : kModes) {
      for (const Order2 a : kOrders) {
        for (const Order2 b : kOrders) Problem::make(DType::Float32, mode, 131, 140, 300, a, b, seed++).check(machine);
      }
    }
  }
}

TEST(ProductModes, SizesAcrossTheEdges) {
  std::uint64_t seed = 100;
  for (const Mode mode : kModes) {
    for (const std::int64_t s : {1, 127, 128, 129, 513}) {
      Problem::make(DType::Float32, mode, s, 3, 5, Order2::Row, Order2::Row, seed++).check("trn2");
      Problem::make(DType::Float32, mode, 3, s, 5, Order2::Column, Order2::Row, seed++).check("trn2");
      Problem::make(DType::Float32, mode, 3, 5, s, Order2::Row, Order2::Column, seed++).check("trn2");
    }
  }
}

TEST(ProductModes, AlphaAndBeta) {
  std::uint64_t seed = 200;
  for (const Mode mode : kModes) {
    for (const float alpha : {1.0f, 0.3f}) {
      for (const float beta : {1.0f, -0.7f}) {
        Problem p = Problem::make(DType::Float32, mode, 130, 70, 140, Order2::Row, Order2::Row, seed++);
        p.set_factors(alpha, beta);
        p.check("trn2");
      }
    }
  }
}

// Several blocks of C in both directions, several chunks and groups of k, with remainders.
TEST(ProductModes, ManyBlocks) {
  for (const Mode mode : kModes) {
    Problem::make(DType::Float32, mode, 400, 1100, 1100, Order2::Row, Order2::Row, 301).check("trn2");
    Problem::make(DType::Float32, mode, 300, 600, 700, Order2::Column, Order2::Row, 302).check("trn1");
  }
}

// Tf32x3 is no less accurate than native fp32, Bf16x6 better than 1e-7, in the Frobenius norm at K = 4096.
TEST(ProductModes, AccuracyAtK4096) {
  const auto error = [](Mode mode) {
    const Problem p = Problem::make(DType::Float32, mode, 48, 64, 4096, Order2::Column, Order2::Row, 7);
    return p.compare(p.run("trn2")).relative;
  };
  const double native = error(Mode::Native), tf32x3 = error(Mode::Tf32x3), bf16x6 = error(Mode::Bf16x6);
  RecordProperty("native", std::to_string(native * 1e9));
  RecordProperty("tf32x3", std::to_string(tf32x3 * 1e9));
  RecordProperty("bf16x6", std::to_string(bf16x6 * 1e9));
  EXPECT_LE(tf32x3, native);
  EXPECT_LE(bf16x6, 1e-7);
}

}  // namespace
}  // namespace trn::blas::test::product

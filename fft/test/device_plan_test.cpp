// Plans on devices: lengths across every edge of the machine, layouts, several axes, real transforms, in place.
#include "device_plan_support.hpp"

namespace trn::fft::device_test {
namespace {

constexpr double kSingle = 1e-6;

Executor trn2() { return Executor::open("sim:trn2"); }

TEST(DevicePlan, LengthsAcrossEveryEdge) {
  for (const std::int64_t n : {1, 2, 3, 5, 31, 32, 64, 97, 127, 128, 129, 131, 243, 256, 500, 1000, 1024, 4096, 8192, 16384}) {
    expect_plan<float>(trn2(), dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = n < 300 ? 5 : 2}), kSingle);
  }
}

TEST(DevicePlan, ThreeFactorsAndMore) {
  for (const std::int64_t n : {14645, 16400, 32768, 59049}) {
    expect_plan<float>(trn2(), dense(Kind::ComplexToComplex, Direction::Inverse, {n}), kSingle);
  }
}

TEST(DevicePlan, LengthsWithLargePrimes) {
  for (const std::int64_t n : {131, 262, 509, 1021, 8209}) {
    Description d = dense(Kind::ComplexToComplex, n % 2 == 0 ? Direction::Inverse : Direction::Forward, {n}, {.batch = 3});
    d.scale = Scale::ByLength;
    expect_plan<float>(trn2(), d, 2e-6);
  }
}

TEST(DevicePlan, RealTransforms) {
  for (const std::int64_t n : {1, 2, 3, 4, 31, 64, 97, 127, 128, 129, 130, 131, 200, 243, 256, 262, 375, 1000, 16384, 32768}) {
    const DenseOptions options{.batch = n < 300 ? 5 : 2, .padded_real = n % 4 == 0};
    expect_plan<float>(trn2(), dense(Kind::RealToComplex, Direction::Forward, {n}, options), 2e-6);
    expect_plan<float>(trn2(), dense(Kind::ComplexToReal, Direction::Inverse, {n}, options), 2e-6);
  }
}

TEST(DevicePlan, SeveralAxes) {
  for (const std::vector<std::int64_t>& axes : std::vector<std::vector<std::int64_t>>{{12, 20}, {130, 7}, {3, 131}, {150, 140}, {5, 6, 7}, {64, 3, 66}}) {
    for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
      Description d = dense(kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, axes, {.batch = 2});
      d.scale = Scale::Orthonormal;
      expect_plan<float>(trn2(), d, 2e-6);
    }
  }
}

}  // namespace
}  // namespace trn::fft::device_test

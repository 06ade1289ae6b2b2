// gemm in the quantised modes against a quantiser and sums written here, in double: the numbers that are multiplied,
// the bound for what was given, the same bits on host and devices, what is not read, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <trn/blas/quantized_gemm.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/core/float_types.hpp>

#include "support/message_of.hpp"

namespace trn::blas {
namespace {

using testing_support::message_of;

// Significant bits beyond the first, exponent of the smallest normal number, the largest number, and for Mx formats the
// exponent of the largest power of two.
struct Format {
  int fraction, least;
  double largest;
  int emax;
};
Format format_of(Quantized mode) {
  switch (mode) {
    case Quantized::Fp8E4M3:
      return {3, -6, 240, 0};
    case Quantized::Fp8E4M3FN:
      return {3, -6, 448, 0};
    case Quantized::Fp8E5M2:
      return {2, -14, 57344, 0};
    case Quantized::MxFp8E4M3:
      return {3, -6, 448, 8};
    case Quantized::MxFp8E5M2:
      return {2, -14, 57344, 15};
    case Quantized::MxFp4:
      return {1, 0, 6, 2};
  }
  return {};
}
double nearest(double x, int fraction, int least) {
  if (x == 0) return 0;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), least) - fraction);
  return std::nearbyint(x / unit) * unit;
}
// A row of numbers as the mode holds them.
std::vector<double> quantised(Quantized mode, std::vector<double> row) {
  const Format f = format_of(mode);
  const bool mx = f.emax > 0;
  if (mx) {
    for (double& x : row) x = nearest(x, 7, -126);
  }
  const std::size_t group = mx ? 32 : row.size();
  for (std::size_t first = 0; first < row.size(); first += group) {
    const std::size_t end = std::min(row.size(), first + group);
    double most = 0;
    for (std::size_t i = first; i < end; ++i) most = std::max(most, std::abs(row[i]));
    if (most == 0) continue;
    double scale = std::ldexp(1.0, mx ? std::ilogb(most) - (f.emax - 1) : std::ilogb(most / f.largest));
    if (!mx && scale * f.largest < most) scale *= 2;
    for (std::size_t i = first; i < end; ++i) row[i] = scale * nearest(row[i] / scale, f.fraction, f.least);
  }
  return row;
}

struct Case {
  std::int64_t m, n, k;
  Op op_a, op_b;
  float alpha, beta;
};
struct Problem {
  Case c;
  std::vector<float> a, b, start;
  explicit Problem(const Case& given, unsigned seed = 1) : c(given) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    // Rows of different sizes, numbers of a row over eight powers of two.
    const auto fill = [&](std::vector<float>& v, std::int64_t size) {
      for (std::int64_t i = 0; i < size; ++i)
        v.push_back(std::ldexp(normal(random), static_cast<int>(random() % 8) + static_cast<int>(i / 50 % 5)));
    };
    fill(a, c.m * c.k), fill(b, c.k * c.n), fill(start, c.m * c.n);
  }
  float at_a(std::int64_t i, std::int64_t p) const {
    return a[static_cast<std::size_t>(c.op_a == Op::N ? i * c.k + p : p * c.m + i)];
  }
  float at_b(std::int64_t p, std::int64_t j) const {
    return b[static_cast<std::size_t>(c.op_b == Op::N ? p * c.n + j : j * c.k + p)];
  }
  std::vector<double> row_a(std::int64_t i) const {
    std::vector<double> row;
    for (std::int64_t p = 0; p < c.k; ++p) row.push_back(at_a(i, p));
    return row;
  }
  std::vector<double> column_b(std::int64_t j) const {
    std::vector<double> row;
    for (std::int64_t p = 0; p < c.k; ++p) row.push_back(at_b(p, j));
    return row;
  }
  std::vector<float> run(const Executor& e, Quantized mode, QuantizedAccuracy* accuracy = nullptr) const {
    const auto da = Array<float>::from_host(e, {std::ssize(a)}, a), db = Array<float>::from_host(e, {std::ssize(b)}, b),
               dc = Array<float>::from_host(e, {std::ssize(start)}, start);
    const auto view = [&](const Array<float>& x, bool as_is, std::int64_t rows, std::int64_t columns) {
      return MatrixView<const float>::row_major(e, x.data(), as_is ? rows : columns, as_is ? columns : rows);
    };
    const QuantizedAccuracy got =
        gemm(e, c.op_a, c.op_b, c.alpha, view(da, c.op_a == Op::N, c.m, c.k), view(db, c.op_b == Op::N, c.k, c.n),
             c.beta, MatrixView<float>::row_major(e, dc.data(), c.m, c.n), mode);
    if (accuracy) *accuracy = got;
    return dc.to_host();
  }
};

double norm_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}
double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

const Case kCases[] = {{5, 7, 40, Op::N, Op::N, 1, 0},
                       {33, 6, 130, Op::T, Op::N, 0.5F, 1},
                       {4, 9, 257, Op::N, Op::T, -1.5F, 0.25F},
                       {3, 3, 1, Op::C, Op::T, 1, 0}};

// C is that of the quantised operands, up to the sums' roundings, and within the bound of what was given. The largest
// share of the bound that was used goes into `used`.
void check(const char* machine, Quantized mode, double* used = nullptr) {
  SCOPED_TRACE(::testing::Message() << machine << " " << name(mode));
  const auto e = Executor::open(machine);
  for (const Case& c : kCases) {
    const Problem problem(c);
    const Recorder recorder(e);
    QuantizedAccuracy accuracy;
    const auto got = problem.run(e, mode, &accuracy);
    EXPECT_EQ(recorder.family_of(mode >= Quantized::MxFp8E4M3 ? "blas.mx_gemm" : "blas.scaled_gemm"), name(e.family()));
    EXPECT_EQ(recorder.family_of(mode >= Quantized::MxFp8E4M3 ? "blas.mx_quantize" : "blas.quantize"),
              name(e.family()));
    EXPECT_EQ(accuracy.mode, mode);
    const double es = accuracy.operands;
    EXPECT_EQ(es, quantization_error(mode, c.k));
    EXPECT_GT(accuracy.bound, 2 * es + es * es);
    EXPECT_LT(accuracy.bound, 2 * es + es * es + 1e-3);
    for (std::int64_t i = 0; i < c.m; ++i) {
      const auto row = problem.row_a(i), held_a = quantised(mode, row);
      for (std::int64_t j = 0; j < c.n; ++j) {
        const auto column = problem.column_b(j), held_b = quantised(mode, column);
        const auto at = static_cast<std::size_t>(i * c.n + j);
        const double old = c.beta == 0 ? 0 : static_cast<double>(c.beta) * problem.start[at];
        const double size = std::abs(c.alpha) * norm_of(row) * norm_of(column) + std::abs(old);
        ASSERT_NEAR(got[at], c.alpha * dot(held_a, held_b) + old, 1e-4 * size) << i << " " << j;
        const double error = std::abs(got[at] - (c.alpha * dot(row, column) + old));
        ASSERT_LE(error, accuracy.bound * size) << i << " " << j;
        if (used) *used = std::max(*used, error / size / accuracy.bound);
      }
    }
  }
}

TEST(QuantizedGemm, KeepsItsBoundOnTheHost) {
  for (const Quantized mode : all_quantized()) {
    double used = 0;
    check("host", mode, &used);
    EXPECT_GT(used, mode == Quantized::MxFp4 ? 0.01 : 0.1) << name(mode) << ": the bound says nothing";
  }
}
TEST(QuantizedGemm, RunsOnDevices) {
  check("sim:trn2", Quantized::Fp8E4M3), check("sim:trn2", Quantized::Fp8E5M2);
  check("sim:trn3", Quantized::Fp8E4M3FN), check("sim:trn3", Quantized::MxFp8E4M3);
  check("sim:trn3", Quantized::MxFp8E5M2);
}
TEST(QuantizedGemm, SameBitsEverywhere) {
  for (const auto& [machine, mode] :
       {std::pair("sim:trn2", Quantized::Fp8E4M3), std::pair("sim:trn2", Quantized::Fp8E5M2),
        std::pair("sim:trn3", Quantized::Fp8E4M3FN), std::pair("sim:trn3", Quantized::MxFp8E4M3),
        std::pair("sim:trn3", Quantized::MxFp8E5M2)}) {
    for (const Case& c : kCases) {
      const Problem problem(c, 8);
      const auto here = problem.run(Executor::host(), mode), there = problem.run(Executor::open(machine), mode);
      EXPECT_EQ(std::memcmp(here.data(), there.data(), here.size() * sizeof(float)), 0) << machine << " " << name(mode);
    }
  }
}

// Codes by hand: beside 120.5 the scale is 1, where 120.5 becomes 120 and half of the smallest step becomes nothing.
TEST(QuantizedGemm, SmallNumbersBesideALargeOneAreLost) {
  constexpr std::int64_t kK = 3000;
  std::vector<float> a(kK, 0x1p-10F), b(kK, 1);
  a[0] = 120.5F;
  std::vector<float> c(1);
  const Executor e = Executor::host();
  gemm(e, Op::N, Op::N, 1, MatrixView<const float>::row_major(e, a.data(), 1, kK),
       MatrixView<const float>::row_major(e, b.data(), kK, 1), 0, MatrixView<float>::row_major(e, c.data(), 1, 1),
       Quantized::Fp8E4M3);
  EXPECT_EQ(c[0], 120);
}

TEST(QuantizedGemm, NothingIsReadWithoutNeed) {
  for (const Quantized mode : all_quantized()) {
    Problem problem({4, 5, 40, Op::N, Op::N, 0, 0.5F});
    std::fill(problem.a.begin(), problem.a.end(), std::numeric_limits<float>::quiet_NaN());
    const auto scaled = problem.run(Executor::host(), mode);
    for (std::size_t i = 0; i < scaled.size(); ++i) EXPECT_EQ(scaled[i], 0.5F * problem.start[i]);
    problem.c.beta = 0;
    problem.start.assign(problem.start.size(), std::numeric_limits<float>::quiet_NaN());
    for (const float x : problem.run(Executor::host(), mode)) EXPECT_EQ(x, 0);
    const Problem none({4, 5, 0, Op::N, Op::N, 1, 0}), empty({0, 5, 7, Op::N, Op::N, 1, 0});
    for (const float x : none.run(Executor::host(), mode)) EXPECT_EQ(x, 0);
    EXPECT_TRUE(empty.run(Executor::host(), mode).empty());
  }
}
TEST(QuantizedGemm, NanMakesARowOfNan) {
  Problem problem({3, 4, 20, Op::N, Op::N, 1, 0});
  problem.a[25] = std::numeric_limits<float>::infinity();
  const auto got = problem.run(Executor::host(), Quantized::Fp8E4M3);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::isnan(got[i]), i / 4 == 1) << i;
}

TEST(QuantizedGemm, NamesAndRefusals) {
  for (const Quantized mode : all_quantized()) EXPECT_EQ(parse_quantized(name(mode)), mode);
  EXPECT_EQ(
      message_of<InvalidArgument>([] { (void)parse_quantized("fp8"); }),
      "'fp8' is not a quantised mode; choose one of fp8_e4m3, fp8_e4m3fn, fp8_e5m2, mxfp8_e4m3, mxfp8_e5m2, mxfp4");
  const Problem problem({3, 4, 20, Op::N, Op::N, 1, 0});
  EXPECT_THROW((void)problem.run(Executor::open("sim:trn1"), Quantized::Fp8E4M3), NotImplemented);
  EXPECT_THROW((void)problem.run(Executor::open("sim:trn2"), Quantized::Fp8E4M3FN), NotImplemented);
  EXPECT_THROW((void)problem.run(Executor::open("sim:trn2"), Quantized::MxFp8E4M3), NotImplemented);
  EXPECT_THROW((void)problem.run(Executor::open("sim:trn3"), Quantized::MxFp4), NotImplemented);
  EXPECT_THROW((void)problem.run(Executor::host(), static_cast<Quantized>(6)), InvalidArgument);
  EXPECT_THROW((void)quantization_error(Quantized::Fp8E4M3, -1), InvalidArgument);
  const Executor e = Executor::host();
  std::vector<float> x(12), y(6);
  const MatrixView<const float> a(e, x.data(), 2, 3, 3, 1), b(e, x.data(), 3, 2, 2, 1);
  const auto multiply = [&](const MatrixView<float>& c) { gemm(e, Op::N, Op::N, 1, a, b, 0, c, Quantized::Fp8E5M2); };
  EXPECT_NO_THROW(multiply({e, y.data(), 2, 2, 2, 1}));
  EXPECT_THROW(multiply({e, y.data(), 2, 3, 3, 1}), InvalidArgument);
  EXPECT_THROW(multiply({e, y.data(), 2, 2, 0, 1}), InvalidArgument);
  EXPECT_THROW(multiply({e, x.data() + 1, 2, 2, 2, 1}), InvalidArgument);
}

}  // namespace
}  // namespace trn::blas

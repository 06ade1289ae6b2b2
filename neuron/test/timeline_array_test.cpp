// Matmuls in parts of the Tensor Engine's array: what runs at the same time, and what waits. Operands are on chip and
// count as there; the first passes run at half the rate (the limiter is cold).
#include <gtest/gtest.h>

#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>

#include "sim/timeline.hpp"

namespace trn::neuron {
namespace {

using namespace trn::tile;

constexpr double kIssue = 64 / 2.4e3, kPass = 2 * (512 + 9.7) / 2.4e3;  // microseconds, trn2
constexpr double kTolerance = 1e-6;

struct Part {
  std::int64_t row, column, rows, columns;
  std::int64_t bank = 0;
};

// When the last of these matmuls of 512 columns ends, in microseconds after the first began; each writes a bank.
double last_end(const std::vector<Part>& parts, const char* name = "trn2") {
  Builder b("p", machine(name));
  const Access s = b.sbuf("s", 128, {128}, DType::BFloat16), m = b.sbuf("m", 128, {512}, DType::BFloat16);
  const Access d = b.psum("d", 128, {8, 512});
  for (const Part& p : parts) {
    const Access rows = s(ds(p.row, std::min<std::int64_t>(p.rows, 32)), ds(0, std::min<std::int64_t>(p.columns, 32)));
    const Access dst = d(ds(p.column, std::min<std::int64_t>(p.columns, 32)), ds(p.bank, 1), all);
    b.nc_matmul(dst, rows, m(ds(p.row, std::min<std::int64_t>(p.rows, 32)), all),
                {.tile = {.row = p.row, .column = p.column, .rows = p.rows, .columns = p.columns}});
  }
  const Program program = b.finish();
  const RunReport report = estimate(program, b.machine(), {.keep_intervals = 100});
  EXPECT_EQ(report.instructions, static_cast<std::int64_t>(parts.size()));
  return report.seconds * 1e6 - 13.3 - 1.7 - 0.16;
}

TEST(ArrayTiles, RowsBesideOneAnotherOverlap) {
  EXPECT_NEAR(last_end({{0, 0, 32, 128}}), kPass, kTolerance);
  const std::vector<Part> four{{0, 0, 32, 128, 0}, {32, 0, 32, 128, 1}, {64, 0, 32, 128, 2}, {96, 0, 32, 128, 3}};
  EXPECT_NEAR(last_end(four), 3 * kIssue + kPass, kTolerance);
}

TEST(ArrayTiles, ColumnsBesideOneAnotherOverlap) {
  const std::vector<Part> four{{0, 0, 128, 32}, {0, 32, 128, 32}, {0, 64, 128, 32}, {0, 96, 128, 32}};
  EXPECT_NEAR(last_end(four), 3 * kIssue + kPass, kTolerance);
}

TEST(ArrayTiles, QuartersInBothDirections) {
  EXPECT_NEAR(last_end({{0, 0, 64, 64, 0}, {64, 64, 64, 64, 1}, {0, 64, 64, 64, 2}, {64, 0, 64, 64, 3}}),
              3 * kIssue + kPass, kTolerance);
}

TEST(ArrayTiles, TheSamePartRunsOneAfterTheOther) {
  EXPECT_NEAR(last_end({{0, 0, 32, 32, 0}, {0, 0, 32, 32, 1}}), 2 * kPass, kTolerance);
}

TEST(ArrayTiles, OverlappingPartsWait) {
  EXPECT_NEAR(last_end({{0, 0, 32, 128, 0}, {0, 0, 64, 128, 1}}), 2 * kPass, kTolerance);
  EXPECT_NEAR(last_end({{32, 0, 32, 32, 0}, {0, 0, 128, 128, 1}}), 2 * kPass, kTolerance);
}

TEST(ArrayTiles, SumsInTheSamePlaceWait) {
  EXPECT_NEAR(last_end({{0, 0, 32, 128, 0}, {32, 0, 32, 128, 0}}), 2 * kPass, kTolerance);
}

// In order: the third may not overtake the second, which waits for the first.
TEST(ArrayTiles, StartInOrder) {
  EXPECT_NEAR(last_end({{0, 0, 32, 128, 0}, {0, 0, 32, 128, 1}, {64, 0, 32, 128, 2}}), kPass + kIssue + kPass,
              kTolerance);
}

TEST(ArrayTiles, HalvesOnTrn1) {
  const double pass = (512 + 9.7) / 2.8e3 / 0.86;
  EXPECT_NEAR(last_end({{0, 0, 64, 128, 0}, {64, 0, 64, 128, 1}}, "trn1"), 64 / 2.8e3 + pass, kTolerance);
}

// A loop variable names the part.
TEST(ArrayTiles, PartsOfALoop) {
  Builder b("p", machine("trn2"));
  const Access s = b.sbuf("s", 128, {32}, DType::BFloat16), m = b.sbuf("m", 128, {512}, DType::BFloat16);
  const Access d = b.psum("d", 128, {512});
  b.parallel("i", 4, [&](const Affine& i) {
    b.nc_matmul(d(ds(i * 32, 32), all), s(ds(i * 32, 32), all), m(ds(i * 32, 32), all),
                {.tile = {.row = i * 32, .column = i * 32, .rows = 32, .columns = 32}});
  });
  const RunReport report = estimate(b.finish(), b.machine());
  EXPECT_NEAR(report.seconds * 1e6 - 13.3 - 1.7 - 0.16, 3 * kIssue + kPass, kTolerance);
}

// Four quarters of the rows at a time warm the array as one matmul of all rows does; one quarter does not.
TEST(RateLimiter, PassesBesideOneAnotherAddUp) {
  const tile::Timing& t = machine("trn2").timing;
  for (const int beside : {1, 4}) {
    sim::RateLimiter limiter(t);
    double now = 0, end = 0;
    for (int i = 0; i < 40; ++i, now = end) {
      for (int j = 0; j < beside; ++j) end = limiter.run(now + j * 1e-9, 100e-9, 0.25);
    }
    const double start = now, seconds = limiter.run(start, 1e-6, 1) - start;
    EXPECT_NEAR(seconds * 1e6, beside == 4 ? 1 : 2, 1e-9) << beside;
  }
}

}  // namespace
}  // namespace trn::neuron

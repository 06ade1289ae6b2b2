// The device kernel of trsm, run as a program: residuals against wider arithmetic within the bound that each solve
// reports.
#include "trsm_support.hpp"

namespace trn::blas::test {
namespace {

TEST(TrsmProgram, EveryTriangleLayoutAndFactor) {
  for (int variant = 0; variant < 16; ++variant) {
    const int rest =
        (variant * 5 % 8) << 4;  // alpha, conjugate, padding: every pair with every bit, not every combination
    check_solve("trn2", {false, 150, 9, variant | rest}, 1);
    check_solve("trn2", {true, 75, 9, variant | rest}, 2);
    check_solve("trn2", {true, 40, 3, variant | (rest ^ 0x70)}, 3);
  }
}

TEST(TrsmProgram, SizesAcrossTheEdges) {
  int variant = 0;
  for (const std::int64_t m : {1, 2, 3, 15, 16, 17, 31, 33, 127, 128, 129, 257})
    check_solve("trn2", {false, m, 7, variant += 5}, 4);
  for (const std::int64_t m : {1, 2, 16, 17, 63, 64, 65, 129}) check_solve("trn2", {true, m, 7, variant += 5}, 5);
  for (const std::int64_t n : {1, 2, 63, 64, 65, 127, 128, 129, 513, 1030})
    check_solve("trn2", {false, 20, n, variant += 5}, 6);
  for (const std::int64_t n : {1, 64, 129, 700}) check_solve("trn2", {true, 10, n, variant += 5}, 7);
}

TEST(TrsmProgram, EveryModeOnEveryMachine) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const Mode mode : {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6}) {
      check_solve(machine, {false, 300, 20, 5 + 16 * static_cast<int>(mode), mode}, 8);
      check_solve(machine, {true, 140, 11, 8 + 16 * static_cast<int>(mode), mode}, 9);
    }
  }
}

// Triangles whose inverses are huge: Netlib's own (elements in (-0.5, 0.5), one added to the diagonal) reach condition
// numbers of 1e5 at 128 rows, normal ones 1e19 at 64. One refinement with the block itself keeps substitution's
// residual.
TEST(TrsmProgram, IllConditionedTriangles) {
  for (const bool lower : {true, false}) {
    for (const bool complex : {false, true}) {
      TrsmShape s = shape_of({complex, complex ? 60 : 64, 30, lower ? 1 : 0, Mode::Tf32x3});
      TriangularProblem normal(s, 1, 0, 10);
      normal.run("trn2");
      EXPECT_LE(normal.measure().to_terms, kNetlib);
      EXPECT_LE(normal.measure().to_norms, normal.bound());
      s.m = complex ? 70 : 200, s.am = s.m;
      TriangularProblem netlib(s, 0.25, 0.4, 11);
      netlib.run("trn2");
      EXPECT_LE(netlib.measure().to_terms, kNetlib);
      EXPECT_LE(netlib.measure().to_norms, netlib.bound());
    }
  }
}

// Rows of very different size: the bound is relative to each row's norm, and the measured part is scaled by rows.
TEST(TrsmProgram, GradedRows) {
  TriangularProblem p(shape_of({false, 140, 8, 1}), 0.1, 1, 12);
  for (std::int64_t i = 0; i < p.s.m; ++i) {
    const auto scale = static_cast<float>(std::ldexp(1.0, static_cast<int>(i * 7919 % 101) - 50));
    for (std::int64_t j = 0; j <= i; ++j) *p.at_a(i, j) *= scale;
    for (std::int64_t j = 0; j < p.s.n; ++j) *p.at_b(p.b, i, j) *= scale;
  }
  p.run("trn2");
  EXPECT_LE(p.measure().to_terms, kNetlib);
  EXPECT_LE(p.measure().to_norms, p.bound());
}

// The bound is worth having: within 1000 of the true residual (200 is usual), not a formula of the condition number.
TEST(TrsmProgram, TheBoundIsNearTheTruth) {
  for (const bool complex : {false, true}) {
    TriangularProblem p(shape_of({complex, 200, 20, 1}), 0.05, 1, 13);
    p.run("trn2");
    const double truth = p.measure().to_norms;
    EXPECT_LE(p.bound(), 1e-4);
    EXPECT_LE(p.bound(), 1000 * truth);
    EXPECT_GE(p.bound(), truth);
  }
}

// A zero on the diagonal: that row of X and those that depend on it are not finite, the rows solved before are as if it
// were not there.
TEST(TrsmProgram, SingularPivot) {
  for (const bool lower : {true, false}) {
    for (const std::int64_t pivot : {3, 100, 129}) {
      TriangularProblem good(shape_of({false, 150, 6, lower ? 1 : 0}), 0.03, 1, 14), bad = good;
      *bad.at_a(pivot, pivot) = 0;
      good.run("trn2");
      bad.run("trn2");
      for (std::int64_t i = 0; i < 150; ++i) {
        const bool before = lower ? i < pivot : i > pivot;
        for (std::int64_t j = 0; j < 6; ++j) {
          const float x = *bad.at_b(bad.x, i, j), y = *good.at_b(good.x, i, j);
          if (before) {
            EXPECT_NEAR(x, y, 1e-6 * (1 + std::abs(y))) << i << " pivot " << pivot;
          } else {
            EXPECT_FALSE(std::isfinite(x)) << i << " pivot " << pivot;
          }
        }
      }
      EXPECT_EQ(bad.bound(), std::numeric_limits<double>::infinity());
    }
  }
}

// NaN and infinity in a right-hand side stay in its column.
TEST(TrsmProgram, NonFiniteRightHandSides) {
  TriangularProblem good(shape_of({false, 150, 6, 1}), 0.03, 1, 15), bad = good;
  *bad.at_b(bad.b, 70, 2) = NAN;
  *bad.at_b(bad.b, 140, 4) = INFINITY;
  good.run("trn2");
  bad.run("trn2");
  for (std::int64_t i = 0; i < 150; ++i) {
    for (std::int64_t j = 0; j < 6; ++j) {
      const float x = *bad.at_b(bad.x, i, j), y = *good.at_b(good.x, i, j);
      if ((j == 2 && i >= 70) || (j == 4 && i >= 140)) {
        EXPECT_FALSE(std::isfinite(x)) << i << " " << j;
      } else if ((j != 2 && j != 4) || (j == 4 && i < 128)) {
        EXPECT_EQ(x, y) << i << " " << j;
      }
    }
  }
}

TEST(TrsmProgram, RefusesWhatItCannotDo) {
  const tile::Machine& trn2 = tile::machine("trn2");
  TrsmShape s = shape_of({false, 4, 4});
  s.dtype = DType::Float64;
  EXPECT_THROW((void)trsm_program(s, trn2), NotImplemented);
  s = shape_of({false, 4, 4, 0, Mode::Exact});
  EXPECT_THROW((void)trsm_program(s, trn2), NotImplemented);
  s = shape_of({false, 4, 4});
  s.alpha = Factor::Zero;
  EXPECT_THROW((void)trsm_program(s, trn2), InvalidArgument);
  EXPECT_TRUE(trsm_program(shape_of({false, 70, 40}), trn2) == trsm_program(shape_of({false, 70, 40}), trn2));
}

}  // namespace
}  // namespace trn::blas::test

// Level 3 on the host with a precision other than Native: within the bound that the call returns, relative to norms,
// and nothing written when a mode is refused.
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

const Precision kPrecisions[] = {
    Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6, Precision::target(1e-2), Precision::target(1e-3)};

template <class F> void for_precisions(F f) {
  std::uint64_t seed = 0;
  for (const Precision& precision : kPrecisions) {
    SCOPED_TRACE(::testing::Message() << (precision.has_target() ? "target" : name(precision.mode())) << ' '
                                      << precision.target_error());
    for (const Uplo uplo : kUplos) f(precision, uplo, ++seed);
  }
}

void expect_kept(const Precision& asked, const Accuracy& kept) {
  if (asked.has_target()) {
    EXPECT_LE(kept.bound, asked.target_error());
  } else {
    EXPECT_EQ(kept.mode, asked.mode());
  }
  EXPECT_GT(kept.bound, 0);
  EXPECT_GE(kept.passes, 1);
}

TEST(Level3Precision, Symm) {
  const Executor e = Executor::host();
  for_precisions([&](const Precision& precision, Uplo uplo, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::int64_t m = 70, n = 9;
    const auto a = triangle<float>(m, uplo, Layout::PaddedRows, random),
               b = full<float>(m, n, Layout::RowMajor, random), c = full<float>(m, n, Layout::ColumnMajor, random);
    const OnDevice<float> da(e, a), db(e, b), dc(e, c);
    const Accuracy kept = symm(e, Side::Left, uplo, 0.5f, da.view, db.view, 2.0f, dc.view, {precision});
    expect_kept(precision, kept);
    expect_elements(c, fetched(c, dc), kept.bound, [&](std::int64_t i, std::int64_t j) {
      Sum sum, old;
      for (std::int64_t p = 0; p < m; ++p)
        sum.add(wide(in_triangle(uplo, i, p) ? a.at(i, p) : a.at(p, i)), wide(b.at(p, j)));
      old.add({2, 0}, wide(c.at(i, j)));
      return sum.normwise().times({0.5, 0}) + old;
    });
  });
}

TEST(Level3Precision, SyrkAndSyr2k) {
  const Executor e = Executor::host();
  for_precisions([&](const Precision& precision, Uplo uplo, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::int64_t n = 70, k = 33;
    const auto a = full<float>(n, k, Layout::RowMajor, random), b = full<float>(n, k, Layout::ColumnMajor, random),
               c = triangle<float>(n, uplo, Layout::PaddedRows, random);
    const OnDevice<float> da(e, a), db(e, b);
    for (const bool two : {false, true}) {
      const OnDevice<float> dc(e, c);
      const Accuracy kept = two ? syr2k(e, uplo, Op::N, 0.5f, da.view, db.view, 2.0f, dc.view, {precision})
                                : syrk(e, uplo, Op::N, 0.5f, da.view, 2.0f, dc.view, {precision});
      expect_kept(precision, kept);
      expect_elements(
          c, fetched(c, dc), kept.bound, [&](auto i, auto j) { return in_triangle(uplo, i, j); },
          [&](std::int64_t i, std::int64_t j) {
            Sum one, other, old;
            for (std::int64_t p = 0; p < k; ++p) {
              one.add(wide(a.at(i, p)), wide((two ? b : a).at(j, p)));
              if (two) other.add(wide(b.at(i, p)), wide(a.at(j, p)));
            }
            old.add({2, 0}, wide(c.at(i, j)));
            return one.normwise().times({0.5, 0}) + other.normwise().times({0.5, 0}) + old;
          });
    }
  });
}

TEST(Level3Precision, TrmmAndTrsm) {
  const Executor e = Executor::host();
  for_precisions([&](const Precision& precision, Uplo uplo, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::int64_t m = 150, n = 7;
    const auto a = solvable<float>(m, uplo, Diag::NonUnit, Layout::RowMajor, random),
               b = full<float>(m, n, Layout::PaddedColumns, random);
    const auto product = [&](const Stored<float>& x, std::int64_t i, std::int64_t j) {
      Sum sum;
      for (std::int64_t p = 0; p < m; ++p)
        sum.add(triangular_at(uplo, Op::N, Diag::NonUnit, a, i, p), wide(x.at(p, j)));
      return sum.normwise();
    };
    const OnDevice<float> da(e, a), db(e, b), dx(e, b);
    const Accuracy kept = trmm(e, Side::Left, uplo, Op::N, Diag::NonUnit, 0.5f, da.view, db.view, {precision});
    expect_kept(precision, kept);
    expect_elements(b, fetched(b, db), kept.bound, [&](auto i, auto j) { return product(b, i, j).times({0.5, 0}); });
    const Accuracy solved = trsm(e, Side::Left, uplo, Op::N, Diag::NonUnit, 0.5f, da.view, dx.view, {precision});
    expect_kept(precision, solved);
    const auto x = fetched(b, dx);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const Sum sum = product(x, i, j);
        ASSERT_LE(size(Wide{0.5, 0} * wide(b.at(i, j)) - sum.value), solved.bound * kOracle * sum.scale)
            << i << ' ' << j;
      }
    }
  });
}

TEST(Level3Precision, Batched) {
  const Executor e = Executor::host();
  for_precisions([&](const Precision& precision, Uplo, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto a = full<float>(3, 40, Layout::RowMajor, random), b = full<float>(3, 56, Layout::RowMajor, random);
    std::vector<float> c(3 * 35);
    const Accuracy kept = gemm_strided_batched(e, {Op::N, Op::N, 5, 7, 8}, 1, a.storage.data(), 40, b.storage.data(),
                                               56, 0, c.data(), 35, 3, {precision});
    expect_kept(precision, kept);
    for (std::int64_t p = 0; p < 3; ++p) {
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 7; ++j) {
          Sum sum;
          for (std::int64_t q = 0; q < 8; ++q) sum.add(wide(a.at(p, i + 5 * q)), wide(b.at(p, q + 8 * j)));
          EXPECT_LE(size(wide(c[static_cast<std::size_t>(35 * p + i + 5 * j)]) - sum.value),
                    kept.bound * sum.normwise().scale);
        }
      }
    }
  });
}

// float64 has no Tf32: refused, and B is as it was.
TEST(Level3Precision, NothingIsWrittenWhenAModeIsRefused) {
  const Executor e = Executor::host();
  std::mt19937_64 random(1);
  const auto a = solvable<double>(70, Uplo::Lower, Diag::NonUnit, Layout::RowMajor, random),
             b = full<double>(70, 5, Layout::RowMajor, random), c = full<double>(70, 70, Layout::RowMajor, random);
  const OnDevice<double> da(e, a), db(e, b), dc(e, c);
  EXPECT_THROW(trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1, da.view, db.view, {Mode::Tf32}),
               NotImplemented);
  EXPECT_THROW(trmm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1, da.view, db.view, {Mode::Tf32}),
               NotImplemented);
  EXPECT_THROW(syrk(e, Uplo::Lower, Op::N, 1, db.view, 0, dc.view, {Mode::Tf32}), NotImplemented);
  EXPECT_EQ(fetched(b, db).storage, b.storage);
  EXPECT_EQ(fetched(c, dc).storage, c.storage);
}

}  // namespace
}  // namespace trn::blas::test

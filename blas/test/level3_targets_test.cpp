// Target errors of level 3 on the host and on a device: the bound in the result is at most the target and holds, the
// range of the operands counts, Exact is taken where nothing cheaper will do, and a target that cannot be kept is
// refused with everything as it was.
#include <trn/blas/gemm.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/gemm_epilogue.hpp>
#include <trn/blas/gemv.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

class Targets : public ::testing::TestWithParam<const char*> {
 protected:
  Executor e_ = Executor::open(GetParam());
  std::mt19937_64 random_{5};
};
INSTANTIATE_TEST_SUITE_P(On, Targets, ::testing::Values("host", "sim:trn2"),
                         [](const auto& test) { return std::string(test.param).substr(0, 3); });

// The cheapest modes, fp32 as it is, and one that only Exact keeps.
constexpr double kTargets[] = {2e-2, 2e-3, 2e-5, 2.5e-7};

// call(kept, result) runs the operation with a precision on the n x n result; expected(i, j) is a normwise sum.
template <class Call, class In, class Expected> void expect_targets(const Executor& e, const Stored<float>& before,
                                                                    const Call& call, const In& in,
                                                                    const Expected& expected) {
  for (const double target : kTargets) {
    SCOPED_TRACE(target);
    const OnDevice<float> result(e, before);
    const Accuracy kept = call(Precision::target(target), result.view);
    EXPECT_GT(kept.bound, 0);
    EXPECT_LE(kept.bound, target);
    if (target < 1e-6) {
      EXPECT_EQ(kept.mode, Mode::Exact);
    }
    if (target > 1e-2 && e.family() == Family::Device) {
      EXPECT_EQ(kept.mode, Mode::Bf16);
    }
    expect_elements(before, fetched(before, result), kept.bound, in, expected);
  }
  const OnDevice<float> result(e, before);
  EXPECT_IN("1e-09", message_of<InvalidArgument>([&] { call(Precision::target(1e-9), result.view); }));
  EXPECT_EQ(0, std::memcmp(fetched(before, result).storage.data(), before.storage.data(),
                           before.storage.size() * sizeof(float)));
}
bool anywhere(std::int64_t, std::int64_t) { return true; }

TEST_P(Targets, Symm) {
  const std::int64_t m = 70, n = 9;
  const auto a = triangle<float>(m, Uplo::Upper, Layout::PaddedRows, random_),
             b = full<float>(m, n, Layout::RowMajor, random_), c = full<float>(m, n, Layout::ColumnMajor, random_);
  const OnDevice<float> da(e_, a), db(e_, b);
  expect_targets(
      e_, c,
      [&](Precision p, auto view) {
        return symm(e_, Side::Left, Uplo::Upper, 0.5f, da.view, db.view, 2.0f, view, {p});
      },
      anywhere,
      [&](std::int64_t i, std::int64_t j) {
        Sum sum, old;
        for (std::int64_t p = 0; p < m; ++p)
          sum.add(wide(in_triangle(Uplo::Upper, i, p) ? a.at(i, p) : a.at(p, i)), wide(b.at(p, j)));
        old.add({2, 0}, wide(c.at(i, j)));
        return sum.normwise().times({0.5, 0}) + old;
      });
}

TEST_P(Targets, SyrkAndSyr2k) {
  const std::int64_t n = 70, k = 33;
  const auto a = full<float>(n, k, Layout::RowMajor, random_), b = full<float>(n, k, Layout::ColumnMajor, random_),
             c = triangle<float>(n, Uplo::Lower, Layout::PaddedRows, random_);
  const OnDevice<float> da(e_, a), db(e_, b);
  for (const bool two : {false, true}) {
    expect_targets(
        e_, c,
        [&](Precision p, auto view) {
          return two ? syr2k(e_, Uplo::Lower, Op::N, 0.5f, da.view, db.view, 2.0f, view, {p})
                     : syrk(e_, Uplo::Lower, Op::N, 0.5f, da.view, 2.0f, view, {p});
        },
        [](auto i, auto j) { return i >= j; },
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
  // A coarse target is kept too: two products of half of it, the second on top of the first.
  const OnDevice<float> dc(e_, c);
  EXPECT_LE(syr2k(e_, Uplo::Lower, Op::N, 0.5f, da.view, db.view, 2.0f, dc.view, {Precision::target(0.5)}).bound, 0.5);
}

TEST_P(Targets, Trmm) {
  const std::int64_t m = 70, n = 7;
  const auto a = solvable<float>(m, Uplo::Lower, Diag::NonUnit, Layout::RowMajor, random_),
             b = full<float>(m, n, Layout::PaddedColumns, random_);
  const OnDevice<float> da(e_, a);
  expect_targets(
      e_, b,
      [&](Precision p, auto view) {
        return trmm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 0.5f, da.view, view, {p});
      },
      anywhere,
      [&](std::int64_t i, std::int64_t j) {
        Sum sum;
        for (std::int64_t p = 0; p < m; ++p)
          sum.add(triangular_at(Uplo::Lower, Op::N, Diag::NonUnit, a, i, p), wide(b.at(p, j)));
        return sum.normwise().times({0.5, 0});
      });
}

TEST_P(Targets, Trsm) {
  const std::int64_t m = 150, n = 7;
  const auto a = solvable<float>(m, Uplo::Lower, Diag::NonUnit, Layout::RowMajor, random_),
             b = full<float>(m, n, Layout::PaddedColumns, random_);
  const OnDevice<float> da(e_, a);
  const auto solve = [&](double target, const OnDevice<float>& dx) {
    return trsm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 0.5f, da.view, dx.view, {Precision::target(target)});
  };
  for (const double target : {2e-2, 2e-3, 5e-5}) {
    SCOPED_TRACE(target);
    const OnDevice<float> dx(e_, b);
    const Accuracy kept = solve(target, dx);
    EXPECT_LE(kept.bound, target);
    const auto x = fetched(b, dx);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        Sum sum;
        for (std::int64_t p = 0; p < m; ++p)
          sum.add(triangular_at(Uplo::Lower, Op::N, Diag::NonUnit, a, i, p), wide(x.at(p, j)));
        ASSERT_LE(size(Wide{0.5, 0} * wide(b.at(i, j)) - sum.value), kept.bound * kOracle * sum.normwise().scale)
            << i << ' ' << j;
      }
    }
  }
  const OnDevice<float> dx(e_, b);
  EXPECT_IN("blas.trsm: no precision for float32", message_of<InvalidArgument>([&] { solve(1e-10, dx); }));
  EXPECT_EQ(0, std::memcmp(fetched(b, dx).storage.data(), b.storage.data(), b.storage.size() * sizeof(float)));
}

TEST_P(Targets, Batched) {
  const auto a = full<float>(3, 40, Layout::RowMajor, random_), b = full<float>(3, 56, Layout::RowMajor, random_),
             c = full<float>(3, 35, Layout::RowMajor, random_);
  const OnDevice<float> da(e_, a), db(e_, b);
  expect_targets(
      e_, c,
      [&](Precision p, auto view) {
        return gemm_strided_batched(e_, {Op::N, Op::N, 5, 7, 8}, 0.5f, da.view.data(), 40, db.view.data(), 56, 2.0f,
                                    view.data(), 35, 3, {p});
      },
      anywhere,
      [&](std::int64_t p, std::int64_t at) {
        Sum sum, old;
        for (std::int64_t q = 0; q < 8; ++q) sum.add(wide(a.at(p, at % 5 + 5 * q)), wide(b.at(p, q + 8 * (at / 5))));
        old.add({2, 0}, wide(c.at(p, at)));
        return sum.normwise().times({0.5, 0}) + old;
      });
  // Exact by itself.
  const OnDevice<float> dc(e_, c);
  EXPECT_EQ(gemm_strided_batched(e_, {Op::N, Op::N, 5, 7, 8}, 0.5f, da.view.data(), 40, db.view.data(), 56, 2.0f,
                                 dc.view.data(), 35, 3, {Mode::Exact})
                .mode,
            Mode::Exact);
}

// The types that a device has in Exact alone: listed and grouped batches, too, and within the bound that is reported.
template <class T> void exact_batch(const Executor& e, std::mt19937_64& random) {
  const auto a = full<T>(2, 12, Layout::RowMajor, random), b = full<T>(2, 20, Layout::RowMajor, random),
             c = full<T>(2, 15, Layout::RowMajor, random);
  const OnDevice<T> da(e, a), db(e, b), dc(e, c);
  const std::vector<const T*> la{da.view.data(), da.view.data() + 12}, lb{db.view.data(), db.view.data() + 20};
  const std::vector<T*> lc{dc.view.data(), dc.view.data() + 15};
  const Accuracy kept = gemm_batched<T>(e, {Op::N, Op::T, 3, 5, 4}, T(2), la, lb, T(1), lc, {Mode::Exact});
  EXPECT_EQ(kept.mode, Mode::Exact);
  expect_elements(c, fetched(c, dc), kept.bound, anywhere, [&](std::int64_t p, std::int64_t at) {
    Sum sum, old;
    for (std::int64_t q = 0; q < 4; ++q) sum.add(wide(a.at(p, at % 3 + 3 * q)), wide(b.at(p, at / 3 + 5 * q)));
    old.add({1, 0}, wide(c.at(p, at)));
    return sum.normwise().times({2, 0}) + old;
  });
}
TEST_P(Targets, BatchedInExact) {
  exact_batch<double>(e_, random_);
  exact_batch<std::complex<float>>(e_, random_);
  exact_batch<std::complex<double>>(e_, random_);
}

// Products near the smallest float lose digits in every float32 mode: only Exact meets a target there, and finds it.
TEST_P(Targets, TheRangeOfTheOperandsCounts) {
  const std::int64_t n = 20;
  auto a = full<float>(n, n, Layout::RowMajor, random_), b = full<float>(n, n, Layout::RowMajor, random_),
       c = full<float>(n, n, Layout::RowMajor, random_);
  for (float& x : a.storage) x *= 0x1p-73f;
  for (float& x : b.storage) x *= 0x1p-73f;
  const OnDevice<float> da(e_, a), db(e_, b);
  const Precision coarse =
      Precision::target(7e-2);  // a sum that is rounded once to a multiple of 2^-149 keeps this here, and no less
  const auto exact = [&](const char* what, auto call) {
    SCOPED_TRACE(what);
    const OnDevice<float> dc(e_, c);
    const Accuracy kept = call(dc.view);
    EXPECT_EQ(kept.mode, Mode::Exact);
    EXPECT_LE(kept.bound, 7e-2);
  };
  exact("symm", [&](auto v) { return symm(e_, Side::Left, Uplo::Lower, 1.0f, da.view, db.view, 0.0f, v, {coarse}); });
  exact("syrk", [&](auto v) { return syrk(e_, Uplo::Lower, Op::N, 1.0f, da.view, 0.0f, v, {coarse}); });
  exact("trmm", [&](auto v) {
    return trmm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0f, da.view, db.view, v, {coarse});
  });
  exact("batched", [&](auto v) {
    return gemm_strided_batched(e_, {Op::N, Op::N, 20, 20, 20}, 1.0f, da.view.data(), 0, db.view.data(), 0, 0.0f,
                                v.data(), 0, 1, {coarse});
  });
}

// Nothing is looked at when alpha is 0.
TEST_P(Targets, AlphaZero) {
  const std::int64_t n = 20;
  const Stored<float> c = full<float>(n, n, Layout::RowMajor, random_);
  const auto nan = Matrix<float>::from_host(e_, n, n, std::vector<float>(n * n, NAN));
  const Precision p = Precision::target(1e-5);
  const OnDevice<float> one(e_, c), two(e_, c), three(e_, c);
  EXPECT_LE(symm(e_, Side::Left, Uplo::Lower, 0.0f, nan.view(), nan.view(), 2.0f, one.view, {p}).bound, 1e-5);
  EXPECT_LE(syrk(e_, Uplo::Lower, Op::N, 0.0f, nan.view(), 2.0f, two.view, {p}).bound, 1e-5);
  EXPECT_LE(trmm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 0.0f, nan.view(), three.view, {p}).bound, 1e-5);
  EXPECT_EQ(fetched(c, one).at(3, 2), 2 * c.at(3, 2));
  EXPECT_EQ(fetched(c, two).at(3, 2), 2 * c.at(3, 2));
  EXPECT_EQ(fetched(c, three).at(3, 2), 0);
}

// An exact result below the type's range has a larger bound than any product of its size: refused, C as it was.
TEST_P(Targets, UnderflowInExactIsRefused) {
  const auto one = [&](float x) { return Matrix<float>::from_host(e_, 1, 1, std::vector<float>{x}); };
  const Matrix<float> a = one(0x1p-100f), b = one(0x1.8p-50f), c = one(3), square = one(0x1.8p-75f);
  const GemmOptions options{.precision = Precision::target(1e-3)};
  const auto refused = [&](const char* operation, auto call) {
    SCOPED_TRACE(operation);
    EXPECT_IN("bound of 0.001", message_of<InvalidArgument>(call));
    EXPECT_EQ(c.to_host()[0], 3);
  };
  refused("gemm", [&] { gemm(e_, Op::N, Op::N, 1.0f, a.view(), b.view(), 0.0f, c.view(), options); });
  refused("symm", [&] { symm(e_, Side::Left, Uplo::Lower, 1.0f, a.view(), b.view(), 0.0f, c.view(), options); });
  refused("syrk", [&] { syrk(e_, Uplo::Lower, Op::N, 1.0f, square.view(), 0.0f, c.view(), options); });
  refused("syr2k", [&] { syr2k(e_, Uplo::Lower, Op::N, 1.0f, a.view(), b.view(), 0.0f, c.view(), options); });
  refused("trmm", [&] {
    trmm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0f, a.view(), b.view(), c.view(), options);
  });
}

// Both products of a rank-2k update are one exact sum with one rounding: a target above that is taken.
TEST_P(Targets, Syr2kAboveOneRounding) {
  const auto a = full<float>(7, 5, Layout::RowMajor, random_), b = full<float>(7, 5, Layout::RowMajor, random_),
             c = full<float>(7, 7, Layout::RowMajor, random_);
  const OnDevice<float> da(e_, a), db(e_, b);
  for (const double target : {1e-7, 7e-8}) {
    const OnDevice<float> dc(e_, c);
    const Accuracy kept =
        syr2k(e_, Uplo::Lower, Op::N, 1.0f, da.view, db.view, 1.0f, dc.view, {.precision = Precision::target(target)});
    EXPECT_EQ(kept.mode, Mode::Exact);
    EXPECT_LE(kept.bound, target);
  }
}

// Matrix times vector and dot look at the range of their operands, too: no target is claimed for a sum that overflowed
// on the way, and underflow counts.
TEST_P(Targets, VectorsAndTheirRange) {
  const auto row = [&](std::vector<float> v) {
    const auto n = static_cast<std::int64_t>(v.size());
    return Matrix<float>::from_host(e_, 1, n, v);
  };
  const Matrix<float> a = row({1e30f, -1e30f, 1}), x = row({1e30f, 1e30f, 1}), small = row({1e-30f, 1e-30f, 0}),
                      fine = row({1, 2, 3}), y = row({7});
  const ProductOptions options{.precision = Precision::target(1e-3)};
  const auto vector = [](const Matrix<float>& m) { return m.view().row(0); };
  const auto multiply = [&](const Matrix<float>& left, const Matrix<float>& right) {
    return gemv(e_, Op::N, 1.0f, left.view(), vector(right), 0.0f, vector(y), options);
  };
  EXPECT_IN("a sum may overflow", message_of<InvalidArgument>([&] { multiply(a, x); }));
  EXPECT_IN("a sum may overflow",
            message_of<InvalidArgument>([&] { (void)dot(e_, vector(a), vector(x), Precision::target(1e-3)); }));
  EXPECT_IN("ask for at least that", message_of<InvalidArgument>([&] { multiply(small, small); }));
  EXPECT_IN("ask for at least that",
            message_of<InvalidArgument>([&] { (void)dot(e_, vector(small), vector(small), Precision::target(1e-3)); }));
  EXPECT_EQ(y.to_host()[0], 7);
  EXPECT_LE(multiply(fine, fine).bound, 1e-3);
  EXPECT_EQ(y.to_host()[0], 14);
  EXPECT_EQ(dot(e_, vector(fine), vector(fine), Precision::target(1e-3)).value, 14);
}

// What is not computed has no error.
TEST_P(Targets, NothingToDo) {
  const std::vector<float> values{1, 2, 3, 4};
  const auto a = Matrix<float>::from_host(e_, 2, 2, values), c = Matrix<float>::from_host(e_, 2, 2, values);
  const GemmOptions options{.precision = Precision::target(1e-7)};
  EXPECT_EQ(syrk(e_, Uplo::Lower, Op::N, 0.0f, a.view(), 1.0f, c.view(), options).bound, 0);
  EXPECT_EQ(syr2k(e_, Uplo::Lower, Op::N, 0.0f, a.view(), a.view(), 1.0f, c.view(), options).bound, 0);
  EXPECT_EQ(symm(e_, Side::Left, Uplo::Lower, 0.0f, a.view(), a.view(), 1.0f, c.view(), options).bound, 0);
  EXPECT_LE(trmm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 0.0f, a.view(), c.view(), options).bound, 1e-7);
  EXPECT_EQ(trsm(e_, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 0.0f, a.view(), c.view(),
                 {.precision = Precision::target(1e-7)})
                .bound,
            0);
}

TEST(HostTargets, Epilogue) {
  const Executor e = Executor::host();
  std::mt19937_64 random(3);
  const auto a = full<float>(9, 30, Layout::RowMajor, random), b = full<float>(30, 8, Layout::RowMajor, random),
             c = full<float>(9, 8, Layout::RowMajor, random);
  const OnDevice<float> da(e, a), db(e, b), dc(e, c);
  for (const Activation activation : {Activation::None, Activation::Gelu}) {
    for (const double target : {1e-4, 8e-6, 2e-6}) {
      const Accuracy kept = gemm_epilogue(e, Op::N, Op::N, 1, da.view, db.view, 0, dc.view, {.activation = activation},
                                          {Precision::target(target)});
      EXPECT_LE(kept.bound, target) << target;
    }
  }
  const OnDevice<float> same(e, c);
  EXPECT_IN("blas.gemm_epilogue: no precision", message_of<InvalidArgument>([&] {
              gemm_epilogue(e, Op::N, Op::N, 1, da.view, db.view, 0, same.view, {}, {Precision::target(1e-7)});
            }));
  EXPECT_EQ(fetched(c, same).storage, c.storage);
}

// 16-bit operands have one mode: a target below its bound is refused as such, and not for want of Exact.
TEST_P(Targets, SixteenBits) {
  const auto a = Matrix<bfloat16>::from_host(e_, 4, 4, std::vector<bfloat16>(16, bfloat16(1.5f)));
  const Matrix<bfloat16> c(e_, 4, 4);
  EXPECT_EQ(gemm(e_, Op::N, Op::N, 1, a.view(), a.view(), 0, c.view(), {.precision = Precision::target(1e-2)}).mode,
            Mode::Native);
  EXPECT_IN("no precision for bfloat16", message_of<InvalidArgument>([&] {
              gemm(e_, Op::N, Op::N, 1, a.view(), a.view(), 0, c.view(), {.precision = Precision::target(1e-6)});
            }));
}

// A B with a NaN keeps its precision: the finite elements have errors of that mode, and a mode that the type lacks is
// refused.
TEST(HostTrmm, NotFiniteInOtherPrecisions) {
  const Executor e = Executor::host();
  std::mt19937_64 random(8);
  const std::int64_t m = 80, n = 5;
  const auto a = triangle<float>(m, Uplo::Lower, Layout::RowMajor, random);
  auto b = full<float>(m, n, Layout::RowMajor, random);
  b.at(40, 2) = NAN, b.at(50, 3) = -INFINITY;
  const OnDevice<float> da(e, a);
  for (const Mode mode : {Mode::Bf16, Mode::Exact}) {
    const OnDevice<float> db(e, b);
    const Accuracy kept = trmm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0f, da.view, db.view, {mode});
    EXPECT_EQ(kept.mode, mode);
    const auto c = fetched(b, db);
    double largest = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const bool spoiled = (j == 2 && i >= 40) || (j == 3 && i >= 50);
        ASSERT_EQ(std::isfinite(c.at(i, j)), !spoiled) << i << ' ' << j;
        if (spoiled) continue;
        Sum sum;
        for (std::int64_t p = 0; p < m; ++p) {  // the norm is that of the whole column, as far as it is finite
          if (std::isfinite(b.at(p, j))) sum.add(p <= i ? wide(a.at(i, p)) : Wide{}, wide(b.at(p, j)));
        }
        const auto error = static_cast<double>(size(wide(c.at(i, j)) - sum.value) / sum.normwise().scale);
        EXPECT_LE(error, kept.bound);
        largest = std::max(largest, error);
      }
    }
    if (mode == Mode::Bf16) {
      EXPECT_GT(largest, 1e-5);
    }  // not computed in float32
  }
  auto wide_b = full<double>(m, n, Layout::RowMajor, random);
  wide_b.at(1, 1) = NAN;
  const auto wide_a = triangle<double>(m, Uplo::Lower, Layout::RowMajor, random);
  const OnDevice<double> wa(e, wide_a), wb(e, wide_b);
  EXPECT_THROW(trmm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0, wa.view, wb.view, {Mode::Tf32}),
               NotImplemented);
}

}  // namespace
}  // namespace trn::blas::test

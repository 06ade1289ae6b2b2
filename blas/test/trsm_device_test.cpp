// trsm through its entry point on the simulated devices: every side, triangle, op and diagonal, layouts, modes, and
// what the call reports.
#include <trn/blas/trsm.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

struct DeviceSolve {
  std::int64_t m, n;
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  Layout a = Layout::ColumnMajor, b = Layout::ColumnMajor;
  Precision precision = Mode::Tf32x3;
};

// The bound of the header, |alpha B - op(A) X| <= bound ||a_i|| ||x_j||, and Netlib's: 16 epsilon (|op(A)||X|)(i, j).
template <class T> void check_solve(const Executor& executor, const DeviceSolve& t, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << executor.name() << ' ' << name(dtype_of<T>) << ' ' << t.m << " x " << t.n
                                    << " side " << static_cast<int>(t.side) << " uplo " << static_cast<int>(t.uplo)
                                    << " op " << static_cast<int>(t.op) << " diag " << static_cast<int>(t.diag)
                                    << " layouts " << static_cast<int>(t.a) << static_cast<int>(t.b) << " seed "
                                    << seed);
  std::mt19937_64 random(seed);
  const std::int64_t order = t.side == Side::Left ? t.m : t.n;
  const auto a = solvable<T>(order, t.uplo, t.diag, t.a, random), b = full<T>(t.m, t.n, t.b, random);
  const T alpha = number<T>(0.75, -1.25);
  const OnDevice<T> da(executor, a), db(executor, b);
  Recorder recorder(executor);
  const Accuracy accuracy = trsm(executor, t.side, t.uplo, t.op, t.diag, alpha, da.view, db.view, {t.precision});
  EXPECT_EQ(recorder.family_of("blas.trsm"), "device");
  const auto x = fetched(b, db);
  const auto op_a = [&](std::int64_t i, std::int64_t j) {
    return t.side == Side::Left ? triangular_at(t.uplo, t.op, t.diag, a, i, j)
                                : triangular_at(t.uplo, t.op, t.diag, a, j, i);
  };
  const auto rhs = [&](const Stored<T>& s, std::int64_t i, std::int64_t j) {
    return wide(t.side == Side::Left ? s.at(i, j) : s.at(j, i));
  };
  const std::int64_t columns = t.side == Side::Left ? t.n : t.m;
  for (std::int64_t j = 0; j < columns; ++j) {
    long double x2 = 0;
    for (std::int64_t i = 0; i < order; ++i) x2 += std::pow(size(rhs(x, i, j)), 2);
    for (std::int64_t i = 0; i < order; ++i) {
      Sum sum;
      long double a2 = 0;
      for (std::int64_t p = 0; p < order; ++p) {
        sum.add(op_a(i, p), rhs(x, p, j));
        a2 += std::pow(size(op_a(i, p)), 2);
      }
      const long double residual = size(wide(alpha) * rhs(b, i, j) - sum.value);
      if (!(residual <= accuracy.bound * kOracle * std::sqrt(a2 * x2)) || !(residual <= 16 * 0x1p-23 * sum.scale)) {
        FAIL() << "residual (" << i << ", " << j << ") is " << residual / sum.scale << " of |A||X|, "
               << residual / std::sqrt(a2 * x2) << " of the norms; bound " << accuracy.bound;
      }
    }
  }
}

template <class F> void for_cases(F f) {
  for (const Side side : kSides) {
    for (const Uplo uplo : kUplos) {
      for (const Op op : kAllOps) {
        for (const Diag diag : kDiags) f(side, uplo, op, diag);
      }
    }
  }
}

TEST(TrsmDevice, EverySideTriangleOpAndDiagonal) {
  const Executor trn2 = Executor::open("sim:trn2");
  std::uint64_t seed = 1;
  for_cases([&](Side side, Uplo uplo, Op op, Diag diag) {
    ++seed;
    check_solve<float>(trn2, {9, 5, side, uplo, op, diag}, seed);
    check_solve<std::complex<float>>(trn2, {5, 9, side, uplo, op, diag}, seed);
    const bool left = side == Side::Left;
    const Layout a = kLayouts[seed % 6], b = kLayouts[seed / 2 % 6];
    check_solve<float>(trn2, {left ? 140 : 3, left ? 3 : 140, side, uplo, op, diag, a, b, Mode::Native}, seed);
    check_solve<std::complex<float>>(trn2, {left ? 70 : 3, left ? 3 : 70, side, uplo, op, diag, b, a}, seed);
  });
}

TEST(TrsmDevice, EveryMachineAndLayout) {
  std::uint64_t seed = 500;
  for (const char* machine : {"sim:trn1", "sim:trn3"}) {
    const Executor executor = Executor::open(machine);
    for (const Layout layout : kLayouts) {
      const Layout other = kLayouts[++seed % 6];
      check_solve<float>(executor, {150, 20, Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, layout, other}, seed);
      check_solve<std::complex<float>>(executor,
                                       {20, 30, Side::Right, Uplo::Lower, Op::C, Diag::NonUnit, other, layout}, seed);
    }
  }
}

TEST(TrsmDevice, ReportsModePassesAndBound) {
  const Executor e = Executor::open("sim:trn2");
  std::mt19937_64 random(3);
  const auto a = solvable<float>(140, Uplo::Lower, Diag::NonUnit, Layout::RowMajor, random),
             b = full<float>(140, 4, Layout::RowMajor, random);
  const OnDevice<float> da(e, a);
  const auto solve = [&](Precision precision) {
    const OnDevice<float> db(e, b);
    return trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1, da.view, db.view, {precision});
  };
  EXPECT_EQ(solve(Mode::Native).passes, 1);
  EXPECT_EQ(solve(Mode::Tf32x3).passes, 3);
  EXPECT_EQ(solve(Mode::Bf16x6).passes, 6);
  EXPECT_EQ(solve(Precision::target(0.1)).mode, Mode::Bf16);
  EXPECT_EQ(solve(Precision::target(5e-3)).mode, Mode::Tf32);
  EXPECT_EQ(solve(Precision::target(3e-5)).mode, Mode::Tf32x3);
  for (const double target : {0.1, 5e-3, 3e-5}) EXPECT_LE(solve(Precision::target(target)).bound, target);
  EXPECT_IN("no precision for float32", message_of<InvalidArgument>([&] { (void)solve(Precision::target(1e-9)); }));
  EXPECT_EQ(solve(Mode::Exact).mode, Mode::Exact);
}

// Zeros need no arithmetic: every type has them, also those that the device cannot solve in.
template <class T> void alpha_zero_reads_nothing() {
  const Executor e = Executor::open("sim:trn2");
  for (const Layout layout : kLayouts) {
    auto b = stored<T>(130, 5, layout);
    b.storage.assign(b.storage.size(), T(7));
    const OnDevice<T> db(e, b);
    const Matrix<T> a(e, 130, 130);  // never written: reading it would be an error
    trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, T(0), a.view(), db.view);
    auto expected = b;
    for (std::int64_t i = 0; i < 130; ++i) {
      for (std::int64_t j = 0; j < 5; ++j) expected.at(i, j) = 0;
    }
    EXPECT_TRUE(db.array.to_host() == expected.storage);
  }
}
TEST(TrsmDevice, AlphaZeroReadsNothing) {
  alpha_zero_reads_nothing<float>();
  alpha_zero_reads_nothing<double>();
  alpha_zero_reads_nothing<std::complex<float>>();
  alpha_zero_reads_nothing<std::complex<double>>();
}

// Memory outside the triangle was never written: reading any of it would be an error.
TEST(TrsmDevice, TheOtherTriangleIsNotRead) {
  const Executor e = Executor::open("sim:trn2");
  std::mt19937_64 random(5);
  for (const Uplo uplo : kUplos) {
    for (const Diag diag : kDiags) {
      for (const bool columns : {false, true}) {
        constexpr std::int64_t n = 140;
        const Array<float> a(e, {n * n}), x = Array<float>::from_host(e, {n}, std::vector<float>(n, 1));
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            if (!in_triangle(uplo, i, j) || (i == j && diag == Diag::Unit)) continue;
            const float value = i == j ? 2.0f : 0.001f;
            e.backend().copy_in(a.data() + (columns ? i + j * n : i * n + j), &value, sizeof value);
          }
        }
        EXPECT_NO_THROW((void)trsm(e, Side::Left, uplo, Op::N, diag, 1,
                                   MatrixView<const float>(e, a.data(), n, n, columns ? 1 : n, columns ? n : 1),
                                   MatrixView<float>(e, x.data(), n, 1, 1, n)));
      }
    }
  }
}

// A system built once per shape: another alpha needs no other program.
TEST(TrsmDevice, ProgramsAreKept) {
  const Executor e = Executor::open("sim:trn2");
  const auto a = Matrix<float>::from_host(e, 2, 2, std::vector<float>{2, 9, 1, 4});
  const auto b = Matrix<float>::from_host(e, 2, 1, std::vector<float>{2, 5});
  Recorder recorder(e);
  trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 2, a.view(), b.view());
  EXPECT_EQ(b.to_host(), (std::vector<float>{2, 2}));
  trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 4, a.view(), b.view());
  EXPECT_EQ(b.to_host(), (std::vector<float>{4, 1}));
  int built = 0;
  for (const Event& event : recorder.events()) built += event.kind == EventKind::Build;
  EXPECT_EQ(built, 1);
}

}  // namespace
}  // namespace trn::blas::test

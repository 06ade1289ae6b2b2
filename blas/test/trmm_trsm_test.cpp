// trmm against sums in wider arithmetic, trsm by its residual in wider arithmetic: every side, triangle, op, diagonal,
// type and layout. The other triangle and a Unit diagonal hold NaN.
#include <trn/blas/symm.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

struct TriangularCase {
  std::int64_t m, n;
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  Layout a = Layout::RowMajor, b = Layout::RowMajor, c = Layout::RowMajor;
  [[nodiscard]] std::int64_t order() const { return side == Side::Left ? m : n; }
};

template <class T>::testing::Message trace(const TriangularCase& t, std::uint64_t seed) {
  return ::testing::Message() << name(dtype_of<T>) << ' ' << t.m << " x " << t.n << " side " << static_cast<int>(t.side)
                              << " uplo " << static_cast<int>(t.uplo) << " op " << static_cast<int>(t.op) << " diag "
                              << static_cast<int>(t.diag) << " layouts " << static_cast<int>(t.a)
                              << static_cast<int>(t.b) << static_cast<int>(t.c) << " seed " << seed;
}

// The bounds of Exact are relative to Euclidean norms, those of the other modes to |A||B|.
template <class T> Sum product_at(const TriangularCase& t, const Stored<T>& a, const Stored<T>& b, std::int64_t i,
                                  std::int64_t j, const Precision& precision) {
  Sum sum;
  long double left = 0, right = 0;
  for (std::int64_t p = 0; p < t.order(); ++p) {
    const bool first = t.side == Side::Left;
    const Wide x = first ? triangular_at(t.uplo, t.op, t.diag, a, i, p) : wide(b.at(i, p));
    const Wide y = first ? wide(b.at(p, j)) : triangular_at(t.uplo, t.op, t.diag, a, p, j);
    sum.add(x, y);
    left += size(x) * size(x);
    right += size(y) * size(y);
  }
  if (precision == Precision(Mode::Exact)) sum.scale = std::sqrt(left) * std::sqrt(right);
  return sum;
}

template <class T>
void check_trmm(const Executor& executor, const TriangularCase& t, std::uint64_t seed, Precision precision = {}) {
  SCOPED_TRACE(trace<T>(t, seed));
  std::mt19937_64 random(seed);
  const auto a = solvable<T>(t.order(), t.uplo, t.diag, t.a, random), b = full<T>(t.m, t.n, t.b, random),
             c = output<T>(t.m, t.n, t.c, false, random);
  const T alpha = number<T>(0.75, -1.25);
  const OnDevice<T> da(executor, a), db(executor, b), dc(executor, c);
  Recorder recorder(executor);
  Accuracy accuracy = trmm(executor, t.side, t.uplo, t.op, t.diag, alpha, da.view, db.view, dc.view, {precision});
  EXPECT_EQ(recorder.family_of("blas.trmm"), t.m && t.n ? name(executor.family()) : "");
  const auto expected = [&](std::int64_t i, std::int64_t j) {
    return product_at(t, a, b, i, j, precision).times(wide(alpha));
  };
  expect_elements(c, fetched(c, dc), accuracy.bound, expected);
  EXPECT_EQ(0, std::memcmp(db.array.to_host().data(), b.storage.data(), b.storage.size() * sizeof(T)))
      << "B was changed";
  accuracy = trmm(executor, t.side, t.uplo, t.op, t.diag, alpha, da.view, db.view, {precision});
  expect_elements(b, fetched(b, db), accuracy.bound, expected);
}

// |alpha B - op(A) X| <= bound |op(A)||X|.
template <class T>
void check_trsm(const Executor& executor, const TriangularCase& t, std::uint64_t seed, Precision precision = {}) {
  SCOPED_TRACE(trace<T>(t, seed));
  std::mt19937_64 random(seed);
  const auto a = solvable<T>(t.order(), t.uplo, t.diag, t.a, random), b = full<T>(t.m, t.n, t.b, random);
  const T alpha = number<T>(0.75, -1.25);
  const OnDevice<T> da(executor, a), db(executor, b);
  Recorder recorder(executor);
  const Accuracy accuracy = trsm(executor, t.side, t.uplo, t.op, t.diag, alpha, da.view, db.view, {precision});
  EXPECT_EQ(recorder.family_of("blas.trsm"), t.m && t.n ? name(executor.family()) : "");
  const auto x = fetched(b, db);
  auto residual_of = b;  // compared with itself after adding the residual: |(alpha b - (op(A) x)) - 0|
  for (std::int64_t i = 0; i < t.m; ++i) {
    for (std::int64_t j = 0; j < t.n; ++j) {
      const Sum sum = product_at(t, a, x, i, j, precision);
      const long double residual = size(wide(alpha) * wide(b.at(i, j)) - sum.value);
      if (!(residual <= accuracy.bound * kOracle * sum.scale)) {
        FAIL() << "residual (" << i << ", " << j << ") is " << residual / sum.scale << " of |A||X|, bound "
               << accuracy.bound;
      }
      residual_of.at(i, j) = x.at(i, j);
    }
  }
  EXPECT_EQ(0, std::memcmp(residual_of.storage.data(), x.storage.data(), x.storage.size() * sizeof(T)))
      << "memory outside B was changed";
}

template <class T> void check_both(const TriangularCase& t, std::uint64_t seed, Precision precision = {}) {
  const Executor host = Executor::host();
  check_trmm<T>(host, t, seed, precision);
  check_trsm<T>(host, t, seed, precision);
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

TEST(TrmmTrsm, EverySideTriangleOpDiagonalTypeAndSize) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 1;
    for_cases([&](Side side, Uplo uplo, Op op, Diag diag) {
      for (const std::int64_t s : {0, 1, 2, 3, 17, 65}) {
        check_both<T>({s, 5, side, uplo, op, diag}, ++seed);
        check_both<T>({4, s, side, uplo, op, diag, Layout::ColumnMajor, Layout::PaddedRows, Layout::PaddedColumns},
                      ++seed);
      }
      check_both<T>(
          {side == Side::Left ? 129 : 6, side == Side::Left ? 6 : 129, side, uplo, op, diag, Layout::PaddedRows},
          ++seed);
      check_both<T>({side == Side::Left ? 64 : 5, side == Side::Left ? 5 : 64, side, uplo, op, diag, Layout::RowMajor,
                     Layout::ColumnMajor},
                    ++seed);
    });
  });
}

TEST(TrmmTrsm, EveryLayout) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 1000;
    for_cases([&](Side side, Uplo uplo, Op op, Diag diag) {
      for (const Layout a : kLayouts) {
        ++seed;
        check_both<T>({7, 6, side, uplo, op, diag, a, kLayouts[seed % 6], kLayouts[seed / 6 % 6]}, seed);
      }
    });
  });
}

// A number that is not finite reaches the rows that depend on it, and no others.
TEST(TrmmTrsm, NotFiniteStaysWhereItBelongs) {
  const Executor e = Executor::host();
  for (const std::int64_t n : {4, 40, 150}) {
    std::vector<double> a(static_cast<std::size_t>(n * n), 1);
    for (const Uplo uplo : kUplos) {
      for (const double bad : {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
        std::vector<double> b(static_cast<std::size_t>(n * 3), 1);
        const std::int64_t row = n / 2;
        b[static_cast<std::size_t>(row * 3 + 1)] = bad;
        const auto vb = MatrixView<double>::row_major(e, b.data(), n, 3);
        const auto va = MatrixView<double>::row_major(e, a.data(), n, n);
        std::vector<double> x = b;
        trmm(e, Side::Left, uplo, Op::N, Diag::NonUnit, 1, va, vb);
        trsm(e, Side::Left, uplo, Op::N, Diag::NonUnit, 1, va, MatrixView<double>::row_major(e, x.data(), n, 3));
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < 3; ++j) {
            const bool reached = j == 1 && (uplo == Uplo::Lower ? i >= row : i <= row);
            const auto at = static_cast<std::size_t>(i * 3 + j);
            EXPECT_EQ(std::isfinite(b[at]), !reached) << "trmm " << i << ' ' << j;
            if (!reached) {
              EXPECT_EQ(b[at], static_cast<double>(uplo == Uplo::Lower ? i + 1 : n - i));
            }
            if (!reached) {
              EXPECT_TRUE(std::isfinite(x[at])) << "trsm " << i << ' ' << j;
            }
          }
        }
      }
    }
  }
}

TEST(TrmmTrsm, AlphaZeroReadsNothing) {
  const Executor e = Executor::host();
  std::vector<float> nan(9, NAN), b(9, NAN);
  const auto va = MatrixView<float>::row_major(e, nan.data(), 3, 3),
             vb = MatrixView<float>::row_major(e, b.data(), 3, 3);
  trmm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 0, va, vb);
  EXPECT_EQ(b, std::vector<float>(9, 0));
  b.assign(9, NAN);
  trsm(e, Side::Right, Uplo::Lower, Op::N, Diag::NonUnit, 0, va, vb);
  EXPECT_EQ(b, std::vector<float>(9, 0));
}

// No test for singularity: a zero on the diagonal gives infinity, as in BLAS.
TEST(TrmmTrsm, SingularGivesInfinity) {
  const Executor e = Executor::host();
  std::vector<double> a{0}, b{2};
  trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1, MatrixView<double>::row_major(e, a.data(), 1, 1),
       MatrixView<double>::row_major(e, b.data(), 1, 1));
  EXPECT_EQ(b[0], INFINITY);
}

// Float64 on a machine without it; 130 rows are three blocks of trsm.
TEST(TrmmTrsm, ExactOnTheDevice) {
  const Executor e = Executor::open("sim:trn2");
  std::uint64_t seed = 5000;
  for_cases([&](Side side, Uplo uplo, Op op, Diag diag) {
    const TriangularCase small{7, 6, side, uplo, op, diag, Layout::PaddedRows, Layout::ColumnMajor, Layout::RowMajor};
    check_trmm<std::complex<double>>(e, small, ++seed, Mode::Exact);
    check_trsm<std::complex<double>>(e, small, ++seed, Mode::Exact);
    if (op != (side == Side::Left ? Op::N : Op::T) || diag == Diag::Unit) return;
    const TriangularCase large{side == Side::Left ? 130 : 2, side == Side::Left ? 2 : 130, side, uplo, op, diag};
    check_trmm<double>(e, large, ++seed, Mode::Exact);
    check_trsm<double>(e, large, ++seed, Mode::Exact);
  });
}

// An infinity in B reaches the rows whose triangle has it, and no other; so does a NaN in A.
TEST(TrmmTrsm, ExactSpecialValuesStayInTheirTriangle) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Executor e = Executor::open("sim:trn2");
  constexpr std::int64_t n = 5;
  for (const Uplo uplo : kUplos) {
    for (const Op op : {Op::N, Op::T}) {
      SCOPED_TRACE(::testing::Message() << "uplo " << static_cast<int>(uplo) << " op " << static_cast<int>(op));
      const bool lower = (uplo == Uplo::Lower) == (op == Op::N);  // of op(A)
      std::vector<double> a(n * n, nan), b(n * 3);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          if (uplo == Uplo::Lower ? j <= i : j >= i)
            a[static_cast<std::size_t>(i * n + j)] = static_cast<double>(1 + i + j);
        }
        for (std::int64_t j = 0; j < 3; ++j) b[static_cast<std::size_t>(i * 3 + j)] = static_cast<double>(2 + i - j);
      }
      b[2 * 3 + 1] = inf;
      const auto da = Matrix<double>::from_host(e, n, n, a), db = Matrix<double>::from_host(e, n, 3, b);
      const Matrix<double> dc(e, n, 3);
      trmm(e, Side::Left, uplo, op, Diag::NonUnit, 1.0, da.view(), db.view(), dc.view(), {Mode::Exact});
      const auto c = dc.to_host();
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) {
          double sum = 0;
          for (std::int64_t p = lower ? 0 : i; p < (lower ? i + 1 : n); ++p) {
            sum += a[static_cast<std::size_t>(op == Op::N ? i * n + p : p * n + i)] *
                   b[static_cast<std::size_t>(p * 3 + j)];
          }
          EXPECT_EQ(c[static_cast<std::size_t>(i * 3 + j)], sum) << i << ", " << j;
        }
      }
      EXPECT_EQ(std::isinf(c[1]), !lower);  // row 0 has the infinity of row 2 in an upper triangle only
    }
  }
}

// What the structure leaves unnamed is never read on a device: there it was never written.
TEST(TrmmTrsm, ExactReadsTheNamedTriangleOnly) {
  const Executor e = Executor::open("sim:trn2");
  for (const std::int64_t n : {3, 130}) {
    const Matrix<double> a(e, n, n), c(e, n, 2);
    const auto b = Matrix<double>::from_host(e, n, 2, std::vector<double>(static_cast<std::size_t>(2 * n), 1.0));
    const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
    for (std::int64_t i = 0; i < n; ++i) {
      copy(View<const double>(Executor::host(), ones.data(), {i + 1}), View<double>(e, a.data() + i * n, {i + 1}));
    }
    trmm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0, a.view(), b.view(), c.view(), {Mode::Exact});
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_EQ(c.to_host()[static_cast<std::size_t>(2 * i)], static_cast<double>(i + 1));
    symm(e, Side::Left, Uplo::Lower, 1.0, a.view(), b.view(), 0.0, c.view(), {Mode::Exact});
    EXPECT_EQ(c.to_host(), std::vector<double>(static_cast<std::size_t>(2 * n), static_cast<double>(n)));
  }
}

TEST(TrmmTrsm, Refusals) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 3, 3), b(e, 3, 4), c(e, 3, 4), square(e, 3, 3), wrong(e, 4, 3);
  const auto mm = [&](Side side, const MatrixView<float>& x, const MatrixView<float>& y, const MatrixView<float>& z) {
    return message_of<InvalidArgument>([&] { trmm(e, side, Uplo::Lower, Op::N, Diag::Unit, 1, x, y, z); });
  };
  EXPECT_IN("blas.trmm: A is 3 x 3, B is 3 x 4, C is 3 x 4, side Right", mm(Side::Right, a.view(), b.view(), c.view()));
  EXPECT_IN("B and C must have one shape", mm(Side::Left, a.view(), b.view(), square.view()));
  EXPECT_IN("A must be 3 x 3", mm(Side::Left, wrong.view(), b.view(), c.view()));
  EXPECT_IN("C shares memory with B", mm(Side::Left, a.view(), MatrixView<float>(e, c.data() + 1, 3, 3, 4, 1),
                                         MatrixView<float>(e, c.data(), 3, 3, 4, 1)));
  EXPECT_IN("C shares memory with A", mm(Side::Left, a.view(), square.view(), a.view()));
  const auto sm = [&](Side side, const MatrixView<float>& x, const MatrixView<float>& y) {
    return message_of<InvalidArgument>([&] { trsm(e, side, Uplo::Lower, Op::N, Diag::Unit, 1, x, y); });
  };
  EXPECT_IN("blas.trsm: A is 3 x 3, B is 3 x 4, side Right; A must be 4 x 4", sm(Side::Right, a.view(), b.view()));
  EXPECT_IN("B shares memory with A", sm(Side::Left, a.view(), a.view()));
  EXPECT_IN("elements share places", sm(Side::Left, a.view(), MatrixView<float>(e, b.data(), 3, 4, 1, 1)));
  EXPECT_IN("its pointer is null", sm(Side::Left, MatrixView<float>(e, nullptr, 3, 3, 3, 1), b.view()));
}

TEST(Trmm, OnTheDevice) {
  std::uint64_t seed = 9000;
  const Executor machines[] = {Executor::open("sim:trn1"), Executor::open("sim:trn2"), Executor::open("sim:trn3")};
  for (const Side side : kSides) {
    for (const Uplo uplo : kUplos) {
      for (const Op op : kAllOps) {
        for (const Diag diag : kDiags) {
          const Executor& e = machines[seed / 2 % 3];
          const Layout a = seed % 4 ? Layout::PaddedRows : Layout::ColumnMajor,
                       b = seed % 3 ? Layout::RowMajor : Layout::PaddedColumns;
          check_trmm<float>(e, {131, 40, side, uplo, op, diag, a, b, b}, seed), ++seed;
          check_trmm<std::complex<float>>(e, {40, 33, side, uplo, op, diag, a, b, b}, seed,
                                          seed % 8 < 4 ? Mode::Native : Mode::Tf32x3),
              ++seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace trn::blas::test

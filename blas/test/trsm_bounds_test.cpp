// The bound of trsm says something: on well-conditioned triangles it is within a factor of the largest residual, 1000
// for the modes and 10 for Exact (the median of several solves), and on badly conditioned ones it still holds.
#include <trn/blas/trsm.hpp>

#include <algorithm>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

enum class Condition { Diagonal, Good, Bad };  // nearly diagonal; 10 to 100; pivots down to 1e-6 of their rows

template <class T> Stored<T> system(std::int64_t n, Uplo uplo, Condition condition, std::mt19937_64& random) {
  auto a = triangle<T>(n, uplo, Layout::RowMajor, random);
  const double off =
      condition == Condition::Diagonal ? 1.0 / static_cast<double>(n) : 1 / std::sqrt(static_cast<double>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (!in_triangle(uplo, i, j)) continue;
      a.at(i, j) *= static_cast<Real<T>>(off);
      if (i != j) continue;
      if (condition == Condition::Bad)
        a.at(i, i) = T(static_cast<Real<T>>(i % 64 == 7 ? 1e-6 : 1));
      else
        a.at(i, i) += T(condition == Condition::Diagonal ? 3 : 2);
    }
  }
  return a;
}

// The bound over the largest residual of one solve, both relative to ||a_i|| ||x_j||.
template <class T> double looseness(const Executor& e, std::int64_t n, Mode mode, Side side, Uplo uplo,
                                    Condition condition, std::mt19937_64& random) {
  const std::int64_t count = 4;
  const auto a = system<T>(n, uplo, condition, random);
  const auto b =
      side == Side::Left ? full<T>(n, count, Layout::RowMajor, random) : full<T>(count, n, Layout::RowMajor, random);
  const OnDevice<T> da(e, a), dx(e, b);
  const T alpha = number<T>(0.75, -0.5);
  const Accuracy accuracy = trsm(e, side, uplo, Op::N, Diag::NonUnit, alpha, da.view, dx.view, {mode});
  EXPECT_EQ(accuracy.mode, mode);
  const auto x = fetched(b, dx);
  long double worst = 0;
  for (std::int64_t q = 0; q < count; ++q) {
    for (std::int64_t i = 0; i < n; ++i) {
      Sum sum;
      for (std::int64_t p = 0; p < n; ++p) {
        const bool left = side == Side::Left;
        sum.add(triangular_at(uplo, Op::N, Diag::NonUnit, a, left ? i : p, left ? p : i),
                wide(left ? x.at(p, q) : x.at(q, p)));
      }
      const Wide right = wide(alpha) * wide(side == Side::Left ? b.at(i, q) : b.at(q, i));
      worst = std::max(worst, size(right - sum.value) / sum.normwise().scale);
    }
  }
  EXPECT_LE(worst, accuracy.bound * kOracle) << name(mode) << " n " << n;
  return static_cast<double>(accuracy.bound / worst);
}

template <class T>
double median_looseness(const Executor& e, std::int64_t n, Mode mode, Side side, Uplo uplo, Condition condition) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::vector<double> all(3);
  for (double& one : all) one = looseness<T>(e, n, mode, side, uplo, condition, random);
  std::ranges::sort(all);
  return all[1];
}

constexpr Mode kWords[] = {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6};

TEST(TrsmBounds, ModesAreWithinAThousand) {
  for (const char* where : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(where);
    for (const Mode mode : kWords) {
      for (const std::int64_t n : {32, 150}) {
        for (const Condition condition : {Condition::Diagonal, Condition::Good}) {
          SCOPED_TRACE(::testing::Message()
                       << where << ' ' << name(mode) << " n " << n << ' ' << static_cast<int>(condition));
          EXPECT_LE(median_looseness<float>(e, n, mode, Side::Left, Uplo::Lower, condition), 1000);
          EXPECT_LE(median_looseness<std::complex<float>>(e, n, mode, Side::Right, Uplo::Upper, condition), 1000);
        }
        (void)median_looseness<float>(e, n, mode, Side::Left, Uplo::Upper, Condition::Bad);
      }
    }
  }
  const Executor host = Executor::host();
  EXPECT_LE(median_looseness<float>(host, 400, Mode::Native, Side::Left, Uplo::Lower, Condition::Diagonal), 1000);
  EXPECT_LE(median_looseness<double>(host, 400, Mode::Native, Side::Right, Uplo::Lower, Condition::Good), 1000);
}

template <class T> void exact_within_ten(const Executor& e, std::int64_t n) {
  for (const Condition condition : {Condition::Diagonal, Condition::Good}) {
    SCOPED_TRACE(::testing::Message() << e.name() << " n " << n << ' ' << static_cast<int>(condition) << ' '
                                      << name(dtype_of<T>));
    EXPECT_LE(median_looseness<T>(e, n, Mode::Exact, Side::Left, Uplo::Lower, condition), 10);
    EXPECT_LE(median_looseness<T>(e, n, Mode::Exact, Side::Right, Uplo::Upper, condition), 10);
  }
  (void)median_looseness<T>(e, n, Mode::Exact, Side::Left, Uplo::Upper, Condition::Bad);
}
TEST(TrsmBounds, ExactIsWithinTen) {
  const Executor host = Executor::host(), sim = Executor::open("sim:trn2");
  for (const std::int64_t n : {20, 64, 200}) for_scalars([&]<class T>(T) { exact_within_ten<T>(host, n); });
  exact_within_ten<float>(sim, 40);
  exact_within_ten<double>(sim, 70);
}

// The same steps with the same products: the same bits on the host and on a device.
TEST(TrsmBounds, ExactGivesTheSameBitsEverywhere) {
  std::mt19937_64 random(4);
  const auto a = system<double>(90, Uplo::Lower, Condition::Good, random),
             b = full<double>(90, 3, Layout::RowMajor, random);
  std::vector<double> first;
  for (const char* where : {"host", "sim:trn1", "sim:trn3"}) {
    const Executor e = Executor::open(where);
    const OnDevice<double> da(e, a), dx(e, b);
    const Accuracy accuracy =
        trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 0.3, da.view, dx.view, {Mode::Exact});
    EXPECT_LE(accuracy.bound, 2 * 0x1p-53);
    const auto x = fetched(b, dx).storage;
    if (first.empty()) first = x;
    EXPECT_EQ(0, std::memcmp(first.data(), x.data(), x.size() * sizeof(double))) << where;
  }
}

TEST(TrsmBounds, ColumnsOfZeros) {
  const Executor e = Executor::host();
  const auto a = Matrix<double>::from_host(e, 2, 2, std::vector<double>{2, 0, 1, 3}),
             b = Matrix<double>::from_host(e, 2, 2, std::vector<double>{0, 1, 0, 2});
  const Accuracy accuracy =
      trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0, a.view(), b.view(), {Mode::Exact});
  EXPECT_LE(accuracy.bound, 0x1p-52);
  EXPECT_EQ(b.to_host(), (std::vector<double>{0, 0.5, 0, 0.5}));
}

// 1 / 1e-320 is infinite: no number bounds that residual. In every layout that the host solves in place or in a copy.
TEST(TrsmBounds, InfiniteWhereXIsNotFinite) {
  const Executor e = Executor::host();
  for_scalars([&]<class T>(T) {
    const T small = std::numeric_limits<Real<T>>::denorm_min();
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 1}, {1, 3}, {5, 7}}) {
      for (const bool finite : {true, false}) {
        std::vector<T> a{T(1), T(0), T(1), finite ? T(2) : small},
            b(static_cast<std::size_t>(6 * std::max(rows, columns)) + 1, T(3));
        const MatrixView<const T> va(e, a.data(), 2, 2, 2, 1);
        const MatrixView<T> vb(e, b.data(), 2, 3, rows, columns);
        const Accuracy accuracy = trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, T(1), va, vb);
        EXPECT_EQ(std::isfinite(accuracy.bound), finite) << name(dtype_of<T>) << ' ' << rows;
      }
    }
  });
}

// The last pivot is 0, so that the infinity it makes meets no other number of A.
TEST(TrsmBounds, InfiniteWhereAPivotIsZero) {
  for (const char* where : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(where);
    for (const Mode mode : {Mode::Native, Mode::Bf16, Mode::Exact}) {
      const auto a = Matrix<float>::from_host(e, 2, 2, std::vector<float>{3, 0, 1, 0}),
                 b = Matrix<float>::from_host(e, 2, 1, std::vector<float>{6, 5});
      const Accuracy accuracy =
          trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0F, a.view(), b.view(), {mode});
      EXPECT_FALSE(std::isfinite(b.to_host()[1])) << where << ' ' << name(mode);
      EXPECT_EQ(accuracy.bound, std::numeric_limits<double>::infinity()) << where << ' ' << name(mode);
    }
  }
}

// Residuals of row 0 and what is not known of row 1 are below 2^-1075 ||a_i|| ||x_j||: the bound is 2^-1074, not 0.
TEST(TrsmBounds, ExactRoundsUp) {
  for (const char* where : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(where);
    const auto a = Matrix<double>::from_host(e, 2, 2, std::vector<double>{3, 0, 0x1p1023, 1}),
               b = Matrix<double>::from_host(e, 2, 1, std::vector<double>{0x1p-1074, 0x1p1000});
    const Accuracy accuracy =
        trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0, a.view(), b.view(), {Mode::Exact});
    EXPECT_EQ(b.to_host(), (std::vector<double>{0, 0x1p1000})) << where;  // 2^-1074 is left of row 0
    EXPECT_GT(accuracy.bound, 0) << where;
  }
}

}  // namespace
}  // namespace trn::blas::test

// syrk, herk and trsm on distributed operands: bits over ranks and grids, values against long double, and what is not
// to be touched.
#include <cmath>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_trsm.hpp>

#include "support/dist_matrices.hpp"

namespace trn::blas {
namespace {

using namespace dist_test;

template <class T> struct Result {
  std::vector<T> values;
  Accuracy accuracy;
};

// Runs program(group, executor) -> Result on every rank; that of rank 0.
template <class T, class F> Result<T> on_ranks(const std::string& executor, int ranks, const F& program) {
  Result<T> result;
  comm::run(
      group_of(executor, ranks),
      [&](const comm::Communicator& group, const Executor& e) {
        const Result<T> mine = program(group, e);
        EXPECT_EQ(comm::maximum(group, mine.accuracy.bound), mine.accuracy.bound);
        if (group.rank() == 0) result = mine;
      },
      kLimits);
  return result;
}

template <class T> Result<T> rank_k(const std::string& executor, int ranks, const dist::Grid& grid, Uplo uplo, Op op,
                                    bool hermitian, std::int64_t n, std::int64_t k, double beta, std::int64_t block,
                                    Precision precision) {
  return on_ranks<T>(executor, ranks, [&](const comm::Communicator& group, const Executor& e) {
    const dist::Matrix<T> a(group, e, {op == Op::N ? n : k, op == Op::N ? k : n, 6, block, grid}),
        c(group, e, {n, n, block, block + 2, grid});
    a.fill([](std::int64_t i, std::int64_t j) { return number<T>(1, i, j); });
    c.fill([&](std::int64_t i, std::int64_t j) {  // the other triangle must stay, NaN or not
      const bool wanted = uplo == Uplo::Lower ? i >= j : i <= j;
      return !wanted || beta == 0 ? T(NAN) : number<T>(3, i, j);
    });
    const ProductOptions options{precision};
    Accuracy accuracy;
    if constexpr (ComplexScalar<T>) {
      if (hermitian) accuracy = herk<T>(uplo, op, -0.5, a, static_cast<Real<T>>(beta), c, options);
    }
    if (!hermitian) accuracy = syrk<T>(uplo, op, T(-0.5), a, T(static_cast<Real<T>>(beta)), c, options);
    return Result<T>{c.to_host(), accuracy};
  });
}

template <class T>
void check_rank_k(const Result<T>& r, Uplo uplo, Op op, bool hermitian, std::int64_t n, std::int64_t k, double beta) {
  const auto a = [&](std::int64_t i, std::int64_t p) {
    return wide(op == Op::N ? number<T>(1, i, p) : op_of(op, number<T>(1, p, i)));
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const T got = r.values[static_cast<std::size_t>(i * n + j)];
      if (uplo == Uplo::Lower ? i < j : i > j) {
        EXPECT_TRUE(std::isnan(std::real(got))) << "the other triangle was written";
        continue;
      }
      Wide<T> sum = 0;
      long double ni = 0, nj = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        Wide<T> right = a(j, p);
        if constexpr (ComplexScalar<T>) {
          if (hermitian) right = std::conj(right);
        }
        sum += a(i, p) * right;
        ni += std::norm(a(i, p)), nj += std::norm(a(j, p));
      }
      Wide<T> c = beta == 0 ? Wide<T>(0) : wide(number<T>(3, i, j));
      if (hermitian && i == j) c = std::real(c);
      if (hermitian && i == j) {
        EXPECT_EQ(std::imag(got), 0);
      }
      const Wide<T> exact = -0.5L * sum + static_cast<long double>(beta) * c;
      const long double unit = 0.5L * std::sqrt(ni * nj) + std::abs(static_cast<long double>(beta) * c);
      ASSERT_LE(std::abs(wide(got) - exact), r.accuracy.bound * unit) << i << " " << j;
    }
  }
}

template <class T> int compare_rank_k(const std::string& executor, Op op, bool hermitian, std::int64_t n,
                                      std::int64_t k, double beta, Precision precision,
                                      std::initializer_list<int> ranks) {
  int cases = 0;
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    for (const std::int64_t block : {5, 16}) {
      const Result<T> one = rank_k<T>(executor, 1, {}, uplo, op, hermitian, n, k, beta, block, precision);
      check_rank_k(one, uplo, op, hermitian, n, k, beta);
      for (const int p : ranks) {
        for (const dist::Grid& grid : grids(p)) {
          const Result<T> r = rank_k<T>(executor, p, grid, uplo, op, hermitian, n, k, beta, block, precision);
          EXPECT_EQ(differing(r.values, one.values), 0) << p << " ranks, " << grid.rows << " x " << grid.columns;
          EXPECT_EQ(r.accuracy.bound, one.accuracy.bound);
          ++cases;
        }
      }
    }
  }
  return cases;
}

TEST(DistSyrk, HasTheSameBitsOnAnyNumberOfRanks) {
  int cases = 0;
  cases += compare_rank_k<double>("host", Op::N, false, 51, 37, 0.5, {}, {2, 3, 4, 6, 7, 12});
  cases += compare_rank_k<double>("host", Op::T, false, 40, 530, 0, Mode::Exact, {4, 6});
  cases += compare_rank_k<std::complex<double>>("host", Op::C, true, 33, 20, 1, {}, {3, 4});
  cases += compare_rank_k<std::complex<float>>("host", Op::N, true, 35, 20, 0.25, {}, {6});
  cases += compare_rank_k<std::complex<float>>("host", Op::T, false, 35, 20, 0.25, {}, {4});
  cases += compare_rank_k<float>("sim:trn2", Op::N, false, 35, 20, 0.25, {}, {4});
  std::printf("%d rank-k updates compared bit by bit with one rank\n", cases);
}

struct Triangle {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
};

// Well conditioned: a large diagonal. What must not be read is NaN.
template <class T> T triangle(const Triangle& t, std::int64_t i, std::int64_t j) {
  if (i == j) return t.diag == Diag::Unit ? T(NAN) : T(4) + number<T>(5, i, j);
  const bool stored = t.uplo == Uplo::Lower ? i > j : i < j;
  return stored ? number<T>(5, i, j) * T(static_cast<Real<T>>(t.diag == Diag::Unit ? 0.05 : 0.5)) : T(NAN);
}

template <class T> Result<T> solve(const std::string& executor, int ranks, const dist::Grid& grid, const Triangle& t,
                                   std::int64_t m, std::int64_t n, std::int64_t block, Precision precision) {
  return on_ranks<T>(executor, ranks, [&](const comm::Communicator& group, const Executor& e) {
    const std::int64_t order = t.side == Side::Left ? m : n;
    const dist::Matrix<T> a(group, e, {order, order, 4, 9, grids(ranks).back()}),
        b(group, e, {m, n, block, block + 1, grid});
    a.fill([&](std::int64_t i, std::int64_t j) { return triangle<T>(t, i, j); });
    b.fill([](std::int64_t i, std::int64_t j) { return number<T>(6, i, j); });
    const Accuracy accuracy = trsm<T>(t.side, t.uplo, t.op, t.diag, T(-2), a, b, {precision});
    return Result<T>{b.to_host(), accuracy};
  });
}

// |alpha B - op(A) X| or |alpha B - X op(A)| against the bound.
template <class T> void check_solve(const Result<T>& r, const Triangle& t, std::int64_t m, std::int64_t n) {
  const bool left = t.side == Side::Left;
  const std::int64_t order = left ? m : n;
  const auto a = [&](std::int64_t i, std::int64_t j) -> Wide<T> {
    const std::int64_t si = t.op == Op::N ? i : j, sj = t.op == Op::N ? j : i;
    if (si == sj && t.diag == Diag::Unit) return 1;
    if (si != sj && (t.uplo == Uplo::Lower) != (si > sj)) return 0;
    return wide(op_of(t.op, triangle<T>(t, si, sj)));
  };
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Wide<T> sum = 0;
      long double na = 0, nx = 0;
      for (std::int64_t p = 0; p < order; ++p) {
        const Wide<T> f = left ? a(i, p) : a(p, j),
                      x = wide(r.values[static_cast<std::size_t>(left ? p * n + j : i * n + p)]);
        sum += f * x;
        na += std::norm(f), nx += std::norm(x);
      }
      ASSERT_LE(std::abs(-2.0L * wide(number<T>(6, i, j)) - sum), r.accuracy.bound * std::sqrt(na) * std::sqrt(nx))
          << i << " " << j;
    }
  }
}

template <class T> int compare_solves(const std::string& executor, std::int64_t m, std::int64_t n, std::int64_t block,
                                      Precision precision, std::initializer_list<int> ranks, bool all) {
  int cases = 0;
  for (const Side side : {Side::Left, Side::Right}) {
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      for (const Op op : {Op::N, Op::T, Op::C}) {
        if (!all && (op == Op::T) != (uplo == Uplo::Lower)) continue;
        const Triangle t{side, uplo, op, op == Op::C ? Diag::Unit : Diag::NonUnit};
        const Result<T> one = solve<T>(executor, 1, {}, t, m, n, block, precision);
        check_solve(one, t, m, n);
        for (const int p : ranks) {
          for (const dist::Grid& grid : grids(p)) {
            const Result<T> r = solve<T>(executor, p, grid, t, m, n, block, precision);
            EXPECT_EQ(differing(r.values, one.values), 0) << p << " ranks, " << grid.rows << " x " << grid.columns;
            EXPECT_EQ(r.accuracy.bound, one.accuracy.bound);
            ++cases;
          }
        }
      }
    }
  }
  return cases;
}

// Memory follows the extents, not the blocks.
TEST(DistTrsm, BlocksMayBeMuchLargerThanTheMatrix) {
  comm::run(comm::Group::open("hostx2"), [](const comm::Communicator& c, const Executor& e) {
    const dist::Matrix<double> a(c, e, {5, 5, 2147483647, 2147483647, {1, 2}});
    const dist::Matrix<double> b(c, e, {5, 2, 2147483647, 2147483647, {1, 2}});
    a.fill([](std::int64_t i, std::int64_t j) { return i == j ? 4.0 : 0.0; });
    b.fill([](std::int64_t, std::int64_t) { return 8.0; });
    (void)trsm(Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0, a, b);
    EXPECT_EQ(b.to_host(), std::vector<double>(10, 2.0));
  });
}

TEST(DistTrsm, HasTheSameBitsOnAnyNumberOfRanks) {
  int cases = 0;
  cases += compare_solves<double>("host", 45, 31, 7, {}, {2, 3, 6, 12}, true);
  cases += compare_solves<std::complex<double>>("host", 33, 40, 8, {}, {6, 7}, false);
  cases += compare_solves<float>("host", 33, 40, 16, {}, {3}, false);
  cases += compare_solves<double>("host", 25, 21, 8, Mode::Exact, {4}, false);
  cases += compare_solves<float>("sim:trn2", 40, 20, 16, {}, {4}, false);
  cases += compare_solves<double>("sim:trn2", 20, 20, 8, Mode::Exact, {2}, false);
  std::printf("%d solves compared bit by bit with one rank\n", cases);
}

}  // namespace
}  // namespace trn::blas

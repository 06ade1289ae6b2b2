// gemm on distributed operands: the same bits for every number of ranks, grid and distribution of A and B; values
// against long double.
#include <cmath>
#include <mutex>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_grid.hpp>
#include <trn/blas/gemm.hpp>

#include "support/dist_matrices.hpp"

namespace trn::blas {
namespace {

using namespace dist_test;

struct Case {
  std::int64_t m, n, k;
  Op op_a, op_b;
  double alpha, beta;
};

struct Layout {
  int ranks;
  dist::Grid c, a, b;             // grids of the three operands
  std::int64_t a_block, b_block;  // of A and B; C has its own
};

template <class T> struct Result {
  std::vector<T> c;
  Accuracy accuracy;
};

template <class T> Result<T> product(const std::string& executor, const Case& x, const Layout& layout,
                                     std::int64_t row_block, std::int64_t column_block, Precision precision) {
  Result<T> result;
  comm::run(
      group_of(executor, layout.ranks),
      [&](const comm::Communicator& group, const Executor& e) {
        const auto shape = [](Op op, std::int64_t rows, std::int64_t columns) {
          return op == Op::N ? std::pair(rows, columns) : std::pair(columns, rows);
        };
        const auto [am, ak] = shape(x.op_a, x.m, x.k);
        const auto [bk, bn] = shape(x.op_b, x.k, x.n);
        const dist::Matrix<T> a(group, e, {am, ak, layout.a_block, layout.a_block + 1, layout.a}),
            b(group, e, {bk, bn, layout.b_block, layout.b_block, layout.b}),
            c(group, e, {x.m, x.n, row_block, column_block, layout.c});
        a.fill([](std::int64_t i, std::int64_t j) { return number<T>(1, i, j); });
        b.fill([](std::int64_t i, std::int64_t j) { return number<T>(2, i, j); });
        c.fill([&](std::int64_t i, std::int64_t j) { return x.beta == 0 ? T(NAN) : number<T>(3, i, j); });
        const Accuracy accuracy = gemm<T>(x.op_a, x.op_b, T(static_cast<Real<T>>(x.alpha)), a, b,
                                          T(static_cast<Real<T>>(x.beta)), c, {.precision = precision});
        const double bound = accuracy.bound;
        EXPECT_EQ(comm::maximum(group, bound), bound) << "every rank has the same bound";
        const std::vector<T> whole = c.to_host();
        if (group.rank() == 0) result = {whole, accuracy};
      },
      kLimits);
  return result;
}

// The largest error over the bound's unit.
template <class T> double worst(const Case& x, const Result<T>& r) {
  const auto a = [&](std::int64_t i, std::int64_t p) {
    return wide(x.op_a == Op::N ? number<T>(1, i, p) : op_of(x.op_a, number<T>(1, p, i)));
  };
  const auto b = [&](std::int64_t p, std::int64_t j) {
    return wide(x.op_b == Op::N ? number<T>(2, p, j) : op_of(x.op_b, number<T>(2, j, p)));
  };
  double error = 0;
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      Wide<T> sum = 0;
      long double na = 0, nb = 0;
      for (std::int64_t p = 0; p < x.k; ++p) {
        sum += a(i, p) * b(p, j);
        na += std::norm(a(i, p)), nb += std::norm(b(p, j));
      }
      const Wide<T> c = x.beta == 0 ? Wide<T>(0) : wide(number<T>(3, i, j));
      const auto alpha = static_cast<long double>(static_cast<Real<T>>(x.alpha)),
                 beta = static_cast<long double>(static_cast<Real<T>>(x.beta));
      const long double unit = std::abs(alpha) * std::sqrt(na) * std::sqrt(nb) + std::abs(beta * c);
      const Wide<T> got = wide(r.c[static_cast<std::size_t>(i * x.n + j)]);
      const long double distance = std::abs(got - (alpha * sum + beta * c));
      if (!(distance <= 0)) error = std::max(error, static_cast<double>(distance / unit));
      if (std::isnan(distance)) return NAN;
    }
  }
  return error;
}

template <class T> int compare(const std::string& executor, const Case& x, std::int64_t row_block,
                               std::int64_t column_block, Precision precision, std::initializer_list<int> ranks) {
  const Result<T> one = product<T>(executor, x, {1, {}, {}, {}, 5, 7}, row_block, column_block, precision);
  EXPECT_LE(worst(x, one), one.accuracy.bound) << "value";
  int cases = 0;
  for (const int p : ranks) {
    const std::vector<dist::Grid> all = grids(p);
    for (std::size_t g = 0; g < all.size(); ++g) {
      const Layout layouts[] = {{p, all[g], all[g], all[g], row_block, column_block},
                                {p, all[g], all[(g + 1) % all.size()], all[0], 4, 9}};
      for (const Layout& layout : layouts) {
        const Result<T> r = product<T>(executor, x, layout, row_block, column_block, precision);
        EXPECT_EQ(differing(r.c, one.c), 0)
            << executor << " " << p << " ranks, grid " << all[g].rows << " x " << all[g].columns << ", blocks "
            << row_block << " x " << column_block << ", A " << layout.a_block << ", m n k " << x.m << " " << x.n << " "
            << x.k;
        EXPECT_EQ(r.accuracy.bound, one.accuracy.bound);
        EXPECT_EQ(r.accuracy.passes, one.accuracy.passes);
        ++cases;
      }
    }
  }
  return cases;
}

constexpr Case kCases[] = {{61, 47, 83, Op::N, Op::N, 1, 0},
                           {40, 53, 600, Op::T, Op::N, -0.75, 1},
                           {37, 29, 31, Op::N, Op::C, 1.25, 0.5},
                           {33, 65, 20, Op::C, Op::T, 1, 1},
                           {5, 3, 1100, Op::N, Op::T, 0.5, -1}};

TEST(DistGemm, HasTheSameBitsOnAnyNumberOfHostRanks) {
  int cases = 0;
  for (const Case& x : kCases) {
    cases += compare<double>("host", x, 8, 8, {}, {1, 2, 3, 4, 6, 7, 12});
    cases += compare<float>("host", x, 16, 5, {}, {2, 6, 7});
    cases += compare<std::complex<double>>("host", x, 7, 12, {}, {3, 4, 12});
    cases += compare<std::complex<float>>("host", x, 64, 64, {}, {2, 4, 7});
  }
  std::printf("%d products compared bit by bit with one rank\n", cases);
}

TEST(DistGemm, HasTheSameBitsInExact) {
  int cases = 0;
  for (const Case& x : kCases) {
    cases += compare<double>("host", x, 8, 8, Mode::Exact, {2, 7});
    cases += compare<float>("host", x, 16, 5, Mode::Exact, {6});
    cases += compare<std::complex<double>>("host", x, 7, 12, Mode::Exact, {4});
  }
  std::printf("%d exact products compared bit by bit with one rank\n", cases);
}

TEST(DistGemm, InExactHasTheBitsOfTheLocalOperation) {
  const Case x{61, 47, 83, Op::N, Op::N, 1, 0};
  // Rows of very different sizes: the plan depends on the worst of them, which one rank has.
  const auto element = [](std::int64_t i, std::int64_t j) {
    return std::ldexp(number<double>(1, i, j), static_cast<int>(i == 17 ? (j * 7) % 90 : 0));
  };
  const Executor host = Executor::host();
  std::vector<double> a, b, c(static_cast<std::size_t>(x.m * x.n));
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.k; ++j) a.push_back(element(i, j));
  }
  for (std::int64_t i = 0; i < x.k; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) b.push_back(number<double>(2, i, j));
  }
  const Accuracy local = gemm(host, Op::N, Op::N, 1.0, MatrixView<double>::row_major(host, a.data(), x.m, x.k),
                              MatrixView<double>::row_major(host, b.data(), x.k, x.n), 0.0,
                              MatrixView<double>::row_major(host, c.data(), x.m, x.n), {.precision = Mode::Exact});
  for (const int p : {1, 4, 6}) {
    comm::run(group_of("host", p), [&](const comm::Communicator& group, const Executor& e) {
      const dist::Grid grid = dist::square_grid(p);
      const dist::Matrix<double> da(group, e, {x.m, x.k, 8, 8, grid}), db(group, e, {x.k, x.n, 8, 8, grid}),
          dc(group, e, {x.m, x.n, 8, 8, grid});
      da.fill(element);
      db.fill([](std::int64_t i, std::int64_t j) { return number<double>(2, i, j); });
      const Accuracy accuracy = gemm<double>(Op::N, Op::N, 1, da, db, 0, dc, {.precision = Mode::Exact});
      EXPECT_EQ(differing(dc.to_host(), c), 0) << p;
      EXPECT_EQ(accuracy.bound, local.bound);
      EXPECT_EQ(accuracy.passes, local.passes);
    });
  }
}

TEST(DistGemm, HasTheSameBitsOnDevices) {
  int cases = 0;
  const Case x{150, 140, 200, Op::N, Op::N, 1, 0.5}, y{70, 33, 40, Op::T, Op::C, -1, 1};
  cases += compare<float>("sim:trn2", x, 32, 32, {}, {2, 4});
  cases += compare<float>("sim:trn2", y, 16, 16, {}, {3, 6});
  cases += compare<float>("sim:trn2", y, 16, 16, Mode::Bf16x6, {4});
  cases += compare<std::complex<float>>("sim:trn2", y, 16, 16, {}, {4});
  cases += compare<double>("sim:trn2", y, 16, 16, Mode::Exact, {4});
  std::printf("%d products compared bit by bit with one rank\n", cases);
}

// Grids of products: square for square ones, a line where one side is long, and fewer ranks than there are where that
// is quicker; the volume is what a count of the elements that ranks lack gives.
TEST(DistGemm, GridsThatMoveLittle) {
  EXPECT_EQ(product_grid({.m = 1000, .n = 1000, .k = 1000}, 16), (dist::Grid{4, 4}));
  EXPECT_EQ(product_grid({.m = 100000, .n = 10, .k = 50}, 8), (dist::Grid{8, 1}));
  EXPECT_EQ(product_grid({.m = 10, .n = 100000, .k = 50}, 8), (dist::Grid{1, 8}));
  EXPECT_EQ(product_grid({.m = 3000, .n = 3000, .k = 3000, .terms_per_element = 1000}, 7), (dist::Grid{2, 3}));
  EXPECT_EQ(product_grid({.m = 3000, .n = 3000, .k = 3000, .terms_per_element = 1}, 7), (dist::Grid{1, 7}));
  EXPECT_EQ(product_grid({.m = 1, .n = 1, .k = 1000}, 5), (dist::Grid{1, 1}));  // nothing to share
  EXPECT_EQ(product_grid({.m = 100, .n = 100, .k = 100, .memory = 2000}, 4), std::nullopt);
  EXPECT_THROW((void)product_grid({.m = -1, .n = 1, .k = 1}, 4), InvalidArgument);
  for (const dist::Grid& g : {dist::Grid{2, 3}, dist::Grid{1, 4}, dist::Grid{3, 1}}) {
    const ProductShape s{.m = 12, .n = 24, .k = 60};
    const dist::BlockCyclic a{12, 60, 12 / g.rows, 60 / g.columns, g}, b{60, 24, 60 / g.rows, 24 / g.columns, g};
    double most = 0;
    for (int r = 0; r < g.size(); ++r) {
      double lacks = 0;
      for (std::int64_t p = 0; p < 60; ++p) {
        for (std::int64_t i = 0; i < 12; ++i)
          lacks += a.row().owner(i) == g.row_of(r) && a.column().owner(p) != g.column_of(r) ? 1 : 0;
        for (std::int64_t j = 0; j < 24; ++j)
          lacks += b.column().owner(j) == g.column_of(r) && b.row().owner(p) != g.row_of(r) ? 1 : 0;
      }
      most = std::max(most, lacks);
    }
    EXPECT_NEAR(product_volume(s, g), most, 1e-9);
  }
}

TEST(DistGemm, OtherModesOfTheHostGoBlockByBlock) {
  const Case x{61, 47, 600, Op::N, Op::T, 1, 0.5};
  const int cases =
      compare<float>("host", x, 8, 8, Mode::Tf32x3, {2, 6}) + compare<float>("host", x, 16, 16, Mode::Bf16, {4});
  std::printf("%d products compared bit by bit with one rank\n", cases);
}

TEST(DistGemm, ExtentsOfZero) {
  for (const Case& x :
       {Case{0, 5, 4, Op::N, Op::N, 1, 0}, Case{5, 0, 4, Op::N, Op::N, 1, 0}, Case{9, 5, 0, Op::N, Op::N, 1, 0},
        Case{9, 5, 0, Op::N, Op::N, 1, 0.5}, Case{9, 5, 3, Op::N, Op::N, 0, 1}}) {
    for (const Mode mode : {Mode::Native, Mode::Exact}) {
      const Result<double> one = product<double>("host", x, {1, {}, {}, {}, 2, 2}, 2, 2, mode),
                           four = product<double>("host", x, {4, {2, 2}, {2, 2}, {1, 4}, 2, 2}, 2, 2, mode);
      EXPECT_TRUE(same_bits(one.c, four.c));
      EXPECT_LE(worst(x, one), std::max(one.accuracy.bound, 0x1p-52));
    }
  }
}

TEST(DistGemm, WorksInAPartOfTheGroup) {
  const Case x{30, 20, 25, Op::N, Op::N, 1, 0};
  const Result<double> one = product<double>("host", x, {1, {}, {}, {}, 5, 7}, 8, 8, {});
  comm::run(group_of("host", 5), [&](const comm::Communicator& world, const Executor& e) {
    const comm::Communicator group = world.split(world.rank() % 2);
    const dist::Grid grid{group.size(), 1};
    const dist::Matrix<double> a(group, e, {x.m, x.k, 8, 8, grid}), b(group, e, {x.k, x.n, 8, 8, grid}),
        c(group, e, {x.m, x.n, 8, 8, grid});
    a.fill([](std::int64_t i, std::int64_t j) { return number<double>(1, i, j); });
    b.fill([](std::int64_t i, std::int64_t j) { return number<double>(2, i, j); });
    gemm<double>(Op::N, Op::N, 1, a, b, 0, c);
    EXPECT_EQ(differing(c.to_host(), one.c), 0);
  });
}

}  // namespace
}  // namespace trn::blas

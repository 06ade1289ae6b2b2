// Distributed sparse matrices: products, conjugate gradients and multigrid with the bits of one rank, values against
// long double and the local cycle.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include <trn/comm/group.hpp>
#include <trn/core/error.hpp>
#include <trn/sparse/dist_amg.hpp>
#include <trn/sparse/dist_csr.hpp>
#include <trn/sparse/gallery.hpp>

namespace {

using namespace trn;
using namespace trn::sparse;
using comm::Communicator;

constexpr int kRankCounts[] = {1, 2, 3, 4, 6, 7, 12};

comm::Group device_group(int ranks) {
  std::vector<Executor> executors;
  for (int r = 0; r < ranks; ++r) executors.push_back(Executor::open("sim:trn2"));
  return comm::Group(std::move(executors), "sim:trn2");
}
comm::Group host_group(int ranks) {
  return comm::Group(std::vector<Executor>(static_cast<std::size_t>(ranks), Executor::host()), "host");
}

template <class T> std::vector<T> random_values(std::int64_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) v = static_cast<T>(normal(engine));
  return x;
}

// This rank's rows of a global row-major array.
template <class T> dist::Array<T> scattered(const Communicator& c, const dist::Boxes& boxes, const std::vector<T>& all,
                                            const Executor& executor = Executor::host()) {
  dist::Array<T> a(c, executor, boxes);
  const std::int64_t width = boxes.shape.size() == 2 ? boxes.shape[1] : 1;
  if (a.local().size() > 0)
    copy(View<const T>(Executor::host(), all.data() + a.local_begin()[0] * width, a.local().shape()), a.local());
  return a;
}

// A x and |A| |x| in long double.
template <class T, class I> void reference(const Csr<T, I>& a, const std::vector<T>& x, std::int64_t width,
                                           std::vector<long double>& y, std::vector<long double>& size) {
  y.assign(static_cast<std::size_t>(a.rows() * width), 0);
  size = y;
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t k = a.pattern().offsets().data()[i]; k < a.pattern().offsets().data()[i + 1]; ++k)
      for (std::int64_t c = 0; c < width; ++c) {
        const long double product = static_cast<long double>(a.values().data()[k]) *
                                    x[static_cast<std::size_t>(a.pattern().indices().data()[k] * width + c)];
        y[static_cast<std::size_t>(i * width + c)] += product;
        size[static_cast<std::size_t>(i * width + c)] += std::fabs(product);
      }
}

// Far columns everywhere, empty rows, rows of many lengths, more columns than rows.
template <class T> Csr<T> scattered_matrix(std::int64_t rows, std::int64_t columns) {
  std::mt19937 engine(3);
  std::vector<std::int64_t> i, j;
  for (std::int64_t r = 0; r < rows; ++r) {
    const int entries = r % 11 == 5 ? 0 : static_cast<int>(engine() % 9);
    for (int k = 0; k < entries; ++k) {
      i.push_back(r);
      j.push_back(static_cast<std::int64_t>(engine()) % columns);
    }
  }
  const std::vector<T> v = random_values<T>(static_cast<std::int64_t>(i.size()), 7);
  return Csr<T>::from_triplets(Executor::host(), {rows, columns}, {i, j, v});
}

template <class T> int compare_products(const Csr<T>& a, std::int64_t width, bool devices = false) {
  const std::vector<T> x = random_values<T>(a.columns() * std::max<std::int64_t>(width, 1), 1),
                       before = random_values<T>(a.rows() * std::max<std::int64_t>(width, 1), 2);
  std::vector<T> one;
  std::atomic<int> cases = 0;
  for (const int ranks : kRankCounts) {
    comm::run(devices ? device_group(ranks) : host_group(ranks), [&](const Communicator& c, const Executor& e) {
      const DistCsr<T> d(c, a, e);
      EXPECT_EQ(d.nnz(), a.nnz());
      const auto in = scattered(c, d.column_distribution(width), x, e);
      const auto out = scattered(c, d.row_distribution(width), before, e);
      const Recorder recorder(e);
      if (width == 0)
        spmv<T>(T(0.5), d, in, T(-2), out);
      else
        spmm<T>(T(0.5), d, in, T(-2), out);
      if (devices && d.row_distribution().boxes[static_cast<std::size_t>(c.rank())].extent[0] > 0) {
        // Beside copies into and out of halos.
        EXPECT_EQ(recorder.count(EventKind::Run) - recorder.count(EventKind::Run, "copy_within"), 1) << "one launch";
      }
      const std::vector<T> got = out.to_host();
      if (c.rank() != 0) return;
      if (ranks == 1) one = got;
      ++cases;
      EXPECT_EQ(std::memcmp(got.data(), one.data(), sizeof(T) * one.size()), 0) << ranks << " ranks, width " << width;
    });
  }
  std::vector<long double> y, size;
  reference(a, x, std::max<std::int64_t>(width, 1), y, size);
  const long double u = sizeof(T) == 4 ? 0x1p-24L : 0x1p-53L;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const long double want = 0.5L * y[i] - 2.0L * before[i];
    const long double scale = 0.5L * size[i] + 2.0L * std::fabs(static_cast<long double>(before[i]));
    // Devices: (128 + passes g + extra + 3) u of spmm.hpp, with at most 9 tiles in a window of the matrices here.
    EXPECT_LE(std::fabs(one[i] - want), 1.001L * (devices ? 160 : 40 + 2) * u * scale);
  }
  return cases;
}

TEST(DistCsr, ProductsHaveTheBitsOfOneRank) {
  int cases = 0;
  const Csr<double> wide = scattered_matrix<double>(20000, 31000), tall = scattered_matrix<double>(30001, 5000);
  for (const std::int64_t width : {0, 1, 3}) {
    cases += compare_products(wide, width);
    cases += compare_products(tall, width);
    cases += compare_products(stencil27<float>(40, 25, 21), width);
  }
  cases += compare_products(scattered_matrix<double>(10, 7), 0);
  EXPECT_EQ(cases, 70);
  std::printf("products with the bits of one rank: %d cases\n", cases);
}

TEST(DistCsr, DevicesHaveTheBitsOfOneRank) {
  int cases = compare_products(stencil27<float>(40, 25, 21), 0, true);
  cases += compare_products(scattered_matrix<float>(5000, 9000), 2, true);
  std::printf("products on devices with the bits of one rank: %d cases\n", cases);

  const Csr<float> a = poisson<float>(70, 66);
  const std::vector<float> b = random_values<float>(a.rows(), 4);
  for (const bool multigrid : {false, true}) {
    std::vector<float> one;
    DistCgReport report;
    for (const int ranks : {1, 3}) {
      comm::run(device_group(ranks), [&](const Communicator& c, const Executor& e) {
        const DistCsr<float> d(c, a, e);
        const auto right = scattered(c, d.row_distribution(), b, e);
        const dist::Array<float> x(c, e, d.row_distribution());
        const Recorder recorder(e);
        DistCgReport r;
        if (multigrid)
          r = cg(d, right, x, DistAmg<float>(c, a, {}, e), {.tolerance = 1e-4});
        else
          r = cg(d, right, x, {.tolerance = 1e-2, .max_iterations = 6});
        EXPECT_EQ(r.algorithm, "cg, products on devices");
        if (x.local().size() > 0) {
          EXPECT_GE(recorder.count(EventKind::Run), r.iterations);
        }
        const std::vector<float> got = x.to_host();
        if (c.rank() != 0) return;
        if (ranks == 1) one = got, report = r;
        EXPECT_EQ(r, report) << ranks;
        EXPECT_EQ(std::memcmp(got.data(), one.data(), sizeof(float) * one.size()), 0) << ranks << " ranks";
      });
    }
    EXPECT_EQ(report.ok(), multigrid);
    if (!multigrid) continue;
    std::vector<long double> product, size;
    reference(a, one, 1, product, size);
    long double rest = 0, norm = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      rest += (b[i] - product[i]) * (b[i] - product[i]);
      norm += static_cast<long double>(b[i]) * b[i];
    }
    EXPECT_LE(std::sqrt(rest), 1.1e-4L * std::sqrt(norm));
  }
}

TEST(DistCsr, ConjugateGradientsHaveTheBitsOfOneRank) {
  const Csr<double> a = poisson<double>(170, 160);
  const std::vector<double> b = random_values<double>(a.rows(), 4);
  std::atomic<int> cases = 0;
  for (const std::int64_t block : {0, 8}) {
    std::vector<double> one;
    DistCgReport report;
    for (const int ranks : kRankCounts) {
      if (block > 0 && ranks > 1 && ranks != 3 && ranks != 12) continue;
      comm::run(host_group(ranks), [&](const Communicator& c, const Executor&) {
        const DistCsr<double> d(c, a);
        const auto right = scattered(c, d.row_distribution(), b);
        const dist::Array<double> x(c, Executor::host(), d.row_distribution());
        const DistCgReport r = cg(d, right, x, {.tolerance = 1e-8, .preconditioner = block});
        const std::vector<double> got = x.to_host();
        if (c.rank() != 0) return;
        ++cases;
        if (ranks == 1) one = got, report = r;
        EXPECT_EQ(r, report) << ranks;
        EXPECT_EQ(std::memcmp(got.data(), one.data(), sizeof(double) * one.size()), 0) << ranks << " ranks";
      });
    }
    EXPECT_TRUE(report.ok());
    EXPECT_GT(report.iterations, 50);
    std::vector<long double> y, size;
    reference(a, one, 1, y, size);
    long double error = 0, norm = 0;
    for (std::size_t i = 0; i < b.size(); ++i) error += (b[i] - y[i]) * (b[i] - y[i]), norm += b[i] * b[i];
    EXPECT_LE(std::sqrt(error / norm), 1.01e-8L);
    EXPECT_NEAR(static_cast<double>(std::sqrt(error / norm)), report.residual, 1e-10);
  }
  EXPECT_EQ(cases, 10);
  std::printf("conjugate gradients with the bits of one rank: %d cases\n", cases.load());
}

TEST(DistCsr, ConjugateGradientsSayWhatIsWrong) {
  comm::run(host_group(3), [&](const Communicator& c, const Executor&) {
    const auto solve = [&](const Csr<double>& a, double first, const DistCgOptions& o) {
      const DistCsr<double> d(c, a);
      std::vector<double> b(static_cast<std::size_t>(a.rows()), 1);
      b[0] = first;
      const auto right = scattered(c, d.row_distribution(), b);
      const dist::Array<double> x(c, Executor::host(), d.row_distribution());
      return cg(d, right, x, o);
    };
    const Csr<double> good = poisson<double>(100, 90);
    std::vector<double> negative(static_cast<std::size_t>(good.nnz()));
    for (std::size_t k = 0; k < negative.size(); ++k) negative[k] = -good.values().data()[k];
    const Csr<double> bad = good.with_values({Executor::host(), negative.data(), good.nnz()});
    EXPECT_EQ(solve(good, 1, {.max_iterations = 3}).status, CgStatus::NotConverged);
    EXPECT_EQ(solve(good, 1, {.max_iterations = 3}).iterations, 3);
    EXPECT_EQ(solve(bad, 1, {}).status, CgStatus::NotPositiveDefinite);
    EXPECT_EQ(solve(good, std::nan(""), {}).status, CgStatus::NotFinite);
    // No entry in row 8000: a singular block of the preconditioner on one rank, the same report on all.
    std::vector<std::int64_t> i, j;
    std::vector<double> v;
    for (std::int64_t k = 0; k < 9000; ++k)
      if (k != 8000) i.push_back(k), j.push_back(k), v.push_back(2);
    const Csr<double> hole = Csr<double>::from_triplets(Executor::host(), {9000, 9000}, {i, j, v});
    const DistCgReport report = solve(hole, 1, {.preconditioner = 4});
    EXPECT_EQ(report.preconditioner, (Outcome{Status::ZeroPivot, 8000}));
    EXPECT_FALSE(report.ok());
  });
}

// Squares of these right-hand sides leave the range of doubles; the residual that is reported is the true one.
TEST(DistCsr, ConjugateGradientsOfVeryLargeAndSmallNumbers) {
  constexpr std::int64_t kRows = 50;
  int cases = 0;
  for (const double of_a : {1e-300, 1.0, 1e300}) {
    for (const double of_b : {5e-324, 1e-300, 1e-200, 1e-163, 1e-158, 1e-150, 1.0, 1e153, 1e155, 1e200, 1e300}) {
      if (of_b / of_a > 1e306 || of_b / of_a < 1e-290) continue;  // the solution is out of range, or has few digits
      std::vector<std::int64_t> i, j;
      std::vector<double> v;
      for (std::int64_t k = 0; k < kRows; ++k) {
        i.push_back(k), j.push_back(k), v.push_back(of_a * static_cast<double>(4 + k % 3));
        if (k > 0) i.push_back(k), j.push_back(k - 1), v.push_back(-of_a);
        if (k + 1 < kRows) i.push_back(k), j.push_back(k + 1), v.push_back(-of_a);
      }
      const Csr<double> a = Csr<double>::from_triplets(Executor::host(), {kRows, kRows}, {i, j, v});
      std::vector<double> b = random_values<double>(kRows, 9);
      for (double& x : b) x = of_b == 5e-324 ? of_b : x * of_b;
      comm::run(host_group(2), [&](const Communicator& c, const Executor&) {
        const DistCsr<double> d(c, a);
        const auto right = scattered(c, d.row_distribution(), b);
        const dist::Array<double> x(c, Executor::host(), d.row_distribution());
        const DistCgReport r = cg(d, right, x, {.tolerance = 1e-8});
        const std::vector<double> got = x.to_host();
        if (c.rank() != 0) return;
        ++cases;
        EXPECT_EQ(r.status, CgStatus::Ok) << of_a << " " << of_b;
        if (of_b == 5e-324) return;  // a solution of one bit
        std::vector<long double> y, size;
        reference(a, got, 1, y, size);
        long double error = 0, norm = 0;
        for (std::size_t k = 0; k < b.size(); ++k) error += (b[k] - y[k]) * (b[k] - y[k]), norm += (1.0L * b[k]) * b[k];
        EXPECT_LE(std::sqrt(error / norm), 1.01e-8L) << of_a << " " << of_b;
      });
    }
  }
  EXPECT_EQ(cases, 20);
}

TEST(DistCsr, ConjugateGradientsFindNegativeCurvatureLater) {
  comm::run(host_group(2), [&](const Communicator& c, const Executor&) {
    for (const std::vector<double>& diagonal : {std::vector<double>{2, -1}, {2, 2, 2, -1, 2}, {-2, -2, -2, -1, -2}}) {
      std::vector<std::int64_t> at;
      for (std::size_t k = 0; k < diagonal.size(); ++k) at.push_back(static_cast<std::int64_t>(k));
      const auto n = static_cast<std::int64_t>(diagonal.size());
      const DistCsr<double> d(c, Csr<double>::from_triplets(Executor::host(), {n, n}, {at, at, diagonal}));
      const auto right = scattered(c, d.row_distribution(), std::vector<double>(diagonal.size(), 1));
      const dist::Array<double> x(c, Executor::host(), d.row_distribution());
      EXPECT_EQ(cg(d, right, x, {}).status, CgStatus::NotPositiveDefinite) << n;
    }
  });
}

TEST(DistCsr, RefusesOnAllRanks) {
  std::atomic<int> refused = 0;
  comm::run(host_group(3), [&](const Communicator& c, const Executor&) {
    const auto refuses = [&](const auto& f) {
      try {
        f();
      } catch (const InvalidArgument&) {
        ++refused;
      }
    };
    const Csr<double> a = poisson<double>(100, 90);
    const DistCsr<double> d(c, a);
    const dist::Array<double> x(c, Executor::host(), d.column_distribution()),
        y(c, Executor::host(), d.row_distribution()), other(c, Executor::host(), dist::slabs({9000}, 0, 3));
    refuses([&] { spmv<double>(1, d, x, 0, c.rank() == 2 ? other : y); });
    refuses([&] { spmv<double>(1, d, x, 0, x); });
    refuses([&] { spmv<double>(c.rank() == 1 ? 2 : 1, d, x, 0, y); });
    refuses([&] { spmv<double>(1, d, x, c.rank() == 1 ? 0.0 : -0.0, y); });
    refuses([&] { (void)cg(d, x, y, {.preconditioner = 3}); });
    refuses([&] { (void)cg(d, x, y, {.tolerance = 1e-3 * c.rank()}); });
    refuses([&] {
      DistCsr<double>(c, {9000, 9000},
                      Csr<double, std::int64_t>::from_triplets(Executor::host(), {7, 9000}, {{}, {}, {}}));
    });
  });
  EXPECT_EQ(refused, 21);
}

// A Poisson problem in three dimensions with rows of Dirichlet conditions between the others: every seventh row and
// column is the identity's.
template <class T> Csr<T> with_fixed_points(const Csr<T>& a) {
  std::vector<std::int64_t> i, j;
  std::vector<T> v;
  const auto fixed = [](std::int64_t k) { return k % 7 == 3; };
  for (std::int64_t row = 0; row < a.rows(); ++row)
    for (std::int64_t k = a.pattern().offsets().data()[row]; k < a.pattern().offsets().data()[row + 1]; ++k) {
      const std::int64_t column = a.pattern().indices().data()[k];
      if (row != column && (fixed(row) || fixed(column))) continue;
      i.push_back(row), j.push_back(column), v.push_back(fixed(row) ? T(1) : a.values().data()[k]);
    }
  return Csr<T>::from_triplets(Executor::host(), a.extents(), {i, j, v});
}

template <class T> int compare_multigrid(const Csr<T>& a, double limit) {
  const AmgOptions<T> options{.coarsest = 60};
  const Amg<T> local(a, options);
  EXPECT_GE(local.levels().size(), 3u);
  const std::vector<T> b = random_values<T>(a.rows(), 6);
  std::vector<T> want(b.size()), cycle, solution;
  const Executor host = Executor::host();
  local.apply(blas::Op::N, T(1), MatrixView<const T>::row_major(host, b.data(), a.rows(), 1), T(0),
              MatrixView<T>::row_major(host, want.data(), a.rows(), 1));
  DistCgReport report;
  int cases = 0;
  for (const int ranks : kRankCounts) {
    comm::run(host_group(ranks), [&](const Communicator& c, const Executor&) {
      const DistCsr<T> d(c, a);
      const DistAmg<T> multigrid(c, a, options);
      const auto right = scattered(c, d.row_distribution(), b);
      const dist::Array<T> y(c, host, d.row_distribution()), x(c, host, d.row_distribution());
      multigrid.apply(right, y);
      const DistCgReport r = cg(d, right, x, multigrid, {.tolerance = limit});
      const DistCgReport plain = cg(d, right, y, {.tolerance = limit});
      multigrid.apply(right, y);
      const std::vector<T> got = y.to_host(), solved = x.to_host();
      if (c.rank() != 0) return;
      ++cases;
      if (ranks == 1) cycle = got, solution = solved, report = r;
      EXPECT_EQ(std::memcmp(got.data(), cycle.data(), sizeof(T) * got.size()), 0) << ranks << " ranks";
      EXPECT_EQ(std::memcmp(solved.data(), solution.data(), sizeof(T) * got.size()), 0) << ranks << " ranks";
      EXPECT_EQ(r, report);
      EXPECT_TRUE(r.ok());
      EXPECT_LT(2 * r.iterations, plain.iterations);
    });
  }
  double most = 0, error = 0;
  for (std::size_t k = 0; k < want.size(); ++k) {
    most = std::max(most, std::abs(static_cast<double>(want[k])));
    error = std::max(error, std::abs(static_cast<double>(want[k]) - static_cast<double>(cycle[k])));
  }
  EXPECT_LE(error, 200 * std::numeric_limits<T>::epsilon() * most) << "the local cycle, with other orders of sums";
  std::vector<long double> y, size;
  reference(a, solution, 1, y, size);
  long double residual = 0, norm = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    residual += (b[k] - y[k]) * (b[k] - y[k]);
    norm += static_cast<long double>(b[k]) * b[k];
  }
  EXPECT_LE(std::sqrt(residual / norm), 1.01L * limit);
  return cases;
}

TEST(DistAmg, CyclesHaveTheBitsOfOneRank) {
  EXPECT_EQ(compare_multigrid(poisson<double>(120, 90), 1e-9), 7);
  EXPECT_EQ(compare_multigrid(with_fixed_points(poisson<double>(24, 22, 18)), 1e-9), 7);
  EXPECT_EQ(compare_multigrid(stencil27<float>(24, 20, 18), 1e-5), 7);
}

TEST(DistAmg, RefusesOnAllRanks) {
  std::atomic<int> refused = 0;
  comm::run(host_group(3), [&](const Communicator& c, const Executor&) {
    const auto refuses = [&](const auto& f) {
      try {
        f();
      } catch (const InvalidArgument&) {
        ++refused;
      }
    };
    const Csr<double> a = poisson<double>(100, 90), small = poisson<double>(50, 10);
    const DistCsr<double> d(c, a);
    const DistAmg<double> m(c, a), other(c, small);
    const dist::Array<double> x(c, Executor::host(), d.row_distribution()),
        y(c, Executor::host(), d.row_distribution()), z(c, Executor::host(), dist::slabs({9000}, 0, 3));
    refuses([&] { m.apply(x, c.rank() == 1 ? z : y); });
    refuses([&] { DistAmg<double>(c, c.rank() == 0 ? a : small); });
    refuses([&] { DistAmg<double>(c, a, {.block = 2}); });
    refuses([&] { (void)cg(d, x, y, other); });
    refuses([&] { (void)cg(d, x, y, m, {.preconditioner = 4}); });
  });
  EXPECT_EQ(refused, 15);
}
TEST(DistAmg, AMatrixThatItCannotDo) {
  comm::run(host_group(2), [&](const Communicator& c, const Executor&) {
    const std::vector<std::int64_t> at{0, 2};
    const std::vector<double> ones{1, 1};
    const Csr<double> hole = Csr<double>::from_triplets(Executor::host(), {3, 3}, {at, at, ones});
    const DistCsr<double> d(c, hole);
    const DistAmg<double> m(c, hole);
    const auto b = scattered(c, d.row_distribution(), std::vector<double>{1, 1, 1});
    const dist::Array<double> x(c, Executor::host(), d.row_distribution());
    const DistCgReport r = cg(d, b, x, m);
    EXPECT_EQ(r.preconditioner, (Outcome{Status::ZeroPivot, 1}));
    EXPECT_FALSE(r.ok());
    m.apply(b, x);
    for (std::int64_t k = 0; k < x.local().size(); ++k) EXPECT_TRUE(std::isnan(x.local().data()[k]));
  });
}

}  // namespace

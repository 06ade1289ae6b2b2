// Products against sums in 113-bit arithmetic, componentwise within the stated bounds: every kernel, op, type, layout.
#include <cmath>
#include <complex>

#include <omp.h>
#include <sys/mman.h>

#include <trn/core/linear_operator.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/vectors.hpp>

#include "silicon/allocations.hpp"
#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

static_assert(LinearOperator<SparseOperator<float>, float>);
static_assert(LinearOperator<SparseOperator<std::complex<double>>, std::complex<double>>);

template <class T> class ProductsOf : public testing::Test {};
using All = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ProductsOf, All);

template <Scalar T> constexpr double kU = std::numeric_limits<Real<T>>::epsilon() / 2;
const Executor kHost = Executor::host();

template <Scalar T> T conj_of(T x) {
  if constexpr (ComplexScalar<T>) return std::conj(x);
  return x;
}

// Strides of an r x c matrix with room around it.
struct Layout {
  const char* name;
  bool row_major;
  std::int64_t pad;
};
constexpr Layout kLayouts[] = {{"row-major", true, 0},
                               {"row-major, padded", true, 3},
                               {"column-major", false, 0},
                               {"column-major, padded", false, 5}};
template <class T>
MatrixView<T> view_of(std::vector<std::remove_const_t<T>>& data, std::int64_t r, std::int64_t c, const Layout& l) {
  const std::int64_t ld = (l.row_major ? c : r) + l.pad;
  data.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, ld * (l.row_major ? r : c))));
  return l.row_major ? MatrixView<T>(kHost, data.data(), r, c, ld, 1) : MatrixView<T>(kHost, data.data(), r, c, 1, ld);
}
template <class T> T& at(const MatrixView<T>& m, std::int64_t i, std::int64_t j) {
  return m.data()[i * m.row_stride() + j * m.column_stride()];
}

// op(A)'s dense form.
template <Scalar T> std::vector<T> dense_op(const std::vector<T>& a, std::int64_t m, std::int64_t n, Op op) {
  if (op == Op::N) return a;
  std::vector<T> t(a.size());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const T x = a[static_cast<std::size_t>(i * n + j)];
      t[static_cast<std::size_t>(j * m + i)] = op == Op::C ? conj_of(x) : x;
    }
  }
  return t;
}

template <Scalar T, class A> void check_product(const A& a, Op op, std::int64_t n, Kernel kernel, const Layout& bl,
                                                const Layout& cl, T alpha, T beta) {
  SCOPED_TRACE(fmt::format("{} x {}, op {}, {} columns, {}, {}, {}", a.rows(), a.columns(), static_cast<int>(op), n,
                           name(kernel), bl.name, cl.name));
  const SpmmPlan<T> plan(kHost, a, {.op = op, .columns = n, .kernel = kernel});
  EXPECT_TRUE(kernel == Kernel::Automatic || plan.report().kernel == kernel);
  const std::vector<T> d = dense_op(dense(to_csr(a)), a.rows(), a.columns(), op);
  const std::int64_t rows = plan.rows(), columns = plan.columns();
  std::vector<T> bd, cd;
  const auto b = view_of<T>(bd, columns, n, bl), c = view_of<T>(cd, rows, n, cl);
  bd = random_vector<T>(static_cast<std::int64_t>(bd.size()), 3);
  cd = random_vector<T>(static_cast<std::int64_t>(cd.size()), 4);
  const MatrixView<T> bv(kHost, bd.data(), b.rows(), b.columns(), b.row_stride(), b.column_stride());
  const MatrixView<T> cv(kHost, cd.data(), c.rows(), c.columns(), c.row_stride(), c.column_stride());
  if (beta == T(0)) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < n; ++j) at(cv, i, j) = T(std::nan(""));
    }
  }
  std::vector<T> before = cd;
  const MatrixView<T> old(kHost, before.data(), c.rows(), c.columns(), c.row_stride(), c.column_stride());
  plan.execute(alpha, bv, beta, cv);
  const double extra = ComplexScalar<T> && (alpha != T(1) || beta != T(0)) ? 5 : 2;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      QuadComplex sum;
      double size = 0, k = 0;
      for (std::int64_t l = 0; l < columns; ++l) {
        const T x = d[static_cast<std::size_t>(i * columns + l)];
        if (x == T(0)) continue;
        sum = sum + quad(x) * quad(at(bv, l, j));
        size += std::abs(std::complex<double>(x)) * std::abs(std::complex<double>(at(bv, l, j)));
        k += 1;
      }
      sum = quad(alpha) * sum;
      size *= std::abs(std::complex<double>(alpha));
      if (beta != T(0)) {
        sum = sum + quad(beta) * quad(at(old, i, j));
        size += std::abs(std::complex<double>(beta)) * std::abs(std::complex<double>(at(old, i, j)));
      }
      const std::complex<double> got(at(cv, i, j));
      const double limit = (k + extra) * kU<T> * size;
      ASSERT_LE(std::abs(static_cast<double>(Quad(got.real()) - sum.re)), limit) << i << ", " << j;
      ASSERT_LE(std::abs(static_cast<double>(Quad(got.imag()) - sum.im)), limit) << i << ", " << j;
    }
  }
  // Nothing outside the view was touched.
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < n; ++j) at(cv, i, j) = at(old, i, j) = T(0);
  }
  EXPECT_EQ(cd, before);
}

TYPED_TEST(ProductsOf, OfEveryKernelAndOp) {
  using T = TypeParam;
  for (const auto& [m, n] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {127, 128}, {128, 129}, {129, 127}, {5, 300}, {300, 5}}) {
    const auto a = random_csr<T>(m, n, 7, static_cast<std::uint64_t>(m + n));
    for (const Op op : {Op::N, Op::T, Op::C}) {
      for (const Kernel kernel : {Kernel::Automatic, Kernel::Csr, Kernel::Sell, Kernel::Bsr, Kernel::Dia})
        check_product<T>(a, op, 1, kernel, kLayouts[0], kLayouts[0], T(1), T(0));
    }
  }
}

TYPED_TEST(ProductsOf, OfEveryLayoutAndWidth) {
  using T = TypeParam;
  const auto a = random_csr<T>(37, 29, 6, 11);
  for (const std::int64_t n : {1, 2, 3, 7, 16, 33, 70}) {
    for (const Layout& b : kLayouts) {
      for (const Layout& c : kLayouts)
        check_product<T>(a, Op::N, n, Kernel::Csr, b, c, T(Real<T>(0.75)), T(Real<T>(-1.5)));
    }
    check_product<T>(a, Op::C, n, Kernel::Automatic, kLayouts[1], kLayouts[2], T(1), T(0));
    check_product<T>(a, Op::N, n, Kernel::Sell, kLayouts[1], kLayouts[2], T(2), T(0));
    check_product<T>(a, Op::T, n, Kernel::Dia, kLayouts[1], kLayouts[2], T(2), T(Real<T>(-0.5)));
  }
  // Rows of B that lie far apart are fetched ahead.
  check_product<T>(random_csr<T>(6400, 6400, 1, 4), Op::N, 16, Kernel::Automatic, kLayouts[0], kLayouts[0], T(1), T(0));
  // Diagonals without gaps, and whole blocks of 32 rows, in contiguous vectors.
  for (const std::int64_t n : {31, 32, 33, 200}) {
    check_product<T>(poisson<T>(n), Op::N, 1, Kernel::Automatic, kLayouts[0], kLayouts[0], T(2), T(Real<T>(-0.5)));
    check_product<T>(poisson<T>(n, 5), Op::N, 1, Kernel::Dia, kLayouts[0], kLayouts[0], T(1), T(1));
  }
}

TYPED_TEST(ProductsOf, OfEveryFormat) {
  using T = TypeParam;
  const auto a = random_csr<T>(61, 47, 5, 2);
  const auto one = [&](const auto& x) {
    check_product<T>(x, Op::N, 1, Kernel::Automatic, kLayouts[0], kLayouts[0], T(1), T(0));
    check_product<T>(x, Op::T, 4, Kernel::Automatic, kLayouts[0], kLayouts[2], T(-1), T(2));
  };
  one(a);
  one(convert<Csc<T>>(a));
  one(convert<Coo<T>>(a));
  one(convert<Sell<T>>(a));
  one(convert<BlockedEll<T>>(a, {.block = 5}));
  one(convert<Bsr<T>>(a, {.block_rows = 3, .block_columns = 2}));
  one(convert<Dia<T>>(a));
  one(with_index<std::int64_t>(a));
  for (const std::int64_t b : {2, 3, 4})
    one(convert<Bsr<T>>(random_csr<T>(60, 48, 4, 6), {.block_rows = b, .block_columns = b}));
}

TYPED_TEST(ProductsOf, SparseTimesSparseAndSampled) {
  using T = TypeParam;
  const auto a = random_csr<T>(40, 60, 9, 1), b = random_csr<T>(60, 129, 8, 2);
  const T alpha(Real<T>(-1.25));
  const auto c = spgemm<T>(kHost, alpha, a, b);
  expect_valid(c);
  const auto da = dense(a), db = dense(b), dc = dense(c);
  const std::int64_t* offsets = c.pattern().offsets().data();
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = 0; j < 129; ++j) {
      QuadComplex sum;
      double size = 0, k = 0;
      for (std::int64_t l = 0; l < 60; ++l) {
        const T x = da[static_cast<std::size_t>(i * 60 + l)], y = db[static_cast<std::size_t>(l * 129 + j)];
        if (x == T(0) || y == T(0)) continue;
        sum = sum + quad(x) * quad(y);
        size += std::abs(std::complex<double>(x)) * std::abs(std::complex<double>(y));
        k += 1;
      }
      entries += k > 0;
      sum = quad(alpha) * sum;
      const std::complex<double> got(dc[static_cast<std::size_t>(i * 129 + j)]);
      const double limit = (k + (ComplexScalar<T> ? 5 : 2)) * kU<T> * size * 1.25;
      ASSERT_LE(std::abs(static_cast<double>(Quad(got.real()) - sum.re)), limit);
      ASSERT_LE(std::abs(static_cast<double>(Quad(got.imag()) - sum.im)), limit);
    }
  }
  EXPECT_EQ(offsets[40], entries);
  const SpgemmPlan<T> plan(kHost, a.pattern(), b.pattern());
  EXPECT_GE(plan.products(), entries);
  EXPECT_TRUE(equal(plan.execute(alpha, a, b), c));  // the same bits: the same order
  EXPECT_IN("another pattern", message_of<InvalidArgument>([&] { (void)plan.execute(alpha, b, a); }));
  EXPECT_TRUE(equal(
      with_index<std::int32_t>(spgemm<T>(kHost, alpha, with_index<std::int64_t>(a), with_index<std::int64_t>(b))), c));

  const auto x = random_vector<T>(40 * 17, 5), y = random_vector<T>(17 * 60, 6);
  const auto s = sddmm<T>(kHost, T(2), MatrixView<const T>(kHost, x.data(), 40, 17, 17, 1),
                          MatrixView<const T>(kHost, y.data(), 17, 60, 60, 1), T(-1), a);
  EXPECT_TRUE(s.pattern().shares(a.pattern()));
  const auto ds = dense(s);
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = 0; j < 60; ++j) {
      const T old = da[static_cast<std::size_t>(i * 60 + j)];
      if (old == T(0)) continue;
      QuadComplex sum;
      double size = 0;
      for (std::int64_t l = 0; l < 17; ++l) {
        const T p = x[static_cast<std::size_t>(i * 17 + l)], q = y[static_cast<std::size_t>(l * 60 + j)];
        sum = sum + quad(p) * quad(q);
        size += std::abs(std::complex<double>(p)) * std::abs(std::complex<double>(q));
      }
      sum = quad(T(2)) * sum + quad(T(-1)) * quad(old);
      size = 2 * size + std::abs(std::complex<double>(old));
      const std::complex<double> got(ds[static_cast<std::size_t>(i * 60 + j)]);
      ASSERT_LE(std::abs(static_cast<double>(Quad(got.real()) - sum.re)), 22 * kU<T> * size);
      ASSERT_LE(std::abs(static_cast<double>(Quad(got.imag()) - sum.im)), 22 * kU<T> * size);
    }
  }
}

// What cuSPARSE (CUDA 13.0, H200) gave for complex numbers.
TEST(SparseVectors, RotIsCusparses) {
  using Z = std::complex<double>;
  const SparseVector<Z> x(kHost, 3, std::vector<std::int32_t>{0, 2}, std::vector<Z>{{1, 2}, {3, -1}});
  std::vector<Z> y{{0.5, 1}, {2, 2}, {-1, 4}};
  const auto turned = rot(x, VectorView<Z>(kHost, y.data(), 3), Z(0.6, 0.1), Z(0.3, 0.7));
  const auto near = [](Z a, Z b) { return std::abs(a - b) < 1e-14; };
  EXPECT_TRUE(near(turned.values().data()[0], {-0.15, 1.95}) && near(turned.values().data()[1], {-1.2, 0.2}));
  EXPECT_TRUE(near(y[0], {1.3, -0.65}) && near(y[1], {2, 2}) && near(y[2], {-2.6, 0.5}));
}

TYPED_TEST(ProductsOf, SparseVectors) {
  using T = TypeParam;
  const std::vector<std::int32_t> indices{1, 4, 5};
  const std::vector<T> values{T(1), T(2), T(3)};
  const SparseVector<T> x(kHost, 7, indices, values);
  std::vector<T> y{T(1), T(2), T(3), T(4), T(5), T(6), T(7)};
  const VectorView<T> view(kHost, y.data(), 7);
  EXPECT_EQ(spvv(Op::N, x, view), T(2 + 10 + 18));
  EXPECT_EQ(gather(x, view).values().data()[2], T(6));
  axpby<T>(T(2), x, T(-1), view);
  EXPECT_EQ(y, (std::vector<T>{T(-1), T(0), T(-3), T(-4), T(-1), T(0), T(-7)}));
  const auto turned = rot(x, view, T(0), T(1));
  EXPECT_EQ(turned.values().data()[1], T(-1));
  EXPECT_EQ(y[4], T(-2));
  scatter(x, view);
  EXPECT_EQ(y[5], T(3));
  y.assign(7, T(std::nan("")));
  axpby<T>(T(1), x, T(0), view);
  EXPECT_EQ(y[0], T(0));
  EXPECT_IN("twice", message_of<InvalidArgument>([&] {
              SparseVector<T>(kHost, 7, std::vector<std::int32_t>{1, 1, 2}, values);
            }));
  EXPECT_IN("they must have as many",
            message_of<InvalidArgument>([&] { (void)spvv(Op::N, x, VectorView<const T>(kHost, y.data(), 6)); }));
}

TEST(Products, AbsentEntriesAreNotMultiplied) {
  const auto a = poisson<double>(9, 9);
  std::vector<double> x(81, 1.0), y(81);
  x[40] = INFINITY;
  for (const Kernel kernel : {Kernel::Automatic, Kernel::Csr, Kernel::Sell, Kernel::Dia}) {
    const SpmmPlan<double> plan(kHost, a, {.kernel = kernel});
    plan.execute(1, MatrixView<const double>(kHost, x.data(), 81, 1, 1, 1), 0,
                 MatrixView<double>(kHost, y.data(), 81, 1, 1, 1));
    EXPECT_EQ(std::count_if(y.begin(), y.end(), [](double v) { return !std::isfinite(v); }), 5);
  }
}

TEST(Products, TheSameBitsForAnyNumberOfThreads) {
  const auto x = random_vector<double>(4096 * 8, 1);
  const int threads = omp_get_max_threads();
  for (const Kernel kernel : {Kernel::Csr, Kernel::Sell, Kernel::Dia}) {
    const auto a = kernel == Kernel::Dia ? stencil27<double>(16, 16, 16) : rmat<double>(12, 16);
    std::vector<std::vector<double>> results;
    for (const int t : {1, 2, 3, 7}) {
      omp_set_num_threads(t);
      std::vector<double> y(4096 * 8);
      const SpmmPlan<double> plan(kHost, a, {.columns = 8, .kernel = kernel});
      plan.execute(1, MatrixView<const double>(kHost, x.data(), 4096, 8, 8, 1), 0,
                   MatrixView<double>(kHost, y.data(), 4096, 8, 8, 1));
      const auto square = spgemm<double>(kHost, 1, a, a);
      y.insert(y.end(), square.values().data(), square.values().data() + square.nnz());
      results.push_back(std::move(y));
    }
    for (const auto& r : results) EXPECT_EQ(r, results[0]);
  }
  omp_set_num_threads(threads);
}

TEST(Products, PlansReportAndTakeNewValues) {
  EXPECT_EQ(SpmmPlan<double>(kHost, rmat<double>(9, 4)).report().kernel, Kernel::Sell);
  EXPECT_EQ(SpmmPlan<double>(kHost, rmat<double>(9, 40)).report().kernel, Kernel::Csr);
  const auto grid = stencil27<double>(12, 12, 12);
  const SpmmPlan<double> bands(kHost, grid);
  EXPECT_EQ(bands.report().kernel, Kernel::Dia);
  EXPECT_EQ(bands.report().diagonals, 27);
  EXPECT_EQ(bands.report().nnz, grid.nnz());
  EXPECT_GE(bands.report().stored, grid.nnz());
  EXPECT_EQ(SpmmPlan<double>(kHost, poisson<double>(20, 20), {.columns = 32}).report().kernel, Kernel::Csr);
  const auto plate = elasticity<double>(10, 10);
  const SpmmPlan<double> plan(kHost, plate);
  EXPECT_EQ(plan.report().kernel, Kernel::Bsr);
  EXPECT_EQ(plan.report().block_rows, 2);
  EXPECT_EQ(plan.report().stored, plate.nnz());
  const std::vector<double> ones(static_cast<std::size_t>(plate.nnz()), 1.0),
      x(static_cast<std::size_t>(plate.rows()), 1.0);
  const auto other = plan.with_values(VectorView<const double>(kHost, ones.data(), plate.nnz()));
  EXPECT_EQ(other.report().kernel, Kernel::Bsr);
  std::vector<double> y(x.size());
  other.execute(1, MatrixView<const double>(kHost, x.data(), plate.rows(), 1, 1, 1), 0,
                MatrixView<double>(kHost, y.data(), plate.rows(), 1, 1, 1));
  const auto counts = entries_per_row(plate);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<double>(counts[i]));
}

TEST(Products, RefuseWhatTheyCannotDo) {
  const auto a = random_csr<double>(6, 5, 2, 1);
  const SpmmPlan<double> plan(kHost, a);
  std::vector<double> x(64), y(64);
  const auto run = [&](std::int64_t xr, std::int64_t yr, double* to, std::int64_t stride) {
    return message_of<InvalidArgument>([&] {
      plan.execute(1, MatrixView<const double>(kHost, x.data(), xr, 1, 1, 1), 0,
                   MatrixView<double>(kHost, to, yr, 1, stride, 1));
    });
  };
  EXPECT_IN("B is 6 x 1; it must be 5 x 1", run(6, 6, y.data(), 1));
  EXPECT_IN("C is 5 x 1; it must be 6 x 1", run(5, 5, y.data(), 1));
  EXPECT_IN("C", run(5, 6, y.data(), 0));
  EXPECT_IN("C", run(5, 6, x.data(), 1));
  EXPECT_EQ(run(5, 6, y.data(), 1), "no error");
  const Executor sim = Executor::open("sim:trn2");
  EXPECT_IN("no device kernel",
            message_of<NotImplemented>([&] { SpmmPlan<double>(sim, random_csr<double>(4, 4, 2, 1).to(sim)); }));
  EXPECT_IN("executor", message_of<InvalidArgument>([&] { SpmmPlan<double>(sim, a); }));
  const SparseOperator<double> op(kHost, a, {.columns = 2});
  EXPECT_IN("without its adjoint", message_of<InvalidArgument>([&] {
              op.apply(Op::T, 1, MatrixView<const double>(kHost, x.data(), 6, 1, 1, 1), 0,
                       MatrixView<double>(kHost, y.data(), 5, 1, 1, 1));
            }));
  EXPECT_IN("made for 2", message_of<InvalidArgument>([&] {
              op.apply(Op::N, 1, MatrixView<const double>(kHost, x.data(), 5, 3, 3, 1), 0,
                       MatrixView<double>(kHost, y.data(), 6, 3, 3, 1));
            }));
  const auto wide = Csr<double, std::int64_t>::from_triplets(kHost, {3, std::int64_t{1} << 40}, {});
  EXPECT_IN("Csr kernel only",
            message_of<NotImplemented>([&] { SpmmPlan<double>(kHost, wide, {.kernel = Kernel::Sell}); }));
  EXPECT_EQ(SpmmPlan<double>(kHost, wide).columns(), std::int64_t{1} << 40);
  EXPECT_IN("as many columns as B rows", message_of<InvalidArgument>([&] { (void)spgemm<double>(kHost, 1, a, a); }));
}

TEST(Products, OperatorAppliesWithoutAllocating) {
  const auto a = random_csr<std::complex<double>>(30, 20, 3, 1);
  using Z = std::complex<double>;
  const SparseOperator<Z> op(kHost, a, {.columns = 4, .adjoint = true});
  const auto x = random_vector<Z>(30 * 4, 2);
  std::vector<Z> y(20 * 4), expected(20 * 4);
  const MatrixView<const Z> xv(kHost, x.data(), 30, 4, 1, 30);
  {
    Recorder recorder(kHost);
    op.apply(Op::C, Z(1), xv, Z(0), MatrixView<Z>(kHost, y.data(), 20, 4, 4, 1));
    EXPECT_EQ(recorder.count(EventKind::Allocate), 0);
  }
  const std::uint64_t before = neuron::testing::allocations();
  op.apply(Op::C, Z(1), xv, Z(0), MatrixView<Z>(kHost, y.data(), 20, 4, 4, 1));
  EXPECT_EQ(neuron::testing::allocations(), before);
  SpmmPlan<Z>(kHost, adjoint(a), {.columns = 4})
      .execute(Z(1), xv, Z(0), MatrixView<Z>(kHost, expected.data(), 20, 4, 4, 1));
  EXPECT_EQ(y, expected);
  std::vector<Z> batch(2 * 20 * 4);
  const SpmmPlan<Z> plan(kHost, adjoint(a), {.columns = 2});
  plan.execute_batched(Z(1), MatrixView<const Z>(kHost, x.data(), 30, 2, 1, 30), 60, Z(0),
                       MatrixView<Z>(kHost, batch.data(), 20, 2, 2, 1), 40, 2);
  for (std::int64_t i = 0; i < 20; ++i)
    EXPECT_EQ(batch[static_cast<std::size_t>(40 + 2 * i)], expected[static_cast<std::size_t>(4 * i + 2)]);
}

TEST(Products, BatchesWhoseStepsOverflowAreRefused) {
  const Executor host = Executor::host();
  const std::vector<std::int64_t> place{0, 1};
  const std::vector<double> ones{1, 1};
  const auto identity = Csr<double>::from_triplets(host, {2, 2}, {place, place, ones});
  const SpmmPlan<double> plan(host, identity);
  std::vector<double> x(20, 5), y(20, -1);
  const MatrixView<const double> b(host, x.data() + 10, 2, 1, 1, 1);
  const MatrixView<double> c(host, y.data() + 10, 2, 1, 1, 1);
  for (const auto& [b_step, c_step, count] : {std::array<std::int64_t, 3>{INT64_MAX, INT64_MAX, 3},
                                              {std::int64_t{1} << 61, (std::int64_t{1} << 61) + 2, 2}}) {
    EXPECT_THROW((void)plan.execute_batched(1, b, b_step, 0, c, c_step, count), InvalidArgument);
    EXPECT_EQ(y, std::vector<double>(20, -1));
  }
}

// Places in B beyond 2^32, in memory of 19.6 GB that is declared, of which three rows are touched.
TEST(Products, OffsetsBeyond32Bits) {
  constexpr std::int64_t kWide = 70000, kBytes = kWide * kWide * 4;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* b = static_cast<float*>(memory);
  const std::vector<std::int64_t> rows{0, 0, 0}, columns{0, 40000, kWide - 1};
  for (const std::int64_t k : columns) {
    for (const std::int64_t j : {std::int64_t{0}, kWide - 1}) b[k * kWide + j] = static_cast<float>(k + j + 1);
  }
  const std::vector<float> values{1, 2, 4};
  const auto a = Csr<float>::from_triplets(kHost, {1, kWide}, {rows, columns, values});
  std::vector<float> c(kWide, std::nanf(""));
  const SpmmPlan<float> plan(kHost, a, {.columns = kWide});
  (void)plan.execute(1, MatrixView<const float>(kHost, b, kWide, kWide, kWide, 1), 0,
                     MatrixView<float>(kHost, c.data(), 1, kWide, kWide, 1));
  munmap(memory, kBytes);
  EXPECT_EQ(c.front(), 1 + 2 * 40001 + 4 * 70000.0f);
  EXPECT_EQ(c.back(), 70000 + 2 * 110000 + 4 * 139999.0f);
  EXPECT_EQ(c[1], 0);
}

}  // namespace
}  // namespace trn::sparse

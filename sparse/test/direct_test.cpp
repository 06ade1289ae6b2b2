// Sparse Cholesky, LU and QR: residuals in 113-bit arithmetic, factors multiplied out, hard pivots, singular ones of
// every kind, refactorisation, threads.
#include <cmath>
#include <complex>
#include <numeric>

#include <omp.h>

#include <trn/sparse/direct.hpp>
#include <trn/sparse/gallery.hpp>

#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

template <class T> class DirectOf : public testing::Test {};
using All = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DirectOf, All);

const Executor kHere = Executor::host();
template <Scalar T> constexpr double kRounding = std::numeric_limits<Real<T>>::epsilon() / 2;

template <Scalar T> MatrixView<T> columns_of(std::vector<T>& v, std::int64_t n, std::int64_t count, bool by_rows) {
  return {kHere, v.data(), n, count, by_rows ? count : 1, by_rows ? 1 : n};
}
template <Scalar T>
MatrixView<const T> columns_of(const std::vector<T>& v, std::int64_t n, std::int64_t count, bool by_rows) {
  return {kHere, v.data(), n, count, by_rows ? count : 1, by_rows ? 1 : n};
}

// max_i |b - A x|_i / (|A||x|)_i, summed in 113 bits.
template <Scalar T> double backward_error(const Csr<T>& a, const T* b, const T* x, std::int64_t step) {
  const std::int64_t* offsets = a.pattern().offsets().data();
  double worst = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    QuadComplex r = quad(b[i * step]);
    double size = 0;
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const T v = a.values().data()[k], z = x[a.pattern().indices().data()[k] * step];
      const QuadComplex term = quad(v) * quad(z);
      r = r + QuadComplex{-term.re, -term.im};
      size += modulus(term);
    }
    if (modulus(r) != 0) worst = std::max(worst, modulus(r) / size);
  }
  return worst;
}

template <Scalar T> Csr<T> assemble(std::int64_t n, const std::vector<std::int64_t>& is,
                                    const std::vector<std::int64_t>& js, const std::vector<T>& values) {
  return Csr<T>::from_triplets(kHere, {n, n}, {is, js, values});
}

// Hermitian and positive definite: a random pattern, its adjoint and a dominant diagonal.
template <Scalar T> Csr<T> positive(std::int64_t n, std::uint64_t seed) {
  const Csr<T> half = random_csr<T>(n, n, 2, seed), both = add<T>(T(1), half, T(1), adjoint(half));
  return add<T>(T(1), both, T(9), identity<T>(kHere, n));
}
// An arrow with full first row and column beside blocks that are not connected to it.
template <Scalar T> Csr<T> arrow(std::int64_t n) {
  std::vector<std::int64_t> is, js;
  std::vector<T> v;
  const auto put = [&](std::int64_t i, std::int64_t j, double x) {
    is.push_back(i), js.push_back(j), v.push_back(T(x));
  };
  for (std::int64_t i = 0; i < n; ++i) put(i, i, i == 0 ? static_cast<double>(n) : 2);
  for (std::int64_t i = 1; i < n / 2; ++i) put(0, i, -0.5), put(i, 0, -0.5);
  for (std::int64_t i = n / 2; i + 1 < n; i += 2) put(i, i + 1, 0.75), put(i + 1, i, 0.75);
  return assemble<T>(n, is, js, v);
}

// The lower triangle and its mirror image: equal to the last bit.
template <Scalar T> Csr<T> mirrored(const Csr<T>& a) {
  const Csr<T> lower = triangle(a, Uplo::Lower);
  return add<T>(T(1), lower, T(1), adjoint(triangle(a, Uplo::Lower, -1)));
}

template <Scalar T, class Factor>
void expect_solves(const Factor& f, const Csr<T>& a, const std::string& what, double grow = 1) {
  ASSERT_TRUE(f.outcome().ok()) << what << " " << name(f.outcome().status) << " " << f.outcome().index;
  const std::int64_t n = a.rows();
  for (const bool by_rows : {true, false}) {
    const auto b = random_vector<T>(n * 3, 5);
    std::vector<T> x(b.size());
    const Solved s = f.solve(columns_of(b, n, 3, by_rows), columns_of(x, n, 3, by_rows));
    double worst = 0;
    for (std::int64_t j = 0; j < 3; ++j) {
      const std::int64_t first = by_rows ? j : j * n;
      worst = std::max(worst, backward_error(a, b.data() + first, x.data() + first, by_rows ? 3 : 1));
    }
    ASSERT_LE(worst, grow * static_cast<double>(n + 2) * kRounding<T>) << what;
    ASSERT_NEAR(s.componentwise, worst, 0.02 * worst) << what;  // the report is the truth
    ASSERT_LE(s.normwise, s.componentwise) << what;
  }
}

TYPED_TEST(DirectOf, CholeskyResiduals) {
  using T = TypeParam;
  for (const Csr<T>& a : {positive<T>(1, 1), positive<T>(2, 1), positive<T>(129, 2), poisson<T>(17, 14), arrow<T>(60),
                          mirrored(elasticity<T>(9, 8))}) {
    for (const Reorder r : {Reorder::None, Reorder::ReverseCuthillMcKee, Reorder::MinimumDegree,
                            Reorder::NestedDissection, Reorder::Best}) {
      const Cholesky<T> f(a, {{.ordering = r}});
      expect_solves<T>(f, a, fmt::format("{} rows, {}", a.rows(), name(r)));
      EXPECT_GE(f.report().entries, cholesky_entries(a.pattern(), f.order()));
      EXPECT_TRUE(r == Reorder::Best || f.report().ordering == r);
    }
    // One triangle is read; what stands in the other does not matter.
    const Csr<T> upper = add<T>(T(1), triangle(a, Uplo::Upper), T(7), triangle(a, Uplo::Lower, -1));
    expect_solves<T>(Cholesky<T>(upper, {{}, Uplo::Upper}), a, "upper");
  }
}

TYPED_TEST(DirectOf, CholeskyFactorMultipliedOut) {
  using T = TypeParam;
  const Csr<T> a = positive<T>(80, 4);
  const Cholesky<T> f(a);
  const auto l = dense(f.lower()), p = dense(permute(a, f.order(), f.order()));
  double determinant = 0;
  for (std::int64_t i = 0; i < 80; ++i) {
    determinant += 2 * std::log(std::abs(std::complex<double>(l[static_cast<std::size_t>(81 * i)])));
    for (std::int64_t j = 0; j <= i; ++j) {
      QuadComplex sum;
      double size = 0;
      for (std::int64_t k = 0; k <= j; ++k) {
        QuadComplex other = quad(l[static_cast<std::size_t>(80 * j + k)]);
        other.im = -other.im;
        const QuadComplex product = quad(l[static_cast<std::size_t>(80 * i + k)]) * other;
        sum = sum + product;
        size += modulus(product);
      }
      const QuadComplex want = quad(p[static_cast<std::size_t>(80 * i + j)]);
      const QuadComplex error{sum.re - want.re, sum.im - want.im};
      ASSERT_LE(modulus(error), (80 + 8) * kRounding<T> * size) << i << " " << j;
    }
  }
  EXPECT_NEAR(f.log_determinant(), determinant, 1e-5 * std::abs(determinant));
}

TYPED_TEST(DirectOf, LuResidualsOfEveryOp) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 3, 127, 200}) {
    const Csr<T> a = add<T>(T(1), random_csr<T>(n, n, 4, 11), T(1), identity<T>(kHere, n));
    for (const bool match : {true, false}) {
      const Lu<T> f(a, {{}, 0.1, match});
      expect_solves<T>(f, a, fmt::format("{} rows, match {}", n, match));
      for (const Op op : {Op::T, Op::C}) {
        const auto b = random_vector<T>(n, 3);
        std::vector<T> x(b.size()), y(b.size(), T(1));
        const Solved s = f.solve(columns_of(b, n, 1, false), columns_of(x, n, 1, false), op);
        const Csr<T> turned = op == Op::T ? transpose(a) : adjoint(a);
        ASSERT_LE(backward_error(turned, b.data(), x.data(), 1), refined_error_bound<T>(n));
        ASSERT_TRUE(s.outcome.ok());
        // As an operator: 2 op(A)^-1 b - y.
        f.apply(op, T(2), columns_of(b, n, 1, false), T(-1), columns_of(y, n, 1, false));
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_LE(std::abs(std::complex<double>(y[i] + T(1) - T(2) * x[i])),
                    1e5 * kRounding<T> * (1 + std::abs(std::complex<double>(x[i]))));
      }
    }
  }
  const Csr<T> grid = poisson<T>(16, 15);
  for (const Reorder r : {Reorder::None, Reorder::MinimumDegree, Reorder::NestedDissection, Reorder::Best})
    expect_solves<T>(Lu<T>(grid, {{.ordering = r}}), grid, std::string(name(r)));
}

// Pivots that are zero or tiny where the ordering wants them: without matching they have to wait for later fronts.
TYPED_TEST(DirectOf, LuWithHardPivots) {
  using T = TypeParam;
  const std::int64_t m = 60, k = 25, n = m + k;
  std::mt19937_64 r(3);
  std::vector<std::int64_t> is, js;
  std::vector<T> v;
  const auto put = [&](std::int64_t i, std::int64_t j, T x) { is.push_back(i), js.push_back(j), v.push_back(x); };
  for (std::int64_t i = 0; i < m; ++i) put(i, i, T(i % 4 == 0 ? 1e-12 : 2));
  for (std::int64_t i = 0; i + 1 < m; ++i) put(i, i + 1, T(-1)), put(i + 1, i, T(-1));
  for (std::int64_t q = 0; q < k; ++q) {  // a saddle point: the last diagonal block is zero
    for (int e = 0; e < 3; ++e) {
      const auto j = static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(m));
      const T x = random_value<T>(r);
      put(m + q, j, x), put(j, m + q, x);
    }
    put(m + q, q, T(2)), put(q, m + q, T(2));
  }
  const Csr<T> a = assemble<T>(n, is, js, v);
  std::int64_t delayed = 0;
  for (const Reorder order : {Reorder::None, Reorder::MinimumDegree, Reorder::NestedDissection}) {
    for (const bool match : {true, false}) {
      const Lu<T> f(a, {{.ordering = order}, 0.5, match});
      expect_solves<T>(f, a, fmt::format("{} match {}", name(order), match));
      delayed += f.report().delayed;
    }
  }
  EXPECT_GT(delayed, 0);
  // A permutation matrix, and rows and columns whose sizes differ by 2^60.
  std::vector<std::int64_t> up(50), around(50);
  std::iota(up.begin(), up.end(), 0);
  for (std::size_t i = 0; i < 50; ++i) around[i] = static_cast<std::int64_t>((i * 17 + 5) % 50);
  expect_solves<T>(Lu<T>(assemble<T>(50, up, around, std::vector<T>(50, T(3)))),
                   assemble<T>(50, up, around, std::vector<T>(50, T(3))), "permutation");
  const Csr<T> base = add<T>(T(1), random_csr<T>(90, 90, 4, 6), T(1), identity<T>(kHere, 90));
  std::vector<T> wide(static_cast<std::size_t>(base.nnz()));
  for (std::int64_t i = 0; i < 90; ++i) {
    for (std::int64_t e = base.pattern().offsets().data()[i]; e < base.pattern().offsets().data()[i + 1]; ++e) {
      const int power = static_cast<int>(i * 7 % 31 + base.pattern().indices().data()[e] * 5 % 29) - 30;
      wide[static_cast<std::size_t>(e)] = base.values().data()[e] * T(std::ldexp(Real<T>(1), power));
    }
  }
  const Csr<T> scaled = base.with_values(VectorView<const T>(kHere, wide.data(), base.nnz()));
  expect_solves<T>(Lu<T>(scaled), scaled, "wide exponents");
}

TYPED_TEST(DirectOf, LeastSquares) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 40, 70}) {
    const std::int64_t m = n + n / 2;
    Csr<T> a = random_csr<T>(m, n, 4, 8);
    std::vector<std::int64_t> is, js;
    std::vector<T> v;
    for (std::int64_t j = 0; j < n; ++j) is.push_back(j), js.push_back(j), v.push_back(T(2));
    for (std::int64_t j = 0; j < n; ++j) is.push_back(m - 1), js.push_back(j), v.push_back(T(1));  // a full row
    a = add<T>(T(1), a, T(1), Csr<T>::from_triplets(kHere, {m, n}, {is, js, v}));
    for (const Reorder r : {Reorder::None, Reorder::MinimumDegree, Reorder::Best}) {
      const Qr<T> f(a, {{.ordering = r}});
      ASSERT_TRUE(f.outcome().ok()) << n;
      const auto b = random_vector<T>(m * 2, 7);
      std::vector<T> x(static_cast<std::size_t>(n * 2));
      const Solved s = f.solve(columns_of(b, m, 2, true), columns_of(x, n, 2, false));
      const auto d = dense(a);
      for (std::int64_t c = 0; c < 2; ++c) {  // A^H (b - A x) = 0
        std::vector<QuadComplex> left(static_cast<std::size_t>(m));
        std::vector<double> size(static_cast<std::size_t>(m));
        for (std::int64_t i = 0; i < m; ++i) {
          QuadComplex q = quad(b[static_cast<std::size_t>(2 * i + c)]);
          size[static_cast<std::size_t>(i)] = modulus(q);
          for (std::int64_t j = 0; j < n; ++j) {
            const QuadComplex term =
                quad(d[static_cast<std::size_t>(i * n + j)]) * quad(x[static_cast<std::size_t>(c * n + j)]);
            q = q + QuadComplex{-term.re, -term.im};
            size[static_cast<std::size_t>(i)] += modulus(term);
          }
          left[static_cast<std::size_t>(i)] = q;
        }
        for (std::int64_t j = 0; j < n; ++j) {
          QuadComplex q;
          double total = 0;
          for (std::int64_t i = 0; i < m; ++i) {
            QuadComplex e = quad(d[static_cast<std::size_t>(i * n + j)]);
            e.im = -e.im;
            q = q + e * left[static_cast<std::size_t>(i)];
            total += modulus(e) * size[static_cast<std::size_t>(i)];
          }
          ASSERT_LE(modulus(q), static_cast<double>(m + 2) * kRounding<T> * total) << n << " " << j;
        }
      }
      ASSERT_LE(s.componentwise, refined_error_bound<T>(m));
      // R^H R = A^H A, by columns of the order.
      const auto rr = dense(f.r());
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          QuadComplex q, want;
          double total = 0;
          for (std::int64_t k = 0; k < n; ++k) {
            QuadComplex e = quad(rr[static_cast<std::size_t>(k * n + i)]);
            e.im = -e.im;
            q = q + e * quad(rr[static_cast<std::size_t>(k * n + j)]);
            if (k > i) {
              ASSERT_EQ(modulus(e), 0);
            }
          }
          for (std::int64_t k = 0; k < m; ++k) {
            QuadComplex e = quad(d[static_cast<std::size_t>(k * n + f.order()[static_cast<std::size_t>(i)])]);
            e.im = -e.im;
            want = want + e * quad(d[static_cast<std::size_t>(k * n + f.order()[static_cast<std::size_t>(j)])]);
            total += 1 + modulus(e);
          }
          ASSERT_LE(modulus({q.re - want.re, q.im - want.im}), 20 * static_cast<double>(m) * kRounding<T> * total);
        }
      }
    }
    // Square: a system. Wide: the shortest solution, which is orthogonal to every z with A z = 0.
    const Csr<T> square = slice(a, 0, n, 0, n);
    const Qr<T> f(square);
    if (f.outcome().ok()) expect_solves<T>(f, square, "square");
    if (n == 1) continue;
    const Csr<T> wide = adjoint(a);
    const Qr<T> g(wide);
    ASSERT_TRUE(g.outcome().ok());
    const auto b = random_vector<T>(n, 2);
    std::vector<T> x(static_cast<std::size_t>(m)), y(static_cast<std::size_t>(n)), z(static_cast<std::size_t>(m));
    (void)g.solve(columns_of(b, n, 1, false), columns_of(x, m, 1, false));
    ASSERT_LE(backward_error(wide, b.data(), x.data(), 1), static_cast<double>(m + 2) * kRounding<T>);
    // z = w - A^H (A A^H)^-1 A w by least squares: orthogonal to the rows of A.
    const auto w = random_vector<T>(m, 21);
    (void)Qr<T>(a).solve(columns_of(w, m, 1, false), columns_of(y, n, 1, false));
    const auto d = dense(a);
    std::complex<double> product = 0;
    double size = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      std::complex<double> zi(w[static_cast<std::size_t>(i)]);
      for (std::int64_t j = 0; j < n; ++j)
        zi -= std::complex<double>(d[static_cast<std::size_t>(i * n + j)]) *
              std::complex<double>(y[static_cast<std::size_t>(j)]);
      const std::complex<double> xi(x[static_cast<std::size_t>(i)]);
      product += std::conj(zi) * xi;
      size += std::abs(zi) * std::abs(xi);
    }
    ASSERT_LE(std::abs(product), 100 * static_cast<double>(m) * kRounding<T> * (1 + size));
  }
}

TEST(Direct, TroubleIsAResult) {
  using D = double;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::int64_t> is{0, 0, 1, 1, 2}, js{0, 1, 0, 1, 2};
  const auto make = [&](std::vector<D> v) { return assemble<D>(3, is, js, v); };
  const auto solved = [](const auto& f) {
    std::vector<D> x(3, 1);
    const Solved s =
        f.solve(MatrixView<const D>(kHere, x.data(), 3, 1, 1, 3), MatrixView<D>(kHere, x.data(), 3, 1, 1, 3));
    EXPECT_EQ(s.outcome, f.outcome());
    EXPECT_EQ(std::isnan(x[0]), !f.outcome().ok());
    return s.outcome;
  };
  EXPECT_TRUE(solved(Cholesky<D>(make({2, 1, 1, 2, 3}))).ok());
  EXPECT_EQ(solved(Cholesky<D>(make({2, 1, 1, 2, -3}))), (Outcome{Status::NotPositive, 2}));
  EXPECT_EQ(solved(Cholesky<D>(make({2, 1, 1, 2, 0}))), (Outcome{Status::NotPositive, 2}));
  EXPECT_EQ(solved(Cholesky<D>(make({2, 1, 1, nan, 0}))), (Outcome{Status::NotFinite, 1}));
  EXPECT_EQ(Cholesky<D>(make({1, 2, 2, 1, 1})).outcome().status, Status::NotPositive);
  EXPECT_EQ(solved(Lu<D>(make({1, 1, 1, 1, 2}))).status, Status::Singular);  // equal columns
  EXPECT_EQ(solved(Lu<D>(make({1, 1, 1, 2, 0}))), (Outcome{Status::Singular, 2}));
  EXPECT_EQ(solved(Lu<D>(make({1, 1, 1, 2, 0}), {{}, 0.1, false})), (Outcome{Status::Singular, 2}));
  EXPECT_EQ(solved(Lu<D>(make({1, 1, 1, 2, nan}))), (Outcome{Status::NotFinite, 2}));
  EXPECT_EQ(solved(Qr<D>(make({1, 1, 1, 1, 2}))).status, Status::Singular);
  EXPECT_EQ(solved(Qr<D>(make({1, 0, 0, 2, 0}))), (Outcome{Status::Singular, 2}));
  EXPECT_EQ(solved(Qr<D>(make({1, 0, -INFINITY, 2, 1}))), (Outcome{Status::NotFinite, 1}));
  // Structurally singular: a column, or two rows for one column.
  const auto empty = Csr<D>::from_triplets(kHere, {4, 4}, {{}, {}, std::vector<D>{}});
  EXPECT_EQ(Lu<D>(empty).outcome(), (Outcome{Status::Singular, 0}));
  EXPECT_EQ(Lu<D>(empty, {{}, 0.1, false}).outcome().status, Status::Singular);
  EXPECT_EQ(Qr<D>(empty).outcome().status, Status::Singular);
  EXPECT_EQ(Cholesky<D>(empty).outcome().status, Status::NotPositive);
  const auto narrow = assemble<D>(3, {0, 1, 2, 2, 2}, {0, 0, 0, 1, 2}, {1, 2, 3, 4, 5});
  EXPECT_EQ(Lu<D>(narrow).outcome().status, Status::Singular);
  EXPECT_EQ(Qr<D>(narrow).outcome().status, Status::Singular);
  // Singular in one of several blocks; in the numbers alone; a large one with two equal columns.
  const auto blocks = assemble<D>(4, {0, 0, 1, 1, 2, 2, 3, 3}, {0, 1, 0, 1, 2, 3, 2, 3}, {1, 2, 3, 4, 1, 2, 2, 4});
  EXPECT_EQ(Lu<D>(blocks).outcome().status, Status::Singular);
  EXPECT_GE(Lu<D>(blocks).outcome().index, 2);
  // Complex: a diagonal that is not real is not Hermitian.
  using Z = std::complex<double>;
  EXPECT_EQ(Cholesky<Z>(assemble<Z>(2, {0, 1}, {0, 1}, {Z(1), Z(1, 1e-9)})).outcome(),
            (Outcome{Status::NotPositive, 1}));
  // Numbers that overflow on the way.
  const auto large = assemble<D>(2, {0, 0, 1, 1}, {0, 1, 0, 1}, {1e-300, 1e300, 1e300, 1e-300});
  EXPECT_EQ(Cholesky<D>(large).outcome().status, Status::NotFinite);
  EXPECT_TRUE(Lu<D>(large).outcome().ok());
  // Nothing at all.
  const auto none = Csr<D>::from_triplets(kHere, {0, 0}, {{}, {}, std::vector<D>{}});
  std::vector<D> x;
  const MatrixView<D> v(kHere, nullptr, 0, 2, 1, 1);
  EXPECT_TRUE(Cholesky<D>(none).solve(v, v).outcome.ok());
  EXPECT_TRUE(Lu<D>(none).solve(v, v).outcome.ok());
  EXPECT_TRUE(Qr<D>(none).solve(v, v).outcome.ok());
}

TEST(Direct, RefusesWhatMakesNoSense) {
  const auto a = poisson<double>(5, 5);
  EXPECT_IN("must be square", message_of<InvalidArgument>([] { Cholesky<double>(random_csr<double>(3, 4, 1, 1)); }));
  EXPECT_IN("must be square", message_of<InvalidArgument>([] { Lu<double>(random_csr<double>(3, 4, 1, 1)); }));
  EXPECT_IN("threshold", message_of<InvalidArgument>([&] { Lu<double>(a, {{}, 0.0}); }));
  EXPECT_IN("threshold", message_of<InvalidArgument>([&] { Lu<double>(a, {{}, std::nan("")}); }));
  EXPECT_IN("tolerance", message_of<InvalidArgument>([&] { Qr<double>(a, {{}, std::nan("")}); }));
  EXPECT_IN("an order of 2", message_of<InvalidArgument>([&] { Lu<double>(a, {{.order = {0, 1}}}); }));
  EXPECT_IN("partition", message_of<InvalidArgument>([&] { Cholesky<double>(a, {{.ordering = Reorder::Partition}}); }));
  EXPECT_IN("none of its values",
            message_of<InvalidArgument>([&] { Cholesky<double>(a, {{.ordering = static_cast<Reorder>(77)}}); }));
  const Lu<double> f(a);
  EXPECT_IN("another pattern", message_of<InvalidArgument>([&] { (void)f.refactor(poisson<double>(25, 1)); }));
  std::vector<double> x(25);
  const MatrixView<double> v(kHere, x.data(), 25, 1, 1, 25);
  EXPECT_IN("steps", message_of<InvalidArgument>([&] { (void)f.solve(v, v, Op::N, {-1}); }));
  EXPECT_IN("op", message_of<InvalidArgument>([&] { (void)f.solve(v, v, static_cast<Op>(9)); }));
}

TYPED_TEST(DirectOf, RefactorisationIsTheFactorisation) {
  using T = TypeParam;
  const Csr<T> a = positive<T>(150, 3);
  std::vector<T> other(a.values().data(), a.values().data() + a.nnz());
  for (T& x : other) x *= Real<T>(1.5);
  const Csr<T> b = a.with_values(VectorView<const T>(kHere, other.data(), a.nnz()));
  expect_solves<T>(Cholesky<T>(a).refactor(b), b, "Cholesky");
  expect_solves<T>(Lu<T>(a).refactor(b), b, "LU");
  expect_solves<T>(Qr<T>(a).refactor(b), b, "QR", 4);
  const Cholesky<T> kept(a), again = kept.refactor(b);  // the first factor stays what it was
  expect_solves<T>(kept, a, "kept");
  EXPECT_TRUE(equal(again.refactor(a).lower(), kept.lower()));
  // New values that want other pivots.
  std::vector<T> turned(other.size(), T(0));
  for (std::int64_t i = 0; i < 150; ++i) {
    for (std::int64_t e = a.pattern().offsets().data()[i]; e < a.pattern().offsets().data()[i + 1]; ++e)
      turned[static_cast<std::size_t>(e)] =
          a.pattern().indices().data()[e] == i ? T(1e-2) : a.values().data()[e] * Real<T>(5);
  }
  const Csr<T> hard = a.with_values(VectorView<const T>(kHere, turned.data(), a.nnz()));
  const Lu<T> f = Lu<T>(a).refactor(hard);
  EXPECT_GT(f.report().delayed, 0);
  expect_solves<T>(f, hard, "other pivots");
}

TEST(Direct, TheSameBitsForAnyNumberOfThreads) {
  const auto a = poisson<double>(21, 21, 21);
  const auto b = random_vector<double>(a.rows(), 1);
  const auto tall = random_csr<double>(3000, 600, 5, 2);
  const int threads = omp_get_max_threads();
  std::vector<std::vector<double>> all;
  for (const int t : {1, 2, 5}) {
    omp_set_num_threads(t);
    std::vector<double> x(b.size()), y(b.size());
    (void)Cholesky<double>(a, {{.ordering = Reorder::NestedDissection}})
        .solve(columns_of(b, a.rows(), 1, false), columns_of(x, a.rows(), 1, false), {0});
    (void)Lu<double>(a, {{.ordering = Reorder::NestedDissection}})
        .solve(columns_of(b, a.rows(), 1, false), columns_of(y, a.rows(), 1, false), Op::N, {0});
    x.insert(x.end(), y.begin(), y.end());
    const Csr<double> r = Qr<double>(tall).r();
    x.insert(x.end(), r.values().data(), r.values().data() + r.nnz());
    all.push_back(std::move(x));
  }
  omp_set_num_threads(threads);
  for (const auto& x : all) EXPECT_TRUE(x == all[0]);
}

// A vertex tied to all others, isolated ones, a clique: every order is a permutation and minimum degree leaves no more
// fill than these graphs force.
TEST(Direct, MinimumDegreeOnOddGraphs) {
  std::vector<std::int64_t> is, js;
  const std::int64_t n = 400;
  for (std::int64_t i = 1; i < n - 50; ++i) is.push_back(0), js.push_back(i);
  const auto star = assemble<double>(n, is, js, std::vector<double>(is.size(), 1));
  const Permutation p = minimum_degree(star.pattern());
  EXPECT_EQ(cholesky_entries(star.pattern(), p), n + n - 51);
  is.clear(), js.clear();
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = 0; j < i; ++j) is.push_back(i), js.push_back(j);
  }
  for (std::int64_t i = 41; i < 200; ++i) is.push_back(i), js.push_back(i - 1);
  const auto clique = assemble<double>(200, is, js, std::vector<double>(is.size(), 1));
  EXPECT_EQ(cholesky_entries(clique.pattern(), minimum_degree(clique.pattern())), 40 * 41 / 2 + 160 + 159);
  EXPECT_EQ(minimum_degree(Pattern<>(kHere, {0, 0}, std::vector<std::int64_t>{0}, {})).size(), 0U);
  const auto mesh = poisson<double>(40, 40);
  EXPECT_LT(cholesky_entries(mesh.pattern(), minimum_degree(mesh.pattern())), 31000);
  EXPECT_LT(cholesky_entries(mesh.pattern(), nested_dissection(mesh.pattern())), 31000);
}

}  // namespace
}  // namespace trn::sparse

// Tridiagonal, bidiagonal and Hessenberg form against 80-bit products: A = Q B P^H from what the generators make, the
// appliers beside them, every type and layout, the triangle that is not named, NaN, refusals.
#include <trn/solver/reductions.hpp>

#include <trn/core/error.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

// Strided numbers with guards between them.
template <class T> class Numbers {
 public:
  explicit Numbers(std::int64_t n)
      : n_(std::max<std::int64_t>(n, 0)), memory_(static_cast<std::size_t>(3 * n_ + 1), T(5)) {}
  VectorView<T> view() { return {kHost, memory_.data(), n_, 3}; }
  Wide<T> operator()(std::int64_t i) const { return widened(memory_[static_cast<std::size_t>(3 * i)]); }
  bool between_untouched() const {
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      if ((k % 3 != 0 || k == memory_.size() - 1) && memory_[k] != T(5)) return false;
    }
    return true;
  }

 private:
  std::int64_t n_;
  std::vector<T> memory_;
};

template <class T> const T kNan = T(std::numeric_limits<Real<T>>::quiet_NaN());

// op(F) C and C op(F) by `apply(side, op, view of C)` beside the explicit F.
template <class T, class Apply>
void expect_applied(const Dense<Wide<T>>& f, Layout layout, Random& random, const Apply& apply) {
  const std::int64_t n = f.rows;
  for (const Side side : {Side::Left, Side::Right}) {
    for (const Op op : {Op::N, Op::C, Op::T}) {
      if (op == Op::T && is_complex<T>) continue;
      const auto start = side == Side::Left ? random_matrix<T>(n, 3, random) : random_matrix<T>(4, n, random);
      Held<T> c(layout, start);
      ASSERT_TRUE(apply(side, op, c.view()).outcome.ok());
      EXPECT_TRUE(c.surroundings_untouched());
      const auto opf = op == Op::N ? f : adjoint(f);
      const auto expected = side == Side::Left ? times(opf, start) : times(start, opf);
      EXPECT_LT(ratio(minus(c.values(), expected), norm1(start), n, eps<T>), kThreshold);
    }
  }
}

TEST(Reductions, Tridiagonal) {
  for_scalars([]<class T>() {
    Random random(31);
    for (const std::int64_t n : {0, 1, 2, 3, 17, 40}) {
      for (const Layout layout : kLayouts) {
        if (n > 20 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
        for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
          SCOPED_TRACE(::testing::Message()
                       << n << " layout " << static_cast<int>(layout) << " uplo " << static_cast<int>(uplo));
          const auto a = random_hermitian<T>(n, random);
          Held<T> held(layout, a);
          const auto other = [&](std::int64_t i, std::int64_t j) { return uplo == Uplo::Lower ? j > i : j < i; };
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
              if (other(i, j)) held.at(i, j) = kNan<T>;  // never read
            }
          }
          Numbers<Real<T>> d(n), e(n - 1);
          Numbers<T> tau(n - 1);
          const Report report = sytrd(kHost, uplo, held.view(), d.view(), e.view(), tau.view());
          ASSERT_TRUE(report.outcome.ok());
          EXPECT_TRUE(held.surroundings_untouched());
          EXPECT_TRUE(d.between_untouched() && e.between_untouched() && tau.between_untouched());
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
              if (other(i, j)) {
                EXPECT_TRUE(std::isnan(std::real(held.at(i, j))));  // nor written
              }
            }
          }
          Held<T> made = held;
          ASSERT_TRUE(orgtr<T>(kHost, uplo, made.view(), tau.view()).outcome.ok());
          EXPECT_TRUE(made.surroundings_untouched());
          const auto q = made.values();
          Dense<Wide<T>> t(n, n);
          for (std::int64_t i = 0; i < n; ++i) {
            t(i, i) = d(i);
            if (i > 0) t(i, i - 1) = t(i - 1, i) = e(i - 1);
          }
          const auto rest = minus(times(times(q, t), adjoint(q)), a);
          EXPECT_LT(ratio(rest, norm1(a), n, eps<T>), kThreshold);
          EXPECT_LT(orthogonality(q, eps<T>), kThreshold);
          expect_applied<T>(q, layout, random, [&](Side side, Op op, const MatrixView<T>& c) {
            return ormtr<T>(kHost, side, uplo, op, held.view(), tau.view(), c);
          });
        }
      }
    }
  });
}

TEST(Reductions, Bidiagonal) {
  for_scalars([]<class T>() {
    Random random(32);
    const std::int64_t shapes[][2] = {{0, 0}, {0, 2}, {2, 0}, {1, 1},   {1, 4},  {5, 1},
                                      {6, 6}, {9, 4}, {4, 9}, {41, 30}, {30, 41}};
    for (const auto& [m, n] : shapes) {
      const std::int64_t k = std::min(m, n);
      for (const Layout layout : kLayouts) {
        if (m + n > 40 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " layout " << static_cast<int>(layout));
        const auto a = random_matrix<T>(m, n, random);
        Held<T> held(layout, a);
        Numbers<Real<T>> d(k), e(k - 1);
        Numbers<T> tau_q(k), tau_p(k);
        ASSERT_TRUE(gebrd(kHost, held.view(), d.view(), e.view(), tau_q.view(), tau_p.view()).outcome.ok());
        EXPECT_TRUE(held.surroundings_untouched());
        EXPECT_TRUE(d.between_untouched() && e.between_untouched());
        EXPECT_TRUE(tau_q.between_untouched() && tau_p.between_untouched());
        // All of Q and of P^H: the factored columns and rows, and room for the others.
        Held<T> made_q(layout, m, m), made_p(layout, n, n);
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < m; ++j) made_q.at(i, j) = j < n ? held.at(i, j) : T(0);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) made_p.at(i, j) = i < m ? held.at(i, j) : T(0);
        const auto part = [](Numbers<T>& tau, std::int64_t size) {
          return VectorView<T>(kHost, tau.view().data(), size, 3);
        };
        ASSERT_TRUE(orgbr<T>(kHost, BidiagonalFactor::Q, n, made_q.view(), part(tau_q, k)).outcome.ok());
        ASSERT_TRUE(orgbr<T>(kHost, BidiagonalFactor::P, m, made_p.view(), part(tau_p, k)).outcome.ok());
        EXPECT_TRUE(made_q.surroundings_untouched() && made_p.surroundings_untouched());
        const auto q = made_q.values(), ph = made_p.values();
        Dense<Wide<T>> b(m, n);
        for (std::int64_t i = 0; i < k; ++i) {
          b(i, i) = d(i);
          if (i + 1 < k) (m >= n ? b(i, i + 1) : b(i + 1, i)) = e(i);
        }
        EXPECT_LT(ratio(minus(times(times(q, b), ph), a), norm1(a), std::max(m, n), eps<T>), kThreshold);
        EXPECT_LT(orthogonality(q, eps<T>), kThreshold);
        EXPECT_LT(orthogonality(ph, eps<T>), kThreshold);
        if (k == 0) continue;
        expect_applied<T>(q, layout, random, [&](Side side, Op op, const MatrixView<T>& c) {
          return ormbr<T>(kHost, BidiagonalFactor::Q, side, op, n, held.view().block(0, 0, m, k), tau_q.view(), c);
        });
        expect_applied<T>(adjoint(ph), layout, random, [&](Side side, Op op, const MatrixView<T>& c) {
          return ormbr<T>(kHost, BidiagonalFactor::P, side, op, m, held.view().block(0, 0, k, n), tau_p.view(), c);
        });
      }
    }
  });
}

TEST(Reductions, Hessenberg) {
  for_scalars([]<class T>() {
    Random random(33);
    for (const std::int64_t n : {0, 1, 2, 3, 18, 40}) {
      for (const Layout layout : kLayouts) {
        if (n > 20 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
        SCOPED_TRACE(::testing::Message() << n << " layout " << static_cast<int>(layout));
        const auto a = random_matrix<T>(n, n, random);
        Held<T> held(layout, a);
        Numbers<T> tau(n - 1);
        ASSERT_TRUE(gehrd(kHost, held.view(), tau.view()).outcome.ok());
        EXPECT_TRUE(held.surroundings_untouched() && tau.between_untouched());
        Held<T> made = held;
        ASSERT_TRUE(orghr<T>(kHost, made.view(), tau.view()).outcome.ok());
        EXPECT_TRUE(made.surroundings_untouched());
        const auto q = made.values();
        auto h = held.values();
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j + 1 < i; ++j) h(i, j) = 0;
        EXPECT_LT(ratio(minus(times(times(q, h), adjoint(q)), a), norm1(a), n, eps<T>), kThreshold);
        EXPECT_LT(orthogonality(q, eps<T>), kThreshold);
        expect_applied<T>(q, layout, random, [&](Side side, Op op, const MatrixView<T>& c) {
          return ormhr<T>(kHost, side, op, held.view(), tau.view(), c);
        });
      }
    }
  });
}

// What unitary transformations leave: the trace and the sum of squares.
TEST(Reductions, TraceAndNormStay) {
  const std::int64_t n = 20;
  Random random(34);
  const auto a = random_hermitian<double>(n, random);
  Held<double> held(Layout::ColumnMajor, a);
  Numbers<double> d(n), e(n - 1), tau(n - 1);
  ASSERT_TRUE(sytrd(kHost, Uplo::Lower, held.view(), d.view(), e.view(), tau.view()).outcome.ok());
  long double trace = 0, squares = 0, of_t = 0, of_t_squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    trace += a(i, i), of_t += d(i), of_t_squares += d(i) * d(i);
    for (std::int64_t j = 0; j < n; ++j) squares += a(i, j) * a(i, j);
    if (i > 0) of_t_squares += 2 * e(i - 1) * e(i - 1);
  }
  EXPECT_LE(std::abs(trace - of_t), n * eps<double> * std::sqrt(squares));
  EXPECT_LE(std::abs(squares - of_t_squares), n * eps<double> * squares);
}

TEST(Reductions, NotFinite) {
  for_scalars([]<class T>() {
    Held<T> a(Layout::RowMajor, 3, 3), c(Layout::RowMajor, 3, 2);
    a.set(identity<Wide<T>>(3));
    a.at(2, 1) = kNan<T>;
    Numbers<Real<T>> d(3), e(2);
    Numbers<T> two(2), three(3), more(3);
    Held<T> upper = a, full = a, square = a;
    EXPECT_EQ(sytrd(kHost, Uplo::Lower, a.view(), d.view(), e.view(), two.view()).outcome,
              (Outcome{Status::NotFinite, 7}));
    EXPECT_TRUE(std::isnan(d(0)) && std::isnan(e(1)) && std::isnan(std::real(two(0))) &&
                std::isnan(std::real(a.at(0, 0))));
    EXPECT_EQ(a.at(0, 1), T(0));
    EXPECT_TRUE(sytrd(kHost, Uplo::Upper, upper.view(), d.view(), e.view(), two.view()).outcome.ok());
    EXPECT_EQ(gebrd(kHost, full.view(), d.view(), e.view(), three.view(), more.view()).outcome,
              (Outcome{Status::NotFinite, 7}));
    EXPECT_TRUE(std::isnan(std::real(full.at(0, 0))) && std::isnan(std::real(more(2))));
    EXPECT_EQ(ormhr<T>(kHost, Side::Left, Op::N, square.view(), two.view(), c.view()).outcome,
              (Outcome{Status::NotFinite, 7}));
    EXPECT_TRUE(std::isnan(std::real(c.at(2, 1))));
    EXPECT_EQ(gehrd(kHost, square.view(), two.view()).outcome, (Outcome{Status::NotFinite, 7}));
  });
}

TEST(Reductions, Refused) {
  Matrix<double> square(kHost, 4, 4), wide(kHost, 4, 6), other(kHost, 4, 4);
  Array<double> three(kHost, {3}), four(kHost, {4}), more(kHost, {4}), last(kHost, {3});
  Array<std::complex<double>> turns(kHost, {3});
  Matrix<std::complex<double>> za(kHost, 4, 4), zc(kHost, 4, 4);
  const auto refused = [](auto call, const char* text) {
    try {
      call();
      ADD_FAILURE() << text;
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  };
  const auto v = [](Array<double>& x) { return VectorView<double>(x.view()); };
  refused([&] { sytrd(kHost, Uplo::Lower, wide.view(), v(four), v(three), v(last)); }, "square");
  refused([&] { sytrd(kHost, Uplo::Lower, square.view(), v(three), v(last), v(three)); }, "must have 4");
  refused([&] { sytrd(kHost, Uplo::Lower, square.view(), v(four), v(three), v(three)); }, "memory");
  refused([&] { gebrd(kHost, wide.view(), v(four), v(three), v(four), v(more)); }, "memory");
  refused([&] { orgbr<double>(kHost, BidiagonalFactor::Q, 4, wide.view(), v(four)); }, "longer extent");
  refused([&] { orgbr<double>(kHost, BidiagonalFactor::P, 5, wide.view(), v(four)); }, "longer extent");
  refused([&] { orgbr<double>(kHost, BidiagonalFactor::P, 4, wide.view(), v(three)); }, "must have 4");
  refused([&] { orgbr<double>(kHost, BidiagonalFactor::Q, -1, square.view(), v(four)); }, "longer extent");
  refused([&] { ormtr<double>(kHost, Side::Left, Uplo::Lower, Op::N, wide.view(), v(three), other.view()); }, "4 x 4");
  refused([&] { ormtr<double>(kHost, Side::Left, Uplo::Lower, Op::N, square.view(), v(three), square.view()); },
          "memory");
  refused(
      [&] {
        ormhr<std::complex<double>>(kHost, Side::Left, Op::T, za.view(), VectorView<std::complex<double>>(turns.view()),
                                    zc.view());
      },
      "Q^H (C)");
  const Executor device = Executor::open("sim:trn2");
  const Matrix<float> on_device(device, 4, 4);
  const Array<float> d(device, {4}), e(device, {3}), tau(device, {3});
  EXPECT_THROW((void)sytrd(device, Uplo::Lower, on_device.view(), VectorView<float>(d.view()),
                           VectorView<float>(e.view()), VectorView<float>(tau.view())),
               NotImplemented);
}

}  // namespace
}  // namespace trn::solver::testing

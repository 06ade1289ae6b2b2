// The six rank-k updates against sums in wider arithmetic: every triangle, op, type and layout; the other triangle, the
// padding and, for the Hermitian forms, the imaginary parts of the diagonal.
#include <trn/blas/syrk.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

enum class Kind : std::uint8_t { Single, Double, Pair };  // syrk, syr2k, syrkx

struct SyrkCase {
  std::int64_t n, k;
  Uplo uplo;
  Op op;
  Layout a = Layout::RowMajor, b = Layout::RowMajor, c = Layout::RowMajor;
  bool read = true;
};

template <class T> Accuracy call(const Executor& e, Kind kind, bool hermitian, const SyrkCase& t, T alpha,
                                 const OnDevice<T>& a, const OnDevice<T>& b, T beta, const OnDevice<T>& c,
                                 const GemmOptions& options) {
  if constexpr (ComplexScalar<T>) {
    if (hermitian) {
      switch (kind) {
        case Kind::Single:
          return herk(e, t.uplo, t.op, alpha.real(), a.view, beta.real(), c.view, options);
        case Kind::Double:
          return her2k(e, t.uplo, t.op, alpha, a.view, b.view, beta.real(), c.view, options);
        case Kind::Pair:
          return herkx(e, t.uplo, t.op, alpha, a.view, b.view, beta.real(), c.view, options);
      }
    }
  }
  switch (kind) {
    case Kind::Single:
      return syrk(e, t.uplo, t.op, alpha, a.view, beta, c.view, options);
    case Kind::Double:
      return syr2k(e, t.uplo, t.op, alpha, a.view, b.view, beta, c.view, options);
    case Kind::Pair:
      return syrkx(e, t.uplo, t.op, alpha, a.view, b.view, beta, c.view, options);
  }
  return {};
}

template <class T> void check_syrk(const Executor& executor, Kind kind, bool hermitian, const SyrkCase& t,
                                   std::uint64_t seed, Precision precision = {}) {
  SCOPED_TRACE(::testing::Message() << name(dtype_of<T>) << " n " << t.n << " k " << t.k << " kind "
                                    << static_cast<int>(kind) << " hermitian " << hermitian << " uplo "
                                    << static_cast<int>(t.uplo) << " op " << static_cast<int>(t.op) << " layouts "
                                    << static_cast<int>(t.a) << static_cast<int>(t.b) << static_cast<int>(t.c)
                                    << " seed " << seed);
  std::mt19937_64 random(seed);
  const std::int64_t rows = t.op == Op::N ? t.n : t.k, columns = t.op == Op::N ? t.k : t.n;
  const auto a = full<T>(rows, columns, t.a, random), b = full<T>(rows, columns, t.b, random);
  auto c = partly<T>(t.n, t.n, t.c, random, [&](auto i, auto j) { return t.read && in_triangle(t.uplo, i, j); });
  if constexpr (ComplexScalar<T>) {
    for (std::int64_t i = 0; hermitian && i < t.n; ++i) c.at(i, i) = T(c.at(i, i).real(), NAN);  // must not be read
  }
  const bool real = hermitian && kind == Kind::Single;
  const T alpha = number<T>(0.75, real ? 0 : -1.25), beta = t.read ? number<T>(-0.5, hermitian ? 0 : 2) : T(0);
  const OnDevice<T> da(executor, a), db(executor, b), dc(executor, c);
  Recorder recorder(executor);
  const Accuracy accuracy = call(executor, kind, hermitian, t, alpha, da, db, beta, dc, {precision});
  const std::string operation = std::string("blas.") + (hermitian ? "her" : "syr") +
                                (kind == Kind::Double ? "2k"
                                 : kind == Kind::Pair ? "kx"
                                                      : "k");
  if (t.n > 0 && t.k > 0) {
    EXPECT_EQ(recorder.family_of(operation), name(executor.family()));
  }
  const auto right = [&](const Stored<T>& x, std::int64_t j, std::int64_t p) {
    return conj(op_at(t.op, x, j, p), hermitian);
  };
  const auto after = fetched(c, dc);
  expect_elements(
      c, after, accuracy.bound, [&](auto i, auto j) { return in_triangle(t.uplo, i, j); },
      [&](std::int64_t i, std::int64_t j) {
        Sum first, second, old;
        for (std::int64_t p = 0; p < t.k; ++p) {
          first.add(op_at(t.op, a, i, p), right(kind == Kind::Single ? a : b, j, p));
          if (kind == Kind::Double) second.add(op_at(t.op, b, i, p), right(a, j, p));
        }
        if (t.read) old.add(wide(beta), hermitian && i == j ? Wide{wide(c.at(i, i)).re, 0} : wide(c.at(i, j)));
        if (precision == Precision(Mode::Exact)) first = first.normwise(), second = second.normwise();
        Sum sum = first.times(wide(alpha)) + second.times(conj(wide(alpha), hermitian)) + old;
        if (hermitian && i == j) sum.value.im = 0;
        return sum;
      });
  if constexpr (ComplexScalar<T>) {
    for (std::int64_t i = 0; hermitian && i < t.n; ++i) EXPECT_EQ(after.at(i, i).imag(), 0) << i;
  }
}

constexpr Kind kKinds[] = {Kind::Single, Kind::Double, Kind::Pair};

template <class T> void check_all(const SyrkCase& t, std::uint64_t seed, Precision precision = {}) {
  const Executor host = Executor::host();
  for (const Kind kind : kKinds) {
    if (!ComplexScalar<T> || t.op != Op::C) check_syrk<T>(host, kind, false, t, seed, precision);
    if constexpr (ComplexScalar<T>) {
      if (t.op != Op::T) check_syrk<T>(host, kind, true, t, seed, precision);
    }
  }
}

TEST(Syrk, EveryKindTriangleOpTypeAndSize) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 1;
    for (const Uplo uplo : kUplos) {
      for (const Op op : kAllOps) {
        for (const std::int64_t s : {0, 1, 2, 3, 17, 64, 65}) {
          check_all<T>({s, 5, uplo, op}, ++seed);
          check_all<T>({7, s, uplo, op, Layout::RowMajor, Layout::RowMajor, Layout::ColumnMajor, s == 0 || s > 3},
                       ++seed);
          check_all<T>({s, 3, uplo, op, Layout::RowMajor, Layout::RowMajor, Layout::PaddedRows, false}, ++seed);
        }
        check_all<T>({129, 17, uplo, op, Layout::PaddedColumns}, ++seed);
        check_all<T>({33, 129, uplo, op, Layout::RowMajor, Layout::PaddedColumns}, ++seed);
      }
    }
  });
}

TEST(Syrk, EveryLayout) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 1000;
    for (const Layout a : kLayouts) {
      for (const Layout b : kLayouts) {
        for (const Layout c : kLayouts) {
          ++seed;
          check_all<T>({7, 6, seed % 2 ? Uplo::Lower : Uplo::Upper, kAllOps[seed % 3], a, b, c, seed / 2 % 2 == 0},
                       seed);
        }
      }
    }
  });
}

// As the reference has it: nothing happens, not even to the imaginary parts of the diagonal.
TEST(Syrk, QuickReturns) {
  using C = std::complex<double>;
  const Executor e = Executor::host();
  std::vector<C> a(4, C(NAN, NAN)), c(4, C(1, 2));
  const auto view = [&](std::vector<C>& v) { return MatrixView<C>::row_major(e, v.data(), 2, 2); };
  herk(e, Uplo::Lower, Op::N, 0, view(a), 1, view(c));
  EXPECT_EQ(c, std::vector<C>(4, C(1, 2)));
  herk(e, Uplo::Lower, Op::N, 0, view(a), 0.5, view(c));
  EXPECT_EQ(c, (std::vector<C>{C(0.5, 0), C(1, 2), C(0.5, 1), C(0.5, 0)}));
}

TEST(Syrk, NoProductsReadNoAlpha) {
  using T = std::complex<double>;
  const Executor e = Executor::host();
  const Matrix<T> a(e, 3, 0);
  for (const Precision& precision : {Precision(), Precision(Mode::Exact)}) {
    for (const bool two : {false, true}) {
      const auto c = Matrix<T>::from_host(e, 3, 3, std::vector<T>(9, 3)),
                 d = Matrix<T>::from_host(e, 3, 3, c.to_host());
      if (two) {
        syr2k(e, Uplo::Lower, Op::N, T(INFINITY), a.view(), a.view(), T(2), c.view(), {precision});
        her2k(e, Uplo::Lower, Op::N, T(NAN), a.view(), a.view(), 2.0, d.view(), {precision});
      } else {
        syrk(e, Uplo::Lower, Op::N, T(INFINITY), a.view(), T(2), c.view(), {precision});
        herk(e, Uplo::Lower, Op::N, static_cast<double>(NAN), a.view(), 2.0, d.view(), {precision});
      }
      for (const std::size_t i : {0, 3, 4, 6, 7, 8}) EXPECT_TRUE(c.to_host()[i] == T(6) && d.to_host()[i] == T(6)) << i;
    }
  }
}

TEST(Syrk, NanAndInfinityStayInTheirRowsAndColumns) {
  const Executor e = Executor::host();
  constexpr std::int64_t n = 70;
  std::vector<double> a(n * n, 1), c(n * n, 5);
  a[3 * n + 2] = NAN;
  a[9 * n + 1] = INFINITY;
  syrk(e, Uplo::Lower, Op::N, 1, MatrixView<double>::row_major(e, a.data(), n, n), 0,
       MatrixView<double>::row_major(e, c.data(), n, n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double x = c[static_cast<std::size_t>(i * n + j)];
      if (j > i) {
        EXPECT_EQ(x, 5);
      } else if (i == 3 || j == 3) {
        EXPECT_TRUE(std::isnan(x));
      } else {
        EXPECT_EQ(x, i == 9 || j == 9 ? INFINITY : n);
      }
    }
  }
}

// Float64 on a machine without it.
TEST(Syrk, ExactOnTheDevice) {
  const Executor e = Executor::open("sim:trn2");
  std::uint64_t seed = 400;
  for (const Uplo uplo : kUplos) {
    for (const Kind kind : kKinds) {
      for (const Op op : {Op::N, Op::T})
        check_syrk<double>(e, kind, false,
                           {20, 13, uplo, op, Layout::RowMajor, Layout::ColumnMajor, Layout::PaddedRows}, ++seed,
                           Mode::Exact);
      check_syrk<std::complex<double>>(e, kind, false, {9, 7, uplo, Op::T}, ++seed, Mode::Exact);
      for (const Op op : {Op::N, Op::C})
        check_syrk<std::complex<double>>(e, kind, true, {9, 7, uplo, op}, ++seed, Mode::Exact);
    }
  }
}

// Several blocks of the triangle, in float64 and complex128, of which only the named half is written.
TEST(Syrk, ExactBlocksOnTheDevice) {
  const Executor e = Executor::open("sim:trn2");
  check_syrk<double>(e, Kind::Single, false, {600, 3, Uplo::Lower, Op::N}, 450, Mode::Exact);
  check_syrk<double>(e, Kind::Double, false, {140, 3, Uplo::Upper, Op::T}, 451, Mode::Exact);
  check_syrk<std::complex<double>>(e, Kind::Single, true, {140, 3, Uplo::Upper, Op::N}, 452, Mode::Exact);
  check_syrk<std::complex<double>>(e, Kind::Single, true, {140, 3, Uplo::Lower, Op::C}, 453, Mode::Exact);
  check_syrk<std::complex<double>>(e, Kind::Single, false, {140, 3, Uplo::Lower, Op::N}, 454, Mode::Exact);
}

TEST(Syrk, Refusals) {
  using C = std::complex<float>;
  const Executor e = Executor::host();
  const Matrix<float> a(e, 3, 4), c(e, 3, 3), rectangle(e, 3, 4);
  const auto text = [&](Op op, const MatrixView<float>& x, const MatrixView<float>& y, const MatrixView<float>& z) {
    return message_of<InvalidArgument>([&] { syr2k(e, Uplo::Lower, op, 1, x, y, 0, z); });
  };
  EXPECT_IN("blas.syr2k: op(A) is 4 x 3, op(B) is 4 x 3 (op T), C is 3 x 3", text(Op::T, a.view(), a.view(), c.view()));
  EXPECT_IN("n x k, n x k and n x n", text(Op::N, a.view(), c.view(), c.view()));
  EXPECT_IN("C is 3 x 4", text(Op::N, a.view(), a.view(), rectangle.view()));
  EXPECT_IN("C shares memory with B", text(Op::N, a.view(), MatrixView<float>(e, c.data(), 3, 4, 3, 1), c.view()));
  const Matrix<C> z(e, 3, 3), w(e, 3, 3);
  EXPECT_IN("blas.syrk: op is C; for this type it must be N or T",
            message_of<InvalidArgument>([&] { syrk(e, Uplo::Lower, Op::C, 1, z.view(), 0, w.view()); }));
  EXPECT_IN("blas.herk: op is T; for this type it must be N or C",
            message_of<InvalidArgument>([&] { herk(e, Uplo::Lower, Op::T, 1, z.view(), 0, w.view()); }));
}

TEST(Syrk, OnTheDevice) {
  std::uint64_t seed = 9000;
  const Executor machines[] = {Executor::open("sim:trn1"), Executor::open("sim:trn2"), Executor::open("sim:trn3")};
  for (const Kind kind : {Kind::Single, Kind::Double, Kind::Pair}) {
    for (const Uplo uplo : kUplos) {
      for (const Op op : {Op::N, Op::T}) {
        const Executor& e = machines[seed / 4 % 3];
        const Layout c = seed % 8 ? Layout::RowMajor : Layout::PaddedColumns,
                     a = seed % 3 ? Layout::PaddedRows : Layout::ColumnMajor;
        check_syrk<float>(e, kind, false, {131, 40, uplo, op, a, Layout::RowMajor, c, seed % 5 != 0}, seed), ++seed;
        check_syrk<float>(e, kind, false, {40, 131, uplo, op, a, Layout::Scattered, c}, seed, Mode::Tf32x3), ++seed;
        check_syrk<std::complex<float>>(e, kind, false, {40, 30, uplo, op, a, Layout::RowMajor, c}, seed), ++seed;
        check_syrk<std::complex<float>>(
            e, kind, true, {130, 20, uplo, op == Op::T ? Op::C : op, a, Layout::Reversed, c, seed % 5 != 0}, seed),
            ++seed;
      }
    }
  }
  // k = 0: C = beta C.
  const Executor& e = machines[1];
  for (const Uplo uplo : kUplos) {
    for (const bool read : {true, false}) {
      check_syrk<float>(e, Kind::Single, false,
                        {200, 0, uplo, Op::N, Layout::RowMajor, Layout::RowMajor, Layout::RowMajor, read}, seed++);
      check_syrk<std::complex<float>>(
          e, Kind::Single, true, {131, 0, uplo, Op::N, Layout::RowMajor, Layout::RowMajor, Layout::ColumnMajor, read},
          seed++);
      check_syrk<std::complex<float>>(e, Kind::Single, false,
                                      {131, 0, uplo, Op::N, Layout::RowMajor, Layout::RowMajor, Layout::RowMajor, read},
                                      seed++);
    }
  }
}

// Native float64 has no device kernel; a target that no float32 mode meets is refused. Nothing is written.
TEST(Syrk, DeviceRefusals) {
  const Executor e = Executor::open("sim:trn2");
  const auto a = Matrix<float>::from_host(e, 4, 4, std::vector<float>(16, 1)),
             c = Matrix<float>::from_host(e, 4, 4, std::vector<float>(16, 7));
  EXPECT_THROW(syrk(e, Uplo::Lower, Op::N, 1, a.view(), 0, c.view(), {Precision::target(1e-12)}), InvalidArgument);
  EXPECT_EQ(c.to_host(), std::vector<float>(16, 7));
  EXPECT_EQ(syrk(e, Uplo::Lower, Op::N, 1, a.view(), 0, c.view(), {Precision::target(1e-2)}).mode, Mode::Bf16);
  const auto ad = Matrix<double>::from_host(e, 4, 4, std::vector<double>(16, 1)),
             cd = Matrix<double>::from_host(e, 4, 4, std::vector<double>(16, 7));
  EXPECT_THROW(syrk(e, Uplo::Lower, Op::N, 1, ad.view(), 0, cd.view()), NotImplemented);
  EXPECT_EQ(cd.to_host(), std::vector<double>(16, 7));
}

}  // namespace
}  // namespace trn::blas::test

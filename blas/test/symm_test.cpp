// symm and hemm against sums in wider arithmetic: every side, triangle, type and layout, sizes across the blocks of
// OpenBLAS.
#include <trn/blas/symm.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

struct SymmCase {
  std::int64_t m, n;
  Side side;
  Uplo uplo;
  Layout a = Layout::RowMajor, b = Layout::RowMajor, c = Layout::RowMajor;
  bool read = true;  // beta != 0
};

template <class T> void check_symm(const Executor& executor, bool hermitian, const SymmCase& t, std::uint64_t seed,
                                   Precision precision = {}) {
  SCOPED_TRACE(::testing::Message() << name(dtype_of<T>) << ' ' << t.m << " x " << t.n << " side "
                                    << static_cast<int>(t.side) << " uplo " << static_cast<int>(t.uplo) << " hermitian "
                                    << hermitian << " layouts " << static_cast<int>(t.a) << static_cast<int>(t.b)
                                    << static_cast<int>(t.c) << " seed " << seed);
  std::mt19937_64 random(seed);
  const std::int64_t order = t.side == Side::Left ? t.m : t.n;
  auto a = triangle<T>(order, t.uplo, t.a, random);
  const auto b = full<T>(t.m, t.n, t.b, random), c = output<T>(t.m, t.n, t.c, t.read, random);
  if constexpr (ComplexScalar<T>) {  // the imaginary parts of a Hermitian diagonal must not be read
    for (std::int64_t i = 0; hermitian && i < order; ++i) a.at(i, i) = T(a.at(i, i).real(), NAN);
  }
  const T alpha = number<T>(0.75, -1.25), beta = t.read ? number<T>(-0.5, 2) : T(0);
  const OnDevice<T> da(executor, a), db(executor, b), dc(executor, c);
  Recorder recorder(executor);
  Accuracy accuracy;
  if constexpr (ComplexScalar<T>) {
    accuracy = hermitian ? hemm(executor, t.side, t.uplo, alpha, da.view, db.view, beta, dc.view, {precision})
                         : symm(executor, t.side, t.uplo, alpha, da.view, db.view, beta, dc.view, {precision});
  } else {
    accuracy = symm(executor, t.side, t.uplo, alpha, da.view, db.view, beta, dc.view, {precision});
  }
  EXPECT_EQ(recorder.family_of(hermitian ? "blas.hemm" : "blas.symm"), t.m && t.n ? name(executor.family()) : "");
  const auto whole = [&](std::int64_t i, std::int64_t j) -> Wide {
    if (i == j && hermitian) return {wide(a.at(i, i)).re, 0};
    return in_triangle(t.uplo, i, j) ? wide(a.at(i, j)) : conj(wide(a.at(j, i)), hermitian);
  };
  expect_elements(c, fetched(c, dc), accuracy.bound, [&](std::int64_t i, std::int64_t j) {
    Sum sum;
    for (std::int64_t p = 0; p < order; ++p) {
      t.side == Side::Left ? sum.add(whole(i, p), wide(b.at(p, j))) : sum.add(wide(b.at(i, p)), whole(p, j));
    }
    Sum old;
    if (t.read) old.add(wide(beta), wide(c.at(i, j)));
    return (precision == Precision(Mode::Exact) ? sum.normwise() : sum).times(wide(alpha)) + old;
  });
}

template <class T> void check_both(const SymmCase& t, std::uint64_t seed, Precision precision = {}) {
  const Executor host = Executor::host();
  check_symm<T>(host, false, t, seed, precision);
  if constexpr (ComplexScalar<T>) check_symm<T>(host, true, t, seed + 1, precision);
}

TEST(Symm, EverySideTriangleTypeAndSize) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 1;
    for (const Side side : kSides) {
      for (const Uplo uplo : kUplos) {
        for (const std::int64_t s : {0, 1, 2, 3, 17, 64, 65}) {
          check_both<T>({s, 5, side, uplo}, seed += 2);
          check_both<T>({7, s, side, uplo, Layout::ColumnMajor, Layout::RowMajor, Layout::ColumnMajor, false},
                        seed += 2);
        }
        check_both<T>({129, 33, side, uplo, Layout::RowMajor, Layout::RowMajor, Layout::PaddedRows}, seed += 2);
        check_both<T>({34, 129, side, uplo, Layout::PaddedColumns}, seed += 2);
      }
    }
  });
}

TEST(Symm, EveryLayout) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 1000;
    for (const Layout a : kLayouts) {
      for (const Layout b : kLayouts) {
        for (const Layout c : kLayouts) {
          const bool flip = seed / 2 % 2;
          check_both<T>({9, 6, flip ? Side::Left : Side::Right, seed / 4 % 2 ? Uplo::Lower : Uplo::Upper, a, b, c,
                         seed / 8 % 2 == 0},
                        seed += 2);
        }
      }
    }
  });
}

TEST(Symm, AlphaZeroScalesAndReadsNothing) {
  const Executor e = Executor::host();
  std::vector<double> nan(9, NAN), c{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto view = [&](std::vector<double>& v) { return MatrixView<double>::row_major(e, v.data(), 3, 3); };
  symm(e, Side::Left, Uplo::Lower, 0, view(nan), view(nan), 2, view(c));
  EXPECT_EQ(c, (std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16, 18}));
  symm(e, Side::Left, Uplo::Lower, 0, view(nan), view(nan), 1, view(c));
  EXPECT_EQ(c.back(), 18);
  c[4] = NAN;
  symm(e, Side::Left, Uplo::Lower, 0, view(nan), view(nan), 0, view(c));
  EXPECT_EQ(c, std::vector<double>(9, 0.0));
}

// Float64 on a machine without it.
TEST(Symm, ExactOnTheDevice) {
  const Executor e = Executor::open("sim:trn2");
  const auto both = [&]<class T>(T) {
    std::uint64_t seed = 300;
    for (const Side side : kSides) {
      for (const Uplo uplo : kUplos) {
        for (const bool hermitian : {false, ComplexScalar<T>}) {
          check_symm<T>(e, hermitian, {9, 5, side, uplo, Layout::PaddedColumns, Layout::RowMajor, Layout::ColumnMajor},
                        ++seed, Mode::Exact);
          check_symm<T>(e, hermitian,
                        {side == Side::Left ? 131 : 3, side == Side::Left ? 3 : 131, side, uplo, Layout::RowMajor,
                         Layout::PaddedRows},
                        ++seed, Mode::Exact);
        }
      }
    }
  };
  both(double{});
  both(std::complex<double>{});
}

TEST(Symm, Refusals) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 3, 3), b(e, 3, 4), c(e, 3, 4), d(e, 4, 4);
  const auto text = [&](Side side, const MatrixView<float>& x, const MatrixView<float>& y, const MatrixView<float>& z) {
    return message_of<InvalidArgument>([&] { symm(e, side, Uplo::Lower, 1, x, y, 0, z); });
  };
  EXPECT_IN("blas.symm: A is 3 x 3, B is 3 x 4, C is 3 x 4, side Right",
            text(Side::Right, a.view(), b.view(), c.view()));
  EXPECT_IN("A must be 3 x 3", text(Side::Left, d.view(), b.view(), c.view()));
  EXPECT_IN("B is 4 x 4, C is 3 x 4", text(Side::Left, a.view(), d.view(), c.view()));
  EXPECT_IN("C shares memory with B", text(Side::Left, a.view(), b.view(), b.view()));
  EXPECT_IN("C shares memory with A", text(Side::Left, a.view(), MatrixView<float>(e, b.data(), 3, 3, 4, 1), a.view()));
  EXPECT_IN("elements share places", text(Side::Left, a.view(), b.view(), MatrixView<float>(e, c.data(), 3, 4, 0, 1)));
  EXPECT_IN("its pointer is null", text(Side::Left, MatrixView<float>(e, nullptr, 3, 3, 3, 1), b.view(), c.view()));
  const Executor sim = Executor::open("sim:trn2");
  EXPECT_IN("A lives on executor 'host', the call runs on 'sim:trn2'", message_of<InvalidArgument>([&] {
              symm(sim, Side::Left, Uplo::Lower, 1, a.view(), b.view(), 0, c.view());
            }));
}

TEST(Symm, OnTheDevice) {
  std::uint64_t seed = 9000;
  const Executor machines[] = {Executor::open("sim:trn1"), Executor::open("sim:trn2"), Executor::open("sim:trn3")};
  for (const Side side : kSides) {
    for (const Uplo uplo : kUplos) {
      for (const Layout c : {Layout::RowMajor, Layout::PaddedColumns}) {
        const Executor& e = machines[seed / 4 % 3];
        const Layout a = seed % 8 ? Layout::PaddedRows : Layout::ColumnMajor,
                     b = seed % 3 ? Layout::RowMajor : Layout::Scattered;
        check_symm<float>(e, false, {131, 40, side, uplo, a, b, c, seed % 5 != 0}, seed), ++seed;
        check_symm<float>(e, false, {40, 150, side, uplo, a, b, c}, seed, Mode::Tf32x3), ++seed;
        check_symm<std::complex<float>>(e, false, {40, 30, side, uplo, a, b, c}, seed), ++seed;
        check_symm<std::complex<float>>(e, true, {133, 20, side, uplo, a, b, c, seed % 5 != 0}, seed), ++seed;
      }
    }
  }
}

}  // namespace
}  // namespace trn::blas::test

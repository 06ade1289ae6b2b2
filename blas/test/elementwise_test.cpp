// geam, dgmm, tpttr, trttp and gemm_ex: the elementwise ones against wider arithmetic, every type, op and layout, in
// place and not.
#include <trn/blas/dgmm.hpp>
#include <trn/blas/geam.hpp>
#include <trn/blas/gemm_ex.hpp>
#include <trn/blas/packed.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

// Two products and a sum: 2 roundings for real types, (1 + sqrt(2)) 2u a product for complex ones.
template <class T> double elementwise_bound() { return (ComplexScalar<T> ? 6 : 2.01) * unit_roundoff(dtype_of<T>); }

TEST(Geam, EveryOpTypeAndLayout) {
  const Executor e = Executor::host();
  for_scalars([&]<class T>(T) {
    std::uint64_t seed = 0;
    for (const Op op_a : kAllOps) {
      for (const Op op_b : kAllOps) {
        for (const Layout layout : kLayouts) {
          for (const std::int64_t m : {0, 1, 3, 65}) {
            SCOPED_TRACE(::testing::Message() << name(dtype_of<T>) << " ops " << static_cast<int>(op_a)
                                              << static_cast<int>(op_b) << " m " << m << " seed " << ++seed);
            std::mt19937_64 random(seed);
            const std::int64_t n = 34;
            const auto a = full<T>(op_a == Op::N ? m : n, op_a == Op::N ? n : m, layout, random);
            const auto b = full<T>(op_b == Op::N ? m : n, op_b == Op::N ? n : m, kLayouts[seed % 6], random);
            const auto c = output<T>(m, n, kLayouts[seed / 6 % 6], false, random);
            const T alpha = seed % 5 == 0 ? T(0) : number<T>(0.5, -1.5),
                    beta = seed % 7 == 0 ? T(0) : number<T>(3, 0.25);
            const OnDevice<T> da(e, a), db(e, b), dc(e, c);
            Recorder recorder(e);
            geam(e, op_a, op_b, alpha, da.view, beta, db.view, dc.view);
            EXPECT_EQ(recorder.family_of("blas.geam"), m ? "host" : "");
            expect_elements(c, fetched(c, dc), elementwise_bound<T>(), [&](std::int64_t i, std::int64_t j) {
              Sum sum;
              sum.add(wide(alpha), op_at(op_a, a, i, j));
              sum.add(wide(beta), op_at(op_b, b, i, j));
              return sum;
            });
          }
        }
      }
    }
  });
}

TEST(Geam, InPlaceZeroFactorsAndRefusals) {
  const Executor e = Executor::host();
  std::vector<float> a{1, 2, 3, 4}, b{10, 20, 30, 40}, nan(4, NAN);
  const auto view = [&](std::vector<float>& v) { return MatrixView<float>::row_major(e, v.data(), 2, 2); };
  geam(e, Op::N, Op::T, 2, view(a), 1, view(b), view(a));
  EXPECT_EQ(a, (std::vector<float>{12, 34, 26, 48}));
  geam(e, Op::N, Op::N, 0, view(nan), 1, view(b), view(b));  // A is not read
  EXPECT_EQ(b, (std::vector<float>{10, 20, 30, 40}));
  geam(e, Op::N, Op::N, 0, MatrixView<float>(e, nullptr, 2, 2, 2, 1), 0, view(nan), view(b));
  EXPECT_EQ(b, std::vector<float>(4, 0));
  EXPECT_IN("C shares memory with B (op T)",
            message_of<InvalidArgument>([&] { geam(e, Op::N, Op::T, 1, view(a), 1, view(b), view(b)); }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] {
              geam(e, Op::N, Op::T, 1, MatrixView<float>(e, nullptr, 2, 2, 2, 1), 1, view(b), view(a));
            }));
  std::vector<float> six(6);
  EXPECT_IN("op(A) is 3 x 2 (op T), op(B) is 2 x 2 (op N), C is 2 x 2", message_of<InvalidArgument>([&] {
              geam(e, Op::T, Op::N, 1, MatrixView<float>::row_major(e, six.data(), 2, 3), 1, view(b), view(a));
            }));
}

TEST(Dgmm, EverySideTypeAndLayout) {
  const Executor e = Executor::host();
  for_scalars([&]<class T>(T) {
    std::uint64_t seed = 0;
    for (const Side side : kSides) {
      for (const Layout layout : kLayouts) {
        for (const std::int64_t n : {0, 1, 2, 17, 65}) {
          for (const std::int64_t increment : {1, 3, -2, 0}) {
            std::mt19937_64 random(++seed);
            const std::int64_t m = 9, order = side == Side::Left ? m : n;
            const auto a = full<T>(m, n, layout, random), c = output<T>(m, n, kLayouts[seed % 6], false, random);
            const auto x = full<T>(1, std::max<std::int64_t>(1, 4 * order), Layout::RowMajor, random);
            const std::int64_t start = increment < 0 ? 2 * order : 0;
            const OnDevice<T> da(e, a), dc(e, c), dx(e, x);
            dgmm(e, side, da.view, VectorView<T>(e, dx.array.data() + start, order, increment), dc.view);
            const auto expected = [&](std::int64_t i, std::int64_t j) {
              Sum sum;
              sum.add(wide(x.at(0, start + (side == Side::Left ? i : j) * increment)), wide(a.at(i, j)));
              return sum;
            };
            expect_elements(c, fetched(c, dc), elementwise_bound<T>(), expected);
            dgmm(e, side, da.view, VectorView<T>(e, dx.array.data() + start, order, increment), da.view);  // in place
            expect_elements(a, fetched(a, da), elementwise_bound<T>(), expected);
          }
        }
      }
    }
  });
  const Matrix<float> a(e, 2, 3), c(e, 2, 3);
  const Array<float> x(e, {2});
  EXPECT_IN(
      "x has 2 elements, side Right; A and C must have one shape, and x 3 elements",
      message_of<InvalidArgument>([&] { dgmm(e, Side::Right, a.view(), VectorView<float>(x.view()), c.view()); }));
  EXPECT_IN("C shares memory with A", message_of<InvalidArgument>([&] {
              dgmm(e, Side::Left, a.view().block(0, 0, 2, 2), VectorView<float>(x.view()), a.view().block(0, 1, 2, 2));
            }));
}

// The index formulas of storage.hpp, written out.
std::int64_t packed_index(Uplo uplo, blas::Layout layout, std::int64_t n, std::int64_t i, std::int64_t j) {
  if (layout == blas::Layout::RowMajor)
    return packed_index(uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower, blas::Layout::ColumnMajor, n, j, i);
  return uplo == Uplo::Upper ? i + j * (j + 1) / 2 : i + j * (2 * n - j - 1) / 2;
}

TEST(Packed, ThereAndBack) {
  const Executor e = Executor::host();
  for_scalars([&]<class T>(T) {
    std::uint64_t seed = 0;
    for (const Uplo uplo : kUplos) {
      for (const blas::Layout order : {blas::Layout::ColumnMajor, blas::Layout::RowMajor}) {
        for (const Layout layout : kLayouts) {
          for (const std::int64_t n : {0, 1, 2, 3, 17, 65}) {
            std::mt19937_64 random(++seed);
            const auto a = triangle<T>(n, uplo, layout, random);
            std::vector<T> packed(static_cast<std::size_t>(n * (n + 1) / 2 + 1), T(7));
            const OnDevice<T> da(e, a);
            trttp(e, da.view, PackedView<T>(e, packed.data(), n, uplo, order));
            EXPECT_EQ(packed.back(), T(7));
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t j = 0; j < n; ++j) {
                if (!in_triangle(uplo, i, j)) continue;
                EXPECT_EQ(packed[static_cast<std::size_t>(packed_index(uplo, order, n, i, j))], a.at(i, j));
              }
            }
            const auto blank = output<T>(n, n, layout, false, random);
            const OnDevice<T> db(e, blank);
            tpttr(e, PackedView<const T>(e, packed.data(), n, uplo, order), db.view);
            expect_elements(
                blank, fetched(blank, db), 0, [&](auto i, auto j) { return in_triangle(uplo, i, j); },
                [&](auto i, auto j) {
                  return Sum{wide(a.at(i, j)), 1};
                });
          }
        }
      }
    }
  });
  const Matrix<float> a(e, 3, 3);
  std::vector<float> packed(10);
  EXPECT_IN(
      "blas.trttp: A is 3 x 3, the packed triangle has order 4; A must be 4 x 4",
      message_of<InvalidArgument>([&] { trttp(e, a.view(), PackedView<float>(e, packed.data(), 4, Uplo::Lower)); }));
  EXPECT_IN("blas.tpttr: A shares memory with the packed triangle",
            message_of<InvalidArgument>([&] { tpttr(e, PackedView<float>(e, a.data(), 3, Uplo::Lower), a.view()); }));
  EXPECT_IN("the packed triangle is not empty but its pointer is null",
            message_of<InvalidArgument>([&] { tpttr(e, PackedView<float>(e, nullptr, 3, Uplo::Lower), a.view()); }));
}

TEST(GemmEx, IsGemmOfTheTypesNamedAtRunTime) {
  const Executor e = Executor::host();
  std::mt19937_64 random(3);
  auto a = stored<bfloat16>(5, 7, Layout::RowMajor), b = stored<bfloat16>(7, 6, Layout::ColumnMajor);
  fill(a, random);
  fill(b, random);
  const OnDevice<bfloat16> da(e, a), db(e, b);
  const Matrix<float> c(e, 5, 6), same(e, 5, 6);
  gemm_ex(e, Op::N, Op::N, 2.0, da.view, db.view, 0.0, c.view());
  gemm(e, Op::N, Op::N, 2, da.view, db.view, 0, same.view());
  EXPECT_EQ(c.to_host(), same.to_host());
  EXPECT_IN("no kernel for bfloat16 -> float64; there are float32 -> float32, float64 -> float64",
            message_of<NotImplemented>([&] {
              const Matrix<double> d(e, 5, 6);
              gemm_ex(e, Op::N, Op::N, 1.0, da.view, db.view, 0.0, d.view());
            }));
  EXPECT_IN("alpha is (1, 2) but C is real", message_of<InvalidArgument>([&] {
              gemm_ex(e, Op::N, Op::N, {1, 2}, da.view, db.view, 0.0, c.view());
            }));
  EXPECT_IN("A is bfloat16, B is float32",
            message_of<InvalidArgument>([&] { gemm_ex(e, Op::N, Op::N, 1.0, da.view, c.view(), 0.0, c.view()); }));
}

}  // namespace
}  // namespace trn::blas::test

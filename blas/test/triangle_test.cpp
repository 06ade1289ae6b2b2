// Symmetric, Hermitian and triangular matrices of level 2 on the host against sums in __float128: every routine, type,
// storage form, triangle, op and diagonal, positive and negative increments. What may not be read is NaN, what may not
// be written is compared.
#include <trn/blas/symv.hpp>
#include <trn/blas/syr.hpp>
#include <trn/blas/trmv.hpp>

#include "triangle_support.hpp"

namespace trn::blas::test {
namespace {

constexpr Uplo kUplos[] = {Uplo::Lower, Uplo::Upper};
constexpr std::int64_t kSizes[] = {1, 2, 7, 33};
constexpr std::pair<std::int64_t, std::int64_t> kIncrements[] = {{1, 1}, {2, -1}, {-3, 2}, {-1, -1}};

template <class T> class Triangles : public ::testing::Test {
 protected:
  Executor host_ = Executor::host();
  std::mt19937_64 random_{31};

  // f(stored matrix) for every form, triangle and size; bands with 0, 1, 4 and more diagonals than rows.
  template <class F> void each(bool bands, F f) {
    for (const std::int64_t n : kSizes) {
      for (const Uplo uplo : kUplos) {
        const auto run = [&](Storage storage, std::int64_t k) {
          SCOPED_TRACE(::testing::Message() << "n " << n << " uplo " << static_cast<int>(uplo) << " storage "
                                            << static_cast<int>(storage) << " k " << k);
          f(Stored<T>(n, uplo, storage, k));
        };
        for (const Storage s : kFull) run(s, 0);
        for (const Storage s : kPacked) run(s, 0);
        for (const Storage s : kBand) {
          for (const std::int64_t k : {0, 1, 4, 40}) {
            if (bands) run(s, k);
          }
        }
      }
    }
  }

  void multiply(Stored<T>& a, bool hermitian, T alpha, Vec<T>& x, T beta, Vec<T>& y) {
    const Executor& e = host_;
    if constexpr (ComplexScalar<T>) {
      if (hermitian && a.is_band()) return hbmv(e, a.uplo(), alpha, a.band(), x.view(), beta, y.view());
      if (hermitian && a.is_packed()) return hpmv(e, alpha, a.packed(), x.view(), beta, y.view());
      if (hermitian) return hemv(e, a.uplo(), alpha, a.full(), x.view(), beta, y.view());
    }
    if (a.is_band()) return sbmv(e, a.uplo(), alpha, a.band(), x.view(), beta, y.view());
    if (a.is_packed()) return spmv(e, alpha, a.packed(), x.view(), beta, y.view());
    symv(e, a.uplo(), alpha, a.full(), x.view(), beta, y.view());
  }

  void update(Stored<T>& a, bool hermitian, T alpha, Vec<T>& x, Vec<T>* y) {
    const Executor& e = host_;
    if constexpr (ComplexScalar<T>) {
      if (hermitian && y && a.is_packed()) return hpr2(e, alpha, x.view(), y->view(), a.packed());
      if (hermitian && y) return her2(e, a.uplo(), alpha, x.view(), y->view(), a.full());
      if (hermitian && a.is_packed()) return hpr(e, alpha.real(), x.view(), a.packed());
      if (hermitian) return her(e, a.uplo(), alpha.real(), x.view(), a.full());
    }
    if (y && a.is_packed()) return spr2(e, alpha, x.view(), y->view(), a.packed());
    if (y) return syr2(e, a.uplo(), alpha, x.view(), y->view(), a.full());
    if (a.is_packed()) return spr(e, alpha, x.view(), a.packed());
    syr(e, a.uplo(), alpha, x.view(), a.full());
  }

  void apply(Stored<T>& a, bool solve, Op op, Diag diag, Vec<T>& x) {
    const Executor& e = host_;
    if (a.is_band())
      return solve ? tbsv(e, a.uplo(), op, diag, a.band(), x.view()) : tbmv(e, a.uplo(), op, diag, a.band(), x.view());
    if (a.is_packed()) return solve ? tpsv(e, op, diag, a.packed(), x.view()) : tpmv(e, op, diag, a.packed(), x.view());
    return solve ? trsv(e, a.uplo(), op, diag, a.full(), x.view()) : trmv(e, a.uplo(), op, diag, a.full(), x.view());
  }
};
TYPED_TEST_SUITE(Triangles, ScalarTypes);

TYPED_TEST(Triangles, SymmetricAndHermitianProducts) {
  using T = TypeParam;
  for (const bool hermitian : {false, true}) {
    if (hermitian && RealScalar<T>) continue;
    this->each(true, [&](Stored<T> a) {
      a.fill(this->random_, hermitian ? DiagonalIs::Hermitian : DiagonalIs::Plain);
      const Stored<T> a0 = a;
      const std::int64_t n = a.n();
      for (const auto& [incx, incy] : kIncrements) {
        for (const auto& [alpha, beta] :
             {std::pair<T, T>{number<T>(0.7, -0.2), number<T>(-0.3, 0.4)}, {T(1), T(0)}, {T(0), T(2)}}) {
          Vec<T> x(n, incx, this->random_), y(n, incy);
          if (beta != T(0)) y = Vec<T>(n, incy, this->random_);  // otherwise NaN, which is not read
          const Vec<T> x0 = x, y0 = y;
          this->multiply(a, hermitian, alpha, x, beta, y);
          for (std::int64_t i = 0; i < n; ++i) {
            Wide sum;
            double scale = 0;
            for (std::int64_t j = 0; j < n; ++j) {
              sum = sum + a0.symmetric(i, j, hermitian) * x0(j);
              scale += size(a0.symmetric(i, j, hermitian)) * size(x0(j));
            }
            sum = wide(alpha) * sum;
            scale *= size(wide(alpha));
            if (beta != T(0)) sum = sum + wide(beta) * y0(i), scale += size(wide(beta)) * size(y0(i));
            expect_close(y.at(i), sum, sum_bound<T>(static_cast<double>(n) + 4), scale, "product", i);
          }
          EXPECT_TRUE(y.surroundings_intact(y0) && x.same(x0) && a.same(a0));
        }
      }
    });
  }
}

TYPED_TEST(Triangles, SymmetricAndHermitianUpdates) {
  using T = TypeParam;
  for (const bool hermitian : {false, true}) {
    if (hermitian && RealScalar<T>) continue;
    for (const bool two : {false, true}) {
      this->each(false, [&](Stored<T> a) {
        const std::int64_t n = a.n();
        for (const auto& [incx, incy] : kIncrements) {
          for (const bool zeros : {false, true}) {
            a.fill(this->random_, DiagonalIs::Plain);
            const Stored<T> a0 = a;
            const T alpha = hermitian && !two ? T(Real<T>(0.7)) : number<T>(0.7, -0.2);
            Vec<T> x(n, incx, this->random_), y(n, incy, this->random_);
            if (zeros) x.at(n / 2) = T(0), y.at(0) = T(0);
            const Vec<T> x0 = x, y0 = y;
            this->update(a, hermitian, alpha, x, two ? &y : nullptr);
            const auto second = [&](Wide z) { return hermitian ? conj(z) : z; };
            for (std::int64_t j = 0; j < n; ++j) {
              for (std::int64_t i = 0; i < n; ++i) {
                if (!a.stored(i, j)) continue;
                Wide old = wide(a0.at(i, j));
                if (hermitian && i == j) old.im = 0;
                const Wide right = two ? y0(j) : x0(j);
                Wide change = wide(alpha) * x0(i) * second(right);
                if (two) change = change + (hermitian ? conj(wide(alpha)) : wide(alpha)) * y0(i) * second(x0(j));
                const double scale =
                    size(old) + size(wide(alpha)) * (size(x0(i)) * size(right) + (two ? size(y0(i)) * size(x0(j)) : 0));
                expect_close(a.at(i, j), old + change, sum_bound<T>(5), scale, "update", i + n * j);
                if constexpr (ComplexScalar<T>) {
                  if (hermitian && i == j) {
                    EXPECT_EQ(a.at(i, i).imag(), 0);
                  }
                }
              }
            }
            EXPECT_TRUE(a.surroundings_intact(a0) && x.same(x0) && y.same(y0));
          }
        }
      });
    }
  }
}

TYPED_TEST(Triangles, TriangularProductsAndSolves) {
  using T = TypeParam;
  this->each(true, [&](Stored<T> a) {
    const std::int64_t n = a.n();
    for (const Diag diag : {Diag::NonUnit, Diag::Unit}) {
      // Off-diagonal entries of order 1/n keep solutions of order one.
      a.fill(this->random_, diag == Diag::Unit ? DiagonalIs::Unread : DiagonalIs::Plain, 1.0 / static_cast<double>(n),
             2);
      const Stored<T> a0 = a;
      for (const Op op : {Op::N, Op::T, Op::C}) {
        const auto entry = [&](std::int64_t i, std::int64_t j) {
          if (op == Op::N) return a0.triangular(i, j);
          return op == Op::T ? a0.triangular(j, i) : conj(a0.triangular(j, i));
        };
        for (const std::int64_t incx : {1, 2, -3}) {
          for (const bool zeros : {false, true}) {
            Vec<T> x(n, incx, this->random_);
            if (zeros) x.at(n / 2) = T(0);
            const Vec<T> x0 = x;
            Vec<T> b = x0;
            this->apply(a, false, op, diag, b);
            this->apply(a, true, op, diag, x);
            for (std::int64_t i = 0; i < n; ++i) {
              Wide product, residual = Wide{} - x0(i);
              double product_scale = 0, residual_scale = 0;
              for (std::int64_t j = 0; j < n; ++j) {
                product = product + entry(i, j) * x0(j), product_scale += size(entry(i, j)) * size(x0(j));
                residual = residual + entry(i, j) * x(j), residual_scale += size(entry(i, j)) * size(x(j));
              }
              expect_close(b.at(i), product, sum_bound<T>(static_cast<double>(n) + 2), product_scale, "product", i);
              // Substitution solves a system whose entries are changed by less than (n + 1) u of themselves (Higham,
              // theorem 8.5).
              EXPECT_LE(size(residual), sum_bound<T>(static_cast<double>(n) + 3) * residual_scale)
                  << "solve, element " << i;
            }
            EXPECT_TRUE(x.surroundings_intact(x0) && b.surroundings_intact(x0) && a.same(a0));
          }
        }
      }
    }
  });
}

// The reference skips a column with x_j = 0: no 0 / 0 from a singular matrix, no 0 * infinity.
TYPED_TEST(Triangles, ZerosAreSkippedAsInTheReference) {
  using T = TypeParam;
  for (const std::int64_t n : {3, 80}) {
    for (const Uplo uplo : kUplos) {
      for (const Storage storage : {Storage::Columns, Storage::PackedColumns, Storage::BandColumns}) {
        Stored<T> a(n, uplo, storage, n);
        a.fill(this->random_, DiagonalIs::Plain);
        a.at(1, 1) = T(0);
        Vec<T> x(n, 1);
        for (std::int64_t i = 0; i < n; ++i) x.at(i) = T(0);
        this->apply(a, true, Op::N, Diag::NonUnit, x);
        for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(x.at(i), T(0));
        a.at(1, 1) = T(Real<T>(INFINITY));
        x.at(0) = T(uplo == Uplo::Upper ? 1 : 0), x.at(n - 1) = T(uplo == Uplo::Upper ? 0 : 1);
        this->apply(a, false, Op::N, Diag::NonUnit, x);
        for (std::int64_t i = 0; i < n; ++i) EXPECT_FALSE(std::isnan(static_cast<double>(wide(x.at(i)).re))) << i;
        if (storage == Storage::BandColumns) continue;
        a.fill(this->random_, DiagonalIs::Plain);
        Vec<T> v(n, 1, this->random_);
        v.at(0) = T(0);
        v.at(n - 1) = T(Real<T>(INFINITY));  // column 0 of a lower triangle would see 0 * infinity
        if (uplo == Uplo::Upper) std::swap(v.at(0), v.at(n - 1));
        const Stored<T> a0 = a;
        this->update(a, false, T(1), v, nullptr);
        const std::int64_t skipped = uplo == Uplo::Upper ? n - 1 : 0;
        for (std::int64_t i = 0; i < n; ++i) {
          if (a.stored(i, skipped)) {
            EXPECT_TRUE(same_bits(a.at(i, skipped), a0.at(i, skipped)));
          }
        }
      }
    }
  }
}

TYPED_TEST(Triangles, Refusals) {
  using T = TypeParam;
  const Executor& e = this->host_;
  Vec<T> x(3, 1, this->random_), y(3, 1, this->random_), four(4, 1, this->random_);
  const Vec<T> before = y;
  std::vector<T> memory(32);
  const MatrixView<T> square(e, memory.data(), 3, 3, 1, 3), oblong(e, memory.data(), 3, 4, 1, 3);
  const PackedView<T> packed(e, memory.data(), 3, Uplo::Lower);
  const BandView<T> lower(e, memory.data(), 3, 3, 1, 0, 2), wide_band(e, memory.data(), 3, 4, 0, 1, 2);
  EXPECT_IN("blas.symv: A is 3 x 4; it must be square",
            message_of<InvalidArgument>([&] { symv(e, Uplo::Lower, T(1), oblong, x.view(), T(0), y.view()); }));
  EXPECT_IN("blas.symv: x has 4 elements, A is 3 x 3",
            message_of<InvalidArgument>([&] { symv(e, Uplo::Lower, T(1), square, four.view(), T(0), y.view()); }));
  EXPECT_IN("blas.symv: y has 4 elements, A is 3 x 3",
            message_of<InvalidArgument>([&] { symv(e, Uplo::Lower, T(1), square, x.view(), T(0), four.view()); }));
  EXPECT_IN("blas.symv: y shares memory with x",
            message_of<InvalidArgument>([&] { symv(e, Uplo::Lower, T(1), square, y.view(), T(0), y.view()); }));
  EXPECT_IN("blas.symv: y shares memory with A", message_of<InvalidArgument>([&] {
              symv(e, Uplo::Lower, T(1), square, x.view(), T(0), VectorView<T>(e, memory.data(), 3));
            }));
  EXPECT_IN("blas.spmv: y shares memory with A", message_of<InvalidArgument>([&] {
              spmv(e, T(1), packed, x.view(), T(0), VectorView<T>(e, memory.data() + 2, 3));
            }));
  EXPECT_IN("blas.spmv: y has 4",
            message_of<InvalidArgument>([&] { spmv(e, T(1), packed, x.view(), T(0), four.view()); }));
  EXPECT_IN("blas.sbmv: the upper triangle of a band with 1 lower and 0 upper diagonals",
            message_of<InvalidArgument>([&] { sbmv(e, Uplo::Upper, T(1), lower, x.view(), T(0), y.view()); }));
  EXPECT_IN("blas.sbmv: A is 3 x 4",
            message_of<InvalidArgument>([&] { sbmv(e, Uplo::Upper, T(1), wide_band, x.view(), T(0), y.view()); }));
  EXPECT_IN("blas.syr: A is 3 x 4", message_of<InvalidArgument>([&] { syr(e, Uplo::Upper, T(1), x.view(), oblong); }));
  EXPECT_IN("blas.syr: x has 4", message_of<InvalidArgument>([&] { syr(e, Uplo::Upper, T(1), four.view(), square); }));
  EXPECT_IN("blas.syr2: y has 4",
            message_of<InvalidArgument>([&] { syr2(e, Uplo::Upper, T(1), x.view(), four.view(), square); }));
  EXPECT_IN("blas.syr: A has shape (3, 3) and strides (1, 2)", message_of<InvalidArgument>([&] {
              syr(e, Uplo::Upper, T(1), x.view(), MatrixView<T>(e, memory.data(), 3, 3, 1, 2));
            }));
  EXPECT_IN("blas.spr: A shares memory with x",
            message_of<InvalidArgument>([&] { spr(e, T(1), VectorView<T>(e, memory.data(), 3), packed); }));
  EXPECT_IN("blas.spr2: y has 4", message_of<InvalidArgument>([&] { spr2(e, T(1), x.view(), four.view(), packed); }));
  EXPECT_IN("blas.trmv: A is 3 x 4",
            message_of<InvalidArgument>([&] { trmv(e, Uplo::Upper, Op::N, Diag::Unit, oblong, x.view()); }));
  EXPECT_IN("blas.trsv: x has 4",
            message_of<InvalidArgument>([&] { trsv(e, Uplo::Upper, Op::N, Diag::Unit, square, four.view()); }));
  EXPECT_IN("blas.tbmv: the upper triangle",
            message_of<InvalidArgument>([&] { tbmv(e, Uplo::Upper, Op::N, Diag::Unit, lower, x.view()); }));
  EXPECT_IN("blas.tbsv: x has 4",
            message_of<InvalidArgument>([&] { tbsv(e, Uplo::Lower, Op::N, Diag::Unit, lower, four.view()); }));
  EXPECT_IN("blas.tpmv: x has 4",
            message_of<InvalidArgument>([&] { tpmv(e, Op::N, Diag::Unit, packed, four.view()); }));
  EXPECT_IN("blas.tpsv: x shares memory with A", message_of<InvalidArgument>([&] {
              tpsv(e, Op::N, Diag::Unit, packed, VectorView<T>(e, memory.data(), 3));
            }));
  EXPECT_IN("x has shape (3) and strides (0)",
            message_of<InvalidArgument>([&] { tpsv(e, Op::N, Diag::Unit, packed, VectorView<T>(e, &x.at(0), 3, 0)); }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] {
              tpsv(e, Op::N, Diag::Unit, PackedView<T>(e, nullptr, 3, Uplo::Lower), x.view());
            }));
  EXPECT_TRUE(y.same(before));
  EXPECT_IN("leading dimension 1", message_of<InvalidArgument>([&] { BandView<T>(e, memory.data(), 3, 3, 1, 0, 1); }));
  // Empty matrices and vectors do nothing.
  Vec<T> none(0, 1);
  const MatrixView<T> empty(e, nullptr, 0, 0, 1, 1);
  symv(e, Uplo::Lower, T(1), empty, none.view(), T(0), none.view());
  syr(e, Uplo::Lower, T(1), none.view(), empty);
  trsv(e, Uplo::Lower, Op::N, Diag::Unit, empty, none.view());
}

}  // namespace
}  // namespace trn::blas::test

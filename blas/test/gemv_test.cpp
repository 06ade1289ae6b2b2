// gemv, gbmv and ger on the host against sums in __float128: types, ops, layouts, increments, factors; exact gemv;
// special values; refusals.
#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>

#include "vector_support.hpp"

namespace trn::blas::test {
namespace {

constexpr std::pair<std::int64_t, std::int64_t> kIncrements[] = {{1, 1}, {2, -1}, {-3, 2}};
constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {{1, 1}, {5, 3}, {3, 17}, {40, 33}, {1, 20}, {20, 1}};

// A rows x columns matrix with strides of its own in memory full of NaN.
template <class T> struct General {
  std::int64_t rows, columns, rs, cs, offset;
  std::vector<T> memory;
  General(std::int64_t m, std::int64_t n, int layout) : rows(m), columns(n), offset(2) {
    switch (layout) {
      case 0:
        rs = 1, cs = m;
        break;
      case 1:
        rs = n, cs = 1;
        break;
      case 2:
        rs = 1, cs = m + 3;
        break;
      case 3:
        rs = n + 2, cs = 1;
        break;
      case 4:
        rs = 2, cs = 2 * m + 5;
        break;
      default:
        rs = -n, cs = 1, offset += (m - 1) * n;
        break;
    }
    memory.assign(static_cast<std::size_t>(4 + 2 * (m + 3) * (n + 3)), not_a_number<T>());
  }
  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) {
    return memory[static_cast<std::size_t>(offset + i * rs + j * cs)];
  }
  [[nodiscard]] T at(std::int64_t i, std::int64_t j) const {
    return memory[static_cast<std::size_t>(offset + i * rs + j * cs)];
  }
  void fill(std::mt19937_64& random) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) at(i, j) = random_value<T>(random);
    }
  }
  [[nodiscard]] MatrixView<T> view() { return {Executor::host(), memory.data() + offset, rows, columns, rs, cs}; }
  [[nodiscard]] bool surroundings_intact(const General& before) const {
    std::vector<bool> inside(memory.size(), false);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) inside[static_cast<std::size_t>(offset + i * rs + j * cs)] = true;
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (!inside[i] && !same_bits(memory[i], before.memory[i])) return false;
    }
    return true;
  }
};

template <class T> class Gemv : public ::testing::Test {
 protected:
  Executor host_ = Executor::host();
  std::mt19937_64 random_{41};
};
TYPED_TEST_SUITE(Gemv, ScalarTypes);

// op(A) from a function of the stored entry.
template <class A> Wide entry(const A& a, Op op, std::int64_t i, std::int64_t j) {
  const Wide z = op == Op::N ? wide(a.at(i, j)) : wide(a.at(j, i));
  return op == Op::C ? conj(z) : z;
}

TYPED_TEST(Gemv, NativeAndExact) {
  using T = TypeParam;
  for (const auto& [rows, columns] : kShapes) {
    for (int layout = 0; layout < 6; ++layout) {
      for (const Op op : {Op::N, Op::T, Op::C}) {
        for (const auto& [incx, incy] : kIncrements) {
          for (const auto& [alpha, beta] : {std::pair<T, T>{number<T>(0.7, -0.2), number<T>(-0.3, 0.4)},
                                            {T(1), T(0)},
                                            {T(0), T(2)},
                                            {T(0), T(1)}}) {
            SCOPED_TRACE(::testing::Message() << rows << " x " << columns << " layout " << layout << " op "
                                              << static_cast<int>(op) << " increments " << incx << ' ' << incy);
            General<T> a(rows, columns, layout);
            a.fill(this->random_);
            const std::int64_t m = op == Op::N ? rows : columns, n = op == Op::N ? columns : rows;
            Vec<T> x(n, incx, this->random_), y(m, incy);
            if (beta != T(0)) y = Vec<T>(m, incy, this->random_);
            const Vec<T> x0 = x, y0 = y;
            Vec<T> exact = y;
            const Accuracy native = gemv(this->host_, op, alpha, a.view(), x.view(), beta, y.view());
            const Accuracy accuracy =
                gemv(this->host_, op, alpha, a.view(), x.view(), beta, exact.view(), {Mode::Exact});
            EXPECT_EQ(accuracy.mode, Mode::Exact);
            for (std::int64_t i = 0; i < m; ++i) {
              Wide sum;
              double scale = 0, row = 0, norm = 0;
              for (std::int64_t j = 0; j < n; ++j) {
                const Wide e = entry(a, op, i, j);
                sum = sum + e * x0(j), scale += size(e) * size(x0(j));
                row += size(e) * size(e), norm += size(x0(j)) * size(x0(j));
              }
              const double result = size(sum);
              sum = wide(alpha) * sum;
              const double old = beta == T(0) ? 0 : size(wide(beta)) * size(y0(i));
              if (beta != T(0)) sum = sum + wide(beta) * y0(i);
              expect_close(y.at(i), sum, sum_bound<T>(static_cast<double>(n) + 4), size(wide(alpha)) * scale + old,
                           "gemv", i);
              expect_close(y.at(i), sum, native.bound * 1.001,
                           size(wide(alpha)) * std::sqrt(row) * std::sqrt(norm) + old, "gemv, stated bound", i);
              expect_close(exact.at(i), sum, accuracy.bound * 1.001, size(wide(alpha)) * result + old, "exact gemv", i);
            }
            EXPECT_TRUE(y.surroundings_intact(y0) && x.same(x0));
          }
        }
      }
    }
  }
}

TYPED_TEST(Gemv, Band) {
  using T = TypeParam;
  for (const auto& [rows, columns] : kShapes) {
    for (const auto& [kl, ku] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {1, 2}, {3, 0}, {0, 25}, {50, 50}}) {
      for (const Layout layout : {Layout::ColumnMajor, Layout::RowMajor}) {
        const std::int64_t ld = kl + ku + 2;
        std::vector<T> memory(static_cast<std::size_t>(ld * std::max(rows, columns)), not_a_number<T>());
        struct Banded {
          std::int64_t kl, ku, ld;
          Layout layout;
          std::vector<T>* memory;
          T at(std::int64_t i, std::int64_t j) const {
            if (j - i > ku || i - j > kl) return T(0);
            return (*memory)[where(i, j)];
          }
          std::size_t where(std::int64_t i, std::int64_t j) const {
            return static_cast<std::size_t>(layout == Layout::ColumnMajor ? ku + i - j + j * ld : kl + j - i + i * ld);
          }
        } a{kl, ku, ld, layout, &memory};
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) {
            if (j - i <= ku && i - j <= kl) memory[a.where(i, j)] = random_value<T>(this->random_);
          }
        }
        const BandView<const T> view(this->host_, memory.data(), rows, columns, kl, ku, ld, layout);
        for (const Op op : {Op::N, Op::T, Op::C}) {
          for (const auto& [incx, incy] : kIncrements) {
            const std::int64_t m = op == Op::N ? rows : columns, n = op == Op::N ? columns : rows;
            const T alpha = number<T>(0.7, -0.2), beta = incx == 1 ? T(0) : number<T>(-0.3, 0.4);
            Vec<T> x(n, incx, this->random_), y(m, incy);
            if (beta != T(0)) y = Vec<T>(m, incy, this->random_);
            const Vec<T> y0 = y;
            gbmv(this->host_, op, alpha, view, x.view(), beta, y.view());
            for (std::int64_t i = 0; i < m; ++i) {
              Wide sum;
              double scale = 0;
              for (std::int64_t j = 0; j < n; ++j)
                sum = sum + entry(a, op, i, j) * x(j), scale += size(entry(a, op, i, j)) * size(x(j));
              sum = wide(alpha) * sum, scale *= size(wide(alpha));
              if (beta != T(0)) sum = sum + wide(beta) * y0(i), scale += size(wide(beta)) * size(y0(i));
              expect_close(y.at(i), sum, sum_bound<T>(static_cast<double>(n) + 4), scale, "gbmv", i);
            }
            EXPECT_TRUE(y.surroundings_intact(y0));
          }
        }
      }
    }
  }
}

TYPED_TEST(Gemv, Ger) {
  using T = TypeParam;
  for (const auto& [rows, columns] : kShapes) {
    for (int layout = 0; layout < 6; ++layout) {
      for (const auto& [incx, incy] : kIncrements) {
        for (const bool conjugate : {false, true}) {
          for (const bool zeros : {false, true}) {
            General<T> a(rows, columns, layout);
            a.fill(this->random_);
            const General<T> a0 = a;
            Vec<T> x(rows, incx, this->random_), y(columns, incy, this->random_);
            if (zeros) x.at(rows / 2) = T(0), y.at(columns / 2) = T(0);
            const T alpha = number<T>(0.7, -0.2);
            conjugate ? gerc(this->host_, alpha, x.view(), y.view(), a.view())
                      : ger(this->host_, alpha, x.view(), y.view(), a.view());
            for (std::int64_t i = 0; i < rows; ++i) {
              for (std::int64_t j = 0; j < columns; ++j) {
                const Wide want = wide(a0.at(i, j)) + wide(alpha) * x(i) * (conjugate ? conj(y(j)) : y(j));
                expect_close(a.at(i, j), want, sum_bound<T>(3),
                             size(wide(a0.at(i, j))) + size(wide(alpha)) * size(x(i)) * size(y(j)), "ger", i);
              }
            }
            EXPECT_TRUE(a.surroundings_intact(a0));
          }
        }
      }
    }
  }
}

// NaN and infinity reach the rows they belong to and no others; alpha = 0 reads neither A nor x.
TYPED_TEST(Gemv, SpecialValues) {
  using T = TypeParam;
  for (int layout = 0; layout < 5; ++layout) {
    General<T> a(40, 33, layout);
    for (std::int64_t i = 0; i < 40; ++i) {
      for (std::int64_t j = 0; j < 33; ++j) a.at(i, j) = T(1);
    }
    a.at(7, 5) = T(Real<T>(NAN)), a.at(9, 2) = T(Real<T>(INFINITY));
    Vec<T> x(33, 1), y(40, 1);
    for (std::int64_t j = 0; j < 33; ++j) x.at(j) = T(1);
    for (const Mode mode : {Mode::Native, Mode::Exact}) {
      gemv(this->host_, Op::N, T(1), a.view(), x.view(), T(0), y.view(), {mode});
      for (std::int64_t i = 0; i < 40; ++i) {
        const double got = static_cast<double>(y(i).re);
        EXPECT_TRUE(i == 7   ? std::isnan(got)
                    : i == 9 ? got == INFINITY || std::isnan(got)
                             : got == 33)
            << i << ' ' << got;
      }
      for (std::int64_t i = 0; i < 40; ++i) y.at(i) = T(3);
      gemv(this->host_, Op::N, T(0), a.view(), x.view(), T(2), y.view(), {mode});
      for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(y.at(i), T(6));
    }
    // ger skips a column (a row of a row-major matrix) whose factor is 0.
    for (std::int64_t j = 0; j < 33; ++j) x.at(j) = T(0);
    y.at(3) = T(Real<T>(INFINITY));
    const General<T> before = a;
    if (layout % 2 == 0) {
      ger(this->host_, T(1), y.view(), x.view(), a.view());
      EXPECT_TRUE(same_bits(a.at(3, 4), before.at(3, 4)));
    }
  }
}

TYPED_TEST(Gemv, Refusals) {
  using T = TypeParam;
  const Executor& e = this->host_;
  General<T> a(3, 4, 0);
  a.fill(this->random_);
  Vec<T> x(4, 1, this->random_), y(3, 1, this->random_);
  const Vec<T> before = y;
  EXPECT_IN("blas.gemv: op(A) is 4 x 3, x has 4 elements, y has 3",
            message_of<InvalidArgument>([&] { gemv(e, Op::T, T(1), a.view(), x.view(), T(0), y.view()); }));
  EXPECT_IN("blas.gemv: op(A) is 3 x 4, x has 3 elements, y has 3",
            message_of<InvalidArgument>([&] { gemv(e, Op::N, T(1), a.view(), y.view(), T(0), y.view()); }));
  EXPECT_IN("precision bf16 is for products", message_of<InvalidArgument>([&] {
              gemv(e, Op::N, T(1), a.view(), x.view(), T(0), y.view(), {Mode::Bf16});
            }));
  EXPECT_IN("y shares memory with A",
            message_of<InvalidArgument>([&] { gemv(e, Op::N, T(1), a.view(), x.view(), T(0), a.view().column(0)); }));
  EXPECT_IN("y shares memory with x", message_of<InvalidArgument>([&] {
              gemv(e, Op::N, T(1), a.view().block(0, 0, 3, 3), y.view(), T(0), y.view());
            }));
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] {
              gemv(e, Op::N, T(1), a.view(), VectorView<T>(e, nullptr, 4), T(0), y.view());
            }));
  EXPECT_IN("elements share places", message_of<InvalidArgument>([&] {
              gemv(e, Op::N, T(1), a.view(), x.view(), T(0), VectorView<T>(e, &y.at(0), 3, 0));
            }));
  const BandView<T> band(e, a.memory.data(), 3, 4, 1, 0, 2);
  EXPECT_IN("blas.gbmv: op(A) is 3 x 4, x has 3 elements",
            message_of<InvalidArgument>([&] { gbmv(e, Op::N, T(1), band, y.view(), T(0), y.view()); }));
  EXPECT_IN("blas.gbmv: y shares memory with A", message_of<InvalidArgument>([&] {
              gbmv(e, Op::N, T(1), band, x.view(), T(0), VectorView<T>(e, a.memory.data(), 3));
            }));
  EXPECT_IN("blas.ger: x has 4 elements, y has 3, A is 3 x 4",
            message_of<InvalidArgument>([&] { ger(e, T(1), x.view(), y.view(), a.view()); }));
  EXPECT_IN("blas.ger: A has shape (3, 4) and strides (1, 2)", message_of<InvalidArgument>([&] {
              ger(e, T(1), y.view(), x.view(), MatrixView<T>(e, a.memory.data(), 3, 4, 1, 2));
            }));
  EXPECT_IN("A shares memory with x",
            message_of<InvalidArgument>([&] { ger(e, T(1), a.view().column(0), x.view(), a.view()); }));
  EXPECT_TRUE(y.same(before));
  // Empty: nothing happens, not even y = beta y.
  Vec<T> none(0, 1);
  gemv(e, Op::N, T(1), MatrixView<const T>(e, nullptr, 3, 0, 1, 3), none.view(), T(0), y.view());
  EXPECT_TRUE(y.same(before));
}

}  // namespace
}  // namespace trn::blas::test

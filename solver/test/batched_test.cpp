// Batches: LAPACK's ratios in 80-bit arithmetic for every matrix, orders on both sides of the SIMD kernels' end, listed
// and strided, both layouts; matrices that fail among others that do not, with the outcomes of the operation for one
// matrix; spectra that are hard for QL steps; refusals.
#include <trn/solver/batched.hpp>

#include <trn/core/error.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();
constexpr std::int64_t kOrders[] = {1, 3, 4, 5, 8, 13, 31, 32, 33};

// `count` matrices with a leading dimension of their own, padding between them.
template <class T> class Stack {
 public:
  Stack(std::int64_t m, std::int64_t n, std::int64_t count, blas::Layout layout)
      : shape_{m, n, (layout == blas::Layout::RowMajor ? n : m) + 2, layout},
        apart_(shape_.ld * (layout == blas::Layout::RowMajor ? m : n) + 3),
        memory_(static_cast<std::size_t>(apart_ * count + 1), T(77)),
        count_(count) {}
  Batch<T> strided() { return Batch<T>::strided(shape_, memory_.data(), apart_, count_); }
  Batch<T> listed() {  // in reverse
    addresses_.clear();
    for (std::int64_t p = count_ - 1; p >= 0; --p) addresses_.push_back(memory_.data() + p * apart_);
    return Batch<T>::listed(shape_, addresses_);
  }
  void set(const Batch<T>& batch, std::int64_t p, const Dense<Wide<T>>& a) {
    const auto view = batch.view(kHost, p);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t j = 0; j < a.columns; ++j)
        view.data()[i * view.row_stride() + j * view.column_stride()] = T(a(i, j));
    }
  }
  bool padding_untouched(const Batch<T>& batch) {
    std::vector<char> mine(memory_.size());
    for (std::int64_t p = 0; p < count_; ++p) {
      for (std::int64_t i = 0; i < shape_.m; ++i) {
        for (std::int64_t j = 0; j < shape_.n; ++j)
          mine[static_cast<std::size_t>(batch[p] + i * batch.row_stride() + j * batch.column_stride() -
                                        memory_.data())] = 1;
      }
    }
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      if (!mine[k] && memory_[k] != T(77)) return false;
    }
    return true;
  }

 private:
  BatchShape shape_;
  std::int64_t apart_;
  std::vector<T> memory_;
  std::int64_t count_;
  std::vector<T*> addresses_;
};

// f(m x n stack, its batch, whether it is the listed form): both forms and layouts.
template <class T, class F> void for_forms(std::int64_t m, std::int64_t n, std::int64_t count, F f) {
  int form = 0;
  for (const blas::Layout layout : {blas::Layout::ColumnMajor, blas::Layout::RowMajor}) {
    Stack<T> stack(m, n, count, layout);
    SCOPED_TRACE(::testing::Message() << m << " x " << n << ", " << count << " matrices, form " << form);
    const Batch<T> batch = form++ % 2 ? stack.listed() : stack.strided();
    f(stack, batch);
    EXPECT_TRUE(stack.padding_untouched(batch));
  }
}
template <class T> MatrixView<T> rows(std::vector<T>& memory, std::int64_t count, std::int64_t n) {
  memory.assign(static_cast<std::size_t>(count * n), T(0));
  return {kHost, memory.data(), count, n, n, 1};
}
template <class T> Dense<Wide<T>> taken(const Batch<T>& batch, std::int64_t p) { return wide(batch.view(kHost, p)); }
template <class W> Dense<W> scaled(Dense<W> a, long double factor) {
  for (W& x : a.values) x *= factor;
  return a;
}

TEST(Batched, Cholesky) {
  for_scalars([]<class T>() {
    Random random(1);
    for (const std::int64_t n : kOrders) {
      const std::int64_t count = 19;
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
        for_forms<T>(n, n, count, [&](Stack<T>& stack, const Batch<T>& batch) {
          std::vector<Dense<Wide<T>>> a;
          for (std::int64_t p = 0; p < count; ++p) {
            a.push_back(random_positive<T>(n, random));
            if (p == 3) a.back()(n / 2, n / 2) = -1;
            if (p == 5) a.back()(n - 1, n - 1) = std::numeric_limits<long double>::quiet_NaN();
            if (p == 7) a.back() = rounded<T>(scaled(a.back(), sizeof(Real<T>) == 4 ? 0x1p-120L : 0x1p-1000L));
            stack.set(batch, p, a.back());
          }
          const BatchOutcomes outcomes = potrf_batched(kHost, uplo, batch);
          ASSERT_EQ(outcomes.size(), a.size());
          for (std::int64_t p = 0; p < count; ++p) {
            const auto& mine = a[static_cast<std::size_t>(p)];
            Held<T> one(Layout::ColumnMajor, mine);
            const Outcome expected = potrf(kHost, uplo, one.view()).outcome;
            EXPECT_EQ(outcomes[static_cast<std::size_t>(p)], expected) << p;
            if (!expected.ok()) continue;
            const auto factor = triangle(taken(batch, p), uplo);
            const auto product = uplo == Uplo::Lower ? times(factor, adjoint(factor)) : times(adjoint(factor), factor);
            EXPECT_LT(ratio(minus(product, mine), norm1(mine), n, eps<T>), kThreshold) << p;
            const auto whole = taken(batch, p);  // the other triangle is as it was
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t j = 0; j < i; ++j)
                EXPECT_EQ(uplo == Uplo::Lower ? whole(j, i) : whole(i, j),
                          uplo == Uplo::Lower ? mine(j, i) : mine(i, j));
            }
          }
          EXPECT_EQ(outcomes[3].status, Status::NotPositiveDefinite);
          EXPECT_EQ(outcomes[5].status, Status::NotFinite);
          EXPECT_TRUE(outcomes[7].ok());
        });
      }
    }
  });
}

TEST(Batched, LuAndInverses) {
  for_scalars([]<class T>() {
    Random random(2);
    for (const std::int64_t n : kOrders) {
      for (const std::int64_t m : {n, n + 3, std::max<std::int64_t>(n - 2, 1)}) {
        const std::int64_t count = 18, k = std::min(m, n);
        for_forms<T>(m, n, count, [&](Stack<T>& stack, const Batch<T>& batch) {
          std::vector<Dense<Wide<T>>> a;
          for (std::int64_t p = 0; p < count; ++p) {
            a.push_back(random_matrix<T>(m, n, random));
            for (std::int64_t i = 0; p == 4 && i < m; ++i) a.back()(i, k - 1) = 0;
            if (p == 6) a.back()(0, n - 1) = std::numeric_limits<long double>::infinity();
            stack.set(batch, p, a.back());
          }
          std::vector<std::int64_t> memory;
          const auto pivots = rows(memory, count, k);
          const BatchOutcomes outcomes = getrf_batched(kHost, batch, pivots);
          for (std::int64_t p = 0; p < count; ++p) {
            const auto& mine = a[static_cast<std::size_t>(p)];
            Held<T> one(Layout::ColumnMajor, mine);
            std::vector<std::int64_t> own(static_cast<std::size_t>(k));
            const Outcome expected = getrf(kHost, one.view(), VectorView<std::int64_t>(kHost, own.data(), k)).outcome;
            EXPECT_EQ(outcomes[static_cast<std::size_t>(p)], expected) << p;
            if (!expected.ok()) continue;
            auto permuted = mine;
            const auto f = taken(batch, p);
            Dense<Wide<T>> l(m, k), u(k, n);
            for (std::int64_t i = 0; i < k; ++i) {
              const std::int64_t row = memory[static_cast<std::size_t>(p * k + i)];
              ASSERT_TRUE(row >= i && row < m);
              for (std::int64_t j = 0; j < n; ++j) std::swap(permuted(i, j), permuted(row, j));
            }
            for (std::int64_t i = 0; i < m; ++i) {
              for (std::int64_t j = 0; j < n; ++j) {
                if (i == j) l(i, j) = 1;
                if (i > j && j < k) l(i, j) = f(i, j);
                if (i <= j && i < k) u(i, j) = f(i, j);
              }
            }
            EXPECT_LE(largest(l), blas::ComplexScalar<T> ? 1.5L : 1.0L);  // partial pivoting
            EXPECT_LT(ratio(minus(times(l, u), permuted), norm1(mine), std::max(m, n), eps<T>), kThreshold) << p;
          }
          EXPECT_EQ(outcomes[4], (Outcome{Status::Singular, k - 1}));
          EXPECT_EQ(outcomes[6].status, Status::NotFinite);
          if (m != n || n > 16) return;
          Stack<T> inverse_stack(n, n, count, blas::Layout::ColumnMajor), again(n, n, count, blas::Layout::RowMajor);
          const auto inverses = inverse_stack.strided(), source = again.strided();
          const BatchOutcomes inverted = getri_batched<T>(kHost, batch, pivots, inverses);
          for (std::int64_t p = 0; p < count; ++p) again.set(source, p, a[static_cast<std::size_t>(p)]);
          Stack<T> direct_stack(n, n, count, blas::Layout::RowMajor);
          const auto direct = direct_stack.listed();
          const BatchOutcomes directly = matinv_batched<T>(kHost, source, direct);
          for (std::int64_t p = 0; p < count; ++p) {
            EXPECT_EQ(directly[static_cast<std::size_t>(p)], outcomes[static_cast<std::size_t>(p)]);
            if (!outcomes[static_cast<std::size_t>(p)].ok()) {
              EXPECT_TRUE(std::isnan(std::abs(taken(direct, p)(0, 0))));
              continue;
            }
            ASSERT_TRUE(inverted[static_cast<std::size_t>(p)].ok());
            for (const auto& x : {taken(inverses, p), taken(direct, p)}) {
              const auto& mine = a[static_cast<std::size_t>(p)];
              EXPECT_LT(ratio(minus(times(mine, x), identity<Wide<T>>(n)), norm1(mine) * norm1(x), n, eps<T>),
                        kThreshold);
            }
          }
        });
      }
    }
  });
}

TEST(Batched, Solves) {
  for_scalars([]<class T>() {
    Random random(3);
    for (const std::int64_t n : {1, 5, 32, 35}) {
      const std::int64_t count = 9;
      Stack<T> factors(n, n, count, blas::Layout::ColumnMajor), lu(n, n, count, blas::Layout::RowMajor);
      Stack<T> right(n, 2, count, blas::Layout::RowMajor), second(n, 2, count, blas::Layout::ColumnMajor);
      const auto f = factors.strided(), g = lu.listed(), b = right.strided(), c = second.strided();
      std::vector<Dense<Wide<T>>> a, general, values;
      for (std::int64_t p = 0; p < count; ++p) {
        a.push_back(random_positive<T>(n, random));
        general.push_back(random_matrix<T>(n, n, random));
        values.push_back(random_matrix<T>(n, 2, random));
        factors.set(f, p, a.back()), lu.set(g, p, general.back());
        right.set(b, p, values.back()), second.set(c, p, values.back());
      }
      std::vector<std::int64_t> memory;
      const auto pivots = rows(memory, count, n);
      potrf_batched(kHost, Uplo::Upper, f);
      getrf_batched(kHost, g, pivots);
      for (const Outcome& o : potrs_batched<T>(kHost, Uplo::Upper, f, b)) EXPECT_TRUE(o.ok());
      for (const Outcome& o : getrs_batched<T>(kHost, Op::C, g, pivots, c)) EXPECT_TRUE(o.ok());
      for (std::int64_t p = 0; p < count; ++p) {
        const auto at = static_cast<std::size_t>(p);
        const auto x = taken(b, p), y = taken(c, p);
        EXPECT_LT(ratio(minus(times(a[at], x), values[at]), norm1(a[at]) * norm1(x), n, eps<T>), kThreshold);
        EXPECT_LT(
            ratio(minus(times(adjoint(general[at]), y), values[at]), norm1(adjoint(general[at])) * norm1(y), n, eps<T>),
            kThreshold);
      }
    }
  });
}

TEST(Batched, QrAndLeastSquares) {
  for_scalars([]<class T>() {
    Random random(4);
    for (const std::int64_t n : kOrders) {
      for (const std::int64_t m : {n, n + 4, std::max<std::int64_t>(n - 3, 1)}) {
        const std::int64_t count = 11, k = std::min(m, n);
        for_forms<T>(m, n, count, [&](Stack<T>& stack, const Batch<T>& batch) {
          std::vector<Dense<Wide<T>>> a;
          for (std::int64_t p = 0; p < count; ++p) {
            a.push_back(random_matrix<T>(m, n, random));
            for (std::int64_t i = 1; p == 2 && i < m; ++i) a.back()(i, 0) = 0;  // nothing to reflect
            if (p == 4) a.back() = rounded<T>(scaled(a.back(), sizeof(Real<T>) == 4 ? 0x1p100L : 0x1p1000L));
            if (p == 5) a.back() = rounded<T>(scaled(a.back(), sizeof(Real<T>) == 4 ? 0x1p-100L : 0x1p-1000L));
            if (p == 6) a.back()(m - 1, 0) = std::numeric_limits<long double>::quiet_NaN();
            stack.set(batch, p, a.back());
          }
          std::vector<T> memory;
          const auto tau = rows(memory, count, k);
          const BatchOutcomes outcomes = geqrf_batched(kHost, batch, tau);
          for (std::int64_t p = 0; p < count; ++p) {
            ASSERT_EQ(outcomes[static_cast<std::size_t>(p)].ok(), p != 6) << p;
            if (p == 6) continue;
            const auto& mine = a[static_cast<std::size_t>(p)];
            const auto f = taken(batch, p);
            Dense<Wide<T>> product(m, n);  // R, then reflected from the last H to the first
            auto q = identity<Wide<T>>(m);
            for (std::int64_t i = 0; i < k; ++i) {
              for (std::int64_t j = i; j < n; ++j) product(i, j) = f(i, j);
            }
            for (std::int64_t r = k - 1; r >= 0; --r) {
              const auto t = widened(memory[static_cast<std::size_t>(p * k + r)]);
              const auto v = [&](std::int64_t i) { return i == r ? Wide<T>(1) : f(i, r); };
              for (auto* x : {&product, &q}) {
                for (std::int64_t j = 0; j < x->columns; ++j) {
                  Wide<T> dot = 0;
                  for (std::int64_t i = r; i < m; ++i) dot += Wide<T>(conjugate(v(i))) * (*x)(i, j);
                  for (std::int64_t i = r; i < m; ++i) (*x)(i, j) -= t * dot * v(i);
                }
              }
            }
            EXPECT_LT(ratio(minus(product, mine), norm1(mine), m, eps<T>), kThreshold) << p;
            EXPECT_LT(orthogonality(q, eps<T>), kThreshold) << p;
          }
          EXPECT_EQ(outcomes[6].status, Status::NotFinite);
        });
        if (m < n || n > 8) continue;
        Stack<T> left(m, n, 5, blas::Layout::ColumnMajor), right(m, 2, 5, blas::Layout::RowMajor);
        const auto la = left.strided(), lb = right.strided();
        std::vector<Dense<Wide<T>>> a, b;
        for (std::int64_t p = 0; p < 5; ++p) {
          a.push_back(random_matrix<T>(m, n, random)), b.push_back(random_matrix<T>(m, 2, random));
          left.set(la, p, a.back()), right.set(lb, p, b.back());
        }
        for (const Outcome& o : gels_batched(kHost, la, lb)) EXPECT_TRUE(o.ok());
        for (std::int64_t p = 0; p < 5; ++p) {  // A^H (A x - b) = 0
          const auto whole = taken(lb, p);
          Dense<Wide<T>> x(n, 2);
          for (std::int64_t i = 0; i < n; ++i) x(i, 0) = whole(i, 0), x(i, 1) = whole(i, 1);
          const auto& mine = a[static_cast<std::size_t>(p)];
          const auto normal = times(adjoint(mine), minus(times(mine, x), b[static_cast<std::size_t>(p)]));
          const long double size =
              norm1(adjoint(mine)) * (norm1(mine) * norm1(x) + norm1(b[static_cast<std::size_t>(p)]));
          EXPECT_LT(ratio(normal, size, m, eps<T>), kThreshold);
        }
      }
    }
  });
}

// Q diag(d) Q^T with Q made of reflections, rounded to T.
template <class T> Dense<Wide<T>> with_spectrum(const std::vector<long double>& d, Random& random) {
  const auto n = static_cast<std::int64_t>(d.size());
  Dense<Wide<T>> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = d[static_cast<std::size_t>(i)];
  for (int r = 0; r < 3; ++r) {
    auto v = random_matrix<T>(n, 1, random);
    long double size = 0;
    for (const auto& x : v.values) size += std::norm(x);
    if (size == 0) continue;
    auto h = identity<Wide<T>>(n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) h(i, j) -= 2.0L * v(i, 0) * Wide<T>(conjugate(v(j, 0))) / size;
    }
    a = times(times(h, a), adjoint(h));
  }
  return mirrored(rounded<T>(a), Uplo::Lower);
}

TEST(Batched, Eigenvalues) {
  for_scalars([]<class T>() {
    Random random(5);
    for (const std::int64_t n : kOrders) {
      std::vector<Dense<Wide<T>>> a;
      const auto spectrum = [&](auto f) {
        std::vector<long double> d;
        for (std::int64_t i = 0; i < n; ++i) d.push_back(f(static_cast<long double>(i)));
        a.push_back(with_spectrum<T>(d, random));
      };
      for (int r = 0; r < 5; ++r) a.push_back(random_hermitian<T>(n, random));
      spectrum([](long double i) { return std::pow(0.3L, i); });               // graded
      spectrum([](long double i) { return std::pow(10.0L, -i); });             // steeply
      spectrum([](long double i) { return i < 2 ? 1.0L : 0.0L; });             // low rank
      spectrum([](long double i) { return 1 + std::fmod(i, 2.0L) * 1e-6L; });  // two clusters
      spectrum([&](long double i) { return i + 1 < static_cast<long double>(n) ? 1.0L : -1.0L; });
      a.push_back(Dense<Wide<T>>(n, n));  // zero
      a.push_back(identity<Wide<T>>(n));
      Dense<Wide<T>> ones(n, n), laplace(n, n), wilkinson(n, n), graded(n, n), diagonal(n, n);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          const bool next = i - j == 1 || j - i == 1;
          ones(i, j) = 1;
          laplace(i, j) = i == j ? 2 : next ? -1 : 0;
          wilkinson(i, j) = i == j ? std::abs(static_cast<long double>(2 * i - n + 1) / 2) : next ? 1 : 0;
          graded(i, j) = std::pow(10.0L, static_cast<long double>(-(i + j)) / 2);
          diagonal(i, j) = i == j ? static_cast<long double>((i * 7) % n) : 0;
        }
      }
      for (const auto& x : {ones, laplace, wilkinson, rounded<T>(graded), diagonal, hilbert<T>(n)}) a.push_back(x);
      a.push_back(rounded<T>(scaled(random_hermitian<T>(n, random), sizeof(Real<T>) == 4 ? 0x1p-100L : 0x1p-1000L)));
      a.push_back(rounded<T>(scaled(random_hermitian<T>(n, random), sizeof(Real<T>) == 4 ? 0x1p90L : 0x1p900L)));
      a.push_back(random_hermitian<T>(n, random));
      const auto bad = a.size() - 1;
      a[bad](n - 1, 0) = std::numeric_limits<long double>::quiet_NaN();
      const auto count = static_cast<std::int64_t>(a.size());
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
        if (uplo == Uplo::Upper) std::swap(a[bad](n - 1, 0), a[bad](0, n - 1));
        for_forms<T>(n, n, count, [&](Stack<T>& stack, const Batch<T>& batch) {
          for (const Vectors vectors : {Vectors::Yes, Vectors::No}) {
            for (std::int64_t p = 0; p < count; ++p) stack.set(batch, p, a[static_cast<std::size_t>(p)]);
            std::vector<Real<T>> memory;
            const auto w = rows(memory, count, n);
            const auto outcomes = eigh_batched(kHost, batch, w, {.vectors = vectors, .uplo = uplo});
            for (std::int64_t p = 0; p < count; ++p) {
              const auto& mine = a[static_cast<std::size_t>(p)];
              ASSERT_EQ(outcomes[static_cast<std::size_t>(p)].ok(), static_cast<std::size_t>(p) != bad) << p;
              if (static_cast<std::size_t>(p) == bad) continue;
              const Real<T>* values = memory.data() + p * n;
              EXPECT_TRUE(std::is_sorted(values, values + n));
              if (vectors == Vectors::No) {
                long double trace = 0, sum = 0;
                for (std::int64_t i = 0; i < n; ++i) trace += std::real(mine(i, i)), sum += values[i];
                EXPECT_LE(std::abs(trace - sum), 10 * static_cast<long double>(n) * eps<T> * norm1(mine)) << p;
                EXPECT_EQ(taken(batch, p).values, mine.values) << p;  // not changed
                continue;
              }
              const auto v = taken(batch, p);
              auto scaled_v = v;
              for (std::int64_t i = 0; i < n; ++i) {
                for (std::int64_t j = 0; j < n; ++j) scaled_v(i, j) *= static_cast<long double>(values[j]);
              }
              const long double size = norm1(mine);
              if (size > 0) {
                EXPECT_LT(ratio(minus(times(mine, v), scaled_v), size, n, eps<T>), kThreshold) << p;
              }
              EXPECT_LT(orthogonality(v, eps<T>), kThreshold) << p;
            }
          }
        });
      }
    }
  });
}

TEST(Batched, SingularValues) {
  for_scalars([]<class T>() {
    Random random(6);
    const std::int64_t m = 7, n = 4, count = 6;
    Stack<T> sa(m, n, count, blas::Layout::RowMajor), su(m, n, count, blas::Layout::ColumnMajor);
    Stack<T> sv(n, n, count, blas::Layout::ColumnMajor);
    const auto a = sa.strided(), u = su.strided(), v = sv.listed();
    for (std::int64_t p = 0; p < count; ++p) sa.set(a, p, random_matrix<T>(m, n, random));
    std::vector<Real<T>> memory;
    const auto s = rows(memory, count, n);
    const auto outcomes = svd_batched<T>(kHost, a, s, u, v);
    for (std::int64_t p = 0; p < count; ++p) {
      ASSERT_TRUE(outcomes[static_cast<std::size_t>(p)].ok());
      auto left = taken(u, p);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j)
          left(i, j) *= static_cast<long double>(memory[static_cast<std::size_t>(p * n + j)]);
      }
      EXPECT_LT(ratio(minus(times(left, taken(v, p)), taken(a, p)), norm1(taken(a, p)), m, eps<T>), kThreshold);
    }
  });
}

TEST(Batched, EmptyAndRefused) {
  std::vector<double> memory(64);
  std::vector<std::int64_t> pivots(64);
  const auto batch = [&](BatchShape s, std::int64_t stride, std::int64_t count) {
    return Batch<double>::strided(s, memory.data(), stride, count);
  };
  EXPECT_TRUE(potrf_batched(kHost, Uplo::Lower, batch({3, 3}, 9, 0)).empty());
  EXPECT_EQ(potrf_batched(kHost, Uplo::Lower, batch({0, 0}, 0, 4)).size(), 4u);
  const auto refused = [](auto call, const char* part) {
    try {
      call();
      ADD_FAILURE() << part;
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused([&] { potrf_batched(kHost, Uplo::Lower, batch({3, 2}, 9, 2)); }, "square");
  refused([&] { potrf_batched(kHost, Uplo::Lower, batch({3, 3}, 8, 2)); }, "must not overlap");
  refused([&] { potrf_batched(kHost, Uplo::Lower, batch({3, 3, 2}, 9, 2)); }, "leading dimension");
  refused([&] { potrf_batched(kHost, Uplo::Lower, batch({-1, -1}, 9, 2)); }, "negative");
  refused([&] { potrf_batched(kHost, Uplo::Lower, Batch<double>::strided({3, 3}, nullptr, 9, 2)); }, "null");
  std::vector<double*> same{memory.data(), memory.data()};
  refused([&] { potrf_batched(kHost, Uplo::Lower, Batch<double>::listed({3, 3}, same)); }, "same address");
  refused(
      [&] {
        getrf_batched(kHost, batch({3, 3}, 9, 2), MatrixView<std::int64_t>(kHost, pivots.data(), 2, 2, 2, 1));
      },
      "2 x 3");
  pivots[0] = 5;
  refused(
      [&] {
        getrs_batched<double>(kHost, Op::N, batch({3, 3}, 9, 2),
                              MatrixView<const std::int64_t>(kHost, pivots.data(), 2, 3, 3, 1),
                              Batch<double>::strided({3, 1}, memory.data() + 30, 3, 2));
      },
      "lie between 0 and 2");
  refused([&] { matinv_batched<double>(kHost, batch({3, 3}, 9, 2), batch({3, 3}, 9, 2)); }, "same address");
  refused(
      [&] {
        gels_batched(kHost, batch({2, 3}, 6, 2), Batch<double>::strided({2, 1}, memory.data() + 30, 2, 2));
      },
      "as many rows");
}

}  // namespace
}  // namespace trn::solver::testing

// What the gemm tests share: random operands in any layout, and an oracle in wider floating point.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <trn/blas/gemm.hpp>
#include <trn/core/convert.hpp>

namespace trn::blas::test {

// A matrix as it lies in memory: element (i, j) at offset + i * row_stride + j * column_stride of `storage`.
template <class T> struct Stored {
  std::int64_t rows, columns, row_stride, column_stride, offset;
  std::vector<T> storage;
  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) {
    return storage[static_cast<std::size_t>(offset + i * row_stride + j * column_stride)];
  }
  [[nodiscard]] T at(std::int64_t i, std::int64_t j) const {
    return storage[static_cast<std::size_t>(offset + i * row_stride + j * column_stride)];
  }
};

enum class Layout { RowMajor, ColumnMajor, PaddedRows, PaddedColumns, Scattered, Reversed };
inline constexpr Layout kLayouts[] = {Layout::RowMajor,      Layout::ColumnMajor, Layout::PaddedRows,
                                      Layout::PaddedColumns, Layout::Scattered,   Layout::Reversed};

template <class T> Stored<T> stored(std::int64_t rows, std::int64_t columns, Layout layout) {
  Stored<T> s{rows, columns, columns, 1, 0, {}};
  switch (layout) {
    case Layout::RowMajor:
      break;
    case Layout::ColumnMajor:
      s.row_stride = 1, s.column_stride = rows;
      break;
    case Layout::PaddedRows:
      s.row_stride = columns + 5;
      break;
    case Layout::PaddedColumns:
      s.row_stride = 1, s.column_stride = rows + 3;
      break;
    case Layout::Scattered:
      s.row_stride = 3 * columns + 1, s.column_stride = 3;
      break;
    case Layout::Reversed:
      s.row_stride = -columns, s.offset = (std::max<std::int64_t>(rows, 1) - 1) * columns;
      break;
  }
  const std::int64_t span = std::abs(s.row_stride) * std::max<std::int64_t>(rows - 1, 0) +
                            std::abs(s.column_stride) * std::max<std::int64_t>(columns - 1, 0) + 1;
  s.storage.assign(static_cast<std::size_t>(span), T{});
  return s;
}

template <class T> T element(double x) {
  T value;
  from_double(&x, dtype_of<T>, &value, 1);
  return value;
}

template <class T> void fill(Stored<T>& s, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  for (T& x : s.storage) x = element<T>(normal(random));
}

// The storage on an executor, and a view of the matrix in it.
template <class T> struct OnDevice {
  Array<T> array;
  MatrixView<T> view;
  OnDevice(const Executor& e, const Stored<T>& s)
      : array(Array<T>::from_host(e, {static_cast<std::int64_t>(s.storage.size())}, s.storage)),
        view(e, array.data() + s.offset, s.rows, s.columns, s.row_stride, s.column_stride) {}
};

using Quad = __float128;
// Products of two float or narrower numbers are exact in long double, and a sum of k of them errs by k 2^-64: 2^-40 k
// of the bound it is compared with. Double inputs need 128 bits.
template <class In> using Oracle = std::conditional_t<std::is_same_v<In, double>, Quad, long double>;

// c(i, j) = alpha * sum_k op(A) op(B) + beta * c0, and the scale |alpha| |A||B| + |beta||c0|.
template <class In> struct Exact { Oracle<In> value, scale; };
template <class In, class Out> Exact<In> exact(Op op_a, Op op_b, double alpha, const Stored<In>& a, const Stored<In>& b,
                                               double beta, const Stored<Out>& c0, std::int64_t i, std::int64_t j) {
  const std::int64_t k = op_a == Op::N ? a.columns : a.rows;
  Exact<In> e{0, 0};
  using Wide = Oracle<In>;
  for (std::int64_t p = 0; p < k && alpha != 0; ++p) {
    const Wide x = static_cast<double>(op_a == Op::N ? a.at(i, p) : a.at(p, i));
    const Wide y = static_cast<double>(op_b == Op::N ? b.at(p, j) : b.at(j, p));
    e.value += x * y;
    e.scale += (x * y < 0 ? -x * y : x * y);
  }
  e.value *= alpha;
  e.scale *= std::abs(alpha);
  if (beta != 0) {
    const Wide old = static_cast<double>(c0.at(i, j));
    e.value += beta * old;
    e.scale += (old < 0 ? -old : old) * std::abs(beta);
  }
  return e;
}

struct Case {
  std::int64_t m, n, k;
  Op op_a = Op::N, op_b = Op::N;
  double alpha = 1, beta = 0;
  Layout a = Layout::RowMajor, b = Layout::RowMajor, c = Layout::RowMajor;
};

// Runs one gemm and checks its elements against the oracle within gemm_error_bound: all of them, or for large products
// the last row and column and a fixed scatter of the others. Elements of C's storage outside the matrix must be
// untouched. Checks that the executor's own family ran.
template <class In, class Out> void check(const Executor& executor, const Case& t, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto a = stored<In>(t.op_a == Op::N ? t.m : t.k, t.op_a == Op::N ? t.k : t.m, t.a);
  auto b = stored<In>(t.op_b == Op::N ? t.k : t.n, t.op_b == Op::N ? t.n : t.k, t.b);
  auto c = stored<Out>(t.m, t.n, t.c);
  fill(a, random);
  fill(b, random);
  if (t.beta == 0) {
    for (Out& x : c.storage) x = element<Out>(NAN);  // beta == 0 must not read it
  } else {
    fill(c, random);
  }
  const OnDevice<In> da(executor, a), db(executor, b);
  const OnDevice<Out> dc(executor, c);
  Recorder recorder(executor);
  gemm(executor, t.op_a, t.op_b, static_cast<Compute<Out>>(t.alpha), da.view, db.view,
       static_cast<Compute<Out>>(t.beta), dc.view);
  const auto trace = ::testing::Message()
                     << t.m << " x " << t.n << " x " << t.k << " op " << (t.op_a == Op::N ? "N" : "T")
                     << (t.op_b == Op::N ? "N" : "T") << " alpha " << t.alpha << " beta " << t.beta << " layouts "
                     << static_cast<int>(t.a) << static_cast<int>(t.b) << static_cast<int>(t.c) << " seed " << seed
                     << " on " << executor.name();
  SCOPED_TRACE(trace);
  if (t.m > 0 && t.n > 0) {
    EXPECT_EQ(recorder.family_of("blas.gemm"), name(executor.family()));
  }
  auto result = c;
  result.storage = dc.array.to_host();
  const double bound = gemm_error_bound(executor.family(), dtype_of<In>, dtype_of<Out>, t.k);
  const bool everything = t.m * t.n * t.k < 20'000'000;
  std::vector<bool> inside(c.storage.size(), false);
  for (std::int64_t i = 0; i < t.m; ++i) {
    for (std::int64_t j = 0; j < t.n; ++j) {
      inside[static_cast<std::size_t>(c.offset + i * c.row_stride + j * c.column_stride)] = true;
      if (!everything && i != t.m - 1 && j != t.n - 1 && (i * 7919 + j * 104729) % 61 != 0) continue;
      const auto e = exact(t.op_a, t.op_b, t.alpha, a, b, t.beta, c, i, j);
      Oracle<In> error = static_cast<double>(result.at(i, j)) - e.value;
      if (error < 0) error = -error;
      if (!(error <= bound * e.scale)) {
        FAIL() << "C(" << i << ", " << j << ") = " << static_cast<double>(result.at(i, j)) << ", exact "
               << static_cast<double>(e.value) << ", error " << static_cast<double>(error / e.scale)
               << " of |A||B|, bound " << bound;
      }
    }
  }
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (!inside[i] && std::memcmp(&result.storage[i], &c.storage[i], sizeof(Out)) != 0)
      FAIL() << "storage element " << i << " outside C was changed";
  }
}

}  // namespace trn::blas::test

// symm, hemm, the rank-k updates, trmm and trsm in Precision Exact on a device.
#include "exact_level3.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <trn/blas/expand_program.hpp>
#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/tile/device.hpp>

#include "gemm_accuracy.hpp"

namespace trn::blas {

namespace {

using Complex = std::complex<double>;
using LongComplex = std::complex<long double>;

// The matrix that `shape` describes, in full, row-major on the executor.
Buffer expanded(const Executor& executor, const ExpandShape& shape, const void* a) {
  Buffer full(executor, shape.m * shape.m * size_bytes(shape.dtype));
  tile::Device& device = tile::device_of(executor);
  const auto program = device.programs().get(shape, [&](const ExpandShape& s) { return expand_program(s, device.machine()); });
  device.run(*program, std::vector<tile::Binding>{{"a", const_cast<void*>(a)}, {"full", full.data()}});
  return full;
}

void copy_strided(const Executor& from_executor, const void* from, std::int64_t fr, std::int64_t fc, const Executor& to_executor, void* to,
                  std::int64_t tr, std::int64_t tc, std::int64_t rows, std::int64_t columns, DType dtype) {
  const Shape shape{rows, columns};
  const Strides f{fr, fc}, t{tr, tc};
  trn::detail::copy_elements({&from_executor, const_cast<void*>(from), &shape, &f}, {&to_executor, to, &shape, &t}, size_bytes(dtype));
}

const void* offset(const void* base, DType dtype, std::int64_t elements) { return static_cast<const std::byte*>(base) + elements * size_bytes(dtype); }
void* offset(void* base, DType dtype, std::int64_t elements) { return static_cast<std::byte*>(base) + elements * size_bytes(dtype); }

// A small dense matrix in host memory, any of the four types.
std::vector<LongComplex> download(const Executor& executor, const void* x, std::int64_t rows, std::int64_t columns, std::int64_t rs, std::int64_t cs,
                                  DType dtype) {
  const std::int64_t count = rows * columns, parts = is_complex(dtype) ? 2 : 1;
  std::vector<std::byte> raw(static_cast<std::size_t>(count * size_bytes(dtype)));
  copy_strided(executor, x, rs, cs, Executor::host(), raw.data(), columns, 1, rows, columns, dtype);
  std::vector<double> values(static_cast<std::size_t>(count * parts));
  to_double(real_of(dtype), raw.data(), values.data(), count * parts);
  std::vector<LongComplex> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = parts == 2 ? LongComplex(values[2 * i], values[2 * i + 1]) : LongComplex(values[i]);
  return result;
}

bool all_finite(const std::vector<LongComplex>& values) {
  return std::all_of(values.begin(), values.end(), [](const LongComplex& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); });
}

// x = A^-1 x for `columns` columns, as the reference does it: an x of 0 changes no other row, so rows before a zero pivot stay.
void substitute(const std::vector<LongComplex>& a, std::int64_t n, bool lower, std::vector<LongComplex>& x, std::int64_t columns) {
  const auto at = [](std::int64_t i, std::int64_t j, std::int64_t ld) { return static_cast<std::size_t>(i * ld + j); };
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t p = lower ? step : n - 1 - step;
      LongComplex& pivot = x[at(p, j, columns)];
      if (pivot == LongComplex(0)) continue;
      pivot /= a[at(p, p, n)];
      for (std::int64_t i = lower ? p + 1 : 0; i < (lower ? n : p); ++i) x[at(i, j, columns)] -= a[at(i, p, n)] * pivot;
    }
  }
}

Buffer upload(const Executor& executor, const std::vector<LongComplex>& x, DType dtype) {
  std::vector<double> values;
  for (const LongComplex& v : x) {
    values.push_back(static_cast<double>(v.real()));
    if (is_complex(dtype)) values.push_back(static_cast<double>(v.imag()));
  }
  std::vector<std::byte> raw(x.size() * static_cast<std::size_t>(size_bytes(dtype)));
  from_double(values.data(), real_of(dtype), raw.data(), static_cast<std::int64_t>(values.size()));
  Buffer buffer(executor, static_cast<std::int64_t>(raw.size()));
  executor.backend().copy_in(buffer.data(), raw.data(), static_cast<std::int64_t>(raw.size()));
  return buffer;
}

// The inverse of a triangle, column by column, in long double.
std::vector<LongComplex> inverse(const std::vector<LongComplex>& t, std::int64_t n, bool lower) {
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<LongComplex> x(t.size());
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = lower ? step : n - 1 - step;
      LongComplex sum = i == j ? 1 : 0;
      for (std::int64_t p = lower ? 0 : i + 1; p < (lower ? i : n); ++p) {
        if (x[at(p, j)] != LongComplex(0)) sum -= t[at(i, p)] * x[at(p, j)];
      }
      if (sum != LongComplex(0)) x[at(i, j)] = sum / t[at(i, i)];
    }
  }
  return x;
}

double target_of(const Precision& precision) { return precision.has_target() ? precision.target_error() : 0; }

}  // namespace

bool exact_on_device(const Executor& executor, DType dtype, const Precision& precision) {
  if (executor.family() != Family::Device) return false;
  return precision.has_target() ? real_of(dtype) == DType::Float64 : precision.mode() == Mode::Exact;
}

Accuracy exact_symm(const char* operation, const Executor& executor, const SymmArgs& s) {
  GemmArgs g{s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, s.beta};
  if (s.alpha == Complex(0)) return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
  const Buffer full = expanded(executor, {s.dtype, s.hermitian ? Expansion::Hermitian : Expansion::Symmetric, s.m, s.am, s.an, true, false, s.conj_a}, s.a);
  g.a = full.data();
  return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
}

Accuracy exact_syrk(const char* operation, const Executor& executor, const SyrkArgs& s) {
  const ExactRegion region{true, s.hermitian};
  GemmArgs g{s.dtype, s.dtype, s.n, s.n, s.k, s.a, s.an, s.ak, s.b, s.bk, s.bn, s.c, s.cm, s.cn, s.alpha, s.beta, s.conj_a, s.conj_b != s.hermitian};
  const Accuracy first = exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision), region);
  if (s.kind != RankK::Two || s.k == 0) return first;
  g.a = s.b, g.am = s.bn, g.ak = s.bk, g.conj_a = s.conj_b;
  g.b = s.a, g.bk = s.ak, g.bn = s.an, g.conj_b = s.conj_a != s.hermitian;
  if (s.hermitian) g.alpha = std::conj(g.alpha);
  g.beta = 1;
  const Accuracy second = exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision), region);
  return {Mode::Exact, first.passes + second.passes, first.bound + second.bound};
}

Accuracy exact_trmm(const char* operation, const Executor& executor, const TrmmArgs& s) {
  GemmArgs g{s.dtype, s.dtype, s.m, s.n, s.m, nullptr, s.m, 1, s.b, s.bm, s.bn, s.c, s.cm, s.cn, s.alpha, 0};
  if (s.alpha == Complex(0)) return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision));
  const Buffer full = expanded(executor, {s.dtype, Expansion::Triangular, s.m, s.am, s.an, s.lower, s.unit, s.conj_a}, s.a);
  g.a = full.data();
  const ExactRegion region{.terms = s.lower ? ExactRegion::Terms::Lower : ExactRegion::Terms::Upper};
  return exact_gemm(operation, executor, g, std::nullopt, target_of(s.precision), region);  // reads B before it writes C
}

Accuracy exact_trsm(const char* operation, const Executor& executor, const TrsmArgs& s) {
  constexpr std::int64_t kBlock = 64;
  const DType t = s.dtype;
  const auto product = [&](std::int64_t m, std::int64_t k, Complex alpha, const void* a, std::int64_t am, std::int64_t ak, bool conj, const void* b,
                           std::int64_t bk, std::int64_t bn, Complex beta, void* c) {
    return exact_gemm(operation, executor, {t, t, m, s.n, k, a, am, ak, b, bk, bn, c, s.n, 1, alpha, beta, conj, false}, std::nullopt, 0);
  };
  Accuracy accuracy{Mode::Exact, 1, 0};
  const std::int64_t blocks = (s.m + kBlock - 1) / kBlock;
  for (std::int64_t step = 0; step < blocks; ++step) {
    const std::int64_t r0 = (s.lower ? step : blocks - 1 - step) * kBlock, rows = std::min(kBlock, s.m - r0), bytes = rows * s.n * size_bytes(t);
    const Buffer r(executor, bytes), x(executor, bytes), d(executor, bytes);
    void* b_block = offset(s.b, t, r0 * s.bm);
    copy_strided(executor, b_block, s.bm, s.bn, executor, r.data(), s.n, 1, rows, s.n, t);
    // r = alpha b - (A left of the block) (X so far)
    const std::int64_t known = s.alpha == Complex(0) ? 0 : s.lower ? r0 : s.m - r0 - rows, k0 = s.lower ? 0 : r0 + rows;
    accuracy.passes = product(rows, known, -1, offset(s.a, t, r0 * s.am + k0 * s.an), s.am, s.an, s.conj_a, offset(s.b, t, k0 * s.bm), s.bm, s.bn,
                              s.alpha, r.data()).passes;
    if (s.alpha == Complex(0)) {
      copy_strided(executor, r.data(), s.n, 1, executor, b_block, s.bm, s.bn, rows, s.n, t);
      continue;
    }
    auto triangle = download(executor, offset(s.a, t, r0 * (s.am + s.an)), rows, rows, s.am, s.an, t);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < rows; ++j) {
        LongComplex& v = triangle[static_cast<std::size_t>(i * rows + j)];
        if (i == j && s.unit) v = 1;
        else if (i != j && (i > j) != s.lower) v = 0;
        else if (s.conj_a) v = std::conj(v);
      }
    }
    const Buffer inv = upload(executor, inverse(triangle, rows, s.lower), t), a = upload(executor, triangle, t);
    const auto multiply = [&](const Buffer& left, const Buffer& right, Complex alpha, Complex beta, const Buffer& to) {
      (void)product(rows, rows, alpha, left.data(), rows, 1, false, right.data(), s.n, 1, beta, to.data());
    };
    const auto residual = [&] {
      copy_strided(executor, r.data(), s.n, 1, executor, d.data(), s.n, 1, rows, s.n, t);
      multiply(a, x, -1, 1, d);
    };
    multiply(inv, r, 1, 0, x);
    if (all_finite(download(executor, x.data(), rows, s.n, s.n, 1, t))) {
      residual();
      multiply(inv, d, 1, 1, x);
    } else {  // an inverse too large for the type, a zero on the diagonal, or B itself: substitution has fewer ways to overflow
      auto values = download(executor, r.data(), rows, s.n, s.n, 1, t);
      substitute(triangle, rows, s.lower, values, s.n);
      const Buffer solved = upload(executor, values, t);
      copy_strided(executor, solved.data(), s.n, 1, executor, x.data(), s.n, 1, rows, s.n, t);
    }
    residual();
    // What is left, relative to the row of A (at least its diagonal block) and the column of X; r itself was rounded once.
    const auto left = download(executor, d.data(), rows, s.n, s.n, 1, t), solution = download(executor, x.data(), rows, s.n, s.n, 1, t);
    for (std::int64_t j = 0; j < s.n; ++j) {
      long double column = 0;
      for (std::int64_t i = 0; i < rows; ++i) column += std::norm(solution[static_cast<std::size_t>(i * s.n + j)]);
      for (std::int64_t i = 0; i < rows; ++i) {
        long double row = 0;
        for (std::int64_t p = 0; p < rows; ++p) row += std::norm(triangle[static_cast<std::size_t>(i * rows + p)]);
        const long double scale = std::sqrt(row) * std::sqrt(column), error = std::abs(left[static_cast<std::size_t>(i * s.n + j)]);
        if (!std::isfinite(scale) || !std::isfinite(error)) accuracy.bound = std::numeric_limits<double>::infinity();
        else if (scale > 0) accuracy.bound = std::max(accuracy.bound, static_cast<double>(error / scale));
      }
    }
    copy_strided(executor, x.data(), s.n, 1, executor, b_block, s.bm, s.bn, rows, s.n, t);
  }
  accuracy.bound += 4 * unit_roundoff(t);
  return accuracy;
}

}  // namespace trn::blas

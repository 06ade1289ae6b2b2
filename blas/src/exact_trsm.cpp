// trsm in Precision Exact, on the host and on devices: the same steps and so the same bits everywhere.
//
// Blocks of 64 rows, T the triangle on the diagonal, A the row of blocks before it, X the rows already solved:
//
//   r = alpha b - A X           exact_gemm: one rounding, whose certificate c_r it gives element by element
//   x = T^-1 r                  T^-1 in 80-bit arithmetic on the host, rounded to the type; one step of refinement with
//     d = r - T x
//   d = r - T x                 once more, on the host in 80-bit arithmetic, for the bound
//
// The bound. alpha b - [A T] [X; x] = d + (what r was rounded by), and d as computed errs by at most (s + 2) v (|T||x|
// + |r|), s = 64 terms of v = 2^-64 each (complex: 4 times that, two products per part). So every element of the
// residual is known to within
//
//   |d| + c_r + (s + 2) v (|T||x| + |r|)  =: E_ij
//
// and the bound is the largest E_ij / (||a_i|| ||x_j||). Of these d and c_r are roundings of the result's own size;
// nothing else is large enough to be seen, so the bound is within a small factor of the residual that is there. It
// holds whatever the condition of A: a solve that went wrong leaves a large d. A column of zeros has no error where B
// has zeros, and no bound otherwise.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/parallel.hpp>

#include "exact_level3.hpp"

namespace trn::blas {

namespace {

using Complex = std::complex<double>;
using LongComplex = std::complex<long double>;

void copy_strided(const Executor& from_executor, const void* from, std::int64_t fr, std::int64_t fc,
                  const Executor& to_executor, void* to, std::int64_t tr, std::int64_t tc, std::int64_t rows,
                  std::int64_t columns, DType dtype) {
  const Shape shape{rows, columns};
  const Strides f{fr, fc}, t{tr, tc};
  trn::detail::copy_elements({&from_executor, const_cast<void*>(from), &shape, &f}, {&to_executor, to, &shape, &t},
                             size_bytes(dtype));
}

const void* offset(const void* base, DType dtype, std::int64_t elements) {
  return static_cast<const std::byte*>(base) + elements * size_bytes(dtype);
}
void* offset(void* base, DType dtype, std::int64_t elements) {
  return static_cast<std::byte*>(base) + elements * size_bytes(dtype);
}

// A small dense matrix in host memory, any of the four types.
std::vector<LongComplex> download(const Executor& executor, const void* x, std::int64_t rows, std::int64_t columns,
                                  std::int64_t rs, std::int64_t cs, DType dtype) {
  const std::int64_t count = rows * columns, parts = is_complex(dtype) ? 2 : 1;
  std::vector<std::byte> raw(static_cast<std::size_t>(count * size_bytes(dtype)));
  copy_strided(executor, x, rs, cs, Executor::host(), raw.data(), columns, 1, rows, columns, dtype);
  std::vector<double> values(static_cast<std::size_t>(count * parts));
  to_double(real_of(dtype), raw.data(), values.data(), count * parts);
  std::vector<LongComplex> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = parts == 2 ? LongComplex(values[2 * i], values[2 * i + 1]) : LongComplex(values[i]);
  return result;
}

bool all_finite(const std::vector<LongComplex>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const LongComplex& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); });
}

// x = T^-1 x for `columns` columns, as the reference does it: an x of 0 changes no other row, so rows before a zero
// pivot stay.
void substitute(const std::vector<LongComplex>& a, std::int64_t n, bool lower, std::vector<LongComplex>& x,
                std::int64_t columns) {
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
  copy_bytes(Executor::host(), raw.data(), executor, buffer.data(), buffer.bytes());
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

// The norm of row i of A, and its diagonal block as it counts.
struct BlockRow {
  std::vector<LongComplex> triangle;  // rows x rows, zeros and ones where the matrix has them
  std::vector<long double> norms;     // of whole rows
};
BlockRow read_rows(const Executor& executor, const TrsmArgs& s, std::int64_t r0, std::int64_t rows, std::int64_t k0,
                   std::int64_t known) {
  BlockRow block{download(executor, offset(s.a, s.dtype, r0 * (s.am + s.an)), rows, rows, s.am, s.an, s.dtype),
                 std::vector<long double>(static_cast<std::size_t>(rows))};
  const auto before = download(executor, offset(s.a, s.dtype, r0 * s.am + k0 * s.an), rows, known, s.am, s.an, s.dtype);
  for (std::int64_t i = 0; i < rows; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < known; ++j) sum += std::norm(before[static_cast<std::size_t>(i * known + j)]);
    for (std::int64_t j = 0; j < rows; ++j) {
      LongComplex& v = block.triangle[static_cast<std::size_t>(i * rows + j)];
      if (i == j && s.unit)
        v = 1;
      else if (i != j && (i > j) != s.lower)
        v = 0;
      else if (s.conj_a)
        v = std::conj(v);
      sum += std::norm(v);
    }
    block.norms[static_cast<std::size_t>(i)] = std::sqrt(sum);
  }
  return block;
}

// The residual column by column: the largest E_ij / ||a_i||, and the norm of X.
class Residual {
 public:
  explicit Residual(std::int64_t columns)
      : columns_(columns),
        worst_(static_cast<std::size_t>(columns)),
        squares_(worst_.size()),
        nonzero_(worst_.size(), false) {}

  void see_right_side(const std::vector<LongComplex>& b) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (b[i] != LongComplex(0)) nonzero_[i % static_cast<std::size_t>(columns_)] = true;
    }
  }

  void add(const BlockRow& block, const std::vector<LongComplex>& r, const std::vector<LongComplex>& x,
           const std::vector<double>& rounded, bool complex) {
    const auto rows = static_cast<std::int64_t>(block.norms.size());
    const long double unit = (complex ? 4 : 1) * static_cast<long double>(rows + 2) * 0x1p-64L;
    parallel_for(columns_, rows * rows * columns_ > 1 << 16, [&](std::int64_t j) {
      const auto column = static_cast<std::size_t>(j);
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto at = static_cast<std::size_t>(i * columns_ + j);
        LongComplex d = r[at];
        long double size = std::abs(r[at]);
        for (std::int64_t p = 0; p < rows; ++p) {
          const LongComplex &t = block.triangle[static_cast<std::size_t>(i * rows + p)],
                            &v = x[static_cast<std::size_t>(p * columns_ + j)];
          if (t == LongComplex(0)) continue;
          d -= t * v;
          size += std::abs(t) * std::abs(v);
        }
        const long double error = std::abs(d) + rounded[at] + unit * size,
                          share = error / block.norms[static_cast<std::size_t>(i)];
        if (!(share <= worst_[column]))
          worst_[column] = std::isfinite(share) ? share : std::numeric_limits<long double>::infinity();
        squares_[column] += std::norm(x[at]);
      }
    });
  }

  [[nodiscard]] double bound() const {
    long double worst = 0;
    for (std::size_t j = 0; j < worst_.size(); ++j) {
      // An infinite x may stand beside zeros of T alone, the pivot that made it among them. Squares do not overflow.
      if (!std::isfinite(squares_[j])) return std::numeric_limits<double>::infinity();
      if (squares_[j] == 0 && !nonzero_[j]) continue;
      const long double share = worst_[j] / std::sqrt(squares_[j]);
      if (!(share <= worst)) worst = std::isfinite(share) ? share : std::numeric_limits<long double>::infinity();
    }
    worst *= 1 + 0x1p-40L;
    const auto nearest =
        static_cast<double>(worst);  // up: 5e-324, not 0, where X is larger than B's residual by 2^1074
    return nearest < worst ? std::nextafter(nearest, std::numeric_limits<double>::infinity()) : nearest;
  }

 private:
  std::int64_t columns_;
  std::vector<long double> worst_, squares_;
  std::vector<bool> nonzero_;
};

}  // namespace

Accuracy exact_trsm(const char* operation, const Executor& executor, const TrsmArgs& s) {
  constexpr std::int64_t kBlock = 64;
  const DType t = s.dtype;
  const auto product = [&](std::int64_t m, std::int64_t k, Complex alpha, const void* a, std::int64_t am,
                           std::int64_t ak, bool conj, const void* b, std::int64_t bk, std::int64_t bn, Complex beta,
                           void* c, const std::optional<MatrixView<double>>& rounded = {}) {
    return exact_gemm(operation, executor, {t, t, m, s.n, k, a, am, ak, b, bk, bn, c, s.n, 1, alpha, beta, conj, false},
                      rounded, 0);
  };
  Accuracy accuracy{Mode::Exact, 1, 0};
  Residual residual(s.n);
  const std::int64_t blocks = (s.m + kBlock - 1) / kBlock;
  for (std::int64_t step = 0; step < blocks; ++step) {
    const std::int64_t r0 = (s.lower ? step : blocks - 1 - step) * kBlock, rows = std::min(kBlock, s.m - r0),
                       bytes = rows * s.n * size_bytes(t);
    const Buffer r(executor, bytes), x(executor, bytes), d(executor, bytes);
    void* b_block = offset(s.b, t, r0 * s.bm);
    copy_strided(executor, b_block, s.bm, s.bn, executor, r.data(), s.n, 1, rows, s.n, t);
    if (s.alpha != Complex(0)) residual.see_right_side(download(executor, r.data(), rows, s.n, s.n, 1, t));
    // r = alpha b - (A left of the block) (X so far)
    const std::int64_t known = s.alpha == Complex(0) ? 0 : s.lower ? r0 : s.m - r0 - rows, k0 = s.lower ? 0 : r0 + rows;
    std::vector<double> rounded(static_cast<std::size_t>(rows * s.n));
    if (known > 0 || (s.alpha != Complex(1) && s.alpha != Complex(-1))) {
      accuracy.passes = product(rows, known, -1, offset(s.a, t, r0 * s.am + k0 * s.an), s.am, s.an, s.conj_a,
                                offset(s.b, t, k0 * s.bm), s.bm, s.bn, s.alpha, r.data(),
                                MatrixView<double>::row_major(Executor::host(), rounded.data(), rows, s.n))
                            .passes;
    } else {
      accuracy.passes = product(rows, 0, -1, nullptr, 0, 0, false, nullptr, 0, 0, s.alpha, r.data())
                            .passes;  // a sign changes without error
    }
    if (s.alpha == Complex(0)) {
      copy_strided(executor, r.data(), s.n, 1, executor, b_block, s.bm, s.bn, rows, s.n, t);
      continue;
    }
    const BlockRow block = read_rows(executor, s, r0, rows, k0, known);
    const Buffer inv = upload(executor, inverse(block.triangle, rows, s.lower), t),
                 a = upload(executor, block.triangle, t);
    const auto multiply = [&](const Buffer& left, const Buffer& right, Complex alpha, Complex beta, const Buffer& to) {
      (void)product(rows, rows, alpha, left.data(), rows, 1, false, right.data(), s.n, 1, beta, to.data());
    };
    multiply(inv, r, 1, 0, x);
    if (all_finite(download(executor, x.data(), rows, s.n, s.n, 1, t))) {
      copy_strided(executor, r.data(), s.n, 1, executor, d.data(), s.n, 1, rows, s.n, t);
      multiply(a, x, -1, 1, d);
      multiply(inv, d, 1, 1, x);
      // an inverse too large for the type, a zero on the diagonal, or B itself: substitution has fewer ways to overflow
    } else {
      auto values = download(executor, r.data(), rows, s.n, s.n, 1, t);
      substitute(block.triangle, rows, s.lower, values, s.n);
      const Buffer solved = upload(executor, values, t);
      copy_strided(executor, solved.data(), s.n, 1, executor, x.data(), s.n, 1, rows, s.n, t);
    }
    residual.add(block, download(executor, r.data(), rows, s.n, s.n, 1, t),
                 download(executor, x.data(), rows, s.n, s.n, 1, t), rounded, is_complex(t));
    copy_strided(executor, x.data(), s.n, 1, executor, b_block, s.bm, s.bn, rows, s.n, t);
  }
  accuracy.bound = residual.bound();
  return accuracy;
}

}  // namespace trn::blas

// gemm on the host: OpenBLAS sgemm, dgemm, cgemm or zgemm. Operands it cannot take as they are (16-bit types, no unit
// stride) are packed into a dense copy first; a C it cannot write goes through a dense copy too, read only when beta is
// not zero. The modes of float32 exist for parity with the device: operands are copied into rounded words, and each
// product of words is one sgemm.
#include <cblas.h>

#include <complex>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <trn/blas/types.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/float_types.hpp>
#include <trn/core/parallel.hpp>
#include <trn/tile/words.hpp>

#include "../kernels.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();

// A matrix OpenBLAS accepts: unit stride along one dimension, leading dimension along the other.
template <class Real> struct Operand {
  const Real* data = nullptr;
  CBLAS_TRANSPOSE trans = CblasNoTrans;  // relative to row-major
  std::int64_t ld = 1;
  std::vector<Real> packed;
};

// cblas demands ld >= the row length even for matrices of one row.
bool usable(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  return (column_stride == 1 || columns == 1) && (row_stride >= std::max<std::int64_t>(1, columns) || rows == 1);
}

// Dense row-major copy of a rows x columns matrix in Real.
template <class Real> std::vector<Real> pack(DType dtype, const void* data, std::int64_t rows, std::int64_t columns,
                                             std::int64_t row_stride, std::int64_t column_stride) {
  std::vector<Real> dense(static_cast<std::size_t>(rows * columns));
  const std::int64_t bytes = size_bytes(dtype);
  const auto* base = static_cast<const std::byte*>(data);
  const auto convert_run = [&](const void* from, Real* to, std::int64_t n) {
    convert(dtype, from, dtype_of<Real>, to, n);
  };
  if (column_stride == 1) {
    parallel_for(rows, rows * columns > 1 << 16, [&](std::int64_t i) {
      convert_run(base + i * row_stride * bytes, dense.data() + i * columns, columns);
    });
    return dense;
  }
  // Gather in 64-row bands so that a unit stride along rows is read in runs.
  constexpr std::int64_t kBand = 64;
  parallel_for((rows + kBand - 1) / kBand, rows * columns > 1 << 16, [&](std::int64_t part) {
    const std::int64_t i0 = part * kBand, band = std::min(kBand, rows - i0);
    Real run[kBand];
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::byte* column = base + (i0 * row_stride + j * column_stride) * bytes;
      if (row_stride == 1) {
        convert_run(column, run, band);
      } else {
        for (std::int64_t i = 0; i < band; ++i) convert_run(column + i * row_stride * bytes, &run[i], 1);
      }
      for (std::int64_t i = 0; i < band; ++i) dense[static_cast<std::size_t>((i0 + i) * columns + j)] = run[i];
    }
  });
  return dense;
}

template <class Real> Operand<Real> operand(DType dtype, const void* data, std::int64_t rows, std::int64_t columns,
                                            std::int64_t row_stride, std::int64_t column_stride) {
  // tf32 is stored as a float with a rounded value, so OpenBLAS can read it in place.
  const bool in_place = dtype == dtype_of<Real> || (dtype == DType::TFloat32 && std::is_same_v<Real, float>);
  if (in_place && usable(rows, columns, row_stride, column_stride)) {
    return {
        static_cast<const Real*>(data), CblasNoTrans, rows == 1 ? std::max<std::int64_t>(1, columns) : row_stride, {}};
  }
  if (in_place && usable(columns, rows, column_stride, row_stride)) {
    return {
        static_cast<const Real*>(data), CblasTrans, columns == 1 ? std::max<std::int64_t>(1, rows) : column_stride, {}};
  }
  Operand<Real> result;
  result.packed = pack<Real>(dtype, data, rows, columns, row_stride, column_stride);
  result.data = result.packed.data();
  result.ld = std::max<std::int64_t>(1, columns);
  return result;
}

using Complex = std::complex<double>;
using Complex32 = std::complex<float>;

void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, Complex alpha, const float* a, int lda,
          const float* b, int ldb, Complex beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, static_cast<float>(alpha.real()), a, lda, b, ldb,
              static_cast<float>(beta.real()), c, ldc);
}
void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, Complex alpha, const double* a, int lda,
          const double* b, int ldb, Complex beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha.real(), a, lda, b, ldb, beta.real(), c, ldc);
}
void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, Complex alpha, const Complex32* a, int lda,
          const Complex32* b, int ldb, Complex beta, Complex32* c, int ldc) {
  const Complex32 x(alpha), y(beta);
  cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, &x, a, lda, b, ldb, &y, c, ldc);
}
void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, Complex alpha, const Complex* a, int lda,
          const Complex* b, int ldb, Complex beta, Complex* c, int ldc) {
  cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

// OpenBLAS knows all four: as it is, transposed, and either of them conjugated.
CBLAS_TRANSPOSE conjugated(CBLAS_TRANSPOSE trans, bool conj) {
  if (!conj) return trans;
  return trans == CblasTrans ? CblasConjTrans : CblasConjNoTrans;
}

int narrow(std::int64_t value, const char* what) {
  require(value <= kIntMax, "blas.gemm: {} is {}, the host BLAS takes at most {}; split the product", what, value,
          kIntMax);
  return static_cast<int>(value);
}

// c = alpha a b + beta c for operands OpenBLAS takes; `depth` of the k products.
template <class Real> void product(const GemmArgs& g, std::int64_t depth, Complex alpha, const Operand<Real>& a,
                                   const Operand<Real>& b, Complex beta, Real* c, std::int64_t ldc) {
  const auto ta = conjugated(a.trans, g.conj_a), tb = conjugated(b.trans, g.conj_b);
  const int m = narrow(g.m, "m"), n = narrow(g.n, "n"), k = narrow(depth, "k");
  const int lda = narrow(a.ld, "lda"), ldb = narrow(b.ld, "ldb"), ld = narrow(ldc, "ldc");
  call(ta, tb, m, n, k, alpha, a.data, lda, b.data, ldb, beta, c, ld);
}

// The words of a dense float32 (or complex64) matrix: word[w] is the rest after the words before it, rounded to Word.
template <class Word, class Real> std::vector<std::vector<Real>> words(std::vector<Real> rest, int count) {
  constexpr std::size_t kParts = sizeof(Real) / sizeof(float);
  std::vector<std::vector<Real>> result;
  for (int w = 0; w < count; ++w) {
    std::vector<Real> word(rest.size());
    auto* from = reinterpret_cast<float*>(rest.data());
    auto* to = reinterpret_cast<float*>(word.data());
    for (std::size_t i = 0; i < rest.size() * kParts; ++i) {
      to[i] = static_cast<float>(Word(from[i]));
      from[i] -= to[i];  // exact: both have the same leading digits
    }
    result.push_back(std::move(word));
  }
  return result;
}

template <class Word, class Real>
void multiply_words(const GemmArgs& g, const tile::Words& scheme, Real* c, std::int64_t ldc) {
  const std::span<const tile::WordProduct> pairs = scheme.products;
  const int count = scheme.count;
  const auto a = words<Word>(pack<Real>(g.in, g.a, g.m, g.k, g.am, g.ak), count);
  const auto b = words<Word>(pack<Real>(g.in, g.b, g.k, g.n, g.bk, g.bn), count);
  const auto part = [&](const std::vector<Real>& x, std::int64_t offset, std::int64_t ld) {
    return Operand<Real>{x.data() + offset, CblasNoTrans, std::max<std::int64_t>(1, ld), {}};
  };
  const auto word = [](const auto& x, int w) -> const std::vector<Real>& { return x[static_cast<std::size_t>(w)]; };
  if (g.mode != Mode::Bf16x6) {
    for (const tile::WordProduct& p : pairs) {
      product<Real>(g, g.k, g.alpha, part(word(a, p.stationary), 0, g.k), part(word(b, p.moving), 0, g.n),
                    &p == pairs.data() ? g.beta : Complex(1), c, ldc);
    }
    return;
  }
  // Groups of 128 products in fp32, added in double: what compensation across groups gives on the device.
  constexpr std::int64_t kGroup = 128;
  using Wide = std::conditional_t<ComplexScalar<Real>, Complex, double>;
  const auto size = static_cast<std::size_t>(g.m * g.n);
  std::vector<Wide> sum(size);
  std::vector<Real> group(size);
  for (std::int64_t k0 = 0; k0 < g.k; k0 += kGroup) {
    const std::int64_t depth = std::min(kGroup, g.k - k0);
    for (const tile::WordProduct& p : pairs) {
      product<Real>(g, depth, 1, part(word(a, p.stationary), k0, g.k), part(word(b, p.moving), k0 * g.n, g.n),
                    &p == pairs.data() ? 0 : 1, group.data(), g.n);
    }
    for (std::size_t i = 0; i < size; ++i) sum[i] += Wide(group[i]);
  }
  const auto factor = [](Complex x) {
    if constexpr (ComplexScalar<Real>)
      return x;
    else
      return x.real();
  };
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      Wide value = factor(g.alpha) * sum[static_cast<std::size_t>(i * g.n + j)];
      if (g.beta != Complex(0)) value += factor(g.beta) * Wide(c[i * ldc + j]);
      c[i * ldc + j] = Real(value);
    }
  }
}

template <class Real> void multiply(const GemmArgs& g, Real* c, std::int64_t ldc) {
  if constexpr (std::same_as<Real, float> || std::same_as<Real, Complex32>) {
    if (g.alpha != Complex(0) && g.k > 0) {
      const tile::Words& scheme = tile::words_of(g.mode);
      if (scheme.dtype == DType::TFloat32) return multiply_words<tfloat32>(g, scheme, c, ldc);
      if (scheme.dtype == DType::BFloat16) return multiply_words<bfloat16>(g, scheme, c, ldc);
    }
  }
  product<Real>(g, g.k, g.alpha, operand<Real>(g.in, g.a, g.m, g.k, g.am, g.ak),
                operand<Real>(g.in, g.b, g.k, g.n, g.bk, g.bn), g.beta, c, ldc);
}

template <class Real> void run(const GemmArgs& g) {
  if (g.out == dtype_of<Real>) {
    if (usable(g.m, g.n, g.cm, g.cn)) return multiply<Real>(g, static_cast<Real*>(g.c), g.m == 1 ? g.n : g.cm);
    if (usable(g.n, g.m, g.cn, g.cm)) return run<Real>(transposed(g));
  }
  std::vector<Real> dense = g.beta != Complex(0) ? pack<Real>(g.out, g.c, g.m, g.n, g.cm, g.cn)
                                                 : std::vector<Real>(static_cast<std::size_t>(g.m * g.n));
  multiply<Real>(g, dense.data(), g.n);
  const std::int64_t bytes = size_bytes(g.out);
  auto* base = static_cast<std::byte*>(g.c);
  parallel_for(g.m, g.m * g.n > 1 << 16, [&](std::int64_t i) {
    const Real* row = dense.data() + i * g.n;
    if (g.cn == 1) {
      convert(dtype_of<Real>, row, g.out, base + i * g.cm * bytes, g.n);
    } else {
      for (std::int64_t j = 0; j < g.n; ++j)
        convert(dtype_of<Real>, row + j, g.out, base + (i * g.cm + j * g.cn) * bytes, 1);
    }
  });
}

}  // namespace

void gemm(const Executor&, const GemmArgs& args) {
  if (args.in == DType::Float64) return run<double>(args);
  if (args.in == DType::Complex64) return run<Complex32>(args);
  if (args.in == DType::Complex128) return run<Complex>(args);
  run<float>(args);
}

}  // namespace trn::blas::host

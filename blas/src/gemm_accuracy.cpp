// Norms, bounds per mode, and the choice of a mode for a target error.
#include "gemm_accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/tile/machine.hpp>

namespace trn::blas {

namespace {

// Dense row-major magnitudes of a strided matrix on any executor, in double; complex elements by their modulus.
std::vector<double> magnitudes(const Executor& executor, DType dtype, const void* data, std::int64_t rows, std::int64_t columns,
                               std::int64_t row_stride, std::int64_t column_stride) {
  const std::int64_t count = rows * columns, parts = is_complex(dtype) ? 2 : 1;
  std::vector<std::byte> raw(static_cast<std::size_t>(count * size_bytes(dtype)));
  const Shape shape{rows, columns};
  const Strides from{row_stride, column_stride}, to = row_major_strides(shape);
  const Executor host = Executor::host();
  trn::detail::copy_elements({&executor, const_cast<void*>(data), &shape, &from}, {&host, raw.data(), &shape, &to}, size_bytes(dtype));
  std::vector<double> values(static_cast<std::size_t>(count * parts));
  to_double(real_of(dtype), raw.data(), values.data(), count * parts);
  if (parts == 1) {
    for (double& x : values) x = std::abs(x);
    return values;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) values[i] = std::hypot(values[2 * i], values[2 * i + 1]);
  values.resize(static_cast<std::size_t>(count));
  return values;
}

// Row norms of a dense matrix of magnitudes, scaled so that squares neither overflow nor vanish.
std::vector<double> row_norms(const std::vector<double>& x, std::int64_t rows, std::int64_t columns) {
  std::vector<double> norms(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = x.data() + i * columns;
    const double largest = columns == 0 ? 0 : *std::max_element(row, row + columns);
    if (!(largest > 0) || !std::isfinite(largest)) {
      norms[static_cast<std::size_t>(i)] = largest;
      continue;
    }
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += (row[j] / largest) * (row[j] / largest);
    norms[static_cast<std::size_t>(i)] = largest * std::sqrt(sum);
  }
  return norms;
}

// The rows of 128 products that one matmul sums; the same on every machine.
double groups(std::int64_t k) {
  const std::int64_t group = tile::machines().front().partitions;
  return static_cast<double>((k + group - 1) / group);
}

// Additions on the way of one product into the result.
double additions(Family family, std::int64_t k, Mode mode) {
  const auto group = static_cast<double>(std::min<std::int64_t>(k, tile::machines().front().partitions));
  if (mode == Mode::Bf16x6) return group + 7;  // six products of one group; the groups are added with compensation
  if (family == Family::Host) return static_cast<double>(k) + (mode == Mode::Tf32x3 ? 2 : 0);
  return group + (mode == Mode::Tf32x3 ? 3 : 1) * groups(k);
}

// What rounding or dropping words of the operands costs, relative to |a||b|.
double operand_error(Mode mode) {
  constexpr double u = 0x1p-24;
  switch (mode) {
    case Mode::Tf32: return 2 * 0x1p-11 + 0x1p-22;
    case Mode::Bf16: return 2 * 0x1p-8 + 0x1p-16;
    case Mode::Tf32x3: return 12 * u;
    case Mode::Bf16x6: return 3 * u;
    default: return 0;
  }
}

bool is_narrow(DType in) { return in == DType::BFloat16 || in == DType::Float16 || in == DType::TFloat32; }

// The modes of an operand type, cheapest first. Native float64 exists on the host only; there it is also the cheapest for
// float32, because the host emulates the others.
std::vector<Mode> modes_of(DType in, Family family) {
  const DType real = real_of(in);
  if (real == DType::Float64) return family == Family::Host ? std::vector{Mode::Native, Mode::Exact} : std::vector{Mode::Exact};
  if (is_narrow(real)) return {Mode::Native};
  if (family == Family::Host) return {Mode::Native, Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Bf16x6, Mode::Exact};
  return {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6, Mode::Exact};
}

}  // namespace

double gemm_error_bound(Family family, DType in, DType out, std::int64_t k, Mode mode) {
  const bool wide = real_of(in) == DType::Float64;
  const double u = unit_roundoff(wide ? DType::Float64 : DType::Float32);
  const double w = wide || real_of(out) == DType::Float32 ? 0 : unit_roundoff(out);
  const double terms = additions(family, k, mode);
  // A complex product is two real ones, each rounded; |re| + |im| <= sqrt(2) |z| (Higham, section 3.6).
  const double factor = is_complex(in) ? 2 * std::sqrt(2.0) : 1;
  return factor * ((terms + (is_complex(in) ? 4 : 3)) * u + operand_error(mode)) + w;
}

int passes_of(Mode mode) {
  switch (mode) {
    case Mode::Tf32x3: return 3;
    case Mode::Bf16x6: return 6;
    default: return 1;
  }
}

bool offers(Mode mode, DType in, Family family) {
  const auto modes = modes_of(in, family);
  return std::ranges::find(modes, mode) != modes.end();
}

void require_mode(const char* operation, Mode mode, DType in, Family family) {
  if (offers(mode, in, family)) return;
  std::string list;
  for (const Mode m : modes_of(in, family)) list += (list.empty() ? "" : ", ") + std::string(name(m));
  fail<NotImplemented>("{}: precision '{}' is not offered for {} operands on the {}; use one of: {}{}", operation, name(mode), name(in),
                       name(family), list, real_of(in) == DType::Float64 && family == Family::Device ? ", or the host executor" : "");
}

GemmNorms gemm_norms(const Executor& executor, const GemmArgs& g) {
  return {row_norms(magnitudes(executor, g.in, g.a, g.m, g.k, g.am, g.ak), g.m, g.k),
          row_norms(magnitudes(executor, g.in, g.b, g.n, g.k, g.bn, g.bk), g.n, g.k)};
}

double range_error(DType in, std::int64_t terms, const GemmNorms& norms) {
  const bool wide = real_of(in) == DType::Float64;
  const auto least = [](const std::vector<double>& x) {  // of the rows that are not zero
    double smallest = std::numeric_limits<double>::infinity();
    for (const double v : x) smallest = v > 0 ? std::min(smallest, v) : smallest;
    return smallest;
  };
  const double a = least(norms.a), b = least(norms.b), k = static_cast<double>(terms);
  const double largest = (norms.a.empty() ? 0 : *std::ranges::max_element(norms.a)) * (norms.b.empty() ? 0 : *std::ranges::max_element(norms.b));
  const double limit = wide ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
  if (!(4 * largest <= limit)) return std::numeric_limits<double>::infinity();
  // Each product and each word of an operand may lose half the smallest subnormal; ||x||_1 <= sqrt(k) ||x||_2.
  const double lost = wide ? 0x1p-1073 : 0x1p-148;
  return k * lost / (a * b) + (wide ? 0 : std::sqrt(k) * lost * (1 / a + 1 / b));
}

double bound_with_range(Family family, const GemmArgs& g, Mode mode, const GemmNorms& norms) {
  return gemm_error_bound(family, g.in, g.out, g.k, mode) + range_error(g.in, g.k, norms);
}

std::vector<double> structured_norms(const Executor& executor, DType dtype, const void* a, std::int64_t m, std::int64_t am, std::int64_t an,
                                     Structure structure, bool lower, bool unit) {
  std::vector<double> x = magnitudes(executor, dtype, a, m, m, am, an);
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return x[static_cast<std::size_t>(i * m + j)]; };
  if (structure == Structure::Hermitian) {  // the real parts of the diagonal alone
    const std::vector<double> diagonal = magnitudes(executor, real_of(dtype), a, m, 1, 2 * (am + an), 1);
    for (std::int64_t i = 0; i < m; ++i) at(i, i) = diagonal[static_cast<std::size_t>(i)];
  }
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      if (structure != Structure::Triangular) {
        if (j > i) at(i, j) = at(j, i);
      } else if (lower ? j > i : j < i) {
        at(i, j) = 0;
      }
    }
    if (unit) at(i, i) = 1;
  }
  return row_norms(x, m, m);
}

void refuse_target(const char* operation, DType in, const Executor& executor, double target, double best) {
  fail<InvalidArgument>("{}: no precision for {} on '{}' has a bound of {} for these operands; the best is {}", operation, name(in), executor.name(),
                        target, best);
}

std::optional<Accuracy> cheapest_mode(Family family, const GemmArgs& g, const GemmNorms& norms, double target) {
  for (const Mode mode : modes_of(g.in, family)) {
    if (mode == Mode::Exact) continue;
    const double bound = bound_with_range(family, g, mode, norms);
    if (bound <= target) return Accuracy{mode, passes_of(mode), bound};
  }
  return std::nullopt;
}

std::vector<double> magnitudes_of_c(const Executor& executor, const GemmArgs& g) {
  if (g.beta == std::complex<double>(0)) return {};
  return magnitudes(executor, g.out, g.c, g.m, g.n, g.cm, g.cn);
}

void write_componentwise(const MatrixView<double>& out, double bound, const GemmArgs& g, const GemmNorms& norms, const std::vector<double>& c) {
  constexpr double kUp = 1 + 0x1p-40;  // covers the roundings of the norms and of this formula
  const double alpha = std::abs(g.alpha), beta = std::abs(g.beta);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      const double product = alpha == 0 ? 0 : alpha * norms.a[static_cast<std::size_t>(i)] * norms.b[static_cast<std::size_t>(j)];
      const double old = c.empty() ? 0 : beta * c[static_cast<std::size_t>(i * g.n + j)];
      out.data()[i * out.row_stride() + j * out.column_stride()] = bound * (product + old) * kUp;
    }
  }
}

}  // namespace trn::blas

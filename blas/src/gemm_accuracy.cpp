// Norms, bounds per mode, and the choice of a mode for a target error.
//
// Range. Let s = ||a_i|| ||b_j||, P the products of words, t the word's `lost` (trn/tile/words.hpp), h half the
// smallest denormal of the type that sums, g that of the result's type. To first order, and with a factor 2 for what
// second order adds,
//
//   every product that is rounded may lose h: (P + 1) k h                   (the low and high passes of Native are two)
//   both operands of every product may lose t: 2 t (||a_i||_1 + ||b_j||_1) + k t^2,  ||x||_1 <= sqrt(k) ||x||_2
//   alpha times the sum, beta times C, their sum and the result's type: (P + 3) g
//
// and a complex element 2 sqrt(2) times that. Relative to the smallest |alpha| s and |beta c| that are not zero this is
// what underflow adds to a bound; elements of which both are zero come out as zero.
// Overflow: words grow by (1 + 2^-8)^2 < 1 + 2^-6, and every partial sum stays below (1 + 2^-6)(1 + 2 bound) s, also
// the parts of complex ones (Cauchy); after alpha and beta below (1 + 2^-6)(1 + 2 bound)(|alpha| s + |beta c|). Where
// that may exceed the largest number of its type there is no bound.
#include "gemm_accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/tile/words.hpp>

#include "checks.hpp"

namespace trn::blas {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Dense row-major magnitudes of a strided matrix on any executor, in double; complex elements by their modulus.
std::vector<double> magnitudes(const Executor& executor, DType dtype, const void* data, std::int64_t rows,
                               std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  const std::int64_t count = rows * columns, parts = is_complex(dtype) ? 2 : 1;
  std::vector<std::byte> raw(static_cast<std::size_t>(count * size_bytes(dtype)));
  const Shape shape{rows, columns};
  const Strides from{row_stride, column_stride}, to = row_major_strides(shape);
  const Executor host = Executor::host();
  trn::detail::copy_elements({&executor, const_cast<void*>(data), &shape, &from}, {&host, raw.data(), &shape, &to},
                             size_bytes(dtype));
  std::vector<double> values(static_cast<std::size_t>(count * parts));
  to_double(real_of(dtype), raw.data(), values.data(), count * parts);
  if (parts == 1) {
    for (double& x : values) x = std::abs(x);
    return values;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    values[i] = std::hypot(values[2 * i], values[2 * i + 1]);
  values.resize(static_cast<std::size_t>(count));
  return values;
}

// Row norms of a dense matrix of magnitudes, scaled so that squares neither overflow nor vanish; infinite for rows that
// hold a number that is not finite. Raises `top` to the largest number, and clears `finite`.
std::vector<double> row_norms(const std::vector<double>& x, std::int64_t rows, std::int64_t columns, double& top,
                              bool& finite) {
  std::vector<double> norms(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = x.data() + i * columns;
    double largest = 0, sum = 0;
    bool regular = true;
    for (std::int64_t j = 0; j < columns; ++j) {
      regular = regular && std::isfinite(row[j]);
      largest = std::max(largest, row[j]);
    }
    double& norm = norms[static_cast<std::size_t>(i)];
    if (!regular) {
      norm = kInfinity, finite = false;
      continue;
    }
    top = std::max(top, largest);
    if (largest == 0) continue;
    for (std::int64_t j = 0; j < columns; ++j) sum += (row[j] / largest) * (row[j] / largest);
    norm = largest * std::sqrt(sum);
  }
  return norms;
}

bool is_narrow(DType in) { return in == DType::BFloat16 || in == DType::Float16 || in == DType::TFloat32; }

// The modes of an operand type, cheapest first. Native float64 exists on the host only; there it is also the cheapest
// for float32, because the host emulates the others.
std::vector<Mode> modes_of(DType in, Family family) {
  const DType real = real_of(in);
  if (real == DType::Float64)
    return family == Family::Host ? std::vector{Mode::Native, Mode::Exact} : std::vector{Mode::Exact};
  if (is_narrow(real)) return {Mode::Native};
  if (family == Family::Host) return {Mode::Native, Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Bf16x6, Mode::Exact};
  return {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6, Mode::Exact};
}

}  // namespace

double gemm_error_bound(Family family, DType in, DType out, std::int64_t k, Mode mode) {
  const DType real = real_of(in);
  const bool wide = real == DType::Float64;
  const double u = unit_roundoff(wide ? DType::Float64 : DType::Float32);
  const double w = wide || real_of(out) == DType::Float32 ? 0 : unit_roundoff(out);
  double sums = 0;
  if (wide || (is_narrow(real) && family == Family::Host))
    sums = static_cast<double>(k) * u;
  else if (is_narrow(real))
    sums = tile::narrow_roundings(k) * u;
  else if (mode != Mode::Exact) {
    const tile::Words& words = tile::words_of(mode);
    sums = family == Family::Host ? tile::host_sum_error(words, k) : tile::split_sum_error(words, k);
  }
  // A complex product is two real ones, each rounded; |re| + |im| <= sqrt(2) |z| (Higham, section 3.6).
  return is_complex(in) ? 2 * std::sqrt(2.0) * (sums + 4 * u) + w : sums + 3 * u + w;
}

int passes_of(Mode mode) { return mode == Mode::Exact ? 1 : static_cast<int>(tile::words_of(mode).products.size()); }

bool offers(Mode mode, DType in, Family family) {
  const auto modes = modes_of(in, family);
  return std::ranges::find(modes, mode) != modes.end();
}

void require_mode(const char* operation, Mode mode, DType in, Family family) {
  if (offers(mode, in, family)) return;
  std::string list;
  for (const Mode m : modes_of(in, family)) list += (list.empty() ? "" : ", ") + std::string(name(m));
  fail<NotImplemented>("{}: precision '{}' is not offered for {} operands on the {}; use one of: {}{}", operation,
                       name(mode), name(in), name(family), list,
                       real_of(in) == DType::Float64 && family == Family::Device ? ", or the host executor" : "");
}

GemmNorms gemm_norms(const Executor& executor, const GemmArgs& g) {
  GemmNorms n;
  n.a = row_norms(magnitudes(executor, g.in, g.a, g.m, g.k, g.am, g.ak), g.m, g.k, n.a_top, n.finite);
  n.b = row_norms(magnitudes(executor, g.in, g.b, g.n, g.k, g.bn, g.bk), g.n, g.k, n.b_top, n.finite);
  return n;
}

void ProductSizes::add_c(double c) {
  if (!std::isfinite(c))
    norms.finite = false;
  else if (c > 0)
    c_least = std::min(c_least, c), c_largest = std::max(c_largest, c);
}

ProductSizes sizes_of(const Executor& executor, const GemmArgs& g) {
  ProductSizes sizes{.norms = gemm_norms(executor, g), .alpha = std::abs(g.alpha), .beta = std::abs(g.beta)};
  for (const double c : magnitudes_of_c(executor, g)) sizes.add_c(c);
  return sizes;
}

namespace {

// What a mode can lose at the ends of the range: see the top of this file.
struct Range {
  double products, word_lost, word_overflow, sum_lost, sum_limit, result_lost, result_limit, factor;
  double word_part;  // what the words of one operand lose, relative to the other's norm

  Range(const GemmArgs& g, Mode mode) {
    const DType in = real_of(g.in), out = real_of(g.out);
    const bool wide = in == DType::Float64, split = in == DType::Float32 && mode != Mode::Native;
    const tile::Words& words = tile::words_of(split ? mode : Mode::Native);
    products = static_cast<double>(words.products.size());
    word_lost = words.lost, word_overflow = split ? words.overflow : kInfinity;
    sum_lost = wide ? 0x1p-1074 : 0x1p-150;  // half the smallest denormal; double has no number for that
    sum_limit = wide ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
    result_lost = sum_lost, result_limit = sum_limit;
    if (out == DType::BFloat16) result_lost = 0x1p-134, result_limit = 0x1.fep127;
    if (out == DType::Float16) result_lost = 0x1p-25, result_limit = 65504;
    factor = is_complex(g.in) ? 2 * std::sqrt(2.0) : 1;
    word_part = 2 * word_lost * std::sqrt(static_cast<double>(g.k));
  }
  // What the sum of an element loses beside word_part (||a|| + ||b||).
  [[nodiscard]] double of_sum(std::int64_t k) const {
    return static_cast<double>(k) * ((products + 1) * sum_lost + word_lost * word_lost);
  }
  [[nodiscard]] double of_result() const { return (products + 3) * result_lost; }
  // Whether an element with these magnitudes of its sum and of all that is added up stays in range.
  [[nodiscard]] bool holds(double bound, double sum, double total) const {
    const double growth = (1 + 0x1p-6) * (1 + 2 * bound);
    return growth * sum <= sum_limit && growth * total <= result_limit;
  }
};

double largest_of(const std::vector<double>& x) { return x.empty() ? 0 : *std::ranges::max_element(x); }
double least_of(const std::vector<double>& x) {  // of the rows that are not zero
  double least = kInfinity;
  for (const double v : x) least = v > 0 ? std::min(least, v) : least;
  return least;
}

}  // namespace

double bound_in_range(double bound, const GemmArgs& g, Mode mode, const ProductSizes& z, int products) {
  const GemmNorms& n = z.norms;
  const Range range(g, mode);
  const double times = products;
  if (!n.finite || n.a_top >= range.word_overflow || n.b_top >= range.word_overflow) return kInfinity;
  const double sum = largest_of(n.a) * largest_of(n.b);
  if (!range.holds(bound, sum, times * z.alpha * sum + z.beta * z.c_largest)) return kInfinity;
  return bound + times * lost_to_underflow(g, mode, z);
}

double lost_to_underflow(const GemmArgs& g, Mode mode, const ProductSizes& z) {
  const Range range(g, mode);
  const double a = least_of(z.norms.a), b = least_of(z.norms.b);
  double lost = 0;
  if (g.k > 0 && a < kInfinity && b < kInfinity) {
    // Divided by |alpha| a b one after another: the product may leave the range of double.
    lost = range.of_sum(g.k) / a / b + range.of_result() / a / b / z.alpha + range.word_part * (1 / a + 1 / b);
  }
  if (z.c_least <= z.c_largest) lost += range.of_result() / z.c_least / z.beta;
  return range.factor * lost;
}

double bound_with_range(Family family, const GemmArgs& g, Mode mode, const ProductSizes& sizes, int products) {
  return bound_in_range(gemm_error_bound(family, g.in, g.out, g.k, mode), g, mode, sizes, products);
}

void refuse_target(const char* operation, DType in, const Executor& executor, double target, double best) {
  throw TargetRefused(
      fmt::format("{}: no precision for {} on '{}' has a bound of {} for these operands; the best is {}", operation,
                  name(in), executor.name(), target, best),
      target);
}

std::optional<Accuracy> cheapest_mode(Family family, const GemmArgs& g, const ProductSizes& sizes, double target,
                                      int products) {
  for (const Mode mode : modes_of(g.in, family)) {
    if (mode == Mode::Exact) continue;
    const double bound = bound_with_range(family, g, mode, sizes, products);
    if (bound <= target) return Accuracy{mode, passes_of(mode), bound};
  }
  return std::nullopt;
}

void check_bounds(const char* operation, const Executor& executor, const Bounds& bounds, std::int64_t rows,
                  std::int64_t columns, std::initializer_list<NamedExtent> operands) {
  if (!bounds) return;
  require(bounds->executor().family() == Family::Host && bounds->rows() == rows && bounds->columns() == columns,
          "{}: the componentwise bound is {} x {} on '{}', C is {} x {}; give it host memory of C's shape", operation,
          bounds->rows(), bounds->columns(), bounds->executor().name(), rows, columns);
  constexpr const char* kName = "the componentwise bound";
  checks::check_address(operation, kName, bounds->data(), rows == 0 || columns == 0);
  const checks::Extent extent = checks::extent(*bounds);
  checks::distinct_elements(operation, kName, extent);
  if (executor.family() != Family::Host) return;
  for (const NamedExtent& x : operands) checks::no_overlap(operation, x.name, x.extent, kName, extent);
}

std::vector<double> magnitudes_of_c(const Executor& executor, const GemmArgs& g) {
  if (g.beta == std::complex<double>(0)) return {};
  return magnitudes(executor, g.out, g.c, g.m, g.n, g.cm, g.cn);
}

void write_componentwise(const MatrixView<double>& out, Family family, double bound, const GemmArgs& g,
                         const GemmNorms& norms, const std::vector<double>& c) {
  constexpr double kUp = 1 + 0x1p-40;  // covers the roundings of the norms and of this formula
  const double alpha = std::abs(g.alpha), beta = std::abs(g.beta);
  const Range range(g, g.mode);
  const bool none = norms.a_top >= range.word_overflow || norms.b_top >= range.word_overflow ||
                    (family == Family::Device && !norms.finite);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      const double a = g.k == 0 ? 0 : norms.a[static_cast<std::size_t>(i)],
                   b = g.k == 0 ? 0 : norms.b[static_cast<std::size_t>(j)];
      const double sum = a == 0 || b == 0 ? (std::isfinite(a) && std::isfinite(b) ? 0 : kInfinity) : a * b;
      const double old = c.empty() ? 0 : beta * c[static_cast<std::size_t>(i * g.n + j)], total = alpha * sum + old;
      double& element = out.data()[i * out.row_stride() + j * out.column_stride()];
      element = kInfinity;
      if (none || !range.holds(bound, sum, total)) continue;
      element = bound * total * kUp;
      if (a > 0 && b > 0) element += range.factor * alpha * (range.of_sum(g.k) + range.word_part * (a + b));
      if ((a > 0 && b > 0) || old > 0) element += range.factor * range.of_result();
    }
  }
}

}  // namespace trn::blas

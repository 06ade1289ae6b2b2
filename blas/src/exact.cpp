// Precision Exact: statistics of the operands, the choice of scaling and moduli, the bound, and the rounding of the result.
//
// Rows of op(A) and columns of op(B) that hold an infinity or a NaN take no part in the integer product; the elements of C
// they reach are computed as dgemm would, in double, term by term.
#include "exact.hpp"

#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <trn/blas/exactness.hpp>
#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>

#include "gemm_accuracy.hpp"

namespace trn::blas {

namespace {

using exact::Wide;
__extension__ using Quad = __float128;
using Complex = std::complex<double>;

constexpr KernelTable<ExactArgs> table(const char* operation) { return {operation, host::exact_product, device::exact_product}; }

// Dense row-major copy of a strided matrix on any executor, as doubles (two per complex element).
std::vector<double> dense(const Executor& executor, DType dtype, const void* data, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                          std::int64_t column_stride) {
  const std::int64_t parts = is_complex(dtype) ? 2 : 1;
  std::vector<std::byte> raw(static_cast<std::size_t>(rows * columns * size_bytes(dtype)));
  const Shape shape{rows, columns};
  const Strides from{row_stride, column_stride}, to = row_major_strides(shape);
  const Executor host = Executor::host();
  trn::detail::copy_elements({&executor, const_cast<void*>(data), &shape, &from}, {&host, raw.data(), &shape, &to}, size_bytes(dtype));
  std::vector<double> values(static_cast<std::size_t>(rows * columns * parts));
  to_double(real_of(dtype), raw.data(), values.data(), rows * columns * parts);
  return values;
}

// Norms of a vector, divided by its row's 2^exponent.
struct Norms {
  double one = 0, two = 0, largest = 0;
  friend Norms operator+(const Norms& x, const Norms& y) { return {x.one + y.one, x.two + y.two, x.largest + y.largest}; }
};
// |x . y| for vectors with these norms (Hoelder).
double product_bound(const Norms& x, const Norms& y) { return std::min({x.one * y.largest, x.two * y.two, x.largest * y.one}); }

// One side of the product: real rows of `depth` numbers, and what the plan needs to know of each.
struct Operand {
  std::vector<double> x;                  // rows x depth
  std::int64_t rows = 0, depth = 0;
  std::vector<int> exponent;              // |x| < 2^exponent
  std::vector<bool> special;              // holds an infinity or a NaN: all its numbers are replaced by 0
  std::vector<Norms> norms;               // upper bounds
  int span = 0;                           // bits that represent every row exactly
  std::vector<double> original;           // x before the replacement; empty when nothing was replaced
};

void measure(Operand& s) {
  const auto rows = static_cast<std::size_t>(s.rows);
  s.exponent.assign(rows, 0);
  s.special.assign(rows, false);
  s.norms.assign(rows, {});
  for (std::size_t i = 0; i < rows; ++i) {
    double* row = s.x.data() + static_cast<std::int64_t>(i) * s.depth;
    double largest = 0;
    for (std::int64_t p = 0; p < s.depth; ++p) {
      if (!std::isfinite(row[p])) s.special[i] = true;
      largest = std::max(largest, std::abs(row[p]));
    }
    if (s.special[i]) {
      if (s.original.empty()) s.original = s.x;
      std::fill(row, row + s.depth, 0.0);
      continue;
    }
    if (largest == 0) continue;
    s.exponent[i] = std::ilogb(largest) + 1;
    double sum = 0, squares = 0;
    int lowest = s.exponent[i];
    for (std::int64_t p = 0; p < s.depth; ++p) {
      if (row[p] == 0) continue;
      const double r = std::ldexp(std::abs(row[p]), -s.exponent[i]);  // below 1; may vanish, then kUp covers it
      sum += r;
      squares += r * r;
      int e = 0;
      const auto significand = static_cast<std::uint64_t>(std::ldexp(std::abs(std::frexp(row[p], &e)), 53));
      lowest = std::min(lowest, e - 53 + std::countr_zero(significand));
    }
    constexpr double kUp = 1 + 0x1p-30;
    s.norms[i] = {sum * kUp, std::sqrt(squares) * kUp, std::ldexp(largest, -s.exponent[i])};
    s.span = std::max(s.span, s.exponent[i] - lowest);
  }
}

// op(A), m x k complex numbers as pairs, becomes [Re, -Im; Im, Re]; op(B), n x k by columns, becomes [Re, Im].
Operand left_side(const Executor& executor, const GemmArgs& g) {
  Operand s;
  std::vector<double> raw = dense(executor, g.in, g.a, g.m, g.k, g.am, g.ak);
  if (!is_complex(g.in)) {
    s = {std::move(raw), g.m, g.k, {}, {}, {}, 0, {}};
  } else {
    s.rows = 2 * g.m, s.depth = 2 * g.k;
    s.x.resize(static_cast<std::size_t>(s.rows * s.depth));
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t p = 0; p < g.k; ++p) {
        const double re = raw[static_cast<std::size_t>(2 * (i * g.k + p))];
        const double im = (g.conj_a ? -1 : 1) * raw[static_cast<std::size_t>(2 * (i * g.k + p) + 1)];
        double *real = s.x.data() + i * s.depth, *imaginary = s.x.data() + (g.m + i) * s.depth;
        real[p] = re, real[g.k + p] = -im, imaginary[p] = im, imaginary[g.k + p] = re;
      }
    }
  }
  measure(s);
  return s;
}

Operand right_side(const Executor& executor, const GemmArgs& g) {
  Operand s;
  std::vector<double> raw = dense(executor, g.in, g.b, g.n, g.k, g.bn, g.bk);
  if (!is_complex(g.in)) {
    s = {std::move(raw), g.n, g.k, {}, {}, {}, 0, {}};
  } else {
    s.rows = g.n, s.depth = 2 * g.k;
    s.x.resize(static_cast<std::size_t>(s.rows * s.depth));
    for (std::int64_t j = 0; j < g.n; ++j) {
      for (std::int64_t p = 0; p < g.k; ++p) {
        s.x[static_cast<std::size_t>(j * s.depth + p)] = raw[static_cast<std::size_t>(2 * (j * g.k + p))];
        s.x[static_cast<std::size_t>(j * s.depth + g.k + p)] = (g.conj_b ? -1 : 1) * raw[static_cast<std::size_t>(2 * (j * g.k + p) + 1)];
      }
    }
  }
  measure(s);
  return s;
}

struct Plan {
  int moduli = 0, bits_a = 0, bits_b = 0;
  std::vector<std::int32_t> shift_a, shift_b;
  double scaling = 0;                  // a bound of what scaling costs, relative to ||a_i|| ||b_j||, before it is done
};

// The bits that `moduli` have room for: depth 2^(bits_a + bits_b) <= 0.499 P. even: as many for one operand as for the other.
Plan plan_for(int moduli, const Operand& a, const Operand& b, bool even) {
  const int budget = static_cast<int>(std::floor(exact::log2_product(moduli) - 1.003 - std::log2(static_cast<double>(std::max<std::int64_t>(1, a.depth)))));
  const int span_a = std::max(1, a.span), span_b = std::max(1, b.span);
  int bits_a = std::min({span_a, exact::kBitsMax, std::max(budget / 2, budget - span_b)});
  int bits_b = std::min({span_b, exact::kBitsMax, budget - bits_a});
  bits_a = std::min({span_a, exact::kBitsMax, budget - bits_b});
  if (even) bits_a = bits_b = std::min(bits_a, bits_b);
  Plan plan;
  plan.moduli = moduli;
  if (bits_a < 1 || bits_b < 1) {
    plan.scaling = std::numeric_limits<double>::infinity();
    return plan;
  }
  const auto scale = [](const Operand& s, int bits, std::vector<std::int32_t>& shift) {
    constexpr std::int32_t kVanish = -8192;
    for (std::size_t i = 0; i < s.exponent.size(); ++i) shift.push_back(s.special[i] ? kVanish : bits - s.exponent[i]);
    return bits >= s.span ? 0 : std::ldexp(exact::kRounding, -bits);
  };
  plan.bits_a = bits_a;
  plan.bits_b = bits_b;
  const double unit_a = scale(a, bits_a, plan.shift_a), unit_b = scale(b, bits_b, plan.shift_b);
  // |C - C'| <= unit_a ||b||_1 + unit_b ||a'||_1, ||a'||_1 <= ||a||_1 + depth unit_a, all relative to the rows' powers of two.
  const auto worst = [](const Operand& s, bool norm1) {  // of norm1 / norm2, or of 1 / norm2
    double largest = 0;
    for (const Norms& n : s.norms) {
      if (n.two > 0) largest = std::max(largest, (norm1 ? n.one : 1) / n.two);
    }
    return largest;
  };
  const double a1 = worst(a, true), b1 = worst(b, true), a0 = worst(a, false), b0 = worst(b, false);
  plan.scaling = unit_a * a0 * b1 + unit_b * b0 * (a1 + static_cast<double>(a.depth) * unit_a * a0);
  return plan;
}

// x - x' of one number, in units of the row's integers: x' is what the kernels multiply.
long double scaling_error(double x, int shift, long double power, bool wide) {  // power = 2^shift
  const std::int64_t q = exact::integer(wide ? exact::slice(x, shift) : exact::slice(static_cast<float>(x), shift));
  return static_cast<long double>(x) * power - static_cast<long double>(q);
}

// What scaling did to each row, as norms.
std::vector<Norms> scaling_errors(const Operand& s, const std::vector<std::int32_t>& shift, int bits, bool wide) {
  std::vector<Norms> errors(static_cast<std::size_t>(s.rows));
  if (bits >= s.span) return errors;
#pragma omp parallel for if (s.rows * s.depth > 1 << 14)
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (s.special[at]) continue;
    double sum = 0, squares = 0, largest = 0;
    const long double power = std::ldexp(1.0L, shift[at]);
    for (std::int64_t p = 0; p < s.depth; ++p) {
      const auto error = static_cast<double>(std::abs(scaling_error(s.x[static_cast<std::size_t>(i * s.depth + p)], shift[at], power, wide)));
      sum += error;
      squares += error * error;
      largest = std::max(largest, error);
    }
    constexpr double kUp = 1 + 0x1p-30;
    errors[at] = {std::ldexp(sum * kUp, -bits), std::ldexp(std::sqrt(squares) * kUp, -bits), std::ldexp(largest * kUp, -bits)};
  }
  return errors;
}

// A matrix divided by its rows' 2^exponent, and the errors of scaling in the same unit, as doubles.
struct Scaled { std::vector<double> x, error; };
Scaled scaled_rows(const Operand& s, const std::vector<std::int32_t>& shift, int bits, bool wide) {
  Scaled result{s.x, s.x};
#pragma omp parallel for if (s.rows * s.depth > 1 << 14)
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const long double power = std::ldexp(1.0L, shift[static_cast<std::size_t>(i)]);
    for (std::int64_t p = 0; p < s.depth; ++p) {
      const auto at = static_cast<std::size_t>(i * s.depth + p), row = static_cast<std::size_t>(i);
      result.error[at] = static_cast<double>(std::ldexp(scaling_error(s.x[at], shift[row], power, wide), -bits));
      result.x[at] = std::ldexp(s.x[at], -s.exponent[row]);
    }
  }
  return result;
}

// value * 2^exponent for a value of the integer product.
Quad scaled(const exact::Leading& v, int exponent) {
  Quad x = static_cast<Quad>(v.high) + static_cast<Quad>(v.low);
  int e = v.exponent + exponent;
  for (; e > 1000; e -= 1000) x *= 0x1p1000;
  for (; e < -1000; e += 1000) x *= 0x1p-1000;
  return x * static_cast<Quad>(std::ldexp(1.0, e));
}

class Finish {
 public:
  Finish(const Executor& executor, const GemmArgs& g, const Operand& a, const Operand& b, const Plan& plan, const std::optional<MatrixView<double>>& bounds,
         const ExactRegion& region)
      : region_(region), g_(g), a_(a), b_(b), plan_(plan), bounds_(bounds), parts_(is_complex(g.in) ? 2 : 1), wide_(real_of(g.in) == DType::Float64) {
    error_a_ = scaling_errors(a, plan.shift_a, plan.bits_a, wide_);
    error_b_ = scaling_errors(b, plan.shift_b, plan.bits_b, wide_);
    if (g.beta != Complex(0)) read_c(executor);
    real_.resize(static_cast<std::size_t>(g.m * g.n));
    if (parts_ == 2) imaginary_.resize(real_.size());
    rounding_.resize(real_.size());
  }

  // Row r of the integer product: a real row, or for r >= m the imaginary parts of row r - m.
  void row(std::int64_t r, const Wide* x) {
    const std::int64_t i = r % g_.m;
    std::vector<Quad>& part = r < g_.m ? real_ : imaginary_;
    for (std::int64_t j = 0; j < g_.n; ++j) part[static_cast<std::size_t>(i * g_.n + j)] = value(r, j, x[j]);
  }

  void store(const Executor& executor) {
    std::vector<double> wide(static_cast<std::size_t>(g_.m * g_.n * parts_));
    std::vector<float> narrow(wide_ ? 0 : wide.size());
#pragma omp parallel for if (g_.m * g_.n > 1 << 12)
    for (std::int64_t i = 0; i < g_.m; ++i) {
      for (std::int64_t j = 0; j < g_.n; ++j) {
        const auto at = static_cast<std::size_t>(i * g_.n + j);
        Quad result[2] = {};
        if (region_.lower && j > i) continue;
        combine(at, result);
        if (region_.hermitian && i == j) result[1] = 0;
        double error = 0;
        for (std::int64_t part = 0; part < parts_; ++part) {
          const auto to = at * static_cast<std::size_t>(parts_) + static_cast<std::size_t>(part);
          if (wide_) wide[to] = static_cast<double>(result[part]);
          else wide[to] = narrow[to] = static_cast<float>(result[part]);
          error = std::hypot(error, rounding(wide[to]));
        }
        rounding_[at] = error;
      }
    }
    if (bounds_) write_bounds();
    const Executor host = Executor::host();
    auto* data = wide_ ? reinterpret_cast<std::byte*>(wide.data()) : reinterpret_cast<std::byte*>(narrow.data());
    const std::int64_t bytes = size_bytes(g_.out);
    for (std::int64_t i = 0; i < g_.m; i += region_.lower ? 1 : g_.m) {  // row by row where only part of a row exists
      const Shape shape = region_.lower ? Shape{1, i + 1} : Shape{g_.m, g_.n};
      const Strides from{g_.n, 1}, to{g_.cm, g_.cn};
      trn::detail::copy_elements({&host, data + i * g_.n * bytes, &shape, &from},
                                 {&executor, static_cast<std::byte*>(g_.c) + i * g_.cm * bytes, &shape, &to}, bytes);
    }
  }

  // What scaling cost, relative to ||a_i|| ||b_j|| and by the Euclidean norms.
  [[nodiscard]] double scaling() const {
    const auto worst = [](const Operand& s, const std::vector<Norms>& errors) {
      double largest = 0;
      for (std::size_t i = 0; i < errors.size(); ++i) largest = s.norms[i].two > 0 ? std::max(largest, errors[i].two / s.norms[i].two) : largest;
      return largest;
    };
    const double a = worst(a_, error_a_), b = worst(b_, error_b_);
    return std::min(plan_.scaling, a + b + a * b);
  }

 private:
  void read_c(const Executor& executor) {
    if (!region_.lower) {
      old_ = dense(executor, g_.out, g_.c, g_.m, g_.n, g_.cm, g_.cn);
      return;
    }
    old_.assign(static_cast<std::size_t>(g_.m * g_.n * parts_), 0);
    for (std::int64_t i = 0; i < g_.m; ++i) {
      const auto row = dense(executor, g_.out, static_cast<const std::byte*>(g_.c) + i * g_.cm * size_bytes(g_.out), 1, i + 1, g_.cm, g_.cn);
      std::ranges::copy(row, old_.begin() + i * g_.n * parts_);
      if (region_.hermitian) old_[static_cast<std::size_t>((i * g_.n + i) * parts_ + 1)] = 0;
    }
  }

  bool special(std::int64_t r, std::int64_t j) const { return a_.special[static_cast<std::size_t>(r)] || b_.special[static_cast<std::size_t>(j)]; }

  Quad value(std::int64_t r, std::int64_t j, const Wide& x) const {
    if (special(r, j)) {
      const double* left = (a_.original.empty() ? a_.x : a_.original).data() + r * a_.depth;
      const double* right = (b_.original.empty() ? b_.x : b_.original).data() + j * b_.depth;
      double sum = 0;
      for (std::int64_t p = 0; p < a_.depth; ++p) {
        const std::int64_t i = r % g_.m, k = p % g_.k;  // of complex matrices without their planes
        if (region_.terms == ExactRegion::Terms::Lower ? k > i : region_.terms == ExactRegion::Terms::Upper && k < i) continue;
        sum += left[p] * right[p];
      }
      return sum;
    }
    return scaled(exact::leading(x), -(plan_.shift_a[static_cast<std::size_t>(r)] + plan_.shift_b[static_cast<std::size_t>(j)]));
  }

  // alpha x + beta c in quadruple precision: its own errors, 2^-110, are far below the one rounding that follows.
  void combine(std::size_t at, Quad* result) const {
    const auto ar = static_cast<Quad>(g_.alpha.real()), ai = static_cast<Quad>(g_.alpha.imag());
    const auto br = static_cast<Quad>(g_.beta.real()), bi = static_cast<Quad>(g_.beta.imag());
    if (parts_ == 1) {
      result[0] = ar * real_[at];
      if (!old_.empty()) result[0] += br * static_cast<Quad>(old_[at]);
      return;
    }
    const Quad re = real_[at], im = imaginary_[at];
    result[0] = g_.alpha.imag() == 0 ? ar * re : ar * re - ai * im;
    result[1] = g_.alpha.imag() == 0 ? ar * im : ar * im + ai * re;
    if (old_.empty()) return;
    const Quad cr = old_[2 * at], ci = old_[2 * at + 1];
    result[0] += g_.beta.imag() == 0 ? br * cr : br * cr - bi * ci;
    result[1] += g_.beta.imag() == 0 ? br * ci : br * ci + bi * cr;
  }

  double rounding(double x) const {
    return wide_ ? std::abs(x) * 0x1.0001p-53 + 0x1p-1074 : std::abs(x) * 0x1.0001p-24 + 0x1p-149;
  }

  // Norms bound what scaling costs by O(n^2) work. Where that is much more than the rounding, because the result is small
  // beside the norms, the cost itself is computed: d_a b + a' d_b in double, whose own error the same norms bound.
  void write_bounds() const {
    const std::int64_t count = g_.m * g_.n;
    std::vector<double> scaling(static_cast<std::size_t>(count));
    std::int64_t loose = 0;
    for (std::int64_t at = 0; at < count; ++at) {
      double& bound = scaling[static_cast<std::size_t>(at)];
      bound = std::abs(g_.alpha) * (parts_ == 2 ? std::sqrt(2.0) : 1) * scaling_bound(at / g_.n, at % g_.n);
      if (bound > 16 * rounding_[static_cast<std::size_t>(at)]) ++loose;
    }
    if (loose > count / 16) compute_scaling(scaling);
    for (std::int64_t at = 0; at < count; ++at) {
      bounds_->data()[at / g_.n * bounds_->row_stride() + at % g_.n * bounds_->column_stride()] =
          (scaling[static_cast<std::size_t>(at)] + rounding_[static_cast<std::size_t>(at)]) * (1 + 0x1p-30);
    }
  }

  void compute_scaling(std::vector<double>& scaling) const {
    const Scaled a = scaled_rows(a_, plan_.shift_a, plan_.bits_a, wide_), b = scaled_rows(b_, plan_.shift_b, plan_.bits_b, wide_);
    std::vector<double> error(static_cast<std::size_t>(a_.rows * b_.rows)), rounded = a.x;
    for (std::size_t i = 0; i < rounded.size(); ++i) rounded[i] -= a.error[i];
    const auto add = [&](const std::vector<double>& x, const std::vector<double>& y, double beta) {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(a_.rows), static_cast<int>(b_.rows), static_cast<int>(a_.depth), 1, x.data(),
                  static_cast<int>(a_.depth), y.data(), static_cast<int>(a_.depth), beta, error.data(), static_cast<int>(b_.rows));
    };
    add(a.error, b.x, 0);
    add(rounded, b.error, 1);
    for (std::int64_t i = 0; i < g_.m; ++i) {
      for (std::int64_t j = 0; j < g_.n; ++j) {
        double& bound = scaling[static_cast<std::size_t>(i * g_.n + j)];
        const auto at = [&](std::int64_t r) { return std::abs(error[static_cast<std::size_t>(r * g_.n + j)]); };
        const double part = parts_ == 2 ? std::hypot(at(i), at(i + g_.m)) : at(i);
        const double computed = std::ldexp(part, a_.exponent[static_cast<std::size_t>(i)] + b_.exponent[static_cast<std::size_t>(j)]);
        bound = std::min(bound, std::abs(g_.alpha) * computed + bound * static_cast<double>(a_.depth + 8) * 0x1p-51);
      }
    }
  }

  // |C - C'| = |d_a b + a' d_b|, d the errors of scaling.
  double scaling_bound(std::int64_t i, std::int64_t j) const {
    const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
    if (special(i, j)) return std::numeric_limits<double>::quiet_NaN();
    const double scaling = product_bound(error_a_[r], b_.norms[c]) + product_bound(a_.norms[r] + error_a_[r], error_b_[c]);
    return std::ldexp(scaling, a_.exponent[r] + b_.exponent[c]);
  }

  ExactRegion region_;
  const GemmArgs& g_;
  const Operand &a_, &b_;
  const Plan& plan_;
  const std::optional<MatrixView<double>>& bounds_;
  std::int64_t parts_;
  bool wide_;
  std::vector<Norms> error_a_, error_b_;
  std::vector<double> rounding_;  // a bound of the last rounding of each element
  std::vector<double> old_;
  std::vector<Quad> real_, imaginary_;
};

}  // namespace

Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g, const std::optional<MatrixView<double>>& componentwise,
                    double target, const ExactRegion& region) {
  require_mode(operation, Mode::Exact, g.in, executor.family());
  const bool wide = real_of(g.in) == DType::Float64;
  const double factor = is_complex(g.in) ? std::sqrt(2.0) : 1, rounding = wide ? 0x1.0001p-53 : 0x1.0001p-24;
  // Without a target scaling costs at most a quarter of the rounding of a result as large as the norms allow.
  const double allowed = target > 0 ? target - factor * rounding : factor * rounding / 4;
  const bool empty = g.k == 0 || g.alpha == Complex(0);
  const std::int64_t planes = is_complex(g.in) ? 2 : 1, longest = std::max({planes * g.m, g.n, empty ? 0 : planes * g.k});
  constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();
  require(longest <= kIntMax || (executor.family() == Family::Device && !componentwise),
          "{}: {} x {} x {} in precision 'exact' needs extents of {}, the host BLAS takes at most {}; split the operation", operation, g.m, g.n, g.k, longest,
          kIntMax);
  GemmArgs args = g;
  if (empty) args.k = 0;  // then A and B are not read
  const Operand a = left_side(executor, args), b = right_side(executor, args);
  // A product with its own transpose: equal integers on both sides need to be made once.
  const bool even = region.lower && g.a == g.b && g.am == g.bn && g.ak == g.bk;
  Plan plan;
  for (int moduli = 1; moduli <= exact::kModuliMax; ++moduli) {
    plan = plan_for(moduli, a, b, even);
    if (factor * plan.scaling <= allowed) break;
  }
  if (target > 0 && !(factor * plan.scaling <= allowed)) refuse_target(operation, g.in, executor, target, factor * (plan.scaling + rounding));
  if (!empty) {
    if (const Exactness probe = probe_exactness(executor); !probe.exact) {
      throw DeviceError(fmt::format("{}: precision 'exact' is not possible on '{}': {}", operation, executor.name(), probe.reason), "not-exact");
    }
  }
  Finish finish(executor, g, a, b, plan, componentwise, region);
  ExactArgs product{g, plan.moduli, a.rows, b.rows, a.depth, a.x, b.x, plan.shift_a, plan.shift_b,
                    [&](std::int64_t row, const Wide* x) { finish.row(row, x); }, region.lower};
  const auto kernels = table(operation);
  if (empty) product.moduli = 0;
  dispatch(kernels, executor, product);
  finish.store(executor);
  return {Mode::Exact, plan.moduli, factor * (finish.scaling() + rounding)};
}

}  // namespace trn::blas

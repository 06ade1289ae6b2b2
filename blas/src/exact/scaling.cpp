// Errors of scaling, number by number.
#include "scaling.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include <trn/core/parallel.hpp>

#include "../exact_integers.hpp"

namespace trn::blas::exact {

namespace {

// x - x' in units of the row's integers, exactly; power = 2^shift.
long double error_of(double x, int shift, long double power, bool wide) {
  const std::int64_t q = integer(wide ? slice(x, shift) : slice(static_cast<float>(x), shift));
  return static_cast<long double>(x) * power - static_cast<long double>(q);
}

}  // namespace

std::vector<Norms> scaling_errors(const Operand& s, const std::vector<std::int32_t>& shift, int bits) {
  std::vector<Norms> errors(static_cast<std::size_t>(s.rows()));
  if (bits >= s.span) return errors;
  s.for_panels([&](std::int64_t first, std::int64_t rows, const std::vector<double>& numbers) {
    parallel_for(rows, rows * s.depth() > 1 << 14, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(first + i);
      if (s.special[at] != 0) return;
      const long double power = std::ldexp(1.0L, shift[at]);
      long double sum = 0, squares = 0, largest = 0;
      for (std::int64_t p = 0; p < s.depth(); ++p) {
        const long double error =
            std::abs(error_of(numbers[static_cast<std::size_t>(i * s.depth() + p)], shift[at], power, s.wide()));
        sum += error;
        squares += error * error;
        largest = std::max(largest, error);
      }
      const long double unit = std::ldexp(norm_excess(s.depth()), -shift[at] - s.exponent[at]);
      errors[at] = {sum * unit, std::sqrt(squares) * unit, largest * unit};
    });
  });
  return errors;
}

std::vector<Norms> scaling_error_bounds(const Operand& s, const std::vector<std::int32_t>& shift, int bits) {
  std::vector<Norms> errors(static_cast<std::size_t>(s.rows()));
  if (bits >= s.span) return errors;
  const auto depth = static_cast<long double>(s.depth());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    // A shift below that of the bits makes every number of the type an integer: see shifts() in plan.cpp.
    if (s.special[i] != 0 || s.norms[i].two == 0 || shift[i] < bits - s.exponent[i]) continue;
    const long double most = std::ldexp(static_cast<long double>(kRounding), -bits);
    errors[i] = {depth * most, std::sqrt(depth) * most * norm_excess(0), most};
  }
  return errors;
}

ScaledRows scaled_rows(const Operand& s, const std::vector<std::int32_t>& shift, std::int64_t first,
                       std::int64_t count) {
  ScaledRows result{s.read(first, count), {}};
  result.error.resize(result.x.size());
  parallel_for(s.planes() * count, count * s.depth() > 1 << 14, [&](std::int64_t r) {
    const auto row = static_cast<std::size_t>(first + r % count);
    const long double power = std::ldexp(1.0L, shift[row]);
    for (std::int64_t p = 0; p < s.depth(); ++p) {
      const auto at = static_cast<std::size_t>(r * s.depth() + p);
      if (s.special[row] != 0) {
        result.x[at] = 0;
        continue;
      }
      const long double error = error_of(result.x[at], shift[row], power, s.wide());
      result.error[at] = static_cast<double>(std::ldexp(error, -shift[row] - s.exponent[row]));
      result.x[at] = std::ldexp(result.x[at], -s.exponent[row]);
    }
  });
  return result;
}

std::vector<double> computed_scaling(const ScaledRows& a, const ScaledRows& b, std::int64_t rows, std::int64_t columns,
                                     std::int64_t depth) {
  std::vector<double> error(static_cast<std::size_t>(rows * columns)), rounded = a.x;
  for (std::size_t i = 0; i < rounded.size(); ++i) rounded[i] -= a.error[i];
  const auto add = [&](const std::vector<double>& x, const std::vector<double>& y, double beta) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), static_cast<int>(columns),
                static_cast<int>(depth), 1, x.data(), static_cast<int>(depth), y.data(), static_cast<int>(depth), beta,
                error.data(), static_cast<int>(columns));
  };
  add(a.error, b.x, 0);
  add(rounded, b.error, 1);
  for (double& e : error) e = std::abs(e);
  return error;
}

}  // namespace trn::blas::exact

// Reading an operand's rows, and their statistics.
#include "operand.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/parallel.hpp>

namespace trn::blas::exact {

namespace {

constexpr std::int64_t kPanelNumbers = std::int64_t{1} << 21;  // 16 MiB

}  // namespace

long double product_bound(const Norms& x, const Norms& y) {
  return std::min({x.one * y.largest, x.two * y.two, x.largest * y.one});
}

Operand::Operand(const Executor& executor, DType dtype, const void* data, std::int64_t rows, std::int64_t k,
                 std::int64_t row_stride, std::int64_t k_stride, bool conj, OperandSide side)
    : executor_(executor),
      dtype_(dtype),
      data_(data),
      rows_(rows),
      k_(k),
      row_stride_(row_stride),
      k_stride_(k_stride),
      planes_(is_complex(dtype) && side == OperandSide::Left ? 2 : 1),
      depth_(is_complex(dtype) ? 2 * k : k),
      conj_(conj),
      side_(side) {}

std::int64_t Operand::panel_rows() const {
  return std::max<std::int64_t>(1, kPanelNumbers / std::max<std::int64_t>(1, planes_ * depth_));
}

std::vector<double> Operand::read(std::int64_t first, std::int64_t count) const {
  const std::int64_t bytes = size_bytes(dtype_), numbers = count * depth_;
  std::vector<double> values(static_cast<std::size_t>(numbers));
  if (numbers == 0) return std::vector<double>(static_cast<std::size_t>(planes_ * numbers));
  const Shape shape{count, k_};
  const Strides from{row_stride_, k_stride_}, to{k_, 1};
  const Executor host = Executor::host();
  auto* start = const_cast<std::byte*>(static_cast<const std::byte*>(data_)) + (first - first_) * row_stride_ * bytes;
  const auto copy_to = [&](void* raw) {
    trn::detail::copy_elements({&executor_, start, &shape, &from}, {&host, raw, &shape, &to}, bytes);
  };
  if (wide()) {
    copy_to(values.data());
  } else {
    std::vector<float> narrow(values.size());
    copy_to(narrow.data());
    std::ranges::copy(narrow, values.begin());
  }
  if (!is_complex(dtype_)) return values;
  std::vector<double> planes(static_cast<std::size_t>(planes_ * numbers));
  const double sign = conj_ ? -1 : 1;
  parallel_for(count, numbers > 1 << 16, [&](std::int64_t i) {
    const double* row = values.data() + i * depth_;
    double* to_first = planes.data() + i * depth_;
    double* to_second = to_first + numbers;
    for (std::int64_t p = 0; p < k_; ++p) {
      const double re = row[2 * p], im = sign * row[2 * p + 1];
      to_first[p] = re;
      if (side_ == OperandSide::Right) {
        to_first[k_ + p] = im;
      } else {
        to_first[k_ + p] = -im, to_second[p] = im, to_second[k_ + p] = re;
      }
    }
  });
  return planes;
}

void Operand::measure_row(const double* row, std::size_t i, int& span_of_row) {
  double most = 0;
  bool finite = true;
  for (std::int64_t p = 0; p < depth_; ++p) {
    if (!std::isfinite(row[p]))
      finite = false;
    else
      most = std::max(most, std::abs(row[p]));
  }
  special[i] = finite ? 0 : 1;
  if (most == 0) return;
  exponent[i] = std::ilogb(most) + 1;
  const Power down(-exponent[i]);
  double sum = 0, squares = 0;
  int lowest = exponent[i];
  for (std::int64_t p = 0; p < depth_; ++p) {
    if (row[p] == 0 || (!finite && !std::isfinite(row[p]))) continue;
    const double r =
        std::abs(row[p]) * down.first * down.second;  // below 1; what underflows here is covered by norm_excess
    sum += r;
    squares += r * r;
    const auto bits = std::bit_cast<std::uint64_t>(row[p]);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t significand = (bits & 0xfffffffffffffULL) | (field > 0 ? std::uint64_t{1} << 52 : 0);
    lowest = std::min(lowest, std::max(field, 1) - 1075 + std::countr_zero(significand));
  }
  const long double up = norm_excess(depth_);
  norms[i] = {sum * up, std::sqrt(squares) * up, most * down.first * down.second};
  if (finite) span_of_row = exponent[i] - lowest;
}

void Operand::measure_as(const Operand& same) {
  exponent = same.exponent, special = same.special, norms = same.norms, span = same.span;
}

void Operand::measure() {
  const auto count = static_cast<std::size_t>(rows_);
  exponent.assign(count, 0);
  special.assign(count, 0);
  norms.assign(count, {});
  std::vector<int> spans(count, 0);
  for_panels([&](std::int64_t first, std::int64_t rows, const std::vector<double>& numbers) {
    parallel_for(rows, rows * depth_ > 1 << 14, [&](std::int64_t i) {
      const auto row = static_cast<std::size_t>(first + i);
      measure_row(numbers.data() + i * depth_, row, spans[row]);
    });
  });
  span = spans.empty() ? 0 : std::ranges::max(spans);
}

}  // namespace trn::blas::exact

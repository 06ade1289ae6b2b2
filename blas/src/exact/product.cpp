// Bounds of what scaling lost, and the elements that are computed again.
#include "product.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <trn/core/parallel.hpp>

namespace trn::blas::exact {

namespace {
constexpr double kTermsLeast = 64;  // an element is never computed again for a cost below this many roundings
}

Product::Product(const Operand& a, const Operand& b, const Plan& plan, ExactRegion::Terms terms, bool repair)
    : Product(a, b, plan, terms, repair,
              repair ? ScalingErrors{scaling_errors(a, plan.shift_a, plan.bits_a),
                                     scaling_errors(b, plan.shift_b, plan.bits_b)}
                     : ScalingErrors{scaling_error_bounds(a, plan.shift_a, plan.bits_a),
                                     scaling_error_bounds(b, plan.shift_b, plan.bits_b)}) {}

Product::Product(const Operand& a, const Operand& b, const Plan& plan, ExactRegion::Terms terms, bool repair,
                 const ScalingErrors& errors)
    : a_(a),
      b_(b),
      plan_(plan),
      terms_(terms),
      repair_(repair),
      left_(rows_of(a, plan.shift_a, errors.a)),
      right_(rows_of(b, plan.shift_b, errors.b)) {}

std::vector<Product::Row> Product::rows_of(const Operand& s, const std::vector<std::int32_t>& shift,
                                           const std::vector<Norms>& errors) {
  const long double up = norm_excess(s.depth());
  std::vector<Row> rows(errors.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const long double unit = std::ldexp(1.0L, s.exponent[i]);
    const auto scaled = [&](const Norms& n) { return Norms{n.one * unit, n.two * unit, n.largest * unit}; };
    rows[i] = {
        scaled(s.norms[i]), scaled(errors[i]), {}, s.norms[i].two * unit / (up * up * up), std::ldexp(1.0L, -shift[i])};
    rows[i].both = rows[i].norms + rows[i].errors;
  }
  return rows;
}

long double Product::lost(std::int64_t i, std::int64_t j) const {
  const Row &a = left_[static_cast<std::size_t>(i)], &b = right_[static_cast<std::size_t>(j)];
  return product_bound(a.errors, b.norms) + product_bound(a.both, b.errors);
}

long double Product::size(const Wide& x, std::int64_t i, std::int64_t j) const {
  const bool minus = x.negative();
  long double sum = 0;
  for (std::size_t w = 3; w-- > 0;) sum = sum * 0x1p64L + static_cast<long double>(minus ? ~x.word[w] : x.word[w]);
  return sum * (left_[static_cast<std::size_t>(i)].power * right_[static_cast<std::size_t>(j)].power);
}

ProductBlock Product::make(Source& source, const Block& block, Wanted wanted) {
  return settle(look(source, block, wanted));
}

Product::Unsettled Product::look(Source& source, const Block& block, Wanted wanted) {
  Unsettled u{{block, {}, {}, {}}, {}, {}};
  ProductBlock& p = u.block;
  const std::int64_t count = block.rows * block.columns, planes = a_.planes();
  p.x.resize(static_cast<std::size_t>(planes * count));
  p.lost.assign(static_cast<std::size_t>(count), 0);
  source.fetch(block, p.x.data());
  const bool rounded = plan_.bits_a < a_.span || plan_.bits_b < b_.span;
  const double limit = std::max(kTermsLeast, static_cast<double>(a_.depth())) * (a_.wide() ? 0x1p-53 : 0x1p-24);
  std::vector<char> state(static_cast<std::size_t>(count), 0);  // 1: special, 2: a candidate
  parallel_for(block.rows, count > 1 << 12, [&](std::int64_t row) {
    const std::int64_t i = block.row + row;
    for (std::int64_t j = block.column; j < block.column + block.columns; ++j) {
      if (wanted == Wanted::Lower ? j > i : wanted == Wanted::Upper && j < i) continue;
      const auto at = static_cast<std::size_t>(p.at(i, j));
      if (special(i, j)) {
        state[at] = 1;
        continue;
      }
      if (!rounded) continue;
      const long double most = lost(i, j);
      p.lost[at] = most;
      if (!repair_ || most == 0) continue;
      for (std::int64_t plane = 0; plane < planes; ++plane) {
        if (most > limit * size(p.x[at + static_cast<std::size_t>(plane * count)], i, j)) state[at] = 2;
      }
    }
  });
  for (std::int64_t at = 0; at < count; ++at) {
    if (state[static_cast<std::size_t>(at)] == 1) u.again.push_back(at);
    if (state[static_cast<std::size_t>(at)] == 2) u.candidates.push_back(at);
  }
  return u;
}

ProductBlock Product::settle(Unsettled&& u) {
  ProductBlock p = std::move(u.block);
  std::vector<std::int64_t> again = std::move(u.again);
  if (!u.candidates.empty()) std::ranges::copy(misaligned(p, u.candidates), std::back_inserter(again));
  if (!again.empty()) replace(p, again);
  return p;
}

const std::vector<double>& Product::columns_of(const Block& block) {
  if (kept_.column != block.column || kept_.columns < block.columns) {
    kept_columns_ = {};
    kept_columns_ = b_.read(block.column, block.columns);
    kept_ = block;
  }
  return kept_columns_;
}

// Those candidates whose bound exceeds the limit times (|A||B|)_ij, formed in units of the rows' powers of two: what
// underflows there can only make it smaller. Where every product is zero, integers and element are zero too, and
// nothing was lost.
std::vector<std::int64_t> Product::misaligned(ProductBlock& p, const std::vector<std::int64_t>& candidates) {
  const std::int64_t depth = a_.depth(), planes = a_.planes();
  const std::vector<double> left = a_.read(p.block.row, p.block.rows);
  const std::vector<double>& right = columns_of(p.block);
  const long double limit =
      std::max(kTermsLeast, static_cast<double>(depth)) * (a_.wide() ? 0x1p-53L : 0x1p-24L) / norm_excess(depth);
  std::vector<char> bad(candidates.size(), 0);
  const auto number = static_cast<std::int64_t>(candidates.size());
  parallel_for(number, number * depth > 1 << 14, [&](std::int64_t candidate) {
    const auto c = static_cast<std::size_t>(candidate);
    const std::int64_t i = candidates[c] / p.block.columns, j = candidates[c] % p.block.columns;
    const Power fx(-a_.exponent[static_cast<std::size_t>(p.block.row + i)]),
        fy(-b_.exponent[static_cast<std::size_t>(p.block.column + j)]);
    long double& most = p.lost[static_cast<std::size_t>(candidates[c])];
    bool zero = true;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const double* x = left.data() + (plane * p.block.rows + i) * depth;
      const double* y = right.data() + j * depth;
      double sum = 0;
      std::int64_t terms = 0;
#pragma omp simd reduction(+ : sum, terms)
      for (std::int64_t q = 0; q < depth; ++q) {
        sum += std::abs(x[q] * fx.first * fx.second * (y[q] * fy.first * fy.second));
        terms += x[q] != 0 && y[q] != 0 ? 1 : 0;
      }
      if (terms == 0) continue;
      zero = false;
      if (most > std::ldexp(limit * sum, unit(p.block.row + i, p.block.column + j))) bad[c] = 1;
    }
    if (zero) most = 0;
  });
  std::vector<std::int64_t> result;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (bad[c] != 0) result.push_back(candidates[c]);
  }
  return result;
}

Replacement Product::computed(const double* left, const double* right, std::int64_t i) const {
  const std::int64_t depth = a_.depth(), k = a_.planes() == 2 ? depth / 2 : depth;
  const auto counts = [&](std::int64_t q) {  // of complex matrices without their planes
    return terms_ == ExactRegion::Terms::All || (terms_ == ExactRegion::Terms::Lower ? q % k <= i : q % k >= i);
  };
  bool finite = true;
  for (std::int64_t q = 0; q < depth && finite; ++q)
    finite = !counts(q) || (std::isfinite(left[q]) && std::isfinite(right[q]));
  Replacement result;
  result.finite = finite;
  if (finite) {
    Sum sum;
    for (std::int64_t q = 0; q < depth; ++q) {
      if (counts(q)) sum.add(left[q], right[q]);
    }
    result.exact = sum.take();
    return result;
  }
  for (std::int64_t q = 0; q < depth; ++q) {
    if (counts(q)) result.value += static_cast<long double>(left[q]) * static_cast<long double>(right[q]);
  }
  return result;
}

void Product::replace(ProductBlock& p, const std::vector<std::int64_t>& elements) {
  const std::int64_t depth = a_.depth(), planes = a_.planes(), count = p.plane();
  const std::vector<double> left = a_.read(p.block.row, p.block.rows);
  const std::vector<double>& right = columns_of(p.block);
  std::vector<Replacement> results(elements.size() * static_cast<std::size_t>(planes));
  const auto number = static_cast<std::int64_t>(elements.size());
  parallel_for(number, number * depth > 1 << 12, [&](std::int64_t element) {
    const auto e = static_cast<std::size_t>(element);
    const std::int64_t i = elements[e] / p.block.columns, j = elements[e] % p.block.columns;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      results[e * static_cast<std::size_t>(planes) + static_cast<std::size_t>(plane)] =
          computed(left.data() + (plane * p.block.rows + i) * depth, right.data() + j * depth, p.block.row + i);
    }
  });
  for (std::size_t e = 0; e < elements.size(); ++e) {
    p.lost[static_cast<std::size_t>(elements[e])] = 0;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      p.replaced[plane * count + elements[e]] =
          std::move(results[e * static_cast<std::size_t>(planes) + static_cast<std::size_t>(plane)]);
    }
  }
}

void Product::compute_lost(ProductBlock& p) {
  const Block& k = p.block;
  const std::int64_t depth = a_.depth(), planes = a_.planes();
  if (kept_scaled_.column != k.column || kept_scaled_.columns < k.columns) {
    kept_scaled_columns_ = {};
    kept_scaled_columns_ = scaled_rows(b_, plan_.shift_b, k.column, k.columns);
    kept_scaled_ = k;
  }
  const ScaledRows a = scaled_rows(a_, plan_.shift_a, k.row, k.rows);
  const std::vector<double> error = computed_scaling(a, kept_scaled_columns_, planes * k.rows, k.columns, depth);
  for (std::int64_t at = 0; at < p.plane(); ++at) {
    long double& lost = p.lost[static_cast<std::size_t>(at)];
    if (lost == 0) continue;
    long double most = 0;
    for (std::int64_t plane = 0; plane < planes; ++plane)
      most = std::max<long double>(most, error[static_cast<std::size_t>(plane * p.plane() + at)]);
    const long double underflow = static_cast<long double>(depth) * 0x1p-1070L;
    const long double own = lost * static_cast<long double>(depth + 8) * 0x1p-51L;
    lost = std::min(lost, own + std::ldexp(most + underflow, unit(k.row + at / k.columns, k.column + at % k.columns)));
  }
}

}  // namespace trn::blas::exact

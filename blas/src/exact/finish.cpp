// Elements, bounds, and where they go.
#include "finish.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include <trn/core/array.hpp>
#include <trn/core/parallel.hpp>

namespace trn::blas::exact {

namespace {

using Complex = std::complex<double>;

constexpr long double kUp = 1 + 0x1p-40L;  // covers the roundings of a few operations in long double

long double modulus(const Complex& z) {
  return std::hypot(static_cast<long double>(z.real()), static_cast<long double>(z.imag()));
}
bool finite(const Complex& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

// The least double that is at least x.
double upwards(long double x) {
  const auto y = static_cast<double>(x);
  return static_cast<long double>(y) < x ? std::nextafter(y, std::numeric_limits<double>::infinity()) : y;
}

}  // namespace

Finish::Finish(const Executor& executor, const GemmArgs& g, Product& product,
               const std::optional<MatrixView<double>>& bounds, const ExactRegion& region, bool hold)
    : executor_(executor),
      g_(g),
      product_(product),
      bounds_(bounds),
      region_(region),
      parts_(is_complex(g.in) ? 2 : 1),
      width_(real_of(g.out) == DType::Float64 ? Width::Double : Width::Single),
      quick_(g.alpha == Complex(1) && g.beta == Complex(0) && !region.mirrored),
      alpha_(modulus(g.alpha) * kUp),
      least_alpha_(modulus(g.alpha) / kUp),
      beta_(modulus(g.beta) / kUp) {
  if (hold) held_.resize(static_cast<std::size_t>(g.m * g.n * size_bytes(g.out)));
}

void Finish::block(Source& source, const Block& block) {
  using Wanted = Product::Wanted;
  Parts parts{product_.make(source, block, region_.lower ? Wanted::Lower : Wanted::All), {}};
  if (region_.mirrored) {
    parts.mirror = product_.make(source, {block.column, block.columns, block.row, block.rows},
                                 region_.lower ? Wanted::Upper : Wanted::All);
  }
  finish(parts);
}

void Finish::block(ProductBlock&& product) {
  Parts parts{std::move(product), {}};
  finish(parts);
}

void Finish::finish(Parts& parts) {
  const Block& block = parts.straight.block;
  const std::vector<double> old = read_c(block);
  std::vector<Element> elements(static_cast<std::size_t>(block.rows * block.columns));
  const int threads = loop_threads(block.rows * block.columns > 1 << 10);
  std::vector<Sum> sums(static_cast<std::size_t>(threads));
  for_ranges(block.rows, threads, [&](std::int64_t begin, std::int64_t end, int worker) {
    Sum& sum = sums[static_cast<std::size_t>(worker)];
    for (std::int64_t i = block.row + begin; i < block.row + end; ++i) {
      for (std::int64_t j = block.column; j < block.column + block.columns; ++j) {
        if (!wanted(i, j)) continue;
        const std::int64_t at = parts.straight.at(i, j);
        const double* c = old.empty() ? nullptr : old.data() + at * parts_;
        elements[static_cast<std::size_t>(at)] = combine(sum, parts, c, i, j);
      }
    }
  });
  if (bounds_) write_bounds(parts, elements);  // may compute what scaling has cost, which the next line then reads
  bound_ = std::max(bound_, largest_error(parts, elements, old, threads));
  write(block, elements);
}

long double Finish::largest_error(const Parts& parts, const std::vector<Element>& elements,
                                  const std::vector<double>& old, int threads) const {
  const Block& block = parts.straight.block;
  std::vector<long double> bounds(static_cast<std::size_t>(threads), 0);
  for_ranges(block.rows, threads, [&](std::int64_t begin, std::int64_t end, int worker) {
    long double& most = bounds[static_cast<std::size_t>(worker)];
    for (std::int64_t i = block.row + begin; i < block.row + end; ++i) {
      long double largest = 0;  // of a row: the same for any number of threads
      for (std::int64_t j = block.column; j < block.column + block.columns; ++j) {
        if (!wanted(i, j)) continue;
        const std::int64_t at = parts.straight.at(i, j);
        const Element& e = elements[static_cast<std::size_t>(at)];
        if (!e.finite) continue;
        const long double cost = lost(parts, i, j);
        // Too large for the type whatever scaling has cost; otherwise the exact value may fit, and is infinitely far.
        if (std::isinf(e.rounding) && e.excess > cost) continue;
        const long double error = cost + e.rounding;
        // The division only where it raises the bound.
        const long double size = scale(old.empty() ? nullptr : old.data() + at * parts_, i, j);
        if (error > largest * size) largest = error / size * kUp;
      }
      most = std::max(most, largest);
    }
  });
  return std::ranges::max(bounds);
}

void Finish::add(Sum& sum, const ProductBlock& p, std::int64_t plane, std::int64_t i, std::int64_t j,
                 double factor) const {
  if (factor == 0) return;
  const std::int64_t at = plane * p.plane() + p.at(i, j);
  if (!p.replaced.empty()) {
    if (const auto found = p.replaced.find(at); found != p.replaced.end())
      return sum.add(found->second.exact.view(), factor);
  }
  sum.add(WideNumber(p.x[static_cast<std::size_t>(at)], product_.exponent(i, j)).view(), factor);
}

Finish::Element Finish::combine(Sum& sum, const Parts& parts, const double* c, std::int64_t i, std::int64_t j) const {
  const auto is_finite = [&](const ProductBlock& p, std::int64_t r, std::int64_t s) {
    for (std::int64_t plane = 0; plane < parts_ && !p.replaced.empty(); ++plane) {
      const auto found = p.replaced.find(plane * p.plane() + p.at(r, s));
      if (found != p.replaced.end() && !found->second.finite) return false;
    }
    return true;
  };
  const bool finite_c = c == nullptr || (std::isfinite(c[0]) && (parts_ == 1 || std::isfinite(c[1])));
  const bool finite_product = is_finite(parts.straight, i, j) && (!parts.mirror || is_finite(*parts.mirror, j, i));
  if (!finite_c || !finite_product || !finite(g_.alpha) || !finite(g_.beta)) return not_finite(parts, c, i, j);

  Element e;
  const ProductBlock& p = parts.straight;
  const double ar = g_.alpha.real(), ai = g_.alpha.imag(), br = g_.beta.real(), bi = g_.beta.imag();
  long double rounding[2] = {};
  for (std::int64_t part = 0; part < parts_; ++part) {
    if (part == 1 && region_.hermitian && i == j) continue;
    Rounded rounded;
    const std::int64_t at = part * p.plane() + p.at(i, j);
    if (!(quick_ && p.replaced.empty() &&
          round_quickly(p.x[static_cast<std::size_t>(at)], product_.exponent(i, j), width_, rounded))) {
      // (ar + i ai)(x + i y): the real part is ar x - ai y, the imaginary one ar y + ai x.
      add(sum, p, part, i, j, ar);
      if (parts_ == 2) add(sum, p, 1 - part, i, j, part == 0 ? -ai : ai);
      if (parts.mirror) {
        // With P_ji = x + i y: alpha P_ji, hermitian conj(alpha P_ji).
        const double sign = part == 1 && region_.hermitian ? -1 : 1;
        add(sum, *parts.mirror, part, j, i, sign * ar);
        if (parts_ == 2) add(sum, *parts.mirror, 1 - part, j, i, sign * (part == 0 ? -ai : ai));
      }
      if (c != nullptr) {
        sum.add(br, c[part]);
        if (parts_ == 2) sum.add(part == 0 ? -bi : bi, c[1 - part]);
      }
      rounded = sum.round(width_);
    }
    e.value[part] = rounded.value;
    rounding[part] = rounded.error;
    e.excess = std::max(e.excess, rounded.excess);
  }
  e.rounding = parts_ == 1 ? rounding[0] : std::hypot(rounding[0], rounding[1]) * kUp;
  return e;
}

// What is not finite, in long double: infinities and NaN go where a sum of products sends them. A factor with no
// imaginary part takes none.
Finish::Element Finish::not_finite(const Parts& parts, const double* c, std::int64_t i, std::int64_t j) const {
  using Long = std::complex<long double>;
  const auto value = [&](const ProductBlock& p, std::int64_t r, std::int64_t s) {
    long double part[2] = {};
    for (std::int64_t plane = 0; plane < parts_; ++plane) {
      const std::int64_t at = plane * p.plane() + p.at(r, s);
      const auto found = p.replaced.find(at);
      if (found != p.replaced.end() && !found->second.finite) {
        part[plane] = found->second.value;
        continue;
      }
      const WideNumber integer(p.x[static_cast<std::size_t>(at)], product_.exponent(r, s));
      const Number x = found != p.replaced.end() ? found->second.exact.view() : integer.view();
      part[plane] = x.negative ? -magnitude(x) : magnitude(x);
    }
    return Long(part[0], part[1]);
  };
  const auto times = [&](const Complex& factor, const Long& z) {
    const long double re = factor.real(), im = factor.imag();
    if (parts_ == 1) return Long(re * z.real(), 0);
    if (im == 0) return Long(re * z.real(), re * z.imag());
    return Long(re * z.real() - im * z.imag(), re * z.imag() + im * z.real());
  };
  Long sum = g_.alpha == Complex(0) ? Long(0) : times(g_.alpha, value(parts.straight, i, j));
  if (parts.mirror) {
    const Long mirrored = times(g_.alpha, value(*parts.mirror, j, i));
    sum += region_.hermitian ? std::conj(mirrored) : mirrored;
  }
  if (c != nullptr) sum += times(g_.beta, Long(c[0], parts_ == 2 ? c[1] : 0));
  Element e;
  e.finite = false;
  e.value[0] = static_cast<double>(sum.real());
  if (parts_ == 2 && !(region_.hermitian && i == j)) e.value[1] = static_cast<double>(sum.imag());
  return e;
}

long double Finish::lost(const Parts& parts, std::int64_t i, std::int64_t j) const {
  long double sum = parts.straight.lost[static_cast<std::size_t>(parts.straight.at(i, j))];
  if (parts.mirror) sum += parts.mirror->lost[static_cast<std::size_t>(parts.mirror->at(j, i))];
  // Either plane may be off by this much.
  return sum == 0 ? 0 : alpha_ * sum * (parts_ == 2 ? std::sqrt(2.0L) : 1) * kUp;
}

long double Finish::scale(const double* c, std::int64_t i, std::int64_t j) const {
  long double norms = product_.least_norms(i, j);
  if (region_.mirrored) norms += product_.least_norms(j, i);
  const long double product = least_alpha_ * norms;
  if (c == nullptr) return product;
  if (parts_ == 1) return product + beta_ * std::abs(static_cast<long double>(c[0]));
  return product + beta_ * std::hypot(static_cast<long double>(c[0]), static_cast<long double>(c[1]));
}

double Finish::bound() const { return upwards(bound_); }

// Where the norms leave more than a rounding or two in many elements, the cost of scaling itself is computed.
void Finish::write_bounds(Parts& parts, const std::vector<Element>& elements) {
  const Block& block = parts.straight.block;
  const auto for_all = [&](const auto& f) {
    for (std::int64_t i = block.row; i < block.row + block.rows; ++i) {
      for (std::int64_t j = block.column; j < block.column + block.columns; ++j) {
        if (wanted(i, j)) f(i, j, elements[static_cast<std::size_t>(parts.straight.at(i, j))]);
      }
    }
  };
  std::int64_t loose = 0;
  for_all(
      [&](std::int64_t i, std::int64_t j, const Element& e) { loose += lost(parts, i, j) > 2 * e.rounding ? 1 : 0; });
  if (loose > block.rows * block.columns / 16) {
    product_.compute_lost(parts.straight);
    if (parts.mirror) product_.compute_lost(*parts.mirror);
  }
  for_all([&](std::int64_t i, std::int64_t j, const Element& e) {
    const long double bound =
        e.finite ? (lost(parts, i, j) + e.rounding) * kUp : std::numeric_limits<long double>::quiet_NaN();
    bounds_->data()[i * bounds_->row_stride() + j * bounds_->column_stride()] = upwards(bound);
  });
}

std::vector<double> Finish::read_c(const Block& block) const {
  if (g_.beta == Complex(0)) return {};
  std::vector<double> values(static_cast<std::size_t>(block.rows * block.columns * parts_));
  const std::int64_t bytes = size_bytes(g_.out);
  std::vector<std::byte> raw(static_cast<std::size_t>(block.rows * block.columns * bytes));
  const Executor host = Executor::host();
  const auto copy = [&](std::int64_t i, std::int64_t rows, std::int64_t columns) {
    if (columns <= 0) return;
    const Shape shape{rows, columns};
    const Strides from{g_.cm, g_.cn}, to{block.columns, 1};
    auto* c = static_cast<std::byte*>(g_.c) + (i * g_.cm + block.column * g_.cn) * bytes;
    trn::detail::copy_elements({&executor_, c, &shape, &from},
                               {&host, raw.data() + (i - block.row) * block.columns * bytes, &shape, &to}, bytes);
  };
  if (!region_.lower) {
    copy(block.row, block.rows, block.columns);
  } else {
    for (std::int64_t i = block.row; i < block.row + block.rows; ++i)
      copy(i, 1, std::min(block.columns, i + 1 - block.column));
  }
  for (std::size_t at = 0; at < values.size(); ++at) {
    float narrow = 0;
    if (width_ == Width::Double) {
      std::memcpy(&values[at], raw.data() + at * sizeof(double), sizeof(double));
    } else {
      std::memcpy(&narrow, raw.data() + at * sizeof(float), sizeof(float));
      values[at] = narrow;
    }
  }
  if (region_.hermitian) {
    for (std::int64_t i = std::max(block.row, block.column);
         i < std::min(block.row + block.rows, block.column + block.columns); ++i) {
      values[static_cast<std::size_t>(((i - block.row) * block.columns + i - block.column) * parts_ + 1)] = 0;
    }
  }
  return values;
}

void Finish::write(const Block& block, const std::vector<Element>& elements) {
  const std::int64_t bytes = size_bytes(g_.out), part_bytes = bytes / parts_;
  const bool hold = !held_.empty();
  std::vector<std::byte> raw(hold ? 0 : elements.size() * static_cast<std::size_t>(bytes));
  const std::int64_t pitch = hold ? g_.n : block.columns;
  std::byte* first = hold ? held_.data() + (block.row * g_.n + block.column) * bytes : raw.data();
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (std::int64_t j = 0; j < block.columns; ++j) {
      for (std::int64_t part = 0; part < parts_; ++part) {
        const double value = elements[static_cast<std::size_t>(i * block.columns + j)].value[part];
        const auto narrow = static_cast<float>(value);
        std::memcpy(first + (i * pitch + j) * bytes + part * part_bytes,
                    width_ == Width::Double ? static_cast<const void*>(&value) : &narrow,
                    static_cast<std::size_t>(part_bytes));
      }
    }
  }
  if (hold) return;
  write_results(block, raw.data(), block.columns);
}

void Finish::write_results(const Block& block, std::byte* results, std::int64_t pitch) const {
  const std::int64_t bytes = size_bytes(g_.out);
  const Executor host = Executor::host();
  for (std::int64_t i = 0; i < block.rows;
       i += region_.lower ? 1 : block.rows) {  // row by row where only part of a row exists
    const std::int64_t columns =
        region_.lower ? std::min(block.columns, block.row + i + 1 - block.column) : block.columns;
    if (columns <= 0) continue;
    const Shape shape{region_.lower ? 1 : block.rows, columns};
    const Strides from{pitch, 1}, to{g_.cm, g_.cn};
    auto* c = static_cast<std::byte*>(g_.c) + ((block.row + i) * g_.cm + block.column * g_.cn) * bytes;
    trn::detail::copy_elements({&host, results + i * pitch * bytes, &shape, &from}, {&executor_, c, &shape, &to},
                               bytes);
  }
}

void Finish::store() {
  if (!held_.empty()) write_results({0, g_.m, 0, g_.n}, held_.data(), g_.n);
}

}  // namespace trn::blas::exact

// Double precision on the device: what a plan in mode Exact does around its programs.
//
// No engine has float64, so the host takes part at both ends: it gathers the input in row-major order, scales each
// transform by a power of two to a norm between 1/8 and 1/4, splits every number into three words (exactly, but for
// what is below 2^-74), and afterwards adds the words of each result, scales back in long double, rounds once and
// scatters. All sums are the device's: every axis is lines of kernel Blocks in mode Exact, in place in the workspace;
// axes above 128^2 points go through a second set of arrays, as in planner.cpp. Real transforms are complex ones with
// zeros or mirror images put in by the host.
//
// Errors. Steps are unitary, so errors add, and each is an absolute one of every number over the norm, of which at
// least `norm_` is left (shortened lines of 2 or 3 points and the spectrum of a chirp take some). See grow() and
// turned(). On top come
//   split     2^-75 in each number.
//   join      hi + mid is exact in long double; the sum with lo, and its product with the factor, err by 2^-64 each,
//     the result in double by 2^-53.
//   factor    The caller's scale is right to 2^-63 (problem.cpp). Each step divides it by its own scale, which is the
//     number that was multiplied into the
//             matrix, rounded or not: 2^-64 a division. Bluestein's convolution has a division and a product.
#include "exact_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <trn/core/error.hpp>

#include "../parallel.hpp"
#include "triple_arithmetic.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

using C = std::complex<double>;

// Row-major extents: batch, then axes.
Shape extents_of(const Problem& p) {
  Shape shape;
  for (const Dimension& d : p.batch) shape.push_back(d.extent);
  for (const Dimension& d : p.axes) shape.push_back(d.extent);
  return shape;
}

class ExactBody final : public detail::Body, public HasSteps {
 public:
  ExactBody(const Executor& executor, const Problem& problem)
      : p_(problem), device_(device_of(executor)), executor_(executor), shape_(extents_of(problem)) {
    points_ = 1;
    for (const Dimension& d : p_.axes) points_ *= d.extent;
    total_ = element_count(shape_);
    factor_ = p_.factor;
    reals_ = 2 * static_cast<double>(points_);
    bound_ = std::sqrt(reals_) / norm_ * 0x1p-75;
    top_ = 2 * kWords * total_;  // two parts each
    peak_ = top_;
    for (std::size_t axis = 0; axis < p_.axes.size(); ++axis) add_axis(axis);
  }
  const std::vector<Step>& steps() const override { return steps_; }
  std::int64_t workspace_bytes() const override { return peak_ * static_cast<std::int64_t>(sizeof(float)); }
  Accuracy accuracy() const override {
    const double last = 0x1p-53 + (roundings_ + 4) * 0x1p-64;  // of the scale two, of the sum and of the product
    const double all = (bound_ + last + bound_ * last) * (1 + 0x1p-40);  // for the sums here
    return {Mode::Exact, 43, all * (p_.kind == Kind::ComplexToComplex ? 1 : std::sqrt(2.0))};
  }

  void execute(const Executor& executor, const Operands& o) const override {
    std::vector<C> values(static_cast<std::size_t>(total_));
    gather(executor, o.in, values);
    std::vector<int> exponent(static_cast<std::size_t>(total_ / points_));
    std::vector<float> words(static_cast<std::size_t>(2 * kWords * total_));
    split(values, exponent, words);
    auto* work = static_cast<float*>(o.workspace);
    const auto bytes = static_cast<std::int64_t>(words.size() * sizeof(float));
    copy_bytes(Executor::host(), words.data(), executor, work, bytes);
    for (const Step& step : steps_) {
      std::vector<Argument> arguments;
      for (const auto& [name, ref] : step.refs) arguments.push_back({name, work + ref.offset});
      for (const auto& [name, buffer] : step.constants) arguments.push_back({name, buffer.data()});
      launch(executor, step.program, arguments);
    }
    copy_bytes(executor, work, Executor::host(), words.data(), bytes);
    join(words, exponent, values);
    scatter(executor, o.out, values);
  }

 private:
  // Lines of one axis of the dense array whose words lie `distance` apart, from workspace offset `at`.
  struct Words {
    std::int64_t at, distance;
    PointLayout layout;
  };
  void add_axis(std::size_t axis) {
    const std::int64_t n = p_.axes[axis].extent;
    if (n == 1) return;
    std::int64_t inner = 1, outer = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      if (d < p_.batch.size() + axis) outer *= shape_[d];
      if (d > p_.batch.size() + axis) inner *= shape_[d];
    }
    const Words here{0, 2 * total_, {Format::Interleaved, false, n, 2 * inner}};
    lines(here, here, {{outer, 2 * inner * n, 2 * inner * n}, {inner, 2, 2}}, n);
  }

  void lines(const Words& in, const Words& out, std::vector<LineDim> dims, std::int64_t n) {
    lines(in, out, std::move(dims), n, p_.direction);
  }
  void lines(const Words& in, const Words& out, std::vector<LineDim> dims, std::int64_t n, Direction direction) {
    const std::int64_t limit = device_.machine().partitions;
    dims = merged_lines(std::move(dims));
    if (n <= limit) return step(in, out, dims, n, 1, 0, direction);
    if (const Factors f = block_factors(n, limit); f.n1 > 0) return step(in, out, dims, f.n1, f.n2, 0, direction);
    if (levels(n, limit) == 0) return bluestein(in, out, dims, n);
    // n = n1 m as in planner.cpp: (lines, j1, j2) -> (lines, k1, j2) in arrays of their own -> (lines, k2, k1).
    std::int64_t n1 = 2;
    while (n % n1 != 0 || levels(n / n1, limit) != levels(n, limit) - 1) ++n1;
    const std::int64_t m = n / n1, before = top_;
    std::vector<LineDim> to = dims, from = dims;
    Words middle = fresh_lines(n, to);
    for (std::size_t i = 0; i < dims.size(); ++i) from[i].in = to[i].out;
    middle.layout = {Format::Interleaved, false, n1, 2 * m};
    to.push_back({m, in.layout.stride, 2});
    Words first = in;
    first.layout.points = n1;
    first.layout.stride = in.layout.stride * m;
    step(first, middle, to, n1, 1, n, direction);
    from.push_back({n1, 2 * m, out.layout.stride});
    middle.layout = {Format::Interleaved, false, m, 2};
    Words last = out;
    last.layout.points = m;
    last.layout.stride = out.layout.stride * n1;
    lines(middle, last, from, m, direction);
    top_ = before;
  }

  // Dense lines of `points` in the workspace; sets the output distances.
  Words fresh_lines(std::int64_t points, std::vector<LineDim>& dims) {
    std::int64_t distance = 2 * points;
    for (std::size_t i = dims.size(); i-- > 0; distance *= dims[i].count) dims[i].out = distance;
    const Words made{top_, distance, {Format::Interleaved, false, points, 2}};
    top_ += kWords * distance;
    peak_ = std::max(peak_, top_);
    return made;
  }

  // See bluestein.cpp. The spectrum is scaled to magnitudes of at most 1, and m points count where n did; errors before
  // the product with it are as large behind it, while the result has its norm times sqrt(n)/largest, up to half of it.
  void bluestein(const Words& in, const Words& out, const std::vector<LineDim>& dims, std::int64_t n) {
    auto [m, chirp, spectrum, largest] = make_chirp(n, p_.direction, device_.machine().partitions, n, n);
    const std::int64_t before = top_;
    std::vector<LineDim> to = dims, from = dims, there = dims;
    const Words work = fresh_lines(m, to);
    for (std::size_t i = 0; i < dims.size(); ++i) from[i].in = there[i].in = there[i].out = to[i].out;
    const double reals = reals_, gain = static_cast<double>(largest / std::sqrt(static_cast<long double>(n)));
    points(in, work, to, chirp);
    reals_ *= static_cast<double>(m) / static_cast<double>(n);
    const double outside = bound_;
    lines(work, work, there, m, Direction::Forward);
    bound_ = outside + (bound_ - outside) * gain;
    norm_ /= gain;
    for (auto& b : spectrum) b /= largest;
    points(work, work, there, spectrum);
    bound_ += spectrum_error(n, m);
    lines(work, work, there, m, Direction::Inverse);
    points(work, out, from, chirp);
    reals_ = reals;
    factor_ *= largest / static_cast<long double>(m);
    roundings_ += 2;
    top_ = before;
  }
  // The spectrum of the chirp comes from long_dft: mixed radix, fours first. In units of 2^-64 a step of p points errs
  // in each result by at most 4 for a root, 3 for a product with it (twice, but once for p = 4) and 1 for an addition,
  // times the sum of moduli, which is below 2 n throughout. The result of the convolution has sqrt(n) times the norm of
  // its input.
  static double spectrum_error(std::int64_t n, std::int64_t m) {
    double units = 1;  // divided by the largest
    for (std::int64_t rest = m; rest > 1;) {
      std::int64_t p = rest % 4 == 0 ? 4 : 2;
      while (rest % p != 0) ++p;
      units += p == 4 ? 9 : 14 + static_cast<double>(p - 1);
      rest /= p;
    }
    return units * 0x1p-64 * 2 * std::sqrt(static_cast<double>(n));
  }
  void points(const Words& in, const Words& out, const std::vector<LineDim>& dims,
              const std::vector<std::complex<long double>>& table) {
    const PointwiseShape shape{in.layout, out.layout, merged_lines(dims), true, in.at == out.at};
    Step made;
    made.program = load(executor_, exact_pointwise_program, shape);
    add(std::move(made), in, out, {exact_pointwise_table(table)});
    turned();
  }

  void step(const Words& in, const Words& out, const std::vector<LineDim>& dims, std::int64_t n1, std::int64_t n2,
            std::int64_t table_length, Direction direction) {
    LinesShape shape{LineKernel::Blocks, Mode::Exact, n1, n2, in.layout, out.layout, dims, table_length > 0};
    shape.in_place = in.at == out.at;
    Step made;
    made.program = load(executor_, lines_program, shape);
    add(std::move(made), in, out, lines_constants(shape, device_.machine(), {direction, 1, table_length}));
    grow(n1);
    if (table_length > 0 || n2 > 1) turned();
    if (n2 > 1) grow(n2);
  }

  void add(Step made, const Words& in, const Words& out, const std::vector<Constant>& constants) {
    for (const auto& [name, words] : {std::pair{"x", &in}, std::pair{"y", &out}}) {
      for (int word = 0; word < kWords; ++word)
        made.refs.emplace_back(fmt::format("{}_{}", name, kWordNames[word]),
                               Ref{Ref::Of::Workspace, words->at + word * words->distance});
    }
    for (const Constant& c : constants) {
      made.constants.emplace_back(c.name, upload_constant(executor_, made.program->program().name(), c.bytes));
    }
    steps_.push_back(std::move(made));
  }

  // One exact step of n points: matrices of 2n by 2n reals, whose norms are at most 2n times their largest element. In
  // each number: slices leave 2^-66 of the data; the sum of levels 6 and 7 rounds at 2^-66, and 16 n additions in the
  // group of level 7, below 2^24 units of 2^-73, by half a unit. Of a vector of numbers: the products left out, 6.1 *
  // 2^-75 for each, and the matrix's own rest, 2^-65. Its n x n entries before they are cut have a root of unity right
  // to 2^-62 and a product, 2^-64, both relative to the scale.
  void grow(std::int64_t n) {
    const auto rows = 2 * static_cast<double>(n);
    const double unitary =
        static_cast<double>(exact_scale(n)) * std::sqrt(static_cast<double>(n));  // 1, or less for n < 4
    bound_ += std::sqrt(reals_) / norm_ * (0x1p-66 + (0x1p-66 + 8 * rows * 0x1p-74 + rows * 6.1 * 0x1p-75) / unitary) +
              rows * 0x1p-65 / unitary + std::sqrt(static_cast<double>(n)) * 5 * 0x1p-64;
    norm_ *= unitary;
    factor_ /= exact_scale(n);
    ++roundings_;
  }
  // A product with a table: 2^-66 in each number. Roots of unity are right to 2^-62: the angle, at most pi/4, to 2.3 *
  // 2^-64 of itself (pi, a quotient, a product), sine and cosine to one unit of 2^-64 each; cut to 12 * 4 bits and a
  // float they lose 2^-72.
  void turned() { bound_ += std::sqrt(reals_) / norm_ * 0x1p-66 + 0x1p-62; }

  template <class T> static View<T> view(const Executor& executor, T* data, const std::vector<Dimension>& dims,
                                         bool input, std::int64_t unit, Shape shape) {
    Strides strides;
    for (const Dimension& d : dims) strides.push_back((input ? d.input_stride : d.output_stride) / unit);
    return View<T>(executor, data, std::move(shape), std::move(strides));
  }
  std::vector<Dimension> dims() const {
    std::vector<Dimension> all = p_.batch;
    all.insert(all.end(), p_.axes.begin(), p_.axes.end());
    return all;
  }
  Shape half_shape() const {
    Shape half = shape_;
    half.back() = half.back() / 2 + 1;
    return half;
  }

  void gather(const Executor& executor, const Side& in, std::vector<C>& values) const {
    const Executor host = Executor::host();
    const bool half = p_.kind == Kind::ComplexToReal;
    const Shape shape = half ? half_shape() : shape_;
    std::vector<C> read(static_cast<std::size_t>(element_count(shape)));
    if (p_.kind == Kind::RealToComplex || p_.input_format == Format::Planar) {
      std::vector<double> part(read.size());
      for (int i = 0; i < (p_.kind == Kind::RealToComplex ? 1 : 2); ++i) {
        copy(view(executor, static_cast<const double*>(i == 0 ? in.re : in.im), dims(), true, 1, shape),
             View<double>(host, part.data(), shape));
        for (std::size_t k = 0; k < read.size(); ++k) i == 0 ? read[k].real(part[k]) : read[k].imag(part[k]);
      }
    } else {
      copy(view(executor, static_cast<const C*>(in.re), dims(), true, 2, shape), View<C>(host, read.data(), shape));
    }
    if (!half) {
      values = std::move(read);
      return;
    }
    // Rows of n/2 + 1 points to rows of n: point n - k of index (i0, i1, ...) is the conjugate of point k of its mirror
    // image in all axes.
    const std::int64_t n = shape_.back(), kept = n / 2 + 1, rows = points_ / n, batch = total_ / points_;
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const C* const mine = read.data() + (b * rows + row) * kept;
        const C* const other = read.data() + (b * rows + mirror_row(row)) * kept;
        C* const to = values.data() + (b * rows + row) * n;
        for (std::int64_t k = 0; k < n; ++k) to[k] = k < kept ? mine[k] : std::conj(other[n - k]);
        // Points of the last axis that are their own mirror image: only what the real transform of a row uses.
        if (rows == 1) {
          to[0].imag(0);
          if (n % 2 == 0) to[n / 2].imag(0);
        }
      }
    }
  }
  std::int64_t mirror_row(std::int64_t row) const {
    std::int64_t result = 0, unit = 1;
    for (std::size_t d = p_.axes.size() - 1; d-- > 0;) {
      const std::int64_t n = p_.axes[d].extent, i = row % n;
      row /= n;
      result += (n - i) % n * unit;
      unit *= n;
    }
    return result;
  }

  void split(const std::vector<C>& values, std::vector<int>& exponent, std::vector<float>& words) const {
    for_rows(static_cast<std::int64_t>(exponent.size()), total_, [&](std::int64_t b) {
      const C* const from = values.data() + b * points_;
      const auto part = [&](std::int64_t i) { return i % 2 == 0 ? from[i / 2].real() : from[i / 2].imag(); };
      long double squares = 0;  // the exponents of long double hold the squares of all doubles
      for (std::int64_t i = 0; i < 2 * points_; ++i)
        if (const long double v = part(i); std::isfinite(v)) squares += v * v;
      int e = 0;
      (void)std::frexp(std::sqrt(squares) * (1 + 0x1p-50L), &e);  // the norm is below 2^e
      exponent[static_cast<std::size_t>(b)] = e += kLargest;
      float* const hi = words.data() + 2 * b * points_;
      for (std::int64_t i = 0; i < 2 * points_; ++i) {
        const double v = std::ldexp(part(i), -e);
        const double first = std::ldexp(std::nearbyint(std::ldexp(v, kHiBits)), -kHiBits), rest = v - first;
        const double second = std::ldexp(std::nearbyint(std::ldexp(rest, kMidBits)), -kMidBits);
        hi[i] = static_cast<float>(first);
        hi[i + 2 * total_] = static_cast<float>(second);
        hi[i + 4 * total_] = static_cast<float>(rest - second);
      }
    });
  }
  void join(const std::vector<float>& words, const std::vector<int>& exponent, std::vector<C>& values) const {
    for_rows(static_cast<std::int64_t>(exponent.size()), total_, [&](std::int64_t b) {
      const float* const hi = words.data() + 2 * b * points_;
      const auto value = [&](std::int64_t i) {
        const long double sum = static_cast<long double>(hi[i]) + static_cast<long double>(hi[i + 2 * total_]) +
                                static_cast<long double>(hi[i + 4 * total_]);
        return static_cast<double>(std::ldexp(sum * factor_, exponent[static_cast<std::size_t>(b)]));
      };
      for (std::int64_t i = 0; i < points_; ++i)
        values[static_cast<std::size_t>(b * points_ + i)] = {value(2 * i), value(2 * i + 1)};
    });
  }

  void scatter(const Executor& executor, const Side& out, const std::vector<C>& values) const {
    const Executor host = Executor::host();
    const bool half = p_.kind == Kind::RealToComplex;
    const Shape shape = half ? half_shape() : shape_;
    std::vector<C> kept;
    const std::int64_t n = shape_.back(), wanted = shape.back();
    for (std::int64_t row = 0; row < total_ / n; ++row)
      kept.insert(kept.end(), values.begin() + row * n, values.begin() + row * n + wanted);
    if (p_.kind == Kind::ComplexToReal || p_.output_format == Format::Planar) {
      std::vector<double> part(kept.size());
      for (int i = 0; i < (p_.kind == Kind::ComplexToReal ? 1 : 2); ++i) {
        for (std::size_t k = 0; k < kept.size(); ++k) part[k] = i == 0 ? kept[k].real() : kept[k].imag();
        copy(View<const double>(host, part.data(), shape),
             view(executor, static_cast<double*>(i == 0 ? out.re : out.im), dims(), false, 1, shape));
      }
      return;
    }
    copy(View<const C>(host, kept.data(), shape), view(executor, static_cast<C*>(out.re), dims(), false, 2, shape));
  }

  const Problem p_;
  Device& device_;
  const Executor executor_;
  const Shape shape_;
  std::int64_t points_ = 1, total_ = 1, top_ = 0, peak_ = 0;
  std::vector<Step> steps_;
  double bound_ = 0, reals_ = 2,
         norm_ = 0.125;   // bound_: but for scales and the last rounding; reals_: numbers of a transform
  double roundings_ = 0;  // of factor_, in long double
  long double factor_ = 1;
};

}  // namespace

std::shared_ptr<const detail::Body> build_exact(const Executor& executor, const Problem& problem) {
  return std::make_shared<ExactBody>(executor, problem);
}

}  // namespace trn::fft::device

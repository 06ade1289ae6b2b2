// What the tests of the device programs share: lines in memory with gaps around them, runs on a simulated machine, and
// long double sums as the oracle.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <trn/fft/lines_program.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/machine.hpp>
#include <vector>

#include "dft_oracle.hpp"

namespace trn::fft::device_test {

using Wide = std::complex<long double>;

// exp(-+ 2 pi i k/n), the angle reduced in integers; independent of roots.cpp.
inline Wide turn(std::int64_t k, std::int64_t n, Direction direction) {
  k %= n;
  if (2 * k > n) k -= n;
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
  return {std::cos(angle), direction == Direction::Forward ? -std::sin(angle) : std::sin(angle)};
}

// The transform by its formula.
inline std::vector<Wide> slow_transform(const std::vector<Wide>& x, Direction direction, long double factor = 1) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<Wide> w(x.size()), y(x.size());
  for (std::int64_t k = 0; k < n; ++k) w[static_cast<std::size_t>(k)] = turn(k, n, direction);
  for (std::int64_t k = 0; k < n; ++k) {
    Wide sum = 0;
    for (std::int64_t j = 0, at = 0; j < n; ++j, at = at + k >= n ? at + k - n : at + k)
      sum += x[static_cast<std::size_t>(j)] * w[static_cast<std::size_t>(at)];
    y[static_cast<std::size_t>(k)] = factor * sum;
  }
  return y;
}
// The same in n log n, by the oracle.
inline std::vector<Wide> wide_transform(std::vector<Wide> x, Direction direction, long double factor = 1) {
  const bool inverse = direction == Direction::Inverse;  // conj F(conj x)
  if (inverse)
    for (Wide& z : x) z = std::conj(z);
  x = testing::oracle_dft(x);
  for (Wide& z : x) z = factor * (inverse ? std::conj(z) : z);
  return x;
}

inline double norm(const std::vector<Wide>& x) {
  long double sum = 0;
  for (const Wide& v : x) sum += std::norm(v);
  return static_cast<double>(std::sqrt(sum));
}
inline double distance(const std::vector<Wide>& x, const std::vector<Wide>& y) {
  std::vector<Wide> d(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) d[i] = x[i] - y[i];
  return norm(d);
}

// Memory of one side: two planes or one of pairs, with a value in the gaps that must stay.
class LineMemory {
 public:
  LineMemory(const PointLayout& layout, const std::vector<LineDim>& lines, bool input)
      : layout_(layout), lines_(lines), input_(input) {
    std::int64_t span = (layout.points - 1) * layout.stride + (pairs() ? 2 : 1);
    for (const LineDim& d : lines) span += (d.count - 1) * distance(d);
    for (auto& plane : planes_) plane.assign(static_cast<std::size_t>(span), kGap);
  }
  [[nodiscard]] bool pairs() const { return layout_.format == Format::Interleaved && !layout_.real; }
  float* plane(int part) { return planes_[pairs() ? 0 : part].data(); }
  float& at(const std::vector<std::int64_t>& line, std::int64_t point, int part) {
    std::int64_t offset = point * layout_.stride + (pairs() ? part : 0);
    for (std::size_t d = 0; d < lines_.size(); ++d) offset += line[d] * distance(lines_[d]);
    return planes_[pairs() ? 0 : part][static_cast<std::size_t>(offset)];
  }
  void bind(std::vector<tile::Binding>& bindings) {
    const std::string name = input_ ? "x" : "y";
    if (pairs())
      bindings.push_back({name, plane(0)});
    else
      bindings.push_back({name + "_re", plane(0)});
    if (!pairs() && !layout_.real) bindings.push_back({name + "_im", plane(1)});
  }
  static constexpr float kGap = -77.25F;
  std::vector<float> planes_[2];

 private:
  [[nodiscard]] std::int64_t distance(const LineDim& d) const { return input_ ? d.in : d.out; }
  PointLayout layout_;
  std::vector<LineDim> lines_;
  bool input_;
};

// Every line's index.
inline std::vector<std::vector<std::int64_t>> all_lines(const std::vector<LineDim>& lines) {
  std::vector<std::vector<std::int64_t>> all{{}};
  for (const LineDim& d : lines) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& line : all) {
      for (std::int64_t i = 0; i < d.count; ++i) {
        longer.push_back(line);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Kernel Columns with the first half of its points (see columns.cpp).
inline bool half_columns(const LinesShape& s) { return s.kernel == LineKernel::Columns && s.in.points < s.n(); }

struct LinesRun {
  LineMemory x, y;
  std::vector<float> last;  // point n/2 of line 0 of half_columns, where its line begins
  LinesRun(const LinesShape& shape, std::uint64_t seed = 1)
      : x(shape.in, shape.lines, true), y(shape.out, shape.lines, false) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    for (const auto& line : all_lines(shape.lines)) {
      for (std::int64_t j = 0; j < shape.in.points; ++j) {
        for (int part = 0; part < (shape.in.real ? 1 : 2); ++part) x.at(line, j, part) = normal(random);
      }
    }
    last.resize(x.planes_[0].size());
    for (float& v : last) v = normal(random);
  }
  void run(const LinesShape& shape, const char* machine_name, const ConstantOptions& constants = {},
           const neuron::SimOptions& options = {.order = neuron::Order::in_order()}) {
    const tile::Machine& machine = tile::machine(machine_name);
    std::vector<Constant> made = lines_constants(shape, machine, constants);
    std::vector<tile::Binding> bindings;
    x.bind(bindings);
    y.bind(bindings);
    for (Constant& c : made) bindings.push_back({c.name, c.bytes.data()});
    if (half_columns(shape)) bindings.push_back({"x_last", last.data()});
    (void)neuron::simulate(lines_program(shape, machine), machine, bindings, options);
  }
  // The largest relative error of a line.
  double error(const LinesShape& shape, const ConstantOptions& constants = {}) {
    double worst = 0;
    const std::int64_t n = shape.n();
    for (const auto& line : all_lines(shape.lines)) {
      std::vector<Wide> in(static_cast<std::size_t>(n)), out;
      for (std::int64_t j = 0; j < n && half_columns(shape); ++j) {
        const bool zero = line.back() == 0;
        std::int64_t begin = 0;
        for (std::size_t d = 0; d + 1 < line.size(); ++d) begin += line[d] * shape.lines[d].in;
        if (j < shape.in.points)
          in[static_cast<std::size_t>(j)] =
              zero && j == 0 ? Wide(x.at(line, j, 0)) : Wide(2.0L * x.at(line, j, 0), 2.0L * x.at(line, j, 1));
        else if (2 * j == n && zero)
          in[static_cast<std::size_t>(j)] = last[static_cast<std::size_t>(begin)];
      }
      for (std::int64_t j = 0; j < n && !half_columns(shape); ++j) {
        const bool mirrored = shape.in.points < n && j >= shape.in.points;
        const std::int64_t from = mirrored ? n - j : j;
        const bool self = shape.in.points < n && (j == 0 || 2 * j == n);
        const long double re = x.at(line, from, 0), im = shape.in.real || self ? 0 : x.at(line, from, 1);
        in[static_cast<std::size_t>(j)] = {re, mirrored ? -im : im};
      }
      std::vector<Wide> exact = wide_transform(in, constants.direction, constants.factor);
      if (shape.table) {
        for (std::int64_t k = 0; k < n; ++k)
          exact[static_cast<std::size_t>(k)] *= turn(k * line.back(), constants.table_length, constants.direction);
      }
      exact.resize(static_cast<std::size_t>(shape.out.points));
      for (std::int64_t k = 0; k < shape.out.points; ++k) {
        out.emplace_back(y.at(line, k, 0), shape.out.real ? 0 : y.at(line, k, 1));
        if (shape.out.real) exact[static_cast<std::size_t>(k)].imag(0);
      }
      worst = std::max(worst, distance(out, exact) / norm(exact));
    }
    return worst;
  }
};

// Dense lines, one behind the other, as rows (points are neighbours) or columns (lines are neighbours) on both sides.
inline LinesShape dense_lines(LineKernel kernel, std::int64_t n1, std::int64_t n2, std::int64_t count,
                              bool columns = false) {
  const std::int64_t n = n1 * n2, stride = columns ? 2 * count : 2, distance = columns ? 2 : 2 * n;
  const PointLayout points{Format::Interleaved, false, n, stride};
  return {kernel, Mode::Native, n1, n2, points, points, {{count, distance, distance}}, false};
}

}  // namespace trn::fft::device_test

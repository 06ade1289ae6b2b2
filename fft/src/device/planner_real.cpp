// Real lines longer than 128 points and the steps point by point.
//
// Up to 128^2 points a half line is one side of a program (half_out.cpp, half_in.cpp). Beyond, real lines that have the
// factors for it take half the work in both steps (real_columns.cpp, pairs.cpp). Of the others a real input costs the
// first step half its products and half results half the last one's; half lines come in likewise, where the first
// factor is 128. Other half lines become whole ones with the same real transform by weights and zeros, without mirror
// images.
#include <algorithm>
#include <trn/core/error.hpp>
#include <utility>

#include "line_kernel.hpp"
#include "planner.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

// The lines of two steps with the workspace between them.
struct TwoSteps {
  std::vector<LineDim> first, second;
  Field between;
};
TwoSteps two_steps(Planner& planner, const std::vector<LineDim>& lines, std::int64_t points) {
  TwoSteps s{lines, lines, {}};
  s.between = planner.workspace_lines(points, s.first, Planner::As::Output);
  for (std::size_t i = 0; i < lines.size(); ++i) s.second[i].in = s.first[i].out;
  return s;
}
constexpr double kUnit = 0x1p-24;

}  // namespace

namespace {

// Lines of n = N m points, m = n1 n2, for kernels RealColumns and Pairs; N = 0 where there are none. The fullest array,
// and of those as full the largest N: residue N/2 takes programs of its own.
constexpr std::int64_t kPairPoints = std::int64_t{1} << 20;  // fewer are not worth the launch of a third program
struct PairFactors {
  std::int64_t N = 0, n1 = 0, n2 = 0;
};
PairFactors pair_factors(std::int64_t n, const std::vector<LineDim>& lines, const Machine& machine) {
  const std::int64_t limit = machine.partitions, across = lines.back().count;
  std::int64_t points = n;
  for (const LineDim& d : lines) points *= d.count;
  PairFactors best;
  if (points < kPairPoints) return best;
  double value = 0.48;  // below, the array is fuller with other factors
  for (std::int64_t N = limit; N >= 8; N /= 2) {
    const std::int64_t m = n / N;
    if (n % N != 0 || m % 2 != 0 || real_columns_width(N, m, machine) < 32) continue;
    for (std::int64_t n2 = limit; n2 > limit / 2; n2 -= 2) {
      if (m % n2 != 0 || !pairs_fit(m / n2, n2, N / 2, across, machine)) continue;
      const std::int64_t n1 = m / n2, rows = lines_together(n1, machine) * n1;
      const double here =
          static_cast<double>(rows * n2) / static_cast<double>(limit * limit) / (1 + 2.0 / static_cast<double>(N));
      if (here > 1.01 * value) value = here, best = {N, n1, n2};
    }
  }
  return best;
}

}  // namespace

bool Planner::long_pairs(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                         Direction direction, long double factor) {
  if (way_ != Way::Quickest || mode_ != Mode::Native || out.layout.format != Format::Interleaved) return false;
  // Transforms that follow one another share the array: those of the longest dimension.
  std::vector<LineDim> all = lines;
  std::stable_sort(all.begin(), all.end(), [](const LineDim& a, const LineDim& b) { return a.count < b.count; });
  const auto [N, n1, n2] = pair_factors(n, all, device_.machine());
  if (N == 0) return false;
  const std::int64_t before = mark(), m = n / N, stride = out.layout.stride;

  std::vector<LineDim> to = all, rest = all, residue = all;
  const Field work = workspace_lines(N / 2 * m, to, As::Output);
  for (std::size_t i = 0; i < all.size(); ++i) rest[i].in = residue[i].in = to[i].out;
  Field x = in, y = work;
  x.layout.points = N, x.layout.stride = in.layout.stride * m;
  y.layout.points = N / 2, y.layout.stride = 2 * m;
  to.push_back({m, in.layout.stride, 2});
  kernel(LineKernel::RealColumns, 1, N, x, y, to, {direction, 1, n});
  const double first = bound_;

  Field from = work, half = out;
  from.layout.points = m;
  half.layout.points = m / 2, half.layout.stride = stride * N;
  rest.push_back({N / 2, 2 * m, stride});
  kernel(LineKernel::Pairs, n1, n2, from, half, rest, {direction, factor, 0});
  if (make_ == Make::Everything) {
    const auto at = [&](std::int64_t point) { return Ref{out.re.of, out.re.offset + point * stride}; };
    steps_.back().refs.emplace_back("y_mirror", at(N / 2 + 1));
    steps_.back().refs.emplace_back("y_lone", at(n / 2 - N / 2 + 1));
  }
  const double most = bound_;

  // Residue N/2: row N/2 of the first step, real without its twiddles, lies in the place of row 0's imaginary part.
  bound_ = first;
  Field z = half;
  for (Ref* ref : {&z.re, &z.im}) ref->offset += N / 2 * stride;
  blocks(from, z, residue, m, {direction, factor, 0}, true);
  bound_ = std::max(bound_, most);
  release(before);
  return true;
}

bool Planner::long_pairs_in(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                            Direction direction, long double factor) {
  // Where Vector Engine and GpSimd take turns the sums of these kernels cost more than their products save.
  if (way_ != Way::Quickest || mode_ != Mode::Native || in.layout.format != Format::Interleaved ||
      device_.machine().vector_gpsimd_share_port)
    return false;
  std::vector<LineDim> all = lines;
  std::stable_sort(all.begin(), all.end(), [](const LineDim& a, const LineDim& b) { return a.count < b.count; });
  const auto [N, n1, n2] = pair_factors(n, all, device_.machine());
  if (N == 0) return false;
  const std::int64_t before = mark(), m = n / N, stride = in.layout.stride;

  // N/2 lines of pairs, and behind them row N/2, which is real.
  std::vector<LineDim> to = all, from = all;
  const Field work = workspace_lines(N / 2 * m + m / 2, to, As::Output);
  for (std::size_t i = 0; i < all.size(); ++i) from[i].in = to[i].out;
  Field half = in, row = work, line = work;
  half.layout.points = m / 2, half.layout.stride = stride * N;
  row.re.offset += N * m;
  row.layout = {Format::Interleaved, true, m, 1};
  line.layout.points = m;
  const double outside = bound_;
  Field residue = half;
  for (Ref* ref : {&residue.re, &residue.im}) ref->offset += N / 2 * stride;
  blocks(residue, row, to, m, {direction, 1, 0}, true);
  const double most = std::exchange(bound_, outside);
  to.push_back({N / 2, stride, 2 * m});
  kernel(LineKernel::PairsIn, n1, n2, half, line, to, {direction, 1, 0});
  if (make_ == Make::Everything) {
    const auto at = [&](std::int64_t point) { return Ref{in.re.of, in.re.offset + point * stride}; };
    steps_.back().refs.emplace_back("x_mirror", at(N / 2 + 1));
    steps_.back().refs.emplace_back("x_lone", at(n / 2 - N / 2 + 1));
    steps_.back().refs.emplace_back("x_middle", row.re);
  }
  bound_ = std::max(bound_, most);

  Field z = work, x = out;
  z.layout.points = N / 2, z.layout.stride = 2 * m;
  x.layout.points = N, x.layout.stride = out.layout.stride * m;
  from.push_back({m, 2, out.layout.stride});
  kernel(LineKernel::ColumnsReal, 1, N, z, x, from, {direction, factor, n});
  release(before);
  return true;
}

// Of the lines k1 the points k1 + n1 k2 <= n/2 are wanted: m/2 of each, and one more of line 0 if m is even, of the
// lines up to n1/2 if m is odd. Line 0 is done twice, because n1 lines fill the array better than n1 - 1.
void Planner::long_half(std::int64_t n1, const Field& in, const Field& out, const std::vector<LineDim>& lines,
                        std::int64_t n, Direction direction, long double factor) {
  const std::int64_t m = n / n1, before = mark(), longer = m % 2 == 0 ? 1 : n1 / 2 + 1;
  const Rest rest = first_of_long(n1, in, out, lines, n, direction);
  const double first = bound_;
  double most = 0;
  const auto some = [&](std::int64_t k1, std::int64_t count, std::int64_t points) {
    if (count * points == 0) return;
    Field from = rest.from, to = out;
    std::vector<LineDim> these = rest.lines;
    these.back().count = count;
    for (Ref* ref : {&from.re, &from.im}) ref->offset += k1 * rest.lines.back().in;
    for (Ref* ref : {&to.re, &to.im}) ref->offset += k1 * rest.lines.back().out;
    to.layout.points = points;
    to.layout.stride = out.layout.stride * n1;
    bound_ = first;
    transform(from, to, these, m, direction, factor);
    most = std::max(most, bound_);
  };
  if (m % 2 == 0)
    some(0, n1, m / 2);
  else
    some(longer, n1 - longer, m / 2);
  some(0, longer, m / 2 + 1);
  bound_ = most;
  release(before);
}

void Planner::half_to_real(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                           Direction direction, long double factor) {
  const std::int64_t before = mark(), limit = device_.machine().partitions;
  if (levels(n, limit) > 0 && long_pairs_in(in, out, lines, n, direction, factor)) return;
  if (levels(n, limit) == 2 && n % limit == 0 && levels(n / limit, limit) == 1) {
    const Rest rest = first_of_long(limit, in, out, lines, n, direction, true);
    Field z = out;
    z.layout.points = n / limit;
    z.layout.stride = out.layout.stride * limit;
    transform(rest.from, z, rest.lines, n / limit, direction, factor);
    return release(before);
  }
  // Bluestein's algorithm takes the zeros behind the half line as read.
  const bool zeros = levels(n, limit) > 0;
  const TwoSteps s = two_steps(*this, lines, zeros ? n : n / 2 + 1);
  const HalfLineShape shape{in.layout, s.between.layout, merged_lines(s.first), n};
  if (make_ == Make::Everything) add(load(executor_, half_line_program, shape), in, s.between, {});
  if (zeros)
    transform(s.between, out, s.second, n, direction, factor);
  else
    bluestein(s.between, out, s.second, n, direction, factor);
  release(before);
}

void Planner::cut_results(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                          Direction direction, long double factor) {
  const std::int64_t before = mark();
  const TwoSteps s = two_steps(*this, lines, n);
  transform(in, s.between, s.first, n, direction, factor);
  pointwise(s.between, out, s.second, {});
  release(before);
}

void Planner::pointwise(const Field& in, const Field& out, const std::vector<LineDim>& lines,
                        const std::vector<std::complex<long double>>& table) {
  const PointwiseShape shape{in.layout, out.layout, merged_lines(lines), !table.empty(), in.re == out.re};
  if (!table.empty()) bound_ += 4 * kUnit;  // the product 2 sqrt(2) u, its constant u
  if (make_ == Make::BoundAlone) return;
  std::vector<Constant> constants;
  if (!table.empty()) {
    Constant c{"table", std::vector<std::byte>(2 * table.size() * sizeof(float))};
    auto* entry = reinterpret_cast<float*>(c.bytes.data());
    for (const auto& t : table) *entry++ = static_cast<float>(t.real()), *entry++ = static_cast<float>(t.imag());
    constants.push_back(std::move(c));
  }
  add(load(executor_, pointwise_program, shape), in, out, std::move(constants));
}

}  // namespace trn::fft::device

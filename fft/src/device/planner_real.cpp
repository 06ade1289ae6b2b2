// Real lines longer than 128 points and the steps point by point.
//
// Up to 128^2 points a half line is one side of a program (half_out.cpp, half_in.cpp). Beyond, a real input costs the
// first step half its products and half results half the last one's; half lines come in likewise, where the first factor
// is 128. Other half lines become whole ones with the same real transform by weights and zeros, without mirror images.
#include <algorithm>
#include <trn/core/error.hpp>

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
  if (make_ == Make::Everything)
    add(device_.programs().get(shape, [&](const HalfLineShape& h) { return half_line_program(h, device_.machine()); }),
        in, s.between, {});
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
  const PointwiseShape shape{in.layout, out.layout, merged_lines(lines), !table.empty()};
  if (!table.empty()) bound_ += 4 * kUnit;  // the product 2 sqrt(2) u, its constant u
  if (make_ == Make::BoundAlone) return;
  const auto program =
      device_.programs().get(shape, [&](const PointwiseShape& s) { return pointwise_program(s, device_.machine()); });
  std::vector<Constant> constants;
  if (!table.empty()) {
    Constant c{"table", std::vector<std::byte>(2 * table.size() * sizeof(float))};
    auto* entry = reinterpret_cast<float*>(c.bytes.data());
    for (const auto& t : table) *entry++ = static_cast<float>(t.real()), *entry++ = static_cast<float>(t.imag());
    constants.push_back(std::move(c));
  }
  add(program, in, out, std::move(constants));
}

}  // namespace trn::fft::device

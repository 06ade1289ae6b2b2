// Real lines longer than 128 points: complex ones of half the length where n is even; and the steps point by point.
#include <trn/core/error.hpp>

#include "planner.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

// Lines of n reals as lines of n/2 pairs.
Field as_pairs(const Field& real) {
  Field pairs = real;
  pairs.im = {real.re.of, real.re.offset + real.layout.stride};
  pairs.layout = {real.layout.stride == 1 ? Format::Interleaved : Format::Planar, false, real.layout.points / 2, 2 * real.layout.stride};
  return pairs;
}
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

void Planner::real_to_half(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n, Direction direction, long double factor) {
  const std::int64_t before = mark();
  const TwoSteps s = two_steps(*this, lines, n / 2);
  transform(as_pairs(in), s.between, s.first, n / 2, direction, factor / 2);
  mirror(MirrorKind::RealToHalf, s.between, out, s.second, direction);
  release(before);
}

void Planner::half_to_real(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n, Direction direction, long double factor) {
  const std::int64_t before = mark();
  const bool even = n % 2 == 0;
  const TwoSteps s = two_steps(*this, lines, even ? n / 2 : n);
  mirror(even ? MirrorKind::HalfToReal : MirrorKind::Expand, in, s.between, s.first, direction);
  transform(s.between, even ? as_pairs(out) : out, s.second, even ? n / 2 : n, direction, factor);
  release(before);
}

void Planner::through_workspace(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n, Direction direction, long double factor) {
  const std::int64_t before = mark();
  TwoSteps s = two_steps(*this, lines, n);
  if (in.layout.real) pointwise(in, s.between, s.first, {});
  std::vector<LineDim> there = s.second;
  for (LineDim& d : there) d.out = d.in;
  if (in.layout.real) transform(s.between, s.between, there, n, direction, factor);
  else transform(in, s.between, s.first, n, direction, factor);
  pointwise(s.between, out, s.second, {});
  release(before);
}

void Planner::pointwise(const Field& in, const Field& out, const std::vector<LineDim>& lines, const std::vector<std::complex<long double>>& table) {
  const PointwiseShape shape{in.layout, out.layout, merged_lines(lines), !table.empty()};
  const auto program = device_.programs().get(shape, [&](const PointwiseShape& s) { return pointwise_program(s, device_.machine()); });
  std::vector<Constant> constants;
  if (!table.empty()) {
    Constant c{"table", std::vector<std::byte>(2 * table.size() * sizeof(float))};
    auto* entry = reinterpret_cast<float*>(c.bytes.data());
    for (const auto& t : table) *entry++ = static_cast<float>(t.real()), *entry++ = static_cast<float>(t.imag());
    constants.push_back(std::move(c));
    bound_ += 4 * kUnit;  // the product 2 sqrt(2) u, its constant u
  }
  add(program, in, out, std::move(constants));
}

// Sums of a point and its mirror image and their product by a table: each rounding at most u of numbers whose norm is at most that of a and b together, twice the
// result's at most: 2 (1 + 2 + 2) u.
void Planner::mirror(MirrorKind kind, const Field& in, const Field& out, const std::vector<LineDim>& lines, Direction direction) {
  const MirrorShape shape{kind, in.layout, out.layout, merged_lines(lines)};
  const auto program = device_.programs().get(shape, [&](const MirrorShape& s) { return mirror_program(s, device_.machine()); });
  add(program, in, out, mirror_constants(shape, direction));
  if (kind != MirrorKind::Expand) bound_ += 10 * kUnit;
}

}  // namespace trn::fft::device

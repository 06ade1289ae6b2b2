// Kernels and factors for lines: see planner.hpp.
#include "planner.hpp"

#include <algorithm>
#include <cmath>
#include <trn/core/error.hpp>

#include "../problem.hpp"
#include "line_kernel.hpp"

namespace trn::fft::device {

using namespace trn::tile;

std::vector<LineDim> merged_lines(std::vector<LineDim> lines) {
  std::vector<Dimension> dims;
  for (const LineDim& d : lines) dims.push_back({d.count, d.in, d.out});
  lines.clear();
  for (const Dimension& d : normal_batch(std::move(dims))) lines.push_back({d.extent, d.input_stride, d.output_stride});
  if (lines.empty()) lines.push_back({1, 0, 0});
  return lines;
}

namespace {

std::int64_t unit(const PointLayout& layout) { return layout.format == Format::Interleaved && !layout.real ? 2 : 1; }
bool neighbours(const PointLayout& layout) { return layout.stride == unit(layout) || layout.points == 1; }
// DMA time per real for runs of so many reals, ns: see dma_cost.
double per_real(std::int64_t run, const Machine& machine) {
  const double bytes = static_cast<double>(run) * 4;
  return (machine.timing.dma_run_overhead_s + bytes / machine.timing.dma_engine_bytes_per_s) / static_cast<double>(run);
}

void put_last(std::vector<LineDim>& lines, std::size_t which) {
  std::rotate(lines.begin() + static_cast<std::ptrdiff_t>(which),
              lines.begin() + static_cast<std::ptrdiff_t>(which) + 1, lines.end());
}
// The dimension whose lines are closest together.
std::size_t closest(const std::vector<LineDim>& lines) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (std::abs(lines[i].in) + std::abs(lines[i].out) < std::abs(lines[best].in) + std::abs(lines[best].out)) best = i;
  }
  return best;
}
std::size_t largest(const std::vector<LineDim>& lines) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].count >= lines[best].count) best = i;
  }
  return best;
}

}  // namespace

LineKernel Planner::short_kernel(const Field& in, const Field& out, const std::vector<LineDim>& lines) const {
  if (in.layout.real || out.layout.real) return LineKernel::Rows;
  if (way_ != Way::Quickest) return way_ == Way::Rows ? LineKernel::Rows : LineKernel::Columns;
  const Machine& machine = device_.machine();
  const LineDim& d = lines[closest(lines)];
  const auto rows = [&](const PointLayout& p) {
    return per_real(neighbours(p) ? p.points * unit(p) : unit(p), machine);
  };
  const auto columns = [&](const PointLayout& p, std::int64_t distance) {
    return per_real(distance == unit(p) ? std::min<std::int64_t>(512, d.count) * unit(p) : unit(p), machine);
  };
  return columns(in.layout, d.in) + columns(out.layout, d.out) < rows(in.layout) + rows(out.layout)
             ? LineKernel::Columns
             : LineKernel::Rows;
}

Ref Planner::take(std::int64_t reals) {
  constexpr std::int64_t kAlign = 64 / sizeof(float);
  const Ref ref{Ref::Of::Workspace, top_};
  top_ += (reals + kAlign - 1) / kAlign * kAlign;
  peak_ = std::max(peak_, top_);
  return ref;
}

Field Planner::workspace_lines(std::int64_t points, std::vector<LineDim>& lines, As as) {
  std::int64_t distance = 2 * points;
  for (std::size_t i = lines.size(); i-- > 0;) {
    (as == As::Input ? lines[i].in : lines[i].out) = distance;
    distance *= lines[i].count;
  }
  const Ref re = take(distance);
  return {re, {re.of, re.offset + 1}, {Format::Interleaved, false, points, 2}};
}

void Planner::add(const std::shared_ptr<const Executable>& program, const Field& in, const Field& out,
                  std::vector<Constant> constants) {
  Step step;
  step.program = program;
  for (const auto& [name, field] : {std::pair{"x", &in}, std::pair{"y", &out}}) {
    if (unit(field->layout) == 2) {
      step.refs.emplace_back(name, field->re);
      continue;
    }
    step.refs.emplace_back(fmt::format("{}_re", name), field->re);
    if (!field->layout.real) step.refs.emplace_back(fmt::format("{}_im", name), field->im);
  }
  for (const Constant& c : constants) {
    step.constants.emplace_back(c.name, upload_constant(executor_, program->program().name(), c.bytes));
  }
  steps_.push_back(std::move(step));
}

void Planner::kernel(LineKernel which, std::int64_t n1, std::int64_t n2, const Field& in, const Field& out,
                     std::vector<LineDim> lines, const ConstantOptions& options, bool odd) {
  const LinesShape shape{
      which, mode_, n1, n2, in.layout, out.layout, std::move(lines), options.table_length > 0, odd, in.re == out.re};
  bound_ += lines_error_bound(shape);
  if (make_ == Make::BoundAlone) return;
  add(load(executor_, lines_program, shape), in, out, lines_constants(shape, device_.machine(), options));
  if (in.re.of == Ref::Of::InputRe && out.re.of == Ref::Of::OutputRe)
    steps_.back().in_place = std::make_shared<InPlace>(executor_, shape);
  if (which == LineKernel::Columns && in.layout.points < n2)
    steps_.back().refs.emplace_back("x_last", Ref{in.re.of, in.re.offset + n2 / 2 * in.layout.stride});
}

void Planner::transform(const Field& in, const Field& out, std::vector<LineDim> lines, std::int64_t n,
                        Direction direction, long double factor) {
  const std::int64_t limit = device_.machine().partitions;
  lines = merged_lines(std::move(lines));
  const ConstantOptions options{direction, factor, 0};
  const bool whole_lines = in.layout.points == n && out.layout.points == n;
  const bool halved =
      (in.layout.real && out.layout.points == n / 2 + 1) || (out.layout.real && in.layout.points == n / 2 + 1);
  if (n <= limit && (halved || (whole_lines && !in.layout.real && !out.layout.real))) {
    const LineKernel which = short_kernel(in, out, lines);
    if (which == LineKernel::Columns) {
      put_last(lines, closest(lines));
      if (lines.size() > 2) std::swap(lines[largest({lines.begin(), lines.end() - 1})], lines[lines.size() - 2]);
    } else {
      put_last(lines, largest(lines));
    }
    return kernel(which, 1, n, in, out, lines, options);
  }
  if (in.layout.points < n && block_factors(n, limit).n1 == 0)
    return half_to_real(in, out, lines, n, direction, factor);
  if (block_factors(n, limit).n1 > 0) return blocks(in, out, lines, n, options);
  if (levels(n, limit) == 0) return bluestein(in, out, lines, n, direction, factor);
  if (in.layout.real && out.layout.points == n / 2 + 1 && long_pairs(in, out, lines, n, direction, factor)) return;
  if (in.layout.real && out.layout.points == n / 2 + 1)
    return long_half(first_factor(n, device_.machine()), in, out, lines, n, direction, factor);
  if (out.layout.points < n) return cut_results(in, out, lines, n, direction, factor);
  long_lines(first_factor(n, device_.machine()), in, out, lines, n, direction, factor);
}

void Planner::blocks(const Field& in, const Field& out, std::vector<LineDim> lines, std::int64_t n,
                     const ConstantOptions& options, bool odd) {
  lines = merged_lines(std::move(lines));
  const std::size_t near = closest(lines);
  const bool inner =
      std::abs(lines[near].in) < std::abs(in.layout.stride) || std::abs(lines[near].out) < std::abs(out.layout.stride);
  put_last(lines, inner ? near : largest(lines));
  const LinesShape wanted{LineKernel::Blocks, mode_, 1, n, in.layout, out.layout, lines, false, odd};
  const Factors f = way_ == Way::Quickest ? quickest_factors(n, wanted, device_.machine())
                                          : block_factors(n, device_.machine().partitions);
  kernel(LineKernel::Blocks, f.n1, f.n2, in, out, lines, options, odd);
}

// x_(j1 m + j2) -> workspace (lines, k1, j2) -> y_(k1 + n1 k2).
Planner::Rest Planner::first_of_long(std::int64_t n1, const Field& in, const Field& out,
                                     const std::vector<LineDim>& lines, std::int64_t n, Direction direction,
                                     bool half) {
  const std::int64_t m = n / n1;
  std::vector<LineDim> to = lines;
  Rest rest{workspace_lines(n, to, As::Output), lines};
  for (std::size_t i = 0; i < lines.size(); ++i) rest.lines[i] = {lines[i].count, to[i].out, lines[i].out};
  // Points j1, lines (lines, j2).
  to.push_back({m, in.layout.stride, 2});
  Field x = in, y = rest.from;
  x.layout.points = half ? n1 / 2 : n1;
  y.layout.points = n1;
  x.layout.stride = in.layout.stride * m;
  y.layout.stride = 2 * m;
  kernel(LineKernel::Columns, 1, n1, x, y, to, {direction, 1, n});
  // Points j2, lines (lines, k1).
  rest.from.layout.points = m;
  rest.lines.push_back({n1, 2 * m, out.layout.stride});
  return rest;
}

void Planner::long_lines(std::int64_t n1, const Field& in, const Field& out, const std::vector<LineDim>& lines,
                         std::int64_t n, Direction direction, long double factor) {
  const std::int64_t before = mark();
  const Rest rest = first_of_long(n1, in, out, lines, n, direction);
  Field z = out;
  z.layout.points = n / n1;
  z.layout.stride = out.layout.stride * n1;
  transform(rest.from, z, rest.lines, n / n1, direction, factor);
  release(before);
}

}  // namespace trn::fft::device

namespace trn::fft {

// Each step, for K products summed one after another in fp32 (u = 2^-24), by Parseval's identity: the rounding of
// partial sum i of every result is at most u times it, and the partial sums of all results together are the transform
// of the first i points, of norm <= sqrt(n)
// ||x||. So K roundings cost at most K u of the norm of the result; real and imaginary parts of x contribute separately
// (sqrt 2), a folded line or a matrix of 2 n real rows no more than 2 n u in all. A rounded constant is off by u
// relative, a matrix of them by sqrt(n) u in norm. A product of words adds product_error (data: once; constants:
// sqrt(n)). A twiddle costs 2 sqrt(2) u for the product and u for its constant. Half lines change nothing: fewer
// results come of the same sums, and of n/2 + 1 weighted points (build.cpp) fewer partial sums.
double lines_error_bound(const LinesShape& s) {
  const double u = 0x1p-24;
  const device::Words& words = device::words_of(s.mode);
  const auto step = [&](std::int64_t n) {
    if (n == 1) return u + 2 * words.product_error;
    const auto points = static_cast<double>(n);
    const double sums = chain_roundings(words, 2 * points) + 4;
    return (sums + std::sqrt(points)) * u + words.product_error * (1 + std::sqrt(points));
  };
  const double twiddle = 4 * u;
  double bound = step(s.n2);
  if (s.kernel == LineKernel::Blocks || s.kernel == LineKernel::Pairs || s.kernel == LineKernel::PairsIn)
    bound += step(s.n1) + twiddle;
  if (s.kernel == LineKernel::Pairs || s.kernel == LineKernel::PairsIn) bound += 2 * u;  // a sum and a difference
  if (s.in.points < s.n()) bound += 2 * u;  // point n/2 times its factor, added last
  if (s.table) bound += twiddle;
  return bound;
}

}  // namespace trn::fft

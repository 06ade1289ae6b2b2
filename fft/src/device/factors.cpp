// Choosing factors: see factors.hpp.
//
// Times are those of the timing model without its fixed costs: for one line, the busiest of Tensor Engine, Vector
// Engine and DMA. Factors decide how many lines share the array, and how long the runs are that DMA moves.
#include "factors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>

namespace trn::fft::device {

using tile::Machine;

namespace {

double fill(std::int64_t f, std::int64_t limit) {
  return static_cast<double>(limit / f * f) / static_cast<double>(limit);
}

int levels_of(std::int64_t n, std::int64_t limit, std::map<std::int64_t, int>& known) {
  if (n <= limit || block_factors(n, limit).n1 > 0) return 1;
  if (const auto found = known.find(n); found != known.end()) return found->second;
  int best = 0;
  for (std::int64_t f = 2; f <= limit; ++f) {
    if (n % f != 0) continue;
    const int rest = levels_of(n / f, limit, known);
    if (rest > 0 && (best == 0 || rest + 1 < best)) best = rest + 1;
  }
  return known[n] = best;
}

// DMA seconds for so many reals in runs of so many.
double dma_seconds(double reals, std::int64_t run, const Machine& m) {
  const double runs = reals / static_cast<double>(run), bytes = 4 * static_cast<double>(run);
  return runs * (m.timing.dma_run_overhead_s + bytes / m.timing.dma_engine_bytes_per_s) /
         static_cast<double>(m.dma_engines);
}

// One line's share of a tile of kernel Blocks.
double blocks_seconds(std::int64_t n1, std::int64_t n2, const LinesShape& s, const Machine& m) {
  const std::int64_t n = n1 * n2, count = s.lines.back().count;
  const bool half_in = s.in.points < n, half_out = s.out.points < n;
  std::int64_t above = std::max<std::int64_t>(1, m.partitions / n1),
               beside = std::max<std::int64_t>(1, m.partitions / n2);
  if (half_in || half_out) beside = std::min(beside, std::max<std::int64_t>(1, m.partitions / 2 / ((n2 + 1) / 2)));
  beside = std::min(beside, count);
  above = std::min(above, (count + beside - 1) / beside);
  const auto lines = static_cast<double>(above * beside);
  const std::int64_t deep = std::clamp<std::int64_t>(count / (above * beside), 1, 16);
  // Columns that stream through the array in each product of the first step; half of them in the second.
  const auto columns = static_cast<double>(2 * (half_in ? beside * n2 : above * n1));
  const double first = s.in.real || half_in ? 1 : 2, second = half_in || half_out || s.out.real ? 1 : 2;
  const double tensor = (first + second) * columns * m.timing.fp32_passes * m.timing.fp32_factor / m.tensor_hz;
  const double vector = (half_in || half_out ? 2 : 3) * columns / m.vector_hz + m.timing.vector_fixed_s;
  const auto run = [&](const tile::Machine&, const PointLayout& p, std::int64_t distance, std::int64_t points,
                       std::int64_t lines_in_row) {
    const std::int64_t unit = p.format == Format::Interleaved && !p.real ? 2 : 1;
    if (count > 1 && std::abs(distance) < std::abs(p.stride)) return distance == unit ? unit * lines_in_row : unit;
    return p.stride == unit ? unit * points : unit;
  };
  const auto reals = [](const PointLayout& p) { return static_cast<double>(p.points * (p.real ? 1 : 2)); };
  // Neighbouring points: n2 on the side of x, n1 on that of y; neighbouring lines: those that lie behind one another
  // there.
  const std::int64_t x_lines = beside * deep, y_lines = beside == 1 ? above * deep : deep;
  const auto& d = s.lines.back();
  const double dma =
      dma_seconds(reals(s.in), half_in ? run(m, s.in, d.in, n1, y_lines) : run(m, s.in, d.in, n2, x_lines), m) +
      dma_seconds(reals(s.out), half_in ? run(m, s.out, d.out, n2, x_lines) : run(m, s.out, d.out, n1, y_lines), m);
  return std::max({tensor / lines, vector / lines, dma});
}

}  // namespace

Factors block_factors(std::int64_t n, std::int64_t limit) {
  // How full the array is, times how well runs of that many 8-byte points move: 5 ns and 8 bytes at 26 GB/s each.
  const auto moves = [](std::int64_t f) { return static_cast<double>(f) / (static_cast<double>(f) + 16); };
  Factors best;
  double value = 0;
  for (std::int64_t n1 = 1; n1 <= std::min(n, limit); ++n1) {
    if (n % n1 != 0 || n / n1 > limit) continue;
    const double here = fill(n1, limit) * fill(n / n1, limit) * std::min(moves(n1), moves(n / n1));
    if (here > value) value = here, best = {n1, n / n1};
  }
  return best;
}

int levels(std::int64_t n, std::int64_t limit) {
  std::map<std::int64_t, int> known;
  return levels_of(n, limit, known);
}

Factors quickest_factors(std::int64_t n, const LinesShape& lines, const Machine& machine) {
  Factors best;
  double least = 0;
  for (std::int64_t n1 = 1; n1 <= std::min(n, machine.partitions); ++n1) {
    if (n % n1 != 0 || n / n1 > machine.partitions) continue;
    const double here = blocks_seconds(n1, n / n1, lines, machine);
    // Factors that are as quick: the most even ones, whose tiles are the smallest.
    const bool even = std::abs(n1 - n / n1) < std::abs(best.n1 - best.n2);
    if (best.n1 == 0 || here < 0.99 * least || (here < 1.01 * least && even)) least = here, best = {n1, n / n1};
  }
  return best;
}

std::int64_t first_factor(std::int64_t n, const Machine& machine) {
  const std::int64_t limit = machine.partitions;
  const int all = levels(n, limit);
  std::int64_t best = 0;
  double least = 0;
  for (std::int64_t f = 2; f <= limit; ++f) {
    if (n % f != 0 || levels(n / f, limit) != all - 1) continue;
    // Kernel Columns per point of the line, its table included, then lines of n/f points whose results lie f apart.
    const std::int64_t m = n / f;
    const double rows = static_cast<double>(limit / f * f), points = static_cast<double>(n);
    const double tensor =
        4 * machine.timing.fp32_passes * machine.timing.fp32_factor / machine.tensor_hz / rows * points;
    const double vector = 4 / machine.vector_hz / rows * points;
    double here = std::max({tensor, vector, dma_seconds(6 * points, 1024, machine)});
    const PointLayout in{Format::Interleaved, false, m, 2}, out{Format::Interleaved, false, m, 2 * f};
    const LinesShape lines{LineKernel::Blocks, Mode::Native, 1, m, in, out, {{f, 2 * m, 2}}, false};
    const auto rest = static_cast<double>(f);
    if (const Factors b = all == 2 ? quickest_factors(m, lines, machine) : Factors{}; b.n1 > 0)
      here += rest * blocks_seconds(b.n1, b.n2, lines, machine);
    else
      here += dma_seconds(2 * points, 2 * f, machine) + tensor;
    // Of factors that are as quick the largest: the results of more lines are neighbours.
    if (best == 0 || here < 1.02 * least) least = std::min(here, best == 0 ? here : least), best = f;
  }
  ensure(best > 0, "fft: {} has no factor up to {}", n, limit);
  return best;
}

}  // namespace trn::fft::device

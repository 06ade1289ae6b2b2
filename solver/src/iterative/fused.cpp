// The loops around blocks of fused steps: see fused_krylov.hpp.
#include <algorithm>

#include <trn/solver/fused_krylov.hpp>

#include "checks.hpp"
#include "iterative/run.hpp"
#include "kernels/fused_krylov.hpp"

namespace trn::solver {

namespace iterative {

namespace {

struct Fused {
  KrylovShape shape;
  const float* a;
  SpectrumBounds spectrum;  // Chebyshev
};

// The largest number whose root is at most `limit`: what the device takes for converged, the host does too.
float square_of(double limit) {
  auto square = static_cast<float>(limit * limit);
  while (square > 0 && std::sqrt(static_cast<double>(square)) > limit) square = std::nextafter(square, 0.0f);
  return square;
}

// Norms of the residuals after step i, or an outcome where a number of it stops the iteration.
Outcome norms_after(const Run<float>& run, const std::vector<float>& trace, std::int64_t i, bool cg, Norms& size) {
  const auto columns = static_cast<std::int64_t>(size.size());
  for (std::int64_t j = 0; j < columns; ++j) {
    const float rho = trace[at((2 * i) * columns + j)], sigma = trace[at((2 * i + 1) * columns + j)];
    if (!std::isfinite(rho) || !std::isfinite(sigma)) return {Status::NotFinite, -1};
    if (cg && run.active(size, j) && !(sigma > 0)) return {Status::NotPositiveDefinite, j};
    size[at(j)] = std::sqrt(static_cast<double>(rho));
  }
  return {};
}

// Cg and Chebyshev alike: the vectors as the program has them, blocks of steps until the columns have converged.
Outcome fused_loop(Run<float>& run, const void* extra) {
  const Fused& fused = *static_cast<const Fused*>(extra);
  const bool cg = fused.shape.method == KrylovMethod::Cg;
  const double theta = (fused.spectrum.hi + fused.spectrum.lo) / 2;
  // An interval of one point is widened: the recurrence divides by its half width.
  const double delta = std::max((fused.spectrum.hi - fused.spectrum.lo) / 2, theta * 0x1p-20);
  const Block<float> x = run.block(), p = run.block();
  assign<float>(MatrixView<const float>(run.x), x.view());
  assign<float>(run.r, p.view());
  FusedStepsArgs g{fused.shape,     0,  fused.a,           x.view().data(), run.r.view().data(),
                   p.view().data(), {}, 2 * theta / delta, 2 / delta,       nullptr};
  g.shape.columns = run.x.columns();
  std::optional<Array<float>> rho;
  if (cg) {
    for (const double limit : run.limits) g.limits.push_back(square_of(limit));
  } else {
    scale(Scalars<float>(at(g.shape.columns), static_cast<float>(1 / theta)), p.view());
    rho = Array<float>::from_host(run.x.executor(), {1}, std::vector{static_cast<float>(delta / theta)});
    g.rho = rho->data();
  }
  Norms size = norms<float>(run.r);
  Outcome outcome;
  for (bool going = true; going && outcome.ok() && run.first_active(size) >= 0;) {
    g.steps = std::min(kKrylovSteps, run.max_iterations - run.iterations);
    const std::vector<float> trace = dispatch(cg ? kFusedCg : kFusedChebyshev, run.x.executor(), g);
    run.products += g.steps;
    const std::int64_t end = run.iterations + g.steps;
    for (std::int64_t i = 0; i < g.steps && going && (!cg || run.first_active(size) >= 0); ++i) {
      outcome = norms_after(run, trace, i, cg, size);
      if (!outcome.ok()) break;
      going = run.step(size);
    }
    if (!going && outcome.ok()) run.iterations = end;  // the block has run
  }
  assign<float>(x, run.x);
  return outcome.ok() ? run.left_off(size) : outcome;
}

KrylovShape shape_of(const char* operation, const detail::ResidentMatrix& m, KrylovMethod method) {
  KrylovShape shape{method, m.a.rows(), 1, 0, {}, {}};
  if (m.dense) {
    const MatrixView<const float>& a = *m.dense;
    const bool rows = a.column_stride() == 1 || a.columns() == 1;
    const std::int64_t stride = rows ? a.row_stride() : a.column_stride();
    require(a.rows() <= 1 || ((rows || a.row_stride() == 1) && stride >= a.columns()),
            "{}: A has strides {} and {}; its rows or its columns must be contiguous and lie apart", operation,
            a.row_stride(), a.column_stride());
    shape.stride = std::max<std::int64_t>(stride, 1);
    return shape;
  }
  const BlockTiles& t = m.tiles;
  const std::int64_t windows = (t.order + 127) / 128;
  require(t.order == m.a.rows(), "{}: the tiles are of order {}, A has {} rows", operation, t.order, m.a.rows());
  const auto count = static_cast<std::int64_t>(t.blocks.size());
  require(static_cast<std::int64_t>(t.offsets.size()) == windows + 1 && t.offsets.front() == 0 &&
              t.offsets.back() == count && std::is_sorted(t.offsets.begin(), t.offsets.end()),
          "{}: the offsets of the tiles must rise from 0 to {} in {} steps", operation, count, windows);
  for (const std::int32_t block : t.blocks) {
    require(block >= 0 && block < windows, "{}: a tile is in block column {}; there are {}", operation, block, windows);
  }
  require(t.tiles || count == 0, "{}: the tiles have no address", operation);
  shape.offsets = t.offsets, shape.blocks = t.blocks;
  return shape;
}

// One group of columns after another.
IterationReport by_groups(const Method& method, const detail::ResidentMatrix& m, const MatrixView<const float>& b,
                          const MatrixView<float>& x, const KrylovOptions& options, const SpectrumBounds& spectrum) {
  check_system<float>(method.operation, m.a, b, x, options);
  require(m.a.rows() == m.a.columns(), "{}: A is {} x {}; it must be square", method.operation, m.a.rows(),
          m.a.columns());
  const KrylovMethod kind = method.name == "fused cg" ? KrylovMethod::Cg : KrylovMethod::Chebyshev;
  if (m.dense) checks::apart(method.operation, "A", *m.dense, "X", x);
  const Fused fused{shape_of(method.operation, m, kind), m.dense ? m.dense->data() : m.tiles.tiles, spectrum};
  const auto run = [&](const MatrixView<const float>& some_b, const MatrixView<float>& some_x) {
    return iterate<float>(method, m.a, {}, some_b, some_x, options, fused_loop, &fused);
  };
  const auto& question = kind == KrylovMethod::Cg ? kFusedCgColumns : kFusedChebyshevColumns;
  const std::int64_t most = ask(question, x.executor(), fused.shape), columns = b.columns();
  if (b.rows() == 0 || columns == 0) return run(b, x);
  if (most == 0)
    fail<NotImplemented>("{}: a matrix of order {} does not fit into SBUF of '{}'; use cg or chebyshev",
                         method.operation, b.rows(), x.executor().name());
  // What is not finite is reported with its place in the whole.
  if (columns <= most || !looked_at(b).ok() ||
      (options.guess == Guess::InX && !looked_at(MatrixView<const float>(x)).ok()))
    return run(b, x);
  IterationReport report;
  report.algorithm = method.name;
  for (std::int64_t first = 0; first < columns; first += most) {
    const std::int64_t count = std::min(most, columns - first);
    IterationReport part = run(b.block(0, first, b.rows(), count), x.block(0, first, x.rows(), count));
    if (report.outcome.ok() && !part.outcome.ok()) {
      report.outcome = part.outcome;
      if (report.outcome.index >= 0) report.outcome.index += first;
    }
    report.iterations = std::max(report.iterations, part.iterations);
    report.products += part.products;
    report.residuals.insert(report.residuals.end(), part.residuals.begin(), part.residuals.end());
    report.accuracy.bound = std::max(report.accuracy.bound, part.accuracy.bound);
  }
  return report;
}

}  // namespace
}  // namespace iterative

IterationReport detail::fused_cg(const ResidentMatrix& a, const MatrixView<const float>& b, const MatrixView<float>& x,
                                 const KrylovOptions& options) {
  return iterative::by_groups({"solver.fused_cg", "fused cg"}, a, b, x, options, {1, 1});
}
IterationReport detail::fused_chebyshev(const ResidentMatrix& a, const MatrixView<const float>& b,
                                        const MatrixView<float>& x, const SpectrumBounds& spectrum,
                                        const KrylovOptions& options) {
  require(spectrum.lo > 0 && spectrum.lo <= spectrum.hi && std::isfinite(spectrum.hi),
          "solver.fused_chebyshev: the spectrum is said to lie in [{}, {}]; 0 < lo <= hi must hold", spectrum.lo,
          spectrum.hi);
  return iterative::by_groups({"solver.fused_chebyshev", "fused chebyshev"}, a, b, x, options, spectrum);
}

}  // namespace trn::solver

// The search for a product's grid: all of them, which are few.
#include <trn/blas/dist_grid.hpp>

#include <algorithm>
#include <limits>

#include <trn/core/error.hpp>

namespace trn::blas {

namespace {

double share(std::int64_t extent, int ranks) { return static_cast<double>((extent + ranks - 1) / ranks); }

}  // namespace

double product_volume(const ProductShape& s, const dist::Grid& g) {
  const auto k = static_cast<double>(s.k);
  return share(s.m, g.rows) * k * (1 - 1.0 / g.columns) + share(s.n, g.columns) * k * (1 - 1.0 / g.rows);
}

double product_memory(const ProductShape& s, const dist::Grid& g) {
  const double rows = share(s.m, g.rows), columns = share(s.n, g.columns), k = static_cast<double>(s.k),
               panel = static_cast<double>(std::min(s.panel, s.k));
  return rows * columns + rows * k / g.columns + columns * k / g.rows + panel * (rows + columns);
}

namespace {

void check_shape(const char* operation, const ProductShape& s, int ranks) {
  require(s.m >= 0 && s.n >= 0 && s.k >= 0 && s.panel >= 1 && ranks >= 1 && s.terms_per_element >= 0,
          "{}: m {}, n {}, k {}, panel {}, {} terms an element, {} ranks; extents and terms must be at least 0, panel "
          "and ranks at least 1",
          operation, s.m, s.n, s.k, s.panel, s.terms_per_element, ranks);
}

// Of a layer: its range of k.
ProductShape layer_of(const ProductShape& s, int layers) {
  ProductShape part = s;
  part.k = (s.k + layers - 1) / layers;
  return part;
}

}  // namespace

double product_volume(const ProductShape& s, const LayeredGrid& g) {
  const double panels = product_volume(layer_of(s, g.layers), g.grid);
  if (g.layers == 1) return panels;
  const double lines = static_cast<double>(s.m + s.n) * static_cast<double>(s.k) / (g.layers * g.grid.size()),
               words = 3 * share(s.m, g.grid.rows) * share(s.n, g.grid.columns) * (1 - 1.0 / g.layers);
  // Operands come twice: as whole lines, and into the layers.
  return panels + 2 * lines + words;
}

std::optional<LayeredGrid> layered_product_grid(const ProductShape& s, int ranks) {
  check_shape("blas.layered_product_grid", s, ranks);
  std::optional<LayeredGrid> best;
  double least = std::numeric_limits<double>::infinity();
  for (int layers = 1; layers <= ranks; ++layers) {
    const ProductShape part = layer_of(s, layers);
    const std::optional<dist::Grid> grid = product_grid(part, ranks / layers);
    if (!grid) continue;
    const LayeredGrid candidate{*grid, layers};
    const double terms = share(s.m, grid->rows) * share(s.n, grid->columns) * static_cast<double>(part.k),
                 time = terms + s.terms_per_element * product_volume(s, candidate);
    if (!best || time < least) least = time, best = candidate;
  }
  return best;
}

std::optional<dist::Grid> product_grid(const ProductShape& s, int ranks) {
  check_shape("blas.product_grid", s, ranks);
  std::optional<dist::Grid> best;
  double least = std::numeric_limits<double>::infinity();
  for (int rows = 1; rows <= ranks; ++rows) {
    for (int columns = 1; rows * columns <= ranks; ++columns) {
      const dist::Grid grid{rows, columns};
      if (s.memory > 0 && product_memory(s, grid) > s.memory) continue;
      const double terms = share(s.m, rows) * share(s.n, columns) * static_cast<double>(s.k);
      const double time = terms + s.terms_per_element * product_volume(s, grid);
      // Of equal ones the smaller, then the squarer.
      const bool better = !best || time < least ||
                          (time == least && grid.size() == best->size() &&
                           std::max(rows, columns) < std::max(best->rows, best->columns));
      if (better) least = time, best = grid;
    }
  }
  return best;
}

}  // namespace trn::blas

// Orderings and colourings.
#include <trn/sparse/ordering.hpp>

#include <metis.h>

#include <mutex>
#include <new>
#include <numeric>

#include <trn/core/enumerators.hpp>
#include <trn/sparse/structure.hpp>

#include "graph.hpp"

namespace trn::sparse {

namespace {

constexpr auto kEverywhere = [](std::int64_t) { return true; };

std::vector<std::int64_t> natural(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

}  // namespace

Permutation reverse_cuthill_mckee(const Pattern<>& a) {
  const Graph g("sparse.reverse_cuthill_mckee", a);
  Search search(g);
  Permutation order;
  std::vector<char> done(static_cast<std::size_t>(g.n), 0);
  for (std::int64_t i = 0; i < g.n; ++i) {
    if (done[static_cast<std::size_t>(i)] != 0) continue;
    search.from(search.far_end(i, kEverywhere), kEverywhere, true);
    for (const std::int32_t v : search.order) done[static_cast<std::size_t>(v)] = 1, order.push_back(v);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

Permutation nested_dissection(const Pattern<>& a) {
  const Graph g("sparse.nested_dissection", a);
  Permutation order = natural(g.n);
  if (g.n < 2 || g.neighbours.empty()) return order;
  require(g.neighbours.size() <= kMostExtent<std::int32_t>,
          "sparse.nested_dissection: a graph of {} edges; METIS takes {}. Use minimum_degree", g.neighbours.size() / 2,
          kMostExtent<std::int32_t> / 2);
  static std::mutex one_at_a_time;  // METIS seeds the C library's random numbers
  const std::lock_guard lock(one_at_a_time);
  std::vector<idx_t> offsets(g.offsets.begin(), g.offsets.end()), neighbours(g.neighbours.begin(), g.neighbours.end()),
      places(static_cast<std::size_t>(g.n)), inverse_places(places.size());
  auto vertices = static_cast<idx_t>(g.n);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  const int status = METIS_NodeND(&vertices, offsets.data(), neighbours.data(), nullptr, options, places.data(),
                                  inverse_places.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  ensure(status == METIS_OK, "sparse.nested_dissection: METIS says {} to {} vertices", status, g.n);
  std::copy(places.begin(), places.end(), order.begin());
  return order;
}

Permutation Colouring::order() const {
  Permutation order = natural(static_cast<std::int64_t>(colour.size()));
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
    return colour[static_cast<std::size_t>(x)] < colour[static_cast<std::size_t>(y)];
  });
  return order;
}

Colouring colouring(const Pattern<>& a) {
  const Graph g("sparse.colouring", a);
  Permutation order = natural(g.n);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t x, std::int64_t y) { return g.degree(x) > g.degree(y); });
  Colouring c;
  c.colour.assign(static_cast<std::size_t>(g.n), -1);
  std::vector<std::int64_t> used;
  for (const std::int64_t i : order) {
    for (const std::int32_t j : g.of(i)) {
      const std::int32_t taken = c.colour[static_cast<std::size_t>(j)];
      if (taken >= 0) used[static_cast<std::size_t>(taken)] = i;
    }
    std::int32_t own = 0;
    while (own < c.colours && used[static_cast<std::size_t>(own)] == i) ++own;
    if (own == c.colours) ++c.colours, used.push_back(-1);
    c.colour[static_cast<std::size_t>(i)] = own;
  }
  return c;
}

std::int64_t cholesky_entries(const Pattern<>& a, std::span<const std::int64_t> order) {
  const Graph g("sparse.cholesky_entries", a);
  require(static_cast<std::int64_t>(order.size()) == g.n, "sparse.cholesky_entries: an order of {} for {} rows",
          order.size(), g.n);
  const Permutation place = inverse(order);
  std::vector<std::int64_t> parent(order.size(), -1), mark(order.size(), -1);
  std::int64_t entries = g.n;
  for (std::int64_t i = 0; i < g.n; ++i) {
    mark[static_cast<std::size_t>(i)] = i;
    for (const std::int32_t v : g.of(order[static_cast<std::size_t>(i)])) {
      // Up the elimination tree from each entry of the row: what is met is the row of L.
      for (std::int64_t j = place[static_cast<std::size_t>(v)]; j < i && mark[static_cast<std::size_t>(j)] != i;
           j = parent[static_cast<std::size_t>(j)]) {
        mark[static_cast<std::size_t>(j)] = i;
        ++entries;
        if (parent[static_cast<std::size_t>(j)] < 0) parent[static_cast<std::size_t>(j)] = i;
      }
    }
  }
  return entries;
}

std::string_view name(Reorder reorder) {
  constexpr std::string_view names[] = {"none", "rcm", "partition", "minimum degree", "nested dissection", "best"};
  return names[static_cast<int>(reorder)];
}

Permutation order_of(const Pattern<>& a, Reorder reorder, std::int64_t block) {
  operands::check_enumerator("sparse.order_of", "Reorder", reorder, Reorder::Best);
  switch (reorder) {
    case Reorder::None:
      return natural(a.rows());
    case Reorder::ReverseCuthillMcKee:
      return reverse_cuthill_mckee(a);
    case Reorder::Partition:
      return partition(a, block);
    case Reorder::MinimumDegree:
      return minimum_degree(a);
    case Reorder::NestedDissection:
      return nested_dissection(a);
    case Reorder::Best:
      break;
  }
  Permutation best = natural(a.rows());
  std::int64_t fewest = block_fill(a, block).blocks;
  for (const Reorder other : {Reorder::ReverseCuthillMcKee, Reorder::Partition}) {
    Permutation order = order_of(a, other, block);
    const std::int64_t blocks = block_fill(a, block, order).blocks;
    if (blocks < fewest) fewest = blocks, best = std::move(order);
  }
  return best;
}

BlockFill block_fill(const Pattern<>& pattern, std::int64_t block, std::span<const std::int64_t> order) {
  constexpr const char* operation = "sparse.block_fill";
  host_only(operation, pattern.executor());
  require(block >= 1, "{}: blocks of {}; they must be >= 1", operation, block);
  const PatternRef<std::int32_t> a = host_ref(pattern);
  require(order.empty() || (static_cast<std::int64_t>(order.size()) == a.rows && a.rows == a.columns),
          "{}: an order of {} for {} x {}", operation, order.size(), a.rows, a.columns);
  const Permutation place = inverse(order);
  std::vector<std::int64_t> mark(static_cast<std::size_t>(a.columns / block + 1), -1);
  BlockFill f;
  for (std::int64_t p = 0; p < a.rows; ++p) {
    const std::int64_t i = order.empty() ? p : order[static_cast<std::size_t>(p)];
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t j = order.empty() ? a.indices[k] : place[static_cast<std::size_t>(a.indices[k])];
      auto& seen = mark[static_cast<std::size_t>(j / block)];
      f.blocks += seen != p / block;
      seen = p / block;
    }
  }
  if (f.blocks > 0)
    f.fill = static_cast<double>(a.nnz()) /
             (static_cast<double>(f.blocks) * static_cast<double>(block) * static_cast<double>(block));
  return f;
}

}  // namespace trn::sparse

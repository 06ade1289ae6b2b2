// Orderings and colourings.
#include <trn/sparse/ordering.hpp>

#include <numeric>
#include <set>

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

// Approximate minimum degree of the vertices in `part`, appended to `order`. Eliminated vertices become elements; a
// variable's neighbours are its remaining variables and the members of its elements. The degree is bounded by
// |A_i| + |L_p| + sum over its other elements e of |L_e \ L_p|.
void eliminate(const Graph& g, std::span<const std::int32_t> part, std::vector<std::int32_t>& local,
               Permutation& order) {
  const auto n = static_cast<std::int32_t>(part.size());
  for (std::int32_t k = 0; k < n; ++k) local[static_cast<std::size_t>(part[static_cast<std::size_t>(k)])] = k;
  std::vector<std::vector<std::int32_t>> variables(static_cast<std::size_t>(n)), elements(static_cast<std::size_t>(n)),
      members(static_cast<std::size_t>(n));
  std::vector<std::int64_t> degree(static_cast<std::size_t>(n)), mark(static_cast<std::size_t>(n), -1),
      outside(static_cast<std::size_t>(n), -1), stamp(static_cast<std::size_t>(n), -1);
  std::vector<char> alive(static_cast<std::size_t>(n), 1), absorbed(static_cast<std::size_t>(n), 0);
  std::set<std::pair<std::int64_t, std::int32_t>> queue;
  for (std::int32_t k = 0; k < n; ++k) {
    for (const std::int32_t j : g.of(part[static_cast<std::size_t>(k)])) {
      if (local[static_cast<std::size_t>(j)] >= 0)
        variables[static_cast<std::size_t>(k)].push_back(local[static_cast<std::size_t>(j)]);
    }
    degree[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(variables[static_cast<std::size_t>(k)].size());
    queue.emplace(degree[static_cast<std::size_t>(k)], k);
  }
  for (std::int32_t step = 0; step < n; ++step) {
    const std::int32_t p = queue.begin()->second;
    const auto pivot = static_cast<std::size_t>(p);
    queue.erase(queue.begin());
    alive[pivot] = 0;
    order.push_back(part[pivot]);
    std::vector<std::int32_t>& list = members[pivot];
    const auto take = [&](std::int32_t i) {
      if (alive[static_cast<std::size_t>(i)] == 0 || mark[static_cast<std::size_t>(i)] == step) return;
      mark[static_cast<std::size_t>(i)] = step;
      list.push_back(i);
    };
    for (const std::int32_t i : variables[pivot]) take(i);
    for (const std::int32_t e : elements[pivot]) {
      for (const std::int32_t i : members[static_cast<std::size_t>(e)]) take(i);
      absorbed[static_cast<std::size_t>(e)] = 1;
      members[static_cast<std::size_t>(e)] = {};
    }
    variables[pivot] = {}, elements[pivot] = {};
    // outside[e] = |L_e \ L_p| for every element that touches L_p.
    for (const std::int32_t i : list) {
      for (const std::int32_t e : elements[static_cast<std::size_t>(i)]) {
        const auto at = static_cast<std::size_t>(e);
        if (absorbed[at] != 0) continue;
        if (stamp[at] != step) {
          stamp[at] = step;
          std::erase_if(members[at], [&](std::int32_t v) { return alive[static_cast<std::size_t>(v)] == 0; });
          outside[at] = static_cast<std::int64_t>(members[at].size());
        }
        --outside[at];
      }
    }
    const auto size = static_cast<std::int64_t>(list.size());
    for (const std::int32_t i : list) {
      const auto at = static_cast<std::size_t>(i);
      std::erase_if(variables[at], [&](std::int32_t v) {
        return alive[static_cast<std::size_t>(v)] == 0 || mark[static_cast<std::size_t>(v)] == step;
      });
      std::erase_if(elements[at], [&](std::int32_t e) {
        const auto k = static_cast<std::size_t>(e);
        if (absorbed[k] == 0 && outside[k] == 0) absorbed[k] = 1, members[k] = {};  // inside the new element
        return absorbed[k] != 0;
      });
      std::int64_t bound = static_cast<std::int64_t>(variables[at].size()) + size - 1;
      for (const std::int32_t e : elements[at]) bound += outside[static_cast<std::size_t>(e)];
      bound = std::min({bound, degree[at] + size - 1, std::int64_t{n} - step - 1});
      elements[at].push_back(p);
      queue.erase({degree[at], i});
      degree[at] = bound;
      queue.emplace(bound, i);
    }
  }
  for (const std::int32_t v : part) local[static_cast<std::size_t>(v)] = -1;
}

// Cuts `part` in two by a level of a breadth-first search that lies nearest to the middle: first half, second half,
// separator. The part must be connected.
class Dissection {
 public:
  Dissection(const Graph& g, std::int64_t leaf)
      : g_(g),
        leaf_(leaf),
        owner_(static_cast<std::size_t>(g.n), 0),
        local_(static_cast<std::size_t>(g.n), -1),
        search_(g) {}

  void run(std::vector<std::int32_t> part, Permutation& order) {
    if (static_cast<std::int64_t>(part.size()) <= leaf_) return eliminate(g_, part, local_, order);
    const std::int64_t own = ++owners_;
    for (const std::int32_t v : part) owner_[static_cast<std::size_t>(v)] = own;
    const auto inside = [&](std::int64_t v) { return owner_[static_cast<std::size_t>(v)] == own; };
    search_.from(search_.far_end(part.front(), inside), inside);
    const std::vector<std::int32_t> met = search_.order;
    if (met.size() < part.size()) {  // several components
      for (const std::int32_t v : met) owner_[static_cast<std::size_t>(v)] = 0;
      std::vector<std::int32_t> rest;
      for (const std::int32_t v : part) {
        if (inside(v)) rest.push_back(v);
      }
      run(met, order);
      return run(std::move(rest), order);
    }
    const std::vector<std::int64_t> levels = search_.levels;
    if (levels.size() < 4) return eliminate(g_, part, local_, order);
    std::size_t middle = 1;
    while (middle + 2 < levels.size() - 1 && 2 * levels[middle + 1] < static_cast<std::int64_t>(met.size())) ++middle;
    const auto at = [&](std::size_t level) { return met.begin() + levels[level]; };
    std::vector<std::int32_t> first(met.begin(), at(middle)), separator(at(middle), at(middle + 1)),
        second(at(middle + 1), met.end());
    run(std::move(first), order), run(std::move(second), order);
    order.insert(order.end(), separator.begin(), separator.end());
  }

 private:
  const Graph& g_;
  std::int64_t leaf_;
  std::vector<std::int64_t> owner_;
  std::vector<std::int32_t> local_;
  Search search_;
  std::int64_t owners_ = 0;
};

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

Permutation minimum_degree(const Pattern<>& a) {
  const Graph g("sparse.minimum_degree", a);
  std::vector<std::int32_t> all(static_cast<std::size_t>(g.n)), local(all.size(), -1);
  std::iota(all.begin(), all.end(), 0);
  Permutation order;
  eliminate(g, all, local, order);
  return order;
}

Permutation nested_dissection(const Pattern<>& a, std::int64_t leaf) {
  require(leaf >= 1, "sparse.nested_dissection: leaves of {}; they must be >= 1", leaf);
  const Graph g("sparse.nested_dissection", a);
  std::vector<std::int32_t> all(static_cast<std::size_t>(g.n));
  std::iota(all.begin(), all.end(), 0);
  Permutation order;
  if (g.n > 0) Dissection(g, leaf).run(std::move(all), order);
  return order;
}

Permutation partition(const Pattern<>& a, std::int64_t size) {
  require(size >= 1, "sparse.partition: parts of {}; they must be >= 1", size);
  const Graph g("sparse.partition", a);
  Search search(g);
  std::vector<std::int64_t> owner(static_cast<std::size_t>(g.n), 0);
  std::int64_t owners = 0;
  Permutation order;
  std::vector<std::vector<std::int32_t>> stack(1);
  stack[0].resize(static_cast<std::size_t>(g.n));
  std::iota(stack[0].begin(), stack[0].end(), 0);
  while (!stack.empty()) {
    std::vector<std::int32_t> part = std::move(stack.back());
    stack.pop_back();
    const auto count = static_cast<std::int64_t>(part.size());
    if (count <= size) {
      order.insert(order.end(), part.begin(), part.end());
      continue;
    }
    const std::int64_t own = ++owners;
    for (const std::int32_t v : part) owner[static_cast<std::size_t>(v)] = own;
    std::vector<std::int32_t> line;
    for (const std::int32_t v : part) {  // component after component, each from an end
      const auto inside = [&](std::int64_t w) { return owner[static_cast<std::size_t>(w)] == own; };
      if (!inside(v)) continue;
      search.from(search.far_end(v, inside), inside);
      for (const std::int32_t w : search.order) owner[static_cast<std::size_t>(w)] = 0, line.push_back(w);
    }
    const std::int64_t parts = (count + size - 1) / size, cut = (parts + 1) / 2 * size;
    stack.emplace_back(line.begin() + std::min(cut, count), line.end());
    stack.emplace_back(line.begin(), line.begin() + std::min(cut, count));
  }
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
      return nested_dissection(a, block);
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

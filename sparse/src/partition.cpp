// Parts of a graph by recursive bisection, once with cuts between breadth-first levels alone, once with METIS's where
// they cut fewer edges; the order whose parts touch fewer vertices is kept. METIS is better on most meshes, levels on
// some grids.
//
// A plan on a device takes rows 128 at a time, so parts must have exactly the size asked for, which METIS keeps only
// nearly: vertices that are too many move over, those first that cut the fewest edges.
#include <metis.h>

#include <mutex>
#include <new>
#include <numeric>
#include <queue>

#include <trn/sparse/ordering.hpp>

#include "graph.hpp"

namespace trn::sparse {

namespace {

using Vertices = std::vector<std::int32_t>;

// The graph of some of the vertices, numbered from 0 in their order.
struct Subgraph {
  std::vector<idx_t> offsets{0}, neighbours;
};

// A bisection: side 0 or 1 of each vertex of a subgraph, `first` of them on side 0.
struct Halves {
  std::vector<idx_t> side;
  std::int64_t cut = 0;  // edges between the sides
};

class Bisector {
 public:
  Bisector(const Graph& graph, bool metis)
      : graph_(graph), search_(graph), metis_(metis), place_(static_cast<std::size_t>(graph.n), -1) {}

  // The vertices in an order whose first `first` are one side.
  Vertices split(const Vertices& part, std::int64_t first) {
    for (std::size_t k = 0; k < part.size(); ++k) at(part[k]) = static_cast<std::int64_t>(k);
    Vertices line = levels(part);
    if (!metis_) {
      for (const std::int32_t v : part) at(v) = -1;
      return line;
    }
    const Subgraph g = subgraph(part);
    Halves best{std::vector<idx_t>(part.size(), 1), 0};
    for (std::int64_t k = 0; k < first; ++k)
      best.side[static_cast<std::size_t>(at(line[static_cast<std::size_t>(k)]))] = 0;
    best.cut = edges_between(g, best.side);
    if (best.cut > 0) {
      Halves other = by_metis(g, first);
      if (other.cut < best.cut) best = std::move(other);
    }
    Vertices ordered;
    for (const idx_t side : {0, 1}) {  // within a side as the levels have it
      for (const std::int32_t v : line) {
        if (best.side[static_cast<std::size_t>(at(v))] == side) ordered.push_back(v);
      }
    }
    for (const std::int32_t v : part) at(v) = -1;
    return ordered;
  }

 private:
  std::int64_t& at(std::int32_t v) { return place_[static_cast<std::size_t>(v)]; }

  Subgraph subgraph(const Vertices& part) {
    Subgraph g;
    for (const std::int32_t v : part) {
      for (const std::int32_t w : graph_.of(v)) {
        if (at(w) >= 0) g.neighbours.push_back(static_cast<idx_t>(at(w)));
      }
      g.offsets.push_back(static_cast<idx_t>(g.neighbours.size()));
    }
    return g;
  }

  // Breadth first, component after component, each from an end.
  Vertices levels(const Vertices& part) {
    Vertices line;
    line.reserve(part.size());
    std::vector<char> taken(part.size(), 0);
    const auto inside = [&](std::int64_t w) {
      const std::int64_t k = place_[static_cast<std::size_t>(w)];
      return k >= 0 && taken[static_cast<std::size_t>(k)] == 0;
    };
    for (const std::int32_t v : part) {
      if (!inside(v)) continue;
      search_.from(search_.far_end(v, inside), inside);
      for (const std::int32_t w : search_.order) taken[static_cast<std::size_t>(at(w))] = 1, line.push_back(w);
    }
    return line;
  }

  static std::int64_t edges_between(const Subgraph& g, const std::vector<idx_t>& side) {
    std::int64_t twice = 0;
    for (std::size_t v = 0; v < side.size(); ++v) {
      for (idx_t k = g.offsets[v]; k < g.offsets[v + 1]; ++k)
        twice += side[static_cast<std::size_t>(g.neighbours[static_cast<std::size_t>(k)])] != side[v];
    }
    return twice / 2;
  }

  static Halves by_metis(Subgraph g, std::int64_t first) {
    const auto count = static_cast<std::int64_t>(g.offsets.size()) - 1;
    Halves h{std::vector<idx_t>(static_cast<std::size_t>(count)), 0};
    idx_t vertices = static_cast<idx_t>(count), constraints = 1, parts = 2, cut = 0, options[METIS_NOPTIONS];
    real_t share[2] = {static_cast<real_t>(static_cast<double>(first) / static_cast<double>(count)), 0};
    share[1] = 1 - share[0];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_UFACTOR] = 1;  // a thousandth too many at most
    const int status = METIS_PartGraphRecursive(&vertices, &constraints, g.offsets.data(), g.neighbours.data(), nullptr,
                                                nullptr, nullptr, &parts, share, nullptr, options, &cut, h.side.data());
    if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
    ensure(status == METIS_OK, "sparse.partition: METIS says {} to {} vertices", status, count);
    balance(g, first, h.side);
    h.cut = edges_between(g, h.side);
    return h;
  }

  // Moves vertices from the side that has too many, those first that add the fewest cut edges.
  static void balance(const Subgraph& g, std::int64_t first, std::vector<idx_t>& side) {
    std::int64_t excess = std::count(side.begin(), side.end(), 0) - first;
    const idx_t from = excess > 0 ? 0 : 1;
    const auto gain = [&](std::size_t v) {
      std::int64_t sum = 0;
      for (idx_t k = g.offsets[v]; k < g.offsets[v + 1]; ++k)
        sum += side[static_cast<std::size_t>(g.neighbours[static_cast<std::size_t>(k)])] == from ? -1 : 1;
      return sum;
    };
    if (excess == 0) return;
    std::priority_queue<std::pair<std::int64_t, std::int64_t>> queue;  // gain, then the lower number: -v
    for (std::size_t v = 0; v < side.size(); ++v) {
      if (side[v] == from) queue.emplace(gain(v), -static_cast<std::int64_t>(v));
    }
    for (excess = std::abs(excess); excess > 0;) {
      const auto [worth, negative] = queue.top();
      queue.pop();
      const auto v = static_cast<std::size_t>(-negative);
      if (side[v] != from || worth != gain(v)) continue;  // it moved, or a neighbour did: it stands there again
      side[v] = 1 - from;
      --excess;
      for (idx_t k = g.offsets[v]; k < g.offsets[v + 1]; ++k) {
        const auto w = static_cast<std::size_t>(g.neighbours[static_cast<std::size_t>(k)]);
        if (side[w] == from) queue.emplace(gain(w), -static_cast<std::int64_t>(w));
      }
    }
  }

  const Graph& graph_;
  Search search_;
  bool metis_;
  std::vector<std::int64_t> place_;  // in the part that is being split, -1 elsewhere
};

// Parts in sequence.
Permutation bisected(const Graph& g, std::int64_t size, bool metis) {
  Bisector bisector(g, metis);
  Permutation order;
  order.reserve(static_cast<std::size_t>(g.n));
  std::vector<Vertices> stack(1);
  stack[0].resize(static_cast<std::size_t>(g.n));
  std::iota(stack[0].begin(), stack[0].end(), 0);
  while (!stack.empty()) {
    const Vertices part = std::move(stack.back());
    stack.pop_back();
    const auto count = static_cast<std::int64_t>(part.size());
    if (count <= size) {
      order.insert(order.end(), part.begin(), part.end());
      continue;
    }
    const std::int64_t parts = (count + size - 1) / size, first = (parts + 1) / 2 * size;  // below count: parts >= 2
    const Vertices line = bisector.split(part, first);
    stack.emplace_back(line.begin() + first, line.end());
    stack.emplace_back(line.begin(), line.begin() + first);
  }
  return order;
}

// The vertices outside each part that have a neighbour in it.
std::vector<std::int64_t> touched(const Graph& g, std::int64_t size, const Permutation& order) {
  std::vector<std::int64_t> part(order.size()), seen(order.size(), -1), counts;
  for (std::size_t k = 0; k < order.size(); ++k)
    part[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k) / size;
  counts.assign(order.empty() ? 0 : static_cast<std::size_t>(part[static_cast<std::size_t>(order.back())]) + 1, 0);
  for (const std::int64_t v : order) {
    const std::int64_t own = part[static_cast<std::size_t>(v)];
    for (const std::int32_t w : g.of(v)) {
      auto& mark = seen[static_cast<std::size_t>(w)];
      if (part[static_cast<std::size_t>(w)] == own || mark == own) continue;
      mark = own;
      ++counts[static_cast<std::size_t>(own)];
    }
  }
  return counts;
}

// Parts that touch as many others, in units of parts, beside one another: a device then takes them in few loops. A part
// that is not full stays last.
Permutation alike_together(const Permutation& order, std::int64_t size, const std::vector<std::int64_t>& counts) {
  std::vector<std::size_t> parts(counts.size());
  std::iota(parts.begin(), parts.end(), std::size_t{0});
  const auto full = static_cast<std::ptrdiff_t>(static_cast<std::int64_t>(order.size()) / size);
  std::stable_sort(parts.begin(), parts.begin() + full, [&](std::size_t x, std::size_t y) {
    return (counts[x] + size - 1) / size < (counts[y] + size - 1) / size;
  });
  Permutation sorted;
  sorted.reserve(order.size());
  for (const std::size_t p : parts) {
    const std::int64_t begin = static_cast<std::int64_t>(p) * size;
    sorted.insert(sorted.end(), order.begin() + begin,
                  order.begin() + std::min(begin + size, static_cast<std::int64_t>(order.size())));
  }
  return sorted;
}

}  // namespace

Permutation partition(const Pattern<>& a, std::int64_t size) {
  require(size >= 1, "sparse.partition: parts of {}; they must be >= 1", size);
  const Graph g("sparse.partition", a);
  Permutation best = bisected(g, size, false);
  std::vector<std::int64_t> counts = touched(g, size, best);
  if (g.neighbours.size() <= kMostExtent<std::int32_t>) {  // METIS counts no more edges
    static std::mutex one_at_a_time;                       // METIS seeds the C library's random numbers
    const std::lock_guard lock(one_at_a_time);
    Permutation other = bisected(g, size, true);
    std::vector<std::int64_t> others = touched(g, size, other);
    const auto sum = [](const std::vector<std::int64_t>& v) {
      return std::accumulate(v.begin(), v.end(), std::int64_t{0});
    };
    if (sum(others) <= sum(counts)) best = std::move(other), counts = std::move(others);
  }
  return alike_together(best, size, counts);
}

}  // namespace trn::sparse

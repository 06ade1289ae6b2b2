// The undirected graph of a square pattern: A + A^T without its diagonal.
#pragma once

#include <algorithm>
#include <vector>

#include "host_data.hpp"

namespace trn::sparse {

struct Graph {
  std::int64_t n = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> neighbours;  // of each vertex, rising

  Graph(const char* operation, const Pattern<>& pattern) {
    host_only(operation, pattern.executor());
    check_square(operation, pattern.extents());
    const PatternRef<std::int32_t> a = host_ref(pattern);
    n = a.rows;
    offsets.assign(static_cast<std::size_t>(n) + 1, 0);
    const auto each = [&](const auto& edge) {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
          if (a.indices[k] != i) edge(i, a.indices[k]);
        }
      }
    };
    each([&](std::int64_t i, std::int64_t j) {
      ++offsets[static_cast<std::size_t>(i) + 1], ++offsets[static_cast<std::size_t>(j) + 1];
    });
    for (std::int64_t i = 0; i < n; ++i)
      offsets[static_cast<std::size_t>(i) + 1] += offsets[static_cast<std::size_t>(i)];
    neighbours.resize(static_cast<std::size_t>(offsets.back()));
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    each([&](std::int64_t i, std::int64_t j) {
      neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++)] = static_cast<std::int32_t>(j);
      neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++)] = static_cast<std::int32_t>(i);
    });
    std::int64_t to = 0, begin = 0;  // both directions of a symmetric entry came twice
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t end = offsets[static_cast<std::size_t>(i) + 1];
      std::sort(neighbours.begin() + begin, neighbours.begin() + end);
      const std::int64_t first = to;
      for (std::int64_t k = begin; k < end; ++k) {
        if (to == first || neighbours[static_cast<std::size_t>(to - 1)] != neighbours[static_cast<std::size_t>(k)])
          neighbours[static_cast<std::size_t>(to++)] = neighbours[static_cast<std::size_t>(k)];
      }
      begin = end;
      offsets[static_cast<std::size_t>(i) + 1] = to;
    }
    neighbours.resize(static_cast<std::size_t>(to));
  }
  [[nodiscard]] std::span<const std::int32_t> of(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {neighbours.data() + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
  }
  [[nodiscard]] std::int64_t degree(std::int64_t i) const {
    return offsets[static_cast<std::size_t>(i) + 1] - offsets[static_cast<std::size_t>(i)];
  }
};

// Breadth-first search within the vertices whose mark is `inside`.
class Search {
 public:
  explicit Search(const Graph& graph) : graph_(graph), seen_(static_cast<std::size_t>(graph.n), 0) {}
  // Vertices in the order in which they are met, and where each level begins.
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> levels;

  template <class Inside> void from(std::int64_t start, const Inside& inside, bool by_degree = false) {
    ++round_;
    order.assign(1, static_cast<std::int32_t>(start));
    levels.assign(1, 0);
    seen_[static_cast<std::size_t>(start)] = round_;
    for (std::size_t begin = 0; begin < order.size();) {
      const std::size_t end = order.size();
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t first = order.size();
        for (const std::int32_t j : graph_.of(order[k])) {
          if (seen_[static_cast<std::size_t>(j)] == round_ || !inside(j)) continue;
          seen_[static_cast<std::size_t>(j)] = round_;
          order.push_back(j);
        }
        if (by_degree)
          std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                           [&](std::int32_t x, std::int32_t y) { return graph_.degree(x) < graph_.degree(y); });
      }
      begin = end;
      levels.push_back(static_cast<std::int64_t>(end));
    }
  }
  // A vertex as far as possible from another, found by a few searches from the ends of the last one.
  template <class Inside> std::int64_t far_end(std::int64_t start, const Inside& inside) {
    std::size_t depth = 0;
    for (int round = 0; round < 8; ++round) {
      from(start, inside);
      if (levels.size() <= depth) return start;
      depth = levels.size();
      std::int64_t best = -1;
      for (auto k = static_cast<std::size_t>(levels[levels.size() - 2]); k < order.size(); ++k) {
        if (best < 0 || graph_.degree(order[k]) < graph_.degree(best)) best = order[k];
      }
      start = best;
    }
    return start;
  }

 private:
  const Graph& graph_;
  std::vector<std::int64_t> seen_;
  std::int64_t round_ = 0;
};

}  // namespace trn::sparse

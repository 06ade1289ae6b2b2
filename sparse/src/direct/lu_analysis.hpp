// The analysis before LU: rows matched to columns, the order and the tree of fronts on the pattern of A + A^T, and for
// every entry of A its place in a front.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "direct/analysis.hpp"
#include "direct/matching.hpp"

namespace trn::sparse::direct {

struct LuAnalysis {
  Pattern<> pattern;
  LuOptions options;
  Matching matching;
  Tree tree;
  FactorReport report;
  std::vector<std::int32_t> row_label, column_label;  // of each row and column of A
  std::vector<std::int64_t> entry_offsets;            // of each node
  struct Entry {
    std::int64_t source;
    std::int32_t row, column;  // places in the front, rows without delays
  };
  std::vector<Entry> entries;
};

template <Scalar T> std::shared_ptr<const LuAnalysis> analyse_lu(const Csr<T>& matrix, const LuOptions& options) {
  const char* operation = "sparse.Lu";
  const CsrRef<T, std::int32_t> a = host_ref(matrix);
  const auto n = static_cast<std::size_t>(a.rows);
  auto made = std::make_shared<LuAnalysis>(LuAnalysis{matrix.pattern(), options, {}, {}, {}, {}, {}, {}, {}});
  if (options.match) {
    made->matching = match_rows(a);
  } else {
    made->matching.row_exponent.assign(n, 0), made->matching.column_exponent.assign(n, 0);
    for (std::int32_t i = 0; i < a.rows; ++i) made->matching.column_of.push_back(i);
  }
  if (made->matching.unmatched >= 0) return made;
  const std::vector<std::int32_t>& to = made->matching.column_of;
  Lists graph;
  {
    std::vector<std::int64_t> rows, columns;
    std::vector<std::vector<std::int32_t>> lists(n);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::int32_t r = to[static_cast<std::size_t>(i)];
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const std::int32_t j = a.indices[k];
        if (j == r) continue;
        lists[static_cast<std::size_t>(r)].push_back(j), lists[static_cast<std::size_t>(j)].push_back(r);
      }
    }
    graph.offsets.push_back(0);
    for (auto& list : lists) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      graph.items.insert(graph.items.end(), list.begin(), list.end());
      graph.offsets.push_back(static_cast<std::int64_t>(graph.items.size()));
      list = {};
    }
  }
  Ordered ordered =
      choose_order(operation, graph, options, [&](const Permutation& order) { return symmetric_tree(graph, order); });
  made->tree = std::move(ordered.tree);
  const Tree& t = made->tree;
  made->report.ordering = ordered.ordering, made->report.nodes = t.nodes();
  made->column_label.resize(n), made->row_label.resize(n);
  for (std::size_t k = 0; k < n; ++k)
    made->column_label[static_cast<std::size_t>(t.order[k])] = static_cast<std::int32_t>(k);
  for (std::size_t i = 0; i < n; ++i) made->row_label[i] = made->column_label[static_cast<std::size_t>(to[i])];
  const auto node = [&](std::int64_t i, std::int64_t k) {
    const std::int32_t first = std::min(made->row_label[static_cast<std::size_t>(i)],
                                        made->column_label[static_cast<std::size_t>(a.indices[k])]);
    return static_cast<std::size_t>(t.node_of[static_cast<std::size_t>(first)]);
  };
  const auto each = [&](const auto& visit) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) visit(i, k);
    }
  };
  made->entry_offsets.assign(static_cast<std::size_t>(t.nodes()) + 1, 0);
  each([&](std::int64_t i, std::int64_t k) { ++made->entry_offsets[node(i, k) + 1]; });
  for (std::size_t s = 0; s + 1 < made->entry_offsets.size(); ++s) made->entry_offsets[s + 1] += made->entry_offsets[s];
  made->entries.resize(static_cast<std::size_t>(a.nnz()));
  std::vector<std::int64_t> next(made->entry_offsets.begin(), made->entry_offsets.end());
  each([&](std::int64_t i, std::int64_t k) {
    made->entries[static_cast<std::size_t>(next[node(i, k)]++)] = {
        k, made->row_label[static_cast<std::size_t>(i)], made->column_label[static_cast<std::size_t>(a.indices[k])]};
  });
  std::vector<std::int32_t> where(n);
  for (std::int64_t s = 0; s < t.nodes(); ++s) {
    const auto below = t.below(s);
    std::int32_t place = 0;
    for (std::int32_t i = 0; i < t.width(s); ++i)
      where[static_cast<std::size_t>(t.first[static_cast<std::size_t>(s)] + i)] = place++;
    for (const std::int32_t i : below) where[static_cast<std::size_t>(i)] = place++;
    for (auto e = static_cast<std::size_t>(made->entry_offsets[static_cast<std::size_t>(s)]);
         e < static_cast<std::size_t>(made->entry_offsets[static_cast<std::size_t>(s) + 1]); ++e) {
      auto& entry = made->entries[e];
      entry.row = where[static_cast<std::size_t>(entry.row)];
      entry.column = where[static_cast<std::size_t>(entry.column)];
    }
  }
  return made;
}

}  // namespace trn::sparse::direct

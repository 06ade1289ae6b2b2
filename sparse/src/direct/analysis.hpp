// What the factorisations share before numbers: the order, chosen by the work it leads to.
#pragma once

#include <trn/sparse/direct.hpp>

#include "direct/tree.hpp"
#include "host_data.hpp"

namespace trn::sparse::direct {

struct Ordered {
  Tree tree;
  Reorder ordering = Reorder::None;
};
// `graph`: neighbours of each vertex, both directions, no loops. `make_tree` builds the tree of an order.
template <class MakeTree> Ordered choose_order(const char* operation, const Lists& graph, const DirectOptions& options,
                                               const MakeTree& make_tree);

[[nodiscard]] Permutation order_by(const char* operation, const Lists& graph, Reorder reorder);
void check_options(const char* operation, const DirectOptions& options, std::int64_t n);

template <class MakeTree> Ordered choose_order(const char* operation, const Lists& graph, const DirectOptions& options,
                                               const MakeTree& make_tree) {
  const auto n = static_cast<std::int64_t>(graph.offsets.size()) - 1;
  check_options(operation, options, n);
  if (!options.order.empty() || n == 0) return {make_tree(options.order), Reorder::None};
  if (options.ordering != Reorder::Best)
    return {make_tree(order_by(operation, graph, options.ordering)), options.ordering};
  Ordered degree{make_tree(order_by(operation, graph, Reorder::MinimumDegree)), Reorder::MinimumDegree};
  // Dissection costs more than it can save where minimum degree leaves little work.
  const double edges = static_cast<double>(graph.items.size()) + static_cast<double>(n);
  if (degree.tree.flops < 100 * edges) return degree;
  Ordered nested{make_tree(order_by(operation, graph, Reorder::NestedDissection)), Reorder::NestedDissection};
  return nested.tree.flops < degree.tree.flops ? nested : degree;
}

// A value of A that is not finite is found before anything else.
template <Scalar T> Outcome check_finite(const CsrRef<T, std::int32_t>& a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if constexpr (ComplexScalar<T>) {
        if (!std::isfinite(a.values[k].real()) || !std::isfinite(a.values[k].imag())) return {Status::NotFinite, i};
      } else {
        if (!std::isfinite(a.values[k])) return {Status::NotFinite, i};
      }
    }
  }
  return {};
}

template <Scalar T> void check_same_pattern(const char* operation, const Csr<T>& a, const Pattern<>& pattern) {
  host_only(operation, a.executor());
  require(a.pattern().shares(pattern) || a.pattern().equals(pattern),
          "{}: the matrix has {} x {} with {} entries and another pattern than the one that was analysed", operation,
          a.rows(), a.columns(), a.nnz());
}

}  // namespace trn::sparse::direct

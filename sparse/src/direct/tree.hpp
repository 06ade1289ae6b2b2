// The assembly tree: what an elimination in a given order does to a pattern, before any number is known. Shared by
// Cholesky, LU and QR.
//
// The pattern comes as cliques: set j is {j} and the later vertices that column j (Cholesky, LU: of A + A^T; QR: the
// rows of A that begin there) ties to it. Eliminating vertex j joins everything it is tied to; columns that end up with
// the same rows below them form a node, whose front is one dense matrix. Small nodes are merged with their parents as
// long as few zeros are stored for it.
#pragma once

#include <span>
#include <vector>

#include <trn/sparse/types.hpp>

namespace trn::sparse::direct {

struct Tree {
  std::int64_t n = 0;
  Permutation order;                      // the order that was asked for, rearranged within what it allows
  std::vector<std::int32_t> first;        // node s eliminates the vertices [first[s], first[s + 1])
  std::vector<std::int32_t> parent;       // -1: a root. Children come before parents
  std::vector<std::int64_t> row_offsets;  // node s has further rows at [row_offsets[s], row_offsets[s + 1]) of rows,
  std::vector<std::int32_t> rows;         // rising
  std::vector<std::int64_t> child_offsets;
  std::vector<std::int32_t> children;
  std::vector<std::int32_t> node_of;  // of each vertex
  double flops = 0;                   // of a Cholesky factorisation; LU takes twice as many
  std::int64_t entries = 0;           // of a Cholesky factor, zeros of merged nodes included

  [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(parent.size()); }
  [[nodiscard]] std::int32_t width(std::int64_t s) const {
    return first[static_cast<std::size_t>(s) + 1] - first[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] std::span<const std::int32_t> below(std::int64_t s) const {
    const auto at = static_cast<std::size_t>(s);
    return {rows.data() + row_offsets[at], static_cast<std::size_t>(row_offsets[at + 1] - row_offsets[at])};
  }
  [[nodiscard]] std::span<const std::int32_t> children_of(std::int64_t s) const {
    const auto at = static_cast<std::size_t>(s);
    return {children.data() + child_offsets[at], static_cast<std::size_t>(child_offsets[at + 1] - child_offsets[at])};
  }
};

// Row-compressed lists: list k is items[offsets[k]] to items[offsets[k + 1]].
struct Lists {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> items;
  [[nodiscard]] std::span<const std::int32_t> of(std::int64_t k) const {
    const auto at = static_cast<std::size_t>(k);
    return {items.data() + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
  }
};

// For a symmetric pattern: `neighbours` of each vertex, both directions present.
[[nodiscard]] Tree symmetric_tree(const Lists& neighbours, const Permutation& order);
// For the columns of a rectangular pattern: `rows` lists the columns of each row. The tree is that of A^H A, which is
// never formed.
[[nodiscard]] Tree column_tree(std::int64_t columns, const Lists& rows, const Permutation& order);

// Work that can go side by side: subtrees that share no vertex, heaviest first, and the nodes above them in order.
struct Schedule {
  std::vector<std::vector<std::int32_t>> subtrees;
  std::vector<std::int32_t> top;
};
[[nodiscard]] Schedule schedule(const Tree& tree, int threads);

}  // namespace trn::sparse::direct

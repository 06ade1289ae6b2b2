// Orderings and colourings of sparse patterns. cuSPARSE: csrcolor. cuSOLVER: csrsymrcm, csrsymamd, csrmetisnd.
//
// All look at the pattern of A + A^T and are deterministic. A Permutation's place k holds what was at order[k]; use
// permute(a, order, order).
#pragma once

#include <trn/sparse/csr.hpp>

namespace trn::sparse {

// Reverse Cuthill-McKee from pseudo-peripheral vertices: small bandwidth.
[[nodiscard]] Permutation reverse_cuthill_mckee(const Pattern<>& a);
// Approximate minimum degree on the quotient graph: little fill in Cholesky and LU factors.
[[nodiscard]] Permutation minimum_degree(const Pattern<>& a);
// Nested dissection by METIS: less work than minimum degree for the factors of large meshes.
[[nodiscard]] Permutation nested_dissection(const Pattern<>& a);

// Vertices in parts of `size` (the last one of what is left) that lie close together in the graph, parts in sequence:
// by recursive bisection, METIS's or between breadth-first levels, whichever leaves parts fewer neighbours.
[[nodiscard]] Permutation partition(const Pattern<>& a, std::int64_t size);

// No two vertices of a colour are neighbours. Greedy, vertices of high degree first.
struct Colouring {
  std::vector<std::int32_t> colour;  // of each vertex
  std::int32_t colours = 0;
  [[nodiscard]] Permutation order() const;  // vertices colour by colour
};
[[nodiscard]] Colouring colouring(const Pattern<>& a);

// Entries of the Cholesky factor of a matrix with this pattern (made symmetric) in this order, the diagonal included.
[[nodiscard]] std::int64_t cholesky_entries(const Pattern<>& a, std::span<const std::int64_t> order);

// Best takes, of the natural order, reverse_cuthill_mckee and partition, the one whose matrix has the fewest non-empty
// blocks.
enum class Reorder : std::uint8_t { None, ReverseCuthillMcKee, Partition, MinimumDegree, NestedDissection, Best };
[[nodiscard]] std::string_view name(Reorder reorder);
[[nodiscard]] Permutation order_of(const Pattern<>& a, Reorder reorder, std::int64_t block = 128);

// Blocks of block x block that hold an entry, and the part of their places that do.
struct BlockFill {
  std::int64_t blocks = 0;
  double fill = 0;
};
[[nodiscard]] BlockFill block_fill(const Pattern<>& a, std::int64_t block, std::span<const std::int64_t> order = {});

}  // namespace trn::sparse

// Which grid of ranks a distributed product should have: a search over all grids, after COSMA (Kwasniewski and others
// 2019), for the stationary C of dist_gemm.hpp.
//
//   const auto grid = product_grid({.m = 4096, .n = 4096, .k = 100000}, group.size());
//   dist::Matrix<double> c(group, executor, {4096, 4096, 256, 256, *grid});
#pragma once

#include <cstdint>
#include <optional>

#include <trn/comm/distribution.hpp>

namespace trn::blas {

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t panel = 2048;  // of k, which a rank holds of A and of B beside its parts; devices' (512 on the host)
  double terms_per_element = 100;  // products of numbers in the time in which an element comes from another rank
  double memory = 0;               // elements that a rank can hold; 0: no limit
};

// The elements of A and B that come into the busiest rank of a grid, and those that it holds.
[[nodiscard]] double product_volume(const ProductShape& shape, const dist::Grid& grid);
[[nodiscard]] double product_memory(const ProductShape& shape, const dist::Grid& grid);

// The quickest grid of up to `ranks` ranks: the terms of the busiest rank and what comes into it, both in time. Some
// ranks may be left out, where their number has no good factors. None: no grid keeps within the memory.
[[nodiscard]] std::optional<dist::Grid> product_grid(const ProductShape& shape, int ranks);

// The same for a product in Exact with Layers (dist_gemm.hpp): copies of a grid that divide k among them. Beside its
// panels a rank takes its share of A and B twice, as whole lines and for its layer, and, of other layers, three words
// for each element of C that it finishes. One layer: the product is quicker without.
struct LayeredGrid {
  dist::Grid grid;
  int layers = 1;
  friend bool operator==(const LayeredGrid&, const LayeredGrid&) = default;
};
[[nodiscard]] double product_volume(const ProductShape& shape, const LayeredGrid& grid);
[[nodiscard]] std::optional<LayeredGrid> layered_product_grid(const ProductShape& shape, int ranks);

}  // namespace trn::blas

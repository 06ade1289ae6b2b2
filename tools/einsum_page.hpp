// The page of `trnsci einsum --html`: the contraction tree, and the steps as a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <trn/tensor/plan.hpp>

namespace trn::tools {

struct EinsumPage {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> lines;  // text over the tree
};
void write_einsum_page(const std::string& path, const EinsumPage& page, const tensor::Plan& plan);

// The tree alone: operands as leaves in the order in which they meet, one node for each contraction with its result's
// labels and its share of the time as the area of a disc.
[[nodiscard]] std::string contraction_tree_svg(const tensor::Plan& plan);

}  // namespace trn::tools

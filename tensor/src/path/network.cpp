// Building the rows of bits, and checking what they are built from.
#include "path/network.hpp"

#include <algorithm>
#include <cmath>

#include <trn/core/error.hpp>

namespace trn::tensor {

Network::Network(const Expression& expression, const Sizes& sizes)
    : operands(static_cast<int>(expression.inputs.size())), labels(static_cast<int>(sizes.size())) {
  require(operands > 0, "tensor.optimize: the expression has no operand");
  words = (labels + 63) / 64;
  extent.resize(sizes.size()), log2_extent.resize(sizes.size());
  for (int l = 0; l < labels; ++l) {
    const std::int64_t size = sizes[static_cast<std::size_t>(l)];
    require(size >= 0, "tensor.optimize: an extent is {}; extents are >= 0", size);
    set_extent(l, size);
  }
  const auto check = [&](Label label) {
    require(label >= 0 && label < labels, "tensor.optimize: label {} has no size; sizes has {} entries", label, labels);
    return static_cast<std::size_t>(label);
  };
  rows.resize(static_cast<std::size_t>(operands) * static_cast<std::size_t>(words));
  output.resize(static_cast<std::size_t>(words));
  holders.resize(static_cast<std::size_t>(labels));
  for (const Label label : expression.output) output[check(label) / 64] |= Word(1) << (label % 64);
  for (std::size_t i = 0; i < expression.inputs.size(); ++i) {
    for (const Label label : expression.inputs[i]) {
      Word& word = rows[i * static_cast<std::size_t>(words) + check(label) / 64];
      const Word bit = Word(1) << (label % 64);
      if (!(word & bit)) ++holders[static_cast<std::size_t>(label)];
      word |= bit;
    }
  }
  for (int l = 0; l < labels; ++l) {  // what one operand alone has is summed out first
    if (holders[static_cast<std::size_t>(l)] > 1 || in_output(l)) continue;
    for (int i = 0; i < operands; ++i) {
      rows[static_cast<std::size_t>(i * words + l / 64)] &= ~(Word(1) << (l % 64));
    }
    holders[static_cast<std::size_t>(l)] = 0;
  }
}

void Network::set_extent(int label, std::int64_t value) {
  extent[static_cast<std::size_t>(label)] = static_cast<double>(std::max<std::int64_t>(value, 1));
  log2_extent[static_cast<std::size_t>(label)] = std::log2(extent[static_cast<std::size_t>(label)]);
}

}  // namespace trn::tensor

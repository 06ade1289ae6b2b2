// slice(): greedy choice of labels until the live set fits.
//
// A sliced label of extent e in blocks of x makes ceil(e / x) passes over a network whose extent is x. Each round tries
// every label in blocks of 1, takes the one with the least increase of the total cost for what it takes off the memory,
// and reconfigures the tree; at the end blocks grow as far as the budget allows.
#include <trn/tensor/slice.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <trn/core/error.hpp>

#include "path/optimizer.hpp"

namespace trn::tensor {

namespace {

class Slicer {
 public:
  Slicer(const Expression& expression, const Sizes& sizes, double budget, const PathOptions& options)
      : sizes_(sizes),
        blocks_(sizes),
        budget_(budget),
        options_(options),
        network_(expression, sizes),
        optimizer_(network_, options_),
        tree_(optimizer_.run()) {}

  // What a label's slicing is weighed by: what it takes off the largest live set, or off all large intermediates.
  // Neither is always the better guide.
  enum class Guide { Live, All };

  SliceSet run() {
    const Tree start = tree_;
    SliceSet best = run(Guide::Live);
    if (!best.sliced()) return best;
    for (int label = 0; label < network_.labels; ++label) {
      blocks_[at(label)] = sizes_[at(label)];
      network_.set_extent(label, sizes_[at(label)]);
    }
    chosen_.clear();
    tree_ = start;
    SliceSet other = run(Guide::All);
    return other.multiplications < best.multiplications ? other : best;
  }

 private:
  SliceSet run(Guide guide) {
    guide_ = guide;
    Deadline deadline = optimizer_.deadline_of_the_same_length();
    std::optional<SliceSet> best;
    while (live() > budget_) {
      keep_if_small_trees_fit(best, deadline);
      const int label = cheapest();
      if (label < 0 && best) return *best;
      require(label >= 0,
              "tensor.slice: intermediates take {} elements at one time with blocks of 1 in every label; the budget is "
              "{} elements",
              live(), budget_);
      set_block(label, 1);
      chosen_.push_back(label);
      if (options_.method != PathMethod::Given) reconfigure(network_, optimizer_.model(), 8, tree_, deadline);
    }
    const SliceSet last = lengthened();
    return best && best->multiplications < last.multiplications ? *best : last;
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] double passes(int label) const {
    return std::ceil(static_cast<double>(sizes_[at(label)]) / static_cast<double>(blocks_[at(label)]));
  }
  [[nodiscard]] double live() const { return path_of(network_, options_, tree_).live; }

  void set_block(int label, std::int64_t block) {
    blocks_[at(label)] = block;
    network_.set_extent(label, block);
    tree_.set_extents(network_);
  }

  // log2 of the cost of all passes.
  [[nodiscard]] double total() const {
    const Measure m = measure(network_, optimizer_.model(), tree_);
    double sum = std::log2(optimizer_.model().minimize() == Minimize::Size ? m.second : m.first);
    for (const int label : chosen_) sum += std::log2(passes(label));
    return sum;
  }

  // The same tree reconfigured for small results instead of few products, where that is enough.
  void keep_if_small_trees_fit(std::optional<SliceSet>& best, Deadline& deadline) {
    if (options_.method == PathMethod::Given) return;
    CostModel small({.minimize = Minimize::Size});
    small.set_scale(optimizer_.model().scale());
    const Tree before = tree_;
    const Sizes blocks = blocks_;
    reconfigure(network_, small, 8, tree_, deadline);
    if (live() <= budget_) {
      const SliceSet found = lengthened();
      if (!best || found.multiplications < best->multiplications) best = found;
    }
    for (const int label : chosen_) set_block(label, blocks[at(label)]);
    tree_ = before;
  }

  // log2 of the memory; for Guide::All half of log2 of the sum of squares.
  [[nodiscard]] double memory() const {
    if (guide_ == Guide::Live) return std::log2(live());
    double most = 0, sum = 0;
    for (int node = tree_.leaves; node < tree_.nodes(); ++node) most = std::max(most, tree_.log2_elements[at(node)]);
    for (int node = tree_.leaves; node < tree_.nodes(); ++node) {
      if (node != tree_.root) sum += std::exp2(2 * (tree_.log2_elements[at(node)] - most));
    }
    return most + std::log2(sum) / 2;
  }

  // The label whose slicing adds least to log2 of the total cost for each bit it takes off the memory.
  [[nodiscard]] int cheapest() {
    const double cost = total(), present = memory();
    int best = -1;
    double best_price = 0, best_bits = 0;
    for (int label = 0; label < network_.labels; ++label) {
      const std::int64_t block = blocks_[at(label)];
      if (block < 2) continue;
      set_block(label, 1);
      const double bits = present - memory();
      const double price = total() + std::log2(passes(label)) - cost;
      set_block(label, block);
      if (bits <= 0) continue;
      const bool better = best < 0 || price / bits < best_price / best_bits - 1e-12 ||
                          (price / bits < best_price / best_bits + 1e-12 && bits > best_bits);
      if (better) best = label, best_price = price, best_bits = bits;
    }
    return best >= 0 ? best : any_label();
  }

  // No single label makes the peak lower: there are several peaks. Any label of the largest intermediate.
  [[nodiscard]] int any_label() const {
    int largest = tree_.root;
    for (int node = tree_.leaves; node < tree_.nodes(); ++node) {
      if (node != tree_.root &&
          (largest == tree_.root || tree_.log2_elements[at(node)] > tree_.log2_elements[at(largest)])) {
        largest = node;
      }
    }
    int found = -1;
    for_labels(
        network_.words, [&](int w) { return tree_.row(largest)[w]; },
        [&](int l) {
          if (blocks_[at(l)] > 1 && (found < 0 || blocks_[at(l)] > blocks_[at(found)])) found = l;
        });
    return found;
  }

  // Blocks as long as the budget allows, the last chosen label first, then of equal length; and the result.
  SliceSet lengthened() {
    for (std::size_t i = chosen_.size(); i-- > 0;) {
      const int label = chosen_[i];
      std::int64_t fits = 1, beyond = sizes_[at(label)] + 1;
      while (beyond - fits > 1) {
        const std::int64_t middle = fits + (beyond - fits) / 2;
        set_block(label, middle);
        (live() <= budget_ ? fits : beyond) = middle;
      }
      set_block(label, fits);
      const auto count = static_cast<std::int64_t>(passes(label));
      set_block(label, (sizes_[at(label)] + count - 1) / count);
    }
    SliceSet set;
    set.path = optimizer_.finish(tree_);
    for (const int label : chosen_) {
      if (blocks_[at(label)] == sizes_[at(label)]) continue;
      set.slices.push_back({label, blocks_[at(label)]});
      set.passes *= passes(label);
    }
    set.multiplications = set.passes * set.path.multiplications;
    return set;
  }

  const Sizes& sizes_;
  Sizes blocks_;
  double budget_;
  PathOptions options_;
  Network network_;
  Optimizer optimizer_;
  Tree tree_;
  std::vector<int> chosen_;
  Guide guide_ = Guide::Live;
};

}  // namespace

SliceSet slice(const Expression& expression, const Sizes& sizes, double live_elements, const PathOptions& options) {
  require(live_elements >= 0, "tensor.slice: the budget is {} elements; it must be >= 0", live_elements);
  return Slicer(expression, sizes, live_elements, options).run();
}

}  // namespace trn::tensor

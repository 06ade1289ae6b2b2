// Greedy paths: the pair with the best score is contracted, then its neighbours are scored anew. Pieces that share no
// label are multiplied at the end, the smallest first.
#include <algorithm>
#include <cmath>
#include <queue>

#include "path/methods.hpp"

namespace trn::tensor {

namespace {

struct Candidate {
  double score;
  int left, right;
  bool operator<(const Candidate& other) const {  // std::priority_queue puts the largest first
    if (score != other.score) return score > other.score;
    return left != other.left ? left > other.left : right > other.right;
  }
};

// sign(x) log2|x| of x = 2^c / balance - balance (2^a + 2^b), monotone in x and free of overflow: beyond the sign the
// value is moved away from zero by an amount larger than any logarithm below one element.
double signed_log(double a, double b, double c, double balance) {
  const double most = std::max({a, b, c});
  const double x = std::exp2(c - most) / balance - balance * (std::exp2(a - most) + std::exp2(b - most));
  if (x == 0) return 0;
  const double log = std::max(most + std::log2(std::abs(x)), -60.0) + 64;
  return x > 0 ? log : -log;
}

class Greedy {
 public:
  Greedy(const Network& network, const GreedyScore& score, Random& random)
      : network_(network), score_(score), random_(random), words_(static_cast<std::size_t>(network.words)) {
    rows_ = network.rows;
    rows_.resize(words_ * static_cast<std::size_t>(2 * network.operands - 1));
    alive_.resize(static_cast<std::size_t>(2 * network.operands - 1), false);
    seen_.resize(alive_.size(), -1);
    log2_.resize(alive_.size());
    holders_.resize(static_cast<std::size_t>(network.labels));
    for (int i = 0; i < network.operands; ++i) add(i);
  }

  std::vector<PathStep> run() {
    for (int i = 0; i < network_.operands; ++i) score_neighbours(i, i);
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (alive_[at(best.left)] && alive_[at(best.right)]) {
        const int result = contract(best.left, best.right);
        score_neighbours(result, result);
      }
    }
    multiply_pieces();
    return steps_;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  Word* row(int i) { return rows_.data() + at(i) * words_; }

  void add(int i) {
    alive_[at(i)] = true;
    log2_[at(i)] = network_.log2_elements(row(i));
    for_labels(
        network_.words, [&](int w) { return row(i)[w]; }, [&](int l) { holders_[at(l)].push_back(i); });
  }

  [[nodiscard]] bool ends(int label) const { return holders_[at(label)].size() == 2 && !network_.in_output(label); }

  double score(int i, int j) {
    double both = 0, summed = 0;
    for_labels(
        network_.words, [&](int w) { return row(i)[w] & row(j)[w]; },
        [&](int l) {
          both += network_.log2_extent[at(l)];
          if (ends(l)) summed += network_.log2_extent[at(l)];
        });
    const double value =
        signed_log(log2_[at(i)], log2_[at(j)], log2_[at(i)] + log2_[at(j)] - both - summed, score_.balance);
    if (score_.temperature == 0) return value;
    return value + score_.temperature * std::log(-std::log(random_.uniform() * (1 - 0x1p-50) + 0x1p-54));
  }

  // Pairs (i, j) with j below `limit` or, for a new result, every live neighbour.
  void score_neighbours(int i, int limit) {
    for_labels(
        network_.words, [&](int w) { return row(i)[w]; },
        [&](int l) {
          for (const int j : holders_[at(l)]) {
            if (j >= limit || seen_[at(j)] == i) continue;
            seen_[at(j)] = i;
            queue_.push({score(i, j), j, i});
          }
        });
  }

  int contract(int i, int j) {
    const int result = network_.operands + static_cast<int>(steps_.size());
    steps_.push_back({i, j});
    Word* const bits = row(result);
    for (std::size_t w = 0; w < words_; ++w) bits[w] = row(i)[w] | row(j)[w];
    for_labels(
        network_.words, [&](int w) { return row(i)[w] & row(j)[w]; },
        [&](int l) {
          if (ends(l)) bits[l / 64] &= ~(Word(1) << (l % 64));
        });
    for (const int gone : {i, j}) {
      alive_[at(gone)] = false;
      for_labels(
          network_.words, [&](int w) { return row(gone)[w]; }, [&](int l) { std::erase(holders_[at(l)], gone); });
    }
    add(result);
    return result;
  }

  void multiply_pieces() {
    using Piece = std::pair<double, int>;
    std::priority_queue<Piece, std::vector<Piece>, std::greater<>> pieces;
    for (int i = 0; i < static_cast<int>(alive_.size()); ++i) {
      if (alive_[at(i)]) pieces.push({log2_[at(i)], i});
    }
    while (pieces.size() > 1) {
      const int i = pieces.top().second;
      pieces.pop();
      const int j = pieces.top().second;
      pieces.pop();
      const int result = contract(i, j);
      pieces.push({log2_[at(result)], result});
    }
  }

  const Network& network_;
  const GreedyScore& score_;
  Random& random_;
  std::size_t words_;
  std::vector<Word> rows_;
  std::vector<char> alive_;
  std::vector<int> seen_;  // by operand: the last one that was paired with it
  std::vector<double> log2_;
  std::vector<std::vector<int>> holders_;  // by label
  std::priority_queue<Candidate> queue_;
  std::vector<PathStep> steps_;
};

}  // namespace

std::vector<PathStep> greedy_steps(const Network& network, const GreedyScore& score, Random& random) {
  return Greedy(network, score, random).run();
}

}  // namespace trn::tensor

// Recursive bisection. A set of operands is cut in two so that the labels across the cut are few, by log2 of their
// extents; the halves are cut again. Each cut is multilevel: heavy edges are matched and merged until a dozen vertices
// are left, the best of several grown halves is taken, and at every level on the way back vertices move by Fiduccia and
// Mattheyses' rule. A label of p operands is p (p - 1) / 2 edges of 1 / (p - 1) its weight, or a ring when p > 16.
#include <algorithm>
#include <map>

#include "path/methods.hpp"

namespace trn::tensor {

namespace {

struct Graph {
  std::vector<std::vector<std::pair<int, double>>> neighbours;
  std::vector<double> weight;  // operands in each vertex
  [[nodiscard]] int size() const { return static_cast<int>(weight.size()); }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double w : weight) sum += w;
    return sum;
  }
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Graph graph_from(std::vector<double> weight, const std::map<std::pair<int, int>, double>& edges) {
  Graph graph{std::vector<std::vector<std::pair<int, double>>>(weight.size()), std::move(weight)};
  for (const auto& [pair, w] : edges) {
    graph.neighbours[at(pair.first)].push_back({pair.second, w});
    graph.neighbours[at(pair.second)].push_back({pair.first, w});
  }
  return graph;
}

Graph graph_of(const Network& network, const std::vector<int>& operands) {
  std::vector<std::vector<int>> pins(at(network.labels));
  for (int v = 0; v < static_cast<int>(operands.size()); ++v) {
    for_labels(
        network.words, [&](int w) { return network.row(operands[at(v)])[w]; },
        [&](int l) { pins[at(l)].push_back(v); });
  }
  std::map<std::pair<int, int>, double> edges;
  for (int l = 0; l < network.labels; ++l) {
    const auto& p = pins[at(l)];
    if (p.size() < 2) continue;
    const double weight = network.log2_extent[at(l)] / static_cast<double>(p.size() - 1);
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (p.size() > 16) {
        edges[std::minmax(p[i], p[(i + 1) % p.size()])] += weight * static_cast<double>(p.size()) / 4;
        continue;
      }
      for (std::size_t j = i + 1; j < p.size(); ++j) edges[{p[i], p[j]}] += weight;
    }
  }
  return graph_from(std::vector<double>(operands.size(), 1), edges);
}

// Each vertex with its heaviest free neighbour, in random order. Returns the coarse vertex of each.
std::vector<int> match(const Graph& graph, Random& random, int& coarse) {
  std::vector<int> order(at(graph.size())), to(order.size(), -1);
  for (int i = 0; i < graph.size(); ++i) order[at(i)] = i;
  for (int i = graph.size() - 1; i > 0; --i) std::swap(order[at(i)], order[at(random.below(i + 1))]);
  coarse = 0;
  const double heavy = 1.5 * graph.total() / 12;
  for (const int v : order) {
    if (to[at(v)] >= 0) continue;
    int mate = -1;
    double most = 0;
    for (const auto& [u, w] : graph.neighbours[at(v)]) {
      const double merit = w / (graph.weight[at(u)] * graph.weight[at(v)]);
      if (to[at(u)] < 0 && merit > most && graph.weight[at(u)] + graph.weight[at(v)] <= heavy) mate = u, most = merit;
    }
    to[at(v)] = coarse;
    if (mate >= 0) to[at(mate)] = coarse;
    ++coarse;
  }
  return to;
}

Graph contracted(const Graph& graph, const std::vector<int>& to, int coarse) {
  std::vector<double> weight(at(coarse), 0);
  std::map<std::pair<int, int>, double> edges;
  for (int v = 0; v < graph.size(); ++v) {
    weight[at(to[at(v)])] += graph.weight[at(v)];
    for (const auto& [u, w] : graph.neighbours[at(v)]) {
      if (to[at(v)] < to[at(u)]) edges[{to[at(v)], to[at(u)]}] += w;
    }
  }
  return graph_from(std::move(weight), edges);
}

double cut_of(const Graph& graph, const std::vector<char>& side) {
  double cut = 0;
  for (int v = 0; v < graph.size(); ++v) {
    for (const auto& [u, w] : graph.neighbours[at(v)]) cut += side[at(v)] < side[at(u)] ? w : 0;
  }
  return cut;
}

// Passes of single moves: the best allowed vertex moves even at a loss, once each, and the best prefix is kept.
void refine(const Graph& graph, double least, std::vector<char>& side) {
  for (bool better = true; better;) {
    better = false;
    std::vector<double> gain(at(graph.size()), 0), size(2, 0);
    std::vector<char> locked(at(graph.size()), 0);
    for (int v = 0; v < graph.size(); ++v) {
      size[at(side[at(v)])] += graph.weight[at(v)];
      for (const auto& [u, w] : graph.neighbours[at(v)]) gain[at(v)] += side[at(v)] == side[at(u)] ? -w : w;
    }
    std::vector<int> moved;
    double sum = 0, best = 1e-9;
    std::size_t keep = 0;
    for (int step = 0; step < graph.size(); ++step) {
      int pick = -1;
      for (int v = 0; v < graph.size(); ++v) {
        if (locked[at(v)] || size[at(side[at(v)])] - graph.weight[at(v)] < least) continue;
        if (pick < 0 || gain[at(v)] > gain[at(pick)]) pick = v;
      }
      if (pick < 0) break;
      sum += gain[at(pick)];
      size[at(side[at(pick)])] -= graph.weight[at(pick)];
      side[at(pick)] ^= 1;
      size[at(side[at(pick)])] += graph.weight[at(pick)];
      locked[at(pick)] = 1, gain[at(pick)] = -gain[at(pick)];
      for (const auto& [u, w] : graph.neighbours[at(pick)]) {
        gain[at(u)] += side[at(u)] == side[at(pick)] ? -2 * w : 2 * w;
      }
      moved.push_back(pick);
      if (sum > best) best = sum, keep = moved.size(), better = true;
    }
    for (std::size_t i = keep; i < moved.size(); ++i) side[at(moved[i])] ^= 1;
  }
}

// Half of the weight, grown from a random vertex along the heaviest connections.
std::vector<char> grown_half(const Graph& graph, Random& random) {
  std::vector<char> side(at(graph.size()), 1);
  std::vector<double> pull(at(graph.size()), 0);
  double taken = 0;
  int next = random.below(graph.size());
  while (taken < graph.total() / 2 && next >= 0) {
    side[at(next)] = 0;
    taken += graph.weight[at(next)];
    for (const auto& [u, w] : graph.neighbours[at(next)]) pull[at(u)] += w;
    next = -1;
    for (int v = 0; v < graph.size(); ++v) {
      if (side[at(v)] && (next < 0 || pull[at(v)] > pull[at(next)])) next = v;
    }
  }
  return side;
}

std::vector<char> bisect(const Graph& graph, double imbalance, Random& random) {
  const double least = std::max(1.0, graph.total() * (0.5 - imbalance));
  int coarse = graph.size();
  std::vector<int> to;
  if (graph.size() > 12) to = match(graph, random, coarse);
  std::vector<char> side(at(graph.size()), 0);
  if (coarse < graph.size()) {
    const std::vector<char> above = bisect(contracted(graph, to, coarse), imbalance, random);
    for (int v = 0; v < graph.size(); ++v) side[at(v)] = above[at(to[at(v)])];
    refine(graph, least, side);
    return side;
  }
  double best = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 6; ++attempt) {
    std::vector<char> half = grown_half(graph, random);
    refine(graph, least, half);
    const double cut = cut_of(graph, half);
    if (cut < best) best = cut, side = half;
  }
  return side;
}

int divide(const Network& network, const std::vector<int>& operands, double imbalance, Random& random,
           std::vector<PathStep>& steps) {
  if (operands.size() == 1) return operands[0];
  std::vector<int> part[2];
  const std::vector<char> side = bisect(graph_of(network, operands), imbalance, random);
  for (std::size_t i = 0; i < operands.size(); ++i) part[at(side[i])].push_back(operands[i]);
  if (part[0].empty() || part[1].empty()) {  // vertices too heavy to balance
    part[0].assign(operands.begin(), operands.begin() + 1), part[1].assign(operands.begin() + 1, operands.end());
  }
  const int left = divide(network, part[0], imbalance, random, steps);
  const int right = divide(network, part[1], imbalance, random, steps);
  steps.push_back({left, right});
  return network.operands + static_cast<int>(steps.size()) - 1;
}

}  // namespace

std::vector<PathStep> bisection_steps(const Network& network, double imbalance, Random& random) {
  std::vector<int> operands;
  for (int i = 0; i < network.operands; ++i) operands.push_back(i);
  std::vector<PathStep> steps;
  (void)divide(network, operands, imbalance, random, steps);
  return steps;
}

}  // namespace trn::tensor

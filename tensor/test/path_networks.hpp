// Networks with known shapes for tests and benchmarks of paths, the same everywhere for one seed.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <trn/tensor/expression.hpp>

namespace trn::tensor::testing {

struct TestNetwork {
  std::string name;
  Expression expression;
  Sizes sizes;
  Label label(std::int64_t extent) {
    sizes.push_back(extent);
    expression.names.push_back("x" + std::to_string(sizes.size() - 1));
    return static_cast<Label>(sizes.size() - 1);
  }
};

class TestRandom {  // SplitMix64
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t state_;
};

// The scalar product of two matrix product states: 2 x sites operands.
inline TestNetwork mps(int sites, std::int64_t bond, std::int64_t physical) {
  TestNetwork net{"MPS " + std::to_string(sites) + " sites", {}, {}};
  std::vector<Label> spins;
  for (int i = 0; i < sites; ++i) spins.push_back(net.label(physical));
  for (int state = 0; state < 2; ++state) {
    Label before = -1;
    for (int i = 0; i < sites; ++i) {
      std::vector<Label> labels{spins[static_cast<std::size_t>(i)]};
      if (before >= 0) labels.push_back(before);
      if (i + 1 < sites) labels.push_back(before = net.label(bond));
      net.expression.inputs.push_back(labels);
    }
  }
  return net;
}

// Open square lattice, one operand per site.
inline TestNetwork lattice(int rows, int columns, std::int64_t bond) {
  TestNetwork net{
      "lattice " + std::to_string(rows) + "x" + std::to_string(columns) + " D " + std::to_string(bond), {}, {}};
  net.expression.inputs.resize(static_cast<std::size_t>(rows * columns));
  const auto join = [&](int a, int b) {
    const Label l = net.label(bond);
    for (const int v : {a, b}) net.expression.inputs[static_cast<std::size_t>(v)].push_back(l);
  };
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      if (j + 1 < columns) join(i * columns + j, i * columns + j + 1);
      if (i + 1 < rows) join(i * columns + j, (i + 1) * columns + j);
    }
  }
  return net;
}

// Amplitude of a circuit of two-qubit gates in bricks: a vector at both ends of every qubit.
inline TestNetwork circuit(int qubits, int depth) {
  TestNetwork net{"circuit " + std::to_string(qubits) + " qubits depth " + std::to_string(depth), {}, {}};
  std::vector<Label> wire;
  for (int q = 0; q < qubits; ++q) {
    wire.push_back(net.label(2));
    net.expression.inputs.push_back({wire.back()});
  }
  for (int d = 0; d < depth; ++d) {
    for (int q = d % 2; q + 1 < qubits; q += 2) {
      Label &a = wire[static_cast<std::size_t>(q)], &b = wire[static_cast<std::size_t>(q + 1)];
      const Label c = net.label(2), e = net.label(2);
      net.expression.inputs.push_back({a, b, c, e});
      a = c, b = e;
    }
  }
  for (int q = 0; q < qubits; ++q) net.expression.inputs.push_back({wire[static_cast<std::size_t>(q)]});
  return net;
}

// Random d-regular graph without loops or double edges: pairings of d stubs per vertex until one is simple.
inline TestNetwork regular(int vertices, int degree, std::int64_t bond, std::uint64_t seed) {
  TestRandom random(seed);
  for (;;) {
    std::vector<int> stubs;
    for (int i = 0; i < vertices * degree; ++i) stubs.push_back(i % vertices);
    for (int i = vertices * degree - 1; i > 0; --i) {
      std::swap(stubs[static_cast<std::size_t>(i)], stubs[static_cast<std::size_t>(random.below(i + 1))]);
    }
    std::vector<std::pair<int, int>> edges;
    for (std::size_t i = 0; i < stubs.size(); i += 2) edges.push_back(std::minmax(stubs[i], stubs[i + 1]));
    std::sort(edges.begin(), edges.end());
    const bool loop = std::any_of(edges.begin(), edges.end(), [](const auto& e) { return e.first == e.second; });
    if (loop || std::adjacent_find(edges.begin(), edges.end()) != edges.end()) continue;
    TestNetwork net{std::to_string(degree) + "-regular " + std::to_string(vertices), {}, {}};
    net.expression.inputs.resize(static_cast<std::size_t>(vertices));
    for (const auto& [a, b] : edges) {
      const Label l = net.label(bond);
      for (const int v : {a, b}) net.expression.inputs[static_cast<std::size_t>(v)].push_back(l);
    }
    return net;
  }
}

// A connected random network: a tree and more edges up to degree / 2 per operand, extents 2 to `most`; `outputs` labels
// dangle, `hyper` labels gain a third operand, `single` labels are summed out of one operand.
inline TestNetwork random_network(int operands, int degree, int outputs, int hyper, int single, int most,
                                  std::uint64_t seed) {
  TestRandom random(seed);
  TestNetwork net{"random " + std::to_string(operands) + "," + std::to_string(degree), {}, {}};
  net.expression.inputs.resize(static_cast<std::size_t>(operands));
  const auto extent = [&] { return std::int64_t{2 + random.below(most - 1)}; };
  const auto put = [&](int v, Label l) {
    auto& labels = net.expression.inputs[static_cast<std::size_t>(v)];
    if (std::find(labels.begin(), labels.end(), l) == labels.end()) labels.push_back(l);
  };
  const int edges = std::max(operands - 1, operands * degree / 2);
  for (int e = 0; e < edges; ++e) {
    const Label l = net.label(extent());
    if (e < operands - 1) {
      put(e + 1, l), put(random.below(e + 1), l);
    } else {
      put(random.below(operands), l), put(random.below(operands), l);
    }
    if (e < hyper) put(random.below(operands), l);
  }
  for (int o = 0; o < outputs; ++o) {
    const Label l = net.label(extent());
    put(random.below(operands), l);
    net.expression.output.push_back(l);
  }
  for (int s = 0; s < single; ++s) put(random.below(operands), net.label(extent()));
  if (hyper > 0) net.expression.output.push_back(0);  // a batch
  return net;
}

}  // namespace trn::tensor::testing

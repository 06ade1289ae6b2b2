// The networks of the table of paths in docs/einsum.md: log10 of products and seconds of the search, by method.
// Then how many more products slices of the memory take. With a file name, the networks and the figures as JSON, which
// path_peers.py reads.
#include <trn/tensor/slice.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>

#include "path_networks.hpp"

using namespace trn::tensor;
using namespace trn::tensor::testing;

int main(int argc, char** argv) {
  const std::vector<TestNetwork> networks{mps(40, 32, 4),   random_network(16, 4, 0, 0, 0, 9, 7),
                                          lattice(6, 6, 8), lattice(10, 10, 2),
                                          circuit(20, 16),  regular(120, 3, 2, 1)};
  const std::pair<const char*, PathOptions> methods[] = {
      {"greedy", {.method = PathMethod::Greedy}},       {"random-greedy", {.method = PathMethod::RandomGreedy}},
      {"partition", {.method = PathMethod::Partition}}, {"low", {.effort = Effort::Low}},
      {"normal", {.effort = Effort::Normal}},           {"high", {.effort = Effort::High}}};
  nlohmann::json all = nlohmann::json::array();
  for (const TestNetwork& network : networks) {
    std::printf("%-28s %3zu operands", network.name.c_str(), network.expression.inputs.size());
    nlohmann::json entry{{"name", network.name},
                         {"inputs", network.expression.inputs},
                         {"output", network.expression.output},
                         {"sizes", network.sizes}};
    for (const auto& [name, options] : methods) {
      const auto start = std::chrono::steady_clock::now();
      const Path path = optimize(network.expression, network.sizes, options);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::printf("  %s %.2f (%.3f s)", name, path.log10_multiplications, seconds);
      std::fflush(stdout);
      entry["ours"][name] = {path.log10_multiplications, seconds};
    }
    std::printf("\n");
    const Path whole = optimize(network.expression, network.sizes);
    std::printf("%28s  %g elements live; products in slices of", "", whole.live);
    for (const double part : {4.0, 16.0, 64.0}) {
      const SliceSet set = slice(network.expression, network.sizes, whole.live / part);
      std::printf("  1/%g: %.3g x (%g passes)", part, set.multiplications / whole.multiplications, set.passes);
    }
    std::printf("\n");
    all.push_back(std::move(entry));
  }
  if (argc > 1) std::ofstream(argv[1]) << all;
  return 0;
}

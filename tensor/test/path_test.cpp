// Paths: optimal where that can be proved by trying all orders, never worse than greedy, figures counted independently.
#include <trn/tensor/path.hpp>

#include <gtest/gtest.h>

#include <ctime>

#include <trn/core/error.hpp>

#include "path/cost.hpp"
#include "path_networks.hpp"
#include "path_oracle.hpp"

namespace trn::tensor::testing {
namespace {

TestNetwork small_network(std::uint64_t seed, int operands) {
  TestRandom random(seed);
  return random_network(operands, 2 + random.below(3), random.below(3), random.below(4), random.below(3), 6, seed);
}

long double union_elements(const OracleStep& s, const Sizes& sizes) {
  Labels both = s.left;
  both.insert(s.right.begin(), s.right.end());
  return elements(both, sizes);
}

// What the model says of a step, from sets of labels.
double model_seconds(const OracleStep& s, const Sizes& sizes, Family family) {
  StepLogs logs;
  for (const Label l : s.left) {
    const double extent = std::log2(static_cast<double>(sizes[static_cast<std::size_t>(l)]));
    logs.a += extent;
    if (s.right.count(l)) (s.result.count(l) ? logs.h : logs.k) += extent;
  }
  for (const Label l : s.right) logs.b += std::log2(static_cast<double>(sizes[static_cast<std::size_t>(l)]));
  return step_seconds(logs, family, 4, 0);
}

void expect_figures(const TestNetwork& net, const Path& path) {
  ASSERT_EQ(path.steps.size() + 1, net.expression.inputs.size());
  const OracleFigures f = walk(net.expression, net.sizes, path.steps);
  EXPECT_NEAR(path.multiplications, f.products, 1e-12 * f.products) << net.name;
  EXPECT_NEAR(path.flops, f.flops, 1e-12 * f.flops);
  EXPECT_NEAR(path.largest, f.largest, 1e-12 * f.largest);
  EXPECT_NEAR(path.live, f.live, 1e-12 * f.live);
  if (f.products > 0) {
    EXPECT_NEAR(path.log10_multiplications, std::log10(f.products), 1e-12);
  }
}

TEST(Path, ExactMethodsFindTheOptimumOfAllOrders) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const TestNetwork net = small_network(seed, 3 + static_cast<int>(seed % 4));
    SCOPED_TRACE(seed);
    const auto operands = operand_labels(net.expression);
    const long double products =
        brute_force(net.expression, operands, {[&](const OracleStep& s) { return union_elements(s, net.sizes); }});
    const long double largest = brute_force(net.expression, operands,
                                            {[&](const OracleStep& s) { return elements(s.result, net.sizes); }, true});
    for (const PathMethod method :
         {PathMethod::Auto, PathMethod::Dp, PathMethod::Exhaustive, PathMethod::BranchAndBound}) {
      const Path path = optimize(net.expression, net.sizes, {.method = method});
      EXPECT_NEAR(path.multiplications, products, 1e-12 * products);
      expect_figures(net, path);
      const Path small = optimize(net.expression, net.sizes, {.method = method, .minimize = Minimize::Size});
      EXPECT_NEAR(small.largest, largest, 1e-12 * largest);
      for (const Family family : {Family::Host, Family::Device}) {
        const double seconds = static_cast<double>(brute_force(
            net.expression, operands,
            {[&](const OracleStep& s) { return static_cast<long double>(model_seconds(s, net.sizes, family)); }}));
        const Path quick =
            optimize(net.expression, net.sizes, {.method = method, .minimize = Minimize::Time, .family = family});
        EXPECT_NEAR(quick.seconds, seconds, 1e-9 * seconds);
      }
    }
  }
}

// x[a] y[b] T[a b c]: 4 + 4000 products with the outer product first, 4000 + 2000 without.
TEST(Path, OuterProductsWhereTheyPay) {
  const Expression e{{{0}, {1}, {0, 1, 2}}, {2}, {"a", "b", "c"}};
  for (const PathMethod method : {PathMethod::Auto, PathMethod::Dp, PathMethod::BranchAndBound}) {
    EXPECT_EQ(optimize(e, {2, 2, 1000}, {.method = method}).multiplications, 4004);
  }
}

// A hundred and fifty labels over seven operands: more classes of labels than a machine word has bits.
TEST(Path, ManyLabels) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    TestNetwork net = random_network(6, 50, 2, 120, 3, 2, seed);
    TestRandom random(seed + 9);
    for (Label l = 5; l < 125; ++l) {  // four holders each, so that classes differ
      auto& labels = net.expression.inputs[static_cast<std::size_t>(random.below(6))];
      if (std::find(labels.begin(), labels.end(), l) == labels.end()) labels.push_back(l);
    }
    const long double best = brute_force(net.expression, operand_labels(net.expression),
                                         {[&](const OracleStep& s) { return union_elements(s, net.sizes); }});
    const Path path = optimize(net.expression, net.sizes, {.method = PathMethod::Dp});
    EXPECT_NEAR(path.multiplications / static_cast<double>(best), 1, 1e-11);
  }
}

TEST(Path, NeverWorseThanGreedyAndFiguresAreRight) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const TestNetwork net = small_network(seed, 8 + static_cast<int>(seed) * 4);
    SCOPED_TRACE(seed);
    for (const Minimize aim : {Minimize::Flops, Minimize::Time, Minimize::Size}) {
      const auto value = [&](const Path& p) {
        return aim == Minimize::Flops ? p.multiplications : aim == Minimize::Time ? p.seconds : p.largest;
      };
      const Path greedy = optimize(net.expression, net.sizes, {.method = PathMethod::Greedy, .minimize = aim});
      expect_figures(net, greedy);
      for (const PathMethod method :
           {PathMethod::Auto, PathMethod::RandomGreedy, PathMethod::Partition, PathMethod::Anneal}) {
        const Path path = optimize(net.expression, net.sizes,
                                   {.method = method, .minimize = aim, .effort = Effort::Low, .seconds = 10});
        expect_figures(net, path);
        EXPECT_LE(value(path), value(greedy) * (1 + 1e-12));
      }
    }
  }
}

TEST(Path, TheSameSeedGivesTheSamePath) {
  const TestNetwork net = regular(40, 3, 2, 5);
  const PathOptions options{.method = PathMethod::Anneal, .effort = Effort::Low, .seed = 3, .seconds = 60};
  EXPECT_EQ(optimize(net.expression, net.sizes, options).steps, optimize(net.expression, net.sizes, options).steps);
}

// The best known values of the networks in docs/einsum.md: within 0.1 of the best peer's.
TEST(Path, KnownNetworks) {
  const auto search = [](const TestNetwork& net) {
    const Path path = optimize(net.expression, net.sizes, {.seconds = 60});
    expect_figures(net, path);
    return path.log10_multiplications;
  };
  // Zipping up from one end: site by site, bond 32, physical 4: 2 x 38 inner steps of 32^3 x 4, the ends cheaper.
  const double zipped = 2 * 38 * std::pow(32, 3) * 4;
  EXPECT_LE(search(mps(40, 32, 4)), std::log10(zipped) + 0.01);
  EXPECT_LE(search(lattice(6, 6, 8)), 8.62);
  EXPECT_LE(search(lattice(10, 10, 2)), 5.35);
  EXPECT_LE(search(circuit(20, 16)), 6.82);
}

TEST(Path, SixteenOperandsByDynamicProgrammingInFiftyMilliseconds) {
  for (const std::uint64_t seed : {7u, 8u, 9u}) {
    const TestNetwork net = random_network(16, 4, 0, 0, 0, 9, seed);
    double seconds = 1;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::clock_t start = std::clock();
      const Path path = optimize(net.expression, net.sizes, {.method = PathMethod::Dp});
      seconds = std::min(seconds, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
      EXPECT_FALSE(path.interrupted);
    }
    EXPECT_LT(seconds, 0.05);
  }
}

TEST(Path, CostsDoNotOverflow) {
  const TestNetwork net = regular(300, 3, std::int64_t{1} << 40, 2);
  const Path path = optimize(net.expression, net.sizes, {.effort = Effort::Low});
  ASSERT_EQ(path.steps.size(), 299u);
  EXPECT_TRUE(std::isinf(path.multiplications));
  std::vector<OracleStep> steps;
  (void)walk(net.expression, net.sizes, path.steps, &steps);
  std::size_t most = 0;
  for (const OracleStep& step : steps) {
    Labels both = step.left;
    both.insert(step.right.begin(), step.right.end());
    most = std::max(most, both.size());
  }
  const double dearest = 40 * std::log10(2.0) * static_cast<double>(most);
  EXPECT_GE(path.log10_multiplications, dearest);
  EXPECT_LE(path.log10_multiplications, dearest + std::log10(299));
  const Path greedy = optimize(net.expression, net.sizes, {.method = PathMethod::Greedy});
  EXPECT_LT(path.log10_multiplications, greedy.log10_multiplications);
  const TestNetwork unit = regular(30, 3, 1, 2);
  EXPECT_EQ(optimize(unit.expression, unit.sizes, {.effort = Effort::Low}).multiplications, 29);
}

TEST(Path, TheTimeLimitHolds) {
  const TestNetwork net = regular(300, 3, 2, 4);
  const std::clock_t start = std::clock();
  const Path path = optimize(net.expression, net.sizes, {.effort = Effort::High, .seconds = 0.05});
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.3);
  EXPECT_TRUE(path.interrupted);
  expect_figures(net, path);
}

TEST(Path, FewOperandsAndDegenerateNetworks) {
  const auto check = [](const Expression& e, const Sizes& sizes) {
    TestNetwork net{"", e, sizes};
    for (const PathMethod method : {PathMethod::Auto, PathMethod::Greedy, PathMethod::Dp, PathMethod::RandomGreedy,
                                    PathMethod::Partition, PathMethod::Anneal, PathMethod::BranchAndBound}) {
      expect_figures(net, optimize(e, sizes, {.method = method}));
    }
  };
  check({{{0, 0}}, {}, {}}, {5});                                            // a trace
  check({{{}, {}}, {}, {}}, {});                                             // scalars
  check({{{0}, {1}, {2}, {3}, {4}}, {0, 1, 2, 3, 4}, {}}, {2, 3, 4, 5, 6});  // outer products alone
  check({{{0}, {0}, {0}, {0}, {0}}, {}, {}}, {7});                           // one label in all
  check({{{0}, {0}, {0}}, {0}, {}}, {0});                                    // empty
  check({{{0, 1}, {2}, {3}}, {2}, {}}, {3, 3, 3, 3});                        // everything summed out but one
}

TEST(Path, Given) {
  const Expression e{{{0, 1}, {1, 2}, {2, 3}}, {0, 3}, {}};
  const Sizes sizes{2, 30, 40, 50};
  const Path path = optimize(e, sizes, {.method = PathMethod::Given, .fixed = {{1, 2}, {0, 3}}});
  EXPECT_EQ(path.steps, (std::vector<PathStep>{{1, 2}, {0, 3}}));
  EXPECT_EQ(path.multiplications, 30 * 40 * 50 + 2 * 30 * 50);
  EXPECT_EQ(path.flops, 2 * path.multiplications);
  EXPECT_EQ(path.largest, 30 * 50);
  EXPECT_EQ(path.live, 30 * 50);
  const auto refused = [&](std::vector<PathStep> steps, const char* text) {
    try {
      (void)optimize(e, sizes, {.method = PathMethod::Given, .fixed = std::move(steps)});
      ADD_FAILURE() << text;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused({{0, 1}}, "has 1 steps; 3 operands take 2");
  refused({{0, 1}, {0, 2}}, "step 1 of the given path uses operand 0 again");
  refused({{0, 3}, {1, 2}}, "step 0 of the given path names operand 3; there are 3");
  refused({{0, -1}, {1, 2}}, "names operand -1");
  refused({{0, 0}, {1, 2}}, "uses operand 0 again");
}

TEST(Path, Positions) {
  // opt_einsum's notation: the two are taken out, the result goes to the end.
  const std::vector<std::pair<int, int>> positions{{1, 2}, {0, 2}, {0, 1}};
  const std::vector<PathStep> steps{{1, 2}, {0, 4}, {3, 5}};
  EXPECT_EQ(from_positions(4, positions), steps);
  EXPECT_EQ(to_positions(4, steps), positions);
  EXPECT_THROW((void)from_positions(4, {{0, 4}, {0, 1}, {0, 1}}), InvalidArgument);
  EXPECT_THROW((void)from_positions(4, {{0, 1}}), InvalidArgument);
}

TEST(Path, Refusals) {
  const TestNetwork large = regular(30, 3, 2, 1);
  EXPECT_THROW((void)optimize(large.expression, large.sizes, {.method = PathMethod::Dp}), InvalidArgument);
  EXPECT_THROW((void)optimize(large.expression, large.sizes, {.method = PathMethod::Exhaustive}), InvalidArgument);
  EXPECT_THROW((void)optimize({}, {}), InvalidArgument);
  EXPECT_THROW((void)optimize({{{0, 1}}, {}, {}}, {3}), InvalidArgument);
  EXPECT_THROW((void)optimize({{{0}}, {}, {}}, {-3}), InvalidArgument);
  EXPECT_THROW((void)optimize({{{0}}, {}, {}}, {3}, {.element_bytes = 0}), InvalidArgument);
}

}  // namespace
}  // namespace trn::tensor::testing

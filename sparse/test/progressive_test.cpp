// Multigrid in progressive precision: systems whose solution is known to the last bit, on host and device.
#include <trn/sparse/progressive.hpp>

#include <cmath>
#include <limits>

#include <trn/core/event.hpp>
#include <trn/sparse/gallery.hpp>

#include "silicon/allocations.hpp"
#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

const Executor kProgressiveHost = Executor::host();

// A network of n x n nodes with random conductances of 12 bits, grounded at its rim: no rounding occurs in A x for
// integers x below 2^20, and bfloat16 cannot hold the conductances.
Csr<double> network(std::int64_t n) {
  std::mt19937_64 r(17);
  std::vector<std::int64_t> is, js;
  std::vector<double> vs, own(static_cast<std::size_t>(n * n), 0);
  const auto weight = [&] { return std::ldexp(static_cast<double>(r() % 4000 + 96), -11); };
  const auto join = [&](std::int64_t a, std::int64_t b) {
    const double w = weight();
    own[static_cast<std::size_t>(a)] += w, own[static_cast<std::size_t>(b)] += w;
    is.push_back(a), js.push_back(b), vs.push_back(-w);
    is.push_back(b), js.push_back(a), vs.push_back(-w);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i + 1 < n) join(i * n + j, (i + 1) * n + j);
      if (j + 1 < n) join(i * n + j, i * n + j + 1);
      for (const bool rim : {i == 0, i + 1 == n, j == 0, j + 1 == n})
        own[static_cast<std::size_t>(i * n + j)] += rim ? weight() : 0;
    }
  }
  for (std::int64_t i = 0; i < n * n; ++i)
    is.push_back(i), js.push_back(i), vs.push_back(own[static_cast<std::size_t>(i)]);
  return Csr<double>::from_triplets(kProgressiveHost, {n * n, n * n}, {is, js, vs});
}

struct Problem {
  std::vector<double> solution, right;
};
Problem exact_problem(const Csr<double>& a) {
  std::mt19937_64 r(3);
  Problem p;
  for (std::int64_t i = 0; i < a.rows(); ++i)
    p.solution.push_back(static_cast<double>(static_cast<int>(r() % 2001) - 1000));
  p.right.resize(p.solution.size());
  const std::int64_t* offsets = a.pattern().offsets().data();
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
      p.right[static_cast<std::size_t>(i)] +=
          a.values().data()[k] * p.solution[static_cast<std::size_t>(a.pattern().indices().data()[k])];
  }
  return p;
}
double error_of(const Problem& p, const std::vector<double>& x) {
  double off = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    off += std::pow(x[i] - p.solution[i], 2), size += std::pow(p.solution[i], 2);
  return std::sqrt(off / size);
}
ProgressiveResult run(const ProgressiveAmg& m, const Problem& p, std::vector<double>& x) {
  const auto n = static_cast<std::int64_t>(p.right.size());
  x.assign(p.right.size(), 0);
  return m.solve(VectorView<const double>(kProgressiveHost, p.right.data(), n),
                 VectorView<double>(kProgressiveHost, x.data(), n));
}
double bytes_of(const ProgressiveResult& r) {
  double sum = 0;
  for (const CycleReport& c : r.cycles) sum += c.bytes;
  return sum;
}

TEST(Progressive, EndsAtTheLastBitOfTheSolution) {
  for (const auto& a : {poisson<double>(63, 63), network(48)}) {
    const Problem p = exact_problem(a);
    const auto amg = smoothed_aggregation(a);
    std::vector<double> x;
    const ProgressiveResult r = run(ProgressiveAmg(amg), p, x);
    EXPECT_TRUE(r.converged);
    // Each element of x is the nearest double to within one rounding of the last correction.
    EXPECT_LE(error_of(p, x), 0x1p-52);
    ASSERT_GE(r.cycles.size(), 4U);
    EXPECT_EQ(r.cycles.front().stage.finest, CycleWords::Bf16);
    EXPECT_FALSE(r.cycles.front().wide);
    EXPECT_TRUE(r.cycles.back().wide);
    EXPECT_LE(r.cycles.front().residual, 1.0000001);
    // Against cycles in double alone: a few more of them, fewer bytes.
    const CycleStage wide{CycleWords::Double, CycleWords::Double};
    const ProgressiveResult all = run(ProgressiveAmg(amg, {.stages = {wide}}), p, x);
    EXPECT_TRUE(all.converged);
    EXPECT_LE(error_of(p, x), 0x1p-52);
    EXPECT_LE(r.cycles.size(), 2 * all.cycles.size());
    EXPECT_LT(bytes_of(r), bytes_of(all));
    RecordProperty("cycles", static_cast<int>(r.cycles.size()));
    RecordProperty("bytes", std::to_string(bytes_of(r) / bytes_of(all)));
  }
}

TEST(Progressive, SaysTheErrorOfEveryCycle) {
  const auto a = network(40);
  const Problem p = exact_problem(a);
  const auto amg = smoothed_aggregation(a);
  std::vector<double> x;
  const ProgressiveResult whole = run(ProgressiveAmg(amg, {.tolerance = 1e-13}), p, x);
  EXPECT_TRUE(whole.converged);
  EXPECT_LE(whole.residual, 1e-13);
  EXPECT_TRUE(whole.cycles.back().wide || whole.residual < whole.cycles.back().residual);
  for (std::size_t c = 1; c < whole.cycles.size(); c += 2) {
    const ProgressiveResult part =
        run(ProgressiveAmg(amg, {.tolerance = 1e-13, .most_cycles = static_cast<int>(c)}), p, x);
    ASSERT_EQ(part.cycles.size(), c);
    EXPECT_FALSE(part.converged);
    EXPECT_EQ(part.residual, whole.cycles[c].residual);  // the same bits as the longer run
    const double truth = error_of(p, x);
    EXPECT_LE(whole.cycles[c].error, 2 * truth) << c;
    EXPECT_GE(whole.cycles[c].error, truth / 4) << c;
  }
}

TEST(Progressive, CyclesAllocateNothing) {
  const auto a = network(40);
  const Problem p = exact_problem(a);
  std::vector<double> x;
  std::uint64_t counts[2];
  for (const int cycles : {3, 12}) {
    const ProgressiveAmg m(smoothed_aggregation(a), {.most_cycles = cycles});
    (void)run(m, p, x);
    const std::uint64_t before = neuron::testing::allocations();
    const auto n = static_cast<std::int64_t>(p.right.size());
    const ProgressiveResult r = m.solve(VectorView<const double>(kProgressiveHost, p.right.data(), n),
                                        VectorView<double>(kProgressiveHost, x.data(), n));
    ASSERT_EQ(r.cycles.size(), static_cast<std::size_t>(cycles));
    counts[cycles == 12] = neuron::testing::allocations() - before;
  }
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_LE(counts[1], 1U);  // the report
}

TEST(Progressive, CyclesRunOnADevice) {
  const Executor device = Executor::open("sim:trn2");
  const auto a = network(18);
  const Problem p = exact_problem(a);
  const auto amg = smoothed_aggregation(a, {.coarsest = 60});
  ASSERT_GE(amg.levels().size(), 2U);
  std::vector<double> x;
  const Recorder recorder(device);
  const ProgressiveResult r = run(ProgressiveAmg(amg, {}, device), p, x);
  EXPECT_EQ(recorder.family_of("sparse.spmm"), "device");
  EXPECT_TRUE(r.converged);
  EXPECT_LE(error_of(p, x), 0x1p-52);
}

TEST(Progressive, RefusesMistakesAndReportsOutcomes) {
  const auto a = poisson<double>(20, 20);
  const auto amg = smoothed_aggregation(a);
  EXPECT_IN("no stages", message_of<InvalidArgument>([&] { ProgressiveAmg(amg, {.stages = {}}); }));
  EXPECT_IN("tolerance", message_of<InvalidArgument>([&] { ProgressiveAmg(amg, {.tolerance = 1}); }));
  EXPECT_IN("slow", message_of<InvalidArgument>([&] { ProgressiveAmg(amg, {.slow = 0}); }));
  const ProgressiveAmg m(amg);
  std::vector<double> b(400, 0), x(400, 5);
  const VectorView<const double> right(kProgressiveHost, b.data(), 400);
  EXPECT_IN("both must have 400",
            message_of<InvalidArgument>([&] { m.solve(right, VectorView<double>(kProgressiveHost, x.data(), 399)); }));
  EXPECT_IN("shares memory",
            message_of<InvalidArgument>([&] { m.solve(right, VectorView<double>(kProgressiveHost, b.data(), 400)); }));
  const ProgressiveResult nothing = m.solve(right, VectorView<double>(kProgressiveHost, x.data(), 400));
  EXPECT_TRUE(nothing.converged);
  EXPECT_EQ(x, std::vector<double>(400, 0));
  const std::vector<double> zero(static_cast<std::size_t>(a.nnz()), 0.0);
  const ProgressiveResult bad =
      ProgressiveAmg(Amg<double>(a.with_values(VectorView<const double>(kProgressiveHost, zero.data(), a.nnz()))))
          .solve(right, VectorView<double>(kProgressiveHost, x.data(), 400));
  EXPECT_EQ(bad.outcome.status, Status::ZeroPivot);
  EXPECT_TRUE(std::isnan(x[7]));
}

}  // namespace
}  // namespace trn::sparse

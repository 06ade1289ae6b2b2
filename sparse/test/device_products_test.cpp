// Products with tiles on simulated devices: componentwise against 113-bit sums within the plan's bound, every kernel,
// mode and machine, sizes across the edges of tiles and banks; what the plan reports; the order of the engines.
#include <cstring>
#include <limits>

#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/tile_programs.hpp>
#include <trn/tile/words.hpp>

#include "device_products.hpp"

namespace trn::sparse {
namespace {

// Near the diagonal, with a window of empty rows and some far entries.
Csr<float> banded(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  std::mt19937_64 r(seed);
  std::vector<std::int64_t> is, js;
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows && columns > 0; ++i) {
    if (i / 128 == 2 || i % 7 == 3) continue;
    for (std::int64_t k = -4; k <= 4; ++k) {
      const std::int64_t j = k == 4 ? static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(columns)) : i + 3 * k;
      if (j < 0 || j >= columns) continue;
      is.push_back(i), js.push_back(j), values.push_back(random_value<float>(r));
    }
  }
  return Csr<float>::from_triplets(Executor::host(), {rows, columns}, {is, js, values});
}

constexpr Kernel kKernels[] = {Kernel::Resident, Kernel::Pinned, Kernel::Gather};
constexpr const char* kMachines[] = {"sim:trn1", "sim:trn2", "sim:trn3"};

TEST(DeviceSpmm, KernelsAndSizesAcrossTheEdges) {
  for (const char* machine : kMachines) {
    for (const Kernel kernel : kKernels) {
      if (kernel == Kernel::Gather && std::strcmp(machine, "sim:trn1") == 0) continue;
      for (const auto& [m, k] :
           {std::pair<std::int64_t, std::int64_t>{1, 1}, {127, 129}, {128, 128}, {129, 127}, {500, 260}, {300, 300}})
        check(device(machine), banded(m, k, 3), {.n = 5, .options = {.kernel = kernel}});
    }
  }
}

TEST(DeviceSpmm, WidthsAcrossBanksFactorsAndTransposes) {
  const Csr<float> a = banded(400, 300, 9);
  for (const Kernel kernel : kKernels) {
    for (const std::int64_t n : {1, 2, 127, 513}) {
      check(device("sim:trn2"), a, {.n = n, .options = {.kernel = kernel}, .alpha = -0.75f, .beta = 1.5f});
      check(device("sim:trn2"), a, {.op = Op::T, .n = n, .options = {.kernel = kernel}, .beta = 1});
    }
    check(device("sim:trn2"), a, {.n = 3, .options = {.kernel = kernel}, .alpha = 0, .beta = -2});
    check(device("sim:trn2"), a, {.n = 3, .options = {.kernel = kernel}, .alpha = 0});
  }
}

TEST(DeviceSpmm, EveryModeWithinItsBound) {
  const Csr<float> a = banded(390, 390, 4);
  for (const char* machine : kMachines) {
    for (const Kernel kernel : kKernels) {
      if (kernel == Kernel::Gather && std::strcmp(machine, "sim:trn1") == 0) continue;
      for (const Mode mode : {Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6})
        check(device(machine), a,
              {.n = 20, .options = {.kernel = kernel, .precision = mode}, .alpha = 2, .beta = 0.5f});
    }
  }
}

TEST(DeviceSpmm, ATargetTakesTheCheapestModeThatKeepsIt) {
  const Csr<float> a = banded(200, 200, 4).to(device("sim:trn2"));
  const auto mode = [&](double target) {
    const SpmmPlan<float> plan(device("sim:trn2"), a, {.columns = 4, .precision = Precision::target(target)});
    const auto b = Array<float>::from_host(device("sim:trn2"), {800}, std::vector<float>(800, 1.0f));
    const Matrix<float> c(device("sim:trn2"), 200, 4);
    const MatrixView<const float> bv(device("sim:trn2"), b.data(), 200, 4, 4, 1);
    const Accuracy accuracy = plan.execute(1, bv, 0, c.view());
    EXPECT_LE(accuracy.bound, target);
    return accuracy.mode;
  };
  EXPECT_EQ(mode(0.1), Mode::Bf16);
  EXPECT_EQ(mode(2e-3), Mode::Tf32);
  EXPECT_EQ(mode(1e-5), Mode::Tf32x3);
  EXPECT_THROW(mode(1e-9), InvalidArgument);
}

// Words have the range of float32 but round up: what is large in float32 is infinite in bf16.
TEST(DeviceSpmm, ATargetLooksAtTheRangeOfItsOperands) {
  const Executor& e = device("sim:trn2");
  constexpr float kLarge = 3.4e38f, kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::int64_t> places{0};
  struct Outcome {
    Accuracy accuracy;
    float value;
  };
  const auto run = [&](float a, float b, float alpha = 1, float beta = 0, float c = 0) {
    const auto matrix = Csr<float>::from_triplets(e, {2, 2}, {places, places, std::vector<float>{a}});
    const SpmmPlan<float> plan(e, matrix, {.precision = Precision::target(1e-2)});
    const auto bd = Matrix<float>::from_host(e, 2, 1, std::vector<float>{b, 1});
    const auto cd = Matrix<float>::from_host(e, 2, 1, std::vector<float>{c, 1});
    const Accuracy accuracy = plan.execute(alpha, bd.view(), beta, cd.view());
    return Outcome{accuracy, cd.to_host()[0]};
  };
  const Outcome large = run(kLarge, 1e-3f);
  EXPECT_NEAR(large.value / 3.4e35, 1, 1e-2);
  EXPECT_LE(large.accuracy.bound, 1e-2);
  EXPECT_NE(large.accuracy.mode, Mode::Bf16);
  EXPECT_EQ(run(1, 1).accuracy.mode, Mode::Bf16);
  EXPECT_THROW(run(1e-3f, kLarge), InvalidArgument);  // B's word
  EXPECT_THROW(run(1e20f, 1e20f), InvalidArgument);   // the sum
  EXPECT_THROW(run(1e20f, 1e18f, 10), InvalidArgument);
  EXPECT_THROW(run(1, 1, 1, 2, kLarge), InvalidArgument);
  EXPECT_THROW(run(kInfinity, 1), InvalidArgument);
  EXPECT_THROW(run(1, std::nanf("")), InvalidArgument);
  EXPECT_NO_THROW(run(1, std::nanf(""), 0));  // B is not read
}

TEST(DeviceSpmm, LayoutsAndLeadingDimensions) {
  const Csr<float> a = banded(150, 140, 1);
  for (const bool row_major : {true, false}) {
    for (const std::int64_t pad : {0, 3}) {
      check(device("sim:trn2"), a, {.n = 6, .beta = 0.5f, .row_major = row_major, .pad = pad});
      check(device("sim:trn2"), a, {.n = 1, .alpha = 3, .row_major = row_major, .pad = pad});
    }
  }
}

TEST(DeviceSpmm, EmptyMatricesRowsAndColumns) {
  const auto empty = [](std::int64_t m, std::int64_t n) {
    return Csr<float>::from_triplets(Executor::host(), {m, n}, {});
  };
  for (const float beta : {0.0f, 2.0f}) {
    check(device("sim:trn2"), empty(130, 5), {.beta = beta});
    check(device("sim:trn2"), empty(0, 5), {.beta = beta});
    check(device("sim:trn2"), empty(5, 0), {.beta = beta});
    check(device("sim:trn2"), banded(10, 10, 1), {.n = 0, .beta = beta});
    for (const Kernel kernel : kKernels)  // the middle window of three is empty
      check(device("sim:trn2"), banded(500, 60, 2), {.options = {.kernel = kernel}, .beta = beta});
  }
}

// Inf and NaN stay within the windows that have an entry in their column.
TEST(DeviceSpmm, NaNSpreadsNoFurtherThanDocumented) {
  const Csr<float> a = banded(500, 500, 8);
  const std::vector<float> d = dense(a);
  std::vector<float> x(500, 1.0f);
  x[40] = std::nanf("");
  for (const Kernel kernel : kKernels) {
    const Executor& e = device("sim:trn2");
    const SpmmPlan<float> plan(e, a.to(e), {.columns = 1, .kernel = kernel});
    const auto xd = Array<float>::from_host(e, {500}, x), yd = Array<float>::from_host(e, {500}, x);
    plan.execute(1, MatrixView<const float>(e, xd.data(), 500, 1, 1, 1), 0,
                 MatrixView<float>(e, yd.data(), 500, 1, 1, 1));
    const std::vector<float> y = yd.to_host();
    for (std::size_t i = 0; i < 500; ++i) {
      bool window = false;
      for (std::size_t r = i / 128 * 128; r < std::min<std::size_t>(500, i / 128 * 128 + 128); ++r) {
        for (std::size_t c = kernel == Kernel::Gather ? 40 : 0; c < (kernel == Kernel::Gather ? 41u : 128u); ++c)
          window = window || d[r * 500 + c] != 0;
      }
      // The window's own rows of B are a tile of their own, whichever columns have entries.
      if (kernel == Kernel::Gather) window = window || i / 128 == 0;
      EXPECT_TRUE(d[i * 500 + 40] == 0 || std::isnan(y[i])) << i;
      EXPECT_TRUE(window || !std::isnan(y[i])) << i;
    }
  }
}

TEST(DeviceSpmm, BlockSizesOfBsrDiagonalsAndWideIndices) {
  const Csr<float> a = banded(260, 250, 6);
  const Executor& e = device("sim:trn2");
  const std::vector<float> x = random_vector<float>(250 * 4, 1);
  const auto run = [&](const AnySparse<float>& any) {
    const SpmmPlan<float> plan(e, any, {.columns = 4});
    const auto xd = Array<float>::from_host(e, {1000}, x), yd = Array<float>(e, {260 * 4});
    plan.execute(1, MatrixView<const float>(e, xd.data(), 250, 4, 4, 1), 0,
                 MatrixView<float>(e, yd.data(), 260, 4, 4, 1));
    return yd.to_host();
  };
  const std::vector<float> y = run(a.to(e));
  for (const auto& [r, c] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 3}, {16, 16}, {100, 7}, {128, 128}})
    EXPECT_EQ(run(convert<Bsr<float>>(a, {.block_rows = r, .block_columns = c}).to(e)), y) << r << " x " << c;
  EXPECT_EQ(run(convert<Dia<float>>(a).to(e)), y);
  EXPECT_EQ(run(with_index<std::int64_t>(a).to(e)), y);
}

TEST(DeviceSpmm, TheReportHasEveryAlternativeAndTheLeastIsTaken) {
  const Executor& e = device("sim:trn2");
  const Csr<float> a = stencil27<float>(12, 12, 12);
  const SpmmPlan<float> plan(e, a.to(e), {.columns = 64});
  const PlanReport& r = plan.report();
  ASSERT_EQ(r.alternatives.size(), 3u);
  double least = 1;
  for (const auto& x : r.alternatives) {
    least = std::min(least, x.seconds);
    EXPECT_GT(x.fill, 0) << name(x.kernel);
    EXPECT_TRUE(x.kernel != r.kernel || x.seconds == r.modelled_seconds);
  }
  EXPECT_EQ(least, r.modelled_seconds);
  EXPECT_GT(r.break_even_fill, 0);
  EXPECT_GT(r.host_seconds, 0);
  // What the plan says is close to what the simulator's clock says of the run.
  const auto b = Array<float>::from_host(e, {1728 * 64}, std::vector<float>(1728 * 64, 1.0f));
  const Matrix<float> c(e, 1728, 64);
  Recorder recorder(e);
  plan.execute(1, MatrixView<const float>(e, b.data(), 1728, 64, 64, 1), 0, c.view());
  EXPECT_NEAR(recorder.modelled_seconds() / r.modelled_seconds, 1.15, 0.35);
}

TEST(DeviceSpmm, NewValuesOnThePlansPattern) {
  const Executor& e = device("sim:trn2");
  const Csr<float> a = banded(200, 200, 2), doubled = a.with_values([&] {
    static std::vector<float> v;
    v.assign(a.values().data(), a.values().data() + a.nnz());
    for (float& x : v) x *= 2;
    return VectorView<const float>(Executor::host(), v.data(), a.nnz());
  }());
  const Csr<float> there = a.to(e), new_values = doubled.to(e);
  const SpmmPlan<float> first(e, there, {.columns = 3}), second = first.with_values(new_values.values());
  const auto b = Array<float>::from_host(e, {600}, random_vector<float>(600, 2));
  const Array<float> y(e, {600}), z(e, {600});
  first.execute(2, MatrixView<const float>(e, b.data(), 200, 3, 3, 1), 0, MatrixView<float>(e, y.data(), 200, 3, 3, 1));
  second.execute(1, MatrixView<const float>(e, b.data(), 200, 3, 3, 1), 0,
                 MatrixView<float>(e, z.data(), 200, 3, 3, 1));
  EXPECT_EQ(y.to_host(), z.to_host());
}

TEST(DeviceSpmm, ReorderedPlansWorkInTheirOwnOrder) {
  const Csr<float> a = poisson<float>(20, 20);
  for (const Reorder reorder : {Reorder::ReverseCuthillMcKee, Reorder::Partition, Reorder::Best}) {
    for (const char* name : {"host", "sim:trn2"}) {
      const Executor& e = device(name);
      const SpmmPlan<float> plan(e, a.to(e), {.columns = 2, .reorder = reorder});
      ASSERT_TRUE(plan.permutation().has_value());
      const Permutation& order = *plan.permutation();
      const std::vector<float> x = random_vector<float>(800, 7);
      std::vector<float> moved(800), back(800);
      for (std::size_t i = 0; i < 400; ++i) {
        for (std::size_t j = 0; j < 2; ++j) moved[2 * i + j] = x[2 * static_cast<std::size_t>(order[i]) + j];
      }
      const auto b = Array<float>::from_host(e, {800}, moved), c = Array<float>(e, {800});
      plan.execute(1, MatrixView<const float>(e, b.data(), 400, 2, 2, 1), 0,
                   MatrixView<float>(e, c.data(), 400, 2, 2, 1));
      const std::vector<float> y = c.to_host(), d = dense(a);
      for (std::size_t i = 0; i < 400; ++i) {
        Quad sum = 0;
        for (std::size_t l = 0; l < 400; ++l)
          sum += static_cast<Quad>(d[static_cast<std::size_t>(order[i]) * 400 + l]) * x[2 * l];
        EXPECT_NEAR(y[2 * i], static_cast<double>(sum), 1e-5);
      }
    }
  }
}

TEST(DeviceSpmm, Refusals) {
  const Executor &trn1 = device("sim:trn1"), &trn2 = device("sim:trn2");
  const Csr<float> a = banded(20, 20, 1);
  EXPECT_THROW(SpmmPlan<float>(trn1, a.to(trn1), {.kernel = Kernel::Gather}), NotImplemented);
  EXPECT_THROW(SpmmPlan<float>(trn2, a.to(trn2), {.kernel = Kernel::Sell}), NotImplemented);
  EXPECT_THROW(SpmmPlan<float>(trn2, a.to(trn2), {.precision = Mode::Exact}), NotImplemented);
  EXPECT_THROW(SpmmPlan<float>(Executor::host(), a, {.kernel = Kernel::Resident}), NotImplemented);
  EXPECT_THROW(SpmmPlan<float>(Executor::host(), a, {.precision = Mode::Bf16}), NotImplemented);
  EXPECT_THROW(SpmmPlan<float>(Executor::host(), a, {.op = static_cast<Op>(9)}), InvalidArgument);
  EXPECT_THROW(SpmmPlan<float>(Executor::host(), a, {.kernel = static_cast<Kernel>(99)}), InvalidArgument);
  EXPECT_THROW(SpmmPlan<float>(Executor::host(), a, {.reorder = static_cast<Reorder>(99)}), InvalidArgument);
  EXPECT_THROW(SpmmPlan<float>(trn2, a), InvalidArgument);  // A is on the host
  const auto wide = random_csr<double>(20, 20, 3, 1).to(trn2);
  EXPECT_THROW(SpmmPlan<double>(trn2, wide), NotImplemented);
  EXPECT_THROW(SpmmPlan<float>(trn2, banded(20, 30, 1).to(trn2), {.reorder = Reorder::Best}), InvalidArgument);
}

TEST(DeviceSpmm, ShuffledOrderGivesTheSameBitsAndNothingRaces) {
  const Csr<float> a = banded(520, 520, 12);
  for (const Kernel kernel : kKernels) {
    for (const Mode mode : {Mode::Native, Mode::Bf16x6}) {
      const Case p{.n = 40, .options = {.kernel = kernel, .precision = mode}, .alpha = 3, .beta = -1};
      const auto run = [&](const neuron::SimOptions& o) { return check(neuron::open_simulator("trn2", o), a, p); };
      const auto timed = run({});
      for (const std::uint64_t seed : {1, 2, 3}) EXPECT_EQ(timed, run({.order = neuron::Order::shuffled(seed)}));
      EXPECT_EQ(timed, run({.order = neuron::Order::in_order(), .check_races = true}));
    }
  }
}

// B in bfloat16 as it lies in memory: the bits of the plan whose B is the same numbers in float32.
TEST(DeviceSpmm, NarrowOperands) {
  const Executor& e = device("sim:trn2");
  const Csr<float> a = random_csr<float>(300, 260, 6, 3).to(e);
  const std::int64_t n = 20;
  std::vector<bfloat16> narrow;
  std::vector<float> wide;
  for (const float x : random_vector<float>(260 * n, 8)) {
    narrow.push_back(bfloat16(x));
    wide.push_back(static_cast<float>(narrow.back()));
  }
  const auto nd = Array<bfloat16>::from_host(e, {260 * n}, narrow);
  const auto wd = Array<float>::from_host(e, {260 * n}, wide);
  for (const Kernel kernel : {Kernel::Resident, Kernel::Pinned}) {
    const SpmmPlan<float> plan(e, a, {.columns = n, .kernel = kernel, .precision = Mode::Bf16});
    std::vector<std::vector<float>> results;
    for (const bool is_narrow : {false, true}) {
      const auto c = Array<float>::from_host(e, {300 * n}, random_vector<float>(300 * n, 9));
      const MatrixView<float> cv(e, c.data(), 300, n, n, 1);
      Recorder recorder(e);
      if (is_narrow)
        (void)plan.execute(2, MatrixView<const bfloat16>(e, nd.data(), 260, n, n, 1), -1, cv);
      else
        (void)plan.execute(2, MatrixView<const float>(e, wd.data(), 260, n, n, 1), -1, cv);
      EXPECT_EQ(recorder.family_of("sparse.spmm"), "device");
      results.push_back(c.to_host());
    }
    EXPECT_EQ(results[0], results[1]);
  }
  const Matrix<float> c(e, 300, n);
  EXPECT_IN("B in bfloat16 needs", message_of<NotImplemented>([&] {
              (void)SpmmPlan<float>(e, a, {.columns = n})
                  .execute(1, MatrixView<const bfloat16>(e, nd.data(), 260, n, n, 1), 0, c.view());
            }));
}

}  // namespace
}  // namespace trn::sparse

// Fused Krylov steps: dense matrices and tiles on simulated devices, against residuals in 80 bits and against the loops
// of krylov.hpp, which take one product and one vector at a time.
#include <trn/core/event.hpp>
#include <trn/solver/fused_krylov.hpp>
#include <trn/solver/krylov_program.hpp>

#include "device_support.hpp"
#include "krylov_support.hpp"
#include "support/nki_run.hpp"

namespace trn::solver::testing {
namespace {

using Wide80 = Wide<float>;

Matrix<float> moved(const Executor& executor, const Dense<Wide80>& a, bool columns = false) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < a.rows * a.columns; ++i) {
    values.push_back(static_cast<float>(columns ? a(i % a.rows, i / a.rows) : a.values[static_cast<std::size_t>(i)]));
  }
  return columns ? Matrix<float>::from_host(executor, a.columns, a.rows, values)
                 : Matrix<float>::from_host(executor, a.rows, a.columns, values);
}

// The tiles of a matrix that hold an entry.
class Tiled {
 public:
  Tiled(const Executor& executor, const Dense<Wide80>& a) : dense_(moved(executor, a)), op_(dense_.view()) {
    const std::int64_t n = a.rows, windows = (n + 127) / 128;
    tiles_.order = n;
    tiles_.offsets.push_back(0);
    const auto entry = [&](std::int64_t i, std::int64_t j) { return i < n && j < n ? static_cast<float>(a(i, j)) : 0; };
    std::vector<std::vector<float>> parts;
    for (std::int64_t w = 0; w < windows; ++w) {
      for (std::int64_t c = 0; c < windows; ++c) {
        std::vector<float> part;
        for (std::int64_t k = 0; k < 128; ++k) {
          for (std::int64_t m = 0; m < 128; ++m) part.push_back(entry(128 * w + m, 128 * c + k));
        }
        if (std::all_of(part.begin(), part.end(), [](float v) { return v == 0; })) continue;
        parts.push_back(part);
        tiles_.blocks.push_back(static_cast<std::int32_t>(c));
      }
      tiles_.offsets.push_back(static_cast<std::int64_t>(parts.size()));
    }
    std::vector<float> values;
    for (std::size_t k = 0; k < 128; ++k) {
      for (const auto& part : parts) {
        values.insert(values.end(), part.begin() + static_cast<std::ptrdiff_t>(128 * k),
                      part.begin() + static_cast<std::ptrdiff_t>(128 * k + 128));
      }
    }
    memory_ = Array<float>::from_host(executor, {static_cast<std::int64_t>(values.size())}, values);
    tiles_.tiles = memory_->data();
  }
  [[nodiscard]] std::int64_t rows() const { return tiles_.order; }
  [[nodiscard]] std::int64_t columns() const { return tiles_.order; }
  [[nodiscard]] const Executor& executor() const { return op_.executor(); }
  void apply(Op op, float alpha, const MatrixView<const float>& x, float beta, const MatrixView<float>& y) const {
    op_.apply(op, alpha, x, beta, y);
  }
  [[nodiscard]] const BlockTiles& block_tiles() const { return tiles_; }
  BlockTiles& tiles() { return tiles_; }

 private:
  Matrix<float> dense_;
  DenseOperator<float> op_;
  BlockTiles tiles_;
  std::optional<Array<float>> memory_;
};
static_assert(TiledOperator<Tiled> && !TiledOperator<DenseOperator<float>>);

// 2 on the diagonal, -1 beside it, and a coupling of far windows: positive definite, most tiles absent.
Dense<Wide80> chain(std::int64_t n) {
  Dense<Wide80> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    a(i, i) = i == 0 || i == n - 1 ? 2.25L : 2.125L;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
  }
  if (n > 300) a(0, n - 1) = a(n - 1, 0) = 0.25L;
  return a;
}

// Iterations where the recurrence first meets the tolerance, in 80 bits.
int iterations_of(const Dense<Wide80>& a, const Dense<Wide80>& b, double tolerance) {
  const std::int64_t n = a.rows;
  std::vector<long double> r, p, q(static_cast<std::size_t>(n));
  long double size = 0;
  for (std::int64_t i = 0; i < n; ++i) r.push_back(b(i, 0)), size += b(i, 0) * b(i, 0);
  p = r;
  long double rho = size;
  for (int step = 0;; ++step) {
    if (rho <= size * tolerance * tolerance) return step;
    long double sigma = 0, next = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      q[i] = 0;
      for (std::size_t j = 0; j < r.size(); ++j)
        q[i] += a(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) * p[j];
      sigma += q[i] * p[i];
    }
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= rho / sigma * q[i], next += r[i] * r[i];
    for (std::size_t i = 0; i < r.size(); ++i) p[i] = r[i] + next / rho * p[i];
    rho = next;
  }
}

// One launch a block of steps, nothing of the matrix's size copied, and the residuals that are reported.
template <class A> IterationReport solved(const Executor& device, const A& op, const Dense<Wide80>& a,
                                          const Dense<Wide80>& b, const KrylovOptions& options, bool chebyshev,
                                          std::vector<float>* bits = nullptr) {
  const Matrix<float> db = moved(device, b), dx(device, a.rows, b.columns);
  const Recorder recorder(device);
  const IterationReport report = chebyshev ? fused_chebyshev(op, db.view(), dx.view(), {0.1, 4.3}, options)
                                           : fused_cg(op, db.view(), dx.view(), options);
  EXPECT_TRUE(report.outcome.ok()) << name(report.outcome.status) << " " << report.iterations;
  EXPECT_EQ(report.algorithm, chebyshev ? "fused chebyshev" : "fused cg");
  EXPECT_EQ(recorder.family_of(chebyshev ? "solver.fused_chebyshev" : "solver.fused_cg"), "device");
  for (const Event& event : recorder.events()) {
    if (event.kind == EventKind::Dispatch) {
      EXPECT_EQ(event.family, "device") << event.subject;
    }
    if (event.kind == EventKind::Copy && a.rows > 200) {
      EXPECT_LT(event.bytes, a.rows * a.rows * 4) << event.subject;
    }
  }
  const std::vector<float> x = dx.to_host();
  Dense<Wide80> solution(a.rows, b.columns);
  for (std::size_t i = 0; i < x.size(); ++i) solution.values[i] = x[i];
  const auto residuals = true_residuals(a, b, solution);
  for (std::size_t j = 0; j < residuals.size(); ++j) {
    EXPECT_LE(residuals[j], 1.01 * options.tolerance);
    EXPECT_NEAR(report.residuals[j], residuals[j], 0.05 * options.tolerance);
  }
  if (bits) *bits = x;
  return report;
}

TEST(FusedKrylov, DenseMatrices) {
  const Executor device = Executor::open("sim:trn2");
  Random random(4101);
  for (const std::int64_t n : {1, 3, 128, 129, 200}) {
    SCOPED_TRACE(n);
    const auto a = with_spectrum<float>(geometric(n, 4), random);
    const auto b = random_matrix<float>(n, n == 129 ? 3 : 1, random);
    for (const bool columns : {false, true}) {
      const Matrix<float> held = moved(device, a, columns);
      const DenseOperator<float> op(columns ? held.view().transposed() : held.view());
      const auto report = solved(device, op, a, b, {.tolerance = 1e-5}, false);
      if (n > 3 && b.columns == 1) {
        EXPECT_NEAR(report.iterations, iterations_of(a, b, 1e-5), 1);
      }
      (void)solved(device, op, a, b, {.tolerance = 1e-5}, true);
    }
  }
}

TEST(FusedKrylov, Tiles) {
  const Executor device = Executor::open("sim:trn3");
  Random random(4102);
  for (const std::int64_t n : {128, 513}) {
    SCOPED_TRACE(n);
    const auto a = chain(n);
    const auto b = random_matrix<float>(n, n == 128 ? 2 : 1, random);
    const Tiled op(device, a);
    EXPECT_EQ(op.block_tiles().blocks.size(), n == 128 ? 1U : 15U);
    const auto report = solved(device, op, a, b, {.tolerance = 1e-4}, false);
    if (n == 513) {
      EXPECT_NEAR(report.iterations, iterations_of(a, b, 1e-4), 1);
    }
    (void)solved(device, op, a, b, {.tolerance = 1e-4}, true);
  }
}

// A window without tiles: A is zero there and b too.
TEST(FusedKrylov, AWindowWithoutTiles) {
  const Executor device = Executor::open("sim:trn2");
  Random random(4103);
  Dense<Wide80> a = chain(300);
  for (std::int64_t i = 128; i < 256; ++i) {
    for (std::int64_t j = 0; j < 300; ++j) a(i, j) = a(j, i) = 0;
  }
  auto b = random_matrix<float>(300, 1, random);
  for (std::int64_t i = 128; i < 256; ++i) b(i, 0) = 0;
  const Tiled op(device, a);
  EXPECT_EQ(op.block_tiles().blocks.size(), 2U);
  (void)solved(device, op, a, b, {.tolerance = 1e-4}, false);
}

// A column of zeros, an easy one and a guess: each column stops by itself, with the bits that it has alone.
TEST(FusedKrylov, ColumnsStopByThemselves) {
  const Executor device = Executor::open("sim:trn2");
  Random random(4104);
  const std::int64_t n = 130;
  const auto a = chain(n);
  Dense<Wide80> b = random_matrix<float>(n, 3, random), second(n, 1);
  for (std::int64_t i = 0; i < n; ++i) b(i, 0) = 0, b(i, 1) = static_cast<float>(std::sin(1.5 * double(i)));
  for (std::int64_t i = 0; i < n; ++i) second(i, 0) = b(i, 2);
  const Tiled op(device, a);
  std::vector<float> all, one;
  (void)solved(device, op, a, b, {.tolerance = 1e-5}, false, &all);
  (void)solved(device, op, a, second, {.tolerance = 1e-5}, false, &one);
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_EQ(all[static_cast<std::size_t>(3 * i)], 0);
    EXPECT_EQ(all[static_cast<std::size_t>(3 * i + 2)], one[static_cast<std::size_t>(i)]);
  }
}

// More columns than there is room for go one group after another.
TEST(FusedKrylov, GroupsOfColumns) {
  const Executor device = Executor::open("sim:trn2");
  Random random(4105);
  const auto a = chain(130);
  const auto b = random_matrix<float>(130, 131, random);
  const Tiled op(device, a);
  const auto report = solved(device, op, a, b, {.tolerance = 1e-3}, false);
  EXPECT_EQ(report.residuals.size(), 131U);
  KrylovShape shape{KrylovMethod::Cg, 130, 1, 0, op.block_tiles().offsets, op.block_tiles().blocks};
  EXPECT_EQ(krylov_columns(shape, tile::machine("trn2")), 128);
}

TEST(FusedKrylov, Outcomes) {
  const Executor device = Executor::open("sim:trn2");
  Random random(4106);
  const std::int64_t n = 140;
  auto a = chain(n);
  const auto b = random_matrix<float>(n, 2, random);
  Matrix<float> db = moved(device, b), dx(device, n, 2);
  {
    const Tiled op(device, a);
    auto report = fused_cg(op, db.view(), dx.view(), {.tolerance = 1e-5, .max_iterations = 3});
    EXPECT_EQ(report.outcome, (Outcome{Status::NotConverged, 0}));
    EXPECT_EQ(report.iterations, 3);
    int seen = 0;
    report = fused_cg(op, db.view(), dx.view(),
                      {.tolerance = 1e-5, .monitor = [&](std::int64_t k, std::span<const double> r) {
                         EXPECT_EQ(k, ++seen);
                         EXPECT_EQ(r.size(), 2U);
                         return k < 5;
                       }});
    EXPECT_EQ(seen, 5);
    EXPECT_EQ(report.iterations, kKrylovSteps);
    report = fused_chebyshev(op, db.view(), dx.view(), {0.01, 0.5}, {.tolerance = 1e-5});  // diverges
    EXPECT_TRUE(report.outcome.status == Status::NotFinite || report.outcome.status == Status::NotConverged);
  }
  a(7, 7) = -100;
  const Tiled indefinite(device, a);
  EXPECT_EQ(fused_cg(indefinite, db.view(), dx.view()).outcome.status, Status::NotPositiveDefinite);
  auto with_nan = b;
  with_nan(5, 1) = std::numeric_limits<float>::quiet_NaN();
  db = moved(device, with_nan);
  EXPECT_EQ(fused_cg(indefinite, db.view(), dx.view()).outcome, (Outcome{Status::NotFinite, 11}));
  EXPECT_TRUE(std::isnan(dx.to_host()[0]));
  const Matrix<float> none(device, 0, 0), no_columns(device, 0, 2);
  EXPECT_TRUE(fused_cg(DenseOperator<float>(none.view()), no_columns.view(), no_columns.view()).outcome.ok());
}

TEST(FusedKrylov, Refusals) {
  const Executor device = Executor::open("sim:trn2"), host = Executor::host();
  const auto a = chain(140);
  const Matrix<float> db(device, 140, 1), dx(device, 140, 1), hb(host, 140, 1), hx(host, 140, 1), ha(host, 140, 140);
  EXPECT_THROW((void)fused_cg(DenseOperator<float>(ha.view()), hb.view(), hx.view()), NotImplemented);
  EXPECT_THROW((void)fused_cg(Tiled(device, a), hb.view(), hx.view()), InvalidArgument);
  EXPECT_THROW((void)fused_chebyshev(Tiled(device, a), db.view(), dx.view(), {0, 1}), InvalidArgument);
  const auto refused = [&](const std::function<void(BlockTiles&)>& spoil) {
    Tiled op(device, a);
    spoil(op.tiles());
    EXPECT_THROW((void)fused_cg(op, db.view(), dx.view()), InvalidArgument);
  };
  refused([](BlockTiles& t) { t.order = 139; });
  refused([](BlockTiles& t) { t.offsets.pop_back(); });
  refused([](BlockTiles& t) { t.blocks[1] = 2; });
  refused([](BlockTiles& t) { t.tiles = nullptr; });
  const Matrix<float> wide(device, 280, 280);
  EXPECT_THROW((void)fused_cg(DenseOperator<float>(MatrixView<const float>(device, wide.data(), 140, 140, 560, 2)),
                              db.view(), dx.view()),
               InvalidArgument);
  EXPECT_THROW(  // X is column 0 of A
      (void)fused_cg(DenseOperator<float>(wide.view().block(0, 0, 140, 140)), db.view(),
                     wide.view().block(0, 0, 140, 1)),
      InvalidArgument);
  const Matrix<float> large(device, 2560, 2560), b(device, 2560, 1), x(device, 2560, 1);
  EXPECT_THROW((void)fused_cg(DenseOperator<float>(large.view()), b.view(), x.view()), NotImplemented);
}

TEST(FusedKrylovOrder, ShuffledInstructionsGiveTheSameBits) {
  Random random(4107);
  const auto a = chain(260);
  const auto b = random_matrix<float>(260, 2, random);
  for (const bool chebyshev : {false, true}) {
    const auto run = [&](neuron::Order order) {
      const Executor device = neuron::open_simulator("trn2", {.order = order, .check_races = true});
      std::vector<float> bits;
      (void)solved(device, Tiled(device, a), a, b, {.tolerance = 1e-3}, chebyshev, &bits);
      return bits;
    };
    const std::vector<float> expected = run(neuron::Order::in_order());
    for (std::uint64_t seed = 1; seed <= 2; ++seed) EXPECT_EQ(run(neuron::Order::shuffled(seed)), expected) << seed;
  }
}

TEST(FusedKrylovNki, EmittedTextGivesTheSimulatorsBits) {
  const neuron::testing::Inputs inputs{{"steps", [](std::int64_t) { return 3; }},
                                       {"limits", [](std::int64_t) { return 0; }},
                                       {"two_ratio", [](std::int64_t) { return 3; }}};
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    for (const KrylovMethod method : {KrylovMethod::Cg, KrylovMethod::Chebyshev}) {
      neuron::testing::expect_agreement(krylov_program({method, 130, 2, 132, {}, {}}, machine), inputs);
      neuron::testing::expect_agreement(krylov_program({method, 200, 1, 0, {0, 1, 3}, {0, 0, 1}}, machine), inputs);
    }
  }
}

// A step of a run of 32, its launch, the matrix and the vectors included; README.md has the same numbers.
TEST(FusedKrylovModel, TheDocumentedTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  struct Row {
    std::int64_t n, columns;
    double cg_us, chebyshev_us;
  };
  for (const Row& row :
       {Row{256, 1, 5.1, 2.6}, Row{512, 1, 6.6, 4.1}, Row{1024, 1, 10.9, 6.1}, Row{2048, 1, 22.9, 17.5},
        Row{256, 32, 6.6, 3.2}, Row{512, 32, 9.2, 5.4}, Row{1024, 32, 16.3, 10.3}, Row{2048, 32, 33.0, 26.4},
        Row{1024, 128, 41.9, 30.3}, Row{2048, 128, 101, 83.1}}) {
    const auto step = [&](KrylovMethod method) {
      return 1e6 / 32 *
             neuron::estimate(krylov_program({method, row.n, row.columns, row.n, {}, {}}, trn2), trn2).seconds;
    };
    EXPECT_LE(step(KrylovMethod::Cg), row.cg_us) << row.n << " " << row.columns;
    EXPECT_LE(step(KrylovMethod::Chebyshev), row.chebyshev_us) << row.n << " " << row.columns;
  }
}

// What fused_krylov.hpp and README.md say fits.
TEST(FusedKrylovModel, TheLargestOrders) {
  struct Row {
    const char* machine;
    std::int64_t one, all;  // of one column and of 128
  };
  for (const Row& row : {Row{"trn1", 2304, 1920}, Row{"trn2", 2432, 2176}, Row{"trn3", 2688, 2304}}) {
    for (const KrylovMethod method : {KrylovMethod::Cg, KrylovMethod::Chebyshev}) {
      const auto columns = [&](std::int64_t n) {
        return krylov_columns({method, n, 1, n, {}, {}}, tile::machine(row.machine));
      };
      EXPECT_GE(columns(row.one), 1) << row.machine;
      EXPECT_EQ(columns(row.one + 1), 0) << row.machine;
      EXPECT_EQ(columns(row.all), 128) << row.machine;
      EXPECT_LT(columns(row.all + 1), 128) << row.machine;
    }
  }
}

// The loop of krylov.hpp, a launch for each product and each operation on vectors, beside the fused steps.
TEST(FusedKrylovModel, BesideSingleLaunches) {
  const Executor device = Executor::open("sim:trn2");
  Random random(4108);
  const std::int64_t n = 256;
  const auto a = chain(n);
  const auto b = random_matrix<float>(n, 1, random);
  const Matrix<float> da = moved(device, a), db = moved(device, b), dx(device, n, 1);
  const DenseOperator<float> op(da.view());
  const KrylovOptions options{.tolerance = 1e-30, .max_iterations = 32};
  const auto step = [&](const std::function<IterationReport()>& run) {
    const Recorder recorder(device);
    EXPECT_EQ(run().iterations, 32);
    return 1e6 / 32 * recorder.modelled_seconds();
  };
  const double single = step([&] { return cg<float>(op, db.view(), dx.view(), options); });
  const double fused = step([&] { return fused_cg(op, db.view(), dx.view(), options); });
  std::printf("cg %.1f us a step, fused %.1f\n", single, fused);
  EXPECT_GE(single, 10 * fused);
}

}  // namespace
}  // namespace trn::solver::testing

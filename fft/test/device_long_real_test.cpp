// Real lines of several programs, by kernels RealColumns and Pairs and odd half lines: each program against its formula
// in long double, in any order, free of races and as NKI text; and whole transforms on every machine.
#include <trn/fft/plan_programs.hpp>
#include <trn/tile/device.hpp>

#include "device_plan_support.hpp"
#include "support/nki_run.hpp"

namespace trn::fft::device_test {
namespace {

using neuron::Order;

PointLayout pairs_of(std::int64_t points, std::int64_t stride) { return {Format::Interleaved, false, points, stride}; }
PointLayout reals_of(std::int64_t points, std::int64_t stride) { return {Format::Interleaved, true, points, stride}; }

std::vector<float> noise(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

// Binds constants beside what is given and runs.
void simulate(const LinesShape& s, const char* name, const ConstantOptions& options,
              std::vector<tile::Binding> bindings, const neuron::SimOptions& how) {
  const tile::Machine& machine = tile::machine(name);
  std::vector<Constant> constants = lines_constants(s, machine, options);
  for (Constant& c : constants) bindings.push_back({c.name, c.bytes.data()});
  (void)neuron::simulate(lines_program(s, machine), machine, bindings, how);
}

struct ColumnsCase {
  std::int64_t N, m, batch, stride;
  Direction direction;
  [[nodiscard]] LinesShape shape() const {
    return {LineKernel::RealColumns,
            Mode::Native,
            1,
            N,
            reals_of(N, stride * m),
            pairs_of(N / 2, 2 * m),
            {{batch, stride * N * m + 3, N * m}, {m, stride, 2}},
            true};
  }
};
const ColumnsCase kColumns[] = {{8, 64, 3, 1, Direction::Forward},
                                {128, 96, 4, 1, Direction::Inverse},
                                {16, 1024, 2, 2, Direction::Forward},
                                {64, 2560, 1, 1, Direction::Forward}};

std::vector<float> run_columns(const ColumnsCase& c, const std::vector<float>& x, const char* machine,
                               const neuron::SimOptions& how) {
  std::vector<float> y(static_cast<std::size_t>(c.batch * c.N * c.m), -77.25F);
  simulate(c.shape(), machine, {c.direction, 1, c.N * c.m}, {{"x_re", const_cast<float*>(x.data())}, {"y", y.data()}},
           how);
  return y;
}

TEST(DeviceLongReal, RealColumns) {
  for (const ColumnsCase& c : kColumns) {
    const std::vector<float> x = noise(c.batch * (c.stride * c.N * c.m + 3), 1);
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      const std::vector<float> y = run_columns(c, x, machine, {.order = Order::in_order(), .check_races = true});
      std::vector<Wide> got, want;
      for (std::int64_t b = 0; b < c.batch; ++b) {
        for (std::int64_t j2 = 0; j2 < c.m; j2 += 7) {
          std::vector<Wide> column;
          for (std::int64_t j1 = 0; j1 < c.N; ++j1)
            column.emplace_back(
                x[static_cast<std::size_t>(b * (c.stride * c.N * c.m + 3) + c.stride * (j1 * c.m + j2))]);
          const std::vector<Wide> z = slow_transform(column, c.direction);
          for (std::int64_t k = 0; k < c.N / 2; ++k) {
            const auto at = static_cast<std::size_t>(b * c.N * c.m + 2 * (k * c.m + j2));
            got.emplace_back(y[at], y[at + 1]);
            want.push_back(k == 0 ? Wide(z[0].real(), z[static_cast<std::size_t>(c.N / 2)].real())
                                  : z[static_cast<std::size_t>(k)] * turn(k * j2, c.N * c.m, c.direction));
          }
        }
      }
      EXPECT_LE(distance(got, want), lines_error_bound(c.shape()) * norm(want))
          << c.N << " x " << c.m << " " << machine;
      EXPECT_LE(distance(got, want), 1e-6 * norm(want));
      for (std::uint64_t seed = 1; seed <= 4; ++seed)
        EXPECT_TRUE(run_columns(c, x, machine, {.order = Order::shuffled(seed)}) == y) << "seed " << seed;
    }
  }
}

struct PairsCase {
  std::int64_t N, n1, n2, across;
  Direction direction;
  [[nodiscard]] std::int64_t m() const { return n1 * n2; }
  [[nodiscard]] std::int64_t points() const { return N * m() / 2 + 1; }  // of a half line
  [[nodiscard]] LinesShape shape() const {
    return {LineKernel::Pairs,
            Mode::Native,
            n1,
            n2,
            pairs_of(m(), 2),
            pairs_of(m() / 2, 2 * N),
            {{across, N * m(), 2 * points()}, {N / 2, 2 * m(), 2}}};
  }
};
const PairsCase kPairs[] = {{8, 64, 66, 2, Direction::Forward},
                            {4, 2, 80, 64, Direction::Forward},
                            {16, 100, 66, 1, Direction::Inverse},
                            {32, 16, 68, 8, Direction::Forward}};
constexpr PairsCase kSmallPairs{4, 64, 66, 2, Direction::Forward};

// The half line, -77.25 where nothing is written: residue N/2.
std::vector<float> run_pairs(const PairsCase& c, const std::vector<float>& x, const char* machine,
                             const neuron::SimOptions& how) {
  std::vector<float> y(static_cast<std::size_t>(2 * c.across * c.points()), -77.25F);
  simulate(c.shape(), machine, {c.direction, 0.5L, 0},
           {{"x", const_cast<float*>(x.data())},
            {"y", y.data()},
            {"y_mirror", y.data() + 2 * (c.N / 2 + 1)},
            {"y_lone", y.data() + 2 * (c.N * c.m() / 2 - c.N / 2 + 1)}},
           how);
  return y;
}

TEST(DeviceLongReal, Pairs) {
  for (const PairsCase& c : kPairs) {
    const std::int64_t m = c.m(), n = c.N * m;
    const std::vector<float> x = noise(c.across * n, 2);
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      const std::vector<float> y = run_pairs(c, x, machine, {.order = Order::in_order(), .check_races = true});
      std::vector<Wide> got, want;
      for (std::int64_t b = 0; b < c.across; ++b) {
        const auto value = [&](std::int64_t k) {
          const auto at = static_cast<std::size_t>(2 * (b * c.points() + k));
          return Wide(y[at], y[at + 1]);
        };
        for (std::int64_t l = 0; l < c.N / 2; ++l) {
          std::vector<Wide> line;
          for (std::int64_t j = 0; j < m; ++j) {
            const auto at = static_cast<std::size_t>(b * n + 2 * (l * m + j));
            line.emplace_back(x[at], l == 0 ? 0 : x[at + 1]);
          }
          const std::vector<Wide> z = wide_transform(line, c.direction, 0.5L);
          for (std::int64_t k = 0; k < m / 2; ++k)
            got.push_back(value(l + c.N * k)), want.push_back(z[static_cast<std::size_t>(k)]);
          for (std::int64_t k = 1; k <= m / 2; ++k) {
            got.push_back(value(c.N - l + c.N * (k - 1)));
            want.push_back(std::conj(z[static_cast<std::size_t>(m - k)]));
          }
          EXPECT_TRUE(l > 0 || value(n / 2).imag() == 0);
        }
        for (std::int64_t k = c.N / 2; k <= n / 2; k += c.N) EXPECT_EQ(value(k), Wide(-77.25L, -77.25L)) << k;
      }
      EXPECT_LE(distance(got, want), lines_error_bound(c.shape()) * norm(want))
          << c.n1 << " x " << c.n2 << " " << machine;
      EXPECT_LE(distance(got, want), 1e-6 * norm(want));
      for (std::uint64_t seed = 1; seed <= 2; ++seed)
        EXPECT_TRUE(run_pairs(c, x, machine, {.order = Order::shuffled(seed)}) == y) << "seed " << seed;
    }
  }
}

// y_k = sum of Im(x_j) exp(-+ 2 pi i j (k + 1/2)/n).
TEST(DeviceLongReal, OddHalfLines) {
  for (const auto& [n1, n2, count] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{16, 18, 40}, {4, 128, 70}, {90, 100, 2}}) {
    for (const Direction direction : {Direction::Forward, Direction::Inverse}) {
      const std::int64_t n = n1 * n2;
      const LinesShape s{LineKernel::Blocks,      Mode::Native, n1,  n2, pairs_of(n, 2), pairs_of(n / 2, 6),
                         {{count, 2 * n, 3 * n}}, false,        true};
      std::vector<float> x = noise(count * 2 * n, 3), y(static_cast<std::size_t>(count * 3 * n), -77.25F);
      simulate(s, "trn2", {direction, 1, 0}, {{"x", x.data()}, {"y", y.data()}},
               {.order = Order::shuffled(5), .check_races = true});
      std::vector<Wide> got, want;
      for (std::int64_t b = 0; b < count; b += 9) {
        std::vector<Wide> line;
        for (std::int64_t j = 0; j < n; ++j)
          line.push_back(static_cast<long double>(x[static_cast<std::size_t>(2 * (b * n + j) + 1)]) *
                         turn(j, 2 * n, direction));
        const std::vector<Wide> z = wide_transform(line, direction);
        for (std::int64_t k = 0; k < n / 2; ++k) {
          const auto at = static_cast<std::size_t>(b * 3 * n + 6 * k);
          got.emplace_back(y[at], y[at + 1]), want.push_back(z[static_cast<std::size_t>(k)]);
        }
      }
      EXPECT_LE(distance(got, want), 1e-6 * norm(want)) << n1 << " x " << n2;
    }
  }
}

TEST(DeviceLongReal, NkiGivesTheSimulatorsBits) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    neuron::testing::expect_agreement(lines_program(kColumns[0].shape(), machine));
    neuron::testing::expect_agreement(lines_program(kSmallPairs.shape(), machine));
  }
  const tile::Machine& machine = tile::machine("trn2");
  neuron::testing::expect_agreement(lines_program(kColumns[1].shape(), machine));
  const LinesShape odd{LineKernel::Blocks, Mode::Native,     16,    18,  pairs_of(288, 2),
                       pairs_of(144, 2),   {{40, 576, 288}}, false, true};
  neuron::testing::expect_agreement(lines_program(odd, machine));
  EXPECT_EQ(lines_program(kPairs[3].shape(), machine), lines_program(kPairs[3].shape(), machine));
}

std::string steps_of(const Executor& executor, const Description& d) {
  std::string names;
  for (const auto& program : plan_programs(executor, d, DType::Float32))
    names += (names.empty() ? "" : " ") + program->name();
  return names;
}

// Whole transforms: one line and batches, other factors than 2, in place, either direction, gaps.
TEST(DeviceLongReal, Transforms) {
  for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor executor = Executor::open(name);
    const bool all = std::string(name) == "sim:trn2";
    std::vector<Description> cases{dense(Kind::RealToComplex, Direction::Forward, {131072})};
    if (all) {
      cases.push_back(dense(Kind::RealToComplex, Direction::Inverse, {32768}, {.batch = 16}));
      cases.push_back(dense(Kind::RealToComplex, Direction::Forward, {100352}));  // 8 x 112 x 112
      cases.push_back(
          {Kind::RealToComplex, Direction::Forward, {{65536, 2, 3}}, {{2, 300000, 250000}}, Scale::Orthonormal});
      cases.push_back(dense(Kind::RealToComplex, Direction::Forward, {524288}));
    }
    for (const Description& d : cases) {
      EXPECT_EQ(steps_of(executor, d), "fft_real_columns fft_pairs fft_half_out") << d.axes[0].extent;
      const PlanResult r = run_plan<float>(executor, d);
      EXPECT_EQ(r.family, "device");
      EXPECT_TRUE(r.guarded);
      EXPECT_LE(r.error, r.accuracy.bound) << d.axes[0].extent << " " << name;
      EXPECT_LE(r.error, 1e-6) << d.axes[0].extent << " " << name;
    }
  }
  const Executor executor = Executor::open("sim:trn2");
  const PlanResult r = run_plan<float>(
      executor, dense(Kind::RealToComplex, Direction::Forward, {131072}, {.batch = 2, .padded_real = true}), true);
  EXPECT_LE(r.error, r.accuracy.bound);
  EXPECT_TRUE(r.guarded);
}

TEST(DeviceLongReal, Refusals) {
  const tile::Machine& machine = tile::machine("trn2");
  const auto message = [&](const LinesShape& s) {
    try {
      (void)lines_program(s, machine);
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  LinesShape s = kColumns[0].shape();
  s.lines.back().count = 63;
  EXPECT_NE(message(s).find("kernel real columns takes"), std::string::npos) << message(s);
  s = kPairs[0].shape();
  s.lines[0].count = 3;
  EXPECT_NE(message(s).find("kernel pairs does not take 4 lines of 64 x 66"), std::string::npos) << message(s);
  s = kPairs[0].shape();
  s.mode = Mode::Tf32;
  EXPECT_NE(message(s).find("kernel pairs has mode native, not tf32"), std::string::npos) << message(s);
  s = dense_lines(LineKernel::Blocks, 16, 16, 4);
  s.odd = true;
  EXPECT_NE(message(s).find("odd lines"), std::string::npos) << message(s);
}

}  // namespace
}  // namespace trn::fft::device_test

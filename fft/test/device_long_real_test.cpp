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

// Half lines, row N/2 of the result behind it.
struct PairsInMemory {
  std::vector<float> x, y;
};
LinesShape shape_in(const PairsCase& c) {
  return {LineKernel::PairsIn,
          Mode::Native,
          c.n1,
          c.n2,
          pairs_of(c.m() / 2, 2 * c.N),
          pairs_of(c.m(), 2),
          {{c.across, 2 * c.points(), (c.N + 1) * c.m()}, {c.N / 2, 2, 2 * c.m()}}};
}
PairsInMemory run_pairs_in(const PairsCase& c, const char* machine, const neuron::SimOptions& how) {
  PairsInMemory memory{noise(2 * c.across * c.points(), 4), noise(c.across * (c.N + 1) * c.m(), 5)};
  float* const x = memory.x.data();
  simulate(shape_in(c), machine, {c.direction, 0.5L, 0},
           {{"x", x},
            {"y", memory.y.data()},
            {"x_mirror", x + 2 * (c.N / 2 + 1)},
            {"x_lone", x + 2 * (c.N * c.m() / 2 - c.N / 2 + 1)},
            {"x_middle", memory.y.data() + c.N * c.m()}},
           how);
  return memory;
}

TEST(DeviceLongReal, PairsIn) {
  for (const PairsCase& c : kPairs) {
    const std::int64_t m = c.m(), n = c.N * m;
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      const PairsInMemory memory = run_pairs_in(c, machine, {.order = Order::in_order(), .check_races = true});
      const std::vector<float>&x = memory.x, &y = memory.y;
      std::vector<Wide> got, want;
      for (std::int64_t b = 0; b < c.across; ++b) {
        const auto full = [&](std::int64_t k) {
          const bool mirrored = 2 * k > n;
          const auto at = static_cast<std::size_t>(2 * (b * c.points() + (mirrored ? n - k : k)));
          const Wide v(x[at], k == 0 || 2 * k == n ? 0 : x[at + 1]);
          return mirrored ? std::conj(v) : v;
        };
        const auto value = [&](std::int64_t at) { return y[static_cast<std::size_t>(b * (c.N + 1) * m + at)]; };
        for (std::int64_t l = 0; l < c.N / 2; ++l) {
          std::vector<Wide> line;
          for (std::int64_t k = 0; k < m; ++k) line.push_back(full(l + c.N * k));
          const std::vector<Wide> z = wide_transform(line, c.direction, 0.5L);
          for (std::int64_t j = 0; j < m; ++j) {
            ASSERT_TRUE(l > 0 || value(2 * j + 1) == value(n + j));  // row N/2 as it is
            got.emplace_back(value(2 * (l * m + j)), l == 0 ? 0 : value(2 * (l * m + j) + 1));
            want.push_back(l == 0 ? Wide(z[static_cast<std::size_t>(j)].real()) : z[static_cast<std::size_t>(j)]);
          }
        }
      }
      EXPECT_LE(distance(got, want), lines_error_bound(shape_in(c)) * norm(want))
          << c.n1 << " x " << c.n2 << " " << machine;
      EXPECT_LE(distance(got, want), 1e-6 * norm(want));
      for (std::uint64_t seed = 1; seed <= 2; ++seed)
        EXPECT_TRUE(run_pairs_in(c, machine, {.order = Order::shuffled(seed)}).y == y) << "seed " << seed;
    }
  }
}

LinesShape shape_back(const ColumnsCase& c) {
  return {LineKernel::ColumnsReal,
          Mode::Native,
          1,
          c.N,
          pairs_of(c.N / 2, 2 * c.m),
          reals_of(c.N, c.stride * c.m),
          {{c.batch, c.N * c.m, c.stride * c.N * c.m + 3}, {c.m, 2, c.stride}},
          true};
}

TEST(DeviceLongReal, ColumnsReal) {
  for (const ColumnsCase& c : kColumns) {
    const std::int64_t n = c.N * c.m, distance_out = c.stride * n + 3;
    std::vector<float> z = noise(c.batch * n, 6);
    const auto run = [&](const char* machine, const neuron::SimOptions& how) {
      std::vector<float> x(static_cast<std::size_t>(c.batch * distance_out), -77.25F);
      simulate(shape_back(c), machine, {c.direction, 0.25L, n}, {{"x", z.data()}, {"y_re", x.data()}}, how);
      return x;
    };
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      const std::vector<float> x = run(machine, {.order = Order::in_order(), .check_races = true});
      std::vector<Wide> got, want;
      for (std::int64_t b = 0; b < c.batch; ++b) {
        for (std::int64_t j2 = 0; j2 < c.m; j2 += 7) {
          const auto value = [&](std::int64_t k) {
            const auto at = static_cast<std::size_t>(b * n + 2 * (k * c.m + j2));
            return Wide(z[at], z[at + 1]);
          };
          std::vector<Wide> column(static_cast<std::size_t>(c.N));
          column[0] = value(0).real();
          column[static_cast<std::size_t>(c.N / 2)] = value(0).imag();
          for (std::int64_t k = 1; k < c.N / 2; ++k) {
            const Wide v = value(k) * turn(k * j2, n, c.direction);
            column[static_cast<std::size_t>(k)] = v;
            column[static_cast<std::size_t>(c.N - k)] = std::conj(v);
          }
          const std::vector<Wide> exact = slow_transform(column, c.direction, 0.25L);
          for (std::int64_t j1 = 0; j1 < c.N; ++j1) {
            got.emplace_back(x[static_cast<std::size_t>(b * distance_out + c.stride * (j1 * c.m + j2))]);
            want.emplace_back(exact[static_cast<std::size_t>(j1)].real());
          }
        }
      }
      EXPECT_LE(distance(got, want), std::sqrt(2.0) * lines_error_bound(shape_back(c)) * norm(want))
          << c.N << " x " << c.m << " " << machine;
      EXPECT_LE(distance(got, want), 1e-6 * norm(want));
      for (std::uint64_t seed = 1; seed <= 3; ++seed)
        EXPECT_TRUE(run(machine, {.order = Order::shuffled(seed)}) == x) << "seed " << seed;
    }
  }
}

// x_j = 2 Re sum over k < n/2 of X_k exp(-+ 2 pi i j (k + 1/2)/n).
TEST(DeviceLongReal, OddLinesBack) {
  for (const auto& [n1, n2, count] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{16, 18, 40}, {4, 128, 70}, {90, 100, 2}}) {
    const std::int64_t n = n1 * n2;
    const LinesShape s{LineKernel::Blocks,      Mode::Native, n1,  n2, pairs_of(n / 2, 6), reals_of(n, 2),
                       {{count, 3 * n, 2 * n}}, false,        true};
    std::vector<float> x = noise(count * 3 * n, 3), y(static_cast<std::size_t>(count * 2 * n), -77.25F);
    simulate(s, "trn2", {Direction::Inverse, 1, 0}, {{"x", x.data()}, {"y_re", y.data()}},
             {.order = Order::shuffled(5), .check_races = true});
    std::vector<Wide> got, want;
    for (std::int64_t b = 0; b < count; b += 9) {
      std::vector<Wide> line(static_cast<std::size_t>(n));
      for (std::int64_t k = 0; k < n / 2; ++k) {
        const auto at = static_cast<std::size_t>(b * 3 * n + 6 * k);
        line[static_cast<std::size_t>(k)] = {x[at], x[at + 1]};
      }
      const std::vector<Wide> z = wide_transform(line, Direction::Inverse);
      for (std::int64_t j = 0; j < n; ++j) {
        got.emplace_back(y[static_cast<std::size_t>(b * 2 * n + 2 * j)]);
        want.emplace_back(2 * (z[static_cast<std::size_t>(j)] * turn(j, 2 * n, Direction::Inverse)).real());
      }
    }
    EXPECT_LE(distance(got, want), 1e-6 * norm(want)) << n1 << " x " << n2;
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
    neuron::testing::expect_agreement(lines_program(shape_back(kColumns[0]), machine));
    neuron::testing::expect_agreement(lines_program(shape_in(kSmallPairs), machine));
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

void expect_transform(const char* name, const Description& d, bool in_place = false) {
  const Executor executor = Executor::open(name);
  const char* steps = d.kind == Kind::RealToComplex ? "fft_real_columns fft_pairs fft_half_out"
                                                    : "fft_half_in fft_pairs_in fft_columns_real";
  EXPECT_EQ(steps_of(executor, d), steps) << d.axes[0].extent;
  const PlanResult r = run_plan<float>(executor, d, in_place);
  EXPECT_EQ(r.family, "device");
  EXPECT_TRUE(r.guarded);
  EXPECT_LE(r.error, r.accuracy.bound) << d.axes[0].extent << " " << name;
  EXPECT_LE(r.error, 1e-6) << d.axes[0].extent << " " << name;
}

// Whole transforms: few and many lines, other factors than 2, in place, either direction, gaps.
TEST(DeviceLongReal, Transforms) {
  expect_transform("sim:trn1", dense(Kind::RealToComplex, Direction::Inverse, {32768}, {.batch = 32}));
  expect_transform("sim:trn3", dense(Kind::ComplexToReal, Direction::Inverse, {32768}, {.batch = 32}));
  expect_transform("sim:trn2",
                   dense(Kind::RealToComplex, Direction::Forward, {100352}, {.batch = 11}));  // 8 x 98 x 128
  const std::int64_t n = 65536;
  expect_transform(
      "sim:trn2",
      {Kind::RealToComplex, Direction::Forward, {{n, 2, 3}}, {{16, 2 * n + 7, 100000}}, Scale::Orthonormal});
  expect_transform(
      "sim:trn2",
      {Kind::ComplexToReal, Direction::Forward, {{n, 3, 2}}, {{16, 100000, 2 * n + 7}}, Scale::Orthonormal});
  for (const Kind kind : {Kind::RealToComplex, Kind::ComplexToReal})
    expect_transform("sim:trn2", dense(kind, Direction::Forward, {131072}, {.batch = 8, .padded_real = true}), true);
}

// In place x and y of a program are one memory: any order of its instructions that keeps their dependences gives the
// transform. One axis and several, short lines and long.
TEST(DeviceInPlace, AnyOrder) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Executor executor = neuron::open_simulator("trn2", {.order = Order::shuffled(seed)});
    for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
      const bool real = kind != Kind::ComplexToComplex;
      for (const std::vector<std::int64_t>& lengths :
           std::vector<std::vector<std::int64_t>>{{60}, {1000}, {97}, {36, 40}, {8, 10, 12}}) {
        const Description d =
            dense(kind, Direction::Forward, lengths, {.batch = lengths[0] > 100 ? 5 : 70, .padded_real = real});
        const PlanResult r = run_plan<float>(executor, d, true, seed);
        EXPECT_EQ(r.family, "device");
        EXPECT_LE(r.error, r.accuracy.bound) << lengths[0] << " x " << lengths.size() << ", seed " << seed;
      }
    }
  }
}

// Of one memory or of two: the same instructions, and the emitted text agrees. Real lines in place are as long as their
// complex partners.
TEST(DeviceInPlace, ProgramsDeclareIt) {
  const tile::Machine& machine = tile::machine("trn2");
  const PointLayout real{Format::Interleaved, true, 40, 1}, half{Format::Interleaved, false, 21, 2},
      planar{Format::Planar, false, 40, 1};
  for (LinesShape s : {LinesShape{LineKernel::Rows, Mode::Native, 1, 40, real, half, {{9, 42, 42}}},
                       LinesShape{LineKernel::Rows, Mode::Native, 1, 40, half, real, {{9, 42, 42}}},
                       LinesShape{LineKernel::Blocks, Mode::Native, 5, 8, planar, planar, {{9, 40, 40}}}}) {
    const tile::Program apart = lines_program(s, machine);
    s.in_place = true;
    const tile::Program one = lines_program(s, machine);
    EXPECT_TRUE(one.instructions() == apart.instructions());
    std::size_t continued = 0;
    for (const tile::TensorDecl& t : one.tensors()) continued += t.alias.empty() ? 0 : 1;
    EXPECT_EQ(continued, s.in.format == Format::Planar ? 2u : 1u);
    neuron::testing::expect_agreement(one);
  }
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

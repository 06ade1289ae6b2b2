// Cosine and sine transforms on simulated devices against their definitions in long double, within the header's bounds:
// every type, norm and direction, lengths on either side of the hardware's edges, any axis, cut and padded; and the
// matrix kernel itself in every layout, in any order, as NKI text.
#include <numbers>
#include <trn/fft/cosine.hpp>
#include <trn/fft/matrix_program.hpp>
#include <trn/neuron/sim.hpp>

#include "fft_support.hpp"
#include "support/nki_run.hpp"

namespace trn::fft::test {
namespace {

constexpr double u = 0x1p-24;
using detail::Wave;

// The header's sums, unnormalised.
std::vector<long double> definition(Wave wave, CosineType type, const std::vector<long double>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  const bool sine = wave == Wave::Sine;
  // cos or sin of pi number / all, from a table.
  const std::int64_t all = type == CosineType::I ? (sine ? n + 1 : n - 1) : type == CosineType::IV ? 4 * n : 2 * n;
  std::vector<long double> table;
  for (std::int64_t i = 0; i < 2 * all; ++i) {
    const Turn<long double> t = turn<long double>(i, 2 * all);
    table.push_back(sine ? t.s : t.c);
  }
  const auto value = [&](std::int64_t number) { return table[static_cast<std::size_t>(number % (2 * all))]; };
  std::vector<long double> y(x.size());
  for (std::int64_t k = 0; k < n; ++k) {
    long double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      long double weight = 2, w = 0;
      const std::int64_t J = sine ? j + 1 : j, K = sine ? k + 1 : k;
      if (type == CosineType::I) {
        if (!sine && (j == 0 || j == n - 1)) weight = 1;
        w = value(J * K);
      } else if (type == CosineType::II) {
        w = value(K * (2 * j + 1));
      } else if (type == CosineType::III) {
        if (j == (sine ? n - 1 : 0)) weight = 1;
        w = value(J * (2 * k + 1));
      } else {
        w = value((2 * j + 1) * (2 * k + 1));
      }
      sum += weight * w * x[static_cast<std::size_t>(j)];
    }
    y[static_cast<std::size_t>(k)] = sum;
  }
  return y;
}

long double relative(const std::vector<float>& y, const std::vector<long double>& want) {
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < want.size(); ++i) error += (y[i] - want[i]) * (y[i] - want[i]), norm += want[i] * want[i];
  return std::sqrt(error / norm);
}

class CosineOnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  const Executor e_ = Executor::open(GetParam());
  mutable PlanCache cache_;

  template <class F> auto observed(Wave wave, F call) const {
    Recorder device(e_), host(Executor::host());
    auto y = call();
    EXPECT_EQ(device.family_of(wave == Wave::Cosine ? "fft.dct" : "fft.dst"), "device");
    EXPECT_GE(device.count(EventKind::Run), 1);
    EXPECT_EQ(host.count(EventKind::Dispatch), 0);
    EXPECT_EQ(device.count(EventKind::Copy), 0);
    return y;
  }
  double bound(Wave wave, CosineType type, std::int64_t n) const {
    if (n <= 128) return 2 * (n + std::sqrt(n) + 2) * u;
    const std::int64_t all = type != CosineType::I ? 2 * n : wave == Wave::Sine ? 2 * (n + 1) : 2 * (n - 1);
    const Kind kind = type == CosineType::IV    ? Kind::ComplexToComplex
                      : type == CosineType::III ? Kind::ComplexToReal
                                                : Kind::RealToComplex;
    return 2 * cache_.get<float>(e_, dense(kind, Direction::Forward, {all}, {.batch = 3})).accuracy().bound + 12 * u;
  }
};

constexpr CosineType kTypes[] = {CosineType::I, CosineType::II, CosineType::III, CosineType::IV};

TEST_P(CosineOnDevice, EveryTypeAndLength) {
  std::vector<std::int64_t> lengths{2, 3, 16, 127, 128, 129, 257, 511, 512, 513};
  if (std::string(GetParam()) != "sim:trn2") lengths = {5, 128, 130, 513};
  for (const std::int64_t n : lengths) {
    const auto x = random_real<float>(3 * n, static_cast<std::uint32_t>(n));
    const auto dx = Array<float>::from_host(e_, {3, n}, x);
    for (const Wave wave : {Wave::Cosine, Wave::Sine}) {
      for (const CosineType type : kTypes) {
        const auto y = observed(wave, [&] {
          return wave == Wave::Cosine ? dct(e_, dx, {.type = type, .cache = &cache_})
                                      : dst(e_, dx, {.type = type, .cache = &cache_});
        });
        const auto values = y.to_host();
        for (std::int64_t i = 0; i < 3; ++i) {
          const std::vector<long double> line(x.begin() + i * n, x.begin() + (i + 1) * n);
          const std::vector<float> got(values.begin() + i * n, values.begin() + (i + 1) * n);
          ASSERT_LE(relative(got, definition(wave, type, line)), bound(wave, type, n))
              << (wave == Wave::Cosine ? "dct " : "dst ") << static_cast<int>(type) << " of " << n;
        }
      }
    }
  }
}

// Norms: the host's double results, which other tests hold to SciPy, with every norm, direction and orthogonalize.
TEST_P(CosineOnDevice, NormsAndInverses) {
  for (const std::int64_t n : {20, 160}) {
    const auto x = random_real<float>(2 * n, 5);
    const auto dx = Array<float>::from_host(e_, {2, n}, x);
    const auto wide = Array<double>::from_host(Executor::host(), {2, n}, std::vector<double>(x.begin(), x.end()));
    for (const CosineType type : kTypes) {
      for (const Norm norm : {Norm::Backward, Norm::Ortho, Norm::Forward}) {
        for (const bool orthogonalize : {false, true}) {
          const CosineOptions o{.type = type, .norm = norm, .orthogonalize = orthogonalize, .cache = &cache_};
          const auto check = [&](Wave wave, const Array<float>& y, const Array<double>& want) {
            const auto w = want.to_host();
            const double limit =
                2 * std::max(bound(wave, type, n),
                             bound(wave, type == CosineType::II ? CosineType::III : CosineType::II, n));
            EXPECT_LE(relative(y.to_host(), {w.begin(), w.end()}), limit)
                << static_cast<int>(type) << " " << name(norm) << " " << n;
          };
          const Executor host = Executor::host();
          check(Wave::Cosine, dct(e_, dx, o), dct(host, wide, o));
          check(Wave::Cosine, idct(e_, dx, o), idct(host, wide, o));
          check(Wave::Sine, dst(e_, dx, o), dst(host, wide, o));
          check(Wave::Sine, idst(e_, dx, o), idst(host, wide, o));
        }
      }
    }
  }
}

TEST_P(CosineOnDevice, AxesCutsAndPadding) {
  const auto x = random_real<float>(6 * 140 * 9, 6);
  const auto dx = Array<float>::from_host(e_, {6, 140, 9}, x);
  const auto wide = Array<double>::from_host(Executor::host(), {6, 140, 9}, std::vector<double>(x.begin(), x.end()));
  const Executor host = Executor::host();
  const auto check = [&](const Array<float>& y, const Array<double>& want, double limit) {
    ASSERT_EQ(y.shape(), want.shape());
    const auto w = want.to_host();
    EXPECT_LE(relative(y.to_host(), {w.begin(), w.end()}), limit);
  };
  for (const std::int64_t axis : {0, 1, 2}) {
    for (const std::int64_t n : {4, 9, 160}) {
      const CosineOptions o{.n = n, .axis = axis};
      check(observed(Wave::Cosine, [&] { return dct(e_, dx, o); }), dct(host, wide, o),
            bound(Wave::Cosine, CosineType::II, n));
      const CosineOptions three{.type = CosineType::III, .n = n, .axis = axis, .norm = Norm::Ortho};
      check(observed(Wave::Sine, [&] { return dst(e_, dx, three); }), dst(host, wide, three),
            bound(Wave::Sine, CosineType::III, n));
    }
  }
  const CosineNOptions all{.norm = Norm::Ortho};
  check(observed(Wave::Cosine, [&] { return dctn(e_, dx, all); }), dctn(host, wide, all),
        bound(Wave::Cosine, CosineType::II, 6) + bound(Wave::Cosine, CosineType::II, 140) +
            bound(Wave::Cosine, CosineType::II, 9));
  // There and back from a view: every second element of the last axis, the first axis backwards.
  const View<const float> view(e_, dx.data() + 5 * 140 * 9, {6, 140, 5}, {-140 * 9, 9, 2});
  const auto back = idstn(e_, dstn(e_, view, {.axes = {{0, 2}}}), {.axes = {{0, 2}}}).to_host();
  std::vector<long double> want;
  each_index({6, 140, 5}, [&](const Shape& i, std::size_t) {
    want.push_back(x[static_cast<std::size_t>(((5 - i[0]) * 140 + i[1]) * 9 + 2 * i[2])]);
  });
  EXPECT_LE(relative(back, want),
            2 * (bound(Wave::Sine, CosineType::II, 6) + bound(Wave::Sine, CosineType::II, 5)) * 2);
}

// Dense short lines share a matrix; every count of them.
TEST_P(CosineOnDevice, ManyShortLines) {
  for (const auto& [n, count] : {std::pair{1, 300}, {2, 20000}, {16, 2048}, {20, 66}, {33, 129}, {64, 257}}) {
    const auto x = random_real<float>(n * count, 8);
    const auto y = dst(e_, Array<float>::from_host(e_, {count, n}, x), {.type = CosineType::II}).to_host();
    for (std::int64_t i = 0; i < count; i += 13) {
      const std::vector<long double> line(x.begin() + i * n, x.begin() + (i + 1) * n);
      ASSERT_LE(relative({y.begin() + i * n, y.begin() + (i + 1) * n}, definition(Wave::Sine, CosineType::II, line)),
                bound(Wave::Sine, CosineType::II, n))
          << n << ", line " << i;
    }
  }
}

TEST_P(CosineOnDevice, PlansComeFromTheCache) {
  const auto dx = Array<float>::from_host(e_, {300}, random_real<float>(300, 7));
  PlanCache cache;
  const auto one = dct(e_, dx, {.cache = &cache}).to_host(), two = dct(e_, dx, {.cache = &cache}).to_host();
  EXPECT_EQ(one, two);
  EXPECT_EQ(cache.hits(), 1u);
}

TEST_P(CosineOnDevice, Refusals) {
  const Array<double> wide(e_, {8});
  EXPECT_IN("fft.dct: executor 'sim:trn", message_of<NotImplemented>([&] { (void)dct(e_, wide); }));
  const Array<float> x(e_, {1});
  EXPECT_IN("it needs at least 2", message_of<InvalidArgument>([&] { (void)dct(e_, x, {.type = CosineType::I}); }));
  EXPECT_EQ(dst(e_, Array<float>(e_, {0, 4})).shape(), (Shape{0, 4}));
}

INSTANTIATE_TEST_SUITE_P(Simulators, CosineOnDevice, ::testing::Values("sim:trn1", "sim:trn2", "sim:trn3"),
                         [](const auto& machine) { return std::string(machine.param).substr(4); });

// Every combination of layouts: points or lines are neighbours, real or pairs, overlapping and far apart.
std::vector<MatrixShape> shapes() {
  return {
      {{20, 1, 1}, {20, 1, 1}, {{700, 20, 20}}},                        // rows to rows
      {{20, 1, 1}, {17, 2, 2 * 700}, {{700, 5, 2}}},                    // overlapping rows to columns of pairs
      {{9, 2, 2 * 600}, {16, 1, 1}, {{3, 11000, 9700}, {600, 2, 16}}},  // columns of pairs to rows
      {{30, 1, 1300}, {31, 1, 1300}, {{1300, 1, 1}}},                   // columns to columns
      {{128, 2, 2}, {128, 2, 2}, {{130, 300, 256}}},                    // pairs, the largest matrix
      {{7, 1, 3}, {5, 2, 4}, {{2, 950, 1000}, {41, 22, 20}}},           // gaps everywhere
      {{1, 1, 1}, {1, 1, 1}, {{1, 1, 1}}},
      {{2, 1, 1}, {2, 1, 1}, {{9000, 2, 2}}},  // many short lines
      {{2, 2, 4}, {3, 2, 2 * 9001}, {{9001, 9, 2}}},
      {{3, 2, 2 * 9000}, {2, 2, 2}, {{9000, 2, 4}}},
      {{5, 1, 1}, {6, 1, 1}, {{129, 100, 6}}},  // far apart
      // Words, in the layouts above.
      {{20, 1, 1}, {20, 1, 1}, {{700, 20, 20}}, Mode::Tf32x3},
      {{128, 2, 2}, {128, 2, 2}, {{130, 300, 256}}, Mode::Bf16x6},
      {{128, 2, 2}, {128, 2, 2}, {{130, 300, 256}}, Mode::Tf32x3},
      {{30, 1, 1300}, {31, 1, 1300}, {{1300, 1, 1}}, Mode::Bf16x6},
      {{9, 2, 2 * 600}, {16, 1, 1}, {{3, 11000, 9700}, {600, 2, 16}}, Mode::Tf32},
      {{20, 1, 1}, {17, 2, 2 * 700}, {{700, 5, 2}}, Mode::Bf16},
      {{2, 1, 1}, {2, 1, 1}, {{9000, 2, 2}}, Mode::Bf16x6},
  };
}

struct MatrixRun {
  std::vector<float> x, y, matrix;
  MatrixRun(const MatrixShape& s, const char* name, const neuron::SimOptions& options) {
    const auto span = [&](const MatrixSide& side, std::int64_t LineDim::*distance) {
      std::int64_t reals = (side.points - 1) * side.stride + side.parts;
      for (const LineDim& d : s.lines) reals += (d.count - 1) * d.*distance;
      return reals;
    };
    x = random_real<float>(span(s.in, &LineDim::in), 1);
    matrix = random_real<float>(s.in.parts * s.in.points * s.out.points * s.out.parts, 2);
    y.assign(static_cast<std::size_t>(span(s.out, &LineDim::out)), -5);
    const tile::Machine& machine = tile::machine(name);
    const std::vector<tile::Binding> bindings{{"x", x.data()}, {"y", y.data()}, {"matrix", matrix.data()}};
    (void)neuron::simulate(matrix_program(s, machine), machine, bindings, options);
  }
};

TEST(MatrixProgram, MultipliesEveryLine) {
  for (const MatrixShape& s : shapes()) {
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      const MatrixRun run(s, machine, {.order = neuron::Order::in_order()});
      Shape counts;
      for (const LineDim& d : s.lines) counts.push_back(d.count);
      std::vector<float> expected(run.y.size(), -5);
      each_index(counts, [&](const Shape& line, std::size_t) {
        std::int64_t in = 0, out = 0;
        for (std::size_t d = 0; d < line.size(); ++d) in += line[d] * s.lines[d].in, out += line[d] * s.lines[d].out;
        for (std::int64_t o = 0; o < s.out.points; ++o) {
          for (std::int64_t q = 0; q < s.out.parts; ++q) {
            long double sum = 0, moduli = 0;
            for (std::int64_t p = 0; p < s.in.parts; ++p) {
              for (std::int64_t j = 0; j < s.in.points; ++j) {
                const long double term =
                    static_cast<long double>(run.x[static_cast<std::size_t>(in + j * s.in.stride + p)]) *
                    run.matrix[static_cast<std::size_t>(((p * s.in.points + j) * s.out.points + o) * s.out.parts + q)];
                sum += term, moduli += std::abs(term);
              }
            }
            const auto at = static_cast<std::size_t>(out + o * s.out.stride + q);
            const auto [error, products] = product_error(s.mode);
            const double units = static_cast<double>(s.in.points * s.in.parts + products) * u + error;
            ASSERT_LE(std::abs(run.y[at] - sum), units * moduli) << o << " " << machine << " " << name(s.mode);
            expected[at] = run.y[at];
          }
        }
      });
      EXPECT_TRUE(expected == run.y);  // nothing else was written
    }
  }
}

TEST(MatrixProgram, AnyOrderGivesTheSameBits) {
  for (const MatrixShape& s : shapes()) {
    const MatrixRun reference(s, "trn2", {.order = neuron::Order::in_order(), .check_races = true});
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      EXPECT_TRUE(MatrixRun(s, "trn2", {.order = neuron::Order::shuffled(seed)}).y == reference.y) << "seed " << seed;
    const tile::Machine& machine = tile::machine("trn2");
    EXPECT_EQ(matrix_program(s, machine), matrix_program(s, machine));
  }
  EXPECT_IN("129 points; trn2 has 128 partitions", message_of<InvalidArgument>([] {
              (void)matrix_program({{129, 1, 1}, {5, 1, 1}, {{1, 0, 0}}}, tile::machine("trn2"));
            }));
}

// What the README says: 65,536 dense lines of 128 points move 64 MiB, 182 us at the DMA roof of trn2.
TEST(MatrixProgram, ModelledNearTheDmaRoof) {
  const tile::Machine& machine = tile::machine("trn2");
  const neuron::RunReport r =
      neuron::estimate(matrix_program({{128, 1, 1}, {128, 1, 1}, {{65536, 128, 128}}}, machine), machine);
  EXPECT_EQ(r.hbm_read_bytes + r.hbm_write_bytes, 65536 * 128 * 8 + 128 * 128 * 4);
  EXPECT_LE(r.seconds, 215e-6);
  // Overlapping lines are read once: 65,536 lines of 128 points, 32 apart.
  const neuron::RunReport frames =
      neuron::estimate(matrix_program({{128, 1, 1}, {65, 2, 2 * 65536}, {{65536, 32, 2}}}, machine), machine);
  EXPECT_LE(frames.hbm_read_bytes, 65536 * 32 * 4 * 5 / 4);
}

TEST(MirrorProgram, TurnsLinesRound) {
  for (const MirrorShape& s :
       {MirrorShape{1, 1, 1, {{1, 0, 0}}}, MirrorShape{128, 1, 2, {{3, 128, 256}}},
        MirrorShape{300, 7, 5, {{2, 3000, 2000}, {5, 1, 1}}}, MirrorShape{129, 600, 601, {{600, 1, 1}}}}) {
    std::int64_t in = (s.points - 1) * s.in_stride + 1, out = (s.points - 1) * s.out_stride + 1;
    Shape counts;
    for (const LineDim& d : s.lines)
      in += (d.count - 1) * d.in, out += (d.count - 1) * d.out, counts.push_back(d.count);
    std::vector<float> x = random_real<float>(in, 1), want(static_cast<std::size_t>(out), -5);
    each_index(counts, [&](const Shape& line, std::size_t) {
      std::int64_t from = 0, to = 0;
      for (std::size_t d = 0; d < line.size(); ++d) from += line[d] * s.lines[d].in, to += line[d] * s.lines[d].out;
      for (std::int64_t p = 0; p < s.points; ++p)
        want[static_cast<std::size_t>(to + p * s.out_stride)] =
            x[static_cast<std::size_t>(from + (s.points - 1 - p) * s.in_stride)];
    });
    for (const char* name : {"trn1", "trn2", "trn3"}) {
      const tile::Machine& machine = tile::machine(name);
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        std::vector<float> y(want.size(), -5);
        const std::vector<tile::Binding> bindings{{"x", x.data()}, {"y", y.data()}};
        (void)neuron::simulate(
            mirror_program(s, machine), machine, bindings,
            {.order = seed == 0 ? neuron::Order::in_order() : neuron::Order::shuffled(seed), .check_races = seed == 0});
        EXPECT_TRUE(y == want) << s.points << " " << name << " seed " << seed;
      }
      if (s.points <= 300 && s.lines.back().count < 100) neuron::testing::expect_agreement(mirror_program(s, machine));
    }
  }
}

TEST(MatrixProgram, NkiGivesTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    neuron::testing::expect_agreement(
        matrix_program({{20, 1, 1}, {20, 1, 1}, {{150, 20, 20}}}, tile::machine(machine)));
    neuron::testing::expect_agreement(
        matrix_program({{9, 2, 2 * 60}, {16, 1, 60}, {{60, 2, 1}}}, tile::machine(machine)));
    for (const Mode mode : {Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6}) {
      neuron::testing::expect_agreement(
          matrix_program({{20, 1, 1}, {20, 1, 1}, {{150, 20, 20}}, mode}, tile::machine(machine)));
      neuron::testing::expect_agreement(
          matrix_program({{9, 2, 2 * 60}, {16, 1, 60}, {{60, 2, 1}}, mode}, tile::machine(machine)));
    }
  }
  neuron::testing::expect_agreement(
      matrix_program({{20, 1, 1}, {17, 2, 2 * 140}, {{140, 5, 2}}}, tile::machine("trn2")));
  neuron::testing::expect_agreement(matrix_program({{9, 2, 2 * 60}, {16, 1, 1}, {{60, 2, 16}}}, tile::machine("trn2")));
}

}  // namespace
}  // namespace trn::fft::test

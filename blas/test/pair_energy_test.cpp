// pair_energy against its formula on the host and on the simulated machines: shapes across the hardware's edges, every
// mode, the bound for the data at hand.
#include <omp.h>

#include "pair_energy_support.hpp"

namespace trn::blas::test {
namespace {

struct Extents {
  std::int64_t nocc, naux, nvir;
};
// The second half crosses edges: of the partitions in k and in a, of the row tiles, of a PSUM bank (two blocks of
// virtuals).
constexpr Extents kSmall[] = {{1, 1, 1},   {2, 1, 5},    {5, 5, 1},    {4, 5, 5},    {3, 127, 5},
                              {3, 5, 127}, {2, 128, 31}, {2, 33, 128}, {2, 129, 129}};
constexpr Extents kLarge[] = {{2, 449, 33}, {2, 33, 449}, {1, 40, 512}, {2, 130, 513}, {1, 20, 1030}};

template <class T> void on_host(const Extents& x) {
  SCOPED_TRACE(::testing::Message() << x.nocc << " x " << x.naux << " x " << x.nvir);
  const Molecule<T> m(x.nocc, x.naux, x.nvir);
  const Executor host = Executor::host();
  Recorder recorder(host);
  const PairEnergy e = m.energy(host);
  EXPECT_EQ(recorder.family_of("blas.pair_energy"), "host");
  EXPECT_EQ(e.accuracy.mode, Mode::Native);
  if constexpr (std::is_same_v<T, double>)
    expect_within_bound(e, formula<__float128>(m), 1e-11);
  else
    expect_within_bound(e, formula<double>(m), 1e-2);
}

TEST(PairEnergy, HostMatchesTheFormulaInDouble) {
  for (const Extents& x : kSmall) on_host<double>(x);
}
TEST(PairEnergy, HostMatchesTheFormulaInFloat) {
  for (const Extents& x : kSmall) on_host<float>(x);
  for (const Extents& x : kLarge) on_host<float>(x);
}

void on_device(const char* executor_name, const Extents& x, Mode mode, double slack) {
  SCOPED_TRACE(::testing::Message() << executor_name << " " << x.nocc << " x " << x.naux << " x " << x.nvir << " "
                                    << name(mode));
  const Molecule<float> m(x.nocc, x.naux, x.nvir);
  const Executor device = Executor::open(executor_name);
  Recorder recorder(device);
  const PairEnergy e = m.energy(device, {.precision = mode});
  EXPECT_EQ(recorder.family_of("blas.pair_energy"), "device");
  EXPECT_EQ(e.accuracy.mode, mode);
  expect_within_bound(e, formula<double>(m), slack);
}

TEST(PairEnergy, DeviceMatchesTheFormula) {
  for (const Extents& x : kSmall) {
    on_device("sim:trn1", x, Mode::Native, 1e-2);
    on_device("sim:trn2", x, Mode::Tf32x3, 1e-2);
    on_device("sim:trn3", x, Mode::Native, 1e-2);
  }
  for (const Extents& x : kLarge) on_device("sim:trn2", x, Mode::Tf32x3, 2e-2);
}

TEST(PairEnergy, EveryModeHoldsItsBound) {
  const Extents x{3, 150, 140};
  for (const char* device : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    on_device(device, x, Mode::Native, 1e-3);
    on_device(device, x, Mode::Tf32x3, 1e-3);
    on_device(device, x, Mode::Bf16x6, 1e-3);
    on_device(device, x, Mode::Tf32, 0.1);
    on_device(device, x, Mode::Bf16, 1);
  }
}

// Panels of B that do not fit in SBUF: k is streamed.
TEST(PairEnergy, StreamsWhatDoesNotFit) { on_device("sim:trn1", {1, 2500, 500}, Mode::Native, 0.1); }

// Far better than the bound: errors are random and the energy is a sum of many. Tf32x3 is as good as fp32.
TEST(PairEnergy, Tf32x3IsAsAccurateAsFp32) {
  const Molecule<float> m(4, 400, 60);
  const auto exact = formula<double>(m);
  const Executor trn2 = Executor::open("sim:trn2");
  const auto error = [&](Mode mode) {
    const PairEnergy e = m.energy(trn2, {.precision = mode});
    return std::abs((e.opposite_spin + e.same_spin) / (exact.first + exact.second) - 1);
  };
  EXPECT_LE(error(Mode::Tf32x3), 2e-8);  // 2^-24 = 6e-8 per element
  EXPECT_GT(error(Mode::Bf16), 1e-6);
}

TEST(PairEnergy, TargetTakesTheCheapestModeThatMeetsIt) {
  const Molecule<float> m(2, 40, 20);
  const Executor trn2 = Executor::open("sim:trn2");
  const double total = std::abs(m.energy(trn2).opposite_spin);
  const auto taken = [&](double relative) {
    return m.energy(trn2, {.precision = Precision::target(relative * total)}).accuracy;
  };
  EXPECT_EQ(taken(0.5).mode, Mode::Bf16);
  EXPECT_EQ(taken(2e-2).mode, Mode::Tf32);
  EXPECT_EQ(taken(1e-4).mode, Mode::Tf32x3);
  EXPECT_LE(taken(1e-4).bound, 1e-4 * total);
  EXPECT_THROW((void)taken(1e-9), InvalidArgument);
  const Molecule<double> wide(2, 40, 20);
  EXPECT_EQ(wide.energy(Executor::host(), {.precision = Precision::target(1e-12)}).accuracy.mode, Mode::Native);
}

TEST(PairEnergy, SameBitsForEveryNumberOfThreads) {
  const Molecule<double> m(6, 50, 70);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const PairEnergy one = m.energy(Executor::host());
  for (const int n : {2, 3, 5}) {
    omp_set_num_threads(n);
    const PairEnergy many = m.energy(Executor::host());
    EXPECT_EQ(one.opposite_spin, many.opposite_spin) << n;
    EXPECT_EQ(one.same_spin, many.same_spin) << n;
  }
  omp_set_num_threads(threads);
}

// One pair, one virtual: T = 1 * 1 + 2 * 2 = 5, D = -4, E = 25 / -4.
TEST(PairEnergy, ByHand) {
  const std::vector<float> b{1, 2};
  for (const char* executor : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(executor);
    const auto db = Array<float>::from_host(e, {1, 2, 1}, b);
    const auto low = Array<float>::from_host(e, {1}, std::vector<float>{-1}),
               high = Array<float>::from_host(e, {1}, std::vector<float>{1});
    const PairEnergy energy = pair_energy(e, db.view(), low.view(), high.view());
    EXPECT_EQ(energy.opposite_spin, -6.25) << executor;
    EXPECT_EQ(energy.same_spin, 0) << executor;
  }
}

TEST(PairEnergy, StridedEnergiesAndDegenerateOrbitals) {
  for (const char* executor : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(executor);
    Molecule<float> m(3, 20, 10);
    m.virtuals.assign(10, 0.25f);
    m.occupied.assign(3, -0.5f);
    m.occupied[1] = -0.75f;
    const auto exact = formula<double>(m);
    const auto db = Array<float>::from_host(e, {3, 20, 10}, m.b);
    const auto low = Array<float>::from_host(e, {6}, std::vector<float>{-0.5f, 9, -0.75f, 9, -0.5f, 9});
    const auto high = Array<float>::from_host(e, {10}, m.virtuals);
    const PairEnergy energy = pair_energy(e, db.view(), VectorView<float>(e, low.data(), 3, 2),
                                          VectorView<float>(e, high.data() + 9, 10, -1));
    expect_within_bound(energy, exact, 1e-2);
  }
}

TEST(PairEnergy, EmptyIsZero) {
  for (const char* executor : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(executor);
    for (const Extents& x : {Extents{0, 3, 3}, Extents{3, 0, 3}, Extents{3, 3, 0}}) {
      const Molecule<float> m(x.nocc, x.naux, x.nvir);
      Recorder recorder(e);
      const PairEnergy energy = m.energy(e);
      EXPECT_EQ(energy.opposite_spin, 0);
      EXPECT_EQ(energy.same_spin, 0);
      EXPECT_EQ(recorder.count(EventKind::Dispatch), 0);
    }
  }
}

}  // namespace
}  // namespace trn::blas::test

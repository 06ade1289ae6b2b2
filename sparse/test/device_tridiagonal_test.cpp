// Factored tridiagonal systems on the host and on simulated devices: residuals in 113-bit arithmetic within the stated
// bound, bad systems, the order of the engines, refusals, modelled times, emitted text.
#include <trn/sparse/tridiagonal.hpp>
#include <trn/sparse/tridiagonal_programs.hpp>

#include "device_products.hpp"
#include "support/nki_run.hpp"

namespace trn::sparse {
namespace {

struct Batch {
  std::int64_t n = 1, count = 1;
  bool row_major = true;
  double diagonal = 4;
};

// Checks |b - A x| <= 9 u |L||U||x| with L and U of the exact factorisation, and for dominant systems 27 u |A||x|.
template <class T> std::vector<T> check_batch(const Executor& e, const Batch& c) {
  SCOPED_TRACE(fmt::format("{}: {} systems of {}", e.name(), c.count, c.n));
  const std::int64_t rs = c.row_major ? c.count + 1 : 1, cs = c.row_major ? 1 : c.n + 3, room = rs * c.n + cs * c.count;
  std::vector<T> d[3];
  for (std::uint64_t k = 0; k < 3; ++k) d[k] = random_vector<T>(room, k + 1);
  for (std::size_t i = 0; i < d[1].size(); ++i) d[1][i] += static_cast<T>(i % 2 == 0 ? c.diagonal : -c.diagonal);
  const std::vector<T> b = random_vector<T>(room, 9);
  const auto there = [&](const std::vector<T>& v) { return Array<T>::from_host(e, {room}, v); };
  const Array<T> low = there(d[0]), mid = there(d[1]), up = there(d[2]), xd = there(b);
  const auto view = [&](const Array<T>& a) { return MatrixView<T>(e, a.data(), c.n, c.count, rs, cs); };
  const TridiagonalPlan<T> plan(e, view(low), view(mid), view(up));
  Recorder recorder(e);
  EXPECT_TRUE(plan.solve(view(xd)).ok());
  if (e.family() == Family::Device) {
    EXPECT_EQ(recorder.family_of("sparse.tridiagonal.solve"), "device");
    EXPECT_EQ(recorder.count(EventKind::Run), 1);
    EXPECT_GT(plan.report().modelled_seconds, 0);
  }
  const std::vector<T> x = xd.to_host();
  const double u = std::numeric_limits<T>::epsilon() / 2;
  std::vector<T> out;
  for (std::int64_t k = 0; k < c.count; ++k) {
    const auto at = [&](const std::vector<T>& v, std::int64_t i) -> Quad {
      return i < 0 || i >= c.n ? T(0) : v[static_cast<std::size_t>(i * rs + k * cs)];
    };
    const auto size = [](Quad v) { return std::abs(static_cast<double>(v)); };
    Quad pivot = 0, before = 0;  // of U's row above
    double weight_before = 0;    // (|U||x|) of the row above
    for (std::int64_t i = 0; i < c.n; ++i) {
      const Quad l = i > 0 ? at(d[0], i) : 0, above = i + 1 < c.n ? at(d[2], i) : 0;
      pivot = at(d[1], i) - l * before;
      before = above / pivot;
      const double weight = size(at(x, i)) + size(before) * size(at(x, i + 1));  // |U||x|
      const double bound = size(pivot) * weight + size(l) * weight_before;
      weight_before = weight;
      const Quad r = at(b, i) - l * at(x, i - 1) - at(d[1], i) * at(x, i) - above * at(x, i + 1);
      EXPECT_LE(size(r), 9 * u * bound) << i << " of system " << k;
      if (c.diagonal > 2) {
        EXPECT_LE(size(r),
                  27 * u * (size(l * at(x, i - 1)) + size(at(d[1], i) * at(x, i)) + size(above * at(x, i + 1))));
      }
      if (!(size(r) <= 9 * u * bound)) return {};
      out.push_back(static_cast<T>(at(x, i)));
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {  // nothing beside B was written
    const auto p = static_cast<std::int64_t>(i);
    const bool inside = c.row_major ? p % rs < c.count && p / rs < c.n : p % cs < c.n && p / cs < c.count;
    if (!inside && x[i] != b[i]) ADD_FAILURE() << "element " << i;
  }
  return out;
}

TEST(DeviceTridiagonal, SizesLayoutsAndMachines) {
  for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    for (const auto& [n, count] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                   {2, 129},
                                   {127, 3},
                                   {128, 128},
                                   {129, 2},
                                   {511, 1},
                                   {513, 5},
                                   {700, 140}}) {
      for (const bool row_major : {true, false}) check_batch<float>(device(machine), {n, count, row_major});
    }
  }
  check_batch<float>(device("sim:trn2"), {5000, 2, false});  // one place of each array
  check_batch<float>(device("sim:trn2"), {300, 3, true, 1.5});
}

TEST(DeviceTridiagonal, TheHostKeepsTheBoundToo) {
  for (const bool row_major : {true, false}) {
    check_batch<double>(Executor::host(), {129, 37, row_major});
    check_batch<float>(Executor::host(), {129, 37, row_major, 1.5});
  }
}

TEST(DeviceTridiagonal, ManyGroupsAreALoop) { check_batch<float>(device("sim:trn2"), {2, 129 * 1024 + 3}); }

TEST(DeviceTridiagonal, ShuffledOrderGivesTheSameBitsAndNothingRaces) {
  for (const bool row_major : {true, false}) {
    const Batch c{520, 140, row_major};
    const auto run = [&](const neuron::SimOptions& o) {
      return check_batch<float>(neuron::open_simulator("trn2", o), c);
    };
    const auto timed = run({});
    EXPECT_FALSE(timed.empty());
    for (const std::uint64_t seed : {1}) EXPECT_EQ(timed, run({.order = neuron::Order::shuffled(seed)}));
    EXPECT_EQ(timed, run({.order = neuron::Order::in_order(), .check_races = true}));
  }
}

TEST(DeviceTridiagonal, PivotsAndRefusals) {
  for (const char* name : {"sim:trn1", "sim:trn2", "host"}) {
    const Executor e = Executor::open(name);
    const std::vector<float> low{0, 0, 1, 1}, diag{1, 0, 2, 0}, up{1, 0, 0, 0}, b{1, 2, 3, 4};
    const auto there = [&](const std::vector<float>& v) { return Array<float>::from_host(e, {4}, v); };
    const Array<float> l = there(low), d = there(diag), u = there(up), x = there(b);
    const auto view = [&](const Array<float>& a) { return MatrixView<float>(e, a.data(), 2, 2, 2, 1); };
    EXPECT_EQ(solve_tridiagonal<float>(e, view(l), view(d), view(u), view(x), Pivoting::None),
              (Outcome{Status::ZeroPivot, 1}));
    const std::vector<float> got = x.to_host();
    EXPECT_EQ(got[0], -1);
    EXPECT_EQ(got[2], 2);
    EXPECT_TRUE(std::isnan(got[1]) && std::isnan(got[3]));
    if (e.family() == Family::Host) continue;
    EXPECT_THROW((void)solve_tridiagonal<float>(e, view(l), view(d), view(u), view(x)), NotImplemented);
    const Matrix<float> tall(e, 1, 100000);
    const auto t = tall.view().transposed();
    EXPECT_IN("solve on the host", message_of<NotImplemented>([&] { TridiagonalPlan<float>(e, t, t, t); }));
  }
}

TEST(DeviceTridiagonal, EmittedKernelsGiveTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2"}) {
    neuron::testing::expect_agreement(tridiagonal_program({140, 3, 3, 1}, tile::machine(machine)));
    neuron::testing::expect_agreement(tridiagonal_program({140, 3, 1, 140}, tile::machine(machine)));
  }
}

// 128 systems of 1024; the design's 4.6 us are the two scans alone.
TEST(DeviceTridiagonal, ModelledTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto micros = [&](const TridiagonalShape& s) {
    return 1e6 * neuron::estimate(tridiagonal_program(s, trn2), trn2).seconds;
  };
  const auto near = [](double got, double stated) { EXPECT_NEAR(got / stated, 1, 0.05) << got << " us"; };
  near(micros({1024, 128, 1, 1024}), 38.5);
  near(micros({1024, 128, 128, 1}), 41.8);
  near(micros({1024, 2048, 1, 1024}), 230);
  near(micros({1024, 2048, 2048, 1}), 181);
}

}  // namespace
}  // namespace trn::sparse

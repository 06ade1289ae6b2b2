// Spectral divide and conquer from inside: the path for halves that SBUF has no room for, the programs' modelled times
// and limits, the same bits in every order, and many spectra.
//
// TRN_SPECTRA=N runs N random spectra beside all named ones; without it a slice of both. The record of the full run is
// in README.md.
#include <trn/solver/eigh.hpp>
#include <trn/solver/polar_program.hpp>
#include <trn/solver/split_program.hpp>

#include <cstdlib>
#include <functional>
#include <string>

#include "device/spectral_division.hpp"
#include "device_support.hpp"
#include "orthogonal_support.hpp"

namespace trn::solver::testing::spectral_division {
namespace {

using Wd = Dense<long double>;
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T> Wd with_spectrum(const std::vector<long double>& d, Random& random) {
  const auto n = static_cast<std::int64_t>(d.size());
  const Wd q = orthogonal(n, random);
  Wd rows = q;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) rows(i, j) *= d[at(i)];
  }
  return mirrored(rounded<T>(times(transposed(q), rows)), Uplo::Lower);
}

struct Ratios {
  long double residual = 0, orthogonal = 0;
};
template <class T> Ratios ratios(const Executor& executor, const Wd& a) {
  const std::int64_t n = a.rows;
  Held<T> held(Layout::RowMajor, a);
  OnDevice<T> device(executor, held);
  const Array<T> w(executor, {n});
  const EighReport report = eigh<T>(executor, device.view(), VectorView<T>(w.view()));
  EXPECT_TRUE(report.outcome.ok());
  device.fetch();
  const Wd v = held.values();
  const std::vector<T> values = w.to_host();
  Wd scaled = v;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) scaled(i, j) *= values[at(j)];
  }
  return {norm1(a) > 0 ? ratio(minus(times(scaled, transposed(v)), a), norm1(a), n, eps<T>) : 0,
          orthogonality(v, eps<T>)};
}

// The named spectra: dense ones by their eigenvalues, structured ones by their elements.
using Make = std::function<Wd(std::int64_t, Random&)>;
template <class T, class F> Make values(F f) {
  return [f](std::int64_t n, Random& random) {
    std::vector<long double> d;
    for (std::int64_t i = 0; i < n; ++i) d.push_back(static_cast<long double>(f(i, n, random)));
    return with_spectrum<T>(d, random);
  };
}
template <class T, class F> Make elements(F f) {
  return [f](std::int64_t n, Random&) {
    Wd a(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a(i, j) = static_cast<long double>(f(i, j, n));
    }
    return rounded<T>(a);
  };
}
using Named = std::vector<std::pair<std::string, Make>>;
template <class T> Named named_spectra() {
  const auto share = [](std::int64_t i, std::int64_t n) {
    return static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(n - 1, 1));
  };
  const auto off = [](std::int64_t i, std::int64_t j) { return std::abs(i - j) == 1; };
  const auto wilkinson = [=](std::int64_t i, std::int64_t j, std::int64_t n) {
    return i == j ? std::abs(static_cast<double>(2 * i - n + 1)) / 2 : off(i, j) ? 1.0 : 0.0;
  };
  const auto glued = [=](double glue) {
    return [=](std::int64_t i, std::int64_t j, std::int64_t) {
      if (i == j) return static_cast<double>(std::abs(i % 21 - 10));
      return off(i, j) ? (std::max(i, j) % 21 == 0 ? glue : 1.0) : 0.0;
    };
  };
  return {
      {"random", [](std::int64_t n, Random& r) { return random_hermitian<T>(n, r); }},
      {"uniform", values<T>([](auto, auto, Random& r) { return r.uniform(); })},
      {"geometric 1e-8", values<T>([=](auto i, auto n, Random&) { return std::pow(1e-8, share(i, n)); })},
      {"geometric with signs",
       values<T>([=](auto i, auto n, Random&) { return (i % 2 == 0 ? 1 : -1) * std::pow(1e-8, share(i, n)); })},
      {"rank 5", values<T>([](auto i, auto, Random&) { return i < 5 ? 1.0 + static_cast<double>(i) : 0.0; })},
      {"two clusters", values<T>([](auto i, auto n, Random& r) { return (2 * i < n ? 1 : -1) + 1e-6 * r.uniform(); })},
      {"ten clusters",
       values<T>([](auto i, auto, Random& r) { return static_cast<double>(i % 10) + 1e-6 * r.uniform(); })},
      {"one cluster", values<T>([](auto, auto, Random& r) { return 1 + 1e-6 * r.uniform(); })},
      {"wilkinson", elements<T>(wilkinson)},
      {"glued 1e-4", elements<T>(glued(1e-4))},
      {"laplace", elements<T>([=](auto i, auto j, auto) { return i == j      ? 2.0
                                                                 : off(i, j) ? -1.0
                                                                             : 0.0; })},
      {"hilbert", elements<T>([](auto i, auto j, auto) { return 1.0 / static_cast<double>(i + j + 1); })},
      {"ones", elements<T>([](auto, auto, auto) { return 1.0; })},
      {"diagonal", elements<T>([](auto i, auto j, auto) { return i == j ? static_cast<double>(i) : 0.0; })},
      {"diagonal with ties",
       elements<T>([](auto i, auto j, auto) { return i == j ? static_cast<double>(i / 7) : 0.0; })},
      {"gaussian kernel", elements<T>([](auto i, auto j, auto n) {
         return std::exp(-std::pow(8.0 * static_cast<double>(i - j) / static_cast<double>(n), 2));
       })},
      {"zero", elements<T>([](auto, auto, auto) { return 0.0; })},
      {"identity", elements<T>([](auto i, auto j, auto) { return i == j ? 1.0 : 0.0; })},
      // From here on for double: clusters as narrow as that.
      {"clusters 1e-3",
       values<T>([](auto i, auto, Random& r) { return static_cast<double>(i % 3) + 1e-3 * r.uniform(); })},
      {"clusters 1e-10",
       values<T>([](auto i, auto, Random& r) { return static_cast<double>(i % 3) + 1e-10 * r.uniform(); })},
      {"clusters 0", values<T>([](auto i, auto, Random&) { return static_cast<double>(i % 3); })},
      {"nested",
       values<T>([](auto i, auto, Random& r) { return 1 + std::pow(1e-4, static_cast<double>(i % 4)) * r.uniform(); })},
      {"geometric 1e-16", values<T>([=](auto i, auto n, Random&) { return std::pow(1e-16, share(i, n)); })},
      {"glued 1e-8", elements<T>(glued(1e-8))},
  };
}
// Random kinds, orders 40 to 150.
template <class T> Wd random_spectrum(int number) {
  Random random(1000 + static_cast<std::uint64_t>(number));
  const std::int64_t n = 40 + random.below(111);
  const double graded = std::pow(10.0, -1 - 5 * (1 + random.uniform()) / 2),
               width = std::pow(10.0, -6 * (1 + random.uniform()) / 2);
  const std::int64_t clusters = 1 + random.below(12), kind = random.below(4);
  std::vector<long double> d;
  for (std::int64_t i = 0; i < n; ++i) {
    const double u = random.uniform(), x = static_cast<double>(i % clusters);
    d.push_back(kind == 0   ? u
                : kind == 1 ? (u < 0 ? -1 : 1) * std::pow(graded, std::abs(random.uniform()))
                : kind == 2 ? x + width * u
                            : u * u * u);
  }
  return with_spectrum<T>(d, random);
}

int asked_for() {
  const char* text = std::getenv("TRN_SPECTRA");
  return text ? std::max(0, std::atoi(text)) : -1;
}

template <class T> void spectra(std::size_t kinds, std::size_t stride, std::int64_t order) {
  const Executor trn2 = neuron::open_simulator("trn2", {.order = neuron::Order::in_order()});
  const int asked = asked_for();
  Random random(21);
  Ratios worst;
  int count = 0;
  const auto one = [&](const std::string& name, const Wd& a) {
    SCOPED_TRACE(name + ", n = " + std::to_string(a.rows));
    const Ratios r = ratios<T>(trn2, a);
    EXPECT_LT(r.residual, 1);
    EXPECT_LT(r.orthogonal, 1);
    worst = {std::max(worst.residual, r.residual), std::max(worst.orthogonal, r.orthogonal)};
    ++count;
    if (asked < 0) return;
    std::printf("%-20s n = %3lld: residual %.3f, orthogonality %.3f\n", name.c_str(), static_cast<long long>(a.rows),
                static_cast<double>(r.residual), static_cast<double>(r.orthogonal));
    std::fflush(stdout);  // hours of simulation
  };
  const Named all = named_spectra<T>();
  for (std::size_t i = 0; i < kinds; i += asked >= 0 ? 1 : stride) one(all[i].first, all[i].second(order, random));
  for (int i = 0; i < (asked >= 0 ? asked : 3); ++i) one("random " + std::to_string(i), random_spectrum<T>(i));
  std::printf("%d spectra of order %lld and below: residual %.3f, orthogonality %.3f\n", count,
              static_cast<long long>(order), static_cast<double>(worst.residual),
              static_cast<double>(worst.orthogonal));
}
TEST(SpectralDivision, SpectraInFloat) { spectra<float>(18, 4, asked_for() >= 0 ? 200 : 135); }
TEST(SpectralDivision, SpectraInDouble) { spectra<double>(24, 8, asked_for() >= 0 ? 100 : 40); }

// Clusters whose neighbours are about as far as the cluster is wide: without making it diagonal on the way the
// refinement stands nearly still (16 steps were not enough).
TEST(SpectralDivision, ClustersWithNearNeighbours) {
  const Executor trn2 = neuron::open_simulator("trn2", {.order = neuron::Order::in_order()});
  Random random(21);
  for (const auto& [name, make] : named_spectra<double>()) {
    if (name != "gaussian kernel" && name != "geometric 1e-16") continue;
    SCOPED_TRACE(name);
    const Ratios r = ratios<double>(trn2, make(100, random));
    EXPECT_LT(r.residual, 0.5);
    EXPECT_LT(r.orthogonal, 0.5);
  }
}

// Eigenvalues that are equal to the last bit: the refinement's quotients are of roundings there, and must leave the
// vectors orthogonal.
TEST(SpectralDivision, EqualEigenvaluesInDouble) {
  const Executor trn2 = neuron::open_simulator("trn2", {.order = neuron::Order::in_order()});
  const std::int64_t n = 37;
  Wd signs(n, n), halves(n, n), single(n, n);
  for (std::int64_t i = 0; i < n; ++i) signs(i, i) = i % 2 == 0 ? -1 : 1, halves(i, i) = i < n / 2 ? 1 : 0;
  single(n / 2, n / 2) = 1;
  for (const Wd* a : {&signs, &halves, &single}) {
    const Ratios r = ratios<double>(trn2, *a);
    EXPECT_LT(r.residual, 0.5);
    EXPECT_LT(r.orthogonal, 0.5);
  }
}

// Halves above `resident` are divided by trnblas's operations: as on a machine without room for more.
TEST(SpectralDivision, HalvesThatSbufHasNoRoomFor) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(3);
  const std::int64_t n = 150, size = device::padded(n);
  const Wd a = random_hermitian<float>(n, random);
  std::vector<float> padded(at(size * size));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) padded[at(i * size + j)] = static_cast<float>(a(i, j));
  }
  const Matrix<float> there = Matrix<float>::from_host(trn2, size, size, padded);
  for (const bool all : {true, false}) {
    const device::Wanted wanted{all ? 0 : 90, n, -INFINITY, INFINITY};
    Recorder recorder(trn2);
    const device::Division d = device::divide(trn2, there, n, wanted, 128);
    ASSERT_TRUE(d.converged);
    EXPECT_EQ(recorder.count(EventKind::Run, "solver_potrf") > 0, true);
    EXPECT_EQ(recorder.family_of("blas.syrk"), "device");
    EXPECT_EQ(d.begin + d.count, n);
    EXPECT_LE(d.begin, wanted.first);
    const Wd rows = fetched(d.vectors);
    Wd v(n, d.count);
    for (std::int64_t j = 0; j < d.count; ++j) {
      for (std::int64_t i = 0; i < n; ++i) v(i, j) = rows(j, i);
    }
    EXPECT_LT(orthogonality(v, eps<float>), 1);
    // V^T A V is diagonal.
    Wd t = times(transposed(v), times(a, v));
    for (std::int64_t i = 0; i < d.count; ++i) t(i, i) = 0;
    EXPECT_LT(ratio(t, norm1(a), n, eps<float>), 1);
  }
}

TEST(SpectralDivision, TheSameBitsInEveryOrderAt512) {
  const std::int64_t n = 512;
  Random random(5);
  std::vector<float> a(at(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) a[at(i * n + j)] = a[at(j * n + i)] = static_cast<float>(random.uniform());
  }
  const auto bits = [&](const neuron::Order& order) {
    const Executor executor = neuron::open_simulator("trn2", {.order = order});
    const Matrix<float> there = Matrix<float>::from_host(executor, n, n, a);
    const Array<float> w(executor, {n});
    EXPECT_TRUE(eigh(executor, there.view(), VectorView<float>(w.view())).outcome.ok());
    return there.to_host();
  };
  EXPECT_TRUE(bits(neuron::Order::in_order()) == bits(neuron::Order::shuffled(11)));
}

// Launch included. README.md has the same numbers.
TEST(SpectralDivision, TheDocumentedTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto sign = [&](std::int64_t n, std::int64_t tiles) {
    return neuron::estimate(sign_program({n, tiles}, trn2), trn2).seconds * 1e6;
  };
  const auto split = [&](std::int64_t n, std::int64_t tiles) {
    return neuron::estimate(split_program({n, tiles, n == 128 ? SplitResult::Rows : SplitResult::Basis}, trn2), trn2)
               .seconds *
           1e6;
  };
  EXPECT_LE(sign(128, 1), 60);
  EXPECT_LE(split(128, 1), 68);
  EXPECT_LE(sign(128, 8), 185);
  EXPECT_LE(split(128, 8), 170);
  EXPECT_LE(sign(512, 1), 400);
  EXPECT_LE(split(512, 1), 580);
  EXPECT_LE(sign(1024, 1), 2600);
  EXPECT_LE(split(1024, 1), 4000);
}

TEST(SpectralDivision, ProgramsRefuseWhatDoesNotFit) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    const std::int64_t most = resident_order(machine);
    EXPECT_GE(most, 896);
    EXPECT_NO_THROW((void)sign_program({most, 1}, machine));
    EXPECT_NO_THROW((void)split_program({most, 1, SplitResult::Basis}, machine));
    EXPECT_NO_THROW((void)polar_program({most, most}, machine));
    EXPECT_THROW((void)sign_program({most + 128, 1}, machine), InvalidArgument);
    EXPECT_THROW((void)split_program({most + 128, 1}, machine), InvalidArgument);
  }
  const tile::Machine& trn2 = tile::machine("trn2");
  EXPECT_THROW((void)sign_program({100, 1}, trn2), InvalidArgument);
  EXPECT_THROW((void)sign_program({256, 2}, trn2), InvalidArgument);
  EXPECT_THROW((void)split_program({128, 9}, trn2), InvalidArgument);
  EXPECT_THROW((void)polar_program({128, 256}, trn2), InvalidArgument);
  EXPECT_THROW((void)window_program({130, 200}, trn2), InvalidArgument);
}

}  // namespace
}  // namespace trn::solver::testing::spectral_division

// Transforms of distributed arrays: the bits of one rank for every number of ranks, decomposition and distribution;
// values of one rank within the plan's bound of sums in long double.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include <trn/comm/group.hpp>
#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/fft/dist_plan.hpp>
#include <trn/tile/fabric.hpp>

#include "../fft_support.hpp"

namespace {

using namespace trn;
using namespace trn::fft;
using comm::Communicator;

constexpr int kRankCounts[] = {1, 2, 3, 4, 6, 7, 12};

comm::Group group_of(const char* name, int ranks) {
  std::vector<Executor> executors;
  for (int r = 0; r < ranks; ++r) executors.push_back(Executor::open(name));
  return comm::Group(executors, name);
}

Shape input_shape(const DistDescription& d) {
  Shape s = d.lengths;
  if (d.kind == Kind::ComplexToReal) s.back() = s.back() / 2 + 1;
  return s;
}

// This rank's box of a global array, row-major in both.
template <class E> dist::Array<E> scattered(const Communicator& c, const Executor& e, const dist::Boxes& boxes,
                                            const std::vector<E>& all) {
  dist::Array<E> a(c, e, boxes);
  const Shape local = a.local().shape(), begin = a.local_begin();
  std::vector<E> mine(static_cast<std::size_t>(element_count(local)));
  fft::test::each_index(local, [&](const Shape& index, std::size_t at) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < index.size(); ++d) position = position * boxes.shape[d] + begin[d] + index[d];
    mine[at] = all[static_cast<std::size_t>(position)];
  });
  if (!mine.empty()) copy(View<const E>(Executor::host(), mine.data(), local), a.local());
  return a;
}

// The result of a plan as reals, on every rank.
template <class T> std::vector<T> transformed(const Communicator& c, const Executor& e, const DistPlan<T>& plan,
                                              const std::vector<T>& input) {
  using C = std::complex<T>;
  const auto pairs = [](const std::vector<T>& x) {
    std::vector<C> z(x.size() / 2);
    std::memcpy(static_cast<void*>(z.data()), x.data(), x.size() * sizeof(T));
    return z;
  };
  const auto reals = [](const std::vector<C>& z) {
    std::vector<T> x(2 * z.size());
    std::memcpy(x.data(), z.data(), x.size() * sizeof(T));
    return x;
  };
  const dist::Boxes &from = plan.input_distribution(), &to = plan.output_distribution();
  if (plan.description().kind == Kind::RealToComplex) {
    const dist::Array<C> out(c, e, to);
    plan.execute(scattered<T>(c, e, from, input), out);
    return reals(out.to_host());
  }
  const dist::Array<C> in = scattered<C>(c, e, from, pairs(input));
  if (plan.description().kind == Kind::ComplexToReal) {
    const dist::Array<T> out(c, e, to);
    plan.execute(in, out);
    return out.to_host();
  }
  const dist::Array<C> out(c, e, to);
  plan.execute(in, out);
  EXPECT_EQ(reals(in.to_host()), input) << "the input has changed";
  return reals(out.to_host());
}

template <class T> std::vector<T> input_for(const DistDescription& d) {
  const std::int64_t count = element_count(input_shape(d)) * (d.kind == Kind::RealToComplex ? 1 : 2);
  return fft::test::random_real<T>(count, static_cast<std::uint32_t>(count));
}

// || got - exact || / || exact ||, the exact one by sums in long double.
template <class T>
double error_of(const DistDescription& d, const std::vector<T>& input, const std::vector<T>& got, std::int64_t n1) {
  using W = fft::test::Wide<long double>;
  const Shape& shape = d.lengths;
  const std::int64_t n = shape.back(), kept = n / 2 + 1, rows = element_count(shape) / n;
  const int sign = d.direction == Direction::Forward ? -1 : 1;
  std::vector<std::size_t> axes(shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  std::vector<W> x(static_cast<std::size_t>(rows * n));
  const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(i); };
  long double input_norm = 0;
  if (d.kind == Kind::ComplexToReal) {
    // All axes but the last of the half array; then the last one of each row with its mirror image.
    Shape half = input_shape(d);
    std::vector<W> h(input.size() / 2);
    for (std::size_t i = 0; i < h.size(); ++i) h[i].re = input[2 * i], h[i].im = input[2 * i + 1];
    axes.pop_back();
    fft::test::oracle(h, half, axes, sign);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < n; ++k) {
        W z = h[at(r * kept + (k < kept ? k : n - k))];
        if (k >= kept) z.im = -z.im;
        const bool own = k == 0 || 2 * k == n;
        input_norm += z.re * z.re + z.im * z.im;
        if (own) z.im = 0;
        x[at(r * n + k)] = z;
      }
    }
    fft::test::oracle(x, shape, {shape.size() - 1}, sign);
  } else {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool real = d.kind == Kind::RealToComplex;
      x[i].re = input[real ? i : 2 * i];
      x[i].im = real ? 0 : input[2 * i + 1];
    }
    if (d.order == SpectrumOrder::Transposed && sign > 0) {
      std::vector<W> natural(x.size());
      for (std::int64_t i = 0; i < n; ++i) natural[at(i / (n / n1) + n1 * (i % (n / n1)))] = x[at(i)];
      x = natural;
    }
    fft::test::oracle(x, shape, axes, sign);
  }
  const long double points = static_cast<long double>(rows * n);
  const long double scale = d.scale == Scale::None       ? 1
                            : d.scale == Scale::ByLength ? 1 / points
                                                         : 1 / std::sqrt(points);
  long double error = 0, norm = 0;
  const auto add = [&](long double g, long double want) { error += (g - want) * (g - want), norm += want * want; };
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < n; ++k) {
      const W& z = x[at(r * n + k)];
      if (d.kind == Kind::ComplexToReal) {
        add(got[at(r * n + k)], z.re * scale);
      } else if (d.kind == Kind::ComplexToComplex || k < kept) {
        std::int64_t i = r * (d.kind == Kind::RealToComplex ? kept : n) + k;
        if (d.order == SpectrumOrder::Transposed && sign < 0) i = k % n1 * (n / n1) + k / n1;
        add(got[at(2 * i)], z.re * scale);
        add(got[at(2 * i + 1)], z.im * scale);
      }
    }
  }
  // What breaks the symmetry counts with the norm.
  if (d.kind == Kind::ComplexToReal) norm = std::max(norm, input_norm * static_cast<long double>(n) * scale * scale);
  return norm == 0 ? 0 : static_cast<double>(std::sqrt(error / norm));
}

std::vector<DistDescription> descriptions(const std::vector<Shape>& shapes) {
  std::vector<DistDescription> all;
  for (const Shape& lengths : shapes) {
    const bool line = lengths.size() == 1;
    all.push_back({Kind::ComplexToComplex, Direction::Forward, lengths});
    all.push_back({Kind::ComplexToComplex, Direction::Inverse, lengths, Scale::ByLength});
    all.push_back({Kind::RealToComplex, Direction::Forward, lengths, Scale::Orthonormal});
    all.push_back({Kind::ComplexToReal, Direction::Inverse, lengths, Scale::ByLength});
    if (!line) continue;
    for (const Direction direction : {Direction::Forward, Direction::Inverse})
      all.push_back({Kind::ComplexToComplex, direction, lengths, Scale::None, {}, SpectrumOrder::Transposed});
  }
  return all;
}

template <class T> struct Tested {
  DistDescription d;
  std::vector<T> input, result;
};

// Results of one rank, compared with the oracle.
template <class T> std::vector<Tested<T>> on_one_rank(const char* executor, const std::vector<DistDescription>& all) {
  std::vector<Tested<T>> tested;
  comm::run(group_of(executor, 1), [&](const Communicator& c, const Executor& e) {
    for (const DistDescription& d : all) {
      const DistPlan<T> plan(c, e, d);
      const std::vector<T> input = input_for<T>(d);
      tested.push_back({d, input, transformed(c, e, plan, input)});
      const double error = error_of(d, input, tested.back().result, plan.factors().first);
      EXPECT_LE(error, plan.accuracy().bound)
          << name(d.kind) << " " << name(d.direction) << " " << to_string(d.lengths) << " on " << executor;
      EXPECT_LT(plan.accuracy().bound, sizeof(T) == 4 ? 1e-3 : 1e-11);
    }
  });
  return tested;
}

template <class T> int compare_ranks(const char* executor, const std::vector<Tested<T>>& tested,
                                     const std::vector<int>& counts, bool other_boxes) {
  std::atomic<int> cases = 0;
  for (const int ranks : counts) {
    comm::run(group_of(executor, ranks), [&](const Communicator& c, const Executor& e) {
      for (const Tested<T>& one : tested) {
        DistDescription d = one.d;
        const auto check = [&](const DistPlan<T>& plan, const char* what) {
          const std::vector<T> got = transformed(c, e, plan, one.input);
          if (c.rank() != 0) return;
          ++cases;
          EXPECT_EQ(std::memcmp(got.data(), one.result.data(), sizeof(T) * one.result.size()), 0)
              << what << ": " << name(d.kind) << " " << name(d.direction) << " " << to_string(d.lengths) << " on "
              << ranks << " ranks of " << executor;
        };
        const bool solid = d.lengths.size() == 3;
        for (const Decomposition cut : {Decomposition::Slabs, Decomposition::Pencils}) {
          if (!solid && cut == Decomposition::Pencils) continue;
          d.decomposition = cut;
          const DistPlan<T> plan(c, e, d);
          const int most = d.lengths.size() == 1 ? (d.order == SpectrumOrder::Transposed ? 2 : 3)
                                                 : (cut == Decomposition::Slabs ? 1 : 2);
          EXPECT_LE(plan.exchanges(), most);
          check(plan, cut == Decomposition::Slabs ? "slabs" : "pencils");
        }
        if (!other_boxes) continue;
        d.decomposition = Decomposition::Fewest;
        Shape to = d.lengths;
        if (d.kind == Kind::RealToComplex) to.back() = to.back() / 2 + 1;
        const int last = static_cast<int>(to.size()) - 1;
        check(DistPlan<T>(c, e, d, dist::slabs(input_shape(d), last, ranks), dist::slabs(to, last, ranks)), "others");
      }
    });
  }
  return cases;
}

const std::vector<Shape> kShapes{{8, 6, 10}, {5, 7, 3}, {1, 9, 4}, {2, 1, 1}, {13, 11, 17}, {16, 32, 24}, {12, 10},
                                 {7, 5},     {1, 6},    {3, 31},   {40, 1},   {1},          {2},          {7},
                                 {12},       {60},      {97},      {210},     {1024},       {1147}};

TEST(DistPlan, HasTheBitsOfOneRankOnTheHost) {
  const std::vector<DistDescription> all = descriptions(kShapes);
  const std::vector<int> counts(std::begin(kRankCounts), std::end(kRankCounts));
  int cases = compare_ranks("host", on_one_rank<double>("host", all), counts, true);
  cases += compare_ranks("host", on_one_rank<float>("host", all), counts, true);
  EXPECT_EQ(cases, 3080);
  std::printf("transforms with the bits of one rank on the host: %d cases\n", cases);
}

TEST(DistPlan, HasTheBitsOfOneRankOnADevice) {
  const std::vector<DistDescription> all = descriptions({{6, 5, 8}, {3, 4, 130}, {20, 12}, {2, 300}, {60}, {262}});
  const auto tested = on_one_rank<float>("sim:trn2", all);
  int cases = compare_ranks("sim:trn2", tested, {1, 2, 3, 7}, false);
  std::vector<DistDescription> exact = descriptions({{4, 3, 6}, {6, 10}, {36}});
  for (DistDescription& d : exact) d.precision = Mode::Exact;
  cases += compare_ranks("sim:trn2", on_one_rank<double>("sim:trn2", exact), {2, 3}, false);
  EXPECT_GT(cases, 100);
  std::printf("transforms with the bits of one rank on sim:trn2: %d cases\n", cases);
}

// What is exchanged between cores has its modelled time: each exchange is an event, and the clocks meet there.
TEST(DistPlan, ExchangesBetweenCoresTakeTime) {
  std::mutex mutex;
  std::vector<double> clocks;
  comm::run(comm::Group::open("sim:trn2x4"), [&](const Communicator& c, const Executor& e) {
    const Shape lengths{16, 32, 8};
    const DistPlan<float> plan(c, e, {Kind::ComplexToComplex, Direction::Forward, lengths});
    const auto in = scattered(c, e, plan.input_distribution(), fft::test::random_complex<float>(16 * 32 * 8, 7));
    const dist::Array<std::complex<float>> out(c, e, plan.output_distribution());
    Recorder recorder(e);
    plan.execute(in, out);
    double seconds = 0;
    std::int64_t bytes = 0;
    int exchanges = 0;
    for (const Event& event : recorder.events()) {
      if (event.kind != EventKind::Collective) continue;
      ++exchanges, seconds += event.modelled_seconds, bytes += event.bytes;
    }
    EXPECT_EQ(exchanges, plan.exchanges());
    // A quarter of the array on each rank, three quarters of which go to the others.
    const std::int64_t local = 16 * 32 * 8 / 4 * 8;
    EXPECT_EQ(bytes, plan.exchanges() * local * 3 / 4);
    const double each =
        tile::collective_cost(tile::fabric("trn2"), tile::CollectiveKind::AllToAll, local, {.per_chip = 4}).seconds();
    EXPECT_NEAR(seconds, plan.exchanges() * each, 1e-12);
    EXPECT_GT(seconds, 0);
    const std::scoped_lock lock(mutex);
    clocks.push_back(e.backend().clock());
  });
  EXPECT_EQ(clocks.size(), 4U);
}

// Cores with so much left: a transform of 512 KiB, its result and the workspace of the plan do not fit on one of them,
// a quarter does. In one dimension there is a table of twiddles, too.
void transforms_what_no_core_can_hold(const Shape& lengths, std::int64_t left) {
  const auto input = fft::test::random_complex<float>(element_count(lengths), 7);
  const auto transform = [&](const Communicator& c, const Executor& e) {
    const DistPlan<float> plan(c, e, {Kind::ComplexToComplex, Direction::Forward, lengths});
    const auto in = scattered(c, e, plan.input_distribution(), input);
    const dist::Array<std::complex<float>> out(c, e, plan.output_distribution());
    plan.execute(in, out);
    return out.to_host();
  };
  std::vector<std::complex<float>> whole;
  comm::run(group_of("sim:trn2", 1), [&](const Communicator& c, const Executor& e) { whole = transform(c, e); });
  std::atomic<int> refused = 0;
  comm::run(group_of("sim:trn2", 4), [&](const Communicator& c, const Executor& e) {
    std::optional<Buffer> hole(std::in_place, e, left);
    std::vector<Buffer> filled;
    for (std::int64_t bytes = std::int64_t{1} << 40; bytes >= 64;) {
      try {
        filled.emplace_back(e, bytes);
      } catch (const DeviceError&) {
        bytes /= 2;
      }
    }
    hole.reset();
    try {
      (void)transform(Communicator::self(), e);
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.check(), "over-capacity");
      ++refused;
    }
    const auto got = transform(c, e);
    EXPECT_EQ(std::memcmp(got.data(), whole.data(), sizeof(std::complex<float>) * whole.size()), 0);
  });
  EXPECT_EQ(refused, 4);
}
TEST(DistPlan, TransformsWhatNoCoreCanHold) {
  transforms_what_no_core_can_hold({64, 32, 32}, 1400 << 10);
  transforms_what_no_core_can_hold({1 << 18}, 6144 << 10);
}

TEST(DistPlan, ComesBackFromItsSpectrum) {
  comm::run(group_of("host", 4), [&](const Communicator& c, const Executor& e) {
    const Shape lengths{9, 8, 10};
    const DistPlan<double> there(c, e, {Kind::RealToComplex, Direction::Forward, lengths});
    const DistPlan<double> back(c, e, {Kind::ComplexToReal, Direction::Inverse, lengths, Scale::ByLength});
    EXPECT_EQ(there.output_distribution(), back.input_distribution());
    EXPECT_EQ(there.input_distribution(), back.output_distribution());
    const std::vector<double> x = fft::test::random_real<double>(element_count(lengths), 5);
    const dist::Array<double> in = scattered(c, e, there.input_distribution(), x);
    const dist::Array<double> out(c, e, back.output_distribution());
    const dist::Array<std::complex<double>> spectrum(c, e, there.output_distribution());
    there.execute(in, spectrum);
    back.execute(spectrum, out);
    double error = 0, norm = 0;
    const std::vector<double> y = out.to_host();
    for (std::size_t i = 0; i < x.size(); ++i) error += (y[i] - x[i]) * (y[i] - x[i]), norm += x[i] * x[i];
    // The error of the spectrum counts with its mirror image.
    EXPECT_LE(std::sqrt(error / norm), 1.01 * (std::sqrt(2.0) * there.accuracy().bound + back.accuracy().bound));
  });
}

TEST(DistPlan, WorksInPlaceAndOnASubgroup) {
  comm::run(group_of("host", 5), [&](const Communicator& c, const Executor& e) {
    const Communicator half = c.split(c.rank() % 2);
    const dist::Boxes boxes = dist::slabs({6, 4, 5}, 0, half.size());
    const DistDescription d{Kind::ComplexToComplex, Direction::Forward, {6, 4, 5}};
    const DistPlan<float> plan(half, e, d, boxes, boxes);
    const auto x = fft::test::random_complex<float>(120, 3);
    const auto in = scattered(half, e, boxes, x), both = scattered(half, e, boxes, x);
    const dist::Array<std::complex<float>> out(half, e, boxes);
    plan.execute(in, out);
    plan.execute(both, both);
    EXPECT_EQ(both.to_host(), out.to_host());
  });
}

TEST(DistPlan, RefusesOnAllRanks) {
  std::atomic<int> refused = 0;
  comm::run(group_of("host", 3), [&](const Communicator& c, const Executor& e) {
    const auto refuses = [&](const auto& f) {
      try {
        f();
      } catch (const InvalidArgument&) {
        ++refused;
      }
    };
    using C = std::complex<double>;
    const Direction forward = Direction::Forward;
    const auto plan = [&](const DistDescription& d) { return DistPlan<double>(c, e, d); };
    refuses([&] { plan({Kind::ComplexToComplex, forward, {}}); });
    refuses([&] { plan({Kind::ComplexToComplex, forward, {2, 2, 2, 2}}); });
    refuses([&] { plan({Kind::ComplexToComplex, forward, {4, 0}}); });
    refuses([&] { plan({Kind::ComplexToComplex, forward, {4, 4 + c.rank()}}); });
    refuses([&] { plan({Kind::RealToComplex, forward, {8}, Scale::None, {}, SpectrumOrder::Transposed}); });
    refuses([&] { plan({Kind::ComplexToComplex, forward, {8}, Scale::None, Precision::target(1e-30)}); });
    const DistDescription d{Kind::ComplexToComplex, forward, {4, 6}};
    refuses([&] { DistPlan<double>(c, e, d, dist::slabs({4, 5}, 0, 3), dist::slabs({4, 6}, 0, 3)); });
    const DistPlan<double> good = plan(d);
    const std::vector<C> x(24, C(1, 0));
    const auto in = scattered(c, e, good.input_distribution(), x);
    const auto out = scattered(c, e, good.output_distribution(), x),
               other = scattered(c, e, dist::slabs({4, 6}, 0, 3), x);
    const dist::Array<double> real(c, e, good.input_distribution());
    refuses([&] { good.execute(in, c.rank() == 1 ? other : out); });
    refuses([&] { good.execute(in, other); });
    refuses([&] { good.execute(real, out); });
    EXPECT_EQ(out.to_host(), x);
    try {
      plan({Kind::ComplexToComplex, forward, {8}, Scale::None, Mode::Bf16});
    } catch (const NotImplemented&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused, 33);
}

}  // namespace

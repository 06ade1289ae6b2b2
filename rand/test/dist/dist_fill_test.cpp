// Draws into distributed operands: the bits of the draw on one rank, for every distribution and number of ranks.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

#include <trn/comm/group.hpp>
#include <trn/rand/dist_fill.hpp>

namespace {

using namespace trn;
using comm::Communicator;
using rand::Algorithm;
using rand::Generator;

constexpr int kRankCounts[] = {1, 2, 3, 4, 6, 7, 12};
std::mutex mutex;
int cases = 0, wrong = 0;

template <class T> void compare(const std::vector<T>& got, const std::vector<T>& want) {
  const std::lock_guard lock(mutex);
  ++cases;
  if (got.size() != want.size() || std::memcmp(got.data(), want.data(), sizeof(T) * want.size()) != 0) ++wrong;
}

comm::Group group_of(const char* name, int ranks) {
  std::vector<Executor> executors;
  for (int r = 0; r < ranks; ++r) executors.push_back(Executor::open(name));
  return comm::Group(executors, name);
}

// local(executor, generator, view) against dist(generator, out) for arrays and matrices of several distributions.
template <class T, class Local, class Dist>
void check(const char* executor, int ranks, const rand::State& state, const Local& local, const Dist& dist) {
  const Shape shape{5, 7, 6};
  const std::int64_t rows = 13, columns = 11;
  Generator whole(state), plane(state);
  const Executor one = Executor::open(executor);
  const trn::Array<T> all(one, shape), matrix(one, {rows, columns});
  local(one, whole, all.view());
  local(one, plane, matrix.view());
  const std::vector<T> want = all.to_host(), wanted = matrix.to_host();
  const dist::Grid grid = dist::square_grid(ranks);
  comm::run(group_of(executor, ranks), [&](const Communicator& c, const Executor& e) {
    for (const dist::Boxes& boxes :
         {dist::slabs(shape, 0, ranks), dist::slabs(shape, 2, ranks), dist::pencils(shape, 0, 1, grid)}) {
      const dist::Array<T> out(c, e, boxes);
      Generator generator(state);
      dist(generator, out);
      const std::vector<T> got = out.to_host();
      if (c.rank() == 0) compare(got, want);
      EXPECT_EQ(generator.state(), whole.state());
    }
    const dist::Matrix<T> out(c, e, {rows, columns, 2, 3, grid});
    Generator generator(state);
    dist(generator, out);
    const std::vector<T> got = out.to_host();
    if (c.rank() == 0) compare(got, wanted);
  });
}

template <class T> void check_uniform(const char* executor, int ranks, const rand::State& state) {
  for (const rand::Interval interval : {rand::Interval::OpenClosed, rand::Interval::HalfOpen}) {
    check<T>(
        executor, ranks, state,
        [&](const Executor& e, Generator& g, const View<T>& v) { rand::uniform(e, g, v, interval); },
        [&](Generator& g, const auto& out) { rand::uniform(g, out, interval); });
  }
}
template <class T> void check_normal(const char* executor, int ranks, const rand::State& state,
                                     std::initializer_list<rand::NormalMethod> methods) {
  for (const rand::NormalMethod method : methods) {
    const rand::NormalOptions o{1.5, 2, method};
    check<T>(
        executor, ranks, state, [&](const Executor& e, Generator& g, const View<T>& v) { rand::normal(e, g, v, o); },
        [&](Generator& g, const auto& out) { rand::normal(g, out, o); });
  }
}

TEST(DistFill, HasTheBitsOfOneRankOnTheHost) {
  using rand::NormalMethod;
  cases = wrong = 0;
  for (const int ranks : kRankCounts) {
    for (const Algorithm algorithm : {Algorithm::Philox4x32_10, Algorithm::Threefry4x32_20, Algorithm::Xorwow,
                                      Algorithm::Mrg32k3a, Algorithm::Mt19937}) {
      // An odd position: pairs of words are shared across the cuts.
      const rand::State state{.algorithm = algorithm, .seed = 7, .position = 3};
      check<std::uint32_t>(
          "host", ranks, state,
          [](const Executor& e, Generator& g, const View<std::uint32_t>& v) { rand::raw32(e, g, v); },
          [](Generator& g, const auto& out) { rand::raw32(g, out); });
      check_uniform<double>("host", ranks, state);
      if (ranks % 3 != 1) continue;
      check_uniform<float>("host", ranks, state);
      check<std::uint64_t>(
          "host", ranks, state,
          [](const Executor& e, Generator& g, const View<std::uint64_t>& v) { rand::raw64(e, g, v); },
          [](Generator& g, const auto& out) { rand::raw64(g, out); });
    }
    const rand::State state{.seed = 11, .stream = 2, .position = 5};
    check_normal<double>("host", ranks, state, {NormalMethod::BoxMuller, NormalMethod::Inverse, NormalMethod::Curand});
    check_normal<float>("host", ranks, state, {NormalMethod::BoxMuller, NormalMethod::Inverse, NormalMethod::Curand});
    if (ranks % 3 != 1) continue;
    check<double>(
        "host", ranks, state, [](const Executor& e, Generator& g, const View<double>& v) { rand::log_normal(e, g, v); },
        [](Generator& g, const auto& out) { rand::log_normal(g, out); });
    check<float>(
        "host", ranks, state, [](const Executor& e, Generator& g, const View<float>& v) { rand::exponential(e, g, v); },
        [](Generator& g, const auto& out) { rand::exponential(g, out); });
    check<std::uint32_t>(
        "host", ranks, state,
        [](const Executor& e, Generator& g, const View<std::uint32_t>& v) { rand::bernoulli(e, g, v, {0.3}); },
        [](Generator& g, const auto& out) { rand::bernoulli(g, out, {0.3}); });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cases, 804);
  std::printf("draws with the bits of one rank: %d cases\n", cases);
}

TEST(DistFill, HasTheBitsOfOneRankOnADevice) {
  cases = wrong = 0;
  for (const int ranks : {1, 3, 4}) {
    const rand::State state{.seed = 3, .position = 1};
    check_uniform<float>("sim:trn2", ranks, state);
    check_normal<float>("sim:trn2", ranks, state, {rand::NormalMethod::BoxMuller});
  }
  EXPECT_EQ(wrong, 0);
  std::printf("draws with the bits of one rank on sim:trn2: %d cases\n", cases);
}

TEST(DistFill, RefusesOnAllRanks) {
  std::atomic<int> refused = 0;
  comm::run(group_of("host", 3), [&](const Communicator& c, const Executor& e) {
    const dist::Array<float> out(c, e, dist::slabs({2, 3}, 0, 3));  // rank 2 has nothing
    rand::normal(*std::make_unique<Generator>(), out);
    const std::vector<float> before = out.to_host();
    Generator other(rand::State{.seed = static_cast<std::uint64_t>(c.rank())}), same,
        quasi(rand::State{.algorithm = Algorithm::Sobol32}), last(rand::State{.position = ~std::uint64_t{0} - 2});
    const auto refuses = [&](const auto& f) {
      try {
        f();
      } catch (const InvalidArgument&) {
        ++refused;
      }
    };
    refuses([&] { rand::uniform(other, out); });
    refuses([&] { rand::uniform(quasi, out); });
    refuses([&] { rand::uniform(last, out); });
    refuses([&] { rand::normal(same, out, {.stddev = -1}); });
    EXPECT_EQ(same.state().position, 0u);
    EXPECT_EQ(out.to_host(), before);
  });
  EXPECT_EQ(refused, 12);
}

TEST(DistFill, TakesEmptyArrays) {
  comm::run(group_of("host", 3), [&](const Communicator& c, const Executor& e) {
    const dist::Array<double> out(c, e, dist::slabs({0, 3}, 0, 3));
    Generator generator;
    rand::normal(generator, out);
    EXPECT_EQ(generator.state().position, 0u);
  });
}

}  // namespace

// raw32 and uniform on every executor: sizes across the edges, positions, streams, pieces, strides, moments.
#include <hwy/targets.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "rand_support.hpp"
#include "support/every_target.hpp"

namespace trn::rand::test {
namespace {

constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 5, 127, 128, 129, 511, 512, 513, 2049, 100003};

TEST(Raw32, EverySizeOnEveryExecutor) {
  for (const Algorithm a : kAlgorithms) {
    for (const char* executor : kExecutors) {
      for (const std::int64_t n : kSizes)
        check_raw(executor, {a, 0x9e3779b97f4a7c15, 3, static_cast<std::uint64_t>(n)}, n);
    }
  }
}

// More than one whole tile of any machine, beginning and ending inside a block.
TEST(Raw32, SeveralTiles) {
  for (const Algorithm a : kAlgorithms) {
    for (const char* executor : kExecutors) {
      check_raw(executor, {a, 1, 0, 4 * 65536 + (a == Algorithm::Philox4x32_10 ? 3u : 0u)}, 2'500'001);
    }
  }
}

// Where counter words carry: 2^18, 2^34 and 2^50 values are where the words of one or the other algorithm wrap.
TEST(Raw32, PositionsWhereCountersCarry) {
  for (const Algorithm a : kAlgorithms) {
    for (const char* executor : kExecutors) {
      for (const int bit : {18, 34, 50, 63}) {
        for (const std::uint64_t before : {0u, 1u, 30u, 517u})
          check_raw(executor, {a, 42, 7, (std::uint64_t{1} << bit) - before}, 1030);
      }
      const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
      check_raw(executor, {a, ~std::uint64_t{0}, 0, last - 1001}, 1001);
    }
  }
}

TEST(Raw32, StreamsAndSeedsAreUsedWhole) {
  for (const char* executor : kExecutors) {
    for (const std::uint64_t stream :
         {std::uint64_t{1}, std::uint64_t{0xffff}, std::uint64_t{0x10000}, (std::uint64_t{1} << 48) - 1}) {
      for (const Algorithm a : kAlgorithms) check_raw(executor, {a, 0x8000000000000001, stream, 2}, 66);
    }
    check_raw(executor, {Algorithm::Threefry4x32_20, 5, ~std::uint64_t{0}, 2}, 66);
  }
}

// Any way to cut a draw gives the same values, also after saving and restoring the state in between.
TEST(Raw32, PiecesMakeTheWhole) {
  for (const Algorithm a : kAlgorithms) {
    for (const char* executor : kExecutors) {
      const Executor e = Executor::open(executor);
      const State begin{a, 77, 1, 262140};
      Generator whole(begin);
      const auto expected = draw_raw(e, whole, 56);
      for (std::int64_t piece = 1; piece <= 7; ++piece) {
        Generator g(begin);
        std::vector<std::uint32_t> values;
        while (values.size() < expected.size()) {
          const State saved = g.state();
          g = Generator(saved);
          const auto left = static_cast<std::int64_t>(expected.size() - values.size());
          const auto next = draw_raw(e, g, std::min(piece, left));
          values.insert(values.end(), next.begin(), next.end());
        }
        EXPECT_EQ(values, expected) << executor << " pieces of " << piece;
        EXPECT_EQ(g.state(), whole.state());
      }
      Generator skipped(begin);
      skipped.skip(13);
      EXPECT_EQ(draw_raw(e, skipped, 3), (std::vector<std::uint32_t>{expected[13], expected[14], expected[15]}));
    }
  }
}

TEST(Uniform, EverySizeOnEveryExecutor) {
  for (const Algorithm a : kAlgorithms) {
    for (const char* executor : kExecutors) {
      const Executor e = Executor::open(executor);
      for (const std::int64_t n : kSizes) {
        for (const Interval interval : kIntervals) {
          const State state{a, 99, 2, static_cast<std::uint64_t>(5 * n)};
          Generator g(state);
          const Recorder recorder(e);
          const auto values = draw_uniform(e, g, n, interval);
          EXPECT_EQ(recorder.family_of("rand.uniform"), name(e.family()));
          for (std::int64_t i = 0; i < n; ++i) {
            const float expected =
                oracle_uniform(oracle(state, state.position + static_cast<std::uint64_t>(i)), interval);
            ASSERT_EQ(std::bit_cast<std::uint32_t>(values[static_cast<std::size_t>(i)]),
                      std::bit_cast<std::uint32_t>(expected))
                << executor << " n " << n << " value " << i;
          }
        }
      }
    }
  }
}

// Mean 1/2, variance 1/12, both within five standard deviations of their estimates; the ends where they belong.
TEST(Uniform, MomentsAndEnds) {
  constexpr std::int64_t n = 10'000'000;
  for (const Algorithm a : kAlgorithms) {
    for (const Interval interval : kIntervals) {
      Generator g(State{.algorithm = a, .seed = 2024});
      const auto values = draw_uniform(Executor::host(), g, n, interval);
      double sum = 0, squares = 0;
      float lowest = 2, highest = -1;
      for (const float v : values) {
        sum += v - 0.5;
        squares += (v - 0.5) * (v - 0.5);
        lowest = std::min(lowest, v);
        highest = std::max(highest, v);
      }
      // Var(u - 1/2) = 1/12; Var((u - 1/2)^2) = 1/80 - 1/144 = 1/180.
      EXPECT_LE(std::abs(sum / n), 5 * std::sqrt(1.0 / 12 / n));
      EXPECT_LE(std::abs(squares / n - 1.0 / 12), 5 * std::sqrt(1.0 / 180 / n));
      if (interval == Interval::OpenClosed) {
        EXPECT_GT(lowest, 0);
        EXPECT_LE(highest, 1);
      } else {
        EXPECT_GE(lowest, 0);
        EXPECT_LT(highest, 1);
      }
    }
  }
  // The ends themselves, which ten million values need not meet.
  EXPECT_EQ(oracle_uniform(0, Interval::OpenClosed), 0x1p-33f);
  EXPECT_EQ(oracle_uniform(~0u, Interval::OpenClosed), 1.0f);
  EXPECT_EQ(oracle_uniform(~0u, Interval::HalfOpen), 1.0f - 0x1p-24f);
}

TEST(HostDraw, AnyStrides) {
  const Executor e = Executor::host();
  const State state{.seed = 3, .position = 1};
  // Transposed, padded and reversed 3 x 50 x 700 in a larger allocation: more than one piece.
  const Shape shape{3, 50, 700};
  for (const Strides& strides :
       {Strides{1, 3, 150}, Strides{36000, 710, 1}, Strides{36000, -710, 1}, Strides{1, 2200, 3}}) {
    std::vector<std::uint32_t> memory(200'000, 0xabababab);
    const std::int64_t base = strides[1] < 0 ? 49 * 710 : 0;
    Generator g(state);
    raw32(e, g, View<std::uint32_t>(e, memory.data() + base, shape, strides));
    EXPECT_EQ(g.state().position, 1u + 3 * 50 * 700);
    std::uint64_t n = 1;
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 50; ++j) {
        for (std::int64_t k = 0; k < 700; ++k, ++n) {
          auto& value = memory[static_cast<std::size_t>(base + i * strides[0] + j * strides[1] + k * strides[2])];
          ASSERT_EQ(value, oracle(state, n)) << i << " " << j << " " << k;
          value = 0xabababab;
        }
      }
    }
    for (const std::uint32_t v : memory) ASSERT_EQ(v, 0xabababab) << "memory outside the view was changed";
  }
}

TEST(HostDraw, SameBitsOnEveryInstructionSetAndThreadCount) {
  constexpr std::int64_t n = 100'003;
  const int threads = omp_get_max_threads();
  const int targets = testing_support::on_every_target([&] {
    for (const int t : {1, 2, 3, 7}) {
      omp_set_num_threads(t);
      for (const Algorithm a : kAlgorithms) {
        check_raw("host", {a, 11, 1, 262143}, n);
        for (const Interval interval : kIntervals) {
          const State state{a, 11, 1, 262143};
          Generator g(state);
          const auto values = draw_uniform(Executor::host(), g, n, interval);
          for (std::size_t i = 0; i < values.size(); i += 7) {
            ASSERT_EQ(values[i], oracle_uniform(oracle(state, state.position + i), interval)) << t << " threads";
          }
        }
      }
    }
  });
  omp_set_num_threads(threads);
  EXPECT_GE(targets, 2);
}

}  // namespace
}  // namespace trn::rand::test

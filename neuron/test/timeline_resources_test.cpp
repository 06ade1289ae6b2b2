// The two shared resources of the event model alone: the calendar of the DMA engines against a brute-force oracle, and
// the Tensor Engine's rate limiter against hand-computed windows.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/timeline.hpp"

namespace trn::neuron::sim {
namespace {

// Time in whole slots: a request takes the first free slots from `earliest` on.
class SlotOracle {
 public:
  double reserve(std::int64_t earliest, std::int64_t duration) {
    std::int64_t at = earliest;
    for (; duration > 0; ++at) {
      if (taken_.insert(at).second) --duration;
    }
    return static_cast<double>(at);
  }

 private:
  std::set<std::int64_t> taken_;
};

TEST(DmaCalendar, FillsGapsLikeTheOracle) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int64_t> earliest(0, 600), duration(1, 12);
    DmaCalendar calendar;
    SlotOracle oracle;
    for (int i = 0; i < 120; ++i) {
      const std::int64_t t = earliest(random), d = duration(random);
      ASSERT_DOUBLE_EQ(calendar.reserve(static_cast<double>(t), static_cast<double>(d)), oracle.reserve(t, d))
          << "seed " << seed << " request " << i << ": " << d << " from " << t;
    }
  }
}

TEST(DmaCalendar, SplitsARequestOverGaps) {
  DmaCalendar calendar;
  EXPECT_EQ(calendar.reserve(2, 2), 4);  // busy [2, 4)
  EXPECT_EQ(calendar.reserve(6, 2), 8);  // busy [6, 8)
  EXPECT_EQ(calendar.reserve(0, 5), 9);  // [0, 2), [4, 6), [8, 9)
  EXPECT_EQ(calendar.reserve(0, 1), 10);
  EXPECT_EQ(calendar.reserve(3, 0), 3);  // nothing to move
}

// A forgotten past counts as busy: never earlier than the oracle, and the future stays exact.
TEST(DmaCalendar, ForgetsOnlyThePast) {
  DmaCalendar calendar;
  SlotOracle oracle;
  for (std::int64_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(calendar.reserve(static_cast<double>(2 * i), 1), oracle.reserve(2 * i, 1));  // every second slot
  }
  EXPECT_GE(calendar.reserve(0, 1), oracle.reserve(0, 1));
  EXPECT_EQ(calendar.reserve(3990, 2), 3994);  // slots 3991 and 3993
}

const tile::Timing& trn2() { return tile::machine("trn2").timing; }
constexpr double kMicro = 1e-6;
double us(double seconds) { return seconds / kMicro; }

constexpr double kWindow = 3.413 * kMicro;  // trn2
// The first pass falls into the middle of a window: half of one, then a whole one, then the array is hot.
constexpr double kWarm = 1.5 * kWindow;

TEST(RateLimiter, WarmsAfterABusyWindow) {
  RateLimiter limiter(trn2());
  EXPECT_NEAR(us(limiter.run(0, kWarm / 2, 1)), us(kWarm), 1e-9);  // cold: half the rate
  EXPECT_NEAR(us(limiter.run(kWarm, kMicro, 1)), us(kWarm) + 1, 1e-9);
  EXPECT_NEAR(us(limiter.cold_seconds()), us(kWarm), 1e-9);
}

TEST(RateLimiter, TheRestOfAWindowIsNotEnough) {
  RateLimiter limiter(trn2());
  EXPECT_NEAR(us(limiter.run(2 * kMicro, kWindow / 4, 1)), us(kWindow / 2) + 2, 1e-9);
  EXPECT_NEAR(us(limiter.run(2 * kMicro + kWindow / 2, kMicro, 1)), us(kWindow / 2) + 4, 1e-9);  // still cold
}

TEST(RateLimiter, SevenTenthsDoNotWarmNineTenthsDo) {
  for (const auto& [use, rate] : {std::pair(0.7, 2.0), std::pair(0.9, 1.0)}) {
    RateLimiter limiter(trn2());
    double now = limiter.run(0, kWindow / 4, 1);
    now = limiter.run(now, use * kWindow / 2, 1);  // that share of the window
    EXPECT_NEAR(us(limiter.run(kWarm, kMicro, 1) - kWarm), rate, 1e-9) << use;
  }
}

TEST(RateLimiter, CoolsAfterAnIdleWindow) {
  RateLimiter limiter(trn2());
  EXPECT_NEAR(us(limiter.run(0, kWarm / 2, 1)), us(kWarm), 1e-9);
  EXPECT_NEAR(us(limiter.run(kWarm, 0.4 * kWindow, 1)), us(kWarm + 0.4 * kWindow), 1e-9);   // less than half
  EXPECT_NEAR(us(limiter.run(kWarm + kWindow, kMicro, 1)), us(kWarm + kWindow) + 2, 1e-9);  // cold again
}

TEST(RateLimiter, StaysHotAtHalfUse) {
  RateLimiter limiter(trn2());
  EXPECT_NEAR(us(limiter.run(0, kWarm / 2, 1)), us(kWarm), 1e-9);
  EXPECT_NEAR(us(limiter.run(kWarm, 0.6 * kWindow, 1)), us(kWarm + 0.6 * kWindow), 1e-9);
  EXPECT_NEAR(us(limiter.run(kWarm + kWindow, kMicro, 1)), us(kWarm + kWindow) + 1, 1e-9);
}

TEST(RateLimiter, FewRowsNeverWarm) {
  RateLimiter limiter(trn2());
  double now = 0;
  for (int i = 0; i < 10; ++i) {
    const double end = limiter.run(now, 1.5 * kMicro, 0.25);
    EXPECT_NEAR(us(end - now), 3.0, 1e-9);
    now = end;
  }
}

TEST(RateLimiter, ALongPauseCools) {
  RateLimiter limiter(trn2());
  EXPECT_NEAR(us(limiter.run(0, kWarm / 2, 1)), us(kWarm), 1e-9);
  EXPECT_NEAR(us(limiter.run(100 * kMicro, 1.0 * kMicro, 1)), 102.0, 1e-9);
}

TEST(RateLimiter, Trn1HasASustainedCapAndNoWindows) {
  RateLimiter limiter(tile::machine("trn1").timing);
  EXPECT_NEAR(us(limiter.run(0, 1.0 * kMicro, 1)), 1 / 0.86, 1e-9);
  EXPECT_NEAR(us(limiter.run(50 * kMicro, 1.0 * kMicro, 1)), 50 + 1 / 0.86, 1e-9);
  EXPECT_EQ(limiter.cold_seconds(), 0);
}

}  // namespace
}  // namespace trn::neuron::sim

// The team: every piece once, workers apart, exceptions, loops within loops and beside each other, and no busy waiting.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <trn/core/team.hpp>
#include <vector>

namespace trn {
namespace {

TEST(Team, EveryPieceOnceAndWorkersApart) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count)), inside(static_cast<std::size_t>(threads));
      std::atomic<int> collisions{0};
      for_pieces(count, threads, [&](std::int64_t piece, int worker) {
        ASSERT_GE(worker, 0);
        ASSERT_LT(worker, threads);
        if (inside[static_cast<std::size_t>(worker)].fetch_add(1) != 0) ++collisions;
        ++done[static_cast<std::size_t>(piece)];
        inside[static_cast<std::size_t>(worker)].fetch_sub(1);
      });
      for (const auto& d : done) EXPECT_EQ(d.load(), 1);
      EXPECT_EQ(collisions.load(), 0);
    }
  }
}

// Two pieces that wait for each other need two threads.
TEST(Team, PiecesRunAtTheSameTime) {
  std::atomic<int> here{0};
  for_pieces(2, 2, [&](std::int64_t, int) {
    ++here;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here.load() < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  });
  EXPECT_EQ(here.load(), 2);
  std::atomic<bool> met{false};
  std::thread::id first{};
  for_pieces(2, 2, [&](std::int64_t piece, int worker) {
    if (worker == 0) first = std::this_thread::get_id();
    if (piece == 1) met = true;
  });
  EXPECT_TRUE(met.load());
  if (first != std::thread::id{}) {
    EXPECT_EQ(first, std::this_thread::get_id()) << "the caller is worker 0";
  }
}

TEST(Team, FirstExceptionIsThrownAgain) {
  std::atomic<int> begun{0};
  const auto body = [&](std::int64_t piece, int) {
    ++begun;
    if (piece == 3) throw std::runtime_error("piece 3");
  };
  for (const int threads : {1, 2}) {
    begun = 0;
    try {
      for_pieces(1 << 20, threads, body);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "piece 3");
    }
    EXPECT_LT(begun.load(), 1 << 20);
    std::atomic<int> after{0};
    for_pieces(10, threads, [&](std::int64_t, int) { ++after; });
    EXPECT_EQ(after.load(), 10);
  }
}

TEST(Team, LoopsWithinPieces) {
  std::atomic<int> sum{0};
  for_pieces(20, 3, [&](std::int64_t, int) { for_pieces(50, 3, [&](std::int64_t, int) { ++sum; }); });
  EXPECT_EQ(sum.load(), 1000);
}

TEST(Team, SeveralCallersAtOnce) {
  constexpr int kCallers = 4, kLoops = 300;
  std::atomic<std::int64_t> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < kLoops; ++i) {
        std::vector<std::int64_t> square(64);
        for_pieces(64, 3, [&](std::int64_t p, int) { square[static_cast<std::size_t>(p)] = p * p; });
        for (std::int64_t p = 0; p < 64; ++p) wrong += square[static_cast<std::size_t>(p)] != p * p;
      }
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

// After a loop the members go to sleep: 200 ms of nothing cost next to no processor time. A caller that waits for a
// member sleeps, too.
TEST(Team, WaitsAsleep) {
  const auto cpu = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  for_pieces(8, 4, [](std::int64_t, int) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  const double before = cpu();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cpu() - before, 0.02);
  const double start = cpu();
  for_pieces(2, 2, [](std::int64_t piece, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(piece == 0 ? 1 : 200));
  });
  EXPECT_LT(cpu() - start, 0.02);
}

}  // namespace
}  // namespace trn

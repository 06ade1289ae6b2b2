// What goes wrong on one rank goes wrong on all, and C is as it was.
#include <atomic>
#include <optional>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_trsm.hpp>

#include "support/dist_matrices.hpp"
#include "support/full_memory.hpp"

namespace trn::blas {
namespace {

using namespace dist_test;

template <class T> dist::Matrix<T> matrix(const comm::Communicator& group, const Executor& e, std::int64_t rows,
                                          std::int64_t columns, std::int64_t block = 4) {
  dist::Matrix<T> x(group, e, {rows, columns, block, block, dist::square_grid(group.size())});
  x.fill([](std::int64_t i, std::int64_t j) { return number<T>(1, i, j); });
  return x;
}

// Runs call(a, b, c, group) on four ranks: all must throw E, and C be as it was; the group works afterwards.
template <class E, class F> void all_throw(const F& call) {
  std::atomic<int> thrown = 0;
  comm::run(
      group_of("host", 4),
      [&](const comm::Communicator& group, const Executor& e) {
        const auto a = matrix<double>(group, e, 20, 12), b = matrix<double>(group, e, 12, 16),
                   c = matrix<double>(group, e, 20, 16);
        const std::vector<double> before = c.to_host();
        try {
          call(a, b, c, group);
        } catch (const E&) {
          ++thrown;
        }
        EXPECT_TRUE(same_bits(c.to_host(), before));
        gemm<double>(Op::N, Op::N, 1, a, b, 0, c);
      },
      kLimits);
  EXPECT_EQ(thrown, 4);
}

using Doubles = dist::Matrix<double>;

TEST(DistFaults, ShapesThatDoNotFit) {
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles& b, const Doubles& c, const comm::Communicator&) {
    gemm<double>(Op::T, Op::N, 1, a, b, 0, c);
  });
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles&, const Doubles& c, const comm::Communicator&) {
    syrk<double>(Uplo::Lower, Op::N, 1, a, 0, c);
  });
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles&, const Doubles& c, const comm::Communicator&) {
    trsm<double>(Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1, a, c);
  });
}
TEST(DistFaults, RanksThatSayDifferentThings) {
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles& b, const Doubles& c, const comm::Communicator& g) {
    gemm<double>(Op::N, Op::N, g.rank() == 2 ? 2 : 1, a, b, 0, c);
  });
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles& b, const Doubles& c, const comm::Communicator& g) {
    gemm<double>(Op::N, g.rank() == 3 ? Op::T : Op::N, 1, a, b, 0, c);
  });
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles& b, const Doubles& c, const comm::Communicator& g) {
    gemm<double>(Op::N, Op::N, 1, a, b, 0, c, {g.rank() == 1 ? Mode::Exact : Mode::Native});
  });
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles& b, const Doubles& c, const comm::Communicator& g) {
    const auto other = matrix<double>(g, Executor::host(), 12, 16, 3);  // other blocks
    gemm<double>(Op::N, Op::N, 1, a, g.rank() == 0 ? other : b, 0, c);
  });
}
TEST(DistFaults, TypesThatDiffer) {
  std::atomic<int> thrown = 0;
  comm::run(group_of("host", 2), [&](const comm::Communicator& group, const Executor& e) {
    const auto d = matrix<double>(group, e, 8, 8), dc = matrix<double>(group, e, 8, 8);
    const auto f = matrix<float>(group, e, 8, 8), fc = matrix<float>(group, e, 8, 8);
    try {
      if (group.rank() == 0)
        gemm<double>(Op::N, Op::N, 1, d, d, 0, dc);
      else
        gemm<float>(Op::N, Op::N, 1, f, f, 0, fc);
    } catch (const InvalidArgument&) {
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, 2);
}
TEST(DistFaults, OperandsOfTwoGroups) {
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles&, const Doubles& c, const comm::Communicator& g) {
    const comm::Communicator other = g.split(0);
    const auto b = matrix<double>(other, Executor::host(), 12, 16);
    gemm<double>(Op::N, Op::N, 1, a, b, 0, c);
  });
  // One rank alone has it wrong.
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles& b, const Doubles& c, const comm::Communicator& g) {
    const comm::Communicator other = g.split(0);
    const auto foreign = matrix<double>(other, Executor::host(), 12, 16);
    gemm<double>(Op::N, Op::N, 1, a, g.rank() == 1 ? foreign : b, 0, c);
  });
}
TEST(DistFaults, ResultsOverOperands) {
  std::atomic<int> thrown = 0;
  comm::run(group_of("host", 4), [&](const comm::Communicator& group, const Executor& e) {
    const auto c = matrix<double>(group, e, 8, 8);
    const std::vector<double> before = c.to_host();
    try {
      gemm<double>(Op::N, Op::N, 1, c, c, 0, c);
    } catch (const InvalidArgument&) {
      ++thrown;
    }
    EXPECT_TRUE(same_bits(c.to_host(), before));
  });
  EXPECT_EQ(thrown, 4);
}
TEST(DistFaults, TargetsAreRefused) {
  all_throw<InvalidArgument>([](const Doubles& a, const Doubles& b, const Doubles& c, const comm::Communicator&) {
    gemm<double>(Op::N, Op::N, 1, a, b, 0, c, {Precision::target(1e-9)});
  });
}

TEST(DistFaults, ADeviceWithoutMemoryIsEverybodysError) {
  std::atomic<int> thrown = 0;
  for (const bool exact : {false, true}) {
    comm::run(
        group_of("sim:trn2", 3),
        [&](const comm::Communicator& group, const Executor& e) {
          const auto a = matrix<float>(group, e, 24, 24), c = matrix<float>(group, e, 24, 24);
          const std::vector<float> before = c.to_host();
          std::vector<Buffer> filled;
          if (group.rank() == 1) filled = fill_memory(e, 64);
          const ProductOptions options{exact ? Mode::Exact : Mode::Native};
          const auto expect = [&](const auto& call) {
            try {
              call();
            } catch (const DeviceError& error) {
              ++thrown;
              EXPECT_EQ(error.check(), "over-capacity");
              EXPECT_NE(std::string(error.what()).find("rank 1"), std::string::npos) << error.what();
            }
          };
          expect([&] { gemm<float>(Op::N, Op::T, 1, a, a, 0, c, options); });
          expect([&] { syrk<float>(Uplo::Lower, Op::N, 1, a, 0, c, options); });
          expect([&] { trsm<float>(Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1, a, c, options); });
          filled.clear();
          EXPECT_TRUE(same_bits(c.to_host(), before));
          gemm<float>(Op::N, Op::T, 1, a, a, 0, c, options);
        },
        kLimits);
  }
  EXPECT_EQ(thrown, 18);
}

// Cores with 640 KiB left: three matrices of 256 KiB do not fit on one of them, a quarter of each and the panels do.
TEST(DistMemory, AProductThatNoCoreCanHold) {
  constexpr std::int64_t kLeft = 640 << 10, kOrder = 256;
  std::vector<float> whole;
  comm::run(group_of("sim:trn2", 1), [&](const comm::Communicator& group, const Executor& e) {
    const auto a = matrix<float>(group, e, kOrder, kOrder, 32), c = matrix<float>(group, e, kOrder, kOrder, 32);
    gemm<float>(Op::N, Op::T, 1, a, a, 0, c);
    whole = c.to_host();
  });
  std::atomic<int> refused = 0;
  comm::run(
      group_of("sim:trn2", 4),
      [&](const comm::Communicator& group, const Executor& e) {
        std::optional<Buffer> hole(std::in_place, e, kLeft);
        const std::vector<Buffer> filled = fill_memory(e, 64);
        hole.reset();
        const auto product = [&](const comm::Communicator& ranks) {
          const auto a = matrix<float>(ranks, e, kOrder, kOrder, 32), b = matrix<float>(ranks, e, kOrder, kOrder, 32),
                     c = matrix<float>(ranks, e, kOrder, kOrder, 32);
          gemm<float>(Op::N, Op::T, 1, a, b, 0, c);
          return c.to_host();
        };
        try {
          (void)product(comm::Communicator::self());
        } catch (const DeviceError& error) {
          EXPECT_EQ(error.check(), "over-capacity");
          ++refused;
        }
        EXPECT_TRUE(same_bits(product(group), whole));
      },
      kLimits);
  EXPECT_EQ(refused, 4);
}

}  // namespace
}  // namespace trn::blas

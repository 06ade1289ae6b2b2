// `trnsci scale` against runs of the libraries on the eight cores of a simulated chip, small shapes of every operation
// that it knows: the clocks of the run and the command's seconds agree within 5 %. Products: scale_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_trsm.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/pair_energy.hpp>
#include <trn/comm/collectives.hpp>
#include <trn/comm/group.hpp>
#include <trn/fft/dist_plan.hpp>
#include <trn/mp2/pair_deal.hpp>
#include <trn/rand/dist_fill.hpp>
#include <trn/solver/dist_cholesky.hpp>
#include <trn/solver/dist_lu.hpp>
#include <trn/solver/dist_qr.hpp>
#include <trn/sparse/spmm.hpp>

#include "scale_command.hpp"

namespace trn {
namespace {

using comm::Communicator;
using testing_support::scale;

// What a rank does while the clocks are watched, and how it looks at the results afterwards.
struct Program {
  std::function<void()> run, check = [] {};
};
// Seconds on the ranks' clocks from the first call to the last result.
double seconds_of(const std::string& group,
                  const std::function<Program(const Communicator&, const Executor&)>& prepare) {
  double seconds = 0;
  comm::run(comm::Group::open(group), [&](const Communicator& all, const Executor& e) {
    const Program program = prepare(all, e);
    comm::barrier(all);
    const double begin = e.backend().clock();
    program.run();
    e.synchronize();
    const double end = comm::maximum(all, e.backend().clock());
    if (all.rank() == 0) seconds = end - begin;
    program.check();
  });
  return seconds;
}

template <class T>
std::shared_ptr<const dist::Matrix<T>> matrix(const Communicator& c, const Executor& e, const dist::BlockCyclic& d) {
  return std::make_shared<const dist::Matrix<T>>(c, e, d);
}

void expect_close(const std::string& arguments, double run, double bound = 0.05) {
  const double modelled = scale(arguments)["seconds"].get<double>();
  std::printf("%s: run %.1f us, trnsci scale %.1f us, ratio %.3f\n", arguments.c_str(), run * 1e6, modelled * 1e6,
              modelled / run);
  EXPECT_NEAR(modelled / run, 1, bound) << arguments;
}

// Slabs, pencils, two dimensions and one. One point at the origin comes out as ones.
TEST(ScaleRuns, Fft) {
  for (const Shape& lengths : {Shape{32, 32, 32}, Shape{4, 64, 128}, Shape{256, 128}, Shape{1 << 16}}) {
    std::string list;
    for (const std::int64_t n : lengths) list += (list.empty() ? "" : ",") + std::to_string(n);
    const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
      using C = std::complex<float>;
      const fft::DistPlan<float> plan(c, e, {fft::Kind::ComplexToComplex, fft::Direction::Forward, lengths});
      const auto in = std::make_shared<const dist::Array<C>>(c, e, plan.input_distribution()),
                 out = std::make_shared<const dist::Array<C>>(c, e, plan.output_distribution());
      std::vector<C> values(static_cast<std::size_t>(in->local().size()), C(0));
      if (c.rank() == 0) values[0] = 1;
      if (!values.empty()) copy(View<const C>(Executor::host(), values.data(), in->local().shape()), in->local());
      return {[=] { plan.execute(*in, *out); },
              [out] {
                for (const C y : out->to_host()) ASSERT_EQ(y, C(1));
              }};
    });
    expect_close("fft --machine trn2 --chips 1 --n " + list, run);
  }
}

// The factor of a diagonal matrix: what is computed does not depend on the numbers.
TEST(ScaleRuns, Cholesky) {
  constexpr std::int64_t kOrder = 1536;
  const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const auto a = matrix<float>(c, e, {kOrder, kOrder, 512, 512, {2, 4}});
    a->fill([](std::int64_t i, std::int64_t j) { return i == 0 && j == 0 ? 4.f : i == j ? 1.f : 0.f; });
    return {[a] { EXPECT_TRUE(solver::potrf<float>(blas::Uplo::Lower, *a).outcome.ok()); },
            [a] {
              const std::vector<float> l = a->to_host();
              EXPECT_EQ(l.front(), 2.f);
              EXPECT_EQ(l.back(), 1.f);
            }};
  });
  expect_close("cholesky --machine trn2 --chips 1 --n " + std::to_string(kOrder), run);
}

// Numbers in (-1, 1) that no pattern has: every step of LU exchanges rows, and columns of a tall matrix are far from
// dependent.
float scattered(std::int64_t i, std::int64_t j) {
  auto x = static_cast<std::uint64_t>(i * 8191 + j) * 0x9E3779B97F4A7C15U;
  x ^= x >> 29U;
  x *= 0xBF58476D1CE4E5B9U;
  return static_cast<float>(static_cast<double>(x >> 11U) * 0x1p-52 - 1);
}

// Blocks of columns on eight cores, or on four: of QR they are as wide as the local operation's panels.
TEST(ScaleRuns, LuAndQr) {
  constexpr std::int64_t kColumns = 512;
  for (const bool lu : {true, false}) {
    const std::int64_t block = lu ? 64 : 128, rows = lu ? kColumns : 768;
    const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
      const auto a = matrix<float>(c, e, {rows, kColumns, block, block, {2, 4}});
      a->fill(scattered);
      if (lu) return {[a] { EXPECT_TRUE(solver::getrf<float>(*a).report.outcome.ok()); }};
      return {[a] { EXPECT_TRUE(solver::geqrf<float>(*a).report.outcome.ok()); }};
    });
    expect_close(
        fmt::format("{} --machine trn2 --chips 1 --m {} --n {} --block {}", lu ? "lu" : "qr", rows, kColumns, block),
        run);
  }
}

TEST(ScaleRuns, RankKUpdateAndTriangularSolve) {
  constexpr std::int64_t kOrder = 1024, kBlock = 128;
  const double update = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const auto a = matrix<float>(c, e, {kOrder, 4096, kBlock, kBlock, {2, 4}}),
               product = matrix<float>(c, e, {kOrder, kOrder, kBlock, kBlock, {2, 4}});
    a->fill([](std::int64_t i, std::int64_t j) { return i == j ? 2.f : 0.f; });
    return {[=] { blas::syrk<float>(blas::Uplo::Lower, blas::Op::N, 1, *a, 0, *product); },
            [=] {
              const std::vector<float> x = product->to_host();
              EXPECT_EQ(x.front(), 4.f);
              EXPECT_EQ(x.back(), 4.f);
            }};
  });
  expect_close(fmt::format("syrk --machine trn2 --chips 1 --n {} --k 4096 --block {}", kOrder, kBlock), update);
  const double solve = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const auto l = matrix<float>(c, e, {kOrder, kOrder, kBlock, kBlock, {2, 4}}),
               x = matrix<float>(c, e, {kOrder, kOrder, kBlock, kBlock, {2, 4}});
    l->fill([](std::int64_t i, std::int64_t j) { return i == j ? 2.f : 0.f; });
    x->fill([](std::int64_t, std::int64_t) { return 1.f; });
    return {
        [=] { blas::trsm<float>(blas::Side::Left, blas::Uplo::Lower, blas::Op::N, blas::Diag::NonUnit, 1, *l, *x); },
        [=] { EXPECT_EQ(x->to_host(), std::vector<float>(kOrder * kOrder, 0.5f)); }};
  });
  expect_close(fmt::format("trsm --machine trn2 --chips 1 --n {} --block {}", kOrder, kBlock), solve);
}

// One iteration on devices, of the libraries' parts: the halo, the product, two sums and three updates. Of ones the
// product of a row is 27 less the entries beyond the grid's faces; here every entry is one.
TEST(ScaleRuns, ConjugateGradients) {
  constexpr std::int64_t kSide = 32, kPlane = kSide * kSide, kPlanes = kSide / 8, kRows = kPlanes * kPlane;
  const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    std::vector<std::int64_t> rows, columns;
    for (std::int64_t at = 0; at < kRows; ++at) {
      const std::int64_t x = at % kSide, y = at / kSide % kSide, z = at / kPlane;
      for (std::int64_t n = 0; n < 27; ++n) {
        const std::int64_t i = x + n % 3 - 1, j = y + n / 3 % 3 - 1, k = z + n / 9;  // plane 0 is the neighbour's
        if (i < 0 || i >= kSide || j < 0 || j >= kSide) continue;
        rows.push_back(at);
        columns.push_back((k * kSide + j) * kSide + i);
      }
    }
    const std::vector<float> entries(rows.size(), 1);
    const auto a =
        sparse::Csr<float>::from_triplets(Executor::host(), {kRows, kRows + 2 * kPlane}, {rows, columns, entries});
    const auto plan = std::make_shared<sparse::SpmmPlan<float>>(e, a.to(e), sparse::SpmmOptions{.columns = 1});
    const auto halves = [&](std::int64_t n) {
      return Array<float>::from_host(e, {n}, std::vector<float>(static_cast<std::size_t>(n), 0.5f));
    };
    // Vectors with the neighbours' planes around them; ends of the grid have none, and a plane of zeros.
    auto p = std::make_shared<Array<float>>(Array<float>::from_host(
        e, {kRows + 2 * kPlane}, std::vector<float>(static_cast<std::size_t>(kRows + 2 * kPlane), 0)));
    auto s = std::make_shared<Array<float>>(halves(kRows)), x = std::make_shared<Array<float>>(halves(kRows));
    const std::vector<float> ones(static_cast<std::size_t>(kRows), 1);
    copy(View<const float>(Executor::host(), ones.data(), {kRows}), View<float>(e, p->data() + kPlane, {kRows}));
    return {[=, rank = c.rank(), size = c.size()] {
      const auto part = [&](std::int64_t from, std::int64_t count) {
        return View<float>(e, p->data() + from, {count});
      };
      const int above = rank + 1 < size ? rank + 1 : -1, below = rank > 0 ? rank - 1 : -1;
      const View<float> none(Executor::host(), nullptr, {0});
      comm::send_receive(c, above, above < 0 ? none : part(kRows, kPlane), below, below < 0 ? none : part(0, kPlane));
      comm::send_receive(c, below, below < 0 ? none : part(kPlane, kPlane), above,
                         above < 0 ? none : part(kRows + kPlane, kPlane));
      const auto column = MatrixView<const float>::column_major(e, p->data(), kRows + 2 * kPlane, 1);
      (void)plan->execute(1, column, 0, MatrixView<float>::column_major(e, s->data(), kRows, 1));
      const VectorView<float> v(e, p->data() + kPlane, kRows), w(e, s->data(), kRows), y(e, x->data(), kRows);
      const float curvature = blas::dot(e, v, VectorView<const float>(w)),
                  length = blas::dot(e, v, VectorView<const float>(v));
      EXPECT_EQ(length, static_cast<float>(kRows));
      // Ones: rows of the interior add up to 27, and to a third less at each face that they touch.
      const double across = 3.0 * kSide - 2,
                   ends = rank == 0 || rank + 1 == size ? kSide * 3.0 / 8 - 1 : kSide * 3.0 / 8;
      EXPECT_EQ(curvature, static_cast<float>(across * across * ends));
      (void)comm::maximum(c, static_cast<double>(curvature));
      blas::axpy<float>(e, 0.25f, VectorView<const float>(v), y);
      blas::axpy<float>(e, -0.25f, VectorView<const float>(w), y);
      blas::axpy<float>(e, 0.5f, VectorView<const float>(w), v);
    }};
  });
  expect_close("cg --machine trn2 --chips 1 --n " + std::to_string(kSide), run);
}

// The pair energies as trn::mp2 deals them.
TEST(ScaleRuns, Mp2) {
  constexpr std::int64_t kOccupied = 12, kFitting = 96, kVirtual = 80, kPanel = kFitting * kVirtual;
  const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const auto pairs = std::make_shared<std::int64_t>(0);
    return {[=] {
              const mp2::PairDeal deal = mp2::deal_pairs(kOccupied, c.size(), kOccupied);
              const auto virtuals = Array<float>::from_host(e, {kVirtual}, std::vector<float>(kVirtual, 1));
              std::array<std::int64_t, 3 * kOccupied*(kOccupied + 1) / 2> bits{};
              for (const mp2::PairTask& task : deal.tasks(c.rank(), c.size())) {
                const bool two = task.first != task.second;
                const std::int64_t left = deal.size(task.first), count = left + (two ? deal.size(task.second) : 0);
                const auto b =
                    Array<float>::from_host(e, {count, kFitting, kVirtual},
                                            std::vector<float>(static_cast<std::size_t>(count * kPanel), 0.125f));
                const auto occupied =
                    Array<float>::from_host(e, {count}, std::vector<float>(static_cast<std::size_t>(count), -1));
                const blas::PairEnergy energy = blas::pair_energy(e, b.view(), occupied.view(), virtuals.view(),
                                                                  {.precision = Mode::Tf32x3, .left = two ? left : 0});
                // B is constant: every T is kFitting / 64, every D is -4; i = j counts once, others twice.
                for (const blas::PairTerm& t : energy.pairs) {
                  const double one = -kFitting / 64.0 * (kFitting / 64.0) / 4 * kVirtual * kVirtual;
                  EXPECT_TRUE(std::abs(t.opposite_spin - one) < 1e-4 * -one ||
                              std::abs(t.opposite_spin - 2 * one) < 1e-4 * -one)
                      << t.opposite_spin;
                }
                *pairs += static_cast<std::int64_t>(energy.pairs.size());
              }
              comm::sum(c, View<std::int64_t>(Executor::host(), bits.data(), {static_cast<std::int64_t>(bits.size())}));
            },
            [=] { EXPECT_EQ(comm::sum(c, *pairs), kOccupied * (kOccupied + 1) / 2); }};
  });
  expect_close("mp2 --machine trn2 --chips 1 --nocc 12 --naux 96 --nvir 80", run);
}

// Doubles in Exact, with as many moduli as the data ask for.
TEST(ScaleRuns, ExactProducts) {
  constexpr std::int64_t kOrder = 256;
  int moduli = 0;
  std::mutex mutex;
  const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const dist::BlockCyclic layout{kOrder, kOrder, kOrder / 2, kOrder / 4, {2, 4}};
    const auto a = matrix<double>(c, e, layout), b = matrix<double>(c, e, layout), m = matrix<double>(c, e, layout);
    a->fill([](std::int64_t i, std::int64_t j) { return std::sin(static_cast<double>(i * 131 + j)); });
    b->fill([](std::int64_t i, std::int64_t j) { return i == j ? 1.0 : 0.0; });
    (void)blas::gemm<double>(blas::Op::N, blas::Op::N, 1, *a, *b, 0, *m, {Mode::Exact});  // the executor is probed once
    return {[&, a, b, m] {
              const Accuracy accuracy = blas::gemm<double>(blas::Op::N, blas::Op::N, 1, *a, *b, 0, *m, {Mode::Exact});
              const std::scoped_lock lock(mutex);
              moduli = accuracy.passes;
            },
            [=] {  // Exact errs by a quarter of a rounding of what the norms allow, and a rounding
              const std::vector<double> got = m->to_host(), want = a->to_host();
              for (std::size_t i = 0; i < got.size(); ++i)
                ASSERT_NEAR(got[i], want[i], 1.25 * 0x1p-53 * std::sqrt(static_cast<double>(kOrder)));
            }};
  });
  // B's integers have a bit, which leaves 56 for those of A: four limbs.
  expect_close("gemm --dtype fp64 --machine trn2 --chips 1 --n 256 --limbs 4 --moduli " + std::to_string(moduli), run);
}

// The values that one rank makes, and a matrix in another distribution.
TEST(ScaleRuns, RandomNumbers) {
  constexpr std::int64_t kCount = 1 << 21;
  const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const auto x = std::make_shared<const dist::Array<float>>(c, e, dist::slabs({kCount}, 0, c.size()));
    return {[=] {
              rand::Generator generator({.seed = 7});
              rand::uniform(generator, *x);
            },
            [=] {
              const std::vector<float> got = x->to_host();
              std::vector<float> want(got.size());
              rand::Generator generator({.seed = 7});
              rand::uniform(Executor::host(), generator, View<float>(Executor::host(), want.data(), {kCount}));
              EXPECT_EQ(got, want);
            }};
  });
  expect_close("rand --machine trn2 --chips 1 --n " + std::to_string(kCount), run);
}
TEST(ScaleRuns, Redistribution) {
  static constexpr std::int64_t kOrder = 2048;
  const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const auto a = matrix<float>(c, e, {kOrder, kOrder, 512, 512, {2, 4}});
    a->fill([](std::int64_t i, std::int64_t j) { return static_cast<float>(i * kOrder + j); });
    const auto b = std::make_shared<std::optional<dist::Matrix<float>>>();
    return {[=] {
              b->emplace(a->redistributed({kOrder, kOrder, kOrder, 512, {1, c.size()}}));
            },
            [=] { EXPECT_EQ((*b)->to_host(), a->to_host()); }};
  });
  expect_close("redistribute --machine trn2 --chips 1 --n " + std::to_string(kOrder), run);
}

// k divided among two layers of four ranks.
TEST(ScaleRuns, ExactProductsInLayers) {
  static constexpr std::int64_t kOrder = 512, kDepth = 4096;
  int moduli = 0;
  std::mutex mutex;
  const double run = seconds_of("sim:trn2x8", [&](const Communicator& c, const Executor& e) -> Program {
    const auto a = matrix<double>(c, e, {kOrder, kDepth, kOrder / 2, kDepth / 4, {2, 4}}),
               b = matrix<double>(c, e, {kDepth, kOrder, kDepth / 2, kOrder / 4, {2, 4}}),
               m = matrix<double>(c, e, {kOrder, kOrder, kOrder / 2, kOrder / 2, {2, 2}});
    a->fill([](std::int64_t i, std::int64_t j) { return std::sin(static_cast<double>(i * 131 + j)); });
    b->fill([](std::int64_t i, std::int64_t j) { return i % kOrder == j ? 1.0 : 0.0; });
    const auto product = [=] {
      return blas::gemm<double>(blas::Op::N, blas::Op::N, 1, *a, *b, 0, *m, {Mode::Exact}, blas::Layers{2});
    };
    (void)product();  // the executor is probed once
    return {[&, product] {
              const Accuracy accuracy = product();
              const std::scoped_lock lock(mutex);
              moduli = accuracy.passes;
            },
            [=] {
              const std::vector<double> got = m->to_host();
              for (std::int64_t i = 0; i < kOrder; i += 37) {
                for (std::int64_t j = 0; j < kOrder; j += 41) {
                  double sum = 0;
                  for (std::int64_t p = j; p < kDepth; p += kOrder) sum += std::sin(static_cast<double>(i * 131 + p));
                  ASSERT_NEAR(got[static_cast<std::size_t>(i * kOrder + j)], sum,
                              0x1p-52 * std::sqrt(static_cast<double>(kDepth)) * std::sqrt(8.0));
                }
              }
            }};
  });
  // B's integers have a bit, which leaves 52 for those of A: three limbs.
  expect_close("gemm --dtype fp64 --machine trn2 --chips 1 --n 512 --k 4096 --layers 2 --limbs 3 --moduli " +
                   std::to_string(moduli),
               run);
}

// Ranks of two cores: four on the chip, with all of a stack each.
TEST(ScaleRuns, LogicalCoresOfTwo) {
  constexpr std::int64_t kRows = 1024, kDepth = 8192;
  const double run = seconds_of("sim:trn2x8:lnc2", [&](const Communicator& c, const Executor& e) -> Program {
    EXPECT_EQ(c.size(), 4);
    const auto a = matrix<float>(c, e, {kRows, kDepth, kRows / 2, 2048, {2, 2}}),
               b = matrix<float>(c, e, {kDepth, kRows, 2048, kRows / 2, {2, 2}}),
               m = matrix<float>(c, e, {kRows, kRows, kRows / 2, kRows / 2, {2, 2}});
    a->fill([](std::int64_t, std::int64_t) { return 1.f; });
    b->fill([](std::int64_t, std::int64_t) { return 1.f; });
    return {[=] { (void)blas::gemm<float>(blas::Op::N, blas::Op::N, 1, *a, *b, 0, *m); },
            [=] {
              for (const float x : m->to_host()) ASSERT_EQ(x, static_cast<float>(kDepth));
            }};
  });
  expect_close("gemm --machine trn2 --chips 1 --lnc 2 --n 1024 --k 8192", run);
}

}  // namespace
}  // namespace trn

// gemm and potrf of distributed matrices beside ScaLAPACK's pdgemm and pdpotrf, in one run by turns:
//
//   mpirun -np 4 dist_speed [block] [largest n]
//
// With one rank also beside the local operations: gemm in any shape, ordered_gemm, whose bits do not depend on it, and
// potrf.
//
// Wall seconds, the best of several turns, measured between barriers; the ratio is ScaLAPACK's time over ours.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/comm_mpi/mpi.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/dist_cholesky.hpp>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
             const int*, const int*, const double*, const int*, const int*, const int*, const double*, double*,
             const int*, const int*, const int*);
void pdpotrf_(const char*, const int*, double*, const int*, const int*, const int*, int*);
}

namespace {

using trn::Executor;
using trn::comm::Communicator;
using Matrix = trn::dist::Matrix<double>;

double number(std::int64_t i, std::int64_t j) {
  const auto x = static_cast<std::uint64_t>(i * 7919 + j * 104729) * 0x9E3779B97F4A7C15U;
  return static_cast<double>(x >> 11U) * 0x1p-52 - 1;
}

template <class F> double seconds(const Communicator& world, const F& f) {
  trn::comm::barrier(world);
  const auto begin = std::chrono::steady_clock::now();
  f();
  trn::comm::barrier(world);
  return trn::comm::maximum(world, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

// Time of the distributed operation over that of the local one, by turns.
void beside_local(const Communicator& world, const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& spd,
                  const Matrix& work, int turns) {
  const Executor host = Executor::host();
  const auto reset = [&] { trn::copy(trn::View<double>(spd.local()), trn::View<double>(work.local())); };
  double best[5] = {1e9, 1e9, 1e9, 1e9, 1e9};
  const auto least = [&](int at, const auto& f) { best[at] = std::min(best[at], seconds(world, f)); };
  using trn::MatrixView;
  const MatrixView<const double> x = a.local(), y = b.local();
  for (int turn = 0; turn < turns; ++turn) {
    least(0, [&] { trn::blas::gemm<double>(trn::Op::N, trn::Op::N, 1, a, b, 0, c); });
    least(1, [&] { trn::blas::ordered_gemm<double>(host, trn::Op::N, trn::Op::N, 1, x, y, 0, c.local()); });
    least(2, [&] { trn::blas::gemm(host, trn::Op::N, trn::Op::N, 1.0, x, y, 0.0, c.local()); });
    reset();
    least(3, [&] { (void)trn::solver::potrf<double>(trn::solver::Uplo::Lower, work); });
    reset();
    least(4, [&] { (void)trn::solver::potrf<double>(host, trn::solver::Uplo::Lower, work.local()); });
  }
  std::printf("n %lld, one rank: gemm over ordered_gemm %.3f, ordered_gemm over gemm %.3f, potrf over local %.3f\n",
              static_cast<long long>(a.rows()), best[0] / best[1], best[1] / best[2], best[3] / best[4]);
}

int run(const Communicator& world, std::int64_t block, std::int64_t largest) {
  const trn::dist::Grid grid = trn::dist::square_grid(world.size());
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", grid.rows, grid.columns);
  const Executor host = Executor::host();
  double logs[2] = {0, 0}, worst[2] = {1e9, 1e9};
  int sizes = 0;
  for (std::int64_t n = 1024; n <= largest; n += n < 2048 ? 512 : 1024, ++sizes) {
    const trn::dist::BlockCyclic layout{n, n, block, block, grid};
    const Matrix a(world, host, layout), b(world, host, layout), c(world, host, layout), spd(world, host, layout),
        work(world, host, layout);
    a.fill(number);
    b.fill([](std::int64_t i, std::int64_t j) { return number(j, i + 3); });
    spd.fill([n](std::int64_t i, std::int64_t j) {
      return i == j ? static_cast<double>(n) : number(std::max(i, j), std::min(i, j));
    });
    const int order = static_cast<int>(n), one = 1, nb = static_cast<int>(block),
              ld = std::max(1, static_cast<int>(a.local().rows()));
    const int descriptor[9] = {1, context, order, order, nb, nb, 0, 0, ld};
    const double unit = 1, zero = 0;
    const auto reset = [&] { trn::copy(trn::View<double>(spd.local()), trn::View<double>(work.local())); };
    double ours[2] = {1e9, 1e9}, theirs[2] = {1e9, 1e9};
    const int turns = n <= 2048 ? 15 : 7;
    for (int turn = 0; turn < turns; ++turn) {
      ours[0] =
          std::min(ours[0], seconds(world, [&] { trn::blas::gemm<double>(trn::Op::N, trn::Op::N, 1, a, b, 0, c); }));
      theirs[0] =
          std::min(theirs[0], seconds(world, [&] {
                     pdgemm_("N", "N", &order, &order, &order, &unit, a.local().data(), &one, &one, descriptor,
                             b.local().data(), &one, &one, descriptor, &zero, c.local().data(), &one, &one, descriptor);
                   }));
      reset();
      ours[1] = std::min(ours[1], seconds(world, [&] {
                           if (!trn::solver::potrf<double>(trn::solver::Uplo::Lower, work).outcome.ok()) std::abort();
                         }));
      reset();
      theirs[1] = std::min(theirs[1], seconds(world, [&] {
                             int info = 0;
                             pdpotrf_("L", &order, work.local().data(), &one, &one, descriptor, &info);
                             if (info != 0) std::abort();
                           }));
    }
    if (world.size() == 1) beside_local(world, a, b, c, spd, work, turns);
    const char* names[2] = {"gemm ", "potrf"};
    const double flops[2] = {2.0 * std::pow(static_cast<double>(n), 3), std::pow(static_cast<double>(n), 3) / 3};
    for (int k = 0; k < 2; ++k) {
      const double ratio = theirs[k] / ours[k];
      logs[k] += std::log(ratio);
      worst[k] = std::min(worst[k], ratio);
      if (world.rank() == 0)
        std::printf("%s np %d grid %d x %d block %3d n %4d: ours %6.1f GF/s, ScaLAPACK %6.1f GF/s, ratio %.2f\n",
                    names[k], world.size(), grid.rows, grid.columns, nb, order, 1e-9 * flops[k] / ours[k],
                    1e-9 * flops[k] / theirs[k], ratio);
    }
  }
  if (world.rank() == 0) {
    std::printf("geometric mean: gemm %.2f (least %.2f), potrf %.2f (least %.2f)\n", std::exp(logs[0] / sizes),
                worst[0], std::exp(logs[1] / sizes), worst[1]);
  }
  Cblacs_gridexit(context);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t block = argc > 1 ? std::atoll(argv[1]) : 128, largest = argc > 2 ? std::atoll(argv[2]) : 4096;
  return trn::comm::mpi_main(argc, argv, [&](const Communicator& world) { return run(world, block, largest); });
}

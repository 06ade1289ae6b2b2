// Poisson's equation on a grid whose unknowns lie on the ranks of a group: conjugate gradients with halo exchange,
// without and with multigrid over the ranks, and an ensemble of right-hand sides as replicas.
//
//   -Laplace(u) = f on n^3 interior points of the unit cube, u = 0 outside, seven-point differences
//
// f is made from a known u by the distributed product itself, so that the error of a solution is known; |u - solution|
// is at most the condition, about 4 (n + 1)^2 / (3 pi^2), times the residual. Everything that is printed has the same
// bits for every number of ranks but the line that counts them.
//
//   mpirun -np 2 60_distributed_poisson [--n 24] [--members 3]
#include <cmath>
#include <cstdio>
#include <vector>

#include <trn/comm/replicas.hpp>
#include <trn/comm_mpi/mpi.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/sparse/dist_amg.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spmm.hpp>

#include "arguments.hpp"

namespace {

using trn::comm::Communicator;
using trn::dist::Array;

// u at row i: a smooth wave and a part that changes from point to point.
double known(std::int64_t row) {
  const auto x = static_cast<double>(row);
  return std::sin(0.001 * x) + 0.1 * static_cast<double>(row * 7919 % 101 - 50) / 50;
}

double largest_error(const Communicator& world, const Array<double>& x) {
  double worst = 0;
  for (std::int64_t i = 0; i < x.local().size(); ++i)
    worst = std::max(worst, std::abs(x.local().data()[i] - known(x.local_begin()[0] + i)));
  return trn::comm::maximum(world, worst);
}

// A member of the ensemble: the mean of the solution for a random right-hand side, on one rank alone.
void member_of(const trn::sparse::Csr<double>& a, std::int64_t member, std::span<double> result) {
  const trn::comm::Communicator alone = trn::comm::Communicator::self();
  const trn::Executor host = trn::Executor::host();
  const trn::sparse::DistCsr<double> matrix(alone, a);
  const Array<double> b(alone, host, matrix.row_distribution()), x(alone, host, matrix.row_distribution());
  trn::rand::Generator generator({.seed = 7, .stream = static_cast<std::uint64_t>(member)});
  trn::rand::uniform(host, generator, b.local());
  const auto report = trn::sparse::cg(matrix, b, x, {.tolerance = 1e-10});
  for (const double v : x.to_host()) result[0] += v / static_cast<double>(a.rows());
  result[1] = report.ok() ? static_cast<double>(report.iterations) : -1;
}

int run(const Communicator& world, std::int64_t n, std::int64_t members) {
  const trn::Executor host = trn::Executor::host();
  const bool writes = world.rank() == 0;
  const trn::sparse::Csr<double> whole = trn::sparse::poisson<double>(n, n, n);
  const trn::sparse::DistCsr<double> a(world, whole);
  const Array<double> u(world, host, a.column_distribution()), f(world, host, a.row_distribution()),
      x(world, host, a.row_distribution());
  for (std::int64_t i = 0; i < u.local().size(); ++i) u.local().data()[i] = known(u.local_begin()[0] + i);
  trn::sparse::spmv<double>(1, a, u, 0, f);
  const std::int64_t halo = trn::comm::maximum(world, a.halo());
  if (writes)
    std::printf("%d ranks, up to %lld unknowns of others in one's rows\n", world.size(), static_cast<long long>(halo));
  if (writes)
    std::printf("%lld^3 unknowns, %lld entries\n", static_cast<long long>(n), static_cast<long long>(a.nnz()));
  const double condition = 4 * std::pow(static_cast<double>(n + 1) / M_PI, 2) / 3;
  bool right = true;
  std::int64_t plain = 0;
  const auto report = [&](const char* name, const trn::sparse::DistCgReport& r) {
    const double error = largest_error(world, x);
    const double limit = condition * r.residual * 1.2 * std::pow(static_cast<double>(n), 1.5);
    right = right && r.ok() && error <= limit;
    if (writes)
      std::printf("%-24s %4lld iterations, residual %.17g, largest error %.17g\n", name,
                  static_cast<long long>(r.iterations), r.residual, error);
  };
  const auto none = trn::sparse::cg(a, f, x, {.tolerance = 1e-10});
  plain = none.iterations;
  report("conjugate gradients", none);
  report("with block Jacobi", trn::sparse::cg(a, f, x, {.tolerance = 1e-10, .preconditioner = 8}));
  const trn::sparse::DistAmg<double> multigrid(world, whole);
  const auto quick = trn::sparse::cg(a, f, x, multigrid, {.tolerance = 1e-10});
  report("with multigrid", quick);
  right = right && 2 * quick.iterations < plain;

  const std::vector<double> ensemble = trn::comm::replicas<double>(
      world, members, 2, [&](std::int64_t member, std::span<double> result) { member_of(whole, member, result); });
  for (std::size_t m = 0; m < ensemble.size(); m += 2) {
    if (writes) std::printf("member %zu: mean %.17g, %g iterations\n", m / 2, ensemble[m], ensemble[m + 1]);
    right = right && ensemble[m] > 0 && ensemble[m + 1] > 0;
  }
  if (writes) std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Arguments arguments(argc, argv, {{"--n", "24"}, {"--members", "3"}});
  const std::int64_t n = arguments.whole("--n", 4, 200), members = arguments.whole("--members", 0, 100000);
  return trn::comm::mpi_main(argc, argv, [&](const Communicator& world) { return run(world, n, members); });
}

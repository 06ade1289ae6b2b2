// Complex 3-D transforms of double precision on the ranks of MPI, against FFTW-MPI (FFTW_MEASURE) in the same run, by
// turns:
//
//   mpirun -np 4 fft_mpi_speed [n ...]     edges of cubes; 128 192 256 unless said otherwise
//
// Two comparisons for each cube: results wherever they come out cheapest, with one exchange (FFTW_MPI_TRANSPOSED_OUT;
// slabs of the second dimension here), and results distributed as the input is. Seconds of a call are those of the
// slowest rank, the smallest of all rounds. The last line is the geometric mean of FFTW's time over ours.
#include <fftw3-mpi.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <trn/comm_mpi/mpi.hpp>
#include <trn/fft/dist_plan.hpp>

#include "../fft/bench/race.hpp"

namespace {

using C = std::complex<double>;
using trn::dist::Array;

double slowest(const std::function<void()>& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  call();
  double seconds = now() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

C value(std::ptrdiff_t i) {
  return {std::sin(0.37 * static_cast<double>(i % 10007)), std::cos(1.7 * static_cast<double>(i % 7919))};
}

struct Ratio {
  double ours, theirs;
};

// `natural`: the output is distributed as the input.
Ratio compare(const trn::comm::Communicator& world, std::ptrdiff_t n, bool natural) {
  const trn::Executor host = trn::Executor::host();
  const trn::Shape shape{n, n, n};
  const trn::dist::Boxes rows = trn::dist::slabs(shape, 0, world.size()),
                         columns = trn::dist::slabs(shape, 1, world.size());
  const trn::fft::DistPlan<double> plan(world, host,
                                        {trn::fft::Kind::ComplexToComplex, trn::fft::Direction::Forward, shape}, rows,
                                        natural ? rows : columns);
  const Array<C> in(world, host, plan.input_distribution()), out(world, host, plan.output_distribution());
  const std::ptrdiff_t first = in.local_begin()[0] * n * n;
  for (std::ptrdiff_t i = 0; i < in.local().size(); ++i) in.local().data()[i] = value(first + i);

  std::ptrdiff_t n0 = 0, begin = 0, m0 = 0, m_begin = 0;
  const std::ptrdiff_t lengths[] = {n, n, n};
  const std::ptrdiff_t count = fftw_mpi_local_size_many_transposed(
      3, lengths, 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK, MPI_COMM_WORLD, &n0, &begin, &m0, &m_begin);
  fftw_complex *a = fftw_alloc_complex(static_cast<std::size_t>(count)),
               *b = fftw_alloc_complex(static_cast<std::size_t>(count));
  const unsigned flags = FFTW_MEASURE | (natural ? 0u : FFTW_MPI_TRANSPOSED_OUT);
  const fftw_plan peer = fftw_mpi_plan_dft_3d(n, n, n, a, b, MPI_COMM_WORLD, FFTW_FORWARD, flags);
  for (std::ptrdiff_t i = 0; i < n0 * n * n; ++i) {
    const C z = value(begin * n * n + i);
    a[i][0] = z.real(), a[i][1] = z.imag();
  }
  Ratio best{1e30, 1e30};
  const double start = now();
  for (int round = 0, more = 1; more != 0; ++round) {
    best.ours = std::min(best.ours, slowest([&] { plan.execute(in, out); }));
    best.theirs = std::min(best.theirs, slowest([&] { fftw_execute(peer); }));
    more = round < 3 || (round < 40 && now() - start < 6) ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);  // all ranks leave after the same round
  }
  // The same numbers: those of rank 0, where both have rank 0's first plane.
  if (world.rank() == 0 && out.local().size() > 0) {
    double worst = 0;
    for (std::ptrdiff_t z = 0; z < n; ++z) {
      const C ours = out.local().data()[z], theirs{b[z][0], b[z][1]};
      worst = std::max(worst, std::abs(ours - theirs) / (1 + std::abs(theirs)));
    }
    if (worst > 1e-9) std::printf("results differ by %g\n", worst);
  }
  fftw_destroy_plan(peer);
  fftw_free(a);
  fftw_free(b);
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  return trn::comm::mpi_main(argc, argv, [&](const trn::comm::Communicator& world) {
    fftw_mpi_init();
    std::vector<std::ptrdiff_t> edges;
    for (int i = 1; i < argc; ++i) edges.push_back(std::atol(argv[i]));
    if (edges.empty()) edges = {128, 192, 256};
    double product = 1;
    int count = 0;
    for (const std::ptrdiff_t n : edges) {
      for (const bool natural : {false, true}) {
        const Ratio r = compare(world, n, natural);
        product *= r.theirs / r.ours;
        ++count;
        if (world.rank() == 0)
          std::printf("np %d, %td^3, output %s: %.2f ms, FFTW-MPI %.2f ms, ratio %.2f\n", world.size(), n,
                      natural ? "as the input" : "transposed  ", 1e3 * r.ours, 1e3 * r.theirs, r.theirs / r.ours);
      }
    }
    if (world.rank() == 0) std::printf("geometric mean: %.2f\n", std::pow(product, 1.0 / count));
    return 0;
  });
}

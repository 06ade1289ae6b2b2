// A sparse matrix that one process cannot hold, under mpirun: conjugate gradients with HPCG's matrix on SIDE^3 points,
// each rank with memory for MIB beyond what it has when it begins (0: no limit). Every rank makes its own rows. Prints
// the bits of the residual and of the solution.
//
//   dist_memory SIDE MIB
#include <sys/resource.h>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <string>

#include <trn/comm_mpi/mpi.hpp>
#include <trn/core/error.hpp>
#include <trn/sparse/dist_csr.hpp>

namespace {

using namespace trn;

// What the process has of its own, writable: what RLIMIT_DATA counts.
std::int64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kib = 0;
    if (word == "VmData:" && status >> kib) return kib << 10;
  }
  fail<DeviceError>("dist_memory: /proc/self/status has no VmData");
}

void limit_memory(std::int64_t mib) {
  if (mib == 0) return;
  const auto most = static_cast<rlim_t>(data_bytes() + (mib << 20));
  const rlimit limit{most, most};
  require(setrlimit(RLIMIT_DATA, &limit) == 0, "dist_memory: the limit of {} bytes is refused", most);
}

sparse::Csr<double, std::int64_t> rows_of(std::int64_t side, std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> rows, columns;
  std::vector<double> values;
  for (std::int64_t at = begin; at < begin + count; ++at) {
    const std::int64_t x = at % side, y = at / side % side, z = at / (side * side);
    for (std::int64_t k = std::max<std::int64_t>(0, z - 1); k <= std::min(side - 1, z + 1); ++k) {
      for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(side - 1, y + 1); ++j) {
        for (std::int64_t i = std::max<std::int64_t>(0, x - 1); i <= std::min(side - 1, x + 1); ++i) {
          const std::int64_t column = (k * side + j) * side + i;
          rows.push_back(at - begin);
          columns.push_back(column);
          values.push_back(column == at ? 26 : -1);
        }
      }
    }
  }
  return sparse::Csr<double, std::int64_t>::from_triplets(Executor::host(), {count, side * side * side},
                                                          {rows, columns, values});
}

int run(const comm::Communicator& world, std::int64_t side, std::int64_t mib) {
  limit_memory(mib);
  const std::int64_t n = side * side * side;
  const dist::Boxes cut = dist::block_rows(n, world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  const std::int64_t begin = me < cut.boxes.size() ? cut.boxes[me].begin[0] : 0,
                     count = me < cut.boxes.size() ? cut.boxes[me].extent[0] : 0;
  const sparse::DistCsr<double> a(world, {n, n}, comm::together(world, [&] { return rows_of(side, begin, count); }));
  const dist::Array<double> b(world, Executor::host(), a.row_distribution()),
      x(world, Executor::host(), a.row_distribution());
  for (std::int64_t i = 0; i < count; ++i) b.local().data()[i] = static_cast<double>((begin + i) % 7) - 3;
  const sparse::DistCgReport report = sparse::cg(a, b, x, {.tolerance = 1e-6});
  // In an order that does not know of ranks: words add up as integers.
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < count; ++i)
    hash += std::bit_cast<std::uint64_t>(x.local().data()[i]) * (2 * static_cast<std::uint64_t>(begin + i) + 1);
  hash = static_cast<std::uint64_t>(comm::sum(world, static_cast<std::int64_t>(hash)));
  if (world.rank() == 0) {
    fmt::print("bits {:016x} {:016x}\n", std::bit_cast<std::uint64_t>(report.residual), hash);
    fmt::print("{} ranks: {} non-zeros, {} iterations, {}\n", world.size(), a.nnz(), report.iterations,
               sparse::name(report.status));
  }
  return report.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return comm::mpi_main(argc, argv, [&](const comm::Communicator& world) {
    require(argc == 3, "dist_memory SIDE MIB");
    return run(world, std::atoll(argv[1]), std::atoll(argv[2]));
  });
}

// Grids, the library behind, the report.
#include "calls.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <trn/comm_mpi/mpi.hpp>

namespace trn::dropin::scalapack {

namespace {

using Grids = std::map<int, std::unique_ptr<BlacsGrid>>;
Grids& grids() {
  static auto* all = new Grids;  // never destroyed: MPI is at its end before the process is
  return *all;
}

template <class F> F function(const char* name) { return reinterpret_cast<F>(behind(name)); }

struct Counts {
  std::array<std::atomic<long>, kKindNames.size()> served{};
  std::atomic<long> passed_on{0};
};
Counts& counts();

void print_report() {
  std::string text;
  long total = 0;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    total += counts().served[i];
    text += fmt::format("{}{}: {}", i > 0 ? ", " : "", kKindNames[i], counts().served[i].load());
  }
  std::fprintf(stderr, "trnscalapack: served %ld calls (%s) on %s, passed on %ld\n", total, text.c_str(),
               settings().executor.name().c_str(), counts().passed_on.load());
}

Counts& counts() {
  static Counts* all = [] {
    if (settings().report) std::atexit(print_report);
    return new Counts;
  }();
  return *all;
}

// The processes of a context are not those of MPI_COMM_WORLD, and BLACS does not show its communicator of them: each
// puts its rank of the world into its place of the grid, and a sum over the context makes the list.
std::unique_ptr<BlacsGrid> make_grid(int context, int rows, int columns, int row, int column) {
  std::vector<int> ranks(static_cast<std::size_t>(rows * columns), 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks[static_cast<std::size_t>(row * columns + column)]);
  char scope[] = "All", topology[] = " ";
  const int size = rows * columns;
  function<void (*)(int, char*, char*, int, int, int*, int, int, int)>("Cigsum2d")(context, scope, topology, size, 1,
                                                                                   ranks.data(), size, -1, -1);
  MPI_Group world = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, size, ranks.data(), &members);
  MPI_Comm_create_group(MPI_COMM_WORLD, members, 7741, &comm);
  MPI_Group_free(&members);
  MPI_Group_free(&world);
  auto grid = std::make_unique<BlacsGrid>(BlacsGrid{comm::mpi(comm), rows, columns, row, column});
  MPI_Comm_free(&comm);
  return grid;
}

void forget(int context) { grids().erase(context); }

}  // namespace

const Environment& settings() {
  static const auto* all = [] {
    const auto* e = new Environment(read_environment("trnscalapack"));
    if (e->products.has_target()) {
      std::fprintf(stderr, "trnscalapack: TRN_PRECISION is a target; distributed operands take a mode\n");
      std::exit(2);
    }
    return e;
  }();
  return *all;
}

void* behind(const char* name) {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "trnscalapack: %s is not there: no ScaLAPACK is loaded behind this library\n", name);
    std::exit(2);
  }
  return found;
}

const BlacsGrid* grid_of(int context) {
  if (const auto found = grids().find(context); found != grids().end()) return found->second.get();
  int rows = -1, columns = -1, row = -1, column = -1;
  if (context < 0) return nullptr;
  function<void (*)(int, int*, int*, int*, int*)>("Cblacs_gridinfo")(context, &rows, &columns, &row, &column);
  if (rows < 1 || row < 0) return nullptr;
  return (grids()[context] = make_grid(context, rows, columns, row, column)).get();
}

void count(Kind kind) { ++counts().served[static_cast<std::size_t>(kind)]; }
void count_passed_on() { ++counts().passed_on; }

void end_job(const char* routine, const char* message) {
  std::fprintf(stderr, "trnscalapack: %s: %s\n", routine, message);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace trn::dropin::scalapack

// A context's number is used again after its end.
extern "C" __attribute__((visibility("default"))) void Cblacs_gridexit(int context) {
  using namespace trn::dropin::scalapack;
  forget(context);
  reinterpret_cast<void (*)(int)>(behind("Cblacs_gridexit"))(context);
}
extern "C" __attribute__((visibility("default"))) void blacs_gridexit_(const int* context) {
  using namespace trn::dropin::scalapack;
  forget(*context);
  reinterpret_cast<void (*)(const int*)>(behind("blacs_gridexit_"))(context);
}

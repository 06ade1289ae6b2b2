// What the transport costs: at one rank beside `self`, at two and more beside plain MPI calls, by turns, the best of
// several. Printed, not compared: a busy machine decides too much.
#include <chrono>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include "cases.hpp"

namespace trn::comm::ranks_test {

namespace {

double seconds_of(Transport& t, int repetitions, const std::function<void()>& f) {
  t.barrier();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repetitions;
}

void line(Transport& t, const char* what, std::int64_t bytes, const std::function<void()>& ours,
          const std::function<void()>& peer, const char* name) {
  const int repetitions = bytes > 1000000 ? 5 : 200;
  double best[2] = {1e9, 1e9};
  for (int turn = 0; turn < 9; ++turn) {
    best[0] = std::min(best[0], seconds_of(t, repetitions, ours));
    best[1] = std::min(best[1], seconds_of(t, repetitions, peer));
  }
  if (t.rank() != 0) return;
  fmt::print("{:<28} {:>10} bytes: {:>10.2f} us, {} {:>10.2f} us, ratio {:.2f}, {:.2f} GB/s\n", what, bytes,
             best[0] * 1e6, name, best[1] * 1e6, best[0] / best[1], static_cast<double>(bytes) / best[0] * 1e-9);
}

}  // namespace

void measure(const Communicator& world) {
  Transport& t = world.transport();
  const auto p = static_cast<std::size_t>(t.size());
  const auto self = Communicator::self();
  const std::vector<std::int64_t> values{1, 12, 0};
  for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{65536}, std::int64_t{1} << 25U}) {
    std::vector<char> a(static_cast<std::size_t>(bytes) * p, 1), b(a.size());
    const std::vector<std::int64_t> counts(p, bytes);
    std::vector<std::int64_t> offsets(p);
    for (std::size_t r = 0; r < p; ++r) offsets[r] = static_cast<std::int64_t>(r) * bytes;
    const auto all_to_all = [&](Transport& on) { on.all_to_all(a.data(), counts, offsets, b.data(), counts, offsets); };
    const int count = static_cast<int>(bytes);
    const auto checked = [&](Transport& on) {
      on.check({"broadcast", values});
      on.broadcast(0, a.data(), bytes);
    };
    if (p == 1) {
      Transport& s = self.transport();
      line(
          t, "check and broadcast", bytes, [&] { checked(t); }, [&] { checked(s); }, "self");
      line(
          t, "all_to_all", bytes, [&] { all_to_all(t); }, [&] { all_to_all(s); }, "self");
      continue;
    }
    line(
        t, "broadcast", bytes, [&] { t.broadcast(0, a.data(), bytes); },
        [&] { MPI_Bcast(a.data(), count, MPI_BYTE, 0, MPI_COMM_WORLD); }, "MPI_Bcast");
    line(
        t, "check and broadcast", bytes, [&] { checked(t); },
        [&] { MPI_Bcast(a.data(), count, MPI_BYTE, 0, MPI_COMM_WORLD); }, "MPI_Bcast");
    line(
        t, "all_gather", bytes, [&] { t.all_gather(a.data(), bytes, b.data()); },
        [&] { MPI_Allgather(a.data(), count, MPI_BYTE, b.data(), count, MPI_BYTE, MPI_COMM_WORLD); }, "MPI_Allgather");
    line(
        t, "all_to_all", bytes, [&] { all_to_all(t); },
        [&] { MPI_Alltoall(a.data(), count, MPI_BYTE, b.data(), count, MPI_BYTE, MPI_COMM_WORLD); }, "MPI_Alltoall");
  }
  line(
      t, "barrier", 0, [&] { t.barrier(); }, [&] { MPI_Barrier(MPI_COMM_WORLD); }, "MPI_Barrier");
}

}  // namespace trn::comm::ranks_test

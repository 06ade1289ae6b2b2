// What goes wrong with real processes. Rank 1 says "fault now" and does the wrong thing; the others work on. The driver
// (faults.py) looks at the time, the status and the lines that the job leaves behind.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include "cases.hpp"

namespace trn::comm::ranks_test {

namespace {

void broadcast(Transport& t, std::int64_t count) {
  std::vector<char> data(static_cast<std::size_t>(count));
  const std::vector<std::int64_t> values{count, 0};
  t.check({"broadcast", values});
  t.broadcast(0, data.data(), count);
}
void all_gather(Transport& t, std::int64_t count) {
  std::vector<char> data(static_cast<std::size_t>(count)), all(static_cast<std::size_t>(count * t.size()));
  const std::vector<std::int64_t> values{count};
  t.check({"all_gather", values});
  t.all_gather(data.data(), count, all.data());
}

}  // namespace

int fault(const Communicator& world, const std::string& name) {
  Transport& t = world.transport();
  broadcast(t, 100);
  const bool culprit = t.rank() == 1;
  if (culprit) fmt::print(stderr, "fault now\n");
  if (name == "none") return 0;
  if (name == "status") return culprit ? 3 : 0;
  if (culprit) {
    if (name == "exit") std::exit(0);
    if (name == "_exit") ::_exit(0);
    if (name == "return") return 0;
    if (name == "segv") std::raise(SIGSEGV);
    if (name == "abort") std::abort();
    if (name == "throw") throw DeviceError("out of memory on one rank");
    if (name == "mpi_abort") MPI_Abort(MPI_COMM_WORLD, 7);
    if (name == "stop") ::raise(SIGSTOP);
  }
  if (name == "parts") {  // two groups that wait for each other
    const auto part = t.split(t.rank() == 0 ? 0 : 1, 0);
    if (t.rank() == 0) {
      broadcast(t, 8);
    } else {
      all_gather(*part, 8);
      if (culprit) part->send_receive(-1, nullptr, 0, 1, std::vector<char>(8).data(), 8);
    }
  }
  if (name == "order") {  // long messages: each waits for the other's to be taken
    if (culprit) all_gather(t, 1000000);
    broadcast(t, 1000000);
    if (!culprit) all_gather(t, 1000000);
  }
  if (name == "short") broadcast(t, t.rank() == 0 ? 4 : 8);
  for (int i = 0; i < 3; ++i) broadcast(t, 1000);
  return 0;
}

}  // namespace trn::comm::ranks_test

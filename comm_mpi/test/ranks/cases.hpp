// What the test program under mpirun has: cases that every rank runs, and a count of comparisons. No GoogleTest: its
// output would come from all ranks at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <trn/comm_mpi/mpi.hpp>

namespace trn::comm::ranks_test {

struct Tally {
  std::int64_t compared = 0, wrong = 0;
  void expect(bool condition, const std::string& what, int rank) {
    ++compared;
    if (condition) return;
    if (++wrong <= 10) fmt::print(stderr, "WRONG on rank {}: {}\n", rank, what);
  }
};

// The transport's calls against brute force, for this limit of a message.
void transport_cases(const Communicator& world, std::int64_t chunk_bytes, Tally& tally);
// Collective operations, sums, distributed operands. Results that must have the same bits everywhere, by name.
using Results = std::map<std::string, std::uint64_t>;
[[nodiscard]] Results operation_cases(const Communicator& world, Tally& tally);
// Disagreements between ranks: all of them throw and go on.
void mismatch_cases(const Communicator& world, Tally& tally);
// One broadcast of 3 GB.
void large_case(const Communicator& world, Tally& tally);
// Rank 1 does the named wrong thing while the others work.
int fault(const Communicator& world, const std::string& name);
// The cost of a call beside plain MPI; printed.
void measure(const Communicator& world);

}  // namespace trn::comm::ranks_test

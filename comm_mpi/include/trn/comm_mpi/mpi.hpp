// Ranks that are processes: communicators over MPI. Only programs, tools and tests link this component; the libraries
// know comm::Communicator alone. <mpi.h> is not included here.
//
//   int main(int argc, char** argv) {
//     return trn::comm::mpi_main(argc, argv, [](const trn::comm::Communicator& world) { ...; return 0; });
//   }
//
// A program that has an MPI_Init of its own says comm::mpi() or comm::mpi(some_mpi_comm).
//
// Environment, read when a communicator is made:
//   TRN_COMM_CHECK     1 (default): what the ranks say about a collective operation is compared; 0: not
//   TRN_COMM_TIMEOUT   seconds that a rank waits for the others before the job is ended; 300 by default
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include <trn/comm/communicator.hpp>

namespace trn::comm {

struct MpiOptions {
  double watchdog_seconds = 0;                        // 0: TRN_COMM_TIMEOUT, or 300
  std::int64_t chunk_bytes = std::int64_t{1} << 30U;  // no message is larger: MPI counts in int. Smaller in tests
};

namespace detail {
// `handle` points to an MPI_Comm of `size` bytes; null: MPI_COMM_WORLD.
[[nodiscard]] Communicator mpi_of(const void* handle, std::size_t size, const MpiOptions& options);
}  // namespace detail

// Collective over MPI_COMM_WORLD, or over the MPI_Comm given: a group of its own (MPI_Comm_dup), whose messages never
// meet those of the program. MPI must be initialised, and calls must not come from two threads at once.
[[nodiscard]] inline Communicator mpi(const MpiOptions& options = {}) { return detail::mpi_of(nullptr, 0, options); }
template <class MpiComm>
requires(std::is_pointer_v<MpiComm> || std::is_integral_v<MpiComm>) [[nodiscard]] Communicator
    mpi(MpiComm comm, const MpiOptions& options = {}) {
  return detail::mpi_of(&comm, sizeof comm, options);
}

// Initialises MPI, runs the program on every rank, compares that all came to the end, and finalises MPI. The result is
// what the program returned. A rank that throws, calls exit() or gets a deadly signal prints one line with its number,
// the operation and the reason, and the whole job ends with a status that is not 0.
[[nodiscard]] int mpi_main(int argc, char** argv, const std::function<int(const Communicator&)>& program);

}  // namespace trn::comm

// Communicators over MPI, and their settings.
#include <trn/comm_mpi/mpi.hpp>

#include <cstring>

#include <trn/comm/settings.hpp>

#include "position.hpp"
#include "transport.hpp"

namespace trn::comm::detail {

Communicator mpi_of(const void* handle, std::size_t size, const MpiOptions& options) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  require(initialized != 0 && finalized == 0,
          "comm::mpi: MPI is not initialised; call MPI_Init_thread, or run the program by comm::mpi_main");
  require(handle == nullptr || size == sizeof(MPI_Comm), "comm::mpi: what was given is not an MPI_Comm");
  require(options.chunk_bytes > 0 && options.chunk_bytes <= INT32_MAX, "comm::mpi: chunk_bytes is {}: 1 to 2^31 - 1",
          options.chunk_bytes);
  require(options.watchdog_seconds >= 0, "comm::mpi: watchdog_seconds is {}", options.watchdog_seconds);
  MPI_Comm given = MPI_COMM_WORLD;
  // OpenMPI's MPI_Comm is a pointer, and it is the pointer that is meant.
  if (handle != nullptr) std::memcpy(&given, handle, sizeof given);  // NOLINT(bugprone-sizeof-expression)
  require(given != MPI_COMM_NULL, "comm::mpi: the MPI_Comm is MPI_COMM_NULL");
  MpiSettings settings;
  settings.limit_seconds = watchdog_seconds(options.watchdog_seconds);
  settings.check = compares_calls();
  settings.chunk_bytes = options.chunk_bytes;
  MPI_Comm_rank(MPI_COMM_WORLD, &position().world_rank);
  MPI_Comm own = MPI_COMM_NULL;
  require_success(MPI_Comm_dup(given, &own), "MPI_Comm_dup");
  const auto group = std::make_shared<MpiHandle>(own);
  return Communicator(std::make_shared<MpiTransport>(group, group, settings));
}

}  // namespace trn::comm::detail

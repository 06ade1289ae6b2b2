// Settings that every group of ranks takes from the environment, threads and MPI alike.
#pragma once

namespace trn::comm {

// Seconds that a rank waits for the others: `given`, or TRN_COMM_TIMEOUT where that is 0, or 300. Throws
// InvalidArgument where it is not a number above 0; more than 1e8 s, three years, are taken as that.
[[nodiscard]] double watchdog_seconds(double given);

// TRN_COMM_CHECK, 1 where it is not set: whether collective operations compare what the ranks say.
[[nodiscard]] bool compares_calls();

}  // namespace trn::comm

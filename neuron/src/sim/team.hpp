// A team of threads for the short loops of the simulator, one every few dozen microseconds. Work is handed out piece by
// piece and the caller works too: a team member that the operating system keeps waiting costs nothing, because the caller
// only waits for pieces that were started. (An OpenMP region waits for every thread at its end; on a busy machine that is
// milliseconds.)
#pragma once

#include <cstdint>
#include <functional>

namespace trn::neuron::sim {

// body(i) for i in [0, count), each exactly once, on up to omp_get_max_threads() threads; in the caller alone when another
// loop is under way. The first exception thrown by a body is rethrown.
void for_pieces(std::int64_t count, const std::function<void(std::int64_t)>& body);

}  // namespace trn::neuron::sim

// A team of threads for short loops, tens of microseconds each. Work is handed out piece by piece and the caller works
// too: a member that the operating system keeps waiting costs nothing, because the caller only waits for pieces that
// were started. Whoever waits sleeps after a few microseconds. (An OpenMP region waits for every thread at its end, and
// the idle threads of some runtimes spin for milliseconds; on a busy machine either costs more than the threads gain.)
//
// There is one team in a process. Loops of several callers at once, and loops within pieces, do not share it: the first
// has it, the others run in their callers alone, so threads are never more than the callers and the largest number
// asked for.
#pragma once

#include <cstdint>
#include <type_traits>

namespace trn {

// What for_pieces() calls: a callable's address and how to call it. Not an owner.
struct PieceBody {
  const void* object;
  void (*call)(const void* object, std::int64_t piece, int worker);
};
void run_pieces(std::int64_t count, int threads, PieceBody body);

// body(piece, worker) for every piece in [0, count), each exactly once, on up to `threads` threads. No two pieces run
// at the same time with the same worker, a number in [0, threads), so it can choose a piece of scratch; the caller is
// 0. After an exception no further piece begins, and the first one is thrown again.
template <class F> void for_pieces(std::int64_t count, int threads, const F& body) {
  run_pieces(count, threads, {&body, [](const void* f, std::int64_t piece, int worker) {
                                (*static_cast<const F*>(f))(piece, worker);
                              }});
}

}  // namespace trn

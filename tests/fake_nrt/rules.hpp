// Rules of the fake runtime: what it is, and which faults it plants. Words separated by blanks, in TRN_FAKE_NRT or
// given to trn_fake_reset(); faults end with a semicolon or the end of the text.
//
//   family=5 cores=8 memory=1GiB depth=2 lag=1 kernel_us=50 null any_machine lock=FILE
//   call=nrt_load nth=2 status=10; call=complete status=1003 count=3; call=nrt_execute nth=1 hang; call=complete crash
//
//   family       instance family (default 5: trn2); with any_machine programs of every machine run
//   cores        visible cores (default 8)
//   memory       bytes of one core's memory (default 16GiB)
//   depth        runs that the asynchronous queue of a core takes (default 64)
//   lag          how often nrta_is_completed says no before the run is done (default 1)
//   kernel_us    a run takes this long on a virtual clock, which host work and every question move on
//   null         runs do nothing
//   text         runs are the emitted text in the NumPy stand-in (tests/nki_standin), not the program on the simulator
//   zero         fresh memory is zero, as the simulator's, and not NaN
//   stuck        runs of the core with this number are never over, until the next release or reset
//   delay_us     a run takes this much wall time, asleep: for benchmarks
//   lock         a file: whoever has it has the cores
//   call, nth, count, status, hang, crash
//                from its nth call on (default 1), count times (default 1; 0: for ever), the function returns this
//                status and does nothing else. "complete" is the end of a run, synchronous or not
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nrt/declarations.hpp"

namespace fake {

struct Fault {
  std::string call;
  std::uint64_t nth = 1, count = 1;
  trn::neuron::nrt::Status status = 0;
  bool hang = false, crash = false;
};

struct Rules {
  std::uint32_t family = 5;
  int cores = 8;
  std::uint64_t memory = std::uint64_t{16} << 30;
  std::size_t depth = 64;
  int lag = 1, stuck = -1;
  double kernel_us = 0, delay_us = 0;
  bool null = false, any_machine = false, zero = false, text = false;
  std::string lock;
  std::vector<Fault> faults;
};

// Ends the process with a message when a word is not known: a rule that does nothing must not pass for one.
[[nodiscard]] Rules read_rules(const std::string& text);

}  // namespace fake

// Communication ahead of the programs that need it: in groups whose time is modelled, collective operations asked for
// in the scope of an Ahead take their time on a lane of their own, beside the programs that run meanwhile.
//
//   { const comm::Ahead ahead(group); fetch(next); }   // into other memory than `current` lies in
//   multiply(current);                                 // goes on at once
//   comm::arrive(group);                               // the clock waits for what was asked for
//
// Bytes move when they are asked for, whatever the transport; only modelled time is told apart. The lane is one for all
// groups of a rank: what is asked for later begins when the earlier is done. Nothing happens where time is not
// modelled.
#pragma once

#include <trn/comm/communicator.hpp>

namespace trn::comm {

class Ahead {
 public:
  explicit Ahead(const Communicator& group);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

 private:
  std::shared_ptr<RankClock> clock_;
};

// Not collective: this rank's clock goes on to where all that it asked for ahead has arrived.
void arrive(const Communicator& group);

}  // namespace trn::comm

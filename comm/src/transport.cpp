// exchange() of a transport that has no better one: the words travel first, and the answers to them back, so that both
// sides of a pair know whether they agree before any byte of data moves.
#include <trn/comm/transport.hpp>

namespace trn::comm {

void Transport::exchange(const Give& give, const Take& take) {
  std::uint64_t theirs = 0;
  send_receive(give.to, &give.says, sizeof give.says, take.from, &theirs, sizeof theirs);
  const std::uint8_t take_agrees = take.from < 0 || theirs == take.says ? 1 : 0;
  std::uint8_t give_agrees = 1;
  send_receive(take.from, &take_agrees, 1, give.to, &give_agrees, 1);
  send_receive(give_agrees ? give.to : -1, give.data, give.bytes, take_agrees ? take.from : -1, take.data, take.bytes);
  require(take_agrees != 0, "comm: rank {} sends rank {} something of another type or count than it expects", take.from,
          rank());
  require(give_agrees != 0, "comm: rank {} expects another type or count than rank {} sends", give.to, rank());
}

}  // namespace trn::comm

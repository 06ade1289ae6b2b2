// The errors of the drop-in TAPP. Numbers 1 to 12 are those of TAPP's reference implementation, which its tests ask
// for.
#pragma once

#include <string>

namespace trn::dropin::tapp {

enum class Error : int {
  None = 0,
  ExtentsAb = 1,
  ExtentsAd = 2,
  ExtentsBd = 3,
  NewLabelInD = 4,
  RankOfC = 5,
  LabelsOfC = 6,
  ExtentsOfC = 7,
  DOverlapsItself = 8,
  LabelTwiceInA = 9,
  LabelTwiceInB = 10,
  LabelTwiceInD = 11,
  NoC = 12,
  NegativeRank = 13,
  NegativeExtent = 14,
  BadValue = 15,  // an unknown type, precision or operator, or an address that is null
  NotThere = 16,  // valid in TAPP, without an implementation here
  Overlap = 17,   // D shares memory with an operand, or with C laid out in another way
  NoMemory = 18,
  Failed = 19
};

// Remembers, for this thread, what explain() adds to the text of the number.
Error say(Error error, std::string detail);
// The text of an error, with the detail of the last call of this thread that gave it.
[[nodiscard]] std::string explain(int error);

}  // namespace trn::dropin::tapp

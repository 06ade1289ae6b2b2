// The texts of errors.hpp, TAPP_check_success and TAPP_explain_error.
#include "errors.hpp"

#include <algorithm>
#include <cstring>

#include "tapp.hpp"

namespace trn::dropin::tapp {
namespace {

struct Last {
  int error = 0;
  std::string detail;
};
Last& last() {
  thread_local Last l;
  return l;
}

const char* text(Error error) {
  switch (error) {
    case Error::None:
      return "success";
    case Error::ExtentsAb:
      return "a label has other extents in A and in B";
    case Error::ExtentsAd:
      return "a label has other extents in A and in D";
    case Error::ExtentsBd:
      return "a label has other extents in B and in D";
    case Error::NewLabelInD:
      return "D has a label that neither A nor B has";
    case Error::RankOfC:
      return "C and D differ in their number of modes";
    case Error::LabelsOfC:
      return "C and D differ in their labels";
    case Error::ExtentsOfC:
      return "C and D differ in their extents";
    case Error::DOverlapsItself:
      return "two elements of D share memory";
    case Error::LabelTwiceInA:
      return "a label of A has two extents";
    case Error::LabelTwiceInB:
      return "a label of B has two extents";
    case Error::LabelTwiceInD:
      return "a label of D has two extents";
    case Error::NoC:
      return "C is null and beta is not zero";
    case Error::NegativeRank:
      return "the number of modes is negative";
    case Error::NegativeExtent:
      return "an extent is negative";
    case Error::BadValue:
      return "an argument has no meaning";
    case Error::NotThere:
      return "not implemented";
    case Error::Overlap:
      return "D shares memory with an operand";
    case Error::NoMemory:
      return "out of memory";
    case Error::Failed:
      return "the call failed";
  }
  return "not a number of an error";
}

}  // namespace

Error say(Error error, std::string detail) {
  last() = {static_cast<int>(error), std::move(detail)};
  return error;
}

std::string explain(int error) {
  std::string s = std::string("trntapp: ") + text(static_cast<Error>(error));
  if (error != 0 && last().error == error && !last().detail.empty()) s += ": " + last().detail;
  return s;
}

}  // namespace trn::dropin::tapp

bool TAPP_check_success(int error) { return error == 0; }

std::size_t TAPP_explain_error(int error, std::size_t maxlen, char* message) {
  const std::string s = trn::dropin::tapp::explain(error);
  if (maxlen == 0 || !message) return s.size();
  const std::size_t written = std::min(maxlen - 1, s.size());
  std::memcpy(message, s.data(), written);
  message[written] = '\0';
  return written;
}

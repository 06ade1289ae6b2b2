// CommError: a rank of a group is gone, did not arrive within the watchdog's limit, or failed in a way the others have
// to know. The message names the rank and the operation. The group is not usable afterwards.
#pragma once

#include <trn/core/error.hpp>

namespace trn::comm {

class CommError : public Error {
 public:
  CommError(const std::string& message, int rank) : Error(message), rank_(rank) {}
  // The rank that failed or is missing; -1 when that is not known.
  [[nodiscard]] int rank() const { return rank_; }

 private:
  int rank_;
};

}  // namespace trn::comm

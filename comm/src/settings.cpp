// The settings of groups of ranks: see settings.hpp.
#include <trn/comm/settings.hpp>

#include <algorithm>
#include <cstdlib>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

namespace trn::comm {

double watchdog_seconds(double given) {
  constexpr double kLongest = 1e8;
  if (given != 0) {
    require(given > 0, "comm: the watchdog's limit is {} s; it must be positive", given);
    return std::min(given, kLongest);
  }
  const std::string text = environment("TRN_COMM_TIMEOUT", "300");
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  require(end == text.c_str() + text.size() && seconds > 0, "TRN_COMM_TIMEOUT is '{}'; it must be seconds, above 0",
          text);
  return std::min(seconds, kLongest);
}

bool compares_calls() {
  const std::string text = environment("TRN_COMM_CHECK", "1");
  require(text == "0" || text == "1", "TRN_COMM_CHECK is '{}'; it must be 0 or 1", text);
  return text == "1";
}

}  // namespace trn::comm

// The environment: see environment.hpp.
#include <cstdlib>
#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

namespace trn {

std::string environment(const char* name, const char* otherwise) {
  const char* value = secure_getenv(name);
  return value && *value ? value : otherwise;
}

bool environment_flag(const char* name) {
  const std::string value = environment(name, "0");
  require(value == "0" || value == "1", "{} is '{}'; it must be 0 or 1", name, value);
  return value == "1";
}

}  // namespace trn

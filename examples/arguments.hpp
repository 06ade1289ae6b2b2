// The command line of the longer examples: "--key value" pairs, each key with a default. An unknown key or a missing
// value ends the program with a message that lists the keys. guarded() is the frame of main.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>

namespace example {

class Arguments {
 public:
  Arguments(int argc, char** argv, std::map<std::string, std::string> defaults) : values_(std::move(defaults)) {
    for (int i = 1; i < argc; i += 2) {
      const std::string key = argv[i];
      if (values_.count(key) == 0 || i + 1 == argc) {
        std::fprintf(stderr, "%s: %s %s; use", argv[0], key.c_str(),
                     values_.count(key) == 0 ? "is unknown" : "has no value");
        for (const auto& [known, value] : values_) std::fprintf(stderr, " %s [%s]", known.c_str(), value.c_str());
        std::fprintf(stderr, "\n");
        std::exit(2);
      }
      values_[key] = argv[i + 1];
    }
  }
  [[nodiscard]] const std::string& text(const std::string& key) const { return values_.at(key); }
  [[nodiscard]] double number(const std::string& key) const {
    char* end = nullptr;
    const double value = std::strtod(text(key).c_str(), &end);
    if (text(key).empty() || *end != '\0') refuse(key, "a number");
    return value;
  }
  // A whole number within [least, most].
  [[nodiscard]] std::int64_t whole(const std::string& key, std::int64_t least, std::int64_t most) const {
    char* end = nullptr;
    const std::int64_t value = std::strtoll(text(key).c_str(), &end, 10);
    if (text(key).empty() || *end != '\0' || value < least || value > most)
      refuse(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const std::string& wanted) const {
    std::fprintf(stderr, "%s %s: give %s\n", key.c_str(), text(key).c_str(), wanted.c_str());
    std::exit(2);
  }
  std::map<std::string, std::string> values_;
};

// The program's status; what it throws (an unknown executor, a request without a kernel) is printed, status 2. Output
// that could not be written (a full disk) is status 1.
template <class F> int guarded(const F& program) {
  try {
    const int status = program();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "standard output could not be written\n");
    return status == 0 ? 1 : status;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}

}  // namespace example

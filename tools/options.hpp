// The options of an operation, as its subcommands add them. A thin face of CLI11, so that only options.cpp and the
// files that make subcommands compile it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace trn::tools {

// The one way in which the command reads whole numbers: decimal digits after at most a minus sign, no leading zero
// (other programs read it as octal), in [least, most]. Anything else is an error that says these limits. The value it
// has already is the default that --help shows, unless it lies outside.
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int64_t& value, const std::string& help,
                         std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
CLI::Option* add_integer(CLI::App& app, const std::string& name, int& value, const std::string& help, int least,
                         int most);
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::uint64_t& value, const std::string& help);

class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  // A whole number as add_integer reads it.
  void number(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t least = 1,
              std::int64_t most = std::int64_t{1} << 30);
  void number(const std::string& name, int& value, const std::string& help, int least, int most);
  void number(const std::string& name, std::uint64_t& value, const std::string& help);
  // One or more of them.
  void numbers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help, std::int64_t least,
               std::int64_t most);
  // Any text, or one of `choices` where there are some. An empty default is not shown.
  void text(const std::string& name, std::string& value, const std::string& help,
            const std::vector<std::string>& choices = {});
  void flag(const std::string& name, bool& value, const std::string& help);
  [[nodiscard]] bool has(const std::string& name) const;

 private:
  CLI::App& app_;
};

}  // namespace trn::tools

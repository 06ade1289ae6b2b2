// The options of an operation, as its subcommands add them. A thin face of CLI11, so that only options.cpp and the
// files that make subcommands compile it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trn::tools {

class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  // A whole number in [least, most]. The value it has already is the default that --help shows, unless it lies outside.
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

// Subcommands and their options: a thin face of CLI11, so that only options.cpp and main.cpp compile it.
//
// Values are read strictly: what does not fit is refused with the limits, never saturated or cut.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace trn::tools {

inline constexpr std::int64_t kAnyCount = std::numeric_limits<std::int64_t>::max();

// What the option --json does in every command.
inline constexpr const char* kJsonHelp = "also write the numbers to this file; - prints them instead of the text";

// Values of --dtype and --precision that shells offer.
[[nodiscard]] const std::vector<std::string>& scalar_words();
[[nodiscard]] const std::vector<std::string>& precision_words();

// An option that was added, for what can be said about it afterwards.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}
  Option& required();
  Option& excludes(const Option& other);
  // What a shell may offer for the value, where it is not one of a fixed list.
  Option& completes(std::vector<std::string> words);
  // The value is the path of a file that the command reads: what it writes must be another file.
  Option& reads();
  [[nodiscard]] bool given() const;
  [[nodiscard]] std::string name() const;

 private:
  CLI::Option* option_;
};

// The options of a subcommand. A name is "--n", several spellings of one option "--n,--count" (help, completion and
// messages have the first), a word without dashes a positional argument. The value a variable has already is the
// default that --help shows; an empty text is not shown.
class Options {
 public:
  explicit Options(CLI::App& app) : app_(&app) {}

  // Whole numbers: decimal digits after at most a minus sign, no leading zero (other programs read it as octal), in
  // [least, most].
  Option number(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t least = 1,
                std::int64_t most = std::int64_t{1} << 30);
  Option number(const std::string& name, int& value, const std::string& help, int least, int most);
  Option number(const std::string& name, std::uint64_t& value, const std::string& help);
  // One or more of them, separated by commas or spaces.
  Option numbers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help,
                 std::int64_t least, std::int64_t most);
  // A finite number in [least, most].
  Option real(const std::string& name, double& value, const std::string& help,
              double least = -std::numeric_limits<double>::max(), double most = std::numeric_limits<double>::max());
  // Any text, or one of `choices` where there are some.
  Option text(const std::string& name, std::string& value, const std::string& help,
              const std::vector<std::string>& choices = {});
  // One or more texts, separated by commas.
  Option texts(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Option flag(const std::string& name, bool& value, const std::string& help);
  // A simulated machine: `--exec sim:trn2`, also accepted as `--machine trn2`; `value` is its name, "trn2".
  Option machine(std::string& value);
  // --explain: legends are said, see `legend` in output.hpp.
  Option explain();
  [[nodiscard]] bool has(const std::string& name) const;
  // All options with their values as a command line has them, defaults too, without those of `left_out`.
  [[nodiscard]] std::string line(const std::vector<std::string>& left_out) const;

 protected:
  CLI::App* app_;
};

// A command of the program: options, what it runs, and its subcommands.
class Command : public Options {
 public:
  explicit Command(CLI::App& app) : Options(app) {}
  [[nodiscard]] Command add(const std::string& name, const std::string& summary);
  // One of the subcommands has to follow; `what` names their kind in errors: "operation".
  void needs_one(const std::string& what);
  void run(std::function<void()> body);  // after files that are read and written were compared
};

// Reads words that are not the program's own arguments, as of a line of a file, with the commands that `fill` adds; the
// chosen command runs. Mistakes are InvalidArgument.
void parse_words(const std::vector<std::string>& words, const std::function<void(Command&)>& fill);

// Help of at most 80 columns, for the program and the commands added after this.
void wrap_help(CLI::App& program);

// What went wrong while the arguments were read, in one line that names the subcommand's own --help.
[[nodiscard]] std::string explain(const CLI::App& program, const CLI::ParseError& error);

}  // namespace trn::tools

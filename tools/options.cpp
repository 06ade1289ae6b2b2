// Options and commands over CLI11.
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/tile/machine.hpp>

#include "completion.hpp"
#include "near_names.hpp"
#include "output.hpp"

namespace trn::tools {

namespace {

// "--n" of "--n,--count", "--output" of "-o,--output".
std::string first_name(const std::string& names) {
  const std::size_t begin = names.starts_with('-') && !names.starts_with("--") ? names.find(',') + 1 : 0;
  return names.substr(begin, names.find(',', begin) - begin);
}

std::string shown(const std::string& word) { return word.empty() ? "''" : printable(word); }

template <class T> T parse(const std::string& name, const std::string& word, T least, T most) {
  const std::size_t digits = word.starts_with('-') ? 1 : 0;
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool plain = word.size() > digits && (word[digits] != '0' || word == "0");
  if (!plain || error != std::errc() || end != word.data() + word.size() || value < least || value > most) {
    throw CLI::ValidationError(fmt::format("{} {}; give a decimal whole number from {} to {}, without leading zeros",
                                           first_name(name), shown(word), least, most));
  }
  return value;
}

double parse_real(const std::string& name, const std::string& word, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool read = error == std::errc() && end == word.data() + word.size() && std::isfinite(value);
  if (read && value >= least && value <= most) return value;
  const double largest = std::numeric_limits<double>::max();
  std::string limits;
  if (least > -largest) limits += fmt::format(" from {:g}", least);
  if (most < largest) limits += fmt::format(" to {:g}", most);
  throw CLI::ValidationError(
      fmt::format("{} {}; give a finite number{}, like 0.5 or 1e-3", first_name(name), shown(word), limits));
}

// What --help says of the values: the limits, where they are not those of 64 bits.
template <class T> std::string range(T least, T most) {
  if (most == std::numeric_limits<T>::max()) return least < 0 ? "INT" : fmt::format("INT >= {}", least);
  return fmt::format("INT in [{} - {}]", least, most);
}

template <class T>
Option add(CLI::App& app, const std::string& name, T& value, const std::string& help, T least, T most) {
  CLI::Option* option = app.add_option(
      name,
      [name, &value, least, most](const CLI::results_t& words) {
        value = parse<T>(name, words.front(), least, most);
        return true;
      },
      help, false, [&value] { return std::to_string(value); });
  option->type_name(range(least, most));
  if (value >= least && value <= most) option->capture_default_str();
  return Option(*option);
}

void check_choice(const std::string& name, const std::string& word, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return;
  throw CLI::ValidationError(fmt::format("{} {}; choose one of {}{}", first_name(name), shown(word),
                                         fmt::join(choices, ", "), choices.size() > 8 ? meant(word, choices) : ""));
}

// The words of one or several arguments, each of which may hold several separated by commas.
std::vector<std::string> separated(const CLI::results_t& words) {
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    std::size_t begin = 0;
    for (std::size_t comma = word.find(','); comma != std::string::npos; comma = word.find(',', begin)) {
      parts.push_back(word.substr(begin, comma - begin));
      begin = comma + 1;
    }
    parts.push_back(word.substr(begin));
  }
  return parts;
}

// What shells offer for options without a fixed list.
std::map<const CLI::Option*, std::vector<std::string>>& offers() {
  static std::map<const CLI::Option*, std::vector<std::string>> all;
  return all;
}

// Options that are paths of files to read; those of files to write have these names in every command.
std::set<const CLI::Option*>& inputs() {
  static std::set<const CLI::Option*> all;
  return all;
}
constexpr const char* kOutputs[] = {"output", "json", "html", "trace", "svg", "timeline"};

// No command writes over a file that it was given to read.
void keep_inputs(const CLI::App& command) {
  std::vector<std::pair<std::string, std::string>> read, written;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    if (inputs().contains(option)) {
      read.emplace_back(option->get_name(option->get_positional()), option->results().front());
    } else if (std::any_of(std::begin(kOutputs), std::end(kOutputs), [&](auto n) { return option->check_lname(n); })) {
      written.emplace_back("--" + option->get_lnames().front(), option->results().front());
    }
  }
  for (const auto& files : {read, written}) {
    for (const auto& [name, path] : files)
      require(path == "-" || !path.starts_with('-'),
              "{} {}: an option where a file was expected; a file of this name is ./{}", name, path, path);
  }
  for (const auto& in : read)
    for (const auto& out : written) require_different_files({in, out});
}

// What a command's subcommands are called, where it needs one.
std::map<const CLI::App*, std::string>& kinds() {
  static std::map<const CLI::App*, std::string> all;
  return all;
}

// "; see x", or after a question that begins with its own semicolon "See x".
std::string then(const std::string& question, std::string advice) {
  if (question.empty()) return "; " + advice;
  advice.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(advice.front())));
  return question + " " + advice;
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::completes(std::vector<std::string> words) {
  offers()[option_] = std::move(words);
  return *this;
}

const std::vector<std::string>& scalar_words() {
  static const std::vector<std::string> words{"fp32", "fp64", "complex64", "complex128"};
  return words;
}

const std::vector<std::string>& precision_words() {
  static const std::vector<std::string> words{"native", "tf32", "bf16", "tf32x3", "bf16x6", "exact", "target="};
  return words;
}

Option& Option::reads() {
  inputs().insert(option_);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

std::string Option::name() const { return option_->get_name(); }

Option Options::number(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t least,
                       std::int64_t most) {
  return tools::add(*app_, name, value, help, least, most);
}

Option Options::number(const std::string& name, int& value, const std::string& help, int least, int most) {
  return tools::add(*app_, name, value, help, least, most);
}

Option Options::number(const std::string& name, std::uint64_t& value, const std::string& help) {
  return tools::add(*app_, name, value, help, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
}

Option Options::numbers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help,
                        std::int64_t least, std::int64_t most) {
  CLI::Option* option = app_->add_option(
      name,
      [name, &values, least, most](const CLI::results_t& words) {
        values.clear();
        for (const std::string& word : separated(words)) values.push_back(parse(name, word, least, most));
        return true;
      },
      help, false, [&values] { return fmt::format("{}", fmt::join(values, ",")); });
  option->type_name(range(least, most))
      ->expected(CLI::detail::expected_max_vector_size)  // one or more, and all of them are taken
      ->take_all()
      ->capture_default_str();
  return Option(*option);
}

Option Options::real(const std::string& name, double& value, const std::string& help, double least, double most) {
  CLI::Option* option = app_->add_option(
      name,
      [name, &value, least, most](const CLI::results_t& words) {
        value = parse_real(name, words.front(), least, most);
        return true;
      },
      help, false, [&value] { return fmt::format("{}", value); });
  option->type_name("NUMBER")->capture_default_str();
  return Option(*option);
}

Option Options::text(const std::string& name, std::string& value, const std::string& help,
                     const std::vector<std::string>& choices) {
  CLI::Option* option = app_->add_option(
      name,
      [name, &value, choices](const CLI::results_t& words) {
        if (!choices.empty()) check_choice(name, words.front(), choices);
        if (words.front().empty()) {
          throw CLI::ValidationError(first_name(name) + " is empty; give it a value" +
                                     (name.starts_with('-') ? ", or leave it out" : ""));
        }
        value = words.front();
        return true;
      },
      help, false, [&value] { return value; });
  option->type_name(choices.empty() ? "TEXT" : fmt::format("{{{}}}", fmt::join(choices, ",")));
  if (!value.empty()) option->capture_default_str();
  return Option(*option);
}

Option Options::texts(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  CLI::Option* option = app_->add_option(
      name,
      [name, &values](const CLI::results_t& words) {
        values = separated(words);
        if (std::find(values.begin(), values.end(), "") != values.end()) {
          throw CLI::ValidationError(fmt::format("{} has an empty name; separate names by one comma", name));
        }
        return true;
      },
      help, false, [&values] { return fmt::format("{}", fmt::join(values, ",")); });
  option->type_name("TEXT,...")->expected(CLI::detail::expected_max_vector_size)->take_all();
  if (!values.empty()) option->capture_default_str();
  return Option(*option);
}

Option Options::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(*app_->add_flag(name, value, help));
}

Option Options::machine(std::string& value) {
  std::vector<std::string> names;
  for (const tile::Machine& m : tile::machines()) names.emplace_back(m.name);
  CLI::Option* option = app_->add_option(
      "--exec,--machine",
      [&value, names](const CLI::results_t& words) {
        const std::string& word = words.front();
        const std::string name = word.starts_with("sim:") ? word.substr(4) : word;
        check_choice("--exec or --machine", name, names);
        value = name;
        return true;
      },
      "the machine: sim:trn1, sim:trn2 or sim:trn3", false, [&value] { return "sim:" + value; });
  option->type_name("TEXT")->capture_default_str();
  std::vector<std::string> words;
  for (const std::string& name : names) words.push_back("sim:" + name);
  return Option(*option).completes(std::move(words));
}

Option Options::explain() { return flag("--explain", explained(), "say what the columns mean"); }

std::string Options::line(const std::vector<std::string>& left_out) const {
  std::string words;
  for (const CLI::Option* option : app_->get_options()) {
    const std::string name = option->get_name(option->get_positional());
    const bool wanted =
        option != app_->get_help_ptr() && std::find(left_out.begin(), left_out.end(), name) == left_out.end();
    if (!wanted) continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    if (is_flag && option->count() > 0) words += " " + name;
    const std::string value =
        option->count() > 0 ? fmt::format("{}", fmt::join(option->results(), ",")) : option->get_default_str();
    if (is_flag || value.empty()) continue;
    words += option->get_positional() ? "" : " " + name;
    words += " " + shell_word(value);
  }
  return words;
}

namespace {

// CLI11's help with lines of at most 80 columns and one spelling of each option: further long names are for old scripts
// and for those who come from another command.
class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional || option->get_lnames().empty()) return CLI::Formatter::make_option_name(option, is_positional);
    std::string name;
    for (const std::string& one : option->get_snames()) name += "-" + one + ",";
    return name + "--" + option->get_lnames().front();
  }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode), result;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      const std::size_t indent = line.starts_with(' ') ? get_column_width() : 2;  // where descriptions begin
      for (const std::string& one : wrapped(line, kColumns, indent)) result += one + "\n";
      at = end + 1;
    }
    return result;
  }
};

}  // namespace

void wrap_help(CLI::App& program) { program.formatter(std::make_shared<WrappedHelp>()); }

bool Options::has(const std::string& name) const { return app_->get_option_no_throw(name) != nullptr; }

Command Command::add(const std::string& name, const std::string& summary) {
  return Command(*app_->add_subcommand(name, summary));
}

void Command::needs_one(const std::string& what) {
  app_->require_subcommand(1);
  kinds()[app_] = what;
}

void Command::run(std::function<void()> body) {
  app_->callback([app = app_, body = std::move(body)] {
    keep_inputs(*app);
    body();
  });
}

void parse_words(const std::vector<std::string>& words, const std::function<void(Command&)>& fill) {
  CLI::App app{"", "trnsci emit"};  // whose help lists these words
  Command root(app);
  fill(root);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& e) {
    throw InvalidArgument(e.get_exit_code() == 0 ? "'--help' is not for here" : explain(app, e));
  }
}

std::vector<std::string> completions(const CLI::App& program, const std::vector<std::string>& words) {
  const std::string typed = words.empty() ? "" : words.back();
  const CLI::App* at = &program;
  const CLI::Option* open = nullptr;  // an option whose value comes next
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (open != nullptr) {
      open = nullptr;
      continue;
    }
    if (words[i].starts_with('-')) {
      const CLI::Option* option = at->get_option_no_throw(words[i]);
      if (option != nullptr && option->get_items_expected_max() > 0) open = option;
      continue;
    }
    for (const CLI::App* sub : at->get_subcommands({})) {
      if (sub->get_name() == words[i]) {
        at = sub;
        break;
      }
    }
  }
  std::vector<std::string> all;
  if (open != nullptr) {
    const std::string type = open->get_type_name();
    const auto offered = offers().find(open);
    if (type.starts_with('{') && type.ends_with('}')) {
      all = separated({type.substr(1, type.size() - 2)});
    } else if (offered != offers().end()) {
      all = offered->second;
    } else if (open->check_lname("exec")) {
      all = Executor::known();
    }
    const std::size_t comma = typed.rfind(',');  // one of several
    if (type.ends_with(",...") && comma != std::string::npos) {
      for (std::string& word : all) word.insert(0, typed, 0, comma + 1);
    }
  } else if (typed.starts_with('-')) {
    for (const CLI::Option* option : at->get_options()) {
      if (!option->get_lnames().empty()) all.push_back("--" + option->get_lnames().front());
    }
  } else {
    for (const CLI::App* sub : at->get_subcommands({})) all.push_back(sub->get_name());
  }
  std::erase_if(all, [&](const std::string& word) { return !word.starts_with(typed); });
  return all;
}

std::string explain(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* at = &program;  // the subcommand that was reached
  std::string path = program.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  const std::string reached = at == &program ? "" : path.substr(program.get_name().size() + 1);
  const std::string prefix = reached.empty() ? "" : reached + ": ";
  const std::string help = fmt::format("'{} --help'", path);
  std::string unknown;  // an option before any other word: the word may be its value
  const std::vector<std::string> remaining = at->remaining();
  for (const std::string& word : remaining) {
    if (unknown.empty() || (word.starts_with('-') && !unknown.starts_with('-'))) unknown = word;
  }
  // Words that a command further up did not know, because they stand before the name of the last one.
  if (unknown.empty()) {
    for (const CLI::App* above = &program; above != at; above = above->get_subcommands().front()) {
      for (const std::string& word : above->remaining()) {
        if (!word.starts_with('-') || word == "--") continue;
        const bool known = at->get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
        return fmt::format("{}'{}' {}; see {}", prefix, printable(word),
                           known ? fmt::format("stands in the wrong place; options follow '{}', without '--'", reached)
                                 : std::string("was not expected"),
                           help);
      }
    }
  }
  if (unknown.starts_with('-')) {
    unknown = unknown.substr(0, unknown.find('='));
    std::vector<std::string> names;
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return fmt::format("{}there is no option '{}'{}", prefix, printable(unknown),
                       then(meant(unknown, names), "see " + help));
  }
  std::vector<std::string> commands;
  for (const CLI::App* sub : at->get_subcommands({})) commands.push_back(sub->get_name());
  const auto kind = kinds().find(at);
  const std::string what = kind != kinds().end() ? kind->second : "command";
  const std::string list = commands.size() <= 16 ? fmt::format("choose one of {}", fmt::join(commands, ", "))
                                                 : fmt::format("{} lists all {} of them", help, commands.size());
  if (!unknown.empty() && !commands.empty()) {
    const bool vowel = std::string_view("aeio").find(what.front()) != std::string_view::npos;
    return fmt::format("{}'{}' is not {} {}{}", prefix, printable(unknown), vowel ? "an" : "a", what,
                       then(meant(unknown, commands), list));
  }
  if (!unknown.empty()) return fmt::format("{}'{}' was not expected; see {}", prefix, printable(unknown), help);
  if (!commands.empty() && error.get_name() == "RequiredError") {
    return fmt::format("{}which {}?{}", prefix, what, then(" ", list).substr(1));
  }
  if (!remaining.empty()) return fmt::format("{}an empty word was not expected; see {}", prefix, help);
  std::string text = error.what();
  if (error.get_name() == "ArgumentMismatch") {
    const bool many = text.find("At Most") != std::string::npos;
    text = text.substr(0, text.find(':')) + (many ? " is given more than once" : " lacks its value");
  }
  return fmt::format("{}{}{} {}", prefix, text, text.ends_with('?') ? " See" : "; see", help);
}

}  // namespace trn::tools

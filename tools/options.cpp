// Options over CLI11.
#include "options.hpp"

#include <charconv>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

namespace trn::tools {

namespace {

template <class T> T parse(const std::string& name, const std::string& word, T least, T most) {
  const std::size_t digits = word.starts_with('-') ? 1 : 0;
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool plain = word.size() > digits && (word[digits] != '0' || word == "0");
  if (!plain || error != std::errc() || end != word.data() + word.size() || value < least || value > most) {
    throw CLI::ValidationError(fmt::format("{} {}; give a decimal whole number from {} to {}, without leading zeros",
                                           name, word, least, most));
  }
  return value;
}

// What --help says of the values: the limits, where they are not those of 64 bits.
template <class T> std::string range(T least, T most) {
  if (most == std::numeric_limits<T>::max()) return least < 0 ? "INT" : fmt::format("INT >= {}", least);
  return fmt::format("INT in [{} - {}]", least, most);
}

template <class T>
CLI::Option* add(CLI::App& app, const std::string& name, T& value, const std::string& help, T least, T most) {
  CLI::Option* option = app.add_option(
      name,
      [name, &value, least, most](const CLI::results_t& words) {
        value = parse<T>(name, words.front(), least, most);
        return true;
      },
      help, false, [&value] { return std::to_string(value); });
  option->type_name(range(least, most));
  if (value >= least && value <= most) option->capture_default_str();
  return option;
}

}  // namespace

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int64_t& value, const std::string& help,
                         std::int64_t least, std::int64_t most) {
  return add(app, name, value, help, least, most);
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, int& value, const std::string& help, int least,
                         int most) {
  return add(app, name, value, help, least, most);
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::uint64_t& value, const std::string& help) {
  return add(app, name, value, help, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
}

void Options::number(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t least,
                     std::int64_t most) {
  add_integer(app_, name, value, help, least, most);
}

void Options::number(const std::string& name, int& value, const std::string& help, int least, int most) {
  add_integer(app_, name, value, help, least, most);
}

void Options::number(const std::string& name, std::uint64_t& value, const std::string& help) {
  add_integer(app_, name, value, help);
}

void Options::numbers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help,
                      std::int64_t least, std::int64_t most) {
  app_.add_option(
          name,
          [name, &values, least, most](const CLI::results_t& words) {
            values.clear();
            for (const std::string& word : words) values.push_back(parse(name, word, least, most));
            return true;
          },
          help, false, [&values] { return fmt::format("{}", fmt::join(values, " ")); })
      ->type_name(range(least, most))
      ->expected(CLI::detail::expected_max_vector_size)  // one or more, and all of them are taken
      ->take_all()
      ->capture_default_str();
}

void Options::text(const std::string& name, std::string& value, const std::string& help,
                   const std::vector<std::string>& choices) {
  CLI::Option* option = app_.add_option(name, value, help);
  if (!choices.empty()) option->check(CLI::IsMember(choices));
  if (!value.empty()) option->capture_default_str();
}

void Options::flag(const std::string& name, bool& value, const std::string& help) { app_.add_flag(name, value, help); }

bool Options::has(const std::string& name) const { return app_.get_option_no_throw(name) != nullptr; }

}  // namespace trn::tools

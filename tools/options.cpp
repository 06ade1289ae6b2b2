// Options over CLI11.
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace trn::tools {

namespace {

template <class T>
void add_number(CLI::App& app, const std::string& name, T& value, const std::string& help, T least, T most) {
  CLI::Option* option = app.add_option(name, value, help)->check(CLI::Range(least, most));
  if (value >= least && value <= most) option->capture_default_str();
}

}  // namespace

void Options::number(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t least,
                     std::int64_t most) {
  add_number(app_, name, value, help, least, most);
}

void Options::number(const std::string& name, int& value, const std::string& help, int least, int most) {
  add_number(app_, name, value, help, least, most);
}

void Options::number(const std::string& name, std::uint64_t& value, const std::string& help) {
  app_.add_option(name, value, help)->capture_default_str();
}

void Options::numbers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help,
                      std::int64_t least, std::int64_t most) {
  app_.add_option(name, values, help)->check(CLI::Range(least, most))->capture_default_str();
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

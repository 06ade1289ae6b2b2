// Tables, units and files for the command line.
#include "output.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>

namespace trn::tools {

namespace {

std::string& command_line() {
  static std::string line;
  return line;
}

}  // namespace

void Table::print() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      line += i == 0 ? fmt::format("{:<{}}", rows_[r][i], widths[i]) : fmt::format("  {:>{}}", rows_[r][i], widths[i]);
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    if (r == 0) fmt::print("{}\n", std::string(line.size(), '-'));
  }
}

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} us", seconds * 1e6);
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string bytes(double count) {
  for (const char* unit : {"B", "KiB", "MiB"}) {
    if (count < 1024) return fmt::format("{:.{}f} {}", count, unit[0] == 'B' ? 0 : 1, unit);
    count /= 1024;
  }
  return fmt::format("{:.1f} GiB", count);
}

void remember_command_line(int count, const char* const* arguments) {
  command_line() = "trnsci";
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return c >= 128 || std::isalnum(c) != 0 || std::strchr("-_./:=,+@%", c) != nullptr;
    });
    std::string quoted;  // as a shell takes it: 'don'\''t'
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    command_line() += plain ? " " + word : " '" + quoted + "'";
  }
}

JsonFile::JsonFile(const std::string& path) : to_output_(path == "-") {
  if (!path.empty() && !to_output_) file_ = std::make_unique<OutputFile>("--json", path);
}

void JsonFile::write(nlohmann::ordered_json json) {
  if (!file_ && !to_output_) return;
  const auto sign = [](nlohmann::ordered_json& object) {
    object["version"] = TRN_VERSION;
    object["command"] = command_line();
  };
  if (json.is_array()) {
    for (nlohmann::ordered_json& row : json) sign(row);
  } else {
    sign(json);
  }
  // Bytes of file names that are not UTF-8 are replaced, not refused.
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (to_output_) {
    fmt::print("{}", text);
    return;
  }
  file_->write(text);
  file_->commit();
}

}  // namespace trn::tools

// Tables, units and files for the command line.
#include "output.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>

#include "machine_json.hpp"

namespace trn::tools {

namespace {

std::string& remembered() {
  static std::string line;
  return line;
}

}  // namespace

const std::string& command_line() { return remembered(); }

std::string duration(double seconds) {
  if (seconds < 0) return "-" + duration(-seconds);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (seconds >= 1e-7 || seconds <= 0) return fmt::format("{:.2f} us", seconds * 1e6);
  return fmt::format("{:.2f} ns", seconds * 1e9);
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string bytes(double count) {
  for (const char* unit : {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (count < 1024) return fmt::format("{:.{}f} {}", count, unit[0] == 'B' ? 0 : 1, unit);
    count /= 1024;
  }
  return fmt::format("{:.1f} EiB", count);
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return c >= 128 || std::isalnum(c) != 0 || std::strchr("-_./:=,+@%", c) != nullptr;
  });
  if (plain) return word;
  std::string quoted = "'";  // 'don'\''t'
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

void remember_command_line(int count, const char* const* arguments) {
  remembered() = "trnsci";
  for (int i = 1; i < count; ++i) remembered() += " " + shell_word(arguments[i]);
}

namespace {

// Where a write to `path` goes: links are followed, also those that point to nothing yet.
std::filesystem::path written_at(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path at = fs::absolute(path, error);
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(at, error)); ++links) {
    const fs::path to = fs::read_symlink(at, error);
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  return fs::weakly_canonical(at, error);
}

}  // namespace

void require_different_files(const std::vector<std::pair<std::string, std::string>>& outputs) {
  namespace fs = std::filesystem;
  const auto none = [](const std::string& path) { return path.empty() || path == "-"; };
  for (auto a = outputs.begin(); a != outputs.end(); ++a) {
    for (auto b = std::next(a); b != outputs.end(); ++b) {
      if (none(a->second) || none(b->second)) continue;
      std::error_code error;
      const bool links = fs::is_regular_file(a->second, error) && fs::equivalent(a->second, b->second, error);
      require(!links && written_at(a->second) != written_at(b->second), "{} and {} name the same file '{}'; give two",
              a->first, b->first, b->second);
    }
  }
}

JsonFile::JsonFile(const std::string& path) : to_output_(path == "-") {
  if (path.empty() || to_output_) return;
  path_ = path;
  const OutputFile claim("--json", path);
}

void JsonFile::write(nlohmann::ordered_json json) {
  if (path_.empty() && !to_output_) return;
  const auto sign = [](nlohmann::ordered_json& object) {
    object["version"] = TRN_VERSION;
    object["command"] = command_line();
    add_machine(object);
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
  OutputFile file("--json", path_);
  file.write(text);
  file.commit();
}

}  // namespace trn::tools

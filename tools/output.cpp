// Tables, units and files for the command line.
#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <trn/core/error.hpp>

namespace trn::tools {

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

void write_file(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    const std::string reason = std::strerror(errno);
    std::remove(partial.c_str());
    fail<InvalidArgument>("cannot write '{}': {}; choose a path in a folder that exists and is writable", path, reason);
  }
  std::filesystem::rename(partial, path);
}

void write_json(const std::string& path, const nlohmann::ordered_json& json) { write_file(path, json.dump(2) + "\n"); }

}  // namespace trn::tools

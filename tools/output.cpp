// Tables, units and files for the command line.
#include "output.hpp"

#include <algorithm>
#include <cstdio>

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

JsonFile::JsonFile(const std::string& path) {
  if (!path.empty()) file_ = std::make_unique<OutputFile>("--json", path);
}

void JsonFile::write(const nlohmann::ordered_json& json) {
  if (!file_) return;
  file_->write(json.dump(2) + "\n");
  file_->commit();
}

}  // namespace trn::tools

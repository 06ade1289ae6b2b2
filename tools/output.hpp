// Plain tables on standard output, JSON files, and numbers as people read them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace trn::tools {

// Columns as wide as their widest cell; the first column left-aligned, the others right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

[[nodiscard]] std::string duration(double seconds);  // "1.80 ms"
[[nodiscard]] std::string percent(double fraction);  // "97.1 %"
[[nodiscard]] std::string bytes(double count);       // "32.0 MiB"

// Throws InvalidArgument when the path cannot be written; a file that was there before is then untouched.
void write_file(const std::string& path, const std::string& text);
void write_json(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace trn::tools

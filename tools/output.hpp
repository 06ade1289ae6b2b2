// Plain tables on standard output, JSON files, and numbers as people read them.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <trn/core/output_file.hpp>

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

// Progress on standard error. One that is closed or full does not end the work.
template <class... Args> void progress(fmt::format_string<Args...> text, Args&&... args) {
  std::fputs(fmt::format(text, std::forward<Args>(args)...).c_str(), stderr);
}

[[nodiscard]] std::string duration(double seconds);  // "1.80 ms"
[[nodiscard]] std::string percent(double fraction);  // "97.1 %"
[[nodiscard]] std::string bytes(double count);       // "32.0 MiB"

// Keeps the arguments of the program, for JsonFile.
void remember_command_line(int count, const char* const* arguments);

// A JSON file that is claimed before the work starts, so that a bad path costs nothing, and appears whole at the end.
// An empty path: no file; "-": standard output, in the place of the text. The object, or each object of an array, gets
// the keys "version" and "command", the line that repeats it.
class JsonFile {
 public:
  explicit JsonFile(const std::string& path);
  [[nodiscard]] bool replaces_text() const { return to_output_; }
  void write(nlohmann::ordered_json json);

 private:
  bool to_output_;
  std::unique_ptr<OutputFile> file_;
};

}  // namespace trn::tools

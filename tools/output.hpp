// Text and tables of at most 80 columns on standard output, JSON files, and numbers as people read them.
//
// Colours where standard output is a terminal, TERM is not "dumb" and NO_COLOR is not set (https://no-color.org).
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <trn/core/output_file.hpp>

namespace trn::tools {

inline constexpr std::size_t kColumns = 80;

// Columns that a text takes: characters of UTF-8, not bytes.
[[nodiscard]] std::size_t width(std::string_view text);
// Lines of at most `columns`, cut between words; each line after the first begins with `indent` spaces. A word that
// does not fit stands alone.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0);

// A paragraph on standard output, wrapped; lines after the first are set in by two, or as far as the first and two.
void say_text(std::string_view text);
template <class... Args> void say(fmt::format_string<Args...> text, Args&&... args) {
  say_text(fmt::format(text, std::forward<Args>(args)...));
}

// What a table's columns mean: said with --explain alone (Options::explain sets `explained`).
[[nodiscard]] bool& explained();
template <class... Args> void legend(fmt::format_string<Args...> text, Args&&... args) {
  if (explained()) say_text(fmt::format(text, std::forward<Args>(args)...));
}

// Columns as wide as their widest cell; the first column left-aligned, the others right. Columns that say nothing in
// any row are left out. A table wider than 80 columns says once above what is the same in all its rows; then it wraps
// its first column, or its last; then its last columns follow as a second table with the same first column.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Names what is under way: on a terminal, standard error shows it with the elapsed time once that is over two seconds.
class Stage {
 public:
  explicit Stage(const std::string& name);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  void rename(const std::string& name);  // the time goes on

 private:
  struct Ticker;
  std::unique_ptr<Ticker> ticker_;
};

// Progress on standard error. One that is closed or full does not end the work.
void progress_text(const std::string& text);
template <class... Args> void progress(fmt::format_string<Args...> text, Args&&... args) {
  progress_text(fmt::format(text, std::forward<Args>(args)...));
}

[[nodiscard]] std::string duration(double seconds);  // "1.80 ms"
[[nodiscard]] std::string percent(double fraction);  // "97.1 %"
[[nodiscard]] std::string bytes(double count);       // "32.0 MiB": room; data that move are "33.55 MB" (bytes_text)

// Keeps the arguments of the program, for JsonFile and pages.
void remember_command_line(int count, const char* const* arguments);
[[nodiscard]] const std::string& command_line();
// A word as a shell takes it, quoted where it must be.
[[nodiscard]] std::string shell_word(const std::string& word);

// Throws InvalidArgument where two of the files that a command writes are one, also by links. Pairs of option and path;
// empty paths and "-" count as no file.
void require_different_files(const std::vector<std::pair<std::string, std::string>>& outputs);

// A JSON file whose path is tried before the work starts, so that a bad one costs nothing, and that appears whole at
// the end: a command that is stopped in between leaves neither it nor a part of it.
// An empty path: no file; "-": standard output, in the place of the text. The object, or each object of an array, gets
// the keys "version" and "command", the line that repeats it, and what machine_json.hpp says of its machine.
class JsonFile {
 public:
  explicit JsonFile(const std::string& path);
  [[nodiscard]] bool replaces_text() const { return to_output_; }
  void write(nlohmann::ordered_json json);

 private:
  bool to_output_;
  std::string path_;
};

}  // namespace trn::tools

// OutputFile: a text file that appears whole or not at all. Text goes to a temporary name beside the path; commit()
// renames it into place, and without commit() the destructor removes it. All trouble is InvalidArgument with the path
// and the system's reason.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace trn {

class OutputFile {
 public:
  // `operation` opens every error message.
  OutputFile(std::string operation, const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  template <class... Args> void print(fmt::format_string<Args...> text, Args&&... args) {
    line_.clear();
    fmt::format_to(std::back_inserter(line_), text, std::forward<Args>(args)...);
    write({line_.data(), line_.size()});
  }
  void commit();

 private:
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string operation_;
  std::string path_;       // as the caller wrote it
  std::string target_;     // what path_ links to
  std::string temporary_;  // empty once committed
  std::size_t place_ = 0;  // among the names that remove_partial_files() knows
  std::FILE* file_ = nullptr;
  fmt::memory_buffer line_;
};

// Removes the temporary files that are open now, as many as are remembered (32). Only calls that a signal handler may
// make: for programs that end by a signal, after which no destructor runs.
void remove_partial_files() noexcept;

}  // namespace trn

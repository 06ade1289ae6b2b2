// Running the trnsci command from a test, as a shell would.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace trn::integration {

struct Result {
  int status;          // as a shell sees it: 128 + n for a process that signal n ended
  std::string output;  // what the command line wrote to standard output
};

// The last command of a shell's line decides the status.
inline Result shell(const std::string& line) {
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  Result r{-1, {}};
  std::array<char, 4096> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) r.output.append(part.data(), n);
  const int status = pclose(pipe);
  r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return r;
}

inline Result trnsci(const std::string& arguments, const std::string& redirect = "2>&1",
                     const std::filesystem::path& folder = ".") {
  return shell("cd " + folder.string() + " && " + TRNSCI_COMMAND + " " + arguments + " " + redirect);
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
inline std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace trn::integration

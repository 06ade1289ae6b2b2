// Lines that name device programs: see operation_line.hpp.
#include "operation_line.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <trn/core/error.hpp>
#include <trn/tile/serialize.hpp>

#include "input_file.hpp"
#include "operation.hpp"

namespace trn::tools {

std::vector<tile::Program> programs_of_line(const std::string& line, const tile::Machine& machine) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (!words.empty() && words.front() == "file") {
    const std::size_t at = line.find_first_not_of(" \t", line.find("file") + 4);
    require(at != std::string::npos, "'file' lacks the path of a saved program");
    return {tile::load(line.substr(at, line.find_last_not_of(" \t\r") + 1 - at))};
  }
  const auto all = operations();
  const bool known =
      std::any_of(all.begin(), all.end(), [&](const auto& o) { return !words.empty() && o->name() == words[0]; });
  if (!known) words.resize(std::min<std::size_t>(words.size(), 1));  // its options would be complained of first
  const Operation* chosen = nullptr;
  std::int64_t step = 0;
  parse_words(words, [&](Command& root) {
    root.needs_one("operation");
    for (const auto& operation : all) {
      Command sub = root.add(operation->name(), operation->summary());
      operation->add_options(sub);
      add_step(sub, step);
      sub.run([&chosen, own = operation.get()] { chosen = own; });
    }
  });
  ensure(chosen != nullptr, "no operation in '{}'", line);
  std::vector<tile::Program> result;
  for (const Step& s : steps(*chosen, machine, step)) result.push_back(*s.program);
  return result;
}

std::vector<Line> read_lines(const std::string& path) {
  std::vector<Line> result;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      if (file.path().extension() == ".json") result.push_back({"file " + file.path().string(), 0});
    }
    std::sort(result.begin(), result.end(), [](const Line& a, const Line& b) { return a.text < b.text; });
    require(!result.empty(), "--list: the folder '{}' holds no saved program (*.json)", path);
    return result;
  }
  require_readable("--list", path);
  std::ifstream in(path);
  require(in.good(), "--list: '{}' cannot be read; give a file with one operation per line, or a folder of programs",
          path);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    result.push_back({line, number});
  }
  require(!in.bad(), "--list: '{}' cannot be read", path);
  require(!result.empty(), "--list: '{}' names no operation; write one per line, such as: blas.gemm --m 512 --n 512",
          path);
  return result;
}

}  // namespace trn::tools

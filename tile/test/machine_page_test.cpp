// docs/adding-a-machine.md is true: it names files that exist and every file that lists the machines, and each of those
// lists has all of them.
#include <trn/tile/fabric.hpp>
#include <trn/tile/host_link.hpp>
#include <trn/tile/machine.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "test_paths.hpp"

namespace trn::tile {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(std::string(TRN_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The first column of the table, row by row.
std::vector<std::set<std::string>> rows() {
  std::vector<std::set<std::string>> found;
  std::istringstream lines(text_of("docs/adding-a-machine.md"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cell(line.substr(0, line.find('|', 1)));
    std::set<std::string> files;
    int at = 0;
    for (std::string part; std::getline(cell, part, '`'); ++at) {
      if (at % 2 == 1) files.insert(part);
    }
    found.push_back(files);
  }
  return found;
}

bool names(const std::string& text, std::string_view machine) {
  // In a literal: "trn2", "sim:trn2" or a sentence of a help text; trn2u is another name.
  return std::regex_search(text, std::regex("\"[^\"\n]*" + std::string(machine) + "\\b[^\"\n]*\""));
}

TEST(MachinePage, NamesFilesThatExist) {
  ASSERT_GE(rows().size(), 10U);
  for (const auto& files : rows()) {
    for (const std::string& file : files) EXPECT_FALSE(text_of(file).empty()) << file;
  }
}

TEST(MachinePage, EveryMachineHasAFabric) {
  for (const Machine& m : machines()) {
    EXPECT_EQ(fabric(m.name).machine, m.name);
    EXPECT_EQ(fabric(m.name).cores_per_chip, m.cores_per_chip) << m.name;
    EXPECT_GT(host_bytes_per_s(fabric(m.name)).value, 0) << m.name;
    EXPECT_TRUE(host_bytes_per_s(fabric(m.name)).source.starts_with("[")) << m.name;
  }
}

TEST(MachinePage, EveryListHasEveryMachine) {
  for (const auto& files : rows()) {
    for (const std::string& file : files) {
      if (file.ends_with("nki/instruction.cpp") || file.find("silicon_choices") != std::string::npos) continue;
      if (file.ends_with(".txt")) continue;  // a test of its own reads it
      for (const Machine& m : machines()) EXPECT_TRUE(names(text_of(file), m.name)) << file << ": " << m.name;
    }
  }
}

TEST(MachinePage, NoOtherFileListsMachines) {
  std::set<std::string> listed;
  for (const auto& files : rows()) listed.insert(files.begin(), files.end());
  listed.insert("tile/include/trn/tile/fabric.hpp");  // comments
  int lists = 0;
  for (const char* folder : {"core", "tile", "neuron", "blas", "fft", "rand", "solver", "sparse", "tensor", "comm",
                             "comm_mpi", "capi", "dropin", "python", "apps", "tools", "docs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TRN_SOURCE_DIR) / folder)) {
      const std::string path = fs::relative(entry.path(), TRN_SOURCE_DIR).generic_string();
      const std::string kind = entry.path().extension();
      if (!entry.is_regular_file() || (kind != ".cpp" && kind != ".hpp" && kind != ".py")) continue;
      if (path.find("/test/") != std::string::npos || path.find("/bench/") != std::string::npos) continue;
      if (path.find("/validation/") != std::string::npos) continue;  // published figures, each of one machine
      const std::string text = text_of(path);
      if (!names(text, machines().front().name) || !names(text, machines().back().name)) continue;
      ++lists;
      EXPECT_TRUE(listed.contains(path)) << path << " lists machines and is not in docs/adding-a-machine.md";
    }
  }
  EXPECT_GE(lists, 10);
}

}  // namespace
}  // namespace trn::tile

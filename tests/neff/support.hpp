// What the tests of compiled programs share: small programs, folders that go away, toolchains with rules.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <trn/core/error.hpp>
#include <trn/tile/builder.hpp>

#include "neff/neff.hpp"

namespace trn::neuron::neff::testing {

namespace fs = std::filesystem;

// y = factor * x: another factor, another program.
inline tile::Program scale(int factor, const char* machine = "trn2") {
  tile::Builder b("scale", tile::machine(machine));
  const auto x = b.input("x", DType::Float32, {128, 16});
  const auto y = b.output("y", DType::Float32, {128, 16});
  const auto t = b.sbuf("t", 128, {16}, DType::Float32);
  b.dma_copy(t, x);
  b.tensor_scalar(t, t, tile::AluOp::Multiply, static_cast<double>(factor));
  b.dma_copy(y, t);
  return b.finish();
}

// The same in place.
inline tile::Program scale_in_place(int factor) {
  tile::Builder b("scale_in_place", tile::machine("trn2"));
  const auto x = b.input("x", DType::Float32, {128, 16});
  const auto y = b.output_over("x_out", x);
  const auto t = b.sbuf("t", 128, {16}, DType::Float32);
  b.dma_copy(t, x);
  b.tensor_scalar(t, t, tile::AluOp::Multiply, static_cast<double>(factor));
  b.dma_copy(y, t);
  return b.finish();
}

class Folder {
 public:
  Folder() {
    // In memory where that is possible: entries are synced to disk before they appear, which here only costs time.
    const fs::path base = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    std::string name = (base / "trn_neff_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// A toolchain with rules, as fake_toolchain.cpp has them. Each has a path of its own: versions are asked once per path.
inline std::string toolchain(const fs::path& folder, const std::string& rules, const std::string& name = "toolchain") {
  const fs::path path = folder / name;
  write(path, "#!/bin/sh\nTRN_FAKE_TOOLCHAIN='" + rules + "' exec " TRN_FAKE_TOOLCHAIN_PROGRAM " \"$@\"\n");
  chmod(path.c_str(), 0755);
  return path.string();
}

inline Options options(const fs::path& cache, const std::string& python = TRN_FAKE_TOOLCHAIN_PROGRAM) {
  Options o;
  o.cache = cache;
  o.python = python;
  return o;
}

// The id of the DeviceError that f throws and its text; "" when it throws none.
template <class F> std::pair<std::string, std::string> error_of(F f) {
  try {
    f();
  } catch (const DeviceError& e) {
    return {e.check(), e.what()};
  }
  return {};
}

// Entries of a cache, by the path of their folder.
inline std::vector<fs::path> entries(const fs::path& cache) {
  std::vector<fs::path> result;
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    if (!fs::exists(cache / machine)) continue;
    for (const auto& start : fs::directory_iterator(cache / machine)) {
      for (const auto& child : fs::directory_iterator(start.path())) {
        if (child.is_directory()) result.push_back(child.path());
      }
    }
  }
  return result;
}

}  // namespace trn::neuron::neff::testing

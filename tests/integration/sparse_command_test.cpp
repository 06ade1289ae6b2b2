// `trnsci sparse`, `bench sparse.*` and `coverage sparse` as a user meets them.
#include "command.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using trn::integration::has, trn::integration::Result, trn::integration::trnsci;

class SparseCommand : public ::testing::Test {
 protected:
  fs::path folder_ = fs::temp_directory_path() / ("trnsci_sparse_" + std::to_string(getpid()));
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "a.mtx")
        << "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 1 -1\n2 2 4\n3 3 4\n";
    std::ofstream(folder_ / "bad.mtx") << "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4\n";
  }
  void TearDown() override { fs::remove_all(folder_); }
};

TEST_F(SparseCommand, InfoSaysWhatAMatrixLooksLike) {
  const Result r = trnsci("sparse info a.mtx --json - --html a.html", "2>&1", folder_);
  ASSERT_EQ(r.status, 0) << r.output;
  const auto j = nlohmann::json::parse(r.output);
  EXPECT_EQ(j["rows"], 3);
  EXPECT_EQ(j["nnz"], 5);
  EXPECT_EQ(j["symmetric"], true);
  EXPECT_EQ(j["lower_bandwidth"], 1);
  EXPECT_EQ(j["orderings"].size(), 3U);
  EXPECT_EQ(j["orderings"][0]["blocks"], 1);
  EXPECT_GT(fs::file_size(folder_ / "a.html"), 500U);
  for (const auto& device : j["devices"]["trn2"]) {
    EXPECT_GT(device["break_even_fill"].get<double>(), 0);
    EXPECT_NE(device["tiles"] == 0, device["diagonals"] == 0);
  }
  const std::string text = trnsci("sparse info a.mtx", "2>&1", folder_).output;
  EXPECT_TRUE(has(text, "symmetric"));
  EXPECT_TRUE(has(text, "quicker"));
}

TEST_F(SparseCommand, BenchHasRowsForEveryOperation) {
  for (const char* operation : {"spmv", "spmm", "spgemm", "sddmm", "spsv", "csr2csc", "read"}) {
    const Result r = trnsci(std::string("bench sparse.") + operation + " --matrix a.mtx --repeats 2 --json out.json",
                            "2>&1", folder_);
    ASSERT_EQ(r.status, 0) << r.output;
    const auto row = nlohmann::json::parse(std::ifstream(folder_ / "out.json"))[0];
    EXPECT_EQ(row["shape"]["nnz"], 5) << operation;
    EXPECT_GT(row["seconds"].get<double>(), 0);
    if (row["error"].is_number()) {
      EXPECT_LE(row["error"].get<double>(), row["bound"].get<double>());
    }
  }
}

TEST_F(SparseCommand, RefusesInOneLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"sparse info bad.mtx", "ends after 1 of 4 entries"},
      {"sparse info nowhere.mtx", "cannot open"},
      {"bench sparse.spmv --generate cube:3", "'cube' is unknown"},
      {"bench sparse.spmv --matrix a.mtx --dtype fp64 --exec sim:trn2", "devices take --dtype fp32"},
      {"bench sparse.spmv --matrix a.mtx --dtype int8", "not offered"},
      {"bench sparse.read", "--matrix FILE"},
      {"emit sparse.csr2csc", "has no device kernel"},
  };
  for (const auto& [arguments, part] : cases) {
    const Result r = trnsci(arguments, "2>&1", folder_);
    EXPECT_EQ(r.status, 2) << arguments;
    EXPECT_TRUE(has(r.output, part)) << r.output;
    EXPECT_EQ(trn::integration::lines(r.output), 1) << r.output;
  }
}

TEST_F(SparseCommand, CoverageNamesHostAndDevices) {
  const Result r = trnsci("coverage sparse");
  ASSERT_EQ(r.status, 0);
  EXPECT_TRUE(has(r.output, "| SpMV, SpMM | s d c z | s | s | s |")) << r.output;
  EXPECT_TRUE(has(r.output, "| AMG | s d c z | - | - | - |")) << r.output;
}

}  // namespace

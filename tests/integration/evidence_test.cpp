// `trnsci evidence`: every library has its flagship, shares of time are shares, and no order changed a bit.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace {

TEST(Evidence, EveryLibraryAndNoOrderChangesABit) {
  const std::string command = std::string(TRNSCI_COMMAND) + " evidence --seeds 2 --json - 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ASSERT_EQ(pclose(pipe), 0);
  const nlohmann::json rows = nlohmann::json::parse(text);
  std::set<std::string> libraries;
  int threads = 0, ranks = 0;
  for (const nlohmann::json& row : rows) {
    const std::string name = row["name"];
    libraries.insert(name.substr(0, name.find('.')));
    double sum = 0;
    for (const double share : row["engines_busy"]) {
      EXPECT_GE(share, 0) << name;
      sum += share;
    }
    EXPECT_EQ(row["engines_busy"].size(), 5u);
    EXPECT_NEAR(sum, 1, 1e-9) << name;
    EXPECT_LT(row["engines_busy"][0].get<double>(), 0.7) << name;  // launches are small beside the work
    EXPECT_GT(row["transfers"].get<double>(), 0) << name;
    EXPECT_EQ(row["shuffled_orders"]["runs"], 2) << name;
    for (const char* what : {"shuffled_orders", "host_threads", "ranks"}) {
      if (row.contains(what)) {
        EXPECT_EQ(row[what]["runs"], row[what]["same_bits"]) << name << what;
      }
    }
    threads += row.contains("host_threads"), ranks += row.contains("ranks");
  }
  EXPECT_EQ(libraries, (std::set<std::string>{"blas", "fft", "rand", "solver", "sparse", "tensor"}));
  EXPECT_GE(threads, 4);
  EXPECT_EQ(ranks, 7);
}

}  // namespace

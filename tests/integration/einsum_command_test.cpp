// `trnsci einsum`, `bench tensor.*` and `coverage tensor` as a user meets them.
#include "command.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <fstream>
#include <iterator>

namespace {

using trn::integration::has, trn::integration::lines, trn::integration::Result, trn::integration::trnsci;

TEST(EinsumCommand, ExplainsItsSteps) {
  const Result r = trnsci("einsum 'ijk,kl->lij' --sizes i=24,j=16,k=32,l=8 --explain");
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_TRUE(has(r.output, "M 384 | N 8 | K 32")) << r.output;
  EXPECT_TRUE(has(r.output, "on host: ")) << r.output;
  EXPECT_FALSE(has(r.output, "modelled")) << r.output;
}

TEST(EinsumCommand, FiguresAsJson) {
  const Result r = trnsci("einsum 'ij,jk,kl->il' --sizes i=8,j=300,k=4,l=9 --dtype fp64 --json -");
  ASSERT_EQ(r.status, 0) << r.output;
  const auto j = nlohmann::json::parse(r.output);
  EXPECT_EQ(j["op"], "tensor.einsum");
  EXPECT_EQ(j["steps"].size(), 2U);
  EXPECT_EQ(j["flops"], 2.0 * (8 * 300 * 4 + 8 * 4 * 9));  // (ij jk) first
  EXPECT_TRUE(j["modelled_seconds"].is_null());
  EXPECT_GT(j["seconds"].get<double>(), 0);
}

TEST(EinsumCommand, TimesOfASimulatorAreModelled) {
  const Result r = trnsci("einsum 'ij,jk->ik' --sizes i=64,j=64,k=64 --exec sim:trn2 --json -");
  ASSERT_EQ(r.status, 0) << r.output;
  const auto j = nlohmann::json::parse(r.output);
  EXPECT_GT(j["modelled_seconds"].get<double>(), 5e-6);
  EXPECT_LT(j["modelled_seconds"].get<double>(), 1e-4);
  EXPECT_TRUE(has(trnsci("einsum 'ij,jk->ik' --sizes i=64,j=64,k=64 --exec sim:trn2").output, " modelled, "));
}

TEST(EinsumCommand, APlanHasItsModelledTime) {
  const std::string what = "einsum 'ij,jk,kl->il' --sizes i=64,j=300,k=4,l=9 --exec sim:trn2 ";
  const Result text = trnsci(what + "--plan-only"), numbers = trnsci(what + "--plan-only --json -");
  ASSERT_EQ(text.status, 0) << text.output;
  EXPECT_TRUE(has(text.output, " modelled")) << text.output;
  const auto planned = nlohmann::json::parse(numbers.output),
             run = nlohmann::json::parse(trnsci(what + "--json -").output);
  EXPECT_TRUE(planned["seconds"].is_null());
  const double seconds = planned["modelled_seconds"].get<double>();
  EXPECT_NEAR(seconds, run["modelled_seconds"].get<double>(), 0.02 * seconds);
  double sum = 0;
  for (const auto& step : planned["steps"]) {
    EXPECT_GT(step["seconds"].get<double>(), 0);
    sum += step["seconds"].get<double>();
  }
  EXPECT_NEAR(planned["plan_seconds"].get<double>(), sum, 1e-9 * sum);
  const auto host =
      nlohmann::json::parse(trnsci("einsum 'ij,jk->ik' --sizes i=64,j=64,k=64 --plan-only --json -").output);
  EXPECT_TRUE(host["modelled_seconds"].is_null());
  EXPECT_TRUE(has(trnsci("einsum 'ij,jk->ik' --sizes i=64,j=64,k=64 --plan-only").output, "by the plan's estimate"));
}

TEST(EinsumCommand, APageShowsTheTree) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("trnsci_einsum_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string page = (folder / "tree.html").string();
  const Result r = trnsci("einsum 'ij,jk,kl,lm->im' --sizes i=8,j=30,k=4,l=9,m=5 --html " + page);
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_TRUE(has(r.output, "page: ")) << r.output;
  std::ifstream file(page);
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  const auto count = [&](const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = html.find(word); at != std::string::npos; at = html.find(word, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("<circle"), 7U);  // four operands and three contractions
  EXPECT_EQ(count("<line stroke"), 6U);
  EXPECT_TRUE(has(html, "operand 4")) << html.size();
  for (const char* part : {"Contraction tree", "shape", "i=8, j=30", "version", "</html>"})
    EXPECT_TRUE(has(html, part));
  EXPECT_EQ(trnsci("einsum 'ij->ji' --sizes i=8,j=30 --html " + page).status, 0);  // one leaf
  EXPECT_NE(trnsci("einsum 'ij->ji' --sizes i=8,j=30 --html -").status, 0);
  EXPECT_NE(trnsci("einsum 'ij->ji' --sizes i=8,j=30 --html /nowhere/page.html").status, 0);
  std::filesystem::remove_all(folder);
}

TEST(EinsumCommand, RefusesInAFewLines) {
  const std::pair<const char*, const char*> cases[] = {
      {"einsum 'ijk,kl->lij' --sizes i=24,j=16,k=32", "lacks label 'l'"},
      {"einsum 'ij,jk->iq' --sizes i=2,j=2,k=2,q=2", "q"},
      {"einsum 'ij-jk' --sizes i=2,j=2,k=2", "-"},
      {"einsum 'ij,jk->ik' --sizes i=0x4,j=2,k=2", "i=0x4"},
      {"einsum 'ij,jk->ik' --sizes i=2,j=2,k=2 --repeats 0", "--repeats"},
      {"einsum 'ij,jk->ik' --sizes i=2,j=2,k=2 --exec sim:trn9", "sim:trn2"},
      {"einsum 'ij,jk->ik' --sizes i=2,j=2,k=2 --dtype fp7", "fp7"},
      {"einsum 'ij,jk->ik' --sizes i=2,j=2,k=2 --dtype fp64 --exec sim:trn2", "use Precision Exact"},
  };
  for (const auto& [arguments, part] : cases) {
    const Result r = trnsci(arguments);
    EXPECT_NE(r.status, 0) << arguments;
    EXPECT_LT(r.status, 128) << arguments;
    EXPECT_TRUE(has(r.output, part)) << arguments << ": " << r.output;
    EXPECT_LE(lines(r.output), 4) << r.output;
  }
}

TEST(EinsumCommand, BenchAndCoverage) {
  for (const char* operation : {"einsum", "permute", "reduce"}) {
    const Result r = trnsci(std::string("bench tensor.") + operation + " --repeats 1");
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_TRUE(has(r.output, "host")) << r.output;
  }
  const Result r = trnsci("coverage tensor");
  EXPECT_EQ(r.status, 0);
  EXPECT_TRUE(has(r.output, "| contraction, any indices |")) << r.output;
}

}  // namespace

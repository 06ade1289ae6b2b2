// `trnsci compare` on files that commands wrote, and on files that are wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "command.hpp"

namespace {

using trn::integration::has, trn::integration::Result, trn::integration::trnsci;

std::string file(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + "compare_" + name;
  std::ofstream(path) << content;
  return path;
}

const char* const kFirst =
    R"([{"op":"blas.gemm","executor":"host","shape":{"m":8,"n":9},"seconds":2e-3,"gflops":10,"note":"x"},
  {"op":"blas.gemm","executor":"sim:trn2","shape":{"m":8,"n":9},"seconds":1.0,"modelled_seconds":1e-5,"gflops":1},
  {"op":"blas.dot","executor":"host","shape":{"n":9},"seconds":1.0}])";
// The same rows in another order, one gone and one new.
const char* const kSecond = R"([{"op":"blas.axpy","executor":"host","shape":{"n":9},"seconds":1.0},
  {"op":"blas.gemm","executor":"sim:trn2","shape":{"m":8,"n":9},"seconds":1.0,"modelled_seconds":2e-5,"gflops":1},
  {"op":"blas.gemm","executor":"host","shape":{"m":8,"n":9},"seconds":1e-3,"gflops":20,"note":"y"}])";

TEST(CompareCommand, MatchesRowsByWhatTheyAreAbout) {
  const std::string a = file("a.json", kFirst), b = file("b.json", kSecond);
  const Result r = trnsci("compare " + a + " " + b + " --json -");
  ASSERT_EQ(r.status, 0) << r.output;
  const auto j = nlohmann::json::parse(r.output);
  EXPECT_EQ(j["different"], 4);  // seconds, gflops and note of one, modelled_seconds of the other
  EXPECT_EQ(j["equal"], 2);
  EXPECT_EQ(j["times"], 3);
  EXPECT_NEAR(j["time_ratio"].get<double>(), std::cbrt(0.5 * 1 * 2), 1e-12);
  ASSERT_EQ(j["rows"].size(), 2U);
  EXPECT_EQ(j["rows"][0]["row"], "blas.gemm host m=8 n=9");
  EXPECT_DOUBLE_EQ(j["rows"][0]["differences"][0]["ratio"].get<double>(), 0.5);
  EXPECT_TRUE(j["rows"][0]["differences"][2]["ratio"].is_null());
  EXPECT_EQ(j["only_first"][0], "blas.dot host n=9");
  EXPECT_EQ(j["only_second"][0], "blas.axpy host n=9");
  const Result text = trnsci("compare " + a + " " + b);
  for (const char* part : {"blas.gemm sim:trn2 m=8 n=9", "10.00 us", "20.00 us", "only in the second: blas.axpy",
                           "4 values differ, 2 are equal"}) {
    EXPECT_TRUE(has(text.output, part)) << part << "\n" << text.output;
  }
  // A factor of 2 is within 1 + 1.1, and the note differs anyway.
  EXPECT_TRUE(has(trnsci("compare " + a + " " + b + " --above 1.1").output,
                  "1 values differ, 2 are equal, 3 differ by less than --above"));
  EXPECT_TRUE(has(trnsci("compare " + a + " " + b + " --above 0.9").output, "4 values differ"));
  EXPECT_TRUE(has(trnsci("compare " + a + " " + a).output, "0 values differ"));
}

TEST(CompareCommand, TakesWhatCommandsWrite) {
  const std::string a = testing::TempDir() + "compare_p.json", b = testing::TempDir() + "compare_q.json";
  ASSERT_EQ(trnsci("profile blas.gemm --m 256 --n 256 --k 256 --json " + a).status, 0);
  ASSERT_EQ(trnsci("profile blas.gemm --m 256 --n 256 --k 256 --exec sim:trn3 --json " + b).status, 0);
  const std::string page = testing::TempDir() + "compare_page.html";
  const Result r = trnsci("compare " + a + " " + b + " --html " + page);
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_TRUE(has(r.output, "only in the first")) << r.output;  // the machine is part of what a row is about
  EXPECT_TRUE(has(r.output, "no row is in both")) << r.output;
  std::ifstream in(page);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(has(text.str(), "</html>")) << text.str();
  const Result same = trnsci("compare " + a + " " + a);
  EXPECT_TRUE(has(same.output, " 0 values differ") || has(same.output, "0 values differ")) << same.output;
}

TEST(CompareCommand, RefusesWhatIsNotJson) {
  const std::string a = file("good.json", kFirst);
  for (const std::string& bad :
       {file("empty", ""), file("text", "hello"), file("number", "3"), file("binary", "\x01\xff\xfe"),
        file("cut.json", std::string(kFirst).substr(0, 60)), std::string("/nowhere/x.json"),
        file("deep.json", std::string(80000, '[') + std::string(80000, ']'))}) {
    const Result r = trnsci("compare " + a + " " + bad);
    EXPECT_EQ(r.status, 2) << r.output;
    EXPECT_TRUE(has(r.output, "--json")) << r.output;
    EXPECT_EQ(trn::integration::lines(r.output), 1) << r.output;
  }
}

}  // namespace

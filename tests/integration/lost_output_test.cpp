// Output that cannot be written is an error: a full disk, a pipe whose reader is gone, a closed descriptor. Every
// command that prints, and every option that names a file, ends with one line and a status that is not 0.
#include "command.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;
using trn::integration::has, trn::integration::lines, trn::integration::Result, trn::integration::shell,
    trn::integration::trnsci;

// Each prints something to standard output, and nothing to standard error when all is well.
constexpr const char* kPrinting[] = {
    "--help",
    "--version",
    "info",
    "bench blas.gemm --m 8 --n 8 --k 8 --exec host",
    "bench --help",
    "profile blas.gemm --m 8 --n 8 --k 8",
    "emit blas.gemm --m 8 --n 8 --k 8",
    "dis blas.gemm --m 8 --n 8 --k 8",
    "dis file program.json",
    "validate",
    "coverage blas",
    "coverage solver --symbols",
    "fuzz blas --cases 1",
    "rand --n 4",
    "rand --n 4 --text",
    "mp2 h2.xyz --basis sto-3g --quiet",
    "mp2-model --nocc 8 --naux 70 --nvir 12",
};

class LostOutput : public ::testing::Test {
 protected:
  fs::path folder_ = fs::temp_directory_path() / ("trnsci_lost_output_" + std::to_string(getpid()));
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "h2.xyz") << "2\n\nH 0 0 0\nH 0 0 0.74\n";
    ASSERT_EQ(trnsci("dis blas.gemm --m 8 --n 8 --k 8 --save program.json", "2>&1", folder_).status, 0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void expect_refusal(const Result& r, const std::string& what, const std::string& part) const {
    EXPECT_EQ(r.status, 1) << what << "\n" << r.output;
    EXPECT_EQ(lines(r.output), 1) << what << "\n" << r.output;
    EXPECT_TRUE(r.output.starts_with("trnsci: ")) << what << "\n" << r.output;
    EXPECT_TRUE(has(r.output, "standard output: " + part)) << what << "\n" << r.output;
  }

  // `command` writes into a pipe that `reader` reads; its own status and what it says on standard error.
  Result piped(const std::string& command, const std::string& reader) const {
    Result r = shell("cd " + folder_.string() + " && { { sleep 0.1; " + TRNSCI_COMMAND + " " + command +
                     " 2>&3; echo \"status $?\" >&3; } | " + reader + " >/dev/null; } 3>&1");
    const std::size_t at = r.output.rfind("status ");
    EXPECT_NE(at, std::string::npos) << r.output;
    if (at == std::string::npos) return r;
    r.status = std::stoi(r.output.substr(at + 7));
    r.output.resize(at);
    return r;
  }
};

TEST_F(LostOutput, EveryCommandWritesWhenItCan) {
  for (const std::string command : kPrinting) {
    const Result r = trnsci(command, "2>/dev/null", folder_);
    EXPECT_EQ(r.status, 0) << command;
    EXPECT_FALSE(r.output.empty()) << command;
  }
}

TEST_F(LostOutput, AFullDiskIsAnError) {
  for (const std::string command : kPrinting) {
    expect_refusal(trnsci(command, "2>&1 >/dev/full", folder_), command, "No space left on device");
  }
  expect_refusal(trnsci("", "2>&1 >/dev/full", folder_), "the demonstration", "No space left on device");
}

TEST_F(LostOutput, APipeWithoutAReaderIsAnError) {
  for (const std::string command : kPrinting) expect_refusal(piped(command, "true"), command, "Broken pipe");
}

// More than a pipe holds, to a reader that takes the beginning.
TEST_F(LostOutput, AReaderThatHasEnoughEndsTheCommand) {
  expect_refusal(piped("rand --n 1000000000000", "head -c 8"), "rand", "Broken pipe");
  expect_refusal(piped("emit rand.normal --count 67108864", "head -1"), "emit", "Broken pipe");
  expect_refusal(piped("dis rand.normal --count 67108864", "head -1"), "dis", "Broken pipe");
}

// And no file that the command opens takes the place of standard output.
TEST_F(LostOutput, AClosedDescriptorIsAnError) {
  for (const std::string command : kPrinting) {
    expect_refusal(trnsci(command, "2>&1 >&-", folder_), command, "Bad file descriptor");
  }
  expect_refusal(trnsci("validate --json rows.json", "2>&1 >&-", folder_), "validate --json", "Bad file descriptor");
  std::ifstream rows(folder_ / "rows.json");
  const std::string text((std::istreambuf_iterator<char>(rows)), {});
  EXPECT_TRUE(text.empty() || text.starts_with("[")) << text.substr(0, 100);
  const Result r = trnsci("info", "2>&- >/dev/full", folder_);  // nowhere left to say it
  EXPECT_EQ(r.status, 1);
}

// Progress that nobody can read does not end the work.
TEST_F(LostOutput, AClosedOrFullStandardErrorLosesNothing) {
  for (const char* where : {"2>&-", "2>/dev/full"}) {
    const Result r = trnsci("mp2 h2.xyz --basis sto-3g", where, folder_);
    EXPECT_EQ(r.status, 0) << where;
    EXPECT_TRUE(has(r.output, "total energy")) << where;
  }
}

// A limit of 0 on the size of files is a disk that is full for regular files; pipes and devices still work.
TEST_F(LostOutput, FilesThatCannotBeWrittenAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"bench blas.gemm --m 8 --n 8 --k 8 --exec host --json", "rows.json"},
      {"validate --json", "rows.json"},
      {"profile blas.gemm --m 8 --n 8 --k 8 --html", "page.html"},
      {"profile blas.gemm --m 8 --n 8 --k 8 --trace", "trace.json"},
      {"dis blas.gemm --m 8 --n 8 --k 8 --save", "saved.json"},
      {"rand --n 4 --out", "words.bin"},
      {"mp2 h2.xyz --basis sto-3g --quiet --json", "result.json"},
      {"mp2 h2.xyz --basis sto-3g --quiet --exec sim:trn2 --report", "report.html"},
  };
  for (const auto& [arguments, file] : cases) {
    const std::string command = std::string(arguments) + " " + file;
    for (const std::string limit : {"trap '' XFSZ; ulimit -f 0; ", ""}) {
      const std::string where = limit.empty() ? std::string(arguments) + " /dev/full" : command;
      const Result r =
          shell("cd " + folder_.string() + " && { " + limit + TRNSCI_COMMAND + " " + where + " 2>&1 >/dev/null; }");
      EXPECT_TRUE(r.status == 1 || r.status == 2) << where << ": " << r.status << "\n" << r.output;
      EXPECT_EQ(lines(r.output), 1) << where << "\n" << r.output;
      EXPECT_TRUE(has(r.output, limit.empty() ? "/dev/full" : file)) << where << "\n" << r.output;
    }
    EXPECT_EQ(trnsci(command, "2>&1 >/dev/null", folder_).status, 0) << command;
    EXPECT_GT(fs::file_size(folder_ / file), 0u) << command;
  }
}

// A page over the file that it is made of would destroy it; two outputs in one file lose one of them.
TEST_F(LostOutput, OutputsDoNotReplaceOneAnotherOrAnInput) {
  std::ofstream(folder_ / "a.json") << "{}\n";
  EXPECT_EQ(trnsci("compare a.json a.json --html a.json", "2>&1", folder_).status, 2);
  EXPECT_EQ(trnsci("evidence --seeds 1 --json same --svg ./same", "2>&1", folder_).status, 2);
  EXPECT_EQ(trnsci("evidence --seeds 1 --svg -", "2>&1", folder_).status, 2);
  EXPECT_FALSE(fs::exists(folder_ / "same"));
}

// TRN_SIMD that names no instruction set is one line, in every command.
TEST(Environment, AnUnknownInstructionSetIsOneLine) {
  for (const char* arguments : {"info", "--help"}) {
    const Result r = shell(std::string("TRN_SIMD=foo ") + TRNSCI_COMMAND + " " + arguments + " 2>&1");
    EXPECT_EQ(r.status, 2) << r.output;
    EXPECT_EQ(lines(r.output), 1) << r.output;
    EXPECT_TRUE(has(r.output, "AVX2")) << r.output;
  }
}

}  // namespace

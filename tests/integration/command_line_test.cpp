// The trnsci command as a user meets it: what it prints, what it writes, and how it refuses.
#include "command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using trn::integration::has, trn::integration::lines, trn::integration::Result, trn::integration::trnsci;

nlohmann::json read_json(const fs::path& path) { return nlohmann::json::parse(std::ifstream(path)); }

class CommandLine : public ::testing::Test {
 protected:
  fs::path folder_ = fs::temp_directory_path() / ("trnsci_test_" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
};

TEST_F(CommandLine, HelpEverywhere) {
  for (const char* arguments :
       {"--help", "info --help", "bench --help", "bench blas.gemm --help", "profile blas.gemm --help",
        "emit blas.gemm --help", "dis blas.gemm --help", "bench rand.raw32 --help", "bench rand.uniform --help",
        "dis file --help", "validate --help", "rand --help", "bench fft.c2c --help", "bench fft.stft --help"}) {
    const Result r = trnsci(arguments);
    EXPECT_EQ(r.status, 0) << arguments;
    EXPECT_TRUE(has(r.output, "Usage:")) << arguments;
  }
}

// Bad arguments are in tests/bad_inputs.txt.

TEST_F(CommandLine, JsonOnStandardOutputReplacesTheText) {
  for (const char* arguments :
       {"bench blas.gemm --m 8 --n 8 --k 8 --exec host --json -", "einsum 'ij,jk->ik' --sizes i=2,j=3,k=4 --json -"}) {
    const Result r = trnsci(arguments);
    EXPECT_EQ(r.status, 0) << r.output;
    const nlohmann::json json = nlohmann::json::parse(r.output);
    const nlohmann::json& row = json.is_array() ? json.at(0) : json;
    EXPECT_EQ(row.at("command"), std::string("trnsci ") + arguments);
    EXPECT_FALSE(row.at("version").get<std::string>().empty());
  }
}

// Whatever writes JSON says in it what made it, and on which machine with which constants of the model.
TEST_F(CommandLine, EveryJsonSaysWhatMadeIt) {
  std::ofstream(folder_ / "m.mtx") << "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 2 1.0\n";
  std::ofstream(folder_ / "h2.xyz") << "2\n\nH 0 0 0\nH 0 0 0.74\n";
  ASSERT_EQ(trnsci("bench blas.dot --n 8 --exec host --repeats 1 --json a.json", "2>&1", folder_).status, 0);
  for (const auto& [arguments, machine] :
       {std::pair<std::string, std::string>{"bench blas.dot --n 8 --exec host --repeats 1", "host"},
        {"bench blas.dot --n 8 --exec sim:trn1 --repeats 1", "trn1"},
        {"profile blas.gemm --m 8 --n 8 --k 8 --exec sim:trn3", "trn3"},
        {"einsum ij,jk-\\>ik --sizes i=2,j=3,k=4 --exec sim:trn2", "trn2"},
        {"validate", ""},
        {"validate --collectives", ""},
        {"mp2 h2.xyz --basis sto-3g --quiet --exec sim:trn2 --precision tf32x3", "trn2"},
        {"mp2-model --nocc 8 --naux 70 --nvir 12 --machine trn1", "trn1"},
        {"scale gemm --n 4096 --machine trn2u", "trn2"},
        {"sparse info m.mtx", "trn2"},
        {"compare a.json a.json", "host"}}) {
    const Result r = trnsci(arguments + " --json -", "2>/dev/null", folder_);
    ASSERT_EQ(r.status, 0) << arguments << r.output;
    const nlohmann::json json = nlohmann::json::parse(r.output);
    for (const nlohmann::json& row : json.is_array() ? json : nlohmann::json::array({json})) {
      EXPECT_FALSE(row.value("version", "").empty()) << arguments;
      EXPECT_TRUE(row.value("command", "").starts_with("trnsci " + arguments.substr(0, arguments.find(' '))))
          << arguments;
      ASSERT_TRUE(row.contains("geometry") && row.contains("constants")) << arguments << row.dump();
      const std::string of = row["geometry"].value("machine", "");
      if (!machine.empty()) EXPECT_EQ(of, machine) << arguments;
      EXPECT_EQ(row["constants"].empty(), of == "host") << arguments;
    }
  }
}

// Lists accept commas; an option may have a second spelling; a machine has two.
TEST_F(CommandLine, SpellingsOfOneThing) {
  EXPECT_EQ(trnsci("dis blas.gemm --m 8 --n 8 --k 8 --exec sim:trn1").output,
            trnsci("dis blas.gemm --m 8 --n 8 --k 8 --machine trn1").output);
  EXPECT_EQ(trnsci("dis fft.c2c --n 8,16").output, trnsci("dis fft.c2c --n 8 16").output);
  const Result words = trnsci("dis rand.raw32 --n 512 --offset 4 --generator philox4x32-10");
  EXPECT_EQ(words.status, 0) << words.output;
  EXPECT_EQ(words.output, trnsci("dis rand.raw32 --count 512 --position 4 --algorithm philox").output);
}

TEST_F(CommandLine, InfoListsExecutorsAndMachines) {
  const Result r = trnsci("info");
  EXPECT_EQ(r.status, 0);
  for (const char* part : {"host", "sim:trn1", "sim:trn2", "sim:trn3", "NeuronCore-v2", "NeuronCore-v3",
                           "NeuronCore-v4", "OpenBLAS", "78.6 TF/s", "MX fp8/fp4 peak", "314.6 TF/s"}) {
    EXPECT_TRUE(has(r.output, part)) << part;
  }
}

TEST_F(CommandLine, BenchWritesTheAgreedKeys) {
  const fs::path file = folder_ / "rows.json";
  const Result r =
      trnsci("bench blas.gemm --m 130 --n 70 --k 200 --dtype bf16 --exec host,sim:trn1,sim:trn2,sim:trn3 --json " +
             file.string());
  ASSERT_EQ(r.status, 0) << r.output;
  const auto rows = read_json(file);
  ASSERT_EQ(rows.size(), 4u);
  const std::set<std::string> keys{
      "op",      "executor",      "dtype", "precision", "shape",  "seconds",      "modelled_seconds",
      "gflops",  "roof_fraction", "error", "bound",     "gbytes", "peer_seconds", "version",
      "command", "peer",          "rate",  "rate_unit", "repeat", "geometry",     "constants"};
  for (const auto& row : rows) {
    std::set<std::string> found;
    for (const auto& [key, value] : row.items()) found.insert(key);
    EXPECT_EQ(found, keys);
    EXPECT_EQ(row["op"], "blas.gemm");
    EXPECT_EQ(row["dtype"], "bfloat16");
    EXPECT_EQ(row["shape"], (nlohmann::json{{"m", 130}, {"n", 70}, {"k", 200}}));
    EXPECT_GT(row["seconds"].get<double>(), 0);
    EXPECT_GT(row["error"].get<double>(), 0);
    EXPECT_LE(row["error"].get<double>(), row["bound"].get<double>());
    const bool host = row["executor"] == "host";
    EXPECT_EQ(row["modelled_seconds"].is_null(), host);
    const double time = host ? row["seconds"].get<double>() : row["modelled_seconds"].get<double>();
    EXPECT_NEAR(row["gflops"].get<double>(), 2e-9 * 130 * 70 * 200 / time, 1e-6 * row["gflops"].get<double>());
    EXPECT_EQ(row["rate"], row["gflops"]);
    EXPECT_EQ(row["rate_unit"], "GFLOP/s");
    EXPECT_EQ(row["geometry"]["machine"], host ? "host" : row["executor"].get<std::string>().substr(4));
    EXPECT_EQ(row["constants"].empty(), host);
    // The line that repeats a row gives all options, also those that the command line left out.
    const std::string again = row["repeat"];
    EXPECT_TRUE(again.starts_with("trnsci bench blas.gemm --m 130 --n 70 --k 200 --dtype bf16 --precision native"));
    EXPECT_TRUE(again.ends_with("--exec " + row["executor"].get<std::string>())) << again;
  }
  const auto once = read_json(file).at(2);
  const Result repeated = trnsci(once["repeat"].get<std::string>().substr(7) + " --json -");
  ASSERT_EQ(repeated.status, 0) << repeated.output;
  const auto twice = nlohmann::json::parse(repeated.output).at(0);
  for (const char* key : {"op", "executor", "dtype", "shape", "modelled_seconds", "error", "bound", "repeat"})
    EXPECT_EQ(once[key], twice[key]) << key;
}

// An executor that cannot run an operation has a row that says so; where none can, that is the error.
TEST_F(CommandLine, BenchSaysWhatCannotRun) {
  const std::string command = "bench sparse.csr2csc --generate poisson2d:20 --repeats 1 --exec ";
  const Result text = trnsci(command + "host,sim:trn2");
  EXPECT_EQ(text.status, 0) << text.output;
  // How wide the columns are depends on the measured numbers.
  EXPECT_TRUE(std::regex_search(text.output, std::regex("\\nsim:trn2 +cannot +- "))) << text.output;
  EXPECT_TRUE(has(text.output, "sim:trn2 cannot run it: ")) << text.output;
  const Result json = trnsci(command + "host,sim:trn2 --json -");
  ASSERT_EQ(json.status, 0) << json.output;
  const auto rows = nlohmann::json::parse(json.output);
  EXPECT_FALSE(rows.at(0).contains("refused"));
  EXPECT_FALSE(rows.at(1).at("refused").get<std::string>().empty());
  EXPECT_TRUE(rows.at(1).at("seconds").is_null());
  EXPECT_EQ(trnsci(command + "sim:trn2").status, 2);
  for (const char* other : {"bench blas.dot --n 100 --dtype fp64 --exec host,sim:trn2 --json -",
                            "bench blas.rotg --exec sim:trn2,host --json -",
                            "bench blas.gemm --m 8 --n 8 --k 8 --model-only --exec host,sim:trn2 --json -",
                            "bench sparse.spmv --generate poisson2d:8 --dtype fp64 --exec host,sim:trn2 --json -",
                            "bench sparse.lu --generate poisson2d:8 --exec host,sim:trn1 --json -"}) {
    const Result one = trnsci(other);
    ASSERT_EQ(one.status, 0) << other << one.output;
    const auto two = nlohmann::json::parse(one.output);
    EXPECT_EQ(two.size(), 2u);
    EXPECT_EQ(two.at(0).contains("refused") + two.at(1).contains("refused"), 1) << other;
    EXPECT_EQ(two.at(0).at("dtype"), two.at(1).at("dtype")) << other;
    EXPECT_EQ(two.at(0).at("shape"), two.at(1).at("shape")) << other;
  }
}

// Operations that memory limits count bytes: every byte is read or written once.
TEST_F(CommandLine, BenchRatesOfBytes) {
  struct Case {
    const char* line;
    double bytes;
  };
  for (const auto& [line, bytes] :
       {Case{"tensor.reduce --sizes a=20,b=30,c=40", 4.0 * (20 * 30 * 40 + 30)},
        {"tensor.permute --sizes a=20,b=30,c=40", 8.0 * 20 * 30 * 40},
        {"blas.axpy --n 1000", 12000.0},
        {"blas.gemv --m 30 --n 20", 4.0 * (600 + 50)},
        {"sparse.csr2csc --generate poisson2d:20 --dtype fp32", 2 * 8.0 * (5 * 400 - 80)}}) {
    const Result r = trnsci(std::string("bench ") + line + " --repeats 1 --json -");
    ASSERT_EQ(r.status, 0) << r.output;
    for (const auto& row : nlohmann::json::parse(r.output)) {
      const double time = row[row["modelled_seconds"].is_null() ? "seconds" : "modelled_seconds"];
      EXPECT_EQ(row["rate_unit"], "GB/s") << line;
      EXPECT_NEAR(row["rate"].get<double>() * time * 1e9, bytes, 1e-6 * bytes) << line << row["executor"];
      EXPECT_GT(row["roof_fraction"].get<double>(), 0) << line;
    }
  }
}

// The same keys and three more. The errors that it prints are within the bounds, on well-conditioned matrices.
TEST_F(CommandLine, BenchOfSolversSaysMore) {
  const fs::path file = folder_ / "rows.json";
  for (const std::string operation : {"potrf", "getrf", "geqrf", "eigh", "svd", "solve"}) {
    for (const std::string dtype : {"fp32", "fp64", "c64", "c128"}) {
      const Result r = trnsci("bench solver." + operation + " --n 20 --repeats 1 --exec host --dtype " + dtype +
                              " --json " + file.string());
      ASSERT_EQ(r.status, 0) << operation << r.output;
      const auto row = read_json(file).at(0);
      const std::set<std::string> keys{
          "op",        "executor",         "dtype",        "precision",     "shape",
          "seconds",   "modelled_seconds", "gflops",       "roof_fraction", "error",
          "bound",     "gbytes",           "peer_seconds", "peer",          "gemm_equivalents",
          "condition", "outcome",          "version",      "command",       "rate",
          "rate_unit", "repeat",           "geometry",     "constants"};
      std::set<std::string> found;
      for (const auto& [key, value] : row.items()) found.insert(key);
      EXPECT_EQ(found, keys);
      EXPECT_EQ(row["op"], "solver." + operation);
      EXPECT_EQ(row["outcome"], "ok");
      EXPECT_GT(row["gemm_equivalents"].get<double>(), 0);
      EXPECT_GE(row["condition"].get<double>(), 1) << operation;
      EXPECT_GT(row["peer_seconds"].get<double>(), 0);
      EXPECT_LE(row["error"].get<double>(), row["bound"].get<double>()) << operation << dtype;
      EXPECT_GT(row["error"].get<double>(), 0) << operation << dtype;
    }
  }
}

// Every dense function of cuSOLVER has one line, and none has two.
TEST_F(CommandLine, CoverageOfSolversNamesEveryFunctionOnce) {
  const Result r = trnsci("coverage solver --symbols");
  ASSERT_EQ(r.status, 0);
  std::istringstream text(r.output);
  std::set<std::string> names;
  int count = 0;
  for (std::string line; std::getline(text, line); ++count) {
    EXPECT_TRUE(line.starts_with("cusolverDn")) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 2) << line;
    names.insert(line.substr(0, line.find('\t')));
  }
  EXPECT_EQ(count, 377);  // cusolverDn.h of CUDA 13.0
  EXPECT_EQ(names.size(), 377u);
  EXPECT_TRUE(has(r.output, "cusolverDnSpotrf\t`potrf`, `Cholesky`\thost: s d c z"));
  EXPECT_TRUE(has(r.output, "cusolverDnXgesvdr\t`rsvd`\tno kernel of its own"));
  EXPECT_TRUE(has(r.output, "cusolverDnSlaswp\t`laswp`\thost: s d c z"));
}

// Binary and text are the same values, on every executor and in a file; a reader that has enough ends the command
// (lost_output_test.cpp).
TEST_F(CommandLine, RandWritesValues) {
  EXPECT_EQ(trnsci("rand --n 4 --text").output, "1713891541\n3781805453\n3159862348\n2600524760\n");
  const std::string binary = trnsci("rand --n 4").output;
  EXPECT_EQ(binary, std::string("\xd5\xe8\x27\x66\x8d\xc5\x69\xe1\x4c\xac\x57\xbc\xd8\xdb\x00\x9b", 16));
  EXPECT_EQ(trnsci("rand --n 4 --exec sim:trn2").output, binary);
  const fs::path file = folder_ / "words.bin";
  EXPECT_EQ(trnsci("rand --n 4 --out " + file.string()).status, 0);
  EXPECT_EQ(fs::file_size(file), 16u);
  EXPECT_EQ(trnsci("rand --n 2 --offset 2 --text").output, "3159862348\n2600524760\n");
  // Two streams take turns: every other value is stream 0's.
  const std::string turns = trnsci("rand --n 5 --interleave 2 --text").output,
                    second = trnsci("rand --n 2 --stream 1 --text").output;
  const std::size_t line = second.find('\n') + 1;
  EXPECT_EQ(turns, "1713891541\n" + second.substr(0, line) + "3781805453\n" + second.substr(line) + "3159862348\n");
  EXPECT_EQ(trnsci("rand --n 6 --dimensions 2 --generator sobol32 --dist uniform --interval half-open --text").output,
            "0\n0.5\n0.75\n0\n0.5\n0.25\n");
  EXPECT_EQ(trnsci("rand --n 3 --generator xorwow --seed 1234 --dist uniform --text").output,
            "0.14546764\n0.8201809\n0.55039924\n");
  const Result none = trnsci("rand --n 0");
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.output, "");
  EXPECT_EQ(trnsci("rand --n 5000000 --dist uniform_double | wc -c").output, "40000000\n");
  EXPECT_EQ(trnsci("rand --n 1000000000000", "2>/dev/null | head -c 8 | wc -c").output, "8\n");
}

// Values per second in the place of flops, and no difference between the executors.
TEST_F(CommandLine, BenchOfRandomNumbers) {
  for (const std::string operation : {"rand.raw32", "rand.uniform"}) {
    const fs::path file = folder_ / "rows.json";
    const Result r =
        trnsci("bench " + operation +
               " --count 10001 --position 3 --algorithm threefry --exec host,sim:trn1,sim:trn2,sim:trn3 --json " +
               file.string());
    ASSERT_EQ(r.status, 0) << r.output;
    EXPECT_NE(r.output.find("Gvalues/s"), std::string::npos) << r.output;
    const auto rows = read_json(file);
    ASSERT_EQ(rows.size(), 4u);
    for (const auto& row : rows) {
      EXPECT_EQ(row["op"], operation);
      const bool host = row["executor"] == "host";
      const double time = row[host ? "seconds" : "modelled_seconds"].get<double>();
      EXPECT_NEAR(row["rate"].get<double>(), 1e-9 * 10001 / time, 1e-6 * row["rate"].get<double>());
      EXPECT_EQ(row["rate_unit"], "Gvalues/s");
      EXPECT_TRUE(row["gflops"].is_null());
      if (host) continue;
      EXPECT_EQ(row["error"], 0.0);
      EXPECT_EQ(row["bound"], 0.0);
    }
  }
}

// Every transform within its bound, its rate that of 5 n log2 n.
TEST_F(CommandLine, BenchOfTransforms) {
  for (const std::string arguments :
       {"fft.c2c --n 24 --batch 3 --exec host,sim:trn2", "fft.r2c --n 6 10 --batch 2 --dtype fp64 --exec host",
        "fft.c2r --n 5 8 --batch 2 --exec host,sim:trn2", "fft.dct --n 12 --type 4 --exec host,sim:trn2",
        "fft.convolve --n 300 --m 9 --exec host,sim:trn2",
        "fft.stft --n 300 --n-fft 32 --hop 8 --exec host,sim:trn2"}) {
    const fs::path file = folder_ / "rows.json";
    const Result r = trnsci("bench " + arguments + " --json " + file.string());
    ASSERT_EQ(r.status, 0) << r.output;
    const auto rows = read_json(file);
    ASSERT_EQ(rows.size(), has(arguments, "host,sim:trn2") ? 2u : 1u) << arguments;
    for (const auto& row : rows) {
      EXPECT_GT(row["rate"].get<double>(), 0) << arguments;
      EXPECT_GT(row["bound"].get<double>(), 0) << arguments;
      EXPECT_LE(row["error"].get<double>(), row["bound"].get<double>()) << arguments;
      EXPECT_EQ(row["modelled_seconds"].is_null(), row["executor"] == "host");
    }
  }
  const Result program = trnsci("dis fft.c2c --n 1024 --batch 2");
  EXPECT_EQ(program.status, 0) << program.output;
  EXPECT_TRUE(has(program.output, "nc_matmul")) << program.output;
  EXPECT_GT(lines(program.output), 20);
}

TEST_F(CommandLine, LargeShapesCanBeModelledAlone) {
  const fs::path file = folder_ / "rows.json";
  const Result r =
      trnsci("bench blas.gemm --m 16384 --n 16384 --k 16384 --dtype bf16 --exec sim:trn2 --model-only --json " +
             file.string());
  ASSERT_EQ(r.status, 0) << r.output;
  const auto rows = read_json(file);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].at("seconds").is_null());
  EXPECT_GT(rows[0]["roof_fraction"].get<double>(), 0.95);
}

TEST_F(CommandLine, ProfileWritesReportAndTrace) {
  const fs::path html = folder_ / "page.html", trace = folder_ / "trace.json";
  const Result r =
      trnsci("profile blas.gemm --m 512 --n 512 --k 512 --html " + html.string() + " --trace " + trace.string());
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_TRUE(r.output.starts_with("blas.gemm on trn2: ")) << r.output;
  const std::string parts[] = {"us modelled, ", " of it launch and finish\n", "TF/s, ", "report: " + html.string(),
                               "trace: " + trace.string()};
  for (const std::string& part : parts) {
    EXPECT_TRUE(has(r.output, part)) << part << "\n" << r.output;
  }
  EXPECT_GT(fs::file_size(html), 10000u);
  EXPECT_GT(read_json(trace).at("traceEvents").size(), 20u);
}

TEST_F(CommandLine, EmitPrintsAKernel) {
  const Result r = trnsci("emit blas.gemm --m 256 --n 512 --k 256 --dtype bf16");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_TRUE(has(r.output, "@nki.jit"));
  EXPECT_TRUE(has(r.output, "nisa.nc_matmul("));
}

TEST_F(CommandLine, DisassemblyCanBeSavedAndReadBack) {
  const fs::path file = folder_ / "program.json";
  const Result first = trnsci("dis blas.gemm --m 256 --n 512 --k 256 --save " + file.string());
  ASSERT_EQ(first.status, 0) << first.output;
  EXPECT_TRUE(has(first.output, "nc_matmul"));
  EXPECT_EQ(trnsci("dis file " + file.string()).output, first.output);
}

TEST_F(CommandLine, ATruncatedProgramIsRefused) {
  const fs::path file = folder_ / "program.json";
  ASSERT_EQ(trnsci("dis blas.gemm --m 8 --n 8 --k 8 --save " + file.string()).status, 0);
  fs::resize_file(file, fs::file_size(file) / 2);
  const Result r = trnsci("dis file " + file.string());
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(lines(r.output), 1) << r.output;
}

TEST_F(CommandLine, ValidateWritesTheAgreedKeys) {
  const fs::path file = folder_ / "validate.json";
  const Result r = trnsci("validate --json " + file.string());
  ASSERT_EQ(r.status, 0) << r.output;
  const auto rows = read_json(file);
  EXPECT_GE(rows.size(), 14u);
  for (const auto& row : rows) {
    for (const char* key : {"name", "machine", "source", "measured_us", "modelled_us", "ratio"})
      EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_NEAR(row["ratio"].get<double>(), row["modelled_us"].get<double>() / row["measured_us"].get<double>(), 1e-9);
  }
}

TEST_F(CommandLine, TheDemonstrationShowsBothExecutorsAndWritesTheReport) {
  const Result r = trnsci("", "", folder_);
  EXPECT_EQ(r.status, 0);
  for (const char* name :
       {"host", "sim:trn2", "tf32x3", "exact", "nanohartree", "modelled", "64 orbitals", "trnsci-report.html"})
    EXPECT_TRUE(has(r.output, name)) << name;
  EXPECT_TRUE(fs::exists(folder_ / "trnsci-report.html"));
}

// The device has no geam in double: such a case is refused, which is not success.
TEST_F(CommandLine, FuzzingCountsRefusedCasesApart) {
  int checked = 0, refused = 0;
  for (int seed = 1; seed <= 8; ++seed) {
    const Result r =
        trnsci("fuzz blas --exec sim:trn2 --only geam --max-extent 20 --cases 1 --seed " + std::to_string(seed));
    if (has(r.output, "1 checked and without a finding, 0 refused")) {
      EXPECT_EQ(r.status, 0) << r.output;
      ++checked;
    } else {
      EXPECT_EQ(r.status, 1) << r.output;
      EXPECT_TRUE(has(r.output, "0 checked and without a finding, 1 refused")) << r.output;
      EXPECT_TRUE(has(r.output, "no case of these was ever checked: geam (1 refused)")) << r.output;
      ++refused;
    }
  }
  EXPECT_GT(checked, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(CommandLine, FuzzingIsAFunctionOfTheSeed) {
  const std::string line = "fuzz fft --max-points 1000 --max-device-points 200 --cases 12 --seed 5";
  const Result once = trnsci(line), again = trnsci(line);
  EXPECT_EQ(once.status, 0) << once.output;
  EXPECT_EQ(once.output, again.output);
  EXPECT_TRUE(has(once.output, "12 cases of")) << once.output;
}

}  // namespace

// `trnsci mp2` as a chemist meets it: files in, energies out, and one clear line for every mistake.
#include "command.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using trn::integration::Result;

class Mp2Command : public ::testing::Test {
 protected:
  fs::path folder_ = fs::temp_directory_path() / ("trnsci_mp2_test_" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  Result run(const std::string& arguments, const char* redirect = "2>&1", const char* subcommand = "mp2 ") const {
    return trn::integration::trnsci(subcommand + arguments, redirect, folder_);
  }
};

constexpr const char* kHydrogen = "2\n\nH 0 0 0\nH 0 0 0.74\n";

TEST_F(Mp2Command, WritesTheAgreedKeys) {
  write("h2.xyz", kHydrogen);
  const Result r = run("h2.xyz --json out.json --exec sim:trn2 --precision tf32x3 --report page.html");
  ASSERT_EQ(r.status, 0) << r.output;
  for (const char* part : {"iteration", "SCF energy", "correlation energy", "SCS-MP2 correlation", "bound on the error",
                           "pair_energy", "float32 tf32x3", "report: page.html"}) {
    EXPECT_NE(r.output.find(part), std::string::npos) << part << "\n" << r.output;
  }
  const auto j = nlohmann::json::parse(std::ifstream(folder_ / "out.json"));
  for (const char* key :
       {"molecule", "basis", "executor", "precision", "frozen_core", "scf_energy", "correlation_energy", "same_spin",
        "opposite_spin", "total_energy", "bound", "scs_correlation_energy", "scs_bound", "sos_correlation_energy",
        "sos_bound", "seconds", "modelled_seconds"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  EXPECT_EQ(j["molecule"], "h2");
  EXPECT_EQ(j["basis"], "cc-pVDZ");
  EXPECT_EQ(j["precision"], "tf32x3");
  EXPECT_TRUE(j["seconds"].contains("scf"));
  EXPECT_GT(j["modelled_seconds"]["pair_energy"].get<double>(), 0);
  EXPECT_NEAR(j["same_spin"].get<double>(), 0, 1e-15);  // two electrons
  EXPECT_NEAR(j["total_energy"].get<double>(), j["scf_energy"].get<double>() + j["correlation_energy"].get<double>(),
              1e-14);
  std::ifstream page(folder_ / "page.html");
  const std::string html((std::istreambuf_iterator<char>(page)), {});
  for (const char* part :
       {"h2, H2: DF-MP2 in cc-pVDZ", "<dt>command</dt>", "Drawing of the molecule", "SCS-MP2 correlation",
        "RHF, closed shell", "Convergence of the SCF", "Stages", "Engine timeline", "Roofline"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

// Six fifths and a third, thirteen tenths; and a radical, whose page and JSON name its spin.
TEST_F(Mp2Command, ScalesSpinsAndTakesOpenShells) {
  write("oh.xyz", "2\n\nO 0 0 0\nH 0 0 0.97\n");
  const Result r =
      run("oh.xyz --quiet --multiplicity 2 --json out.json --exec sim:trn2 --precision tf32x3 --report page.html");
  ASSERT_EQ(r.status, 0) << r.output;
  for (const char* part :
       {"multiplicity 2, 5 alpha and 4 beta orbitals", "<S^2>", "(a pure state: 0.75)", "alpha-alpha"})
    EXPECT_NE(r.output.find(part), std::string::npos) << part << "\n" << r.output;
  const auto j = nlohmann::json::parse(std::ifstream(folder_ / "out.json"));
  EXPECT_EQ(j["reference"], "uhf");
  EXPECT_EQ(j["occupied_beta"], 4);
  EXPECT_NEAR(j["spin_squared"].get<double>(), 0.7546, 1e-3);
  const double same = j["same_spin"], opposite = j["opposite_spin"], bound = j["bound"];
  EXPECT_NEAR(j["alpha_alpha"].get<double>() + j["beta_beta"].get<double>(), same, 1e-15);
  EXPECT_NEAR(j["scs_correlation_energy"].get<double>(), 1.2 * opposite + same / 3, 1e-14);
  EXPECT_NEAR(j["sos_correlation_energy"].get<double>(), 1.3 * opposite, 1e-14);
  EXPECT_NEAR(j["scs_bound"].get<double>(), 1.2 * bound, 1e-14);
  EXPECT_NEAR(j["sos_bound"].get<double>(), 1.3 * bound, 1e-14);
  std::ifstream page(folder_ / "page.html");
  const std::string html((std::istreambuf_iterator<char>(page)), {});
  EXPECT_NE(html.find("UHF, multiplicity 2, 5 alpha and 4 beta electrons"), std::string::npos);
}

TEST_F(Mp2Command, EstimatesAndScreens) {
  write("h2.xyz", kHydrogen);
  const Result r = run("h2.xyz --quiet --exact-jk --screening 1e-9 --stochastic 24 --seed 5 --json out.json");
  ASSERT_EQ(r.status, 0) << r.output;
  for (const char* part : {"quartets of shells kept", "stochastic estimate: ", "(95 % interval, ", "seed 5)"})
    EXPECT_NE(r.output.find(part), std::string::npos) << part << "\n" << r.output;
  const auto j = nlohmann::json::parse(std::ifstream(folder_ / "out.json"));
  EXPECT_EQ(j["stochastic"]["seed"], 5);
  EXPECT_NEAR(j["stochastic"]["correlation_energy"].get<double>(), j["correlation_energy"].get<double>(),
              5 * j["stochastic"]["standard_error"].get<double>() + 1e-6);
  EXPECT_LE(j["stochastic"]["quadrature_error"].get<double>(), 1e-6);  // hartree, of an energy of 0.03
  EXPECT_EQ(j["charge"], 0);
  EXPECT_EQ(j["scf_changes"][0], 0);  // as in the table of iterations
  EXPECT_LE(j["kept_quartets"].get<int>(), j["quartets"].get<int>());
  EXPECT_GT(j["screening_bound"].get<double>(), 0);
}

TEST_F(Mp2Command, ReadsBasisFilesAndGuesses) {
  write("h2.xyz", kHydrogen);
  write(
      "mine.gbs",
      "H 0\nS 3 1.0\n13.01 0.019685\n1.962 0.137977\n0.4446 0.478148\nS 1 1.0\n0.122 1.0\nP 1 1.0\n0.727 1.0\n****\n");
  ASSERT_EQ(run("h2.xyz --quiet --exact-jk --json a.json").status, 0);
  const Result b = run("h2.xyz --quiet --exact-jk --basis-file mine.gbs --ri cc-pvdz-ri --guess core --json b.json");
  ASSERT_EQ(b.status, 0) << b.output;
  const auto x = nlohmann::json::parse(std::ifstream(folder_ / "a.json")),
             y = nlohmann::json::parse(std::ifstream(folder_ / "b.json"));
  EXPECT_NEAR(x["total_energy"].get<double>(), y["total_energy"].get<double>(), 1e-9);
  EXPECT_EQ(y["basis"], "mine");
}

// All of the trace is captured: what is left are the quadrature and the rounding, and the text says so.
TEST_F(Mp2Command, AnEstimateWithoutSpreadHasAnInterval) {
  write("h2.xyz", kHydrogen);
  const Result r = run("h2.xyz --quiet --basis sto-3g --stochastic 18 --json out.json");
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_NE(r.output.find("hartree away, within the interval"), std::string::npos) << r.output;
  EXPECT_EQ(r.output.find("standard errors"), std::string::npos) << r.output;
  const auto j = nlohmann::json::parse(std::ifstream(folder_ / "out.json"));
  EXPECT_LE(std::abs(j["stochastic"]["correlation_energy"].get<double>() - j["correlation_energy"].get<double>()),
            j["stochastic"]["interval"].get<double>());
}

// Energies in float64, transforms and solve with exact products.
TEST_F(Mp2Command, NamesTheArithmeticOfTheFit) {
  write("h2.xyz", kHydrogen);
  for (const char* precision : {"exact", "target=1e-9"}) {
    const Result r = run(std::string("h2.xyz --quiet --json out.json --precision ") + precision);
    ASSERT_EQ(r.status, 0) << r.output;
    EXPECT_NE(r.output.find("transforms and solve in exact"), std::string::npos) << r.output;
    const auto j = nlohmann::json::parse(std::ifstream(folder_ / "out.json"));
    EXPECT_EQ(j["mode"], "native");
    EXPECT_EQ(j["fit_mode"], "exact");
  }
}

// Exit status 2 and one line, whatever is wrong.
TEST_F(Mp2Command, BadInputGetsOneLine) {
  write("h2.xyz", kHydrogen);
  write("short.xyz", "2\n\nH 0 0 0\n");
  write("words.xyz", "2\n\nH 0 0 0\nH 0 zero 1\n");
  write("iron.xyz", "1\n\nFe 0 0 0\n");
  write("radical.xyz", "2\n\nO 0 0 0\nH 0 0 0.97\n");
  write("twice.xyz", "2\n\nHe 0 0 0\nHe 0 0 0.00001\n");
  write("helium.xyz", "1\n\nHe 0 0 0\n");
  write("bad.gbs", "H 0\nS two 1.0\n");
  const std::pair<const char*, const char*> cases[] = {
      {"", "molecule is required"},
      {"nothing.xyz", "cannot read 'nothing.xyz': No such file"},
      {"short.xyz", "short.xyz:4: the file ends after 1 of 2 atoms; expected 'symbol x y z'"},
      {"words.xyz", "words.xyz:4: 'zero' is not a coordinate"},
      {"iron.xyz", "iron.xyz:3: element 'Fe' is not known; expected one of H, He"},
      {"radical.xyz", "radical with charge +0 has 9 electrons, an odd number"},
      {"twice.xyz", "twice.xyz:4: atom 2 (He) is 0.0000 angstrom from atom 1 (He) of line 3"},
      {"h2.xyz --basis sto-9g", "basis set 'sto-9g' is not known; choose one of STO-3G"},
      {"h2.xyz --ri nothing", "basis set 'nothing' is not known"},
      {"h2.xyz --basis-file bad.gbs --ri cc-pvdz-ri", "bad.gbs:2: 'two' is not a number"},
      {"h2.xyz --basis-file none.gbs", "cannot read './none.gbs'"},
      {"helium.xyz", "basis set cc-pVDZ-JKFIT has no functions for He"},
      {"h2.xyz --charge 2", "charge +2 leaves 0 electrons"},
      {"h2.xyz --multiplicity 2", "has 2 electrons, an even number, which does not go with multiplicity 2"},
      {"h2.xyz --multiplicity 5", "has 2 electrons, too few for multiplicity 5; the highest is 3"},
      {"h2.xyz --multiplicity 3 --stochastic 24", "the stochastic estimate is one of closed shells"},
      {"h2.xyz --stochastic 5", "18"},
      {"h2.xyz --screening 1e-8", "J and K are fitted; add --exact-jk"},
      {"h2.xyz --exact-jk --screening -1", "screening"},
      {"h2.xyz --exec sim:trn9", "sim:trn1, sim:trn2, sim:trn3"},
      {"h2.xyz --precision perfect", "perfect"},
      {"h2.xyz --precision tf32x3", "the host computes in float64, not in tf32x3"},
      {"h2.xyz --memory lots", "--memory lots is not an amount of memory"},
      {"h2.xyz --memory 1K --exact-jk", "--memory 0.0 MiB is too little"},
      {"h2.xyz --bohr 5", "one bohr is 5 angstrom"},
      {"h2.xyz --jk cc-pvdz-jkfit --exact-jk", "excludes"},
      {"h2.xyz --guess tea", "tea"},
      {"h2.xyz --json /nowhere/out.json", "/nowhere/out.json"},
      {"h2.xyz --report page.html", "executor 'host' has none; use --exec sim:trn2"},
      {"h2.xyz --exec sim:trn2 --report /nowhere/page.html", "/nowhere/page.html"},
  };
  for (const auto& [arguments, part] : cases) {
    const Result r = run(std::string(arguments) + " --quiet");
    EXPECT_EQ(r.status, 2) << arguments << ": " << r.output;
    EXPECT_NE(r.output.find(part), std::string::npos) << arguments << ": " << r.output;
    EXPECT_EQ(std::count(r.output.begin(), r.output.end(), '\n'), 1) << arguments << ": " << r.output;
  }
}

TEST_F(Mp2Command, NotConvergingIsReportedAndWritten) {
  write("h2.xyz", kHydrogen);
  const Result r = run("h2.xyz --quiet --iterations 1 --json out.json");
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.output.find("the SCF is not converged after 1 iterations"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("hartree  (1 iterations, not converged)"), std::string::npos) << r.output;
  const auto j = nlohmann::json::parse(std::ifstream(folder_ / "out.json"));
  EXPECT_EQ(j["converged"], false);
}

TEST_F(Mp2Command, ModelsStagesOnOneCoreAndOnEight) {
  for (const char* cores : {"1", "8"}) {
    const Result r = run(std::string("--nocc 8 --naux 70 --nvir 12 --cores ") + cores, "2>&1", "mp2-model ");
    EXPECT_EQ(r.status, 0) << r.output;
    for (const char* part : {"transform", "solve", "energies", "gpsimd", "total"})
      EXPECT_NE(r.output.find(part), std::string::npos) << part << "\n" << r.output;
    EXPECT_EQ(r.output.find("panels: a core uses") != std::string::npos, std::string(cores) == "8") << r.output;
  }
  // What a stack gives is the machine's own; trn1's chip has two cores, each with a stack to itself.
  for (const auto& [machine, rate] :
       {std::pair("trn2", "cores 716 GB/s together"), {"trn3", "cores 1225 GB/s together"}}) {
    const Result r =
        run(std::string("--nocc 8 --naux 70 --nvir 12 --cores 8 --machine ") + machine, "2>&1", "mp2-model ");
    EXPECT_NE(r.output.find(rate), std::string::npos) << r.output;
  }
  const Result small = run("--nocc 8 --cores 2 --machine trn1", "2>&1", "mp2-model ");
  EXPECT_EQ(small.status, 2);
  EXPECT_NE(small.output.find("2 cores; the plan for several is one for 8 and a trn1 chip has 2; give 1"),
            std::string::npos)
      << small.output;
  const Result json = run("--nocc 8 --naux 70 --nvir 12 --json -", "2>&1", "mp2-model ");
  ASSERT_EQ(json.status, 0) << json.output;
  const auto j = nlohmann::json::parse(json.output);
  double sum = 0;
  for (const auto& stage : j["stages"]) sum += stage["modelled_seconds"].get<double>();
  EXPECT_EQ(j["stages"].size(), 3U);
  EXPECT_NEAR(j["modelled_seconds"].get<double>(), sum, 1e-12 * sum);
  EXPECT_EQ(j["geometry"]["machine"], "trn2");
  const Result refused = run("--nocc 8 --cores 3", "2>&1", "mp2-model ");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(trn::integration::lines(refused.output), 1) << refused.output;
  EXPECT_NE(refused.output.find("3 cores; give 1, or the 8 of a trn2 chip"), std::string::npos) << refused.output;
}

}  // namespace

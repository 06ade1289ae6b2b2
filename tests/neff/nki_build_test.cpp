// tools/nki_build.py under a real interpreter, over stubs of three generations of nki.
#include "neff/worker.hpp"
#include "processes.hpp"
#include "support.hpp"
#include "test_paths.hpp"

namespace trn::neuron::neff::testing {
namespace {

struct Generation {
  const char* folder;
  const char* version;
  const char* api;
  const char* output;  // what the NEFF calls the result "y"
};

class NkiBuild : public ::testing::TestWithParam<Generation> {};

// An interpreter that finds one generation of the stubs and nothing else under nki's name.
std::string interpreter(const fs::path& folder, const std::string& generation) {
  const std::string stubs = TRN_SOURCE_DIR "/tests/fake_toolchain";
  const fs::path path = folder / "python";
  write(path, "#!/bin/sh\nPYTHONPATH='" + stubs + "/" + generation + ":" + stubs + "' exec " TRN_PYTHON " \"$@\"\n");
  chmod(path.c_str(), 0755);
  return path.string();
}

TEST_P(NkiBuild, BuildsWithTheNewestInterfaceThereIs) {
  const Folder f;
  const Options o = options(f.path() / "cache", interpreter(f.path(), GetParam().folder));
  const Artifact plain = obtain(scale(2), o);
  const Manifest& m = plain.manifest();
  EXPECT_EQ(m.versions.at("api"), GetParam().api);
  EXPECT_EQ(m.versions.at("nki"), GetParam().version);
  EXPECT_EQ(m.versions.at("neuronx-cc"), "2.27.0");
  ASSERT_EQ(m.arguments.size(), 2u);
  EXPECT_EQ(m.arguments[0].name, "x");
  EXPECT_EQ(m.arguments[1].name, GetParam().output);
  EXPECT_EQ(m.arguments[1].tensor, "y");
  EXPECT_FALSE(obtain(scale(2), o).built());
  const Manifest in_place = obtain(scale_in_place(2), o).manifest();
  ASSERT_EQ(in_place.arguments.size(), 2u);
  EXPECT_EQ(in_place.arguments[1].alias, in_place.arguments[0].name);
}

INSTANTIATE_TEST_SUITE_P(Generations, NkiBuild,
                         ::testing::Values(Generation{"nki06", "0.6.0", "nki 0.6", "y"},
                                           Generation{"nki04", "0.4.0", "nki 0.4", "y"},
                                           Generation{"artifacts", "0.3.0", "artifacts", "output_0"}),
                         [](const auto& i) { return i.param.folder; });

TEST(NkiBuildScript, IsTheInstalledFile) {
  EXPECT_EQ(nki_build_script(), content(TRN_SOURCE_DIR "/tools/nki_build.py"));
}

TEST(NkiBuildScript, ARefusalNamesWhatEachInterfaceSaid) {
  const Folder f;
  fs::create_directories(f.path() / "nki");
  write(f.path() / "nki" / "__init__.py", "def jit(f):\n    raise SyntaxError('no such kernel')\n");
  for (const char* name : {"isa.py", "language.py"}) write(f.path() / "nki" / name, "");
  fs::create_directories(f.path() / "nki-9.9.dist-info");
  write(f.path() / "nki-9.9.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: nki\nVersion: 9.9\n");
  write(f.path() / "python", "#!/bin/sh\nPYTHONPATH='" + f.path().string() + "' exec " TRN_PYTHON " \"$@\"\n");
  chmod((f.path() / "python").c_str(), 0755);
  const auto [check, text] =
      error_of([&] { (void)obtain(scale(2), options(f.path() / "cache", (f.path() / "python").string())); });
  EXPECT_EQ(check, "neff-build");
  EXPECT_NE(text.find("nki 0.6: No module named 'nki.compiler'"), std::string::npos) << text;
  EXPECT_NE(text.find("artifacts: SyntaxError: no such kernel"), std::string::npos) << text;
}

}  // namespace
}  // namespace trn::neuron::neff::testing

// obtain: found or built, by whom, under which names; what the manifest says; bundles and Compile::Never.
#include <functional>

#include <nlohmann/json.hpp>

#include <trn/neuron/nki_kernel.hpp>
#include <trn/tile/serialize.hpp>

#include "neff/sha256.hpp"
#include "support.hpp"

namespace trn::neuron::neff::testing {
namespace {

TEST(Obtain, BuildsOnceThenFinds) {
  const Folder f;
  const Artifact built = obtain(scale(2), options(f.path()));
  EXPECT_TRUE(built.built());
  EXPECT_GT(built.seconds(), 0);
  const Artifact found = obtain(scale(2), options(f.path()));
  EXPECT_FALSE(found.built());
  EXPECT_EQ(found.path(), built.path());
  EXPECT_EQ(found.manifest(), built.manifest());
  EXPECT_EQ(sha256(found.bytes()), found.manifest().sha256);
  EXPECT_TRUE(obtain(scale(3), options(f.path())).built());
  EXPECT_EQ(entries(f.path()).size(), 2u);
  const fs::path entry = built.path().parent_path();
  for (const char* name : {"kernel.neff", "manifest.json", "kernel.py", "log.txt"})
    EXPECT_TRUE(fs::exists(entry / name));
  EXPECT_EQ(content(entry / "kernel.py"), nki_kernel(scale(2)).text);
  EXPECT_EQ(entry.filename().string(), built.key());
}

TEST(Obtain, TheKeyKnowsEverythingThatMatters) {
  const std::map<std::string, std::string> versions{{"nki", "0.6.0"}, {"neuronx-cc", "2.27.0"}};
  const std::string key = content_key(scale(2), {}, versions);
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(key, content_key(scale(2), {.machine = "trn2"}, versions));
  EXPECT_NE(key, content_key(scale(3), {}, versions));
  EXPECT_NE(key, content_key(scale(2, "trn3"), {}, versions));
  EXPECT_NE(key, content_key(scale(2), {.lnc = 2}, versions));
  EXPECT_NE(key, content_key(scale(2), {}, {{"nki", "0.6.1"}, {"neuronx-cc", "2.27.0"}}));
  EXPECT_NE(key, content_key(scale(2), {}, {{"nki", "0.6.0"}, {"neuronx-cc", "2.28.0"}}));
}

TEST(Obtain, TheManifestNamesTensorsOfTheNeffAndOfTheProgram) {
  const Folder f;
  const Manifest plain = obtain(scale(2), options(f.path())).manifest();
  const std::vector<Argument> two{{"x", 128 * 16 * 4, false, "", "x"}, {"y", 128 * 16 * 4, true, "", "y"}};
  EXPECT_EQ(plain.arguments, two);
  EXPECT_EQ(plain.entry, "scale");
  EXPECT_EQ(plain.machine, "trn2");
  EXPECT_EQ(plain.versions.at("nki"), "0.6.0");
  const Manifest in_place = obtain(scale_in_place(2), options(f.path())).manifest();
  const std::vector<Argument> alias{{"x_out.must_alias_input", 128 * 16 * 4, false, "", "x_out"},
                                    {"x_out", 128 * 16 * 4, true, "x_out.must_alias_input", "x_out"}};
  EXPECT_EQ(in_place.arguments, alias);
}

TEST(Obtain, NeverNamesTheLineThatMakesTheProgram) {
  const Folder f, other;
  Options never = options(f.path(), "/no/such/interpreter");
  never.compile = Compile::Never;
  const auto [check, text] = error_of([&] { (void)obtain(scale(2), never); });
  EXPECT_EQ(check, "neff-missing");
  EXPECT_NE(text.find("'scale'"), std::string::npos) << text;
  const fs::path missing = f.path() / "missing" / "trn2";
  EXPECT_NE(text.find("trnsci neffc --machine trn2 --lnc 1 --list " + missing.string()), std::string::npos) << text;
  ASSERT_EQ(std::distance(fs::directory_iterator(missing), {}), 1);
  const tile::Program saved = tile::load(fs::directory_iterator(missing)->path().string());
  EXPECT_EQ(saved, scale(2));
  // What was built before is found without an interpreter, and so is what a bundle holds.
  (void)obtain(scale(2), options(f.path()));
  EXPECT_FALSE(obtain(scale(2), never).built());
  never.cache = other.path();
  never.bundle = f.path();
  EXPECT_FALSE(obtain(scale(2), never).built());
  EXPECT_EQ(error_of([&] { (void)obtain(scale(3), never); }).first, "neff-missing");
}

TEST(Obtain, ABundleComesBeforeTheCacheAndIsOnlyRead) {
  const Folder bundle, cache;
  const std::string key = obtain(scale(2), options(bundle.path())).key();
  const fs::path entry = bundle.path() / "trn2" / key.substr(0, 2) / key;
  const auto before = fs::last_write_time(bundle.path() / "trn2");
  Options o = options(cache.path(), "/no/such/interpreter");
  o.bundle = bundle.path();
  EXPECT_EQ(obtain(scale(2), o).path(), entry / "kernel.neff");
  EXPECT_EQ(fs::last_write_time(bundle.path() / "trn2"), before);
  EXPECT_TRUE(entries(cache.path()).empty());
  // A damaged bundle is an error: nothing else may be used in its place.
  write(entry / "kernel.neff", "short");
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-corrupt");
  // So is one that does not say for what, whether or not a compiler is at hand.
  (void)obtain(scale(2), [&] {
    Options again = options(bundle.path());
    again.retry_failed = true;
    return again;
  }());
  const Folder empty;
  for (const std::string python : {"/no/such/interpreter", TRN_FAKE_TOOLCHAIN_PROGRAM}) {
    o.python = python;
    for (const fs::path& file : {entry / "manifest.json", bundle.path() / "toolchains.json"}) {
      const std::string whole = content(file);
      for (const char* damage : {"", "{", "{}", R"({"sha256": "00"})", "[]"}) {
        write(file, damage);
        EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-corrupt") << file << " " << damage;
      }
      fs::remove(file);
      EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-corrupt") << file;
      write(file, whole);
      EXPECT_FALSE(obtain(scale(2), o).built());
    }
  }
  EXPECT_TRUE(entries(cache.path()).empty());
  o.bundle = empty.path();  // holds nothing: the next place is asked
  EXPECT_TRUE(obtain(scale(3), o).built());
  o.python = "/no/such/interpreter";
  o.bundle = bundle.path() / "nothing";
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-missing");
}

TEST(Obtain, DamagedEntriesAreBuiltAgain) {
  const Folder f;
  for (const char* name : {"kernel.neff", "manifest.json"}) {
    const fs::path entry = obtain(scale(2), options(f.path())).path().parent_path();
    const std::string whole = content(entry / name);
    for (const std::string& damage : {std::string(), whole.substr(0, whole.size() / 2), whole + "x",
                                      std::string(whole).replace(whole.size() / 2, 1, "\x01")}) {
      write(entry / name, damage);
      Options never = options(f.path());
      never.compile = Compile::Never;
      EXPECT_EQ(error_of([&] { (void)obtain(scale(2), never); }).first, "neff-corrupt") << name;
      EXPECT_TRUE(obtain(scale(2), options(f.path())).built()) << name;
      EXPECT_FALSE(obtain(scale(2), options(f.path())).built()) << name;
    }
    fs::remove(entry / name);
    EXPECT_TRUE(obtain(scale(2), options(f.path())).built()) << name;
  }
}

// Where a file should be there may be anything.
TEST(Obtain, WhatIsNoFileIsBuiltAgain) {
  const Folder f;
  const std::vector<std::pair<const char*, std::function<void(const fs::path&)>>> kinds{
      {"nothing", [](const fs::path&) {}},
      {"a folder", [](const fs::path& path) { fs::create_directory(path); }},
      {"a pipe", [](const fs::path& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }},
      {"a link to nothing", [](const fs::path& path) { fs::create_symlink("nowhere", path); }},
      {"a link to itself", [](const fs::path& path) { fs::create_symlink(path.filename(), path); }}};
  for (const char* name : {"kernel.neff", "manifest.json", ""}) {
    for (const auto& [kind, make] : kinds) {
      const fs::path entry = obtain(scale(2), options(f.path())).path().parent_path();
      fs::remove_all(*name ? entry / name : entry);
      make(*name ? entry / name : entry);
      EXPECT_TRUE(obtain(scale(2), options(f.path())).built()) << kind << " as " << name;
      EXPECT_FALSE(obtain(scale(2), options(f.path())).built()) << kind << " as " << name;
    }
  }
  // A record of a failure, or of toolchains, that is none.
  const fs::path entry = obtain(scale(3), options(f.path())).path().parent_path();
  for (const char* damage : {"", "{", "[]", R"({"check": 1, "message": "", "time_limit": 0})"}) {
    fs::remove(entry / "kernel.neff");
    fs::remove(entry / "manifest.json");
    write(entry / "failed.json", damage);
    write(f.path() / "toolchains.json", damage);
    EXPECT_TRUE(obtain(scale(3), options(f.path())).built()) << damage;
  }
}

TEST(Obtain, AnEntryOfAnotherProgramIsNotUsed) {
  const Folder f;
  const fs::path two = obtain(scale(2), options(f.path())).path().parent_path();
  const fs::path three = obtain(scale(3), options(f.path())).path().parent_path();
  fs::remove_all(two);
  fs::copy(three, two);  // as if the keys collided
  Options never = options(f.path());
  never.compile = Compile::Never;
  const auto [check, text] = error_of([&] { (void)obtain(scale(2), never); });
  EXPECT_EQ(check, "neff-corrupt");
  EXPECT_NE(text.find("not for 'scale'"), std::string::npos) << text;
  EXPECT_TRUE(obtain(scale(2), options(f.path())).built());
}

TEST(Obtain, TheCallersMistakesAreInvalidArguments) {
  const Folder f;
  Options o = options(f.path());
  o.machine = "trn1";
  EXPECT_THROW((void)obtain(scale(2), o), InvalidArgument);
  o.machine = "trn2";
  o.lnc = 3;
  EXPECT_THROW((void)obtain(scale(2), o), InvalidArgument);
}

TEST(Sha256, KnownAnswers) {
  const auto of = [](std::string_view text) { return Sha256().add(text).finish(); };
  EXPECT_EQ(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  const std::string million(1000000, 'a');
  EXPECT_EQ(of(million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // In pieces of every length around a block.
  for (std::size_t piece = 1; piece < 130; ++piece) {
    Sha256 sum;
    for (std::size_t at = 0; at < 1000; at += piece)
      sum.add(std::string_view(million).substr(at, std::min(piece, 1000 - at)));
    EXPECT_EQ(sum.finish(), of(million.substr(0, 1000))) << piece;
  }
}

}  // namespace
}  // namespace trn::neuron::neff::testing

// The runtime in its process: names of executors, libraries that are missing or wrong, other processes, fork, exit, and
// the whole way from a program by way of the compiler's worker and the cache.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <thread>

#include <trn/core/environment.hpp>
#include <trn/tile/builder.hpp>

#include "silicon/programs.hpp"
#include "silicon/surroundings.hpp"
#include "support/fake_nrt.hpp"
#include "support/message_of.hpp"

namespace trn::neuron::testing {
namespace {

std::string check_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const DeviceError& e) {
    return e.check();
  } catch (const InvalidArgument&) {
    return "argument";
  }
  return "none";
}

// A folder before all others on the path of programs.
class Path {
 public:
  explicit Path(const std::filesystem::path& folder) : before_(environment("PATH", "")) {
    setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
  }
  ~Path() { setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  const std::string before_;
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The bare flavour has no function that tells its version.
TEST(NeuronNames, VersionsOfTheRuntime) {
  {
    FakeRuntime fake("cores=2");
    EXPECT_EQ(neuron_versions().runtime, "2.34.0.0 (fake, new)");
    EXPECT_EQ(fake.violations(), "");
  }
  FakeRuntime bare("cores=2", "bare");
  EXPECT_EQ(neuron_versions().runtime, "");
}

// The bare flavour does not say which machine it is: who opens by name says so by a variable.
TEST(NeuronNames, TheMachineByAVariable) {
  const auto refusal = [] {
    try {
      (void)Executor::open("neuron");
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  FakeRuntime bare("cores=2", "bare");
  EXPECT_NE(refusal().find("set TRN_NEURON_MACHINE to trn1, trn2 or trn3"), std::string::npos) << refusal();
  setenv("TRN_NEURON_MACHINE", "trn9", 1);
  EXPECT_NE(refusal().find("TRN_NEURON_MACHINE is 'trn9'"), std::string::npos) << refusal();
  setenv("TRN_NEURON_MACHINE", "trn3", 1);
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(tile::device_of(Executor::open("neuron")).machine().name, "trn3");
  unsetenv("TRN_NEURON_MACHINE");
}

TEST(NeuronNames, AreKnownWhereALibraryIsNamed) {
  EXPECT_EQ(std::ranges::count(Executor::known(), "neuron"), has_neuron() ? 1 : 0);
  FakeRuntime fake("cores=2");
  EXPECT_EQ(std::ranges::count(Executor::known(), "neuron"), 1);
  EXPECT_EQ(Executor::open("neuron").name(), "neuron");
  EXPECT_EQ(Executor::open("neuron:0").name(), "neuron");
  EXPECT_EQ(Executor::open("neuron:1").name(), "neuron:1");
  EXPECT_EQ(Executor::open().name(), "neuron");
  EXPECT_NE(::trn::testing_support::message_of<InvalidArgument>([] {
              (void)Executor::open("neuron:0-1");
            }).find("comm::Group::open"),
            std::string::npos);
  for (const char* name : {"neuron:0-7", "neuron:0,1", "neuron:", "neuron:x", "neuron:1x", "neuron:-1", "neuron:2"}) {
    EXPECT_EQ(check_of([&] { (void)Executor::open(name); }), "argument") << name;
  }
}

TEST(NeuronNames, TheBestThereIsIsAFreeCore) {
  const Folder folder;
  const std::string file = (folder.path / "cores").string();
  FakeRuntime fake("lock=" + file);
  const int other = open(file.c_str(), O_RDWR | O_CREAT, 0600);  // as another process has it
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_EQ(check_of([] { (void)Executor::open("neuron"); }), "cores-busy");
  EXPECT_EQ(Executor::open().name(), "host");
  // AWS's neuron-ls says who has them.
  const auto error_with = [&](const std::string& script) {
    std::ofstream(folder.path / "neuron-ls") << "#!/bin/sh\n" << script;
    std::filesystem::permissions(folder.path / "neuron-ls", std::filesystem::perms::owner_all);
    const Path path(folder.path);
    return ::trn::testing_support::message_of<DeviceError>([] { (void)Executor::open("neuron"); });
  };
  const std::string busy = error_with(
      R"([ "$1" = -j ] && echo '[{"neuron_processes": [{"pid": 71, "command": "python3 a.py"}, {"pid": 72}]},)"
      R"({"neuron_processes": [{"pid": 71, "command": "python3 a.py"}]}, 3, {"neuron_processes": 1}]')");
  EXPECT_NE(busy.find("(status 1); cores belong to process 71 (python3 a.py), process 72"), std::string::npos) << busy;
  for (const char* script : {"exit 1", "echo '[{'", "echo '{}'", "echo '[]'", "true"}) {
    EXPECT_NE(error_with(script).find("which `neuron-ls` shows"), std::string::npos) << script;
  }
  close(other);
  EXPECT_EQ(Executor::open().name(), "neuron");
}

TEST(NeuronLibrary, WhatIsMissingIsNamed) {
  {
    const Variable library("TRN_NRT_LIBRARY", "/nowhere/libnrt.so.1");
    EXPECT_EQ(check_of([] { (void)open_neuron(); }), "no-runtime");
  }
  const Variable library("TRN_NRT_LIBRARY", "libm.so.6");
  try {
    (void)open_neuron();
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.check(), "no-runtime");
    EXPECT_NE(std::string(e.what()).find("nrt_init"), std::string::npos) << e.what();
  }
}

// Whatever TRN_NRT_LIBRARY names, it is one line of an error, by every way to the library.
TEST(NeuronLibrary, WhatIsNoLibraryIsRefused) {
  const Folder folder;
  const std::string whole = content(std::string(TRN_FAKE_NRT_FOLDER) + "/libnrt.so.1");
  const std::map<std::string, std::string> files{
      {"text", "not a library\n"},        {"empty", ""},
      {"header", whole.substr(0, 64)},    {"start", whole.substr(0, 4096)},
      {"part", whole.substr(0, 1 << 16)}, {"last", whole.substr(0, whole.size() - 1)}};
  for (const auto& [name, text] : files) std::ofstream(folder.path / name, std::ios::binary) << text;
  ASSERT_EQ(mkfifo((folder.path / "pipe").c_str(), 0600), 0);
  for (const char* name : {"text", "empty", "header", "start", "part", "last", "pipe", "."}) {
    const std::string path = (folder.path / name).string();
    const Variable library("TRN_NRT_LIBRARY", path);
    for (const auto& call :
         std::vector<std::function<void()>>{[] { (void)open_neuron(); }, [] { (void)Executor::open("neuron"); },
                                            [] { (void)Executor::open(); }, [] { (void)neuron_versions(); }}) {
      const std::string error = ::trn::testing_support::message_of<DeviceError>(call);
      EXPECT_NE(error.find(path), std::string::npos) << name << ": " << error;
      EXPECT_NE(error.find("TRN_NRT_LIBRARY"), std::string::npos) << name << ": " << error;
      EXPECT_EQ(error.find('\n'), std::string::npos) << name << ": " << error;
      EXPECT_EQ(check_of(call), "no-runtime") << name;
    }
  }
}

// The library without one of its functions: one that is needed is named; one that may be missing is done without.
class NeuronFunctions : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronFunctions, ::testing::ValuesIn(kFlavours),
                         [](const auto& flavour) { return std::string(flavour.param); });

TEST_P(NeuronFunctions, OneIsMissing) {
  const Folder folder;
  const std::string whole = content(fake_library(GetParam()));
  const auto without = [&](const std::string& function) {
    std::string text = whole;
    const std::string name = function + '\0';  // with its end, and behind the end of another
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      if (text[at - 1] == '\0') text[at] = 'x';
    }
    EXPECT_NE(text, whole) << function;
    std::ofstream(folder.path / function, std::ios::binary) << text;
    return (folder.path / function).string();
  };
  for (const char* function : {"nrt_load", "nrt_tensor_read"}) {
    const Variable library("TRN_NRT_LIBRARY", without(function));
    const std::string error = ::trn::testing_support::message_of<DeviceError>([] { (void)open_neuron(); });
    EXPECT_NE(error.find(std::string("has no function ") + function), std::string::npos) << error;
    EXPECT_EQ(check_of([] { (void)open_neuron(); }), "no-runtime");
  }
  if (GetParam() == std::string_view("bare")) return;  // it has no other
  for (const char* function : {"nrta_is_completed", "nrt_get_model_tensor_info", "nrt_tensor_copy"}) {
    const FakeRuntime surroundings("", GetParam());
    const Variable library("TRN_NRT_LIBRARY", without(function));
    const Executor e = open_fake({.machine = "trn2"});
    const NeuronFacts facts = facts_of(e);
    EXPECT_EQ(std::ranges::count(facts.missing, function), 1) << function;
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    twice(e, x, y);
    copy(y.view(), x.view());
    twice(e, x, y);
    EXPECT_EQ(y.to_host(), filled(4)) << function;
  }
}

TEST(NeuronLibrary, TheUsersSettingsAreNotOverridden) {
  FakeRuntime fake;
  {
    const Variable lnc("NEURON_LOGICAL_NC_CONFIG", "2");
    EXPECT_EQ(check_of([] { (void)open_fake(); }), "argument");
  }
  {
    const Variable rounding("NEURON_RT_STOCHASTIC_ROUNDING_EN", "1");
    EXPECT_EQ(check_of([] { (void)open_fake(); }), "argument");
  }
  EXPECT_EQ(check_of([] { (void)open_fake(); }), "none");
}

TEST(NeuronProcess, AForkedChildHasNoRuntime) {
  for (const char* flavour : kFlavours) {
    FakeRuntime fake("", flavour);
    const Executor e = open_fake({.machine = "trn2"});
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    twice(e, x, y);
    e.synchronize();  // so that no thread holds the fake's own mutex while it is copied
    const std::uint64_t calls = fake.count("calls");
    const pid_t child = fork();
    if (child == 0) {
      int wrong = 0;
      {
        const Executor mine = e;
        wrong += check_of([&] { mine.synchronize(); }) != "forked";
        wrong += check_of([&] { twice(mine, x, y); }) != "forked";
        wrong += check_of([&] { (void)open_fake(); }) != "forked";
        { const Array<float> gone = std::move(const_cast<Array<float>&>(x)); }
      }
      wrong += fake.count("calls") != calls;
      _exit(wrong);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(y.to_host(), filled(2));
  }
}

// Cores belong to one process; when it dies, however it does, they are free.
TEST(NeuronProcess, ASecondOneHasNoCoresWhileTheFirstLives) {
  for (const char* flavour : kFlavours) {
    const Folder folder;
    const std::string rules = "lock=" + (folder.path / "cores").string();
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t first = fork();
    if (first == 0) {
      FakeRuntime fake(rules, flavour);
      const Executor e = open_fake({.machine = "trn2"});
      const char word = 'x';
      if (write(ready[1], &word, 1) == 1) pause();
      _exit(1);
    }
    char word = 0;
    ASSERT_EQ(read(ready[0], &word, 1), 1) << flavour;
    FakeRuntime fake(rules, flavour);
    EXPECT_EQ(check_of([] { (void)open_fake({.machine = "trn2"}); }), "cores-busy") << flavour;
    kill(first, SIGKILL);
    ASSERT_EQ(waitpid(first, nullptr, 0), first);
    const Executor e = open_fake({.machine = "trn2"});
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    twice(e, x, y);
    EXPECT_EQ(y.to_host(), filled(2)) << flavour;
    close(ready[0]);
    close(ready[1]);
  }
}

// An executor and an array that outlive exit().
void leave_statics_behind(const char* flavour) {
  // The fake of the statement's own process; its checks are not reached.
  nrt::keep_for_ever(std::make_shared<FakeRuntime>("", flavour));
  static Executor e = open_fake({.machine = "trn2"});
  static auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  static Array<float> y(e, {kRows, kColumns});
  static auto program = tile::load(e, twice_program, Twice{});
  twice(e, x, y);
  std::exit(0);
}

TEST(NeuronProcess, ExitWithWorkQueuedAndDestructorsToCome) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* flavour : kFlavours) {
    EXPECT_EXIT(leave_statics_behind(flavour), ::testing::ExitedWithCode(0), "") << flavour;
  }
}

TEST(NeuronProcess, WorkThatIsQueuedIsDoneBeforeTheExecutorGoes) {
  for (const char* flavour : kFlavours) {
    FakeRuntime fake("", flavour);
    {
      const Executor e = open_fake({.machine = "trn2"});
      const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
      const Array<float> y(e, {kRows, kColumns});
      for (int i = 0; i < 3; ++i) twice(e, x, y);
    }
    EXPECT_EQ(fake.count("runs"), 3u);
  }
}

TEST(NeuronThreads, EightCoresAtOnce) {
  for (const char* flavour : kFlavours) {
    FakeRuntime fake("cores=8", flavour);
    std::vector<std::thread> threads;
    for (int core = 0; core < 8; ++core) {
      threads.emplace_back([core] {
        const Executor e = open_fake({.core = core, .machine = "trn2"});
        const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(static_cast<float>(core)));
        const Array<float> y(e, {kRows, kColumns});
        for (int i = 0; i < 20; ++i) {
          twice(e, x, y, i % 3);
          const Array<float> z(e, {kRows, kColumns});
          twice(e, y, z);
          EXPECT_EQ(z.to_host(), filled(4 * static_cast<float>(core)));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(NeuronThreads, SeveralOnOneCore) {
  for (const char* flavour : kFlavours) {
    FakeRuntime fake("", flavour);
    const Executor e = open_fake({.machine = "trn2"});
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
      threads.emplace_back([&e, number] {
        const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(static_cast<float>(number)));
        for (int i = 0; i < 20; ++i) {
          const Array<float> y(e, {kRows, kColumns});
          twice(e, x, y, number % 2);
          EXPECT_EQ(y.to_host(), filled(2 * static_cast<float>(number)));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// Program, emitted kernel, worker process, cache, NEFF, runtime: with the stand-ins for AWS's compiler and library.
class NeuronWhole : public ::testing::TestWithParam<const char*> {
 protected:
  const Folder folder;
  const Variable cache{"TRN_NEFF_CACHE", folder.path.string()}, python{"TRN_NKI_PYTHON", TRN_FAKE_TOOLCHAIN_PATH};
};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronWhole, ::testing::ValuesIn(kFlavours),
                         [](const auto& flavour) { return std::string(flavour.param); });

TEST_P(NeuronWhole, FromAProgramToItsResult) {
  for (const bool first : {true, false}) {
    FakeRuntime fake("", GetParam());
    const Executor e = open_neuron({.machine = "trn2"});
    const Recorder recorder(e);
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(3));
    const auto y = Array<float>::from_host(e, {kRows, kColumns}, filled(4));
    tile::launch(e, add_into_program, AddInto{}, {{"x", static_cast<const float*>(x.data())}, {"y", y.data()}});
    EXPECT_EQ(y.to_host(), filled(7));
    EXPECT_EQ(recorder.count(EventKind::Compile, "add_into"), first ? 1 : 0);
    EXPECT_EQ(recorder.count(EventKind::Load, "add_into"), 1);
  }
  FakeRuntime fake("", GetParam());
  const Executor e = open_neuron({.machine = "trn2", .compile = false});
  EXPECT_EQ(check_of([&] { (void)tile::load(e, add_into_program, AddInto{}); }), "none");
  EXPECT_EQ(check_of([&] { (void)tile::load(e, twice_program, Twice{}); }), "neff-missing");
}

struct Thrice {
  bool operator==(const Thrice&) const = default;
};
// y = x + x + x: the tensors of twice_program.
tile::Program thrice_program(const Thrice&, const tile::Machine& machine) {
  tile::Builder b("thrice", machine);
  const tile::Access x = b.input("x", DType::Float32, {kRows, kColumns}),
                     y = b.output("y", DType::Float32, {kRows, kColumns}),
                     t = b.sbuf("t", kRows, {kColumns}, DType::Float32),
                     u = b.sbuf("u", kRows, {kColumns}, DType::Float32),
                     v = b.sbuf("v", kRows, {kColumns}, DType::Float32);
  b.dma_copy(t, x);
  b.tensor_tensor(u, t, t, tile::AluOp::Add);
  b.tensor_tensor(v, u, t, tile::AluOp::Add);
  b.dma_copy(y, v);
  return b.finish();
}

// Whole files of another kernel in the place of this one's, with the same tensors, which the runtime would run: they
// are not used.
TEST_P(NeuronWhole, AnEntryWithFilesOfAnotherKernelIsNotUsed) {
  namespace fs = std::filesystem;
  FakeRuntime fake("", GetParam());
  {
    const Executor e = open_neuron({.machine = "trn2"});
    (void)tile::load(e, twice_program, Twice{});
    (void)tile::load(e, thrice_program, Thrice{});
  }
  std::map<std::string, fs::path> entries;  // by program
  for (const auto& file : fs::recursive_directory_iterator(folder.path)) {
    if (file.path().filename() != "manifest.json") continue;
    const std::string text = content(file.path().string());
    entries[text.find("\"thrice\"") == std::string::npos ? "twice" : "thrice"] = file.path().parent_path();
  }
  ASSERT_EQ(entries.size(), 2u);
  const std::string other = content((entries["thrice"] / "kernel.neff").string());
  ASSERT_NE(other, content((entries["twice"] / "kernel.neff").string()));
  for (const std::vector<const char*>& files :
       std::vector<std::vector<const char*>>{{"kernel.neff"}, {"kernel.neff", "manifest.json"}}) {
    for (const char* name : files) {
      fs::remove(entries["twice"] / name);
      fs::copy_file(entries["thrice"] / name, entries["twice"] / name);
    }
    {
      const Executor e = open_neuron({.machine = "trn2", .compile = false});
      EXPECT_EQ(check_of([&] { (void)tile::load(e, twice_program, Twice{}); }), "neff-corrupt") << files.size();
    }
    const Executor e = open_neuron({.machine = "trn2"});
    const Recorder recorder(e);
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(5));
    const Array<float> y(e, {kRows, kColumns});
    twice(e, x, y);
    EXPECT_EQ(y.to_host(), filled(10)) << files.size();
    EXPECT_EQ(recorder.count(EventKind::Compile, "twice"), 1) << files.size();
  }
}

}  // namespace
}  // namespace trn::neuron::testing

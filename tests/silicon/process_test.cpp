// The runtime in its process: names of executors, libraries that are missing or wrong, other processes, fork, exit, and
// the whole way from a program by way of the compiler's worker and the cache.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <thread>

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
  for (const char* flavour : {"new", "bare"}) {
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
  EXPECT_EXIT(leave_statics_behind("new"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(leave_statics_behind("bare"), ::testing::ExitedWithCode(0), "");
}

TEST(NeuronProcess, WorkThatIsQueuedIsDoneBeforeTheExecutorGoes) {
  for (const char* flavour : {"new", "old", "bare"}) {
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
  for (const char* flavour : {"new", "bare"}) {
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
  for (const char* flavour : {"new", "bare"}) {
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
TEST(NeuronWhole, FromAProgramToItsResult) {
  const Folder folder;
  const Variable cache("TRN_NEFF_CACHE", folder.path.string()), python("TRN_NKI_PYTHON", TRN_FAKE_TOOLCHAIN_PATH);
  for (const bool first : {true, false}) {
    FakeRuntime fake;
    const Executor e = Executor::open("neuron");
    const Recorder recorder(e);
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(3));
    const auto y = Array<float>::from_host(e, {kRows, kColumns}, filled(4));
    tile::launch(e, add_into_program, AddInto{}, {{"x", static_cast<const float*>(x.data())}, {"y", y.data()}});
    EXPECT_EQ(y.to_host(), filled(7));
    EXPECT_EQ(recorder.count(EventKind::Compile, "add_into"), first ? 1 : 0);
    EXPECT_EQ(recorder.count(EventKind::Load, "add_into"), 1);
  }
  FakeRuntime fake;
  const Executor e = open_neuron({.compile = false});
  EXPECT_EQ(check_of([&] { (void)tile::load(e, add_into_program, AddInto{}); }), "none");
  EXPECT_EQ(check_of([&] { (void)tile::load(e, twice_program, Twice{}); }), "neff-missing");
}

}  // namespace
}  // namespace trn::neuron::testing

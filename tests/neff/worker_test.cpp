// The worker's faults: each has its error, is on record where it would happen again, and leaves the cache usable.
#include <sys/resource.h>
#include <utime.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include <trn/core/environment.hpp>

#include "neff/files.hpp"
#include "neff/worker.hpp"
#include "processes.hpp"
#include "support.hpp"
#include "test_paths.hpp"

namespace trn::neuron::neff::testing {
namespace {

struct Fault {
  const char* rules;
  const char* check;
  const char* text;
  bool recorded;  // an entry, so that the next call does not build again
};

class WorkerFault : public ::testing::TestWithParam<Fault> {};

TEST_P(WorkerFault, HasItsErrorAndIsOnRecord) {
  const Folder f;
  const std::string counted = std::string(GetParam().rules) + " builds=" + (f.path() / "builds").string();
  Options o = options(f.path() / "cache", toolchain(f.path(), counted));
  if (std::string(GetParam().rules) == "hang") o.time_limit = 0.2;
  const auto [check, text] = error_of([&] { (void)obtain(scale(2), o); });
  EXPECT_EQ(check, GetParam().check) << text;
  EXPECT_NE(text.find(GetParam().text), std::string::npos) << text;
  EXPECT_NE(text.find("'scale'"), std::string::npos) << text;
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, GetParam().check);
  EXPECT_EQ(content(f.path() / "builds").size(), GetParam().recorded ? 1u : 2u);
  if (GetParam().recorded) {
    const std::string again = error_of([&] { (void)obtain(scale(2), o); }).second;
    EXPECT_NE(again.substr(0, again.find('\n')).find("on record"), std::string::npos) << again;  // before the log
  }
  // With a toolchain that works, the same versions and a wish to try again it is built.
  o.python = TRN_FAKE_TOOLCHAIN_PROGRAM;
  o.retry_failed = true;
  o.time_limit = 900;
  EXPECT_TRUE(obtain(scale(2), o).built());
  EXPECT_FALSE(obtain(scale(2), o).built());
}

INSTANTIATE_TEST_SUITE_P(All, WorkerFault,
                         ::testing::Values(Fault{"exit=1", "neff-build", "status 1", true},
                                           Fault{"crash", "neff-build", "signal 6", true},
                                           Fault{"hang", "neff-timeout", "time limit", true},
                                           Fault{"garbage", "neff-build", "not a JSON object", true},
                                           Fault{"refuse", "neff-build", "SyntaxError", true},
                                           Fault{"names", "neff-names", "somebody_else", true},
                                           Fault{"count", "neff-names", "2 outputs", true},
                                           Fault{"empty", "neff-build", "left no NEFF", true},
                                           Fault{"truncated", "neff-corrupt", "follow the header", true},
                                           Fault{"lnc=2", "wrong-lnc", "logical cores of 2", true},
                                           Fault{"noisy exit=3", "neff-build", "status 3", true}),
                         [](const auto& i) {
                           std::string name = i.param.rules;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

TEST(Worker, ALongerLimitTriesAgain) {
  const Folder f;
  Options o = options(f.path() / "cache", toolchain(f.path(), "hang"));
  o.time_limit = 0.05;
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-timeout");
  o.python = TRN_FAKE_TOOLCHAIN_PROGRAM;
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-timeout");
  o.time_limit = 900;
  EXPECT_TRUE(obtain(scale(2), o).built());
}

std::atomic<bool> stop_now{false};

// Who is asked to end does not wait 900 s for a compiler; what was stopped was not refused.
TEST(Worker, IsEndedWhenItsProcessIsToEnd) {
  const Folder f;
  Options o = options(f.path() / "cache", toolchain(f.path(), "hang builds=" + (f.path() / "builds").string()));
  stop_workers_when([] { return stop_now.load(); });
  std::thread later([&] {
    while (content(f.path() / "builds").empty()) usleep(1000);
    stop_now = true;
  });
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-stopped");
  later.join();
  EXPECT_TRUE(entries(f.path() / "cache").empty());
  // None is started then, and versions are not asked.
  EXPECT_EQ(error_of([&] { (void)obtain(scale(3), o); }).first, "neff-stopped");
  EXPECT_EQ(content(f.path() / "builds").size(), 1u);
  o.python = toolchain(f.path(), "", "another");
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), o); }).first, "neff-stopped");
  stop_now = false;
  EXPECT_TRUE(obtain(scale(2), o).built());
  stop_workers_when(nullptr);
}

TEST(Worker, TemporaryFoldersOfTheDeadAreRemoved) {
  const Folder f;
  const std::string before = environment("TMPDIR", "");
  setenv("TMPDIR", f.path().c_str(), 1);
  const auto old = [](const fs::path& path) {
    const utimbuf hour{time(nullptr) - 3600, time(nullptr) - 3600};
    ASSERT_EQ(utime(path.c_str(), &hour), 0);
  };
  const auto made = [&](const char* name) {
    fs::create_directory(f.path() / name);
    write(f.path() / name / "log.txt", "x");
    old(f.path() / name);
  };
  made("trnsci-versions-dead01");
  made("trnsci-check-dead01");  // of another kind
  made("somebody");
  fs::create_directory(f.path() / "trnsci-versions-young1");
  fs::create_directory_symlink(f.path() / "somebody", f.path() / "trnsci-versions-link01");
  fs::path kept;
  {
    const TemporaryFolder alive("versions");
    old(alive.path());
    const TemporaryFolder next("versions");
    EXPECT_TRUE(fs::exists(alive.path()));
    EXPECT_FALSE(fs::exists(f.path() / "trnsci-versions-dead01"));
    kept = next.path();
  }
  EXPECT_FALSE(fs::exists(kept));
  for (const char* name : {"trnsci-check-dead01", "somebody/log.txt", "trnsci-versions-young1"})
    EXPECT_TRUE(fs::exists(f.path() / name)) << name;
  // No place, or no room: the line names what to set.
  setenv("TMPDIR", (f.path() / "missing").c_str(), 1);
  const auto [check, text] = error_of([] { const TemporaryFolder none("versions"); });
  EXPECT_EQ(check, "neff-cache");
  EXPECT_EQ(
      text,
      fmt::format("temporary files: {}/missing: No such file or directory; set TMPDIR to a folder that can be written "
                  "and has room",
                  f.path().string()));
  setenv("TMPDIR", f.path().c_str(), 1);
  const std::string python = toolchain(f.path(), "", "unasked");
  const pid_t child = start([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit nothing{0, 0};
    setrlimit(RLIMIT_FSIZE, &nothing);
    const auto [id, said] = error_of([&] { (void)toolchain_versions(python); });
    return id == "neff-cache" && said.find("set TMPDIR") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
  if (before.empty()) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", before.c_str(), 1);
  }
}

TEST(Worker, WithoutAnInterpreterWhatWasBuiltIsStillFound) {
  const Folder f;
  Options o = options(f.path() / "cache", (f.path() / "nothing").string());
  const auto [check, text] = error_of([&] { (void)obtain(scale(2), o); });
  EXPECT_EQ(check, "neff-toolchain");
  EXPECT_NE(text.find("set TRN_NKI_PYTHON"), std::string::npos) << text;
  (void)obtain(scale(2), options(f.path() / "cache"));
  EXPECT_FALSE(obtain(scale(2), o).built());
  EXPECT_EQ(error_of([&] { (void)obtain(scale(3), o); }).first, "neff-toolchain");
}

TEST(Worker, AnInterpreterWithoutNkiIsNotAToolchain) {
  const Folder f;
  const auto [check, text] =
      error_of([&] { (void)obtain(scale(2), options(f.path() / "cache", toolchain(f.path(), "no-nki"))); });
  EXPECT_EQ(check, "neff-toolchain");
  EXPECT_NE(text.find("no package nki"), std::string::npos) << text;
  // A real interpreter, where AWS's packages are not installed.
  if (std::system(TRN_PYTHON " -c 'import nki' 2> /dev/null") == 0) GTEST_SKIP() << "nki is installed here";
  EXPECT_EQ(error_of([&] { (void)obtain(scale(2), options(f.path() / "cache", TRN_PYTHON)); }).first, "neff-toolchain");
}

TEST(Worker, TheEnvironmentIsReducedAndTheGroupEnds) {
  const Folder f;
  // Leaves a grandchild that would write a file later; the group is killed with the worker.
  write(f.path() / "script", "#!/bin/sh\nenv > env.txt\n(sleep 30; touch late.txt) &\nexit 7\n");
  chmod((f.path() / "script").c_str(), 0755);
  setenv("NEURON_CC_FLAGS", "--secret", 1);
  const Ending ending = run_worker({(f.path() / "script").string()}, f.path(), f.path() / "log.txt", 600);
  unsetenv("NEURON_CC_FLAGS");
  EXPECT_EQ(ending.kind, Ending::Kind::Exit);
  EXPECT_EQ(ending.number, 7);
  const std::string variables = content(f.path() / "env.txt");
  EXPECT_EQ(variables.find("NEURON_CC_FLAGS"), std::string::npos) << variables;
  EXPECT_NE(variables.find("PATH="), std::string::npos);
  EXPECT_NE(variables.find("TMPDIR=" + f.path().string()), std::string::npos);
}

// A worker that hangs ends when its caller is killed: its standard input closes. nki_build.py does this.
TEST(Worker, ThePythonWorkerDoesNotOutliveItsCaller) {
  const Folder f;
  // A package nki whose compiler never ends.
  fs::create_directories(f.path() / "nki" / "compiler");
  write(f.path() / "nki" / "__init__.py", "def jit(f):\n    return f\n");
  for (const char* name : {"isa.py", "language.py"}) write(f.path() / "nki" / name, "");
  write(f.path() / "nki" / "compiler" / "__init__.py", "import os, time\nopen('" + (f.path() / "started").string() +
                                                           "', 'w').write(str(os.getpid()))\ntime.sleep(600)\n");
  write(f.path() / "kernel.py", "def k(x):\n    return x\n");
  write(f.path() / "nki_build.py", std::string(nki_build_script()));
  write(f.path() / "request.json",
        R"({"format": 1, "kernel": "kernel.py", "output": "k.neff", "entry": "k", "machine": "trn2", "lnc": 1,
            "parameters": [], "results": []})");
  const pid_t child = start([&] {
    setenv("PYTHONPATH", f.path().c_str(), 1);
    (void)run_worker({TRN_PYTHON, "nki_build.py", "request.json", "result.json"}, f.path(), f.path() / "log.txt", 600);
    return 0;
  });
  while (content(f.path() / "started").empty()) usleep(1000);
  const pid_t worker = std::stoi(content(f.path() / "started"));
  EXPECT_EQ(kill(worker, 0), 0);
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  // The test's own time limit ends this where it does not work. Nobody may have collected it yet.
  const auto state = [&] {
    const std::string text = content(fmt::format("/proc/{}/stat", worker));
    return text.empty() ? 'Z' : text[text.rfind(')') + 2];
  };
  while (state() != 'Z') usleep(1000);
}

}  // namespace
}  // namespace trn::neuron::neff::testing

// The cache under many processes, sudden deaths, a limit, a full disk and a disk that is only read.
//
// TRN_NEFF_KILLS sets how many processes die in the test of sudden deaths; 20 by default, 200 for a long run.
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "processes.hpp"
#include "support.hpp"

namespace trn::neuron::neff::testing {
namespace {

std::uintmax_t bytes_of(const fs::path& folder) {
  std::uintmax_t total = 0;
  for (const auto& file : fs::directory_iterator(folder)) total += file.file_size();
  return total;
}

std::uintmax_t total_bytes(const fs::path& cache) {
  std::uintmax_t total = 0;
  for (const fs::path& e : entries(cache)) total += bytes_of(e);
  return total;
}

TEST(NeffCache, SixteenProcessesBuildEachProgramOnce) {
  constexpr int kProcesses = 16, kPrograms = 50;
  const Folder f;
  const std::string python = toolchain(f.path(), "builds=" + (f.path() / "builds").string());
  const fs::path cache = f.path() / "cache";
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(start([&] {
      std::mt19937 random(static_cast<unsigned>(p));
      std::vector<int> order(kPrograms);
      for (int i = 0; i < kPrograms; ++i) order[static_cast<std::size_t>(i)] = i;
      std::shuffle(order.begin(), order.end(), random);
      for (const int i : order) {
        const Artifact a = obtain(scale(i + 2), options(cache, python));
        if (a.manifest().hash != scale(i + 2).hash() || a.bytes().empty()) return 1;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(content(f.path() / "builds").size(), static_cast<std::size_t>(kPrograms));
  EXPECT_EQ(entries(cache).size(), static_cast<std::size_t>(kPrograms));
}

// Children obtain programs from a cache that is small enough to remove entries all the time, and die at a random
// moment. Whatever is there afterwards is whole, and the next process cleans up.
TEST(NeffCache, AfterSuddenDeathsEveryEntryIsWhole) {
  const char* wanted = std::getenv("TRN_NEFF_KILLS");
  const int kills = wanted == nullptr ? 20 : std::atoi(wanted);
  constexpr int kPrograms = 8;
  const Folder f;
  const fs::path cache = f.path() / "cache";
  Options o = options(cache);
  (void)obtain(scale(2), o);
  o.limit = static_cast<std::int64_t>(3 * total_bytes(cache));
  std::mt19937 random(7);
  int died = 0;
  for (int k = 0; k < kills; ++k) {
    const pid_t child = start([&] {
      for (;;) (void)obtain(scale(2 + static_cast<int>(random() % kPrograms)), o);
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40000));
    kill(child, SIGKILL);
    died += wait_for(child) == -SIGKILL;
    random.discard(1);
    Options never = o;
    never.compile = Compile::Never;
    for (int i = 0; i < kPrograms; ++i) {
      const std::string check = error_of([&] { (void)obtain(scale(2 + i), never); }).first;
      ASSERT_TRUE(check.empty() || check == "neff-missing") << check << " after death " << k;
    }
  }
  EXPECT_EQ(died, kills);
  for (int i = 0; i < kPrograms; ++i) (void)obtain(scale(2 + i), o);
  EXPECT_LE(total_bytes(cache), static_cast<std::uintmax_t>(o.limit));
  std::size_t left = 0;  // of builds that died
  for (const auto& child : fs::directory_iterator(cache / "tmp")) left += child.is_directory();
  EXPECT_EQ(left, 0u);
}

// A process that dies in the middle of a build has the entry's lock and a folder of its work.
TEST(NeffCache, ADeadBuilderKeepsNobodyWaiting) {
  const Folder f;
  const fs::path cache = f.path() / "cache", started = f.path() / "started", python = f.path() / "slow";
  // Its input is a pipe that the dead process had open.
  write(python, "#!/bin/sh\n[ \"$2\" = --versions ] && exec " TRN_FAKE_TOOLCHAIN_PROGRAM " \"$@\"\necho b > " +
                    started.string() + "\nexec cat > /dev/null\n");
  fs::permissions(python, fs::perms::owner_all);
  const pid_t child = start([&] {
    (void)obtain(scale(2), options(cache, python.string()));
    return 0;
  });
  while (content(started).empty()) usleep(1000);
  const std::string key = content_key(scale(2), options(cache), {{"nki", "0.6.0"}, {"neuronx-cc", "2.27.0"}});
  const fs::path lock = cache / "trn2" / key.substr(0, 2) / (key + ".lock");
  const auto locked = [&] {
    const int file = open(lock.c_str(), O_RDWR | O_CLOEXEC);
    const bool refused = file < 0 || flock(file, LOCK_EX | LOCK_NB) != 0;
    close(file);
    return refused;
  };
  EXPECT_TRUE(fs::exists(lock));
  EXPECT_TRUE(locked());
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  EXPECT_TRUE(fs::exists(lock));
  EXPECT_FALSE(locked());
  EXPECT_TRUE(obtain(scale(2), options(cache)).built());
  for (const auto& left : fs::directory_iterator(cache / "tmp")) EXPECT_FALSE(left.is_directory()) << left.path();
}

TEST(NeffCache, TheLeastRecentlyUsedGoAndHeldOnesStay) {
  const Folder f;
  Options o = options(f.path());
  const Artifact held = obtain(scale(2), o);
  const auto one = static_cast<std::int64_t>(total_bytes(f.path()));
  o.limit = 4 * one + one / 2;
  for (int i = 3; i <= 5; ++i) (void)obtain(scale(i), o);  // 2 3 4 5: full
  EXPECT_EQ(entries(f.path()).size(), 4u);
  (void)obtain(scale(3), o);  // used again: 4 is the oldest that nobody holds
  (void)obtain(scale(6), o);
  const auto there = [&](int i) {
    return fs::exists(f.path() / "trn2" /
                      content_key(scale(i), o, {{"nki", "0.6.0"}, {"neuronx-cc", "2.27.0"}}).substr(0, 2) /
                      content_key(scale(i), o, {{"nki", "0.6.0"}, {"neuronx-cc", "2.27.0"}}));
  };
  EXPECT_TRUE(there(2) && there(3) && !there(4) && there(5) && there(6));
  for (int i = 7; i < 30; ++i) {
    (void)obtain(scale(i), o);
    ASSERT_LE(total_bytes(f.path()), static_cast<std::uintmax_t>(o.limit + one)) << i;
    ASSERT_TRUE(there(2)) << i;
  }
  EXPECT_EQ(held.bytes().size(), fs::file_size(held.path()));
  // A limit below a single entry keeps what is held and the newest.
  o.limit = 1;
  (void)obtain(scale(40), o);
  EXPECT_EQ(entries(f.path()).size(), 2u);
  EXPECT_TRUE(there(2) && there(40));
}

TEST(NeffCache, TheLimitHoldsAmongProcesses) {
  const Folder f;
  Options o = options(f.path());
  (void)obtain(scale(2), o);
  o.limit = static_cast<std::int64_t>(5 * total_bytes(f.path()));
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    children.push_back(start([&] {
      for (int i = 0; i < 15; ++i) (void)obtain(scale(100 * (p + 1) + i), o);
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_LE(total_bytes(f.path()), static_cast<std::uintmax_t>(o.limit));
  // A count that was lost or damaged is made anew.
  for (const char* damage : {"", "x", "-5\n", "99999999999999999999999\n"}) {
    write(f.path() / "usage", damage);
    (void)obtain(scale(1000 + damage[0]), o);
    EXPECT_LE(total_bytes(f.path()), static_cast<std::uintmax_t>(o.limit)) << damage;
  }
}

TEST(NeffCache, AClockSetBackRemovesNothingThatIsHeld) {
  const Folder f;
  Options o = options(f.path());
  const Artifact held = obtain(scale(2), o);
  for (const fs::path& e : entries(f.path())) {
    fs::last_write_time(e / "manifest.json", fs::file_time_type::clock::now() + std::chrono::hours(100000));
  }
  (void)obtain(scale(3), o);
  o.limit = 1;
  (void)obtain(scale(4), o);
  EXPECT_TRUE(fs::exists(held.path()));
  EXPECT_EQ(entries(f.path()).size(), 2u);
}

// A file system of its own for one child: small, or only to be read. Needs the right to make a mount namespace.
template <class Body> int in_own_mount(const fs::path& at, const char* kind, const Body& body) {
  constexpr int kNotPermitted = 77;
  return wait_for(start([&] {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNotPermitted;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kNotPermitted;
    if (std::string(kind) == "full") {
      if (mount("tmpfs", at.c_str(), "tmpfs", 0, "size=64k") != 0) return kNotPermitted;
    } else {
      if (mount(at.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) != 0) return kNotPermitted;
      if (mount(nullptr, at.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0) return kNotPermitted;
    }
    return body();
  }));
}

TEST(NeffCache, AFullDiskFailsTheBuildAndLeavesTheCacheAsItWas) {
  const Folder f;
  const int status = in_own_mount(f.path(), "full", [&] {
    int built = 0;
    for (int i = 2; i < 40; ++i) {
      const std::string check = error_of([&] { (void)obtain(scale(i), options(f.path())); }).first;
      if (check.empty()) {
        ++built;
        continue;
      }
      if (check != "neff-cache" && check != "neff-build") return 2;
      // What was there is whole, and nothing of the failed build is left.
      if (entries(f.path()).size() != static_cast<std::size_t>(built)) return 3;
      Options never = options(f.path());
      never.compile = Compile::Never;
      for (int j = 2; j < i; ++j) (void)obtain(scale(j), never);
      for (const auto& child : fs::directory_iterator(f.path() / "tmp")) {
        if (child.is_directory()) return 4;
      }
      return built > 0 ? 0 : 5;
    }
    return 6;
  });
  if (status == 77) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(status, 0);
}

TEST(NeffCache, AWriteThatFailsIsACacheError) {
  const Folder f;
  const int status = wait_for(start([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);  // kernel.py is longer
    return error_of([&] { (void)obtain(scale(2), options(f.path())); }).first == "neff-cache" ? 0 : 1;
  }));
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(entries(f.path()).empty());
}

// What a bundle lacks is built in the cache beside it; where that is full, what the bundle has still serves.
TEST(NeffCache, ABundleThatIsOnlyReadBesideACache) {
  const Folder bundle, cache;
  (void)obtain(scale(2), options(bundle.path()));
  Options o = options(cache.path());
  o.bundle = bundle.path();
  const int status = in_own_mount(bundle.path(), "read-only", [&] {
    if (obtain(scale(2), o).built()) return 2;
    if (!entries(cache.path()).empty()) return 3;
    if (!obtain(scale(3), o).built()) return 4;
    return obtain(scale(3), o).built() ? 5 : 0;
  });
  if (status == 77) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(in_own_mount(cache.path(), "full",
                         [&] {
                           std::string check;
                           for (int i = 4; i < 40 && check.empty(); ++i) {
                             check = error_of([&] { (void)obtain(scale(i), o); }).first;
                           }
                           if (check != "neff-cache" && check != "neff-build") return 2;
                           return obtain(scale(2), o).built() ? 3 : 0;
                         }),
            0);
}

TEST(NeffCache, ACacheThatIsOnlyReadServesWhatItHas) {
  const Folder f;
  (void)obtain(scale(2), options(f.path()));
  const int status = in_own_mount(f.path(), "read-only", [&] {
    if (obtain(scale(2), options(f.path())).built()) return 2;
    const auto [check, text] = error_of([&] { (void)obtain(scale(3), options(f.path())); });
    if (check != "neff-cache") return 3;
    return text.find("Read-only file system") == std::string::npos ? 4 : 0;
  });
  if (status == 77) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(status, 0);
  // A path that cannot be a folder.
  write(f.path() / "file", "");
  EXPECT_EQ(error_of([&] { (void)obtain(scale(3), options(f.path() / "file" / "cache")); }).first, "neff-cache");
}

}  // namespace
}  // namespace trn::neuron::neff::testing

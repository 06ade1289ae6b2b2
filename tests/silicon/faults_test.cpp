// Faults planted at every call of the runtime: each gives its error, the executor is usable afterwards or says that it
// is not, other arrays keep their values, nothing leaks and nobody waits for ever.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "silicon/programs.hpp"
#include "support/fake_nrt.hpp"

namespace trn::neuron::testing {
namespace {

// What a status means to a caller, written down a second time. "": an InternalError.
struct Wanted {
  std::string id;
  Recovery recovery;
};
Wanted wanted_of(std::uint32_t status) {
  static const std::map<std::uint32_t, Wanted> table{{2, {"", Recovery::Retry}},
                                                     {3, {"", Recovery::Retry}},
                                                     {1002, {"", Recovery::Retry}},
                                                     {4, {"over-capacity", Recovery::Retry}},
                                                     {11, {"over-capacity", Recovery::Retry}},
                                                     {5, {"exec-timeout", Recovery::RestartProcess}},
                                                     {6, {"hardware", Recovery::RestartProcess}},
                                                     {1201, {"hardware", Recovery::RestartProcess}},
                                                     {1202, {"hardware", Recovery::RestartProcess}},
                                                     {1203, {"hardware", Recovery::RestartProcess}},
                                                     {1204, {"hardware", Recovery::RestartProcess}},
                                                     {1205, {"hardware", Recovery::RestartProcess}},
                                                     {7, {"queue-full", Recovery::Retry}},
                                                     {9, {"cores-busy", Recovery::Retry}},
                                                     {10, {"neff-version", Recovery::Retry}},
                                                     {1003, {"numerical-error", Recovery::Retry}},
                                                     {1004, {"exec-failed", Recovery::Retry}},
                                                     {1005, {"core-busy", Recovery::Retry}},
                                                     {1006, {"out-of-bounds", Recovery::Retry}},
                                                     {13, {"closed", Recovery::RestartProcess}},
                                                     {14, {"closed", Recovery::RestartProcess}},
                                                     {101, {"restart-process", Recovery::RestartProcess}},
                                                     {1100, {"collective", Recovery::Reopen}},
                                                     {1200, {"collective", Recovery::Reopen}},
                                                     {1206, {"collective", Recovery::Reopen}}};
  const auto found = table.find(status);
  return found == table.end() ? Wanted{"nrt-status-" + std::to_string(status), Recovery::Retry} : found->second;
}
const std::vector<std::uint32_t> kStatuses{1,    2,    3,    4,    5,    6,    7,    9,    10,   11,
                                           13,   14,   15,   101,  1002, 1003, 1004, 1005, 1006, 1100,
                                           1200, 1201, 1202, 1203, 1204, 1205, 1206, 4711};

// The executor's limit for a run is far away, so that a machine that is busy never reaches it by itself; short where a
// test plants a run that does not end.
NeuronOptions options(double time_limit = 600) {
  NeuronOptions o;
  o.machine = "trn2";
  o.busy_limit = 0.002;
  o.time_limit = time_limit;
  return o;
}
constexpr double kShortLimit = 0.05;

struct Outcome {
  std::string id = "none", text;
  Recovery recovery = Recovery::Retry;
};
Outcome outcome_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const DeviceError& e) {
    return {e.check(), e.what(), e.recovery()};
  } catch (const InternalError& e) {
    return {"", e.what()};
  }
  return {};
}

// Allocations, uploads, two programs, a slice, four runs, a copy within and a copy out.
void use(const Executor& e) {
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns}), two(e, {2 * kRows, kColumns});
  twice(e, x, y);
  tile::launch(e, twice_program, Twice{1}, {{"x", static_cast<const float*>(y.data())}, {"y", two.data()}});
  tile::launch(e, twice_program, Twice{1},
               {{"x", static_cast<const float*>(y.data())}, {"y", two.data() + kRows * kColumns}});
  twice(e, y, x);
  copy(x.view(), y.view());
  EXPECT_EQ(y.to_host(), filled(4));
}

struct Case {
  std::string flavour, call;
};
const std::vector<std::string> kCalls{"nrt_load",
                                      "nrt_get_model_tensor_info",
                                      "nrt_tensor_allocate",
                                      "nrt_tensor_allocate_slice",
                                      "nrt_tensor_write",
                                      "nrt_tensor_read",
                                      "nrt_tensor_copy",
                                      "nrt_allocate_tensor_set",
                                      "nrt_add_tensor_to_tensor_set",
                                      "nrt_execute",
                                      "nrta_execute_schedule",
                                      "nrta_is_completed",
                                      "nrt_get_visible_vnc_count",
                                      "nrt_get_instance_info",
                                      "nrt_free_model_tensor_info",
                                      "nrt_unload",
                                      "complete"};
// Every fault gives its error within this many seconds: of the processor, for others may use the machine, too. Waiting
// has limits of its own.
constexpr double kMostSeconds = 5;
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Ids that a planted status may give in this place. A fault that goes away is got over where waiting or making room can
// help.
bool is_allowed(const std::string& call, std::uint32_t status, bool forever, const Outcome& outcome) {
  const Wanted wanted = wanted_of(status);
  const bool runs = call == "nrt_execute" || call == "nrta_execute_schedule";
  if (call == "nrt_get_model_tensor_info" && wanted.recovery != Recovery::RestartProcess) {
    return outcome.id == "neff-names";
  }
  // Where nothing depends on the answer: what it frees may stay, a machine that is named need not be told.
  if (call == "nrt_free_model_tensor_info" || call == "nrt_unload" || call == "nrt_get_instance_info") {
    return outcome.id == "none";
  }
  if (call == "nrta_is_completed" && wanted.recovery != Recovery::RestartProcess) {
    return outcome.id == (forever ? "exec-timeout" : "none");  // asked again, up to the limit
  }
  if (status == 1003 && call == "complete") return outcome.id == "none";
  if (!forever && (status == 4 || status == 11)) return outcome.id == "none" || outcome.id == wanted.id;
  if (!forever && (status == 7 || status == 1005) && (runs || call == "complete")) {
    return outcome.id == "none" || outcome.id == wanted.id;
  }
  return outcome.id == wanted.id && (wanted.id.empty() || outcome.recovery == wanted.recovery);
}

class NeuronFaults : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronFaults, ::testing::ValuesIn(kFlavours),
                         [](const auto& flavour) { return std::string(flavour.param); });

TEST_P(NeuronFaults, EveryStatusAtEveryCall) {
  const std::string flavour = GetParam();
  std::map<std::string, std::uint64_t> sites;
  {
    FakeRuntime fake("", flavour);
    use(open_fake(options()));
    for (const std::string& call : kCalls) sites[call] = fake.count(call.c_str());
  }
  int faults = 0;
  double longest = 0;
  for (const auto& [call, count] : sites) {
    for (std::uint64_t nth = 1; nth <= count; ++nth) {
      for (const std::uint32_t status : kStatuses) {
        for (const bool forever : {false, true}) {
          if (forever && nth > 1) continue;
          if (call == "nrt_execute" && status == 1003) continue;  // the run is over: see "complete"
          SCOPED_TRACE(fmt::format("{} call {} status {}{}", call, nth, status, forever ? " for ever" : ""));
          // The second array and its upload are one call each ahead of those of the scenario.
          const bool shifted = call == "nrt_tensor_allocate" || call == "nrt_tensor_write";
          FakeRuntime fake(
              fmt::format("call={} nth={} status={} count={}", call, nth + (shifted ? 1 : 0), status, forever ? 0 : 1),
              flavour);
          ++faults;
          const double begin = processor_seconds();
          const NeuronOptions o = options(forever && call == "nrta_is_completed" ? kShortLimit : 600);
          if (call == "nrt_get_visible_vnc_count") {
            const Outcome outcome = outcome_of([&] { (void)open_fake(o); });
            EXPECT_TRUE(is_allowed(call, status, forever, outcome)) << outcome.id << ": " << outcome.text;
            continue;
          }
          // The runtime keeps what it was not given back.
          if (call == "nrt_free_model_tensor_info" || call == "nrt_unload") fake.lost = true;
          const Executor e = open_fake(o);
          const auto witness = Array<float>::from_host(e, {kRows, kColumns}, numbers(3));
          const Outcome outcome = outcome_of([&] { use(e); });
          EXPECT_TRUE(is_allowed(call, status, forever, outcome)) << outcome.id << ": " << outcome.text;
          if (outcome.recovery == Recovery::RestartProcess) {
            fake.lost = true;
            EXPECT_EQ(outcome_of([&] { e.synchronize(); }).id, outcome.id);
            EXPECT_EQ(outcome_of([&] { (void)open_fake(o); }).id, outcome.id);
          } else if (!forever) {
            EXPECT_EQ(witness.to_host(), numbers(3));
            EXPECT_EQ(outcome_of([&] { use(e); }).id, "none");
          }
          const double seconds = processor_seconds() - begin;
          EXPECT_LT(seconds, kMostSeconds);
          longest = std::max(longest, seconds);
        }
      }
    }
  }
  RecordProperty("faults", faults);
  std::printf("%s: %d faults, at most %.0f ms of the processor for one\n", flavour.c_str(), faults, 1e3 * longest);
  EXPECT_GT(faults, 400);
}

TEST_P(NeuronFaults, TheRuntimeDoesNotStart) {
  for (const std::uint32_t status : kStatuses) {
    const bool refused = status == 1 || status == 2 || status == 9;
    FakeRuntime fake(fmt::format("call=nrt_init status={}", status), GetParam());
    EXPECT_EQ(outcome_of([&] { (void)open_fake(options()); }).id, refused ? "cores-busy" : wanted_of(status).id);
    EXPECT_NO_THROW(use(open_fake(options())));  // the next one does
  }
}

// A call that does not come back until the library is reset, which another thread does after a while: whoever waits
// gets an answer then, and the core is lost or usable, not both.
TEST_P(NeuronFaults, ACallThatHangsIsSurvived) {
  for (const std::string& call : kCalls) {
    if (call == "complete" || call == "nrt_get_visible_vnc_count" || call == "nrt_get_instance_info") continue;
    SCOPED_TRACE(call);
    FakeRuntime fake(fmt::format("call={} hang", call), GetParam());
    fake.lost = fake.expects_violations = true;
    std::atomic<bool> ended{false};
    Outcome outcome;
    std::thread user([&] {
      outcome = outcome_of([&] { use(open_fake(options())); });
      ended = true;
    });
    // Other threads, and other cores, go on meanwhile. The test's own limit ends this where nothing comes back.
    while (!ended) {
      if (fake.count(call.c_str()) > 0) fake.release();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    user.join();
    EXPECT_NE(outcome.id, "") << outcome.text;
  }
}

// What the runtime's queue takes before it is full: the executor waits for the oldest and goes on.
TEST_P(NeuronFaults, AShortQueueIsNoError) {
  for (const int depth : {1, 2, 3}) {
    FakeRuntime fake(fmt::format("depth={} lag=3", depth), GetParam());
    const Executor e = open_fake(options());
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    for (int i = 0; i < 6; ++i) {
      twice(e, x, y);
      twice(e, y, x);
    }
    EXPECT_EQ(x.to_host(), filled(4096));
    EXPECT_EQ(fake.count("runs"), 12u);
    if (GetParam() == std::string_view("new") && depth < 3) {
      EXPECT_GT(fake.count("nrta_execute_schedule"), 12u);  // some were refused first
    }
  }
}

// The library ends the process: nothing can be done about it, but no second process is kept from the cores and no file
// of the cache is torn.
TEST_P(NeuronFaults, ALibraryThatEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string flavour = GetParam();
  for (const char* call : {"nrt_load", "complete"}) {
    EXPECT_EXIT(
        {
          FakeRuntime fake(fmt::format("call={} crash", call), flavour);
          use(open_fake(options()));
        },
        ::testing::ExitedWithCode(86), "");
  }
}

// A run that does not end costs its core, and nothing else: whoever waits hears of it, later calls fail at once, what
// the run may still write stays, other cores go on. No call of the runtime is made that could wait for the run.
TEST_P(NeuronFaults, ARunThatNeverEndsCostsItsCoreAlone) {
  FakeRuntime fake("cores=2 stuck=0", GetParam());
  fake.lost = true;
  NeuronOptions second = options();
  second.core = 1;
  const Executor other = open_fake(second);
  const auto a = Array<float>::from_host(other, {kRows, kColumns}, filled(1));
  const Array<float> b(other, {kRows, kColumns});
  {
    const Executor e = open_fake(options(kShortLimit));
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    const auto executable = tile::load(e, twice_program, Twice{});
    twice(e, x, y);
    // On a busy machine the first run's limit may be over before the second is queued, which then says so.
    const Outcome queued = outcome_of([&] { twice(e, y, x); });
    const Outcome outcome = outcome_of([&] { e.synchronize(); });
    EXPECT_EQ(outcome.id, "exec-timeout");
    EXPECT_EQ(outcome.recovery, Recovery::RestartProcess);
    if (queued.id == "none") {
      EXPECT_NE(outcome.text.find("program 'twice' (run 1, NEFF "), std::string::npos) << outcome.text;
      EXPECT_NE(outcome.text.find("not over within the executor's limit"), std::string::npos) << outcome.text;
    } else {
      EXPECT_EQ(queued.id, "exec-timeout") << queued.text;
    }
    const std::uint64_t calls = fake.count("calls");
    const std::vector<std::function<void()>> later{[&] { e.synchronize(); },
                                                   [&] { twice(e, x, y); },
                                                   [&] { (void)y.to_host(); },
                                                   [&] { copy(x.view(), y.view()); },
                                                   [&] {
                                                     (void)Array<float>::from_host(e, {kRows, kColumns}, filled(1));
                                                   },
                                                   [&] { (void)tile::load(e, twice_program, Twice{1}); },
                                                   [&] { (void)open_fake(options(kShortLimit)); }};
    for (std::size_t i = 0; i < later.size(); ++i) {
      const Outcome again = outcome_of(later[i]);
      EXPECT_EQ(again.id, "exec-timeout") << i;
      EXPECT_EQ(again.recovery, Recovery::RestartProcess) << i;
    }
    EXPECT_EQ(fake.count("calls"), calls);
    twice(other, a, b);
    EXPECT_EQ(b.to_host(), filled(2));
  }
  // Two of the lost core, which the run may still use, and two of the other.
  EXPECT_EQ(fake.count("tensors"), 4u);
  EXPECT_EQ(outcome_of([&] { (void)open_fake(options(kShortLimit)); }).id, "exec-timeout");
  fake.release();  // the run ends after all, and nobody minds
  twice(other, b, a);
  EXPECT_EQ(a.to_host(), filled(4));
  EXPECT_EQ(outcome_of([&] { (void)open_fake(options(kShortLimit)); }).id, "exec-timeout");
}

// A run that fails, and behind it one of which nobody can say whether it is over: both are told, the first one first.
TEST(NeuronFault, ALossBehindAFailureIsALoss) {
  FakeRuntime fake("call=complete nth=1 status=1004; call=nrta_is_completed nth=4 status=1 count=0");
  fake.lost = true;
  const Executor e = open_fake(options(kShortLimit));
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns});
  twice(e, x, y);
  twice(e, x, y);
  EXPECT_EQ(outcome_of([&] { e.synchronize(); }).id, "exec-failed");
  const Outcome second = outcome_of([&] { e.synchronize(); });
  EXPECT_EQ(second.id, "exec-timeout");
  EXPECT_EQ(second.recovery, Recovery::RestartProcess);
  EXPECT_NE(second.text.find("(run 2, NEFF "), std::string::npos) << second.text;
}

// The process ends, although the run does not: the runtime's own end, which might wait for it, is left out.
void end_beside_a_run(const char* flavour) {
  nrt::keep_for_ever(
      std::make_shared<FakeRuntime>("stuck=0; call=nrt_close hang", flavour));  // its checks are not reached
  static const Executor e = open_fake(options(kShortLimit));
  static const Array<float> x(e, {kRows, kColumns});
  static const Array<float> y(e, {kRows, kColumns});
  twice(e, x, y);
  std::exit(outcome_of([&] { e.synchronize(); }).id == "exec-timeout" ? 0 : 1);
}
TEST_P(NeuronFaults, TheProcessEndsBesideARunThatDoesNot) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_beside_a_run(GetParam()), ::testing::ExitedWithCode(0), "");
}

// What a lost core leaves in the process: arrays of the runtime's, but no thread. A thread that has ended and is not
// joined keeps its stack, 2 MiB or more; the system's library keeps up to 40 MiB of stacks for the next threads, and
// every arena that malloc opens for a thread reserves 64 MiB, so that the test allows a single one. The
// sanitizers take address space for themselves; of these threads ThreadSanitizer tells after any test.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_P(NeuronFaults, ALostCoreKeepsNoThread) {
  ASSERT_EQ(mallopt(M_ARENA_MAX, 1), 1);
  const auto address_space = [] {
    std::ifstream file("/proc/self/statm");
    std::int64_t pages = 0;
    file >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  const auto lose = [&](int times) {
    for (int i = 0; i < times; ++i) {
      FakeRuntime fake("call=complete nth=1 status=101", GetParam());
      fake.lost = fake.expects_violations = true;
      const Executor e = open_fake(options());
      EXPECT_EQ(outcome_of([&] { use(e); }).id, "restart-process");
    }
  };
  lose(1);
  const std::int64_t before = address_space();
  lose(256);
  EXPECT_LT(address_space() - before, std::int64_t{256} << 20);  // 256 stacks: 512 MiB or more
}
#endif

TEST_P(NeuronFaults, FailuresHaveTheProgramsNameAndSkipWhatIsBehind) {
  FakeRuntime fake("call=complete nth=2 status=1004", GetParam());
  const Executor e = open_fake(options());
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns});
  const Recorder recorder(e);
  for (int i = 0; i < 8; ++i) twice(e, x, y, i);
  const Outcome outcome = outcome_of([&] { e.synchronize(); });
  EXPECT_EQ(outcome.id, "exec-failed");
  EXPECT_NE(outcome.text.find("program 'twice1' (run 2, NEFF "), std::string::npos) << outcome.text;
  EXPECT_EQ(recorder.count(EventKind::Run), 1);
  // At most those that the runtime had already run behind it.
  EXPECT_LE(fake.count("runs"), 4u);
  EXPECT_NO_THROW(e.synchronize());
  twice(e, x, y);
  EXPECT_EQ(y.to_host(), filled(2));
}

TEST_P(NeuronFaults, NanIsAResultUnlessItIsRefused) {
  for (const Nan nan : {Nan::Accept, Nan::Refuse}) {
    FakeRuntime fake("call=complete nth=1 status=1003", GetParam());
    NeuronOptions o = options();
    o.nan = nan;
    const Executor e = open_fake(o);
    const Recorder recorder(e);
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    twice(e, x, y);
    const Outcome outcome = outcome_of([&] { (void)y.to_host(); });
    EXPECT_EQ(outcome.id, nan == Nan::Accept ? "none" : "numerical-error");
    EXPECT_EQ(recorder.count(EventKind::NumericalError, "twice"), 1);
    EXPECT_EQ(recorder.count(EventKind::Run, "twice"), nan == Nan::Accept ? 1 : 0);
  }
}

TEST_P(NeuronFaults, FullMemoryMakesRoom) {
  FakeRuntime fake("memory=64KiB", GetParam());
  const Executor e = open_fake(options());
  const Recorder recorder(e);
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns});
  // Programs take memory too: the ones that were not used for the longest time go, and come back when they are run.
  for (int i = 0; i < 30; ++i) twice(e, x, y, i);
  twice(e, x, y, 0);
  EXPECT_EQ(y.to_host(), filled(2));
  EXPECT_GT(recorder.count(EventKind::Unload), 0);
  EXPECT_GT(recorder.count(EventKind::Load), 30);
  { const Buffer large(e, 60 << 10); }
  const Outcome outcome = outcome_of([&] { const Buffer large(e, 65 << 10); });
  EXPECT_EQ(outcome.id, "over-capacity");
  twice(e, x, y, 7);
  EXPECT_EQ(y.to_host(), filled(2));
}

template <class Args> FakeNeff neff_of(tile::ProgramBuilder<Args> build, const Args& args) {
  return fake_neff(build(args, tile::machine("trn2")));
}

TEST_P(NeuronFaults, WrongFilesAreRefused) {
  FakeRuntime fake("", GetParam());
  const auto open_with = [&](const std::function<void(FakeNeff&)>& change) {
    return nrt::open_device(options(), [change](const tile::Program& program) {
      auto made = std::make_shared<FakeNeff>(fake_neff(program));
      change(*made);
      return nrt::Compiled{made, made->bytes, made->manifest, "key", true, 0};
    });
  };
  const auto id_with = [&](const std::function<void(FakeNeff&)>& change) {
    const Executor e = open_with(change);
    return outcome_of([&] { (void)tile::load(e, twice_program, Twice{}); }).id;
  };
  EXPECT_EQ(id_with([](FakeNeff&) {}), "none");
  EXPECT_EQ(id_with([](FakeNeff& n) { n.bytes.resize(1000); }), "neff-corrupt");
  EXPECT_EQ(id_with([](FakeNeff& n) { n.bytes.resize(n.bytes.size() - 1); }), "neff-corrupt");
  EXPECT_EQ(id_with([](FakeNeff& n) { n.bytes[552] = std::byte{2}; }), "wrong-lnc");
  EXPECT_EQ(id_with([](FakeNeff& n) { n.bytes[24] = std::byte{9}; }), "neff-version");
  EXPECT_EQ(id_with([](FakeNeff& n) { n.bytes[1024 + 512] ^= std::byte{1}; }), "nrt-status-1");  // inside of the tar
  EXPECT_EQ(id_with([](FakeNeff& n) { n.manifest.arguments[0].bytes += 4; }), "neff-names");
  EXPECT_EQ(id_with([](FakeNeff& n) { n.manifest.arguments[0].tensor = "q"; }), "neff-names");
  EXPECT_EQ(id_with([](FakeNeff& n) { n.manifest.arguments.pop_back(); }), "neff-names");
  // Whole files of another kernel. With its manifest it is another program, whatever its tensors; under the manifest of
  // this one its tensors are others.
  const auto another = [](const FakeNeff& other) { return [other](FakeNeff& n) { n = other; }; };
  const FakeNeff twin = neff_of(twice_program, Twice{1}), other = neff_of(add_into_program, AddInto{});
  EXPECT_EQ(id_with(another(twin)), "neff-names");
  EXPECT_EQ(id_with(another(other)), "neff-names");
  // What only the runtime knows to be wrong. The bare library does not tell: the run is refused, and writes nothing.
  for (const auto& change : {std::function<void(FakeNeff&)>([](FakeNeff& n) { n.manifest.arguments[0].name = "q"; }),
                             std::function<void(FakeNeff&)>([other](FakeNeff& n) { n.bytes = other.bytes; })}) {
    if (GetParam() != std::string_view("bare")) {
      EXPECT_EQ(id_with(change), "neff-names");
      continue;
    }
    const Executor e = open_with(change);
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1)),
               y = Array<float>::from_host(e, {kRows, kColumns}, filled(7));
    const Outcome outcome = outcome_of([&] {
      twice(e, x, y);
      e.synchronize();
    });
    EXPECT_EQ(outcome.id, "") << outcome.text;  // an InternalError
    EXPECT_NE(outcome.text.find("twice"), std::string::npos) << outcome.text;
    EXPECT_EQ(y.to_host(), filled(7));
    fake.expects_violations = true;
  }
}

}  // namespace
}  // namespace trn::neuron::testing

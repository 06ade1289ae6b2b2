// Times and recordings of runs, read through our own functions.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "nrt/profile.hpp"
#include "silicon/programs.hpp"
#include "silicon/surroundings.hpp"
#include "support/fake_nrt.hpp"

namespace trn::neuron::testing {
namespace {

using Clock = std::chrono::steady_clock;

std::string check_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const DeviceError& e) {
    return e.check();
  }
  return "none";
}

class NeuronProfiles : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronProfiles, ::testing::ValuesIn(kFlavours),
                         [](const auto& flavour) { return std::string(flavour.param); });

TEST_P(NeuronProfiles, TimesOfRunsByProgram) {
  const bool traces = GetParam() == std::string_view("new");
  FakeRuntime fake("null delay_us=200", GetParam());
  const Executor e = open_fake({.machine = "trn2", .profile = Profile::Time});
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  const auto begin = Clock::now();
  for (int i = 0; i < 20; ++i) twice(e, x, y);
  twice(e, x, y, 1);
  const NeuronProfile found = profile_of(e);
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  ASSERT_EQ(found.times.size(), 2u);
  EXPECT_EQ(found.times[0].program, "twice");
  EXPECT_EQ(found.times[0].runs, 20);
  EXPECT_EQ(found.times[1].program, "twice1");
  EXPECT_EQ(found.times[1].runs, 1);
  // Each run sleeps for 200 us inside the runtime, no two at once, however late the host looks.
  double sum = 0;
  for (const ProgramTime& t : found.times) {
    EXPECT_EQ(t.by_device, traces);
    EXPECT_GE(t.seconds, (1 - 1e-9) * 200e-6 * static_cast<double>(t.runs));
    EXPECT_FALSE(t.key.empty());
    sum += t.seconds;
  }
  EXPECT_LE(sum, elapsed);
  twice(e, x, y, 1);
  EXPECT_EQ(profile_of(e).times[1].runs, 2);
  EXPECT_TRUE(found.traces.empty());
}

// A blocking call begins and ends on the thread that makes it: a host that looks late, or that asks for the next run
// late, is not a part of the run, and does not give the time of one program to another.
class NeuronBlockingProfiles : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronBlockingProfiles, ::testing::Values("old", "bare"),
                         [](const auto& flavour) { return std::string(flavour.param); });

TEST_P(NeuronBlockingProfiles, WhatTheHostDoesBesideIsNoRun) {
  FakeRuntime fake("null delay_us=200", GetParam());
  const Executor e = open_fake({.machine = "trn2", .profile = Profile::Time});
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  std::array<double, 2> at_most{};
  for (int variant = 0; variant < 2; ++variant) {
    const auto begin = Clock::now();
    twice(e, x, y, variant);
    while (fake.count("runs") < static_cast<unsigned>(variant) + 1 || nrt::blocking_calls() > 0) {
      std::this_thread::yield();
    }
    at_most[static_cast<std::size_t>(variant)] = std::chrono::duration<double>(Clock::now() - begin).count();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const NeuronProfile found = profile_of(e);
  ASSERT_EQ(found.times.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GE(found.times[i].seconds, (1 - 1e-9) * 200e-6);
    EXPECT_LE(found.times[i].seconds, at_most[i]);
  }
}

// Where the runtime has the queue and tells no times, the time between giving a run and finding it over is all there
// is: the sum over programs covers the time in which runs were under way, and no moment counts twice.
TEST(NeuronProfile, TheSumOverProgramsCoversTheRuns) {
  FakeRuntime fake("null delay_us=200 call=nrt_sys_trace_start status=1 count=0");
  const Executor e = open_fake({.profile = Profile::Time});
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  const auto begin = Clock::now();
  for (int i = 0; i < 9; ++i) twice(e, x, y, i % 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // all are over when somebody asks
  const NeuronProfile found = profile_of(e);
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  ASSERT_EQ(found.times.size(), 2u);
  EXPECT_EQ(found.times[0].runs, 5);
  EXPECT_EQ(found.times[1].runs, 4);
  EXPECT_FALSE(found.times[0].by_device);
  const double sum = found.times[0].seconds + found.times[1].seconds;
  EXPECT_GE(sum, (1 - 1e-9) * 9 * 200e-6);
  EXPECT_LE(sum, elapsed);
}

// Runs behind one that failed were not started, and are none.
TEST_P(NeuronProfiles, RunsThatWereNotStartedAreNotCounted) {
  FakeRuntime fake("null call=complete nth=2 status=1004", GetParam());
  const Executor e = open_fake({.machine = "trn2", .profile = Profile::Time});
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  EXPECT_EQ(check_of([&] {
              for (int i = 0; i < 10; ++i) twice(e, x, y);
              e.synchronize();
            }),
            "exec-failed");
  const NeuronProfile found = profile_of(e);
  ASSERT_EQ(found.times.size(), 1u);
  EXPECT_EQ(static_cast<std::uint64_t>(found.times[0].runs), fake.count("runs"));
}

// On the fake's virtual clock a run takes 50 us on the device exactly, whatever the host did meanwhile.
TEST(NeuronProfile, TheRuntimesTraceIsBelieved) {
  FakeRuntime fake("null kernel_us=50");
  const Executor e = open_fake({.profile = Profile::Time});
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  for (int i = 0; i < 300; ++i) twice(e, x, y);  // more than are kept before the trace is read
  const NeuronProfile found = profile_of(e);
  ASSERT_EQ(found.times.size(), 1u);
  EXPECT_TRUE(found.times[0].by_device);
  EXPECT_EQ(found.times[0].runs, 300);
  EXPECT_NEAR(found.times[0].seconds, 300 * 50e-6, 300 * 1e-9);
}

TEST(NeuronProfile, ATraceThatDoesNotStartLeavesTheClock) {
  for (const char* call : {"nrt_sys_trace_config_allocate", "nrt_sys_trace_start", "nrt_sys_trace_fetch_events"}) {
    FakeRuntime fake(fmt::format("null call={} status=1 count=0", call));
    const Executor e = open_fake({.profile = Profile::Time});
    const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
    twice(e, x, y);
    const NeuronProfile found = profile_of(e);
    ASSERT_EQ(found.times.size(), 1u) << call;
    EXPECT_FALSE(found.times[0].by_device) << call;
    EXPECT_EQ(found.times[0].runs, 1) << call;
  }
}

TEST(NeuronProfile, NothingIsMeasuredUnlessAsked) {
  FakeRuntime fake;
  const Executor e = open_fake();
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  twice(e, x, y);
  EXPECT_TRUE(profile_of(e).times.empty());
  EXPECT_EQ(fake.count("nrt_sys_trace_start"), 0u);
  EXPECT_THROW((void)profile_of(Executor::host()), InvalidArgument);
}

// The first run of each program is recorded beside the compiled program, and the explorer's summary can be read.
TEST(NeuronProfile, RecordsTheFirstRunOfEachProgram) {
  const Folder folder;
  const Variable cache("TRN_NEFF_CACHE", folder.path.string()), python("TRN_NKI_PYTHON", TRN_FAKE_TOOLCHAIN_PATH),
      explorer("TRN_NEURON_EXPLORER", TRN_FAKE_EXPLORER_PATH);
  FakeRuntime fake("kernel_us=50");
  const Executor e = open_neuron({.profile = Profile::Trace});
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns});
  twice(e, x, y);
  twice(e, y, x);
  EXPECT_EQ(x.to_host(), filled(4));
  EXPECT_EQ(fake.count("nrt_profile_start"), 1u);
  const NeuronProfile found = profile_of(e);
  ASSERT_EQ(found.traces.size(), 1u);
  EXPECT_EQ(found.traces[0].program, "twice");
  EXPECT_EQ(found.traces[0].ntff.filename(), "kernel.ntff");
  EXPECT_EQ(found.traces[0].ntff.parent_path(), found.traces[0].neff.parent_path());
  EXPECT_TRUE(std::filesystem::exists(found.traces[0].ntff));
  const std::map<std::string, double> summary = summary_of(found.traces[0]);
  EXPECT_NEAR(summary.at("total_time"), 50e-6, 1e-9);
  EXPECT_NEAR(summary.at("dma_active_time"), 25e-6, 1e-9);
  {
    const Variable missing("TRN_NEURON_EXPLORER", "/nowhere/neuron-explorer");
    EXPECT_EQ(check_of([&] { (void)summary_of(found.traces[0]); }), "no-explorer");
  }
  ProgramTrace wrong = found.traces[0];
  wrong.neff = wrong.ntff;
  const Variable again("TRN_NEURON_EXPLORER", TRN_FAKE_EXPLORER_PATH);
  EXPECT_EQ(check_of([&] { (void)summary_of(wrong); }), "no-explorer");
}

TEST_P(NeuronProfiles, RecordingFailsWithItsStatus) {
  const Folder folder;
  const auto open = [&] { return open_fake({.machine = "trn2", .profile = Profile::Trace, .profiles = folder.path}); };
  if (GetParam() == std::string_view("bare")) {
    FakeRuntime fake("", GetParam());
    EXPECT_EQ(check_of([&] { (void)open(); }), "no-runtime");
    return;
  }
  for (const char* call : {"nrt_profile_start", "nrt_profile_stop"}) {
    for (const auto& [status, id] : {std::pair{4711, "nrt-status-4711"}, {1004, "exec-failed"}}) {
      FakeRuntime fake(fmt::format("call={} status={}", call, status), GetParam());
      const Executor e = open();
      const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
      const Array<float> y(e, {kRows, kColumns});
      EXPECT_EQ(check_of([&] { twice(e, x, y); }), id);
      fake.expects_violations = call == std::string_view("nrt_profile_stop");  // it is still under way
      if (!fake.expects_violations) {
        twice(e, x, y);
        EXPECT_EQ(y.to_host(), filled(2));
        EXPECT_EQ(profile_of(e).traces.size(), 1u);
      }
    }
  }
  // A run that fails while it is recorded is a failed run.
  FakeRuntime fake("call=complete status=1004", GetParam());
  const Executor e = open();
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns});
  twice(e, x, y);
  EXPECT_EQ(check_of([&] { e.synchronize(); }), "exec-failed");
}

TEST(NeuronProfile, TracesThatAreNoTraces) {
  const std::string good =
      R"({"events": [{"event_type": "nc_exec_running", "phase": "start", "tracking_id": 7, )"
      R"("data": {"nc_timestamp_ns": 1000}},)"
      R"({"event_type": "nrt_execute", "phase": "start", "tracking_id": 9, "data": {"nc_timestamp_ns": 5}},)"
      R"({"event_type": "nc_exec_running", "phase": "stop", "tracking_id": 7, "data": {"nc_timestamp_ns": 3500}}]})";
  EXPECT_EQ(nrt::trace_seconds(good), std::vector<double>{2500 * 1e-9});
  // Nanoseconds since 1970, more digits than a double has.
  std::string late = good;
  late.replace(late.find("1000"), 4, "1760000000000001000").replace(late.find("3500"), 4, "1760000000000003500");
  EXPECT_EQ(nrt::trace_seconds(late), std::vector<double>{2500 * 1e-9});
  for (const char* text : {"", "{", "[]", "{\"events\": 3}", "{\"events\": [1, null, {}]}", "nonsense"}) {
    EXPECT_TRUE(nrt::trace_seconds(text).empty()) << text;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (unsigned n = random() % 4 + 1; n-- > 0;) text[random() % text.size()] = static_cast<char>(random());
    EXPECT_LE(nrt::trace_seconds(text).size(), 1u);
  }
}

}  // namespace
}  // namespace trn::neuron::testing

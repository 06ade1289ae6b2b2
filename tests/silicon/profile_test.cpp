// Times and recordings of runs, read through our own functions.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "nrt/profile.hpp"
#include "silicon/programs.hpp"
#include "silicon/surroundings.hpp"
#include "support/fake_nrt.hpp"

namespace trn::neuron::testing {
namespace {

std::string check_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const DeviceError& e) {
    return e.check();
  }
  return "none";
}

class NeuronProfiles : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronProfiles, ::testing::Values("new", "old", "bare"),
                         [](const auto& flavour) { return std::string(flavour.param); });

TEST_P(NeuronProfiles, TimesOfRunsByProgram) {
  const bool traces = GetParam() == std::string_view("new");
  FakeRuntime fake("null delay_us=200", GetParam());
  const Executor e = open_fake({.machine = "trn2", .profile = Profile::Time});
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  for (int i = 0; i < 20; ++i) twice(e, x, y);
  twice(e, x, y, 1);
  const NeuronProfile found = profile_of(e);
  ASSERT_EQ(found.times.size(), 2u);
  EXPECT_EQ(found.times[0].program, "twice");
  EXPECT_EQ(found.times[0].runs, 20);
  EXPECT_EQ(found.times[1].program, "twice1");
  EXPECT_EQ(found.times[1].runs, 1);
  for (const ProgramTime& t : found.times) {
    EXPECT_EQ(t.by_device, traces);
    EXPECT_GE(t.seconds, 0.9 * 200e-6 * static_cast<double>(t.runs));
    EXPECT_LT(t.seconds, 1.0);
    EXPECT_FALSE(t.key.empty());
  }
  twice(e, x, y, 1);
  EXPECT_EQ(profile_of(e).times[1].runs, 2);
  EXPECT_TRUE(found.traces.empty());
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

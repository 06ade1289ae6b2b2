// Dispatch: the family picks the kernel, an event says which, and a missing kernel is NotImplemented, never a fallback.
#include <gtest/gtest.h>

#include <trn/core/dispatch.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;
using testing_support::ScrambledDevice;

struct Args {
  std::string* ran;
};
const KernelTable<Args> kBoth{"test.both", [](const Executor&, const Args& args) { *args.ran = "host kernel"; },
                              [](const Executor&, const Args& args) { *args.ran = "device kernel"; }};
const KernelTable<Args> kHostOnly{"test.host_only", kBoth.host, nullptr};
const KernelTable<Args> kDeviceOnly{"test.device_only", nullptr, kBoth.device};

TEST(Dispatch, HostExecutorRunsTheHostKernel) {
  std::string ran;
  Recorder recorder(Executor::host());
  dispatch(kBoth, Executor::host(), Args{&ran});
  EXPECT_EQ(ran, "host kernel");
  EXPECT_EQ(recorder.family_of("test.both"), "host");
  EXPECT_EQ(recorder.count(EventKind::Dispatch), 1);
}

TEST(Dispatch, DeviceExecutorRunsTheDeviceKernel) {
  std::string ran;
  const ScrambledDevice device;
  Recorder recorder(device.executor);
  dispatch(kBoth, device.executor, Args{&ran});
  EXPECT_EQ(ran, "device kernel");
  EXPECT_EQ(recorder.family_of("test.both"), "device");
}

TEST(Dispatch, MissingDeviceKernelIsNotImplementedAndNothingRuns) {
  std::string ran;
  const ScrambledDevice device("fake:7");
  Recorder recorder(device.executor);
  const std::string message = message_of<NotImplemented>([&] { dispatch(kHostOnly, device.executor, Args{&ran}); });
  for (const char* part : {"test.host_only", "no device kernel", "'fake:7'", "other family"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  EXPECT_EQ(ran, "");
  EXPECT_TRUE(recorder.events().empty());
}

TEST(Dispatch, MissingHostKernelIsNotImplemented) {
  std::string ran;
  const std::string message = message_of<NotImplemented>([&] { dispatch(kDeviceOnly, Executor::host(), Args{&ran}); });
  EXPECT_NE(message.find("no host kernel"), std::string::npos) << message;
  EXPECT_EQ(ran, "");
}

}  // namespace
}  // namespace trn

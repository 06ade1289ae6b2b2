// The host executor: identity, memory and names.
#include <gtest/gtest.h>

#include <cstring>
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;
using testing_support::ScrambledDevice;

TEST(Executor, HostIsOnePerProcess) {
  EXPECT_EQ(Executor::host(), Executor::host());
  EXPECT_EQ(Executor::host().name(), "host");
  EXPECT_EQ(Executor::host().family(), Family::Host);
}

TEST(Executor, EqualityIsTheSameMemorySpace) {
  const ScrambledDevice a("same name"), b("same name");
  const Executor copy = a.executor;
  EXPECT_EQ(a.executor, copy);
  EXPECT_NE(a.executor, b.executor);
  EXPECT_NE(a.executor, Executor::host());
}

TEST(Executor, FamiliesHaveNames) {
  EXPECT_STREQ(name(Family::Host), "host");
  EXPECT_STREQ(name(Family::Device), "device");
}

TEST(HostBackend, AllocationsAreAlignedAndZeroBytesAreLegal) {
  Backend& host = Executor::host().backend();
  for (const std::int64_t bytes : {0, 1, 63, 64, 65, 1000003}) {
    void* address = host.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 64, 0u) << bytes;
    if (bytes) std::memset(address, 1, static_cast<std::size_t>(bytes));
    host.deallocate(address, bytes);
  }
}

TEST(HostBackend, CopiesBothWays) {
  Backend& host = Executor::host().backend();
  const char text[] = "trainium";
  void* address = host.allocate(sizeof(text));
  host.copy_in(address, text, sizeof(text));
  char back[sizeof(text)] = {};
  host.copy_out(back, address, sizeof(text));
  EXPECT_STREQ(back, text);
  host.copy_in(nullptr, nullptr, 0);
  host.copy_out(nullptr, nullptr, 0);
  host.deallocate(address, sizeof(text));
}

TEST(HostBackend, RefusesNegativeSizes) {
  const std::string message = message_of<InvalidArgument>([] { (void)Executor::host().backend().allocate(-1); });
  EXPECT_NE(message.find("-1 bytes"), std::string::npos) << message;
}

// The sanitizers' allocators end the program where ours reports.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(HostBackend, ExhaustedMemoryIsADeviceError) {
  const std::int64_t bytes = std::int64_t{1} << 60;
  const std::string message = message_of<DeviceError>([&] { (void)Executor::host().backend().allocate(bytes); });
  EXPECT_NE(message.find("1152921504606846976 bytes"), std::string::npos) << message;
}
#endif

}  // namespace
}  // namespace trn

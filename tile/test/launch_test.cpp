// launch(): what reaches the device, and when. The device here keeps what it is told; its memory is the host's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <trn/tile/launch.hpp>

#include "programs.hpp"

namespace trn::tile {
namespace {

class NotingDevice final : public Device {
 public:
  NotingDevice() : Device("noting", tile::machine("trn2")) {}
  ~NotingDevice() override {
    for (void* block : blocks) ::operator delete(block);
  }
  void* allocate(std::int64_t bytes) override {
    if (held + bytes > capacity) fail<DeviceError>("noting: full");
    held += bytes;
    return *blocks.insert(::operator new(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)))).first;
  }
  void deallocate(void* address, std::int64_t bytes) noexcept override {
    held -= bytes;
    blocks.erase(address);
    ::operator delete(address);
  }
  void copy_in(void* to, const void* from, std::int64_t bytes) override {
    ++copies;
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void copy_out(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  std::shared_ptr<const Executable> load(std::shared_ptr<const Program> program) override {
    ++loads;
    return Device::load(std::move(program));
  }
  void run(const std::shared_ptr<const Executable>& executable, std::span<const Binding> bindings) override {
    ran.push_back(executable);
    bound.clear();
    for (const Binding& b : bindings) bound.emplace(b.name, b);
  }

  int loads = 0, copies = 0;
  std::int64_t held = 0, capacity = 1 << 30;
  std::set<void*> blocks;
  std::vector<std::shared_ptr<const Executable>> ran;
  std::map<std::string, Binding> bound;
};

struct Size {
  std::int64_t n = 1;
  bool operator==(const Size&) const = default;
};
Program copy_of(const char* name, const Size& size, const Machine& machine) {
  Builder b(name, machine);
  const Access x = b.input("x", DType::Float32, {size.n, 4}), y = b.output("y", DType::Float32, {size.n, 4});
  const Access t = b.sbuf("t", size.n, {4}, DType::Float32);
  b.dma_copy(t, x);
  b.dma_copy(y, t);
  return b.finish();
}
// Two builders with one argument type.
Program first(const Size& size, const Machine& machine) { return copy_of("first", size, machine); }
Program second(const Size& size, const Machine& machine) { return copy_of("second", size, machine); }

struct Launch : ::testing::Test {
  std::shared_ptr<NotingDevice> device = std::make_shared<NotingDevice>();
  Executor e{device};
  Recorder recorder{e};
  std::array<float, 16> x{}, y{};
};

TEST_F(Launch, BuildersWithOneArgumentTypeDoNotMeetInTheCache) {
  for (int i = 0; i < 2; ++i) {
    launch(e, first, Size{2}, {{"x", x.data()}, {"y", y.data()}});
    EXPECT_EQ(device->ran.back()->program().name(), "first");
    launch(e, second, Size{2}, {{"x", x.data()}, {"y", y.data()}});
    EXPECT_EQ(device->ran.back()->program().name(), "second");
  }
  EXPECT_EQ(device->loads, 2);
  EXPECT_EQ(recorder.count(EventKind::Build), 2);
  EXPECT_EQ(recorder.count(EventKind::CacheHit), 2);
}

TEST_F(Launch, AProgramIsLoadedOnceAndTheSameExecutableRuns) {
  for (int i = 0; i < 3; ++i) launch(e, first, Size{3}, {{"x", x.data()}, {"y", y.data()}});
  launch(e, first, Size{4}, {{"x", x.data()}, {"y", y.data()}});
  EXPECT_EQ(device->loads, 2);
  EXPECT_EQ(device->ran[0], device->ran[2]);
  EXPECT_NE(device->ran[0], device->ran[3]);
}

TEST_F(Launch, BindingsAreBaseAndOffsetAndKnowWhatMayBeWritten) {
  const std::array<float, 16>& read_only = x;
  launch(e, first, Size{2}, {{"x", read_only.data(), 16}, {"y", y.data()}, {"not_declared", y.data()}});
  const Binding& in = device->bound.at("x");
  EXPECT_EQ(in.base, x.data());
  EXPECT_EQ(in.offset, 16);
  EXPECT_EQ(in.address(), x.data() + 4);
  EXPECT_FALSE(in.writable);
  EXPECT_TRUE(device->bound.at("y").writable);
  EXPECT_EQ(device->bound.count("not_declared"), 0u);
}

TEST_F(Launch, ConstantsAreUploadedOnceForTheirContent) {
  const auto run = [&](float value) {
    launch(e, first, Size{1}, {constant("x", std::array{value, 0.0F, 0.0F, 0.0F}), {"y", y.data()}});
    return device->bound.at("x").address();
  };
  const void* one = run(1);
  EXPECT_EQ(*static_cast<const float*>(one), 1);
  EXPECT_EQ(run(1), one);
  EXPECT_NE(run(2), one);
  EXPECT_EQ(run(1), one);
  EXPECT_EQ(device->copies, 2);
  EXPECT_EQ(recorder.count(EventKind::Constant, "first"), 2);
  EXPECT_EQ(recorder.count(EventKind::Copy), 0);
  // What the program does not declare is not uploaded.
  launch(e, first, Size{1}, {{"x", x.data()}, {"y", y.data()}, constant("other", std::array{9.0F})});
  EXPECT_EQ(device->copies, 2);
}

TEST_F(Launch, ConstantsOutlastTheLimitOnlyWhileTheyAreHeld) {
  Constants constants(*device, 100);
  const auto bytes = [](std::size_t n, int value) { return std::vector<std::byte>(n, static_cast<std::byte>(value)); };
  (void)constants.get(bytes(40, 1), "a");
  (void)constants.get(bytes(40, 2), "b");
  (void)constants.get(bytes(40, 1), "a");  // so 2 is the oldest
  EXPECT_EQ(device->copies, 2);
  (void)constants.get(bytes(40, 3), "c");
  EXPECT_EQ(constants.bytes(), 80);
  (void)constants.get(bytes(40, 1), "a");
  EXPECT_EQ(device->copies, 3);
  (void)constants.get(bytes(40, 2), "b");
  EXPECT_EQ(device->copies, 4);
  {
    const auto large = constants.get(bytes(500, 4), "d");
    EXPECT_EQ(static_cast<const std::byte*>(large.data())[499], static_cast<std::byte>(4));
    EXPECT_EQ(constants.bytes(), 500);
  }
  EXPECT_EQ(constants.bytes(), 0);
  EXPECT_EQ(device->held, 0);
}

TEST_F(Launch, ManySmallConstantsAreNotAllKept) {
  Constants constants(*device, 1 << 20);
  for (int i = 0; i < 1000; ++i) {
    const std::array values{static_cast<float>(i)};
    const auto bytes = std::as_bytes(std::span(values));
    (void)constants.get(bytes, "a");
    (void)constants.get(bytes, "a");
  }
  EXPECT_EQ(device->copies, 1000);
  EXPECT_GT(constants.bytes(), 100 * 4);
  EXPECT_LE(constants.bytes(), 256 * 4);
  EXPECT_EQ(device->held, constants.bytes());
}

TEST_F(Launch, AFullMemoryTakesConstantsBack) {
  Constants constants(*device, 100);
  const std::vector<std::byte> a(60, static_cast<std::byte>(1)), b(40, static_cast<std::byte>(2));
  device->capacity = 80;
  (void)constants.get(a, "a");
  (void)constants.get(b, "b");
  EXPECT_EQ(device->held, 40);
  device->capacity = 20;
  EXPECT_THROW((void)constants.get(a, "a"), DeviceError);
}

}  // namespace
}  // namespace trn::tile

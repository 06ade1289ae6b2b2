// copy() between strided views on all pairs of executors, compared with a loop over indices on plain host storage.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <trn/core/array.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;
using testing_support::ScrambledDevice;

constexpr std::uint64_t kSeed = 1234567;

// A view's place in a storage block that is somewhat larger than it needs.
struct Layout {
  Strides strides;
  std::int64_t first = 0;  // offset of element (0, 0, ...)
  std::int64_t storage = 0;
};

std::int64_t pick(std::mt19937_64& engine, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
}

// Axes in random order with random gaps and random signs; a source may also repeat an axis with stride 0.
Layout random_layout(std::mt19937_64& engine, const Shape& shape, std::int64_t zero_strides) {
  Layout layout{Strides(shape.size()), 0, 0};
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), engine);
  std::int64_t stride = pick(engine, 0, 3) ? 1 : 2;
  for (const std::size_t axis : order) {
    layout.strides[axis] = stride;
    stride *= shape[axis];
    if (pick(engine, 0, 2) == 0) stride += pick(engine, 1, 3);
    if (pick(engine, 0, 2) == 0) layout.strides[axis] *= -1;
    if (zero_strides && pick(engine, 0, 5) == 0) layout.strides[axis] = 0;
  }
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (layout.strides[i] < 0 ? low : high) += layout.strides[i] * (shape[i] - 1);
  }
  layout.first = 2 - low;
  layout.storage = layout.first + high + 3;
  return layout;
}

// Every multi-index of the shape, as the two offsets.
template <class Body> void for_each_index(const Shape& shape, const Layout& from, const Layout& to, const Body& body,
                                          std::size_t axis = 0, std::int64_t a = 0, std::int64_t b = 0) {
  if (axis == shape.size()) return body(from.first + a, to.first + b);
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    for_each_index(shape, from, to, body, axis + 1, a + i * from.strides[axis], b + i * to.strides[axis]);
  }
}

template <class T> void check_random_copies(const Executor& source, const Executor& target, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (int trial = 0; trial < 150; ++trial) {
    Shape shape(static_cast<std::size_t>(pick(engine, 0, 4)));
    for (auto& extent : shape) extent = pick(engine, 1, 5);
    const Layout from = random_layout(engine, shape, 1), to = random_layout(engine, shape, 0);
    std::vector<T> from_storage(static_cast<std::size_t>(from.storage)),
        to_storage(static_cast<std::size_t>(to.storage));
    for (auto& x : from_storage) x = static_cast<T>(engine());
    for (auto& x : to_storage) x = static_cast<T>(engine());

    const auto a = Array<T>::from_host(source, {from.storage}, from_storage);
    const auto b = Array<T>::from_host(target, {to.storage}, to_storage);
    copy(View<T>(source, a.data() + from.first, shape, from.strides),
         View<T>(target, b.data() + to.first, shape, to.strides));

    for_each_index(shape, from, to, [&](std::int64_t i, std::int64_t j) {
      to_storage[static_cast<std::size_t>(j)] = from_storage[static_cast<std::size_t>(i)];
    });
    ASSERT_EQ(b.to_host(), to_storage) << "seed " << seed << " trial " << trial << " shape " << to_string(shape)
                                       << " from " << to_string(from.strides) << " to " << to_string(to.strides);
    ASSERT_EQ(a.to_host(), from_storage);
  }
}

TEST(Copy, StridedViewsOnEveryPairOfExecutors) {
  const ScrambledDevice one("fake:1"), two("fake:2");
  const std::vector<Executor> executors{Executor::host(), one.executor, two.executor};
  for (const Executor& source : executors) {
    for (const Executor& target : executors) {
      SCOPED_TRACE(source.name() + " -> " + target.name());
      check_random_copies<std::uint8_t>(source, target, kSeed);
      check_random_copies<std::uint16_t>(source, target, kSeed + 1);
      check_random_copies<std::int32_t>(source, target, kSeed + 2);
      check_random_copies<double>(source, target, kSeed + 3);
    }
  }
}

TEST(Copy, ReversesAndTransposes) {
  std::vector<std::int32_t> x{1, 2, 3, 4, 5, 6}, y(6);
  const Executor host = Executor::host();
  copy(View<std::int32_t>(host, x.data() + 5, {6}, {-1}), View<std::int32_t>(host, y.data(), {6}));
  EXPECT_EQ(y, (std::vector<std::int32_t>{6, 5, 4, 3, 2, 1}));
  const auto m = MatrixView<std::int32_t>::row_major(host, x.data(), 2, 3);
  const View<std::int32_t> transposed = m.transposed();
  copy(transposed, View<std::int32_t>(host, y.data(), {3, 2}));
  EXPECT_EQ(y, (std::vector<std::int32_t>{1, 4, 2, 5, 3, 6}));
}

TEST(Copy, OverlappingViewsBehaveAsIfTheSourceWereReadFirst) {
  const ScrambledDevice device;
  for (const Executor& executor : {Executor::host(), device.executor}) {
    const std::vector<std::int32_t> values{0, 1, 2, 3, 4, 5};
    const auto a = Array<std::int32_t>::from_host(executor, {6}, values);
    copy(View<std::int32_t>(executor, a.data(), {5}), View<std::int32_t>(executor, a.data() + 1, {5}));
    EXPECT_EQ(a.to_host(), (std::vector<std::int32_t>{0, 0, 1, 2, 3, 4}));
    const auto b = Array<std::int32_t>::from_host(executor, {6}, values);
    copy(View<std::int32_t>(executor, b.data() + 5, {6}, {-1}), b.view());
    EXPECT_EQ(b.to_host(), (std::vector<std::int32_t>{5, 4, 3, 2, 1, 0}));
    copy(b.view(), b.view());
    EXPECT_EQ(b.to_host(), (std::vector<std::int32_t>{5, 4, 3, 2, 1, 0}));
  }
}

// Contiguous runs decide how often a device is called.
TEST(Copy, CallsTheDeviceOncePerRun) {
  const ScrambledDevice device;
  const Executor host = Executor::host();
  std::vector<float> x(48);
  const Array<float> d(device.executor, {6, 8});
  const auto calls = [&](const View<float>& from, const View<float>& to) {
    device.backend->copies_in = device.backend->copies_out = 0;
    copy(from, to);
    return std::pair(device.backend->copies_in, device.backend->copies_out);
  };
  const auto dense = MatrixView<float>::row_major(device.executor, d.data(), 6, 8);
  const auto on_host = MatrixView<float>::row_major(host, x.data(), 6, 8);
  EXPECT_EQ(calls(on_host, dense), std::pair(1, 0));
  EXPECT_EQ(calls(dense, on_host), std::pair(0, 1));
  EXPECT_EQ(calls(dense.transposed(), on_host.transposed()), std::pair(0, 1));  // one block in another order
  EXPECT_EQ(calls(dense.block(1, 2, 3, 4), on_host.block(0, 0, 3, 4)), std::pair(0, 3));
  EXPECT_EQ(calls(dense.block(1, 0, 3, 8), on_host.block(0, 0, 3, 8)), std::pair(0, 1));
  const auto columns = MatrixView<float>::column_major(host, x.data(), 6, 8);
  EXPECT_EQ(calls(columns, dense), std::pair(1, 0));  // reordered on the host, moved once
  EXPECT_EQ(calls(dense, columns), std::pair(0, 1));
  const View<float> backwards(device.executor, d.data() + 47, {48}, {-1});
  EXPECT_EQ(calls(View<float>(host, x.data() + 47, {48}, {-1}), backwards), std::pair(1, 0));  // forwards on both sides
  EXPECT_EQ(calls(View<float>(host, x.data(), {48}), backwards), std::pair(1, 0));
  const ScrambledDevice other;
  const Array<float> e(other.executor, {6, 8});
  EXPECT_EQ(calls(d.view(), e.view()), std::pair(0, 1));
  EXPECT_EQ(other.backend->copies_in, 1);
}

TEST(Copy, EmitsOneEventToEitherExecutor) {
  const ScrambledDevice device("fake:9");
  const Array<double> a(Executor::host(), {2, 5}), b(device.executor, {2, 5}), c(device.executor, {2, 5});
  Recorder host_events(Executor::host()), device_events(device.executor);
  copy(a.view(), b.view());
  copy(b.view(), c.view());
  EXPECT_EQ(host_events.count(EventKind::Copy), 1);
  EXPECT_EQ(host_events.count(EventKind::Copy, "host -> fake:9"), 1);
  EXPECT_EQ(device_events.count(EventKind::Copy, "host -> fake:9"), 1);
  EXPECT_EQ(device_events.count(EventKind::Copy, "fake:9 -> fake:9"), 1);
  EXPECT_EQ(device_events.count(EventKind::Copy), 2);
  EXPECT_EQ(device_events.count(EventKind::Allocate), 0);
  EXPECT_EQ(host_events.events()[0].bytes, 80);
}

TEST(Copy, EmptyViewsMoveNothingAndNeedNoData) {
  const ScrambledDevice device;
  Recorder recorder(device.executor);
  copy(View<float>(Executor::host(), nullptr, {0, 3}), View<float>(device.executor, nullptr, {0, 3}, {0, 0}));
  EXPECT_EQ(device.backend->copies_in, 0);
  ASSERT_EQ(recorder.count(EventKind::Copy), 1);
  EXPECT_EQ(recorder.events()[0].bytes, 0);
}

TEST(Copy, AnAxisOfExtentOneMayHaveAnyStride) {
  std::int32_t x[2] = {4, 5}, y[2] = {};
  const Executor host = Executor::host();
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  copy(View<std::int32_t>(host, x, {1, 2}, {huge, 1}), View<std::int32_t>(host, y, {1, 2}, {0, 1}));
  EXPECT_EQ(y[1], 5);
}

TEST(Copy, RefusesWrongArguments) {
  float x[6] = {}, y[6] = {7, 7, 7, 7, 7, 7};
  const Executor host = Executor::host();
  Recorder recorder(host);
  const auto message = [&](const View<float>& from, const View<float>& to) {
    return message_of<InvalidArgument>([&] { copy(from, to); });
  };
  const View<float> source(host, x, {2, 3});
  EXPECT_EQ(message(source, View<float>(host, y, {3, 2})),
            "copy: source shape (2, 3) differs from target shape (3, 2); copy views of equal shape");
  EXPECT_NE(message(source, View<float>(host, y, {6})), "");
  EXPECT_NE(message(source, View<float>(host, nullptr, {2, 3})).find("target data is null"), std::string::npos);
  EXPECT_NE(message(View<float>(host, nullptr, {2, 3}), source).find("source data is null"), std::string::npos);
  EXPECT_NE(message(source, View<float>(host, y, {2, 3}, {0, 1})).find("target stride of axis 0 is 0 over extent 2"),
            std::string::npos);
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_NE(message(View<float>(host, x, {2, 3}, {huge, 1}), View<float>(host, y, {2, 3})), "");
  EXPECT_NE(message(View<float>(host, x, {2, 3}, {huge, -huge}), View<float>(host, y, {2, 3})), "");
  EXPECT_EQ(y[0], 7.0f);
  EXPECT_TRUE(recorder.events().empty());
}

}  // namespace
}  // namespace trn

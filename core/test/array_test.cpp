// Buffers, arrays and matrices: ownership, events, and data that arrives on a device only through its copies.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <trn/core/array.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;
using testing_support::ScrambledDevice;

TEST(Buffer, AllocatesAndFreesWithEvents) {
  const ScrambledDevice device("fake:0");
  Recorder recorder(device.executor);
  {
    const Buffer buffer(device.executor, 100);
    EXPECT_EQ(buffer.bytes(), 100);
    EXPECT_NE(buffer.data(), nullptr);
    EXPECT_EQ(buffer.executor(), device.executor);
    EXPECT_EQ(device.backend->live_allocations(), 1u);
  }
  EXPECT_EQ(device.backend->live_allocations(), 0u);
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::Allocate);
  EXPECT_EQ(events[1].kind, EventKind::Free);
  for (const Event& event : events) {
    EXPECT_EQ(event.bytes, 100);
    EXPECT_EQ(event.subject, "fake:0");
  }
}

TEST(Buffer, MovesOwnTheMemoryOnce) {
  const ScrambledDevice device;
  Recorder recorder(device.executor);
  {
    Buffer a(device.executor, 64);
    void* address = a.data();
    Buffer b(std::move(a));
    EXPECT_EQ(b.data(), address);
    Buffer c(device.executor, 32);
    c = std::move(b);
    EXPECT_EQ(c.data(), address);
    EXPECT_EQ(c.bytes(), 64);
    EXPECT_EQ(device.backend->live_allocations(), 1u);
    Buffer& same = c;
    c = std::move(same);
    EXPECT_EQ(c.data(), address);
  }
  EXPECT_EQ(device.backend->live_allocations(), 0u);
  EXPECT_EQ(device.backend->bad_frees, 0);
  EXPECT_EQ(recorder.count(EventKind::Allocate), 2);
  EXPECT_EQ(recorder.count(EventKind::Free), 2);
}

TEST(Buffer, ZeroBytesAreLegalAndNegativeOnesAreNot) {
  Recorder recorder(Executor::host());
  { const Buffer empty(Executor::host(), 0); }
  EXPECT_EQ(recorder.count(EventKind::Allocate), 1);
  EXPECT_EQ(recorder.count(EventKind::Free), 1);
  const std::string message = message_of<InvalidArgument>([] { Buffer(Executor::host(), -8); });
  EXPECT_NE(message.find("-8 bytes on executor 'host'"), std::string::npos) << message;
}

TEST(Buffer, SurvivesThrowingListeners) {
  const ScrambledDevice device;
  EventHub& hub = device.executor.backend().events();
  const int id = hub.subscribe([](const Event&) { throw std::runtime_error("listener"); });
  EXPECT_THROW(Buffer(device.executor, 8), std::runtime_error);
  EXPECT_EQ(device.backend->live_allocations(), 0u);
  hub.unsubscribe(id);
  {
    const Buffer buffer(device.executor, 8);
    hub.subscribe([](const Event&) { throw std::runtime_error("listener"); });
  }
  EXPECT_EQ(device.backend->live_allocations(), 0u);
}

TEST(Buffer, KeepsItsExecutorAlive) {
  auto device = std::make_unique<ScrambledDevice>();
  const std::weak_ptr<Backend> backend = device->backend;
  auto buffer = std::make_unique<Buffer>(device->executor, 8);
  device.reset();
  EXPECT_FALSE(backend.expired());
  buffer.reset();
  EXPECT_TRUE(backend.expired());
}

TEST(Array, RoundTripsThroughADevice) {
  const ScrambledDevice device;
  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), 1.0f);
  const auto array = Array<float>::from_host(device.executor, {2, 3}, values);
  EXPECT_EQ(array.shape(), (Shape{2, 3}));
  EXPECT_EQ(array.size(), 6);
  EXPECT_EQ(array.executor(), device.executor);
  EXPECT_NE(array.data()[0], 1.0f);  // scrambled: it did go through copy_in
  EXPECT_EQ(array.to_host(), values);
  const auto back = array.to(Executor::host());
  EXPECT_EQ(back.data()[5], 6.0f);
  const ScrambledDevice other("fake:1");
  EXPECT_EQ(array.to(other.executor).to_host(), values);
}

TEST(Array, RankZeroAndEmpty) {
  const ScrambledDevice device;
  const std::vector<bfloat16> one{bfloat16(2.0f)};
  EXPECT_EQ(static_cast<float>(Array<bfloat16>::from_host(device.executor, {}, one).to_host()[0]), 2.0f);
  const auto empty = Array<double>::from_host(device.executor, {3, 0}, {});
  EXPECT_EQ(empty.size(), 0);
  EXPECT_TRUE(empty.to_host().empty());
  EXPECT_EQ(empty.to(Executor::host()).size(), 0);
}

TEST(Array, RefusesTheWrongNumberOfValuesAndTooManyBytes) {
  const std::vector<float> five(5);
  const std::string message = message_of<InvalidArgument>([&] {
    (void)Array<float>::from_host(Executor::host(), {2, 3}, five);
  });
  EXPECT_EQ(message, "array: 5 values for shape (2, 3), which holds 6; give one value per element");
  EXPECT_THROW(Array<double>(Executor::host(), {std::int64_t{1} << 61}), InvalidArgument);
  EXPECT_THROW(Array<double>(Executor::host(), {-1}), InvalidArgument);
}

TEST(Matrix, RoundTripsAndViews) {
  const ScrambledDevice device;
  const std::vector<std::int32_t> values{1, 2, 3, 4, 5, 6};
  const auto matrix = Matrix<std::int32_t>::from_host(device.executor, 2, 3, values);
  EXPECT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix.columns(), 3);
  EXPECT_EQ(matrix.to_host(), values);
  const auto host = matrix.to(Executor::host());
  EXPECT_EQ(host.executor(), Executor::host());
  const auto view = host.view();
  EXPECT_EQ(view.data()[1 * view.row_stride() + 2 * view.column_stride()], 6);
  EXPECT_THROW(Matrix<float>(Executor::host(), -1, 2), InvalidArgument);
}

// What takes a view takes an array, a matrix, and a view of fixed rank, to read or to write.
TEST(Array, ConvertsToTheViewOfItsElements) {
  const Executor e = Executor::host();
  const Array<float> array(e, {2, 3});
  const Matrix<float> matrix(e, 2, 3);
  const auto sees = [&](const View<const float>& reads, const View<float>& writes, const float* data, Shape shape) {
    for (const View<const float>& v : {reads, View<const float>(writes)}) {
      EXPECT_EQ(v.data(), data);
      EXPECT_EQ(v.shape(), shape);
      EXPECT_EQ(v.executor(), e);
      EXPECT_TRUE(v.is_contiguous());
    }
  };
  sees(array, array, array.data(), {2, 3});
  sees(matrix, matrix, matrix.data(), {2, 3});
  sees(matrix.view(), matrix.view(), matrix.data(), {2, 3});
  sees(matrix.view().row(1), matrix.view().row(1), matrix.data() + 3, {3});
  const MatrixView<const float> reads = matrix;
  const MatrixView<float> writes = matrix;
  for (const MatrixView<const float>& v : {reads, MatrixView<const float>(writes)}) {
    EXPECT_EQ(v.data(), matrix.data());
    EXPECT_EQ(v.rows(), 2);
    EXPECT_EQ(v.columns(), 3);
    EXPECT_EQ(v.row_stride(), 3);
    EXPECT_EQ(v.column_stride(), 1);
  }
}

}  // namespace
}  // namespace trn

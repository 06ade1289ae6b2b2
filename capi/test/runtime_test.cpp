// The runtime through its C face: memory, copies, streams, events, devices, and every kind of bad input.
#include <gtest/gtest.h>
#include <trn_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

// One more device for the whole program: device 0 is TRN_EXECUTOR's or the best there is.
int device(const char* executor) {
  int number = -1;
  EXPECT_EQ(trnDeviceOpen(executor, &number), trnSuccess) << trnGetLastErrorText();
  EXPECT_EQ(trnSetDevice(number), trnSuccess);
  return number;
}

class OnDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { number_ = device(GetParam()); }
  void TearDown() override { trnSetDevice(0); }
  int number_ = -1;
};

TEST_P(OnDevice, CopiesThereAndBack) {
  const std::vector<float> in = {1, 2, 3, 4, 5};
  std::vector<float> out(5);
  float *a = nullptr, *b = nullptr;
  ASSERT_EQ(trnMalloc(reinterpret_cast<void**>(&a), 20), trnSuccess);
  ASSERT_EQ(trnMalloc(reinterpret_cast<void**>(&b), 20), trnSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0U);
  EXPECT_EQ(trnMemcpy(a, in.data(), 20, trnMemcpyHostToDevice), trnSuccess);
  EXPECT_EQ(trnMemcpy(b, a, 20, trnMemcpyDeviceToDevice), trnSuccess);
  EXPECT_EQ(trnMemcpy(out.data(), b, 20, trnMemcpyDefault), trnSuccess);
  EXPECT_EQ(in, out);
  EXPECT_EQ(trnMemset(b, 0x3f, 8), trnSuccess);
  EXPECT_EQ(trnMemcpy(out.data(), b, 20, trnMemcpyDeviceToHost), trnSuccess);
  EXPECT_EQ(out[2], 3);
  EXPECT_EQ(reinterpret_cast<const unsigned char*>(out.data())[7], 0x3f);
  EXPECT_EQ(trnFree(a), trnSuccess);
  EXPECT_EQ(trnFree(b), trnSuccess);
  EXPECT_EQ(trnFree(nullptr), trnSuccess);
}

TEST_P(OnDevice, CopiesRowsWithPitches) {
  void* a = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(trnMallocPitch(&a, &pitch, 12, 3), trnSuccess);
  EXPECT_EQ(pitch, 512U);
  const std::vector<int> in = {1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0};
  std::vector<int> out(9);
  EXPECT_EQ(trnMemcpy2D(a, pitch, in.data(), 16, 12, 3, trnMemcpyHostToDevice), trnSuccess);
  EXPECT_EQ(trnMemcpy2D(out.data(), 12, a, pitch, 12, 3, trnMemcpyDeviceToHost), trnSuccess);
  EXPECT_EQ(out, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(trnMemcpy2D(out.data(), 11, a, pitch, 12, 3, trnMemcpyDeviceToHost), trnErrorInvalidPitchValue);
  EXPECT_EQ(trnMemcpy2D(out.data(), 12, a, pitch, 12, 4, trnMemcpyDeviceToHost),
            trnErrorInvalidValue);  // a row too many
  trnFree(a);
}

TEST_P(OnDevice, QueuesCopiesOfPinnedMemory) {
  trnStream_t stream = nullptr;
  ASSERT_EQ(trnStreamCreateWithFlags(&stream, trnStreamNonBlocking), trnSuccess);
  void *pinned = nullptr, *a = nullptr;
  ASSERT_EQ(trnMallocHost(&pinned, 400), trnSuccess);
  ASSERT_EQ(trnMalloc(&a, 400), trnSuccess);
  auto* numbers = static_cast<int*>(pinned);
  for (int i = 0; i < 100; ++i) numbers[i] = i;
  // Work that the stream can only do after this thread goes on: the copy behind it is really queued.
  std::atomic<bool> go = false;
  EXPECT_EQ(trnLaunchHostFunc(
                stream,
                [](void* flag) {
                  while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
                },
                &go),
            trnSuccess);
  EXPECT_EQ(trnMemcpyAsync(a, pinned, 400, trnMemcpyHostToDevice, stream), trnSuccess);
  (void)trnGetLastError();
  EXPECT_EQ(trnStreamQuery(stream), trnErrorNotReady);
  EXPECT_EQ(trnPeekAtLastError(), trnSuccess);  // not ready is an answer, not a failure
  go = true;
  EXPECT_EQ(trnStreamSynchronize(stream), trnSuccess);
  std::vector<int> out(100);
  EXPECT_EQ(trnMemcpyAsync(out.data(), a, 400, trnMemcpyDeviceToHost, stream), trnSuccess);  // pageable: done at once
  EXPECT_EQ(out[99], 99);
  EXPECT_EQ(trnStreamDestroy(stream), trnSuccess);
  EXPECT_EQ(trnStreamSynchronize(stream), trnErrorInvalidResourceHandle);
  trnFreeHost(pinned), trnFree(a);
}

TEST_P(OnDevice, ManagedMemoryIsBothSides) {
  int* shared = nullptr;
  ASSERT_EQ(trnMallocManaged(reinterpret_cast<void**>(&shared), 8, trnMemAttachGlobal), trnSuccess);
  shared[0] = 7, shared[1] = 8;
  int out[2];
  EXPECT_EQ(trnMemcpy(out, shared, 8, trnMemcpyDeviceToHost), trnSuccess);
  EXPECT_EQ(out[1], 8);
  trnPointerAttributes attributes;
  EXPECT_EQ(trnPointerGetAttributes(&attributes, shared + 1), trnSuccess);
  EXPECT_EQ(attributes.type, trnMemoryTypeManaged);
  EXPECT_EQ(attributes.device, number_);
  trnFree(shared);
}

TEST_P(OnDevice, RefusesWhatIsNotDeviceMemory) {
  char *a = nullptr, host[64] = {};
  ASSERT_EQ(trnMalloc(reinterpret_cast<void**>(&a), 64), trnSuccess);
  EXPECT_EQ(trnMemcpy(host, host + 8, 8, trnMemcpyDeviceToHost), trnErrorInvalidValue);
  EXPECT_EQ(trnMemcpy(host, a, 8, trnMemcpyHostToDevice), trnErrorInvalidValue);
  EXPECT_EQ(trnMemcpy(a, host, 65, trnMemcpyHostToDevice), trnErrorInvalidValue);
  EXPECT_NE(std::string(trnGetLastErrorText()).find("65"), std::string::npos) << trnGetLastErrorText();
  EXPECT_EQ(trnMemcpy(a + 60, host, 5, trnMemcpyHostToDevice), trnErrorInvalidValue);
  EXPECT_EQ(trnMemcpy(nullptr, host, 5, trnMemcpyHostToDevice), trnErrorInvalidValue);
  EXPECT_EQ(trnMemcpy(nullptr, nullptr, 0, trnMemcpyHostToDevice), trnSuccess);
  EXPECT_EQ(trnMemcpy(a, host, 5, static_cast<trnMemcpyKind>(99)), trnErrorInvalidMemcpyDirection);
  EXPECT_EQ(trnMemset(host, 0, 5), trnErrorInvalidValue);
  EXPECT_EQ(trnFree(host), trnErrorInvalidValue);
  EXPECT_EQ(trnFree(a + 4), trnErrorInvalidValue);
  EXPECT_EQ(trnFreeHost(a), trnErrorInvalidValue);
  EXPECT_EQ(trnFree(a), trnSuccess);
  EXPECT_EQ(trnFree(a), trnErrorInvalidValue);  // twice
  EXPECT_EQ(trnMalloc(nullptr, 8), trnErrorInvalidValue);
  void* nothing = host;
  EXPECT_EQ(trnMalloc(&nothing, 0), trnSuccess);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(trnGetLastError(), trnErrorInvalidValue);
  EXPECT_EQ(trnGetLastError(), trnSuccess);  // it was taken
}

TEST_P(OnDevice, EventsOrderStreams) {
  trnStream_t first = nullptr, second = nullptr;
  trnEvent_t event = nullptr, never = nullptr;
  ASSERT_EQ(trnStreamCreate(&first), trnSuccess);
  ASSERT_EQ(trnStreamCreate(&second), trnSuccess);
  ASSERT_EQ(trnEventCreate(&event), trnSuccess);
  ASSERT_EQ(trnEventCreate(&never), trnSuccess);
  std::vector<int> order;
  struct Step {
    std::vector<int>* order;
    int number;
  } one{&order, 1}, two{&order, 2};
  const auto push = [](void* p) {
    auto* step = static_cast<Step*>(p);
    step->order->push_back(step->number);
  };
  std::atomic<bool> go = false;
  trnLaunchHostFunc(
      first,
      [](void* flag) {
        while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
      },
      &go);
  trnLaunchHostFunc(first, push, &one);
  EXPECT_EQ(trnEventRecord(event, first), trnSuccess);
  EXPECT_EQ(trnEventQuery(event), trnErrorNotReady);
  EXPECT_EQ(trnStreamWaitEvent(second, event, 0), trnSuccess);
  trnLaunchHostFunc(second, push, &two);
  float ms = -1;
  EXPECT_EQ(trnEventElapsedTime(&ms, event, event), trnErrorNotReady);
  go = true;
  EXPECT_EQ(trnStreamSynchronize(second), trnSuccess);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(trnEventSynchronize(event), trnSuccess);
  EXPECT_EQ(trnEventElapsedTime(&ms, event, event), trnSuccess);
  EXPECT_EQ(ms, 0);
  EXPECT_EQ(trnEventElapsedTime(&ms, event, never), trnErrorInvalidResourceHandle);
  EXPECT_EQ(trnEventDestroy(event), trnSuccess);
  EXPECT_EQ(trnEventDestroy(event), trnErrorInvalidResourceHandle);
  trnEventDestroy(never), trnStreamDestroy(first), trnStreamDestroy(second);
}

// The default stream and blocking streams wait for one another; non-blocking ones do not take part.
TEST_P(OnDevice, TheDefaultStreamWaitsForBlockingStreams) {
  trnStream_t blocking = nullptr, free = nullptr;
  ASSERT_EQ(trnStreamCreate(&blocking), trnSuccess);
  ASSERT_EQ(trnStreamCreateWithFlags(&free, trnStreamNonBlocking), trnSuccess);
  std::atomic<bool> go = false;
  std::atomic<int> seen = 0;
  trnLaunchHostFunc(
      blocking,
      [](void* flag) {
        while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
      },
      &go);
  trnLaunchHostFunc(
      nullptr, [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &seen);
  trnLaunchHostFunc(
      free, [](void* n) { *static_cast<std::atomic<int>*>(n) += 10; }, &seen);
  EXPECT_EQ(trnStreamSynchronize(free), trnSuccess);
  EXPECT_EQ(seen, 10);  // the default stream still waits
  go = true;
  EXPECT_EQ(trnStreamSynchronize(nullptr), trnSuccess);
  EXPECT_EQ(seen, 11);
  trnStreamDestroy(blocking), trnStreamDestroy(free);
}

TEST_P(OnDevice, ResetMakesHandlesStale) {
  void* a = nullptr;
  trnStream_t stream = nullptr;
  ASSERT_EQ(trnMalloc(&a, 8), trnSuccess);
  ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
  EXPECT_EQ(trnDeviceReset(), trnSuccess);
  EXPECT_EQ(trnFree(a), trnErrorInvalidValue);
  EXPECT_EQ(trnStreamSynchronize(stream), trnErrorInvalidResourceHandle);
  EXPECT_EQ(trnMalloc(&a, 8), trnSuccess);
  EXPECT_EQ(trnFree(a), trnSuccess);
}

TEST_P(OnDevice, SaysWhatItIs) {
  trnDeviceProp properties;
  ASSERT_EQ(trnGetDeviceProperties(&properties, number_, sizeof properties), trnSuccess);
  EXPECT_EQ(std::string(properties.executor), GetParam());
  EXPECT_EQ(properties.major, 9);
  EXPECT_GT(properties.totalGlobalMem, std::size_t{1} << 30);
  int value = 0;
  EXPECT_EQ(trnDeviceGetAttribute(&value, trnDevAttrComputeCapabilityMajor, number_), trnSuccess);
  EXPECT_EQ(value, 9);
  EXPECT_EQ(trnDeviceGetAttribute(&value, static_cast<trnDeviceAttr>(9999), number_), trnErrorInvalidValue);
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(trnMemGetInfo(&before, &total), trnSuccess);
  void* a = nullptr;
  trnMalloc(&a, 1 << 20);
  EXPECT_EQ(trnMemGetInfo(&after, &total), trnSuccess);
  EXPECT_EQ(before - after, std::size_t{1} << 20);
  trnFree(a);
}

// The streams of threads belong to the device: who waits for it waits for them, whether or not the thread is still
// there, and the default stream comes behind them.
TEST_P(OnDevice, ThreadsHaveStreamsOfTheirOwn) {
  const auto slow = [](void* done) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    *static_cast<std::atomic<bool>*>(done) = true;
  };
  std::atomic<bool> done = false;
  ASSERT_EQ(trnLaunchHostFunc(trnStreamPerThread, slow, &done), trnSuccess);
  EXPECT_EQ(trnDeviceSynchronize(), trnSuccess);
  EXPECT_TRUE(done);
  done = false;
  std::thread([&] {
    trnSetDevice(number_);
    EXPECT_EQ(trnLaunchHostFunc(trnStreamPerThread, slow, &done), trnSuccess);
  }).join();
  EXPECT_EQ(trnDeviceSynchronize(), trnSuccess);
  EXPECT_TRUE(done);
  // A copy in the default stream, and the end of memory.
  void* a = nullptr;
  int value = 7;
  ASSERT_EQ(trnMalloc(&a, sizeof value), trnSuccess);
  done = false;
  ASSERT_EQ(trnLaunchHostFunc(trnStreamPerThread, slow, &done), trnSuccess);
  EXPECT_EQ(trnMemcpy(a, &value, sizeof value, trnMemcpyHostToDevice), trnSuccess);
  EXPECT_TRUE(done);
  done = false;
  ASSERT_EQ(trnLaunchHostFunc(trnStreamPerThread, slow, &done), trnSuccess);
  EXPECT_EQ(trnFree(a), trnSuccess);
  EXPECT_TRUE(done);
  // A reset waits too, and the stream is there again after it.
  done = false;
  ASSERT_EQ(trnLaunchHostFunc(trnStreamPerThread, slow, &done), trnSuccess);
  EXPECT_EQ(trnDeviceReset(), trnSuccess);
  EXPECT_TRUE(done);
  done = false;
  ASSERT_EQ(trnLaunchHostFunc(trnStreamPerThread, slow, &done), trnSuccess);
  EXPECT_EQ(trnDeviceSynchronize(), trnSuccess);
  EXPECT_TRUE(done);
}

// What is in a stream that is destroyed is done, and memory that queued copies use is freed behind them.
TEST_P(OnDevice, WorkOutlivesItsStream) {
  trnStream_t stream = nullptr;
  void *a = nullptr, *pinned = nullptr;
  constexpr std::size_t bytes = 1 << 20;
  ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
  ASSERT_EQ(trnMalloc(&a, bytes), trnSuccess);
  ASSERT_EQ(trnMallocHost(&pinned, bytes), trnSuccess);
  ASSERT_EQ(trnMemsetAsync(a, 0x5a, bytes, stream), trnSuccess);
  ASSERT_EQ(trnMemcpyAsync(pinned, a, bytes, trnMemcpyDeviceToHost, stream), trnSuccess);
  EXPECT_EQ(trnFree(a), trnSuccess);
  EXPECT_EQ(static_cast<unsigned char*>(pinned)[bytes - 1], 0x5a);
  std::atomic<bool> done = false;
  ASSERT_EQ(trnLaunchHostFunc(
                stream,
                [](void* flag) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
                  *static_cast<std::atomic<bool>*>(flag) = true;
                },
                &done),
            trnSuccess);
  EXPECT_EQ(trnStreamDestroy(stream), trnSuccess);
  for (int i = 0; i < 500 && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(done);
  EXPECT_EQ(trnStreamSynchronize(stream), trnErrorInvalidResourceHandle);
  trnFreeHost(pinned);
}

INSTANTIATE_TEST_SUITE_P(Runtime, OnDevice, testing::Values("host", "sim:trn2"));

TEST(Runtime, MoreMemoryThanThereIs) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::vector<const char*> executors = {"sim:trn2"};  // the sanitizers' allocators end the program
#else
  const std::vector<const char*> executors = {"sim:trn2", "host"};
#endif
  void* a = nullptr;
  for (const char* executor : executors) {
    device(executor);
    EXPECT_EQ(trnMalloc(&a, std::size_t{1} << 50), trnErrorMemoryAllocation) << trnGetLastErrorText();
    EXPECT_EQ(trnMalloc(&a, SIZE_MAX), trnErrorInvalidValue);
  }
  trnSetDevice(0);
}

TEST(Runtime, DevicesThatAreNotThere) {
  int number = 0, count = 0;
  EXPECT_EQ(trnSetDevice(-1), trnErrorInvalidDevice);
  EXPECT_EQ(trnGetDeviceCount(&count), trnSuccess);
  EXPECT_EQ(trnSetDevice(count), trnErrorInvalidDevice);
  EXPECT_EQ(trnDeviceOpen("sim:trn9", &number), trnErrorInvalidValue);
  EXPECT_NE(std::string(trnGetLastErrorText()).find("sim:trn2"), std::string::npos) << trnGetLastErrorText();
}

TEST(Runtime, RegisteredMemoryIsPinned) {
  std::vector<char> mine(100);
  EXPECT_EQ(trnHostRegister(mine.data(), 100, 0), trnSuccess);
  EXPECT_EQ(trnHostRegister(mine.data() + 50, 100, 0), trnErrorHostMemoryAlreadyRegistered);
  trnPointerAttributes attributes;
  EXPECT_EQ(trnPointerGetAttributes(&attributes, mine.data()), trnSuccess);
  EXPECT_EQ(attributes.type, trnMemoryTypeHost);
  EXPECT_EQ(trnHostUnregister(mine.data()), trnSuccess);
  EXPECT_EQ(trnHostUnregister(mine.data()), trnErrorHostMemoryNotRegistered);
  // A range around one that is registered already.
  EXPECT_EQ(trnHostRegister(mine.data() + 40, 20, 0), trnSuccess);
  EXPECT_EQ(trnHostRegister(mine.data(), 100, 0), trnErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(trnHostRegister(mine.data(), 40, 0), trnSuccess);
  EXPECT_EQ(trnHostUnregister(mine.data()), trnSuccess);
  EXPECT_EQ(trnHostUnregister(mine.data() + 40), trnSuccess);
  EXPECT_EQ(trnHostRegister(mine.data(), SIZE_MAX, 0), trnErrorInvalidValue);
  EXPECT_EQ(trnHostRegister(mine.data(), std::size_t{1} << 63, 0), trnErrorInvalidValue);
}

TEST(Runtime, NamesOfErrors) {
  EXPECT_STREQ(trnGetErrorName(trnErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(trnGetErrorName(static_cast<trnError_t>(12345)), "unrecognized error code");
}

// Eight threads, each on a stream of its own.
TEST(Runtime, ThreadsOnStreamsOfTheirOwn) {
  device("host");
  int number = 0;
  trnGetDevice(&number);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      trnSetDevice(number);
      trnStream_t stream = nullptr;
      trnStreamCreateWithFlags(&stream, trnStreamNonBlocking);
      for (int i = 0; i < 50; ++i) {
        void* a = nullptr;
        int in = 100 * t + i, out = -1;
        trnMalloc(&a, sizeof in);
        trnMemcpyAsync(a, &in, sizeof in, trnMemcpyHostToDevice, stream);
        trnMemcpyAsync(&out, a, sizeof out, trnMemcpyDeviceToHost, stream);
        if (out == in && trnFree(a) == trnSuccess) ++right;
      }
      trnStreamDestroy(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400);
  trnSetDevice(0);
}

// One thread records an event again and again while three others ask for it.
TEST(Runtime, ThreadsShareAnEvent) {
  device("host");
  int number = 0;
  trnGetDevice(&number);
  trnEvent_t event = nullptr;
  trnStream_t stream = nullptr;
  ASSERT_EQ(trnEventCreate(&event), trnSuccess);
  ASSERT_EQ(trnStreamCreateWithFlags(&stream, trnStreamNonBlocking), trnSuccess);
  std::atomic<bool> over = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      trnSetDevice(number);
      trnStream_t mine = nullptr;
      trnStreamCreateWithFlags(&mine, trnStreamNonBlocking);
      do {
        float milliseconds = 0;
        const trnError_t asked = t == 0   ? trnEventQuery(event)
                                 : t == 1 ? trnStreamWaitEvent(mine, event, 0)
                                          : trnEventElapsedTime(&milliseconds, event, event);
        const bool early = asked == trnErrorNotReady || (t == 2 && asked == trnErrorInvalidResourceHandle);
        if ((asked != trnSuccess && !early) || trnEventSynchronize(event) != trnSuccess) ++wrong;
      } while (!over);
      if (trnStreamSynchronize(mine) != trnSuccess) ++wrong;
      trnStreamDestroy(mine);
    });
  }
  for (int i = 0; i < 500; ++i) {
    if (trnEventRecord(event, stream) != trnSuccess) ++wrong;
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trnStreamSynchronize(stream), trnSuccess);
  trnStreamDestroy(stream), trnEventDestroy(event);
  trnSetDevice(0);
}

// What a stream queues between begin and end of a capture is not done, and done by each launch.
TEST(Runtime, GraphsAreLaunchedAsOftenAsOneLikes) {
  trnStream_t stream;
  trnGraph_t graph;
  trnGraphExec_t executable;
  int* memory;
  int count = 0, value = 0;
  trnStreamCaptureStatus status;
  ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
  ASSERT_EQ(trnMalloc(reinterpret_cast<void**>(&memory), 4), trnSuccess);
  EXPECT_EQ(trnStreamBeginCapture(nullptr, trnStreamCaptureModeGlobal), trnErrorStreamCaptureUnsupported);
  EXPECT_EQ(trnStreamEndCapture(stream, &graph), trnErrorIllegalState);
  ASSERT_EQ(trnStreamBeginCapture(stream, trnStreamCaptureModeGlobal), trnSuccess);
  EXPECT_EQ(trnStreamIsCapturing(stream, &status), trnSuccess);
  EXPECT_EQ(status, trnStreamCaptureStatusActive);
  EXPECT_EQ(trnMemsetAsync(memory, 1, 4, stream), trnSuccess);
  EXPECT_EQ(trnLaunchHostFunc(
                stream, [](void* p) { ++*static_cast<int*>(p); }, &count),
            trnSuccess);
  EXPECT_EQ(trnMemcpyAsync(&value, memory, 4, trnMemcpyDeviceToHost, stream), trnErrorNotSupported);  // pageable
  EXPECT_EQ(trnStreamSynchronize(stream), trnErrorStreamCaptureUnsupported);
  ASSERT_EQ(trnStreamEndCapture(stream, &graph), trnSuccess);
  EXPECT_EQ(trnStreamSynchronize(stream), trnSuccess);
  EXPECT_EQ(count, 0);
  ASSERT_EQ(trnGraphInstantiate(&executable, graph, 0), trnSuccess);
  EXPECT_EQ(trnGraphDestroy(graph), trnSuccess);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trnGraphLaunch(executable, stream), trnSuccess);
  EXPECT_EQ(trnStreamSynchronize(stream), trnSuccess);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(trnMemcpy(&value, memory, 4, trnMemcpyDeviceToHost), trnSuccess);
  EXPECT_EQ(value, 0x01010101);
  EXPECT_EQ(trnGraphExecDestroy(executable), trnSuccess);
  EXPECT_EQ(trnGraphLaunch(executable, stream), trnErrorInvalidResourceHandle);
  EXPECT_EQ(trnGraphInstantiate(&executable, graph, 0), trnErrorInvalidResourceHandle);
  trnFree(memory), trnStreamDestroy(stream);
}

}  // namespace

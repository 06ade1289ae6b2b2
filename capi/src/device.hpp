// Devices and streams of the C API. A device is an executor with a number, a default stream and the streams made on
// it. TRN_EXECUTOR lists the executors ("host,sim:trn2" are devices 0 and 1); without it there is one, the best that
// Executor::open() finds.
//
// Work on a stream is done in order by whoever waits for it. Calls are synchronous unless they say otherwise: what they
// do is put into the stream, behind everything that is there, and waited for.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <trn/core/precision.hpp>
#include <trn/core/stream.hpp>

#include <trn_types.h>

namespace trn::capi {

struct Device;

// What a stream was asked to do between the begin and the end of a capture, in order.
struct Block;
struct StreamObject;
struct Graph {
  std::mutex mutex;  // while it is captured: several streams may add to it
  std::vector<std::function<void()>> steps;
  std::vector<std::weak_ptr<const Block>> memory;  // that the steps will use
  const StreamObject* origin = nullptr;            // where the capture began
  std::set<const StreamObject*> unjoined;          // streams whose last step the origin has not waited for
  bool done = false;
};

struct StreamObject {
  StreamObject(Device& d, const Executor& executor, unsigned f) : device(&d), stream(executor), flags(f) {}
  Device* device;
  Stream stream;
  unsigned flags;
  std::atomic<bool> left_behind = false;  // destroyed, or the own one of a thread that ended; handles may hold it
  [[nodiscard]] bool blocking() const { return (flags & trnStreamNonBlocking) == 0; }

  // Capture. Any thread may use the stream while another begins or ends one.
  [[nodiscard]] bool captured() const;
  [[nodiscard]] bool begin_capture();  // false if one is under way
  // Null if none is, or if it began on another stream.
  [[nodiscard]] std::shared_ptr<Graph> end_capture();
  // What is being captured here, or null.
  [[nodiscard]] std::shared_ptr<Graph> capture() const;
  // Takes part in a capture that began on another stream: what is put here is kept behind what is there already.
  // False if the stream is captured for another graph.
  [[nodiscard]] bool join(const std::shared_ptr<Graph>& graph);
  // While work is captured: keeps `work` with the memory it will use, and says so. Else does nothing.
  [[nodiscard]] bool keep(std::function<void()>& work, const std::vector<std::weak_ptr<const Block>>& memory);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Graph> capture_;  // null unless its work is captured
};

struct Device {
  Device(int n, Executor e) : number(n), executor(std::move(e)), legacy(*this, executor, 0) {}
  int number;
  Executor executor;
  StreamObject legacy;  // the default stream
  std::mutex mutex;
  std::set<std::shared_ptr<StreamObject>> streams;  // all others, the threads' own among them
  std::atomic<int> generation = 0;                  // counts resets: handles of an earlier one are stale
};

[[nodiscard]] int device_count();
// Throws WithStatus(101) for a number that is not there.
[[nodiscard]] Device& device(int number);
[[nodiscard]] Device& current_device();
void set_current_device(int number);
// Opens one more; its number.
int open_device(const std::string& executor);

// The stream behind a handle: null and 1 mean the current device's default stream, 2 the calling thread's own. Throws
// BadHandle for one that is not alive.
[[nodiscard]] std::shared_ptr<StreamObject> stream_of(trnStream_t handle);
[[nodiscard]] trnStream_t create_stream(unsigned flags);
void destroy_stream(trnStream_t handle);

// Puts `work` behind what is in the stream, and behind what CUDA's default stream has it wait for. On a stream that is
// captured it is kept for later, with `memory` beside the blocks that the call has looked up.
void enqueue(StreamObject& stream, std::function<void()> work,
             const std::vector<std::weak_ptr<const Block>>& memory = {});
// The same, and waits; throws what the work, or anything before it, threw. NotImplemented on a stream that is captured:
// what is waited for cannot be kept for later.
void run(StreamObject& stream, const std::function<void()>& work);
// TRN_PRECISION: what new handles and plans begin with, if it is set; a wrong one ends the program with a message.
[[nodiscard]] const std::optional<Precision>& initial_precision();
// TRN_LAUNCH_BLOCKING=1: nothing runs behind the caller.
[[nodiscard]] bool launch_blocking();
// Waits for every stream of the device.
void synchronize(Device& device);

}  // namespace trn::capi

// Devices and streams: see device.hpp.
#include "device.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>

#include <trn/core/environment.hpp>

#include "call.hpp"
#include "memory.hpp"

namespace trn::capi {

namespace {

struct Devices {
  std::mutex mutex;
  std::deque<Device> all;
};

// The devices that TRN_EXECUTOR names. A wrong name ends the program before it computes anything: a C program that does
// not look at its first status would go on with nothing.
Devices& devices() {
  // Never destroyed: streams may still be in use by other threads when the process ends.
  static Devices& made = *[] {
    auto* d = new Devices;
    try {
      std::string names = environment("TRN_EXECUTOR", "");
      for (std::size_t at = 0; at <= names.size();) {
        const std::size_t comma = std::min(names.find(',', at), names.size());
        require(names.empty() || comma > at, "'{}' has an empty name; executors are separated by one comma", names);
        d->all.emplace_back(static_cast<int>(d->all.size()), Executor::open(names.substr(at, comma - at)));
        at = comma + 1;
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "trnsci: TRN_EXECUTOR: %s\n", e.what());
      std::exit(2);
    }
    return d;
  }();
  return made;
}

thread_local int current = 0;
// The calling thread's own streams, by device. They are among the device's streams, so that whoever waits for the
// device waits for them; when the thread ends, those with work left stay there.
struct ThreadStreams {
  std::map<int, std::shared_ptr<StreamObject>> by_device;
  ThreadStreams() = default;
  ThreadStreams(const ThreadStreams&) = delete;
  ThreadStreams& operator=(const ThreadStreams&) = delete;
  ~ThreadStreams() {
    for (const auto& [number, stream] : by_device) {
      stream->left_behind = true;
      const std::lock_guard lock(stream->device->mutex);
      if (stream->stream.idle()) stream->device->streams.erase(stream);
    }
  }
};
thread_local ThreadStreams per_thread;

}  // namespace

int device_count() {
  Devices& d = devices();
  const std::lock_guard lock(d.mutex);
  return static_cast<int>(d.all.size());
}

Device& device(int number) {
  Devices& d = devices();
  const std::lock_guard lock(d.mutex);
  const int count = static_cast<int>(d.all.size());
  if (number < 0 || number >= count)
    throw WithStatus(101, fmt::format("device {} is not there; devices are 0 to {}", number, count - 1));
  return d.all[static_cast<std::size_t>(number)];
}

Device& current_device() { return device(current); }

void set_current_device(int number) { current = device(number).number; }

int open_device(const std::string& executor) {
  Executor opened = Executor::open(executor);
  Devices& d = devices();
  const std::lock_guard lock(d.mutex);
  d.all.emplace_back(static_cast<int>(d.all.size()), std::move(opened));
  return d.all.back().number;
}

std::shared_ptr<StreamObject> stream_of(trnStream_t handle) {
  if (handle == nullptr || handle == trnStreamLegacy)
    return {std::shared_ptr<void>(), &current_device().legacy};  // not owned: the device outlives it
  if (handle == trnStreamPerThread) {
    auto& mine = per_thread.by_device[current];
    Device& d = current_device();
    if (!mine) mine = std::make_shared<StreamObject>(d, d.executor, 0U);
    const std::lock_guard lock(d.mutex);
    d.streams.insert(mine);  // again after a reset, which empties the list
    return mine;
  }
  for (int i = 0; i < device_count(); ++i) {
    Device& d = device(i);
    const std::lock_guard lock(d.mutex);
    for (const auto& stream : d.streams)
      if (stream.get() == reinterpret_cast<StreamObject*>(handle)) return stream;
  }
  throw BadHandle("the stream is not alive; it was destroyed, or is not a stream");
}

trnStream_t create_stream(unsigned flags) {
  Device& d = current_device();
  auto made = std::make_shared<StreamObject>(d, d.executor, flags);
  const std::lock_guard lock(d.mutex);
  d.streams.insert(made);
  return reinterpret_cast<trnStream_t>(made.get());
}

void destroy_stream(trnStream_t handle) {
  require(handle != nullptr && handle != trnStreamLegacy && handle != trnStreamPerThread,
          "a default stream cannot be destroyed");
  const std::shared_ptr<StreamObject> stream = stream_of(handle);
  if (stream->end_capture()) captures_changed(-1);  // what was captured is dropped with the stream
  stream->left_behind = true;
  // A handle may hold the stream for longer: nobody who waits for the device would wait for it any more.
  std::exception_ptr failed;
  try {
    stream->stream.synchronize();
  } catch (...) {
    failed = std::current_exception();
  }
  {
    const std::lock_guard lock(stream->device->mutex);
    stream->device->streams.erase(stream);
  }
  if (failed) std::rethrow_exception(failed);
}

namespace {
bool is_open(const std::shared_ptr<Graph>& graph) {
  if (!graph) return false;
  const std::lock_guard lock(graph->mutex);
  return !graph->done;
}
}  // namespace
std::shared_ptr<Graph> StreamObject::capture() const {
  const std::lock_guard lock(mutex_);
  return is_open(capture_) ? capture_ : nullptr;
}
bool StreamObject::captured() const { return capture() != nullptr; }
bool StreamObject::begin_capture() {
  const std::lock_guard lock(mutex_);
  if (is_open(capture_)) return false;
  capture_ = std::make_shared<Graph>();
  capture_->origin = this;
  return true;
}
std::shared_ptr<Graph> StreamObject::end_capture() {
  const std::lock_guard lock(mutex_);
  if (!is_open(capture_) || capture_->origin != this) return nullptr;
  const auto graph = std::exchange(capture_, nullptr);
  const std::lock_guard inner(graph->mutex);
  graph->done = true;  // the streams that took part are free
  return graph;
}
bool StreamObject::join(const std::shared_ptr<Graph>& graph) {
  const std::lock_guard lock(mutex_);
  if (capture_ == graph) return true;
  if (is_open(capture_)) return false;
  capture_ = graph;
  const std::lock_guard inner(graph->mutex);
  graph->unjoined.insert(this);
  return true;
}
bool StreamObject::keep(std::function<void()>& work, const std::vector<std::weak_ptr<const Block>>& memory) {
  const std::lock_guard lock(mutex_);
  if (!capture_) return false;
  const std::lock_guard inner(capture_->mutex);
  if (capture_->done) return false;
  if (capture_->origin != this) capture_->unjoined.insert(this);
  for (const auto* blocks : {&looked_up(), &memory})
    capture_->memory.insert(capture_->memory.end(), blocks->begin(), blocks->end());
  capture_->steps.push_back(std::move(work));
  return true;
}

namespace {
// Behind what is in the stream, whether or not a capture began a moment ago.
void put(StreamObject& stream, std::function<void()> work) {
  Device& d = *stream.device;
  if (&stream == &d.legacy) {
    std::vector<std::shared_ptr<StreamObject>> others;
    {
      const std::lock_guard lock(d.mutex);
      for (const auto& other : d.streams)
        if (other->blocking() && !other->stream.idle()) others.push_back(other);
    }
    for (const auto& other : others) stream.stream.wait(other->stream.mark());
  } else if (stream.blocking() && !d.legacy.stream.idle()) {
    stream.stream.wait(d.legacy.stream.mark());
  }
  stream.stream.enqueue(std::move(work));
}
}  // namespace

void enqueue(StreamObject& stream, std::function<void()> work, const std::vector<std::weak_ptr<const Block>>& memory) {
  if (stream.keep(work, memory)) return;
  put(stream, std::move(work));
  if (stream.left_behind) stream.stream.synchronize();  // it may not be among the device's streams any more
}

// `work` refers to the caller's variables, so it is never kept: put() does not look at captures again.
void run(StreamObject& stream, const std::function<void()>& work) {
  if (stream.captured())
    fail<NotImplemented>(
        "the stream is captured, and this call, or a copy of pageable memory, cannot be kept for later");
  put(stream, work);
  stream.stream.synchronize();
}

const std::optional<Precision>& initial_precision() {
  static const std::optional<Precision> found = []() -> std::optional<Precision> {
    const std::string name = environment("TRN_PRECISION", "");
    try {
      return name.empty() ? std::optional<Precision>() : Precision::parse(name);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "trnsci: TRN_PRECISION: %s\n", e.what());
      std::exit(2);
    }
  }();
  return found;
}

bool launch_blocking() {
  static const bool flag = flag_or_exit("TRN_LAUNCH_BLOCKING");
  return flag;
}

void synchronize(Device& d) {
  std::vector<std::shared_ptr<StreamObject>> all;
  {
    const std::lock_guard lock(d.mutex);
    all.assign(d.streams.begin(), d.streams.end());
  }
  for (const auto& stream : all) stream->stream.synchronize();
  d.legacy.stream.synchronize();
  const std::lock_guard lock(d.mutex);
  std::erase_if(d.streams, [](const auto& stream) { return stream->left_behind && stream->stream.idle(); });
}

}  // namespace trn::capi

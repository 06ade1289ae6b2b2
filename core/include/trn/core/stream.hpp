// Stream: calls that happen behind the caller, one after another. Marker: a point in a stream that others can wait for.
//
//   trn::Stream stream(exec);
//   stream.enqueue([=] { trn::blas::gemm(exec, ...); });
//   trn::Marker done = stream.mark();
//   other.wait(done);        // what is enqueued on `other` from now on begins after the marker
//   stream.synchronize();    // and throws what failed
//
// A stream is a way to wait, not a way to overlap kernels: an executor has one queue, and the streams of an executor
// take turns on it. Threads that wait do queued work themselves. After a failure the stream does nothing more until
// synchronize() has thrown it; markers are reached all the same.
#pragma once

#include <functional>
#include <memory>

#include <trn/core/executor.hpp>

namespace trn {

namespace detail {
struct StreamState;
}

// A handle; copies mean the same point. One that was never recorded is reached.
class Marker {
 public:
  Marker() = default;
  // Everything before it is done, on the executor too.
  [[nodiscard]] bool reached() const;
  void synchronize() const;
  // The executor's clock when it was reached: modelled seconds on a simulator, wall time on the host. Throws
  // InvalidArgument before that, and for a marker that was never recorded.
  [[nodiscard]] double seconds() const;

 private:
  friend class Stream;
  struct Point;
  std::shared_ptr<Point> point_;
};

class Stream {
 public:
  explicit Stream(Executor executor);
  // Does what is left; what failed and was not asked for is lost.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] const Executor& executor() const;
  // From 1 on, in the order of construction; events of its work carry it.
  [[nodiscard]] int number() const;

  // The arguments of `work` must live until it is done. Its events have the purpose that the caller has now.
  void enqueue(std::function<void()> work);
  [[nodiscard]] Marker mark();
  void wait(const Marker& marker);
  // Returns when everything enqueued so far is done; throws the first failure since the last call.
  void synchronize();
  [[nodiscard]] bool idle() const;

 private:
  std::shared_ptr<detail::StreamState> state_;
};

}  // namespace trn

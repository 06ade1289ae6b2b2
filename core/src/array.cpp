// Buffer: one allocation on an executor and the two events that mark its life. copy.cpp moves the data.
#include <trn/core/array.hpp>

namespace trn {
namespace {

// A destructor has nobody to report to, so a listener that throws is not heard.
void release(const Executor& executor, void* data, std::int64_t bytes) noexcept {
  Backend* backend = executor.shared_backend().get();
  if (!backend) return;  // moved from
  backend->deallocate(data, bytes);
  try {
    backend->events().emit({EventKind::Free, backend->name(), {}, bytes});
  } catch (...) {
  }
}

}  // namespace

Buffer::Buffer(Executor executor, std::int64_t bytes) : executor_(std::move(executor)), bytes_(bytes) {
  require(bytes >= 0, "buffer: {} bytes on executor '{}'; the size must be >= 0", bytes, executor_.name());
  Backend& backend = executor_.backend();
  data_ = backend.allocate(bytes);
  try {
    backend.events().emit({EventKind::Allocate, backend.name(), {}, bytes});
  } catch (...) {
    backend.deallocate(data_, bytes);
    throw;
  }
}

Buffer::~Buffer() { release(executor_, data_, bytes_); }

Buffer::Buffer(Buffer&& other) noexcept
    : executor_(std::move(other.executor_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  release(executor_, data_, bytes_);
  executor_ = std::move(other.executor_);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

}  // namespace trn

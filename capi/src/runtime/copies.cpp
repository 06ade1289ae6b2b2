// Memory and copies. Pageable memory is copied before the call returns, as in CUDA: a queued copy must not hold the
// address of a caller's vector that may be gone. Copies between device memory and pinned memory are queued.
#include <cstring>

#include "../memory.hpp"
#include "runtime.hpp"

namespace trn::capi::runtime {

namespace {

template <class T> void require_result(const T* result, const char* what) {
  require(result != nullptr, "{} is null; it receives the result", what);
}

// One side of a copy: which memory an address is, and how far from it the bytes lie.
struct Side {
  Executor executor;
  bool on_device, pageable;
  std::intptr_t shift = 0;
};

Side side_of(const void* address, std::int64_t bytes, const char* what) {
  const auto block = block_of(address);
  if (!block) return {Executor::host(), false, true};
  const std::int64_t room =
      block->bytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) - block->begin);
  require(bytes <= room, "{} is {} bytes long and {} are left in its block", what, bytes, room);
  const bool pinned = block->kind == MemoryKind::Pinned;
  return {pinned ? Executor::host() : block->device->executor, !pinned, false, block->shift};
}

// rows runs of `width` bytes.
struct Transfer {
  void* to;
  const void* from;
  std::size_t to_pitch, from_pitch, width, rows;
  [[nodiscard]] static std::int64_t span(std::size_t pitch, std::size_t width, std::size_t rows) {
    require(rows == 1 || pitch <= static_cast<std::size_t>(INT64_MAX) / rows, "{} rows of {} bytes are too many", rows,
            pitch);
    return static_cast<std::int64_t>((rows - 1) * pitch + width);
  }
};

void transfer(const Transfer& t, int kind, StreamObject& stream, bool queued) {
  if (kind < trnMemcpyHostToHost || kind > trnMemcpyDefault)
    throw WithStatus(trnErrorInvalidMemcpyDirection, fmt::format("the direction is {}; it must be 0 to 4", kind));
  if (t.width == 0 || t.rows == 0) return;
  require(t.to && t.from, "the {} is null", t.to ? "source" : "destination");
  require(t.width <= static_cast<std::size_t>(INT64_MAX), "{} bytes are too many", t.width);
  const Side to = side_of(t.to, Transfer::span(t.to_pitch, t.width, t.rows), "the destination");
  const Side from = side_of(t.from, Transfer::span(t.from_pitch, t.width, t.rows), "the source");
  if (kind != trnMemcpyDefault) {
    const bool to_device = kind == trnMemcpyHostToDevice || kind == trnMemcpyDeviceToDevice;
    const bool from_device = kind == trnMemcpyDeviceToHost || kind == trnMemcpyDeviceToDevice;
    // Managed memory is both.
    const auto managed = [](const void* p) {
      const auto block = block_of(p);
      return block && block->kind == MemoryKind::Managed;
    };
    require(to.on_device == to_device || managed(t.to), "the destination is {} memory, but the direction says {}",
            to.on_device ? "device" : "host", to_device ? "device" : "host");
    require(from.on_device == from_device || managed(t.from), "the source is {} memory, but the direction says {}",
            from.on_device ? "device" : "host", from_device ? "device" : "host");
  }
  const auto work = [t, to, from] {
    const auto* const source = static_cast<const std::byte*>(t.from) + from.shift;
    auto* const destination = static_cast<std::byte*>(t.to) + to.shift;
    for (std::size_t row = 0; row < t.rows; ++row)
      copy_bytes(from.executor, source + row * t.from_pitch, to.executor, destination + row * t.to_pitch,
                 static_cast<std::int64_t>(t.width));
  };
  if (queued && !to.pageable && !from.pageable) return enqueue(stream, work);
  run(stream, work);
}

void fill(void* to, int value, std::size_t bytes, StreamObject& stream, bool queued) {
  if (bytes == 0) return;
  require(bytes <= static_cast<std::size_t>(INT64_MAX), "{} bytes are too many", bytes);
  const auto block = block_of(to);
  require(block != nullptr && block->kind != MemoryKind::Pinned, "{} is not device memory", to);
  auto* const first =
      static_cast<std::byte*>(to) + side_of(to, static_cast<std::int64_t>(bytes), "the destination").shift;
  const auto work = [=, executor = block->device->executor] {
    const std::vector<std::byte> pattern(std::min<std::size_t>(bytes, 1 << 20), static_cast<std::byte>(value));
    for (std::size_t at = 0; at < bytes; at += pattern.size()) {
      copy_bytes(Executor::host(), pattern.data(), executor, first + at,
                 static_cast<std::int64_t>(std::min(pattern.size(), bytes - at)));
    }
  };
  if (queued) return enqueue(stream, work);
  run(stream, work);
}

}  // namespace

void malloc(void** address, std::size_t bytes) {
  require_result(address, "devPtr");
  *address = allocate(MemoryKind::Device, bytes);
}
void free(void* address) { release(address, MemoryKind::Device); }
void malloc_host(void** address, std::size_t bytes) {
  require_result(address, "ptr");
  *address = allocate(MemoryKind::Pinned, bytes);
}
void host_alloc(void** address, std::size_t bytes, unsigned) { malloc_host(address, bytes); }
void free_host(void* address) { release(address, MemoryKind::Pinned); }
void host_register(void* address, std::size_t bytes, unsigned) { register_pinned(address, bytes); }
void host_unregister(void* address) {
  require(address != nullptr, "ptr is null");
  release(address, MemoryKind::Pinned, true);
}
void malloc_managed(void** address, std::size_t bytes, unsigned flags) {
  require_result(address, "devPtr");
  require(bytes > 0, "managed memory of 0 bytes");
  if (current_device().executor.name().starts_with("neuron"))
    fail<NotImplemented>(
        "managed memory on '{}': the host cannot reach the device's memory; use trnMalloc and "
        "trnMemcpy",
        current_device().executor.name());
  require(flags == trnMemAttachGlobal || flags == trnMemAttachHost, "flags are {}; they must be 1 or 2", flags);
  *address = allocate(MemoryKind::Managed, bytes);
}
void malloc_pitch(void** address, std::size_t* pitch, std::size_t width, std::size_t height) {
  require_result(address, "devPtr");
  require_result(pitch, "pitch");
  const std::size_t line = (width + 511) / 512 * 512;
  require(line >= width && (height == 0 || line <= static_cast<std::size_t>(INT64_MAX) / height),
          "{} rows of {} bytes are too many", height, width);
  *address = allocate(MemoryKind::Device, line * height);
  *pitch = line;
}

void memcpy(void* to, const void* from, std::size_t bytes, trnMemcpyKind kind) {
  transfer({to, from, bytes, bytes, bytes, 1}, kind, *stream_of(nullptr), false);
}
void memcpy_async(void* to, const void* from, std::size_t bytes, trnMemcpyKind kind, trnStream_t stream) {
  transfer({to, from, bytes, bytes, bytes, 1}, kind, *stream_of(stream), true);
}
namespace {
void check_pitch(std::size_t pitch, std::size_t width) {
  if (pitch < width)
    throw WithStatus(trnErrorInvalidPitchValue, fmt::format("a pitch of {} is shorter than rows of {}", pitch, width));
}
}  // namespace
void memcpy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t height, trnMemcpyKind kind) {
  check_pitch(to_pitch, width), check_pitch(from_pitch, width);
  transfer({to, from, to_pitch, from_pitch, width, height}, kind, *stream_of(nullptr), false);
}
void memcpy_2d_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                     std::size_t height, trnMemcpyKind kind, trnStream_t stream) {
  check_pitch(to_pitch, width), check_pitch(from_pitch, width);
  transfer({to, from, to_pitch, from_pitch, width, height}, kind, *stream_of(stream), true);
}
void memset(void* to, int value, std::size_t bytes) { fill(to, value, bytes, *stream_of(nullptr), false); }
void memset_async(void* to, int value, std::size_t bytes, trnStream_t stream) {
  fill(to, value, bytes, *stream_of(stream), true);
}

namespace {
// One row after another.
void fill_2d(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, StreamObject& stream,
             bool queued) {
  check_pitch(pitch, width);
  require(height == 0 || pitch <= static_cast<std::size_t>(INT64_MAX) / height, "{} rows of {} bytes are too many",
          height, pitch);
  if (height == 0 || width == 0) return;
  (void)side_of(to, static_cast<std::int64_t>((height - 1) * pitch + width), "the destination");  // all or nothing
  for (std::size_t row = 0; row < height; ++row)
    fill(static_cast<std::byte*>(to) + row * pitch, value, width, stream, queued);
}
}  // namespace
void memset_2d(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  fill_2d(to, pitch, value, width, height, *stream_of(nullptr), false);
}
void memset_2d_async(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     trnStream_t stream) {
  fill_2d(to, pitch, value, width, height, *stream_of(stream), true);
}
// Memory comes and goes at once, which is earlier, and later, than the stream asks for.
void malloc_async(void** address, std::size_t bytes, trnStream_t stream) {
  if (stream_of(stream)->captured()) fail<NotImplemented>("an allocation in a stream that is captured");
  malloc(address, bytes);
}
void free_async(void* address, trnStream_t stream) {
  if (stream_of(stream)->captured()) fail<NotImplemented>("memory freed in a stream that is captured");
  free(address);
}
void memcpy_peer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  (void)device(to_device), (void)device(from_device);
  memcpy(to, from, bytes, trnMemcpyDeviceToDevice);
}
void memcpy_peer_async(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                       trnStream_t stream) {
  (void)device(to_device), (void)device(from_device);
  memcpy_async(to, from, bytes, trnMemcpyDeviceToDevice, stream);
}

void pointer_get_attributes(trnPointerAttributes* attributes, const void* address) {
  require_result(attributes, "attributes");
  *attributes = {trnMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(address)};
  const auto block = block_of(address);
  if (!block) return;
  void* const p = const_cast<void*>(address);
  attributes->device = block->device->number;
  switch (block->kind) {
    case MemoryKind::Device:
      *attributes = {trnMemoryTypeDevice, block->device->number, p, nullptr};
      return;
    case MemoryKind::Managed:
      *attributes = {trnMemoryTypeManaged, block->device->number, p, p};
      return;
    case MemoryKind::Pinned:
      *attributes = {trnMemoryTypeHost, block->device->number, p, p};
      return;
  }
}

}  // namespace trn::capi::runtime

// What all handles have, and the one way from an exported function to its body: find the handle, put the body into the
// stream behind what is there, turn what it throws into the library's status. A library says how in a struct Face:
//
//   status(code)  what its functions return; `codes` are the kinds of trouble
//   find(handle)  the object, which is alive; throws BadHandle
//   Call          how bodies see it: made from the object, or the object itself; finish(), if there is one, comes last
//   kNamesStream  there, if each call names its own stream
#pragma once

#include "call.hpp"
#include "device.hpp"

namespace trn::capi {

struct Context {
  Context(Device* d, int resets, std::shared_ptr<StreamObject> s)
      : device(d), generation(resets), stream(std::move(s)) {}
  Device* device;
  int generation;  // the device's resets when the handle was made
  std::shared_ptr<StreamObject> stream;
  trnStream_t stream_handle = nullptr;
};

// A result to where the caller wants it.
template <class T, class V> void answer(const char* name, T* address, V value) {
  require(address != nullptr, "{} is null; it receives the result", name);
  *address = static_cast<T>(value);
}

template <class H, class... A> void create_handle(H** handle, A... more) {
  require(handle != nullptr, "handle is null; it receives the handle");
  Device& d = current_device();
  *handle = alive<H>().add(std::make_shared<H>(&d, d.generation, stream_of(nullptr), more...));
}
template <class H> [[nodiscard]] std::shared_ptr<H> living(H* handle, const char* kind = "handle") {
  auto found = alive<H>().find(handle, kind);
  if (found->generation != found->device->generation) throw BadHandle(fmt::format("the {}'s device was reset", kind));
  return found;
}
inline void set_stream(Context& context, trnStream_t stream, const char* kind = "handle") {
  auto found = stream_of(stream);
  require(found->device == context.device, "the stream belongs to device {} and the {} to device {}",
          found->device->number, kind, context.device->number);
  context.stream_handle = stream;
  context.stream = std::move(found);
}

template <class S, int... kCodes> struct Statuses {
  static constexpr StatusCodes codes{kCodes...};
  static S status(int code) { return static_cast<S>(code); }
};

template <class Face, class F> auto call(const char* function, const F& body) noexcept {
  return Face::status(guarded(function, Face::codes, body));
}
template <class Face, class H, class F> auto call(H handle, const char* function, const F& body) noexcept {
  return call<Face>(function, [&] {
    const auto found = Face::find(handle);
    const auto work = [&] {
      if constexpr (std::is_same_v<typename Face::Call&, decltype(*found)>) {
        body(*found);
      } else {
        typename Face::Call c(*found);
        body(c);
        if constexpr (requires { c.finish(); }) c.finish();
      }
    };
    if constexpr (requires { Face::kNamesStream; }) return work();
    const auto stream = found->stream;  // its own thread must not be the last that lets go of it
    run(*stream, work);
  });
}

}  // namespace trn::capi

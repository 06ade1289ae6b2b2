// The runtime's bodies, in the order of capi/api/runtime.api. Each has the contract of the CUDA function of its name.
#pragma once

#include <trn_runtime.h>

#include "../call.hpp"

namespace trn::capi::runtime {

// Also what trnGetLastError returns.
trnError_t note(int status) noexcept;
inline constexpr StatusCodes kCodes{400, 1, 801, 2, 700, 999};

template <class F> trnError_t call(const char* function, const F& body) noexcept {
  return note(guarded(function, kCodes, body));
}

void malloc(void** address, std::size_t bytes);
void free(void* address);
void malloc_host(void** address, std::size_t bytes);
void host_alloc(void** address, std::size_t bytes, unsigned flags);
void free_host(void* address);
void host_register(void* address, std::size_t bytes, unsigned flags);
void host_unregister(void* address);
void malloc_managed(void** address, std::size_t bytes, unsigned flags);
void malloc_pitch(void** address, std::size_t* pitch, std::size_t width, std::size_t height);
void memcpy(void* to, const void* from, std::size_t bytes, trnMemcpyKind kind);
void memcpy_async(void* to, const void* from, std::size_t bytes, trnMemcpyKind kind, trnStream_t stream);
void memcpy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t height, trnMemcpyKind kind);
void memcpy_2d_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                     std::size_t height, trnMemcpyKind kind, trnStream_t stream);
void memset(void* to, int value, std::size_t bytes);
void memset_async(void* to, int value, std::size_t bytes, trnStream_t stream);
void mem_get_info(std::size_t* free, std::size_t* total);
void pointer_get_attributes(trnPointerAttributes* attributes, const void* address);

void stream_create(trnStream_t* stream);
void stream_create_with_flags(trnStream_t* stream, unsigned flags);
void stream_create_with_priority(trnStream_t* stream, unsigned flags, int priority);
void stream_destroy(trnStream_t stream);
void stream_synchronize(trnStream_t stream);
void stream_query(trnStream_t stream);
void stream_wait_event(trnStream_t stream, trnEvent_t event, unsigned flags);
void stream_get_flags(trnStream_t stream, unsigned* flags);
void stream_attach_mem_async(trnStream_t stream, void* address, std::size_t bytes, unsigned flags);
void launch_host_func(trnStream_t stream, trnHostFn_t function, void* user_data);
void stream_begin_capture(trnStream_t stream, trnStreamCaptureMode mode);
void stream_end_capture(trnStream_t stream, trnGraph_t* graph);
void stream_is_capturing(trnStream_t stream, trnStreamCaptureStatus* status);
void graph_instantiate(trnGraphExec_t* executable, trnGraph_t graph, unsigned long long flags);
void graph_launch(trnGraphExec_t executable, trnStream_t stream);
void graph_exec_destroy(trnGraphExec_t executable);
void graph_destroy(trnGraph_t graph);
void event_create(trnEvent_t* event);
void event_create_with_flags(trnEvent_t* event, unsigned flags);
void event_record(trnEvent_t event, trnStream_t stream);
void event_synchronize(trnEvent_t event);
void event_query(trnEvent_t event);
void event_elapsed_time(float* milliseconds, trnEvent_t start, trnEvent_t end);
void event_destroy(trnEvent_t event);

void get_device_count(int* count);
void set_device(int device);
void get_device(int* device);
void set_device_flags(unsigned flags);
void device_synchronize();
void device_reset();
void device_get_attribute(int* value, trnDeviceAttr attribute, int device);
void device_can_access_peer(int* can, int device, int peer);
void device_enable_peer_access(int peer, unsigned flags);
void device_disable_peer_access(int peer);
void device_get_stream_priority_range(int* least, int* greatest);
void driver_get_version(int* version);
void runtime_get_version(int* version);
void get_device_properties(trnDeviceProp* properties, int device, std::size_t size);
void device_open(const char* executor, int* device);

}  // namespace trn::capi::runtime

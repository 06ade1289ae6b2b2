// The part of the Neuron runtime's C interface (libnrt) that the executor calls, in our own words: types, numbers and
// the functions by name. The library is the user's; it is opened at run time and nothing of it is linked or included.
// Layouts are those of runtime 2.31 to 2.34 on x86-64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trn::neuron::nrt {

// Success is 0. status.cpp has the table of the others.
using Status = std::uint32_t;
struct Model;   // opaque
struct Tensor;  // opaque
using TensorSet = void;
using Sequence = std::uint64_t;  // of one core's queue, growing

enum : Status {
  kSuccess = 0,
  kFailure = 1,
  kInvalid = 2,
  kInvalidHandle = 3,
  kResource = 4,
  kTimeout = 5,
  kHardwareError = 6,
  kQueueFull = 7,
  kNotEnoughCores = 9,
  kUnsupportedNeff = 10,
  kHostMemory = 11,
  kUninitialized = 13,
  kClosed = 14,
  kQueueEmpty = 15,
  kUnrecoverable = 101,
  kBadInput = 1002,
  kNumericalError = 1003,
  kCompletedWithError = 1004,
  kCoreBusy = 1005,
  kOutOfBounds = 1006,
  kCollectivePending = 1100,
  kCollectiveHardware = 1200,
  kMemoryUncorrectable = 1201,
  kCoreUncorrectable = 1202,
  kDmaAbort = 1203,
  kNotificationOverflow = 1204,
  kMemoryRepairable = 1205,
  kNetworkProxy = 1206
};

inline constexpr int kNoFramework = 1;                   // of nrt_init
inline constexpr int kDeviceMemory = 0;                  // of nrt_tensor_allocate
inline constexpr std::uint32_t kInput = 0, kOutput = 1;  // TensorInfo::usage

struct Version {
  std::uint64_t major, minor, patch, maintenance;
  char detail[128];
  char git_hash[64];
};
static_assert(sizeof(Version) == 224);

struct InstanceInfo {
  std::uint32_t family, size;
  char architecture[16], revision[8];
};
static_assert(sizeof(InstanceInfo) == 32);

struct TensorInfo {
  char name[256];
  std::uint32_t usage;
  std::size_t bytes;
  std::uint32_t dtype;  // not to be relied on: fp8 is reported as int8, some as unknown
  std::uint32_t* shape;
  std::uint32_t rank;
};
static_assert(sizeof(TensorInfo) == 296 && offsetof(TensorInfo, bytes) == 264 && offsetof(TensorInfo, shape) == 280);

// Of one core, as the runtime counts it.
struct MemoryStats {
  std::size_t bytes_used, bytes_limit;
};
static_assert(sizeof(MemoryStats) == 16);

struct TraceConfig;   // opaque
struct FetchOptions;  // opaque

// Followed by `count` TensorInfo.
struct TensorInfoArray {
  std::uint64_t count;
};
static_assert(sizeof(TensorInfoArray) == 8 && alignof(TensorInfo) == 8);
inline TensorInfo* tensors_of(TensorInfoArray* array) { return reinterpret_cast<TensorInfo*>(array + 1); }

// X(name, needed, result, arguments): every function that is called, by its name in the library. What is not needed may
// be missing, and the executor does without it.
#define TRN_NRT_FUNCTIONS(X)                                                                                         \
  X(nrt_init, true, Status, (int framework, const char* framework_version, const char* layer_version))               \
  X(nrt_close, true, void, ())                                                                                       \
  X(nrt_get_version, false, Status, (Version * version, std::size_t bytes))                                          \
  X(nrt_get_instance_info, false, Status, (InstanceInfo * info, std::size_t bytes))                                  \
  X(nrt_get_visible_vnc_count, true, Status, (std::uint32_t * count))                                                \
  X(nrt_load, true, Status, (const void* neff, std::size_t bytes, std::int32_t core, std::int32_t cores, Model** m)) \
  X(nrt_unload, true, Status, (Model * model))                                                                       \
  X(nrt_get_model_tensor_info, false, Status, (Model * model, TensorInfoArray * *info))                              \
  X(nrt_free_model_tensor_info, false, Status, (TensorInfoArray * info))                                             \
  X(nrt_tensor_allocate, true, Status, (int placement, int core, std::size_t bytes, const char* name, Tensor** t))   \
  X(nrt_tensor_free, true, void, (Tensor * *tensor))                                                                 \
  X(nrt_tensor_allocate_slice, true, Status,                                                                         \
    (const Tensor* source, std::size_t offset, std::size_t bytes, const char* name, Tensor** slice))                 \
  X(nrt_tensor_write, true, Status, (Tensor * to, const void* from, std::size_t offset, std::size_t bytes))          \
  X(nrt_tensor_read, true, Status, (const Tensor* from, void* to, std::size_t offset, std::size_t bytes))            \
  X(nrt_tensor_copy, false, Status,                                                                                  \
    (const Tensor* from, std::size_t from_offset, Tensor* to, std::size_t to_offset, std::size_t bytes))             \
  X(nrt_allocate_tensor_set, true, Status, (TensorSet * *set))                                                       \
  X(nrt_destroy_tensor_set, true, void, (TensorSet * *set))                                                          \
  X(nrt_add_tensor_to_tensor_set, true, Status, (TensorSet * set, const char* name, Tensor* tensor))                 \
  X(nrt_execute, true, Status, (Model * model, const TensorSet* in, TensorSet* out))                                 \
  X(nrt_get_vnc_memory_stats, false, Status,                                                                         \
    (std::uint32_t core, MemoryStats * stats, std::size_t bytes, std::size_t * written))                             \
  X(nrt_profile_start, false, Status, (Model * model, const char* file))                                             \
  X(nrt_profile_stop, false, Status, (const char* file))                                                             \
  X(nrt_sys_trace_config_allocate, false, Status, (TraceConfig * *config))                                           \
  X(nrt_sys_trace_config_free, false, void, (TraceConfig * config))                                                  \
  X(nrt_sys_trace_start, false, Status, (TraceConfig * config))                                                      \
  X(nrt_sys_trace_stop, false, Status, ())                                                                           \
  X(nrt_sys_trace_fetch_options_allocate, false, Status, (FetchOptions * *options))                                  \
  X(nrt_sys_trace_fetch_options_set_nc_idx, false, void, (FetchOptions * options, std::uint64_t core))               \
  X(nrt_sys_trace_fetch_options_free, false, void, (FetchOptions * options))                                         \
  X(nrt_sys_trace_fetch_events, false, Status, (char** text, std::size_t* bytes, const FetchOptions* options))       \
  X(nrt_sys_trace_buffer_free, false, void, (char* text))

// The asynchronous ones. Before version 3.0 the same names have another signature, so they are taken by name and
// version node together, or not at all.
#define TRN_NRT_ASYNCHRONOUS(X)                                                                          \
  X(nrta_execute_schedule, false, Status,                                                                \
    (Model * model, const TensorSet* in, TensorSet* out, int queue, Status* result, Sequence* sequence)) \
  X(nrta_is_completed, false, Status, (Sequence sequence, bool* completed))
inline constexpr const char* kAsynchronousNode = "NRT_3.0.0";

struct Functions {
#define TRN_NRT_POINTER(name, needed, result, arguments) result(*name) arguments = nullptr;
  TRN_NRT_FUNCTIONS(TRN_NRT_POINTER)
  TRN_NRT_ASYNCHRONOUS(TRN_NRT_POINTER)
#undef TRN_NRT_POINTER
  [[nodiscard]] bool asynchronous() const { return nrta_execute_schedule && nrta_is_completed; }
  [[nodiscard]] bool profiles() const { return nrt_profile_start && nrt_profile_stop; }
  [[nodiscard]] bool traces() const {
    return nrt_sys_trace_config_allocate && nrt_sys_trace_config_free && nrt_sys_trace_start && nrt_sys_trace_stop &&
           nrt_sys_trace_fetch_options_allocate && nrt_sys_trace_fetch_options_set_nc_idx &&
           nrt_sys_trace_fetch_options_free && nrt_sys_trace_fetch_events && nrt_sys_trace_buffer_free;
  }
};

}  // namespace trn::neuron::nrt

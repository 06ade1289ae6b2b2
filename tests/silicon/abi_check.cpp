// Our declarations of the runtime's interface against AWS's headers, where those are installed: tests/check_abi.py
// compiles this file with their folder on the path. Nothing is run: what differs is an error of the compiler.
#include <cstdint>
#include <type_traits>

extern "C" {
#include <nrt/nrt.h>
#include <nrt/nrt_experimental.h>
#include <nrt/nrt_profile.h>
#include <nrt/nrt_status.h>
#include <nrt/nrt_sys_trace.h>
#include <nrt/nrt_version.h>
}

#include "nrt/declarations.hpp"

namespace ours = trn::neuron::nrt;

// A type of ours for one of theirs: the same size and kind, or a pointer to such.
template <class A, class B> constexpr bool kSame = [] {
  if constexpr (std::is_same_v<A, B>) {
    return true;
  } else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    return std::is_const_v<std::remove_pointer_t<A>> == std::is_const_v<std::remove_pointer_t<B>>;
  } else if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B> || std::is_void_v<A> || std::is_void_v<B>) {
    return false;
  } else {
    return sizeof(A) == sizeof(B) && !std::is_class_v<A> && !std::is_class_v<B>;
  }
}();
template <class A, class B> struct Agree : std::false_type {};
template <class R, class... A, class S, class... B> struct Agree<R (*)(A...), S (*)(B...)>
    : std::bool_constant<sizeof...(A) == sizeof...(B) && kSame<R, S> && (kSame<A, B> && ...)> {};

#define CHECK(name, needed, result, arguments) \
  static_assert(Agree<decltype(ours::Functions::name), decltype(&::name)>::value, #name);
TRN_NRT_FUNCTIONS(CHECK)

static_assert(sizeof(ours::Version) == sizeof(nrt_version_t));
static_assert(offsetof(ours::Version, major) == offsetof(nrt_version_t, rt_major));
static_assert(offsetof(ours::Version, detail) == offsetof(nrt_version_t, rt_detail));
static_assert(sizeof(ours::InstanceInfo) == sizeof(nrt_instance_info_t));
static_assert(offsetof(ours::InstanceInfo, family) == offsetof(nrt_instance_info_t, family));
static_assert(offsetof(ours::InstanceInfo, architecture) == offsetof(nrt_instance_info_t, arch_name));
static_assert(sizeof(ours::TensorInfo) == sizeof(nrt_tensor_info_t));
static_assert(offsetof(ours::TensorInfo, usage) == offsetof(nrt_tensor_info_t, usage));
static_assert(offsetof(ours::TensorInfo, bytes) == offsetof(nrt_tensor_info_t, size));
static_assert(offsetof(ours::TensorInfo, dtype) == offsetof(nrt_tensor_info_t, dtype));
static_assert(offsetof(ours::TensorInfo, shape) == offsetof(nrt_tensor_info_t, shape));
static_assert(offsetof(ours::TensorInfo, rank) == offsetof(nrt_tensor_info_t, ndim));
static_assert(sizeof(ours::TensorInfoArray) == offsetof(nrt_tensor_info_array_t, tensor_array));
static_assert(sizeof(ours::MemoryStats) == sizeof(nrt_vnc_memory_stats_t));
static_assert(offsetof(ours::MemoryStats, bytes_limit) == offsetof(nrt_vnc_memory_stats_t, bytes_limit));

#define VALUE(mine, theirs) static_assert(static_cast<std::uint64_t>(ours::mine) == static_cast<std::uint64_t>(theirs));
VALUE(kSuccess, NRT_SUCCESS)
VALUE(kFailure, NRT_FAILURE)
VALUE(kInvalid, NRT_INVALID)
VALUE(kInvalidHandle, NRT_INVALID_HANDLE)
VALUE(kResource, NRT_RESOURCE)
VALUE(kTimeout, NRT_TIMEOUT)
VALUE(kHardwareError, NRT_HW_ERROR)
VALUE(kQueueFull, NRT_QUEUE_FULL)
VALUE(kNotEnoughCores, NRT_LOAD_NOT_ENOUGH_NC)
VALUE(kUnsupportedNeff, NRT_UNSUPPORTED_NEFF_VERSION)
VALUE(kHostMemory, NRT_FAIL_HOST_MEM_ALLOC)
VALUE(kUninitialized, NRT_UNINITIALIZED)
VALUE(kClosed, NRT_CLOSED)
VALUE(kBadInput, NRT_EXEC_BAD_INPUT)
VALUE(kNumericalError, NRT_EXEC_COMPLETED_WITH_NUM_ERR)
VALUE(kCompletedWithError, NRT_EXEC_COMPLETED_WITH_ERR)
VALUE(kCoreBusy, NRT_EXEC_NC_BUSY)
VALUE(kOutOfBounds, NRT_EXEC_OOB)
VALUE(kNoFramework, NRT_FRAMEWORK_TYPE_NO_FW)
VALUE(kDeviceMemory, NRT_TENSOR_PLACEMENT_DEVICE)
VALUE(kInput, NRT_TENSOR_USAGE_INPUT)
VALUE(kOutput, NRT_TENSOR_USAGE_OUTPUT)

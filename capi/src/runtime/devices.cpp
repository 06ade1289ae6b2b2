// Device queries and errors.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include <trn/tile/device.hpp>

#include "../device.hpp"
#include "../memory.hpp"
#include "runtime.hpp"

namespace trn::capi::runtime {

namespace {

thread_local trnError_t last_error = trnSuccess;

template <class T> T& result(T* address, const char* what) {
  require(address != nullptr, "{} is null; it receives the result", what);
  return *address;
}

const tile::Machine* machine_of(const Device& d) {
  if (d.executor.family() == Family::Host) return nullptr;
  return &dynamic_cast<const tile::Device&>(d.executor.backend()).machine();
}

std::size_t total_memory(const Device& d) {
  if (const tile::Machine* m = machine_of(d)) return static_cast<std::size_t>(m->hbm_bytes_per_stack());
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

std::string name_of(const Device& d) {
  if (d.executor.family() == Family::Host) return "host CPU (trnsci)";
  const bool simulated = d.executor.name().starts_with("sim:");
  return fmt::format("Trainium NeuronCore {}{} (trnsci)", machine_of(d)->name, simulated ? ", simulated" : "");
}

int attribute(const Device& d, int which) {
  switch (which) {
    case trnDevAttrMaxThreadsPerBlock:
      return 1024;
    case trnDevAttrWarpSize:
      return 32;
    case trnDevAttrClockRate:
      return 1400000;
    case trnDevAttrMultiProcessorCount:
      return 1;  // an executor is one core
    case trnDevAttrComputeCapabilityMajor:
      return 9;
    case trnDevAttrComputeCapabilityMinor:
      return 0;
    case trnDevAttrUnifiedAddressing:
      return 1;  // an address says which memory it is
    case trnDevAttrManagedMemory:
      return d.executor.name() == "host" || d.executor.name().starts_with("sim:");
    case trnDevAttrIntegrated:
    case trnDevAttrComputeMode:
    case trnDevAttrConcurrentKernels:
    case trnDevAttrEccEnabled:
    case trnDevAttrPageableMemoryAccess:
    case trnDevAttrConcurrentManagedAccess:
    case trnDevAttrMemoryPoolsSupported:
      return 0;
    default:
      break;
  }
  fail<InvalidArgument>("attribute {} is not known", which);
}

struct ErrorName {
  trnError_t error;
  const char* name;
  const char* text;
};
// CUDA's names; the texts are ours.
constexpr ErrorName kErrors[] = {
    {trnSuccess, "cudaSuccess", "no error"},
    {trnErrorInvalidValue, "cudaErrorInvalidValue", "an argument has a value that the call does not take"},
    {trnErrorMemoryAllocation, "cudaErrorMemoryAllocation", "the memory is exhausted"},
    {trnErrorInitializationError, "cudaErrorInitializationError", "the device could not be opened"},
    {trnErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "a pitch is shorter than its rows"},
    {trnErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "an address is not device memory"},
    {trnErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "the direction of a copy is not known"},
    {trnErrorNoDevice, "cudaErrorNoDevice", "there is no device"},
    {trnErrorInvalidDevice, "cudaErrorInvalidDevice", "there is no device of this number"},
    {trnErrorDeviceNotLicensed, "cudaErrorDeviceNotLicensed", "the device may not be used"},
    {trnErrorNotPermitted, "cudaErrorNotPermitted", "the call is not permitted"},
    {trnErrorNotSupported, "cudaErrorNotSupported", "this device or library does not have the operation"},
    {trnErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "a stream or event is not alive"},
    {trnErrorIllegalState, "cudaErrorIllegalState", "the resource is not in a state for this call"},
    {trnErrorSymbolNotFound, "cudaErrorSymbolNotFound", "a name was not found"},
    {trnErrorNotReady, "cudaErrorNotReady", "work is still under way"},
    {trnErrorIllegalAddress, "cudaErrorIllegalAddress", "a program failed on the device"},
    {trnErrorLaunchFailure, "cudaErrorLaunchFailure", "a program failed on the device"},
    {trnErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is enabled already"},
    {trnErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access is not enabled"},
    {trnErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered", "the memory is registered already"},
    {trnErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "the memory was not registered"},
    {trnErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "the call cannot be captured"},
    {trnErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "a stream of a capture was not waited for"},
    {trnErrorCapturedEvent, "cudaErrorCapturedEvent", "the event was recorded in a capture"},
    {trnErrorUnknown, "cudaErrorUnknown", "an internal error: please report it"},
};
const ErrorName* entry(trnError_t error) {
  const auto* found =
      std::find_if(std::begin(kErrors), std::end(kErrors), [&](const auto& e) { return e.error == error; });
  return found == std::end(kErrors) ? nullptr : found;
}

}  // namespace

trnError_t note(int status) noexcept {
  const auto error = static_cast<trnError_t>(status);
  if (error != trnSuccess && error != trnErrorNotReady) last_error = error;
  return error;
}

void get_device_count(int* count) { result(count, "count") = device_count(); }
void set_device(int number) { set_current_device(number); }
void get_device(int* number) { result(number, "device") = current_device().number; }
void set_device_flags(unsigned) {}
void get_device_flags(unsigned* flags) { result(flags, "flags") = 0; }
void init_device(int number, unsigned, unsigned) { (void)device(number); }
void device_synchronize() { synchronize(current_device()); }
void device_reset() {
  Device& d = current_device();
  try {
    synchronize(d);
  } catch (const Error&) {  // what failed is gone with the rest
  }
  release_all(d);
  const std::lock_guard lock(d.mutex);
  d.streams.clear();
  ++d.generation;
}
void device_get_attribute(int* value, trnDeviceAttr which, int number) {
  result(value, "value") = attribute(device(number), which);
}
void device_can_access_peer(int* can, int number, int peer) {
  (void)device(number), (void)device(peer);
  result(can, "canAccessPeer") = 0;
}
void device_enable_peer_access(int peer, unsigned) {
  (void)device(peer);
  fail<NotImplemented>("a device cannot address another one's memory; copy with trnMemcpy");
}
void device_disable_peer_access(int peer) {
  (void)device(peer);
  throw WithStatus(trnErrorPeerAccessNotEnabled, "peer access was not enabled");
}
void device_get_stream_priority_range(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
}
void driver_get_version(int* version) { result(version, "driverVersion") = 13000; }
void runtime_get_version(int* version) { result(version, "runtimeVersion") = 13000; }
void mem_get_info(std::size_t* free, std::size_t* total) {
  const Device& d = current_device();
  const std::size_t all = total_memory(d);
  result(total, "total") = all;
  result(free, "free") = all - std::min(all, static_cast<std::size_t>(allocated_bytes(d)));
}
void get_device_properties(trnDeviceProp* properties, int number, std::size_t size) {
  (void)result(properties, "prop");
  require(size > 0 && size <= sizeof(trnDeviceProp),
          "the struct has {} bytes and {} are known; was the program compiled "
          "with a newer header?",
          size, sizeof(trnDeviceProp));
  const Device& d = device(number);
  trnDeviceProp p{};
  std::strncpy(p.name, name_of(d).c_str(), sizeof p.name - 1);
  std::strncpy(p.executor, d.executor.name().c_str(), sizeof p.executor - 1);
  p.totalGlobalMem = total_memory(d);
  p.major = 9;
  p.multiProcessorCount = attribute(d, trnDevAttrMultiProcessorCount);
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.managedMemory = attribute(d, trnDevAttrManagedMemory);
  p.unifiedAddressing = attribute(d, trnDevAttrUnifiedAddressing);
  std::memcpy(properties, &p, size);
}
void device_open(const char* executor, int* number) {
  require(executor != nullptr, "the executor's name is null");
  (void)result(number, "device");
  *number = open_device(executor);
}

}  // namespace trn::capi::runtime

using namespace trn::capi::runtime;

extern "C" {

trnError_t trnGetLastError(void) { return std::exchange(last_error, trnSuccess); }
trnError_t trnPeekAtLastError(void) { return last_error; }
const char* trnGetErrorName(trnError_t error) {
  const ErrorName* e = entry(error);
  return e ? e->name : "unrecognized error code";
}
const char* trnGetErrorString(trnError_t error) {
  const ErrorName* e = entry(error);
  return e ? e->text : "unrecognized error code";
}
const char* trnGetLastErrorText(void) { return trn::capi::last_error_text(); }
}

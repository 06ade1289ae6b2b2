// The table of status numbers: see status.hpp.
#include "status.hpp"

namespace trn::neuron::nrt {

Meaning meaning_of(Status status) {
  switch (status) {
    case kInvalid:
    case kInvalidHandle:
    case kBadInput:
      return {"", "an argument that the runtime refuses"};
    case kResource:
      return {"over-capacity", "the device's memory is full; free arrays or use smaller ones"};
    case kHostMemory:
      return {"over-capacity", "the runtime has no host memory left"};
    case kTimeout:
      return {"exec-timeout", "the run took longer than the runtime's limit", Recovery::RestartProcess};
    case kHardwareError:
      return {"hardware", "a hardware error", Recovery::RestartProcess};
    case kMemoryUncorrectable:
      return {"hardware", "HBM: an error that cannot be corrected", Recovery::RestartProcess};
    case kCoreUncorrectable:
      return {"hardware", "NeuronCore: an error that cannot be corrected", Recovery::RestartProcess};
    case kDmaAbort:
      return {"hardware", "DMA engine: a transfer was aborted", Recovery::RestartProcess};
    case kNotificationOverflow:
      return {"hardware", "notification queue: it overflowed", Recovery::RestartProcess};
    case kMemoryRepairable:
      return {"hardware", "HBM: an error that a restart of the instance can repair", Recovery::RestartProcess};
    case kQueueFull:
      return {"queue-full", "the core's queue stays full"};
    case kNotEnoughCores:
      return {"cores-busy", "the cores belong to another process; `neuron-ls` shows which"};
    case kUnsupportedNeff:
      return {"neff-version", "the runtime does not take NEFF files of this version; install a matching compiler"};
    case kNumericalError:
      return {"numerical-error", "the run met a NaN and Nan::Refuse is asked for"};
    case kCompletedWithError:
      return {"exec-failed", "the run ended with an error"};
    case kCoreBusy:
      return {"core-busy", "the core stays locked by another model or thread"};
    case kOutOfBounds:
      return {"out-of-bounds", "the run touched memory outside of its tensors"};
    case kUninitialized:
    case kClosed:
      return {"closed", "the runtime is closed", Recovery::RestartProcess};
    case kUnrecoverable:
      return {"restart-process", "the runtime lost the execution unit; restart the process", Recovery::RestartProcess};
    case kCollectivePending:
    case kCollectiveHardware:
    case kNetworkProxy:
      return {"collective", "a collective operation failed; its communicator is lost", Recovery::Reopen};
    default:
      return {fmt::format("nrt-status-{}", status), "a status without a documented meaning for this call"};
  }
}

std::exception_ptr failure_of(Status status, const std::string& what) {
  const Meaning meaning = meaning_of(status);
  const std::string text = fmt::format("{}: {} (status {})", what, meaning.text, status);
  if (meaning.id.empty()) return std::make_exception_ptr(InternalError(text + ": please report it"));
  return std::make_exception_ptr(DeviceError(text, meaning.id, meaning.recovery));
}

}  // namespace trn::neuron::nrt

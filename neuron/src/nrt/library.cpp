// Opening the runtime library: see library.hpp.
#include "library.hpp"

#include <dlfcn.h>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

namespace trn::neuron::nrt {

namespace {

template <class Pointer> void take(Pointer& pointer, void* symbol) { pointer = reinterpret_cast<Pointer>(symbol); }

void require_function(bool found, const std::string& path, const char* name) {
  if (found) return;
  throw DeviceError(fmt::format("neuron: {} has no function {}; install a current aws-neuronx-runtime-lib", path, name),
                    "no-runtime");
}

}  // namespace

std::vector<std::string> library_paths() {
  const std::string named = environment("TRN_NRT_LIBRARY", "");
  if (!named.empty()) return {named};
  return {"/opt/aws/neuron/lib/libnrt.so.1", "libnrt.so.1"};
}

Library open_library() {
  std::string tried;
  for (const std::string& path : library_paths()) {
    // Never closed again: the runtime has threads.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* reason = dlerror();
      tried += fmt::format("{}{}", tried.empty() ? "" : "; ", reason ? reason : path.c_str());
      continue;
    }
    Library library{path, {}};
#define TRN_NRT_TAKE(name, needed, result, arguments) \
  take(library.functions.name, dlsym(handle, #name)); \
  require_function(library.functions.name || !(needed), path, #name);
    TRN_NRT_FUNCTIONS(TRN_NRT_TAKE)
#undef TRN_NRT_TAKE
#define TRN_NRT_TAKE(name, needed, result, arguments) \
  take(library.functions.name, dlvsym(handle, #name, kAsynchronousNode));
    TRN_NRT_ASYNCHRONOUS(TRN_NRT_TAKE)
#undef TRN_NRT_TAKE
    return library;
  }
  throw DeviceError(
      fmt::format("neuron: the runtime library cannot be opened ({}); install aws-neuronx-runtime-lib, or "
                  "name the library by TRN_NRT_LIBRARY",
                  tried),
      "no-runtime");
}

}  // namespace trn::neuron::nrt

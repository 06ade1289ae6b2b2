// Opening the runtime library: see library.hpp.
#include "library.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>
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

// Why the loader must not see this file; empty where it may. Of a library that is cut off, as a copy that did not fit
// on its disk, it maps what is not there, and the process ends. What is no library at all it refuses itself.
std::string fault_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.find('/') == std::string::npos || !fs::exists(path, error)) return "";
  if (!fs::is_regular_file(path, error)) return path + ": not a file";
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return "";
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return "";
  const std::uint64_t size = fs::file_size(path, error);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    const bool there = static_cast<bool>(file.read(reinterpret_cast<char*>(&part), sizeof part));
    if (!there || (part.p_type == PT_LOAD && (part.p_filesz > size || part.p_offset > size - part.p_filesz))) {
      return fmt::format("{}: cut off after {} bytes", path, size);
    }
  }
  // The table of sections comes last in a file that a linker or strip wrote.
  const std::uint64_t table = std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shoff > 0 && (table > size || header.e_shoff > size - table)) {
    return fmt::format("{}: cut off after {} bytes", path, size);
  }
  return "";
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
    std::string fault = fault_of(path);
    // Never closed again: the runtime has threads.
    void* handle = fault.empty() ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!handle) {
      if (const char* reason = fault.empty() ? dlerror() : nullptr) fault = reason;
      tried += fmt::format("{}{}", tried.empty() ? "" : "; ", fault.empty() ? path : fault);
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

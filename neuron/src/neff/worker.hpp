// The worker: a process of its own that runs the toolchain. It is asked by a file and answers by a file:
//
//   $TRN_NKI_PYTHON nki_build.py request.json result.json        builds
//   $TRN_NKI_PYTHON nki_build.py --versions result.json          says which packages it has
//
// in its own folder and process group, with a reduced environment and a time limit. nki_build.py is tools/nki_build.py,
// whose text is part of the library.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trn/neuron/nki_kernel.hpp>

#include "neff/neff.hpp"

namespace trn::neuron::neff {

[[nodiscard]] std::string_view nki_build_script();

struct Ending {
  enum class Kind { Exit, Signal, Timeout, NotStarted, Stopped } kind = Kind::Exit;
  int number = 0;  // exit status, signal, or the system's error
  [[nodiscard]] std::string text() const;
};
// Workers are ended, and none is started, while this says so: a process that was asked to end does not wait for a
// compiler. Asked several times a second, from any thread; null, as in the beginning, is never.
using Stop = bool (*)();
void stop_workers_when(Stop stop) noexcept;
// Runs a program with its output in `log`. Its group is killed at the end, and when the limit of seconds is over.
[[nodiscard]] Ending run_worker(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                                const std::filesystem::path& log, double time_limit);

// The text of request.json. Paths are relative to its folder.
[[nodiscard]] std::string write_request(const tile::Program& program, const NkiKernel& kernel, int lnc);

struct Result {
  bool ok = false;
  std::string message;                       // of a refusal
  std::vector<std::string> inputs, outputs;  // names of the NEFF's tensors, in order
  std::map<std::string, std::string> versions;
  std::string api;
};
// Throws DeviceError "neff-build" for anything that is not a result.
[[nodiscard]] Result read_result(std::string_view json);

// The versions of nki and neuronx-cc that an interpreter has, asked once per process. Throws "neff-toolchain".
[[nodiscard]] const std::map<std::string, std::string>& toolchain_versions(const std::string& python);

}  // namespace trn::neuron::neff

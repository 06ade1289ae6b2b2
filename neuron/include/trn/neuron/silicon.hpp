// The executor for Trainium hardware: programs compiled by AWS's toolchain and run by AWS's runtime library, which is
// opened at run time. docs/silicon.md is for users. It was never run on hardware: what is known about it was found with
// a library of the same interface that has the simulator inside.
//
//   auto exec = trn::Executor::open("neuron");          // the first visible core; "neuron:3" is the fourth
//   auto exec = trn::neuron::open_neuron({.core = 3, .compile = false});
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <trn/core/executor.hpp>

namespace trn::neuron {

// What a run does about a NaN that the runtime reports: it is a result, told as a NumericalError event; or the run
// fails with "numerical-error".
enum class Nan : std::uint8_t { Accept, Refuse };

struct NeuronOptions {
  int core = 0;         // among the cores that the runtime shows to this process
  int lnc = 1;          // physical cores in a logical one, for the whole process: what programs are compiled for
  std::string machine;  // "trn2"; empty: as the instance says
  Nan nan = Nan::Accept;
  bool compile = true;                  // false: a program that was not compiled before is an error
  std::filesystem::path cache, bundle;  // compiled programs; empty: TRN_NEFF_CACHE, TRN_NEFF_BUNDLE
  std::string python;                   // with AWS's compiler; empty: TRN_NKI_PYTHON
  // Seconds. A run that is not over by then counts as lost, and the core with it; the runtime has its own, shorter
  // limit (NEURON_RT_EXEC_TIMEOUT).
  double time_limit = 1200;
  double busy_limit = 1;  // how long a core that is busy or a queue that is full is tried again
  bool operator==(const NeuronOptions&) const = default;
};

// One core. A core is one executor: opened again while it is open, it is the same one, and other options are an
// InvalidArgument. Throws DeviceError; check() is
//   no-runtime      the library is missing, or one of its functions
//   cores-busy      the runtime does not start; as a rule another process has the cores
//   restart-process the runtime said that nothing in this process will run any more
// and those of the table in docs/silicon.md. The process has one runtime; it is closed at exit. After fork() a child
// has none: what it opened before throws "forked", and its destructors do nothing.
[[nodiscard]] Executor open_neuron(const NeuronOptions& options = {});

// A driver (/dev/neuron0 and so on) or a library named by TRN_NRT_LIBRARY is there.
[[nodiscard]] bool has_neuron();

// Versions for a report: the runtime library's, "2.34.0.0 (its own remark)", and the driver's, as the kernel's module
// says it. What does not tell its version is an empty text. Throws DeviceError "no-runtime" as open_neuron() does.
struct NeuronVersions {
  std::string runtime, driver;
};
[[nodiscard]] NeuronVersions neuron_versions();

}  // namespace trn::neuron

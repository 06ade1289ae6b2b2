// The executor for Trainium hardware: programs compiled by AWS's toolchain and run by AWS's runtime library, which is
// opened at run time. docs/silicon.md is for users. It was never run on hardware: what is known about it was found with
// a library of the same interface that has the simulator inside.
//
//   auto exec = trn::Executor::open("neuron");          // the first visible core; "neuron:3" is the fourth
//   auto exec = trn::neuron::open_neuron({.core = 3, .compile = false});
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <trn/core/executor.hpp>

namespace trn::neuron {

// What a run does about a NaN that the runtime reports: it is a result, told as a NumericalError event; or the run
// fails with "numerical-error".
enum class Nan : std::uint8_t { Accept, Refuse };

// What is measured of runs. Time: how long each took, by the runtime's own trace of the device where the library has
// one, else by the host's clock: a blocking call of the runtime from its begin to its end; a run of the runtime's own
// queue from when it was given, or the one before was over, to when somebody found it over.
// Trace: the first run of each loaded program is recorded as an .ntff file for AWS's neuron-explorer.
enum class Profile : std::uint8_t { Off, Time, Trace };

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
  Profile profile = Profile::Off;
  std::filesystem::path profiles;  // the folder of .ntff files; empty: beside the compiled program
  double busy_limit = 1;           // how long a core that is busy or a queue that is full is tried again
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

// What an executor opened with a Profile measured until now; waits for its runs.
struct ProgramTime {
  std::string program, key;  // of the compiled program
  std::int64_t runs = 0;
  double seconds = 0;      // of all runs together; no moment counts twice
  bool by_device = false;  // all of it by the runtime's trace
};
struct ProgramTrace {
  std::string program, key;
  std::filesystem::path ntff, neff;  // neff is empty where the program came from no file
};
struct NeuronProfile {
  std::vector<ProgramTime> times;  // in the order of their first runs
  std::vector<ProgramTrace> traces;
};
[[nodiscard]] NeuronProfile profile_of(const Executor& executor);

// The summary of a trace by AWS's neuron-explorer (TRN_NEURON_EXPLORER names the program; empty: the one on the path):
// its numbers by name, such as "total_time" in seconds. Throws DeviceError "no-explorer" where it cannot be run or says
// nothing that can be read.
[[nodiscard]] std::map<std::string, double> summary_of(const ProgramTrace& trace);

// What the runtime says about the machine of an open executor, for a report.
struct NeuronFacts {
  std::uint32_t family = 0;  // its number for the kind of instance; 0: it does not say
  std::string architecture, revision;
  int visible_cores = 0, lnc = 1;
  std::int64_t memory_bytes = 0;            // of the executor's core; 0: it does not say
  std::vector<std::string> found, missing;  // functions of its library that we know of
};
[[nodiscard]] NeuronFacts facts_of(const Executor& executor);

// Versions for a report: the runtime library's, "2.34.0.0 (its own remark)", and the driver's, as the kernel's module
// says it. What does not tell its version is an empty text. Throws DeviceError "no-runtime" as open_neuron() does.
struct NeuronVersions {
  std::string runtime, driver;
};
[[nodiscard]] NeuronVersions neuron_versions();

}  // namespace trn::neuron

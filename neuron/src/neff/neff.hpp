// From a program to a NEFF, the file that the Neuron runtime loads: found in a read-only bundle or in the cache, or
// built by a worker process and kept. docs/silicon.md is for users; key.cpp, cache.cpp, worker.cpp and header.cpp have
// the parts.
//
//   const Artifact artifact = obtain(program, {.machine = "trn2"});
//   nrt_load(artifact.bytes().data(), artifact.bytes().size(), ...)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trn/tile/program.hpp>

namespace trn::neuron::neff {

// One tensor of the NEFF, by the name it has there. An input that an output continues is called NAME.must_alias_input
// and the output NAME: both sets take the same tensor.
struct Argument {
  std::string name;
  std::size_t bytes = 0;
  bool output = false;
  std::string alias;   // of an output: the name of the input whose memory it is, or ""
  std::string tensor;  // what the program calls it: the name that a Binding has
  bool operator==(const Argument&) const = default;
};

struct Manifest {
  std::string entry;                // the kernel's name in kernel.py
  std::vector<Argument> arguments;  // the parameters in call order, then the results in order
  std::string machine;              // "trn2"
  int lnc = 1;
  std::string sha256;                           // of the NEFF
  std::map<std::string, std::string> versions;  // "nki", "neuronx-cc", and "api", the interface that built it
  std::string program;                          // the program's name
  std::uint64_t hash = 0;                       // Program::hash()
  bool operator==(const Manifest&) const = default;
};

// Never: what is neither in the bundle nor in the cache is an error, and no Python is started.
enum class Compile : std::uint8_t { Foreground, Never };

struct Options {
  std::string machine;  // of the program unless given
  int lnc = 1;          // logical core size, 1 or 2
  Compile compile = Compile::Foreground;
  // Empty: the environment variables TRN_NEFF_CACHE and TRN_NEFF_BUNDLE; then ~/.cache/trnsci/neff, and no bundle.
  std::filesystem::path cache, bundle;
  std::string python;         // empty: TRN_NKI_PYTHON, then python3
  double time_limit = 900;    // seconds of one build
  std::int64_t limit = 0;     // bytes of the cache; 0: TRN_NEFF_CACHE_LIMIT, then 20 GiB
  bool retry_failed = false;  // build again what the toolchain refused
};

// An entry that was found or built. While it lives, the entry is not removed to keep the cache within its limit.
class Artifact {
 public:
  struct State;
  explicit Artifact(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  [[nodiscard]] const std::filesystem::path& path() const;  // of kernel.neff
  [[nodiscard]] std::span<const std::byte> bytes() const;   // the NEFF, mapped
  [[nodiscard]] const Manifest& manifest() const;
  [[nodiscard]] const std::string& key() const;  // SHA-256 in hexadecimal
  [[nodiscard]] bool built() const;              // false: found
  [[nodiscard]] double seconds() const;          // of the build, in this process

 private:
  std::shared_ptr<const State> state_;
};

// Throws DeviceError; check() is
//   neff-missing    Compile::Never and no entry: names the program and the `trnsci neffc` line that makes it
//   neff-toolchain  no interpreter, or no nki in it
//   neff-build      the toolchain refused the kernel, failed, or answered nonsense; with the end of its log
//   neff-timeout    the build took longer than the limit and was ended
//   neff-stopped    the process was asked to end meanwhile (stop_workers_when); nothing is on record
//   neff-names      the NEFF's tensors are not those of the kernel
//   neff-cache      the cache cannot be written: read-only, or the disk is full
//   neff-corrupt    an entry is damaged and must not be replaced (Compile::Never, a bundle)
//   neff-version, wrong-lnc  the header of the NEFF says so
// and NotImplemented where the program cannot be written as NKI.
[[nodiscard]] Artifact obtain(const tile::Program& program, const Options& options);

// The key of a program for these versions of the toolchain.
[[nodiscard]] std::string content_key(const tile::Program& program, const Options& options,
                                      const std::map<std::string, std::string>& versions);

// The first 1024 bytes of a NEFF. Numbers are little-endian.
inline constexpr std::size_t kHeaderBytes = 1024;
struct Header {
  std::uint64_t package_version = 0;
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t major = 0, minor = 0;
  std::string build_version;
  std::uint32_t cores = 0;  // num_tpb
  std::uint32_t requested_cores = 0;
  std::uint64_t feature_bits = 0;
  std::string name;
  std::uint32_t lnc = 0;
};
// Throws DeviceError "neff-corrupt" where the bytes cannot be a header: fewer than 1024, or a size, count or version
// that no compiler writes. What follows the header is not looked at.
[[nodiscard]] Header read_header(std::span<const std::byte> neff);
// The same for a whole file: the sizes must add up (neff-corrupt) and the logical core size must be `lnc` (wrong-lnc).
Header check_neff(std::span<const std::byte> neff, int lnc, std::string_view where);

// Manifests and results as text. Throws DeviceError "neff-corrupt" for anything that is not one.
[[nodiscard]] std::string write_manifest(const Manifest& manifest);
[[nodiscard]] Manifest read_manifest(std::string_view json);

}  // namespace trn::neuron::neff

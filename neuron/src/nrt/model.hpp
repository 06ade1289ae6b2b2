// A program on one core: its NEFF, loaded by the runtime, and the tensor sets for the addresses that it was run with.
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <trn/tile/device.hpp>

#include "memory.hpp"
#include "neff/neff.hpp"

namespace trn::neuron::nrt {

// A compiled program, from wherever it comes.
struct Compiled {
  std::shared_ptr<const void> owner;  // keeps `neff`
  std::span<const std::byte> neff;
  neff::Manifest manifest;
  std::string key;
  bool built = false;
  double seconds = 0;               // of the build
  std::filesystem::path file = {};  // where it comes from a file
};
using NeffSource = std::function<Compiled(const tile::Program&)>;
// The cache and the compiler.
[[nodiscard]] NeffSource neff_cache(const NeuronOptions& options, const tile::Machine& machine);

struct Core;
class LoadedProgram;

// The tensor sets for one choice of addresses.
struct Bound {
  LoadedProgram* program = nullptr;
  std::vector<std::uintptr_t> addresses;  // by place
  TensorSet *in = nullptr, *out = nullptr;
  std::uint64_t last_use = 0;
  struct Part {
    Block* block;
    Slice* slice;
  };
  std::vector<Part> parts;
};

// Memory that a run needs: one for each tensor, but an input and the output that continues it share one.
struct Place {
  const tile::TensorDecl* tensor = nullptr;  // the output's if it is one
  std::int64_t lowest = 0;                   // bytes from element (0, 0, ...) to the first one in memory
  std::size_t bytes = 0;
};
struct Parameter {
  std::string name;  // in the NEFF
  std::size_t place = 0;
  bool output = false;
};

class LoadedProgram final : public tile::Executable {
 public:
  // Throws DeviceError "neff-names" where the manifest is not the program's.
  LoadedProgram(std::shared_ptr<const tile::Program> program, std::shared_ptr<Core> core, Compiled compiled);
  ~LoadedProgram() override;

  [[nodiscard]] const Core* core() const { return core_.get(); }
  [[nodiscard]] const Compiled& compiled() const { return compiled_; }
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }

  // What changes, under the core's mutex.
  struct State {
    Model* model = nullptr;  // null: not loaded, or unloaded to make room
    std::uint64_t last_use = 0;
    bool traced = false;                       // its first run was recorded
    std::vector<std::unique_ptr<Bound>> sets;  // latest use first
    std::vector<std::uintptr_t> wanted;        // addresses of the call that is being made
    std::list<const LoadedProgram*>::iterator place;
  };
  mutable State state;

 private:
  std::shared_ptr<Core> core_;
  Compiled compiled_;
  std::vector<Place> places_;
  std::vector<Parameter> parameters_;
};

// Compares what the runtime says about a model with the manifest, by name and bytes: types are not to be relied on.
// Returns what differs, or ""; and the status with which the runtime told it.
[[nodiscard]] std::string difference(const Runtime& runtime, Queue& queue, Model* model, const neff::Manifest& manifest,
                                     Status& status);

}  // namespace trn::neuron::nrt

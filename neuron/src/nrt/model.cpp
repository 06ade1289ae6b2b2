// Programs on a core: see model.hpp.
#include "model.hpp"

#include <algorithm>
#include <map>
#include <trn/core/error.hpp>

#include "core.hpp"

namespace trn::neuron::nrt {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw DeviceError(text, "neff-names"); }

const tile::TensorDecl& tensor_of(const tile::Program& program, const neff::Argument& argument) {
  for (const tile::TensorDecl& tensor : program.tensors()) {
    if (tensor.name == argument.tensor && tensor.kind != tile::TensorKind::Scratch) return tensor;
  }
  refuse(fmt::format("program '{}': its manifest has a tensor '{}', which the program has not", program.name(),
                     argument.tensor));
}

}  // namespace

NeffSource neff_cache(const NeuronOptions& options, const tile::Machine& machine) {
  neff::Options wanted;
  wanted.machine = machine.name;
  wanted.lnc = options.lnc;
  wanted.compile = options.compile ? neff::Compile::Foreground : neff::Compile::Never;
  wanted.cache = options.cache;
  wanted.bundle = options.bundle;
  wanted.python = options.python;
  return [wanted](const tile::Program& program) {
    auto artifact = std::make_shared<const neff::Artifact>(neff::obtain(program, wanted));
    return Compiled{artifact,          artifact->bytes(),   artifact->manifest(), artifact->key(),
                    artifact->built(), artifact->seconds(), artifact->path()};
  };
}

LoadedProgram::LoadedProgram(std::shared_ptr<const tile::Program> program, std::shared_ptr<Core> core,
                             Compiled compiled)
    : Executable(std::move(program)), core_(std::move(core)), compiled_(std::move(compiled)) {
  const tile::Program& p = this->program();
  const neff::Manifest& m = compiled_.manifest;
  if (m.hash != p.hash() || m.program != p.name()) {
    refuse(fmt::format("program '{}' ({:016x}): its manifest is that of '{}' ({:016x})", p.name(), p.hash(), m.program,
                       m.hash));
  }
  std::map<std::string, std::size_t> place_of_input;  // by name in the NEFF
  for (const neff::Argument& argument : compiled_.manifest.arguments) {
    const tile::TensorDecl& tensor = tensor_of(p, argument);
    const OffsetRange range = offset_range(tensor.shape, tensor.strides);
    const std::int64_t element = size_bytes(tensor.dtype);
    const auto bytes = static_cast<std::size_t>((range.highest - range.lowest + 1) * element);
    if (bytes != argument.bytes) {
      refuse(fmt::format("program '{}': tensor '{}' has {} bytes, its manifest says {}", p.name(), tensor.name, bytes,
                         argument.bytes));
    }
    std::size_t place = places_.size();
    if (argument.output && !argument.alias.empty()) {
      const auto input = place_of_input.find(argument.alias);
      if (input == place_of_input.end() || places_[input->second].bytes != bytes) {
        refuse(fmt::format("program '{}': output '{}' continues '{}', which is not an input of its size", p.name(),
                           argument.name, argument.alias));
      }
      place = input->second;
      places_[place].tensor = &tensor;
    } else {
      places_.push_back({&tensor, range.lowest * element, bytes});
    }
    if (!argument.output) place_of_input[argument.name] = place;
    parameters_.push_back({argument.name, place, argument.output});
  }
  for (const tile::TensorDecl& tensor : p.tensors()) {
    const bool outputs = tensor.kind == tile::TensorKind::Output;
    if (outputs && std::ranges::none_of(parameters_, [&](const Parameter& q) {
          return q.output && places_[q.place].tensor->name == tensor.name;
        })) {
      refuse(fmt::format("program '{}': its manifest lacks the output '{}'", p.name(), tensor.name));
    }
  }
  state.wanted.reserve(places_.size());
}

LoadedProgram::~LoadedProgram() {
  if (!core_->runtime.usable()) {
    keep_for_ever(core_);  // nothing of it may be called, waited for or ended: it stays
    return;
  }
  const std::scoped_lock lock(core_->slot.mutex);
  core_->unload(*this);
  auto& same_hash = core_->by_hash[program().hash()];
  std::erase_if(same_hash, [](const auto& entry) { return entry.expired(); });
  if (same_hash.empty()) core_->by_hash.erase(program().hash());
}

std::string difference(const Runtime& runtime, Queue& queue, Model* model, const neff::Manifest& manifest,
                       Status& status) {
  const Functions& call = runtime.call();
  status = kSuccess;
  if (!call.nrt_get_model_tensor_info || !call.nrt_free_model_tensor_info) return "";
  TensorInfoArray* array = nullptr;
  status = quietly(queue, call.nrt_get_model_tensor_info, model, &array);
  if (status != kSuccess) return fmt::format("the runtime does not tell its tensors (status {})", status);
  std::string wrong;
  if (array->count != manifest.arguments.size()) {
    wrong = fmt::format("it has {} tensors, its manifest {}", array->count, manifest.arguments.size());
  }
  const std::span<const TensorInfo> found(tensors_of(array), array->count);
  for (const neff::Argument& wanted : manifest.arguments) {
    if (!wrong.empty()) break;
    const auto there = std::ranges::find_if(found, [&](const TensorInfo& info) {
      return info.usage == (wanted.output ? kOutput : kInput) && wanted.name == info.name;
    });
    if (there == found.end()) {
      wrong = fmt::format("it has no {} '{}'", wanted.output ? "output" : "input", wanted.name);
    } else if (there->bytes != wanted.bytes) {
      wrong = fmt::format("'{}' has {} bytes, its manifest says {}", wanted.name, there->bytes, wanted.bytes);
    }
  }
  (void)quietly(queue, call.nrt_free_model_tensor_info, array);
  return wrong;
}

}  // namespace trn::neuron::nrt

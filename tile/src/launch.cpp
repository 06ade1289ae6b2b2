// Launching programs: see launch.hpp.
#include <algorithm>
#include <trn/tile/launch.hpp>

namespace trn::tile {

void launch(const Executor& executor, const std::shared_ptr<const Executable>& executable,
            std::span<const Argument> arguments) {
  Device& device = device_of(executor);
  const Program& program = executable->program();
  const auto declared = [&](const std::string& name) {
    return std::ranges::any_of(program.tensors(), [&](const TensorDecl& t) { return t.name == name; });
  };
  std::vector<Binding> bindings;
  bindings.reserve(arguments.size());
  std::vector<Constants::Held> held;  // until the run is asked for
  for (const Argument& argument : arguments) {
    if (!declared(argument.binding.name)) continue;
    if (argument.content.empty()) {
      bindings.push_back(argument.binding);
      continue;
    }
    held.push_back(device.constants().get(argument.content, program.name()));
    bindings.emplace_back(argument.binding.name, held.back().data());
  }
  device.run(executable, bindings);
}

void launch(const Executor& executor, const Program& program, std::span<const Argument> arguments) {
  launch(executor, device_of(executor).load(std::make_shared<const Program>(program)), arguments);
}

Buffer upload_constant(const Executor& executor, const std::string& subject, std::span<const std::byte> bytes) {
  Buffer buffer(executor, static_cast<std::int64_t>(bytes.size()));
  Backend& backend = executor.backend();
  if (!bytes.empty()) backend.copy_in(buffer.data(), bytes.data(), buffer.bytes());
  if (backend.events().has_listeners()) {
    Event event{EventKind::Constant, subject, {}, buffer.bytes()};
    event.begin = event.end = backend.clock();
    backend.events().emit(event);
  }
  return buffer;
}

}  // namespace trn::tile

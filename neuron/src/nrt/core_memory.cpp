// Arrays, programs and tensor sets of a core: see core.hpp.
#include <algorithm>
#include <chrono>

#include "core.hpp"
#include "sim/memory.hpp"

namespace trn::neuron::nrt {

namespace {

// Tensor sets that one program keeps.
constexpr std::size_t kKeptSets = 32;

}  // namespace

Core::Core(Runtime& r, const NeuronOptions& o, std::string executor, NeffSource neffs)
    : runtime(r),
      slot(r.core(o.core)),
      options(o),
      name(std::move(executor)),
      source(std::move(neffs)),
      queue(Queue::open(r, o)),
      memory(r, o.core, queue) {
  if (o.profile != Profile::Off) profiler = std::make_unique<Profiler>(r, o);
}

Core::~Core() = default;

void Core::require_usable() const {
  runtime.require_usable();
  if (slot.lost) std::rethrow_exception(slot.lost);
}

void Core::note_loss(Status status, const std::exception_ptr& thrown) noexcept {
  if (meaning_of(status).recovery != Recovery::RestartProcess || slot.lost) return;
  slot.lost = thrown;
  memory.abandon();
  queue->stop();
  if (status == kUnrecoverable) runtime.give_up();
}

void Core::throw_status(Status status, const std::string& what) {
  const std::exception_ptr thrown = failure_of(status, fmt::format("{}: {}", name, what));
  note_loss(status, thrown);
  std::rethrow_exception(thrown);
}

// Full memory: what is on its way back is waited for, then programs that are not in use make room, one by one.
template <class Call> Status Core::with_room(const LoadedProgram* keep, Call call) {
  Status status = call();
  const auto full = [&] { return (status == kResource || status == kHostMemory) && usable(); };
  if (full() && (queue->in_flight() > 0 || !freed.empty())) {
    drain();
    if (usable()) status = call();
  }
  while (full() && evict(keep)) status = call();
  return status;
}

void* Core::allocate(std::size_t bytes) {
  require_usable();
  Block* block = nullptr;
  const Status status = with_room(nullptr, [&] { return memory.allocate(bytes, block); });
  require_done(status, "{} bytes asked for while {} arrays have {} bytes and {} programs are loaded", bytes,
               memory.arrays(), memory.bytes_in_use(), loaded.size());
  return reinterpret_cast<void*>(block->begin);
}

void Core::free(void* address) noexcept {
  std::unique_ptr<Block> block = memory.take(address);
  if (!block) return;
  while (!block->users.empty()) {
    Bound& bound = *block->users.back();
    auto& sets = bound.program->state.sets;
    const auto owner = std::find_if(sets.begin(), sets.end(), [&](const auto& s) { return s.get() == &bound; });
    std::unique_ptr<Bound> gone = std::move(*owner);
    sets.erase(owner);
    detach(bound);
    unbound.push_back(std::move(gone));
  }
  freed.push_back(std::move(block));
  sweep();
}

Block& Core::require_inside(const void* address, std::size_t bytes, const std::string& what) {
  if (Block* block = memory.find(address, bytes)) return *block;
  throw DeviceError(fmt::format("{}: {} {} bytes at {:#x} is not inside one array of this executor", name, what, bytes,
                                reinterpret_cast<std::uintptr_t>(address)),
                    "out-of-bounds");
}

// Nobody finds it by its arrays any more.
void Core::detach(Bound& bound) noexcept {
  for (const Bound::Part& part : bound.parts) std::erase(part.block->users, &bound);
}

// Its last run is over, and its arrays are still there.
void Core::drop(std::unique_ptr<Bound> bound) noexcept {
  if (usable()) {
    if (bound->in) quietly(*queue, runtime.call().nrt_destroy_tensor_set, &bound->in);
    if (bound->out) quietly(*queue, runtime.call().nrt_destroy_tensor_set, &bound->out);
  }
  for (const Bound::Part& part : bound->parts) memory.unuse(*part.block, part.slice);
}

void Core::sweep() noexcept {
  // Sets first: their tensors must outlive them.
  for (std::size_t i = 0; i < unbound.size();) {
    if (unbound[i]->last_use > done) {
      ++i;
      continue;
    }
    drop(std::move(unbound[i]));
    unbound[i] = std::move(unbound.back());
    unbound.pop_back();
  }
  for (std::size_t i = 0; i < freed.size();) {
    if (freed[i]->last_use > done) {
      ++i;
      continue;
    }
    memory.release(std::move(freed[i]));
    freed[i] = std::move(freed.back());
    freed.pop_back();
  }
}

void Core::forget_everything() noexcept {
  for (const std::uintptr_t address : memory.addresses()) free(reinterpret_cast<void*>(address));
}

std::shared_ptr<const LoadedProgram> Core::find_loaded(const tile::Program& program) {
  const auto found = by_hash.find(program.hash());
  if (found == by_hash.end()) return nullptr;
  for (const auto& entry : found->second) {
    if (auto executable = entry.lock(); executable && executable->program() == program) return executable;
  }
  return nullptr;
}

void Core::load(const LoadedProgram& program) {
  const std::scoped_lock lock(runtime.load_mutex());
  const auto begin = std::chrono::steady_clock::now();
  const std::span<const std::byte> neff = program.compiled().neff;
  Model* model = nullptr;
  const Status status = with_room(&program, [&] {
    return quietly(*queue, runtime.call().nrt_load, neff.data(), neff.size(), options.core, -1, &model);
  });
  const std::string& title = program.program().name();
  require_done(status, "loading program '{}' (NEFF {}) while {} others are loaded", title, program.compiled().key,
               loaded.size());
  Status told_with = kSuccess;
  const std::string wrong = difference(runtime, *queue, model, program.compiled().manifest, told_with);
  // The core is lost, or an earlier run on it hangs: nothing is known about this program.
  if (meaning_of(told_with).recovery == Recovery::RestartProcess) {
    throw_status(told_with, fmt::format("loading program '{}' (NEFF {})", title, program.compiled().key));
  }
  if (!wrong.empty()) {
    (void)quietly(*queue, runtime.call().nrt_unload, model);
    throw DeviceError(fmt::format("{}: program '{}' (NEFF {}): {}", name, title, program.compiled().key, wrong),
                      "neff-names");
  }
  loaded.push_front(&program);
  program.state.place = loaded.begin();
  program.state.model = model;
  Event event{EventKind::Load, title, "device", static_cast<std::int64_t>(neff.size())};
  event.measured_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  tell(std::move(event));
}

// No run of it is under way.
void Core::unload(const LoadedProgram& program) noexcept {
  LoadedProgram::State& state = program.state;
  for (auto& bound : state.sets) {
    detach(*bound);
    drop(std::move(bound));
  }
  state.sets.clear();
  if (!state.model) return;
  if (usable()) (void)quietly(*queue, runtime.call().nrt_unload, state.model);
  state.model = nullptr;
  loaded.erase(state.place);
  tell({EventKind::Unload, program.program().name(), "device"});
}

bool Core::evict(const LoadedProgram* keep) noexcept {
  for (auto at = loaded.rbegin(); at != loaded.rend(); ++at) {
    if (*at == keep || (*at)->state.last_use > done) continue;
    unload(**at);
    return true;
  }
  return false;
}

std::unique_ptr<Bound> Core::make_sets(const LoadedProgram& program) {
  const std::vector<std::uintptr_t>& wanted = program.state.wanted;
  std::vector<sim::BoundRange> ranges;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ranges.push_back({program.places()[i].tensor, wanted[i], program.places()[i].bytes});
  }
  sim::refuse_shared(program.program(), ranges);
  auto bound = std::make_unique<Bound>();
  bound->program = const_cast<LoadedProgram*>(&program);
  bound->addresses = wanted;
  std::vector<Tensor*> tensors;
  try {
    const auto success = [&](Status status, const char* what) {
      require_done(status, "{} for program '{}'", what, program.program().name());
    };
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Place& place = program.places()[i];
      Block& block = require_inside(reinterpret_cast<const void*>(wanted[i]), place.bytes,
                                    fmt::format("tensor '{}' of", place.tensor->name));
      Tensor* tensor = nullptr;
      Slice* slice = nullptr;
      success(
          with_room(&program, [&] { return memory.part(block, wanted[i] - block.begin, place.bytes, tensor, slice); }),
          "a slice");
      tensors.push_back(tensor);
      bound->parts.push_back({&block, slice});
    }
    const Functions& call = runtime.call();
    success(with_room(&program, [&] { return quietly(*queue, call.nrt_allocate_tensor_set, &bound->in); }),
            "a tensor set");
    success(with_room(&program, [&] { return quietly(*queue, call.nrt_allocate_tensor_set, &bound->out); }),
            "a tensor set");
    for (const Parameter& p : program.parameters()) {
      success(quietly(*queue, call.nrt_add_tensor_to_tensor_set, p.output ? bound->out : bound->in, p.name.c_str(),
                      tensors[p.place]),
              "a tensor set");
    }
  } catch (...) {
    drop(std::move(bound));
    throw;
  }
  for (const Bound::Part& part : bound->parts) {
    if (std::ranges::find(part.block->users, bound.get()) == part.block->users.end()) {
      part.block->users.push_back(bound.get());
    }
  }
  return bound;
}

Bound& Core::bind(const LoadedProgram& program, std::span<const tile::Binding> bindings) {
  LoadedProgram::State& state = program.state;
  state.wanted.clear();
  for (const Place& place : program.places()) {
    const tile::Binding& bound = sim::bound_to(program.program(), *place.tensor, bindings);
    state.wanted.push_back(reinterpret_cast<std::uintptr_t>(bound.address()) +
                           static_cast<std::uintptr_t>(place.lowest));
  }
  auto& sets = state.sets;
  const auto known =
      std::find_if(sets.begin(), sets.end(), [&](const auto& s) { return s->addresses == state.wanted; });
  if (known != sets.end()) {
    std::rotate(sets.begin(), known, known + 1);
    return *sets.front();
  }
  if (sets.size() == kKeptSets) {
    detach(*sets.back());
    unbound.push_back(std::move(sets.back()));
    sets.pop_back();
    sweep();
  }
  sets.insert(sets.begin(), make_sets(program));
  return *sets.front();
}

}  // namespace trn::neuron::nrt

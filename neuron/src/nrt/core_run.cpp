// Runs of a core, their order and their failures: see core.hpp.
#include <chrono>
#include <thread>

#include "core.hpp"

namespace trn::neuron::nrt {

using Clock = std::chrono::steady_clock;

// Gives a run to the runtime. A full queue or a busy core is tried again; full memory after programs made room.
Status Core::start(const Launch& launch) {
  const Clock::time_point begin = Clock::now();
  bool made_room = false;
  for (;;) {
    const Status status = queue->add(launch);
    switch (status) {
      case kQueueFull:
      case kCoreBusy:
        if (queue->in_flight() > 0) {
          wait_for_oldest();
          if (failure || !usable()) return kSkipped;
          break;
        }
        if (std::chrono::duration<double>(Clock::now() - begin).count() > options.busy_limit) return status;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        break;
      case kResource:
      case kHostMemory:
        if (made_room) return status;
        made_room = true;
        drain();
        if (failure || !usable()) return kSkipped;
        (void)evict(static_cast<const LoadedProgram*>(launch.executable.get()));
        break;
      default:
        return status;
    }
  }
}

void Core::run(const std::shared_ptr<const LoadedProgram>& program, std::span<const tile::Binding> bindings) {
  require_usable();
  LoadedProgram::State& state = program->state;
  if (!state.model) load(*program);
  Bound* bound = &bind(*program, bindings);
  if (options.profile == Profile::Trace && !state.traced) return run_recorded(program, *bound);
  while (queue->full()) wait_for_oldest();
  if (failure || !usable()) return;  // behind a failure: not started
  if (state.place != loaded.begin()) loaded.splice(loaded.begin(), loaded, state.place);
  const std::uint64_t number = asked + 1;
  // Making room must not take what this run needs.
  state.last_use = bound->last_use = number;
  const Status status =
      start({state.model, bound->in, bound->out, number, program, current_purpose(), current_queue()});
  if (status == kSkipped) {
    state.last_use = bound->last_use = done;
    return;
  }
  if (status != kSuccess) {
    state.last_use = bound->last_use = done;
    throw_status(status,
                 fmt::format("starting program '{}' (NEFF {})", program->program().name(), program->compiled().key));
  }
  asked = number;
  for (const Bound::Part& part : bound->parts) part.block->last_use = number;
}

// Alone on the core and by the blocking call, which is what profiles are documented for.
void Core::run_recorded(const std::shared_ptr<const LoadedProgram>& program, Bound& bound) {
  drain();
  if (failure || !usable()) return;
  const Functions& call = runtime.call();
  LoadedProgram::State& state = program->state;
  const std::string& title = program->program().name();
  const ProgramTrace trace = profiler->trace_of(title, program->compiled());
  require_done(quietly(*queue, call.nrt_profile_start, state.model, trace.ntff.c_str()),
               "starting the profile '{}' of program '{}'", trace.ntff.string(), title);
  const std::uint64_t number = ++asked;
  const Status result = quietly(*queue, call.nrt_execute, state.model, bound.in, bound.out);
  const Status stopped = quietly(*queue, call.nrt_profile_stop, trace.ntff.c_str());
  retire({state.model, bound.in, bound.out, number, program, current_purpose(), current_queue()}, result, false);
  require_done(stopped, "writing the profile '{}' of program '{}'", trace.ntff.string(), title);
  state.traced = true;
  profiler->keep(trace);
}

void Core::retire(const Launch& launch, Status result, bool lost) noexcept {
  done = launch.number;
  if (profiler && result != kSkipped && !lost) {
    const auto& program = static_cast<const LoadedProgram&>(*launch.executable);
    profiler->end(launch, program.program().name(), program.compiled().key);
  }
  if (result == kSkipped || slot.lost) return;
  // Behind a failure nobody was told of, only the loss of the core counts: the run may not be over.
  if (failure && meaning_of(result).recovery != Recovery::RestartProcess) return;
  const std::string& title = launch.executable->program().name();
  const auto tell_of = [&](EventKind kind) {
    if (!listened()) return;
    Event event{kind, title, "device"};
    event.queue = launch.stream;
    event.purpose = launch.purpose;
    event.sequence = launch.number;
    tell(std::move(event));
  };
  if (result == kNumericalError) {
    tell_of(EventKind::NumericalError);
    if (options.nan == Nan::Accept) result = kSuccess;
  }
  if (result == kSuccess) {
    tell_of(EventKind::Complete);
    tell_of(EventKind::Run);
    return;
  }
  const std::exception_ptr thrown =
      failure_of(result, fmt::format("{}: program '{}' (run {}, NEFF {}){}", name, title, launch.number,
                                     static_cast<const LoadedProgram&>(*launch.executable).compiled().key,
                                     lost ? " is not over within the executor's limit" : ""));
  if (!failure) failure = thrown;
  note_loss(result, thrown);
}

void Core::wait_for_oldest() noexcept {
  Status result = kSuccess;
  bool lost = false;
  const Launch* oldest = queue->wait(result, lost);
  if (!oldest) return;
  retire(*oldest, result, lost);
  if (slot.lost) {
    // Whether the runtime still writes there nobody knows: what it was given stays as it is.
    keep_for_ever(std::move(queue));
    queue = Queue::open(runtime, options);
    done = asked;
    return;
  }
  queue->pop();
  sweep();
}

void Core::drain() noexcept { wait_for(asked); }

void Core::wait_for(std::uint64_t number) noexcept {
  while (done < number && usable() && queue->in_flight() > 0) wait_for_oldest();
  sweep();
}

void Core::throw_failure() {
  if (const std::exception_ptr thrown = std::exchange(failure, nullptr)) std::rethrow_exception(thrown);
  require_usable();
}

}  // namespace trn::neuron::nrt

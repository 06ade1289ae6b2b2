// Streams and events. On a simulator an event's time is the modelled time of the programs that ran, on the host it is
// wall time.
#include <map>
#include <optional>
#include <utility>

#include "../device.hpp"
#include "../memory.hpp"
#include "runtime.hpp"

namespace trn::capi::runtime {

namespace {

// One thread may record an event while others ask for it.
class EventObject {
 public:
  explicit EventObject(bool with_time) : timed(with_time) {}
  void record(Marker point) {
    const std::lock_guard lock(mutex_);
    point_ = std::move(point);
    graph_.reset();
  }
  // While the stream is captured there is no point in time, only a place in the graph.
  void record(std::shared_ptr<Graph> graph, const StreamObject* stream) {
    const std::lock_guard lock(mutex_);
    graph_ = std::move(graph), stream_ = stream;
  }
  [[nodiscard]] std::pair<std::shared_ptr<Graph>, const StreamObject*> place() const {
    const std::lock_guard lock(mutex_);
    return {graph_, stream_};
  }
  // Of the last record; nothing if there was none.
  [[nodiscard]] std::optional<Marker> recorded() const {
    const std::lock_guard lock(mutex_);
    return point_;
  }
  // The same, and a marker that is reached if there was none.
  [[nodiscard]] Marker marker() const { return recorded().value_or(Marker()); }
  const bool timed;

 private:
  mutable std::mutex mutex_;
  std::optional<Marker> point_;
  std::shared_ptr<Graph> graph_;
  const StreamObject* stream_ = nullptr;
};

struct Events {
  std::mutex mutex;
  std::map<trnEvent_t, std::shared_ptr<EventObject>> alive;
};
Events& events() {
  static Events& made = *new Events;  // never destroyed: as the streams
  return made;
}

std::shared_ptr<EventObject> event_of(trnEvent_t handle) {
  Events& e = events();
  const std::lock_guard lock(e.mutex);
  const auto found = e.alive.find(handle);
  if (found == e.alive.end()) throw BadHandle("the event is not alive; it was destroyed, or is not an event");
  return found->second;
}

void require_not_captured(const StreamObject& stream) {
  if (stream.captured()) throw WithStatus(trnErrorStreamCaptureUnsupported, "the stream is captured");
}
// Of an event that was recorded while its stream was captured nothing can be asked.
std::shared_ptr<EventObject> timed_event_of(trnEvent_t handle) {
  auto found = event_of(handle);
  if (found->place().first)
    throw WithStatus(trnErrorCapturedEvent, "the event was recorded in a stream that is captured");
  return found;
}
[[noreturn]] void not_ready(const char* what) {
  throw WithStatus(trnErrorNotReady, fmt::format("{} is not done yet", what));
}

}  // namespace

void stream_create(trnStream_t* stream) { stream_create_with_flags(stream, trnStreamDefault); }
void stream_create_with_flags(trnStream_t* stream, unsigned flags) {
  require(stream != nullptr, "pStream is null; it receives the stream");
  require(flags == trnStreamDefault || flags == trnStreamNonBlocking, "flags are {}; they must be 0 or 1", flags);
  *stream = create_stream(flags);
}
// There is one priority.
void stream_create_with_priority(trnStream_t* stream, unsigned flags, int) { stream_create_with_flags(stream, flags); }
void stream_destroy(trnStream_t stream) { destroy_stream(stream); }
void stream_query(trnStream_t stream) {
  if (!stream_of(stream)->stream.idle()) not_ready("the stream");
}
void stream_get_priority(trnStream_t stream, int* priority) {
  require(priority != nullptr, "priority is null; it receives the result");
  (void)stream_of(stream);
  *priority = 0;  // there is one
}
void stream_get_device(trnStream_t stream, int* device) { answer("device", device, stream_of(stream)->device->number); }
void stream_get_id(trnStream_t stream, unsigned long long* id) {
  answer("streamId", id, reinterpret_cast<std::uintptr_t>(stream_of(stream).get()));
}
void stream_get_flags(trnStream_t stream, unsigned* flags) { answer("flags", flags, stream_of(stream)->flags); }
void stream_wait_event(trnStream_t stream, trnEvent_t event, unsigned) {
  const auto s = stream_of(stream);
  const auto e = event_of(event);
  const auto [graph, recorded_by] = e->place();
  if (!graph) {
    require_not_captured(*s);
    return s->stream.wait(e->marker());
  }
  {
    const std::lock_guard lock(graph->mutex);
    if (graph->done) throw WithStatus(trnErrorCapturedEvent, "the capture in which the event was recorded has ended");
    graph->unjoined.erase(recorded_by);
  }
  if (s.get() == &s->device->legacy || !s->join(graph))
    throw WithStatus(trnErrorStreamCaptureUnsupported,
                     "the stream is the default one, or is captured for another graph; it cannot join this capture");
}
void stream_attach_mem_async(trnStream_t stream, void* address, std::size_t, unsigned) {
  (void)stream_of(stream);
  const auto block = block_of(address);
  require(block && block->kind == MemoryKind::Managed, "{} is not managed memory", address);
}
void launch_host_func(trnStream_t stream, trnHostFn_t function, void* user_data) {
  require(function != nullptr, "the function is null");
  enqueue(*stream_of(stream), [=] { function(user_data); });
}

namespace {
// An executable graph is the same list under another handle: what is captured does not change any more.
struct Executable {
  std::shared_ptr<Graph> graph;
};
Handles<Graph>& graphs() {
  static auto& made = *new Handles<Graph>;  // never destroyed: as the streams
  return made;
}
Handles<Executable>& executables() {
  static auto& made = *new Handles<Executable>;
  return made;
}
}  // namespace

void stream_begin_capture(trnStream_t stream, trnStreamCaptureMode mode) {
  require(mode >= trnStreamCaptureModeGlobal && mode <= trnStreamCaptureModeRelaxed, "capture mode {}",
          static_cast<int>(mode));
  const auto s = stream_of(stream);
  if (s.get() == &s->device->legacy)
    throw WithStatus(trnErrorStreamCaptureUnsupported, "the default stream cannot be captured; make one");
  if (!s->begin_capture()) throw WithStatus(trnErrorStreamCaptureUnsupported, "the stream is captured");
  captures_changed(1);
}
void stream_end_capture(trnStream_t stream, trnGraph_t* graph) {
  require(graph != nullptr, "pGraph is null; it receives the graph");
  const auto s = stream_of(stream);
  auto captured = s->end_capture();
  if (!captured) throw WithStatus(trnErrorIllegalState, "no capture began on the stream");
  captures_changed(-1);
  if (!captured->unjoined.empty())
    throw WithStatus(trnErrorStreamCaptureUnjoined,
                     "a stream took part in the capture, and its last work was not waited for");
  *graph = reinterpret_cast<trnGraph_t>(graphs().add(std::move(captured)));
}
void stream_is_capturing(trnStream_t stream, trnStreamCaptureStatus* status) {
  answer("pCaptureStatus", status,
         stream_of(stream)->captured() ? trnStreamCaptureStatusActive : trnStreamCaptureStatusNone);
}
void graph_instantiate(trnGraphExec_t* executable, trnGraph_t graph, unsigned long long) {
  require(executable != nullptr, "pGraphExec is null; it receives the executable graph");
  *executable =
      reinterpret_cast<trnGraphExec_t>(executables().add(std::make_shared<Executable>(graphs().find(graph, "graph"))));
}
void graph_launch(trnGraphExec_t executable, trnStream_t stream) {
  const auto found = executables().find(executable, "executable graph");
  for (const auto& block : found->graph->memory)
    require(!block.expired(), "memory that the graph uses was freed after its capture");
  const auto run_steps = [graph = found->graph] {
    for (const auto& step : graph->steps) step();
  };
  enqueue(*stream_of(stream), run_steps, found->graph->memory);
}
void graph_upload(trnGraphExec_t executable, trnStream_t stream) {
  (void)executables().find(executable, "executable graph");
  (void)stream_of(stream);
}
// Steps have no handles of their own.
void graph_get_nodes(trnGraph_t graph, trnGraphNode_t* nodes, std::size_t* count) {
  require(count != nullptr, "numNodes is null; it receives the result");
  const auto found = graphs().find(graph, "graph");
  if (nodes) fail<NotImplemented>("handles of a graph's nodes; give null to learn how many there are");
  *count = found->steps.size();
}
void stream_synchronize(trnStream_t stream) {
  const auto s = stream_of(stream);
  require_not_captured(*s);
  s->stream.synchronize();
}
void graph_exec_destroy(trnGraphExec_t executable) {
  (void)executables().find(executable, "executable graph");
  executables().remove(executable);
}
void graph_destroy(trnGraph_t graph) {
  (void)graphs().find(graph, "graph");
  graphs().remove(graph);
}

void event_create(trnEvent_t* event) { event_create_with_flags(event, trnEventDefault); }
void event_create_with_flags(trnEvent_t* event, unsigned flags) {
  require(event != nullptr, "event is null; it receives the event");
  require(flags <= 7, "flags are {}; they must be 0 to 7", flags);
  auto made = std::make_shared<EventObject>((flags & trnEventDisableTiming) == 0);
  const auto handle = reinterpret_cast<trnEvent_t>(made.get());
  Events& e = events();
  const std::lock_guard lock(e.mutex);
  e.alive[handle] = std::move(made);
  *event = handle;
}
void event_record(trnEvent_t event, trnStream_t stream) {
  const auto e = event_of(event);
  const auto s = stream_of(stream);
  if (auto graph = s->capture()) return e->record(std::move(graph), s.get());
  enqueue(*s, [] {});  // behind what the default stream waits for
  e->record(s->stream.mark());
}
void event_record_with_flags(trnEvent_t event, trnStream_t stream, unsigned flags) {
  require(flags <= 1, "flags are {}; they must be 0 or 1", flags);
  event_record(event, stream);
}
void event_synchronize(trnEvent_t event) { timed_event_of(event)->marker().synchronize(); }
void event_query(trnEvent_t event) {
  if (!timed_event_of(event)->marker().reached()) not_ready("the event");
}
void event_elapsed_time(float* milliseconds, trnEvent_t start, trnEvent_t end) {
  require(milliseconds != nullptr, "ms is null; it receives the result");
  const auto a = timed_event_of(start), b = timed_event_of(end);
  const std::optional<Marker> from = a->recorded(), to = b->recorded();
  if (!from || !to || !a->timed || !b->timed)
    throw BadHandle("an event was never recorded, or was made without timing");
  if (!from->reached() || !to->reached()) not_ready("an event");
  *milliseconds = static_cast<float>((to->seconds() - from->seconds()) * 1e3);
}
void event_destroy(trnEvent_t event) {
  (void)event_of(event);
  Events& e = events();
  const std::lock_guard lock(e.mutex);
  e.alive.erase(event);
}

}  // namespace trn::capi::runtime

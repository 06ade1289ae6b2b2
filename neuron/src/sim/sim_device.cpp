// The simulated device behind `sim:trnN`: one core, its memory (hbm.hpp), its clock and its queue. Programs run in the
// call that asks for them or, queued, behind the caller: then runs, copies in, copies within and frees are pieces of
// one WorkQueue, and copies out wait for it.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <trn/core/error.hpp>
#include <trn/core/instruction_set.hpp>
#include <trn/core/work_queue.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/cost.hpp>
#include <trn/tile/shared_stack.hpp>

#include "hbm.hpp"
#include "run.hpp"

namespace trn::neuron {

using namespace trn::tile;

namespace {

// What a run tells the device of time and traffic.
struct RunCost {
  double seconds = 0, hbm_bytes = 0;
};

// Verified, scheduled and placed. A program without loops of the device executes the same instructions at the same
// places in every run: the first one finds its modelled time, later ones need not ask the timing model again.
class SimExecutable final : public Executable {
 public:
  SimExecutable(std::shared_ptr<const Program> program, const Machine& machine)
      : Executable(std::move(program)),
        prepared(sim::prepare(this->program(), machine)),
        fixed_(std::ranges::none_of(prepared.program.loops(),
                                    [](const LoopDecl& loop) { return is_dynamic(loop.kind); })) {}
  const sim::Prepared prepared;

  [[nodiscard]] std::optional<RunCost> known_cost() const {
    const std::scoped_lock lock(mutex_);
    return cost_;
  }
  void ran(const RunCost& cost) const {
    if (!fixed_) return;
    const std::scoped_lock lock(mutex_);
    cost_ = cost;
  }

 private:
  const bool fixed_;
  mutable std::mutex mutex_;
  mutable std::optional<RunCost> cost_;
};

// One run that was asked for: what it needs, found and checked in the caller. An array that is freed afterwards stays
// until the queue gets there.
struct Launch final : sim::HbmShadow {
  std::uint8_t* state(const void* address) override {
    for (const auto& [bound, written] : states) {
      if (bound == address) return written;
    }
    return nullptr;
  }
  std::shared_ptr<const SimExecutable> executable;
  std::vector<Binding> bindings;
  std::vector<std::pair<const void*, std::uint8_t*>> states;
  Event event{EventKind::Run, {}, "device"};  // made in the caller: it has the caller's purpose and stream
};

class SimDevice final : public Device, public SharedStack {
 public:
  SimDevice(std::string name, const Machine& machine, const SimOptions& options, std::shared_ptr<HbmStack> stack)
      : Device(name, machine), options_(options), hbm_(std::move(name), std::move(stack)) {
    if (options_.queued) queue_.emplace();
  }

  void* allocate(std::int64_t bytes) override {
    void* address = hbm_.allocate(bytes);
    if (!address && queue_) {
      queue_->drain();  // frees may be on their way
      address = hbm_.allocate(bytes);
    }
    if (!address) {
      throw DeviceError(fmt::format("{}: {} bytes asked for while {} of the {} bytes of its HBM stack are in use; free "
                                    "arrays or use smaller ones",
                                    name(), bytes, hbm_.stack().used(), hbm_.stack().capacity()),
                        "over-capacity");
    }
    return address;
  }
  void deallocate(void* address, std::int64_t) noexcept override {
    std::shared_ptr<sim::Hbm::Block> block = hbm_.take(address);
    if (queue_ && block) queue_->add([block = std::move(block)]() mutable { block.reset(); });
  }
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override {
    std::uint8_t* written = hbm_.require_inside(to, bytes, "copy to");
    const auto size = static_cast<std::size_t>(bytes);
    // The caller may change its memory as soon as this returns: little is taken along, for more the queue is waited
    // for.
    constexpr std::size_t kTakenAlong = 1 << 16;
    if (queue_ && size <= kTakenAlong) {
      const auto* from = static_cast<const std::byte*>(from_host);
      queue_->add([to, written, taken = std::vector<std::byte>(from, from + size)] {
        std::memcpy(to, taken.data(), taken.size());
        std::memset(written, 1, taken.size());
      });
      return;
    }
    drain();
    std::memcpy(to, from_host, size);
    std::memset(written, 1, size);
  }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    (void)hbm_.require_inside(from, bytes, "copy from");
    synchronize();
    std::memcpy(to_host, from, static_cast<std::size_t>(bytes));
  }
  void copy_within(void* to, const void* from, std::int64_t bytes) override {
    const std::uint8_t* known = hbm_.require_inside(from, bytes, "copy from");
    std::uint8_t* written = hbm_.require_inside(to, bytes, "copy to");
    Event event{EventKind::Run, "copy_within", "device", bytes};  // made in the caller, as a Launch has it
    in_order([=, this]() mutable {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
      std::memcpy(written, known, static_cast<std::size_t>(bytes));
      take_time(event, copy_seconds(bytes), true);
    });
  }

  std::shared_ptr<const Executable> load(std::shared_ptr<const Program> program) override {
    return std::make_shared<SimExecutable>(std::move(program), machine());
  }

  void run(const std::shared_ptr<const Executable>& executable, std::span<const Binding> bindings) override {
    auto launch = std::make_shared<Launch>();
    launch->executable = std::dynamic_pointer_cast<const SimExecutable>(executable);
    ensure(launch->executable != nullptr, "{}: program '{}' was loaded by another device", name(),
           executable->program().name());
    bind(*launch, bindings);
    launch->event.subject = executable->program().name();
    if (!queue_) return execute(*launch);
    queue_->add([this, launch] {
      if (failed()) return;
      try {
        execute(*launch);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        failure_ = std::current_exception();
      }
    });
  }

  void synchronize() override {
    drain();
    std::exception_ptr failure;
    {
      const std::scoped_lock lock(mutex_);
      failure = std::exchange(failure_, nullptr);
    }
    if (failure) std::rethrow_exception(failure);
  }
  void drain() noexcept override {
    if (queue_) queue_->drain();
  }
  double clock() const override {
    const std::scoped_lock lock(mutex_);
    return clock_;
  }
  void share_stack_of(SharedStack& other) override {
    auto* const sim = dynamic_cast<SimDevice*>(&other);
    ensure(sim != nullptr, "{}: shares memory with simulated cores only", name());
    hbm_.use(sim->hbm_.shared_stack());
  }
  double hbm_bytes() const override {
    const std::scoped_lock lock(mutex_);
    return hbm_bytes_;
  }
  void pass_time(Event event, double until) override {
    in_order([this, event = std::move(event), until]() mutable {
      double left = 0;
      {
        const std::scoped_lock lock(mutex_);
        left = std::max(0.0, until - clock_);
      }
      take_time(event, left, false);
    });
  }

 private:
  template <class F> void in_order(F work) {
    if (queue_) {
      queue_->add(std::move(work));
    } else {
      work();
    }
  }

  bool failed() const {
    const std::scoped_lock lock(mutex_);
    return failure_ != nullptr;
  }

  // Every tensor of the program has memory of this device, as large as the tensor, that may be written if it is an
  // output.
  void bind(Launch& launch, std::span<const Binding> bindings) {
    const Program& program = launch.executable->program();
    std::vector<sim::BoundRange> ranges;
    for (const TensorDecl& tensor : program.tensors()) {
      if (tensor.kind == TensorKind::Scratch) continue;
      const Binding bound = sim::binding_of(program, tensor, bindings);
      const OffsetRange range = offset_range(tensor.shape, tensor.strides);
      const std::int64_t element = size_bytes(tensor.dtype), lowest = range.lowest * element;
      const auto* const begin = static_cast<const std::byte*>(bound.address()) + lowest;
      const std::int64_t bytes = (range.highest - range.lowest + 1) * element;
      std::uint8_t* written = hbm_.require_inside(begin, bytes, fmt::format("tensor '{}' of", tensor.name));
      const auto continues = [&](const TensorDecl& other) { return other.alias == tensor.name; };
      if (tensor.kind == TensorKind::Output || std::ranges::none_of(program.tensors(), continues)) {
        ranges.push_back({&tensor, reinterpret_cast<std::uintptr_t>(begin), static_cast<std::size_t>(bytes)});
      }
      launch.states.emplace_back(bound.address(), written - lowest);
      launch.bindings.push_back(bound);
    }
    sim::refuse_shared(program, ranges);
  }

  void execute(Launch& launch) {
    const sim::Prepared& prepared = launch.executable->prepared;
    const bool timed = options_.order.kind == OrderKind::Timed;
    std::optional<RunCost> cost = timed ? launch.executable->known_cost() : std::nullopt;
    SimOptions options = options_;
    if (cost) options.order = Order::in_order();  // the same bits
    try {
      const RunReport report = sim::run(prepared, machine(), launch.bindings, options, {}, &launch);
      if (!cost) {
        cost = {report.seconds, static_cast<double>(report.hbm_read_bytes + report.hbm_write_bytes)};
        if (timed) launch.executable->ran(*cost);
      }
    } catch (const DeviceError& e) {
      throw DeviceError(fmt::format("{}: program '{}': {}", name(), prepared.program.name(), e.what()), e.check(),
                        e.recovery());
    }
    {
      const std::scoped_lock lock(mutex_);
      hbm_bytes_ += cost->hbm_bytes;
    }
    take_time(launch.event, cost->seconds, false);
  }

  // The DMA engines' time. Copies that follow one another are requests to one ring: the way to the first byte and the
  // end are paid once, from then on the longer of transfer and trigger.
  double copy_seconds(std::int64_t bytes) const {
    const DmaCost cost = memory_copy_cost(bytes, machine());
    const Timing& t = machine().timing;
    const std::scoped_lock lock(mutex_);
    return copying_ ? std::max(cost.transfer_s, cost.ring_s) : t.dma_start_s + cost.transfer_s + t.dma_end_s;
  }

  // The clock goes on, and listeners hear of it.
  void take_time(Event& event, double seconds, bool copying) {
    event.modelled_seconds = seconds;
    {
      const std::scoped_lock lock(mutex_);
      event.begin = clock_;
      event.end = clock_ += seconds;
      copying_ = copying;
    }
    if (events().has_listeners()) events().emit(event);
  }

  SimOptions options_;
  sim::Hbm hbm_;
  mutable std::mutex mutex_;
  double clock_ = 0, hbm_bytes_ = 0;
  bool copying_ = false;            // what was done last is a copy within the memory
  std::exception_ptr failure_;      // of a queued run, until somebody is told
  std::optional<WorkQueue> queue_;  // last: it ends first
};

Executor open_core(std::string name, const Machine& machine, const SimOptions& options,
                   std::shared_ptr<HbmStack> stack) {
  heed_instruction_set();
  return Executor(std::make_shared<SimDevice>(std::move(name), machine, options, std::move(stack)));
}

}  // namespace

Executor open_simulator(std::string_view machine_name, const SimOptions& options) {
  const Machine& machine = tile::machine(machine_name);
  return open_core(fmt::format("sim:{}", machine_name), machine, options,
                   std::make_shared<HbmStack>(machine.hbm_bytes_per_stack()));
}

std::vector<Executor> open_simulated_chip(std::string_view machine_name, const SimOptions& options) {
  const Machine& machine = tile::machine(machine_name);
  std::vector<Executor> cores;
  std::shared_ptr<HbmStack> stack;
  for (std::int64_t core = 0; core < machine.cores_per_chip; ++core) {
    if (core % machine.cores_per_stack() == 0) stack = std::make_shared<HbmStack>(machine.hbm_bytes_per_stack());
    cores.push_back(open_core(fmt::format("sim:{}#{}", machine_name, core), machine, options, stack));
  }
  return cores;
}

}  // namespace trn::neuron

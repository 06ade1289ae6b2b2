// The runtime's own functions, called by hand: see silicon_raw.hpp.
#include "silicon_raw.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include <trn/core/environment.hpp>
#include <trn/tile/device.hpp>

#include "nrt/core.hpp"
#include "nrt/device.hpp"
#include "silicon_kernels.hpp"

namespace trn::tools::silicon {

namespace nrt = neuron::nrt;

namespace {

std::string status_text(nrt::Status status, const char* function) {
  return fmt::format("status {} at {}", status, function);
}

std::vector<float> line_values(std::int64_t n) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 1000) - 500;
  return v;
}

// Objects of the runtime for one question, given back in the right order.
class Objects {
 public:
  explicit Objects(const nrt::Functions& call) : call_(call) {}
  ~Objects() {
    for (nrt::TensorSet* set : sets_) call_.nrt_destroy_tensor_set(&set);
    for (auto at = tensors_.rbegin(); at != tensors_.rend(); ++at) call_.nrt_tensor_free(&*at);
    if (model_) (void)call_.nrt_unload(model_);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // Each remembers the first status that is not success, and does nothing after it.
  nrt::Tensor* tensor(int core, std::size_t bytes) {
    nrt::Tensor* made = nullptr;
    note("nrt_tensor_allocate",
         [&] { return call_.nrt_tensor_allocate(nrt::kDeviceMemory, core, bytes, "raw", &made); });
    if (made) tensors_.push_back(made);
    return made;
  }
  nrt::Tensor* slice(nrt::Tensor* of, std::size_t offset, std::size_t bytes) {
    nrt::Tensor* made = nullptr;
    note("nrt_tensor_allocate_slice", [&] { return call_.nrt_tensor_allocate_slice(of, offset, bytes, "raw", &made); });
    if (made) tensors_.push_back(made);
    return made;
  }
  void write(nrt::Tensor* to, const std::vector<float>& values) {
    note("nrt_tensor_write", [&] { return call_.nrt_tensor_write(to, values.data(), 0, 4 * values.size()); });
  }
  void read(nrt::Tensor* from, std::vector<float>& values) {
    note("nrt_tensor_read", [&] { return call_.nrt_tensor_read(from, values.data(), 0, 4 * values.size()); });
  }
  nrt::Model* load(int core, const nrt::Compiled& compiled) {
    note("nrt_load", [&] { return call_.nrt_load(compiled.neff.data(), compiled.neff.size(), core, -1, &model_); });
    return model_;
  }
  nrt::TensorSet* set(const std::vector<std::pair<std::string, nrt::Tensor*>>& tensors) {
    nrt::TensorSet* made = nullptr;
    note("nrt_allocate_tensor_set", [&] { return call_.nrt_allocate_tensor_set(&made); });
    if (made) sets_.push_back(made);
    for (const auto& [name, tensor] : tensors) {
      note("nrt_add_tensor_to_tensor_set",
           [&, t = tensor, n = name] { return call_.nrt_add_tensor_to_tensor_set(made, n.c_str(), t); });
    }
    return made;
  }
  template <class F> void note(const char* function, F work) {
    if (!wrong.empty()) return;
    if (const nrt::Status status = work(); status != nrt::kSuccess) wrong = status_text(status, function);
  }

  std::string wrong;

 private:
  const nrt::Functions& call_;
  nrt::Model* model_ = nullptr;
  std::vector<nrt::Tensor*> tensors_;
  std::vector<nrt::TensorSet*> sets_;
};

std::string name_of(const nrt::Compiled& compiled, const char* tensor, bool output) {
  for (const auto& a : compiled.manifest.arguments) {
    if (a.tensor == tensor && a.output == output) return a.name;
  }
  return tensor;
}

// y = 2 x + 1 from and to these tensors.
std::string run_line(Objects& o, nrt::Core& core, const nrt::Compiled& compiled, nrt::Tensor* from, nrt::Tensor* to,
                     const std::vector<float>& x) {
  o.write(from, x);
  nrt::Model* model = o.load(core.options.core, compiled);
  nrt::TensorSet* in = o.set({{name_of(compiled, "x", false), from}});
  nrt::TensorSet* out = o.set({{name_of(compiled, "y", true), to}});
  o.note("nrt_execute", [&] { return core.runtime.call().nrt_execute(model, in, out); });
  std::vector<float> y(x.size());
  o.read(to, y);
  if (!o.wrong.empty()) return o.wrong;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (y[i] != 2 * x[i] + 1) return "wrong";
  }
  return "right";
}

}  // namespace

Raw::Raw(const Executor& executor) : executor_(executor), core_(nrt::core_of(executor)) { executor_.synchronize(); }

nrt::Compiled Raw::compile(const tile::Program& program) const { return core_.source(program); }

std::string Raw::load(std::span<const std::byte> neff) const {
  const std::scoped_lock lock(core_.slot.mutex);
  nrt::Model* model = nullptr;
  const nrt::Functions& call = core_.runtime.call();
  const nrt::Status status = call.nrt_load(neff.data(), neff.size(), core_.options.core, -1, &model);
  if (status == nrt::kSuccess) (void)call.nrt_unload(model);
  return status == nrt::kSuccess ? "loaded" : fmt::format("status {}", status);
}

std::string Raw::run_in_one(std::int64_t columns, bool same_tensor) const {
  const nrt::Compiled compiled = compile(line_program(tile::device_of(executor_).machine(), columns));
  const std::scoped_lock lock(core_.slot.mutex);
  const std::vector<float> x = line_values(128 * columns);
  const std::size_t bytes = 4 * x.size();
  Objects o(core_.runtime.call());
  nrt::Tensor* whole = o.tensor(core_.options.core, same_tensor ? bytes : bytes + bytes / 2);
  nrt::Tensor* from = same_tensor ? whole : o.slice(whole, 0, bytes);
  nrt::Tensor* to = same_tensor ? whole : o.slice(whole, bytes / 2, bytes);
  return run_line(o, core_, compiled, from, to, x);
}

std::string Raw::run_across(std::int64_t columns, const Executor& other) const {
  const nrt::Compiled compiled = compile(line_program(tile::device_of(executor_).machine(), columns));
  other.synchronize();
  const std::scoped_lock lock(core_.slot.mutex, nrt::core_of(other).slot.mutex);
  const std::vector<float> x = line_values(128 * columns);
  Objects o(core_.runtime.call());
  nrt::Tensor* from = o.tensor(nrt::core_of(other).options.core, 4 * x.size());
  nrt::Tensor* to = o.tensor(core_.options.core, 4 * x.size());
  return run_line(o, core_, compiled, from, to, x);
}

std::string Raw::run_beyond_the_limit() const {
  constexpr std::int64_t kColumns = 16384;
  constexpr double kSeconds = 5;  // by the model: in any case more than the limit
  constexpr const char* kLimit = "NEURON_RT_EXEC_TIMEOUT";
  const nrt::Compiled compiled = compile(long_program(tile::device_of(executor_).machine(), kColumns, kSeconds));
  const std::scoped_lock lock(core_.slot.mutex);
  Objects o(core_.runtime.call());
  const std::vector<float> x = line_values(128 * kColumns);
  nrt::Tensor *from = o.tensor(core_.options.core, 4 * x.size()), *to = o.tensor(core_.options.core, 4 * x.size());
  o.write(from, x);
  const std::string before = environment(kLimit, "");
  setenv(kLimit, "1", 1);  // read with every model that is loaded
  nrt::Model* model = o.load(core_.options.core, compiled);
  if (before.empty()) {
    unsetenv(kLimit);
  } else {
    setenv(kLimit, before.c_str(), 1);
  }
  nrt::TensorSet* in = o.set({{name_of(compiled, "x", false), from}});
  nrt::TensorSet* out = o.set({{name_of(compiled, "y", true), to}});
  o.note("nrt_execute", [&] { return core_.runtime.call().nrt_execute(model, in, out); });
  return o.wrong.empty() ? "over in time" : o.wrong;
}

std::string Raw::empty_tensor(bool slice) const {
  const std::scoped_lock lock(core_.slot.mutex);
  Objects o(core_.runtime.call());
  nrt::Tensor* made = o.tensor(core_.options.core, slice ? 4096 : 0);
  if (slice) (void)o.slice(made, 64, 0);
  return o.wrong.empty() ? "given" : o.wrong;
}

namespace {

// One small model with its sets, and runs of it in the runtime's queue.
struct Scheduled {
  explicit Scheduled(std::size_t most) : results(most), sequences(most) {}
  std::vector<nrt::Status> results;
  std::vector<nrt::Sequence> sequences;
  std::size_t count = 0;
};

bool is_over(const nrt::Functions& call, nrt::Sequence sequence) {
  bool over = false;
  return call.nrta_is_completed(sequence, &over) == nrt::kSuccess && over;
}

template <class F> std::string with_queue(nrt::Core& core, const nrt::Compiled& compiled, std::size_t most, F ask) {
  const nrt::Functions& call = core.runtime.call();
  if (!call.asynchronous()) return "no queue";
  const std::vector<float> x = line_values(128 * 16);
  Objects o(call);
  nrt::Tensor *from = o.tensor(core.options.core, 4 * x.size()), *to = o.tensor(core.options.core, 4 * x.size());
  o.write(from, x);
  nrt::Model* model = o.load(core.options.core, compiled);
  nrt::TensorSet* in = o.set({{name_of(compiled, "x", false), from}});
  nrt::TensorSet* out = o.set({{name_of(compiled, "y", true), to}});
  if (!o.wrong.empty()) return o.wrong;
  Scheduled runs(most);
  const auto schedule = [&] {
    const nrt::Status status =
        call.nrta_execute_schedule(model, in, out, 0, &runs.results[runs.count], &runs.sequences[runs.count]);
    runs.count += status == nrt::kSuccess;
    return status;
  };
  const std::string answer = ask(runs, schedule);
  for (std::size_t i = 0; i < runs.count; ++i) {  // nothing is given back before it is over
    for (int asked = 0; asked < 1000000 && !is_over(call, runs.sequences[i]); ++asked) std::this_thread::yield();
  }
  return answer;
}

}  // namespace

std::string Raw::queue_depth(int most) const {
  const nrt::Compiled compiled = compile(line_program(tile::device_of(executor_).machine(), 16));
  const std::scoped_lock lock(core_.slot.mutex);
  return with_queue(core_, compiled, static_cast<std::size_t>(most), [&](Scheduled& runs, const auto& schedule) {
    while (runs.count < static_cast<std::size_t>(most)) {
      const nrt::Status status = schedule();
      if (status == nrt::kQueueFull) return fmt::format("{}", runs.count);
      if (status != nrt::kSuccess) return status_text(status, "nrta_execute_schedule");
    }
    return fmt::format("over {}", most);
  });
}

std::string Raw::completion_order() const {
  const nrt::Compiled compiled = compile(line_program(tile::device_of(executor_).machine(), 16));
  const std::scoped_lock lock(core_.slot.mutex);
  constexpr std::size_t kRuns = 3;
  return with_queue(core_, compiled, kRuns, [&](Scheduled& runs, const auto& schedule) {
    const nrt::Functions& call = core_.runtime.call();
    while (runs.count < kRuns) {
      if (const nrt::Status status = schedule(); status != nrt::kSuccess) {
        return status_text(status, "nrta_execute_schedule");
      }
    }
    for (int asked = 0; asked < 1000000; ++asked) {
      for (std::size_t i = kRuns; i-- > 1;) {  // the later one is asked first: over means that the earlier is, too
        if (is_over(call, runs.sequences[i]) && !is_over(call, runs.sequences[i - 1]))
          return std::string("out of order");
      }
      if (is_over(call, runs.sequences.back())) return std::string("in order");
    }
    return std::string("not over");
  });
}

std::string Raw::two_threads() const {
  const std::scoped_lock lock(core_.slot.mutex);
  const nrt::Functions& call = core_.runtime.call();
  std::vector<std::string> wrong(2);
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < wrong.size(); ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < 50 && wrong[number].empty(); ++i) {
        Objects o(call);
        const std::vector<float> values(4096, static_cast<float>(100 * number) + static_cast<float>(i));
        std::vector<float> found(values.size());
        nrt::Tensor* tensor = o.tensor(core_.options.core, 4 * values.size());
        o.write(tensor, values);
        o.read(tensor, found);
        wrong[number] = !o.wrong.empty() ? o.wrong : found == values ? "" : "wrong";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) {
    if (!text.empty()) return text;
  }
  return "right";
}

std::string Raw::forked_child() const {
  constexpr unsigned kSeconds = 10;
  const nrt::Functions& call = core_.runtime.call();
  const int core = core_.options.core;
  const std::scoped_lock lock(core_.slot.mutex);
  const pid_t child = fork();
  if (child < 0) return "no child";
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(kSeconds);
    nrt::Tensor* tensor = nullptr;
    const nrt::Status status = call.nrt_tensor_allocate(nrt::kDeviceMemory, core, 4096, "child", &tensor);
    _exit(status == nrt::kSuccess ? 0 : status < 200 ? static_cast<int>(status) : 255);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? "hangs" : fmt::format("ended by signal {}", WTERMSIG(status));
  }
  return WEXITSTATUS(status) == 255 ? "a status above 200" : fmt::format("status {}", WEXITSTATUS(status));
}

std::string restarted_runtime() {
  const nrt::Status status = nrt::Runtime::restarted();
  return status == nrt::kSuccess ? "starts" : fmt::format("status {}", status);
}

}  // namespace trn::tools::silicon

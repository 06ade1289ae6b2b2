// What a core's runs took, and recordings of them: NeuronOptions::profile.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <trn/neuron/silicon.hpp>

#include "model.hpp"
#include "queue.hpp"

namespace trn::neuron::nrt {

// Seconds of the runs that the runtime's trace tells of, in the order in which they ended. Whatever is not such a trace
// tells of none.
[[nodiscard]] std::vector<double> trace_seconds(std::string_view json);

class Profiler {
 public:
  Profiler(Runtime& runtime, const NeuronOptions& options);

  // A run that the runtime started is over.
  void end(const Launch& launch, const std::string& program, const std::string& key);
  // Nothing is under way.
  [[nodiscard]] NeuronProfile found();

  // Where a program's recording goes; and that it is there.
  [[nodiscard]] ProgramTrace trace_of(const std::string& program, const Compiled& compiled) const;
  void keep(ProgramTrace trace) { traces_.push_back(std::move(trace)); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Run {
    std::size_t program;  // in times_
    double seconds;       // by the host's clock
  };
  // Gives the runs since the last time to their programs: the runtime's trace where it tells of exactly as many.
  void settle();
  [[nodiscard]] std::vector<double> fetch() const;

  Runtime& runtime_;
  const NeuronOptions options_;
  bool tracing_ = false;
  Clock::time_point last_over_{};
  std::vector<Run> unsettled_;
  std::vector<ProgramTime> times_;
  std::vector<ProgramTrace> traces_;
};

}  // namespace trn::neuron::nrt

// Times of stages: measured here, and modelled by a simulator that ran part of them.
#pragma once

#include <time.h>

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include <trn/core/executor.hpp>
#include <trn/mp2/df_mp2.hpp>

namespace trn::mp2 {

// "float32 tf32x3", "float64 exact", "float64".
inline std::string work_name(DType dtype, Mode mode) {
  return mode == Mode::Native ? std::string(trn::name(dtype)) : fmt::format("{} {}", trn::name(dtype), trn::name(mode));
}

class StageClock {
 public:
  StageClock(std::vector<Stage>& stages, const Executor& executor) : stages_(stages), executor_(executor) {
    if (executor.family() == Family::Device) recorder_.emplace(executor);
  }

  // Runs `work` and adds its time to the stage of that name.
  template <class Work> void run(const char* name, const std::string& precision, Work work) {
    if (recorder_) recorder_->clear();
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = process_seconds();
    work();
    Stage& stage = of(name, precision);
    stage.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (recorder_) stage.modelled_seconds += recorder_->modelled_seconds();
    stage.cpu_seconds += process_seconds() - cpu;
  }

 private:
  static double process_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  Stage& of(const char* name, const std::string& precision) {
    for (Stage& s : stages_) {
      if (s.name == name) return s;
    }
    stages_.push_back({name, executor_.name(), precision, 0, 0, 0});
    return stages_.back();
  }

  std::vector<Stage>& stages_;
  Executor executor_;
  std::optional<Recorder> recorder_;  // the host has no modelled time, and the events of its many copies take memory
};

}  // namespace trn::mp2

// Operations with one program and one product rate: the benchmark that they share. A simulator's row is modelled alone
// with --model-only; otherwise the call runs, is seen to run on the executor's family, and its error stands beside its
// bound.
#pragma once

#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "host_peak.hpp"
#include "measure.hpp"
#include "operation.hpp"

namespace trn::tools {

class ProgramBench : public Operation {
 public:
  BenchRow bench(const std::string& executor_name, const BenchOptions& options) const override {
    const Executor executor = Executor::open(executor_name);
    const bool simulated = executor.family() == Family::Device;
    require(simulated || !options.model_only, "bench: --model-only is for simulators; executor '{}' has no model",
            executor.name());
    BenchRow r;
    r.op = name();
    r.executor = executor.name();
    r.dtype = trn::name(dtype());
    r.precision = precision(executor);
    r.shape = extents();
    if (simulated && options.model_only) {
      const tile::Machine& machine = tile::device_of(executor).machine();
      r.modelled_seconds = neuron::estimate(program(machine), machine).seconds;
    } else {
      Recorder recorder(executor);
      const Measured measured = run(executor, options.repeats, r);
      ensure(recorder.family_of(name()) == trn::name(executor.family()), "{} did not run on {}", name(), executor_name);
      r.seconds = measured.fastest_s;
      r.modelled_seconds = modelled_time(executor, recorder);
    }
    const double rate = flops() / (r.modelled_seconds ? *r.modelled_seconds : *r.seconds);
    r.rate = rate * 1e-9;
    r.roof_fraction = rate / (simulated                   ? device_peak(tile::device_of(executor).machine())
                              : dtype() == DType::Float64 ? host_peak().fp64_flops
                                                          : host_peak().fp32_flops);
    return r;
  }

 protected:
  [[nodiscard]] virtual DType dtype() const { return DType::Float32; }
  [[nodiscard]] virtual std::string precision(const Executor&) const { return "native"; }
  [[nodiscard]] virtual double device_peak(const tile::Machine& machine) const {
    return machine.tensor_flops(DType::Float32);
  }
  [[nodiscard]] virtual BenchShape extents() const = 0;
  [[nodiscard]] virtual double flops() const = 0;
  // Runs the operation; the row gets its error and bound.
  [[nodiscard]] virtual Measured run(const Executor& executor, int repeats, BenchRow& row) const = 0;
};

}  // namespace trn::tools

// Operations with one program and one product rate: the benchmark that they share. A simulator's row is modelled alone
// with --model-only; otherwise the call runs, is seen to run on the executor's family, and its error stands beside its
// bound.
#pragma once

#include <trn/core/error.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "roofs.hpp"

namespace trn::tools {

class ProgramBench : public Operation {
 protected:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    r.dtype = trn::name(dtype());
    r.precision = precision(executor);
    r.shape = extents();
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
    } else {
      Recorder recorder(executor);
      const Measured measured = run(executor, options.repeats, r);
      ensure(recorder.family_of(name()) == trn::name(executor.family()), "{} did not run on {}", name(),
             executor.name());
      r.seconds = measured.fastest_s;
      r.modelled_seconds = modelled_time(executor, recorder);
    }
    r.work = work();
    r.roof =
        executor.family() == Family::Device ? device_peak(tile::device_of(executor).machine()) : host_peak(dtype());
  }

  [[nodiscard]] virtual DType dtype() const { return DType::Float32; }
  [[nodiscard]] virtual std::string precision(const Executor&) const { return "native"; }
  [[nodiscard]] virtual double device_peak(const tile::Machine& machine) const {
    return machine.tensor_flops(DType::Float32);
  }
  [[nodiscard]] virtual BenchShape extents() const = 0;
  [[nodiscard]] virtual double work() const = 0;  // as the library counts it
  // Runs the operation; the row gets its error and bound.
  [[nodiscard]] virtual Measured run(const Executor& executor, int repeats, BenchRow& row) const = 0;
};

}  // namespace trn::tools

// tensor.einsum, tensor.permute and tensor.reduce for `trnsci bench`.
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tensor/elementwise.hpp>
#include <trn/tensor/plan_program.hpp>
#include <trn/tile/device.hpp>

#include "einsum_case.hpp"
#include "host_peak.hpp"
#include "measure.hpp"
#include "operation.hpp"

namespace trn::tools {

namespace {

class TensorOperation : public Operation {
 public:
  TensorOperation(std::string name, std::string summary, std::string text, std::vector<std::string> sizes)
      : name_(std::move(name)), summary_(std::move(summary)) {
    what_.text = std::move(text);
    for (const std::string& s : sizes) list_ += (list_.empty() ? "" : ",") + s;
  }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string summary() const override { return summary_; }
  void add_options(Options& options) override {
    options.text("--expression", what_.text, "labels of the operands and the result");
    options.text("--sizes", list_, "extents by label");
    options.text("--dtype", what_.dtype, "of operands and result");
    if (name_ == "tensor.einsum") options.text("--precision", what_.precision, "a mode, or target=1e-6");
  }
  [[nodiscard]] tile::Program program(const tile::Machine& machine) const override {
    const Executor executor = Executor::open(fmt::format("sim:{}", machine.name));
    const EinsumOperands o(executor, listed());
    return tensor::plan_program(tensor::Plan(executor, o.description()));  // sums and permutations are einsums too
  }
  [[nodiscard]] std::string error_note() const override { return "bound: relative to the einsum of absolute values"; }

  [[nodiscard]] BenchRow bench(const std::string& executor_name, const BenchOptions& options) const override {
    const Executor executor = Executor::open(executor_name);
    const bool device = executor.family() == Family::Device;
    require(device || !options.model_only, "bench: --model-only is for simulators; executor '{}' has no model",
            executor.name());
    const EinsumCase what = listed();
    const EinsumOperands o(executor, what);
    const Clock clock = options.cpu_time ? Clock::Processor : Clock::Wall;
    BenchRow r;
    r.op = name(), r.executor = executor.name(), r.dtype = trn::name(parse_dtype(what.dtype));
    r.precision = name_ == "tensor.einsum" ? what.precision : "native";
    r.shape = {{"expression", tensor::to_string(o.description().expression)}, {"sizes", list_}};
    double bytes = 0;
    for (const tensor::TypedView& v : o.operands())
      bytes += static_cast<double>(byte_count(v.shape, size_bytes(v.dtype)));
    bytes += static_cast<double>(byte_count(o.output().shape, size_bytes(o.output().dtype)));
    if (options.model_only) {
      const tensor::Plan plan(executor, o.description());
      const tile::Machine& machine = tile::device_of(executor).machine();
      const neuron::RunReport report = neuron::estimate(tensor::plan_program(plan), machine);
      r.bound = plan.accuracy().bound;
      r.note = plan.explain();
      return on_device(r, executor, plan.flops(), bytes, report.seconds);
    }
    const Recorder recorder(executor);
    if (name_ == "tensor.einsum") {
      const tensor::Plan plan(executor, o.description());
      const Buffer workspace(executor, plan.workspace_bytes());
      r.seconds =
          measure(
              executor, options.repeats,
              [&] { r.bound = plan.execute(o.operands(), o.output(), {}, nullptr, workspace).accuracy.bound; }, clock)
              .fastest_s;
      r.note = plan.explain();
      if (device) return on_device(r, executor, plan.flops(), bytes, modelled_time(executor, recorder));
      r.rate = plan.flops() / *r.seconds * 1e-9;
      const bool wide = real_of(parse_dtype(what.dtype)) == DType::Float64;
      r.roof_fraction = r.rate * 1e9 / (wide ? host_peak().fp64_flops : host_peak().fp32_flops);
    } else {
      require(o.operands().size() == 1, "bench: {} takes one operand", name());
      r.seconds = measure(
                      executor, options.repeats,
                      [&] {
                        if (name_ == "tensor.permute") {
                          tensor::permute(executor, what.text, o.operands()[0], o.output());
                        } else {
                          tensor::reduce(executor, tensor::Binary::Add, what.text, o.operands()[0], o.output());
                        }
                      },
                      clock)
                      .fastest_s;
    }
    if (device) return on_device(r, executor, 0, bytes, modelled_time(executor, recorder));
    r.gbytes = bytes / *r.seconds * 1e-9;
    return r;
  }

 private:
  [[nodiscard]] EinsumCase listed() const {
    EinsumCase what = what_;
    for (std::size_t from = 0; from <= list_.size();) {
      const std::size_t to = std::min(list_.find(',', from), list_.size());
      what.sizes.push_back(list_.substr(from, to - from));
      from = to + 1;
    }
    return what;
  }
  BenchRow on_device(BenchRow r, const Executor& executor, double flops, double bytes,
                     std::optional<double> modelled) const {
    const tile::Machine& machine = tile::device_of(executor).machine();
    r.modelled_seconds = modelled;
    const double seconds = modelled ? *modelled : *r.seconds;
    if (!(seconds > 0)) return r;  // an empty extent leaves nothing to do: no rates
    r.rate = flops / seconds * 1e-9;
    r.gbytes = bytes / seconds * 1e-9;
    if (name_ == "tensor.einsum")
      r.roof_fraction = flops / seconds / machine.tensor_flops(DType::Float32);
    else
      r.roof_fraction = bytes / seconds / machine.dma_bytes_per_s();
    return r;
  }

  std::string name_, summary_, list_;
  EinsumCase what_;
};

}  // namespace

std::vector<std::unique_ptr<Operation>> tensor_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  all.push_back(
      std::make_unique<TensorOperation>("tensor.einsum", "a product of tensors, summed over labels", "aebf,dfce->abcd",
                                        std::vector<std::string>{"a=32", "b=32", "c=32", "d=32", "e=32", "f=32"}));
  all.push_back(std::make_unique<TensorOperation>("tensor.permute", "axes in another order", "abc->cba",
                                                  std::vector<std::string>{"a=256", "b=256", "c=256"}));
  all.push_back(std::make_unique<TensorOperation>("tensor.reduce", "sums over labels", "abc->b",
                                                  std::vector<std::string>{"a=256", "b=256", "c=256"}));
  return all;
}

}  // namespace trn::tools

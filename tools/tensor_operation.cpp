// tensor.einsum, tensor.permute and tensor.reduce for `trnsci bench`.
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/tensor/counts.hpp>
#include <trn/tensor/elementwise.hpp>
#include <trn/tensor/plan_program.hpp>
#include <trn/tile/device.hpp>

#include "einsum_case.hpp"
#include "measure.hpp"
#include "operation.hpp"
#include "roofs.hpp"

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
    options.text("--dtype", what_.dtype, "of operands and result")
        .completes({"fp32", "fp64", "complex64", "complex128", "bf16", "fp16"});
    if (einsum()) options.text("--precision", what_.precision, "a mode, or target=1e-6").completes(precision_words());
  }
  [[nodiscard]] tile::Program program(const tile::Machine& machine) const override {
    const Executor executor = Executor::open(fmt::format("sim:{}", machine.name));
    const EinsumOperands o(executor, listed());
    return tensor::plan_program(tensor::Plan(executor, o.description()));  // sums and permutations are einsums too
  }
  [[nodiscard]] std::string rate_unit() const override { return einsum() ? "GFLOP/s" : "GB/s"; }
  [[nodiscard]] std::string error_note() const override { return "bound: relative to the einsum of absolute values"; }

 private:
  [[nodiscard]] bool einsum() const { return name_ == "tensor.einsum"; }

  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    const EinsumCase what = listed();
    const EinsumOperands o(executor, what);
    const DType dtype = parse_dtype(what.dtype);
    r.dtype = trn::name(dtype);
    if (einsum()) r.precision = what.precision;
    r.shape = {{"expression", tensor::to_string(o.description().expression)}, {"sizes", list_}};
    const double bytes = tensor::counts::bytes(o.operands(), o.output());
    const Recorder recorder(executor);
    if (einsum()) {
      const tensor::Plan plan(executor, o.description());
      r.work = plan.flops(), r.bytes = bytes, r.roof = flop_roof(executor, dtype);
      r.bound = plan.accuracy().bound;
      r.note = plan.explain();
      if (!options.model_only) {
        const Buffer workspace(executor, plan.workspace_bytes());
        r.seconds = seconds(executor, options, [&] {
          r.bound = plan.execute(o.operands(), o.output(), {}, nullptr, workspace).accuracy.bound;
        });
      }
    } else {
      require(o.operands().size() == 1, "bench: {} takes one operand", name());
      r.work = bytes, r.roof = byte_roof(executor);
      if (!options.model_only) {
        r.seconds = seconds(executor, options, [&] {
          if (name_ == "tensor.permute") {
            tensor::permute(executor, what.text, o.operands()[0], o.output());
          } else {
            tensor::reduce(executor, tensor::Binary::Add, what.text, o.operands()[0], o.output());
          }
        });
      }
    }
    r.modelled_seconds = options.model_only ? modelled_call(*this, tile::device_of(executor).machine())
                                            : modelled_time(executor, recorder);
  }
  template <class F> static double seconds(const Executor& executor, const BenchOptions& options, const F& call) {
    return measure(executor, options.repeats, call, options.cpu_time ? Clock::Processor : Clock::Wall).fastest_s;
  }
  [[nodiscard]] EinsumCase listed() const {
    EinsumCase what = what_;
    for (std::size_t from = 0; from <= list_.size();) {
      const std::size_t to = std::min(list_.find(',', from), list_.size());
      what.sizes.push_back(list_.substr(from, to - from));
      from = to + 1;
    }
    return what;
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

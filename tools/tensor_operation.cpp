// tensor.einsum, tensor.permute and tensor.reduce for `trnsci bench`.
#include <cblas.h>

#include <algorithm>
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
    if (einsum())
      options.text("--operators", what_.operators, "functions of the operands, then of the result: exp,identity,relu");
    if (einsum()) options.text("--precision", what_.precision, "a mode, or target=1e-6").completes(precision_words());
  }
  [[nodiscard]] tile::Program program(const tile::Machine& machine) const override {
    const Executor executor = Executor::open(fmt::format("sim:{}", machine.name));
    const EinsumOperands o(executor, listed());
    return tensor::plan_program(tensor::Plan(executor, o.description()));  // sums and permutations are einsums too
  }
  [[nodiscard]] std::string rate_unit() const override { return einsum() ? "GFLOP/s" : "GB/s"; }
  [[nodiscard]] std::string peer_note() const override {
    return einsum() ? "OpenBLAS: gemm with the same extents, its axes in order already" : "";
  }
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
    if (!what.operators.empty()) r.shape.emplace_back("operators", what.operators);
    const double bytes = tensor::counts::bytes(o.operands(), o.output());
    const Recorder recorder(executor);
    if (einsum()) {
      const tensor::Plan plan(executor, o.description());
      r.work = plan.flops(), r.bytes = bytes,
      r.roof = flop_roof(executor, dtype, plan.accuracy().mode, plan.accuracy().passes);
      r.bound = plan.accuracy().bound;
      r.note = plan.explain();
      if (!options.model_only) {
        const Buffer workspace(executor, plan.workspace_bytes());
        r.seconds = seconds(executor, options, [&] {
          r.bound = plan.execute(o.operands(), o.output(), {}, nullptr, workspace).accuracy.bound;
        });
        if (executor.family() == Family::Host) r.peer_seconds = peer_seconds(o, options);
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
  // OpenBLAS's gemm with the extents of an einsum of two operands that is one product: the labels that the result keeps
  // of either, and those that are summed. What it would take to put the axes in order is not in it.
  static std::optional<double> peer_seconds(const EinsumOperands& o, const BenchOptions& options) {
    const tensor::Expression& e = o.description().expression;
    const DType dtype = o.operands().front().dtype;
    if (e.inputs.size() != 2 || (dtype != DType::Float32 && dtype != DType::Float64)) return std::nullopt;
    const auto has = [](const std::vector<tensor::Label>& labels, tensor::Label label) {
      return std::count(labels.begin(), labels.end(), label);
    };
    std::int64_t extent[2] = {1, 1}, k = 1;
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t d = 0; d < e.inputs[i].size(); ++d) {
        const tensor::Label label = e.inputs[i][d];
        const bool other = has(e.inputs[1 - i], label) == 1, kept = has(e.output, label) == 1;
        if (has(e.inputs[i], label) != 1 || other == kept) return std::nullopt;  // a diagonal, a batch or a sum
        (kept ? extent[i] : k) *= i == 1 && !kept ? 1 : o.operands()[i].shape[d];
      }
    }
    const auto product = [&](auto type, auto gemm) {
      using T = decltype(type);
      std::vector<T> c(static_cast<std::size_t>(extent[0] * extent[1]));
      const int m = static_cast<int>(extent[0]), n = static_cast<int>(extent[1]), inner = static_cast<int>(k);
      return measure(
                 options.repeats,
                 [&] {
                   gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, inner, T(1),
                        static_cast<const T*>(o.operands()[0].data), inner, static_cast<const T*>(o.operands()[1].data),
                        n, T(0), c.data(), n);
                 },
                 options.cpu_time ? Clock::Processor : Clock::Wall)
          .fastest_s;
    };
    return dtype == DType::Float32 ? product(float{}, cblas_sgemm) : product(double{}, cblas_dgemm);
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

// The calls that make a plan and execute it.
#include <trn/tensor/einsum.hpp>

#include <trn/core/error.hpp>

namespace trn::tensor {

namespace {

Expression parsed(std::string_view text, std::span<const TypedView> operands) {
  std::vector<std::int64_t> ranks;
  for (const TypedView& v : operands) ranks.push_back(static_cast<std::int64_t>(v.shape.size()));
  return parse(text, ranks);
}

Accuracy run(const Executor& executor, std::string_view text, Scalars scalars, std::span<const TypedView> operands,
             const TypedView* c, const TypedView& d, const EinsumOptions& options) {
  Description what;
  what.expression = parsed(text, operands);
  require(options.operators.empty() || options.operators.size() == operands.size(),
          "tensor.einsum: {} operators for {} operands; give one each, or none", options.operators.size(),
          operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    what.operands.push_back(
        operand_of(operands[i], options.operators.empty() ? Unary::Identity : options.operators[i]));
  }
  what.output = operand_of(d);
  if (c) what.c = operand_of(*c);
  what.precision = options.precision;
  what.path = options.path;
  what.memory_bytes = options.memory_bytes;
  const Plan plan = options.cache ? options.cache->get(executor, what) : Plan(executor, what);
  // Before D is written: C may be D.
  if (options.componentwise) componentwise_bound(plan, operands, scalars, c, *options.componentwise);
  const EinsumResult result =
      options.measured ? plan.measure(operands, d, scalars, c) : plan.execute(operands, d, scalars, c);
  const Accuracy kept = result.accuracy;
  if (options.measured) *options.measured = *result.measured;
  // A target may have taken another mode than the plan's, or have counted underflow.
  if (options.componentwise && kept.bound > plan.accuracy().bound) {
    Array<double> bounds(Executor::host(), options.componentwise->shape());
    copy(View<const double>(*options.componentwise), bounds.view());
    for (std::int64_t i = 0; i < bounds.size(); ++i) bounds.data()[i] *= kept.bound / plan.accuracy().bound;
    copy(View<const double>(bounds.view()), *options.componentwise);
  }
  if (options.componentwise && kept.mode == Mode::Exact && plan.accuracy().mode != Mode::Exact)
    fail<NotImplemented>(
        "tensor.einsum: the target took Exact, which bounds norms, not elements; leave the componentwise bound out. D "
        "was written");
  return kept;
}

}  // namespace

Accuracy einsum(const Executor& executor, std::string_view text, std::complex<double> alpha,
                std::span<const TypedView> operands, std::complex<double> beta, const TypedView& c, const TypedView& d,
                const EinsumOptions& options) {
  return run(executor, text, {alpha, beta}, operands, &c, d, options);
}
Accuracy einsum(const Executor& executor, std::string_view text, std::span<const TypedView> operands,
                const TypedView& d, const EinsumOptions& options) {
  return run(executor, text, {}, operands, nullptr, d, options);
}

Shape einsum_shape(std::string_view text, std::span<const TypedView> operands) {
  const Expression e = parsed(text, operands);
  std::vector<Shape> shapes;
  for (const TypedView& v : operands) shapes.push_back(v.shape);
  const Sizes sizes = sizes_of(e, shapes);
  Shape shape;
  for (const Label l : e.output) shape.push_back(sizes[static_cast<std::size_t>(l)]);
  return shape;
}

}  // namespace trn::tensor

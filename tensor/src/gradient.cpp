// Gradients of an einsum: einsums again. A label that only operand i has is repeated over its extent by an operand of
// ones with stride 0; a diagonal of operand i is a view of the result whose strides are added.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tensor/einsum.hpp>

#include "kernels.hpp"

namespace trn::tensor {

namespace {

// result = 0 everywhere.
void clear(const Executor& executor, const TypedView& result) {
  host::PointwiseArgs zero{compute_type(std::span(&result.dtype, 1)), result.dtype, 1, {result.dtype}, {}};
  for (std::size_t i = 0; i < result.shape.size(); ++i)
    zero.group.push_back({result.shape[i], 0, 0, 0, result.strides[i]});
  sort_and_merge(zero.group, &FoldedIndex::d);
  dispatch(kPointwise, executor, {zero, {{nullptr}, {0, 0, 0}, result.data, 1}});
}

}  // namespace

Accuracy einsum_gradient(const Executor& executor, std::string_view text, std::span<const TypedView> operands,
                         std::size_t i, const TypedView& adjoint, const TypedView& result,
                         const EinsumOptions& options) {
  std::vector<std::int64_t> ranks;
  std::vector<Shape> shapes;
  for (const TypedView& v : operands) {
    ranks.push_back(static_cast<std::int64_t>(v.shape.size()));
    shapes.push_back(v.shape);
  }
  const Expression forward = parse(text, ranks);
  const Sizes sizes = sizes_of(forward, shapes);
  require(i < operands.size(), "tensor.einsum_gradient: operand {} of {}", i + 1, operands.size());
  require(result.shape == operands[i].shape, "tensor.einsum_gradient: the result has shape {}, operand {} has {}",
          trn::to_string(result.shape), i + 1, trn::to_string(operands[i].shape));
  require(options.operators.empty() && !options.componentwise,
          "tensor.einsum_gradient: operators and componentwise bounds are not part of a gradient");
  // The distinct labels of operand i and the strides of the result along them. Axes of extent 1 whose label is longer
  // are sums over that label: left out here.
  Description d;
  d.expression.names = forward.names;
  Operand out{{}, {}, result.dtype};
  bool diagonal = false;
  for (std::size_t a = 0; a < shapes[i].size(); ++a) {
    const Label l = forward.inputs[i][a];
    if (shapes[i][a] == 1 && sizes[static_cast<std::size_t>(l)] != 1) continue;
    const auto at = std::find(d.expression.output.begin(), d.expression.output.end(), l);
    if (at != d.expression.output.end()) {
      out.strides[static_cast<std::size_t>(at - d.expression.output.begin())] += result.strides[a];
      diagonal = diagonal || shapes[i][a] > 1;
      continue;
    }
    d.expression.output.push_back(l);
    out.shape.push_back(shapes[i][a]);
    out.strides.push_back(result.strides[a]);
  }
  std::vector<TypedView> views;
  const auto add = [&](const std::vector<Label>& labels, const TypedView& view, Unary op) {
    d.expression.inputs.push_back(labels);
    d.operands.push_back(operand_of(view, op));
    views.push_back(view);
  };
  add(forward.output, adjoint, Unary::Identity);
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (o != i) add(forward.inputs[o], operands[o], Unary::Conj);
  }
  // Labels that nobody else has, or has at full length.
  const Array<float> one = Array<float>::from_host(executor, {1}, std::vector<float>{1});
  for (const Label l : d.expression.output) {
    bool found = sizes[static_cast<std::size_t>(l)] == 1;
    for (std::size_t o = 0; o < views.size(); ++o) {
      for (std::size_t a = 0; a < views[o].shape.size(); ++a)
        found = found || (d.expression.inputs[o][a] == l && views[o].shape[a] == sizes[static_cast<std::size_t>(l)]);
    }
    if (!found) {
      add({l}, TypedView(executor, DType::Float32, one.data(), {sizes[static_cast<std::size_t>(l)]}, {0}),
          Unary::Identity);
    }
  }
  if (diagonal) clear(executor, result);
  d.output = out;
  d.precision = options.precision;
  d.path = options.path;
  d.memory_bytes = options.memory_bytes;
  const Plan plan = options.cache ? options.cache->get(executor, d) : Plan(executor, d);
  return plan.execute(views, TypedView(result.executor, result.dtype, result.data, out.shape, out.strides)).accuracy;
}

}  // namespace trn::tensor

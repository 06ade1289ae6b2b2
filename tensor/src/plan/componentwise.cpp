// A bound for every element: the einsum of absolute values in double, times the plan's bound.
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/tensor/plan.hpp>

#include "kernels.hpp"
#include "measured.hpp"
#include "target.hpp"

namespace trn::tensor {

Array<double> magnitudes(const TypedView& view, Unary op) {
  const Executor host = Executor::host();
  TypedView v = view;
  const bool there = !(view.executor == host);
  const Buffer here(host, there ? byte_count(view.shape, size_bytes(view.dtype)) : 0);
  if (there) {
    v = TypedView(host, view.dtype, here.data(), view.shape);
    trn::detail::copy_elements({&view.executor, view.data, &view.shape, &view.strides},
                               {&host, v.data, &v.shape, &v.strides}, size_bytes(view.dtype));
  }
  Array<double> result(host, v.shape);
  const bool complex = is_complex(v.dtype);
  host::PointwiseArgs work{
      complex ? DType::Complex128 : DType::Float64, complex ? DType::Complex128 : DType::Float64, 1, {v.dtype}, {}};
  work.ops[0] = op;
  work.result = Unary::Abs;
  const Strides to = row_major_strides(v.shape);
  for (std::size_t i = 0; i < v.shape.size(); ++i) work.group.push_back({v.shape[i], v.strides[i], 0, 0, to[i]});
  sort_and_merge(work.group, &FoldedIndex::d);
  if (!complex) {
    host::pointwise(work, {{v.data}, {1, 1, 1}, result.data(), 1});
    return result;
  }
  const Array<std::complex<double>> wide(Executor::host(), v.shape);
  host::pointwise(work, {{v.data}, {1, 1, 1}, wide.data(), 1});
  for (std::int64_t i = 0; i < wide.size(); ++i) result.data()[i] = wide.data()[i].real();
  return result;
}

void componentwise_bound(const Plan& plan, std::span<const TypedView> operands, Scalars scalars, const TypedView* c,
                         const View<double>& out) {
  const Operand& to = plan.description().output;
  if (!keeps_distance(to.op, to.dtype))
    fail<NotImplemented>(
        "tensor.einsum: operator {} of the result may enlarge errors; leave the componentwise bound "
        "out, or compute the einsum without it",
        name(to.op));
  argument_bound(plan, operands, scalars, c, out);
}

void argument_bound(const Plan& plan, std::span<const TypedView> operands, Scalars scalars, const TypedView* c,
                    const View<double>& out) {
  const Description& d = plan.description();
  require(out.executor() == Executor::host() && out.shape() == d.output.shape,
          "tensor.einsum: the componentwise bound has shape {} on '{}', D has shape {}; give it D's shape, on the host",
          trn::to_string(out.shape()), out.executor().name(), trn::to_string(d.output.shape));
  if (plan.accuracy().mode == Mode::Exact)
    fail<NotImplemented>("tensor.einsum: Exact bounds norms, not elements; leave the componentwise bound out");
  Description absolute;
  absolute.expression = d.expression;
  absolute.path = d.path;
  std::vector<Array<double>> values;
  std::vector<TypedView> views;
  std::size_t next = 0;
  for (const Operand& o : d.operands) {
    require(!o.constant, "tensor.einsum: componentwise bounds of plans with constants are not offered");
    values.push_back(magnitudes(operands[next++], o.op));
    views.emplace_back(values.back().view());
    absolute.operands.push_back(operand_of(views.back()));
  }
  absolute.output = operand_of(out);
  const Plan whole(Executor::host(), absolute);
  // Nothing cancels: the computed value is below the true one by at most its own bound.
  const double alpha = scalars.alpha == std::complex<double>(0) ? 0 : std::abs(scalars.alpha);
  const double up = plan.accuracy().bound / (1 - 2 * whole.accuracy().bound) * (1 + 0x1p-40);
  const TypedView to(out);
  double beta = 0;
  if (scalars.beta != std::complex<double>(0)) {
    const TypedView* from = c;
    require(from != nullptr, "tensor.einsum: beta is not 0; give C for the componentwise bound");
    const Array<double> size = magnitudes(*from, d.c ? d.c->op : Unary::Identity);
    copy(View<const double>(size.view()), out);
    beta = std::abs(scalars.beta) * up;
  }
  whole.execute(views, to, {alpha * up, beta});
}

}  // namespace trn::tensor

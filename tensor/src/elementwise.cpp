// Entry points of permutations, elementwise operations and reductions: checks, strides by label, dispatch.
#include <trn/tensor/elementwise.hpp>

#include <fmt/core.h>

#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>
#include <trn/core/parallel.hpp>
#include <trn/tensor/expression.hpp>

#include "caret.hpp"
#include "checks.hpp"
#include "host/runs.hpp"
#include "kernels.hpp"

namespace trn::tensor {

namespace {

// Expression, extents and operands of a call, checked.
struct Call {
  const char* operation;
  Expression e;
  Sizes sizes;
  std::span<const TypedView> operands;

  Call(const char* name_of, std::string_view text, std::span<const TypedView> views)
      : operation(name_of), operands(views) {
    std::vector<std::int64_t> ranks;
    std::vector<Shape> shapes;
    for (const TypedView& v : views) {
      ranks.push_back(static_cast<std::int64_t>(v.shape.size()));
      shapes.push_back(v.shape);
    }
    e = parse(text, ranks);
    sizes = sizes_of(e, shapes);
  }
  [[nodiscard]] Shape shape() const {
    Shape result;
    for (const Label l : e.output) result.push_back(sizes[static_cast<std::size_t>(l)]);
    return result;
  }
  void check(const Executor& executor, const TypedView& d, const Shape& expected, std::span<const Unary> unary) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const TypedView& v = operands[i];
      const std::string who = fmt::format("operand {}", i + 1);
      checks::operand(operation, who, v.shape, v.strides, v.dtype, i < unary.size() ? unary[i] : Unary::Identity);
      operands::check_owner(operation, who.c_str(), executor, v.executor);
      operands::check_address(operation, who.c_str(), v.data, element_count(v.shape) == 0);
    }
    checks::operand(operation, "D", d.shape, d.strides, d.dtype, Unary::Identity);
    operands::check_owner(operation, "D", executor, d.executor);
    operands::check_address(operation, "D", d.data, element_count(d.shape) == 0);
    require(d.shape == expected, "{}: D has shape {}, the result has {}{}", operation, trn::to_string(d.shape),
            trn::to_string(expected), with_carets(e, {}));
    checks::distinct(operation, "D", d.shape, d.strides);
    for (const TypedView& v : operands) {
      require(is_complex(d.dtype) || !is_complex(v.dtype), "{}: an operand is complex and D is {}", operation,
              name(d.dtype));
    }
  }
  void check_apart(std::size_t i, const TypedView& d) const {
    checks::apart(operation, "operand", operands[i], "D", d, i + 1);
  }
  [[nodiscard]] DType compute(const TypedView& d) const {
    std::vector<DType> types = {d.dtype};
    for (const TypedView& v : operands) types.push_back(v.dtype);
    return compute_type(types);
  }
  [[nodiscard]] FoldOperand fold_of(std::size_t i) const {
    return {e.inputs[i], operands[i].shape, operands[i].strides};
  }
  // Every label of an operand is the result's.
  void check_kept() const {
    for (std::size_t i = 0; i < e.inputs.size(); ++i) {
      for (std::size_t a = 0; a < e.inputs[i].size(); ++a) {
        const Label l = e.inputs[i][a];
        require(std::find(e.output.begin(), e.output.end(), l) != e.output.end(),
                "{}: label '{}' of operand {} is not in the result; use reduce to sum over it{}", operation,
                e.names[static_cast<std::size_t>(l)], i + 1, with_carets(e, {{i, a}}));
      }
    }
  }
};

// The strides of the labels of D in every operand.
Group joined(const Call& call, const Shape& shape, const Strides& strides) {
  Group group;
  for (std::size_t i = 0; i < call.e.output.size(); ++i) {
    if (shape[i] == 1) continue;
    FoldedIndex index{shape[i], 0, 0, 0, strides[i]};
    std::int64_t* const to[3] = {&index.a, &index.b, &index.c};
    for (std::size_t o = 0; o < call.operands.size(); ++o) {
      for (std::size_t a = 0; a < call.e.inputs[o].size(); ++a) {
        if (call.e.inputs[o][a] == call.e.output[i] && call.operands[o].shape[a] != 1)
          *to[o] += call.operands[o].strides[a];
      }
    }
    group.push_back(index);
  }
  sort_and_merge(group, &FoldedIndex::d);
  return group;
}

}  // namespace

void detail::add_padding(Shape& shape, std::span<const std::int64_t> padding) {
  for (std::size_t i = 0; i < padding.size() && i < shape.size(); ++i) {
    require(padding[i] >= 0, "tensor.permute: a padding of {}; paddings are >= 0", padding[i]);
    require(!__builtin_add_overflow(shape[i], padding[i], &shape[i]),
            "tensor.permute: axis {} with a padding of {} is longer than 64 bits count", i + 1, padding[i]);
  }
}

Shape detail::result_shape(const char* operation, std::string_view text, std::span<const TypedView> operands) {
  return Call(operation, text, operands).shape();
}

void permute(const Executor& executor, std::string_view text, const TypedView& a, const TypedView& d,
             const PermuteOptions& options) {
  const Call call("tensor.permute", text, std::span(&a, 1));
  call.check_kept();
  const Shape inner = call.shape();
  Shape expected = inner;
  std::int64_t offset = 0;
  bool pads = false;
  for (const auto* list : {&options.pad_left, &options.pad_right}) {
    require(list->empty() || list->size() == inner.size(),
            "tensor.permute: {} paddings for rank {}; give one per axis of the result, or none", list->size(),
            inner.size());
    detail::add_padding(expected, *list);
    pads = pads || std::any_of(list->begin(), list->end(), [](std::int64_t p) { return p > 0; });
  }
  call.check(executor, d, expected, std::span(&options.unary, 1));
  call.check_apart(0, d);
  // D is as expected: its offsets are addresses.
  for (std::size_t i = 0; i < options.pad_left.size(); ++i) offset += options.pad_left[i] * d.strides[i];
  const int threads = loop_threads();
  const DType compute = call.compute(d);
  if (pads) {
    host::PointwiseArgs fill{compute, d.dtype, 1, {compute}, {}};
    for (std::size_t i = 0; i < d.shape.size(); ++i) {
      if (d.shape[i] != 1) fill.group.push_back({d.shape[i], 0, 0, 0, d.strides[i]});
    }
    sort_and_merge(fill.group, &FoldedIndex::d);
    alignas(16) std::byte value[16];
    const double parts[2] = {options.pad_value.real(), options.pad_value.imag()};
    host::with_compute(compute, [&]<class C>() {
      if constexpr (std::is_floating_point_v<C>) {
        *reinterpret_cast<C*>(value) = static_cast<C>(parts[0]);
      } else {
        *reinterpret_cast<C*>(value) = C(std::complex<double>(parts[0], parts[1]));
      }
    });
    // A device reads the value from its own memory.
    const bool device = executor.family() == Family::Device;
    const Buffer there(executor, device ? static_cast<std::int64_t>(sizeof(value)) : 0);
    if (device) copy_bytes(Executor::host(), value, executor, there.data(), sizeof(value));
    const void* from = device ? there.data() : value;
    dispatch(kPointwise, executor, {fill, {{from}, {1, 1, 1}, d.data, threads}});
  }
  void* to = static_cast<std::byte*>(d.data) + offset * size_bytes(d.dtype);
  const Group group = joined(call, inner, d.strides);
  if (a.dtype == d.dtype && options.unary == Unary::Identity && options.alpha == std::complex<double>(1)) {
    dispatch(kPermute, executor, {a.dtype, group, a.data, to, threads});
    return;
  }
  require(is_complex(compute) || options.alpha.imag() == 0,
          "tensor.permute: alpha is complex and the tensors are real");
  host::PointwiseArgs work{compute, d.dtype, 1, {a.dtype}, {options.unary}};
  work.group = group;
  dispatch(kPointwise, executor, {work, {{a.data}, {options.alpha, 1, 1}, to, threads}});
}

void elementwise(const Executor& executor, std::string_view text, Binary op, std::span<const TypedView> operands,
                 const TypedView& d, const ElementwiseOptions& options) {
  constexpr const char* operation = "tensor.elementwise";
  const Call call(operation, text, operands);
  require(operands.size() <= 3, "{}: {} operands; there are one to three", operation, operands.size());
  require(options.unary.empty() || options.unary.size() == operands.size(), "{}: {} operators for {} operands",
          operation, options.unary.size(), operands.size());
  require(options.scale.empty() || options.scale.size() == operands.size(), "{}: {} scales for {} operands", operation,
          options.scale.size(), operands.size());
  call.check_kept();
  call.check(executor, d, call.shape(), options.unary);
  const DType compute = call.compute(d);
  const bool ordered = [&] {
    const auto is = [](Binary b) { return b == Binary::Max || b == Binary::Min; };
    return (operands.size() > 1 && is(op)) || (operands.size() > 2 && is(options.second));
  }();
  if (is_complex(compute) && (ordered || !has_complex(options.result)))
    fail<NotImplemented>("{}: max, min and operator {} have no complex form", operation, name(options.result));
  host::PointwiseArgs work{compute, d.dtype, static_cast<int>(operands.size())};
  work.ab = op, work.abc = options.second, work.result = options.result;
  host::PointwiseCall at;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    // The last operand may be D itself: each element is read before it is written.
    const bool in_place = i + 1 == operands.size() && operands[i].data == d.data && operands[i].dtype == d.dtype &&
                          operands[i].strides == d.strides && call.e.inputs[i] == call.e.output;
    if (!in_place) call.check_apart(i, d);
    work.types[i] = operands[i].dtype;
    if (!options.unary.empty()) work.ops[i] = options.unary[i];
    if (!options.scale.empty()) at.scale[i] = options.scale[i];
    require(is_complex(compute) || at.scale[i].imag() == 0, "{}: a scale is complex and the tensors are real",
            operation);
    at.data[i] = operands[i].data;
  }
  work.group = joined(call, d.shape, d.strides);
  at.d = d.data;
  at.threads = loop_threads();
  dispatch(kPointwise, executor, {work, at});
}

void reduce(const Executor& executor, Binary op, std::string_view text, const TypedView& a, const TypedView& d,
            const ReduceOptions& options, const TypedView* c) {
  constexpr const char* operation = "tensor.reduce";
  const Call call(operation, text, std::span(&a, 1));
  call.check(executor, d, call.shape(), std::span(&options.unary, 1));
  call.check_apart(0, d);
  const DType compute = call.compute(d);
  if (is_complex(compute) && (op == Binary::Max || op == Binary::Min || !has_complex(options.unary_c)))
    fail<NotImplemented>("{}: {} has no complex form; reduce by add or mul", operation, name(op));
  require(is_complex(compute) || (options.alpha.imag() == 0 && options.beta.imag() == 0),
          "{}: alpha or beta is complex and the tensors are real", operation);
  const TypedView& from = c ? *c : d;
  if (c && options.beta != std::complex<double>(0)) {
    operands::check_owner(operation, "C", executor, c->executor);
    require(c->shape == d.shape && c->dtype == d.dtype, "{}: C is {} {}, D is {} {}; they have one shape and type",
            operation, name(c->dtype), trn::to_string(c->shape), name(d.dtype), trn::to_string(d.shape));
    operands::check_address(operation, "C", c->data, element_count(c->shape) == 0);
    if (!(c->data == d.data && c->strides == d.strides)) checks::apart(operation, "C", *c, "D", d);
  }
  const FoldOperand fd{call.e.output, d.shape, d.strides}, fc{call.e.output, d.shape, from.strides};
  const Folded f = fold(call.sizes, call.fold_of(0), nullptr, &fc, fd);
  require((op == Binary::Add || op == Binary::Mul) || extent_of(f.k) > 0 || element_count(d.shape) == 0,
          "{}: the {} of no elements; give labels that are not empty", operation, name(op));
  host::ReduceArgs work{compute, d.dtype, op, false, a.dtype, a.dtype, d.dtype};
  work.a_op = options.unary, work.c_op = options.unary_c;
  work.kept = f.m, work.summed = f.k;
  dispatch(kReduce, executor,
           {work, {a.data, nullptr, from.data, d.data, options.alpha, options.beta, loop_threads()}});
}

}  // namespace trn::tensor

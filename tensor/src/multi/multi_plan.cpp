// Statements to steps of one or two tensors; equal pairs are found by a key in which labels are numbered by first use.
#include <trn/tensor/multi_plan.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>

namespace trn::tensor {

namespace {

constexpr const char* kName = "tensor.multi_plan";
std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

struct Node {
  std::string name;
  Shape shape;
  bool input = false, output = false;
  double bound = 0;
  std::size_t made = 0, last = 0;  // steps
  std::int64_t offset = 0, bytes = 0;
  [[nodiscard]] bool temporary() const { return !input && !output; }
};

struct PairStep {
  Plan plan;
  std::vector<std::size_t> operands;
  std::size_t result;
  double factor;
  bool add;  // to what is there
};

}  // namespace

struct MultiPlan::State {
  Executor executor;
  MultiDescription description;
  std::vector<Node> nodes;
  std::map<std::string, std::size_t> names, pairs;
  std::vector<PairStep> steps;
  std::int64_t temporary_bytes = 0, scratch_bytes = 0, shared = 0;
  double flops = 0;

  std::size_t node(const std::string& name, const std::string& where) const {
    const auto found = names.find(name);
    require(found != names.end(), "{}: no tensor '{}' in {}", kName, name, where);
    return found->second;
  }

  // result (+)= factor einsum(operands), one or two of them. Returns the bound of this term.
  double step(const Expression& e, const std::vector<std::size_t>& operands, std::size_t result, double factor,
              bool add) {
    Description d;
    d.expression = e;
    double growth = 0;
    const auto described = [&](const Node& n) {
      return Operand{n.shape, row_major_strides(n.shape), description.dtype};
    };
    for (const std::size_t i : operands) {
      d.operands.push_back(described(nodes[i]));
      nodes[i].last = steps.size();
      growth += std::log1p(nodes[i].bound);
    }
    d.output = described(nodes[result]);
    d.precision = description.precision;
    const Plan plan(executor, d);
    flops += plan.flops();
    scratch_bytes = std::max(scratch_bytes, plan.workspace_bytes());
    nodes[result].last = steps.size();
    steps.push_back({plan, operands, result, factor, add});
    return std::expm1(growth + std::log1p(plan.accuracy().bound));
  }

  std::size_t add_node(Node n) {
    n.bytes = rounded(std::max<std::int64_t>(1, byte_count(n.shape, size_bytes(description.dtype))));
    n.made = n.last = steps.size();
    nodes.push_back(std::move(n));
    return nodes.size() - 1;
  }

  // The pair (left, right) with the labels of `out` kept: a node, made now or found. Its labels are `out` in the order
  // of their first use.
  std::size_t pair(std::size_t left, std::size_t right, std::vector<Label>& a, std::vector<Label>& b,
                   const std::vector<Label>& out, const Sizes& sizes, std::vector<Label>& result) {
    if (left > right) std::swap(left, right), std::swap(a, b);
    std::vector<Label> number(sizes.size(), -1);
    Expression e;
    std::vector<Label> originals;
    std::string key = fmt::format("{} {}", left, right);
    for (const std::vector<Label>* list : {&a, &b}) {
      e.inputs.emplace_back();
      key += ';';
      for (const Label l : *list) {
        Label& n = number[static_cast<std::size_t>(l)];
        if (n < 0) {
          n = static_cast<Label>(originals.size());
          originals.push_back(l);
          e.names.push_back(fmt::format("[{}]", originals.size()));
        }
        e.inputs.back().push_back(n);
        key += fmt::format(" {}", n);
      }
    }
    key += " ->";
    result.clear();
    Shape shape;
    for (std::size_t n = 0; n < originals.size(); ++n) {
      if (std::find(out.begin(), out.end(), originals[n]) == out.end()) continue;
      e.output.push_back(static_cast<Label>(n));
      result.push_back(originals[n]);
      shape.push_back(sizes[static_cast<std::size_t>(originals[n])]);
      key += fmt::format(" {}", n);
    }
    if (const auto found = pairs.find(key); found != pairs.end()) {
      ++shared;
      return found->second;
    }
    const std::size_t made = add_node({fmt::format("pair {}", pairs.size() + 1), shape});
    nodes[made].bound = step(e, {left, right}, made, 1, false);
    pairs.emplace(key, made);
    return made;
  }

  void statement(const Statement& s) {
    require(!s.terms.empty(), "{}: statement '{}' has no term", kName, s.result);
    require(!names.contains(s.result), "{}: '{}' has a value already; give the result another name", kName, s.result);
    std::optional<std::size_t> result;
    double bound = 0;
    for (const Term& t : s.terms) {
      const std::string where = fmt::format("{} = ... {}", s.result, t.text);
      std::vector<std::size_t> operands;
      std::vector<std::int64_t> ranks;
      std::vector<Shape> shapes;
      for (const std::string& name : t.operands) {
        operands.push_back(node(name, where));
        shapes.push_back(nodes[operands.back()].shape);
        ranks.push_back(static_cast<std::int64_t>(shapes.back().size()));
      }
      Expression e = parse(t.text, ranks);
      const Sizes sizes = sizes_of(e, shapes);
      Shape shape;
      for (const Label l : e.output) shape.push_back(sizes[static_cast<std::size_t>(l)]);
      if (!result) {
        const bool wanted =
            std::find(description.outputs.begin(), description.outputs.end(), s.result) != description.outputs.end();
        result = add_node({s.result, shape, false, wanted});
      }
      require(nodes[*result].shape == shape, "{}: {} has shape {}, the terms before it {}", kName, where,
              trn::to_string(shape), trn::to_string(nodes[*result].shape));
      if (operands.size() > 2) reduce_to_two(e, operands, sizes);
      bound = std::max(bound, step(e, operands, *result, t.factor, &t != &s.terms.front()));
    }
    // Terms are added one after another.
    const double u = unit_roundoff(description.dtype);
    nodes[*result].bound = std::expm1(std::log1p(bound) + static_cast<double>(s.terms.size() - 1) * std::log1p(u));
    names.emplace(s.result, *result);
  }

  // Contracts along the path until two operands are left.
  void reduce_to_two(Expression& e, std::vector<std::size_t>& operands, const Sizes& sizes) {
    PathOptions options = description.path;
    options.family = executor.family();
    options.element_bytes = static_cast<int>(size_bytes(description.dtype));
    const Path path = optimize(e, sizes, options);
    std::vector<std::vector<Label>> labels = e.inputs;
    std::vector<std::size_t> made = operands;
    std::vector<bool> used(labels.size() + path.steps.size(), false);
    for (std::size_t i = 0; i + 1 < path.steps.size(); ++i) {
      const auto l = static_cast<std::size_t>(path.steps[i].left), r = static_cast<std::size_t>(path.steps[i].right);
      used[l] = used[r] = true;
      std::vector<Label> keep = e.output;
      for (std::size_t o = 0; o < labels.size(); ++o) {
        if (!used[o]) keep.insert(keep.end(), labels[o].begin(), labels[o].end());
      }
      std::vector<Label> result;
      made.push_back(pair(made[l], made[r], labels[l], labels[r], keep, sizes, result));
      labels.push_back(std::move(result));
    }
    operands.clear();
    e.inputs.clear();
    for (std::size_t o = 0; o < labels.size(); ++o) {
      if (!used[o]) operands.push_back(made[o]), e.inputs.push_back(labels[o]);
    }
  }

  // Temporaries share the workspace: each goes to the lowest place that is free while it lives.
  void place() {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Node& n = nodes[i];
      if (!n.temporary()) continue;
      std::vector<std::pair<std::int64_t, std::int64_t>> taken;
      for (std::size_t j = 0; j < i; ++j) {
        const Node& o = nodes[j];
        if (o.temporary() && o.last >= n.made) taken.emplace_back(o.offset, o.offset + o.bytes);
      }
      std::sort(taken.begin(), taken.end());
      for (const auto& [begin, end] : taken) {
        if (n.offset + n.bytes <= begin) break;
        n.offset = std::max(n.offset, end);
      }
      temporary_bytes = std::max(temporary_bytes, n.offset + n.bytes);
    }
  }
};

MultiPlan::MultiPlan(const Executor& executor, const MultiDescription& description) {
  auto s = std::make_shared<State>(State{executor, description});
  require(is_tensor_type(description.dtype), "{}: no tensors of {}", kName, name(description.dtype));
  require(!description.precision.has_target(), "{}: a target is of one einsum; give a mode", kName);
  for (const NamedTensor& t : description.inputs) {
    require(!s->names.contains(t.name), "{}: two inputs are called '{}'", kName, t.name);
    s->names.emplace(t.name, s->add_node({t.name, t.shape, true}));
  }
  for (const Statement& statement : description.statements) s->statement(statement);
  for (const std::string& output : description.outputs) {
    const std::size_t n = s->node(output, "outputs");
    require(!s->nodes[n].input, "{}: output '{}' is an input", kName, output);
  }
  s->place();
  state_ = std::move(s);
}

void MultiPlan::execute(const std::map<std::string, TypedView>& tensors) const {
  const State& s = *state_;
  const Buffer workspace(s.executor, std::max<std::int64_t>(1, s.temporary_bytes));
  const Buffer scratch(s.executor, s.scratch_bytes);
  std::vector<TypedView> views;
  for (const Node& n : s.nodes) {
    if (n.temporary()) {
      views.emplace_back(s.executor, s.description.dtype, static_cast<std::byte*>(workspace.data()) + n.offset,
                         n.shape);
      continue;
    }
    const auto found = tensors.find(n.name);
    require(found != tensors.end(), "{}: tensor '{}' is not given", kName, n.name);
    const TypedView& v = found->second;
    operands::check_owner(kName, n.name.c_str(), s.executor, v.executor);
    require(v.dtype == s.description.dtype && v.shape == n.shape && v.strides == row_major_strides(n.shape),
            "{}: '{}' is {} {} with strides {}; the plan has {} {}, row-major", kName, n.name, name(v.dtype),
            trn::to_string(v.shape), trn::to_string(v.strides), name(s.description.dtype), trn::to_string(n.shape));
    views.push_back(v);
  }
  for (const PairStep& step : s.steps) {
    std::vector<TypedView> operands;
    for (const std::size_t i : step.operands) operands.push_back(views[i]);
    step.plan.execute(operands, views[step.result], {step.factor, step.add ? 1.0 : 0.0}, nullptr, scratch);
  }
}

Shape MultiPlan::shape(const std::string& output) const {
  return state_->nodes[state_->node(output, "the plan")].shape;
}
double MultiPlan::bound(const std::string& output) const {
  return state_->nodes[state_->node(output, "the plan")].bound;
}
std::int64_t MultiPlan::steps() const { return static_cast<std::int64_t>(state_->steps.size()); }
std::int64_t MultiPlan::shared() const { return state_->shared; }
double MultiPlan::flops() const { return state_->flops; }
std::int64_t MultiPlan::workspace_bytes() const { return state_->temporary_bytes + state_->scratch_bytes; }

std::string MultiPlan::explain() const {
  const State& s = *state_;
  std::string text = fmt::format("{} statements, {} steps, {} pairs found again, {:.4g} flops, workspace {} bytes\n",
                                 s.description.statements.size(), s.steps.size(), s.shared, s.flops, workspace_bytes());
  for (const PairStep& step : s.steps) {
    std::string operands;
    for (const std::size_t i : step.operands) operands += (operands.empty() ? "" : ", ") + s.nodes[i].name;
    text += fmt::format("  {} {} {} ({})  {}\n", s.nodes[step.result].name, step.add ? "+=" : "=", step.factor,
                        operands, to_string(step.plan.description().expression));
  }
  return text;
}

MultiDescription gradients_of(std::string_view text, const std::vector<Shape>& shapes, DType dtype) {
  require(!is_complex(dtype), "tensor.gradients_of: {} is complex; gradients are of real functions", name(dtype));
  std::vector<std::int64_t> ranks;
  for (const Shape& shape : shapes) ranks.push_back(static_cast<std::int64_t>(shape.size()));
  const Expression e = parse(text, ranks);
  const Sizes sizes = sizes_of(e, shapes);
  MultiDescription d;
  d.dtype = dtype;
  const auto letters = [&](const std::vector<Label>& labels) {
    std::string result;
    for (const Label l : labels) result += e.names[static_cast<std::size_t>(l)];
    return result;
  };
  Shape out;
  for (const Label l : e.output) out.push_back(sizes[static_cast<std::size_t>(l)]);
  for (std::size_t i = 0; i < shapes.size(); ++i) d.inputs.push_back({std::to_string(i), shapes[i]});
  d.inputs.push_back({"w", out});
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Term term{1, "", {}};
    std::vector<Label> others = e.output;
    for (std::size_t o = 0; o < shapes.size(); ++o) {
      if (o == i) continue;
      term.text += letters(e.inputs[o]) + ",";
      term.operands.push_back(std::to_string(o));
      others.insert(others.end(), e.inputs[o].begin(), e.inputs[o].end());
    }
    for (const Label l : e.inputs[i]) {
      require(
          std::count(e.inputs[i].begin(), e.inputs[i].end(), l) == 1 &&
              std::find(others.begin(), others.end(), l) != others.end(),
          "tensor.gradients_of: label '{}' of operand {} is repeated, or in no other operand and not in the result; "
          "use einsum_gradient",
          e.names[static_cast<std::size_t>(l)], i + 1);
    }
    term.text += letters(e.output) + "->" + letters(e.inputs[i]);
    term.operands.emplace_back("w");
    d.statements.push_back({fmt::format("d{}", i), {term}});
    d.outputs.push_back(fmt::format("d{}", i));
  }
  return d;
}

}  // namespace trn::tensor

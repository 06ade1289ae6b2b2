// Statements to steps of one or two tensors; equal pairs are found by a key in which labels are numbered by first use.
#include <trn/tensor/multi_plan.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>

#include "../checks.hpp"
#include "../kernels.hpp"
#include "../plan/state.hpp"

namespace trn::tensor {

namespace {

constexpr const char* kName = "tensor.multi_plan";
std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

struct Node {
  std::string name;
  Shape shape;
  bool input = false, output = false, ones = false;
  double bound = 0;
  std::size_t made = 0, last = 0;  // steps
  std::int64_t offset = 0, bytes = 0;
  [[nodiscard]] bool temporary() const { return !input && !output && !ones; }
  // Tensors of ones are one number, repeated.
  [[nodiscard]] Strides strides() const { return ones ? Strides(shape.size(), 0) : row_major_strides(shape); }
};

// The number 1 where the executor computes.
Buffer one_of(const Executor& executor, DType dtype) {
  const double value[2] = {1, 0};
  std::byte bytes[16];
  from_double(value, real_of(dtype), bytes, is_complex(dtype) ? 2 : 1);
  Buffer result(executor, size_bytes(dtype));
  copy_bytes(Executor::host(), bytes, executor, result.data(), result.bytes());
  return result;
}

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
  std::shared_ptr<Buffer> one = {};  // the number that tensors of ones repeat

  std::size_t node(const std::string& name, const std::string& where) const {
    const auto found = names.find(name);
    require(found != names.end(), "{}: no tensor '{}' in {}", kName, name, where);
    return found->second;
  }

  // result (+)= factor einsum(operands), one or two of them; `shape`: the einsum's, with the elements of the result's.
  // Returns the bound of this term.
  double step(const Expression& e, const std::vector<std::size_t>& operands, std::size_t result, const Shape& shape,
              double factor, bool add) {
    Description d;
    d.expression = e;
    double growth = 0;
    for (const std::size_t i : operands) {
      d.operands.push_back({nodes[i].shape, nodes[i].strides(), description.dtype});
      nodes[i].last = steps.size();
      growth += std::log1p(nodes[i].bound);
    }
    d.output = {shape, row_major_strides(shape), description.dtype};
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
  // of their first use; a label of which both have extent 1 keeps it, whatever other operands have.
  std::size_t pair(std::size_t left, std::size_t right, std::vector<Label>& a, std::vector<Label>& b,
                   const std::vector<Label>& out, std::size_t labels, std::vector<Label>& result) {
    if (left > right) std::swap(left, right), std::swap(a, b);
    std::vector<Label> number(labels, -1);
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
    const Sizes sizes = sizes_of(e, std::vector<Shape>{nodes[left].shape, nodes[right].shape});
    result.clear();
    Shape shape;
    for (std::size_t n = 0; n < originals.size(); ++n) {
      if (std::find(out.begin(), out.end(), originals[n]) == out.end()) continue;
      e.output.push_back(static_cast<Label>(n));
      result.push_back(originals[n]);
      shape.push_back(sizes[n]);
      key += fmt::format(" {}", n);
    }
    if (const auto found = pairs.find(key); found != pairs.end()) {
      ++shared;
      return found->second;
    }
    const std::size_t made = add_node({fmt::format("pair {}", pairs.size() + 1), shape});
    nodes[made].bound = step(e, {left, right}, made, shape, 1, false);
    pairs.emplace(key, made);
    return made;
  }

  void statement(const Statement& s) {
    require(!s.terms.empty(), "{}: statement '{}' has no term", kName, s.result);
    require(!names.contains(s.result), "{}: '{}' has a value already; give the result another name", kName, s.result);
    std::optional<std::size_t> result;
    Shape first;  // of the first term
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
        first = shape;
        result = add_node({s.result, s.shape.value_or(shape), false, wanted});
        require(without_ones(nodes[*result].shape) == without_ones(shape),
                "{}: {} has shape {}, the statement {}; they may differ in axes of extent 1 only", kName, where,
                trn::to_string(shape), trn::to_string(nodes[*result].shape));
      }
      require(first == shape, "{}: {} has shape {}, the terms before it {}", kName, where, trn::to_string(shape),
              trn::to_string(first));
      if (operands.size() > 2) reduce_to_two(e, operands, sizes);
      bound = std::max(bound, step(e, operands, *result, shape, t.factor, &t != &s.terms.front()));
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
      made.push_back(pair(made[l], made[r], labels[l], labels[r], keep, sizes.size(), result));
      labels.push_back(std::move(result));
    }
    operands.clear();
    e.inputs.clear();
    for (std::size_t o = 0; o < labels.size(); ++o) {
      if (!used[o]) operands.push_back(made[o]), e.inputs.push_back(labels[o]);
    }
  }

  // All tensors are what the plan was made for, and no output shares memory with an input or another output.
  void check(const std::map<std::string, TypedView>& tensors) const {
    std::vector<std::pair<const Node*, const TypedView*>> seen;
    for (const Node& n : nodes) {
      if (n.temporary() || n.ones) continue;
      const auto found = tensors.find(n.name);
      require(found != tensors.end(), "{}: tensor '{}' is not given", kName, n.name);
      const TypedView& v = found->second;
      operands::check_owner(kName, n.name.c_str(), executor, v.executor);
      require(v.dtype == description.dtype && v.shape == n.shape && v.strides == n.strides(),
              "{}: '{}' is {} {} with strides {}; the plan has {} {}, row-major", kName, n.name, name(v.dtype),
              trn::to_string(v.shape), trn::to_string(v.strides), name(description.dtype), trn::to_string(n.shape));
      operands::check_address(kName, n.name.c_str(), v.data, element_count(v.shape) == 0);
      seen.emplace_back(&n, &v);
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      for (std::size_t j = 0; j < seen.size(); ++j) {
        const auto& [other, with] = seen[i];
        const auto& [out, view] = seen[j];
        if (i == j || !out->output || (other->output && i > j)) continue;
        checks::apart(kName, fmt::format("{} '{}'", other->output ? "output" : "input", other->name), *with,
                      fmt::format("output '{}'", out->name).c_str(), *view);
      }
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
  for (const NamedTensor& t : description.ones) {
    require(!s->names.contains(t.name), "{}: two tensors are called '{}'", kName, t.name);
    const std::size_t n = s->add_node({t.name, t.shape});
    s->nodes[n].ones = true;
    s->names.emplace(t.name, n);
  }
  if (!description.ones.empty()) s->one = std::make_shared<Buffer>(one_of(executor, description.dtype));
  for (const Statement& statement : description.statements) s->statement(statement);
  for (const std::string& output : description.outputs) {
    const std::size_t n = s->node(output, "outputs");
    require(!s->nodes[n].input && !s->nodes[n].ones, "{}: output '{}' is an input", kName, output);
  }
  s->place();
  state_ = std::move(s);
}

void MultiPlan::execute(const std::map<std::string, TypedView>& tensors) const {
  const State& s = *state_;
  s.check(tensors);
  const Buffer workspace(s.executor, std::max<std::int64_t>(1, s.temporary_bytes));
  const Buffer scratch(s.executor, s.scratch_bytes);
  std::vector<TypedView> views;
  for (const Node& n : s.nodes) {
    if (n.temporary()) {
      views.emplace_back(s.executor, s.description.dtype, static_cast<std::byte*>(workspace.data()) + n.offset,
                         n.shape);
    } else if (n.ones) {
      views.emplace_back(s.executor, s.description.dtype, s.one->data(), n.shape, n.strides());
    } else {
      views.push_back(tensors.at(n.name));
    }
  }
  const bool together =
      s.executor.family() == Family::Device &&
      std::all_of(s.steps.begin(), s.steps.end(), [](const PairStep& step) { return joins_a_batch(step.plan); });
  if (together) {  // one program; temporaries stay inside it
    PlanSteps all{
        [&](device::Batch* batch) {
          for (const PairStep& step : s.steps) {
            std::vector<const void*> operands;
            for (const std::size_t i : step.operands) operands.push_back(views[i].data);
            void* const out = views[step.result].data;
            run_plan(step.plan, operands, out, out, {step.factor, step.add ? 1.0 : 0.0}, scratch.data(), batch);
          }
          return 0.0;
        },
        true};
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
      if (s.nodes[i].temporary()) all.inside.push_back(views[i].data);
    }
    kernel_of(kPlanSteps, s.executor)(s.executor, all);
    return;
  }
  for (const PairStep& step : s.steps) {
    std::vector<TypedView> operands;
    for (const std::size_t i : step.operands) operands.push_back(views[i]);
    TypedView out = views[step.result];
    out.shape = step.plan.description().output.shape, out.strides = step.plan.description().output.strides;
    step.plan.execute(operands, out, {step.factor, step.add ? 1.0 : 0.0}, nullptr, scratch);
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

namespace {

// Names of labels that a text may have: the axes of an ellipsis get letters that are not taken, Greek ones first.
std::vector<std::string> plain_names(const Expression& e) {
  std::vector<std::string> names = e.names;
  int next = 0x3B1;
  for (std::string& name : names) {
    if (!name.starts_with("...")) continue;
    std::string letter;
    do {
      letter = {static_cast<char>(0xC0 | (next >> 6)), static_cast<char>(0x80 | (next & 0x3F))};
      ++next;
    } while (std::find(e.names.begin(), e.names.end(), letter) != e.names.end());
    name = letter;
  }
  return names;
}

}  // namespace

MultiDescription gradients_of(std::string_view text, const std::vector<Shape>& shapes, DType dtype) {
  require(!is_complex(dtype), "tensor.gradients_of: {} is complex; gradients are of real functions", name(dtype));
  std::vector<std::int64_t> ranks;
  for (const Shape& shape : shapes) ranks.push_back(static_cast<std::int64_t>(shape.size()));
  const Expression e = parse(text, ranks);
  const Sizes sizes = sizes_of(e, shapes);
  MultiDescription d;
  d.dtype = dtype;
  const std::vector<std::string> names = plain_names(e);
  const auto letters = [&](const std::vector<Label>& labels) {
    std::string result;
    for (const Label l : labels) result += names[static_cast<std::size_t>(l)];
    return result;
  };
  Shape out;
  for (const Label l : e.output) out.push_back(sizes[static_cast<std::size_t>(l)]);
  for (std::size_t i = 0; i < shapes.size(); ++i) d.inputs.push_back({std::to_string(i), shapes[i]});
  d.inputs.push_back({"w", out});
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Term term{1, "", {}};
    std::vector<bool> whole(sizes.size(), false);  // labels that another factor has at full length
    const auto add = [&](const std::string& name, const std::vector<Label>& labels, const Shape& shape) {
      if (!term.operands.empty()) term.text += ',';
      term.text += letters(labels);
      term.operands.push_back(name);
      for (std::size_t a = 0; a < labels.size(); ++a) {
        const auto l = static_cast<std::size_t>(labels[a]);
        whole[l] = whole[l] || shape[a] == sizes[l];
      }
    };
    for (std::size_t o = 0; o < shapes.size(); ++o) {
      if (o != i) add(std::to_string(o), e.inputs[o], shapes[o]);
    }
    add("w", e.output, out);
    // Axes of extent 1 are left out: what they repeat is summed, and they come back with the statement's shape.
    std::vector<Label> kept;
    for (std::size_t a = 0; a < shapes[i].size(); ++a) {
      const Label l = e.inputs[i][a];
      require(std::count(e.inputs[i].begin(), e.inputs[i].end(), l) == 1,
              "tensor.gradients_of: label '{}' of operand {} is repeated; use einsum_gradient",
              e.names[static_cast<std::size_t>(l)], i + 1);
      if (shapes[i][a] != 1) kept.push_back(l);
    }
    for (const Label l : kept) {
      if (whole[static_cast<std::size_t>(l)]) continue;
      const std::string name = "ones " + names[static_cast<std::size_t>(l)];
      const Shape shape{sizes[static_cast<std::size_t>(l)]};
      const auto known = [&](const NamedTensor& t) { return t.name == name; };
      if (std::none_of(d.ones.begin(), d.ones.end(), known)) d.ones.push_back({name, shape});
      add(name, {l}, shape);
    }
    term.text += "->";
    term.text += letters(kept);
    d.statements.push_back({fmt::format("d{}", i), {term}, shapes[i]});
    d.outputs.push_back(fmt::format("d{}", i));
  }
  return d;
}

}  // namespace trn::tensor

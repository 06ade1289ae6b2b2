// Plan: checks of the description, path and slices, modes, and execution.
#include <trn/tensor/plan.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>
#include <trn/core/parallel.hpp>

#include "caret.hpp"
#include "checks.hpp"
#include "measured.hpp"
#include "state.hpp"
#include "target.hpp"

namespace trn::tensor {

namespace {

constexpr const char* kName = "tensor.einsum";

void check_description(const Executor& executor, const Description& d) {
  const Expression& e = d.expression;
  require(!e.inputs.empty(), "{}: the expression has no operand", kName);
  require(d.operands.size() == e.inputs.size(), "{}: the expression has {} operands and {} are given{}", kName,
          e.inputs.size(), d.operands.size(), with_carets(e, {}));
  for (std::size_t i = 0; i < d.operands.size(); ++i)
    checks::operand(kName, fmt::format("operand {}", i + 1), d.operands[i].shape, d.operands[i].strides,
                    d.operands[i].dtype, d.operands[i].op);
  checks::operand(kName, "D", d.output.shape, d.output.strides, d.output.dtype, d.output.op);
  if (d.c) {
    checks::operand(kName, "C", d.c->shape, d.c->strides, d.c->dtype, d.c->op);
    require(d.c->shape == d.output.shape && d.c->dtype == d.output.dtype,
            "{}: C is {} {}, D is {} {}; C has D's shape and type (its strides may differ)", kName, name(d.c->dtype),
            trn::to_string(d.c->shape), name(d.output.dtype), trn::to_string(d.output.shape));
  }
  require(d.memory_bytes >= 0, "{}: a memory limit of {} bytes; give 0 for none", kName, d.memory_bytes);
  (void)executor;
}

void check_output(const Description& d, const Sizes& sizes) {
  Shape expected;
  for (const Label l : d.expression.output) expected.push_back(sizes[static_cast<std::size_t>(l)]);
  if (expected == d.output.shape) return;
  std::vector<Place> places;
  if (expected.size() == d.output.shape.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] != d.output.shape[i]) places.push_back({d.expression.inputs.size(), i});
    }
  }
  fail<InvalidArgument>("{}: D has shape {}, the result has {}{}", kName, trn::to_string(d.output.shape),
                        trn::to_string(expected), with_carets(d.expression, places));
}

DType computing_type(const Description& d) {
  std::vector<DType> types;
  for (const Operand& o : d.operands) types.push_back(o.dtype);
  const bool complex = std::any_of(types.begin(), types.end(), [](DType t) { return is_complex(t); });
  require(!complex || is_complex(d.output.dtype),
          "{}: an operand is complex and D is {}; a complex result needs a complex D", kName, name(d.output.dtype));
  // Real operands with a complex D compute in real numbers.
  types.push_back(complex ? d.output.dtype : real_of(d.output.dtype));
  return compute_type(types);
}

// Passes: every combination of blocks. Programs differ in whether a sliced label has its last, shorter block.
void make_passes(Plan::State& s, const Sizes& sizes, const std::vector<Mode>& modes, int threads) {
  const Description& d = s.description;
  const Expression& e = d.expression;
  const auto add_program = [&](const Sizes& pass_sizes) {
    std::vector<Shape> shapes = s.shapes;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      for (std::size_t a = 0; a < shapes[i].size(); ++a) {
        if (shapes[i][a] != 1) shapes[i][a] = pass_sizes[static_cast<std::size_t>(e.inputs[i][a])];
      }
    }
    s.programs.push_back(build({&d, &s.executor, s.compute, pass_sizes, shapes, s.slices.path.steps, modes, threads}));
    return s.programs.size() - 1;
  };
  std::vector<std::pair<Sizes, std::size_t>> known;
  std::vector<std::int64_t> block(s.slices.slices.size(), 0);
  for (;;) {
    Sizes pass_sizes = sizes;
    Pass pass{0, std::vector<std::int64_t>(e.inputs.size(), 0)};
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Slice& slice = s.slices.slices[i];
      const auto l = static_cast<std::size_t>(slice.label);
      const std::int64_t begin = block[i] * slice.block;
      pass_sizes[l] = std::min(slice.block, sizes[l] - begin);
      const auto offset = [&](const std::vector<Label>& labels, const Strides& strides, const Shape& shape) {
        std::int64_t sum = 0;
        for (std::size_t a = 0; a < labels.size(); ++a) {
          if (labels[a] == slice.label && shape[a] != 1) sum += begin * strides[a];
        }
        return sum;
      };
      for (std::size_t o = 0; o < e.inputs.size(); ++o)
        pass.offsets[o] += offset(e.inputs[o], d.operands[o].strides, d.operands[o].shape);
      pass.output += offset(e.output, d.output.strides, d.output.shape);
      pass.c += offset(e.output, d.c ? d.c->strides : d.output.strides, d.output.shape);
      const bool kept = std::find(e.output.begin(), e.output.end(), slice.label) != e.output.end();
      if (!kept && block[i] > 0) pass.first = false;
    }
    auto found = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == pass_sizes; });
    if (found == known.end()) found = known.emplace(known.end(), pass_sizes, add_program(pass_sizes));
    pass.program = found->second;
    s.passes.push_back(std::move(pass));
    std::size_t i = 0;
    for (; i < block.size(); ++i) {
      const auto l = static_cast<std::size_t>(s.slices.slices[i].label);
      if (++block[i] * s.slices.slices[i].block < sizes[l]) break;
      block[i] = 0;
    }
    if (i == block.size()) break;
  }
  // First passes of their blocks come first: sums go on top of them.
  std::stable_partition(s.passes.begin(), s.passes.end(), [](const Pass& p) { return p.first; });
}

bool narrow(DType t) { return t == DType::BFloat16 || t == DType::Float16; }

// What a target reads before a plan runs. `c`: null where beta is 0.
class TargetCheck {
 public:
  TargetCheck(const Plan::State& s, std::span<const TypedView> operands, Scalars scalars, const TypedView* c)
      : operands_(operands), scalars_(scalars), c_(c) {
    const Description& d = s.description;
    std::size_t given = 0;
    for (std::size_t i = 0; i < d.operands.size(); ++i)
      sizes_.push_back(d.operands[i].constant ? s.constant_sizes[i] : sizes_in(operands[given++], d.operands[i].op));
    if (c) c_sizes_ = sizes_in(*c, d.c ? d.c->op : Unary::Identity);
    for (const Magnitudes& m : sizes_) finite_ = finite_ && m.finite;
    finite_ = finite_ && c_sizes_.finite;
  }

  // The bound of a plan for these operands. Where their least numbers say too little, the einsum of absolute values
  // does: it is computed, in double.
  [[nodiscard]] double bound_of(const Plan& plan, double target) const {
    const InRange kept = in_range(plan.state(), sizes_, scalars_, c_sizes_);
    if (kept.bound <= target || !std::isfinite(kept.absolute) || plan.accuracy().mode == Mode::Exact) return kept.bound;
    double least = 1;
    for (const Magnitudes& m : sizes_) least *= std::min(1.0, m.least);
    if (!plan.state().constant_sizes.empty() || least < 0x1p-900) return kept.bound;
    const Array<double> values(Executor::host(), plan.description().output.shape);
    argument_bound(plan, operands_, scalars_, c_, values.view());
    double smallest = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < values.size(); ++i) {
      if (values.data()[i] > 0) smallest = std::min(smallest, values.data()[i]);
    }
    const double bound = plan.accuracy().bound;
    return std::min(kept.bound, bound + kept.absolute / (smallest / bound));
  }
  [[nodiscard]] bool finite() const { return finite_; }

 private:
  std::span<const TypedView> operands_;
  Scalars scalars_;
  const TypedView* c_;
  std::vector<Magnitudes> sizes_;
  Magnitudes c_sizes_;
  bool finite_ = true;
};

}  // namespace

Operand operand_of(const TypedView& view, Unary op) { return {view.shape, view.strides, view.dtype, op}; }

Plan::Plan(const Executor& executor, const Description& description, std::span<const TypedView> constants) {
  check_description(executor, description);
  auto s = std::make_shared<State>(State{executor, description});
  const Expression& e = s->description.expression;
  for (const Operand& o : description.operands) s->shapes.push_back(o.shape);
  const Sizes sizes = sizes_of(e, s->shapes);
  check_output(description, sizes);
  checks::distinct(kName, "D", description.output.shape, description.output.strides);
  s->compute = computing_type(description);
  const int threads = loop_threads();
  const std::size_t contractions = e.inputs.size() - 1;
  const bool has_constants = std::any_of(description.operands.begin(), description.operands.end(),
                                         [](const Operand& o) { return o.constant; });
  const Expression clean = for_paths(e, sizes, s->shapes);
  if (contractions == 1) s->slices.path.steps = {{0, 1}};

  const auto make = [&](double budget) {
    if (contractions > 1) {
      PathOptions options = description.path;
      options.family = executor.family();
      options.element_bytes = static_cast<int>(size_bytes(s->compute));
      s->slices = budget > 0 ? slice(clean, sizes, budget, options) : SliceSet{{}, optimize(clean, sizes, options)};
    }
    s->programs.clear();
    s->passes.clear();
    std::vector<Mode> modes(contractions, description.precision.mode());
    if (description.precision.has_target() && contractions > 0) {
      modes = modes_for(
          description.precision.target_error(), executor, s->compute,
          [&](const std::vector<Mode>& m) {
            return build({&s->description, &executor, s->compute, sizes, s->shapes, s->slices.path.steps, m, threads});
          },
          contractions);
    }
    make_passes(*s, sizes, modes, threads);
    s->intermediate_bytes = s->workspace_bytes = 0;
    for (const Program& p : s->programs) {
      s->intermediate_bytes = std::max(s->intermediate_bytes, p.temporary_bytes);
      s->workspace_bytes = std::max(s->workspace_bytes, p.workspace_bytes());
    }
  };
  double budget = static_cast<double>(description.memory_bytes) / static_cast<double>(size_bytes(s->compute));
  make(budget);
  // Sums of single operands and rounding up of places are not in the path's figure: ask again for less.
  for (int tries = 0; budget > 0 && s->intermediate_bytes > description.memory_bytes; ++tries) {
    const double ratio = static_cast<double>(description.memory_bytes) / static_cast<double>(s->intermediate_bytes);
    budget *= std::min(0.9, ratio);
    require(tries < 12 && budget >= 1 && contractions > 1,
            "{}: intermediates take {} bytes (each a multiple of 64), the limit is {}; raise the limit", kName,
            s->intermediate_bytes, description.memory_bytes);
    make(budget);
  }
  const bool sums_passes = std::any_of(s->passes.begin(), s->passes.end(), [](const Pass& p) { return !p.first; });
  if (sums_passes && (narrow(description.output.dtype) || description.output.op != Unary::Identity))
    fail<NotImplemented>("{}: sliced sums into a D of {} with operator {}; give D the computing type {}", kName,
                         name(description.output.dtype), name(description.output.op), name(s->compute));
  if (has_constants && s->passes.size() > 1)
    fail<NotImplemented>("{}: constants together with slices; leave one of them out", kName);

  const Program& first = s->programs.front();
  double growth = 0;
  for (const std::vector<ProgramStep>* list : {&first.constant_steps, &first.steps}) {
    for (const ProgramStep& step : *list) {
      s->steps.push_back(step.info);
      growth += std::log1p(step.info.bound);
      const bool contraction = step.b.kind != Ref::Kind::None;
      if (contraction && (s->accuracy.mode == Mode::Native || step.info.mode == Mode::Exact))
        s->accuracy.mode = step.info.mode;
    }
  }
  if (sums_passes) growth += static_cast<double>(s->passes.size()) * std::log1p(unit_roundoff(s->compute));
  s->accuracy.bound = std::expm1(growth);
  for (const Pass& pass : s->passes) {
    for (const ProgramStep& step : s->programs[pass.program].steps) {
      s->flops += step.info.flops, s->moved_bytes += step.info.bytes, s->seconds += step.info.seconds;
    }
  }
  if (has_constants) {
    std::vector<const void*> inputs(e.inputs.size(), nullptr);
    s->constant_sizes.resize(inputs.size());
    std::size_t given = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!description.operands[i].constant) continue;
      require(given < constants.size(), "{}: operand {} is constant; give its values with the plan", kName, i + 1);
      const TypedView& v = constants[given++];
      checks::same(kName, fmt::format("constant operand {}", i + 1), executor, description.operands[i], v);
      inputs[i] = v.data;
      if (description.precision.has_target()) s->constant_sizes[i] = sizes_in(v, description.operands[i].op);
    }
    require(given == constants.size(), "{}: {} constants for {} constant operands", kName, constants.size(), given);
    s->constants = std::make_unique<Buffer>(executor, first.constant_bytes);
    const Buffer scratch(executor, s->workspace_bytes);
    tensor::run(executor, first.constant_steps, first, {inputs, nullptr, nullptr, scratch.data(), s->constants->data()},
                {});
  } else {
    require(constants.empty(), "{}: {} constants are given and no operand is constant", kName, constants.size());
  }
  state_ = std::move(s);
}

const Executor& Plan::executor() const { return state_->executor; }
const Description& Plan::description() const { return state_->description; }
std::span<const Step> Plan::steps() const { return state_->steps; }
const SliceSet& Plan::slices() const { return state_->slices; }
double Plan::flops() const { return state_->flops; }
double Plan::moved_bytes() const { return state_->moved_bytes; }
double Plan::seconds() const { return state_->seconds; }
std::int64_t Plan::workspace_bytes() const { return state_->workspace_bytes; }
std::int64_t Plan::intermediate_bytes() const { return state_->intermediate_bytes; }
Accuracy Plan::accuracy() const { return state_->accuracy; }

std::string Plan::explain() const {
  const State& s = *state_;
  std::string text = fmt::format("{}  {}: {:.4g} flops, {:.4g} bytes moved, workspace {} bytes, bound {:.2e}\n",
                                 tensor::to_string(s.description.expression), name(s.compute), s.flops, s.moved_bytes,
                                 s.workspace_bytes, s.accuracy.bound);
  for (const Slice& slice : s.slices.slices)
    text += fmt::format("  sliced: {} in blocks of {}\n",
                        s.description.expression.names[static_cast<std::size_t>(slice.label)], slice.block);
  if (s.passes.size() > 1) text += fmt::format("  passes: {}\n", s.passes.size());
  for (std::size_t i = 0; i < s.steps.size(); ++i) {
    const Step& step = s.steps[i];
    text += fmt::format("  {}. {:<28} {:<9} {:<7} {}  {:.3g} flops, bound {:.1e}\n", i + 1, step.labels, step.algorithm,
                        name(step.mode), step.folded, step.flops, step.bound);
  }
  return text;
}

EinsumResult Plan::execute(std::span<const TypedView> operands, const TypedView& out, Scalars scalars,
                           const TypedView* c) const {
  if (state_->workspace_bytes <= 0) {
    static const Buffer none(Executor::host(), 0);
    if (state_->executor == none.executor()) return execute(operands, out, scalars, c, none);
  }
  return execute(operands, out, scalars, c, Buffer(state_->executor, state_->workspace_bytes));
}

EinsumResult Plan::execute(std::span<const TypedView> operands, const TypedView& out, Scalars scalars,
                           const TypedView* c, const Buffer& workspace) const {
  return run(operands, out, scalars, c, workspace, nullptr);
}

EinsumResult Plan::measure(std::span<const TypedView> operands, const TypedView& out, Scalars scalars,
                           const TypedView* c) const {
  Watch watch(description());
  EinsumResult result = run(operands, out, scalars, c, Buffer(state_->executor, state_->workspace_bytes), &watch);
  result.measured = watch.result(state_->executor, out);
  return result;
}

EinsumResult Plan::run(std::span<const TypedView> operands, const TypedView& out, Scalars scalars, const TypedView* c,
                       const Buffer& workspace, Watch* watch) const {
  const State& s = *state_;
  const Description& d = s.description;
  const std::size_t count = d.operands.size();
  constexpr std::size_t kMost = 16;
  const void* few[kMost];
  std::vector<const void*> many(count > kMost ? count : 0);
  const void** inputs = count > kMost ? many.data() : few;
  std::size_t given = 0;
  checks::same(kName, "D", s.executor, d.output, out);
  for (std::size_t i = 0; i < count; ++i) {
    inputs[i] = nullptr;
    if (d.operands[i].constant) continue;
    require(given < operands.size(), "{}: {} operands are given; the plan takes more", kName, operands.size());
    const TypedView& v = operands[given++];
    checks::same(kName, "operand", s.executor, d.operands[i], v, i + 1);
    checks::apart(kName, "operand", v, "D", out, i + 1);
    inputs[i] = v.data;
  }
  require(given == operands.size(), "{}: {} operands are given; the plan takes {}", kName, operands.size(), given);
  require(c == nullptr || d.c, "{}: a C is given and the description has none", kName);
  const bool uses_c = scalars.beta != std::complex<double>(0);
  require(!uses_c || c != nullptr || !d.c, "{}: beta is not 0 and the plan has a C; give it", kName);
  require(is_complex(s.compute) || (scalars.alpha.imag() == 0 && scalars.beta.imag() == 0),
          "{}: alpha or beta is complex and the computing type is {}; use real numbers", kName, name(s.compute));
  if (c && uses_c) {
    checks::same(kName, "C", s.executor, *d.c, *c);
    const bool in_place = c->data == out.data && c->strides == out.strides;
    if (!in_place) checks::apart(kName, "C", *c, "D", out);
  }
  require(workspace.executor() == s.executor && workspace.bytes() >= s.workspace_bytes,
          "{}: the workspace has {} bytes on '{}'; the plan needs {} on '{}'", kName, workspace.bytes(),
          workspace.executor().name(), s.workspace_bytes, s.executor.name());
  Addresses at{
      {inputs, count}, out.data, c ? c->data : out.data, workspace.data(), s.constants ? s.constants->data() : nullptr};
  if (scalars.alpha == std::complex<double>(0)) scalars.alpha = 0;  // -0 too: operands are not read
  const double target = d.precision.target_error();
  double kept = 0;
  if (d.precision.has_target() && scalars.alpha != std::complex<double>(0) && element_count(out.shape) > 0) {
    const TargetCheck check(s, operands, scalars, !uses_c ? nullptr : c ? c : &out);
    kept = check.bound_of(*this, target);
    if (!(kept <= target)) {
      // Another mode for all steps: more accurate, or without words that overflow.
      const bool has_constants = !s.constant_sizes.empty();
      for (const Mode mode : modes_of_targets(s.executor.family(), s.compute)) {
        if (has_constants) break;
        Description other = d;
        other.precision = mode;
        const Plan plan(s.executor, other);
        // Exact computes what NaN and infinities reach apart from the rest.
        const bool apart = !check.finite() && mode == Mode::Exact;
        const double bound = apart ? plan.accuracy().bound : check.bound_of(plan, target);
        if (!(bound <= target)) {
          kept = std::min(kept, bound);
          continue;
        }
        EinsumResult result = plan.run(operands, out, scalars, c, Buffer(s.executor, plan.workspace_bytes()), watch);
        result.accuracy.bound = std::max(bound, result.accuracy.bound);
        require(result.accuracy.bound <= target, "{}: the bound for these operands is {}, the target {}; D was written",
                kName, result.accuracy.bound, target);
        return result;
      }
      fail<InvalidArgument>(
          "{}: no precision for {} on '{}' has a bound of {} for these operands; the best is {}. {}; D is as it was",
          kName, name(s.compute), s.executor.name(), target, kept,
          check.finite() ? "Products or sums may leave the range of the type: scale the operands, or ask for a mode"
                         : "Some of them are not finite");
    }
  }
  double bound = 0;
  if (s.passes.size() == 1) {
    const Program& p = s.programs.front();
    bound = tensor::run(s.executor, p.steps, p, at, scalars, nullptr, watch);
    if (!p.constant_steps.empty()) bound = std::max(bound, s.accuracy.bound);
  } else {
    std::vector<const void*> moved(count);
    const auto advance = [](const void* data, std::int64_t elements, DType type) {
      return const_cast<std::byte*>(static_cast<const std::byte*>(data)) + elements * size_bytes(type);
    };
    for (const Pass& pass : s.passes) {
      for (std::size_t i = 0; i < count; ++i) moved[i] = advance(inputs[i], pass.offsets[i], d.operands[i].dtype);
      at.inputs = moved;
      at.output = advance(out.data, pass.output, d.output.dtype);
      at.c = pass.first ? advance(c ? c->data : out.data, pass.c, d.output.dtype) : at.output;
      const Program& p = s.programs[pass.program];
      const Scalars factors = pass.first ? scalars : Scalars{scalars.alpha, 1};
      bound = std::max(bound, tensor::run(s.executor, p.steps, p, at, factors, nullptr, watch));
    }
    bound = std::max(bound, s.accuracy.bound);
  }
  bound = std::max(bound, kept);
  require(!d.precision.has_target() || bound <= target,
          "{}: the bound for these operands is {}, the target {}; D was written", kName, bound, target);
  return {{s.accuracy.mode, s.accuracy.passes, bound}};
}

}  // namespace trn::tensor

// Block-sparse contraction: pairs of blocks that meet, a plan for each kind of pair, sums block by block.
//
// Two blocks meet where their sections agree in the labels they share. The pairs of a block of D are added one after
// another: into D itself, or, where D's type is narrower than what computes or an operator follows the sum, into a
// dense temporary of the computing type, from which D is made at the end. With g the bound of a pair and P pairs, the
// first product meets g and then P - 1 additions of two roundings at most: (1 + g)(1 + 2u)^(P - 1) - 1, and the last
// step's.
#include <trn/tensor/block_sparse.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <trn/core/error.hpp>
#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>

#include "checks.hpp"
#include "kernels.hpp"
#include "plan/state.hpp"

namespace trn::tensor {

namespace {

constexpr const char* kName = "tensor.block_sparse";
constexpr std::size_t kMostProducts = 256;  // of one device program
using Coordinates = std::vector<std::int64_t>;

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// A block of sections by label; -1 where a label is not there. Empty: a block off the diagonal of a repeated label.
Coordinates by_label(const std::vector<Label>& labels, const Coordinates& block, std::size_t count) {
  Coordinates result(count, -1);
  for (std::size_t m = 0; m < labels.size(); ++m) {
    std::int64_t& at = result[static_cast<std::size_t>(labels[m])];
    if (at >= 0 && at != block[m]) return {};
    at = block[m];
  }
  return result;
}

void check(const char* who, const BlockTensor& t, const std::vector<Label>& labels, const Expression& e) {
  require(t.sections.size() == labels.size(), "{}: {} has {} modes, the expression {} gives it {}", kName, who,
          t.sections.size(), to_string(e), labels.size());
  require(t.sections.size() <= 64, "{}: {} has {} modes; tensors have at most 64", kName, who, t.sections.size());
  require(is_tensor_type(t.dtype),
          "{}: {} has type {}; tensors are float32, float64, complex64, complex128, bfloat16 or"
          " float16",
          kName, who, name(t.dtype));
  for (std::size_t m = 0; m < t.sections.size(); ++m) {
    for (const std::int64_t extent : t.sections[m])
      require(extent >= 1, "{}: a section of mode {} of {} has extent {}; extents are >= 1", kName, m + 1, who, extent);
  }
  require(t.strides.empty() || t.strides.size() == t.blocks.size(), "{}: {} has {} blocks and strides of {}", kName,
          who, t.blocks.size(), t.strides.size());
  std::map<Coordinates, std::size_t> seen;
  for (std::size_t i = 0; i < t.blocks.size(); ++i) {
    require(t.blocks[i].size() == t.sections.size(), "{}: block {} of {} has {} coordinates; the tensor has {} modes",
            kName, i + 1, who, t.blocks[i].size(), t.sections.size());
    for (std::size_t m = 0; m < t.sections.size(); ++m) {
      const auto most = static_cast<std::int64_t>(t.sections[m].size());
      require(t.blocks[i][m] >= 0 && t.blocks[i][m] < most,
              "{}: block {} of {} is in section {} of mode {}, which has sections 0 to {}", kName, i + 1, who,
              t.blocks[i][m], m + 1, most - 1);
    }
    const auto [at, is_new] = seen.emplace(t.blocks[i], i);
    require(is_new, "{}: blocks {} and {} of {} are the same", kName, at->second + 1, i + 1, who);
    checks::operand(kName, fmt::format("block {} of {}", i + 1, who), t.shape(i), t.strides_of(i), t.dtype, t.op);
  }
}

void check_sections(const Expression& e, const BlockTensor& a, const BlockTensor& b, const BlockTensor* d) {
  std::vector<const std::vector<std::int64_t>*> known(e.names.size(), nullptr);
  const auto add = [&](const char* who, const std::vector<Label>& labels, const BlockTensor& t) {
    for (std::size_t m = 0; m < labels.size(); ++m) {
      const auto*& sections = known[static_cast<std::size_t>(labels[m])];
      if (!sections) sections = &t.sections[m];
      require(*sections == t.sections[m], "{}: label '{}' has sections {} in {} and {} before; they must agree", kName,
              e.names[static_cast<std::size_t>(labels[m])], trn::to_string(t.sections[m]), who,
              trn::to_string(*sections));
    }
  };
  add("A", e.inputs[0], a);
  add("B", e.inputs[1], b);
  if (d) add("D", e.output, *d);
}

void check_expression(const Expression& e) {
  require(e.inputs.size() == 2, "{}: the expression {} has {} operands; a block-sparse contraction has two", kName,
          to_string(e), e.inputs.size());
}

// found(block of A, block of B, coordinates of D) for all pairs that meet, in the order of A's list, then of B's.
template <class F> void for_pairs(const Expression& e, const BlockTensor& a, const BlockTensor& b, const F& found) {
  const std::size_t labels = e.names.size();
  std::vector<bool> in_a(labels, false);
  for (const Label l : e.inputs[0]) in_a[static_cast<std::size_t>(l)] = true;
  std::vector<std::size_t> shared;
  for (const Label l : e.inputs[1]) {
    if (in_a[static_cast<std::size_t>(l)]) shared.push_back(static_cast<std::size_t>(l));
  }
  const auto key_of = [&](const Coordinates& at) {
    Coordinates key;
    for (const std::size_t l : shared) key.push_back(at[l]);
    return key;
  };
  std::map<Coordinates, std::vector<std::size_t>> partners;
  std::vector<Coordinates> of_b;
  for (std::size_t j = 0; j < b.blocks.size(); ++j) {
    of_b.push_back(by_label(e.inputs[1], b.blocks[j], labels));
    if (!of_b[j].empty() || labels == 0) partners[key_of(of_b[j])].push_back(j);
  }
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    const Coordinates of_a = by_label(e.inputs[0], a.blocks[i], labels);
    if (of_a.empty() && labels > 0) continue;
    const auto list = partners.find(key_of(of_a));
    if (list == partners.end()) continue;
    for (const std::size_t j : list->second) {
      Coordinates d;
      for (const Label l : e.output)
        d.push_back(std::max(of_a[static_cast<std::size_t>(l)], of_b[j][static_cast<std::size_t>(l)]));
      found(i, j, d);
    }
  }
}

// Pairs that need the same plan have the same key.
void append(std::vector<std::int64_t>& key, const BlockTensor& t, std::size_t block) {
  const Shape shape = t.shape(block);
  const Strides strides = t.strides_of(block);
  key.insert(key.end(), shape.begin(), shape.end());
  key.insert(key.end(), strides.begin(), strides.end());
}

Operand operand(const BlockTensor& t, std::size_t block) {
  return {t.shape(block), t.strides_of(block), t.dtype, t.op};
}

struct Pair {
  std::size_t a, b, plan;
};
// What makes one block of D.
struct Sum {
  std::vector<Pair> pairs;
  std::optional<std::size_t> last = {};  // plan from the temporary, or from C where no product reaches the block
};

}  // namespace

Shape BlockTensor::shape(std::size_t block) const {
  Shape result;
  for (std::size_t m = 0; m < sections.size(); ++m)
    result.push_back(sections[m].at(static_cast<std::size_t>(blocks.at(block).at(m))));
  return result;
}
Strides BlockTensor::strides_of(std::size_t block) const {
  return strides.empty() ? row_major_strides(shape(block)) : strides.at(block);
}

struct BlockPlan::State {
  Executor executor;
  BlockDescription description;
  std::vector<Plan> plans;
  std::map<std::vector<std::int64_t>, std::size_t> known;  // plans by key
  std::vector<Sum> sums;                                   // by block of D
  std::int64_t products = 0, temporary_bytes = 0, scratch_bytes = 0;
  double flops = 0;
  Accuracy accuracy;
  bool in_batches = false;
  int threads = 1;

  [[nodiscard]] const BlockTensor& c() const { return description.c ? *description.c : description.output; }

  std::size_t plan(const std::vector<std::int64_t>& key, const Description& d) {
    const auto [at, is_new] = known.emplace(key, plans.size());
    if (is_new) {
      plans.emplace_back(executor, d);
      scratch_bytes = std::max(scratch_bytes, rounded(plans.back().workspace_bytes()));
    }
    return at->second;
  }
  // Kinds: 0 the first pair of a block, with C; 1 a later one; 2 and 3 the same into the temporary.
  std::size_t pair_plan(std::size_t a, std::size_t b, std::size_t d, int kind, DType compute) {
    const BlockDescription& what = description;
    std::vector<std::int64_t> key{kind};
    append(key, what.a, a), append(key, what.b, b), append(key, what.output, d);
    if (kind == 0) append(key, c(), d);
    if (const auto at = known.find(key); at != known.end()) return at->second;
    Description one;
    one.expression = what.expression;
    one.operands = {operand(what.a, a), operand(what.b, b)};
    one.output = operand(what.output, d);
    one.precision = what.precision;
    if (kind >= 2) one.output = {one.output.shape, row_major_strides(one.output.shape), compute};
    if (kind == 0 && what.c) one.c = operand(*what.c, d);
    return plan(key, one);
  }
  // D from the temporary (4) or from C (5).
  std::size_t last_plan(std::size_t d, int kind, DType compute) {
    const BlockDescription& what = description;
    std::vector<std::int64_t> key{kind};
    append(key, what.output, d), append(key, c(), d);
    if (const auto at = known.find(key); at != known.end()) return at->second;
    Description one;
    std::vector<Label> labels;
    for (std::size_t m = 0; m < what.output.sections.size(); ++m) {
      labels.push_back(static_cast<Label>(m));
      one.expression.names.push_back(what.expression.names[static_cast<std::size_t>(what.expression.output[m])]);
    }
    one.expression.inputs = {labels}, one.expression.output = labels;
    one.output = operand(what.output, d);
    const Shape shape = one.output.shape;
    if (kind == 4) {
      one.operands = {{shape, row_major_strides(shape), compute}};
      if (what.c) one.c = operand(*what.c, d);
    } else {
      one.operands = {operand(c(), d)};
      if (!what.c) one.operands[0].op = Unary::Identity;
    }
    return plan(key, one);
  }

  void check_addresses(std::span<const void* const> a, std::span<const void* const> b, std::span<void* const> d,
                       std::span<const void* const> c_data) const;
  double make(std::size_t d_block, std::span<const void* const> a, std::span<const void* const> b,
              std::span<void* const> d, std::span<const void* const> c_data, Scalars scalars, std::byte* workspace,
              device::Batch* batch) const;
};

BlockPlan::BlockPlan(const Executor& executor, const BlockDescription& description) {
  const Expression& e = description.expression;
  check_expression(e);
  require(!description.precision.has_target(), "{}: a target is of one einsum; give a mode", kName);
  check("A", description.a, e.inputs[0], e);
  check("B", description.b, e.inputs[1], e);
  check("D", description.output, e.output, e);
  for (std::size_t i = 0; i < description.output.blocks.size(); ++i)
    checks::distinct(kName, "a block of D", description.output.shape(i), description.output.strides_of(i));
  check_sections(e, description.a, description.b, &description.output);
  if (description.c) {
    check("C", *description.c, e.output, e);
    require(description.c->sections == description.output.sections &&
                description.c->blocks == description.output.blocks && description.c->dtype == description.output.dtype,
            "{}: C has other sections, blocks or another type than D; its strides alone may differ", kName);
  }
  auto s = std::make_shared<State>(State{executor, description});
  s->threads = loop_threads();
  s->sums.resize(description.output.blocks.size());
  std::map<Coordinates, std::size_t> places;
  for (std::size_t i = 0; i < s->sums.size(); ++i) places.emplace(description.output.blocks[i], i);
  for_pairs(e, description.a, description.b, [&](std::size_t a, std::size_t b, const Coordinates& at) {
    if (const auto to = places.find(at); to != places.end()) s->sums[to->second].pairs.push_back({a, b, 0});
  });
  s->accuracy.bound = 0;
  for (std::size_t i = 0; i < s->sums.size(); ++i) {
    Sum& sum = s->sums[i];
    if (sum.pairs.empty()) {
      sum.last = s->last_plan(i, 5, {});
      s->accuracy.bound = std::max(s->accuracy.bound, s->plans[*sum.last].accuracy().bound);
      continue;
    }
    // The first plan says what computes; with one pair it is all there is.
    Pair& first = sum.pairs.front();
    first.plan = s->pair_plan(first.a, first.b, i, 0, {});
    const DType compute = s->plans[first.plan].state().compute;
    const bool apart =
        sum.pairs.size() > 1 && (description.output.dtype != compute || description.output.op != Unary::Identity);
    double worst = 0;
    for (Pair& p : sum.pairs) {
      p.plan = s->pair_plan(p.a, p.b, i, (&p == &first ? 0 : 1) + (apart ? 2 : 0), compute);
      const Plan& plan = s->plans[p.plan];
      worst = std::max(worst, plan.accuracy().bound);
      s->flops += plan.flops();
      s->accuracy.mode = plan.accuracy().mode, s->accuracy.passes = plan.accuracy().passes;
      ++s->products;
    }
    double growth =
        std::log1p(worst) + static_cast<double>(sum.pairs.size() - 1) * std::log1p(2 * unit_roundoff(compute));
    if (apart) {
      sum.last = s->last_plan(i, 4, compute);
      s->temporary_bytes =
          std::max(s->temporary_bytes, rounded(byte_count(description.output.shape(i), size_bytes(compute))));
      growth += std::log1p(s->plans[*sum.last].accuracy().bound);
    }
    s->accuracy.bound = std::max(s->accuracy.bound, std::expm1(growth));
  }
  s->in_batches = executor.family() == Family::Device &&
                  std::all_of(s->plans.begin(), s->plans.end(), [](const Plan& p) { return joins_a_batch(p); });
  if (executor.family() == Family::Device) s->threads = 1;
  s->threads = std::max(1, std::min(s->threads, static_cast<int>(std::min<std::size_t>(s->sums.size(), 1024))));
  state_ = std::move(s);
}

void BlockPlan::State::check_addresses(std::span<const void* const> a, std::span<const void* const> b,
                                       std::span<void* const> d, std::span<const void* const> c_data) const {
  struct Entry {
    checks::Bytes bytes;
    TypedView view;
    char who;
    std::size_t block;
  };
  std::vector<Entry> entries;
  const auto add = [&](char who, const BlockTensor& t, std::size_t i, const void* data) {
    require(data != nullptr, "{}: the address of block {} of {} is null", kName, i + 1, who);
    const TypedView view(executor, t.dtype, const_cast<void*>(data), t.shape(i), t.strides_of(i));
    entries.push_back({checks::bytes_of(view), view, who, i});
  };
  const auto add_all = [&](char who, const BlockTensor& t, auto data) {
    require(data.size() == t.blocks.size(), "{}: {} addresses for the {} blocks of {}", kName, data.size(),
            t.blocks.size(), who);
    for (std::size_t i = 0; i < data.size(); ++i) add(who, t, i, data[i]);
  };
  add_all('A', description.a, a);
  add_all('B', description.b, b);
  add_all('D', description.output, d);
  if (!c_data.empty()) {
    add_all('C', c(), c_data);
    std::erase_if(entries, [&](const Entry& e) {  // in place
      return e.who == 'C' && e.view.data == d[e.block] && e.view.strides == description.output.strides_of(e.block);
    });
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) { return x.bytes.low < y.bytes.low; });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::size_t j = i + 1; j < entries.size() && entries[j].bytes.low < entries[i].bytes.high; ++j) {
      const bool first = entries[i].who == 'D';
      if (!first && entries[j].who != 'D') continue;
      const Entry &out = first ? entries[i] : entries[j], &other = first ? entries[j] : entries[i];
      checks::apart(kName, fmt::format("block {} of {}", other.block + 1, other.who), other.view,
                    fmt::format("block {} of D", out.block + 1).c_str(), out.view);
    }
  }
}

// The bound of block d_block.
double BlockPlan::State::make(std::size_t d_block, std::span<const void* const> a, std::span<const void* const> b,
                              std::span<void* const> d, std::span<const void* const> c_data, Scalars scalars,
                              std::byte* workspace, device::Batch* batch) const {
  const Sum& sum = sums[d_block];
  void* const out = d[d_block];
  const void* const old = c_data.empty() ? out : c_data[d_block];
  std::byte* const scratch = workspace + temporary_bytes;
  if (sum.pairs.empty()) {
    const bool as_it_is = old == out && scalars.beta == std::complex<double>(1) &&
                          plans[*sum.last].description().operands[0].op == Unary::Identity &&
                          description.output.op == Unary::Identity;
    if (as_it_is) return 0;
    const void* const from[] = {old};
    return run_plan(plans[*sum.last], from, out, out, {scalars.beta, 0}, scratch, batch);
  }
  void* const to = sum.last ? workspace : out;
  double worst = 0;
  for (const Pair& p : sum.pairs) {
    const bool first = &p == &sum.pairs.front();
    const void* const from[] = {a[p.a], b[p.b]};
    const Scalars x = sum.last ? Scalars{1, first ? 0.0 : 1.0} : Scalars{scalars.alpha, first ? scalars.beta : 1};
    if (sum.last && batch) batch->keep_inside(to);
    worst = std::max(worst, run_plan(plans[p.plan], from, to, first && !sum.last ? old : to, x, scratch, batch));
  }
  const Plan& plan = plans[sum.pairs.front().plan];
  double growth = std::log1p(worst) +
                  static_cast<double>(sum.pairs.size() - 1) * std::log1p(2 * unit_roundoff(plan.state().compute));
  if (sum.last) {
    const void* const from[] = {to};
    growth += std::log1p(run_plan(plans[*sum.last], from, out, old, scalars, scratch, batch));
  }
  return std::expm1(growth);
}

Accuracy BlockPlan::execute(std::span<const void* const> a, std::span<const void* const> b, std::span<void* const> d,
                            Scalars scalars, std::span<const void* const> c) const {
  const State& s = *state_;
  const bool uses_c = scalars.beta != std::complex<double>(0);
  require(c.empty() || s.description.c, "{}: a C is given and the description has none", kName);
  require(!uses_c || !s.description.c || !c.empty() || s.sums.empty(),
          "{}: beta is not 0 and the plan has a C; give it", kName);
  if (!uses_c) c = {};
  s.check_addresses(a, b, d, c);
  for (const Plan& p : s.plans) {
    require(is_complex(p.state().compute) || (scalars.alpha.imag() == 0 && scalars.beta.imag() == 0),
            "{}: alpha or beta is complex and the computing type is {}; use real numbers", kName,
            name(p.state().compute));
  }
  if (scalars.alpha == std::complex<double>(0)) scalars.alpha = 0;
  const std::int64_t bytes = s.temporary_bytes + s.scratch_bytes;
  const Buffer workspace(s.executor, std::max<std::int64_t>(1, bytes * s.threads));
  auto* const base = static_cast<std::byte*>(workspace.data());
  std::vector<double> bounds(s.sums.size(), 0);
  if (s.in_batches) {
    for (std::size_t i = 0; i < s.sums.size();) {
      const auto some = [&](device::Batch* batch) {
        for (std::size_t count = 0; i < s.sums.size() && count < kMostProducts; ++i) {
          bounds[i] = s.make(i, a, b, d, c, scalars, base, batch);
          count += std::max<std::size_t>(1, s.sums[i].pairs.size());
        }
        return 0.0;
      };
      kernel_of(kPlanSteps, s.executor)(s.executor, {some, true});
    }
  } else {
    openmp_pieces(static_cast<std::int64_t>(s.sums.size()), s.threads, [&](std::int64_t i, int worker) {
      bounds[static_cast<std::size_t>(i)] =
          s.make(static_cast<std::size_t>(i), a, b, d, c, scalars, base + worker * bytes, nullptr);
    });
  }
  Accuracy found = s.accuracy;
  found.bound = 0;
  for (const double x : bounds) found.bound = std::max(found.bound, x);
  return found;
}

const BlockDescription& BlockPlan::description() const { return state_->description; }
std::int64_t BlockPlan::products() const { return state_->products; }
double BlockPlan::flops() const { return state_->flops; }
std::int64_t BlockPlan::workspace_bytes() const {
  return (state_->temporary_bytes + state_->scratch_bytes) * state_->threads;
}
Accuracy BlockPlan::accuracy() const { return state_->accuracy; }

BlockTensor product_blocks(const Expression& e, const BlockTensor& a, const BlockTensor& b) {
  check_expression(e);
  check("A", a, e.inputs[0], e);
  check("B", b, e.inputs[1], e);
  check_sections(e, a, b, nullptr);
  BlockTensor d;
  for (const Label l : e.output) {
    for (std::size_t o = 0; o < 2; ++o) {
      const auto at = std::find(e.inputs[o].begin(), e.inputs[o].end(), l);
      if (at == e.inputs[o].end()) continue;
      d.sections.push_back((o == 0 ? a : b).sections[static_cast<std::size_t>(at - e.inputs[o].begin())]);
      break;
    }
  }
  const DType types[] = {a.dtype, b.dtype};
  d.dtype = compute_type(types);
  std::map<Coordinates, bool> reached;
  for_pairs(e, a, b, [&](std::size_t, std::size_t, const Coordinates& at) { reached[at] = true; });
  for (const auto& [at, is] : reached) d.blocks.push_back(at);
  return d;
}

}  // namespace trn::tensor

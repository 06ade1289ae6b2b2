// From a path to steps: sums and operators of single operands first, then one contraction per step of the path, then
// what is left for the output. Layouts of intermediates are ours: outermost the labels that stay in both operands of
// the next step, then those it sums, innermost those that stay free, so that the next step finds matrices in place.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <trn/blas/gemm.hpp>
#include <trn/core/error.hpp>

#include "caret.hpp"
#include "kernels.hpp"
#include "path/cost.hpp"
#include "program.hpp"

namespace trn::tensor {

namespace {

using LabelSet = std::set<Label>;

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// A tensor while the steps are made.
struct Node {
  std::vector<Label> labels;
  Shape shape;
  Strides strides;
  DType dtype = DType::Float32;
  Unary op = Unary::Identity;  // Identity or Conj once it enters a contraction
  Ref ref;
  bool constant = false;
  std::size_t made = 0;  // number of the step that makes it, of temporaries
  std::int64_t bytes = 0;
};

class Builder {
 public:
  explicit Builder(const Blueprint& b) : b_(b), d_(*b.description), e_(b.description->expression) {}

  Program run() {
    const std::size_t count = e_.inputs.size();
    program_.threads = b_.threads;
    for (std::size_t i = 0; i < count; ++i) nodes_.push_back(leaf(i));
    if (count == 1) {
      finish_single();
    } else if (!mttkrp()) {
      for (std::size_t i = 0; i < count; ++i) nodes_[i] = reduced(nodes_[i], i);
      for (std::size_t i = 0; i < b_.path.size(); ++i) contract(i);
    }
    place_temporaries();
    return std::move(program_);
  }

 private:
  Node leaf(std::size_t i) const {
    const Operand& o = d_.operands[i];
    Unary op = o.op;
    if (op == Unary::Conj && !is_complex(o.dtype)) op = Unary::Identity;
    return {e_.inputs[i], b_.shapes[i], o.strides, o.dtype, op, {Ref::Kind::Input, static_cast<std::int64_t>(i)},
            o.constant};
  }
  Node output() const {
    Node out{e_.output, {}, d_.output.strides, d_.output.dtype, d_.output.op, {Ref::Kind::Output, 0}};
    for (const Label l : e_.output) out.shape.push_back(size(l));
    return out;
  }
  std::optional<Node> c_node() const {
    Node c = output();
    c.ref = {Ref::Kind::C, 0};
    if (d_.c) c.strides = d_.c->strides, c.dtype = d_.c->dtype, c.op = d_.c->op;
    if (!d_.c) c.op = Unary::Identity;
    return c;
  }
  [[nodiscard]] std::int64_t size(Label l) const { return b_.sizes[static_cast<std::size_t>(l)]; }

  // Labels that count: not those of repeated axes.
  [[nodiscard]] LabelSet present(const Node& n) const {
    LabelSet set;
    for (std::size_t i = 0; i < n.labels.size(); ++i) {
      if (n.shape[i] != 1) set.insert(n.labels[i]);
    }
    return set;
  }

  static FoldOperand view(const Node& n) { return {n.labels, n.shape, n.strides}; }

  // A row-major temporary with these labels.
  Node temporary(std::vector<Label> labels, bool constant) {
    Node n;
    for (const Label l : labels) n.shape.push_back(size(l));
    n.labels = std::move(labels);
    n.strides = row_major_strides(n.shape);
    n.dtype = b_.compute;
    n.constant = constant;
    n.bytes = rounded(std::max<std::int64_t>(1, byte_count(n.shape, size_bytes(b_.compute))));
    if (constant) {
      n.ref = {Ref::Kind::Constant, program_.constant_bytes};
      program_.constant_bytes += n.bytes;
    } else {
      n.ref = {Ref::Kind::Temporary, static_cast<std::int64_t>(temporaries_.size())};
      temporaries_.push_back({program_.steps.size(), program_.steps.size(), n.bytes, 0});
    }
    return n;
  }

  std::string shown(const std::vector<const Node*>& in, const Node& out) const {
    std::string text;
    const auto add = [&](const Node& n) {
      for (std::size_t i = 0; i < n.labels.size(); ++i) text += e_.names[static_cast<std::size_t>(n.labels[i])];
    };
    for (const Node* n : in) {
      if (n != in.front()) text += ", ";
      add(*n);
    }
    text += " -> ";
    add(out);
    return text;
  }
  [[nodiscard]] double elements(const Node& n) const {
    double product = 1;
    for (std::size_t i = 0; i < n.shape.size(); ++i) product *= static_cast<double>(n.shape[i]);
    return product;
  }
  [[nodiscard]] double bytes(const Node& n) const { return elements(n) * static_cast<double>(size_bytes(n.dtype)); }
  [[nodiscard]] double u() const { return unit_roundoff(b_.compute); }
  [[nodiscard]] double complex_factor() const { return is_complex(b_.compute) ? 2 * std::sqrt(2.0) : 1; }

  // The path's model of a step, with what its mode costs. Exact leaves the program: three launches of its own.
  static constexpr double kExactLaunches = 40e-6;
  [[nodiscard]] double seconds(const Step& s, const Folded& f, bool product, DType in) const {
    const bool on_device = b_.executor->family() == Family::Device;
    if (!product || s.flops == 0 || (f.m.empty() && f.n.empty())) return moving_seconds(s.bytes, b_.executor->family());
    const auto log = [](const Group& g) { return std::log2(static_cast<double>(extent_of(g))); };
    const double h = log(f.h), m = log(f.m), n = log(f.n), k = log(f.k);
    const bool wide = real_of(b_.compute) == DType::Float64;
    double work = mode_work(on_device && in != b_.compute ? Mode::Bf16 : s.mode, b_.executor->family());
    if (on_device) work /= wide ? 8 : 4;    // step_seconds counts passes of float32, or of float64
    if (is_complex(b_.compute)) work *= 2;  // and for twice the bytes twice as many, where there are four
    const double time = step_seconds({h + m + k, h + n + k, h, k}, b_.executor->family(),
                                     static_cast<int>(size_bytes(b_.compute)), 0, work);
    return time + (on_device && s.mode == Mode::Exact ? kExactLaunches : 0);
  }

  void add(ProgramStep step, const std::vector<const Node*>& in, const Node& out, const Folded& folded) {
    step.info.labels = shown(in, out);
    if (in.size() < 3) step.info.folded = to_string(folded);
    for (const Node* n : in) step.info.bytes += bytes(*n);
    step.info.bytes += bytes(out);
    step.info.seconds = seconds(step.info, folded, in.size() == 2, in.front()->dtype);
    for (const Ref* r : {&step.a, &step.b}) {
      if (r->kind == Ref::Kind::Temporary)
        temporaries_[static_cast<std::size_t>(r->index)].last = program_.steps.size();
    }
    step.d = out.ref;
    program_.scratch_bytes = std::max(program_.scratch_bytes, rounded(step.scratch_bytes));
    (out.constant ? program_.constant_steps : program_.steps).push_back(std::move(step));
  }

  // One operand to `out`: operators, types, sums. `final`: with alpha, beta and C.
  void single(const Node& in, const Node& out, bool final) {
    const std::optional<Node> c = final ? c_node() : std::nullopt;
    const FoldOperand fa = view(in), fd = view(out);
    const FoldOperand fc = c ? view(*c) : fd;
    const Folded f = fold(b_.sizes, fa, nullptr, c ? &fc : nullptr, fd);
    ProgramStep step;
    step.a = in.ref;
    step.final = final;
    double sum = 0;  // roundings that a term meets
    step.info.flops = elements(in);
    if (!f.k.empty()) {
      host::ReduceArgs args{b_.compute, out.dtype, Binary::Add, false, in.dtype, in.dtype, c ? c->dtype : out.dtype};
      args.a_op = in.op, args.c_op = c ? c->op : Unary::Identity, args.result = out.op;
      args.kept = f.m, args.summed = f.k;
      sum = ask(kReduceRoundings, *b_.executor, args);
      step.info.algorithm = "reduce";
      step.work = std::move(args);
    } else if (!final && in.op == Unary::Identity && out.op == Unary::Identity && in.dtype == out.dtype) {
      step.info.algorithm = "permute";
      step.work = device::MoveArgs{in.dtype, f.m};
    } else {
      // Terms: the operand (a) and C (b).
      host::PointwiseArgs args{b_.compute, out.dtype, final ? 2 : 1, {in.dtype, c ? c->dtype : out.dtype}, {}};
      args.ops[0] = in.op, args.ops[1] = c ? c->op : Unary::Identity;
      args.result = out.op;
      args.group = f.m;
      for (FoldedIndex& i : args.group) i.b = i.c, i.c = 0;
      if (!(in.dtype == out.dtype && in.op == Unary::Identity && out.op == Unary::Identity))
        ask(kPointwiseCheck, *b_.executor, args);
      step.info.algorithm = final ? "pointwise" : "convert";
      step.work = std::move(args);
    }
    step.info.bound = complex_factor() * (sum + (final ? 3 : 0)) * u();
    if (real_of(out.dtype) != real_of(b_.compute) && unit_roundoff(out.dtype) > u())
      step.info.bound += unit_roundoff(out.dtype);
    add(std::move(step), {&in}, out, f);
  }

  void finish_single() {
    // A constant operand of one: copied, so that the caller's memory is not needed later.
    if (nodes_[0].constant) nodes_[0] = copied(nodes_[0]);
    single(nodes_[0], output(), true);
  }

  // The distinct labels of an operand, in the order of its memory.
  [[nodiscard]] std::vector<Label> in_memory_order(const Node& n, const LabelSet& keep) const {
    std::vector<std::pair<std::int64_t, Label>> order;
    for (const Label l : keep) {
      std::int64_t stride = 0;
      for (std::size_t i = 0; i < n.labels.size(); ++i) stride += n.labels[i] == l ? n.strides[i] : 0;
      order.emplace_back(-std::abs(stride), l);
    }
    std::sort(order.begin(), order.end());
    std::vector<Label> labels;
    for (const auto& [stride, l] : order) labels.push_back(l);
    return labels;
  }
  Node copied(const Node& n) {
    const Node to = temporary(in_memory_order(n, present(n)), n.constant);
    single(n, to, false);
    return to;
  }

  // What has to happen to an operand before it is contracted.
  Node reduced(const Node& n, std::size_t number) {
    LabelSet keep;
    bool sums = false;
    for (const Label l : present(n)) {
      bool needed = std::find(e_.output.begin(), e_.output.end(), l) != e_.output.end();
      for (std::size_t i = 0; !needed && i < e_.inputs.size(); ++i)
        needed = i != number && present(leaf(i)).contains(l);
      needed ? (void)keep.insert(l) : (void)(sums = true);
    }
    // A contraction applies operators of real numbers on its way, those that it can.
    const bool simple = plain(n.op) || !is_complex(b_.compute);
    const bool narrow = b_.compute == DType::Float32 && (n.dtype == DType::BFloat16 || n.dtype == DType::Float16);
    if (!sums && simple && !n.constant && (n.dtype == b_.compute || narrow)) return n;
    const Node to = temporary(in_memory_order(n, keep), n.constant);
    single(n, to, false);
    return to;
  }

  // A device multiplies X[m, p, q] Y[p, r] Z[q, r] -> [m, r] at once, whatever path there is but one that is given.
  bool mttkrp() {
    if (b_.executor->family() != Family::Device || nodes_.size() != 3 || e_.output.size() != 2 ||
        d_.path.method == PathMethod::Given || b_.compute != DType::Float32)
      return false;
    const Node out = output(), c = *c_node();
    std::vector<const Node*> all{&nodes_[0], &nodes_[1], &nodes_[2], &out, &c};
    for (const Node* n : all) {
      const bool whole = std::all_of(n->shape.begin(), n->shape.end(), [](std::int64_t e) { return e > 1; });
      if (n->dtype != DType::Float32 || n->op != Unary::Identity || n->constant || !whole ||
          LabelSet(n->labels.begin(), n->labels.end()).size() != n->labels.size())
        return false;
    }
    if (std::any_of(b_.modes.begin(), b_.modes.end(), [](Mode m) { return m != Mode::Native; })) return false;
    const auto x = std::find_if(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.labels.size() == 3; });
    if (x == nodes_.end()) return false;
    std::vector<const Node*> factors;
    for (const Node& n : nodes_) {
      if (&n != &*x) factors.push_back(&n);
    }
    const auto has = [](const Node& n, Label l) {
      return std::find(n.labels.begin(), n.labels.end(), l) != n.labels.end();
    };
    const auto stride = [](const Node& n, Label l) {
      for (std::size_t i = 0; i < n.labels.size(); ++i) {
        if (n.labels[i] == l) return n.strides[i];
      }
      return std::int64_t{0};
    };
    const bool first_is_m = has(*x, e_.output[0]);
    const Label m = e_.output[first_is_m ? 0 : 1], r = e_.output[first_is_m ? 1 : 0];
    if (!has(*x, m) || has(*x, r)) return false;
    std::vector<Label> sums;  // of the factors, in their order
    for (const Node* f : factors) {
      if (f->labels.size() != 2 || !has(*f, r)) return false;
      sums.push_back(f->labels[f->labels[0] == r ? 1 : 0]);
    }
    if (sums[0] == sums[1] || sums[0] == m || sums[1] == m || !has(*x, sums[0]) || !has(*x, sums[1])) return false;
    // q is walked: the one that is closer in memory.
    if (std::abs(stride(*x, sums[0])) < std::abs(stride(*x, sums[1]))) {
      std::swap(sums[0], sums[1]), std::swap(factors[0], factors[1]);
    }
    const auto index = [&](Label l) {
      return device::MttkrpArgs::Index{size(l),      stride(*x, l), stride(*factors[0], l), stride(*factors[1], l),
                                       stride(c, l), stride(out, l)};
    };
    const device::MttkrpArgs args{index(m), index(sums[0]), index(sums[1]), index(r)};
    const double bound = ask(kMttkrpBound, *b_.executor, args);
    if (bound < 0) return false;
    ProgramStep step;
    step.a = x->ref, step.b = factors[0]->ref, step.third = factors[1]->ref;
    step.final = true;
    step.info.algorithm = "mttkrp";
    step.info.flops =
        (2 * elements(*x) + static_cast<double>(args.p.extent * args.q.extent)) * static_cast<double>(size(r));
    step.info.bound = bound;
    step.work = args;
    add(std::move(step), {&*x, factors[0], factors[1]}, out, {});
    return true;
  }

  static bool plain(Unary op) { return op == Unary::Identity || op == Unary::Conj; }

  // The labels that the output or a node still to come has.
  [[nodiscard]] LabelSet needed_after(std::size_t step) const {
    LabelSet set(e_.output.begin(), e_.output.end());
    std::vector<bool> used(e_.inputs.size() + b_.path.size(), false);
    for (std::size_t i = 0; i <= step; ++i) {
      used[static_cast<std::size_t>(b_.path[i].left)] = used[static_cast<std::size_t>(b_.path[i].right)] = true;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!used[i]) set.merge(present(nodes_[i]));
    }
    return set;
  }

  // Outermost first: batch labels of the next step, its sums, the rest in the order of the output.
  [[nodiscard]] std::vector<Label> layout(const LabelSet& labels, std::size_t step) const {
    const int number = static_cast<int>(e_.inputs.size() + step);
    LabelSet partner, after;
    for (std::size_t i = step + 1; i < b_.path.size(); ++i) {
      if (b_.path[i].left != number && b_.path[i].right != number) continue;
      partner = labels_of(b_.path[i].left == number ? b_.path[i].right : b_.path[i].left);
      after = future(i);
    }
    std::vector<std::pair<int, Label>> order;
    for (const Label l : labels) {
      const auto at = std::find(e_.output.begin(), e_.output.end(), l);
      const int place = at == e_.output.end() ? 0 : 1 + static_cast<int>(at - e_.output.begin());
      const int kind = !partner.contains(l) ? 2 : after.contains(l) ? 0 : 1;
      order.emplace_back(kind * 1000 + place, l);
    }
    std::sort(order.begin(), order.end());
    std::vector<Label> result;
    for (const auto& [key, l] : order) result.push_back(l);
    return result;
  }
  // Labels of a node that may not be made yet: those of its leaves that are needed outside it.
  [[nodiscard]] LabelSet labels_of(int node) const {
    if (static_cast<std::size_t>(node) < nodes_.size()) return present(nodes_[static_cast<std::size_t>(node)]);
    const PathStep& s = b_.path[static_cast<std::size_t>(node) - e_.inputs.size()];
    LabelSet set = labels_of(s.left);
    set.merge(labels_of(s.right));
    return set;
  }
  // Labels in the output or in nodes that are used after step i, its own result left out.
  [[nodiscard]] LabelSet future(std::size_t i) const {
    LabelSet set(e_.output.begin(), e_.output.end());
    for (std::size_t j = i + 1; j < b_.path.size(); ++j) {
      for (const int node : {b_.path[j].left, b_.path[j].right}) {
        if (node != static_cast<int>(e_.inputs.size() + i)) set.merge(labels_of(node));
      }
    }
    return set;
  }

  // For a device: an operand whose rows would be read an element at a time is permuted once. The one that owns D's unit
  // stride moves through the Tensor Engine and needs that index innermost; the other one needs its unit stride among
  // its own labels, or in the sum, where the kernel turns it.
  static constexpr double kWorthMoving = 1 << 14;  // elements
  void lay_out(Node& left, Node& right, const Node& result) {
    const auto unit = [](const Node& n) {
      for (std::size_t a = 0; a < n.labels.size(); ++a) {
        if (n.shape[a] > 1 && std::abs(n.strides[a]) == 1) return n.labels[a];
      }
      return Label(-1);
    };
    const LabelSet in_left = present(left), in_right = present(right), in_result = present(result);
    const Label first = unit(result);
    if (first < 0 || (in_left.contains(first) && in_right.contains(first))) return;
    const auto summed = [&](Label l) { return !in_result.contains(l); };
    const auto relaid = [&](Node& n, const Node& other, bool moves) {
      const LabelSet own = present(n), others = present(other);
      const Label at = unit(n);
      const bool repeated = own.size() != n.labels.size();
      const bool good = moves ? at == first : at >= 0 && (summed(at) || !others.contains(at));
      if (good || repeated || n.constant || elements(n) < kWorthMoving) return;
      LabelSet batch, sum, free;
      for (const Label l : own) (!others.contains(l) ? free : summed(l) ? sum : batch).insert(l);
      std::vector<Label> order;
      const auto append = [&](const LabelSet& labels, const Node& like) {
        for (const Label l : in_memory_order(like, labels)) order.push_back(l);
      };
      append(batch, n), append(sum, other), append(free, result);
      Node from = n;
      from.op = Unary::Identity;
      Node to = temporary(order, false);
      to.dtype = n.dtype;
      single(from, to, false);
      to.op = n.op;
      n = std::move(to);
    };
    const bool right_moves = in_right.contains(first);
    relaid(right, left, right_moves);
    relaid(left, right, !right_moves);
  }

  // A label is summed and another one is not in both operands; `kept`: labels of the result.
  [[nodiscard]] bool has_sum_and_rows(const Node& left, const Node& right, const LabelSet& kept) const {
    const LabelSet in_left = present(left), in_right = present(right);
    const bool sum =
        std::any_of(in_left.begin(), in_left.end(), [&](Label l) { return in_right.contains(l) && !kept.contains(l); });
    const bool rows =
        std::any_of(kept.begin(), kept.end(), [&](Label l) { return in_left.contains(l) != in_right.contains(l); });
    return sum && rows;
  }

  void contract(std::size_t i) {
    Node left = nodes_.at(static_cast<std::size_t>(b_.path[i].left));
    Node right = nodes_.at(static_cast<std::size_t>(b_.path[i].right));
    const bool last = i + 1 == b_.path.size(), constant = left.constant && right.constant;
    const Mode asked = b_.modes[i];
    const Node out = output();
    const std::optional<Node> c = c_node();
    const bool by_blas = asked == Mode::Exact || (asked != Mode::Native && b_.executor->family() == Family::Host);
    bool straight = last && !constant && out.dtype == b_.compute && c->dtype == b_.compute &&
                    c->op == Unary::Identity &&
                    (out.op == Unary::Identity || (!by_blas && !is_complex(b_.compute) && out.op != Unary::Conj));
    LabelSet labels = present(left), needed = needed_after(i);
    labels.merge(present(right));
    std::erase_if(labels, [&](Label l) { return !needed.contains(l); });
    Node result;
    if (straight) {
      result = out;
    } else {
      result = temporary(layout(labels, i), constant);
    }
    // The Tensor Engine takes two operands of the same 16 bits as they are; their products are exact in float32.
    const bool words = asked == Mode::Native || (asked == Mode::Bf16 && left.dtype == DType::BFloat16);
    const bool narrow = b_.executor->family() == Family::Device && words && left.dtype == right.dtype &&
                        left.dtype != b_.compute && plain(left.op) && plain(right.op) &&
                        has_sum_and_rows(left, right, labels);
    const Mode mode = narrow ? Mode::Native : asked;
    for (Node* n : {&left, &right}) {
      const bool converted = b_.executor->family() == Family::Device && !narrow && n->dtype != b_.compute;
      if (converted || (by_blas && !plain(n->op))) *n = copied(*n);
    }
    const FoldOperand fc = view(*c);
    const auto folded = [&] {
      const FoldOperand fa = view(left), fb = view(right), fd = view(result);
      return fold(b_.sizes, fa, &fb, straight ? &fc : nullptr, fd);
    };
    const bool conj_a = left.op == Unary::Conj, conj_b = right.op == Unary::Conj;
    const auto operator_of = [](const Node& n) { return plain(n.op) ? Unary::Identity : n.op; };
    const auto prepared = [&](const Folded& f) {
      device::ContractArgs args{f, b_.compute, mode, conj_a, conj_b, left.dtype, operator_of(left), operator_of(right)};
      if (straight) args.result = out.op;
      return ask(kPrepareContract, *b_.executor, {args, left.dtype, right.dtype, b_.threads});
    };
    if (!by_blas && !(plain(left.op) && plain(right.op) && (!straight || out.op == Unary::Identity))) {
      const PreparedContract w = prepared(folded());
      if (w.a_apart) left = copied(left);
      if (w.b_apart) right = copied(right);
      if (w.result_apart) straight = false, result = temporary(layout(labels, i), constant);
    }
    if (b_.executor->family() == Family::Device && mode != Mode::Exact && !constant && !prepared(folded()).any_order)
      lay_out(left, right, result);
    const Folded f = folded();
    const std::int64_t depth = extent_of(f.k);
    ProgramStep step;
    step.a = left.ref, step.b = right.ref;
    step.final = straight;
    step.info.mode = asked;
    step.info.flops = (is_complex(b_.compute) ? 8.0 : 2.0) * static_cast<double>(depth) *
                      static_cast<double>(extent_of(f.h)) * static_cast<double>(extent_of(f.m)) *
                      static_cast<double>(extent_of(f.n));
    if (by_blas) {
      Product p = prepare_product(f, mode, b_.compute, left.dtype, right.dtype, conj_a, conj_b);
      step.scratch_bytes = workspace_bytes(p);
      step.info.algorithm = "blas";
      // Exact keeps a few units of roundoff of the norms; what it kept is known afterwards.
      step.info.bound = mode == Mode::Exact
                            ? complex_factor() * (4 + 2 * static_cast<double>(depth / kExactDepth)) * u()
                            : blas::gemm_error_bound(b_.executor->family(), b_.compute, b_.compute, depth, mode);
      step.work = std::move(p);
    } else {
      PreparedContract w = prepared(f);
      step.scratch_bytes = w.scratch_bytes;
      step.info.algorithm = w.algorithm;
      step.info.bound = w.bound;
      std::visit([&](auto& work) { step.work = std::move(work); }, w.work);
    }
    add(std::move(step), {&left, &right}, result, f);
    nodes_.push_back(result);
    if (last && !straight) single(result, out, true);
  }

  // Temporaries share the workspace: each goes to the lowest place that is free while it lives.
  void place_temporaries() {
    for (std::size_t i = 0; i < temporaries_.size(); ++i) {
      Temporary& t = temporaries_[i];
      std::vector<std::pair<std::int64_t, std::int64_t>> taken;
      for (std::size_t j = 0; j < i; ++j) {
        const Temporary& o = temporaries_[j];
        if (o.last >= t.made) taken.emplace_back(o.offset, o.offset + o.bytes);
      }
      std::sort(taken.begin(), taken.end());
      for (const auto& [begin, end] : taken) {
        if (t.offset + t.bytes <= begin) break;
        t.offset = std::max(t.offset, end);
      }
      program_.temporary_bytes = std::max(program_.temporary_bytes, t.offset + t.bytes);
    }
    for (ProgramStep& s : program_.steps) {
      for (Ref* r : {&s.a, &s.b, &s.d}) {
        if (r->kind == Ref::Kind::Temporary) r->index = temporaries_[static_cast<std::size_t>(r->index)].offset;
      }
    }
  }

  struct Temporary {
    std::size_t made, last;  // steps
    std::int64_t bytes, offset;
  };
  const Blueprint& b_;
  const Description& d_;
  const Expression& e_;
  std::vector<Node> nodes_;  // inputs, then results of the path
  std::vector<Temporary> temporaries_;
  Program program_;
};

}  // namespace

Program build(const Blueprint& blueprint) { return Builder(blueprint).run(); }

Expression for_paths(const Expression& expression, const Sizes& sizes, const std::vector<Shape>& shapes) {
  Expression result = expression;
  for (std::size_t i = 0; i < expression.inputs.size(); ++i) {
    std::vector<Label> labels;
    for (std::size_t d = 0; d < expression.inputs[i].size(); ++d) {
      const Label l = expression.inputs[i][d];
      const bool again = std::find(labels.begin(), labels.end(), l) != labels.end();
      if (!again && (shapes[i][d] != 1 || sizes[static_cast<std::size_t>(l)] == 1)) labels.push_back(l);
    }
    result.inputs[i] = std::move(labels);
  }
  return result;
}

}  // namespace trn::tensor

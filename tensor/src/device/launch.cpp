// From steps with addresses to the shape of a program and its arguments.
#include "launch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <trn/core/error.hpp>

#include "numbers.hpp"

namespace trn::tensor::device {

namespace {

using blas::Factor;

bool zero(std::complex<double> x) { return x == std::complex<double>(0); }

std::int64_t elements(std::initializer_list<const Group*> groups) {
  std::int64_t product = 1;
  for (const Group* g : groups) product *= extent_of(*g);
  return product;
}

}  // namespace

int Batch::read(const void* address, DType dtype, std::initializer_list<const Group*> groups,
                std::int64_t FoldedIndex::*stride) {
  if (const auto made = made_.find(address); made != made_.end()) return made->second;
  Memory m{Memory::Kind::Input, dtype};
  for (const Group* g : groups) {
    for (const FoldedIndex& i : *g) {
      if (i.*stride == 0) continue;
      m.shape.push_back(i.extent), m.strides.push_back(i.*stride);
    }
  }
  if (const auto known = inputs_.find(address); known != inputs_.end()) {
    if (shape_.memories[static_cast<std::size_t>(known->second)] == m) return known->second;
  }
  shape_.memories.push_back(std::move(m));
  addresses_.push_back(address);
  return inputs_[address] = static_cast<int>(shape_.memories.size()) - 1;
}

int Batch::write(void* address, DType dtype, std::initializer_list<const Group*> groups) {
  const bool inside = std::find(inside_.begin(), inside_.end(), address) != inside_.end();
  Memory m{inside ? Memory::Kind::Scratch : Memory::Kind::Output, dtype};
  for (const Group* g : groups) {
    for (const FoldedIndex& i : *g) m.shape.push_back(i.extent), m.strides.push_back(i.d);
  }
  if (inside) {
    // Dense: rows as long as its largest stride, so that stores of some columns of every row are seen to be apart.
    std::int64_t row = 1;
    for (std::size_t i = 0; i < m.shape.size(); ++i) {
      if (m.shape[i] > 1) row = std::max(row, std::abs(m.strides[i]));
    }
    const std::int64_t count = elements(groups);
    if (count % row != 0) row = 1;
    m.shape = {count / row, row}, m.strides = {row, 1};
  }
  shape_.memories.push_back(std::move(m));
  addresses_.push_back(inside ? nullptr : address);
  const int number = static_cast<int>(shape_.memories.size()) - 1;
  made_[address] = number;
  return number;
}

int Batch::continued(const void* c, void* d, int c_memory, DType dtype, std::initializer_list<const Group*> groups) {
  // What an earlier step made goes on where it is.
  if (c == d && c_memory >= 0 && shape_.memories[static_cast<std::size_t>(c_memory)].kind != Memory::Kind::Input)
    return c_memory;
  const int number = write(d, dtype, groups);
  Memory& to = shape_.memories[static_cast<std::size_t>(number)];
  if (c != d || c_memory < 0) return number;
  // The input has D's elements: the same memory, declared alike.
  Memory& from = shape_.memories[static_cast<std::size_t>(c_memory)];
  from.shape = to.shape, from.strides = to.strides;
  to.over = c_memory;
  return number;
}

Factor Batch::kind_of(std::complex<double> value) const {
  const std::complex<float> f(value);
  if (f.imag() != 0) return Factor::ComplexInput;
  return f.real() == 0 ? Factor::Zero : f.real() == 1 ? Factor::One : Factor::Input;
}

void Batch::add(StepShape step, std::initializer_list<std::complex<double>> factors) {
  std::size_t i = 0;
  for (const std::complex<double> f : factors) {
    if (step.factors[i] == Factor::Input || step.factors[i] == Factor::ComplexInput) {
      const std::complex<float> value(f);
      const auto known = std::find(factors_.begin(), factors_.end(), value);
      step.factor_at[i] = static_cast<int>(known - factors_.begin());
      if (known == factors_.end()) factors_.push_back(value);
    }
    ++i;
  }
  shape_.steps.push_back(std::move(step));
}

void Batch::move(DType dtype, const Group& group, const void* a, void* d) {
  if (extent_of(group) == 0) return;
  StepShape step;
  step.at[0] = read(a, dtype, {&group}, &FoldedIndex::a);
  step.at[3] = write(d, dtype, {&group});
  MoveArgs args{dtype, group};
  for (FoldedIndex& i : args.group) i.b = i.c = 0;
  step.work = std::move(args);
  add(std::move(step), {});
}

void Batch::pointwise(host::PointwiseArgs s, const Call& call) {
  if (extent_of(s.group) == 0) return;
  Call c = call;
  for (int t = 0; t < s.terms; ++t) {
    if (kind_of(c.scale[t]) == Factor::Zero) c.scale[t] = 0;
  }
  // Terms that add nothing go, so that fewer programs are needed and a plain copy is a move.
  while (s.terms > 1 && zero(c.scale[s.terms - 1]) && (s.terms == 2 ? s.ab : s.abc) == Binary::Add) --s.terms;
  const bool plain = s.terms == 1 && s.ops[0] == Unary::Identity && s.result == Unary::Identity &&
                     s.types[0] == s.out && c.scale[0] == std::complex<double>(1);
  for (int t = s.terms; t < 3; ++t) s.types[t] = {}, s.ops[t] = {};
  for (FoldedIndex& i : s.group) {
    if (s.terms < 3) i.c = 0;
    if (s.terms < 2) i.b = 0;
  }
  if (s.terms < 3) s.abc = Binary::Add;
  if (s.terms < 2) s.ab = Binary::Add;
  if (plain) return move(s.out, s.group, c.data[0], c.d);
  check_pointwise(s);
  StepShape step;
  constexpr std::int64_t FoldedIndex::*strides[3] = {&FoldedIndex::a, &FoldedIndex::b, &FoldedIndex::c};
  int in_place = -1;
  for (int t = 0; t < s.terms; ++t) {
    const auto i = static_cast<std::size_t>(t);
    step.factors[i] = kind_of(c.scale[t]);
    if (step.factors[i] == Factor::Zero) continue;
    step.at[i] = read(c.data[t], s.types[t], {&s.group}, strides[t]);
    if (c.data[t] == c.d) in_place = step.at[i];
  }
  step.at[3] = continued(in_place >= 0 ? c.d : nullptr, c.d, in_place, s.out, {&s.group});
  step.work = std::move(s);
  add(std::move(step), {c.scale[0], c.scale[1], c.scale[2]});
}

void Batch::reduce(host::ReduceArgs s, const host::ReduceCall& call) {
  if (extent_of(s.kept) == 0) return;
  const bool nothing = extent_of(s.summed) == 0 || kind_of(call.alpha) == Factor::Zero;
  if (nothing) {  // D = alpha times the empty sum or product + beta C
    const double start = s.reduce == Binary::Mul && extent_of(s.summed) == 0 ? 1 : 0;
    if (start != 0) fail<NotImplemented>("tensor.reduce: an empty product has no device kernel; use the host executor");
    host::PointwiseArgs p{s.compute, s.out, 2, {s.out, s.c_type}, {Unary::Identity, s.c_op}};
    p.result = s.result, p.group = s.kept;
    for (FoldedIndex& i : p.group) i.a = 0, i.b = i.c, i.c = 0;
    return pointwise(std::move(p), {{nullptr, call.c}, {0, call.beta, 1}, call.d});
  }
  check_reduce(s);
  StepShape step;
  step.factors[0] = kind_of(call.alpha), step.factors[1] = kind_of(call.beta), step.factors[2] = Factor::Zero;
  if (!s.product) s.b_type = {}, s.b_op = {};
  const bool uses_c = step.factors[1] != Factor::Zero;
  for (Group* g : {&s.kept, &s.summed}) {
    for (FoldedIndex& i : *g) {
      if (!s.product) i.b = 0;
      if (!uses_c || g == &s.summed) i.c = 0;
      if (g == &s.summed) i.d = 0;
    }
  }
  step.at[0] = read(call.a, s.a_type, {&s.kept, &s.summed}, &FoldedIndex::a);
  if (s.product) step.at[1] = read(call.b, s.b_type, {&s.kept, &s.summed}, &FoldedIndex::b);
  if (uses_c) step.at[2] = read(call.c, s.c_type, {&s.kept}, &FoldedIndex::c);
  step.at[3] = continued(uses_c ? call.c : nullptr, call.d, step.at[2], s.out, {&s.kept});
  step.work = std::move(s);
  add(std::move(step), {call.alpha, call.beta});
}

void Batch::product(blas::ProductShape shape, const Operands& o) {
  shape.alpha = kind_of(o.alpha), shape.beta = kind_of(o.beta);
  if (shape.beta == Factor::Zero) {
    for (auto* g : {&shape.h, &shape.m, &shape.n}) {
      for (auto& i : *g) i.stride[2] = 0;
    }
  }
  Group h, m, n, k;
  for (const auto& [from, to] : {std::pair(&shape.h, &h), {&shape.m, &m}, {&shape.n, &n}, {&shape.k, &k}}) {
    for (const auto& i : *from) to->push_back({i.extent, i.stride[0], i.stride[1], i.stride[2], i.stride[3]});
  }
  StepShape step;
  step.at[0] = read(o.a, shape.in, {&h, &m, &k}, &FoldedIndex::a);
  step.at[1] = read(o.b, shape.in, {&h, &k, &n}, &FoldedIndex::b);
  const bool uses_c = shape.beta != Factor::Zero;
  if (uses_c) step.at[2] = read(o.c, shape.out, {&h, &m, &n}, &FoldedIndex::c);
  step.at[3] = continued(uses_c ? o.c : nullptr, o.d, step.at[2], shape.out, {&h, &m, &n});
  step.factors = {shape.alpha, shape.beta, Factor::Zero};
  step.work = std::move(shape);
  add(std::move(step), {o.alpha, o.beta});
}

void Batch::mttkrp(const MttkrpArgs& s, const Operands& o, const void* z) {
  const auto index = [](const MttkrpArgs::Index& i, std::int64_t a) { return FoldedIndex{i.extent, a, 0, i.c, i.d}; };
  const Group x{index(s.m, s.m.x), index(s.p, s.p.x), index(s.q, s.q.x)}, y{index(s.p, s.p.y), index(s.r, s.r.y)},
      w{index(s.q, s.q.z), index(s.r, s.r.z)}, d{index(s.m, 0), index(s.r, 0)};
  StepShape step;
  step.factors = {kind_of(o.alpha), kind_of(o.beta), Factor::Zero};
  MttkrpArgs args = s;
  const bool uses_c = step.factors[1] != Factor::Zero;
  if (!uses_c) args.m.c = args.r.c = 0;
  step.at[0] = read(o.a, DType::Float32, {&x}, &FoldedIndex::a);
  step.at[1] = read(o.b, DType::Float32, {&y}, &FoldedIndex::a);
  step.at[4] = read(z, DType::Float32, {&w}, &FoldedIndex::a);
  if (uses_c) step.at[2] = read(o.c, DType::Float32, {&d}, &FoldedIndex::c);
  step.at[3] = continued(uses_c ? o.c : nullptr, o.d, step.at[2], DType::Float32, {&d});
  step.work = args;
  add(std::move(step), {o.alpha, o.beta});
}

void Batch::launch(const Executor& executor) const {
  if (empty()) return;
  std::vector<tile::Argument> arguments;
  for (std::size_t i = 0; i < factors_.size(); ++i)
    arguments.push_back(tile::constant(fmt::format("f{}", i), std::array{factors_[i]}));
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (addresses_[i] == nullptr) continue;
    const std::string name = fmt::format("t{}", i);
    if (shape_.memories[i].kind == Memory::Kind::Output)
      arguments.emplace_back(name, const_cast<void*>(addresses_[i]));
    else
      arguments.emplace_back(name, addresses_[i]);
  }
  tile::launch(executor, plan_program, shape_, arguments);
}

namespace {

bool only_batch(const ContractArgs& c) { return c.folded.m.empty() && c.folded.n.empty(); }

Group all_of(const Folded& f) {
  Group all = f.h;
  all.insert(all.end(), f.m.begin(), f.m.end());
  all.insert(all.end(), f.n.begin(), f.n.end());
  sort_and_merge(all, &FoldedIndex::d);
  return all;
}

host::ReduceArgs dot_of(const ContractArgs& c) {
  host::ReduceArgs r{c.compute, c.compute, Binary::Add, true, c.compute, c.compute, c.compute};
  r.a_op = c.conj_a ? Unary::Conj : c.a_op;
  r.b_op = c.conj_b ? Unary::Conj : c.b_op;
  r.result = c.result;
  r.kept = all_of(c.folded);
  r.summed = c.folded.k;
  return r;
}

tile::blocks::BoxGroup boxes(const Group& group) {
  tile::blocks::BoxGroup result;
  for (const FoldedIndex& i : group) result.push_back({i.extent, {i.a, i.b, i.c, i.d}});
  return result;
}

blas::ProductShape product_of(const ContractArgs& c) {
  const Folded& f = c.folded;
  blas::ProductShape shape{c.in, c.compute, boxes(f.h), boxes(f.m), boxes(f.n), boxes(f.k)};
  shape.mode = c.mode, shape.conj_a = c.conj_a, shape.conj_b = c.conj_b;
  shape.of_a = element_function(c.a_op), shape.of_b = element_function(c.b_op);
  shape.of_d = element_function(c.result);
  return shape;
}

}  // namespace

bool reads_any_order(const ContractArgs& c, const tile::Machine& machine) {
  const Folded& f = c.folded;
  for (const Group* g : {&f.h, &f.m, &f.n, &f.k}) {
    if (extent_of(*g) == 0) return false;
  }
  return !f.k.empty() && !only_batch(c) && blas::product_is_skinny(product_of(c), machine);
}

bool applies(const ContractArgs& c, Unary op) {
  if (op == Unary::Identity) return true;
  if (c.compute != DType::Float32 || c.in != DType::Float32 || !has_device(op, false)) return false;
  const Folded& f = c.folded;
  const bool nothing = extent_of(f.k) == 0 || extent_of(all_of(f)) == 0;
  return nothing || f.k.empty() || only_batch(c) || element_function(op).present();
}

const char* algorithm_of(const ContractArgs& c, const tile::Machine& machine) {
  if (c.folded.k.empty()) return "pointwise";
  if (only_batch(c)) return "dot";
  return reads_any_order(c, machine) ? "skinny product" : "product";
}

double bound_of(const ContractArgs& c, const tile::Machine& machine) {
  const double u = unit_roundoff(DType::Float32), complex = is_complex(c.compute) ? 2 * std::sqrt(2.0) : 1;
  if (extent_of(c.folded.k) == 0) return 3 * u;
  if (c.folded.k.empty()) return complex * 4 * u;
  if (only_batch(c)) return complex * (sum_roundings(dot_of(c)) + 4) * u;
  return blas::product_error_bound(c.mode, c.in, false, blas::product_depth(boxes(c.folded.k), machine));
}

void contract(Batch& batch, const ContractArgs& c, const Batch::Operands& o) {
  const Folded& f = c.folded;
  const Group all = all_of(f);
  if (extent_of(all) == 0) return;
  const std::complex<float> alpha(o.alpha);
  if (extent_of(f.k) == 0 || alpha == std::complex<float>(0) || (!f.k.empty() && only_batch(c))) {
    host::ReduceArgs dot = dot_of(c);
    return batch.reduce(std::move(dot), {o.a, o.b, o.c, o.d, o.alpha, o.beta, 1});
  }
  if (f.k.empty()) {  // (alpha A) B + beta C
    host::PointwiseArgs p{c.compute, c.compute, 3, {c.compute, c.compute, c.compute}, {}};
    p.ops[0] = c.conj_a ? Unary::Conj : c.a_op;
    p.ops[1] = c.conj_b ? Unary::Conj : c.b_op;
    p.result = c.result;
    p.ab = Binary::Mul, p.group = all;
    return batch.pointwise(std::move(p), {{o.a, o.b, o.c}, {o.alpha, 1, o.beta}, o.d});
  }
  batch.product(product_of(c), o);
}

}  // namespace trn::tensor::device

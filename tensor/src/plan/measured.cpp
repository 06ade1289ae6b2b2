// Norms on host and devices, and how errors run along the steps.
#include "measured.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <trn/core/error.hpp>
#include <trn/core/parallel.hpp>

#include "../host/offsets.hpp"
#include "../host/runs.hpp"

namespace trn::tensor {

namespace {

constexpr std::int64_t kKept = 128;       // sums of a device that lie side by side
constexpr std::int64_t kPiece = 1 << 14;  // rows of a piece, added up on its own

// sum |scale op(x)|^2 and the largest |op(x)| over a group, in double; rows of the innermost index.
struct Squares {
  double sum = 0, top = 0;
};
template <class C> Squares squares(const Group& group, DType dtype, Unary op, const void* data, double scale) {
  const FoldedIndex row = group.empty() ? FoldedIndex{} : group.front();
  const Group outer(group.begin() + (group.empty() ? 0 : 1), group.end());
  const std::int64_t rows = extent_of(outer), pieces = (rows + kPiece - 1) / kPiece;
  std::vector<Squares> parts(static_cast<std::size_t>(pieces));
  for_pieces(pieces, loop_threads(), [&](std::int64_t p, int) {
    Squares part;
    C run[host::kRun];
    std::vector<std::int64_t> starts(static_cast<std::size_t>(std::min(kPiece, rows - p * kPiece)));
    host::offsets(outer, p * kPiece, static_cast<std::int64_t>(starts.size()), &FoldedIndex::a, starts.data());
    for (const std::int64_t start : starts) {
      for (std::int64_t i = 0; i < row.extent; i += host::kRun) {
        const std::int64_t n = std::min(host::kRun, row.extent - i);
        host::load_run(dtype, data, start + i * row.a, row.a, n, run);
        host::apply(op, run, n);
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          const double x = std::abs(run[j]);
          part.top = x > part.top || std::isnan(x) ? x : part.top;
          sum += (scale * x) * (scale * x);
        }
        part.sum += sum;
      }
    }
    parts[static_cast<std::size_t>(p)] = part;
  });
  Squares all;
  for (const Squares& part : parts) {
    all.sum += part.sum;
    all.top = part.top > all.top || std::isnan(part.top) ? part.top : all.top;
  }
  return all;
}

// At most 256 roundings in a run and as many pieces and runs as there are elements: n + 3 of 2^-53 in all.
template <class C> double host_norm(const Group& group, DType dtype, Unary op, const void* data) {
  Squares s = squares<C>(group, dtype, op, data, 1);
  if (s.top == 0 || !std::isfinite(s.top)) return std::isnan(s.top) ? std::numeric_limits<double>::infinity() : s.top;
  double scale = 1;
  if (!std::isfinite(s.sum) || s.top < 0x1p-400) {
    scale = std::ldexp(1.0, -std::ilogb(s.top));
    s = squares<C>(group, dtype, op, data, scale);
  }
  return std::sqrt(s.sum) / scale * (1 + (static_cast<double>(extent_of(group)) + 8) * 0x1p-53);
}
double host_norm(const Group& group, DType dtype, Unary op, const void* data) {
  return is_complex(dtype) ? host_norm<std::complex<double>>(group, dtype, op, data)
                           : host_norm<double>(group, dtype, op, data);
}

// The same elements, on the host.
double copied_norm(const Executor& executor, const Group& group, DType dtype, Unary op, const void* data) {
  Shape shape;
  Strides strides;
  for (const FoldedIndex& i : group) shape.push_back(i.extent), strides.push_back(i.a);
  const Executor host = Executor::host();
  const Buffer here(host, byte_count(shape, size_bytes(dtype)));
  const Strides dense = row_major_strides(shape);
  trn::detail::copy_elements({&executor, const_cast<void*>(data), &shape, &strides},
                             {&host, here.data(), &shape, &dense}, size_bytes(dtype));
  return host_norm({{element_count(shape), 1, 0, 0, 0}}, dtype, op, here.data());
}

// Up to 128 elements of the group side by side, the rest of it summed.
struct Cut {
  FoldedIndex kept{1, 0, 0, 0, 1};
  Group summed;
};
Cut cut_of(const Group& group) {
  std::int64_t best = 1;
  std::size_t at = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::int64_t q = std::min(kKept, group[i].extent); q > best; --q) {
      if (group[i].extent % q == 0) best = q, at = i;
    }
  }
  Cut cut;
  for (std::size_t i = 0; i < group.size(); ++i) {
    FoldedIndex index{group[i].extent, group[i].a, group[i].a, 0, 0};
    if (i == at && best > 1) {
      cut.kept = {best, index.a, index.a, 0, 1};
      index.extent /= best, index.a *= best, index.b *= best;
    }
    if (index.extent > 1) cut.summed.push_back(index);
  }
  if (cut.summed.empty()) cut.summed.push_back({});
  return cut;
}

Group joined(std::initializer_list<const Group*> groups, std::int64_t FoldedIndex::*stride) {
  Group all;
  for (const Group* g : groups) {
    for (const FoldedIndex& i : *g) all.push_back({i.extent, i.*stride, 0, 0, 0});
  }
  return all;
}

// What a step reads: its operands, as groups with strides a.
struct Read {
  Group group;
  DType dtype{};
  Unary op{};
};
std::vector<Read> reads_of(const ProgramStep& step) {
  const auto product = [](const Folded& f, DType a_type, DType b_type, Unary a_op, Unary b_op) {
    return std::vector<Read>{{joined({&f.h, &f.m, &f.k}, &FoldedIndex::a), a_type, a_op},
                             {joined({&f.h, &f.k, &f.n}, &FoldedIndex::b), b_type, b_op}};
  };
  if (const auto* w = std::get_if<host::Contraction>(&step.work))
    return product(w->folded, w->dot.a_type, w->dot.b_type, w->dot.a_op, w->dot.b_op);
  if (const auto* k = std::get_if<device::ContractArgs>(&step.work))
    return product(k->folded, k->in, k->in, k->a_op, k->b_op);
  if (const auto* p = std::get_if<Product>(&step.work))
    return product(p->folded, p->pack_a ? p->a_packing.types[0] : p->compute,
                   p->pack_b ? p->b_packing.types[0] : p->compute, {}, {});
  if (const auto* r = std::get_if<host::ReduceArgs>(&step.work))
    return {{joined({&r->kept, &r->summed}, &FoldedIndex::a), r->a_type, r->a_op}};
  if (const auto* p = std::get_if<host::PointwiseArgs>(&step.work))
    return {{joined({&p->group}, &FoldedIndex::a), p->types[0], p->ops[0]}};
  if (const auto* t = std::get_if<device::MttkrpArgs>(&step.work)) {
    const auto read = [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> indices) {
      Read one{{}, DType::Float32};
      for (const auto& [extent, stride] : indices) one.group.push_back({extent, stride, 0, 0, 0});
      return one;
    };
    return {read({{t->q.extent, t->q.x}, {t->p.extent, t->p.x}, {t->m.extent, t->m.x}}),
            read({{t->r.extent, t->r.y}, {t->p.extent, t->p.y}}), read({{t->r.extent, t->r.z}, {t->q.extent, t->q.z}})};
  }
  const auto& m = std::get<device::MoveArgs>(step.work);
  return {{joined({&m.group}, &FoldedIndex::a), m.dtype}};
}

}  // namespace

// sin, tanh and their like are steep off the real axis.
bool keeps_distance(Unary op, DType dtype) {
  switch (op) {
    case Unary::Identity:
    case Unary::Conj:
    case Unary::Abs:
    case Unary::Neg:
      return true;
    case Unary::Relu:
    case Unary::Sigmoid:
    case Unary::Tanh:
    case Unary::Sin:
    case Unary::Cos:
    case Unary::Atan:
    case Unary::Asinh:
    case Unary::Softplus:
    case Unary::Softsign:
      return !is_complex(dtype);
    default:
      return false;
  }
}

Norm::Norm(const Executor& executor, Group group, DType dtype, Unary op, const void* data, device::Batch* batch)
    : dtype_(dtype) {
  if (extent_of(group) == 0) return;
  if (executor.family() == Family::Host) {
    known_ = host_norm(group, dtype, op, data);
    return;
  }
  if (real_of(dtype) == DType::Float64) {
    known_ = copied_norm(executor, group, dtype, op, data);
    return;
  }
  const DType compute = is_complex(dtype) ? DType::Complex64 : DType::Float32;
  Cut cut = cut_of(group);
  host::ReduceArgs work{compute, compute, Binary::Add, true, dtype, dtype, compute};
  work.a_op = work.b_op = op;
  if (is_complex(dtype)) work.a_op = Unary::Identity, work.b_op = Unary::Conj;  // |x|^2, of conj(x) and -x too
  count_ = cut.kept.extent;
  const auto elements = static_cast<double>(extent_of(group));
  if (cut.kept.extent > 1) work.kept = {cut.kept};
  work.summed = cut.summed;
  sums_ = std::make_unique<Buffer>(executor, count_ * size_bytes(compute));
  dtype_ = compute;
  growth_ = 2 * (ask(kReduceRoundings, executor, work) + 4) * unit_roundoff(DType::Float32);
  lost_ = 2 * elements * static_cast<double>(std::numeric_limits<float>::min());
  dispatch(kReduce, executor, {work, {data, data, nullptr, sums_->data(), 1, 0, 1}, batch});
}

double Norm::value() const {
  if (!sums_) return known_;
  const bool pairs = is_complex(dtype_);
  std::vector<float> sums(static_cast<std::size_t>(count_ * (pairs ? 2 : 1)));
  copy_bytes(sums_->executor(), sums_->data(), Executor::host(), sums.data(),
             static_cast<std::int64_t>(sums.size() * sizeof(float)));
  double sum = 0;
  for (std::size_t i = 0; i < sums.size(); i += pairs ? 2 : 1) sum += static_cast<double>(sums[i]);
  if (std::isnan(sum)) return std::numeric_limits<double>::infinity();
  return std::sqrt(sum * (1 + growth_) + lost_);
}

Watch::Watch(const Description& d) : description_(d) {
  for (const Operand& o : d.operands) {
    if (o.constant) fail<NotImplemented>("tensor.einsum: measured errors of plans with constants are not offered");
  }
  if (!keeps_distance(d.output.op, d.output.dtype))
    fail<NotImplemented>("tensor.einsum: operator {} of the result may enlarge errors; measure the einsum without it",
                         name(d.output.op));
}

void Watch::begin(const Executor& executor, const std::vector<ProgramStep>& steps, const void* c, Scalars scalars) {
  scalars_ = scalars;
  records_.clear();
  c_norm_ = 0;
  if (scalars.beta == std::complex<double>(0)) return;
  for (const ProgramStep& step : steps) {
    if (!step.final) continue;
    const Operand& of = description_.c ? *description_.c : description_.output;
    const Unary op = description_.c ? of.op : Unary::Identity;
    Group group;
    if (const auto* w = std::get_if<host::Contraction>(&step.work))
      group = joined({&w->folded.h, &w->folded.m, &w->folded.n}, &FoldedIndex::c);
    else if (const auto* k = std::get_if<device::ContractArgs>(&step.work))
      group = joined({&k->folded.h, &k->folded.m, &k->folded.n}, &FoldedIndex::c);
    else if (const auto* p = std::get_if<Product>(&step.work))
      group = joined({&p->folded.h, &p->folded.m, &p->folded.n}, &FoldedIndex::c);
    else if (const auto* r = std::get_if<host::ReduceArgs>(&step.work))
      group = joined({&r->kept}, &FoldedIndex::c);
    else if (const auto* t = std::get_if<device::MttkrpArgs>(&step.work))
      group = {{t->r.extent, t->r.c, 0, 0, 0}, {t->m.extent, t->m.c, 0, 0, 0}};
    else
      group = joined({&std::get<host::PointwiseArgs>(step.work).group}, &FoldedIndex::b);
    c_norm_ = Norm(executor, group, of.dtype, op, c).value();
  }
}

void Watch::before(const Executor& executor, const ProgramStep& step, const std::array<const void*, 3>& operands,
                   device::Batch* batch) {
  Record record{&step, {}};
  if (!(step.final && scalars_.alpha == std::complex<double>(0))) {  // alpha = 0 reads no operand
    std::size_t i = 0;
    for (const Read& r : reads_of(step))
      record.norms.emplace_back(executor, r.group, r.dtype, r.op, operands.at(i++), batch);
  }
  records_.push_back(std::move(record));
}

void Watch::after(const ProgramStep& step, double bound) {
  ensure(!records_.empty() && records_.back().step == &step, "tensor: a step was not announced");
  records_.back().bound = bound;
}

void Watch::end() {
  std::map<std::pair<Ref::Kind, std::int64_t>, double> errors;  // the latest in a place counts
  const auto of = [&](const Ref& ref) {
    const auto found = errors.find({ref.kind, ref.index});
    return found == errors.end() ? 0.0 : found->second;
  };
  for (const Record& r : records_) {
    const double alpha = r.step->final ? std::abs(scalars_.alpha) : 1,
                 beta = r.step->final ? std::abs(scalars_.beta) : 0;
    // Of a product so far: its scale, and its error.
    const Ref* const refs[3] = {&r.step->a, &r.step->b, &r.step->third};
    double error = 0, scale = 1;
    for (std::size_t i = 0; i < r.norms.size(); ++i) {
      const double next = r.norms[i].value(), e = of(*refs[i]);
      error = scale * e + next * error + error * e;
      scale *= next;
    }
    if (const auto* sum = std::get_if<host::ReduceArgs>(&r.step->work)) {
      const double more = std::sqrt(static_cast<double>(extent_of(sum->summed)));
      error *= more, scale *= more;
    }
    error = alpha == 0 ? 0 : alpha * (error + r.bound * scale);
    if (beta != 0) error += beta * r.bound * c_norm_;
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();  // of an infinite norm
    errors[{r.step->d.kind, r.step->d.index}] = error * (1 + 0x1p-40);
    if (r.step->d.kind == Ref::Kind::Output) error_ += error * (1 + 0x1p-40);
  }
  records_.clear();
}

Measured Watch::result(const Executor& executor, const TypedView& d) const {
  Group group;
  for (std::size_t i = 0; i < d.shape.size(); ++i) group.push_back({d.shape[i], d.strides[i], 0, 0, 0});
  Measured m{error_, Norm(executor, group, d.dtype, Unary::Identity, d.data).value()};
  // What an operator gives is rounded too, which its argument says nothing of.
  if (description_.output.op != Unary::Identity) m.error += unit_roundoff(d.dtype) * m.norm;
  if (!std::isfinite(m.norm)) m.error = m.norm;  // D overflowed, or holds what did
  return m;
}

}  // namespace trn::tensor

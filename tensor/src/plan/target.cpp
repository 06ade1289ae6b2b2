// The ladder of modes of a type, and the greedy climb, in the seconds that the steps are estimated at.
//
// Range. A step multiplies numbers of at least a and b (those that are zero lose nothing), as P products of words. With
// t the word's `lost` (trn/tile/words.hpp), h half the smallest denormal of the computing type and g that of D's, a
// term of the sum loses at most (P + 1) h + t^2 of a b and 2 t of a and of b, and the result (P + 3) h, or (P + 3) g
// after alpha and beta. All of it relative to a b, the least that an element of absolute values can be, is added to the
// step's bound; blas counts the same relative to norms (docs/precision.md). A partial sum is at most the product of the
// largest numbers times the number of terms; so much of a loss can reach an element of D.
#include "target.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <trn/core/error.hpp>
#include <trn/tile/words.hpp>

namespace trn::tensor {

namespace {

constexpr double kLeastSeconds = 1e-12;  // by which a mode takes longer: those that cost nothing go by what they gain

}  // namespace

std::vector<Mode> modes_of_targets(Family family, DType compute) {
  if (real_of(compute) == DType::Float64) {
    if (family == Family::Host) return {Mode::Native, Mode::Exact};
    return {Mode::Exact};
  }
  if (family == Family::Host) return {Mode::Native, Mode::Bf16x6, Mode::Exact};
  return {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6, Mode::Exact};
}

Magnitudes sizes_in(const TypedView& view, Unary op) {
  const Array<double> values = magnitudes(view, op);
  Magnitudes m;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const double x = values.data()[i];
    m.finite = m.finite && std::isfinite(x);
    m.top = std::max(m.top, x);
    if (x > 0) m.least = std::min(m.least, x);
  }
  return m;
}

InRange in_range(const Plan::State& plan, std::span<const Magnitudes> operands, Scalars scalars, const Magnitudes& c) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr InRange none{kInfinity, kInfinity};
  const Description& d = plan.description;
  const bool wide = real_of(plan.compute) == DType::Float64;
  const double lost = wide ? 0x1p-1074 : 0x1p-150;  // double has no number for half its smallest denormal
  const double limit =
      wide ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
  double result_lost = lost, result_limit = limit;
  if (d.output.dtype == DType::BFloat16) result_lost = 0x1p-134, result_limit = 0x1.fep127;
  if (d.output.dtype == DType::Float16) result_lost = 0x1p-25, result_limit = 65504;
  const double factor = is_complex(plan.compute) ? 2 * std::sqrt(2.0) : 1;
  const double alpha = std::abs(scalars.alpha), beta = std::abs(scalars.beta);
  double terms = 1;
  const Sizes sizes = sizes_of(d.expression, plan.shapes);
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    const auto& out = d.expression.output;
    if (std::find(out.begin(), out.end(), static_cast<Label>(l)) == out.end()) terms *= static_cast<double>(sizes[l]);
  }
  double all = 1;  // the largest product of all operands
  for (const Magnitudes& m : operands) {
    if (!m.finite) return none;
    all *= m.top;
  }
  if (!c.finite) return none;
  // Temporaries take one another's places: the latest counts.
  std::map<std::pair<Ref::Kind, std::int64_t>, Magnitudes> known;
  const auto of = [&](const Ref& ref) {
    if (ref.kind == Ref::Kind::None) return Magnitudes{1, 1};
    return ref.kind == Ref::Kind::Input ? operands[static_cast<std::size_t>(ref.index)] : known[{ref.kind, ref.index}];
  };
  double growth = 0, absolute = 0;
  const Program& program = plan.programs.front();
  for (const std::vector<ProgramStep>* list : {&program.constant_steps, &program.steps}) {
    for (const ProgramStep& step : *list) {
      const Magnitudes a = of(step.a), b = of(step.b);
      const bool product = step.b.kind != Ref::Kind::None, exact = step.info.mode == Mode::Exact;
      const bool split = product && !wide && !exact && step.info.mode != Mode::Native;
      const tile::Words& words = tile::words_of(split ? step.info.mode : Mode::Native);
      if (split && std::max(a.top, b.top) >= words.overflow) return none;
      const double sum = a.top * b.top * terms, more = (1 + 0x1p-6) * (1 + 2 * step.info.bound);
      // An exact product rounds once, after alpha and beta.
      if (!(exact && step.final) && !(more * sum <= limit)) return none;
      if (step.final && !(more * (alpha * sum + beta * c.top) <= result_limit)) return none;
      const auto count = static_cast<double>(words.products.size());
      const double end = (count + 3) * (step.final ? result_lost * static_cast<double>(plan.passes.size()) : lost);
      const bool zero = a.top == 0 || b.top == 0;
      double loss = 0;
      if (!zero) {
        const double t = split ? words.lost : 0, scale = step.final ? alpha : 1;
        const double term = product && !exact ? (count + 1) * lost + t * t : 0;
        const double last = product || step.final ? end : 0;
        loss = term / a.least / b.least + 2 * t * (1 / a.least + 1 / b.least) + last / a.least / b.least / scale;
        const double here = terms * (term + 2 * t * (a.top + b.top));
        absolute += step.final ? alpha * here + last : alpha * terms * (all / a.top / b.top) * (here + last);
      }
      if (step.final && beta > 0 && c.top > 0) loss += end / c.least / beta, absolute += end;
      growth += std::log1p(step.info.bound + factor * loss);
      known[{step.d.kind, step.d.index}] = zero ? Magnitudes{} : Magnitudes{a.top * b.top, a.least * b.least};
    }
  }
  if (std::any_of(plan.passes.begin(), plan.passes.end(), [](const Pass& p) { return !p.first; }))
    growth += static_cast<double>(plan.passes.size()) * std::log1p(unit_roundoff(plan.compute));
  return {std::expm1(growth), 2 * factor * absolute};
}

std::vector<Mode> modes_for(double target, const Executor& executor, DType compute,
                            const std::function<Program(const std::vector<Mode>&)>& build, std::size_t contractions) {
  const std::vector<Mode> rungs = modes_of_targets(executor.family(), compute);
  std::vector<std::size_t> at(contractions, 0);
  const auto modes = [&] {
    std::vector<Mode> list;
    for (const std::size_t i : at) list.push_back(rungs[i]);
    return list;
  };
  // log(1 + g) and seconds of every contraction on every rung; what other steps add does not depend on modes.
  std::vector<std::vector<double>> gain(rungs.size()), seconds(rungs.size());
  double others = 0;
  for (std::size_t r = 0; r < rungs.size(); ++r) {
    const Program p = build(std::vector<Mode>(contractions, rungs[r]));
    others = 0;
    for (const std::vector<ProgramStep>* list : {&p.constant_steps, &p.steps}) {
      for (const ProgramStep& s : *list) {
        const bool contraction = s.b.kind != Ref::Kind::None;
        contraction ? gain[r].push_back(std::log1p(s.info.bound)) : (void)(others += std::log1p(s.info.bound));
        if (contraction) seconds[r].push_back(s.info.seconds);
      }
    }
  }
  const double limit = std::log1p(target);
  for (;;) {
    double total = others;
    for (std::size_t i = 0; i < contractions; ++i) total += gain[at[i]][i];
    if (total <= limit) break;
    double best = 0;
    std::size_t step = contractions, rung = 0;
    for (std::size_t i = 0; i < contractions; ++i) {
      for (std::size_t r = at[i] + 1; r < rungs.size(); ++r) {
        const double less = gain[at[i]][i] - gain[r][i];
        const double cost = std::max(kLeastSeconds, seconds[r][i] - seconds[at[i]][i]);
        if (less > 0 && less / cost > best) best = less / cost, step = i, rung = r;
      }
    }
    require(step < contractions,
            "tensor.einsum: no precision for {} on '{}' has a bound of {} for this einsum; the best is {}",
            name(compute), executor.name(), target, std::expm1(total));
    at[step] = rung;
  }
  // The climb may have gone too far: steps come down again where the rest allows it, and one mode for all may be as
  // good.
  const auto total_of = [&](const std::vector<std::vector<double>>& table, const std::vector<std::size_t>& chosen) {
    double sum = 0;
    for (std::size_t i = 0; i < contractions; ++i) sum += table[chosen[i]][i];
    return sum;
  };
  for (std::size_t i = 0; i < contractions; ++i) {
    for (std::size_t r = 0; r < rungs.size(); ++r) {
      std::vector<std::size_t> other = at;
      other[i] = r;
      if (seconds[r][i] < seconds[at[i]][i] && others + total_of(gain, other) <= limit) at = other;
    }
  }
  for (std::size_t r = 0; r < rungs.size(); ++r) {
    const std::vector<std::size_t> all(contractions, r);
    if (others + total_of(gain, all) <= limit && total_of(seconds, all) < total_of(seconds, at)) at = all;
  }
  return modes();
}

}  // namespace trn::tensor

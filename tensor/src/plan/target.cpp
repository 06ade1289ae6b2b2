// The ladder of modes of a type, and the greedy climb. Costs are products per multiplication of the formula, times a
// penalty for what a host emulates.
#include "target.hpp"

#include <cmath>

#include <trn/core/error.hpp>

namespace trn::tensor {

namespace {

struct Rung {
  Mode mode;
  double cost;  // of one multiplication, relative
};

std::vector<Rung> ladder(Family family, DType compute) {
  if (real_of(compute) == DType::Float64) {
    if (family == Family::Host) return {{Mode::Native, 1}, {Mode::Exact, 40}};
    return {{Mode::Exact, 40}};
  }
  if (family == Family::Host) return {{Mode::Native, 1}, {Mode::Bf16x6, 10}, {Mode::Exact, 40}};
  return {{Mode::Bf16, 1}, {Mode::Tf32, 2}, {Mode::Tf32x3, 3}, {Mode::Native, 4}, {Mode::Bf16x6, 6}, {Mode::Exact, 40}};
}

}  // namespace

std::vector<Mode> modes_for(double target, const Executor& executor, DType compute,
                            const std::function<Program(const std::vector<Mode>&)>& build, std::size_t contractions) {
  const std::vector<Rung> rungs = ladder(executor.family(), compute);
  std::vector<std::size_t> at(contractions, 0);
  const auto modes = [&] {
    std::vector<Mode> list;
    for (const std::size_t i : at) list.push_back(rungs[i].mode);
    return list;
  };
  // log(1 + g) of every contraction on every rung; what other steps add does not depend on modes.
  std::vector<std::vector<double>> gain(rungs.size());
  std::vector<double> flops;
  double others = 0;
  for (std::size_t r = 0; r < rungs.size(); ++r) {
    const Program p = build(std::vector<Mode>(contractions, rungs[r].mode));
    others = 0;
    flops.clear();
    for (const std::vector<ProgramStep>* list : {&p.constant_steps, &p.steps}) {
      for (const ProgramStep& s : *list) {
        const bool contraction = s.b.kind != Ref::Kind::None;
        contraction ? gain[r].push_back(std::log1p(s.info.bound)) : (void)(others += std::log1p(s.info.bound));
        if (contraction) flops.push_back(s.info.flops + 1);
      }
    }
  }
  const double limit = std::log1p(target);
  for (;;) {
    double total = others;
    for (std::size_t i = 0; i < contractions; ++i) total += gain[at[i]][i];
    if (total <= limit) return modes();
    double best = 0;
    std::size_t step = contractions, rung = 0;
    for (std::size_t i = 0; i < contractions; ++i) {
      for (std::size_t r = at[i] + 1; r < rungs.size(); ++r) {
        const double less = gain[at[i]][i] - gain[r][i], cost = (rungs[r].cost - rungs[at[i]].cost) * flops[i];
        if (less > 0 && less / cost > best) best = less / cost, step = i, rung = r;
      }
    }
    require(step < contractions,
            "tensor.einsum: no precision for {} on '{}' has a bound of {} for this einsum; the best is {}",
            name(compute), executor.name(), target, std::expm1(total));
    at[step] = rung;
  }
}

}  // namespace trn::tensor

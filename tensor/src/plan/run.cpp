// The steps of a program, one after another.
#include <cmath>

#include "kernels.hpp"
#include "program.hpp"

namespace trn::tensor {

namespace {

struct Runner {
  const Executor& executor;
  const Program& program;
  const Addresses& at;
  Scalars scalars;

  [[nodiscard]] void* address(const Ref& ref) const {
    switch (ref.kind) {
      case Ref::Kind::Input:
        return const_cast<void*>(at.inputs[static_cast<std::size_t>(ref.index)]);
      case Ref::Kind::Temporary:
        return static_cast<std::byte*>(at.workspace) + ref.index;
      case Ref::Kind::Constant:
        return static_cast<std::byte*>(at.constants) + ref.index;
      case Ref::Kind::Output:
        return at.output;
      case Ref::Kind::C:
        return const_cast<void*>(at.c);
      case Ref::Kind::None:
        break;
    }
    return nullptr;
  }

  double step(const ProgramStep& s) const {
    const Scalars x = s.final ? scalars : Scalars{};
    const void *a = address(s.a), *b = address(s.b), *c = s.final ? at.c : nullptr;
    void* d = address(s.d);
    void* scratch = static_cast<std::byte*>(at.workspace) + program.temporary_bytes;
    const int threads = program.threads;
    if (const auto* w = std::get_if<host::Contraction>(&s.work)) {
      dispatch(kContract, executor, {*w, {a, b, c, d, x.alpha, x.beta, scratch, threads}});
    } else if (const auto* r = std::get_if<host::ReduceArgs>(&s.work)) {
      dispatch(kReduce, executor, {*r, {a, b, c, d, x.alpha, x.beta, threads}});
    } else if (const auto* p = std::get_if<host::PointwiseArgs>(&s.work)) {
      const std::complex<double> beta = s.final ? x.beta : 0;
      dispatch(kPointwise, executor, {*p, {{a, c}, {x.alpha, beta, 1}, d, threads}});
    } else if (const auto* m = std::get_if<Move>(&s.work)) {
      dispatch(kPermute, executor, {m->element_bytes, m->group, a, d, threads});
    } else {
      const double found = multiply(executor, std::get<Product>(s.work), {a, b, c, d, scratch, x, threads});
      return s.info.mode == Mode::Exact ? found : s.info.bound;
    }
    return s.info.bound;
  }
};

}  // namespace

double run(const Executor& executor, const std::vector<ProgramStep>& steps, const Program& program,
           const Addresses& addresses, Scalars scalars) {
  const Runner runner{executor, program, addresses, scalars};
  double growth = 0;  // of prod (1 + g): summed as logarithms
  for (const ProgramStep& s : steps) growth += std::log1p(runner.step(s));
  return std::expm1(growth);
}

}  // namespace trn::tensor

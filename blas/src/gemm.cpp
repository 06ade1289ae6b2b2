// The entry point of gemm: checks arguments, folds transposes into strides, chooses the mode, dispatches.
#include <trn/blas/gemm.hpp>

#include "checks.hpp"
#include "gemm_arguments.hpp"
#include "gemm_target.hpp"

namespace trn::blas {

namespace {

const char* letter(Op op) { return op == Op::N ? "N" : op == Op::T ? "T" : "C"; }

// A product in a mode that is not Exact, with the bounds of its elements where they are asked for.
Accuracy run_in(const Executor& executor, GemmArgs g, const Accuracy& accuracy, const Bounds& out,
                std::optional<GemmNorms> known = {}) {
  g.mode = accuracy.mode;
  const GemmNorms norms = !out ? GemmNorms{} : known ? std::move(*known) : gemm_norms(executor, g);
  const std::vector<double> c = out ? magnitudes_of_c(executor, g) : std::vector<double>{};
  dispatch(kGemm, executor, g);
  if (out) {
    write_componentwise(*out, executor.family(), gemm_error_bound(executor.family(), g.in, g.out, g.k, accuracy.mode),
                        g, norms, c);
  }
  return accuracy;
}

// Runs a checked product in the mode that the options ask for.
Accuracy run(const char* operation, const Executor& executor, const GemmArgs& g, const GemmOptions& options) {
  if (options.precision.has_target())
    return gemm_to_target(operation, executor, g, options, read_operands(executor, g));
  const Mode mode = options.precision.mode();
  require_mode(operation, mode, g.in, executor.family());
  if (mode == Mode::Exact) return exact_gemm(operation, executor, g, options.componentwise, 0);
  return run_in(executor, g, {mode, passes_of(mode), gemm_error_bound(executor.family(), g.in, g.out, g.k, mode)},
                options.componentwise);
}

}  // namespace

ReadOperands read_operands(const Executor& executor, const GemmArgs& g) {
  ReadOperands read;
  if (offers(Mode::Exact, g.in, executor.family())) read.exact.emplace(executor, g);
  read.sizes = {.norms = read.exact ? norms_of(*read.exact) : gemm_norms(executor, g),
                .alpha = std::abs(g.alpha),
                .beta = std::abs(g.beta)};
  return read;
}

void read_c(const Executor& executor, const GemmArgs& g, ReadOperands& operands) {
  if (operands.with_c) return;
  for (const double c : magnitudes_of_c(executor, g)) operands.sizes.add_c(c);
  operands.with_c = true;
}

// C is read only where A and B leave a mode beside Exact.
Accuracy gemm_to_target(const char* operation, const Executor& executor, GemmArgs g, const GemmOptions& options,
                        ReadOperands operands) {
  const double target = options.precision.target_error();
  const auto chosen =
      cheapest_mode(executor.family(), g, operands.sizes, target, 1, [&] { read_c(executor, g, operands); });
  if (chosen) return run_in(executor, g, *chosen, options.componentwise, std::move(operands.sizes.norms));
  if (operands.exact) return exact_gemm(operation, executor, g, *operands.exact, options.componentwise, target);
  refuse_target(operation, g.in, executor, target,
                bound_with_range(executor.family(), g, Mode::Native, operands.sizes));
}

void detail::require_matrix(const char* operation, const char* operand, const Shape& shape) {
  require(shape.size() == 2, "{}: {} has rank {}, shape {}; a matrix has rank 2", operation, operand, shape.size(),
          to_string(shape));
}

template <Element In, Element Out> Accuracy detail::gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha,
                                                         const MatrixView<const In>& a, const MatrixView<const In>& b,
                                                         Compute<Out> beta, const MatrixView<Out>& c,
                                                         const GemmOptions& options) {
  constexpr const char* operation = "blas.gemm";
  checks::enumerators(operation, op_a, op_b, options.precision);
  checks::operand(operation, "A", executor, a);
  checks::operand(operation, "B", executor, b);
  checks::operand(operation, "C", executor, c);
  const MatrixView<const In> ta = op_a == Op::N ? a : a.transposed(), tb = op_b == Op::N ? b : b.transposed();
  require(ta.rows() == c.rows() && tb.columns() == c.columns() && ta.columns() == tb.rows(),
          "{}: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          operation, ta.rows(), ta.columns(), letter(op_a), tb.rows(), tb.columns(), letter(op_b), c.rows(),
          c.columns());
  check_bounds(operation, executor, options.componentwise, c.rows(), c.columns(),
               {{"A", checks::extent(a)}, {"B", checks::extent(b)}, {"C", checks::extent(c)}});
  checks::distinct_elements(operation, "C", checks::extent(c));
  checks::no_overlap(operation, "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap(operation, "B", checks::extent(b), "C", checks::extent(c));
  const GemmArgs g = gemm_arguments(op_a, op_b, alpha, a, b, beta, c);
  if (g.m == 0 || g.n == 0) {
    const Mode mode = options.precision.mode();  // nothing is computed, so nothing is chosen
    return {mode, passes_of(mode), 0};
  }
  return run(operation, executor, g, options);
}

#define TRN_GEMM(In, Out)                                                                                     \
  template Accuracy detail::gemm<In, Out>(const Executor&, Op, Op, Compute<Out>, const MatrixView<const In>&, \
                                          const MatrixView<const In>&, Compute<Out>, const MatrixView<Out>&,  \
                                          const GemmOptions&);
TRN_GEMM(float, float)
TRN_GEMM(double, double)
TRN_GEMM(std::complex<float>, std::complex<float>)
TRN_GEMM(std::complex<double>, std::complex<double>)
TRN_GEMM(bfloat16, bfloat16)
TRN_GEMM(bfloat16, float)
TRN_GEMM(float16, float16)
TRN_GEMM(float16, float)
TRN_GEMM(tfloat32, float)
#undef TRN_GEMM

}  // namespace trn::blas

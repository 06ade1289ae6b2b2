// Batched gemm on the device: the launch. A strided batch is one tensor per operand. The addresses of a pointer array
// may be anywhere, so each matrix is bound as a tensor of its own: the program holds one descriptor list per matrix,
// nothing is copied on the host, and the same program serves any other addresses.
#include <algorithm>
#include <array>
#include <trn/blas/gemm_batched_program.hpp>
#include <trn/tile/launch.hpp>

#include "../kernels.hpp"
#include "words.hpp"

namespace trn::blas {

double gemm_batched_error_bound(Mode mode, std::int64_t k) {
  return device::words_error_bound(device::words_of(mode, "blas.gemm_batched"), k);
}

}  // namespace trn::blas

namespace trn::blas::device {

using namespace trn::tile;

namespace {

Factor kind_of(std::complex<double> value) {
  return value == 0.0 ? Factor::Zero : value == 1.0 ? Factor::One : Factor::Input;
}

}  // namespace

void gemm_batched(const Executor& executor, const GemmBatchArgs& args) {
  GemmBatchedShape shape{args.dtype, Mode::Native, args.a_list != nullptr, {}};
  std::int64_t longest = 1;
  for (const BatchGroup& g : args.groups) {
    longest = std::max(longest, g.k);
    shape.groups.push_back({g.m, g.n, g.k, g.count, g.am, g.ak, g.bk, g.bn, g.cm, g.cn, args.stride_a, args.stride_b,
                            args.stride_c, kind_of(g.alpha), kind_of(g.beta)});
  }
  shape.mode = args.precision.mode();

  std::vector<Argument> arguments;
  const auto bind_factor = [&](const char* name, std::size_t group, std::complex<double> value) {
    if (kind_of(value) != Factor::Input) return;
    const auto single = static_cast<float>(value.real());
    arguments.push_back(constant(fmt::format("{}{}", name, group), std::array{single}));
  };
  std::int64_t number = 0;
  for (std::size_t i = 0; i < args.groups.size(); ++i) {
    const BatchGroup& g = args.groups[i];
    const bool multiplies = g.k > 0 && g.alpha != 0.0, nothing = !multiplies && g.beta == 1.0;
    if (multiplies) bind_factor("alpha", i, g.alpha);
    if (!nothing) bind_factor("beta", i, g.beta);
    for (std::int64_t p = 0; p < (shape.listed ? g.count : 1); ++p, ++number) {
      if (nothing) continue;
      const std::string suffix = shape.listed ? std::to_string(number) : "";
      if (multiplies) {
        arguments.push_back({"a" + suffix, args.a_of(g, p)});
        arguments.push_back({"b" + suffix, args.b_of(g, p)});
      }
      arguments.push_back({"c" + suffix, args.c_of(g, p)});
    }
  }
  if (!arguments.empty()) launch(executor, gemm_batched_program, shape, arguments);
  if (args.accuracy)
    *args.accuracy = {shape.mode, static_cast<int>(words_of(shape.mode, "blas.gemm_batched").products.size()),
                      gemm_batched_error_bound(shape.mode, longest)};
}

}  // namespace trn::blas::device

// gemm on the device: the launch. The program is product_kernel.cpp's.
#include <trn/core/array.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/device.hpp>

#include "../kernels.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::for_blocks;

namespace device {

namespace {

// C = beta * C, for k == 0 or alpha == 0: A and B are not read.
struct ScaleShape {
  DType dtype;
  std::int64_t m, n, cm, cn;
  Factor beta;
  bool operator==(const ScaleShape&) const = default;
};

Program scale_program(const ScaleShape& s, const Machine& machine) {
  constexpr std::int64_t kColumns = 4096;  // a block that needs little SBUF in any dtype and moves long rows
  Builder b("blas_gemm_scale", machine);
  Access c_in, beta;
  if (s.beta != Factor::Zero) {
    c_in = b.input("c_in", s.dtype, {s.m, s.n}, {s.cm, s.cn});
    beta = blocks::scalar_input(b, "beta");
  }
  const Access c = b.output("c", s.dtype, {s.m, s.n}, {s.cm, s.cn});
  for_blocks(b, "mb", s.m, machine.partitions, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) {
    for_blocks(b, "nb", s.n, kColumns, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
      const Access t = b.sbuf("t", rows, {columns}, s.dtype, 2);
      if (s.beta == Factor::Zero) {
        b.memset(t, 0);
      } else {
        b.dma_copy(t, c_in(ds(m0, rows), ds(n0, columns)));
        b.tensor_scalar(t, t, AluOp::Multiply, beta(ds(0, rows), all));
      }
      b.dma_copy(c(ds(m0, rows), ds(n0, columns)), t);
    });
  });
  return b.finish();
}

Factor kind_of(float value) { return value == 0 ? Factor::Zero : value == 1 ? Factor::One : Factor::Input; }

// Runs `program` with C bound as output and, where it is read, as input, and with the factors it asks for.
void launch(const Executor& executor, const Program& program, const GemmArgs& g, std::vector<Binding> bindings) {
  Device& device = device_of(executor);
  bindings.push_back({"c", g.c});
  std::vector<Buffer> factors;  // on the device while the program runs
  for (const TensorDecl& tensor : program.tensors()) {
    if (tensor.name == "c_in") bindings.push_back({"c_in", g.c});
    if (tensor.name != "alpha" && tensor.name != "beta") continue;
    const auto value = static_cast<float>((tensor.name == "alpha" ? g.alpha : g.beta).real());
    factors.emplace_back(executor, static_cast<std::int64_t>(sizeof value));
    device.copy_in(factors.back().data(), &value, sizeof value);
    bindings.push_back({tensor.name, factors.back().data()});
  }
  device.run(program, bindings);
}

}  // namespace

void gemm(const Executor& executor, const GemmArgs& args) {
  // Where C's columns are the contiguous direction, compute its transpose: the kernel stores rows.
  const GemmArgs g = args.cm == 1 && args.cn != 1 && args.n > 1 ? transposed(args) : args;
  Device& device = device_of(executor);
  const Machine& machine = device.machine();
  const Factor alpha = kind_of(static_cast<float>(g.alpha.real())), beta = kind_of(static_cast<float>(g.beta.real()));
  if (real_of(g.in) != DType::Float64 && !is_complex(g.in) && (g.k == 0 || alpha == Factor::Zero)) {
    if (beta == Factor::One) return;
    const ScaleShape shape{g.out, g.m, g.n, g.cm, g.cn, beta};
    return launch(executor, *device.programs().get(shape, [&](const ScaleShape& s) { return scale_program(s, machine); }), g, {});
  }
  const GemmShape shape{g.in, g.out, g.m, g.n, g.k, g.am, g.ak, g.bk, g.bn, g.cm, g.cn, alpha, beta};
  launch(executor, *device.programs().get(shape, [&](const GemmShape& s) { return gemm_program(s, machine); }), g,
         {{"a", const_cast<void*>(g.a)}, {"b", const_cast<void*>(g.b)}});
}

}  // namespace device

}  // namespace trn::blas

// Matrix products with loads in the inner loops. The compiler keeps a tile while it is needed again soon, which the
// published traffic shows; such loads are left out by peeling the loops where they would fall.
#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {

constexpr std::int64_t kRows = 128, kColumns = 512;  // of one matmul's result
constexpr std::int64_t kStreamBuffers = 8, kResults = 4;

struct Operands {
  Access a, b, c;
};

Operands declare(Builder& builder, const MatmulShape& shape) {
  return {builder.input("a", shape.dtype, {shape.k, shape.m}), builder.input("b", shape.dtype, {shape.k, shape.n}),
          builder.output("c", shape.dtype, {shape.m, shape.n})};
}

}  // namespace

// for m, n: for k: load a (128, 128), load b (128, 512), matmul; copy out, store
Program streamed_matmul(const Machine& machine, const MatmulShape& shape) {
  Builder b("streamed_matmul", machine);
  const Operands hbm = declare(b, shape);
  b.parallel("m", shape.m / kRows, [&](const Affine& m) {
    b.parallel("n", shape.n / kColumns, [&](const Affine& n) {
      const Access acc = b.psum("acc", kRows, {kColumns}, DType::Float32, kResults);
      b.sequential("k", shape.k / kRows, [&](const Affine& k) {
        const Access at = b.sbuf("a_tile", kRows, {kRows}, shape.dtype, kStreamBuffers);
        const Access bt = b.sbuf("b_tile", kRows, {kColumns}, shape.dtype, kStreamBuffers);
        b.dma_copy(at, hbm.a(ds(k * kRows, kRows), ds(m * kRows, kRows)));
        b.dma_copy(bt, hbm.b(ds(k * kRows, kRows), ds(n * kColumns, kColumns)));
        b.nc_matmul(acc, at, bt, {.accumulate = k});
      });
      const Access out = b.sbuf("out", kRows, {kColumns}, shape.dtype, kResults);
      b.tensor_copy(out, acc, Engine::Vector);
      b.dma_copy(hbm.c(ds(m * kRows, kRows), ds(n * kColumns, kColumns)), out);
    });
  });
  return b.finish();
}

Program naive_matmul(const Machine& machine, const MatmulShape& shape, const Reuse& reuse) {
  Builder b("naive_matmul", machine);
  const Operands hbm = declare(b, shape);
  const std::int64_t nt = shape.n / kColumns, kt = shape.k / kRows;
  const bool keep_b = reuse.b_serves > 1;
  b.parallel("m", shape.m / kRows / reuse.b_serves, [&](const Affine& outer) {
    const Access acc = b.psum("acc", kRows, {kResults, kColumns});
    const Access out = b.sbuf("out", kRows, {kResults, kColumns}, shape.dtype);
    // Kept: every tile of B has its place, two rows of tiles apart. Not kept: a few places taken in turn.
    const Access bt = keep_b ? b.sbuf("b_tiles", kRows, {nt * kt, kColumns}, shape.dtype, 2)
                             : b.sbuf("b_tiles", kRows, {kStreamBuffers, kColumns}, shape.dtype);
    for (std::int64_t row = 0; row < reuse.b_serves; ++row) {
      const Affine m = outer * reuse.b_serves + row;
      Access at;
      for (std::int64_t n = 0; n < nt; ++n) {
        const bool load_a = n % reuse.a_serves == 0, load_b = row == 0;
        if (load_a) at = b.sbuf("a_tiles", kRows, {kt, kRows}, shape.dtype);
        const Access bank = acc(all, ds(n % kResults, 1), all);
        b.sequential("k_outer", kt / kStreamBuffers, [&](const Affine& k_outer) {
          b.sequential("k", kStreamBuffers, [&](const Affine& k_inner) {
            const Affine k = k_outer * kStreamBuffers + k_inner;
            const Access a_k = at(all, ds(k, 1), all);
            const Access b_k = bt(all, ds(keep_b ? n * kt + k : k_inner, 1), all);
            if (load_a) b.dma_copy(a_k, hbm.a(ds(k * kRows, kRows), ds(m * kRows, kRows)));
            if (load_b) b.dma_copy(b_k, hbm.b(ds(k * kRows, kRows), ds(n * kColumns, kColumns)));
            b.nc_matmul(bank, a_k, b_k, {.accumulate = k});
          });
        });
        const Access result = out(all, ds(n % kResults, 1), all);
        b.tensor_copy(result, bank, Engine::Vector);
        b.dma_copy(hbm.c(ds(m * kRows, kRows), ds(n * kColumns, kColumns)), result);
      }
    }
  });
  return b.finish();
}

Program naive_matmul_transposing(const Machine& machine, const MatmulShape& shape, TransposeAhead ahead) {
  Builder b("naive_matmul_transposing", machine);
  const Access ha = b.input("a", shape.dtype, {shape.m, shape.k});
  const Access hb = b.input("b", shape.dtype, {shape.k, shape.n});
  const Access hc = b.output("c", shape.dtype, {shape.m, shape.n});
  const std::int64_t nt = shape.n / kColumns, kt = shape.k / kRows;
  constexpr std::int64_t kServes = 2;
  b.parallel("m", shape.m / kRows / kServes, [&](const Affine& outer) {
    const Access acc = b.psum("acc", kRows, {kResults, kColumns});
    const Access turning = b.psum("turning", kRows, {kt, kRows}, shape.dtype);
    const Access turned = b.sbuf("turned", kRows, {kt, kRows}, shape.dtype);
    const Access out = b.sbuf("out", kRows, {kResults, kColumns}, shape.dtype);
    const Access bt = b.sbuf("b_tiles", kRows, {nt * kt, kColumns}, shape.dtype, 2);
    for (std::int64_t row = 0; row < kServes; ++row) {
      const Affine m = outer * kServes + row;
      const Access at = b.sbuf("a_tiles", kRows, {kt, kRows}, shape.dtype);
      for (std::int64_t n = 0; n < nt; ++n) {
        const Access bank = acc(all, ds(n % kResults, 1), all);
        const auto turn = [&](const Affine& k) {
          const Access a_k = at(all, ds(k, 1), all), t_k = turning(all, ds(k, 1), all);
          if (n == 0) b.dma_copy(a_k, ha(ds(m * kRows, kRows), ds(k * kRows, kRows)));
          b.nc_transpose(t_k, a_k);
          b.tensor_copy(turned(all, ds(k, 1), all), t_k, Engine::Vector);
        };
        const auto multiply = [&](const Affine& k) {
          const Access b_k = bt(all, ds(n * kt + k, 1), all);
          if (row == 0) b.dma_copy(b_k, hb(ds(k * kRows, kRows), ds(n * kColumns, kColumns)));
          b.nc_matmul(bank, turned(all, ds(k, 1), all), b_k, {.accumulate = k});
        };
        if (ahead == TransposeAhead::One) {
          turn(0);
          b.sequential("k", kt - 1, [&](const Affine& k) {
            turn(k + 1);
            multiply(k);
          });
          multiply(kt - 1);
        } else {
          b.sequential("k", kt, [&](const Affine& k) {
            turn(k);
            multiply(k);
          });
        }
        const Access result = out(all, ds(n % kResults, 1), all);
        b.tensor_copy(result, bank, Engine::Vector);
        b.dma_copy(hc(ds(m * kRows, kRows), ds(n * kColumns, kColumns)), result);
      }
    }
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

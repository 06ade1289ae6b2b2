// GEMM + bias + GELU as github allenkchau/trainium-kernel-fusion published it, from its source: one fused kernel, or a
// GEMM that stores its result and a second kernel that applies GELU. Kernel arguments arrive with descriptors made by
// GpSimd, and all loads come first, as the profiles of the same collection show; a tile that fits on chip is loaded
// once.
#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {
constexpr std::int64_t kRows = 128, kColumns = 512, kBuffers = 4;
constexpr DmaOptions kSoftware{.dge = DgeMode::Software};
}  // namespace

// load everything, column by column of tiles; for m, n: for k: matmul; copy out; + bias, broadcast over partitions by
// the
//   Tensor Engine; GELU; store
Program gelu_matmul(const Machine& machine, const MatmulShape& shape, Activated activated) {
  Builder b("gelu_matmul", machine);
  const Access ha = b.input("a", shape.dtype, {shape.k, shape.m}), hb = b.input("b", shape.dtype, {shape.k, shape.n});
  const Access hbias = b.input("bias", shape.dtype, {1, shape.n}), hc = b.output("c", shape.dtype, {shape.m, shape.n});
  const std::int64_t mt = shape.m / kRows, nt = shape.n / kColumns, kt = shape.k / kRows;
  const Access at = b.sbuf("a_tiles", kRows, {mt * kt, kRows}, shape.dtype);
  const Access bt = b.sbuf("b_tiles", kRows, {nt * kt, kColumns}, shape.dtype);
  const Access bias = b.sbuf("bias_row", 1, {shape.n}, shape.dtype), ones = b.sbuf("ones", 1, {kRows}, shape.dtype);
  // Results rotate through four places; written out, because the loops below are unrolled.
  const Access accs = b.psum("acc", kRows, {kBuffers, kColumns}), spreads = b.psum("bias", kRows, {kBuffers, kColumns});
  const Access parts = b.sbuf("part", kRows, {kBuffers, kColumns}, shape.dtype);
  b.memset(ones, 1.0, Engine::Vector);
  const auto a_tile = [&](std::int64_t m, std::int64_t k) { return at(all, ds(m * kt + k, 1), all); };
  const auto b_tile = [&](std::int64_t n, std::int64_t k) { return bt(all, ds(n * kt + k, 1), all); };
  const auto load_a = [&](std::int64_t m, std::int64_t k) {
    b.dma_copy(a_tile(m, k), ha(ds(k * kRows, kRows), ds(m * kRows, kRows)), kSoftware);
  };
  const auto load_b = [&](std::int64_t n, std::int64_t k) {
    b.dma_copy(b_tile(n, k), hb(ds(k * kRows, kRows), ds(n * kColumns, kColumns)), kSoftware);
  };
  for (std::int64_t k = 0; k < kt; ++k) {
    load_a(0, k);
    load_b(0, k);
  }
  b.dma_copy(bias, hbias, kSoftware);
  for (std::int64_t n = 1; n < nt; ++n) {
    for (std::int64_t k = 0; k < kt; ++k) load_b(n, k);
  }
  for (std::int64_t m = 1; m < mt; ++m) {
    for (std::int64_t k = 0; k < kt; ++k) load_a(m, k);
  }
  for (std::int64_t m = 0; m < mt; ++m) {
    for (std::int64_t n = 0; n < nt; ++n) {
      const Slice place = ds((m * nt + n) % kBuffers, 1);
      const Access acc = accs(all, place, all), spread = spreads(all, place, all), part = parts(all, place, all);
      for (std::int64_t k = 0; k < kt; ++k) b.nc_matmul(acc, a_tile(m, k), b_tile(n, k), {.accumulate = k});
      b.tensor_copy(part, acc);
      const Access bias_n = bias(all, ds(n * kColumns, kColumns));
      b.nc_matmul(spread, ones, bias_n);
      b.tensor_tensor(part, part, spread, AluOp::Add, Engine::Vector);
      if (activated == Activated::InPlace) b.activation(part, ActFunction::Gelu, part);
      b.dma_copy(hc(ds(m * kRows, kRows), ds(n * kColumns, kColumns)), part, kSoftware);
    }
  }
  return b.finish();
}

Program gelu(const Machine& machine, const MatmulShape& shape) {
  Builder b("gelu", machine);
  const Access y = b.input("y", shape.dtype, {shape.m, shape.n}), z = b.output("z", shape.dtype, {shape.m, shape.n});
  const std::int64_t mt = shape.m / kRows, nt = shape.n / kColumns;
  const Access tiles = b.sbuf("tiles", kRows, {mt * nt, kColumns}, shape.dtype);
  const auto each = [&](const auto& body) {
    b.parallel("m", mt, [&](const Affine& m) {
      b.parallel("n", nt, [&](const Affine& n) {
        body(tiles(all, ds(m * nt + n, 1), all),
             [&, m, n](const Access& hbm) { return hbm(ds(m * kRows, kRows), ds(n * kColumns, kColumns)); });
      });
    });
  };
  each([&](const Access& tile, const auto& of) { b.dma_copy(tile, of(y), kSoftware); });
  each([&](const Access& tile, const auto& of) {
    b.activation(tile, ActFunction::Gelu, tile);
    b.dma_copy(of(z), tile, kSoftware);
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

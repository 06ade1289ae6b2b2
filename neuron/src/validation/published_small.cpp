// Small published kernels: matmuls on resident operands, DMA descriptor sources, vector addition and a transpose.
#include <algorithm>

#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {
constexpr std::int64_t kRows = 128;
}

Program resident_matmuls(const Machine& machine, const std::vector<ResidentMatmul>& sizes) {
  Builder b("resident_matmuls", machine);
  const Access ha = b.input("a", DType::BFloat16, {kRows, kRows});
  const Access hb = b.input("b", DType::BFloat16, {kRows, 512});
  const Access hc = b.output("c", DType::Float32, {kRows, 512});
  const Access at = b.sbuf("a_tile", kRows, {kRows}, DType::BFloat16);
  const Access bt = b.sbuf("b_tile", kRows, {512}, DType::BFloat16);
  const Access acc = b.psum("acc", kRows, {512});
  b.dma_copy(at, ha);
  b.dma_copy(bt, hb);
  for (const ResidentMatmul& size : sizes) {
    b.parallel("i", size.count, [&](const Affine&) {
      b.nc_matmul(acc(ds(0, size.m), ds(0, size.n)), at(ds(0, size.k), ds(0, size.m)),
                  bt(ds(0, size.k), ds(0, size.n)));
    });
  }
  const Access out = b.sbuf("out", kRows, {512}, DType::Float32);
  b.tensor_copy(out, acc, Engine::Vector);
  b.dma_copy(hc, out);
  return b.finish();
}

Program descriptor_sources(const Machine& machine, std::int64_t columns) {
  constexpr auto kType = DType::BFloat16;
  constexpr std::int64_t kEach = 4, kSmall = 16;
  Builder b("descriptor_sources", machine);
  const Access x = b.input("x", kType, {4 * kEach * kRows, columns});
  const Access s = b.input("s", kType, {kEach * kSmall, kRows});
  const Access y = b.output("y", kType, {4 * kEach * kRows, columns});
  const Access t = b.output("t", kType, {kEach * kSmall, kRows});
  std::int64_t row = 0;
  for (const DgeMode dge : {DgeMode::Static, DgeMode::Software, DgeMode::Hardware, DgeMode::Default}) {
    for (std::int64_t i = 0; i < kEach; ++i, row += kRows) {
      const Access tile = b.sbuf("tile", kRows, {columns}, kType);
      b.dma_copy(tile, x(ds(row, kRows), all), {.dge = dge});
      b.dma_copy(y(ds(row, kRows), all), tile, {.dge = dge});
    }
  }
  // Transposing DMAs: from HBM, then from SBUF to SBUF, the result stored.
  std::vector<Access> turned;
  for (std::int64_t i = 0; i < kEach; ++i) {
    turned.push_back(b.sbuf("turned", kRows, {kSmall}, kType));
    b.dma_transpose(turned.back(), s(ds(i * kSmall, kSmall), all));
  }
  for (std::int64_t i = 0; i < kEach; ++i) {
    const Access back = b.sbuf("back", kSmall, {kRows}, kType);
    b.dma_transpose(back, turned[static_cast<std::size_t>(i)]);
    b.dma_copy(t(ds(i * kSmall, kSmall), all), back);
  }
  return b.finish();
}

Program vector_add(const Machine& machine, std::int64_t tiles, std::int64_t columns) {
  constexpr auto kType = DType::Float32;
  constexpr DmaOptions kStatic{.dge = DgeMode::Static};
  const std::int64_t buffers = std::min<std::int64_t>(8, tiles);
  Builder b("vector_add", machine);
  // One element per partition: neighbours follow one another; else a partition owns a row of the whole.
  const bool narrow = columns == 1;
  const Shape shape = narrow ? Shape{tiles, kRows} : Shape{kRows, tiles * columns};
  const Access ha = b.input("a", kType, shape), hb = b.input("b", kType, shape), hc = b.output("c", kType, shape);
  const auto tile = [&](const Access& hbm, const Affine& i) {
    return narrow ? hbm(ds(i, 1), all).permute({1, 0}) : hbm(all, ds(i * columns, columns));
  };
  b.parallel("i", tiles, [&](const Affine& i) {
    const Access at = b.sbuf("a_tile", kRows, {columns}, kType, buffers);
    const Access bt = b.sbuf("b_tile", kRows, {columns}, kType, buffers);
    const Access ct = b.sbuf("c_tile", kRows, {columns}, kType, buffers);
    b.dma_copy(at, tile(ha, i), kStatic);
    b.dma_copy(bt, tile(hb, i), kStatic);
    if (narrow)
      b.tensor_scalar(ct, at, AluOp::Add, bt, {.engine = Engine::Vector});
    else
      b.tensor_tensor(ct, at, bt, AluOp::Add, Engine::Vector);
    b.dma_copy(tile(hc, i), ct, kStatic);
  });
  return b.finish();
}

Program transpose_1024(const Machine& machine) {
  constexpr auto kType = DType::Float32;
  constexpr DmaOptions kStatic{.dge = DgeMode::Static};
  constexpr std::int64_t kSize = 1024, kTiles = kSize / kRows, kBuffers = 8;
  Builder b("transpose_1024", machine);
  const Access identity = b.input("identity", kType, {kRows, kRows});
  const Access x = b.input("x", kType, {kSize, kSize});
  const Access y = b.output("y", kType, {kSize, kSize});
  b.dma_copy(b.sbuf("identity_tile", kRows, {kRows}, kType), identity, kStatic);  // loaded by the published kernel
  b.parallel("i", kTiles, [&](const Affine& i) {
    b.parallel("j", kTiles, [&](const Affine& j) {
      const Access from = b.sbuf("from", kRows, {kRows}, kType, kBuffers);
      const Access turned = b.psum("turned", kRows, {kRows}, kType, kBuffers);
      const Access to = b.sbuf("to", kRows, {kRows}, kType, kBuffers);
      b.dma_copy(from, x(ds(i * kRows, kRows), ds(j * kRows, kRows)), kStatic);
      b.nc_transpose(turned, from);
      b.tensor_copy(to, turned, Engine::Scalar);
      b.dma_copy(y(ds(j * kRows, kRows), ds(i * kRows, kRows)), to, kStatic);
    });
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

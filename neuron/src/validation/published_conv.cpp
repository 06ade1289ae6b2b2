// A convolution by shifted matmuls (course work on trn2, from its source) and the rotary embedding of NKIBench (trn1).
#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {
constexpr std::int64_t kRows = 128, kBuffers = 8;
constexpr DmaOptions kStatic{.dge = DgeMode::Static};
}  // namespace

// Weights once, turned by the Tensor Engine; then for every tile of output channels and every row of the image: for
// both tiles of input channels, three rows, three shifts: matmul; copy out, + bias, store.
Program convolution(const Machine& machine, DType dtype) {
  constexpr std::int64_t kChannels = 256, kSide = 224, kFilter = 3, kOut = kSide - kFilter + 1;
  constexpr std::int64_t kTiles = kChannels / kRows, kTaps = kFilter * kFilter;
  Builder b("convolution", machine);
  const Access x = b.input("x", dtype, {kChannels, kSide, kSide});
  const Access w = b.input("w", dtype, {kChannels, kChannels, kTaps}), hbias = b.input("bias", dtype, {kChannels, 1});
  const Access y = b.output("y", dtype, {kChannels, kOut, kOut});
  const Access weights = b.sbuf("weights", kRows, {kTiles * kTiles * kTaps, kRows}, dtype);
  for (std::int64_t o = 0; o < kTiles; ++o) {
    for (std::int64_t i = 0; i < kTiles; ++i) {
      const Access raw = b.sbuf("raw", kRows, {kRows, kTaps}, dtype, 2);
      b.dma_copy(raw, w(ds(o * kRows, kRows), ds(i * kRows, kRows), all), kStatic);
      for (std::int64_t tap = 0; tap < kTaps; ++tap) {
        const Access turned = b.psum("turned", kRows, {kRows}, dtype, 2);
        Access from = raw(all, all, ds(tap, 1));
        from.dims.pop_back();
        b.nc_transpose(turned, from);
        b.tensor_copy(weights(all, ds((o * kTiles + i) * kTaps + tap, 1), all), turned, Engine::Vector);
      }
    }
  }
  for (std::int64_t o = 0; o < kTiles; ++o) {
    b.sequential("h", kOut, [&](const Affine& h) {
      const Access acc = b.psum("acc", kRows, {kOut}, DType::Float32, 4);
      for (std::int64_t i = 0; i < kTiles; ++i) {
        for (std::int64_t r = 0; r < kFilter; ++r) {
          const Access row = b.sbuf("row", kRows, {kSide}, dtype, kBuffers);
          b.dma_copy(row, x(ds(i * kRows, kRows), ds(h + r, 1), all), kStatic);
          for (std::int64_t j = 0; j < kFilter; ++j) {
            b.nc_matmul(acc, weights(all, ds((o * kTiles + i) * kTaps + r * kFilter + j, 1), all),
                        row(all, ds(j, kOut)), {.accumulate = i + r + j});
          }
        }
      }
      const Access out = b.sbuf("out", kRows, {kOut}, dtype, kBuffers),
                   bias = b.sbuf("bias_tile", kRows, {1}, dtype, kBuffers);
      b.tensor_copy(out, acc, Engine::Vector);
      b.dma_copy(bias, hbias(ds(o * kRows, kRows), all), kStatic);
      Access spread = bias.broadcast(1, kOut);
      spread.dims.erase(spread.dims.begin());
      b.tensor_tensor(out, out, spread, AluOp::Add, Engine::Vector);
      b.dma_copy(y(ds(o * kRows, kRows), ds(h, 1), all), out, kStatic);
    });
  }
  return b.finish();
}

// for tiles of 512 columns: load x (128), cos and sin (64); copy the lower half up; 4 products, a difference, a sum;
// store
Program rotary(const Machine& machine, std::int64_t columns) {
  constexpr std::int64_t kHalf = 64, kTile = 512;
  constexpr auto kType = DType::Float32;
  Builder b("rotary", machine);
  const Access x = b.input("x", kType, {kRows, columns}), cos = b.input("cos", kType, {kHalf, columns});
  const Access sin = b.input("sin", kType, {kHalf, columns}), y = b.output("y", kType, {kRows, columns});
  const auto upper = ds(0, kHalf), lower = ds(kHalf, kHalf);
  b.parallel("s", columns / kTile, [&](const Affine& s) {
    const auto here = ds(s * kTile, kTile);
    const auto tile = [&](const char* name, std::int64_t rows) { return b.sbuf(name, rows, {kTile}, kType, 2); };
    const Access in = tile("in", kRows), factors = tile("factors", kRows), out = tile("out", kRows),
                 odd = tile("odd", kHalf);
    const Access even_products = tile("even_products", kRows), odd_products = tile("odd_products", kRows);
    b.dma_copy(in, x(all, here));
    b.dma_copy(factors(upper, all), cos(all, here));
    b.dma_copy(factors(lower, all), sin(all, here));
    b.tensor_copy(odd, in(lower, all), Engine::Vector);
    const auto multiply = [&](const Access& to, const Access& u, const Access& v) {
      b.tensor_tensor(to, u, v, AluOp::Multiply, Engine::Vector);
    };
    multiply(even_products(upper, all), in(upper, all), factors(upper, all));
    multiply(odd_products(upper, all), odd, factors(upper, all));
    multiply(even_products(lower, all), in(upper, all), factors(lower, all));
    multiply(odd_products(lower, all), odd, factors(lower, all));
    b.tensor_tensor(out(upper, all), even_products(upper, all), odd_products(lower, all), AluOp::Subtract,
                    Engine::Vector);
    b.tensor_tensor(out(lower, all), odd_products(upper, all), even_products(lower, all), AluOp::Add, Engine::Vector);
    b.dma_copy(y(all, here), out);
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

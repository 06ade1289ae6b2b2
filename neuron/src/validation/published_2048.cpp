// bf16 2048^3 as awslabs/nki-autotune published it: the best hand kernel, from its source, and the hoisted kernels,
// from their descriptions.
#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {
constexpr std::int64_t kSize = 2048, kRows = 128, kColumns = 512;
constexpr auto kType = DType::BFloat16;
}  // namespace

// for 4 columns of C: sums = 0; for 2 halves of K: load 8 tiles of B; for 4 blocks of 512 rows: load 8 tiles of A;
//   for 4 tiles: 8 matmuls; copy to SBUF; sums += copy.   Then 16 stores.
// The source also clears each PSUM tile; the first matmul overwrites it here.
Program hand_matmul_2048(const Machine& machine) {
  Builder b("hand_matmul_2048", machine);
  const Access ha = b.input("a", kType, {kSize, kSize});
  const Access hb = b.input("b", kType, {kSize, kSize});
  const Access hc = b.output("c", kType, {kSize, kSize});
  constexpr std::int64_t kHalf = 8;  // tiles of 128 in half of K
  b.parallel("n", kSize / kColumns, [&](const Affine& n) {
    const Access sums = b.sbuf("sums", kRows, {kSize / kRows, kColumns}, kType, 4);
    b.parallel("i", kSize / kRows, [&](const Affine& i) { b.memset(sums(all, ds(i, 1), all), 0, Engine::GpSimd); });
    b.sequential("k", 2, [&](const Affine& k) {
      const Access bt = b.sbuf("b_block", kRows, {kHalf, kColumns}, kType, 2);
      b.parallel("s", kHalf, [&](const Affine& s) {
        b.dma_copy(bt(all, ds(s, 1), all), hb(ds((k * kHalf + s) * kRows, kRows), ds(n * kColumns, kColumns)));
      });
      b.parallel("m", 4, [&](const Affine& m) {
        const Access at = b.sbuf("a_block", kRows, {kHalf, kColumns}, kType, 8);
        b.parallel("s", kHalf, [&](const Affine& s) {
          b.dma_copy(at(all, ds(s, 1), all), ha(ds((k * kHalf + s) * kRows, kRows), ds(m * kColumns, kColumns)));
        });
        b.parallel("i", 4, [&](const Affine& i) {
          const Access acc = b.psum("acc", kRows, {kColumns}, DType::Float32, 8);
          b.sequential("s", kHalf, [&](const Affine& s) {
            b.nc_matmul(acc, at(all, ds(s, 1), ds(i * kRows, kRows)), bt(all, ds(s, 1), all), {.accumulate = s});
          });
          const Access part = b.sbuf("part", kRows, {kColumns}, kType, 4);
          const Access sum = sums(all, ds(m * 4 + i, 1), all);
          b.tensor_copy(part, acc, Engine::Vector);
          b.tensor_tensor(sum, sum, part, AluOp::Add, Engine::Vector);
        });
      });
    });
    b.parallel("i", kSize / kRows, [&](const Affine& i) {
      b.dma_copy(hc(ds(i * kRows, kRows), ds(n * kColumns, kColumns)), sums(all, ds(i, 1), all));
    });
  });
  return b.finish();
}

// load all of A and B in rows of 2048; for 16 rows of tiles: for k, 4 columns: matmul; copy 2048 columns out, store
Program hoisted_matmul_2048(const Machine& machine, std::int64_t accumulators) {
  Builder b("hoisted_matmul_2048", machine);
  const Access ha = b.input("a", kType, {kSize, kSize});
  const Access hb = b.input("b", kType, {kSize, kSize});
  const Access hc = b.output("c", kType, {kSize, kSize});
  constexpr std::int64_t kTiles = kSize / kRows;
  const Access at = b.sbuf("a_all", kRows, {kTiles, kSize}, kType);
  const Access bt = b.sbuf("b_all", kRows, {kTiles, kSize}, kType);
  b.parallel("k", kTiles, [&](const Affine& k) {
    b.dma_copy(at(all, ds(k, 1), all), ha(ds(k * kRows, kRows), all));
    b.dma_copy(bt(all, ds(k, 1), all), hb(ds(k * kRows, kRows), all));
  });
  b.parallel("m", kTiles, [&](const Affine& m) {
    const Access acc = b.psum("acc", kRows, {kSize}, DType::Float32, accumulators);
    b.sequential("k", kTiles, [&](const Affine& k) {
      b.parallel("n", kSize / kColumns, [&](const Affine& n) {
        b.nc_matmul(acc(all, ds(n * kColumns, kColumns)), at(all, ds(k, 1), ds(m * kRows, kRows)),
                    bt(all, ds(k, 1), ds(n * kColumns, kColumns)), {.accumulate = k});
      });
    });
    const Access out = b.sbuf("out", kRows, {kSize}, kType, 2);
    b.tensor_copy(out, acc, Engine::Vector);
    b.dma_copy(hc(ds(m * kRows, kRows), all), out);
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

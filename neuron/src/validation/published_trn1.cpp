// The bf16 GEMM sweep published with pantheonneuron: B streamed or a column of it kept on chip, and A loaded one, four
// or eight tiles at a time. fp32 result, descriptors made beforehand.
#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

// for columns of 512: load B (K, 512); for rows of wide * 128: for k: load a (128, wide * 128), `wide` matmuls;
//   `wide` times: copy out, store
Program wide_matmul(const Machine& machine, std::int64_t size, std::int64_t wide, Right right) {
  constexpr std::int64_t kRows = 128, kColumns = 512, kBuffers = 8;
  constexpr auto kType = DType::BFloat16;
  Builder b("wide_matmul", machine);
  const Access ha = b.input("a", kType, {size, size});
  const Access hb = b.input("b", kType, {size, size});
  const Access hc = b.output("c", DType::Float32, {size, size});
  const std::int64_t kt = size / kRows, height = wide * kRows;
  b.parallel("n", size / kColumns, [&](const Affine& n) {
    const auto b_rows = [&](const Affine& k) { return hb(ds(k * kRows, kRows), ds(n * kColumns, kColumns)); };
    Access column;
    if (right == Right::Resident) {
      column = b.sbuf("b_column", kRows, {kt, kColumns}, kType, 2);
      b.parallel("k", kt, [&](const Affine& k) { b.dma_copy(column(all, ds(k, 1), all), b_rows(k)); });
    }
    b.parallel("m", size / height, [&](const Affine& m) {
      const Access acc = b.psum("acc", kRows, {wide, kColumns}, DType::Float32, kBuffers / wide);
      b.sequential("k", kt, [&](const Affine& k) {
        const Access at = b.sbuf("a_tiles", kRows, {height}, kType, kBuffers);
        b.dma_copy(at, ha(ds(k * kRows, kRows), ds(m * height, height)));
        Access bt = column;
        if (right == Right::Streamed) {
          bt = b.sbuf("b_tile", kRows, {1, kColumns}, kType, kBuffers);
          b.dma_copy(bt, b_rows(k));
        } else {
          bt = column(all, ds(k, 1), all);
        }
        b.parallel("w", wide, [&](const Affine& w) {
          b.nc_matmul(acc(all, ds(w, 1), all), at(all, ds(w * kRows, kRows)), bt, {.accumulate = k});
        });
      });
      b.parallel("w", wide, [&](const Affine& w) {
        const Access out = b.sbuf("out", kRows, {kColumns}, DType::Float32, kBuffers);
        b.tensor_copy(out, acc(all, ds(w, 1), all), Engine::Vector);
        b.dma_copy(hc(ds(m * height + w * kRows, kRows), ds(n * kColumns, kColumns)), out);
      });
    });
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

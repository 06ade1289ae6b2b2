// The bf16 GEMM sweep published with pantheonneuron: B streamed or a column of it kept on chip, and A loaded one, four
// or eight tiles at a time. fp32 result, descriptors made beforehand.
#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

// for columns of 512: load B (K, 512); for rows of wide * 128: for k: load a (128, wide * 128), `wide` matmuls;
//   `wide` times: copy out, store
// The published traffic is less than these loops': of 8 loads of A the compiler kept 5, and a streamed tile of B served
// four rows (4096^3: 248 and 270 MB with B kept, 631 MB with B streamed).
Program wide_matmul(const Machine& machine, std::int64_t size, std::int64_t wide, Right right) {
  constexpr std::int64_t kRows = 128, kColumns = 512, kBuffers = 8, kServes = 4, kGroup = 8;
  constexpr bool kLoads[kGroup] = {true, true, false, true, true, false, true, false};
  constexpr auto kType = DType::BFloat16;
  Builder b("wide_matmul", machine);
  const Access ha = b.input("a", kType, {size, size});
  const Access hb = b.input("b", kType, {size, size});
  const Access hc = b.output("c", DType::Float32, {size, size});
  const std::int64_t kt = size / kRows, height = wide * kRows;
  const auto load_column = [&](const Affine& n) {
    const Access column = b.sbuf("b_column", kRows, {kt, kColumns}, kType, 2);
    b.parallel("k", kt, [&](const Affine& k) {
      b.dma_copy(column(all, ds(k, 1), all), hb(ds(k * kRows, kRows), ds(n * kColumns, kColumns)));
    });
    return column;
  };
  const auto row = [&](const Affine& m, const Affine& n, const Access& column) {
    const Access acc = b.psum("acc", kRows, {wide, kColumns}, DType::Float32, kBuffers / wide);
    b.sequential("k", kt / kGroup, [&](const Affine& group) {
      Access at;
      for (std::int64_t s = 0; s < kGroup; ++s) {
        const Affine k = group * kGroup + s;
        if (kLoads[s]) {
          at = b.sbuf("a_tiles", kRows, {height}, kType, 2);
          b.dma_copy(at, ha(ds(k * kRows, kRows), ds(m * height, height)));
        }
        b.parallel("w", wide, [&](const Affine& w) {
          b.nc_matmul(acc(all, ds(w, 1), all), at(all, ds(w * kRows, kRows)), column(all, ds(k, 1), all),
                      {.accumulate = k});
        });
      }
    });
    b.parallel("w", wide, [&](const Affine& w) {
      const Access out = b.sbuf("out", kRows, {kColumns}, DType::Float32, kBuffers);
      b.tensor_copy(out, acc(all, ds(w, 1), all), Engine::Vector);
      b.dma_copy(hc(ds(m * height + w * kRows, kRows), ds(n * kColumns, kColumns)), out);
    });
  };
  b.parallel("n", size / kColumns, [&](const Affine& n) {
    if (right == Right::Resident) {
      const Access column = load_column(n);
      b.parallel("m", size / height, [&](const Affine& m) { row(m, n, column); });
    } else {
      b.parallel("m", size / height / kServes, [&](const Affine& block) {
        const Access column = load_column(n);
        b.parallel("i", kServes, [&](const Affine& i) { row(block * kServes + i, n, column); });
      });
    }
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

// Blocked matrix products: AWS's bounds-analysis examples (blocks of M and N) and its kernel-optimization tutorial
// (blocks of M, N and K).
#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {
constexpr std::int64_t kRows = 128, kColumns = 512;
constexpr std::int64_t kBanks = 8;
}  // namespace

// for m: load A (K, bm * 128); for n: load B (K, bn * 512); for bm, bn: for k: matmul; copy out, store
Program blocked_matmul(const Machine& machine, const MatmulShape& shape, const BlockMN& block) {
  Builder b("blocked_matmul", machine);
  const Access ha = b.input("a", shape.dtype, {shape.k, shape.m});
  const Access hb = b.input("b", shape.dtype, {shape.k, shape.n});
  const Access hc = b.output("c", shape.dtype, {shape.m, shape.n});
  const std::int64_t kt = shape.k / kRows, height = block.bm * kRows, width = block.bn * kColumns;
  // All rows of K of `columns` columns from `first`, `piece` columns at a time.
  const auto load = [&](const Access& to, const Access& from, const Affine& first, std::int64_t columns,
                        std::int64_t piece) {
    b.parallel("p", columns / piece, [&](const Affine& p) {
      b.parallel("k", kt, [&](const Affine& k) {
        b.dma_copy(to(all, ds(k, 1), ds(p * piece, piece)), from(ds(k * kRows, kRows), ds(first + p * piece, piece)));
      });
    });
  };
  const bool whole = block.load == LoadWidth::Block;
  b.parallel("m", shape.m / height, [&](const Affine& m) {
    const Access at = b.sbuf("a_block", kRows, {kt, height}, shape.dtype);
    load(at, ha, m * height, height, whole ? height : kRows);
    b.parallel("n", shape.n / width, [&](const Affine& n) {
      const Access bt = b.sbuf("b_block", kRows, {kt, width}, shape.dtype, block.b_buffers);
      load(bt, hb, n * width, width, whole ? width : kColumns);
      b.parallel("bm", block.bm, [&](const Affine& i) {
        b.parallel("bn", block.bn, [&](const Affine& j) {
          const Access acc = b.psum("acc", kRows, {kColumns}, DType::Float32, kBanks);
          b.sequential("k", kt, [&](const Affine& k) {
            b.nc_matmul(acc, at(all, ds(k, 1), ds(i * kRows, kRows)), bt(all, ds(k, 1), ds(j * kColumns, kColumns)),
                        {.accumulate = k});
          });
          const Access out = b.sbuf("out", kRows, {kColumns}, shape.dtype, 4);
          b.tensor_copy(out, acc, Engine::Vector);
          b.dma_copy(hc(ds(m * height + i * kRows, kRows), ds(n * width + j * kColumns, kColumns)), out);
        });
      });
    });
  });
  return b.finish();
}

// for n: sums = 0; for k: load B (bk * 128, bn * 512); for m: load A (bk * 128, bm * 128);
//   for bn, bm: for bk: matmul; sums += it.   Then every row of sums is copied and stored.
Program fully_blocked_matmul(const Machine& machine, const MatmulShape& shape, const BlockMNK& block) {
  Builder b("fully_blocked_matmul", machine);
  const Access ha = b.input("a", shape.dtype, {shape.k, shape.m});
  const Access hb = b.input("b", shape.dtype, {shape.k, shape.n});
  const Access hc = b.output("c", shape.dtype, {shape.m, shape.n});
  const std::int64_t height = block.bm * kRows, width = block.bn * kColumns, depth = block.bk * kRows;
  const std::int64_t mt = shape.m / kRows;
  b.sequential("n", shape.n / width, [&](const Affine& n) {
    const Access sums = b.sbuf("sums", kRows, {mt, width}, shape.dtype);
    const auto sum = [&](const Affine& row, const Affine& j) {
      return sums(all, ds(row, 1), ds(j * kColumns, kColumns));
    };
    b.parallel("i", mt, [&](const Affine& i) {
      b.parallel("j", block.bn, [&](const Affine& j) { b.memset(sum(i, j), 0, Engine::GpSimd); });
    });
    b.sequential("k", shape.k / depth, [&](const Affine& k) {
      const Access bt = b.sbuf("b_block", kRows, {block.bk, width}, shape.dtype, block.b_buffers);
      b.parallel("bk", block.bk, [&](const Affine& s) {
        b.dma_copy(bt(all, ds(s, 1), all), hb(ds(k * depth + s * kRows, kRows), ds(n * width, width)));
      });
      b.parallel("m", shape.m / height, [&](const Affine& m) {
        const Access at = b.sbuf("a_block", kRows, {block.bk, height}, shape.dtype, block.a_buffers);
        b.parallel("bk", block.bk, [&](const Affine& s) {
          b.dma_copy(at(all, ds(s, 1), all), ha(ds(k * depth + s * kRows, kRows), ds(m * height, height)));
        });
        b.parallel("bn", block.bn, [&](const Affine& j) {
          b.parallel("bm", block.bm, [&](const Affine& i) {
            const Access acc = b.psum("acc", kRows, {kColumns}, DType::Float32, kBanks);
            b.sequential("bk", block.bk, [&](const Affine& s) {
              b.nc_matmul(acc, at(all, ds(s, 1), ds(i * kRows, kRows)), bt(all, ds(s, 1), ds(j * kColumns, kColumns)),
                          {.accumulate = s});
            });
            const Access total = sum(m * block.bm + i, j);
            b.tensor_tensor(total, total, acc, AluOp::Add, Engine::Vector);
          });
        });
      });
    });
    b.parallel("i", mt, [&](const Affine& i) {
      const Access out = b.sbuf("out", kRows, {width}, shape.dtype, 2);
      b.parallel("j", block.bn, [&](const Affine& j) {
        b.tensor_copy(out(all, ds(j * kColumns, kColumns)), sum(i, j), Engine::Vector);
      });
      b.dma_copy(hc(ds(i * kRows, kRows), ds(n * width, width)), out);
    });
  });
  return b.finish();
}

}  // namespace trn::neuron::validation

// MTTKRP on a device: a tensor of three indices times the Khatri-Rao product of two factors.
//
//   D[m, r] = alpha sum over p and q of X[m, p, q] Y[p, r] Z[q, r]  + beta C[m, r]
//
// For each p the rows Y[p, r] Z[q, r] are made on chip, p on partitions, q and r in the free dimension: they never see
// HBM, and X is read once, in runs of its unit index, which is m or q, never p.
//
//   for each block of m:                      sums (m, r) in PSUM, 128 rows of m to a bank
//     for each 128 of p, for each block of q:
//       X tile (P; q and m), KR tile (P; q, r) = Z row of q, in every partition, times Y (P; r)
//       for each q: sums += X[q]^T KR[q]      (K = P, M <= 128, N = r)
//
// Bytes: X once, Z once in every partition, Y and D. The Vector Engine makes q r / 128 numbers for each row of p while
// the Tensor Engine takes max(64, r) columns for each 128 rows of m.
#include <algorithm>
#include <cstdlib>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>

#include "program.hpp"

namespace trn::tensor::device {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

constexpr std::int64_t kTile = 1 << 14;       // numbers of X per partition: 64 KiB, twice
constexpr std::int64_t kRows = 1 << 13;       // of Z's rows that stay on chip
constexpr std::int64_t kMade = 1 << 12;       // of the Khatri-Rao rows that are made at once
constexpr std::int64_t kMostRows = 512;       // of m in a block: four banks, so that two blocks fit in PSUM
constexpr std::int64_t kLeastWork = 1 << 15;  // elements of X

class Mttkrp {
 public:
  Mttkrp(Builder& b, const MttkrpArgs& s, const Tensors& at, const std::array<Factor, 3>& kinds, const Factors& factors)
      : b_(b), s_(s), at_(at), kinds_(kinds), factors_(factors), side_(b.machine().partitions) {
    q_inside_ = std::abs(s_.q.x) < std::abs(s_.m.x);
    // Long runs: at least 128 of the index that lies inside, where there are as many.
    block_m_ = std::min(
        s_.m.extent,
        q_inside_ ? std::max<std::int64_t>(side_, kTile / std::min<std::int64_t>(128, s_.q.extent) / side_ * side_)
                  : kMostRows);
    block_m_ = std::min(block_m_, kMostRows);
    const std::int64_t most = std::max<std::int64_t>(1, std::min(kTile / block_m_, kMade / s_.r.extent));
    block_q_ = ceil_div(s_.q.extent, ceil_div(s_.q.extent, most));
    resident_ = s_.q.extent * s_.r.extent <= kRows;
  }

  void record() {
    if (resident_) rows_ = rows_of(0, s_.q.extent, 1);
    for_blocks(b_, "m", s_.m.extent, block_m_, LoopKind::Parallel,
               [&](const Affine& m0, std::int64_t rows) { block(m0, rows); });
  }

 private:
  static Access pattern(const Access& hbm, const Affine& offset, std::vector<Dim> dims) {
    Access a = hbm;
    a.offset = a.offset + offset;
    a.dims = std::move(dims);
    return a;
  }
  // Z's rows q0 .. q0 + count in every partition.
  Access rows_of(const Affine& q0, std::int64_t count, std::int64_t buffers) const {
    const Access tile = b_.sbuf("z_rows", side_, {count, s_.r.extent}, DType::Float32, buffers);
    b_.dma_copy(tile, pattern(at_[4], q0 * s_.q.z, {{0, side_}, {s_.q.z, count}, {s_.r.z, s_.r.extent}}));
    return tile;
  }

  void block(const Affine& m0, std::int64_t rows) const {
    const std::int64_t r = s_.r.extent, banks = ceil_div(rows, side_);
    const Access sums = b_.psum("sums", std::min(rows, side_), {banks, blocks::bank_columns(b_.machine())},
                                DType::Float32, 2 * banks <= b_.machine().psum_banks ? 2 : 1);
    const auto sum = [&](std::int64_t t) {
      Access one = sums(ds(0, std::min(side_, rows - t * side_)), ds(t, 1), ds(0, r));
      one.dims.erase(one.dims.begin());
      return one;
    };
    for_blocks(b_, "p", s_.p.extent, side_, LoopKind::Sequential, [&](const Affine& p0, std::int64_t height) {
      const Access y = b_.sbuf("y_rows", height, {r}, DType::Float32, 2);
      b_.dma_copy(y, pattern(at_[1], p0 * s_.p.y, {{s_.p.y, height}, {s_.r.y, r}}));
      for_blocks(b_, "q", s_.q.extent, block_q_, LoopKind::Sequential, [&](const Affine& q0, std::int64_t count) {
        const Access x =
            b_.sbuf("x_block", height, q_inside_ ? Shape{rows, count} : Shape{count, rows}, DType::Float32, 2);
        const Dim m_dim{s_.m.x, rows}, q_dim{s_.q.x, count};
        b_.dma_copy(x, pattern(at_[0], m0 * s_.m.x + p0 * s_.p.x + q0 * s_.q.x,
                               {{s_.p.x, height}, q_inside_ ? m_dim : q_dim, q_inside_ ? q_dim : m_dim}));
        const Access z = resident_ ? rows_(ds(0, height), ds(q0, count)) : rows_of(q0, count, 2)(ds(0, height));
        const Access made = b_.sbuf("khatri_rao", height, {count, r}, DType::Float32, 2);
        b_.tensor_tensor(made, z, y.broadcast(0, count), AluOp::Multiply, Engine::Vector);
        b_.sequential("k", count, [&](const Affine& q) {
          Access moving = made(all, ds(q, 1));
          moving.dims.erase(moving.dims.begin());
          for (std::int64_t t = 0; t < banks; ++t) {
            const std::int64_t some = std::min(side_, rows - t * side_);
            const std::size_t one = q_inside_ ? 1 : 0;
            Access stationary =
                q_inside_ ? x(all, ds(t * side_, some), ds(q, 1)) : x(all, ds(q, 1), ds(t * side_, some));
            stationary.dims.erase(stationary.dims.begin() + static_cast<std::ptrdiff_t>(one));
            b_.nc_matmul(sum(t), stationary, moving, {.accumulate = p0 + q0 + q});
          }
        });
      });
    });
    for (std::int64_t t = 0; t < banks; ++t) {
      const std::int64_t some = std::min(side_, rows - t * side_);
      const Access out = b_.sbuf("d_rows", some, {r}, DType::Float32, 2);
      const auto factor = [&](std::size_t i) -> ScalarOrTile {
        if (kinds_[i] == Factor::Input) return factors_[i](ds(0, some), all);
        return kinds_[i] == Factor::Zero ? 0.0 : 1.0;
      };
      const auto place = [&](const Access& hbm, std::int64_t m_stride, std::int64_t r_stride) {
        return pattern(hbm, (m0 + t * side_) * m_stride, {{m_stride, some}, {r_stride, r}});
      };
      if (kinds_[1] == Factor::Zero) {
        blocks::scale(b_, out, sum(t), factor(0), Engine::Vector);
      } else {
        const Access old = b_.sbuf("c_rows", some, {r}, DType::Float32, 2);
        b_.dma_copy(old, place(at_[2], s_.m.c, s_.r.c));
        blocks::scale_add(b_, out, sum(t), factor(0), old, factor(1));
      }
      b_.dma_copy(place(at_[3], s_.m.d, s_.r.d), out);
    }
  }

  Builder& b_;
  const MttkrpArgs& s_;
  const Tensors& at_;
  const std::array<Factor, 3>& kinds_;
  const Factors& factors_;
  std::int64_t side_, block_m_ = 1, block_q_ = 1;
  bool q_inside_ = false, resident_ = false;
  Access rows_;
};

}  // namespace

bool suits_mttkrp(const MttkrpArgs& s, const Machine& machine) {
  const std::int64_t elements = s.m.extent * s.p.extent * s.q.extent;
  return s.r.extent <= blocks::bank_columns(machine) && s.m.extent >= 16 && elements >= kLeastWork;
}

// A sum meets the roundings of a matmul for each block of p and each q, and that of its row.
double mttkrp_bound(const MttkrpArgs& s, const Machine& machine) {
  const std::int64_t side = machine.partitions;
  return static_cast<double>(std::min(s.p.extent, side) + ceil_div(s.p.extent, side) * s.q.extent + 5) *
         unit_roundoff(DType::Float32);
}

void record_mttkrp(Builder& b, const MttkrpArgs& s, const Tensors& at, const std::array<Factor, 3>& kinds,
                   const Factors& factors) {
  Mttkrp(b, s, at, kinds, factors).record();
}

}  // namespace trn::tensor::device

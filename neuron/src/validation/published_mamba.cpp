// The selective scan of AWS's fused Mamba tutorial (trn1, fp32), its three versions, from their source. Rows of B and C
// are spread over the partitions by the Tensor Engine, as the tutorial says. What the compiler does with the spread
// rows is inferred from the published share of the Vector Engine: up to one PSUM bank they are read from PSUM, longer
// ones are copied to SBUF first. The product delta * u is formed once per tile where the tile stays, as the same shares
// show.
#include <algorithm>

#include "published.hpp"

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {

constexpr std::int64_t kRows = 128, kBank = 512;
constexpr auto kType = DType::Float32;

class Mamba {
 public:
  Mamba(const Machine& machine, const char* name, const ScanShape& shape)
      : b_(name, machine),
        shape_(shape),
        tiles_(shape.channels / kRows),
        delta_(b_.input("delta", kType, {shape.channels, shape.length})),
        u_(b_.input("u", kType, {shape.channels, shape.length})),
        a_(b_.input("a", kType, {shape.channels, shape.states})),
        b_in_(b_.input("b", kType, {shape.states, shape.length})),
        c_in_(b_.input("c", kType, {shape.states, shape.length})),
        out_(b_.output("out", kType, {shape.channels, shape.length})),
        ones_(b_.sbuf("ones", 1, {kRows}, kType)) {
    b_.memset(ones_, 1.0, Engine::GpSimd);
  }

  // Every state visits every tile of channels; delta and u are loaded anew while the tiles do not stay on chip.
  Program states_outside(std::int64_t reloads) {
    const Access sums = b_.sbuf("sums", kRows, {tiles_, shape_.length}, kType);
    b_.parallel("c", tiles_, [&](const Affine& c) { b_.memset(sums(all, ds(c, 1), all), 0, Engine::GpSimd); });
    const std::int64_t every = std::max<std::int64_t>(1, shape_.states / reloads);
    b_.sequential("block", shape_.states / every, [&](const Affine& block) {
      b_.sequential("c", tiles_, [&](const Affine& c) {
        const Access delta = load(delta_, c, "delta_tile"), u = load(u_, c, "u_tile");
        b_.sequential("s", every, [&](const Affine& s) {
          const Access both = b_.sbuf("delta_u", kRows, {shape_.length}, kType, 2);
          b_.tensor_tensor(both, delta, u, AluOp::Multiply, Engine::Vector);
          state(c, block * every + s, delta, both, sums(all, ds(c, 1), all), shape_.length);
        });
      });
    });
    b_.parallel("c", tiles_, [&](const Affine& c) { store(c, sums(all, ds(c, 1), all)); });
    return b_.finish();
  }

  // A tile of channels visits every state; pieces of `piece` columns.
  Program channels_outside(std::int64_t piece) {
    b_.parallel("c", tiles_, [&](const Affine& c) {
      const Access sums = b_.sbuf("sums", kRows, {shape_.length}, kType, buffers());
      b_.memset(sums, 0, Engine::GpSimd);
      const Access delta = load(delta_, c, "delta_tile"), u = load(u_, c, "u_tile");
      b_.tensor_tensor(u, delta, u, AluOp::Multiply, Engine::Vector);
      b_.sequential("s", shape_.states, [&](const Affine& s) { state(c, s, delta, u, sums, piece); });
      store(c, sums);
    });
    return b_.finish();
  }

 private:
  // Two buffers while a few rows of this length fit many times, one for long rows.
  [[nodiscard]] std::int64_t buffers() const { return shape_.length <= 2048 ? 2 : 1; }

  Access load(const Access& from, const Affine& c, const char* name) {
    const Access tile = b_.sbuf(name, kRows, {shape_.length}, kType, buffers());
    b_.dma_copy(tile, from(ds(c * kRows, kRows), all));
    return tile;
  }
  void store(const Affine& c, const Access& sums) { b_.dma_copy(out_(ds(c * kRows, kRows), all), sums); }

  // Row `s` of `from`, columns from `first`, on every partition.
  Access spread(const Access& from, const Affine& s, const Affine& first, std::int64_t columns, const char* name) {
    const bool one_bank = columns <= kBank;
    const Access wide = one_bank ? Access{} : b_.sbuf(std::string(name) + "_wide", kRows, {columns}, kType);
    Access bank;
    b_.sequential("bank", (columns + kBank - 1) / kBank, [&](const Affine& j) {
      const std::int64_t n = std::min(kBank, columns);
      const Access row = b_.sbuf(std::string(name) + "_row", 1, {n}, kType, 2);
      bank = b_.psum(name, kRows, {n}, kType, 2);
      b_.dma_copy(row, from(ds(s, 1), ds(first + j * kBank, n)));
      b_.nc_matmul(bank, ones_, row);
      if (!one_bank) b_.activation(wide(all, ds(j * kBank, n)), ActFunction::Copy, bank);
    });
    return one_bank ? bank : wide;
  }

  // One state of one tile; `both` is delta * u.
  void state(const Affine& c, const Affine& s, const Access& delta, const Access& both, const Access& sums,
             std::int64_t piece) {
    const Access a = b_.sbuf("a_column", kRows, {1}, kType, 2), last = b_.sbuf("last", kRows, {1}, kType, 2);
    b_.dma_copy(a, a_(ds(c * kRows, kRows), ds(s, 1)));
    const bool pieces = piece < shape_.length;
    if (pieces) b_.memset(last, 0, Engine::GpSimd);
    const Access sum = flat(sums);
    b_.sequential("p", shape_.length / piece, [&](const Affine& p) {
      const Affine first = p * piece;
      const Access grown = b_.sbuf("grown", kRows, {piece}, kType), fed = b_.sbuf("fed", kRows, {piece}, kType);
      const Access scanned = b_.sbuf("scanned", kRows, {piece}, kType);
      b_.activation(grown, ActFunction::Exp, delta(all, ds(first, piece)), {.scale = a});
      b_.tensor_tensor(fed, both(all, ds(first, piece)), spread(b_in_, s, first, piece, "b_spread"), AluOp::Multiply,
                       Engine::Vector);
      if (pieces)
        b_.tensor_tensor_scan(scanned, grown, fed, last, AluOp::Multiply, AluOp::Add);
      else
        b_.tensor_tensor_scan(scanned, grown, fed, 0.0, AluOp::Multiply, AluOp::Add);
      if (pieces) b_.tensor_copy(last, scanned(all, ds(piece - 1, 1)), Engine::Vector);
      b_.tensor_tensor(scanned, scanned, spread(c_in_, s, first, piece, "c_spread"), AluOp::Multiply, Engine::Vector);
      const Access here = sum(all, ds(first, piece));
      b_.tensor_tensor(here, here, scanned, AluOp::Add, Engine::Vector);
    });
  }

  Access flat(Access tile) const {
    if (tile.dims.size() > 1) tile.dims.erase(tile.dims.begin());
    return tile;
  }

  Builder b_;
  ScanShape shape_;
  std::int64_t tiles_;
  Access delta_, u_, a_, b_in_, c_in_, out_, ones_;
};

}  // namespace

Program mamba_v1(const Machine& machine, const ScanShape& shape, std::int64_t reloads) {
  return Mamba(machine, "mamba_v1", shape).states_outside(reloads);
}
Program mamba_v2(const Machine& machine, const ScanShape& shape) {
  return Mamba(machine, "mamba_v2", shape).channels_outside(shape.length);
}
Program mamba_v3(const Machine& machine, const ScanShape& shape) {
  return Mamba(machine, "mamba_v3", shape).channels_outside(kBank);
}

}  // namespace trn::neuron::validation

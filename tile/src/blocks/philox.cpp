// Philox4x32-10 on planes.
//
// A round needs both words of x * M for a constant M. With halves x = 65536 xh + xl and M = 65536 mh + ml, the four
// products ml xl, ml xh, mh xl, mh xh are below 2^32: GpSimd has them exactly, from uint32 operands, so the halves of x
// get planes of their own. The rest is sums of halves in place:
//
//   mid = lo(ml xh) + lo(mh xl) + hi(ml xl)                             < 3 * 2^16
//   w   = hi(ml xh) + hi(mh xl) + hi(mid) + lo(mh xh)                   < 3 * 2^16 + 3
//   x * M = [hi(mh xh) + hi(w) | lo(w) | lo(mid) | lo(ml xl)]           16 bits each; no sum overflows its place
//
// GpSimd multiplies and adds integers exactly modulo 2^32; the sums here are exact in the Vector Engine's fp32, and a
// uint32 plane viewed as uint16 gives its halves without an instruction.
#include <trn/tile/blocks/philox.hpp>

#include <fmt/core.h>

namespace trn::tile::blocks {

namespace {

using Planes = WordPlanes;
using Between = std::function<void(int)>;

// One number per partition, repeated over `columns`.
Access spread(const Access& column, std::int64_t columns) { return column.broadcast(1, columns); }

// The engine for moving bits: the Scalar Engine, otherwise idle, where it can.
Engine mover(const Machine& machine) { return machine.scalar_tensor_copy ? Engine::Scalar : Engine::Vector; }

// Where philox_parameters puts what.
constexpr std::int64_t kWord0 = 1, kWord1 = 2, kWord2High = 3, kWord3 = 4, kKeys = 5;
constexpr std::uint32_t kLowHalf = 0xffff;

class Philox {
 public:
  Philox(Builder& b, const Access& parameters, const Access& count)
      : b_(b), parameters_(parameters), rows_(count.partitions), columns_(count.free_size()) {
    for (std::size_t w = 0; w < 4; ++w) {
      even_[w] = plane(fmt::format("even{}", w));
      odd_[w] = plane(fmt::format("odd{}", w));
    }
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t t = 0; t < 6; ++t) temporaries_[j][t] = plane(fmt::format("t{}{}", j, t));
    }
    constants_ = b.sbuf("multipliers", rows_, {4}, DType::UInt32);
    const std::uint32_t halves[4] = {philox::kMultiplier0 & kLowHalf, philox::kMultiplier0 >> 16,
                                     philox::kMultiplier1 & kLowHalf, philox::kMultiplier1 >> 16};
    for (int k = 0; k < 4; ++k) b_.memset(constants_(all, ds(k, 1)), halves[k], Engine::GpSimd);
    load_counters(count);
  }

  Planes run(const Between& between) {
    static_assert(philox::kRounds % 2 == 0);
    // The product that a round computes second waits for nothing but its own turn: the next round begins with the word
    // that comes out first.
    const auto two_rounds = [&](const Affine& pair, const Between& after) {
      product(even_, odd_, 2, kKeys + 4 * pair);
      if (after) after(0);
      product(even_, odd_, 0, kKeys + 4 * pair + 1);
      if (after) after(1);
      product(odd_, even_, 0, kKeys + 4 * pair + 3);
      if (after) after(2);
      product(odd_, even_, 2, kKeys + 4 * pair + 2);
      if (after) after(3);
    };
    if (!between) b_.sequential("pair", philox::kRounds / 2, [&](const Affine& pair) { two_rounds(pair, {}); });
    for (int pair = 0; between && pair < philox::kRounds / 2; ++pair) {
      two_rounds(pair, [&](int k) { between(4 * pair + k); });
    }
    return even_;
  }

 private:
  Access plane(const std::string& name) { return b_.sbuf(name, rows_, {columns_}, DType::UInt32); }
  Access parameter(const Affine& k) const { return parameters_(all, ds(k, 1)); }
  Access constant(std::int64_t k) const { return spread(constants_(all, ds(k, 1)), columns_); }
  static Access half(const Access& x, int h) { return x.view(DType::UInt16).split(0, 2)(all, all, ds(h, 1)); }
  static Access low(const Access& x) { return half(x, 0); }
  static Access high(const Access& x) { return half(x, 1); }
  void add(const Access& to, const Access& x, const Access& y) {
    b_.tensor_tensor(to, x, y, AluOp::Add, Engine::Vector);
  }
  void multiply(const Access& to, const Access& x, const Access& y) {
    b_.tensor_tensor(to, x, y, AluOp::Multiply, Engine::GpSimd);
  }

  // The block number relative to cuRAND's 65536 subsequences; word 0 does not wrap (fill_run_length).
  void load_counters(const Access& count) {
    TensorScalarOptions or_stream;
    or_stream.op1 = AluOp::BitwiseOr;
    or_stream.operand1 = parameter(kWord2High);
    b_.tensor_scalar(even_[2], count, AluOp::BitwiseAnd, static_cast<double>(philox::kSubsequences - 1), or_stream);
    b_.tensor_scalar(even_[0], count, AluOp::RightShift, 16.0);
    b_.tensor_tensor(even_[0], even_[0], spread(parameter(kWord0), columns_), AluOp::Add, Engine::GpSimd);
    b_.tensor_copy(even_[1], spread(parameter(kWord1), columns_), Engine::Vector);
    b_.tensor_copy(even_[3], spread(parameter(kWord3), columns_), Engine::Vector);
  }

  // Word `word` (0 or 2) of `from` times its constant: the low word becomes word 3 or 1 of `to`, the high word,
  // combined with its neighbour and the key, word 2 or 0.
  void product(const Planes& from, const Planes& to, std::size_t word, const Affine& key) {
    const std::size_t m = word / 2, high_to = 2 - word, low_to = 3 - word;
    const Access &x = from[word], &w = to[high_to], &ll = to[low_to];
    const auto& [xl, xh, lh, hl, hh, mid] = temporaries_[m];
    const auto k = static_cast<std::int64_t>(2 * m);
    b_.tensor_copy(xl, low(x), mover(b_.machine()));
    b_.tensor_copy(xh, high(x), mover(b_.machine()));
    multiply(hl, xl, constant(k + 1));
    multiply(lh, xh, constant(k));
    multiply(ll, xl, constant(k));
    multiply(hh, xh, constant(k + 1));
    add(w, high(lh), high(hl));
    add(mid, low(lh), low(hl));
    add(mid, mid, high(ll));
    add(w, w, high(mid));
    add(w, w, low(hh));
    add(high(w), high(w), high(hh));
    b_.tensor_copy(high(ll), low(mid), mover(b_.machine()));
    b_.tensor_scalar(w, w, AluOp::BitwiseXor, parameter(key));
    b_.tensor_tensor(w, w, from[high_to + 1], AluOp::BitwiseXor, Engine::Vector);
  }

  Builder& b_;
  Access parameters_, constants_;
  std::int64_t rows_, columns_;
  Planes even_, odd_;  // the words before even and odd rounds
  std::array<Access, 6> temporaries_[2];
};

}  // namespace

WordPlanes philox_blocks(Builder& b, const Access& parameters, const Access& count, const Between& between) {
  return Philox(b, parameters, count).run(between);
}

std::vector<std::uint32_t> philox_parameters(const philox::Words& counter, const philox::Words& key) {
  std::vector<std::uint32_t> words{counter[2] & kLowHalf, counter[0], counter[1], counter[2] & ~kLowHalf, counter[3]};
  for (int r = 0; r < philox::kRounds; ++r) {
    words.push_back(philox::round_key(key, 0, r));
    words.push_back(philox::round_key(key, 1, r));
  }
  return words;
}

PhiloxTiles::PhiloxTiles(Builder& b, const Access& parameters) : b_(b) {
  const std::int64_t partitions = b.machine().partitions;
  parameters_ = b.sbuf("parameter_tile", partitions, {kPhiloxParameters}, DType::UInt32);
  b.dma_copy(parameters_, parameters.broadcast(0, partitions));
  start_ = b.sbuf("start", partitions, {1}, DType::UInt32);
  b.tensor_copy(start_, parameters_(all, ds(0, 1)), Engine::GpSimd);
}

void PhiloxTiles::set_shape(std::int64_t rows, std::int64_t columns) {
  rows_ = rows;
  columns_ = columns;
  index_ = b_.sbuf("index", rows, {columns}, DType::UInt32);
  b_.iota(index_, {{1, columns}}, 0, columns);
  step_ = b_.sbuf("step", b_.machine().partitions, {1}, DType::UInt32);
  b_.memset(step_, static_cast<double>(rows * columns), Engine::GpSimd);
}

WordPlanes PhiloxTiles::next() {
  const Access count = b_.sbuf("count", rows_, {columns_}, DType::UInt32);
  b_.tensor_tensor(count, index_, spread(start_(ds(0, rows_), all), columns_), AluOp::Add, Engine::GpSimd);
  const WordPlanes words = philox_blocks(b_, parameters_(ds(0, rows_), all), count);
  b_.tensor_tensor(start_, start_, step_, AluOp::Add, Engine::GpSimd);
  return words;
}

}  // namespace trn::tile::blocks

// Choosing the block of C.
//
// A piece of 128 x 512 of C needs one PSUM bank per accumulator of the scheme. All banks are used (two stay free where
// A is turned on the Tensor Engine), 1, 2 or 4 pieces side by side: whichever loads least. Per 128 of k a block of t x
// w pieces costs t * w * terms matmuls of 522 cycles and loads 128 * 512 * w elements of B; the panel of A, t * 128
// rows, is loaded once per block row if SBUF can hold it. On trn2, bfloat16, t x w = 4 x 2: 1.74 us against 262 KB, 151
// GB/s of the 368 GB/s there are. With two or three times as many terms per load, as in the split modes, loads matter
// less and blocks may be smaller.
#include "blocking.hpp"

#include <algorithm>
#include <limits>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;

namespace {

class Chooser {
 public:
  Chooser(const GemmShape& shape, const Scheme& scheme, Route a_route, const Machine& machine)
      : g_(shape),
        s_(scheme),
        m_(machine),
        turned_(a_route == Route::TensorTranspose),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)),
        parts_(scheme.complex ? 2 : 1),
        raw_(size_bytes(scheme.real) * parts_) {}

  Blocking best() const {
    const std::int64_t pieces = std::max<std::int64_t>(1, (m_.psum_banks - (turned_ ? 2 : 0)) / s_.sums());
    const std::int64_t row_tiles = ceil_div(g_.m, side_), column_banks = ceil_div(g_.n, bank_);
    Blocking best{};
    double best_s = std::numeric_limits<double>::infinity();
    for (std::int64_t wide : {2, 1, 4}) {
      wide = std::min({wide, column_banks, pieces});
      const std::int64_t tall = std::min(pieces / wide, row_tiles);
      const Blocking candidate = blocking(tall, std::min(pieces / tall, column_banks));
      const double s = seconds_per_element(candidate);
      if (s < 0.98 * best_s) {  // a later candidate must be better, not equal
        best_s = s;
        best = candidate;
      }
    }
    return best;
  }

 private:
  std::int64_t k_tiles() const { return ceil_div(g_.k, side_); }
  bool reads_c() const { return g_.beta != Factor::Zero; }

  // Bytes per element of k and x: the words, what they are made from, what is left between two words.
  struct Bytes {
    std::int64_t kept, raw, rest;
  };
  Bytes bytes(const std::vector<Part>& side) const {
    const std::int64_t kept = s_.made_words(side) * size_bytes(s_.word) + (s_.any_as_loaded(side) ? raw_ : 0);
    const bool sums =
        std::any_of(side.begin(), side.end(), [](Part p) { return p == Part::Sum || p == Part::Difference; });
    const std::int64_t rest =
        (s_.words > 2 ? static_cast<std::int64_t>(side.size()) : 0) + (sums && s_.word != DType::Float32 ? 1 : 0);
    return {kept, s_.any_as_loaded(side) ? 0 : raw_, rest * size_bytes(DType::Float32)};
  }

  // Bytes of one set of tiles that empty PSUM: two buffers of every piece of C, and single ones of what lies between.
  std::int64_t out_bytes(std::int64_t tall, std::int64_t bn) const {
    const std::int64_t out = size_bytes(real_of(g_.out)) * parts_, fp32 = size_bytes(DType::Float32);
    const bool in_place = s_.low() || s_.complex;  // sums of several addends need no tile of their own then
    std::int64_t total = 2 * tall * bn * (out + (reads_c() ? out + (in_place ? 0 : fp32) : 0));
    const bool twice = g_.alpha == Factor::ComplexInput && (s_.low() || s_.values > 2);
    if (twice) total += tall * bn * fp32 * parts_;
    if (s_.group_tiles > 0)
      total += (s_.compensated ? 2 : 1) * s_.values * tall * bn * fp32 + (s_.compensated ? 6 * bank_ * fp32 : 0);
    return total;
  }

  // Chunks and buffers for blocks of `tall` times 128 rows and `wide` banks of columns.
  Blocking blocking(std::int64_t tall, std::int64_t wide) const {
    const auto terms = static_cast<std::int64_t>(s_.terms.size());
    Blocking b{std::min(tall * side_, g_.m), std::min(wide * bank_, g_.n), 1, 0, 1, s_.low() ? 1 : ceil_div(4, terms)};
    // Chunks long enough that a DMA moves data for as long as its descriptors take; rows that are turned on the Tensor
    // Engine are read kTurnedRowBytes at a time.
    const double worthwhile = 0.9 * m_.timing.dge_hardware_s * m_.dma_bytes_per_s();
    if (turned_)
      b.kc = std::max<std::int64_t>(1, kTurnedRowBytes / (side_ * raw_));
    else
      while (b.kc < 16 && static_cast<double>(b.kc * side_ * b.bn * raw_) < worthwhile) b.kc *= 2;
    b.kc = std::min(b.kc, k_tiles());
    // Where rows that are turned take most of the loads, a few of them do not keep the DMA engines busy.
    const bool plain = !s_.complex && s_.all_as_loaded(s_.a) && s_.all_as_loaded(s_.b);
    b.row_buffers = plain && g_.n <= bank_ ? 6 : plain && s_.word == DType::TFloat32 ? 4 : 3;
    if (s_.group_tiles > 0) b.kc = std::min(b.kc, s_.group_tiles);
    if (s_.all_as_loaded(s_.a) && s_.all_as_loaded(s_.b))
      set_buffers(b, tall);
    else
      fit_buffers(b, tall);
    return b;
  }

  // SBUF per partition. The peeled first block column has tiles of its own; two panels are worth having only when both
  // sets fit beside them, one panel also when the sets must share (the allocator sees to that).
  void set_buffers(Blocking& b, std::int64_t tall) const {
    const std::int64_t out = out_bytes(tall, b.bn);
    const std::int64_t staging = turned_ ? b.row_buffers * kTurnedRowBytes : 0;
    const std::int64_t a_chunk = b.kc * b.bm * raw_, b_chunk = b.kc * b.bn * raw_, panel = k_tiles() * b.bm * raw_;
    const std::int64_t last = b.kc < b.last ? 2 * b.last / b.kc * b_chunk : 0;  // two buffers of a longer last chunk
    const std::int64_t one_set = out + staging + last, all_bytes = m_.sbuf_bytes_per_partition;
    if (2 * panel + 2 * (one_set + 2 * b_chunk) <= all_bytes)
      b.a_buffers = 2;
    else if (panel + one_set + 2 * b_chunk <= all_bytes)
      b.a_buffers = 1;
    const std::int64_t streamed = b.a_buffers == 0 ? a_chunk + b_chunk : b_chunk;
    const std::int64_t room = all_bytes - b.a_buffers * panel;
    // Only the first set turns: where many rows are on their way, that is worth counting.
    b.b_buffers =
        std::clamp<std::int64_t>((room - 2 * one_set + (b.row_buffers > 3 ? staging : 0)) / 2 / streamed,
                                 std::min<std::int64_t>(2, std::max<std::int64_t>(1, (room - one_set) / streamed)), 6);
  }

  // With words to make: the first choice in the order of what it is worth whose tiles fit. The peeled first block
  // column has tiles of its own (`sets` 2); where they must share bytes with the others', the two wait for one another
  // once per block row.
  void fit_buffers(Blocking& b, std::int64_t tall) const {
    const Bytes a = bytes(s_.a), bb = bytes(s_.b);
    const auto fits = [&](const Blocking& c, std::int64_t sets) {
      const std::int64_t last = c.kc < c.last ? 2 * c.last * c.bn * (bb.kept + bb.raw + bb.rest) : 0;
      const std::int64_t b_chunks = c.kc * c.bn * ((bb.kept + bb.raw) * c.b_buffers + 2 * bb.rest);
      const std::int64_t a_chunks =
          c.kc * c.bm * (a.raw * 3 + 2 * a.rest + (c.a_buffers == 0 ? c.b_buffers * a.kept : 0));
      const std::int64_t staging = turned_ ? c.row_buffers * c.kc * side_ * raw_ : 0;
      const std::int64_t panel = c.a_buffers * k_tiles() * c.bm * a.kept;
      return panel + a_chunks + staging + sets * (b_chunks + last + out_bytes(tall, c.bn)) <=
             m_.sbuf_bytes_per_partition;
    };
    const std::int64_t kc = b.kc;
    for (const std::int64_t panels : {1, 0}) {
      for (std::int64_t sets = g_.region == Region::All ? 2 : 3; sets >= 1; --sets) {
        for (b.kc = kc; b.kc >= std::min<std::int64_t>(kc, turned_ && sets >= 2 ? 2 : 1); b.kc /= 2) {
          for (const std::int64_t buffers : {3, 2}) {
            b.a_buffers = panels;
            b.b_buffers = buffers;
            if (fits(b, sets)) return;
          }
        }
      }
    }
    b.kc = b.b_buffers =
        1;  // what little is missing, the allocator finds by sharing bytes of tiles that are not used at the same time
  }

  // The slower of arithmetic and loads for one block, per element of C and unit of k. Loads count half as much again:
  // they come in bursts, with A at the start of a block row.
  double seconds_per_element(const Blocking& b) const {
    const auto bm = static_cast<double>(b.bm), bn = static_cast<double>(b.bn), bytes = static_cast<double>(raw_);
    const auto columns_of_blocks = static_cast<double>(ceil_div(g_.n, b.bn));
    const double arithmetic = 2 * static_cast<double>(s_.terms.size()) / m_.tensor_flops(s_.word);
    const double a_loads = bm * bytes / (b.a_buffers > 0 ? columns_of_blocks : 1), b_loads = bn * bytes;
    return std::max(arithmetic, 1.5 * (a_loads + b_loads) / (bm * bn) / m_.dma_bytes_per_s());
  }

  const GemmShape& g_;
  const Scheme& s_;
  const Machine& m_;
  bool turned_;
  std::int64_t side_, bank_, parts_, raw_;
};

}  // namespace

Blocking choose_blocking(const GemmShape& shape, const Scheme& scheme, Route a_route, const Machine& machine) {
  return Chooser(shape, scheme, a_route, machine).best();
}

}  // namespace trn::blas::device

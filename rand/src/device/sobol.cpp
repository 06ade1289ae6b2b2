// The device kernel of raw32, raw64 and uniform for Sobol points.
//
// X(n), the fraction of point n, is linear over bits in the Gray code of n, so X(F q + i) = X(F q) ^ X(i) for a power
// of two F > i. A partition makes F consecutive points of one dimension: a table `run` of X(i) that all its rows share,
// and one word for the row. With the first point s = F q + f, row r and column j:
//
//   X(s + F r + j) = X(F (q + r)) ^ X(f + j)                 where f + j < F
//                  = X(F (q + r + 1)) ^ X(f + j - F)         elsewhere
//
// f = 0: run[j] ^ high[r], one tensor_scalar. Otherwise, with run[j] = X((f + j) mod F), carry[j] all ones where
// f + j >= F, and step[r] = X(F (q + r)) ^ X(F (q + r + 1)): ((carry[j] & step[r]) ^ high[r]) ^ run[j], one
// tensor_scalar and one tensor_tensor. So f is data, and the program knows only whether it is 0.
//
// The table itself is made on the chip in the same way from 64 + F / 64 words of the dimension (twice the latter with a
// carry), which the host computes, as it does high and step: 2 words for F points.
//
// Partition g D + d holds dimension d of a group of D and run g of G, D G <= 128; the partition stores F consecutive
// values.
//
// Time per value on trn2: Vector 1/2 cycle, 1.5 with a carry: 246e9 and 82e9 values/s; Scalar, for uniforms, 1 cycle of
// 1.2 GHz: 154e9; the store 4 bytes of 368 GB/s: 92e9. The DMA engines are the limit when f = 0, the Vector Engine
// otherwise. trn1: 1 or 3 cycles, one more for uniforms, beside 69e9 values/s of DMA. HBM traffic is the output and,
// for each dimension, its table: read once.
#include <algorithm>
#include <array>
#include <trn/core/array.hpp>
#include <trn/rand/sobol_program.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "device/rounds.hpp"
#include "device/sobol.hpp"
#include "directions.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

using namespace tile;

constexpr std::int64_t kInner = 64;       // words of the first table
constexpr std::int64_t kRunWords = 4096;  // 16 KiB of a partition: instructions of 2 us and more
constexpr std::int64_t kHighTiles = 32;   // tiles whose words are loaded together
constexpr std::int64_t kBuffers = 3;

std::int64_t words_of(Draw draw) { return draw == Draw::Raw64 ? 2 : 1; }
// Dimensions side by side on partitions, and runs of each.
std::int64_t group_of(std::int64_t dimensions, const Machine& m) { return std::min(dimensions, m.partitions); }
std::int64_t runs_of(std::int64_t dimensions, const Machine& m) { return m.partitions / group_of(dimensions, m); }

// Rows of G runs each, `columns` points of every run stored: all but a rest of runs, that rest, and the last run's
// part.
struct Strip {
  const char* name;
  std::int64_t first, runs, tiles, columns;  // the first run's number; runs on partitions; tiles
};

struct Layout {
  Layout(const SobolShape& s, const Machine& machine)
      : words(words_of(s.draw)),
        run(sobol_run(s.draw, s.dimensions, s.points, machine)),
        outer(run / kInner),
        high_words(words * (s.aligned ? 1 : 2)),
        low_words(words * (kInner + outer * (s.aligned ? 1 : 2))) {
    const std::int64_t whole = s.points / run,
                       runs = std::min(std::max<std::int64_t>(whole, 1), runs_of(s.dimensions, machine));
    const std::int64_t tiles = whole / runs;
    for (const Strip& strip :
         {Strip{"high", 0, runs, tiles, run}, Strip{"high_rest", tiles * runs, whole - tiles * runs, 1, run},
          Strip{"high_last", whole, 1, 1, s.points - whole * run}}) {
      if (strip.runs > 0 && strip.tiles > 0 && strip.columns > 0) strips.push_back(strip);
    }
  }
  std::int64_t words, run, outer, high_words, low_words;
  std::vector<Strip> strips;
};

class SobolKernel {
 public:
  SobolKernel(const SobolShape& shape, const Machine& machine)
      : s_(shape),
        m_(machine),
        b_(name_of(shape), machine),
        l_(shape, machine),
        dtype_(words() ? DType::UInt32 : DType::Float32) {}

  Program build() {
    const Access low = b_.input("low", DType::UInt32, {s_.dimensions, l_.low_words});
    std::vector<Access> high;
    for (const Strip& strip : l_.strips) {
      high.push_back(b_.input(strip.name, DType::UInt32, {strip.runs, s_.dimensions, strip.tiles * l_.high_words}));
    }
    if (!s_.aligned) {
      const Access carry = b_.input("carry", DType::UInt32, {kInner + l_.run});
      carry_ = b_.sbuf("carries", m_.partitions, {kInner + l_.run}, DType::UInt32);
      b_.dma_copy(carry_, carry.broadcast(0, m_.partitions));
    }
    out_ = b_.output("out", dtype_, {s_.dimensions, s_.points * l_.words});
    blocks::for_blocks(b_, "group", s_.dimensions, group_of(s_.dimensions, m_), LoopKind::Parallel,
                       [&](const Affine& d0, std::int64_t dimensions) {
                         const Access run = make_run(low, d0, dimensions);
                         for (std::size_t k = 0; k < high.size(); ++k)
                           strip(l_.strips[k], high[k], run, d0, dimensions);
                       });
    return tile::static_stores(b_.finish());
  }

 private:
  static std::string name_of(const SobolShape& s) {
    const char* draw = s.draw == Draw::Raw32        ? "raw32"
                       : s.draw == Draw::Raw64      ? "raw64"
                       : s.draw == Draw::OpenClosed ? "uniform_open_closed"
                                                    : "uniform_half_open";
    return std::string("rand_") + draw + "_sobol";
  }
  bool words() const { return s_.draw == Draw::Raw32 || s_.draw == Draw::Raw64; }
  void combine(const Access& to, const Access& x, const Access& y, AluOp op) {
    b_.tensor_tensor(to, x, y, op, Engine::Vector);
  }

  // X((f + j) mod F) of a group's dimensions, (runs x dimensions, words, F): j = 64 a + c, and 64 is to F what F is to
  // the whole: inner[c] ^ outer[a], with a carry from c to a.
  Access make_run(const Access& low, const Affine& d0, std::int64_t dimensions) {
    std::int64_t runs = 1;
    for (const Strip& s : l_.strips) runs = std::max(runs, s.runs);
    const std::int64_t rows = runs * dimensions;
    const Access tables = b_.sbuf("tables", rows, {l_.low_words}, DType::UInt32, 2);
    b_.dma_copy(tables, low(ds(d0, dimensions), all).broadcast(0, runs));
    const Access run = b_.sbuf("run", rows, {l_.words, l_.run}, DType::UInt32, 2);
    for (std::int64_t w = 0; w < l_.words; ++w) {
      const std::int64_t at = w * (l_.low_words / l_.words);
      const auto outer = [&](std::int64_t k) {
        return tables(all, ds(at + kInner + k * l_.outer, l_.outer)).broadcast(1, kInner);
      };
      const Access to = run(all, ds(w, 1), all).split(1, kInner)(all, all, all, all);
      const Access inner = tables(all, ds(at, kInner)).broadcast(0, l_.outer);
      if (s_.aligned) {
        combine(to, outer(0), inner, AluOp::BitwiseXor);
        continue;
      }
      combine(to, outer(1), carry_(ds(0, rows), ds(0, kInner)).broadcast(0, l_.outer), AluOp::BitwiseAnd);
      combine(to, to, outer(0), AluOp::BitwiseXor);
      combine(to, to, inner, AluOp::BitwiseXor);
    }
    return run;
  }

  void strip(const Strip& s, const Access& high, const Access& run, const Affine& d0, std::int64_t dimensions) {
    const std::int64_t rows = s.runs * dimensions;
    blocks::for_blocks(b_, "chunk", s.tiles, kHighTiles, LoopKind::Parallel, [&](const Affine& t0, std::int64_t tiles) {
      const Access words = b_.sbuf("row_words", rows, {tiles * l_.high_words}, DType::UInt32, 2);
      b_.dma_copy(words, high(all, ds(d0, dimensions), ds(t0 * l_.high_words, tiles * l_.high_words)));
      b_.parallel("tile", tiles, [&](const Affine& t) {
        const Access values = b_.sbuf("values", rows, {s.columns * l_.words}, dtype_, kBuffers);
        for (std::int64_t w = 0; w < l_.words; ++w)
          one_word(s, values, run(ds(0, rows), ds(w, 1), ds(0, s.columns)), words, t, w);
        finish(values);
        const std::int64_t per_run = s.columns * l_.words;
        const Access target =
            out_(ds(d0, dimensions), ds(((t0 + t) * s.runs + s.first) * (l_.run * l_.words), s.runs * per_run));
        b_.dma_copy(target.split(1, per_run).permute({1, 0, 2}), values);
      });
    });
  }

  // Word w of the points of a tile.
  void one_word(const Strip& s, const Access& values, const Access& run, const Access& words, const Affine& t,
                std::int64_t w) {
    const Access bits = values.view(DType::UInt32);
    const Access to = l_.words == 1 ? bits : bits.split(0, l_.words)(all, all, ds(w, 1));
    const auto word = [&](std::int64_t k) { return words(all, ds(t * l_.high_words + (w + k * l_.words), 1)); };
    if (s_.aligned) return b_.tensor_scalar(to, run, AluOp::BitwiseXor, word(0));
    TensorScalarOptions with_high;
    with_high.op1 = AluOp::BitwiseXor;
    with_high.operand1 = word(0);
    b_.tensor_scalar(to, carry_(ds(0, values.partitions), ds(kInner, s.columns)), AluOp::BitwiseAnd, word(1),
                     with_high);
    combine(to, to, run, AluOp::BitwiseXor);
  }

  // Floats in the place of words, as in fill.cpp; the words of HalfOpen come without the 8 bits that it drops.
  void finish(const Access& values) {
    if (words()) return;
    TensorScalarOptions options;
    options.engine = device::mover(m_);
    const Access bits = values.view(DType::UInt32);
    if (s_.draw == Draw::HalfOpen) return b_.tensor_scalar(values, bits, AluOp::Multiply, 0x1p-24, options);
    options.op1 = AluOp::Add;
    options.operand1 = 0x1p-33;
    b_.tensor_scalar(values, bits, AluOp::Multiply, 0x1p-32, options);
  }

  SobolShape s_;
  const Machine& m_;
  Builder b_;
  Layout l_;
  DType dtype_;
  Access out_, carry_;
};

void check(const SobolShape& s) {
  require(s.draw == Draw::Raw32 || s.draw == Draw::Raw64 || s.draw == Draw::OpenClosed || s.draw == Draw::HalfOpen,
          "rand: draw {} has no device program; use Raw32, Raw64, OpenClosed or HalfOpen", static_cast<int>(s.draw));
  require(s.dimensions >= 1 && s.dimensions <= kSobolDimensions, "rand: {} dimensions; a program has 1 to {}",
          s.dimensions, kSobolDimensions);
  require(s.points >= 1, "rand: a program makes at least one point, not {}", s.points);
}

}  // namespace

std::int64_t sobol_run(Draw draw, std::int64_t dimensions, std::int64_t points, const Machine& machine) {
  std::int64_t run = kInner;
  while (run < kRunWords / words_of(draw) && run * runs_of(dimensions, machine) < points) run *= 2;
  return run;
}

SobolShape sobol_shape(const State& state, Draw draw, std::int64_t points, const Machine& machine) {
  const std::int64_t run = sobol_run(draw, state.dimensions, points, machine);
  return {draw, state.dimensions, points, state.position % static_cast<std::uint64_t>(run) == 0};
}

Program sobol_program(const SobolShape& shape, const Machine& machine) {
  check(shape);
  return SobolKernel(shape, machine).build();
}

std::vector<std::pair<std::string, std::vector<std::uint32_t>>> sobol_inputs(const State& state,
                                                                             const SobolShape& shape,
                                                                             const Machine& machine) {
  check(shape);
  require(has_sobol_program(state.algorithm), "rand: {} has no Sobol program", name(state.algorithm));
  require(shape == sobol_shape(state, shape.draw, shape.points, machine),
          "rand: the shape is not that of {} points from {} on", shape.points, state.position);
  const Layout l(shape, machine);
  const auto run = static_cast<std::uint64_t>(l.run), inner = static_cast<std::uint64_t>(kInner);
  const std::uint64_t f = state.position % run, base = state.position - f;
  const auto word = [&](std::uint64_t x, std::int64_t w) {
    if (shape.draw == Draw::Raw64 && w == 0) return low_word(x);
    return high_word(x) >> (shape.draw == Draw::HalfOpen ? 8 : 0);
  };

  std::vector<std::uint32_t> low;
  std::vector<std::vector<std::uint32_t>> high;
  for (const Strip& s : l.strips)
    high.emplace_back(static_cast<std::size_t>(s.runs * s.tiles * shape.dimensions * l.high_words));
  for (std::uint32_t d = 0; d < state.dimensions; ++d) {
    const Scrambled v = sobol_vectors(state.algorithm, d);
    const auto x = [&](std::uint64_t n) { return sobol_fraction(v.directions, n); };
    const auto outer = [&](std::uint64_t a) { return x((f - f % inner + a * inner) % run); };
    for (std::int64_t w = 0; w < l.words; ++w) {
      for (std::uint64_t c = 0; c < inner; ++c) low.push_back(word(x((f + c) % inner), w));
      for (std::uint64_t a = 0; a < run / inner; ++a) low.push_back(word(outer(a), w));
      for (std::uint64_t a = 0; !shape.aligned && a < run / inner; ++a) low.push_back(word(outer(a) ^ outer(a + 1), w));
    }
    for (std::size_t k = 0; k < high.size(); ++k) {
      const Strip& s = l.strips[k];
      for (std::int64_t g = 0; g < s.runs; ++g) {
        auto* to = high[k].data() + (g * shape.dimensions + d) * s.tiles * l.high_words;
        for (std::int64_t t = 0; t < s.tiles; ++t) {
          const std::uint64_t n = base + static_cast<std::uint64_t>(s.first + t * s.runs + g) * run, here = x(n);
          for (std::int64_t w = 0; w < l.words; ++w) *to++ = word(here ^ v.shift, w);
          for (std::int64_t w = 0; !shape.aligned && w < l.words; ++w) *to++ = word(here ^ x(n + run), w);
        }
      }
    }
  }
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> inputs{{"low", std::move(low)}};
  for (std::size_t k = 0; k < high.size(); ++k) inputs.emplace_back(l.strips[k].name, std::move(high[k]));
  if (!shape.aligned) {
    std::vector<std::uint32_t> carry;
    for (std::uint64_t c = 0; c < inner; ++c) carry.push_back(f % inner + c >= inner ? ~0u : 0u);
    for (std::uint64_t j = 0; j < run; ++j) carry.push_back(f + j >= run ? ~0u : 0u);
    inputs.emplace_back("carry", std::move(carry));
  }
  return inputs;
}

namespace device {

void fill_sobol(const Executor& executor, const FillArgs& args) {
  const Machine& machine = device_of(executor).machine();
  const std::int64_t points = element_count(args.shape) / args.state.dimensions;
  const SobolShape shape = sobol_shape(args.state, args.draw, points, machine);
  std::vector<Argument> arguments{{"out", args.out}};
  for (const auto& [name, words] : sobol_inputs(args.state, shape, machine)) arguments.push_back(constant(name, words));
  launch(executor, sobol_program, shape, arguments);
}

}  // namespace device

}  // namespace trn::rand

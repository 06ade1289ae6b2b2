// The device kernel of raw32, raw64 and uniform for Philox and Threefry; sobol.cpp has the one of Sobol points.
//
// Blocks lie on partitions in long runs: with C columns, partition p of a tile holds the blocks p C .. p C + C - 1
// after the tile's first, so each partition stores 4 C consecutive values. The longer an instruction, the less its
// fixed cost of 0.15 us counts: Philox on trn2 models 2.25e9, 2.57e9 and 2.69e9 values/s for C = 512, 1024 and 1536. So
// C is as large as SBUF allows: 22 planes and two output buffers of 4 C words. HBM traffic is the output alone, 4 bytes
// per value: at 3e9 values/s 12 GB/s of 416 GB/s. Arithmetic is the limit.
//
// Uniforms: an engine reads a uint32 as fp32, rounded to nearest even, multiplies by 2^-32 (exact) and adds 2^-33 with
// one rounding: operation for operation what the host does. For [0, 1) the shifted integer is below 2^24 and nothing
// rounds.
#include <algorithm>
#include <trn/core/array.hpp>
#include <trn/rand/sobol_program.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "device/rounds.hpp"
#include "device/sobol.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

using namespace tile;
using blocks::ceil_div;

constexpr std::int64_t kWords = 4;  // per block
constexpr std::int64_t kOutBuffers = 2;
constexpr std::int64_t kColumnStep = 256;

// Blocks per partition in a whole tile; rounding down leaves room for the narrow tiles.
std::int64_t whole_columns(const Machine& machine) {
  const std::int64_t bytes =
      (WordTiles::kPlanes + kOutBuffers * kWords) * static_cast<std::int64_t>(sizeof(std::uint32_t));
  return machine.sbuf_bytes_per_partition / bytes / kColumnStep * kColumnStep;
}

class FillKernel {
 public:
  FillKernel(const FillShape& shape, const Machine& machine)
      : s_(shape),
        m_(machine),
        b_(name_of(shape), machine),
        dtype_(shape.draw == Draw::Raw32 ? DType::UInt32 : DType::Float32),
        columns_(whole_columns(machine)) {}

  Program build() {
    const Access input = b_.input("parameters", DType::UInt32, {fill_parameter_count(s_.algorithm)});
    out_ = b_.output("out", dtype_, {s_.count});
    WordTiles tiles(b_, s_.algorithm, input);

    // Words from the first block's first: the output is the words phase .. phase + count - 1 of them.
    const std::int64_t words = s_.phase + s_.count, tile_words = m_.partitions * columns_ * kWords;
    std::int64_t whole = words / tile_words, done = 0;
    if (whole > 0) {
      tiles.set_shape(m_.partitions, columns_);
      if (s_.phase > 0) {  // the first tile begins inside a block
        one_tile(tiles, 0, m_.partitions, columns_, s_.phase, tile_words);
        done = 1;
      }
      b_.sequential("tile", whole - done, [&](const Affine& i) {
        one_tile(tiles, (i + done) * tile_words, m_.partitions, columns_, 0, tile_words);
      });
    }
    if (const std::int64_t rest = words - whole * tile_words; rest > 0) {
      const std::int64_t rest_blocks = ceil_div(rest, kWords), columns = ceil_div(rest_blocks, m_.partitions);
      const std::int64_t rows = ceil_div(rest_blocks, columns);
      tiles.set_shape(rows, columns);
      one_tile(tiles, whole * tile_words, rows, columns, whole == 0 ? s_.phase : 0, rest);
    }
    return tile::static_stores(b_.finish());
  }

 private:
  static std::string name_of(const FillShape& s) {
    const char* draw = s.draw == Draw::Raw32        ? "raw32"
                       : s.draw == Draw::OpenClosed ? "uniform_open_closed"
                                                    : "uniform_half_open";
    return std::string("rand_") + draw + (s.algorithm == Algorithm::Philox4x32_10 ? "_philox" : "_threefry");
  }

  // The blocks of one tile whose first word is number `first`; of its words, lo .. hi - 1 are stored.
  void one_tile(WordTiles& tiles, const Affine& first, std::int64_t rows, std::int64_t columns, std::int64_t lo,
                std::int64_t hi) {
    const WordPlanes words = tiles.next();
    const Access values = b_.sbuf("values", rows, {columns * kWords}, dtype_, kOutBuffers);
    for (std::int64_t w = 0; w < kWords; ++w) {
      finish(values.split(0, kWords)(all, all, ds(w, 1)), words[static_cast<std::size_t>(w)]);
    }
    const std::int64_t run = columns * kWords;  // words per partition
    const auto store = [&](std::int64_t row, std::int64_t row_count, std::int64_t from, std::int64_t size) {
      const Access target = out_(ds(first + (row * run + from - s_.phase), row_count * size));
      b_.dma_copy(row_count > 1 ? target.split(0, size) : target, values(ds(row, row_count), ds(from, size)));
    };
    std::int64_t row = 0;
    if (lo > 0) store(row++, 1, lo, std::min(hi, run) - lo);
    const std::int64_t whole_rows = hi / run - row;
    if (whole_rows > 0) store(row, whole_rows, 0, run), row += whole_rows;
    if (hi > row * run) store(row, 1, 0, hi - row * run);
  }

  // Values of the draw from words, into every fourth place.
  void finish(const Access& to, const Access& word) {
    if (s_.draw == Draw::Raw32) return b_.tensor_copy(to, word, device::mover(m_));
    TensorScalarOptions options;
    options.engine = device::mover(m_);
    if (s_.draw == Draw::HalfOpen) {
      b_.tensor_scalar(word, word, AluOp::RightShift, 8.0);
      return b_.tensor_scalar(to, word, AluOp::Multiply, 0x1p-24, options);
    }
    options.op1 = AluOp::Add;
    options.operand1 = 0x1p-33;
    b_.tensor_scalar(to, word, AluOp::Multiply, 0x1p-32, options);
  }

  FillShape s_;
  const Machine& m_;
  Builder b_;
  DType dtype_;
  std::int64_t columns_;
  Access out_;
};

}  // namespace

Program fill_program(const FillShape& shape, const Machine& machine) {
  require(is_block_algorithm(shape.algorithm), "rand: {} has no device program; use philox4x32-10 or threefry4x32-20",
          name(shape.algorithm));
  require(shape.draw == Draw::Raw32 || shape.draw == Draw::OpenClosed || shape.draw == Draw::HalfOpen,
          "rand: draw {} has no device program; use Raw32, OpenClosed or HalfOpen", static_cast<int>(shape.draw));
  require(shape.count >= 1 && shape.count <= kFillMax, "rand: a program makes 1 to {} values, not {}; split the draw",
          kFillMax, shape.count);
  require(shape.phase >= 0 && shape.phase < kWords, "rand: phase {} is not a position modulo {}", shape.phase, kWords);
  return FillKernel(shape, machine).build();
}

std::vector<std::uint32_t> fill_parameters(const State& state) {
  const Words4 counter = counter_of(state.algorithm, state.position / kWords, state.stream), key = key_of(state.seed);
  return state.algorithm == Algorithm::Philox4x32_10 ? device::philox_parameters(counter, key)
                                                     : device::threefry_parameters(counter, key);
}

std::uint64_t fill_run_length(const State& state) {
  const std::uint64_t period = std::uint64_t{1} << (state.algorithm == Algorithm::Philox4x32_10 ? 48 : 32);
  const std::uint64_t blocks = period - state.position / kWords % period;
  return std::min(blocks * kWords - state.position % kWords, static_cast<std::uint64_t>(kFillMax));
}

namespace device {

void fill(const Executor& executor, const FillArgs& args) {
  const bool sobol = has_sobol_program(args.state.algorithm);
  if (!sobol && !is_block_algorithm(args.state.algorithm)) {
    fail<NotImplemented>("rand: {} runs on the host, not on executor '{}'; draw there and copy(), or use philox4x32-10",
                         name(args.state.algorithm), executor.name());
  }
  if (args.draw == Draw::OpenClosedDouble || args.draw == Draw::HalfOpenDouble) {
    fail<NotImplemented>("rand: doubles are made on the host, not on executor '{}', which has no float64",
                         executor.name());
  }
  if (sobol) return fill_sobol(executor, args);
  State state = args.state;
  auto* out = static_cast<std::byte*>(args.out);
  const bool two_words = args.draw == Draw::Raw64;  // low word first, as they come
  const Draw draw = two_words ? Draw::Raw32 : args.draw;
  auto left = static_cast<std::uint64_t>(element_count(args.shape)) * (two_words ? 2 : 1);
  while (left > 0) {
    const std::uint64_t count = std::min(left, fill_run_length(state));
    const FillShape shape{state.algorithm, draw, static_cast<std::int64_t>(count),
                          static_cast<std::int64_t>(state.position % kWords)};
    launch(executor, fill_program, shape, {constant("parameters", fill_parameters(state)), {"out", out}});
    out += count * sizeof(std::uint32_t);
    state.position += count;
    left -= count;
  }
}

}  // namespace device

}  // namespace trn::rand

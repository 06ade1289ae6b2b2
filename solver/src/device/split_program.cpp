// The split of spectral divide and conquer: see split_program.hpp.
//
// Five matrices are in SBUF: S, then A; U and its transpose; M and Q of a step, then A Q and the result.
#include <trn/solver/split_program.hpp>

#include <vector>

#include <trn/core/error.hpp>
#include <trn/solver/sign_program.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/stores.hpp>

#include "device/diagonal_blocks.hpp"
#include "device/polynomial_steps.hpp"

namespace trn::solver {

using namespace trn::tile;
using device::BlockProducts, device::RowStrip;

namespace {

constexpr int kClosings = 2;

Access of_tile(const Access& x, std::int64_t t) {
  Access one = x(ds(t, 1));
  one.dims.erase(one.dims.begin());
  return one;
}

class Split {
 public:
  Split(const SplitShape& shape, const Machine& machine)
      : g_(shape),
        b_("solver_split", machine),
        side_(machine.partitions),
        n_(shape.n),
        tiles_(shape.tiles),
        products_(b_),
        steps_(b_, products_, shape.tiles, shape.n, shape.n, false) {}

  Program program() {
    const Shape matrices{tiles_, n_, n_}, vectors{tiles_, n_};
    const bool rows = g_.result == SplitResult::Rows;
    const auto input = [&](const char* name, const Shape& s) { return b_.input(name, DType::Float32, s); };
    const auto output = [&](const char* name, const Shape& s) { return b_.output(name, DType::Float32, s); };
    const Access a = input("a", matrices), s = input("s", matrices), g = input("g", matrices);
    const Access before = rows ? input("rows", matrices) : Access{};
    device::DiagonalBlocks blocks(b_, input("ids", vectors));
    const Access order = input("order", vectors);
    const Access a_out = output("a_out", matrices), result = output("rows_out", matrices),
                 trace = output("trace", vectors), departure = output("departure", vectors);
    for (std::int64_t t = 0; t < tiles_; ++t) {
      s_.push_back(products_.matrix(fmt::format("s{}", t), n_, n_));
      products_.load(s_.back(), of_tile(s, t));
      products_.load(steps_.other(at(t)), of_tile(g, t));
      signs_.push_back(device::along_columns(b_, "signs", order, t));
    }
    const Access traces = b_.sbuf("traces", side_, {n_}, DType::Float32, 2);
    for (std::int64_t t = 0; t < tiles_; ++t) find_signs(t, blocks, of_tile(trace, t), traces);
    for (std::int64_t t = 0; t < tiles_; ++t) {
      const Access g_tile = steps_.other(at(t)), x = steps_.x(at(t));
      products_.product(s_[at(t)], g_tile, false, [&](const RowStrip& piece, const Access& sums) {
        const Access to = BlockProducts::part(x, piece);
        b_.tensor_tensor(to, sums, signs(t, piece), AluOp::Multiply, Engine::Vector);
        b_.tensor_tensor(to, to, BlockProducts::part(g_tile, piece), AluOp::Add, Engine::GpSimd);
      });
    }
    for (std::size_t i = 0; i < device::kFirst.size(); ++i) {
      // A square block of Gaussian numbers has a smallest singular value of about 1 / k of the largest, and 1 / (100 k)
      // once in a hundred times: one step more.
      steps_.step(device::kFirst[i]);
      if (i == 1) steps_.step(device::kFirst[2]);
    }
    project();
    std::vector<Access> sums;
    for (std::int64_t t = 0; t < tiles_; ++t) {
      sums.push_back(b_.sbuf(fmt::format("departures{}", t), side_, {n_ / side_}, DType::Float32));
    }
    for (int i = 0; i < kClosings; ++i) {
      steps_.departure(sums);
      if (i == 0) load_a(a);
      steps_.apply(device::about_one(device::kClosing));
    }
    compress(a_out);
    for (std::int64_t t = 0; t < tiles_; ++t) {
      b_.dma_copy(of_tile(departure, t).split(0, side_).permute({1, 0}), sums[at(t)]);
      if (!rows) {
        products_.turn(steps_.other(at(t)), steps_.x(at(t)));
        products_.store(of_tile(result, t), steps_.other(at(t)));
        continue;
      }
      products_.load(s_[at(t)], of_tile(before, t));
      const Access to = steps_.other(at(t));
      products_.product(steps_.x(at(t)), s_[at(t)], false, [&](const RowStrip& piece, const Access& sum) {
        b_.tensor_copy(BlockProducts::part(to, piece), sum, Engine::Vector);
      });
      products_.store(of_tile(result, t), to);
    }
    return static_stores(b_.finish());
  }

 private:
  static std::size_t at(std::int64_t t) { return static_cast<std::size_t>(t); }
  [[nodiscard]] Access signs(std::int64_t t, const RowStrip& piece) const {
    return signs_[at(t)](all, ds(piece.first, piece.columns));
  }

  // D from the traces of the blocks: sums over partitions, the same on every one of them.
  void find_signs(std::int64_t t, device::DiagonalBlocks& blocks, const Access& trace, const Access& traces) {
    const std::int64_t strip = b_.machine().psum_bank_bytes / 4;
    const Access diagonal = b_.sbuf(fmt::format("diagonal{}", t), side_, {n_ / side_}, DType::Float32);
    const Access spread = b_.sbuf("spread", side_, {side_}, DType::Float32, 2);
    const Access sums = b_.psum("trace_sums", side_, {std::min(strip, n_)});
    products_.diagonal(diagonal, s_[at(t)]);
    for (std::int64_t c = 0; c < n_; c += strip) {
      const std::int64_t columns = std::min(strip, n_ - c);
      for (std::int64_t k = 0; k < n_ / side_; ++k) {
        blocks::scale(b_, spread, products_.ones(), diagonal(all, ds(k, 1)), Engine::Scalar);
        b_.nc_matmul(sums(all, ds(0, columns)), spread, blocks.together(at(t), k)(all, ds(c, columns)),
                     {.accumulate = k > 0 ? 1 : 0});
      }
      b_.tensor_copy(traces(all, ds(c, columns)), sums(all, ds(0, columns)), Engine::Vector);
    }
    b_.dma_copy(trace.split(0, n_), traces(ds(0, 1)));
    const Access d = signs_[at(t)];
    b_.tensor_tensor(d, d, traces, AluOp::Add, Engine::Vector);
    b_.tensor_scalar(d, d, AluOp::Greater, 0.0, {.op1 = AluOp::Multiply, .operand1 = 2.0, .engine = Engine::Vector});
    b_.tensor_scalar(d, d, AluOp::Subtract, 1.0, {.engine = Engine::Vector});
  }

  // U <- (U + (S U) D) / 2.
  void project() {
    for (std::int64_t t = 0; t < tiles_; ++t) {
      const Access u = steps_.x(at(t)), su = steps_.other(at(t));
      products_.product(s_[at(t)], u, false, [&](const RowStrip& piece, const Access& sums) {
        b_.tensor_tensor(BlockProducts::part(su, piece), sums, signs(t, piece), AluOp::Multiply, Engine::Vector);
      });
      b_.tensor_tensor(u, u, su, AluOp::Add, Engine::Vector);
      blocks::scale(b_, u, u, 0.5, Engine::Scalar);
    }
  }
  void load_a(const Access& a) {
    for (std::int64_t t = 0; t < tiles_; ++t) products_.load(s_[at(t)], of_tile(a, t));
  }
  // Q^T (A Q).
  void compress(const Access& a_out) {
    for (std::int64_t t = 0; t < tiles_; ++t) {
      const Access aq = steps_.other(at(t));
      products_.product(s_[at(t)], steps_.x(at(t)), false, [&](const RowStrip& piece, const Access& sums) {
        blocks::scale(b_, BlockProducts::part(aq, piece), sums, 1.0, Engine::Scalar);
      });
    }
    for (std::int64_t t = 0; t < tiles_; ++t) {
      const Access aq = steps_.other(at(t)), to = steps_.m(at(t));
      products_.product(steps_.x(at(t)), aq, true, [&](const RowStrip& piece, const Access& sums) {
        b_.tensor_copy(BlockProducts::part(to, piece), sums, Engine::Vector);
        products_.symmetrise(to, piece);
        products_.mirror(to, piece);
      });
      products_.store(of_tile(a_out, t), to);
    }
  }

  SplitShape g_;
  Builder b_;
  std::int64_t side_, n_, tiles_;
  BlockProducts products_;
  device::PolynomialSteps steps_;
  std::vector<Access> s_, signs_;
};

}  // namespace

Program split_program(const SplitShape& shape, const Machine& machine) {
  const std::int64_t side = machine.partitions, most = resident_order(machine);
  require(shape.n >= side && shape.n % side == 0 && shape.n <= most,
          "solver.split: order {}; it must be a multiple of {}, at most {}", shape.n, side, most);
  require(shape.tiles == 1 || (shape.n == side && shape.tiles >= 1 && shape.tiles <= 8),
          "solver.split: {} matrices of order {}", shape.tiles, shape.n);
  return Split(shape, machine).program();
}

Program window_program(const WindowShape& shape, const Machine& machine) {
  const std::int64_t n = shape.n, side = machine.partitions;
  require(n >= side && n % side == 0, "solver.window: order {}; it must be a multiple of {}", n, side);
  Builder b("solver_window", machine);
  const Access a = b.input("a", DType::Float32, {n, n}, {shape.stride, 1}),
               live = b.input("live", DType::Float32, {1, n}), w = b.output("w", DType::Float32, {n, n}),
               sums = b.output("sums", DType::Float32, {3, n});
  const Access rows = device::along_partitions(b, "live_rows", live, 0),
               columns = device::along_columns(b, "live_columns", live, 0);
  const Access unit = b.sbuf("unit", side, {side}, DType::Float32), ones = b.sbuf("ones", side, {side}, DType::Float32);
  b.memset(ones, 1, Engine::Vector);
  b.affine_select(unit, {{-1, side}}, 0, 1, AluOp::Equal, ones, 0);
  for (std::int64_t i = 0; i < n / side; ++i) {
    const Access x = b.sbuf("block_row", side, {n}, DType::Float32, 2),
                 terms = b.sbuf("terms", side, {n}, DType::Float32, 2),
                 found = b.sbuf("found", side, {3}, DType::Float32, 2);
    const Slice here = ds(i * side, side);
    b.dma_copy(x, a(here));
    b.scalar_tensor_tensor(x, x, AluOp::Multiply, rows(all, ds(i, 1)), AluOp::Multiply, columns);
    b.dma_copy(w(here), x);
    b.activation(terms, ActFunction::Abs, x, {.reduce_res = found(all, ds(0, 1))});
    b.activation(terms, ActFunction::Square, x, {.reduce_res = found(all, ds(1, 1))});
    b.tensor_tensor(terms(all, here), x(all, here), unit, AluOp::Multiply, Engine::Vector);
    b.tensor_reduce(found(all, ds(2, 1)), AluOp::Add, terms(all, here));
    b.dma_copy(sums(all, here).permute({1, 0}), found);
  }
  return static_stores(b.finish());
}

}  // namespace trn::solver

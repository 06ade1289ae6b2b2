// LU with partial pivoting of a panel of up to 128 columns, all of it in SBUF; the exchange of rows; a transpose.
//
// Rows on partitions: row i is row i % 128 of block i / 128, and a step works on (128, blocks) or on the 16 columns of
// its leaf, (128, blocks, 16). Rows stay where they are: `active` is 1 for those that no step has chosen, `falling`
// is m' - i. Step j, column x of the leaf:
//
//   |x| active, its largest p in each partition, and the largest `falling` among the places of that largest one;
//   both of all partitions to every partition: ones^T (I p), a product with ones of a diagonal, which is exact;
//   the largest of the 128, the largest `falling` that goes with it: the first row that has the largest |x|;
//   mask = (falling == that), the pivot row v of the leaf as a sum over blocks and, by ones^T, over partitions: exact;
//   x <- x / v(j) where active, and the leaf right of x less x v. x is finished on GpSimd, beside the chain.
//
// After a leaf, with M (128, blocks, 16) its masks and L its columns:
//
//   R = M^T A right of the leaf, the chosen rows; U = L11^-1 R by substitution, its columns on partitions: L11 is what
//   the steps brought to every partition; A <- keep A + (M - active L) U, where `keep` is 0 for the chosen rows: they
//   become U exactly, rows chosen before keep their value exactly.
//
// Cost: 16 small instructions a column of the Vector Engine and two products in a chain, whatever m is below some
// thousands; 2 m (128 - j) Tensor flops a column. A pivot of zero has a column of zeros under it.
#include <trn/solver/getrf_program.hpp>

#include <algorithm>
#include <limits>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/transpose.hpp>
#include <trn/tile/stores.hpp>

#include "device/lanes.hpp"

namespace trn::solver {

using namespace trn::tile;
using namespace device;
using blocks::ceil_div;

namespace {

constexpr std::int64_t kLeaf = 16;
constexpr std::int64_t kChunk = 4096;        // columns that move at once
constexpr std::int64_t kOthers = 24 * 1024;  // bytes of a partition besides what grows with m

class LuPanel {
 public:
  LuPanel(const LuPanelShape& shape, const Machine& machine)
      : g_(shape), b_("solver_getrf_panel", machine), side_(machine.partitions), blocks_(ceil_div(shape.m, side_)) {
    // The panel, terms and the two tiles of a leaf's rows, nine tiles of (128, blocks).
    const std::int64_t bytes = 4 * blocks_ * (g_.w + 3 * kLeaf + 9);
    require(bytes + kOthers <= machine.sbuf_bytes_per_partition,
            "solver.getrf: a panel of {} x {} needs {} bytes of a partition of {}, which has {}", g_.m, g_.w,
            bytes + kOthers, machine.name, machine.sbuf_bytes_per_partition);
  }

  Program program() {
    declare();
    load();
    for (std::int64_t first = 0; first < g_.w; first += kLeaf) {
      const std::int64_t width = std::min(kLeaf, g_.w - first);
      for (std::int64_t j = 0; j < width; ++j) step(first, width, j);
      if (first + width < g_.w) update(first, width);
    }
    store();
    return static_stores(b_.finish());
  }

 private:
  [[nodiscard]] Access tile(const char* name, Shape free, DType dtype = DType::Float32) {
    return b_.sbuf(name, side_, std::move(free), dtype);
  }

  void declare() {
    a_ = b_.input("a", DType::Float32, {g_.m, g_.w}, {g_.row_stride, g_.column_stride});
    factor_ = b_.output_over("factor", a_);
    chosen_ = b_.output("chosen", DType::Float32, {g_.w});
    panel_ = tile("panel", {blocks_, g_.w});
    falling_ = tile("falling", {blocks_});
    active_ = tile("active", {blocks_}), done_ = tile("done", {blocks_}), ranks_ = tile("ranks", {blocks_});
    magnitude_ = tile("magnitude", {blocks_}), score_ = tile("score", {blocks_}), column_ = tile("column", {blocks_});
    masks_ = tile("masks", {blocks_, kLeaf}), negative_ = tile("negative", {blocks_, kLeaf});
    terms_ = tile("terms", {blocks_ * kLeaf});
    sums_ = tile("sums", {kLeaf});
    rows_ = tile("rows", {kLeaf, kLeaf});
    ones_ = tile("ones", {side_}), unit_ = tile("unit", {side_});
    diagonals_ = tile("diagonals", {2, side_}), best_ = tile("best", {side_});
    most_ = tile("most", {2}), largest_ = tile("largest", {1}), r_ = tile("r", {1});
    places_ = tile("places", {g_.w});
    u_ = tile("u", {kLeaf}), u_turned_ = tile("u_turned", {side_});
    cross_ = b_.psum("cross", side_, {2, side_});
    row_sums_ = b_.psum("row_sums", side_, {kLeaf});
  }

  void load() {
    const std::int64_t whole = g_.m / side_, rest = g_.m % side_, last = blocks_ - 1;
    if (rest > 0) b_.memset(panel_(all, ds(last, 1), all), 0, Engine::Vector);
    if (whole > 0) {
      b_.dma_copy(panel_(all, ds(0, whole), all), a_(ds(0, whole * side_), all).split(0, side_).permute({1, 0, 2}));
    }
    if (rest > 0) b_.dma_copy(block(panel_, last)(ds(0, rest), all), a_(ds(whole * side_, rest), all));
    b_.memset(ones_, 1, Engine::Vector);
    b_.affine_select(unit_, {{-1, side_}}, 0, 1, AluOp::Equal, ones_, 0);
    const Access numbers = tile("numbers", {blocks_}, DType::Int32);
    b_.iota(numbers, {{-side_, blocks_}}, blocks_ * side_, -1);
    b_.tensor_copy(falling_, numbers, Engine::Vector);
    b_.tensor_scalar(active_, falling_, AluOp::Greater, static_cast<double>(blocks_ * side_ - g_.m),
                     {.engine = Engine::Vector});
    b_.tensor_tensor(ranks_, falling_, active_, AluOp::Multiply, Engine::Vector);
    b_.tensor_scalar(done_, active_, AluOp::Multiply, -1.0,
                     {.op1 = AluOp::Add, .operand1 = 1.0, .engine = Engine::Vector});
  }

  void store() {
    const std::int64_t whole = g_.m / side_, rest = g_.m % side_;
    if (whole > 0) {
      b_.dma_copy(factor_(ds(0, whole * side_), all).split(0, side_).permute({1, 0, 2}),
                  panel_(all, ds(0, whole), all));
    }
    if (rest > 0) b_.dma_copy(factor_(ds(whole * side_, rest), all), block(panel_, blocks_ - 1)(ds(0, rest), all));
    b_.dma_copy(chosen_.split(0, g_.w), places_(ds(0, 1), all));
  }

  // Block `i` of a (128, blocks, X) tile: (128, X).
  [[nodiscard]] static Access block(const Access& x, std::int64_t i) { return row_of(x, i, 0, x.dims[1].size); }
  // Columns of the panel as (128, blocks, count).
  [[nodiscard]] Access columns(std::int64_t first, std::int64_t count) const {
    return panel_(all, all, ds(first, count));
  }

  void step(std::int64_t first, std::int64_t width, std::int64_t j) {
    const Access x = column_of(panel_, first + j, 0, blocks_), place = places_(all, ds(first + j, 1));
    choose(x, place);
    // The mask, and the chosen row of the leaf on every partition.
    const Access mask = column_of(masks_, j, 0, blocks_), row = row_of(rows_, j, 0, width);
    b_.tensor_scalar(mask, falling_, AluOp::Equal, place, {.engine = Engine::Vector});
    const Access terms = terms_(all, ds(0, width * blocks_)).split(0, blocks_);
    b_.tensor_tensor(terms, columns(first, width).permute({1, 0}), along_columns(mask, width), AluOp::Multiply,
                     Engine::Vector);
    b_.tensor_reduce(sums_(all, ds(0, width)), AluOp::Add, terms);
    b_.nc_matmul(row_sums_(all, ds(0, width)), ones_, sums_(all, ds(0, width)));
    b_.tensor_tensor(active_, active_, mask, AluOp::Subtract, Engine::GpSimd);
    b_.tensor_tensor(done_, done_, mask, AluOp::Add, Engine::GpSimd);
    b_.tensor_tensor(ranks_, falling_, active_, AluOp::Multiply, Engine::GpSimd);
    // 1 / pivot, finite where the pivot is zero; column = what active rows have in x, divided, and zero elsewhere.
    constexpr double kMost = std::numeric_limits<float>::max();
    b_.reciprocal(r_, row_sums_(all, ds(j, 1)));
    b_.tensor_scalar(r_, r_, AluOp::Minimum, kMost,
                     {.op1 = AluOp::Maximum, .operand1 = -kMost, .engine = Engine::Vector});
    blocks::scale(b_, row, row_sums_(all, ds(0, width)), 1.0, Engine::Scalar);
    b_.scalar_tensor_tensor(column_, active_, AluOp::Multiply, r_, AluOp::Multiply, x);
    b_.tensor_tensor(x, x, done_, AluOp::Multiply, Engine::GpSimd);
    b_.tensor_tensor(x, x, column_, AluOp::Add, Engine::GpSimd);
    const std::int64_t after = width - j - 1;
    if (after == 0) return;
    const Access products = terms_(all, ds(0, after * blocks_)).split(0, after), rest = columns(first + j + 1, after);
    b_.tensor_tensor(products, along_rows(column_, after), along_columns(row(all, ds(j + 1, after)), blocks_),
                     AluOp::Multiply, Engine::Vector);
    b_.tensor_tensor(rest, rest, products, AluOp::Subtract, Engine::Vector);
  }

  // place = `falling` of the first active row that has the largest |x|, on every partition.
  void choose(const Access& x, const Access& place) {
    const Access most = most_(all, ds(0, 1)), rank = most_(all, ds(1, 1));
    b_.scalar_tensor_tensor(magnitude_, x, AluOp::Abs, 0.0, AluOp::Multiply, active_);
    b_.tensor_reduce(most, AluOp::Maximum, magnitude_);
    b_.activation(block(diagonals_, 0), ActFunction::Copy, unit_, {.scale = most});
    b_.scalar_tensor_tensor(score_, magnitude_, AluOp::Equal, most, AluOp::Multiply, ranks_);
    b_.tensor_reduce(rank, AluOp::Maximum, score_);
    b_.tensor_scalar(block(diagonals_, 1), unit_, AluOp::Multiply, rank, {.engine = Engine::Vector});
    b_.nc_matmul(cross_, ones_, diagonals_);
    b_.tensor_reduce(largest_, AluOp::Maximum, block(cross_, 0));
    blocks::scale(b_, best_, block(cross_, 1), 1.0, Engine::Scalar);
    b_.scalar_tensor_tensor(best_, block(cross_, 0), AluOp::Equal, largest_, AluOp::Multiply, best_);
    b_.tensor_reduce(place, AluOp::Maximum, best_);
  }

  // What is right of the leaf.
  void update(std::int64_t first, std::int64_t width) {
    const std::int64_t start = first + width, rest = g_.w - start;
    const Slice here = ds(0, rest), leaf = ds(0, width);
    const Access right = columns(start, rest), masks = masks_(all, all, leaf), negative = negative_(all, all, leaf);
    const Access chosen = b_.psum("chosen_rows", rest, {width});
    for (std::int64_t i = 0; i < blocks_; ++i) {
      b_.nc_matmul(chosen, block(right, i), block(masks, i), {.accumulate = i});
    }
    // score = 1 less the rows of this leaf.
    b_.tensor_reduce(score_, AluOp::Add, masks);
    b_.tensor_scalar(score_, score_, AluOp::Multiply, -1.0,
                     {.op1 = AluOp::Add, .operand1 = 1.0, .engine = Engine::Vector});
    const Access terms = terms_(all, ds(0, blocks_ * width)).split(0, width);
    b_.tensor_tensor(terms, columns(first, width), along_rows(active_, width), AluOp::Multiply, Engine::Vector);
    b_.tensor_tensor(negative, masks, terms, AluOp::Subtract, Engine::Vector);
    const Access u = u_(here, leaf);
    b_.tensor_copy(u, chosen, Engine::Vector);
    for (std::int64_t t = 0; t + 1 < width; ++t) {
      const Slice below = ds(t + 1, width - t - 1);
      b_.scalar_tensor_tensor(u(all, below), column_of(rows_(here), t, t + 1, width - t - 1), AluOp::Multiply,
                              u(all, ds(t, 1)), AluOp::Subtract, u(all, below), {.reverse1 = true});
    }
    const Access turned = b_.psum("u_turning", width, {rest});
    b_.nc_transpose(turned, u);
    const Access u_turned = u_turned_(leaf, here);
    blocks::scale(b_, u_turned, turned, 1.0, Engine::Scalar);
    for (std::int64_t i = 0; i < blocks_; ++i) {
      const Access turning = b_.psum("l_turning", width, {side_}, DType::Float32, 2),
                   l = b_.sbuf("l_turned", width, {side_}, DType::Float32, 2),
                   sums = b_.psum("products", side_, {rest}, DType::Float32, 2);
      b_.nc_transpose(turning, block(negative, i));
      blocks::scale(b_, l, turning, 1.0, Engine::Scalar);
      b_.nc_matmul(sums, l, u_turned);
      b_.scalar_tensor_tensor(block(right, i), block(right, i), AluOp::Multiply, score_(all, ds(i, 1)), AluOp::Add,
                              sums);
    }
  }

  LuPanelShape g_;
  Builder b_;
  std::int64_t side_, blocks_;
  Access a_, factor_, chosen_;
  Access panel_, falling_, active_, done_, ranks_, magnitude_, score_, column_;
  Access masks_, negative_, terms_, sums_, rows_, ones_, unit_, diagonals_, best_, most_, largest_, r_, places_;
  Access u_, u_turned_;
  Access cross_, row_sums_;  // PSUM
};

}  // namespace

Program getrf_panel_program(const LuPanelShape& s, const Machine& machine) {
  require(s.w >= 1 && s.w <= machine.partitions && s.w <= s.m,
          "solver.getrf: a panel of {} x {}; it has 1 to {} columns and no fewer rows", s.m, s.w, machine.partitions);
  return LuPanel(s, machine).program();
}

Program move_rows_program(const MoveRowsShape& s, const Machine& machine) {
  Builder b("solver_move_rows", machine);
  const std::int64_t side = machine.partitions, groups = kMovedRows / side;
  const Access from = b.input("from", DType::UInt32, {kMovedRows, 1}),
               to = b.input("to", DType::UInt32, {kMovedRows, 1}),
               a = b.input("a", DType::Float32, {s.rows, s.columns}, {s.row_stride, 1}),
               moved = b.partial_output("moved", a);
  std::vector<Access> sources, targets;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (auto [tensor, list, name] : {std::tuple{&from, &sources, "source"}, std::tuple{&to, &targets, "target"}}) {
      list->push_back(b.sbuf(fmt::format("{}{}", name, g), side, {1}, DType::UInt32));
      b.dma_copy(list->back(), (*tensor)(ds(g * side, side), all));
    }
  }
  blocks::for_blocks(b, "chunk", s.columns, kChunk, LoopKind::Sequential, [&](const Affine& first, std::int64_t size) {
    std::vector<Access> held;
    for (std::int64_t g = 0; g < groups; ++g) {
      held.push_back(b.sbuf(fmt::format("rows{}", g), side, {size}, DType::Float32, 2));
      b.dma_gather(held.back(), a(all, ds(first, size)), sources[static_cast<std::size_t>(g)]);
    }
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto i = static_cast<std::size_t>(g);
      b.dma_scatter(moved(all, ds(first, size)), held[i], targets[i], {.oob = OobMode::Skip});
    }
  });
  return b.finish();
}

Program turn_program(const TurnShape& s, const Machine& machine) {
  Builder b("solver_turn", machine);
  const std::int64_t side = machine.partitions, strip = 4 * side;
  const Access a = b.input("a", DType::Float32, {s.rows, s.columns}, {s.from_stride, 1}),
               turned = b.output("b", DType::Float32, {s.columns, s.rows}, {s.to_stride, 1});
  blocks::for_blocks(b, "columns", s.columns, side, LoopKind::Sequential, [&](const Affine& c, std::int64_t width) {
    blocks::for_blocks(b, "rows", s.rows, strip, LoopKind::Sequential, [&](const Affine& r, std::int64_t height) {
      const Access out = b.sbuf("out", width, {height}, DType::Float32, 3);
      for (std::int64_t at = 0; at < height; at += side) {
        const std::int64_t rows = std::min(side, height - at);
        const Access in = b.sbuf("in", rows, {width}, DType::Float32, 4),
                     psum = b.psum("turning", width, {rows}, DType::Float32, 4);
        b.dma_copy(in, a(ds(r + at, rows), ds(c, width)));
        b.nc_transpose(psum, in);
        blocks::scale(b, out(all, ds(at, rows)), psum, 1.0, at / side % 2 == 0 ? Engine::Vector : Engine::Scalar);
      }
      b.dma_copy(turned(ds(c, width), ds(r, height)), out);
    });
  });
  return static_stores(b.finish());
}

}  // namespace trn::solver

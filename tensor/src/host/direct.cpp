// The loops around the tile: which operand is V, in which order indices are walked, blocks for the caches, threads.
//
// A block of V (rows x k) fits the second-level cache, a panel of it the first; blocks of W are streamed past it. K is
// cut into equal pieces of at most kDepth; sums of a piece are added to D in order. Threads share rows and columns,
// never K, and elements do not depend on how rows and columns are cut: the bits are the same for any number of threads.
#include "direct.hpp"

#include <algorithm>
#include <cstdlib>

#include <trn/core/parallel.hpp>

#include "blocks.hpp"
#include "offsets.hpp"
#include "runs.hpp"

namespace trn::tensor::host {

namespace {

constexpr std::int64_t kDepth = 256;             // real numbers of a panel along k
constexpr std::int64_t kBlockBytes = 288 << 10;  // of a packed block of V
constexpr std::int64_t kColumns = 1024;          // of a packed block of W
constexpr std::int64_t kPieceRows = 288, kPieceColumns = 256;

std::int64_t round_up(std::int64_t x, std::int64_t step) { return (x + step - 1) / step * step; }

struct Blocking {
  std::int64_t h, v, w, k;                              // extents
  std::int64_t depth, rows, columns;                    // of blocks
  std::int64_t v_bytes, w_bytes, scratch_bytes, lists;  // of one thread

  explicit Blocking(const DirectArgs& s) : h(extent_of(s.h)), v(extent_of(s.v)), w(extent_of(s.w)), k(extent_of(s.k)) {
    const std::int64_t most = kDepth / (is_complex(s.compute) ? 2 : 1);
    const std::int64_t pieces = std::max<std::int64_t>(1, (k + most - 1) / most);
    depth = std::max<std::int64_t>(1, std::min(k, round_up((k + pieces - 1) / pieces, 8)));
    // Whole squares of turned rows, and whole panels.
    const std::int64_t group = group_rows(s.compute);
    const std::int64_t step = group * kTileVectors * (s.turned > 0 ? group : 1);
    const std::int64_t per_row = packed_v_bytes(s.compute, group, depth) / group;
    rows = std::min(round_up(std::max<std::int64_t>(1, kBlockBytes / per_row), step), round_up(v, group));
    columns = std::min(kColumns, round_up(w, kTileColumns));
    v_bytes = round_up(packed_v_bytes(s.compute, rows, depth), 64);
    w_bytes = round_up(packed_w_bytes(s.compute, columns, depth), 64);
    scratch_bytes = s.a_type == s.compute ? 0 : round_up(depth * group * 6, 64);
    lists = round_up(3 * rows + 3 * columns + 2 * depth, 8);
  }
  [[nodiscard]] std::int64_t bytes() const { return v_bytes + w_bytes + scratch_bytes + lists * 8; }
};

const std::byte* advance(const void* data, std::int64_t elements, DType type) {
  return static_cast<const std::byte*>(data) + elements * size_bytes(type);
}

// Operators of real numbers, on packed panels (zeros that fill them up are nobody's) and on a block of D.
void apply_packed(DType compute, Unary op, void* panel, std::int64_t bytes) {
  if (op == Unary::Identity) return;
  if (compute == DType::Float32) return apply(op, static_cast<float*>(panel), bytes / 4);
  apply(op, static_cast<double*>(panel), bytes / 8);
}
template <class R> void apply_block(Unary op, R* d, const std::int64_t* rows, std::int64_t row_count,
                                    const std::int64_t* columns, std::int64_t column_count) {
  R run[kRun];
  for (std::int64_t j = 0; j < column_count; ++j) {
    for (std::int64_t i = 0; i < row_count; i += kRun) {
      const std::int64_t n = std::min(kRun, row_count - i);
      for (std::int64_t r = 0; r < n; ++r) run[r] = d[rows[i + r] + columns[j]];
      apply(op, run, n);
      for (std::int64_t r = 0; r < n; ++r) d[rows[i + r] + columns[j]] = run[r];
    }
  }
}

// Rows first ... last - 1 of V by columns from ... to - 1 of W, of one h.
void piece(const DirectArgs& s, const ContractCall& call, const Blocking& size, std::int64_t h, std::int64_t first,
           std::int64_t last, std::int64_t from, std::int64_t to, std::byte* workspace) {
  std::byte* const v_out = workspace;
  std::byte* const w_out = v_out + size.v_bytes;
  std::byte* const scratch = w_out + size.w_bytes;
  auto* const lists = reinterpret_cast<std::int64_t*>(scratch + size.scratch_bytes);
  std::int64_t *const a_rows = lists, *const d_rows = a_rows + size.rows, *const c_rows = d_rows + size.rows;
  std::int64_t *const b_columns = c_rows + size.rows, *const d_columns = b_columns + size.columns;
  std::int64_t *const c_columns = d_columns + size.columns, *const a_ks = c_columns + size.columns;
  std::int64_t* const b_ks = a_ks + size.depth;
  const bool uses_c = call.beta != std::complex<double>(0);
  std::int64_t at[4] = {};
  offset_at(s.h, h, at);
  const void* const a = advance(s.exchanged ? call.b : call.a, at[0], s.a_type);
  const void* const b = advance(s.exchanged ? call.a : call.b, at[1], s.b_type);
  const void* const c = uses_c ? advance(call.c, at[2], s.compute) : nullptr;
  void* const d = const_cast<std::byte*>(advance(call.d, at[3], s.compute));
  for (std::int64_t j = from; j < to; j += size.columns) {
    const std::int64_t columns = std::min(size.columns, to - j);
    offsets(s.w, j, columns, &FoldedIndex::b, b_columns);
    offsets(s.w, j, columns, &FoldedIndex::d, d_columns);
    if (uses_c) offsets(s.w, j, columns, &FoldedIndex::c, c_columns);
    for (std::int64_t k = 0; k < size.k; k += size.depth) {
      const std::int64_t depth = std::min(size.depth, size.k - k);
      offsets(s.k, k, depth, &FoldedIndex::a, a_ks);
      offsets(s.k, k, depth, &FoldedIndex::b, b_ks);
      pack_w({b, s.b_type, s.compute, s.conj_b, b_columns, b_ks, columns, depth, w_out});
      apply_packed(s.compute, s.w_op, w_out, packed_w_bytes(s.compute, columns, depth));
      for (std::int64_t i = first; i < last; i += size.rows) {
        const std::int64_t rows = std::min(size.rows, last - i);
        offsets(s.v, i, rows, &FoldedIndex::a, a_rows);
        offsets(s.v, i, rows, &FoldedIndex::d, d_rows);
        if (uses_c) offsets(s.v, i, rows, &FoldedIndex::c, c_rows);
        pack_v({a, s.a_type, s.compute, s.conj_a, a_rows, a_ks, rows, depth, s.turned, scratch, v_out});
        apply_packed(s.compute, s.v_op, v_out, packed_v_bytes(s.compute, rows, depth));
        multiply({s.compute, v_out, w_out, c, d, rows, columns, depth, d_rows, d_columns, c_rows, c_columns, call.alpha,
                  call.beta, k > 0});
        if (s.result == Unary::Identity || k + depth < size.k) continue;
        if (s.compute == DType::Float32)
          apply_block(s.result, static_cast<float*>(d), d_rows, rows, d_columns, columns);
        else
          apply_block(s.result, static_cast<double*>(d), d_rows, rows, d_columns, columns);
      }
    }
  }
}

std::size_t least_stride(const Group& group, std::int64_t FoldedIndex::*stride) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < group.size(); ++i) {
    if (std::abs(group[i].*stride) < std::abs(group[best].*stride)) best = i;
  }
  return best;
}

// The index cut in two: the inner part has `inner` values.
FoldedIndex cut(FoldedIndex& index, std::int64_t inner) {
  FoldedIndex outer = index;
  index.extent = inner;
  outer.extent /= inner;
  outer.a *= inner, outer.b *= inner, outer.c *= inner, outer.d *= inner;
  return outer;
}

// V's unit index x is not D's: rows are turned over (row, x). The order becomes part of u, part of x, the rest.
void order_for_turning(DirectArgs& s, std::size_t unit) {
  const std::int64_t group = group_rows(s.compute);
  FoldedIndex u = s.v.front(), x = s.v[unit];
  if (u.extent % group != 0 || x.a != 1) return;
  std::int64_t inner = group;
  for (const std::int64_t vectors : {3, 2}) {
    if (u.extent % (vectors * group) == 0) {
      inner = vectors * group;
      break;
    }
  }
  Group rest;
  for (std::size_t i = 1; i < s.v.size(); ++i) {
    if (i != unit) rest.push_back(s.v[i]);
  }
  Group order;
  FoldedIndex u_outer = cut(u, inner);
  order.push_back(u);
  std::int64_t x_inner = x.extent;
  for (const std::int64_t vectors : {4, 2, 1}) {
    if (x.extent > 4 * group && x.extent % (vectors * group) == 0) {
      x_inner = vectors * group;
      break;
    }
  }
  FoldedIndex x_outer = cut(x, x_inner);
  order.push_back(x);
  if (u_outer.extent > 1) order.push_back(u_outer);
  if (x_outer.extent > 1) order.push_back(x_outer);
  order.insert(order.end(), rest.begin(), rest.end());
  s.v = std::move(order);
  s.turned = inner / group;
}

}  // namespace

DirectArgs prepare_direct(const Folded& folded, DType compute, DType a_type, DType b_type, bool conj_a, bool conj_b) {
  DirectArgs s{compute, a_type, b_type, conj_a, conj_b, false, folded.h, folded.m, folded.n, folded.k};
  const auto innermost = [](const Group& g) { return g.empty() ? INT64_MAX : std::abs(g.front().d); };
  if (innermost(folded.n) < innermost(folded.m)) {
    s.exchanged = true;
    std::swap(s.v, s.w);
    std::swap(s.a_type, s.b_type);
    std::swap(s.conj_a, s.conj_b);
    for (Group* g : {&s.h, &s.v, &s.w, &s.k}) {
      for (FoldedIndex& i : *g) std::swap(i.a, i.b);
    }
  }
  // Columns in the order of their own memory: four of them are then one load.
  sort_and_merge(s.w, &FoldedIndex::b);
  const auto unit = [&](const Group& g, std::int64_t FoldedIndex::*stride) {
    return !g.empty() && std::abs(g[least_stride(g, stride)].*stride) == 1;
  };
  const bool v_unit_in_k = unit(s.k, &FoldedIndex::a);
  sort_and_merge(s.k, v_unit_in_k || !unit(s.k, &FoldedIndex::b) ? &FoldedIndex::a : &FoldedIndex::b);
  if (s.a_type == compute && !s.v.empty() && !v_unit_in_k) {
    const std::size_t own = least_stride(s.v, &FoldedIndex::a);
    if (own > 0) order_for_turning(s, own);
  }
  return s;
}

std::pair<bool, bool> direct_repeats(const DirectArgs& s) {
  const auto slow = [](Unary op) {
    constexpr Unary quick[] = {Unary::Identity, Unary::Neg, Unary::Abs, Unary::Relu, Unary::Rcp, Unary::Sqrt};
    return std::find(std::begin(quick), std::end(quick), op) == std::end(quick);
  };
  const Blocking size(s);
  return {slow(s.v_op) && size.w > 2 * size.columns, slow(s.w_op) && size.v > 2 * size.rows};
}

std::int64_t direct_workspace(const DirectArgs& args, int threads) { return Blocking(args).bytes() * threads; }

void direct(const DirectArgs& s, const ContractCall& call) {
  const Blocking size(s);
  auto* const workspace = static_cast<std::byte*>(call.workspace);
  const double work = static_cast<double>(size.v) * static_cast<double>(size.w) * static_cast<double>(size.k) *
                      static_cast<double>(size.h);
  const int threads = work < 1e5 ? 1 : call.threads;
  // Pieces of rows, then of columns: a few for each thread, but each packs what it multiplies, so that they are smaller
  // than kPieceRows and kPieceColumns only where threads would have nothing to do.
  std::int64_t row_pieces = 1, column_pieces = 1;
  const std::int64_t wanted = threads == 1 ? 1 : (4 * threads + size.h - 1) / size.h;
  if (wanted > 1) {
    const std::int64_t least = (threads + size.h - 1) / size.h, group = group_rows(s.compute) * kTileVectors;
    const auto pieces = [](std::int64_t extent, std::int64_t piece, std::int64_t most) {
      return std::clamp<std::int64_t>(extent / piece, 1, std::max<std::int64_t>(1, most));
    };
    row_pieces = std::max(pieces(size.v, kPieceRows, wanted), pieces(size.v, 2 * group, least));
    if (s.w_op != Unary::Identity) row_pieces = 1;  // each thread packs columns of its own
    column_pieces = std::max(pieces(size.w, kPieceColumns, wanted / row_pieces),
                             pieces(size.w, 64, (least + row_pieces - 1) / row_pieces));
  }
  // Squares of turned rows stay whole.
  const std::int64_t group = group_rows(s.compute);
  const std::int64_t row_step = group * kTileVectors * (s.turned > 0 ? group : 1);
  const std::int64_t row_piece = round_up((size.v + row_pieces - 1) / row_pieces, row_step);
  const std::int64_t column_piece = round_up((size.w + column_pieces - 1) / column_pieces, kTileColumns);
  row_pieces = (size.v + row_piece - 1) / row_piece;
  column_pieces = (size.w + column_piece - 1) / column_piece;
  for_pieces(size.h * row_pieces * column_pieces, threads, [&](std::int64_t p, int worker) {
    const std::int64_t rows = p % row_pieces, columns = p / row_pieces % column_pieces;
    piece(s, call, size, p / row_pieces / column_pieces, rows * row_piece, std::min(size.v, (rows + 1) * row_piece),
          columns * column_piece, std::min(size.w, (columns + 1) * column_piece), workspace + worker * size.bytes());
  });
}

}  // namespace trn::tensor::host

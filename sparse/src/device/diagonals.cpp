// The kernel of diagonals: c(i, :) = alpha sum over d of a_d(i) b(i + d, :) + beta c(i, :).
//
// Partitions: stretches of rows that follow one another. Diagonals that lie close together read one window of B, a
// stretch and what they reach beyond it; so B comes once for each such group, and A and C once. The windows of a tile
// of 128 stretches stay while A streams past in pieces of at most 1024 elements a partition. Vector Engine and GpSimd
// share the diagonals, each with a sum of its own: two passes of a piece per diagonal, 2.1 ns for a row of 128 lanes on
// the one and 3.3 ns on the other, against 1.4 ns of all DMA engines for the diagonal itself: up to some 30 diagonals
// the DMA engines bind.
//
// Where a window leaves B it holds zeros. Only the first and the last tiles have such windows.
#include <algorithm>
#include <array>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "rings.hpp"

namespace trn::sparse {

using namespace trn::tile;
using blocks::ceil_div;
using device::at;

namespace {

constexpr std::int64_t kPiece = 1024;      // elements a partition of one instruction
constexpr std::int64_t kLoadBytes = 8192;  // of A per partition in one load
constexpr std::int64_t kLoads = 4, kWindows = 2, kSums = 2, kProducts = 2, kWidest = 16;
constexpr std::int64_t kWrittenOutTiles = 4000;  // instructions; beyond, tiles that are alike are a loop

// Diagonals [begin, end) that share a window.
struct Group {
  std::size_t begin, end;
  std::int64_t low, high;
};
std::vector<Group> groups_of(const std::vector<std::int64_t>& offsets, std::int64_t stretch) {
  std::vector<Group> groups;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    if (groups.empty() || offsets[d] - groups.back().high > stretch) groups.push_back({d, d, offsets[d], offsets[d]});
    groups.back().end = d + 1, groups.back().high = offsets[d];
  }
  return groups;
}
std::int64_t window_rows(const std::vector<std::int64_t>& offsets, std::int64_t stretch) {
  std::int64_t rows = 0;
  for (const Group& g : groups_of(offsets, stretch)) rows += stretch + g.high - g.low;
  return rows;
}
// Elements of a partition for the windows of one tile. Beside them: loads of A, three sums of two places each (old
// values of C among them), products of several columns, factors.
std::int64_t window_elements(const Machine& m, std::int64_t columns) {
  const std::int64_t sums = 3 * kSums + (columns > 1 ? 2 * kProducts : 0);
  return (m.sbuf_bytes_per_partition - kLoads * kLoadBytes - sums * kPiece * 4 - 4096) / (4 * kWindows);
}
// Columns of B that are treated together.
std::int64_t columns_of(const TileProduct& p) { return p.b_column == 1 ? std::min(p.n, kWidest) : 1; }

class Diagonals {
 public:
  Diagonals(const DiagonalShape& shape, const Machine& machine)
      : s_(shape), p_(shape.product), b_("sparse_diagonals", machine), side_(machine.partitions), rings_(b_) {
    require(s_.tiles > 0, "sparse: {} diagonals of {} rows do not suit the kernel 'dia'", s_.offsets.size(), p_.rows);
    a_ = b_.input("a", DType::Float32, {s_.tiles, s_.pieces, side_, diagonals(), s_.piece});
    x_ = b_.input("b", DType::Float32, {p_.columns, p_.n}, {p_.b_row, p_.b_column});
    if (p_.added) {
      c_in_ = b_.input("c_in", DType::Float32, {p_.rows, p_.n}, {p_.c_row, p_.c_column});
      c_ = b_.output_over("c", c_in_);
      beta_ = blocks::scalar_input(b_, "beta");
    } else {
      c_ = b_.output("c", DType::Float32, {p_.rows, p_.n}, {p_.c_row, p_.c_column});
    }
    if (p_.scaled) alpha_ = blocks::scalar_input(b_, "alpha");
    groups_ = groups_of(s_.offsets, s_.stretch());
    rows_ = window_rows(s_.offsets, s_.stretch());
    widest_ = std::clamp<std::int64_t>(std::min(window_elements(machine, columns_of(p_)) / rows_, kPiece / s_.piece), 1,
                                       columns_of(p_));
    std::int64_t begin = 0;
    for (const Group& g : groups_) {
      for (std::size_t d = g.begin; d < g.end; ++d) starts_.push_back(begin + s_.offsets[d] - g.low);
      begin += s_.stretch() + g.high - g.low;
    }
    share();
  }

  Program build() {
    const std::int64_t tile_rows = side_ * s_.stretch();
    // Tiles [low, high) whose windows and rows lie inside.
    const std::int64_t before = std::max<std::int64_t>(0, -s_.offsets.front());
    const std::int64_t low = std::min(s_.tiles, ceil_div(before, tile_rows));
    const std::int64_t last = std::min(p_.rows, p_.columns - std::max<std::int64_t>(0, s_.offsets.back()));
    const std::int64_t high = std::clamp(last < 0 ? 0 : last / tile_rows, low, s_.tiles);
    blocks::for_blocks(b_, "panel", p_.n, widest_, LoopKind::Parallel, [&](const Affine& n0, std::int64_t width) {
      n0_ = n0, width_ = width;
      rings_.clear();
      next_ = {};
      // The windows of an inner tile come while the tile before it is multiplied.
      const auto one = [&](std::int64_t t) { tile(t, t >= low && t < high ? -1 : t, t + 1 >= low && t + 1 < high); };
      for (std::int64_t t = 0; t < low; ++t) one(t);
      const bool loop = s_.tiles * s_.pieces * 3 * diagonals() > kWrittenOutTiles;
      const std::int64_t in_loop = loop ? std::max<std::int64_t>(0, high - 1 - low) / kWindows : 0;
      if (in_loop > 0 && !next_.present()) load_windows(next_ = place(), low, 0, 1);
      b_.sequential("tile", in_loop, [&](const Affine& i) {
        for (std::int64_t k = 0; k < kWindows; ++k) tile(i * kWindows + (low + k), -1, true);
      });
      for (std::int64_t t = low + in_loop * kWindows; t < s_.tiles; ++t) one(t);
    });
    return static_stores(b_.finish());
  }

 private:
  std::int64_t diagonals() const { return static_cast<std::int64_t>(s_.offsets.size()); }

  // Diagonals of the Vector Engine and of GpSimd, so that both take equally long.
  void share() {
    const Machine& m = b_.machine();
    const auto n = static_cast<double>(s_.piece * widest_);
    const double vector = n * 2 / m.vector_elements_per_cycle_fp32 / m.vector_hz + m.timing.vector_fixed_s;
    const double gpsimd = (n * m.timing.gpsimd_pair_cycles + m.timing.gpsimd_start_cycles) / m.gpsimd_hz;
    double busy[] = {0, 0};
    for (std::int64_t d = 0; d < diagonals(); ++d) {
      const bool other = d > 0 && !m.vector_gpsimd_share_port && busy[1] + 2 * gpsimd < busy[0] + 2 * vector;
      engines_.push_back(other ? Engine::GpSimd : Engine::Vector);
      busy[other ? 1 : 0] += 2 * (other ? gpsimd : vector);
    }
  }

  // (parts, rows, columns) of B or C: `rows` rows from `first` + p * stretch on for each partition.
  Access rows_of(const Access& tensor, const Affine& first, std::int64_t parts, std::int64_t rows, std::int64_t row,
                 std::int64_t column) const {
    Access access = tensor;
    access.offset = access.offset + first * row + n0_ * column;
    access.dims = {{s_.stretch() * row, parts}, {row, rows}, {column, width_}};
    return access;
  }

  // copy(partitions, rows [from, to) of `rows`) for what lies in [0, extent) of the rows first + p * stretch + k.
  template <class Copy>
  void inside(std::int64_t first, std::int64_t rows, std::int64_t extent, const Copy& copy) const {
    const std::int64_t step = s_.stretch();
    std::int64_t whole = -1;  // first of a run of partitions that are all inside
    for (std::int64_t p = 0; p <= side_; ++p) {
      const std::int64_t from = std::clamp<std::int64_t>(-(first + p * step), 0, rows),
                         to = std::clamp<std::int64_t>(extent - (first + p * step), 0, rows);
      const bool all_inside = p < side_ && from == 0 && to == rows;
      if (all_inside && whole < 0) whole = p;
      if (!all_inside && whole >= 0) copy(ds(whole, p - whole), 0, rows), whole = -1;
      if (p < side_ && !all_inside && from < to) copy(ds(p, 1), from, to);
    }
  }

  Access place() {
    return rings_.take("windows", Space::Sbuf, side_, {rows_ * width_}, DType::Float32, kWindows, rows_ * widest_);
  }

  // body(group, its window in `windows`) for each group.
  template <class Body> void each_window(const Access& windows, const Body& body) const {
    std::int64_t begin = 0;
    for (const Group& g : groups_) {
      const std::int64_t rows = s_.stretch() + g.high - g.low;
      body(g, windows(all, ds(begin * width_, rows * width_)).split(0, width_), rows);
      begin += rows;
    }
  }

  // Part `part` of `parts` of the windows of a tile that lie inside B.
  void load_windows(const Access& windows, const Affine& t, std::int64_t part, std::int64_t parts) {
    each_window(windows, [&](const Group& g, const Access& window, std::int64_t rows) {
      const std::int64_t from = part * rows / parts, to = (part + 1) * rows / parts;
      if (from == to) return;
      b_.dma_copy(window(all, ds(from, to - from)),
                  rows_of(x_, t * (side_ * s_.stretch()) + (g.low + from), side_, to - from, p_.b_row, p_.b_column));
    });
  }
  void load_edge(const Access& windows, std::int64_t t) {
    b_.memset(windows, 0.0, Engine::Vector);
    each_window(windows, [&](const Group& g, const Access& window, std::int64_t rows) {
      const std::int64_t first = t * side_ * s_.stretch() + g.low;
      inside(first, rows, p_.columns, [&](const Slice& parts, std::int64_t from, std::int64_t to) {
        b_.dma_copy(window(parts, ds(from, to - from)), rows_of(x_, parts.start * s_.stretch() + (first + from),
                                                                parts.size, to - from, p_.b_row, p_.b_column));
      });
    });
  }

  // Tile t; `edge` is its number where windows or rows may leave the matrix, otherwise -1. `ahead`: the windows of tile
  // t + 1 come in parts, between the pieces.
  void tile(const Affine& t, std::int64_t edge, bool ahead) {
    Access windows = next_;
    if (!windows.present()) {
      windows = place();
      edge >= 0 ? load_edge(windows, edge) : load_windows(windows, t, 0, 1);
    }
    next_ = ahead ? place() : Access{};
    for (std::int64_t piece = 0; piece < s_.pieces; ++piece) {
      if (ahead) load_windows(next_, t + 1, piece, s_.pieces);
      const std::int64_t first = edge * side_ * s_.stretch() + piece * s_.piece;
      if (edge >= 0 && first >= p_.rows) continue;
      this->piece(windows, t, edge, piece);
    }
    flush();
  }

  void piece(const Access& windows, const Affine& t, std::int64_t edge, std::int64_t piece) {
    const std::int64_t rows = s_.piece, together = std::max<std::int64_t>(1, kLoadBytes / (4 * rows));
    std::array<Access, 2> sums;
    Access loaded;
    for (std::int64_t d = 0; d < diagonals(); ++d) {
      const std::int64_t in_load = d % together;
      if (in_load == 0) {
        const std::int64_t count = std::min(together, diagonals() - d);
        loaded = rings_.take("a_loads", Space::Sbuf, side_, {count, rows}, DType::Float32, kLoads, together * rows);
        Access from = a_;
        from.offset = from.offset + ((t * s_.pieces + piece) * side_ * diagonals() + d) * rows;
        from.dims = {{diagonals() * rows, side_}, {rows, count}, {1, rows}};
        b_.dma_copy(loaded, from);
      }
      const Engine engine = engines_[static_cast<std::size_t>(d)];
      Access& sum = sums[engine == Engine::Vector ? 0 : 1];
      const char* const name = engine == Engine::Vector ? "sums_v" : "sums_g";
      Access a = at(loaded, 0, in_load);
      if (width_ > 1) a = a.broadcast(1, width_);
      Access x = windows(all, ds((piece * rows + starts_[static_cast<std::size_t>(d)]) * width_, rows * width_));
      if (width_ > 1) x = x.split(0, width_);
      if (d == std::min<std::int64_t>(3, diagonals() - 1)) flush();
      if (!sum.present()) {
        sum = take(name, kSums);
        b_.tensor_tensor(shaped(sum), a, x, AluOp::Multiply, engine);
        continue;
      }
      // One column: the product takes the place of the diagonal.
      const Access product = width_ == 1 ? a : take(engine == Engine::Vector ? "products_v" : "products_g", kProducts);
      b_.tensor_tensor(width_ == 1 ? a : shaped(product), a, x, AluOp::Multiply, engine);
      b_.tensor_tensor(sum, sum, product, AluOp::Add, engine);
    }
    pending_ = {sums, t, edge, piece};
  }
  // Joins the sums of the piece before and stores them: late, so that the Vector Engine does not wait for GpSimd.
  void flush() {
    if (!pending_.sums[0].present()) return;
    const auto& [vector, gpsimd] = pending_.sums;
    if (gpsimd.present()) b_.tensor_tensor(vector, vector, gpsimd, AluOp::Add, Engine::Vector);
    store(vector, pending_.tile, pending_.edge, pending_.piece);
    pending_ = {};
  }
  Access take(const std::string& name, std::int64_t places) {
    return rings_.take(name, Space::Sbuf, side_, {s_.piece * width_}, DType::Float32, places, s_.piece * widest_);
  }
  Access shaped(const Access& flat) const { return width_ > 1 ? flat.split(0, width_) : flat; }

  void store(const Access& sum, const Affine& t, std::int64_t edge, std::int64_t piece) {
    const std::int64_t rows = s_.piece, stretch = s_.stretch();
    // copies(tile, tensor, to the tile or from it)
    const auto copies = [&](const Access& flat, const Access& tensor, const auto& copy) {
      const Access local = flat.split(0, width_);
      if (edge < 0) {
        copy(local, rows_of(tensor, t * (side_ * stretch) + piece * rows, side_, rows, p_.c_row, p_.c_column));
        return;
      }
      const std::int64_t first = edge * side_ * stretch + piece * rows;
      inside(first, rows, p_.rows, [&](const Slice& parts, std::int64_t from, std::int64_t to) {
        copy(local(parts, ds(from, to - from)),
             rows_of(tensor, parts.start * stretch + (first + from), parts.size, to - from, p_.c_row, p_.c_column));
      });
    };
    if (p_.added) {
      const Access old = take("olds", kSums);
      if (edge >= 0) b_.memset(old, 0.0, Engine::Vector);
      copies(old, c_in_, [&](const Access& local, const Access& from) { b_.dma_copy(local, from); });
      b_.tensor_scalar(old, old, AluOp::Multiply, beta_, {.engine = Engine::Vector});
      b_.scalar_tensor_tensor(sum, sum, AluOp::Multiply, alpha_, AluOp::Add, old);
    } else if (p_.scaled) {
      b_.tensor_scalar(sum, sum, AluOp::Multiply, alpha_, {.engine = Engine::Vector});
    }
    copies(sum, c_, [&](const Access& local, const Access& to) { b_.dma_copy(to, local); });
  }

  struct Pending {
    std::array<Access, 2> sums;
    Affine tile = 0;
    std::int64_t edge = -1, piece = 0;
  };

  const DiagonalShape& s_;
  const TileProduct& p_;
  Builder b_;
  const std::int64_t side_;
  device::Rings rings_;
  std::vector<Group> groups_;
  std::vector<Engine> engines_;
  std::vector<std::int64_t> starts_;  // of each diagonal's rows in the windows of a tile
  Pending pending_;
  Access next_;  // windows of the next tile, where they are under way
  Access a_, x_, c_, c_in_;
  ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
  Affine n0_ = 0;
  std::int64_t rows_ = 0, widest_ = 1, width_ = 1;
};

}  // namespace

DiagonalShape diagonal_shape(const TileProduct& product, const std::vector<std::int64_t>& offsets,
                             const Machine& machine) {
  DiagonalShape s{product, offsets, 0, 0, 0};
  if (offsets.empty() || product.rows == 0) return s;
  const std::int64_t lanes = machine.partitions, wide = columns_of(product),
                     most = window_elements(machine, wide) / wide;
  for (std::int64_t tiles = 1;; tiles += 1 + tiles / 16) {
    const std::int64_t least = ceil_div(product.rows, lanes * tiles);
    const std::int64_t pieces = ceil_div(least, std::max<std::int64_t>(1, kPiece / wide));
    const std::int64_t piece = ceil_div(least, pieces), stretch = pieces * piece;
    if (window_rows(offsets, stretch) <= most) {
      s.tiles = ceil_div(product.rows, lanes * stretch), s.pieces = pieces, s.piece = piece;
      return s;
    }
    if (least == 1) return s;
  }
}

Program diagonal_program(const DiagonalShape& shape, const Machine& machine) {
  return Diagonals(shape, machine).build();
}

}  // namespace trn::sparse

// Triangular solves on a device: the program, the plan that inverts diagonal blocks, and the launch.
//
// Partitions: columns of a block, then rows of its window. A window is a chain of products in one bank of PSUM; all of
// them but the last two can run before the window ahead of it is known, so they stand in front of that window's last
// ones. What remains of a level is one product, one copy out of PSUM and two semaphores: 0.4 us with 32 columns. A
// block is 64 KiB, 178 ns of all DMA engines on trn2, read once a panel of B's columns.
#include <algorithm>
#include <array>
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/sparse/structure.hpp>
#include <trn/sparse/triangular_programs.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../triangular_kernels.hpp"
#include "rings.hpp"
#include "tiling.hpp"

namespace trn::sparse {

using namespace trn::tile;
using blocks::ceil_div;
using device::at;
using device::kSide;

namespace {

constexpr std::int64_t kChunk = 16;  // tiles of one load: 8 KiB a partition
constexpr std::int64_t kFirst = 2;   // of the first load, which everything waits for
constexpr std::int64_t kChunks = 4, kBanks = 6, kResults = 4;
constexpr std::int64_t kStored = 8;  // windows that leave together
constexpr std::int64_t kPieceBytes = 8192, kSlack = 4096;

std::int64_t panel_of(const TriangularShape& s, const Machine& m) {
  const std::int64_t windows = ceil_div(s.product.rows, kSide), n = s.product.n;
  const bool results = s.product.scaled || s.product.added;
  const std::int64_t bank = blocks::bank_columns(m) * 4;
  const std::int64_t rings =
      kChunks * kChunk * kSide * 4 + (results ? kResults * bank : 0) + (s.product.added ? kResults * bank : 0) + kSlack;
  if (windows == 0) return n;
  const std::int64_t most =
      std::min({n, blocks::bank_columns(m), (m.sbuf_bytes_per_partition - rings) / (windows * 4)});
  return most < 1 ? 0 : ceil_div(n, ceil_div(n, most));
}

class Triangular {
 public:
  Triangular(const TriangularShape& shape, const Machine& machine)
      : s_(shape), p_(shape.product), b_("sparse_triangular", machine), rings_(b_), panel_(panel_of(shape, machine)) {
    require(panel_ > 0, "sparse: B of {} rows does not fit SBUF with one column; solve on the host", p_.rows);
    a_ = b_.input("a", DType::Float32, {kSide, static_cast<std::int64_t>(s_.products.size()), kSide});
    right_ = b_.input("b", DType::Float32, {p_.rows, p_.n}, {p_.b_row, p_.b_column});
    if (s_.in_place) {
      x_ = b_.output_over("x", right_);
    } else if (p_.added) {
      x_in_ = b_.input("x_in", DType::Float32, {p_.rows, p_.n}, {p_.c_row, p_.c_column});
      x_ = b_.output_over("x", x_in_);
      beta_ = blocks::scalar_input(b_, "beta");
    } else {
      x_ = b_.output("x", DType::Float32, {p_.rows, p_.n}, {p_.c_row, p_.c_column});
    }
    if (p_.scaled) alpha_ = blocks::scalar_input(b_, "alpha");
  }

  Program build() {
    blocks::for_blocks(b_, "panel", p_.n, panel_, LoopKind::Parallel, [&](const Affine& n0, std::int64_t width) {
      n0_ = n0, width_ = width;
      rings_.clear();
      group_ = {};
      solve();
    });
    return static_stores(b_.finish());
  }

 private:
  std::int64_t rows_of(std::int64_t window) const { return std::min(kSide, p_.rows - window * kSide); }
  std::int64_t windows() const { return ceil_div(p_.rows, kSide); }

  void solve() {
    xs_ = b_.sbuf("xs", kSide, {windows(), width_}, DType::Float32);
    loaded_.assign(static_cast<std::size_t>(windows()), false);
    Access sums[2];  // of the window that is under way, and of the next one
    std::int32_t owner[2] = {-1, -1};
    for (std::size_t t = 0; t < s_.products.size(); ++t) {
      const TriangularShape::Product& p = s_.products[t];
      const Access tile = this->tile(static_cast<std::int64_t>(t));
      const std::int64_t rows = rows_of(p.window);
      int place = owner[0] == p.window ? 0 : 1;
      if (p.first) {
        place = owner[0] < 0 ? 0 : 1;
        owner[place] = p.window;
        sums[place] = rings_.take("sums", Space::Psum, rows, {width_}, DType::Float32, kBanks,
                                  blocks::bank_columns(b_.machine()));
        load(p.window);
      }
      const std::int64_t source = p.source < 0 ? p.window : p.source;
      const Slice depth = ds(0, rows_of(source));
      b_.nc_matmul(sums[place], tile(depth, ds(0, rows)), at(xs_, 0, source)(depth, all),
                   {.accumulate = p.first ? 0 : 1});
      if (!p.last) continue;
      blocks::scale(b_, at(xs_, 0, p.window)(ds(0, rows), all), sums[place], 1.0, Engine::Vector);
      owner[place] = -1;
      finished(p.window);
    }
    flush();
  }

  // (128, 128): tile t, which comes with its load.
  Access tile(std::int64_t t) {
    if (t == 0) loads_end_ = 0;
    if (t >= loads_end_) {
      loads_first_ = t;
      const std::int64_t count =
          std::min(t < kChunk ? kFirst : kChunk, static_cast<std::int64_t>(s_.products.size()) - t);
      loads_end_ = t + count;
      chunk_ = rings_.take("tiles", Space::Sbuf, kSide, {count, kSide}, DType::Float32, kChunks, kChunk * kSide);
      b_.dma_copy(chunk_, a_(all, ds(t, count)));
    }
    return at(chunk_, 0, t - loads_first_);
  }

  // Rows of windows [first, first + count) of B or X: (rows, count, width).
  Access rows_access(const Access& tensor, std::int64_t first, std::int64_t count, std::int64_t rows) const {
    return tensor(ds(first * kSide, count * rows), ds(n0_, width_)).split(0, rows).permute({1, 0, 2});
  }

  // Brings B's rows of a window and of some neighbours.
  void load(std::int64_t window) {
    if (loaded_[static_cast<std::size_t>(window)]) return;
    const std::int64_t most = std::max<std::int64_t>(1, std::min<std::int64_t>(16, kPieceBytes / (4 * width_)));
    const std::int64_t rows = rows_of(window);
    std::int64_t low = window, high = window + 1;
    if (rows == kSide) {
      const auto open = [&](std::int64_t w) {
        return w >= 0 && w < windows() && rows_of(w) == kSide && !loaded_[static_cast<std::size_t>(w)];
      };
      while (high - low < most && open(high)) ++high;
      while (high - low < most && open(low - 1)) --low;
    }
    for (std::int64_t w = low; w < high; ++w) loaded_[static_cast<std::size_t>(w)] = true;
    b_.dma_copy(xs_(ds(0, rows), ds(low, high - low), all), rows_access(right_, low, high - low, rows));
  }

  struct Group {
    std::int64_t low = 0, count = 0;
  };
  // Neighbouring windows leave together.
  void finished(std::int64_t window) {
    const std::int64_t bank = blocks::bank_columns(b_.machine());
    const bool results = p_.scaled || p_.added;
    const std::int64_t most = std::max<std::int64_t>(1, results ? std::min(kStored, bank / width_) : kStored);
    const bool joins = group_.count > 0 && group_.count < most && rows_of(window) == kSide &&
                       rows_of(group_.low) == kSide &&
                       (window == group_.low + group_.count || window == group_.low - 1);
    if (!joins) flush(), group_ = {window, 0};
    group_.low = std::min(group_.low, window), ++group_.count;
    if (group_.count == most) flush();
  }
  void flush() {
    if (group_.count == 0) return;
    const std::int64_t rows = rows_of(group_.low);
    Access from = xs_(ds(0, rows), ds(group_.low, group_.count), all);
    if (p_.scaled || p_.added) {
      const auto take = [&](const char* name) {
        return rings_.take(name, Space::Sbuf, rows, {group_.count, width_}, DType::Float32, kResults,
                           blocks::bank_columns(b_.machine()));
      };
      const Access result = take("results");
      const auto factor = [&](const ScalarOrTile& f) {
        return std::holds_alternative<double>(f) ? f : ScalarOrTile(std::get<Access>(f)(ds(0, rows), all));
      };
      if (p_.added) {
        const Access old = take("olds");
        b_.dma_copy(old, rows_access(x_in_, group_.low, group_.count, rows));
        b_.tensor_scalar(old, old, AluOp::Multiply, factor(beta_), {.engine = Engine::Vector});
        b_.scalar_tensor_tensor(result, from, AluOp::Multiply, factor(alpha_), AluOp::Add, old);
      } else {
        b_.tensor_scalar(result, from, AluOp::Multiply, factor(alpha_), {.engine = Engine::Vector});
      }
      from = result;
    }
    b_.dma_copy(rows_access(x_, group_.low, group_.count, rows), from);
    group_ = {};
  }

  const TriangularShape& s_;
  const TileProduct& p_;
  Builder b_;
  device::Rings rings_;
  const std::int64_t panel_;
  Access a_, right_, x_in_, x_, xs_, chunk_;
  ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
  std::vector<bool> loaded_;
  Group group_;
  Affine n0_ = 0;
  std::int64_t width_ = 0, loads_first_ = 0, loads_end_ = 0;
};

struct Levels {
  TriangularShape shape;
  std::int64_t levels = 0, most = 0;
};

Levels levels_of(const PatternRef<std::int32_t>& a, bool lower, std::int64_t n) {
  Levels made;
  made.shape.product = {a.rows, a.columns, n, n, 1, n, 1, Mode::Native, false, false};
  const std::int64_t windows = ceil_div(a.rows, kSide);
  std::vector<std::vector<std::int32_t>> sources(static_cast<std::size_t>(windows));
  std::vector<std::int32_t> level(static_cast<std::size_t>(windows), 0);
  for (std::int64_t step = 0; step < windows; ++step) {
    const std::int64_t w = lower ? step : windows - 1 - step;
    auto& own = sources[static_cast<std::size_t>(w)];
    for (std::int64_t i = w * kSide; i < std::min(a.rows, (w + 1) * kSide); ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const auto c = static_cast<std::int32_t>(a.indices[k] / kSide);
        if ((lower ? c < w : c > w) && (own.empty() || own.back() != c)) own.push_back(c);
      }
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const std::int32_t c : own)
      level[static_cast<std::size_t>(w)] =
          std::max(level[static_cast<std::size_t>(w)], level[static_cast<std::size_t>(c)] + 1);
    made.most = std::max(made.most, static_cast<std::int64_t>(own.size()) + 1);
    made.levels = std::max(made.levels, static_cast<std::int64_t>(level[static_cast<std::size_t>(w)]) + 1);
  }
  std::vector<std::int32_t> order(static_cast<std::size_t>(windows)), place(order.size());
  for (std::int64_t k = 0; k < windows; ++k)
    order[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(lower ? k : windows - 1 - k);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t x, std::int32_t y) {
    return level[static_cast<std::size_t>(x)] < level[static_cast<std::size_t>(y)];
  });
  for (std::size_t k = 0; k < order.size(); ++k)
    place[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  // Of step k: what needs no window later than k - 3 goes before the rest of step k - 1.
  const auto put = [&](std::size_t k, bool early) {
    if (k >= order.size()) return;
    const std::int32_t w = order[k];
    auto& own = sources[static_cast<std::size_t>(w)];
    std::sort(own.begin(), own.end(), [&](std::int32_t x, std::int32_t y) {
      return place[static_cast<std::size_t>(x)] < place[static_cast<std::size_t>(y)];
    });
    const auto known = [&](std::int32_t c) {
      return place[static_cast<std::size_t>(c)] + 3 <= static_cast<std::int64_t>(k);
    };
    std::vector<TriangularShape::Product>& all = made.shape.products;
    if (early) all.push_back({w, -1, true, own.empty()});
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (known(own[i]) == early) all.push_back({w, own[i], false, i + 1 == own.size()});
    }
  };
  put(0, true);
  for (std::size_t k = 0; k < order.size(); ++k) put(k + 1, true), put(k, false);
  return made;
}

}  // namespace

TriangularShape triangular_shape(const Pattern<>& pattern, Uplo uplo, std::int64_t columns) {
  return levels_of(host_ref(pattern), uplo == Uplo::Lower, columns).shape;
}
std::int64_t triangular_panel(const TriangularShape& shape, const Machine& machine) { return panel_of(shape, machine); }
Program triangular_program(const TriangularShape& shape, const Machine& machine) {
  return Triangular(shape, machine).build();
}

namespace device {

namespace {

constexpr const char* kPlan = "sparse.triangular.plan";
// One host core on float32, nominally.
constexpr double kHostVectorRate = 1e9, kHostMatrixRate = 4e9;

struct State {
  TriangularShape shape;
  std::optional<Buffer> tiles;
};

// The inverse of the diagonal block of one window, row by row in 128 x 128, and the largest row sum of |D||D^-1|.
struct Inverse {
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(kSide * kSide), 0.0);
  double condition = 0;
};
Inverse inverse_of(const FloatRef& a, std::int64_t window, bool lower, bool unit) {
  const std::int64_t first = window * kSide, rows = std::min(kSide, a.rows - first);
  Inverse inverse;
  const auto row = [&](std::int64_t r) { return inverse.values.data() + r * kSide; };
  std::vector<double> sizes(static_cast<std::size_t>(kSide));
  for (std::int64_t step = 0; step < rows; ++step) {
    const std::int64_t r = lower ? step : rows - 1 - step, i = first + r;
    double pivot = 1;
    std::fill(sizes.begin(), sizes.end(), 0.0);
    double* own = row(r);
    own[r] = 1;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t c = a.indices[k] - first;
      if (c == r && !unit) pivot = a.values[k];
      if (c < 0 || c >= rows || (lower ? c >= r : c <= r)) continue;
      const double v = a.values[k];
      for (std::int64_t q = 0; q < rows; ++q) own[q] -= v * row(c)[q];
      for (std::int64_t q = 0; q < rows; ++q) sizes[static_cast<std::size_t>(q)] += std::abs(v * row(c)[q]);
    }
    double sum = 0;
    for (std::int64_t q = 0; q < rows; ++q) {
      own[q] /= pivot;
      sum += sizes[static_cast<std::size_t>(q)] + std::abs(pivot * own[q]);
    }
    inverse.condition = std::max(inverse.condition, sum);
  }
  return inverse;
}

}  // namespace

TriangularMade plan_triangular(const Executor& executor, const TriangularPlanArgs& g) {
  const Machine& machine = device_of(executor).machine();
  const FloatRef a = host_ref(g.triangle);
  TriangularReport r;
  State s;
  const std::int64_t windows = ceil_div(a.rows, kSide);
  Levels made = levels_of(a, g.lower, std::max<std::int64_t>(1, g.columns));
  if (!g.solvable) {  // every window is NaN times B
    made.shape.products.clear();
    for (std::int64_t w = 0; w < windows; ++w)
      made.shape.products.push_back({static_cast<std::int32_t>(w), -1, true, true});
  }
  s.shape = std::move(made.shape);
  r.tiles = static_cast<std::int64_t>(s.shape.products.size());
  r.levels = made.levels, r.most_tiles = made.most;
  if (r.tiles > kWrittenOut)
    fail<NotImplemented>("{}: {} blocks of 128 x 128 hold an entry; a device takes up to {}; solve on the host", kPlan,
                         r.tiles, kWrittenOut);
  if (a.rows > 0 && panel_of(s.shape, machine) == 0)
    fail<NotImplemented>("{}: B of {} rows does not fit SBUF with one column; solve on the host", kPlan, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t row = g.unit ? 1 : 0;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t c = a.indices[k];
      row += c == i ? (g.unit ? 0 : 1) : (g.lower ? c < i : c > i) ? 1 : 0;
    }
    r.nnz += row, r.longest_row = std::max(r.longest_row, row);
  }
  std::vector<float> tiles(static_cast<std::size_t>(kSide * r.tiles * kSide), 0.0f);
  const auto put = [&](std::int64_t t, std::int64_t k, std::int64_t m, double value) {
    const auto v = static_cast<float>(value);
    if (g.solvable && !std::isfinite(v))
      fail<NotImplemented>(
          "{}: the inverse of a diagonal block of 128 rows has an element of {}, which float32 cannot "
          "hold; solve on the host",
          kPlan, value);
    tiles[static_cast<std::size_t>((k * r.tiles + t) * kSide + m)] = v;
  };
  std::vector<double> product(static_cast<std::size_t>(kSide * kSide));
  std::vector<Inverse> inverses(static_cast<std::size_t>(windows));
  for (std::int64_t w = 0; g.solvable && w < windows; ++w) {
    inverses[static_cast<std::size_t>(w)] = inverse_of(a, w, g.lower, g.unit);
    r.condition = std::max(r.condition, inverses[static_cast<std::size_t>(w)].condition);
  }
  for (std::int64_t t = 0; t < r.tiles; ++t) {
    const TriangularShape::Product& p = s.shape.products[static_cast<std::size_t>(t)];
    const std::int64_t first = p.window * kSide, rows = std::min(kSide, a.rows - first);
    const Inverse& inverse = inverses[static_cast<std::size_t>(p.window)];
    if (p.source < 0) {
      for (std::int64_t m = 0; m < rows; ++m) {
        for (std::int64_t k = 0; k < rows; ++k)
          put(t, k, m, g.solvable ? inverse.values[static_cast<std::size_t>(m * kSide + k)] : std::nan(""));
      }
      continue;
    }
    // -D^-1 L: column k of L in rows j of the window. product[k][m].
    std::fill(product.begin(), product.end(), 0.0);
    const std::int64_t from = p.source * kSide;
    for (std::int64_t j = 0; j < rows; ++j) {
      const std::int32_t* indices = a.indices;
      const auto* begin = std::lower_bound(indices + a.offsets[first + j], indices + a.offsets[first + j + 1], from);
      for (const auto* c = begin; c != indices + a.offsets[first + j + 1] && *c < from + kSide; ++c) {
        const double v = a.values[c - indices];
        double* to = product.data() + (*c - from) * kSide;
        for (std::int64_t m = 0; m < rows; ++m) to[m] -= inverse.values[static_cast<std::size_t>(m * kSide + j)] * v;
      }
    }
    for (std::int64_t k = 0; k < std::min(kSide, a.rows - from); ++k) {
      for (std::int64_t m = 0; m < rows; ++m) put(t, k, m, product[static_cast<std::size_t>(k * kSide + m)]);
    }
  }
  const auto n = static_cast<double>(std::max<std::int64_t>(1, g.columns));
  r.fill = r.tiles == 0 ? 0 : static_cast<double>(r.nnz) / static_cast<double>(r.tiles * kSide * kSide);
  r.host_seconds = 2 * static_cast<double>(r.nnz) * n / (n == 1 ? kHostVectorRate : kHostMatrixRate);
  if (r.tiles > 0) {
    // The engines' own times, or the chain of levels: each a product, a copy out of PSUM and two semaphores. The array
    // is idle for most of the chain, so it runs at its cold rate.
    const Timing& t = machine.timing;
    const double product = static_cast<double>(t.fp32_passes) * std::max(n, t.matmul_min_cycles) /
                           (machine.tensor_hz * t.limiter_cold_rate);
    const double level = product + t.tensor_latency_s + t.vector_fixed_s + t.vector_latency_s + 2 * t.semaphore_s;
    r.modelled_seconds =
        std::max(roof_seconds(triangular_program(s.shape, machine), machine),
                 t.launch_s + t.finish_s + 2 * (t.dma_start_s + t.dma_end_s) + static_cast<double>(r.levels) * level);
    s.tiles = upload_constant(executor, "sparse.triangle", std::as_bytes(std::span(tiles)));
  }
  return {r, std::make_shared<const State>(std::move(s))};
}

void solve_triangular(const Executor& executor, const TriangularSolveArgs& g) {
  const auto& s = *static_cast<const State*>(g.state);
  if (g.x.rows() == 0 || g.x.columns() == 0) return;
  TriangularShape shape = s.shape;
  TileProduct& p = shape.product;
  p.n = g.x.columns();
  p.b_row = g.b.row_stride(), p.b_column = g.b.column_stride();
  p.c_row = g.x.row_stride(), p.c_column = g.x.column_stride();
  p.scaled = g.alpha != 1 || g.beta != 0, p.added = g.beta != 0;
  shape.in_place = g.in_place;
  launch(executor, static_cast<Program (*)(const TriangularShape&, const Machine&)>(triangular_program), shape,
         {{"a", static_cast<const void*>(s.tiles->data())},
          {"b", static_cast<const void*>(g.b.data())},
          {"x", static_cast<void*>(g.x.data())},
          {"x_in", static_cast<const void*>(g.x.data())},
          constant("alpha", std::array{g.alpha}),
          constant("beta", std::array{g.beta})});
}

}  // namespace device

struct detail::TriangularAccess {
  static const TriangularData<float>& data(const TriangularPlan<float>& plan) { return *plan.data_; }
};

Program triangular_program(const TriangularPlan<float>& plan, std::int64_t columns) {
  const Machine& machine = device_of(plan.executor()).machine();
  require(plan.rows() > 0 && columns > 0, "sparse: a solve of nothing has no program");
  TriangularShape s = static_cast<const device::State*>(detail::TriangularAccess::data(plan).state.get())->shape;
  s.product.n = s.product.b_row = s.product.c_row = columns;
  return triangular_program(s, machine);
}

}  // namespace trn::sparse

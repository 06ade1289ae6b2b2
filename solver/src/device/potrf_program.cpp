// potrf on the device: the program, and that of one panel.
//
// Block rows of 128: U_k. is block row k of U = L^T, row index on partitions. Left-looking:
//
//   R_k. = A_k. - sum_(s < k) U_sk^T U_s.        contracted over rows of block row s: both operands as stored
//   R_kk = L D L^T  (panel128),  U_kk = D^1/2 L^T
//   V = L^-1 R_k.,  V <- V + L^-1 (R_k. - L V),  U_k. = D^-1/2 V          right of the diagonal
//
// The step of refinement with the block itself leaves the residual of substitution (blas/src/device/trsm_program.cpp).
//
// Look-ahead. The chain of panel k is on the Vector Engine; meanwhile, between its columns, are recorded: the rest of
// U_(k-1), R_k. by strips of 512 columns, and of the next diagonal block all that is known. Between two chains only
// U_k's first 128 columns and one product remain.
//
// Memory: two block rows are in SBUF, R becomes U in place; U is kept in HBM scratch too, from where rows before are
// streamed, n^3 / 192 bytes in all, and stationary blocks of one column, n 512 bytes a partition at most. A is read
// once, U written once. A whose columns are contiguous in U's rows is turned by the Tensor Engine, strip by strip, on
// the way in and out. Diagonal blocks go through a scratch copy of their triangles, so nothing outside the triangle
// is touched.
//
// Engines: Vector the chain and differences, Scalar copies out of PSUM, Tensor products and turns, GpSimd (in programs
// that are too long for static descriptors) the stores.
#include <trn/solver/potrf_program.hpp>

#include <algorithm>
#include <deque>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "panel128.hpp"
#include "triangle_copy.hpp"

namespace trn::solver {

using namespace trn::tile;
using blocks::ceil_div;

namespace {

constexpr std::int64_t kStrip = 512;  // columns of a strip: a PSUM bank
constexpr std::int64_t kChunk = 4;    // block rows of a strip that are loaded at once
constexpr std::int64_t kChunkSlots = 4;
constexpr std::int64_t kOthers = 72 * 1024;  // bytes of a partition besides block rows and column blocks
constexpr std::int64_t kStaticOrder = 1536;  // programs up to here are short enough for static stores (stores.hpp)

Access entry(const Access& x, std::int64_t i) {
  Access one = x.is_tile() ? x(all, ds(i, 1)) : x(ds(i, 1));
  one.dims.erase(one.dims.begin());
  return one;
}

class Potrf {
 public:
  Potrf(const PotrfShape& shape, const Machine& machine)
      : g_(shape),
        b_("solver_potrf", machine),
        side_(machine.partitions),
        steps_(ceil_div(shape.n, side_)),
        turned_(shape.n > 1 && shape.row_stride == 1 && shape.column_stride != 1),
        a_(b_.input("a", DType::Float32, {shape.n, shape.n}, {shape.row_stride, shape.column_stride})),
        u_(b_.partial_output("u", a_)),
        pivots_(b_.output("pivots", DType::Float32, {shape.n})),
        panel_(b_, steps_ > 1 ? device::PanelUse::Solves : device::PanelUse::Alone) {
    const std::int64_t room = machine.sbuf_bytes_per_partition - kOthers;
    require(
        12 * g_.n <= room,
        "solver.potrf: two block rows of order {} and the blocks above them do not fit into the {} bytes that {} has "
        "for them in a partition; the largest order is {}",
        g_.n, room, machine.name, room / 12);
  }

  Program program() {
    declare();
    load_diagonals();
    for (std::int64_t k = 0; k < steps_; ++k) {
      begin(k);
      const std::int64_t calls = device::Panel128::calls(rows_of(k));
      const auto total = static_cast<std::int64_t>(tasks_.size());
      std::int64_t call = 0, done = 0;
      panel_.factor(rows_of(k), [&](std::int64_t) {
        for (++call; done < call * total / calls; ++done) pop();
      });
      flush();
      end(k);
    }
    store_diagonals();
    return static_stores(b_.finish());
  }

 private:
  // Background work: what it gives the Tensor Engine is recorded at once, what follows (the way out of PSUM) one task
  // later, when the result is there.
  struct Task {
    std::function<void()> now, after;
  };
  void pop() {
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    if (task.now) task.now();
    flush();
    after_ = task.after;
  }
  void flush() {
    if (after_) after_();
    after_ = {};
  }

  struct Strip {  // columns of a block row
    std::int64_t first, columns;
  };
  [[nodiscard]] std::vector<Strip> strips_right_of(std::int64_t k) const {
    std::vector<Strip> strips;
    for (std::int64_t c = (k + 1) * side_; c < g_.n; c += kStrip) strips.push_back({c, std::min(kStrip, g_.n - c)});
    return strips;
  }
  [[nodiscard]] std::int64_t rows_of(std::int64_t k) const { return std::min(side_, g_.n - k * side_); }
  // Columns of block row k, R or U, by their numbers in A.
  [[nodiscard]] Access part(std::int64_t k, Strip strip) const {
    return entry(rows_, k % 2)(all, ds(strip.first, strip.columns));
  }
  [[nodiscard]] static Access wide(const Access& x, Strip strip) { return x(all, ds(0, strip.columns)); }

  void declare() {
    const auto sbuf = [&](const char* name, Shape free) {
      return b_.sbuf(name, side_, std::move(free), DType::Float32);
    };
    diagonal_ = b_.scratch("diagonal", DType::Float32, {steps_, side_, side_});
    factors_ = b_.scratch("diagonal_factors", DType::Float32, {steps_, side_, side_});
    base_ = sbuf("diagonal_block", {side_});
    chain_ = b_.psum("chain", side_, {4, side_});
    if (turned_) factor_ = sbuf("factor_block", {side_});
    if (steps_ == 1) return;
    const std::int64_t columns = std::min(kStrip, g_.n - side_), blocks = ceil_div(columns, side_);
    rows_ = sbuf("block_row", {2, g_.n});
    first_ = sbuf("first", {2, side_});
    solution_ = sbuf("solution", {columns});
    rest_ = sbuf("rest", {columns});
    strip_sums_ = b_.psum("strip_sums", side_, {2, kStrip});
    solve_sums_ = b_.psum("solve_sums", side_, {2, kStrip});
    base_sums_ = b_.psum("base_sums", side_, {side_});
    if (turned_) {
      raw_ = sbuf("raw", {2, blocks, side_});
      out_ = sbuf("out", {2, blocks, side_});
      turning_ = b_.psum("turning", side_, {kStrip});
    }
    if (steps_ > 3) {
      kept_ = b_.scratch("block_rows", DType::Float32, {(steps_ - 3) * side_, g_.n});
      columns_ = sbuf("column_blocks", {steps_ - 3, side_});
      chunks_ = sbuf("chunk", {kChunkSlots, kChunk, columns});
    }
  }

  [[nodiscard]] DmaOptions storing() const {
    const bool written_out = g_.n <= kStaticOrder || !b_.machine().hardware_dge;
    return {.dge = written_out ? DgeMode::Default : DgeMode::Software};
  }

  // The triangles of all diagonal blocks, zeros around them: lines are what is contiguous in A.
  void load_diagonals() {
    b_.memset(base_, 0, Engine::Vector);
    b_.dma_copy(diagonal_.permute({1, 0, 2}), base_.broadcast(0, steps_));
    for_diagonals(diagonal_, a_,
                  [&](const Access& mine, const Access& theirs) { device::copy_triangles(b_, mine, theirs, turned_); });
  }
  void store_diagonals() {
    for_diagonals(factors_, u_,
                  [&](const Access& mine, const Access& theirs) { device::copy_triangles(b_, theirs, mine, turned_); });
  }
  template <class F> void for_diagonals(const Access& mine, const Access& theirs, F f) {
    const auto some = [&](std::int64_t first, std::int64_t count, std::int64_t order) {
      Access block = theirs(ds(first * side_, order), ds(first * side_, order));
      if (turned_) std::swap(block.dims[0], block.dims[1]);
      block.dims.insert(block.dims.begin(), {side_ * (g_.row_stride + g_.column_stride), count});
      f(mine(ds(first, count), ds(0, order), ds(0, order)), block);
    };
    const std::int64_t whole = g_.n / side_, order = g_.n % side_;
    if (whole > 0) some(0, whole, side_);
    if (order > 0) some(whole, 1, order);
  }

  // base_ = the lower triangle of diagonal block k, the identity beyond its order.
  void turn_base(std::int64_t k) {
    if (!turned_) {
      b_.nc_transpose(entry(chain_, 0), base_);
      blocks::scale(b_, base_, entry(chain_, 0), 1.0, Engine::Scalar);
    }
    if (rows_of(k) == side_) return;
    const Access beyond = panel_.scratch();
    b_.affine_select(beyond, {{0, side_}}, -rows_of(k), 1, AluOp::GreaterEqual, panel_.identity(), 0);
    b_.tensor_tensor(base_, base_, beyond, AluOp::Add, Engine::GpSimd);
  }

  // What runs while diagonal block k is factored.
  void begin(std::int64_t k) {
    if (k == 0) {
      b_.dma_copy(base_, entry(diagonal_, 0));
      turn_base(0);
      b_.tensor_copy(panel_.block(), base_, Engine::Vector);
    }
    if (k + 1 == steps_) return;
    inverse_ = panel_.inverse();  // of block k - 1: factor() turns to the other tile
    b_.dma_copy(base_, entry(diagonal_, k + 1));
    tasks_.push_back({{}, [this, k] { turn_base(k + 1); }});
    strips_ = strips_right_of(k);
    chunk_list_.clear();
    loaded_ = 0;
    if (k >= 2) {
      const Access above = kept_(ds(0, (k - 1) * side_), ds(k * side_, side_)).split(0, side_).permute({1, 0, 2});
      b_.dma_copy(columns_(all, ds(0, k - 1)), above);
      for (std::size_t j = 0; j < strips_.size(); ++j) {
        for (std::int64_t s = 0; s < k - 1; s += kChunk) {
          chunk_list_.push_back({j, s, std::min(kChunk, k - 1 - s)});
        }
      }
      for (std::int64_t i = 0; i + 1 < kChunkSlots; ++i) load_chunk();
    }
    std::size_t chunk = 0;
    for (std::size_t j = 0; j < strips_.size(); ++j) {
      if (!turned_ || j < 2) load_strip(k, j);
      std::vector<Task> products;
      if (turned_) tasks_.push_back(turn_strip(k, j));
      for (std::int64_t s = 0; s < k - 1; ++s) {
        products.push_back(product(k, j, s, chunk + static_cast<std::size_t>(s / kChunk)));
      }
      chunk += static_cast<std::size_t>(k > 1 ? ceil_div(k - 1, kChunk) : 0);
      merge(k > 0 ? solve_strip(k - 1, j) : std::vector<Task>{}, std::move(products));
      if (k > 0) tasks_.push_back(last_product(k, j));
    }
    tasks_.push_back({});  // the last one's way out
  }

  // Stages of a solve with at least one other task behind each.
  void merge(std::vector<Task> stages, std::vector<Task> others) {
    const std::size_t parts = std::max<std::size_t>(1, stages.size());
    std::size_t taken = 0;
    for (std::size_t p = 0; p < parts; ++p) {
      if (p < stages.size()) tasks_.push_back(std::move(stages[p]));
      const std::size_t until = (p + 1) * others.size() / parts;
      if (taken == until) tasks_.push_back({});
      for (; taken < until; ++taken) tasks_.push_back(std::move(others[taken]));
    }
  }

  struct Chunk {
    std::size_t strip;
    std::int64_t first, count;
  };
  void load_chunk() {
    if (loaded_ >= chunk_list_.size()) return;
    const Chunk& c = chunk_list_[loaded_];
    const Strip strip = strips_[c.strip];
    const Access from = kept_(ds(c.first * side_, c.count * side_), ds(strip.first, strip.columns));
    b_.dma_copy(chunk_tile(loaded_)(all, ds(0, c.count), ds(0, strip.columns)),
                from.split(0, side_).permute({1, 0, 2}));
    ++loaded_;
  }
  [[nodiscard]] Access chunk_tile(std::size_t i) const {
    return entry(chunks_, static_cast<std::int64_t>(i) % kChunkSlots);
  }

  // Brings A into block row k, strip j.
  void load_strip(std::int64_t k, std::size_t j) {
    const Strip strip = strips_[j];
    const Access from = a_(ds(k * side_, side_), ds(strip.first, strip.columns));
    if (!turned_) return b_.dma_copy(part(k, strip), from);
    const Access to = entry(raw_, static_cast<std::int64_t>(j) % 2);
    for_blocks_of(strip, [&](std::int64_t i, std::int64_t columns) {
      b_.dma_copy(entry(to, i)(ds(0, columns)), from(all, ds(i * side_, columns)).permute({1, 0}));
    });
  }
  template <class F> void for_blocks_of(Strip strip, F f) const {
    for (std::int64_t c = 0; c < strip.columns; c += side_) f(c / side_, std::min(side_, strip.columns - c));
  }
  Task turn_strip(std::int64_t k, std::size_t j) {
    const Strip strip = strips_[j];
    const Access raw = entry(raw_, static_cast<std::int64_t>(j) % 2);
    return {[=, this] {
              for_blocks_of(strip, [&](std::int64_t i, std::int64_t columns) {
                b_.nc_transpose(turning_(all, ds(i * side_, columns)), entry(raw, i)(ds(0, columns)));
              });
            },
            [=, this] {
              blocks::scale(b_, part(k, strip), wide(turning_, strip), 1.0, Engine::Scalar);
              if (j + 2 < strips_.size()) load_strip(k, j + 2);
            }};
  }

  // U of block row k, strip j, from R.
  std::vector<Task> solve_strip(std::int64_t k, std::size_t j) {
    const Strip strip = strips_[j];
    const Access r = part(k, strip), inverse = inverse_;
    const Access a = wide(entry(solve_sums_, 0), strip), c = wide(entry(solve_sums_, 1), strip);
    const Access v = wide(solution_, strip), d = wide(rest_, strip);
    std::vector<Task> stages;
    stages.push_back(
        {[=, this] { b_.nc_matmul(a, inverse, r); }, [=, this] { blocks::scale(b_, v, a, 1.0, Engine::Scalar); }});
    stages.push_back({[=, this] { b_.nc_matmul(c, panel_.unit(), v); },
                      [=, this] { b_.tensor_tensor(d, r, c, AluOp::Subtract, Engine::Vector); }});
    stages.push_back({[=, this] { b_.nc_matmul(a, inverse, d); },
                      [=, this] {
                        b_.tensor_tensor(r, v, a, AluOp::Add, Engine::Vector);
                        b_.activation(r, ActFunction::Copy, r, {.scale = panel_.root()});
                        store_strip(k, strip);
                        if (k + 3 < steps_)
                          b_.dma_copy(kept_(ds(k * side_, side_), ds(strip.first, strip.columns)), r, storing());
                      }});
    if (turned_) stages.push_back(turn_out(k, strip, static_cast<std::int64_t>(j)));
    return stages;
  }
  void store_strip(std::int64_t k, Strip strip) {
    if (!turned_) b_.dma_copy(u_(ds(k * side_, side_), ds(strip.first, strip.columns)), part(k, strip), storing());
  }
  Task turn_out(std::int64_t k, Strip strip, std::int64_t slot) {
    return {[=, this] {
              for_blocks_of(strip, [&](std::int64_t i, std::int64_t columns) {
                b_.nc_transpose(turning_(ds(0, columns), ds(i * side_, side_)),
                                part(k, {strip.first + i * side_, columns}));
              });
            },
            [=, this] {
              const Access out = entry(out_, slot % 2);
              for_blocks_of(strip, [&](std::int64_t i, std::int64_t columns) {
                blocks::scale(b_, entry(out, i)(ds(0, columns)), turning_(ds(0, columns), ds(i * side_, side_)), 1.0,
                              Engine::Scalar);
                b_.dma_copy(u_(ds(k * side_, side_), ds(strip.first + i * side_, columns)).permute({1, 0}),
                            entry(out, i)(ds(0, columns)), storing());
              });
            }};
  }

  // Block row s of the sums of strip j, out of chunk i; for the first strip also of the next diagonal block.
  Task product(std::int64_t k, std::size_t j, std::int64_t s, std::size_t i) {
    const Access stationary = entry(columns_, s), moving = entry(chunk_tile(i), s % kChunk);
    return {[=, this] {
              if (s % kChunk == 0) load_chunk();
              multiply(k, j, s, stationary, wide(moving, strips_[j]));
            },
            {}};
  }
  void multiply(std::int64_t k, std::size_t j, std::int64_t s, const Access& stationary, const Access& moving) {
    b_.nc_matmul(sums_of(j), stationary, moving, {.accumulate = s});
    if (j > 0) return;
    const std::int64_t rows = rows_of(k + 1);
    const Access block = moving(all, ds(0, rows));
    b_.nc_matmul(base_sums_(ds(0, rows), ds(0, rows)), block, block, {.accumulate = s});
  }
  [[nodiscard]] Access sums_of(std::size_t j) const {
    return wide(entry(strip_sums_, static_cast<std::int64_t>(j) % 2), strips_[j]);
  }
  Task last_product(std::int64_t k, std::size_t j) {
    const Strip strip = strips_[j];
    return {[=, this] {
              multiply(k, j, k - 1, part(k - 1, {k * side_, side_}), part(k - 1, strip));
            },
            [=, this] {
              const Access r = part(k, strip);
              b_.tensor_tensor(r, r, sums_of(j), AluOp::Subtract, Engine::Vector);
              if (j > 0) return;
              const Slice rows = ds(0, rows_of(k + 1));
              b_.tensor_tensor(base_(rows, rows), base_(rows, rows), base_sums_(rows, rows), AluOp::Subtract,
                               Engine::Vector);
            }};
  }

  // Between two chains: U right of diagonal block k as far as the next block needs it, and that block.
  void end(std::int64_t k) {
    if (k + 1 < steps_) {
      const std::int64_t rows = rows_of(k + 1);
      const Strip next{(k + 1) * side_, rows};
      const Access r = part(k, next), v = wide(entry(first_, 0), next), d = wide(entry(first_, 1), next);
      const auto sums = [&](std::int64_t i) { return wide(entry(chain_, i), next); };
      b_.nc_matmul(sums(0), panel_.inverse(), r);
      b_.tensor_copy(v, sums(0), Engine::Vector);
      b_.nc_matmul(sums(1), panel_.unit(), v);
      b_.tensor_tensor(d, r, sums(1), AluOp::Subtract, Engine::Vector);
      b_.nc_matmul(sums(2), panel_.inverse(), d);
      b_.tensor_tensor(r, v, sums(2), AluOp::Add, Engine::Vector);
      b_.tensor_scalar(r, r, AluOp::Multiply, panel_.root(), {.engine = Engine::Vector});
      const Access corner = entry(chain_, 3)(ds(0, rows), ds(0, rows));
      b_.nc_matmul(corner, r, r);
      const Slice inside = ds(0, rows);
      if (rows < side_) b_.tensor_copy(panel_.block(), base_, Engine::Vector);
      b_.tensor_tensor(panel_.block()(inside, inside), base_(inside, inside), corner, AluOp::Subtract, Engine::Vector);
      if (turned_) {
        Task out = turn_out(k, next, 0);
        out.now();
        out.after();
      }
      store_strip(k, next);
    }
    const std::int64_t rows = rows_of(k);
    if (turned_) {
      b_.nc_transpose(entry(chain_, 0), panel_.upper());
      blocks::scale(b_, factor_, entry(chain_, 0), 1.0, Engine::Scalar);
    }
    b_.dma_copy(entry(factors_, k), turned_ ? factor_ : panel_.upper(), storing());
    b_.dma_copy(pivots_(ds(k * side_, rows)).split(0, 1), panel_.pivots()(ds(0, rows)), storing());
  }

  PotrfShape g_;
  Builder b_;
  std::int64_t side_, steps_;
  bool turned_;  // U's columns are contiguous
  Access a_, u_, pivots_;
  device::Panel128 panel_;
  Access diagonal_, factors_, kept_;                                                      // HBM
  Access base_, factor_, rows_, first_, solution_, rest_, raw_, out_, columns_, chunks_;  // SBUF
  Access chain_, strip_sums_, solve_sums_, base_sums_, turning_;                          // PSUM
  Access inverse_;
  std::vector<Strip> strips_;
  std::vector<Chunk> chunk_list_;
  std::size_t loaded_ = 0;
  std::deque<Task> tasks_;
  std::function<void()> after_;
};

}  // namespace

Program potrf_program(const PotrfShape& shape, const Machine& machine) {
  require(shape.n >= 1, "solver.potrf: order {}; it must be at least 1", shape.n);
  return Potrf(shape, machine).program();
}

Program panel_program(const PanelShape& shape, const Machine& machine) {
  const std::int64_t side = machine.partitions, n = shape.order;
  require(n >= 1 && n <= side, "solver.panel: order {}; it must be between 1 and {}", n, side);
  Builder b("solver_panel", machine);
  const Access a = b.input("a", DType::Float32, {n, n}), u = b.output("u", DType::Float32, {n, n}),
               inverse = b.output("inverse", DType::Float32, {n, n}), pivots = b.output("pivots", DType::Float32, {n});
  device::Panel128 panel(b);
  const Slice square = ds(0, n);
  if (n < side) b.tensor_copy(panel.block(), panel.identity(), Engine::Vector);
  b.dma_copy(panel.block()(square, square), a);
  panel.factor(n);
  const Access l = b.sbuf("scaled_inverse", side, {side}, DType::Float32), turned = b.psum("turning", side, {side});
  b.nc_transpose(turned, panel.inverse());
  b.tensor_scalar(l, turned, AluOp::Multiply, panel.root(), {.engine = Engine::Vector});
  b.dma_copy(u, panel.upper()(square, square));
  b.dma_copy(inverse, l(square, square));
  b.dma_copy(pivots.split(0, 1), panel.pivots()(square));
  return static_stores(b.finish());
}

}  // namespace trn::solver

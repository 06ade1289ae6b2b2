// Fused Krylov steps: see krylov_program.hpp.
//
// Rows of a window lie on partitions: element (i, j) of a block of vectors is on partition i % 128, at (j, i / 128) of
// a tile (128, columns, windows). Tiles of A are stationary as they lie, K = columns of the tile, M = rows of its
// window, N = columns of the block:
//
//   q_w = sum_t A(w, t) p_t        one matmul a tile, sums of as many windows as a bank of PSUM holds
//   sigma = (p, q)                 products on the Vector Engine, their sum over partitions by a matmul with ones,
//                                  which brings it to every partition
//   alpha = rho / sigma,  r -= alpha q,  rho' = (r, r),  beta = rho' / rho,  p = r + beta p
//
// x += alpha p is GpSimd's, beside the chain. q stays in PSUM until r has it. With one column every update of a vector
// is one instruction, (vector op number) op vector; with more the numbers are repeated along the windows. A tile costs
// max(its stationary load, N rows) on the Tensor Engine: with one column 0.17 us, what HBM would take for it, so the
// gain over products from HBM is the launches, and everything from the second column on.
//
// Chebyshev's numbers depend on nothing, rho' = 1 / (2 theta / delta - rho), p = rho' rho p + 2 rho' / delta r: the
// norms of r, which the host wants to see, are computed beside the next product.
#include <trn/solver/krylov_program.hpp>

#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/stores.hpp>

namespace trn::solver {

using namespace trn::tile;

namespace {

constexpr std::int64_t kBanks = 6;          // of PSUM, for q; two more for sums over partitions
constexpr std::int64_t kChunk = 16;         // tiles of A in one load
constexpr std::int64_t kMostColumns = 128;  // right-hand sides
constexpr std::int64_t kSlack = 8 << 10;    // bytes of a partition for numbers, ones and alignment
constexpr double kLeast = 0x1p-126;         // divisors: the smallest normal number

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Element i of free dimension d, which goes away.
Access at(const Access& access, std::size_t d, std::int64_t i) {
  Access one = access;
  one.offset = one.offset + Affine(i) * one.dims[d].stride;
  one.dims.erase(one.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return one;
}

class KrylovSteps {
 public:
  KrylovSteps(const KrylovShape& shape, const Machine& machine)
      : s_(shape),
        b_(shape.method == KrylovMethod::Cg ? "solver_fused_cg" : "solver_fused_chebyshev", machine),
        side_(machine.partitions),
        windows_(ceil_div(shape.order, side_)),
        shared_(std::min(windows_, machine.psum_bank_bytes / 4 / shape.columns)) {}

  Program build() {
    load_matrix();
    declare();
    for (const auto& [name, tile] : {std::pair{"x", x_}, {"r", r_}, {"p", p_}}) load(name, tile);
    const Access trace = b_.output("trace", DType::Float32, {kKrylovSteps, 2, s_.columns}),
                 steps = b_.register_alloc("steps_to_run");
    b_.register_load(steps, b_.input("steps", DType::Int32, {1}));
    const Access zeros = b_.sbuf("zeros", kKrylovSteps, {2, s_.columns}, DType::Float32);
    b_.memset(zeros, 0, Engine::GpSimd);
    b_.dma_copy(trace, zeros);  // of the steps that are not run
    const bool cg = s_.method == KrylovMethod::Cg;
    cg ? begin_cg() : begin_chebyshev();
    b_.fori_loop("step", steps, kKrylovSteps, [&](const Affine& i) {
      cg ? step_cg() : step_chebyshev();
      b_.dma_copy(trace(ds(i, 1), all, all), record_);
    });
    for (const auto& [name, tile] : {std::pair{"x", x_}, {"r", r_}, {"p", p_}}) store(name, tile);
    if (!cg) b_.dma_copy(rho_out_, rho_(ds(0, 1), all));
    return static_stores(b_.finish());
  }

 private:
  // A dense matrix is symmetric, so that rows of block row k are the columns that the stationary operand wants.
  void load_matrix() {
    const std::int64_t n = s_.order;
    if (!s_.stride) {
      const auto tiles = static_cast<std::int64_t>(s_.blocks.size());
      const Access a = b_.input("a", DType::Float32, {side_, tiles, side_});
      if (tiles == 0) return;
      a_ = b_.sbuf("a_tiles", side_, {tiles, side_}, DType::Float32);
      for (std::int64_t t = 0; t < tiles; t += kChunk) {
        const Slice some = ds(t, std::min(kChunk, tiles - t));
        b_.dma_copy(a_(all, some), a(all, some));
      }
      return;
    }
    const Access a = b_.input("a", DType::Float32, {n, n}, {s_.stride, 1});
    a_ = b_.sbuf("a_rows", side_, {windows_, windows_ * side_}, DType::Float32);
    const std::int64_t over = windows_ * side_ - n;
    if (over > 0) {
      b_.memset(at(a_, 0, windows_ - 1), 0, Engine::GpSimd);
      if (windows_ > 1) b_.memset(a_(all, ds(0, windows_ - 1), ds(n, over)), 0, Engine::Vector);
    }
    for (std::int64_t k = 0; k < windows_; ++k) {
      const std::int64_t rows = std::min(side_, n - k * side_);
      b_.dma_copy(at(a_, 0, k)(ds(0, rows), ds(0, n)), a(ds(k * side_, rows), all));
    }
  }

  void declare() {
    const std::int64_t c = s_.columns;
    const auto vectors = [&](const char* name) { return b_.sbuf(name, side_, {c, windows_}, DType::Float32); };
    const auto numbers = [&](const char* name) { return b_.sbuf(name, side_, {c}, DType::Float32); };
    x_ = vectors("x_tile"), r_ = vectors("r_tile"), p_ = vectors("p_tile"), terms_ = vectors("terms"),
    moved_ = vectors("moved");
    partial_ = numbers("partial_sums"), alpha_ = numbers("alpha"), beta_ = numbers("beta"), rho_ = numbers("rho");
    inverse_ = numbers("inverse_rho"), limit_ = numbers("limit"), going_ = numbers("going_on");
    ones_ = b_.sbuf("ones", side_, {side_}, DType::Float32);
    record_ = b_.sbuf("record", 1, {2, c}, DType::Float32);
    const std::int64_t bank = b_.machine().psum_bank_bytes / 4;
    q_ = b_.psum("q", side_, {ceil_div(windows_, shared_), bank});
    sums_ = b_.psum("sums", side_, {2, bank});
    b_.memset(ones_, 1, Engine::Vector);
    b_.memset(record_, 0, Engine::Vector);
  }

  // "name" (columns, order) and what replaces it.
  void load(const std::string& name, const Access& tile) {
    const Access from = b_.input(name, DType::Float32, {s_.columns, s_.order});
    const std::int64_t whole = s_.order / side_, rest = s_.order % side_;
    if (rest) b_.memset(tile, 0, Engine::Vector);
    if (whole)
      b_.dma_copy(tile(all, all, ds(0, whole)), from(all, ds(0, whole * side_)).split(1, side_).permute({2, 0, 1}));
    if (rest) {
      b_.dma_copy(tile(ds(0, rest), all, ds(whole, 1)),
                  from(all, ds(whole * side_, rest)).split(1, rest).permute({2, 0, 1}));
    }
    replaced_.push_back(b_.output_over(name + "_out", from));
  }
  void store(const std::string& name, const Access& tile) {
    const Access to = replaced_[name == "x" ? 0 : name == "r" ? 1 : 2];
    const std::int64_t whole = s_.order / side_, rest = s_.order % side_;
    if (whole)
      b_.dma_copy(to(all, ds(0, whole * side_)).split(1, side_).permute({2, 0, 1}), tile(all, all, ds(0, whole)));
    if (rest) {
      b_.dma_copy(to(all, ds(whole * side_, rest)).split(1, rest).permute({2, 0, 1}),
                  tile(ds(0, rest), all, ds(whole, 1)));
    }
  }

  void begin_cg() {
    const Access limits = b_.input("limits", DType::Float32, {s_.columns});
    b_.dma_copy(limit_, limits.broadcast(0, side_));
    const Access rho = squares(r_);
    keep_going(rho);
    b_.tensor_copy(rho_, rho, Engine::Vector);
  }
  // going_ = rho where the column goes on, else 0; inverse_ = 1 / rho.
  void keep_going(const Access& rho) {
    b_.tensor_tensor(going_, rho, limit_, AluOp::Greater, Engine::Vector);
    b_.tensor_tensor(going_, rho, going_, AluOp::Multiply, Engine::Vector);
  }
  void step_cg() {
    product();
    for_banks([&](std::int64_t first, std::int64_t count, const Access& q) {
      b_.tensor_tensor(terms_(all, all, ds(first, count)), p_(all, all, ds(first, count)), q, AluOp::Multiply,
                       Engine::Vector);
    });
    // 1 / rho of the step before: beside the product's last sums.
    b_.tensor_scalar(inverse_, rho_, AluOp::Maximum, kLeast, {.engine = Engine::Vector});
    b_.reciprocal(inverse_, inverse_);
    const Access sigma = over_partitions(0);
    blocks::scale(b_, record_(all, ds(1, 1), all), at_first(sigma), 1.0, Engine::Scalar);
    b_.tensor_scalar(alpha_, sigma, AluOp::Maximum, kLeast, {.engine = Engine::Vector});
    b_.reciprocal(alpha_, alpha_);
    b_.scalar_tensor_tensor(going_, sigma, AluOp::Greater, 0.0, AluOp::Multiply, going_);
    b_.tensor_tensor(alpha_, alpha_, going_, AluOp::Multiply, Engine::Vector);
    // x += alpha p
    b_.tensor_tensor(moved_, p_, repeated(alpha_, windows_), AluOp::Multiply, Engine::GpSimd);
    b_.tensor_tensor(x_, x_, moved_, AluOp::Add, Engine::GpSimd);
    // r -= alpha q
    for_banks([&](std::int64_t first, std::int64_t count, const Access& q) {
      const Access terms = terms_(all, all, ds(first, count));
      b_.tensor_tensor(terms, q, repeated(alpha_, count), AluOp::Multiply, Engine::Vector);
    });
    b_.tensor_tensor(r_, r_, terms_, AluOp::Subtract, Engine::Vector);
    const Access rho = squares(r_);
    blocks::scale(b_, record_(all, ds(0, 1), all), at_first(rho), 1.0, Engine::Scalar);
    keep_going(rho);
    b_.tensor_tensor(beta_, going_, inverse_, AluOp::Multiply, Engine::Vector);
    blocks::scale(b_, rho_, rho, 1.0, Engine::Scalar);
    // p = r + beta p
    b_.tensor_tensor(p_, p_, repeated(beta_, windows_), AluOp::Multiply, Engine::Vector);
    b_.tensor_tensor(p_, p_, r_, AluOp::Add, Engine::Vector);
  }

  void begin_chebyshev() {
    const Access rho = b_.input("rho", DType::Float32, {1});
    rho_ = b_.sbuf("rho_now", side_, {1}, DType::Float32);
    next_ = b_.sbuf("rho_next", side_, {1}, DType::Float32);
    of_p_ = b_.sbuf("factor_of_p", side_, {1}, DType::Float32);
    of_r_ = b_.sbuf("factor_of_r", side_, {1}, DType::Float32);
    b_.dma_copy(rho_, rho.broadcast(0, side_));
    rho_out_ = b_.output_over("rho_out", rho);
    ratio_ = blocks::scalar_input(b_, "two_ratio"), two_inverse_ = blocks::scalar_input(b_, "two_inverse");
  }
  void step_chebyshev() {
    product();
    b_.tensor_tensor(x_, x_, p_, AluOp::Add, Engine::GpSimd);
    b_.tensor_tensor(next_, ratio_, rho_, AluOp::Subtract, Engine::Vector);
    b_.reciprocal(next_, next_);
    b_.tensor_tensor(of_p_, next_, rho_, AluOp::Multiply, Engine::Vector);
    b_.tensor_tensor(of_r_, next_, two_inverse_, AluOp::Multiply, Engine::Vector);
    b_.tensor_copy(rho_, next_, Engine::Vector);
    for_banks([&](std::int64_t first, std::int64_t count, const Access& q) {
      const Access r = r_(all, all, ds(first, count));
      b_.tensor_tensor(r, r, q, AluOp::Subtract, Engine::Vector);
    });
    b_.tensor_scalar(moved_, r_, AluOp::Multiply, of_r_, {.engine = Engine::Vector});
    b_.scalar_tensor_tensor(p_, p_, AluOp::Multiply, of_p_, AluOp::Add, moved_);
    blocks::scale(b_, record_(all, ds(0, 1), all), at_first(squares(r_)), 1.0, Engine::Scalar);
  }

  // q = A p, windows of a bank side by side.
  void product() {
    for (std::int64_t w = 0; w < windows_; ++w) {
      const Access sums = window(w);
      const std::int64_t first = s_.stride ? 0 : s_.offsets[static_cast<std::size_t>(w)],
                         end = s_.stride ? windows_ : s_.offsets[static_cast<std::size_t>(w + 1)];
      if (first == end) b_.memset(sums, 0, Engine::Vector);
      for (std::int64_t t = first; t < end; ++t) {
        const std::int64_t block = s_.stride ? t : s_.blocks[static_cast<std::size_t>(t)];
        const Access stationary = s_.stride ? at(a_, 0, t)(all, ds(w * side_, side_)) : at(a_, 0, t);
        b_.nc_matmul(sums, stationary, at(p_, 1, block), {.accumulate = t > first ? 1 : 0});
      }
    }
  }
  Access window(std::int64_t w) const { return at(q_, 0, w / shared_)(all, ds(w % shared_ * s_.columns, s_.columns)); }
  // body(first window, windows, q as (128, columns, windows)) for every bank.
  template <class F> void for_banks(const F& body) const {
    for (std::int64_t first = 0; first < windows_; first += shared_) {
      const std::int64_t count = std::min(shared_, windows_ - first);
      body(first, count,
           at(q_, 0, first / shared_)(all, ds(0, count * s_.columns)).split(0, s_.columns).permute({1, 0}));
    }
  }
  static Access repeated(const Access& numbers, std::int64_t times) { return numbers.broadcast(1, times); }
  static Access at_first(const Access& numbers) {
    Access one = numbers(ds(0, 1), all);
    one.dims.insert(one.dims.begin(), Dim{1, 1});
    return one;
  }

  // (v_j, v_j) on every partition, in PSUM.
  Access squares(const Access& v) {
    b_.tensor_tensor(terms_, v, v, AluOp::Multiply, Engine::Vector);
    return over_partitions(1);
  }
  // Sums of terms_ over windows and partitions.
  Access over_partitions(std::int64_t bank) {
    b_.tensor_reduce(partial_, AluOp::Add, terms_);
    const Access sums = at(sums_, 0, bank)(all, ds(0, s_.columns));
    b_.nc_matmul(sums, ones_, partial_);
    return sums;
  }

  const KrylovShape& s_;
  Builder b_;
  const std::int64_t side_, windows_, shared_;  // windows of a bank
  std::vector<Access> replaced_;
  Access a_, x_, r_, p_, terms_, moved_, partial_, alpha_, beta_, rho_, inverse_, limit_, going_, ones_, record_;
  Access next_, of_p_, of_r_, ratio_, two_inverse_, rho_out_;
  Access q_, sums_;
};

}  // namespace

std::int64_t krylov_columns(const KrylovShape& shape, const Machine& machine) {
  const std::int64_t side = machine.partitions, windows = ceil_div(shape.order, side);
  const std::int64_t matrix =
      4 * side * (shape.stride ? windows * windows : static_cast<std::int64_t>(shape.blocks.size()));
  const std::int64_t room = machine.sbuf_bytes_per_partition - matrix - kSlack;
  if (room <= 0 || windows == 0) return 0;
  const std::int64_t bank = machine.psum_bank_bytes / 4;
  std::int64_t columns = std::min(kMostColumns, room / (5 * 4 * windows + 9 * 4));
  const auto fits = [&](std::int64_t c) { return ceil_div(windows, std::max<std::int64_t>(1, bank / c)) <= kBanks; };
  while (columns > 0 && !fits(columns)) --columns;
  return columns;
}

Program krylov_program(const KrylovShape& shape, const Machine& machine) {
  const std::int64_t most = krylov_columns(shape, machine);
  require(shape.order >= 1 && shape.columns >= 1 && shape.columns <= most,
          "solver.krylov: order {} with {} right-hand sides; there is room for {}", shape.order, shape.columns, most);
  return KrylovSteps(shape, machine).build();
}

}  // namespace trn::solver

// trsm_batched on the device: one program for the batch, and its launch.
//
//   gather    one load list per matrix, from wherever it lies into scratch: A_p as it is, B_p row by row
//   solve     systems of up to 128 rows (64 complex ones), 8 to 64 at a time: one inversion for all their triangles
//             (diagonal_blocks.hpp), then X' = T^-1 alpha B,  D = alpha B - T X',  X = X' + T^-1 D for all of them, as
//               in
//             trsm, the systems side by side in PSUM; larger systems one after another, blocked as in trsm
//   scatter   one store list per matrix
//
// A hop between engines costs about as much for eight systems as for one; that is why they go in step. The hops limit a
// batch: the engines are busy for a third of the time.
#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <trn/blas/trsm_batched_program.hpp>
#include <trn/core/array.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels.hpp"
#include "diagonal_blocks.hpp"
#include "trsm_columns.hpp"
#include "trsm_kernel.hpp"
#include "trsm_launch.hpp"
#include "views.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::for_blocks;
using device::entry;

namespace {

class TrsmBatchKernel {
 public:
  TrsmBatchKernel(const TrsmBatchedShape& shape, const Machine& machine)
      : s_(shape),
        machine_(machine),
        b_("blas_trsm_batched", machine),
        complex_(is_complex(shape.dtype)),
        planes_(complex_ ? 2 : 1),
        side_(machine.partitions),
        half_(side_ / 2) {}

  Program build() {
    if (s_.alpha == Factor::Input) alpha_ = device::alpha_input(b_, complex_);
    a_ = gather("a", s_.m, s_.am, s_.an, s_.am == 1 && s_.an != 1);
    x_ = gather("b", s_.n, s_.bm, s_.bn, false);
    if (s_.m <= side_ / planes_) {
      for_blocks(b_, "systems", s_.count, device::blocks_together(machine_, complex_, s_.m), LoopKind::Parallel,
                 [&](const Affine& p, std::int64_t count) { small(p, count); });
    } else {
      b_.sequential("system", s_.count, [&](Affine p) { large(p); });
    }
    for (std::int64_t p = 0; p < s_.count; ++p) {
      b_.dma_copy(b_.output_over(fmt::format("x{}", p), right_[static_cast<std::size_t>(p)]), entry(x_, p));
    }
    return tile::static_stores(b_.finish());
  }

 private:
  Access matrix(const std::string& name, std::int64_t columns, std::int64_t rs, std::int64_t cs) {
    Shape shape{s_.m, columns};
    Strides strides{rs * planes_, cs * planes_};
    if (complex_) shape.push_back(2), strides.push_back(1);
    return b_.input(name, DType::Float32, shape, strides);
  }

  // All matrices in one scratch tensor, returned as (count, rows, columns[, 2]); by_columns: with columns contiguous.
  Access gather(const std::string& name, std::int64_t columns, std::int64_t rs, std::int64_t cs, bool by_columns) {
    Shape shape = by_columns ? Shape{s_.count, columns, s_.m} : Shape{s_.count, s_.m, columns};
    if (complex_) shape.push_back(2);
    Access all_of = b_.scratch(name, DType::Float32, shape);
    if (by_columns) std::swap(all_of.dims[1], all_of.dims[2]);
    for (std::int64_t p = 0; p < s_.count; ++p) {
      Access from = matrix(fmt::format("{}{}", name, p), columns, rs, cs), to = entry(all_of, p);
      if (name == "b") right_.push_back(from);
      if (by_columns) std::swap(from.dims[0], from.dims[1]), std::swap(to.dims[0], to.dims[1]);
      b_.dma_copy(to, from);
    }
    return all_of;
  }
  std::int64_t a_row() const { return a_.dims[1].stride / planes_; }
  std::int64_t a_column() const { return a_.dims[2].stride / planes_; }

  void small(const Affine& p, std::int64_t count) {
    std::vector<Access> triangles;
    for (std::int64_t i = 0; i < count; ++i) triangles.push_back(entry(a_, p + i));
    const device::DiagonalBlocks d =
        device::invert_diagonal(b_, {complex_, s_.lower, s_.unit, s_.conj, a_row(), a_column()}, triangles, s_.m);
    const std::int64_t bank = blocks::bank_columns(machine_);
    const std::int64_t wide = std::min({s_.n, bank, 2 * bank / count});  // the systems' columns fill two banks
    for_blocks(b_, "columns", s_.n, wide, LoopKind::Parallel,
               [&](const Affine& c0, std::int64_t columns) { solve(d, p, count, c0, columns); });
  }

  // (rows, systems, columns[, 2]) of HBM.
  Access columns_of(const Affine& p, std::int64_t count, const Affine& c0, std::int64_t columns) const {
    const Access part = x_(ds(p, count), all, ds(c0, columns));
    return complex_ ? part.permute({1, 0, 2, 3}) : part.permute({1, 0, 2});
  }

  void solve(const device::DiagonalBlocks& d, const Affine& p, std::int64_t count, const Affine& c0,
             std::int64_t columns) {
    const std::int64_t rows = complex_ ? side_ : s_.m;
    const auto sbuf = [&](const char* name, DType dtype = DType::Float32) {
      return b_.sbuf(name, rows, {count, columns}, dtype, 2);
    };
    const Access rhs = sbuf("rhs"), first = sbuf("x_first"), rest = sbuf("rest"), clean = sbuf("clean"),
                 finite = sbuf("finite", DType::UInt8), x = sbuf("x_new");
    const Access hbm = columns_of(p, count, c0, columns);
    Access raw;
    if (complex_) {
      raw = b_.sbuf("raw", s_.m, {count, columns, 2}, DType::Float32, 2);
      b_.dma_copy(raw, hbm);
      if (s_.m < half_) b_.memset(rhs, 0);
      b_.tensor_copy(rhs(ds(0, s_.m)), device::plane(raw, 0));
      b_.tensor_copy(rhs(ds(half_, s_.m)), device::plane(raw, 1));
      if (alpha_.present()) device::multiply_complex(b_, rhs, sbuf("swapped"), alpha_);
    } else {
      b_.dma_copy(rhs, hbm);
      if (alpha_.present())
        b_.tensor_scalar(rhs, rhs, AluOp::Multiply, alpha_(ds(0, rows)), {.engine = Engine::Vector});
    }
    const auto product = [&](const Access& matrices, const Access& moving) {
      // A system's columns may not straddle two banks.
      const std::int64_t bank = blocks::bank_columns(machine_), per_bank = bank / columns,
                         banks = blocks::ceil_div(count, per_bank);
      const Access sums = b_.psum("sums", rows, {banks, bank}, DType::Float32, 2);
      for (std::int64_t i = 0; i < count; ++i) {
        b_.nc_matmul(entry(sums, i / per_bank)(all, ds(i % per_bank * columns, columns)),
                     entry(matrices, i)(ds(0, rows), ds(0, rows)), entry(moving, i));
      }
      return std::pair(sums, per_bank);
    };
    // f(systems in one bank, their sums) bank by bank.
    const auto each_bank = [&](const std::pair<Access, std::int64_t>& sums, auto f) {
      for (std::int64_t i = 0; i < count; i += sums.second) {
        const std::int64_t here = std::min(sums.second, count - i);
        f(ds(i, here), entry(sums.first, i / sums.second)(all, ds(0, here * columns)).split(0, columns));
      }
    };
    each_bank(product(d.inverse, rhs), [&](const Slice& which, const Access& sums) {
      blocks::scale(b_, first(all, which), sums, 1.0, Engine::Scalar);
    });
    b_.memset(clean, 0, Engine::GpSimd);
    each_bank(product(d.turned, first), [&](const Slice& which, const Access& sums) {
      b_.tensor_tensor(rest(all, which), rhs(all, which), sums, AluOp::Subtract, Engine::Vector);
    });
    b_.tensor_scalar(finite, rest, AluOp::Abs, 0.0,
                     {.op1 = AluOp::LessEqual,
                      .operand1 = static_cast<double>(std::numeric_limits<float>::max()),
                      .engine = Engine::Vector});
    b_.tensor_copy_predicated(clean, rest, finite);
    each_bank(product(d.inverse, clean), [&](const Slice& which, const Access& sums) {
      b_.tensor_tensor(x(all, which), first(all, which), sums, AluOp::Add, Engine::Vector);
    });
    Access poison = d.poison(ds(0, rows));
    poison.dims = {poison.dims[0], {0, columns}};
    b_.tensor_tensor(x, x, poison, AluOp::Add, Engine::Vector);
    if (complex_) {
      raw = b_.sbuf("x_raw", s_.m, {count, columns, 2}, DType::Float32, 2);
      b_.tensor_copy(device::plane(raw, 0), x(ds(0, s_.m)));
      b_.tensor_copy(device::plane(raw, 1), x(ds(half_, s_.m)));
      b_.dma_copy(hbm, raw);
    } else {
      b_.dma_copy(hbm, x);
    }
  }

  void large(const Affine& p) {
    TrsmShape shape{s_.dtype, s_.m,     s_.n,    a_row(), a_column(), s_.n,
                    1,        s_.lower, s_.unit, s_.conj, s_.alpha,   Mode::Native};
    device::solve_triangular(b_, shape, {entry(a_, p), entry(x_, p), entry(x_, p), alpha_, {}, {}});
  }

  TrsmBatchedShape s_;
  const Machine& machine_;
  Builder b_;
  bool complex_;
  std::int64_t planes_, side_, half_;
  Access a_, x_, alpha_;
  std::vector<Access> right_;  // the right-hand sides as they are bound; the solutions take their memory
};

}  // namespace

tile::Program trsm_batched_program(const TrsmBatchedShape& shape, const Machine& machine) {
  device::require_kernel_dtype(shape.dtype, machine, "blas.trsm_batched");
  require(shape.m >= 1 && shape.n >= 1 && shape.count >= 1,
          "blas.trsm_batched: a program needs m, n, count >= 1, got {} of {} x {}", shape.count, shape.m, shape.n);
  require(shape.alpha != Factor::Zero,
          "blas.trsm_batched: a program with alpha = 0 would not read A; set B to zero instead");
  return TrsmBatchKernel(shape, machine).build();
}

namespace device {

void trsm_batched(const Executor& executor, const TrsmBatchArgs& args) {
  std::vector<Argument> arguments;
  if (args.alpha == 0.0) {
    const ZeroShape zero{args.dtype, args.m, args.n, args.bm, args.bn, args.count};
    for (std::int64_t p = 0; p < args.count; ++p) arguments.push_back({fmt::format("x{}", p), args.b[p]});
    return launch(executor, zero_program, zero, arguments);
  }
  const TrsmBatchedShape shape{args.dtype, args.m,    args.n,      args.count,
                               args.am,    args.an,   args.bm,     args.bn,
                               args.lower, args.unit, args.conj_a, args.alpha == 1.0 ? Factor::One : Factor::Input};
  arguments.push_back(constant("alpha", std::array{std::complex<float>(args.alpha)}));
  for (std::int64_t p = 0; p < args.count; ++p) {
    arguments.push_back({fmt::format("a{}", p), args.a[p]});
    arguments.push_back({fmt::format("x{}", p), args.b[p]});
  }
  launch(executor, trsm_batched_program, shape, arguments);
}

}  // namespace device

}  // namespace trn::blas

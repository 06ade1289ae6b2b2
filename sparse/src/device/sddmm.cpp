// Sampled products on a device: the choice between two kernels, and the one that fetches entries from memory.
//
// Partitions: k for the products, so rows of A are transposed by the Tensor Engine, a window of 128 at a time; then
// rows of the window. A block is k / 128 matmuls of 128 columns, 219 ns each in fp32, and 64 KiB to memory, 178 ns of
// all DMA engines on trn2; four blocks of a window share a bank.
#include <algorithm>
#include <array>

#include <trn/core/error.hpp>
#include <trn/sparse/sddmm_programs.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../sddmm_kernels.hpp"
#include "rings.hpp"
#include "tiling.hpp"

namespace trn::sparse {

using namespace trn::tile;
using device::at;

namespace {

constexpr std::int64_t kDeepest = 4096;  // rows of B: A's window and its transpose stay in SBUF
constexpr std::int64_t kFetched = 1024;  // entries of a partition that are fetched before they are stored
constexpr std::size_t kShared = 4;       // blocks of a bank

class Sddmm {
 public:
  Sddmm(const SddmmShape& shape, const Machine& machine)
      : s_(shape), o_(shape.operands), b_("sparse_sddmm", machine), side_(machine.partitions), rings_(b_) {
    const auto blocks = static_cast<std::int64_t>(s_.blocks.size());
    if (o_.k > 0) {
      a_ = b_.input("a", DType::Float32, {o_.rows, o_.k}, {o_.a_row, o_.a_column});
      right_ = b_.input("b", DType::Float32, {o_.k, o_.columns}, {o_.b_row, o_.b_column});
      scratch_ = b_.scratch("products", DType::Float32, {blocks * side_ * side_, 1});
      fetched_ = blocks::ceil_div(o_.nnz, side_);
      index_ = b_.input("index", DType::UInt32, {side_, fetched_});
      if (o_.scaled) alpha_ = blocks::scalar_input(b_, "alpha");
    }
    fetched_ = blocks::ceil_div(o_.nnz, side_);
    if (o_.added) {
      given_ = b_.input("s", DType::Float32, {o_.nnz});
      beta_ = blocks::scalar_input(b_, "beta");
    }
    values_ = b_.output("values", DType::Float32, {o_.nnz});
  }

  Program build() {
    if (o_.k > 0) {
      for (std::size_t w = 0; w + 1 < s_.offsets.size(); ++w) {
        if (s_.offsets[w + 1] > s_.offsets[w]) window(static_cast<std::int64_t>(w));
      }
    }
    for (std::int64_t first = 0; first < fetched_; first += kFetched)
      fetch(first, std::min(kFetched, fetched_ - first));
    return static_stores(b_.finish());
  }

 private:
  std::int64_t chunks() const { return blocks::ceil_div(o_.k, side_); }
  std::int64_t depth(std::int64_t c) const { return std::min(side_, o_.k - c * side_); }

  void window(std::int64_t w) {
    const std::int64_t rows = std::min(side_, o_.rows - w * side_);
    const Access stage = rings_.take("stage", Space::Sbuf, rows, {o_.k}, DType::Float32, 2, o_.k);
    b_.dma_copy(stage, a_(ds(w * side_, rows), all));
    const Access at_tile = rings_.take("a_turned", Space::Sbuf, side_, {chunks(), side_}, DType::Float32, 2,
                                       chunks() * side_)(all, all, ds(0, rows));
    for (std::int64_t c = 0; c < chunks(); ++c) {
      const Access turned = rings_.take("turned", Space::Psum, depth(c), {rows}, DType::Float32, kShared, side_);
      b_.nc_transpose(turned, stage(all, ds(c * side_, depth(c))));
      b_.tensor_copy(at(at_tile, 0, c)(ds(0, depth(c)), all), turned, Engine::Vector);
    }
    const auto begin = static_cast<std::size_t>(s_.offsets[static_cast<std::size_t>(w)]),
               end = static_cast<std::size_t>(s_.offsets[static_cast<std::size_t>(w) + 1]);
    for (std::size_t t = begin; t < end;) {  // groups of blocks with equally many columns
      const std::int64_t width = width_of(t);
      std::size_t last = t + 1;
      while (last < end && last - t < kShared && width_of(last) == width) ++last;
      group(at_tile, rows, t, last, width);
      t = last;
    }
  }
  std::int64_t width_of(std::size_t t) const { return std::min(side_, o_.columns - s_.blocks[t] * side_); }

  void group(const Access& left, std::int64_t rows, std::size_t first, std::size_t end, std::int64_t width) {
    const auto count = static_cast<std::int64_t>(end - first);
    const std::int64_t bank = kShared * side_;
    const Access sums = rings_.take("sums", Space::Psum, rows, {count, width}, DType::Float32, 4, bank);
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t column = s_.blocks[first + static_cast<std::size_t>(n)] * side_;
      for (std::int64_t c = 0; c < chunks(); ++c) {
        const Access right = rings_.take("right", Space::Sbuf, depth(c), {width}, DType::Float32, 8, side_);
        b_.dma_copy(right, right_(ds(c * side_, depth(c)), ds(column, width)));
        b_.nc_matmul(at(sums, 0, n), at(left, 0, c)(ds(0, depth(c)), all), right, {.accumulate = c > 0 ? 1 : 0});
      }
    }
    const Access out = rings_.take("out", Space::Sbuf, rows, {count, width}, DType::Float32, 3, bank);
    blocks::scale(b_, out, sums, 1.0, turns_++ % 2 == 0 ? Engine::Vector : Engine::Scalar);
    Access to = scratch_;  // (rows, count, width) of blocks (count, 128, 128)
    to.offset = static_cast<std::int64_t>(first) * side_ * side_;
    to.dims = {{side_, rows}, {side_ * side_, count}, {1, width}};
    b_.dma_copy(to, out);
  }

  // Entries p * fetched_ + q for q in [first, first + count).
  void fetch(std::int64_t first, std::int64_t count) {
    const Access entries = rings_.take("entries", Space::Sbuf, side_, {count}, DType::Float32, 2, kFetched);
    if (o_.k > 0) {
      const Access numbers = rings_.take("numbers", Space::Sbuf, side_, {count}, DType::UInt32, 2, kFetched);
      b_.dma_copy(numbers, index_(all, ds(first, count)));
      b_.parallel("entry", count,
                  [&](Affine q) { b_.dma_gather(entries(all, ds(q, 1)), scratch_, numbers(all, ds(q, 1))); });
      if (o_.scaled) b_.tensor_scalar(entries, entries, AluOp::Multiply, alpha_, {.engine = Engine::Vector});
    } else {
      b_.memset(entries, 0.0);
    }
    // Partitions whose entries are all there, then the one that ends with the last entry.
    const std::int64_t whole = o_.nnz / fetched_, rest = o_.nnz % fetched_;
    const auto places = [&](const Access& tensor, const auto& each) {
      if (whole > 0) each(ds(0, whole), tensor(ds(0, whole * fetched_)).split(0, fetched_)(all, ds(first, count)));
      const std::int64_t left = std::min(count, rest - first);
      if (left > 0) each(ds(whole, 1), tensor(ds(whole * fetched_ + first, left)).split(0, left));
    };
    if (o_.added) {
      const Access old = rings_.take("old", Space::Sbuf, side_, {count}, DType::Float32, 2, kFetched);
      b_.memset(old, 0.0);
      places(given_, [&](const Slice& partitions, const Access& from) {
        b_.dma_copy(old(partitions, ds(0, from.dims.back().size)), from);
      });
      b_.scalar_tensor_tensor(entries, old, AluOp::Multiply, beta_, AluOp::Add, entries);
    }
    places(values_, [&](const Slice& partitions, const Access& to) {
      b_.dma_copy(to, entries(partitions, ds(0, to.dims.back().size)));
    });
  }

  const SddmmShape& s_;
  const SddmmOperands& o_;
  Builder b_;
  const std::int64_t side_;
  device::Rings rings_;
  Access a_, right_, scratch_, index_, given_, values_;
  ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
  std::int64_t fetched_ = 0, turns_ = 0;
};

}  // namespace

Program sddmm_program(const SddmmShape& shape, const Machine& machine) { return Sddmm(shape, machine).build(); }

SddmmShape sddmm_shape(const Pattern<>& pattern, std::int64_t k) {
  const device::BlockTiles t = device::block_tiles(host_ref(pattern));
  const std::int64_t m = pattern.rows(), n = pattern.columns();
  return {{m, n, k, pattern.nnz(), std::max<std::int64_t>(k, 1), 1, n, 1, false, false}, t.offsets, t.blocks};
}

namespace device {

namespace {

std::vector<std::uint32_t> fetched_places(const Pattern<>& pattern, const SddmmShape& shape) {
  const PatternRef<std::int32_t> p = host_ref(pattern);
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>((pattern.nnz() + kSide - 1) / kSide * kSide), 0);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const auto w = static_cast<std::size_t>(i / kSide);
    auto block = shape.blocks.begin() + shape.offsets[w];
    for (std::int64_t n = p.offsets[i]; n < p.offsets[i + 1]; ++n) {
      while (*block < p.indices[n] / kSide) ++block;
      numbers[static_cast<std::size_t>(n)] = static_cast<std::uint32_t>(
          ((block - shape.blocks.begin()) * kSide + i % kSide) * kSide + p.indices[n] % kSide);
    }
  }
  return numbers;
}

}  // namespace

Csr<float> sddmm(const Executor& executor, const SddmmArgs& g) {
  constexpr const char* operation = "sparse.sddmm";
  const Csr<float>& s = g.s;
  Array<float> values(executor, {s.nnz()});
  if (s.nnz() == 0) return Csr<float>(detail::Trusted{}, s.pattern(), std::move(values));
  const Machine& machine = device_of(executor).machine();
  if (g.a.columns() > kDeepest)
    fail<NotImplemented>("{}: A has {} columns; a device takes up to {}", operation, g.a.columns(), kDeepest);
  const Pattern<> pattern = s.pattern().to(Executor::host());
  const auto with_operands = [&](SddmmOperands& o) {
    o.a_row = g.a.row_stride(), o.a_column = g.a.column_stride();
    o.b_row = g.b.row_stride(), o.b_column = g.b.column_stride();
    if (g.alpha == 0) o.k = 0;  // beta S, or zero
    o.scaled = g.alpha != 1 && o.k > 0, o.added = g.beta != 0;
  };
  const auto run = [&](auto program, const auto& shape, const std::vector<std::uint32_t>& numbers) {
    const Buffer index = upload_constant(executor, "sparse.numbers", std::as_bytes(std::span(numbers)));
    launch(executor, program, shape,
           {{"a", static_cast<const void*>(g.a.data())},
            {"b", static_cast<const void*>(g.b.data())},
            {"s", static_cast<const void*>(s.values().data())},
            {"index", static_cast<const void*>(index.data())},
            {"values", static_cast<void*>(values.data())},
            constant("alpha", std::array{g.alpha}),
            constant("beta", std::array{g.beta})});
  };
  PickedShape picked = picked_shape(pattern, g.a.columns());
  if (picks(picked, machine)) {
    with_operands(picked.operands);
    run(picked_program, picked, picked_places(pattern, picked));
  } else {
    SddmmShape shape = sddmm_shape(pattern, g.a.columns());
    if (static_cast<std::int64_t>(shape.blocks.size()) * kSide * kSide > std::int64_t{1} << 32)
      fail<NotImplemented>("{}: {} blocks of 128 x 128 hold an entry; their places do not fit 32 bits; use the host",
                           operation, shape.blocks.size());
    with_operands(shape.operands);
    run(sddmm_program, shape, fetched_places(pattern, shape));
  }
  return Csr<float>(detail::Trusted{}, s.pattern(), std::move(values));
}

}  // namespace device

}  // namespace trn::sparse

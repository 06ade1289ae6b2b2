// Sparse times sparse in blocks of 128 x 128.
//
// Partitions: rows of A's block, which the Tensor Engine transposes (0.11 us on trn2, 0.05 more for the copy to SBUF's
// side), then its columns for the products (0.22 us for each block of B in fp32), then its rows again for C. A block is
// 64 KiB, 178 ns of all DMA engines. B stays in SBUF where all of it fits, otherwise its blocks come with each product;
// transposed blocks of A stay for the groups of their row.
#include <algorithm>
#include <array>

#include <trn/core/error.hpp>
#include <trn/sparse/spgemm_programs.hpp>
#include <trn/sparse/tile_programs.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../host_data.hpp"
#include "../spgemm_kernels.hpp"
#include "ordered.hpp"
#include "rings.hpp"

namespace trn::sparse {

using namespace trn::tile;
using device::at;

namespace {

constexpr std::int64_t kSide = 128, kShared = 4;  // blocks of C in a bank
constexpr std::int64_t kTurned = 16;              // blocks of A that stay transposed
constexpr std::int64_t kPiece = 16;               // blocks of B in one load, where all of it stays
constexpr std::int64_t kMostInstructions = 200000;

class BlockSpgemm {
 public:
  BlockSpgemm(const BlockSpgemmShape& shape, const Machine& machine)
      : s_(shape), b_("sparse_spgemm", machine), rings_(b_) {
    a_ = b_.input("a", DType::Float32, {s_.a, kSide, kSide});
    right_ = b_.input("b", DType::Float32, {s_.b, kSide, kSide});
    c_ = b_.output("c", DType::Float32, {s_.c, kSide, kSide});
    if (s_.scaled) alpha_ = blocks::scalar_input(b_, "alpha");
    // Beside B: blocks of A as they come and transposed, results.
    const std::int64_t room = machine.sbuf_bytes_per_partition - (kTurned + 4 + 4 * kShared + 4) * kSide * 4 - 4096;
    if (s_.b * kSide * 4 <= room) {
      resident_ = b_.sbuf("b_blocks", kSide, {s_.b, kSide}, DType::Float32);
      loaded_.assign(static_cast<std::size_t>(blocks::ceil_div(s_.b, kPiece)), false);
    }
  }

  Program build() {
    for (std::size_t i = 0; i < s_.groups.size(); ++i) {
      // Blocks of A are transposed a group ahead, so that the Tensor Engine does not wait for their copies.
      for (const std::size_t n : {i, i + 1}) {
        if (n < s_.groups.size() && different(i) + (n == i ? 0 : different(n)) <= kTurned) {
          for (const BlockSpgemmShape::Product& p : s_.groups[n].products) (void)transposed(p.a);
        }
      }
      group(s_.groups[i]);
    }
    return device::ordered(static_stores(b_.finish()), b_.machine());
  }

 private:
  // Blocks of A that a group needs.
  std::int64_t different(std::size_t i) const {
    std::int64_t count = 0, last = -1;
    for (const BlockSpgemmShape::Product& p : s_.groups[i].products) count += p.a != last ? 1 : 0, last = p.a;
    return count;
  }

  void group(const BlockSpgemmShape::Group& g) {
    const Access sums = rings_.take("sums", Space::Psum, kSide, {g.count, kSide}, DType::Float32, 5, kShared * kSide);
    for (const BlockSpgemmShape::Product& p : g.products)
      b_.nc_matmul(sums(all, ds(p.c - g.c, p.count), all), transposed(p.a), block_row(p.b, p.count),
                   {.accumulate = p.first ? 0 : 1});
    const Access out = rings_.take("out", Space::Sbuf, kSide, {g.count, kSide}, DType::Float32, 4, kShared * kSide);
    blocks::scale(b_, out, sums, alpha_, turns_++ % 2 == 0 ? Engine::Scalar : Engine::Vector);
    b_.dma_copy(c_(ds(g.c, g.count), all, all).permute({1, 0, 2}), out);
  }

  // (128 columns, 128 rows) of block t of A.
  Access transposed(std::int32_t t) {
    for (const auto& [number, access] : turned_) {
      if (number == t) return access;
    }
    const Access stage = rings_.take("a_block", Space::Sbuf, kSide, {kSide}, DType::Float32, 4, kSide);
    b_.dma_copy(stage, at(a_, 0, t));
    const Access bank = rings_.take("a_turned", Space::Psum, kSide, {kSide}, DType::Float32, 2, kShared * kSide);
    b_.nc_transpose(bank, stage);
    const Access to = rings_.take("a_columns", Space::Sbuf, kSide, {kSide}, DType::Float32, kTurned, kSide);
    b_.tensor_copy(to, bank, Engine::Vector);
    if (static_cast<std::int64_t>(turned_.size()) == kTurned) turned_.erase(turned_.begin());
    turned_.emplace_back(t, to);
    return to;
  }

  // (128 rows, count, 128 columns) of B.
  Access block_row(std::int32_t first, std::int32_t count) {
    const auto from = [&](std::int64_t f, std::int64_t n) { return right_(ds(f, n), all, all).permute({1, 0, 2}); };
    if (!resident_.present()) {
      const Access row = rings_.take("b_row", Space::Sbuf, kSide, {count, kSide}, DType::Float32, 8, kShared * kSide);
      b_.dma_copy(row, from(first, count));
      return row;
    }
    for (std::int64_t piece = first / kPiece; piece * kPiece < first + count; ++piece) {
      if (loaded_[static_cast<std::size_t>(piece)]) continue;
      loaded_[static_cast<std::size_t>(piece)] = true;
      const std::int64_t n = std::min(kPiece, s_.b - piece * kPiece);
      b_.dma_copy(resident_(all, ds(piece * kPiece, n), all), from(piece * kPiece, n));
    }
    return resident_(all, ds(first, count), all);
  }

  const BlockSpgemmShape& s_;
  Builder b_;
  device::Rings rings_;
  Access a_, right_, c_, resident_;
  ScalarOrTile alpha_ = 1.0;
  std::vector<bool> loaded_;                             // pieces of B
  std::vector<std::pair<std::int32_t, Access>> turned_;  // blocks of A, in the order of their places
  std::int64_t turns_ = 0;
};

}  // namespace

Program block_spgemm_program(const BlockSpgemmShape& shape, const Machine& machine) {
  return BlockSpgemm(shape, machine).build();
}

BlockSpgemmShape block_spgemm_shape(const Pattern<>& a, const Pattern<>& b, const Pattern<>& c) {
  const PatternRef<std::int32_t> x = host_ref(a), y = host_ref(b), z = host_ref(c);
  BlockSpgemmShape s{x.nnz(), y.nnz(), z.nnz(), false, {}};
  for (std::int64_t i = 0; i < z.rows; ++i) {
    for (std::int64_t first = z.offsets[i]; first < z.offsets[i + 1]; first += kShared) {
      const std::int64_t count = std::min(kShared, z.offsets[i + 1] - first);
      BlockSpgemmShape::Group g{static_cast<std::int32_t>(first), static_cast<std::int32_t>(count), {}};
      std::array<bool, kShared> touched{};
      for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
        const std::int64_t row = x.indices[k];
        const std::int32_t *begin = y.indices + y.offsets[row], *end = y.indices + y.offsets[row + 1];
        for (std::int64_t q = 0; q < count; ++q) {
          const auto* found = std::lower_bound(begin, end, z.indices[first + q]);
          if (found == end || *found != z.indices[first + q]) continue;
          const auto at_b = static_cast<std::int32_t>(found - y.indices);
          bool& seen = touched[static_cast<std::size_t>(q)];
          auto* last = g.products.empty() ? nullptr : &g.products.back();
          if (last != nullptr && last->a == k && last->b + last->count == at_b && last->c + last->count == first + q &&
              last->first == !seen)
            ++last->count;
          else
            g.products.push_back({static_cast<std::int32_t>(k), at_b, static_cast<std::int32_t>(first + q), 1, !seen});
          seen = true;
        }
      }
      s.groups.push_back(std::move(g));
    }
  }
  return s;
}

namespace device {

BlockSpgemmMade plan_block_spgemm(const Executor& executor, const BlockSpgemmPlanArgs& g) {
  const Machine& machine = device_of(executor).machine();
  auto shape = std::make_shared<BlockSpgemmShape>(block_spgemm_shape(g.a, g.b, g.c));
  std::int64_t products = 0;
  for (const auto& group : shape->groups) products += static_cast<std::int64_t>(group.products.size()) + 2;
  if (products + 2 * shape->a > kMostInstructions)
    fail<NotImplemented>(
        "sparse.spgemm.plan: {} products of blocks; a device's program takes up to {} instructions: "
        "multiply on the host, or in parts",
        products, kMostInstructions);
  const double seconds = shape->groups.empty() ? 0 : roof_seconds(block_spgemm_program(*shape, machine), machine);
  return {seconds, shape};
}

void block_spgemm(const Executor& executor, const BlockSpgemmArgs& g) {
  BlockSpgemmShape shape = *static_cast<const BlockSpgemmShape*>(g.state);
  if (shape.groups.empty()) return;
  shape.scaled = g.alpha != 1;
  launch(executor, block_spgemm_program, shape,
         {{"a", static_cast<const void*>(g.a)},
          {"b", static_cast<const void*>(g.b)},
          {"c", static_cast<void*>(g.c)},
          constant("alpha", std::array{g.alpha})});
}

}  // namespace device

}  // namespace trn::sparse

// Sampled products, picked on their way out of PSUM.
//
// Partitions: k for the products, so rows of A are transposed by the Tensor Engine, a window of 128 at a time; then
// rows of the window. B stays in SBUF where it fits, otherwise its columns come with each run. A column of a run costs
// the Tensor Engine 1.7 ns in fp32 for each 128 of k; Vector and Scalar Engine take turns at moving the sums to SBUF;
// GpSimd picks there, a list of places for every row: 6.7 ns for the entry that all rows of a window have, so 27
// entries a row take it 0.3 us. Rows that have fewer pick the first place again and those values are not stored.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/sparse/sddmm_programs.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/stores.hpp>

#include "rings.hpp"
#include "tiling.hpp"

namespace trn::sparse {

using namespace trn::tile;
using device::at;
using device::kSide;

namespace {

constexpr std::int64_t kMostColumns = 1024;  // of a group: 4 KiB of SBUF a partition
constexpr std::int64_t kGap = 32;            // columns without an entry that a run goes on over: 54 ns
constexpr std::int64_t kPiece = 2048;        // columns of B that one load brings, where it stays in SBUF
constexpr std::int64_t kNumbers = 1024;      // places of a partition that one load brings

class Picked {
 public:
  Picked(const PickedShape& shape, const Machine& machine)
      : s_(shape), o_(shape.operands), b_("sparse_sddmm_picked", machine), side_(machine.partitions), rings_(b_) {
    if (o_.k > 0) {
      a_ = b_.input("a", DType::Float32, {o_.rows, o_.k}, {o_.a_row, o_.a_column});
      right_ = b_.input("b", DType::Float32, {o_.k, o_.columns}, {o_.b_row, o_.b_column});
      index_ = b_.input("index", DType::UInt32, {side_, s_.places()});
      if (o_.scaled) alpha_ = blocks::scalar_input(b_, "alpha");
    }
    if (o_.added) {
      given_ = b_.input("s", DType::Float32, {o_.nnz});
      beta_ = blocks::scalar_input(b_, "beta");
    }
    values_ = b_.output("values", DType::Float32, {o_.nnz});
  }

  Program build() {
    // Beside B: entries, sums, old values and numbers, ten places in all; rows of A as they come and transposed.
    const std::int64_t room =
        b_.machine().sbuf_bytes_per_partition - 10 * 4 * kMostColumns - 4 * 4 * chunks() * side_ - 4096;
    if (o_.k > 0 && chunks() * o_.columns * 4 <= room) {
      resident_ = b_.sbuf("b_rows", side_, {chunks(), o_.columns}, DType::Float32);
      loaded_columns_.assign(static_cast<std::size_t>(blocks::ceil_div(o_.columns, kPiece)), false);
    }
    // Rows of A are transposed a window ahead, so that the Tensor Engine does not wait for them.
    Access left, next;
    for (std::size_t i = 0; i < s_.groups.size(); ++i) {
      const PickedShape::Group& g = s_.groups[i];
      if (o_.k > 0) {
        if (i == 0) next = transposed(g.window);
        if (i == 0 || g.window != s_.groups[i - 1].window) {
          left = next;
          std::size_t after = i;
          while (after < s_.groups.size() && s_.groups[after].window == g.window) ++after;
          for (const PickedShape::Run& r : g.runs) load_columns(r);
          if (after < s_.groups.size()) next = transposed(s_.groups[after].window);
        }
      }
      group(g, left);
      first_place_ += g.places;
    }
    return static_stores(b_.finish());
  }

 private:
  std::int64_t chunks() const { return blocks::ceil_div(o_.k, side_); }
  std::int64_t depth(std::int64_t c) const { return std::min(side_, o_.k - c * side_); }
  std::int64_t rows_of(std::int64_t window) const { return std::min(side_, o_.rows - window * side_); }

  // Brings the pieces of B that a run needs, where B stays in SBUF.
  void load_columns(const PickedShape::Run& run) {
    if (!resident_.present()) return;
    for (std::int64_t piece = run.first / kPiece; piece * kPiece < run.first + run.size; ++piece) {
      if (loaded_columns_[static_cast<std::size_t>(piece)]) continue;
      loaded_columns_[static_cast<std::size_t>(piece)] = true;
      const Slice columns = ds(piece * kPiece, std::min(kPiece, o_.columns - piece * kPiece));
      for (std::int64_t c = 0; c < chunks(); ++c)
        b_.dma_copy(at(resident_, 0, c)(ds(0, depth(c)), columns), right_(ds(c * side_, depth(c)), columns));
    }
  }

  // (128, chunks, rows): A's rows of a window with k on partitions.
  Access transposed(std::int64_t w) {
    const std::int64_t rows = rows_of(w);
    const Access stage = rings_.take("stage", Space::Sbuf, rows, {o_.k}, DType::Float32, 2, o_.k);
    b_.dma_copy(stage, a_(ds(w * side_, rows), all));
    const Access left = rings_.take("left", Space::Sbuf, side_, {chunks(), side_}, DType::Float32, 2, chunks() * side_)(
        all, all, ds(0, rows));
    for (std::int64_t c = 0; c < chunks(); ++c) {
      const Access turned = rings_.take("turned", Space::Psum, depth(c), {rows}, DType::Float32, 2, side_);
      b_.nc_transpose(turned, stage(all, ds(c * side_, depth(c))));
      b_.tensor_copy(at(left, 0, c)(ds(0, depth(c)), all), turned, Engine::Vector);
    }
    return left;
  }

  void group(const PickedShape::Group& g, const Access& left) {
    const std::int64_t rows = rows_of(g.window);
    const Access entries = rings_.take("entries", Space::Sbuf, rows, {g.places}, DType::Float32, 3, kMostColumns);
    if (o_.k > 0) {
      const Access sums = rings_.take("sums", Space::Sbuf, rows, {columns_of(g)}, DType::Float32, 3, kMostColumns);
      std::int64_t done = 0;
      for (const PickedShape::Run& r : g.runs) {
        load_columns(r);
        multiply(sums(all, ds(done, r.size)), left, r);
        done += r.size;
      }
      b_.nc_n_gather(entries, sums, places(g.places)(ds(0, rows), all));
      if (o_.scaled)
        b_.tensor_scalar(entries, entries, AluOp::Multiply, rows_alpha(alpha_, rows), {.engine = Engine::Vector});
    } else {
      b_.memset(entries, 0.0);
    }
    const auto copies = [&](const Access& tile, const Access& tensor, const auto& copy) {
      for (const PickedShape::Copy& c : g.copies) {
        Access there = tensor;
        there.offset = c.entry;
        there.dims = {{c.step, c.rows}, {1, c.size}};
        copy(tile(ds(c.row, c.rows), ds(0, c.size)), there);
      }
    };
    if (o_.added) {
      const Access old = rings_.take("old", Space::Sbuf, rows, {g.places}, DType::Float32, 2, kMostColumns);
      b_.memset(old, 0.0);
      copies(old, given_, [&](const Access& tile, const Access& tensor) { b_.dma_copy(tile, tensor); });
      b_.scalar_tensor_tensor(entries, old, AluOp::Multiply, rows_alpha(beta_, rows), AluOp::Add, entries);
    }
    copies(entries, values_, [&](const Access& tile, const Access& tensor) { b_.dma_copy(tensor, tile); });
  }
  static ScalarOrTile rows_alpha(const ScalarOrTile& factor, std::int64_t rows) {
    return std::get<Access>(factor)(ds(0, rows), all);
  }
  static std::int64_t columns_of(const PickedShape::Group& g) {
    std::int64_t columns = 0;
    for (const PickedShape::Run& r : g.runs) columns += r.size;
    return columns;
  }

  // to (rows, size) = the window's rows of A times columns of B.
  void multiply(const Access& to, const Access& left, const PickedShape::Run& run) {
    const std::int64_t bank = blocks::bank_columns(b_.machine()), rows = to.partitions;
    for (std::int64_t first = 0; first < run.size; first += bank) {
      const std::int64_t size = std::min(bank, run.size - first);
      const Slice columns = ds(run.first + first, size);
      const Access sums = rings_.take("products", Space::Psum, rows, {size}, DType::Float32, 6, bank);
      for (std::int64_t c = 0; c < chunks(); ++c) {
        Access right;
        if (resident_.present()) {
          right = at(resident_, 0, c)(ds(0, depth(c)), columns);
        } else {
          right = rings_.take("right", Space::Sbuf, depth(c), {size}, DType::Float32, 8, bank);
          b_.dma_copy(right, right_(ds(c * side_, depth(c)), columns));
        }
        b_.nc_matmul(sums, at(left, 0, c)(ds(0, depth(c)), all), right, {.accumulate = c > 0 ? 1 : 0});
      }
      blocks::scale(b_, to(all, ds(first, size)), sums, 1.0, turns_++ % 2 == 0 ? Engine::Scalar : Engine::Vector);
    }
  }

  // The next `count` places: a load brings those of several groups.
  Access places(std::int64_t count) {
    if (first_place_ + count > loaded_end_) {
      loaded_ = first_place_;
      loaded_end_ = std::min(s_.places(), loaded_ + std::max(kNumbers, count));
      numbers_ = rings_.take("numbers", Space::Sbuf, side_, {loaded_end_ - loaded_}, DType::UInt32, 2, kNumbers);
      b_.dma_copy(numbers_, index_(all, ds(loaded_, loaded_end_ - loaded_)));
    }
    return numbers_(all, ds(first_place_ - loaded_, count));
  }

  const PickedShape& s_;
  const SddmmOperands& o_;
  Builder b_;
  const std::int64_t side_;
  device::Rings rings_;
  Access a_, right_, index_, given_, values_, resident_, numbers_;
  ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
  std::vector<bool> loaded_columns_;  // pieces of B
  std::int64_t first_place_ = 0, loaded_ = 0, loaded_end_ = 0, turns_ = 0;
};

// Rows of one window that have entries in columns [low, high), as copies: neighbours with equally many entries whose
// first ones are equally far apart go together.
std::vector<PickedShape::Copy> copies_of(const PatternRef<std::int32_t>& p, std::int64_t first, std::int64_t rows,
                                         std::int64_t low, std::int64_t high) {
  std::vector<PickedShape::Copy> copies;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int32_t *begin = p.indices + p.offsets[first + r], *end = p.indices + p.offsets[first + r + 1];
    const std::int32_t *from = std::lower_bound(begin, end, low), *to = std::lower_bound(from, end, high);
    if (from == to) continue;
    const std::int64_t entry = from - p.indices, size = to - from;
    if (!copies.empty()) {
      PickedShape::Copy& c = copies.back();
      const bool next = c.row + c.rows == r && c.size == size;
      if (next && (c.rows == 1 || entry == c.entry + c.rows * c.step)) {
        if (c.rows == 1) c.step = entry - c.entry;
        ++c.rows;
        continue;
      }
    }
    copies.push_back({r, 1, size, entry, size});
  }
  return copies;
}

}  // namespace

std::int64_t PickedShape::places() const {
  std::int64_t sum = 0;
  for (const Group& g : groups) sum += g.places;
  return sum;
}
std::int64_t PickedShape::copies() const {
  std::int64_t sum = 0;
  for (const Group& g : groups) sum += static_cast<std::int64_t>(g.copies.size());
  return sum;
}

Program picked_program(const PickedShape& shape, const Machine& machine) { return Picked(shape, machine).build(); }

bool picks(const PickedShape& shape, const Machine& machine) {
  return !machine.indirect_dma || shape.copies() <= kMostPickedCopies;
}

PickedShape picked_shape(const Pattern<>& pattern, std::int64_t k) {
  const std::int64_t m = pattern.rows(), n = pattern.columns();
  PickedShape s{{m, n, k, pattern.nnz(), std::max<std::int64_t>(k, 1), 1, n, 1, false, false}, {}};
  const PatternRef<std::int32_t> p = host_ref(pattern);
  std::vector<std::int32_t> columns;
  for (std::int64_t w = 0; w * kSide < m; ++w) {
    const std::int64_t first = w * kSide, rows = std::min(kSide, m - first);
    columns.assign(p.indices + p.offsets[first], p.indices + p.offsets[first + rows]);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (auto c = columns.begin(); c != columns.end();) {
      PickedShape::Group g{w, 0, {}, {}};
      std::int64_t size = 0;
      const std::int64_t low = *c;
      for (; c != columns.end(); ++c) {
        const bool joins = !g.runs.empty() && *c - (g.runs.back().first + g.runs.back().size) <= kGap;
        const std::int64_t more = joins ? *c + 1 - (g.runs.back().first + g.runs.back().size) : 1;
        if (size + more > kMostColumns) break;
        if (joins)
          g.runs.back().size += more;
        else
          g.runs.push_back({*c, 1});
        size += more;
      }
      g.copies = copies_of(p, first, rows, low, c == columns.end() ? n : *c);
      for (const PickedShape::Copy& x : g.copies) g.places = std::max(g.places, x.size);
      s.groups.push_back(std::move(g));
    }
  }
  return s;
}

std::vector<std::uint32_t> picked_places(const Pattern<>& pattern, const PickedShape& s) {
  const PatternRef<std::int32_t> p = host_ref(pattern);
  const std::int64_t places = s.places();
  std::vector<std::uint32_t> index(static_cast<std::size_t>(kSide * places), 0);
  std::int64_t first = 0;
  for (const PickedShape::Group& g : s.groups) {
    for (const PickedShape::Copy& c : g.copies) {
      for (std::int64_t r = 0; r < c.rows; ++r) {
        auto run = g.runs.begin();
        std::int64_t before = 0;  // columns of earlier runs
        for (std::int64_t e = 0; e < c.size; ++e) {
          const std::int64_t column = p.indices[c.entry + r * c.step + e];
          for (; column >= run->first + run->size; ++run) before += run->size;
          index[static_cast<std::size_t>((c.row + r) * places + first + e)] =
              static_cast<std::uint32_t>(before + column - run->first);
        }
      }
    }
    first += g.places;
  }
  return index;
}

}  // namespace trn::sparse

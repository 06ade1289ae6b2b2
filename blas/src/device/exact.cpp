// Precision Exact on the device: the program that slices, multiplies modulo every p, reduces and recombines.
//
//   slices       the numbers of both operands become limbs, limbs become residues: exact_slices.hpp
//   product      per modulus and block of C: up to 2048 products of residues are exact in a PSUM sum, because 2048 *
//     90^2 < 2^24; then the
//                sum leaves PSUM reduced mod p (Scalar rounds the quotient, Vector subtracts). Longer sums go in chunks
//                  of 2048, and what
//                the chunks before left, |r| <= 92, is added to the sum before it is reduced
//   recombination the digits become integers, limbs of 24 bits: exact_recombination.hpp
//
// C is computed as its transpose, op(B)^T on partitions, so that the recombined integers come out row by row; a C that
// is wider than high as itself, and they come out column by column: the fewer panels the better.
//
// The moduli are taken one after another over all of C, in groups of 2, 4, 4, ...: a group's residues come from one
// load of limbs, and are made while the group before it multiplies, a step between any two blocks, so that no engine's
// queue holds up another. Where the left side has four panels or more, the Tensor Engine waits for the right side and
// one panel: beside the products of a panel with the first two moduli the next one is sliced. Else it waits for the
// residues of the first two.
//
// Of a lower triangle (syrk) strips of columns are computed, each with the rows from its first column on.
//
// The last four moduli go panel by panel, and beside the products of a panel the one before it is recombined: half of
// PSUM is the recombination's then.
//
// Modelled time on trn2 at 4096^3 with 16 moduli: 38.6 ms, 3.56 TF/s; Tensor 80 % busy, Vector 63, Scalar 52, GpSimd
// 45. 16 passes at the Tensor Engine's peak are 28.5 ms. For 3.5 ms it has nothing to do: Vector is 73 % busy with the
// limbs and first residues of op(A). Then, for 6.4 ms, Vector and what waits for it leave it two thirds of its time,
// and from the second group on products are bound by the Tensor Engine (a panel of op(B) is read once per modulus,
// op(A) once per panel: 4.8 GB, limbs 1.6 GB); recombination is shared like the residues, and takes a millisecond after
// the last product.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <trn/blas/exact_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/stores.hpp>

#include "exact_recombination.hpp"
#include "exact_slices.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::drop;
using device::Recombine;
using device::Slices;

namespace {

class ExactKernel {
 public:
  ExactKernel(const ExactShape& shape, const Machine& machine)
      : s_(shape),
        b_("blas_exact", machine),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)),
        depth_(shape.depth()),
        k_tiles_(ceil_div(depth_, side_)) {
    // The block of columns of op(B) whose panel leaves room for the rest.
    const std::int64_t room = machine.sbuf_bytes_per_partition / 5 * 2, two = size_bytes(DType::BFloat16);
    block_ = 4 * side_;
    while (block_ > side_ && k_tiles_ * block_ * two > room / 2) block_ /= 2;
    panel_buffers_ = 2 * k_tiles_ * block_ * two <= room ? 2 : 1;
    if (k_tiles_ * block_ * two > room) {
      fail<NotImplemented>(
          "blas.gemm: precision 'exact' takes products of up to {} terms on {}, this one has {}; split k",
          room / two / side_ * side_, machine.name, depth_);
    }
  }

  Program build() {
    const bool complex = is_complex(s_.in);
    const std::int64_t words = real_of(s_.in) == DType::Float64 ? 2 : 1, all_words = words * (complex ? 2 : 1),
                       rows = s_.rows();
    const Access a = b_.input("a", DType::UInt32, {s_.m, s_.k, all_words}, {s_.am * all_words, s_.ak * all_words, 1});
    const Access b =
        s_.same ? a : b_.input("b", DType::UInt32, {s_.n, s_.k, all_words}, {s_.bn * all_words, s_.bk * all_words, 1});
    const std::int64_t of_a = s_.same ? 0 : s_.n,
                       numbers = of_a + rows;  // the rows of op(A) come after the columns of op(B)
    left_ = {0, s_.n}, right_ = {of_a, rows};
    if (s_.by_columns()) std::swap(left_, right_);
    const Access offsets = b_.input("offsets", DType::Float32, {numbers, 1});
    const Access table = b_.input("table", DType::Float32, {device::kTableRows, s_.moduli});
    const exact::Recombination constants = exact::recombination(s_.moduli);
    const std::int64_t group = Recombine::group(s_.moduli, b_.machine());
    const Access weights = b_.input("weights", DType::Float16, {group * s_.moduli, (2 * constants.limbs + 2) * group});
    const Shape shape{right_.count, constants.limbs, left_.count};
    const Access limbs = s_.lower ? b_.partial_output("limbs", b_.input("limbs_in", DType::Float32, shape))
                                  : b_.output("limbs", DType::Float32, shape);
    rows_ = {numbers, b_.scratch("operand_limbs", DType::Float32, {s_.limbs, numbers, depth_}),
             b_.scratch("residues", DType::BFloat16, {s_.moduli, numbers, depth_})};
    digits_ = b_.scratch("digits", DType::Float16, {left_.count, s_.moduli, right_.count});

    make_strips();
    slices_.emplace(b_, s_, rows_, offsets, table, strips_.size() == 1);
    const Slices::Source from_a{a, {0, false, of_a, 0}}, from_b{b, {0, false, 0, 0}};
    const Slices::Moduli earliest{0, std::min<std::int64_t>(kFirst, s_.moduli)};
    if (streams()) {
      left_source_ = s_.by_columns() ? from_a : from_b;
      const std::int64_t whole = left_.count / block_ * block_;
      slices_->slice(s_.by_columns() ? from_b : from_a, {0, right_.count}, earliest);
      slices_->slice(left_source_, {0, block_}, earliest);
      if (whole < left_.count) slices_->slice(left_source_, {whole, left_.count - whole}, earliest);
      products([&] { recombine_.emplace(b_, s_.moduli, digits_, weights, limbs); });
      return tile::static_stores(b_.finish());
    }
    std::vector<Slices::Source> first, second;
    if (!s_.same) first.push_back(from_b);
    first.push_back(from_a);
    slices_->limbs(first);
    if (complex) {
      if (!s_.same) second.push_back({b, {words, s_.conj_b, 0, s_.k}});
      second.push_back({a, {words, !s_.conj_a, of_a, s_.k}});
      slices_->limbs(second);
      slices_->limbs({{a, {words, s_.conj_a, of_a + s_.m, 0}}, {a, {0, false, of_a + s_.m, s_.k}}});
    }
    slices_->residues(earliest, {0, rows_.count}, 0, depth_);
    products([&] { recombine_.emplace(b_, s_.moduli, digits_, weights, limbs); });
    return tile::static_stores(b_.finish());
  }

 private:
  struct Range {
    std::int64_t first, count;
  };
  // Of the left side, and what is wanted of the right one: columns of C and rows of them (or the other way round).
  struct Strip {
    std::int64_t first, columns;
    std::vector<Range> rows;
    [[nodiscard]] std::int64_t blocks(std::int64_t size) const {
      std::int64_t sum = 0;
      for (const Range& r : rows) sum += r.count / size;
      return sum;
    }
  };
  // Residues that are made beside a product: per strip, `share` rows from `first` on while the first panel multiplies,
  // and so on.
  struct Beside {
    Slices::Moduli moduli;
    struct Share {
      Affine first;
      std::int64_t share;
    };
    std::vector<Share> strips;
  };

  // All of C, or of a lower triangle up to eight strips of two panels or more, each with the rows from its first column
  // on. Of two operands that are not large the residues bind, not the products: all of C, whose recombination has
  // products to hide behind, takes less time than strips.
  void make_strips() {
    if (!s_.lower || (!s_.same && left_.count <= kWholePanels * block_)) {
      strips_ = {{0, left_.count, {{0, right_.count}}}};
      return;
    }
    const std::int64_t panels = s_.n / block_, count = std::clamp<std::int64_t>(panels / 2, 1, kStrips);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t first = panels * i / count * block_,
                         end = i + 1 < count ? panels * (i + 1) / count * block_ : s_.n;
      Strip strip{first, end - first, {{first, s_.m - first}}};
      if (is_complex(s_.in)) strip.rows.push_back({s_.m + first, s_.m - first});
      strips_.push_back(std::move(strip));
    }
  }

  // Whether the last moduli go panel by panel: there is a panel to recombine beside another, and the tiles of both fit.
  bool by_panels() const {
    if (strips_.size() > 1 || left_.count < 2 * block_ || block_ < kGroup * Recombine::kColumnsBeside) return false;
    const std::int64_t tiles = exact::kTermsMax / side_, whole = k_tiles_ / tiles, rest = k_tiles_ % tiles,
                       elements = block_ / side_ * bank_, two = size_bytes(DType::BFloat16), four = 2 * two;
    // A chunk of k with its quotients, and its totals where it adds to those before.
    const auto chunk = [&](std::int64_t count, std::int64_t words) {
      return count * bank_ * two + words * elements * four;
    };
    std::int64_t bytes = panel_buffers_ * k_tiles_ * block_ * two + 2 * elements * two +
                         chunk(std::min(tiles, k_tiles_), 1) + Recombine::bytes_beside(s_.moduli, bank_, b_.machine());
    if (whole > 1) bytes += (whole > 2 ? 2 : 1) * chunk(tiles, 2);
    if (whole > 0 && rest > 0) bytes += chunk(rest, 2);
    return bytes + kConstants <= b_.machine().sbuf_bytes_per_partition;
  }

  // Whether the left side is sliced panel by panel beside the first products: both are real, there are panels enough, a
  // block has two chunks of k or one, and the tiles of both fit. With four limbs Vector would be behind for too long.
  bool streams() const {
    if (is_complex(s_.in) || s_.same || s_.limbs > 3 || strips_.size() > 1 || left_.count < kStreamedPanels * block_)
      return false;
    const std::int64_t tiles = exact::kTermsMax / side_, behind = std::max<std::int64_t>(0, k_tiles_ - tiles);
    if (behind > tiles) return false;
    const std::int64_t two = size_bytes(DType::BFloat16), four = 2 * two, pieces = block_ / side_,
                       row = std::min<std::int64_t>(2, pieces) * bank_ * four;  // of quotients or totals
    const std::int64_t bytes = panel_buffers_ * k_tiles_ * block_ * two + k_tiles_ * bank_ * two +
                               2 * pieces * bank_ * two + (behind > 0 ? 3 : 1) * row +
                               Slices::bytes_beside(s_, kFirst, kGroup, b_.machine());
    return bytes + kConstants <= b_.machine().sbuf_bytes_per_partition;
  }

  // Groups of 2, 4, 4, ... moduli. Where the last ones go panel by panel they are four, so what is left over comes
  // second.
  std::vector<std::int64_t> make_groups() const {
    std::vector<std::int64_t> groups;
    const std::int64_t behind = s_.moduli - kFirst - kGroup;
    for (std::int64_t left = s_.moduli; left > 0; left -= groups.back()) {
      const bool second = groups.size() == 1 && by_panels() && behind > 0 && behind % kGroup > 0;
      groups.push_back(std::min(left, groups.empty() ? kFirst : second ? behind % kGroup : kGroup));
    }
    return groups;
  }

  // The constants of the recombination are loaded where they are needed first.
  void products(const std::function<void()>& begin_recombination) {
    // Work is shared out by the blocks that each panel multiplies.
    std::int64_t blocks = 0;
    for (const Strip& s : strips_) blocks += s.columns / block_ * s.blocks(bank_);
    const auto several = [&](const Affine& first, std::int64_t count, const std::optional<Slices::Moduli>& next) {
      std::vector<std::int64_t> shares;
      std::int64_t once = 0;  // rows made beside one modulus
      for (const Strip& s : strips_) {
        shares.push_back(next && blocks > 0 ? rows_.count * s.blocks(bank_) / (count * blocks) / side_ * side_ : 0);
        once += shares.back() * (s.columns / block_);
      }
      for (std::size_t s = 0; s < shares.size() && next; ++s) {  // what rounding down has left
        const std::int64_t more = strips_[s].columns / block_ * side_;
        if (more == 0 || (once + more) * count > rows_.count) continue;
        shares[s] += side_;
        once += more;
      }
      if (next && once * count < rows_.count)
        slices_->residues(*next, {once * count, rows_.count - once * count}, 0, depth_);
      repeat("modulus", count, [&](const Affine& h) {
        if (once == 0) return product(first + h, std::nullopt);
        Beside beside{*next, {}};
        std::int64_t before = 0;
        for (std::size_t s = 0; s < strips_.size(); ++s) {
          beside.strips.push_back({h * once + before, shares[s]});
          before += shares[s] * (strips_[s].columns / block_);
        }
        product(first + h, beside);
      });
    };
    const std::vector<std::int64_t> groups = make_groups();
    const bool panelwise = by_panels() && groups.back() == kGroup;
    const auto next = [&](std::size_t g, const Affine& first) {
      return g + 1 < groups.size() ? std::optional(Slices::Moduli{first + groups[g], groups[g + 1]}) : std::nullopt;
    };
    std::int64_t first = 0;
    std::size_t g = 0;
    if (streams()) {
      first_group(groups.front(), next(0, 0));
      first = groups.front(), g = 1;
    }
    while (g < groups.size()) {
      std::size_t alike = g;  // groups that are followed by one of their size are one loop
      while (alike + 1 < groups.size() && groups[alike] == kGroup && groups[alike + 1] == kGroup) ++alike;
      if (panelwise && g + 1 == groups.size()) {
        begin_recombination();
        return last_group(first);
      }
      const std::size_t repeats = std::max<std::size_t>(1, alike - g);
      repeat("group", static_cast<std::int64_t>(repeats),
             [&](const Affine& i) { several(i * groups[g] + first, groups[g], next(g, i * groups[g] + first)); });
      first += static_cast<std::int64_t>(repeats) * groups[g];
      g += repeats;
    }
    begin_recombination();
    for (const Strip& strip : strips_) {
      for (const Range& r : strip.rows) recombine_->build({strip.first, strip.columns, r.first, r.count});
    }
  }

  // The first moduli panel by panel. Beside a panel's products the panel after it is sliced, and residues of the next
  // moduli are made: of this panel, and of its share of the right side.
  void first_group(std::int64_t count, const std::optional<Slices::Moduli>& next) {
    const std::int64_t panels = left_.count / block_, rest = left_.count % block_, own = block_ / count,
                       share = right_.count / (panels * count) / side_ * side_;
    const auto multiply = [&](const Affine& lb, std::int64_t columns, bool slices, bool whole) {
      b_.sequential("modulus", count, [&](Affine h) {
        const Affine l0 = lb * block_;
        const auto beside = [&](const Affine& k0, std::int64_t width) {
          Slices::Steps steps, more;
          if (slices) {
            steps = slices_->slice_steps(left_source_, {l0 + block_ + h * own, own}, k0, width, {0, count});
          }
          if (next && whole) {
            std::vector<Slices::Rows> rows{{l0 + left_.first + h * own, own}};
            if (share > 0) rows.push_back({lb * (count * share) + h * share + right_.first, share});
            more = slices_->residue_steps(*next, rows, k0, width);
          }
          return merged(std::move(steps), std::move(more));
        };
        const Access tile =
            b_.sbuf("panel", std::min(side_, depth_), {k_tiles_, columns}, DType::BFloat16, panel_buffers_);
        load(tile, h, l0 + left_.first, columns, 0, k_tiles_);
        // Up to eight blocks are written out, with a share of k beside them; blocks beyond the last share have none.
        const std::int64_t blocks = right_.count / bank_, together = std::clamp<std::int64_t>(blocks, 1, kTogether),
                           unit = Slices::kColumns,
                           runs = std::min(blocks / together, std::max<std::int64_t>(1, depth_ / unit)),
                           share_of_k = runs <= 1 ? depth_ : depth_ / runs / unit * unit, done = runs * share_of_k;
        if (done < depth_) {
          for (const auto& step : beside(done, depth_ - done)) step();
        }
        b_.sequential("rb", runs, [&](Affine run) {
          const Slices::Steps all = beside(run * share_of_k, share_of_k);
          Reused reused;
          for (std::int64_t i = 0; i < together; ++i) {
            const auto at = [&](std::int64_t part) {
              return all.begin() + static_cast<std::ptrdiff_t>(all.size()) * part / together;
            };
            const Recombine::Steps steps(at(i), at(i + 1));
            block(tile, h, l0, columns, run * (together * bank_) + i * bank_, bank_, &steps, &reused);
          }
        });
        const std::int64_t first = runs * together * bank_;
        for_blocks(b_, "rb", right_.count - first, bank_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t wide) {
          const Recombine::Steps none;
          block(tile, h, l0, columns, r0 + first, wide, &none);
        });
      });
    };
    b_.sequential("lb", panels - 1, [&](Affine lb) { multiply(lb, block_, true, true); });
    multiply(panels - 1, block_, false, true);
    if (rest > 0) multiply(panels, rest, false, false);
    if (!next) return;
    const std::int64_t done = panels * count * share;
    if (done < right_.count) slices_->residues(*next, {right_.first + done, right_.count - done}, 0, depth_);
    if (rest > 0) slices_->residues(*next, {left_.first + panels * block_, rest}, 0, depth_);
  }

  // Both, evenly one beside the other.
  static Slices::Steps merged(Slices::Steps x, Slices::Steps y) {
    Slices::Steps both;
    std::size_t j = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      both.push_back(std::move(x[i]));
      for (; j < y.size() * (i + 1) / x.size(); ++j) both.push_back(std::move(y[j]));
    }
    for (; j < y.size(); ++j) both.push_back(std::move(y[j]));
    return both;
  }

  // Blocks that have a piece of k each, and its width, a power of two.
  struct PiecesOfK {
    std::int64_t blocks, width;
  };
  PiecesOfK pieces_of_k(std::int64_t blocks) const {
    std::int64_t width = side_;
    while (2 * width * std::max<std::int64_t>(1, blocks) <= depth_) width *= 2;
    return {std::min(blocks, depth_ / width), width};
  }

  // The last four moduli panel by panel, so that beside a panel's products the panel before it is recombined: a
  // quarter of its columns beside each modulus, a block of rows beside each block.
  void last_group(const Affine& first) {
    const std::int64_t panels = left_.count / block_, rest = left_.count % block_, done = (panels - 1) * block_,
                       share = block_ / kGroup;
    const auto moduli = [&](const Affine& l0, std::int64_t columns, const std::optional<Affine>& before) {
      b_.sequential("modulus", kGroup, [&](Affine h) {
        const Access tile =
            b_.sbuf("panel", std::min(side_, depth_), {k_tiles_, columns}, DType::BFloat16, panel_buffers_);
        load(tile, first + h, l0 + left_.first, columns, 0, k_tiles_);
        for_blocks(b_, "rb", right_.count, bank_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t width) {
          Recombine::Steps steps;
          if (before) steps = recombine_->beside({*before + h * share, share, r0, width});
          block(tile, first + h, l0, columns, r0, width, &steps);
        });
      });
    };
    moduli(0, block_, std::nullopt);
    b_.sequential("lb", panels - 1, [&](Affine lb) { moduli((lb + 1) * block_, block_, lb * block_); });
    if (rest > 0) moduli(done + block_, rest, Affine(done));
    const std::int64_t left = rest > 0 ? done + block_ : done;
    recombine_->build({left, left_.count - left, 0, right_.count});
  }

  // A loop over moduli. Strips have loops of their own, and loops inside one loop would share memory badly: there every
  // modulus is written out.
  void repeat(const char* variable, std::int64_t count, const Builder::Body& body) {
    if (strips_.size() == 1) return b_.sequential(variable, count, body);
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }

  // digits = C mod p_i. Beside it residues are made, a piece of k per block of a panel and the rest of k before the
  // panel's first block.
  void product(const Affine& i, const std::optional<Beside>& beside) {
    for (std::size_t s = 0; s < strips_.size(); ++s) {
      const Strip& strip = strips_[s];
      const std::int64_t panels = strip.columns / block_, share = beside ? beside->strips[s].share : 0;
      b_.parallel("lb", panels, [&](Affine lb) {
        std::optional<Slices::Rows> made;
        if (share > 0) made = Slices::Rows{beside->strips[s].first + lb * share, share};
        panel(i, strip, lb * block_ + strip.first, block_, made, beside);
      });
      if (strip.columns > panels * block_)
        panel(i, strip, strip.first + panels * block_, strip.columns - panels * block_, std::nullopt, beside);
    }
  }

  void panel(const Affine& i, const Strip& strip, const Affine& l0, std::int64_t count,
             const std::optional<Slices::Rows>& made, const std::optional<Beside>& beside) {
    const Access tile = b_.sbuf("panel", std::min(side_, depth_), {k_tiles_, count}, DType::BFloat16, panel_buffers_);
    load(tile, i, l0 + left_.first, count, 0, k_tiles_);
    // Every block of the first range has its piece of k; the rest of k comes before them.
    const auto [blocks, width] = pieces_of_k(strip.rows.front().count / bank_);
    const std::int64_t shared = made ? blocks : 0, done = shared * width;
    if (made && done < depth_) slices_->residues(beside->moduli, *made, done, depth_ - done);
    b_.parallel("rb", shared, [&, width = width](Affine rb) {
      slices_->residues(beside->moduli, *made, rb * width, width);
      block(tile, i, l0, count, rb * bank_ + strip.rows.front().first, bank_);
    });
    for (std::size_t r = 0; r < strip.rows.size(); ++r) {
      const std::int64_t first = strip.rows[r].first + (r == 0 ? shared * bank_ : 0),
                         left = strip.rows[r].count - (r == 0 ? shared * bank_ : 0);
      for_blocks(b_, "rb", left, bank_, LoopKind::Parallel,
                 [&](const Affine& r0, std::int64_t columns) { block(tile, i, l0, count, r0 + first, columns); });
    }
  }

  // dst (128, tiles, rows) <- residues of rows [r0, r0 + rows), tiles [first, first + tiles) of k; the last tile of all
  // may be shorter.
  void load(const Access& dst, const Affine& i, const Affine& r0, std::int64_t rows, const Affine& first,
            std::int64_t tiles) {
    const Access plane = drop(rows_.residues(ds(i, 1), all, all), 0);
    const std::int64_t rest = short_tile(first, tiles), whole = tiles - (rest > 0 ? 1 : 0);
    if (whole > 0) {
      const Access src = plane(ds(r0, rows), ds(first * side_, whole * side_)).split(1, side_);  // (rows, tiles, 128)
      b_.dma_transpose(dst(all, ds(0, whole), all), src);
    }
    if (rest > 0) {
      const Access src = plane(ds(r0, rows), ds((first + whole) * side_, rest)).split(1, rest);
      b_.dma_transpose(dst(ds(0, rest), ds(whole, 1), all), src);
    }
  }

  // The depth of the last of these tiles when it is the short one at the end of k, else 0.
  std::int64_t short_tile(const Affine& first, std::int64_t tiles) const {
    return first.is_constant() && first.constant() + tiles == k_tiles_ ? depth_ % side_ : 0;
  }

  // [l0, l0 + rows) of the left side by [r0, r0 + columns) of the right one, mod p_i. Steps of other work are run
  // between its pieces, which then leave PSUM one by one, and half of PSUM is left to those steps.
  // Blocks that are written out one after another go through the same tiles.
  struct Reused {
    std::map<std::string, Access> tiles;
    std::int64_t block = 0;
  };
  void block(const Access& panel, const Affine& i, const Affine& l0, std::int64_t rows, const Affine& r0,
             std::int64_t columns, const Recombine::Steps* steps = nullptr, Reused* reused = nullptr) {
    const std::int64_t pieces = ceil_div(rows, side_), height = std::min(rows, side_),
                       whole = depth_ / exact::kTermsMax;
    const std::int64_t tiles = exact::kTermsMax / side_, rest = k_tiles_ - whole * tiles;
    const std::int64_t more = std::max<std::int64_t>(0, whole - 1);
    const auto kept = [&](const std::string& name, const auto& make) {
      if (!reused) return make();
      const auto found = reused->tiles.find(name);
      return found != reused->tiles.end() ? found->second : reused->tiles.emplace(name, make()).first->second;
    };
    const auto sbuf = [&](const std::string& name, const std::string& number, Shape shape, DType dtype,
                          std::int64_t high, std::int64_t buffers) {
      return kept(name + number, [&] { return b_.sbuf(name, high, shape, dtype, reused ? 1 : buffers); });
    };
    const Access digits =
        sbuf("digit", reused ? std::to_string(reused->block++ % 2) : "", {pieces, columns}, DType::Float16, height, 2);
    const Access own = steps ? kept("sums", [&] { return b_.psum("sums", height, {pieces, bank_}); }) : Access{};
    std::int64_t chunks = 0;
    // Chunks in a loop are written once: steps stand beside the others.
    const std::int64_t places = pieces * (1 + (more == 1 ? 1 : 0) + (whole > 0 && rest > 0 ? 1 : 0));
    std::int64_t place = 0;
    std::size_t step = 0;
    const auto run_steps = [&] {
      const std::size_t until = steps->size() * static_cast<std::size_t>(++place) / static_cast<std::size_t>(places);
      for (; step < until; ++step) (*steps)[step]();
    };
    // Two buffers where one chunk follows another through the same tile.
    const auto chunk = [&](const Affine& first, std::int64_t count, bool adds, std::int64_t buffers) {
      const std::string number = std::to_string(chunks++);
      const Access right = sbuf("chunk", number, {count, columns}, DType::BFloat16, std::min(side_, depth_), buffers);
      load(right, i, r0 + right_.first, columns, first, count);
      const Access sums = steps ? own : b_.psum("sums", height, {pieces, bank_}, DType::Float32, buffers);
      const auto multiply_piece = [&](std::int64_t piece) {
        multiply(drop(sums(ds(0, rows_of(piece, rows)), ds(piece, 1), ds(0, columns)), 0), panel, right, piece, rows,
                 first, count);
      };
      const bool once = first.is_constant() || more <= 1;
      if (!steps) {
        for (std::int64_t piece = 0; piece < pieces; ++piece) multiply_piece(piece);
      }
      // Pieces that leave one by one follow one another through two tiles.
      const std::int64_t at_once = steps ? std::min<std::int64_t>(2, pieces) : pieces;
      const Access quotient = sbuf("quotient", number, {at_once, columns}, DType::Int32, height, buffers);
      const Access total = adds ? sbuf("total", number, {at_once, columns}, DType::Float32, height, buffers) : Access{};
      const auto reduce = [&](std::int64_t piece, std::int64_t n, std::int64_t high) {
        const auto here = [&](const Access& x) { return x(ds(0, high), ds(piece, n), ds(0, columns)); };
        const auto turn = [&](const Access& x) {
          return x(ds(0, high), ds(steps ? piece % 2 : piece, n), ds(0, columns));
        };
        if (adds) b_.tensor_tensor(turn(total), here(sums), here(digits), AluOp::Add, Engine::Vector);
        const Access x = adds ? turn(total) : here(sums), q = turn(quotient);
        slices_->divide(q, x, i);
        if (steps && once) run_steps();
        slices_->subtract(here(digits), x, q, i);
      };
      for (std::int64_t piece = 0; steps && piece < pieces; ++piece) {
        multiply_piece(piece);
        reduce(piece, 1, rows_of(piece, rows));
      }
      if (steps) return;
      // All pieces at once when they are equally high.
      const bool even = rows % side_ == 0 || pieces == 1;
      for (std::int64_t piece = 0; piece < (even ? 1 : pieces); ++piece)
        reduce(piece, even ? pieces : 1, even ? height : rows_of(piece, rows));
    };
    chunk(0, std::min(tiles, k_tiles_), false, k_tiles_ > tiles ? 1 : 2);
    b_.sequential("kc", more, [&](Affine c) { chunk((c + 1) * tiles, tiles, true, more > 1 ? 2 : 1); });
    if (whole > 0 && rest > 0) chunk(Affine(whole * tiles), rest, true, 1);
    const DmaOptions apart = device::apart(b_.machine());
    const std::int64_t whole_pieces = rows / side_, last = rows % side_;
    if (whole_pieces > 0) {
      b_.dma_copy(
          drop(digits_(ds(l0, whole_pieces * side_), ds(i, 1), ds(r0, columns)), 1).split(0, side_).permute({1, 0, 2}),
          digits(all, ds(0, whole_pieces), all), apart);
    }
    if (last > 0) {
      b_.dma_copy(drop(digits_(ds(l0 + whole_pieces * side_, last), ds(i, 1), ds(r0, columns)), 1),
                  drop(digits(ds(0, last), ds(whole_pieces, 1), all), 0), apart);
    }
  }

  std::int64_t rows_of(std::int64_t piece, std::int64_t rows) const { return std::min(side_, rows - piece * side_); }

  void multiply(const Access& sums, const Access& panel, const Access& right, std::int64_t piece, std::int64_t rows,
                const Affine& first, std::int64_t tiles) {
    const std::int64_t rest = short_tile(first, tiles);
    const auto one = [&](const Affine& t, std::int64_t deep) {
      b_.nc_matmul(sums, drop(panel(ds(0, deep), ds(t + first, 1), ds(piece * side_, rows_of(piece, rows))), 0),
                   drop(right(ds(0, deep), ds(t, 1), all), 0), {.accumulate = t});
    };
    b_.sequential("kt", tiles - (rest > 0 ? 1 : 0), [&](Affine t) { one(t, side_); });
    if (rest > 0) one(Affine(tiles - 1), rest);
  }

  static constexpr std::int64_t kFirst = 2, kGroup = 4, kStrips = 8, kWholePanels = 8, kConstants = 2048, kTogether = 8,
                                kStreamedPanels = 4;

  ExactShape s_;
  Builder b_;
  std::int64_t side_, bank_, depth_, k_tiles_, block_ = 0, panel_buffers_ = 1;
  Slices::Numbers rows_;    // the columns of op(B), then the rows of op(A)
  Range left_{}, right_{};  // of these: the stationary side, whose panels stay in SBUF, and the moving one
  std::vector<Strip> strips_;
  Access digits_;
  std::optional<Slices> slices_;
  Slices::Source left_source_{};  // where streams()
  std::optional<Recombine> recombine_;
};

}  // namespace

tile::Program exact_program(const ExactShape& shape, const Machine& machine) {
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "blas.gemm: a program needs m, n, k >= 1, got {} x {} x {}",
          shape.m, shape.n, shape.k);
  require(shape.moduli >= 1 && shape.moduli <= exact::kModuliMax, "blas.gemm: {} moduli; there are {}", shape.moduli,
          exact::kModuliMax);
  const DType real = real_of(shape.in);
  require(real == DType::Float64 || real == DType::Float32,
          "blas.gemm: precision 'exact' takes float64 and float32, not {}", name(shape.in));
  require(!shape.lower || shape.m == shape.n, "blas.gemm: a triangle of a {} x {} product; C must be square", shape.m,
          shape.n);
  require(!shape.same || (shape.m == shape.n && (!is_complex(shape.in) || shape.conj_a != shape.conj_b)),
          "blas.gemm: {} x {} {} is not a product with its own conjugate transpose", shape.m, shape.n, name(shape.in));
  return ExactKernel(shape, machine).build();
}

}  // namespace trn::blas

// Products of a long group of indices L with a short one S.
//
//   D[l, s] = alpha sum_k X[l, k] Y[k, s] + beta C[l, s]
//
// A matmul lasts as long as its moving operand has columns: S, 64 cycles at least, where the long operand moving would
// take 128 or more for the same work. So 128 elements of L are stationary at a time and the sums lie (L, S) in PSUM.
//
// Every index of L is cut into blocks of p times f elements: P, the product of the p, are the partitions of a block,
// and F, the product of the f, are *walked*: each of their values is a matmul of its own, whose sums lie side by side
// in the free dimension, so that a block leaves as one store:
//
//   for each block:                    X (k, block) in runs along X's unit index
//     for each value of F:             sums (P, S), as many side by side as a PSUM bank holds
//     tile (P, F and S in D's order)   D in runs along D's unit index, whichever operand it comes from
//
// The read pattern of the stationary tile (p elements, f apart) and the pattern in which sums are copied out of PSUM do
// all reordering. Where X and D have one unit index, p and f share it: each partition has f neighbours and D's row of
// them. p and f are those with the least max(Tensor Engine, DMA, copies) by the machine's table. What blocks do not
// cover is covered again, in blocks of its own.
//
// With k <= 64 on machines whose array works in parts, several blocks at once lie below one another in SBUF and
// multiply side by side (array_rows.hpp).
#include "skinny_product.hpp"

#include <algorithm>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/stores.hpp>

#include "array_rows.hpp"
#include "element_function.hpp"
#include "operand.hpp"
#include "skinny_blocks.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::BoxGroup;
using blocks::BoxIndex;
using blocks::BoxPart;
using blocks::ceil_div;
using blocks::extent_of;

namespace {

constexpr std::size_t kA = 0, kB = 1, kC = 2, kD = 3;
constexpr std::int64_t kShort = 80, kLong = 1024;  // elements
constexpr std::int64_t kDepthTiles = 16;           // of k, all of them on chip
constexpr std::int64_t kScattered = 1 << 15;       // elements of the short operand that may be loaded one by one
constexpr std::size_t kLongIndices = 4;            // so that the choice of blocks stays quick
constexpr std::size_t kShortIndices = 2;           // with the walked one three: what an engine's pattern has

class SkinnyProduct {
 public:
  SkinnyProduct(Builder& b, const ProductShape& s, const ProductTensors& t, const GemmShape& g, const Scheme& scheme)
      : b_(b), m_(b.machine()), s_(s), t_(t), g_(g), scheme_(scheme), blocks_(s, scheme, m_), side_(m_.partitions) {
    const Sides by = sides(s);
    long_ = by.x, short_ = by.y, x_ = by.x_number, y_ = by.y_number;
    columns_ = extent_of(short_), depth_ = extent_of(s.k), tiles_ = ceil_div(depth_, side_);
    rows_ = ArrayRows(depth_, m_);
  }

  void record() {
    alpha_ = factor("alpha", g_.alpha, t_.alpha), beta_ = factor("beta", g_.beta, t_.beta);
    y_operand_.emplace(b_, "y", memory(y_ == kA ? t_.a : t_.b), Route::Direct, scheme_, scheme_.a);
    x_operand_.emplace(b_, "x", memory(x_ == kA ? t_.a : t_.b), Route::Direct, scheme_, scheme_.a);
    y_operand_->apply(y_ == kA ? s_.of_a : s_.of_b), x_operand_->apply(x_ == kA ? s_.of_a : s_.of_b);
    blocks::for_parts(b_, "h", s_.h, {0, 1}, LoopKind::Parallel, 1, [&](const BoxPart& h) {
      h_ = h;
      y_held_ = y_operand_->hold("y_all", rows_.partitions(std::min(side_, depth_)), tiles_, columns_, 1);
      for (std::int64_t part = 0; part < rows_.parts(); ++part)
        bring(*y_operand_, y_held_, y_, short_, h.offset[y_], part);
      cover(long_, {});
    });
  }

 private:
  static Access memory(Access hbm) {
    hbm.dims = {{0, 1}, {0, 1}};
    return hbm;
  }
  ScalarOrTile factor(const char* name, Factor kind, const Access& given) {
    if (kind != Factor::Input) return kind == Factor::Zero ? 0.0 : 1.0;
    return given.present() ? given : blocks::scalar_input(b_, name);
  }
  static ScalarOrTile top(const ScalarOrTile& factor, std::int64_t height) {
    if (const Access* tile = std::get_if<Access>(&factor)) return (*tile)(ds(0, height), all);
    return factor;
  }

  // All of k of a box of one operand, in part `part` of the array.
  void bring(const Operand& operand, const Held& held, std::size_t number, const BoxGroup& box, const Affine& at,
             std::int64_t part) const {
    const std::int64_t whole = depth_ / side_;
    const auto chunk = [&](std::int64_t first, std::int64_t tiles, std::int64_t depth) {
      BoxChunk c{number == kA ? t_.a : t_.b, number, s_.k, box, first * side_, tiles, depth};
      c.hbm.offset = c.hbm.offset + at;
      Held to;
      to.raw = held.raw(rows_.slice(part, depth), ds(first, tiles));
      operand.bring(to, c);
    };
    if (whole > 0) chunk(0, whole, side_);
    if (depth_ % side_ > 0) chunk(whole, 1, depth_ % side_);
  }

  // Everything of `l`, which begins at `at`: the whole blocks, then what each index leaves.
  void cover(const BoxGroup& l, const std::array<std::int64_t, blocks::kBoxOperands>& at) {
    const Ranges ranges = blocks_.choose(l);
    BoxGroup whole = l;
    for (std::size_t i = 0; i < l.size(); ++i) whole[i].extent -= l[i].extent % ranges[i].size();
    record_blocks(whole, ranges, at);
    for (std::size_t i = 0; i < l.size(); ++i) {
      if (whole[i].extent == l[i].extent) continue;
      BoxGroup rest(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
      rest.insert(rest.end(), l.begin() + static_cast<std::ptrdiff_t>(i), l.end());
      rest[i].extent -= whole[i].extent;
      auto from = at;
      for (std::size_t o = 0; o < from.size(); ++o) from[o] += whole[i].extent * l[i].stride[o];
      cover(rest, from);
    }
  }

  // Where one block begins, in every operand.
  using Place = std::array<Affine, blocks::kBoxOperands>;
  static Place moved(const Place& from, const Affine& by, const BoxIndex& index, std::int64_t block) {
    Place to = from;
    for (std::size_t o = 0; o < to.size(); ++o) to[o] = from[o] + by * (block * index.stride[o]);
    return to;
  }

  // A recorded loop over the blocks of each index; along the one with most of them as many at once as the array has
  // parts.
  void record_blocks(const BoxGroup& l, const Ranges& ranges,
                     const std::array<std::int64_t, blocks::kBoxOperands>& at) {
    const auto blocks_of = [&](std::size_t i) { return l[i].extent / ranges[i].size(); };
    std::vector<std::size_t> order(l.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return blocks_of(i) < blocks_of(j); });
    Place start;
    for (std::size_t o = 0; o < start.size(); ++o) start[o] = h_.offset[o] + Affine(at[o]);
    const auto loop = [&](const auto& self, std::size_t level, const Place& place) -> void {
      const std::size_t i = order[level];
      const std::int64_t size = ranges[i].size(), count = blocks_of(i);
      const std::string variable = "l" + std::to_string(level);
      if (level + 1 < order.size()) {
        return b_.parallel(variable, count,
                           [&](const Affine& n) { self(self, level + 1, moved(place, n, l[i], size)); });
      }
      const std::int64_t parts = rows_.parts();
      const auto several = [&](const Affine& first, std::int64_t together) {
        std::vector<Place> places;
        for (std::int64_t n = 0; n < together; ++n) places.push_back(moved(place, first + Affine(n), l[i], size));
        record_side_by_side(l, ranges, places);
      };
      b_.parallel(variable, count / parts, [&](const Affine& n) { several(n * parts, parts); });
      if (count % parts > 0) several(Affine(count - count % parts), count % parts);
    };
    loop(loop, 0, start);
  }

  // One or several blocks, each in a part of the array.

  // Neighbouring walked values whose sums share a bank: `count` of the inner index from `first` on, and what the other
  // indices have.
  struct Group {
    std::vector<std::int64_t> walked;
    std::int64_t first, count;
  };
  [[nodiscard]] std::vector<Group> groups_of(const Ranges& ranges, std::size_t inner) const {
    std::vector<Group> groups;
    std::vector<std::int64_t> walked(ranges.size(), 0);
    for (;;) {
      for (std::int64_t first = 0; first < ranges[inner].f; first += blocks_.bank_groups())
        groups.push_back({walked, first, std::min(blocks_.bank_groups(), ranges[inner].f - first)});
      std::size_t i = 0;
      for (; i < ranges.size(); ++i) {
        if (i == inner) continue;
        if (++walked[i] < ranges[i].f) break;
        walked[i] = 0;
      }
      if (i == ranges.size()) return groups;
    }
  }

  void record_side_by_side(const BoxGroup& l, const Ranges& ranges, const std::vector<Place>& places) {
    // X: its indices in X's order, so that runs are long.
    std::vector<std::size_t> by_x(l.size());
    for (std::size_t i = 0; i < by_x.size(); ++i) by_x[i] = i;
    std::stable_sort(by_x.begin(), by_x.end(), [&](std::size_t i, std::size_t j) {
      return std::abs(l[i].stride[x_]) < std::abs(l[j].stride[x_]);
    });
    BoxGroup box;
    std::vector<std::int64_t> in_x(l.size());
    std::int64_t elements = 1, height = 1, walked = 1;
    for (const std::size_t i : by_x) {
      in_x[i] = elements;
      elements *= ranges[i].size(), height *= ranges[i].p, walked *= ranges[i].f;
      box.push_back({ranges[i].size(), l[i].stride});
    }
    std::vector<Dim> stationary_dims;
    for (std::size_t i = 0; i < l.size(); ++i) {
      if (ranges[i].p > 1) stationary_dims.push_back({ranges[i].f * in_x[i], ranges[i].p});
    }
    if (stationary_dims.empty()) stationary_dims.push_back({1, 1});
    const auto count = static_cast<std::int64_t>(places.size());
    const Held x = x_operand_->hold("x_block", rows_.partitions(std::min(side_, depth_)), tiles_, elements, 2);
    for (std::int64_t part = 0; part < count; ++part)
      bring(*x_operand_, x, x_, box, places[static_cast<std::size_t>(part)][x_], part);

    // The free dimensions of a block of D in D's order, outermost first: walked indices and those of S.
    struct Free {
      bool walked;
      std::size_t index;
      std::int64_t extent, d, stride = 1;
    };
    std::vector<Free> free;
    for (std::size_t i = 0; i < l.size(); ++i) {
      if (ranges[i].f > 1) free.push_back({true, i, ranges[i].f, l[i].stride[kD]});
    }
    for (std::size_t i = 0; i < short_.size(); ++i) free.push_back({false, i, short_[i].extent, short_[i].stride[kD]});
    std::stable_sort(free.begin(), free.end(),
                     [](const Free& i, const Free& j) { return std::abs(i.d) > std::abs(j.d); });
    std::int64_t step = 1;
    for (auto i = free.rbegin(); i != free.rend(); ++i) i->stride = step, step *= i->extent;
    const auto in_memory = [&](std::size_t operand, const Access& tensor, const Place& place) {
      Access hbm = tensor;
      hbm.offset = hbm.offset + place[operand];
      hbm.dims.clear();
      for (std::size_t i = 0; i < l.size(); ++i) {
        if (ranges[i].p > 1) hbm.dims.push_back({ranges[i].f * l[i].stride[operand], ranges[i].p});
      }
      for (const Free& f : free)
        hbm.dims.push_back({(f.walked ? l[f.index] : short_[f.index]).stride[operand], f.extent});
      if (hbm.dims.empty()) hbm.dims.push_back({1, 1});
      return hbm;
    };
    std::vector<Access> out, old;
    for (const Place& place : places) {
      out.push_back(b_.sbuf("d_block", height, {step}, real_of(g_.out), 2));
      if (g_.beta == Factor::Zero) continue;
      const Access c = b_.sbuf("c_block", height, {step}, real_of(g_.out), 2);
      b_.dma_copy(c, in_memory(kC, t_.c, place));
      if (g_.beta == Factor::One) {
        old.push_back(c);
      } else {
        old.push_back(b_.sbuf("beta_c", height, {step}, DType::Float32, 2));
        blocks::scale(b_, old.back(), c, top(beta_, height), Engine::Vector);
      }
    }

    const std::size_t inner = BlocksOfLong::inner_index(l, ranges);
    const auto row = [&](const Access& tile, std::int64_t t) {
      Access one = tile(all, ds(t, 1));
      one.dims.erase(one.dims.begin());
      return one;
    };
    // All banks, in turn: a group of values in each part of the array, then the next groups.
    const Access banks = b_.psum("sums", height, {m_.psum_banks, blocks::bank_columns(m_)}, DType::Float32);
    std::int64_t bank = 0;
    for (const Group& group : groups_of(ranges, inner)) {
      std::vector<Access> sums;
      for (std::int64_t part = 0; part < count; ++part) {
        sums.push_back(row(banks(all, all, ds(0, group.count * columns_)), bank));
        bank = (bank + 1) % m_.psum_banks;
      }
      for (std::int64_t w = 0; w < group.count; ++w) {
        std::int64_t from = (group.first + w) * in_x[inner];
        for (std::size_t i = 0; i < l.size(); ++i) from += i == inner ? 0 : group.walked[i] * in_x[i];
        for (std::int64_t t = 0; t < tiles_; ++t) {
          for (std::int64_t part = 0; part < count; ++part) {
            const Slice rows = rows_.slice(part, std::min(side_, depth_ - t * side_));
            Access stationary = row(x.raw(rows), t);
            stationary.offset = stationary.offset + Affine(from);
            stationary.dims = stationary_dims;
            b_.nc_matmul(sums[static_cast<std::size_t>(part)](all, ds(w * columns_, columns_)), stationary,
                         row(y_held_.raw(rows), t), {.accumulate = Affine(t > 0 ? 1 : 0), .tile = rows_.tile(part)});
          }
        }
      }
      // The sums (walked, S) and where they belong in the block of D, in D's order.
      for (std::size_t part = 0; part < places.size(); ++part) {
        Access from = sums[part], to = out[part];
        from.dims.clear(), to.dims.clear();
        for (const Free& f : free) {
          if (f.walked && f.index != inner) {
            to.offset = to.offset + Affine(group.walked[f.index] * f.stride);
          } else if (f.walked) {
            to.offset = to.offset + Affine(group.first * f.stride);
            to.dims.push_back({f.stride, group.count}), from.dims.push_back({columns_, group.count});
          } else {
            const BoxGroup within(short_.begin(), short_.begin() + static_cast<std::ptrdiff_t>(f.index));
            to.dims.push_back({f.stride, f.extent}), from.dims.push_back({extent_of(within), f.extent});
          }
        }
        if (to.dims.empty()) to.dims.push_back({1, 1}), from.dims.push_back({1, 1});
        if (g_.beta == Factor::Zero && s_.of_d.kind == ElementFunction::Kind::Table) {
          b_.activation(to, s_.of_d.table, from, {.scale = top(alpha_, height)});
          continue;
        }
        if (g_.beta == Factor::Zero) {
          blocks::scale(b_, to, from, top(alpha_, height), next_engine(group.count * columns_));
        } else {
          Access add = old[part];
          add.offset = to.offset, add.dims = to.dims;
          b_.scalar_tensor_tensor(to, from, AluOp::Multiply, top(alpha_, height), AluOp::Add, add);
        }
        if (s_.of_d.present()) record_function(b_, s_.of_d, to, to);
      }
    }
    for (std::size_t part = 0; part < places.size(); ++part) b_.dma_copy(in_memory(kD, t_.d, places[part]), out[part]);
  }

  // Vector and Scalar Engine share what leaves PSUM by their speed.
  Engine next_engine(std::int64_t columns) {
    if (s_.of_a.present() || s_.of_b.present() || s_.of_d.present()) return Engine::Vector;  // no change of tables
    const double v = vector_s_ + static_cast<double>(columns) / m_.vector_hz + m_.timing.vector_fixed_s,
                 s = scalar_s_ + static_cast<double>(columns) / m_.scalar_hz + m_.timing.scalar_fixed_s;
    (s <= v ? scalar_s_ : vector_s_) = std::min(s, v);
    return s <= v ? Engine::Scalar : Engine::Vector;
  }

  Builder& b_;
  const Machine& m_;
  const ProductShape& s_;
  const ProductTensors& t_;
  const GemmShape& g_;
  const Scheme& scheme_;
  BlocksOfLong blocks_;
  std::int64_t side_;
  BoxGroup long_, short_;
  std::size_t x_, y_;
  std::int64_t columns_, depth_, tiles_;
  ArrayRows rows_;
  ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
  std::optional<Operand> x_operand_, y_operand_;
  BoxPart h_;
  Held y_held_;
  double vector_s_ = 0, scalar_s_ = 0;
};

}  // namespace

bool is_skinny(const ProductShape& s, const Scheme& scheme, const Machine& machine) {
  const bool plain = !scheme.complex && scheme.terms.size() == 1 && scheme.all_as_loaded(scheme.a) &&
                     scheme.all_as_loaded(scheme.b) && scheme.group_tiles == 0 && scheme.leading_depth == 0;
  const Sides x = sides(s);
  const auto unit = [](const BoxGroup& group, std::size_t operand) {
    return std::any_of(group.begin(), group.end(),
                       [&](const BoxIndex& i) { return i.extent > 1 && std::abs(i.stride[operand]) == 1; });
  };
  const std::int64_t columns = extent_of(x.y), depth = extent_of(s.k);
  const bool read = unit(x.y, x.y_number) || columns == 1 || depth * columns <= kScattered;
  return plain && columns <= kShort && extent_of(x.x) >= kLong && depth <= kDepthTiles * machine.partitions &&
         x.x.size() <= kLongIndices && x.y.size() <= kShortIndices && unit(x.x, x.x_number) && read &&
         (unit(x.x, kD) || unit(x.y, kD)) && BlocksOfLong(s, scheme, machine).worthwhile();
}

void record_skinny_product(Builder& builder, const ProductShape& shape, const ProductTensors& tensors,
                           const GemmShape& g, const Scheme& scheme) {
  SkinnyProduct(builder, shape, tensors, g, scheme).record();
}

std::optional<Program> skinny_gemm_program(const GemmShape& g, const Machine& machine) {
  const bool whole = g.region == Region::All && g.a_structure == Structure::General &&
                     g.b_structure == Structure::General && !g.same_operand && !g.in_place;
  const Scheme scheme = device::scheme(g);
  if (!whole || scheme.complex) return {};
  ProductShape s{
      g.in, g.out, {}, {{g.m, {g.am, 0, g.cm, g.cm}}}, {{g.n, {0, g.bn, g.cn, g.cn}}}, {{g.k, {g.ak, g.bk}}}};
  s.alpha = g.alpha, s.beta = g.beta, s.mode = g.mode;
  if (!is_skinny(s, scheme, machine)) return {};
  Builder b("blas_gemm", machine);
  ProductTensors t;
  t.a = b.input("a", scheme.real, {g.m, g.k}, {g.am, g.ak});
  t.b = b.input("b", scheme.real, {g.k, g.n}, {g.bk, g.bn});
  if (g.beta != Factor::Zero) t.c = b.input("c_in", g.out, {g.m, g.n}, {g.cm, g.cn});
  t.d = t.c.present() ? b.output_over("c", t.c) : b.output("c", g.out, {g.m, g.n}, {g.cm, g.cn});
  record_skinny_product(b, s, t, g, scheme);
  return static_stores(b.finish());
}

}  // namespace trn::blas::device

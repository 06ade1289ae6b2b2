// Kernel Blocks in mode Exact: lines in double precision on a machine without it. Numbers are three words of fp32 in
// fixed point, about 72 bits (triple_arithmetic.hpp); products are exact.
//
//   scale     Lines of Euclidean norm at most 1/4 go in, and every step is a multiple of a unitary matrix with factor 1
//     (or less: exact_scale), so that norms
//             stay and no number ever exceeds 1/4. One point alone, a constant and noise are all the same to it.
//   slices    x = sum of 8 slices, slice i a multiple of 2^-(9+8i) with |slice| <= 2^-(2+8i): at most 8 significant
//     bits, exact in bfloat16. Three slices to a
//             word, two to the last; what is left over is below 2^-66.
//   product   The matrix has 8 slices, multiples of 2^-(8+8j), too. Products of slices i and j with i + j = l share a
//     group of PSUM: they are multiples of
//             2^-(17+8l) and stay below 2^24 units, so these sums are exact in fp32 in any order: x's slices are at
//               most 128 units and the sums of the
//             matrix's digits over a column are known (checked when the constants are made; digits behind the first
//               average half their largest). Levels 7 and
//             8 share the last group, which rounds. 43 products in all; those left out are at most 6 * 2^-75 for each
//               pair of points.
//   join      From the last level up, what exceeds the next one's unit is carried into it, exactly; what is left are
//     the digits of mid and lo.
//   twiddle   triple_arithmetic.hpp.
//
// The steps, who shares the array and where things lie are as in blocks.cpp; n2 = 1 leaves out the second step. With a
// table, results are multiplied by the entry of their line and k1: one step of a longer line.
//
// The Vector Engine is the limit: for 16384 points 2 x 11 operations to slice and 2 x 20 to join on 256 numbers a
// partition and 160 of the twiddle on 128: about 38 us on trn2, while the Tensor Engine's 344 products take 20 us.
#include "exact_blocks.hpp"

#include <cmath>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/stores.hpp>

#include "../roots.hpp"
#include "block_layout.hpp"
#include "triple_arithmetic.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

constexpr std::int64_t kDataSlices = 8, kMatrixSlices = 8, kGroups = 8, kLastLevel = 8, kBits = 8;
constexpr int kDataBits = 9, kMatrixBits = 8;  // behind the point, of slice 0

class ExactBlocks : private TripleArithmetic {
 public:
  ExactBlocks(const LinesShape& shape, const Machine& machine)
      : TripleArithmetic("fft_exact_blocks", machine),
        s_(shape),
        layout_(shape, machine),
        n1_(shape.n1),
        n2_(shape.n2) {
    for (int word = 0; word < kWords; ++word) {
      x_[word] = declare_side(b_, fmt::format("x_{}", kWordNames[word]).c_str(), s_.in, s_.lines, true);
      y_[word] = declare_side(b_, fmt::format("y_{}", kWordNames[word]).c_str(), s_.out, s_.lines, false);
    }
  }

  Program build() {
    const std::int64_t rows1 = layout_.above * n1_, rows2 = layout_.beside * n2_;
    for (int part = 0; part < 2; ++part)
      first_[part] = constant(part == 0 ? "first_re" : "first_im", rows1, kMatrixSlices, 2 * rows1, DType::BFloat16);
    if (n2_ > 1) {
      twiddle_ = constant("twiddle", rows2, kTableParts, 2 * rows1, DType::Float32);
      const char* const names[] = {"second_a", "second_b", "second_minus_b"};
      for (int i = 0; i < 3; ++i) second_[i] = constant(names[i], rows2, kMatrixSlices, rows2, DType::BFloat16);
    }
    if (s_.table) table_ = b_.input("table", DType::Float32, {kTableParts, s_.lines.back().count, n1_, 2});
    outer(0, 0, 0);
    return tile::static_stores(b_.finish());
  }

 private:
  void outer(std::size_t dimension, const Affine& in, const Affine& out) {
    if (dimension + 1 < s_.lines.size()) {
      const LineDim& d = s_.lines[dimension];
      return b_.parallel(fmt::format("lines{}", dimension), d.count,
                         [&](Affine i) { outer(dimension + 1, in + i * d.in, out + i * d.out); });
    }
    layout_.each(b_, in, out, 2 * kDeep,
                 [&](const Affine& i, const Affine& o, std::int64_t above, std::int64_t beside, std::int64_t deep) {
                   // Two halves step by step, so that one's products hide behind the other's work on the Vector Engine.
                   const LineDim& d = s_.lines.back();
                   const std::int64_t half = deep / 2, skipped = above * beside * half;
                   std::vector<Work> works;
                   if (half > 0) works.push_back(start(i, o, above, beside, half, line_of(i, in)));
                   works.push_back(start(i + skipped * d.in, o + skipped * d.out, above, beside, deep - half,
                                         line_of(i + skipped * d.in, in)));
                   Ring sums(b_.psum("levels", beside * n2_, {2, kGroups * kWidth}), 2);
                   for (Work& w : works) w.slices = slices(w.x);
                   for (const Work& w : works) first_step(w, sums);
                   for (const Work& w : works) twiddle(w);
                   if (n2_ > 1) {
                     for (Work& w : works) w.slices = slices(w.z);
                     for (const Work& w : works) second_step(w, sums);
                   } else {
                     for (const Work& w : works) results(w);
                   }
                   for (const Work& w : works) {
                     layout_.store(b_, y_[0], w.y.hi, w.out, w.above, w.beside, w.deep);
                     layout_.store(b_, y_[1], w.y.mid, w.out, w.above, w.beside, w.deep);
                     layout_.store(b_, y_[2], w.y.lo, w.out, w.above, w.beside, w.deep);
                   }
                 });
  }
  // The number of a block's first line: its offset from the first over the distance, loop variables included.
  Affine line_of(const Affine& at, const Affine& first) const {
    if (!s_.table) return 0;
    const Affine from = at - first;
    const std::int64_t distance = s_.lines.back().in;
    std::vector<Affine::Term> terms = from.terms();
    for (Affine::Term& t : terms) t.coefficient /= distance;
    return Affine::from_parts(from.constant() / distance, terms);
  }

  Access constant(const std::string& name, std::int64_t rows, std::int64_t parts, std::int64_t columns, DType dtype) {
    const Access tensor = b_.input(name, dtype, {parts, rows, columns});
    const Access tile = b_.sbuf(name + "_tile", rows, {parts, columns}, dtype);
    b_.dma_copy(tile, tensor.permute({1, 0, 2}));
    return tile;
  }
  static Access slice_of(const Access& constant, std::int64_t i, std::int64_t rows, std::int64_t columns) {
    return pattern(constant(ds(0, rows), ds(i, 1), ds(0, columns)), 0, {{1, columns}});
  }

  // (P, 8, n) bfloat16.
  Access slices(const Triple& x) {
    const std::int64_t n = x.hi.free_size();
    const Access out = b_.sbuf("slices", x.hi.partitions, {kDataSlices, n}, DType::BFloat16);
    const auto slice = [&](std::int64_t i) { return pattern(out, i * n, {{1, n}}); };
    const auto take = [&](const Access& rest, std::int64_t i) {
      cut_to(slice(i), rest, static_cast<int>(kDataBits + kBits * i));
      return slice(i);
    };
    const auto three = [&](const Access& word, std::int64_t i) {  // the third is what is left
      const Access rest = subtract(word, take(word, i));
      b_.tensor_tensor(slice(i + 2), rest, take(rest, i + 1), AluOp::Subtract, Engine::Vector);
    };
    three(x.hi, 0);
    three(x.mid, 3);
    take(subtract(x.lo, take(x.lo, 6)), 7);
    return out;
  }

  // multiply(dst, part, i, j, accumulate) for all pairs of slices, into the group of their level.
  template <class Multiply>
  void products(const Access& levels, std::int64_t first, std::int64_t width, std::int64_t parts, Multiply multiply) {
    std::vector<std::int64_t> step(static_cast<std::size_t>(kGroups), 0);
    const auto at = [&](std::int64_t part, std::int64_t i, std::int64_t j) {
      const std::int64_t group = std::min(i + j, kGroups - 1);
      multiply(pattern(levels, group * kWidth + first, {{1, width}}), part, i, j,
               step[static_cast<std::size_t>(group)]++);
    };
    // The last level first: its sum is exact before that of level 7 begins, whose roundings are then all there are.
    for (std::int64_t part = 0; part < parts; ++part)
      for (std::int64_t i = kDataSlices - 1; i >= 1; --i) at(part, i, kLastLevel - i);
    for (std::int64_t part = 0; part < parts; ++part)
      for (std::int64_t i = kDataSlices - 1; i >= 0; --i)
        for (std::int64_t j = kGroups - 1 - i; j >= 0; --j) at(part, i, j);
  }

  // The sum of the levels (P, 8, width) as words. Of each level from 6 to 2 the multiples of the unit of the one above
  // are carried to it.
  void join(const Triple& to, const Access& levels, std::int64_t width) {
    const auto level = [&](std::int64_t l) { return pattern(levels, l * kWidth, {{1, width}}); };
    Access sum = fresh(level(0)), rest[kGroups];
    b_.activation(sum, ActFunction::Copy, level(kGroups - 1));
    sum = add(level(kGroups - 2), sum);
    for (std::int64_t l = kGroups - 2; l >= 2; --l) {
      const Access carried = cut(sum, static_cast<int>(kDataBits + kMatrixBits + kBits * (l - 1)));
      rest[l] = subtract(sum, carried);
      sum = add(level(l - 1), carried);
    }
    b_.tensor_tensor(to.hi, level(0), sum, AluOp::Add, Engine::Vector);
    b_.tensor_tensor(to.mid, add(rest[2], rest[3]), rest[4], AluOp::Add, Engine::Vector);
    b_.tensor_tensor(to.lo, rest[5], rest[6], AluOp::Add, Engine::Vector);
  }
  // above * beside * deep lines on their way.
  struct Work {
    Affine out, line;
    std::int64_t above, beside, deep;
    BlockPlaces px, py;
    Triple x, y, z;
    Access slices;
    [[nodiscard]] std::int64_t columns() const { return z.hi.free_size() / deep; }
  };
  Triple triple(const char* name, std::int64_t rows, std::int64_t size, std::int64_t buffers = 1) {
    const auto word = [&] { return b_.sbuf(name, rows, {size}, DType::Float32, buffers); };
    return {word(), word(), word()};
  }
  static Triple patterns(const Triple& of, const Affine& offset, const std::vector<Dim>& dims) {
    return {pattern(of.hi, offset, dims), pattern(of.mid, offset, dims), pattern(of.lo, offset, dims)};
  }
  void copy_words(const Triple& to, const Triple& from) {
    b_.activation(to.hi, ActFunction::Copy, from.hi);
    b_.activation(to.mid, ActFunction::Copy, from.mid);
    b_.activation(to.lo, ActFunction::Copy, from.lo);
  }
  Work start(const Affine& in, const Affine& out, std::int64_t above, std::int64_t beside, std::int64_t deep,
             const Affine& line) {
    const BlockPlaces px = layout_.x_places(beside * deep), py = layout_.y_places(above, deep);
    Work w{out,
           line,
           above,
           beside,
           deep,
           px,
           py,
           triple("x_tile", above * n1_, px.total, 2),
           triple("y_tile", beside * n2_, py.total, 2),
           triple("z_tile", beside * n2_, deep * 2 * above * n1_),
           {}};
    layout_.load(b_, x_[0], w.x.hi, in, above, beside * deep);
    layout_.load(b_, x_[1], w.x.mid, in, above, beside * deep);
    layout_.load(b_, x_[2], w.x.lo, in, above, beside * deep);
    return w;
  }

  void first_step(const Work& w, Ring& sums) {
    const std::int64_t columns = w.columns();
    for (std::int64_t t = 0; t < w.deep; ++t) {
      const Access levels = sums.next();
      products(levels, 0, columns, 2,
               [&](const Access& dst, std::int64_t part, std::int64_t i, std::int64_t j, std::int64_t step) {
                 const Access stationary = pattern(w.slices, i * w.px.total + t * w.px.line + part * w.px.part,
                                                   {{w.deep * w.px.line, w.beside}, {w.px.point, n2_}});
                 b_.nc_matmul(dst, stationary, slice_of(first_[part], j, w.above * n1_, columns), {.accumulate = step});
               });
      join(patterns(w.z, t * columns, {{1, columns}}), levels, columns);
    }
  }

  void twiddle(const Work& w) {
    const std::int64_t columns = w.columns();
    if (s_.table) turn_by_table(w.z, w.line, w.above, w.beside, w.deep);
    if (n2_ == 1) return;
    turn(
        w.z,
        [&](std::int64_t part, std::int64_t which) {
          return pattern(twiddle_(ds(0, w.beside * n2_), ds(part, 1), ds(0, columns)), which,
                         {{0, w.deep}, {2, columns / 2}});
        },
        w.deep, columns);
  }

  // Where part `part` of line t's results goes in y.
  [[nodiscard]] Triple place(const Work& w, std::int64_t t, std::int64_t part) const {
    return patterns(w.y, t * w.py.line + part * w.py.part, {{w.py.group, w.above}, {w.py.point, n1_}});
  }

  void second_step(const Work& w, Ring& sums) {
    const std::int64_t columns = w.columns(), half = columns / 2, rows2 = w.beside * n2_;
    for (std::int64_t t = 0; t < w.deep; ++t) {
      const Access levels = sums.next();
      for (std::int64_t result = 0; result < 2; ++result) {
        products(levels, result * half, half, 2,
                 [&](const Access& dst, std::int64_t part, std::int64_t i, std::int64_t j, std::int64_t step) {
                   const Access& matrix = second_[result == part ? 0 : result == 0 ? 2 : 1];
                   b_.nc_matmul(dst, slice_of(matrix, j, rows2, rows2),
                                pattern(w.slices, (i * w.deep + t) * columns + part, {{2, half}}),
                                {.accumulate = step});
                 });
      }
      const Triple joined = triple("joined", rows2, columns);
      join(joined, levels, columns);
      for (std::int64_t part = 0; part < 2; ++part)
        copy_words(place(w, t, part), patterns(joined, part * half, {{1, half}}));
    }
  }
  // Of one step alone: z as it is.
  void results(const Work& w) {
    const std::int64_t columns = w.columns();
    for (std::int64_t t = 0; t < w.deep; ++t)
      for (std::int64_t part = 0; part < 2; ++part)
        copy_words(place(w, t, part), patterns(w.z, t * columns + part, {{2, columns / 2}}));
  }

  // z (g2; t, g1, k1) of lines (g1 G2 + g2) T + t from `line` on.
  void turn_by_table(const Triple& z, const Affine& line, std::int64_t above, std::int64_t beside, std::int64_t deep) {
    const std::int64_t each = 2 * n1_, plane = s_.lines.back().count * each, columns = above * each;
    const Access table = b_.sbuf("table_tile", beside, {kTableParts, deep * columns}, DType::Float32);
    for (std::int64_t part = 0; part < kTableParts; ++part) {
      b_.dma_copy(pattern(table, part * deep * columns, {{1, deep * columns}}),
                  pattern(table_, line * each + part * plane,
                          {{deep * each, beside}, {each, deep}, {beside * deep * each, above}, {1, each}}));
    }
    turn(
        z,
        [&](std::int64_t part, std::int64_t which) {
          return pattern(table, part * deep * columns + which, {{columns, deep}, {2, columns / 2}});
        },
        deep, columns);
  }

  static constexpr std::int64_t kDeep = 4, kWidth = 256;

  const LinesShape s_;
  const BlockLayout layout_;
  const std::int64_t n1_, n2_;
  SideTensors x_[kWords], y_[kWords];
  Access first_[2], twiddle_, second_[3], table_;
};

using Complex = std::complex<long double>;

// (8, rows, columns): entry(row, column), |entry| <= 1/2, as slices.
template <class Entry> Constant matrix_slices(std::string name, std::int64_t rows, std::int64_t columns, Entry entry) {
  const std::int64_t plane = rows * columns;
  Constant c{std::move(name), std::vector<std::byte>(static_cast<std::size_t>(kMatrixSlices * plane * 2))};
  for (std::int64_t at = 0; at < plane; ++at) {
    long double rest = entry(at / columns, at % columns);
    for (std::int64_t i = 0; i < kMatrixSlices; ++i) {
      const int unit = static_cast<int>(kMatrixBits + kBits * i);
      const long double slice = std::ldexp(std::nearbyint(std::ldexp(rest, unit)), -unit);
      rest -= slice;
      const auto scaled = static_cast<double>(slice);
      from_double(&scaled, DType::BFloat16, c.bytes.data() + (i * plane + at) * 2, 1);
    }
  }
  return c;
}

}  // namespace

long double exact_scale(std::int64_t n) { return n < 4 ? 0.5L : 1 / std::sqrt(static_cast<long double>(n)); }

namespace device {

Program exact_blocks_program(const LinesShape& s, const Machine& machine) {
  require(!s.in.real && !s.out.real && s.in.format == Format::Interleaved && s.out.format == Format::Interleaved &&
              s.in.points == s.n() && s.out.points == s.n(),
          "fft: mode exact takes whole interleaved lines");
  require(!s.table || (s.n2 == 1 && s.lines.back().in != 0), "fft: mode exact has a table with one factor, n2 = 1");
  return ExactBlocks(s, machine).build();
}

std::vector<Constant> exact_blocks_constants(const LinesShape& s, const Machine& machine,
                                             const ConstantOptions& options) {
  std::vector<Constant> made;
  const std::int64_t n1 = s.n1, n2 = s.n2, rows1 = lines_together(n1, machine) * n1,
                     rows2 = lines_together(n2, machine) * n2;
  const auto power = [&](std::int64_t k, std::int64_t n) {
    const Complex w = long_root(k, n);
    return options.direction == Direction::Forward ? w : std::conj(w);
  };
  for (int from = 0; from < 2; ++from) {
    made.push_back(matrix_slices(
        from == 0 ? "first_re" : "first_im", rows1, 2 * rows1, [&](std::int64_t r, std::int64_t c) -> long double {
          if (r / n1 != c / (2 * n1)) return 0;
          const Complex w = power((r % n1) * (c / 2 % n1) % n1, n1);
          return exact_scale(n1) * (c % 2 == from ? w.real() : from == 0 ? w.imag() : -w.imag());
        }));
  }
  if (s.table) {
    const std::int64_t lines = s.lines.back().count, plane = lines * n1 * 2;
    Constant table{"table", std::vector<std::byte>(static_cast<std::size_t>(kTableParts * plane) * sizeof(float))};
    auto* entry = reinterpret_cast<float*>(table.bytes.data());
    for (std::int64_t b = 0; b < lines; ++b) {
      for (std::int64_t k = 0; k < n1; ++k, entry += 2) {
        const Complex w = power(k * b % options.table_length, options.table_length);
        table_entry(w.real(), entry, plane);
        table_entry(w.imag(), entry + 1, plane);
      }
    }
    made.push_back(std::move(table));
  }
  if (n2 == 1) return made;
  const std::int64_t plane = rows2 * 2 * rows1;
  Constant twiddle{"twiddle", std::vector<std::byte>(static_cast<std::size_t>(kTableParts * plane) * sizeof(float))};
  auto* entry = reinterpret_cast<float*>(twiddle.bytes.data());
  for (std::int64_t r = 0; r < rows2; ++r) {
    for (std::int64_t c = 0; c < rows1; ++c, entry += 2) {
      const Complex w = power((r % n2) * (c % n1), n1 * n2);
      table_entry(w.real(), entry, plane);
      table_entry(w.imag(), entry + 1, plane);
    }
  }
  made.push_back(std::move(twiddle));
  const char* const names[] = {"second_a", "second_b", "second_minus_b"};
  for (int which = 0; which < 3; ++which) {
    made.push_back(matrix_slices(names[which], rows2, rows2, [&](std::int64_t r, std::int64_t c) -> long double {
      if (r / n2 != c / n2) return 0;
      const Complex w = power((r % n2) * (c % n2) % n2, n2);
      return exact_scale(n2) * (which == 0 ? w.real() : which == 1 ? w.imag() : -w.imag());
    }));
  }
  return made;
}

}  // namespace device

}  // namespace trn::fft

// Precision Exact on the device: the program that slices, multiplies modulo every p and reduces, and its launch.
//
// Rows of op(A) and columns of op(B) are treated alike, as rows of `depth` numbers with the row on partitions.
//
//   limbs      the words of each number to four fp32 limbs in HBM scratch (exact_integers.cpp does the same steps on the host):
//              bits by the Vector Engine, differences by GpSimd
//   residues   per modulus: limb sums with 2^(16 l) mod p (two fused products on Vector, one on Scalar, one sum on GpSimd), minus
//              p times the nearest integer of the quotient (Scalar rounds it by storing int32, Vector subtracts): |r| <= 90, bfloat16
//   product    per modulus and block of C: up to 2048 products are exact in a PSUM sum, because 2048 * 90^2 < 2^24; then the sum
//              leaves PSUM reduced mod p (Scalar and Vector again), and chunks of k are added by GpSimd
//
// Columns of op(B) are made residues once, before the products. Those of a block row of A are made while the block row before
// it multiplies, modulus by modulus, so that no engine's queue holds up another for long. Digits go to HBM as int16; recombining
// them (Chinese remainders), scaling and the one rounding to float64 are integer work of the launch, on the host side.
//
// Time on trn2 at 4096^3 with 16 moduli: the Tensor Engine needs 16 * 1.75 ms; the Vector Engine about as much in all, half of
// it before the first product.
#include <algorithm>

#include <trn/core/array.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/device.hpp>

#include "../exact.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

enum Row { kC1, kC2, kC3, kInverse, kMinusP, kTableRows };

// The dimension d of size 1 removed.
Access drop(Access access, std::size_t d) {
  access.dims.erase(access.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return access;
}

class ExactKernel {
 public:
  ExactKernel(const ExactShape& shape, const Machine& machine)
      : s_(shape), m_(machine), b_("blas_exact", machine), side_(machine.partitions), bank_(blocks::bank_columns(machine)),
        wide_(real_of(shape.in) == DType::Float64), words_(wide_ ? 2 : 1), rows_(shape.rows()), depth_(shape.depth()),
        k_tiles_(ceil_div(depth_, side_)) {
    // The block rows whose panel of A leaves room for the rest.
    const std::int64_t room = machine.sbuf_bytes_per_partition / 5 * 2, two = size_bytes(DType::BFloat16);
    block_ = 4 * side_;
    while (block_ > side_ && k_tiles_ * block_ * two > room / 2) block_ /= 2;
    panel_buffers_ = 2 * k_tiles_ * block_ * two <= room ? 2 : 1;
    if (k_tiles_ * block_ * two > room) {
      fail<NotImplemented>("blas.gemm: precision 'exact' takes products of up to {} terms on {}, this one has {}; split k", room / two, machine.name, depth_);
    }
  }

  Program build() {
    const std::int64_t all_words = words_ * (is_complex(s_.in) ? 2 : 1);
    const Access a = b_.input("a", DType::UInt32, {s_.m, s_.k, all_words}, {s_.am * all_words, s_.ak * all_words, 1});
    const Access b = b_.input("b", DType::UInt32, {s_.n, s_.k, all_words}, {s_.bn * all_words, s_.bk * all_words, 1});
    const Access offset_a = b_.input("offset_a", DType::Float32, {rows_, 1}), offset_b = b_.input("offset_b", DType::Float32, {s_.n, 1});
    const Access table = b_.input("table", DType::Float32, {kTableRows, s_.moduli});
    digits_ = b_.output("digits", DType::Int16, {s_.moduli, rows_, s_.n});
    const Access a_limbs = b_.scratch("a_limbs", DType::Float32, {4, rows_, depth_}), b_limbs = b_.scratch("b_limbs", DType::Float32, {4, s_.n, depth_});
    a_residues_ = b_.scratch("a_residues", DType::BFloat16, {s_.moduli, rows_, depth_});
    b_residues_ = b_.scratch("b_residues", DType::BFloat16, {s_.moduli, s_.n, depth_});
    table_ = b_.sbuf("constants", side_, {kTableRows, s_.moduli}, DType::Float32);
    b_.dma_copy(table_, table.broadcast(0, side_));

    const bool complex = is_complex(s_.in);
    limbs(b, {0, false, 0, 0}, offset_b, b_limbs);
    if (complex) limbs(b, {words_, s_.conj_b, 0, s_.k}, offset_b, b_limbs);
    limbs(a, {0, false, 0, 0}, offset_a, a_limbs);
    if (complex) {
      limbs(a, {words_, !s_.conj_a, 0, s_.k}, offset_a, a_limbs);
      limbs(a, {words_, s_.conj_a, s_.m, 0}, offset_a, a_limbs);
      limbs(a, {0, false, s_.m, s_.k}, offset_a, a_limbs);
    }
    b_.parallel("i", s_.moduli, [&](Affine i) { residues(b_limbs, b_residues_, i, 0, s_.n); });
    const std::int64_t whole = rows_ / block_, rest = rows_ % block_;
    const auto prepare = [&](const Affine& i, const Affine& r0, std::int64_t rows) { residues(a_limbs, a_residues_, i, r0, rows); };
    b_.parallel("i", s_.moduli, [&](Affine i) { prepare(i, 0, std::min(block_, rows_)); });
    b_.sequential("mb", std::max<std::int64_t>(0, whole - 1), [&](Affine mb) {
      b_.parallel("i", s_.moduli, [&](Affine i) {
        prepare(i, (mb + 1) * block_, block_);
        product(i, mb * block_, block_);
      });
    });
    if (whole > 0) {
      b_.parallel("i", s_.moduli, [&](Affine i) {
        if (rest > 0) prepare(i, whole * block_, rest);
        product(i, (whole - 1) * block_, block_);
      });
    }
    if (rest > 0) b_.parallel("i", s_.moduli, [&](Affine i) { product(i, whole * block_, rest); });
    return b_.finish();
  }

 private:
  // Where a plane of an operand starts in an element, whether it is negated, and where it goes.
  struct Plane { std::int64_t word; bool negated; std::int64_t row, column; };

  // A (rows, 1) constant of modulus i.
  Access constant(Row row, const Affine& i, std::int64_t rows) const { return drop(table_(ds(0, rows), ds(row, 1), ds(i, 1)), 0); }

  void limbs(const Access& x, const Plane& plane, const Access& offsets, const Access& out) {
    const std::int64_t rows_of_x = x.dims[0].size, columns = x.dims[1].size;
    for_blocks(b_, "r", rows_of_x, side_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t rows) {
      const Access offset = b_.sbuf("offset", rows, {1}, DType::Float32, 2);
      b_.dma_copy(offset, offsets(ds(r0 + plane.row, rows), all));
      for_blocks(b_, "k", columns, kLimbColumns, LoopKind::Parallel, [&](const Affine& k0, std::int64_t width) {
        const Access raw = b_.sbuf("raw", rows, {width, words_}, DType::UInt32, 2);
        b_.dma_copy(raw, x(ds(r0, rows), ds(k0, width), ds(plane.word, words_)));
        const Access four = limbs_of(raw, offset, plane.negated);
        b_.dma_copy(out(all, ds(r0 + plane.row, rows), ds(k0 + plane.column, width)).permute({1, 0, 2}), four);
      });
    });
  }

  // raw (rows, width, words) -> (rows, 4, width).
  Access limbs_of(const Access& raw, const Access& offset, bool negated) {
    const std::int64_t rows = raw.partitions, width = raw.dims[0].size;
    const auto tile = [&](const char* name, DType dtype) { return b_.sbuf(name, rows, {width}, dtype); };
    const auto real = [&](const char* name) { return tile(name, DType::Float32); };
    const auto word = [&](std::int64_t w) { return drop(raw(all, all, ds(w, 1)), 1); };
    const auto bits = [&](const char* name, const Access& from, AluOp op0, double x, AluOp op1 = AluOp::None, double y = 0) {
      const Access to = tile(name, DType::UInt32);
      TensorScalarOptions options{.engine = Engine::Vector};
      options.op1 = op1;
      if (op1 != AluOp::None) options.operand1 = y;
      b_.tensor_scalar(to, from, op0, x, options);
      return to;
    };
    const auto difference = [&](const char* name, const Access& x, const Access& y, AluOp op = AluOp::Subtract) {
      const Access to = real(name);
      b_.tensor_tensor(to, x, y, op, Engine::GpSimd);
      return to;
    };
    const auto sum = [&](const char* name, const Access& x, const Access& y) { return difference(name, x, y, AluOp::Add); };
    // The nearest multiple of 2^unit.
    const auto multiple = [&](const char* name, const Access& x, int unit) {
      const Access to = real(name);
      const double magic = std::ldexp(1.5, unit + 23);
      b_.tensor_scalar(to, x, AluOp::Add, magic, {.op1 = AluOp::Subtract, .operand1 = magic, .engine = Engine::Vector});
      return to;
    };
    const auto keep = [&](const Access& four, std::int64_t l) { return drop(four(all, ds(l, 1), all), 0); };

    const Access high = word(words_ - 1);
    const int mantissa = wide_ ? 20 : 23;
    const Access field = bits("field", high, AluOp::RightShift, mantissa, AluOp::BitwiseAnd, wide_ ? 0x7ff : 0xff);
    const Access fraction = bits("fraction", high, AluOp::BitwiseAnd, std::ldexp(1.0, mantissa) - 1);
    const Access sign = bits("sign", high, AluOp::BitwiseAnd, 0x1p31, negated ? AluOp::BitwiseXor : AluOp::None, 0x1p31);
    const Access leading = real("leading");
    b_.tensor_scalar(leading, field, AluOp::Minimum, 1.0, {.op1 = AluOp::Multiply, .operand1 = std::ldexp(1.0, mantissa), .engine = Engine::Vector});
    const Access top = real("top");
    b_.tensor_tensor(top, fraction, leading, AluOp::Add, Engine::Vector);
    const Access exponent = tile("exponent", DType::Int32), field32 = tile("field32", DType::UInt32), scale = tile("scale", DType::UInt32);
    b_.tensor_scalar(exponent, field, AluOp::Maximum, 1.0, {.op1 = AluOp::Add, .operand1 = offset, .engine = Engine::Vector});
    b_.tensor_scalar(field32, exponent, AluOp::Maximum, 0.0, {.engine = Engine::Vector});
    b_.tensor_scalar(scale, field32, AluOp::LeftShift, 23.0, {.engine = Engine::Vector});
    b_.tensor_tensor(scale, scale, sign, AluOp::BitwiseOr, Engine::Vector);
    const Access factor = scale.view(DType::Float32);
    const Access f2 = real("f2");
    b_.tensor_tensor(f2, top, factor, AluOp::Multiply, Engine::Vector);

    const Access four = b_.sbuf("limbs", rows, {4, width}, DType::Float32, 2);
    const auto take = [&](std::int64_t l, const Access& x, int unit) {
      const double magic = std::ldexp(1.5, unit + 23);
      b_.tensor_scalar(keep(four, l), x, AluOp::Add, magic, {.op1 = AluOp::Subtract, .operand1 = magic, .engine = Engine::Vector});
    };
    take(3, f2, 48);
    const Access r3 = difference("r3", f2, keep(four, 3));
    if (!wide_) {
      take(2, r3, 32);
      const Access r2 = difference("r2", r3, keep(four, 2));
      take(1, r2, 16);
      take(0, difference("r1", r2, keep(four, 1)), 0);
      return four;
    }
    const Access middle = bits("middle", word(0), AluOp::RightShift, 16), low = bits("low", word(0), AluOp::BitwiseAnd, 0xffff);
    const Access f1 = real("f1"), f0 = real("f0");
    b_.scalar_tensor_tensor(f1, middle, AluOp::Multiply, 0x1p-16, AluOp::Multiply, factor);
    b_.scalar_tensor_tensor(f0, low, AluOp::Multiply, 0x1p-32, AluOp::Multiply, factor);
    const Access h2 = multiple("h2", r3, 32), g2 = multiple("g2", f1, 32);
    b_.tensor_tensor(keep(four, 2), h2, g2, AluOp::Add, Engine::GpSimd);
    const Access r2 = difference("r2", r3, h2), s2 = difference("s2", f1, g2);
    const Access h1 = multiple("h1", r2, 16), g1 = multiple("g1", s2, 16), u1 = multiple("u1", f0, 16);
    b_.tensor_tensor(keep(four, 1), sum("hg1", h1, g1), u1, AluOp::Add, Engine::GpSimd);
    const Access r1 = difference("r1", r2, h1), s1 = difference("s1", s2, g1), u0 = difference("u0", f0, u1);
    take(0, sum("rest", sum("su", s1, u0), r1), 0);
    return four;
  }

  // Residues of rows [r0, r0 + rows) modulo p_i.
  void residues(const Access& limbs, const Access& out, const Affine& i, const Affine& r0, std::int64_t all_rows) {
    for_blocks(b_, "r", all_rows, side_, LoopKind::Parallel, [&](const Affine& r1, std::int64_t rows) {
      for_blocks(b_, "k", depth_, kResidueColumns, LoopKind::Parallel, [&](const Affine& k0, std::int64_t width) {
        const Affine row = r0 + r1;
        const Access four = b_.sbuf("four", rows, {4, width}, DType::Float32, 2);
        b_.dma_copy(four, limbs(all, ds(row, rows), ds(k0, width)).permute({1, 0, 2}));
        const auto limb = [&](std::int64_t l) { return drop(four(all, ds(l, 1), all), 0); };
        const auto real = [&](const char* name) { return b_.sbuf(name, rows, {width}, DType::Float32, 2); };
        const Access top = real("c3"), lower = real("c1"), sum = real("c");
        b_.activation(top, ActFunction::Copy, limb(3), {.scale = constant(kC3, i, rows)});
        b_.scalar_tensor_tensor(lower, limb(1), AluOp::Multiply, constant(kC1, i, rows), AluOp::Add, limb(0));
        b_.scalar_tensor_tensor(lower, limb(2), AluOp::Multiply, constant(kC2, i, rows), AluOp::Add, lower);
        b_.tensor_tensor(sum, lower, top, AluOp::Add, Engine::GpSimd);
        const Access r = b_.sbuf("residue", rows, {width}, DType::BFloat16, 2);
        reduce(r, sum, i);
        b_.dma_copy(drop(out(ds(i, 1), ds(row, rows), ds(k0, width)), 0), r);
      });
    });
  }

  // dst = x - p round(x / p).
  void reduce(const Access& dst, const Access& x, const Affine& i) {
    Access quotient = b_.sbuf("quotient", x.partitions, {x.free_size()}, DType::Int32, 2);
    if (x.dims.size() == 2) quotient = quotient.split(0, x.dims[1].size);
    b_.activation(quotient, ActFunction::Copy, x, {.scale = constant(kInverse, i, x.partitions)});
    b_.scalar_tensor_tensor(dst, quotient, AluOp::Multiply, constant(kMinusP, i, x.partitions), AluOp::Add, x);
  }

  // dst (128, tiles, rows) <- residues of rows [r0, r0 + rows), tiles [first, first + tiles) of k.
  void load(const Access& dst, const Access& from, const Affine& i, const Affine& r0, std::int64_t rows, std::int64_t first, std::int64_t tiles) {
    const Access plane = drop(from(ds(i, 1), all, all), 0);
    const std::int64_t end = std::min(depth_, (first + tiles) * side_), whole = (end - first * side_) / side_, rest = (end - first * side_) % side_;
    if (whole > 0) {
      const Access src = plane(ds(r0, rows), ds(first * side_, whole * side_)).split(1, side_);  // (rows, tiles, 128)
      b_.dma_transpose(dst(all, ds(0, whole), all), src);
    }
    if (rest > 0) {
      const Access src = plane(ds(r0, rows), ds((first + whole) * side_, rest)).split(1, rest);
      b_.dma_transpose(dst(ds(0, rest), ds(whole, 1), all), src);
    }
  }

  // digits = A(block row) B mod p_i.
  void product(const Affine& i, const Affine& m0, std::int64_t rows) {
    const Access panel = b_.sbuf("a_panel", std::min(side_, depth_), {k_tiles_, rows}, DType::BFloat16, panel_buffers_);
    load(panel, a_residues_, i, m0, rows, 0, k_tiles_);
    for_blocks(b_, "nb", s_.n, bank_, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) { block(panel, i, m0, rows, n0, columns); });
  }

  void block(const Access& panel, const Affine& i, const Affine& m0, std::int64_t rows, const Affine& n0, std::int64_t columns) {
    constexpr std::int64_t kTiles = exact::kTermsMax / 128;
    const std::int64_t pieces = ceil_div(rows, side_), height = std::min(rows, side_), chunks = ceil_div(k_tiles_, kTiles);
    const auto tile = [&](const char* name, DType dtype) { return b_.sbuf(name, height, {pieces, columns}, dtype, 2); };
    const Access digits = tile("digit", DType::Int16);
    Access total;
    for (std::int64_t c = 0; c < chunks; ++c) {
      const std::int64_t first = c * kTiles, tiles = std::min(kTiles, k_tiles_ - first);
      const Access b_chunk = b_.sbuf("b_chunk", std::min(side_, depth_), {tiles, columns}, DType::BFloat16, 3);
      load(b_chunk, b_residues_, i, n0, columns, first, tiles);
      const Access sums = b_.psum("sums", height, {pieces, bank_}, DType::Float32, 2);
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        multiply(drop(sums(ds(0, rows_of(piece, rows)), ds(piece, 1), ds(0, columns)), 0), panel, b_chunk, piece, rows, first, tiles);
      }
      // All pieces at once when they are equally high.
      const bool even = rows % side_ == 0 || pieces == 1;
      const Access part = chunks == 1 ? digits : tile(c == 0 ? "total" : "part", DType::Float32);
      for (std::int64_t piece = 0; piece < (even ? 1 : pieces); ++piece) {
        const auto here = [&](const Access& x) { return x(ds(0, even ? height : rows_of(piece, rows)), ds(piece, even ? pieces : 1), ds(0, columns)); };
        reduce(here(part), here(sums), i);
        if (c > 0) b_.tensor_tensor(here(c + 1 == chunks ? digits : total), here(total), here(part), AluOp::Add, Engine::GpSimd);
      }
      if (c == 0) total = part;
    }
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t tall = rows_of(piece, rows);
      b_.dma_copy(drop(digits_(ds(i, 1), ds(m0 + piece * side_, tall), ds(n0, columns)), 0), drop(digits(ds(0, tall), ds(piece, 1), all), 0));
    }
  }

  std::int64_t rows_of(std::int64_t piece, std::int64_t rows) const { return std::min(side_, rows - piece * side_); }

  void multiply(const Access& sums, const Access& panel, const Access& b_chunk, std::int64_t piece, std::int64_t rows, std::int64_t first, std::int64_t tiles) {
    const std::int64_t rest = depth_ % side_;
    const bool ragged = rest > 0 && first + tiles == k_tiles_;
    const auto one = [&](const Affine& t, std::int64_t deep) {
      b_.nc_matmul(sums, drop(panel(ds(0, deep), ds(t + first, 1), ds(piece * side_, rows_of(piece, rows))), 0),
                   drop(b_chunk(ds(0, deep), ds(t, 1), all), 0), {.accumulate = t});
    };
    b_.sequential("kt", tiles - (ragged ? 1 : 0), [&](Affine t) { one(t, side_); });
    if (ragged) one(Affine(tiles - 1), rest);
  }

  static constexpr std::int64_t kLimbColumns = 1024, kResidueColumns = 512;

  ExactShape s_;
  const Machine& m_;
  Builder b_;
  std::int64_t side_, bank_;
  bool wide_;
  std::int64_t words_, rows_, depth_, k_tiles_, block_ = 0, panel_buffers_ = 1;
  Access digits_, a_residues_, b_residues_, table_;
};

}  // namespace

tile::Program exact_program(const ExactShape& shape, const Machine& machine) {
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "blas.gemm: a program needs m, n, k >= 1, got {} x {} x {}", shape.m, shape.n, shape.k);
  require(shape.moduli >= 1 && shape.moduli <= exact::kModuliMax, "blas.gemm: {} moduli; there are {}", shape.moduli, exact::kModuliMax);
  const DType real = real_of(shape.in);
  require(real == DType::Float64 || real == DType::Float32, "blas.gemm: precision 'exact' takes float64 and float32, not {}", name(shape.in));
  return ExactKernel(shape, machine).build();
}

std::vector<float> exact_table(int moduli) {
  std::vector<float> table(static_cast<std::size_t>(kTableRows * moduli));
  for (int i = 0; i < moduli; ++i) {
    const int p = exact::moduli()[static_cast<std::size_t>(i)];
    const auto at = [&](Row row) -> float& { return table[static_cast<std::size_t>(row * moduli + i)]; };
    std::int64_t power = 1;
    for (int l = 1; l <= 3; ++l) {
      power = (power << 16) % p;
      const std::int64_t balanced = 2 * power > p ? power - p : power;
      at(static_cast<Row>(kC1 + l - 1)) = std::ldexp(static_cast<float>(balanced), -16 * l);
    }
    at(kInverse) = 1.0F / static_cast<float>(p);
    at(kMinusP) = -static_cast<float>(p);
  }
  return table;
}

namespace device {

void exact_product(const Executor& executor, const ExactArgs& args) {
  const GemmArgs& g = args.g;
  std::vector<exact::Wide> row(static_cast<std::size_t>(args.columns));
  if (args.depth == 0) {
    for (std::int64_t i = 0; i < args.rows; ++i) args.sink(i, row.data());
    return;
  }
  Device& device = device_of(executor);
  const ExactShape shape{g.in, args.moduli, g.m, g.n, g.k, g.am, g.ak, g.bk, g.bn, g.conj_a, g.conj_b};
  const auto program = device.programs().get(shape, [&](const ExactShape& s) { return exact_program(s, device.machine()); });
  const bool wide = real_of(g.in) == DType::Float64;
  const auto upload = [&](std::span<const std::int32_t> shift) {
    std::vector<float> offset;
    for (const std::int32_t s : shift) offset.push_back(static_cast<float>(exact::exponent_offset(wide, s)));
    return Array<float>::from_host(executor, {static_cast<std::int64_t>(offset.size())}, offset);
  };
  const Array<float> offset_a = upload(args.shift_a), offset_b = upload(args.shift_b);
  const Array<float> table = Array<float>::from_host(executor, {kTableRows * args.moduli}, exact_table(args.moduli));
  const std::int64_t plane = args.rows * args.columns;
  const Array<std::int16_t> digits(executor, {args.moduli * plane});
  device.run(*program, std::vector<Binding>{{"a", const_cast<void*>(g.a)}, {"b", const_cast<void*>(g.b)}, {"offset_a", offset_a.data()},
                                            {"offset_b", offset_b.data()}, {"table", table.data()}, {"digits", digits.data()}});
  const std::vector<std::int16_t> host = digits.to_host();
  const exact::Chinese chinese(args.moduli);
#pragma omp parallel for firstprivate(row) if (plane > 1 << 12)
  for (std::int64_t i = 0; i < args.rows; ++i) {
    for (std::int64_t j = 0; j < args.columns; ++j) row[static_cast<std::size_t>(j)] = chinese.combine(host.data() + i * args.columns + j, plane);
    args.sink(i, row.data());
  }
}

}  // namespace device

}  // namespace trn::blas

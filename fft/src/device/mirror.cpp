// Points and their mirror images: what makes a real transform of even length from a complex one of half the length, and half a line whole. See points_program.hpp.
//
// With a = x_k, b' = x_(m-k) and t_k = c + i d the results are, a sum and a difference shared by both parts,
//
//   Re y_k = (Re a + Re b') + d (Re a - Re b') + c (Im a + Im b')
//   Im y_k = (Im a - Im b') + d (Im a + Im b') - c (Re a - Re b')
//
// twelve operations of the Vector and GpSimd Engines per complex point. x_(m-k) comes by a load of its own whose partitions run backwards; along a partition the engines
// read backwards. Points 0 and m, which are their own mirror images, are done apart.
#include <trn/core/error.hpp>
#include <trn/fft/points_program.hpp>

#include "../roots.hpp"
#include "point_tiles.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

class Mirror {
 public:
  Mirror(const MirrorShape& s, const Machine& machine)
      : s_(s), machine_(machine), b_("fft_mirror", machine), x_(declare_side(b_, "x", s.in, s.lines, true)), y_(declare_side(b_, "y", s.out, s.lines, false)),
        in_(s.lines.back().in), out_(s.lines.back().out), tiles_(b_, s.lines) {
    require(!s.in.real && !s.out.real, "fft: mirror images have two parts");
  }

  Program build() {
    switch (s_.kind) {
      case MirrorKind::RealToHalf:
        m_ = s_.in.points;
        require(s_.out.points == m_ + 1, "fft: {} points make {} of half a real line, not {}", m_, m_ + 1, s_.out.points);
        break;
      case MirrorKind::HalfToReal:
        m_ = s_.out.points;
        require(s_.in.points == m_ + 1, "fft: {} points of half a real line make {}, not {}", s_.in.points, s_.in.points - 1, m_);
        break;
      case MirrorKind::Expand: return expand();
    }
    if (m_ > 1) table_ = b_.input("table", DType::Float32, {m_ - 1, 2});
    tiles_.each(1, m_ - 1, [&](const PointTile& t) { return table(t); }, [&](const PointTile& t, const Access& state) { interior(t, state); });
    tiles_.each_line([&](const PointTile& t, const Access&) { s_.kind == MirrorKind::RealToHalf ? ends_out(t) : ends_in(t); });
    return b_.finish();
  }

 private:
  Access table(const PointTile& t) {
    const std::int64_t partitions = t.by_points ? t.partitions : machine_.partitions;
    const Access tile = b_.sbuf("table_tile", partitions, {2 * t.length}, DType::Float32, 2);
    b_.dma_copy(tile, pattern(table_, (t.point - 1) * 2, {{t.by_points ? 2 * t.length : 0, partitions}, {1, 2 * t.length}}));
    return tile;
  }
  // Offset of the points of a tile that run down from `top`: the lowest one on its first partition.
  Affine down(const PointTile& t, std::int64_t top, std::int64_t stride) const { return (Affine(top) - t.point - (t.length - 1)) * stride; }

  Access combine(const Access& u, const Access& v, AluOp op, Engine engine) {
    const Access r = b_.sbuf("part", u.partitions, {u.dims[0].size, u.dims[1].size}, DType::Float32, 2);
    b_.tensor_tensor(r, u, v, op, engine);
    return r;
  }

  void interior(const PointTile& t, const Access& whole_table) {
    const PointData a = point_data(b_, "a_tile", t, x_), b = point_data(b_, "b_tile", t, x_), y = point_data(b_, "y_tile", t, y_);
    load(b_, a, t, x_, t.in + t.point * s_.in.stride, in_, 1);
    load(b_, b, t, x_, t.in + down(t, m_, s_.in.stride), in_, -1);
    const Access table = whole_table(ds(0, t.partitions), all);
    const Access c = pattern(table, 0, {{0, t.lines}, {2, t.length}}), d = pattern(table, 1, {{0, t.lines}, {2, t.length}});
    const Access ar = a.part(0, t), ai = a.part(1, t), br = b.part(0, t, true), bi = b.part(1, t, true);
    const Access sum_re = combine(ar, br, AluOp::Add, Engine::GpSimd), difference_re = combine(ar, br, AluOp::Subtract, Engine::Vector);
    const Access sum_im = combine(ai, bi, AluOp::Add, Engine::Vector), difference_im = combine(ai, bi, AluOp::Subtract, Engine::GpSimd);
    const Access re = combine(combine(difference_re, d, AluOp::Multiply, Engine::Vector), combine(sum_im, c, AluOp::Multiply, Engine::Vector), AluOp::Add, Engine::Vector);
    const Access im = combine(combine(sum_im, d, AluOp::Multiply, Engine::Vector), combine(difference_re, c, AluOp::Multiply, Engine::GpSimd), AluOp::Subtract, Engine::Vector);
    b_.tensor_tensor(y.part(0, t), sum_re, re, AluOp::Add, Engine::Vector);
    b_.tensor_tensor(y.part(1, t), difference_im, im, AluOp::Add, Engine::Vector);
    store(b_, y, t, y_, t.out + t.point * s_.out.stride, out_);
  }

  // y_0 = 2 (Re x_0 + Im x_0), y_m = 2 (Re x_0 - Im x_0).
  void ends_out(const PointTile& t) {
    const PointData x = point_data(b_, "x_ends", t, x_);
    load(b_, x, t, x_, t.in, in_, 1);
    const Access re = combine(x.part(0, t), x.part(0, t), AluOp::Add, Engine::GpSimd), im = combine(x.part(1, t), x.part(1, t), AluOp::Add, Engine::GpSimd);
    for (const std::int64_t point : {std::int64_t{0}, m_}) {
      const PointData y = point_data(b_, "y_ends", t, y_);
      b_.tensor_tensor(y.part(0, t), re, im, point == 0 ? AluOp::Add : AluOp::Subtract, Engine::GpSimd);
      b_.memset(y.part(1, t), 0, Engine::GpSimd);
      store(b_, y, t, y_, t.out + point * s_.out.stride, out_);
    }
  }
  // z_0 = (Re x_0 + Re x_m) + i (Re x_0 - Re x_m).
  void ends_in(const PointTile& t) {
    const PointData first = point_data(b_, "x_first", t, x_), last = point_data(b_, "x_last", t, x_), y = point_data(b_, "y_ends", t, y_);
    load(b_, first, t, x_, t.in, in_, 1);
    load(b_, last, t, x_, t.in + m_ * s_.in.stride, in_, 1);
    b_.tensor_tensor(y.part(0, t), first.part(0, t), last.part(0, t), AluOp::Add, Engine::GpSimd);
    b_.tensor_tensor(y.part(1, t), first.part(0, t), last.part(0, t), AluOp::Subtract, Engine::GpSimd);
    store(b_, y, t, y_, t.out, out_);
  }

  Program expand() {
    const std::int64_t n = s_.out.points;
    require(n % 2 == 1 && s_.in.points == n / 2 + 1, "fft: {} points are not half of a line of {}", s_.in.points, n);
    const auto nothing = [](const PointTile&) { return Access{}; };
    tiles_.each(1, n / 2, nothing, [&](const PointTile& t, const Access&) {
      const PointData x = point_data(b_, "x_tile", t, x_), y = point_data(b_, "y_tile", t, y_);
      load(b_, x, t, x_, t.in + t.point * s_.in.stride, in_, 1);
      for (std::int64_t part = 0; part < 2; ++part) b_.tensor_copy(y.part(part, t), x.part(part, t), Engine::Vector);
      store(b_, y, t, y_, t.out + t.point * s_.out.stride, out_);
    });
    tiles_.each(n / 2 + 1, n / 2, nothing, [&](const PointTile& t, const Access&) {
      const PointData x = point_data(b_, "x_tile", t, x_), y = point_data(b_, "y_tile", t, y_);
      load(b_, x, t, x_, t.in + down(t, n, s_.in.stride), in_, -1);
      b_.tensor_copy(y.part(0, t), x.part(0, t, true), Engine::Vector);
      b_.tensor_scalar(y.part(1, t), x.part(1, t, true), AluOp::Multiply, -1.0, {.engine = Engine::Vector});
      store(b_, y, t, y_, t.out + t.point * s_.out.stride, out_);
    });
    tiles_.each_line([&](const PointTile& t, const Access&) {
      const PointData x = point_data(b_, "x_ends", t, x_), y = point_data(b_, "y_ends", t, y_);
      load(b_, x, t, x_, t.in, in_, 1);
      b_.tensor_copy(y.part(0, t), x.part(0, t), Engine::GpSimd);
      b_.memset(y.part(1, t), 0, Engine::GpSimd);
      store(b_, y, t, y_, t.out, out_);
    });
    return b_.finish();
  }

  const MirrorShape s_;
  const Machine& machine_;
  tile::Builder b_;
  SideTensors x_, y_;
  std::int64_t in_, out_, m_ = 0;
  PointTiles tiles_;
  Access table_;
};

}  // namespace

Program mirror_program(const MirrorShape& shape, const Machine& machine) { return Mirror(shape, machine).build(); }

std::vector<Constant> mirror_constants(const MirrorShape& s, Direction direction) {
  const std::int64_t m = s.kind == MirrorKind::RealToHalf ? s.in.points : s.out.points;
  if (s.kind == MirrorKind::Expand || m < 2) return {};
  Constant table{"table", std::vector<std::byte>(static_cast<std::size_t>(2 * (m - 1)) * sizeof(float))};
  auto* entry = reinterpret_cast<float*>(table.bytes.data());
  for (std::int64_t k = 1; k < m; ++k) {
    std::complex<long double> w = long_root(k, 2 * m);
    if (direction == Direction::Inverse) w = std::conj(w);
    if (s.kind == MirrorKind::HalfToReal) w = -w;
    *entry++ = static_cast<float>(w.real());
    *entry++ = static_cast<float>(w.imag());
  }
  return {table};
}

}  // namespace trn::fft

// Tridiagonal systems on a device: the program, the upload of factors, the launch.
//
// Partitions: 128 systems. A scan takes 2 cycles an unknown: 2.1 us for 1024 on trn2, twice, and the products with q
// 1.1 us. Turning around takes a transpose and a product with J for each 128 unknowns, both ways: 4 x 0.11 to 0.22 us
// of the Tensor Engine, and Scalar copies from PSUM, 0.47 us for 512. Columns of B that are rows in memory (systems
// side by side) take one transpose more on their way in, and leave by a product with J as stationary operand instead.
// While the Tensor Engine turns one group of systems around the Vector Engine scans the next one. Factors are 3 of the
// 5 arrays that move: 1.5 MB for 128 x 1024, 4.2 us of all DMA engines.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/sparse/tile_programs.hpp>
#include <trn/sparse/tridiagonal_programs.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../tridiagonal_kernels.hpp"
#include "ordered.hpp"
#include "rings.hpp"

namespace trn::sparse {

using namespace trn::tile;
using blocks::ceil_div;
using device::at;

namespace {

constexpr std::int64_t kSide = 128, kSegment = 512;                    // unknowns in a bank of PSUM
constexpr std::int64_t kArrays = 6;                                    // b, y, x and three factors
constexpr std::int64_t kTiles = 4 * kSegment * 4 + 4 * kSide * 4 * 2;  // turned tiles, ones and J
constexpr std::int64_t kGroupsWrittenOut = 20000, kGroupsInLoop = 4;

std::int64_t room(const Machine& m) { return (m.sbuf_bytes_per_partition - kTiles - 4096) / (4 * kArrays); }

class Tridiagonal {
 public:
  Tridiagonal(const TridiagonalShape& shape, const Machine& machine)
      : s_(shape), b_("sparse_tridiagonal", machine), rings_(b_), places_(2 * s_.n <= room(machine) ? 2 : 1) {
    require(s_.n <= room(machine), "sparse: {} unknowns do not fit SBUF; up to {} do", s_.n, room(machine));
    groups_ = ceil_div(s_.count, kSide);
    factors_ = b_.input("factors", DType::Float32, {groups_, 3, kSide, s_.n});
    in_ = b_.input("b", DType::Float32, {s_.n, s_.count}, {s_.b_row, s_.b_column});
    out_ = b_.output_over("x", in_);
    side_by_side_ = s_.b_column == 1 && s_.n > 1;
    const Access ones = b_.sbuf("ones", kSide, {kSide}, DType::Float32);
    turn_ = b_.sbuf("turn", kSide, {kSide}, DType::Float32);
    b_.memset(ones, 1.0, Engine::Vector);
    b_.affine_select(turn_, {{1, kSide}}, 1 - kSide, 1, AluOp::Equal, ones, 0);  // k + n = 127
  }

  Program build() {
    const std::int64_t whole = s_.count / kSide, instructions = 20 * ceil_div(s_.n, kSide);
    const std::int64_t in_loop = groups_ * instructions > kGroupsWrittenOut ? whole / kGroupsInLoop : 0;
    b_.parallel("group", in_loop, [&](const Affine& g) {
      rings_.clear();
      run(g * kGroupsInLoop, kGroupsInLoop, kSide);
    });
    rings_.clear();
    const std::int64_t first = in_loop * kGroupsInLoop;
    run(first, groups_ - first, s_.count - (groups_ - 1) * kSide);
    return device::ordered(static_stores(b_.finish()), b_.machine());
  }

 private:
  struct Group {
    Affine number = 0;
    std::int64_t systems = 0;
    Access y, u, x, turned;  // turned: from the last unknown to the first
  };
  // One segment of a group on its way back.
  struct Unit {
    std::size_t group = 0;
    std::int64_t segment = 0;
    Access y;
  };
  // The last of `count` groups has `last` systems. Recorded as a pipeline over the segments of all groups, because each
  // engine works in the order of the program: a segment's result leaves while the next one is scanned and the one after
  // it is turned around; the forward scans of a group stand before the backward ones of the group ahead of it. Where
  // there is one place for each array, a group ends before the next one begins.
  void run(const Affine& first, std::int64_t count, std::int64_t last) {
    std::vector<Group> groups;
    std::vector<Unit> units;
    const auto begin = [&] {
      const auto g = static_cast<std::int64_t>(groups.size());
      if (g < count) groups.push_back(forward(first + g, g + 1 == count ? last : kSide));
    };
    for (std::int64_t g = 0; g < count; ++g) {
      for (std::int64_t s = segments(); s-- > 0;) units.push_back({static_cast<std::size_t>(g), s, {}});
    }
    const bool overlaps = places_ > 1;
    const auto turn = [&](std::size_t u) {
      if (u >= units.size() || units[u].y.present()) return;
      const Group& g = groups[units[u].group];
      const std::int64_t s = units[u].segment;
      units[u].y = reversed("back", g.y(all, ds(s * kSegment, size_of(s))));
    };
    for (std::size_t u = 0; u < units.size(); ++u) {
      const bool new_group = u == 0 || units[u].group != units[u - 1].group;
      if (u > 0) leave(groups[units[u - 1].group], units[u - 1].segment);
      if (new_group) {
        if (groups.size() == units[u].group) begin();
        if (overlaps) begin();
      }
      turn(u);
      if (u + 1 < units.size() && units[u + 1].group < groups.size()) turn(u + 1);
      scan(groups[units[u].group], units[u]);
    }
    if (!units.empty()) leave(groups[units.back().group], units.back().segment);
  }

  Access take(const char* name, std::int64_t systems) {
    return rings_.take(name, Space::Sbuf, systems, {s_.n}, DType::Float32, places_, s_.n);
  }
  Access factor(const char* name, const Affine& g, std::int64_t which, std::int64_t systems) {
    const Access to = take(name, systems);
    b_.dma_copy(to, at(at(factors_, 0, g), 0, which)(ds(0, systems), all));
    return to;
  }
  Access psum(const char* name, std::int64_t partitions, std::int64_t columns, std::int64_t places) {
    return rings_.take(name, Space::Psum, partitions, {columns}, DType::Float32, places, kSegment);
  }
  std::int64_t segments() const { return ceil_div(s_.n, kSegment); }
  std::int64_t size_of(std::int64_t segment) const { return std::min(kSegment, s_.n - segment * kSegment); }
  // (systems, unknowns) or (unknowns, systems) of B or X.
  Access part(const Access& tensor, const Affine& g, std::int64_t systems, std::int64_t first,
              std::int64_t size) const {
    return tensor(ds(first, size), ds(g * kSide, systems));
  }

  Group forward(const Affine& g, std::int64_t systems) {
    const Access b = take("b_rows", systems), y = take("y", systems);
    if (!side_by_side_) b_.dma_copy(b, part(in_, g, systems, 0, s_.n).permute({1, 0}));
    const Access q = factor("q", g, 0, systems), l = factor("l", g, 1, systems), u = factor("u", g, 2, systems);
    for (std::int64_t s = 0; s < segments(); ++s) {
      const std::int64_t size = size_of(s);
      const Slice here = ds(s * kSegment, size);
      Access right = b(all, here);
      if (side_by_side_) {
        right = psum("came", systems, size, 2);
        for (std::int64_t c = 0; c < size; c += kSide) {
          const std::int64_t rows = std::min(kSide, size - c);
          const Access tile = rings_.take("rows", Space::Sbuf, rows, {systems}, DType::Float32, 4, kSide);
          b_.dma_copy(tile, part(in_, g, systems, s * kSegment + c, rows));
          b_.nc_transpose(right(all, ds(c, rows)), tile);
        }
      }
      b_.tensor_tensor(b(all, here), right, q(all, here), AluOp::Multiply, Engine::Vector);
      const ScalarOrTile before = s == 0 ? ScalarOrTile(0.0) : ScalarOrTile(y(all, ds(s * kSegment - 1, 1)));
      b_.tensor_tensor_scan(y(all, here), l(all, here), b(all, here), before, AluOp::Multiply, AluOp::Add);
    }
    return {g, systems, y, u, b, {}};  // x takes the place of b
  }

  // (unknowns, pieces, systems) in SBUF: `data` (systems, unknowns), 128 unknowns a piece.
  Access turned(const Access& data, std::int64_t size) {
    const std::int64_t systems = data.partitions, pieces = ceil_div(size, kSide);
    const Access sums = psum("turned", kSide, pieces * systems, 2),
                 to = rings_.take("turned_tiles", Space::Sbuf, kSide, {pieces * systems}, DType::Float32, 4, kSegment);
    for (std::int64_t c = 0; c < pieces; ++c) {
      const std::int64_t rows = std::min(kSide, size - c * kSide);
      b_.nc_transpose(sums(ds(0, rows), ds(c * systems, systems)), data(all, ds(c * kSide, rows)));
    }
    const std::int64_t whole = size / kSide;
    if (whole > 0) b_.tensor_copy(to(all, ds(0, whole * systems)), sums(all, ds(0, whole * systems)), copies());
    if (whole < pieces) {
      const Slice rows = ds(0, size - whole * kSide), rest = ds(whole * systems, systems);
      b_.tensor_copy(to(rows, rest), sums(rows, rest), copies());
    }
    return to.split(0, systems);
  }
  Engine copies() const { return b_.machine().scalar_tensor_copy ? Engine::Scalar : Engine::Vector; }

  // (systems, unknowns) of PSUM: `data` from its last column to its first.
  Access reversed(const char* name, const Access& data) {
    const std::int64_t systems = data.partitions, size = data.free_size();
    const Access to = psum(name, systems, size, 2);
    const Access tiles = turned(data, size);
    for (std::int64_t c = 0; c * kSide < size; ++c) {
      const std::int64_t rows = std::min(kSide, size - c * kSide);
      b_.nc_matmul(to(all, ds(size - c * kSide - rows, rows)), at(tiles, 0, c)(ds(0, rows), all),
                   turn_(ds(0, rows), ds(kSide - rows, rows)));
    }
    return to;
  }

  Slice turned_place(std::int64_t segment) const {
    return ds(s_.n - segment * kSegment - size_of(segment), size_of(segment));
  }
  void scan(Group& g, const Unit& unit) {
    const Slice here = turned_place(unit.segment);
    const bool first = unit.segment + 1 == segments();
    if (first) g.turned = take("x", g.systems);
    const ScalarOrTile before =
        first
            ? ScalarOrTile(0.0)
            : ScalarOrTile(g.turned(all, ds(turned_place(unit.segment + 1).start + size_of(unit.segment + 1) - 1, 1)));
    b_.tensor_tensor_scan(g.turned(all, here), g.u(all, here), unit.y, before, AluOp::Multiply, AluOp::Add);
  }
  void leave(const Group& g, std::int64_t s) {
    const Access x = g.turned(all, turned_place(s));
    if (side_by_side_) return leave_as_rows(g, x, s);
    const Access to = g.x(all, ds(s * kSegment, size_of(s)));
    b_.tensor_copy(to, reversed("result", x), copies());
    b_.dma_copy(part(out_, g.number, g.systems, s * kSegment, size_of(s)).permute({1, 0}), to);
  }
  // Unknowns on partitions, turned around there: J is the stationary operand.
  void leave_as_rows(const Group& g, const Access& x, std::int64_t s) {
    const std::int64_t size = size_of(s);
    const Access tiles = turned(x, size);
    const Access sums = psum("result", kSide, ceil_div(size, kSide) * g.systems, 2);
    for (std::int64_t c = 0; c * kSide < size; ++c) {
      const std::int64_t rows = std::min(kSide, size - c * kSide);
      const Access to = sums(ds(0, rows), ds(c * g.systems, g.systems));
      b_.nc_matmul(to, turn_(ds(0, rows), ds(kSide - rows, rows)), at(tiles, 0, c)(ds(0, rows), all));
      const Access out = rings_.take("rows_out", Space::Sbuf, rows, {g.systems}, DType::Float32, 4, kSide);
      b_.tensor_copy(out, to, copies());
      b_.dma_copy(part(out_, g.number, g.systems, s * kSegment + size - c * kSide - rows, rows), out);
    }
  }

  const TridiagonalShape s_;
  Builder b_;
  device::Rings rings_;
  const std::int64_t places_;
  std::int64_t groups_ = 0;
  bool side_by_side_ = false;
  Access factors_, in_, out_, turn_;
};

}  // namespace

std::int64_t tridiagonal_longest(const Machine& machine) { return room(machine); }
Program tridiagonal_program(const TridiagonalShape& shape, const Machine& machine) {
  return Tridiagonal(shape, machine).build();
}

namespace device {

namespace {

struct State {
  TridiagonalShape shape;
  Buffer factors;
};

}  // namespace

TridiagonalMade plan_tridiagonal(const Executor& executor, const TridiagonalFactors& f) {
  constexpr const char* operation = "sparse.tridiagonal.plan";
  const Machine& machine = device_of(executor).machine();
  if (f.n > tridiagonal_longest(machine))
    fail<NotImplemented>("{}: systems of {} unknowns; executor '{}' takes up to {}: solve on the host", operation, f.n,
                         executor.name(), tridiagonal_longest(machine));
  const std::int64_t groups = ceil_div(f.count, kSide);
  std::vector<float> packed(static_cast<std::size_t>(groups * 3 * kSide * f.n), 0.0f);
  for (std::int64_t k = 0; k < f.count; ++k) {
    float* to = packed.data() + (k / kSide * 3 * kSide + k % kSide) * f.n;
    for (std::int64_t i = 0; i < f.n; ++i) {
      to[i] = f.q[k * f.n + i];
      to[kSide * f.n + i] = -f.l[k * f.n + i];
      to[2 * kSide * f.n + i] = -f.u[k * f.n + f.n - 1 - i];
    }
  }
  const TridiagonalShape shape{f.n, f.count, f.count, 1};
  TridiagonalReport r;
  r.modelled_seconds = roof_seconds(tridiagonal_program(shape, machine), machine);
  r.host_seconds = static_cast<double>(f.n) * static_cast<double>(f.count) / 0.5e9;
  return {r, std::make_shared<const State>(
                 State{shape, upload_constant(executor, "sparse.factors", std::as_bytes(std::span(packed)))})};
}

void solve_tridiagonal(const Executor& executor, const TridiagonalSolveArgs& g) {
  const auto& s = *static_cast<const State*>(g.state);
  TridiagonalShape shape = s.shape;
  shape.b_row = g.b.row_stride(), shape.b_column = g.b.column_stride();
  launch(executor, tridiagonal_program, shape,
         {{"factors", static_cast<const void*>(s.factors.data())},
          {"b", static_cast<const void*>(g.b.data())},
          {"x", static_cast<void*>(g.b.data())}});
}

}  // namespace device

}  // namespace trn::sparse

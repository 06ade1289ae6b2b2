// The kernel of stencils with constant coefficients, and how a matrix is seen to be one.
//
// Partitions: planes z of the grid, 128 in and 126 out. A tile has some rows y of each plane, one more on either side,
// and all of x, with a zero on either side. A group of shifts takes one product of a banded matrix (K = 128 planes, M =
// 126) with 512 points: 0.86 us in fp32 on trn2. Sums of shifted operands are made beforehand, first along x, then
// along y, by the Vector Engine (1 ns a point of 128 lanes) and GpSimd (1.7 ns), whichever has less to do; the Scalar
// Engine empties PSUM (0.47 us for 512). Poisson's seven points are two groups, the centre and its four neighbours in
// the plane: 1.7 us of the Tensor Engine for 126 x 512 points against 8.6 bytes a point of all DMA engines, 1.5 us.
#include <algorithm>
#include <cmath>
#include <map>

#include <trn/core/error.hpp>
#include <trn/tile/stores.hpp>

#include "ordered.hpp"
#include "rings.hpp"
#include "tiling.hpp"

namespace trn::sparse {

using namespace trn::tile;
using blocks::ceil_div;
using device::at;

namespace {

constexpr std::int64_t kSide = 128, kWidest = 2048;  // points of a row in one tile
constexpr std::int64_t kPlaces = 2, kBanks = 6, kMostRows = 32;

class StencilKernel {
 public:
  StencilKernel(const StencilShape& shape, const Machine& machine)
      : s_(shape), p_(shape.product), b_("sparse_stencil", machine), rings_(b_), t_(b_, shape.product, 0) {
    const auto groups = static_cast<std::int64_t>(s_.groups.size());
    a_ = b_.input("a", DType::Float32, {kSide, 2, groups, kSide});
    in_ = b_.input("b", DType::Float32, {p_.columns, p_.n}, {p_.b_row, p_.b_column});
    bands_ = b_.sbuf("bands", kSide, {2, groups, kSide}, DType::Float32);
    b_.dma_copy(bands_, a_);
    for (const auto& g : s_.groups) {
      for (const auto& [dy, dx] : g.shifts) {
        along_y_ = along_y_ || dy != 0;
        along_x_ = along_x_ || dx != 0;
      }
    }
    wide_ = std::min(s_.nx, kWidest);
    choose_rows();
  }

  Program build() {
    struct Tiles {
      std::int64_t low, depth, first, planes;  // planes [low, low + depth) in, [first, first + planes) out
    };
    std::vector<Tiles> tiles;
    for (std::int64_t first = 0; first < s_.nz;) {
      const std::int64_t low = std::max<std::int64_t>(0, first - 1), depth = std::min(kSide, s_.nz - low);
      const std::int64_t end = low + depth == s_.nz ? s_.nz : low + depth - 1;
      tiles.push_back({low, depth, first, end - first});
      first = end;
    }
    const std::int64_t y_tiles = ceil_div(s_.ny, rows_), x_tiles = ceil_div(s_.nx, wide_);
    const std::int64_t each = 8 + ceil_div(rows_ * wide_, 512) * (static_cast<std::int64_t>(s_.groups.size()) + 1);
    const auto all_tiles = p_.n * static_cast<std::int64_t>(tiles.size()) * x_tiles * y_tiles;
    const bool loops = all_tiles * each > kWrittenOut;
    for (std::int64_t column = 0; column < p_.n; ++column) {
      for (const Tiles& z : tiles) {
        for (std::int64_t x = 0; x < x_tiles; ++x) {
          const std::int64_t x0 = x * wide_, w = std::min(wide_, s_.nx - x0);
          const auto one = [&](const Affine& y0, std::int64_t rows, bool low, bool high) {
            tile(column, z.low, z.depth, z.first, z.planes, x0, w, y0, rows, low, high);
          };
          // Tiles between the first and the last one of y are alike.
          const std::int64_t inner = loops ? std::max<std::int64_t>(0, y_tiles - 2) / kPlaces : 0;
          one(0, std::min(rows_, s_.ny), true, y_tiles == 1);
          if (inner > 0) {
            rings_.clear();
            b_.parallel("y", inner, [&](const Affine& i) {
              for (std::int64_t k = 0; k < kPlaces; ++k)
                one(i * (kPlaces * rows_) + (1 + k) * rows_, rows_, false, false);
            });
            rings_.clear();
          }
          for (std::int64_t y = 1 + inner * kPlaces; y < y_tiles; ++y)
            one(y * rows_, std::min(rows_, s_.ny - y * rows_), false, y + 1 == y_tiles);
        }
      }
    }
    return device::ordered(static_stores(b_.finish()), b_.machine());
  }

 private:
  // As many rows as fit: two places each of the points, sums along x and along both, results.
  void choose_rows() {
    const std::int64_t room =
        b_.machine().sbuf_bytes_per_partition - 2 * kSide * 4 * static_cast<std::int64_t>(s_.groups.size()) - 8192;
    std::int64_t sums_x = 0, sums = 0;
    std::map<std::vector<int>, bool> known;
    for (const auto& g : s_.groups) {
      const auto rows = rows_of(g);
      sums += rows.size() > 1 ? 1 : 0;
      for (const auto& [dy, shifts] : rows) {
        for (std::size_t k = 2; k <= shifts.size(); ++k)
          sums_x +=
              known.emplace(std::vector<int>(shifts.begin(), shifts.begin() + static_cast<std::ptrdiff_t>(k)), true)
                  .second;
      }
    }
    sum_places_ = sums;
    for (rows_ = std::min(s_.ny, kMostRows); rows_ > 1; --rows_) {
      const std::int64_t high = rows_ + 2 * halo_y();
      const std::int64_t bytes =
          4 * kPlaces *
          (high * (wide_ + 2 * halo_x()) + sums_x * high * wide_ + (sums + (p_.added ? 2 : 1)) * rows_ * wide_);
      if (bytes <= room) break;
    }
  }
  std::int64_t halo_x() const { return along_x_ ? 1 : 0; }
  std::int64_t halo_y() const { return along_y_ ? 1 : 0; }

  // The shifts of a group, row by row: dx = -1, 1, 0 in this order, so that sums begin alike.
  using Rows = std::map<int, std::vector<int>>;
  static Rows rows_of(const StencilShape::Group& g) {
    Rows rows;
    for (const int dx : {-1, 1, 0}) {
      for (const auto& s : g.shifts) {
        if (s[1] == dx) rows[s[0]].push_back(dx);
      }
    }
    return rows;
  }

  // HBM: (planes, rows, points) from point (z, y, x) of column `column` of `tensor`.
  Access grid(const Access& tensor, std::int64_t row, std::int64_t step, std::int64_t column, std::int64_t z,
              std::int64_t planes, const Affine& y, std::int64_t rows, std::int64_t x, std::int64_t w) const {
    Access g = tensor;
    g.offset = g.offset + (y * s_.nx + (z * s_.ny * s_.nx + x)) * row + column * step;
    g.dims = {{s_.ny * s_.nx * row, planes}, {s_.nx * row, rows}, {row, w}};
    return g;
  }

  void add(const Access& to, const Access& x, const Access& y) {
    const Machine& m = b_.machine();
    const auto n = static_cast<double>(to.free_size());
    const double vector = n * 2 / m.vector_elements_per_cycle_fp32 / m.vector_hz + m.timing.vector_fixed_s;
    const double gpsimd = (n * m.timing.gpsimd_pair_cycles + m.timing.gpsimd_start_cycles) / m.gpsimd_hz;
    const bool other = !m.vector_gpsimd_share_port && busy_[1] + gpsimd <= busy_[0] + vector;
    busy_[other ? 1 : 0] += other ? gpsimd : vector;
    b_.tensor_tensor(to, x, y, AluOp::Add, other ? Engine::GpSimd : Engine::Vector);
  }

  void tile(std::int64_t column, std::int64_t low, std::int64_t depth, std::int64_t first, std::int64_t planes,
            std::int64_t x0, std::int64_t w, const Affine& y0, std::int64_t rows, bool is_first, bool is_last) {
    const std::int64_t hx = halo_x(), hy = halo_y(), high = rows + 2 * hy, pitch = w + 2 * hx;
    const Access u = rings_.take("points", Space::Sbuf, depth, {high, pitch}, DType::Float32, kPlaces,
                                 (rows_ + 2 * hy) * (wide_ + 2 * hx));
    // What lies outside the grid is 0.
    const std::int64_t left = x0 > 0 ? hx : 0, right = x0 + w < s_.nx ? hx : 0;
    if (hx > left) b_.memset(u(all, all, ds(0, 1)), 0.0, Engine::Vector);
    if (hx > right) b_.memset(u(all, all, ds(pitch - 1, 1)), 0.0, Engine::Vector);
    if (hy > 0 && is_first) b_.memset(u(all, ds(0, 1), all), 0.0, Engine::Vector);
    if (hy > 0 && is_last) b_.memset(u(all, ds(high - 1, 1), all), 0.0, Engine::Vector);
    const std::int64_t above = is_first ? 0 : hy, below = is_last ? 0 : hy;
    b_.dma_copy(u(all, ds(hy - above, rows + above + below), ds(hx - left, w + left + right)),
                grid(in_, p_.b_row, p_.b_column, column, low, depth, y0 - above, rows + above + below, x0 - left,
                     w + left + right));

    std::map<std::vector<int>, Access> sums_x;  // (depth, high, w)
    const auto along_x = [&](const std::vector<int>& shifts) {
      if (shifts.size() == 1) return u(all, all, ds(hx + shifts[0], w));
      Access sum;
      for (std::size_t k = 2; k <= shifts.size(); ++k) {
        const std::vector<int> front(shifts.begin(), shifts.begin() + static_cast<std::ptrdiff_t>(k));
        Access& known = sums_x[front];
        if (!known.present()) {
          known = rings_.take("sums_x" + std::to_string(sums_x.size()), Space::Sbuf, depth, {high, w}, DType::Float32,
                              kPlaces, (rows_ + 2 * hy) * wide_);
          add(known, k == 2 ? u(all, all, ds(hx + shifts[0], w)) : sum, u(all, all, ds(hx + shifts[k - 1], w)));
        }
        sum = known;
      }
      return sum;
    };
    std::vector<Access> operands;  // (depth, rows, w)
    std::int64_t number = 0;
    for (const auto& g : s_.groups) {
      const Rows parts = rows_of(g);
      std::vector<Access> terms;
      for (const auto& [dy, shifts] : parts) terms.push_back(along_x(shifts)(all, ds(hy + dy, rows), all));
      if (terms.size() == 1) {
        operands.push_back(terms[0]);
        continue;
      }
      const Access sum = rings_.take("sums" + std::to_string(number++), Space::Sbuf, depth, {rows, w}, DType::Float32,
                                     kPlaces, rows_ * wide_);
      add(sum, terms[0], terms[1]);
      if (terms.size() == 3) add(sum, sum, terms[2]);
      operands.push_back(sum);
    }

    const auto take = [&](const char* name) {
      return rings_.take(name, Space::Sbuf, planes, {rows, w}, DType::Float32, kPlaces, rows_ * wide_);
    };
    const Access result = take("results");
    Access old;
    if (p_.added) {
      old = take("olds");
      b_.dma_copy(old, grid(t_.c_in, p_.c_row, p_.c_column, column, first, planes, y0, rows, x0, w));
    }
    const std::int64_t bank = blocks::bank_columns(b_.machine());
    const std::int64_t points = std::min(w, bank), together = std::max<std::int64_t>(1, bank / w);
    const Access bands = at(bands_, 0, first == low ? 1 : 0);
    for (std::int64_t r = 0; r < rows; r += together) {
      const std::int64_t count = std::min(together, rows - r);
      for (std::int64_t x = 0; x < w; x += points) {
        const Slice ys = ds(r, count), xs = ds(x, std::min(points, w - x));
        const Access sums =
            rings_.take("products", Space::Psum, planes, {count, xs.size}, DType::Float32, kBanks, bank);
        for (std::size_t g = 0; g < operands.size(); ++g)
          b_.nc_matmul(sums, at(bands, 0, static_cast<std::int64_t>(g))(ds(0, depth), ds(0, planes)),
                       operands[g](all, ys, xs), {.accumulate = g > 0 ? 1 : 0});
        t_.evict(result(all, ys, xs), sums, p_.added ? old(all, ys, xs) : Access{}, Engine::Scalar);
      }
    }
    b_.dma_copy(grid(t_.c, p_.c_row, p_.c_column, column, first, planes, y0, rows, x0, w), result);
  }

  const StencilShape& s_;
  const TileProduct& p_;
  Builder b_;
  device::Rings rings_;
  device::ProductTensors t_;
  Access a_, in_, bands_;
  bool along_x_ = false, along_y_ = false;
  std::int64_t wide_ = 0, rows_ = 1, sum_places_ = 0;
  double busy_[2] = {0, 0};
};

std::array<float, 3> band_of(const Stencil& s, int dy, int dx) {
  const auto at = [&](int dz) {
    return s.coefficients[static_cast<std::size_t>((dz + 1) * 9 + (dy + 1) * 3 + dx + 1)];
  };
  return {at(-1), at(0), at(1)};
}

}  // namespace

StencilShape stencil_shape(const TileProduct& product, const Stencil& stencil) {
  StencilShape s{product, stencil.nx, stencil.ny, stencil.nz, {}};
  std::vector<std::array<float, 3>> bands;
  for (const int dy : {0, -1, 1}) {
    for (const int dx : {0, -1, 1}) {
      const std::array<float, 3> band = band_of(stencil, dy, dx);
      if (band == std::array<float, 3>{0, 0, 0}) continue;
      auto found = std::find(bands.begin(), bands.end(), band);
      if (found == bands.end()) {
        bands.push_back(band);
        s.groups.emplace_back();
        found = bands.end() - 1;
      }
      s.groups[static_cast<std::size_t>(found - bands.begin())].shifts.push_back(
          {static_cast<std::int8_t>(dy), static_cast<std::int8_t>(dx)});
    }
  }
  return s;
}

std::vector<float> stencil_bands(const StencilShape& shape, const Stencil& stencil) {
  const auto groups = static_cast<std::int64_t>(shape.groups.size());
  std::vector<float> bands(static_cast<std::size_t>(kSide * 2 * groups * kSide), 0.0f);
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto& shift = shape.groups[static_cast<std::size_t>(g)].shifts.front();
    const std::array<float, 3> band = band_of(stencil, shift[0], shift[1]);
    for (std::int64_t edge = 0; edge < 2; ++edge) {
      for (std::int64_t m = 0; m < kSide; ++m) {
        for (std::int64_t dz = -1; dz <= 1; ++dz) {
          const std::int64_t k = m + dz + (edge == 0 ? 1 : 0);
          if (k < 0 || k >= kSide) continue;
          bands[static_cast<std::size_t>(((k * 2 + edge) * groups + g) * kSide + m)] =
              band[static_cast<std::size_t>(dz + 1)];
        }
      }
    }
  }
  return bands;
}

Program stencil_program(const StencilShape& shape, const Machine& machine) {
  return StencilKernel(shape, machine).build();
}

namespace device {

namespace {

std::optional<Stencil> on_grid(const FloatRef& a, std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  Stencil s{nx, ny, nz, {}};
  std::array<bool, 27> there{};
  const auto inside = [](std::int64_t c, std::int64_t d, std::int64_t n) { return c + d >= 0 && c + d < n; };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t x = i % nx, y = i / nx % ny, z = i / (nx * ny);
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      const std::int64_t dx = j % nx - x, dy = j / nx % ny - y, dz = j / (nx * ny) - z;
      if (std::max({std::abs(dx), std::abs(dy), std::abs(dz)}) > 1) return {};
      const auto place = static_cast<std::size_t>((dz + 1) * 9 + (dy + 1) * 3 + dx + 1);
      if (!there[place]) {
        if (!std::isfinite(a.values[k])) return {};
        there[place] = true, s.coefficients[place] = a.values[k];
      } else if (s.coefficients[place] != a.values[k]) {
        return {};
      }
    }
  }
  // Each row has all the neighbours that lie inside.
  std::array<std::int64_t, 27> counts{};  // by place of the point: first, inner or last in each direction
  for (std::size_t place = 0; place < 27; ++place) {
    if (!there[place]) continue;
    const std::int64_t d[3] = {static_cast<std::int64_t>(place % 3) - 1, static_cast<std::int64_t>(place / 3 % 3) - 1,
                               static_cast<std::int64_t>(place / 9) - 1};
    const std::int64_t n[3] = {nx, ny, nz};
    for (std::size_t at = 0; at < 27; ++at) {
      const std::size_t which[3] = {at % 3, at / 3 % 3, at / 9};
      bool in = true;
      for (std::size_t q = 0; q < 3; ++q)
        in = in && inside(which[q] == 0 ? 0 : which[q] == 2 ? n[q] - 1 : n[q] / 2, d[q], n[q]);
      counts[at] += in ? 1 : 0;
    }
  }
  const auto which = [](std::int64_t c, std::int64_t n) { return c == 0 ? 0 : c + 1 == n ? 2 : 1; };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t x = i % nx, y = i / nx % ny, z = i / (nx * ny);
    const auto at = static_cast<std::size_t>((which(z, nz) * 3 + which(y, ny)) * 3 + which(x, nx));
    if (a.offsets[i + 1] - a.offsets[i] != counts[at]) return {};
  }
  if (nz > 1) return s;
  // Two dimensions: y takes z's place.
  Stencil flat{nx, 1, ny, {}};
  for (std::size_t dy = 0; dy < 3; ++dy) {
    for (std::size_t dx = 0; dx < 3; ++dx) flat.coefficients[dy * 9 + 3 + dx] = s.coefficients[9 + dy * 3 + dx];
  }
  return flat;
}

}  // namespace

std::optional<Stencil> stencil_of(const FloatRef& a) {
  const std::int64_t n = a.rows;
  if (n == 0 || n != a.columns) return {};
  std::int64_t longest = 0, row = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (a.offsets[i + 1] - a.offsets[i] > longest) longest = a.offsets[i + 1] - a.offsets[i], row = i;
  }
  if (longest > 27) return {};
  std::vector<std::int64_t> ahead;  // positive offsets of an inner point
  for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
    if (a.indices[k] > row) ahead.push_back(a.indices[k] - row);
  }
  const auto next = [&](std::int64_t after) {
    const auto found = std::find_if(ahead.begin(), ahead.end(), [&](std::int64_t d) { return d > after; });
    return found == ahead.end() ? 0 : *found;
  };
  const std::int64_t y = next(1);
  for (const std::int64_t dx : {0, 1, -1}) {
    const std::int64_t nx = y + dx;
    if (y == 0 || nx < 2 || n % nx != 0) continue;
    const std::int64_t z = next(nx + 1);
    if (z == 0) {
      if (auto found = on_grid(a, nx, n / nx, 1)) return found;
      continue;
    }
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t by = -1; by <= 1; ++by) {
        const std::int64_t plane = z + dy * nx + by;
        if (plane <= 0 || plane % nx != 0 || n % plane != 0) continue;
        if (auto found = on_grid(a, nx, plane / nx, n / plane)) return found;
      }
    }
  }
  return {};
}

}  // namespace device

std::optional<Stencil> stencil_of(const Csr<float>& a) { return device::stencil_of(host_ref(a)); }

}  // namespace trn::sparse

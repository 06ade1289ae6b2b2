// Model problems.
#include <trn/sparse/gallery.hpp>

#include <array>
#include <vector>

#include "gather_entries.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace {

struct Grid {
  std::int64_t nx, ny, nz;
  Grid(const char* operation, std::int64_t x, std::int64_t y, std::int64_t z) : nx(x), ny(y), nz(z) {
    require(x >= 1 && y >= 1 && z >= 1, "{}: {} x {} x {} points; each must be >= 1", operation, x, y, z);
    const std::int64_t n = byte_count({x, y, z}, 1);
    check_extents<std::int32_t>(operation, {n, n});
  }
  [[nodiscard]] std::int64_t size() const { return nx * ny * nz; }
};

// Rows in natural order; entries(x, y, z, put) calls put(dx, dy, dz, value) in any order within the grid or outside it.
template <Scalar T, class F> Csr<T> on_grid(const Grid& g, const F& entries) {
  std::vector<std::int32_t> rows, columns;
  std::vector<T> values;
  for (std::int64_t z = 0, row = 0; z < g.nz; ++z) {
    for (std::int64_t y = 0; y < g.ny; ++y) {
      for (std::int64_t x = 0; x < g.nx; ++x, ++row) {
        entries([&](std::int64_t dx, std::int64_t dy, std::int64_t dz, double value) {
          const std::int64_t i = x + dx, j = y + dy, k = z + dz;
          if (i < 0 || i >= g.nx || j < 0 || j >= g.ny || k < 0 || k >= g.nz) return;
          rows.push_back(static_cast<std::int32_t>(row));
          columns.push_back(static_cast<std::int32_t>((k * g.ny + j) * g.nx + i));
          values.push_back(T(static_cast<Real<T>>(value)));
        });
      }
    }
  }
  const auto at = [](const auto& v) { return [p = v.data()](std::int64_t k) { return p[k]; }; };
  return gather_entries<T, std::int32_t>("sparse.gallery", {g.size(), g.size()},
                                         static_cast<std::int64_t>(values.size()), at(rows), at(columns), at(values),
                                         Duplicates::Sum);
}

}  // namespace

template <Scalar T> Csr<T> poisson(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  const Grid grid("sparse.poisson", nx, ny, nz);
  const double diagonal = 2.0 * (1 + (ny > 1) + (nz > 1));
  return on_grid<T>(grid, [&](const auto& put) {
    if (nz > 1) put(0, 0, -1, -1.0);
    if (ny > 1) put(0, -1, 0, -1.0);
    put(-1, 0, 0, -1.0), put(0, 0, 0, diagonal), put(1, 0, 0, -1.0);
    if (ny > 1) put(0, 1, 0, -1.0);
    if (nz > 1) put(0, 0, 1, -1.0);
  });
}

template <Scalar T> Csr<T> stencil27(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  return on_grid<T>(Grid("sparse.stencil27", nx, ny, nz), [&](const auto& put) {
    for (int k = -1; k <= 1; ++k) {
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i) put(i, j, k, i == 0 && j == 0 && k == 0 ? 26.0 : -1.0);
      }
    }
  });
}

// The 8 x 8 matrix of a square bilinear element, by two Gauss points in each direction; nodes counter-clockwise.
static std::array<std::array<double, 8>, 8> element_stiffness(double nu) {
  std::array<std::array<double, 8>, 8> k{};
  const double c = 1 / (1 - nu * nu), shear = (1 - nu) / 2;
  const double g = 0.57735026918962576451;
  const double sx[] = {-1, 1, 1, -1}, sy[] = {-1, -1, 1, 1};
  for (const double x : {-g, g}) {
    for (const double y : {-g, g}) {
      double dx[4], dy[4];
      for (int a = 0; a < 4; ++a) dx[a] = sx[a] * (1 + sy[a] * y) / 4, dy[a] = sy[a] * (1 + sx[a] * x) / 4;
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          k[2 * a][2 * b] += c * (dx[a] * dx[b] + shear * dy[a] * dy[b]);
          k[2 * a][2 * b + 1] += c * (nu * dx[a] * dy[b] + shear * dy[a] * dx[b]);
          k[2 * a + 1][2 * b] += c * (nu * dy[a] * dx[b] + shear * dx[a] * dy[b]);
          k[2 * a + 1][2 * b + 1] += c * (dy[a] * dy[b] + shear * dx[a] * dx[b]);
        }
      }
    }
  }
  return k;
}

template <Scalar T> Csr<T> elasticity(std::int64_t nx, std::int64_t ny, double nu) {
  constexpr const char* operation = "sparse.elasticity";
  require(nu > -1 && nu < 0.5, "{}: Poisson's ratio is {}; it lies between -1 and 1/2", operation, nu);
  const Grid grid(operation, nx, ny + 1, 2);  // free nodes: the left column of nx + 1 is clamped
  const auto k = element_stiffness(nu);
  std::vector<std::int32_t> rows, columns;
  std::vector<T> values;
  for (std::int64_t ey = 0; ey < ny; ++ey) {
    for (std::int64_t ex = 0; ex < nx; ++ex) {
      const std::int64_t xs[] = {ex, ex + 1, ex + 1, ex}, ys[] = {ey, ey, ey + 1, ey + 1};
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          if (xs[a] == 0 || xs[b] == 0) continue;
          for (int p = 0; p < 4; ++p) {
            rows.push_back(static_cast<std::int32_t>(2 * (ys[a] * nx + xs[a] - 1) + p / 2));
            columns.push_back(static_cast<std::int32_t>(2 * (ys[b] * nx + xs[b] - 1) + p % 2));
            values.push_back(T(static_cast<Real<T>>(
                k[static_cast<std::size_t>(2 * a + p / 2)][static_cast<std::size_t>(2 * b + p % 2)])));
          }
        }
      }
    }
  }
  const auto at = [](const auto& v) { return [q = v.data()](std::int64_t n) { return q[n]; }; };
  return gather_entries<T, std::int32_t>(operation, {grid.size(), grid.size()},
                                         static_cast<std::int64_t>(values.size()), at(rows), at(columns), at(values),
                                         Duplicates::Sum);
}

template <Scalar T> Matrix<T> elasticity_motions(std::int64_t nx, std::int64_t ny) {
  Matrix<T> m(Executor::host(), 2 * nx * (ny + 1), 3);
  for (std::int64_t y = 0; y <= ny; ++y) {
    for (std::int64_t x = 1; x <= nx; ++x) {
      T* row = m.data() + 6 * (y * nx + x - 1);
      row[0] = T(1), row[1] = T(0), row[2] = T(static_cast<Real<T>>(-y));
      row[3] = T(0), row[4] = T(1), row[5] = T(static_cast<Real<T>>(x));
    }
  }
  return m;
}

template <Scalar T> Csr<T> rmat(int scale, int edges, std::uint64_t seed) {
  constexpr const char* operation = "sparse.rmat";
  require(scale >= 1 && scale <= 28 && edges >= 1 && edges <= 1024,
          "{}: scale {} (1 to 28) and {} edges a vertex (1 to 1024)", operation, scale, edges);
  std::uint64_t state = seed;
  const auto random = [&] {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  const std::int64_t n = std::int64_t{1} << scale, count = n * edges;
  std::vector<std::int32_t> rows, columns;
  std::vector<T> values;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t i = 0, j = 0;
    for (int bit = 0; bit < scale; ++bit) {  // quadrants with 57, 19, 19 and 5 per cent
      const std::uint64_t p = random() % 100;
      i = 2 * i + (p >= 76 ? 1 : 0), j = 2 * j + ((p >= 57 && p < 76) || p >= 95 ? 1 : 0);
    }
    rows.push_back(static_cast<std::int32_t>(i)), columns.push_back(static_cast<std::int32_t>(j));
    values.push_back(T(static_cast<Real<T>>(1 + static_cast<double>(random() % 1024) / 1024)));
  }
  const auto at = [](const auto& v) { return [q = v.data()](std::int64_t m) { return q[m]; }; };
  return gather_entries<T, std::int32_t>(operation, {n, n}, count, at(rows), at(columns), at(values), Duplicates::Sum);
}

#define TRN_GALLERY(T)                                                 \
  template Csr<T> poisson(std::int64_t, std::int64_t, std::int64_t);   \
  template Csr<T> stencil27(std::int64_t, std::int64_t, std::int64_t); \
  template Csr<T> elasticity(std::int64_t, std::int64_t, double);      \
  template Matrix<T> elasticity_motions(std::int64_t, std::int64_t);   \
  template Csr<T> rmat(int, int, std::uint64_t);
TRN_SPARSE_SCALARS(TRN_GALLERY)
#undef TRN_GALLERY

}  // namespace trn::sparse

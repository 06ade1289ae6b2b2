// Madelung constants by smooth particle-mesh Ewald: the electrostatic energy of ions in a periodic cube.
//
// The sum of q_i q_j / r over all images converges conditionally. Ewald splits 1/r = erfc(b r)/r + erf(b r)/r:
//
//   E = 1/2 sum' q_i q_j erfc(b r)/r  +  1/(2 pi V) sum_{m != 0} exp(-pi^2 m^2/b^2)/m^2 |S(m)|^2  -  b/sqrt(pi) sum q^2
//
// with m = n/L and S(m) = sum q_j exp(2 pi i m.r_j). The mesh makes S by a Fourier transform: charges are spread on a
// grid of K^3 points with cardinal B-splines M_p of even order p, Q(k) = sum_i q_i prod_d M_p(u_d - k_d), u = K r/L,
// and S(m) is nearly b_1 b_2 b_3 F(Q)(m) with the Euler spline
//   b_d = exp(2 pi i (p - 1) n_d/K) / sum_k M_p(k + 1) exp(2 pi i n_d k/K).
// The error of a wave n falls like (n/(K - n))^p.
//
// On the executor: spreading, as a product of matrices (Q is K^2 x K = (W_x * W_y)^T W_z, rows of splines), and the
// transform of K^3 points. On the host: splines, the short-ranged sum, the sum over waves in double.
//
// Crystals are shifted by an arbitrary vector, so that no ion lies on a grid point. Checked: the constants of NaCl,
// CsCl and ZnS against literature, and the energy of a crystal with every ion displaced, against plain Ewald sums with
// another b in long double.
//
//   50_madelung [--exec NAME] [--precision MODE] [--cells 1] [--grid 0] [--order 10] [--figure FILE.svg]
//
// Grid 0 is 16 points for each cell along an axis.
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"
#include "figure.hpp"

namespace {

constexpr double kPi = std::numbers::pi;
using Point = std::array<double, 3>;  // in units of the side

struct Crystal {
  const char* name;
  double side;  // with the shortest distance between ions as unit
  std::vector<double> charges;
  std::vector<Point> places;
  double madelung, units;  // literature; pairs of ions in the cube
};

// `cells` unit cells along each axis, all of it moved by one vector.
Crystal repeated(const Crystal& unit, std::int64_t cells) {
  Crystal c{unit.name, unit.side * static_cast<double>(cells), {}, {}, unit.madelung, 0};
  const double n = static_cast<double>(cells);
  c.units = unit.units * n * n * n;
  for (std::int64_t at = 0; at < cells * cells * cells; ++at) {
    const double corner[3] = {static_cast<double>(at / (cells * cells)), static_cast<double>(at / cells % cells),
                              static_cast<double>(at % cells)};
    for (std::size_t i = 0; i < unit.charges.size(); ++i) {
      Point p;
      for (std::size_t d = 0; d < 3; ++d)
        p[d] = (unit.places[i][d] + corner[d]) / n + 0.0371 + 0.0113 * static_cast<double>(d);
      c.charges.push_back(unit.charges[i]);
      c.places.push_back(p);
    }
  }
  return c;
}

std::vector<Crystal> crystals() {
  const std::vector<Point> fcc{{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};
  const auto two_fcc = [&](double shift) {
    std::vector<Point> places = fcc;
    for (const Point& p : fcc) places.push_back({p[0] + shift, p[1] + shift, p[2] + shift});
    return places;
  };
  const std::vector<double> signs{1, 1, 1, 1, -1, -1, -1, -1};
  return {{"NaCl", 2, signs, two_fcc(0.5), 1.7475645946331822, 4},
          {"CsCl", 2 / std::sqrt(3.0), {1, -1}, {{0, 0, 0}, {0.5, 0.5, 0.5}}, 1.76267477307098840, 1},
          {"ZnS", 4 / std::sqrt(3.0), signs, two_fcc(0.25), 1.63805505338878942, 4}};
}

// M_p(x + j) for j = 0 .. p - 1, 0 <= x < 1: M_p(t) = (t M_{p-1}(t) + (p - t) M_{p-1}(t - 1)) / (p - 1).
std::vector<double> splines(double x, int p) {
  std::vector<double> m{1};
  for (int q = 2; q <= p; ++q) {
    std::vector<double> next(static_cast<std::size_t>(q), 0);
    for (int j = 0; j < q; ++j) {
      const double t = x + j;
      if (j < q - 1) next[static_cast<std::size_t>(j)] += t * m[static_cast<std::size_t>(j)];
      if (j > 0) next[static_cast<std::size_t>(j)] += (q - t) * m[static_cast<std::size_t>(j - 1)];
      next[static_cast<std::size_t>(j)] /= q - 1;
    }
    m = std::move(next);
  }
  return m;
}

// |b(n)|^2 for n = 0 .. K - 1.
std::vector<double> euler(std::int64_t grid, int p) {
  const std::vector<double> m = splines(0, p);  // M_p(0 .. p - 1)
  std::vector<double> b;
  for (std::int64_t n = 0; n < grid; ++n) {
    std::complex<double> sum = 0;
    for (int k = 0; k <= p - 2; ++k)
      sum += m[static_cast<std::size_t>(k + 1)] *
             std::polar(1.0, 2 * kPi * static_cast<double>(n * k % grid) / static_cast<double>(grid));
    b.push_back(1 / std::norm(sum));
  }
  return b;
}

// The sum over pairs and images closer than `cutoff`, and the ions' energy in their own clouds.
template <class F> F near_and_self(const Crystal& c, F b, F cutoff) {
  F sum = 0, squares = 0;
  const F side = static_cast<F>(c.side);
  const int reach = static_cast<int>(std::ceil(cutoff / side)) + 1;
  for (std::size_t i = 0; i < c.charges.size(); ++i) {
    squares += static_cast<F>(c.charges[i] * c.charges[i]);
    for (std::size_t j = 0; j < c.charges.size(); ++j) {
      for (int x = -reach; x <= reach; ++x) {
        for (int y = -reach; y <= reach; ++y) {
          for (int z = -reach; z <= reach; ++z) {
            const int image[3] = {x, y, z};
            if (i == j && x == 0 && y == 0 && z == 0) continue;
            F r2 = 0;
            for (std::size_t d = 0; d < 3; ++d) {
              const F t = static_cast<F>(c.places[i][d]) - static_cast<F>(c.places[j][d]) + static_cast<F>(image[d]);
              r2 += t * t * side * side;
            }
            if (r2 > cutoff * cutoff) continue;
            const F r = std::sqrt(r2);
            sum += static_cast<F>(c.charges[i] * c.charges[j]) * std::erfc(b * r) / (2 * r);
          }
        }
      }
    }
  }
  return sum - b / std::sqrt(std::numbers::pi_v<F>) * squares;
}

// The plain sum over waves in long double, for comparison.
long double plain_ewald(const Crystal& c, long double b, int waves) {
  const long double pi = std::numbers::pi_v<long double>, side = static_cast<long double>(c.side);
  long double sum = 0;
  for (int x = -waves; x <= waves; ++x) {
    for (int y = -waves; y <= waves; ++y) {
      for (int z = -waves; z <= waves; ++z) {
        if (x == 0 && y == 0 && z == 0) continue;
        const long double m2 = static_cast<long double>(x * x + y * y + z * z) / (side * side);
        std::complex<long double> s = 0;
        for (std::size_t i = 0; i < c.charges.size(); ++i) {
          const long double turn = static_cast<long double>(c.places[i][0]) * x +
                                   static_cast<long double>(c.places[i][1]) * y +
                                   static_cast<long double>(c.places[i][2]) * z;
          s += static_cast<long double>(c.charges[i]) * std::polar(1.0L, 2 * pi * turn);
        }
        sum += std::exp(-pi * pi * m2 / (b * b)) / m2 * std::norm(s);
      }
    }
  }
  return near_and_self<long double>(c, b, 8.8L / b) + sum / (2 * pi * side * side * side);
}

struct Mesh {
  std::int64_t grid;
  int order;
};

// The sum over waves on the mesh, T being the type of the executor's arithmetic.
template <class T>
double mesh_energy(const trn::Executor& exec, trn::Precision precision, const Crystal& c, double b, Mesh mesh) {
  const std::int64_t k = mesh.grid, ions = static_cast<std::int64_t>(c.charges.size());
  std::vector<double> w[3];
  for (std::size_t d = 0; d < 3; ++d) {
    w[d].assign(static_cast<std::size_t>(ions * k), 0);
    for (std::int64_t i = 0; i < ions; ++i) {
      const double place = c.places[static_cast<std::size_t>(i)][d];
      const double u = (place - std::floor(place)) * static_cast<double>(k);
      const auto floor = static_cast<std::int64_t>(u);
      const std::vector<double> m = splines(u - static_cast<double>(floor), mesh.order);
      // += : a spline longer than the grid wraps around.
      for (int j = 0; j < mesh.order; ++j)
        w[d][static_cast<std::size_t>(i * k + ((floor - j) % k + k) % k)] += m[static_cast<std::size_t>(j)];
    }
  }
  std::vector<T> xy(static_cast<std::size_t>(ions * k * k)), z(w[2].begin(), w[2].end());
  for (std::int64_t i = 0, at = 0; i < ions; ++i) {
    for (std::int64_t x = 0; x < k; ++x) {
      for (std::int64_t y = 0; y < k; ++y, ++at)
        xy[static_cast<std::size_t>(at)] =
            static_cast<T>(c.charges[static_cast<std::size_t>(i)] * w[0][static_cast<std::size_t>(i * k + x)] *
                           w[1][static_cast<std::size_t>(i * k + y)]);
    }
  }
  const auto left = trn::Matrix<T>::from_host(exec, ions, k * k, xy),
             right = trn::Matrix<T>::from_host(exec, ions, k, z);
  const trn::Array<T> charge(exec, {k, k, k});
  trn::blas::gemm(exec, trn::blas::Op::T, trn::blas::Op::N, T(1), left.view(), right.view(), T(0),
                  trn::MatrixView<T>::row_major(exec, charge.data(), k * k, k), {.precision = precision});
  const auto waves = trn::fft::rfftn(exec, charge, {.precision = precision}).to_host();

  const std::vector<double> e = euler(k, mesh.order);
  const auto wave = [&](std::int64_t n) { return static_cast<double>(2 * n <= k ? n : n - k) / c.side; };
  double sum = 0;
  for (std::int64_t x = 0, at = 0; x < k; ++x) {
    for (std::int64_t y = 0; y < k; ++y) {
      for (std::int64_t q = 0; q <= k / 2; ++q, ++at) {
        if (x + y + q == 0) continue;
        const double m2 = wave(x) * wave(x) + wave(y) * wave(y) + wave(q) * wave(q);
        const double twice = q == 0 || 2 * q == k ? 1 : 2;  // the other half of the waves is not stored
        sum += twice * std::exp(-kPi * kPi * m2 / (b * b)) / m2 * e[static_cast<std::size_t>(x)] *
               e[static_cast<std::size_t>(y)] * e[static_cast<std::size_t>(q)] *
               std::norm(std::complex<double>(waves[static_cast<std::size_t>(at)]));
      }
    }
  }
  return sum / (2 * kPi * c.side * c.side * c.side);
}

// erfc(b cutoff) is 7e-17: nothing is lost in double.
constexpr double kCutoff = 5, kSplit = 5.9 / kCutoff;

// Double on the host and in Exact, float otherwise.
bool is_wide(const trn::Executor& exec, trn::Precision precision) {
  return exec.family() == trn::Family::Host || precision.mode() == trn::Mode::Exact;
}

struct Energy {
  double near, mesh;
  [[nodiscard]] double total() const { return near + mesh; }
};

Energy energy(const trn::Executor& exec, trn::Precision precision, const Crystal& c, Mesh mesh) {
  return {near_and_self<double>(c, kSplit, kCutoff), is_wide(exec, precision)
                                                         ? mesh_energy<double>(exec, precision, c, kSplit, mesh)
                                                         : mesh_energy<float>(exec, precision, c, kSplit, mesh)};
}

// What may be missing: the mesh's own 1e-10 and, in modes of float, roundings of the part that the mesh computes. A
// wave is a sum of many rounded numbers and enters squared; 16 unit roundoffs of the mode leave room for both.
double limit(const trn::Executor& exec, trn::Precision precision, double mesh) {
  if (is_wide(exec, precision)) return 1e-10;
  const bool coarse = precision.mode() == trn::Mode::Bf16, middle = precision.mode() == trn::Mode::Tf32;
  return 1e-10 + 16 * std::ldexp(1.0, coarse ? -8 : middle ? -11 : -24) * mesh;
}

double madelung_error(const trn::Executor& exec, trn::Precision precision, const Crystal& c, Mesh mesh) {
  return std::abs(-energy(exec, precision, c, mesh).total() / c.units - c.madelung);
}

void draw(const std::string& file, const trn::Executor& exec) {
  const Crystal salt = repeated(crystals()[0], 1);
  std::vector<example::Series> lines;
  const auto line = [&](const std::string& name, const trn::Executor& where, trn::Precision precision,
                        std::int64_t grid) {
    example::Series s{name, {}, {}};
    for (int p = 4; p <= 14; p += 2) {
      s.x.push_back(p);
      s.y.push_back(std::max(madelung_error(where, precision, salt, {grid, p}), 1e-17));
    }
    lines.push_back(s);
  };
  for (const std::int64_t grid : {8, 16, 32})
    line("grid " + std::to_string(grid) + ", host", trn::Executor::host(), {}, grid);
  if (exec.family() == trn::Family::Device) {
    line("16, " + exec.name() + ", float32", exec, trn::Mode::Native, 16);
    line("16, " + exec.name() + ", Exact", exec, trn::Mode::Exact, 16);
    lines[4].dashed = true;
  }
  example::draw(file, "Madelung constant of NaCl by particle-mesh Ewald", {"order of the splines"},
                {"error of the constant", example::Scale::Log10}, lines);
}

int program(int argc, char** argv) {
  const example::Arguments arguments(argc, argv,
                                     {{"--exec", "host"},
                                      {"--precision", ""},
                                      {"--cells", "1"},
                                      {"--grid", "0"},
                                      {"--order", "10"},
                                      {"--figure", ""}});
  const auto exec = trn::Executor::open(arguments.text("--exec"));
  const bool device = exec.family() == trn::Family::Device;
  const std::string mode =
      arguments.text("--precision").empty() ? (device ? "exact" : "native") : arguments.text("--precision");
  const auto precision = trn::Precision::parse(mode);
  if (precision.has_target()) return std::fprintf(stderr, "50_madelung: --precision takes a mode\n"), 2;
  const std::int64_t cells = arguments.whole("--cells", 1, 8);
  const std::int64_t given = arguments.whole("--grid", 0, 512);
  const Mesh mesh{given == 0 ? 16 * cells : given, static_cast<int>(arguments.whole("--order", 4, 14))};
  // Of odd orders b(K/2) is infinite.
  if (mesh.order % 2 != 0) return std::fprintf(stderr, "50_madelung: --order takes even numbers\n"), 2;
  const trn::Recorder recorder(exec);

  bool right = true;
  std::printf(
      "smooth particle-mesh Ewald, grid %lld^3, splines of order %d, %s on %s\n         ions  constant           "
      "error\n",
      static_cast<long long>(mesh.grid), mesh.order, mode.c_str(), exec.name().c_str());
  for (const Crystal& unit : crystals()) {
    const Crystal c = repeated(unit, cells);
    const Energy e = energy(exec, precision, c, mesh);
    const double constant = -e.total() / c.units;
    std::printf("%-5s  %6zu  %.13f  %.1e\n", c.name, c.charges.size(), constant, std::abs(constant - c.madelung));
    right = right && std::abs(constant - c.madelung) <= limit(exec, precision, e.mesh / c.units);
  }
  // Displaced ions: all waves count, and so does the order of the splines.
  Crystal c = repeated(crystals()[0], 1);
  trn::rand::Generator generator({.seed = 7});
  const trn::Array<double> moves(trn::Executor::host(), {8, 3});
  trn::rand::uniform(trn::Executor::host(), generator, moves.view());
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t d = 0; d < 3; ++d) c.places[i][d] += 0.1 * (moves.data()[3 * i + d] - 0.5);
  const auto reference = static_cast<double>(plain_ewald(c, 1.6L, 10));
  const Mesh fine{std::max<std::int64_t>(mesh.grid, 24), std::max(mesh.order, 12)};
  const Energy e = energy(exec, precision, c, fine);
  const double displaced = e.total();
  std::printf("NaCl with displaced ions, grid %lld, order %d: energy %.12f, plain Ewald sum %.12f, difference %.1e\n",
              static_cast<long long>(fine.grid), fine.order, displaced, reference, std::abs(displaced - reference));
  right = right && std::abs(displaced - reference) <= limit(exec, precision, e.mesh);
  for (const char* operation : {"blas.gemm", "fft.r2c"})
    right = right && recorder.family_of(operation) == trn::name(exec.family());
  right = right && (recorder.modelled_seconds() > 0) == device;
  if (device) std::printf("modelled time of products and transforms: %.2f ms\n", recorder.modelled_seconds() * 1e3);
  if (!arguments.text("--figure").empty()) draw(arguments.text("--figure"), exec);
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] { return program(argc, argv); });
}

// What the tests of the device's product kernel share: a problem for any GemmShape with random operands, its run on a
// simulated machine, and an oracle in long double. Programs are run directly, so that every shape the kernel takes can
// be tried.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <map>
#include <random>
#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/sim.hpp>
#include <vector>

namespace trn::blas::test::product {

using Wide = std::complex<long double>;

// Memory of a matrix of real or complex float32 numbers, and where element (i, j) lies in it.
struct Plane {
  std::int64_t rows, columns, rs, cs, im;  // strides in real numbers; im 0: real
  std::int64_t offset = 0;
  std::vector<float> memory;

  Plane(std::int64_t r, std::int64_t c, std::int64_t rows_stride, std::int64_t columns_stride, std::int64_t im_distance,
        std::mt19937_64& random)
      : rows(r), columns(c), rs(rows_stride), cs(columns_stride), im(im_distance) {
    const std::int64_t span = (rows - 1) * rs + (columns - 1) * cs + im + 1;
    std::normal_distribution<float> normal;
    memory.resize(static_cast<std::size_t>(span));
    for (float& x : memory) x = normal(random);
  }
  [[nodiscard]] std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * rs + j * cs);
  }
  [[nodiscard]] Wide operator()(std::int64_t i, std::int64_t j) const {
    const std::size_t p = at(i, j);
    return {memory[p], im == 0 ? 0.0f : memory[p + static_cast<std::size_t>(im)]};
  }
};

enum class Order2 : std::uint8_t { Row, Column };  // which index is contiguous

class Problem {
 public:
  GemmShape shape;
  std::complex<float> alpha{1, 0}, beta{0, 0};
  Plane a, b, c;

  // op(A) m x k, op(B) k x n in the given layouts; planar: complex parts in planes of their own.
  static Problem make(DType type, Mode mode, std::int64_t m, std::int64_t n, std::int64_t k,
                      Order2 a_order = Order2::Row, Order2 b_order = Order2::Row, std::uint64_t seed = 1,
                      bool planar = false) {
    std::mt19937_64 random(seed);
    const bool complex = is_complex(type);
    const std::int64_t unit = complex && !planar ? 2 : 1;
    const auto plane = [&](std::int64_t r, std::int64_t q, Order2 order, std::int64_t pad) {
      const std::int64_t rs = (order == Order2::Row ? q + pad : 1) * unit,
                         cs = (order == Order2::Row ? 1 : r + pad) * unit;
      return Plane(r, q, rs, cs, !complex ? 0 : planar ? (r + pad) * (q + pad) + 3 : 1, random);
    };
    Problem p{{}, plane(m, k, a_order, 3), plane(k, n, b_order, 0), plane(m, n, Order2::Row, 2)};
    p.shape.in = p.shape.out = type;
    p.shape.mode = mode;
    p.shape.m = m, p.shape.n = n, p.shape.k = k;
    return p;
  }
  void set_factors(std::complex<float> al, std::complex<float> be) {
    alpha = al, beta = be;
    const auto kind = [](std::complex<float> f) {
      return f.imag() != 0   ? Factor::ComplexInput
             : f.real() == 0 ? Factor::Zero
             : f.real() == 1 ? Factor::One
                             : Factor::Input;
    };
    shape.alpha = kind(al), shape.beta = kind(be);
  }

  [[nodiscard]] GemmShape full_shape() const {
    GemmShape s = shape;
    s.am = a.rs, s.ak = a.cs, s.bk = b.rs, s.bn = b.cs, s.cm = c.rs, s.cn = c.cs;
    if (is_complex(s.in)) s.a_im = a.im, s.b_im = b.im, s.c_im = c.im;
    return s;
  }
  [[nodiscard]] tile::Program program(const char* machine) const {
    return gemm_program(full_shape(), tile::machine(machine));
  }

  // C's memory after the run.
  [[nodiscard]] std::vector<float> run(const char* machine,
                                       const neuron::SimOptions& options = {.order = neuron::Order::in_order()}) const {
    std::vector<float> out = c.memory, am = a.memory, bm = b.memory;
    float factors[2][2] = {{alpha.real(), alpha.imag()}, {beta.real(), beta.imag()}};
    std::vector<tile::Binding> bindings{{"a", am.data()},     {"b", bm.data()},      {"c", out.data()},
                                        {"c_in", out.data()}, {"alpha", factors[0]}, {"beta", factors[1]}};
    (void)neuron::simulate(program(machine), tile::machine(machine), bindings, options);
    return out;
  }

  // op(A)(i, p) and op(B)(p, j) with conjugation and structure.
  [[nodiscard]] Wide left(std::int64_t i, std::int64_t p) const {
    return element(a, i, p, shape.a_structure, shape.conj_a);
  }
  [[nodiscard]] Wide right(std::int64_t p, std::int64_t j) const {
    if (shape.same_operand) return shape.conj_b ? std::conj(a(j, p)) : a(j, p);
    return element(b, p, j, shape.b_structure, shape.conj_b);
  }

  [[nodiscard]] bool inside(std::int64_t i, std::int64_t j) const {
    return shape.region == Region::All || (shape.region == Region::Lower ? j <= i : j >= i);
  }

  // Worst error in units of |alpha| |A||B| + |beta| |C| (norms of rows and columns where norms is set) over the
  // elements of the region, and whether anything else changed.
  struct Outcome {
    double worst = 0, relative = 0;  // relative: Frobenius norm of the error over that of the result
    bool untouched = true;
  };
  [[nodiscard]] Outcome compare(const std::vector<float>& result, bool norms = false) const {
    Outcome o;
    std::vector<bool> written(result.size(), false);
    long double errors = 0, squares = 0;
    for (std::int64_t i = 0; i < shape.m; ++i) {
      for (std::int64_t j = 0; j < shape.n; ++j) {
        if (!inside(i, j)) continue;
        mark(written, i, j);
        if (!sampled(i, j)) continue;
        Wide sum = 0;
        long double scale = 0, na = 0, nb = 0;
        for (std::int64_t p = 0; p < shape.k; ++p) {
          const Wide x = left(i, p), y = right(p, j);
          if (c.im == 0) {
            sum += x.real() * y.real();
            scale += std::abs(x.real() * y.real());
            continue;
          }
          sum += Wide(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
          na += std::norm(x), nb += std::norm(y);
          scale += std::sqrt(static_cast<double>(std::norm(x)) * static_cast<double>(std::norm(y)));
        }
        if (norms) scale = std::sqrt(na * nb);
        Wide old = shape.beta == Factor::Zero ? Wide(0) : c(i, j);
        if (shape.hermitian && i == j) old = old.real();
        Wide exact = Wide(alpha) * sum + (shape.beta == Factor::Zero ? Wide(0) : Wide(beta) * old);
        if (shape.hermitian && i == j) exact = exact.real();
        const long double unit = std::abs(Wide(alpha)) * scale + std::abs(Wide(beta)) * std::abs(old);
        const std::size_t at = c.at(i, j);
        const Wide got(result[at], c.im == 0 ? 0.0f : result[at + static_cast<std::size_t>(c.im)]);
        const long double error = std::abs(got - exact);
        errors += error * error, squares += std::norm(exact);
        const double units = static_cast<double>(unit == 0 ? (error == 0 ? 0 : INFINITY) : error / unit);
        if (!(units <= o.worst)) o.worst = units;  // NaN too
      }
    }
    o.relative = static_cast<double>(std::sqrt(errors / squares));
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (!written[i] && std::memcmp(&result[i], &c.memory[i], sizeof(float)) != 0) o.untouched = false;
    }
    return o;
  }
  // All elements of small products; of others the borders of 128-blocks and a fixed scatter.
  [[nodiscard]] bool sampled(std::int64_t i, std::int64_t j) const {
    if (shape.m * shape.n * shape.k < (c.im == 0 ? 13'000'000 : 1'000'000)) return true;
    const bool edge =
        (i % 128 == 0 || i % 128 == 127 || i == shape.m - 1) && (j % 128 == 0 || j % 128 == 127 || j == shape.n - 1);
    return edge || (i * 7919 + j * 104729) % 997 == 0 || (i == j && i % 16 == 0);
  }
  void mark(std::vector<bool>& written, std::int64_t i, std::int64_t j) const {
    written[c.at(i, j)] = true;
    if (c.im != 0) written[c.at(i, j) + static_cast<std::size_t>(c.im)] = true;
  }
  [[nodiscard]] double bound() const {
    return product_error_bound(shape.mode, shape.in, shape.three_products, shape.k);
  }

  // Runs on a machine and holds the result against the bound.
  Outcome check(const char* machine) const {
    const Outcome o = compare(run(machine), shape.three_products);
    EXPECT_LE(o.worst, bound()) << describe() << " on " << machine;
    EXPECT_TRUE(o.untouched) << describe() << " on " << machine;
    return o;
  }
  [[nodiscard]] std::string describe() const {
    return fmt::format(
        "{} {} {} x {} x {} strides a {},{} b {},{} c {},{} conj {}{} three {} region {} structure {}{} stored {} unit "
        "{} alpha {}+{}i "
        "beta {}+{}i",
        name(shape.in), name(shape.mode), shape.m, shape.n, shape.k, a.rs, a.cs, b.rs, b.cs, c.rs, c.cs, shape.conj_a,
        shape.conj_b, shape.three_products, static_cast<int>(shape.region), static_cast<int>(shape.a_structure),
        static_cast<int>(shape.b_structure), static_cast<int>(shape.stored), shape.unit_diagonal, alpha.real(),
        alpha.imag(), beta.real(), beta.imag());
  }

 private:
  Problem(GemmShape s, Plane pa, Plane pb, Plane pc) : shape(s), a(std::move(pa)), b(std::move(pb)), c(std::move(pc)) {}

  [[nodiscard]] Wide element(const Plane& x, std::int64_t i, std::int64_t j, Structure structure, bool conj) const {
    const bool stored = shape.stored == Region::Lower ? j <= i : j >= i;
    Wide value;
    switch (structure) {
      case Structure::General:
        value = x(i, j);
        break;
      case Structure::Symmetric:
        value = stored ? x(i, j) : x(j, i);
        break;
      case Structure::Hermitian:
        value = stored ? x(i, j) : std::conj(x(j, i));
        break;
      case Structure::Triangular:
        value = stored ? x(i, j) : 0;
        break;
    }
    if (structure == Structure::Hermitian && i == j) value = value.real();
    if (structure == Structure::Triangular && i == j && shape.unit_diagonal) value = 1;
    return conj ? std::conj(value) : value;
  }
};

inline constexpr Order2 kOrders[] = {Order2::Row, Order2::Column};
inline constexpr const char* kMachines[] = {"trn1", "trn2", "trn3"};

}  // namespace trn::blas::test::product

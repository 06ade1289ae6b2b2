// Variants of spectral divide and conquer that look right and fail, in emulations of float32 on the host: what the
// cushion of the polynomials and the second product with the projector are for. CholeskyQR2, which ends where shifts
// begin, is in qr_device_test.cpp (BeyondCholeskyQr2), the clusters that a test of gaps cannot part are in
// eigh_device_test.cpp (DoubleThroughRefinement).
#include <algorithm>

#include "device/random_matrix.hpp"
#include "device/sign_schedule.hpp"
#include "orthogonal_support.hpp"

namespace trn::solver::testing::failing_variants {
namespace {

using Wd = Dense<long double>;

Dense<float> narrow(const Wd& a) {
  Dense<float> x(a.rows, a.columns);
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = static_cast<float>(a.values[i]);
  return x;
}
Dense<float> product(const Dense<float>& a, const Dense<float>& b, bool turned = false) {  // A B or A^T B
  Dense<float> c(turned ? a.columns : a.rows, b.columns);
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t k = 0; k < b.rows; ++k) {
      const float x = turned ? a(k, i) : a(i, k);
      for (std::int64_t j = 0; j < b.columns; ++j) c(i, j) += x * b(k, j);
    }
  }
  return c;
}

// The minimax composite without cushion and margin: x -> x (a + b x^2 + c x^4) that equioscillates on [l, 1] by
// Newton's method on its two inner extrema, then scaled so that the largest value is 1 again.
device::SignStep bare_step(double l) {
  double a = 15.0 / 8, b = -5.0 / 4, c = 3.0 / 8;
  double q = (3 * l + 1) / 4, r = (l + 3) / 4;
  for (int sweep = 0; sweep < 200; ++sweep) {
    // p(l) = 1 - e, p(q) = 1 + e, p(r) = 1 - e, p(1) = 1 + e: linear in a, b, c, e.
    double m[4][5];
    const double at_points[4] = {l, q, r, 1};
    for (int i = 0; i < 4; ++i) {
      const double x = at_points[i];
      m[i][0] = x, m[i][1] = x * x * x, m[i][2] = x * x * x * x * x, m[i][3] = i % 2 == 0 ? 1 : -1, m[i][4] = 1;
    }
    for (int k = 0; k < 4; ++k) {
      int best = k;
      for (int i = k; i < 4; ++i) {
        if (std::abs(m[i][k]) > std::abs(m[best][k])) best = i;
      }
      std::swap_ranges(m[k], m[k] + 5, m[best]);
      for (int i = 0; i < 4; ++i) {
        if (i == k) continue;
        const double f = m[i][k] / m[k][k];
        for (int j = k; j < 5; ++j) m[i][j] -= f * m[k][j];
      }
    }
    a = m[0][4] / m[0][0], b = m[1][4] / m[1][1], c = m[2][4] / m[2][2];
    const double root = std::sqrt(std::max(0.0, 9 * b * b - 20 * a * c));
    q = std::sqrt((-3 * b - root) / (10 * c)), r = std::sqrt((-3 * b + root) / (10 * c));
  }
  const double top = a + b + c;
  return {a / top, b / top, c / top};
}

long double polar_error(const Dense<float>& a, const std::vector<device::SignStep>& steps) {
  Dense<float> x = a;
  for (const device::SignStep& p : steps) {
    const Dense<float> m = product(x, x, true);
    Dense<float> q = product(m, m);
    for (std::size_t i = 0; i < q.values.size(); ++i) {
      q.values[i] = static_cast<float>(p.c) * q.values[i] + static_cast<float>(p.b) * m.values[i];
    }
    const Dense<float> xq = product(x, q);
    for (std::size_t i = 0; i < x.values.size(); ++i)
      x.values[i] = static_cast<float>(p.a) * x.values[i] + xq.values[i];
  }
  // A = U H with a symmetric H: the antisymmetric part of U^T A, and U^T U - I.
  const Wd u = wide(MatrixView<const float>(Executor::host(), x.values.data(), x.rows, x.columns, x.columns, 1));
  const Wd w = wide(MatrixView<const float>(Executor::host(), a.values.data(), a.rows, a.columns, a.columns, 1));
  const Wd h = times(transposed(u), w);
  return largest(minus(h, transposed(h))) / largest(w);
}

TEST(FailingVariants, PolynomialsWithoutACushion) {
  const std::int64_t n = 48;
  Random random(7);
  const Wd left = orthogonal(n, random), right = orthogonal(n, random);
  Wd rows = right;
  for (std::int64_t i = 0; i < n; ++i) {
    const long double s = std::pow(1e-3L, static_cast<long double>(i) / (n - 1));
    for (std::int64_t j = 0; j < n; ++j) rows(i, j) *= s;
  }
  const Dense<float> a = narrow(times(transposed(left), rows));
  std::vector<device::SignStep> cushioned(device::kFirst.begin(), device::kFirst.end()), bare;
  double l = 1e-7;
  while (l < 0.99) {
    bare.push_back(bare_step(l));
    const device::SignStep& p = bare.back();
    l = l * (p.a + l * l * (p.b + l * l * p.c));
  }
  for (auto* steps : {&cushioned, &bare}) steps->insert(steps->end(), 3, device::kClosing);
  const long double good = polar_error(a, cushioned), bad = polar_error(a, bare);
  EXPECT_LT(good, 30 * 0x1p-24L);
  for (double x0 = 1e-7; x0 <= 1; x0 *= 1.01) {  // in exact arithmetic nothing is wrong with it
    double x = x0;
    for (const device::SignStep& p : bare) x *= p.a + x * x * (p.b + x * x * p.c);
    EXPECT_NEAR(x, 1, 1e-6) << x0;
  }
  EXPECT_FALSE(bad < 10 * good);  // NaN, or large; else the cushion is not needed and the schedule may be shorter
}

// A basis from one product with the projector: the error of S comes out multiplied by the condition of G's square
// block.
TEST(FailingVariants, ABasisFromOneProduct) {
  const std::int64_t n = 64, k = 32;
  long double once_worst = 0, twice_worst = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Random random(90 + seed);
    const Wd q = orthogonal(n, random);
    Wd p(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t m = 0; m < k; ++m) p(i, j) += q(m, i) * q(m, j);
        p(i, j) += 0x1p-22L * random.uniform();  // what float32 leaves
      }
    }
    const auto orthonormal = [&](Wd y) {
      for (std::int64_t j = 0; j < y.columns; ++j) {
        for (int pass = 0; pass < 2; ++pass) {
          for (std::int64_t c = 0; c < j; ++c) {
            long double dot = 0;
            for (std::int64_t i = 0; i < n; ++i) dot += y(i, c) * y(i, j);
            for (std::int64_t i = 0; i < n; ++i) y(i, j) -= dot * y(i, c);
          }
        }
        long double norm = 0;
        for (std::int64_t i = 0; i < n; ++i) norm += y(i, j) * y(i, j);
        for (std::int64_t i = 0; i < n; ++i) y(i, j) /= std::sqrt(norm);
      }
      return y;
    };
    device::Gaussian gaussian(seed);
    Wd g(n, k);
    for (auto& x : g.values) x = gaussian();
    const Wd once = orthonormal(times(p, g)), twice = orthonormal(times(p, once));
    Wd others(n - k, n);
    for (std::int64_t i = 0; i < n - k; ++i) {
      for (std::int64_t j = 0; j < n; ++j) others(i, j) = q(k + i, j);
    }
    once_worst = std::max(once_worst, largest(times(others, once)));
    twice_worst = std::max(twice_worst, largest(times(others, twice)));
  }
  EXPECT_LT(twice_worst, 8 * 0x1p-22L);
  EXPECT_GT(once_worst, 10 * twice_worst);
}

}  // namespace
}  // namespace trn::solver::testing::failing_variants

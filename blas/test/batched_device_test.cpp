// Batched gemm and trsm through their entry points on the simulated devices: one dispatch, one program, matrices
// wherever they lie.
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/trsm_batched.hpp>

#include "level3_support.hpp"

namespace trn::blas::test {
namespace {

int runs(const Recorder& recorder) {
  int count = 0;
  for (const Event& event : recorder.events()) count += event.kind == EventKind::Run;
  return count;
}

// A matrix of its own on the device, at an address nobody can guess.
struct Member {
  std::vector<float> host;
  Array<float> device;
  Member(const Executor& e, std::int64_t elements, std::mt19937_64& random)
      : host(values(elements, random)), device(Array<float>::from_host(e, {elements}, host)) {}
  static std::vector<float> values(std::int64_t n, std::mt19937_64& random) {
    std::normal_distribution<float> normal;
    std::vector<float> v(static_cast<std::size_t>(n));
    for (float& x : v) x = normal(random);
    return v;
  }
};

// Element (i, j) of op of a stored matrix.
float element_of(const std::vector<float>& v, blas::Layout layout, Op op, std::int64_t ld, std::int64_t i,
                 std::int64_t j) {
  if (op != Op::N) std::swap(i, j);
  return v[static_cast<std::size_t>(layout == blas::Layout::RowMajor ? i * ld + j : i + j * ld)];
}

void expect_product(const BatchShape& s, double alpha, const std::vector<float>& a, const std::vector<float>& b,
                    double beta, const std::vector<float>& before, const std::vector<float>& after, double bound) {
  const bool row = s.layout == blas::Layout::RowMajor;
  const auto ld = [&](Op op, std::int64_t rows, std::int64_t columns) { return (op == Op::N) == row ? columns : rows; };
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      long double sum = 0, scale = 0;
      for (std::int64_t k = 0; k < s.k; ++k) {
        const long double product =
            static_cast<long double>(element_of(a, s.layout, s.op_a, ld(s.op_a, s.m, s.k), i, k)) *
            element_of(b, s.layout, s.op_b, ld(s.op_b, s.k, s.n), k, j);
        sum += product, scale += std::abs(product);
      }
      const std::int64_t at = row ? i * s.n + j : i + j * s.m;
      const long double old = before[static_cast<std::size_t>(at)];
      sum = alpha * sum + beta * old, scale = std::abs(alpha) * scale + std::abs(beta * old);
      if (!(std::abs(after[static_cast<std::size_t>(at)] - sum) <= bound * scale))
        FAIL() << i << ", " << j << " in " << s.m << " x " << s.n << " x " << s.k;
    }
  }
}

TEST(BatchedDevice, PointerArraysAndGroups) {
  std::mt19937_64 random(1);
  for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor e = Executor::open(machine);
    std::vector<GemmGroup<float>> groups{{{Op::N, Op::N, 7, 5, 9}, 1, 0, 3},
                                         {{Op::T, Op::N, 20, 33, 40, 0, 0, 0, blas::Layout::RowMajor}, 0.5f, 2, 2},
                                         {{Op::N, Op::T, 64, 64, 64}, -1, 1, 2},
                                         {{Op::N, Op::N, 4, 4, 4}, 0, 1, 2},
                                         {{Op::N, Op::N, 4, 3, 6}, 0, 3, 1}};
    std::vector<Member> a, b, c;
    for (const auto& g : groups) {
      for (std::int64_t p = 0; p < g.count; ++p) {
        a.emplace_back(e, g.shape.m * g.shape.k, random);
        b.emplace_back(e, g.shape.k * g.shape.n, random);
        c.emplace_back(e, g.shape.m * g.shape.n, random);
      }
    }
    std::vector<const float*> la, lb;
    std::vector<float*> lc;
    for (std::size_t p = 0; p < a.size(); ++p)
      la.push_back(a[p].device.data()), lb.push_back(b[p].device.data()), lc.push_back(c[p].device.data());
    Recorder recorder(e);
    const Accuracy accuracy = gemm_grouped_batched<float>(e, groups, la, lb, lc, {Mode::Tf32x3});
    EXPECT_EQ(recorder.family_of("blas.gemm_batched"), "device");
    EXPECT_EQ(runs(recorder), 1);
    EXPECT_EQ(accuracy.mode, Mode::Tf32x3);
    EXPECT_EQ(accuracy.passes, 3);
    std::size_t p = 0;
    for (const auto& g : groups) {
      for (std::int64_t i = 0; i < g.count; ++i, ++p) {
        expect_product(g.shape, g.alpha, a[p].host, b[p].host, g.beta, c[p].host, c[p].device.to_host(),
                       accuracy.bound);
      }
    }
  }
}

TEST(BatchedDevice, Strided) {
  std::mt19937_64 random(2);
  const Executor e = Executor::open("sim:trn2");
  for (const Op op_a : {Op::N, Op::T}) {
    for (const Op op_b : {Op::N, Op::T}) {
      for (const blas::Layout layout : {blas::Layout::ColumnMajor, blas::Layout::RowMajor}) {
        const BatchShape s{op_a, op_b, 24, 17, 33, 0, 0, 0, layout};
        const std::int64_t count = 50, sa = s.m * s.k + 3, sb = s.k * s.n, sc = s.m * s.n + 5;
        const Member a(e, sa * count, random), b(e, sb, random), c(e, sc * count, random);
        Recorder recorder(e);
        const Accuracy accuracy = gemm_strided_batched<float>(e, s, 0.25f, a.device.data(), sa, b.device.data(), 0, -1,
                                                              c.device.data(), sc, count);
        EXPECT_EQ(recorder.family_of("blas.gemm_batched"), "device");
        EXPECT_EQ(runs(recorder), 1);
        const auto after = c.device.to_host();
        for (std::int64_t p = 0; p < count; ++p) {
          const auto slice = [&](const std::vector<float>& v, std::int64_t stride, std::int64_t size) {
            return std::vector<float>(v.begin() + p * stride, v.begin() + p * stride + size);
          };
          expect_product(s, 0.25, slice(a.host, sa, s.m * s.k), b.host, -1, slice(c.host, sc, s.m * s.n),
                         slice(after, sc, s.m * s.n), accuracy.bound);
          EXPECT_EQ(0, std::memcmp(&after[static_cast<std::size_t>(p * sc + s.m * s.n)],
                                   &c.host[static_cast<std::size_t>(p * sc + s.m * s.n)], 5 * sizeof(float)));
        }
      }
    }
  }
}

// One program serves any addresses of the same shape.
TEST(BatchedDevice, ProgramsAreKept) {
  std::mt19937_64 random(3);
  const Executor e = Executor::open("sim:trn2");
  Recorder recorder(e);
  for (int round = 0; round < 2; ++round) {
    const Member a(e, 16, random), b(e, 16, random), c(e, 16, random), d(e, 16, random);
    const std::vector<const float*> la{a.device.data(), b.device.data()}, lb{b.device.data(), a.device.data()};
    const std::vector<float*> lc{c.device.data(), d.device.data()};
    (void)gemm_batched<float>(e, {Op::N, Op::N, 4, 4, 4}, 1, la, lb, 0, lc);
  }
  int built = 0;
  for (const Event& event : recorder.events()) built += event.kind == EventKind::Build;
  EXPECT_EQ(built, 1);
  EXPECT_EQ(runs(recorder), 2);
}

TEST(BatchedDevice, TypesWithoutAKernelSaySo) {
  const Executor e = Executor::open("sim:trn2");
  const Array<double> a(e, {4}), b(e, {4}), c(e, {4});
  EXPECT_IN(
      "blas.gemm_batched: no device kernel for float64", message_of<NotImplemented>([&] {
        (void)gemm_strided_batched<double>(e, {Op::N, Op::N, 2, 2, 2}, 1, a.data(), 4, b.data(), 4, 0, c.data(), 4, 1);
      }));
  const std::vector<const double*> la{a.data()};
  const std::vector<double*> lb{b.data()};
  EXPECT_IN("blas.trsm_batched: no device kernel for float64",
            message_of<NotImplemented>([&] { trsm_batched<double>(e, {.m = 2, .n = 2}, 1, la, lb); }));
}

// A_p X_p = alpha B_p and X_p A_p = alpha B_p: the residual within Netlib's 16 epsilon of |A||X|.
TEST(BatchedDevice, TriangularSystems) {
  std::mt19937_64 random(4);
  const Executor e = Executor::open("sim:trn2");
  for (const Side side : kSides) {
    for (const Uplo uplo : kUplos) {
      for (const Op op : {Op::N, Op::T}) {
        for (const blas::Layout layout : {blas::Layout::ColumnMajor, blas::Layout::RowMajor}) {
          const TrsmBatchShape s{side, uplo, op, Diag::NonUnit, 21, 13, 0, 0, layout};
          const std::int64_t order = side == Side::Left ? s.m : s.n,
                             line = layout == blas::Layout::RowMajor ? s.n : s.m;
          std::vector<Member> a, b;
          for (int p = 0; p < 10; ++p) {
            std::vector<float> t = Member::values(order * order, random);
            for (std::int64_t i = 0; i < order * order; ++i)
              t[static_cast<std::size_t>(i)] = i / order == i % order ? 2 + std::abs(t[static_cast<std::size_t>(i)])
                                                                      : t[static_cast<std::size_t>(i)] / 9;
            a.emplace_back(e, order * order, random);
            a.back().host = t;
            a.back().device = Array<float>::from_host(e, {order * order}, t);
            b.emplace_back(e, s.m * s.n, random);
          }
          std::vector<const float*> la;
          std::vector<float*> lb;
          for (std::size_t p = 0; p < a.size(); ++p) la.push_back(a[p].device.data()), lb.push_back(b[p].device.data());
          Recorder recorder(e);
          trsm_batched<float>(e, s, 0.5f, la, lb);
          EXPECT_EQ(recorder.family_of("blas.trsm_batched"), "device");
          EXPECT_EQ(runs(recorder), 1);
          for (std::size_t p = 0; p < a.size(); ++p) {
            const auto x = b[p].device.to_host();
            const auto t = [&](std::int64_t i, std::int64_t j) -> long double {
              const std::int64_t r = op == Op::N ? i : j, c = op == Op::N ? j : i;
              return in_triangle(uplo, r, c) ? element_of(a[p].host, layout, Op::N, order, r, c) : 0.0f;
            };
            for (std::int64_t i = 0; i < s.m; ++i) {
              for (std::int64_t j = 0; j < s.n; ++j) {
                long double sum = 0, scale = 0;
                for (std::int64_t k = 0; k < order; ++k) {
                  const long double v = side == Side::Left ? t(i, k) * element_of(x, layout, Op::N, line, k, j)
                                                           : element_of(x, layout, Op::N, line, i, k) * t(k, j);
                  sum += v, scale += std::abs(v);
                }
                EXPECT_LE(std::abs(0.5L * element_of(b[p].host, layout, Op::N, line, i, j) - sum),
                          16 * 0x1p-23 * scale);
              }
            }
          }
        }
      }
    }
  }
}

TEST(BatchedDevice, TriangularAlphaZeroReadsNothing) {
  const Executor e = Executor::open("sim:trn2");
  const Array<float> a(e, {9}), b(e, {6}), c(e, {6});  // never written
  const std::vector<const float*> la{a.data(), a.data()};
  const std::vector<float*> lb{b.data(), c.data()};
  trsm_batched<float>(e, {.m = 3, .n = 2}, 0, la, lb);
  EXPECT_EQ(b.to_host(), std::vector<float>(6, 0));
  EXPECT_EQ(c.to_host(), std::vector<float>(6, 0));
}

}  // namespace
}  // namespace trn::blas::test

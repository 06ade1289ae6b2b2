// Singular values of batches on a simulated device, one-sided Jacobi with one matrix in each partition: LAPACK's ratios
// in 80-bit arithmetic for tall, square and wide matrices, thin and full, in every form; orthonormal vectors where
// singular values are zero; small singular values of graded matrices; matrices that fail among others; order of
// execution, emitted text, modelled times.
#include <trn/solver/svd.hpp>

#include <trn/core/error.hpp>
#include <trn/solver/batched_program.hpp>

#include "batched_device_support.hpp"
#include "support/nki_run.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();
constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
using Numbers = std::vector<long double>;

// Of matrices in one shape, by one call.
struct Singular {
  BatchOutcomes outcomes;
  Matrices u, vh;
  std::vector<Numbers> s;
};
Singular decompose(const Executor& device, const Matrices& a, bool full, Form form = Form::Rows) {
  const std::int64_t m = a[0].rows, n = a[0].columns, k = std::min(m, n), count = std::int64_t(a.size());
  const Matrices no_u(a.size(), Dense<long double>(m, full ? m : k)),
      no_v(a.size(), Dense<long double>(full ? n : k, n));
  const auto other = [&](int by) { return static_cast<Form>((static_cast<int>(form) + by) % 3); };
  const DeviceBatch batch(device, a, form), u(device, no_u, other(1)), vh(device, no_v, other(full ? 1 : 2));
  const Matrix<float> s(device, count, k);
  Recorder recorder(device);
  Singular all;
  all.outcomes = svd_batched<float>(device, batch.batch(), s.view(), u.batch(), vh.batch());
  EXPECT_EQ(recorder.family_of("solver.svd_batched"), "device");
  all.u = u.fetch(), all.vh = vh.fetch();
  const Matrix<float> values = s.to(kHost);
  for (std::int64_t p = 0; p < count; ++p) all.s.emplace_back(values.data() + p * k, values.data() + (p + 1) * k);
  const Matrices after = batch.fetch();  // A stays
  for (std::size_t p = 0; p < a.size(); ++p) {
    for (std::size_t i = 0; i < a[p].values.size(); ++i) {
      const long double x = a[p].values[i], y = after[p].values[i];
      EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y)));
    }
  }
  return all;
}

// Residual, orthogonality of both sets of vectors, and singular values beside the host's in double.
void expect_right(const Dense<long double>& a, const Dense<long double>& u, const Numbers& s,
                  const Dense<long double>& vh) {
  const std::int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  Held<double> exact(Layout::ColumnMajor, a), eu(Layout::ColumnMajor, m, k), ev(Layout::ColumnMajor, k, n);
  std::vector<double> reference(static_cast<std::size_t>(k));
  ASSERT_TRUE(svd<double>(kHost, exact.view(), VectorView<double>(kHost, reference.data(), k), eu.view(), ev.view())
                  .outcome.ok());
  Dense<long double> rest = a;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t q = 0; q < k; ++q) rest(i, j) -= u(i, q) * s[std::size_t(q)] * vh(q, j);
    }
  }
  const std::int64_t longer = std::max(m, n);
  EXPECT_LT(ratio(rest, norm1(a), longer, eps<float>), 3);
  EXPECT_LT(orthogonality(u, eps<float>), 3);
  EXPECT_LT(orthogonality(transposed(vh), eps<float>), 3);
  for (std::int64_t q = 0; q < k; ++q) {
    EXPECT_GE(s[std::size_t(q)], 0);
    if (q > 0) {
      EXPECT_LE(s[std::size_t(q)], s[std::size_t(q - 1)]);
    }
    EXPECT_LE(std::abs(s[std::size_t(q)] - reference[std::size_t(q)]),
              2.0L * static_cast<long double>(longer) * eps<float> * static_cast<long double>(reference[0]))
        << q;
  }
}

TEST(BatchedSvdDevice, EveryShapeAndForm) {
  const Executor device = Executor::open("sim:trn2");
  Random random(11);
  for_cases([&](std::int64_t n, std::int64_t count, Form form) {
    for (const std::int64_t m : {n, n + 3, std::max<std::int64_t>(n - 2, 1)}) {
      if (m == n && n > 17) continue;  // time
      SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << count);
      Matrices a;
      for (std::int64_t p = 0; p < count; ++p) {
        a.push_back(random_matrix<float>(m, n, random));
        if (p == 1) a.back() = Dense<long double>(m, n);  // zero
        if (p == 2) a.back()(m - 1, 0) = m % 2 ? kNan : kInf;
        for (auto& x : a.back().values) x = p == 3 ? 1 : p == 4 ? x * 0x1p100L : p == 5 ? x * 0x1p-90L : x;
      }
      const bool full = (m + n) % 2 == 1;
      const Singular all = decompose(device, a, full, form);
      for (std::size_t p = 0; p < a.size(); ++p) {
        SCOPED_TRACE(p);
        if (p == 2) {
          EXPECT_EQ(all.outcomes[p], (Outcome{Status::NotFinite, (m - 1) * n}));
          EXPECT_TRUE(std::isnan(all.s[p][0]) && std::isnan(all.u[p](0, 0)) && std::isnan(all.vh[p](0, 0)));
          continue;
        }
        ASSERT_TRUE(all.outcomes[p].ok());
        expect_right(a[p], all.u[p], all.s[p], all.vh[p]);
      }
    }
  });
}

// Equal, graded, clustered and vanishing singular values: more sweeps than the first launch makes, columns that become
// zero, and columns far below the others, whose vectors must be orthogonal all the same.
TEST(BatchedSvdDevice, HardSpectra) {
  const Executor device = Executor::open("sim:trn2");
  Random random(12);
  const std::int64_t m = 13, n = 11;
  Matrices a;
  for (int kind = 0; kind < 7; ++kind) {
    auto x = random_matrix<float>(m, n, random);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        if (kind == 0) x(i, j) = std::ldexp(x(i, j), -static_cast<int>(4 * j));       // columns graded over 2^-40
        if (kind == 1) x(i, j) = std::ldexp(x(i, j), -static_cast<int>(4 * i));       // rows
        if (kind == 2) x(i, j) = (i == j ? 1 : 0) + 1e-6L * x(i, j);                  // nearly equal
        if (kind == 3) x(i, j) = 1.0L / static_cast<long double>(i + j + 1);          // Hilbert
        if (kind == 4) x(i, j) = x(i, j % 3);                                         // columns three times and more
        if (kind == 5) x(i, j) = i == j ? static_cast<long double>((7 * i) % n) : 0;  // one is zero, not sorted
        if (kind == 6) x(i, j) = std::ldexp(x(i, j), -static_cast<int>(13 * j));      // below 2^-50 and below 2^-126
      }
    }
    a.push_back(rounded<float>(x));
  }
  for (const bool full : {false, true}) {
    const Singular all = decompose(device, a, full);
    for (std::size_t p = 0; p < a.size(); ++p) {
      SCOPED_TRACE(p);
      ASSERT_TRUE(all.outcomes[p].ok());
      expect_right(a[p], all.u[p], all.s[p], all.vh[p]);
    }
    for (std::int64_t i = 0; i < n; ++i) {  // norms of columns: x x^-1/2, by a Newton step and a product
      EXPECT_LE(std::abs(all.s[5][std::size_t(i)] - (n - 1 - i)), 4 * 0x1p-24L * (n - 1 - i));
    }
  }
}

// A = B D with D diagonal: one-sided Jacobi has every singular value to a relative n eps cond(B) (Demmel and Veselic),
// however small. A method that squares A, or A^T A's eigenvalues, has none below 2^-12.
TEST(BatchedSvdDevice, SmallSingularValuesOfGradedMatrices) {
  const Executor device = Executor::open("sim:trn2");
  Random random(13);
  const std::int64_t m = 9, n = 6;
  Matrices a, b;
  for (int p = 0; p < 20; ++p) {
    b.push_back(random_matrix<float>(m, n, random));
    a.push_back(b.back());
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a.back()(i, j) = std::ldexp(a.back()(i, j), -static_cast<int>(4 * (j % 5)));
    }
  }
  const Singular all = decompose(device, a, false);
  const auto values = [&](const Dense<long double>& x) {
    Held<double> exact(Layout::ColumnMajor, x), u(Layout::ColumnMajor, m, n), v(Layout::ColumnMajor, n, n);
    std::vector<double> s(static_cast<std::size_t>(n));
    EXPECT_TRUE(
        svd<double>(kHost, exact.view(), VectorView<double>(kHost, s.data(), n), u.view(), v.view()).outcome.ok());
    return s;
  };
  for (std::size_t p = 0; p < a.size(); ++p) {
    const auto reference = values(a[p]), of_b = values(b[p]);
    const long double cond = static_cast<long double>(of_b.front()) / static_cast<long double>(of_b.back());
    for (std::size_t q = 0; q < reference.size(); ++q) {
      EXPECT_LE(std::abs(all.s[p][q] - reference[q]), n * eps<float> * cond * reference[q]) << p << " " << q;
    }
  }
}

TEST(BatchedSvdDevice, MatricesDoNotTouchEachOther) {
  const Executor device = Executor::open("sim:trn2");
  Random random(14);
  Matrices a;
  for (int p = 0; p < 5; ++p) a.push_back(random_matrix<float>(6, 4, random));
  const Singular before = decompose(device, a, true);
  for (auto& x : a[2].values) x = kInf;
  const Singular after = decompose(device, a, true);
  EXPECT_EQ(after.outcomes[2], (Outcome{Status::NotFinite, 0}));
  for (const std::size_t p : {0, 1, 3, 4}) {
    EXPECT_EQ(after.u[p].values, before.u[p].values);
    EXPECT_EQ(after.vh[p].values, before.vh[p].values);
    EXPECT_EQ(after.s[p], before.s[p]);
  }
}

TEST(BatchedSvdDevice, EmptyAndRefused) {
  const Executor device = Executor::open("sim:trn2");
  const Matrix<float> memory(device, 65, 65), values(device, 2, 65);
  const auto batch = [&](std::int64_t m, std::int64_t n, std::int64_t count) {
    return Batch<float>::strided({m, n}, memory.data(), m * n, count);
  };
  const auto s = [&](std::int64_t count, std::int64_t k) {
    return MatrixView<float>(device, values.data(), count, k, 65, 1);
  };
  EXPECT_TRUE(svd_batched<float>(device, batch(3, 2, 0), s(0, 2), batch(3, 2, 0), batch(2, 2, 0)).empty());
  const Matrix<float> u = Matrix<float>::from_host(device, 2, 9, std::vector<float>(18, 7));
  const auto squares = Batch<float>::strided({3, 3}, u.data(), 9, 2);
  EXPECT_EQ(svd_batched<float>(device, batch(3, 0, 2), s(2, 0), squares, batch(0, 0, 2)).size(), 2u);
  const Matrix<float> unit = u.to(kHost);
  for (int i = 0; i < 18; ++i) EXPECT_EQ(unit.data()[i], i % 9 % 4 == 0 ? 1 : 0);
  const Matrix<float> large(device, 65, 65), other(device, 65, 65);
  EXPECT_THROW((void)svd_batched<float>(device, batch(65, 65, 1), s(1, 65),
                                        Batch<float>::strided({65, 65}, large.data(), 65 * 65, 1),
                                        Batch<float>::strided({65, 65}, other.data(), 65 * 65, 1)),
               NotImplemented);
}

// The largest order fits the memory of every machine.
TEST(BatchedSvdDevice, OrderSixtyFour) {
  Random random(15);
  const Matrices a{random_matrix<float>(64, 64, random)};
  const Singular all = decompose(Executor::open("sim:trn2"), a, false, Form::Columns);
  ASSERT_TRUE(all.outcomes[0].ok());
  expect_right(a[0], all.u[0], all.s[0], all.vh[0]);
  const BatchProgramShape shape{128, 64, 63, 64 * 63, 63, 1, false}, square{128, 64, 64, 64 * 64, 64, 1, false},
      right{128, 63, 63, 63 * 63, 63, 1, false};
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    (void)svd_batch_program({shape, 7, true, true}, machine);
    (void)svd_sort_program({square, right}, machine);
    (void)orthonormal_batch_program({square, 63}, machine);
  }
}

TEST(BatchedSvdDeviceOrder, ShuffledInstructionsGiveTheSameBits) {
  Random random(16);
  Matrices a;
  for (int p = 0; p < 3; ++p) a.push_back(random_matrix<float>(6, 5, random));
  for (auto& x : a[1].values) x = 0;
  const auto run = [&](neuron::Order order) {
    return decompose(neuron::open_simulator("trn2", {.order = order, .check_races = true}), a, true);
  };
  const Singular expected = run(neuron::Order::in_order());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Singular other = run(neuron::Order::shuffled(seed));
    EXPECT_EQ(other.s, expected.s);
    for (std::size_t p = 0; p < a.size(); ++p) {
      EXPECT_EQ(other.u[p].values, expected.u[p].values) << seed;
      EXPECT_EQ(other.vh[p].values, expected.vh[p].values) << seed;
    }
  }
}

TEST(BatchedSvdDeviceNki, EmittedTextGivesTheSimulatorsBits) {
  const auto agree = [](const tile::Program& program) { neuron::testing::expect_agreement(program); };
  const tile::Machine& trn2 = tile::machine("trn2");
  agree(svd_batch_program({{130, 3, 2, 6, 2, 1, false}, 2, true, true}, trn2));
  for (const char* name : {"trn1", "trn3"}) {
    agree(svd_batch_program({{3, 3, 4, 12, 1, 3, false}, 1, false, true}, tile::machine(name)));
    agree(svd_sort_program({{3, 4, 4, 16, 1, 4, false}, {3, 3, 3, 9, 3, 1, false}}, tile::machine(name)));
    agree(orthonormal_batch_program({{3, 4, 3, 12, 3, 1, false}, 2}, tile::machine(name)));
  }
}

// Launch included; README.md has the same numbers.
TEST(BatchedSvdDeviceModel, TheDocumentedTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto time = [&](const tile::Program& program) { return neuron::estimate(program, trn2).seconds; };
  const auto shape = [](std::int64_t n) { return BatchProgramShape{128, n, n, n * n, n, 1, false}; };
  const auto sweeps = [&](std::int64_t n, std::int64_t count) {
    return time(svd_batch_program({shape(n), count, true, true}, trn2));
  };
  EXPECT_LE(sweeps(8, 6), 372e-6);
  EXPECT_LE(sweeps(16, 7), 1.05e-3);
  EXPECT_LE(sweeps(32, 8), 3.87e-3);
  EXPECT_LE(time(svd_sort_program({shape(32), shape(32)}, trn2)), 275e-6);
  EXPECT_LE(time(orthonormal_batch_program({shape(32), 0}, trn2)), 560e-6);
}

}  // namespace
}  // namespace trn::solver::testing

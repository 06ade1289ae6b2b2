// Batches on a simulated device, one matrix in each partition: LAPACK's ratios in 80-bit arithmetic, counts on both
// sides of 128, both layouts, listed and strided, padding and other triangles untouched; matrices that fail among
// others, whose bits they do not change; the outcomes of the host; order of execution, emitted text, modelled times.
#include <trn/solver/batched.hpp>

#include <trn/core/error.hpp>
#include <trn/solver/batched_program.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/lu.hpp>

#include "batched_device_support.hpp"
#include "support/nki_run.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();
constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

TEST(BatchedDevice, Cholesky) {
  const Executor device = Executor::open("sim:trn2");
  Random random(1);
  for_cases([&](std::int64_t n, std::int64_t count, Form form) {
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      SCOPED_TRACE(::testing::Message() << n << " x " << count);
      Matrices a;
      for (std::int64_t p = 0; p < count; ++p) {
        a.push_back(random_positive<float>(n, random));
        if (p == 1) a.back()(n / 2, n / 2) = -1;
        if (p == 2) a.back()(n - 1, n - 1) = kNan;
        if (p == 3 && n > 1) (uplo == Uplo::Lower ? a.back()(0, n - 1) : a.back()(n - 1, 0)) = kNan;  // not read
        for (auto& x : a.back().values) x *= p == 4 ? 0x1p-100L : 1;
      }
      const DeviceBatch batch(device, a, form);
      Recorder recorder(device);
      const BatchOutcomes outcomes = potrf_batched(device, uplo, batch.batch());
      EXPECT_EQ(recorder.family_of("solver.potrf_batched"), "device");
      const Matrices result = batch.fetch();
      for (std::size_t p = 0; p < a.size(); ++p) {
        Held<float> one(Layout::RowMajor, a[p]);
        EXPECT_EQ(outcomes[p], potrf(kHost, uplo, one.view()).outcome) << p;
        if (p == 2) {
          EXPECT_TRUE(std::isnan(result[p](0, 0)));
        }
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < i; ++j) {
            const bool lower = uplo == Uplo::Lower;
            const long double now = lower ? result[p](j, i) : result[p](i, j), then = lower ? a[p](j, i) : a[p](i, j);
            EXPECT_TRUE(now == then || (std::isnan(now) && std::isnan(then)));
          }
        }
        if (!outcomes[p].ok()) continue;
        const auto l = triangle(uplo == Uplo::Lower ? result[p] : transposed(result[p]), Uplo::Lower);
        const auto whole = mirrored(a[p], uplo);
        // |A - L L^T| <= (n + 8) u |L||L^T|, elementwise.
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j <= i; ++j) {
            long double sum = 0, size = 0;
            for (std::int64_t k = 0; k <= j; ++k) sum += l(i, k) * l(j, k), size += std::abs(l(i, k) * l(j, k));
            EXPECT_LE(std::abs(sum - whole(i, j)), static_cast<long double>(n + 8) * 0x1p-24L * size) << i << " " << j;
          }
        }
      }
    }
  });
}

TEST(BatchedDevice, Lu) {
  const Executor device = Executor::open("sim:trn2");
  Random random(2);
  for_cases([&](std::int64_t n, std::int64_t count, Form form) {
    for (const std::int64_t m : {n, n + 2, std::max<std::int64_t>(n - 2, 1)}) {
      SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << count);
      const std::int64_t k = std::min(m, n);
      Matrices a;
      for (std::int64_t p = 0; p < count; ++p) {
        a.push_back(random_matrix<float>(m, n, random));
        for (std::int64_t i = 0; p == 1 && i < m; ++i) a.back()(i, k / 2) = 0;
        if (p == 2) a.back()(m - 1, 0) = kInf;
        for (auto& x : a.back().values) x = p == 3 ? std::round(2 * x) : x;  // ties
      }
      const DeviceBatch batch(device, a, form);
      const Matrix<std::int64_t> pivots(device, count, k);
      Recorder recorder(device);
      const BatchOutcomes outcomes = getrf_batched(device, batch.batch(), pivots.view());
      EXPECT_EQ(recorder.family_of("solver.getrf_batched"), "device");
      const Matrices result = batch.fetch();
      const Matrix<std::int64_t> rows = pivots.to(kHost);
      for (std::size_t p = 0; p < a.size(); ++p) {
        Held<float> one(Layout::RowMajor, a[p]);
        std::vector<std::int64_t> own(static_cast<std::size_t>(k));
        const Outcome host = getrf(kHost, one.view(), VectorView<std::int64_t>(kHost, own.data(), k)).outcome;
        EXPECT_EQ(outcomes[p].status == Status::NotFinite, host.status == Status::NotFinite) << p;
        if (outcomes[p].status == Status::NotFinite) {
          EXPECT_EQ(outcomes[p], host);
          EXPECT_TRUE(std::isnan(result[p](0, 0)));
          for (std::int64_t i = 0; i < k; ++i) EXPECT_EQ(rows.data()[std::int64_t(p) * k + i], 0);
          continue;
        }
        if (p == 1) {
          EXPECT_EQ(outcomes[p], host);
        }
        auto permuted = a[p];
        for (std::int64_t i = 0; i < k; ++i) {
          const std::int64_t row = rows.data()[std::int64_t(p) * k + i];
          ASSERT_TRUE(row >= i && row < m) << row;
          for (std::int64_t j = 0; j < n; ++j) std::swap(permuted(i, j), permuted(row, j));
        }
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            long double sum = 0, size = 0;
            for (std::int64_t q = 0; q <= std::min({i, j, k - 1}); ++q) {
              const long double term = (q == i ? 1 : result[p](i, q)) * result[p](q, j);
              sum += term, size += std::abs(term);
            }
            EXPECT_LE(std::abs(sum - permuted(i, j)), static_cast<long double>(k + 3) * 0x1p-24L * size) << p;
            if (i > j) {
              EXPECT_LE(std::abs(result[p](i, j)), 1 + 0x1p-22L);  // partial pivoting
            }
          }
        }
      }
    }
  });
}

TEST(BatchedDevice, Qr) {
  const Executor device = Executor::open("sim:trn2");
  Random random(3);
  for_cases([&](std::int64_t n, std::int64_t count, Form form) {
    for (const std::int64_t m : {n, n + 3, std::max<std::int64_t>(n - 2, 1)}) {
      SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << count);
      const std::int64_t k = std::min(m, n);
      Matrices a;
      for (std::int64_t p = 0; p < count; ++p) {
        a.push_back(random_matrix<float>(m, n, random));
        for (std::int64_t i = 0; p == 1 && i < m; ++i) a.back()(i, k / 2) = 0;
        if (p == 2) a.back()(m - 1, n - 1) = kNan;
        for (auto& x : a.back().values) x *= p == 3 ? 0x1p100L : p == 4 ? 0x1p-90L : 1;
      }
      const DeviceBatch batch(device, a, form);
      const Matrix<float> tau(device, count, k);
      Recorder recorder(device);
      const BatchOutcomes outcomes = geqrf_batched(device, batch.batch(), tau.view());
      EXPECT_EQ(recorder.family_of("solver.geqrf_batched"), "device");
      const Matrices result = batch.fetch();
      const Matrix<float> taus = tau.to(kHost);
      for (std::size_t p = 0; p < a.size(); ++p) {
        if (p == 2) {
          EXPECT_EQ(outcomes[p], (Outcome{Status::NotFinite, m * n - 1}));
          EXPECT_TRUE(std::isnan(result[p](0, 0)) && std::isnan(taus.data()[std::int64_t(p) * k]));
          continue;
        }
        ASSERT_TRUE(outcomes[p].ok());
        auto q = identity<long double>(m);
        Dense<long double> r(m, n);
        for (std::int64_t c = k - 1; c >= 0; --c) {  // Q = H(0) ... H(k-1)
          const long double t = taus.data()[std::int64_t(p) * k + c];
          for (std::int64_t j = 0; j < m; ++j) {
            long double sum = q(c, j);
            for (std::int64_t i = c + 1; i < m; ++i) sum += result[p](i, c) * q(i, j);
            q(c, j) -= t * sum;
            for (std::int64_t i = c + 1; i < m; ++i) q(i, j) -= t * result[p](i, c) * sum;
          }
        }
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = i; j < n; ++j) r(i, j) = result[p](i, j);
        }
        EXPECT_LT(orthogonality(q, eps<float>), kThreshold) << p;
        EXPECT_LT(ratio(minus(times(q, r), a[p]), norm1(a[p]), std::max(m, n), eps<float>), kThreshold) << p;
      }
    }
  });
}

TEST(BatchedDevice, Eigenproblems) {
  const Executor device = Executor::open("sim:trn2");
  Random random(4);
  for_cases([&](std::int64_t n, std::int64_t count, Form form) {
    for (const Vectors vectors : {Vectors::Yes, Vectors::No}) {
      if (vectors == Vectors::No && n > 8) continue;
      SCOPED_TRACE(::testing::Message() << n << " x " << count);
      const Uplo uplo = n % 2 ? Uplo::Upper : Uplo::Lower;
      Matrices a;
      for (std::int64_t p = 0; p < count; ++p) {
        a.push_back(random_hermitian<float>(n, random));
        if (p == 1) a.back() = Dense<long double>(n, n);  // zero
        if (p == 2) a.back()(n - 1, n - 1) = kNan;
        for (auto& x : a.back().values) x = p == 3 ? 1 : p == 4 ? x * 0x1p100L : p == 5 ? x * 0x1p-90L : x;
      }
      const DeviceBatch batch(device, a, form);
      const Matrix<float> w(device, count, n);
      Recorder recorder(device);
      const BatchOutcomes outcomes = eigh_batched(device, batch.batch(), w.view(), {.vectors = vectors, .uplo = uplo});
      EXPECT_EQ(recorder.family_of("solver.eigh_batched"), "device");
      const Matrices result = batch.fetch();
      const Matrix<float> values = w.to(kHost);
      for (std::size_t p = 0; p < a.size(); ++p) {
        const float* mine = values.data() + std::int64_t(p) * n;
        if (p == 2) {
          EXPECT_EQ(outcomes[p], (Outcome{Status::NotFinite, n * n - 1}));
          EXPECT_TRUE(std::isnan(mine[0]));
          EXPECT_EQ(std::isnan(result[p](0, 0)), vectors == Vectors::Yes || n == 1);
          continue;
        }
        ASSERT_TRUE(outcomes[p].ok()) << p;
        EXPECT_TRUE(std::is_sorted(mine, mine + n));
        Held<double> exact(Layout::ColumnMajor, a[p]);
        std::vector<double> reference(static_cast<std::size_t>(n));
        ASSERT_TRUE(eigh(kHost, exact.view(), VectorView<double>(kHost, reference.data(), n)).outcome.ok());
        const long double size = norm1(a[p]);
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_LE(std::abs(mine[i] - reference[std::size_t(i)]),
                    2.0L * static_cast<long double>(n) * eps<float> * size);
        if (vectors == Vectors::No) {
          EXPECT_EQ(result[p].values, a[p].values);
          continue;
        }
        auto left = times(a[p], result[p]);
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < n; ++j) left(i, j) -= result[p](i, j) * mine[j];
        }
        EXPECT_LT(ratio(left, size, n, eps<float>), 3) << p;
        EXPECT_LT(orthogonality(result[p], eps<float>), 3) << p;
      }
    }
  });
}

// Graded and clustered spectra, which take more sweeps than the first launch makes.
TEST(BatchedDevice, HardSpectra) {
  const Executor device = Executor::open("sim:trn2");
  Random random(5);
  const std::int64_t n = 17;
  Matrices a;
  for (int kind = 0; kind < 4; ++kind) {
    auto x = random_hermitian<float>(n, random);
    if (kind == 0) {  // D X D: graded over 2^-32
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) x(i, j) = std::ldexp(x(i, j), -static_cast<int>(i + j));
      }
    }
    if (kind == 1) {  // I + a little
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) x(i, j) = (i == j ? 1 : 0) + 1e-6L * x(i, j);
      }
    }
    if (kind == 2) x = hilbert<float>(n);
    if (kind == 3) {  // diagonal, not sorted
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) x(i, j) = i == j ? static_cast<long double>((7 * i) % n) : 0;
      }
    }
    a.push_back(rounded<float>(x));
  }
  const DeviceBatch batch(device, a, Form::Rows);
  const Matrix<float> w(device, 4, n);
  for (const Outcome& outcome : eigh_batched(device, batch.batch(), w.view())) EXPECT_TRUE(outcome.ok());
  const Matrices v = batch.fetch();
  const Matrix<float> values = w.to(kHost);
  for (std::size_t p = 0; p < a.size(); ++p) {
    auto left = times(a[p], v[p]);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) left(i, j) -= v[p](i, j) * values.data()[std::int64_t(p) * n + j];
    }
    EXPECT_LT(ratio(left, norm1(a[p]), n, eps<float>), 3) << p;
    EXPECT_LT(orthogonality(v[p], eps<float>), 3) << p;
  }
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(values.data()[3 * n + i], static_cast<float>(i));
}

// A matrix that is not finite changes no bit of the others.
TEST(BatchedDevice, MatricesDoNotTouchEachOther) {
  const Executor device = Executor::open("sim:trn2");
  Random random(6);
  Matrices a;
  for (int p = 0; p < 5; ++p) a.push_back(random_positive<float>(6, random));
  const auto run = [&](int operation) {
    const DeviceBatch batch(device, a, Form::Columns);
    const Matrix<std::int64_t> pivots(device, 5, 6);
    const Matrix<float> numbers(device, 5, 6);
    if (operation == 0) (void)potrf_batched(device, Uplo::Lower, batch.batch());
    if (operation == 1) (void)getrf_batched(device, batch.batch(), pivots.view());
    if (operation == 2) (void)geqrf_batched(device, batch.batch(), numbers.view());
    if (operation == 3) (void)eigh_batched(device, batch.batch(), numbers.view());
    return batch.fetch();
  };
  Matrices before;
  for (int operation = 0; operation < 4; ++operation)
    for (const auto& x : run(operation)) before.push_back(x);
  for (auto& x : a[2].values) x = kInf;
  for (std::size_t operation = 0; operation < 4; ++operation) {
    const Matrices after = run(static_cast<int>(operation));
    for (const std::size_t p : {0, 1, 3, 4}) EXPECT_EQ(after[p].values, before[5 * operation + p].values) << operation;
  }
}

TEST(BatchedDevice, Refusals) {
  const Executor device = Executor::open("sim:trn2");
  const Matrix<float> large(device, 65, 65);
  const auto batch = Batch<float>::strided({65, 65}, large.data(), 65 * 65, 1);
  EXPECT_THROW((void)potrf_batched(device, Uplo::Lower, batch), NotImplemented);
  const Matrix<double> other(device, 3, 3);
  EXPECT_THROW((void)potrf_batched(device, Uplo::Lower, Batch<double>::strided({3, 3}, other.data(), 9, 1)),
               NotImplemented);
  const auto none = Batch<float>::strided({3, 3}, large.data(), 9, 0);
  EXPECT_TRUE(potrf_batched(device, Uplo::Lower, none).empty());
  const auto nothing = Batch<float>::strided({0, 0}, large.data(), 0, 2);
  EXPECT_EQ(potrf_batched(device, Uplo::Lower, nothing).size(), 2u);
}

TEST(BatchedDeviceOrder, ShuffledInstructionsGiveTheSameBits) {
  Random random(7);
  Matrices a;
  for (int p = 0; p < 3; ++p) a.push_back(random_positive<float>(5, random));
  const auto run = [&](neuron::Order order) {
    const Executor device = neuron::open_simulator("trn2", {.order = order, .check_races = true});
    Matrices all;
    for (int operation = 0; operation < 4; ++operation) {
      const DeviceBatch batch(device, a, Form::Rows);
      const Matrix<std::int64_t> pivots(device, 3, 5);
      const Matrix<float> numbers(device, 3, 5);
      if (operation == 0) (void)potrf_batched(device, Uplo::Upper, batch.batch());
      if (operation == 1) (void)getrf_batched(device, batch.batch(), pivots.view());
      if (operation == 2) (void)geqrf_batched(device, batch.batch(), numbers.view());
      if (operation == 3) (void)eigh_batched(device, batch.batch(), numbers.view());
      for (const auto& x : batch.fetch()) all.push_back(x);
    }
    return all;
  };
  const Matrices expected = run(neuron::Order::in_order());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Matrices other = run(neuron::Order::shuffled(seed));
    for (std::size_t p = 0; p < expected.size(); ++p)
      EXPECT_EQ(other[p].values, expected[p].values) << seed << " " << p;
  }
}

TEST(BatchedDeviceNki, EmittedTextGivesTheSimulatorsBits) {
  const auto symmetric = [](std::int64_t n) {
    return neuron::testing::Inputs{{"a", [=](std::int64_t e) {
                                      const std::int64_t i = e / n % n, j = e % n;
                                      return i == j ? 3.0 + 0.01 * static_cast<double>(e % 7)
                                                    : 0.01 * static_cast<double>((i * j + i + j) % 13);
                                    }}};
  };
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    const BatchProgramShape shape{130, 4, 4, 16, 4, 1, false};
    neuron::testing::expect_agreement(potrf_batch_program(shape, machine), symmetric(4));
    neuron::testing::expect_agreement(getrf_batch_program(shape, machine), symmetric(4));
    neuron::testing::expect_agreement(geqrf_batch_program({3, 5, 4, 20, 1, 5, false}, machine), symmetric(4));
    neuron::testing::expect_agreement(eigh_batch_program({{3, 5, 5, 25, 5, 1, true}, 1, true, true}, machine),
                                      symmetric(5));
    neuron::testing::expect_agreement(eigh_sort_program({{3, 5, 5, 25, 5, 1, true}, 0, false, true}, machine));
  }
}

// Launch included; README.md has the same numbers.
TEST(BatchedDeviceModel, TheDocumentedTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto time = [&](const tile::Program& program) { return neuron::estimate(program, trn2).seconds; };
  const auto shape = [](std::int64_t n) { return BatchProgramShape{128, n, n, n * n, n, 1, false}; };
  EXPECT_LE(time(potrf_batch_program(shape(32), trn2)), 86e-6);
  EXPECT_LE(time(getrf_batch_program(shape(32), trn2)), 215e-6);
  EXPECT_LE(time(geqrf_batch_program(shape(32), trn2)), 243e-6);
  EXPECT_LE(time(eigh_batch_program({shape(32), 7, true, true}, trn2)), 4.0e-3);
  EXPECT_LE(time(eigh_sort_program({shape(32), 0, false, true}, trn2)), 160e-6);
  EXPECT_LE(time(potrf_batch_program(shape(8), trn2)), 28e-6);
}

}  // namespace
}  // namespace trn::solver::testing

// Batched gemm in its three forms and batched trsm, against wider arithmetic: shapes around the widths of vectors and
// tiles, ops, layouts, leading dimensions, shared operands, memory between the matrices, on every instruction set.
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/trsm_batched.hpp>

#include <omp.h>

#include "level3_support.hpp"
#include "support/every_target.hpp"

namespace trn::blas::test {
namespace {

struct Problem {
  BatchShape shape;
  std::int64_t count, gap = 0;  // gap: elements between matrices
  bool shared_a = false;
};

std::int64_t lines(const BatchShape& s, std::int64_t rows, std::int64_t columns) {
  return s.layout == blas::Layout::RowMajor ? rows : columns;
}
std::int64_t line(const BatchShape& s, std::int64_t rows, std::int64_t columns) {
  return s.layout == blas::Layout::RowMajor ? columns : rows;
}

// Storage of `count` matrices, element (i, j) of matrix p.
template <class T> struct Batch {
  std::int64_t rows, columns, ld, stride;
  bool row_major;
  std::vector<T> memory;
  Batch(const BatchShape& s, std::int64_t r, std::int64_t c, std::int64_t given_ld, std::int64_t count,
        std::int64_t gap, std::mt19937_64& random)
      : rows(r),
        columns(c),
        ld(given_ld ? given_ld : std::max<std::int64_t>(1, line(s, r, c))),
        stride(ld * lines(s, r, c) + gap),
        row_major(s.layout == blas::Layout::RowMajor),
        memory(static_cast<std::size_t>(stride * count + 1), not_a_number<T>()) {
    for (std::int64_t p = 0; p < count; ++p) {
      for (std::int64_t i = 0; i < r; ++i) {
        for (std::int64_t j = 0; j < c; ++j) at(p, i, j) = random_number<T>(random);
      }
    }
  }
  std::size_t index(std::int64_t p, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(p * stride + (row_major ? i * ld + j : i + j * ld));
  }
  T& at(std::int64_t p, std::int64_t i, std::int64_t j) { return memory[index(p, i, j)]; }
  const T& at(std::int64_t p, std::int64_t i, std::int64_t j) const { return memory[index(p, i, j)]; }
  Wide op(Op o, std::int64_t p, std::int64_t i, std::int64_t j) const {
    return o == Op::N ? wide(at(p, i, j)) : conj(wide(at(p, j, i)), o == Op::C);
  }
};

enum class Form : std::uint8_t { Strided, Pointers, Grouped };

template <class T> void check_batch(const Problem& q, Form form, std::uint64_t seed) {
  const Executor e = Executor::host();
  const BatchShape& s = q.shape;
  SCOPED_TRACE(::testing::Message() << name(dtype_of<T>) << ' ' << s.m << " x " << s.n << " x " << s.k << " ops "
                                    << static_cast<int>(s.op_a) << static_cast<int>(s.op_b) << " layout "
                                    << static_cast<int>(s.layout) << " form " << static_cast<int>(form) << " seed "
                                    << seed);
  std::mt19937_64 random(seed);
  const bool na = s.op_a == Op::N, nb = s.op_b == Op::N;
  Batch<T> a(s, na ? s.m : s.k, na ? s.k : s.m, s.lda, q.count, q.gap, random),
      b(s, nb ? s.k : s.n, nb ? s.n : s.k, s.ldb, q.count, q.gap, random);
  const Batch<T> before(s, s.m, s.n, s.ldc, q.count, q.gap, random);
  Batch<T> c = before;
  const T alpha = seed % 4 == 1 ? T(1) : number<T>(0.5, -1.5), beta = seed % 2 ? T(0) : number<T>(-2, 0.5);
  Recorder recorder(e);
  Accuracy accuracy;
  const std::int64_t stride_a = q.shared_a ? 0 : a.stride;
  if (form == Form::Strided) {
    accuracy = gemm_strided_batched(e, s, alpha, a.memory.data(), stride_a, b.memory.data(), b.stride, beta,
                                    c.memory.data(), c.stride, q.count);
  } else {
    std::vector<const T*> pa, pb;
    std::vector<T*> pc;
    for (std::int64_t p = q.count - 1; p >= 0; --p) {  // not in the order of memory
      pa.push_back(a.memory.data() + p * stride_a), pb.push_back(b.memory.data() + p * b.stride),
          pc.push_back(c.memory.data() + p * c.stride);
    }
    if (form == Form::Pointers) {
      accuracy = gemm_batched(e, s, alpha, pa, pb, beta, std::span<T* const>(pc));
    } else {
      const std::vector<GemmGroup<T>> groups{
          {s, alpha, beta, q.count / 2}, {{}, T(1), T(0), 0}, {s, alpha, beta, q.count - q.count / 2}};
      accuracy = gemm_grouped_batched<T>(e, groups, pa, pb, std::span<T* const>(pc));
    }
  }
  EXPECT_EQ(recorder.family_of("blas.gemm_batched"), s.m && s.n && q.count ? "host" : "");
  EXPECT_LE(recorder.count(EventKind::Dispatch), 1);
  std::vector<bool> named(c.memory.size(), false);
  for (std::int64_t p = 0; p < q.count; ++p) {
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        named[c.index(p, i, j)] = true;
        Sum sum, old;
        for (std::int64_t x = 0; x < s.k; ++x) sum.add(a.op(s.op_a, q.shared_a ? 0 : p, i, x), b.op(s.op_b, p, x, j));
        if (beta != T(0)) old.add(wide(beta), wide(before.at(p, i, j)));
        sum = sum.times(wide(alpha)) + old;
        const long double error = size(wide(c.at(p, i, j)) - sum.value);
        if (!(error <= accuracy.bound * kOracle * sum.scale))
          FAIL() << p << ' ' << i << ' ' << j << " error " << error / sum.scale << " bound " << accuracy.bound;
      }
    }
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!named[i] && std::memcmp(&c.memory[i], &before.memory[i], sizeof(T)) != 0)
      FAIL() << "element " << i << " outside the results was changed";
  }
}

template <class T> void check_forms(const Problem& q, std::uint64_t seed) {
  for (const Form form : {Form::Strided, Form::Pointers, Form::Grouped}) check_batch<T>(q, form, seed);
}

TEST(GemmBatched, EveryOpLayoutAndType) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 0;
    for (const Op op_a : kAllOps) {
      for (const Op op_b : kAllOps) {
        for (const blas::Layout layout : {blas::Layout::ColumnMajor, blas::Layout::RowMajor}) {
          ++seed;
          check_forms<T>({{op_a, op_b, 5, 9, 7, 0, 0, 0, layout}, 5}, seed);
          check_forms<T>({{op_a, op_b, 17, 6, 3, 20, 21, 22, layout}, 3, 2, seed % 3 == 0}, seed + 100);
        }
      }
    }
  });
}

// Every number of rows and columns through the widest tiles, on every instruction set this machine has.
TEST(GemmBatched, SizesAcrossVectorsAndTiles) {
  const int targets = testing_support::on_every_target([] {
    std::uint64_t seed = 1000;
    for (std::int64_t s = 1; s <= 37; ++s) {
      check_batch<float>({{Op::N, Op::N, s, 9, 4}, 2}, Form::Strided, ++seed);
      check_batch<double>({{Op::N, Op::N, s, 5, 4}, 2}, Form::Strided, ++seed);
      check_batch<double>({{Op::N, Op::T, 9, s, 3}, 2}, Form::Strided, ++seed);
    }
    for (const std::int64_t s : {0, 48, 64, 65, 80}) {
      check_batch<float>({{Op::N, Op::N, s, 13, 5}, 2}, Form::Strided, ++seed);
      check_batch<double>({{Op::T, Op::N, s, 3, 5}, 2}, Form::Strided, ++seed);
      check_batch<float>({{Op::N, Op::N, 3, 5, s}, 2}, Form::Strided, ++seed);
    }
  });
  EXPECT_GE(targets, 1);
}

// Packed squares have tiles of their own; a leading dimension or another k sends them to the general ones.
TEST(GemmBatched, Squares) {
  const int targets = testing_support::on_every_target([] {
    std::uint64_t seed = 900;
    for (const std::int64_t n : {8, 16, 32}) {
      for (const Op oa : {Op::N, Op::T}) {
        for (const Op ob : {Op::N, Op::T}) {
          for (const auto layout : {blas::Layout::RowMajor, blas::Layout::ColumnMajor}) {
            for (int round = 0; round < 2; ++round, ++seed) {
              const Form form = seed % 3 ? Form::Strided : Form::Pointers;
              check_batch<float>({{oa, ob, n, n, n, 0, 0, 0, layout}, 3, round}, form, seed);
              check_batch<double>({{oa, ob, n, n, n, 0, 0, 0, layout}, 3, round}, form, seed);
              check_batch<double>({{oa, ob, n, n, n - round, n + 1, 0, n + 2 * round, layout}, 2}, form, seed);
            }
          }
        }
      }
    }
  });
  EXPECT_GE(targets, 1);
}

TEST(GemmBatched, LargeProductsGoToOpenBlas) {
  check_batch<double>({{Op::N, Op::N, 100, 97, 99}, 2}, Form::Strided, 7);
  check_batch<std::complex<float>>({{Op::N, Op::C, 40, 41, 42}, 3}, Form::Pointers, 8);
}

TEST(GemmBatched, ThreadsGiveTheSameBits) {
  const Executor e = Executor::host();
  std::mt19937_64 random(5);
  const BatchShape s{Op::N, Op::N, 16, 16, 16};
  const Batch<float> a(s, 16, 16, 0, 500, 0, random), b(s, 16, 16, 0, 500, 0, random);
  std::vector<float> one(a.memory.size()), many(a.memory.size());
  const int threads = omp_get_max_threads();
  for (const int t : {1, 3}) {
    omp_set_num_threads(t);
    gemm_strided_batched(e, s, 1, a.memory.data(), 256, b.memory.data(), 256, 0, (t == 1 ? one : many).data(), 256,
                         500);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(one, many);
}

TEST(GemmBatched, AlphaZeroReadsNothing) {
  const Executor e = Executor::host();
  std::vector<double> c{1, 2, 3, 4};
  const double* nowhere = nullptr;
  gemm_strided_batched(e, {Op::N, Op::N, 1, 1, 3}, 0, nowhere, 0, nowhere, 0, 2, c.data(), 1, 4);
  EXPECT_EQ(c, (std::vector<double>{2, 4, 6, 8}));
}

TEST(GemmBatched, NoProductsReadNoAlpha) {
  const auto check = []<class T>(T) {
    const Executor e = Executor::host();
    const T* nowhere = nullptr;
    for (const T& alpha : {T(INFINITY), T(NAN), T(-0.0F)}) {
      for (const Precision& precision : {Precision(), Precision(Mode::Exact)}) {
        std::vector<T> c{1, 2, 3, 4};
        gemm_strided_batched(e, {Op::N, Op::N, 1, 1, 0}, alpha, nowhere, 0, nowhere, 0, T(2), c.data(), 1, 4,
                             {precision});
        EXPECT_EQ(c, (std::vector<T>{2, 4, 6, 8}));
        gemm_strided_batched(e, {Op::N, Op::N, 1, 1, 0}, alpha, nowhere, 0, nowhere, 0, T(0), c.data(), 1, 4,
                             {precision});
        EXPECT_EQ(std::memcmp(c.data(), std::vector<T>(4).data(), 4 * sizeof(T)), 0);
      }
    }
  };
  check(float{}), check(double{}), check(std::complex<float>{});
}

TEST(GemmBatched, Refusals) {
  const Executor e = Executor::host();
  std::vector<float> a(64), b(64), c(64);
  const auto strided = [&](const BatchShape& s, std::int64_t stride_c, std::int64_t count, float* to) {
    return message_of<InvalidArgument>(
        [&] { gemm_strided_batched(e, s, 1, a.data(), 4, b.data(), 4, 0, to, stride_c, count); });
  };
  const BatchShape two{Op::N, Op::N, 2, 2, 2};
  EXPECT_IN("m, n, k are -1, 2, 2", strided({Op::N, Op::N, -1, 2, 2}, 4, 2, c.data()));
  EXPECT_IN("the count is -3", strided(two, 4, -3, c.data()));
  EXPECT_IN("the leading dimension of A is 1, its lines have 2",
            strided({Op::N, Op::N, 2, 2, 2, 1, 2, 2}, 4, 2, c.data()));
  EXPECT_IN(
      "stride_c is 3, but a C of 2 lines of 2 with leading dimension 2 covers 4 elements, so the 2 results overlap",
      strided(two, 3, 2, c.data()));
  EXPECT_EQ(strided({Op::N, Op::N, 2, 2, 2, 2, 2, 8}, 2, 4, c.data()), "no error");  // lines side by side
  EXPECT_IN("C is not empty but its pointer is null", strided(two, 4, 2, nullptr));
  EXPECT_IN("C starts where A or B does", strided(two, 4, 2, a.data()));
  const std::vector<const float*> pa{a.data(), a.data() + 4}, pb{b.data(), nullptr};
  const std::vector<float*> pc{c.data(), c.data() + 4}, same{c.data(), c.data()};
  const auto lists = [&](const std::vector<const float*>& x, const std::vector<const float*>& y,
                         const std::vector<float*>& z) {
    return message_of<InvalidArgument>([&] { gemm_batched(e, two, 1, x, y, 0, std::span<float* const>(z)); });
  };
  EXPECT_IN("an address of product 1 is null", lists(pa, pb, pc));
  EXPECT_IN("two products have the same C", lists(pa, pa, same));
  EXPECT_IN("2 products but 1 addresses of A", lists({a.data()}, pa, pc));
  EXPECT_IN("C of product 0 starts where its A or B does", lists(pa, pa, {a.data(), c.data()}));
}

template <class T> void check_trsm_batch(const TrsmBatchShape& s, std::int64_t count, std::uint64_t seed) {
  const Executor e = Executor::host();
  SCOPED_TRACE(::testing::Message() << name(dtype_of<T>) << ' ' << s.m << " x " << s.n << " side "
                                    << static_cast<int>(s.side) << " uplo " << static_cast<int>(s.uplo) << " op "
                                    << static_cast<int>(s.op) << " diag " << static_cast<int>(s.diag) << " seed "
                                    << seed);
  std::mt19937_64 random(seed);
  const std::int64_t order = s.side == Side::Left ? s.m : s.n;
  const bool row_major = s.layout == blas::Layout::RowMajor;
  std::vector<Stored<T>> a, b, x;
  for (std::int64_t p = 0; p < count; ++p) {
    a.push_back(solvable<T>(order, s.uplo, s.diag, row_major ? Layout::RowMajor : Layout::ColumnMajor, random));
    b.push_back(full<T>(s.m, s.n, row_major ? Layout::PaddedRows : Layout::PaddedColumns, random));
  }
  x = b;
  std::vector<const T*> pa;
  std::vector<T*> px;
  for (std::int64_t p = 0; p < count; ++p)
    pa.push_back(a[static_cast<std::size_t>(p)].storage.data()),
        px.push_back(x[static_cast<std::size_t>(p)].storage.data());
  const T alpha = number<T>(0.5, -1.5);
  TrsmBatchShape shape = s;
  shape.ldb = row_major ? s.n + 5 : s.m + 3;
  trsm_batched(e, shape, alpha, pa, std::span<T* const>(px));
  const double u = unit_roundoff(dtype_of<T>);
  const double bound = ComplexScalar<T> ? 2 * std::sqrt(2.0) * (static_cast<double>(order) + 8) * u
                                        : (static_cast<double>(order) + 5) * u;
  for (std::size_t p = 0; p < a.size(); ++p) {
    auto expected = b[p];
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        Sum sum;
        for (std::int64_t q = 0; q < order; ++q) {
          s.side == Side::Left ? sum.add(triangular_at(s.uplo, s.op, s.diag, a[p], i, q), wide(x[p].at(q, j)))
                               : sum.add(wide(x[p].at(i, q)), triangular_at(s.uplo, s.op, s.diag, a[p], q, j));
        }
        ASSERT_LE(size(wide(alpha) * wide(b[p].at(i, j)) - sum.value), bound * kOracle * sum.scale) << i << ' ' << j;
        expected.at(i, j) = x[p].at(i, j);
      }
    }
    EXPECT_EQ(0, std::memcmp(expected.storage.data(), x[p].storage.data(), x[p].storage.size() * sizeof(T)))
        << "memory outside B was changed";
  }
}

TEST(TrsmBatched, EverySideTriangleOpDiagonalAndType) {
  for_scalars([]<class T>(T) {
    std::uint64_t seed = 0;
    for (const Side side : kSides) {
      for (const Uplo uplo : kUplos) {
        for (const Op op : kAllOps) {
          for (const Diag diag : kDiags) {
            for (const std::int64_t s : {1, 2, 17}) {
              ++seed;
              check_trsm_batch<T>(
                  {side, uplo, op, diag, s, 6, 0, 0, seed % 2 ? blas::Layout::RowMajor : blas::Layout::ColumnMajor}, 3,
                  seed);
              check_trsm_batch<T>(
                  {side, uplo, op, diag, 5, s, 0, 0, seed % 2 ? blas::Layout::RowMajor : blas::Layout::ColumnMajor}, 2,
                  seed);
            }
          }
        }
        check_trsm_batch<T>({side, uplo, Op::N, Diag::NonUnit, 66, 67, 0, 0}, 2, ++seed);
      }
    }
  });
}

TEST(TrsmBatched, AlphaZeroAndRefusals) {
  const Executor e = Executor::host();
  std::vector<float> a(16, NAN), b(16, NAN);
  const std::vector<const float*> pa{a.data()}, none{nullptr};
  const std::vector<float*> pb{b.data()}, two{b.data(), b.data()};
  const TrsmBatchShape s{Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 4, 4};
  trsm_batched(e, s, 0, none, std::span<float* const>(pb));
  EXPECT_EQ(b, std::vector<float>(16, 0));
  const auto text = [&](const TrsmBatchShape& shape, const std::vector<const float*>& x, const std::vector<float*>& y) {
    return message_of<InvalidArgument>([&] { trsm_batched(e, shape, 1, x, std::span<float* const>(y)); });
  };
  EXPECT_IN("an address of problem 0 is null", text(s, none, pb));
  EXPECT_IN("1 addresses of A but 2 of B", text(s, pa, two));
  EXPECT_IN("two problems have the same B", text(s, {a.data(), a.data()}, two));
  EXPECT_IN("starts where its A does", text(s, {b.data()}, pb));
  EXPECT_IN("m and n are -1 and 4", text({Side::Left, Uplo::Lower, Op::N, Diag::Unit, -1, 4}, pa, pb));
  EXPECT_IN("the leading dimension of A is 3, its order 4",
            text({Side::Left, Uplo::Lower, Op::N, Diag::Unit, 4, 4, 3}, pa, pb));
  EXPECT_IN("the leading dimension of B is 2", text({Side::Left, Uplo::Lower, Op::N, Diag::Unit, 4, 4, 4, 2}, pa, pb));
}

}  // namespace
}  // namespace trn::blas::test

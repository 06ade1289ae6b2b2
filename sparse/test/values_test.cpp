// Patterns and values: what is refused and how, duplicates, bases, sharing, every format there and back.
#include <complex>

#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

using Offsets = std::vector<std::int64_t>;
using Indices = std::vector<std::int32_t>;

std::string refused(Extents e, const Offsets& offsets, const Indices& indices) {
  return message_of<InvalidArgument>([&] { Pattern<std::int32_t>(Executor::host(), e, offsets, indices); });
}

TEST(Pattern, RefusesWhatBreaksARule) {
  EXPECT_EQ(refused({2, 3}, {0, 2, 3}, {0, 2, 1}), "no error");
  EXPECT_IN("2 offsets for 2 rows", refused({2, 3}, {0, 2}, {0, 2}));
  EXPECT_IN("first offset is 1", refused({2, 3}, {1, 2, 3}, {0, 2, 1}));
  EXPECT_IN("offsets fall from 2 to 1 after row 1", refused({2, 3}, {0, 2, 1}, {0, 1}));
  EXPECT_IN("row 0 ends at entry 9 of 3", refused({2, 3}, {0, 9, 9}, {0, 1, 2}));
  EXPECT_IN("last offset is 2 but there are 3", refused({2, 3}, {0, 1, 2}, {0, 1, 2}));
  EXPECT_IN("column index -1", refused({1, 3}, {0, 1}, {-1}));
  EXPECT_IN("column index 3; columns are 0 to 2", refused({1, 3}, {0, 1}, {3}));
  EXPECT_IN("not sorted", refused({1, 3}, {0, 2}, {2, 0}));
  EXPECT_IN("column 1 twice", refused({1, 3}, {0, 2}, {1, 1}));
  EXPECT_IN("both must be >= 0", refused({-1, 3}, {}, {}));
  EXPECT_IN("use 64-bit indices", refused({1, std::int64_t{1} << 31}, {0, 0}, {}));
  EXPECT_EQ(
      Pattern<std::int64_t>(Executor::host(), {1, std::int64_t{1} << 40}, Offsets{0, 1}, Offsets{1LL << 39}).nnz(), 1);
  EXPECT_EQ(refused({0, 0}, {0}, {}), "no error");
}

TEST(Csr, TripletsAddOrRefuseDuplicates) {
  const Offsets rows{1, 0, 1, 1}, columns{2, 0, 0, 2};
  const std::vector<double> values{1, 2, 3, 4};
  const auto a = Csr<double>::from_triplets(Executor::host(), {2, 3}, {rows, columns, values});
  EXPECT_EQ(a.nnz(), 3);
  EXPECT_EQ(dense(a), (std::vector<double>{2, 0, 0, 3, 0, 5}));
  // The Python suite's COO to dense overwrote duplicates.
  const auto coo = Coo<double>::from_triplets(Executor::host(), {2, 3}, {rows, columns, values});
  EXPECT_EQ(dense(to_csr(coo)), dense(a));
  EXPECT_IN("row 1, column 2 comes twice", message_of<InvalidArgument>([&] {
              (void)Csr<double>::from_triplets(Executor::host(), {2, 3}, {rows, columns, values}, Duplicates::Error);
            }));
  EXPECT_IN("entry 0 is at (1, 2), outside 2 x 2", message_of<InvalidArgument>([&] {
              (void)Csr<double>::from_triplets(Executor::host(), {2, 2}, {rows, columns, values});
            }));
  EXPECT_IN("give as many", message_of<InvalidArgument>([&] {
              (void)Csr<double>::from_triplets(Executor::host(), {2, 3}, {rows, Offsets{1}, values});
            }));
}

TEST(Csr, AdoptConvertsBaseAndOrderAndSaysSo) {
  Recorder recorder(Executor::host());
  const Indices offsets{1, 3, 4}, indices{3, 1, 2};
  const std::vector<float> values{7, 8, 9};
  const auto a = Csr<float>::adopt(
      Executor::host(), CsrView<float, std::int32_t, std::int32_t>{{2, 3}, offsets, indices, values, Base::One});
  EXPECT_EQ(dense(a), (std::vector<float>{8, 0, 7, 0, 9, 0}));
  EXPECT_EQ(recorder.count(EventKind::Dispatch, "sparse.adopt.base"), 1);
  EXPECT_EQ(recorder.count(EventKind::Dispatch, "sparse.adopt.sort"), 1);
  const auto again = [&](const Indices& o, const Indices& i, Base base) {
    return message_of<InvalidArgument>([&] {
      (void)Csr<float>::adopt(Executor::host(), CsrView<float, std::int32_t, std::int32_t>{{2, 3}, o, i, values, base});
    });
  };
  EXPECT_IN("with base 0 it must be 0", again(offsets, indices, Base::Zero));
  EXPECT_IN("column index 0; with base 1", again(offsets, {0, 1, 2}, Base::One));
  EXPECT_IN("offsets fall", again({1, 4, 3}, indices, Base::One));
  EXPECT_IN("comes twice", again({1, 3, 4}, {2, 2, 1}, Base::One));
  EXPECT_IN("3 indices", again({1, 1, 2}, indices, Base::One));
}

TEST(Csr, BorrowLeavesTheArraysWhereTheyLie) {
  using View = CsrView<float, std::int32_t, std::int32_t>;
  const Indices offsets{0, 2, 2, 3}, indices{0, 2, 1};
  const std::vector<float> values{7, 8, 9};
  auto owner = std::make_shared<int>(1);
  {
    Recorder recorder(Executor::host());
    const auto a = Csr<float>::borrow(View{{3, 3}, offsets, indices, values}, owner);
    ASSERT_TRUE(a.has_value());
    EXPECT_EQ(a->values().data(), values.data());
    EXPECT_EQ(a->pattern().indices().data(), indices.data());
    std::int64_t allocated = 0;
    for (const Event& e : recorder.events()) allocated += e.kind == EventKind::Allocate ? e.bytes : 0;
    EXPECT_EQ(allocated, 4 * 8);  // the offsets alone
    EXPECT_EQ(dense(*a), (std::vector<float>{7, 0, 8, 0, 0, 0, 0, 9, 0}));
    const Csr<float> copied = a->to(Executor::open("sim:trn2"));
    EXPECT_EQ(copied.pattern().indices().size(), 3);
    EXPECT_EQ(dense(copied.to(Executor::host())), dense(*a));
    EXPECT_GT(owner.use_count(), 1);
  }
  EXPECT_EQ(owner.use_count(), 1);
  const auto borrowed = [&](const Indices& i, Base base) {
    return Csr<float>::borrow(View{{3, 3}, offsets, i, values, base}, owner).has_value();
  };
  EXPECT_FALSE(borrowed({2, 0, 1}, Base::Zero));  // not sorted
  EXPECT_FALSE(borrowed({1, 1, 1}, Base::Zero));  // twice
  EXPECT_IN("row 0 has column index 3", message_of<InvalidArgument>([&] { (void)borrowed({0, 3, 1}, Base::Zero); }));
  EXPECT_IN("row 2 has column index -1", message_of<InvalidArgument>([&] { (void)borrowed({0, 1, -1}, Base::Zero); }));
  EXPECT_IN("with base 1 it must be 1", message_of<InvalidArgument>([&] { (void)borrowed(indices, Base::One); }));
  const Indices from_one{1, 3, 3, 4};
  EXPECT_FALSE(Csr<float>::borrow(View{{3, 3}, from_one, indices, values, Base::One}, owner).has_value());
}

TEST(Csr, NewValuesShareThePattern) {
  const auto a = random_csr<double>(20, 30, 4, 1);
  const std::vector<double> values(static_cast<std::size_t>(a.nnz()), 2.0);
  const VectorView<const double> view(Executor::host(), values.data(), a.nnz());
  const auto b = a.with_values(view);
  EXPECT_TRUE(b.pattern().shares(a.pattern()));
  EXPECT_EQ(b.values().data()[0], 2.0);
  EXPECT_NE(a.values().data()[0], 2.0);
  EXPECT_IN("values for a pattern with", message_of<InvalidArgument>([&] {
              (void)a.with_values(VectorView<const double>(Executor::host(), values.data(), 3));
            }));
}

TEST(Csr, MovesToADeviceAndBack) {
  const Executor sim = Executor::open("sim:trn2");
  const auto a = random_csr<float>(129, 127, 5, 2);
  const auto there = a.to(sim);
  EXPECT_EQ(there.executor(), sim);
  EXPECT_TRUE(equal(there.to(Executor::host()), a));
  EXPECT_IN("runs on the host only", message_of<NotImplemented>([&] { (void)transpose(there); }));
  EXPECT_TRUE(equal(to_csr(convert<Sell<float>>(a).to(sim).to(Executor::host())), a));
  EXPECT_IN("executor", message_of<InvalidArgument>([&] { (void)a.with_values(there.values()); }));
}

template <class T> class Formats : public testing::Test {};
using All = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Formats, All);

template <Scalar T, Index I> void there_and_back(std::int64_t rows, std::int64_t columns) {
  SCOPED_TRACE(fmt::format("{} x {}", rows, columns));
  const auto a = random_csr<T, I>(rows, columns, 6, static_cast<std::uint64_t>(rows * 1000 + columns));
  const auto expected = dense(a);
  const auto check = [&](const Csr<T, I>& back, bool exact) {
    expect_valid(back);
    EXPECT_EQ(dense(back), expected);
    if (exact) {
      EXPECT_TRUE(equal(back, a));
    } else {
      EXPECT_TRUE(equal(prune(back, 0), a));
    }
  };
  check(to_csr(convert<Csc<T, I>>(a)), true);
  check(to_csr(convert<Coo<T, I>>(a)), true);
  check(to_csr(convert<Sell<T, I>>(a)), true);
  check(to_csr(convert<Sell<T, I>>(a, {.height = 3, .sigma = 1})), true);
  check(to_csr(convert<Bsr<T, I>>(a, {.block_rows = 3, .block_columns = 2})), false);
  check(to_csr(convert<BlockedEll<T, I>>(a, {.block = 4})), false);
  const std::int64_t size = columns;
  const Matrix<T> d = to_dense(a);
  check(from_dense<T, I>(d.view()), true);
  check(from_dense<T, I>(d.view().transposed().transposed().block(0, 0, rows, size)), true);
  check(with_index<I>(with_index<std::int64_t>(a)), true);
  if constexpr (sizeof(I) == 4) check(to_csr(convert<Dia<T>>(a, {.most_diagonals = 100000})), false);
}

TYPED_TEST(Formats, ThereAndBack) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                                      {0, 5},
                                      {5, 0},
                                      {1, 1},
                                      {127, 129},
                                      {128, 128},
                                      {129, 127},
                                      {7, 300}}) {
    there_and_back<TypeParam, std::int32_t>(rows, columns);
  }
  there_and_back<TypeParam, std::int64_t>(65, 64);
}

TYPED_TEST(Formats, OneTriangle) {
  using T = TypeParam;
  const auto a = random_csr<T>(40, 40, 3, 9);
  for (const Symmetry symmetry : {Symmetry::Symmetric, Symmetry::Hermitian, Symmetry::Skew}) {
    const T sign = symmetry == Symmetry::Skew ? T(-1) : T(1);
    const Csr<T> whole = add<T>(1, a, sign, symmetry == Symmetry::Hermitian ? adjoint(a) : transpose(a));
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      const auto half = convert<Triangle<T>>(whole, {.uplo = uplo, .symmetry = symmetry});
      EXPECT_LT(half.stored().nnz(), whole.nnz());
      EXPECT_TRUE(equal(to_csr(half), whole));
    }
  }
  EXPECT_IN("not the mirrored column", message_of<InvalidArgument>([&] { (void)convert<Triangle<T>>(a); }));
  EXPECT_IN("outside the lower triangle",
            message_of<InvalidArgument>([&] { (void)Triangle<T>(a, Uplo::Lower, Symmetry::Symmetric); }));
}

TEST(Formats, RefuseBadArguments) {
  const auto a = random_csr<double>(10, 10, 3, 4);
  EXPECT_IN("blocks of 0 x 2", message_of<InvalidArgument>([&] { (void)convert<Bsr<double>>(a, {.block_rows = 0}); }));
  EXPECT_IN("more than 2 diagonals",
            message_of<InvalidArgument>([&] { (void)convert<Dia<double>>(a, {.most_diagonals = 2}); }));
  const Indices twice{1, 1}, late{-1, 0}, far{5, -1};
  const std::vector<double> values(2 * 4);
  const auto ell = [&](const Indices& indices) {
    return message_of<InvalidArgument>([&] { BlockedEll<double>(Executor::host(), {2, 4}, 2, 2, indices, values); });
  };
  EXPECT_IN("twice", ell(twice));
  EXPECT_IN("after padding", ell(late));
  EXPECT_IN("block column 5", ell(far));
  EXPECT_IN("offsets must rise", message_of<InvalidArgument>([&] {
              Dia<double>(Executor::host(), {2, 2}, Offsets{1, 1}, std::vector<double>(4));
            }));
  EXPECT_IN("lies outside", message_of<InvalidArgument>([&] {
              Dia<double>(Executor::host(), {2, 2}, Offsets{2}, std::vector<double>(2));
            }));
  const auto wide =
      Csr<double, std::int64_t>::from_triplets(Executor::host(), {2, std::int64_t{1} << 40},
                                               {Offsets{1}, Offsets{std::int64_t{1} << 39}, std::vector<double>{5}});
  EXPECT_IN("do not fit 32-bit", message_of<InvalidArgument>([&] { (void)with_index<std::int32_t>(wide); }));
}

}  // namespace
}  // namespace trn::sparse

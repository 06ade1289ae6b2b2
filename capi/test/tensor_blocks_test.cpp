// cuTENSOR's block-sparse contraction through the C face, against dense sums; statuses; a device.
#include <trntensor.h>

#include <array>
#include <cmath>
#include <memory>

#include "mem.hpp"

namespace {

using capi_test::Mem, capi_test::On;
using Int = std::int64_t;
constexpr auto kIdentity = TRNTENSOR_OP_IDENTITY;

struct Handle {
  Handle() { EXPECT_EQ(trntensorCreate(&h), TRNTENSOR_STATUS_SUCCESS); }
  ~Handle() { trntensorDestroy(h); }
  operator trntensorHandle_t() const { return h; }
  trntensorHandle_t h = nullptr;
};

// A matrix of sparse blocks, each packed with its first mode fastest.
struct Blocks {
  std::vector<Int> rows, columns;  // sections
  std::vector<std::array<std::int32_t, 2>> at;
  std::vector<std::vector<float>> values = {};
  std::vector<std::unique_ptr<Mem<float>>> memory = {};
  std::vector<void*> address = {};
  trntensorBlockSparseTensorDescriptor_t descriptor = nullptr;

  void place(trntensorHandle_t h, float from) {
    for (const auto& [i, j] : at) {
      std::vector<float>& v = values.emplace_back();
      const Int count = rows[static_cast<std::size_t>(i)] * columns[static_cast<std::size_t>(j)];
      for (Int e = 0; e < count; ++e) v.push_back(from + 0.25F * static_cast<float>(e % 11));
      memory.push_back(std::make_unique<Mem<float>>(v));
      address.push_back(static_cast<float*>(*memory.back()));
    }
    const std::uint32_t sections[] = {static_cast<std::uint32_t>(rows.size()),
                                      static_cast<std::uint32_t>(columns.size())};
    std::vector<Int> extents = rows;
    extents.insert(extents.end(), columns.begin(), columns.end());
    ASSERT_EQ(trntensorCreateBlockSparseTensorDescriptor(h, &descriptor, 2, at.size(), sections, extents.data(),
                                                         at.front().data(), nullptr, TRN_R_32F),
              TRNTENSOR_STATUS_SUCCESS)
        << trnGetLastErrorText();
  }
  [[nodiscard]] const void* const* in() const { return address.data(); }
};

void contraction() {
  const Handle h;
  Blocks a{{2, 3}, {4, 1, 2}, {{0, 0}, {1, 2}, {0, 2}, {1, 1}}}, b{{4, 1, 2}, {5, 2}, {{2, 0}, {0, 1}, {0, 0}}},
      d{{2, 3}, {5, 2}, {{0, 0}, {1, 0}, {1, 1}}};
  a.place(h, 0.5F), b.place(h, -1), d.place(h, 3);
  const std::int32_t ik[] = {'i', 'k'}, kj[] = {'k', 'j'}, ij[] = {'i', 'j'};
  trntensorOperationDescriptor_t operation = nullptr;
  ASSERT_EQ(
      trntensorCreateBlockSparseContraction(h, &operation, a.descriptor, ik, kIdentity, b.descriptor, kj, kIdentity,
                                            d.descriptor, ij, kIdentity, d.descriptor, ij, TRNTENSOR_COMPUTE_DESC_32F),
      TRNTENSOR_STATUS_SUCCESS)
      << trnGetLastErrorText();
  float flops = 0;
  ASSERT_EQ(trntensorOperationDescriptorGetAttribute(h, operation, TRNTENSOR_OPERATION_DESCRIPTOR_FLOPS, &flops, 4),
            TRNTENSOR_STATUS_SUCCESS);
  EXPECT_EQ(flops, 2 * (2 * 4 * 5 + 2 * 2 * 5 + 3 * 2 * 5));  // pairs that reach a block of D
  trntensorPlan_t plan = nullptr;
  ASSERT_EQ(trntensorCreatePlan(h, &plan, operation, nullptr, 0), TRNTENSOR_STATUS_SUCCESS) << trnGetLastErrorText();
  trntensorDestroyOperationDescriptor(operation);
  const float alpha = 2, beta = -0.5F;
  ASSERT_EQ(trntensorBlockSparseContract(h, plan, &alpha, a.in(), b.in(), &beta, d.in(), d.address.data(), nullptr, 0,
                                         nullptr),
            TRNTENSOR_STATUS_SUCCESS)
      << trnGetLastErrorText();
  for (std::size_t block = 0; block < d.at.size(); ++block) {
    const auto [bi, bj] = d.at[block];
    const Int m = d.rows[static_cast<std::size_t>(bi)], n = d.columns[static_cast<std::size_t>(bj)];
    const auto got = d.memory[block]->get();
    for (Int j = 0; j < n; ++j) {
      for (Int i = 0; i < m; ++i) {
        double want = beta * static_cast<double>(d.values[block][static_cast<std::size_t>(i + m * j)]);
        for (std::size_t x = 0; x < a.at.size(); ++x) {
          for (std::size_t y = 0; y < b.at.size(); ++y) {
            if (a.at[x][0] != bi || b.at[y][1] != bj || a.at[x][1] != b.at[y][0]) continue;
            const Int k = a.columns[static_cast<std::size_t>(a.at[x][1])];
            for (Int l = 0; l < k; ++l)
              want += alpha * static_cast<double>(a.values[x][static_cast<std::size_t>(i + m * l)]) *
                      static_cast<double>(b.values[y][static_cast<std::size_t>(l + k * j)]);
          }
        }
        EXPECT_NEAR(static_cast<double>(got[static_cast<std::size_t>(i + m * j)]), want, 1e-5) << block;
      }
    }
  }
  // A factor of zero reads no C; addresses that are null or another plan are refused.
  const float zero = 0;
  EXPECT_EQ(trntensorBlockSparseContract(h, plan, &alpha, a.in(), b.in(), &zero, nullptr, d.address.data(), nullptr, 0,
                                         nullptr),
            TRNTENSOR_STATUS_SUCCESS);
  EXPECT_EQ(trntensorBlockSparseContract(h, plan, &alpha, a.in(), b.in(), &beta, nullptr, d.address.data(), nullptr, 0,
                                         nullptr),
            TRNTENSOR_STATUS_INVALID_VALUE);
  EXPECT_EQ(trntensorBlockSparseContract(h, plan, &alpha, nullptr, b.in(), &zero, nullptr, d.address.data(), nullptr, 0,
                                         nullptr),
            TRNTENSOR_STATUS_INVALID_VALUE);
  std::vector<void*> twice(d.address.size(), d.address[0]);
  EXPECT_EQ(
      trntensorBlockSparseContract(h, plan, &alpha, a.in(), b.in(), &zero, nullptr, twice.data(), nullptr, 0, nullptr),
      TRNTENSOR_STATUS_INVALID_VALUE);  // blocks of D that overlap
  EXPECT_EQ(
      trntensorContract(h, plan, &alpha, a.address[0], b.address[0], &zero, nullptr, d.address[0], nullptr, 0, nullptr),
      TRNTENSOR_STATUS_INVALID_VALUE);
  trntensorDestroyPlan(plan);
  for (const Blocks* x : {&a, &b, &d}) trntensorDestroyBlockSparseTensorDescriptor(x->descriptor);
}

TEST(CTensor, BlockSparseContraction) { contraction(); }
TEST(CTensor, BlockSparseContractionOnADevice) {
  const On device("sim:trn2");
  contraction();
}

TEST(CTensor, BlockSparseStatuses) {
  const Handle h;
  trntensorBlockSparseTensorDescriptor_t t = nullptr, other = nullptr;
  const std::uint32_t sections[] = {2, 1};
  const Int extents[] = {2, 3, 4};
  const std::int32_t good[] = {0, 0, 1, 0}, outside[] = {0, 1}, twice[] = {1, 0, 1, 0};
  EXPECT_EQ(trntensorCreateBlockSparseTensorDescriptor(h, &t, 2, 1, sections, extents, outside, nullptr, TRN_R_32F),
            TRNTENSOR_STATUS_INVALID_VALUE);
  EXPECT_EQ(trntensorCreateBlockSparseTensorDescriptor(h, &t, 2, 2, sections, extents, nullptr, nullptr, TRN_R_32F),
            TRNTENSOR_STATUS_INVALID_VALUE);
  EXPECT_EQ(trntensorCreateBlockSparseTensorDescriptor(h, &t, 2, 2, sections, extents, good, nullptr, TRN_R_8I),
            TRNTENSOR_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(trntensorCreateBlockSparseTensorDescriptor(h, &t, 2, 2, sections, extents, good, nullptr, TRN_R_32F),
            TRNTENSOR_STATUS_SUCCESS);
  ASSERT_EQ(trntensorCreateBlockSparseTensorDescriptor(h, &other, 2, 2, sections, extents, twice, nullptr, TRN_R_32F),
            TRNTENSOR_STATUS_SUCCESS);
  const std::int32_t ik[] = {0, 1}, jk[] = {2, 1}, ki[] = {1, 0};
  trntensorOperationDescriptor_t d = nullptr;
  const auto made = [&](trntensorBlockSparseTensorDescriptor_t x, const std::int32_t* of_d, const std::int32_t* of_c) {
    return trntensorCreateBlockSparseContraction(h, &d, x, ik, kIdentity, t, ik, kIdentity, t, of_c, kIdentity, t, of_d,
                                                 TRNTENSOR_COMPUTE_DESC_32F);
  };
  EXPECT_EQ(made(other, ik, ik), TRNTENSOR_STATUS_INVALID_VALUE);  // a block twice
  EXPECT_EQ(made(t, ik, ki), TRNTENSOR_STATUS_INVALID_VALUE);      // C's modes are not D's
  EXPECT_EQ(made(t, jk, jk), TRNTENSOR_STATUS_INVALID_VALUE);      // a mode of D that no operand has
  EXPECT_EQ(made(nullptr, ik, ik), TRNTENSOR_STATUS_INVALID_VALUE);
  ASSERT_EQ(made(t, ik, ik), TRNTENSOR_STATUS_SUCCESS);
  trntensorDestroyOperationDescriptor(d);
  trntensorDestroyBlockSparseTensorDescriptor(t), trntensorDestroyBlockSparseTensorDescriptor(other);
}

}  // namespace

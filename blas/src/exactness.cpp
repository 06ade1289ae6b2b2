// probe_exactness: small integers through the executor's own gemm, and through the slices, moduli and evictions of
// Exact.
#include <trn/blas/exactness.hpp>

#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "exact.hpp"

namespace trn::blas {

namespace {

struct Integers {
  std::int64_t rows, columns;
  std::vector<std::int64_t> value;
  Integers(std::int64_t r, std::int64_t c, std::int64_t largest, std::mt19937_64& random)
      : rows(r), columns(c), value(static_cast<std::size_t>(r * c)) {
    std::uniform_int_distribution<std::int64_t> draw(-largest, largest);
    for (auto& x : value) x = draw(random);
  }
  [[nodiscard]] std::int64_t at(std::int64_t i, std::int64_t j) const {
    return value[static_cast<std::size_t>(i * columns + j)];
  }
};

std::int64_t dot(const Integers& a, const Integers& b, std::int64_t i, std::int64_t j) {
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < a.columns; ++p) sum += a.at(i, p) * b.at(p, j);
  return sum;
}

constexpr std::int64_t kRows = 24, kColumns = 20;

// bfloat16 products added in fp32.
std::string products(const Executor& executor, std::int64_t largest, std::int64_t k, std::mt19937_64& random) {
  const Integers a(kRows, k, largest, random), b(k, kColumns, largest, random);
  const auto upload = [&](const Integers& x) {
    std::vector<bfloat16> narrow;
    for (const std::int64_t v : x.value) narrow.emplace_back(static_cast<float>(v));
    return Matrix<bfloat16>::from_host(executor, x.rows, x.columns, narrow);
  };
  const Matrix<bfloat16> da = upload(a), db = upload(b);
  const Matrix<float> dc(executor, kRows, kColumns);
  gemm(executor, Op::N, Op::N, 1, da.view(), db.view(), 0, dc.view());
  const std::vector<float> c = dc.to_host();
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const auto got = static_cast<double>(c[static_cast<std::size_t>(i * kColumns + j)]);
      const std::int64_t want = dot(a, b, i, j);
      if (got != static_cast<double>(want)) {
        return fmt::format(
            "bfloat16 integers up to {} with k = {}: element ({}, {}) of the product is {} instead of {}", largest, k,
            i, j, got, want);
      }
    }
  }
  return {};
}

// Integers of 30 bits through slices, residues, reductions and recombination.
std::string residues(const Executor& executor, std::mt19937_64& random) {
  constexpr int kModuli = 10;
  constexpr int kBits = 55;  // limbs as numbers of most products have
  constexpr std::int64_t kLargest = 1 << 30, kDepth = 300;
  const Integers a(kRows, kDepth, kLargest, random), bt(kColumns, kDepth, kLargest, random);
  const std::vector<double> wide_a(a.value.begin(), a.value.end()), wide_b(bt.value.begin(), bt.value.end());
  const auto da = Matrix<double>::from_host(executor, kRows, kDepth, wide_a),
             db = Matrix<double>::from_host(executor, kColumns, kDepth, wide_b);
  const std::vector<std::int32_t> zero_a(kRows, 0), zero_b(kColumns, 0);
  GemmArgs g{DType::Float64, DType::Float64, kRows,    kColumns, kDepth, da.data(), kDepth, 1, db.data(), 1,
             kDepth,         nullptr,        kColumns, 1,        1,      0};
  const exact::Operand left(executor, g.in, g.a, kRows, kDepth, kDepth, 1, false, exact::OperandSide::Left);
  const exact::Operand right(executor, g.in, g.b, kColumns, kDepth, kDepth, 1, false, exact::OperandSide::Right);
  std::string reason;
  const auto compare = [&](exact::Source& source) {
    std::vector<exact::Wide> x(static_cast<std::size_t>(kRows * kColumns));
    source.fetch({0, kRows, 0, kColumns}, x.data());
    for (std::int64_t at = 0; at < kRows * kColumns && reason.empty(); ++at) {
      const std::int64_t i = at / kColumns, j = at % kColumns;
      exact::Wide want;
      for (std::int64_t p = 0; p < kDepth; ++p) want.add(a.at(i, p) * bt.at(j, p), 0);
      if (x[static_cast<std::size_t>(at)] == want) continue;
      reason =
          fmt::format("integers of 30 bits modulo {} numbers: element ({}, {}) of the product is wrong", kModuli, i, j);
    }
  };
  const ExactArgs args{
      g,      kModuli, kBits, left, right, zero_a, zero_b, false, exact::Partition(kRows, kColumns, kDepth, 1, false),
      compare};
  ask(KernelTable<ExactArgs>{"blas.exactness", host::exact_product, device::exact_product}, executor, args);
  return reason;
}

Exactness probe(const Executor& executor) {
  std::mt19937_64 random(20240613);
  try {
    for (const auto& [largest, k] : {std::pair(256, 256), std::pair(64, 4096)}) {
      if (std::string reason = products(executor, largest, k, random); !reason.empty()) return {false, reason};
    }
    if (std::string reason = residues(executor, random); !reason.empty()) return {false, reason};
  } catch (const DeviceError& error) {
    if (error.check() == "over-capacity") throw;  // memory that is full today says nothing about the arithmetic
    return {false, error.what()};
  }
  return {true, {}};
}

}  // namespace

Exactness probe_exactness(const Executor& executor) {
  // One answer per backend, forgotten with it.
  static std::mutex mutex;
  static std::vector<std::pair<std::weak_ptr<Backend>, Exactness>> known;
  const std::shared_ptr<Backend>& backend = executor.shared_backend();
  {
    const std::scoped_lock lock(mutex);
    std::erase_if(known, [](const auto& entry) { return entry.first.expired(); });
    for (const auto& [owner, answer] : known) {
      if (owner.lock() == backend) return answer;
    }
  }
  const PurposeScope probing(Purpose::Probe);
  Exactness answer = probe(executor);
  const std::scoped_lock lock(mutex);
  known.emplace_back(backend, answer);
  return answer;
}

}  // namespace trn::blas

// Questions about the Tensor Engine and about sums: choices 1, 2, 3, 5, 6, 9, 23. Sums of terms that cancel tell the
// orders apart: each order loses other digits.
#include <cmath>
#include <random>

#include "silicon_choice.hpp"

namespace trn::tools::silicon {

namespace {

using tile::Access;

// Terms of very different sizes and both signs, as the dtype holds them.
Values cancelling(std::int64_t n, DType dtype, unsigned seed, int spread = 6) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> mantissa(1, 2), sign(-1, 1);
  std::uniform_int_distribution<int> exponent(-spread, spread);
  Values v(static_cast<std::size_t>(n));
  for (double& x : v) x = std::copysign(std::ldexp(mantissa(random), exponent(random)), sign(random));
  const Bytes bytes = as(dtype, v);
  to_double(dtype, bytes.data(), v.data(), n);
  return v;
}

using Terms = std::vector<double>;  // exact products
float add(float a, float b) { return a + b; }

float chain(const Terms& t, std::size_t begin, std::size_t end) {
  float sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum = static_cast<float>(static_cast<long double>(sum) + t[i]);
  return sum;
}
float backwards(const Terms& t) {
  float sum = 0;
  for (std::size_t i = t.size(); i-- > 0;) sum = static_cast<float>(static_cast<long double>(sum) + t[i]);
  return sum;
}
float pairs(const Terms& t, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return static_cast<float>(t[begin]);
  const std::size_t middle = begin + (end - begin + 1) / 2;
  return add(pairs(t, begin, middle), pairs(t, middle, end));
}
float strided_tree(const Terms& t) {
  std::vector<float> s(t.begin(), t.end());
  for (std::size_t n = s.size(); n > 1; n = (n + 1) / 2) {
    for (std::size_t i = 0; i + (n + 1) / 2 < n; ++i) s[i] = add(s[i], s[i + (n + 1) / 2]);
  }
  return s[0];
}
float groups(const Terms& t, std::size_t size) {
  float sum = 0;
  for (std::size_t i = 0; i < t.size(); i += size) {
    const float part = chain(t, i, std::min(t.size(), i + size));
    sum = i == 0 ? part : add(sum, part);
  }
  return sum;
}
// The exponents of the terms lie within 64 bits of each other, so the sum in a long double is exact.
float once(const Terms& t) {
  long double sum = 0;
  for (const double x : t) sum += x;
  return static_cast<float>(sum);
}
float truncated_chain(const Terms& t) {
  float sum = 0;
  for (const double x : t) {
    const double exact = static_cast<double>(sum) + x;
    auto next = static_cast<float>(exact);
    if (std::abs(static_cast<double>(next)) > std::abs(exact)) next = std::nextafter(next, 0.0f);
    sum = next;
  }
  return sum;
}

struct Order {
  const char* name;
  float (*sum)(const Terms&);
};
const Order kOrders[] = {
    {"a chain, first to last", [](const Terms& t) { return chain(t, 0, t.size()); }},
    {"a chain, last to first", backwards},
    {"pairs of neighbours, as a tree", [](const Terms& t) { return pairs(t, 0, t.size()); }},
    {"halves, as a tree", strided_tree},
    {"chains of 2, then a chain", [](const Terms& t) { return groups(t, 2); }},
    {"chains of 4, then a chain", [](const Terms& t) { return groups(t, 4); }},
    {"chains of 8, then a chain", [](const Terms& t) { return groups(t, 8); }},
    {"chains of 16, then a chain", [](const Terms& t) { return groups(t, 16); }},
    {"chains of 32, then a chain", [](const Terms& t) { return groups(t, 32); }},
    {"exact, rounded once", once},
    {"a chain that rounds towards zero", truncated_chain},
};

// The rules for sums over k of a(k, m) b(k, n), m and n as they lie in the answer.
void sums(Question& q, const Values& a, const Values& b, std::size_t k_end, std::size_t m_end, std::size_t n_end) {
  for (const Order& order : kOrders) {
    std::vector<float> result;
    for (std::size_t m = 0; m < m_end; ++m) {
      for (std::size_t n = 0; n < n_end; ++n) {
        Terms terms(k_end);
        for (std::size_t k = 0; k < k_end; ++k) terms[k] = a[k * m_end + m] * b[k * n_end + n];
        result.push_back(order.sum(terms));
      }
    }
    q.rule(order.name, floats(result));
  }
}

Question matmul(int number, const char* title, const tile::Machine& machine, DType dtype, bool double_row) {
  constexpr std::int64_t kM = 10, kN = 20;  // 200 sums
  const std::int64_t rows = 128, width = double_row ? 2 : 1;
  Question q(number, title, machine);
  const Values a = cancelling(rows * width * kM, dtype, 1), b = cancelling(rows * width * kN, dtype, 2);
  Access x = q.tile("a", dtype, rows, width * kM, a), y = q.tile("b", dtype, rows, width * kN, b);
  if (double_row) x = x.split(0, kM), y = y.split(0, kN);
  const Access c = q.b.psum("c", kM, {kN});
  q.b.nc_matmul(c, x, y, {.perf_mode = double_row ? tile::MatmulMode::DoubleRow : tile::MatmulMode::Normal});
  q.answer(c, true);
  sums(q, a, b, static_cast<std::size_t>(rows * width), kM, kN);
  return q;
}

// Products of 24-bit numbers are not exact in fp32: a fused chain, or one that rounds each product first.
Question matmul_fp32(const tile::Machine& machine) {
  constexpr std::size_t kK = 128, kM = 10, kN = 20;
  Question q(1, "order and rounding of the sum inside a matmul, fp32 operands", machine);
  const Values a = cancelling(kK * kM, DType::Float32, 3, 2), b = cancelling(kK * kN, DType::Float32, 4, 2);
  const Access c = q.b.psum("c", kM, {kN});
  q.b.nc_matmul(c, q.tile("a", DType::Float32, kK, kM, a), q.tile("b", DType::Float32, kK, kN, b));
  q.answer(c, true);
  std::vector<float> fused, rounded, exact, two_passes;
  for (std::size_t m = 0; m < kM; ++m) {
    for (std::size_t n = 0; n < kN; ++n) {
      float f = 0, r = 0, low = 0;
      long double e = 0;
      float high = 0;
      for (std::size_t k = 0; k < kK; ++k) {
        const auto x = static_cast<float>(a[k * kM + m]), y = static_cast<float>(b[k * kN + n]);
        const float top = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xfffff000u);  // 12 bits
        f = std::fma(x, y, f);
        r = add(r, x * y);
        e += static_cast<long double>(x) * y;  // exact: 48-bit products whose exponents lie within 8 of each other
        low = std::fma(x - top, y, low);
        high = std::fma(top, y, high);
      }
      fused.push_back(f), rounded.push_back(r), exact.push_back(static_cast<float>(e));
      two_passes.push_back(add(low, high));
    }
  }
  q.rule("a chain of fused multiply-adds, first to last", floats(fused));
  q.rule("a chain that rounds each product to fp32", floats(rounded));
  q.rule("exact, rounded once", floats(exact));
  q.rule("two passes of 12 bits of the stationary operand, added at the end", floats(two_passes));
  return q;
}

Question bf16_psum(const tile::Machine& machine) {
  constexpr std::size_t kK = 128, kM = 4, kN = 8;
  Question q(3, "bfloat16 sums in PSUM", machine);
  const Values a = cancelling(kK * kM, DType::BFloat16, 5), b = cancelling(kK * kN, DType::BFloat16, 6);
  const Access x = q.tile("a", DType::BFloat16, kK, kM, a), y = q.tile("b", DType::BFloat16, kK, kN, b);
  const Access c = q.b.psum("c", kM, {kN}, DType::BFloat16);
  for (int i = 0; i < 3; ++i) q.b.nc_matmul(c, x, y, {.accumulate = i});
  q.answer(c, true);
  Values each, last;
  for (std::size_t m = 0; m < kM; ++m) {
    for (std::size_t n = 0; n < kN; ++n) {
      Terms terms(kK);
      for (std::size_t k = 0; k < kK; ++k) terms[k] = a[k * kM + m] * b[k * kN + n];
      const float s = chain(terms, 0, kK);
      float narrow = bfloat16(s);
      for (int i = 0; i < 2; ++i) narrow = bfloat16(add(narrow, s));
      each.push_back(narrow);
      last.push_back(add(add(s, s), s));
    }
  }
  q.rule("added in fp32, rounded to bfloat16 on every accumulate", as(DType::BFloat16, each));
  q.rule("kept in fp32, rounded to bfloat16 when it is read", as(DType::BFloat16, last));
  return q;
}

Question transpose_of_nan(const tile::Machine& machine) {
  Question q(5, "Tensor Engine transpose of infinities, NaN and -0", machine);
  const double inf = INFINITY, nan = NAN;
  const Values x{1, inf, 3, -0.0, 5, 6, nan, 8, 9, 10, 11, 12, 13, 14, 15, 16};  // 4 x 4
  const Access t = q.tile("x", DType::Float32, 4, 4, x);
  const Access c = q.b.psum("c", 4, {4});
  q.b.nc_transpose(c, t);
  q.answer(c, true);
  Values moved(16), multiplied(16);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      moved[i * 4 + j] = x[j * 4 + i];
      float sum = 0;  // row j of x times column j of the identity, at column i
      for (std::size_t k = 0; k < 4; ++k) sum += static_cast<float>(x[k * 4 + i]) * (k == j ? 1.0f : 0.0f);
      multiplied[i * 4 + j] = sum;
    }
  }
  const bool passes = machine.name != "trn1";
  const auto rule = [&](bool moves) {
    q.rule(moves ? "bits are passed through" : "a matmul by the identity",
           as(DType::Float32, moves ? moved : multiplied));
  };
  rule(passes);
  rule(!passes);
  return q;
}

Question eight_bit_transpose(const tile::Machine& machine) {
  Question q(6, "what a transpose makes of 8-bit elements", machine);
  const Bytes x{0x81, 0x7f, 0x01, 0x38};
  const Access t = q.tile("x", DType::Float8E4M3, 1, 4, x);
  const Access c = q.b.psum("c", 4, {1}, DType::UInt16);
  q.b.nc_transpose(c, t);
  q.answer(c, true);
  Bytes low, high;
  for (const std::uint8_t byte : x) {
    low.insert(low.end(), {byte, 0});
    high.insert(high.end(), {0, byte});
  }
  q.rule("16 bits, the upper byte zero", low);
  q.rule("16 bits, the lower byte zero", high);
  return q;
}

Question reduce_order(const tile::Machine& machine) {
  Question q(9, "order of tensor_reduce", machine);
  constexpr std::size_t kRows = 32, kLength = 100;
  const Values x = cancelling(kRows * kLength, DType::Float32, 7);
  const Access t = q.tile("x", DType::Float32, kRows, kLength, x), r = q.empty("r", DType::Float32, kRows, 1);
  q.b.tensor_reduce(r, tile::AluOp::Add, t);
  q.answer(r);
  for (const Order& order : kOrders) {
    std::vector<float> result;
    for (std::size_t i = 0; i < kRows; ++i) {
      result.push_back(order.sum(Terms(x.begin() + static_cast<std::ptrdiff_t>(i * kLength),
                                       x.begin() + static_cast<std::ptrdiff_t>((i + 1) * kLength))));
    }
    q.rule(order.name, floats(result));
  }
  return q;
}

Question reduce_zeros(const tile::Machine& machine) {
  Question q(9, "start and negation of tensor_reduce, by signs of zeros", machine);
  const Access t = q.tile("x", DType::Float32, 1, 2, Values{-0.0, -0.0}), r = q.empty("r", DType::Float32, 1, 2);
  q.b.tensor_reduce(r(tile::all, tile::ds(0, 1)), tile::AluOp::Add, t);
  q.b.tensor_reduce(r(tile::all, tile::ds(1, 1)), tile::AluOp::Add, t, 1, true);
  q.answer(r);
  q.rule("from the first element; negated at the end", floats({-0.0f, 0.0f}));
  q.rule("from zero; negated at the end", floats({0.0f, -0.0f}));
  q.rule("from zero; elements are negated", floats({0.0f, 0.0f}));
  return q;
}

Question partition_order(const tile::Machine& machine) {
  Question q(23, "order of tensor_partition_reduce", machine);
  constexpr std::size_t kRows = 128, kLength = 16;
  const Values x = cancelling(kRows * kLength, DType::Float32, 8);
  const Access t = q.tile("x", DType::Float32, kRows, kLength, x), r = q.empty("r", DType::Float32, 1, kLength);
  q.b.tensor_partition_reduce(r, tile::AluOp::Add, t);
  q.answer(r);
  for (const Order& order : kOrders) {
    std::vector<float> result;
    for (std::size_t j = 0; j < kLength; ++j) {
      Terms terms(kRows);
      for (std::size_t i = 0; i < kRows; ++i) terms[i] = x[i * kLength + j];
      result.push_back(order.sum(terms));
    }
    q.rule(order.name, floats(result));
  }
  return q;
}

}  // namespace

void add_tensor_questions(std::vector<Question>& all, const tile::Machine& machine) {
  const bool trn1 = machine.name == "trn1", trn3 = machine.name == "trn3";
  all.push_back(matmul(1, "order and rounding of the sum inside a matmul", machine, DType::BFloat16, false));
  all.push_back(matmul_fp32(machine));
  if (!trn1) {
    const DType fp8 = trn3 ? DType::Float8E4M3FN : DType::Float8E4M3;
    all.push_back(matmul(2, "order in double-row mode", machine, fp8, true));
    all.push_back(eight_bit_transpose(machine));
  }
  if (trn3) all.push_back(bf16_psum(machine));
  all.push_back(transpose_of_nan(machine));
  all.push_back(reduce_order(machine));
  all.push_back(reduce_zeros(machine));
  all.push_back(partition_order(machine));
}

}  // namespace trn::tools::silicon

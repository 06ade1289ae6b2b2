// Modelled times on trn2 of the contractions that the README lists: programs are estimated, nothing runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tensor/plan_program.hpp>

namespace trn::tensor {
namespace {

using Extents = std::map<char, std::int64_t>;

Extents all_of(const char* labels, std::int64_t extent) {
  Extents e;
  for (const char* l = labels; *l != 0; ++l) e[*l] = extent;
  return e;
}

Description description_of(const std::string& text, const Extents& extents) {
  Description d;
  d.expression = parse(text);
  const auto operand = [&](const std::string& labels) {
    Operand o;
    for (const char l : labels) o.shape.push_back(extents.at(l));
    o.strides = row_major_strides(o.shape);
    o.dtype = DType::Float32;
    return o;
  };
  const std::size_t arrow = text.find("->");
  for (std::size_t begin = 0; begin < arrow;) {
    const std::size_t end = std::min(text.find(',', begin), arrow);
    d.operands.push_back(operand(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  d.output = operand(text.substr(arrow + 2));
  return d;
}

double milliseconds(const std::string& text, const Extents& extents) {
  const Plan plan(Executor::open("sim:trn2"), description_of(text, extents));
  return 1e3 * neuron::estimate(plan_program(plan), tile::machine("trn2")).seconds;
}

double gemm_ms(std::int64_t m, std::int64_t n, std::int64_t k) {
  blas::GemmShape s;
  s.m = m, s.n = n, s.k = k, s.am = k, s.bk = n, s.cm = n;
  return 1e3 * neuron::estimate(blas::gemm_program(s, tile::machine("trn2")), tile::machine("trn2")).seconds;
}

// TCCG's contractions D-A-B have their first label innermost; here they are row-major.
std::string row_major(const std::string& tccg) {
  const std::size_t first = tccg.find('-'), second = tccg.find('-', first + 1);
  const auto turned = [](std::string s) { return std::reverse(s.begin(), s.end()), s; };
  return turned(tccg.substr(first + 1, second - first - 1)) + "," + turned(tccg.substr(second + 1)) + "->" +
         turned(tccg.substr(0, first));
}

const Extents kWide = all_of("abcdef", 72);
const Extents kLong{{'a', 312}, {'b', 296}, {'c', 296}, {'d', 312}};

struct Row {
  const char* tccg;
  Extents extents;
  const char* algorithm;  // of the last step
  double most_ms;         // as modelled when this was written, two in a hundred more
};

void expect(const Row& row) {
  const std::string text = row_major(row.tccg);
  EXPECT_LE(milliseconds(text, row.extents), row.most_ms) << row.tccg;
  const Plan plan(Executor::open("sim:trn2"), description_of(text, row.extents));
  EXPECT_EQ(plan.steps().back().algorithm, row.algorithm) << row.tccg;
}

// Beside gemm of the same m, n and k: 15.26 ms at 5136, 15.17 ms at 5184.
TEST(DeviceFigures, BoundByArithmetic) {
  expect({"ab-ac-cb", all_of("abc", 5136), "product", 15.63});
  expect({"abcd-aebf-dfce", kWide, "product", 16.18});
  expect({"abcd-aebf-fdec", kWide, "product", 17.11});  // one operand is transposed on its way in
  expect({"abcd-eafd-fbec", kWide, "product", 19.45});  // and the other one permuted first
  expect({"abc-acd-db", kLong, "product", 1.51});
  expect({"ab-acd-dbc", kLong, "product", 1.69});
  const double gemm = gemm_ms(5184, 5184, 5184);
  EXPECT_GE(gemm / milliseconds(row_major("abcd-aebf-dfce"), kWide), 0.95);
  EXPECT_GE(gemm / milliseconds(row_major("abcd-aebf-fdec"), kWide), 0.90);
  EXPECT_GE(gemm_ms(5136, 5136, 5136) / milliseconds(row_major("ab-ac-cb"), all_of("abc", 5136)), 0.99);
}

// The long operand is stationary, in whatever order its indices lie; sums of 24 terms side by side in the array.
TEST(DeviceFigures, Skinny) {
  Extents c1 = kLong, c3 = kWide;
  c1['b'] = 312, c1['c'] = c3['c'] = 24;
  expect({"abc-bda-dc", c1, "skinny product", 0.473});
  expect({"abcd-dbea-ec", c3, "skinny product", 0.590});
  expect({"abcd-ec-abed", kWide, "skinny product", 0.790});
  expect(
      {"abcde-efbad-cf", {{'a', 48}, {'b', 32}, {'c', 24}, {'d', 32}, {'e', 48}, {'f', 32}}, "skinny product", 2.19});
  expect({"abc-adec-ebd", kWide, "product", 0.480});
  expect({"abcdef-gfab-degc",
          {{'a', 24}, {'b', 16}, {'c', 16}, {'d', 24}, {'e', 16}, {'f', 16}, {'g', 24}},
          "product",
          0.460});
  expect({"abcdef-gfab-degc", all_of("abcdefg", 24), "product", 2.11});
}

}  // namespace
}  // namespace trn::tensor

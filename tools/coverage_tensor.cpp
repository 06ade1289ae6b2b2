// `trnsci coverage tensor`: which operation of trntensor runs where for which element type, found by calling each with
// small operands.
#include <fmt/core.h>

#include <functional>

#include <trn/core/error.hpp>
#include <trn/tensor/elementwise.hpp>

#include "commands.hpp"
#include "einsum_case.hpp"

namespace trn::tools {

namespace {

struct Row {
  const char* name;
  const char* text;
  std::function<void(const Executor&, const EinsumOperands&, const char* text, Mode)> call;
  bool modes = false;  // takes modes other than Native
};

void plan(const Executor& e, const EinsumOperands& o, const char*, Mode mode) {
  tensor::Description d = o.description();
  d.precision = mode;
  (void)tensor::Plan(e, d).execute(o.operands(), o.output());
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"contraction, matrices in place", "ij,jk->ik", plan, true},
      {"contraction, any indices", "aebf,dfce->abcd", plan, true},
      {"contraction of three", "ij,jk,kl->li", plan, true},
      {"batched, repeated, summed-out labels", "bii,bij,kj->b", plan, true},
      {"permutation", "abc->cab",
       [](const Executor& e, const EinsumOperands& o, const char* text, Mode) {
         tensor::permute(e, text, o.operands()[0], o.output());
       }},
      {"elementwise binary", "abc,ca->abc",
       [](const Executor& e, const EinsumOperands& o, const char* text, Mode) {
         tensor::elementwise(e, text, tensor::Binary::Mul, o.operands(), o.output());
       }},
      {"elementwise trinary", "ab,b,a->ba",
       [](const Executor& e, const EinsumOperands& o, const char* text, Mode) {
         tensor::elementwise(e, text, tensor::Binary::Mul, o.operands(), o.output());
       }},
      {"reduction", "abc->b",
       [](const Executor& e, const EinsumOperands& o, const char* text, Mode) {
         tensor::reduce(e, tensor::Binary::Add, text, o.operands()[0], o.output());
       }},
      {"reduction, largest", "abc->b", [](const Executor& e, const EinsumOperands& o, const char* text, Mode) {
         tensor::reduce(e, tensor::Binary::Max, text, o.operands()[0], o.output());
       }}};
  return all;
}

constexpr const char* kTypes[] = {"fp32", "fp64", "complex64", "complex128", "bf16", "fp16"};

void call_with(const Row& row, const Executor& executor, const char* dtype, Mode mode, int extent) {
  EinsumCase what;
  what.text = row.text;
  what.dtype = dtype;
  for (const std::string& l : tensor::parse(row.text).names) what.sizes.push_back(fmt::format("{}={}", l, extent));
  const EinsumOperands operands(executor, what);
  row.call(executor, operands, row.text, mode);
}

// The type's name where it runs, with a star where only Exact does.
std::string verdict(const Row& row, const Executor& executor, const char* dtype) {
  for (const Mode mode : {Mode::Native, Mode::Exact}) {
    if (mode != Mode::Native && !row.modes) break;
    try {
      call_with(row, executor, dtype, mode, 3);
      return std::string(dtype) + (mode == Mode::Native ? "" : "*");
    } catch (const NotImplemented&) {
    }
  }
  return "";
}

}  // namespace

std::vector<std::pair<std::string, std::function<void(const Executor&)>>> tensor_coverage_calls() {
  constexpr int kExtent = 5;
  std::vector<std::pair<std::string, std::function<void(const Executor&)>>> all;
  for (const Row& row : rows()) {
    for (const char* dtype : kTypes) {
      for (const Mode mode : {Mode::Native, Mode::Exact}) {
        if (mode != Mode::Native && !row.modes) break;
        all.emplace_back(
            fmt::format("tensor, {}, {}{}", row.name, dtype, mode == Mode::Native ? "" : ", exact"),
            [&row, dtype, mode](const Executor& executor) { call_with(row, executor, dtype, mode, kExtent); });
      }
    }
  }
  // A tensor times two factors is one kernel only where the tensor is not small.
  static const Row mttkrp{"MTTKRP", "ijk,jr,kr->ir", plan};
  all.emplace_back("tensor, MTTKRP, fp32",
                   [](const Executor& executor) { call_with(mttkrp, executor, "fp32", Mode::Native, 33); });
  return all;
}

void print_tensor_coverage() {
  fmt::print("| operation | example |");
  std::vector<Executor> executors;
  for (const char* name : {"host", "sim:trn1", "sim:trn2", "sim:trn3"}) {
    executors.push_back(Executor::open(name));
    fmt::print(" `{}` |", name);
  }
  fmt::print("\n|---|---|---|---|---|---|\n");
  for (const Row& row : rows()) {
    fmt::print("| {} | `{}` |", row.name, row.text);
    for (const Executor& executor : executors) {
      std::string cell;
      for (const char* dtype : kTypes) {
        const std::string one = verdict(row, executor, dtype);
        if (!one.empty()) cell += " " + one;
      }
      fmt::print("{} |", cell.empty() ? " -" : cell);
    }
    fmt::print("\n");
  }
}

}  // namespace trn::tools

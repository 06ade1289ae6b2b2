// Names and facts of operators and element types.
#include <trn/tensor/types.hpp>

#include <algorithm>
#include <array>

#include <trn/core/error.hpp>

namespace trn::tensor {

namespace {

struct Row {
  Unary op;
  std::string_view name;
  bool complex;
};
constexpr std::array kRows = {
    Row{Unary::Identity, "identity", true}, Row{Unary::Sqrt, "sqrt", true},    Row{Unary::Relu, "relu", false},
    Row{Unary::Conj, "conj", true},         Row{Unary::Rcp, "rcp", true},      Row{Unary::Sigmoid, "sigmoid", false},
    Row{Unary::Tanh, "tanh", true},         Row{Unary::Exp, "exp", true},      Row{Unary::Log, "log", true},
    Row{Unary::Abs, "abs", true},           Row{Unary::Neg, "neg", true},      Row{Unary::Sin, "sin", true},
    Row{Unary::Cos, "cos", true},           Row{Unary::Tan, "tan", true},      Row{Unary::Sinh, "sinh", true},
    Row{Unary::Cosh, "cosh", true},         Row{Unary::Asin, "asin", true},    Row{Unary::Acos, "acos", true},
    Row{Unary::Atan, "atan", true},         Row{Unary::Asinh, "asinh", true},  Row{Unary::Acosh, "acosh", true},
    Row{Unary::Atanh, "atanh", true},       Row{Unary::Ceil, "ceil", false},   Row{Unary::Floor, "floor", false},
    Row{Unary::Mish, "mish", false},        Row{Unary::Swish, "swish", false}, Row{Unary::Softplus, "softplus", false},
    Row{Unary::Softsign, "softsign", false}};
constexpr auto kAll = [] {
  std::array<Unary, kRows.size()> all{};
  for (std::size_t i = 0; i < kRows.size(); ++i) all[i] = kRows[i].op;
  return all;
}();

}  // namespace

std::span<const Unary> all_unary() { return kAll; }
std::string_view name(Unary op) { return kRows[static_cast<std::size_t>(op)].name; }
bool has_complex(Unary op) { return kRows[static_cast<std::size_t>(op)].complex; }

std::string_view name(Binary op) {
  constexpr std::array<std::string_view, 4> names = {"add", "mul", "max", "min"};
  return names[static_cast<std::size_t>(op)];
}

TypedView::TypedView(Executor e, DType type, void* address, Shape extents, Strides steps)
    : executor(std::move(e)), dtype(type), data(address), shape(std::move(extents)), strides(std::move(steps)) {
  require(shape.size() == strides.size(), "typed view: {} extents but {} strides; give one stride per extent",
          shape.size(), strides.size());
  (void)element_count(shape);
}
TypedView::TypedView(Executor e, DType type, void* address, Shape extents)
    : TypedView(std::move(e), type, address, extents, row_major_strides(extents)) {}

bool is_tensor_type(DType dtype) {
  constexpr std::array types = {DType::Float32,    DType::Float64,  DType::Complex64,
                                DType::Complex128, DType::BFloat16, DType::Float16};
  return std::ranges::find(types, dtype) != types.end();
}

DType compute_type(std::span<const DType> operands) {
  bool wide = false, complex = false;
  for (const DType t : operands) {
    wide = wide || real_of(t) == DType::Float64;
    complex = complex || is_complex(t);
  }
  if (complex) return wide ? DType::Complex128 : DType::Complex64;
  return wide ? DType::Float64 : DType::Float32;
}

}  // namespace trn::tensor

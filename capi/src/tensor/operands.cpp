// What trntensor's bodies share: see operands.hpp.
#include "operands.hpp"

#include <map>

namespace trn::capi::tensor {

DType dtype_of_type(trnDataType type) {
  switch (type) {
    case TRN_R_32F:
      return DType::Float32;
    case TRN_R_64F:
      return DType::Float64;
    case TRN_C_32F:
      return DType::Complex64;
    case TRN_C_64F:
      return DType::Complex128;
    case TRN_R_16F:
      return DType::Float16;
    case TRN_R_16BF:
      return DType::BFloat16;
    default:
      fail<NotImplemented>("element type {}; there are 16F, 16BF, 32F, 64F and the complex ones of the last two",
                           static_cast<int>(type));
  }
}
Int bytes_of(trnDataType type) {
  return type == TRN_C_64F ? 16 : type == TRN_R_64F || type == TRN_C_32F ? 8 : type == TRN_R_32F ? 4 : 2;
}
bool is_complex_type(trnDataType type) { return type == TRN_C_32F || type == TRN_C_64F; }

tt::Unary unary_of(trntensorOperator_t op) {
  using U = tt::Unary;
  static const std::map<int, U> all{
      {1, U::Identity}, {2, U::Sqrt},   {8, U::Relu},      {9, U::Conj},     {10, U::Rcp},  {11, U::Sigmoid},
      {12, U::Tanh},    {22, U::Exp},   {23, U::Log},      {24, U::Abs},     {25, U::Neg},  {26, U::Sin},
      {27, U::Cos},     {28, U::Tan},   {29, U::Sinh},     {30, U::Cosh},    {31, U::Asin}, {32, U::Acos},
      {33, U::Atan},    {34, U::Asinh}, {35, U::Acosh},    {36, U::Atanh},   {37, U::Ceil}, {38, U::Floor},
      {39, U::Mish},    {40, U::Swish}, {41, U::Softplus}, {42, U::Softsign}};
  const auto found = all.find(op);
  require(found != all.end(), "{} is not a unary operator", static_cast<int>(op));
  return found->second;
}
trnDataType scalar_type(const Descriptor& d) {
  const auto t = d.result.type;
  return t == TRN_R_16F || t == TRN_R_16BF ? TRN_R_32F : t;
}
std::complex<double> number(trnDataType type, const void* address, const char* what) {
  require(address != nullptr, "{} is null", what);
  switch (type) {
    case TRN_R_32F:
      return static_cast<double>(*static_cast<const float*>(address));
    case TRN_R_64F:
      return *static_cast<const double*>(address);
    case TRN_C_32F:
      return std::complex<double>(*static_cast<const std::complex<float>*>(address));
    default:
      return *static_cast<const std::complex<double>*>(address);
  }
}

std::vector<Int> packed(const std::vector<Int>& extents) {
  std::vector<Int> strides;
  Int step = 1;
  for (const Int e : extents) {
    strides.push_back(step);
    require(!__builtin_mul_overflow(step, std::max<Int>(e, 1), &step), "the tensor is larger than an address space");
  }
  return strides;
}
std::string text_of(const std::vector<const std::vector<std::int32_t>*>& operands,
                    const std::vector<std::int32_t>& result) {
  std::map<std::int32_t, char> letters;
  std::string text;
  const auto add = [&](const std::vector<std::int32_t>& modes) {
    for (const auto mode : modes) {
      const auto at = static_cast<int>(letters.size());
      if (!letters.contains(mode)) {
        if (at >= 52) fail<NotImplemented>("more than 52 different modes");
        letters[mode] = static_cast<char>(at < 26 ? 'a' + at : 'A' + at - 26);
      }
      text += letters[mode];
    }
  };
  for (const auto* o : operands) {
    if (!text.empty() || o != operands.front()) text += ',';
    add(*o);
  }
  text += "->";
  add(result);
  return text;
}
Precision precision(const Call& c, const Descriptor& d) {
  if (c.handle.precision) return *c.handle.precision;
  if (c.executor.family() == Family::Host) return Mode::Native;
  if (d.result.type == TRN_R_64F || d.result.type == TRN_C_64F) return Mode::Exact;
  const bool wide = d.result.type == TRN_R_32F || d.result.type == TRN_C_32F;
  switch (d.compute) {
    case 2:
      return Mode::Bf16;
    case 3:
      return Mode::Tf32;
    case 4:
      return wide ? Mode::Tf32x3 : Mode::Native;
    default:
      return Mode::Native;
  }
}
std::string text_of(const std::vector<const Operand*>& operands, const Operand& result) {
  std::vector<const std::vector<std::int32_t>*> modes;
  for (const auto* o : operands) modes.push_back(&o->modes);
  return text_of(modes, result.modes);
}
void give(trntensorOperationDescriptor_t* out, Descriptor made, trntensorComputeDescriptor_t compute) {
  require(out != nullptr, "desc is null; it receives the descriptor");
  made.compute = static_cast<int>(reinterpret_cast<std::uintptr_t>(compute));
  require(made.compute >= 1 && made.compute <= 6, "the compute descriptor is not one of TRNTENSOR_COMPUTE_DESC_*");
  *out = alive<Descriptor>().add(std::make_shared<Descriptor>(std::move(made)));
}
}  // namespace trn::capi::tensor

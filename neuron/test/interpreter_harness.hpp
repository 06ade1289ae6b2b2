// Rig: records a program, runs it through the interpreter in program order and hands back the outputs. Programs are not
// verified here, so that engines can be tried at every size.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/allocate.hpp>
#include <trn/tile/builder.hpp>
#include <vector>

#include "sim/interpreter.hpp"

namespace trn::neuron::sim {

using namespace trn::tile;
using Values = std::vector<double>;

class Rig {
 public:
  explicit Rig(std::string_view name = "trn2") : machine(tile::machine(name)), b("test", machine) {}

  Machine machine;  // a copy: tests may change its abilities
  SimOptions options{.order = Order::in_order()};
  HbmShadow* shadow = nullptr;
  Builder b;

  Access input_bytes(const std::string& name, DType dtype, Shape shape, std::vector<std::uint8_t> bytes) {
    memory_[name] = std::move(bytes);
    return b.input(name, dtype, std::move(shape));
  }
  Access input(const std::string& name, DType dtype, const Shape& shape, const Values& values) {
    EXPECT_EQ(static_cast<std::int64_t>(values.size()), element_count(shape));
    std::vector<std::uint8_t> bytes(values.size() * static_cast<std::size_t>(size_bytes(dtype)));
    from_double(values.data(), dtype, bytes.data(), static_cast<std::int64_t>(values.size()));
    return input_bytes(name, dtype, shape, std::move(bytes));
  }
  // An SBUF tile that holds these values.
  Access tile(const std::string& name, DType dtype, std::int64_t partitions, std::int64_t free, const Values& values) {
    const Access source = input(name, dtype, {partitions, free}, values);
    const Access t = b.sbuf(name + "_tile", partitions, {free}, dtype);
    b.dma_copy(t, source);
    return t;
  }
  Access output(const std::string& name, DType dtype, const Shape& shape) {
    outputs_[name] = dtype;
    memory_[name].assign(static_cast<std::size_t>(element_count(shape) * size_bytes(dtype)), 0xAB);
    return b.output(name, dtype, shape);
  }
  // Copies a tile, from PSUM through SBUF, to a new output of its dtype and shape (partitions, free size).
  void emit(const std::string& name, const Access& t, Space space = Space::Sbuf) {
    Access source = t;
    if (space == Space::Psum) {
      source = b.sbuf(name + "_copy", t.partitions, {t.free_size()}, t.dtype);
      b.tensor_copy(source, t, Engine::Vector);
    }
    b.dma_copy(output(name, t.dtype, {t.partitions, t.free_size()}), source);
  }

  void run(WalkHooks hooks = {}) {
    program_.emplace_back(b.finish_unverified());
    const Program& program = program_.back();
    const Allocation allocation = allocate(program, machine);
    std::vector<Binding> bindings;
    for (auto& [name, bytes] : memory_) bindings.push_back({name, bytes.data()});
    Interpreter interpreter(program, machine, allocation, options, bindings, shadow);
    hooks.enter = [&](std::int32_t loop, std::int64_t k, const Point& point) {
      return interpreter.enters(loop, k, point);
    };
    walk(
        program, [&](std::int32_t i, const Point& point) { interpreter.execute(i, point); }, hooks);
    interpreter.finish();
  }

  [[nodiscard]] std::vector<std::uint8_t>& bytes(const std::string& name) { return memory_.at(name); }
  [[nodiscard]] Values values(const std::string& name) {
    const DType dtype = outputs_.at(name);
    const std::vector<std::uint8_t>& from = memory_.at(name);
    Values result(from.size() / static_cast<std::size_t>(size_bytes(dtype)));
    to_double(dtype, from.data(), result.data(), static_cast<std::int64_t>(result.size()));
    return result;
  }
  // The outputs' float32 bits.
  [[nodiscard]] std::vector<std::uint32_t> words(const std::string& name) {
    std::vector<std::uint32_t> result(memory_.at(name).size() / 4);
    std::memcpy(result.data(), memory_.at(name).data(), result.size() * 4);
    return result;
  }

 private:
  std::map<std::string, std::vector<std::uint8_t>> memory_;
  std::map<std::string, DType> outputs_;
  std::deque<Program> program_;
};

// The check() id of the DeviceError that f throws, "" when it throws none.
template <class F> std::string check_of(F f) {
  try {
    f();
  } catch (const DeviceError& e) {
    return e.check();
  }
  return "";
}

inline Values normals(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Values values(static_cast<std::size_t>(n));
  for (double& v : values) v = normal(generator);
  return values;
}

// The values as an element of dtype holds them.
inline Values rounded(const Values& values, DType dtype) {
  std::vector<std::uint8_t> bytes(values.size() * static_cast<std::size_t>(size_bytes(dtype)));
  from_double(values.data(), dtype, bytes.data(), static_cast<std::int64_t>(values.size()));
  Values result(values.size());
  to_double(dtype, bytes.data(), result.data(), static_cast<std::int64_t>(values.size()));
  return result;
}
// The same for a float result, as an engine's store rounds it.
inline double rounded(float value, DType dtype) {
  alignas(8) std::uint8_t element[8];
  from_float(&value, dtype, element, 1);
  double result;
  to_double(dtype, element, &result, 1);
  return result;
}

// Equal values; NaN equals NaN; zeros must agree in sign.
inline ::testing::AssertionResult same(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return ::testing::AssertionSuccess();
  if (a == b && std::signbit(a) == std::signbit(b)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << a << " is not " << b;
}

inline const std::vector<DType> kDeviceFloats{DType::Float32,    DType::TFloat32,     DType::BFloat16,  DType::Float16,
                                              DType::Float8E4M3, DType::Float8E4M3FN, DType::Float8E5M2};
inline const std::vector<DType> kIntegers{DType::Int32,  DType::Int16,  DType::Int8,
                                          DType::UInt32, DType::UInt16, DType::UInt8};

}  // namespace trn::neuron::sim

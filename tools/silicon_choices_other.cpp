// Questions about the Scalar Engine, GpSimd and DMA: choices 16 to 22, 24 to 26.
#include <cmath>
#include <limits>

#include "silicon_choice.hpp"

namespace trn::tools::silicon {

namespace {

using tile::Access;
using tile::ActFunction;
using tile::Engine;

Question scale_and_bias(const tile::Machine& machine) {
  Question q(16, "rounding of data * scale + bias in activation", machine);
  const float x = 1 + std::ldexp(1.0f, -12), s = 1 + std::ldexp(1.0f, -12), b = -1;
  const Access t = q.tile("x", DType::Float32, 1, 2, Values{x, 1.5}), o = q.empty("o", DType::Float32, 1, 2);
  q.b.activation(o, ActFunction::Square, t,
                 {.bias = q.tile("bias", DType::Float32, 1, 1, Values{b}), .scale = static_cast<double>(s)});
  q.answer(o);
  const auto rule = [&](const char* name, auto inner) {
    std::vector<float> result;
    for (const float v : {x, 1.5f}) {
      const float u = inner(v);
      result.push_back(u * u);
    }
    q.rule(name, floats(result));
  };
  rule("product and sum round separately", [&](float v) {
    const float p = v * s;
    return p + b;
  });
  rule("one fused multiply-add", [&](float v) { return std::fma(v, s, b); });
  return q;
}

Question sine(const tile::Machine& machine) {
  Question q(17, "sin outside [-pi, pi]", machine);
  const std::vector<float> x{4.0f, -4.0f, 3.5f, 6.0f};
  const Access t = q.tile("x", DType::Float32, 1, 4, Values(x.begin(), x.end())),
               o = q.empty("o", DType::Float32, 1, 4);
  q.b.activation(o, ActFunction::Sin, t);
  q.answer(o);
  std::vector<float> cubic, plain, clamped;
  for (const float v : x) {
    const double u = std::abs(static_cast<double>(v)) - M_PI;
    cubic.push_back(static_cast<float>(std::copysign(1.0, static_cast<double>(v)) * (u * u * u / 6 - u)));
    plain.push_back(static_cast<float>(std::sin(static_cast<double>(v))));
    clamped.push_back(0);
  }
  q.rule("the cubic that gives the one published value", floats(cubic));
  q.rule("the mathematical value", floats(plain));
  q.rule("0", floats(clamped));
  return q;
}

Question limits(const tile::Machine& machine) {
  Question q(18, "gelu, silu and mish at -infinity", machine);
  const Access t = q.tile("x", DType::Float32, 1, 1, Values{-INFINITY}), o = q.empty("o", DType::Float32, 1, 3);
  int i = 0;
  for (const ActFunction f : {ActFunction::Gelu, ActFunction::Silu, ActFunction::Mish}) {
    q.b.activation(o(tile::all, tile::ds(i++, 1)), f, t);
  }
  q.answer(o);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  q.rule("0", floats({0, 0, 0}));
  q.rule("-0", floats({-0.0f, -0.0f, -0.0f}));
  q.rule("NaN", floats({nan, nan, nan}));
  return q;
}

Question activation_sum(const tile::Machine& machine) {
  Question q(19, "what the sum of an activation adds when dst is bfloat16", machine);
  constexpr std::int64_t kLength = 100;
  const float x = 1 + std::ldexp(1.0f, -9);  // a bfloat16 has 8 bits: it becomes 1 there
  const Access t = q.tile("x", DType::Float32, 1, kLength, Values(kLength, static_cast<double>(x)));
  const Access o = q.empty("o", DType::BFloat16, 1, kLength), sum = q.empty("sum", DType::Float32, 1, 1);
  q.b.activation(o, ActFunction::Copy, t, {.reduce_res = sum});
  q.answer(sum);
  float before = 0, after = 0;
  for (std::int64_t i = 0; i < kLength; ++i) before += x, after += bfloat16(x);
  q.rule("values before they are rounded to dst's type", floats({before}));
  q.rule("values as dst holds them", floats({after}));
  return q;
}

Question memset_rounding(const tile::Machine& machine) {
  Question q(20, "conversion of the number of a memset", machine);
  const Access o = q.empty("o", DType::BFloat16, 1, 4);
  q.b.memset(o(tile::all, tile::ds(0, 2)), 0.1, Engine::Vector);
  q.b.memset(o(tile::all, tile::ds(2, 2)), 0.3, Engine::Vector);
  q.answer(o);
  q.rule("to nearest even", as(DType::BFloat16, {0.1, 0.1, 0.3, 0.3}));
  q.rule("cut off", Bytes{0xcc, 0x3d, 0xcc, 0x3d, 0x99, 0x3e, 0x99, 0x3e});
  return q;
}

Question iota_partition(const tile::Machine& machine) {
  Question q(21, "\"partition\" in iota", machine);
  const Access o = q.empty("o", DType::Int32, 64, 1);
  q.b.iota(o(tile::ds(0, 32)), {{1, 1}}, 0, 1);
  q.b.iota(o(tile::ds(32, 32)), {{1, 1}}, 0, 1);
  q.answer(o);
  std::vector<std::uint32_t> from_dst, absolute;
  for (std::uint32_t i = 0; i < 64; ++i) from_dst.push_back(i % 32), absolute.push_back(i);
  q.rule("counts from dst's first partition", words(from_dst));
  q.rule("is the number in SBUF", words(absolute));
  return q;
}

Question gather_index(const tile::Machine& machine) {
  Question q(22, "what an index of local_gather counts", machine);
  constexpr std::int64_t kLength = 16;
  Values x;
  for (int p = 0; p < 16; ++p) {
    for (std::int64_t i = 0; i < kLength; ++i) x.push_back(static_cast<double>(i));
  }
  Values index;
  for (int i = 0; i < 16; ++i) index.push_back(i % 4);
  const Access t = q.tile("x", DType::Float32, 16, kLength, x), list = q.tile("index", DType::UInt16, 16, 1, index);
  const Access o = q.b.sbuf("o", 16, {4, 2}, DType::Float32);
  q.b.local_gather(o, t, list, 2);
  Access flat = o;
  flat.dims = {{1, 8}};
  q.answer(flat);
  std::vector<float> elements, groups;
  for (int p = 0; p < 16; ++p) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 2; ++j) {
        elements.push_back(static_cast<float>(i + j));
        groups.push_back(static_cast<float>(2 * i + j));
      }
    }
  }
  q.rule("elements", floats(elements));
  q.rule("groups of elements", floats(groups));
  return q;
}

Question unchosen(const tile::Machine& machine) {
  Question q(24, "unchosen elements of tensor_copy_predicated", machine);
  const Access o = q.tile("old", DType::Float32, 1, 4, Values{1, 2, 3, 4});
  const Access t = q.tile("new", DType::Float32, 1, 4, Values{5, 6, 7, 8});
  const Access mask = q.tile("mask", DType::UInt8, 1, 4, Values{1, 0, 1, 0});
  q.b.tensor_copy_predicated(o, t, mask);
  q.answer(o);
  q.rule("are not written", floats({5, 2, 7, 4}));
  q.rule("become zero", floats({5, 0, 7, 0}));
  return q;
}

Question equal_indices(const tile::Machine& machine) {
  Question q(25, "scatter with equal indices", machine);
  const Access rows = q.tile("rows", DType::Float32, 4, 1, Values{1, 2, 3, 4});
  const Access index = q.tile("index", DType::Int32, 4, 1, Values{0, 1, 1, 0});
  const Access out = q.b.output("out", DType::Float32, {2, 1});
  const Access zero = q.empty("zero", DType::Float32, 2, 1);
  q.b.memset(zero, 0.0);
  q.b.dma_copy(out, zero);
  q.b.dma_scatter(out, rows, index);
  q.dtype = DType::Float32;
  q.rule("the last row stays", floats({4, 3}));
  q.rule("the first row stays", floats({1, 2}));
  return q;
}

Question cube(const tile::Machine& machine) {
  Question q(26, "dma_transpose of three dimensions", machine);
  constexpr std::int64_t kA = 2, kB = 3, kC = 4;
  Values x;
  for (int i = 0; i < kA * kB * kC; ++i) x.push_back(i);
  q.inputs["x"] = as(DType::BFloat16, x);
  const Access source = q.b.input("x", DType::BFloat16, {kA, kB, kC});
  const Access o = q.b.sbuf("o", kC, {kB, kA}, DType::BFloat16);
  q.b.dma_transpose(o, source);
  Access flat = o;
  flat.dims = {{1, kB * kA}};
  q.answer(flat);
  Values exchanged, rotated;
  for (int c = 0; c < kC; ++c) {
    for (int b = 0; b < kB; ++b) {
      for (int a = 0; a < kA; ++a) exchanged.push_back(x[static_cast<std::size_t>((a * kB + b) * kC + c)]);
    }
  }
  for (int c = 0; c < kC; ++c) {
    for (int a = 0; a < kA; ++a) {
      for (int b = 0; b < kB; ++b) rotated.push_back(x[static_cast<std::size_t>((a * kB + b) * kC + c)]);
    }
  }
  q.rule("exchanges the first and the last", as(DType::BFloat16, exchanged));
  q.rule("the last comes first, the others keep their order", as(DType::BFloat16, rotated));
  return q;
}

}  // namespace

void add_other_questions(std::vector<Question>& all, const tile::Machine& machine) {
  all.push_back(scale_and_bias(machine));
  all.push_back(sine(machine));
  all.push_back(limits(machine));
  all.push_back(activation_sum(machine));
  all.push_back(memset_rounding(machine));
  all.push_back(iota_partition(machine));
  all.push_back(gather_index(machine));
  all.push_back(unchosen(machine));
  if (machine.name != "trn1") all.push_back(equal_indices(machine));  // trn1 has no scatters
  all.push_back(cube(machine));
}

}  // namespace trn::tools::silicon

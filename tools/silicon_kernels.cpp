// The programs of silicon_kernels.hpp.
#include "silicon_kernels.hpp"

#include <fmt/format.h>

#include <functional>

namespace trn::tools::silicon {

namespace {

using tile::Access;
using tile::AluOp;
using tile::Builder;
using tile::ds;
using tile::Engine;
using tile::Program;

constexpr std::int64_t kColumns = 512;

// x in SBUF, `body`, and what it leaves there stored as y.
Program around(const std::string& name, const tile::Machine& machine,
               const std::function<void(Builder&, const Access&)>& body, std::int64_t columns = kColumns) {
  Builder b(name, machine);
  const Access x = b.input("x", DType::Float32, {128, columns}), y = b.output("y", DType::Float32, {128, columns});
  const Access t = b.sbuf("t", 128, {columns}, DType::Float32);
  b.dma_copy(t, x);
  body(b, t);
  b.dma_copy(y, t);
  return b.finish();
}

Program in_place(const tile::Machine& machine) {
  Builder b("in_place", machine);
  const Access x = b.input("x", DType::Float32, {128, 64}), y = b.output_over("y", x);
  const Access t = b.sbuf("t", 128, {64}, DType::Float32);
  b.dma_copy(t, x);
  b.tensor_scalar(t, t, AluOp::Add, 1.0);
  b.dma_copy(y, t);
  return b.finish();
}

Program strided(const tile::Machine& machine) {
  Builder b("strided", machine);
  const Access x = b.input("x", DType::Float32, {64, 32}, {1, 70}),
               y = b.output("y", DType::Float32, {64, 32}, {40, 1});
  const Access t = b.sbuf("t", 64, {32}, DType::Float32);
  b.dma_copy(t, x);
  b.dma_copy(y, t);
  return b.finish();
}

Program matmul(const tile::Machine& machine) {
  Builder b("matmul", machine);
  const Access a = b.input("a", DType::BFloat16, {128, 64}), m = b.input("b", DType::BFloat16, {128, 256});
  const Access y = b.output("y", DType::Float32, {64, 256});
  const Access s = b.sbuf("s", 128, {64}, DType::BFloat16), v = b.sbuf("v", 128, {256}, DType::BFloat16);
  const Access c = b.psum("c", 64, {256}), o = b.sbuf("o", 64, {256}, DType::Float32);
  b.dma_copy(s, a);
  b.dma_copy(v, m);
  b.nc_matmul(c, s, v);
  b.tensor_copy(o, c, Engine::Vector);
  b.dma_copy(y, o);
  return b.finish();
}

Program loops(const tile::Machine& machine) {
  Builder b("loops", machine);
  const Access x = b.input("x", DType::Float32, {512, 64}), y = b.output("y", DType::Float32, {512, 64});
  b.parallel("i", 4, [&](tile::Affine i) {
    const Access t = b.sbuf("t", 128, {64}, DType::Float32, 2);
    b.dma_copy(t, x(ds(i * 128, 128), tile::all));
    b.sequential("k", 3, [&](tile::Affine) { b.tensor_scalar(t, t, AluOp::Multiply, 2.0); });
    b.dma_copy(y(ds(i * 128, 128), tile::all), t);
  });
  return b.finish();
}

Program integers(const tile::Machine& machine) {
  Builder b("integers", machine);
  const Access x = b.input("x", DType::UInt32, {128, 32}), y = b.output("y", DType::UInt32, {128, 32});
  const Access t = b.sbuf("t", 128, {32}, DType::UInt32);
  b.dma_copy(t, x);
  b.tensor_scalar(t, t, AluOp::RightShift, 16.0, {.op1 = AluOp::BitwiseXor, .operand1 = 255.0});
  b.dma_copy(y, t);
  return b.finish();
}

Program activations(const tile::Machine& machine) {
  return around(
      "activations", machine,
      [](Builder& b, const Access& t) {
        for (const auto f : {tile::ActFunction::Exp, tile::ActFunction::Tanh, tile::ActFunction::Gelu})
          b.activation(t, f, t);
      },
      64);
}

// On trn1, which has no gathers, a transpose of the DMA.
Program gather(const tile::Machine& machine) {
  Builder b("gather", machine);
  if (machine.name == "trn1") {
    const Access x = b.input("x", DType::BFloat16, {64, 128}), y = b.output("y", DType::BFloat16, {128, 64});
    const Access t = b.sbuf("t", 128, {64}, DType::BFloat16);
    b.dma_transpose(t, x);
    b.dma_copy(y, t);
    return b.finish();
  }
  const Access table = b.input("table", DType::Float32, {300, 16}), index = b.input("index", DType::Int32, {128, 1});
  const Access y = b.output("y", DType::Float32, {128, 16});
  const Access i = b.sbuf("i", 128, {1}, DType::Int32), t = b.sbuf("t", 128, {16}, DType::Float32);
  b.dma_copy(i, index);
  b.dma_gather(t, table, i);
  b.dma_copy(y, t);
  return b.finish();
}

}  // namespace

Program line_program(const tile::Machine& machine, std::int64_t columns) {
  return around(
      "line", machine,
      [](Builder& b, const Access& t) {
        b.tensor_scalar(t, t, AluOp::Multiply, 2.0, {.op1 = AluOp::Add, .operand1 = 1.0});
      },
      columns);
}

Program long_program(const tile::Machine& machine, std::int64_t columns, double seconds) {
  const double once = machine.timing.gpsimd_pair_cycles * static_cast<double>(columns) / machine.gpsimd_hz;
  return around(
      "long", machine,
      [&](Builder& b, const Access& t) {
        b.sequential("i", static_cast<std::int64_t>(seconds / once) + 1,
                     [&](tile::Affine) { b.tensor_tensor(t, t, t, AluOp::Maximum, Engine::GpSimd); });
      },
      columns);
}

std::vector<std::pair<std::string, Program>> toolchain_kernels(const tile::Machine& machine) {
  return {{"line", line_program(machine, 64)},   {"in place", in_place(machine)}, {"strided", strided(machine)},
          {"matmul", matmul(machine)},           {"loops", loops(machine)},       {"integers", integers(machine)},
          {"activations", activations(machine)}, {"gather", gather(machine)}};
}

std::vector<TimedKernel> timed_kernels(const tile::Machine& machine) {
  const tile::Timing& t = machine.timing;
  std::vector<TimedKernel> all;
  const auto add = [&](const char* name, int choice, const char* constant, double value, double count,
                       const std::function<void(Builder&, const Access&)>& body) {
    all.push_back({name, around(fmt::format("timed_{}", all.size()), machine, body), constant, value, count, choice});
  };
  add("a load and a store", 38, kLaunchConstant, t.launch_s + t.finish_s, 1, [](Builder&, const Access&) {});
  add("128 dependent vector operations", 0, "Vector overhead", t.vector_fixed_s, 128, [](Builder& b, const Access& x) {
    for (int i = 0; i < 128; ++i) b.tensor_scalar(x, x, AluOp::Add, 1.0, {.engine = Engine::Vector});
  });
  add("128 dependent activations", 0, "Scalar overhead", t.scalar_fixed_s, 128, [](Builder& b, const Access& x) {
    for (int i = 0; i < 128; ++i) b.activation(x, tile::ActFunction::Square, x);
  });
  add("64 exchanges between the Vector and the Scalar Engine", 36, "semaphore", t.semaphore_s, 128,
      [](Builder& b, const Access& x) {
        for (int i = 0; i < 64; ++i) {
          b.tensor_scalar(x, x, AluOp::Add, 1.0, {.engine = Engine::Vector});
          b.activation(x, tile::ActFunction::Square, x);
        }
      });
  add("32 sums on GpSimd", 35, "GpSimd tensor_tensor, cycles of 512 elements",
      t.gpsimd_pair_cycles * kColumns / machine.gpsimd_hz, 32, [](Builder& b, const Access& x) {
        for (int i = 0; i < 32; ++i) b.tensor_tensor(x, x, x, AluOp::Add, Engine::GpSimd);
      });
  add("32 changes of the activation table", 0, "activation table", t.activation_table_s, 32,
      [](Builder& b, const Access& x) {
        for (int i = 0; i < 32; ++i) b.activation(x, i % 2 == 0 ? tile::ActFunction::Exp : tile::ActFunction::Tanh, x);
      });
  const auto loads = [&](const char* name, int choice, const char* constant, double value, tile::DgeMode mode) {
    Builder b(fmt::format("timed_{}", all.size()), machine);
    const Access x = b.input("x", DType::Float32, {128, kColumns}), y = b.output("y", DType::Float32, {128, kColumns});
    const Access s = b.sbuf("s", 128, {kColumns}, DType::Float32);
    for (std::int64_t i = 0; i < 64; ++i)
      b.dma_copy(s(tile::all, ds(i * 8, 8)), x(tile::all, ds(i * 8, 8)), {.dge = mode});
    b.dma_copy(y, s);
    all.push_back({name, b.finish(), constant, value, 64, choice});
  };
  if (machine.name != "trn1") {
    loads("64 small loads, descriptors by hardware", 32, "trigger, hardware", t.dge_hardware_s,
          tile::DgeMode::Hardware);
  }
  loads("64 small loads, descriptors by GpSimd", 40, "trigger, software", t.dge_software_s, tile::DgeMode::Software);
  // No single constant: how fast it goes is the answer.
  {
    Builder b("timed_transpose", machine);
    const Access x = b.input("x", DType::Float32, {128, 128}), y = b.output("y", DType::Float32, {128, 128});
    const Access s = b.sbuf("s", 128, {128}, DType::Float32);
    for (int i = 0; i < 8; ++i) b.dma_transpose(s, x);
    b.dma_copy(y, s);
    all.push_back({"8 DMA transposes of 4-byte elements", b.finish(), "", 0, 1, 37});
  }
  for (const int busy : {1, 8}) {
    Builder b(fmt::format("timed_matmul_{}", busy), machine);
    const Access x = b.input("x", DType::Float32, {128, kColumns}), y = b.output("y", DType::Float32, {128, kColumns});
    const Access s = b.sbuf("s", 128, {kColumns}, DType::Float32), n = b.sbuf("n", 128, {kColumns}, DType::BFloat16);
    b.dma_copy(s, x);
    b.tensor_copy(n, s, Engine::Vector);
    const Access c = b.psum("c", 128, {kColumns});
    for (int i = 0; i < 64; ++i) {
      for (int k = 0; k < busy; ++k) b.nc_matmul(c, n(tile::all, ds(0, 128)), n);
      if (busy == 1) b.tensor_copy(s, c, Engine::Vector);
    }
    b.tensor_copy(s, c, Engine::Vector);
    b.dma_copy(y, s);
    all.push_back({fmt::format("64 x {} matmuls, {}", busy, busy == 1 ? "each waited for" : "in a row"), b.finish(), "",
                   0, 1, 34});
  }
  return all;
}

}  // namespace trn::tools::silicon
